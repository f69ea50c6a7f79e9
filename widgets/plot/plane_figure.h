// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "figure_style.h"

#include <vector>

namespace ropewalk {

/// Where one panel of a complex plane lies: the large circle, and the field of small ones in rows.
struct PlaneLayout
{
    int panel = 0; ///< index into PlotSpec::planes
    QRectF rect;   ///< of the whole panel
    QRectF title;  ///< of its title; empty where it has none
    QPointF centre;
    double radius = 0.0;
    QRectF field; ///< of the small circles; empty where there is no room
    int columns = 1, rows = 1;

    QRectF cell(int pair) const
    {
        const double width = field.width() / columns;
        const double height = field.height() / rows;
        return {field.left() + pair % columns * width, field.top() + pair / columns * height, width, height};
    }
    double smallRadius() const { return 0.43 * std::min(field.width() / columns, field.height() / rows); }
};

/// Places the panels within `content`, side by side or in two rows, whichever gives the larger circles. Pure.
std::vector<PlaneLayout> layoutPlanes(const FigureStyle& style, const QRectF& content, const PlotSpec& plot);

/// Draws the panels of a plot of the figure within `content`.
void paintPlanes(FigurePen& pen, const QRectF& content, const FigureSpec& figure, const PlotSpec& plot);

} // namespace ropewalk
