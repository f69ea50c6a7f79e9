// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "axis_scale.h"
#include "axis_ticks.h"
#include "figure_style.h"

#include <QStringList>

#include <vector>

namespace ropewalk {

/// The name of bars or of a cloud, with its marker, above the axes.
struct LegendEntry
{
    const Series* series = nullptr;
    QRectF box; ///< of marker and name
};

/// Where the parts of a figure with axes lie: the rectangle between the axes and the scales in it.
struct AxisLayout
{
    QRectF area; ///< whole units; the curves stay within
    AxisScale x, y, secondY;
    std::vector<AxisTick> xTicks, yTicks, secondYTicks;
    bool hasXLabel = false;
    QStringList yLabel, secondYLabel; ///< in lines, from left to right
    bool areXNamesUpright = false;    ///< the names of categories, where they have no room side by side
    double xTickRoom = 0.0;           ///< height of the x axis' tick labels
    QRectF colourBar;                 ///< of the map; empty where there is none or no room
    AxisScale bar;
    std::vector<AxisTick> barTicks;
    QStringList barLabel; ///< as them

    std::vector<LegendEntry> legend;

    bool isEmpty() const { return area.width() < 8.0 || area.height() < 8.0; }
};

/// Places the axes of a plot within `content`. Pure.
AxisLayout layoutAxes(const FigureStyle& style, const QRectF& content, const PlotSpec& plot);

/// Into how many columns a curve is reduced over such an area: the pixels of a raster, half design pixels of
/// a vector.
int columnCount(const FigureStyle& style, const QRectF& area, double devicePixelRatio);

/// Whether a series is named above the axes: bars and clouds have no line to stand beside.
bool isInLegend(const Series& series);

/// The map of a plot that is drawn; null where it has none.
const MapSpec* drawnMap(const PlotSpec& plot);

/// Draws map, grid, axes, curves, guides, markers and their labels of one plot of the figure within
/// `content`.
void paintAxes(FigurePen& pen, const QRectF& content, const FigureSpec& figure, const PlotSpec& plot);

} // namespace ropewalk
