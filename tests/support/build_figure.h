// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cpu_backend.h"
#include "core/figure_catalog.h"

#include <QtGlobal>
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace ropewalk::test {

/// What a figure is asked for in a test.
struct FigureAsk
{
    std::string id;
    std::vector<RopeConfig> configurations;
    std::vector<std::pair<std::string, std::string>> settings = {};
    FigureOptions options = {};
    bool isCoarse = false;
};

/// The results behind the figure as the program makes it, on the processor; aborts when it cannot be
/// computed. The picked pair is one that the heads have.
inline FigureResults resultsFor(const FigureAsk& ask)
{
    std::vector<std::unique_ptr<ComputeBackend>> backends;
    backends.push_back(makeCpuBackend());
    Engine engine(std::move(backends));
    ComputeRequest request;
    request.options = ask.options;
    int mostPairs = 1;
    for (const RopeConfig& config : ask.configurations)
        mostPairs = std::max(mostPairs, config.headDim / 2);
    request.options.pair = std::min(request.options.pair, mostPairs - 1);
    for (const auto& [key, value] : ask.settings)
        if (const auto set = request.options.settings.set(key, value); !set)
            qFatal("%s", toEnglish(set.error()).c_str());
    int index = 0;
    for (const RopeConfig& config : ask.configurations) {
        request.configurations.push_back({config, std::string(1, static_cast<char>('A' + index)), index});
        ++index;
    }
    request.figures = {ask.id};
    request.wantsDecay = findFigure(ask.id)->needsDecay;
    request.isCoarse = ask.isCoarse;
    auto results = computeFigureResults(engine, request);
    if (!results)
        qFatal("%s", toEnglish(results.error()).c_str());
    return std::move(*results);
}

inline FigureSpec figureFor(const FigureAsk& ask)
{
    return buildFigure(*findFigure(ask.id), resultsFor(ask));
}

inline FigureOptions withSettings(std::initializer_list<std::pair<const char*, const char*>> settings,
                                  FigureOptions options = {})
{
    for (const auto& [key, value] : settings)
        if (!options.settings.set(key, value))
            qFatal("%s = %s", key, value);
    return options;
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

/// The series of any of its plots with this name and configuration, or null.
inline const Series* findSeries(const FigureSpec& figure, const std::string& name, int configuration = 0)
{
    for (const PlotSpec* plot : figure.plots())
        for (const Series& series : plot->series)
            if (series.name == name && series.configuration == configuration)
                return &series;
    return nullptr;
}

/// The same of the data (what is drawn beside it is left out); aborts when there is none.
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

/// Its value at `x`; aborts when there is no such series or no such x.
inline double valueAt(const FigureSpec& figure, const std::string& name, double x, int configuration = 0)
{
    const Series* series = findSeries(figure, name, configuration);
    if (!series)
        qFatal("no series %s", name.c_str());
    for (std::size_t i = 0; i < series->x->size(); ++i)
        if ((*series->x)[i] == x)
            return (*series->y)[i];
    qFatal("series %s has no x = %g", name.c_str(), x);
}

/// What every figure keeps: axes with an extent, x and y of one length, places on the grid that do not
/// overlap, words where words are due. Empty when it does, else what is wrong.
inline std::string brokenPromise(const FigureSpec& figure)
{
    if (!figure.failure.isEmpty())
        return {};
    if (figure.title.isEmpty() || figure.caption.isEmpty() || figure.source.isEmpty() ||
        figure.summary.isEmpty())
        return "title, caption, source or summary is empty";
    for (const Message* text :
         {&figure.title, &figure.formula, &figure.caption, &figure.source, &figure.summary})
        if (toEnglish(*text).find('{') != std::string::npos)
            return "a value is missing in: " + toEnglish(*text);
    const std::vector<const PlotSpec*> plots = figure.plots();
    for (const PlotSpec* plot : plots) {
        for (const Series& series : plot->series) {
            if (series.name.empty())
                return "a series has no name";
            if (!series.x || !series.y || series.x->size() != series.y->size() || series.x->empty())
                return series.name + " has no data, or x and y of different length";
            if (series.style != SeriesStyle::DataOnly && series.label.isEmpty() &&
                series.quantity.isEmpty() && figure.configurations.size() > 1)
                return series.name + " is drawn and has no name";
        }
        for (const MapSpec& map : plot->maps)
            if (static_cast<std::int64_t>(map.values->size()) != map.rows * map.columns ||
                !(map.lower < map.upper) || !(map.xLower < map.xUpper) || !(map.yLower < map.yUpper))
                return map.name + " has another size or no extent";
        if (plot->table &&
            static_cast<int>(plot->table->cells.size()) != plot->table->rows * plot->table->columns)
            return "the table has another number of cells";
        if (plot->table && !plot->table->rowHeads.empty() &&
            static_cast<int>(plot->table->rowHeads.size()) != plot->table->rows)
            return "the table has another number of heads of rows";
        if (!plot->table && plot->planes.empty())
            for (const AxisSpec* axis : {&plot->xAxis, &plot->yAxis})
                if (!(axis->lower < axis->upper) || (axis->isLogarithmic && !(axis->lower > 0.0)))
                    return "an axis has no extent: " + toEnglish(axis->label);
        for (const PlotSpec* other : plots)
            if (other != plot && plot->row < other->row + other->rowSpan &&
                other->row < plot->row + plot->rowSpan && plot->column < other->column + other->columnSpan &&
                other->column < plot->column + plot->columnSpan)
                return "two plots overlap: " + toEnglish(plot->plotTitle) + " / " +
                       toEnglish(other->plotTitle);
    }
    return {};
}

} // namespace ropewalk::test
