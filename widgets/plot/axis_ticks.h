// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/figure_spec.h"

#include <QString>

#include <functional>
#include <vector>

namespace ropewalk {

/// A place on an axis and what is written there; an empty label is a small tick.
struct AxisTick
{
    double value = 0.0;
    QString label;
};

/// "128k" for 131072 and for 128000, "1M", "4k", "10"; other counts in groups of three. Tokens, as ticks have
/// them.
QString tokenCountLabel(double tokens);

/// Whether values can be told apart on this axis: its ends are finite and neither too near each other nor, as
/// their steps would be, too near zero.
bool isDrawable(const AxisSpec& axis);

/// The ticks of an axis that is `length` units long. `extent` gives the room that a label takes along the
/// axis, so that labels keep clear of each other. The right end of a token axis is labelled where it is a
/// round count. Pure.
std::vector<AxisTick> axisTicks(const AxisSpec& axis, double length, double gap,
                                const std::function<double(const QString&)>& extent);

} // namespace ropewalk
