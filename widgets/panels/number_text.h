// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringView>

#include <optional>

namespace ropewalk {

/// What "k" and "M" stand for after a number.
enum class Suffix {
    Decimal, ///< 500k is 500 000
    Tokens   ///< 128k is 131 072, as model names count
};

/// The number a person typed: "1e6", "500 000", "128k", "1,048,576", "−3"; empty for anything else, also for
/// what is not finite. The decimal sign is a dot in every language.
std::optional<double> parseNumber(QStringView text, Suffix suffix = Suffix::Decimal);

/// For reading: whole numbers in groups of three, others with up to `digits` significant digits.
QString shownNumber(double value, int digits = 6);

/// For editing: the shortest text that parses to exactly `value`.
QString exactNumber(double value);

} // namespace ropewalk
