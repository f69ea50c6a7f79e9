// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Random contents that are the same everywhere: a counter-based generator, which std::normal_distribution is
// not. nvcc reads this file as C++17.

#include "rope_math.h"

#include <array>
#include <cmath>
#include <cstdint>

namespace ropewalk {

/// Philox4x32-10 (Salmon et al., SC 2011): four words for a counter and a key.
inline std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key)
{
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t first = std::uint64_t{0xD2511F53} * counter[0];
        const std::uint64_t second = std::uint64_t{0xCD9E8D57} * counter[2];
        counter = {static_cast<std::uint32_t>(second >> 32) ^ counter[1] ^ key[0],
                   static_cast<std::uint32_t>(second),
                   static_cast<std::uint32_t>(first >> 32) ^ counter[3] ^ key[1],
                   static_cast<std::uint32_t>(first)};
        key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
    }
    return counter;
}

/// What a number is drawn for; the third word of the counter.
enum class RandomStream : std::uint32_t {
    Query = 0,
    Key = 1,
    Noise = 2,
    LearnedTable = 3,  ///< channel, row
    TransformerXl = 4, ///< i; 0 for the sines, 1 for the cosines
    DebertaKey = 5,    ///< channel, δ
    DebertaQuery = 6,  ///< channel, δ
    Mixing = 7         ///< column, row
};

/// A number of N(0, 1) for one channel at one position, by Box and Muller from the first two words.
inline double standardNormal(std::uint64_t seed, RandomStream stream, std::uint32_t channel,
                             std::uint32_t position)
{
    const auto words = philox({channel, position, static_cast<std::uint32_t>(stream), 0U},
                              {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    constexpr double kStep = 1.0 / 4294967296.0;
    const double radius = (words[0] + 0.5) * kStep;
    const double angle = (words[1] + 0.5) * kStep;
    return std::sqrt(-2.0 * std::log(radius)) * std::cos(kTwoPi * angle);
}

} // namespace ropewalk
