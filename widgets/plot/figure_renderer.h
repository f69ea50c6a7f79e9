// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/figure_spec.h"
#include "figure_theme.h"

#include <QFont>
#include <QPainter>
#include <QRectF>
#include <QString>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace ropewalk {

class DrawingCache;

/// How a figure is drawn, whatever it is drawn on.
struct RenderOptions
{
    Theme theme = Theme::Light;
    double scale = 1.0;       ///< times every size: text, lines, markers, arrow heads (lecture scale)
    bool showsTitle = true;   ///< title left and formula right, above the plot
    bool showsCaption = true; ///< one line under the plot
    bool isVector = false; ///< the painter writes a PDF or SVG: no bitmaps but maps, no clipping to rely on
    double cornerWidth = 0.0; ///< left free at the right end of the title's line, in design pixels
    /// What a view keeps from one painting to the next; without it each measures its words for itself. The
    /// picture does not depend on it.
    std::shared_ptr<DrawingCache> cache = nullptr;
};

/// Draws the whole of a figure (title, formula, plot, caption; its ground too) into `rect`, in the painter's
/// coordinates, where one unit is one device-independent pixel at scale 1. GUI thread. The only code that
/// draws figures: window, export, command line and tests call it.
void paintFigure(QPainter& painter, const QRectF& rect, const FigureSpec& figure,
                 const RenderOptions& options);

/// A text of a figure and the box that it covers (upright, also where the text is turned).
struct DrawnText
{
    QString text;
    QFont font;
    QRectF box;
};

/// What paintFigure would write, and where: for the check of glyphs before an export, and for tests. GUI
/// thread.
std::vector<DrawnText> figureTexts(const QRectF& rect, const FigureSpec& figure,
                                   const RenderOptions& options);

/// Row and column of a map or a table.
struct FigureCell
{
    std::int64_t row = 0, column = 0;

    bool operator==(const FigureCell&) const = default;
};

/// What lies under a point of a figure drawn so: for picking and for the hover read-out.
struct FigureHit
{
    int plot = 0; ///< 0: the main plot, then FigureSpec::more
    int configuration = -1;
    int pair = -1;           ///< a small circle, a bar, a pair of the spectrum, of a map or of a table
    double x = 0.0, y = 0.0; ///< axis values under the point; meaningful when isOnAxes
    bool isOnAxes = false;
    std::optional<FigureCell> cell; ///< of the map or the table
    int series = -1;                ///< whose point of a cloud lies there, index into PlotSpec::series
    std::size_t sample = 0;         ///< which point
};
FigureHit hitFigure(const QPointF& point, const QRectF& rect, const FigureSpec& figure,
                    const RenderOptions& options);

/// The whole number nearest to `at` among those that a cell holds: from 0 to 1, or from -0.5 to 0.5, holds 0.
double wholeIn(const std::pair<double, double>& range, double at);

} // namespace ropewalk
