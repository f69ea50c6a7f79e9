// SPDX-License-Identifier: GPL-3.0-or-later
#include "sources.h"

#include "../file_text.h"
#include "../presets.h"
#include "../tensors.h"

#include "core/io/model_file.h"
#include "core/io/session_file.h"

#include <QFileInfo>

#include <algorithm>

namespace ropewalk {
namespace {

constexpr const char* kFirstPreset = "llama-3.1-8b";

/// A name for a model whose file gives none: config.json and params.json say nothing, their folder does.
QString nameOf(const QString& path)
{
    const QFileInfo file(path);
    if (file.fileName() == QLatin1String("config.json") || file.fileName() == QLatin1String("params.json"))
        if (const QString folder = QFileInfo(file.absolutePath()).fileName(); !folder.isEmpty())
            return folder;
    return file.completeBaseName();
}

/// The configurations of a preset, as a file would give them.
Result<InspectedFile> presetAsFile(const QString& id)
{
    const auto isWanted = [&](const Preset& preset) { return preset.id == id.toStdString(); };
    const std::vector<Preset> presets = loadPresets();
    if (const auto found = std::find_if(presets.begin(), presets.end(), isWanted); found != presets.end())
        return InspectedFile{found->id, {}, found->configurations};
    const std::vector<Preset> closed = loadClosedModels();
    if (const auto found = std::find_if(closed.begin(), closed.end(), isWanted); found != closed.end())
        return Error{ErrorCode::BadInput,
                     {"there is nothing to draw of {name}: {reason}",
                      {{"name", found->name}, {"reason", found->reason}}},
                     found->id};
    std::vector<std::string> ids;
    for (const Preset& preset : presets)
        ids.push_back(preset.id);
    return Error{ErrorCode::Usage,
                 {"unknown preset {preset}; the nearest known are {nearest}",
                  {{"preset", id.toStdString()}, {"nearest", nearestWords(id.toStdString(), ids)}}},
                 {}};
}

Result<FigureSource> fromSessionText(const std::string& text, const QString& path)
{
    const Result<SessionReading> reading = sessionFromJson(text);
    if (!reading)
        return Error{reading.error().code, reading.error().message, path.toStdString()};
    FigureSource source{shownConfigurations(reading->session), reading->session.options};
    if (source.configurations.empty())
        return Error{ErrorCode::BadInput,
                     "every configuration of this session is hidden; there is nothing to draw",
                     path.toStdString()};
    return source;
}

Result<FigureSource> fromSession(const QString& path)
{
    const Result<std::string> text = readTextFile(path);
    if (!text)
        return text.error();
    return fromSessionText(*text, path);
}

Result<FigureSource> fromFile(Result<InspectedFile> file, const QString& layerType)
{
    if (!file)
        return file.error();
    if (!layerType.isEmpty())
        if (const Result<void> kept = keepLayerType(*file, layerType); !kept)
            return kept.error();
    if (file->configurations.empty())
        return Error{
            ErrorCode::BadInput,
            {"there is nothing to draw ({reason})",
             {{"reason", file->notes.empty() ? "no configuration" : toEnglish(file->notes.front().text)}}},
            file->file};
    if (file->configurations.size() > kMostConfigurations)
        return Error{ErrorCode::Usage,
                     {"the file has {count} kinds of layers; expected --layer-type to choose one",
                      {{"count", std::to_string(file->configurations.size())}}},
                     file->file};
    FigureSource source;
    for (std::size_t i = 0; i < file->configurations.size(); ++i)
        source.configurations.push_back({std::move(file->configurations[i]),
                                         std::string(1, static_cast<char>('A' + i)), static_cast<int>(i)});
    return source;
}

Result<FigureSource> fromConfig(const QString& path, const QString& layerType)
{
    return fromFile(readConfigurationFile(path), layerType);
}

int largestPair(const std::vector<FigureConfiguration>& configurations)
{
    int largest = 0;
    for (const FigureConfiguration& shown : configurations)
        largest = std::max(largest, shown.config.headDim / 2 - 1);
    return largest;
}

Result<FigureSource> fromArguments(const Arguments& arguments)
{
    const int given = arguments.has("--preset") + arguments.has("--config") + arguments.has("--session");
    if (given > 1)
        return Error{ErrorCode::Usage, "expected one of --preset, --config and --session", {}};
    if (arguments.has("--layer-type") && !arguments.has("--config") && !arguments.has("--preset"))
        return Error{
            ErrorCode::Usage, "--layer-type chooses from a --config or a --preset; none is given", {}};
    if (arguments.has("--session"))
        return fromSession(arguments.value("--session"));
    if (arguments.has("--config"))
        return fromConfig(arguments.value("--config"), arguments.value("--layer-type"));
    const QString preset =
        arguments.has("--preset") ? arguments.value("--preset") : QString::fromLatin1(kFirstPreset);
    return fromFile(presetAsFile(preset), arguments.value("--layer-type"));
}

} // namespace

Result<InspectedFile> readConfigurationFile(const QString& path)
{
    Result<ModelReading> reading = readModelFile(path.toStdString(), nameOf(path).toStdString());
    if (!reading)
        return reading.error();
    return InspectedFile{path.toStdString(), std::move(reading->notes), std::move(reading->configurations)};
}

Result<void> keepLayerType(InspectedFile& file, const QString& layerType)
{
    const std::string wanted = layerType.toStdString();
    std::vector<RopeConfig> kept;
    std::string known;
    for (const RopeConfig& config : file.configurations) {
        if (config.layerType == wanted)
            kept.push_back(config);
        if (config.layerType)
            known += (known.empty() ? "" : ", ") + *config.layerType;
    }
    if (kept.empty())
        return Error{ErrorCode::Usage,
                     known.empty()
                         ? Message("no layer type {wanted}: the file tells no kinds of layers apart",
                                   {{"wanted", wanted}})
                         : Message("no layer type {wanted}; the file has {known}",
                                   {{"wanted", wanted}, {"known", known}}),
                     file.file};
    file.configurations = std::move(kept);
    return {};
}

Result<std::vector<Setting>> settingsOf(const Arguments& arguments)
{
    std::vector<Setting> settings;
    for (const QString& text : arguments.values("--set")) {
        Result<Setting> setting = parseSetting(text.toStdString());
        if (!setting)
            return setting.error();
        // A list is given in place or as a file that holds it.
        const QString value = QString::fromStdString(setting->value);
        if (isListKey(setting->key) && QFileInfo(value).isFile()) {
            Result<std::string> list = readTextFile(value);
            if (!list)
                return list.error();
            setting->value = std::move(*list);
        }
        settings.push_back(std::move(*setting));
    }
    return settings;
}

Result<FigureSource> openSource(const Arguments& arguments)
{
    const Result<std::vector<Setting>> settings = settingsOf(arguments);
    if (!settings)
        return settings.error();
    Result<FigureSource> source = fromArguments(arguments);
    if (!source)
        return source;
    if (const Result<void> applied = applySettings(*settings, source->configurations, source->options);
        !applied)
        return applied.error();
    noteSettings(*settings, source->configurations);
    source->settings = *settings;
    Result<void> loaded = loadTensors(source->options);
    if (loaded)
        loaded = loadEncodingTensors(source->options);
    if (!loaded) {
        Error error = loaded.error();
        if (arguments.has("--session") && error.code == ErrorCode::Usage)
            error = {ErrorCode::BadInput, error.message, arguments.value("--session").toStdString()};
        return error;
    }
    // Positions that nobody named are a wish, too: of real tensors there is one row a token.
    const auto isNamed = [&](std::string_view key) {
        return arguments.has("--session") ||
               std::any_of(settings->begin(), settings->end(),
                           [&](const Setting& setting) { return setting.key == key; });
    };
    if (source->options.content == Content::File && source->options.tensors) {
        const std::int64_t last = std::max<std::int64_t>(source->options.tensors->tokens - 1, 0);
        if (!isNamed("m"))
            source->options.m = std::min(source->options.m, last);
        if (!isNamed("n"))
            source->options.n = std::min(source->options.n, last);
    }
    // The default pair is a wish: a narrower head shows its last one. A pair that was asked for has to be
    // there.
    if (std::none_of(settings->begin(), settings->end(),
                     [](const Setting& setting) { return setting.key == "pair"; }))
        source->options.pair = arguments.has("--session")
                                   ? std::min(source->options.pair, largestPair(source->configurations))
                                   : firstPair(source->configurations);
    // A pair and positions that nobody named are no selection to mark in a figure; those of a session are.
    source->options.showsSelection =
        arguments.has("--session") ||
        std::any_of(settings->begin(), settings->end(), [](const Setting& setting) {
            return setting.key == "pair" || setting.key == "m" || setting.key == "n";
        });
    return source;
}

Result<FigureSource> openFile(const QString& path)
{
    if (isGgufFile(path.toStdString()))
        return fromConfig(path, {});
    const Result<std::string> text = readTextFile(path);
    if (!text)
        return text.error();
    if (looksLikeSession(*text)) {
        Result<FigureSource> session = fromSessionText(*text, path);
        if (session)
            for (const auto load : {loadTensors, loadEncodingTensors})
                if (const Result<void> loaded = load(session->options); !loaded)
                    return loaded.error();
        return session;
    }
    Result<FigureSource> source = fromConfig(path, {});
    if (!source)
        return source;
    source->options.showsSelection = false;
    source->options.pair = firstPair(source->configurations);
    return source;
}

} // namespace ropewalk
