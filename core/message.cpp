// SPDX-License-Identifier: GPL-3.0-or-later
#include "message.h"

#include <charconv>
#include <cmath>

namespace ropewalk {

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
                    filled += *value;
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
    // Not printf: the person's locale may have a decimal comma.
    char text[64];
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits).ptr;
    return {text, end};
}

std::string groupedNumber(double value, int digits)
{
    if (std::isfinite(value) && value == std::floor(value) && std::fabs(value) < 1e15)
        return groupedDigits(static_cast<long long>(value));
    return shortNumber(value, digits);
}

} // namespace ropewalk
