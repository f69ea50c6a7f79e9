// SPDX-License-Identifier: GPL-3.0-or-later
#include "figures.h"

#include "../mean_turn.h"
#include "../rope_math.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ropewalk {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Cells across, at most: positions are pooled beyond.
constexpr std::int64_t kColumns = 512;

enum class AngleValue { Cosine, Sine, Angle };

AngleValue valueOf(const FigureOptions& options)
{
    const std::string_view word = options.settings.text("angle_value");
    return word == "sin" ? AngleValue::Sine : word == "angle" ? AngleValue::Angle : AngleValue::Cosine;
}

/// The value of one cell, or NaN where it has none.
double cellOf(AngleValue value, double theta, std::int64_t first, std::int64_t count)
{
    // A pair that goes more than half way round within a cell has no angle there.
    if (value == AngleValue::Angle && static_cast<double>(count - 1) * std::fabs(theta) > kPi)
        return kNone;
    const std::complex<double> mean = meanTurn(theta, first, count);
    if (value == AngleValue::Cosine)
        return mean.real();
    if (value == AngleValue::Sine)
        return mean.imag();
    const double angle = std::arg(mean); // of the mean arrow: the angle at the middle of the cell
    return angle < 0.0 ? std::min(angle + kTwoPi, std::nextafter(kTwoPi, 0.0)) : angle;
}

PlotSpec mapOf(const FigureResults& results, int index, const ConfigurationResult& result)
{
    const FigureOptions& options = results.options;
    const AngleValue value = valueOf(options);
    const std::int64_t positions = options.settings.whole("angle_positions");
    MapSpec map;
    map.configuration = index;
    map.block = (positions + kColumns - 1) / kColumns;
    map.columns = (positions + map.block - 1) / map.block;
    map.rows = result.channels.pairCount();
    map.pooling = map.block == 1 ? "none" : value == AngleValue::Angle ? "circular mean" : "mean";
    std::vector<double> cells;
    cells.reserve(static_cast<std::size_t>(map.rows * map.columns));
    for (int pair = 0; pair < result.channels.pairCount(); ++pair)
        for (std::int64_t column = 0; column < map.columns; ++column) {
            const std::int64_t first = column * map.block;
            const std::int64_t count = std::min(map.block, positions - first);
            cells.push_back(result.table.turns(pair) ? cellOf(value, result.table.theta(pair), first, count)
                                                     : kNone);
        }
    map.values = makeValues(std::move(cells));
    map.xLower = -0.5;
    map.xUpper = static_cast<double>(map.columns * map.block) - 0.5;
    map.yLower = -0.5;
    map.yUpper = static_cast<double>(map.rows) - 0.5;
    if (value == AngleValue::Angle) {
        map.name = "angle";
        map.unit = "rad";
        map.colours = ColourTable::Cyclic;
        map.lower = 0.0;
        map.upper = kTwoPi;
        map.label = "angle pθ′ mod 2π (rad)";
    } else {
        map.name = value == AngleValue::Cosine ? "cos" : "sin";
        map.unit = "1";
        map.colours = ColourTable::Diverging;
        map.lower = -1.0;
        map.upper = 1.0;
        map.label = value == AngleValue::Cosine ? "cos pθ′" : "sin pθ′";
    }
    PlotSpec plot;
    plot.xAxis = {"position p (tokens)", AxisKind::Tokens, false, map.xLower, map.xUpper};
    plot.xAxis.meaning = AxisMeaning::QueryPosition;
    plot.yAxis = {"pair i, fast to slow", AxisKind::Pair, false, map.yLower, map.yUpper};
    plot.yAxis.meaning = AxisMeaning::Pair;
    plot.yAxis.isReversed = true;
    if (options.showsSelection) {
        const auto mark = [&](const char* label, std::int64_t position) {
            if (position < positions)
                plot.guides.push_back({true, static_cast<double>(position), GuideRole::Selection, -1, label});
        };
        mark("m", options.m);
        if (options.n != options.m)
            mark("n", options.n);
        if (options.pair < map.rows)
            plot.guides.push_back({false, static_cast<double>(options.pair), GuideRole::Selection, -1, {}});
    }
    const std::string letter = letterIfSeveral(results, index);
    if (!letter.empty())
        plot.plotTitle = {"{letter} · {name}", {{"letter", letter}, {"name", result.shown.config.name}}};
    plot.maps.push_back(std::move(map));
    return plot;
}

} // namespace

/// cos, sin or angle of pθ'_i over position and pair; RoFormer, arXiv:2104.09864, equation 15. A cell of
/// several positions is their exact mean, so that a pair too fast to be seen comes out grey instead of as
/// stripes that are not there.
FigureSpec buildAngles(const FigureResults& results)
{
    FigureSpec figure;
    const FigureOptions& options = results.options;
    const AngleValue value = valueOf(options);
    const std::int64_t positions = options.settings.whole("angle_positions");
    const int focus = focusIndex(results);
    int others = 0;
    std::int64_t block = 1;
    int still = 0;
    int unclear = 0; // pairs without an angle, of the configuration in the main plot
    const auto addMap = [&](int index, const ConfigurationResult& result) {
        PlotSpec plot = mapOf(results, index, result);
        if (index == focus) {
            block = plot.maps.front().block;
            still = result.channels.pairCount() - result.table.turningPairs();
            for (int pair = 0; pair < result.channels.pairCount(); ++pair)
                if (result.table.turns(pair) && std::isnan(cellOf(value, result.table.theta(pair), 0, block)))
                    ++unclear;
            static_cast<PlotSpec&>(figure) = std::move(plot);
            return;
        }
        ++others;
        plot.row = others / 2;
        plot.column = others % 2;
        figure.more.push_back(std::move(plot));
    };
    addMap(focus, results.configurations[static_cast<std::size_t>(focus)]);
    forEachDrawable(results, [&](int index, const ConfigurationResult& result) {
        if (index != focus)
            addMap(index, result);
    });
    const bool isAngle = value == AngleValue::Angle;
    figure.title = isAngle                       ? Message("Angle of each pair at each position")
                   : value == AngleValue::Cosine ? Message("Cosine of each pair at each position")
                                                 : Message("Sine of each pair at each position");
    figure.formula = isAngle ? "pθ′ᵢ mod 2π" : value == AngleValue::Cosine ? "cos pθ′ᵢ" : "sin pθ′ᵢ";
    figure.source = "RoFormer, arXiv:2104.09864, equation 15";
    const std::string name = results.configurations[static_cast<std::size_t>(focus)].shown.config.name;
    Message caption{"{name} · positions 0 to {last}",
                    {{"name", name}, {"last", groupedDigits(positions - 1)}}};
    if (block == 1)
        caption.text += ", each alone";
    else if (!isAngle)
        caption.text += ", a cell is the mean of {block} · a pair that turns fast within a cell has mean 0";
    else
        caption.text += ", a cell is the mean direction of {block}";
    if (unclear > 0)
        caption.text += " · {unclear} pairs go more than half way round within a cell and show no angle";
    if (still > 0)
        caption.text += " · {still} pairs are not turned";
    caption.values.emplace_back("block", groupedDigits(block));
    caption.values.emplace_back("unclear", std::to_string(unclear));
    caption.values.emplace_back("still", std::to_string(still));
    figure.caption = std::move(caption);
    figure.summary = {
        "Map of {what} over position, 0 to {last}, and pair, fast to slow from the top, of {names}.",
        {{"what", isAngle                       ? "the angle"
                  : value == AngleValue::Cosine ? "the cosine"
                                                : "the sine"},
         {"last", groupedDigits(positions - 1)},
         {"names", joinedNames(results)}}};
    return figure;
}

} // namespace ropewalk
