// SPDX-License-Identifier: GPL-3.0-or-later
// Measures the kernels on a GPU against what limits them there, in one process: a copy on the device, a
// library's product. Prints the table that tests/bench/RESULTS.md keeps. Returns 77 where there is no GPU.
#include "gpu/cuda_backend.h"
#include "gpu/cuda_check.h"
#include "gpu/device_buffer.h"
#include "gpu/kernels/launch.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <functional>
#include <random>
#include <string>
#include <vector>

#if defined(ROPEWALK_HAS_CUBLAS)
#include <cublas_v2.h>
#endif

using namespace ropewalk;

namespace {

const CudaCalls& calls = cudaCalls();

double median(std::vector<double> numbers)
{
    std::sort(numbers.begin(), numbers.end());
    return numbers[numbers.size() / 2];
}

/// Milliseconds of `work` on the device, the median of eleven; each as many times as take two milliseconds.
double deviceMilliseconds(const std::function<void()>& work)
{
    cudaEvent_t begin, end;
    check(calls, cudaEventCreate(&begin));
    check(calls, cudaEventCreate(&end));
    const auto timeOf = [&](int times) {
        check(calls, cudaEventRecord(begin));
        for (int i = 0; i < times; ++i)
            work();
        check(calls, cudaEventRecord(end));
        check(calls, cudaEventSynchronize(end));
        check(calls, cudaGetLastError());
        float milliseconds = 0;
        check(calls, cudaEventElapsedTime(&milliseconds, begin, end));
        return static_cast<double>(milliseconds) / times;
    };
    timeOf(1); // loads the kernel
    const int times = std::clamp(static_cast<int>(2.0 / std::max(timeOf(1), 1e-4)), 1, 1000);
    std::vector<double> samples;
    for (int i = 0; i < 11; ++i)
        samples.push_back(timeOf(times));
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return median(samples);
}

double hostMilliseconds(int samples, const std::function<void()>& work)
{
    std::vector<double> times;
    for (int i = 0; i < samples; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        times.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    }
    return median(times);
}

std::string text(const char* format, double value)
{
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, format, value);
    return buffer;
}

void row(const std::string& operation, const std::string& ours, const std::string& limit,
         const std::string& ratio, const std::string& goal)
{
    std::printf("| %-61s | %14s | %24s | %6s | %-8s |\n", operation.c_str(), ours.c_str(), limit.c_str(),
                ratio.c_str(), goal.c_str());
    std::fflush(stdout);
}

std::vector<float> numbers(std::size_t count)
{
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    for (float& value : values)
        value = normal(random);
    return values;
}

void launches(DeviceBuffers& device)
{
    device.restart();
    double* const table = device.take<double>(1);
    const std::vector<double> theta{1.0};
    kernels::DistanceSums sums;
    sums.re = sums.im = sums.invFreq = device.copyOf(theta);
    sums.pairs = 1;
    double result = 0.0;
    const double milliseconds = hostMilliseconds(101, [&] {
        kernels::launchDistanceTable(sums, 0, 1, table);
        device.toHost(std::span(&result, 1), table);
    });
    row("a launch, and one number back", text("%.1f us", milliseconds * 1e3), "", "", "");
}

void rotations(DeviceBuffers& device, std::size_t tokens, std::size_t heads)
{
    device.restart();
    constexpr std::size_t kDim = 128;
    const std::size_t count = tokens * heads * kDim;
    float* const in = device.take<float>(count);
    float* const out = device.take<float>(count);
    device.toDevice(in, std::span<const float>(numbers(count)));
    float* const cosine = device.take<float>(tokens * kDim / 2);
    float* const sine = device.take<float>(tokens * kDim / 2);
    std::vector<double> thetas;
    for (int i = 0; i < 64; ++i)
        thetas.push_back(std::pow(10000.0, -i / 64.0));
    kernels::launchTurnTable(device.copyOf(thetas), 64, 0.0, 1.0, static_cast<std::int64_t>(tokens), 1.0,
                             cosine, sine);
    const double copy = deviceMilliseconds(
        [&] { cudaMemcpyAsync(out, in, count * sizeof(float), cudaMemcpyDeviceToDevice); });
    for (const bool isHalf : {true, false}) {
        std::vector<int> pairs;
        for (int i = 0; i < 64; ++i)
            pairs.insert(pairs.end(), {isHalf ? i : 2 * i, isHalf ? i + 64 : 2 * i + 1});
        const kernels::RowLayout layout{kDim, kDim, device.copyOf(pairs), 64, nullptr, 0};
        for (const bool isInPlace : {false, true}) {
            const double ours = deviceMilliseconds([&] {
                kernels::launchRotateRows(in, isInPlace ? in : out, static_cast<std::int64_t>(tokens * heads),
                                          static_cast<int>(heads), layout, cosine, sine,
                                          kernels::Rounding::None);
            });
            const double gigabytes = 8.0 * static_cast<double>(count) * 1e-6;
            row("rotation [" + std::to_string(tokens) + "," + std::to_string(heads) + ",128] " +
                    (isHalf ? "half" : "interleaved") + (isInPlace ? ", in place" : ""),
                text("%.0f GB/s", gigabytes / ours), text("copy %.0f GB/s", gigabytes / copy),
                text("%.2f", copy / ours), ">= 0.75");
        }
    }
}

void products(DeviceBuffers& device, std::size_t length, std::size_t width)
{
    device.restart();
    const float* const queries = device.copyOf(numbers(length * width));
    const float* const keys = device.copyOf(numbers(length * width));
    float* const cells = device.take<float>(length * length);
    const double ours = deviceMilliseconds([&] {
        kernels::launchProduct(queries, static_cast<std::int64_t>(length), keys,
                               static_cast<std::int64_t>(length), static_cast<int>(width), cells);
    });
    const double tera = 2e-9 * static_cast<double>(length * length * width);
    std::string limit = "no cuBLAS here", ratio;
#if defined(ROPEWALK_HAS_CUBLAS)
    cublasHandle_t handle;
    if (cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS) {
        cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH); // float32 throughout
        const auto n = static_cast<int>(length), k = static_cast<int>(width);
        const float one = 1.0F, zero = 0.0F;
        // Columns first: K·Qᵀ of them is Q·Kᵀ of rows.
        const double theirs = deviceMilliseconds([&] {
            cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, k, &one, keys, k, queries, k, &zero, cells,
                        n);
        });
        cublasDestroy(handle);
        limit = text("cuBLAS %.1f TFLOP/s", tera / theirs);
        ratio = text("%.2f", theirs / ours);
    }
#endif
    row("scores " + std::to_string(length) + "^2, head_dim " + std::to_string(width) + ", FP32",
        text("%.1f TFLOP/s", tera / ours), limit, ratio, ">= 0.80");
}

/// A map of rows that have to be brought over, and then of the same ones: what a slider asks for.
void frame(ComputeBackend& backend, std::int64_t length, int width, int runs)
{
    const auto rows = numbers(static_cast<std::size_t>(length) * static_cast<std::size_t>(width));
    const std::vector<double> queries(rows.begin(), rows.end());
    std::vector<std::pair<int, int>> pairs;
    std::vector<double> thetas;
    for (int i = 0; i < width / 2; ++i) {
        pairs.emplace_back(i, i + width / 2);
        thetas.push_back(std::pow(500000.0, -2.0 * i / width));
    }
    ScoreTerm term;
    term.scale = 1.0 / std::sqrt(width);
    term.width = width;
    term.pairs = pairs;
    term.invFreq = thetas;
    term.queries = queries;
    term.keys = queries;
    ScoreMapOp op;
    op.grid = scoreGrid(length, {0, length}, {0, length}, 1024);
    op.stage = ScoreStage::Softmax;
    op.precision = ScorePrecision::Single;
    op.terms = {&term, 1};
    const auto blocks = static_cast<std::size_t>(op.grid.rowBlocks * op.grid.columnBlocks);
    std::vector<double> mean(blocks), greatest(blocks), entropy(static_cast<std::size_t>(length));
    op.mean = mean;
    op.greatest = greatest;
    op.rowValue = entropy;
    const auto run = [&] {
        if (const Result<void> done = backend.run(op, {}); !done)
            throw CudaFailure{done.error()};
    };
    static std::uint64_t lastId = 0;
    const double first = hostMilliseconds(runs, [&] {
        term.queriesAre.id = ++lastId;
        term.keysAre.id = ++lastId;
        run();
    });
    const double again = hostMilliseconds(runs, run);
    // Two passes over the lower half.
    const double tera = 4e-9 * static_cast<double>(length) * static_cast<double>(length) / 2 * width;
    const std::string what =
        "softmax " + std::to_string(length) + "^2 to 1024^2, head_dim " + std::to_string(width);
    row("frame of new rows: " + what, text("%.1f ms", first), "", "", "");
    row("frame: " + what, text("%.1f ms", again), text("%.1f TFLOP/s of two passes", tera / again), "", "");
}

} // namespace

int main()
{
    const auto backend = makeCudaBackend();
    if (const Result<void> status = backend->status(); !status) {
        std::printf("not run: %s\n", toEnglish(status.error()).c_str());
        return 77;
    }
    std::printf("%s\n\n", backend->info().device.c_str());
    std::printf("| %-61s | %14s | %24s | %6s | %-8s |\n|---|---|---|---|---|\n", "operation", "ours", "limit",
                "ratio", "goal");
    try {
        DeviceBuffers device(calls);
        launches(device);
        rotations(device, 2048, 8);
        rotations(device, 4096, 32);
        for (const std::size_t width : {std::size_t{64}, std::size_t{128}})
            for (const std::size_t length : {std::size_t{4096}, std::size_t{8192}})
                products(device, length, width);
        device.releaseAll();
        frame(*backend, 4096, 128, 11);
        frame(*backend, 131072, 64, 3);
        frame(*backend, 131072, 128, 3);
    } catch (const CudaFailure& failure) {
        std::fprintf(stderr, "error: %s\n", toEnglish(failure.error).c_str());
        return 1;
    }
    return 0;
}
