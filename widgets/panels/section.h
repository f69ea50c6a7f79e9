// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractButton>

class QVBoxLayout;

namespace ropewalk {

/// The title line of a section; a click, Space or Enter folds it.
class SectionTitle : public QAbstractButton
{
    Q_OBJECT
public:
    enum class Kind {
        Section, ///< semibold, a hairline beneath
        More     ///< a quiet line inside a section
    };
    explicit SectionTitle(const QString& text, Kind kind, QWidget* parent = nullptr);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    Kind m_kind;
};

/// A titled part of the control column that folds away.
class Section : public QWidget
{
    Q_OBJECT
public:
    explicit Section(const QString& title, SectionTitle::Kind kind = SectionTitle::Kind::Section,
                     QWidget* parent = nullptr);

    QVBoxLayout* content() const { return m_contentLayout; }
    SectionTitle* title() const { return m_title; }
    bool isOpen() const;
    void setOpen(bool isOpen);

signals:
    void toggled(bool isOpen);

private:
    SectionTitle* m_title;
    QWidget* m_content;
    QVBoxLayout* m_contentLayout;
};

} // namespace ropewalk
