// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace ropewalk {

/// A read-out: one line with each digit in a fixed cell, right-aligned, to be copied by Ctrl+C, by its
/// context menu or by a double-click. What does not fit is elided at its left and stands in the tool tip.
class NumberLabel : public QWidget
{
    Q_OBJECT
public:
    explicit NumberLabel(QWidget* parent = nullptr);

    /// `copied` is what goes to the clipboard: the bare number with all its digits; empty: the text.
    void setText(const QString& text, const QString& copied = {});
    QString text() const { return m_text; }
    QString copiedText() const { return m_copied.isEmpty() ? m_text : m_copied; }
    void copy() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

private:
    QString m_text, m_copied;
};

} // namespace ropewalk
