// SPDX-License-Identifier: GPL-3.0-or-later
#include "figures.h"

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

/// A range about zero that holds the values, at 1, 2 or 5 times a power of ten.
double roundUp(double value)
{
    if (!(value > 0.0))
        return 1.0;
    const double decade = std::pow(10.0, std::floor(std::log10(value)));
    for (const double step : {1.0, 2.0, 5.0})
        if (value <= step * decade * (1.0 + 1e-12))
            return step * decade;
    return 10.0 * decade;
}

} // namespace

/// What each pair adds to the score at (m, n), over head_dim: A²·Re(q_i·conj(k_i)·e^{j(m-n)θ'_i})/d_h on
/// rotated pairs; and the sum so far, fast to slow, which ends at the score.
FigureSpec buildPairs(const FigureResults& results)
{
    FigureSpec figure;
    double largestPart = 0.0;
    double leastSum = 0.0;
    double greatestSum = 0.0;
    int mostPairs = 1;
    std::string scores;
    forEachDrawable(results, [&](int index, const ConfigurationResult& result) {
        const double headDim = result.shown.config.headDim;
        const std::size_t count = result.scores->contribution.size();
        std::vector<double> pairs(count), part(count), sum(count);
        double soFar = 0.0;
        for (std::size_t i = 0; i < count; ++i) {
            pairs[i] = static_cast<double>(i);
            part[i] = result.scores->contribution[i] / headDim;
            soFar += result.scores->contribution[i];
            sum[i] = soFar / headDim;
            largestPart = std::max(largestPart, std::fabs(part[i]));
            leastSum = std::min(leastSum, sum[i]);
            greatestSum = std::max(greatestSum, sum[i]);
        }
        mostPairs = std::max(mostPairs, static_cast<int>(count));
        const std::string letter = letterIfSeveral(results, index);
        const Values x = makeValues(std::move(pairs));
        Series bars;
        bars.configuration = index;
        bars.name = "contribution";
        bars.unit = "score/head_dim";
        bars.xUnit = "pair";
        bars.quantity = "contribution";
        bars.x = x;
        bars.y = makeValues(std::move(part));
        // Bars of several configurations over one another hide each other: one has bars, all have the sum.
        bars.style = index == focusIndex(results) ? SeriesStyle::Bars : SeriesStyle::DataOnly;
        Series steps = bars;
        steps.name = "cumulated";
        steps.quantity = "cumulated";
        steps.y = makeValues(std::move(sum));
        steps.style = SeriesStyle::Steps;
        steps.isOnSecondAxis = true;
        steps.label = letter;
        figure.series.push_back(std::move(bars));
        figure.series.push_back(std::move(steps));
        scores += scores.empty() ? "" : ", ";
        scores += (letter.empty() ? "" : letter + " ") + shortNumber(result.scores->score / headDim, 6);
    });
    const FigureOptions& options = results.options;
    figure.title = "What each pair adds to the score";
    figure.formula = "Aᵢ² Re(qᵢ k̄ᵢ exp j(m−n)θ′ᵢ) / dₕ";
    figure.source = "RoFormer, arXiv:2104.09864, equation 12";
    figure.xAxis = {"pair i, fast to slow", AxisKind::Pair, false, -0.5, mostPairs - 0.5};
    figure.xAxis.meaning = AxisMeaning::Pair;
    const double part = roundUp(largestPart * 1.05);
    figure.yAxis = {"of each pair", AxisKind::Plain, false, -part, part};
    const double sum = roundUp(std::max(-leastSum, greatestSum) * 1.05);
    figure.secondYAxis = AxisSpec{"cumulated", AxisKind::Plain, false, -sum, sum};
    figure.guides.push_back({false, 0.0, GuideRole::Zero, -1, {}});
    if (options.showsSelection && options.pair < mostPairs)
        figure.guides.push_back({true, static_cast<double>(options.pair), GuideRole::Selection, -1, {}});
    const bool several = results.configurations.size() > 1;
    const bool isOnes = options.content == Content::Ones;
    figure.caption = {
        several ? "m = {m}, n = {n}, q = k = 1 in every channel · bars: {letter} · lines: cumulated, fast to "
                  "slow, "
                  "to the score {scores}"
                : "m = {m}, n = {n}, q = k = 1 in every channel · line: cumulated, fast to slow, to the "
                  "score {scores}",
        {{"m", groupedDigits(options.m)}, {"n", groupedDigits(options.n)}, {"scores", scores}}};
    if (!isOnes) {
        figure.caption.text =
            several ? "m = {m}, n = {n}, content {content}, seed {seed} · bars: {letter} · lines: "
                      "cumulated, fast to slow, to the score {scores}"
                    : "m = {m}, n = {n}, content {content}, seed {seed} · line: cumulated, fast to "
                      "slow, to the score {scores}";
        figure.caption.values.emplace_back("content", std::string(word(options.content)));
        figure.caption.values.emplace_back("seed", std::to_string(options.seed));
        if (options.content == Content::File) // its rows are no draws; where they are from is said instead
            figure.caption.text =
                several ? "m = {m}, n = {n}, {tensors} · bars: {letter} · lines: cumulated, fast to "
                          "slow, to the score {scores}"
                        : "m = {m}, n = {n}, {tensors} · line: cumulated, fast to slow, to the score "
                          "{scores}";
        figure.caption.values.emplace_back("tensors",
                                           options.tensors ? options.tensors->name : std::string());
    }
    if (several)
        figure.caption.values.emplace_back(
            "letter", results.configurations[static_cast<std::size_t>(focusIndex(results))].shown.letter);
    figure.summary = {
        "What each pair of {names} adds to the score at m = {m}, n = {n}; the sum over head_dim is "
        "{scores}.",
        {{"names", joinedNames(results)},
         {"m", groupedDigits(options.m)},
         {"n", groupedDigits(options.n)},
         {"scores", scores}}};
    return figure;
}

} // namespace ropewalk
