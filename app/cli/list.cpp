// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"

#include "../presets.h"
#include "../tensors.h"
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
        list.rows.push_back({preset.id, preset.name, preset.family, preset.mark, preset.source});
    for (const Preset& model : loadClosedModels())
        list.rows.push_back({model.id, model.name, model.family, model.mark, model.reason});
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

List tensors()
{
    List list{"tensors", {"id", "title"}, {}};
    for (const BuiltinTensors& builtin : builtinTensors())
        list.rows.push_back({builtin.name, builtin.title});
    return list;
}

constexpr std::array<std::pair<const char*, List (*)()>, 5> kLists{{{"presets", presets},
                                                                    {"figures", figures},
                                                                    {"rules", rules},
                                                                    {"temperatures", temperatures},
                                                                    {"tensors", tensors}}};

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
    // "list presets WORD": those with the word in their name, family or id.
    const QString filter = sorted->words.value(1);
    const std::string wanted = sorted->words.value(0).toStdString();
    const auto list = std::find_if(kLists.begin(), kLists.end(),
                                   [&](const auto& candidate) { return candidate.first == wanted; });
    const bool mayFilter = wanted == "presets" && sorted->words.size() == 2;
    if ((sorted->words.size() != 1 && !mayFilter) || list == kLists.end())
        return printError(
            {ErrorCode::Usage,
             {"list is asked for \"{wanted}\"; expected presets, figures, rules, temperatures or tensors",
              {{"wanted", sorted->words.join(QLatin1Char(' ')).toStdString()}}},
             {}});
    List content = list->second();
    if (!filter.isEmpty())
        std::erase_if(content.rows, [&](const Row& row) {
            return std::none_of(row.begin(), row.begin() + 3, [&](const std::string& cell) {
                return QString::fromStdString(cell).contains(filter, Qt::CaseInsensitive);
            });
        });
    return printOut(sorted->has("--json") ? asJson(content) : asText(content));
}

} // namespace ropewalk
