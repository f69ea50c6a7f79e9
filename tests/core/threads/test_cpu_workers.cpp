// SPDX-License-Identifier: GPL-3.0-or-later
// The processor's threads: every task once, the same bits for any number of them, stopped from elsewhere.
// Without Qt: see CMakeLists.txt.
#include "core/cpu_backend.h"
#include "core/cpu_workers.h"

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

using namespace ropewalk;

namespace {

void check(bool holds, const char* what)
{
    if (!holds) {
        std::fprintf(stderr, "FAILED: %s\n", what);
        std::exit(1);
    }
}

void everyTaskRunsOnce()
{
    for (const int threads : {1, 2, 5}) {
        CpuWorkers workers(threads);
        for (const std::int64_t tasks : {0, 1, 2, 3, 100, 1000}) {
            std::vector<int> runs(static_cast<std::size_t>(tasks)); // not atomic: one task each
            workers.forEach(tasks, [&](std::int64_t index, int worker) {
                check(0 <= worker && worker < threads, "a worker's number");
                double* own = workers.scratch<double>(worker, 0, 10 + index % 7);
                check(reinterpret_cast<std::uintptr_t>(own) % 64 == 0,
                      "scratch lies on a border of 64 bytes");
                own[9] = static_cast<double>(index); // nobody else's
                ++runs[static_cast<std::size_t>(index)];
                check(own[9] == static_cast<double>(index), "scratch is a worker's own");
            });
            for (const int count : runs)
                check(count == 1, "every task runs once");
        }
    }
}

struct Map
{
    static constexpr std::int64_t kLength = 700;
    static constexpr int kWidth = 16;
    std::vector<double> rows, theta, mean, greatest, rowValue;
    std::vector<std::pair<int, int>> pairs;
    std::vector<std::int64_t> count;
    ScoreTerm term;
    ScoreMapOp op;

    Map(ScorePath path, ScoreStage stage, ScorePrecision precision)
        : rows(static_cast<std::size_t>(kLength * kWidth))
    {
        for (std::size_t i = 0; i < rows.size(); ++i)
            rows[i] = std::sin(static_cast<double>(i * i % 9973));
        for (int i = 0; i < kWidth / 2; ++i) {
            theta.push_back(std::pow(100.0, -2.0 * i / kWidth));
            pairs.emplace_back(i, i + kWidth / 2);
        }
        op.grid = scoreGrid(kLength, {0, kLength}, {0, kLength}, 100);
        const auto blocks = static_cast<std::size_t>(op.grid.rowBlocks * op.grid.columnBlocks);
        mean.resize(blocks);
        count.resize(blocks);
        rowValue.resize(static_cast<std::size_t>(kLength));
        term.width = kWidth;
        term.pairs = pairs;
        term.invFreq = theta;
        term.queries = rows;
        term.keys = rows;
        op.terms = {&term, 1};
        op.path = path;
        op.stage = stage;
        op.precision = precision;
        op.mean = mean;
        op.count = count;
        op.rowValue = rowValue;
        if (path == ScorePath::Tiles) {
            greatest.resize(blocks);
            op.greatest = greatest;
        }
    }
};

bool areSame(const std::vector<double>& a, const std::vector<double>& b)
{
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

void mapsAreTheSameOnAnyNumber()
{
    const auto compare = [](ScorePath path, ScoreStage stage, ScorePrecision precision) {
        Map one(path, stage, precision);
        check(makeCpuBackend({std::nullopt, 1})->run(one.op, {}).hasValue(), "one thread computes");
        for (const int threads : {2, 3}) {
            Map several(path, stage, precision);
            std::vector<double> shares; // on the caller's thread only
            several.op.progress = [&](double share) { shares.push_back(share); };
            const auto backend = makeCpuBackend({std::nullopt, threads});
            for (int round = 0; round < 3; ++round)
                check(backend->run(several.op, {}).hasValue(), "several threads compute");
            check(areSame(one.mean, several.mean) && areSame(one.greatest, several.greatest) &&
                      areSame(one.rowValue, several.rowValue) && one.count == several.count,
                  "the same bits");
            for (const double share : shares)
                check(share > 0.0 && share <= 1.0, "progress is a share");
        }
    };
    compare(ScorePath::PooledProduct, ScoreStage::Raw, ScorePrecision::Double);
    for (const ScoreStage stage : {ScoreStage::Raw, ScoreStage::Softmax})
        for (const ScorePrecision precision : {ScorePrecision::Double, ScorePrecision::Single})
            compare(ScorePath::Tiles, stage, precision);
}

void decayIsTheSameOnAnyNumber()
{
    std::vector<double> theta, first, second;
    for (int i = 0; i < 8; ++i)
        theta.push_back(std::pow(1e4, -i / 8.0));
    for (const int threads : {1, 4}) {
        std::vector<double>& into = threads == 1 ? first : second;
        into.resize(200'000);
        DecayOp op;
        op.invFreq = theta;
        op.pairCount = 10;
        op.boundFactor = into;
        check(makeCpuBackend({std::nullopt, threads})->run(op, {}).hasValue(), "the decay is computed");
    }
    check(areSame(first, second), "the same bits of the decay");
}

void stopsFromElsewhere()
{
    Map map(ScorePath::Tiles, ScoreStage::Softmax, ScorePrecision::Double);
    const auto backend = makeCpuBackend({std::nullopt, 3});
    int cancelled = 0;
    for (int round = 0; round < 20; ++round) {
        std::stop_source stop;
        std::jthread stopper([&] {
            for (int i = 0; i < round * 10; ++i)
                std::this_thread::yield();
            stop.request_stop();
        });
        const Result<void> done = backend->run(map.op, stop.get_token());
        check(done.hasValue() || done.error().code == ErrorCode::Cancelled, "cancelled or done");
        cancelled += done ? 0 : 1;
    }
    std::printf("%d of 20 runs were cancelled\n", cancelled);
}

} // namespace

int main()
{
    everyTaskRunsOnce();
    mapsAreTheSameOnAnyNumber();
    decayIsTheSameOnAnyNumber();
    stopsFromElsewhere();
    std::printf("done\n");
    return 0;
}
