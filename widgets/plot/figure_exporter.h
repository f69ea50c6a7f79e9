// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/figure_spec.h"
#include "core/result.h"
#include "figure_theme.h"

#include <QByteArray>
#include <QSizeF>

namespace ropewalk {

enum class ExportFormat { Pdf, Svg, Png };

struct ExportOptions
{
    ExportFormat format = ExportFormat::Pdf;
    QSizeF sizeMm{140.0, 90.0}; ///< 10..1000 mm a side
    double dpi = 300.0;         ///< PNG only; 30..1200
    Theme theme = Theme::Print;
    double textPt = 8.0; ///< size of normal text on paper, in points; everything else follows
    bool showsTitle = true;
    bool showsCaption = true;
};

/// The picture's bytes; the same figure and options give the same bytes (no time or date in them). Vectors
/// stay vectors, fonts are embedded (PDF), the figure's summary is the SVG's description. GUI thread. Errors:
/// BadInput (size out of range, a glyph that no font has), Output.
Result<QByteArray> exportFigure(const FigureSpec& figure, const ExportOptions& options);

} // namespace ropewalk
