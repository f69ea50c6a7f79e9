// SPDX-License-Identifier: GPL-3.0-or-later
#include "figures.h"

#include "../sweep.h"
#include "../validate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ropewalk {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int kColumns = 240, kRows = 120;
/// Of a preview.
constexpr int kFewColumns = 64, kFewRows = 24;

/// One configuration's map: C or the bound's factor over (value, distance).
struct SweepMap
{
    int configuration = 0;
    double lower = 0.0, upper = 1.0; ///< outer edges of the first and the last row, on the axis
    std::vector<double> values;      ///< of the swept parameter, one a row
    int columns = 0;
    std::vector<double> columnDistance; ///< the first distance of each, or of the bound the one that is taken
    Values cells;                       ///< [rows × columns]; NaN where the value is impossible
    std::vector<double> firstNegative;  ///< of each row; NaN: none within the distances; empty in a preview
    std::optional<double> present;      ///< the configuration's own value
    Message impossible;                 ///< why rows are masked; empty: none are
};

struct SweepData : FigureData
{
    std::vector<SweepMap> maps;
    Message failure; ///< why there is none
};

/// What is swept: as chosen, or what the rule of the configuration in focus is made of.
SweepOver sweepOver(const FigureOptions& options, const std::vector<ConfigurationResult>& configurations)
{
    const std::string_view chosen = options.settings.text("sweep_over");
    if (chosen != "rule")
        return chosen == "base"     ? SweepOver::Base
               : chosen == "factor" ? SweepOver::Factor
               : chosen == "share"  ? SweepOver::Share
                                    : SweepOver::Length;
    const ConfigurationResult* focus = nullptr;
    for (const ConfigurationResult& result : configurations)
        if (result.scores && (!focus || result.shown.letter == options.focus))
            focus = &result;
    for (const SweepOver over : {SweepOver::Base, SweepOver::Length})
        if (focus && canSweep(focus->shown.config, over))
            return over;
    return SweepOver::Share;
}

bool isBound(const FigureOptions& options)
{
    return options.settings.is("sweep_value", "bound");
}

/// Rows of a map: values at the middle of even steps, of the logarithm but for shares; a share has a row for
/// each number of pairs.
void placeRows(SweepMap& map, const FigureOptions& options, SweepOver over, const RopeConfig& config,
               int rows)
{
    if (over == SweepOver::Share) {
        const int pairs = config.headDim / 2;
        for (int turning = 0; turning <= pairs; ++turning)
            map.values.push_back(static_cast<double>(turning) / pairs);
        map.lower = -0.5 / pairs;
        map.upper = 1.0 + 0.5 / pairs;
        return;
    }
    const bool isBase = over == SweepOver::Base;
    const bool isLength = over == SweepOver::Length;
    const double lower = options.settings.number("sweep_lower"),
                 upper = options.settings.number("sweep_upper");
    map.lower = lower > 0.0 ? lower : isBase ? 1e3 : isLength ? 512.0 : 1.0;
    map.upper = upper > map.lower ? upper
                                  : std::max(isBase     ? 1e8
                                             : isLength ? 131072.0
                                                        : 64.0,
                                             10.0 * map.lower);
    if (map.present && *map.present > 0.0) { // the present value lies within, unless somebody chose the range
        if (lower <= 0.0)
            map.lower = std::min(map.lower, std::max(isBase ? 1.01 : 1.0, *map.present / 10.0));
        if (upper <= 0.0)
            map.upper = std::max(map.upper, *map.present * 1.5);
        if (isLength)
            map.lower = std::floor(map.lower);
    }
    const double ratio = std::log(map.upper / map.lower);
    for (int row = 0; row < rows; ++row)
        map.values.push_back(
            isLength ? std::round(map.lower * std::exp(ratio * (row + 0.5) / rows)) // whole tokens
                     : map.lower * std::exp(ratio * (row + 0.5) / rows));
}

/// The first whole distance with C < 0, up to `last`.
Result<double> firstNegative(FigureJob& job, const std::vector<double>& turning, int pairCount,
                             std::int64_t last)
{
    // Most are found early; a long table costs little more than a short one.
    constexpr std::int64_t kFirstChunk = 8192, kLongestChunk = 1 << 19;
    std::int64_t chunk = kFirstChunk;
    const std::vector<double> re(turning.size(), 1.0), im(turning.size(), 0.0);
    for (std::int64_t first = 0; first <= last; first += chunk, chunk = std::min(4 * chunk, kLongestChunk)) {
        std::vector<double> table(static_cast<std::size_t>(std::min(chunk, last + 1 - first)));
        DistanceTableOp op;
        op.re = re;
        op.im = im;
        op.invFreq = turning;
        op.still = static_cast<double>(pairCount) - static_cast<double>(turning.size());
        op.firstDistance = first;
        op.table = table;
        const auto done = job.engine.run(op, job.stop);
        if (!done)
            return done.error();
        addRun(job.provenance, *done);
        for (std::size_t r = 0; r < table.size(); ++r)
            if (table[r] < 0.0)
                return static_cast<double>(first) + static_cast<double>(r);
    }
    return kNaN;
}

/// The first distance of each column, or where there is no closed form for all of them the one in its middle.
std::vector<double> distancesOf(const std::vector<CellRange>& columns, bool isInMiddle)
{
    std::vector<double> distances;
    for (const CellRange& column : columns)
        distances.push_back(isInMiddle ? std::floor(std::sqrt(static_cast<double>(column.first) *
                                                              static_cast<double>(column.end - 1)) +
                                                    0.5)
                                       : static_cast<double>(column.first));
    return distances;
}

Result<void> fillRow(FigureJob& job, const RopeConfig& config, const std::vector<CellRange>& columns,
                     std::span<double> cells, SweepMap& map, double& negative)
{
    const std::vector<Issue> issues = validate(config);
    if (const Issue* error = firstError(issues)) {
        std::fill(cells.begin(), cells.end(), kNaN);
        if (map.impossible.isEmpty())
            map.impossible = error->text;
        return {};
    }
    const FrequencyTable table = frequencyTable(config);
    std::vector<double> turning;
    for (const double theta : table.scaled)
        if (theta != 0.0)
            turning.push_back(theta);
    const int pairCount = config.headDim / 2;
    if (isBound(job.request.options)) {
        const std::vector<double> distances = distancesOf(columns, true);
        DecayOp op;
        op.invFreq = turning;
        op.pairCount = pairCount;
        op.distances = distances;
        op.boundFactor = cells;
        const auto done = job.engine.run(op, job.stop);
        if (!done)
            return done.error();
        addRun(job.provenance, *done);
    } else {
        for (std::size_t column = 0; column < columns.size(); ++column)
            cells[column] = meanCosineSum(turning, pairCount, columns[column]);
    }
    if (!job.request.isCoarse) {
        const Result<double> found = firstNegative(job, turning, pairCount, job.request.options.maxDistance);
        if (!found)
            return found.error();
        negative = *found;
    }
    return {};
}

Result<SweepMap> sweepOf(FigureJob& job, int index, double progressFrom, double progressShare)
{
    const FigureOptions& options = job.request.options;
    const RopeConfig& config = job.configurations[static_cast<std::size_t>(index)].shown.config;
    SweepMap map;
    map.configuration = index;
    const SweepOver over = sweepOver(options, job.configurations);
    map.present = sweptValue(config, over);
    placeRows(map, options, over, config, job.request.isCoarse ? kFewRows : kRows);
    const std::vector<CellRange> columns =
        logarithmicColumns(options.maxDistance, job.request.isCoarse ? kFewColumns : kColumns);
    map.columns = static_cast<int>(columns.size());
    map.columnDistance = distancesOf(columns, isBound(options));
    std::vector<double> cells(map.values.size() * columns.size());
    if (!job.request.isCoarse)
        map.firstNegative.assign(map.values.size(), kNaN);
    double unused = 0.0;
    for (std::size_t row = 0; row < map.values.size(); ++row) {
        if (job.stop.stop_requested())
            return Error{ErrorCode::Cancelled, "stopped", {}};
        const RopeConfig changed = withSweptValue(config, over, map.values[row]);
        const auto done =
            fillRow(job, changed, columns, std::span(cells).subspan(row * columns.size(), columns.size()),
                    map, map.firstNegative.empty() ? unused : map.firstNegative[row]);
        if (!done)
            return done.error();
        if (job.progress)
            job.progress(progressFrom + progressShare * static_cast<double>(row + 1) /
                                            static_cast<double>(map.values.size()));
    }
    map.cells = makeValues(std::move(cells));
    return map;
}

struct SweepWords
{
    const char *label, *present, *unit;
};

SweepWords wordsOf(SweepOver over)
{
    switch (over) {
    case SweepOver::Base:
        return {"base", "base {value}", "base"};
    case SweepOver::Factor:
        return {"factor s", "factor {value}", "factor"};
    case SweepOver::Length:
        return {"training length T (tokens)", "T = {value}", "training_length"};
    case SweepOver::Share:
        break;
    }
    return {"rotated share f", "share {value}", "share"};
}

} // namespace

/// C(r) or RoFormer's bound factor over the distance and one parameter.
Result<std::shared_ptr<const FigureData>> computeSweep(FigureJob& job)
{
    auto data = std::make_shared<SweepData>();
    data->isCoarse = job.request.isCoarse;
    const SweepOver over = sweepOver(job.request.options, job.configurations);
    std::vector<int> possible;
    for (std::size_t i = 0; i < job.configurations.size(); ++i) {
        const ConfigurationResult& result = job.configurations[i];
        if (!result.scores)
            continue;
        if (canSweep(result.shown.config, over))
            possible.push_back(static_cast<int>(i));
        else if (data->failure.isEmpty())
            data->failure = {
                "{name} under the rule {rule} has no {parameter} to sweep over; expected another "
                "rule, or sweep_over=base, factor, share or training_length",
                {{"name", result.shown.config.name},
                 {"rule", std::string(info(result.shown.config.rule).title)},
                 {"parameter", wordsOf(over).unit}}};
    }
    const double share = 1.0 / static_cast<double>(std::max<std::size_t>(1, possible.size()));
    for (std::size_t i = 0; i < possible.size(); ++i) {
        Result<SweepMap> map = sweepOf(job, possible[i], share * static_cast<double>(i), share);
        if (!map)
            return map.error();
        data->maps.push_back(std::move(*map));
    }
    return std::shared_ptr<const FigureData>(std::move(data));
}

FigureSpec buildSweep(const FigureResults& results)
{
    FigureSpec figure;
    const FigureOptions& options = results.options;
    const SweepOver over = sweepOver(options, results.configurations);
    const SweepWords words = wordsOf(over);
    figure.title = isBound(options) ? Message("RoFormer's bound factor over one parameter and the distance")
                   : over == SweepOver::Base   ? Message("Score over base and distance")
                   : over == SweepOver::Factor ? Message("Score over extension factor and distance")
                   : over == SweepOver::Length ? Message("Score over training length and distance")
                                               : Message("Score over rotated share and distance");
    figure.formula = isBound(options) ? "U(r)/U(0), U(r) = 1/P · Σⱼ |Sⱼ(r)|" : "C(r) = 2/dₕ · Σ cos rθ′ᵢ";
    figure.source = isBound(options)
                        ? "RoFormer, arXiv:2104.09864, section 3.4.3"
                        : "Su, kexue.fm/archives/10122, and arXiv:2405.14591: cosine sum, base and length";
    const auto* data = dataOf<SweepData>(results, "sweep");
    if (!data || data->maps.empty()) {
        figure.failure =
            data && !data->failure.isEmpty() ? data->failure : Message("The sweep was not computed");
        return figure;
    }
    if (!data->failure.isEmpty())
        figure.notes.push_back({Severity::Warning, "sweep_over", data->failure});
    std::size_t main = 0;
    const std::size_t count = data->maps.size();
    std::vector<PlotSpec> plots(count);
    for (std::size_t i = 0; i < count; ++i) {
        const SweepMap& map = data->maps[i];
        PlotSpec& plot = plots[i];
        const FigureConfiguration& shown =
            results.configurations[static_cast<std::size_t>(map.configuration)].shown;
        if (map.configuration == focusIndex(results))
            main = i;
        plot.row = static_cast<int>(i / 2);
        plot.column = static_cast<int>(i % 2);
        if (count > 1)
            plot.plotTitle = {"{name}", {{"name", shown.letter + " " + shown.config.name}}};
        plot.xAxis = {"distance r = m − n (tokens)", AxisKind::Tokens, true, 1.0,
                      static_cast<double>(std::max<std::int64_t>(2, options.maxDistance))};
        plot.xAxis.meaning = AxisMeaning::Distance;
        plot.yAxis.label = words.label;
        plot.yAxis.isLogarithmic = over != SweepOver::Share;
        if (over == SweepOver::Length)
            plot.yAxis.kind = AxisKind::Tokens;
        plot.yAxis.lower = map.lower;
        plot.yAxis.upper = map.upper;
        MapSpec spec;
        spec.configuration = map.configuration;
        spec.name = isBound(options) ? "bound_factor" : "cosine_sum";
        spec.unit = isBound(options) ? "U/U(0)" : "score/head_dim";
        spec.rows = static_cast<std::int64_t>(map.values.size());
        spec.columns = map.columns;
        spec.pooling = isBound(options) ? "none" : "mean";
        spec.values = map.cells;
        spec.xLower = plot.xAxis.lower;
        spec.xUpper = plot.xAxis.upper;
        spec.yLower = map.lower;
        spec.yUpper = map.upper;
        spec.colours = isBound(options) ? ColourTable::Viridis : ColourTable::Diverging;
        spec.lower = isBound(options) ? 0.0 : -1.0;
        spec.upper = 1.0;
        spec.label = isBound(options) ? "U(r) / U(0)" : "C(r)";
        plot.maps.push_back(std::move(spec));
        Series columnDistance;
        columnDistance.configuration = map.configuration;
        columnDistance.name = "column_distance";
        columnDistance.unit = "token";
        columnDistance.xUnit = "column";
        columnDistance.style = SeriesStyle::DataOnly;
        std::vector<double> indices(map.columnDistance.size());
        std::iota(indices.begin(), indices.end(), 0.0);
        columnDistance.x = makeValues(std::move(indices));
        columnDistance.y = makeValues(map.columnDistance);
        plot.series.push_back(std::move(columnDistance));
        if (!map.firstNegative.empty()) {
            Series exported;
            exported.configuration = map.configuration;
            exported.name = "first_negative";
            exported.unit = "token";
            exported.xUnit = words.unit;
            exported.x = makeValues(map.values);
            exported.y = makeValues(map.firstNegative);
            plot.series.push_back(exported);
            // The same, with the distance along x.
            std::vector<double> x, y;
            for (std::size_t row = 0; row < map.values.size(); ++row)
                if (map.firstNegative[row] >= 1.0) {
                    x.push_back(map.firstNegative[row]);
                    y.push_back(map.values[row]);
                }
            if (!x.empty()) {
                Series drawn = exported;
                drawn.isExported = false;
                drawn.style = SeriesStyle::Points;
                drawn.x = makeValues(std::move(x));
                drawn.y = makeValues(std::move(y));
                drawn.label = "first below zero";
                drawn.quantity = "first distance below zero";
                plot.series.push_back(std::move(drawn));
            }
        }
        if (map.present && *map.present >= map.lower && *map.present <= map.upper)
            plot.guides.push_back({false,
                                   *map.present,
                                   GuideRole::Threshold,
                                   map.configuration,
                                   {words.present, {{"value", groupedNumber(*map.present)}}}});
        if (const auto length = trainingLength(shown.config);
            length && *length > 1 && *length < options.maxDistance)
            plot.guides.push_back({true,
                                   static_cast<double>(*length),
                                   GuideRole::Training,
                                   map.configuration,
                                   {"training length {length}", {{"length", groupedDigits(*length)}}}});
        const auto distance = static_cast<double>(std::llabs(options.m - options.n));
        if (options.showsSelection && distance > plot.xAxis.lower && distance < plot.xAxis.upper)
            plot.guides.push_back({true, distance, GuideRole::Selection, -1, {}});
        if (!map.impossible.isEmpty())
            figure.notes.push_back({Severity::Warning, std::string(words.unit), map.impossible});
    }
    const SweepMap& shown = data->maps[main];
    const std::string name =
        results.configurations[static_cast<std::size_t>(shown.configuration)].shown.config.name;
    figure.caption = {
        data->isCoarse
            ? "preview: {rows} × {columns} cells · {name}, {parameter} {lower} to {upper} · key q = k"
        : isBound(options)
            ? "{name}, {parameter} {lower} to {upper} in {rows} rows · one distance a column · dots: first "
              "distance with C < 0, of all to {last}"
            : "{name}, {parameter} {lower} to {upper} in {rows} rows · mean over the distances of a column · "
              "dots: "
              "first distance with C < 0, of all to {last} · key q = k, without A",
        {{"name", name},
         {"parameter", words.unit},
         {"lower", groupedNumber(over == SweepOver::Share ? shown.values.front() : shown.lower)},
         {"upper", groupedNumber(over == SweepOver::Share ? shown.values.back() : shown.upper)},
         {"rows", std::to_string(shown.values.size())},
         {"columns", std::to_string(shown.columns)},
         {"last", groupedDigits(options.maxDistance)}}};
    if (!shown.impossible.isEmpty())
        figure.caption.text += " · masked: not possible";
    std::string without; // their reasons are notes
    forEachDrawable(results, [&](int index, const ConfigurationResult& result) {
        if (std::none_of(data->maps.begin(), data->maps.end(),
                         [&](const SweepMap& map) { return map.configuration == index; }))
            without += (without.empty() ? "" : ", ") + result.shown.letter;
    });
    if (!without.empty()) {
        figure.caption.text += " · nothing to sweep in {without}";
        figure.caption.values.emplace_back("without", without);
    }
    figure.summary = {
        "{quantity} over distance, 1 to {last} tokens, and {parameter}, {lower} to {upper}, for {names}.",
        {{"quantity", isBound(options) ? "RoFormer's bound factor" : "Cosine sum C"},
         {"last", groupedDigits(options.maxDistance)},
         {"parameter", words.unit},
         {"lower", groupedNumber(over == SweepOver::Share ? shown.values.front() : shown.lower)},
         {"upper", groupedNumber(over == SweepOver::Share ? shown.values.back() : shown.upper)},
         {"names", joinedNames(results)}}};
    static_cast<PlotSpec&>(figure) = std::move(plots[main]);
    for (std::size_t i = 0; i < count; ++i)
        if (i != main)
            figure.more.push_back(std::move(plots[i]));
    return figure;
}

} // namespace ropewalk
