// SPDX-License-Identifier: GPL-3.0-or-later
#include "rope_config.h"

#include <algorithm>
#include <array>
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
    case ChannelScheme::TwoBlocks:
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
    switch (config.channels) {
    case ChannelScheme::Quarters13:
    case ChannelScheme::HalfRope:
    case ChannelScheme::TwoBlocks:
        return config.headDim / 2;
    case ChannelScheme::First:
    case ChannelScheme::Last:
    case ChannelScheme::Custom:
        break;
    }
    return config.rotaryDim;
}

int scheduleIndex(const RopeConfig& config, int pair)
{
    return config.channels == ChannelScheme::TwoBlocks ? pair % std::max(1, config.headDim / 4) : pair;
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
    case ChannelScheme::TwoBlocks:
        return "two_blocks";
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

std::span<const std::string_view> channelsWords()
{
    static constexpr std::array<std::string_view, 8> kWords{
        "all", "first", "last", "quarters_1_3", "half_rope", "two_blocks", "custom", "none"};
    return kWords;
}

ChannelScheme schemeOfWord(std::string_view channelsWord)
{
    for (const ChannelScheme scheme :
         {ChannelScheme::Last, ChannelScheme::Quarters13, ChannelScheme::HalfRope, ChannelScheme::TwoBlocks,
          ChannelScheme::Custom})
        if (word(scheme) == channelsWord)
            return scheme;
    return ChannelScheme::First;
}

} // namespace ropewalk
