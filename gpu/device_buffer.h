// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cuda_check.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace ropewalk {

/// Memory of the device that grows and is used again.
class DeviceBuffer
{
public:
    explicit DeviceBuffer(const CudaCalls& calls)
        : m_calls(calls)
    {
    }
    ~DeviceBuffer() { release(); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;

    /// At least `bytes`; what was in it may be gone. Throws CudaFailure.
    void* ofSize(std::size_t bytes)
    {
        if (bytes > m_bytes) {
            release();
            check(m_calls, m_calls.allocate(&m_memory, bytes));
            m_bytes = bytes;
        }
        return m_memory;
    }

    /// Gives the memory back.
    void release()
    {
        if (m_memory)
            m_calls.release(m_memory); // of a lost device it fails, and nothing is to be done
        m_memory = nullptr;
        m_bytes = 0;
    }

private:
    const CudaCalls& m_calls;
    void* m_memory = nullptr;
    std::size_t m_bytes = 0;
};

/// The buffers of one run after another: the n-th array that a run takes has the memory of the n-th of the
/// run before.
class DeviceBuffers
{
public:
    explicit DeviceBuffers(const CudaCalls& calls)
        : m_calls(calls)
    {
    }

    /// A new run: all arrays taken so far are void.
    void restart() { m_taken = 0; }
    void releaseAll() { m_buffers.clear(); }

    /// `count` numbers that hold anything. Throws CudaFailure.
    template<class Number>
    Number* take(std::size_t count)
    {
        if (m_taken == m_buffers.size())
            m_buffers.push_back(std::make_unique<DeviceBuffer>(m_calls));
        return static_cast<Number*>(
            m_buffers[m_taken++]->ofSize(std::max<std::size_t>(1, count) * sizeof(Number)));
    }
    /// A copy of `numbers`; null where there are none.
    template<class Number>
    const Number* copyOf(std::span<const Number> numbers)
    {
        if (numbers.empty())
            return nullptr;
        Number* const copy = take<Number>(numbers.size());
        toDevice(copy, numbers);
        return copy;
    }
    template<class Number>
    const Number* copyOf(const std::vector<Number>& numbers)
    {
        return copyOf(std::span<const Number>(numbers));
    }

    template<class Number>
    void toDevice(Number* to, std::span<const Number> from)
    {
        check(m_calls, m_calls.toDevice(to, from.data(), from.size_bytes()));
    }
    /// Waits for the kernels before. An empty `to` is left alone.
    template<class Number>
    void toHost(std::span<Number> to, const Number* from)
    {
        if (!to.empty())
            check(m_calls, m_calls.toHost(to.data(), from, to.size_bytes()));
    }

private:
    const CudaCalls& m_calls;
    std::vector<std::unique_ptr<DeviceBuffer>> m_buffers;
    std::size_t m_taken = 0;
};

} // namespace ropewalk
