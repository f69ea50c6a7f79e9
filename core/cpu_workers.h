// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <type_traits>
#include <vector>

namespace ropewalk {

/// The threads of the processor's backend, and the memory that its operations use again and again. One
/// caller at a time; the caller is worker 0 and works too.
class CpuWorkers
{
public:
    /// `threads` ≥ 1, the caller included. The others start with the first work.
    explicit CpuWorkers(int threads);
    ~CpuWorkers();
    CpuWorkers(const CpuWorkers&) = delete;
    CpuWorkers& operator=(const CpuWorkers&) = delete;

    int threads() const { return m_threads; }
    static int hardwareThreads();

    /// Calls `task(index, worker)` once for each index 0..tasks-1, on any worker 0..threads-1, in any order.
    /// Returns when all are done. The partition is the caller's: results are the same to the bit for any
    /// number of threads when a task's result depends on its index alone.
    template<class Task>
    void forEach(std::int64_t tasks, const Task& task)
    {
        run(
            tasks,
            [](const void* function, std::int64_t index, int worker) {
                (*static_cast<const Task*>(function))(index, worker);
            },
            &task);
    }

    /// At least `count` of T for `worker` (-1: for all together), on a border of 64 bytes, with contents
    /// unspecified. Valid until the same slot is asked for more. Slots are small numbers of the operation's
    /// choice; a worker asks for its own only, and nobody for the common ones while tasks run.
    template<class T>
    T* scratch(int worker, int slot, std::int64_t count)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        return static_cast<T*>(bytes(worker, slot, static_cast<std::size_t>(count) * sizeof(T)));
    }

    /// Gives memory back that only a very large operation needed.
    void trim();

private:
    using Function = void (*)(const void*, std::int64_t, int);
    struct Free
    {
        std::size_t alignment; ///< as it was asked for
        void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t(alignment)); }
    };
    struct Slot
    {
        std::unique_ptr<std::byte, Free> memory;
        std::size_t size = 0;
    };
    static constexpr int kSlots = 12;

    void run(std::int64_t tasks, Function function, const void* context);
    void* bytes(int worker, int slot, std::size_t size);
    void serve(int worker);
    void drain(std::unique_lock<std::mutex>& lock, int worker);

    int m_threads;
    std::vector<Slot> m_slots; ///< [(1 + threads) × kSlots]
    std::mutex m_mutex;
    std::condition_variable m_wake, m_done;
    Function m_function = nullptr;
    const void* m_context = nullptr;
    std::int64_t m_next = 0, m_tasks = 0, m_open = 0;
    bool m_isEnding = false;
    std::vector<std::thread> m_others;
};

} // namespace ropewalk
