// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/philox.h"
#include "core/temperature.h"
#include "tests/support/build_figure.h"
#include "tests/support/compare.h"
#include "tests/support/reference.h"

#include <QtTest>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

RopeConfig trainedOn(std::int64_t training)
{
    RopeConfig config;
    config.name = "test";
    config.maxPositionEmbeddings = training;
    return config;
}

} // namespace

class TestTemperatureFigure : public QObject
{
    Q_OBJECT
private slots:
    void promises();
    void valuesOfRopeId();
    void printings();
    void stepsOfLlama4AndMinistral();
    void constants();
    void needle();
    void rotatedOrAll();
    void gaussian();
    void ownRuleIsHeavy();
    void withoutTrainingLength();
};

void TestTemperatureFigure::promises()
{
    RopeConfig other = trainedOn(8192);
    other.temperature.rule = TemperatureRule::LogN;
    other.rotaryDim = 32;
    other.parameters.factor = 4.0;
    for (const char* measure : {"effective", "nats", "share"})
        for (const char* printing : {"none", "all"})
            QCOMPARE(brokenPromise(figureFor({"temperature",
                                              {trainedOn(4096), other},
                                              {{"entropy_measure", measure}, {"printing", printing}}})),
                     std::string());
}

void TestTemperatureFigure::valuesOfRopeId()
{
    const FigureSpec figure = figureFor({"temperature", {trainedOn(4096)}});
    // maths, section 5.
    const std::pair<double, double> known[] = {{4096, 1.0},       {8192, 1.143434},  {16384, 1.296477},
                                               {32768, 1.459129}, {65536, 1.631390}, {131072, 1.813260}};
    for (const auto& [length, tau] : known) {
        QCOMPARE(absoluteDifference(valueAt(figure, "tau_rope_id", length), tau, 5e-7), QString());
        // YaRN's rule with s = N/T is the same, LongRoPE's is log-n.
        QCOMPARE(relativeDifference(valueAt(figure, "tau_yarn_at_ratio", length),
                                    valueAt(figure, "tau_rope_id", length), 1e-14),
                 QString());
        QCOMPARE(relativeDifference(valueAt(figure, "tau_longrope_at_ratio", length),
                                    valueAt(figure, "tau_log_n", length), 1e-14),
                 QString());
    }
}

void TestTemperatureFigure::printings()
{
    const FigureSpec figure = figureFor({"temperature", {trainedOn(4096)}, {{"printing", "all"}}});
    int tested = 0;
    for (const ReferenceEntry& entry : referenceEntries("temperature/rope_id"))
        for (const QJsonValue& row : entry.values["rows"].toArray()) {
            const double n = row["n"].toDouble();
            if (std::exp2(std::round(std::log2(n))) != n || n < 1024.0 || n > 1048576.0)
                continue;
            QCOMPARE(
                relativeDifference(valueAt(figure, "tau_printed_right", n), row["rope_id"].toDouble(), 1e-13),
                QString());
            QCOMPARE(relativeDifference(valueAt(figure, "tau_printed_without_ratio", n),
                                        row["seed_garble_min_no_div"].toDouble(), 1e-13),
                     QString());
            QCOMPARE(relativeDifference(valueAt(figure, "tau_printed_with_minimum", n),
                                        row["seed_garble_min_div"].toDouble(), 1e-13),
                     QString());
            ++tested;
        }
    QVERIFY(tested >= 5);
    QVERIFY(!findSeries(figureFor({"temperature", {trainedOn(4096)}}), "tau_printed_right")); // off at first
}

void TestTemperatureFigure::stepsOfLlama4AndMinistral()
{
    const FigureSpec figure = figureFor({"temperature", {trainedOn(4096)}});
    for (const ReferenceEntry& entry : referenceEntries("temperature/llama4"))
        for (const QJsonValue& row : entry.values["rows"].toArray()) {
            const double n = row["position"].toDouble() + 1.0; // what the query sees
            if (n < 1024.0 || n > 1048576.0)
                continue;
            QCOMPARE(relativeDifference(valueAt(figure, "tau_llama4", n), row["llama4"].toDouble(), 1e-13),
                     QString());
            QCOMPARE(relativeDifference(valueAt(figure, "tau_ministral", n),
                                        row["ministral3_orig16384"].toDouble(), 1e-13),
                     QString());
        }
    QCOMPARE(valueAt(figure, "tau_llama4", 8191), 1.0); // a step, not a slope
    QVERIFY(valueAt(figure, "tau_llama4", 8192) > 1.06);
}

void TestTemperatureFigure::constants()
{
    QVERIFY(!findSeries(figureFor({"temperature", {trainedOn(4096)}}), "tau_yarn")); // no factor, no constant
    RopeConfig config = trainedOn(4096);
    config.parameters.factor = 32.0;
    const FigureSpec figure = figureFor({"temperature", {config}});
    for (const double n : {1024.0, 1048576.0}) {
        QCOMPARE(relativeDifference(valueAt(figure, "tau_yarn", n), 1.8132604340394958, 1e-13), QString());
        QCOMPARE(relativeDifference(valueAt(figure, "tau_longrope", n),
                                    1.1902380714238083 * 1.1902380714238083, 1e-13),
                 QString());
    }
}

void TestTemperatureFigure::needle()
{
    int tested = 0;
    for (const ReferenceEntry& entry : referenceEntries("entropy/needle"))
        for (const QJsonValue& row : entry.values["rows"].toArray()) {
            const double n = row["n"].toDouble();
            if (n < 1024.0)
                continue;
            const FigureSpec figure =
                figureFor({"temperature",
                           {trainedOn(4096)},
                           {{"needle_logit", std::to_string(row["needle_logit"].toInt())}},
                           {},
                           true});
            const QString scaling = row["scaling"].toString();
            const std::string rule = scaling == "none"               ? "none"
                                     : scaling.startsWith("rope_id") ? "rope_id"
                                                                     : "log_n";
            QCOMPARE(relativeDifference(valueAt(figure, "needle_mass_" + rule, n), row["p_needle"].toDouble(),
                                        1e-12),
                     QString());
            const double nats = row["entropy_nats"].toDouble();
            QCOMPARE(relativeDifference(valueAt(figure, "needle_entropy_" + rule, n), nats, 1e-12),
                     QString());
            QCOMPARE(relativeDifference(valueAt(figure, "needle_relative_entropy_" + rule, n),
                                        nats / std::log(n), 1e-12),
                     QString());
            QCOMPARE(relativeDifference(valueAt(figure, "needle_effective_tokens_" + rule, n), std::exp(nats),
                                        1e-11),
                     QString());
            ++tested;
        }
    QVERIFY(tested > 8);
}

void TestTemperatureFigure::rotatedOrAll()
{
    RopeConfig config = trainedOn(4096);
    config.rotaryDim = 32; // a quarter of 128
    config.parameters.factor = 32.0;
    const double square = 1.8132604340394958;
    const auto mass = [&](double factor, double n) { return needleAttention(9.0, n, factor).mass; };
    const FigureSpec rotated = figureFor({"temperature", {config}, {}, {}, true});
    const FigureSpec all = figureFor({"temperature", {config}, {{"yarn_reach", "all"}}, {}, true});
    for (const double n : {4096.0, 131072.0}) {
        QCOMPARE(
            relativeDifference(valueAt(rotated, "needle_mass_yarn", n), mass(0.75 + 0.25 * square, n), 1e-13),
            QString());
        QCOMPARE(relativeDifference(valueAt(all, "needle_mass_yarn", n), mass(square, n), 1e-13), QString());
        QCOMPARE(valueAt(rotated, "needle_mass_rope_id", n), valueAt(all, "needle_mass_rope_id", n));
    }
    config.rotaryDim = 128; // everything turns: no difference
    QCOMPARE(valueAt(figureFor({"temperature", {config}, {}, {}, true}), "needle_mass_yarn", 131072.0),
             mass(square, 131072.0));
}

void TestTemperatureFigure::gaussian()
{
    FigureOptions options;
    options.seed = 5;
    RopeConfig config = trainedOn(2048);
    config.rotaryDim = 64;
    config.parameters.factor = 8.0;
    const FigureSpec figure = figureFor({"temperature", {config}, {{"logit_sigma", "1.25"}}, options, true});
    const double yarn = std::pow(1.0 + 0.1 * std::log(8.0), 2.0);
    const std::pair<const char*, double> rules[] = {
        {"none", 1.0},
        {"rope_id", std::pow(1.0 + 0.1 * std::log(16384.0 / 2048.0), 2.0)},
        {"log_n", std::log(16384.0) / std::log(2048.0)},
        {"yarn", std::sqrt(0.5 + 0.5 * yarn * yarn)}}; // half of the channels
    for (const auto& [rule, tau] : rules) {
        long double sum = 0.0L, weighted = 0.0L;
        for (std::uint32_t j = 0; j < 16384; ++j) {
            const long double x = 1.25L * tau * standardNormal(5, RandomStream::Noise, 0, j);
            sum += std::exp(x);
            weighted += x * std::exp(x);
        }
        const auto expected = static_cast<double>(std::log(sum) - weighted / sum);
        QCOMPARE(absoluteDifference(valueAt(figure, std::string("gaussian_entropy_") + rule, 16384.0),
                                    expected, 1e-7),
                 QString());
        const double spread = 1.25 * tau;
        const double estimate = valueAt(figure, std::string("gaussian_entropy_estimate_") + rule, 16384.0);
        if (spread * spread <= 0.5 * std::log(16384.0))
            QCOMPARE(absoluteDifference(estimate, std::log(16384.0) - spread * spread / 2.0, 1e-12),
                     QString());
        else
            QVERIFY(std::isnan(estimate)); // beyond, it is worthless
    }
    const FigureSpec full = figureFor({"temperature", {config}, {}, options});
    QCOMPARE(findSeries(full, "gaussian_entropy_none")->x->back(), 1048576.0);
    QVERIFY(figure.isCoarse && !full.isCoarse);
}

void TestTemperatureFigure::ownRuleIsHeavy()
{
    RopeConfig a = trainedOn(4096);
    a.temperature.rule = TemperatureRule::RopeId;
    RopeConfig b = trainedOn(8192);
    b.temperature.rule = TemperatureRule::LogN;
    const FigureSpec figure = figureFor({"temperature", {a, b}});
    QVERIFY(findSeries(figure, "tau_rope_id", 0)->isEmphasised);
    QVERIFY(findSeries(figure, "tau_log_n", 1)->isEmphasised);
    QVERIFY(!findSeries(figure, "tau_log_n", 0)->isEmphasised);
    // Drawn from where it parts from 1, exported whole.
    QCOMPARE(findSeries(figure, "tau_log_n", 0)->x->front(), 1024.0);
    const auto drawn = std::find_if(figure.series.begin(), figure.series.end(), [](const Series& series) {
        return series.name == "tau_log_n" && series.configuration == 0 && !series.isExported;
    });
    QVERIFY(drawn != figure.series.end());
    QCOMPARE(drawn->x->front(), 4096.0);
    QCOMPARE(drawn->y->front(), 1.0);
    QCOMPARE(valueAt(figure, "tau_log_n", 8192, 1), 1.0); // each with its own T
    QVERIFY(valueAt(figure, "tau_log_n", 8192, 0) > 1.0);
}

void TestTemperatureFigure::withoutTrainingLength()
{
    RopeConfig config;
    config.name = "test";
    const FigureSpec figure = figureFor({"temperature", {config}, {{"printing", "all"}}});
    QCOMPARE(brokenPromise(figure), std::string());
    QVERIFY(!findSeries(figure, "tau_rope_id"));
    QVERIFY(findSeries(figure, "tau_llama4")); // has a length of its own
    QVERIFY(!figure.notes.empty());
}

QTEST_APPLESS_MAIN(TestTemperatureFigure)
#include "test_temperature.moc"
