// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QWidget>

namespace ropewalk {

/// A choice of a few words side by side, of which one holds. Left and Right choose.
class SegmentedControl : public QWidget
{
    Q_OBJECT
public:
    explicit SegmentedControl(const QStringList& words, QWidget* parent = nullptr);

    void setCurrent(int index);
    int current() const { return m_current; }
    QRect segment(int index) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void chosen(int index); ///< by the person, another one than before

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void choose(int index);

    QStringList m_words;
    int m_current = 0;
};

} // namespace ropewalk
