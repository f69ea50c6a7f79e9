// SPDX-License-Identifier: GPL-3.0-or-later
#include "axis_range.h"

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

/// Ends in the space in which the axis is even.
AxisEnds evened(const AxisSpec& axis, const AxisEnds& ends)
{
    return axis.isLogarithmic ? AxisEnds{std::log(ends.first), std::log(ends.second)} : ends;
}

AxisEnds restored(const AxisSpec& axis, const AxisEnds& ends)
{
    return axis.isLogarithmic ? AxisEnds{std::exp(ends.first), std::exp(ends.second)} : ends;
}

/// Moves ends of an extent no larger than home's into it.
AxisEnds within(AxisEnds ends, const AxisEnds& home)
{
    const double extent = ends.second - ends.first;
    if (ends.first < home.first)
        ends = {home.first, home.first + extent};
    if (ends.second > home.second)
        ends = {home.second - extent, home.second};
    return ends;
}

bool holdsEnds(const AxisEnds& home, const AxisEnds& ends)
{
    const double slack = 1e-9 * (home.second - home.first);
    return ends.first >= home.first - slack && ends.second <= home.second + slack;
}

} // namespace

bool PlotRange::holds(const PlotRange& other) const
{
    return holdsEnds(x, other.x) && holdsEnds(y, other.y) && holdsEnds(secondY, other.secondY);
}

bool isAbout(const AxisEnds& ends, const AxisEnds& other)
{
    const double extent = ends.second - ends.first;
    const double slack = 0.01 * extent + (extent > 20.0 ? 1.0 : 0.0);
    return std::fabs(ends.first - other.first) <= slack && std::fabs(ends.second - other.second) <= slack;
}

PlotRange rangeOf(const PlotSpec& plot)
{
    PlotRange range{{plot.xAxis.lower, plot.xAxis.upper}, {plot.yAxis.lower, plot.yAxis.upper}, {}};
    if (plot.secondYAxis)
        range.secondY = {plot.secondYAxis->lower, plot.secondYAxis->upper};
    return range;
}

void setRangeOf(PlotSpec& plot, const PlotRange& range)
{
    const auto set = [](AxisSpec& axis, const AxisEnds& ends) {
        axis.lower = ends.first;
        axis.upper = ends.second;
    };
    set(plot.xAxis, range.x);
    set(plot.yAxis, range.y);
    if (plot.secondYAxis)
        set(*plot.secondYAxis, range.secondY);
}

AxisEnds zoomed(const AxisSpec& axis, const AxisEnds& ends, const AxisEnds& home, double at, double factor)
{
    const AxisEnds even = evened(axis, ends);
    const AxisEnds whole = evened(axis, home);
    const double middle = axis.isLogarithmic ? std::log(at) : at;
    const bool isCounted = axis.kind == AxisKind::Tokens || axis.kind == AxisKind::Pair;
    double least = 1e-6 * (whole.second - whole.first);
    if (isCounted)
        least = std::max(least, axis.isLogarithmic ? std::log1p(2.0 / std::max(1.0, at)) : 2.0);
    const double extent = even.second - even.first;
    const double wanted = std::max(extent * factor, std::min(extent, least));
    if (wanted >= (whole.second - whole.first) * (1.0 - 1e-9))
        return home;
    const double share = wanted / extent;
    return restored(
        axis,
        within({middle - (middle - even.first) * share, middle + (even.second - middle) * share}, whole));
}

AxisEnds moved(const AxisSpec& axis, const AxisEnds& ends, const AxisEnds& home, double from, double to)
{
    const double by = axis.isLogarithmic ? std::log(from) - std::log(to) : from - to;
    const AxisEnds even = evened(axis, ends);
    if (ends == home || !std::isfinite(by))
        return ends;
    return restored(axis, within({even.first + by, even.second + by}, evened(axis, home)));
}

} // namespace ropewalk
