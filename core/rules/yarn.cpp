// SPDX-License-Identifier: GPL-3.0-or-later
#include "../rope_math.h"
#include "rules.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ropewalk {
namespace {

constexpr RuleParameterInfo truncateParameter()
{
    RuleParameterInfo parameter;
    parameter.key = "truncate";
    parameter.truth = &RuleParameters::truncate;
    parameter.defaultValue = 1.0;
    return parameter;
}

constexpr std::array kParameters{
    kFactorParameter,
    RuleParameterInfo{"beta_fast", &RuleParameters::betaFast, 1.0, 128.0, 32.0, true, true},
    RuleParameterInfo{"beta_slow", &RuleParameters::betaSlow, 0.125, 32.0, 1.0, true, true},
    truncateParameter(),
    kAttentionFactorParameter,
    RuleParameterInfo{"mscale", &RuleParameters::mscale, 0.0, 2.0, std::nullopt, false, false},
    RuleParameterInfo{"mscale_all_dim", &RuleParameters::mscaleAllDim, 0.0, 2.0, std::nullopt, false, false},
};

void validateYarn(const RopeConfig& config, std::vector<Issue>& issues)
{
    requireFactor(config, issues);
    const bool hasFast = requirePositive(config, "beta_fast", issues);
    const bool hasSlow = requirePositive(config, "beta_slow", issues);
    const double fast = effectiveParameter(config, "beta_fast");
    const double slow = effectiveParameter(config, "beta_slow");
    if (fast > 0.0 && slow > 0.0 && fast < slow)
        addError(issues, "beta_fast",
                 {"beta_fast is {fast} and beta_slow is {slow}; expected beta_fast to be at least beta_slow",
                  {{"fast", shortNumber(fast)}, {"slow", shortNumber(slow)}}});
    const auto length = trainingLength(config);
    const int width = scheduleWidth(config);
    // There the ramp's end lies before its start; engines then disagree about every pair.
    if (length && slow > 0.0 && static_cast<double>(*length) < kTwoPi * slow)
        addError(issues, "original_max_position_embeddings",
                 {"the training length {length} is shorter than 2π·beta_slow = {least} tokens, so YaRN's "
                  "ramp has no "
                  "direction; expected a longer training length",
                  {{"length", std::to_string(*length)}, {"least", shortNumber(kTwoPi * slow)}}});
    // The same at the other end: the ramp's start lies behind the last channel, and engines divide all pairs,
    // or none.
    else if (length && hasSlow && hasFast && fast >= slow) {
        const double start = yarnCorrectionIndex(fast, width, config.base, static_cast<double>(*length));
        if ((config.parameters.truncate.value_or(true) ? std::floor(start) : start) > width - 1.0)
            addError(issues, "base",
                     {"with base {base} every pair turns far more than beta_fast times in {length} tokens, "
                      "so YaRN's "
                      "ramp has no direction; expected a larger base or a shorter training length",
                      {{"base", shortNumber(config.base)}, {"length", std::to_string(*length)}}});
    }
    requireNotNegative("attention_factor", config.parameters.attentionFactor, issues);
    requireNotNegative("mscale", config.parameters.mscale, issues);
    requireNotNegative("mscale_all_dim", config.parameters.mscaleAllDim, issues);
}

void applyYarn(const RopeConfig& config, FrequencyTable& table)
{
    const double factor = effectiveParameter(config, "factor");
    const double fast = effectiveParameter(config, "beta_fast");
    const double slow = effectiveParameter(config, "beta_slow");
    const double length = static_cast<double>(trainingLength(config).value());
    const int width = scheduleWidth(config);
    double low = yarnCorrectionIndex(fast, width, config.base, length);
    double high = yarnCorrectionIndex(slow, width, config.base, length);
    if (config.parameters.truncate.value_or(true)) {
        low = std::floor(low);
        high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    // d-1 and not P-1: this is what the published implementations do.
    high = std::min(high, width - 1.0);
    if (low == high)
        high += 0.001;
    table.scaled.resize(table.plain.size());
    table.keptShare.resize(table.plain.size());
    for (std::size_t i = 0; i < table.plain.size(); ++i) {
        const double ramp = clampToUnit((scheduleIndex(config, static_cast<int>(i)) - low) / (high - low));
        table.keptShare[i] = 1.0 - ramp;
        table.scaled[i] = table.plain[i] * (1.0 - ramp) + table.plain[i] / factor * ramp;
    }
    const RuleParameters& p = config.parameters;
    const bool bothGiven = p.mscale.value_or(0.0) != 0.0 && p.mscaleAllDim.value_or(0.0) != 0.0;
    if (p.attentionFactor)
        table.attentionFactor = *p.attentionFactor;
    else if (bothGiven)
        table.attentionFactor = yarnMscale(factor, *p.mscale) / yarnMscale(factor, *p.mscaleAllDim);
    else
        table.attentionFactor = yarnMscale(factor, 1.0);
    table.thresholds = {
        {length / slow, {"{length} / beta_slow", {{"length", groupedNumber(length)}}}},
        {length / fast, {"{length} / beta_fast", {{"length", groupedNumber(length)}}}},
    };
}

} // namespace

FrequencyRuleInfo yarnRule()
{
    return {FrequencyRule::Yarn,
            "yarn",
            "YaRN",
            "θ′_i = θ_i(1−ramp_i) + θ_i/s·ramp_i, ramp linear in i; A = 0.1 ln s + 1",
            "YaRN, arXiv:2309.00071, in the form of its implementations (ramp over the pair index)",
            kParameters,
            true,
            false,
            validateYarn,
            applyYarn};
}

double mlaSoftmaxFactor(double factor, std::optional<double> mscaleAllDim)
{
    const double mscale = mscaleAllDim.value_or(0.0) == 0.0 ? 1.0 : yarnMscale(factor, *mscaleAllDim);
    return mscale * mscale;
}

void followMscale(RopeConfig& config)
{
    if (!config.hasMscaleSoftmax)
        return;
    const std::optional<double> factor =
        config.rule == FrequencyRule::Yarn ? effectiveParameter(config, info(config.rule).parameters.front())
                                           : std::nullopt;
    config.softmaxFactor = factor ? mlaSoftmaxFactor(*factor, config.parameters.mscaleAllDim) : 1.0;
}

} // namespace ropewalk
