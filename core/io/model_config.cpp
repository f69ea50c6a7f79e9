// SPDX-License-Identifier: GPL-3.0-or-later
#include "model_config.h"

#include "../frequency_rules.h"
#include "../validate.h"
#include "json_input.h"
#include "model_families.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace ropewalk {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLargestFile = std::size_t{64} << 20;
constexpr double kLargestWidth = 1 << 24;          // of a model, channels
constexpr double kLongestLength = 1099511627776.0; // 2^40, as validate() has it

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

class Reader
{
public:
    Reader(const Json& root, std::string name)
        : m_root(root)
        , m_name(std::move(name))
    {
    }

    ModelReading read(const std::vector<std::string>& repeatedKeys)
    {
        if (!m_root.is_object())
            refuse("the file holds {kind}; expected a JSON object with a model's fields",
                   {{"kind", jsonKind(m_root)}});
        refuseOtherFormats();
        if (const std::optional<ModelReading> reading = readWithoutRotation())
            return *reading;
        const ModelFamily& family = findFamily();
        refuseStructures();
        for (const std::string& key : repeatedKeys)
            refuseRepeated(family, key);
        m_family = &family;
        return readFamily();
    }

private:
    struct Value
    {
        const Json* json = nullptr;
        std::string field; ///< as the file spells it, with the block's name before it
        explicit operator bool() const { return json != nullptr; }
    };

    const Json* topLevel(std::string_view key) const
    {
        const auto found = m_root.find(key);
        return found == m_root.end() || found->is_null() ? nullptr : &*found;
    }

    void note(Severity severity, std::string field, Message text)
    {
        m_notes.push_back({severity, std::move(field), std::move(text)});
    }
    void noteRead(const Value& value)
    {
        note(Severity::Read, value.field, {"{value}, as stated", {{"value", jsonText(*value.json)}}});
    }
    void noteAssumed(std::string_view field, const std::string& value)
    {
        note(Severity::Assumed, std::string(field),
             {"{value}: default, not stated ({class})",
              {{"value", value}, {"class", std::string(m_family->className)}}});
    }

    void refuseOtherFormats() const
    {
        for (const auto& [key, value] : m_root.items())
            if (key == "general.architecture" || key.find(".attention.") != std::string::npos)
                refuse(
                    "the key {key} belongs to GGUF metadata, which is not read yet; expected a config.json",
                    {{"key", key}});
        if (const Json* schema = topLevel("schema"); schema && schema->is_string())
            refuse("schema is {value}; expected a model's config.json", {{"value", jsonText(*schema)}});
        if (topLevel("dim") && topLevel("n_heads") && !topLevel("hidden_size"))
            refuse("the keys dim and n_heads belong to a params.json, which is not read yet; expected a "
                   "config.json");
    }

    /// Files in which nothing rotates, and files in which nothing says so.
    std::optional<ModelReading> readWithoutRotation()
    {
        const bool hasFields = std::any_of(modelFields().begin(), modelFields().end(),
                                           [&](std::string_view key) { return topLevel(key) != nullptr; });
        if (!hasFields)
            return ModelReading{{}, {{Severity::Unknown, "", "no model fields found in this file"}}};
        if (const Json* type = topLevel("model_type")) {
            if (!type->is_string())
                refuse("model_type is {value}; expected a text such as \"llama\"",
                       {{"value", jsonText(*type)}});
            m_modelType = type->get<std::string>();
        }
        for (const PlainFamily& family : familiesWithoutRotation())
            if (family.modelType == m_modelType) {
                refuseHiddenRotation();
                return ModelReading{{},
                                    {{Severity::Read,
                                      "model_type",
                                      {"{type}: no layer rotates ({instead})",
                                       {{"type", m_modelType}, {"instead", std::string(family.instead)}}}}}};
            }
        if (const Json* alibi = topLevel("alibi"); alibi && alibi->is_boolean() && alibi->get<bool>())
            return ModelReading{{}, {{Severity::Read, "alibi", "true: no layer rotates (ALiBi)"}}};
        return std::nullopt;
    }

    /// A family without rotation whose file says that this one rotates.
    void refuseHiddenRotation() const
    {
        const auto isTrue = [](const Json* value) {
            return value && value->is_boolean() && value->get<bool>();
        };
        const Json* attention = topLevel("attn_config");
        const Json* type = topLevel("position_embedding_type");
        const bool typeRotates = type && type->is_string() && type->get<std::string>().find("ro") == 0;
        if (isTrue(topLevel("rotary")) || typeRotates ||
            (attention && attention->is_object() && attention->contains("rope") &&
             isTrue(&attention->at("rope"))))
            refuse("model_type is {type}, a family without rotation, and this file switches rotation on; "
                   "such files are not read yet",
                   {{"type", m_modelType}});
    }

    const ModelFamily& findFamily() const
    {
        if (const ModelFamily* family = findModelFamily(m_modelType))
            return *family;
        if (isFamilyNotReadYet(m_modelType))
            refuse("model_type is {type}; this family is not read yet", {{"type", m_modelType}});
        return unknownFamily();
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

    void refuseStructures(const Json& in, const std::string& prefix) const
    {
        for (const StructureKey& structure : structureKeys()) {
            const auto found = in.find(structure.key);
            if (found != in.end() && applies(structure, *found))
                refuse("{key} stands for {meaning}, which is not read yet",
                       {{"key", prefix + std::string(structure.key)},
                        {"meaning", std::string(structure.meaning)}});
        }
    }

    void refuseStructures() const
    {
        refuseStructures(m_root, "");
        if (const Json* type = topLevel("position_embedding_type"))
            if (!type->is_string() || (*type != "rope" && *type != "rotary"))
                refuse("position_embedding_type is {value}; expected \"rope\" or \"rotary\"",
                       {{"value", jsonText(*type)}});
    }

    static bool spells(const KeySpellings::List& list, std::string_view key)
    {
        return std::find(list.begin(), list.end(), key) != list.end();
    }

    void refuseRepeated(const ModelFamily& family, const std::string& key) const
    {
        const KeySpellings& keys = *family.keys;
        constexpr std::array<std::string_view, 18> kOthers{"model_type",
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
                                                           "original_max_position_embeddings",
                                                           "rope_theta",
                                                           "query_pre_attn_scalar",
                                                           "attention_multiplier"};
        for (const auto* list : {&keys.hiddenSize, &keys.heads, &keys.headDim, &keys.base, &keys.share,
                                 &keys.rotaryDim, &keys.length})
            if (spells(*list, key))
                refuse("the key {key} stands twice in the same object; expected it once", {{"key", key}});
        if (std::find(kOthers.begin(), kOthers.end(), key) != kOthers.end())
            refuse("the key {key} stands twice in the same object; expected it once", {{"key", key}});
    }

    ModelReading readFamily()
    {
        const bool isUnknown = m_family == &unknownFamily();
        if (isUnknown && !checkUnknownFamily())
            return {{}, std::move(m_notes)};
        findBlock();
        m_config.name = nameOfModel();
        m_config.layout = m_family->layout;
        if (isUnknown)
            noteUnknownFamily();
        readRule();
        readHead();
        readBase();
        readRotatedWidth();
        readLengths();
        readLogitScale();
        if (m_config.rotaryDim % 2 != 0)
            refuse("odd rotary width {width} ({head_dim} channels a head, {share} of them rotated); expected "
                   "an even "
                   "number",
                   {{"width", std::to_string(m_config.rotaryDim)},
                    {"head_dim", std::to_string(m_config.headDim)},
                    {"share", m_shareText}});
        const std::vector<Issue> issues = validate(m_config);
        if (const Issue* error = firstError(issues))
            throw Refusal{error->text};
        m_notes.insert(m_notes.end(), issues.begin(), issues.end());
        m_config.notes = std::move(m_notes);
        return {{std::move(m_config)}, {}};
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
                if (hasDifferentLayers())
                    refuse("the family {type} is not known and its layer_types differ; whether one rotation "
                           "holds "
                           "for all of them cannot be told",
                           {{"type", familyText()}});
                return true;
            }
        note(Severity::Unknown, "model_type",
             {"the family {type} is not known and no RoPE key is stated; whether its layers rotate cannot be "
              "told",
              {{"type", familyText()}}});
        return false;
    }

    std::string familyText() const { return m_modelType.empty() ? "(no model_type)" : m_modelType; }

    bool hasDifferentLayers() const
    {
        const Json* types = topLevel("layer_types");
        return types && types->is_array() && !types->empty() &&
               std::any_of(types->begin(), types->end(),
                           [&](const Json& type) { return type != types->front(); });
    }

    void noteUnknownFamily()
    {
        if (m_modelType.empty())
            note(Severity::Assumed, "model_type",
                 "not stated; read as Llama's keys mean, with half-split pairs");
        else
            note(Severity::Assumed, "model_type",
                 {"{type} is not known; read as Llama's keys mean, with half-split pairs",
                  {{"type", m_modelType}}});
    }

    std::string nameOfModel() const
    {
        // "organisation/model" names a model; anything else there is a folder of whoever saved the file.
        if (const Json* stated = topLevel("_name_or_path"); stated && stated->is_string()) {
            const std::string text = stated->get<std::string>();
            const bool isModel = text.size() < 200 && std::count(text.begin(), text.end(), '/') == 1 &&
                                 text.front() != '/' && text.front() != '.' && text.back() != '/';
            if (isModel)
                return text;
        }
        return m_name;
    }

    /// The one block of RoPE parameters: `rope_scaling` wins over `rope_parameters`; null, {} and absent are
    /// alike.
    void findBlock()
    {
        for (const std::string_view key : {"rope_scaling", "rope_parameters"}) {
            const Json* block = topLevel(key);
            if (!block)
                continue;
            if (!block->is_object())
                refuse(
                    "{key} is {kind}; expected an object such as {\"rope_type\": \"linear\", \"factor\": 2}",
                    {{"key", std::string(key)}, {"kind", jsonKind(*block)}});
            if (block->empty())
                continue;
            for (const auto& [member, value] : block->items())
                if (value.is_object())
                    refuse("{key} holds a block of its own for {layer}; parameters for each kind of layer "
                           "are not "
                           "read yet",
                           {{"key", std::string(key)}, {"layer", member}});
            refuseStructures(*block, std::string(key) + ".");
            if (m_block) {
                if (*block != *m_block)
                    note(Severity::Conflict, std::string(key),
                         {"{other} is stated too and wins", {{"other", m_blockName}}});
                continue;
            }
            m_block = block;
            m_blockName = key;
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
    }

    Value inBlock(std::string_view key) const
    {
        if (!m_block)
            return {};
        const auto found = m_block->find(key);
        if (found == m_block->end() || found->is_null())
            return {};
        return {&*found, m_blockName + "." + std::string(key)};
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
            const Value candidate{value, std::string(key)};
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
            return;
        }
        const std::string ruleWord = stated.json->get<std::string>();
        // The words that files use; ntk_aware has none.
        constexpr std::array<std::string_view, 4> kFileWords{"default", "linear", "yarn", "llama3"};
        if (std::find(kFileWords.begin(), kFileWords.end(), ruleWord) == kFileWords.end()) {
            const bool isKnown = findFrequencyRule(ruleWord) || ruleWord == "su" || ruleWord == "mrope";
            if (isKnown)
                refuse("{key} is {rule}; this rule is not built yet",
                       {{"key", stated.field}, {"rule", ruleWord}});
            refuse("{key} is {value}; expected default, linear, yarn or llama3",
                   {{"key", stated.field}, {"value", jsonText(*stated.json)}});
        }
        m_config.rule = findFrequencyRule(ruleWord)->rule;
        noteRead(stated);
        readRuleParameters();
    }

    /// Without a rule's word a block may hold a base or a share, and nothing that would scale.
    void refuseBlockWithoutRule() const
    {
        if (!m_block)
            return;
        for (const auto& [key, value] : m_block->items())
            if (!value.is_null() && key != "rope_theta" && key != "partial_rotary_factor")
                refuse(
                    "{block} states {key} and no rope_type; expected rope_type with default, linear, yarn or "
                    "llama3",
                    {{"block", m_blockName}, {"key", key}});
    }

    void readRuleParameters()
    {
        const auto parameters = info(m_config.rule).parameters;
        constexpr std::array<std::string_view, 5> kOthers{
            "rope_type", "type", "rope_theta", "partial_rotary_factor", "original_max_position_embeddings"};
        for (const auto& [key, json] : m_block->items()) {
            const Value value{&json, m_blockName + "." + key};
            const auto parameter = std::find_if(parameters.begin(), parameters.end(),
                                                [&name = key](const auto& row) { return row.key == name; });
            if (parameter == parameters.end()) {
                if (!json.is_null() && std::find(kOthers.begin(), kOthers.end(), key) == kOthers.end())
                    note(Severity::Warning, value.field,
                         {"{value} is stated and has no effect with the rule {rule}",
                          {{"value", jsonText(json)}, {"rule", std::string(info(m_config.rule).word)}}});
            } else if (json.is_null()) {
                note(Severity::Assumed, value.field, "null counts as not stated");
            } else if (parameter->number) {
                m_config.parameters.*parameter->number = number(value, "a number");
                noteRead(value);
            } else if (parameter->truth && json.is_boolean()) {
                m_config.parameters.*parameter->truth = json.get<bool>();
                noteRead(value);
            } else {
                refuse("{key} is {value}; expected true or false",
                       {{"key", value.field}, {"value", jsonText(json)}});
            }
        }
        for (const RuleParameterInfo& parameter : parameters)
            if (parameter.number && !(m_config.parameters.*parameter.number) && parameter.defaultValue)
                note(Severity::Assumed, m_blockName + "." + std::string(parameter.key),
                     {"{value}: default of the rule {rule}, not stated",
                      {{"value", shortNumber(*parameter.defaultValue)},
                       {"rule", std::string(info(m_config.rule).word)}}});
    }

    void readHead()
    {
        const Value headDim = find(m_family->keys->headDim);
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
        if (headDim) {
            m_config.headDim = static_cast<int>(whole(headDim, 1, kLargestWidth));
            noteRead(headDim);
            if (hiddenSize && heads && quotient != m_config.headDim)
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

    void readBase()
    {
        const KeySpellings::List& keys = m_family->keys->base;
        const Value base = find(keys, keys.front().empty() ? std::string_view() : "rope_theta");
        if (base) {
            m_config.base = number(base, "a number above 1");
            if (!(m_config.base > 1.0))
                refuse("{key} is {value}; expected a number above 1",
                       {{"key", base.field}, {"value", jsonText(*base.json)}});
            noteRead(base);
        } else if (m_family->base) {
            m_config.base = *m_family->base;
            noteAssumed(keys.front().empty() ? "rope_theta" : keys.front(), shortNumber(m_config.base));
        } else {
            refuse("{key} is not stated; expected a number above 1", {{"key", std::string(keys.front())}});
        }
    }

    void readRotatedWidth()
    {
        if (!m_family->keys->rotaryDim.front().empty()) {
            // In these classes null is a value of its own: it turns the whole width of the model.
            const std::string_view key = m_family->keys->rotaryDim.front();
            if (const auto stated = m_root.find(key); stated != m_root.end() && stated->is_null())
                refuse("{key} is null; expected a whole number of rotated channels",
                       {{"key", std::string(key)}});
            const Value width = find(m_family->keys->rotaryDim);
            m_config.rotaryDim = width ? static_cast<int>(whole(width, 0, kLargestWidth))
                                       : m_family->rotaryDim.value_or(m_config.headDim);
            m_shareText = std::to_string(m_config.rotaryDim);
            if (width)
                noteRead(width);
            else
                noteAssumed(m_family->keys->rotaryDim.front(), m_shareText);
            return;
        }
        const Value share = find(m_family->keys->share, "partial_rotary_factor");
        double value = m_family->share;
        if (share) {
            value = number(share, "a number from 0 to 1");
            if (!(value >= 0.0 && value <= 1.0))
                refuse("{key} is {value}; expected a number from 0 to 1",
                       {{"key", share.field}, {"value", jsonText(*share.json)}});
            noteRead(share);
        } else if (value != 1.0) {
            noteAssumed(m_family->keys->share.front(), shortNumber(value));
        }
        m_shareText = shortNumber(value);
        m_config.rotaryDim = rotaryDimForShare(m_config.headDim, value);
    }

    void readLengths()
    {
        const Value length = find(m_family->keys->length);
        if (length) {
            m_config.maxPositionEmbeddings = static_cast<std::int64_t>(whole(length, 1, kLongestLength));
            noteRead(length);
        } else {
            note(Severity::Assumed, std::string(m_family->keys->length.front()),
                 "not stated; no training length is assumed");
        }
        // Here the top level wins over the block, unlike everywhere else.
        Value original = inBlock("original_max_position_embeddings");
        if (const Json* outer = topLevel("original_max_position_embeddings")) {
            if (original && *outer != *original.json)
                note(Severity::Conflict, original.field,
                     {"{value} is stated here, {other} at the top level, which wins",
                      {{"value", jsonText(*original.json)}, {"other", jsonText(*outer)}}});
            original = {outer, "original_max_position_embeddings"};
        }
        if (original) {
            m_config.originalMaxPositionEmbeddings =
                static_cast<std::int64_t>(whole(original, 1, kLongestLength));
            noteRead(original);
        } else if (info(m_config.rule).needsTrainingLength && length) {
            note(Severity::Assumed, "original_max_position_embeddings",
                 {"not stated; the rule computes with max_position_embeddings, {value}",
                  {{"value", jsonText(*length.json)}}});
        }
    }

    void readLogitScale()
    {
        if (m_family->logitScale == LogitScale::Usual)
            return;
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
        const double headDim = m_config.headDim;
        m_config.softmaxFactor = isGemma ? std::sqrt(headDim / value) : value * std::sqrt(headDim);
    }

    const Json& m_root;
    std::string m_name;
    std::string m_modelType;
    const ModelFamily* m_family = nullptr;
    const Json* m_block = nullptr;
    std::string m_blockName = "rope_scaling";
    std::string m_shareText;
    RopeConfig m_config;
    std::vector<Issue> m_notes;
};

} // namespace

Result<ModelReading> readModelConfig(std::string_view text, const std::string& name)
{
    try {
        const Result<std::vector<std::string>> repeatedKeys = checkJson(text, kLargestFile);
        if (!repeatedKeys)
            return repeatedKeys.error();
        const Json root = Json::parse(text.begin(), text.end());
        return Reader(root, name).read(*repeatedKeys);
    } catch (const Refusal& refusal) {
        return Error{ErrorCode::BadInput, refusal.message, {}};
    } catch (const std::exception& exception) {
        return Error{
            ErrorCode::BadInput, {"the file cannot be read: {reason}", {{"reason", exception.what()}}}, {}};
    }
}

} // namespace ropewalk
