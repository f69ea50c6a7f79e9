// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "axis_figure.h"
#include "label_placer.h"

namespace ropewalk {

/// Draws the rings of the markers and all words within the plot: at curves, guides, markers and bands. A
/// label that finds no room is left out; its value stands in the caption, the read-out and the data.
void paintLabels(FigurePen& pen, const FigureSpec& figure, const PlotSpec& plot, const AxisLayout& layout,
                 LabelPlacer& placer);

} // namespace ropewalk
