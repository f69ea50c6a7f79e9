// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "rope_config.h"

#include <utility>
#include <vector>

namespace ropewalk {

/// Which two channels of a head form each pair. Channels are numbered 0..head_dim-1; a pair (a, b) is the
/// complex number x_a + j·x_b.
struct ChannelMap
{
    /// pairCount(config) = rotary_dim/2 pairs in the order of FrequencyTable, which says which of them turn
    /// and which are still (θ' = 0).
    std::vector<std::pair<int, int>> formed;
    /// The other channels of the head, paired by the same layout over the remainder, all still; they follow
    /// the formed ones, so that pair index formed.size()+k is outside[k].
    std::vector<std::pair<int, int>> outside;

    int pairCount() const { return static_cast<int>(formed.size() + outside.size()); } ///< head_dim/2
    std::pair<int, int> pair(int index) const
    {
        const auto at = static_cast<std::size_t>(index);
        return at < formed.size() ? formed[at] : outside[at - formed.size()];
    }
};

/// The map of a valid configuration. RoFormer (interleaved) and GPT-NeoX (half-split) conventions.
ChannelMap channelMap(const RopeConfig& config);

/// perm with interleaved[k] = half[perm[k]] for a head of `width` channels, all rotated: [0, d/2, 1, d/2+1,
/// ...].
std::vector<int> interleavedFromHalf(int width);

} // namespace ropewalk
