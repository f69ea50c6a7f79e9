// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "message.h"

#include <string>
#include <string_view>

namespace ropewalk {

/// The version of the program, as CMake's project says.
std::string_view version();

/// Who computed a result, how, and why not somebody earlier in the list. Goes with every result and every
/// export.
struct Provenance
{
    std::string backend;       ///< "cpu", "cuda"
    std::string device;        ///< "x86-64, 2 threads"; never the name of a machine
    std::string precision;     ///< "double"
    double milliseconds = 0.0; ///< of the run; shown in the status bar, never exported
    Message fallbackReason;    ///< empty when the first backend of the list computed
};

} // namespace ropewalk
