// SPDX-License-Identifier: GPL-3.0-or-later
#include "../rope_math.h"
#include "rules.h"

#include <cmath>

namespace ropewalk {
namespace {

void validateResonance(const RopeConfig&, std::vector<Issue>&) {}

void applyResonance(const RopeConfig&, FrequencyTable& table)
{
    table.scaled = table.plain;
    for (double& theta : table.scaled)
        if (theta != 0.0) // held by the channel scheme
            theta = kTwoPi / std::round(kTwoPi / theta);
}

} // namespace

FrequencyRuleInfo resonanceRule()
{
    return {FrequencyRule::Resonance,
            "resonance",
            "Resonance RoPE",
            "θ′_i = 2π / round(2π/θ_i)",
            "Resonance RoPE, arXiv:2403.00071; formula from memory, not compared with its code",
            {},
            false,
            false,
            validateResonance,
            applyResonance,
            true};
}

} // namespace ropewalk
