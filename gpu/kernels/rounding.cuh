// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Numbers as shorter formats hold them.

#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>

namespace ropewalk::kernels {

/// `value` with `bits` < 23 bits of mantissa and float's range, to nearest even: 10 is TF32, 7 bfloat16.
__device__ inline float roundMantissa(float value, int bits)
{
    std::uint32_t pattern;
    memcpy(&pattern, &value, sizeof pattern);
    if ((pattern & 0x7F800000U) == 0x7F800000U)
        return value; // infinite, or no number
    const int drop = 23 - bits;
    const std::uint32_t half = (1U << (drop - 1)) - 1U + (pattern >> drop & 1U);
    pattern = (pattern + half) & ~((1U << drop) - 1U);
    memcpy(&value, &pattern, sizeof value);
    return value;
}

/// The exact `value` as float16 holds it, to nearest even: from 65520 on infinite, below 2^-14 in steps of
/// 2^-24.
__device__ inline float roundToHalf(double value)
{
    const double size = fabs(value);
    if (!(size > 0.0) || isinf(size))
        return static_cast<float>(value);
    const int exponent = ilogb(size) > -14 ? ilogb(size) : -14;
    const double step = ldexp(1.0, exponent - 10);
    const double rounded = rint(size / step) * step; // both exact: step is a power of two
    return static_cast<float>(copysign(rounded > 65504.0 ? HUGE_VAL : rounded, value));
}

} // namespace ropewalk::kernels
