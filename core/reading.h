// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "figure_results.h"

#include <cstdint>
#include <optional>

namespace ropewalk {

/// The digits beside the shapes: what the marked pair and distance of one configuration show.
struct Reading
{
    int pair = 0;
    bool isStill = false;
    double thetaRadians = 0.0;              ///< θ', rad/token; 0 for a still pair
    std::optional<double> wavelengthTokens; ///< 2π/θ'; empty for a still pair
    std::optional<double> turnsInTraining;  ///< Tθ'/2π; empty without a training length
    std::optional<std::int64_t> trainingLength;
    double queryAngle = 0.0, keyAngle = 0.0; ///< mθ', nθ', rad, not reduced
    std::int64_t distance = 0;               ///< m-n
    double distanceAngle = 0.0;              ///< (m-n)θ', rad, not reduced
    double contribution = 0.0;               ///< of the pair, over head_dim
    double score = 0.0;                      ///< over head_dim
};

/// Empty when the configuration is impossible.
std::optional<Reading> readingOf(const ConfigurationResult& result, const FigureOptions& options);

} // namespace ropewalk
