// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gguf_metadata.h"
#include "model_config.h"

#include <string>
#include <string_view>

namespace ropewalk {

/// What llama.cpp makes of a GGUF file's key-values: its defaults, its pair layout by architecture, its
/// factors on cos, sin and logit. `name` is the configuration's name where the file gives none. Errors:
/// BadInput. Thread-safe, pure.
Result<ModelReading> modelFromGguf(const GgufMetadata& metadata, const std::string& name);

/// The same from key-values written out as a JSON object (valid JSON); numbers may be texts, the rotation's
/// tensors lists of numbers. Errors: BadInput.
Result<ModelReading> readGgufText(std::string_view json, const std::string& name);

} // namespace ropewalk
