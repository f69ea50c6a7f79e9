// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cpu_backend.h"
#include "core/figure_catalog.h"

#include <QtTest>

#include <algorithm>

namespace ropewalk::test {

/// The results behind the figure `id` on the processor; aborts on an error. The picked pair is one that the
/// heads have.
inline FigureResults resultsFor(std::string_view id, const std::vector<RopeConfig>& configs,
                                const FigureOptions& options = {}, bool isCoarse = false)
{
    int pairs = 1;
    for (const RopeConfig& config : configs)
        pairs = std::max(pairs, config.headDim / 2);
    std::vector<std::unique_ptr<ComputeBackend>> backends;
    backends.push_back(makeCpuBackend());
    Engine engine(std::move(backends));
    ComputeRequest request;
    for (std::size_t i = 0; i < configs.size(); ++i)
        request.configurations.push_back(
            {configs[i], std::string(1, static_cast<char>('A' + i)), static_cast<int>(i)});
    request.options = options;
    request.options.pair = std::min(options.pair, pairs - 1);
    request.figures = {std::string(id)};
    request.wantsDecay = findFigure(id)->needsDecay;
    request.isCoarse = isCoarse;
    auto results = computeFigureResults(engine, request);
    if (!results)
        qFatal("%s", toEnglish(results.error()).c_str());
    return std::move(*results);
}

inline FigureSpec figureFor(std::string_view id, const std::vector<RopeConfig>& configs,
                            const FigureOptions& options = {}, bool isCoarse = false)
{
    return buildFigure(*findFigure(id), resultsFor(id, configs, options, isCoarse));
}

inline FigureOptions withSettings(std::initializer_list<std::pair<const char*, const char*>> settings,
                                  FigureOptions options = {})
{
    for (const auto& [key, value] : settings)
        if (!options.settings.set(key, value))
            qFatal("%s = %s", key, value);
    return options;
}

/// The exported (or, when asked for, the drawn) series of that name; aborts when there is none.
inline const Series& seriesOf(const FigureSpec& figure, std::string_view name, int configuration = 0)
{
    for (const PlotSpec* plot : figure.plots())
        for (const Series& series : plot->series)
            if (series.name == name && series.configuration == configuration && series.isExported)
                return series;
    qFatal("no series %s", std::string(name).c_str());
}

inline const Marker& markerOf(const FigureSpec& figure, std::string_view name, int configuration = 0)
{
    for (const PlotSpec* plot : figure.plots())
        for (const Marker& marker : plot->markers)
            if (marker.name == name && marker.configuration == configuration)
                return marker;
    qFatal("no marker %s", std::string(name).c_str());
}

inline RopeConfig plainRope(int headDim, int rotaryDim, double base, Layout layout = Layout::Half)
{
    RopeConfig config;
    config.name = "plain";
    config.headDim = headDim;
    config.rotaryDim = rotaryDim;
    config.base = base;
    config.layout = layout;
    return config;
}

/// Shapes that every figure must hold for: series of one length, axes with an extent, named series.
inline void checkShapes(const FigureSpec& figure)
{
    QVERIFY(!figure.title.isEmpty());
    QVERIFY(!figure.summary.isEmpty());
    if (!figure.failure.isEmpty())
        return;
    for (const PlotSpec* plot : figure.plots()) {
        for (const Series& series : plot->series) {
            QVERIFY(!series.name.empty());
            QCOMPARE(series.x->size(), series.y->size());
        }
        if (plot->table) {
            QCOMPARE(plot->table->cells.size(), static_cast<std::size_t>(plot->table->rows) *
                                                    static_cast<std::size_t>(plot->table->columns));
            QVERIFY(plot->table->rowHeads.empty() ||
                    plot->table->rowHeads.size() == static_cast<std::size_t>(plot->table->rows));
        } else if (plot->planes.empty()) {
            QVERIFY(plot->xAxis.lower < plot->xAxis.upper);
            QVERIFY(plot->yAxis.lower < plot->yAxis.upper);
            QVERIFY(!plot->yAxis.isLogarithmic || plot->yAxis.lower > 0.0);
        }
        for (const MapSpec& map : plot->maps)
            QCOMPARE(map.values->size(), static_cast<std::size_t>(map.rows * map.columns));
    }
}

} // namespace ropewalk::test
