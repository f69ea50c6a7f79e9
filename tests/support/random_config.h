// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/frequency_rules.h"
#include "core/rope_config.h"
#include "core/validate.h"

#include <random>

namespace ropewalk::test {

/// A valid configuration of any rule, layout and rotated share that is built. Asserts nothing about its
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
        config.originalMaxPositionEmbeddings = std::int64_t{1} << whole(8, 17);
        if (config.rule != FrequencyRule::Default)
            config.parameters.factor = real(1.0, 64.0);
        if (config.rule == FrequencyRule::Yarn && whole(0, 1))
            config.parameters.truncate = false;
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
