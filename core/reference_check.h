// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "frequency_rules.h"
#include "result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ropewalk {

/// One frequency vector of resources/reference.json with the settings that it belongs to.
struct ReferenceEntry
{
    std::string name; ///< e.g. "inv_freq/llama3 Llama-3.1"
    int rotaryDim = 0;
    double base = 0.0;
    FrequencyRule rule = FrequencyRule::Default;
    RuleParameters parameters;
    std::optional<std::int64_t> trainingLength; ///< where the rule needs one
    std::vector<double> invFreq;                ///< rad/token, 17 digits
    std::optional<double> attentionFactor;
};

/// Reads resources/reference.json. Errors: BadInput.
Result<std::vector<ReferenceEntry>> readReferences(std::string_view text);

/// How far a live table is from its reference.
struct ReferenceMatch
{
    std::string name;
    double largestRelativeDifference = 0.0; ///< over inv_freq and the attention factor, computed here and now
};

/// The comparison with the entry that has the same settings, or empty when there is none.
std::optional<ReferenceMatch> compareWithReferences(const RopeConfig& config, const FrequencyTable& table,
                                                    const std::vector<ReferenceEntry>& references);

} // namespace ropewalk
