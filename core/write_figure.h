// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "figure_spec.h"

#include <string>
#include <vector>

namespace ropewalk {

/// The figure's data as contract.md's `ropewalk.figure/1`: every number at 17 significant digits, not finite
/// = null, never reduced to pixels. Ends with a newline. The same figure gives the same bytes.
std::string figureToJson(const FigureSpec& figure);

/// The figure's data as CSV (RFC 4180, "\n"): one row a sample; series side by side where they share x.
std::string figureToCsv(const FigureSpec& figure);

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
