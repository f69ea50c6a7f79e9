// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What is hot, compiled once for each CpuLevel from the same source. All entry points are reached through one
// table, so that nothing which was compiled for one level is ever linked into another's place.

#include "../compute_backend.h"
#include "../cpu_level.h"

#include <cstdint>
#include <span>
#include <stop_token>
#include <utility>

namespace ropewalk {

class CpuWorkers;

/// What one row of logits becomes: p = e^(y - greatest)/sum.
struct SoftmaxSums
{
    double greatest = 0.0; ///< max y
    double sum = 0.0;      ///< Σ e^(y - greatest)
    double entropy = 0.0;  ///< -Σ p ln p, nats
};

/// A colour of 256 for a number: lower + index·(upper - lower)/256, ends included, beyond them the ends'.
struct ColourScale
{
    double lower = 0.0, upper = 1.0;        ///< lower < upper
    const std::uint32_t* palette = nullptr; ///< [256]
    std::uint32_t notANumber = 0;           ///< of NaN
};

/// The kernels of one level. No state; every function may run on several threads at once.
struct CpuKernels
{
    CpuLevel level = CpuLevel::Generic;

    // Whole operations (compute_backend.h), over the workers; Cancelled after a stop.
    Result<void> (*decay)(const DecayOp&, CpuWorkers&, const std::stop_token&);
    Result<void> (*distanceTable)(const DistanceTableOp&, CpuWorkers&, const std::stop_token&);
    Result<void> (*scoreMap)(const ScoreMapOp&, CpuWorkers&, const std::stop_token&);

    // Their parts, on the calling thread.

    /// cos and sin of (position + row·stride)·invFreq, [rows × pairs] each, A times; in double, then rounded.
    /// Error of one in double max(1e-15, 2e-15·pθ).
    void (*turnTable)(std::span<const double> invFreq, double position, double stride, std::int64_t rows,
                      double attentionFactor, double* cos, double* sin);
    void (*turnTableSingle)(std::span<const double> invFreq, double position, double stride,
                            std::int64_t rows, double attentionFactor, float* cos, float* sin);

    /// Rotates [rows × heads × width] by tables [rows × pairs]; channels outside `pairs` are copied. `out`
    /// may be `in` itself.
    void (*rotateRowsSingle)(const float* in, float* out, std::int64_t rows, std::int64_t heads, int width,
                             std::span<const std::pair<int, int>> pairs, const float* cos, const float* sin);

    /// Keys [rows × width] into panels of `panel` keys, channel by channel: `packedKeys` numbers.
    std::int64_t (*packedKeys)(std::int64_t rows, int width);
    void (*packKeys)(const float* keys, std::int64_t rows, int width, float* packed);
    /// cells[m × stride + n] = q_m·k_n. `rows` is a multiple of `queriesAtATime`; `keys` is rounded up to
    /// whole panels, so `stride` ≥ that. A tile of a map, or all of it.
    void (*product)(const float* queries, std::int64_t rows, const float* packed, std::int64_t keys,
                    int width, float* cells, std::int64_t stride);
    int panel = 0, queriesAtATime = 0;

    /// Logits into e^(y - greatest), in place; sums in double.
    SoftmaxSums (*softmaxRow)(float* row, std::int64_t count);

    /// Numbers into colours, 0xffRRGGBB.
    void (*colours)(const double* values, std::int64_t count, const ColourScale&, std::uint32_t* out);
    void (*coloursSingle)(const float* values, std::int64_t count, const ColourScale&, std::uint32_t* out);
};

/// The table of a level that availableCpuLevels names.
const CpuKernels& cpuKernels(CpuLevel level);

} // namespace ropewalk
