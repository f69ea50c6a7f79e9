// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "../result.h"
#include "../rope_config.h"

#include <string_view>

namespace ropewalk {

class JsonWriter;

/// A configuration from a JSON object whose keys are those of `--set`, as presets and sessions hold it.
/// `object` is the text of valid JSON. What is not stated has RopeConfig's default. Errors: BadInput, with
/// the key; a key that is unknown or not built is refused, since leaving it out would change the numbers.
/// Thread-safe, pure.
Result<RopeConfig> configFromJson(std::string_view object);

/// Writes the same object, on one line.
void writeConfigJson(JsonWriter& json, const RopeConfig& config);

} // namespace ropewalk
