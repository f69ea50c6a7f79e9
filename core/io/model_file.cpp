// SPDX-License-Identifier: GPL-3.0-or-later
#include "model_file.h"

#include "../validate.h"
#include "gguf_metadata.h"
#include "gguf_model.h"
#include "json_input.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fstream>

namespace ropewalk {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLargestText = std::size_t{64} << 20;

Error bad(Message message, std::string context = {})
{
    return {ErrorCode::BadInput, std::move(message), std::move(context)};
}

Result<std::string> textOfFile(std::ifstream& file, const std::string& context)
{
    // A pipe's or a growing file's size is not known beforehand: one byte more than allowed is asked for.
    std::string text(kLargestText + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad())
        return bad("the file could not be read", context);
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > kLargestText)
        return bad("the file is larger than 64 MiB; expected a configuration", context);
    return text;
}

/// Keys that a pasted piece may have beside a block and still is no whole file.
bool isKeyOfPiece(std::string_view key)
{
    constexpr std::array<std::string_view, 6> kKeys{
        "rope_scaling",          "rope_parameters",         "rope_theta",
        "partial_rotary_factor", "max_position_embeddings", "original_max_position_embeddings"};
    return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

bool isBareBlock(const Json& object)
{
    return object.contains("rope_type") || object.contains("type") || object.contains("mrope_section");
}

/// The text as one JSON object: a member with its key, as it is cut out of a file, gets its braces back.
std::string withBraces(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || text[first] != '"')
        return std::string(text);
    const std::size_t last = text.find_last_not_of(" \t\r\n,");
    return "{" + std::string(text.substr(first, last - first + 1)) + "}";
}

/// The pasted piece as the file of a model with the selected configuration's head.
Json fileAround(const Json& piece, const RopeConfig& selected)
{
    Json file{{"model_type", "llama"}, {"head_dim", selected.headDim}, {"rope_theta", selected.base}};
    if (selected.maxPositionEmbeddings)
        file["max_position_embeddings"] = *selected.maxPositionEmbeddings;
    if (isBareBlock(piece))
        file["rope_scaling"] = piece;
    else
        file.update(piece);
    return file;
}

bool statesShare(const Json& piece)
{
    if (piece.contains("partial_rotary_factor"))
        return true;
    return std::any_of(piece.begin(), piece.end(), [](const Json& value) {
        return value.is_object() && value.contains("partial_rotary_factor");
    });
}

} // namespace

bool isGgufFile(const std::filesystem::path& path)
{
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
        return false; // to open a pipe would wait for whoever writes into it
    std::ifstream file(path, std::ios::binary);
    std::array<char, 4> first{};
    file.read(first.data(), first.size());
    return looksLikeGguf({first.data(), static_cast<std::size_t>(file.gcount())});
}

Result<ModelReading> readModelFile(const std::filesystem::path& path, const std::string& name)
{
    const std::string context = path.string();
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        return bad("this is a folder; expected a file", context);
    if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
        return bad("this is no regular file; expected one",
                   context); // to open a pipe would wait for a writer
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return bad({"the file could not be read: {reason}",
                    {{"reason",
                      std::filesystem::exists(path, ignored) ? "no permission" : "there is no such file"}}},
                   context);
    const bool isGguf = isGgufFile(path);
    if (isGguf) {
        const Result<GgufMetadata> metadata = readGgufMetadata(file);
        if (!metadata)
            return bad(metadata.error().message, context);
        Result<ModelReading> reading = modelFromGguf(*metadata, name);
        return reading ? std::move(reading) : bad(reading.error().message, context);
    }
    const Result<std::string> text = textOfFile(file, context);
    if (!text)
        return text.error();
    Result<ModelReading> reading = readModelConfig(*text, name);
    return reading ? std::move(reading) : bad(reading.error().message, context);
}

Result<RopeConfig> pastedConfig(std::string_view text, const RopeConfig& selected)
{
    const std::string json = withBraces(text);
    if (const auto checked = checkJson(json, kLargestText); !checked)
        return checked.error();
    const Json piece = Json::parse(json, nullptr, false);
    if (!piece.is_object())
        return bad({"the pasted text is {kind}; expected a config.json or a rope_scaling block",
                    {{"kind", jsonKindText(piece.dump())}}});
    const bool isPiece =
        isBareBlock(piece) || std::all_of(piece.items().begin(), piece.items().end(),
                                          [](const auto& item) { return isKeyOfPiece(item.key()); });
    if (!isPiece || piece.empty()) {
        Result<ModelReading> reading = readModelConfig(json, selected.name);
        if (!reading)
            return reading.error();
        if (reading->configurations.empty())
            return bad(reading->notes.empty() ? Message("no configuration was found in the pasted text")
                                              : reading->notes.front().text);
        RopeConfig first = std::move(reading->configurations.front());
        if (reading->configurations.size() > 1)
            first.notes.insert(first.notes.begin(),
                               {Severity::Warning,
                                "",
                                {"the pasted text holds {count} configurations and this is the first; open "
                                 "it as a file to have all",
                                 {{"count", std::to_string(reading->configurations.size())}}}});
        return first;
    }
    Result<ModelReading> reading = readModelConfig(fileAround(piece, selected).dump(), selected.name);
    if (!reading)
        return reading.error();
    if (reading->configurations.size() != 1)
        return bad("the block holds parameters for several kinds of layers; expected those of one");
    const RopeConfig& read = reading->configurations.front();
    RopeConfig config = selected;
    config.rule = read.rule;
    config.parameters = read.parameters;
    config.base = read.base;
    config.maxPositionEmbeddings = read.maxPositionEmbeddings;
    config.originalMaxPositionEmbeddings = read.originalMaxPositionEmbeddings;
    config.mropeSection = read.mropeSection;
    config.isMropeInterleaved = read.isMropeInterleaved;
    config.temperature = read.temperature;
    if (statesShare(piece))
        config.rotaryDim = read.rotaryDim;
    config.notes = read.notes;
    const std::vector<Issue> issues = validate(config);
    if (const Issue* error = firstError(issues))
        return bad(error->text);
    return config;
}

} // namespace ropewalk
