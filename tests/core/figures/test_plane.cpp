// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/rope_math.h"
#include "tests/support/build_figure.h"
#include "tests/support/compare.h"
#include "tests/support/random_config.h"

#include <QtTest>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

std::vector<double> numbersIn(const PlotSpec& plot)
{
    std::vector<double> numbers;
    for (const TableCell& cell : plot.table->cells)
        numbers.push_back(QString::fromStdString(toEnglish(cell.text)).replace(u'−', u'-').toDouble());
    return numbers;
}

std::vector<double> rotation(long double factor, long double angle)
{
    const auto c = static_cast<double>(factor * std::cos(angle));
    const auto s = static_cast<double>(factor * std::sin(angle));
    return {c, -s, s, c};
}

/// The drawn copy where there is one, else the series itself.
const Series& drawnMarkers(const FigureSpec& figure, int configuration = 0)
{
    for (const Series& series : figure.series)
        if (series.style == SeriesStyle::Markers && series.configuration == configuration)
            return series;
    qFatal("nothing drawn");
}

} // namespace

class TestPlane : public QObject
{
    Q_OBJECT
private slots:
    void matricesOfRandomPairs();
    void oneTurnByHand();
    void scaledMatrices();
    void stillPair();
    void firstPairTurns();
    void compose();
    void transpose();
    void spectrumValues();
    void spectrumWithoutLength();
    void spectrumGuides();
};

/// Six decimals of what turns q, k, and both together, in all views.
void TestPlane::matricesOfRandomPairs()
{
    std::mt19937 random(7);
    for (int round = 0; round < 60; ++round) {
        const RopeConfig config = randomConfig(random);
        const FrequencyTable table = frequencyTable(config);
        FigureOptions options;
        options.m = std::uniform_int_distribution<int>(0, 4000)(random);
        options.n = std::uniform_int_distribution<int>(0, 4000)(random);
        options.pair = std::uniform_int_distribution<int>(0, config.headDim / 2 - 1)(random);
        const char* const view =
            std::array{"pairs", "compose", "transpose"}[static_cast<std::size_t>(round % 3)];
        const FigureSpec figure =
            figureFor({"plane", {config}, {}, withSettings({{"plane_view", view}}, options)});
        QCOMPARE(brokenPromise(figure), std::string());
        QCOMPARE(figure.more.size(), std::size_t{3});
        const long double theta = table.theta(options.pair);
        const long double factor = round % 3 == 0 && table.turns(options.pair)
                                       ? static_cast<long double>(table.attentionFactor)
                                       : 1.0L;
        const auto sum =
            static_cast<long double>(round % 3 == 1 ? options.m + options.n : options.n - options.m);
        const double allowed = 5.1e-7 + 1e-12;
        QCOMPARE(absoluteDifference(numbersIn(figure.more[0]),
                                    rotation(factor, static_cast<long double>(options.m) * theta), allowed),
                 QString());
        QCOMPARE(absoluteDifference(numbersIn(figure.more[1]),
                                    rotation(factor, static_cast<long double>(options.n) * theta), allowed),
                 QString());
        QCOMPARE(
            absoluteDifference(numbersIn(figure.more[2]), rotation(factor * factor, sum * theta), allowed),
            QString());
        for (const PlotSpec& plot : figure.more)
            QVERIFY(plot.table->isMatrix);
    }
}

/// q = (1, 0), θ = 1, position 1: (0.5403, 0.8415).
void TestPlane::oneTurnByHand()
{
    FigureOptions options;
    options.pair = 0;
    options.m = 1;
    options.n = 0;
    const FigureSpec figure = figureFor({"plane", {plainRope(64, 64, 1e4)}, {}, options});
    std::vector<std::string> texts;
    for (const TableCell& cell : figure.more[0].table->cells)
        texts.push_back(toEnglish(cell.text));
    QCOMPARE(texts, (std::vector<std::string>{"0.540302", "−0.841471", "0.841471", "0.540302"}));
    // "−0.000000" would be a strange identity.
    texts.clear();
    for (const TableCell& cell : figure.more[1].table->cells)
        texts.push_back(toEnglish(cell.text));
    QCOMPARE(texts, (std::vector<std::string>{"1.000000", "0.000000", "0.000000", "1.000000"}));
    const FigureSpec composed = figureFor(
        {"plane", {plainRope(64, 64, 1e4)}, {}, withSettings({{"plane_view", "compose"}}, options)});
    QVERIFY(std::abs(composed.planes.front().query - std::complex<double>(std::cos(1.0), std::sin(1.0))) <
            1e-15);
}

void TestPlane::scaledMatrices()
{
    RopeConfig config = plainRope(64, 64, 1e4);
    config.rule = FrequencyRule::Yarn;
    config.parameters.factor = 4.0;
    config.parameters.attentionFactor = 1.25;
    config.originalMaxPositionEmbeddings = 4096;
    const FigureSpec figure = figureFor({"plane", {config}});
    for (const PlotSpec& plot : figure.more)
        QVERIFY(toEnglish(plot.plotTitle).find("A = 1.25") != std::string::npos);
    const std::vector<double> matrix = numbersIn(figure.more[0]);
    QCOMPARE(absoluteDifference(matrix[0] * matrix[0] + matrix[2] * matrix[2], 1.25 * 1.25, 1e-5), QString());
    const FigureSpec composed = figureFor({"plane", {config}, {{"plane_view", "compose"}}});
    const std::vector<double> turn = numbersIn(composed.more[0]);
    QCOMPARE(absoluteDifference(turn[0] * turn[0] + turn[2] * turn[2], 1.0, 1e-5), QString()); // turns alone
}

void TestPlane::stillPair()
{
    RopeConfig config = plainRope(96, 24, 1e4);
    config.rule = FrequencyRule::Yarn;
    config.parameters.factor = 4.0;
    config.parameters.attentionFactor = 1.25;
    config.originalMaxPositionEmbeddings = 4096;
    FigureOptions options;
    options.pair = 30;
    for (const char* view : {"pairs", "compose", "transpose"}) {
        const FigureSpec figure =
            figureFor({"plane", {config}, {}, withSettings({{"plane_view", view}}, options)});
        QVERIFY(figure.planes.front().isStill);
        for (const PlotSpec& plot : figure.more) {
            QCOMPARE(numbersIn(plot), (std::vector<double>{1.0, 0.0, 0.0, 1.0})); // A does not reach it
            QVERIFY(toEnglish(plot.plotTitle).find("1.25") == std::string::npos);
        }
    }
}

/// Where nobody picked a pair the one shown is one that turns.
void TestPlane::firstPairTurns()
{
    const auto pairOf = [](const RopeConfig& config, int wanted = 12) {
        return firstPair({{config, "A", 0}}, wanted);
    };
    QCOMPARE(pairOf(plainRope(128, 128, 5e5)), 12);
    QCOMPARE(pairOf(plainRope(96, 24, 1e4)), 2); // 12 of 48 turn: as far among them as 12 among 64
    QCOMPARE(pairOf(plainRope(96, 24, 1e4), 11), 11);
    QCOMPARE(pairOf(plainRope(96, 24, 1e4), 40), 7);
    QCOMPARE(pairOf(plainRope(16, 16, 1e4)), 1);
    RopeConfig none = plainRope(64, 64, 1e4);
    none.rule = FrequencyRule::None;
    QCOMPARE(pairOf(none), 0);
    RopeConfig impossible = plainRope(64, 64, -1.0);
    QCOMPARE(pairOf(impossible, 40), 31);
}

void TestPlane::compose()
{
    FigureOptions options;
    options.pair = 3;
    options.m = 40;
    options.n = 25;
    const RopeConfig config = plainRope(64, 64, 1e4);
    const FigureSpec figure =
        figureFor({"plane", {config}, {}, withSettings({{"plane_view", "compose"}}, options)});
    const PlanePanel& panel = figure.planes.front();
    const double theta = frequencyTable(config).theta(3);
    QVERIFY(panel.composed);
    QVERIFY(std::abs(*panel.composed - panel.query * panel.key) < 1e-14);
    QVERIFY(std::abs(panel.sweepFrom * std::polar(1.0, panel.sweepRadians) - *panel.composed) < 1e-14);
    QCOMPARE(absoluteDifference(panel.sweepRadians, 25.0 * theta, 1e-14), QString());
    QCOMPARE(panel.pairCount, 0); // no small circles: they show q and k
    QCOMPARE(panel.m, 40.0);      // what a drag starts from
    QCOMPARE(panel.n, 25.0);
    QCOMPARE(figure.phasors.size(), std::size_t{64}); // the data stays
    QVERIFY(toEnglish(panel.composedLabel).find("65") != std::string::npos);
}

void TestPlane::transpose()
{
    FigureOptions options;
    options.pair = 3;
    options.m = 40;
    options.n = 0;
    const RopeConfig config = plainRope(64, 64, 1e4);
    const FigureSpec figure =
        figureFor({"plane", {config}, {}, withSettings({{"plane_view", "transpose"}}, options)});
    const PlanePanel& panel = figure.planes.front();
    QVERIFY(std::abs(*panel.composed - std::conj(panel.query)) < 1e-14); // R(a)ᵗ = R(-a)
    QVERIFY(std::abs(panel.sweepFrom * std::polar(1.0, panel.sweepRadians) - *panel.composed) < 1e-14);
    // Only the distance is left: both positions shifted, the same product.
    options.m = 1040;
    options.n = 1000;
    const FigureSpec shifted =
        figureFor({"plane", {config}, {}, withSettings({{"plane_view", "transpose"}}, options)});
    QVERIFY(std::abs(*shifted.planes.front().composed - *panel.composed) < 1e-12);
    QCOMPARE(absoluteDifference(numbersIn(shifted.more[2]), numbersIn(figure.more[2]), 1.1e-6), QString());
}

void TestPlane::spectrumValues()
{
    std::mt19937 random(44);
    for (int round = 0; round < 20; ++round) {
        const RopeConfig config = randomConfig(random);
        const FrequencyTable table = frequencyTable(config);
        const double length = static_cast<double>(*trainingLength(config));
        for (const char* word : {"wavelength", "theta", "turns"}) {
            const FigureSpec figure = figureFor({"spectrum", {config}, {{"spectrum_value", word}}});
            if (!table.scaled.empty()) // else there is nothing to draw
                QCOMPARE(brokenPromise(figure), std::string());
            const Series& drawn = drawnMarkers(figure);
            for (std::size_t i = 0; i < table.scaled.size(); ++i) {
                const double theta = table.scaled[i];
                const double actual = (*drawn.y)[i];
                if (theta == 0.0) {
                    QVERIFY(std::isnan(actual));
                    continue;
                }
                const double expected = *word == 'w'                        ? kTwoPi / theta
                                        : std::string_view(word) == "theta" ? theta
                                                                            : length * theta / kTwoPi;
                QCOMPARE(relativeDifference(actual, expected, 1e-15), QString());
                QVERIFY(actual > figure.yAxis.lower && actual < figure.yAxis.upper);
            }
            // The data is the same whatever is drawn.
            QCOMPARE(*seriesOf(figure, "inv_freq").y, table.scaled);
            seriesOf(figure, "wavelength");
            seriesOf(figure, "turns");
            seriesOf(figure, "turns_plain");
            int exported = 0;
            for (const Series& series : figure.series)
                exported += series.isExported;
            QCOMPARE(exported, 5);
        }
    }
}

void TestPlane::spectrumWithoutLength()
{
    QVERIFY(figureFor({"spectrum", {plainRope(64, 64, 1e4)}}).failure.isEmpty());
    QVERIFY(
        !figureFor({"spectrum", {plainRope(64, 64, 1e4)}, {{"spectrum_value", "turns"}}}).failure.isEmpty());
    RopeConfig stated = plainRope(64, 64, 1e4);
    stated.maxPositionEmbeddings = 4096;
    const FigureSpec figure =
        figureFor({"spectrum", {stated, plainRope(64, 64, 1e4)}, {{"spectrum_value", "turns"}}});
    QVERIFY(figure.failure.isEmpty());
    for (const double value : *drawnMarkers(figure, 1).y)
        QVERIFY(std::isnan(value));
}

/// The same lines in every unit: a wavelength λ is 2π/λ in θ and T/λ in turns.
void TestPlane::spectrumGuides()
{
    RopeConfig config = plainRope(128, 128, 5e5);
    config.rule = FrequencyRule::Llama3;
    config.parameters.factor = 8.0;
    config.originalMaxPositionEmbeddings = 8192;
    config.maxPositionEmbeddings = 131072;
    const auto horizontals = [&](const char* word) {
        std::vector<double> at;
        for (const GuideLine& guide : figureFor({"spectrum", {config}, {{"spectrum_value", word}}}).guides)
            if (!guide.isVertical)
                at.push_back(guide.at);
        std::sort(at.begin(), at.end());
        return at;
    };
    // Llama-3: low and high frequency factors 1 and 4, so wavelengths T and T/4; T itself coincides with the
    // former.
    QCOMPARE(relativeDifference(horizontals("wavelength"), std::vector<double>{2048.0, 8192.0}, 1e-14),
             QString());
    QCOMPARE(relativeDifference(horizontals("theta"), std::vector<double>{kTwoPi / 8192.0, kTwoPi / 2048.0},
                                1e-14),
             QString());
    QCOMPARE(relativeDifference(horizontals("turns"), std::vector<double>{1.0, 4.0}, 1e-14), QString());
}

QTEST_GUILESS_MAIN(TestPlane)
#include "test_plane.moc"
