// SPDX-License-Identifier: GPL-3.0-or-later
#include "rules.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ropewalk {
namespace {

constexpr std::array kProportionalParameters{
    RuleParameterInfo{"factor", &RuleParameters::factor, 1.0, 128.0, 1.0, true, false},
    RuleParameterInfo{"partial_rotary_factor", &RuleParameters::partialRotaryFactor, 0.0, 1.0, 1.0, false,
                      false},
};

constexpr RuleParameterInfo invFreqParameter()
{
    RuleParameterInfo parameter;
    parameter.key = "inv_freq";
    parameter.list = &RuleParameters::invFreq;
    return parameter;
}

constexpr std::array kExplicitParameters{invFreqParameter(), kAttentionFactorParameter};

void validateProportional(const RopeConfig& config, std::vector<Issue>& issues)
{
    requireFactor(config, issues);
    const double share = effectiveParameter(config, "partial_rotary_factor");
    if (!(share >= 0.0 && share <= 1.0))
        addError(issues, "partial_rotary_factor",
                 {"partial_rotary_factor is {value}; expected a number from 0 to 1",
                  {{"value", shortNumber(share)}}});
    if (config.rotaryDim != config.headDim || scheduleWidth(config) != config.headDim)
        addError(
            issues, "rotary_dim",
            {"the rule proportional spreads its frequencies over the whole head; expected rotary_dim to be "
             "head_dim, {head_dim}, and the share in partial_rotary_factor",
             {{"head_dim", std::to_string(config.headDim)}}});
}

void applyProportional(const RopeConfig& config, FrequencyTable& table)
{
    const double factor = effectiveParameter(config, "factor");
    // Truncated, as the model code has it.
    const double live =
        std::floor(effectiveParameter(config, "partial_rotary_factor") * config.headDim / 2.0);
    table.scaled = table.plain;
    for (std::size_t i = 0; i < table.scaled.size(); ++i)
        table.scaled[i] = static_cast<double>(i) < live ? table.plain[i] / factor : 0.0;
}

void validateExplicit(const RopeConfig& config, std::vector<Issue>& issues)
{
    const std::vector<double>& list = config.parameters.invFreq;
    const std::string expected = std::to_string(pairCount(config));
    if (list.empty())
        addError(
            issues, "inv_freq",
            {"the rule explicit needs inv_freq, a list of {count} frequencies in rad/token; none is stated",
             {{"count", expected}}});
    else if (static_cast<int>(list.size()) != pairCount(config))
        addError(issues, "inv_freq",
                 {"inv_freq has {size} values; expected {count}, half of rotary_dim",
                  {{"size", std::to_string(list.size())}, {"count", expected}}});
    const auto bad = std::find_if(list.begin(), list.end(),
                                  [](double theta) { return !(theta >= 0.0) || !std::isfinite(theta); });
    if (bad != list.end())
        addError(issues, "inv_freq",
                 {"inv_freq holds {value}; expected numbers of 0 or more, 0 for a pair that stays",
                  {{"value", shortNumber(*bad)}}});
    requireNotNegative("attention_factor", config.parameters.attentionFactor, issues);
}

void applyExplicit(const RopeConfig& config, FrequencyTable& table)
{
    table.scaled = config.parameters.invFreq;
    table.attentionFactor = config.parameters.attentionFactor.value_or(1.0);
}

} // namespace

FrequencyRuleInfo proportionalRule()
{
    return {FrequencyRule::Proportional,
            "proportional",
            "proportional (p-RoPE)",
            "θ′_i = base^(−2i/dₕ)/s for i < floor(p·dₕ/2), else 0",
            "p-RoPE, arXiv:2410.06205; huggingface/transformers, rope_type proportional",
            kProportionalParameters,
            false,
            false,
            validateProportional,
            applyProportional,
            true};
}

FrequencyRuleInfo explicitRule()
{
    return {FrequencyRule::Explicit,
            "explicit",
            "explicit list",
            "θ′_i = inv_freq[i], as stated",
            "the list itself",
            kExplicitParameters,
            false,
            false,
            validateExplicit,
            applyExplicit,
            true};
}

} // namespace ropewalk
