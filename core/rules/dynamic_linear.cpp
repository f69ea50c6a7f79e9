// SPDX-License-Identifier: GPL-3.0-or-later
#include "rules.h"

#include <algorithm>

namespace ropewalk {
namespace {

void validateDynamicLinear(const RopeConfig&, std::vector<Issue>&) {}

void applyDynamicLinear(const RopeConfig& config, FrequencyTable& table)
{
    const auto training = static_cast<double>(trainingLength(config).value());
    const auto length = static_cast<double>(inferenceLength(config).value());
    const double stretch = std::max(1.0, length / training);
    table.scaled = table.plain;
    for (double& theta : table.scaled)
        theta /= stretch;
}

} // namespace

FrequencyRuleInfo dynamicLinearRule()
{
    return {FrequencyRule::DynamicLinear,
            "dynamic_linear",
            "dynamic linear (PI)",
            "θ′_i = θ_i / max(1, N/T)",
            "Dynamic PI of the YaRN authors: code in jquesnelle/yarn",
            {},
            true,
            true,
            validateDynamicLinear,
            applyDynamicLinear};
}

} // namespace ropewalk
