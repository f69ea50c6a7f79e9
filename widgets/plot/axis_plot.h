// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "axis_figure.h"
#include "label_placer.h"

namespace ropewalk {

/// Draws grid, axes, ticks, guides, bands and curves through QCustomPlot, without any words. What the curves
/// cover is told to `placer`.
void paintPlot(FigurePen& pen, const FigureSpec& figure, const PlotSpec& plot, const AxisLayout& layout,
               LabelPlacer& placer);

} // namespace ropewalk
