// SPDX-License-Identifier: GPL-3.0-or-later
#include "hover_table.h"

#include "widgets/message_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>

namespace ropewalk {
namespace {

/// The quantities that are read out, by the names that the data has.
struct Quantity
{
    const char* name;
    const char* label;
    bool isOnlyWhenDrawn;
};
constexpr std::array<Quantity, 10> kQuantities{{
    {"inv_freq", "θ′ (rad per token)", false},
    {"wavelength", "wavelength (tokens)", false},
    {"turns", "turns in training", false},
    {"similar_mean", "score / head_dim", false},
    {"similar_sd", "± s.d.", false},
    {"independent_sd", "independent key, ± s.d.", false},
    {"bound_factor", "factor of an upper bound", true},
    {"contribution", "contribution", false},
    {"cumulated", "cumulated", false},
    {"wavelength_plain", "before the rule (tokens)", false},
}};

std::string readOut(double value)
{
    if (!std::isfinite(value))
        return "–";
    // Six digits are read out; a large number has no use for its fractions.
    std::string text = groupedNumber(std::fabs(value) >= 1e5 ? std::round(value) : value, 6);
    if (text.starts_with('-'))
        text.replace(0, 1, "−");
    return text;
}

/// Index of the sample nearest to x.
std::size_t nearestSample(const std::vector<double>& xs, double x)
{
    const auto at = static_cast<std::size_t>(std::lower_bound(xs.begin(), xs.end(), x) - xs.begin());
    if (at == xs.size())
        return at - 1;
    return at > 0 && x - xs[at - 1] < xs[at] - x ? at - 1 : at;
}

std::optional<HoverTable> axisTable(const FigureSpec& figure, const FigureHit& hit)
{
    if (!hit.isOnAxes)
        return {};
    HoverTable table;
    for (const Series& series : figure.series)
        if (series.x && !series.x->empty() && series.style != SeriesStyle::DataOnly) {
            table.x = (*series.x)[nearestSample(*series.x, hit.x)];
            break;
        }
    if (!table.x)
        return {};
    for (const Series& series : figure.series)
        if (std::find(table.configurations.begin(), table.configurations.end(), series.configuration) ==
            table.configurations.end())
            table.configurations.push_back(series.configuration);
    std::sort(table.configurations.begin(), table.configurations.end());
    const std::string at = readOut(*table.x);
    table.title = figure.xAxis.kind == AxisKind::Pair ? messageText({"pair {pair}", {{"pair", at}}})
                                                      : messageText({"r = {distance}", {{"distance", at}}});
    for (const Quantity& quantity : kQuantities) {
        HoverTable::Row row;
        row.label = messageText(quantity.label);
        bool isFound = false;
        for (const int configuration : table.configurations) {
            QString value;
            for (const Series& series : figure.series) {
                if (series.configuration != configuration || series.name != quantity.name || !series.x ||
                    series.x->empty() || (quantity.isOnlyWhenDrawn && series.style == SeriesStyle::DataOnly))
                    continue;
                const std::size_t i = nearestSample(*series.x, *table.x);
                if ((*series.x)[i] != *table.x)
                    continue; // this configuration has fewer pairs
                value = QString::fromStdString(readOut((*series.y)[i]));
                isFound = true;
            }
            row.values.append(value);
        }
        if (isFound)
            table.rows.push_back(std::move(row));
    }
    if (table.rows.empty())
        return {};
    return table;
}

std::optional<HoverTable> planeTable(const FigureSpec& figure, const FigureHit& hit)
{
    if (hit.pair < 0)
        return {};
    std::complex<double> query;
    std::complex<double> key;
    bool isStill = false;
    for (const Phasor& phasor : figure.phasors)
        if (phasor.configuration == hit.configuration && phasor.pair == hit.pair) {
            (phasor.name == "q" ? query : key) = {phasor.re, phasor.im};
            isStill = phasor.isStill;
        }
    HoverTable table;
    table.configurations = {hit.configuration};
    const Message title{isStill ? "pair {pair}, not turned" : "pair {pair}",
                        {{"pair", std::to_string(hit.pair)}}};
    table.title = messageText(title);
    const auto degrees = [](double radians) {
        std::string text = shortNumber(radians * 180.0 / 3.14159265358979323846, 5);
        if (text.starts_with('-'))
            text.replace(0, 1, "−");
        return QString::fromStdString(text) + u'°';
    };
    const auto angle = [&](const std::complex<double>& arrow) {
        return std::abs(arrow) > 0.0 ? degrees(std::arg(arrow)) : QStringLiteral("–");
    };
    table.rows.push_back({messageText("angle of q"), {angle(query)}});
    table.rows.push_back({messageText("angle of k"), {angle(key)}});
    table.rows.push_back({messageText("from k to q"), {angle(query * std::conj(key))}});
    for (const PlanePanel& panel : figure.planes)
        if (panel.configuration == hit.configuration && panel.pair == hit.pair && !panel.isStill)
            table.rows.push_back(
                {messageText("θ′ (rad per token)"), {QString::fromStdString(readOut(panel.thetaRadians))}});
    return table;
}

} // namespace

std::optional<HoverTable> hoverTable(const FigureSpec& figure, const FigureHit& hit)
{
    if (!figure.failure.isEmpty())
        return {};
    return figure.planes.empty() ? axisTable(figure, hit) : planeTable(figure, hit);
}

} // namespace ropewalk
