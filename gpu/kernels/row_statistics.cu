// SPDX-License-Identifier: GPL-3.0-or-later
#include "score_product.cuh"

namespace ropewalk::kernels {
namespace {

/// The greatest, or the sum, over the sixteen lanes that share rows, the same to the bit in each.
template<class Number>
__device__ Number greatestOfLanes(Number value)
{
    for (int apart = 8; apart > 0; apart /= 2) {
        const Number other = __shfl_xor_sync(0xFFFFFFFFU, value, apart);
        value = other > value ? other : value;
    }
    return value;
}
__device__ double sumOfLanes(double value)
{
    for (int apart = 8; apart > 0; apart /= 2)
        value += __shfl_xor_sync(0xFFFFFFFFU, value, apart);
    return value;
}

/// Greatest logit, Σe and Σye of kKeysAPart keys for a tile of rows, in one pass: where a greater logit
/// appears the sums so far are brought to it. Every block writes numbers of its own, so that nothing depends
/// on their order.
template<class Real, bool kIsPlain>
__global__ void __launch_bounds__(kProductThreads, kBlocksHeld<Real>)
    rowParts(MapView map, const TermView<Real>* terms, Strip strip, RowParts<Real> parts)
{
    __shared__ ProductMemory<Real> memory;
    __shared__ Real greatest[kScoreTile];
    __shared__ double sums[kScoreTile], weightedSums[kScoreTile];

    const int thread = static_cast<int>(threadIdx.x), across = thread % 16, down = thread / 16;
    const std::int64_t m0 = strip.first + static_cast<std::int64_t>(blockIdx.x) * kScoreTile;
    const std::int64_t endRow = strip.end < m0 + kScoreTile ? strip.end : m0 + kScoreTile;
    const std::int64_t firstKey = map.firstKey + static_cast<std::int64_t>(blockIdx.y) * kKeysAPart;
    const std::int64_t endPart = firstKey + kKeysAPart < map.endKey ? firstKey + kKeysAPart : map.endKey;
    const Keys seenByAny = within(keysOfRows(map, m0, endRow), firstKey, endPart);
    const TermView<Real>& term = terms[blockIdx.z];
    if (thread < kScoreTile) {
        greatest[thread] = static_cast<Real>(-HUGE_VAL);
        sums[thread] = weightedSums[thread] = 0.0;
    }
    for (std::int64_t n0 = firstKey; n0 < endPart; n0 += kScoreTile) {
        if (n0 + kScoreTile <= seenByAny.first || n0 >= seenByAny.end)
            continue;
        Real cell[kCells][kCells];
        scoreTile<kIsPlain>(map, term, m0, endRow, n0, endPart, memory, cell);
        unsigned living = 0; // of the thread's keys, a bit each
#pragma unroll
        for (int j = 0; j < kCells; ++j) {
            const std::int64_t n = n0 + cellOf(across, j);
            if (n < endPart && !isDeadKey(map, n))
                living |= 1U << j;
        }
#pragma unroll
        for (int i = 0; i < kCells; ++i) {
            const int row = cellOf(down, i);
            const std::int64_t m = m0 + row;
            // Relative to the tile, where 32 bits do.
            int first = 0, end = 0;
            if (m < endRow && !isDeadQuery(map, m)) {
                const Keys seen = within(keysOf(map, m), n0, n0 + kScoreTile);
                first = static_cast<int>(seen.first - n0);
                end = static_cast<int>(seen.end - n0);
            }
            const auto isSeen = [&](int j) {
                const int column = cellOf(across, j);
                return (living >> j & 1U) != 0 && column >= first && column < end;
            };
            Real here = static_cast<Real>(-HUGE_VAL);
#pragma unroll
            for (int j = 0; j < kCells; ++j)
                if (isSeen(j) && cell[i][j] > here)
                    here = cell[i][j];
            const Real before = greatest[row];
            here = greatestOfLanes(here);
            here = here > before ? here : before;
            Real sum = 0, weighted = 0;
#pragma unroll
            for (int j = 0; j < kCells; ++j)
                if (isSeen(j)) {
                    const Real y = cell[i][j] - here;
                    const Real e = exponential(y);
                    sum += e;
                    weighted += y * e;
                }
            const double tileSum = sumOfLanes(sum), tileWeighted = sumOfLanes(weighted);
            __syncwarp(); // all have read what the first lane now replaces
            if (across == 0 && here > static_cast<Real>(-HUGE_VAL)) {
                double oldSum = sums[row], oldWeighted = weightedSums[row];
                if (oldSum > 0.0) {
                    const double rise = static_cast<double>(before) - static_cast<double>(here);
                    oldWeighted = exp(rise) * (oldWeighted + rise * oldSum);
                    oldSum *= exp(rise);
                }
                greatest[row] = here;
                sums[row] = oldSum + tileSum;
                weightedSums[row] = oldWeighted + tileWeighted;
            }
        }
    }
    __syncthreads();
    const std::int64_t rows = strip.end - strip.first;
    if (thread < endRow - m0) {
        const std::int64_t part = static_cast<std::int64_t>(blockIdx.z) * gridDim.y + blockIdx.y;
        const std::int64_t index = part * rows + (m0 - strip.first) + thread;
        parts.greatest[index] = greatest[thread];
        parts.sum[index] = sums[thread];
        parts.weighted[index] = weightedSums[thread];
    }
}

/// A thread a row puts its parts together in their order: log Z - Σyp.
template<class Real>
__global__ void rowTotals(MapView map, const TermView<Real>* terms, int termCount, Strip strip,
                          RowParts<Real> parts, int partCount, RowTotals<Real> totals, double* entropy)
{
    const std::int64_t rows = strip.end - strip.first, row = threadIndex();
    if (row >= rows)
        return;
    double ofRow = 0.0;
    for (int t = 0; t < termCount; ++t) {
        const std::int64_t first = static_cast<std::int64_t>(t) * partCount * rows + row;
        Real greatest = static_cast<Real>(-HUGE_VAL);
        for (int p = 0; p < partCount; ++p) {
            const Real of = parts.greatest[first + p * rows];
            greatest = of > greatest ? of : greatest;
        }
        double sum = 0.0, weighted = 0.0;
        for (int p = 0; p < partCount; ++p) {
            const std::int64_t at = first + p * rows;
            if (!(parts.sum[at] > 0.0))
                continue;
            const double rise = static_cast<double>(parts.greatest[at]) - static_cast<double>(greatest);
            const double factor = exp(rise);
            if (factor == 0.0)
                continue; // so far below that rise may be -infinity
            sum += factor * parts.sum[at];
            weighted += factor * (parts.weighted[at] + rise * parts.sum[at]);
        }
        totals.greatest[t * rows + row] = greatest;
        totals.inverseSum[t * rows + row] = static_cast<Real>(1.0 / sum);
        // 0/0 is the NaN of a row that sees nothing.
        ofRow += static_cast<double>(terms[t].weight) * (log(sum) - weighted / sum);
    }
    if (entropy)
        entropy[strip.first - map.firstRow + row] = ofRow;
}

} // namespace

template<class Real>
void launchRowParts(const MapView& map, const TermList<Real>& terms, Strip strip, const RowParts<Real>& parts)
{
    const dim3 grid(blocksFor(strip.end - strip.first, kScoreTile),
                    blocksFor(map.endKey - map.firstKey, kKeysAPart), static_cast<unsigned>(terms.count));
    if (terms.isPlain)
        ROPEWALK_LAUNCH((rowParts<Real, true>), grid, kProductThreads, 0, map, terms.terms, strip, parts);
    else
        ROPEWALK_LAUNCH((rowParts<Real, false>), grid, kProductThreads, 0, map, terms.terms, strip, parts);
}

template<class Real>
void launchRowTotals(const MapView& map, const TermList<Real>& terms, Strip strip,
                     const RowParts<Real>& parts, const RowTotals<Real>& totals, double* entropy)
{
    ROPEWALK_LAUNCH(rowTotals<Real>, blocksFor(strip.end - strip.first, kThreads), kThreads, 0, map,
                    terms.terms, terms.count, strip, parts,
                    static_cast<int>(blocksFor(map.endKey - map.firstKey, kKeysAPart)), totals, entropy);
}

template void launchRowParts(const MapView&, const TermList<float>&, Strip, const RowParts<float>&);
template void launchRowParts(const MapView&, const TermList<double>&, Strip, const RowParts<double>&);
template void launchRowTotals(const MapView&, const TermList<float>&, Strip, const RowParts<float>&,
                              const RowTotals<float>&, double*);
template void launchRowTotals(const MapView&, const TermList<double>&, Strip, const RowParts<double>&,
                              const RowTotals<double>&, double*);

} // namespace ropewalk::kernels
