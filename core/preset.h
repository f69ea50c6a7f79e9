// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "result.h"
#include "rope_config.h"

#include <string>
#include <string_view>
#include <vector>

namespace ropewalk {

/// A model that is built in: resources/presets/<id>.json.
struct Preset
{
    std::string id;                         ///< "llama-3.1-8b", the word of `--preset`
    std::string name;                       ///< "Llama-3.1-8B"
    std::string family;                     ///< "Llama"
    std::string source;                     ///< where the values were read
    std::string mark;                       ///< "verified", "second-hand", "from memory" or "not public"
    RopeConfig config;                      ///< the first of `configurations`; default where there is none
    std::vector<RopeConfig> configurations; ///< one, or one a kind of layer; none where nothing is public
    std::string reason;                     ///< why there is nothing to draw; empty where there is something
};

/// Reads one preset file: `config`, or `layers` with a `layer_type` (or a kind of `tokens`) and a `config`
/// each, or a `reason` why there is none; beside a `config` may stand a `softmax_factor`. A configuration's
/// keys are those of `--set`. Errors: BadInput.
Result<Preset> presetFromJson(std::string_view text, const std::string& id);

} // namespace ropewalk
