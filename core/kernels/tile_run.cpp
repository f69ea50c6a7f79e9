// SPDX-License-Identifier: GPL-3.0-or-later
#include "../cpu_workers.h"
#include "fused.h"
#include "row_turner.h"
#include "run_support.h"
#include "runs.h"
#include "softmax_row.h"
#include "subnormals.h"

#include <cmath>
#include <deque>
#include <vector>

namespace ropewalk {
namespace {

// Slots of scratch.
constexpr int kPackedKeys = 0;                                               // common
constexpr int kTurning = 0, kRows = 1, kQueries = 2, kCells = 3, kOther = 4; // of a worker
constexpr int kSums = 5, kLeast = 6, kGreatest = 7;

/// Every cell once. The keys are rotated and packed once; then strips of queries meet them, in buffers that
/// stay in the cache, are pooled and forgotten. A task is some whole rows of blocks, so that nobody shares a
/// sum.
template<class T>
class TileRun
{
public:
    TileRun(const ScoreMapOp& op, CpuWorkers& workers)
        : m_op(op)
        , m_grid(op.grid)
        , m_workers(workers)
        , m_rows(op.grid.rows())
        , m_columns(op.grid.columns())
        , m_isSoftmax(op.stage == ScoreStage::Softmax)
        , m_keys{op.grid.keysOf(m_rows.first).first, op.grid.keysOf(m_rows.end - 1).end}
    {
        if (!m_isSoftmax)
            m_keys = intersection(m_keys, m_columns);
        m_panels = std::max<std::int64_t>(0, pieces(size(m_keys), kPanel));
        double steepest = 0.0;
        for (const ScoreTerm& term : op.terms) {
            Term& own = m_terms.emplace_back(op, term);
            if (!term.table.empty())
                continue;
            own.firstQuery = m_queries;
            own.firstKey = m_packedSize;
            m_queries += (kLargestStrip + kTileRows) * term.width;
            m_packedSize += m_panels * kPanel * term.width;
            m_turning = std::max(m_turning, own.turner.scratchSize());
            m_width = std::max(m_width, term.width);
            for (const double rate : term.dampingRate)
                steepest = std::max(steepest, std::fabs(rate) * static_cast<double>(op.stride));
        }
        // Rows whose cells stay in L2 (1 MiB of float) as far as the least number of rows allows.
        constexpr std::int64_t kCellsInCache = std::int64_t{1} << 18;
        m_strip = std::clamp(kCellsInCache / std::max<std::int64_t>(1, m_panels * kPanel), std::int64_t{32},
                             kLargestStrip) /
                  kTileRows * kTileRows;
        m_tilePanels = std::max<std::int64_t>(1, kTileKeys / kPanel);
        // Within a tile damping is taken apart into a factor of the row and one of the column; neither may
        // leave the range of T.
        if (steepest > 0.0) {
            const double reach = std::min(kLargestPower / steepest, 1e9);
            m_isSteep = reach < kPanel;
            m_tilePanels =
                std::clamp(static_cast<std::int64_t>(reach) / kPanel, std::int64_t{1}, m_tilePanels);
            m_strip = std::clamp(static_cast<std::int64_t>(reach), std::int64_t{1}, m_strip);
        }
        m_band = std::max<std::int64_t>(1, m_strip / m_grid.block); // rows of blocks
    }

    Result<void> run(const std::stop_token& stop)
    {
        StopWatch watch(stop);
        T* packed = m_workers.scratch<T>(-1, kPackedKeys, m_packedSize);
        for (Term& term : m_terms) {
            term.packed = packed + term.firstKey;
            if (m_isSteep)
                term.makeDamping(m_op, m_grid.greatestDistance());
        }
        m_workers.forEach(pieces(m_panels, kPanelsOfTask), [&](std::int64_t piece, int worker) {
            [[maybe_unused]] const Arithmetic arithmetic{};
            if (!watch.hasStopped())
                packKeys(piece * kPanelsOfTask, std::min(m_panels, (piece + 1) * kPanelsOfTask), worker);
        });
        std::int64_t work = 0;
        for (std::int64_t first = 0; first < m_grid.rowBlocks; first += m_band)
            work += workOf(first);
        std::atomic<std::int64_t> workDone = 0;
        m_workers.forEach(pieces(m_grid.rowBlocks, m_band), [&](std::int64_t piece, int worker) {
            [[maybe_unused]] const Arithmetic arithmetic{};
            const std::int64_t first = piece * m_band, end = std::min(m_grid.rowBlocks, first + m_band);
            Strip strip(*this, worker);
            for (std::int64_t row = first; row < end; ++row)
                if (!strip.add(row, m_grid.rowsOf(end - 1).end, watch))
                    return;
            workDone += workOf(first);
            if (worker == 0 && m_op.progress) // the caller's thread
                m_op.progress(static_cast<double>(workDone) / static_cast<double>(work));
        });
        return watch.outcome();
    }

private:
    static constexpr int kPanel = Lanes<T>::kPanel;
    static constexpr std::int64_t kTileKeys = 480; ///< that share an origin of the damping
    static constexpr std::int64_t kLargestStrip = RowTurner::kRows;
    static constexpr std::int64_t kPanelsOfTask = 8;
    /// In single precision what is below 1.2e-38 counts for nothing beside sums that are rounded at 6e-8.
    struct Unchanged
    {
    };
    using Arithmetic = std::conditional_t<sizeof(T) == sizeof(float), SubnormalsAreZero, Unchanged>;
    static constexpr double kLargestPower = sizeof(T) == sizeof(float) ? 40.0 : 300.0;

    struct Term
    {
        Term(const ScoreMapOp& op, const ScoreTerm& of)
            : term(of)
            , turner(op, of)
        {
        }
        /// e^(r·rate) by distance, where it falls too fast for factors of rows and columns.
        void makeDamping(const ScoreMapOp& op, std::int64_t greatestDistance)
        {
            damping.clear();
            for (std::int64_t r = 0; r <= greatestDistance && !term.dampingRate.empty(); ++r)
                for (const double rate : term.dampingRate)
                    damping.push_back(std::exp(rate * static_cast<double>(r * op.stride)));
        }
        const ScoreTerm& term;
        RowTurner turner;
        std::int64_t firstQuery = 0, firstKey = 0; ///< where its rows lie in the common buffers
        const T* packed = nullptr;
        std::vector<double> damping; ///< [distances × pairs], steep only
    };

    bool isDeadQuery(std::int64_t m) const
    {
        return !m_op.deadQueries.empty() && m_op.deadQueries[at(m - m_rows.first)] != 0;
    }
    bool isDeadKey(std::int64_t n) const
    {
        return !m_op.deadKeys.empty() && m_op.deadKeys[at(n - m_op.firstKey)] != 0;
    }
    /// About the cells of the band whose first row of blocks is given; at least 1.
    std::int64_t workOf(std::int64_t rowBlock) const
    {
        const CellRange rows{m_grid.rowsOf(rowBlock).first,
                             m_grid.rowsOf(std::min(rowBlock + m_band, m_grid.rowBlocks) - 1).end};
        return size(rows) *
               std::max<std::int64_t>(1, size(intersection(m_grid.keysOf(rows.end - 1), m_keys)));
    }
    /// The first key of the tile that `panel` belongs to.
    std::int64_t originOf(std::int64_t panel) const
    {
        return m_keys.first + panel / m_tilePanels * m_tilePanels * kPanel;
    }

    void packKeys(std::int64_t firstPanel, std::int64_t endPanel, int worker)
    {
        double* turning = m_workers.scratch<double>(worker, kTurning, m_turning);
        T* rows = m_workers.scratch<T>(worker, kRows, RowTurner::kRows * m_width);
        for (std::int64_t panel = firstPanel; panel < endPanel; ++panel) {
            const std::int64_t first = m_keys.first + panel * kPanel;
            const std::int64_t count = std::min<std::int64_t>(kPanel, m_keys.end - first);
            for (Term& term : m_terms) {
                if (!term.term.table.empty())
                    continue;
                const int width = term.turner.width();
                term.turner.keys(first, count, rows, turning);
                if (!m_isSteep)
                    for (std::int64_t i = 0; i < count && !term.term.dampingRate.empty(); ++i)
                        damp(term.term, originOf(panel) - first - i, rows + i * width);
                packPanels(rows, count, width, const_cast<T*>(term.packed) + panel * kPanel * width);
            }
        }
    }

    /// A row times e^(r·rate) on its pairs.
    void damp(const ScoreTerm& term, std::int64_t r, T* row) const
    {
        for (std::size_t i = 0; i < term.dampingRate.size(); ++i) {
            const auto factor =
                static_cast<T>(std::exp(term.dampingRate[i] * static_cast<double>(r * m_op.stride)));
            row[term.pairs[i].first] *= factor;
            row[term.pairs[i].second] *= factor;
        }
    }

    /// The rows that one worker has in hand.
    class Strip
    {
    public:
        Strip(TileRun& run, int worker)
            : m_run(run)
            , m_op(run.m_op)
            , m_grid(run.m_grid)
            , m_turning(own<double>(worker, kTurning, run.m_turning))
            , m_damped(own<T>(worker, kRows, RowTurner::kRows * run.m_width))
            , m_queries(own<T>(worker, kQueries, run.m_queries))
            , m_stride(run.m_panels * kPanel)
            , m_cells(own<T>(worker, kCells, roundedUp(run.m_strip, kTileRows) * m_stride))
            , m_other(run.m_terms.size() == 1
                          ? nullptr
                          : own<T>(worker, kOther, roundedUp(run.m_strip, kTileRows) * m_stride))
            , m_sums(own<double>(worker, kSums, m_grid.columnBlocks * m_grid.block))
            , m_least(own<T>(worker, kLeast, m_grid.columnBlocks * m_grid.block))
            , m_greatest(own<T>(worker, kGreatest, m_grid.columnBlocks * m_grid.block))
        {
        }

        /// One row of blocks; the rows that come next in the band are computed with it. False when stopped.
        bool add(std::int64_t rowBlock, std::int64_t endOfBand, StopWatch& watch)
        {
            m_blockRows = m_grid.rowsOf(rowBlock);
            startBlocks();
            for (std::int64_t m = m_blockRows.first; m < m_blockRows.end;) {
                if (m >= m_held.end && !hold({m, std::min(m + m_run.m_strip, endOfBand)}, watch))
                    return false;
                const std::int64_t end = std::min(m_blockRows.end, m_held.end);
                for (; m < end; m += kRowsAtATime)
                    addRows(m, std::min(end, m + kRowsAtATime));
                m = end;
            }
            finishBlocks(rowBlock * m_grid.columnBlocks);
            return true;
        }

    private:
        template<class U>
        U* own(int worker, int slot, std::int64_t count)
        {
            return m_run.m_workers.template scratch<U>(worker, slot, count);
        }

        /// Computes the cells of `rows`: scores, or the exponentials of the softmax and a factor for each
        /// row.
        bool hold(CellRange rows, StopWatch& watch)
        {
            m_held = rows;
            const std::int64_t padded = roundedUp(size(rows), kTileRows);
            for (const Term& term : m_run.m_terms) {
                if (!term.term.table.empty())
                    continue;
                T* queries = m_queries + term.firstQuery;
                const int width = term.turner.width();
                term.turner.queries(rows.first, size(rows), queries, m_turning);
                std::fill(queries + size(rows) * width, queries + padded * width, T(0));
            }
            CellRange keys{m_grid.keysOf(rows.first).first, m_grid.keysOf(rows.end - 1).end};
            keys = intersection(keys, m_run.m_keys);
            m_firstPanel = size(keys) <= 0 ? 0 : (keys.first - m_run.m_keys.first) / kPanel;
            m_endPanel = size(keys) <= 0 ? 0 : pieces(keys.end - m_run.m_keys.first, kPanel);
            for (std::int64_t i = 0; i < size(rows); ++i)
                m_factor[i] = m_run.isDeadQuery(rows.first + i) ? kNaN : 1.0;
            for (std::size_t t = 0; t < m_run.m_terms.size(); ++t) {
                T* cells = t == 0 ? m_cells : m_other;
                for (std::int64_t panel = m_firstPanel; panel < m_endPanel; panel += kPanelsAtATime) {
                    if (watch.hasStopped())
                        return false;
                    fill(m_run.m_terms[t], panel, std::min(m_endPanel, panel + kPanelsAtATime),
                         cells + (panel - m_firstPanel) * kPanel);
                }
                for (std::int64_t m = rows.first; m < rows.end; ++m)
                    m_run.m_isSoftmax ? takeSoftmax(t, m, cells) : takeRaw(t, m, cells);
            }
            return true;
        }

        std::int64_t keyOf(std::int64_t panel) const { return m_run.m_keys.first + panel * kPanel; }
        CellRange visibleTo(std::int64_t m) const { return intersection(m_grid.keysOf(m), m_run.m_keys); }
        double& rowValue(std::int64_t m) { return m_op.rowValue[at(m - m_run.m_rows.first)]; }
        /// Where the cell of a row in hand and key n lies in a buffer.
        std::int64_t cellAt(std::int64_t m, std::int64_t n) const
        {
            return (m - m_held.first) * m_stride + (n - keyOf(m_firstPanel));
        }

        /// The scores of the rows in hand and some panels, of one term; column 0 of `cells` is the first of
        /// them.
        void fill(const Term& term, std::int64_t firstPanel, std::int64_t endPanel, T* cells)
        {
            const CellRange keys{keyOf(firstPanel), std::min(keyOf(endPanel), m_run.m_keys.end)};
            if (!term.term.table.empty())
                return fillFromTable(term.term, keys, cells);
            if (!term.damping.empty())
                return fillSteep(term, keys, cells);
            const T* queries = m_queries + term.firstQuery;
            const int width = term.turner.width();
            const std::int64_t rows = roundedUp(size(m_held), kTileRows);
            if (term.term.dampingRate.empty()) {
                multiplyPanels(queries, rows, term.packed + firstPanel * kPanel * width, size(keys), width,
                               cells, m_stride);
                return;
            }
            // e^{(m-n)·rate} = e^{(m-n0)·rate}·e^{-(n-n0)·rate}; the keys have theirs.
            for (std::int64_t panel = firstPanel; panel < endPanel;) {
                const std::int64_t end =
                    std::min(endPanel, (panel / m_run.m_tilePanels + 1) * m_run.m_tilePanels);
                std::copy_n(queries, rows * width, m_damped);
                for (std::int64_t i = 0; i < size(m_held); ++i)
                    m_run.damp(term.term, m_held.first + i - m_run.originOf(panel), m_damped + i * width);
                multiplyPanels(m_damped, rows, term.packed + panel * kPanel * width,
                               std::min(keyOf(end), keys.end) - keyOf(panel), width,
                               cells + (panel - firstPanel) * kPanel, m_stride);
                panel = end;
            }
        }

        void fillFromTable(const ScoreTerm& term, CellRange keys, T* cells) const
        {
            for (std::int64_t m = m_held.first; m < m_held.end; ++m) {
                const double scale = term.rowScale.empty() ? 1.0 : term.rowScale[at(m - m_run.m_rows.first)];
                const CellRange visible = intersection(m_grid.keysOf(m), keys);
                T* row = cells + (m - m_held.first) * m_stride;
                for (std::int64_t n = visible.first; n < visible.end; ++n)
                    row[n - keys.first] =
                        static_cast<T>(term.scale * term.table[at(m - n - term.firstDistance)] * scale);
            }
        }

        void fillSteep(const Term& term, CellRange keys, T* cells) const
        {
            const int width = term.turner.width();
            const std::size_t pairs = term.term.pairs.size();
            std::vector<double> factors(at(width), 1.0);
            for (std::int64_t m = m_held.first; m < m_held.end; ++m) {
                const T* query = m_queries + term.firstQuery + (m - m_held.first) * width;
                const CellRange visible = intersection(m_grid.keysOf(m), keys);
                for (std::int64_t n = visible.first; n < visible.end; ++n) {
                    for (std::size_t i = 0; i < pairs; ++i)
                        factors[at(term.term.pairs[i].first)] = factors[at(term.term.pairs[i].second)] =
                            term.damping[at(m - n) * pairs + i];
                    const std::int64_t key = n - m_run.m_keys.first;
                    const T* packed = term.packed + key / kPanel * kPanel * width + key % kPanel;
                    double sum = 0.0;
                    for (int channel = 0; channel < width; ++channel)
                        sum += static_cast<double>(query[channel]) * factors[at(channel)] *
                               static_cast<double>(packed[channel * kPanel]);
                    cells[(m - m_held.first) * m_stride + n - keys.first] = static_cast<T>(sum);
                }
            }
        }

        /// The weighted sum of the terms' scores, in m_cells.
        void takeRaw(std::size_t t, std::int64_t m, const T* cells)
        {
            const CellRange visible = visibleTo(m);
            const auto weight = static_cast<T>(m_run.m_terms[t].term.weight);
            if (size(visible) <= 0 || (t == 0 && weight == T(1)))
                return;
            const std::int64_t start = cellAt(m, visible.first);
            for (std::int64_t i = start; i < start + size(visible); ++i)
                m_cells[i] = t == 0 ? weight * cells[i] : m_cells[i] + weight * cells[i];
        }

        /// Exponentials and the factor that makes them weights; of several terms the sum of weights.
        void takeSoftmax(std::size_t t, std::int64_t m, T* cells)
        {
            const bool wantsEntropy = !m_op.rowValue.empty();
            if (wantsEntropy && t == 0)
                rowValue(m) = kNaN;
            const CellRange visible = visibleTo(m);
            double& rowFactor = m_factor[m - m_held.first];
            if (size(visible) <= 0 || std::isnan(rowFactor))
                return;
            T* row = cells + cellAt(m, visible.first);
            for (std::int64_t n = visible.first; n < visible.end && !m_op.deadKeys.empty(); ++n)
                if (m_run.isDeadKey(n))
                    row[n - visible.first] = -std::numeric_limits<T>::infinity();
            const double weight = m_run.m_terms[t].term.weight;
            const SoftmaxSums sums = softmaxRow(row, size(visible), wantsEntropy);
            if (!(sums.sum > 0.0)) { // every key is dead
                rowFactor = kNaN;
                return;
            }
            if (wantsEntropy)
                rowValue(m) = (t == 0 ? 0.0 : rowValue(m)) + weight * sums.entropy;
            const double factor = weight / sums.sum;
            if (m_run.m_terms.size() == 1) {
                rowFactor = factor;
                return;
            }
            const auto scale = static_cast<T>(factor);
            T* first = m_cells + cellAt(m, visible.first);
            for (std::int64_t i = 0; i < size(visible); ++i)
                first[i] = t == 0 ? scale * row[i] : first[i] + scale * row[i];
        }

        /// Blocks that some row of this row of blocks sees, counted from the first in view.
        CellRange blocksSeen() const
        {
            const CellRange seen =
                intersection({m_grid.keysOf(m_blockRows.first).first, m_grid.keysOf(m_blockRows.end - 1).end},
                             m_run.m_columns);
            if (size(seen) <= 0)
                return {0, 0};
            return {seen.first / m_grid.block - m_grid.firstColumnBlock,
                    (seen.end - 1) / m_grid.block + 1 - m_grid.firstColumnBlock};
        }

        void startBlocks()
        {
            const CellRange blocks = blocksSeen();
            const std::int64_t first = blocks.first * m_grid.block, count = size(blocks) * m_grid.block;
            std::fill_n(m_sums + first, count, 0.0);
            if (wantsExtremes()) {
                std::fill_n(m_least + first, count, std::numeric_limits<T>::infinity());
                std::fill_n(m_greatest + first, count, -std::numeric_limits<T>::infinity());
            }
        }

        bool wantsExtremes() const { return !m_op.least.empty() || !m_op.greatest.empty(); }

        /// Adds the cells of a few rows in hand to the columns in view: together where all of them see the
        /// key.
        void addRows(std::int64_t firstRow, std::int64_t endRow)
        {
            const T* rows[kRowsAtATime];
            T factors[kRowsAtATime];
            CellRange visible[kRowsAtATime], common = m_run.m_columns;
            int count = 0;
            for (std::int64_t m = firstRow; m < endRow; ++m) {
                const CellRange seen = intersection(m_grid.keysOf(m), m_run.m_columns);
                const double factor = m_factor[m - m_held.first];
                const bool hasCells = size(seen) > 0 && !std::isnan(factor);
                if (!m_run.m_isSoftmax && !m_op.rowValue.empty())
                    rowValue(m) = hasCells ? meanOf(m, seen) : kNaN;
                if (!hasCells)
                    continue;
                rows[count] = m_cells + (m - m_held.first) * m_stride;
                factors[count] = static_cast<T>(factor);
                visible[count] = seen;
                common = intersection(common, seen);
                ++count;
            }
            if (size(common) <= 0)
                common = {m_run.m_columns.end, m_run.m_columns.end};
            for (int i = 0; i < count; ++i) {
                addPiece<1>(rows + i, factors + i, intersection(visible[i], {0, common.first}));
                addPiece<1>(rows + i, factors + i, intersection(visible[i], {common.end, m_grid.length}));
            }
            switch (count) {
            case 1:
                return addPiece<1>(rows, factors, common);
            case 2:
                return addPiece<2>(rows, factors, common);
            case 3:
                return addPiece<3>(rows, factors, common);
            case 4:
                return addPiece<4>(rows, factors, common);
            default:
                return;
            }
        }

        template<int kCount>
        void addPiece(const T* const* rows, const T* factors, CellRange keys)
        {
            if (size(keys) <= 0)
                return;
            if (!wantsExtremes())
                addCells<kCount, false, false>(rows, factors, keys);
            else if (m_op.least.empty())
                addCells<kCount, false, true>(rows, factors, keys);
            else
                addCells<kCount, true, true>(rows, factors, keys);
        }

        template<int kCount, bool kLeastToo, bool kGreatestToo>
        void addCells(const T* const* rows, const T* factors, CellRange keys)
        {
            const std::int64_t column = keys.first - m_run.m_columns.first, count = size(keys);
            double* __restrict sums = m_sums + column;
            T* __restrict least = m_least + column;
            T* __restrict greatest = m_greatest + column;
            const T* cells[kCount];
            T factor[kCount];
            for (int i = 0; i < kCount; ++i) {
                cells[i] = rows[i] + (keys.first - keyOf(m_firstPanel));
                factor[i] = factors[i];
            }
            for (std::int64_t n = 0; n < count; ++n) {
                double sum = sums[n];
                T low = kLeastToo ? least[n] : T(0), high = kGreatestToo ? greatest[n] : T(0);
#pragma GCC unroll 4
                for (int i = 0; i < kCount; ++i) {
                    const T cell = cells[i][n] * factor[i];
                    sum += static_cast<double>(cell);
                    if (kLeastToo)
                        low = cell < low ? cell : low;
                    if (kGreatestToo)
                        high = cell > high ? cell : high;
                }
                sums[n] = sum;
                if (kLeastToo)
                    least[n] = low;
                if (kGreatestToo)
                    greatest[n] = high;
            }
        }

        double meanOf(std::int64_t m, CellRange visible) const
        {
            std::int64_t count = size(visible);
            for (std::int64_t n = visible.first; n < visible.end && !m_op.deadKeys.empty(); ++n)
                count -= m_run.isDeadKey(n) ? 1 : 0; // their scores are 0
            return count == 0 ? kNaN
                              : sumOf(m_cells + cellAt(m, visible.first), size(visible)) /
                                    static_cast<double>(count);
        }

        /// The columns of each block become one number; outputs from `first` on.
        void finishBlocks(std::int64_t first)
        {
            const CellRange blocks = blocksSeen();
            const std::int64_t start = blocks.first * m_grid.block;
            for (std::int64_t i = start; i < blocks.end * m_grid.block && !m_op.deadKeys.empty(); ++i) {
                const std::int64_t n = m_run.m_columns.first + i;
                if (n < m_run.m_columns.end && m_run.isDeadKey(n)) {
                    m_sums[i] = 0.0;
                    m_least[i] = std::numeric_limits<T>::infinity();
                    m_greatest[i] = -std::numeric_limits<T>::infinity();
                }
            }
            joinColumns(m_sums + start, size(blocks), [](double a, double b) { return a + b; });
            if (!m_op.least.empty())
                joinColumns(m_least + start, size(blocks), [](T a, T b) { return b < a ? b : a; });
            if (!m_op.greatest.empty())
                joinColumns(m_greatest + start, size(blocks), [](T a, T b) { return b > a ? b : a; });

            const auto clear = [&](auto out, auto value) {
                if (!out.empty()) {
                    std::fill_n(out.begin() + first, blocks.first, value);
                    std::fill_n(out.begin() + first + blocks.end, m_grid.columnBlocks - blocks.end, value);
                }
            };
            clear(m_op.mean, kNaN);
            clear(m_op.least, kNaN);
            clear(m_op.greatest, kNaN);
            clear(m_op.count, 0);
            // Blocks of one and the same count first, in loops that are vectors.
            CellRange whole = intersection(wholeBlocks(m_grid, m_blockRows), blocks);
            if (!m_op.deadQueries.empty() || !m_op.deadKeys.empty() || size(whole) <= 0)
                whole = {blocks.first, blocks.first};
            const std::int64_t cells = size(m_blockRows) * m_grid.block;
            const auto writeAll = [&](auto out, auto valueOf) {
                if (!out.empty())
                    for (std::int64_t block = whole.first; block < whole.end; ++block)
                        out[at(first + block)] = valueOf(start + block - blocks.first);
            };
            writeAll(m_op.mean, [&](std::int64_t i) { return m_sums[i] / static_cast<double>(cells); });
            writeAll(m_op.least, [&](std::int64_t i) { return static_cast<double>(m_least[i]); });
            writeAll(m_op.greatest, [&](std::int64_t i) { return static_cast<double>(m_greatest[i]); });
            writeAll(m_op.count, [&](std::int64_t) { return cells; });
            for (std::int64_t block = blocks.first; block < blocks.end; ++block) {
                if (block == whole.first)
                    block = whole.end;
                if (block >= blocks.end)
                    break;
                const std::int64_t i = start + block - blocks.first, count = aliveCells(block);
                const std::size_t index = at(first + block);
                const auto write = [&](std::span<double> out, double value) {
                    if (!out.empty())
                        out[index] = count == 0 ? kNaN : value;
                };
                if (!m_op.count.empty())
                    m_op.count[index] = count;
                write(m_op.mean, m_sums[i] / static_cast<double>(count));
                write(m_op.least, static_cast<double>(m_least[i]));
                write(m_op.greatest, static_cast<double>(m_greatest[i]));
            }
        }

        /// Columns of `blocks` blocks into one a block, at the front. Neighbours first, which are vectors.
        template<class V, class Join>
        void joinColumns(V* values, std::int64_t blocks, Join join) const
        {
            std::int64_t width = m_grid.block;
            for (; width > 1 && width % 2 == 0; width /= 2) {
                const std::int64_t count = blocks * width / 2;
                // What is written lies before what is still to be read.
#pragma GCC ivdep
                for (std::int64_t i = 0; i < count; ++i)
                    values[i] = join(values[2 * i], values[2 * i + 1]);
            }
            for (std::int64_t block = 0; block < blocks && width > 1; ++block) {
                V value = values[block * width];
                for (std::int64_t i = 1; i < width; ++i)
                    value = join(value, values[block * width + i]);
                values[block] = value;
            }
        }

        std::int64_t aliveCells(std::int64_t block) const
        {
            const CellRange columns = m_grid.columnsOf(block);
            if (m_op.deadQueries.empty() && m_op.deadKeys.empty())
                return m_grid.visibleCells(m_blockRows, columns);
            std::int64_t cells = 0;
            for (std::int64_t m = m_blockRows.first; m < m_blockRows.end; ++m) {
                const CellRange visible = intersection(m_grid.keysOf(m), columns);
                for (std::int64_t n = visible.first; n < visible.end && !m_run.isDeadQuery(m); ++n)
                    cells += m_run.isDeadKey(n) ? 0 : 1;
            }
            return cells;
        }

        static constexpr std::int64_t kPanelsAtATime = 64; ///< between two looks at the stop token
        static constexpr std::int64_t kRowsAtATime = 4;    ///< whose cells are added up together

        TileRun& m_run;
        const ScoreMapOp& m_op;
        const ScoreGrid& m_grid;
        double* m_turning;
        T *m_damped, *m_queries;
        std::int64_t m_stride; ///< of a row of cells
        T *m_cells, *m_other;
        double* m_sums; ///< of the columns in view, over the rows of the block; whole blocks
        T *m_least, *m_greatest;
        CellRange m_held; ///< rows whose cells are there
        std::int64_t m_firstPanel = 0, m_endPanel = 0;
        CellRange m_blockRows;
        double m_factor[kLargestStrip]; ///< of the rows in hand, times their cells; NaN: a row to leave out
    };

    const ScoreMapOp& m_op;
    const ScoreGrid& m_grid;
    CpuWorkers& m_workers;
    CellRange m_rows, m_columns; ///< in view
    bool m_isSoftmax;
    CellRange m_keys; ///< that any row in view needs
    std::int64_t m_panels = 0, m_tilePanels = 1;
    std::int64_t m_strip = 1, m_band = 1; ///< rows of a strip; rows of blocks of a task
    bool m_isSteep = false;
    std::deque<Term> m_terms;
    std::int64_t m_queries = 0, m_packedSize = 0, m_turning = 0; ///< sizes of the buffers
    int m_width = 0;
};

} // namespace

Result<void> runTiles(const ScoreMapOp& op, CpuWorkers& workers, const std::stop_token& stop)
{
    if (op.precision == ScorePrecision::Double)
        return TileRun<double>(op, workers).run(stop);
    return TileRun<float>(op, workers).run(stop);
}

} // namespace ropewalk
