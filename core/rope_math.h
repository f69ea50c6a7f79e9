// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The scalar formulas, once, for processor and GPU. nvcc reads this file as C++17: no <numbers>, <span>,
// concepts.

#include <cmath>

#if defined(__CUDACC__)
#define ROPEWALK_HD __host__ __device__
#else
#define ROPEWALK_HD
#endif

namespace ropewalk {

inline constexpr double kPi = 3.14159265358979323846;
inline constexpr double kTwoPi = 6.28318530717958647692;

/// Plain angular frequency of pair `pair` in radians per token: base^(-2·pair/width) (RoFormer,
/// arXiv:2104.09864 section 3.2.2). `width` is the schedule width in channels. Formed by pow: exp(-2i/d·ln b)
/// would multiply the rounding of its argument.
ROPEWALK_HD inline double plainTheta(double base, int pair, int width)
{
    return std::pow(base, -2.0 * pair / width);
}

/// YaRN's magnitude term 0.1·k·ln(s)+1, and 1 for s ≤ 1 (arXiv:2309.00071 section 3.4, as implemented).
ROPEWALK_HD inline double yarnMscale(double factor, double k)
{
    return factor <= 1.0 ? 1.0 : 0.1 * k * std::log(factor) + 1.0;
}

/// Index of the pair that makes `turns` turns in `trainingLength` tokens, as a real number:
/// width·ln(T/(2π·turns))/(2·ln base) (YaRN's find_correction_dim).
ROPEWALK_HD inline double yarnCorrectionIndex(double turns, int width, double base, double trainingLength)
{
    return width * std::log(trainingLength / (turns * kTwoPi)) / (2.0 * std::log(base));
}

ROPEWALK_HD inline double clampToUnit(double x)
{
    return x < 0.0 ? 0.0 : (x > 1.0 ? 1.0 : x);
}

/// Turns the pair (a, b) counter-clockwise by the angle whose cosine and sine are given, in place.
ROPEWALK_HD inline void rotatePair(double& a, double& b, double cosine, double sine)
{
    const double turnedA = a * cosine - b * sine;
    b = a * sine + b * cosine;
    a = turnedA;
}

} // namespace ropewalk
