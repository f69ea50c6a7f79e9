// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cpu_backend.h"
#include "core/figure_results.h"
#include "tests/support/compare.h"

#include <QtTest>
#include <array>

using namespace ropewalk;
using namespace ropewalk::test;

Q_DECLARE_METATYPE(ropewalk::RopeConfig)

namespace {

Engine processor()
{
    std::vector<std::unique_ptr<ComputeBackend>> backends;
    backends.push_back(makeCpuBackend());
    return Engine(std::move(backends));
}

RopeConfig plain(int headDim, int rotaryDim, double base)
{
    RopeConfig config;
    config.headDim = headDim;
    config.rotaryDim = rotaryDim;
    config.base = base;
    return config;
}

ComputeRequest requestFor(const RopeConfig& config)
{
    ComputeRequest request;
    request.configurations.push_back({config, "A", 0});
    return request;
}

} // namespace

class TestFirstPicture : public QObject
{
    Q_OBJECT
private slots:
    void table_data();
    void table();
    void similarKeyOfPlainRotationIsTheCosineSum();
    void coarseIsAPartOfTheFullCurve();
    void coarseSaysNothingOfFirstDistances();
    void scoreOfOnesIsTheCurve();
    void impossibleConfigurationComputesNothing();
    void unchangedCurvesAreTakenOver();
    void stopped();
    void optionsOutOfRange();
};

void TestFirstPicture::table_data()
{
    QTest::addColumn<RopeConfig>("config");
    QTest::addColumn<int>("entersNoise"); // -1: never
    QTest::addColumn<int>("firstNegative");
    QTest::addColumn<QList<double>>("cosineAt"); // 10, 100, 1000, 10000
    // The table of the first picture: three decimals, computed once with 50 digits, from none of Ropewalk's
    // sources.
    QTest::newRow("Llama-2") << plain(128, 128, 1e4) << 832 << 1707 << QList<double>{.669, .477, .159, -.028};
    QTest::newRow("Llama-3") << plain(128, 128, 5e5) << 9967 << 18438
                             << QList<double>{.764, .611, .492, .187};
    QTest::newRow("Gemma-7B") << plain(256, 256, 1e4) << 1492 << 2653
                              << QList<double>{.675, .456, .193, -.018};
    QTest::newRow("GPT-NeoX-20B") << plain(96, 24, 1e4) << -1 << -1 << QList<double>{.895, .816, .774, .718};
}

void TestFirstPicture::table()
{
    QFETCH(RopeConfig, config);
    QFETCH(int, entersNoise);
    QFETCH(int, firstNegative);
    QFETCH(QList<double>, cosineAt);
    Engine engine = processor();
    const auto results = computeFigureResults(engine, requestFor(config));
    QVERIFY(results.hasValue());
    const auto& decay = results->configurations.at(0).decay;
    QVERIFY(decay);
    QCOMPARE(decay->entersNoise.value_or(-1), std::int64_t{entersNoise});
    QCOMPARE(decay->firstNegative.value_or(-1), std::int64_t{firstNegative});
    QCOMPARE(relativeDifference(decay->independentSd->front(), 1.0 / std::sqrt(config.headDim), 1e-15),
             QString());
    QCOMPARE(decay->distances->size(), std::size_t{131073});
    for (int i = 0; i < 4; ++i) {
        const auto r =
            static_cast<std::size_t>(std::array{10, 100, 1000, 10000}[static_cast<std::size_t>(i)]);
        QCOMPARE(decay->distances->at(r), static_cast<double>(r));
        QCOMPARE(absoluteDifference(decay->cosineSum->at(r), cosineAt[i], 5e-4), QString());
    }
    QCOMPARE(decay->cosineSum->at(0), 1.0);
}

void TestFirstPicture::similarKeyOfPlainRotationIsTheCosineSum()
{
    Engine engine = processor();
    ComputeRequest request = requestFor(plain(128, 128, 1e4));
    request.options.rho = 0.25;
    const auto results = computeFigureResults(engine, request);
    QVERIFY(results.hasValue());
    const DecayCurves& decay = *results->configurations.at(0).decay;
    for (std::size_t r = 0; r < decay.distances->size(); r += 997)
        QCOMPARE(absoluteDifference(decay.similarMean->at(r), 0.25 * decay.cosineSum->at(r), 1e-14),
                 QString());
    // Spread of the similar key, ρ = 1: 0.125 at 0, 0.084 at 10000 (d_h 128, base 10000).
    request.options.rho = 1.0;
    const auto same = computeFigureResults(engine, request);
    QVERIFY(same.hasValue());
    const auto& sd = same->configurations.at(0).decay->similarSd;
    QCOMPARE(absoluteDifference(sd->at(0), 0.125, 1e-14), QString());
    QCOMPARE(absoluteDifference(sd->at(10000), 0.084, 5e-4), QString());
}

void TestFirstPicture::coarseIsAPartOfTheFullCurve()
{
    Engine engine = processor();
    for (const bool isLogarithmic : {true, false}) {
        ComputeRequest request = requestFor(plain(128, 128, 5e5));
        request.options.isDistanceLogarithmic = isLogarithmic;
        const auto full = computeFigureResults(engine, request);
        request.isCoarse = true;
        const auto coarse = computeFigureResults(engine, request);
        QVERIFY(full.hasValue() && coarse.hasValue());
        QVERIFY(coarse->isCoarse && !full->isCoarse);
        const DecayCurves& few = *coarse->configurations.at(0).decay;
        const DecayCurves& all = *full->configurations.at(0).decay;
        QVERIFY(few.distances->size() > 500 && few.distances->size() < 2000);
        QCOMPARE(few.distances->front(), 0.0);
        QCOMPARE(few.distances->back(), 131072.0);
        for (std::size_t i = 0; i < few.distances->size(); ++i) {
            const auto r = static_cast<std::size_t>(few.distances->at(i));
            QCOMPARE(few.distances->at(i), static_cast<double>(r)); // whole tokens only
            QCOMPARE(absoluteDifference(few.cosineSum->at(i), all.cosineSum->at(r), 1e-10), QString());
            QCOMPARE(absoluteDifference(few.similarSd->at(i), all.similarSd->at(r), 1e-10), QString());
        }
    }
}

void TestFirstPicture::coarseSaysNothingOfFirstDistances()
{
    Engine engine = processor();
    ComputeRequest request = requestFor(plain(128, 128, 1e4));
    request.isCoarse = true;
    const auto coarse = computeFigureResults(engine, request);
    QVERIFY(coarse.hasValue());
    QVERIFY(!coarse->configurations.at(0).decay->entersNoise);
    QVERIFY(!coarse->configurations.at(0).decay->firstNegative);
}

void TestFirstPicture::scoreOfOnesIsTheCurve()
{
    Engine engine = processor();
    ComputeRequest request = requestFor(plain(96, 24, 1e4));
    request.options.m = 1040;
    request.options.n = 40;
    const auto results = computeFigureResults(engine, request);
    QVERIFY(results.hasValue());
    const ConfigurationResult& result = results->configurations.at(0);
    QCOMPARE(absoluteDifference(result.scores->score / 96.0, result.decay->cosineSum->at(1000), 1e-12),
             QString());
    double sum = 0.0;
    for (const double part : result.scores->contribution)
        sum += part;
    QCOMPARE(sum, result.scores->score);
    QCOMPARE(result.scores->contribution.size(), std::size_t{48});
}

void TestFirstPicture::impossibleConfigurationComputesNothing()
{
    Engine engine = processor();
    ComputeRequest request = requestFor(plain(128, 128, 0.5));
    request.configurations.push_back({plain(128, 128, 1e4), "B", 1});
    const auto results = computeFigureResults(engine, request);
    QVERIFY(results.hasValue());
    QVERIFY(!results->configurations.at(0).issues.empty());
    QVERIFY(!results->configurations.at(0).decay && !results->configurations.at(0).scores);
    QVERIFY(results->configurations.at(1).decay &&
            results->configurations.at(1).scores); // the other one is there
}

void TestFirstPicture::unchangedCurvesAreTakenOver()
{
    Engine engine = processor();
    ComputeRequest request = requestFor(plain(128, 128, 1e4));
    const auto before = computeFigureResults(engine, request);
    QVERIFY(before.hasValue());
    request.options.m = 77; // a position does not change the curve
    request.configurations[0].config.name = "renamed";
    const auto moved = computeFigureResults(engine, request, &*before);
    QVERIFY(moved.hasValue());
    QCOMPARE(moved->configurations[0].decay, before->configurations[0].decay);
    QCOMPARE(moved->configurations[0].scores->m, std::int64_t{77});

    request.configurations[0].config.base = 20000.0;
    const auto changed = computeFigureResults(engine, request, &*before);
    QVERIFY(changed.hasValue());
    QVERIFY(changed->configurations[0].decay != before->configurations[0].decay);
    QVERIFY(changed->configurations[0].decay->cosineSum->at(100) !=
            before->configurations[0].decay->cosineSum->at(100));
    for (const auto change :
         {+[](FigureOptions& o) { o.rho = 0.5; }, +[](FigureOptions& o) { o.maxDistance = 4096; }}) {
        ComputeRequest other = requestFor(plain(128, 128, 1e4));
        change(other.options);
        const auto results = computeFigureResults(engine, other, &*before);
        QVERIFY(results.hasValue());
        QVERIFY(results->configurations[0].decay != before->configurations[0].decay);
    }
    request = requestFor(plain(128, 128, 1e4));
    request.wantsBound = true;
    const auto bounded = computeFigureResults(engine, request, &*before);
    QVERIFY(bounded.hasValue());
    QVERIFY(bounded->configurations[0].decay->boundFactor);
    QCOMPARE(absoluteDifference(bounded->configurations[0].decay->boundFactor->at(256), 0.201, 5e-4),
             QString());
    QCOMPARE(absoluteDifference(bounded->configurations[0].decay->boundFactor->at(4096), 0.150, 5e-4),
             QString());
}

void TestFirstPicture::stopped()
{
    Engine engine = processor();
    std::stop_source stop;
    stop.request_stop();
    const auto results =
        computeFigureResults(engine, requestFor(plain(128, 128, 1e4)), nullptr, stop.get_token());
    QVERIFY(!results);
    QCOMPARE(results.error().code, ErrorCode::Cancelled);
}

void TestFirstPicture::optionsOutOfRange()
{
    Engine engine = processor();
    for (const auto& [field, change] :
         {std::pair{"pair", +[](FigureOptions& o) { o.pair = 64; }},
          std::pair{"pair", +[](FigureOptions& o) { o.pair = -1; }},
          std::pair{"m", +[](FigureOptions& o) { o.m = -1; }},
          std::pair{"n", +[](FigureOptions& o) { o.n = 100'000'001; }},
          std::pair{"max_distance", +[](FigureOptions& o) { o.maxDistance = 0; }},
          std::pair{"rho", +[](FigureOptions& o) { o.rho = 1.5; }},
          std::pair{"rho", +[](FigureOptions& o) { o.rho = std::nan(""); }}}) {
        ComputeRequest request = requestFor(plain(128, 128, 1e4));
        change(request.options);
        const auto results = computeFigureResults(engine, request);
        QVERIFY2(!results, field);
        QCOMPARE(results.error().code, ErrorCode::BadInput);
        QVERIFY2(toEnglish(results.error()).starts_with(field), toEnglish(results.error()).c_str());
    }
}

QTEST_APPLESS_MAIN(TestFirstPicture)
#include "test_first_picture.moc"
