// SPDX-License-Identifier: GPL-3.0-or-later
#include "../cpu_workers.h"
#include "fused.h"
#include "row_turner.h"
#include "run_support.h"
#include "runs.h"

#include <bit>
#include <deque>
#include <vector>

namespace ropewalk {
namespace {

// Slots of scratch.
constexpr int kKeySums = 0, kQuerySums = 1, kBefore = 2, kPacked = 3;      // common
constexpr int kTurning = 0, kRows = 1, kSeen = 2, kPassed = 3, kCells = 4; // of a worker
constexpr int kCutQueries = 5, kCutKeys = 6, kCutSums = 7;

/// The mean of q·k over a block of queries × keys is the product of their means; where the mask cuts a block
/// each query meets the sum of the keys that it sees. Several terms lie side by side in the channels.
class PooledProductRun
{
public:
    PooledProductRun(const ScoreMapOp& op, CpuWorkers& workers)
        : m_op(op)
        , m_grid(op.grid)
        , m_workers(workers)
        , m_rows(op.grid.rows())
        , m_columns(op.grid.columns())
        , m_blocks(std::max<std::int64_t>(1, kChunk / op.grid.block))
        , m_chunk(m_blocks * op.grid.block)
    {
        for (const ScoreTerm& term : op.terms) {
            m_turners.emplace_back(op, term);
            m_firstChannel.push_back(m_depth);
            m_depth += term.width;
            m_turning = std::max(m_turning, m_turners.back().scratchSize());
            m_width = std::max(m_width, term.width);
        }
        if (!op.deadKeys.empty()) {
            m_aliveKeys.assign(at(size(m_columns) + 1), 0);
            for (std::int64_t n = 0; n < size(m_columns); ++n)
                m_aliveKeys[at(n + 1)] =
                    m_aliveKeys[at(n)] + (op.deadKeys[at(m_columns.first + n - op.firstKey)] == 0 ? 1 : 0);
        }
    }

    Result<void> run(const std::stop_token& stop)
    {
        StopWatch watch(stop);
        const std::int64_t keyChunks = pieces(size(m_columns), m_chunk);
        m_keySums = common(kKeySums, m_grid.columnBlocks);
        m_querySums = common(kQuerySums, roundedUp(m_grid.rowBlocks, kTileRows));
        m_before = common(kBefore, keyChunks + 1);
        const auto forTasks = [&](std::int64_t tasks, auto task) {
            m_workers.forEach(tasks, [&](std::int64_t index, int worker) {
                if (!watch.hasStopped())
                    task(index, worker);
            });
        };
        forTasks(keyChunks, [&](std::int64_t chunk, int worker) { addKeys(chunk, worker); });
        addUp(keyChunks);
        forTasks(pieces(size(m_rows), m_chunk),
                 [&](std::int64_t chunk, int worker) { addQueries(chunk, worker); });
        std::fill(m_querySums + m_grid.rowBlocks * m_depth,
                  m_querySums + roundedUp(m_grid.rowBlocks, kTileRows) * m_depth, 0.0);
        const std::int64_t panels = pieces(m_grid.columnBlocks, kPanel);
        m_packed = common(kPacked, panels * kPanel);
        forTasks(pieces(panels, kPanels), [&](std::int64_t piece, int) {
            const std::int64_t first = piece * kPanels * kPanel;
            packPanels(m_keySums + first * m_depth, std::min(kPanels * kPanel, m_grid.columnBlocks - first),
                       m_depth, m_packed + first * m_depth);
        });
        forTasks(pieces(m_grid.rowBlocks, kRowBlocks), [&](std::int64_t piece, int worker) {
            const std::int64_t first = piece * kRowBlocks;
            multiply(first, std::min(m_grid.rowBlocks, first + kRowBlocks), worker);
        });
        return watch.outcome();
    }

private:
    static constexpr std::int64_t kChunk = 512;    ///< rows of a task, in whole blocks
    static constexpr std::int64_t kRowBlocks = 32; ///< of a task of the product; a multiple of kTileRows
    static constexpr std::int64_t kPanels = 8;     ///< of a task that packs them
    static constexpr std::int64_t kPanel = Lanes<double>::kPanel;

    double* common(int slot, std::int64_t rows)
    {
        return m_workers.scratch<double>(-1, slot, rows * m_depth);
    }

    bool isDeadQuery(std::int64_t m) const
    {
        return !m_op.deadQueries.empty() && m_op.deadQueries[at(m - m_rows.first)] != 0;
    }
    std::int64_t aliveKeys(CellRange keys) const
    {
        if (m_aliveKeys.empty())
            return size(keys);
        return m_aliveKeys[at(keys.end - m_columns.first)] - m_aliveKeys[at(keys.first - m_columns.first)];
    }

    /// Calls `visit(position, row)` for the rotated rows of `range`, one after another.
    template<class Turn, class Visit>
    void forRows(CellRange range, int width, int worker, Turn turn, Visit visit)
    {
        double* rows = m_workers.scratch<double>(worker, kRows, RowTurner::kRows * m_width);
        double* turning = m_workers.scratch<double>(worker, kTurning, m_turning);
        for (std::int64_t first = range.first; first < range.end; first += RowTurner::kRows) {
            const std::int64_t count = std::min(RowTurner::kRows, range.end - first);
            turn(first, count, rows, turning);
            for (std::int64_t i = 0; i < count; ++i)
                visit(first + i, rows + i * width);
        }
    }

    static void add(const double* row, int width, double* sum)
    {
        for (int channel = 0; channel < width; ++channel)
            sum[channel] += row[channel];
    }

    /// Sums of the keys of each block, and of the whole chunk behind the ones before it.
    void addKeys(std::int64_t chunk, int worker)
    {
        const CellRange range = intersection(
            {m_columns.first + chunk * m_chunk, m_columns.first + (chunk + 1) * m_chunk}, m_columns);
        const std::int64_t firstBlock = chunk * m_blocks;
        const std::int64_t blocks = pieces(size(range), m_grid.block);
        std::fill_n(m_keySums + firstBlock * m_depth, blocks * m_depth, 0.0);
        for (std::size_t t = 0; t < m_turners.size(); ++t) {
            const RowTurner& turner = m_turners[t];
            forRows(
                range, turner.width(), worker,
                [&](std::int64_t first, std::int64_t count, double* rows, double* turning) {
                    turner.keys(first, count, rows, turning);
                },
                [&](std::int64_t n, const double* row) {
                    add(row, turner.width(),
                        m_keySums + (firstBlock + (n - range.first) / m_grid.block) * m_depth +
                            m_firstChannel[t]);
                });
        }
        double* sum = m_before + (chunk + 1) * m_depth;
        std::fill_n(sum, m_depth, 0.0);
        for (std::int64_t block = 0; block < blocks; ++block)
            add(m_keySums + (firstBlock + block) * m_depth, m_depth, sum);
    }

    void addUp(std::int64_t keyChunks)
    {
        std::fill_n(m_before, m_depth, 0.0);
        for (std::int64_t chunk = 1; chunk <= keyChunks; ++chunk)
            add(m_before + (chunk - 1) * m_depth, m_depth, m_before + chunk * m_depth);
    }

    /// Σ of the rotated keys from the first column in view up to a place that only moves on.
    class RunningSum
    {
    public:
        RunningSum(PooledProductRun& run, std::size_t term, int worker, int slot)
            : m_run(run)
            , m_turner(run.m_turners[term])
            , m_firstChannel(run.m_firstChannel[term])
            , m_sum(run.m_workers.scratch<double>(worker, slot, (RowTurner::kRows + 1) * run.m_width))
            , m_rows(m_sum + run.m_width)
            , m_turning(run.m_workers.scratch<double>(worker, kTurning, run.m_turning))
        {
        }
        const double* upTo(std::int64_t end)
        {
            if (m_at < 0) {
                const std::int64_t chunk = (end - m_run.m_columns.first) / m_run.m_chunk;
                m_at = m_chunkEnd = m_run.m_columns.first + chunk * m_run.m_chunk;
                std::copy_n(m_run.m_before + chunk * m_run.m_depth + m_firstChannel, m_turner.width(), m_sum);
            }
            for (; m_at < end; ++m_at) {
                if (m_at >= m_chunkEnd) {
                    const std::int64_t count = std::min(RowTurner::kRows, m_run.m_columns.end - m_at);
                    m_turner.keys(m_at, count, m_rows, m_turning);
                    m_chunkFirst = m_at;
                    m_chunkEnd = m_at + count;
                }
                add(m_rows + (m_at - m_chunkFirst) * m_turner.width(), m_turner.width(), m_sum);
            }
            return m_sum;
        }

    private:
        PooledProductRun& m_run;
        const RowTurner& m_turner;
        int m_firstChannel;
        double *m_sum, *m_rows, *m_turning;
        std::int64_t m_at = -1, m_chunkFirst = 0, m_chunkEnd = 0;
    };

    /// Sums of the queries of each block, and the mean over the keys of each query.
    void addQueries(std::int64_t chunk, int worker)
    {
        const CellRange range =
            intersection({m_rows.first + chunk * m_chunk, m_rows.first + (chunk + 1) * m_chunk}, m_rows);
        const std::int64_t firstBlock = chunk * m_blocks;
        std::fill_n(m_querySums + firstBlock * m_depth, pieces(size(range), m_grid.block) * m_depth, 0.0);
        const bool wantsRows = !m_op.rowValue.empty();
        double* values = m_op.rowValue.data() + (range.first - m_rows.first);
        if (wantsRows)
            std::fill_n(values, size(range), 0.0);
        for (std::size_t t = 0; t < m_turners.size(); ++t) {
            const RowTurner& turner = m_turners[t];
            const double weight = turner.term().weight;
            // The keys that a query sees begin and end no earlier than those of the query before: two sums
            // follow.
            RunningSum seen(*this, t, worker, kSeen), passed(*this, t, worker, kPassed);
            forRows(
                range, turner.width(), worker,
                [&](std::int64_t first, std::int64_t count, double* rows, double* turning) {
                    turner.queries(first, count, rows, turning);
                    for (std::int64_t i = 0; i < count * turner.width() && weight != 1.0; ++i)
                        rows[i] *= weight;
                },
                [&](std::int64_t m, const double* row) {
                    const std::int64_t i = m - range.first;
                    add(row, turner.width(),
                        m_querySums + (firstBlock + i / m_grid.block) * m_depth + m_firstChannel[t]);
                    const CellRange keys = intersection(m_grid.keysOf(m), m_columns);
                    if (!wantsRows || size(keys) <= 0)
                        return;
                    const double* upper = seen.upTo(keys.end);
                    const double* lower = passed.upTo(keys.first);
                    values[i] +=
                        sumOfProducts(row, upper, turner.width()) - sumOfProducts(row, lower, turner.width());
                });
        }
        for (std::int64_t i = 0; i < size(range) && wantsRows; ++i) {
            const std::int64_t m = range.first + i;
            const CellRange keys = intersection(m_grid.keysOf(m), m_columns);
            const std::int64_t count = size(keys) > 0 && !isDeadQuery(m) ? aliveKeys(keys) : 0;
            values[i] = count == 0 ? kNaN : values[i] / static_cast<double>(count);
        }
    }

    /// The blocks of some rows of blocks.
    void multiply(std::int64_t firstRow, std::int64_t endRow, int worker)
    {
        const std::int64_t stride = roundedUp(m_grid.columnBlocks, kPanel);
        double* cells = m_workers.scratch<double>(worker, kCells, kRowBlocks * stride);
        // Columns that no row of these sees are not computed.
        const CellRange seen = columnsSeenBy({m_grid.rowsOf(firstRow).first, m_grid.rowsOf(endRow - 1).end});
        const std::int64_t firstPanel = seen.first / kPanel;
        if (size(seen) > 0)
            multiplyPanels(m_querySums + firstRow * m_depth, roundedUp(endRow - firstRow, kTileRows),
                           m_packed + firstPanel * kPanel * m_depth, seen.end - firstPanel * kPanel, m_depth,
                           cells + firstPanel * kPanel, stride);
        for (std::int64_t row = firstRow; row < endRow; ++row)
            write(row, cells + (row - firstRow) * stride, worker);
    }

    /// Blocks of keys, counted from the first in view, that hold what a query of `rows` sees.
    CellRange columnsSeenBy(CellRange rows) const
    {
        const CellRange keys =
            intersection({m_grid.keysOf(rows.first).first, m_grid.keysOf(rows.end - 1).end}, m_columns);
        if (size(keys) <= 0)
            return {0, 0};
        return {keys.first / m_grid.block - m_grid.firstColumnBlock,
                (keys.end - 1) / m_grid.block + 1 - m_grid.firstColumnBlock};
    }

    void write(std::int64_t row, const double* sums, int worker)
    {
        const CellRange rows = m_grid.rowsOf(row), seen = columnsSeenBy(rows);
        const std::int64_t first = row * m_grid.columnBlocks;
        const bool allAlive = m_op.deadQueries.empty() && m_op.deadKeys.empty();
        const auto clear = [&](auto out, auto value) {
            if (!out.empty()) {
                std::fill_n(out.begin() + first, seen.first, value);
                std::fill_n(out.begin() + first + seen.end, m_grid.columnBlocks - seen.end, value);
            }
        };
        clear(m_op.mean, kNaN);
        clear(m_op.count, 0);
        // Blocks of one and the same count first, in loops that are vectors.
        CellRange whole = intersection(wholeBlocks(m_grid, rows), seen);
        if (!allAlive || size(whole) <= 0)
            whole = {seen.first, seen.first};
        const std::int64_t cells = size(rows) * m_grid.block;
        if (!m_op.count.empty())
            std::fill_n(m_op.count.begin() + first + whole.first, size(whole), cells);
        if (!m_op.mean.empty())
            divide(sums + whole.first, size(whole), cells, m_op.mean.data() + first + whole.first);
        bool hasQueries = false;
        for (std::int64_t column = seen.first; column < seen.end; ++column) {
            if (column == whole.first)
                column = whole.end;
            if (column >= seen.end)
                break;
            const CellRange columns = m_grid.columnsOf(column);
            const std::int64_t count = aliveCells(rows, columns);
            if (!m_op.count.empty())
                m_op.count[at(first + column)] = count;
            if (m_op.mean.empty())
                continue;
            double sum = sums[column];
            if (count > 0 && !m_grid.isWhollyVisible(rows, columns)) {
                sum = cutSum(rows, columns, hasQueries, worker);
                hasQueries = true;
            }
            m_op.mean[at(first + column)] = count == 0 ? kNaN : sum / static_cast<double>(count);
        }
    }

    /// By a power of two, which most blocks have for cells, a product is the quotient to the bit.
    static void divide(const double* sums, std::int64_t count, std::int64_t cells, double* means)
    {
        const auto by = static_cast<double>(cells);
        if (std::has_single_bit(static_cast<std::uint64_t>(cells)))
            for (std::int64_t i = 0; i < count; ++i)
                means[i] = sums[i] * (1.0 / by);
        else
            for (std::int64_t i = 0; i < count; ++i)
                means[i] = sums[i] / by;
    }

    std::int64_t aliveCells(CellRange rows, CellRange columns) const
    {
        if (m_op.deadQueries.empty() && m_op.deadKeys.empty())
            return m_grid.visibleCells(rows, columns);
        std::int64_t cells = 0;
        for (std::int64_t m = rows.first; m < rows.end; ++m) {
            const CellRange keys = intersection(m_grid.keysOf(m), columns);
            if (size(keys) > 0 && !isDeadQuery(m))
                cells += aliveKeys(keys);
        }
        return cells;
    }

    /// Σ over a block that the mask cuts. `hasQueries`: those of `rows` are there from the column before.
    double cutSum(CellRange rows, CellRange columns, bool hasQueries, int worker)
    {
        const std::int64_t side = m_grid.block;
        double* queries = m_workers.scratch<double>(worker, kCutQueries, side * m_depth);
        double* keys = m_workers.scratch<double>(worker, kCutKeys, side * m_width);
        double* before = m_workers.scratch<double>(worker, kCutSums, (side + 1) * m_width);
        double* turning = m_workers.scratch<double>(worker, kTurning, m_turning);
        double total = 0.0;
        for (std::size_t t = 0; t < m_turners.size(); ++t) {
            const RowTurner& turner = m_turners[t];
            const int width = turner.width();
            double* own = queries + side * m_firstChannel[t];
            const auto forPieces = [](CellRange range, auto turn) {
                for (std::int64_t first = range.first; first < range.end; first += RowTurner::kRows)
                    turn(first, std::min(RowTurner::kRows, range.end - first));
            };
            if (!hasQueries)
                forPieces(rows, [&](std::int64_t first, std::int64_t count) {
                    turner.queries(first, count, own + (first - rows.first) * width, turning);
                });
            forPieces(columns, [&](std::int64_t first, std::int64_t count) {
                turner.keys(first, count, keys + (first - columns.first) * width, turning);
            });
            std::fill_n(before, width, 0.0);
            for (std::int64_t n = 0; n < size(columns); ++n)
                for (int channel = 0; channel < width; ++channel)
                    before[(n + 1) * width + channel] =
                        before[n * width + channel] + keys[n * width + channel];
            double sum = 0.0;
            for (std::int64_t m = rows.first; m < rows.end; ++m) {
                const CellRange visible = intersection(m_grid.keysOf(m), columns);
                if (size(visible) <= 0)
                    continue;
                const double* query = own + (m - rows.first) * width;
                sum += sumOfProducts(query, before + (visible.end - columns.first) * width, width) -
                       sumOfProducts(query, before + (visible.first - columns.first) * width, width);
            }
            total += turner.term().weight * sum;
        }
        return total;
    }

    const ScoreMapOp& m_op;
    const ScoreGrid& m_grid;
    CpuWorkers& m_workers;
    CellRange m_rows, m_columns;     ///< in view
    std::int64_t m_blocks, m_chunk;  ///< of a chunk: blocks, and rows or keys
    std::deque<RowTurner> m_turners; ///< one a term
    std::vector<int> m_firstChannel; ///< of each term among all channels
    int m_depth = 0, m_width = 0;    ///< channels of all terms; of the widest one
    std::int64_t m_turning = 0;
    std::vector<std::int64_t> m_aliveKeys; ///< of the columns in view, how many before each; empty: all
    double* m_keySums = nullptr;           ///< [column blocks × depth]
    double* m_querySums = nullptr;         ///< [row blocks × depth], times the terms' weights
    double* m_before = nullptr;            ///< [chunks of keys + 1 × depth], sums of all keys before
    double* m_packed = nullptr;
};

} // namespace

Result<void> runPooledProduct(const ScoreMapOp& op, CpuWorkers& workers, const std::stop_token& stop)
{
    return PooledProductRun(op, workers).run(stop);
}

} // namespace ropewalk
