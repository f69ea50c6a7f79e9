// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "compute_backend.h"
#include "cpu_level.h"

#include <memory>
#include <optional>

namespace ropewalk {

struct CpuSettings
{
    std::optional<CpuLevel> level = std::nullopt; ///< one of availableCpuLevels(); none: the highest of them
    int threads = 0;                              ///< that compute; 0: as many as the processor has
};

/// The processor: always there, supports every operation, polls the stop between strips of a few
/// milliseconds. The same numbers to the bit for any number of threads; levels differ in rounding.
std::unique_ptr<ComputeBackend> makeCpuBackend(CpuSettings settings = {});

} // namespace ropewalk
