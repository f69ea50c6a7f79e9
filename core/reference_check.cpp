// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_check.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

/// Whether the parameters that the rule uses have the same effect.
bool parametersAgree(const RopeConfig& config, const ReferenceEntry& reference)
{
    RopeConfig other;
    other.rule = reference.rule;
    other.parameters = reference.parameters;
    const FrequencyRuleInfo& rule = info(config.rule);
    return std::all_of(
        rule.parameters.begin(), rule.parameters.end(), [&](const RuleParameterInfo& parameter) {
            if (parameter.list)
                return config.parameters.*parameter.list == other.parameters.*parameter.list;
            if (parameter.spacing)
                return (config.parameters.*parameter.spacing).value_or(Spacing::Geometric) ==
                       (other.parameters.*parameter.spacing).value_or(Spacing::Geometric);
            return effectiveParameter(config, parameter) == effectiveParameter(other, parameter);
        });
}

double relativeDifference(double value, double expected)
{
    return expected == 0.0 ? std::fabs(value) : std::fabs(value - expected) / std::fabs(expected);
}

} // namespace

Result<std::vector<ReferenceEntry>> readReferences(std::string_view text)
{
    using nlohmann::json;
    const json file = json::parse(text, nullptr, false);
    if (!file.is_array())
        return Error{ErrorCode::BadInput, "the reference values are not a JSON list", "reference.json"};
    std::vector<ReferenceEntry> references;
    try {
        for (const json& row : file) {
            ReferenceEntry entry;
            entry.name = row.at("name").get<std::string>();
            entry.rotaryDim = row.at("rotary_dim").get<int>();
            entry.base = row.at("base").get<double>();
            const FrequencyRuleInfo* rule = findFrequencyRule(row.at("rule").get<std::string>());
            if (!rule)
                return Error{ErrorCode::BadInput,
                             {"{name} names an unknown rule", {{"name", entry.name}}},
                             "reference.json"};
            entry.rule = rule->rule;
            for (const RuleParameterInfo& parameter : rule->parameters) {
                const auto found = row.find(parameter.key);
                if (found == row.end())
                    continue;
                if (parameter.number)
                    entry.parameters.*parameter.number = found->get<double>();
                else if (parameter.truth)
                    entry.parameters.*parameter.truth = found->get<bool>();
            }
            // What the entry states as a result is no setting of it.
            entry.parameters.attentionFactor.reset();
            if (row.contains("training_length"))
                entry.trainingLength = row.at("training_length").get<std::int64_t>();
            if (row.contains("attention_factor"))
                entry.attentionFactor = row.at("attention_factor").get<double>();
            entry.invFreq = row.at("inv_freq").get<std::vector<double>>();
            references.push_back(std::move(entry));
        }
    } catch (const json::exception& problem) {
        return Error{ErrorCode::BadInput,
                     {"a reference value cannot be read: {reason}", {{"reason", problem.what()}}},
                     "reference.json"};
    }
    return references;
}

std::optional<ReferenceMatch> compareWithReferences(const RopeConfig& config, const FrequencyTable& table,
                                                    const std::vector<ReferenceEntry>& references)
{
    for (const ReferenceEntry& reference : references) {
        if (reference.rotaryDim != formedWidth(config) || turningPairCount(config) != pairCount(config) ||
            scheduleWidth(config) != formedWidth(config) || reference.base != config.base ||
            reference.rule != config.rule || reference.invFreq.size() != table.scaled.size() ||
            (info(config.rule).needsTrainingLength && reference.trainingLength != trainingLength(config)) ||
            !parametersAgree(config, reference))
            continue;
        ReferenceMatch match{reference.name, 0.0};
        for (std::size_t i = 0; i < table.scaled.size(); ++i)
            match.largestRelativeDifference = std::max(
                match.largestRelativeDifference, relativeDifference(table.scaled[i], reference.invFreq[i]));
        if (reference.attentionFactor)
            match.largestRelativeDifference =
                std::max(match.largestRelativeDifference,
                         relativeDifference(table.attentionFactor, *reference.attentionFactor));
        return match;
    }
    return std::nullopt;
}

} // namespace ropewalk
