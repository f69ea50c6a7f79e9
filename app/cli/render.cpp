// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"

#include "../file_text.h"
#include "arguments.h"
#include "console.h"
#include "exit_code.h"
#include "produce.h"
#include "sources.h"

#include "core/config_keys.h"

#include <QFileInfo>
#include <QJsonDocument>

#include <array>

namespace ropewalk {
namespace {

constexpr std::array kOptions{
    OptionInfo{"--preset", true},    OptionInfo{"--config", true},     OptionInfo{"--session", true},
    OptionInfo{"--set", true, true}, OptionInfo{"--size", true},       OptionInfo{"--dpi", true},
    OptionInfo{"--theme", true},     OptionInfo{"--layer-type", true}, OptionInfo{"--backend", true},
    OptionInfo{"--check"},           OptionInfo{"-o", true},           OptionInfo{"--cpu-level", true},
};

Error usage(std::string text, std::vector<std::pair<std::string, std::string>> values = {})
{
    return {ErrorCode::Usage, {std::move(text), std::move(values)}, {}};
}

Result<const FigureInfo*> chooseFigure(const QStringList& words)
{
    if (words.size() != 1)
        return usage(words.isEmpty()
                         ? "render needs a FIGURE; expected ropewalk render decay -o decay.pdf"
                         : "render takes one FIGURE; expected ropewalk render decay -o decay.pdf");
    const std::string id = words.first().toStdString();
    if (const FigureInfo* figure = findFigure(id))
        return figure;
    std::vector<std::string> known;
    for (const FigureInfo& figure : figureCatalog())
        known.emplace_back(figure.id);
    return usage("unknown figure {figure}; the nearest known are {known}",
                 {{"figure", id}, {"known", nearestWords(id, known)}});
}

Result<OutputType> chooseOutput(const QString& path)
{
    if (path.isEmpty())
        return usage("render needs -o FILE; expected an ending .pdf, .svg, .png, .csv or .json");
    const QString ending = QFileInfo(path).suffix().toLower();
    if (ending == QLatin1String("tex"))
        return usage("{file}: PGFPlots (.tex) is not built yet; expected .pdf, .svg, .png, .csv or .json",
                     {{"file", path.toStdString()}});
    if (const std::optional<OutputType> type = outputTypeOfEnding(ending))
        return *type;
    return usage("{file} has no ending that says what to write; expected .pdf, .svg, .png, .csv or .json",
                 {{"file", path.toStdString()}});
}

/// "85x60mm" or "85x60".
Result<QSizeF> parseSize(QString text)
{
    const QString given = text;
    if (text.endsWith(QLatin1String("mm")))
        text.chop(2);
    const QStringList sides = text.split(QLatin1Char('x'));
    bool hasWidth = false, hasHeight = false;
    const QSizeF size(sides.value(0).toDouble(&hasWidth), sides.value(1).toDouble(&hasHeight));
    constexpr double kLeast = 10.0, kMost = 1000.0;
    const auto isWithin = [](double side) { return side >= kLeast && side <= kMost; };
    if (sides.size() != 2 || !hasWidth || !hasHeight || !isWithin(size.width()) || !isWithin(size.height()))
        return usage("--size is {size}; expected two sides of 10 to 1000 mm such as 85x60mm",
                     {{"size", given.toStdString()}});
    return size;
}

Result<ExportOptions> pictureOptions(const Arguments& arguments)
{
    ExportOptions options;
    if (arguments.has("--size")) {
        const Result<QSizeF> size = parseSize(arguments.value("--size"));
        if (!size)
            return size.error();
        options.sizeMm = *size;
    }
    if (arguments.has("--dpi")) {
        bool isNumber = false;
        options.dpi = arguments.value("--dpi").toDouble(&isNumber);
        if (!isNumber || !(options.dpi >= 30.0 && options.dpi <= 1200.0))
            return usage("--dpi is {dpi}; expected a number from 30 to 1200",
                         {{"dpi", arguments.value("--dpi").toStdString()}});
    }
    const QString theme = arguments.has("--theme") ? arguments.value("--theme") : QStringLiteral("print");
    if (theme == QLatin1String("print"))
        options.theme = Theme::Print;
    else if (theme == QLatin1String("light"))
        options.theme = Theme::Light;
    else if (theme == QLatin1String("dark"))
        options.theme = Theme::Dark;
    else
        return usage("--theme is {theme}; expected print, light or dark", {{"theme", theme.toStdString()}});
    return options;
}

Result<BackendChoice> chooseBackend(const Arguments& arguments)
{
    const QString word = arguments.has("--backend") ? arguments.value("--backend") : QStringLiteral("auto");
    if (word == QLatin1String("auto"))
        return BackendChoice::Auto;
    if (word == QLatin1String("cpu"))
        return BackendChoice::Cpu;
    if (word == QLatin1String("cuda"))
        return BackendChoice::Cuda;
    return usage("--backend is {backend}; expected auto, cpu or cuda", {{"backend", word.toStdString()}});
}

/// What counts as the figure in a data file: who computed it may differ from machine to machine, and stands
/// last.
std::string_view comparedPart(std::string_view content, OutputType type)
{
    return type == OutputType::Json ? content.substr(0, content.rfind("\"provenance\"")) : content;
}

Result<void> check(const QString& path, const QByteArray& content, OutputType type)
{
    const Result<std::string> before = readTextFile(path);
    if (!before)
        return before.error();
    const std::string_view now(content.constData(), static_cast<std::size_t>(content.size()));
    const bool isWhole =
        type != OutputType::Json || QJsonDocument::fromJson(QByteArray::fromStdString(*before)).isObject();
    if (isWhole && comparedPart(*before, type) == comparedPart(now, type))
        return {};
    return Error{ErrorCode::Differs, "the figure no longer matches this file", path.toStdString()};
}

Result<void> render(const QStringList& arguments)
{
    const Result<Arguments> sorted = sortArguments(arguments, kOptions);
    if (!sorted)
        return sorted.error();
    const Result<const FigureInfo*> figure = chooseFigure(sorted->words);
    if (!figure)
        return figure.error();
    const QString path = sorted->value("-o");
    const Result<OutputType> type = chooseOutput(path);
    if (!type)
        return type.error();
    const Result<ExportOptions> picture = pictureOptions(*sorted);
    if (!picture)
        return picture.error();
    const Result<BackendChoice> backend = chooseBackend(*sorted);
    if (!backend)
        return backend.error();
    const Result<CpuSettings> cpu = chooseCpu(*sorted);
    if (!cpu)
        return cpu.error();
    const Result<FigureSource> source = openSource(*sorted);
    if (!source)
        return source.error();
    const Result<std::unique_ptr<Engine>> engine = openEngine(*backend, *cpu);
    if (!engine)
        return engine.error();
    Result<FigureSpec> spec = [&] {
        ProgressLine line;
        return computeFigure(**engine, **figure, *source, *type, [&](double share) { line.show(share); });
    }();
    if (!spec)
        return spec.error();
    const std::vector<Issue> inVain = settingsOfOtherFigures(source->settings, (*figure)->id);
    spec->notes.insert(spec->notes.end(), inVain.begin(), inVain.end());
    if (!sorted->has("--check"))
        return writeAsFile(path, *type, *spec, *picture);
    const Result<QByteArray> content = writeAs(*type, *spec, *picture);
    return content ? check(path, *content, *type) : Result<void>(content.error());
}

} // namespace

int runRender(const QStringList& arguments)
{
    const Result<void> done = render(arguments);
    return done ? kExitFine : printError(done.error());
}

} // namespace ropewalk
