// SPDX-License-Identifier: GPL-3.0-or-later
#include "../cpu_workers.h"
#include "fused.h"
#include "run_support.h"
#include "runs.h"
#include "turns.h"

#include <cassert>
#include <cmath>
#include <optional>
#include <vector>

namespace ropewalk {
namespace {

/// Distances that one anchor serves: whole panels on every level.
constexpr std::int64_t kWidth = 504;
static_assert(kWidth % Lanes<double>::kPanel == 0);
constexpr std::int64_t kPanels = kWidth / Lanes<double>::kPanel;
/// Anchors of a task: 32 256 distances, a fraction of a millisecond to a few.
constexpr std::int64_t kAnchors = 64;

// Slots of scratch.
constexpr int kTable = 0, kDampedTable = 1;                                       // common
constexpr int kFactors = 0, kDamped = 1, kCells = 2, kMoreCells = 3, kAnchor = 4; // of a worker

/// e^{r·rate}·e^{jrθ} of all pairs as two tables, r = r0 + b: a sum over the pairs is a matrix product.
class DistanceTurns
{
public:
    /// `rates` empty: no damping. The table lies in a common slot of `workers`.
    DistanceTurns(std::span<const double> invFreq, std::span<const double> rates, CpuWorkers& workers,
                  int slot)
        : m_rates(rates)
        , m_pairs(static_cast<int>(invFreq.size()))
        , m_anchors(invFreq, static_cast<double>(kWidth), kAnchors)
        , m_packed(workers.scratch<double>(-1, slot, kWidth * 2 * m_pairs))
    {
        const TurnBlock turns(invFreq, 1.0);
        std::vector<double> rows(at(kWidth * 2 * m_pairs)), anchor(at(2 * m_pairs));
        for (std::int64_t b = 0; b < kWidth; b += TurnBlock::kRows) {
            double* row = rows.data() + b * 2 * m_pairs;
            turns.fill(static_cast<double>(b), std::min(TurnBlock::kRows, kWidth - b), 1.0, row,
                       row + m_pairs, 2 * m_pairs, anchor.data());
        }
        for (std::int64_t b = 0; b < kWidth && !rates.empty(); ++b)
            damp(b, rows.data() + b * 2 * m_pairs);
        packPanels(rows.data(), kWidth, 2 * m_pairs, m_packed);
    }

    int pairs() const { return m_pairs; }
    const double* packed() const { return m_packed; }

    /// cos and then -sin at `first`, `first` + kWidth, … (`count` ≤ kAnchors), [count × 2·pairs]; the rows up
    /// to a whole number of tiles are zeros.
    void anchors(std::int64_t first, std::int64_t count, double* rows, double* anchor) const
    {
        m_anchors.fill(static_cast<double>(first), count, 1.0, rows, rows + m_pairs, 2 * m_pairs, anchor);
        for (std::int64_t a = 0; a < count; ++a) {
            double* row = rows + a * 2 * m_pairs;
            for (int i = m_pairs; i < 2 * m_pairs; ++i)
                row[i] = -row[i];
            if (!m_rates.empty())
                damp(first + a * kWidth, row);
        }
        std::fill(rows + count * 2 * m_pairs, rows + roundedUp(count, kTileRows) * 2 * m_pairs, 0.0);
    }

    /// Σ over the pairs at the distances of `count` anchors, [count × kWidth].
    void multiply(const double* rows, std::int64_t count, double* cells) const
    {
        multiplyPanels(rows, roundedUp(count, kTileRows), m_packed, kWidth, 2 * m_pairs, cells, kWidth);
    }

private:
    void damp(std::int64_t r, double* row) const
    {
        for (int i = 0; i < m_pairs; ++i) {
            const double factor = std::exp(m_rates[at(i)] * static_cast<double>(r));
            row[i] *= factor;
            row[m_pairs + i] *= factor;
        }
    }

    std::span<const double> m_rates;
    int m_pairs;
    TurnBlock m_anchors;
    double* m_packed;
};

/// Calls `task(start, distances, worker)` for the pieces of `count` distances.
template<class Task>
Result<void> forDistances(std::int64_t count, std::int64_t piece, CpuWorkers& workers,
                          const std::stop_token& stop, const Task& task)
{
    StopWatch watch(stop);
    workers.forEach(pieces(count, piece), [&](std::int64_t index, int worker) {
        if (!watch.hasStopped())
            task(index * piece, std::min(piece, count - index * piece), worker);
    });
    return watch.outcome();
}

/// The curves of a DecayOp from sums over the pairs that turn.
class DecayRun
{
public:
    explicit DecayRun(const DecayOp& op)
        : m_op(op)
        , m_thetas(turningOnly(op.invFreq))
        , m_rates(turningOnly(op.dampingRate))
        , m_pairs(static_cast<int>(m_thetas.size()))
        , m_still(op.pairCount - m_pairs)
        , m_wantsBound(!op.boundFactor.empty())
        , m_wantsSquares(!op.similarSd.empty())
        , m_isDamped(!op.dampingRate.empty() &&
                     (!op.similarMean.empty() || m_wantsSquares || !op.independentSd.empty()))
        , m_wantsSum(!op.cosineSum.empty() || (!m_isDamped && !op.similarMean.empty()))
    {
        for (const std::span<double> curve :
             {op.similarMean, op.similarSd, op.independentSd, op.cosineSum, op.boundFactor})
            m_count = std::max(m_count, static_cast<std::int64_t>(curve.size()));
        assert(op.distances.empty() || static_cast<std::int64_t>(op.distances.size()) == m_count);
    }

    Result<void> run(CpuWorkers& workers, const std::stop_token& stop)
    {
        if (!m_op.distances.empty())
            return forDistances(m_count, kDirect, workers, stop,
                                [&](std::int64_t start, std::int64_t count, int) { direct(start, count); });
        const DistanceTurns turns(m_thetas, {}, workers, kTable);
        std::optional<DistanceTurns> damped;
        if (m_isDamped)
            damped.emplace(m_thetas, m_rates, workers, kDampedTable);
        return forDistances(m_count, kAnchors * kWidth, workers, stop,
                            [&](std::int64_t start, std::int64_t count, int worker) {
                                byTables(turns, damped ? &*damped : nullptr, start, count, workers, worker);
                            });
    }

private:
    static constexpr std::int64_t kDirect = 128; // distances of a task that takes each angle by itself

    /// Of one number a formed pair those of the pairs that turn.
    std::vector<double> turningOnly(std::span<const double> ofPairs) const
    {
        std::vector<double> kept;
        for (std::size_t i = 0; i < ofPairs.size(); ++i)
            if (m_op.invFreq[i] != 0.0)
                kept.push_back(ofPairs[i]);
        return kept;
    }

    void byTables(const DistanceTurns& turns, const DistanceTurns* damped, std::int64_t start,
                  std::int64_t count, CpuWorkers& workers, int worker) const
    {
        const std::int64_t anchors = pieces(count, kWidth), rows = roundedUp(anchors, kTileRows);
        const std::int64_t first = m_op.firstDistance + start;
        double* factors = workers.scratch<double>(worker, kFactors, rows * 2 * m_pairs);
        double* anchor = workers.scratch<double>(worker, kAnchor, 2 * m_pairs);
        double* cells = workers.scratch<double>(worker, kCells, rows * kWidth);
        if (m_wantsSum || m_wantsBound || (m_wantsSquares && !damped))
            turns.anchors(first, anchors, factors, anchor);
        if (m_wantsSum) {
            turns.multiply(factors, anchors, cells);
            writeSum(cells, start, count);
            if (!damped)
                writeMean(cells, start, count);
        }
        if (m_wantsBound) {
            boundOfTurns(factors, rows, turns.packed(), kPanels, m_pairs, m_still, cells, kWidth);
            writeBound(cells, start, count);
        }
        if (!damped) {
            if (m_wantsSquares)
                squaresOfTurns(factors, rows, turns.packed(), kPanels, m_pairs, cells, kWidth);
            writeDeviations(m_wantsSquares ? cells : nullptr, nullptr, start, count);
            return;
        }
        double* dampedFactors = workers.scratch<double>(worker, kDamped, rows * 2 * m_pairs);
        damped->anchors(first, anchors, dampedFactors, anchor);
        if (!m_op.similarMean.empty()) {
            damped->multiply(dampedFactors, anchors, cells);
            writeMean(cells, start, count);
        }
        if (m_wantsSquares)
            squaresOfTurns(dampedFactors, rows, damped->packed(), kPanels, m_pairs, cells, kWidth);
        double* weights = workers.scratch<double>(worker, kMoreCells, rows * kWidth);
        for (std::int64_t k = 0; k < count; ++k)
            weights[k] = dampedWeight(static_cast<double>(first + k));
        writeDeviations(m_wantsSquares ? cells : nullptr, weights, start, count);
    }

    /// Σ e^(2r·rate).
    double dampedWeight(double distance) const
    {
        double weight = 0.0;
        for (const double rate : m_rates)
            weight += std::exp(2.0 * rate * distance);
        return weight;
    }

    /// A few distances, each angle by itself.
    void direct(std::int64_t start, std::int64_t count) const
    {
        double sums[kDirect], damped[kDirect], squares[kDirect], weights[kDirect], bounds[kDirect];
        for (std::int64_t k = 0; k < count; ++k) {
            const double r = m_op.distances[at(start + k)];
            double sum = 0.0, dampedSum = 0.0, square = 0.0, weight = 0.0, re = 0.0, im = 0.0, bound = 0.0;
            for (int i = 0; i < m_pairs; ++i) {
                const double c = std::cos(r * m_thetas[at(i)]), s = std::sin(r * m_thetas[at(i)]);
                const double damping = m_isDamped ? std::exp(m_rates[at(i)] * r) : 1.0;
                sum += c;
                dampedSum += damping * c;
                square += damping * c * damping * c;
                weight += damping * damping;
                re += c;
                im += s;
                bound += std::sqrt(re * re + im * im);
            }
            for (int still = 1; still <= m_still; ++still)
                bound += std::sqrt((re + still) * (re + still) + im * im);
            sums[k] = sum;
            damped[k] = dampedSum;
            squares[k] = square;
            weights[k] = weight;
            bounds[k] = bound;
        }
        writeSum(sums, start, count);
        writeMean(damped, start, count);
        writeBound(bounds, start, count);
        writeDeviations(squares, m_isDamped ? weights : nullptr, start, count);
    }

    double headDim() const { return 2.0 * m_op.pairCount; }

    void writeSum(const double* sums, std::int64_t start, std::int64_t count) const
    {
        if (m_op.cosineSum.empty())
            return;
        double* out = m_op.cosineSum.data() + start;
        const double scale = 2.0 / headDim();
        for (std::int64_t k = 0; k < count; ++k)
            out[k] = scale * (sums[k] + m_still);
    }

    void writeMean(const double* sums, std::int64_t start, std::int64_t count) const
    {
        if (m_op.similarMean.empty())
            return;
        double* out = m_op.similarMean.data() + start;
        const double a2 = m_op.attentionFactor * m_op.attentionFactor;
        const double scale = 2.0 * m_op.rho / headDim();
        for (std::int64_t k = 0; k < count; ++k)
            out[k] = scale * (a2 * sums[k] + m_still);
    }

    void writeBound(const double* bounds, std::int64_t start, std::int64_t count) const
    {
        if (m_op.boundFactor.empty())
            return;
        double* out = m_op.boundFactor.data() + start;
        const double atZero = (m_op.pairCount + 1.0) / 2.0;
        for (std::int64_t k = 0; k < count; ++k)
            out[k] = bounds[k] / m_op.pairCount / atZero;
    }

    /// `weights` null: no damping.
    void writeDeviations(const double* squares, const double* weights, std::int64_t start,
                         std::int64_t count) const
    {
        const double a4 = std::pow(m_op.attentionFactor, 4.0), rho2 = m_op.rho * m_op.rho;
        const double undamped = 2.0 * (a4 * m_pairs + m_still);
        for (std::int64_t k = 0; k < count && !m_op.independentSd.empty(); ++k) {
            const double independent = weights ? 2.0 * (a4 * weights[k] + m_still) : undamped;
            m_op.independentSd[at(start + k)] = std::sqrt(independent) / headDim();
        }
        for (std::int64_t k = 0; k < count && m_wantsSquares; ++k) {
            const double independent = weights ? 2.0 * (a4 * weights[k] + m_still) : undamped;
            m_op.similarSd[at(start + k)] =
                std::sqrt(4.0 * rho2 * (a4 * squares[k] + m_still) + (1.0 - rho2) * independent) / headDim();
        }
    }

    const DecayOp& m_op;
    std::vector<double> m_thetas, m_rates; ///< of the pairs that turn
    int m_pairs, m_still;
    std::int64_t m_count = 0;
    bool m_wantsBound, m_wantsSquares, m_isDamped, m_wantsSum;
};

} // namespace

Result<void> runDecay(const DecayOp& op, CpuWorkers& workers, const std::stop_token& stop)
{
    return DecayRun(op).run(workers, stop);
}

Result<void> runDistanceTable(const DistanceTableOp& op, CpuWorkers& workers, const std::stop_token& stop)
{
    const DistanceTurns turns(op.invFreq, op.dampingRate, workers, kTable);
    const int pairs = turns.pairs();
    const double a2 = op.attentionFactor * op.attentionFactor;
    return forDistances(
        static_cast<std::int64_t>(op.table.size()), kAnchors * kWidth, workers, stop,
        [&](std::int64_t start, std::int64_t count, int worker) {
            const std::int64_t anchors = pieces(count, kWidth), rows = roundedUp(anchors, kTileRows);
            double* factors = workers.scratch<double>(worker, kFactors, rows * 2 * pairs);
            double* out = op.table.data() + start;
            // What is whole is written where it belongs: it costs more than to compute it.
            double* cells =
                count == rows * kWidth ? out : workers.scratch<double>(worker, kCells, rows * kWidth);
            turns.anchors(op.firstDistance + start, anchors, factors,
                          workers.scratch<double>(worker, kAnchor, 2 * pairs));
            for (std::int64_t a = 0; a < anchors; ++a) {
                // Re(h e^{j(r0+b)θ}) = Re(h e^{jr0θ}) cos bθ - Im(h e^{jr0θ}) sin bθ
                double* row = factors + a * 2 * pairs;
                for (int i = 0; i < pairs; ++i) {
                    const double c = row[i], s = -row[pairs + i], re = op.re[at(i)], im = op.im[at(i)];
                    row[i] = a2 * (re * c - im * s);
                    row[pairs + i] = -a2 * (re * s + im * c);
                }
            }
            turns.multiply(factors, anchors, cells);
            if (cells != out || op.still != 0.0)
                for (std::int64_t k = 0; k < count; ++k)
                    out[k] = cells[k] + op.still;
        });
}

} // namespace ropewalk
