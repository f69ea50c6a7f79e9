// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "channel_map.h"
#include "frequency_rules.h"

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace ropewalk {

/// Mean scores of real queries and keys by their distance.
struct MeanScores
{
    /// At distance r = 0, 1, …: the mean of the score over all m with m - r ≥ 0, as the attention computes
    /// it; raw, not divided by head_dim. NaN where no pair of positions is finite.
    std::vector<double> turned;
    std::vector<double> plain; ///< the same without rotation and its factor
    std::int64_t leftOut = 0;  ///< positions with a value that is not finite
};

/// Of rows at positions 0, 1, …, [tokens × head_dim] each, before rotation. With h_i(r) = Σ_m
/// q_{m,i}·conj(k_{m-r,i}) the sum at r is Re Σ_i A_i²·h_i(r)·e^{jrθ'_i}: one pass over the pairs of
/// positions serves both. `dampingRate` is xPos's, one a formed pair, or empty. tokens²·head_dim/2 complex
/// products. Empty where a stop was asked for. Pure, thread-safe.
std::optional<MeanScores> meanScores(std::span<const double> queries, std::span<const double> keys,
                                     const ChannelMap& channels, const FrequencyTable& table,
                                     std::span<const double> dampingRate, const std::stop_token& stop = {});

} // namespace ropewalk
