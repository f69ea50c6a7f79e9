// SPDX-License-Identifier: GPL-3.0-or-later
// What runs the kernels in the tests, tested itself: it computes what CUDA would, and faults show in it.
#include "gpu/kernels/grid.cuh"
#include "gpu/kernels/launch.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <vector>

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

/// Sums of blocks, first within the warps by exchange, then over them through shared memory.
__global__ void blockSums(const double* numbers, double* sums)
{
    __shared__ double ofWarp[4];
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    double sum = numbers[block * 128 + thread];
    for (int apart = 16; apart > 0; apart /= 2)
        sum += __shfl_xor_sync(0xFFFFFFFFU, sum, apart);
    if (thread % 32 == 0)
        ofWarp[thread / 32] = sum;
    __syncthreads();
    if (thread == 0)
        sums[block] = ofWarp[0] + ofWarp[1] + ofWarp[2] + ofWarp[3];
}

void barriersAndExchanges()
{
    const dim3 grid(2, 3, 2), block(16, 8);
    std::vector<double> numbers(12 * 128), sums(12);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = static_cast<double>(i * i % 1000);
    ROPEWALK_LAUNCH(blockSums, grid, block, 0, numbers.data(), sums.data());
    for (std::size_t k = 0; k < sums.size(); ++k) {
        double expected = 0;
        for (std::size_t i = 0; i < 128; ++i)
            expected += numbers[k * 128 + i];
        check(sums[k] == expected, "sum of block " + std::to_string(k));
    }
}

/// The last rows of a map of more than 2^31 numbers: only they are there, at the end of an array that is not.
void indicesPastThirtyTwoBits()
{
    using namespace ropewalk;
    constexpr std::int64_t kRows = (std::int64_t{1} << 31) + 5, kFirst = kRows - 5;
    constexpr int kWidth = 4;
    std::vector<float> in(5 * kWidth), out(in.size(), -7.0F);
    for (std::size_t i = 0; i < in.size(); ++i)
        in[i] = static_cast<float>(i + 1);
    const std::vector<int> pairs{0, 2, 1, 3};
    const std::vector<double> theta{0.5, 0.25};
    std::vector<float> cosine(10), sine(10);
    const auto before = [](auto* array, std::int64_t numbers) {
        return reinterpret_cast<decltype(array)>(reinterpret_cast<std::uintptr_t>(array) -
                                                 static_cast<std::uintptr_t>(numbers) * sizeof *array);
    };
    shim::firstBlock = static_cast<std::uint64_t>(kFirst) * 2 / kernels::kThreads;
    kernels::launchTurnTable(theta.data(), 2, 0.0, 1.0, kRows, 1.0, before(cosine.data(), kFirst * 2),
                             before(sine.data(), kFirst * 2));
    shim::firstBlock = static_cast<std::uint64_t>(kFirst / 8);
    const kernels::RowLayout layout{kWidth, kWidth, pairs.data(), 2, nullptr, 0};
    kernels::launchRotateRows(before(in.data(), kFirst * kWidth), before(out.data(), kFirst * kWidth), kRows,
                              1, layout, before(cosine.data(), kFirst * 2), before(sine.data(), kFirst * 2),
                              kernels::Rounding::None);
    shim::firstBlock = 0;
    for (std::size_t row = 0; row < 5; ++row)
        for (std::size_t i = 0; i < 2; ++i) {
            const double angle = static_cast<double>(kFirst + static_cast<std::int64_t>(row)) * theta[i];
            const double x = in[row * kWidth + i], y = in[row * kWidth + i + 2];
            check(std::fabs(out[row * kWidth + i] - (x * std::cos(angle) - y * std::sin(angle))) < 2e-5 &&
                      std::fabs(out[row * kWidth + i + 2] - (x * std::sin(angle) + y * std::cos(angle))) <
                          2e-5,
                  "row " + std::to_string(row) + " past 2^31");
        }
}

struct Outcome
{
    bool isFine = false;
    std::string text;
};

Outcome outcomeOf(const std::string& command)
{
    Outcome outcome;
    FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
    check(pipe != nullptr, "a program can be started");
    char part[4096];
    while (const std::size_t read = std::fread(part, 1, sizeof part, pipe))
        outcome.text.append(part, read);
    outcome.isFine = pclose(pipe) == 0;
    return outcome;
}

/// `says` empty: fine.
void expectOutcome(std::string program, const std::string& fault, const std::string& says)
{
    Outcome outcome = outcomeOf(program + ' ' + fault);
    // The thread sanitizer of older compilers cannot work with the address randomisation of newer kernels.
    if (outcome.text.find("unexpected memory mapping") != std::string::npos)
        outcome = outcomeOf("setarch -R " + program + ' ' + fault);
    const bool isExpected =
        says.empty() ? outcome.isFine : !outcome.isFine && outcome.text.find(says) != std::string::npos;
    if (!isExpected)
        std::fprintf(stderr, "%s\n", outcome.text.c_str());
    check(isExpected, program + ' ' + fault + (says.empty() ? " finds nothing" : " says " + says));
}

void plantedFaultsShow()
{
    [[maybe_unused]] const std::string none;
#if defined(ROPEWALK_PLANTED_RACE)
    expectOutcome(ROPEWALK_PLANTED_RACE, "right", none);
    expectOutcome(ROPEWALK_PLANTED_RACE, "race", "data race");
#else
    std::puts("no thread sanitizer here: the planted race was not looked for");
#endif
#if defined(ROPEWALK_PLANTED_BOUNDS)
    expectOutcome(ROPEWALK_PLANTED_BOUNDS, "right", none);
    expectOutcome(ROPEWALK_PLANTED_BOUNDS, "shared", "global-buffer-overflow");
    expectOutcome(ROPEWALK_PLANTED_BOUNDS, "dynamic", "heap-buffer-overflow");
    expectOutcome(ROPEWALK_PLANTED_BOUNDS, "global", "heap-buffer-overflow");
#else
    std::puts("no address sanitizer here: the planted writes out of bounds were not looked for");
#endif
}

} // namespace

int main()
{
    barriersAndExchanges();
    indicesPastThirtyTwoBits();
    plantedFaultsShow();
    std::printf("checked: %d numbers against references, loops in long double and invariants\n", checked);
    return 0;
}
