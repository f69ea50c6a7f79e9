// SPDX-License-Identifier: GPL-3.0-or-later
#include "cpu_backend.h"

#include "cpu_workers.h"
#include "kernels/kernels.h"
#include "rope_math.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace ropewalk {
namespace {

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

class CpuBackend final : public ComputeBackend
{
public:
    /// `kernels` null: this processor has none of the levels.
    CpuBackend(const CpuKernels* kernels, int threads)
        : m_kernels(kernels)
        , m_workers(threads)
    {
    }

    Info info() const override
    {
        std::string device(m_kernels ? cpuLevelName(m_kernels->level) : "x86-64");
        device +=
            ", " + std::to_string(m_workers.threads()) + (m_workers.threads() == 1 ? " thread" : " threads");
        return {"cpu", device, "double"};
    }

    Result<void> status() const override
    {
        if (m_kernels)
            return {};
        return Error{ErrorCode::NotAvailable,
                     "this processor is older than x86-64-v2; expected SSE4.2, which all since 2009 have",
                     "cpu"};
    }

    bool supports(const Operation&) const override { return true; }

    std::string precisionOf(const Operation& operation) const override
    {
        const auto* map = std::get_if<ScoreMapOp>(&operation);
        return std::string(scorePrecisionName(map && map->path == ScorePath::Tiles ? map->precision
                                                                                   : ScorePrecision::Double));
    }

    Result<void> run(const Operation& operation, std::stop_token stop) override
    {
        if (const auto usable = status(); !usable)
            return usable;
        if (stop.stop_requested())
            return Error{ErrorCode::Cancelled, "stopped", {}};
        if (const auto* rotate = std::get_if<RotateOp>(&operation)) {
            runRotate(*rotate);
            return {};
        }
        if (const auto* contribution = std::get_if<PairContributionOp>(&operation)) {
            runContribution(*contribution);
            return {};
        }
        Result<void> done;
        if (const auto* decay = std::get_if<DecayOp>(&operation))
            done = m_kernels->decay(*decay, m_workers, stop);
        else if (const auto* table = std::get_if<DistanceTableOp>(&operation))
            done = m_kernels->distanceTable(*table, m_workers, stop);
        else
            done = m_kernels->scoreMap(std::get<ScoreMapOp>(operation), m_workers, stop);
        m_workers.trim();
        return done;
    }

private:
    const CpuKernels* m_kernels;
    CpuWorkers m_workers;
};

} // namespace

std::unique_ptr<ComputeBackend> makeCpuBackend(CpuSettings settings)
{
    const std::vector<CpuLevel> levels = availableCpuLevels();
    if (!settings.level && !levels.empty())
        settings.level = levels.back();
    assert(!settings.level || std::find(levels.begin(), levels.end(), *settings.level) != levels.end());
    const int threads = settings.threads > 0 ? settings.threads : CpuWorkers::hardwareThreads();
    return std::make_unique<CpuBackend>(settings.level ? &cpuKernels(*settings.level) : nullptr, threads);
}

} // namespace ropewalk
