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

    /// One row of `width` channels by the turns of its pairs. `out` may be `in`.
    template<class In, class Out, class Turn>
    void rotate(const In* in, Out* out, const Turn* cos, const Turn* sin) const
    {
        const bool isSame = static_cast<const void*>(in) == static_cast<const void*>(out);
        if (!m_coversAll && !isSame)
            for (int channel = 0; channel < m_width; ++channel)
                out[channel] = static_cast<Out>(in[channel]);
        const auto count = static_cast<int>(m_pairs.size());
        // No pair reads what another writes, which the compiler cannot see.
        switch (m_kind) {
        case Kind::Half: {
            const auto [first, second] = m_pairs[0];
#pragma GCC ivdep
            for (int i = 0; i < count; ++i) {
                const auto x = static_cast<Turn>(in[first + i]), y = static_cast<Turn>(in[second + i]);
                out[first + i] = static_cast<Out>(x * cos[i] - y * sin[i]);
                out[second + i] = static_cast<Out>(x * sin[i] + y * cos[i]);
            }
            break;
        }
        case Kind::Interleaved: {
            const In* from = in + m_pairs[0].first;
            Out* to = out + m_pairs[0].first;
#pragma GCC ivdep
            for (int i = 0; i < count; ++i) {
                const auto x = static_cast<Turn>(from[2 * i]), y = static_cast<Turn>(from[2 * i + 1]);
                to[2 * i] = static_cast<Out>(x * cos[i] - y * sin[i]);
                to[2 * i + 1] = static_cast<Out>(x * sin[i] + y * cos[i]);
            }
            break;
        }
        case Kind::Listed:
            for (int i = 0; i < count; ++i) {
                const auto [a, b] = m_pairs[static_cast<std::size_t>(i)];
                const auto x = static_cast<Turn>(in[a]), y = static_cast<Turn>(in[b]);
                out[a] = static_cast<Out>(x * cos[i] - y * sin[i]);
                out[b] = static_cast<Out>(x * sin[i] + y * cos[i]);
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
