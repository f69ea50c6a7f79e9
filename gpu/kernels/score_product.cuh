// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the kernels of a score map share: which keys a query sees, and the product of a tile of queries and
// keys.

#include "grid.cuh"
#include "launch.h"

#include <cstdint>

namespace ropewalk::kernels {

/// Sixteen by sixteen threads, eight by eight cells each: per channel 16 numbers are read from shared memory
/// for 64 products, so that the arithmetic is what limits; more cells a thread would not fit into its
/// registers.
constexpr int kProductThreads = 256;
constexpr int kCells = 8; ///< a side, of one thread

/// Blocks that a multiprocessor shall hold: two leave a thread 128 registers, which do for floats.
template<class Real>
inline constexpr int kBlocksHeld = sizeof(Real) == 4 ? 2 : 1;

/// Four numbers that are read at once.
template<class Real>
struct alignas(16) Four
{
    Real v[4];
};

/// A step of kProductDepth channels of a tile's queries and keys, channel by channel; two, so that one is
/// filled while the other is read. The pad puts the channels that a warp writes at once into different banks.
template<class Real>
struct ProductMemory
{
    Four<Real> queries[2][kProductDepth][kScoreTile / 4 + 1];
    Four<Real> keys[2][kProductDepth][kScoreTile / 4 + 1];
};

/// Row (or column) of a tile of the i-th of a thread's eight: four neighbours in each half, so that what a
/// warp reads at once lies side by side.
__device__ inline int cellOf(int lane, int i)
{
    return (i / 4) * (kScoreTile / 2) + lane * 4 + i % 4;
}

struct Keys
{
    std::int64_t first, end;
};

/// The keys that the query at `m` sees.
__device__ inline Keys keysOf(const MapView& map, std::int64_t m)
{
    Keys keys{0, map.isCausal ? m + 1 : map.length};
    if (map.window > 0 && m - map.window + 1 > 0)
        keys.first = m - map.window + 1;
    return keys;
}
__device__ inline Keys within(Keys keys, std::int64_t first, std::int64_t end)
{
    return {keys.first > first ? keys.first : first, keys.end < end ? keys.end : end};
}
/// The keys that any of the queries first … end-1 sees: both ends only rise.
__device__ inline Keys keysOfRows(const MapView& map, std::int64_t first, std::int64_t end)
{
    return {keysOf(map, first).first, keysOf(map, end - 1).end};
}
__device__ inline bool isDeadQuery(const MapView& map, std::int64_t m)
{
    return map.deadQueries && map.deadQueries[m - map.firstRow] != 0;
}
__device__ inline bool isDeadKey(const MapView& map, std::int64_t n)
{
    return map.deadKeys && map.deadKeys[n - map.firstKey] != 0;
}
/// How many keys of the range are alive.
__device__ inline std::int64_t livingKeys(const MapView& map, Keys keys)
{
    if (keys.first >= keys.end)
        return 0;
    const std::int64_t dead =
        map.deadBefore ? map.deadBefore[keys.end - map.firstKey] - map.deadBefore[keys.first - map.firstKey]
                       : 0;
    return keys.end - keys.first - dead;
}

/// e^x of a float by the float function, of a double by the double one.
__device__ inline float exponential(float x)
{
    return expf(x);
}
__device__ inline double exponential(double x)
{
    return exp(x);
}

/// Rows of width `width` that a tile takes from `rows` on; those past `count` are zero.
template<class Real>
struct RowsOfTile
{
    const Real* rows;
    int width, count;
    const double* damping; ///< ln a cell and channel, or null
    std::int64_t
        fromCentre; ///< of the first row: its distance from the cell at which damping is 1; keys: minus

    /// Four channels of a row. kIsPlain: without damping.
    template<bool kIsPlain>
    __device__ Four<Real> at(int row, int channel, int sign) const
    {
        Four<Real> numbers{};
        if (row < count) {
            numbers =
                *reinterpret_cast<const Four<Real>*>(rows + static_cast<std::int64_t>(row) * width + channel);
            if (!kIsPlain && damping) {
                const auto cells = static_cast<double>(sign * (fromCentre + row));
                for (int i = 0; i < 4; ++i)
                    numbers.v[i] *= exponential(static_cast<Real>(damping[channel + i] * cells));
            }
        }
        return numbers;
    }
};

/// sum[i][j] = q·k of the thread's cells. All threads of the block call it; `memory` may be used again by
/// them after their next barrier.
template<bool kIsPlain, class Real>
__device__ inline void multiplyTile(const RowsOfTile<Real>& queries, const RowsOfTile<Real>& keys,
                                    ProductMemory<Real>& memory, Real (&sum)[kCells][kCells])
{
    const int thread = static_cast<int>(threadIdx.x);
    const int across = thread % 16, down = thread / 16;
    // Each thread brings four channels of one query and of one key.
    const int row = thread / 2, channel = thread % 2 * 4;
#pragma unroll
    for (int i = 0; i < kCells; ++i)
#pragma unroll
        for (int j = 0; j < kCells; ++j)
            sum[i][j] = 0;

    const auto put = [&](int half, const Four<Real>& query, const Four<Real>& key) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            memory.queries[half][channel + i][row / 4].v[row % 4] = query.v[i];
            memory.keys[half][channel + i][row / 4].v[row % 4] = key.v[i];
        }
    };
    put(0, queries.template at<kIsPlain>(row, channel, 1), keys.template at<kIsPlain>(row, channel, -1));
    __syncthreads();
    int half = 0;
    for (int depth = 0; depth < queries.width; depth += kProductDepth) {
        Four<Real> query, key;
        const bool isMore = depth + kProductDepth < queries.width;
        if (isMore) { // on their way while the products are formed
            query = queries.template at<kIsPlain>(row, depth + kProductDepth + channel, 1);
            key = keys.template at<kIsPlain>(row, depth + kProductDepth + channel, -1);
        }
#pragma unroll
        for (int c = 0; c < kProductDepth; ++c) {
            const Four<Real> q[2] = {memory.queries[half][c][down], memory.queries[half][c][down + 16]};
            const Four<Real> k[2] = {memory.keys[half][c][across], memory.keys[half][c][across + 16]};
#pragma unroll
            for (int i = 0; i < kCells; ++i)
#pragma unroll
                for (int j = 0; j < kCells; ++j)
                    sum[i][j] += q[i / 4].v[i % 4] * k[j / 4].v[j % 4];
        }
        if (isMore) {
            put(1 - half, query, key);
            __syncthreads();
            half = 1 - half;
        }
    }
}

/// The logits or scores of one term over the thread's cells of the tile whose first cell is (m0, n0), scale
/// and τ included. Cells that the mask hides hold anything. Ends with all threads at a barrier.
template<bool kIsPlain, class Real>
__device__ inline void scoreTile(const MapView& map, const TermView<Real>& term, std::int64_t m0,
                                 std::int64_t endRow, std::int64_t n0, std::int64_t endKey,
                                 ProductMemory<Real>& memory, Real (&cell)[kCells][kCells])
{
    const int across = static_cast<int>(threadIdx.x) % 16, down = static_cast<int>(threadIdx.x) / 16;
    const auto rows = static_cast<int>(endRow - m0 < kScoreTile ? endRow - m0 : kScoreTile);
    const auto columns = static_cast<int>(endKey - n0 < kScoreTile ? endKey - n0 : kScoreTile);
    if (kIsPlain || term.width > 0) {
        // e^((m-n)·rate) = e^((m-c)·rate)·e^((c-n)·rate) with c amid the keys, so that neither leaves a
        // float's range.
        const std::int64_t centre = n0 + kScoreTile / 2;
        const RowsOfTile<Real> queries{term.queries + (m0 - map.firstRow) * term.width, term.width, rows,
                                       term.damping, m0 - centre};
        const RowsOfTile<Real> keys{term.keys + (n0 - map.firstKey) * term.width, term.width, columns,
                                    term.damping, n0 - centre};
        multiplyTile<kIsPlain>(queries, keys, memory, cell);
    }
#pragma unroll
    for (int i = 0; i < kCells; ++i) {
        const int row = cellOf(down, i);
        if (row >= rows)
            continue;
        const std::int64_t m = m0 + row;
        const Real factor = term.rowFactor[m - map.firstRow];
        if (kIsPlain || term.width > 0) {
#pragma unroll
            for (int j = 0; j < kCells; ++j)
                cell[i][j] *= factor;
            continue;
        }
        const Keys seen = within(keysOf(map, m), n0, n0 + columns);
#pragma unroll
        for (int j = 0; j < kCells; ++j) {
            const std::int64_t n = n0 + cellOf(across, j);
            cell[i][j] = n >= seen.first && n < seen.end
                             ? factor * static_cast<Real>(term.table[m - n - term.firstDistance])
                             : Real(0);
        }
    }
    __syncthreads();
}

} // namespace ropewalk::kernels
