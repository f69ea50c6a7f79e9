// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace ropewalk {

/// How a slider's way from 0 to 1 maps to values. A plain value.
struct SliderScale
{
    enum class Kind {
        Linear,
        Logarithmic, ///< lowest > 0
        LogOnePlus   ///< log(1 + value), for counts that may be 0
    };
    Kind kind = Kind::Linear;
    double lowest = 0.0, highest = 1.0;         ///< the slider's handy range
    double unit = 0.0;                          ///< 1: whole numbers, 2: even ones, 0: any
    double hardLowest = 0.0, hardHighest = 1.0; ///< what the number box accepts

    bool operator==(const SliderScale&) const = default;
};

/// Where `value` lies, clamped to 0..1.
double fractionOf(const SliderScale& scale, double value);

/// The value at `fraction`, rounded to the unit, or to what a slider can tell apart. The ends are exact.
double valueAt(const SliderScale& scale, double fraction);

/// `value` moved by `delta` of the range (on the logarithm where the scale is logarithmic), by one unit at
/// least; stays within lowest..highest, or where it was when it lay beyond.
double stepped(const SliderScale& scale, double value, double delta);

} // namespace ropewalk
