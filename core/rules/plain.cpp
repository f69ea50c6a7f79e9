// SPDX-License-Identifier: GPL-3.0-or-later
#include "rules.h"

#include <array>

namespace ropewalk {
namespace {

constexpr std::array kParameters{kFactorParameter};

void validateNothing(const RopeConfig&, std::vector<Issue>&) {}

void applyDefault(const RopeConfig&, FrequencyTable& table)
{
    table.scaled = table.plain;
}

void applyLinear(const RopeConfig& config, FrequencyTable& table)
{
    const double factor = effectiveParameter(config, "factor");
    table.scaled = table.plain;
    for (double& theta : table.scaled)
        theta /= factor;
}

} // namespace

FrequencyRuleInfo defaultRule()
{
    return {FrequencyRule::Default,
            "default",
            "plain",
            "θ_i = base^(−2i/d)",
            "RoFormer, arXiv:2104.09864, section 3.2.2",
            {},
            false,
            false,
            validateNothing,
            applyDefault,
            true};
}

FrequencyRuleInfo linearRule()
{
    return {FrequencyRule::Linear,
            "linear",
            "linear (PI)",
            "θ′_i = θ_i / s",
            "Position Interpolation, arXiv:2306.15595, equation 4",
            kParameters,
            false,
            false,
            requireFactor,
            applyLinear};
}

FrequencyRuleInfo noneRule()
{
    // No pairs are formed, so that apply is never reached.
    return {FrequencyRule::None,      "none",       "none (NoPE)", "θ_i = 0 for every pair",
            "NoPE, arXiv:2305.19466", {},           false,         false,
            validateNothing,          applyDefault, true};
}

} // namespace ropewalk
