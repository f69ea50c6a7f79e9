// SPDX-License-Identifier: GPL-3.0-or-later
#include "hover_table.h"

#include "map_painter.h"
#include "widgets/message_text.h"

#include <algorithm>
#include <cmath>
#include <complex>

namespace ropewalk {
namespace {

std::string readOut(double value)
{
    if (!std::isfinite(value))
        return "–";
    // Six digits are read out; a large number has no use for its fractions.
    return groupedNumber(std::fabs(value) >= 1e5 ? std::round(value) : value, 6);
}

/// Index of the sample nearest to x.
std::size_t nearestSample(const std::vector<double>& xs, double x)
{
    const auto at = static_cast<std::size_t>(std::lower_bound(xs.begin(), xs.end(), x) - xs.begin());
    if (at == xs.size())
        return at - 1;
    return at > 0 && x - xs[at - 1] < xs[at] - x ? at - 1 : at;
}

QString readOutText(double value)
{
    return QString::fromStdString(readOut(value));
}

bool isWhole(const AxisSpec& axis)
{
    return axis.kind == AxisKind::Tokens || axis.kind == AxisKind::Pair;
}

QString categoryName(const AxisSpec& axis, double at)
{
    const auto index = static_cast<std::size_t>(std::max(0.0, std::round(at)));
    return index < axis.categories.size() ? messageText(axis.categories[index]) : QString();
}

/// A place on an axis in its own words.
QString placeText(const AxisSpec& axis, const QString& value)
{
    const std::string text = value.toStdString();
    switch (axis.meaning) {
    case AxisMeaning::Pair:
        return messageText({"pair {pair}", {{"pair", text}}});
    case AxisMeaning::Distance:
        return messageText({"r = {distance}", {{"distance", text}}});
    case AxisMeaning::QueryPosition:
        return messageText({"m = {position}", {{"position", text}}});
    case AxisMeaning::KeyPosition:
        return messageText({"n = {position}", {{"position", text}}});
    case AxisMeaning::None:
        break;
    }
    if (axis.kind == AxisKind::Pair)
        return messageText({"pair {pair}", {{"pair", text}}});
    if (axis.kind == AxisKind::Categories || axis.label.isEmpty())
        return value;
    return messageText(
        {"{axis}: {value}", {{"axis", messageText(axis.label).toStdString()}, {"value", text}}});
}

QString placeText(const AxisSpec& axis, double value)
{
    return placeText(axis,
                     axis.kind == AxisKind::Categories ? categoryName(axis, value) : readOutText(value));
}

/// The part of an axis that a cell of a map covers: "12", "12–15", or its two ends where it holds no whole
/// number.
QString rangeText(const AxisSpec& axis, const std::pair<double, double>& range)
{
    if (axis.kind == AxisKind::Categories)
        return categoryName(axis, (range.first + range.second) / 2);
    const double first = std::ceil(range.first - 1e-6);
    const double last = std::ceil(range.second - 1e-6) - 1.0;
    if (isWhole(axis) && last >= first)
        return first == last ? readOutText(first)
                             : readOutText(first) + QStringLiteral("–") + readOutText(last);
    const auto end = [](double value) { return QString::fromStdString(groupedNumber(value, 4)); };
    return end(range.first) + QStringLiteral(" … ") + end(range.second);
}

/// What the y of a series is called; empty where it is not read out.
QString quantityOf(const PlotSpec& plot, const Series& series)
{
    if (!series.quantity.isEmpty())
        return messageText(series.quantity);
    if (series.style == SeriesStyle::DataOnly)
        return {};
    const QString label = messageText(series.label);
    if (label.size() > 2) // shorter ones are the letter of the configuration
        return label;
    return messageText(series.isOnSecondAxis && plot.secondYAxis ? plot.secondYAxis->label
                                                                 : plot.yAxis.label);
}

std::optional<HoverTable> mapTable(const PlotSpec& plot, const FigureHit& hit)
{
    if (!hit.cell || plot.maps.empty())
        return {};
    const MapSpec& map = plot.maps.front();
    HoverTable table;
    table.configurations = {map.configuration};
    table.title = placeText(plot.yAxis, rangeText(plot.yAxis, mapRowRange(plot, map, hit.cell->row))) +
                  QStringLiteral(", ") +
                  placeText(plot.xAxis, rangeText(plot.xAxis, mapColumnRange(plot, map, hit.cell->column)));
    const double value =
        (*map.values)[static_cast<std::size_t>(hit.cell->row * map.columns + hit.cell->column)];
    const QString label = map.label.isEmpty() ? QString::fromStdString(map.name) : messageText(map.label);
    table.rows.push_back({label, {std::isnan(value) ? messageText("masked") : readOutText(value)}});
    if (!std::isnan(value) && map.block > 1)
        table.rows.push_back({messageText({"{pooling} of {block} × {block} cells",
                                           {{"pooling", map.pooling}, {"block", std::to_string(map.block)}}}),
                              {QString()}});
    return table;
}

std::optional<HoverTable> pointTable(const PlotSpec& plot, const FigureHit& hit)
{
    const Series& series = plot.series[static_cast<std::size_t>(hit.series)];
    HoverTable table;
    table.configurations = {series.configuration};
    table.title = quantityOf(plot, series);
    const AxisSpec& y = series.isOnSecondAxis && plot.secondYAxis ? *plot.secondYAxis : plot.yAxis;
    table.rows.push_back({messageText(plot.xAxis.label), {readOutText((*series.x)[hit.sample])}});
    table.rows.push_back({messageText(y.label), {readOutText((*series.y)[hit.sample])}});
    return table;
}

std::optional<HoverTable> curveTable(const PlotSpec& plot, const FigureHit& hit)
{
    HoverTable table;
    const auto isCurve = [](const Series& series) {
        return series.x && series.y && !series.x->empty() && series.x->size() == series.y->size() &&
               series.style != SeriesStyle::Points;
    };
    for (const Series& series : plot.series)
        if (isCurve(series) && series.style != SeriesStyle::DataOnly) {
            const double x = (*series.x)[nearestSample(*series.x, hit.x)];
            if (!table.x || std::fabs(x - hit.x) < std::fabs(*table.x - hit.x))
                table.x = x;
        }
    if (!table.x)
        return {};
    for (const Series& series : plot.series)
        if (isCurve(series) && !quantityOf(plot, series).isEmpty() &&
            std::find(table.configurations.begin(), table.configurations.end(), series.configuration) ==
                table.configurations.end())
            table.configurations.push_back(series.configuration);
    std::sort(table.configurations.begin(), table.configurations.end());
    table.title = placeText(plot.xAxis, *table.x);
    for (const Series& series : plot.series) {
        const QString label = isCurve(series) ? quantityOf(plot, series) : QString();
        if (label.isEmpty())
            continue;
        const std::size_t i = nearestSample(*series.x, *table.x);
        if (std::fabs((*series.x)[i] - *table.x) > 1e-12 * std::fabs(*table.x))
            continue; // no sample there, such as a pair that this configuration lacks
        const auto column =
            std::find(table.configurations.begin(), table.configurations.end(), series.configuration) -
            table.configurations.begin();
        // One row a quantity; two curves of one configuration never share a place.
        auto row = std::find_if(table.rows.begin(), table.rows.end(), [&](const HoverTable::Row& other) {
            return other.label == label && other.values[column].isEmpty();
        });
        if (row == table.rows.end()) {
            HoverTable::Row added{label, {}};
            added.values.resize(static_cast<qsizetype>(table.configurations.size()));
            row = table.rows.insert(table.rows.end(), std::move(added));
        }
        row->values[column] = readOutText((*series.y)[i]);
    }
    if (table.rows.empty())
        return {};
    return table;
}

std::optional<HoverTable> cellTable(const TableSpec& spec, const FigureHit& hit)
{
    if (!hit.cell)
        return {};
    const auto row = static_cast<std::size_t>(hit.cell->row);
    const auto column = static_cast<std::size_t>(hit.cell->column);
    const TableCell& cell = spec.cells[row * static_cast<std::size_t>(spec.columns) + column];
    HoverTable table;
    table.configurations = {cell.configuration};
    QStringList heads;
    if (row < spec.rowHeads.size())
        heads.append(messageText(spec.rowHeads[row]));
    if (column < spec.columnHeads.size())
        heads.append(messageText(spec.columnHeads[column]));
    heads.removeAll(QString());
    const QString text = messageText(cell.text);
    table.title = heads.isEmpty() ? text : heads.join(QStringLiteral(", "));
    if (!heads.isEmpty() && !text.isEmpty())
        table.rows.push_back({text, {QString()}});
    if (cell.pair >= 0)
        table.rows.push_back(
            {messageText({"pair {pair}", {{"pair", std::to_string(cell.pair)}}}), {QString()}});
    if (table.title.isEmpty() && table.rows.empty())
        return {};
    return table;
}

std::optional<HoverTable> planeTable(const FigureSpec& figure, const PlotSpec& plot, const FigureHit& hit)
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
        return QString::fromStdString(shortNumber(radians * 180.0 / 3.14159265358979323846, 5)) + u'°';
    };
    const auto angle = [&](const std::complex<double>& arrow) {
        return std::abs(arrow) > 0.0 ? degrees(std::arg(arrow)) : QStringLiteral("–");
    };
    const auto turns = std::find_if(plot.planes.begin(), plot.planes.end(), [&](const PlanePanel& panel) {
        return panel.configuration == hit.configuration && panel.composed;
    });
    if (turns != plot.planes.end()) { // two turns of the arrow 1, not q and k
        table.rows.push_back({messageText("angle of R(mθ)"), {angle(turns->query)}});
        table.rows.push_back({messageText("angle of R(nθ)"), {angle(turns->key)}});
        table.rows.push_back({messageText("of both together"), {angle(*turns->composed)}});
    } else {
        table.rows.push_back({messageText("angle of q"), {angle(query)}});
        table.rows.push_back({messageText("angle of k"), {angle(key)}});
        table.rows.push_back({messageText("from k to q"), {angle(query * std::conj(key))}});
    }
    for (const PlanePanel& panel : plot.planes)
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
    const std::vector<const PlotSpec*> plots = figure.plots();
    if (hit.plot < 0 || hit.plot >= static_cast<int>(plots.size()))
        return {};
    const PlotSpec& plot = *plots[static_cast<std::size_t>(hit.plot)];
    if (!plot.planes.empty())
        return planeTable(figure, plot, hit);
    if (plot.table)
        return cellTable(*plot.table, hit);
    if (!hit.isOnAxes)
        return {};
    if (hit.cell)
        return mapTable(plot, hit);
    return hit.series >= 0 ? pointTable(plot, hit) : curveTable(plot, hit);
}

} // namespace ropewalk
