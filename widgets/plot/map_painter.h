// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "figure_style.h"

#include <cstdint>
#include <optional>

namespace ropewalk {

/// The pixels from which on, and up to which, the cells of a map lie along one axis of the plot. `from` is
/// the outer edge of the first row or column: right of `to`, or below it, where the axis runs that way.
struct MapExtent
{
    double from = 0.0, to = 1.0;

    double toCell(double pixel, std::int64_t cells) const
    {
        return (pixel - from) / (to - from) * static_cast<double>(cells);
    }
    double toPixel(double cell, std::int64_t cells) const
    {
        return from + cell / static_cast<double>(cells) * (to - from);
    }
};

MapExtent mapColumns(const QRectF& area, const PlotSpec& plot, const MapSpec& map);
MapExtent mapRows(const QRectF& area, const PlotSpec& plot, const MapSpec& map);

/// The cell at a point of the plot's area; empty beside the map. Pure.
std::optional<FigureCell> mapCellAt(const QRectF& area, const PlotSpec& plot, const MapSpec& map,
                                    const QPointF& point);

/// The rectangle of a cell, which may reach beyond the area. Pure.
QRectF mapCellRect(const QRectF& area, const PlotSpec& plot, const MapSpec& map, const FigureCell& cell);

/// The axis values at the edges of a cell, lower first. Pure.
std::pair<double, double> mapColumnRange(const PlotSpec& plot, const MapSpec& map, std::int64_t column);
std::pair<double, double> mapRowRange(const PlotSpec& plot, const MapSpec& map, std::int64_t row);

/// Draws the cells within the area. On a raster each pixel has the colour of the cell at its centre; where
/// several cells share a pixel, of their mean, or of their least or greatest where the map is pooled so
/// (angles: of their mean direction). In a vector the map is one image with a pixel a cell, and what the area
/// cuts off is left out. Nothing is smoothed.
void paintMap(QPainter& painter, const FigureStyle& style, const QRectF& area, const PlotSpec& plot,
              const MapSpec& map);

} // namespace ropewalk
