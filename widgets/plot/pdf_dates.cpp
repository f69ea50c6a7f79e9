// SPDX-License-Identifier: GPL-3.0-or-later
#include "pdf_dates.h"

#include <algorithm>
#include <string_view>

namespace ropewalk {
namespace {

/// Replaces the digits between each `opening` and the next `closing`; `isHex` takes the letters a-f with
/// them.
void zeroBetween(QByteArray& bytes, std::string_view opening, std::string_view closing, bool isHex,
                 std::string_view replacement)
{
    constexpr qsizetype kLongest = 80; // of a date or an identifier: what lies further away is something else
    const QByteArray from(opening.data(), static_cast<qsizetype>(opening.size()));
    const QByteArray to(closing.data(), static_cast<qsizetype>(closing.size()));
    for (qsizetype at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1)) {
        const qsizetype begin = at + from.size();
        const qsizetype end = bytes.indexOf(to, begin);
        if (end < 0 || end - begin > kLongest)
            continue;
        qsizetype used = 0;
        for (qsizetype i = begin; i < end; ++i) {
            const char c = bytes[i];
            const bool isDigit =
                (c >= '0' && c <= '9') || (isHex && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
            if (!isDigit) {
                // The sign of a time zone is part of the date as well.
                if (!isHex && (c == '-' || c == '+' || c == 'Z') && used >= 14)
                    bytes[i] = c == 'Z' ? 'Z' : '+';
                continue;
            }
            bytes[i] = used < static_cast<qsizetype>(replacement.size())
                           ? replacement[static_cast<std::size_t>(used)]
                           : '0';
            ++used;
        }
    }
}

} // namespace

void removePdfDates(QByteArray& pdf)
{
    constexpr std::string_view kDate = "20000101000000";
    zeroBetween(pdf, "/CreationDate (D:", ")", false, kDate);
    zeroBetween(pdf, "/ModDate (D:", ")", false, kDate);
    zeroBetween(pdf, "<xmp:CreateDate>", "</xmp:CreateDate>", false, kDate);
    zeroBetween(pdf, "<xmp:ModifyDate>", "</xmp:ModifyDate>", false, kDate);
    zeroBetween(pdf, "<xmp:MetadataDate>", "</xmp:MetadataDate>", false, kDate);
    zeroBetween(pdf, "uuid:", "<", true, "");
}

} // namespace ropewalk
