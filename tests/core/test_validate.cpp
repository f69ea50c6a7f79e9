// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/validate.h"

#include <QtTest>
#include <cmath>
#include <functional>
#include <limits>

using namespace ropewalk;

namespace {

using Change = std::function<void(RopeConfig&)>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

RopeConfig yarn()
{
    RopeConfig config;
    config.rule = FrequencyRule::Yarn;
    config.originalMaxPositionEmbeddings = 4096;
    config.parameters.factor = 16.0;
    return config;
}

RopeConfig llama3()
{
    RopeConfig config = yarn();
    config.rule = FrequencyRule::Llama3;
    return config;
}

RopeConfig withFactor(FrequencyRule rule, std::optional<double> factor)
{
    RopeConfig config;
    config.rule = rule;
    config.parameters.factor = factor;
    return config;
}

} // namespace

Q_DECLARE_METATYPE(ropewalk::RopeConfig)
Q_DECLARE_METATYPE(Change)

class TestValidate : public QObject
{
    Q_OBJECT
private slots:
    void impossible_data();
    void impossible();
    void possible_data();
    void possible();
    void dubious();
    void allThatIsWrongIsSaid();
};

void TestValidate::impossible_data()
{
    QTest::addColumn<RopeConfig>("config");
    QTest::addColumn<Change>("change");
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("words"); // a part of the sentence: what is wrong, or what was expected
    const auto row = [](const char* name, RopeConfig config, Change change, const char* field,
                        const char* words) { QTest::newRow(name) << config << change << field << words; };
    const RopeConfig plain;
    row(
        "odd head", plain, [](RopeConfig& c) { c.headDim = 129; }, "head_dim",
        "129; expected an even number");
    row(
        "head 0", plain, [](RopeConfig& c) { c.headDim = c.rotaryDim = 0; }, "head_dim", "from 2 to 8192");
    row(
        "negative head", plain, [](RopeConfig& c) { c.headDim = -128; }, "head_dim", "-128");
    row(
        "head too wide", plain, [](RopeConfig& c) { c.headDim = 8194; }, "head_dim", "8194");
    row(
        "odd share", plain, [](RopeConfig& c) { c.rotaryDim = rotaryDimForShare(100, 0.25); }, "rotary_dim",
        "odd rotary width 25");
    row(
        "negative width", plain, [](RopeConfig& c) { c.rotaryDim = -2; }, "rotary_dim", "-2");
    row(
        "wider than the head", plain, [](RopeConfig& c) { c.rotaryDim = 130; }, "rotary_dim",
        "0 to head_dim, 128");
    row(
        "two blocks of an odd number of pairs", plain,
        [](RopeConfig& c) {
            c.channels = ChannelScheme::TwoBlocks;
            c.headDim = c.rotaryDim = 66;
        },
        "head_dim", "66; channels=two_blocks needs a number that divides by 4");
    row(
        "base 1", plain, [](RopeConfig& c) { c.base = 1.0; }, "base", "1; expected a number above 1");
    row(
        "base 0", plain, [](RopeConfig& c) { c.base = 0.0; }, "base", "above 1");
    row(
        "base negative", plain, [](RopeConfig& c) { c.base = -10000.0; }, "base", "−10000");
    row(
        "base not a number", plain, [](RopeConfig& c) { c.base = kNan; }, "base", "above 1");
    row(
        "base beyond every wavelength", plain, [](RopeConfig& c) { c.base = 1.1e15; }, "base",
        "at most 1e+15");
    row(
        "base infinite", plain, [](RopeConfig& c) { c.base = kInfinity; }, "base", "above 1");
    row(
        "length 0", plain, [](RopeConfig& c) { c.length = 0; }, "length",
        "0; expected a whole number of tokens");
    row(
        "training 0", plain, [](RopeConfig& c) { c.originalMaxPositionEmbeddings = 0; },
        "original_max_position_embeddings", "from 1");
    row(
        "maximum negative", plain, [](RopeConfig& c) { c.maxPositionEmbeddings = -1; },
        "max_position_embeddings", "-1");
    row(
        "length too long", plain, [](RopeConfig& c) { c.length = (std::int64_t{1} << 40) + 1; }, "length",
        "1099511627777");
    row(
        "softmax factor 0", plain, [](RopeConfig& c) { c.softmaxFactor = 0.0; }, "softmax_factor", "above 0");
    row(
        "softmax factor not a number", plain, [](RopeConfig& c) { c.softmaxFactor = kNan; }, "softmax_factor",
        "above 0");

    for (const FrequencyRule rule : {FrequencyRule::Linear, FrequencyRule::NtkAware}) {
        const RopeConfig config = withFactor(rule, 4.0);
        const std::string name = rule == FrequencyRule::Linear ? "linear" : "ntk_aware";
        row((name + ": factor 0.5").c_str(), config, [](RopeConfig& c) { c.parameters.factor = 0.5; },
            "factor", "0.5; expected a number from 1 to 1e+06");
        row((name + ": no factor").c_str(), config, [](RopeConfig& c) { c.parameters.factor.reset(); },
            "factor", name.c_str());
        row((name + ": factor infinite").c_str(), config,
            [](RopeConfig& c) { c.parameters.factor = kInfinity; }, "factor", "from 1 to 1e+06");
        row((name + ": factor not a number").c_str(), config,
            [](RopeConfig& c) { c.parameters.factor = kNan; }, "factor", "from 1 to 1e+06");
    }
    row(
        "ntk_aware of one pair", withFactor(FrequencyRule::NtkAware, 4.0),
        [](RopeConfig& c) { c.headDim = c.rotaryDim = 2; }, "rotary_dim", "at least 2 pairs");

    row(
        "yarn: no factor, no length", yarn(), [](RopeConfig& c) { c.parameters.factor.reset(); }, "factor",
        "yarn");
    row(
        "yarn: factor 0.9", yarn(), [](RopeConfig& c) { c.parameters.factor = 0.9; }, "factor", "0.9");
    row(
        "yarn: lengths that shrink", yarn(),
        [](RopeConfig& c) {
            c.parameters.factor.reset();
            c.maxPositionEmbeddings = 2048;
        },
        "factor", "fills in for the factor, is 0.5; expected 1 or more");
    row(
        "yarn: no training length", yarn(), [](RopeConfig& c) { c.originalMaxPositionEmbeddings.reset(); },
        "original_max_position_embeddings", "yarn needs the training length");
    row(
        "yarn: beta_fast", yarn(), [](RopeConfig& c) { c.parameters.betaFast = -1.0; }, "beta_fast",
        "above 0");
    row(
        "yarn: beta_slow", yarn(), [](RopeConfig& c) { c.parameters.betaSlow = kNan; }, "beta_slow",
        "above 0");
    row(
        "yarn: betas crossed", yarn(), [](RopeConfig& c) { c.parameters.betaFast = 0.5; }, "beta_fast",
        "at least beta_slow");
    row(
        "yarn: training too short", yarn(), [](RopeConfig& c) { c.originalMaxPositionEmbeddings = 6; },
        "original_max_position_embeddings", "6.28319 tokens");
    row(
        "yarn: training too long", yarn(), [](RopeConfig& c) { c.base = 2.0; }, "base", "no direction");
    row(
        "yarn: attention factor", yarn(), [](RopeConfig& c) { c.parameters.attentionFactor = -0.1; },
        "attention_factor", "from 0 to 1e+06");
    row(
        "yarn: mscale", yarn(), [](RopeConfig& c) { c.parameters.mscale = kNan; }, "mscale",
        "from 0 to 1e+06");
    row(
        "yarn: mscale_all_dim", yarn(), [](RopeConfig& c) { c.parameters.mscaleAllDim = -1.0; },
        "mscale_all_dim", "from 0 to 1e+06");

    row(
        "llama3: no factor", llama3(), [](RopeConfig& c) { c.parameters.factor.reset(); }, "factor",
        "llama3");
    row(
        "llama3: factor 0", llama3(), [](RopeConfig& c) { c.parameters.factor = 0.0; }, "factor",
        "from 1 to 1e+06");
    row(
        "llama3: no training length", llama3(),
        [](RopeConfig& c) { c.originalMaxPositionEmbeddings.reset(); }, "original_max_position_embeddings",
        "llama3 needs the training length");
    row(
        "llama3: low 0", llama3(), [](RopeConfig& c) { c.parameters.lowFreqFactor = 0.0; }, "low_freq_factor",
        "above 0");
    row(
        "llama3: high infinite", llama3(), [](RopeConfig& c) { c.parameters.highFreqFactor = kInfinity; },
        "high_freq_factor", "above 0");
    row(
        "llama3: crossed", llama3(), [](RopeConfig& c) { c.parameters.highFreqFactor = 0.5; },
        "high_freq_factor", "at least low_freq_factor");
}

void TestValidate::impossible()
{
    QFETCH(RopeConfig, config);
    QFETCH(Change, change);
    QFETCH(QString, field);
    QFETCH(QString, words);
    QVERIFY(!hasError(validate(config))); // only the change is to blame
    change(config);
    const std::vector<Issue> issues = validate(config);
    QVERIFY(hasError(issues));
    const Issue* issue = firstError(issues);
    QVERIFY(issue);
    QCOMPARE(QString::fromStdString(issue->field), field);
    const QString sentence = QString::fromStdString(toEnglish(issue->text));
    QVERIFY2(sentence.contains(words), qPrintable(sentence));
    QVERIFY2(!sentence.contains('{'), qPrintable(sentence)); // every value was filled in
}

void TestValidate::possible_data()
{
    QTest::addColumn<RopeConfig>("config");
    QTest::addColumn<Change>("change");
    const auto row = [](const char* name, RopeConfig config, Change change) {
        QTest::newRow(name) << config << change;
    };
    const RopeConfig plain;
    row("as it comes", plain, [](RopeConfig&) {});
    row("one pair", plain, [](RopeConfig& c) { c.headDim = c.rotaryDim = 2; });
    row("widest head", plain, [](RopeConfig& c) { c.headDim = c.rotaryDim = 8192; });
    row("no rotation", plain, [](RopeConfig& c) { c.rotaryDim = 0; });
    row("one rotated pair", plain, [](RopeConfig& c) { c.rotaryDim = 2; });
    row("base just above 1", plain, [](RopeConfig& c) { c.base = std::nextafter(1.0, 2.0); });
    row("largest base", plain, [](RopeConfig& c) { c.base = 1e15; });
    row("one token", plain, [](RopeConfig& c) { c.length = c.maxPositionEmbeddings = 1; });
    row("longest", plain, [](RopeConfig& c) { c.length = std::int64_t{1} << 40; });
    row("no rotation needs no parameters", yarn(), [](RopeConfig& c) {
        c.rotaryDim = 0;
        c.parameters = {};
        c.originalMaxPositionEmbeddings.reset();
    });
    row("linear 1", withFactor(FrequencyRule::Linear, 1.0), [](RopeConfig&) {});
    row("linear needs no length", withFactor(FrequencyRule::Linear, 8.0), [](RopeConfig&) {});
    row("ntk_aware of two pairs", withFactor(FrequencyRule::NtkAware, 4.0),
        [](RopeConfig& c) { c.rotaryDim = 4; });
    row("default ignores a factor", plain, [](RopeConfig& c) { c.parameters.factor = 0.5; });
    row("yarn 1", yarn(), [](RopeConfig& c) { c.parameters.factor = 1.0; });
    row("yarn: factor from the lengths", yarn(), [](RopeConfig& c) {
        c.parameters.factor.reset();
        c.maxPositionEmbeddings = 131072;
    });
    row("yarn: length of the maximum", yarn(), [](RopeConfig& c) {
        c.originalMaxPositionEmbeddings.reset();
        c.maxPositionEmbeddings = 131072;
    });
    row("yarn: shortest training", yarn(), [](RopeConfig& c) { c.originalMaxPositionEmbeddings = 7; });
    row("yarn: equal betas", yarn(),
        [](RopeConfig& c) { c.parameters.betaFast = c.parameters.betaSlow = 1.0; });
    row("yarn: 0 is not stated", yarn(),
        [](RopeConfig& c) { c.parameters.betaFast = c.parameters.betaSlow = 0.0; });
    row("yarn: attention factor 0", yarn(), [](RopeConfig& c) { c.parameters.attentionFactor = 0.0; });
    row("yarn: mscale 0", yarn(),
        [](RopeConfig& c) { c.parameters.mscale = c.parameters.mscaleAllDim = 0.0; });
    row("yarn: one pair", yarn(), [](RopeConfig& c) { c.rotaryDim = 2; });
    row("llama3: equal factors", llama3(), [](RopeConfig& c) { c.parameters.highFreqFactor = 1.0; });
}

void TestValidate::possible()
{
    QFETCH(RopeConfig, config);
    QFETCH(Change, change);
    change(config);
    const std::vector<Issue> issues = validate(config);
    QVERIFY2(!hasError(issues), issues.empty() ? "" : toEnglish(issues.front().text).c_str());
    QCOMPARE(firstError(issues), nullptr);
}

void TestValidate::dubious()
{
    // A stated factor that is not the ratio of the stated lengths counts, and is warned about.
    RopeConfig config = yarn();
    config.maxPositionEmbeddings = 16 * 4096;
    QVERIFY(validate(config).empty());
    config.maxPositionEmbeddings = 40960;
    const std::vector<Issue> issues = validate(config);
    QCOMPARE(issues.size(), std::size_t{1});
    QCOMPARE(issues[0].severity, Severity::Warning);
    QCOMPARE(issues[0].field, std::string("factor"));
    QCOMPARE(toEnglish(issues[0].text),
             std::string("factor 16 is stated and counts; max_position_embeddings / "
                         "original_max_position_embeddings is 10"));
    QVERIFY(!hasError(issues));
}

void TestValidate::allThatIsWrongIsSaid()
{
    RopeConfig config;
    config.headDim = 127;
    config.base = 0.5;
    config.length = 0;
    std::vector<std::string> fields;
    for (const Issue& issue : validate(config)) {
        QCOMPARE(issue.severity, Severity::Error);
        fields.push_back(issue.field);
    }
    QCOMPARE(fields, (std::vector<std::string>{"head_dim", "rotary_dim", "base", "length"}));
}

QTEST_APPLESS_MAIN(TestValidate)
#include "test_validate.moc"
