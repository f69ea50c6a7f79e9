// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace ropewalk {

/// The instruction sets that the kernels are built for. On x86-64 the levels of its ABI (v2: SSE4.2, v3: AVX2
/// and FMA, v4: AVX-512); elsewhere, and where the compiler lacks the means, one build for all.
enum class CpuLevel { Generic, V2, V3, V4 };

/// "v2", "v3", "v4", "generic": the word of `--cpu-level`.
std::string_view cpuLevelWord(CpuLevel level);

/// "x86-64-v3", "arm64", "generic": for people.
std::string_view cpuLevelName(CpuLevel level);

std::optional<CpuLevel> cpuLevelOf(std::string_view word);

/// The levels that are built and that this processor has, ascending. Empty on an x86-64 processor below v2.
std::vector<CpuLevel> availableCpuLevels();

} // namespace ropewalk
