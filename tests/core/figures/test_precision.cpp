// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/precision.h"
#include "tests/support/build_figure.h"
#include "tests/support/compare.h"
#include "tests/support/random_config.h"

#include <QtTest>

#include <set>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

/// The error of the score over head_dim at one query position, in long double from the angles of `mode`.
double loopScoreError(const RopeConfig& config, PrecisionMode mode, const std::vector<double>& q,
                      const std::vector<double>& k, std::int64_t position, std::int64_t distance)
{
    const FrequencyTable table = frequencyTable(config);
    const ChannelMap map = channelMap(config);
    const RoundedAngles angles(mode, table.plain, table.scaled);
    std::vector<double> atQuery(angles.pairs().size()), atKey(atQuery);
    angles.at(position, atQuery);
    angles.at(position - distance, atKey);
    const auto rates = dampingRates(config, table);
    long double error = 0.0L;
    for (std::size_t i = 0; i < atQuery.size(); ++i) {
        const int pair = angles.pairs()[i];
        const auto [a, b] = map.pair(pair);
        const std::complex<long double> x(q[static_cast<std::size_t>(a)], q[static_cast<std::size_t>(b)]);
        const std::complex<long double> y(k[static_cast<std::size_t>(a)], k[static_cast<std::size_t>(b)]);
        const std::complex<long double> product = x * std::conj(y);
        const long double rounded = static_cast<long double>(atQuery[i]) - atKey[i];
        const long double exact = static_cast<long double>(distance) * table.theta(pair);
        const long double damping =
            rates.empty()
                ? 1.0L
                : std::exp(static_cast<long double>(rates[static_cast<std::size_t>(pair)]) * distance);
        error += damping * (product * (std::polar(1.0L, rounded) - std::polar(1.0L, exact))).real();
    }
    const long double factor = static_cast<long double>(table.attentionFactor) * table.attentionFactor;
    return static_cast<double>(std::fabs(error) * factor / config.headDim);
}

} // namespace

class TestPrecisionFigure : public QObject
{
    Q_OBJECT
private slots:
    void curves();
    void scoreError();
    void firstPast();
    void gapsAndZeros();
    void staircase();
    void settings();
    void partial();
    void nothingTurns();
    void preview();
};

void TestPrecisionFigure::curves()
{
    const RopeConfig config = plainRope(128, 128, 1e4);
    const FrequencyTable table = frequencyTable(config);
    const FigureSpec figure = figureFor({"precision", {config}});
    QCOMPARE(brokenPromise(figure), std::string());
    for (const PrecisionModeInfo& mode : precisionModes()) {
        const std::string word(mode.word);
        const RoundedAngles angles(mode.mode, table.plain, table.scaled);
        const Series& turn = seriesOf(figure, "turn_error_max_" + word);
        QCOMPARE(turn.x->front(), 1.0);
        QCOMPARE(turn.x->back(), 1e6);
        for (std::size_t i = 0; i < turn.x->size(); i += 13) {
            const PrecisionError error = angles.errorAt(static_cast<std::int64_t>((*turn.x)[i]));
            const auto same = [&](const char* name, double expected) {
                const double actual = (*seriesOf(figure, name + word).y)[i];
                QVERIFY(actual == expected || (std::isnan(actual) && std::isnan(expected)));
            };
            same("turn_error_max_", error.maxTurn);
            same("turn_error_mean_", error.meanTurn);
            same("angle_error_max_", error.maxAngle);
            same("angle_error_mean_", error.meanAngle);
        }
    }
}

void TestPrecisionFigure::scoreError()
{
    std::mt19937 random(4);
    for (int round = 0; round < 8; ++round) {
        RopeConfig config = round == 0 ? plainRope(64, 64, 1e4) : randomConfig(random);
        if (round == 1)
            config.xpos = XPos{};
        if (frequencyTable(config).turningPairs() == 0)
            continue;
        FigureOptions options;
        options.content = Content::Correlation;
        options.rho = 0.5;
        options.m = round % 2 ? 90 : 20;
        options.n = 50;
        const FigureResults results = resultsFor({"precision", {config}, {}, options});
        const PairScores& scores = *results.configurations.front().scores;
        const FigureSpec figure = buildFigure(*findFigure("precision"), results);
        for (const PrecisionModeInfo& mode : precisionModes()) {
            const Series& series = seriesOf(figure, "score_error_" + std::string(mode.word));
            for (std::size_t i = 0; i < series.x->size(); i += 11) {
                const auto position = static_cast<std::int64_t>((*series.x)[i]);
                if (position < options.m - options.n) {
                    QVERIFY(std::isnan((*series.y)[i])); // the key would lie before position 0
                    continue;
                }
                const double expected = loopScoreError(config, mode.mode, scores.query, scores.key, position,
                                                       options.m - options.n);
                if (std::isnan(expected))
                    QVERIFY(std::isnan((*series.y)[i]));
                else
                    QCOMPARE(absoluteDifference((*series.y)[i], expected, 1e-12 + 1e-9 * expected),
                             QString());
            }
        }
    }
}

void TestPrecisionFigure::firstPast()
{
    const RopeConfig config = plainRope(128, 128, 5e5);
    const FrequencyTable table = frequencyTable(config);
    const FigureSpec figure = figureFor({"precision", {config}, {{"precision_limit", "0.02"}}});
    for (const PrecisionModeInfo& mode : precisionModes()) {
        const auto expected = RoundedAngles(mode.mode, table.plain, table.scaled).firstPast(0.02, 1'000'000);
        const Marker& marker = markerOf(figure, "first_past_limit_" + std::string(mode.word));
        QCOMPARE(marker.x.has_value(), expected.has_value());
        if (expected) {
            QCOMPARE(*marker.x, static_cast<double>(*expected));
            QVERIFY(marker.isDrawn);
        }
    }
    QCOMPARE(markerOf(figure, "first_past_limit_bf16_positions").x, std::optional<double>(257.0));
    QCOMPARE(markerOf(figure, "first_not_finite_fp16_all").x, std::optional<double>(65520.0));
    QVERIFY(!markerOf(figure, "first_not_finite_float32").x);
}

void TestPrecisionFigure::gapsAndZeros()
{
    // One pair, θ = 1: float32 is exact, bf16 positions up to 256 too.
    const FigureSpec figure = figureFor({"precision", {plainRope(2, 2, 1e4)}});
    QCOMPARE(brokenPromise(figure), std::string());
    for (const PlotSpec* plot : figure.plots())
        for (const Series& series : plot->series)
            if (series.style != SeriesStyle::DataOnly && plot->yAxis.isLogarithmic)
                for (const double value : *series.y)
                    QVERIFY(std::isnan(value) || value > 0.0);
    for (const double value : *seriesOf(figure, "turn_error_max_float32").y)
        QCOMPARE(value, 0.0); // the data keeps it
    std::size_t gaps = 0;
    const Series& half = seriesOf(figure, "turn_error_max_fp16_all");
    for (std::size_t i = 0; i < half.x->size(); ++i) {
        QCOMPARE(std::isnan((*half.y)[i]), (*half.x)[i] >= 65520.0);
        gaps += std::isnan((*half.y)[i]);
    }
    QVERIFY(gaps > 0);
    bool countsGaps = false, countsZeros = false;
    for (const Issue& note : figure.notes) {
        const std::string text = toEnglish(note.text);
        countsGaps = countsGaps || (text.find("not finite") != std::string::npos &&
                                    text.find(std::to_string(gaps)) != std::string::npos);
        countsZeros = countsZeros || text.find("exactly zero") != std::string::npos;
    }
    QVERIFY(countsGaps);
    QVERIFY(countsZeros);
}

void TestPrecisionFigure::staircase()
{
    const FigureSpec figure = figureFor({"precision", {plainRope(64, 64, 1e4)}});
    const Series& bfloat = seriesOf(figure, "rounded_position_bf16");
    QCOMPARE(bfloat.x->size(), std::size_t{2048});
    const std::set<double> values(bfloat.y->begin(), bfloat.y->end());
    QCOMPARE(values.size(), std::size_t{641});
    const std::string title = toEnglish(figure.more[1].plotTitle);
    QVERIFY2(title.find("641") != std::string::npos, title.c_str());
    const FigureSpec longer =
        figureFor({"precision", {plainRope(64, 64, 1e4)}, {{"staircase_length", "4096"}}});
    QVERIFY(toEnglish(longer.more[1].plotTitle).find("769") != std::string::npos);
    const FigureSpec longest =
        figureFor({"precision", {plainRope(64, 64, 1e4)}, {{"staircase_length", "131072"}}});
    QVERIFY(std::isnan(seriesOf(longest, "rounded_position_fp16").y->back()));
}

void TestPrecisionFigure::settings()
{
    const RopeConfig config = plainRope(64, 64, 1e4);
    const auto drawn = [](const FigureSpec& figure) {
        for (const Series& series : figure.series)
            if (!series.isExported)
                return series;
        qFatal("nothing drawn");
    };
    const std::tuple<const char*, const char*, const char*> rows[]{
        {"cos_sin", "max", "turn_error_max_float32"},
        {"cos_sin", "mean", "turn_error_mean_float32"},
        {"angle", "max", "angle_error_max_float32"},
        {"angle", "mean", "angle_error_mean_float32"},
        {"score", "max", "score_error_float32"}};
    for (const auto& [quantity, statistic, name] : rows) {
        const FigureSpec figure = figureFor(
            {"precision", {config}, {{"precision_quantity", quantity}, {"precision_statistic", statistic}}});
        QCOMPARE(brokenPromise(figure), std::string());
        const std::vector<double>& shown = *drawn(figure).y;
        const std::vector<double>& data = *seriesOf(figure, name).y;
        for (std::size_t i = 0; i < shown.size(); ++i)
            QVERIFY(shown[i] == data[i] || std::isnan(shown[i]));
    }
    const FigureSpec longer = figureFor({"precision", {config}, {{"precision_positions", "10000000"}}});
    QCOMPARE(seriesOf(longer, "turn_error_max_float32").x->back(), 1e7);
}

/// Still pairs have no angle to round: the errors are those of the turning ones alone.
void TestPrecisionFigure::partial()
{
    const FigureSpec part = figureFor({"precision", {plainRope(96, 24, 1e4)}});
    const FigureSpec alone = figureFor({"precision", {plainRope(24, 24, 1e4)}});
    for (const char* name : {"turn_error_max_float32", "turn_error_mean_bf16_all"})
        QCOMPARE(*seriesOf(part, name).y, *seriesOf(alone, name).y);
}

void TestPrecisionFigure::nothingTurns()
{
    RopeConfig none = plainRope(64, 64, 1e4);
    none.rule = FrequencyRule::None;
    QVERIFY(!figureFor({"precision", {none}}).failure.isEmpty());
    const FigureSpec beside = figureFor({"precision", {plainRope(64, 64, 1e4), none}});
    QVERIFY(beside.failure.isEmpty());
    QCOMPARE(brokenPromise(beside), std::string());
}

void TestPrecisionFigure::preview()
{
    const FigureSpec figure = figureFor({"precision", {plainRope(64, 64, 1e4)}, {}, {}, true});
    QVERIFY(figure.isCoarse);
    QVERIFY(toEnglish(figure.caption).starts_with("preview"));
    for (const Marker& marker : figure.markers)
        QVERIFY(!marker.x); // no "first" from a part of the positions
}

QTEST_GUILESS_MAIN(TestPrecisionFigure)
#include "test_precision.moc"
