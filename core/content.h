// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ropewalk {

/// How q and k are made before rotation. Ones: every channel 1, so that the score over head_dim is C(m-n).
/// Gaussian: N(0, I), another draw at each position. Same: k = q ~ N(0, I). Correlation: k = ρq + √(1-ρ²)z.
/// The last two have one draw for all positions.
enum class Content { Ones, Gaussian, Same, Correlation };

/// The word of `--set content=`.
std::string_view word(Content content);
std::optional<Content> findContent(std::string_view word);

/// A query and a key before rotation, [head_dim] each.
struct ContentRows
{
    std::vector<double> query, key;
};

/// The query at position `m` and the key at position `n`, the same on every machine for the same seed.
ContentRows makeContent(Content content, int headDim, std::uint64_t seed, double rho, std::int64_t m,
                        std::int64_t n);

} // namespace ropewalk
