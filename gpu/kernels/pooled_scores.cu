// SPDX-License-Identifier: GPL-3.0-or-later
#include "score_product.cuh"

namespace ropewalk::kernels {
namespace {

/// Columns of a tile that are written down and added up at a time: as many as fit into the memory that the
/// product has just left.
constexpr int kPiece = 32;
/// Cells of a row that a block of threads takes at least; whole columns of blocks, so that each has one
/// owner.
constexpr std::int64_t kColumns = 512;

template<class Real>
union PoolMemory {
    ProductMemory<Real> product;
    Real cells[kScoreTile][kPiece + 1]; // the pad: a warp reads down a column
};
static_assert(sizeof(PoolMemory<float>) == sizeof(ProductMemory<float>));
static_assert(sizeof(PoolMemory<double>) == sizeof(ProductMemory<double>));

/// What a row gathers of one column of blocks after another. In shared memory, so that the product has the
/// registers.
template<class Real>
struct RunningBlock
{
    std::int64_t firstKey, endKey; ///< that the row sees here
    std::int64_t column, end;      ///< the column of blocks, -1: none yet; its cells end there
    double sum;
    Real least, greatest;
};

/// The cells of a tile of rows and some columns of blocks: computed in tiles, then each row's added up along
/// it by one thread, in order.
template<class Real, bool kIsPlain>
__global__ void __launch_bounds__(kProductThreads, kBlocksHeld<Real>)
    pooledRows(MapView map, const TermView<Real>* terms, int termCount, Strip strip, RowTotals<Real> totals,
               std::int64_t columnsAtATime, PooledRows<Real> pooled)
{
    __shared__ PoolMemory<Real> memory;
    __shared__ RunningBlock<Real> runningBlocks[kScoreTile];

    const int thread = static_cast<int>(threadIdx.x), across = thread % 16, down = thread / 16;
    const std::int64_t rows = strip.end - strip.first;
    const std::int64_t m0 = strip.first + static_cast<std::int64_t>(blockIdx.x) * kScoreTile;
    const std::int64_t endRow = strip.end < m0 + kScoreTile ? strip.end : m0 + kScoreTile;
    const std::int64_t firstBlock = map.firstColumnBlock + blockIdx.y * columnsAtATime;
    const std::int64_t endColumn = (firstBlock + columnsAtATime) * map.block < map.endColumn
                                       ? (firstBlock + columnsAtATime) * map.block
                                       : map.endColumn;
    const Keys seenByAny = within(keysOfRows(map, m0, endRow), firstBlock * map.block, endColumn);

    if (thread < kScoreTile) { // the row that this thread adds up
        const std::int64_t m = m0 + thread;
        Keys seen{0, 0};
        if (m < endRow && !isDeadQuery(map, m))
            seen = within(keysOf(map, m), firstBlock * map.block, endColumn);
        runningBlocks[thread] = {seen.first, seen.end, -1, 0, 0.0, 0, 0};
    }
    const auto flush = [&](const RunningBlock<Real>& running) {
        if (running.column < 0)
            return;
        const std::int64_t at =
            (m0 + thread - strip.first) * map.columnBlocks + running.column - map.firstColumnBlock;
        pooled.sum[at] = running.sum;
        pooled.least[at] = running.least;
        pooled.greatest[at] = running.greatest;
    };

    for (std::int64_t n0 = firstBlock * map.block; n0 < endColumn; n0 += kScoreTile) {
        if (n0 + kScoreTile <= seenByAny.first || n0 >= seenByAny.end)
            continue;
        Real total[kCells][kCells];
        for (int t = 0; t < (kIsPlain ? 1 : termCount); ++t) {
            const TermView<Real>& term = terms[t];
            Real cell[kCells][kCells];
            scoreTile<kIsPlain>(map, term, m0, endRow, n0, endColumn, memory.product, cell);
#pragma unroll
            for (int i = 0; i < kCells; ++i) {
                Real greatest = 0, factor = term.weight;
                if (totals.greatest && m0 + cellOf(down, i) < endRow) {
                    const std::int64_t at = t * rows + (m0 - strip.first) + cellOf(down, i);
                    greatest = totals.greatest[at];
                    factor *= totals.inverseSum[at];
                }
#pragma unroll
                for (int j = 0; j < kCells; ++j) {
                    if (totals.greatest)
                        cell[i][j] = exponential(cell[i][j] - greatest);
                    if (kIsPlain || t == 0)
                        total[i][j] = factor * cell[i][j];
                    else
                        total[i][j] += factor * cell[i][j];
                }
            }
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) // of the tile's columns, and of the thread's
#pragma unroll 1
            for (int quarter = 0; quarter < 2; ++quarter) {
                const int firstLane = quarter * (kPiece / 4); // the lanes whose columns these are
                if (across >= firstLane && across < firstLane + kPiece / 4) {
#pragma unroll
                    for (int i = 0; i < kCells; ++i)
#pragma unroll
                        for (int j = 0; j < 4; ++j)
                            memory.cells[cellOf(down, i)][(across - firstLane) * 4 + j] =
                                total[i][half * 4 + j];
                }
                __syncthreads();
                if (thread < kScoreTile) {
                    RunningBlock<Real> running = runningBlocks[thread];
                    const std::int64_t first = n0 + (2 * half + quarter) * kPiece;
                    const Keys here = within({running.firstKey, running.endKey}, first, first + kPiece);
                    for (std::int64_t n = here.first; n < here.end;) {
                        if (n >= running.end) {
                            flush(running);
                            running.column = n / map.block;
                            running.end = (running.column + 1) * map.block;
                            running.sum = 0.0;
                            running.least = static_cast<Real>(HUGE_VAL);
                            running.greatest = static_cast<Real>(-HUGE_VAL);
                        }
                        const auto begin = static_cast<int>(n - first);
                        const auto end =
                            static_cast<int>((here.end < running.end ? here.end : running.end) - first);
                        Real sum = 0; // of at most kPiece cells; the rest is added up in double
                        for (int column = begin; column < end; ++column) {
                            if (isDeadKey(map, first + column))
                                continue;
                            const Real value = memory.cells[thread][column];
                            sum += value;
                            running.least = value < running.least ? value : running.least;
                            running.greatest = value > running.greatest ? value : running.greatest;
                        }
                        running.sum += static_cast<double>(sum);
                        n = first + end;
                    }
                    runningBlocks[thread] = running;
                }
                __syncthreads();
            }
    }
    if (thread < kScoreTile)
        flush(runningBlocks[thread]);
}

template<class Real>
__global__ void clearBlocks(Blocks<Real> blocks, std::int64_t count)
{
    const std::int64_t i = threadIndex();
    if (i >= count)
        return;
    blocks.sum[i] = 0.0;
    blocks.least[i] = static_cast<Real>(HUGE_VAL);
    blocks.greatest[i] = static_cast<Real>(-HUGE_VAL);
    blocks.count[i] = 0;
}

/// The cells of a column of blocks that are in view.
__device__ Keys columnsOf(const MapView& map, std::int64_t columnBlock)
{
    const std::int64_t first = (map.firstColumnBlock + columnBlock) * map.block;
    return {first, first + map.block < map.endColumn ? first + map.block : map.endColumn};
}

/// A thread a block adds the strip's rows to it, one after another.
template<class Real>
__global__ void gatherBlocks(MapView map, Strip strip, PooledRows<Real> pooled, std::int64_t firstRowBlock,
                             std::int64_t rowBlocks, Blocks<Real> blocks)
{
    const std::int64_t index = threadIndex();
    if (index >= rowBlocks * map.columnBlocks)
        return;
    const std::int64_t row = firstRowBlock + index / map.columnBlocks, column = index % map.columnBlocks;
    const Keys columns = columnsOf(map, column);
    const std::int64_t block = (row - map.firstRowBlock) * map.columnBlocks + column;
    double sum = blocks.sum[block];
    Real least = blocks.least[block], greatest = blocks.greatest[block];
    std::int64_t count = blocks.count[block];
    const Keys rows = within({row * map.block, (row + 1) * map.block}, strip.first, strip.end);
    for (std::int64_t m = rows.first; m < rows.end; ++m) {
        const Keys seen = within(keysOf(map, m), columns.first, columns.end);
        if (seen.first >= seen.end || isDeadQuery(map, m))
            continue;
        const std::int64_t at = (m - strip.first) * map.columnBlocks + column;
        sum += pooled.sum[at];
        least = pooled.least[at] < least ? pooled.least[at] : least;
        greatest = pooled.greatest[at] > greatest ? pooled.greatest[at] : greatest;
        count += livingKeys(map, seen);
    }
    blocks.sum[block] = sum;
    blocks.least[block] = least;
    blocks.greatest[block] = greatest;
    blocks.count[block] = count;
}

/// A warp a row, eight of them a block.
constexpr int kWarp = 32, kWarps = 8;

template<class Real>
__global__ void rowMeans(MapView map, Strip strip, PooledRows<Real> pooled, double* mean)
{
    const std::int64_t m = strip.first + static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.y;
    const bool isRow = m < strip.end && !isDeadQuery(map, m);
    double sum = 0.0;
    if (isRow)
        for (std::int64_t column = threadIdx.x; column < map.columnBlocks; column += kWarp) {
            const Keys columns = columnsOf(map, column);
            const Keys seen = within(keysOf(map, m), columns.first, columns.end);
            if (seen.first < seen.end)
                sum += pooled.sum[(m - strip.first) * map.columnBlocks + column];
        }
    for (int apart = kWarp / 2; apart > 0; apart /= 2)
        sum += __shfl_xor_sync(0xFFFFFFFFU, sum, apart);
    if (threadIdx.x == 0 && m < strip.end) {
        const std::int64_t count =
            isRow ? livingKeys(map, within(keysOf(map, m), map.firstColumn, map.endColumn)) : 0;
        mean[m - map.firstRow] = count > 0 ? sum / static_cast<double>(count) : static_cast<double>(NAN);
    }
}

} // namespace

template<class Real>
void launchPooledRows(const MapView& map, const TermList<Real>& terms, Strip strip,
                      const RowTotals<Real>* totals, const PooledRows<Real>& pooled)
{
    const std::int64_t columnsAtATime = map.block < kColumns ? kColumns / map.block : 1;
    const dim3 grid(blocksFor(strip.end - strip.first, kScoreTile),
                    blocksFor(map.columnBlocks, columnsAtATime));
    const RowTotals<Real> ofRows = totals ? *totals : RowTotals<Real>{};
    if (terms.isPlain)
        ROPEWALK_LAUNCH((pooledRows<Real, true>), grid, kProductThreads, 0, map, terms.terms, terms.count,
                        strip, ofRows, columnsAtATime, pooled);
    else
        ROPEWALK_LAUNCH((pooledRows<Real, false>), grid, kProductThreads, 0, map, terms.terms, terms.count,
                        strip, ofRows, columnsAtATime, pooled);
}

template<class Real>
void launchClearBlocks(const Blocks<Real>& blocks, std::int64_t count)
{
    ROPEWALK_LAUNCH(clearBlocks<Real>, blocksFor(count, kThreads), kThreads, 0, blocks, count);
}

template<class Real>
void launchGatherBlocks(const MapView& map, Strip strip, const PooledRows<Real>& pooled,
                        const Blocks<Real>& blocks)
{
    const std::int64_t first = strip.first / map.block, count = (strip.end - 1) / map.block + 1 - first;
    ROPEWALK_LAUNCH(gatherBlocks<Real>, blocksFor(count * map.columnBlocks, kThreads), kThreads, 0, map,
                    strip, pooled, first, count, blocks);
}

template<class Real>
void launchRowMeans(const MapView& map, Strip strip, const PooledRows<Real>& pooled, double* mean)
{
    ROPEWALK_LAUNCH(rowMeans<Real>, blocksFor(strip.end - strip.first, kWarps), dim3(kWarp, kWarps), 0, map,
                    strip, pooled, mean);
}

#define ROPEWALK_INSTANTIATE(Real)                                                                           \
    template void launchPooledRows(const MapView&, const TermList<Real>&, Strip, const RowTotals<Real>*,     \
                                   const PooledRows<Real>&);                                                 \
    template void launchClearBlocks(const Blocks<Real>&, std::int64_t);                                      \
    template void launchGatherBlocks(const MapView&, Strip, const PooledRows<Real>&, const Blocks<Real>&);   \
    template void launchRowMeans(const MapView&, Strip, const PooledRows<Real>&, double*);
ROPEWALK_INSTANTIATE(float)
ROPEWALK_INSTANTIATE(double)

} // namespace ropewalk::kernels
