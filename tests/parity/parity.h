// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Operations of a backend against sums in long double that use nothing of the program but the operations'
// structs.

#include "core/compute_backend.h"
#include "gpu/cuda_calls.h"

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace ropewalk::parity {

/// Counts and judges; one a backend.
class Checks
{
public:
    explicit Checks(std::string backend)
        : m_backend(std::move(backend))
    {
    }

    /// |actual - expected| ≤ bound, or both NaN.
    void near(const std::string& what, double actual, long double expected, long double bound);
    /// Something that is true or not.
    void holds(const std::string& what, bool isTrue);

    long count() const { return m_count; }
    long failures() const { return m_failures; }

private:
    std::string m_backend;
    long m_count = 0, m_failures = 0;
};

enum class Layout { Half, Interleaved };

/// The first `rotary` channels of a head in pairs.
std::vector<std::pair<int, int>> pairsOf(Layout layout, int rotary);
/// 10000^(-2i/rotary).
std::vector<double> plainFrequencies(int rotary);
std::vector<double> gaussianNumbers(std::mt19937& random, std::size_t count);

/// Each adds its cases. `isSmall`: a selection, for runs that are slow by their nature (sanitizers,
/// checkers).
void operationCases(ComputeBackend& backend, Checks& checks, bool isSmall);
void mapCases(ComputeBackend& backend, Checks& checks, bool isSmall);
/// The launchers themselves, where no operation of a backend reaches all that they can.
void kernelCases(const CudaCalls& calls, Checks& checks, bool isSmall);

} // namespace ropewalk::parity
