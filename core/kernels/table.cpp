// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels.h"

#include "../cpu_workers.h"
#include "fused.h"
#include "rotation.h"
#include "run_support.h"
#include "runs.h"
#include "softmax_row.h"
#include "turns.h"

#include <cassert>
#include <vector>

namespace ropewalk {
namespace {

Result<void> runScoreMap(const ScoreMapOp& op, CpuWorkers& workers, const std::stop_token& stop)
{
    assert(mayTake(op.path, op) && !op.terms.empty());
    switch (op.path) {
    case ScorePath::Toeplitz:
        return op.stage == ScoreStage::Raw ? runToeplitz(op, workers, stop)
                                           : runToeplitzSoftmax(op, workers, stop);
    case ScorePath::PooledProduct:
        return runPooledProduct(op, workers, stop);
    case ScorePath::Tiles:
        break;
    }
    return runTiles(op, workers, stop);
}

template<class T>
void turnTable(std::span<const double> invFreq, double position, double stride, std::int64_t rows,
               double attentionFactor, T* cos, T* sin)
{
    const std::int64_t atATime = std::min(rows, TurnBlock::kRows);
    const TurnBlock turns(invFreq, stride, atATime);
    const auto pairs = static_cast<std::int64_t>(invFreq.size());
    std::vector<double> anchor(2 * invFreq.size());
    for (std::int64_t row = 0; row < rows; row += TurnBlock::kRows)
        turns.fill(position + static_cast<double>(row) * stride, std::min(atATime, rows - row),
                   attentionFactor, cos + row * pairs, sin + row * pairs, pairs, anchor.data());
}

void rotateRowsSingle(const float* in, float* out, std::int64_t rows, std::int64_t heads, int width,
                      std::span<const std::pair<int, int>> pairs, const float* cos, const float* sin)
{
    const PairPlan plan(pairs, width);
    const auto count = static_cast<std::int64_t>(pairs.size());
    for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t at = row * heads * width;
        plan.rotate(in + at, out + at, cos + row * count, sin + row * count, heads);
    }
}

std::int64_t packedKeys(std::int64_t rows, int width)
{
    return roundedUp(rows, Lanes<float>::kPanel) * width;
}

void product(const float* queries, std::int64_t rows, const float* packed, std::int64_t keys, int width,
             float* cells, std::int64_t stride)
{
    assert(rows % kTileRows == 0);
    multiplyPanels(queries, rows, packed, keys, width, cells, stride);
}

SoftmaxSums softmaxRowSingle(float* row, std::int64_t count)
{
    return softmaxRow(row, count, true);
}

template<class T>
void colours(const T* values, std::int64_t count, const ColourScale& scale, std::uint32_t* out)
{
    constexpr std::int64_t kPiece = 512;
    const auto lower = static_cast<T>(scale.lower);
    const auto steps = static_cast<T>(256.0 / (scale.upper - scale.lower));
    std::uint32_t table[257];
    std::copy_n(scale.palette, 256, table);
    table[256] = scale.notANumber;
    // Places first, which are vectors; then what lies there, which is not.
    std::int32_t places[kPiece];
    for (std::int64_t first = 0; first < count; first += kPiece) {
        const std::int64_t width = std::min(kPiece, count - first);
        for (std::int64_t i = 0; i < width; ++i) {
            const T value = values[first + i];
            T place = (value - lower) * steps;
            place = place > T(0) ? place : T(0);
            place = place < T(255) ? place : T(255);
            places[i] = static_cast<std::int32_t>(value == value ? place : T(256));
        }
        for (std::int64_t i = 0; i < width; ++i)
            out[first + i] = table[places[i]];
    }
}

constexpr CpuKernels kKernels{
    .level = CpuLevel::ROPEWALK_KERNEL_LEVEL,
    .decay = runDecay,
    .distanceTable = runDistanceTable,
    .scoreMap = runScoreMap,
    .turnTable = turnTable<double>,
    .turnTableSingle = turnTable<float>,
    .rotateRowsSingle = rotateRowsSingle,
    .packedKeys = packedKeys,
    .packKeys = packPanels<float>,
    .product = product,
    .panel = Lanes<float>::kPanel,
    .queriesAtATime = kTileRows,
    .softmaxRow = softmaxRowSingle,
    .colours = colours<double>,
    .coloursSingle = colours<float>,
};

} // namespace

// One name a level: cpuKernelsV3.
#define ROPEWALK_JOINED(a, b) a##b
#define ROPEWALK_ENTRY(level) ROPEWALK_JOINED(cpuKernels, level)
[[gnu::visibility("default")]] const CpuKernels& ROPEWALK_ENTRY(ROPEWALK_KERNEL_LEVEL)();

const CpuKernels& ROPEWALK_ENTRY(ROPEWALK_KERNEL_LEVEL)()
{
    return kKernels;
}

} // namespace ropewalk
