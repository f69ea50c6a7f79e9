// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cpu_backend.h"
#include "core/figure_catalog.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The figures of real configurations, as the program builds them, and made-up ones of every kind of plot.

namespace ropewalk {

inline FigureConfiguration sampleConfiguration(int index)
{
    FigureConfiguration shown;
    shown.letter = std::string(1, static_cast<char>('A' + index));
    shown.colour = index;
    RopeConfig& config = shown.config;
    switch (index) {
    case 0:
        config.name = "Llama-3.1-8B";
        config.base = 500000.0;
        config.rule = FrequencyRule::Llama3;
        config.parameters.factor = 8.0;
        config.maxPositionEmbeddings = 131072;
        config.originalMaxPositionEmbeddings = 8192;
        break;
    case 1:
        config.name = "base 10 000";
        config.maxPositionEmbeddings = 4096;
        break;
    case 2:
        config.name = "a quarter turns";
        config.headDim = 96;
        config.rotaryDim = 24;
        config.maxPositionEmbeddings = 2048;
        break;
    default:
        config.name = "256 pairs";
        config.headDim = config.rotaryDim = 512;
        config.base = 1e6;
        config.maxPositionEmbeddings = 32768;
    }
    return shown;
}

/// The first `count` sample configurations, computed.
/// `figure`: the one whose own computation is wanted as well.
inline FigureResults sampleResults(int count, const FigureOptions& options = {}, std::string_view figure = {})
{
    std::vector<std::unique_ptr<ComputeBackend>> backends;
    backends.push_back(makeCpuBackend());
    Engine engine(std::move(backends));
    ComputeRequest request;
    for (int i = 0; i < count; ++i)
        request.configurations.push_back(sampleConfiguration(i));
    request.options = options;
    request.wantsBound = options.showBound;
    if (!figure.empty())
        request.figures.emplace_back(figure);
    auto results = computeFigureResults(engine, request);
    return results ? std::move(results).value() : FigureResults{};
}

inline FigureSpec sampleFigure(const char* id, const FigureResults& results)
{
    return buildFigure(*findFigure(id), results);
}

/// A causal map of cos((m-n)θ): rows are queries, from top to bottom.
inline FigureSpec sampleMap(std::int64_t size = 64)
{
    FigureSpec figure;
    figure.id = "sample_map";
    figure.title = "Score of each query and key";
    figure.formula = "cos((m−n)θ)";
    figure.caption = "causal, all cells";
    figure.configurations = {sampleConfiguration(0)};
    figure.xAxis = {"key n (tokens)", AxisKind::Tokens, false, 0.0, static_cast<double>(size)};
    figure.xAxis.meaning = AxisMeaning::KeyPosition;
    figure.yAxis = {"query m (tokens)", AxisKind::Tokens, false, 0.0, static_cast<double>(size)};
    figure.yAxis.meaning = AxisMeaning::QueryPosition;
    figure.yAxis.isReversed = true;
    MapSpec map;
    map.name = "score";
    map.unit = "score/head_dim";
    map.rows = map.columns = size;
    map.pooling = "none";
    map.xUpper = map.yUpper = static_cast<double>(size);
    map.colours = ColourTable::Diverging;
    map.lower = -1.0;
    map.label = "score / head_dim";
    std::vector<double> values;
    for (std::int64_t m = 0; m < size; ++m)
        for (std::int64_t n = 0; n < size; ++n)
            values.push_back(n > m ? std::numeric_limits<double>::quiet_NaN()
                                   : std::cos(static_cast<double>(m - n) * 0.2));
    map.values = makeValues(std::move(values));
    figure.maps.push_back(std::move(map));
    figure.guides.push_back({false, 40.5, GuideRole::Selection, -1, {"m = 40"}});
    figure.guides.push_back({true, 25.5, GuideRole::Selection, -1, {"n = 25"}});
    return figure;
}

/// The channels of a head in both layouts, and how one becomes the other.
inline FigureSpec sampleTable(int channels = 64)
{
    FigureSpec figure;
    figure.id = "sample_table";
    figure.title = "The same head in two layouts";
    figure.caption = "above: neighbours pair; below: halves pair";
    figure.configurations = {sampleConfiguration(0)};
    TableSpec table;
    table.rows = 2;
    table.columns = channels;
    table.rowHeads = {"interleaved", "half"};
    const int pairs = channels / 2;
    for (int channel = 0; channel < channels; ++channel)
        table.columnHeads.push_back(std::to_string(channel));
    for (int row = 0; row < 2; ++row)
        for (int channel = 0; channel < channels; ++channel) {
            TableCell cell;
            cell.pair = row == 0 ? channel / 2 : channel % pairs;
            cell.text = std::to_string(cell.pair);
            cell.fill = CellFill::Pair;
            cell.share = static_cast<double>(cell.pair) / pairs;
            table.cells.push_back(cell);
        }
    for (int channel = 0; channel < channels; ++channel)
        table.links.push_back({0, channel, 1, channel / 2 + (channel % 2) * pairs, CellFill::Pair,
                               static_cast<double>(channel / 2) / pairs});
    figure.table = std::move(table);
    return figure;
}

/// Two clouds of points.
inline FigureSpec sampleClouds(int points = 400)
{
    FigureSpec figure;
    figure.id = "sample_clouds";
    figure.title = "Keys and queries";
    figure.caption = "two principal axes";
    figure.configurations = {sampleConfiguration(0)};
    figure.xAxis = {"first axis", AxisKind::Plain, false, -4.0, 4.0};
    figure.yAxis = {"second axis", AxisKind::Plain, false, -4.0, 4.0};
    for (int cloud = 0; cloud < 2; ++cloud) {
        Series series;
        series.name = cloud == 0 ? "queries" : "keys";
        series.label = cloud == 0 ? "queries" : "keys";
        series.style = SeriesStyle::Points;
        series.colour = cloud;
        std::vector<double> x, y;
        for (int i = 0; i < points; ++i) { // a sunflower: even, and without a generator
            const double radius = 1.5 * std::sqrt((i + 0.5) / points);
            x.push_back((cloud == 0 ? -1.0 : 1.2) + radius * std::cos(2.399963 * i));
            y.push_back((cloud == 0 ? 0.8 : -0.6) + radius * std::sin(2.399963 * i));
        }
        series.x = makeValues(std::move(x));
        series.y = makeValues(std::move(y));
        figure.series.push_back(std::move(series));
    }
    return figure;
}

/// Eight curves of one configuration, apart in colour and pattern; and bars over names beside them, a matrix
/// and a small map below.
inline FigureSpec samplePlots()
{
    FigureSpec figure = sampleMap(48);
    figure.id = "sample_plots";
    figure.title = "Several plots";
    figure.plotTitle = "the main plot";
    figure.guides.clear();
    figure.rowSpan = 2;
    figure.columnShares = {1.5, 1.0};
    PlotSpec curves;
    curves.plotTitle = "curves";
    curves.column = 1;
    curves.xAxis = {"distance r (tokens)", AxisKind::Tokens, true, 1.0, 4096.0};
    curves.xAxis.meaning = AxisMeaning::Distance;
    curves.yAxis = {"value", AxisKind::Plain, false, 0.0, 9.0};
    for (int k = 0; k < 8; ++k) {
        Series series;
        series.name = "curve_" + std::to_string(k);
        series.quantity = {"curve {k}", {{"k", std::to_string(k)}}};
        series.style = SeriesStyle::Line;
        series.colour = k;
        series.pattern = static_cast<LinePattern>(k % 4);
        std::vector<double> x, y;
        for (double r = 1.0; r <= 4096.0; r *= 1.1) {
            x.push_back(r);
            y.push_back(k + 0.5 + 0.3 * std::sin(std::log(r) + k));
        }
        series.x = makeValues(std::move(x));
        series.y = makeValues(std::move(y));
        curves.series.push_back(std::move(series));
    }
    PlotSpec bars;
    bars.plotTitle = "names";
    bars.column = 1;
    bars.row = 1;
    bars.xAxis = {{}, AxisKind::Categories, false, -0.5, 4.5};
    bars.xAxis.categories = {"plain", "linear interpolation", "NTK-aware", "YaRN", "RoPE-ID"};
    bars.yAxis = {"score", AxisKind::Plain, false, 0.0, 100.0};
    for (int k = 0; k < 2; ++k) {
        Series series;
        series.name = k == 0 ? "short" : "long";
        series.label = k == 0 ? "4k" : "128k";
        series.style = SeriesStyle::Bars;
        series.colour = k;
        series.x = makeValues({0.0, 1.0, 2.0, 3.0, 4.0});
        series.y = makeValues(k == 0 ? std::vector{81.0, 80.0, 79.0, 82.0, 81.0}
                                     : std::vector{3.0, 22.0, 41.0, 63.0, 70.0});
        bars.series.push_back(std::move(series));
    }
    figure.more = {std::move(curves), std::move(bars)};
    return figure;
}

/// A matrix of numbers, and one of published results.
inline FigureSpec sampleMatrix()
{
    FigureSpec figure;
    figure.id = "sample_matrix";
    figure.title = "One turn";
    figure.caption = "R(mθ)";
    figure.configurations = {sampleConfiguration(0)};
    TableSpec matrix;
    matrix.rows = matrix.columns = 2;
    matrix.isMatrix = true;
    for (const char* text : {"0.540302", "−0.841471", "0.841471", "0.540302"})
        matrix.cells.push_back({text});
    figure.table = std::move(matrix);
    PlotSpec results;
    results.plotTitle = "results";
    results.column = 1;
    results.table = TableSpec{};
    results.table->rows = 30;
    results.table->columns = 3;
    results.table->columnHeads = {"rule", "4k", "128k"};
    for (int row = 0; row < 30; ++row) {
        results.table->cells.push_back({Message("rule of row {row}", {{"row", std::to_string(row)}})});
        results.table->cells.push_back({std::to_string(80 + row % 7)});
        results.table->cells.push_back({std::to_string(2 * row)});
    }
    figure.more = {std::move(results)};
    return figure;
}

/// A made-up figure by its short name.
inline std::optional<FigureSpec> madeUpFigure(std::string_view name)
{
    if (name == "map")
        return sampleMap();
    if (name == "table")
        return sampleTable();
    if (name == "clouds")
        return sampleClouds();
    if (name == "plots")
        return samplePlots();
    if (name == "matrix")
        return sampleMatrix();
    return {};
}

} // namespace ropewalk
