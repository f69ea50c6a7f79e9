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

/// The frequencies of one configuration by pair index; all vectors have pairCount(config) = rotary_dim/2
/// entries, one for each pair of ChannelMap::formed, turning or still. A still pair is one with θ' = 0: its
/// channels come out as they went in, the attention factor does not reach it, its wavelength is infinite.
struct FrequencyTable
{
    /// θ_i = base^(-2i/w), rad/token, w = scheduleWidth(config); 0 where the channel scheme holds the pair.
    std::vector<double> plain;
    std::vector<double> scaled; ///< θ'_i, as the rule leaves them, rad/token; 0 for a still pair
    /// Share of the plain frequency that a rule by parts keeps: 1 kept, 0 divided by the factor, between them
    /// blended. Empty for rules that do not work by parts.
    std::vector<double> keptShare;
    double attentionFactor = 1.0; ///< A, on cos and sin of q and of k, on turning pairs
    std::vector<RuleThreshold> thresholds;

    /// Whether pair `pair` of the head turns. Pairs outside the formed ones are still.
    bool turns(int pair) const
    {
        return pair >= 0 && pair < static_cast<int>(scaled.size()) &&
               scaled[static_cast<std::size_t>(pair)] != 0.0;
    }
    /// θ' of pair `pair` of the head, rad/token; 0 for a still one.
    double theta(int pair) const { return turns(pair) ? scaled[static_cast<std::size_t>(pair)] : 0.0; }
    int turningPairs() const; ///< pairs with θ' ≠ 0
};

/// One parameter of a rule: its key as files and command line spell it, where it lives, its range, its
/// default. Exactly one of `number`, `list`, `truth` and `spacing` is set and says what kind of value it is.
struct RuleParameterInfo
{
    std::string_view key;
    std::optional<double> RuleParameters::*number = nullptr;
    double lowest = 0.0, highest = 0.0; ///< range of the control of a number
    std::optional<double> defaultValue; ///< what counts when not stated; empty: derived or none
    bool isLogarithmic = false;
    bool zeroMeansUnset = false;
    std::vector<double> RuleParameters::*list =
        nullptr; ///< from a file or the command line; shown, not turned
    std::optional<bool> RuleParameters::*truth = nullptr; ///< `truncate`; `defaultValue` 1 is true
    std::optional<Spacing> RuleParameters::*spacing = nullptr;
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
    bool dependsOnLength = false; ///< on N, the length at inference
    /// Adds what is wrong with the rule's own parameters to `issues`.
    void (*validate)(const RopeConfig&, std::vector<Issue>& issues) = nullptr;
    /// Fills `scaled`, `keptShare`, `attentionFactor`, `thresholds`; `plain` is filled before, and what it
    /// writes for pairs that the channel scheme holds is set back to 0 after.
    void (*apply)(const RopeConfig&, FrequencyTable&) = nullptr;
    /// Whether a model is trained with it; otherwise it stretches one that was trained with the plain
    /// frequencies.
    bool isTrainedWith = false;
};

/// All rules that are built, in the order in which they are shown.
std::span<const FrequencyRuleInfo> frequencyRules();
const FrequencyRuleInfo& info(FrequencyRule rule);

/// The rule with this word, or null. Old spellings are the reader's business.
const FrequencyRuleInfo* findFrequencyRule(std::string_view word);

/// The value of a number or a switch that counts: as stated, else max_position_embeddings/T for the factor of
/// YaRN and LongRoPE, else the default; empty where there is none. Asserts for lists and words.
std::optional<double> effectiveParameter(const RopeConfig& config, const RuleParameterInfo& parameter);

/// What MLA models multiply the softmax scale with beside A: mscale(s, mscale_all_dim)², 1 when
/// `mscaleAllDim` is not stated or 0 (DeepSeek-V3, inference/model.py). A model without multi-head latent
/// attention has no such factor; its mscale_all_dim is in A alone.
double mlaSoftmaxFactor(double factor, std::optional<double> mscaleAllDim);

/// Sets softmaxFactor of a configuration that hasMscaleSoftmax to what its rule and parameters make of it, 1
/// under another rule than YaRN; leaves others as they are. To be called after each change of such a
/// configuration.
void followMscale(RopeConfig& config);

/// xPos: ln ζ_i/scale_base of each formed pair, ζ_i = (2i/w + γ)/(1 + γ), per token; the score's pair i is
/// damped by e^(r·rate). Empty without xPos, 0 for a still pair.
std::vector<double> dampingRates(const RopeConfig& config, const FrequencyTable& table);

/// The frequencies of a configuration that `validate` found no error in (asserted). Thread-safe, pure.
FrequencyTable frequencyTable(const RopeConfig& config);

} // namespace ropewalk
