// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "../cpu_workers.h"
#include "../score_map.h"
#include "rotation.h"
#include "run_support.h"
#include "turns.h"

#include <bit>
#include <cstdint>

namespace ropewalk {

/// A row as a format with fewer bits of mantissa holds it: to the nearest, ties to even.
template<int kDropped>
float rounded(float value)
{
    std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    bits += ((1U << (kDropped - 1)) - 1U) + ((bits >> kDropped) & 1U);
    return std::bit_cast<float>(bits & ~((1U << kDropped) - 1U));
}

/// Rotates the rows of one term of a map, with angles and products in double.
class RowTurner
{
public:
    static constexpr std::int64_t kRows = TurnBlock::kRows; ///< at most so many at a time

    RowTurner(const ScoreMapOp& op, const ScoreTerm& term)
        : m_op(op)
        , m_term(term)
        , m_plan(term.pairs, term.width)
        , m_turns(term.invFreq, static_cast<double>(op.stride))
    {
    }

    const ScoreTerm& term() const { return m_term; }
    int width() const { return m_term.width; }
    int pairs() const { return m_turns.pairs(); }

    /// Doubles of scratch that a call needs.
    std::int64_t scratchSize() const { return 4 * pairs() + width(); }

    /// Rotated queries from `first` on, `count` ≤ kRows of them, times the term's scale and τ, into `rows`.
    template<class T>
    void queries(std::int64_t first, std::int64_t count, T* rows, double* scratch) const
    {
        const std::int64_t row = first - m_op.grid.rows().first;
        turn(m_term.queries.data() + row * width(), first, count, rows, scratch, [&](std::int64_t i) {
            return m_term.scale * (m_term.rowScale.empty() ? 1.0 : m_term.rowScale[at(row + i)]);
        });
    }

    /// Rotated keys from `first` on.
    template<class T>
    void keys(std::int64_t first, std::int64_t count, T* rows, double* scratch) const
    {
        turn(m_term.keys.data() + (first - m_op.firstKey) * width(), first, count, rows, scratch,
             [](std::int64_t) { return 1.0; });
    }

private:
    template<class T, class Factor>
    void turn(const double* source, std::int64_t first, std::int64_t count, T* rows, double* scratch,
              Factor factorOf) const
    {
        double* anchor = scratch;
        double* cos = anchor + 2 * pairs();
        double* sin = cos + pairs();
        double* turned = sin + pairs();
        m_turns.anchor(static_cast<double>(first * m_op.stride + m_op.offset), m_term.attentionFactor,
                       anchor);
        for (std::int64_t i = 0; i < count; ++i) { // row by row: all of it stays in L1
            m_turns.fillRows(anchor, i, 1, cos, sin, pairs());
            turnRow(source + i * width(), cos, sin, factorOf(i), rows + i * width(), turned);
        }
    }

    void turnRow(const double* source, const double* cos, const double* sin, double factor, double* row,
                 double*) const
    {
        m_plan.rotate(source, row, cos, sin);
        for (int channel = 0; channel < width() && factor != 1.0; ++channel)
            row[channel] *= factor;
    }

    void turnRow(const double* source, const double* cos, const double* sin, double factor, float* row,
                 double* turned) const
    {
        m_plan.rotate(source, turned, cos, sin);
        // A model rounds the rows and scales the product; the scale of a rounded row is as good.
        const auto scale = static_cast<float>(factor);
        switch (m_op.precision) {
        case ScorePrecision::Tf32:
            for (int channel = 0; channel < width(); ++channel)
                row[channel] = rounded<13>(static_cast<float>(turned[channel])) * scale;
            break;
        case ScorePrecision::Bf16:
            for (int channel = 0; channel < width(); ++channel)
                row[channel] = rounded<16>(static_cast<float>(turned[channel])) * scale;
            break;
        default:
            for (int channel = 0; channel < width(); ++channel)
                row[channel] = static_cast<float>(turned[channel] * factor);
        }
    }

    const ScoreMapOp& m_op;
    const ScoreTerm& m_term;
    PairPlan m_plan;
    TurnBlock m_turns;
};

} // namespace ropewalk
