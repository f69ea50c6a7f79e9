// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "result.h"
#include "rope_config.h"

#include <string>
#include <string_view>

namespace ropewalk {

/// A model that is built in: resources/presets/<id>.json.
struct Preset
{
    std::string id;     ///< "llama-3.1-8b", the word of `--preset`
    std::string family; ///< "Llama"
    std::string source; ///< where the values were read
    std::string mark;   ///< "verified", "second-hand" or "from memory"
    RopeConfig config;
};

/// Reads one preset file; the configuration's keys are those of `--set`. Errors: BadInput.
Result<Preset> presetFromJson(std::string_view text, const std::string& id);

} // namespace ropewalk
