// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/result.h"

namespace ropewalk {

/// What the program returns; scripts rely on the numbers.
enum ExitCode {
    kExitFine = 0,
    kExitUsage = 1,
    kExitBadInput = 2,
    kExitNoBackend = 3,
    kExitOutput = 4,
    kExitDiffers = 5,
};

inline int exitCode(ErrorCode code)
{
    switch (code) {
    case ErrorCode::Usage:
        return kExitUsage;
    case ErrorCode::BadInput:
        return kExitBadInput;
    case ErrorCode::NotBuilt:
    case ErrorCode::NotAvailable:
    case ErrorCode::RunFailed:
    case ErrorCode::Cancelled:
        return kExitNoBackend;
    case ErrorCode::Output:
        return kExitOutput;
    case ErrorCode::Differs:
        return kExitDiffers;
    }
    return kExitUsage;
}

} // namespace ropewalk
