// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/preset.h"
#include "core/reference_check.h"

#include <vector>

namespace ropewalk {

/// The models that are built in (resources/presets), by id. A broken file is a programming error.
std::vector<Preset> loadPresets();

/// The frequency vectors that are built in (resources/reference.json).
std::vector<ReferenceEntry> loadReferences();

} // namespace ropewalk
