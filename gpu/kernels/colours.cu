// SPDX-License-Identifier: GPL-3.0-or-later
#include "grid.cuh"
#include "launch.h"

namespace ropewalk::kernels {
namespace {

template<class Real>
__global__ void colour(const Real* values, std::int64_t count, double lower, double upper,
                       const std::uint32_t* palette, std::uint32_t notANumber, std::uint32_t* colours)
{
    const std::int64_t i = threadIndex();
    if (i >= count)
        return;
    const double place = (static_cast<double>(values[i]) - lower) * (256.0 / (upper - lower));
    // A NaN fails each comparison; what is infinite is cut before it becomes an integer.
    colours[i] = isnan(place)     ? notANumber
                 : place < 0.0    ? palette[0]
                 : place >= 255.0 ? palette[255]
                                  : palette[static_cast<int>(place)];
}

} // namespace

template<class Real>
void launchColours(const Real* values, std::int64_t count, double lower, double upper,
                   const std::uint32_t* palette, std::uint32_t notANumber, std::uint32_t* colours)
{
    if (count == 0)
        return;
    ROPEWALK_LAUNCH(colour<Real>, blocksFor(count, kThreads), kThreads, 0, values, count, lower, upper,
                    palette, notANumber, colours);
}

template void launchColours(const float*, std::int64_t, double, double, const std::uint32_t*, std::uint32_t,
                            std::uint32_t*);
template void launchColours(const double*, std::int64_t, double, double, const std::uint32_t*, std::uint32_t,
                            std::uint32_t*);

} // namespace ropewalk::kernels
