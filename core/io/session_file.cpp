// SPDX-License-Identifier: GPL-3.0-or-later
#include "session_file.h"

#include "../figure_catalog.h"
#include "../json_writer.h"
#include "../validate.h"
#include "config_json.h"
#include "json_input.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace ropewalk {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLargestSession = std::size_t{8} << 20;
constexpr std::size_t kLongestText = 2000;
constexpr std::size_t kLongestName = 60; ///< of what a sentence repeats
constexpr std::size_t kMostNotes = 1000;
constexpr int kMostColours = 8;
constexpr std::string_view kSchema = "ropewalk.session/";

/// A refusal on its way to sessionFromJson; it never leaves this file.
struct Refusal
{
    Message message;
};

[[noreturn]] void refuse(std::string text, std::vector<std::pair<std::string, std::string>> values = {})
{
    throw Refusal{{std::move(text), std::move(values)}};
}

constexpr std::array<Severity, 6> kSeverities{Severity::Read,    Severity::Assumed, Severity::Conflict,
                                              Severity::Warning, Severity::Error,   Severity::Unknown};

void writeIssues(JsonWriter& json, const std::vector<Issue>& issues)
{
    json.beginArray();
    for (const Issue& issue : issues) {
        json.beginObject(JsonWriter::Style::Inline);
        json.member("severity", word(issue.severity));
        json.member("field", issue.field);
        // The template and its values, so that the remark can still be translated when the session is opened.
        json.member("text", issue.text.text);
        json.key("values");
        json.beginArray();
        for (const auto& [name, value] : issue.text.values) {
            json.beginArray();
            json.value(name);
            json.value(value);
            json.endArray();
        }
        json.endArray();
        json.endObject();
    }
    json.endArray();
}

void writeConfig(JsonWriter& json, const RopeConfig& config)
{
    json.beginObject();
    json.member("name", config.name);
    json.member("layer_type", config.layerType);
    json.member("softmax_factor", config.softmaxFactor);
    json.key("keys");
    writeConfigJson(json, config);
    json.key("notes");
    writeIssues(json, config.notes);
    json.endObject();
}

/// One object of the file: values by key, with their place for a sentence; keys that nobody asked for are
/// known after.
class Object
{
public:
    Object(const Json& json, std::string place)
        : m_json(json)
        , m_place(std::move(place))
    {
        if (!json.is_object())
            refuse(
                "{place} is {kind}; expected an object",
                {{"place", m_place.empty() ? "the session" : m_place}, {"kind", jsonKindText(json.dump())}});
    }

    /// The value, or null where the key is absent or null.
    const Json* find(const char* key)
    {
        m_known.push_back(key);
        const auto found = m_json.find(key);
        return found == m_json.end() || found->is_null() ? nullptr : &*found;
    }
    std::string place(std::string_view key) const
    {
        return m_place.empty() ? std::string(key) : m_place + "." + std::string(key);
    }
    std::string text(const char* key, std::string fallback)
    {
        const Json* value = find(key);
        if (!value)
            return fallback;
        if (!value->is_string() || value->get_ref<const std::string&>().size() > kLongestText)
            expected(key, *value, "a text of at most " + std::to_string(kLongestText) + " bytes");
        return value->get<std::string>();
    }
    bool truth(const char* key, bool fallback)
    {
        const Json* value = find(key);
        if (!value)
            return fallback;
        if (!value->is_boolean())
            expected(key, *value, "true or false");
        return value->get<bool>();
    }
    double number(const char* key, double fallback, double least, double most)
    {
        const Json* value = find(key);
        if (!value)
            return fallback;
        if (!value->is_number() || !(value->get<double>() >= least && value->get<double>() <= most))
            expected(key, *value, "a number from " + shortNumber(least) + " to " + shortNumber(most));
        return value->get<double>();
    }
    std::int64_t whole(const char* key, std::int64_t fallback, std::int64_t least, std::int64_t most)
    {
        const Json* value = find(key);
        if (!value)
            return fallback;
        const double found = value->is_number() ? value->get<double>() : std::nan("");
        if (!(found >= static_cast<double>(least) && found <= static_cast<double>(most)) ||
            found != std::floor(found))
            expected(key, *value,
                     "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
        return static_cast<std::int64_t>(found);
    }
    [[noreturn]] void expected(std::string_view key, const Json& value, const std::string& what) const
    {
        refuse("{key} is {value}; expected {expected}",
               {{"key", place(key)}, {"value", jsonValueText(value.dump())}, {"expected", what}});
    }
    std::vector<std::string> unknownKeys() const
    {
        std::vector<std::string> unknown;
        for (const auto& [key, value] : m_json.items())
            if (std::find(m_known.begin(), m_known.end(), key) == m_known.end())
                unknown.push_back(key);
        return unknown;
    }

private:
    const Json& m_json;
    std::string m_place;
    std::vector<std::string> m_known;
};

class Reader
{
public:
    SessionReading read(const Json& root)
    {
        Object top(root, "");
        checkSchema(top);
        Session& session = m_reading.session;
        readConfigurations(top);
        const auto last = static_cast<std::int64_t>(session.configurations.size()) - 1;
        session.selected = static_cast<int>(top.whole("selected", 0, 0, last));
        session.figure = top.text("figure", session.figure);
        if (session.figure != "overview" && !findFigure(session.figure)) {
            warn("figure", {"{figure} is no figure of this version; the overview is shown instead",
                            {{"figure", session.figure}}});
            session.figure = "overview";
        }
        if (const Json* cards = top.find("cards"))
            readCards(*cards, session.cards);
        session.cardCount = static_cast<int>(top.whole("card_count", session.cardCount, 2, kCards));
        session.isDistanceLocked = top.truth("is_distance_locked", session.isDistanceLocked);
        if (const Json* options = top.find("options"))
            readOptions(*options, session.options);
        Json unknown = Json::object();
        for (const std::string& key : top.unknownKeys()) {
            warn(key, {"{key} is not known to this version; it is kept", {{"key", key}}});
            unknown[key] = root.at(key);
        }
        if (!unknown.empty())
            m_reading.unknownKeys = unknown.dump(-1, ' ', false, Json::error_handler_t::replace);
        return std::move(m_reading);
    }

private:
    void warn(std::string field, Message text)
    {
        m_reading.notes.push_back({Severity::Warning, std::move(field), std::move(text)});
    }

    void warnAboutUnknown(const Object& object)
    {
        for (const std::string& key : object.unknownKeys())
            warn(object.place(key),
                 {"{key} is not known to this version and is left out", {{"key", object.place(key)}}});
    }

    static void checkSchema(Object& top)
    {
        const std::string schema = top.text("schema", "");
        int format = 0;
        const char* const end = schema.data() + schema.size();
        if (!schema.starts_with(kSchema) ||
            std::from_chars(schema.data() + kSchema.size(), end, format).ptr != end || format < 1)
            refuse("schema is \"{schema}\"; expected \"ropewalk.session/{format}\"",
                   {{"schema", schema.substr(0, 60)}, {"format", std::to_string(kSessionFormat)}});
        if (format > kSessionFormat)
            refuse(
                "this session has format {format}, and this version of Ropewalk reads up to {known}; a newer "
                "Ropewalk is needed to open it",
                {{"format", std::to_string(format)}, {"known", std::to_string(kSessionFormat)}});
    }

    void readConfigurations(Object& top)
    {
        const Json* list = top.find("configurations");
        if (!list || !list->is_array() || list->empty() || list->size() > kMostConfigurations)
            refuse("configurations has to be a list of one to {most} configurations",
                   {{"most", std::to_string(kMostConfigurations)}});
        for (std::size_t i = 0; i < list->size(); ++i) {
            const std::string place = "configurations[" + std::to_string(i) + "]";
            Object object((*list)[i], place);
            SessionConfiguration shown;
            shown.letter = object.text("letter", std::string(1, static_cast<char>('A' + i)));
            if (shown.letter.size() != 1 || shown.letter[0] < 'A' || shown.letter[0] > 'D')
                refuse("{place} is \"{letter}\"; expected A, B, C or D",
                       {{"place", object.place("letter")}, {"letter", shown.letter.substr(0, 60)}});
            for (const SessionConfiguration& other : m_reading.session.configurations)
                if (other.letter == shown.letter)
                    refuse("{place} is {letter} a second time; expected a letter of its own",
                           {{"place", object.place("letter")}, {"letter", shown.letter}});
            shown.colour = static_cast<int>(object.whole("colour", static_cast<int>(i), 0, kMostColours - 1));
            shown.isHidden = object.truth("is_hidden", false);
            const Json* config = object.find("config");
            if (!config)
                refuse("{place} is missing; expected an object", {{"place", object.place("config")}});
            shown.config = readConfig(*config, object.place("config"));
            if (const Json* original = object.find("original"))
                shown.original = readConfig(*original, object.place("original"));
            // A double-click brings it back: what is impossible is no place to go back to.
            if (shown.original && hasError(validate(*shown.original))) {
                warn(object.place("original"), {"an impossible configuration to go back to; left out", {}});
                shown.original.reset();
            }
            warnAboutUnknown(object);
            m_reading.session.configurations.push_back(std::move(shown));
        }
    }

    RopeConfig readConfig(const Json& json, const std::string& place)
    {
        Object object(json, place);
        const Json* keys = object.find("keys");
        if (!keys)
            refuse("{place} is missing; expected an object with keys such as head_dim and base",
                   {{"place", object.place("keys")}});
        Result<RopeConfig> read = configFromJson(keys->dump());
        if (!read)
            refuse("{place}: {reason}",
                   {{"place", object.place("keys")}, {"reason", toEnglish(read.error().message)}});
        RopeConfig config = std::move(*read);
        config.name = object.text("name", "");
        if (object.find("layer_type"))
            config.layerType = object.text("layer_type", "");
        config.softmaxFactor = object.number("softmax_factor", 1.0, 1e-9, 1e9);
        if (const Json* notes = object.find("notes"))
            config.notes = readIssues(*notes, object.place("notes"));
        warnAboutUnknown(object);
        return config;
    }

    std::vector<Issue> readIssues(const Json& list, const std::string& place)
    {
        if (!list.is_array() || list.size() > kMostNotes)
            refuse("{place} has to be a list of at most {most} remarks",
                   {{"place", place}, {"most", std::to_string(kMostNotes)}});
        std::vector<Issue> issues;
        for (std::size_t i = 0; i < list.size(); ++i) {
            Object object(list[i], place + "[" + std::to_string(i) + "]");
            Issue issue;
            const std::string severity = object.text("severity", "");
            const auto known = std::find_if(kSeverities.begin(), kSeverities.end(),
                                            [&](Severity candidate) { return word(candidate) == severity; });
            issue.severity = known == kSeverities.end() ? Severity::Unknown : *known;
            issue.field = object.text("field", "");
            issue.text.text = object.text("text", "");
            if (const Json* values = object.find("values"))
                readValues(*values, object.place("values"), issue.text);
            issues.push_back(std::move(issue));
        }
        return issues;
    }

    static void readValues(const Json& list, const std::string& place, Message& message)
    {
        constexpr std::size_t kMostValues = 32;
        const auto isShortText = [](const Json& value) {
            return value.is_string() && value.get_ref<const std::string&>().size() <= kLongestText;
        };
        if (!list.is_array() || list.size() > kMostValues)
            refuse("{place} has to be a list of pairs of texts", {{"place", place}});
        for (const Json& entry : list) {
            if (!entry.is_array() || entry.size() != 2 || !isShortText(entry[0]) || !isShortText(entry[1]))
                refuse("{place} has to be a list of pairs of texts", {{"place", place}});
            message.values.emplace_back(entry[0].get<std::string>(), entry[1].get<std::string>());
        }
    }

    /// What stands in the overview. A place whose figure is not known, or stands there already, takes the
    /// first of the usual ones that is free.
    void readCards(const Json& json, std::array<std::string, kCards>& cards)
    {
        if (!json.is_array() || json.size() != kCards ||
            std::any_of(json.begin(), json.end(), [](const Json& id) { return !id.is_string(); }))
            refuse("cards has to be a list of {count} names of figures", {{"count", std::to_string(kCards)}});
        std::array<std::string, kCards> read;
        const auto isFree = [&](const std::string& id) {
            return std::find(read.begin(), read.end(), id) == read.end();
        };
        for (std::size_t i = 0; i < read.size(); ++i) {
            const auto id = json[i].get<std::string>();
            const bool isKnown = findFigure(id) != nullptr;
            if (isKnown && isFree(id))
                read[i] = id;
            else
                warn("cards[" + std::to_string(i) + "]",
                     {isKnown ? "{figure} stands in the overview already; another figure is shown instead"
                              : "{figure} is no figure of this version; another figure is shown instead",
                      {{"figure", id.substr(0, kLongestName)}}});
        }
        const auto usual = firstCards();
        for (std::string& place : read)
            if (place.empty())
                place = *std::find_if(usual.begin(), usual.end(), isFree);
        cards = read;
    }

    /// Settings of figures: texts by key. A key that is not known is warned about like any other.
    void readSettings(const Json& json, FigureSettings& settings)
    {
        Object object(json, "options.settings");
        for (const FigureSettingInfo& row : figureSettings()) {
            const std::string value = object.text(row.key.data(), std::string(row.preset)); // literals
            if (const auto done = settings.set(row.key, value); !done)
                refuse("options.settings: " + done.error().message.text, done.error().message.values);
        }
        warnAboutUnknown(object);
    }

    static TensorChoice readTensorChoice(const Json& json)
    {
        Object object(json, "options.tensors");
        constexpr std::int64_t kLastIndex = 1 << 20;
        TensorChoice choice;
        choice.file = object.text("file", "");
        choice.queryFile = object.text("q", "");
        choice.keyFile = object.text("k", "");
        choice.queryTensor = object.text("q_tensor", "");
        choice.keyTensor = object.text("k_tensor", "");
        choice.head = object.whole("head", 0, 0, kLastIndex);
        choice.batch = object.whole("batch", 0, 0, kLastIndex);
        return choice;
    }

    void readOptions(const Json& json, FigureOptions& options)
    {
        Object object(json, "options");
        constexpr int kLargestPair = 1 << 20;
        options.pair = static_cast<int>(object.whole("pair", options.pair, 0, kLargestPair));
        options.m = object.whole("m", options.m, 0, kLargestPosition);
        options.n = object.whole("n", options.n, 0, kLargestPosition);
        options.maxDistance = object.whole("max_distance", options.maxDistance, 1, kLongestDistance);
        options.rho = object.number("rho", options.rho, -1.0, 1.0);
        const std::string content = object.text("content", std::string(word(options.content)));
        const std::optional<Content> known = findContent(content);
        if (!known)
            refuse("options.content is \"{content}\"; expected ones, gaussian, same, correlation, needle, "
                   "clusters or file",
                   {{"content", content.substr(0, 60)}});
        options.content = *known;
        if (const Json* tensors = object.find("tensors"))
            options.tensorChoice = readTensorChoice(*tensors);
        options.seed = static_cast<std::uint64_t>(
            object.whole("seed", static_cast<std::int64_t>(options.seed), 0, kLargestSeed));
        options.showBound = object.truth("show_bound", options.showBound);
        options.isDistanceLogarithmic =
            object.truth("is_distance_logarithmic", options.isDistanceLogarithmic);
        if (const Json* settings = object.find("settings"))
            readSettings(*settings, options.settings);
        warnAboutUnknown(object);
    }

    SessionReading m_reading;
};

} // namespace

std::array<std::string, kCards> firstCards()
{
    return {"plane", "spectrum", "decay", "pairs"};
}

std::vector<FigureConfiguration> shownConfigurations(const Session& session)
{
    std::vector<FigureConfiguration> shown;
    for (const SessionConfiguration& configuration : session.configurations)
        if (!configuration.isHidden)
            shown.push_back({configuration.config, configuration.letter, configuration.colour});
    return shown;
}

std::string sessionToJson(const Session& session, const std::string& unknownKeys)
{
    JsonWriter json;
    json.beginObject();
    json.member("schema", std::string(kSchema) + std::to_string(kSessionFormat));
    json.member("figure", session.figure);
    json.key("cards");
    json.beginArray();
    for (const std::string& card : session.cards)
        json.value(card);
    json.endArray();
    json.member("card_count", session.cardCount);
    json.member("selected", session.selected);
    json.member("is_distance_locked", session.isDistanceLocked);
    json.key("options");
    json.beginObject();
    const FigureOptions& options = session.options;
    json.member("pair", options.pair);
    json.member("m", options.m);
    json.member("n", options.n);
    json.member("max_distance", options.maxDistance);
    json.member("rho", options.rho);
    json.member("content", word(options.content));
    if (const TensorChoice& choice = options.tensorChoice; choice != TensorChoice{}) {
        json.key("tensors");
        json.beginObject();
        json.member("file", choice.file);
        json.member("q", choice.queryFile);
        json.member("k", choice.keyFile);
        json.member("q_tensor", choice.queryTensor);
        json.member("k_tensor", choice.keyTensor);
        json.member("head", choice.head);
        json.member("batch", choice.batch);
        json.endObject();
    }
    json.member("seed", static_cast<std::int64_t>(options.seed));
    json.member("show_bound", options.showBound);
    json.member("is_distance_logarithmic", options.isDistanceLogarithmic);
    json.key("settings");
    json.beginObject();
    for (const auto& [key, value] : options.settings.stated())
        json.member(key, value);
    json.endObject();
    json.endObject();
    json.key("configurations");
    json.beginArray();
    for (const SessionConfiguration& shown : session.configurations) {
        json.beginObject();
        json.member("letter", shown.letter);
        json.member("colour", shown.colour);
        json.member("is_hidden", shown.isHidden);
        json.key("config");
        writeConfig(json, shown.config);
        json.key("original");
        if (shown.original)
            writeConfig(json, *shown.original);
        else
            json.null();
        json.endObject();
    }
    json.endArray();
    const Json unknown = Json::parse(unknownKeys, nullptr, false);
    if (unknown.is_object())
        for (const auto& [key, value] : unknown.items()) {
            json.key(key);
            json.raw(value.dump(-1, ' ', false, Json::error_handler_t::replace));
        }
    json.endObject();
    return json.take();
}

Result<SessionReading> sessionFromJson(std::string_view text)
{
    try {
        if (const auto repeated = checkJson(text, kLargestSession); !repeated)
            return repeated.error();
        else if (!repeated->empty())
            refuse("the key {key} stands twice in the same object; expected it once",
                   {{"key", repeated->front().substr(0, 60)}});
        return Reader().read(Json::parse(text.begin(), text.end()));
    } catch (const Refusal& refusal) {
        return Error{ErrorCode::BadInput, refusal.message, {}};
    } catch (const std::exception& exception) {
        return Error{ErrorCode::BadInput,
                     {"the session cannot be read: {reason}", {{"reason", exception.what()}}},
                     {}};
    }
}

} // namespace ropewalk
