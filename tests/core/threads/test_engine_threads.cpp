// SPDX-License-Identifier: GPL-3.0-or-later
// One engine used from two threads, and stopped from a third. Without Qt: see CMakeLists.txt.
#include "core/cpu_backend.h"
#include "core/engine.h"
#include "core/frequency_rules.h"

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>

using namespace ropewalk;

namespace {

void check(bool holds, const char* what)
{
    if (!holds) {
        std::fprintf(stderr, "FAILED: %s\n", what);
        std::exit(1);
    }
}

/// Fails in its third run, so that the engine's list changes while others wait for it.
class FailingLater final : public ComputeBackend
{
public:
    Info info() const override { return {"cuda", "a device that fails later", "float"}; }
    Result<void> status() const override { return {}; }
    bool supports(const Operation&) const override { return true; }
    Result<void> run(const Operation& operation, std::stop_token stop) override
    {
        if (++m_runs >= 3)
            return Error{ErrorCode::RunFailed, "it broke", {}};
        return m_processor->run(operation, stop);
    }

private:
    std::unique_ptr<ComputeBackend> m_processor = makeCpuBackend();
    int m_runs = 0; // not atomic: the engine promises one caller at a time
};

std::vector<std::unique_ptr<ComputeBackend>> backends()
{
    std::vector<std::unique_ptr<ComputeBackend>> list;
    list.push_back(std::make_unique<FailingLater>());
    list.push_back(makeCpuBackend());
    return list;
}

void twoThreadsComputeAtOnce()
{
    Engine engine(backends());
    std::atomic<int> right = 0;
    const auto work = [&](double theta) {
        for (int round = 0; round < 20; ++round) {
            const std::vector<double> invFreq{theta};
            std::vector<double> cosine(2000, 0.0);
            DecayOp op;
            op.invFreq = invFreq;
            op.pairCount = 1;
            op.cosineSum = cosine;
            const Result<Provenance> done = engine.run(op);
            check(done.hasValue(), "a run of two at once succeeds");
            check(std::fabs(cosine[1999] - std::cos(1999.0 * theta)) < 1e-10, "and its result is its own");
            check(engine.report().size() == 2, "the list can be read meanwhile");
            ++right;
        }
    };
    {
        std::jthread one(work, 1.0);
        std::jthread other(work, 0.25);
    }
    check(right == 40, "all runs came back");
    check(!engine.report()[0].isUsable && engine.report()[1].isUsable, "the broken device is known");
}

void aThirdThreadStops()
{
    std::vector<std::unique_ptr<ComputeBackend>> list;
    list.push_back(makeCpuBackend());
    Engine engine(std::move(list));
    const FrequencyTable table = frequencyTable(RopeConfig{});
    std::stop_source stop;
    std::atomic<int> cancelled = 0;
    const auto work = [&] {
        std::vector<double> cosine(5'000'000);
        DecayOp op;
        op.invFreq = table.scaled;
        op.pairCount = 64;
        op.cosineSum = cosine;
        const Result<Provenance> done = engine.run(op, stop.get_token());
        check(!done && done.error().code == ErrorCode::Cancelled, "a stopped run says so");
        ++cancelled;
    };
    {
        std::jthread one(work);
        std::jthread other(work);
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        stop.request_stop();
    }
    check(cancelled == 2, "the running and the waiting one were both stopped");
    check(engine.report()[0].isUsable, "a stop is no failure");
}

} // namespace

int main()
{
    twoThreadsComputeAtOnce();
    aThirdThreadStops();
    std::puts("engine_threads: 2 cases passed");
    return 0;
}
