// SPDX-License-Identifier: GPL-3.0-or-later
#include "score_product.cuh"

namespace ropewalk::kernels {
namespace {

template<class Real>
__global__ void __launch_bounds__(kProductThreads, kBlocksHeld<Real>)
    product(const Real* queries, std::int64_t rows, const Real* keyRows, std::int64_t keys, int width,
            Real* cells)
{
    __shared__ ProductMemory<Real> memory;
    const std::int64_t m0 = static_cast<std::int64_t>(blockIdx.y) * kScoreTile;
    const std::int64_t n0 = static_cast<std::int64_t>(blockIdx.x) * kScoreTile;
    const auto rowsLeft = static_cast<int>(rows - m0 < kScoreTile ? rows - m0 : kScoreTile);
    const auto keysLeft = static_cast<int>(keys - n0 < kScoreTile ? keys - n0 : kScoreTile);
    Real sum[kCells][kCells];
    multiplyTile<true>(RowsOfTile<Real>{queries + m0 * width, width, rowsLeft, nullptr, 0},
                       RowsOfTile<Real>{keyRows + n0 * width, width, keysLeft, nullptr, 0}, memory, sum);
    const int across = static_cast<int>(threadIdx.x) % 16, down = static_cast<int>(threadIdx.x) / 16;
    const bool isFour = keys % 4 == 0;
#pragma unroll
    for (int i = 0; i < kCells; ++i) {
        const int row = cellOf(down, i);
        if (row >= rowsLeft)
            continue;
        Real* out = cells + (m0 + row) * keys + n0;
#pragma unroll
        for (int j = 0; j < kCells; j += 4) {
            const int column = cellOf(across, j);
            if (isFour && column < keysLeft) {
                Four<Real> four;
#pragma unroll
                for (int k = 0; k < 4; ++k)
                    four.v[k] = sum[i][j + k];
                *reinterpret_cast<Four<Real>*>(out + column) = four;
                continue;
            }
#pragma unroll
            for (int k = 0; k < 4; ++k)
                if (column + k < keysLeft)
                    out[column + k] = sum[i][j + k];
        }
    }
}

} // namespace

template<class Real>
void launchProduct(const Real* queries, std::int64_t rows, const Real* keyRows, std::int64_t keys, int width,
                   Real* cells)
{
    if (rows * keys == 0)
        return;
    const dim3 grid(blocksFor(keys, kScoreTile), blocksFor(rows, kScoreTile));
    ROPEWALK_LAUNCH(product<Real>, grid, kProductThreads, 0, queries, rows, keyRows, keys, width, cells);
}

template void launchProduct(const float*, std::int64_t, const float*, std::int64_t, int, float*);
template void launchProduct(const double*, std::int64_t, const double*, std::int64_t, int, double*);

} // namespace ropewalk::kernels
