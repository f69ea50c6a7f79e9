// SPDX-License-Identifier: GPL-3.0-or-later
#include "cpu_level.h"

#include "kernels/kernels.h"

#include <array>
#include <cassert>

namespace ropewalk {

// One a level, in an object of its own (kernels/kernels.cmake).
#if defined(ROPEWALK_CPU_LEVELS)
const CpuKernels& cpuKernelsV2();
const CpuKernels& cpuKernelsV3();
const CpuKernels& cpuKernelsV4();
#else
const CpuKernels& cpuKernelsGeneric();
#endif

namespace {

constexpr std::array kLevels{CpuLevel::Generic, CpuLevel::V2, CpuLevel::V3, CpuLevel::V4};

} // namespace

std::string_view cpuLevelWord(CpuLevel level)
{
    switch (level) {
    case CpuLevel::Generic:
        return "generic";
    case CpuLevel::V2:
        return "v2";
    case CpuLevel::V3:
        return "v3";
    case CpuLevel::V4:
        return "v4";
    }
    return {};
}

std::string_view cpuLevelName(CpuLevel level)
{
    switch (level) {
    case CpuLevel::Generic:
#if defined(__x86_64__)
        return "x86-64";
#elif defined(__aarch64__)
        return "arm64";
#else
        return "generic";
#endif
    case CpuLevel::V2:
        return "x86-64-v2";
    case CpuLevel::V3:
        return "x86-64-v3";
    case CpuLevel::V4:
        return "x86-64-v4";
    }
    return {};
}

std::optional<CpuLevel> cpuLevelOf(std::string_view word)
{
    for (const CpuLevel level : kLevels)
        if (cpuLevelWord(level) == word)
            return level;
    return std::nullopt;
}

std::vector<CpuLevel> availableCpuLevels()
{
#if defined(ROPEWALK_CPU_LEVELS)
    std::vector<CpuLevel> levels;
    if (__builtin_cpu_supports("x86-64-v2"))
        levels.push_back(CpuLevel::V2);
    if (__builtin_cpu_supports("x86-64-v3"))
        levels.push_back(CpuLevel::V3);
    if (__builtin_cpu_supports("x86-64-v4"))
        levels.push_back(CpuLevel::V4);
    return levels;
#else
    return {CpuLevel::Generic};
#endif
}

const CpuKernels& cpuKernels(CpuLevel level)
{
#if defined(ROPEWALK_CPU_LEVELS)
    assert(level != CpuLevel::Generic);
    return level == CpuLevel::V4 ? cpuKernelsV4() : level == CpuLevel::V3 ? cpuKernelsV3() : cpuKernelsV2();
#else
    assert(level == CpuLevel::Generic);
    return cpuKernelsGeneric();
#endif
}

} // namespace ropewalk
