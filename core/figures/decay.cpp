// SPDX-License-Identifier: GPL-3.0-or-later
#include "figures.h"

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

/// The y range holds every curve of the presets, so that the axis stands still while a slider moves; it grows
/// in steps where a curve leaves it.
void chooseValueRange(FigureSpec& figure)
{
    double lower = -0.4;
    double upper = 1.05;
    const auto include = [&](const Values& values) {
        const auto [least, greatest] = std::minmax_element(values->begin(), values->end());
        if (*least < lower)
            lower = std::floor(*least / 0.2) * 0.2;
        if (*greatest > upper)
            upper = std::ceil(*greatest / 0.1) * 0.1;
    };
    for (const Series& series : figure.series)
        if (series.style != SeriesStyle::DataOnly)
            include(series.y);
    for (const Band& band : figure.bands)
        include(band.upper);
    figure.yAxis = {"score / head_dim", AxisKind::Plain, false, lower, upper};
}

void addMarkers(FigureSpec& figure, const FigureResults& results, int index, const DecayCurves& decay)
{
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
            marker.drawnAt = drawnAt;
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

} // namespace

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
    figure.source =
        "Similar against independent key: Su, kexue.fm/archives/10122, and arXiv:2405.14591; bound: "
        "RoFormer, arXiv:2104.09864, section 3.4.3";
    figure.xAxis = {"distance r = m − n (tokens)", AxisKind::Tokens, options.isDistanceLogarithmic,
                    options.isDistanceLogarithmic ? 1.0 : 0.0, static_cast<double>(options.maxDistance)};
    figure.xAxis.meaning = AxisMeaning::Distance;
    if (options.isDistanceLogarithmic && options.maxDistance == 1)
        figure.xAxis.upper = 2.0; // an axis needs an extent

    std::string below;
    std::string noise;
    const int focus = focusIndex(results); // whose bands are drawn
    forEachDrawable(results, [&](int index, const ConfigurationResult& result) {
        if (!result.decay)
            return;
        const DecayCurves& decay = *result.decay;
        const std::string letter = letterIfSeveral(results, index);
        Series mean = makeSeries(index, "similar_mean", decay.distances, decay.similarMean, "score / head_dim");
        mean.style = SeriesStyle::Line;
        mean.isEmphasised = index == focus;
        mean.label = letter;
        figure.series.push_back(std::move(mean));
        figure.series.push_back(makeSeries(index, "similar_sd", decay.distances, decay.similarSd, "± s.d."));
        figure.series.push_back(makeSeries(index, "independent_sd", decay.distances, decay.independentSd,
                                           "independent key, ± s.d."));
        figure.series.push_back(makeSeries(index, "cosine_sum", decay.distances, decay.cosineSum));
        if (decay.boundFactor) {
            Series bound = makeSeries(index, "bound_factor", decay.distances, decay.boundFactor);
            bound.unit = "U/U(0)";
            bound.isDashed = true;
            if (options.showBound) {
                bound.style = SeriesStyle::Line;
                bound.label = "factor of an upper bound";
            }
            figure.series.push_back(std::move(bound));
        }
        if (index == focus) {
            figure.bands.push_back({index,
                                    decay.distances,
                                    shifted(decay.similarMean, decay.similarSd, -1.0),
                                    shifted(decay.similarMean, decay.similarSd, 1.0),
                                    {}});
            const double sd = decay.independentSd->front();
            if (result.shown.config.xpos) { // the only rule under which it falls with the distance
                const Values zero = makeValues(std::vector<double>(decay.distances->size(), 0.0));
                figure.bands.push_back({-1, decay.distances, shifted(zero, decay.independentSd, -1.0),
                                        decay.independentSd, "independent key, ±1 s.d."});
            } else {
                const Values ends = makeValues({figure.xAxis.lower, figure.xAxis.upper});
                figure.bands.push_back(
                    {-1, ends, makeValues({-sd, -sd}), makeValues({sd, sd}), "independent key, ±1 s.d."});
            }
        }
        if (!decay.isCoarse)
            addMarkers(figure, results, index, decay);
        const auto append = [&](std::string& list, const std::optional<std::int64_t>& at) {
            list += list.empty() ? "" : ", ";
            list +=
                (letter.empty() ? "" : letter + " ") + (at ? groupedDigits(*at) : std::string("no distance"));
        };
        append(below, decay.firstNegative);
        append(noise, decay.entersNoise);
    });
    chooseValueRange(figure);

    figure.guides.push_back({false, 0.0, GuideRole::Zero, -1, {}});
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
    figure.summary = {
        "Expected score over head_dim against distance, 0 to {last} tokens, for {names}. It enters the "
        "noise of an independent key at {noise} and falls below zero at {below}.",
        {{"last", last}, {"names", joinedNames(results)}, {"noise", noise}, {"below", below}}};
    return figure;
}

} // namespace ropewalk
