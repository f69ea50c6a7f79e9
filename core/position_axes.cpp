// SPDX-License-Identifier: GPL-3.0-or-later
#include "position_axes.h"

#include "rope_math.h"

#include <numeric>

namespace ropewalk {
namespace {

int mropeAxis(int pair, std::span<const int> sections)
{
    int axis = 0;
    for (int end = sections[0]; pair >= end && axis + 1 < static_cast<int>(sections.size());
         end += sections[axis])
        ++axis;
    return axis;
}

int interleavedAxis(int pair, std::span<const int> sections)
{
    if (pair % 3 == 1 && pair < 3 * sections[1])
        return 1;
    return pair % 3 == 2 && pair < 3 * sections[2] ? 2 : 0;
}

} // namespace

std::vector<PairAxis> pairAxes(PositionScheme scheme, int pairs, double base, std::span<const int> sections)
{
    const bool isMrope = scheme == PositionScheme::Mrope || scheme == PositionScheme::MropeInterleaved;
    if (isMrope && (sections.size() != 3 || std::accumulate(sections.begin(), sections.end(), 0) != pairs))
        return {};
    if (!isMrope && scheme != PositionScheme::Text && pairs % 2 != 0)
        return {};
    std::vector<PairAxis> axes;
    const int half = pairs / 2;
    for (int i = 0; i < pairs; ++i) {
        const bool isSecond = i >= half;
        const int within = isSecond ? i - half : i;
        switch (scheme) {
        case PositionScheme::Text:
            axes.push_back({0, plainTheta(base, i, 2 * pairs)});
            break;
        case PositionScheme::Mrope:
            axes.push_back({mropeAxis(i, sections), plainTheta(base, i, 2 * pairs)});
            break;
        case PositionScheme::MropeInterleaved:
            axes.push_back({interleavedAxis(i, sections), plainTheta(base, i, 2 * pairs)});
            break;
        case PositionScheme::VisionQwen2:
        case PositionScheme::ChatGlm:
            axes.push_back({isSecond ? 1 : 0, plainTheta(base, within, pairs)});
            break;
        case PositionScheme::VisionPixtral:
            axes.push_back({isSecond ? 1 : 0, plainTheta(base, 2 * within + (isSecond ? 1 : 0), 2 * pairs)});
            break;
        case PositionScheme::VisionLlama4:
            axes.push_back({isSecond ? 0 : 1, plainTheta(base, within, pairs), 1.0});
            break;
        }
    }
    return axes;
}

double angleAt(const PairAxis& pair, const std::array<double, 3>& position)
{
    return (position[static_cast<std::size_t>(pair.axis)] + pair.offset) * pair.thetaRadians;
}

} // namespace ropewalk
