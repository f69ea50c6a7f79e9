// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/figure_spec.h"
#include "figure_theme.h"

#include <QRgb>

#include <array>
#include <cmath>

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
        const double share = (at - m_lower) * m_perUnit;
        if (m_isCyclic && std::isfinite(share))
            return m_ramp[static_cast<std::size_t>((share - std::floor(share)) * 256.0) & 255U];
        if (!(share > 0.0))
            return m_ramp.front();
        return share >= 1.0 ? m_ramp.back() : m_ramp[static_cast<std::size_t>(share * 256.0)];
    }

    QRgb mask() const { return m_mask; }
    const ColourRamp& ramp() const { return m_ramp; }

private:
    const ColourRamp& m_ramp;
    QRgb m_mask;
    bool m_isLogarithmic, m_isCyclic;
    double m_lower, m_perUnit;
};

} // namespace ropewalk
