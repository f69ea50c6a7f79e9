// SPDX-License-Identifier: GPL-3.0-or-later
#include "grid.cuh"
#include "launch.h"
#include "rounding.cuh"

namespace ropewalk::kernels {
namespace {

/// A warp takes a row, so that its reads and writes are whole lines of memory for either layout; eight rows a
/// block, so that rows of a few channels still fill one.
constexpr int kLanes = 32, kRows = 8;

__device__ double rounded(double value, Rounding)
{
    return value;
}
__device__ float rounded(float value, Rounding rounding)
{
    return rounding == Rounding::None ? value : roundMantissa(value, rounding == Rounding::Tf32 ? 10 : 7);
}

template<class In, class Real>
__global__ void rotateRows(const In* in, Real* out, std::int64_t rows, int heads, RowLayout layout,
                           const Real* cosine, const Real* sine, Rounding rounding)
{
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + threadIdx.y;
    if (row >= rows)
        return;
    const In* from = in + row * layout.width;
    Real* to = out + row * layout.outWidth;
    const std::int64_t turns = row / heads * layout.pairCount;
    for (int i = static_cast<int>(threadIdx.x); i < layout.pairCount; i += kLanes) {
        const int a = layout.pairs[2 * i], b = layout.pairs[2 * i + 1];
        const Real x = static_cast<Real>(from[a]), y = static_cast<Real>(from[b]);
        const Real c = cosine[turns + i], s = sine[turns + i];
        to[a] = rounded(x * c - y * s, rounding);
        to[b] = rounded(x * s + y * c, rounding);
    }
    for (int i = static_cast<int>(threadIdx.x); i < layout.stillCount; i += kLanes)
        to[layout.still[i]] = rounded(static_cast<Real>(from[layout.still[i]]), rounding);
    for (int i = layout.width + static_cast<int>(threadIdx.x); i < layout.outWidth; i += kLanes)
        to[i] = 0;
}

__global__ void pairContributions(const int* pairs, int count, const double* query, const double* key,
                                  double* contribution)
{
    const std::int64_t i = threadIndex();
    if (i >= count)
        return;
    const int a = pairs[2 * i], b = pairs[2 * i + 1];
    contribution[i] = query[a] * key[a] + query[b] * key[b];
}

} // namespace

template<class In, class Real>
void launchRotateRows(const In* in, Real* out, std::int64_t rows, int heads, const RowLayout& layout,
                      const Real* cosine, const Real* sine, Rounding rounding)
{
    if (rows == 0)
        return;
    ROPEWALK_LAUNCH((rotateRows<In, Real>), blocksFor(rows, kRows), dim3(kLanes, kRows), 0, in, out, rows,
                    heads, layout, cosine, sine, rounding);
}

template void launchRotateRows(const float*, float*, std::int64_t, int, const RowLayout&, const float*,
                               const float*, Rounding);
template void launchRotateRows(const double*, float*, std::int64_t, int, const RowLayout&, const float*,
                               const float*, Rounding);
template void launchRotateRows(const double*, double*, std::int64_t, int, const RowLayout&, const double*,
                               const double*, Rounding);

void launchPairContributions(const int* pairs, int count, const double* query, const double* key,
                             double* contribution)
{
    if (count == 0)
        return;
    ROPEWALK_LAUNCH(pairContributions, blocksFor(count, kThreads), kThreads, 0, pairs, count, query, key,
                    contribution);
}

} // namespace ropewalk::kernels
