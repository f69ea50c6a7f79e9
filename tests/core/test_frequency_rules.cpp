// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/frequency_rules.h"
#include "core/rope_math.h"
#include "core/validate.h"
#include "tests/support/compare.h"
#include "tests/support/random_config.h"
#include "tests/support/reference.h"

#include <QtTest>

using namespace ropewalk;
using namespace ropewalk::test;

Q_DECLARE_METATYPE(ropewalk::RopeConfig)

namespace {

constexpr double kRelative = 1e-13;

/// θ of the definition, in long double and independent of core.
std::vector<double> exactPlain(const RopeConfig& config)
{
    std::vector<double> theta;
    for (int i = 0; i < config.rotaryDim / 2; ++i)
        theta.push_back(static_cast<double>(std::pow(
            static_cast<long double>(config.base), -2.0L * i / static_cast<long double>(config.rotaryDim))));
    return theta;
}

RopeConfig llama2(FrequencyRule rule, std::optional<double> factor = {})
{
    RopeConfig config;
    config.rule = rule;
    config.parameters.factor = factor;
    config.originalMaxPositionEmbeddings = 4096;
    return config;
}

} // namespace

class TestFrequencyRules : public QObject
{
    Q_OBJECT
private slots:
    void reference_data();
    void reference();
    void yarnRamp_data();
    void yarnRamp();
    void llama3Divisors();
    void factorOneIsPlain_data();
    void factorOneIsPlain();
    void plainOfRandomConfigurations();
    void largerBaseScalesTheSlowestPair();
    void ntkAwareEnds();
    void llama3AgainstDefinition();
    void yarnAgainstDefinition();
    void llama3EqualFactorsAreAStep();
    void yarnEnds();
    void yarnAttentionFactor_data();
    void yarnAttentionFactor();
    void yarnFactorFromLengths();
    void everyRuleNeverTurnsFasterThanPlain();
    void noRotation();
    void table();
};

void TestFrequencyRules::reference_data()
{
    QTest::addColumn<RopeConfig>("config");
    QTest::addColumn<QJsonObject>("values");
    const auto add = [](const ReferenceEntry& entry, const RopeConfig& config) {
        static int number = 0;
        QTest::addRow("%d %s d=%d base=%g", number++, qPrintable(entry.what), config.rotaryDim, config.base)
            << config << entry.values;
    };
    for (const ReferenceEntry& entry : referenceEntries("inv_freq/plain"))
        add(entry, plainConfig(entry.params));
    for (const auto& [what, rule] : {std::pair{"inv_freq/linear", FrequencyRule::Linear},
                                     std::pair{"inv_freq/ntk_aware", FrequencyRule::NtkAware}}) {
        for (const ReferenceEntry& entry : referenceEntries(what)) {
            RopeConfig config = plainConfig(entry.params);
            config.rule = rule;
            config.parameters.factor = entry.params["factor"].toDouble();
            add(entry, config);
        }
    }
    for (const ReferenceEntry& entry : referenceEntries("inv_freq/yarn")) {
        RopeConfig config = plainConfig(entry.params);
        config.rule = FrequencyRule::Yarn;
        config.originalMaxPositionEmbeddings = entry.params["L"].toInteger();
        config.parameters.factor = entry.params["factor"].toDouble();
        config.parameters.betaFast = entry.params["beta_fast"].toDouble();
        config.parameters.betaSlow = entry.params["beta_slow"].toDouble();
        config.parameters.truncate = entry.params["truncate"].toBool();
        add(entry, config);
    }
    for (const ReferenceEntry& entry : referenceEntries("inv_freq/llama3")) {
        RopeConfig config = plainConfig(entry.params);
        config.rule = FrequencyRule::Llama3;
        config.originalMaxPositionEmbeddings = entry.params["original_max_position_embeddings"].toInteger();
        config.parameters.factor = entry.params["factor"].toDouble();
        config.parameters.lowFreqFactor = entry.params["low_freq_factor"].toDouble();
        config.parameters.highFreqFactor = entry.params["high_freq_factor"].toDouble();
        add(entry, config);
    }
    for (const ReferenceEntry& entry : referenceEntries("inv_freq/partial_rotary")) {
        RopeConfig config = plainConfig(entry.params);
        QCOMPARE(entry.params["partial_rotary_factor"].toString(), QString("1/4"));
        config.rotaryDim = rotaryDimForShare(config.headDim, 0.25);
        QCOMPARE(config.rotaryDim, entry.values["rotary_dim"].toInt());
        add(entry, config);
    }
}

void TestFrequencyRules::reference()
{
    QFETCH(RopeConfig, config);
    QFETCH(QJsonObject, values);
    QVERIFY(!hasError(validate(config)));
    const FrequencyTable table = frequencyTable(config);
    QCOMPARE(relativeDifference(table.scaled, numbers(values["inv_freq"]), kRelative), QString());
    const double attention = values["attention_factor"].toDouble(1.0);
    QCOMPARE(relativeDifference(table.attentionFactor, attention, kRelative), QString());
    if (values.contains("score_multiplier"))
        QCOMPARE(relativeDifference(table.attentionFactor * table.attentionFactor,
                                    values["score_multiplier"].toDouble(), kRelative),
                 QString());
}

void TestFrequencyRules::yarnRamp_data()
{
    reference_data();
}

void TestFrequencyRules::yarnRamp()
{
    QFETCH(RopeConfig, config);
    QFETCH(QJsonObject, values);
    if (config.rule != FrequencyRule::Yarn)
        return;
    const double length = static_cast<double>(*config.originalMaxPositionEmbeddings);
    const auto index = [&](double turns) {
        return yarnCorrectionIndex(turns, config.rotaryDim, config.base, length);
    };
    QCOMPARE(relativeDifference(index(*config.parameters.betaFast), values["low_raw"].toDouble(), kRelative),
             QString());
    QCOMPARE(relativeDifference(index(*config.parameters.betaSlow), values["high_raw"].toDouble(), kRelative),
             QString());
    // The table holds what is kept, the file what is divided.
    std::vector<double> divided = frequencyTable(config).keptShare;
    for (double& share : divided)
        share = 1.0 - share;
    QCOMPARE(absoluteDifference(divided, numbers(values["ramp"]), 1e-15), QString());
}

void TestFrequencyRules::llama3Divisors()
{
    for (const ReferenceEntry& entry : referenceEntries("inv_freq/llama3")) {
        RopeConfig config = plainConfig(entry.params);
        config.rule = FrequencyRule::Llama3;
        config.originalMaxPositionEmbeddings = entry.params["original_max_position_embeddings"].toInteger();
        config.parameters.factor = entry.params["factor"].toDouble();
        const FrequencyTable table = frequencyTable(config); // low 1 and high 4 are the defaults
        std::vector<double> divisors;
        for (std::size_t i = 0; i < table.scaled.size(); ++i)
            divisors.push_back(table.plain[i] / table.scaled[i]);
        QCOMPARE(
            relativeDifference(divisors, numbers(entry.values["freq_factors_gguf_rope_freqs"]), kRelative),
            QString());
    }
}

void TestFrequencyRules::factorOneIsPlain_data()
{
    QTest::addColumn<int>("rule");
    for (const FrequencyRuleInfo& rule : frequencyRules())
        QTest::newRow(std::string(rule.word).c_str()) << static_cast<int>(rule.rule);
}

void TestFrequencyRules::factorOneIsPlain()
{
    QFETCH(int, rule);
    const FrequencyTable table = frequencyTable(llama2(static_cast<FrequencyRule>(rule), 1.0));
    QCOMPARE(relativeDifference(table.scaled, table.plain, 1e-15), QString());
    QCOMPARE(table.attentionFactor, 1.0);
}

void TestFrequencyRules::plainOfRandomConfigurations()
{
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        const RopeConfig config = randomConfig(random);
        const FrequencyTable table = frequencyTable(config);
        QCOMPARE(relativeDifference(table.plain, exactPlain(config), 4e-15), QString());
        QCOMPARE(table.scaled.size(), table.plain.size());
        if (!table.plain.empty())
            QCOMPARE(table.plain[0], 1.0); // θ_0 = 1 exactly, whatever the base
    }
}

void TestFrequencyRules::largerBaseScalesTheSlowestPair()
{
    RopeConfig small = llama2(FrequencyRule::Default);
    RopeConfig large = small;
    large.base = 5e5;
    const double ratio = frequencyTable(large).scaled.back() / frequencyTable(small).scaled.back();
    QCOMPARE(relativeDifference(ratio, std::pow(50.0, -126.0 / 128.0), kRelative), QString());
}

void TestFrequencyRules::ntkAwareEnds()
{
    for (const double factor : {1.0, 2.0, 4.0, 37.5}) {
        const FrequencyTable table = frequencyTable(llama2(FrequencyRule::NtkAware, factor));
        QCOMPARE(table.scaled.front(), 1.0);
        QCOMPARE(relativeDifference(table.scaled.back(), table.plain.back() / factor, kRelative), QString());
    }
}

void TestFrequencyRules::llama3AgainstDefinition()
{
    std::mt19937 random(12);
    std::uniform_real_distribution share(0.0, 1.0);
    for (int round = 0; round < 200; ++round) {
        RopeConfig config = llama2(FrequencyRule::Llama3, 1.0 + 31.0 * share(random));
        config.base = std::exp(std::log(100.0) + share(random) * std::log(1e5));
        const double low = 0.5 + 3.0 * share(random);
        const double high = low + 0.5 + 8.0 * share(random);
        config.parameters.lowFreqFactor = low;
        config.parameters.highFreqFactor = high;
        // By wavelengths, as the model's own code has it; core goes by turns.
        std::vector<double> expected;
        for (const double theta : exactPlain(config)) {
            const long double wavelength = 2.0L * std::acos(-1.0L) / theta;
            const long double divided = theta / static_cast<long double>(*config.parameters.factor);
            const long double kept = (4096.0L / wavelength - low) / (static_cast<long double>(high) - low);
            if (wavelength < 4096.0L / high)
                expected.push_back(theta);
            else if (wavelength > 4096.0L / low)
                expected.push_back(static_cast<double>(divided));
            else
                expected.push_back(static_cast<double>((1.0L - kept) * divided + kept * theta));
        }
        QCOMPARE(relativeDifference(frequencyTable(config).scaled, expected, kRelative), QString());
    }
}

void TestFrequencyRules::yarnAgainstDefinition()
{
    std::mt19937 random(13);
    std::uniform_real_distribution share(0.0, 1.0);
    for (int round = 0; round < 200; ++round) {
        RopeConfig config = llama2(FrequencyRule::Yarn, 1.0 + 31.0 * share(random));
        config.base = std::exp(std::log(100.0) + share(random) * std::log(1e5));
        const double slow = 0.5 + 3.0 * share(random);
        const double fast = slow + 1.0 + 60.0 * share(random);
        const bool isTruncated = share(random) < 0.5;
        config.parameters.betaSlow = slow;
        config.parameters.betaFast = fast;
        config.parameters.truncate = isTruncated;
        const auto index = [&](long double turns) {
            return 128.0L * std::log(4096.0L / (turns * 2.0L * std::acos(-1.0L))) /
                   (2.0L * std::log(static_cast<long double>(config.base)));
        };
        long double low = index(fast), high = index(slow);
        if (isTruncated) {
            low = std::floor(low);
            high = std::ceil(high);
        }
        low = std::max(low, 0.0L);
        high = std::min(high, 127.0L);
        std::vector<double> expected;
        for (const double theta : exactPlain(config)) {
            const long double ramp =
                std::clamp((static_cast<long double>(expected.size()) - low) / (high - low), 0.0L, 1.0L);
            expected.push_back(
                static_cast<double>(theta * (1.0L - ramp) + theta / *config.parameters.factor * ramp));
        }
        QCOMPARE(relativeDifference(frequencyTable(config).scaled, expected, kRelative), QString());
    }
}

void TestFrequencyRules::llama3EqualFactorsAreAStep()
{
    RopeConfig config = llama2(FrequencyRule::Llama3, 16.0);
    config.base = 5e5;
    config.originalMaxPositionEmbeddings = 8192;
    config.parameters.lowFreqFactor = config.parameters.highFreqFactor = 1.0;
    const FrequencyTable table = frequencyTable(config);
    int kept = 0;
    for (std::size_t i = 0; i < table.plain.size(); ++i) {
        const bool turnsOnce = 8192.0L * table.plain[i] >= 2.0L * std::acos(-1.0L);
        QCOMPARE(table.scaled[i], turnsOnce ? table.plain[i] : table.plain[i] / 16.0);
        kept += turnsOnce;
    }
    QCOMPARE(kept, 35); // Llama-3: 35 of 64 pairs make at least one turn in 8192 tokens

    // Exactly on the step: the fastest pair, θ = 1, turns just as often as both factors say, and keeps its
    // frequency.
    config.parameters.lowFreqFactor = config.parameters.highFreqFactor = 8192.0 / kTwoPi;
    const FrequencyTable onTheStep = frequencyTable(config);
    QCOMPARE(onTheStep.scaled[0], 1.0);
    QCOMPARE(onTheStep.keptShare[0], 1.0);
    QCOMPARE(onTheStep.keptShare[1], 0.0);
}

void TestFrequencyRules::yarnEnds()
{
    const FrequencyTable table = frequencyTable(llama2(FrequencyRule::Yarn, 16.0));
    for (std::size_t i = 0; i < table.plain.size(); ++i) {
        if (i <= 20)
            QCOMPARE(table.scaled[i], table.plain[i]);
        else if (i >= 46)
            QCOMPARE(table.scaled[i], table.plain[i] / 16.0);
        else
            QVERIFY(table.scaled[i] < table.plain[i] && table.scaled[i] > table.plain[i] / 16.0);
    }

    // gpt-oss: the ramp's ends are not rounded.
    RopeConfig unrounded = llama2(FrequencyRule::Yarn, 32.0);
    unrounded.headDim = unrounded.rotaryDim = 64;
    unrounded.base = 150000.0;
    unrounded.parameters.truncate = false;
    const FrequencyTable ramp = frequencyTable(unrounded);
    const long double low = 8.0928L, high = 17.3980L;
    for (std::size_t i = 0; i < ramp.plain.size(); ++i) {
        const long double divided =
            std::clamp((static_cast<long double>(i) - low) / (high - low), 0.0L, 1.0L);
        QVERIFY(std::fabs(ramp.keptShare[i] - static_cast<double>(1.0L - divided)) <
                2e-5); // ends known to 4 digits
    }
    QVERIFY(std::fabs(ramp.attentionFactor - 1.34657) < 1e-5);
}

void TestFrequencyRules::yarnAttentionFactor_data()
{
    using Optional = std::optional<double>;
    QTest::addColumn<double>("factor");
    QTest::addColumn<QVariantList>("stated"); // attention_factor, mscale, mscale_all_dim; invalid: not stated
    QTest::addColumn<double>("expected");
    const double derived = 0.1 * std::log(40.0) + 1.0;
    const auto row = [](const char* name, double factor, Optional attention, Optional mscale, Optional allDim,
                        double expected) {
        const auto value = [](Optional number) { return number ? QVariant(*number) : QVariant(); };
        QTest::newRow(name) << factor << QVariantList{value(attention), value(mscale), value(allDim)}
                            << expected;
    };
    row("nothing stated", 40.0, {}, {}, {}, derived);
    row("stated", 40.0, 1.25, {}, {}, 1.25);
    row("a stated 0 counts", 40.0, 0.0, {}, {}, 0.0);
    row("stated wins over mscale", 40.0, 1.25, 1.0, 0.707, 1.25);
    row("equal mscale cancels", 40.0, {}, 0.707, 0.707, 1.0);
    row("ratio of the two", 40.0, {}, 1.0, 0.5, derived / (0.05 * std::log(40.0) + 1.0));
    row("mscale alone", 40.0, {}, 0.707, {}, derived);
    row("mscale_all_dim alone", 40.0, {}, {}, 0.707, derived);
    row("mscale_all_dim 0", 40.0, {}, 1.0, 0.0, derived);
    row("mscale 0", 40.0, {}, 0.0, 1.0, derived);
    row("factor 1", 1.0, {}, {}, {}, 1.0);
}

void TestFrequencyRules::yarnAttentionFactor()
{
    QFETCH(double, factor);
    QFETCH(QVariantList, stated);
    QFETCH(double, expected);
    const auto value = [&](int at) {
        return stated[at].isValid() ? std::optional(stated[at].toDouble()) : std::nullopt;
    };
    RopeConfig config = llama2(FrequencyRule::Yarn, factor);
    config.parameters.attentionFactor = value(0);
    config.parameters.mscale = value(1);
    config.parameters.mscaleAllDim = value(2);
    QVERIFY(!hasError(validate(config)));
    QCOMPARE(relativeDifference(frequencyTable(config).attentionFactor, expected, kRelative), QString());
}

void TestFrequencyRules::yarnFactorFromLengths()
{
    RopeConfig stated = llama2(FrequencyRule::Yarn, 4.0);
    RopeConfig derived = llama2(FrequencyRule::Yarn);
    derived.maxPositionEmbeddings = 4 * 4096;
    // 0 is "not stated" for the ramp's turns.
    derived.parameters.betaFast = 0.0;
    derived.parameters.betaSlow = 0.0;
    QVERIFY(!hasError(validate(derived)));
    QCOMPARE(frequencyTable(derived).scaled, frequencyTable(stated).scaled);
    QCOMPARE(frequencyTable(derived).attentionFactor, frequencyTable(stated).attentionFactor);
}

void TestFrequencyRules::everyRuleNeverTurnsFasterThanPlain()
{
    std::mt19937 random(2);
    for (int round = 0; round < 500; ++round) {
        const RopeConfig config = randomConfig(random);
        const FrequencyTable table = frequencyTable(config);
        const double factor = config.parameters.factor.value_or(1.0);
        for (std::size_t i = 0; i < table.scaled.size(); ++i) {
            QVERIFY(table.scaled[i] <= table.plain[i] * (1.0 + 1e-15));
            QVERIFY(table.scaled[i] >= table.plain[i] / factor * (1.0 - 1e-13));
        }
        if (!table.keptShare.empty())
            for (std::size_t i = 1; i < table.keptShare.size(); ++i)
                QVERIFY(table.keptShare[i] <= table.keptShare[i - 1]); // the slower, the less is kept
    }
}

void TestFrequencyRules::noRotation()
{
    RopeConfig config = llama2(FrequencyRule::Yarn, 16.0);
    config.rotaryDim = 0;
    QVERIFY(validate(config).empty());
    const FrequencyTable table = frequencyTable(config);
    QVERIFY(table.plain.empty() && table.scaled.empty() && table.keptShare.empty());
    QCOMPARE(table.attentionFactor, 1.0);
}

void TestFrequencyRules::table()
{
    for (const FrequencyRuleInfo& rule : frequencyRules()) {
        QCOMPARE(&info(rule.rule), &rule);
        QCOMPARE(findFrequencyRule(rule.word), &rule);
        QVERIFY(!rule.title.empty() && !rule.formula.empty() && !rule.source.empty());
        QVERIFY(rule.apply && rule.validate);
    }
    QCOMPARE(findFrequencyRule("su"), nullptr); // an old spelling, which the reader knows
}

QTEST_APPLESS_MAIN(TestFrequencyRules)
#include "test_frequency_rules.moc"
