// SPDX-License-Identifier: GPL-3.0-or-later
#include "produce.h"

#include "../file_text.h"
#include "cli.h"

#include "core/validate.h"
#include "core/write_figure.h"

#include <algorithm>
#include <array>

namespace ropewalk {
namespace {

struct Ending
{
    const char* ending;
    OutputType type;
};
constexpr std::array kEndings{Ending{"pdf", OutputType::Pdf}, Ending{"svg", OutputType::Svg},
                              Ending{"png", OutputType::Png}, Ending{"csv", OutputType::Csv},
                              Ending{"json", OutputType::Json}};

} // namespace

std::optional<OutputType> outputTypeOfEnding(const QString& ending)
{
    const auto found = std::find_if(kEndings.begin(), kEndings.end(),
                                    [&](const Ending& row) { return ending == QLatin1String(row.ending); });
    return found == kEndings.end() ? std::nullopt : std::optional(found->type);
}

Result<CpuSettings> chooseCpu(const Arguments& arguments, std::span<const CpuLevel> levels)
{
    const std::string word =
        arguments.has("--cpu-level") ? arguments.value("--cpu-level").toStdString() : "auto";
    if (word == "auto")
        return CpuSettings{};
    const std::optional<CpuLevel> level = cpuLevelOf(word);
    if (!level || *level == CpuLevel::Generic)
        return Error{
            ErrorCode::Usage, {"--cpu-level is {level}; expected auto, v2, v3 or v4", {{"level", word}}}, {}};
    if (std::find(levels.begin(), levels.end(), *level) != levels.end())
        return CpuSettings{.level = level};
    std::string words = "auto";
    for (const CpuLevel available : levels)
        if (available != CpuLevel::Generic)
            words += ", " + std::string(cpuLevelWord(available));
    return Error{ErrorCode::NotAvailable,
                 {"this processor, or this build, has no {level}; expected one of {levels}",
                  {{"level", word}, {"levels", words}}},
                 "--cpu-level"};
}

Result<CpuSettings> takeCpu(QStringList& arguments)
{
    if (arguments.isEmpty() || !arguments.first().startsWith(QLatin1String("--cpu-level")))
        return CpuSettings{};
    const qsizetype count = arguments.first().contains(QLatin1Char('=')) ? 1 : 2;
    const QStringList option = arguments.mid(0, count), rest = arguments.mid(count);
    const Result<Arguments> sorted = sortArguments(option, std::array{OptionInfo{"--cpu-level", true}});
    if (!sorted)
        return sorted.error();
    arguments = rest;
    if (isCommandLine(rest))
        arguments = rest.mid(0, 1) + option + rest.mid(1);
    return chooseCpu(*sorted);
}

Result<std::unique_ptr<Engine>> openEngine(BackendChoice choice, CpuSettings cpu)
{
    std::unique_ptr<Engine> engine = makeEngine(choice, cpu);
    if (choice == BackendChoice::Auto)
        return engine;
    // Asked before anything is computed, so that the answer does not depend on what the figure needs.
    const Engine::BackendReport first = engine->report().front();
    if (!first.isUsable)
        return Error{ErrorCode::NotAvailable, first.reason, "--backend " + first.info.name};
    return engine;
}

Result<FigureSpec> computeFigure(Engine& engine, const FigureInfo& figure, const FigureSource& source,
                                 OutputType type, const std::function<void(double)>& progress)
{
    for (const FigureConfiguration& shown : source.configurations) {
        const std::vector<Issue> issues = validate(shown.config);
        if (const Issue* error = firstError(issues))
            return Error{ErrorCode::BadInput, error->text, shown.config.name};
    }
    ComputeRequest request;
    request.configurations = source.configurations;
    request.options = source.options;
    request.figures = {std::string(figure.id)};
    request.wantsDecay = figure.needsDecay;
    // The data is complete whether the bound is drawn or not.
    request.wantsBound = source.options.showBound || type == OutputType::Json || type == OutputType::Csv;
    const Result<FigureResults> results = computeFigureResults(engine, request, nullptr, {}, progress);
    if (!results)
        return results.error();
    FigureSpec spec = buildFigure(figure, *results);
    if (!spec.failure.isEmpty())
        return Error{ErrorCode::BadInput, spec.failure, spec.id};
    return spec;
}

Result<QByteArray> writeAs(OutputType type, const FigureSpec& figure, ExportOptions options)
{
    switch (type) {
    case OutputType::Json:
        return QByteArray::fromStdString(figureToJson(figure));
    case OutputType::Csv:
        return QByteArray::fromStdString(figureToCsv(figure));
    case OutputType::Pdf:
        options.format = ExportFormat::Pdf;
        break;
    case OutputType::Svg:
        options.format = ExportFormat::Svg;
        break;
    case OutputType::Png:
        options.format = ExportFormat::Png;
        break;
    }
    return exportFigure(figure, options);
}

Result<void> writeAsFile(const QString& path, OutputType type, const FigureSpec& figure,
                         const ExportOptions& options)
{
    if (type == OutputType::Json || type == OutputType::Csv)
        return writeFileInPieces(path, [&](const FileSink& sink) {
            type == OutputType::Json ? writeFigureJson(figure, sink) : writeFigureCsv(figure, sink);
        });
    const Result<QByteArray> content = writeAs(type, figure, options);
    return content ? writeFile(path, *content) : Result<void>(content.error());
}

} // namespace ropewalk
