// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/in_distribution.h"
#include "tests/support/build_figure.h"
#include "tests/support/compare.h"
#include "tests/support/reference.h"

#include <QtTest>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

constexpr long double kTurn = 6.28318530717958647692528676655900577L;

RopeConfig llama2()
{
    RopeConfig config;
    config.name = "LLaMA-2";
    config.maxPositionEmbeddings = 4096;
    return config;
}

double markerValue(const FigureSpec& figure, const char* name)
{
    for (const Marker& marker : figure.markers)
        if (marker.name == name)
            return marker.value.value_or(std::nan(""));
    return std::nan("");
}

} // namespace

class TestRangeFigure : public QObject
{
    Q_OBJECT
private slots:
    void reference();
    void limitingCases();
    void rulesAgainstALoop();
    void mapAgainstALoop_data();
    void mapAgainstALoop();
    void stages();
    void stillPairs();
    void samePairsUnderProportional();
    void failures();
};

void TestRangeFigure::reference()
{
    for (const ReferenceEntry& entry : referenceEntries("in_distribution")) {
        RopeConfig config = plainConfig(entry.params);
        config.name = "reference";
        config.maxPositionEmbeddings = entry.params["T_train"].toInteger();
        const FigureSpec figure = figureFor({"range", {config}});
        QCOMPARE(brokenPromise(figure), std::string());
        QCOMPARE(
            relativeDifference(*findSeries(figure, "turns")->y, numbers(entry.values["cycles_in_T"]), 1e-13),
            QString());
        QCOMPARE(markerValue(figure, "critical_dimension"), entry.values["critical_dimension"].toDouble());
        QCOMPARE(markerValue(figure, "full_turn_pairs"),
                 entry.values["n_pairs_at_least_one_cycle"].toDouble());
        for (const QJsonValue& row : entry.values["rows"].toArray())
            for (const char* name : {"mean_unseen_arc", "mean_unseen_arc_plain"})
                QCOMPARE(absoluteDifference(valueAt(figure, name, row["n"].toDouble()),
                                            row["mean_new_arc_fraction"].toDouble(), 1e-13),
                         QString());
    }
}

void TestRangeFigure::limitingCases()
{
    const FigureSpec figure = figureFor({"range", {llama2()}});
    for (const char* rule : {"plain", "abf", "linear", "ntk_aware", "yarn", "llama3", "rope_id"})
        QCOMPARE(valueAt(figure, std::string("mean_unseen_arc_") + rule, 4096.0), 0.0); // N = T
    for (const double y : *findSeries(figure, "mean_unseen_arc_rope_id")->y)
        QCOMPARE(y, 0.0);
    // Interpolation by N/T ends within a token's step of what was seen.
    for (const double y : *findSeries(figure, "mean_unseen_arc_linear")->y)
        QVERIFY(y < 1e-4);
    QVERIFY(std::fabs(valueAt(figure, "mean_unseen_arc_ntk_aware", 131072.0) - 0.050) <
            5e-4); // maths, section 6
    RopeConfig interpolated = llama2();
    interpolated.rule = FrequencyRule::Linear;
    interpolated.originalMaxPositionEmbeddings = 4096;
    interpolated.parameters.factor = 32.0;
    QCOMPARE(markerValue(figureFor({"range", {interpolated}}), "unseen_pairs"), 0.0); // N = 131072 = 32 T
    RopeConfig short_ = llama2();
    short_.length = 4096;
    const FigureSpec inside = figureFor({"range", {short_}});
    QCOMPARE(markerValue(inside, "mean_unseen_arc"), 0.0);
    for (const double value : *inside.maps.front().values)
        QCOMPARE(value, 0.0);
}

void TestRangeFigure::rulesAgainstALoop()
{
    RopeConfig config = llama2();
    config.base = 5e5;
    config.maxPositionEmbeddings = 8192;
    const FigureSpec figure = figureFor({"range", {config}, {{"abf_ratio", "20"}}});
    for (const double length : {16384.0, 65536.0, 262144.0}) {
        const long double factor = length / 8192.0L;
        long double plain = 0.0L, abf = 0.0L, ntk = 0.0L, llama3 = 0.0L;
        for (int i = 0; i < 64; ++i) {
            const long double theta = std::pow(5e5L, -2.0L * i / 128.0L);
            const auto add = [&](long double& sum, long double after) {
                sum += std::max(0.0L, std::min(1.0L, (length - 1.0L) * after / kTurn) -
                                          std::min(1.0L, 8191.0L * theta / kTurn)) /
                       64.0L;
            };
            add(plain, theta);
            add(abf, std::pow(1e7L, -2.0L * i / 128.0L));
            add(ntk, std::pow(5e5L * std::pow(factor, 128.0L / 126.0L), -2.0L * i / 128.0L));
            const long double turns = 8192.0L * theta / kTurn;
            const long double kept = std::clamp((turns - 1.0L) / 3.0L, 0.0L, 1.0L);
            add(llama3, kept * theta + (1.0L - kept) * theta / factor);
        }
        const std::pair<const char*, long double> expected[] = {
            {"plain", plain}, {"abf", abf}, {"ntk_aware", ntk}, {"llama3", llama3}};
        for (const auto& [rule, mean] : expected)
            QCOMPARE(absoluteDifference(valueAt(figure, std::string("mean_unseen_arc_") + rule, length),
                                        static_cast<double>(mean), 1e-12),
                     QString());
    }
}

void TestRangeFigure::mapAgainstALoop_data()
{
    QTest::addColumn<bool>("isLogarithmic");
    QTest::newRow("logarithmic") << true;
    QTest::newRow("linear") << false;
}

void TestRangeFigure::mapAgainstALoop()
{
    QFETCH(bool, isLogarithmic);
    RopeConfig config = llama2();
    config.headDim = config.rotaryDim = 32;
    config.maxPositionEmbeddings = 512;
    FigureOptions options;
    options.isDistanceLogarithmic = isLogarithmic;
    options.maxDistance = 9000;
    const FigureSpec figure = figureFor({"range", {config}, {}, options});
    const MapSpec& map = figure.maps.front();
    QCOMPARE(map.rows, std::int64_t{16});
    const Series* firsts = findSeries(figure, "column_distance");
    QCOMPARE(static_cast<std::int64_t>(firsts->y->size()), map.columns);
    int unseen = 0;
    for (int pair = 0; pair < 16; ++pair) {
        const long double theta = std::pow(1e4L, -2.0L * pair / 32.0L);
        for (std::int64_t j = 0; j < map.columns; ++j) {
            const auto first = static_cast<std::int64_t>((*firsts->y)[static_cast<std::size_t>(j)]);
            const auto next = j + 1 < map.columns
                                  ? static_cast<std::int64_t>((*firsts->y)[static_cast<std::size_t>(j + 1)])
                                  : 9000;
            const std::int64_t end = std::max(next, first + 1);
            int count = 0;
            for (std::int64_t r = first; r < end; ++r)
                count += r >= 512 && std::fmod(r * theta, kTurn) > std::min(kTurn, 511.0L * theta) ? 1 : 0;
            unseen += count;
            QCOMPARE(absoluteDifference((*map.values)[static_cast<std::size_t>(pair * map.columns + j)],
                                        static_cast<double>(count) / static_cast<double>(end - first), 1e-15),
                     QString());
        }
    }
    QVERIFY(unseen > 1000);
}

void TestRangeFigure::stages()
{
    const FigureSpec figure = figureFor({"range", {llama2()}});
    for (int stage = 0; stage < 3; ++stage) {
        const long double seen = stage == 0 ? 4096.0L : stage == 1 ? 32768.0L : 131072.0L;
        long double mean = 0.0L;
        for (int i = 0; i < 64; ++i) {
            const long double theta = std::pow(1e4L, -2.0L * i / 128.0L);
            mean += std::max(0.0L, std::min(1.0L, 131071.0L * theta / kTurn) -
                                       std::min(1.0L, (seen - 1.0L) * theta / kTurn)) /
                    64.0L;
        }
        QCOMPARE(
            absoluteDifference(valueAt(figure, "stage_unseen_arc", stage), static_cast<double>(mean), 1e-13),
            QString());
    }
    QCOMPARE(valueAt(figure, "stage_unseen_arc", 2), 0.0); // all of it was trained on
    QVERIFY(!findSeries(figureFor({"range", {llama2()}, {{"stages", "false"}}}), "stage_unseen_arc"));
    // A stage that is no longer than what was trained on is none.
    const FigureSpec one = figureFor({"range", {llama2()}, {{"stage_1", "2048"}}});
    QCOMPARE(findSeries(one, "stage_unseen_arc")->x->size(), std::size_t{2});
}

void TestRangeFigure::stillPairs()
{
    RopeConfig config = llama2();
    config.rule = FrequencyRule::RopeId;
    config.channels = ChannelScheme::Quarters13;
    const FigureSpec figure = figureFor({"range", {config}});
    QCOMPARE(brokenPromise(figure), std::string());
    const MapSpec& map = figure.maps.front();
    for (std::int64_t cell = 0; cell < map.rows * map.columns; ++cell) {
        const double value = (*map.values)[static_cast<std::size_t>(cell)];
        if (cell / map.columns < 32)
            QCOMPARE(value, 0.0);
        else
            QVERIFY(std::isnan(value)); // does not turn
    }
    QCOMPARE(markerValue(figure, "mean_unseen_arc"), 0.0);
    QVERIFY(std::isnan(markerValue(figure, "critical_dimension"))); // no base, no such dimension
}

void TestRangeFigure::samePairsUnderProportional()
{
    RopeConfig config = llama2();
    config.rule = FrequencyRule::Proportional;
    config.parameters.partialRotaryFactor = 0.25;
    config.base = 1e6;
    const FigureSpec figure = figureFor({"range", {config}});
    QCOMPARE(brokenPromise(figure), std::string());
    for (const double length : {8192.0, 131072.0})
        QCOMPARE(absoluteDifference(valueAt(figure, "mean_unseen_arc_plain", length),
                                    valueAt(figure, "mean_unseen_arc", length), 1e-14),
                 QString());
}

void TestRangeFigure::failures()
{
    RopeConfig unknown;
    unknown.name = "no length";
    QVERIFY(!figureFor({"range", {unknown}}).failure.isEmpty());
    RopeConfig still = llama2();
    still.rule = FrequencyRule::None;
    QVERIFY(!figureFor({"range", {still}}).failure.isEmpty());
    // Beside one that can be drawn, that one is.
    const FigureSpec figure = figureFor({"range", {unknown, llama2()}});
    QVERIFY(figure.failure.isEmpty());
    QCOMPARE(figure.maps.front().configuration, 1);
    QCOMPARE(brokenPromise(figure), std::string());
}

QTEST_APPLESS_MAIN(TestRangeFigure)
#include "test_range.moc"
