// SPDX-License-Identifier: GPL-3.0-or-later
#include "figures.h"

#include "../rope_math.h"

#include <algorithm>

namespace ropewalk {
namespace {

/// Positions of q that the trail remembers.
constexpr int kTrail = 14;

std::complex<double> unit(double re, double im)
{
    const std::complex<double> arrow(re, im);
    const double length = std::abs(arrow);
    return length > 0.0 ? arrow / length : arrow;
}

PlanePanel makePanel(const FigureResults& results, int index, const ConfigurationResult& result)
{
    const PairScores& scores = *result.scores;
    const FrequencyTable& table = result.table;
    PlanePanel panel;
    panel.configuration = index;
    panel.pairCount = result.channels.pairCount();
    panel.rotatedPairs = table.turningPairs();
    panel.pair = std::clamp(results.options.pair, 0, panel.pairCount - 1);
    panel.isStill = !table.turns(panel.pair);
    panel.thetaRadians = table.theta(panel.pair);
    panel.m = static_cast<double>(scores.m);
    panel.n = static_cast<double>(scores.n);
    const auto [a, b] = result.channels.pair(panel.pair);
    const auto at = [](const std::vector<double>& row, int channel) {
        return row[static_cast<std::size_t>(channel)];
    };
    panel.query = unit(at(scores.rotatedQuery, a), at(scores.rotatedQuery, b));
    panel.key = unit(at(scores.rotatedKey, a), at(scores.rotatedKey, b));
    panel.sweepRadians = (panel.m - panel.n) * panel.thetaRadians;
    const std::complex<double> start = unit(at(scores.query, a), at(scores.query, b));
    for (int back = 1; back <= kTrail && back <= scores.m && !panel.isStill; ++back)
        panel.trail.push_back(start * std::polar(1.0, (panel.m - back) * panel.thetaRadians));
    const std::string letter = letterIfSeveral(results, index);
    if (!letter.empty())
        panel.title = {"{letter} · {name}", {{"letter", letter}, {"name", result.shown.config.name}}};
    return panel;
}

} // namespace

/// Each pair as a complex number q_a + j·q_b, turned by e^{jmθ'} (q) and e^{jnθ'} (k): RoFormer,
/// arXiv:2104.09864, equation 12. The score is Re Σ q_i·conj(k_i)·e^{j(m-n)θ'_i}.
FigureSpec buildPlane(const FigureResults& results)
{
    FigureSpec figure;
    int pair = 0;
    forEachDrawable(results, [&](int index, const ConfigurationResult& result) {
        const PairScores& scores = *result.scores;
        for (int i = 0; i < result.channels.pairCount(); ++i) {
            const auto [a, b] = result.channels.pair(i);
            const auto first = static_cast<std::size_t>(a);
            const auto second = static_cast<std::size_t>(b);
            const bool isStill = !result.table.turns(i);
            figure.phasors.push_back({index, i, static_cast<double>(scores.m), "q",
                                      scores.rotatedQuery[first], scores.rotatedQuery[second], isStill});
            figure.phasors.push_back({index, i, static_cast<double>(scores.n), "k", scores.rotatedKey[first],
                                      scores.rotatedKey[second], isStill});
        }
        Marker score;
        score.configuration = index;
        score.name = "score";
        score.x = static_cast<double>(scores.m - scores.n);
        score.value = scores.score / result.shown.config.headDim;
        figure.markers.push_back(std::move(score));
        PlanePanel panel = makePanel(results, index, result);
        panel.caption = {
            "{name} · base {base} · {rotated} of {pairs} pairs turn · θ = {theta} rad per token · "
            "(m−n)θ = {angle} rad · score / head_dim = {score}",
            {{"name", result.shown.config.name},
             {"base", groupedNumber(result.shown.config.base)},
             {"rotated", std::to_string(panel.rotatedPairs)},
             {"pairs", std::to_string(panel.pairCount)},
             {"theta", shortNumber(panel.thetaRadians, 4)},
             {"angle", shortNumber(panel.sweepRadians, 5)},
             {"score", shortNumber(scores.score / result.shown.config.headDim, 6)}}};
        if (index == focusIndex(results)) {
            pair = panel.pair;
            figure.caption = panel.caption;
        }
        figure.planes.push_back(std::move(panel));
    });
    figure.title = {"Pair {pair} in the complex plane", {{"pair", std::to_string(pair)}}};
    figure.formula = "score = Re Σ qᵢ k̄ᵢ exp j(m−n)θ′ᵢ";
    figure.source = "RoFormer, arXiv:2104.09864, equation 12";
    figure.summary = {
        "Query at position {m} and key at position {n} as arrows in the complex plane, pair {pair} of "
        "{names}: the angle between them is {angle} radians, the score over head_dim {score}.",
        {{"m", groupedDigits(results.options.m)},
         {"n", groupedDigits(results.options.n)},
         {"pair", std::to_string(pair)},
         {"names", joinedNames(results)},
         {"angle", shortNumber(figure.planes.front().sweepRadians, 5)},
         {"score", shortNumber(*figure.markers.front().value, 6)}}};
    return figure;
}

} // namespace ropewalk
