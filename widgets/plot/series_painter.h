// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "axis_scale.h"
#include "core/pooling.h"
#include "figure_style.h"

#include <algorithm>
#include <deque>
#include <span>
#include <vector>

namespace ropewalk {

/// Where series are drawn: the axis rectangle, its scales, and into how many columns a dense curve is
/// reduced.
struct SeriesFrame
{
    QRectF area;
    AxisScale x, y;
    AxisSpec xAxis;
    int columns = 1;
};

/// A series as it lies in the picture: the extent of its samples in each column, from left to right. An upper
/// end below its lower end (in y downwards) never occurs; a gap is a NaN.
struct DrawnColumn
{
    double x = 0.0, top = 0.0, bottom = 0.0;
    bool isDense = false; ///< more than one sample lies in it
};

/// A bar that is drawn strong, and how strong the others are.
struct BarEmphasis
{
    double picked = -1.0; ///< x of the picked sample
    double share = 1.0;   ///< of the colour in the bars that are not picked, the rest is ground
};

/// Which samples lie in which column, worked out once for all curves over the same x of one plot. Views: what
/// is asked about must live as long.
class PlotColumns
{
public:
    explicit PlotColumns(const SeriesFrame& frame)
        : m_x(frame.x)
        , m_axis{frame.xAxis.lower, frame.xAxis.upper, frame.xAxis.isLogarithmic, std::max(1, frame.columns)}
    {
    }

    struct Cuts
    {
        std::span<const double> x;
        std::vector<ColumnCut> columns;
        std::vector<double> pixels; ///< where each of the columns stands
    };
    const Cuts& of(std::span<const double> x);
    const ColumnAxis& axis() const { return m_axis; }

private:
    AxisScale m_x;
    ColumnAxis m_axis;
    std::deque<Cuts> m_known;
};

/// Reduces a series to what can be drawn of it. O(samples).
std::vector<DrawnColumn> drawnColumns(const SeriesFrame& frame, PlotColumns& columns,
                                      std::span<const double> x, std::span<const double> y);

/// The colour, width in design pixels and pattern of a curve.
struct LineLook
{
    QColor colour;
    double width = 1.3;
    LinePattern pattern = LinePattern::Solid;
};

/// Draws a curve; where it is denser than the columns a filled min/max band and a line through its middle.
/// Nothing is drawn outside the area, so that no clipping is needed (SVG has none).
void paintLine(QPainter& painter, const SeriesFrame& frame, const FigureStyle& style,
               const std::vector<DrawnColumn>& columns, const LineLook& look);

/// Draws a polyline on a raster with the painter's pen, as fast as Qt can: see paintLine.
void paintPolyline(QPainter& painter, const QPolygonF& points);

/// Draws one marker a sample, joined by a faint line. `shape` is an index into circle, square, triangle,
/// diamond.
void paintMarkers(QPainter& painter, const SeriesFrame& frame, const FigureStyle& style, const Series& series,
                  const QColor& colour, int shape);

/// Draws bars from zero, `barSlot` of `barSlots` beside each other in the room of one sample.
void paintBars(QPainter& painter, const SeriesFrame& frame, const FigureStyle& style, const Series& series,
               const QColor& colour, int barSlot, int barSlots, const BarEmphasis& emphasis);

/// Draws a stepped line, each sample level over the room of one sample.
void paintSteps(QPainter& painter, const SeriesFrame& frame, const FigureStyle& style, const Series& series,
                const LineLook& look);

/// Draws one small marker a sample, smaller the more there are. `shape` as of paintMarkers.
void paintPoints(QPainter& painter, const SeriesFrame& frame, const FigureStyle& style, const Series& series,
                 const QColor& colour, int shape);

/// Draws the area between two curves.
void paintBand(QPainter& painter, const SeriesFrame& frame, PlotColumns& columns, const FigureStyle& style,
               const Band& band, const QColor& colour);

/// Which marker a series has: its own colour's, or its configuration's.
int markerShape(const FigureSpec& figure, const Series& series);

/// Draws one marker shape.
void paintMarkerShape(QPainter& painter, const QPointF& centre, double radius, int shape);

/// Two colours mixed; opaque, so that pieces of a line may lie over each other.
QColor mixed(const QColor& over, const QColor& ground, double share);

} // namespace ropewalk
