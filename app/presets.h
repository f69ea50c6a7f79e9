// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/preset.h"

#include <vector>

namespace ropewalk {

/// The models that are built in, by id. Read from the resources; a broken one is a fault of the build
/// (asserted).
std::vector<Preset> loadPresets();

} // namespace ropewalk
