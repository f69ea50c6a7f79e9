// SPDX-License-Identifier: GPL-3.0-or-later
#include "sweep.h"

#include "frequency_rules.h"

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

const RuleParameterInfo* factorOf(const RopeConfig& config)
{
    const auto parameters = info(config.rule).parameters;
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [](const RuleParameterInfo& row) { return row.key == "factor"; });
    return found == parameters.end() ? nullptr : &*found;
}

} // namespace

bool canSweep(const RopeConfig& config, SweepOver over)
{
    switch (over) {
    case SweepOver::Base:
        return config.rule != FrequencyRule::None && config.rule != FrequencyRule::Explicit &&
               config.rule != FrequencyRule::RopeId;
    case SweepOver::Factor:
        return factorOf(config) != nullptr;
    case SweepOver::Share:
        return config.rule != FrequencyRule::None;
    case SweepOver::Length:
        return info(config.rule).needsTrainingLength;
    }
    return false;
}

std::optional<double> sweptValue(const RopeConfig& config, SweepOver over)
{
    switch (over) {
    case SweepOver::Base:
        return config.base;
    case SweepOver::Factor:
        return factorOf(config) ? effectiveParameter(config, *factorOf(config)) : std::nullopt;
    case SweepOver::Share:
        return config.headDim > 0
                   ? std::optional(2.0 * frequencyTable(config).turningPairs() / config.headDim)
                   : std::nullopt;
    case SweepOver::Length:
        if (const auto length = trainingLength(config))
            return static_cast<double>(*length);
        break;
    }
    return std::nullopt;
}

RopeConfig withSweptValue(RopeConfig config, SweepOver over, double value)
{
    switch (over) {
    case SweepOver::Base:
        config.base = value;
        break;
    case SweepOver::Factor:
        config.parameters.factor = value;
        break;
    case SweepOver::Share:
        if (config.rule == FrequencyRule::Proportional) {
            config.parameters.partialRotaryFactor = value;
            break;
        }
        config.rotaryDim = 2 * static_cast<int>(std::lround(value * config.headDim / 2.0));
        if (config.channels != ChannelScheme::Last || config.rotaryDim == config.headDim)
            config.channels = ChannelScheme::First;
        break;
    case SweepOver::Length: // Dynamic measures against the other one
        (config.rule == FrequencyRule::Dynamic ? config.maxPositionEmbeddings
                                               : config.originalMaxPositionEmbeddings) = std::llround(value);
        break;
    }
    return config;
}

double meanCosineSum(std::span<const double> invFreq, int pairCount, CellRange distances)
{
    const auto count = static_cast<double>(distances.end - distances.first);
    const double middle = 0.5 * static_cast<double>(distances.first + distances.end - 1);
    double sum = static_cast<double>(pairCount) - static_cast<double>(invFreq.size());
    for (const double theta : invFreq) {
        // Where the whole range turns by next to nothing sin over sin is 1 to the last bit.
        const bool isLevel = count == 1.0 || count * theta < 1e-9;
        const double dirichlet =
            isLevel ? 1.0 : std::sin(0.5 * count * theta) / (count * std::sin(0.5 * theta));
        sum += dirichlet * std::cos(middle * theta);
    }
    return sum / pairCount;
}

std::vector<CellRange> logarithmicColumns(std::int64_t last, int columns)
{
    std::vector<CellRange> ranges;
    const auto edge = [&](double column) { return std::pow(static_cast<double>(last), column / columns); };
    for (int column = 0; column < columns; ++column) {
        CellRange range{static_cast<std::int64_t>(std::ceil(edge(column))),
                        static_cast<std::int64_t>(std::ceil(edge(column + 1)))};
        if (column == 0)
            range.first = 1;
        if (column + 1 == columns)
            range.end = last + 1;
        if (range.first >= range.end) {
            range.first = std::clamp<std::int64_t>(std::llround(edge(column + 0.5)), 1, last);
            range.end = range.first + 1;
        }
        ranges.push_back(range);
    }
    return ranges;
}

} // namespace ropewalk
