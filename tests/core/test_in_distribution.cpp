// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/in_distribution.h"
#include "core/rope_math.h"
#include "tests/support/compare.h"
#include "tests/support/reference.h"

#include <QtTest>

using namespace ropewalk;
using namespace ropewalk::test;

class TestInDistribution : public QObject
{
    Q_OBJECT
private slots:
    void reference();
    void scalingLaw();
    void ropeIdSeesEverything();
    void interpolationStaysInside();
    void ntkAwareDoesNot();
    void distancesUnseen();
    void runsAreTheDistancesOneByOne();
    void smallBase();
};

void TestInDistribution::reference()
{
    for (const ReferenceEntry& entry : referenceEntries("in_distribution")) {
        RopeConfig config = plainConfig(entry.params);
        const auto training = entry.params["T_train"].toInteger();
        config.maxPositionEmbeddings = training;
        const FrequencyTable table = frequencyTable(config);
        const std::vector<double> cycles = numbers(entry.values["cycles_in_T"]);
        for (std::size_t i = 0; i < cycles.size(); ++i)
            QCOMPARE(relativeDifference(static_cast<double>(training) * table.scaled[i] / kTwoPi, cycles[i],
                                        1e-13),
                     QString());
        QCOMPARE(criticalDimension(config.rotaryDim, config.base, static_cast<double>(training)),
                 entry.values["critical_dimension"].toInt());
        for (const QJsonValue& row : entry.values["rows"].toArray()) {
            const auto length = row["n"].toInteger();
            const InDistribution found = inDistributionAt(config, length).value();
            QCOMPARE(found.fullTurnPairs, entry.values["n_pairs_at_least_one_cycle"].toInt());
            QCOMPARE(relativeDifference(found.slowestCycles, cycles.back(), 1e-13), QString());
            QCOMPARE(absoluteDifference(found.meanUnseenArc, row["mean_new_arc_fraction"].toDouble(), 1e-13),
                     QString());
            QCOMPARE(found.unseenPairs, row["n_pairs_with_new_arc"].toInt());
            QCOMPARE(absoluteDifference(unseenArc(table.scaled.back(), table.scaled.back(),
                                                  static_cast<double>(training), static_cast<double>(length)),
                                        row["last_pair"].toDouble(), 1e-13),
                     QString());
        }
    }
}

void TestInDistribution::scalingLaw()
{
    for (const ReferenceEntry& entry : referenceEntries("in_distribution/scaling_law")) {
        const int width = entry.params["d"].toInt();
        const double training = entry.params["T_train"].toDouble();
        const int critical = criticalDimension(width, entry.params["base_pretrain"].toDouble(), training);
        QCOMPARE(critical, entry.values["critical_dimension"].toInt());
        const auto thresholds = smallBaseThresholds(training);
        QCOMPARE(relativeDifference(thresholds[0], entry.values["beta_1"].toDouble(), 1e-13), QString());
        QCOMPARE(relativeDifference(thresholds[1], entry.values["beta_2"].toDouble(), 1e-13), QString());
        QCOMPARE(relativeDifference(thresholds[2], entry.values["beta_3"].toDouble(), 1e-13), QString());
        QCOMPARE(relativeDifference(reachOfBase(1e6, critical, width),
                                    entry.values["T_extra_for_base_1e6"].toDouble(), 1e-13),
                 QString());
        QCOMPARE(relativeDifference(reachOfBase(1e4, critical, width),
                                    entry.values["T_extra_for_base_1e4"].toDouble(), 1e-13),
                 QString());
    }
}

void TestInDistribution::ropeIdSeesEverything()
{
    RopeConfig config;
    config.rule = FrequencyRule::RopeId;
    config.channels = ChannelScheme::Quarters13;
    config.maxPositionEmbeddings = 4096;
    for (const std::int64_t length : {4096, 8192, 131072, 1 << 22}) {
        const InDistribution found = inDistributionAt(config, length).value();
        QCOMPARE(found.turningPairs, 32); // averages run over the pairs that turn
        QCOMPARE(found.fullTurnPairs, 32);
        QVERIFY(found.slowestCycles >= 2.0 - 1e-12);
        QCOMPARE(found.meanUnseenArc, 0.0);
        QCOMPARE(found.meanUnseenDistances, 0.0);
    }
}

void TestInDistribution::interpolationStaysInside()
{
    RopeConfig config;
    config.rule = FrequencyRule::Linear;
    config.originalMaxPositionEmbeddings = 4096;
    for (const double factor : {2.0, 8.0, 32.0}) {
        config.parameters.factor = factor;
        const auto length = static_cast<std::int64_t>(4096.0 * factor);
        const InDistribution found = inDistributionAt(config, length).value();
        QCOMPARE(found.unseenPairs, 0);
        const FrequencyTable table = frequencyTable(config);
        for (std::size_t i = 0; i < table.scaled.size(); ++i)
            QVERIFY(static_cast<double>(length - 1) * table.scaled[i] <= 4096.0 * table.plain[i]);
    }
}

void TestInDistribution::ntkAwareDoesNot()
{
    RopeConfig config;
    config.rule = FrequencyRule::NtkAware;
    config.parameters.factor = 32.0;
    config.originalMaxPositionEmbeddings = 4096;
    const InDistribution found = inDistributionAt(config, 32 * 4096).value();
    QVERIFY(std::fabs(found.meanUnseenArc - 0.050) < 5e-4);
    QVERIFY(std::fabs(found.largestUnseenArc - 0.51) < 5e-3);
}

void TestInDistribution::distancesUnseen()
{
    // (N-T)/N while the pair has not come round.
    QCOMPARE(unseenDistances(1e-5, 1e-5, 4096, 8192), 0.5);
    QCOMPARE(unseenDistances(1.0, 1.0, 4096, 8192), 0.0);
    // Comes round: counted by hand. θ = 1, T = 4: seen is 0..3 rad; of 4, 5, 6, 7-2π, 8-2π, ... 12-2π: 4, 5,
    // 6, 10-2π, 11-2π and 12-2π lie beyond.
    QCOMPARE(unseenDistances(1.0, 1.0, 4, 13), 6.0 / 13.0);
    QVERIFY(!inDistributionAt(RopeConfig{}, 100)); // no training length
}

void TestInDistribution::runsAreTheDistancesOneByOne()
{
    // Slow, nearly one turn, faster at inference, a short training length, a range in the middle.
    struct Case
    {
        double trained, theta;
        std::int64_t training, first, end;
    };
    for (const Case& c :
         {Case{1e-5, 1e-5, 4096, 0, 400000}, Case{1.2e-3, 1.2e-3, 4096, 0, 100000},
          Case{1.5e-3, 1.4e-3, 4096, 5000, 50001}, Case{1e-3, 7e-3, 512, 0, 30000},
          Case{0.7, 0.7, 3, 0, 1000}, Case{0.05, 0.05, 64, 70, 71}, Case{1e-4, 0.0, 64, 0, 900},
          Case{3e-4, 1e-4, 1024, 1024, 65536}, Case{2.0, 2.0, 2, 0, 500}}) {
        const long double turn = 2.0L * 3.14159265358979323846264338327950288L;
        std::int64_t expected = 0;
        for (std::int64_t r = std::max(c.first, c.training); r < c.end; ++r)
            expected += std::fmod(static_cast<long double>(r) * c.theta, turn) >
                                static_cast<long double>(c.training - 1) * c.trained
                            ? 1
                            : 0;
        QCOMPARE(unseenDistancesWithin(c.trained, c.theta, c.training, c.first, c.end), expected);
        comparedNumbers.count += 1;
    }
}

void TestInDistribution::smallBase()
{
    RopeConfig config;
    config.base = 1.0 + 1e-9;
    config.maxPositionEmbeddings = 4096;
    const InDistribution found = inDistributionAt(config, 4096).value();
    QVERIFY(std::fabs(found.slowestCycles - 4096.0 / kTwoPi) < 1e-4);
    QCOMPARE(found.meanUnseenArc, 0.0);
    QCOMPARE(criticalDimension(128, config.base, 4096.0), 128);
    QCOMPARE(criticalDimension(128, 1e4, 2.0), 0);
}

QTEST_APPLESS_MAIN(TestInDistribution)
#include "test_in_distribution.moc"
