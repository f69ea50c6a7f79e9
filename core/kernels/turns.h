// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "fused.h"

#include <cassert>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace ropewalk {

/// Turns of all pairs at positions that follow each other: e^{j(p+b·stride)θ} = e^{jpθ}·e^{jb·stride·θ}, the
/// second factor from a table that serves every p.
class TurnBlock
{
public:
    static constexpr std::int64_t kRows = 128; ///< of the table: 128 KiB with 64 pairs, within L2

    /// A table for up to `rows` ≤ kRows positions at a time.
    TurnBlock(std::span<const double> invFreq, double stride, std::int64_t rows = kRows)
        : m_invFreq(invFreq)
        , m_pairs(static_cast<int>(invFreq.size()))
        , m_cos(static_cast<std::size_t>(rows * m_pairs))
        , m_sin(m_cos.size())
    {
        assert(rows <= kRows);
        // The table is a product too: the first kFine rows by the library, then one of each kFine.
        constexpr std::int64_t kFine = 8;
        std::vector<double> anchorCos(invFreq.size()), anchorSin(invFreq.size());
        for (std::int64_t row = 0; row < std::min(kFine, rows); ++row)
            direct(static_cast<double>(row) * stride, m_cos.data() + row * m_pairs,
                   m_sin.data() + row * m_pairs);
        for (std::int64_t row = kFine; row < rows; row += kFine) {
            direct(static_cast<double>(row) * stride, anchorCos.data(), anchorSin.data());
            turnRows(anchorCos.data(), anchorSin.data(), m_cos.data(), m_sin.data(),
                     std::min(kFine, rows - row), m_pairs, m_cos.data() + row * m_pairs,
                     m_sin.data() + row * m_pairs, m_pairs);
        }
    }

    int pairs() const { return m_pairs; }

    /// cos and sin, `scale` times, of `count` positions from `position` on; rows `outStride` apart. `anchor`
    /// has room for 2·pairs numbers.
    template<class T>
    void fill(double position, std::int64_t count, double scale, T* cos, T* sin, std::int64_t outStride,
              double* anchor) const
    {
        this->anchor(position, scale, anchor);
        fillRows(anchor, 0, count, cos, sin, outStride);
    }

    /// cos and then sin at `position`, `scale` times, 2·pairs numbers: what fillRows starts from.
    void anchor(double position, double scale, double* anchor) const
    {
        direct(position, anchor, anchor + m_pairs);
        for (int i = 0; i < 2 * m_pairs; ++i)
            anchor[i] *= scale;
    }

    /// Of `fill` the rows `first`, `first` + 1, … alone.
    template<class T>
    void fillRows(const double* anchor, std::int64_t first, std::int64_t count, T* cos, T* sin,
                  std::int64_t outStride) const
    {
        assert((first + count) * m_pairs <= static_cast<std::int64_t>(m_cos.size()));
        turnRows(anchor, anchor + m_pairs, m_cos.data() + first * m_pairs, m_sin.data() + first * m_pairs,
                 count, m_pairs, cos, sin, outStride);
    }

private:
    void direct(double position, double* cos, double* sin) const
    {
        for (int i = 0; i < m_pairs; ++i) {
            const double angle = position * m_invFreq[static_cast<std::size_t>(i)];
            cos[i] = std::cos(angle);
            sin[i] = std::sin(angle);
        }
    }

    std::span<const double> m_invFreq;
    int m_pairs;
    std::vector<double> m_cos, m_sin; ///< [rows × pairs]
};

} // namespace ropewalk
