// SPDX-License-Identifier: GPL-3.0-or-later
#include "slider_scale.h"

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

double warped(const SliderScale& scale, double value)
{
    switch (scale.kind) {
    case SliderScale::Kind::Linear:
        return value;
    case SliderScale::Kind::Logarithmic:
        return std::log(value);
    case SliderScale::Kind::LogOnePlus:
        return std::log1p(value);
    }
    return value;
}

double unwarped(const SliderScale& scale, double position)
{
    switch (scale.kind) {
    case SliderScale::Kind::Linear:
        return position;
    case SliderScale::Kind::Logarithmic:
        return std::exp(position);
    case SliderScale::Kind::LogOnePlus:
        return std::expm1(position);
    }
    return position;
}

double rounded(double value, double step)
{
    return std::round(value / step) * step;
}

/// A power of ten below or at `value` / 100: what is left are three significant digits.
double thirdDigit(double value)
{
    return std::pow(10.0, std::floor(std::log10(std::fabs(value))) - 2.0);
}

double settled(const SliderScale& scale, double value)
{
    if (scale.kind == SliderScale::Kind::Linear) {
        // A step that a pixel can tell apart, as a power of ten so that the digits end.
        const double step =
            scale.unit > 0.0 ? scale.unit
                             : std::pow(10.0, std::floor(std::log10((scale.highest - scale.lowest) / 500.0)));
        // Dividing by the whole inverse of a fraction gives 0.3 where multiplying gives 0.30000000000000004.
        value = step < 1.0 ? std::round(value / step) / std::round(1.0 / step) : rounded(value, step);
    } else if (value != 0.0) {
        const double third = thirdDigit(value);
        const double step = std::max(third, scale.unit);
        value = step < 1.0 ? std::round(value / step) / std::round(1.0 / step) : rounded(value, step);
        if (scale.unit > 0.0)
            value = rounded(value, scale.unit);
    }
    return std::clamp(value, scale.lowest, scale.highest);
}

} // namespace

double fractionOf(const SliderScale& scale, double value)
{
    if (!(scale.highest > scale.lowest) || std::isnan(value)) // an impossible configuration is shown, too
        return 0.0;
    const double inside = std::clamp(value, scale.lowest, scale.highest);
    const double low = warped(scale, scale.lowest), high = warped(scale, scale.highest);
    return std::clamp((warped(scale, inside) - low) / (high - low), 0.0, 1.0);
}

double valueAt(const SliderScale& scale, double fraction)
{
    if (fraction <= 0.0)
        return scale.lowest;
    if (fraction >= 1.0)
        return scale.highest;
    const double low = warped(scale, scale.lowest), high = warped(scale, scale.highest);
    return settled(scale, unwarped(scale, low + fraction * (high - low)));
}

double stepped(const SliderScale& scale, double value, double delta)
{
    if (!(scale.highest > scale.lowest))
        return value;
    // From beyond the handy range a step towards it enters at the end; one away from it stays.
    if (value > scale.highest || value < scale.lowest) {
        const bool isInward = (value > scale.highest) == (delta < 0.0);
        return isInward ? std::clamp(value, scale.lowest, scale.highest) : value;
    }
    double moved = valueAt(scale, fractionOf(scale, value) + delta);
    if (scale.unit > 0.0) {
        // Three digits are for the hand; a key must always get away from where it is.
        const double least = value + (delta > 0.0 ? scale.unit : -scale.unit);
        if ((delta > 0.0 && moved < least) || (delta < 0.0 && moved > least))
            moved = std::clamp(least, scale.lowest, scale.highest);
    }
    return moved;
}

} // namespace ropewalk
