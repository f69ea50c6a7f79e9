// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFontMetricsF>
#include <QString>

class QPainter;
class QRectF;

namespace ropewalk {

/// Width of `text` when each digit, sign and space within a number takes the cell of the widest digit.
double tabularWidth(const QFontMetricsF& metrics, const QString& text);

/// Draws one line of `text` in fixed cells with the painter's font and pen. Inter's digits are of different
/// widths and Qt 6.4 cannot ask for its tabular ones, so a number would jump while it changes.
void drawTabular(QPainter& painter, const QRectF& box, Qt::Alignment alignment, const QString& text);

} // namespace ropewalk
