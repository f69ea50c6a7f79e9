// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace ropewalk {

/// Numbers below the smallest normal one are zero on this thread while it lives, as operands and as results:
/// a processor takes a hundred times as long for them, and damped rows in single precision are full of them.
/// What the thread had before is restored. Where the processor is not known, nothing changes.
class SubnormalsAreZero
{
public:
    SubnormalsAreZero()
        : m_before(state())
    {
        setState(m_before | kZero);
    }
    ~SubnormalsAreZero() { setState(m_before); }
    SubnormalsAreZero(const SubnormalsAreZero&) = delete;
    SubnormalsAreZero& operator=(const SubnormalsAreZero&) = delete;

private:
#if defined(__SSE2__)
    static constexpr std::uint64_t kZero = 0x8040; // flush to zero, denormals are zero
    static std::uint64_t state()
    {
        return _mm_getcsr();
    }
    static void setState(std::uint64_t state)
    {
        _mm_setcsr(static_cast<unsigned>(state));
    }
#elif defined(__aarch64__)
    static constexpr std::uint64_t kZero = std::uint64_t{1} << 24; // FZ
    static std::uint64_t state()
    {
        std::uint64_t state = 0;
        asm volatile("mrs %0, fpcr" : "=r"(state));
        return state;
    }
    static void setState(std::uint64_t state)
    {
        asm volatile("msr fpcr, %0" : : "r"(state));
    }
#else
    static constexpr std::uint64_t kZero = 0;
    static std::uint64_t state()
    {
        return 0;
    }
    static void setState(std::uint64_t) {}
#endif

    std::uint64_t m_before;
};

} // namespace ropewalk
