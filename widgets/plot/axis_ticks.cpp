// SPDX-License-Identifier: GPL-3.0-or-later
#include "axis_ticks.h"

#include "axis_scale.h"
#include "widgets/message_text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ropewalk {
namespace {

bool isPowerOfTwo(double value)
{
    int exponent = 0;
    return value >= 1.0 && std::frexp(value, &exponent) == 0.5;
}

QString superscript(int number)
{
    static const QString digits = QStringLiteral("⁰¹²³⁴⁵⁶⁷⁸⁹");
    QString text;
    for (const QChar digit : QString::number(std::abs(number)))
        text += digits[digit.digitValue()];
    return (number < 0 ? QStringLiteral("⁻") : QString()) + text;
}

QString plainLabel(double value, int decimals)
{
    if (std::fabs(value) < 0.5 * std::pow(10.0, -decimals))
        return QStringLiteral("0");
    QString text = QString::number(std::fabs(value), 'f', decimals);
    if (text.contains(u'.')) {
        while (text.endsWith(u'0'))
            text.chop(1);
        if (text.endsWith(u'.'))
            text.chop(1);
    }
    if (!text.contains(u'.') && std::fabs(value) >= 10000.0)
        text = QString::fromStdString(groupedDigits(std::llround(std::fabs(value))));
    return (value < 0.0 ? QStringLiteral("−") : QString()) + text;
}

QString powerLabel(int exponent, AxisKind kind)
{
    const double value = std::pow(10.0, exponent);
    if (kind == AxisKind::Tokens && exponent >= 0)
        return tokenCountLabel(value);
    if (exponent >= -2 && exponent <= 4)
        return plainLabel(value, std::max(0, -exponent));
    return QStringLiteral("10") + superscript(exponent);
}

/// 1, 2, 2.5 or 5 times a power of ten, so that at most `most` steps span `range`.
double roundStep(double range, double most, bool isWhole)
{
    const double raw = range / std::max(1.0, most);
    const double decade = std::pow(10.0, std::floor(std::log10(raw)));
    for (const double factor : {1.0, 2.0, 2.5, 5.0, 10.0}) {
        const double step = factor * decade;
        if (step >= raw * (1.0 - 1e-9) && !(isWhole && step != std::floor(step)))
            return step;
    }
    return std::max(10.0 * decade, isWhole ? 1.0 : 0.0);
}

/// Drops labels that would touch one kept before; `order` says who is asked first.
void keepClear(std::vector<AxisTick>& ticks, const std::vector<std::size_t>& order, const AxisScale& scale,
               double gap, const std::function<double(const QString&)>& extent)
{
    std::vector<std::pair<double, double>> taken;
    for (const std::size_t index : order) {
        AxisTick& tick = ticks[index];
        if (tick.label.isEmpty())
            continue;
        const double centre = scale.toPixel(tick.value);
        const double half = (extent(tick.label) + gap) / 2;
        const bool isFree = std::none_of(taken.begin(), taken.end(), [&](const auto& other) {
            return centre - half < other.second && centre + half > other.first;
        });
        if (isFree)
            taken.emplace_back(centre - half, centre + half);
        else
            tick.label.clear();
    }
}

std::vector<AxisTick> logarithmicTicks(const AxisSpec& axis, const AxisScale& scale, double length,
                                       double gap, const std::function<double(const QString&)>& extent)
{
    std::vector<AxisTick> ticks;
    std::vector<std::size_t> order;
    const double slack = 1.0 + 1e-9;
    const auto add = [&](double value, const QString& label) {
        if (value < axis.lower / slack || value > axis.upper * slack)
            return;
        if (!label.isEmpty())
            order.push_back(ticks.size());
        ticks.push_back({value, label});
    };
    // The end of a token axis says how far the model reads: it comes before the decades beside it.
    if (axis.kind == AxisKind::Tokens && axis.upper >= 16.0 && isPowerOfTwo(axis.upper))
        add(axis.upper, tokenCountLabel(axis.upper));
    const int first = static_cast<int>(std::ceil(std::log10(axis.lower) - 1e-9));
    const int last = static_cast<int>(std::floor(std::log10(axis.upper) + 1e-9));
    const double decades = std::log10(axis.upper / axis.lower);
    double widest = 0.0;
    for (int exponent = first; exponent <= last; ++exponent)
        widest = std::max(widest, extent(powerLabel(exponent, axis.kind)));
    const int every = std::max(1, static_cast<int>(std::ceil((widest + gap) * decades / length)));
    for (int exponent = first; exponent <= last; ++exponent)
        add(std::pow(10.0, exponent), exponent % every == 0 ? powerLabel(exponent, axis.kind) : QString());
    for (int exponent = first - 1; exponent <= last && decades < 9.0; ++exponent)
        for (int digit = 2; digit <= 9; ++digit) {
            const double value = digit * std::pow(10.0, exponent);
            // Within less than two decades powers of ten alone leave the axis bare.
            const bool isNamed = decades < 2.0 && (digit == 2 || digit == 5);
            const QString label = !isNamed ? QString()
                                  : axis.kind == AxisKind::Tokens && exponent >= 0
                                      ? tokenCountLabel(value)
                                      : plainLabel(value, std::max(0, -exponent));
            add(value, label);
        }
    keepClear(ticks, order, scale, gap, extent);
    return ticks;
}

std::vector<AxisTick> linearTicks(const AxisSpec& axis, const AxisScale& scale, double length, double gap,
                                  const std::function<double(const QString&)>& extent)
{
    std::vector<AxisTick> ticks;
    std::vector<std::size_t> order;
    const double range = axis.upper - axis.lower;
    const bool isTokens = axis.kind == AxisKind::Tokens;
    const bool isPair = axis.kind == AxisKind::Pair;
    const bool isBinary =
        isPair || (isTokens && axis.upper >= 64.0 && range >= 64.0 && isPowerOfTwo(axis.upper));
    double step = 0.0;
    int decimals = 0;
    // Very small and very large numbers are written with a power of ten, the same one along the axis.
    const double largest = std::max(std::fabs(axis.lower), std::fabs(axis.upper));
    const int decade = largest > 0.0 ? static_cast<int>(std::floor(std::log10(largest) + 1e-9)) : 0;
    const bool hasPower = !isTokens && !isPair && (decade < -4 || decade > 7);
    const double unit = hasPower ? std::pow(10.0, decade) : 1.0;
    const auto labelOf = [&](double value) {
        if (isTokens)
            return tokenCountLabel(value);
        if (!hasPower || value == 0.0)
            return plainLabel(value, isPair ? 0 : decimals);
        return plainLabel(value / unit, decimals) + QStringLiteral("×10") + superscript(decade);
    };
    const auto chooseStep = [&](double most) {
        if (isBinary) {
            step = 1.0;
            while (range / step > most)
                step *= 2.0;
        } else {
            step = roundStep(range, most, isTokens && range >= 2.0);
            decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step / unit) + 1e-9)) + 1);
        }
    };
    // A step is right when its widest label has room.
    double most = std::clamp(length / (gap * 2.0), 2.0, isBinary && isTokens ? 5.0 : 8.0);
    for (chooseStep(most); most > 1.0; chooseStep(--most)) {
        double widest = 0.0;
        for (double i = std::ceil(axis.lower / step - 1e-9); i <= std::floor(axis.upper / step + 1e-9); ++i)
            widest = std::max(widest, extent(labelOf(i * step)));
        if (widest + gap <= step / range * length)
            break;
    }
    const double first = std::ceil(axis.lower / step - 1e-9);
    const double last = std::floor(axis.upper / step + 1e-9);
    const double end = std::floor(axis.upper);
    if (isPair && last * step != end)
        ticks.push_back({end, labelOf(end)});
    for (double i = first; i <= last; ++i)
        ticks.push_back({i * step, labelOf(i * step)});
    for (std::size_t i = 0; i < ticks.size(); ++i)
        order.push_back(i);
    keepClear(ticks, order, scale, gap, extent);
    // A pair tick that lost its label to the last pair's stands there for nothing.
    std::erase_if(ticks, [](const AxisTick& tick) { return tick.label.isEmpty(); });
    return ticks;
}

std::vector<AxisTick> categoryTicks(const AxisSpec& axis, const AxisScale& scale, double gap,
                                    const std::function<double(const QString&)>& extent)
{
    std::vector<AxisTick> ticks;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < axis.categories.size(); ++i)
        if (const auto at = static_cast<double>(i); at >= axis.lower && at <= axis.upper) {
            order.push_back(ticks.size());
            ticks.push_back({at, messageText(axis.categories[i])});
        }
    keepClear(ticks, order, scale, gap, extent);
    return ticks;
}

} // namespace

QString tokenCountLabel(double tokens)
{
    constexpr std::array<std::pair<double, const char*>, 3> kUnits{{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
    if (tokens < 0.0)
        return QStringLiteral("−") + tokenCountLabel(-tokens);
    // A whole number of binary thousands below a million is what people call 4k or 128k.
    if (tokens >= 1024.0 && std::fmod(tokens, 1024.0) == 0.0 && std::fmod(tokens, 1000.0) != 0.0) {
        const double thousands = tokens / 1024.0;
        if (std::fmod(thousands, 1024.0) == 0.0)
            return QString::number(thousands / 1024.0, 'f', 0) + u'M';
        return QString::number(thousands, 'f', 0) + u'k';
    }
    for (const auto& [unit, name] : kUnits)
        if (tokens >= unit * (1.0 - 1e-9)) {
            const QString label = plainLabel(tokens / unit, 1);
            // 1 707 is no round count: say it in full rather than round it.
            if (std::fabs(label.toDouble() * unit - tokens) < 1e-9 * tokens)
                return label + QLatin1String(name);
            break;
        }
    if (tokens == std::floor(tokens))
        return QString::fromStdString(groupedDigits(static_cast<long long>(tokens)));
    return plainLabel(tokens, 3);
}

bool isDrawable(const AxisSpec& axis)
{
    const double range = axis.upper - axis.lower;
    const double largest = std::max(std::fabs(axis.lower), std::fabs(axis.upper));
    return std::isfinite(range) && range > 1e-290 && range > 1e-13 * largest &&
           (!axis.isLogarithmic || axis.lower > 1e-290);
}

std::vector<AxisTick> axisTicks(const AxisSpec& axis, double length, double gap,
                                const std::function<double(const QString&)>& extent)
{
    if (!isDrawable(axis) || length <= 0.0)
        return {};
    const AxisScale scale(axis, 0.0, length);
    if (axis.kind == AxisKind::Categories)
        return categoryTicks(axis, scale, gap, extent);
    // Within a third of a decade powers of ten and their 2 and 5 may all be missing.
    return axis.isLogarithmic && axis.upper > 2.0 * axis.lower
               ? logarithmicTicks(axis, scale, length, gap, extent)
               : linearTicks(axis, scale, length, gap, extent);
}

} // namespace ropewalk
