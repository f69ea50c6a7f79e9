// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "../result.h"
#include "../rope_config.h"

#include <string>
#include <string_view>
#include <vector>

namespace ropewalk {

/// What a model's configuration file says: one configuration a kind of layer, and remarks about the file as a
/// whole.
struct ModelReading
{
    std::vector<RopeConfig> configurations; ///< empty when no layer rotates; then `notes` says so
    std::vector<Issue> notes;
};

/// Reads a Hugging Face `config.json` (text, at most 64 MiB). `name` is the configuration's name where the
/// file gives none. Everything assumed is a note marked "default, not stated", everything contradicting a
/// note too. Errors: BadInput with one sentence that names the key and what was expected. Thread-safe, pure.
Result<ModelReading> readModelConfig(std::string_view text, const std::string& name);

} // namespace ropewalk
