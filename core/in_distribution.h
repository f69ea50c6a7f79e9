// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "frequency_rules.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ropewalk {

/// The frequencies that a model was trained with, rad/token, one a formed pair: the plain ones where the rule
/// stretches a trained model, the rule's own where it is trained with (plain, RoPE-ID, proportional,
/// explicit).
std::vector<double> trainedFrequencies(const RopeConfig& config, const FrequencyTable& table);

/// Share of the circle that the relative angles 0..(N-1)θ' reach and 0..(T-1)θ did not: 0..1. Continuous:
/// gaps between whole multiples are ignored.
double unseenArc(double trainedTheta, double theta, double trainingLength, double length);

/// How many of the distances first..end-1 have an angle rθ' mod 2π beyond (T-1)θ: those that one pair did not
/// see. Distances below T count as seen. Takes a step for each turn that the pair makes.
std::int64_t unseenDistancesWithin(double trainedTheta, double theta, std::int64_t trainingLength,
                                   std::int64_t first, std::int64_t end);

/// Share of the N distances 0..N-1 whose angle rθ' mod 2π lies beyond (T-1)θ: those that one pair did not
/// see.
double unseenDistances(double trainedTheta, double theta, std::int64_t trainingLength, std::int64_t length);

/// Channels whose pairs complete a period in training: 2⌈(d/2)·log_b(T/2π)⌉, clamped to 0..d
/// (arXiv:2310.05209).
int criticalDimension(int width, double base, double trainingLength);

/// The bases below which later tuning with a smaller base reaches further, 2T/π, T/π and T/2π, and the length
/// that a base reaches for a model of this critical dimension, 2π·base^(critical/width), tokens
/// (arXiv:2310.05209).
std::array<double, 3> smallBaseThresholds(double trainingLength);
double reachOfBase(double base, int criticalDimension, int width);

/// What one configuration meets at N tokens that training did not show it; over the pairs that turn.
struct InDistribution
{
    int turningPairs = 0;
    int fullTurnPairs = 0;      ///< make a full turn in training, c_i = Tθ_i/2π ≥ 1
    double slowestCycles = 0.0; ///< turns of the slowest pair in training
    double meanUnseenArc = 0.0; ///< share of the circle, 0..1
    double largestUnseenArc = 0.0;
    int unseenPairs = 0;              ///< whose unseen arc is wider than one token's step
    double meanUnseenDistances = 0.0; ///< share of the distances; what an average pair has not seen
};

/// Pairs trained with the frequencies `trained` over `trainingLength` tokens, met with `theta` at `length`;
/// rad/token, one each, 0 in `theta` for a still pair. Empty when nothing turns. Thread-safe, pure.
std::optional<InDistribution> inDistributionOf(std::span<const double> trained, std::span<const double> theta,
                                               std::int64_t trainingLength, std::int64_t length);

/// The configuration at N = `length` tokens, rules that depend on it included. Needs a training length; empty
/// without one, or when nothing turns. Thread-safe, pure.
std::optional<InDistribution> inDistributionAt(const RopeConfig& config, std::int64_t length);

} // namespace ropewalk
