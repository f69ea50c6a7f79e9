// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model_config.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace ropewalk {

/// Reads a model's file of any kind that is known: a GGUF file (by its first bytes, whatever its name,
/// without loading the weights), or the text of a config.json or params.json of at most 64 MiB. `name` is the
/// configuration's name where the file gives none. Errors: BadInput with the path as context.
Result<ModelReading> readModelFile(const std::filesystem::path& path, const std::string& name);

/// Whether the file begins as a GGUF file does; false also where it cannot be read.
bool isGgufFile(const std::filesystem::path& path);

/// What pasted text makes of a configuration: a whole config.json replaces it (its first kind of layer), a
/// bare `rope_scaling` or `rope_parameters` block, with or without its key, replaces its rule and keeps the
/// head. Errors: BadInput. Thread-safe, pure.
Result<RopeConfig> pastedConfig(std::string_view text, const RopeConfig& selected);

} // namespace ropewalk
