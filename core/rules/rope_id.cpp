// SPDX-License-Identifier: GPL-3.0-or-later
#include "../rope_math.h"
#include "rules.h"

#include <array>
#include <cmath>

namespace ropewalk {
namespace {

constexpr RuleParameterInfo spacingParameter()
{
    RuleParameterInfo parameter;
    parameter.key = "spacing";
    parameter.spacing = &RuleParameters::spacing;
    return parameter;
}

constexpr std::array kParameters{
    RuleParameterInfo{"short_wavelength", &RuleParameters::shortWavelength, 2.0, 1024.0, 32.0, true, false},
    RuleParameterInfo{"cycles", &RuleParameters::cycles, 0.125, 64.0, 2.0, true, false},
    spacingParameter(),
};

void validateRopeId(const RopeConfig& config, std::vector<Issue>& issues)
{
    const bool hasShort = requirePositive(config, "short_wavelength", issues);
    const bool hasCycles = requirePositive(config, "cycles", issues);
    if (config.headDim % 4 != 0)
        addError(issues, "head_dim",
                 {"head_dim is {value}; the rule rope_id needs a number that divides by 4",
                  {{"value", std::to_string(config.headDim)}}});
    const auto length = trainingLength(config);
    const double least =
        effectiveParameter(config, "short_wavelength") * effectiveParameter(config, "cycles");
    if (hasShort && hasCycles && length && static_cast<double>(*length) < least)
        addError(
            issues, "original_max_position_embeddings",
            {"the training length {length} is shorter than cycles·short_wavelength = {least} tokens, so the "
             "slowest pair would be faster than the fastest; expected a longer training length",
             {{"length", std::to_string(*length)}, {"least", shortNumber(least)}}});
}

void applyRopeId(const RopeConfig& config, FrequencyTable& table)
{
    const double length = static_cast<double>(trainingLength(config).value());
    const double shortWavelength = effectiveParameter(config, "short_wavelength");
    const double cycles = effectiveParameter(config, "cycles");
    const double fastest = kTwoPi / shortWavelength;
    const double slowest = kTwoPi * cycles / length;
    const bool isGeometric = config.parameters.spacing.value_or(Spacing::Geometric) == Spacing::Geometric;
    // The range is spread over the pairs that turn, both ends included, in each of two blocks anew; a single
    // pair is the fastest.
    const bool hasBlocks = config.channels == ChannelScheme::TwoBlocks;
    const int last = (hasBlocks ? scheduleWidth(config) / 2 : turningPairCount(config)) - 1;
    table.scaled.assign(table.plain.size(), 0.0);
    int at = 0;
    for (int i = 0; i < pairCount(config); ++i) {
        if (!isTurningPair(config, i))
            continue;
        if (scheduleIndex(config, i) == 0)
            at = 0;
        double theta = fastest;
        if (at == last && last > 0)
            theta = slowest; // to the bit, whatever pow rounds to
        else if (at > 0) {
            const double share = static_cast<double>(at) / last;
            theta = isGeometric ? fastest * std::pow(slowest / fastest, share)
                                : fastest + (slowest - fastest) * share;
        }
        table.scaled[static_cast<std::size_t>(i)] = theta;
        ++at;
    }
    table.thresholds = {
        {length / cycles, {"{length} / cycles", {{"length", groupedNumber(length)}}}},
        {shortWavelength, "short_wavelength"},
    };
}

} // namespace

FrequencyRuleInfo ropeIdRule()
{
    return {FrequencyRule::RopeId,
            "rope_id",
            "RoPE-ID",
            "θ_i = θ_max·(θ_min/θ_max)^(i/(P−1)), θ_max = 2π/short_wavelength, θ_min = 2π·cycles/T",
            "RoPE-ID, arXiv:2603.18017; spacing from its first author's code",
            kParameters,
            true,
            false,
            validateRopeId,
            applyRopeId,
            true};
}

} // namespace ropewalk
