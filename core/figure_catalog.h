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
    FigureSpec (*build)(const FigureResults& results) = nullptr;
    bool needsDecay = false;
    /// Its own computation, whose result `build` finds in FigureResults::data under the id. Errors:
    /// Cancelled, BadInput, or the engine's.
    Result<std::shared_ptr<const FigureData>> (*compute)(FigureJob& job) = nullptr;
    /// Whether the data changes with the picked pair, m and n; otherwise it outlives a change of them.
    bool followsSelection = false;
    bool hasPreview = false; ///< whether it computes a coarse result first when asked to
    /// Of a figure that does not follow the selection: whether these options make its data follow the pair.
    bool (*followsPair)(const FigureOptions& options) = nullptr;
};

std::span<const FigureInfo> figureCatalog();
const FigureInfo* findFigure(std::string_view id);

/// Builds a figure from results. Pure. A figure whose every configuration is impossible has `failure` set.
FigureSpec buildFigure(const FigureInfo& figure, const FigureResults& results);

} // namespace ropewalk
