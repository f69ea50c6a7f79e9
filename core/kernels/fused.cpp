// SPDX-License-Identifier: GPL-3.0-or-later
#include "fused.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace ropewalk {
namespace {

/// kTileRows queries by the keys of one panel, or of its first vectors.
template<int kVectors, class T>
[[gnu::always_inline]] inline void multiplyTile(const T* query, const T* keys, int depth, T* out,
                                                std::int64_t stride)
{
    using Vectors = Lanes<T>;
    using Vector = typename Vectors::Vector;
    Vector sums[kTileRows][kVectors] = {};
    for (int channel = 0; channel < depth; ++channel) {
        Vector key[kVectors];
#pragma GCC unroll 3
        for (int j = 0; j < kVectors; ++j)
            key[j] = Vectors::load(keys + channel * Vectors::kPanel + j * Vectors::kCount);
#pragma GCC unroll 8
        for (int i = 0; i < kTileRows; ++i) {
            const T value = query[i * depth + channel];
#pragma GCC unroll 3
            for (int j = 0; j < kVectors; ++j)
                sums[i][j] += value * key[j];
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kTileRows; ++i)
#pragma GCC unroll 3
        for (int j = 0; j < kVectors; ++j)
            Vectors::store(out + i * stride + j * Vectors::kCount, sums[i][j]);
}

/// Lanes of two vectors in turn, from lane kFirst of each on.
template<int kFirst, class Vector, std::size_t... kLane>
[[gnu::always_inline]] inline Vector interleaved(const Vector& a, const Vector& b,
                                                 std::index_sequence<kLane...>)
{
    return __builtin_shufflevector(a, b, (kFirst + kLane / 2 + kLane % 2 * sizeof...(kLane))...);
}

/// As many rows as a vector has lanes, `stride` apart, become columns: rows half of all apart are joined lane
/// by lane, as often as their number can be halved.
template<class T>
[[gnu::always_inline]] inline void transpose(const T* from, std::int64_t stride, T* to, std::int64_t toStride)
{
    using Vectors = Lanes<T>;
    using Vector = typename Vectors::Vector;
    constexpr int kCount = Vectors::kCount;
    constexpr auto kLanes = std::make_index_sequence<kCount>();
    Vector rows[kCount], next[kCount];
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i)
        rows[i] = Vectors::load(from + i * stride);
#pragma GCC unroll 4
    for (int step = 1; step < kCount; step *= 2) {
#pragma GCC unroll 8
        for (int i = 0; i < kCount / 2; ++i) {
            next[2 * i] = interleaved<0>(rows[i], rows[i + kCount / 2], kLanes);
            next[2 * i + 1] = interleaved<kCount / 2>(rows[i], rows[i + kCount / 2], kLanes);
        }
#pragma GCC unroll 16
        for (int i = 0; i < kCount; ++i)
            rows[i] = next[i];
    }
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i)
        Vectors::store(to + i * toStride, rows[i]);
}

/// e^y, y ≤ 0 and e^y normal: y = n·ln 2 + r, and Taylor's series of e^r, |r| ≤ ln 2/2.
template<class T>
[[gnu::always_inline]] inline typename Lanes<T>::Vector exponential(typename Lanes<T>::Vector y)
{
    using Vector = typename Lanes<T>::Vector;
    using Bits = typename Lanes<T>::Bits;
    constexpr bool isSingle = std::numeric_limits<T>::digits == 24;
    constexpr int kTerms = isSingle ? 8 : 14; // what is left out is below 2^-27 and 2^-57 of e^r
    constexpr int kMantissa = std::numeric_limits<T>::digits - 1;
    // n·ln 2 in two parts, of which the first is exact: its factor has few bits.
    constexpr T kUpper = isSingle ? T(0x1.62ep-1) : T(0x1.62e42feep-1);
    constexpr T kLower = static_cast<T>(std::numbers::ln2_v<long double> - static_cast<long double>(kUpper));
    constexpr T kRounding = static_cast<T>(std::int64_t{3} << (kMantissa - 1)); // the units are the last bits
    const Vector shifted = y * static_cast<T>(std::numbers::log2e) + kRounding;
    const Vector n = shifted - kRounding;
    const Vector r = (y - n * kUpper) - n * kLower;
    T coefficient[kTerms] = {T(1)};
#pragma GCC unroll 14
    for (int k = 1; k < kTerms; ++k)
        coefficient[k] = coefficient[k - 1] / static_cast<T>(k);
    Vector sum = coefficient[kTerms - 1] + Vector{};
#pragma GCC unroll 14
    for (int k = kTerms - 2; k >= 0; --k)
        sum = sum * r + coefficient[k];
    Bits bits, power;
    std::memcpy(&bits, &sum, sizeof bits);
    std::memcpy(&power, &shifted, sizeof power);
    bits += power << kMantissa; // times 2^n
    std::memcpy(&sum, &bits, sizeof sum);
    return sum;
}

} // namespace

template<class T>
void multiplyPanels(const T* queries, std::int64_t rows, const T* packed, std::int64_t keys, int depth,
                    T* cells, std::int64_t stride)
{
    constexpr std::int64_t kPanel = Lanes<T>::kPanel, kCount = Lanes<T>::kCount;
    constexpr std::int64_t kInL1 = 16384; // bytes of keys that stay there beside what is written
    const std::int64_t panels = (keys + kPanel - 1) / kPanel;
    const auto tile = [&](std::int64_t panel, std::int64_t row) {
        const T* query = queries + row * depth;
        const T* key = packed + panel * depth * kPanel;
        T* out = cells + row * stride + panel * kPanel;
        const std::int64_t left = keys - panel * kPanel;
        if (left > (kTileVectors - 1) * kCount)
            multiplyTile<kTileVectors>(query, key, depth, out, stride);
        else if (left > kCount)
            multiplyTile<kTileVectors - 1>(query, key, depth, out, stride);
        else
            multiplyTile<1>(query, key, depth, out, stride);
    };
    static_assert(kTileVectors <= 3);
    if (panels * depth * kPanel * static_cast<std::int64_t>(sizeof(T)) <= kInL1)
        for (std::int64_t row = 0; row < rows; row += kTileRows) // written from one end to the other
            for (std::int64_t panel = 0; panel < panels; ++panel)
                tile(panel, row);
    else
        for (std::int64_t panel = 0; panel < panels; ++panel)
            for (std::int64_t row = 0; row < rows; row += kTileRows)
                tile(panel, row);
}

template void multiplyPanels(const float*, std::int64_t, const float*, std::int64_t, int, float*,
                             std::int64_t);
template void multiplyPanels(const double*, std::int64_t, const double*, std::int64_t, int, double*,
                             std::int64_t);

template<class T>
void packPanels(const T* keys, std::int64_t rows, int depth, T* packed)
{
    using Vectors = Lanes<T>;
    constexpr int kPanel = Vectors::kPanel, kCount = Vectors::kCount;
    for (std::int64_t first = 0; first < rows; first += kPanel) {
        const auto count = static_cast<int>(std::min<std::int64_t>(kPanel, rows - first));
        for (int key = 0; key < kPanel; key += kCount) {
            const T* from = keys + (first + key) * depth;
            T* to = packed + key;
            int channel = 0;
            for (; key + kCount <= count && channel + kCount <= depth; channel += kCount)
                transpose(from + channel, depth, to + channel * kPanel, kPanel);
            for (; channel < depth; ++channel)
                for (int i = 0; i < kCount; ++i)
                    to[channel * kPanel + i] = key + i < count ? from[i * depth + channel] : T(0);
        }
        packed += static_cast<std::int64_t>(depth) * kPanel;
    }
}

template void packPanels(const float*, std::int64_t, int, float*);
template void packPanels(const double*, std::int64_t, int, double*);

void squaresOfTurns(const double* anchors, std::int64_t rows, const double* packed, std::int64_t panels,
                    int pairs, double* squares, std::int64_t stride)
{
    using Vectors = Lanes<double>;
    using Vector = Vectors::Vector;
    constexpr int kRows = kTileRows / 2;
    for (std::int64_t panel = 0; panel < panels; ++panel) {
        const double* turns = packed + panel * 2 * pairs * Vectors::kPanel;
        const double* sines = turns + std::int64_t{pairs} * Vectors::kPanel;
        for (std::int64_t row = 0; row < rows; row += kRows) {
            const double* anchor = anchors + row * 2 * pairs;
            Vector sums[kRows][kTileVectors] = {};
            for (int pair = 0; pair < pairs; ++pair) {
#pragma GCC unroll 3
                for (int j = 0; j < kTileVectors; ++j) {
                    const int offset = pair * Vectors::kPanel + j * Vectors::kCount;
                    const Vector cosine = Vectors::load(turns + offset);
                    const Vector sine = Vectors::load(sines + offset);
#pragma GCC unroll 4
                    for (int i = 0; i < kRows; ++i) {
                        const Vector turned = anchor[i * 2 * pairs + pair] * cosine +
                                              anchor[i * 2 * pairs + pairs + pair] * sine;
                        sums[i][j] += turned * turned;
                    }
                }
            }
            double* out = squares + row * stride + panel * Vectors::kPanel;
            for (int i = 0; i < kRows; ++i)
                for (int j = 0; j < kTileVectors; ++j)
                    Vectors::store(out + i * stride + j * Vectors::kCount, sums[i][j]);
        }
    }
}

void boundOfTurns(const double* anchors, std::int64_t rows, const double* packed, std::int64_t panels,
                  int pairs, int still, double* bound, std::int64_t stride)
{
    constexpr int kWidth = Lanes<double>::kPanel;
    for (std::int64_t panel = 0; panel < panels; ++panel) {
        const double* turns = packed + panel * 2 * pairs * kWidth;
        const double* sines = turns + std::int64_t{pairs} * kWidth;
        for (std::int64_t row = 0; row < rows; ++row) {
            const double* anchor = anchors + row * 2 * pairs;
            double re[kWidth] = {}, im[kWidth] = {}, sum[kWidth] = {};
            for (int pair = 0; pair < pairs; ++pair) {
                const double c0 = anchor[pair], s0 = -anchor[pairs + pair];
                for (int j = 0; j < kWidth; ++j) {
                    const double c = turns[pair * kWidth + j], s = sines[pair * kWidth + j];
                    re[j] += c0 * c - s0 * s;
                    im[j] += s0 * c + c0 * s;
                    sum[j] += std::sqrt(re[j] * re[j] + im[j] * im[j]);
                }
            }
            for (int k = 0; k < still; ++k)
                for (int j = 0; j < kWidth; ++j) {
                    re[j] += 1.0;
                    sum[j] += std::sqrt(re[j] * re[j] + im[j] * im[j]);
                }
            std::copy_n(sum, kWidth, bound + row * stride + panel * kWidth);
        }
    }
}

template<class T>
void turnRows(const double* anchorCos, const double* anchorSin, const double* blockCos,
              const double* blockSin, std::int64_t rows, int pairs, T* cos, T* sin, std::int64_t outStride)
{
    for (std::int64_t row = 0; row < rows; ++row) {
        const double* c = blockCos + row * pairs;
        const double* s = blockSin + row * pairs;
        T* __restrict cosines = cos + row * outStride;
        T* __restrict sines = sin + row * outStride;
        for (int i = 0; i < pairs; ++i) {
            cosines[i] = static_cast<T>(anchorCos[i] * c[i] - anchorSin[i] * s[i]);
            sines[i] = static_cast<T>(anchorSin[i] * c[i] + anchorCos[i] * s[i]);
        }
    }
}

template void turnRows(const double*, const double*, const double*, const double*, std::int64_t, int, float*,
                       float*, std::int64_t);
template void turnRows(const double*, const double*, const double*, const double*, std::int64_t, int, double*,
                       double*, std::int64_t);

template<class T>
void exponentials(T* row, std::int64_t count, T greatest, T* logits)
{
    using Vectors = Lanes<T>;
    using Vector = typename Vectors::Vector;
    const Vector least = (std::numeric_limits<T>::digits == 24 ? T(-87) : T(-708)) + Vector{};
    const auto step = [&](const T* from, T* logit, T* to) {
        const Vector difference = Vectors::load(from) - greatest;
        const Vector y = difference > least ? difference : least;
        Vectors::store(logit, y);
        Vectors::store(to, exponential<T>(y));
    };
    std::int64_t i = 0;
    for (; i + Vectors::kCount <= count; i += Vectors::kCount)
        step(row + i, logits + i, row + i);
    if (i == count)
        return;
    T rest[3][Vectors::kCount] = {};
    std::copy(row + i, row + count, rest[0]);
    step(rest[0], rest[1], rest[2]);
    std::copy_n(rest[1], count - i, logits + i);
    std::copy_n(rest[2], count - i, row + i);
}

template void exponentials(float*, std::int64_t, float, float*);
template void exponentials(double*, std::int64_t, double, double*);

} // namespace ropewalk
