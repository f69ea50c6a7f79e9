// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cpu_level.h"

namespace ropewalk::bench {

/// What one core can multiply and add at most with the instructions of a level: independent chains of fused
/// multiply-adds that never leave the registers (of products and sums one after the other where the level has
/// no fused ones).
struct FmaPeak
{
    void (*run)(long steps) = nullptr;
    double flopsOfStep = 0.0;
};

FmaPeak fmaPeakSingle(CpuLevel level);
FmaPeak fmaPeakDouble(CpuLevel level);

} // namespace ropewalk::bench
