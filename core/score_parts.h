// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "channel_map.h"
#include "content.h"
#include "frequency_rules.h"

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace ropewalk {

// The score in two parts: positional, Σ over turning pairs A²·ζ^(r/scale_base)·Re(q·conj(k)·e^{jrθ'}), which
// depends on the distance; and content, Σ over still pairs Re(q·conj(k)), which does not. Both over head_dim.

/// Of one q and one k, at every distance 0..last.
struct ScoreParts
{
    std::vector<double> positional; ///< score/head_dim, [last + 1]
    double content = 0.0;           ///< score/head_dim, at every distance
};

/// `dampingRates` as dampingRates() gives them: empty, or one a formed pair. Error within about
/// 1e-15·(1 + last·θ') a pair. Empty after a stop.
std::optional<ScoreParts> scoreParts(const RopeConfig& config, const ChannelMap& channels,
                                     const FrequencyTable& table, const ContentRows& rows, std::int64_t last,
                                     const std::stop_token& stop = {});

/// The same at the given distances (whole, ≥ 0, tokens) alone: `positional` has one number each.
std::optional<ScoreParts> scorePartsAt(const RopeConfig& config, const ChannelMap& channels,
                                       const FrequencyTable& table, const ContentRows& rows,
                                       std::span<const double> distances, const std::stop_token& stop = {});

/// Over all queries m and visible keys n ≤ m among the first rows of a content, by distance r = m - n.
struct RowParts
{
    std::vector<double> meanPositional, meanContent; ///< score/head_dim, by distance, [rows]
    std::vector<double> sdPositional, sdContent;     ///< standard deviation
    /// E[positional²]/(E[positional²] + E[content²]) over all of them; NaN where both are 0 throughout.
    double positionalShare = 0.0;
    std::int64_t rows = 0;
    std::int64_t notFinite = 0; ///< rows of q or k that hold what is not finite; left out
};

/// The first `rows` positions of `source`, at most what it has. Empty after a stop. O(rows²·head_dim).
std::optional<RowParts> rowParts(const RopeConfig& config, const ChannelMap& channels,
                                 const FrequencyTable& table, const ContentSource& source, std::int64_t rows,
                                 const std::stop_token& stop = {});

} // namespace ropewalk
