// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/figure_spec.h"

#include <cmath>

namespace ropewalk {

/// Axis values to the painter's units and back, along one direction.
class AxisScale
{
public:
    AxisScale() = default;
    /// `from` and `to` are the left and right, or lower and upper, ends of the axis: where its lower and
    /// upper value lie, or the other way round where it is reversed.
    AxisScale(const AxisSpec& axis, double from, double to)
        : m_isLogarithmic(axis.isLogarithmic)
        , m_lower(axis.isLogarithmic ? std::log(axis.lower) : axis.lower)
        , m_upper(axis.isLogarithmic ? std::log(axis.upper) : axis.upper)
        , m_from(axis.isReversed ? to : from)
        , m_to(axis.isReversed ? from : to)
    {
    }

    /// A value at or below 0 has no place on a logarithmic axis: minus infinity on its way.
    double toPixel(double value) const
    {
        const double at = m_isLogarithmic ? std::log(value) : value;
        return m_from + (at - m_lower) / (m_upper - m_lower) * (m_to - m_from);
    }

    /// The place of a share of the axis: 0 at its lower end, 1 at its upper one.
    double shareToPixel(double share) const { return m_from + share * (m_to - m_from); }

    double toValue(double pixel) const
    {
        const double at = m_lower + (pixel - m_from) / (m_to - m_from) * (m_upper - m_lower);
        return m_isLogarithmic ? std::exp(at) : at;
    }

private:
    bool m_isLogarithmic = false;
    double m_lower = 0.0, m_upper = 1.0, m_from = 0.0, m_to = 1.0;
};

} // namespace ropewalk
