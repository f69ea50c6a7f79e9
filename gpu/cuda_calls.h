// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The calls of the CUDA runtime that the backend makes, as a table: the tests put failing ones in their
// place.

#include "core/compute_backend.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ropewalk {

/// What the runtime says about a device.
struct CudaDevice
{
    char name[256] = {};
    std::uint64_t memoryBytes = 0;
    int major = 0, minor = 0; ///< compute capability
};

/// All return the runtime's error code, 0 for success. Of the devices the first one is meant.
struct CudaCalls
{
    int (*driverVersion)(int* version); ///< 1000·major + 10·minor; 0: there is no driver
    int (*runtimeVersion)(int* version);
    int (*deviceCount)(int* count); ///< leaves `count` alone where it fails
    int (*describeDevice)(CudaDevice* device);
    int (*useDevice)();
    int (*allocate)(void** memory, std::size_t bytes);
    int (*release)(void* memory);
    int (*freeMemory)(std::size_t* bytes); ///< that may still be allocated
    int (*toDevice)(void* to, const void* from, std::size_t bytes);
    int (*toHost)(void* to, const void* from, std::size_t bytes);
    int (*synchronize)();
    int (*lastError)(); ///< of a launch; forgets it
    const char* (*errorText)(int code);
};

/// The real ones.
const CudaCalls& cudaCalls();

/// The backend of makeCudaBackend over other calls.
std::unique_ptr<ComputeBackend> makeCudaBackend(const CudaCalls& calls);

} // namespace ropewalk
