// SPDX-License-Identifier: GPL-3.0-or-later
#include "grid.cuh"
#include "launch.h"

#include "core/rope_math.h"

namespace ropewalk::kernels {
namespace {

__device__ void turn(double angle, double& cosine, double& sine)
{
    sincos(angle, &sine, &cosine);
}

/// A float's sine of 131071 would be off by 1e-2: the angle loses its whole turns while it is a double.
__device__ void turn(double angle, float& cosine, float& sine)
{
    const double reduced = angle - kTwoPi * rint(angle / kTwoPi);
    sincosf(static_cast<float>(reduced), &sine, &cosine);
}

template<class Real>
__global__ void turnTable(const double* invFreq, int pairs, double position, double stride, std::int64_t rows,
                          double factor, Real* cosine, Real* sine)
{
    const std::int64_t index = threadIndex();
    if (index >= rows * pairs)
        return;
    const std::int64_t row = index / pairs;
    const double angle = (position + static_cast<double>(row) * stride) * invFreq[index - row * pairs];
    Real c, s;
    turn(angle, c, s);
    cosine[index] = static_cast<Real>(factor * c);
    sine[index] = static_cast<Real>(factor * s);
}

} // namespace

template<class Real>
void launchTurnTable(const double* invFreq, int pairs, double position, double stride, std::int64_t rows,
                     double factor, Real* cosine, Real* sine)
{
    if (rows * pairs == 0)
        return;
    ROPEWALK_LAUNCH(turnTable<Real>, blocksFor(rows * pairs, kThreads), kThreads, 0, invFreq, pairs, position,
                    stride, rows, factor, cosine, sine);
}

template void launchTurnTable(const double*, int, double, double, std::int64_t, double, float*, float*);
template void launchTurnTable(const double*, int, double, double, std::int64_t, double, double*, double*);

} // namespace ropewalk::kernels
