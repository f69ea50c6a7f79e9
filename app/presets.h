// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/preset.h"
#include "core/reference_check.h"

#include <vector>

namespace ropewalk {

/// The models that are built in (resources/presets) and have something to draw, by id. A broken file is a
/// programming error.
std::vector<Preset> loadPresets();

/// The models that people look for and of which nothing is public: their `reason` says so.
std::vector<Preset> loadClosedModels();

/// The frequency vectors that are built in (resources/reference.json).
std::vector<ReferenceEntry> loadReferences();

} // namespace ropewalk
