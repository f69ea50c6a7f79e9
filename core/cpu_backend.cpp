// SPDX-License-Identifier: GPL-3.0-or-later
#include "cpu_backend.h"

#include "cpu_backend_scores.h"
#include "rope_math.h"

#include <Eigen/Core>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace ropewalk {
namespace {

/// Distances a tile: 512 × 64 pairs of cos and sin is half a megabyte, which stays in L2, and about a
/// millisecond.
constexpr std::int64_t kTile = 512;

Error cancelled()
{
    return {ErrorCode::Cancelled, "stopped", {}};
}

void runRotate(const RotateOp& op)
{
    assert(op.input.size() == op.output.size() && op.pairs.size() == op.invFreq.size());
    assert(op.input.empty() || op.input.data() != op.output.data());
    std::copy(op.input.begin(), op.input.end(), op.output.begin());
    for (std::size_t i = 0; i < op.pairs.size(); ++i) {
        if (op.invFreq[i] == 0.0)
            continue;
        const double angle = op.position * op.invFreq[i];
        const auto [a, b] = op.pairs[i];
        rotatePair(op.output[static_cast<std::size_t>(a)], op.output[static_cast<std::size_t>(b)],
                   op.attentionFactor * std::cos(angle), op.attentionFactor * std::sin(angle));
    }
}

void runContribution(const PairContributionOp& op)
{
    assert(op.contribution.size() == op.pairs.size());
    for (std::size_t i = 0; i < op.pairs.size(); ++i) {
        const auto a = static_cast<std::size_t>(op.pairs[i].first);
        const auto b = static_cast<std::size_t>(op.pairs[i].second);
        op.contribution[i] = op.query[a] * op.key[a] + op.query[b] * op.key[b];
    }
}

/// One pass over all distances of a DecayOp, tile by tile.
class DecayRun
{
public:
    explicit DecayRun(const DecayOp& op)
        : m_op(op)
        , m_thetas(turningOnly(op, op.invFreq))
        , m_rates(turningOnly(op, op.dampingRate))
        , m_pairs(m_thetas.size())
        , m_still(static_cast<double>(op.pairCount) - static_cast<double>(m_pairs))
        , m_count(distanceCount(op))
        , m_wantsSum(!op.similarMean.empty() || !op.cosineSum.empty())
        , m_wantsMean(!op.similarMean.empty())
        , m_wantsSquares(!op.similarSd.empty())
        , m_wantsDamping(!op.dampingRate.empty() &&
                         (m_wantsMean || m_wantsSquares || !op.independentSd.empty()))
        , m_wantsBound(!op.boundFactor.empty())
        , m_sum(kTile)
        , m_damped(kTile)
        , m_squares(kTile)
        , m_weights(kTile)
        , m_damping(Eigen::ArrayXd::Ones(kTile))
        , m_re(kTile)
        , m_im(kTile)
        , m_bound(kTile)
        , m_cos(kTile)
        , m_sin(kTile)
    {
        if (op.distances.empty() && m_count > kTile) {
            // e^{j(r0+b)θ} = e^{jr0θ}·e^{jbθ}: the second factor is the same for every tile.
            m_tableCos.resize(m_pairs * kTile);
            m_tableSin.resize(m_pairs * kTile);
            for (std::size_t i = 0; i < m_pairs; ++i) {
                for (std::size_t b = 0; b < kTile; ++b) {
                    m_tableCos[i * kTile + b] = std::cos(static_cast<double>(b) * m_thetas[i]);
                    m_tableSin[i * kTile + b] = std::sin(static_cast<double>(b) * m_thetas[i]);
                }
            }
        }
    }

    Result<void> run(const std::stop_token& stop)
    {
        for (std::int64_t start = 0; start < m_count; start += kTile) {
            if (stop.stop_requested())
                return cancelled();
            tile(start, static_cast<std::size_t>(std::min(kTile, m_count - start)));
        }
        return {};
    }

private:
    /// Of one number a formed pair those of the pairs that turn.
    static std::vector<double> turningOnly(const DecayOp& op, std::span<const double> ofPairs)
    {
        std::vector<double> kept;
        for (std::size_t i = 0; i < ofPairs.size(); ++i)
            if (op.invFreq[i] != 0.0)
                kept.push_back(ofPairs[i]);
        return kept;
    }

    static std::int64_t distanceCount(const DecayOp& op)
    {
        const std::size_t count =
            std::max({op.similarMean.size(), op.similarSd.size(), op.independentSd.size(),
                      op.cosineSum.size(), op.boundFactor.size()});
        assert(op.distances.empty() || op.distances.size() == count);
        return static_cast<std::int64_t>(count);
    }

    /// Fills m_cos and m_sin with the turn of pair `i` at the tile's distances.
    void turns(std::size_t i, std::int64_t start, std::size_t width)
    {
        const double theta = m_thetas[i];
        if (m_wantsDamping)
            for (std::size_t b = 0; b < width; ++b)
                m_damping[static_cast<Eigen::Index>(b)] = std::exp(m_rates[i] * distance(start, b));
        if (m_tableCos.empty()) {
            for (std::size_t b = 0; b < width; ++b) {
                const double r = distance(start, b);
                m_cos[static_cast<Eigen::Index>(b)] = std::cos(r * theta);
                m_sin[static_cast<Eigen::Index>(b)] = std::sin(r * theta);
            }
            return;
        }
        const double angle = static_cast<double>(m_op.firstDistance + start) * theta;
        const double c0 = std::cos(angle);
        const double s0 = std::sin(angle);
        const auto count = static_cast<Eigen::Index>(width);
        const Eigen::Map<const Eigen::ArrayXd> c(&m_tableCos[i * kTile], count);
        const Eigen::Map<const Eigen::ArrayXd> s(&m_tableSin[i * kTile], count);
        m_cos.head(count) = c0 * c - s0 * s;
        if (m_wantsBound)
            m_sin.head(count) = s0 * c + c0 * s;
    }

    double distance(std::int64_t start, std::size_t column) const
    {
        const std::int64_t at = start + static_cast<std::int64_t>(column);
        return m_op.distances.empty() ? static_cast<double>(m_op.firstDistance + at)
                                      : m_op.distances[static_cast<std::size_t>(at)];
    }

    void tile(std::int64_t start, std::size_t width)
    {
        const auto count = static_cast<Eigen::Index>(width);
        for (Eigen::ArrayXd* buffer : {&m_sum, &m_damped, &m_squares, &m_weights, &m_re, &m_im, &m_bound})
            buffer->setZero();
        for (std::size_t i = 0; i < m_pairs; ++i) {
            turns(i, start, width);
            if (m_wantsSum)
                m_sum.head(count) += m_cos.head(count);
            if (m_wantsDamping) {
                m_damped.head(count) += m_damping.head(count) * m_cos.head(count);
                m_squares.head(count) += (m_damping.head(count) * m_cos.head(count)).square();
                m_weights.head(count) += m_damping.head(count).square();
            } else if (m_wantsSquares)
                m_squares.head(count) += m_cos.head(count).square();
            if (m_wantsBound) {
                m_re.head(count) += m_cos.head(count);
                m_im.head(count) += m_sin.head(count);
                m_bound.head(count) += (m_re.head(count).square() + m_im.head(count).square()).sqrt();
            }
        }
        finish(start, width);
    }

    void finish(std::int64_t start, std::size_t width)
    {
        const auto at = static_cast<std::size_t>(start);
        const double headDim = 2.0 * m_op.pairCount;
        const double a2 = m_op.attentionFactor * m_op.attentionFactor;
        const double rho = m_op.rho;
        for (std::size_t column = 0; column < width; ++column) {
            const auto b = static_cast<Eigen::Index>(column);
            const double weights = m_wantsDamping ? m_weights[b] : static_cast<double>(m_pairs);
            const double independent = 2.0 * (a2 * a2 * weights + m_still);
            if (!m_op.independentSd.empty())
                m_op.independentSd[at + column] = std::sqrt(independent) / headDim;
            if (!m_op.cosineSum.empty())
                m_op.cosineSum[at + column] = 2.0 / headDim * (m_sum[b] + m_still);
            if (m_wantsMean)
                m_op.similarMean[at + column] =
                    2.0 * rho / headDim * (a2 * (m_wantsDamping ? m_damped[b] : m_sum[b]) + m_still);
            if (m_wantsSquares)
                m_op.similarSd[at + column] = std::sqrt(4.0 * rho * rho * (a2 * a2 * m_squares[b] + m_still) +
                                                        (1.0 - rho * rho) * independent) /
                                              headDim;
            if (m_wantsBound) {
                // The pairs that stay come last: |S_P + k|, k = 1..P_h-P.
                double bound = m_bound[b];
                for (int k = 1; k <= static_cast<int>(m_still); ++k)
                    bound += std::sqrt((m_re[b] + k) * (m_re[b] + k) + m_im[b] * m_im[b]);
                const double atZero = (m_op.pairCount + 1.0) / 2.0;
                m_op.boundFactor[at + column] = bound / m_op.pairCount / atZero;
            }
        }
    }

    const DecayOp& m_op;
    std::vector<double> m_thetas, m_rates; ///< of the pairs that turn
    std::size_t m_pairs;
    double m_still;
    std::int64_t m_count;
    bool m_wantsSum, m_wantsMean, m_wantsSquares, m_wantsDamping, m_wantsBound;
    Eigen::ArrayXd m_sum, m_damped, m_squares, m_weights, m_damping, m_re, m_im, m_bound, m_cos, m_sin;
    std::vector<double> m_tableCos, m_tableSin;
};

class CpuBackend final : public ComputeBackend
{
public:
    Info info() const override
    {
#if defined(__x86_64__)
        const std::string architecture = "x86-64";
#elif defined(__aarch64__)
        const std::string architecture = "arm64";
#else
        const std::string architecture = "generic";
#endif
        return {"cpu", architecture, "double"};
    }
    Result<void> status() const override
    {
        return {};
    }
    bool supports(const Operation&) const override
    {
        return true;
    }

    std::string precisionOf(const Operation& operation) const override
    {
        const auto* map = std::get_if<ScoreMapOp>(&operation);
        return std::string(scorePrecisionName(map && map->path == ScorePath::Tiles ? map->precision
                                                                                   : ScorePrecision::Double));
    }

    Result<void> run(const Operation& operation, std::stop_token stop) override
    {
        if (stop.stop_requested())
            return cancelled();
        if (const auto* rotate = std::get_if<RotateOp>(&operation))
            runRotate(*rotate);
        else if (const auto* contribution = std::get_if<PairContributionOp>(&operation))
            runContribution(*contribution);
        else if (const auto* decay = std::get_if<DecayOp>(&operation))
            return DecayRun(*decay).run(stop);
        else if (const auto* table = std::get_if<DistanceTableOp>(&operation))
            return runDistanceTable(*table, stop);
        else
            return runScoreMap(std::get<ScoreMapOp>(operation), stop);
        return {};
    }
};

} // namespace

std::unique_ptr<ComputeBackend> makeCpuBackend()
{
    return std::make_unique<CpuBackend>();
}

} // namespace ropewalk
