// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "figure_results.h"

#include <span>
#include <string_view>

namespace ropewalk {

/// One row of the table of figures. The next figure is one more row and one file under figures/.
struct FigureInfo
{
    std::string_view id;    ///< word of the command line
    std::string_view title; ///< of the tab, for people
    bool needsDecay = false;
    FigureSpec (*build)(const FigureResults& results) = nullptr;
};

std::span<const FigureInfo> figureCatalog();
const FigureInfo* findFigure(std::string_view id);

/// Builds a figure from results. Pure. A figure whose every configuration is impossible has `failure` set.
FigureSpec buildFigure(const FigureInfo& figure, const FigureResults& results);

} // namespace ropewalk
