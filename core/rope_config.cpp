// SPDX-License-Identifier: GPL-3.0-or-later
#include "rope_config.h"

#include <algorithm>
#include <cmath>

namespace ropewalk {

double logitScale(const RopeConfig& config)
{
    return config.softmaxFactor / std::sqrt(static_cast<double>(config.headDim));
}

bool isTurningPair(const RopeConfig& config, int pair)
{
    switch (config.channels) {
    case ChannelScheme::First:
    case ChannelScheme::Last:
        break;
    case ChannelScheme::Quarters13:
    case ChannelScheme::HalfRope:
        return pair < config.headDim / 4;
    case ChannelScheme::Custom:
        return std::binary_search(config.customPairs.begin(), config.customPairs.end(), pair);
    }
    return true;
}

int turningPairCount(const RopeConfig& config)
{
    int count = 0;
    for (int pair = 0; pair < pairCount(config); ++pair)
        count += isTurningPair(config, pair) ? 1 : 0;
    return count;
}

int scheduleWidth(const RopeConfig& config)
{
    const bool isHalf =
        config.channels == ChannelScheme::Quarters13 || config.channels == ChannelScheme::HalfRope;
    return isHalf ? config.headDim / 2 : config.rotaryDim;
}

std::optional<std::int64_t> trainingLength(const RopeConfig& config)
{
    // As every engine has it: this rule measures against the configured maximum.
    if (config.rule == FrequencyRule::Dynamic)
        return config.maxPositionEmbeddings;
    return config.originalMaxPositionEmbeddings ? config.originalMaxPositionEmbeddings
                                                : config.maxPositionEmbeddings;
}

std::optional<std::int64_t> inferenceLength(const RopeConfig& config)
{
    return config.length ? config.length : trainingLength(config);
}

bool computesTheSame(const RopeConfig& a, const RopeConfig& b)
{
    RopeConfig other = b;
    other.name = a.name;
    other.layerType = a.layerType;
    other.notes = a.notes;
    return a == other;
}

int rotaryDimForShare(int headDim, double share)
{
    return static_cast<int>(headDim * share);
}

std::string_view word(Layout layout)
{
    return layout == Layout::Interleaved ? "interleaved" : "half";
}

std::string_view word(Severity severity)
{
    switch (severity) {
    case Severity::Read:
        return "read";
    case Severity::Assumed:
        return "assumed";
    case Severity::Conflict:
        return "conflict";
    case Severity::Warning:
        return "warning";
    case Severity::Error:
        return "error";
    case Severity::Unknown:
        return "unknown";
    }
    return "unknown";
}

std::string_view word(Spacing spacing)
{
    return spacing == Spacing::Geometric ? "geometric" : "linear";
}

std::string_view word(ChannelScheme scheme)
{
    switch (scheme) {
    case ChannelScheme::First:
        return "first";
    case ChannelScheme::Last:
        return "last";
    case ChannelScheme::Quarters13:
        return "quarters_1_3";
    case ChannelScheme::HalfRope:
        return "half_rope";
    case ChannelScheme::Custom:
        return "custom";
    }
    return "first";
}

std::string_view channelsWord(const RopeConfig& config)
{
    if (formedWidth(config) == 0)
        return "none";
    const bool isSlice = config.channels == ChannelScheme::First || config.channels == ChannelScheme::Last;
    return isSlice && config.rotaryDim == config.headDim ? "all" : word(config.channels);
}

} // namespace ropewalk
