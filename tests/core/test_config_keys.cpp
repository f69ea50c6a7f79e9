// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/config_keys.h"

#include "tests/support/random_config.h"

#include <QTest>

#include <functional>

using namespace ropewalk;

namespace {

using Check = std::function<bool(const RopeConfig&, const FigureOptions&)>;

std::vector<Setting> settingsOf(const QStringList& texts)
{
    std::vector<Setting> settings;
    for (const QString& text : texts) {
        Result<Setting> setting = parseSetting(text.toStdString());
        if (!setting)
            qFatal("%s", toEnglish(setting.error()).c_str());
        settings.push_back(*setting);
    }
    return settings;
}

std::vector<FigureConfiguration> two()
{
    RopeConfig config;
    config.maxPositionEmbeddings = 4096;
    return {{config, "A", 0}, {config, "B", 1}};
}

} // namespace

class TestConfigKeys : public QObject
{
    Q_OBJECT

private slots:
    void set_data();
    void set();
    void refused_data();
    void refused();
    void nothingChangesOnAnError();
    void oneConfigurationIsAddressed();
    void parsing_data();
    void parsing();
    void headDimKeepsTheShare_data();
    void headDimKeepsTheShare();
    void nearestWordsAreNear_data();
    void nearestWordsAreNear();
    void keysGiveTheConfigurationBack();
    void overriddenNotesGiveWay();
    void notesFollowEdits();
    void softmaxFollowsMscale();
    void settingsInVainAreSaid_data();
    void settingsInVainAreSaid();
    void settingsOfOtherFiguresAreSaid();
};

void TestConfigKeys::set_data()
{
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<Check>("check");
    const auto row = [](const char* name, const QStringList& settings, Check check) {
        QTest::newRow(name) << settings << check;
    };
    using C = const RopeConfig&;
    using O = const FigureOptions&;
    row("base", {"base=1e6"}, [](C c, O) { return c.base == 1e6; });
    row("rope_theta is base", {"rope_theta=500000"}, [](C c, O) { return c.base == 500000.0; });
    row("head_dim takes all along", {"head_dim=64"},
        [](C c, O) { return c.headDim == 64 && c.rotaryDim == 64; });
    row("rotary_dim", {"rotary_dim=32"}, [](C c, O) { return c.rotaryDim == 32; });
    row("share", {"partial_rotary_factor=0.25"}, [](C c, O) { return c.rotaryDim == 32; });
    row("share is cut, not rounded", {"head_dim=80", "partial_rotary_factor=0.99"},
        [](C c, O) { return c.rotaryDim == 79; });
    row("head_dim first, whatever the order", {"partial_rotary_factor=0.5", "head_dim=64"},
        [](C c, O) { return c.headDim == 64 && c.rotaryDim == 32; });
    row("rotary_dim before head_dim", {"rotary_dim=96", "head_dim=256"},
        [](C c, O) { return c.headDim == 256 && c.rotaryDim == 96; });
    row("layout", {"layout=interleaved"}, [](C c, O) { return c.layout == Layout::Interleaved; });
    row("channels none", {"channels=none"}, [](C c, O) { return c.rotaryDim == 0; });
    row("channels all", {"channels=all"}, [](C c, O) { return c.rotaryDim == 128; });
    row("channels first", {"rotary_dim=32", "channels=first"}, [](C c, O) { return c.rotaryDim == 32; });
    row("rule none turns nothing", {"rule=none"}, [](C c, O) { return pairCount(c) == 0; });
    row("rope_id takes its half", {"rule=rope_id", "short_wavelength=16", "cycles=3", "spacing=linear"},
        [](C c, O) {
            return c.channels == ChannelScheme::Quarters13 && c.rotaryDim == c.headDim &&
                   c.parameters.shortWavelength == 16.0 && c.parameters.cycles == 3.0 &&
                   c.parameters.spacing == Spacing::Linear;
        });
    row("HighFreq", {"channels=all", "rule=rope_id"},
        [](C c, O) { return c.rule == FrequencyRule::RopeId && channelsWord(c) == "all"; });
    row("half rope", {"channels=half_rope"}, [](C c, O) { return channelsWord(c) == "half_rope"; });
    row("two blocks", {"channels=two_blocks", "head_dim=64"},
        [](C c, O) { return c.channels == ChannelScheme::TwoBlocks && c.rotaryDim == 64; });
    row("last", {"rotary_dim=64", "channels=last", "head_dim=192"},
        [](C c, O) { return channelsWord(c) == "last" && c.rotaryDim == 64; });
    row("by hand", {"custom_pairs=9,0,5,5", "channels=custom"}, [](C c, O) {
        return c.customPairs == std::vector<int>{0, 5, 9} && turningPairCount(c) == 3;
    });
    row("p-RoPE", {"partial_rotary_factor=0.25", "rule=proportional"},
        [](C c, O) { return c.rotaryDim == c.headDim && c.parameters.partialRotaryFactor == 0.25; });
    row("lists", {"rule=longrope", "short_factor=1,2.5", "long_factor=[3, 4e1]", "inv_freq=1 0.5"},
        [](C c, O) {
            return c.parameters.shortFactor == std::vector<double>{1.0, 2.5} &&
                   c.parameters.longFactor == std::vector<double>{3.0, 40.0} &&
                   c.parameters.invFreq == std::vector<double>{1.0, 0.5};
        });
    row("temperature",
        {"temperature=log_n", "temperature_per_query=false", "temperature_floor=false",
         "temperature_length=8192"},
        [](C c, O) {
            return c.temperature ==
                   Temperature{TemperatureRule::LogN, false, false, std::nullopt, std::int64_t{8192}};
        });
    row("xpos", {"xpos=true", "xpos_scale_base=1024"}, [](C c, O) { return c.xpos == XPos{0.4, 1024.0}; });
    row("sections", {"mrope_section=24,20,20", "mrope_interleaved=true"}, [](C c, O) {
        return c.mropeSection == std::vector<int>{24, 20, 20} && c.isMropeInterleaved;
    });
    row("rule", {"rule=yarn", "factor=16", "beta_fast=32", "beta_slow=1", "truncate=false"}, [](C c, O) {
        return c.rule == FrequencyRule::Yarn && c.parameters.factor == 16.0 &&
               c.parameters.betaFast == 32.0 && c.parameters.betaSlow == 1.0 &&
               c.parameters.truncate == false;
    });
    row("llama3", {"rule=llama3", "low_freq_factor=1", "high_freq_factor=4"}, [](C c, O) {
        return c.rule == FrequencyRule::Llama3 && c.parameters.lowFreqFactor == 1.0 &&
               c.parameters.highFreqFactor == 4.0;
    });
    row("magnitudes", {"attention_factor=0", "mscale=0.707", "mscale_all_dim=1"}, [](C c, O) {
        return c.parameters.attentionFactor == 0.0 && c.parameters.mscale == 0.707 &&
               c.parameters.mscaleAllDim == 1.0;
    });
    row("null takes a value away", {"max_position_embeddings=null", "factor=null"},
        [](C c, O) { return !c.maxPositionEmbeddings && !c.parameters.factor; });
    row("lengths", {"max_position_embeddings=131072", "original_max_position_embeddings=8192", "length=1e6"},
        [](C c, O) {
            return c.maxPositionEmbeddings == 131072 && c.originalMaxPositionEmbeddings == 8192 &&
                   c.length == 1000000;
        });
    row("temperature none", {"temperature=none"}, [](C, O) { return true; });
    row("figure", {"pair=63", "m=100000", "n=0", "rho=-0.5", "max_distance=1e5", "content=ones"}, [](C, O o) {
        return o.pair == 63 && o.m == 100000 && o.n == 0 && o.rho == -0.5 && o.maxDistance == 100000;
    });
    row("content", {"content=correlation", "seed=77", "rho=0.25"},
        [](C, O o) { return o.content == Content::Correlation && o.seed == 77 && o.rho == 0.25; });
    row("needle", {"content=needle", "needle_logit=12.5", "needle_position=7"}, [](C, O o) {
        return o.content == Content::Needle && o.settings.number("needle_logit") == 12.5 &&
               o.settings.whole("needle_position") == 7;
    });
    row("file", {"content=file"}, [](C, O o) { return o.content == Content::File; });
    row("the last one counts", {"base=2", "base=3"}, [](C c, O) { return c.base == 3.0; });
    row("impossible values are validate's business", {"base=0.5"}, [](C c, O) { return c.base == 0.5; });
}

void TestConfigKeys::set()
{
    QFETCH(QStringList, settings);
    QFETCH(Check, check);
    auto configurations = two();
    FigureOptions options;
    const Result<void> applied = applySettings(settingsOf(settings), configurations, options);
    QVERIFY2(applied.hasValue(), applied ? "" : toEnglish(applied.error()).c_str());
    for (const FigureConfiguration& shown : configurations)
        QVERIFY(check(shown.config, options));
}

void TestConfigKeys::refused_data()
{
    QTest::addColumn<QString>("setting");
    QTest::addColumn<QStringList>("words"); ///< that the sentence has to hold
    const auto row = [](const char* setting, const QStringList& words) {
        QTest::newRow(setting) << setting << words;
    };
    row("bases=1", {"unknown key bases", "base"});
    row("theta=1", {"rope_theta"});
    row("max_pos=1", {"max_position_embeddings"});
    row("layout=halves", {"unknown value", "halves", "half", "interleaved"});
    row("rule=yarm", {"yarm", "yarn"});
    row("rule=long", {"unknown value", "longrope"});
    row("channels=quarters", {"unknown value", "quarters_1_3"});
    row("channels=last", {"rotary_dim"});
    row("channels=first", {"rotary_dim"});
    row("temperature=hot", {"unknown value", "none"});
    row("content=needles", {"unknown value", "needle"});
    row("needle_logit=x", {"needle_logit", "number"});
    row("cluster_sigma=-1", {"cluster_sigma", "0"});
    row("short_factor=1,x", {"short_factor", "x", "numbers"});
    row("inv_freq=1;2", {"inv_freq", "1;2"});
    row("custom_pairs=0,1.5", {"custom_pairs", "1.5", "whole"});
    row("cycles=two", {"cycles", "number"});
    row("spacing=even", {"spacing", "geometric"});
    row("xpos=1", {"xpos", "true", "false"});
    row("temperature_floor=0", {"temperature_floor", "false"});
    row("seed=-1", {"seed", "whole number"});
    row("truncate=1", {"truncate", "true", "false"});
    row("base=", {"base", "number"});
    row("base=1e6x", {"1e6x", "number"});
    row("base= 1", {"number"});
    row("base=nan", {"nan", "number"});
    row("base=inf", {"inf", "number"});
    row("base=1e999", {"number"});
    row("base=0x10", {"number"});
    row("base=1,000", {"number"});
    row("head_dim=64.5", {"head_dim", "whole number"});
    row("head_dim=-2", {"whole number"});
    row("head_dim=1e30", {"whole number"});
    row("length=0", {"length", "whole number from 1"});
    row("partial_rotary_factor=1.5", {"partial_rotary_factor", "from 0 to 1"});
    row("rho=2", {"rho", "from −1 to 1"});
    row("m=-1", {"m is", "whole number"});
    row("max_distance=0", {"max_distance"});
    row("max_distance=10000001", {"10000000"});
    row("A.pair=3", {"pair", "whole figure"});
    row("C.base=3", {"no configuration C"});
}

void TestConfigKeys::refused()
{
    QFETCH(QString, setting);
    QFETCH(QStringList, words);
    auto configurations = two();
    FigureOptions options;
    const Result<void> applied = applySettings(settingsOf({setting}), configurations, options);
    QVERIFY(!applied);
    QCOMPARE(applied.error().code, ErrorCode::Usage);
    const QString sentence = QString::fromStdString(toEnglish(applied.error()));
    for (const QString& word : words)
        QVERIFY2(sentence.contains(word), qPrintable(sentence));
    QVERIFY2(!sentence.contains('{'), qPrintable(sentence));
}

void TestConfigKeys::nothingChangesOnAnError()
{
    auto configurations = two();
    FigureOptions options;
    QVERIFY(!applySettings(settingsOf({"base=3", "pair=1", "head_dim=64", "nonsense=1"}), configurations,
                           options));
    QCOMPARE(options, FigureOptions());
    for (std::size_t i = 0; i < configurations.size(); ++i)
        QVERIFY(configurations[i].config == two()[i].config);
}

void TestConfigKeys::oneConfigurationIsAddressed()
{
    auto configurations = two();
    FigureOptions options;
    QVERIFY(applySettings(settingsOf({"base=2", "B.base=3"}), configurations, options).hasValue());
    QCOMPARE(configurations[0].config.base, 2.0);
    QCOMPARE(configurations[1].config.base, 3.0);
}

void TestConfigKeys::parsing_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("isFine");
    QTest::addColumn<QString>("letter");
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value");
    QTest::newRow("plain") << "base=1e6" << true << ""
                           << "base"
                           << "1e6";
    QTest::newRow("addressed") << "D.base=1" << true << "D"
                               << "base"
                               << "1";
    QTest::newRow("a dot in the value") << "base=1.5" << true << ""
                                        << "base"
                                        << "1.5";
    QTest::newRow("an equals sign in the value") << "content=a=b" << true << ""
                                                 << "content"
                                                 << "a=b";
    QTest::newRow("empty value") << "base=" << true << ""
                                 << "base"
                                 << "";
    QTest::newRow("no value") << "base" << false << ""
                              << ""
                              << "";
    QTest::newRow("no key") << "=3" << false << ""
                            << ""
                            << "";
    QTest::newRow("no key after the letter") << "A.=3" << false << ""
                                             << ""
                                             << "";
    QTest::newRow("not a letter") << "E.base=3" << false << ""
                                  << ""
                                  << "";
    QTest::newRow("two letters") << "AB.base=3" << false << ""
                                 << ""
                                 << "";
    QTest::newRow("empty") << "" << false << ""
                           << ""
                           << "";
}

void TestConfigKeys::parsing()
{
    QFETCH(QString, text);
    QFETCH(bool, isFine);
    QFETCH(QString, letter);
    QFETCH(QString, key);
    QFETCH(QString, value);
    const Result<Setting> setting = parseSetting(text.toStdString());
    QCOMPARE(setting.hasValue(), isFine);
    if (isFine) {
        QCOMPARE(QString::fromStdString(setting->letter), letter);
        QCOMPARE(QString::fromStdString(setting->key), key);
        QCOMPARE(QString::fromStdString(setting->value), value);
    } else {
        QCOMPARE(setting.error().code, ErrorCode::Usage);
    }
}

void TestConfigKeys::headDimKeepsTheShare_data()
{
    QTest::addColumn<int>("headDim");
    QTest::addColumn<int>("rotaryDim");
    QTest::addColumn<int>("newHeadDim");
    QTest::addColumn<int>("expected");
    QTest::newRow("all stays all") << 128 << 128 << 96 << 96;
    QTest::newRow("a quarter stays a quarter") << 96 << 24 << 128 << 32;
    QTest::newRow("a third") << 192 << 64 << 96 << 32;
    QTest::newRow("none stays none") << 128 << 0 << 64 << 0;
    QTest::newRow("two fifths") << 80 << 32 << 40 << 16;
    QTest::newRow("to an even width") << 128 << 50 << 224 << 86; // 87.5
}

void TestConfigKeys::headDimKeepsTheShare()
{
    QFETCH(int, headDim);
    QFETCH(int, rotaryDim);
    QFETCH(int, newHeadDim);
    QFETCH(int, expected);
    RopeConfig config;
    config.headDim = headDim;
    config.rotaryDim = rotaryDim;
    const RopeConfig changed = withHeadDim(config, newHeadDim);
    QCOMPARE(changed.headDim, newHeadDim);
    QCOMPARE(changed.rotaryDim, expected);
}

void TestConfigKeys::nearestWordsAreNear_data()
{
    QTest::addColumn<QString>("wanted");
    QTest::addColumn<QString>("first");
    QTest::newRow("typing slip") << "inspct"
                                 << "inspect";
    QTest::newRow("beginning") << "back"
                               << "backends";
    QTest::newRow("nothing alike") << "zzz"
                                   << "list";
    QTest::newRow("empty") << ""
                           << "list";
}

void TestConfigKeys::nearestWordsAreNear()
{
    QFETCH(QString, wanted);
    QFETCH(QString, first);
    const std::string text = nearestWords(wanted.toStdString(), {"inspect", "render", "list", "backends"});
    const QStringList words = QString::fromStdString(text).split(", ");
    QCOMPARE(words.size(), 3);
    QCOMPARE(words.first(), first);
}

void TestConfigKeys::keysGiveTheConfigurationBack()
{
    std::mt19937 random(7);
    for (int i = 0; i < 500; ++i) {
        const RopeConfig config = test::randomConfig(random);
        std::vector<Setting> settings;
        for (const ConfigKeyValue& entry : configKeys(config))
            settings.push_back({"", std::string(entry.key), entry.text});
        std::shuffle(settings.begin(), settings.end(), random);
        std::vector<FigureConfiguration> fresh(1);
        FigureOptions options;
        QVERIFY(applySettings(settings, fresh, options).hasValue());
        QVERIFY(computesTheSame(fresh.front().config, config));
    }
}

void TestConfigKeys::overriddenNotesGiveWay()
{
    RopeConfig config;
    config.rule = FrequencyRule::Llama3;
    config.parameters.factor = 8.0;
    config.notes = {{Severity::Read, "text_config.rope_theta", "500000.0, as stated"},
                    {Severity::Read, "rope_scaling.factor", "8.0, as stated"},
                    {Severity::Read, "rope_scaling.low_freq_factor", "1.0, as stated"},
                    {Severity::Assumed, "head_dim", "128"},
                    {Severity::Read, "max_position_embeddings", "131072, as stated"}};
    std::vector<FigureConfiguration> shown{{config, "A", 0}, {config, "B", 1}};
    FigureOptions options;
    const std::vector<Setting> settings{{"A", "base", "1e6"}, {"A", "rule", "yarn"}};
    QVERIFY(applySettings(settings, shown, options).hasValue());
    noteSettings(settings, shown);
    QCOMPARE(shown[1].config.notes, config.notes); // addressed to A alone
    const auto about = [&](std::string_view field) {
        for (const Issue& note : shown[0].config.notes)
            if (note.field == field)
                return QString::fromStdString(toEnglish(note.text));
        return QString();
    };
    QVERIFY(about("text_config.rope_theta").isEmpty());
    QCOMPARE(about("base"), QString("1e6, set in place of what was read"));
    QVERIFY(about("rope_scaling.low_freq_factor").isEmpty()); // YaRN has no such parameter
    QVERIFY(!about("rope_scaling.factor").isEmpty());         // and still this one
    QVERIFY(!about("head_dim").isEmpty());
    QVERIFY(!about("max_position_embeddings").isEmpty());
}

/// An edit by hand, as of a slider: the same notes as after --set, and the first ones again on the way back.
void TestConfigKeys::notesFollowEdits()
{
    RopeConfig original;
    original.rule = FrequencyRule::Llama3;
    original.parameters.factor = 8.0;
    original.parameters.lowFreqFactor = 1.0;
    original.notes = {{Severity::Read, "rope_theta", "10000.0, as stated"},
                      {Severity::Read, "rope_scaling.factor", "8.0, as stated"},
                      {Severity::Read, "rope_scaling.low_freq_factor", "1.0, as stated"}};
    RopeConfig edited = original;
    edited.base = 500000.0;
    edited.parameters.lowFreqFactor.reset();
    for (int drag = 0; drag < 3; ++drag) { // notes do not pile up
        edited.parameters.factor = 9.0 + drag;
        followOriginal(original, edited);
    }
    QCOMPARE(edited.notes.size(), std::size_t{3});
    for (const auto& [field, text] : {std::pair{"base", "500000, set in place of what was read"},
                                      {"factor", "11, set in place of what was read"},
                                      {"low_freq_factor", "null, set in place of what was read"}})
        QVERIFY2(std::any_of(
                     edited.notes.begin(), edited.notes.end(),
                     [&](const Issue& note) { return note.field == field && toEnglish(note.text) == text; }),
                 field);
    edited = original;
    edited.notes.clear();
    followOriginal(original, edited);
    QCOMPARE(edited, original);
}

/// DeepSeek's factor on the logit is made of YaRN's: it follows every way of changing them.
void TestConfigKeys::softmaxFollowsMscale()
{
    const auto mscale = [](double factor, double k) { return 0.1 * k * std::log(factor) + 1.0; };
    std::vector<FigureConfiguration> shown(1);
    FigureOptions options;
    const auto apply = [&](std::initializer_list<const char*> texts) {
        std::vector<Setting> settings;
        for (const char* text : texts)
            settings.push_back(*parseSetting(text));
        QVERIFY(applySettings(settings, shown, options).hasValue());
    };
    apply(
        {"rule=yarn", "factor=40", "original_max_position_embeddings=4096", "mscale=1", "mscale_all_dim=1"});
    QCOMPARE(shown[0].config.softmaxFactor, 1.0); // a head without multi-head latent attention
    apply({"softmax_mscale=true"});
    QVERIFY(std::fabs(shown[0].config.softmaxFactor - mscale(40, 1) * mscale(40, 1)) < 1e-14);
    apply({"factor=80"});
    QVERIFY(std::fabs(shown[0].config.softmaxFactor - mscale(80, 1) * mscale(80, 1)) < 1e-14);
    apply({"mscale_all_dim=0.707"});
    QVERIFY(std::fabs(shown[0].config.softmaxFactor - mscale(80, 0.707) * mscale(80, 0.707)) < 1e-14);
    const RopeConfig original = shown[0].config;
    shown[0].config.parameters.factor = 20.0; // as of a slider
    followOriginal(original, shown[0].config);
    QVERIFY(std::fabs(shown[0].config.softmaxFactor - mscale(20, 0.707) * mscale(20, 0.707)) < 1e-14);
    apply({"softmax_mscale=false"});
    QCOMPARE(shown[0].config.softmaxFactor, 1.0);
    apply({"softmax_mscale=true", "rule=linear"});
    QCOMPARE(shown[0].config.softmaxFactor, 1.0);
}

void TestConfigKeys::settingsInVainAreSaid_data()
{
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("words"); ///< empty: nothing is said
    const auto row = [](const QStringList& settings, const char* field, const char* words) {
        QTest::newRow(qPrintable(settings.join(' '))) << settings << QString(field) << QString(words);
    };
    row({"beta_fast=16"}, "beta_fast", "16 is set and has no effect with the rule default");
    row({"rule=yarn", "factor=4", "low_freq_factor=1"}, "low_freq_factor", "with the rule yarn");
    row({"rule=yarn", "factor=4", "beta_fast=16"}, "beta_fast", "");
    row({"partial_rotary_factor=0.5"}, "partial_rotary_factor", "");
    row({"rule=dynamic", "factor=2", "max_position_embeddings=2048", "original_max_position_embeddings=1024"},
        "original_max_position_embeddings", "measures against");
    row({"custom_pairs=1,2"}, "custom_pairs", "channels=custom");
    row({"channels=custom", "custom_pairs=1,2"}, "custom_pairs", "");
    row({"temperature_length=4096"}, "temperature_length", "without a temperature");
    row({"temperature=rope_id", "temperature_length=4096"}, "temperature_length", "");
    row({"rule=none", "factor=4"}, "factor", "with the rule none");
}

void TestConfigKeys::settingsOfOtherFiguresAreSaid()
{
    std::vector<Setting> settings;
    for (const char* text : {"stage=softmax", "base=1e6", "m=12", "cluster_points=64"})
        settings.push_back(*parseSetting(text));
    const std::vector<Issue> notes = settingsOfOtherFigures(settings, "clusters");
    QCOMPARE(notes.size(), std::size_t{1});
    QCOMPARE(notes[0].field, std::string("stage"));
    QVERIFY(notes[0].severity == Severity::Warning);
    QCOMPARE(toEnglish(notes[0].text),
             std::string("softmax is set and has no effect on clusters; stage is a setting of scores"));
    QVERIFY(settingsOfOtherFigures({*parseSetting("stage=softmax")}, "scores").empty());
    // One that several figures read names them all.
    const auto several = std::find_if(figureSettings().begin(), figureSettings().end(), [](const auto& info) {
        return info.figures.find(' ') != std::string_view::npos && !info.isOf("results");
    });
    QVERIFY(several != figureSettings().end());
    const auto said = settingsOfOtherFigures({{"", std::string(several->key), "1"}}, "results");
    QCOMPARE(said.size(), std::size_t{1});
    QString list = QString::fromStdString(std::string(several->figures));
    QVERIFY(QString::fromStdString(toEnglish(said[0].text)).endsWith(list.replace(" ", ", ")));
}

void TestConfigKeys::settingsInVainAreSaid()
{
    QFETCH(QStringList, settings);
    QFETCH(QString, field);
    QFETCH(QString, words);
    std::vector<Setting> parsed;
    for (const QString& text : settings)
        parsed.push_back(*parseSetting(text.toStdString()));
    std::vector<FigureConfiguration> shown(1);
    FigureOptions options;
    QVERIFY(applySettings(parsed, shown, options).hasValue());
    QVERIFY(shown.front().config.notes.empty()); // a session file is read that way, and is no news
    noteSettings(parsed, shown);
    QString found;
    for (const Issue& note : shown.front().config.notes)
        if (QString::fromStdString(note.field) == field && note.severity == Severity::Warning)
            found = QString::fromStdString(toEnglish(note.text));
    QVERIFY2(words.isEmpty() ? found.isEmpty() : found.contains(words), qPrintable(found));
}

QTEST_APPLESS_MAIN(TestConfigKeys)
#include "test_config_keys.moc"
