// SPDX-License-Identifier: GPL-3.0-or-later
#include "channel_map.h"

namespace ropewalk {
namespace {

/// Pairs the channels first..first+width-1 among themselves.
std::vector<std::pair<int, int>> pairUp(Layout layout, int first, int width)
{
    std::vector<std::pair<int, int>> pairs;
    pairs.reserve(static_cast<std::size_t>(width / 2));
    for (int i = 0; i < width / 2; ++i) {
        if (layout == Layout::Interleaved)
            pairs.emplace_back(first + 2 * i, first + 2 * i + 1);
        else
            pairs.emplace_back(first + i, first + i + width / 2);
    }
    return pairs;
}

} // namespace

ChannelMap channelMap(const RopeConfig& config)
{
    const int width = formedWidth(config);
    const int rest = config.headDim - width;
    if (config.channels == ChannelScheme::Last)
        return {pairUp(config.layout, rest, width), pairUp(config.layout, 0, rest)};
    if (config.channels == ChannelScheme::TwoBlocks) {
        ChannelMap blocks{pairUp(config.layout, 0, width / 2), pairUp(config.layout, width, rest)};
        const auto second = pairUp(config.layout, width / 2, width / 2);
        blocks.formed.insert(blocks.formed.end(), second.begin(), second.end());
        return blocks;
    }
    return {pairUp(config.layout, 0, width), pairUp(config.layout, width, rest)};
}

std::vector<int> interleavedFromHalf(int width)
{
    std::vector<int> permutation(static_cast<std::size_t>(width));
    for (int k = 0; k < width; ++k)
        permutation[static_cast<std::size_t>(k)] = k / 2 + (k % 2) * (width / 2);
    return permutation;
}

} // namespace ropewalk
