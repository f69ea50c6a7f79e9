// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/frequency_rules.h"
#include "core/rope_math.h"
#include "core/validate.h"
#include "tests/support/compare.h"
#include "tests/support/random_config.h"
#include "tests/support/reference.h"

#include <QtTest>
#include <limits>

using namespace ropewalk;
using namespace ropewalk::test;

Q_DECLARE_METATYPE(ropewalk::RopeConfig)

namespace {

constexpr double kRelative = 1e-13;

/// θ of the definition, in long double and independent of core.
std::vector<double> exactPlain(const RopeConfig& config)
{
    const bool isHalf =
        config.channels == ChannelScheme::Quarters13 || config.channels == ChannelScheme::HalfRope;
    const bool hasBlocks = config.channels == ChannelScheme::TwoBlocks;
    const int width = isHalf || hasBlocks ? config.headDim / 2 : config.rotaryDim;
    std::vector<double> theta;
    for (int i = 0; i < pairCount(config); ++i) {
        const auto& hand = config.customPairs;
        const bool isHeld =
            (isHalf && i >= config.headDim / 4) || (config.channels == ChannelScheme::Custom &&
                                                    std::find(hand.begin(), hand.end(), i) == hand.end());
        theta.push_back(isHeld ? 0.0
                               : static_cast<double>(std::pow(static_cast<long double>(config.base),
                                                              -2.0L * (hasBlocks ? i % (width / 2) : i) /
                                                                  static_cast<long double>(width))));
    }
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
    void qwenDynamic();
    void dynamicHasNoMemory();
    void dynamicLinearIsLinearAtTheRatio();
    void resonanceHasWholeWavelengths();
    void byPartsOfThePaperIsLlama3();
    void longRopeSwitchesAndFactors();
    void ropeIdEndsAndSpacing();
    void proportionalLimits();
    void explicitIsTaken();
    void schemesOfHalfTheHead();
    void twoBlocksHaveOneTable();
    void attentionFactorsOfMla();
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
    for (const ReferenceEntry& entry : referenceEntries("inv_freq/dynamic_ntk")) {
        RopeConfig config = plainConfig(entry.params);
        config.rule = FrequencyRule::Dynamic;
        config.parameters.factor = entry.params["factor"].toDouble();
        config.maxPositionEmbeddings = entry.params["max_position_embeddings"].toInteger();
        config.originalMaxPositionEmbeddings = 77; // has no say in this rule
        config.length = entry.params["seq_len"].toInteger();
        add(entry, config);
    }
    for (const ReferenceEntry& entry : referenceEntries("inv_freq/ntk_by_parts_paper")) {
        RopeConfig config = plainConfig(entry.params);
        config.rule = FrequencyRule::NtkByParts;
        config.originalMaxPositionEmbeddings = entry.params["L"].toInteger();
        config.parameters.factor = entry.params["factor"].toDouble();
        config.parameters.betaSlow = entry.params["alpha"].toDouble();
        config.parameters.betaFast = entry.params["beta"].toDouble();
        add(entry, config);
    }
    for (const ReferenceEntry& entry : referenceEntries("inv_freq/longrope")) {
        RopeConfig config = plainConfig(entry.params);
        config.rule = FrequencyRule::LongRope;
        config.originalMaxPositionEmbeddings = entry.params["original_max_position_embeddings"].toInteger();
        config.maxPositionEmbeddings = entry.params["max_position_embeddings"].toInteger();
        config.parameters.shortFactor = numbers(entry.params["short_factor"]);
        config.parameters.longFactor = numbers(entry.params["long_factor"]);
        config.length = entry.params["seq_len"].toInteger();
        add(entry, config);
    }
    for (const ReferenceEntry& entry : referenceEntries("inv_freq/rope_id")) {
        RopeConfig config;
        config.headDim = config.rotaryDim = 4 * entry.params["n_pairs"].toInt();
        config.channels = ChannelScheme::Quarters13;
        config.rule = FrequencyRule::RopeId;
        config.maxPositionEmbeddings = entry.params["T_train"].toInteger();
        config.parameters.cycles = entry.params["min_cycles"].toDouble();
        config.parameters.shortWavelength = entry.params["max_period"].toDouble();
        add(entry, config);
    }
    for (const ReferenceEntry& entry : referenceEntries("inv_freq/proportional")) {
        RopeConfig config = plainConfig(entry.params);
        config.rule = FrequencyRule::Proportional;
        config.parameters.partialRotaryFactor =
            entry.params["partial_rotary_factor"].toString() == "1/2" ? 0.5 : 0.25;
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
    std::vector<double> expected =
        numbers(values[values.contains("inv_freq") ? "inv_freq" : "inv_freq_first_64"]);
    if (values.contains("n_zero_pairs"))
        QCOMPARE(static_cast<int>(table.scaled.size()),
                 values["n_rotated_pairs"].toInt() + values["n_zero_pairs"].toInt());
    expected.resize(table.scaled.size(), 0.0); // the pairs that stay
    QCOMPARE(relativeDifference(table.scaled, expected, kRelative), QString());
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
    // With their defaults these change nothing at a factor of 1; the others need lists or are no stretching
    // at all.
    for (const FrequencyRuleInfo& rule : frequencyRules())
        if (rule.rule != FrequencyRule::LongRope && rule.rule != FrequencyRule::RopeId &&
            rule.rule != FrequencyRule::Explicit && rule.rule != FrequencyRule::Resonance)
            QTest::newRow(std::string(rule.word).c_str()) << static_cast<int>(rule.rule);
}

void TestFrequencyRules::factorOneIsPlain()
{
    QFETCH(int, rule);
    RopeConfig config = llama2(static_cast<FrequencyRule>(rule), 1.0);
    config.maxPositionEmbeddings = 4096;
    const FrequencyTable table = frequencyTable(config);
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
        if (!table.plain.empty() && isTurningPair(config, 0))
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
        // These have frequencies of their own, or stretch by a length and not by a factor alone.
        if (config.rule == FrequencyRule::RopeId || config.rule == FrequencyRule::Explicit ||
            config.rule == FrequencyRule::LongRope || config.rule == FrequencyRule::Dynamic ||
            config.rule == FrequencyRule::DynamicQwen || config.rule == FrequencyRule::DynamicLinear ||
            config.rule == FrequencyRule::Resonance || config.rule == FrequencyRule::Proportional)
            continue;
        const double factor = config.parameters.factor.value_or(1.0);
        for (std::size_t i = 0; i < table.scaled.size(); ++i) {
            QVERIFY(table.scaled[i] <= table.plain[i] * (1.0 + 1e-15));
            QVERIFY(table.scaled[i] >= table.plain[i] / factor * (1.0 - 1e-13));
        }
        if (!table.keptShare.empty() && config.channels != ChannelScheme::Custom)
            for (std::size_t i = 1; i < table.keptShare.size(); ++i)
                QVERIFY(table.keptShare[i] <= table.keptShare[i - 1] ||   // the slower, the less is kept
                        scheduleIndex(config, static_cast<int>(i)) == 0); // a second block starts anew
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

void TestFrequencyRules::qwenDynamic()
{
    for (const ReferenceEntry& entry : referenceEntries("qwen1_dynamic_ntk")) {
        for (const QJsonValue& value : entry.values["rows"].toArray()) {
            RopeConfig config = plainConfig(entry.params);
            const std::vector<double> plain = frequencyTable(config).scaled;
            config.rule = FrequencyRule::DynamicQwen;
            config.maxPositionEmbeddings = entry.params["seq_length"].toInteger();
            config.length = value["seq_len"].toInteger();
            const FrequencyTable table = frequencyTable(config);
            RopeConfig other = plainConfig(entry.params);
            other.base = value["new_base"].toDouble();
            QCOMPARE(relativeDifference(table.scaled, frequencyTable(other).scaled, 1e-12), QString());
            if (value["ntk_alpha"].toDouble() == 1.0)
                QCOMPARE(table.scaled, plain);
        }
    }
}

void TestFrequencyRules::dynamicHasNoMemory()
{
    for (const FrequencyRule rule :
         {FrequencyRule::Dynamic, FrequencyRule::DynamicQwen, FrequencyRule::DynamicLinear}) {
        RopeConfig config;
        config.rule = rule;
        config.parameters.factor = 2.0;
        config.maxPositionEmbeddings = 2048;
        const std::vector<double> plain = frequencyTable(RopeConfig{}).scaled;
        for (const auto& [length, isPlain] :
             {std::pair{4096, false}, {2048, true}, {1024, true}, {2049, false}}) {
            config.length = length;
            QCOMPARE(frequencyTable(config).scaled == plain, isPlain);
        }
        config.length = std::nullopt; // the training length
        QCOMPARE(frequencyTable(config).scaled, plain);
        config.maxPositionEmbeddings = std::nullopt;
        QVERIFY(hasError(validate(config)));
        // Only the other rule falls back on the original length.
        config.originalMaxPositionEmbeddings = 2048;
        QCOMPARE(hasError(validate(config)), rule == FrequencyRule::Dynamic);
    }
}

void TestFrequencyRules::dynamicLinearIsLinearAtTheRatio()
{
    RopeConfig dynamic = llama2(FrequencyRule::DynamicLinear);
    dynamic.length = 6144;
    const std::vector<double> theta = frequencyTable(dynamic).scaled;
    for (std::size_t i = 0; i < theta.size(); ++i) {
        const long double plain = powl(10000.0L, -2.0L * static_cast<long double>(i) / 128.0L);
        QVERIFY(fabsl(theta[i] / (plain / 1.5L) - 1.0L) < 1e-13L);
    }
}

void TestFrequencyRules::resonanceHasWholeWavelengths()
{
    const std::vector<double> theta = frequencyTable(llama2(FrequencyRule::Resonance)).scaled;
    const long double twoPi = 2.0L * acosl(-1.0L);
    for (std::size_t i = 0; i < theta.size(); ++i) {
        const long double plain = twoPi * powl(10000.0L, 2.0L * static_cast<long double>(i) / 128.0L);
        const long double wavelength = twoPi / static_cast<long double>(theta[i]);
        QVERIFY(fabsl(wavelength - roundl(plain)) < 1e-9L); // 6, 7, 8, 10, ... tokens
    }
    QVERIFY(fabs(theta.front() - static_cast<double>(twoPi / 6.0L)) < 1e-15);
}

void TestFrequencyRules::byPartsOfThePaperIsLlama3()
{
    RopeConfig llama3 = llama2(FrequencyRule::Llama3, 8.0);
    RopeConfig parts = llama2(FrequencyRule::NtkByParts, 8.0);
    parts.parameters.betaSlow = 1.0;
    parts.parameters.betaFast = 4.0;
    QCOMPARE(frequencyTable(parts).scaled, frequencyTable(llama3).scaled);
    QCOMPARE(frequencyTable(parts).keptShare, frequencyTable(llama3).keptShare);
    const FrequencyTable ends = frequencyTable(llama2(FrequencyRule::NtkByParts, 16.0));
    QCOMPARE(ends.thresholds.size(), std::size_t{2});
    QCOMPARE(ends.thresholds[0].wavelengthTokens, 4096.0);
    QCOMPARE(ends.thresholds[1].wavelengthTokens, 128.0);
}

void TestFrequencyRules::longRopeSwitchesAndFactors()
{
    RopeConfig config = llama2(FrequencyRule::LongRope);
    config.headDim = config.rotaryDim = 8;
    config.maxPositionEmbeddings = 131072;
    config.parameters.shortFactor = {1.0, 1.5, 2.0, 0.5};
    config.parameters.longFactor = {2.0, 3.0, 4.0, 5.0};
    const auto divisors = [&](std::optional<std::int64_t> length) {
        config.length = length;
        const FrequencyTable table = frequencyTable(config);
        std::vector<double> found;
        for (std::size_t i = 0; i < 4; ++i)
            found.push_back(std::round(1e9 * table.plain[i] / table.scaled[i]) / 1e9);
        return found;
    };
    QCOMPARE(divisors(std::nullopt), config.parameters.shortFactor);
    QCOMPARE(divisors(4096), config.parameters.shortFactor);
    QCOMPARE(divisors(4097), config.parameters.longFactor);
    const auto attention = [&](std::int64_t length) {
        config.length = length;
        return frequencyTable(config).attentionFactor;
    };
    QCOMPARE(relativeDifference(attention(4096), std::sqrt(17.0 / 12.0), kRelative), QString());
    QCOMPARE(attention(4097), attention(4096));
    config.parameters.factor = 1.0; // states what the lengths do not say
    QCOMPARE(attention(4096), 1.0);
    config.parameters.attentionFactor = 1.3;
    QCOMPARE(attention(4096), 1.3);
    config.parameters.shortMscale = 1.1;
    config.parameters.longMscale = 1.2;
    QCOMPARE(attention(4096), 1.1);
    QCOMPARE(attention(4097), 1.2);
    config.parameters = {};
    config.parameters.shortFactor = config.parameters.longFactor = {1.0, 1.0, 1.0, 1.0};
    config.maxPositionEmbeddings = 2048; // a ratio below 1 is no error
    QCOMPARE(attention(4096), 1.0);
    config.parameters.longFactor.pop_back();
    QVERIFY(hasError(validate(config)));
    config.parameters.longFactor.push_back(0.0);
    QVERIFY(hasError(validate(config)));
}

void TestFrequencyRules::ropeIdEndsAndSpacing()
{
    std::mt19937 random(31);
    for (int round = 0; round < 100; ++round) {
        RopeConfig config;
        config.headDim = config.rotaryDim = 8 * std::uniform_int_distribution(1, 32)(random);
        config.channels = round % 2 == 0 ? ChannelScheme::Quarters13 : ChannelScheme::First;
        config.rule = FrequencyRule::RopeId;
        config.maxPositionEmbeddings = 1 << std::uniform_int_distribution(8, 17)(random);
        const auto length = static_cast<double>(*config.maxPositionEmbeddings);
        for (const Spacing spacing : {Spacing::Geometric, Spacing::Linear}) {
            config.parameters.spacing = spacing;
            std::vector<double> live = frequencyTable(config).scaled;
            if (config.channels == ChannelScheme::Quarters13) {
                const auto half = live.begin() + static_cast<std::ptrdiff_t>(live.size() / 2);
                QVERIFY(std::all_of(half, live.end(), [](double theta) { return theta == 0.0; }));
                live.erase(half, live.end());
            }
            QVERIFY(std::none_of(live.begin(), live.end(), [](double theta) { return theta == 0.0; }));
            // cycles in training: T/32 of the fastest, 2 of the slowest
            QCOMPARE(relativeDifference(length * live.front() / kTwoPi, length / 32.0, 1e-15), QString());
            if (live.size() > 1)
                QCOMPARE(relativeDifference(length * live.back() / kTwoPi, 2.0, 1e-15), QString());
            for (std::size_t i = 2; i < live.size(); ++i) {
                if (spacing == Spacing::Geometric)
                    QCOMPARE(relativeDifference(live[i] / live[i - 1], live[1] / live[0], 1e-12), QString());
                else
                    QCOMPARE(absoluteDifference(live[i] - live[i - 1], live[1] - live[0], 1e-15), QString());
            }
        }
        QCOMPARE(frequencyTable(config).thresholds[0].wavelengthTokens, length / 2.0);
        QCOMPARE(frequencyTable(config).thresholds[1].wavelengthTokens, 32.0);
    }
    RopeConfig odd;
    odd.headDim = odd.rotaryDim = 66;
    odd.rule = FrequencyRule::RopeId;
    odd.maxPositionEmbeddings = 4096;
    QVERIFY(hasError(validate(odd)));
    odd.headDim = odd.rotaryDim = 64;
    QVERIFY(!hasError(validate(odd)));
    odd.maxPositionEmbeddings = 63; // shorter than 2 cycles of 32
    QVERIFY(hasError(validate(odd)));
}

void TestFrequencyRules::proportionalLimits()
{
    RopeConfig config;
    config.headDim = config.rotaryDim = 80;
    const std::vector<double> plain = frequencyTable(config).scaled;
    config.rule = FrequencyRule::Proportional;
    QCOMPARE(frequencyTable(config).scaled, plain); // a share of 1, not stated
    config.parameters.partialRotaryFactor = 0.0;
    QCOMPARE(frequencyTable(config).turningPairs(), 0);
    config.parameters.partialRotaryFactor = 0.39; // 0.39·80/2 = 15.6, truncated
    QCOMPARE(frequencyTable(config).turningPairs(), 15);
    QCOMPARE(frequencyTable(config).scaled[14], plain[14]);
    config.parameters.factor = 2.0;
    QCOMPARE(frequencyTable(config).scaled[14], plain[14] / 2.0);
    config.rotaryDim = 40;
    QVERIFY(hasError(validate(config)));
}

void TestFrequencyRules::explicitIsTaken()
{
    RopeConfig config;
    config.headDim = config.rotaryDim = 8;
    config.rule = FrequencyRule::Explicit;
    QVERIFY(hasError(validate(config)));
    config.parameters.invFreq = {1.0, 0.0, 0.25, 0.5};
    config.parameters.attentionFactor = 1.5;
    QCOMPARE(frequencyTable(config).scaled, config.parameters.invFreq);
    QCOMPARE(frequencyTable(config).turningPairs(), 3);
    QCOMPARE(frequencyTable(config).attentionFactor, 1.5);
    for (const double bad : {-0.1, std::nan(""), std::numeric_limits<double>::infinity()}) {
        config.parameters.invFreq[1] = bad;
        QVERIFY(hasError(validate(config)));
    }
    config.parameters.invFreq = {1.0, 0.5, 0.25};
    QVERIFY(hasError(validate(config)));
}

void TestFrequencyRules::twoBlocksHaveOneTable()
{
    // Whatever the rule: each block has the table of a head of half the width.
    std::mt19937 random(11);
    int checked = 0;
    for (const FrequencyRuleInfo& rule : frequencyRules()) {
        if (rule.rule == FrequencyRule::Proportional || rule.rule == FrequencyRule::None ||
            rule.rule == FrequencyRule::Explicit)
            continue; // over the whole head by definition, nothing, and as the list says
        RopeConfig blocks = llama2(rule.rule, 8.0);
        blocks.channels = ChannelScheme::TwoBlocks;
        blocks.headDim = blocks.rotaryDim = 4 * std::uniform_int_distribution<int>(2, 40)(random);
        blocks.maxPositionEmbeddings = 32768;
        blocks.originalMaxPositionEmbeddings = 4096;
        blocks.length = 16384;
        RopeConfig block = blocks;
        block.channels = ChannelScheme::First;
        block.headDim = block.rotaryDim = blocks.headDim / 2;
        const auto pairs = static_cast<std::size_t>(pairCount(block));
        for (RopeConfig* config : {&block, &blocks}) {
            config->parameters.shortFactor.assign(static_cast<std::size_t>(pairCount(*config)), 1.5);
            config->parameters.longFactor.assign(static_cast<std::size_t>(pairCount(*config)), 3.0);
        }
        QVERIFY(!hasError(validate(blocks)));
        const FrequencyTable table = frequencyTable(blocks);
        const FrequencyTable narrow = frequencyTable(block);
        QCOMPARE(table.scaled.size(), 2 * pairs);
        QCOMPARE(table.attentionFactor, narrow.attentionFactor);
        for (std::size_t i = 0; i < 2 * pairs; ++i)
            QCOMPARE(table.scaled[i], narrow.scaled[i % pairs]);
        blocks.xpos = block.xpos = XPos{};
        QCOMPARE(dampingRates(blocks, table).back(), dampingRates(block, narrow).back());
        ++checked;
    }
    QVERIFY(checked >= 10);
    RopeConfig odd;
    odd.channels = ChannelScheme::TwoBlocks;
    odd.headDim = odd.rotaryDim = 126;
    QVERIFY(hasError(validate(odd)));
    odd.headDim = 128;
    odd.rotaryDim = 64;
    QVERIFY(hasError(validate(odd)));
    odd.rotaryDim = 128;
    odd.rule = FrequencyRule::Proportional;
    QVERIFY(hasError(validate(odd)));
}

void TestFrequencyRules::schemesOfHalfTheHead()
{
    // HalfRoPE: a plain schedule over half of the width, on the first half of the pairs.
    RopeConfig half;
    half.channels = ChannelScheme::HalfRope;
    half.base = 5e5;
    RopeConfig narrow;
    narrow.headDim = narrow.rotaryDim = 64;
    narrow.base = 5e5;
    std::vector<double> expected = frequencyTable(narrow).scaled;
    expected.resize(64, 0.0);
    QCOMPARE(frequencyTable(half).scaled, expected);
    // Clicked by hand: each pair keeps the frequency that it has in the full head.
    RopeConfig custom;
    const std::vector<double> all = frequencyTable(custom).scaled;
    custom.channels = ChannelScheme::Custom;
    custom.customPairs = {3, 9};
    const std::vector<double> chosen = frequencyTable(custom).scaled;
    for (std::size_t i = 0; i < all.size(); ++i)
        QCOMPARE(chosen[i], i == 3 || i == 9 ? all[i] : 0.0);
    for (const std::vector<int>& bad : {std::vector<int>{9, 3}, {3, 3}, {-1}, {64}}) {
        custom.customPairs = bad;
        QVERIFY(hasError(validate(custom)));
    }
    half.headDim = half.rotaryDim = 130;
    QVERIFY(hasError(validate(half)));
    half.headDim = 128;
    half.rotaryDim = 64;
    QVERIFY(hasError(validate(half)));
}

void TestFrequencyRules::attentionFactorsOfMla()
{
    for (const ReferenceEntry& entry : referenceEntries("temperature/deepseek"))
        for (const QJsonValue& row : entry.values["rows"].toArray()) {
            RopeConfig config = llama2(FrequencyRule::Yarn, row["factor"].toDouble());
            config.parameters.mscale = row["mscale"].toDouble();
            config.parameters.mscaleAllDim = row["mscale_all_dim"].toDouble();
            QCOMPARE(relativeDifference(frequencyTable(config).attentionFactor,
                                        row["cos_sin_factor"].toDouble(), kRelative),
                     QString());
            QCOMPARE(relativeDifference(
                         mlaSoftmaxFactor(*config.parameters.factor, config.parameters.mscaleAllDim),
                         row["softmax_scale_multiplier"].toDouble(), kRelative),
                     QString());
        }
    QCOMPARE(mlaSoftmaxFactor(40.0, std::nullopt), 1.0);
    QCOMPARE(mlaSoftmaxFactor(40.0, 0.0), 1.0);
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
