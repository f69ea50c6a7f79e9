// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Stands in for the CUDA toolkit's header of this name, so that the kernels are compiled as C++ and run on
// the processor: as much of the language and of the runtime as gpu/ uses, and no more. A block's threads run
// side by side (see shim.h), blocks one after another. "Device memory" is memory of the heap, each array as
// large as was asked for, so that the address sanitizer sees what lies past its end.

#include "tests/cuda_shim/shim.h"

#include <cstddef>
#include <cstring>
#include <math.h> // the functions without a namespace, as CUDA has them

#define __host__
#define __device__
#define __global__
#define __launch_bounds__(...)
// One block runs at a time, so that what its threads share may live anywhere but on a thread's stack.
#define __shared__ static

#define ROPEWALK_LAUNCH(kernel, grid, block, sharedBytes, ...)                                               \
    ::ropewalk::shim::launch((grid), (block), (sharedBytes), [&] { kernel(__VA_ARGS__); })
#define ROPEWALK_DYNAMIC_SHARED(type, name)                                                                  \
    auto* const name = static_cast<type*>(::ropewalk::shim::dynamicShared())

using dim3 = ::ropewalk::shim::Dim3;
using ::ropewalk::shim::blockDim;
using ::ropewalk::shim::blockIdx;
using ::ropewalk::shim::gridDim;
using ::ropewalk::shim::threadIdx;

inline void __syncthreads()
{
    ::ropewalk::shim::waitForBlock();
}

inline void __syncwarp()
{
    ::ropewalk::shim::waitForWarp();
}

/// All 32 lanes take part.
template<class Number>
Number __shfl_xor_sync(unsigned, Number value, int mask)
{
    return ::ropewalk::shim::exchange(value, ::ropewalk::shim::lane() ^ mask);
}

inline void sincosf(float x, float* sine, float* cosine)
{
    *sine = std::sin(x);
    *cosine = std::cos(x);
}
inline void sincos(double x, double* sine, double* cosine)
{
    *sine = std::sin(x);
    *cosine = std::cos(x);
}

using cudaError_t = int;
enum : cudaError_t { cudaSuccess = 0 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
struct cudaDeviceProp
{
    char name[32];
    std::size_t totalGlobalMem;
    int major, minor;
};

inline cudaError_t cudaDriverGetVersion(int* version)
{
    *version = 13000;
    return cudaSuccess;
}
inline cudaError_t cudaRuntimeGetVersion(int* version)
{
    *version = 13000;
    return cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int* count)
{
    *count = 1;
    return cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int)
{
    *properties = {"the tests' stand-in for a GPU", std::size_t{1} << 32, 9, 0};
    return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int)
{
    return cudaSuccess;
}
inline cudaError_t cudaMalloc(void** memory, std::size_t bytes)
{
    *memory = ::operator new(bytes);
    std::memset(*memory, 0xFF, bytes); // NaN: what nobody wrote shows
    return cudaSuccess;
}
inline cudaError_t cudaFree(void* memory)
{
    ::operator delete(memory);
    return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total)
{
    *free = *total = std::size_t{1} << 32;
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind)
{
    std::memcpy(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize()
{
    return cudaSuccess;
}
inline cudaError_t cudaGetLastError()
{
    return cudaSuccess;
}
inline const char* cudaGetErrorString(cudaError_t)
{
    return "an error of the tests";
}
