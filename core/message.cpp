// SPDX-License-Identifier: GPL-3.0-or-later
#include "message.h"

#include <charconv>
#include <cmath>

namespace ropewalk {

std::string printable(std::string_view text)
{
    static constexpr std::string_view kPlace = "\uFFFD";
    std::string clean;
    clean.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto byte = static_cast<unsigned char>(text[at]);
        const auto next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0;
        const auto third = at + 2 < text.size() ? static_cast<unsigned char>(text[at + 2]) : 0;
        if (byte < 0x20 || byte == 0x7F) {
            clean += kPlace;
        } else if (byte == 0xC2 && next >= 0x80 && next < 0xA0) { // U+0080 to U+009F
            clean += kPlace;
            ++at;
        } else if (byte == 0xE2 && ((next == 0x80 && third >= 0xAA && third <= 0xAE) ||  // U+202A to U+202E
                                    (next == 0x81 && third >= 0xA6 && third <= 0xA9))) { // U+2066 to U+2069
            clean += kPlace;
            at += 2;
        } else {
            clean += text[at];
        }
    }
    return clean;
}

std::string fillIn(const std::string& template_, const Message& message)
{
    std::string filled;
    filled.reserve(template_.size() + 32);
    for (std::size_t at = 0; at < template_.size();) {
        if (template_[at] == '{') {
            const std::size_t end = template_.find('}', at);
            if (end != std::string::npos) {
                const std::string name = template_.substr(at + 1, end - at - 1);
                const std::string* value = nullptr;
                for (const auto& [key, text] : message.values)
                    if (key == name)
                        value = &text;
                if (value) {
                    filled += printable(*value);
                    at = end + 1;
                    continue;
                }
            }
        }
        filled += template_[at++];
    }
    return filled;
}

std::string toEnglish(const Message& message)
{
    return fillIn(message.text, message);
}

std::string groupedDigits(long long value)
{
    const std::string digits = std::to_string(value);
    const std::size_t start = digits[0] == '-' ? 1 : 0;
    std::string grouped = start ? "\u2212" : "";
    for (std::size_t i = start; i < digits.size(); ++i) {
        if (i > start && (digits.size() - i) % 3 == 0)
            grouped += "\u202F";
        grouped += digits[i];
    }
    return grouped;
}

std::string shortNumber(double value, int digits)
{
    if (!std::isfinite(value))
        return "–"; // what is not a number is not written as one
    // Not printf: the person's locale may have a decimal comma.
    char text[64];
    const auto end =
        std::to_chars(text, text + sizeof text, std::fabs(value), std::chars_format::general, digits).ptr;
    return (value < 0.0 ? "\u2212" : "") + std::string(text, end);
}

std::string groupedNumber(double value, int digits)
{
    if (std::isfinite(value) && value == std::floor(value) && std::fabs(value) < 1e15)
        return groupedDigits(static_cast<long long>(value));
    return shortNumber(value, digits);
}

} // namespace ropewalk
