// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace ropewalk {

/// Independent logits of N(0, 1), drawn one after another with the generator of philox.h (stream 2, channel
/// 0, the number of the draw as position), and the entropy of the softmax over those drawn so far. What is
/// kept is how many fell into each bin of 2^-12 and their sum there, so that an entropy costs a few ten
/// thousand exponentials at any length: every draw counts with its bin's mean, which changes an entropy by
/// less than spread²·1e-8.
class GaussianLogits
{
public:
    explicit GaussianLogits(std::uint64_t seed);

    /// Draws until there are `count`; fewer than are there already changes nothing. Below 2^32.
    void drawUpTo(std::int64_t count);
    std::int64_t count() const { return m_count; }

    /// Entropy of softmax(spread·z) over the draws, nats; `spread` ≥ 0, at least one draw.
    double entropyNats(double spread) const;

private:
    std::uint64_t m_seed;
    std::int64_t m_count = 0;
    std::vector<double> m_sum;          ///< of the draws in each bin
    std::vector<std::uint32_t> m_draws; ///< in each bin

    /// A bin that is not empty.
    struct Filled
    {
        double mean = 0.0, draws = 0.0;
    };
    std::vector<Filled> m_filled; ///< by value, of all draws
};

} // namespace ropewalk
