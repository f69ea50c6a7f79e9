// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the runs of several operations share.

#include "../compute_backend.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <stop_token>

namespace ropewalk {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline std::size_t at(std::int64_t index)
{
    return static_cast<std::size_t>(index);
}

inline std::int64_t size(CellRange range)
{
    return range.end - range.first;
}

inline CellRange intersection(CellRange a, CellRange b)
{
    return {std::max(a.first, b.first), std::min(a.end, b.end)};
}

inline std::int64_t roundedUp(std::int64_t count, std::int64_t step)
{
    return (count + step - 1) / step * step;
}

/// Pieces of at most `size` that `count` is cut into.
inline std::int64_t pieces(std::int64_t count, std::int64_t size)
{
    return (count + size - 1) / size;
}

/// The blocks, counted from the first column in view, that are of full size and wholly visible to `rows`.
inline CellRange wholeBlocks(const ScoreGrid& grid, CellRange rows)
{
    std::int64_t end = grid.length / grid.block, first = 0;
    if (grid.isCausal) // the last key is not after the first query
        end = std::min(end, (rows.first + 1) / grid.block);
    if (grid.window > 0 &&
        rows.end - 1 >= grid.window) // the first key is within the window of the last query
        first = (rows.end - 1 - grid.window) / grid.block + 1;
    return intersection({first - grid.firstColumnBlock, end - grid.firstColumnBlock}, {0, grid.columnBlocks});
}

/// Whether a run was stopped: asked by all its tasks, and told once.
class StopWatch
{
public:
    explicit StopWatch(const std::stop_token& token)
        : m_token(token)
    {
    }
    bool hasStopped()
    {
        if (!m_token.stop_requested())
            return false;
        m_hasStopped.store(true, std::memory_order_relaxed);
        return true;
    }
    Result<void> outcome() const
    {
        if (m_hasStopped.load(std::memory_order_relaxed))
            return Error{ErrorCode::Cancelled, "stopped", {}};
        return {};
    }

private:
    const std::stop_token& m_token;
    std::atomic<bool> m_hasStopped = false;
};

} // namespace ropewalk
