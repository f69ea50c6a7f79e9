// SPDX-License-Identifier: GPL-3.0-or-later
#include "cosine_integral.h"

#include <cmath>
#include <complex>

namespace ropewalk {

double cosineIntegral(double x)
{
    constexpr double kEulerGamma = 0.57721566490153286061;
    constexpr double kSmallest = 1e-17;
    if (x < 3.0) {
        double term = 1.0, sum = 0.0;
        for (int k = 1; k < 40; ++k) {
            term *= -x * x / ((2.0 * k - 1.0) * (2.0 * k));
            sum += term / (2.0 * k);
            if (std::fabs(term) < kSmallest)
                break;
        }
        return kEulerGamma + std::log(x) + sum;
    }
    // -Re E1(jx) by the continued fraction e^{-z}/(z+1-1²/(z+3-2²/(z+5-…))), modified Lentz.
    const std::complex<double> z(0.0, x);
    std::complex<double> b = z + 1.0, c = 1e300, d = 1.0 / b, fraction = d;
    for (int k = 1; k < 500; ++k) {
        const double a = -static_cast<double>(k) * k;
        b += 2.0;
        d = 1.0 / (a * d + b);
        c = b + a / c;
        const std::complex<double> step = c * d;
        fraction *= step;
        if (std::abs(step - 1.0) < kSmallest * 10.0)
            break;
    }
    return -(fraction * std::complex<double>(std::cos(x), -std::sin(x))).real();
}

double cosineSumLimit(double distance, double base)
{
    return (cosineIntegral(distance) - cosineIntegral(distance / base)) / std::log(base);
}

} // namespace ropewalk
