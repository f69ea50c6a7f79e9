// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The inner loops that a fused multiply-add serves; compiled with contraction.
//
// A packed operand holds its rows ("keys") in panels of Lanes<T>::kPanel: packed[panel][channel][key].

#include "lanes.h"

#include <cstdint>

namespace ropewalk {

/// cells[m × stride + n] = Σ_c queries[m × depth + c]·key_n[c] from a whole panel on. `rows` is a
/// multiple of kTileRows; of the last panel as many cells are written as whole vectors hold the keys.
template<class T>
void multiplyPanels(const T* queries, std::int64_t rows, const T* packed, std::int64_t keys, int depth,
                    T* cells, std::int64_t stride);

/// Keys [rows × depth] into panels; the last one is filled up with zeros.
template<class T>
void packPanels(const T* keys, std::int64_t rows, int depth, T* packed);

/// Of turns e^{j(r0+b)θ} = e^{jr0θ}·e^{jbθ}, where `anchors` [rows × 2·pairs] holds cos r0θ and then -sin
/// r0θ, `packed` cos bθ and then sin bθ: Σ cos² over the pairs, [rows × stride].
void squaresOfTurns(const double* anchors, std::int64_t rows, const double* packed, std::int64_t panels,
                    int pairs, double* squares, std::int64_t stride);

/// RoFormer's Σ_k |S_k|, S_k the sum of the first k turns (section 3.4.3), the `still` turns of angle 0 last.
void boundOfTurns(const double* anchors, std::int64_t rows, const double* packed, std::int64_t panels,
                  int pairs, int still, double* bound, std::int64_t stride);

/// The turn `anchor`, one a pair, times each row of `block` [rows × pairs]; rows of the result are
/// `outStride` apart.
template<class T>
void turnRows(const double* anchorCos, const double* anchorSin, const double* blockCos,
              const double* blockSin, std::int64_t rows, int pairs, T* cos, T* sin, std::int64_t outStride);

/// logits[i] = max(row[i] - greatest, -87 of float or -708 of double), below which e^y is not normal, and
/// then row[i] = e^logits[i], off by less than 1.25 units in the last place (1 on levels that fuse).
/// `greatest` is that of the row.
template<class T>
void exponentials(T* row, std::int64_t count, T greatest, T* logits);

} // namespace ropewalk
