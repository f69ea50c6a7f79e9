// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/result.h"

#include <chrono>
#include <string_view>

namespace ropewalk {

/// Writes UTF-8 to stdout; the exit code, kExitOutput when it could not be written (a closed pipe, a full
/// disk).
int printOut(std::string_view text);

/// Writes "error: …" to stderr and returns the error's exit code.
int printError(const Error& error);
/// The share of a long computation, on a line of stderr that is written over and gone in the end. Only where
/// stderr is a terminal, and after half a second.
class ProgressLine
{
public:
    ProgressLine();
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(double share); ///< 0..1; often

private:
    std::chrono::steady_clock::time_point m_begin, m_shownAt;
    bool m_isTerminal = false, m_isShown = false;
};

/// One line on stderr for what is left out while the rest goes on.
void printNote(const Error& error);

} // namespace ropewalk
