// SPDX-License-Identifier: GPL-3.0-or-later
#include "in_distribution.h"

#include "rope_math.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ropewalk {

std::vector<double> trainedFrequencies(const RopeConfig& config, const FrequencyTable& table)
{
    return info(config.rule).isTrainedWith ? table.scaled : table.plain;
}

double unseenArc(double trainedTheta, double theta, double trainingLength, double length)
{
    const double reached = std::min(1.0, (length - 1.0) * theta / kTwoPi);
    const double seen = std::min(1.0, (trainingLength - 1.0) * trainedTheta / kTwoPi);
    return std::max(0.0, reached - seen);
}

double unseenDistances(double trainedTheta, double theta, std::int64_t trainingLength, std::int64_t length)
{
    const double seen = static_cast<double>(trainingLength - 1) * trainedTheta;
    if (seen >= kTwoPi)
        return 0.0;
    std::int64_t unseen = 0;
    for (std::int64_t r = trainingLength; r < length; ++r)
        unseen += std::fmod(static_cast<double>(r) * theta, kTwoPi) > seen ? 1 : 0;
    return static_cast<double>(unseen) / static_cast<double>(length);
}

int criticalDimension(int width, double base, double trainingLength)
{
    const double pairs = std::ceil(width / 2.0 * std::log(trainingLength / kTwoPi) / std::log(base));
    return static_cast<int>(std::clamp(2.0 * pairs, 0.0, static_cast<double>(width)));
}

std::array<double, 3> smallBaseThresholds(double trainingLength)
{
    return {2.0 * trainingLength / kPi, trainingLength / kPi, trainingLength / kTwoPi};
}

double reachOfBase(double base, int criticalDimension, int width)
{
    return kTwoPi * std::pow(base, static_cast<double>(criticalDimension) / width);
}

std::optional<InDistribution> inDistributionAt(const RopeConfig& config, std::int64_t length)
{
    const auto training = trainingLength(config);
    if (!training)
        return std::nullopt;
    RopeConfig stretched = config;
    stretched.length = length;
    const FrequencyTable table = frequencyTable(stretched);
    const std::vector<double> trained = trainedFrequencies(config, table);
    const auto trainedFor = static_cast<double>(*training);
    InDistribution found;
    found.slowestCycles = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < table.scaled.size(); ++i) {
        if (table.scaled[i] == 0.0)
            continue;
        ++found.turningPairs;
        const double cycles = trainedFor * trained[i] / kTwoPi;
        found.fullTurnPairs += cycles >= 1.0 ? 1 : 0;
        found.slowestCycles = std::min(found.slowestCycles, cycles);
        const double unseen = unseenArc(trained[i], table.scaled[i], trainedFor, static_cast<double>(length));
        found.meanUnseenArc += unseen;
        found.largestUnseenArc = std::max(found.largestUnseenArc, unseen);
        found.unseenPairs += unseen > trained[i] / kTwoPi ? 1 : 0;
        found.meanUnseenDistances += unseenDistances(trained[i], table.scaled[i], *training, length);
    }
    if (found.turningPairs == 0)
        return std::nullopt;
    found.meanUnseenArc /= found.turningPairs;
    found.meanUnseenDistances /= found.turningPairs;
    return found;
}

} // namespace ropewalk
