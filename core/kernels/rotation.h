// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace ropewalk {

/// Where the channels of the pairs lie: the two layouts that models have are loops over neighbours.
class PairPlan
{
public:
    PairPlan(std::span<const std::pair<int, int>> pairs, int width)
        : m_pairs(pairs)
        , m_width(width)
        , m_coversAll(2 * pairs.size() == static_cast<std::size_t>(width))
    {
        const auto follows = [&](int step, int between) {
            for (std::size_t i = 0; i < pairs.size(); ++i)
                if (pairs[i].first != pairs[0].first + static_cast<int>(i) * step ||
                    pairs[i].second != pairs[i].first + between)
                    return false;
            return !pairs.empty();
        };
        if (follows(2, 1))
            m_kind = Kind::Interleaved;
        else if (!pairs.empty() && follows(1, pairs[0].second - pairs[0].first))
            m_kind = Kind::Half;
    }

    /// `heads` rows of `width` channels, one after the other, by the same turns of their pairs. `out` may be
    /// `in`.
    template<class T>
    void rotate(const T* in, T* out, const T* cos, const T* sin, std::int64_t heads = 1) const
    {
        if (!m_coversAll && in != out)
            std::copy_n(in, heads * m_width, out);
        const auto count = static_cast<int>(m_pairs.size());
        // No pair reads what another writes, which the compiler cannot see.
        switch (m_kind) {
        case Kind::Half: {
            const auto [first, second] = m_pairs[0];
            for (std::int64_t at = 0; at < heads * m_width; at += m_width) {
                const T *from = in + at + first, *partner = in + at + second;
                T *to = out + at + first, *partnerTo = out + at + second;
#pragma GCC ivdep
                for (int i = 0; i < count; ++i) {
                    const T x = from[i], y = partner[i];
                    to[i] = x * cos[i] - y * sin[i];
                    partnerTo[i] = x * sin[i] + y * cos[i];
                }
            }
            break;
        }
        case Kind::Interleaved:
            for (std::int64_t at = 0; at < heads * m_width; at += m_width) {
                const T* from = in + at + m_pairs[0].first;
                T* to = out + at + m_pairs[0].first;
#pragma GCC ivdep
                for (int i = 0; i < count; ++i) {
                    const T x = from[2 * i], y = from[2 * i + 1];
                    to[2 * i] = x * cos[i] - y * sin[i];
                    to[2 * i + 1] = x * sin[i] + y * cos[i];
                }
            }
            break;
        case Kind::Listed:
            for (std::int64_t at = 0; at < heads * m_width; at += m_width)
                for (int i = 0; i < count; ++i) {
                    const auto [a, b] = m_pairs[static_cast<std::size_t>(i)];
                    const T x = in[at + a], y = in[at + b];
                    out[at + a] = x * cos[i] - y * sin[i];
                    out[at + b] = x * sin[i] + y * cos[i];
                }
            break;
        }
    }

private:
    enum class Kind { Half, Interleaved, Listed };

    std::span<const std::pair<int, int>> m_pairs;
    int m_width;
    bool m_coversAll;
    Kind m_kind = Kind::Listed;
};

} // namespace ropewalk
