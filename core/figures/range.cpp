// SPDX-License-Identifier: GPL-3.0-or-later
#include "../in_distribution.h"
#include "../rope_math.h"
#include "../validate.h"
#include "figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

namespace ropewalk {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr int kMostColumns = 256;
constexpr int kStepsOfOneStage = 5000;

/// Columns of the map: column j is the distances edges[j]..edges[j+1]-1, none where both are alike.
struct Columns
{
    std::vector<std::int64_t> edges;
    double lower = 0.0, upper = 1.0; ///< of the axis
    std::int64_t block = 1;          ///< distances of a column, where all have the same number
    std::size_t size() const { return edges.size() - 1; }
};

/// One rule on one pair schedule, over the lengths of RangeOf.
struct RuleCurve
{
    std::string_view word, title, shortTitle;
    std::vector<double> meanArc, meanDistances;
};

/// What one configuration met.
struct RangeOf
{
    int configuration = 0;
    std::int64_t training = 0, length = 0;
    std::vector<double> trained, theta; ///< rad/token at `length`
    InDistribution atLength;
    Columns columns;
    std::vector<double> map; ///< [pairs × columns]: share of the column's distances at an unseen angle
    std::vector<double> lengths;
    std::vector<RuleCurve> curves; ///< the first is the configuration's own
    std::vector<Message> missing;  ///< rules that this schedule cannot have, and why
};

struct RangeData : FigureData
{
    std::vector<RangeOf> configurations;
};

/// N of the figure: as the configuration states, else the right end of the distances, and at least 4T, since
/// within T there is nothing to see.
std::int64_t lengthOf(const RopeConfig& config, std::int64_t training, const FigureOptions& options)
{
    const std::int64_t beyond = std::max(options.maxDistance, std::min(4 * training, 4 * kLongestDistance));
    return std::max<std::int64_t>(config.length.value_or(beyond), 2);
}

Columns logarithmicColumns(std::int64_t training, std::int64_t length)
{
    Columns columns;
    columns.lower = static_cast<double>(std::max<std::int64_t>(1, std::min(training, length / 2) / 8));
    columns.upper = static_cast<double>(length);
    const double ratio = columns.upper / columns.lower;
    for (int j = 0; j <= kMostColumns; ++j)
        columns.edges.push_back(static_cast<std::int64_t>(
            std::ceil(columns.lower * std::pow(ratio, static_cast<double>(j) / kMostColumns) - 1e-9)));
    columns.edges.back() = length;
    return columns;
}

Columns linearColumns(std::int64_t length)
{
    Columns columns;
    columns.block = (length + kMostColumns - 1) / kMostColumns;
    for (std::int64_t edge = 0; edge < length; edge += columns.block)
        columns.edges.push_back(edge);
    columns.lower = -0.5;
    columns.upper = static_cast<double>(columns.edges.size()) * static_cast<double>(columns.block) - 0.5;
    columns.edges.push_back(length);
    return columns;
}

/// The pairs of `config` on the plain schedule of its width and base, trained over `training` tokens.
RopeConfig plainSchedule(const RopeConfig& config, const FrequencyTable& table, std::int64_t training)
{
    RopeConfig plain = config;
    plain.rule = FrequencyRule::Default;
    plain.parameters = {};
    plain.xpos.reset();
    plain.temperature = {};
    plain.maxPositionEmbeddings = plain.originalMaxPositionEmbeddings = training;
    // Rules that hold some of the formed pairs: the same pairs turn under all rules.
    if (config.rule == FrequencyRule::Proportional || config.rule == FrequencyRule::Explicit) {
        plain.channels = ChannelScheme::Custom;
        plain.rotaryDim = plain.headDim;
        plain.customPairs.clear();
        for (int pair = 0; pair < static_cast<int>(table.scaled.size()); ++pair)
            if (table.turns(pair))
                plain.customPairs.push_back(pair);
    }
    return plain;
}

enum class Compared { Plain, Abf, Linear, NtkAware, Yarn, Llama3, LongRope, RopeId };

struct ComparedInfo
{
    Compared which;
    FrequencyRule rule;
    std::string_view word, title, shortTitle = title; ///< the short one stands in the plot
};

constexpr std::array kCompared{
    ComparedInfo{Compared::Plain, FrequencyRule::Default, "plain", "plain"},
    ComparedInfo{Compared::Abf, FrequencyRule::Default, "abf", "larger base (ABF)", "ABF"},
    ComparedInfo{Compared::Linear, FrequencyRule::Linear, "linear", "Position Interpolation", "PI"},
    ComparedInfo{Compared::NtkAware, FrequencyRule::NtkAware, "ntk_aware", "NTK-aware"},
    ComparedInfo{Compared::Yarn, FrequencyRule::Yarn, "yarn", "YaRN"},
    ComparedInfo{Compared::Llama3, FrequencyRule::Llama3, "llama3", "Llama-3"},
    ComparedInfo{Compared::LongRope, FrequencyRule::LongRope, "longrope", "LongRoPE"},
    ComparedInfo{Compared::RopeId, FrequencyRule::RopeId, "rope_id", "RoPE-ID"},
};

/// The schedule `plain` under one rule at N = `length`, stretched by N/T.
RopeConfig underRule(const ComparedInfo& rule, const RopeConfig& plain, const RopeConfig& own,
                     std::int64_t training, std::int64_t length, double abfRatio)
{
    RopeConfig config = plain;
    config.rule = rule.rule;
    config.length = length;
    const double factor = std::max(1.0, static_cast<double>(length) / static_cast<double>(training));
    switch (rule.which) {
    case Compared::Plain:
    case Compared::RopeId:
        break;
    case Compared::Abf:
        config.base *= abfRatio;
        break;
    case Compared::LongRope:
        config.parameters.shortFactor = own.parameters.shortFactor;
        config.parameters.longFactor = own.parameters.longFactor;
        [[fallthrough]];
    default:
        config.parameters.factor = factor;
    }
    return config;
}

RuleCurve ruleCurve(const ComparedInfo& rule, const RopeConfig& plain, const RopeConfig& own,
                    std::int64_t training, const std::vector<double>& lengths, double abfRatio)
{
    RuleCurve curve{rule.word, rule.title, rule.shortTitle, {}, {}};
    const FrequencyTable before = frequencyTable(plain);
    for (const double tokens : lengths) {
        const auto length = static_cast<std::int64_t>(tokens);
        const FrequencyTable after = frequencyTable(underRule(rule, plain, own, training, length, abfRatio));
        const auto& trained = rule.which == Compared::RopeId ? after.scaled : before.scaled;
        const auto found = inDistributionOf(trained, after.scaled, training, length);
        curve.meanArc.push_back(found ? found->meanUnseenArc : kNone);
        curve.meanDistances.push_back(found ? found->meanUnseenDistances : kNone);
    }
    return curve;
}

/// Up to where the curves of a configuration go on their own: N, and at least 32T.
std::int64_t lastLength(std::int64_t training, std::int64_t length)
{
    return std::max(length, 32 * training);
}

/// From T on, four in every doubling, up to `end`, which is one, as N is.
std::vector<double> comparedLengths(std::int64_t training, std::int64_t length, std::int64_t end)
{
    std::vector<double> lengths;
    const auto from = static_cast<double>(training);
    const auto last = static_cast<double>(end);
    for (int step = 0;; ++step) {
        const double next = std::round(from * std::exp2(step / 4.0));
        if (next > last)
            break;
        if (lengths.empty() || next > lengths.back())
            lengths.push_back(next);
    }
    for (const std::int64_t own : {length, end})
        if (own > training)
            lengths.push_back(static_cast<double>(own));
    std::sort(lengths.begin(), lengths.end());
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    return lengths;
}

/// Empty when the configuration states no training length or turns nothing.
std::optional<std::int64_t> trainingOf(const ConfigurationResult& result)
{
    const auto training = trainingLength(result.shown.config);
    const bool hasRange = training && *training >= 2 && result.table.turningPairs() > 0;
    return hasRange ? training : std::nullopt;
}

/// `end`: up to where the curves go. Empty when there is no training range.
std::optional<RangeOf> rangeOf(int index, const ConfigurationResult& result, const FigureOptions& options,
                               std::int64_t end)
{
    const RopeConfig& config = result.shown.config;
    const auto training = trainingOf(result);
    if (!training)
        return std::nullopt;
    RangeOf range;
    range.configuration = index;
    range.training = *training;
    range.length = lengthOf(config, *training, options);
    RopeConfig stretched = config;
    stretched.length = range.length;
    const FrequencyTable table = frequencyTable(stretched);
    range.theta = table.scaled;
    range.trained = trainedFrequencies(config, table);
    range.atLength = inDistributionOf(range.trained, range.theta, range.training, range.length).value();
    range.columns = options.isDistanceLogarithmic ? logarithmicColumns(range.training, range.length)
                                                  : linearColumns(range.length);
    for (std::size_t pair = 0; pair < range.theta.size(); ++pair)
        for (std::size_t j = 0; j < range.columns.size(); ++j) {
            const std::int64_t first = range.columns.edges[j];
            // A column between two distances shows the one before it.
            const std::int64_t next = std::max(range.columns.edges[j + 1], first + 1);
            range.map.push_back(range.theta[pair] == 0.0 ? kNone
                                                         : static_cast<double>(unseenDistancesWithin(
                                                               range.trained[pair], range.theta[pair],
                                                               range.training, first, next)) /
                                                               static_cast<double>(next - first));
        }
    range.lengths = comparedLengths(range.training, range.length, end);
    RuleCurve own{"own", {}, {}, {}, {}};
    for (const double tokens : range.lengths) {
        const auto found = inDistributionAt(config, static_cast<std::int64_t>(tokens));
        own.meanArc.push_back(found ? found->meanUnseenArc : kNone);
        own.meanDistances.push_back(found ? found->meanUnseenDistances : kNone);
    }
    range.curves.push_back(std::move(own));
    const RopeConfig plain = plainSchedule(config, result.table, range.training);
    for (const ComparedInfo& rule : kCompared) {
        if (rule.which == Compared::LongRope && config.parameters.longFactor.empty())
            continue;
        const double abfRatio = options.settings.number("abf_ratio");
        bool isPossible = true;
        for (const double tokens : {range.lengths.front(), range.lengths.back()}) {
            const std::vector<Issue> issues = validate(
                underRule(rule, plain, config, range.training, static_cast<std::int64_t>(tokens), abfRatio));
            if (const Issue* issue = firstError(issues); issue && isPossible) {
                range.missing.push_back(issue->text);
                isPossible = false;
            }
        }
        if (isPossible)
            range.curves.push_back(ruleCurve(rule, plain, config, range.training, range.lengths, abfRatio));
    }
    return range;
}

Series makeSeries(const RangeOf& range, std::string name, const char* unit, const char* xUnit,
                  const Values& x, std::vector<double> y)
{
    Series series;
    series.configuration = range.configuration;
    series.name = std::move(name);
    series.unit = unit;
    series.xUnit = xUnit;
    series.x = x;
    series.y = makeValues(std::move(y));
    return series;
}

Values indices(std::size_t count)
{
    std::vector<double> all(count);
    for (std::size_t i = 0; i < count; ++i)
        all[i] = static_cast<double>(i);
    return makeValues(std::move(all));
}

void addMap(FigureSpec& figure, const RangeOf& range, const FigureOptions& options)
{
    MapSpec map;
    map.configuration = range.configuration;
    map.name = "unseen";
    map.unit = "1";
    map.rows = static_cast<std::int64_t>(range.theta.size());
    map.columns = static_cast<std::int64_t>(range.columns.size());
    map.block = range.columns.block;
    map.pooling = "mean";
    map.values = makeValues(range.map);
    map.xLower = range.columns.lower;
    map.xUpper = range.columns.upper;
    map.yLower = -0.5;
    map.yUpper = static_cast<double>(map.rows) - 0.5;
    const bool hasStill = std::count(range.theta.begin(), range.theta.end(), 0.0) > 0;
    map.label = hasStill ? "share never seen; blank: still pairs" : "share of the distances never seen";
    figure.maps.push_back(std::move(map));
    figure.xAxis = {"distance r = m − n (tokens)", AxisKind::Tokens, options.isDistanceLogarithmic,
                    range.columns.lower, range.columns.upper};
    figure.xAxis.meaning = AxisMeaning::Distance;
    figure.yAxis = {"pair i, fast on top", AxisKind::Pair, false, -0.5,
                    static_cast<double>(range.theta.size()) - 0.5};
    figure.yAxis.meaning = AxisMeaning::Pair;
    figure.yAxis.isReversed = true;
    std::vector<double> firsts;
    for (std::size_t j = 0; j < range.columns.size(); ++j)
        firsts.push_back(static_cast<double>(range.columns.edges[j]));
    const Values columns = indices(firsts.size());
    figure.series.push_back(
        makeSeries(range, "column_distance", "token", "column", columns, std::move(firsts)));
}

/// The frequencies that the configuration has at a length, rad/token, one a formed pair.
using ThetaAt = std::function<std::vector<double>(double length)>;

/// As configured: rules such as dynamic NTK have others at each length.
ThetaAt ownThetaAt(const FigureResults& results, const RangeOf& range)
{
    const RopeConfig& config =
        results.configurations[static_cast<std::size_t>(range.configuration)].shown.config;
    if (!info(config.rule).dependsOnLength)
        return [&range](double) { return range.theta; };
    return [config](double length) {
        RopeConfig at = config;
        at.length = std::llround(length);
        return frequencyTable(at).scaled;
    };
}

/// The share of the circle that is unseen after fine-tuning at the lengths `stages` in turn, mean over the
/// turning pairs.
double unseenAfter(const RangeOf& range, const ThetaAt& thetaAt, std::span<const double> stages,
                   double length)
{
    const std::vector<double> theta = thetaAt(length);
    std::vector<std::vector<double>> ofStages;
    for (const double stage : stages)
        ofStages.push_back(thetaAt(stage));
    double sum = 0.0;
    int turning = 0;
    for (std::size_t i = 0; i < theta.size(); ++i) {
        if (theta[i] == 0.0)
            continue;
        ++turning;
        double seen = std::min(1.0, (static_cast<double>(range.training) - 1.0) * range.trained[i] / kTwoPi);
        for (std::size_t k = 0; k < stages.size(); ++k)
            seen = std::max(seen, std::min(1.0, (stages[k] - 1.0) * ofStages[k][i] / kTwoPi));
        sum += std::max(0.0, std::min(1.0, (length - 1.0) * theta[i] / kTwoPi) - seen);
    }
    return sum / turning;
}

/// "32k" where it is a whole number of 1024, else grouped digits.
std::string shortLength(std::int64_t tokens)
{
    return tokens % 1024 == 0 ? std::to_string(tokens / 1024) + "k" : groupedDigits(tokens);
}

PlotSpec turnsPlot(const FigureResults& results, const RangeData& data, const RangeOf& chosen,
                   std::optional<int> critical)
{
    PlotSpec plot;
    plot.plotTitle = {"Turns in training; arc met at {length}, never in training",
                      {{"length", groupedDigits(chosen.length)}}};
    double least = 0.1;
    double greatest = 10.0;
    std::size_t mostPairs = 1;
    for (const RangeOf& range : data.configurations) {
        std::vector<double> turns(range.theta.size());
        for (std::size_t i = 0; i < turns.size(); ++i) {
            turns[i] = range.theta[i] == 0.0
                           ? kNone
                           : static_cast<double>(range.training) * range.trained[i] / kTwoPi;
            if (range.theta[i] != 0.0) {
                least = std::min(least, turns[i]);
                greatest = std::max(greatest, turns[i]);
            }
        }
        mostPairs = std::max(mostPairs, turns.size());
        const Values pairs = indices(turns.size());
        Series series = makeSeries(range, "turns", "turn", "pair", pairs, std::move(turns));
        series.style = SeriesStyle::Markers;
        series.label = letterIfSeveral(results, range.configuration);
        series.quantity = "turns in training";
        plot.series.push_back(std::move(series));
    }
    plot.xAxis = {"pair i", AxisKind::Pair, false, -0.5, static_cast<double>(mostPairs) - 0.5};
    plot.xAxis.meaning = AxisMeaning::Pair;
    plot.yAxis = {"turns Tθ/2π", AxisKind::Plain, true, std::pow(10.0, std::floor(std::log10(least * 0.999))),
                  std::pow(10.0, std::ceil(std::log10(greatest * 1.001)))};
    plot.guides.push_back({false, 1.0, GuideRole::Threshold, -1, "one full turn"});
    if (critical)
        plot.guides.push_back(
            {true,
             *critical / 2.0 - 0.5,
             GuideRole::Threshold,
             chosen.configuration,
             {"critical dimension {dimension}", {{"dimension", std::to_string(*critical)}}}});
    return plot;
}

/// The arc of the circle that each pair meets at N and never met in training, on the right axis.
void addArcs(PlotSpec& plot, const FigureResults& results, const RangeData& data, const RangeOf& chosen)
{
    for (const RangeOf& range : data.configurations) {
        std::vector<double> arcs(range.theta.size(), 0.0), distances(range.theta.size(), 0.0);
        for (std::size_t i = 0; i < arcs.size(); ++i)
            if (range.theta[i] != 0.0) {
                arcs[i] = unseenArc(range.trained[i], range.theta[i], static_cast<double>(range.training),
                                    static_cast<double>(range.length));
                distances[i] =
                    unseenDistances(range.trained[i], range.theta[i], range.training, range.length);
            }
        const Values pairs = indices(arcs.size());
        Series series = makeSeries(range, "unseen_arc", "circle", "pair", pairs, std::move(arcs));
        // A line: bars of the configuration's colour would hide its own markers.
        series.style = SeriesStyle::Line;
        series.isEmphasised = &range == &chosen;
        series.isOnSecondAxis = true;
        series.label =
            results.configurations.size() > 1
                ? Message("{letter} arc", {{"letter", letterIfSeveral(results, range.configuration)}})
                : Message("arc never seen");
        series.quantity = "share of the circle never seen";
        plot.series.push_back(std::move(series));
        plot.series.push_back(
            makeSeries(range, "unseen_distances", "1", "pair", pairs, std::move(distances)));
    }
    plot.secondYAxis = AxisSpec{"arc / circle", AxisKind::Plain, false, 0.0, 1.0};
}

/// Curves that cannot be told apart in the picture are named together, beside the last of them, which lies on
/// top. `extent`: of the axis.
void nameTogether(PlotSpec& plot, double extent)
{
    const auto isSame = [&](const Series& a, const Series& b) {
        constexpr double kVisible = 0.003;
        for (std::size_t i = 0; i < a.x->size(); ++i)
            if (std::isnan((*a.y)[i]) != std::isnan((*b.y)[i]) ||
                std::fabs((*a.y)[i] - (*b.y)[i]) > kVisible * extent)
                return false;
        return true;
    };
    for (auto last = plot.series.rbegin(); last != plot.series.rend(); ++last) {
        if (last->label.isEmpty())
            continue;
        for (auto other = std::next(last); other != plot.series.rend(); ++other) {
            if (other->label.isEmpty() || *other->x != *last->x || !isSame(*other, *last))
                continue;
            last->label = {"{first}, {rest}",
                           {{"first", toEnglish(last->label)}, {"rest", toEnglish(other->label)}}};
            other->label = {};
        }
    }
}

PlotSpec rulesPlot(const FigureResults& results, const RangeData& data, const RangeOf& chosen,
                   const std::vector<double>& stages)
{
    PlotSpec plot;
    plot.plotTitle = "Arc never seen, mean over pairs; rules at N/T";
    const std::vector<int> colours = freeColours(results);
    constexpr std::array kPatterns{LinePattern::Dashed, LinePattern::Solid, LinePattern::DashDot,
                                   LinePattern::Dotted};
    double greatest = 0.0;
    double last = 0.0;
    const auto draw = [&](Series& series, Message label) {
        series.style = SeriesStyle::Line;
        series.quantity = label;
        series.label = std::move(label);
        for (const double y : *series.y)
            greatest = std::max(greatest, std::isnan(y) ? 0.0 : y);
        last = std::max(last, series.x->back());
    };
    const Values lengths = makeValues(chosen.lengths);
    for (std::size_t k = 1; k < chosen.curves.size(); ++k) {
        const RuleCurve& curve = chosen.curves[k];
        Series series = makeSeries(chosen, "mean_unseen_arc_" + std::string(curve.word), "circle", "token",
                                   lengths, curve.meanArc);
        series.colour = colours[k % colours.size()];
        series.pattern = kPatterns[k % kPatterns.size()];
        draw(series, std::string(curve.shortTitle));
        series.quantity = std::string(curve.title);
        plot.series.push_back(std::move(series));
        plot.series.push_back(makeSeries(chosen, "mean_unseen_distances_" + std::string(curve.word), "1",
                                         "token", lengths, curve.meanDistances));
    }
    for (std::size_t k = 0; k < stages.size(); ++k) {
        const std::span<const double> done(stages.data(), k + 1);
        std::vector<double> share;
        for (const double length : chosen.lengths)
            share.push_back(unseenAfter(chosen, ownThetaAt(results, chosen), done, length));
        Series series = makeSeries(chosen, "mean_unseen_arc_stage_" + std::to_string(k + 1), "circle",
                                   "token", lengths, std::move(share));
        series.pattern = k == 0 ? LinePattern::Dashed : LinePattern::Dotted;
        const std::string after = shortLength(static_cast<std::int64_t>(stages[k]));
        draw(series, {"after {length}", {{"length", after}}});
        series.quantity = {"as configured, after {length}", {{"length", after}}};
        plot.series.push_back(std::move(series));
    }
    for (const RangeOf& range : data.configurations) {
        const Values own = &range == &chosen ? lengths : makeValues(range.lengths);
        Series series =
            makeSeries(range, "mean_unseen_arc", "circle", "token", own, range.curves.front().meanArc);
        series.isEmphasised = true;
        const std::string letter = letterIfSeveral(results, range.configuration);
        draw(series, letter.empty() ? Message("as configured")
                                    : Message("{letter}: as configured", {{"letter", letter}}));
        plot.series.push_back(std::move(series));
        plot.series.push_back(makeSeries(range, "mean_unseen_distances", "1", "token", own,
                                         range.curves.front().meanDistances));
    }
    plot.xAxis = {"length at inference N (tokens)", AxisKind::Tokens, true,
                  static_cast<double>(chosen.training), last};
    const double top = std::max(0.1, std::ceil(greatest * 1.05 / 0.05) * 0.05);
    plot.yAxis = {"mean share of the circle", AxisKind::Plain, false, -0.02 * top,
                  top}; // many curves lie at 0
    nameTogether(plot, top);
    addGuide(plot, {true,
                    static_cast<double>(chosen.length),
                    GuideRole::Selection,
                    -1,
                    {"N = {length}", {{"length", groupedDigits(chosen.length)}}}});
    std::erase_if(plot.guides, [&](const GuideLine& guide) {
        return guide.at <= plot.xAxis.lower || guide.at >= plot.xAxis.upper;
    });
    return plot;
}

/// Fine-tuning at growing lengths, before it and after each stage.
PlotSpec stagesPlot(const FigureResults& results, const RangeOf& chosen, const std::vector<double>& stages)
{
    PlotSpec plot;
    plot.plotTitle = {"Never seen at {length}, stage by stage", {{"length", groupedDigits(chosen.length)}}};
    plot.xAxis = {"", AxisKind::Categories, false, -0.5, static_cast<double>(stages.size()) + 0.5};
    plot.xAxis.categories = {{"at {length}", {{"length", shortLength(chosen.training)}}}};
    for (std::size_t k = 0; k < stages.size(); ++k)
        plot.xAxis.categories.push_back(
            {"then {length}", {{"length", shortLength(static_cast<std::int64_t>(stages[k]))}}});
    double greatest = 0.0;
    const auto add = [&](const char* name, const ThetaAt& thetaAt, Message label, bool isOwn) {
        std::vector<double> share;
        for (std::size_t k = 0; k <= stages.size(); ++k) {
            share.push_back(unseenAfter(chosen, thetaAt, std::span(stages.data(), k),
                                        static_cast<double>(chosen.length)));
            greatest = std::max(greatest, share.back());
        }
        const Values stage = indices(share.size());
        Series series = makeSeries(chosen, name, "circle", "stage", stage, std::move(share));
        series.style = SeriesStyle::Bars;
        if (!isOwn)
            series.colour = freeColours(results).front();
        series.label = std::move(label);
        plot.series.push_back(std::move(series));
    };
    if (chosen.theta != chosen.trained)
        add(
            "stage_unseen_arc_plain", [&](double) { return chosen.trained; }, "without the rule", false);
    add("stage_unseen_arc", ownThetaAt(results, chosen), "as configured", true);
    plot.yAxis = {"mean share of the circle", AxisKind::Plain, false, 0.0,
                  std::max(0.1, std::ceil(greatest * 1.05 / 0.05) * 0.05)};
    return plot;
}

void place(PlotSpec& plot, int row, int column, int rowSpan, int columnSpan)
{
    plot.row = row;
    plot.column = column;
    plot.rowSpan = rowSpan;
    plot.columnSpan = columnSpan;
}

} // namespace

Result<std::shared_ptr<const FigureData>> computeRange(FigureJob& job)
{
    auto data = std::make_shared<RangeData>();
    // All curves end where the longest does, and not somewhere on the axis.
    std::int64_t end = 0;
    for (const ConfigurationResult& result : job.configurations)
        if (const auto training = trainingOf(result); training && result.scores)
            end = std::max(
                end, lastLength(*training, lengthOf(result.shown.config, *training, job.request.options)));
    for (std::size_t i = 0; i < job.configurations.size(); ++i) {
        if (job.stop.stop_requested())
            return Error{ErrorCode::Cancelled, {}, {}};
        if (!job.configurations[i].scores)
            continue;
        if (auto range = rangeOf(static_cast<int>(i), job.configurations[i], job.request.options, end))
            data->configurations.push_back(std::move(*range));
    }
    return std::shared_ptr<const FigureData>(std::move(data));
}

/// Turns in training c_i = Tθ_i/2π; the unseen arc u_i = max(0, min(1,(N-1)θ'_i/2π) - min(1,(T-1)θ_i/2π)), θ
/// in training and θ' at inference; the critical dimension 2⌈(d/2)·log_b(T/2π)⌉ (arXiv:2310.05209).
FigureSpec buildRange(const FigureResults& results)
{
    FigureSpec figure;
    figure.title = "What training showed, and what a longer input meets";
    figure.formula = "uᵢ = max(0, min(1, (N−1)θ′ᵢ/2π) − min(1, (T−1)θᵢ/2π))";
    figure.source =
        "Scaling laws of RoPE-based extrapolation, arXiv:2310.05209; rules: arXiv:2306.15595 (PI), "
        "2309.00071 (NTK-aware, YaRN), 2402.13753 (LongRoPE), 2603.18017 (RoPE-ID)";
    const FigureOptions& options = results.options;
    const auto* data = dataOf<RangeData>(results, "range");
    const int focus = focusIndex(results);
    const ConfigurationResult& asked = results.configurations[static_cast<std::size_t>(focus)];
    if (!data || data->configurations.empty()) {
        figure.failure = asked.table.turningPairs() == 0
                             ? Message("No pair of {name} turns: there is no angle to be in or out of range",
                                       {{"name", asked.shown.config.name}})
                             : Message("The training length of {name} is not stated: set "
                                       "max_position_embeddings to see what lies beyond it",
                                       {{"name", asked.shown.config.name}});
        return figure;
    }
    const auto found = std::find_if(data->configurations.begin(), data->configurations.end(),
                                    [&](const RangeOf& range) { return range.configuration == focus; });
    const RangeOf& chosen = found == data->configurations.end() ? data->configurations.front() : *found;
    const RopeConfig& config =
        results.configurations[static_cast<std::size_t>(chosen.configuration)].shown.config;

    const bool hasPlainSchedule =
        config.rule != FrequencyRule::RopeId && config.rule != FrequencyRule::Explicit;
    const std::optional<int> critical =
        hasPlainSchedule ? std::optional(std::min(criticalDimension(scheduleWidth(config), config.base,
                                                                    static_cast<double>(chosen.training)),
                                                  2 * chosen.atLength.turningPairs))
                         : std::nullopt;
    addMap(figure, chosen, options);
    addGuide(figure, {true,
                      static_cast<double>(chosen.training),
                      GuideRole::Training,
                      chosen.configuration,
                      {"training length {length}", {{"length", groupedDigits(chosen.training)}}}});
    if (critical)
        addGuide(figure, {false,
                          *critical / 2.0 - 0.5,
                          GuideRole::Threshold,
                          chosen.configuration,
                          {"critical dimension {dimension}", {{"dimension", std::to_string(*critical)}}}});
    if (options.showsSelection) {
        const auto distance = static_cast<double>(std::llabs(options.m - options.n));
        figure.guides.push_back({true, distance, GuideRole::Selection, -1, {}});
        figure.guides.push_back({false, static_cast<double>(options.pair), GuideRole::Selection, -1, {}});
    }
    std::erase_if(figure.guides, [&](const GuideLine& guide) {
        const AxisSpec& axis = guide.isVertical ? figure.xAxis : figure.yAxis;
        return guide.at <= axis.lower || guide.at >= axis.upper;
    });

    std::vector<double> stages;
    if (options.settings.truth("stages"))
        for (const char* key : {"stage_1", "stage_2"}) {
            const auto length = static_cast<double>(options.settings.whole(key));
            if (length > (stages.empty() ? static_cast<double>(chosen.training) : stages.back()))
                stages.push_back(length);
        }
    PlotSpec turns = turnsPlot(results, *data, chosen, critical);
    addArcs(turns, results, *data, chosen);
    if (options.showsSelection && options.pair < turns.xAxis.upper)
        turns.guides.push_back({true, static_cast<double>(options.pair), GuideRole::Selection, -1, {}});
    PlotSpec rules = rulesPlot(results, *data, chosen, stages);
    place(figure, 0, 0, 1, 1);
    place(turns, 0, 1, 1, 1);
    place(rules, 1, 0, 1, stages.empty() ? 2 : 1);
    figure.more = {std::move(turns), std::move(rules)};
    if (!stages.empty()) {
        PlotSpec timeline = stagesPlot(results, chosen, stages);
        place(timeline, 1, 1, 1, 1);
        figure.more.push_back(std::move(timeline));
    }

    const InDistribution& at = chosen.atLength;
    const auto marker = [&](const char* name, std::optional<double> x, std::optional<double> value) {
        Marker added;
        added.configuration = chosen.configuration;
        added.name = name;
        added.x = x;
        added.value = value;
        figure.markers.push_back(std::move(added));
    };
    const auto length = static_cast<double>(chosen.length);
    marker("critical_dimension", std::nullopt, critical ? std::optional<double>(*critical) : std::nullopt);
    marker("full_turn_pairs", static_cast<double>(chosen.training), at.fullTurnPairs);
    marker("unseen_pairs", length, at.unseenPairs);
    marker("mean_unseen_arc", length, at.meanUnseenArc);
    marker("largest_unseen_arc", length, at.largestUnseenArc);
    marker("mean_unseen_distances", length, at.meanUnseenDistances);

    // Curves at zero lie on one another, and on the axis.
    std::string inRange;
    for (std::size_t k = 1; k < chosen.curves.size(); ++k) {
        const std::vector<double>& arc = chosen.curves[k].meanArc;
        if (std::all_of(arc.begin(), arc.end(), [](double share) { return share < 1e-3; }))
            inRange += (inRange.empty() ? "" : ", ") + std::string(chosen.curves[k].shortTitle);
    }
    const std::string letter = letterIfSeveral(results, chosen.configuration);
    figure.caption = {
        letter.empty()
            ? "{name}, T = {training}, N = {length} · {full} of {pairs} pairs turned fully in training · "
              "{unseen} "
              "meet angles never seen: {mean} % of the circle on average, {largest} % at most"
            : "{letter} {name}, T = {training}, N = {length} · {full} of {pairs} pairs turned fully in "
              "training · "
              "{unseen} meet angles never seen: {mean} % of the circle on average, {largest} % at most",
        {{"letter", letter},
         {"name", config.name},
         {"training", groupedDigits(chosen.training)},
         {"length", groupedDigits(chosen.length)},
         {"full", std::to_string(at.fullTurnPairs)},
         {"pairs", std::to_string(at.turningPairs)},
         {"unseen", std::to_string(at.unseenPairs)},
         {"mean", shortNumber(100.0 * at.meanUnseenArc, 3)},
         {"largest", shortNumber(100.0 * at.largestUnseenArc, 3)}}};
    if (!inRange.empty()) {
        figure.caption.text += " · at every N less than 0.1 % under {rules}";
        figure.caption.values.emplace_back("rules", inRange);
    }
    figure.summary = {"Pair against distance for {name}: which angles lie beyond those of {training} tokens "
                      "of training. At "
                      "{length} tokens {unseen} of {pairs} turning pairs meet angles never seen.",
                      {{"name", config.name},
                       {"training", groupedDigits(chosen.training)},
                       {"length", groupedDigits(chosen.length)},
                       {"unseen", std::to_string(at.unseenPairs)},
                       {"pairs", std::to_string(at.turningPairs)}}};
    figure.notes.push_back({Severity::Read,
                            "abf_ratio",
                            {"ABF: the base {base} is multiplied by {ratio} without training again",
                             {{"base", groupedNumber(config.base)},
                              {"ratio", shortNumber(options.settings.number("abf_ratio"))}}}});
    if (!hasPlainSchedule)
        figure.notes.push_back(
            {Severity::Read,
             "base",
             {"the rules are compared on the plain schedule of base {base} over the same pairs",
              {{"base", groupedNumber(config.base)}}}});
    if (!stages.empty())
        figure.notes.push_back(
            {Severity::Read,
             "stages",
             {"stages of {steps} steps each, 500 000 tokens a batch, learning rate from 3e-5, 250 steps of "
              "warm-up: "
              "the recipe with which RoPE-ID was taught; what counts here is the longest length seen",
              {{"steps", groupedDigits(kStepsOfOneStage)}}}});
    for (const Message& missing : chosen.missing)
        figure.notes.push_back({Severity::Warning, "rule", missing});
    if (config.parameters.longFactor.empty())
        figure.notes.push_back(
            {Severity::Read, "long_factor",
             "LongRoPE is not compared: its factors come from a search and belong to one model"});
    if (chosen.configuration != focus)
        figure.notes.push_back({Severity::Warning,
                                "max_position_embeddings",
                                {"{name} states no training length or turns nothing; the map is of {other}",
                                 {{"name", asked.shown.config.name}, {"other", config.name}}}});
    return figure;
}

} // namespace ropewalk
