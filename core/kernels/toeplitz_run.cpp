// SPDX-License-Identifier: GPL-3.0-or-later
#include "../cpu_workers.h"
#include "run_support.h"
#include "runs.h"

#include <Eigen/Core>
#include <cmath>
#include <vector>

namespace ropewalk {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;

/// Rows of blocks, or distances between blocks, of a task.
constexpr std::int64_t kRowBlocks = 32;

/// Raw scores of one q and one k: every block is a weighted sum over the distances in it, and whole blocks
/// depend on I - J only, so that a row of them is a piece of one list.
class ToeplitzRun
{
public:
    explicit ToeplitzRun(const ScoreMapOp& op)
        : m_op(op)
        , m_grid(op.grid)
        , m_first(op.grid.leastDistance())
        , m_scores(at(op.grid.greatestDistance() - m_first + 1))
        , m_offsets(op.grid.rowBlocks + op.grid.columnBlocks - 1)
    {
        for (std::size_t r = 0; r < m_scores.size(); ++r)
            for (const ScoreTerm& term : op.terms)
                m_scores[r] += term.weight * (term.scale * term.table[r + at(m_first - term.firstDistance)]);
    }

    Result<void> run(CpuWorkers& workers, const std::stop_token& stop)
    {
        StopWatch watch(stop);
        for (std::vector<double>* list : {&m_mean, &m_least, &m_greatest})
            list->resize(at(m_offsets));
        m_count.resize(at(m_offsets));
        workers.forEach(pieces(m_offsets, kRowBlocks), [&](std::int64_t piece, int) {
            if (watch.hasStopped())
                return;
            const std::int64_t end = std::min(m_offsets, (piece + 1) * kRowBlocks);
            for (std::int64_t i = piece * kRowBlocks; i < end; ++i)
                keep(at(i), computed(wholeBlockAt(m_grid.rowBlocks - 1 - i)));
        });
        workers.forEach(pieces(m_grid.rowBlocks, kRowBlocks), [&](std::int64_t piece, int) {
            if (watch.hasStopped())
                return;
            const std::int64_t end = std::min(m_grid.rowBlocks, (piece + 1) * kRowBlocks);
            for (std::int64_t row = piece * kRowBlocks; row < end; ++row)
                writeRow(row);
        });
        if (!m_op.rowValue.empty())
            writeRows();
        return watch.outcome();
    }

private:
    struct Cells
    {
        CellRange rows, columns;
    };
    struct Block
    {
        double mean = kNaN, least = kNaN, greatest = kNaN;
        std::int64_t count = 0;
    };

    /// Whole blocks `offset` below the diagonal of those in view, wherever they lie.
    Cells wholeBlockAt(std::int64_t offset) const
    {
        const std::int64_t side = m_grid.block;
        const std::int64_t row = (m_grid.firstRowBlock - m_grid.firstColumnBlock + offset) * side;
        return {{row, row + side}, {0, side}};
    }

    /// List entry i is row block r, column block c with r - c = rowBlocks - 1 - i: ascending along a row.
    void keep(std::size_t index, const Block& block)
    {
        m_mean[index] = block.mean;
        m_least[index] = block.least;
        m_greatest[index] = block.greatest;
        m_count[index] = block.count;
    }

    void writeRow(std::int64_t row)
    {
        const CellRange rows = m_grid.rowsOf(row);
        const std::int64_t start = m_grid.rowBlocks - 1 - row, first = row * m_grid.columnBlocks;
        std::int64_t whole = size(rows) == m_grid.block ? m_grid.columnBlocks : 0;
        if (whole > 0 && size(m_grid.columnsOf(whole - 1)) != m_grid.block)
            --whole;
        const auto copy = [&](const auto& list, auto out) {
            if (!out.empty())
                std::copy_n(list.begin() + start, whole, out.begin() + first);
        };
        copy(m_mean, m_op.mean);
        copy(m_least, m_op.least);
        copy(m_greatest, m_op.greatest);
        copy(m_count, m_op.count);
        for (std::int64_t column = whole; column < m_grid.columnBlocks; ++column)
            write(at(first + column), computed({rows, m_grid.columnsOf(column)}));
    }

    Block computed(Cells cells) const
    {
        const auto& [rows, columns] = cells;
        Block block;
        const std::int64_t least = std::max(rows.first - columns.end + 1, m_first);
        const std::int64_t greatest = std::min(rows.end - 1 - columns.first, m_grid.greatestDistance());
        if (least > greatest)
            return block;
        double sum = 0.0;
        block.least = kInfinity;
        block.greatest = -kInfinity;
        for (std::int64_t r = least; r <= greatest; ++r) {
            const std::int64_t times =
                std::min(rows.end, columns.end + r) - std::max(rows.first, columns.first + r);
            const double score = m_scores[at(r - m_first)];
            sum += static_cast<double>(times) * score;
            block.count += times;
            block.least = std::min(block.least, score);
            block.greatest = std::max(block.greatest, score);
        }
        block.mean = sum / static_cast<double>(block.count);
        return block;
    }

    void write(std::size_t index, const Block& block)
    {
        if (!m_op.mean.empty())
            m_op.mean[index] = block.mean;
        if (!m_op.least.empty())
            m_op.least[index] = block.least;
        if (!m_op.greatest.empty())
            m_op.greatest[index] = block.greatest;
        if (!m_op.count.empty())
            m_op.count[index] = block.count;
    }

    void writeRows()
    {
        // The difference of two long sums: in long double, so that it loses nothing that a double would show.
        std::vector<long double> sums(m_scores.size() + 1, 0.0L);
        for (std::size_t r = 0; r < m_scores.size(); ++r)
            sums[r + 1] = sums[r] + static_cast<long double>(m_scores[r]);
        const CellRange rows = m_grid.rows();
        for (std::int64_t m = rows.first; m < rows.end; ++m) {
            const CellRange keys = intersection(m_grid.keysOf(m), m_grid.columns());
            double& value = m_op.rowValue[at(m - rows.first)];
            value = kNaN;
            if (size(keys) > 0)
                value = static_cast<double>(
                    (sums[at(m - keys.first - m_first + 1)] - sums[at(m - keys.end + 1 - m_first)]) /
                    static_cast<long double>(size(keys)));
        }
    }

    const ScoreMapOp& m_op;
    const ScoreGrid& m_grid;
    std::int64_t m_first;
    std::vector<double> m_scores;                    ///< by distance, from m_first on
    std::int64_t m_offsets;                          ///< differences of row and column blocks in view
    std::vector<double> m_mean, m_least, m_greatest; ///< of whole blocks
    std::vector<std::int64_t> m_count;
};

/// The softmax of one g: P(m,n) = e(m-n)·w(m) with e = e^(g - max g) and w = 1/Σ e over the row, so that a
/// block needs one number a row and one a distance.
class ToeplitzSoftmaxRun
{
public:
    explicit ToeplitzSoftmaxRun(const ScoreMapOp& op)
        : m_op(op)
        , m_grid(op.grid)
        , m_first(op.grid.leastDistance())
        , m_last(op.grid.greatestDistance())
    {
    }

    Result<void> run(CpuWorkers& workers, const std::stop_token& stop)
    {
        StopWatch watch(stop);
        for (std::size_t index = 0; index < m_op.terms.size(); ++index) {
            const ScoreTerm& term = m_op.terms[index];
            prepare(term);
            workers.forEach(pieces(m_grid.rowBlocks, kRowBlocks), [&](std::int64_t piece, int) {
                Extremes extremes;
                const std::int64_t end = std::min(m_grid.rowBlocks, (piece + 1) * kRowBlocks);
                for (std::int64_t row = piece * kRowBlocks; row < end; ++row) {
                    if (watch.hasStopped())
                        return;
                    prepareRow(m_grid.rowsOf(row), extremes);
                    for (std::int64_t column = 0; column < m_grid.columnBlocks; ++column)
                        block(row, column, index == 0, term.weight, extremes);
                }
            });
            writeRows(index == 0, term.weight);
        }
        return watch.outcome();
    }

private:
    /// The least and greatest weight of a row of blocks from its start, and to its end.
    struct Extremes
    {
        ArrayXd leastFrom, greatestFrom, leastTo, greatestTo;
    };

    double e(std::int64_t r) const { return m_e[r - m_first + m_grid.block]; }

    void prepare(const ScoreTerm& term)
    {
        const Index count = m_last - m_first + 1;
        const Eigen::Map<const ArrayXd> table(term.table.data() + (m_first - term.firstDistance), count);
        ArrayXd logits = term.scale * table;
        logits -= logits.maxCoeff();
        // Zeros on both sides stand for what the mask hides.
        m_e = ArrayXd::Zero(count + 2 * m_grid.block);
        m_e.segment(m_grid.block, count) = logits.exp();

        // Both sums grow outwards from distance 0: nothing is subtracted.
        const CellRange rows = m_grid.rows();
        const auto rowCount = static_cast<Index>(size(rows));
        ArrayXd sum = ArrayXd::Zero(m_grid.length), product = sum; // Σ e and Σ e·logit over the row of m
        double e0 = 0.0, p0 = 0.0;
        for (std::int64_t m = 0; m < m_grid.length; ++m) { // distances 0..m
            if (m <= m_last) {
                e0 += e(m);
                p0 += e(m) * logits[m - m_first];
            }
            sum[m] = e0;
            product[m] = p0;
        }
        double below = 0.0, belowProduct = 0.0;
        for (std::int64_t m = m_grid.length - 1; m >= 0; --m) { // distances m-N+1..-1
            const std::int64_t r = m - m_grid.length + 1;
            if (r < 0 && r >= m_first && r <= m_last) {
                below += e(r);
                belowProduct += e(r) * logits[r - m_first];
            }
            sum[m] += below;
            product[m] += belowProduct;
        }
        const auto seen = sum.segment(rows.first, rowCount);
        m_weights = 1.0 / seen;
        m_entropy = seen.log() - product.segment(rows.first, rowCount) / seen;

        // Σ e over `block` distances from r on: of chunks as long as the window the end of one and the start
        // of the next (van Herk), so that nothing is subtracted here either.
        const Index width = m_grid.block;
        const Index sums = m_e.size() - width + 1;
        ArrayXd head(m_e.size()), tail(m_e.size());
        for (Index i = 0; i < m_e.size(); ++i)
            head[i] = (i % width == 0 ? 0.0 : head[i - 1]) + m_e[i];
        for (Index i = m_e.size() - 1; i >= 0; --i)
            tail[i] = (i + 1 == m_e.size() || (i + 1) % width == 0 ? 0.0 : tail[i + 1]) + m_e[i];
        m_windowSums.resize(sums);
        for (Index i = 0; i < sums; ++i)
            m_windowSums[i] = i % width == 0 ? tail[i] : tail[i] + head[i + width - 1];
    }

    double weight(std::int64_t m) const { return m_weights[m - m_grid.rows().first]; }

    void prepareRow(CellRange rows, Extremes& of) const
    {
        if (m_op.least.empty() && m_op.greatest.empty())
            return;
        const auto count = static_cast<Index>(size(rows));
        for (ArrayXd* extremes : {&of.leastFrom, &of.greatestFrom, &of.leastTo, &of.greatestTo})
            extremes->resize(count);
        for (Index i = 0; i < count; ++i) {
            const double w = weight(rows.first + i);
            of.leastFrom[i] = i == 0 ? w : std::min(of.leastFrom[i - 1], w);
            of.greatestFrom[i] = i == 0 ? w : std::max(of.greatestFrom[i - 1], w);
        }
        for (Index i = count - 1; i >= 0; --i) {
            const double w = weight(rows.first + i);
            of.leastTo[i] = i + 1 == count ? w : std::min(of.leastTo[i + 1], w);
            of.greatestTo[i] = i + 1 == count ? w : std::max(of.greatestTo[i + 1], w);
        }
    }

    void block(std::int64_t row, std::int64_t column, bool isFirst, double termWeight,
               const Extremes& of) const
    {
        const CellRange rows = m_grid.rowsOf(row), columns = m_grid.columnsOf(column);
        const std::size_t index = at(row * m_grid.columnBlocks + column);
        const std::int64_t least = std::max(rows.first - columns.end + 1, m_first);
        const std::int64_t greatest = std::min(rows.end - 1 - columns.first, m_last);
        const std::int64_t count = least > greatest ? 0 : m_grid.visibleCells(rows, columns);
        if (!m_op.count.empty())
            m_op.count[index] = count;
        if (!m_op.mean.empty()) {
            const double mean = count == 0 ? kNaN : sumOf(rows, columns) / static_cast<double>(count);
            m_op.mean[index] = (isFirst ? 0.0 : m_op.mean[index]) + termWeight * mean;
        }
        if (m_op.least.empty() && m_op.greatest.empty())
            return;
        double smallest = kInfinity, largest = -kInfinity;
        for (std::int64_t r = least; r <= greatest; ++r) {
            // The rows of the block that hold r.
            const std::int64_t from = std::max(rows.first, columns.first + r);
            const std::int64_t to = std::min(rows.end, columns.end + r) - 1;
            double low = kInfinity, high = -kInfinity;
            if (from == rows.first) {
                low = of.leastFrom[to - rows.first];
                high = of.greatestFrom[to - rows.first];
            } else if (to == rows.end - 1) {
                low = of.leastTo[from - rows.first];
                high = of.greatestTo[from - rows.first];
            } else {
                for (std::int64_t m = from; m <= to; ++m) {
                    low = std::min(low, weight(m));
                    high = std::max(high, weight(m));
                }
            }
            smallest = std::min(smallest, e(r) * low);
            largest = std::max(largest, e(r) * high);
        }
        if (!m_op.least.empty())
            m_op.least[index] = count == 0 ? kNaN : termWeight * (termWeight < 0.0 ? largest : smallest);
        if (!m_op.greatest.empty())
            m_op.greatest[index] = count == 0 ? kNaN : termWeight * (termWeight < 0.0 ? smallest : largest);
    }

    double sumOf(CellRange rows, CellRange columns) const
    {
        const auto count = static_cast<Index>(size(rows));
        const Index firstRow = rows.first - m_grid.rows().first;
        if (size(columns) == m_grid.block) {
            // Row m spans the distances m - columns.end + 1 on; those of all rows of the block lie within the
            // padding where the block is not wholly hidden.
            const Index start = rows.first - columns.end + 1 - m_first + m_grid.block;
            const Index skipped = std::max<Index>(0, -start);
            const Index end = std::min<Index>(count, m_windowSums.size() - start);
            return end <= skipped ? 0.0
                                  : (m_weights.segment(firstRow + skipped, end - skipped) *
                                     m_windowSums.segment(start + skipped, end - skipped))
                                        .sum();
        }
        double sum = 0.0;
        for (std::int64_t m = rows.first; m < rows.end; ++m) {
            const CellRange keys = intersection(m_grid.keysOf(m), columns);
            double row = 0.0;
            for (std::int64_t n = keys.first; n < keys.end; ++n)
                row += e(m - n);
            sum += weight(m) * row;
        }
        return sum;
    }

    void writeRows(bool isFirst, double termWeight)
    {
        for (std::size_t i = 0; i < m_op.rowValue.size(); ++i)
            m_op.rowValue[i] =
                (isFirst ? 0.0 : m_op.rowValue[i]) + termWeight * m_entropy[static_cast<Index>(i)];
    }

    const ScoreMapOp& m_op;
    const ScoreGrid& m_grid;
    std::int64_t m_first, m_last; ///< distances
    ArrayXd m_e;                  ///< from m_first - block on
    ArrayXd m_windowSums;         ///< Σ of `block` of m_e, from the same place on
    ArrayXd m_weights, m_entropy; ///< of the rows in view
};

} // namespace

Result<void> runToeplitz(const ScoreMapOp& op, CpuWorkers& workers, const std::stop_token& stop)
{
    return ToeplitzRun(op).run(workers, stop);
}

Result<void> runToeplitzSoftmax(const ScoreMapOp& op, CpuWorkers& workers, const std::stop_token& stop)
{
    return ToeplitzSoftmaxRun(op).run(workers, stop);
}

} // namespace ropewalk
