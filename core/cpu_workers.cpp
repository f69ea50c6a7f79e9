// SPDX-License-Identifier: GPL-3.0-or-later
#include "cpu_workers.h"

#include <algorithm>
#include <cassert>
#include <new>
#if defined(__linux__)
#include <sched.h>
#include <sys/mman.h>
#endif

namespace ropewalk {
namespace {

constexpr std::size_t kAlignment = 64;
/// Buffers from here on lie in huge pages where the system has them.
constexpr std::size_t kHugePage = std::size_t{2} << 20, kLarge = kHugePage / 4;
/// Buffers beyond this are given back after the operation that needed them.
constexpr std::size_t kKept = std::size_t{64} << 20;

} // namespace

CpuWorkers::CpuWorkers(int threads)
    : m_threads(std::max(1, threads))
    , m_slots(static_cast<std::size_t>((1 + m_threads) * kSlots))
{
}

CpuWorkers::~CpuWorkers()
{
    {
        const std::scoped_lock lock(m_mutex);
        m_isEnding = true;
    }
    m_wake.notify_all();
    for (std::thread& other : m_others)
        other.join();
}

int CpuWorkers::hardwareThreads()
{
#if defined(__linux__)
    // Those that this process may use, which may be fewer than there are.
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        return std::max(1, CPU_COUNT(&allowed));
#endif
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void CpuWorkers::run(std::int64_t tasks, Function function, const void* context)
{
    if (tasks <= 0)
        return;
    if (m_threads == 1 || tasks == 1) {
        for (std::int64_t index = 0; index < tasks; ++index)
            function(context, index, 0);
        return;
    }
    while (static_cast<int>(m_others.size()) + 1 < m_threads)
        m_others.emplace_back([this, worker = static_cast<int>(m_others.size()) + 1] { serve(worker); });
    std::unique_lock lock(m_mutex);
    m_function = function;
    m_context = context;
    m_next = 0;
    m_tasks = m_open = tasks;
    m_wake.notify_all();
    drain(lock, 0);
    m_done.wait(lock, [this] { return m_open == 0; });
    m_tasks = 0;
}

/// Takes tasks until none is left; the lock is held on entry and on return.
void CpuWorkers::drain(std::unique_lock<std::mutex>& lock, int worker)
{
    while (m_next < m_tasks) {
        const std::int64_t index = m_next++;
        const Function function = m_function;
        const void* context = m_context;
        lock.unlock();
        function(context, index, worker);
        lock.lock();
        if (--m_open == 0)
            m_done.notify_one();
    }
}

void CpuWorkers::serve(int worker)
{
    std::unique_lock lock(m_mutex);
    while (true) {
        m_wake.wait(lock, [this] { return m_isEnding || m_next < m_tasks; });
        if (m_isEnding)
            return;
        drain(lock, worker);
    }
}

void* CpuWorkers::bytes(int worker, int slot, std::size_t size)
{
    assert(-1 <= worker && worker < m_threads && 0 <= slot && slot < kSlots);
    Slot& found = m_slots[static_cast<std::size_t>((worker + 1) * kSlots + slot)];
    if (found.size < size) {
        found = {}; // first, so that both are never there at a time
        const bool isLarge = size >= kLarge;
        const std::size_t alignment = isLarge ? kHugePage : kAlignment;
        size = (size + alignment - 1) / alignment * alignment;
        found.memory = {static_cast<std::byte*>(::operator new(size, std::align_val_t(alignment))),
                        Free{alignment}};
        found.size = size;
#if defined(__linux__)
        // A tile of a product touches several rows of cells: with pages of 4 KiB it waits for their
        // addresses.
        if (isLarge)
            madvise(found.memory.get(), size, MADV_HUGEPAGE);
#endif
    }
    return found.memory.get();
}

void CpuWorkers::trim()
{
    for (Slot& slot : m_slots)
        if (slot.size > kKept)
            slot = {};
}

} // namespace ropewalk
