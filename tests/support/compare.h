// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <span>

namespace ropewalk::test {

/// Counts what was compared and says so at the end of the program; `./dev test` adds the lines up.
struct ComparedNumbers
{
    long count = 0;
    ~ComparedNumbers()
    {
        if (count > 0)
            std::printf("checked: %ld numbers against references, loops in long double and invariants\n",
                        count);
    }
};
inline ComparedNumbers comparedNumbers;

/// Where `actual` and `expected` first differ by more than `tolerance(i, expected[i])`, in words; empty when
/// they agree. A NaN agrees with nothing.
inline QString firstDifference(std::span<const double> actual, std::span<const double> expected,
                               const std::function<double(std::size_t, double)>& tolerance)
{
    if (actual.size() != expected.size())
        return QStringLiteral("%1 values instead of %2").arg(actual.size()).arg(expected.size());
    comparedNumbers.count += static_cast<long>(actual.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const double allowed = tolerance(i, expected[i]);
        if (!(std::fabs(actual[i] - expected[i]) <= allowed))
            return QStringLiteral("[%1] is %2 instead of %3; differs by %4, allowed %5")
                .arg(i)
                .arg(actual[i], 0, 'g', 17)
                .arg(expected[i], 0, 'g', 17)
                .arg(std::fabs(actual[i] - expected[i]), 0, 'g', 3)
                .arg(allowed, 0, 'g', 3);
    }
    return {};
}

inline QString relativeDifference(std::span<const double> actual, std::span<const double> expected,
                                  double relative)
{
    return firstDifference(actual, expected,
                           [&](std::size_t, double value) { return relative * std::fabs(value); });
}

inline QString absoluteDifference(std::span<const double> actual, std::span<const double> expected,
                                  double absolute)
{
    return firstDifference(actual, expected, [&](std::size_t, double) { return absolute; });
}

/// One number.
inline QString relativeDifference(double actual, double expected, double relative)
{
    return relativeDifference(std::span(&actual, 1), std::span(&expected, 1), relative);
}

inline QString absoluteDifference(double actual, double expected, double absolute)
{
    return absoluteDifference(std::span(&actual, 1), std::span(&expected, 1), absolute);
}

/// Bound on the error of cos and sin at `position` when θ is the program's own double.
inline double turnTolerance(double position, double theta)
{
    return std::max(1e-15, 2e-15 * std::fabs(position) * theta);
}

} // namespace ropewalk::test
