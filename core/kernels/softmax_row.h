// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels.h"
#include "lanes.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ropewalk {

/// Adds Σ e and, where asked for, Σ y·e.
template<class T>
void addUp(const T* logits, const T* exponentials, std::int64_t count, LaneSum& sum, LaneSum& product,
           bool wantsProduct)
{
    constexpr int kStep = LanesOfDouble<T>::kCount;
    LaneSum sums = sum, products = product; // in registers
    std::int64_t i = 0;
    for (; i + kStep <= count; i += kStep) {
        const Lanes<double>::Vector e = LanesOfDouble<T>::load(exponentials + i);
        sums.add(e);
        if (wantsProduct)
            products.add(e * LanesOfDouble<T>::load(logits + i));
    }
    for (; i < count; ++i) {
        const auto e = static_cast<double>(exponentials[i]);
        sums.add(e);
        if (wantsProduct)
            products.add(e * static_cast<double>(logits[i]));
    }
    sum = sums;
    product = products;
}

/// Logits into e^(y - greatest), in place; exponentials in T, their sums in double. `greatest` is -∞ where
/// every logit is, and the row is left as it was. Each exponential is off by a few units in the last place,
/// and at least the smallest normal number.
template<class T>
SoftmaxSums softmaxRow(T* row, std::int64_t count, bool wantsEntropy)
{
    constexpr T kLeast = std::numeric_limits<T>::digits == 24 ? T(-87) : T(-708); // e^y is normal above
    constexpr std::int64_t kPiece = 512;
    using Array = Eigen::Array<T, Eigen::Dynamic, 1>;
    const T greatest = greatestOf(row, count);
    SoftmaxSums sums;
    sums.greatest = static_cast<double>(greatest);
    if (greatest == -std::numeric_limits<T>::infinity())
        return sums;
    alignas(kVectorBytes) T logits[kPiece];
    LaneSum sum, product;
    for (std::int64_t first = 0; first < count; first += kPiece) {
        const std::int64_t width = std::min(kPiece, count - first);
        Eigen::Map<Array> cells(row + first, width);
        Eigen::Map<Array, Eigen::AlignedMax> shifted(logits, width);
        shifted = (cells - greatest).max(kLeast);
        cells = shifted.exp();
        addUp(logits, row + first, width, sum, product, wantsEntropy);
    }
    sums.sum = sum.total();
    sums.entropy = wantsEntropy ? std::log(sums.sum) - product.total() / sums.sum : 0.0;
    return sums;
}

} // namespace ropewalk
