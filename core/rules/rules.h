// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rows of frequency_rules.cpp, one file a rule or a family of rules, and what they share.

#include "../frequency_rules.h"

namespace ropewalk {

FrequencyRuleInfo defaultRule();
FrequencyRuleInfo linearRule();
FrequencyRuleInfo ntkAwareRule();
FrequencyRuleInfo dynamicRule();
FrequencyRuleInfo dynamicQwenRule();
FrequencyRuleInfo dynamicLinearRule();
FrequencyRuleInfo ntkByPartsRule();
FrequencyRuleInfo yarnRule();
FrequencyRuleInfo llama3Rule();
FrequencyRuleInfo longRopeRule();
FrequencyRuleInfo resonanceRule();
FrequencyRuleInfo ropeIdRule();
FrequencyRuleInfo proportionalRule();
FrequencyRuleInfo explicitRule();
FrequencyRuleInfo noneRule();

inline constexpr RuleParameterInfo kFactorParameter{
    "factor", &RuleParameters::factor, 1.0, 128.0, std::nullopt, true, false};
inline constexpr RuleParameterInfo kAttentionFactorParameter{
    "attention_factor", &RuleParameters::attentionFactor, 0.5, 2.0, std::nullopt, false, false};

/// The value of the parameter `key` of the configuration's rule that counts; 0 where there is none.
double effectiveParameter(const RopeConfig& config, std::string_view key);

void addError(std::vector<Issue>& issues, std::string field, Message text);

/// A factor is there and 1 or more.
void requireFactor(const RopeConfig& config, std::vector<Issue>& issues);
/// The parameter `key` is a number above 0; returns whether it is.
bool requirePositive(const RopeConfig& config, const char* key, std::vector<Issue>& issues);
/// Stated numbers that may be 0 but not negative.
void requireNotNegative(const char* key, const std::optional<double>& value, std::vector<Issue>& issues);
/// For rules that raise to d/(d-2), which has no value for a single pair.
void requireTwoPairs(const RopeConfig& config, std::vector<Issue>& issues);

/// θ of base `base` on the schedule of `config`, one a formed pair.
std::vector<double> plainSchedule(const RopeConfig& config, double base);

} // namespace ropewalk
