// SPDX-License-Identifier: GPL-3.0-or-later
#include "config_keys.h"

#include "json_writer.h"

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

/// Chooses among words; what is known and not built is refused by name.
void checkWord(const Setting& setting, const std::vector<std::string>& built,
               const std::vector<std::string>& unbuilt)
{
    if (std::find(built.begin(), built.end(), setting.value) != built.end())
        return;
    if (std::find(unbuilt.begin(), unbuilt.end(), setting.value) != unbuilt.end())
        refuse(
            "{key}={value} is not built yet; {key} can be {built}",
            {{"key", setting.key}, {"value", setting.value}, {"built", nearestWords(setting.value, built)}});
    refuse("unknown value \"{value}\" of {key}; the nearest known are {nearest}",
           {{"key", setting.key}, {"value", setting.value}, {"nearest", nearestWords(setting.value, built)}});
}

void setHeadDim(const Setting& setting, RopeConfig& config)
{
    config = withHeadDim(std::move(config), width(setting));
}

void setRotaryDim(const Setting& setting, RopeConfig& config)
{
    config.rotaryDim = width(setting);
}

void setShare(const Setting& setting, RopeConfig& config)
{
    config.rotaryDim = rotaryDimForShare(config.headDim, number(setting, 0.0, 1.0));
}

void setBase(const Setting& setting, RopeConfig& config)
{
    config.base = number(setting);
}

void setLayout(const Setting& setting, RopeConfig& config)
{
    checkWord(setting, {"interleaved", "half"}, {});
    config.layout = setting.value == "half" ? Layout::Half : Layout::Interleaved;
}

void setChannels(const Setting& setting, RopeConfig& config)
{
    checkWord(setting, {"all", "first", "none"}, {"last", "quarters_1_3", "half_rope"});
    if (setting.value == "all")
        config.rotaryDim = config.headDim;
    else if (setting.value == "none")
        config.rotaryDim = 0;
}

void setRule(const Setting& setting, RopeConfig& config)
{
    std::vector<std::string> built, unbuilt;
    for (const FrequencyRuleInfo& rule : frequencyRules())
        built.emplace_back(rule.word);
    for (const std::string_view rule : knownUnbuiltRules())
        unbuilt.emplace_back(rule);
    if (setting.value == "none") {
        config.rotaryDim = 0;
        config.rule = FrequencyRule::Default;
        return;
    }
    checkWord(setting, built, unbuilt);
    config.rule = findFrequencyRule(setting.value)->rule;
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
    checkWord(setting, {"true", "false"}, {});
    config.parameters.truncate = setting.value == "true";
}

void setTemperature(const Setting& setting, RopeConfig&)
{
    checkWord(setting, {"none"}, {"rope_id", "yarn", "longrope", "log_n", "llama4", "ministral"});
}

void setContent(const Setting& setting, FigureOptions& options)
{
    checkWord(setting, {"ones"}, {"gaussian", "same", "correlation", "needle", "clusters", "file"});
    options.content = Content::Ones;
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
    int phase = 3; ///< head_dim is set before what depends on it, whatever the order of the settings
    void (*ofConfig)(const Setting&, RopeConfig&) = nullptr;
    void (*ofFigure)(const Setting&, FigureOptions&) = nullptr;
};

constexpr int kPhases = 4;
constexpr std::array kKeys{
    KeyInfo{"head_dim", 0, setHeadDim},
    KeyInfo{"channels", 1, setChannels},
    KeyInfo{"rotary_dim", 2, setRotaryDim},
    KeyInfo{"partial_rotary_factor", 2, setShare},
    KeyInfo{"base", 3, setBase},
    KeyInfo{"rope_theta", 3, setBase},
    KeyInfo{"layout", 3, setLayout},
    KeyInfo{"rule", 3, setRule},
    KeyInfo{"factor", 3, setParameter<&RuleParameters::factor>},
    KeyInfo{"max_position_embeddings", 3, setLength<&RopeConfig::maxPositionEmbeddings>},
    KeyInfo{"original_max_position_embeddings", 3, setLength<&RopeConfig::originalMaxPositionEmbeddings>},
    KeyInfo{"length", 3, setLength<&RopeConfig::length>},
    KeyInfo{"beta_fast", 3, setParameter<&RuleParameters::betaFast>},
    KeyInfo{"beta_slow", 3, setParameter<&RuleParameters::betaSlow>},
    KeyInfo{"truncate", 3, setTruncate},
    KeyInfo{"attention_factor", 3, setParameter<&RuleParameters::attentionFactor>},
    KeyInfo{"mscale", 3, setParameter<&RuleParameters::mscale>},
    KeyInfo{"mscale_all_dim", 3, setParameter<&RuleParameters::mscaleAllDim>},
    KeyInfo{"low_freq_factor", 3, setParameter<&RuleParameters::lowFreqFactor>},
    KeyInfo{"high_freq_factor", 3, setParameter<&RuleParameters::highFreqFactor>},
    KeyInfo{"temperature", 3, setTemperature},
    KeyInfo{"content", 3, nullptr, setContent},
    KeyInfo{"rho", 3, nullptr, setRho},
    KeyInfo{"pair", 3, nullptr, setPair},
    KeyInfo{"m", 3, nullptr, setM},
    KeyInfo{"n", 3, nullptr, setN},
    KeyInfo{"max_distance", 3, nullptr, setMaxDistance},
    KeyInfo{"short_factor"},
    KeyInfo{"long_factor"},
    KeyInfo{"short_wavelength"},
    KeyInfo{"cycles"},
    KeyInfo{"spacing"},
    KeyInfo{"seed"},
};

const KeyInfo& findKey(const Setting& setting)
{
    const auto found =
        std::find_if(kKeys.begin(), kKeys.end(), [&](const KeyInfo& key) { return key.key == setting.key; });
    if (found == kKeys.end()) {
        std::vector<std::string> known;
        for (const KeyInfo& key : kKeys)
            if (key.ofConfig || key.ofFigure)
                known.emplace_back(key.key);
        refuse("unknown key {key}; the nearest known are {nearest}",
               {{"key", setting.key}, {"nearest", nearestWords(setting.key, known)}});
    }
    if (!found->ofConfig && !found->ofFigure)
        refuse("the key {key} is not built yet", {{"key", setting.key}});
    return *found;
}

/// `channels=first` says nothing about how many; that has to come from elsewhere.
void checkFirstChannels(const std::vector<Setting>& settings, const std::string& letter,
                        const RopeConfig& config)
{
    for (const Setting& setting : settings)
        if (setting.key == "channels" && setting.value == "first" &&
            (setting.letter.empty() || setting.letter == letter) &&
            (config.rotaryDim == 0 || config.rotaryDim == config.headDim))
            refuse("channels=first needs rotary_dim or partial_rotary_factor, so that some channels stay");
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
        for (const FigureConfiguration& shown : changed)
            checkFirstChannels(settings, shown.letter, shown.config);
        configurations = std::move(changed);
        options = changedOptions;
        return {};
    } catch (const Refusal& refusal) {
        return Error{ErrorCode::Usage, refusal.message, "--set"};
    }
}

RopeConfig withHeadDim(RopeConfig config, int headDim)
{
    if (config.rotaryDim == config.headDim || config.headDim <= 0)
        config.rotaryDim = headDim;
    else // whole numbers, so that a share such as 1/3 loses nothing on the way
        config.rotaryDim =
            static_cast<int>(static_cast<std::int64_t>(config.rotaryDim) * headDim / config.headDim);
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
    const RuleParameters& p = config.parameters;
    const auto addNumber = [&](std::string_view key, const std::optional<double>& value) {
        if (value && std::isfinite(*value))
            keys.push_back({key, numberText(*value), false});
    };
    const auto addLength = [&](std::string_view key, const std::optional<std::int64_t>& value) {
        if (value)
            keys.push_back({key, std::to_string(*value), false});
    };
    addNumber("factor", p.factor);
    addNumber("beta_fast", p.betaFast);
    addNumber("beta_slow", p.betaSlow);
    if (p.truncate)
        keys.push_back({"truncate", *p.truncate ? "true" : "false", false});
    addNumber("attention_factor", p.attentionFactor);
    addNumber("mscale", p.mscale);
    addNumber("mscale_all_dim", p.mscaleAllDim);
    addNumber("low_freq_factor", p.lowFreqFactor);
    addNumber("high_freq_factor", p.highFreqFactor);
    addLength("max_position_embeddings", config.maxPositionEmbeddings);
    addLength("original_max_position_embeddings", config.originalMaxPositionEmbeddings);
    addLength("length", config.length);
    return keys;
}

} // namespace ropewalk
