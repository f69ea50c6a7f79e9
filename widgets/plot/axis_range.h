// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/figure_spec.h"

#include <utility>

namespace ropewalk {

/// Lower and upper end of an axis.
using AxisEnds = std::pair<double, double>;

/// The ends of all axes of a plot.
struct PlotRange
{
    AxisEnds x, y, secondY;

    bool operator==(const PlotRange&) const = default;
    /// Whether `other` lies within this range.
    bool holds(const PlotRange& other) const;
};

/// Whether the ends are those of `other`, rounded to whole numbers at most.
bool isAbout(const AxisEnds& ends, const AxisEnds& other);

PlotRange rangeOf(const PlotSpec& plot);
void setRangeOf(PlotSpec& plot, const PlotRange& range);

/// The ends after a zoom by `factor` (below 1: closer) about the value `at`, which keeps its place; along the
/// logarithm where the axis is logarithmic. Never beyond `home`, never closer than can be told apart: two
/// whole numbers of tokens or pairs, a millionth of the home range.
AxisEnds zoomed(const AxisSpec& axis, const AxisEnds& ends, const AxisEnds& home, double at, double factor);

/// The ends after what was at `from` was moved to `to`; never beyond `home`.
AxisEnds moved(const AxisSpec& axis, const AxisEnds& ends, const AxisEnds& home, double from, double to);

} // namespace ropewalk
