// SPDX-License-Identifier: GPL-3.0-or-later
#include "temperature.h"

#include "frequency_rules.h"
#include "validate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ropewalk {
namespace {

double square(double x)
{
    return x * x;
}

/// N against T, not below 1 with the floor on.
double stretch(const RopeConfig& config, double visible, double length)
{
    const double ratio = visible / length;
    return config.temperature.hasFloor ? std::max(1.0, ratio) : ratio;
}

double tauNone(const RopeConfig&, double, double, double)
{
    return 1.0;
}

double tauRopeId(const RopeConfig& config, double visible, double length, double coefficient)
{
    return square(1.0 + coefficient * std::log(stretch(config, visible, length)));
}

double tauYarn(const RopeConfig& config, double, double, double coefficient)
{
    if (isInAttentionFactor(config) && !hasError(validate(config)))
        return square(frequencyTable(config).attentionFactor);
    return square(1.0 + coefficient * std::log(std::max(1.0, extensionFactor(config).value_or(1.0))));
}

double tauLongRope(const RopeConfig& config, double, double length, double)
{
    if (isInAttentionFactor(config) && !hasError(validate(config)))
        return square(frequencyTable(config).attentionFactor);
    const double factor = extensionFactor(config).value_or(1.0);
    return factor > 1.0 && length > 1.0 ? 1.0 + std::log(factor) / std::log(length) : 1.0;
}

double tauLogN(const RopeConfig& config, double visible, double length, double)
{
    const double tau = std::log(visible) / std::log(length);
    return config.temperature.hasFloor ? std::max(1.0, tau) : tau;
}

double tauLlama4(const RopeConfig&, double visible, double length, double coefficient)
{
    return 1.0 + coefficient * std::log(1.0 + std::floor(visible / length));
}

double tauMinistral(const RopeConfig&, double visible, double length, double coefficient)
{
    return 1.0 + coefficient * std::log(1.0 + std::floor((visible - 1.0) / length));
}

double tauScalableSoftmax(const RopeConfig&, double visible, double, double coefficient)
{
    return coefficient * std::log(visible);
}

constexpr std::array kRules{
    TemperatureInfo{TemperatureRule::None, "none", "none", "τ = 1",
                    "scaled dot-product attention, arXiv:1706.03762", "all", std::nullopt, false, true, false,
                    std::nullopt, tauNone},
    TemperatureInfo{TemperatureRule::RopeId, "rope_id", "RoPE-ID", "τ = (1 + 0.1 ln max(1, N/T))²",
                    "RoPE-ID, arXiv:2603.18017; its first author's code", "all", std::nullopt, true, false,
                    true, 0.1, tauRopeId},
    TemperatureInfo{TemperatureRule::Yarn, "yarn", "YaRN", "τ = (0.1 ln s + 1)², constant",
                    "YaRN, arXiv:2309.00071, section 3.4; there as A on cos and sin of q and k", "all",
                    std::nullopt, false, true, false, 0.1, tauYarn},
    TemperatureInfo{TemperatureRule::LongRope, "longrope", "LongRoPE", "τ = 1 + ln s/ln T, constant",
                    "microsoft/LongRoPE; there as A on cos and sin of q and k", "all", std::nullopt, true,
                    true, false, std::nullopt, tauLongRope},
    TemperatureInfo{TemperatureRule::LogN, "log_n", "log-n", "τ = max(1, ln N/ln T)",
                    "Su, kexue.fm/archives/8823; Qwen-7B, logn_list", "all", std::nullopt, true, false, true,
                    std::nullopt, tauLogN},
    TemperatureInfo{TemperatureRule::Llama4, "llama4", "Llama-4", "τ = 1 + 0.1 ln(1 + floor((p+1)/8192))",
                    "huggingface/transformers, llama4, attn_scale and floor_scale", "without rotation", 8192,
                    true, false, false, 0.1, tauLlama4},
    TemperatureInfo{TemperatureRule::Ministral, "ministral", "Ministral-3",
                    "τ = 1 + 0.1 ln(1 + floor(p/16384))",
                    "huggingface/transformers, ministral3, llama_4_scaling_beta", "all", 16384, true, false,
                    false, 0.1, tauMinistral},
    // s is learned, one a head; 1 is none that a model has, but what is left of the formula without it.
    TemperatureInfo{TemperatureRule::ScalableSoftmax, "scalable_softmax", "Scalable-Softmax",
                    "τ = s ln N, s learned", "Scalable-Softmax, arXiv:2501.19399", "all", std::nullopt, false,
                    false, false, 1.0, tauScalableSoftmax},
};

} // namespace

std::span<const TemperatureInfo> temperatureRules()
{
    return kRules;
}

const TemperatureInfo& info(TemperatureRule rule)
{
    return *std::find_if(kRules.begin(), kRules.end(), [&](const auto& row) { return row.rule == rule; });
}

const TemperatureInfo* findTemperatureRule(std::string_view word)
{
    const auto found =
        std::find_if(kRules.begin(), kRules.end(), [&](const auto& row) { return row.word == word; });
    return found == kRules.end() ? nullptr : &*found;
}

std::optional<std::int64_t> temperatureLength(const RopeConfig& config)
{
    const TemperatureInfo& rule = info(config.temperature.rule);
    if (!rule.needsLength)
        return std::nullopt;
    if (config.temperature.referenceLength)
        return config.temperature.referenceLength;
    return rule.referenceLength ? rule.referenceLength : trainingLength(config);
}

std::optional<double> extensionFactor(const RopeConfig& config)
{
    if (config.parameters.factor)
        return config.parameters.factor;
    if (config.maxPositionEmbeddings && config.originalMaxPositionEmbeddings)
        return static_cast<double>(*config.maxPositionEmbeddings) /
               static_cast<double>(*config.originalMaxPositionEmbeddings);
    return std::nullopt;
}

std::optional<double> temperatureAt(const RopeConfig& config, double visible)
{
    const TemperatureInfo& rule = info(config.temperature.rule);
    const std::optional<std::int64_t> length = temperatureLength(config);
    if (rule.needsLength && (!length || *length < 1))
        return std::nullopt;
    // ln T divides.
    if (rule.rule == TemperatureRule::LogN && *length < 2)
        return std::nullopt;
    return rule.tau(config, std::max(1.0, visible), static_cast<double>(length.value_or(1)),
                    config.temperature.coefficient.value_or(rule.coefficient.value_or(0.0)));
}

std::optional<double> temperatureOfQuery(const RopeConfig& config, std::int64_t position)
{
    if (config.temperature.isPerQuery)
        return temperatureAt(config, static_cast<double>(position) + 1.0);
    const auto length = inferenceLength(config);
    return length || info(config.temperature.rule).isConstant
               ? temperatureAt(config, static_cast<double>(length.value_or(1)))
               : std::nullopt;
}

NeedleAttention needleAttention(double logit, double visible, double tau)
{
    const double scaled = tau * logit;
    // Divided by e^{τs}, so that nothing overflows.
    const double others = (visible - 1.0) * std::exp(-scaled);
    NeedleAttention found;
    found.mass = 1.0 / (1.0 + others);
    // s - s·mass written so that nothing cancels where the needle takes nearly all.
    found.entropyNats = std::log1p(others) + scaled * (others / (1.0 + others));
    return found;
}

double gaussianEntropyEstimate(double visible, double spread)
{
    return std::log(visible) - spread * spread / 2.0;
}

double factorOnEvenLogit(double tau, double rotatedShare)
{
    return 1.0 - rotatedShare + rotatedShare * tau;
}

double factorOnEvenSpread(double tau, double rotatedShare)
{
    return std::sqrt(1.0 - rotatedShare + rotatedShare * tau * tau);
}

double misprintedWithoutRatio(double visible, double trainingLength)
{
    return square(1.0 + 0.1 * std::log(std::min(visible, trainingLength)));
}

double misprintedWithMinimum(double visible, double trainingLength)
{
    return square(1.0 + 0.1 * std::log(std::min(visible, trainingLength) / trainingLength));
}

bool isInAttentionFactor(const RopeConfig& config)
{
    return pairCount(config) > 0 &&
           ((config.temperature.rule == TemperatureRule::Yarn && config.rule == FrequencyRule::Yarn) ||
            (config.temperature.rule == TemperatureRule::LongRope && config.rule == FrequencyRule::LongRope));
}

} // namespace ropewalk
