// SPDX-License-Identifier: GPL-3.0-or-later
#include "grid.cuh"
#include "launch.h"

namespace ropewalk::kernels {
namespace {

/// A thread a distance, and 128 a block: sine and cosine of a double take many registers. θ lies in shared
/// memory, since every thread reads all of it.
constexpr int kBlock = 128;

__device__ void share(const double* from, int count, double* to)
{
    for (int i = static_cast<int>(threadIdx.x); i < count; i += kBlock)
        to[i] = from[i];
    __syncthreads();
}

__global__ void distanceTable(DistanceSums sums, std::int64_t first, std::int64_t count, double* table)
{
    ROPEWALK_DYNAMIC_SHARED(double, theta);
    share(sums.invFreq, sums.pairs, theta);
    const std::int64_t index = threadIndex();
    if (index >= count)
        return;
    const auto r = static_cast<double>(first + index);
    double sum = 0.0;
    for (int i = 0; i < sums.pairs; ++i) {
        double c, s;
        sincos(r * theta[i], &s, &c);
        const double damping = sums.dampingRate ? exp(sums.dampingRate[i] * r) : 1.0;
        sum += damping * (sums.re[i] * c - sums.im[i] * s);
    }
    table[index] = sums.attentionFactor * sums.attentionFactor * sum + sums.still;
}

__global__ void decay(DecaySums sums, std::int64_t count)
{
    ROPEWALK_DYNAMIC_SHARED(double, theta);
    share(sums.invFreq, sums.pairs, theta);
    const std::int64_t index = threadIndex();
    if (index >= count)
        return;
    const double r = sums.distances ? sums.distances[index] : static_cast<double>(sums.first + index);
    double sum = 0.0, damped = 0.0, squares = 0.0, weights = 0.0, sines = 0.0, bound = 0.0;
    for (int i = 0; i < sums.pairs; ++i) {
        double c, s;
        sincos(r * theta[i], &s, &c);
        const double damping = sums.dampingRate ? exp(sums.dampingRate[i] * r) : 1.0;
        sum += c;
        damped += damping * c;
        squares += damping * c * damping * c;
        weights += damping * damping;
        sines += s;
        if (sums.boundFactor)
            bound += sqrt(sum * sum + sines * sines);
    }
    const double pairCount = sums.pairs + sums.stillPairs;
    const double still = sums.stillPairs, headDim = 2.0 * pairCount;
    const double a2 = sums.attentionFactor * sums.attentionFactor, rho = sums.rho;
    const double independent = 2.0 * (a2 * a2 * weights + still);
    if (sums.similarMean)
        sums.similarMean[index] = 2.0 * rho / headDim * (a2 * damped + still);
    if (sums.similarSd)
        sums.similarSd[index] =
            sqrt(4.0 * rho * rho * (a2 * a2 * squares + still) + (1.0 - rho * rho) * independent) / headDim;
    if (sums.independentSd)
        sums.independentSd[index] = sqrt(independent) / headDim;
    if (sums.cosineSum)
        sums.cosineSum[index] = 2.0 / headDim * (sum + still);
    if (sums.boundFactor) {
        // The pairs that stay come last.
        for (int k = 1; k <= sums.stillPairs; ++k)
            bound += sqrt((sum + k) * (sum + k) + sines * sines);
        sums.boundFactor[index] = bound / pairCount / ((pairCount + 1.0) / 2.0);
    }
}

} // namespace

void launchDistanceTable(const DistanceSums& sums, std::int64_t first, std::int64_t count, double* table)
{
    if (count == 0)
        return;
    ROPEWALK_LAUNCH(distanceTable, blocksFor(count, kBlock), kBlock, sums.pairs * sizeof(double), sums, first,
                    count, table);
}

void launchDecay(const DecaySums& sums, std::int64_t count)
{
    if (count == 0)
        return;
    ROPEWALK_LAUNCH(decay, blocksFor(count, kBlock), kBlock, sums.pairs * sizeof(double), sums, count);
}

} // namespace ropewalk::kernels
