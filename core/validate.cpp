// SPDX-License-Identifier: GPL-3.0-or-later
#include "validate.h"

#include "frequency_rules.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace ropewalk {
namespace {

constexpr int kLargestHeadDim = 8192;
constexpr double kLargestBase = 1e15; ///< wavelengths beyond are no number of tokens that anybody counts
constexpr std::int64_t kLongestLength = std::int64_t{1} << 40;

void checkLength(std::vector<Issue>& issues, const char* field, const std::optional<std::int64_t>& length)
{
    if (length && (*length < 1 || *length > kLongestLength))
        issues.push_back({Severity::Error,
                          field,
                          {"{field} is {value}; expected a whole number of tokens from 1 to {largest}",
                           {{"field", field},
                            {"value", std::to_string(*length)},
                            {"largest", std::to_string(kLongestLength)}}}});
}

/// Which pairs turn, as far as the scheme says it.
void checkChannels(std::vector<Issue>& issues, const RopeConfig& config)
{
    const ChannelScheme scheme = config.channels;
    if (scheme == ChannelScheme::First || scheme == ChannelScheme::Last)
        return;
    const std::string schemeWord(word(scheme));
    if (config.rotaryDim != config.headDim)
        issues.push_back(
            {Severity::Error,
             "rotary_dim",
             {"rotary_dim is {value}; with channels={channels} pairs are formed over the whole head, "
              "expected head_dim, {head_dim}",
              {{"value", std::to_string(config.rotaryDim)},
               {"channels", schemeWord},
               {"head_dim", std::to_string(config.headDim)}}}});
    if (scheme != ChannelScheme::Custom) {
        if (config.headDim % 4 != 0)
            issues.push_back({Severity::Error,
                              "head_dim",
                              {"head_dim is {value}; channels={channels} needs a number that divides by 4",
                               {{"value", std::to_string(config.headDim)}, {"channels", schemeWord}}}});
        return;
    }
    const std::vector<int>& pairs = config.customPairs;
    const bool isAscending =
        std::adjacent_find(pairs.begin(), pairs.end(), std::greater_equal<>()) == pairs.end();
    if (!isAscending || (!pairs.empty() && (pairs.front() < 0 || pairs.back() >= config.headDim / 2)))
        issues.push_back({Severity::Error,
                          "custom_pairs",
                          {"custom_pairs has to be a rising list of pairs from 0 to {last}",
                           {{"last", std::to_string(config.headDim / 2 - 1)}}}});
}

} // namespace

std::vector<Issue> validate(const RopeConfig& config)
{
    std::vector<Issue> issues;
    const auto error = [&](const char* field, Message text) {
        issues.push_back({Severity::Error, field, std::move(text)});
    };
    const auto warn = [&](const char* field, Message text) {
        issues.push_back({Severity::Warning, field, std::move(text)});
    };
    if (config.headDim < 2 || config.headDim > kLargestHeadDim || config.headDim % 2 != 0)
        error("head_dim",
              {"head_dim is {value}; expected an even number from 2 to {largest}",
               {{"value", std::to_string(config.headDim)}, {"largest", std::to_string(kLargestHeadDim)}}});
    if (config.rotaryDim % 2 != 0)
        error("rotary_dim", {"odd rotary width {value}; expected an even number of rotated channels",
                             {{"value", std::to_string(config.rotaryDim)}}});
    else if (config.rotaryDim < 0 || config.rotaryDim > config.headDim)
        error("rotary_dim",
              {"rotary_dim is {value}; expected an even number from 0 to head_dim, {head_dim}",
               {{"value", std::to_string(config.rotaryDim)}, {"head_dim", std::to_string(config.headDim)}}});
    checkChannels(issues, config);
    if (!(config.base > 1.0 && config.base <= kLargestBase))
        error("base", {"base is {value}; expected a number above 1, at most {largest}",
                       {{"value", shortNumber(config.base, 17)}, {"largest", shortNumber(kLargestBase)}}});
    checkLength(issues, "max_position_embeddings", config.maxPositionEmbeddings);
    checkLength(issues, "original_max_position_embeddings", config.originalMaxPositionEmbeddings);
    checkLength(issues, "length", config.length);
    if (!(config.softmaxFactor > 0.0) || !std::isfinite(config.softmaxFactor))
        error("softmax_factor", {"softmax_factor is {value}; expected a number above 0",
                                 {{"value", shortNumber(config.softmaxFactor)}}});
    if (config.xpos && (!(config.xpos->scaleBase > 0.0) || !std::isfinite(config.xpos->scaleBase)))
        error("xpos_scale_base", {"xpos_scale_base is {value}; expected a number of tokens above 0",
                                  {{"value", shortNumber(config.xpos->scaleBase)}}});
    if (config.xpos && (!(config.xpos->gamma > 0.0) || !std::isfinite(config.xpos->gamma)))
        error("xpos_gamma", {"xpos_gamma is {value}; expected a number above 0",
                             {{"value", shortNumber(config.xpos->gamma)}}});
    if (pairCount(config) == 0 || hasError(issues))
        return issues;

    const FrequencyRuleInfo& rule = info(config.rule);
    if (rule.rule == FrequencyRule::Dynamic && !trainingLength(config))
        error("max_position_embeddings",
              {"the rule {rule} measures against max_position_embeddings, which is not stated",
               {{"rule", std::string(rule.word)}}});
    else if (rule.needsTrainingLength && !trainingLength(config))
        error("original_max_position_embeddings",
              {"the rule {rule} needs the training length; neither original_max_position_embeddings nor "
               "max_position_embeddings is stated",
               {{"rule", std::string(rule.word)}}});
    else
        rule.validate(config, issues);
    const auto& factor = config.parameters.factor;
    if (!hasError(issues) && rule.needsTrainingLength && factor && config.maxPositionEmbeddings &&
        config.originalMaxPositionEmbeddings) {
        const double ratio = static_cast<double>(*config.maxPositionEmbeddings) /
                             static_cast<double>(*config.originalMaxPositionEmbeddings);
        if ((config.rule == FrequencyRule::Yarn || config.rule == FrequencyRule::LongRope) &&
            std::fabs(ratio - *factor) > 1e-9 * *factor)
            warn("factor", {"factor {factor} is stated and counts; max_position_embeddings / "
                            "original_max_position_embeddings is {ratio}",
                            {{"factor", shortNumber(*factor)}, {"ratio", shortNumber(ratio)}}});
    }
    return issues;
}

bool hasError(const std::vector<Issue>& issues)
{
    return firstError(issues) != nullptr;
}

const Issue* firstError(const std::vector<Issue>& issues)
{
    const auto found = std::find_if(issues.begin(), issues.end(),
                                    [](const Issue& issue) { return issue.severity == Severity::Error; });
    return found == issues.end() ? nullptr : &*found;
}

} // namespace ropewalk
