// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "axis_scale.h"
#include "axis_ticks.h"
#include "figure_style.h"

#include <vector>

namespace ropewalk {

/// Where the parts of a figure with axes lie: the rectangle between the axes and the scales in it.
struct AxisLayout
{
    QRectF area; ///< whole units; the curves stay within
    AxisScale x, y, secondY;
    std::vector<AxisTick> xTicks, yTicks, secondYTicks;
    bool hasXLabel = false, hasYLabel = false, hasSecondYLabel = false;

    bool isEmpty() const { return area.width() < 8.0 || area.height() < 8.0; }
};

/// Places the axes of a plot within `content`. Pure.
AxisLayout layoutAxes(const FigureStyle& style, const QRectF& content, const PlotSpec& plot);

/// Into how many columns a curve is reduced over such an area: the pixels of a raster, half design pixels of
/// a vector.
int columnCount(const FigureStyle& style, const QRectF& area, double devicePixelRatio);

/// Draws grid, axes, curves, guides, markers and their labels of one plot of the figure within `content`.
void paintAxes(FigurePen& pen, const QRectF& content, const FigureSpec& figure, const PlotSpec& plot);

} // namespace ropewalk
