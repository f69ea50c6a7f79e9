// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "rope_config.h"
#include "score_map.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ropewalk {

/// What a sweep turns.
enum class SweepOver {
    Base,
    Factor, ///< extension factor of the rule
    Share,  ///< rotated share f = d/d_h
    Length  ///< training length T of the rules that are made of it
};

/// Whether the rule of `config` has the parameter: any rule but those without rotation or with frequencies of
/// their own has a base, the rules of longer contexts a factor, some a training length.
bool canSweep(const RopeConfig& config, SweepOver over);

/// The value that `config` has; empty for a factor that is neither stated nor follows.
std::optional<double> sweptValue(const RopeConfig& config, SweepOver over);

/// `config` with the value in its place. A share is the first (or last) 2·round(share·d_h/2) channels, or the
/// share of the rule Proportional. May come out invalid: validate says why.
RopeConfig withSweptValue(RopeConfig config, SweepOver over, double value);

/// The mean of C(r) = (2/d_h)·Σ cos rθ_i over the whole distances of a range, by the closed form of a sum of
/// equal steps: D_n(θ)·cos(r̄θ), D_n = sin(nθ/2)/(n sin(θ/2)), n distances about the middle r̄. Still pairs (θ
/// = 0, and those up to `pairCount`) count 1 (maths: RoFormer, arXiv:2104.09864; Su,
/// kexue.fm/archives/10122).
double meanCosineSum(std::span<const double> invFreq, int pairCount, CellRange distances);

/// Whole distances of `columns` even steps of the logarithm from 1 to `last`: those in each step, or where
/// there are none the nearest one.
std::vector<CellRange> logarithmicColumns(std::int64_t last, int columns);

} // namespace ropewalk
