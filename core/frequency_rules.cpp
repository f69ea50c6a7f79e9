// SPDX-License-Identifier: GPL-3.0-or-later
#include "frequency_rules.h"

#include "rope_math.h"
#include "validate.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace ropewalk {
namespace {

constexpr RuleParameterInfo kFactor{"factor", &RuleParameters::factor, 1.0, 128.0, std::nullopt, true, false};

constexpr std::array kFactorOnly{kFactor};

constexpr std::array kYarnParameters{
    kFactor,
    RuleParameterInfo{"beta_fast", &RuleParameters::betaFast, 1.0, 128.0, 32.0, true, true},
    RuleParameterInfo{"beta_slow", &RuleParameters::betaSlow, 0.125, 32.0, 1.0, true, true},
    RuleParameterInfo{"truncate", nullptr, 0.0, 1.0, 1.0, false, false},
    RuleParameterInfo{"attention_factor", &RuleParameters::attentionFactor, 0.5, 2.0, std::nullopt, false, false},
    RuleParameterInfo{"mscale", &RuleParameters::mscale, 0.0, 2.0, std::nullopt, false, false},
    RuleParameterInfo{"mscale_all_dim", &RuleParameters::mscaleAllDim, 0.0, 2.0, std::nullopt, false, false},
};

constexpr std::array kLlama3Parameters{
    kFactor,
    RuleParameterInfo{"low_freq_factor", &RuleParameters::lowFreqFactor, 0.125, 32.0, 1.0, true, false},
    RuleParameterInfo{"high_freq_factor", &RuleParameters::highFreqFactor, 0.125, 64.0, 4.0, true, false},
};

double effective(const RopeConfig& config, std::string_view key)
{
    for (const RuleParameterInfo& parameter : info(config.rule).parameters)
        if (parameter.key == key)
            return effectiveParameter(config, parameter).value_or(0.0);
    assert(false && "a rule asked for a parameter that its row does not name");
    return 0.0;
}

void error(std::vector<Issue>& issues, std::string field, Message text)
{
    issues.push_back({Severity::Error, std::move(field), std::move(text)});
}

void requireFactor(const RopeConfig& config, std::vector<Issue>& issues)
{
    const std::optional<double> factor = effectiveParameter(config, info(config.rule).parameters.front());
    if (!factor)
        error(issues, "factor", {"the rule {rule} needs a factor of 1 or more; none is stated",
                                 {{"rule", std::string(info(config.rule).word)}}});
    else if (!(*factor >= 1.0) || !std::isfinite(*factor))
        error(issues, "factor",
              {"factor is {value}; expected a number of 1 or more", {{"value", shortNumber(*factor)}}});
}

void validateNothing(const RopeConfig&, std::vector<Issue>&) {}

void applyDefault(const RopeConfig&, FrequencyTable& table)
{
    table.scaled = table.plain;
}

void applyLinear(const RopeConfig& config, FrequencyTable& table)
{
    const double factor = effective(config, "factor");
    table.scaled = table.plain;
    for (double& theta : table.scaled)
        theta /= factor;
}

void validateNtkAware(const RopeConfig& config, std::vector<Issue>& issues)
{
    requireFactor(config, issues);
    // The exponent d/(d-2) has no value for a single pair.
    if (config.rotaryDim == 2)
        error(issues, "rotary_dim",
              {"the rule ntk_aware needs at least 2 pairs, and rotary_dim 2 makes 1; expected 4 or more", {}});
}

void applyNtkAware(const RopeConfig& config, FrequencyTable& table)
{
    const double factor = effective(config, "factor");
    const double width = config.rotaryDim;
    const double newBase = config.base * std::pow(factor, width / (width - 2.0));
    table.scaled.resize(table.plain.size());
    for (int i = 0; i < pairCount(config); ++i)
        table.scaled[i] = plainTheta(newBase, i, config.rotaryDim);
}

void validateYarn(const RopeConfig& config, std::vector<Issue>& issues)
{
    requireFactor(config, issues);
    const double fast = effective(config, "beta_fast");
    const double slow = effective(config, "beta_slow");
    if (!(fast > 0.0) || !std::isfinite(fast))
        error(issues, "beta_fast",
              {"beta_fast is {value}; expected a number above 0", {{"value", shortNumber(fast)}}});
    if (!(slow > 0.0) || !std::isfinite(slow))
        error(issues, "beta_slow",
              {"beta_slow is {value}; expected a number above 0", {{"value", shortNumber(slow)}}});
    if (fast > 0.0 && slow > 0.0 && fast < slow)
        error(issues, "beta_fast",
              {"beta_fast is {fast} and beta_slow is {slow}; expected beta_fast to be at least beta_slow",
               {{"fast", shortNumber(fast)}, {"slow", shortNumber(slow)}}});
    const auto length = trainingLength(config);
    // There the ramp's end lies before its start; engines then disagree about every pair.
    if (length && slow > 0.0 && *length < kTwoPi * slow)
        error(issues, "original_max_position_embeddings",
              {"the training length {length} is shorter than 2π·beta_slow = {least} tokens, so YaRN's ramp has no "
               "direction; expected a longer training length",
               {{"length", std::to_string(*length)}, {"least", shortNumber(kTwoPi * slow)}}});
    // The same at the other end: the ramp's start lies behind the last channel, and engines divide all pairs, or none.
    else if (length && slow > 0.0 && fast >= slow && std::isfinite(fast)) {
        const double start = yarnCorrectionIndex(fast, config.rotaryDim, config.base, static_cast<double>(*length));
        if ((config.parameters.truncate.value_or(true) ? std::floor(start) : start) > config.rotaryDim - 1.0)
            error(issues, "base",
                  {"with base {base} every pair turns far more than beta_fast times in {length} tokens, so YaRN's ramp "
                   "has no direction; expected a larger base or a shorter training length",
                   {{"base", shortNumber(config.base)}, {"length", std::to_string(*length)}}});
    }
    const RuleParameters& p = config.parameters;
    if (p.attentionFactor && (!std::isfinite(*p.attentionFactor) || *p.attentionFactor < 0.0))
        error(issues, "attention_factor", {"attention_factor is {value}; expected a number of 0 or more",
                                           {{"value", shortNumber(*p.attentionFactor)}}});
    const auto requireFinite = [&](const char* key, const std::optional<double>& value) {
        if (value && (!std::isfinite(*value) || *value < 0.0))
            error(issues, key, {"{key} is {value}; expected a number of 0 or more",
                                {{"key", key}, {"value", shortNumber(*value)}}});
    };
    requireFinite("mscale", p.mscale);
    requireFinite("mscale_all_dim", p.mscaleAllDim);
}

void applyYarn(const RopeConfig& config, FrequencyTable& table)
{
    const double factor = effective(config, "factor");
    const double fast = effective(config, "beta_fast");
    const double slow = effective(config, "beta_slow");
    const double length = static_cast<double>(trainingLength(config).value());
    double low = yarnCorrectionIndex(fast, config.rotaryDim, config.base, length);
    double high = yarnCorrectionIndex(slow, config.rotaryDim, config.base, length);
    if (config.parameters.truncate.value_or(true)) {
        low = std::floor(low);
        high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    // d-1 and not P-1: this is what the published implementations do.
    high = std::min(high, config.rotaryDim - 1.0);
    if (low == high)
        high += 0.001;
    table.scaled.resize(table.plain.size());
    table.keptShare.resize(table.plain.size());
    for (int i = 0; i < pairCount(config); ++i) {
        const double ramp = clampToUnit((i - low) / (high - low));
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

void validateLlama3(const RopeConfig& config, std::vector<Issue>& issues)
{
    requireFactor(config, issues);
    const double low = effective(config, "low_freq_factor");
    const double high = effective(config, "high_freq_factor");
    if (!(low > 0.0) || !std::isfinite(low))
        error(issues, "low_freq_factor",
              {"low_freq_factor is {value}; expected a number above 0", {{"value", shortNumber(low)}}});
    if (!(high > 0.0) || !std::isfinite(high))
        error(issues, "high_freq_factor",
              {"high_freq_factor is {value}; expected a number above 0", {{"value", shortNumber(high)}}});
    if (low > 0.0 && high > 0.0 && high < low)
        error(issues, "high_freq_factor",
              {"high_freq_factor is {high} and low_freq_factor is {low}; expected high_freq_factor to be at least "
               "low_freq_factor",
               {{"high", shortNumber(high)}, {"low", shortNumber(low)}}});
}

void applyLlama3(const RopeConfig& config, FrequencyTable& table)
{
    const double factor = effective(config, "factor");
    const double low = effective(config, "low_freq_factor");
    const double high = effective(config, "high_freq_factor");
    const double length = static_cast<double>(trainingLength(config).value());
    table.scaled.resize(table.plain.size());
    table.keptShare.resize(table.plain.size());
    for (int i = 0; i < pairCount(config); ++i) {
        const double theta = table.plain[i];
        const double turns = length * theta / kTwoPi;
        double kept = 0.0;
        if (turns > high)
            kept = 1.0;
        else if (turns < low)
            kept = 0.0;
        else // equal factors are a pure step: a wavelength of exactly T keeps its frequency
            kept = high > low ? clampToUnit((turns - low) / (high - low)) : 1.0;
        table.keptShare[i] = kept;
        table.scaled[i] = kept == 1.0 ? theta : (1.0 - kept) * theta / factor + kept * theta;
    }
    table.thresholds = {
        {length / low, {"{length} / low_freq_factor", {{"length", groupedNumber(length)}}}},
        {length / high, {"{length} / high_freq_factor", {{"length", groupedNumber(length)}}}},
    };
}

constexpr std::array kRules{
    FrequencyRuleInfo{FrequencyRule::Default, "default", "plain", "θ_i = base^(−2i/d)",
                      "RoFormer, arXiv:2104.09864, section 3.2.2", {}, false, validateNothing, applyDefault},
    FrequencyRuleInfo{FrequencyRule::Linear, "linear", "linear (PI)", "θ′_i = θ_i / s",
                      "Position Interpolation, arXiv:2306.15595, equation 4", kFactorOnly, false, requireFactor,
                      applyLinear},
    FrequencyRuleInfo{FrequencyRule::NtkAware, "ntk_aware", "NTK-aware", "base′ = base·s^(d/(d−2))",
                      "YaRN, arXiv:2309.00071, section 3.1; code in jquesnelle/yarn", kFactorOnly, false,
                      validateNtkAware, applyNtkAware},
    FrequencyRuleInfo{FrequencyRule::Yarn, "yarn", "YaRN",
                      "θ′_i = θ_i(1−ramp_i) + θ_i/s·ramp_i, ramp linear in i; A = 0.1 ln s + 1",
                      "YaRN, arXiv:2309.00071, in the form of its implementations (ramp over the pair index)",
                      kYarnParameters, true, validateYarn, applyYarn},
    FrequencyRuleInfo{FrequencyRule::Llama3, "llama3", "Llama-3",
                      "θ′_i = (1−u)θ_i/s + u·θ_i, u = clamp((Tθ_i/2π − low)/(high − low))",
                      "Llama 3.1, meta-llama/llama-models, apply_scaling", kLlama3Parameters, true, validateLlama3,
                      applyLlama3},
};

constexpr std::array<std::string_view, 8> kUnbuilt{"dynamic", "dynamic_qwen", "ntk_by_parts", "longrope",
                                                   "rope_id", "proportional", "explicit",     "none"};

} // namespace

std::span<const FrequencyRuleInfo> frequencyRules()
{
    return kRules;
}

const FrequencyRuleInfo& info(FrequencyRule rule)
{
    return *std::find_if(kRules.begin(), kRules.end(), [&](const auto& row) { return row.rule == rule; });
}

const FrequencyRuleInfo* findFrequencyRule(std::string_view word)
{
    const auto found = std::find_if(kRules.begin(), kRules.end(), [&](const auto& row) { return row.word == word; });
    return found == kRules.end() ? nullptr : &*found;
}

std::span<const std::string_view> knownUnbuiltRules()
{
    return kUnbuilt;
}

std::optional<double> effectiveParameter(const RopeConfig& config, const RuleParameterInfo& parameter)
{
    if (!parameter.number)
        return config.parameters.truncate.value_or(true) ? 1.0 : 0.0;
    const std::optional<double>& stated = config.parameters.*parameter.number;
    if (stated && !(parameter.zeroMeansUnset && *stated == 0.0))
        return stated;
    if (parameter.key == "factor" && config.rule == FrequencyRule::Yarn && config.maxPositionEmbeddings &&
        config.originalMaxPositionEmbeddings)
        return static_cast<double>(*config.maxPositionEmbeddings) /
               static_cast<double>(*config.originalMaxPositionEmbeddings);
    return parameter.defaultValue;
}

FrequencyTable frequencyTable(const RopeConfig& config)
{
    assert(!hasError(validate(config)));
    FrequencyTable table;
    table.plain.resize(static_cast<std::size_t>(pairCount(config)));
    for (int i = 0; i < pairCount(config); ++i)
        table.plain[static_cast<std::size_t>(i)] = plainTheta(config.base, i, config.rotaryDim);
    if (config.rotaryDim == 0)
        return table;
    info(config.rule).apply(config, table);
    return table;
}

} // namespace ropewalk
