// SPDX-License-Identifier: GPL-3.0-or-later
#include "config_json.h"

#include "../config_keys.h"
#include "../json_writer.h"
#include "json_input.h"

#include <nlohmann/json.hpp>

namespace ropewalk {

Result<RopeConfig> configFromJson(std::string_view object)
{
    try {
        const auto root = nlohmann::json::parse(object.begin(), object.end());
        if (!root.is_object())
            return Error{ErrorCode::BadInput,
                         {"a configuration is {kind}; expected an object with keys such as head_dim and base",
                          {{"kind", jsonKindText(root.dump())}}},
                         {}};
        std::vector<Setting> settings;
        for (const auto& [key, value] : root.items()) {
            if (value.is_structured() || value.is_null())
                return Error{ErrorCode::BadInput,
                             {"{key} is {value}; expected a number or a word",
                              {{"key", key}, {"value", jsonValueText(value.dump())}}},
                             {}};
            // Numbers keep their digits, so the value comes out to the bit.
            settings.push_back({"", key, value.is_string() ? value.get<std::string>() : value.dump()});
        }
        std::vector<FigureConfiguration> one(1);
        FigureOptions options;
        if (const Result<void> applied = applySettings(settings, one, options); !applied)
            return Error{ErrorCode::BadInput, applied.error().message, {}};
        return std::move(one.front().config);
    } catch (const std::exception& exception) {
        return Error{ErrorCode::BadInput,
                     {"a configuration cannot be read: {reason}", {{"reason", exception.what()}}},
                     {}};
    }
}

void writeConfigJson(JsonWriter& json, const RopeConfig& config)
{
    json.beginObject(JsonWriter::Style::Inline);
    for (const ConfigKeyValue& entry : configKeys(config)) {
        json.key(entry.key);
        if (entry.isText)
            json.value(entry.text);
        else
            json.raw(entry.text);
    }
    json.endObject();
}

} // namespace ropewalk
