// SPDX-License-Identifier: GPL-3.0-or-later
#include "cuda_calls.h"

#include <cstdio>
#include <cuda_runtime.h>

namespace ropewalk {
namespace {

int describe(CudaDevice* device)
{
    cudaDeviceProp properties;
    if (const cudaError_t code = cudaGetDeviceProperties(&properties, 0))
        return code;
    std::snprintf(device->name, sizeof device->name, "%s", properties.name);
    device->memoryBytes = properties.totalGlobalMem;
    device->major = properties.major;
    device->minor = properties.minor;
    return 0;
}

constexpr CudaCalls kCalls{
    [](int* version) -> int { return cudaDriverGetVersion(version); },
    [](int* version) -> int { return cudaRuntimeGetVersion(version); },
    [](int* count) -> int { return cudaGetDeviceCount(count); },
    describe,
    []() -> int { return cudaSetDevice(0); },
    [](void** memory, std::size_t bytes) -> int { return cudaMalloc(memory, bytes); },
    [](void* memory) -> int { return cudaFree(memory); },
    [](std::size_t* bytes) -> int {
        std::size_t total = 0;
        return cudaMemGetInfo(bytes, &total);
    },
    [](void* to, const void* from, std::size_t bytes) -> int {
        return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
    },
    [](void* to, const void* from, std::size_t bytes) -> int {
        return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
    },
    []() -> int { return cudaDeviceSynchronize(); },
    []() -> int { return cudaGetLastError(); },
    [](int code) -> const char* { return cudaGetErrorString(static_cast<cudaError_t>(code)); },
};

} // namespace

const CudaCalls& cudaCalls()
{
    return kCalls;
}

} // namespace ropewalk
