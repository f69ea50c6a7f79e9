// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/io/session_file.h"
#include "core/preset.h"

#include <utility>

namespace ropewalk {

/// The session that the window opens on: Llama-3.1-8B beside a base of 10 000.
Session firstSession(const std::vector<Preset>& presets);

/// The first letter of A–D that no configuration has, and the colour that goes with it.
std::pair<std::string, int> freeLetter(const std::vector<SessionConfiguration>& configurations);

/// A configuration as it came from a preset or a file: what double-click restores is itself.
SessionConfiguration asOpened(RopeConfig config, const std::string& letter, int colour);

/// Gives the configuration at `index` another colour; one that has it already takes the old one, so that
/// colours tell configurations apart.
void recolour(std::vector<SessionConfiguration>& configurations, int index, int colour);

/// Puts the figure `id` into the place `card` of the overview; one that stands elsewhere changes places.
void placeCard(std::array<std::string, kCards>& cards, int card, const std::string& id);

} // namespace ropewalk
