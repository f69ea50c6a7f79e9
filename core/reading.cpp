// SPDX-License-Identifier: GPL-3.0-or-later
#include "reading.h"

#include "rope_math.h"

#include <algorithm>

namespace ropewalk {

std::optional<Reading> readingOf(const ConfigurationResult& result, const FigureOptions& options)
{
    if (!result.scores)
        return std::nullopt;
    const RopeConfig& config = result.shown.config;
    Reading reading;
    reading.pair = std::clamp(options.pair, 0, result.channels.pairCount() - 1);
    const auto at = static_cast<std::size_t>(reading.pair);
    reading.isStill = !result.table.turns(reading.pair);
    reading.thetaRadians = result.table.theta(reading.pair);
    reading.trainingLength = trainingLength(config);
    if (!reading.isStill) {
        reading.wavelengthTokens = kTwoPi / reading.thetaRadians;
        if (reading.trainingLength)
            reading.turnsInTraining =
                static_cast<double>(*reading.trainingLength) * reading.thetaRadians / kTwoPi;
    }
    reading.queryAngle = static_cast<double>(result.scores->m) * reading.thetaRadians;
    reading.keyAngle = static_cast<double>(result.scores->n) * reading.thetaRadians;
    reading.distance = result.scores->m - result.scores->n;
    reading.distanceAngle = static_cast<double>(reading.distance) * reading.thetaRadians;
    reading.contribution = result.scores->contribution[at] / config.headDim;
    reading.score = result.scores->score / config.headDim;
    return reading;
}

} // namespace ropewalk
