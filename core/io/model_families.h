// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "../rope_config.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ropewalk {

/// How a family spells its keys; the first one stated wins, and others that differ are a conflict.
struct KeySpellings
{
    using List = std::array<std::string_view, 3>;
    List hiddenSize{"hidden_size"};
    List heads{"num_attention_heads"};
    List headDim{"head_dim"};
    List base{"rope_theta"};
    List share{"partial_rotary_factor"};
    List rotaryDim{};
    List length{"max_position_embeddings"};
    List trainingLength{}; ///< where the length that the rule computes with has a key of its own
};

inline constexpr KeySpellings kLlamaKeys{};

/// What multiplies the logit beyond 1/√head_dim.
enum class LogitScale {
    Usual,               ///< nothing
    QueryPreAttnScalar,  ///< Gemma 2: 1/√query_pre_attn_scalar is the whole scale; 256 when not stated
    AttentionMultiplier, ///< Granite: attention_multiplier is the whole scale; 1 when not stated
    One,                 ///< Gemma 4: q and k are normalised first, the whole scale is 1
    MscaleAllDim         ///< DeepSeek: mscale(factor, mscale_all_dim)² beside 1/√head_dim
};

/// One kind of layer in a family whose layers differ, or one kind of token where those differ.
struct LayerKind
{
    std::string_view layerType;          ///< the word of the JSON; empty where layers are alike
    KeySpellings::List base{};           ///< keys of a base of its own; empty: the family's
    std::optional<double> baseDefault{}; ///< of the class; empty: the family's
    std::string_view headDim{};          ///< key of a head width of its own; empty: the family's
    std::optional<int> headDimDefault{}; ///< of the class
    bool isScaled = true;                ///< whether a block that names no kind of layer scales this one
    bool rotates = true;
    std::optional<double> attentionFactor{};   ///< A of the publisher's code, whatever the block says
    std::optional<double> proportionalShare{}; ///< the class' own rule where no block is stated: proportional
    std::string_view tokens{};                 ///< the kind of token, for the name
    ChannelScheme channels = ChannelScheme::First; ///< which end of the head turns for them
    std::string_view remark{};                     ///< what is to be known of these tokens
};

/// How a family's file tells which kinds of layers there are.
struct LayerScheme
{
    struct Word
    {
        std::string_view entry; ///< of the list, as its text; empty: any other that is a number
        std::size_t kind;
    };
    std::span<const LayerKind> kinds;
    std::string_view list; ///< key of the list with one entry a layer; without it all kinds occur
    std::span<const Word> words;
    std::string_view onlyWith{}; ///< the layers differ only where this key is stated
};

/// One family of models: how its files are read, and the defaults of the class that loads them.
struct ModelFamily
{
    std::string_view modelType; ///< as `model_type` spells it
    std::string_view className; ///< whose defaults these are
    Layout layout = Layout::Half;
    std::optional<double> base{};                        ///< empty: has to be stated
    double share = 1.0;                                  ///< rotated share of the head
    std::optional<int> hiddenSize{}, heads{}, headDim{}; ///< empty: has to be stated
    std::optional<int> rotaryDim{}; ///< where the family states channels instead of a share
    const KeySpellings* keys = &kLlamaKeys;
    LogitScale logitScale = LogitScale::Usual;
    bool readsScaling = true;  ///< whether the class looks at rope_scaling at all
    bool needsScaling = false; ///< the class' own default is a scaled one, which is not assumed here
    bool isMla = false; ///< multi-head latent attention: a rotary part of its own at the end of the head
    const LayerScheme* layers = nullptr;
    /// What `position_embedding_type` means: empty, a stated word has to be a rotary one; "any", the class
    /// does not look at it; else the class' default of a key that decides.
    std::string_view positions{};
    std::optional<std::int64_t> length{}; ///< of the class, where a published file leaves it out
    std::string_view layoutKey{};         ///< a switch between the layouts
    Layout layoutIfTrue = Layout::Interleaved;
    std::string_view baseFactor{}; ///< key of a factor on the base
    std::string_view structure{};  ///< a key of structureKeys() whose meaning is this family's own
    std::string_view baseBlock{};  ///< key of an object that holds the base
    std::string_view
        ruleBlock{}; ///< key of an object with a rule's word, factor and base of the family's own
};

/// The family of a `model_type`, or null.
const ModelFamily* findModelFamily(std::string_view modelType);

/// What a family that nothing is known of is read as: Llama's keys and layout; with multi-head latent
/// attention DeepSeek's.
const ModelFamily& unknownFamily(bool isMla = false);
/// Meta's params.json and what others made of it.
const ModelFamily& metaParamsFamily();

/// A `model_type` that stands for two families: where `key` is true it is `family`.
struct FamilySwitch
{
    std::string_view modelType, key, family;
};
std::span<const FamilySwitch> familySwitches();

/// A model of several parts that are read one by one.
struct PartsFamily
{
    std::string_view modelType;
    std::array<std::string_view, 2> parts;
};
std::span<const PartsFamily> familiesOfParts();

/// The `model_type` of a file that states none, by one of its `architectures`; empty when not known.
std::string_view modelTypeOfArchitecture(std::string_view architecture);

/// Keys that hold the language model of a file with several parts, the outer ones first.
std::span<const std::string_view> nestedPartKeys();
/// The `model_type` of a language part that states none, by its parent's; empty when not known.
std::string_view modelTypeOfPart(std::string_view parentType);

/// A family in which nothing rotates, and what it has instead.
struct PlainFamily
{
    std::string_view modelType, instead;
    std::string_view switchKey{},
        family{}; ///< a key that, when true, makes it a rotating one read as `family`
};
std::span<const PlainFamily> familiesWithoutRotation();

/// A family that has rotation, but not in its models of one size.
struct PlainSize
{
    std::string_view modelType;
    int hiddenSize;
    std::string_view instead;
};
std::span<const PlainSize> sizesWithoutRotation();

/// A key that changes what a file means in a way that is not built or not known of its family, at the top
/// level or in the block of parameters.
struct StructureKey
{
    enum When { Stated, True, False, NotZero };
    std::string_view key;
    When when;
    std::string_view meaning;
};
std::span<const StructureKey> structureKeys();
/// Keys that say that no layer rotates.
std::span<const StructureKey> rotationSwitches();

/// Keys that an unknown family may have and whose meaning there cannot be guessed.
std::span<const std::string_view> ambiguousKeys();

/// Keys of which the file of any model has at least one.
std::span<const std::string_view> modelFields();

/// Words of `rope_type` that stand for a rule of another name.
struct RuleSpelling
{
    std::string_view word, rule;
};
std::span<const RuleSpelling> ruleSpellings();

/// What an engine is known to read differently in a family, said beside the value that counts.
struct KnownReading
{
    std::string_view modelType;
    std::string_view layerType; ///< empty: any
    FrequencyRule rule;         ///< where the configuration has this rule
    std::string_view field;
    std::string_view text;
};
std::span<const KnownReading> knownReadings();

} // namespace ropewalk
