// SPDX-License-Identifier: GPL-3.0-or-later
#include "tabular_text.h"

#include <QPainter>

#include <algorithm>

namespace ropewalk {
namespace {

bool isCell(QChar c)
{
    return c.isDigit();
}

double cellWidth(const QFontMetricsF& metrics)
{
    double widest = 0.0;
    for (char16_t digit = u'0'; digit <= u'9'; ++digit)
        widest = std::max(widest, metrics.horizontalAdvance(QChar(digit)));
    return widest;
}

/// Calls `each(part, width, isCell)` for every digit, and for every run of text between digits as a whole, so
/// that words keep their kerning and composed characters stay together.
template<typename Each>
void forEachPart(const QFontMetricsF& metrics, const QString& text, Each each)
{
    const double cell = cellWidth(metrics);
    for (qsizetype at = 0; at < text.size();) {
        if (isCell(text[at])) {
            each(text.mid(at, 1), cell, true);
            ++at;
            continue;
        }
        qsizetype end = at;
        while (end < text.size() && !isCell(text[end]))
            ++end;
        const QString run = text.mid(at, end - at);
        each(run, metrics.horizontalAdvance(run), false);
        at = end;
    }
}

} // namespace

double tabularWidth(const QFontMetricsF& metrics, const QString& text)
{
    double width = 0.0;
    forEachPart(metrics, text, [&](const QString&, double partWidth, bool) { width += partWidth; });
    return width;
}

void drawTabular(QPainter& painter, const QRectF& box, Qt::Alignment alignment, const QString& text)
{
    const QFontMetricsF metrics(painter.font(), painter.device());
    const double width = tabularWidth(metrics, text);
    double x = box.left();
    if (alignment & Qt::AlignRight)
        x = box.right() - width;
    else if (alignment & Qt::AlignHCenter)
        x = box.center().x() - width / 2.0;
    double baseline = box.center().y() + (metrics.ascent() - metrics.descent()) / 2.0;
    if (alignment & Qt::AlignTop)
        baseline = box.top() + metrics.ascent();
    else if (alignment & Qt::AlignBottom)
        baseline = box.bottom() - metrics.descent();
    forEachPart(metrics, text, [&](const QString& part, double partWidth, bool isDigit) {
        const double inset = isDigit ? (partWidth - metrics.horizontalAdvance(part)) / 2.0 : 0.0;
        painter.drawText(QPointF(x + inset, baseline), part);
        x += partWidth;
    });
}

} // namespace ropewalk
