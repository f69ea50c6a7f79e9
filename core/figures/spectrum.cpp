// SPDX-License-Identifier: GPL-3.0-or-later
#include "figures.h"

#include "../rope_math.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ropewalk {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

enum class SpectrumValue { Wavelength, Theta, Turns };

SpectrumValue valueOf(const FigureOptions& options)
{
    const std::string_view word = options.settings.text("spectrum_value");
    return word == "theta"   ? SpectrumValue::Theta
           : word == "turns" ? SpectrumValue::Turns
                             : SpectrumValue::Wavelength;
}

/// What is drawn of a pair with this θ, rad/token; NaN for a still one. `length`: T, tokens.
double valueOfTheta(SpectrumValue value, double theta, double length)
{
    if (theta == 0.0)
        return kNone;
    return value == SpectrumValue::Theta   ? theta
           : value == SpectrumValue::Turns ? length * theta / kTwoPi
                                           : kTwoPi / theta;
}

Series makeSeries(int index, const char* name, const char* unit, const Values& pairs, std::vector<double> y,
                  const char* quantity = "")
{
    Series series;
    series.configuration = index;
    series.name = name;
    series.unit = unit;
    series.xUnit = "pair";
    series.x = pairs;
    series.y = makeValues(std::move(y));
    series.quantity = quantity;
    return series;
}

int countFullTurns(const std::vector<double>& thetas, double length)
{
    return static_cast<int>(
        std::count_if(thetas.begin(), thetas.end(), [&](double theta) { return length * theta >= kTwoPi; }));
}

Message captionOf(const FigureResults& results, int index, const ConfigurationResult& result)
{
    const FrequencyTable& table = result.table;
    const auto length = trainingLength(result.shown.config);
    const std::string pairs = std::to_string(table.turningPairs());
    const std::string letter = letterIfSeveral(results, index);
    Message caption;
    if (!table.keptShare.empty()) {
        long kept = 0, slowed = 0, blended = 0;
        for (std::size_t i = 0; i < table.keptShare.size(); ++i)
            if (table.scaled[i] != 0.0)
                ++(table.keptShare[i] == 1.0 ? kept : table.keptShare[i] == 0.0 ? slowed : blended);
        const auto& factorInfo = info(result.shown.config.rule).parameters.front();
        caption = {
            "{kept} pairs kept · {blended} blended · {slowed} slowed {factor}× · {after} of {pairs} turn "
            "fully in "
            "training ({before} before, dashed)",
            {{"kept", std::to_string(kept)},
             {"blended", std::to_string(blended)},
             {"slowed", std::to_string(slowed)},
             {"factor", shortNumber(effectiveParameter(result.shown.config, factorInfo).value_or(1.0))}}};
    } else if (length) {
        caption = {"{after} of {pairs} pairs turn fully in training ({before} before the rule, dashed)", {}};
        if (result.shown.config.rule == FrequencyRule::Default)
            caption = {"{after} of {pairs} pairs turn fully in training", {}};
    } else {
        caption = {"{pairs} pairs; the training length is not stated", {}};
    }
    caption.values.emplace_back("pairs", pairs);
    if (length) {
        const auto tokens = static_cast<double>(*length);
        caption.values.emplace_back("after", std::to_string(countFullTurns(table.scaled, tokens)));
        caption.values.emplace_back("before", std::to_string(countFullTurns(table.plain, tokens)));
    }
    if (!letter.empty()) {
        caption.text = "{letter}: " + caption.text;
        caption.values.emplace_back("letter", letter);
    }
    return caption;
}

} // namespace

/// λ_i = 2π/θ'_i over the pair index, or θ'_i, or the turns Tθ'_i/2π in training, before and after the rule,
/// with the rule's own thresholds and T.
FigureSpec buildSpectrum(const FigureResults& results)
{
    FigureSpec figure;
    const SpectrumValue value = valueOf(results.options);
    double greatest = 0.0;
    double least = std::numeric_limits<double>::infinity();
    double longest = 0.0;
    double shortest = std::numeric_limits<double>::infinity();
    int mostPairs = 1;
    bool anyLength = false;
    forEachDrawable(results, [&](int index, const ConfigurationResult& result) {
        const FrequencyTable& table = result.table;
        const std::size_t count = table.scaled.size();
        const auto length = trainingLength(result.shown.config);
        anyLength = anyLength || length;
        const double tokens = length ? static_cast<double>(*length) : kNone;
        std::vector<double> pairs(count), wavelength(count), turns(count), turnsPlain(count), drawn(count),
            drawnPlain(count);
        for (std::size_t i = 0; i < count; ++i) {
            pairs[i] = static_cast<double>(i);
            // A still pair's wavelength is infinite: a gap in the figure, null in the JSON.
            wavelength[i] = table.scaled[i] != 0.0 ? kTwoPi / table.scaled[i] : kNone;
            turns[i] = tokens * table.scaled[i] / kTwoPi;
            turnsPlain[i] = tokens * table.plain[i] / kTwoPi;
            drawn[i] = valueOfTheta(value, table.scaled[i], tokens);
            drawnPlain[i] = valueOfTheta(value, table.plain[i], tokens);
            for (const double shown : {drawn[i], drawnPlain[i]})
                if (std::isfinite(shown))
                    greatest = std::max(greatest, shown);
            for (const double shown : {drawn[i], value == SpectrumValue::Wavelength ? kNone : drawnPlain[i]})
                if (std::isfinite(shown))
                    least = std::min(least, shown);
            if (std::isfinite(wavelength[i])) {
                shortest = std::min(shortest, wavelength[i]);
                longest = std::max(longest, wavelength[i]);
            }
        }
        mostPairs = std::max(mostPairs, static_cast<int>(count));
        const Values x = makeValues(std::move(pairs));
        const bool isWavelength = value == SpectrumValue::Wavelength;
        const std::string quantity = value == SpectrumValue::Theta   ? "θ′ (rad/token)"
                                     : value == SpectrumValue::Turns ? "turns in training"
                                                                     : "wavelength (tokens)";
        if (result.shown.config.rule != FrequencyRule::Default && count > 0) {
            Series before = makeSeries(index, "wavelength_plain", "token", x, std::move(drawnPlain));
            before.style = SeriesStyle::Line;
            before.isExported = false; // 2π over inv_freq_plain, or said by the data as it is
            before.isDashed = true;
            before.quantity = {"{quantity} before the rule", {{"quantity", quantity}}};
            figure.series.push_back(std::move(before));
        }
        figure.series.push_back(
            makeSeries(index, "inv_freq", "rad/token", x, table.scaled, "θ′ (rad per token)"));
        figure.series.push_back(makeSeries(index, "inv_freq_plain", "rad/token", x, table.plain));
        Series after = makeSeries(index, "wavelength", "token", x, std::move(wavelength));
        // Another value is drawn from a copy: a still pair's 0 has no place on a logarithmic axis.
        if (!isWavelength) {
            figure.series.push_back(after);
            after.y = makeValues(std::move(drawn));
            after.isExported = false;
        }
        after.style = SeriesStyle::Markers;
        after.label = letterIfSeveral(results, index);
        after.quantity = quantity;
        figure.series.push_back(std::move(after));
        figure.series.push_back(makeSeries(index, "turns", "turn", x, std::move(turns), "turns in training"));
        figure.series.push_back(makeSeries(index, "turns_plain", "turn", x, std::move(turnsPlain)));
        if (index == focusIndex(results)) {
            figure.caption = captionOf(results, index, result);
            figure.source = std::string(info(result.shown.config.rule).source);
        }
    });
    if (value == SpectrumValue::Turns && !anyLength) {
        figure.failure = "No training length is stated: turns in training cannot be counted";
        return figure;
    }
    if (!std::isfinite(least)) { // nothing turns: an empty plot, with its usual axis
        least = value == SpectrumValue::Theta ? kTwoPi / 100.0 : 6.0;
        greatest = value == SpectrumValue::Theta ? 1.0 : 100.0;
        shortest = 6.0;
        longest = 100.0;
    }
    if (value == SpectrumValue::Wavelength) {
        least = std::min(least, 6.0);
        greatest = std::max(greatest, 100.0);
    }

    if (value == SpectrumValue::Turns)
        addGuide(figure, {false, 1.0, GuideRole::Training, -1, "one turn in training"});
    else
        addTrainingGuides(figure, results, false);
    if (value == SpectrumValue::Theta)
        for (GuideLine& guide : figure.guides)
            guide.at = kTwoPi / guide.at;
    forEachDrawable(results, [&](int index, const ConfigurationResult& result) {
        const auto length = trainingLength(result.shown.config);
        for (const RuleThreshold& threshold : result.table.thresholds) {
            const double at = valueOfTheta(value, kTwoPi / threshold.wavelengthTokens,
                                           length ? static_cast<double>(*length) : kNone);
            if (std::isfinite(at))
                addGuide(figure, {false, at, GuideRole::Threshold, index, threshold.label});
        }
    });
    for (const GuideLine& guide : figure.guides) {
        greatest = std::max(greatest, guide.at);
        if (value != SpectrumValue::Wavelength)
            least = std::min(least, guide.at);
    }
    if (results.options.showsSelection && results.options.pair < mostPairs)
        figure.guides.push_back(
            {true, static_cast<double>(results.options.pair), GuideRole::Selection, -1, {}});
    figure.xAxis = {"pair i", AxisKind::Pair, false, -0.5, mostPairs - 0.5};
    figure.xAxis.meaning = AxisMeaning::Pair;
    // Whole half decades, so that the axis does not creep while a slider moves.
    figure.yAxis = {"wavelength (tokens)", AxisKind::Tokens, true,
                    std::pow(10.0, std::floor(2.0 * std::log10(least * 0.9)) / 2.0),
                    std::pow(10.0, std::ceil(2.0 * std::log10(greatest * 1.5)) / 2.0)};
    figure.title = "Wavelength of each pair";
    figure.formula = "λᵢ = 2π / θ′ᵢ";
    if (value == SpectrumValue::Theta) {
        figure.title = "Frequency of each pair";
        figure.formula = "θ′ᵢ";
        figure.yAxis.label = "θ′ (rad/token)";
        figure.yAxis.kind = AxisKind::Radians;
    } else if (value == SpectrumValue::Turns) {
        figure.title = "Turns of each pair in the training length";
        figure.formula = "T θ′ᵢ / 2π";
        figure.yAxis.label = "turns in training";
        figure.yAxis.kind = AxisKind::Plain;
    }
    std::erase_if(figure.guides, [&](const GuideLine& guide) {
        return !guide.isVertical && (guide.at <= figure.yAxis.lower || guide.at >= figure.yAxis.upper);
    });
    figure.summary = {
        "Wavelength of each frequency pair for {names}, fast to slow, from {shortest} to {longest} "
        "tokens.",
        {{"names", joinedNames(results)},
         {"shortest", shortNumber(shortest, 3)},
         {"longest", groupedNumber(std::round(longest))}}};
    return figure;
}

} // namespace ropewalk
