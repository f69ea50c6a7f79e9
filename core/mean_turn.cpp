// SPDX-License-Identifier: GPL-3.0-or-later
#include "mean_turn.h"

#include "rope_math.h"

#include <cassert>
#include <cmath>

namespace ropewalk {

std::complex<double> meanTurn(double theta, std::int64_t first, std::int64_t count)
{
    assert(count >= 1);
    if (count == 1)
        return std::polar(1.0, static_cast<double>(first) * theta);
    // Whole turns from one position to the next change nothing, and would spoil the quotient of two small
    // sines.
    const double step = std::remainder(theta, kTwoPi);
    const double middle = static_cast<double>(first) + 0.5 * static_cast<double>(count - 1);
    const double half = 0.5 * step;
    const double length = half == 0.0 ? 1.0
                                      : std::sin(static_cast<double>(count) * half) /
                                            (static_cast<double>(count) * std::sin(half));
    return length * std::complex<double>(std::cos(middle * step), std::sin(middle * step));
}

} // namespace ropewalk
