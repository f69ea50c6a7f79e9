// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "rope_config.h"

#include <utility>
#include <vector>

namespace ropewalk {

/// Which two channels of a head form each pair. Channels are numbered 0..head_dim-1; a pair (a, b) is the complex
/// number x_a + j·x_b.
struct ChannelMap
{
    std::vector<std::pair<int, int>> rotated; ///< rotary_dim/2 pairs, fastest first
    /// The channels that do not turn, paired by the same layout over the remainder; they follow the rotated ones, so
    /// that pair index rotated.size()+k is still[k].
    std::vector<std::pair<int, int>> still;

    int pairCount() const { return static_cast<int>(rotated.size() + still.size()); }
    std::pair<int, int> pair(int index) const
    {
        const auto at = static_cast<std::size_t>(index);
        return at < rotated.size() ? rotated[at] : still[at - rotated.size()];
    }
};

/// The map of a valid configuration. RoFormer (interleaved) and GPT-NeoX (half-split) conventions.
ChannelMap channelMap(const RopeConfig& config);

/// perm with interleaved[k] = half[perm[k]] for a head of `width` channels, all rotated: [0, d/2, 1, d/2+1, ...].
std::vector<int> interleavedFromHalf(int width);

} // namespace ropewalk
