// SPDX-License-Identifier: GPL-3.0-or-later
#include "fma_peak.h"

#include "harness.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ropewalk::bench {
namespace {

constexpr int kChains = 12; ///< more than latency times throughput, fewer than there are registers

#if defined(__x86_64__)

#define ROPEWALK_FMA_LOOP(name, instructions, vector, set, step)                                             \
    __attribute__((target(instructions))) void name(long steps)                                              \
    {                                                                                                        \
        vector chain[kChains];                                                                               \
        _Pragma("GCC unroll 12") for (int i = 0; i < kChains; ++i) chain[i] = set(1.0 + i);                  \
        const vector by = set(0.999999);                                                                     \
        const vector plus = set(1e-6);                                                                       \
        for (long at = 0; at < steps; ++at)                                                                  \
            _Pragma("GCC unroll 12") for (int i = 0; i < kChains; ++i) chain[i] = step(chain[i], by, plus);  \
        vector sum = chain[0];                                                                               \
        _Pragma("GCC unroll 12") for (int i = 1; i < kChains; ++i) sum += chain[i];                          \
        keep(sum);                                                                                           \
    }

// Products and sums one after the other, as a processor without fused ones has them.
__attribute__((target("sse4.2"))) inline __m128 stepOf(__m128 x, __m128 by, __m128 plus)
{
    return _mm_add_ps(_mm_mul_ps(x, by), plus);
}
__attribute__((target("sse4.2"))) inline __m128d stepOf(__m128d x, __m128d by, __m128d plus)
{
    return _mm_add_pd(_mm_mul_pd(x, by), plus);
}

ROPEWALK_FMA_LOOP(singleV2, "sse4.2", __m128, _mm_set1_ps, stepOf)
ROPEWALK_FMA_LOOP(doubleV2, "sse4.2", __m128d, _mm_set1_pd, stepOf)
ROPEWALK_FMA_LOOP(singleV3, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps)
ROPEWALK_FMA_LOOP(doubleV3, "avx2,fma", __m256d, _mm256_set1_pd, _mm256_fmadd_pd)
ROPEWALK_FMA_LOOP(singleV4, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps)
ROPEWALK_FMA_LOOP(doubleV4, "avx512f", __m512d, _mm512_set1_pd, _mm512_fmadd_pd)
#undef ROPEWALK_FMA_LOOP

#endif

/// As the compiler makes it.
template<class T>
void plain(long steps)
{
    constexpr int kNumbers = 64;
    T chain[kNumbers];
    for (int i = 0; i < kNumbers; ++i)
        chain[i] = T(1.0 + i);
    for (long at = 0; at < steps; ++at)
        for (int i = 0; i < kNumbers; ++i)
            chain[i] = chain[i] * T(0.999999) + T(1e-6);
    keep(chain);
}

} // namespace

FmaPeak fmaPeakSingle(CpuLevel level)
{
#if defined(__x86_64__)
    if (level == CpuLevel::V4)
        return {singleV4, 2.0 * 16 * kChains};
    if (level == CpuLevel::V3)
        return {singleV3, 2.0 * 8 * kChains};
    if (level == CpuLevel::V2)
        return {singleV2, 2.0 * 4 * kChains};
#endif
    return {plain<float>, 2.0 * 64};
}

FmaPeak fmaPeakDouble(CpuLevel level)
{
#if defined(__x86_64__)
    if (level == CpuLevel::V4)
        return {doubleV4, 2.0 * 8 * kChains};
    if (level == CpuLevel::V3)
        return {doubleV3, 2.0 * 4 * kChains};
    if (level == CpuLevel::V2)
        return {doubleV2, 2.0 * 2 * kChains};
#endif
    return {plain<double>, 2.0 * 64};
}

} // namespace ropewalk::bench
