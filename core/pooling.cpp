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

/// Where samples stand together whose x run from one to the other.
double middleOf(const ColumnAxis& axis, double first, double last)
{
    return axis.isLogarithmic ? std::sqrt(first * last) : (first + last) / 2;
}

} // namespace

std::vector<ColumnCut> cutIntoColumns(std::span<const double> x, const ColumnAxis& axis)
{
    assert(axis.lower < axis.upper && axis.columns >= 1);
    assert(!axis.isLogarithmic || axis.lower > 0.0);
    const double origin = axis.isLogarithmic ? std::log(axis.lower) : axis.lower;
    const double extent = (axis.isLogarithmic ? std::log(axis.upper) : axis.upper) - origin;
    const auto shareOf = [&](double value) {
        return ((axis.isLogarithmic ? std::log(value) : value) - origin) / extent;
    };
    const auto columnOf = [&](double share) { return static_cast<long>(std::floor(share * axis.columns)); };
    // Below this a value is surely still in the column, so that the logarithm is not taken for all of many
    // samples; only in the last trillionth of a column is it asked again.
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

    std::vector<ColumnCut> cuts;
    if (begin == end)
        return cuts;
    cuts.reserve(std::min(end - begin, static_cast<std::size_t>(axis.columns) + 2));
    double share = shareOf(x[begin]); // of the sample at hand
    for (std::size_t first = begin; first < end;) {
        const double firstShare = share;
        const long column = columnOf(share);
        std::size_t next = first + 1;
        double lastShare = firstShare;
        while (next < end && columnOf(share = shareOf(x[next])) == column) {
            lastShare = share;
            ++next;
            if (next - first != 3 || next == end)
                continue;
            // Many in one column: on to the last of those that are surely within.
            const auto within = static_cast<std::size_t>(
                std::lower_bound(x.begin() + static_cast<std::ptrdiff_t>(next),
                                 x.begin() + static_cast<std::ptrdiff_t>(end), surelyWithin(column)) -
                x.begin());
            if (within > next) {
                next = within;
                lastShare = shareOf(x[next - 1]);
            }
        }
        const bool isOne = next - first == 1;
        cuts.push_back({first, next, isOne ? x[first] : middleOf(axis, x[first], x[next - 1]),
                        isOne ? firstShare : (firstShare + lastShare) / 2});
        first = next;
    }
    return cuts;
}

std::vector<ColumnRange> reduceToColumns(std::span<const double> x, std::span<const double> y,
                                         const ColumnAxis& axis, std::span<const ColumnCut> cuts)
{
    assert(x.size() == y.size());
    std::vector<ColumnRange> columns;
    columns.reserve(cuts.size());
    bool isOpen = false;
    for (const ColumnCut& cut : cuts)
        for (std::size_t first = cut.first, next = first; first < cut.end; first = next) {
            if (std::isnan(y[first])) {
                if (isOpen)
                    columns.push_back({x[first], 0, 0, 0, 0, 0});
                isOpen = false;
                next = first + 1;
                continue;
            }
            // All of the column at once, up to the first gap.
            ColumnRange& range =
                columns.emplace_back(ColumnRange{cut.x, y[first], y[first], y[first], y[first], 1});
            isOpen = true;
            next = first + 1;
            if (next < cut.end && !std::isnan(y[next]))
                next = addRun(y, next, cut.end, range);
            if (first != cut.first || next != cut.end)
                range.x = next - first == 1 ? x[first] : middleOf(axis, x[first], x[next - 1]);
        }
    return columns;
}

std::vector<ColumnRange> reduceToColumns(std::span<const double> x, std::span<const double> y,
                                         const ColumnAxis& axis)
{
    return reduceToColumns(x, y, axis, cutIntoColumns(x, axis));
}

} // namespace ropewalk
