// SPDX-License-Identifier: GPL-3.0-or-later
#include "number_label.h"

#include "../window_style.h"
#include "tabular_text.h"

#include <QAccessible>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QRegularExpression>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

constexpr double kSmallest = 0.8; // of the font, before a text is elided

} // namespace

QString fittedText(const QString& text, const QFontMetricsF& metrics, double width)
{
    if (tabularWidth(metrics, text) <= width)
        return text;
    static const QRegularExpression decimal(QStringLiteral("^([−-]?)(\\d+)\\.(\\d+)$"));
    const QRegularExpressionMatch match = decimal.match(text);
    if (match.hasMatch()) {
        const double value = (match.captured(2) + u'.' + match.captured(3)).toDouble();
        for (int digits = static_cast<int>(match.captured(3).size()) - 1; digits > 0; --digits) {
            const QString fewer = match.captured(1) + QString::number(value, 'f', digits);
            if (tabularWidth(metrics, fewer) <= width)
                return fewer;
        }
    }
    for (qsizetype length = text.size() - 1; length > 0; --length)
        if (const QString cut = text.left(length) + u'…'; tabularWidth(metrics, cut) <= width)
            return cut;
    return QStringLiteral("…");
}

NumberLabel::NumberLabel(QWidget* parent)
    : QWidget(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setFont(windowFont(TextRole::Control));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void NumberLabel::setText(const QString& text, const QString& copied)
{
    if (m_text == text && m_copied == copied)
        return;
    m_text = text;
    m_copied = copied;
    setAccessibleDescription(text);
    updateGeometry();
    update();
}

void NumberLabel::copy() const
{
    QGuiApplication::clipboard()->setText(copiedText());
}

QSize NumberLabel::sizeHint() const
{
    const QFontMetricsF metrics(font(), this);
    return {static_cast<int>(std::ceil(tabularWidth(metrics, m_text))) + scaledPixels(4),
            static_cast<int>(std::ceil(metrics.height())) + scaledPixels(2)};
}

QSize NumberLabel::minimumSizeHint() const
{
    return {scaledPixels(24), sizeHint().height()};
}

void NumberLabel::paintEvent(QPaintEvent*)
{
    const ThemeColours& colours = windowColours();
    QPainter painter(this);
    // A little smaller is better than cut short.
    QFont fitting = font();
    const double wanted = tabularWidth(QFontMetricsF(fitting, this), m_text);
    if (wanted > width())
        fitting.setPixelSize(
            static_cast<int>(fitting.pixelSize() * std::clamp(width() / wanted, kSmallest, 1.0)));
    painter.setFont(fitting);
    const QFontMetricsF metrics(fitting, this);
    const QString text = fittedText(m_text, metrics, width());
    if (hasFocus()) {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(colours.selected);
        const double textWidth = std::min(tabularWidth(metrics, text), width() - 1.0);
        const double inset = scaledPixels(3);
        painter.drawRoundedRect(QRectF(width() - textWidth - inset, 0, textWidth + inset, height()),
                                scaledPixels(3), scaledPixels(3));
    }
    painter.setPen(isEnabled() ? colours.text : colours.muted);
    drawTabular(painter, rect(), Qt::AlignRight | Qt::AlignVCenter, text);
}

void NumberLabel::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Copy))
        copy();
    else
        QWidget::keyPressEvent(event);
}

void NumberLabel::mouseDoubleClickEvent(QMouseEvent*)
{
    copy();
    QToolTip::showText(mapToGlobal(QPoint(0, height())), tr("copied"), this);
}

void NumberLabel::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu;
    QAction* action = menu.addAction(tr("Copy %1").arg(copiedText()));
    action->setEnabled(!m_text.isEmpty());
    if (menu.exec(event->globalPos()) == action)
        copy();
}

void NumberLabel::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::StyleChange) {
        setFont(windowFont(TextRole::Control));
        updateGeometry();
    }
}

bool NumberLabel::event(QEvent* event)
{
    // The window's own Ctrl+C copies the figure; here it copies the number.
    if (event->type() == QEvent::ShortcutOverride &&
        static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy)) {
        event->accept();
        return true;
    }
    if (event->type() == QEvent::ToolTip && toolTip().isEmpty()) {
        const auto* help = static_cast<QHelpEvent*>(event);
        QToolTip::showText(help->globalPos(), copiedText(), this);
        return true;
    }
    return QWidget::event(event);
}

} // namespace ropewalk
