// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cassert>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ropewalk {

/// Length in bytes of the well-formed UTF-8 sequence at the front of `text`, or 0 where there is none.
inline std::size_t utf8SequenceLength(std::string_view text)
{
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const auto continues = [&](std::size_t at, unsigned char least, unsigned char most) {
        return at < text.size() && byte(at) >= least && byte(at) <= most;
    };
    if (text.empty())
        return 0;
    const unsigned char lead = byte(0);
    if (lead < 0x80)
        return 1;
    if (lead >= 0xC2 && lead <= 0xDF)
        return continues(1, 0x80, 0xBF) ? 2 : 0;
    if (lead >= 0xE0 && lead <= 0xEF) {
        // No overlong forms and no surrogates.
        const unsigned char least = lead == 0xE0 ? 0xA0 : 0x80;
        const unsigned char most = lead == 0xED ? 0x9F : 0xBF;
        return continues(1, least, most) && continues(2, 0x80, 0xBF) ? 3 : 0;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        const unsigned char least = lead == 0xF0 ? 0x90 : 0x80;
        const unsigned char most = lead == 0xF4 ? 0x8F : 0xBF;
        return continues(1, least, most) && continues(2, 0x80, 0xBF) && continues(3, 0x80, 0xBF) ? 4 : 0;
    }
    return 0;
}

/// Appends `value` with 17 significant digits, so that reading it back gives the same double. Finite values
/// only.
inline void appendDouble(std::string& text, double value)
{
    char digits[40];
    // Whole numbers are most of a curve's x, and this way is ten times as fast.
    const bool isWhole =
        std::fabs(value) < 1e15 && value == std::floor(value) && !(value == 0.0 && std::signbit(value));
    const auto end =
        isWhole ? std::to_chars(digits, digits + sizeof digits, static_cast<std::int64_t>(value)).ptr
                : std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 17).ptr;
    text.append(digits, end);
}

/// Writes JSON piece by piece, keys in the order of the calls. Numbers have 17 significant digits, what is
/// not finite is null, text that is not UTF-8 has U+FFFD in place of the broken bytes. The same calls give
/// the same bytes. With a sink the text is handed over in pieces of about a megabyte, and never held whole.
class JsonWriter
{
public:
    using Sink = std::function<void(std::string_view piece)>;
    explicit JsonWriter(Sink sink = {})
        : m_sink(std::move(sink))
    {
    }

    /// Whether the members of an object or array stand on lines of their own or in one.
    enum class Style { Lines, Inline };

    void beginObject(Style style = Style::Lines) { begin('{', style); }
    void endObject() { end('}'); }
    void beginArray(Style style = Style::Lines) { begin('[', style); }
    void endArray() { end(']'); }

    void key(std::string_view name)
    {
        assert(!m_levels.empty() && !m_isAfterKey);
        separate();
        appendString(name);
        m_text += ": ";
        m_isAfterKey = true;
    }

    void null() { raw("null"); }
    void value(std::string_view text)
    {
        separate();
        appendString(text);
    }
    void value(const char* text) { value(std::string_view(text)); }
    void value(const std::string& text) { value(std::string_view(text)); }
    void value(bool isTrue) { raw(isTrue ? "true" : "false"); }
    void value(double number)
    {
        if (!std::isfinite(number))
            return null();
        separate();
        appendDouble(m_text, number);
    }
    template<std::integral T>
    void value(T number)
    {
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
        raw({digits, static_cast<std::size_t>(end - digits)});
    }
    template<class T>
    void value(const std::optional<T>& number)
    {
        number ? value(*number) : null();
    }
    void value(std::span<const double> numbers)
    {
        beginArray(Style::Inline);
        for (const double number : numbers)
            value(number);
        endArray();
    }
    void value(const std::vector<double>& numbers) { value(std::span<const double>(numbers)); }

    /// Text that is JSON already.
    void raw(std::string_view json)
    {
        separate();
        m_text += json;
    }

    template<class T>
    void member(std::string_view name, const T& content)
    {
        key(name);
        value(content);
    }
    void nullMember(std::string_view name)
    {
        key(name);
        null();
    }

    /// The document, with a newline at its end; with a sink what it was not given yet. The writer is empty
    /// after it.
    std::string take()
    {
        assert(m_levels.empty() && !m_isAfterKey);
        m_text += '\n';
        return std::exchange(m_text, {});
    }

private:
    struct Level
    {
        Style style = Style::Lines;
        bool hasMembers = false;
    };

    void begin(char bracket, Style style)
    {
        separate();
        m_text += bracket;
        // What lies inside one line stays in it.
        m_levels.push_back(
            {!m_levels.empty() && m_levels.back().style == Style::Inline ? Style::Inline : style});
    }
    void end(char bracket)
    {
        assert(!m_levels.empty() && !m_isAfterKey);
        const Level level = m_levels.back();
        m_levels.pop_back();
        if (level.style == Style::Lines && level.hasMembers)
            newLine();
        m_text += bracket;
    }
    void separate()
    {
        constexpr std::size_t kPiece = std::size_t{1} << 20;
        if (m_sink && m_text.size() >= kPiece) {
            m_sink(m_text);
            m_text.clear();
        }
        if (std::exchange(m_isAfterKey, false) || m_levels.empty())
            return;
        Level& level = m_levels.back();
        if (level.hasMembers)
            m_text += level.style == Style::Inline ? ", " : ",";
        if (level.style == Style::Lines)
            newLine();
        level.hasMembers = true;
    }
    void newLine()
    {
        m_text += '\n';
        m_text.append(2 * m_levels.size(), ' ');
    }
    void appendString(std::string_view text)
    {
        static constexpr char kHex[] = "0123456789abcdef";
        m_text += '"';
        while (!text.empty()) {
            const std::size_t length = utf8SequenceLength(text);
            const char c = text.front();
            if (length == 0)
                m_text += "\xEF\xBF\xBD";
            else if (length > 1)
                m_text += text.substr(0, length);
            else if (c == '"' || c == '\\')
                (m_text += '\\') += c;
            else if (c == '\n')
                m_text += "\\n";
            else if (c == '\t')
                m_text += "\\t";
            else if (c == '\r')
                m_text += "\\r";
            else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
                ((m_text += "\\u00") += kHex[(c >> 4) & 0xF]) += kHex[c & 0xF];
            else
                m_text += c;
            text.remove_prefix(length == 0 ? 1 : length);
        }
        m_text += '"';
    }

    Sink m_sink;
    std::string m_text;
    std::vector<Level> m_levels;
    bool m_isAfterKey = false;
};

} // namespace ropewalk
