// SPDX-License-Identifier: GPL-3.0-or-later
#include "pooling.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace ropewalk {
namespace {

/// Adds the samples first … end-1 to `range`, or those before the first NaN; the first of them is none.
/// Returns where it stopped, above `first`.
std::size_t addRun(std::span<const double> y, std::size_t first, std::size_t end, ColumnRange& range)
{
    // Four at a time, so that they do not wait for one another.
    std::array<double, 4> lower, upper;
    lower.fill(std::min(range.lower, y[first]));
    upper.fill(std::max(range.upper, y[first]));
    std::size_t i = first + 1;
    for (; i + 4 <= end; i += 4) {
        bool isGap = false;
        for (std::size_t lane = 0; lane < 4; ++lane)
            isGap |= std::isnan(y[i + lane]);
        if (isGap)
            break;
        for (std::size_t lane = 0; lane < 4; ++lane) {
            const double value = y[i + lane];
            lower[lane] = value < lower[lane] ? value : lower[lane];
            upper[lane] = value > upper[lane] ? value : upper[lane];
        }
    }
    range.lower = *std::min_element(lower.begin(), lower.end());
    range.upper = *std::max_element(upper.begin(), upper.end());
    for (; i < end && !std::isnan(y[i]); ++i) {
        range.lower = std::min(range.lower, y[i]);
        range.upper = std::max(range.upper, y[i]);
    }
    range.samples += static_cast<decltype(range.samples)>(i - first);
    range.last = y[i - 1];
    return i;
}

} // namespace

std::vector<ColumnRange> reduceToColumns(std::span<const double> x, std::span<const double> y,
                                         const ColumnAxis& axis)
{
    assert(x.size() == y.size() && axis.lower < axis.upper && axis.columns >= 1);
    assert(!axis.isLogarithmic || axis.lower > 0.0);
    std::vector<ColumnRange> columns;
    const double origin = axis.isLogarithmic ? std::log(axis.lower) : axis.lower;
    const double extent = (axis.isLogarithmic ? std::log(axis.upper) : axis.upper) - origin;
    const auto columnOf = [&](double value) {
        const double at = axis.isLogarithmic ? std::log(value) : value;
        return static_cast<long>(std::floor((at - origin) / extent * axis.columns));
    };
    // Below this a value is surely still in the column, so that the logarithm is taken once a column, not
    // once a sample; only in the last trillionth of a column is it asked again.
    const auto surelyWithin = [&](long column) {
        const double end = origin + extent * static_cast<double>(column + 1) / axis.columns;
        const double value = axis.isLogarithmic ? std::exp(end) : end;
        return value - 1e-12 * (std::fabs(value) + std::fabs(axis.lower) + std::fabs(axis.upper));
    };

    // One sample beyond either edge, so that the line does not stop short of it.
    std::size_t begin =
        static_cast<std::size_t>(std::lower_bound(x.begin(), x.end(), axis.lower) - x.begin());
    std::size_t end = static_cast<std::size_t>(std::upper_bound(x.begin(), x.end(), axis.upper) - x.begin());
    if (begin > 0 && (!axis.isLogarithmic || x[begin - 1] > 0.0))
        --begin;
    if (end < x.size())
        ++end;

    long openColumn = 0;
    double openUntil = 0.0;
    bool isOpen = false;
    double firstX = 0.0;
    double lastX = 0.0;
    const auto closeColumn = [&] {
        if (isOpen && columns.back().samples > 1)
            columns.back().x = axis.isLogarithmic ? std::sqrt(firstX * lastX) : (firstX + lastX) / 2;
    };
    for (std::size_t i = begin; i < end; ++i) {
        if (std::isnan(y[i])) {
            closeColumn();
            if (isOpen)
                columns.push_back({x[i], 0, 0, 0, 0, 0});
            isOpen = false;
            continue;
        }
        if (!isOpen || x[i] >= openUntil) {
            const long column = columnOf(x[i]);
            if (!isOpen || column != openColumn) {
                closeColumn();
                columns.push_back({x[i], y[i], y[i], y[i], y[i], 1});
                openColumn = column;
                openUntil = surelyWithin(column);
                isOpen = true;
                firstX = lastX = x[i];
                continue;
            }
        }
        // All that are surely in this column at once, up to the first gap.
        const auto stop = static_cast<std::size_t>(
            std::lower_bound(x.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                             x.begin() + static_cast<std::ptrdiff_t>(end), openUntil) -
            x.begin());
        i = addRun(y, i, stop, columns.back()) - 1;
        lastX = x[i];
    }
    closeColumn();
    return columns;
}

} // namespace ropewalk
