// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How kernels are started: through one macro, so that the tests' stand-in for the CUDA runtime, which runs
// them on the processor, can take it over.

#include <cstdint>
#include <cuda_runtime.h>

#ifndef ROPEWALK_LAUNCH
#define ROPEWALK_LAUNCH(kernel, grid, block, sharedBytes, ...)                                               \
    kernel<<<(grid), (block), (sharedBytes)>>>(__VA_ARGS__)
/// `name`, an array of `type` as large as the launch says; `type` is the same in all kernels of a file.
#define ROPEWALK_DYNAMIC_SHARED(type, name) extern __shared__ type name[]
#endif

namespace ropewalk::kernels {

/// Threads a block of the kernels in which each thread computes a number of its own: eight warps hide the
/// latency of memory, and a multiprocessor of every architecture holds four or more such blocks.
inline constexpr int kThreads = 256;

/// Blocks of `perBlock` that hold `count` ≥ 0 things.
inline unsigned blocksFor(std::int64_t count, std::int64_t perBlock)
{
    return static_cast<unsigned>((count + perBlock - 1) / perBlock);
}

/// The index of this thread over a grid of one dimension; 64 bits, since rows × channels passes 2^31.
__device__ inline std::int64_t threadIndex()
{
    return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

} // namespace ropewalk::kernels
