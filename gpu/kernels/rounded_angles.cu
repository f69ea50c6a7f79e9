// SPDX-License-Identifier: GPL-3.0-or-later
#include "grid.cuh"
#include "launch.h"
#include "rounding.cuh"

namespace ropewalk::kernels {
namespace {

/// A whole number of less than 2^53 as bfloat16 holds it. By way of float it would be rounded twice.
__device__ float bf16(double value)
{
    const double size = fabs(value);
    if (!(size > 0.0) || isinf(size))
        return static_cast<float>(value);
    const double step = ldexp(1.0, ilogb(size) - 7);
    return static_cast<float>(copysign(rint(size / step) * step, value));
}

/// A thread a position: the running product goes from pair to pair.
__global__ void roundedAngles(RoundedAngleTable table, std::int64_t positions, double* angles)
{
    const std::int64_t index = threadIndex();
    if (index >= positions)
        return;
    const auto exact = static_cast<double>(table.first + index);
    const auto single = static_cast<float>(exact);
    double* out = angles + index * table.pairs;
    if (table.mode == AngleMode::RunningProduct || table.mode == AngleMode::GgmlCuda) {
        const float start = single * table.start;
        float running = start;
        for (int i = 0; i < table.pairs; ++i) {
            if (table.mode == AngleMode::GgmlCuda)
                running = start * static_cast<float>(pow(static_cast<double>(table.ratio), i));
            else if (i > 0)
                running = running * table.ratio;
            out[i] = static_cast<double>(table.divisor ? running / table.divisor[i] : running);
        }
        return;
    }
    for (int i = 0; i < table.pairs; ++i) {
        const auto theta = static_cast<float>(table.theta[i]);
        switch (table.mode) {
        case AngleMode::Bf16Positions:
            out[i] = static_cast<double>(bf16(exact) * theta);
            break;
        case AngleMode::Bf16Theta:
            out[i] = static_cast<double>(single * roundMantissa(theta, 7));
            break;
        case AngleMode::Bf16All: // the product of two short mantissas is exact before it is rounded
            out[i] = static_cast<double>(
                bf16(static_cast<double>(bf16(exact)) * static_cast<double>(roundMantissa(theta, 7))));
            break;
        case AngleMode::Fp16All:
            out[i] = static_cast<double>(roundToHalf(static_cast<double>(roundToHalf(exact)) *
                                                     static_cast<double>(roundToHalf(theta))));
            break;
        default:
            out[i] = static_cast<double>(single * theta);
            break;
        }
    }
}

} // namespace

void launchRoundedAngles(const RoundedAngleTable& table, std::int64_t positions, double* angles)
{
    if (positions == 0 || table.pairs == 0)
        return;
    ROPEWALK_LAUNCH(roundedAngles, blocksFor(positions, kThreads), kThreads, 0, table, positions, angles);
}

} // namespace ropewalk::kernels
