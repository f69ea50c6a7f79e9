// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Runs the threads of a CUDA block on the processor. In an ordinary build they are fibers of one thread,
// which are switched at barriers: fast, and the same from run to run. Under the thread sanitizer, or where
// ROPEWALK_SHIM_THREADS is defined, each is a thread of its own, so that a missing barrier is a race.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

namespace ropewalk::shim {

struct Dim3
{
    unsigned x = 1, y = 1, z = 1;
    Dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1)
        : x(x_)
        , y(y_)
        , z(z_)
    {
    }
};

extern thread_local Dim3 threadIdx, blockIdx, blockDim, gridDim;

/// Launches begin with this block of the grid and leave out those before: so that a test comes to the end of
/// a grid that nobody can wait for.
extern std::uint64_t firstBlock;

/// Runs `kernel` once for each thread of each block. A block has at most 1024 threads, whole warps if they
/// use exchange(). Ends the program with a sentence where a thread leaves while others wait for it.
void launch(Dim3 grid, Dim3 block, std::size_t sharedBytes, const std::function<void()>& kernel);

// For the kernel that runs:
void waitForBlock();   ///< until all threads of the block are here
void waitForWarp();    ///< until all of the warp are
void* dynamicShared(); ///< `sharedBytes` of the launch
int lane();            ///< of the warp, 0..31

constexpr std::size_t kLargestValue = 16;
/// Hands `value` in and returns after all 32 lanes did; `others` is what lane `from` handed in.
void exchangeBytes(const void* value, void* others, std::size_t bytes, int from);

template<class Value>
Value exchange(Value value, int from)
{
    static_assert(sizeof(Value) <= kLargestValue);
    Value other;
    exchangeBytes(&value, &other, sizeof value, from);
    return other;
}

} // namespace ropewalk::shim
