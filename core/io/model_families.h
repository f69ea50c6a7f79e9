// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "../rope_config.h"

#include <array>
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
};

inline constexpr KeySpellings kLlamaKeys{};

/// What multiplies the logit beyond 1/√head_dim.
enum class LogitScale {
    Usual,              ///< nothing
    QueryPreAttnScalar, ///< Gemma 2: 1/√query_pre_attn_scalar is the whole scale; 256 when not stated
    AttentionMultiplier ///< Granite: attention_multiplier is the whole scale; 1 when not stated
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
};

/// The family of a `model_type`, or null.
const ModelFamily* findModelFamily(std::string_view modelType);

/// What a family that nothing is known of is read as: Llama's keys and layout.
const ModelFamily& unknownFamily();

/// Whether a family is known to differ from Llama in a way that is not built, so that it has to be refused by
/// name.
bool isFamilyNotReadYet(std::string_view modelType);

/// A family in which nothing rotates, and what it has instead.
struct PlainFamily
{
    std::string_view modelType, instead;
};
std::span<const PlainFamily> familiesWithoutRotation();

/// A key that changes what a file means in a way that is not built, at the top level or in the block of
/// parameters.
struct StructureKey
{
    enum When { Stated, True, False, NotZero };
    std::string_view key;
    When when;
    std::string_view meaning;
};
std::span<const StructureKey> structureKeys();

/// Keys that an unknown family may have and whose meaning there cannot be guessed.
std::span<const std::string_view> ambiguousKeys();

/// Keys of which the file of any model has at least one.
std::span<const std::string_view> modelFields();

} // namespace ropewalk
