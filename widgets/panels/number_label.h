// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFontMetricsF>
#include <QWidget>

namespace ropewalk {

/// A text as far as there is room for it: a decimal number rounded to fewer digits, anything else up to an
/// ellipsis. Its front always stays: without it a number would be another one.
QString fittedText(const QString& text, const QFontMetricsF& metrics, double width);

/// A read-out: one line with each digit in a fixed cell, right-aligned, to be copied by Ctrl+C, by its
/// context menu or by a double-click. What does not fit is as fittedText has it, and stands whole in the
/// tool tip.
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
