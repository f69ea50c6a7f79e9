// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "figure_spec.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ropewalk {

/// Takes what is written, piece after piece; a curve of ten million distances has gigabytes.
using TextSink = std::function<void(std::string_view piece)>;

/// The figure's data as contract.md's `ropewalk.figure/1`: every number at 17 significant digits, not finite
/// = null, never reduced to pixels. Ends with a newline. The same figure gives the same bytes.
void writeFigureJson(const FigureSpec& figure, const TextSink& sink);
std::string figureToJson(const FigureSpec& figure); ///< the same, whole

/// The figure's data as CSV (RFC 4180, "\n"): one row a sample; series side by side where they share x. Where
/// x counts names (results, terms, words), they stand in a column of their own.
void writeFigureCsv(const FigureSpec& figure, const TextSink& sink);
std::string figureToCsv(const FigureSpec& figure); ///< the same, whole

/// One file as `inspect` reads it.
struct InspectedFile
{
    std::string file;
    std::vector<Issue> notes;
    std::vector<RopeConfig> configurations;
};

/// contract.md's `ropewalk.inspect/1`: one object for one file, an array for several. Ends with a newline.
std::string inspectToJson(const std::vector<InspectedFile>& files);

} // namespace ropewalk
