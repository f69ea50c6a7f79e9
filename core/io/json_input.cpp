// SPDX-License-Identifier: GPL-3.0-or-later
#include "json_input.h"

#include "../json_writer.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace ropewalk {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kMostValues = 1'000'000;
constexpr std::size_t kMostRepeatedKeys = 100;
constexpr std::size_t kLongestShown = 60;

Error bad(std::string text, std::vector<std::pair<std::string, std::string>> values = {})
{
    return {ErrorCode::BadInput, {std::move(text), std::move(values)}, {}};
}

/// Cuts a text for a sentence without cutting a character in two.
std::string shortened(std::string_view text)
{
    std::string result;
    while (!text.empty()) {
        const std::size_t length = utf8SequenceLength(text);
        if (result.size() + length > kLongestShown)
            return result + "…";
        if (length == 0)
            result += "\xEF\xBF\xBD";
        else if (length == 1 && static_cast<unsigned char>(text.front()) < 0x20)
            result += ' ';
        else
            result += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return result;
}

bool startsWithIgnoringCase(std::string_view text, std::string_view start)
{
    return text.size() >= start.size() &&
           std::equal(start.begin(), start.end(), text.begin(), [](char a, char b) {
               return std::tolower(static_cast<unsigned char>(a)) ==
                      std::tolower(static_cast<unsigned char>(b));
           });
}

/// Where the parser stopped, and what stands there.
Error syntaxError(std::string_view text, std::size_t byte, const std::string& lastKey)
{
    const std::size_t at = std::min(byte > 0 ? byte - 1 : 0, text.size());
    const std::string_view before = text.substr(0, at);
    const auto line = std::to_string(1 + std::count(before.begin(), before.end(), '\n'));
    const std::size_t lineStart = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    const auto column = std::to_string(1 + at - lineStart);
    const std::string after = lastKey.empty() ? std::string() : ", after the key " + shortened(lastKey);
    const std::vector<std::pair<std::string, std::string>> place{
        {"line", line}, {"column", column}, {"after", after}};
    if (at >= text.size())
        return bad("not complete JSON: it ends at line {line}{after}; expected the rest of it", place);
    // The parser stops within the word, so the word's start is looked for.
    std::size_t start = at;
    while (start > 0 && (std::isalpha(static_cast<unsigned char>(text[start - 1])) || text[start - 1] == '-'))
        --start;
    for (const std::string_view name : {"NaN", "Infinity", "-Infinity", "inf", "-inf"})
        if (startsWithIgnoringCase(text.substr(start), name)) {
            std::vector<std::pair<std::string, std::string>> values = place;
            values.emplace_back("word", std::string(name));
            return bad("{word} at line {line}{after} is not JSON; expected a finite number", values);
        }
    return bad("not valid JSON at line {line}, column {column}{after}; expected a JSON object", place);
}

/// Walks through a document without building it.
class Checker : public nlohmann::json_sax<Json>
{
public:
    explicit Checker(std::string_view text)
        : m_text(text)
    {
    }

    std::vector<std::string> repeatedKeys;
    Error error;

    bool null() override { return count(); }
    bool boolean(bool) override { return count(); }
    bool number_integer(number_integer_t) override { return count(); }
    bool number_unsigned(number_unsigned_t) override { return count(); }
    bool number_float(number_float_t, const string_t&) override { return count(); }
    bool string(string_t&) override { return count(); }
    bool binary(binary_t&) override { return count(); }
    bool start_object(std::size_t) override { return open(); }
    bool start_array(std::size_t) override { return open(); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override
    {
        m_lastKey = name;
        if (!m_open.back().insert(name).second && repeatedKeys.size() < kMostRepeatedKeys)
            repeatedKeys.push_back(name);
        return true;
    }
    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::detail::exception& exception) override
    {
        constexpr int kNumberOverflow = 406;
        error = exception.id == kNumberOverflow
                    ? bad("a number{after} is too large for double precision; expected a finite number",
                          {{"after", m_lastKey.empty() ? "" : " after the key " + shortened(m_lastKey)}})
                    : syntaxError(m_text, position, m_lastKey);
        return false;
    }

private:
    bool count()
    {
        if (++m_values <= kMostValues)
            return true;
        error = bad("the file holds more than {most} values; expected a model's or a session's fields",
                    {{"most", std::to_string(kMostValues)}});
        return false;
    }
    bool open()
    {
        m_open.emplace_back();
        if (m_open.size() <= kDeepest)
            return count();
        error = bad("nested more than {depth} levels deep{after}; expected a model's or a session's fields",
                    {{"depth", std::to_string(kDeepest)},
                     {"after", m_lastKey.empty() ? "" : ", after the key " + shortened(m_lastKey)}});
        return false;
    }
    bool close()
    {
        m_open.pop_back();
        return true;
    }

    std::string_view m_text;
    std::vector<std::set<std::string>> m_open; // keys of each object that is open; an empty set for a list
    std::size_t m_values = 0;
    std::string m_lastKey;
};

} // namespace

Result<std::vector<std::string>> checkJson(std::string_view text, std::size_t largestSize)
{
    if (text.size() > largestSize)
        return bad("the file has {size} bytes; expected at most {most}",
                   {{"size", std::to_string(text.size())}, {"most", std::to_string(largestSize)}});
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
        return bad("the file is UTF-16 text; expected JSON in UTF-8");
    if (text.find('\0') != std::string_view::npos)
        return bad("the file holds a zero byte; expected JSON text");
    const std::size_t mark = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    const std::size_t first = text.find_first_not_of(" \t\r\n", mark);
    if (first == std::string_view::npos)
        return bad("the file is empty; expected a JSON object");
    if (text[first] == '<')
        return bad("this is a web page, not JSON; expected a JSON object");
    try {
        Checker checker(text);
        if (!Json::sax_parse(text.begin(), text.end(), &checker))
            return checker.error;
        return checker.repeatedKeys;
    } catch (const std::exception& exception) {
        return bad("the file cannot be parsed as JSON ({reason}); expected a JSON object",
                   {{"reason", exception.what()}});
    }
}

BareNumbers withoutBareNumbers(std::string_view text)
{
    constexpr std::array<std::string_view, 3> kWords{"-Infinity", "Infinity", "NaN"};
    BareNumbers result;
    std::string_view lastText;
    std::string_view lastKey;
    std::size_t copied = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '"') {
            const std::size_t start = ++at;
            while (at < text.size() && text[at] != '"')
                at += text[at] == '\\' ? 2 : 1;
            if (at >= text.size())
                break;
            lastText = text.substr(start, at - start);
        } else if (text[at] == ':') {
            lastKey = lastText;
        } else if (text[at] == '-' || text[at] == 'I' || text[at] == 'N') {
            for (const std::string_view word : kWords)
                if (text.substr(at).starts_with(word)) {
                    if (result.numbers.size() >= kMostRepeatedKeys)
                        return {};
                    result.numbers.push_back({std::string(word), shortened(lastKey)});
                    result.text += text.substr(copied, at - copied);
                    result.text += "null";
                    copied = at + word.size();
                    at = copied - 1;
                    break;
                }
        }
    }
    if (!result.numbers.empty())
        result.text += text.substr(copied);
    return result;
}

std::string jsonValueText(std::string_view json)
{
    if (json.starts_with('['))
        return "a list";
    if (json.starts_with('{'))
        return "an object";
    if (json.ends_with(".0"))
        json.remove_suffix(2);
    return shortened(json);
}

std::string jsonKindText(std::string_view json)
{
    const std::string text = jsonValueText(json);
    if (json.starts_with('"'))
        return "the text " + text;
    if (json.starts_with('-') || (!json.empty() && std::isdigit(static_cast<unsigned char>(json.front()))))
        return "the number " + text;
    return text;
}

} // namespace ropewalk
