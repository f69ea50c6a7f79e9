// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Vectors as wide as the registers of the level that is being compiled, and sums in a fixed order.

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace ropewalk {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
/// Rows and vectors of a product's tile of registers: 24 sums, 3 vectors of keys and one query are 28 of 32.
inline constexpr int kTileRows = 8, kTileVectors = 3;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
inline constexpr int kTileRows = 4, kTileVectors = 3; // 12 + 3 + 1 of 16
#else
inline constexpr int kVectorBytes = 16;
inline constexpr int kTileRows = 4, kTileVectors = 2; // 8 + 2 + 1, and one for a product, of 16
#endif

template<class T>
struct Lanes
{
    static constexpr int kCount = kVectorBytes / static_cast<int>(sizeof(T));
    static constexpr int kPanel = kTileVectors * kCount; ///< keys side by side in a product
    typedef T Vector __attribute__((vector_size(kVectorBytes)));
    /// The bits of each T; sums of them wrap.
    using Word = std::conditional_t<sizeof(T) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
    typedef Word Bits __attribute__((vector_size(kVectorBytes)));
    static Vector load(const T* from)
    {
        Vector vector;
        std::memcpy(&vector, from, sizeof vector);
        return vector;
    }
    static void store(T* to, const Vector& vector) { std::memcpy(to, &vector, sizeof vector); }
};

/// As many T as a vector holds doubles.
template<class T>
struct LanesOfDouble
{
    static constexpr int kCount = Lanes<double>::kCount;
    typedef T Narrow __attribute__((vector_size(kCount * sizeof(T))));
    static Lanes<double>::Vector load(const T* from)
    {
#if defined(__AVX512F__)
        if constexpr (sizeof(T) == sizeof(float)) // of the general words g++ 12 makes four instructions
            return _mm512_cvtps_pd(_mm256_loadu_ps(from));
#endif
        Narrow narrow;
        std::memcpy(&narrow, from, sizeof narrow);
        return __builtin_convertvector(narrow, Lanes<double>::Vector);
    }
};

/// Sums of numbers in double, always in the same order: lane by lane, then the lanes, then the rest.
class LaneSum
{
public:
    void add(const Lanes<double>::Vector& vector) { m_lanes += vector; }
    void add(double value) { m_rest += value; }
    double total() const
    {
        double lanes[Lanes<double>::kCount], sum = 0.0;
        Lanes<double>::store(lanes, m_lanes); // a lane taken by its number would keep m_lanes in memory
        for (const double lane : lanes)
            sum += lane;
        return sum + m_rest;
    }

private:
    Lanes<double>::Vector m_lanes = {};
    double m_rest = 0.0;
};

template<class T>
double sumOf(const T* values, std::int64_t count)
{
    constexpr int kStep = Lanes<double>::kCount;
    LaneSum even, odd;
    std::int64_t i = 0;
    for (; i + 2 * kStep <= count; i += 2 * kStep) {
        even.add(LanesOfDouble<T>::load(values + i));
        odd.add(LanesOfDouble<T>::load(values + i + kStep));
    }
    for (; i < count; ++i)
        even.add(static_cast<double>(values[i]));
    return even.total() + odd.total();
}

/// Σ a·b, each product in double.
template<class T>
double sumOfProducts(const T* a, const T* b, std::int64_t count)
{
    constexpr int kStep = Lanes<double>::kCount;
    LaneSum even, odd;
    std::int64_t i = 0;
    for (; i + 2 * kStep <= count; i += 2 * kStep) {
        even.add(LanesOfDouble<T>::load(a + i) * LanesOfDouble<T>::load(b + i));
        odd.add(LanesOfDouble<T>::load(a + i + kStep) * LanesOfDouble<T>::load(b + i + kStep));
    }
    for (; i < count; ++i)
        even.add(static_cast<double>(a[i]) * static_cast<double>(b[i]));
    return even.total() + odd.total();
}

/// The greatest of `count` numbers, none of them NaN; -∞ of none.
template<class T>
T greatestOf(const T* values, std::int64_t count)
{
    using Vectors = Lanes<T>;
    constexpr int kStep = Vectors::kCount;
    T greatest = -std::numeric_limits<T>::infinity();
    std::int64_t i = 0;
    if (count >= 2 * kStep) {
        typename Vectors::Vector even = Vectors::load(values), odd = Vectors::load(values + kStep);
        for (i = 2 * kStep; i + 2 * kStep <= count; i += 2 * kStep) {
            const typename Vectors::Vector next = Vectors::load(values + i);
            const typename Vectors::Vector after = Vectors::load(values + i + kStep);
            even = next > even ? next : even;
            odd = after > odd ? after : odd;
        }
        even = odd > even ? odd : even;
        for (int lane = 0; lane < kStep; ++lane)
            greatest = even[lane] > greatest ? even[lane] : greatest;
    }
    for (; i < count; ++i)
        greatest = values[i] > greatest ? values[i] : greatest;
    return greatest;
}

} // namespace ropewalk
