// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"

#include "../composition.h"
#include "arguments.h"
#include "console.h"
#include "produce.h"

#include "core/json_writer.h"

#include <array>

namespace ropewalk {
namespace {

constexpr std::array kOptions{OptionInfo{"--json"}, OptionInfo{"--cpu-level", true}};

} // namespace

int runBackends(const QStringList& arguments)
{
    const Result<Arguments> sorted = sortArguments(arguments, kOptions);
    if (!sorted)
        return printError(sorted.error());
    if (!sorted->words.isEmpty())
        return printError({ErrorCode::Usage,
                           {"backends takes no \"{word}\"; expected ropewalk backends [--json]",
                            {{"word", sorted->words.first().toStdString()}}},
                           {}});
    const Result<CpuSettings> cpu = chooseCpu(*sorted);
    if (!cpu)
        return printError(cpu.error());
    const std::vector<Engine::BackendReport> reports = makeEngine(BackendChoice::Auto, *cpu)->report();
    const std::vector<CpuLevel> levels = availableCpuLevels();
    if (!sorted->has("--json")) {
        std::string text;
        for (const Engine::BackendReport& report : reports)
            text += report.info.name + "  " +
                    (report.isUsable ? report.info.device + ", " + report.info.precision
                                     : "not usable: " + toEnglish(report.reason)) +
                    "\n";
        text += "levels of this processor:";
        for (const CpuLevel level : levels)
            text += " " + std::string(cpuLevelWord(level));
        return printOut(text + "\n");
    }
    JsonWriter json;
    json.beginObject();
    json.member("schema", "ropewalk.backends/1");
    json.key("backends");
    json.beginArray();
    for (const Engine::BackendReport& report : reports) {
        json.beginObject(JsonWriter::Style::Inline);
        json.member("name", report.info.name);
        json.member("is_usable", report.isUsable);
        json.member("device", report.isUsable ? std::optional(report.info.device) : std::nullopt);
        json.member("precision", report.isUsable ? std::optional(report.info.precision) : std::nullopt);
        json.member("reason", report.isUsable ? std::nullopt : std::optional(toEnglish(report.reason)));
        json.endObject();
    }
    json.endArray();
    json.key("cpu_levels");
    json.beginArray(JsonWriter::Style::Inline);
    for (const CpuLevel level : levels)
        json.value(cpuLevelWord(level));
    json.endArray();
    json.endObject();
    return printOut(json.take());
}

} // namespace ropewalk
