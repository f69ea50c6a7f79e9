// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cuda_calls.h"

#include <string>

namespace ropewalk {

/// Codes of the runtime that are told apart; the others are told in its own words.
enum CudaErrorCode {
    kCudaOutOfMemory = 2,
    kCudaDriverTooOld = 35,
    kCudaDeviceBusy = 46,
    kCudaNoDevice = 100,
    kCudaMemoryDefect = 214,
    kCudaDeviceLost = 999
};

/// What went wrong while the device computed; thrown and caught within cuda_backend.cpp.
struct CudaFailure
{
    Error error;
    int code = 0; ///< the runtime's
};

/// Throws CudaFailure with one sentence where `code` is not 0.
inline void check(const CudaCalls& calls, int code)
{
    const char* const text = code == 0 ? nullptr : calls.errorText(code);
    const std::string reason = text ? text : std::to_string(code);
    switch (code) {
    case 0:
        return;
    case kCudaOutOfMemory:
        throw CudaFailure{{ErrorCode::RunFailed, "the GPU has too little free memory for this", {}}, code};
    case kCudaDeviceBusy:
    case kCudaMemoryDefect:
    case kCudaDeviceLost:
        throw CudaFailure{{ErrorCode::RunFailed, {"the GPU was lost ({reason})", {{"reason", reason}}}, {}},
                          code};
    default:
        throw CudaFailure{
            {ErrorCode::RunFailed, {"the GPU failed while it computed ({reason})", {{"reason", reason}}}, {}},
            code};
    }
}

} // namespace ropewalk
