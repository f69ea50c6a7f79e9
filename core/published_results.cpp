// SPDX-License-Identifier: GPL-3.0-or-later
#include "published_results.h"

#include <algorithm>

namespace ropewalk {
namespace {

// RULER average and LongBench average of 14 English tasks: paper note zhaoyang97/Paper-Notes on
// arXiv:2603.18017.
constexpr std::array<std::string_view, 5> kMethods{"RoPE", "HighFreq", "HalfRoPE", "YaRN",
                                                   "RoPE-ID (scaled)"};

constexpr std::array kRuler1b{
    PublishedRow{"4k", {39.72, 16.04, 43.07, 40.24, 39.15}},
    PublishedRow{"8k", {0.01, 7.60, 0.14, 35.55, 35.64}},
    PublishedRow{"16k", {0.03, 2.37, 0.0, 30.25, 30.83}},
};
constexpr std::array kRuler3b{
    PublishedRow{"8k", {0.14, 14.31, 0.4, 45.09, 43.39}},
    PublishedRow{"16k", {0.01, 5.14, 0.03, 40.14, 42.0}},
};
constexpr std::array kLongBench{
    PublishedRow{"1B", {8.73, 11.04, 8.86, 14.09, 15.80}},
    PublishedRow{"3B", {10.42, 13.78, 10.62, 19.63, 17.94}},
};
// The article prints length and value run together ("39.154k"); these are read apart.
constexpr std::array kCode{
    PublishedRow{"4k", {23.55, {}, {}, {}, 24.11}},
    PublishedRow{"8k", {19.75, {}, {}, {}, 23.1}},
    PublishedRow{"16k", {19.33, {}, {}, {}, 23.12}},
};

constexpr std::string_view kPaper =
    "RoPE-ID, arXiv:2603.18017, as given in the note zhaoyang97/Paper-Notes: second-hand";
constexpr std::string_view kArticle = "an introductory article about RoPE-ID (arXiv:2603.18017)";

constexpr std::string_view kSetting =
    "1B and 3B decoders trained from scratch on about 21B tokens (Dolma 1.7, Llama-3 tokenizer) at 4k tokens";
constexpr std::string_view kToldLength = "YaRN was told the true length, RoPE-ID was not";
constexpr std::string_view kAgrees = "an introductory article prints the same RULER numbers for RoPE-ID "
                                     "(scaled), RoPE at 16k and HalfRoPE at 16k";

constexpr std::array kCaveats1b{
    kSetting,
    kToldLength,
    std::string_view(
        "the article calls RoPE-ID best: at 4k, the trained length, HalfRoPE, YaRN and RoPE score higher"),
    kAgrees,
};
constexpr std::array kCaveats3b{
    kSetting,
    kToldLength,
    std::string_view("the article calls RoPE-ID best: at 8k YaRN scores higher"),
};
constexpr std::array kCaveatsLongBench{
    kSetting,
    kToldLength,
    std::string_view("average of 14 English tasks at 16k"),
    std::string_view("the article calls RoPE-ID best: at 3B YaRN scores higher"),
};
constexpr std::array kCaveatsCode{
    std::string_view("code completion, 1B"),
    std::string_view(
        "these numbers were found in the article alone; the note on the paper has no code tasks"),
    std::string_view("the article prints length and value run together; they are read apart here"),
};

constexpr std::array kTables{
    PublishedTable{"ruler_1b", "RULER average, 1B", kMethods, kRuler1b, kPaper, ResultMark::SecondHand,
                   kCaveats1b[2], kCaveats1b},
    PublishedTable{"ruler_3b", "RULER average, 3B", kMethods, kRuler3b, kPaper, ResultMark::SecondHand,
                   kCaveats3b[2], kCaveats3b},
    PublishedTable{"longbench", "LongBench average of 14 English tasks, 16k", kMethods, kLongBench, kPaper,
                   ResultMark::SecondHand, kCaveatsLongBench[3], kCaveatsLongBench},
    PublishedTable{"code",
                   "LongBench, code completion, 1B",
                   {"RoPE", "", "", "", "RoPE-ID (scaled)"},
                   kCode,
                   kArticle,
                   ResultMark::Article,
                   kCaveatsCode[1],
                   kCaveatsCode},
};

} // namespace

std::span<const PublishedTable> publishedTables()
{
    return kTables;
}

const PublishedTable* findPublishedTable(std::string_view word)
{
    const auto found =
        std::find_if(kTables.begin(), kTables.end(), [&](const auto& table) { return table.word == word; });
    return found == kTables.end() ? nullptr : &*found;
}

} // namespace ropewalk
