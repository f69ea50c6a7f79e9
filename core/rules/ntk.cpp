// SPDX-License-Identifier: GPL-3.0-or-later
#include "rules.h"

#include <array>
#include <cmath>

namespace ropewalk {
namespace {

constexpr std::array kParameters{kFactorParameter};

/// The base that makes the slowest pair `stretch` times slower and leaves the fastest:
/// base·stretch^(d/(d-2)).
double stretchedBase(const RopeConfig& config, double stretch)
{
    const double width = scheduleWidth(config);
    return config.base * std::pow(stretch, width / (width - 2.0));
}

void validateNtkAware(const RopeConfig& config, std::vector<Issue>& issues)
{
    requireFactor(config, issues);
    requireTwoPairs(config, issues);
}

void applyNtkAware(const RopeConfig& config, FrequencyTable& table)
{
    table.scaled = plainSchedule(config, stretchedBase(config, effectiveParameter(config, "factor")));
}

void applyDynamic(const RopeConfig& config, FrequencyTable& table)
{
    const auto training = static_cast<double>(trainingLength(config).value());
    const auto length = static_cast<double>(inferenceLength(config).value());
    const double factor = effectiveParameter(config, "factor");
    // Without memory: what came before does not count, and up to T the frequencies are the plain ones to the
    // bit.
    table.scaled =
        length <= training
            ? table.plain
            : plainSchedule(config, stretchedBase(config, factor * length / training - (factor - 1.0)));
}

/// 2^⌈log2(N/T)+1⌉ - 1 without rounding: 1 up to T, 3 up to 2T, 7 up to 4T.
double qwenAlpha(std::int64_t length, std::int64_t training)
{
    double alpha = 1.0;
    for (double reach = static_cast<double>(training); reach < static_cast<double>(length); reach *= 2.0)
        alpha = 2.0 * alpha + 1.0;
    return alpha;
}

void applyDynamicQwen(const RopeConfig& config, FrequencyTable& table)
{
    const double alpha = qwenAlpha(inferenceLength(config).value(), trainingLength(config).value());
    table.scaled = alpha == 1.0 ? table.plain : plainSchedule(config, stretchedBase(config, alpha));
}

} // namespace

FrequencyRuleInfo ntkAwareRule()
{
    return {FrequencyRule::NtkAware,
            "ntk_aware",
            "NTK-aware",
            "base′ = base·s^(d/(d−2))",
            "YaRN, arXiv:2309.00071, section 3.1; code in jquesnelle/yarn",
            kParameters,
            false,
            false,
            validateNtkAware,
            applyNtkAware};
}

FrequencyRuleInfo dynamicRule()
{
    return {FrequencyRule::Dynamic,
            "dynamic",
            "dynamic NTK",
            "base′ = base·(sN/T − (s−1))^(d/(d−2)) for N > T, T = max_position_embeddings",
            "huggingface/transformers, modeling_rope_utils.py, _compute_dynamic_ntk_parameters",
            kParameters,
            true,
            true,
            validateNtkAware,
            applyDynamic};
}

FrequencyRuleInfo dynamicQwenRule()
{
    return {FrequencyRule::DynamicQwen,
            "dynamic_qwen",
            "dynamic NTK (Qwen)",
            "base′ = base·α^(d/(d−2)), α = max(1, 2^ceil(log2(N/T)+1) − 1)",
            "Qwen-7B, modeling_qwen.py, get_ntk_alpha",
            {},
            true,
            true,
            requireTwoPairs,
            applyDynamicQwen};
}

} // namespace ropewalk
