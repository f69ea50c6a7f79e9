// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ropewalk {

/// Words that a person reads: an English template with `{name}` places and the values for them.
/// Core never glues the two together, so that whoever shows a message can translate the template first.
struct Message
{
    std::string text;                                        ///< e.g. "base is {value}; it must be above 1"
    std::vector<std::pair<std::string, std::string>> values; ///< e.g. {"value", "0.5"}

    Message() = default;
    Message(std::string template_)
        : text(std::move(template_))
    {
    }
    Message(const char* template_)
        : text(template_)
    {
    }
    Message(std::string template_, std::vector<std::pair<std::string, std::string>> values_)
        : text(std::move(template_))
        , values(std::move(values_))
    {
    }

    bool isEmpty() const { return text.empty(); }
    bool operator==(const Message&) const = default;
};

/// `text` with every character that would steer a terminal or turn the writing direction (controls, U+0080 to
/// U+009F, embeddings and isolates) replaced by U+FFFD: a stranger's file speaks here. Line breaks count as
/// such.
std::string printable(std::string_view text);

/// Fills the values of `message`, made printable, into `template_` (the message's own text, or its
/// translation).
std::string fillIn(const std::string& template_, const Message& message);

/// The message in English.
std::string toEnglish(const Message& message);

/// "8 192": digits in groups of three with a narrow no-break space (U+202F), for texts and labels.
std::string groupedDigits(long long value);

/// Shortest decimal text with at most `digits` significant digits and a true minus ("0.0854", "3.07e-07").
std::string shortNumber(double value, int digits = 6);

/// As shortNumber, with grouped digits where the value is a whole number below 1e15.
std::string groupedNumber(double value, int digits = 6);

} // namespace ropewalk
