// SPDX-License-Identifier: GPL-3.0-or-later
#include "config_keys.h"

#include "json_writer.h"
#include "temperature.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace ropewalk {
namespace {

/// A refusal on its way to applySettings; it never leaves this file.
struct Refusal
{
    Message message;
};

[[noreturn]] void refuse(std::string text, std::vector<std::pair<std::string, std::string>> values = {})
{
    throw Refusal{{std::move(text), std::move(values)}};
}

/// The whole of `text` as a finite number, or nothing.
std::optional<double> parseNumber(std::string_view text)
{
    double value = 0.0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

double number(const Setting& setting, double least = -std::numeric_limits<double>::max(),
              double most = std::numeric_limits<double>::max())
{
    const std::optional<double> value = parseNumber(setting.value);
    if (!value)
        refuse("{key} is \"{value}\"; expected a number", {{"key", setting.key}, {"value", setting.value}});
    if (*value < least || *value > most)
        refuse("{key} is {value}; expected a number from {least} to {most}", {{"key", setting.key},
                                                                              {"value", setting.value},
                                                                              {"least", shortNumber(least)},
                                                                              {"most", shortNumber(most)}});
    return *value;
}

/// A whole number; 1e5 is one.
std::int64_t whole(const Setting& setting, std::int64_t least, std::int64_t most)
{
    const std::optional<double> value = parseNumber(setting.value);
    // Beyond 2^53 a double cannot tell whole numbers apart; no key goes that far.
    if (!value || *value != std::floor(*value) || *value < static_cast<double>(least) ||
        *value > static_cast<double>(most))
        refuse("{key} is \"{value}\"; expected a whole number from {least} to {most}",
               {{"key", setting.key},
                {"value", setting.value},
                {"least", std::to_string(least)},
                {"most", std::to_string(most)}});
    return static_cast<std::int64_t>(*value);
}

int width(const Setting& setting)
{
    return static_cast<int>(whole(setting, 0, 1 << 20));
}

/// Chooses among words.
void checkWord(const Setting& setting, const std::vector<std::string>& known)
{
    if (std::find(known.begin(), known.end(), setting.value) == known.end())
        refuse("unknown value \"{value}\" of {key}; the nearest known are {nearest}",
               {{"key", setting.key},
                {"value", setting.value},
                {"nearest", nearestWords(setting.value, known)}});
}

void setHeadDim(const Setting& setting, RopeConfig& config)
{
    config = withHeadDim(std::move(config), width(setting));
}

/// A part of the width, and the schemes that are formed over the whole head, exclude each other.
void setWidth(int rotaryDim, RopeConfig& config)
{
    config.rotaryDim = rotaryDim;
    if (rotaryDim != config.headDim && config.channels != ChannelScheme::Last)
        config.channels = ChannelScheme::First;
}

void setRotaryDim(const Setting& setting, RopeConfig& config)
{
    setWidth(width(setting), config);
}

void setShare(const Setting& setting, RopeConfig& config)
{
    const double share = number(setting, 0.0, 1.0);
    if (config.rule != FrequencyRule::Proportional) {
        setWidth(rotaryDimForShare(config.headDim, share), config);
        return;
    }
    // There the share counts pairs of the whole head.
    config.parameters.partialRotaryFactor = share;
    setWidth(config.headDim, config);
}

void setBase(const Setting& setting, RopeConfig& config)
{
    config.base = number(setting);
}

void setLayout(const Setting& setting, RopeConfig& config)
{
    checkWord(setting, {"interleaved", "half"});
    config.layout = setting.value == "half" ? Layout::Half : Layout::Interleaved;
}

void setChannels(const Setting& setting, RopeConfig& config)
{
    checkWord(setting, {channelsWords().begin(), channelsWords().end()});
    const std::string& value = setting.value;
    config.channels = schemeOfWord(value);
    if (value == "none")
        config.rotaryDim = 0;
    else if (value != "first" && value != "last")
        config.rotaryDim = config.headDim;
}

void setRule(const Setting& setting, RopeConfig& config)
{
    std::vector<std::string> built;
    for (const FrequencyRuleInfo& rule : frequencyRules())
        built.emplace_back(rule.word);
    checkWord(setting, built);
    config = withRule(std::move(config), findFrequencyRule(setting.value)->rule);
}

/// Numbers between commas, blanks or brackets, as in a file or on the command line.
std::vector<double> numberList(const Setting& setting)
{
    std::vector<double> numbers;
    std::string_view rest = setting.value;
    constexpr std::string_view kBetween = ", \t\r\n[]";
    constexpr std::size_t kMost = 4096; // pairs of the widest head
    while (true) {
        rest.remove_prefix(std::min(rest.find_first_not_of(kBetween), rest.size()));
        if (rest.empty())
            return numbers;
        const std::string_view part = rest.substr(0, rest.find_first_of(kBetween));
        const std::optional<double> value = parseNumber(part);
        if (!value || numbers.size() == kMost)
            refuse("{key} holds \"{value}\"; expected at most {most} numbers with commas between",
                   {{"key", setting.key},
                    {"value", std::string(part.substr(0, 60))},
                    {"most", std::to_string(kMost)}});
        numbers.push_back(*value);
        rest.remove_prefix(part.size());
    }
}

std::vector<int> wholeList(const Setting& setting)
{
    std::vector<int> list;
    for (const double value : numberList(setting)) {
        if (value != std::floor(value) || value < 0.0 || value > 4096.0)
            refuse("{key} holds {value}; expected whole numbers from 0 to 4096",
                   {{"key", setting.key}, {"value", shortNumber(value)}});
        list.push_back(static_cast<int>(value));
    }
    return list;
}

template<std::vector<double> RuleParameters::*Member>
void setList(const Setting& setting, RopeConfig& config)
{
    config.parameters.*Member = setting.value == "null" ? std::vector<double>() : numberList(setting);
}

void setCustomPairs(const Setting& setting, RopeConfig& config)
{
    config.customPairs = wholeList(setting);
    std::sort(config.customPairs.begin(), config.customPairs.end());
    config.customPairs.erase(std::unique(config.customPairs.begin(), config.customPairs.end()),
                             config.customPairs.end());
}

void setMropeSection(const Setting& setting, RopeConfig& config)
{
    config.mropeSection = wholeList(setting);
}

bool truth(const Setting& setting)
{
    checkWord(setting, {"true", "false"});
    return setting.value == "true";
}

template<bool RopeConfig::*Member>
void setTruth(const Setting& setting, RopeConfig& config)
{
    config.*Member = truth(setting);
}

void setMscaleSoftmax(const Setting& setting, RopeConfig& config)
{
    const bool had = std::exchange(config.hasMscaleSoftmax, truth(setting));
    if (had && !config.hasMscaleSoftmax)
        config.softmaxFactor = 1.0; // it was this that made it another
}

void setSpacing(const Setting& setting, RopeConfig& config)
{
    checkWord(setting, {"geometric", "linear", "null"});
    config.parameters.spacing = std::nullopt;
    if (setting.value != "null")
        config.parameters.spacing = setting.value == "linear" ? Spacing::Linear : Spacing::Geometric;
}

void setXPos(const Setting& setting, RopeConfig& config)
{
    if (!truth(setting))
        config.xpos = std::nullopt;
    else if (!config.xpos)
        config.xpos = XPos{};
}

template<double XPos::*Member>
void setXPosNumber(const Setting& setting, RopeConfig& config)
{
    if (!config.xpos)
        config.xpos = XPos{};
    (*config.xpos).*Member = number(setting);
}

template<std::optional<std::int64_t> RopeConfig::*Member>
void setLength(const Setting& setting, RopeConfig& config)
{
    if (setting.value == "null")
        config.*Member = std::nullopt;
    else
        config.*Member = whole(setting, 1, std::int64_t{1} << 40);
}

template<std::optional<double> RuleParameters::*Member>
void setParameter(const Setting& setting, RopeConfig& config)
{
    if (setting.value == "null")
        config.parameters.*Member = std::nullopt;
    else
        config.parameters.*Member = number(setting);
}

void setTruncate(const Setting& setting, RopeConfig& config)
{
    if (setting.value == "null") {
        config.parameters.truncate = std::nullopt;
        return;
    }
    checkWord(setting, {"true", "false"});
    config.parameters.truncate = setting.value == "true";
}

void setTemperature(const Setting& setting, RopeConfig& config)
{
    std::vector<std::string> words;
    for (const TemperatureInfo& rule : temperatureRules())
        words.emplace_back(rule.word);
    checkWord(setting, words);
    config.temperature.rule = findTemperatureRule(setting.value)->rule;
}

template<bool Temperature::*Member>
void setTemperatureTruth(const Setting& setting, RopeConfig& config)
{
    config.temperature.*Member = truth(setting);
}

void setTemperatureCoefficient(const Setting& setting, RopeConfig& config)
{
    config.temperature.coefficient =
        setting.value == "null" ? std::nullopt : std::optional(number(setting, 0.0, 100.0));
}

void setTemperatureLength(const Setting& setting, RopeConfig& config)
{
    config.temperature.referenceLength =
        setting.value == "null" ? std::nullopt : std::optional(whole(setting, 1, std::int64_t{1} << 40));
}

void setContent(const Setting& setting, FigureOptions& options)
{
    std::vector<std::string> words;
    for (const Content content : contents())
        words.emplace_back(word(content));
    checkWord(setting, words);
    options.content = *findContent(setting.value);
}

/// A path to queries and keys; what is read from it is the content, unless `content` says otherwise.
template<std::string TensorChoice::*Member>
void setTensorPath(const Setting& setting, FigureOptions& options)
{
    if (setting.value.empty())
        refuse(Member == &TensorChoice::file ? "{key} is empty; expected a file, or builtin:NAME"
                                             : "{key} is empty; expected a file",
               {{"key", setting.key}});
    options.tensorChoice.*Member = setting.value;
    // One file or two: the one asked for last takes the place of the other kind.
    if (Member == &TensorChoice::file)
        options.tensorChoice.queryFile.clear(), options.tensorChoice.keyFile.clear();
    else
        options.tensorChoice.file.clear();
    options.content = Content::File;
}

template<std::string TensorChoice::*Member>
void setTensorName(const Setting& setting, FigureOptions& options)
{
    options.tensorChoice.*Member = setting.value;
}

template<std::int64_t TensorChoice::*Member>
void setTensorIndex(const Setting& setting, FigureOptions& options)
{
    options.tensorChoice.*Member = whole(setting, 0, 1 << 20);
}

void setSeed(const Setting& setting, FigureOptions& options)
{
    options.seed = static_cast<std::uint64_t>(whole(setting, 0, kLargestSeed));
}

void setRho(const Setting& setting, FigureOptions& options)
{
    options.rho = number(setting, -1.0, 1.0);
}

void setPair(const Setting& setting, FigureOptions& options)
{
    options.pair = static_cast<int>(whole(setting, 0, 1 << 20));
}

void setM(const Setting& setting, FigureOptions& options)
{
    options.m = whole(setting, 0, kLargestPosition);
}

void setN(const Setting& setting, FigureOptions& options)
{
    options.n = whole(setting, 0, kLargestPosition);
}

void setMaxDistance(const Setting& setting, FigureOptions& options)
{
    options.maxDistance = whole(setting, 1, kLongestDistance);
}

/// One key of `--set`. A key without a function is known and not built.
struct KeyInfo
{
    std::string_view key;
    /// head_dim is set before the rule, the rule before the widths that depend on both, whatever the order of
    /// the settings.
    int phase = 4;
    void (*ofConfig)(const Setting&, RopeConfig&) = nullptr;
    void (*ofFigure)(const Setting&, FigureOptions&) = nullptr;
};

constexpr int kPhases = 5;
constexpr std::array kKeys{
    KeyInfo{"head_dim", 0, setHeadDim},
    KeyInfo{"rule", 1, setRule},
    KeyInfo{"channels", 2, setChannels},
    KeyInfo{"rotary_dim", 3, setRotaryDim},
    KeyInfo{"partial_rotary_factor", 3, setShare},
    KeyInfo{"custom_pairs", 4, setCustomPairs},
    KeyInfo{"base", 4, setBase},
    KeyInfo{"rope_theta", 4, setBase},
    KeyInfo{"layout", 4, setLayout},
    KeyInfo{"factor", 4, setParameter<&RuleParameters::factor>},
    KeyInfo{"max_position_embeddings", 4, setLength<&RopeConfig::maxPositionEmbeddings>},
    KeyInfo{"original_max_position_embeddings", 4, setLength<&RopeConfig::originalMaxPositionEmbeddings>},
    KeyInfo{"length", 4, setLength<&RopeConfig::length>},
    KeyInfo{"beta_fast", 4, setParameter<&RuleParameters::betaFast>},
    KeyInfo{"beta_slow", 4, setParameter<&RuleParameters::betaSlow>},
    KeyInfo{"truncate", 4, setTruncate},
    KeyInfo{"attention_factor", 4, setParameter<&RuleParameters::attentionFactor>},
    KeyInfo{"mscale", 4, setParameter<&RuleParameters::mscale>},
    KeyInfo{"mscale_all_dim", 4, setParameter<&RuleParameters::mscaleAllDim>},
    KeyInfo{"low_freq_factor", 4, setParameter<&RuleParameters::lowFreqFactor>},
    KeyInfo{"high_freq_factor", 4, setParameter<&RuleParameters::highFreqFactor>},
    KeyInfo{"short_factor", 4, setList<&RuleParameters::shortFactor>},
    KeyInfo{"long_factor", 4, setList<&RuleParameters::longFactor>},
    KeyInfo{"short_mscale", 4, setParameter<&RuleParameters::shortMscale>},
    KeyInfo{"long_mscale", 4, setParameter<&RuleParameters::longMscale>},
    KeyInfo{"short_wavelength", 4, setParameter<&RuleParameters::shortWavelength>},
    KeyInfo{"cycles", 4, setParameter<&RuleParameters::cycles>},
    KeyInfo{"spacing", 4, setSpacing},
    KeyInfo{"inv_freq", 4, setList<&RuleParameters::invFreq>},
    KeyInfo{"xpos", 4, setXPos},
    KeyInfo{"xpos_gamma", 4, setXPosNumber<&XPos::gamma>},
    KeyInfo{"xpos_scale_base", 4, setXPosNumber<&XPos::scaleBase>},
    KeyInfo{"temperature", 4, setTemperature},
    KeyInfo{"temperature_coefficient", 4, setTemperatureCoefficient},
    KeyInfo{"temperature_length", 4, setTemperatureLength},
    KeyInfo{"temperature_per_query", 4, setTemperatureTruth<&Temperature::isPerQuery>},
    KeyInfo{"temperature_floor", 4, setTemperatureTruth<&Temperature::hasFloor>},
    KeyInfo{"mrope_section", 4, setMropeSection},
    KeyInfo{"mrope_interleaved", 4, setTruth<&RopeConfig::isMropeInterleaved>},
    KeyInfo{"softmax_mscale", 4, setMscaleSoftmax},
    KeyInfo{"tensors", 3, nullptr, setTensorPath<&TensorChoice::file>},
    KeyInfo{"q", 3, nullptr, setTensorPath<&TensorChoice::queryFile>},
    KeyInfo{"k", 3, nullptr, setTensorPath<&TensorChoice::keyFile>},
    KeyInfo{"q_tensor", 4, nullptr, setTensorName<&TensorChoice::queryTensor>},
    KeyInfo{"k_tensor", 4, nullptr, setTensorName<&TensorChoice::keyTensor>},
    KeyInfo{"head", 4, nullptr, setTensorIndex<&TensorChoice::head>},
    KeyInfo{"batch", 4, nullptr, setTensorIndex<&TensorChoice::batch>},
    KeyInfo{"content", 4, nullptr, setContent},
    KeyInfo{"rho", 4, nullptr, setRho},
    KeyInfo{"pair", 4, nullptr, setPair},
    KeyInfo{"m", 4, nullptr, setM},
    KeyInfo{"n", 4, nullptr, setN},
    KeyInfo{"max_distance", 4, nullptr, setMaxDistance},
    KeyInfo{"seed", 4, nullptr, setSeed},
};

/// A row of the table of figure settings.
void setFigureSetting(const Setting& setting, FigureOptions& options)
{
    if (const auto done = options.settings.set(setting.key, setting.value); !done)
        throw Refusal{done.error().message};
}

const KeyInfo& findKey(const Setting& setting)
{
    static constexpr KeyInfo kFigureSetting{"", 4, nullptr, setFigureSetting};
    const auto found =
        std::find_if(kKeys.begin(), kKeys.end(), [&](const KeyInfo& key) { return key.key == setting.key; });
    if (found == kKeys.end() && findFigureSetting(setting.key))
        return kFigureSetting;
    if (found == kKeys.end()) {
        std::vector<std::string> known;
        for (const KeyInfo& key : kKeys)
            if (key.ofConfig || key.ofFigure)
                known.emplace_back(key.key);
        for (const FigureSettingInfo& row : figureSettings())
            known.emplace_back(row.key);
        refuse("unknown key {key}; the nearest known are {nearest}",
               {{"key", setting.key}, {"nearest", nearestWords(setting.key, known)}});
    }
    if (!found->ofConfig && !found->ofFigure)
        refuse("the key {key} is not built yet", {{"key", setting.key}});
    return *found;
}

/// `channels=first` and `last` say nothing about how many; that has to come from elsewhere. The schemes over
/// the whole head say it themselves.
void checkChannels(const std::vector<Setting>& settings, const std::string& letter, const RopeConfig& config)
{
    for (const Setting& setting : settings) {
        if (setting.key != "channels" || !(setting.letter.empty() || setting.letter == letter))
            continue;
        const bool isPart = setting.value == "first" || setting.value == "last";
        if (isPart && (config.rotaryDim == 0 || config.rotaryDim == config.headDim))
            refuse("channels={value} needs rotary_dim or partial_rotary_factor, so that some channels stay",
                   {{"value", setting.value}});
        if (!isPart && setting.value != "all" && setting.value != "none" &&
            channelsWord(config) != setting.value && pairCount(config) != 0)
            refuse("channels={value} is formed over the whole head; expected no rotary_dim or "
                   "partial_rotary_factor "
                   "beside it",
                   {{"value", setting.value}});
    }
}

/// Other spellings, in files, of what a key of `--set` stands for.
struct FileSpelling
{
    std::string_view key, inFile;
};
constexpr std::array kFileSpellings{
    FileSpelling{"base", "rope_theta"},
    FileSpelling{"base", "rotary_emb_base"},
    FileSpelling{"base", "rope_local_base_freq"},
    FileSpelling{"base", "global_rope_theta"},
    FileSpelling{"base", "local_rope_theta"},
    FileSpelling{"base", "compress_rope_theta"},
    FileSpelling{"base", "swa_rope_theta"},
    FileSpelling{"base", "rope_embedding_base"},
    FileSpelling{"base", "theta"},
    FileSpelling{"base", "rope_ratio"},
    FileSpelling{"base", "freq_base"},
    FileSpelling{"base", "freq_base_swa"},
    FileSpelling{"head_dim", "qk_head_dim"},
    FileSpelling{"head_dim", "global_head_dim"},
    FileSpelling{"head_dim", "swa_head_dim"},
    FileSpelling{"head_dim", "kv_channels"},
    FileSpelling{"head_dim", "key_length"},
    FileSpelling{"head_dim", "hidden_size"},
    FileSpelling{"head_dim", "num_attention_heads"},
    FileSpelling{"head_dim", "n_embd"},
    FileSpelling{"head_dim", "n_head"},
    FileSpelling{"head_dim", "dim"},
    FileSpelling{"head_dim", "n_heads"},
    FileSpelling{"rotary_dim", "partial_rotary_factor"},
    FileSpelling{"rotary_dim", "rotary_pct"},
    FileSpelling{"rotary_dim", "rope_pct"},
    FileSpelling{"rotary_dim", "rope_percent"},
    FileSpelling{"rotary_dim", "rotary_emb_fraction"},
    FileSpelling{"rotary_dim", "rotary share"},
    FileSpelling{"rotary_dim", "qk_rope_head_dim"},
    FileSpelling{"rotary_dim", "dimension_count"},
    FileSpelling{"rule", "rope_type"},
    FileSpelling{"rule", "type"},
    FileSpelling{"rule", "use_dynamic_ntk"},
    FileSpelling{"rule", "use_scaled_rope"},
    FileSpelling{"layout", "rope_interleave"},
    FileSpelling{"layout", "rotary_emb_interleaved"},
    FileSpelling{"layout", "use_hf_rope"},
    FileSpelling{"max_position_embeddings", "n_positions"},
    FileSpelling{"max_position_embeddings", "max_sequence_length"},
    FileSpelling{"max_position_embeddings", "model_max_length"},
    FileSpelling{"max_position_embeddings", "context_length"},
    FileSpelling{"original_max_position_embeddings", "original_context_length"},
    FileSpelling{"temperature", "use_logn_attn"},
    FileSpelling{"temperature", "attn_temperature_tuning"},
    FileSpelling{"temperature_coefficient", "llama_4_scaling_beta"},
    FileSpelling{"temperature_coefficient", "attn_scale"},
    FileSpelling{"temperature_length", "floor_scale"},
};

/// The one of several keys of `--set` for the same thing under which files' spellings are listed.
std::string_view mainKey(std::string_view key)
{
    return key == "rope_theta" ? "base" : key == "partial_rotary_factor" ? "rotary_dim" : key;
}

/// Whether a note of a reader is about what `key` sets: by the last part of its field.
bool isAbout(const Issue& note, std::string_view key)
{
    std::string_view field = note.field;
    field = field.substr(field.rfind('.') + 1); // npos + 1 is 0
    return field == key || field == mainKey(key) ||
           std::any_of(kFileSpellings.begin(), kFileSpellings.end(), [&](const FileSpelling& spelling) {
               return spelling.key == mainKey(key) && spelling.inFile == field;
           });
}

const RuleParameterInfo* parameterOf(const FrequencyRuleInfo& rule, std::string_view key)
{
    const auto found = std::find_if(rule.parameters.begin(), rule.parameters.end(),
                                    [&](const RuleParameterInfo& parameter) { return parameter.key == key; });
    return found == rule.parameters.end() ? nullptr : &*found;
}

/// Whether a key says something that nothing of this configuration reads, and `why`.
bool hasNoEffect(std::string_view key, const RopeConfig& config, Message& why, const std::string& value)
{
    const FrequencyRuleInfo& rule = info(config.rule);
    const bool isOfRules =
        key != "partial_rotary_factor" && // elsewhere another way to say rotary_dim
        std::any_of(frequencyRules().begin(), frequencyRules().end(),
                    [&](const FrequencyRuleInfo& row) { return parameterOf(row, key) != nullptr; });
    if (isOfRules && !parameterOf(rule, key)) {
        why = {"{value} is set and has no effect with the rule {rule}",
               {{"value", value}, {"rule", std::string(rule.word)}}};
        return true;
    }
    if (key == "original_max_position_embeddings" && config.rule == FrequencyRule::Dynamic) {
        why = {"{value} is set and has no effect with the rule {rule}, which measures against "
               "max_position_embeddings",
               {{"value", value}, {"rule", std::string(rule.word)}}};
        return true;
    }
    if (key == "custom_pairs" && config.channels != ChannelScheme::Custom) {
        why = {"{value} is set and has no effect with channels={channels}; expected channels=custom",
               {{"value", value}, {"channels", std::string(channelsWord(config))}}};
        return true;
    }
    if (key.starts_with("temperature_") && config.temperature.rule == TemperatureRule::None) {
        why = {"{value} is set and has no effect without a temperature", {{"value", value}}};
        return true;
    }
    return false;
}

std::string shortened(const std::string& value)
{
    constexpr std::size_t kMost = 40;
    return value.size() <= kMost ? value : value.substr(0, kMost) + "…";
}

/// What a reader noted and `--set` overrode is no longer so, and what was set in vain is said, as of a file.
void updateNotes(const std::vector<Setting>& settings, const std::string& letter, RopeConfig& config)
{
    for (const Setting& setting : settings) {
        if (!findKey(setting).ofConfig || !(setting.letter.empty() || setting.letter == letter))
            continue;
        const std::string value = shortened(setting.value);
        const bool isRule = setting.key == "rule";
        const auto isOverridden = [&](const Issue& note) {
            if (isAbout(note, setting.key))
                return true;
            // With another rule, the parameters that it does not have say nothing any more.
            const std::string_view field = std::string_view(note.field).substr(note.field.rfind('.') + 1);
            return isRule && !parameterOf(info(config.rule), field) &&
                   std::any_of(frequencyRules().begin(), frequencyRules().end(),
                               [&](const FrequencyRuleInfo& row) { return parameterOf(row, field); });
        };
        const std::size_t before = config.notes.size();
        std::erase_if(config.notes, isOverridden);
        Message why;
        if (setting.value != "null" && hasNoEffect(setting.key, config, why, value))
            config.notes.push_back({Severity::Warning, setting.key, std::move(why)});
        else if (config.notes.size() != before)
            config.notes.push_back({Severity::Read,
                                    setting.key,
                                    {"{value}, set in place of what was read", {{"value", value}}}});
    }
}

std::size_t editDistance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
            diagonal = above;
        }
    }
    return row[b.size()];
}

std::string numberText(double value)
{
    std::string text;
    appendDouble(text, value);
    return text;
}

} // namespace

Result<Setting> parseSetting(std::string_view text)
{
    const std::size_t equals = text.find('=');
    const auto fail = [&]() -> Error {
        return {
            ErrorCode::Usage,
            {"\"{text}\" is not a setting; expected key=value or A.key=value", {{"text", std::string(text)}}},
            {}};
    };
    if (equals == std::string_view::npos || equals == 0)
        return fail();
    Setting setting;
    setting.value = text.substr(equals + 1);
    std::string_view key = text.substr(0, equals);
    if (const std::size_t dot = key.find('.'); dot != std::string_view::npos) {
        setting.letter = key.substr(0, dot);
        key.remove_prefix(dot + 1);
        if (setting.letter.size() != 1 || setting.letter[0] < 'A' || setting.letter[0] > 'D')
            return fail();
    }
    setting.key = key;
    if (setting.key.empty())
        return fail();
    return setting;
}

bool isListKey(std::string_view key)
{
    constexpr std::array<std::string_view, 3> kLists{"short_factor", "long_factor", "inv_freq"};
    return std::find(kLists.begin(), kLists.end(), key) != kLists.end();
}

Result<void> applySettings(const std::vector<Setting>& settings,
                           std::vector<FigureConfiguration>& configurations, FigureOptions& options)
{
    try {
        std::vector<FigureConfiguration> changed = configurations;
        FigureOptions changedOptions = options;
        for (const Setting& setting : settings) {
            const KeyInfo& key = findKey(setting);
            if (setting.letter.empty())
                continue;
            if (key.ofFigure)
                refuse("{key} belongs to the whole figure; expected {key}=… without a letter",
                       {{"key", setting.key}});
            if (std::none_of(changed.begin(), changed.end(), [&](const FigureConfiguration& shown) {
                    return shown.letter == setting.letter;
                }))
                refuse("there is no configuration {letter} for {letter}.{key}",
                       {{"letter", setting.letter}, {"key", setting.key}});
        }
        for (int phase = 0; phase < kPhases; ++phase)
            for (const Setting& setting : settings) {
                const KeyInfo& key = findKey(setting);
                if (key.phase != phase)
                    continue;
                if (key.ofFigure)
                    key.ofFigure(setting, changedOptions);
                else
                    for (FigureConfiguration& shown : changed)
                        if (setting.letter.empty() || setting.letter == shown.letter)
                            key.ofConfig(setting, shown.config);
            }
        for (FigureConfiguration& shown : changed) {
            checkChannels(settings, shown.letter, shown.config);
            followMscale(shown.config);
        }
        configurations = std::move(changed);
        options = changedOptions;
        return {};
    } catch (const Refusal& refusal) {
        return Error{ErrorCode::Usage, refusal.message, "--set"};
    }
}

void noteSettings(const std::vector<Setting>& settings, std::vector<FigureConfiguration>& configurations)
{
    for (FigureConfiguration& shown : configurations)
        updateNotes(settings, shown.letter, shown.config);
}

std::vector<Issue> settingsOfOtherFigures(const std::vector<Setting>& settings, std::string_view figure)
{
    std::vector<Issue> notes;
    for (const Setting& setting : settings) {
        const FigureSettingInfo* info = findFigureSetting(setting.key);
        if (!info || info->isOf(figure))
            continue;
        std::string figures(info->figures);
        for (std::size_t at = figures.find(' '); at != std::string::npos; at = figures.find(' ', at + 2))
            figures.insert(at, ",");
        notes.push_back({Severity::Warning,
                         setting.key,
                         {"{value} is set and has no effect on {figure}; {key} is a setting of {figures}",
                          {{"value", shortened(setting.value)},
                           {"figure", std::string(figure)},
                           {"key", setting.key},
                           {"figures", figures}}}});
    }
    return notes;
}

void followOriginal(const RopeConfig& original, RopeConfig& config)
{
    followMscale(config);
    const std::vector<ConfigKeyValue> before = configKeys(original), now = configKeys(config);
    const auto textOf = [](const std::vector<ConfigKeyValue>& keys, std::string_view key) {
        const auto found = std::find_if(keys.begin(), keys.end(),
                                        [&](const ConfigKeyValue& each) { return each.key == key; });
        return found == keys.end() ? std::string("null") : found->text;
    };
    std::vector<Setting> settings;
    for (const ConfigKeyValue& each : now)
        if (textOf(before, each.key) != each.text)
            settings.push_back({"", std::string(each.key), each.text});
    for (const ConfigKeyValue& each : before)
        if (textOf(now, each.key) == "null")
            settings.push_back({"", std::string(each.key), "null"});
    config.notes = original.notes;
    updateNotes(settings, {}, config);
}

RopeConfig withRule(RopeConfig config, FrequencyRule rule)
{
    if (rule == config.rule)
        return config;
    config.rule = rule;
    const bool turnsAll = config.channels == ChannelScheme::First && config.rotaryDim == config.headDim;
    if (rule == FrequencyRule::RopeId && turnsAll)
        config.channels = ChannelScheme::Quarters13;
    if (rule == FrequencyRule::Proportional) {
        config.channels = ChannelScheme::First;
        config.rotaryDim = config.headDim;
    }
    return config;
}

RopeConfig withHeadDim(RopeConfig config, int headDim)
{
    if (config.rotaryDim == config.headDim || config.headDim <= 0)
        config.rotaryDim = headDim;
    else // whole numbers, so that a share such as 1/3 loses nothing on the way
        // and even, as pairs are: it is a new width that is chosen here, not one that somebody stated.
        config.rotaryDim =
            static_cast<int>(static_cast<std::int64_t>(config.rotaryDim) * headDim / config.headDim) / 2 * 2;
    config.headDim = headDim;
    return config;
}

std::string nearestWords(std::string_view wanted, const std::vector<std::string>& known)
{
    std::vector<std::pair<std::size_t, const std::string*>> ranked;
    for (const std::string& candidate : known) {
        std::size_t distance = 2 * editDistance(wanted, candidate);
        // A beginning or a part is nearer than its length says: "max_pos", "theta".
        if (!wanted.empty() && (candidate.starts_with(wanted) || wanted.starts_with(candidate)))
            distance = std::min<std::size_t>(distance, 1);
        else if (wanted.size() > 2 && candidate.find(wanted) != std::string::npos)
            distance = std::min<std::size_t>(distance, 3);
        ranked.emplace_back(distance, &candidate);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string text;
    for (std::size_t i = 0; i < ranked.size() && i < 3; ++i)
        text += (i == 0 ? "" : ", ") + *ranked[i].second;
    return text;
}

std::vector<ConfigKeyValue> configKeys(const RopeConfig& config)
{
    std::vector<ConfigKeyValue> keys{
        {"head_dim", std::to_string(config.headDim), false},
        {"rotary_dim", std::to_string(config.rotaryDim), false},
        {"layout", std::string(word(config.layout)), true},
        {"base", numberText(config.base), false},
        {"rule", std::string(info(config.rule).word), true},
    };
    // What the widths say already is not said twice, so that a plain configuration stays a short one.
    if (config.channels != ChannelScheme::First)
        keys.push_back({"channels", std::string(word(config.channels)), true});
    else if (config.rule == FrequencyRule::RopeId && config.rotaryDim == config.headDim)
        keys.push_back({"channels", "all", true}); // not the half that the rule takes by itself
    const RuleParameters& p = config.parameters;
    const auto addNumber = [&](std::string_view key, const std::optional<double>& value) {
        if (value && std::isfinite(*value))
            keys.push_back({key, numberText(*value), false});
    };
    const auto addList = [&](std::string_view key, const auto& list) {
        std::string text;
        for (const auto value : list)
            text += (text.empty() ? "" : ",") + numberText(static_cast<double>(value));
        if (!list.empty())
            keys.push_back({key, std::move(text), true});
    };
    const auto addTruth = [&](std::string_view key, bool value) {
        keys.push_back({key, value ? "true" : "false", false});
    };
    addList("custom_pairs", config.customPairs);
    const auto addLength = [&](std::string_view key, const std::optional<std::int64_t>& value) {
        if (value)
            keys.push_back({key, std::to_string(*value), false});
    };
    addNumber("factor", p.factor);
    addNumber("beta_fast", p.betaFast);
    addNumber("beta_slow", p.betaSlow);
    if (p.truncate)
        addTruth("truncate", *p.truncate);
    addNumber("attention_factor", p.attentionFactor);
    addNumber("mscale", p.mscale);
    addNumber("mscale_all_dim", p.mscaleAllDim);
    addNumber("low_freq_factor", p.lowFreqFactor);
    addNumber("high_freq_factor", p.highFreqFactor);
    addList("short_factor", p.shortFactor);
    addList("long_factor", p.longFactor);
    addNumber("short_mscale", p.shortMscale);
    addNumber("long_mscale", p.longMscale);
    addNumber("short_wavelength", p.shortWavelength);
    addNumber("cycles", p.cycles);
    if (p.spacing)
        keys.push_back({"spacing", std::string(word(*p.spacing)), true});
    if (config.rule == FrequencyRule::Proportional) // elsewhere the key is another way to say rotary_dim
        addNumber("partial_rotary_factor", p.partialRotaryFactor);
    addList("inv_freq", p.invFreq);
    addLength("max_position_embeddings", config.maxPositionEmbeddings);
    addLength("original_max_position_embeddings", config.originalMaxPositionEmbeddings);
    addLength("length", config.length);
    if (config.xpos) {
        addTruth("xpos", true);
        addNumber("xpos_gamma", config.xpos->gamma);
        addNumber("xpos_scale_base", config.xpos->scaleBase);
    }
    const Temperature& temperature = config.temperature;
    if (temperature != Temperature{}) {
        keys.push_back({"temperature", std::string(info(temperature.rule).word), true});
        addNumber("temperature_coefficient", temperature.coefficient);
        addLength("temperature_length", temperature.referenceLength);
        addTruth("temperature_per_query", temperature.isPerQuery);
        addTruth("temperature_floor", temperature.hasFloor);
    }
    addList("mrope_section", config.mropeSection);
    if (config.isMropeInterleaved)
        addTruth("mrope_interleaved", true);
    if (config.hasMscaleSoftmax)
        addTruth("softmax_mscale", true);
    return keys;
}

} // namespace ropewalk
