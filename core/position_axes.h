// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

namespace ropewalk {

/// How the pairs of a head share several positions.
enum class PositionScheme {
    Text,             ///< one position for all pairs
    Mrope,            ///< Qwen2-VL: runs of pairs for time, height, width
    MropeInterleaved, ///< Qwen3-VL: time, height, width in turn
    VisionQwen2,      ///< row for the first half of the pairs, column for the second, one table restarted
    VisionPixtral,    ///< row with the table's even entries, column with the odd ones
    VisionLlama4,     ///< column+1 for the first half of the pairs, row+1 for the second, one table restarted
    ChatGlm,          ///< ChatGLM-6B: two blocks of the head, each with a position and a table of its own
};

/// Which position turns a pair, and how fast: angle = (position[axis] + offset)·θ.
struct PairAxis
{
    int axis = 0; ///< M-RoPE: 0 time, 1 height, 2 width; vision: 0 row, 1 column; ChatGLM: 0 and 1
    double thetaRadians = 0.0;
    double offset = 0.0;

    bool operator==(const PairAxis&) const = default;
};

/// The axes of a head of 2·`pairs` channels, all rotated, with base `base`. `sections` are M-RoPE's, whose
/// sum is `pairs`; other schemes ignore them. Empty where the numbers do not fit: another sum, or a number of
/// pairs that does not halve. Qwen2-VL, arXiv:2409.12191; Qwen3-VL, Pixtral and Llama-4 as in
/// huggingface/transformers.
std::vector<PairAxis> pairAxes(PositionScheme scheme, int pairs, double base,
                               std::span<const int> sections = {});

/// The angle of a pair at a position, rad, not reduced.
double angleAt(const PairAxis& pair, const std::array<double, 3>& position);

} // namespace ropewalk
