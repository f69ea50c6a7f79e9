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
