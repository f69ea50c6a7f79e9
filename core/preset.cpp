// SPDX-License-Identifier: GPL-3.0-or-later
#include "preset.h"

#include "io/config_json.h"
#include "io/json_input.h"
#include "validate.h"

#include <nlohmann/json.hpp>

#include <array>

namespace ropewalk {
namespace {

constexpr std::size_t kLargestPreset = std::size_t{1} << 20;

} // namespace

Result<Preset> presetFromJson(std::string_view text, const std::string& id)
{
    const auto bad = [&](Message message) { return Error{ErrorCode::BadInput, std::move(message), id}; };
    if (const auto checked = checkJson(text, kLargestPreset); !checked)
        return bad(checked.error().message);
    try {
        const auto root = nlohmann::json::parse(text.begin(), text.end());
        if (!root.is_object())
            return bad("the preset is not a JSON object; expected name, family, source, mark and config");
        Preset preset;
        preset.id = id;
        const std::array<std::pair<const char*, std::string*>, 4> texts{{{"name", &preset.config.name},
                                                                         {"family", &preset.family},
                                                                         {"source", &preset.source},
                                                                         {"mark", &preset.mark}}};
        for (const auto& [key, target] : texts) {
            const auto found = root.find(key);
            if (found == root.end() || !found->is_string())
                return bad({"{key} is missing or no text; expected a text", {{"key", key}}});
            *target = found->get<std::string>();
        }
        if (preset.mark != "verified" && preset.mark != "second-hand" && preset.mark != "from memory")
            return bad({"mark is \"{mark}\"; expected verified, second-hand or from memory",
                        {{"mark", preset.mark}}});
        const auto config = root.find("config");
        if (config == root.end())
            return bad("config is missing; expected an object with keys such as head_dim and base");
        Result<RopeConfig> read = configFromJson(config->dump());
        if (!read)
            return bad(read.error().message);
        read->name = preset.config.name;
        preset.config = std::move(*read);
        const std::vector<Issue> issues = validate(preset.config);
        if (const Issue* error = firstError(issues))
            return bad(error->text);
        preset.config.notes.push_back(
            {Severity::Read,
             "",
             {"built in ({mark}): {source}", {{"mark", preset.mark}, {"source", preset.source}}}});
        return preset;
    } catch (const std::exception& exception) {
        return bad({"the preset cannot be read: {reason}", {{"reason", exception.what()}}});
    }
}

} // namespace ropewalk
