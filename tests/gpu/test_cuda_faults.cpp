// SPDX-License-Identifier: GPL-3.0-or-later
// What goes wrong on a GPU, put in the way of the backend: each is one sentence, the processor takes over,
// and its result is right.
#include "core/cpu_backend.h"
#include "core/engine.h"
#include "gpu/cuda_calls.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace ropewalk;

namespace {

int checked = 0;

void check(bool holds, const std::string& what)
{
    ++checked;
    if (!holds) {
        std::fprintf(stderr, "FAILED: %s\n", what.c_str());
        std::exit(1);
    }
}

void equal(const std::string& actual, const std::string& expected)
{
    check(actual == expected, '"' + actual + "\" instead of \"" + expected + '"');
}

/// A map that the backend thinks worthwhile, and its numbers by hand: every query and key is (1, 1), nothing
/// turns.
struct Map
{
    static constexpr std::int64_t kLength = 1100;
    std::vector<double> rows = std::vector<double>(kLength * 2, 1.0);
    std::vector<double> mean;
    ScoreTerm term;
    ScoreMapOp op;

    Map()
    {
        op.grid = scoreGrid(kLength, {0, kLength}, {0, kLength}, 2);
        mean.assign(static_cast<std::size_t>(op.grid.rowBlocks * op.grid.columnBlocks), -7.0);
        op.precision = ScorePrecision::Single;
        term.width = 2;
        term.queries = rows;
        term.keys = rows;
        op.terms = {&term, 1};
        op.mean = mean;
    }

    bool isRight() const { return mean[0] == 2.0 && std::isnan(mean[1]) && mean[2] == 2.0 && mean[3] == 2.0; }
};

/// The backend over `calls`, then the processor.
std::vector<std::unique_ptr<ComputeBackend>> backends(const CudaCalls& calls)
{
    std::vector<std::unique_ptr<ComputeBackend>> list;
    list.push_back(makeCudaBackend(calls));
    list.push_back(makeCpuBackend());
    return list;
}

void withoutAFault()
{
    Engine engine(backends(cudaCalls()));
    Map map;
    double progress = 0.0;
    map.op.progress = [&](double share) { progress = share; };
    const Result<Provenance> done = engine.run(map.op);
    check(done && map.isRight() && progress == 1.0, "the map is right");
    equal(done->backend, "cuda");
    equal(done->precision, "single");
    equal(toEnglish(done->fallbackReason), "");
    check(done->device.find("stand-in") != std::string::npos, "the device is named");
}

/// The sentence is in status() before anything ran.
void expectUnusable(const CudaCalls& calls, const std::string& sentence)
{
    const auto backend = makeCudaBackend(calls);
    equal(backend->info().device, "not asked yet");
    const Result<void> status = backend->status();
    check(!status && status.error().code == ErrorCode::NotAvailable, "not available: " + sentence);
    equal(toEnglish(status.error()), sentence);
    equal(backend->info().device, "no device");
    Map map;
    check(!backend->run(map.op, {}), "it does not run");

    Engine engine(backends(calls));
    const Result<Provenance> done = engine.run(map.op);
    check(done && map.isRight(), "the processor took over: " + sentence);
    equal(done->backend, "cpu");
    equal(toEnglish(done->fallbackReason), sentence);
}

void unusableMachines()
{
    CudaCalls calls = cudaCalls();
    calls.driverVersion = [](int* version) { return *version = 0; };
    expectUnusable(calls, "this machine has no NVIDIA driver");

    calls = cudaCalls();
    calls.driverVersion = [](int* version) {
        *version = 11040;
        return 0;
    };
    calls.deviceCount = [](int*) { return 35; }; // as the runtime does: the count is left alone
    expectUnusable(calls, "the NVIDIA driver is too old: it is for CUDA 11.4, and 13.0 is needed");

    calls = cudaCalls();
    calls.deviceCount = [](int*) { return 100; };
    expectUnusable(calls, "this machine has no NVIDIA GPU");
    calls.deviceCount = [](int*) { return 0; };
    expectUnusable(calls, "this machine has no NVIDIA GPU");

    calls.deviceCount = [](int*) { return 802; };
    expectUnusable(calls, "the NVIDIA driver does not answer (an error of the tests)");

    calls = cudaCalls();
    calls.describeDevice = [](CudaDevice* device) {
        *device = {"NVIDIA GeForce GTX 1080", std::uint64_t{8} << 30, 6, 1};
        return 0;
    };
    expectUnusable(calls,
                   "NVIDIA GeForce GTX 1080 is too old: it has compute capability 6.1, and 7.5 is needed");
}

int driverCalls = 0;

/// What the GPU would not win is computed without starting the driver.
void curvesDoNotWaitForTheDriver()
{
    CudaCalls calls = cudaCalls();
    calls.driverVersion = [](int* version) {
        ++driverCalls;
        return cudaCalls().driverVersion(version);
    };
    Engine engine(backends(calls));
    const std::vector<double> theta{0.5};
    std::vector<double> cosine(10);
    DecayOp op;
    op.invFreq = theta;
    op.pairCount = 1;
    op.cosineSum = cosine;
    const Result<Provenance> done = engine.run(op);
    check(done && done->backend == "cpu" && driverCalls == 0, "the driver is left alone");
    equal(toEnglish(done->fallbackReason), ""); // nothing fell back
    Map map;
    check(engine.run(map.op).hasValue() && driverCalls == 1, "until a map is worth it");
}

int callsLeft = 0; ///< that go well

/// Fails in the call after `good` ones.
void expectFailure(const CudaCalls& calls, int good, const std::string& sentence)
{
    callsLeft = good;
    Engine engine(backends(calls));
    Map map;
    const Result<Provenance> done = engine.run(map.op);
    check(done && map.isRight(), "the processor took over: " + sentence);
    equal(done->backend, "cpu");
    equal(toEnglish(done->fallbackReason), sentence);
    // The engine asks no more, and says the same.
    const Result<Provenance> again = engine.run(map.op);
    check(again && again->backend == "cpu", "not asked again");
    equal(toEnglish(again->fallbackReason), sentence);
    check(!engine.report()[0].isUsable, "reported as down");

    // Asked for by name it is an error.
    callsLeft = good;
    std::vector<std::unique_ptr<ComputeBackend>> alone;
    alone.push_back(makeCudaBackend(calls));
    Engine only(std::move(alone), false);
    const Result<Provenance> failed = only.run(map.op);
    check(!failed && failed.error().code == ErrorCode::RunFailed, "an error: " + sentence);
}

void failuresInMidRun()
{
    for (const int good : {0, 3, 12}) {
        CudaCalls calls = cudaCalls();
        calls.allocate = [](void** memory, std::size_t bytes) {
            return callsLeft-- > 0 ? cudaCalls().allocate(memory, bytes) : 2;
        };
        expectFailure(calls, good, "the GPU has too little free memory for this");

        calls = cudaCalls();
        calls.toDevice = [](void* to, const void* from, std::size_t bytes) {
            return callsLeft-- > 0 ? cudaCalls().toDevice(to, from, bytes) : 999;
        };
        expectFailure(calls, std::min(good, 3), "the GPU was lost (an error of the tests)");
    }
    CudaCalls calls = cudaCalls();
    calls.synchronize = [] { return 700; };
    expectFailure(calls, 0, "the GPU failed while it computed (an error of the tests)");
    calls = cudaCalls();
    calls.lastError = [] { return callsLeft-- > 0 ? 0 : 98; };
    expectFailure(calls, 1, "the GPU failed while it computed (an error of the tests)");
    calls = cudaCalls();
    calls.toHost = [](void*, const void*, std::size_t) { return 46; };
    expectFailure(calls, 0, "the GPU was lost (an error of the tests)");
    calls = cudaCalls();
    calls.useDevice = [] { return 35; };
    expectFailure(calls, 0, "the GPU failed while it computed (an error of the tests)");
}

void afterAFailureTheBackendWorksAgain()
{
    CudaCalls calls = cudaCalls();
    calls.synchronize = [] { return callsLeft-- > 0 ? 0 : 2; };
    const auto backend = makeCudaBackend(calls);
    callsLeft = 0;
    Map map;
    check(!backend->run(map.op, {}), "it fails");
    callsLeft = 100;
    check(backend->run(map.op, {}).hasValue() && map.isRight(), "and then works");
}

void stops()
{
    std::stop_source source;
    const auto backend = makeCudaBackend(cudaCalls());
    Map map;
    // Rows of 100 000 keys make strips of some thousand.
    map.op.grid.length = 200'000;
    map.op.grid.block = 1;
    map.op.grid.firstRowBlock = 190'000;
    map.op.grid.rowBlocks = 3000;
    map.op.grid.columnBlocks = 1;
    map.rows.assign(2 * 3000, 1.0);
    map.term.queries = map.rows;
    map.term.keys = map.rows;
    map.mean.assign(3000, 0.0);
    map.op.mean = map.mean;
    int strips = 0;
    map.op.progress = [&](double) {
        ++strips;
        source.request_stop();
    };
    const Result<void> done = backend->run(map.op, source.get_token());
    check(!done && done.error().code == ErrorCode::Cancelled && strips == 1, "stopped after the first strip");
}

void picksWhatItWins()
{
    const auto backend = makeCudaBackend(cudaCalls());
    Map map;
    check(backend->isWorthwhile(map.op), "a map of 1100 by 1100");
    map.op.precision = ScorePrecision::Double;
    check(!backend->isWorthwhile(map.op), "not in double");
    check(backend->precisionOf(map.op) == "double", "double is said");
    map.op.precision = ScorePrecision::Bf16;
    check(backend->precisionOf(map.op) == "bfloat16", "bfloat16 is said");
    map.op.path = ScorePath::PooledProduct;
    check(!backend->isWorthwhile(map.op), "not by means");
    check(backend->precisionOf(map.op) == "double", "other paths are double");
    map.op.path = ScorePath::Tiles;
    map.op.grid.rowBlocks = 1; // 550 rows
    check(!backend->isWorthwhile(map.op), "not a small one");
    map.op.grid.rowBlocks = 2;
    const std::vector<double> table(1100, 1.0);
    map.term.table = table;
    check(!backend->isWorthwhile(map.op), "not by distance");
    map.term.table = {};
    const std::vector<double> rates{-2.0};
    const std::vector<std::pair<int, int>> pairs{{0, 1}};
    map.term.dampingRate = rates;
    map.term.pairs = pairs;
    check(!backend->supports(map.op), "not a damping that leaves a float's range");
    check(!backend->isWorthwhile(DecayOp{}) && backend->supports(DecayOp{}), "curves only when asked");
}

} // namespace

int main()
{
    withoutAFault();
    unusableMachines();
    curvesDoNotWaitForTheDriver();
    failuresInMidRun();
    afterAFailureTheBackendWorksAgain();
    stops();
    picksWhatItWins();
    std::printf("checked: %d numbers against references, loops in long double and invariants\n", checked);
    return 0;
}
