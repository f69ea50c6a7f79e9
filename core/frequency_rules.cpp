// SPDX-License-Identifier: GPL-3.0-or-later
#include "frequency_rules.h"

#include "rope_math.h"
#include "rules/rules.h"
#include "validate.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace ropewalk {

std::span<const FrequencyRuleInfo> frequencyRules()
{
    static const std::array kRules{
        defaultRule(),       linearRule(),     ntkAwareRule(),     dynamicRule(),  dynamicQwenRule(),
        dynamicLinearRule(), ntkByPartsRule(), yarnRule(),         llama3Rule(),   longRopeRule(),
        resonanceRule(),     ropeIdRule(),     proportionalRule(), explicitRule(), noneRule(),
    };
    return kRules;
}

const FrequencyRuleInfo& info(FrequencyRule rule)
{
    const auto rules = frequencyRules();
    return *std::find_if(rules.begin(), rules.end(), [&](const auto& row) { return row.rule == rule; });
}

const FrequencyRuleInfo* findFrequencyRule(std::string_view word)
{
    const auto rules = frequencyRules();
    const auto found =
        std::find_if(rules.begin(), rules.end(), [&](const auto& row) { return row.word == word; });
    return found == rules.end() ? nullptr : &*found;
}

std::optional<double> effectiveParameter(const RopeConfig& config, const RuleParameterInfo& parameter)
{
    assert(parameter.number || parameter.truth);
    if (parameter.truth) {
        const std::optional<bool>& stated = config.parameters.*parameter.truth;
        return stated ? std::optional(*stated ? 1.0 : 0.0) : parameter.defaultValue;
    }
    const std::optional<double>& stated = config.parameters.*parameter.number;
    if (stated && !(parameter.zeroMeansUnset && *stated == 0.0))
        return stated;
    const bool takesRatio = config.rule == FrequencyRule::Yarn || config.rule == FrequencyRule::LongRope;
    if (parameter.key == "factor" && takesRatio && config.maxPositionEmbeddings)
        return static_cast<double>(*config.maxPositionEmbeddings) /
               static_cast<double>(trainingLength(config).value());
    return parameter.defaultValue;
}

int FrequencyTable::turningPairs() const
{
    return static_cast<int>(
        std::count_if(scaled.begin(), scaled.end(), [](double theta) { return theta != 0.0; }));
}

std::vector<double> dampingRates(const RopeConfig& config, const FrequencyTable& table)
{
    if (!config.xpos)
        return {};
    std::vector<double> rates(table.scaled.size(), 0.0);
    for (int i = 0; i < static_cast<int>(rates.size()); ++i)
        if (table.turns(i))
            rates[static_cast<std::size_t>(i)] =
                std::log((2.0 * scheduleIndex(config, i) / scheduleWidth(config) + config.xpos->gamma) /
                         (1.0 + config.xpos->gamma)) /
                config.xpos->scaleBase;
    return rates;
}

FrequencyTable frequencyTable(const RopeConfig& config)
{
    assert(!hasError(validate(config)));
    FrequencyTable table;
    if (pairCount(config) == 0)
        return table;
    table.plain = plainSchedule(config, config.base);
    info(config.rule).apply(config, table);
    for (int i = 0; i < pairCount(config); ++i)
        if (!isTurningPair(config, i))
            table.scaled[static_cast<std::size_t>(i)] = 0.0;
    return table;
}

} // namespace ropewalk
