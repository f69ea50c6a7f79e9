// SPDX-License-Identifier: GPL-3.0-or-later
#include "figures.h"

#include "../rope_math.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

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

/// What the figure shows of the picked pair.
enum class View {
    Pairs,    ///< q and k
    Compose,  ///< the arrow 1 turned by R(mθ), by R(nθ), and by both
    Transpose ///< by R(mθ), by R(nθ), and by R(mθ)ᵗR(nθ)
};

View viewOf(const FigureOptions& options)
{
    const std::string_view word = options.settings.text("plane_view");
    return word == "compose" ? View::Compose : word == "transpose" ? View::Transpose : View::Pairs;
}

/// 2×2, row by row.
using Matrix = std::array<double, 4>;

/// factor·R(angle): [cos -sin; sin cos].
Matrix rotation(double factor, double angle)
{
    const double c = factor * std::cos(angle);
    const double s = factor * std::sin(angle);
    return {c, -s, s, c};
}

Matrix transposed(const Matrix& a)
{
    return {a[0], a[2], a[1], a[3]};
}

Matrix product(const Matrix& a, const Matrix& b)
{
    return {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
            a[2] * b[1] + a[3] * b[3]};
}

/// "0.540302", "−0.841471": six decimals, all of one width.
std::string sixDecimals(double value)
{
    std::array<char, 400> text{}; // the largest double has 309 digits before the point
    std::snprintf(text.data(), text.size(), "%.6f", std::fabs(value));
    const bool isZero = std::strtod(text.data(), nullptr) == 0.0;
    return (std::signbit(value) && !isZero ? "−" : "") + std::string(text.data());
}

PlotSpec matrixPlot(Message title, const Matrix& matrix, int row, CellFill fill, int pair)
{
    PlotSpec plot;
    plot.plotTitle = std::move(title);
    plot.row = row;
    plot.column = 1;
    TableSpec table;
    table.isMatrix = true;
    table.rows = table.columns = 2;
    for (const double value : matrix) {
        TableCell cell;
        cell.text = sixDecimals(value);
        cell.fill = fill;
        cell.pair = pair;
        table.cells.push_back(std::move(cell));
    }
    plot.table = std::move(table);
    return plot;
}

/// The matrices beside the circle: what turns q, what turns k, and both together. Returns how far the product
/// is from the turn by the sum or difference of the angles, in its largest entry.
double addMatrices(FigureSpec& figure, View view, const FigureResults& results,
                   const ConfigurationResult& result, const PlanePanel& panel)
{
    // The attention multiplies cos and sin of turning pairs with A; two turns compose without it.
    const double factor = view == View::Pairs && !panel.isStill ? result.table.attentionFactor : 1.0;
    const double first = panel.m * panel.thetaRadians;
    const double second = panel.n * panel.thetaRadians;
    const Matrix query = rotation(factor, first);
    const Matrix key = rotation(factor, second);
    const bool isSum = view == View::Compose;
    const Matrix both = product(isSum ? query : transposed(query), key);
    const double angle =
        isSum ? (panel.m + panel.n) * panel.thetaRadians : (panel.n - panel.m) * panel.thetaRadians;
    const Matrix direct = rotation(factor * factor, angle);
    double apart = 0.0;
    for (std::size_t i = 0; i < both.size(); ++i)
        apart = std::max(apart, std::fabs(both[i] - direct[i]));
    const bool isScaled = factor != 1.0;
    const std::string scale = shortNumber(factor, 6);
    const std::string letter = letterIfSeveral(results, panel.configuration);
    const auto title = [&](const char* plain, const char* scaled) {
        Message text(isScaled ? scaled : plain, {{"factor", scale}, {"letter", letter}});
        if (!letter.empty())
            text.text = "{letter}: " + text.text;
        return text;
    };
    figure.more.push_back(
        matrixPlot(title("R(m)", "A·R(m), A = {factor}"), query, 0, CellFill::Query, panel.pair));
    figure.more.push_back(
        matrixPlot(title("R(n)", "A·R(n), A = {factor}"), key, 1, CellFill::Key, panel.pair));
    figure.more.push_back(matrixPlot(isSum ? title("R(m) R(n) = R(m+n)", "A²·R(m) R(n), A = {factor}")
                                           : title("R(m)ᵗR(n)", "A²·R(m)ᵗ R(n), A = {factor}"),
                                     both, 2, CellFill::None, panel.pair));
    figure.rowSpan = 3;
    figure.columnShares = {2.7, 1.0};
    return apart;
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
    const std::string letter = letterIfSeveral(results, index);
    if (!letter.empty())
        panel.title = {"{letter} · {name}", {{"letter", letter}, {"name", result.shown.config.name}}};
    const auto label = [](const char* text, double tokens) {
        return Message(text, {{"position", groupedNumber(tokens)}});
    };
    if (const View view = viewOf(results.options); view != View::Pairs) {
        const bool isSum = view == View::Compose;
        const double together = isSum ? panel.m + panel.n : panel.n - panel.m;
        panel.pairCount = 0; // the small circles show q and k, which these arrows are not
        panel.query = std::polar(1.0, panel.m * panel.thetaRadians);
        panel.key = std::polar(1.0, panel.n * panel.thetaRadians);
        panel.composed = std::polar(1.0, together * panel.thetaRadians);
        // The second turn goes on where the first one ends; the transposed one goes back from the other.
        panel.sweepFrom = isSum ? panel.query : panel.key;
        panel.sweepRadians = (isSum ? panel.n : -panel.m) * panel.thetaRadians;
        panel.queryLabel = label("R(mθ), m = {position}", panel.m);
        panel.keyLabel = label("R(nθ), n = {position}", panel.n);
        panel.composedLabel =
            label(isSum ? "both, m + n = {position}" : "R(mθ)ᵗR(nθ), n − m = {position}", together);
        return panel;
    }
    const auto [a, b] = result.channels.pair(panel.pair);
    const auto at = [](const std::vector<double>& row, int channel) {
        return row[static_cast<std::size_t>(channel)];
    };
    panel.query = unit(at(scores.rotatedQuery, a), at(scores.rotatedQuery, b));
    panel.key = unit(at(scores.rotatedKey, a), at(scores.rotatedKey, b));
    panel.queryLabel = label("q, m = {position}", panel.m);
    panel.keyLabel = label("k, n = {position}", panel.n);
    panel.sweepFrom = panel.key;
    panel.sweepRadians = (panel.m - panel.n) * panel.thetaRadians;
    const std::complex<double> start = unit(at(scores.query, a), at(scores.query, b));
    for (int back = 1; back <= kTrail && back <= scores.m && !panel.isStill; ++back)
        panel.trail.push_back(start * std::polar(1.0, (panel.m - back) * panel.thetaRadians));
    return panel;
}

Message composedCaption(View view, const ConfigurationResult& result, const PlanePanel& panel)
{
    const bool isSum = view == View::Compose;
    Message caption{
        isSum
            ? "{name} · θ = {theta} rad per token · mθ = {first}, nθ = {second}, (m+n)θ = {both} rad · drag "
              "an arrow: the matrices follow"
            : "{name} · θ = {theta} rad per token · mθ = {first}, nθ = {second}, (n−m)θ = {both} rad · the "
              "transpose turns back, so that the distance alone is left",
        {{"name", result.shown.config.name},
         {"theta", shortNumber(panel.thetaRadians, 4)},
         {"first", shortNumber(panel.m * panel.thetaRadians, 5)},
         {"second", shortNumber(panel.n * panel.thetaRadians, 5)},
         {"both", shortNumber((isSum ? panel.m + panel.n : panel.n - panel.m) * panel.thetaRadians, 5)}}};
    if (panel.isStill)
        caption.text = "{name} · this pair is not turned: every matrix is the identity";
    return caption;
}

} // namespace

/// Each pair as a complex number q_a + j·q_b, turned by e^{jmθ'} (q) and e^{jnθ'} (k): RoFormer,
/// arXiv:2104.09864, equation 12. The score is Re Σ q_i·conj(k_i)·e^{j(m-n)θ'_i}.
FigureSpec buildPlane(const FigureResults& results)
{
    FigureSpec figure;
    const View view = viewOf(results.options);
    int pair = 0;
    double apart = 0.0; // of the product of the matrices and the matrix of the angles' sum
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
             {"pairs", std::to_string(result.channels.pairCount())},
             {"theta", shortNumber(panel.thetaRadians, 4)},
             {"angle", shortNumber((panel.m - panel.n) * panel.thetaRadians, 5)},
             {"score", shortNumber(scores.score / result.shown.config.headDim, 6)}}};
        // RoPE-ID and lists have frequencies of their own, not those of a base.
        if (result.shown.config.rule == FrequencyRule::RopeId ||
            result.shown.config.rule == FrequencyRule::Explicit)
            panel.caption.text.erase(panel.caption.text.find("base {base} · "),
                                     std::string("base {base} · ").size());
        if (panel.isStill)
            panel.caption.text.replace(
                panel.caption.text.find("θ = {theta} rad per token · (m−n)θ = {angle} rad"),
                std::string("θ = {theta} rad per token · (m−n)θ = {angle} rad").size(),
                "this pair does not turn");
        if (view != View::Pairs)
            panel.caption = composedCaption(view, result, panel);
        if (index == focusIndex(results)) {
            pair = panel.pair;
            apart = addMatrices(figure, view, results, result, panel);
            figure.caption = panel.caption;
        }
        figure.planes.push_back(std::move(panel));
    });
    const PlanePanel& panel = figure.planes.front();
    figure.title = {"Pair {pair} in the complex plane", {{"pair", std::to_string(pair)}}};
    figure.formula = "score = Re Σ qᵢ k̄ᵢ exp j(m−n)θ′ᵢ";
    figure.source = "RoFormer, arXiv:2104.09864, equation 12";
    if (view != View::Pairs) {
        const bool isSum = view == View::Compose;
        figure.title = {isSum ? "Two turns of pair {pair} are one" : "Pair {pair} turned back: the transpose",
                        {{"pair", std::to_string(pair)}}};
        figure.formula = isSum ? "R(a) R(b) = R(a + b)" : "R(a)ᵗ = R(−a), R(mθ)ᵗ R(nθ) = R((n−m)θ)";
        figure.notes.push_back(
            {Severity::Read,
             {},
             {"The product of the two matrices and the matrix of one turn differ by {apart} at most",
              {{"apart", shortNumber(apart, 2)}}}});
        figure.summary = {
            isSum ? "The arrow 1 turned by R(mθ), m = {m}, by R(nθ), n = {n}, and by both: one turn by "
                    "m + n positions, pair {pair} of {names}."
                  : "The arrow 1 turned by R(mθ), m = {m}, by R(nθ), n = {n}, and by R(mθ)ᵗR(nθ): a turn "
                    "by n − m positions, pair {pair} of {names}.",
            {{"m", groupedDigits(results.options.m)},
             {"n", groupedDigits(results.options.n)},
             {"pair", std::to_string(pair)},
             {"names", joinedNames(results)}}};
        return figure;
    }
    figure.summary = {
        "Query at position {m} and key at position {n} as arrows in the complex plane, pair {pair} of "
        "{names}: the angle between them is {angle} radians, the score over head_dim {score}.",
        {{"m", groupedDigits(results.options.m)},
         {"n", groupedDigits(results.options.n)},
         {"pair", std::to_string(pair)},
         {"names", joinedNames(results)},
         {"angle", shortNumber(panel.sweepRadians, 5)},
         {"score", shortNumber(*figure.markers.front().value, 6)}}};
    return figure;
}

} // namespace ropewalk
