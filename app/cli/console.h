// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/result.h"

#include <string_view>

namespace ropewalk {

/// Writes UTF-8 to stdout; the exit code, kExitOutput when it could not be written (a closed pipe, a full
/// disk).
int printOut(std::string_view text);

/// Writes "error: …" to stderr and returns the error's exit code.
int printError(const Error& error);
/// One line on stderr for what is left out while the rest goes on.
void printNote(const Error& error);

} // namespace ropewalk
