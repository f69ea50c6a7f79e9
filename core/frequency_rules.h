// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "rope_config.h"

#include <span>
#include <string_view>
#include <vector>

namespace ropewalk {

/// A wavelength at which a rule changes its behaviour, drawn as a line in the spectrum.
struct RuleThreshold
{
    double wavelengthTokens = 0.0;
    Message label;
};

/// The frequencies of one configuration, fastest pair first; all vectors have rotary_dim/2 entries.
struct FrequencyTable
{
    std::vector<double> plain;  ///< θ_i = base^(-2i/rotary_dim), rad/token
    std::vector<double> scaled; ///< θ'_i, as the rule leaves them, rad/token
    /// Share of the plain frequency that a rule by parts keeps: 1 kept, 0 divided by the factor, between them blended.
    /// Empty for rules that do not work by parts.
    std::vector<double> keptShare;
    double attentionFactor = 1.0; ///< A, on cos and sin of q and of k
    std::vector<RuleThreshold> thresholds;
};

/// One parameter of a rule: its key as files and command line spell it, where it lives, its range, its default.
struct RuleParameterInfo
{
    std::string_view key;
    std::optional<double> RuleParameters::*number = nullptr; ///< null for the one switch, `truncate`
    double lowest = 0.0, highest = 0.0;                      ///< range of the control
    std::optional<double> defaultValue;                      ///< what counts when not stated; empty: derived or none
    bool isLogarithmic = false;
    bool zeroMeansUnset = false;
};

/// One row of the table of rules. The next rule is one more row.
struct FrequencyRuleInfo
{
    FrequencyRule rule;
    std::string_view word;    ///< `rope_type` and `--set rule=`
    std::string_view title;   ///< for people
    std::string_view formula; ///< one line
    std::string_view source;  ///< paper and equation, or the code that defines it
    std::span<const RuleParameterInfo> parameters;
    bool needsTrainingLength = false;
    /// Adds what is wrong with the rule's own parameters to `issues`.
    void (*validate)(const RopeConfig&, std::vector<Issue>& issues) = nullptr;
    /// Fills `scaled`, `keptShare`, `attentionFactor`, `thresholds`; `plain` is filled before.
    void (*apply)(const RopeConfig&, FrequencyTable&) = nullptr;
};

/// All rules that are built, in the order in which they are shown.
std::span<const FrequencyRuleInfo> frequencyRules();
const FrequencyRuleInfo& info(FrequencyRule rule);

/// The rule with this word, or null. Old spellings are the reader's business.
const FrequencyRuleInfo* findFrequencyRule(std::string_view word);

/// Words of rules that Ropewalk knows of but does not build yet; refused by name.
std::span<const std::string_view> knownUnbuiltRules();

/// The value that counts: as stated, else max_position_embeddings/T for YaRN's factor, else the default; empty where
/// there is none.
std::optional<double> effectiveParameter(const RopeConfig& config, const RuleParameterInfo& parameter);

/// The frequencies of a configuration that `validate` found no error in (asserted). Thread-safe, pure.
FrequencyTable frequencyTable(const RopeConfig& config);

} // namespace ropewalk
