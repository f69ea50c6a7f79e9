// SPDX-License-Identifier: GPL-3.0-or-later
#include "figures.h"

#include "../mean_score.h"

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

/// Of a longer file the first tokens are taken: the work grows with the square.
constexpr std::int64_t kMostTokens = 4096;

/// What a file's queries and keys add to the figure.
struct ContentOfDecay
{
    Values distances, turned, plain; ///< in C units
    std::int64_t tokens = 0, leftOut = 0;
};

struct DecayData : FigureData
{
    std::vector<std::optional<ContentOfDecay>> configurations; ///< as FigureResults has them
};

/// How the values are written on the y axis. The data stays in C units.
class Unit
{
public:
    explicit Unit(const FigureSettings& settings)
        : m_isLogit(settings.is("decay_unit", "logit"))
        , m_isOverSd(settings.is("decay_unit", "mean_over_sd"))
    {
    }

    bool isPlain() const { return !m_isLogit && !m_isOverSd; }
    Message label() const
    {
        return m_isLogit ? "logit" : m_isOverSd ? "score / s.d. of an independent key" : "score / head_dim";
    }
    /// What 1 in C units is at distance index `at`.
    double factor(const ConfigurationResult& result, std::size_t at) const
    {
        const RopeConfig& config = result.shown.config;
        if (m_isLogit)
            return logitScale(config) * config.headDim;
        return m_isOverSd
                   ? 1.0 /
                         (*result.decay->independentSd)[std::min(at, result.decay->independentSd->size() - 1)]
                   : 1.0;
    }
    Values applied(const Values& values, const ConfigurationResult& result) const
    {
        if (isPlain())
            return values;
        std::vector<double> scaled(values->size());
        for (std::size_t i = 0; i < scaled.size(); ++i)
            scaled[i] = (*values)[i] * factor(result, i);
        return makeValues(std::move(scaled));
    }

private:
    bool m_isLogit, m_isOverSd;
};

/// The y range holds every curve of the presets, so that the axis stands still while a slider moves; it grows
/// in steps where a curve leaves it.
void chooseValueRange(FigureSpec& figure, double one, const Message& label)
{
    double lower = -0.4 * one;
    double upper = 1.05 * one;
    const auto include = [&](const Values& values) {
        for (const double value : *values) { // NaN is neither
            if (value < lower)
                lower = std::floor(value / (0.2 * one)) * 0.2 * one;
            if (value > upper)
                upper = std::ceil(value / (0.1 * one)) * 0.1 * one;
        }
    };
    for (const Series& series : figure.series)
        if (series.style != SeriesStyle::DataOnly)
            include(series.y);
    for (const Band& band : figure.bands)
        include(band.upper);
    figure.yAxis = {label, AxisKind::Plain, false, lower, upper};
}

void addMarkers(FigureSpec& figure, const FigureResults& results, int index,
                const ConfigurationResult& result, const Unit& unit)
{
    const DecayCurves& decay = *result.decay;
    const std::string letter = letterIfSeveral(results, index);
    const auto add = [&](const char* name, const std::optional<std::int64_t>& at, double drawnAt,
                         const char* alone, const char* withLetter) {
        Marker marker;
        marker.configuration = index;
        marker.name = name;
        if (at) {
            marker.x = static_cast<double>(*at);
            marker.value = (*decay.similarMean)[static_cast<std::size_t>(*at)];
            marker.isDrawn = *at > 0 || !results.options.isDistanceLogarithmic;
            marker.drawnAt = drawnAt * unit.factor(result, static_cast<std::size_t>(*at));
            if (alone)
                marker.label = {letter.empty() ? alone : withLetter,
                                {{"letter", letter}, {"distance", groupedDigits(*at)}}};
        }
        figure.markers.push_back(std::move(marker));
    };
    // Of several configurations the caption tells where they enter the noise: two labels each would cover the
    // curves.
    add("enters_noise", decay.entersNoise,
        decay.entersNoise ? (*decay.independentSd)[static_cast<std::size_t>(*decay.entersNoise)] : 0.0,
        letter.empty() ? "in the noise from {distance}" : nullptr, nullptr);
    add("first_negative", decay.firstNegative, 0.0, "below zero at {distance}",
        "{letter} below zero at {distance}");
}

Series makeSeries(int index, const char* name, const Values& x, Values y, const char* quantity = "")
{
    Series series;
    series.configuration = index;
    series.name = name;
    series.unit = "score/head_dim";
    series.xUnit = "token";
    series.x = x;
    series.y = std::move(y);
    series.quantity = quantity;
    return series;
}

Values shifted(const Values& mean, const Values& sd, double sign)
{
    std::vector<double> values(mean->size());
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = (*mean)[i] + sign * (*sd)[i];
    return makeValues(std::move(values));
}

/// Adds a curve: as data in C units, and drawn in the unit of the axis.
void addCurve(FigureSpec& figure, Series series, const ConfigurationResult& result, const Unit& unit)
{
    if (unit.isPlain()) {
        figure.series.push_back(std::move(series));
        return;
    }
    Series drawn = series;
    series.style = SeriesStyle::DataOnly;
    drawn.y = unit.applied(series.y, result);
    drawn.unit = toEnglish(unit.label());
    drawn.isExported = false;
    figure.series.push_back(std::move(series));
    figure.series.push_back(std::move(drawn));
}

/// The least of the curve up to each distance and the greatest from there on: both only fall.
std::pair<Values, Values> envelope(const Values& curve)
{
    std::vector<double> lower = *curve, upper = *curve;
    for (std::size_t i = 1; i < lower.size(); ++i)
        lower[i] = std::min(lower[i], lower[i - 1]);
    for (std::size_t i = upper.size() - 1; i-- > 0;)
        upper[i] = std::max(upper[i], upper[i + 1]);
    return {makeValues(std::move(lower)), makeValues(std::move(upper))};
}

/// Channels that stay hold the curve up: ρ(1 - f - fA²), that is 1 - 2f at ρ = A = 1. Nothing where all or
/// none turn.
void addFloor(FigureSpec& figure, const ConfigurationResult& result, const FigureOptions& options,
              const Unit& unit)
{
    const double share =
        static_cast<double>(result.table.turningPairs()) / static_cast<double>(result.channels.pairCount());
    const double squared = result.table.attentionFactor * result.table.attentionFactor;
    if (share == 0.0 || share == 1.0 || options.rho <= 0.0 || result.shown.config.xpos)
        return;
    const double floor = options.rho * (1.0 - share - share * squared);
    const double at = floor * unit.factor(result, 0);
    Message label{options.rho == 1.0 && squared == 1.0 ? "floor 1 − 2f = {floor}" : "floor {floor}",
                  {{"floor", shortNumber(floor, 3)}}};
    if (std::fabs(floor) < 1e-12)
        figure.guides.front().label = std::move(label); // the zero line
    else if (at > figure.yAxis.lower)
        addGuide(figure, {false, at, GuideRole::Threshold, -1, std::move(label)});
}

void addReal(FigureSpec& figure, int index, const ConfigurationResult& result, const ContentOfDecay& content,
             const std::string& letter, bool isFocus, const Unit& unit, const std::vector<int>& colours)
{
    Series turned = makeSeries(index, "real_mean", content.distances, content.turned);
    turned.style = SeriesStyle::Line;
    turned.pattern = LinePattern::Dashed;
    turned.label = letter.empty() ? Message("real q and k, with RoPE")
                                  : Message("{letter} real q and k", {{"letter", letter}});
    turned.quantity = "mean score of real q and k, with RoPE";
    if (letter.empty())
        turned.colour = colours.front();
    addCurve(figure, std::move(turned), result, unit);
    Series plain = makeSeries(index, "real_mean_without_rope", content.distances, content.plain);
    plain.style =
        isFocus ? SeriesStyle::Line : SeriesStyle::DataOnly; // the same for all but for channel orders
    plain.pattern = LinePattern::Dotted;
    plain.label = "real q and k, without RoPE";
    plain.quantity = "mean score of real q and k, without RoPE";
    if (letter.empty())
        plain.colour = colours[1 % colours.size()];
    addCurve(figure, std::move(plain), result, unit);
}

} // namespace

/// The mean score by distance of a file's queries and keys; nothing for other contents.
Result<std::shared_ptr<const FigureData>> computeDecayOfContent(FigureJob& job)
{
    auto data = std::make_shared<DecayData>();
    for (std::size_t i = 0; i < job.configurations.size(); ++i) {
        data->configurations.emplace_back();
        const ConfigurationResult& result = job.configurations[i];
        if (!result.scores || job.request.options.content != Content::File)
            continue;
        const RopeConfig& config = result.shown.config;
        const auto source = ContentSource::make(job.request.options, config);
        if (!source)
            return source.error();
        ContentOfDecay content;
        content.tokens = std::min(kMostTokens, source->rowsAvailable());
        std::vector<double> queries(static_cast<std::size_t>(content.tokens * config.headDim));
        std::vector<double> keys(queries.size());
        source->queries(0, queries);
        source->keys(0, keys);
        const std::vector<double> rates = dampingRates(config, result.table);
        auto scores = meanScores(queries, keys, result.channels, result.table, rates, job.stop);
        if (!scores)
            return Error{ErrorCode::Cancelled, "stopped", {}};
        std::vector<double> distances(scores->turned.size());
        for (std::size_t r = 0; r < distances.size(); ++r) {
            distances[r] = static_cast<double>(r);
            scores->turned[r] /= config.headDim;
            scores->plain[r] /= config.headDim;
        }
        content.leftOut = scores->leftOut;
        content.distances = makeValues(std::move(distances));
        content.turned = makeValues(std::move(scores->turned));
        content.plain = makeValues(std::move(scores->plain));
        data->configurations.back() = std::move(content);
    }
    return std::shared_ptr<const FigureData>(std::move(data));
}

/// In C units, score/d_h. Similar key k = ρq + √(1-ρ²)z with q, z ~ N(0, I): mean 2ρΣA²cos(rθ')/d_h and its
/// spread; independent key: mean 0, spread √(2ΣA⁴)/d_h at every distance. Su, kexue.fm/archives/10122;
/// arXiv:2405.14591.
FigureSpec buildDecay(const FigureResults& results)
{
    FigureSpec figure;
    const FigureOptions& options = results.options;
    figure.title = options.rho == 1.0 ? Message("Expected score over distance, q = k")
                                      : Message("Expected score over distance, similar key, ρ = {rho}",
                                                {{"rho", shortNumber(options.rho, 3)}});
    figure.formula = options.rho == 1.0 ? "2/dₕ · Σ Aᵢ² cos rθ′ᵢ" : "ρ · 2/dₕ · Σ Aᵢ² cos rθ′ᵢ";
    const bool isDamped =
        std::any_of(results.configurations.begin(), results.configurations.end(),
                    [](const ConfigurationResult& result) { return result.shown.config.xpos; });
    if (isDamped)
        figure.formula = "ρ · 2/dₕ · Σ Aᵢ² ζᵢ^(r/scale_base) cos rθ′ᵢ";
    if (options.settings.is("decay_unit", "logit"))
        figure.formula.text = "κ dₕ · " + figure.formula.text;
    else if (options.settings.is("decay_unit", "mean_over_sd"))
        figure.formula.text += " / s.d. of an independent key";
    figure.source =
        "Similar against independent key: Su, kexue.fm/archives/10122, and arXiv:2405.14591; bound: "
        "RoFormer, arXiv:2104.09864, section 3.4.3";
    figure.xAxis = {"distance r = m − n (tokens)", AxisKind::Tokens, options.isDistanceLogarithmic,
                    options.isDistanceLogarithmic ? 1.0 : 0.0, static_cast<double>(options.maxDistance)};
    figure.xAxis.meaning = AxisMeaning::Distance;
    if (options.isDistanceLogarithmic && options.maxDistance == 1)
        figure.xAxis.upper = 2.0; // an axis needs an extent

    const Unit unit(options.settings);
    const bool isDifference = options.settings.is("decay_compare", "difference");
    const bool hasEnvelope = options.settings.truth("decay_envelope");
    const auto* data = dataOf<DecayData>(results, "decay");
    std::string below;
    std::string noise;
    Message real;                               // what the file's curves are of
    const ConfigurationResult* first = nullptr; // what the others are compared with
    const int focus = focusIndex(results);      // whose bands are drawn
    forEachDrawable(results, [&](int index, const ConfigurationResult& result) {
        if (!result.decay)
            return;
        const DecayCurves& decay = *result.decay;
        const std::string letter = letterIfSeveral(results, index);
        const bool isFocus = index == focus;
        Series mean = makeSeries(index, "similar_mean", decay.distances, decay.similarMean);
        mean.style = isDifference ? SeriesStyle::DataOnly : SeriesStyle::Line;
        mean.isEmphasised = isFocus;
        mean.label = letter.empty() ? Message("similar key") : Message(letter);
        mean.quantity = "mean of a similar key";
        if (isDifference)
            figure.series.push_back(std::move(mean));
        else
            addCurve(figure, std::move(mean), result, unit);
        figure.series.push_back(makeSeries(index, "similar_sd", decay.distances, decay.similarSd, "± s.d."));
        figure.series.push_back(makeSeries(index, "independent_sd", decay.distances, decay.independentSd,
                                           "independent key, ± s.d."));
        figure.series.push_back(makeSeries(index, "cosine_sum", decay.distances, decay.cosineSum));
        if (decay.boundFactor) {
            Series bound = makeSeries(index, "bound_factor", decay.distances, decay.boundFactor);
            bound.unit = "U/U(0)";
            bound.isDashed = true;
            if (options.showBound && !isDifference) {
                bound.style = SeriesStyle::Line;
                bound.label = "factor of an upper bound";
            }
            addCurve(figure, std::move(bound), result, unit);
        }
        if (hasEnvelope && !decay.isCoarse) {
            const auto [lower, upper] = envelope(decay.similarMean);
            for (const bool isUpper : {false, true}) {
                Series side = makeSeries(index, isUpper ? "envelope_upper" : "envelope_lower",
                                         decay.distances, isUpper ? upper : lower);
                side.style = isFocus && !isDifference ? SeriesStyle::Line : SeriesStyle::DataOnly;
                side.pattern = isUpper ? LinePattern::Dashed : LinePattern::Dotted;
                side.label = isUpper ? "greatest from here on" : "least up to here";
                addCurve(figure, std::move(side), result, unit);
            }
        }
        if (isDifference && first) {
            const Values mine = unit.applied(decay.similarMean, result);
            const Values theirs = unit.applied(first->decay->similarMean, *first);
            std::vector<double> drawn(mine->size()), plain(mine->size());
            for (std::size_t r = 0; r < drawn.size(); ++r) {
                drawn[r] = (*mine)[r] - (*theirs)[r];
                plain[r] = (*decay.similarMean)[r] - (*first->decay->similarMean)[r];
            }
            Series difference =
                makeSeries(index, "similar_mean_difference", decay.distances, makeValues(std::move(plain)));
            difference.label = {"{letter} − {first}", {{"letter", letter}, {"first", first->shown.letter}}};
            Series shown = difference;
            shown.y = makeValues(std::move(drawn));
            shown.style = SeriesStyle::Line;
            shown.isEmphasised = isFocus;
            shown.isExported = false;
            figure.series.push_back(std::move(difference));
            figure.series.push_back(std::move(shown));
        }
        if (!first)
            first = &result;
        if (const auto* content = data && static_cast<std::size_t>(index) < data->configurations.size()
                                      ? &data->configurations[static_cast<std::size_t>(index)]
                                      : nullptr;
            content && *content && !isDifference) {
            addReal(figure, index, result, **content, letter, isFocus, unit, freeColours(results));
            real = {(*content)->tokens < options.tensors->tokens
                        ? " · {tensors}: mean over all pairs of its first {tokens} of {all} positions at the "
                          "distance"
                        : " · {tensors}: mean over all pairs of its {tokens} positions at the distance",
                    {{"tensors", options.tensors->name},
                     {"tokens", groupedDigits((*content)->tokens)},
                     {"all", groupedDigits(options.tensors->tokens)}}};
        }
        if (isFocus && !isDifference) {
            figure.bands.push_back({index,
                                    decay.distances,
                                    unit.applied(shifted(decay.similarMean, decay.similarSd, -1.0), result),
                                    unit.applied(shifted(decay.similarMean, decay.similarSd, 1.0), result),
                                    {}});
            const double sd = decay.independentSd->front() * unit.factor(result, 0);
            if (result.shown.config.xpos) { // the only rule under which it falls with the distance
                const Values zero = makeValues(std::vector<double>(decay.distances->size(), 0.0));
                figure.bands.push_back(
                    {-1, decay.distances, unit.applied(shifted(zero, decay.independentSd, -1.0), result),
                     unit.applied(decay.independentSd, result), "independent key, ±1 s.d."});
            } else {
                const Values ends = makeValues({figure.xAxis.lower, figure.xAxis.upper});
                figure.bands.push_back(
                    {-1, ends, makeValues({-sd, -sd}), makeValues({sd, sd}), "independent key, ±1 s.d."});
            }
        }
        if (!decay.isCoarse && !isDifference)
            addMarkers(figure, results, index, result, unit);
        const auto append = [&](std::string& list, const std::optional<std::int64_t>& at) {
            list += list.empty() ? "" : ", ";
            list +=
                (letter.empty() ? "" : letter + " ") + (at ? groupedDigits(*at) : std::string("no distance"));
        };
        append(below, decay.firstNegative);
        append(noise, decay.entersNoise);
    });
    if (isDifference && !figure.series.empty() &&
        std::none_of(figure.series.begin(), figure.series.end(),
                     [](const Series& series) { return series.name == "similar_mean_difference"; })) {
        figure.failure = "The difference needs a second configuration: add one, or overlay";
        return figure;
    }
    if (first) {
        const auto shown = static_cast<std::size_t>(std::max(0, focus));
        chooseValueRange(figure, unit.factor(results.configurations[shown], 0), unit.label());
    }

    figure.guides.push_back({false, 0.0, GuideRole::Zero, -1, {}});
    forEachDrawable(results, [&](int, const ConfigurationResult& result) {
        if (result.decay && !isDifference)
            addFloor(figure, result, options, unit);
    });
    addTrainingGuides(figure, results, true);
    const auto distance = static_cast<double>(std::llabs(options.m - options.n));
    if (options.showsSelection && distance >= figure.xAxis.lower && distance <= figure.xAxis.upper)
        figure.guides.push_back(
            {true,
             distance,
             GuideRole::Selection,
             -1,
             {"r = {distance}", {{"distance", groupedDigits(std::llabs(options.m - options.n))}}}});
    std::erase_if(figure.guides, [&](const GuideLine& guide) {
        return guide.isVertical && (guide.at < figure.xAxis.lower || guide.at > figure.xAxis.upper);
    });

    const std::string last = groupedDigits(options.maxDistance);
    if (isDifference) {
        figure.title = {"Difference of the expected score, similar key, ρ = {rho}",
                        {{"rho", shortNumber(options.rho, 3)}}};
        figure.caption = {results.isCoarse
                              ? "preview: about a thousand of the distances to {last}"
                              : "all distances to {last} · mean of a similar key, less that of {first}",
                          {{"last", last}, {"first", first ? first->shown.letter : std::string()}}};
        figure.summary = {
            "Expected score of a similar key against distance, 0 to {last} tokens, less that of {first}: "
            "{names}.",
            {{"last", last},
             {"first", first ? first->shown.letter : std::string()},
             {"names", joinedNames(results)}}};
        return figure;
    }
    if (results.isCoarse)
        figure.caption = {"preview: about a thousand of the distances to {last}", {{"last", last}}};
    else
        figure.caption = {
            "all distances to {last} (line: middle of each pixel's range) · ±1 s.d.{whose} · grey: "
            "independent key, entered at {noise} · below zero at {below}",
            {{"last", last},
             {"whose", focus < 0 || letterIfSeveral(results, focus).empty()
                           ? std::string()
                           : " of " + letterIfSeveral(results, focus)},
             {"noise", noise},
             {"below", below}}};
    if (hasEnvelope && !results.isCoarse)
        figure.caption.text += " · envelope: least up to, greatest from each distance";
    figure.caption.text += real.text;
    figure.caption.values.insert(figure.caption.values.end(), real.values.begin(), real.values.end());
    figure.summary = {
        "Expected score over head_dim against distance, 0 to {last} tokens, for {names}. It enters the "
        "noise of an independent key at {noise} and falls below zero at {below}.",
        {{"last", last}, {"names", joinedNames(results)}, {"noise", noise}, {"below", below}}};
    return figure;
}

} // namespace ropewalk
