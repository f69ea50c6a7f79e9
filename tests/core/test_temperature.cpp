// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/frequency_rules.h"
#include "core/temperature.h"
#include "tests/support/compare.h"
#include "tests/support/reference.h"

#include <QtTest>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

constexpr double kRelative = 1e-13;

RopeConfig with(TemperatureRule rule, std::int64_t training)
{
    RopeConfig config;
    config.temperature.rule = rule;
    config.originalMaxPositionEmbeddings = training;
    return config;
}

double at(const RopeConfig& config, double visible)
{
    return temperatureAt(config, visible).value();
}

} // namespace

class TestTemperature : public QObject
{
    Q_OBJECT
private slots:
    void ropeId();
    void yarnAndLongRope();
    void logN();
    void llama4AndMinistral();
    void scalableSoftmax();
    void needle();
    void floorAndSlope_data();
    void floorAndSlope();
    void perQueryOrPerCall();
    void whatIsMissing();
    void table();
};

void TestTemperature::ropeId()
{
    for (const ReferenceEntry& entry : referenceEntries("temperature/rope_id")) {
        const RopeConfig config = with(TemperatureRule::RopeId, entry.params["T_train"].toInteger());
        for (const QJsonValue& row : entry.values["rows"].toArray()) {
            const double tau = at(config, row["n"].toDouble());
            QCOMPARE(relativeDifference(tau, row["rope_id"].toDouble(), kRelative), QString());
            // The two wrong printings agree with the right one at few lengths only.
            if (row["n"].toDouble() > 4096.0)
                QVERIFY(std::fabs(tau - row["seed_garble_min_div"].toDouble()) > 1e-6);
            // YaRN's rule with s = N/T is the same.
            RopeConfig yarn = with(TemperatureRule::Yarn, 4096);
            yarn.parameters.factor = std::max(1.0, row["n"].toDouble() / entry.params["T_train"].toDouble());
            QCOMPARE(relativeDifference(at(yarn, 1.0), row["yarn_score"].toDouble(), kRelative), QString());
        }
    }
}

void TestTemperature::yarnAndLongRope()
{
    for (const ReferenceEntry& entry : referenceEntries("temperature/yarn"))
        for (const QJsonValue& row : entry.values["rows"].toArray()) {
            RopeConfig config = with(TemperatureRule::Yarn, 4096);
            config.parameters.factor = row["s"].toDouble();
            QCOMPARE(relativeDifference(at(config, 9.0), row["score_multiplier"].toDouble(), kRelative),
                     QString());
            QVERIFY(!isInAttentionFactor(config));
            config.rule = FrequencyRule::Yarn;
            QVERIFY(isInAttentionFactor(config));
            QCOMPARE(relativeDifference(at(config, 9.0), row["score_multiplier"].toDouble(), kRelative),
                     QString());
            config.parameters.attentionFactor = 1.25; // then the configuration's own A counts
            QCOMPARE(at(config, 9.0), 1.5625);
        }
    for (const ReferenceEntry& entry : referenceEntries("temperature/longrope"))
        for (const QJsonValue& row : entry.values["rows"].toArray()) {
            RopeConfig config = with(TemperatureRule::LongRope, row["L"].toInteger());
            config.parameters.factor = row["s"].toDouble();
            const double factor = row["factor"].toDouble();
            QCOMPARE(relativeDifference(at(config, 9.0), factor * factor, kRelative), QString());
        }
}

void TestTemperature::logN()
{
    for (const ReferenceEntry& entry : referenceEntries("temperature/log_n"))
        for (const QJsonValue& row : entry.values["rows"].toArray()) {
            const RopeConfig config = with(TemperatureRule::LogN, entry.params["T_train"].toInteger());
            QCOMPARE(relativeDifference(at(config, row["n"].toDouble()), row["factor"].toDouble(), kRelative),
                     QString());
        }
}

void TestTemperature::llama4AndMinistral()
{
    for (const ReferenceEntry& entry : referenceEntries("temperature/llama4"))
        for (const QJsonValue& row : entry.values["rows"].toArray()) {
            // The training length has no say: both have a length of their own.
            RopeConfig config = with(TemperatureRule::Llama4, 77);
            const auto position = row["position"].toInteger();
            QCOMPARE(relativeDifference(temperatureOfQuery(config, position).value(),
                                        row["llama4"].toDouble(), kRelative),
                     QString());
            config.temperature.rule = TemperatureRule::Ministral;
            QCOMPARE(relativeDifference(temperatureOfQuery(config, position).value(),
                                        row["ministral3_orig16384"].toDouble(), kRelative),
                     QString());
        }
}

void TestTemperature::scalableSoftmax()
{
    RopeConfig config;
    config.temperature.rule = TemperatureRule::ScalableSoftmax;
    QCOMPARE(at(config, 1.0), 0.0);
    QCOMPARE(relativeDifference(at(config, 1024.0), 10.0 * 0.69314718055994530942, 1e-15), QString());
    config.temperature.coefficient = 0.43; // s, whatever the lengths are
    config.originalMaxPositionEmbeddings = 4096;
    QCOMPARE(relativeDifference(at(config, 1048576.0), 0.43 * 20.0 * 0.69314718055994530942, 1e-15),
             QString());
    // e^{s ln N·z} is N^{s·z}: a needle of logit z > 1/s keeps its mass at every length.
    for (const double n : {1e3, 1e6, 1e9})
        QVERIFY(needleAttention(3.0, n, at(config, n)).mass > 0.7);
    QVERIFY(needleAttention(3.0, 1e9, 1.0).mass < 1e-6);
}

void TestTemperature::needle()
{
    int tested = 0;
    for (const ReferenceEntry& entry : referenceEntries("entropy/needle"))
        for (const QJsonValue& row : entry.values["rows"].toArray()) {
            const QString scaling = row["scaling"].toString();
            const RopeConfig config = with(scaling == "none"               ? TemperatureRule::None
                                           : scaling.startsWith("rope_id") ? TemperatureRule::RopeId
                                                                           : TemperatureRule::LogN,
                                           4096);
            const double n = row["n"].toDouble();
            const NeedleAttention found = needleAttention(row["needle_logit"].toDouble(), n, at(config, n));
            QCOMPARE(relativeDifference(found.mass, row["p_needle"].toDouble(), 1e-12), QString());
            QCOMPARE(relativeDifference(found.entropyNats, row["entropy_nats"].toDouble(), 1e-12), QString());
            ++tested;
        }
    QVERIFY(tested > 10);
    QCOMPARE(needleAttention(2000.0, 1e6, 1.0).mass, 1.0); // nothing overflows
}

void TestTemperature::floorAndSlope_data()
{
    QTest::addColumn<int>("rule");
    QTest::addColumn<double>("slope"); // to the right of T
    QTest::newRow("rope_id") << static_cast<int>(TemperatureRule::RopeId) << 0.2 / 4096.0;
    QTest::newRow("log_n") << static_cast<int>(TemperatureRule::LogN) << 1.0 / (4096.0 * std::log(4096.0));
}

void TestTemperature::floorAndSlope()
{
    QFETCH(int, rule);
    QFETCH(double, slope);
    RopeConfig config = with(static_cast<TemperatureRule>(rule), 4096);
    for (const double n : {1.0, 2.0, 100.0, 4095.0, 4096.0})
        QCOMPARE(at(config, n), 1.0);
    const double step = 1e-3;
    QVERIFY(std::fabs((at(config, 4096.0 + step) - 1.0) / step - slope) < 1e-3 * slope);
    config.temperature.hasFloor = false;
    QVERIFY(at(config, 1.0) < 1.0 && at(config, 2048.0) < 1.0);
    QCOMPARE(relativeDifference(at(config, 4096.0), 1.0, 1e-15), QString());
    config.temperature.hasFloor = true;
    for (double n = 1.0; n < 1e7; n *= 1.7)
        QVERIFY(at(config, n) >= 1.0);
}

void TestTemperature::perQueryOrPerCall()
{
    RopeConfig config = with(TemperatureRule::RopeId, 4096);
    config.length = 16384;
    QCOMPARE(temperatureOfQuery(config, 8191).value(), at(config, 8192.0)); // a query sees itself
    config.temperature.isPerQuery = false;
    QCOMPARE(temperatureOfQuery(config, 8191).value(), at(config, 16384.0));
    QCOMPARE(temperatureOfQuery(config, 0).value(), at(config, 16384.0));
}

void TestTemperature::whatIsMissing()
{
    RopeConfig config;
    for (const TemperatureInfo& rule : temperatureRules()) {
        config.temperature.rule = rule.rule;
        const bool needsTraining = rule.needsLength && !rule.referenceLength;
        QCOMPARE(temperatureAt(config, 100.0).has_value(), !needsTraining);
    }
    config.originalMaxPositionEmbeddings = 1;
    config.temperature.rule = TemperatureRule::LogN;
    QVERIFY(!temperatureAt(config, 100.0)); // ln 1 would divide
}

void TestTemperature::table()
{
    for (const TemperatureInfo& rule : temperatureRules()) {
        QCOMPARE(&info(rule.rule), &rule);
        QCOMPARE(findTemperatureRule(rule.word), &rule);
        QVERIFY(!rule.title.empty() && !rule.formula.empty() && !rule.source.empty() && rule.tau);
    }
    QCOMPARE(temperatureRules().size(), std::size_t{8});
    QCOMPARE(findTemperatureRule("hot"), nullptr);
}

QTEST_APPLESS_MAIN(TestTemperature)
#include "test_temperature.moc"
