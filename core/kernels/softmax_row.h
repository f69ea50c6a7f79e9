// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "fused.h"
#include "kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ropewalk {

/// Logits into e^(y - greatest), in place; exponentials in T, their sums in double. `greatest` is -∞ where
/// every logit is, and the row is left as it was. Each exponential is off by less than 1.25 units in the
/// last place, and at least the smallest normal number.
template<class T>
SoftmaxSums softmaxRow(T* row, std::int64_t count, bool wantsEntropy)
{
    constexpr std::int64_t kPiece = 512;
    constexpr int kStep = Lanes<double>::kCount, kSums = 4; // more than a sum of vectors takes cycles
    const T greatest = greatestOf(row, count);
    SoftmaxSums sums;
    sums.greatest = static_cast<double>(greatest);
    if (greatest == -std::numeric_limits<T>::infinity())
        return sums;
    alignas(kVectorBytes) T logits[kPiece];
    LaneSum sum[kSums], product[kSums]; // of e, and of y·e
    for (std::int64_t first = 0; first < count; first += kPiece) {
        const std::int64_t width = std::min(kPiece, count - first);
        T* const e = row + first;
        exponentials(e, width, greatest, logits);
        std::int64_t i = 0;
        for (; i + kSums * kStep <= width; i += kSums * kStep)
#pragma GCC unroll 4
            for (int j = 0; j < kSums; ++j) {
                const Lanes<double>::Vector one = LanesOfDouble<T>::load(e + i + j * kStep);
                sum[j].add(one);
                if (wantsEntropy)
                    product[j].add(one * LanesOfDouble<T>::load(logits + i + j * kStep));
            }
        for (; i < width; ++i) {
            sum[0].add(static_cast<double>(e[i]));
            product[0].add(static_cast<double>(e[i]) * static_cast<double>(logits[i]));
        }
    }
    double products = 0.0;
    for (int j = 0; j < kSums; ++j) {
        sums.sum += sum[j].total();
        products += product[j].total();
    }
    sums.entropy = wantsEntropy ? std::log(sums.sum) - products / sums.sum : 0.0;
    return sums;
}

} // namespace ropewalk
