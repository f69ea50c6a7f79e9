// SPDX-License-Identifier: GPL-3.0-or-later
#include "cpu_backend_scores.h"

#include <Eigen/Core>
#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

namespace ropewalk {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Eigen::ArrayXd;
using Eigen::Index;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Positions that share a table of turns, and the side of a tile: 512² cells are 2 MiB, which the last level
/// of the cache holds.
constexpr std::int64_t kTile = 512;

Error cancelled()
{
    return {ErrorCode::Cancelled, "stopped", {}};
}

std::size_t at(std::int64_t index)
{
    return static_cast<std::size_t>(index);
}

std::int64_t size(CellRange range)
{
    return range.end - range.first;
}

CellRange intersection(CellRange a, CellRange b)
{
    return {std::max(a.first, b.first), std::min(a.end, b.end)};
}

// ---------------------------------------------------------------------------------------------- distances

/// e^{j(r0+b)θ} = e^{jr0θ}·e^{jbθ}: the first factor times h, for a column of anchors r0, against the second,
/// for a row of b, is a matrix product.
class DistanceTableRun
{
public:
    explicit DistanceTableRun(const DistanceTableOp& op)
        : m_op(op)
        , m_pairs(static_cast<Index>(op.invFreq.size()))
        , m_width(std::min<std::int64_t>(kTile, std::max<std::int64_t>(1, count())))
        , m_turns(2 * m_pairs, m_width)
    {
        for (Index i = 0; i < m_pairs; ++i)
            for (std::int64_t b = 0; b < m_width; ++b) {
                const double angle = static_cast<double>(b) * op.invFreq[at(i)];
                const double damping = dampingAt(i, b);
                m_turns(i, b) = damping * std::cos(angle);
                m_turns(m_pairs + i, b) = damping * std::sin(angle);
            }
    }

    Result<void> run(const std::stop_token& stop)
    {
        constexpr std::int64_t kAnchors = 32; // of one product; a fraction of a millisecond
        const double a2 = m_op.attentionFactor * m_op.attentionFactor;
        for (std::int64_t start = 0; start < count(); start += kAnchors * m_width) {
            if (stop.stop_requested())
                return cancelled();
            const std::int64_t left = count() - start;
            const Index anchors = static_cast<Index>(std::min(kAnchors, (left + m_width - 1) / m_width));
            Matrix factors(anchors, 2 * m_pairs);
            for (Index a = 0; a < anchors; ++a)
                for (Index i = 0; i < m_pairs; ++i) {
                    const std::int64_t r = m_op.firstDistance + start + a * m_width;
                    const double angle = static_cast<double>(r) * m_op.invFreq[at(i)];
                    const double c = std::cos(angle), s = std::sin(angle);
                    const double scale = a2 * dampingAt(i, r);
                    const double re = m_op.re[at(i)], im = m_op.im[at(i)];
                    // Re(h e^{j(r0+b)θ}) = Re(h e^{jr0θ}) cos bθ - Im(h e^{jr0θ}) sin bθ
                    factors(a, i) = scale * (re * c - im * s);
                    factors(a, m_pairs + i) = -scale * (re * s + im * c);
                }
            const Matrix values = factors * m_turns;
            for (std::int64_t k = 0; k < std::min(left, anchors * m_width); ++k)
                m_op.table[at(start + k)] = values(k / m_width, k % m_width) + m_op.still;
        }
        return {};
    }

private:
    std::int64_t count() const { return static_cast<std::int64_t>(m_op.table.size()); }
    double dampingAt(Index pair, std::int64_t r) const
    {
        return m_op.dampingRate.empty() ? 1.0 : std::exp(m_op.dampingRate[at(pair)] * static_cast<double>(r));
    }

    const DistanceTableOp& m_op;
    Index m_pairs;
    std::int64_t m_width;
    Matrix m_turns;
};

// ----------------------------------------------------------------------------------------------- Toeplitz

/// Raw scores of one q and one k: every block is a weighted sum over the distances in it.
class ToeplitzRun
{
public:
    explicit ToeplitzRun(const ScoreMapOp& op)
        : m_op(op)
        , m_grid(op.grid)
        , m_first(op.grid.leastDistance())
        , m_scores(at(op.grid.greatestDistance() - m_first + 1))
        , m_ofOffset(at(op.grid.rowBlocks + op.grid.columnBlocks))
    {
        for (std::size_t r = 0; r < m_scores.size(); ++r)
            for (const ScoreTerm& term : op.terms)
                m_scores[r] += term.weight * (term.scale * term.table[r + at(m_first - term.firstDistance)]);
    }

    Result<void> run(const std::stop_token& stop)
    {
        for (std::int64_t row = 0; row < m_grid.rowBlocks; ++row) {
            if (stop.stop_requested())
                return cancelled();
            for (std::int64_t column = 0; column < m_grid.columnBlocks; ++column)
                write(at(row * m_grid.columnBlocks + column), block(row, column));
        }
        if (!m_op.rowValue.empty())
            writeRows();
        return {};
    }

private:
    struct Block
    {
        double mean = kNaN, least = kNaN, greatest = kNaN;
        std::int64_t count = 0;
        bool isKnown = false;
    };

    Block block(std::int64_t row, std::int64_t column)
    {
        const CellRange rows = m_grid.rowsOf(row), columns = m_grid.columnsOf(column);
        if (size(rows) != m_grid.block || size(columns) != m_grid.block)
            return computed(rows, columns);
        // Full blocks depend on I - J only.
        Block& known = m_ofOffset[at(row - column + m_grid.columnBlocks - 1)];
        if (!known.isKnown)
            known = computed(rows, columns);
        return known;
    }

    Block computed(CellRange rows, CellRange columns) const
    {
        Block block;
        block.isKnown = true;
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
    std::vector<double> m_scores; ///< by distance, from m_first on
    std::vector<Block> m_ofOffset;
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

    Result<void> run(const std::stop_token& stop)
    {
        for (std::size_t index = 0; index < m_op.terms.size(); ++index) {
            const ScoreTerm& term = m_op.terms[index];
            prepare(term);
            for (std::int64_t row = 0; row < m_grid.rowBlocks; ++row) {
                if (stop.stop_requested())
                    return cancelled();
                prepareRow(m_grid.rowsOf(row));
                for (std::int64_t column = 0; column < m_grid.columnBlocks; ++column)
                    block(row, column, index == 0, term.weight);
            }
            writeRows(index == 0, term.weight);
        }
        return {};
    }

private:
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

    /// The least and greatest weight of the block's rows from its start, and to its end.
    void prepareRow(CellRange rows)
    {
        if (m_op.least.empty() && m_op.greatest.empty())
            return;
        const auto count = static_cast<Index>(size(rows));
        for (ArrayXd* extremes : {&m_leastFrom, &m_greatestFrom, &m_leastTo, &m_greatestTo})
            extremes->resize(count);
        for (Index i = 0; i < count; ++i) {
            const double w = weight(rows.first + i);
            m_leastFrom[i] = i == 0 ? w : std::min(m_leastFrom[i - 1], w);
            m_greatestFrom[i] = i == 0 ? w : std::max(m_greatestFrom[i - 1], w);
        }
        for (Index i = count - 1; i >= 0; --i) {
            const double w = weight(rows.first + i);
            m_leastTo[i] = i + 1 == count ? w : std::min(m_leastTo[i + 1], w);
            m_greatestTo[i] = i + 1 == count ? w : std::max(m_greatestTo[i + 1], w);
        }
    }

    void block(std::int64_t row, std::int64_t column, bool isFirst, double termWeight)
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
                low = m_leastFrom[to - rows.first];
                high = m_greatestFrom[to - rows.first];
            } else if (to == rows.end - 1) {
                low = m_leastTo[from - rows.first];
                high = m_greatestTo[from - rows.first];
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
    ArrayXd m_leastFrom, m_greatestFrom, m_leastTo, m_greatestTo;
};

// ------------------------------------------------------------------------------------------------- rows

/// Rotates rows of one term, up to kTile at a time: e^{j(p0+b)θ} = e^{jp0θ}·e^{jbθ}.
class RowTurner
{
public:
    RowTurner(const ScoreTerm& term, std::int64_t stride)
        : m_term(term)
        , m_stride(static_cast<double>(stride))
        , m_pairs(static_cast<Index>(term.invFreq.size()))
        , m_cos(kTile, m_pairs)
        , m_sin(kTile, m_pairs)
    {
        for (Index b = 0; b < kTile; ++b)
            for (Index i = 0; i < m_pairs; ++i) {
                const double angle = static_cast<double>(b) * m_stride * term.invFreq[at(i)];
                m_cos(b, i) = std::cos(angle);
                m_sin(b, i) = std::sin(angle);
            }
    }

    /// `count` ≤ kTile rows of `source` into `rows`, which is as large; the first is at `position` in tokens.
    void turn(const double* source, std::int64_t count, double position, Eigen::Ref<Matrix> rows) const
    {
        rows = Eigen::Map<const Matrix>(source, count, m_term.width);
        for (Index i = 0; i < m_pairs; ++i) {
            const double angle = position * m_term.invFreq[at(i)];
            const double c0 = m_term.attentionFactor * std::cos(angle);
            const double s0 = m_term.attentionFactor * std::sin(angle);
            const auto [a, b] = m_term.pairs[at(i)];
            for (Index row = 0; row < count; ++row) {
                const double c = c0 * m_cos(row, i) - s0 * m_sin(row, i);
                const double s = s0 * m_cos(row, i) + c0 * m_sin(row, i);
                const double x = rows(row, a), y = rows(row, b);
                rows(row, a) = x * c - y * s;
                rows(row, b) = x * s + y * c;
            }
        }
    }

private:
    const ScoreTerm& m_term;
    double m_stride;
    Index m_pairs;
    Matrix m_cos, m_sin; ///< [kTile × pairs]
};

double positionOf(const ScoreMapOp& op, std::int64_t index)
{
    return static_cast<double>(index * op.stride + op.offset);
}

/// Rotated queries from `first` on, times the term's scale and τ.
void turnQueries(const ScoreMapOp& op, const ScoreTerm& term, const RowTurner& turner, std::int64_t first,
                 std::int64_t count, Eigen::Ref<Matrix> rows)
{
    const std::int64_t row = first - op.grid.rows().first;
    turner.turn(term.queries.data() + row * term.width, count, positionOf(op, first), rows);
    for (std::int64_t i = 0; i < count; ++i)
        rows.row(i) *= term.scale * (term.rowScale.empty() ? 1.0 : term.rowScale[at(row + i)]);
}

void turnKeys(const ScoreMapOp& op, const ScoreTerm& term, const RowTurner& turner, std::int64_t first,
              std::int64_t count, Eigen::Ref<Matrix> rows)
{
    turner.turn(term.keys.data() + (first - op.firstKey) * term.width, count, positionOf(op, first), rows);
}

// ---------------------------------------------------------------------------------------- pooled product

/// The mean of q·k over a block of queries × keys is the product of their means; where the mask cuts a block
/// each query meets the sum of the keys that it sees.
class PooledProductRun
{
public:
    explicit PooledProductRun(const ScoreMapOp& op)
        : m_op(op)
        , m_grid(op.grid)
        , m_aliveKeys(at(size(op.grid.columns()) + 1))
    {
        for (std::int64_t n = 0; n < size(m_grid.columns()); ++n)
            m_aliveKeys[at(n + 1)] = m_aliveKeys[at(n)] + (isDeadKey(m_grid.columns().first + n) ? 0 : 1);
    }

    Result<void> run(const std::stop_token& stop)
    {
        m_sums = Matrix::Zero(m_grid.rowBlocks, m_grid.columnBlocks);
        std::fill(m_op.rowValue.begin(), m_op.rowValue.end(), 0.0);
        for (const ScoreTerm& term : m_op.terms)
            if (const auto done = add(term, stop); !done)
                return done;
        writeBlocks();
        writeRows();
        return {};
    }

private:
    bool isDeadKey(std::int64_t n) const
    {
        return !m_op.deadKeys.empty() && m_op.deadKeys[at(n - m_op.firstKey)] != 0;
    }
    bool isDeadQuery(std::int64_t m) const
    {
        return !m_op.deadQueries.empty() && m_op.deadQueries[at(m - m_grid.rows().first)] != 0;
    }
    std::int64_t aliveKeys(CellRange keys) const
    {
        const std::int64_t first = m_grid.columns().first;
        return m_aliveKeys[at(keys.end - first)] - m_aliveKeys[at(keys.first - first)];
    }

    /// Calls `visit(first position, rotated rows)` for all rows of `range`, at most kTile at a time.
    template<class Turn, class Visit>
    static Result<void> forRows(CellRange range, int width, const std::stop_token& stop, Turn turn,
                                Visit visit)
    {
        Matrix rows(std::min(kTile, size(range)), width);
        for (std::int64_t first = range.first; first < range.end; first += kTile) {
            if (stop.stop_requested())
                return cancelled();
            const std::int64_t count = std::min(kTile, range.end - first);
            turn(first, count, rows.topRows(count));
            visit(first, rows.topRows(count));
        }
        return {};
    }

    Result<void> add(const ScoreTerm& term, const std::stop_token& stop)
    {
        const RowTurner turner(term, m_op.stride);
        const auto queriesAt = [&](std::int64_t first, std::int64_t count, Eigen::Ref<Matrix> rows) {
            turnQueries(m_op, term, turner, first, count, rows);
        };
        const auto keysAt = [&](std::int64_t first, std::int64_t count, Eigen::Ref<Matrix> rows) {
            turnKeys(m_op, term, turner, first, count, rows);
        };
        Matrix keySums = Matrix::Zero(m_grid.columnBlocks, term.width);
        auto done =
            forRows(m_grid.columns(), term.width, stop, keysAt, [&](std::int64_t first, const auto& rows) {
                for (Index i = 0; i < rows.rows(); ++i)
                    if (!isDeadKey(first + i))
                        keySums.row((first + i) / m_grid.block - m_grid.firstColumnBlock) += rows.row(i);
            });
        if (!done)
            return done;
        // The keys that a query sees begin and end no earlier than those of the query before: two sums
        // follow.
        RunningSum seen(*this, term, turner), passed(*this, term, turner);
        Matrix querySums = Matrix::Zero(m_grid.rowBlocks, term.width);
        done = forRows(m_grid.rows(), term.width, stop, queriesAt, [&](std::int64_t first, const auto& rows) {
            for (Index i = 0; i < rows.rows(); ++i) {
                const std::int64_t m = first + i;
                if (isDeadQuery(m))
                    continue;
                querySums.row(m / m_grid.block - m_grid.firstRowBlock) += rows.row(i);
                const CellRange keys = intersection(m_grid.keysOf(m), m_grid.columns());
                if (m_op.rowValue.empty() || size(keys) <= 0)
                    continue;
                m_op.rowValue[at(m - m_grid.rows().first)] +=
                    term.weight * rows.row(i).dot(seen.upTo(keys.end) - passed.upTo(keys.first));
            }
        });
        if (!done)
            return done;
        constexpr std::int64_t kRows = 64;
        for (std::int64_t row = 0; row < m_grid.rowBlocks; row += kRows) {
            if (stop.stop_requested())
                return cancelled();
            const std::int64_t count = std::min(kRows, m_grid.rowBlocks - row);
            m_sums.middleRows(row, count).noalias() +=
                term.weight * querySums.middleRows(row, count) * keySums.transpose();
        }
        return addCutBlocks(term, turner, stop);
    }

    /// Blocks that the mask cuts: what the product of the sums says about them is replaced.
    Result<void> addCutBlocks(const ScoreTerm& term, const RowTurner& turner, const std::stop_token& stop)
    {
        const bool isFirstTerm = &term == m_op.terms.data();
        const std::int64_t side = std::min(m_grid.block, m_grid.length);
        Matrix queries(side, term.width), keys(side, term.width), sums(side + 1, term.width);
        for (std::int64_t row = 0; row < m_grid.rowBlocks; ++row) {
            if (stop.stop_requested())
                return cancelled();
            const CellRange rows = m_grid.rowsOf(row);
            bool hasQueries = false;
            for (std::int64_t column = 0; column < m_grid.columnBlocks; ++column) {
                const CellRange columns = m_grid.columnsOf(column);
                if (m_grid.isWhollyVisible(rows, columns))
                    continue;
                double& sum = m_cut.emplace_back(); // in the same order for each term
                if (isFirstTerm)
                    m_cutAt.push_back(row * m_grid.columnBlocks + column);
                if (m_grid.visibleCells(rows, columns) == 0)
                    continue;
                if (!hasQueries)
                    turnAll(rows, queries,
                            [&](std::int64_t first, std::int64_t count, Eigen::Ref<Matrix> into) {
                                turnQueries(m_op, term, turner, first, count, into);
                            });
                hasQueries = true;
                turnAll(columns, keys, [&](std::int64_t first, std::int64_t count, Eigen::Ref<Matrix> into) {
                    turnKeys(m_op, term, turner, first, count, into);
                });
                sums.row(0).setZero();
                for (std::int64_t n = 0; n < size(columns); ++n) {
                    sums.row(n + 1) = sums.row(n);
                    if (!isDeadKey(columns.first + n))
                        sums.row(n + 1) += keys.row(n);
                }
                for (std::int64_t m = rows.first; m < rows.end; ++m) {
                    const CellRange visible = intersection(m_grid.keysOf(m), columns);
                    if (size(visible) > 0 && !isDeadQuery(m))
                        sum += queries.row(m - rows.first)
                                   .dot(sums.row(visible.end - columns.first) -
                                        sums.row(visible.first - columns.first));
                }
                sum *= term.weight;
            }
        }
        for (std::size_t i = 0; i < m_cutAt.size(); ++i) {
            double& into = m_sums.data()[m_cutAt[i]];
            into = isFirstTerm ? m_cut[i] : m_cutSums[i] + m_cut[i];
        }
        if (isFirstTerm)
            m_cutSums = m_cut;
        else
            for (std::size_t i = 0; i < m_cut.size(); ++i)
                m_cutSums[i] += m_cut[i];
        m_cut.clear();
        return {};
    }

    template<class Turn>
    static void turnAll(CellRange range, Matrix& into, Turn turn)
    {
        for (std::int64_t first = range.first; first < range.end; first += kTile) {
            const std::int64_t count = std::min(kTile, range.end - first);
            turn(first, count, into.middleRows(first - range.first, count));
        }
    }

    void writeBlocks()
    {
        for (std::int64_t row = 0; row < m_grid.rowBlocks; ++row)
            for (std::int64_t column = 0; column < m_grid.columnBlocks; ++column) {
                const std::int64_t count = aliveCells(m_grid.rowsOf(row), m_grid.columnsOf(column));
                const std::size_t index = at(row * m_grid.columnBlocks + column);
                if (!m_op.count.empty())
                    m_op.count[index] = count;
                if (!m_op.mean.empty())
                    m_op.mean[index] = count == 0 ? kNaN : m_sums(row, column) / static_cast<double>(count);
            }
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

    void writeRows()
    {
        const CellRange rows = m_grid.rows();
        for (std::size_t i = 0; i < m_op.rowValue.size(); ++i) {
            const std::int64_t m = rows.first + static_cast<std::int64_t>(i);
            const CellRange keys = intersection(m_grid.keysOf(m), m_grid.columns());
            const std::int64_t count = size(keys) > 0 && !isDeadQuery(m) ? aliveKeys(keys) : 0;
            m_op.rowValue[i] = count == 0 ? kNaN : m_op.rowValue[i] / static_cast<double>(count);
        }
    }

    /// Σ of the rotated keys from the first column in view up to a place that only moves on.
    class RunningSum
    {
    public:
        RunningSum(const PooledProductRun& run, const ScoreTerm& term, const RowTurner& turner)
            : m_run(run)
            , m_term(term)
            , m_turner(turner)
            , m_at(run.m_grid.columns().first)
            , m_sum(Eigen::RowVectorXd::Zero(term.width))
        {
        }
        const Eigen::RowVectorXd& upTo(std::int64_t end)
        {
            for (; m_at < end; ++m_at) {
                if (m_at >= m_chunkEnd) {
                    const std::int64_t count = std::min(kTile, m_run.m_grid.columns().end - m_at);
                    m_chunk.resize(count, m_term.width);
                    turnKeys(m_run.m_op, m_term, m_turner, m_at, count, m_chunk);
                    m_chunkFirst = m_at;
                    m_chunkEnd = m_at + count;
                }
                if (!m_run.isDeadKey(m_at))
                    m_sum += m_chunk.row(m_at - m_chunkFirst);
            }
            return m_sum;
        }

    private:
        const PooledProductRun& m_run;
        const ScoreTerm& m_term;
        const RowTurner& m_turner;
        std::int64_t m_at, m_chunkFirst = 0, m_chunkEnd = 0;
        Matrix m_chunk;
        Eigen::RowVectorXd m_sum;
    };

    const ScoreMapOp& m_op;
    const ScoreGrid& m_grid;
    std::vector<std::int64_t> m_aliveKeys; ///< of the columns in view, how many before each
    Matrix m_sums;                         ///< of the blocks
    std::vector<std::int64_t> m_cutAt;     ///< blocks that the mask cuts or hides
    std::vector<double> m_cut, m_cutSums;  ///< their sums: of this term, of all so far
};

// ------------------------------------------------------------------------------------------------- tiles

/// Every cell once: strips of rows, tiles of columns, into buffers that are used again.
class TileRun
{
public:
    explicit TileRun(const ScoreMapOp& op)
        : m_op(op)
        , m_grid(op.grid)
        , m_rows(op.grid.rows())
        , m_isSoftmax(op.stage == ScoreStage::Softmax)
        , m_sum(at(op.grid.rowBlocks * op.grid.columnBlocks), 0.0)
        , m_count(m_sum.size(), 0)
    {
        std::fill(op.least.begin(), op.least.end(), kInfinity);
        std::fill(op.greatest.begin(), op.greatest.end(), -kInfinity);
        std::fill(op.rowValue.begin(), op.rowValue.end(), 0.0);
        if (!m_isSoftmax)
            m_rowCount.assign(op.rowValue.size(), 0);
        double steepest = 0.0;
        for (const ScoreTerm& term : op.terms) {
            m_turners.emplace_back(term, op.stride);
            for (const double rate : term.dampingRate)
                steepest = std::max(steepest, std::fabs(rate) * static_cast<double>(op.stride));
        }
        // Within a tile damping is taken apart into a factor of the row and one of the column; neither may
        // leave the range of a double.
        if (steepest * static_cast<double>(kTile) > 300.0)
            m_tile = std::max<std::int64_t>(1, static_cast<std::int64_t>(300.0 / steepest));
        m_stripRows = m_tile;
        if (m_isSoftmax) { // whole rows; 16 MiB as far as the least number of rows allows
            constexpr std::int64_t kCells = std::int64_t{1} << 21, kLeastRows = 32;
            m_stripRows = std::min(m_tile, std::clamp(kCells / m_grid.length, kLeastRows, kTile));
        }
    }

    Result<void> run(const std::stop_token& stop)
    {
        for (std::int64_t first = m_rows.first; first < m_rows.end; first += m_stripRows) {
            const CellRange rows{first, std::min(first + m_stripRows, m_rows.end)};
            CellRange keys{m_grid.keysOf(rows.first).first, m_grid.keysOf(rows.end - 1).end};
            if (!m_isSoftmax)
                keys = intersection(keys, m_grid.columns());
            if (size(keys) <= 0)
                continue;
            turnStrip(rows);
            if (!(m_isSoftmax ? softmaxStrip(rows, keys, stop) : rawStrip(rows, keys, stop)))
                return cancelled();
        }
        finish();
        return {};
    }

private:
    bool isDeadQuery(std::int64_t m) const
    {
        return !m_op.deadQueries.empty() && m_op.deadQueries[at(m - m_rows.first)] != 0;
    }
    bool isDeadKey(std::int64_t n) const
    {
        return !m_op.deadKeys.empty() && m_op.deadKeys[at(n - m_op.firstKey)] != 0;
    }

    void turnStrip(CellRange rows)
    {
        m_queries.resize(m_op.terms.size());
        for (std::size_t t = 0; t < m_op.terms.size(); ++t) {
            const ScoreTerm& term = m_op.terms[t];
            if (!term.table.empty())
                continue;
            m_queries[t].resize(size(rows), term.width);
            turnQueries(m_op, term, m_turners[t], rows.first, size(rows), m_queries[t]);
        }
    }

    /// The scores of one tile of one term into `cells`, as large.
    void fill(std::size_t t, CellRange rows, CellRange keys, Eigen::Ref<Matrix> cells)
    {
        const ScoreTerm& term = m_op.terms[t];
        if (!term.table.empty()) {
            if (!m_grid.isWhollyVisible(rows, keys))
                cells.setZero();
            for (std::int64_t m = rows.first; m < rows.end; ++m) {
                const double scale = term.rowScale.empty() ? 1.0 : term.rowScale[at(m - m_rows.first)];
                const CellRange visible = intersection(m_grid.keysOf(m), keys);
                for (std::int64_t n = visible.first; n < visible.end; ++n)
                    cells(m - rows.first, n - keys.first) =
                        term.scale * term.table[at(m - n - term.firstDistance)] * scale;
            }
            return;
        }
        m_keys.resize(size(keys), term.width);
        turnKeys(m_op, term, m_turners[t], keys.first, size(keys), m_keys);
        if (term.dampingRate.empty()) {
            cells.noalias() = m_queries[t] * m_keys.transpose();
            return;
        }
        // e^{(m-n)·rate} = e^{(m-n0)·rate}·e^{-(n-n0)·rate}, in one power each.
        m_damped = m_queries[t];
        for (std::size_t i = 0; i < term.dampingRate.size(); ++i) {
            const double rate = term.dampingRate[i] * static_cast<double>(m_op.stride);
            const auto [a, b] = term.pairs[i];
            for (std::int64_t m = rows.first; m < rows.end; ++m) {
                const double factor = std::exp(rate * static_cast<double>(m - keys.first));
                m_damped(m - rows.first, a) *= factor;
                m_damped(m - rows.first, b) *= factor;
            }
            for (std::int64_t n = keys.first; n < keys.end; ++n) {
                const double factor = std::exp(-rate * static_cast<double>(n - keys.first));
                m_keys(n - keys.first, a) *= factor;
                m_keys(n - keys.first, b) *= factor;
            }
        }
        cells.noalias() = m_damped * m_keys.transpose();
    }

    bool rawStrip(CellRange rows, CellRange keys, const std::stop_token& stop)
    {
        for (std::int64_t first = keys.first; first < keys.end; first += m_tile) {
            if (stop.stop_requested())
                return false;
            const CellRange tile{first, std::min(first + m_tile, keys.end)};
            m_cells.resize(size(rows), size(tile));
            for (std::size_t t = 0; t < m_op.terms.size(); ++t) {
                if (t == 0) {
                    fill(t, rows, tile, m_cells);
                    if (m_op.terms[t].weight != 1.0)
                        m_cells *= m_op.terms[t].weight;
                } else {
                    m_other.resize(size(rows), size(tile));
                    fill(t, rows, tile, m_other);
                    m_cells += m_op.terms[t].weight * m_other;
                }
            }
            pool(rows, tile.first, tile);
        }
        return true;
    }

    bool softmaxStrip(CellRange rows, CellRange keys, const std::stop_token& stop)
    {
        for (std::size_t t = 0; t < m_op.terms.size(); ++t) {
            Matrix& cells = t == 0 ? m_cells : m_other;
            cells.resize(size(rows), size(keys));
            for (std::int64_t first = keys.first; first < keys.end; first += m_tile) {
                if (stop.stop_requested())
                    return false;
                const CellRange tile{first, std::min(first + m_tile, keys.end)};
                fill(t, rows, tile, cells.middleCols(first - keys.first, size(tile)));
            }
            for (std::int64_t m = rows.first; m < rows.end; ++m) {
                if (stop.stop_requested())
                    return false;
                softmaxRow(t, m, rows, keys, cells);
            }
        }
        pool(rows, keys.first, intersection(keys, m_grid.columns()));
        return true;
    }

    void softmaxRow(std::size_t t, std::int64_t m, CellRange rows, CellRange keys, Matrix& cells)
    {
        const CellRange visible = intersection(m_grid.keysOf(m), keys);
        const double weight = m_op.terms[t].weight;
        auto row = cells.row(m - rows.first).segment(visible.first - keys.first, size(visible)).array();
        if (!m_op.deadKeys.empty())
            for (std::int64_t n = visible.first; n < visible.end; ++n)
                if (isDeadKey(n))
                    row[n - visible.first] = -kInfinity;
        const double greatest = isDeadQuery(m) ? -kInfinity : row.maxCoeff();
        double entropy = kNaN;
        if (greatest == -kInfinity) {
            row = kNaN; // nothing to look at
        } else {
            // Beyond -708 Eigen's exp stops at the smallest double; the product below must not see an
            // infinity.
            row = (row - greatest).max(-708.0);
            m_exponentials = row.exp();
            const double sum = m_exponentials.sum();
            entropy = std::log(sum) - (m_exponentials * row).sum() / sum;
            row = m_exponentials * (1.0 / sum);
        }
        if (!m_op.rowValue.empty())
            m_op.rowValue[at(m - m_rows.first)] += weight * entropy;
        if (t == 0) {
            if (weight != 1.0)
                row *= weight;
        } else {
            m_cells.row(m - rows.first).segment(visible.first - keys.first, size(visible)).array() +=
                weight * row;
        }
    }

    /// Adds the visible cells of `columns` to their blocks; column 0 of m_cells is key `firstHeld`.
    void pool(CellRange rows, std::int64_t firstHeld, CellRange columns)
    {
        for (std::int64_t m = rows.first; m < rows.end; ++m) {
            const CellRange visible = intersection(m_grid.keysOf(m), columns);
            if (size(visible) <= 0 || isDeadQuery(m))
                continue;
            const double* cells = m_cells.data() + (m - rows.first) * m_cells.cols();
            if (std::isnan(cells[visible.first - firstHeld])) // a softmax over no key
                continue;
            const std::int64_t blocks = (m / m_grid.block - m_grid.firstRowBlock) * m_grid.columnBlocks;
            for (std::int64_t n = visible.first; n < visible.end;) {
                const std::int64_t column = n / m_grid.block;
                const std::int64_t end = std::min(visible.end, (column + 1) * m_grid.block);
                const std::size_t block = at(blocks + column - m_grid.firstColumnBlock);
                if (m_op.deadKeys.empty()) {
                    add(block, m, cells + (n - firstHeld), end - n);
                } else {
                    for (std::int64_t i = n; i < end; ++i)
                        if (!isDeadKey(i))
                            add(block, m, cells + (i - firstHeld), 1);
                }
                n = end;
            }
        }
    }

    void add(std::size_t block, std::int64_t m, const double* cells, std::int64_t count)
    {
        const Eigen::Map<const ArrayXd> run(cells, count);
        const double sum = run.sum();
        m_sum[block] += sum;
        m_count[block] += count;
        if (!m_op.least.empty())
            m_op.least[block] = std::min(m_op.least[block], run.minCoeff());
        if (!m_op.greatest.empty())
            m_op.greatest[block] = std::max(m_op.greatest[block], run.maxCoeff());
        if (!m_isSoftmax && !m_op.rowValue.empty()) {
            m_op.rowValue[at(m - m_rows.first)] += sum;
            m_rowCount[at(m - m_rows.first)] += count;
        }
    }

    void finish()
    {
        for (std::size_t block = 0; block < m_sum.size(); ++block) {
            const bool isMasked = m_count[block] == 0;
            if (!m_op.mean.empty())
                m_op.mean[block] = isMasked ? kNaN : m_sum[block] / static_cast<double>(m_count[block]);
            if (!m_op.least.empty() && isMasked)
                m_op.least[block] = kNaN;
            if (!m_op.greatest.empty() && isMasked)
                m_op.greatest[block] = kNaN;
            if (!m_op.count.empty())
                m_op.count[block] = m_count[block];
        }
        for (std::size_t row = 0; row < m_rowCount.size(); ++row)
            m_op.rowValue[row] =
                m_rowCount[row] == 0 ? kNaN : m_op.rowValue[row] / static_cast<double>(m_rowCount[row]);
    }

    const ScoreMapOp& m_op;
    const ScoreGrid& m_grid;
    CellRange m_rows;
    bool m_isSoftmax;
    std::int64_t m_tile = kTile, m_stripRows = kTile;
    std::vector<double> m_sum; ///< of the blocks
    std::vector<std::int64_t> m_count;
    std::vector<RowTurner> m_turners; ///< one a term
    std::vector<Matrix> m_queries;    ///< rotated, of the strip, one a term
    Matrix m_keys, m_damped, m_cells, m_other;
    Eigen::Array<double, 1, Eigen::Dynamic> m_exponentials;
    std::vector<std::int64_t> m_rowCount; ///< cells of each row in view; raw only
};

} // namespace

Result<void> runDistanceTable(const DistanceTableOp& op, const std::stop_token& stop)
{
    return DistanceTableRun(op).run(stop);
}

Result<void> runScoreMap(const ScoreMapOp& op, const std::stop_token& stop)
{
    assert(mayTake(op.path, op) && !op.terms.empty());
    switch (op.path) {
    case ScorePath::Toeplitz:
        return op.stage == ScoreStage::Raw ? ToeplitzRun(op).run(stop) : ToeplitzSoftmaxRun(op).run(stop);
    case ScorePath::PooledProduct:
        return PooledProductRun(op).run(stop);
    case ScorePath::Tiles:
        break;
    }
    return TileRun(op).run(stop);
}

} // namespace ropewalk
