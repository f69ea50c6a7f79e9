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

std::int64_t unseenDistancesWithin(double trainedTheta, double theta, std::int64_t trainingLength,
                                   std::int64_t first, std::int64_t end)
{
    const double seen = static_cast<double>(trainingLength - 1) * trainedTheta;
    first = std::max(first, trainingLength);
    if (seen >= kTwoPi || first >= end || theta == 0.0)
        return 0;
    const auto isUnseen = [&](std::int64_t r) {
        return std::fmod(static_cast<double>(r) * theta, kTwoPi) > seen;
    };
    std::int64_t unseen = 0;
    // Where a few tokens pass the whole seen arc there are no runs: one by one.
    if (seen < 3.0 * theta) {
        for (std::int64_t r = first; r < end; ++r)
            unseen += isUnseen(r) ? 1 : 0;
        return unseen;
    }
    const auto turnOf = [&](std::int64_t r) { return std::floor(static_cast<double>(r) * theta / kTwoPi); };
    for (double turn = turnOf(first), last = turnOf(end - 1); turn <= last; turn += 1.0) {
        // The unseen distances of one turn are a run, whose ends the quotients give to within a token.
        const double upTo = (turn + 1.0) * kTwoPi / theta;
        auto start = static_cast<std::int64_t>((turn * kTwoPi + seen) / theta) - 1;
        while (static_cast<double>(start) <= upTo && !isUnseen(start))
            ++start;
        if (static_cast<double>(start) > upTo)
            continue;
        auto stop = static_cast<std::int64_t>(upTo) + 1;
        while (!isUnseen(stop))
            --stop;
        unseen += std::max<std::int64_t>(0, std::min(stop + 1, end) - std::max(start, first));
    }
    return unseen;
}

double unseenDistances(double trainedTheta, double theta, std::int64_t trainingLength, std::int64_t length)
{
    return static_cast<double>(
               unseenDistancesWithin(trainedTheta, theta, trainingLength, trainingLength, length)) /
           static_cast<double>(length);
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

std::optional<InDistribution> inDistributionOf(std::span<const double> trained, std::span<const double> theta,
                                               std::int64_t trainingLength, std::int64_t length)
{
    const auto trainedFor = static_cast<double>(trainingLength);
    InDistribution found;
    found.slowestCycles = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < theta.size(); ++i) {
        if (theta[i] == 0.0)
            continue;
        ++found.turningPairs;
        const double cycles = trainedFor * trained[i] / kTwoPi;
        found.fullTurnPairs += cycles >= 1.0 ? 1 : 0;
        found.slowestCycles = std::min(found.slowestCycles, cycles);
        const double unseen = unseenArc(trained[i], theta[i], trainedFor, static_cast<double>(length));
        found.meanUnseenArc += unseen;
        found.largestUnseenArc = std::max(found.largestUnseenArc, unseen);
        found.unseenPairs += unseen > trained[i] / kTwoPi ? 1 : 0;
        found.meanUnseenDistances += unseenDistances(trained[i], theta[i], trainingLength, length);
    }
    if (found.turningPairs == 0)
        return std::nullopt;
    found.meanUnseenArc /= found.turningPairs;
    found.meanUnseenDistances /= found.turningPairs;
    return found;
}

std::optional<InDistribution> inDistributionAt(const RopeConfig& config, std::int64_t length)
{
    const auto training = trainingLength(config);
    if (!training)
        return std::nullopt;
    RopeConfig stretched = config;
    stretched.length = length;
    const FrequencyTable table = frequencyTable(stretched);
    return inDistributionOf(trainedFrequencies(config, table), table.scaled, *training, length);
}

} // namespace ropewalk
