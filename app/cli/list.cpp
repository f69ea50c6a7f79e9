// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"

#include "../presets.h"
#include "arguments.h"
#include "console.h"
#include "exit_code.h"

#include "core/config_keys.h"
#include "core/figure_catalog.h"
#include "core/frequency_rules.h"
#include "core/json_writer.h"
#include "core/temperature.h"

#include <algorithm>
#include <array>

namespace ropewalk {
namespace {

constexpr std::array kOptions{OptionInfo{"--json"}};

/// One thing in a list, as columns: what it is called first. `keys` are the JSON's.
using Row = std::vector<std::string>;

struct List
{
    const char* name;
    std::vector<std::string> keys;
    std::vector<Row> rows;
};

List presets()
{
    List list{"presets", {"id", "name", "family", "mark", "source"}, {}};
    for (const Preset& preset : loadPresets())
        list.rows.push_back({preset.id, preset.config.name, preset.family, preset.mark, preset.source});
    return list;
}

List figures()
{
    List list{"figures", {"id", "title"}, {}};
    for (const FigureInfo& figure : figureCatalog())
        list.rows.push_back({std::string(figure.id), std::string(figure.title)});
    return list;
}

List rules()
{
    List list{"rules", {"id", "title", "formula", "source"}, {}};
    for (const FrequencyRuleInfo& rule : frequencyRules())
        list.rows.push_back({std::string(rule.word), std::string(rule.title), std::string(rule.formula),
                             std::string(rule.source)});
    return list;
}

List temperatures()
{
    List list{"temperatures", {"id", "title", "formula", "source"}, {}};
    for (const TemperatureInfo& rule : temperatureRules())
        list.rows.push_back({std::string(rule.word), std::string(rule.title), std::string(rule.formula),
                             std::string(rule.source)});
    return list;
}

constexpr std::array<std::pair<const char*, List (*)()>, 4> kLists{
    {{"presets", presets}, {"figures", figures}, {"rules", rules}, {"temperatures", temperatures}}};

std::string asJson(const List& list)
{
    JsonWriter json;
    json.beginObject();
    json.member("schema", "ropewalk.list/1");
    json.key(list.name);
    json.beginArray();
    for (const Row& row : list.rows) {
        json.beginObject(JsonWriter::Style::Inline);
        for (std::size_t i = 0; i < list.keys.size(); ++i)
            json.member(list.keys[i], row[i]);
        json.endObject();
    }
    json.endArray();
    json.endObject();
    return json.take();
}

std::string asText(const List& list)
{
    std::vector<qsizetype> widths(list.keys.size(), 0);
    for (const Row& row : list.rows)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], QString::fromStdString(row[i]).size());
    QString text;
    for (const Row& row : list.rows) {
        for (std::size_t i = 0; i + 1 < row.size(); ++i)
            text += QString::fromStdString(row[i]).leftJustified(widths[i] + 2);
        text += QString::fromStdString(row.back()) + QLatin1Char('\n');
    }
    return text.toStdString();
}

} // namespace

int runList(const QStringList& arguments)
{
    const Result<Arguments> sorted = sortArguments(arguments, kOptions);
    if (!sorted)
        return printError(sorted.error());
    const std::string wanted = sorted->words.value(0).toStdString();
    const auto list = std::find_if(kLists.begin(), kLists.end(),
                                   [&](const auto& candidate) { return candidate.first == wanted; });
    if (sorted->words.size() != 1 || list == kLists.end())
        return printError(
            {ErrorCode::Usage,
             {"list is asked for \"{wanted}\"; expected presets, figures, rules or temperatures",
              {{"wanted", sorted->words.join(QLatin1Char(' ')).toStdString()}}},
             {}});
    const List content = list->second();
    return printOut(sorted->has("--json") ? asJson(content) : asText(content));
}

} // namespace ropewalk
