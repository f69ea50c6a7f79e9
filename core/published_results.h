// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace ropewalk {

/// How a published number reached this program.
enum class ResultMark {
    Article,   ///< an introductory article about RoPE-ID
    SecondHand ///< a public note on the paper; the paper itself was not read
};

/// One row: a model at a length, with the score of each method; empty where none is published.
struct PublishedRow
{
    std::string_view label; ///< "1B, 16k"
    std::array<std::optional<double>, 5> scores;
};

/// One published table: the score (percent) of methods by model and length.
struct PublishedTable
{
    std::string_view word;                   ///< of the setting `results_table`
    std::string_view title;                  ///< for people
    std::array<std::string_view, 5> methods; ///< empty where a table has fewer
    std::span<const PublishedRow> rows;
    std::string_view source;
    ResultMark mark = ResultMark::SecondHand;
    std::string_view mainCaveat;               ///< what stands beside the picture
    std::span<const std::string_view> caveats; ///< all that a reader has to know, a sentence each
};

/// RULER and LongBench of RoPE-ID and what it was compared with (arXiv:2603.18017).
std::span<const PublishedTable> publishedTables();
/// The table with this word, or null.
const PublishedTable* findPublishedTable(std::string_view word);

} // namespace ropewalk
