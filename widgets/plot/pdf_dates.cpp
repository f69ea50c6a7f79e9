// SPDX-License-Identifier: GPL-3.0-or-later
#include "pdf_dates.h"

#include <algorithm>
#include <string_view>

namespace ropewalk {
namespace {

/// Replaces the digits between each `opening` and the next `closing`, where that is no more than `longest`
/// bytes away (else it is something else's); `isHex` takes the letters a-f with them.
void zeroBetween(QByteArray& bytes, std::string_view opening, std::string_view closing, bool isHex,
                 std::string_view replacement, qsizetype longest)
{
    const QByteArray from(opening.data(), static_cast<qsizetype>(opening.size()));
    const QByteArray to(closing.data(), static_cast<qsizetype>(closing.size()));
    for (qsizetype at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1)) {
        const qsizetype begin = at + from.size();
        const qsizetype end = bytes.indexOf(to, begin);
        if (end < 0 || end - begin > longest)
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
    constexpr qsizetype kDateLength = 40, kUuidLength = 40, kTwoIdentifiers = 200;
    for (const std::string_view key : {"/CreationDate (D:", "/ModDate (D:"})
        zeroBetween(pdf, key, ")", false, kDate, kDateLength);
    // Qt 6.4 writes the metadata as elements, Qt 6.8 as attributes.
    for (const std::string_view key : {"<xmp:CreateDate>", "<xmp:ModifyDate>", "<xmp:MetadataDate>"})
        zeroBetween(pdf, key, "</xmp:", false, kDate, kDateLength);
    for (const std::string_view key : {"xmp:CreateDate=\"", "xmp:ModifyDate=\"", "xmp:MetadataDate=\""})
        zeroBetween(pdf, key, "\"", false, kDate, kDateLength);
    for (const std::string_view closing : {"<", "\""})
        zeroBetween(pdf, "uuid:", closing, true, "", kUuidLength);
    zeroBetween(pdf, "/ID [ <", "]", true, "", kTwoIdentifiers);
}

} // namespace ropewalk
