// SPDX-License-Identifier: GPL-3.0-or-later
#include "preset.h"

#include "io/config_json.h"
#include "io/json_input.h"
#include "validate.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace ropewalk {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLargestPreset = std::size_t{1} << 20;
constexpr std::array<std::string_view, 4> kMarks{"verified", "second-hand", "from memory", "not public"};

/// One configuration, with what stands beside it.
Result<RopeConfig> configOf(const Json& object, const Preset& preset)
{
    const auto bad = [](Message message) { return Error{ErrorCode::BadInput, std::move(message), {}}; };
    const auto config = object.find("config");
    if (config == object.end())
        return bad("config is missing; expected an object with keys such as head_dim and base");
    Result<RopeConfig> read = configFromJson(config->dump());
    if (!read)
        return bad(read.error().message);
    read->name = preset.name;
    if (const auto factor = object.find("softmax_factor"); factor != object.end()) {
        if (!factor->is_number() || !(factor->get<double>() > 0.0))
            return bad({"softmax_factor is {value}; expected a number above 0",
                        {{"value", jsonValueText(factor->dump())}}});
        read->softmaxFactor = factor->get<double>();
    }
    if (const auto layerType = object.find("layer_type"); layerType != object.end()) {
        if (!layerType->is_string())
            return bad("layer_type is no text; expected a text");
        read->layerType = layerType->get<std::string>();
    }
    if (const auto tokens = object.find("tokens"); tokens != object.end()) {
        if (!tokens->is_string())
            return bad("tokens is no text; expected a text");
        read->name += " (" + tokens->get<std::string>() + ")"; // as the reader of the file names them
    }
    const std::vector<Issue> issues = validate(*read);
    if (const Issue* error = firstError(issues))
        return bad(error->text);
    read->notes.push_back(
        {Severity::Read,
         "",
         {"built in ({mark}): {source}", {{"mark", preset.mark}, {"source", preset.source}}}});
    return std::move(*read);
}

} // namespace

Result<Preset> presetFromJson(std::string_view text, const std::string& id)
{
    const auto bad = [&](Message message) { return Error{ErrorCode::BadInput, std::move(message), id}; };
    if (const auto checked = checkJson(text, kLargestPreset); !checked)
        return bad(checked.error().message);
    try {
        const auto root = Json::parse(text.begin(), text.end());
        if (!root.is_object())
            return bad("the preset is not a JSON object; expected name, family, source, mark and config");
        Preset preset;
        preset.id = id;
        const std::array<std::pair<const char*, std::string*>, 4> texts{{{"name", &preset.name},
                                                                         {"family", &preset.family},
                                                                         {"source", &preset.source},
                                                                         {"mark", &preset.mark}}};
        for (const auto& [key, target] : texts) {
            const auto found = root.find(key);
            if (found == root.end() || !found->is_string())
                return bad({"{key} is missing or no text; expected a text", {{"key", key}}});
            *target = found->get<std::string>();
        }
        if (std::find(kMarks.begin(), kMarks.end(), preset.mark) == kMarks.end())
            return bad({"mark is \"{mark}\"; expected verified, second-hand, from memory or not public",
                        {{"mark", preset.mark}}});
        if (preset.mark == "not public") {
            const auto reason = root.find("reason");
            if (reason == root.end() || !reason->is_string() || root.contains("config") ||
                root.contains("layers"))
                return bad("a model that is not public has a reason and no configuration");
            preset.reason = reason->get<std::string>();
            return preset;
        }
        const auto layers = root.find("layers");
        const Json parts = layers == root.end() ? Json::array({root}) : *layers;
        if (!parts.is_array() || parts.empty())
            return bad("layers is no list; expected one entry a kind of layer");
        for (const Json& part : parts) {
            if (!part.is_object())
                return bad("layers holds something that is no object; expected layer_type and config");
            Result<RopeConfig> config = configOf(part, preset);
            if (!config)
                return bad(config.error().message);
            preset.configurations.push_back(std::move(*config));
        }
        if (preset.configurations.size() > 1) // told apart as those of a file are
            for (RopeConfig& config : preset.configurations)
                if (config.layerType)
                    config.name += ", " + *config.layerType;
        preset.config = preset.configurations.front();
        return preset;
    } catch (const std::exception& exception) {
        return bad({"the preset cannot be read: {reason}", {{"reason", exception.what()}}});
    }
}

} // namespace ropewalk
