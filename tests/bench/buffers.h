// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <type_traits>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ropewalk::bench {

/// Memory for measuring: on a border of 2 MiB, in large pages where the system gives them, every page
/// touched.
template<class T>
class Buffer
{
    static_assert(std::is_trivially_copyable_v<T>);

public:
    explicit Buffer(std::size_t count, T value = T())
        : m_count(count)
    {
        constexpr std::size_t kBorder = std::size_t{2} << 20;
        const std::size_t bytes = (count * sizeof(T) + kBorder - 1) / kBorder * kBorder;
        m_memory.reset(static_cast<T*>(std::aligned_alloc(kBorder, bytes)));
        if (!m_memory)
            std::abort(); // a measurement without its memory is none
#if defined(__linux__)
        madvise(m_memory.get(), bytes, MADV_HUGEPAGE);
#endif
        for (std::size_t i = 0; i < count; ++i)
            m_memory.get()[i] = value;
    }

    T* data()
    {
        return m_memory.get();
    }
    std::size_t size() const
    {
        return m_count;
    }
    std::size_t bytes() const
    {
        return m_count * sizeof(T);
    }
    T& operator[](std::size_t at)
    {
        return m_memory.get()[at];
    }
    std::span<T> span()
    {
        return {m_memory.get(), m_count};
    }

    /// Numbers of N(0, 1), the same in every run.
    void fillAtRandom(unsigned seed)
    {
        std::mt19937 random(seed);
        std::normal_distribution<double> normal;
        for (T& value : span())
            value = static_cast<T>(normal(random));
    }

private:
    struct Free
    {
        void operator()(T* memory) const { std::free(memory); }
    };
    std::size_t m_count;
    std::unique_ptr<T, Free> m_memory;
};

} // namespace ropewalk::bench
