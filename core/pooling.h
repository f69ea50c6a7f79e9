// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ropewalk {

/// A curve reduced to the columns of a screen or page: what a column shows of the samples that fall into it.
struct ColumnRange
{
    double x = 0.0; ///< middle of the samples' x in the column, in axis units (their one x, if there is one)
    double lower = 0.0; ///< least y of the samples in it
    double upper = 0.0; ///< greatest y
    double first = 0.0; ///< y of the first sample
    double last = 0.0;  ///< y of the last sample
    int samples = 0;    ///< how many samples fell into it
};

/// The window onto the samples: axis ends and the number of columns.
struct ColumnAxis
{
    double lower = 0.0, upper = 1.0; ///< axis ends, lower < upper; above 0 when logarithmic
    bool isLogarithmic = false;
    int columns = 1; ///< ≥ 1
};

/// The samples of one column: [first, end), and where they stand together.
struct ColumnCut
{
    std::size_t first = 0, end = 0;
    double x = 0.0;     ///< middle of their x, in axis units
    double share = 0.0; ///< where that lies on the axis: 0 at its lower end, 1 at its upper one
};

/// Which samples fall into which column: the same for all curves over one x, which ascends. As
/// reduceToColumns, one sample beyond either edge belongs to it. O(columns · log samples).
std::vector<ColumnCut> cutIntoColumns(std::span<const double> x, const ColumnAxis& axis);

/// Exact min/max of y over the samples in each column, over x ascending. Samples outside the axis are left
/// out but for the nearest on either side, so that a line reaches the edge. NaN in y ends a run: a column
/// with samples = 0 marks the gap. Columns without samples do not appear. O(samples). Nothing is averaged or
/// left out. `cuts` are those of x on the axis.
std::vector<ColumnRange> reduceToColumns(std::span<const double> x, std::span<const double> y,
                                         const ColumnAxis& axis, std::span<const ColumnCut> cuts);
std::vector<ColumnRange> reduceToColumns(std::span<const double> x, std::span<const double> y,
                                         const ColumnAxis& axis);

} // namespace ropewalk
