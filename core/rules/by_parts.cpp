// SPDX-License-Identifier: GPL-3.0-or-later
#include "../rope_math.h"
#include "rules.h"

#include <array>
#include <cmath>

namespace ropewalk {
namespace {

constexpr std::array kByPartsParameters{
    kFactorParameter,
    RuleParameterInfo{"beta_fast", &RuleParameters::betaFast, 1.0, 128.0, 32.0, true, true},
    RuleParameterInfo{"beta_slow", &RuleParameters::betaSlow, 0.125, 32.0, 1.0, true, true},
};

constexpr std::array kLlama3Parameters{
    kFactorParameter,
    RuleParameterInfo{"low_freq_factor", &RuleParameters::lowFreqFactor, 0.125, 32.0, 1.0, true, false},
    RuleParameterInfo{"high_freq_factor", &RuleParameters::highFreqFactor, 0.125, 64.0, 4.0, true, false},
};

/// Above `most` turns in training a pair keeps its frequency, below `least` turns it is divided by the
/// factor, between them it is blended, linear in the turns.
void applyByTurns(const RopeConfig& config, const char* least, const char* most, FrequencyTable& table)
{
    const double factor = effectiveParameter(config, "factor");
    const double low = effectiveParameter(config, least);
    const double high = effectiveParameter(config, most);
    const double length = static_cast<double>(trainingLength(config).value());
    table.scaled.resize(table.plain.size());
    table.keptShare.resize(table.plain.size());
    for (std::size_t i = 0; i < table.plain.size(); ++i) {
        const double theta = table.plain[i];
        const double turns = length * theta / kTwoPi;
        double kept = 0.0;
        if (turns > high)
            kept = 1.0;
        else if (turns < low)
            kept = 0.0;
        else // equal ends are a pure step: a wavelength of exactly T keeps its frequency
            kept = high > low ? clampToUnit((turns - low) / (high - low)) : 1.0;
        table.keptShare[i] = kept;
        table.scaled[i] = kept == 1.0 ? theta : (1.0 - kept) * theta / factor + kept * theta;
    }
    const std::string text = "{length} / ";
    table.thresholds = {
        {length / low, {text + least, {{"length", groupedNumber(length)}}}},
        {length / high, {text + most, {{"length", groupedNumber(length)}}}},
    };
}

void validateByTurns(const RopeConfig& config, const char* least, const char* most,
                     std::vector<Issue>& issues)
{
    requireFactor(config, issues);
    const bool hasLow = requirePositive(config, least, issues);
    const bool hasHigh = requirePositive(config, most, issues);
    const double low = effectiveParameter(config, least);
    const double high = effectiveParameter(config, most);
    if (hasLow && hasHigh && high < low)
        addError(
            issues, most,
            {"{most} is {high} and {least} is {low}; expected {most} to be at least {least}",
             {{"most", most}, {"high", shortNumber(high)}, {"least", least}, {"low", shortNumber(low)}}});
}

void validateNtkByParts(const RopeConfig& config, std::vector<Issue>& issues)
{
    validateByTurns(config, "beta_slow", "beta_fast", issues);
}

void applyNtkByParts(const RopeConfig& config, FrequencyTable& table)
{
    applyByTurns(config, "beta_slow", "beta_fast", table);
}

void validateLlama3(const RopeConfig& config, std::vector<Issue>& issues)
{
    validateByTurns(config, "low_freq_factor", "high_freq_factor", issues);
}

void applyLlama3(const RopeConfig& config, FrequencyTable& table)
{
    applyByTurns(config, "low_freq_factor", "high_freq_factor", table);
}

} // namespace

FrequencyRuleInfo ntkByPartsRule()
{
    return {FrequencyRule::NtkByParts,
            "ntk_by_parts",
            "NTK-by-parts",
            "θ′_i = (1−γ)θ_i/s + γ·θ_i, γ = clamp((Tθ_i/2π − β_slow)/(β_fast − β_slow))",
            "YaRN, arXiv:2309.00071, section 3.2, the paper's form (ramp over the turns)",
            kByPartsParameters,
            true,
            false,
            validateNtkByParts,
            applyNtkByParts};
}

FrequencyRuleInfo llama3Rule()
{
    return {FrequencyRule::Llama3,
            "llama3",
            "Llama-3",
            "θ′_i = (1−u)θ_i/s + u·θ_i, u = clamp((Tθ_i/2π − low)/(high − low))",
            "Llama 3.1, meta-llama/llama-models, apply_scaling",
            kLlama3Parameters,
            true,
            false,
            validateLlama3,
            applyLlama3};
}

} // namespace ropewalk
