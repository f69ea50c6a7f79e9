// SPDX-License-Identifier: GPL-3.0-or-later
#include "model_config.h"

#include "../frequency_rules.h"
#include "../validate.h"
#include "gguf_model.h"
#include "json_input.h"
#include "model_families.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>

namespace ropewalk {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLargestFile = std::size_t{64} << 20;
constexpr double kLargestWidth = 1 << 24;          // of a model, channels
constexpr double kLongestLength = 1099511627776.0; // 2^40, as validate() has it
constexpr std::size_t kMostFactors = 65536;

std::string jsonText(const Json& value)
{
    // A list is not written out only to be called one.
    return value.is_array() ? "a list" : jsonValueText(value.dump());
}

std::string jsonKind(const Json& value)
{
    return value.is_array() ? "a list" : jsonKindText(value.dump());
}

/// A refusal on its way to readModelConfig; it never leaves this file.
struct Refusal
{
    Message message;
};

[[noreturn]] void refuse(std::string text, std::vector<std::pair<std::string, std::string>> values = {})
{
    throw Refusal{{std::move(text), std::move(values)}};
}

/// A member that is stated; null and absent are alike.
const Json* member(const Json& object, std::string_view key)
{
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
}

bool isTrue(const Json* value)
{
    return value && *value != false && *value != 0;
}

std::string textOf(const Json* value)
{
    return value && value->is_string() ? value->get<std::string>() : std::string();
}

bool isObjectOfObjects(const Json& block)
{
    return std::any_of(block.begin(), block.end(), [](const Json& value) { return value.is_object(); });
}

/// Reads one model's JSON; one object a file.
class Reader
{
public:
    Reader(const Json& root, std::string name)
        : m_root(root)
        , m_part(&root)
        , m_name(std::move(name))
    {
    }

    ModelReading read(const std::vector<std::string>& repeatedKeys)
    {
        if (!m_root.is_object())
            refuse("the file holds {kind}; expected a JSON object with a model's fields",
                   {{"kind", jsonKind(m_root)}});
        if (const Json* schema = member(m_root, "schema"); schema && schema->is_string())
            refuse("schema is {value}; expected a model's config.json", {{"value", jsonText(*schema)}});
        for (const PartsFamily& family : familiesOfParts())
            if (m_path.empty() && family.modelType == statedType())
                return readParts(family, repeatedKeys);
        if (isMetaParams()) {
            m_family = &metaParamsFamily();
            makeParamsBlock();
        } else if (const std::optional<ModelReading> reading = findFamily()) {
            return *reading;
        }
        for (const std::string& key : repeatedKeys)
            refuseRepeated(key);
        if (const std::optional<ModelReading> reading = readWithoutRotation())
            return *reading;
        refuseStructures(*m_part, m_path);
        return readFamily();
    }

private:
    struct Value
    {
        const Json* json = nullptr;
        std::string field; ///< as the file spells it, with the block's name before it
        explicit operator bool() const { return json != nullptr; }
    };

    /// One kind of layer, as this file has it.
    struct Kind
    {
        std::string layerType; ///< empty where all layers are alike
        const LayerKind* row = nullptr;
        const Json* block = nullptr;
        std::string blockName;
        bool isScaled = true;
    };

    const Json* topLevel(std::string_view key) const { return member(*m_part, key); }

    void note(Severity severity, std::string field, Message text)
    {
        m_notes.push_back({severity, std::move(field), std::move(text)});
    }
    void noteRead(const Value& value)
    {
        if (value.json->is_array())
            note(Severity::Read, value.field,
                 {"{count} values, as stated", {{"count", std::to_string(value.json->size())}}});
        else
            note(Severity::Read, value.field, {"{value}, as stated", {{"value", jsonText(*value.json)}}});
    }
    void noteAssumed(std::string_view field, const std::string& value)
    {
        note(Severity::Assumed, std::string(field),
             {"{value}: default, not stated ({class})",
              {{"value", value}, {"class", std::string(m_family->className)}}});
    }

    // Which model
    // ------------------------------------------------------------------------------------------------

    bool isMetaParams() const { return topLevel("dim") && topLevel("n_heads") && !topLevel("hidden_size"); }

    static ModelReading nothing(Severity severity, std::string field, Message text)
    {
        return {{}, {{severity, std::move(field), std::move(text)}}};
    }

    /// Finds the part with the language model and its family; gives a reading where that already is the
    /// answer.
    std::optional<ModelReading> findFamily()
    {
        const bool hasFields = std::any_of(modelFields().begin(), modelFields().end(),
                                           [&](std::string_view key) { return topLevel(key) != nullptr; });
        if (!hasFields)
            return nothing(Severity::Unknown, "", "no model fields found in this file");
        findPart();
        for (const PlainFamily& family : familiesWithoutRotation()) {
            if (family.modelType != m_modelType)
                continue;
            if (!family.switchKey.empty() && isTrue(topLevel(family.switchKey))) {
                note(Severity::Conflict, m_path + "model_type",
                     {"{type} has no rotation, but {key} is true here, which wins; read as {family}",
                      {{"type", m_modelType},
                       {"key", std::string(family.switchKey)},
                       {"family", std::string(family.family)}}});
                m_family = findModelFamily(family.family);
                return std::nullopt;
            }
            refuseHiddenRotation();
            return nothing(Severity::Read, m_path + "model_type",
                           {"{type}: no layer rotates ({instead})",
                            {{"type", m_modelType}, {"instead", std::string(family.instead)}}});
        }
        m_family = findModelFamily(m_modelType);
        if (m_family && m_family->isMla && isFalse("use_mla")) {
            note(Severity::Read, m_path + "use_mla", "false: attention as in Llama");
            m_family = findModelFamily("llama");
        }
        for (const FamilySwitch& row : familySwitches())
            if (row.modelType == m_modelType && isTrue(topLevel(row.key)))
                m_family = findModelFamily(row.family);
        if (!m_family)
            m_family = &unknownFamily(topLevel("qk_rope_head_dim") != nullptr);
        return std::nullopt;
    }

    bool isFalse(std::string_view key) const
    {
        const Json* value = topLevel(key);
        return value && *value == false;
    }

    /// A model whose parts are each a language model of their own.
    ModelReading readParts(const PartsFamily& family, const std::vector<std::string>& repeatedKeys)
    {
        std::vector<ModelReading> readings;
        for (const std::string_view key : family.parts) {
            const Json* part = topLevel(key);
            if (!part || !part->is_object())
                refuse("{key} is {value}; a file of the family {type} has an object for each of {parts}",
                       {{"key", std::string(key)},
                        {"value", part ? jsonText(*part) : "not stated"},
                        {"type", std::string(family.modelType)},
                        {"parts", std::string(family.parts[0]) + " and " + std::string(family.parts[1])}});
            Reader reader(m_root, m_name);
            reader.m_part = part;
            reader.m_path = std::string(key) + ".";
            reader.m_parentType = family.modelType;
            readings.push_back(reader.read(repeatedKeys));
        }
        const auto& first = readings[0].configurations;
        const auto& second = readings[1].configurations;
        if (std::equal(first.begin(), first.end(), second.begin(), second.end(), computesTheSameLayers)) {
            readings[0].notes.push_back({Severity::Read,
                                         std::string(family.parts[1]),
                                         {"its rotation is that of the {part}, which is shown",
                                          {{"part", std::string(family.parts[0])}}}});
            return std::move(readings[0]);
        }
        ModelReading all;
        for (std::size_t i = 0; i < readings.size(); ++i) {
            for (RopeConfig& config : readings[i].configurations) {
                config.name += " (" + std::string(family.parts[i]) + ")";
                all.configurations.push_back(std::move(config));
            }
            all.notes.insert(all.notes.end(), readings[i].notes.begin(), readings[i].notes.end());
        }
        return all;
    }

    static bool computesTheSameLayers(const RopeConfig& a, const RopeConfig& b)
    {
        return a.layerType == b.layerType && computesTheSame(a, b);
    }

    void findPart()
    {
        std::string parentType = m_parentType.empty() ? statedType() : resolvedType(m_parentType);
        for (bool isFound = true; isFound;) {
            isFound = false;
            for (const std::string_view key : nestedPartKeys()) {
                const Json* part = topLevel(key);
                if (!part || !part->is_object())
                    continue;
                m_part = part;
                m_path += std::string(key) + ".";
                isFound = true;
                break;
            }
            if (isFound)
                parentType = resolvedType(parentType);
        }
        m_modelType = m_path.empty() ? resolvedType(parentType) : parentType;
        if (!m_path.empty())
            note(Severity::Read, m_path.substr(0, m_path.size() - 1),
                 "the language model's part of this file");
    }

    std::string statedType() const
    {
        const Json* type = topLevel("model_type");
        if (type && !type->is_string())
            refuse("{key} is {value}; expected a text such as \"llama\"",
                   {{"key", m_path + "model_type"}, {"value", jsonText(*type)}});
        return textOf(type);
    }

    /// The type of the part: as stated, else of its first architecture, else the one that belongs to its
    /// parent.
    std::string resolvedType(const std::string& parentType)
    {
        if (std::string stated = statedType(); !stated.empty())
            return stated;
        if (const Json* names = topLevel("architectures"); names && names->is_array())
            for (const Json& name : *names)
                if (const std::string_view type = modelTypeOfArchitecture(textOf(&name)); !type.empty()) {
                    note(Severity::Assumed, m_path + "model_type",
                         {"not stated; {type} by the architecture {architecture}",
                          {{"type", std::string(type)}, {"architecture", textOf(&name)}}});
                    return std::string(type);
                }
        if (m_path.empty())
            return {};
        const std::string_view type = modelTypeOfPart(parentType);
        if (!type.empty())
            note(Severity::Assumed, m_path + "model_type",
                 {"not stated; {type} as part of {parent}",
                  {{"type", std::string(type)}, {"parent", parentType}}});
        return type.empty() ? parentType : std::string(type);
    }

    /// A family without rotation whose file says that this one rotates.
    void refuseHiddenRotation() const
    {
        const Json* attention = topLevel("attn_config");
        const bool typeRotates = textOf(topLevel("position_embedding_type")).find("ro") == 0;
        const bool attentionRotates =
            attention && attention->is_object() && isTrue(member(*attention, "rope"));
        if (topLevel("rotary") == nullptr && !typeRotates && !attentionRotates)
            return;
        refuse("model_type is {type}, a family without rotation, and this file switches rotation on; "
               "such files are not read",
               {{"type", m_modelType}});
    }

    std::optional<ModelReading> readWithoutRotation()
    {
        for (const StructureKey& row : rotationSwitches()) {
            const auto found = m_part->find(row.key);
            if (found != m_part->end() && applies(row, *found))
                return nothing(Severity::Read, m_path + std::string(row.key),
                               {"{value}: no layer rotates ({instead})",
                                {{"value", jsonText(*found)}, {"instead", std::string(row.meaning)}}});
        }
        for (const PlainSize& row : sizesWithoutRotation())
            if (const Json* width = topLevel("hidden_size");
                row.modelType == m_modelType && width && *width == row.hiddenSize)
                return nothing(Severity::Assumed, m_path + "hidden_size",
                               {"{value}: no layer rotates ({instead})",
                                {{"value", jsonText(*width)}, {"instead", std::string(row.instead)}}});
        return readPositions();
    }

    /// `position_embedding_type`, as far as the family looks at it.
    std::optional<ModelReading> readPositions()
    {
        const Json* type = topLevel("position_embedding_type");
        // "rope_gptj" and the like name a layout that the family has anyway.
        const auto isRotary = [](const std::string& word) {
            return word.find("rope") == 0 || word.find("rotary") == 0;
        };
        if (m_family->positions == "any" || (m_family->positions.empty() && !type))
            return std::nullopt;
        const std::string field = m_path + "position_embedding_type";
        if (m_family->positions.empty()) {
            if (!isRotary(textOf(type)))
                refuse("{key} is {value}; expected \"rope\" or \"rotary\"",
                       {{"key", field}, {"value", jsonText(*type)}});
            return std::nullopt;
        }
        const std::string word = type ? textOf(type) : std::string(m_family->positions);
        if (!isRotary(word))
            return nothing(type ? Severity::Read : Severity::Assumed, field,
                           {"{value}: no layer rotates", {{"value", word}}});
        if (!type)
            noteAssumed(field, word);
        return std::nullopt;
    }

    static bool applies(const StructureKey& structure, const Json& value)
    {
        switch (structure.when) {
        case StructureKey::Stated:
            return !value.is_null();
        case StructureKey::True:
            return !value.is_null() && value != false;
        case StructureKey::False:
            return value == false;
        case StructureKey::NotZero:
            return !value.is_null() && value != false && value != 0;
        }
        return true;
    }

    /// Whether the family's own row says what a key means.
    bool isKeyOfFamily(std::string_view key) const
    {
        const KeySpellings& keys = *m_family->keys;
        for (const auto* list : {&keys.hiddenSize, &keys.heads, &keys.headDim, &keys.base, &keys.share,
                                 &keys.rotaryDim, &keys.length, &keys.trainingLength})
            if (spells(*list, key))
                return true;
        if (key == m_family->layoutKey || key == m_family->baseFactor || key == m_family->structure)
            return true;
        if (key == "qk_rope_head_dim" && isFalse("use_mla"))
            return true;
        if (m_family->keys == findModelFamily("qwen")->keys && key.find("use_") == 0)
            return true;
        if (!m_family->layers)
            return false;
        if (m_family->layers->list == "no_rope_layers" &&
            (key.find("no_rope_layer") == 0 || key == "attn_temperature_tuning"))
            return true;
        return std::any_of(
            m_family->layers->kinds.begin(), m_family->layers->kinds.end(),
            [&](const LayerKind& kind) { return kind.headDim == key || spells(kind.base, key); });
    }

    void refuseStructures(const Json& in, const std::string& prefix) const
    {
        for (const StructureKey& structure : structureKeys()) {
            const auto found = in.find(structure.key);
            if (found != in.end() && applies(structure, *found) && !isKeyOfFamily(structure.key))
                refuse("{key} stands for {meaning}, which the family {type} is not known to have",
                       {{"key", prefix + std::string(structure.key)},
                        {"meaning", std::string(structure.meaning)},
                        {"type", familyText()}});
        }
    }

    static bool spells(const KeySpellings::List& list, std::string_view key)
    {
        return !key.empty() && std::find(list.begin(), list.end(), key) != list.end();
    }

    void refuseRepeated(const std::string& key) const
    {
        if (isKeyOfFamily(key) || isRotationKey(key))
            refuse("the key {key} stands twice in the same object; expected it once", {{"key", key}});
    }

    // All kinds of layers
    // ----------------------------------------------------------------------------------------

    ModelReading readFamily()
    {
        const bool isUnknown = m_family->modelType.empty() && m_family != &metaParamsFamily();
        if (isUnknown && !checkUnknownFamily())
            return {{}, std::move(m_notes)};
        if (isUnknown)
            noteUnknownFamily();
        findBlocks();
        const std::vector<Issue> common = std::move(m_notes);
        std::vector<RopeConfig> configurations;
        for (const Kind& kind : kindsOfLayers()) {
            m_kind = &kind;
            m_notes = common;
            configurations.push_back(readKind());
        }
        const bool rotates =
            std::any_of(configurations.begin(), configurations.end(),
                        [](const RopeConfig& config) { return config.rule != FrequencyRule::None; });
        if (!rotates)
            return nothing(Severity::Read, "", "no layer rotates");
        const bool areAlike =
            std::all_of(configurations.begin() + 1, configurations.end(), [&](const RopeConfig& config) {
                return computesTheSame(config, configurations.front());
            });
        if (areAlike) {
            configurations.resize(1);
            configurations.front().layerType.reset();
        }
        return {std::move(configurations), {}};
    }

    /// Whether there is anything to read a rotation from; where not, the notes say so.
    bool checkUnknownFamily()
    {
        for (const std::string_view key : ambiguousKeys())
            if (topLevel(key))
                refuse(
                    "the family {type} is not known and its key {key} has no meaning that could be assumed; "
                    "expected Llama's keys or a known model_type",
                    {{"type", familyText()}, {"key", std::string(key)}});
        for (const std::string_view key :
             {"rope_theta", "rope_scaling", "rope_parameters", "partial_rotary_factor"})
            if (const Json* value = topLevel(key); value && !(value->is_object() && value->empty())) {
                const bool isKeyed = value->is_object() && isObjectOfObjects(*value);
                if (!isKeyed && hasDifferentLayers())
                    refuse("the family {type} is not known and its layer_types differ; whether one rotation "
                           "holds "
                           "for all of them cannot be told",
                           {{"type", familyText()}});
                return true;
            }
        note(Severity::Unknown, m_path + "model_type",
             {"the family {type} is not known and no RoPE key is stated; whether its layers rotate cannot be "
              "told",
              {{"type", familyText()}}});
        return false;
    }

    std::string familyText() const { return m_modelType.empty() ? "(no model_type)" : m_modelType; }

    /// Layers without attention have no rotation to differ in.
    static bool isAttention(const Json& type)
    {
        return textOf(&type).find("attention") != std::string::npos && textOf(&type).find("linear") != 0;
    }

    bool hasDifferentLayers() const
    {
        const Json* types = topLevel("layer_types");
        if (!types || !types->is_array())
            return false;
        const Json* first = nullptr;
        for (const Json& type : *types)
            if (isAttention(type)) {
                if (first && type != *first)
                    return true;
                first = &type;
            }
        return false;
    }

    void noteUnknownFamily()
    {
        const std::string read = m_family->isMla ? "DeepSeek's keys mean, with interleaved pairs"
                                                 : "Llama's keys mean, with half-split pairs";
        if (m_modelType.empty())
            note(Severity::Assumed, m_path + "model_type", {"not stated; read as {read}", {{"read", read}}});
        else
            note(Severity::Assumed, m_path + "model_type",
                 {"{type} is not known; read as {read}", {{"type", m_modelType}, {"read", read}}});
    }

    std::string nameOfModel() const
    {
        // "organisation/model" names a model; anything else there is a folder of whoever saved the file.
        const std::string text = textOf(member(m_root, "_name_or_path"));
        const bool isModel = !text.empty() && text.size() < 200 &&
                             std::count(text.begin(), text.end(), '/') == 1 && text.front() != '/' &&
                             text.front() != '.' && text.back() != '/';
        return isModel ? text : m_name;
    }

    /// The block of RoPE parameters: `rope_scaling` wins over `rope_parameters`; null, {} and absent are
    /// alike.
    void findBlocks()
    {
        if (!m_made.is_null()) {
            m_block = &m_made;
            return;
        }
        for (const std::string_view key : {"rope_scaling", "rope_parameters"}) {
            const Json* block = topLevel(key);
            if (!block)
                continue;
            const std::string field = m_path + std::string(key);
            if (!block->is_object())
                refuse(
                    "{key} is {kind}; expected an object such as {\"rope_type\": \"linear\", \"factor\": 2}",
                    {{"key", field}, {"kind", jsonKind(*block)}});
            if (block->empty())
                continue;
            refuseStructures(*block, field + ".");
            if (m_block) {
                if (*block != *m_block)
                    note(Severity::Conflict, field,
                         {"{other} is stated too and wins", {{"other", m_blockName}}});
                continue;
            }
            m_block = block;
            m_blockName = field;
        }
        if (m_block && !m_family->readsScaling) {
            note(Severity::Warning, m_blockName,
                 {"stated, and {class} does not look at it; it has no effect",
                  {{"class", std::string(m_family->className)}}});
            m_block = nullptr;
        }
        if (!m_block && m_family->needsScaling)
            refuse("rope_scaling is not stated, and the family {type} scales by default; expected "
                   "rope_scaling or "
                   "rope_parameters",
                   {{"type", m_modelType}});
        makeQwenBlock();
        makeBaseBlock();
        makeRuleBlock();
    }

    /// DBRX states its base in an object of its own.
    void makeBaseBlock()
    {
        const Json* block = m_family->baseBlock.empty() ? nullptr : topLevel(m_family->baseBlock);
        const Json* base = block && block->is_object() ? member(*block, "rope_theta") : nullptr;
        if (!base)
            return;
        m_made["rope_theta"] = *base;
        m_blockName = m_path + std::string(m_family->baseBlock);
        m_madeFields["rope_theta"] = m_blockName + ".rope_theta";
        m_block = &m_made;
    }

    /// InternLM-1 states its rule in an object of its own.
    void makeRuleBlock()
    {
        const Json* block = m_family->ruleBlock.empty() ? nullptr : topLevel(m_family->ruleBlock);
        if (!block)
            return;
        const std::string field = m_path + std::string(m_family->ruleBlock);
        if (!block->is_object())
            refuse("{key} is {kind}; expected an object such as {\"type\": \"dynamic\", \"base\": 10000}",
                   {{"key", field}, {"kind", jsonKind(*block)}});
        const Json* type = member(*block, "type");
        const std::string typeWord = textOf(type);
        if (typeWord != "origin" && typeWord != "dynamic")
            refuse("{key} is {value}; expected \"origin\" or \"dynamic\"",
                   {{"key", field + ".type"}, {"value", type ? jsonText(*type) : "not stated"}});
        const auto make = [&](const char* key, const Json& value, const char* from) {
            m_made[key] = value;
            m_madeFields[key] = field + "." + from;
        };
        make("rope_type", typeWord == "dynamic" ? "dynamic" : "default", "type");
        if (const Json* base = member(*block, "base"))
            make("rope_theta", *base, "base");
        if (typeWord == "dynamic") {
            const Json* factor = member(*block, "scaling_factor");
            m_made["factor"] = factor ? *factor : Json(1.0);
            m_madeFields["factor"] = field + ".scaling_factor";
            if (!factor)
                noteAssumed(field + ".scaling_factor", "1");
        }
        m_block = &m_made;
        m_blockName = field;
    }

    /// Qwen-1 states its rule by a switch.
    void makeQwenBlock()
    {
        if (m_family->keys->trainingLength.front().empty() || !isTrue(topLevel("use_dynamic_ntk")))
            return;
        m_made = Json{{"rope_type", "dynamic_qwen"}};
        m_madeFields["rope_type"] = m_path + "use_dynamic_ntk";
        m_block = &m_made;
    }

    /// Meta's params.json and its dialects state a rule by flat keys.
    void makeParamsBlock()
    {
        const auto take = [&](std::string_view from, const char* to) {
            if (const Json* value = topLevel(from)) {
                m_made[to] = *value;
                m_madeFields[to] = std::string(from);
            }
        };
        const auto rule = [&](const char* word, std::string_view field) {
            m_made["rope_type"] = word;
            m_madeFields["rope_type"] = std::string(field);
        };
        if (isTrue(topLevel("use_scaled_rope"))) {
            rule("llama3", "use_scaled_rope");
            take("rope_scale_factor", "factor");
            take("rope_scaling_factor", "factor");
            take("low_freq_factor", "low_freq_factor");
            take("high_freq_factor", "high_freq_factor");
            if (!m_made.contains("factor")) {
                m_made["factor"] = 8.0;
                noteAssumed("rope_scale_factor", "8");
            }
            if (!topLevel("original_max_position_embeddings")) {
                m_made["original_max_position_embeddings"] = 8192;
                noteAssumed("original_max_position_embeddings", "8192");
            }
            if (topLevel("rope_scaling_factor"))
                note(Severity::Warning, "rope_scaling_factor",
                     "which rule it belongs to is not stated; read as Llama-3's");
        } else if (topLevel("rope_scaling_short_factor") || topLevel("rope_scaling_long_factor")) {
            rule("longrope", "rope_scaling_long_factor");
            take("rope_scaling_short_factor", "short_factor");
            take("rope_scaling_long_factor", "long_factor");
        } else if (const Json* yarn = topLevel("yarn"); yarn && yarn->is_object()) {
            // Mistral's own files: alpha and beta are the turns, apply_scale switches the factor on cos and
            // sin.
            rule("yarn", "yarn");
            constexpr std::array<std::pair<std::string_view, const char*>, 4> kKeys{
                {{"factor", "factor"},
                 {"beta", "beta_fast"},
                 {"alpha", "beta_slow"},
                 {"original_max_position_embeddings", "original_max_position_embeddings"}}};
            for (const auto& [from, to] : kKeys)
                if (const Json* value = member(*yarn, from)) {
                    m_made[to] = *value;
                    m_madeFields[to] = "yarn." + std::string(from);
                }
            if (const Json* apply = member(*yarn, "apply_scale"); apply && *apply == false) {
                m_made["attention_factor"] = 1.0;
                m_madeFields["attention_factor"] = "yarn.apply_scale";
            }
        }
    }

    /// One entry a kind of layer that this file has.
    std::vector<Kind> kindsOfLayers()
    {
        if (m_block && isObjectOfObjects(*m_block) && !m_family->layers)
            return kindsOfBlocks();
        const LayerScheme* scheme = m_family->layers;
        const bool isUniform = !scheme || (!scheme->onlyWith.empty() && !topLevel(scheme->onlyWith));
        if (isUniform)
            return {Kind{"", nullptr, m_block, m_blockName, true}};
        std::vector<Kind> kinds;
        const std::vector<bool> occurs = occurringKinds(*scheme);
        const bool isKeyed = m_block && isObjectOfObjects(*m_block);
        for (std::size_t i = 0; i < scheme->kinds.size(); ++i) {
            if (!occurs[i])
                continue;
            const LayerKind& row = scheme->kinds[i];
            Kind kind{std::string(row.layerType), &row, m_block, m_blockName, row.isScaled};
            if (isKeyed) {
                kind.block = member(*m_block, row.layerType);
                kind.blockName = m_blockName + "." + kind.layerType;
                kind.isScaled = true;
            }
            kinds.push_back(std::move(kind));
        }
        return kinds;
    }

    /// A block with a block for each kind of layer, whatever the family.
    std::vector<Kind> kindsOfBlocks()
    {
        std::vector<Kind> kinds;
        const Json* types = topLevel("layer_types");
        for (const auto& [key, block] : m_block->items()) {
            if (!block.is_object())
                continue;
            const bool occurs = !types || !types->is_array() || types->empty() ||
                                std::find(types->begin(), types->end(), key) != types->end();
            if (occurs)
                kinds.push_back({key, nullptr, &block, m_blockName + "." + key, true});
        }
        if (kinds.empty())
            refuse("{key} names no kind of layer that layer_types lists", {{"key", m_blockName}});
        return kinds;
    }

    std::vector<bool> occurringKinds(const LayerScheme& scheme) const
    {
        const Json* list = topLevel(scheme.list);
        std::vector<bool> occurs(scheme.kinds.size(), false);
        if (list && list->is_array())
            for (const Json& entry : *list) {
                const std::string text = entry.is_string() ? entry.get<std::string>() : entry.dump();
                const auto row =
                    std::find_if(scheme.words.begin(), scheme.words.end(), [&](const auto& word) {
                        return word.entry == text || (word.entry.empty() && entry.is_number());
                    });
                if (row != scheme.words.end())
                    occurs[row->kind] = true;
            }
        if (std::none_of(occurs.begin(), occurs.end(), [](bool does) { return does; }))
            occurs.assign(scheme.kinds.size(), true);
        return occurs;
    }

    // One kind of layer
    // ------------------------------------------------------------------------------------------

    RopeConfig readKind()
    {
        m_config = {};
        m_config.name = nameOfModel();
        if (!m_kind->layerType.empty())
            m_config.layerType = m_kind->layerType;
        if (m_kind->row && !m_kind->row->tokens.empty()) {
            m_config.name += " (" + std::string(m_kind->row->tokens) + ")";
            m_config.channels = m_kind->row->channels;
            note(Severity::Read, m_path + std::string(m_family->structure), std::string(m_kind->row->remark));
        }
        readLayout();
        readRule();
        readHead();
        if (m_kind->row && !m_kind->row->rotates) {
            m_config.rule = FrequencyRule::None;
            m_config.parameters = {};
            m_config.rotaryDim = 0;
            note(Severity::Read, "", "these layers do not rotate");
        } else {
            readBase();
            readRotatedWidth();
        }
        readLengths();
        readLogitScale();
        readTemperature();
        checkWidth();
        const std::vector<Issue> issues = validate(m_config);
        if (const Issue* error = firstError(issues))
            throw Refusal{error->text};
        m_notes.insert(m_notes.end(), issues.begin(), issues.end());
        noteReadings();
        m_config.notes = std::move(m_notes);
        return std::move(m_config);
    }

    void checkWidth() const
    {
        if (m_config.rotaryDim % 2 == 0)
            return;
        if (m_config.rotaryDim == m_config.headDim)
            refuse("odd rotary width {width}: all channels of a head are rotated, and there are {width}; "
                   "expected "
                   "an even number",
                   {{"width", std::to_string(m_config.rotaryDim)}});
        refuse("odd rotary width {width}: {share} of {head_dim} channels a head; expected an even number",
               {{"width", std::to_string(m_config.rotaryDim)},
                {"head_dim", std::to_string(m_config.headDim)},
                {"share", m_shareText}});
    }

    void readLayout()
    {
        m_config.layout = m_family->layout;
        const Value stated = m_family->layoutKey.empty() ? Value{} : find({m_family->layoutKey});
        if (!stated) {
            // No file says how its channels pair: the code that loads it does. An unknown family says so by
            // itself.
            if (!m_family->className.empty() && !m_family->modelType.empty())
                note(Severity::Assumed, "layout",
                     {"{layout}: not stated, as {class} pairs channels",
                      {{"layout", std::string(word(m_config.layout))},
                       {"class", std::string(m_family->className)}}});
            return;
        }
        if (!stated.json->is_boolean())
            refuse("{key} is {value}; expected true or false",
                   {{"key", stated.field}, {"value", jsonText(*stated.json)}});
        const Layout other = m_family->layoutIfTrue == Layout::Half ? Layout::Interleaved : Layout::Half;
        m_config.layout = stated.json->get<bool>() ? m_family->layoutIfTrue : other;
        noteRead(stated);
    }

    Value inBlock(std::string_view key) const
    {
        const Json* value = m_kind->block ? member(*m_kind->block, key) : nullptr;
        if (!value)
            return {};
        return {value, blockField(std::string(key))};
    }

    std::string blockField(const std::string& key) const
    {
        const auto made = m_madeFields.find(key);
        return made != m_madeFields.end() ? made->second : m_kind->blockName + "." + key;
    }

    /// The value that counts among those stated: the block's, then the top level's in the family's order of
    /// spellings.
    Value find(const KeySpellings::List& keys, std::string_view blockKey = {})
    {
        Value winner = blockKey.empty() ? Value{} : inBlock(blockKey);
        for (const std::string_view key : keys) {
            const Json* value = key.empty() ? nullptr : topLevel(key);
            if (!value)
                continue;
            const Value candidate{value, m_path + std::string(key)};
            if (!winner)
                winner = candidate;
            else if (*value != *winner.json)
                note(Severity::Conflict, candidate.field,
                     {"{value} is stated here, {other} in {winner}, which wins",
                      {{"value", jsonText(*value)},
                       {"other", jsonText(*winner.json)},
                       {"winner", winner.field}}});
        }
        return winner;
    }

    static double number(const Value& value, std::string_view expected)
    {
        if (!value.json->is_number() || !std::isfinite(value.json->get<double>()))
            refuse("{key} is {value}; expected {expected}", {{"key", value.field},
                                                             {"value", jsonText(*value.json)},
                                                             {"expected", std::string(expected)}});
        return value.json->get<double>();
    }

    static double whole(const Value& value, double least, double most)
    {
        const std::string expected =
            "a whole number from " + shortNumber(least) + " to " + shortNumber(most, 13);
        const double found = number(value, expected);
        if (found != std::floor(found) || found < least || found > most)
            refuse("{key} is {value}; expected {expected}",
                   {{"key", value.field}, {"value", jsonText(*value.json)}, {"expected", expected}});
        return found;
    }

    void readRule()
    {
        if (m_kind->row && !m_kind->row->rotates)
            return;
        if (!m_kind->isScaled) {
            m_config.rule = FrequencyRule::Default;
            if (inBlock("rope_type") || inBlock("type"))
                note(Severity::Read, m_kind->blockName, "holds for other layers, not for these");
            return;
        }
        if (!m_kind->block && m_kind->row && m_kind->row->proportionalShare) {
            m_config.rule = FrequencyRule::Proportional;
            m_config.parameters.partialRotaryFactor = m_kind->row->proportionalShare;
            noteAssumed(m_path + "rope_parameters." + m_kind->layerType + ".rope_type", "proportional");
            return;
        }
        const Value newWord = inBlock("rope_type");
        const Value oldWord = inBlock("type");
        for (const Value* value : {&newWord, &oldWord})
            if (*value && !value->json->is_string())
                refuse("{key} is {value}; expected a text such as \"llama3\"",
                       {{"key", value->field}, {"value", jsonText(*value->json)}});
        const Value& stated = newWord ? newWord : oldWord;
        if (newWord && oldWord && *newWord.json != *oldWord.json)
            note(Severity::Conflict, oldWord.field,
                 {"{value} is stated here, {other} in {winner}, which wins",
                  {{"value", jsonText(*oldWord.json)},
                   {"other", jsonText(*newWord.json)},
                   {"winner", newWord.field}}});
        if (!stated) {
            refuseBlockWithoutRule();
        } else {
            m_config.rule = ruleOfWord(stated);
            noteRead(stated);
            readRuleParameters();
        }
        readSections();
    }

    FrequencyRule ruleOfWord(const Value& stated) const
    {
        std::string ruleWord = stated.json->get<std::string>();
        for (const RuleSpelling& spelling : ruleSpellings())
            if (spelling.word == ruleWord)
                ruleWord = spelling.rule;
        // The words that files use; the others are this program's own.
        constexpr std::array<std::string_view, 7> kFileWords{"default", "linear",   "dynamic",     "yarn",
                                                             "llama3",  "longrope", "proportional"};
        const FrequencyRuleInfo* row = findFrequencyRule(ruleWord);
        const bool isOfFiles = m_kind->block == &m_made ||
                               std::find(kFileWords.begin(), kFileWords.end(), ruleWord) != kFileWords.end();
        if (!row || !isOfFiles)
            refuse(
                "{key} is {value}; expected default, linear, dynamic, yarn, llama3, longrope or proportional",
                {{"key", stated.field}, {"value", jsonText(*stated.json)}});
        // Hunyuan writes a fixed stretching of the base as a dynamic one.
        if (row->rule == FrequencyRule::Dynamic && inBlock("alpha"))
            return FrequencyRule::NtkAware;
        return row->rule;
    }

    /// Without a rule's word a block may hold a base or a share, and nothing that would scale.
    void refuseBlockWithoutRule() const
    {
        if (!m_kind->block)
            return;
        for (const auto& [key, value] : m_kind->block->items())
            if (!value.is_null() && key != "rope_theta" && key != "partial_rotary_factor" &&
                key.find("mrope_") != 0)
                refuse("{block} states {key} and no rope_type; expected rope_type with default, linear, "
                       "dynamic, "
                       "yarn, llama3 or longrope",
                       {{"block", m_kind->blockName}, {"key", key}});
    }

    void readRuleParameters()
    {
        const auto parameters = info(m_config.rule).parameters;
        // Read elsewhere, or without a meaning for the numbers.
        constexpr std::array<std::string_view, 10> kOthers{"rope_type",
                                                           "type",
                                                           "rope_theta",
                                                           "partial_rotary_factor",
                                                           "original_max_position_embeddings",
                                                           "mrope_section",
                                                           "mrope_interleaved",
                                                           "llama_4_scaling_beta",
                                                           "alpha",
                                                           "max_position_embeddings"};
        for (const auto& [key, json] : m_kind->block->items()) {
            const Value value{&json, blockField(key)};
            const auto parameter = std::find_if(parameters.begin(), parameters.end(),
                                                [&name = key](const auto& row) { return row.key == name; });
            if (parameter == parameters.end()) {
                if (!json.is_null() && std::find(kOthers.begin(), kOthers.end(), key) == kOthers.end())
                    note(Severity::Warning, value.field,
                         {"{value} is stated and has no effect with the rule {rule}",
                          {{"value", jsonText(json)}, {"rule", std::string(info(m_config.rule).word)}}});
            } else if (json.is_null()) {
                note(Severity::Assumed, value.field, "null counts as not stated");
            } else {
                readRuleParameter(*parameter, value);
            }
        }
        if (m_config.rule == FrequencyRule::NtkAware)
            if (const Value alpha = inBlock("alpha")) {
                m_config.parameters.factor = number(alpha, "a number");
                note(Severity::Read, alpha.field,
                     {"{value}: the base is stretched by alpha^(d/(d-2)), as with the rule ntk_aware",
                      {{"value", jsonText(*alpha.json)}}});
            }
        for (const RuleParameterInfo& parameter : parameters)
            if (parameter.number && !(m_config.parameters.*parameter.number) && parameter.defaultValue)
                note(Severity::Assumed, m_kind->blockName + "." + std::string(parameter.key),
                     {"{value}: default of the rule {rule}, not stated",
                      {{"value", shortNumber(*parameter.defaultValue)},
                       {"rule", std::string(info(m_config.rule).word)}}});
    }

    void readRuleParameter(const RuleParameterInfo& parameter, const Value& value)
    {
        if (parameter.number) {
            m_config.parameters.*parameter.number = number(value, "a number");
        } else if (parameter.list) {
            m_config.parameters.*parameter.list = numbers(value);
        } else if (parameter.truth) {
            if (!value.json->is_boolean())
                refuse("{key} is {value}; expected true or false",
                       {{"key", value.field}, {"value", jsonText(*value.json)}});
            m_config.parameters.*parameter.truth = value.json->get<bool>();
        } else {
            return;
        }
        noteRead(value);
    }

    static std::vector<double> numbers(const Value& value)
    {
        if (!value.json->is_array() || value.json->empty() || value.json->size() > kMostFactors)
            refuse("{key} is {value}; expected a list of numbers, one a pair",
                   {{"key", value.field}, {"value", jsonText(*value.json)}});
        std::vector<double> list;
        for (const Json& entry : *value.json)
            list.push_back(
                number({&entry, value.field + "[" + std::to_string(list.size()) + "]"}, "a number"));
        return list;
    }

    /// M-RoPE's sections: for text all axes have one position, so that no frequency depends on them.
    void readSections()
    {
        const Value sections = inBlock("mrope_section");
        if (!sections)
            return;
        const std::vector<double> list = numbers(sections);
        m_config.mropeSection.clear();
        for (const double pairs : list) {
            if (pairs != std::floor(pairs) || pairs < 0.0 || pairs > kLargestWidth)
                refuse("{key} holds {value}; expected whole numbers of pairs",
                       {{"key", sections.field}, {"value", shortNumber(pairs)}});
            m_config.mropeSection.push_back(static_cast<int>(pairs));
        }
        m_config.isMropeInterleaved = isTrue(inBlock("mrope_interleaved").json);
        note(Severity::Read, sections.field,
             {"{order} sections of pairs for time, height and width; text has one position for all three",
              {{"order", m_config.isMropeInterleaved ? "interleaved" : "consecutive"}}});
    }

    void readHead()
    {
        if (m_family->isMla && !inMlaWidths())
            return;
        const std::string_view ownKey = m_kind->row ? m_kind->row->headDim : std::string_view();
        const Value own = ownKey.empty() ? Value{} : find({ownKey});
        const Value headDim = own ? own : find(m_family->keys->headDim);
        const Value hiddenSize = find(m_family->keys->hiddenSize);
        const Value heads = find(m_family->keys->heads);
        const auto orDefault = [&](const Value& value,
                                   const std::optional<int>& fallback) -> std::optional<int> {
            return value ? std::optional(static_cast<int>(whole(value, 1, kLargestWidth))) : fallback;
        };
        const std::optional<int> width = orDefault(hiddenSize, m_family->hiddenSize);
        const std::optional<int> count = orDefault(heads, m_family->heads);
        const int quotient = width && count ? *width / *count : 0;
        const auto field = [](const KeySpellings::List& keys) { return std::string(keys.front()); };
        if (!own && m_kind->row && m_kind->row->headDimDefault) {
            m_config.headDim = *m_kind->row->headDimDefault;
            noteAssumed(ownKey, std::to_string(m_config.headDim));
            return;
        }
        if (headDim) {
            m_config.headDim = static_cast<int>(whole(headDim, 1, kLargestWidth));
            noteRead(headDim);
            if (!own && hiddenSize && heads && quotient != m_config.headDim)
                note(Severity::Conflict, headDim.field,
                     {"{value} is stated and wins; {hidden} / {heads} would be {quotient}",
                      {{"value", std::to_string(m_config.headDim)},
                       {"hidden", hiddenSize.field},
                       {"heads", heads.field},
                       {"quotient", std::to_string(quotient)}}});
            return;
        }
        if (m_family->headDim) {
            m_config.headDim = *m_family->headDim;
            noteAssumed("head_dim", std::to_string(m_config.headDim));
            return;
        }
        if (!width || !count) {
            const std::string missing = field(width ? m_family->keys->heads : m_family->keys->hiddenSize);
            if (m_family->keys->headDim.front().empty())
                refuse("{missing} is not stated; expected {hidden} and {heads}",
                       {{"missing", missing},
                        {"hidden", field(m_family->keys->hiddenSize)},
                        {"heads", field(m_family->keys->heads)}});
            refuse("{missing} is not stated; expected head_dim, or {hidden} and {heads}",
                   {{"missing", missing},
                    {"hidden", field(m_family->keys->hiddenSize)},
                    {"heads", field(m_family->keys->heads)}});
        }
        m_config.headDim = quotient;
        if (hiddenSize)
            noteRead(hiddenSize);
        else
            noteAssumed(field(m_family->keys->hiddenSize), std::to_string(*width));
        if (heads)
            noteRead(heads);
        else
            noteAssumed(field(m_family->keys->heads), std::to_string(*count));
        if (*width % *count != 0)
            note(Severity::Warning, field(m_family->keys->hiddenSize),
                 {"{width} channels do not divide by {count} heads; head_dim is the whole part, {value}",
                  {{"width", std::to_string(*width)},
                   {"count", std::to_string(*count)},
                   {"value", std::to_string(quotient)}}});
    }

    /// Multi-head latent attention: a plain part and a rotary part behind it. Whether the head's width is to
    /// be read as everywhere else (DeepSeek-V4 states it and no plain part).
    bool inMlaWidths()
    {
        m_config.channels = ChannelScheme::Last;
        const Value plain = find({"qk_nope_head_dim"});
        const Value rotary = find({"qk_rope_head_dim"});
        if (!plain && topLevel("head_dim") && m_family->layers)
            return true;
        constexpr int kPlainDefault = 128;
        const int plainWidth = plain ? static_cast<int>(whole(plain, 0, kLargestWidth)) : kPlainDefault;
        const int rotaryWidth =
            rotary ? static_cast<int>(whole(rotary, 0, kLargestWidth)) : m_family->rotaryDim.value_or(64);
        m_config.headDim = plainWidth + rotaryWidth;
        if (plain)
            noteRead(plain);
        else
            noteAssumed("qk_nope_head_dim", std::to_string(kPlainDefault));
        for (const std::string_view key : m_family->keys->headDim)
            if (const Json* stated = key.empty() ? nullptr : topLevel(key);
                stated && *stated != m_config.headDim)
                note(Severity::Conflict, m_path + std::string(key),
                     {"{value} is stated here; a head of q and k has qk_nope_head_dim + qk_rope_head_dim = "
                      "{width}",
                      {{"value", jsonText(*stated)}, {"width", std::to_string(m_config.headDim)}}});
        return false;
    }

    void readBase()
    {
        const LayerKind* row = m_kind->row;
        const bool hasOwn = row && !row->base.front().empty();
        const KeySpellings::List& keys = hasOwn ? row->base : m_family->keys->base;
        // A flat block's base is the family's; a kind with a key of its own has its base there.
        const bool isMade = m_kind->block == &m_made && inBlock("rope_theta");
        const bool isOfBlock = isMade || (!keys.front().empty() && (!hasOwn || m_kind->block != m_block));
        const Value base = find(keys, isOfBlock ? "rope_theta" : std::string_view());
        const std::optional<double> fallback = row && row->baseDefault ? row->baseDefault : m_family->base;
        if (base) {
            m_config.base = number(base, "a number above 1");
            if (!(m_config.base > 1.0))
                refuse("{key} is {value}; expected a number above 1",
                       {{"key", base.field}, {"value", jsonText(*base.json)}});
            noteRead(base);
        } else if (fallback) {
            m_config.base = *fallback;
            noteAssumed(keys.front().empty() ? "rope_theta" : keys.front(), shortNumber(m_config.base, 9));
        } else {
            refuse("{key} is not stated; expected a number above 1",
                   {{"key", m_path + std::string(keys.front())}});
        }
        readBaseFactor();
    }

    void readBaseFactor()
    {
        const Value ratio = m_family->baseFactor.empty() ? Value{} : find({m_family->baseFactor});
        if (!ratio)
            return;
        const double factor = number(ratio, "a number above 0");
        m_config.base *= factor;
        if (!(m_config.base > 1.0) || !std::isfinite(m_config.base))
            refuse("{key} is {value}; expected a factor that leaves a base above 1",
                   {{"key", ratio.field}, {"value", jsonText(*ratio.json)}});
        note(Severity::Read, ratio.field,
             {"{value}, as stated: the base is {base}",
              {{"value", jsonText(*ratio.json)}, {"base", shortNumber(m_config.base, 9)}}});
    }

    void readRotatedWidth()
    {
        const KeySpellings& keys = *m_family->keys;
        const bool hasShare = !keys.share.front().empty();
        if (!keys.rotaryDim.front().empty()) {
            // In GPT-J's classes null is a value of its own: it turns the whole width of the model.
            const std::string_view key = keys.rotaryDim.front();
            if (const auto stated = m_part->find(key);
                !hasShare && !m_family->isMla && stated != m_part->end() && stated->is_null())
                refuse("{key} is null; expected a whole number of rotated channels",
                       {{"key", m_path + std::string(key)}});
            const Value width = find(keys.rotaryDim);
            if (width || m_family->rotaryDim || !hasShare) {
                m_config.rotaryDim = width ? static_cast<int>(whole(width, 0, kLargestWidth))
                                           : m_family->rotaryDim.value_or(m_config.headDim);
                m_shareText = std::to_string(m_config.rotaryDim);
                if (width)
                    noteRead(width);
                else
                    noteAssumed(key, m_shareText);
                return;
            }
        }
        const Value share = hasShare ? find(keys.share, "partial_rotary_factor") : Value{};
        double value = m_family->share;
        if (share) {
            value = number(share, "a number from 0 to 1");
            if (!(value >= 0.0 && value <= 1.0))
                refuse("{key} is {value}; expected a number from 0 to 1",
                       {{"key", share.field}, {"value", jsonText(*share.json)}});
            const bool isNoted =
                m_config.rule == FrequencyRule::Proportional && inBlock("partial_rotary_factor");
            if (!isNoted) // among the rule's parameters
                noteRead(share);
        } else if (value != 1.0) {
            noteAssumed(hasShare ? keys.share.front() : "rotary share", shortNumber(value));
        }
        m_shareText = shortNumber(value);
        if (m_config.rule == FrequencyRule::Proportional) {
            // Pairs are formed over the whole head; the share says how many of them turn.
            if (share)
                m_config.parameters.partialRotaryFactor = value;
            m_config.rotaryDim = m_config.headDim;
            return;
        }
        m_config.rotaryDim = rotaryDimForShare(m_config.headDim, value);
    }

    void readLengths()
    {
        const Value length = find(m_family->keys->length);
        if (length) {
            m_config.maxPositionEmbeddings = static_cast<std::int64_t>(whole(length, 1, kLongestLength));
            noteRead(length);
        } else if (m_family->length) {
            m_config.maxPositionEmbeddings = m_family->length;
            noteAssumed(m_family->keys->length.front(), std::to_string(*m_family->length));
        } else {
            note(Severity::Assumed, m_path + std::string(m_family->keys->length.front()),
                 "not stated; no training length is assumed");
        }
        // Here the top level wins over the block, unlike everywhere else.
        const bool isScaled = m_kind->isScaled && m_config.rule != FrequencyRule::None;
        Value original = isScaled ? inBlock("original_max_position_embeddings") : Value{};
        if (const Json* outer = topLevel("original_max_position_embeddings"); outer && isScaled) {
            const std::string field = m_path + "original_max_position_embeddings";
            if (original && *outer != *original.json)
                note(Severity::Conflict, original.field,
                     {"{value} is stated here, {other} at the top level, which wins",
                      {{"value", jsonText(*original.json)}, {"other", jsonText(*outer)}}});
            original = {outer, field};
        }
        if (!original && !m_family->keys->trainingLength.front().empty())
            original = find(m_family->keys->trainingLength);
        if (original) {
            m_config.originalMaxPositionEmbeddings =
                static_cast<std::int64_t>(whole(original, 1, kLongestLength));
            noteRead(original);
        } else if (info(m_config.rule).needsTrainingLength && length) {
            note(Severity::Assumed, "original_max_position_embeddings",
                 {"not stated; the rule computes with max_position_embeddings, {value}",
                  {{"value", jsonText(*length.json)}}});
        }
        assumeAmplitude();
    }

    /// A factor on cos and sin that the publisher's code has beside the rule.
    void assumeAmplitude()
    {
        if (m_kind->row && m_kind->row->attentionFactor && m_config.rule == FrequencyRule::Yarn &&
            !m_config.parameters.attentionFactor) {
            m_config.parameters.attentionFactor = m_kind->row->attentionFactor;
            note(Severity::Assumed, "attention_factor",
                 {"{value}: of the publisher's code, not stated",
                  {{"value", shortNumber(*m_kind->row->attentionFactor)}}});
        }
    }

    std::optional<double> effectiveFactor() const
    {
        for (const RuleParameterInfo& parameter : info(m_config.rule).parameters)
            if (parameter.key == "factor")
                return effectiveParameter(m_config, parameter);
        return std::nullopt;
    }

    void readLogitScale()
    {
        const double headDim = m_config.headDim;
        if (m_family->logitScale == LogitScale::Usual)
            return;
        if (m_family->logitScale == LogitScale::One) {
            m_config.softmaxFactor = std::sqrt(headDim);
            note(Severity::Assumed, "softmax_factor",
                 {"√head_dim: q and k are normalised and the whole scale is 1 ({class})",
                  {{"class", std::string(m_family->className)}}});
            return;
        }
        if (m_family->logitScale == LogitScale::MscaleAllDim) {
            m_config.hasMscaleSoftmax = true;
            followMscale(m_config);
            return;
        }
        const bool isGemma = m_family->logitScale == LogitScale::QueryPreAttnScalar;
        const std::string_view key = isGemma ? "query_pre_attn_scalar" : "attention_multiplier";
        const Value stated = find({key});
        double value = isGemma ? 256.0 : 1.0;
        if (stated) {
            value = number(stated, "a number above 0");
            if (!(value > 0.0))
                refuse("{key} is {value}; expected a number above 0",
                       {{"key", stated.field}, {"value", jsonText(*stated.json)}});
            noteRead(stated);
        } else {
            noteAssumed(key, shortNumber(value));
        }
        m_config.softmaxFactor = isGemma ? std::sqrt(headDim / value) : value * std::sqrt(headDim);
    }

    void readTemperature()
    {
        if (const Value beta = inBlock("llama_4_scaling_beta")) {
            const double value = number(beta, "a number");
            if (value != 0.0) {
                m_config.temperature.rule = TemperatureRule::Ministral;
                m_config.temperature.coefficient = value;
                m_config.temperature.referenceLength = m_config.originalMaxPositionEmbeddings;
            }
            noteRead(beta);
        }
        if (!m_family->keys->trainingLength.front().empty())
            if (const Value logN = find({"use_logn_attn"}); logN && isTrue(logN.json)) {
                m_config.temperature.rule = TemperatureRule::LogN;
                noteRead(logN);
            }
        // Llama 4 scales the queries of the layers that do not rotate.
        if (m_family == findModelFamily("llama4_text") && m_kind->row && !m_kind->row->rotates)
            readLlama4Temperature();
    }

    void readLlama4Temperature()
    {
        const Value tuning = find({"attn_temperature_tuning"});
        if (tuning && !isTrue(tuning.json))
            return;
        m_config.temperature.rule = TemperatureRule::Llama4;
        if (!tuning)
            noteAssumed("attn_temperature_tuning", "true");
        if (const Value scale = find({"attn_scale"}))
            m_config.temperature.coefficient = number(scale, "a number");
        if (const Value floor = find({"floor_scale"}))
            m_config.temperature.referenceLength = static_cast<std::int64_t>(whole(floor, 1, kLongestLength));
    }

    // What engines read differently
    // ------------------------------------------------------------------------------

    void noteReadings()
    {
        const std::optional<double> factor = effectiveFactor();
        const double formula = factor && *factor > 1.0 ? 0.1 * std::log(*factor) + 1.0 : 1.0;
        if (m_config.rule == FrequencyRule::Yarn)
            noteYarnReadings(formula);
        for (const KnownReading& reading : knownReadings())
            if (reading.modelType == m_modelType && reading.rule == m_config.rule &&
                (reading.layerType.empty() || reading.layerType == m_kind->layerType) &&
                isWorthSaying(reading))
                note(Severity::Warning, std::string(reading.field),
                     {std::string(reading.text),
                      {{"softmax_factor", shortNumber(m_config.softmaxFactor)},
                       {"formula_factor", shortNumber(formula, 7)}}});
    }

    /// A reading about a default is said only where the file leaves it open, one about a value only where it
    /// is stated.
    bool isWorthSaying(const KnownReading& reading) const
    {
        const auto isStated = [&](const Issue& issue) {
            return issue.severity == Severity::Read && issue.field.ends_with(reading.field);
        };
        const bool stated = std::any_of(m_notes.begin(), m_notes.end(), isStated);
        if (reading.field == "rope_theta")
            return !stated;
        return reading.field != "truncate" || m_config.parameters.truncate == false;
    }

    void noteYarnReadings(double formula)
    {
        const RuleParameters& rule = m_config.parameters;
        const double used = frequencyTable(m_config).attentionFactor;
        const auto differs = [&](double other) { return std::fabs(other - used) > 1e-6; };
        const auto say = [&](const char* field, const char* text, double other) {
            if (differs(other))
                note(Severity::Warning, field,
                     {text, {{"used", shortNumber(used, 7)}, {"other", shortNumber(other, 7)}}});
        };
        if (rule.attentionFactor) {
            say("attention_factor",
                "{used} as stated; engines that leave attention_factor out compute {other}, 0.1·ln factor + "
                "1",
                formula);
            return;
        }
        const double scaled = formula - 1.0;
        const double mscale = rule.mscale.value_or(0.0);
        const double allDim = rule.mscaleAllDim.value_or(0.0);
        if (mscale == 0.0 && allDim == 0.0)
            return;
        say("mscale",
            "{used} on cos and sin; engines that look at neither mscale nor mscale_all_dim have {other}",
            formula);
        if (mscale != 0.0)
            say("mscale", "{used} on cos and sin; engines that look at mscale alone have {other}",
                mscale * scaled + 1.0);
        if (allDim == 0.0)
            return;
        say("mscale_all_dim", "{used} on cos and sin; engines that take both as a ratio have {other}",
            ((mscale == 0.0 ? 0.0 : mscale) * scaled + 1.0) / (allDim * scaled + 1.0));
    }

public:
    /// Whether a key decides something in some block or at the top level, whatever the family.
    static bool isRotationKey(std::string_view key)
    {
        constexpr auto kKeys = std::to_array<std::string_view>({"model_type",
                                                                "rope_scaling",
                                                                "rope_parameters",
                                                                "rope_type",
                                                                "type",
                                                                "factor",
                                                                "beta_fast",
                                                                "beta_slow",
                                                                "truncate",
                                                                "attention_factor",
                                                                "mscale",
                                                                "mscale_all_dim",
                                                                "low_freq_factor",
                                                                "high_freq_factor",
                                                                "short_factor",
                                                                "long_factor",
                                                                "original_max_position_embeddings",
                                                                "rope_theta",
                                                                "head_dim",
                                                                "hidden_size",
                                                                "num_attention_heads",
                                                                "max_position_embeddings",
                                                                "partial_rotary_factor",
                                                                "query_pre_attn_scalar",
                                                                "attention_multiplier",
                                                                "qk_rope_head_dim",
                                                                "qk_nope_head_dim"});
        return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
    }

private:
    const Json& m_root;
    const Json* m_part; ///< the language model's part
    std::string m_path; ///< its keys, each with a dot behind it
    std::string m_name;
    std::string m_parentType; ///< of a part that is read alone
    std::string m_modelType;
    const ModelFamily* m_family = nullptr;
    const Json* m_block = nullptr;
    std::string m_blockName = "rope_scaling";
    Json m_made;                                     ///< a block made of switches and flat keys
    std::map<std::string, std::string> m_madeFields; ///< where its members were read
    const Kind* m_kind = nullptr;
    std::string m_shareText;
    RopeConfig m_config;
    std::vector<Issue> m_notes;
};

} // namespace

Result<ModelReading> readModelConfig(std::string_view text, const std::string& name)
{
    try {
        const BareNumbers plain = withoutBareNumbers(text);
        const std::string_view json = plain.numbers.empty() ? text : std::string_view(plain.text);
        for (const BareNumber& bare : plain.numbers)
            if (Reader::isRotationKey(bare.key))
                // What the rotation depends on has to be a number; checkJson says which and where.
                return checkJson(text, kLargestFile).error();
        const Result<std::vector<std::string>> repeatedKeys = checkJson(json, kLargestFile);
        if (!repeatedKeys)
            return repeatedKeys.error();
        const Json root = Json::parse(json.begin(), json.end());
        if (root.is_object() && root.contains("general.architecture"))
            return readGgufText(json, name);
        Result<ModelReading> reading = Reader(root, name).read(*repeatedKeys);
        for (const BareNumber& bare : plain.numbers)
            reading->notes.push_back(
                {Severity::Warning,
                 bare.key,
                 {"{word} is not JSON; it has nothing to do with the rotation and is left out",
                  {{"word", bare.word}}}});
        return reading;
    } catch (const Refusal& refusal) {
        return Error{ErrorCode::BadInput, refusal.message, {}};
    } catch (const std::exception& exception) {
        return Error{
            ErrorCode::BadInput, {"the file cannot be read: {reason}", {{"reason", exception.what()}}}, {}};
    }
}

} // namespace ropewalk
