// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/frequency_rules.h"
#include "core/rope_config.h"
#include "core/validate.h"

#include <cmath>
#include <cstdint>
#include <random>

namespace ropewalk::test {

/// What the rule of `config` needs, at random.
inline void addRandomParameters(RopeConfig& config, std::mt19937& random)
{
    const auto real = [&](double from, double to) {
        return std::uniform_real_distribution<double>(from, to)(random);
    };
    const auto flip = [&] { return std::uniform_int_distribution<int>(0, 1)(random) == 1; };
    RuleParameters& p = config.parameters;
    const auto parameters = info(config.rule).parameters;
    if (!parameters.empty() && parameters.front().key == "factor")
        p.factor = real(1.0, 64.0);
    if (config.rule == FrequencyRule::Yarn && flip())
        p.truncate = false;
    if (config.rule == FrequencyRule::RopeId && flip())
        p.spacing = Spacing::Linear;
    if (config.rule == FrequencyRule::Proportional)
        p.partialRotaryFactor = real(0.0, 1.0);
    if (config.rule == FrequencyRule::LongRope)
        for (int i = 0; i < turningPairCount(config); ++i) {
            p.shortFactor.push_back(real(0.5, 2.0));
            p.longFactor.push_back(real(1.0, 64.0));
        }
    if (config.rule == FrequencyRule::Explicit)
        for (int i = 0; i < pairCount(config); ++i)
            p.invFreq.push_back(flip() || flip() ? std::exp(real(std::log(1e-6), 0.0)) : 0.0);
}

/// A valid configuration of any rule, channel scheme, layout and rotated share. Asserts nothing about its
/// frequencies.
inline RopeConfig randomConfig(std::mt19937& random)
{
    const auto whole = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
    const auto real = [&](double from, double to) {
        return std::uniform_real_distribution<double>(from, to)(random);
    };
    for (;;) {
        RopeConfig config;
        config.headDim = 2 * whole(1, 128);
        config.rotaryDim = whole(0, 3) == 0 ? config.headDim : 2 * whole(0, config.headDim / 2);
        config.layout = whole(0, 1) ? Layout::Half : Layout::Interleaved;
        config.base = std::exp(real(std::log(100.0), std::log(1e8)));
        config.rule =
            frequencyRules()[static_cast<std::size_t>(whole(0, int(frequencyRules().size()) - 1))].rule;
        if (const int scheme = whole(0, 7); scheme < 6 && config.rule != FrequencyRule::Proportional) {
            config.channels = static_cast<ChannelScheme>(scheme);
            if (scheme >= static_cast<int>(ChannelScheme::Quarters13))
                config.rotaryDim = config.headDim;
            else if (config.rotaryDim == config.headDim || config.rotaryDim == 0)
                config.channels = ChannelScheme::First; // first and last are the same then
        }
        if (config.rule == FrequencyRule::Proportional)
            config.rotaryDim = config.headDim;
        if (config.channels == ChannelScheme::Custom)
            for (int pair = 0; pair < config.headDim / 2; ++pair)
                if (whole(0, 1))
                    config.customPairs.push_back(pair);
        config.originalMaxPositionEmbeddings = std::int64_t{1} << whole(8, 17);
        config.maxPositionEmbeddings = *config.originalMaxPositionEmbeddings * whole(1, 16);
        if (whole(0, 1))
            config.length = whole(1, 1 << 18);
        addRandomParameters(config, random);
        if (!hasError(validate(config)))
            return config;
    }
}

inline std::vector<double> randomRow(std::mt19937& random, int width)
{
    std::normal_distribution<double> normal;
    std::vector<double> row(static_cast<std::size_t>(width));
    for (double& value : row)
        value = normal(random);
    return row;
}

} // namespace ropewalk::test
