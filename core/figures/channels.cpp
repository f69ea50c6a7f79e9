// SPDX-License-Identifier: GPL-3.0-or-later
#include "figures.h"

#include "../position_axes.h"
#include "../score_parts.h"

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

/// Cells of a strip in one row; a wider head takes several.
constexpr int kStripCells = 256;
/// Rows of q and k that are read where they differ from position to position.
constexpr std::int64_t kRows = 512;

struct ChannelParts
{
    Values distances;               ///< tokens, every one from 0
    Values positional, content;     ///< score/head_dim, or their means by distance
    Values sdPositional, sdContent; ///< null where there is one q and one k
    double positionalShare = 0.0;
    std::int64_t rows = 0, notFinite = 0;
};

struct ChannelData : FigureData
{
    std::vector<ChannelParts> configurations;
};

double rotatedShare(const ConfigurationResult& result)
{
    return 2.0 * result.table.turningPairs() / result.shown.config.headDim;
}

/// How the pairs share several positions.
struct Axes
{
    PositionScheme scheme = PositionScheme::Text;
    std::vector<PairAxis> ofPair; ///< one a pair that is formed; empty for text alone
    bool isModels = false;        ///< as the configuration has them; else as the setting says

    bool isVision() const { return !ofPair.empty() && !isModels; }
    const char* letter(int axis) const
    {
        return isVision() ? axis == 0 ? "r" : "c" : axis == 0 ? "t" : axis == 1 ? "h" : "w";
    }
    const char* name(int axis) const
    {
        return isVision()  ? axis == 0 ? "row" : "column"
               : axis == 0 ? "time"
               : axis == 1 ? "height"
                           : "width";
    }
    /// 0..1, for the colour.
    double share(int axis) const { return isVision() ? axis : axis / 2.0; }
};

Axes axesOf(const ConfigurationResult& result, const FigureOptions& options)
{
    const RopeConfig& config = result.shown.config;
    Axes axes;
    const std::string_view wanted = options.settings.text("position_axes");
    axes.isModels = wanted == "model";
    if (!axes.isModels)
        axes.scheme = wanted == "vision_qwen2"     ? PositionScheme::VisionQwen2
                      : wanted == "vision_pixtral" ? PositionScheme::VisionPixtral
                                                   : PositionScheme::VisionLlama4;
    else if (!config.mropeSection.empty())
        axes.scheme = config.isMropeInterleaved ? PositionScheme::MropeInterleaved : PositionScheme::Mrope;
    if (axes.scheme != PositionScheme::Text && config.base > 1.0)
        axes.ofPair = pairAxes(axes.scheme, pairCount(config), config.base, config.mropeSection);
    return axes;
}

/// Adds the channels of one head to the table: coloured by pair where they turn, grey where they stay.
void addStrip(TableSpec& table, const FigureResults& results, int index, const ConfigurationResult& result,
              const Axes& axes, int picked)
{
    const RopeConfig& config = result.shown.config;
    std::vector<TableCell> cells(static_cast<std::size_t>(config.headDim));
    std::vector<TableCell> axisCells;
    if (!axes.ofPair.empty())
        axisCells.resize(cells.size());
    const int turning = result.table.turningPairs();
    int rank = 0;
    for (int pair = 0; pair < result.channels.pairCount(); ++pair) {
        const auto [a, b] = result.channels.pair(pair);
        const bool turns = result.table.turns(pair);
        for (const int channel : {a, b}) {
            TableCell& cell = cells[static_cast<std::size_t>(channel)];
            cell.text = std::to_string(channel);
            cell.pair = pair;
            cell.fill = pair == picked ? CellFill::Accent : turns ? CellFill::Pair : CellFill::Still;
            cell.share = turning > 1 ? static_cast<double>(rank) / (turning - 1) : 0.0;
            cell.isStrong = pair == picked;
            if (static_cast<std::size_t>(pair) < axes.ofPair.size() && (turns || axes.isVision())) {
                const int axis = axes.ofPair[static_cast<std::size_t>(pair)].axis;
                TableCell& below = axisCells[static_cast<std::size_t>(channel)];
                below.text = axes.letter(axis);
                below.fill = CellFill::Pair;
                below.share = axes.share(axis);
                below.pair = pair;
            }
        }
        rank += turns;
    }
    const std::string letter = letterIfSeveral(results, index);
    const auto addRows = [&](const std::vector<TableCell>& strip, const char* kind) {
        for (int from = 0; from < config.headDim; from += kStripCells) {
            const int to = std::min(config.headDim, from + kStripCells);
            Message head{letter.empty() ? "{kind}" : "{letter} {kind}", {{"letter", letter}, {"kind", kind}}};
            if (config.headDim > kStripCells) {
                head.text += " {from}–{to}";
                head.values.emplace_back("from", std::to_string(from));
                head.values.emplace_back("to", std::to_string(to - 1));
            }
            table.rowHeads.push_back(std::move(head));
            table.cells.insert(table.cells.end(), strip.begin() + from, strip.begin() + to);
            table.cells.resize(table.cells.size() + static_cast<std::size_t>(table.columns - (to - from)));
            ++table.rows;
        }
    };
    addRows(cells, "channels");
    if (!axisCells.empty())
        addRows(axisCells, "axis");
}

Series makeSeries(int index, const char* name, const Values& x, const Values& y)
{
    Series series;
    series.configuration = index;
    series.name = name;
    series.unit = "score/head_dim";
    series.xUnit = "token";
    series.x = x;
    series.y = y;
    return series;
}

/// An axis that holds the values, with some air.
AxisSpec valueAxis(const char* label, double lower, double upper)
{
    const double margin = 0.06 * std::max(upper - lower, 1e-6);
    return {label, AxisKind::Plain, false, lower - margin, upper + margin};
}

void includeValues(const Values& values, double& lower, double& upper)
{
    for (const double value : *values)
        if (std::isfinite(value)) {
            lower = std::min(lower, value);
            upper = std::max(upper, value);
        }
}

AxisSpec distanceAxis(const FigureOptions& options, double last)
{
    AxisSpec axis{"distance r = m − n (tokens)", AxisKind::Tokens, options.isDistanceLogarithmic,
                  options.isDistanceLogarithmic ? 1.0 : 0.0, last};
    axis.meaning = AxisMeaning::Distance;
    if (!(axis.lower < axis.upper))
        axis.upper = axis.lower + 1.0;
    return axis;
}

void addDistanceGuide(PlotSpec& plot, const FigureOptions& options)
{
    const auto distance = static_cast<double>(std::llabs(options.m - options.n));
    if (options.showsSelection && distance >= plot.xAxis.lower && distance <= plot.xAxis.upper)
        plot.guides.push_back(
            {true,
             distance,
             GuideRole::Selection,
             -1,
             {"r = {distance}", {{"distance", groupedDigits(std::llabs(options.m - options.n))}}}});
}

/// C(r) of each configuration above its floor 1 - 2f.
PlotSpec floorPlot(const FigureResults& results)
{
    PlotSpec plot;
    double lower = 0.0, upper = 1.0;
    forEachDrawable(results, [&](int index, const ConfigurationResult& result) {
        if (!result.decay)
            return;
        Series sum = makeSeries(index, "cosine_sum", result.decay->distances, result.decay->cosineSum);
        sum.style = SeriesStyle::Line;
        sum.label = letterIfSeveral(results, index);
        sum.quantity = "C(r)";
        includeValues(sum.y, lower, upper);
        plot.series.push_back(std::move(sum));
    });
    forEachDrawable(results, [&](int index, const ConfigurationResult& result) {
        const double least = 1.0 - 2.0 * rotatedShare(result);
        if (least <= -1.0)
            return; // all turn: the floor is no news
        const std::string letter = letterIfSeveral(results, index);
        lower = std::min(lower, least);
        addGuide(plot, {false,
                        least,
                        GuideRole::Threshold,
                        index,
                        {letter.empty() ? "floor 1 − 2f = {floor}" : "{letter}: floor 1 − 2f = {floor}",
                         {{"letter", letter}, {"floor", shortNumber(least, 3)}}}});
    });
    plot.guides.push_back({false, 0.0, GuideRole::Zero, -1, {}});
    plot.xAxis = distanceAxis(results.options, static_cast<double>(results.options.maxDistance));
    plot.yAxis = valueAxis("C(r)", lower, upper);
    plot.plotTitle = "C(r), never below 1 − 2f";
    addDistanceGuide(plot, results.options);
    return plot;
}

/// Positional and content part of the score of each configuration.
PlotSpec partsPlot(const FigureResults& results, const ChannelData& data)
{
    PlotSpec plot;
    double lower = 0.0, upper = 0.0, last = 1.0;
    const int focus = focusIndex(results);
    bool isMean = false;
    forEachDrawable(results, [&](int index, const ConfigurationResult&) {
        const ChannelParts& parts = data.configurations[static_cast<std::size_t>(index)];
        if (!parts.positional)
            return;
        isMean = isMean || parts.sdPositional;
        const std::string letter = letterIfSeveral(results, index);
        const auto add = [&](const char* name, const char* alone, const char* withLetter, const Values& y,
                             LinePattern pattern) {
            Series series = makeSeries(index, name, parts.distances, y);
            series.style = SeriesStyle::Line;
            series.label = {letter.empty() ? alone : withLetter, {{"letter", letter}}};
            series.quantity = alone;
            series.pattern = pattern;
            series.isEmphasised = index == focus && pattern == LinePattern::Solid;
            includeValues(y, lower, upper);
            plot.series.push_back(std::move(series));
        };
        add("positional_part", "positional", "{letter} positional", parts.positional, LinePattern::Solid);
        add("content_part", "content", "{letter} content", parts.content, LinePattern::Dashed);
        if (parts.sdPositional) {
            plot.series.push_back(
                makeSeries(index, "positional_part_sd", parts.distances, parts.sdPositional));
            plot.series.push_back(makeSeries(index, "content_part_sd", parts.distances, parts.sdContent));
        }
        last = std::max(last, parts.distances->back());
    });
    plot.guides.push_back({false, 0.0, GuideRole::Zero, -1, {}});
    plot.xAxis = distanceAxis(results.options, last);
    plot.yAxis = valueAxis("score / head_dim", lower, upper);
    plot.plotTitle = isMean ? "Mean over queries: turning and still pairs" : "Score: turning and still pairs";
    addDistanceGuide(plot, results.options);
    return plot;
}

/// The plain θ with which each pair turns, told apart by the axis whose position turns it.
void addAxes(PlotSpec& plot, int index, const Axes& axes, const std::string& letter)
{
    for (int axis = 0; axis < (axes.isVision() ? 2 : 3); ++axis) {
        std::vector<double> pairs, thetas;
        for (std::size_t pair = 0; pair < axes.ofPair.size(); ++pair)
            if (axes.ofPair[pair].axis == axis) {
                pairs.push_back(static_cast<double>(pair));
                thetas.push_back(axes.ofPair[pair].thetaRadians);
            }
        if (pairs.empty())
            continue;
        plot.xAxis.upper = std::max(plot.xAxis.upper, static_cast<double>(axes.ofPair.size()) - 0.5);
        plot.yAxis.lower = std::min(plot.yAxis.lower, 0.5 * *std::min_element(thetas.begin(), thetas.end()));
        Series series = makeSeries(index, "", makeValues(std::move(pairs)), makeValues(std::move(thetas)));
        series.name = std::string("axis_inv_freq_") + axes.name(axis);
        series.unit = "rad/token";
        series.xUnit = "pair";
        series.style = SeriesStyle::Markers;
        series.colour = axis;
        series.label = {letter.empty() ? "{axis}" : "{letter} {axis}",
                        {{"axis", axes.name(axis)}, {"letter", letter}}};
        series.quantity = {"θ of {axis}", {{"axis", axes.name(axis)}}};
        plot.series.push_back(std::move(series));
    }
}

double contributionOf(const ConfigurationResult& result, bool turning)
{
    double sum = 0.0;
    for (int pair = 0; pair < result.channels.pairCount(); ++pair)
        if (result.table.turns(pair) == turning)
            sum += result.scores->contribution[static_cast<std::size_t>(pair)];
    return sum / result.shown.config.headDim;
}

} // namespace

/// One q and k at every distance of the decay figure; or, where they differ by position, the first rows, each
/// with each. Errors: Cancelled.
Result<std::shared_ptr<const FigureData>> computeChannels(FigureJob& job)
{
    auto data = std::make_shared<ChannelData>();
    const FigureOptions& options = job.request.options;
    const Error cancelled{ErrorCode::Cancelled, "stopped", {}};
    Values chosen; // in a preview those of the curve beside it, for all configurations
    for (const ConfigurationResult& result : job.configurations)
        if (!chosen && result.decay && result.decay->isCoarse)
            chosen = result.decay->distances;
    const auto wholeDistances = [](std::int64_t count) {
        std::vector<double> all(static_cast<std::size_t>(count));
        for (std::size_t r = 0; r < all.size(); ++r)
            all[r] = static_cast<double>(r);
        return makeValues(std::move(all));
    };
    for (const ConfigurationResult& result : job.configurations) {
        ChannelParts parts;
        const auto source = ContentSource::make(options, result.shown.config);
        if (result.scores && source) {
            if (source->isFixed()) {
                const ContentRows rows = makeContent(*source, 0, 0);
                std::optional<ScoreParts> one;
                if (chosen) {
                    parts.distances = chosen;
                    one = scorePartsAt(result.shown.config, result.channels, result.table, rows, *chosen,
                                       job.stop);
                    data->isCoarse = true;
                } else {
                    parts.distances = wholeDistances(options.maxDistance + 1);
                    one = scoreParts(result.shown.config, result.channels, result.table, rows,
                                     options.maxDistance, job.stop);
                }
                if (!one)
                    return cancelled;
                const std::size_t count = one->positional.size();
                parts.content = makeValues(std::vector<double>(count, one->content));
                double square = 0.0;
                for (const double value : one->positional)
                    square += value * value;
                parts.positionalShare =
                    square / (square + static_cast<double>(count) * one->content * one->content);
                parts.positional = makeValues(std::move(one->positional));
            } else {
                auto rows =
                    rowParts(result.shown.config, result.channels, result.table, *source, kRows, job.stop);
                if (!rows)
                    return cancelled;
                parts.distances = wholeDistances(rows->rows);
                parts.rows = rows->rows;
                parts.notFinite = rows->notFinite;
                parts.positionalShare = rows->positionalShare;
                parts.positional = makeValues(std::move(rows->meanPositional));
                parts.content = makeValues(std::move(rows->meanContent));
                parts.sdPositional = makeValues(std::move(rows->sdPositional));
                parts.sdContent = makeValues(std::move(rows->sdContent));
            }
        }
        data->configurations.push_back(std::move(parts));
    }
    return std::shared_ptr<const FigureData>(std::move(data));
}

/// Which channels turn, and what that leaves of the decay: C(r) = 1 - f + f·2B/d (kexue.fm/archives/10122),
/// so that a head of which half or less turns never falls below zero.
FigureSpec buildChannels(const FigureResults& results)
{
    FigureSpec figure;
    const FigureOptions& options = results.options;
    const int picked = options.showsSelection ? options.pair : -1;
    TableSpec table;
    forEachDrawable(results, [&](int, const ConfigurationResult& result) {
        table.columns = std::max(table.columns, std::min(kStripCells, result.shown.config.headDim));
    });
    Message caption;
    std::string shares;
    PlotSpec axesPlot;
    axesPlot.plotTitle = "Frequency of each pair, and whose position turns it";
    axesPlot.xAxis = {"pair index i", AxisKind::Plain, false, -0.5, 0.5};
    axesPlot.xAxis.meaning = AxisMeaning::Pair;
    axesPlot.yAxis = {"θ (rad/position)", AxisKind::Plain, true, 0.5, 2.0};
    forEachDrawable(results, [&](int index, const ConfigurationResult& result) {
        const Axes axes = axesOf(result, options);
        addStrip(table, results, index, result, axes, picked);
        const std::string letter = letterIfSeveral(results, index);
        addAxes(axesPlot, index, axes, letter);
        if (axes.isVision())
            figure.notes.push_back(
                {Severity::Read,
                 "position_axes",
                 {"only the axes are those of an image; the curves are of one position", {}}});
        if (axes.isVision() && axes.scheme == PositionScheme::VisionLlama4)
            figure.notes.push_back({Severity::Read,
                                    "position_axes",
                                    {"columns and rows count from 1; the class token is not turned", {}}});
        if (!axes.isModels && axes.ofPair.empty())
            figure.notes.push_back({Severity::Warning,
                                    "position_axes",
                                    {"{pairs} pairs do not halve into rows and columns",
                                     {{"pairs", std::to_string(pairCount(result.shown.config))}}}});
        const std::string suffix = std::to_string(index);
        caption.text += caption.text.empty() ? "" : " · ";
        caption.text += (letter.empty() ? "" : letter + ": ") + "{turning" + suffix + "} of {all" + suffix +
                        "} channels turn, f = {share" + suffix + "}";
        caption.values.emplace_back("turning" + suffix, std::to_string(2 * result.table.turningPairs()));
        caption.values.emplace_back("all" + suffix, std::to_string(result.shown.config.headDim));
        caption.values.emplace_back("share" + suffix, shortNumber(rotatedShare(result), 3));
        shares += (shares.empty() ? "" : ", ") + shortNumber(rotatedShare(result), 3);
        for (const bool turning : {true, false}) {
            Marker part;
            part.configuration = index;
            part.name = turning ? "positional_part" : "content_part";
            part.x = static_cast<double>(options.m - options.n);
            part.value = contributionOf(result, turning);
            figure.markers.push_back(std::move(part));
        }
        std::vector<double> channels, pairs(static_cast<std::size_t>(result.shown.config.headDim)),
            turns = pairs;
        for (int channel = 0; channel < result.shown.config.headDim; ++channel)
            channels.push_back(channel);
        for (int pair = 0; pair < result.channels.pairCount(); ++pair) {
            const auto [a, b] = result.channels.pair(pair);
            for (const int channel : {a, b}) {
                pairs[static_cast<std::size_t>(channel)] = pair;
                turns[static_cast<std::size_t>(channel)] = result.table.turns(pair) ? 1.0 : 0.0;
            }
        }
        const Values x = makeValues(std::move(channels));
        for (auto& [name, unit, values] :
             {std::tuple{"pair_of_channel", "pair", pairs}, {"turns", "1", turns}}) {
            Series series;
            series.configuration = index;
            series.name = name;
            series.unit = unit;
            series.xUnit = "channel";
            series.x = x;
            series.y = makeValues(values);
            figure.series.push_back(std::move(series));
        }
    });
    figure.table = std::move(table);
    figure.title = "Channels that turn";
    figure.formula = "C(r) = 1 − f + f · (2/d) Σ cos rθ′ᵢ ≥ 1 − 2f";
    figure.source = "Su, kexue.fm/archives/10122; GPT-NeoX rotary_pct; p-RoPE, arXiv:2410.06205; RoPE-ID, "
                    "arXiv:2603.18017";
    figure.plotTitle = "Channels of the head: coloured by pair, fast to slow; grey stays";
    figure.columnSpan = 2;
    PlotSpec floor = floorPlot(results);
    floor.row = 1;
    figure.more.push_back(std::move(floor));
    if (!axesPlot.series.empty()) {
        if (!options.settings.is("position_axes", "model"))
            axesPlot.plotTitle = "Rows and columns of an image: who turns a pair, and how fast";
        axesPlot.row = 2;
        axesPlot.columnSpan = 2;
        figure.more.push_back(std::move(axesPlot));
    }
    const int focus = focusIndex(results);
    const ConfigurationResult& drawn = results.configurations[static_cast<std::size_t>(focus)];
    if (const auto* data = dataOf<ChannelData>(results, "channels")) {
        PlotSpec parts = partsPlot(results, *data);
        parts.row = parts.column = 1;
        figure.more.push_back(std::move(parts));
        const ChannelParts& own = data->configurations[static_cast<std::size_t>(focus)];
        if (own.notFinite > 0)
            figure.notes.push_back(
                {Severity::Warning,
                 "content",
                 {"{count} of {rows} rows of q and k hold values that are not finite; left out",
                  {{"count", groupedDigits(own.notFinite)}, {"rows", groupedDigits(own.rows)}}}});
        const std::string letter = letterIfSeveral(results, focus);
        if (data->isCoarse) {
            caption.text = "preview: about a thousand of the distances · " + caption.text;
        } else {
            caption.text +=
                " · content {content}: of the mean squares of both parts the positional one has {part} %";
            if (own.rows > 0)
                caption.text += " over the first {rows} rows";
            if (!letter.empty())
                caption.text += " of {letter}";
        }
        caption.values.emplace_back("content", options.content == Content::File && options.tensors
                                                   ? options.tensors->name
                                                   : std::string(word(options.content)));
        caption.values.emplace_back("part", shortNumber(100.0 * own.positionalShare, 3));
        caption.values.emplace_back("rows", groupedDigits(own.rows));
        caption.values.emplace_back("letter", letter);
    }
    caption.text += " · at m = {m}, n = {n}: positional {positional}, content {still}";
    caption.values.emplace_back("m", groupedDigits(options.m));
    caption.values.emplace_back("n", groupedDigits(options.n));
    caption.values.emplace_back("positional", shortNumber(contributionOf(drawn, true), 4));
    caption.values.emplace_back("still", shortNumber(contributionOf(drawn, false), 4));
    figure.caption = std::move(caption);
    figure.rowShares = {std::clamp(0.73 + 0.12 * figure.table->rows, 0.85, 1.1),
                        1.2}; // three plots at 174x100mm too
    if (std::any_of(figure.more.begin(), figure.more.end(),
                    [](const PlotSpec& plot) { return plot.row == 2; }))
        figure.rowShares.push_back(1.0);
    figure.summary = {
        "Channels of the head of {names} as strips, coloured by pair where they turn, grey where they "
        "stay. Rotated share f: {shares}; the decay curve never falls below 1 − 2f.",
        {{"names", joinedNames(results)}, {"shares", shares}}};
    return figure;
}

} // namespace ropewalk
