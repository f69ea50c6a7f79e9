// SPDX-License-Identifier: GPL-3.0-or-later
#include "rules.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ropewalk {
namespace {

constexpr RuleParameterInfo listParameter(std::string_view key, std::vector<double> RuleParameters::*list)
{
    RuleParameterInfo parameter;
    parameter.key = key;
    parameter.list = list;
    return parameter;
}

constexpr std::array kParameters{
    kFactorParameter,
    kAttentionFactorParameter,
    listParameter("short_factor", &RuleParameters::shortFactor),
    listParameter("long_factor", &RuleParameters::longFactor),
    RuleParameterInfo{"short_mscale", &RuleParameters::shortMscale, 0.5, 2.0, std::nullopt, false, false},
    RuleParameterInfo{"long_mscale", &RuleParameters::longMscale, 0.5, 2.0, std::nullopt, false, false},
};

void requireDivisors(const RopeConfig& config, const char* key, const std::vector<double>& list,
                     std::vector<Issue>& issues)
{
    const int expected = turningPairCount(config);
    if (list.empty())
        addError(
            issues, key,
            {"the rule longrope needs {key}, a list of {count} numbers from the model's file; none is stated",
             {{"key", key}, {"count", std::to_string(expected)}}});
    else if (static_cast<int>(list.size()) != expected)
        addError(
            issues, key,
            {"{key} has {size} values; expected {count}, one for each pair that turns",
             {{"key", key}, {"size", std::to_string(list.size())}, {"count", std::to_string(expected)}}});
    // Below 1 and falling is fine: the lists were found by search. Much below, the quotient would not be a
    // number.
    constexpr double kSmallest = 1e-9;
    const auto bad = std::find_if(list.begin(), list.end(),
                                  [](double f) { return !(f >= kSmallest) || !std::isfinite(f); });
    if (bad != list.end())
        addError(
            issues, key,
            {"{key} holds {value}; expected numbers above 0", {{"key", key}, {"value", shortNumber(*bad)}}});
}

void validateLongRope(const RopeConfig& config, std::vector<Issue>& issues)
{
    const RuleParameters& p = config.parameters;
    if (p.factor && (!(*p.factor >= 1.0) || !std::isfinite(*p.factor)))
        addError(issues, "factor",
                 {"factor is {value}; expected a number of 1 or more", {{"value", shortNumber(*p.factor)}}});
    requireDivisors(config, "short_factor", p.shortFactor, issues);
    requireDivisors(config, "long_factor", p.longFactor, issues);
    requireNotNegative("attention_factor", p.attentionFactor, issues);
    requireNotNegative("short_mscale", p.shortMscale, issues);
    requireNotNegative("long_mscale", p.longMscale, issues);
    if (trainingLength(config) == 1 && !p.attentionFactor && effectiveParameter(config, "factor") > 1.0)
        addError(issues, "original_max_position_embeddings",
                 "the training length is 1 token, whose logarithm divides the attention factor; expected 2 "
                 "or more");
}

void applyLongRope(const RopeConfig& config, FrequencyTable& table)
{
    const RuleParameters& p = config.parameters;
    const std::int64_t training = trainingLength(config).value();
    const bool isLong = inferenceLength(config).value() > training;
    const std::vector<double>& divisors = isLong ? p.longFactor : p.shortFactor;
    table.scaled = table.plain;
    std::size_t next = 0;
    for (std::size_t i = 0; i < table.plain.size(); ++i)
        if (isTurningPair(config, static_cast<int>(i)))
            table.scaled[i] = table.plain[i] / divisors[next++];
    const double factor = effectiveParameter(config, "factor");
    const std::optional<double>& mscale = isLong ? p.longMscale : p.shortMscale;
    if (mscale)
        table.attentionFactor = *mscale;
    else if (p.attentionFactor)
        table.attentionFactor = *p.attentionFactor;
    else if (factor > 1.0)
        table.attentionFactor = std::sqrt(1.0 + std::log(factor) / std::log(static_cast<double>(training)));
}

} // namespace

FrequencyRuleInfo longRopeRule()
{
    return {FrequencyRule::LongRope,
            "longrope",
            "LongRoPE",
            "θ′_i = θ_i/f_i, f = short_factor for N ≤ T, long_factor beyond; A = √(1 + ln s/ln T)",
            "LongRoPE, arXiv:2402.13753; microsoft/LongRoPE",
            kParameters,
            true,
            true,
            validateLongRope,
            applyLongRope};
}

} // namespace ropewalk
