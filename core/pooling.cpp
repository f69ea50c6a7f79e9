// SPDX-License-Identifier: GPL-3.0-or-later
#include "pooling.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace ropewalk {

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
        ColumnRange& range = columns.back();
        range.lower = std::min(range.lower, y[i]);
        range.upper = std::max(range.upper, y[i]);
        range.last = y[i];
        lastX = x[i];
        ++range.samples;
    }
    closeColumn();
    return columns;
}

} // namespace ropewalk
