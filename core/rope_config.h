// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "message.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ropewalk {

/// Which channels form a pair: interleaved (2i, 2i+1), or half-split (i, i + rotary_dim/2).
enum class Layout { Interleaved, Half };

/// How the plain frequencies are changed for longer contexts; see frequency_rules.h for the formulas.
enum class FrequencyRule { Default, Linear, NtkAware, Yarn, Llama3 };

/// Parameters of the frequency rules under the names of Hugging Face's `rope_parameters`. Empty means "not stated".
struct RuleParameters
{
    std::optional<double> factor;          ///< extension factor s ≥ 1
    std::optional<double> betaFast;        ///< YaRN: turns above which a pair is kept; 32 when not stated
    std::optional<double> betaSlow;        ///< YaRN: turns below which a pair is slowed by s; 1 when not stated
    std::optional<bool> truncate;          ///< YaRN: round the ramp's ends to whole pairs; true when not stated
    std::optional<double> attentionFactor; ///< factor on cos and sin; derived from s when not stated
    std::optional<double> mscale;          ///< YaRN
    std::optional<double> mscaleAllDim;    ///< YaRN
    std::optional<double> lowFreqFactor;   ///< Llama-3; 1 when not stated
    std::optional<double> highFreqFactor;  ///< Llama-3; 4 when not stated

    bool operator==(const RuleParameters&) const = default;
};

/// What a reader found out about one value: read, assumed, contradicting, ...
enum class Severity { Read, Assumed, Conflict, Warning, Error, Unknown };

/// One remark about one field, for the lint, the message beside a control, and the JSON's `notes`.
struct Issue
{
    Severity severity = Severity::Read;
    std::string field; ///< the key as the file or the command line spells it
    Message text;

    bool operator==(const Issue&) const = default;
};

/// One rotary embedding: everything that decides the frequencies, the channels and the factors. A plain value.
/// Lengths are in tokens, widths in channels.
struct RopeConfig
{
    std::string name;
    std::optional<std::string> layerType; ///< empty where all layers are alike
    int headDim = 128;                    ///< channels of one head, even
    int rotaryDim = 128;                  ///< rotated channels 0..rotaryDim-1, even, ≤ headDim; 0 turns nothing
    Layout layout = Layout::Half;
    double base = 10000.0; ///< rope_theta, > 1
    FrequencyRule rule = FrequencyRule::Default;
    RuleParameters parameters;
    std::optional<std::int64_t> maxPositionEmbeddings;
    std::optional<std::int64_t> originalMaxPositionEmbeddings;
    std::optional<std::int64_t> length; ///< tokens at inference; the training length when empty
    double softmaxFactor = 1.0;         ///< what multiplies the logit beyond 1/√head_dim
    std::vector<Issue> notes;           ///< what the reader read and assumed

    bool operator==(const RopeConfig&) const = default;
};

/// Rotated pairs, rotaryDim/2.
inline int pairCount(const RopeConfig& config)
{
    return config.rotaryDim / 2;
}

/// The length T that rules and "turns in training" are computed with:
/// `original_max_position_embeddings` where stated, else `max_position_embeddings`; empty when neither is.
std::optional<std::int64_t> trainingLength(const RopeConfig& config);

/// Whether `a` and `b` compute the same numbers (name, layer type and notes aside).
bool computesTheSame(const RopeConfig& a, const RopeConfig& b);

/// `rotaryDim` for a share of `headDim`, truncated as every model code does; may come out odd, which validate refuses.
int rotaryDimForShare(int headDim, double share);

/// The words of the JSON, the files and the command line.
std::string_view word(Layout layout);   ///< "interleaved", "half"
std::string_view word(Severity severity);
std::string_view channelsWord(const RopeConfig& config); ///< "all", "first", "none"

} // namespace ropewalk
