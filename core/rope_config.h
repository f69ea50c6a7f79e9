// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "message.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ropewalk {

/// Which channels form a pair: interleaved (2i, 2i+1), or half-split (i, i + rotary_dim/2).
enum class Layout { Interleaved, Half };

/// Which pairs of a head turn. Where only some of the pairs that are formed turn, the others are still: θ =
/// 0.
enum class ChannelScheme {
    First,      ///< channels 0..rotary_dim-1; all of them where rotary_dim is head_dim, none where it is 0
    Last,       ///< the last rotary_dim channels (MLA's separate rotary part)
    Quarters13, ///< the first half of the head's pairs: quarters 1 and 3 when half-split (RoPE-ID)
    HalfRope,   ///< the same half of the pairs, under the name of RoPE-ID's baseline
    /// Both halves of the head paired and turned each for itself, with one table of frequencies of the width
    /// head_dim/2 that starts anew in the second (ChatGLM-6B, where each block has a position id of its own;
    /// here both turn by the same position).
    TwoBlocks,
    Custom, ///< the pairs of RopeConfig::customPairs
};

/// How the plain frequencies are changed for longer contexts; see frequency_rules.h for the formulas. None:
/// no rotation at all, whatever the widths say.
enum class FrequencyRule {
    Default,
    Linear,
    NtkAware,
    Dynamic,
    DynamicQwen,
    DynamicLinear,
    NtkByParts,
    Yarn,
    Llama3,
    LongRope,
    Resonance,
    RopeId,
    Proportional,
    Explicit,
    None
};

/// How RoPE-ID spreads its frequencies between both ends: by a constant ratio or by a constant step.
enum class Spacing { Geometric, Linear };

/// Parameters of the frequency rules under the names of Hugging Face's `rope_parameters`. Empty means "not
/// stated".
struct RuleParameters
{
    std::optional<double> factor;   ///< extension factor s ≥ 1
    std::optional<double> betaFast; ///< YaRN, by parts: turns above which a pair is kept; 32 when not stated
    std::optional<double> betaSlow; ///< YaRN, by parts: turns below which a pair is slowed by s; 1
    std::optional<bool> truncate;   ///< YaRN: round the ramp's ends to whole pairs; true when not stated
    std::optional<double> attentionFactor; ///< factor on cos and sin; derived from s when not stated
    std::optional<double> mscale;          ///< YaRN
    std::optional<double> mscaleAllDim;    ///< YaRN
    std::optional<double> lowFreqFactor;   ///< Llama-3; 1 when not stated
    std::optional<double> highFreqFactor;  ///< Llama-3; 4 when not stated
    std::vector<double> shortFactor;   ///< LongRoPE: divisors up to the training length, one a turning pair
    std::vector<double> longFactor;    ///< LongRoPE: divisors beyond the training length
    std::optional<double> shortMscale; ///< LongRoPE of Phi-3.5-MoE: A up to the training length
    std::optional<double> longMscale;  ///< LongRoPE of Phi-3.5-MoE: A beyond the training length
    std::optional<double>
        shortWavelength;            ///< RoPE-ID: wavelength of the fastest pair, tokens; 32 when not stated
    std::optional<double> cycles;   ///< RoPE-ID: turns of the slowest pair in training; 2 when not stated
    std::optional<Spacing> spacing; ///< RoPE-ID; geometric when not stated
    std::optional<double>
        partialRotaryFactor;     ///< proportional: share of the pairs that turn; 1 when not stated
    std::vector<double> invFreq; ///< explicit: θ', rad/token, rotary_dim/2 of them, 0 for a still pair

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

/// xPos (arXiv:2212.10554): pair i of the score is damped by ζ_i^(r/scale_base), ζ_i = (2i/d + γ)/(1 + γ).
struct XPos
{
    double gamma = 0.4;
    double scaleBase = 512.0; ///< tokens

    bool operator==(const XPos&) const = default;
};

/// How a logit is scaled with its length or position; see temperature.h for the formulas.
enum class TemperatureRule { None, RopeId, Yarn, LongRope, LogN, Llama4, Ministral, ScalableSoftmax };

/// The temperature of one configuration: τ, which multiplies the score.
struct Temperature
{
    TemperatureRule rule = TemperatureRule::None;
    bool isPerQuery = true; ///< N is the query's number of visible keys; else one value for the whole call
    bool hasFloor = true;   ///< τ = 1 within the training length; off: below 1 there
    std::optional<double> coefficient;           ///< the rule's own where not stated, mostly 0.1
    std::optional<std::int64_t> referenceLength; ///< tokens; the rule's own or the training length when empty

    bool operator==(const Temperature&) const = default;
};

/// One rotary embedding: everything that decides the frequencies, the channels and the factors. A plain
/// value. Lengths are in tokens, widths in channels.
struct RopeConfig
{
    std::string name;
    std::optional<std::string> layerType; ///< empty where all layers are alike
    int headDim = 128;                    ///< channels of one head, even
    /// Width over which pairs are formed, even, ≤ headDim; 0 turns nothing. headDim for TwoBlocks, and for
    /// Quarters13, HalfRope, Custom and the rule Proportional, where some of the pairs formed are still.
    int rotaryDim = 128;
    ChannelScheme channels = ChannelScheme::First;
    std::vector<int> customPairs; ///< ChannelScheme::Custom: the pairs that turn, ascending, below headDim/2
    Layout layout = Layout::Half;
    double base = 10000.0; ///< rope_theta, > 1
    FrequencyRule rule = FrequencyRule::Default;
    RuleParameters parameters;
    std::optional<std::int64_t> maxPositionEmbeddings;
    std::optional<std::int64_t> originalMaxPositionEmbeddings;
    std::optional<std::int64_t> length; ///< tokens at inference; the training length when empty
    double softmaxFactor = 1.0;         ///< what multiplies the logit beyond 1/√head_dim
    /// Multi-head latent attention: softmaxFactor is made of YaRN's factor and mscale_all_dim, and follows
    /// them (see followMscale).
    bool hasMscaleSoftmax = false;
    std::optional<XPos> xpos; ///< a switch of its own beside the rule
    Temperature temperature;
    /// Pairs for each axis (time, height, width) of M-RoPE; empty for text alone. Shown, no number depends on
    /// it.
    std::vector<int> mropeSection;
    bool isMropeInterleaved = false; ///< Qwen3-VL's order of the sections
    std::vector<Issue> notes;        ///< what the reader read and assumed

    bool operator==(const RopeConfig&) const = default;
};

/// The width over which pairs are formed: rotaryDim, and 0 under the rule None.
inline int formedWidth(const RopeConfig& config)
{
    return config.rule == FrequencyRule::None ? 0 : config.rotaryDim;
}

/// Pairs that are formed, turning or still: entries of every vector of FrequencyTable and of
/// ChannelMap::formed.
inline int pairCount(const RopeConfig& config)
{
    return formedWidth(config) / 2;
}

/// κ, which turns a score into a logit: softmaxFactor/√head_dim. Temperature and A are not in it.
double logitScale(const RopeConfig& config);

/// Whether the channel scheme lets formed pair `pair` turn. The rules Proportional and Explicit may still
/// hold it.
bool isTurningPair(const RopeConfig& config, int pair);
/// Formed pairs that the channel scheme lets turn.
int turningPairCount(const RopeConfig& config);
/// The width w of the plain schedule base^(-2i/w): rotaryDim, and head_dim/2 where half of the pairs turn or
/// the head has two blocks.
int scheduleWidth(const RopeConfig& config);
/// The index i in that schedule of formed pair `pair`: the same, and counted anew in the second of two
/// blocks.
int scheduleIndex(const RopeConfig& config, int pair);

/// The length T that rules and "turns in training" are computed with: `original_max_position_embeddings`
/// where stated, else `max_position_embeddings`; always the latter for the rule Dynamic. Empty when it is not
/// stated.
std::optional<std::int64_t> trainingLength(const RopeConfig& config);
/// The length N at inference: as stated, else the training length.
std::optional<std::int64_t> inferenceLength(const RopeConfig& config);

/// Whether `a` and `b` compute the same numbers (name, layer type and notes aside).
bool computesTheSame(const RopeConfig& a, const RopeConfig& b);

/// `rotaryDim` for a share of `headDim`, truncated as every model code does; may come out odd, which validate
/// refuses.
int rotaryDimForShare(int headDim, double share);

/// The words of the JSON, the files and the command line.
std::string_view word(Layout layout); ///< "interleaved", "half"
std::string_view word(Severity severity);
std::string_view word(Spacing spacing); ///< "geometric", "linear"
/// "first", "last", "quarters_1_3", "half_rope", "two_blocks", "custom"
std::string_view word(ChannelScheme scheme);
/// The word of the scheme, "all" where a slice is the whole head, "none" where nothing is formed.
std::string_view channelsWord(const RopeConfig& config);
/// All words of `--set channels=`, in the order in which they are shown.
std::span<const std::string_view> channelsWords();
/// The scheme of one of these words; "all" and "none" are First, of which rotaryDim says how much.
ChannelScheme schemeOfWord(std::string_view channelsWord);

} // namespace ropewalk
