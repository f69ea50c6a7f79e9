// SPDX-License-Identifier: GPL-3.0-or-later
#include "gguf_model.h"

#include "../frequency_rules.h"
#include "../rope_math.h"
#include "../validate.h"
#include "json_input.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

namespace ropewalk {
namespace {

using Json = nlohmann::json;

constexpr double kLargestWidth = 1 << 24;
constexpr double kLongestLength = 1099511627776.0;
constexpr double kDefaultBase = 10000.0;

struct Refusal
{
    Message message;
};

[[noreturn]] void refuse(std::string text, std::vector<std::pair<std::string, std::string>> values = {})
{
    throw Refusal{{std::move(text), std::move(values)}};
}

// llama.cpp's pairs by architecture (llama_model_rope_type): they describe the weights after its conversion.

constexpr std::array kInterleaved = std::to_array<std::string_view>(
    {"llama",      "llama4",  "llada",     "deci",       "baichuan",      "starcoder",
     "plamo",      "orion",   "internlm2", "minicpm",    "xverse",        "command-r",
     "cohere2",    "olmo",    "arctic",    "deepseek",   "deepseek2",     "plm",
     "chatglm",    "glm4",    "granite",   "granitemoe", "granitehybrid", "chameleon",
     "bailingmoe", "smollm3", "arcee",     "ernie4_5",   "ernie4_5-moe",  "mistral3"});
constexpr std::array kHalf = std::to_array<std::string_view>(
    {"falcon",     "falcon-h1",   "grok",         "dbrx",        "nomic-bert",      "nomic-bert-moe",
     "stablelm",   "bitnet",      "qwen",         "qwen2",       "qwen2moe",        "qwen2vl",
     "qwen3",      "qwen3moe",    "qwen3vl",      "qwen3vlmoe",  "qwen3next",       "dream",
     "olmo2",      "olmoe",       "phi2",         "phi3",        "phimoe",          "plamo2",
     "gemma",      "gemma2",      "gemma3",       "gemma3n",     "gemma-embedding", "starcoder2",
     "openelm",    "gptneox",     "codeshell",    "nemotron",    "exaone",          "exaone4",
     "minicpm3",   "bailingmoe2", "dots1",        "hunyuan-moe", "hunyuan-dense",   "gpt-oss",
     "lfm2",       "lfm2moe",     "smallthinker", "glm4moe",     "seed_oss",        "apertus",
     "minimax-m2", "modern-bert", "internlm3"});
constexpr std::array kWithoutRotation =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"bert", "learned positions"},
                                                                  {"gpt2", "learned positions"},
                                                                  {"gptj", "not built in llama.cpp"},
                                                                  {"mpt", "ALiBi"},
                                                                  {"refact", "ALiBi"},
                                                                  {"bloom", "ALiBi"},
                                                                  {"mamba", "no attention"},
                                                                  {"mamba2", "no attention"},
                                                                  {"jina-bert-v2", "ALiBi"},
                                                                  {"t5", "relative bias"},
                                                                  {"t5encoder", "relative bias"},
                                                                  {"jais", "ALiBi"},
                                                                  {"rwkv6", "no attention"},
                                                                  {"rwkv7", "no attention"},
                                                                  {"nemotron_h", "no positions"}});
/// Architectures whose weights the converter reorders, so that the config.json of the same model means
/// half-split.
constexpr std::array kReordered =
    std::to_array<std::string_view>({"llama", "deci", "internlm2", "minicpm", "olmo", "granite", "granitemoe",
                                     "arcee", "smollm3", "baichuan", "mistral3"});

/// Architectures whose kinds of layers differ, as llama.cpp loads them.
struct LayerRow
{
    std::string_view architecture, layerType;
    bool rotates = true;
    bool isScaled = true;
    std::optional<double> base{}; ///< where the file has no base of its own for this kind
    std::string_view onlyWith{};  ///< a key that has to be there for the layers to differ
};
constexpr std::array kLayerRows{
    LayerRow{"gemma3", "full_attention"},
    LayerRow{"gemma3", "sliding_attention", true, false, 1e4},
    LayerRow{"gemma3n", "full_attention"},
    LayerRow{"gemma3n", "sliding_attention", true, false, 1e4},
    LayerRow{"gemma-embedding", "full_attention"},
    LayerRow{"gemma-embedding", "sliding_attention", true, false, 1e4},
    LayerRow{"modern-bert", "full_attention"},
    LayerRow{"modern-bert", "sliding_attention", true, false, 1e4},
    LayerRow{"olmo2", "full_attention", true, true, {}, "attention.sliding_window"},
    LayerRow{"olmo2", "sliding_attention", true, false, {}, "attention.sliding_window"},
    LayerRow{"exaone4", "sliding_attention", true, true, {}, "attention.sliding_window"},
    LayerRow{"exaone4", "no_rope", false, true, {}, "attention.sliding_window"},
    LayerRow{"cohere2", "sliding_attention"},
    LayerRow{"cohere2", "no_rope", false},
    LayerRow{"llama4", "chunked_attention"},
    LayerRow{"llama4", "no_rope", false},
    LayerRow{"smollm3", "full_attention"},
    LayerRow{"smollm3", "no_rope", false},
};

/// Gemma's largest models divide by the width of the model over the heads and not by the head's: told apart
/// by their number of layers, as llama.cpp does.
struct ScaleByBlocks
{
    std::string_view architecture;
    std::int64_t blocks;
};
constexpr std::array kScaleByBlocks{ScaleByBlocks{"gemma2", 46}, ScaleByBlocks{"gemma3", 62}};

template<class Table>
bool contains(const Table& table, std::string_view word)
{
    return std::find(table.begin(), table.end(), word) != table.end();
}

class GgufReader
{
public:
    GgufReader(const GgufMetadata& metadata, std::string name)
        : m_metadata(metadata)
        , m_name(std::move(name))
    {
    }

    ModelReading read()
    {
        m_architecture = text("general.architecture");
        if (m_architecture.empty())
            return {{},
                    {{Severity::Unknown, "general.architecture",
                      "not stated; no model fields found in this file"}}};
        for (const auto& [architecture, instead] : kWithoutRotation)
            if (architecture == m_architecture)
                return {{},
                        {{Severity::Read,
                          "general.architecture",
                          {"{type}: no layer rotates ({instead})",
                           {{"type", m_architecture}, {"instead", std::string(instead)}}}}}};
        if (const std::string stated = text("general.name"); !stated.empty())
            m_name = stated;
        if (!readLayout())
            return {{}, std::move(m_common)};
        ModelReading reading;
        std::vector<const LayerRow*> rows;
        for (const LayerRow& row : kLayerRows)
            if (row.architecture == m_architecture &&
                (row.onlyWith.empty() || hasKey(std::string(row.onlyWith))))
                rows.push_back(&row);
        if (rows.empty())
            rows.push_back(nullptr);
        for (const LayerRow* row : rows)
            reading.configurations.push_back(readKind(row));
        if (reading.configurations.size() > 1 &&
            std::all_of(reading.configurations.begin(), reading.configurations.end(),
                        [&](const RopeConfig& config) {
                            return computesTheSame(config, reading.configurations.front());
                        })) {
            reading.configurations.resize(1);
            reading.configurations.front().layerType.reset();
        }
        return reading;
    }

private:
    // Values
    // -----------------------------------------------------------------------------------------------------

    std::string full(const std::string& key) const { return m_architecture + "." + key; }

    const GgufValue* value(const std::string& key) const
    {
        const auto found = m_metadata.values.find(key);
        return found == m_metadata.values.end() ? nullptr : &found->second;
    }
    bool hasKey(const std::string& key) const { return value(full(key)) != nullptr; }

    std::string text(const std::string& key) const
    {
        const GgufValue* found = value(key);
        const auto* content = found ? std::get_if<std::string>(found) : nullptr;
        return content ? *content : std::string();
    }

    /// A number; in key-values written out as text a number may be one too, and a list of equal numbers is
    /// that number.
    std::optional<double> number(const std::string& key, double least, double most) const
    {
        const std::string field = full(key);
        const GgufValue* found = value(field);
        if (!found)
            return std::nullopt;
        std::optional<double> result;
        if (const auto* integer = std::get_if<std::int64_t>(found))
            result = static_cast<double>(*integer);
        else if (const auto* real = std::get_if<double>(found))
            result = *real;
        else if (const auto* content = std::get_if<std::string>(found))
            result = numberOfText(*content);
        else if (const auto* list = std::get_if<GgufList>(found)) {
            // One number a layer: those of layers without attention are 0.
            for (const double entry : list->numbers)
                if (entry != 0.0 && !result)
                    result = entry;
        }
        if (!result || !std::isfinite(*result) || *result < least || *result > most)
            refuse("{key} is {value}; expected a number from {least} to {most}",
                   {{"key", field},
                    {"value", result ? shortNumber(*result) : "no number"},
                    {"least", shortNumber(least)},
                    {"most", shortNumber(most, 13)}});
        return result;
    }
    static std::optional<double> numberOfText(const std::string& text)
    {
        double result = 0.0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
        return error == std::errc() && end == text.data() + text.size() ? std::optional(result)
                                                                        : std::nullopt;
    }

    std::optional<std::int64_t> whole(const std::string& key, double most) const
    {
        const std::optional<double> found = number(key, 1.0, most);
        if (found && *found != std::floor(*found))
            refuse("{key} is {value}; expected a whole number",
                   {{"key", full(key)}, {"value", shortNumber(*found)}});
        return found ? std::optional(static_cast<std::int64_t>(*found)) : std::nullopt;
    }

    const std::vector<double>* tensor(const std::string& name) const
    {
        const auto found = m_metadata.factors.find(name);
        return found == m_metadata.factors.end() ? nullptr : &found->second;
    }

    void note(Severity severity, std::string field, Message text)
    {
        m_config.notes.push_back({severity, std::move(field), std::move(text)});
    }
    void noteRead(const std::string& key, double number)
    {
        note(Severity::Read, full(key), {"{value}, as stated", {{"value", shortNumber(number, 9)}}});
    }
    void noteAssumed(const std::string& key, const std::string& value)
    {
        note(Severity::Assumed, full(key), {"{value}: default, not stated (llama.cpp)", {{"value", value}}});
    }

    // The whole file
    // ---------------------------------------------------------------------------------------------

    /// Whether the architecture's pairs are known, or can be assumed.
    bool readLayout()
    {
        const bool isInterleaved = contains(kInterleaved, m_architecture);
        m_layout = isInterleaved ? Layout::Interleaved : Layout::Half;
        if (contains(kReordered, m_architecture)) {
            m_common.push_back({Severity::Read, "layout",
                                "interleaved in this file: the converter reorders q and k; the config.json "
                                "of the same model goes "
                                "with weights in half-split order"});
            return true;
        }
        if (isInterleaved || contains(kHalf, m_architecture))
            return true;
        const bool hasRotation =
            std::any_of(m_metadata.values.begin(), m_metadata.values.end(),
                        [&](const auto& entry) { return entry.first.find(full("rope.")) == 0; });
        m_common.push_back(
            {hasRotation ? Severity::Assumed : Severity::Unknown, "general.architecture",
             hasRotation
                 ? Message("{type} is not known; half-split pairs are assumed", {{"type", m_architecture}})
                 : Message("the architecture {type} is not known and no RoPE key is stated; whether its "
                           "layers rotate cannot be told",
                           {{"type", m_architecture}})});
        return hasRotation;
    }

    RopeConfig readKind(const LayerRow* row)
    {
        m_config = {};
        m_config.notes = m_common;
        m_config.name = m_name;
        m_config.layout = m_layout;
        if (row)
            m_config.layerType = std::string(row->layerType);
        readHead();
        readLengths();
        if (row && !row->rotates) {
            m_config.rule = FrequencyRule::None;
            m_config.rotaryDim = 0;
            note(Severity::Read, "", "these layers do not rotate");
        } else {
            readBase(row);
            if (!row || row->isScaled)
                readScaling();
            readSections();
        }
        readLogitScale();
        if (m_config.rotaryDim % 2 != 0)
            refuse("odd rotary width {width}; expected an even number",
                   {{"width", std::to_string(m_config.rotaryDim)}});
        const std::vector<Issue> issues = validate(m_config);
        if (const Issue* error = firstError(issues))
            throw Refusal{error->text};
        m_config.notes.insert(m_config.notes.end(), issues.begin(), issues.end());
        return std::move(m_config);
    }

    void readHead()
    {
        // Newer files of latent attention state the width of what is cached as key_length, and that of a head
        // beside it.
        const std::string lengthKey =
            hasKey("attention.key_length_mla") ? "attention.key_length_mla" : "attention.key_length";
        const std::optional<std::int64_t> stated = whole(lengthKey, kLargestWidth);
        const std::optional<std::int64_t> width = whole("embedding_length", kLargestWidth);
        const std::optional<std::int64_t> heads = whole("attention.head_count", kLargestWidth);
        if (stated) {
            m_config.headDim = static_cast<int>(*stated);
            noteRead(lengthKey, static_cast<double>(*stated));
            if (width && heads && *width / *heads != *stated)
                note(Severity::Conflict, full(lengthKey),
                     {"{value} is stated and wins; embedding_length / head_count would be {quotient}",
                      {{"value", std::to_string(*stated)}, {"quotient", std::to_string(*width / *heads)}}});
        } else if (width && heads) {
            m_config.headDim = static_cast<int>(*width / *heads);
            noteAssumed(lengthKey, std::to_string(m_config.headDim) + " = embedding_length / head_count");
        } else {
            refuse("{key} is not stated; expected it, or embedding_length and attention.head_count",
                   {{"key", full(lengthKey)}});
        }
        const std::optional<std::int64_t> rotary = whole("rope.dimension_count", kLargestWidth);
        m_config.rotaryDim = rotary ? static_cast<int>(*rotary) : m_config.headDim;
        if (rotary)
            noteRead("rope.dimension_count", static_cast<double>(*rotary));
        else
            noteAssumed("rope.dimension_count", std::to_string(m_config.headDim) + " = key length");
        const bool isLatent =
            contains(std::array<std::string_view, 3>{"deepseek2", "minicpm3", "plm"}, m_architecture);
        if (isLatent)
            m_config.channels = ChannelScheme::Last;
    }

    void readBase(const LayerRow* row)
    {
        const std::optional<double> own = number("rope.freq_base_swa", 0.0, 1e300);
        const bool isSliding = row && row->layerType == "sliding_attention";
        if (isSliding && own) {
            m_config.base = *own;
            noteRead("rope.freq_base_swa", *own);
            return;
        }
        if (row && row->base) {
            m_config.base = *row->base;
            note(Severity::Assumed, full("rope.freq_base_swa"),
                 {"{value}: default of the architecture's sliding layers, not stated (llama.cpp)",
                  {{"value", shortNumber(*row->base)}}});
            return;
        }
        const std::optional<double> base = number("rope.freq_base", 0.0, 1e300);
        m_config.base = base.value_or(kDefaultBase);
        if (base)
            noteRead("rope.freq_base", *base);
        else
            noteAssumed("rope.freq_base", shortNumber(kDefaultBase));
    }

    void readLengths()
    {
        m_config.maxPositionEmbeddings = whole("context_length", kLongestLength);
        if (m_config.maxPositionEmbeddings)
            noteRead("context_length", static_cast<double>(*m_config.maxPositionEmbeddings));
        else
            note(Severity::Assumed, full("context_length"), "not stated; no training length is assumed");
        m_config.originalMaxPositionEmbeddings =
            whole("rope.scaling.original_context_length", kLongestLength);
        if (m_config.originalMaxPositionEmbeddings)
            noteRead("rope.scaling.original_context_length",
                     static_cast<double>(*m_config.originalMaxPositionEmbeddings));
    }

    // Scaling
    // ----------------------------------------------------------------------------------------------------

    void readScaling()
    {
        if (readTensors())
            return;
        std::string type = text(full("rope.scaling.type"));
        double factor = number("rope.scaling.factor", 0.0, 1e9).value_or(0.0);
        std::string factorKey = "rope.scaling.factor";
        if (!hasKey("rope.scaling.factor") && hasKey("rope.scale_linear")) {
            factorKey = "rope.scale_linear";
            factor = number(factorKey, 0.0, 1e9).value_or(0.0);
        }
        // As in llama.cpp, 0 stands for none.
        const bool hasFactor = factor != 0.0 && factor != 1.0;
        if (type.empty())
            type = "linear";
        if (type != "none" && type != "linear" && type != "yarn" && type != "longrope")
            refuse("{key} is {value}; expected none, linear, yarn or longrope",
                   {{"key", full("rope.scaling.type")}, {"value", type}});
        if (type == "longrope")
            refuse("{key} is longrope, and the file has no tensors rope_factors_long and rope_factors_short",
                   {{"key", full("rope.scaling.type")}});
        if (type == "none" || !hasFactor) {
            note(Severity::Read, full("rope.scaling.type"),
                 "no scaling found in this file: no factor among the keys, and no tensor rope_freqs or "
                 "rope_factors");
            readAttentionFactor(1.0);
            return;
        }
        m_config.parameters.factor = factor;
        noteRead(factorKey, factor);
        if (type == "linear") {
            m_config.rule = FrequencyRule::Linear;
            readAttentionFactor(1.0);
            return;
        }
        m_config.rule = FrequencyRule::Yarn;
        readYarn(factor);
    }

    void readYarn(double factor)
    {
        for (const auto& [key, target] :
             {std::pair{"rope.scaling.yarn_beta_fast", &RuleParameters::betaFast},
              std::pair{"rope.scaling.yarn_beta_slow", &RuleParameters::betaSlow}})
            if (const std::optional<double> beta = number(key, 0.0, 1e9)) {
                m_config.parameters.*target = beta;
                noteRead(key, *beta);
            }
        const std::optional<double> multiplier = number("rope.scaling.yarn_log_multiplier", -10.0, 10.0);
        if (multiplier && *multiplier != 0.0) {
            // 0.1·mscale_all_dim; cos and sin keep 1, the logit takes the square.
            m_config.parameters.mscale = m_config.parameters.mscaleAllDim = 10.0 * *multiplier;
            m_config.hasMscaleSoftmax = true;
            followMscale(m_config);
            noteRead("rope.scaling.yarn_log_multiplier", *multiplier);
            note(Severity::Read, "softmax_factor",
                 {"{value} = (1 + yarn_log_multiplier·ln factor)²",
                  {{"value", shortNumber(m_config.softmaxFactor, 7)}}});
        } else {
            readAttentionFactor(0.1 * std::log(factor) + 1.0);
        }
        note(Severity::Read, full("rope.scaling.type"),
             "yarn; llama.cpp rounds the ends of the ramp to whole pairs and knows no truncate");
    }

    /// A stated factor multiplies the one that the kernel has by itself.
    void readAttentionFactor(double ofKernel)
    {
        for (const char* key : {"rope.scaling.attn_factor", "rope.scaling.yarn_attn_factor"}) {
            const std::optional<double> factor = number(key, 0.0, 1e6);
            if (!factor || *factor == 1.0)
                continue;
            noteRead(key, *factor);
            if (m_config.rule == FrequencyRule::Yarn || m_config.rule == FrequencyRule::LongRope)
                m_config.parameters.attentionFactor = *factor * ofKernel;
            else
                note(Severity::Warning, full(key),
                     "stated, and not drawn with a rule that has no factor on cos and sin");
        }
    }

    /// The rules that are not among the keys but in tensors: one divisor a pair.
    bool readTensors()
    {
        const std::vector<double>* divisors = tensor("rope_freqs.weight");
        const std::vector<double>* longFactors = tensor("rope_factors_long.weight");
        const std::vector<double>* shortFactors = tensor("rope_factors_short.weight");
        for (const auto& [name, list] :
             {std::pair{"rope_freqs.weight", divisors}, std::pair{"rope_factors_long.weight", longFactors},
              std::pair{"rope_factors_short.weight", shortFactors}})
            if (list && list->empty())
                refuse("{name} is named here and its numbers are not; expected the .gguf file itself, or a "
                       "list of "
                       "numbers",
                       {{"name", name}});
        if (longFactors || shortFactors) {
            readLongRope(longFactors, shortFactors);
            return true;
        }
        if (!divisors)
            return false;
        checkCount("rope_freqs.weight", *divisors);
        m_config.rule = FrequencyRule::Explicit;
        std::vector<double>& frequencies = m_config.parameters.invFreq;
        for (std::size_t i = 0; i < divisors->size(); ++i)
            frequencies.push_back(
                std::pow(m_config.base, -2.0 * static_cast<double>(i) / m_config.rotaryDim) / (*divisors)[i]);
        note(Severity::Read, "rope_freqs.weight",
             {"{count} divisors, from {least} to {most}: the scaling of this model lies in this tensor and "
              "not in the "
              "keys",
              {{"count", std::to_string(divisors->size())},
               {"least", shortNumber(*std::min_element(divisors->begin(), divisors->end()))},
               {"most", shortNumber(*std::max_element(divisors->begin(), divisors->end()))}}});
        noteLlama3(*divisors);
        return true;
    }

    void checkCount(const char* name, const std::vector<double>& list) const
    {
        if (static_cast<int>(list.size()) != m_config.rotaryDim / 2)
            refuse("{name} has {count} numbers; expected one a pair, {pairs}",
                   {{"name", name},
                    {"count", std::to_string(list.size())},
                    {"pairs", std::to_string(m_config.rotaryDim / 2)}});
    }

    void readLongRope(const std::vector<double>* longFactors, const std::vector<double>* shortFactors)
    {
        if (!longFactors || !shortFactors)
            refuse("{name} is missing; expected both rope_factors_long.weight and rope_factors_short.weight",
                   {{"name", longFactors ? "rope_factors_short.weight" : "rope_factors_long.weight"}});
        checkCount("rope_factors_long.weight", *longFactors);
        checkCount("rope_factors_short.weight", *shortFactors);
        m_config.rule = FrequencyRule::LongRope;
        m_config.parameters.longFactor = *longFactors;
        m_config.parameters.shortFactor = *shortFactors;
        note(Severity::Read, "rope_factors_long.weight",
             "the two lists of LongRoPE lie in tensors; the short one holds up to the original length");
        m_config.parameters.attentionFactor = 1.0;
        if (number("rope.scaling.attn_factor", 0.0, 1e6).value_or(1.0) == 1.0)
            noteAssumed("rope.scaling.attn_factor", "1");
        else
            readAttentionFactor(1.0);
    }

    /// Whether the divisors are those of Llama 3 with a factor that was published.
    void noteLlama3(const std::vector<double>& divisors)
    {
        constexpr double kTraining = 8192.0;
        const double factor = divisors.back();
        for (std::size_t i = 0; i < divisors.size(); ++i) {
            const double theta = std::pow(m_config.base, -2.0 * static_cast<double>(i) / m_config.rotaryDim);
            const double turns = kTraining * theta / kTwoPi;
            const double kept = std::clamp((turns - 1.0) / 3.0, 0.0, 1.0);
            if (std::fabs(divisors[i] * ((1.0 - kept) / factor + kept) - 1.0) > 1e-5)
                return;
        }
        note(Severity::Read, "rope_freqs.weight",
             {"the divisors are those of the rule llama3 with factor {factor}, low_freq_factor 1, "
              "high_freq_factor 4 "
              "and original_max_position_embeddings 8192",
              {{"factor", shortNumber(factor)}}});
    }

    void readSections()
    {
        const GgufValue* found = value(full("rope.dimension_sections"));
        const auto* list = found ? std::get_if<GgufList>(found) : nullptr;
        if (!list)
            return;
        for (const double pairs : list->numbers)
            if (pairs >= 1.0 && pairs <= kLargestWidth && pairs == std::floor(pairs))
                m_config.mropeSection.push_back(static_cast<int>(pairs));
        m_config.isMropeInterleaved = m_architecture.find("qwen3vl") == 0;
        note(Severity::Read, full("rope.dimension_sections"),
             "sections of pairs for time, height and width; text has one position for all three");
    }

    void readLogitScale()
    {
        const double headDim = m_config.headDim;
        if (const std::optional<double> scale = number("attention.scale", 0.0, 1e6); scale && *scale > 0.0) {
            m_config.softmaxFactor = *scale * std::sqrt(headDim);
            noteRead("attention.scale", *scale);
            return;
        }
        if (m_architecture == "gemma3n") {
            m_config.softmaxFactor = std::sqrt(headDim);
            note(Severity::Assumed, "softmax_factor", "√head_dim: the whole scale is 1 (llama.cpp)");
            return;
        }
        for (const ScaleByBlocks& row : kScaleByBlocks) {
            if (row.architecture != m_architecture || whole("block_count", 1e6) != row.blocks)
                continue;
            const std::optional<std::int64_t> width = whole("embedding_length", kLargestWidth);
            const std::optional<std::int64_t> heads = whole("attention.head_count", kLargestWidth);
            if (!width || !heads)
                return;
            const double scalar = static_cast<double>(*width) / static_cast<double>(*heads);
            m_config.softmaxFactor = std::sqrt(headDim / scalar);
            note(Severity::Assumed, "softmax_factor",
                 {"1/√{scalar} is the whole scale, by the number of layers (llama.cpp)",
                  {{"scalar", shortNumber(scalar)}}});
        }
    }

    const GgufMetadata& m_metadata;
    std::string m_name, m_architecture;
    Layout m_layout = Layout::Half;
    std::vector<Issue> m_common;
    RopeConfig m_config;
};

GgufValue valueOfJson(const Json& json)
{
    if (json.is_boolean())
        return json.get<bool>();
    if (json.is_number_integer() && !json.is_number_unsigned())
        return json.get<std::int64_t>();
    if (json.is_number())
        return json.get<double>();
    if (json.is_string())
        return json.get<std::string>();
    GgufList list;
    list.count = json.size();
    if (json.is_array())
        for (const Json& entry : json)
            if (entry.is_number())
                list.numbers.push_back(entry.get<double>());
    return list;
}

std::vector<double> factorsOfJson(const std::string& name, const Json& json)
{
    std::vector<double> factors;
    if (!json.is_array())
        return factors;
    for (const Json& entry : json) {
        const double factor = entry.is_number() ? entry.get<double>() : 0.0;
        if (!(factor > 0.0))
            refuse("{name} holds {value}; expected numbers above 0",
                   {{"name", name}, {"value", jsonValueText(entry.dump())}});
        factors.push_back(factor);
    }
    return factors;
}

} // namespace

Result<ModelReading> modelFromGguf(const GgufMetadata& metadata, const std::string& name)
{
    try {
        return GgufReader(metadata, name).read();
    } catch (const Refusal& refusal) {
        return Error{ErrorCode::BadInput, refusal.message, {}};
    }
}

Result<ModelReading> readGgufText(std::string_view json, const std::string& name)
{
    try {
        GgufMetadata metadata;
        const Json root = Json::parse(json.begin(), json.end());
        for (const auto& [key, value] : root.items())
            if (isRotationTensor(key))
                metadata.factors[key] = factorsOfJson(key, value);
            else
                metadata.values[key] = valueOfJson(value);
        return modelFromGguf(metadata, name);
    } catch (const Refusal& refusal) {
        return Error{ErrorCode::BadInput, refusal.message, {}};
    } catch (const std::exception& exception) {
        return Error{
            ErrorCode::BadInput, {"the file cannot be read: {reason}", {{"reason", exception.what()}}}, {}};
    }
}

} // namespace ropewalk
