// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QString>
#include <QWidget>

class QHBoxLayout;
class QLabel;
class QToolButton;

namespace ropewalk {

enum class MessageKind { Information, Warning, Error };

/// What a message offers to do: the word on the button and the id it is known by.
struct MessageAction
{
    QString id, text;
};

/// One message of the bar. A later one with the same key takes its place.
struct BarMessage
{
    QString key;
    MessageKind kind = MessageKind::Information;
    QString text;
    QList<MessageAction> actions;
};

/// Tells without stopping the work: a line above the canvas, the oldest message first, hidden when there is
/// none.
class MessageBar : public QWidget
{
    Q_OBJECT
public:
    explicit MessageBar(QWidget* parent = nullptr);

    void showMessage(const BarMessage& message);
    void dismiss(const QString& key); ///< nothing happens when there is no such message
    int messageCount() const { return static_cast<int>(m_messages.size()); }
    QString text() const; ///< as shown; empty when hidden

signals:
    void actionTriggered(const QString& key, const QString& actionId); ///< the message is gone by then
    void dismissed(const QString& key);                                ///< closed by the person

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void showFirst();
    void closeFirst();
    void restyle();

    QList<BarMessage> m_messages;
    QHBoxLayout* m_layout;
    QLabel* m_text;
    QLabel* m_count;
    QToolButton* m_close;
    QList<QToolButton*> m_actions;
};

} // namespace ropewalk
