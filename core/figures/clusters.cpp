// SPDX-License-Identifier: GPL-3.0-or-later
#include "figures.h"

#include "../clusters.h"
#include "../rope_math.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

namespace ropewalk {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kLongest = 131072; ///< right end of the curves of the two-cloud model, tokens
constexpr std::int64_t kPointsOfCurve = 96;
constexpr std::int64_t kPointsOfPreview = 32, kCurvePointsOfPreview = 12;

/// What is measured of the two clouds, once without and once with rotation.
struct Measures
{
    double silhouette = kNone, daviesBouldin = kNone, centroidDistance = kNone;
    double stableRankQuery = kNone, stableRankKey = kNone;
    double meanScore = kNone; ///< mean of q·k over keys that the query sees, over head_dim
};

/// The rows of both clouds at some positions of 0..length-1.
struct Clouds
{
    std::int64_t length = 0, step = 1;          ///< tokens; every step-th position
    std::int64_t leftOut = 0;                   ///< positions with a value that is not finite
    bool hasFirst = false;                      ///< position 0 is among them
    std::vector<double> query, key;             ///< [count × head_dim], before rotation
    std::vector<double> turnedQuery, turnedKey; ///< and after
    std::int64_t count(int headDim) const { return static_cast<std::int64_t>(query.size()) / headDim; }
};

/// One configuration's clouds and measures.
struct ConfigurationClusters
{
    std::int64_t length = 0, step = 1, points = 0, leftOut = 0;
    double firstShare = 0.0, secondShare = 0.0;               ///< of the variance
    std::array<Values, 2> query, key, turnedQuery, turnedKey; ///< the two coordinates
    bool hasFirst = false;                                    ///< the first point is that of position 0
    Measures plain, turned;
    std::vector<double> lengths; ///< of the curves, tokens
    std::vector<Measures> plainAt, turnedAt;
    std::vector<double> modelLengths, modelDistance; ///< the two-cloud model's own, relative to no rotation
};

struct ClustersData : FigureData
{
    bool isModel = true; ///< two clouds from their law, else a file's tensors
    std::vector<std::optional<ConfigurationClusters>> configurations; ///< as FigureResults has them
};

bool isFinite(std::span<const double> row)
{
    return std::all_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); });
}

/// A·R(position) on the pairs that turn.
void turn(std::span<double> row, const ConfigurationResult& result, double position)
{
    for (std::size_t i = 0; i < result.channels.formed.size(); ++i) {
        const double theta = result.table.scaled[i];
        if (theta == 0.0)
            continue;
        const auto [a, b] = result.channels.formed[i];
        rotatePair(row[static_cast<std::size_t>(a)], row[static_cast<std::size_t>(b)],
                   result.table.attentionFactor * std::cos(position * theta),
                   result.table.attentionFactor * std::sin(position * theta));
    }
}

Clouds cloudsOf(const ContentSource& source, const ConfigurationResult& result, std::int64_t length,
                std::int64_t mostPoints)
{
    Clouds clouds;
    clouds.length = length;
    clouds.step = (length + mostPoints - 1) / mostPoints;
    const auto width = static_cast<std::size_t>(source.headDim());
    std::vector<double> query(width), key(width);
    for (std::int64_t position = 0; position < length; position += clouds.step) {
        source.queries(position, query);
        source.keys(position, key);
        if (!isFinite(query) || !isFinite(key)) {
            ++clouds.leftOut;
            continue;
        }
        clouds.hasFirst = clouds.hasFirst || position == 0;
        clouds.query.insert(clouds.query.end(), query.begin(), query.end());
        clouds.key.insert(clouds.key.end(), key.begin(), key.end());
        turn(query, result, static_cast<double>(position));
        turn(key, result, static_cast<double>(position));
        clouds.turnedQuery.insert(clouds.turnedQuery.end(), query.begin(), query.end());
        clouds.turnedKey.insert(clouds.turnedKey.end(), key.begin(), key.end());
    }
    return clouds;
}

Measures measure(std::span<const double> query, std::span<const double> key, int width,
                 const std::stop_token& stop)
{
    Measures measures;
    if (query.empty())
        return measures;
    measures.silhouette = silhouette(query, key, width, stop);
    measures.daviesBouldin = daviesBouldin(query, key, width);
    measures.centroidDistance = distanceBetween(centroid(query, width), centroid(key, width));
    measures.stableRankQuery = stableRank(query, width);
    measures.stableRankKey = stableRank(key, width);
    measures.meanScore = meanCausalScore(query, key, width) / width;
    return measures;
}

std::array<Values, 2> projected(const PrincipalPlane& plane, std::span<const double> rows)
{
    const std::size_t width = plane.mean.size();
    std::vector<double> x, y;
    for (std::size_t at = 0; at < rows.size(); at += width) {
        const auto [first, second] = plane.project(rows.subspan(at, width));
        x.push_back(first);
        y.push_back(second);
    }
    return {makeValues(std::move(x)), makeValues(std::move(y))};
}

/// Powers of two from 16 (of four where the model goes far), and the last length itself.
std::vector<double> lengthsTo(std::int64_t last, bool isModel)
{
    std::vector<double> lengths;
    for (std::int64_t length = 16; length < last; length *= isModel ? 4 : 2)
        lengths.push_back(static_cast<double>(length));
    lengths.push_back(static_cast<double>(last));
    return lengths;
}

/// Two clouds with a mean in every channel: the distance of their means after rotation over positions 0..N-1,
/// relative to that without: √(Σ A_i²D_N(θ_i)²|Δ_i|²/Σ|Δ_i|²), where every pair has the same |Δ_i|.
void addModel(ConfigurationClusters& clusters, const ConfigurationResult& result)
{
    constexpr int kSteps = 240;
    const int pairs = result.channels.pairCount();
    for (int step = 0; step <= kSteps; ++step) {
        const double length =
            std::round(std::pow(static_cast<double>(kLongest), static_cast<double>(step) / kSteps));
        if (!clusters.modelLengths.empty() && clusters.modelLengths.back() == length)
            continue;
        double sum = 0.0;
        for (int pair = 0; pair < pairs; ++pair) {
            const double theta = result.table.theta(pair);
            const double factor =
                theta == 0.0 ? 1.0 : result.table.attentionFactor * dirichletFactor(length, theta);
            sum += factor * factor;
        }
        clusters.modelLengths.push_back(length);
        clusters.modelDistance.push_back(std::sqrt(sum / pairs));
    }
}

Result<ConfigurationClusters> computeOne(const FigureJob& job, const ConfigurationResult& result,
                                         const FigureOptions& options, double progressBefore,
                                         double progressShare)
{
    const auto source = ContentSource::make(options, result.shown.config);
    if (!source)
        return source.error();
    const Error cancelled{ErrorCode::Cancelled, "stopped", {}};
    const int width = source->headDim();
    const bool isCoarse = job.request.isCoarse;
    const bool isModel = options.content == Content::Clusters;
    const std::int64_t last = isModel ? kLongest : source->rowsAvailable();
    const std::int64_t wanted = options.settings.whole("cluster_points");

    ConfigurationClusters clusters;
    clusters.length = std::min(options.settings.whole("cluster_length"), last);
    const Clouds clouds =
        cloudsOf(*source, result, clusters.length, isCoarse ? std::min(wanted, kPointsOfPreview) : wanted);
    clusters.step = clouds.step;
    clusters.points = clouds.count(width);
    clusters.leftOut = clouds.leftOut;
    clusters.hasFirst = clouds.hasFirst;
    if (clusters.points > 0) {
        std::vector<double> all = clouds.query;
        all.insert(all.end(), clouds.key.begin(), clouds.key.end());
        const PrincipalPlane plane = principalPlane(all, width);
        clusters.firstShare = plane.firstShare;
        clusters.secondShare = plane.secondShare;
        clusters.query = projected(plane, clouds.query);
        clusters.key = projected(plane, clouds.key);
        clusters.turnedQuery = projected(plane, clouds.turnedQuery);
        clusters.turnedKey = projected(plane, clouds.turnedKey);
    }
    clusters.plain = measure(clouds.query, clouds.key, width, job.stop);
    clusters.turned = measure(clouds.turnedQuery, clouds.turnedKey, width, job.stop);
    clusters.lengths = lengthsTo(last, isModel);
    for (std::size_t i = 0; i < clusters.lengths.size(); ++i) {
        if (job.stop.stop_requested())
            return cancelled;
        const Clouds at = cloudsOf(*source, result, static_cast<std::int64_t>(clusters.lengths[i]),
                                   isCoarse ? kCurvePointsOfPreview : kPointsOfCurve);
        clusters.plainAt.push_back(measure(at.query, at.key, width, job.stop));
        clusters.turnedAt.push_back(measure(at.turnedQuery, at.turnedKey, width, job.stop));
        if (job.progress)
            job.progress(progressBefore + progressShare * static_cast<double>(i + 1) /
                                              static_cast<double>(clusters.lengths.size()));
    }
    if (isModel)
        addModel(clusters, result);
    if (job.stop.stop_requested())
        return cancelled;
    return clusters;
}

Series points(int index, const char* name, const std::array<Values, 2>& at, int colour, Message label)
{
    Series series;
    series.configuration = index;
    series.name = name;
    series.unit = "second component";
    series.xUnit = "first component";
    series.x = at[0];
    series.y = at[1];
    series.style = SeriesStyle::Points;
    series.colour = colour;
    series.label = std::move(label);
    return series;
}

constexpr int kQueryColour = 0,
              kKeyColour = 1; ///< one configuration's clouds are drawn: there is nothing to mix up

/// Axes that hold all points, a little wider.
void chooseRanges(PlotSpec& plot, const std::vector<const std::array<Values, 2>*>& clouds)
{
    for (int axis = 0; axis < 2; ++axis) {
        double lower = 0.0, upper = 0.0;
        for (const auto* cloud : clouds)
            if (const Values& values = (*cloud)[static_cast<std::size_t>(axis)]; values && !values->empty()) {
                const auto [least, greatest] = std::minmax_element(values->begin(), values->end());
                lower = std::min(lower, *least);
                upper = std::max(upper, *greatest);
            }
        const double margin = std::max(1e-9, 0.05 * (upper - lower));
        AxisSpec& spec = axis == 0 ? plot.xAxis : plot.yAxis;
        spec.lower = lower - margin;
        spec.upper = upper + margin;
    }
}

Values valuesOf(const std::vector<Measures>& list, double Measures::*member, double divisor = 1.0)
{
    std::vector<double> values;
    for (const Measures& measures : list)
        values.push_back(measures.*member / divisor);
    return makeValues(std::move(values));
}

std::string number(double value)
{
    if (!std::isfinite(value))
        return "–";
    return (value < 0.0 ? "−" : "") + shortNumber(std::fabs(value), 3);
}

Message percent(double share)
{
    return {"{share} %", {{"share", shortNumber(100.0 * share, 3)}}};
}

PlotSpec tableOf(const ConfigurationClusters& clusters)
{
    struct Row
    {
        const char* head;
        double Measures::*member;
    };
    constexpr std::array kRows{Row{"silhouette", &Measures::silhouette},
                               Row{"Davies–Bouldin", &Measures::daviesBouldin},
                               Row{"distance of the means", &Measures::centroidDistance},
                               Row{"stable rank q", &Measures::stableRankQuery},
                               Row{"stable rank k", &Measures::stableRankKey},
                               Row{"mean score / dₕ", &Measures::meanScore}};
    TableSpec table;
    table.columnHeads = {"without RoPE", "with RoPE"};
    table.rows = static_cast<int>(kRows.size());
    table.columns = 2;
    for (const Row& row : kRows) {
        table.rowHeads.emplace_back(row.head);
        for (const Measures* measures : {&clusters.plain, &clusters.turned}) {
            TableCell cell;
            cell.text = number(measures->*row.member);
            table.cells.push_back(std::move(cell));
        }
    }
    PlotSpec plot;
    plot.plotTitle = {"all {width} channels, {count} + {count} points",
                      {{"count", groupedDigits(clusters.points)}}};
    plot.table = std::move(table);
    return plot;
}

/// A curve of a measure over the length.
Series curve(int index, const char* name, const char* unit, const Values& x, Values y)
{
    Series series;
    series.configuration = index;
    series.name = name;
    series.unit = unit;
    series.xUnit = "token";
    series.x = x;
    series.y = std::move(y);
    return series;
}

/// Silhouette, distance of the means and Davies-Bouldin index against the length.
PlotSpec curvesOf(const FigureResults& results, const ClustersData& data, int focus)
{
    PlotSpec plot;
    plot.plotTitle = {
        "against the length, of {points} points a cloud",
        {{"points", std::to_string(results.isCoarse ? kCurvePointsOfPreview : kPointsOfCurve)}}};
    const bool isSeveral = results.configurations.size() > 1;
    const std::vector<int> free = freeColours(results);
    const int silhouetteColour = free.front();
    const int distanceColour = free[1 % free.size()];
    const int bouldinColour = free[2 % free.size()];
    double last = 32.0;
    double largestBouldin = 1.0;
    double leastBouldin = 1.0;
    forEachDrawable(results, [&](int index, const ConfigurationResult&) {
        const auto& found = data.configurations[static_cast<std::size_t>(index)];
        if (!found)
            return;
        const ConfigurationClusters& clusters = *found;
        const bool isFocus = index == focus;
        const std::string letter = letterIfSeveral(results, index);
        const Values x = makeValues(clusters.lengths);
        last = std::max(last, clusters.lengths.back());

        Series turned =
            curve(index, "silhouette", "silhouette", x, valuesOf(clusters.turnedAt, &Measures::silhouette));
        turned.style = SeriesStyle::Line;
        turned.isEmphasised = isFocus;
        turned.label =
            isSeveral ? Message("{letter} silhouette", {{"letter", letter}}) : Message("silhouette");
        if (!isSeveral)
            turned.colour = silhouetteColour;
        plot.series.push_back(std::move(turned));
        Series plain = curve(index, "silhouette_without_rope", "silhouette", x,
                             valuesOf(clusters.plainAt, &Measures::silhouette));
        plain.style = isFocus ? SeriesStyle::Line : SeriesStyle::DataOnly;
        plain.pattern = LinePattern::Dashed;
        plain.label = "silhouette without RoPE";
        if (!isSeveral)
            plain.colour = silhouetteColour;
        plot.series.push_back(std::move(plain));

        std::vector<double> share;
        for (std::size_t i = 0; i < clusters.lengths.size(); ++i)
            share.push_back(clusters.turnedAt[i].centroidDistance / clusters.plainAt[i].centroidDistance);
        Series distance =
            curve(index, "centroid_distance", "share of that without RoPE", x, makeValues(std::move(share)));
        Series model = distance;
        if (data.isModel) {
            model = curve(index, "centroid_distance_model", "share of that without RoPE",
                          makeValues(clusters.modelLengths), makeValues(clusters.modelDistance));
            plot.series.push_back(distance);
        }
        model.style = isFocus ? SeriesStyle::Line : SeriesStyle::DataOnly;
        model.pattern = LinePattern::DashDot;
        model.label = "distance of the means";
        model.quantity = "distance of the means, share of that without RoPE";
        if (!isSeveral)
            model.colour = distanceColour;
        plot.series.push_back(std::move(model));

        for (const Measures& measures : clusters.turnedAt)
            if (measures.daviesBouldin > 0.0) {
                largestBouldin = std::max(largestBouldin, measures.daviesBouldin);
                leastBouldin = std::min(leastBouldin, measures.daviesBouldin);
            }
        Series bouldin =
            curve(index, "davies_bouldin", "index", x, valuesOf(clusters.turnedAt, &Measures::daviesBouldin));
        bouldin.style = isFocus ? SeriesStyle::Line : SeriesStyle::DataOnly;
        bouldin.pattern = LinePattern::Dotted;
        bouldin.isOnSecondAxis = true;
        bouldin.label = "Davies–Bouldin";
        if (!isSeveral)
            bouldin.colour = bouldinColour;
        plot.series.push_back(std::move(bouldin));
        const auto dataOnly = [&](const char* name, const char* unit, const std::vector<Measures>& list,
                                  double Measures::*member) {
            plot.series.push_back(curve(index, name, unit, x, valuesOf(list, member)));
        };
        dataOnly("davies_bouldin_without_rope", "index", clusters.plainAt, &Measures::daviesBouldin);
        dataOnly("stable_rank_query", "rank", clusters.turnedAt, &Measures::stableRankQuery);
        dataOnly("stable_rank_query_without_rope", "rank", clusters.plainAt, &Measures::stableRankQuery);
        dataOnly("stable_rank_key", "rank", clusters.turnedAt, &Measures::stableRankKey);
        dataOnly("stable_rank_key_without_rope", "rank", clusters.plainAt, &Measures::stableRankKey);
        dataOnly("mean_score", "score/head_dim", clusters.turnedAt, &Measures::meanScore);
        dataOnly("mean_score_without_rope", "score/head_dim", clusters.plainAt, &Measures::meanScore);
    });
    plot.xAxis = {"length N (tokens)", AxisKind::Tokens, true, 16.0, last};
    double least = -0.25;
    for (const Series& series : plot.series)
        if (series.style == SeriesStyle::Line && !series.isOnSecondAxis)
            for (const double value : *series.y)
                if (value < least)
                    least = std::max(-1.0, std::floor(value / 0.25) * 0.25);
    plot.yAxis = {"silhouette, share", AxisKind::Plain, false, least, 1.05};
    AxisSpec second{"Davies–Bouldin", AxisKind::Plain, true,
                    std::pow(10.0, std::floor(std::log10(leastBouldin))),
                    std::pow(10.0, std::ceil(std::log10(largestBouldin * 1.0001)))};
    plot.secondYAxis = second;
    plot.guides.push_back({false, 0.0, GuideRole::Zero, -1, {}});
    addTrainingGuides(plot, results, true);
    std::erase_if(plot.guides, [&](const GuideLine& guide) {
        return guide.isVertical && (guide.at < plot.xAxis.lower || guide.at > plot.xAxis.upper);
    });
    return plot;
}

} // namespace

/// The clouds of one head's queries and keys, or of the two-cloud model q ~ N(μ_q, σ²I), k ~ N(μ_k, σ²I), at
/// every step-th position of 0..length-1, projected on the two principal components of both clouds without
/// rotation.
Result<std::shared_ptr<const FigureData>> computeClusters(FigureJob& job)
{
    auto data = std::make_shared<ClustersData>();
    FigureOptions options = job.request.options;
    data->isModel = options.content != Content::File;
    if (data->isModel)
        options.content = Content::Clusters;
    data->isCoarse = job.request.isCoarse;
    const double share = 1.0 / static_cast<double>(job.configurations.size());
    for (std::size_t i = 0; i < job.configurations.size(); ++i) {
        data->configurations.emplace_back();
        if (!job.configurations[i].scores)
            continue;
        // The principal components of wider heads take seconds in which nothing could be stopped.
        constexpr int kWidestHead = 1024;
        if (const int width = job.configurations[i].shown.config.headDim; width > kWidestHead)
            return Error{ErrorCode::BadInput,
                         {"clusters are drawn of heads of at most {widest} channels; head_dim is {width}",
                          {{"widest", groupedDigits(kWidestHead)}, {"width", groupedDigits(width)}}},
                         {}};
        auto clusters =
            computeOne(job, job.configurations[i], options, share * static_cast<double>(i), share);
        if (!clusters)
            return clusters.error();
        data->configurations.back() = std::move(*clusters);
    }
    return std::shared_ptr<const FigureData>(std::move(data));
}

FigureSpec buildClusters(const FigureResults& results)
{
    FigureSpec figure;
    const auto* data = dataOf<ClustersData>(results, "clusters");
    const int focus = focusIndex(results);
    if (!data || focus < 0 || !data->configurations[static_cast<std::size_t>(focus)]) {
        figure.failure = "The clouds are not computed yet";
        return figure;
    }
    const ConfigurationClusters& clusters = *data->configurations[static_cast<std::size_t>(focus)];
    const RopeConfig& config = results.configurations[static_cast<std::size_t>(focus)].shown.config;
    const HeadTensors* tensors = data->isModel ? nullptr : results.options.tensors.get();
    if (clusters.points == 0) {
        figure.failure = {"{tensors} has no position at which all values are finite",
                          {{"tensors", tensors ? tensors->name : std::string()}}};
        return figure;
    }
    figure.title = "Clouds of queries and keys";
    figure.formula = data->isModel ? "R(m)q and R(n)k, q ~ N(μ, σ²I), k ~ N(μ′, σ²I)" : "R(m)q and R(n)k";
    figure.source =
        "Silhouette: Rousseeuw 1987; index: Davies and Bouldin 1979; clouds of a head: arXiv:2603.18017";
    figure.plotTitle = {"with RoPE, {length} positions", {{"length", groupedDigits(clusters.length)}}};
    figure.row = 0;
    figure.column = 1;
    figure.xAxis.label = {"first component ({share} %)",
                          {{"share", shortNumber(100.0 * clusters.firstShare, 3)}}};
    figure.yAxis.label = {"second component ({share} %)",
                          {{"share", shortNumber(100.0 * clusters.secondShare, 3)}}};
    PlotSpec without;
    without.plotTitle = "without RoPE";
    without.xAxis = figure.xAxis;
    without.yAxis = figure.yAxis;
    for (std::size_t i = 0; i < data->configurations.size(); ++i)
        if (const auto& one = data->configurations[i]; one && one->points > 0) {
            const int index = static_cast<int>(i);
            figure.series.push_back(points(index, "query", one->turnedQuery, kQueryColour, "queries"));
            figure.series.push_back(points(index, "key", one->turnedKey, kKeyColour, "keys"));
            without.series.push_back(
                points(index, "query_without_rope", one->query, kQueryColour, "queries"));
            without.series.push_back(points(index, "key_without_rope", one->key, kKeyColour, "keys"));
            if (index != focus)
                for (PlotSpec* plot : {static_cast<PlotSpec*>(&figure), &without})
                    for (auto series = plot->series.end() - 2; series != plot->series.end(); ++series)
                        series->style = SeriesStyle::DataOnly;
        }
    const std::vector<const std::array<Values, 2>*> shown{&clusters.query, &clusters.key,
                                                          &clusters.turnedQuery, &clusters.turnedKey};
    chooseRanges(figure, shown);
    chooseRanges(without, shown);
    // The first token's key is what heads rest on that have nothing to look for; it often lies apart.
    if (tensors && clusters.hasFirst)
        for (const auto& [plot, name, key] :
             {std::tuple{static_cast<PlotSpec*>(&figure), "first_key", &clusters.turnedKey},
              {&without, "first_key_without_rope", &clusters.key}}) {
            Marker marker;
            marker.configuration = focus;
            marker.name = name;
            marker.x = (*key)[0]->front();
            marker.value = (*key)[1]->front();
            marker.isDrawn = true;
            marker.drawnAt = *marker.value;
            marker.label = "key of the first token";
            plot->markers.push_back(std::move(marker));
        }
    figure.more.push_back(std::move(without));
    PlotSpec curves = curvesOf(results, *data, focus);
    curves.guides.push_back(
        {true,
         std::clamp(static_cast<double>(clusters.length), curves.xAxis.lower, curves.xAxis.upper),
         GuideRole::Selection,
         -1,
         {"N = {length}", {{"length", groupedDigits(clusters.length)}}}});
    curves.row = 1;
    figure.more.push_back(std::move(curves));
    PlotSpec table = tableOf(clusters);
    table.plotTitle.values.emplace_back("width", std::to_string(config.headDim));
    table.row = 1;
    table.column = 1;
    figure.more.push_back(std::move(table));
    figure.rowShares = {3.0, 2.0};

    const FigureSettings& settings = results.options.settings;
    const std::string letter = letterIfSeveral(results, focus);
    Message source;
    if (tensors) {
        source = {"{letter}{tensors}{role}{weights}", {{"tensors", tensors->name}}};
        source.values.emplace_back("role",
                                   tensors->role.empty() ? std::string() : " (" + tensors->role + ")");
        source.values.emplace_back("weights",
                                   tensors->weights.empty() ? std::string() : ", " + tensors->weights);
    } else {
        source = {"{letter}two clouds from their law, means {q} and {k} in every channel, σ = {sigma}",
                  {{"q", number(settings.number("cluster_mean_q"))},
                   {"k", number(settings.number("cluster_mean_k"))},
                   {"sigma", number(settings.number("cluster_sigma"))}}};
    }
    figure.caption = source;
    figure.caption.text += clusters.step == 1 ? " · all {length} positions"
                                              : " · 1 in {step} of {length} positions ({points} points each)";
    if (clusters.leftOut > 0)
        figure.caption.text += ", {leftOut} left out that are not finite";
    figure.caption.text +=
        " · axes: principal components of both clouds without RoPE, {first} and {second} of the "
        "variance · silhouette 1: apart, 0: mixed; Davies–Bouldin 0: apart";
    figure.caption.values.insert(figure.caption.values.end(),
                                 {{"letter", letter.empty() ? std::string() : letter + ": "},
                                  {"length", groupedDigits(clusters.length)},
                                  {"step", groupedDigits(clusters.step)},
                                  {"points", groupedDigits(clusters.points)},
                                  {"leftOut", groupedDigits(clusters.leftOut)},
                                  {"first", toEnglish(percent(clusters.firstShare))},
                                  {"second", toEnglish(percent(clusters.secondShare))}});
    figure.summary = {
        "Queries and keys of {name} as two clouds of points, without and with RoPE over {length} positions. "
        "Silhouette {plain} without, {turned} with RoPE; Davies–Bouldin {plainIndex} and {turnedIndex}.",
        {{"name", config.name},
         {"length", groupedDigits(clusters.length)},
         {"plain", number(clusters.plain.silhouette)},
         {"turned", number(clusters.turned.silhouette)},
         {"plainIndex", number(clusters.plain.daviesBouldin)},
         {"turnedIndex", number(clusters.turned.daviesBouldin)}}};
    if (config.xpos)
        figure.notes.push_back({Severity::Warning, "xpos",
                                "the damping of xPos is left out: it scales single rows without bound"});
    return figure;
}

} // namespace ropewalk
