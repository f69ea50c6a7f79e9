// SPDX-License-Identifier: GPL-3.0-or-later
#undef _FORTIFY_SOURCE // its longjmp refuses to change stacks
#include "shim.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#if defined(__SANITIZE_THREAD__) && !defined(ROPEWALK_SHIM_THREADS)
#define ROPEWALK_SHIM_THREADS
#endif

#if defined(ROPEWALK_SHIM_THREADS)
#include <barrier>
#include <thread>
#else
#include <csetjmp>
#include <ucontext.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#endif

namespace ropewalk::shim {

thread_local Dim3 threadIdx, blockIdx, blockDim, gridDim;
std::uint64_t firstBlock = 0;

namespace {

constexpr unsigned kWarp = 32;

unsigned linearThread()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

Dim3 indexOf(std::uint64_t linear, Dim3 size)
{
    return {static_cast<unsigned>(linear % size.x), static_cast<unsigned>(linear / size.x % size.y),
            static_cast<unsigned>(linear / size.x / size.y)};
}

std::uint64_t countOf(Dim3 size)
{
    return std::uint64_t{size.x} * size.y * size.z;
}

/// What the lanes of a warp hand each other; two sets, so that one barrier an exchange is enough: who is at
/// the next exchange has read this one.
struct WarpValues
{
    std::array<std::array<std::byte, kLargestValue>, kWarp> ofLane[2];
};

// std::byte of its own size, so that the sanitizer sees where dynamic shared memory ends.
std::unique_ptr<std::byte[]> sharedMemory;
std::vector<WarpValues> warpValues;
thread_local unsigned exchanges = 0; ///< of the running thread

} // namespace

void* dynamicShared()
{
    return sharedMemory.get();
}

int lane()
{
    return static_cast<int>(linearThread() % kWarp);
}

#if defined(ROPEWALK_SHIM_THREADS)

namespace {

std::unique_ptr<std::barrier<>> blockBarrier;
std::vector<std::unique_ptr<std::barrier<>>> warpBarriers;

} // namespace

void waitForBlock()
{
    blockBarrier->arrive_and_wait();
}

void waitForWarp()
{
    warpBarriers[linearThread() / kWarp]->arrive_and_wait();
}

void exchangeBytes(const void* value, void* others, std::size_t bytes, int from)
{
    const unsigned warp = linearThread() / kWarp;
    auto& values = warpValues[warp].ofLane[exchanges++ % 2];
    std::memcpy(values[static_cast<std::size_t>(lane())].data(), value, bytes);
    waitForWarp();
    std::memcpy(others, values[static_cast<std::size_t>(from)].data(), bytes);
}

namespace {

/// The threads of all launches: as many as the largest block so far had. They sleep between launches.
class Team
{
public:
    /// Runs `work`(thread) for threads 0 … count-1.
    void run(unsigned count, const std::function<void(unsigned)>& work)
    {
        m_work = &work;
        m_count = count;
        if (count > m_threads.size()) {
            stop();
            m_gate = std::make_unique<std::barrier<>>(count + 1);
            for (unsigned thread = 0; thread < count; ++thread)
                m_threads.emplace_back([this, thread](const std::stop_token& stop) { serve(thread, stop); });
        }
        m_gate->arrive_and_wait();
        m_gate->arrive_and_wait();
    }
    ~Team() { stop(); }

private:
    void stop()
    {
        for (std::jthread& thread : m_threads)
            thread.request_stop();
        if (m_gate)
            m_gate->arrive_and_wait();
        m_threads.clear();
    }

    void serve(unsigned thread, const std::stop_token& stop)
    {
        while (true) {
            m_gate->arrive_and_wait();
            if (stop.stop_requested())
                return;
            if (thread < m_count)
                (*m_work)(thread);
            m_gate->arrive_and_wait();
        }
    }

    const std::function<void(unsigned)>* m_work = nullptr;
    unsigned m_count = 0;
    std::unique_ptr<std::barrier<>> m_gate;
    std::vector<std::jthread> m_threads;
};

} // namespace

void launch(Dim3 grid, Dim3 block, std::size_t sharedBytes, const std::function<void()>& kernel)
{
    const auto threads = static_cast<unsigned>(countOf(block));
    const std::uint64_t blocks = countOf(grid);
    sharedMemory = std::make_unique<std::byte[]>(sharedBytes);
    warpValues.assign((threads + kWarp - 1) / kWarp, {});
    blockBarrier = std::make_unique<std::barrier<>>(threads);
    warpBarriers.clear();
    for (unsigned warp = 0; warp < warpValues.size(); ++warp)
        warpBarriers.push_back(std::make_unique<std::barrier<>>(std::min(kWarp, threads - warp * kWarp)));
    static Team team;
    team.run(threads, [&](unsigned thread) {
        blockDim = block;
        gridDim = grid;
        threadIdx = indexOf(thread, block);
        for (std::uint64_t i = firstBlock; i < blocks; ++i) {
            blockIdx = indexOf(i, grid);
            exchanges = 0;
            kernel();
            waitForBlock();
        }
    });
}

#else

namespace {

[[noreturn]] void fail(const char* what)
{
    std::fprintf(stderr, "CUDA shim: %s\n", what);
    std::abort();
}

constexpr std::size_t kStackBytes = std::size_t{256} << 10;

struct Fiber
{
    std::unique_ptr<char[]> stack;
    ucontext_t context;
    std::jmp_buf place;
    bool isStarted = false, isDone = true;
    unsigned exchanges = 0;
    const unsigned* waitsFor = nullptr; ///< the generation of the barrier that it waits at
    unsigned generation = 0;
    void* fakeStack = nullptr;
};

struct Barrier
{
    unsigned generation = 0, arrived = 0, size = 0;
};

std::vector<Fiber> fibers;
unsigned current = 0, finished = 0;
const std::function<void()>* work = nullptr;
Barrier blockBarrier;
std::vector<Barrier> warpBarriers;
// A switch saves no signal mask, which would be a call of the kernel; but the address sanitizer has to see it
// done by swapcontext.
#if defined(__SANITIZE_ADDRESS__)

ucontext_t mainContext;
const void* mainStack = nullptr;
std::size_t mainStackBytes = 0;

void switchToMain()
{
    Fiber& fiber = fibers[current];
    __sanitizer_start_switch_fiber(&fiber.fakeStack, mainStack, mainStackBytes);
    swapcontext(&fiber.context, &mainContext);
    __sanitizer_finish_switch_fiber(fiber.fakeStack, &mainStack, &mainStackBytes);
}

void switchToFiber()
{
    Fiber& fiber = fibers[current];
    fiber.isStarted = true;
    void* fakeStack = nullptr;
    __sanitizer_start_switch_fiber(&fakeStack, fiber.stack.get(), kStackBytes);
    swapcontext(&mainContext, &fiber.context);
    __sanitizer_finish_switch_fiber(fakeStack, nullptr, nullptr);
}

void enterFiber()
{
    __sanitizer_finish_switch_fiber(nullptr, &mainStack, &mainStackBytes);
}

#else

std::jmp_buf mainPlace;

void switchToMain()
{
    if (_setjmp(fibers[current].place) == 0)
        _longjmp(mainPlace, 1);
}

void switchToFiber()
{
    Fiber& fiber = fibers[current];
    if (_setjmp(mainPlace) != 0)
        return;
    if (fiber.isStarted)
        _longjmp(fiber.place, 1);
    fiber.isStarted = true;
    setcontext(&fiber.context);
}

void enterFiber() {}

#endif

/// A fiber's whole life: one block after another.
void fiberMain()
{
    enterFiber();
    while (true) {
        (*work)();
        fibers[current].isDone = true;
        ++finished;
        if (blockBarrier.arrived > 0)
            fail("a thread ended while others of its block wait at __syncthreads");
        switchToMain();
    }
}

void waitAt(Barrier& barrier)
{
    if (++barrier.arrived == barrier.size) {
        barrier.arrived = 0;
        ++barrier.generation;
        return;
    }
    Fiber& fiber = fibers[current];
    fiber.waitsFor = &barrier.generation;
    fiber.generation = barrier.generation;
    switchToMain();
}

void makeFibers(unsigned count)
{
    if (fibers.size() >= count)
        return;
    fibers = std::vector<Fiber>(count); // those before are idle: nothing on their stacks is needed
    for (Fiber& fiber : fibers) {
        fiber.stack.reset(new char[kStackBytes]); // not cleared, so that only what is used is there
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.get();
        fiber.context.uc_stack.ss_size = kStackBytes;
        fiber.context.uc_link = nullptr;
        makecontext(&fiber.context, fiberMain, 0);
    }
}

} // namespace

void waitForBlock()
{
    if (finished > 0)
        fail("a thread waits at __syncthreads after others of its block have ended");
    waitAt(blockBarrier);
}

void waitForWarp()
{
    waitAt(warpBarriers[linearThread() / kWarp]);
}

void exchangeBytes(const void* value, void* others, std::size_t bytes, int from)
{
    const unsigned warp = linearThread() / kWarp;
    auto& values = warpValues[warp].ofLane[exchanges++ % 2];
    std::memcpy(values[static_cast<std::size_t>(lane())].data(), value, bytes);
    waitForWarp();
    std::memcpy(others, values[static_cast<std::size_t>(from)].data(), bytes);
}

void launch(Dim3 grid, Dim3 block, std::size_t sharedBytes, const std::function<void()>& kernel)
{
    const auto threads = static_cast<unsigned>(countOf(block));
    const std::uint64_t blocks = countOf(grid);
    makeFibers(threads);
    sharedMemory = std::make_unique<std::byte[]>(sharedBytes);
    warpValues.assign((threads + kWarp - 1) / kWarp, {});
    blockBarrier = {0, 0, threads};
    warpBarriers.assign(warpValues.size(), {});
    for (unsigned warp = 0; warp < warpValues.size(); ++warp)
        warpBarriers[warp].size = std::min(kWarp, threads - warp * kWarp);
    work = &kernel;
    blockDim = block;
    gridDim = grid;
    for (std::uint64_t i = firstBlock; i < blocks; ++i) {
        blockIdx = indexOf(i, grid);
        finished = 0;
        for (unsigned thread = 0; thread < threads; ++thread) {
            fibers[thread].isDone = false;
            fibers[thread].waitsFor = nullptr;
            fibers[thread].exchanges = 0;
        }
        while (finished < threads) {
            bool hasMoved = false;
            for (unsigned thread = 0; thread < threads; ++thread) {
                Fiber& fiber = fibers[thread];
                if (fiber.isDone || (fiber.waitsFor && *fiber.waitsFor == fiber.generation))
                    continue;
                hasMoved = true;
                fiber.waitsFor = nullptr;
                current = thread;
                threadIdx = indexOf(thread, block);
                exchanges = fiber.exchanges;
                switchToFiber();
                fiber.exchanges = exchanges;
            }
            if (!hasMoved)
                fail("the threads of a block wait for each other");
        }
    }
}

#endif

} // namespace ropewalk::shim
