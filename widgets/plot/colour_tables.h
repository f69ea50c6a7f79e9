// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/figure_spec.h"
#include "figure_theme.h"

#include <QRgb>

#include <array>
#include <cmath>
#include <cstdint>

namespace ropewalk {

/// 256 colours, from the lower to the upper end of the values.
using ColourRamp = std::array<QRgb, 256>;

/// A table of resources/colour_maps.json; the diverging one is the theme's. Read once; GUI thread.
const ColourRamp& colourRamp(ColourTable table, Theme theme);

/// The colour of each value of a map.
class MapColours
{
public:
    MapColours(const MapSpec& map, Theme theme);

    QRgb operator()(double value) const
    {
        if (std::isnan(value))
            return m_mask;
        // Values below the range of a logarithmic map, 0 among them, have the lowest colour.
        const double at = m_isLogarithmic ? (value > 0.0 ? std::log(value) : -INFINITY) : value;
        const double place = (at - m_lower) * m_steps;
        if (m_isCyclic && std::isfinite(place))
            return m_ramp[static_cast<std::size_t>(std::floor(place) - 256.0 * std::floor(place / 256.0)) &
                          255U];
        if (!(place > 0.0))
            return m_ramp.front();
        return place >= 255.0 ? m_ramp.back() : m_ramp[static_cast<std::size_t>(place)];
    }

    /// The colours of `count` values, as of each by itself.
    void row(const double* values, std::int64_t count, QRgb* out) const;

    QRgb mask() const { return m_mask; }
    const ColourRamp& ramp() const { return m_ramp; }

private:
    const ColourRamp& m_ramp;
    QRgb m_mask;
    bool m_isLogarithmic, m_isCyclic;
    double m_lower, m_upper; ///< of the values, or of their logarithms
    double m_steps;          ///< of the ramp in a unit
};

} // namespace ropewalk
