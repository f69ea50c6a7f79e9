// SPDX-License-Identifier: GPL-3.0-or-later
// parity [--small] BACKEND…
#include "parity.h"

#include "core/cpu_backend.h"
#include "gpu/cuda_backend.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace ropewalk::parity {

void Checks::near(const std::string& what, double actual, long double expected, long double bound)
{
    ++m_count;
    if (std::isnan(expected) ? std::isnan(actual) : std::fabs(actual - expected) <= bound)
        return;
    if (++m_failures <= 20)
        std::fprintf(stderr, "FAILED %s, %s: %.17g instead of %.17Lg, allowed %.3Lg\n", m_backend.c_str(),
                     what.c_str(), actual, expected, bound);
}

void Checks::holds(const std::string& what, bool isTrue)
{
    ++m_count;
    if (!isTrue && ++m_failures <= 20)
        std::fprintf(stderr, "FAILED %s, %s\n", m_backend.c_str(), what.c_str());
}

std::vector<std::pair<int, int>> pairsOf(Layout layout, int rotary)
{
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < rotary / 2; ++i) {
        if (layout == Layout::Half)
            pairs.emplace_back(i, i + rotary / 2);
        else
            pairs.emplace_back(2 * i, 2 * i + 1);
    }
    return pairs;
}

std::vector<double> plainFrequencies(int rotary)
{
    std::vector<double> thetas;
    for (int i = 0; i < rotary / 2; ++i)
        thetas.push_back(std::pow(10000.0, -2.0 * i / rotary));
    return thetas;
}

std::vector<double> gaussianNumbers(std::mt19937& random, std::size_t count)
{
    std::normal_distribution<double> normal;
    std::vector<double> numbers(count);
    for (double& number : numbers)
        number = normal(random);
    return numbers;
}

} // namespace ropewalk::parity

int main(int argc, char** argv)
{
    using namespace ropewalk;
    using namespace ropewalk::parity;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    bool isSmall = true; // a thread, or a stack that is watched, for each of CUDA's
#else
    bool isSmall = false;
#endif
    long count = 0, failures = 0;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--small") {
            isSmall = true;
            continue;
        }
        std::vector<std::unique_ptr<ComputeBackend>> backends;
        if (word != "cpu")
            backends.push_back(makeCudaBackend());
        else if (isSmall)
            backends.push_back(makeCpuBackend());
        else
            for (const CpuLevel level : availableCpuLevels())
                backends.push_back(makeCpuBackend({level}));
        for (const auto& backend : backends) {
            if (const Result<void> status = backend->status(); !status) {
                std::printf("not run: %s\n", toEnglish(status.error()).c_str());
                return 77;
            }
            Checks checks(word);
            operationCases(*backend, checks, isSmall);
            mapCases(*backend, checks, isSmall);
            if (word == "cuda")
                kernelCases(cudaCalls(), checks, isSmall);
            std::printf("%s (%s): %ld numbers, %ld wrong\n", word.c_str(), backend->info().device.c_str(),
                        checks.count(), checks.failures());
            count += checks.count();
            failures += checks.failures();
        }
    }
    if (count == 0) {
        std::fprintf(stderr, "parity [--small] cpu|cuda …\n");
        return 2;
    }
    std::printf("checked: %ld numbers against references, loops in long double and invariants\n", count);
    return failures == 0 ? 0 : 1;
}
