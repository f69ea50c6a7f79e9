// SPDX-License-Identifier: GPL-3.0-or-later
#include "../rope_math.h"
#include "rules.h"

#include <cassert>
#include <cmath>

namespace ropewalk {
namespace {

/// Far beyond any model, and far from where frequencies or squares of the factor leave the range of a double.
constexpr double kLargestFactor = 1e6;

} // namespace

double effectiveParameter(const RopeConfig& config, std::string_view key)
{
    for (const RuleParameterInfo& parameter : info(config.rule).parameters)
        if (parameter.key == key)
            return effectiveParameter(config, parameter).value_or(0.0);
    assert(false && "a rule asked for a parameter that its row does not name");
    return 0.0;
}

void addError(std::vector<Issue>& issues, std::string field, Message text)
{
    issues.push_back({Severity::Error, std::move(field), std::move(text)});
}

void requireFactor(const RopeConfig& config, std::vector<Issue>& issues)
{
    const std::optional<double> factor = effectiveParameter(config, info(config.rule).parameters.front());
    if (!factor)
        addError(issues, "factor",
                 {"the rule {rule} needs a factor of 1 or more; none is stated",
                  {{"rule", std::string(info(config.rule).word)}}});
    else if (*factor < 1.0 && !config.parameters.factor)
        addError(issues, "factor",
                 {"max_position_embeddings / original_max_position_embeddings, which fills in for the "
                  "factor, is {value}; "
                  "expected 1 or more",
                  {{"value", shortNumber(*factor)}}});
    else if (!(*factor >= 1.0 && *factor <= kLargestFactor))
        addError(issues, "factor",
                 {"factor is {value}; expected a number from 1 to {largest}",
                  {{"value", shortNumber(*factor)}, {"largest", shortNumber(kLargestFactor)}}});
}

bool requirePositive(const RopeConfig& config, const char* key, std::vector<Issue>& issues)
{
    const double value = effectiveParameter(config, key);
    if (value > 0.0 && std::isfinite(value))
        return true;
    addError(issues, key,
             {"{key} is {value}; expected a number above 0", {{"key", key}, {"value", shortNumber(value)}}});
    return false;
}

void requireNotNegative(const char* key, const std::optional<double>& value, std::vector<Issue>& issues)
{
    if (value && !(*value >= 0.0 && *value <= kLargestFactor))
        addError(issues, key,
                 {"{key} is {value}; expected a number from 0 to {largest}",
                  {{"key", key}, {"value", shortNumber(*value)}, {"largest", shortNumber(kLargestFactor)}}});
}

void requireTwoPairs(const RopeConfig& config, std::vector<Issue>& issues)
{
    if (scheduleWidth(config) == 2)
        addError(issues, "rotary_dim",
                 {"the rule {rule} needs at least 2 pairs, and rotary_dim 2 makes 1; expected 4 or more",
                  {{"rule", std::string(info(config.rule).word)}}});
}

std::vector<double> plainSchedule(const RopeConfig& config, double base)
{
    std::vector<double> thetas(static_cast<std::size_t>(pairCount(config)));
    for (int i = 0; i < pairCount(config); ++i)
        if (isTurningPair(config, i))
            thetas[static_cast<std::size_t>(i)] =
                plainTheta(base, scheduleIndex(config, i), scheduleWidth(config));
    return thetas;
}

} // namespace ropewalk
