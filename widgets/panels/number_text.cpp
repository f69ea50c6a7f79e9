// SPDX-License-Identifier: GPL-3.0-or-later
#include "number_text.h"

#include "core/message.h"

#include <QLocale>
#include <QRegularExpression>

#include <cmath>

namespace ropewalk {

std::optional<double> parseNumber(QStringView text, Suffix suffix)
{
    QString plain = text.trimmed().toString();
    plain.replace(QChar(0x2212), u'-');
    double factor = 1.0;
    if (!plain.isEmpty()) {
        const double kilo = suffix == Suffix::Tokens ? 1024.0 : 1000.0;
        const QChar last = plain.back();
        if (last == u'k' || last == u'K')
            factor = kilo;
        else if (last == u'M')
            factor = kilo * kilo;
        else if (last == u'G')
            factor = kilo * kilo * kilo;
        if (factor != 1.0) {
            plain.chop(1);
            plain = plain.trimmed();
        }
    }
    // Groups of three, by one kind of space or by commas. "0,085" is a decimal comma and is refused rather
    // than read as 85.
    static const QRegularExpression grouped(QStringLiteral(
        "^([+-]?\\d{1,3})(?:([ \\x{00A0}\\x{2009}\\x{202F},])\\d{3})(?:\\2\\d{3})*(\\.\\d+)?$"));
    static const QRegularExpression separators(QStringLiteral("[ \\x{00A0}\\x{2009}\\x{202F},]"));
    static const QRegularExpression number(
        QStringLiteral("^[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d{1,4})?$"));
    if (grouped.match(plain).hasMatch() && !plain.startsWith(u'0'))
        plain.remove(separators);
    if (!number.match(plain).hasMatch())
        return std::nullopt;
    bool isNumber = false;
    const double value = QLocale::c().toDouble(plain, &isNumber) * factor;
    if (!isNumber || !std::isfinite(value))
        return std::nullopt;
    return value;
}

QString shownNumber(double value, int digits)
{
    return QString::fromStdString(groupedNumber(value, digits));
}

QString exactNumber(double value)
{
    if (value == std::floor(value) && std::fabs(value) < 1e15)
        return QString::number(static_cast<qint64>(value));
    return QString::number(value, 'g', QLocale::FloatingPointShortest);
}

} // namespace ropewalk
