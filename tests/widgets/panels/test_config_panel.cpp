// SPDX-License-Identifier: GPL-3.0-or-later
// The controls of one configuration: what is shown for which rule, what is emitted, where errors stand.

#include "core/config_keys.h"
#include "core/validate.h"
#include "widgets/panels/channel_strip.h"
#include "widgets/panels/config_panel.h"
#include "widgets/panels/number_edit.h"
#include "widgets/panels/number_list_edit.h"
#include "widgets/panels/section.h"
#include "widgets/panels/segmented_control.h"
#include "widgets/panels/slider_track.h"
#include "widgets/panels/value_slider.h"
#include "widgets/window_style.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>

#include <cmath>
#include <set>

using namespace ropewalk;

namespace {

RopeConfig llama31()
{
    RopeConfig config;
    config.name = "Llama-3.1-8B";
    config.base = 500000.0;
    config.rule = FrequencyRule::Llama3;
    config.parameters.factor = 8.0;
    config.parameters.lowFreqFactor = 1.0;
    config.parameters.highFreqFactor = 4.0;
    config.maxPositionEmbeddings = 131072;
    config.originalMaxPositionEmbeddings = 8192;
    return config;
}

/// A panel whose edits come straight back, as the window does it.
struct Bench
{
    RopeConfig config, original;
    QStringList order;
    QString what;
    ConfigPanel panel; // last: it may still say that an edit ends when it goes

    explicit Bench(const RopeConfig& start = llama31())
        : config(start)
        , original(start)
    {
        QObject::connect(&panel, &ConfigPanel::editingStarted, &panel, [this] { order += "started"; });
        QObject::connect(&panel, &ConfigPanel::editingFinished, &panel, [this] { order += "finished"; });
        QObject::connect(&panel, &ConfigPanel::configEdited, &panel,
                         [this](const RopeConfig& edited, const QString& field) {
                             order += "edited";
                             what = field;
                             set(edited);
                         });
        panel.resize(292, 700);
        panel.show();
        QApplication::setActiveWindow(&panel);
        set(start);
        QApplication::processEvents();
    }

    void set(const RopeConfig& next)
    {
        config = next;
        panel.setConfig(config, original, validate(config));
    }

    void type(const char* key, const QString& text)
    {
        NumberEdit* box = panel.slider(key)->box();
        box->setFocus();
        QApplication::processEvents();
        box->selectAll();
        QTest::keyClicks(box, text);
        QTest::keyClick(box, Qt::Key_Return);
    }

    void choose(FrequencyRule rule)
    {
        QComboBox* box = panel.ruleBox();
        box->setFocus();
        const int row = box->findData(static_cast<int>(rule));
        while (box->currentIndex() != row)
            QTest::keyClick(box, box->currentIndex() < row ? Qt::Key_Down : Qt::Key_Up);
    }
};

} // namespace

class TestConfigPanel : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase() { applyWindowStyle(*qApp, {Theme::Light, 1.0}); }

    void ruleShowsItsParameters_data()
    {
        QTest::addColumn<int>("rule");
        for (const FrequencyRuleInfo& rule : frequencyRules())
            QTest::newRow(std::string(rule.word).c_str()) << static_cast<int>(rule.rule);
    }

    void ruleShowsItsParameters()
    {
        QFETCH(int, rule);
        Bench bench;
        RopeConfig config = llama31();
        config.rule = static_cast<FrequencyRule>(rule);
        bench.set(config);
        std::set<std::string> expected;
        for (const RuleParameterInfo& parameter : info(config.rule).parameters)
            if (parameter.number)
                expected.insert(std::string(parameter.key));
        for (const FrequencyRuleInfo& other : frequencyRules())
            for (const RuleParameterInfo& parameter : other.parameters)
                QCOMPARE(bench.panel.slider(std::string(parameter.key)) != nullptr,
                         expected.contains(std::string(parameter.key)));
        QCOMPARE(bench.panel.ruleBox()->currentData().toInt(), rule);
        const bool hasFactor = expected.contains("factor");
        QCOMPARE(hasFactor && bench.panel.slider("factor")->isVisible(), hasFactor);
    }

    void lengthIsAControlWhereTheRuleDependsOnIt()
    {
        Bench bench;
        for (const FrequencyRuleInfo& rule : frequencyRules()) {
            RopeConfig config = llama31();
            config.rule = rule.rule;
            bench.set(config);
            QCOMPARE(bench.panel.slider("length")->isVisibleTo(&bench.panel), rule.dependsOnLength);
        }
        RopeConfig config = llama31();
        config.rule = FrequencyRule::Dynamic;
        config.parameters.factor = 2.0;
        bench.set(config);
        bench.type("length", "262144");
        QCOMPARE(bench.config.length, std::optional<std::int64_t>(262144));
    }

    void channelSchemes()
    {
        Bench bench;
        bench.set(llama31());
        QComboBox* box = bench.panel.channelsBox();
        const auto choose = [&](const char* word) {
            box->setCurrentIndex(box->findData(QString::fromLatin1(word)));
            emit box->activated(box->currentIndex());
            return std::string(channelsWord(bench.config));
        };
        for (const char* word :
             {"first", "last", "quarters_1_3", "half_rope", "two_blocks", "custom", "none", "all"}) {
            QCOMPARE(choose(word), std::string(word));
            QVERIFY(!hasError(validate(bench.config)));
            QCOMPARE(box->currentData().toString(), QString::fromLatin1(word));
        }
        // The strip shows what stays: grey, and it is the second half of the pairs.
        choose("quarters_1_3");
        const ChannelStrip* strip = bench.panel.strip();
        QCOMPARE(strip->channelColour(40), strip->channelColour(127));
        QVERIFY(strip->channelColour(0) != strip->channelColour(40));
        QCOMPARE(strip->channelColour(0), strip->channelColour(64));
        // Both blocks have the same frequencies, and their pairs lie within them.
        choose("two_blocks");
        QCOMPARE(strip->channelColour(0), strip->channelColour(32));
        QCOMPARE(strip->channelColour(0), strip->channelColour(64));
        QVERIFY(strip->channelColour(0) != strip->channelColour(31));
    }

    void twoBlocksOfAnOddHead()
    {
        Bench bench;
        RopeConfig config;
        config.channels = ChannelScheme::TwoBlocks;
        for (const int headDim : {2, 6, 126}) {
            config.headDim = config.rotaryDim = headDim;
            bench.set(config);
            QVERIFY(bench.panel.slider("head_dim")->issue().contains("divides by 4"));
        }
    }

    void pairsAreClickedByHand()
    {
        Bench bench;
        bench.set(llama31());
        ChannelStrip* strip = bench.panel.strip();
        const auto click = [&](int channel) {
            int x = 0;
            while (strip->channelAt(x) != channel && x < strip->width())
                ++x;
            QTest::mouseClick(strip, Qt::LeftButton, {}, QPoint(x, strip->height() / 2));
        };
        click(3);
        QCOMPARE(bench.config.channels, ChannelScheme::First); // only where the scheme is "by hand"
        QComboBox* box = bench.panel.channelsBox();
        box->setCurrentIndex(box->findData(QStringLiteral("custom")));
        emit box->activated(box->currentIndex());
        QCOMPARE(turningPairCount(bench.config), 64);
        click(3);
        QCOMPARE(turningPairCount(bench.config), 63);
        QVERIFY(!isTurningPair(bench.config, 3));
        click(67); // the partner of channel 3
        QCOMPARE(turningPairCount(bench.config), 64);
    }

    void listsAreShown()
    {
        Bench bench;
        RopeConfig config = llama31();
        config.rule = FrequencyRule::LongRope;
        config.parameters.shortFactor.assign(64, 1.0);
        bench.set(config);
        QCOMPARE(bench.panel.list("short_factor")->text(), QString("64 values"));
        QCOMPARE(bench.panel.list("long_factor")->text(), QString("none"));
        QVERIFY(!bench.panel.list("inv_freq"));
        QVERIFY(bench.panel.generalIssue().contains("long_factor"));
    }

    void listsAreTyped()
    {
        Bench bench;
        RopeConfig config;
        config.headDim = config.rotaryDim = 4;
        config.rule = FrequencyRule::Explicit;
        config.parameters.invFreq = {1.0, 0.01};
        bench.set(config);
        NumberListEdit* field = bench.panel.list("inv_freq");
        const auto enter = [&](const char* text) {
            field->setFocus();
            QApplication::processEvents();
            field->selectAll();
            QTest::keyClicks(field, text);
            QTest::keyClick(field, Qt::Key_Return);
        };
        field->setFocus();
        QApplication::processEvents();
        QCOMPARE(field->text(), QString("1, 0.01")); // all of them, to be copied
        enter("[0.5, 1e-3]");
        QCOMPARE(bench.config.parameters.invFreq, (std::vector<double>{0.5, 1e-3}));
        QCOMPARE(bench.order, (QStringList{"started", "edited", "finished"}));
        QCOMPARE(bench.what, "inv_freq");
        // One sentence, and nothing changes.
        enter("0.5, x");
        QVERIFY(bench.panel.generalIssue().contains("\"x\""));
        QCOMPARE(bench.config.parameters.invFreq, (std::vector<double>{0.5, 1e-3}));
        QTest::keyClick(field, Qt::Key_Escape);
        QCOMPARE(field->text(), QString("0.5, 0.001"));
        QVERIFY(bench.panel.generalIssue().isEmpty());
        // A list of another length is taken and said to be wrong.
        enter("0.5");
        QVERIFY(bench.panel.generalIssue().contains("inv_freq has 1 values; expected 2"));
        bench.panel.slider("base")->box()->setFocus();
        QApplication::processEvents();
        QCOMPARE(field->text(), QString("1 values"));
    }

    void temperatureHasItsControls()
    {
        Bench bench;
        QVERIFY(!bench.panel.scoreSection()->isOpen());
        bench.panel.scoreSection()->setOpen(true);
        const auto choose = [&](TemperatureRule rule) {
            QComboBox* box = bench.panel.temperatureBox();
            box->setCurrentIndex(box->findData(static_cast<int>(rule)));
            emit box->activated(box->currentIndex());
        };
        QVERIFY(!bench.panel.slider("temperature_coefficient")->isVisible());
        choose(TemperatureRule::RopeId);
        QCOMPARE(bench.config.temperature.rule, TemperatureRule::RopeId);
        QCOMPARE(bench.order, (QStringList{"started", "edited", "finished"}));
        QVERIFY(bench.panel.slider("temperature_coefficient")->isVisible());
        QVERIFY(bench.panel.floorBox()->isVisible());
        bench.type("temperature_coefficient", "0.2");
        QCOMPARE(bench.config.temperature.coefficient, std::optional(0.2));
        bench.type("temperature_length", "4096");
        QCOMPARE(bench.config.temperature.referenceLength, std::optional<std::int64_t>(4096));
        QTest::mouseClick(bench.panel.perQueryControl(), Qt::LeftButton, {},
                          bench.panel.perQueryControl()->segment(1).center());
        QVERIFY(!bench.config.temperature.isPerQuery);
        bench.panel.floorBox()->click();
        QVERIFY(!bench.config.temperature.hasFloor);
        choose(TemperatureRule::LongRope); // constant: one value whatever the length
        QVERIFY(!bench.panel.perQueryControl()->isVisible());
        QVERIFY(!bench.panel.slider("temperature_coefficient")->isVisible());
    }

    void xposIsASwitchOfItsOwn()
    {
        Bench bench;
        RopeConfig config = llama31();
        config.xpos = XPos{};
        bench.set(config); // there is something to see now
        QVERIFY(bench.panel.scoreSection()->isOpen());
        bench.type("xpos_gamma", "0.8");
        QCOMPARE(bench.config.xpos.value().gamma, 0.8);
        bench.type("xpos_scale_base", "256");
        QCOMPARE(bench.config.xpos.value().scaleBase, 256.0);
        QVERIFY(bench.panel.slider("xpos_gamma")->isChanged());
        bench.panel.xposBox()->click();
        QVERIFY(!bench.config.xpos.has_value());
        QVERIFY(!bench.panel.slider("xpos_gamma")->isVisible());
        bench.panel.xposBox()->click();
        QCOMPARE(bench.config.xpos, std::optional(XPos{}));
    }

    void choosingARuleStatesItsFactor_data()
    {
        QTest::addColumn<int>("rule");
        QTest::addColumn<double>("factor");
        QTest::newRow("linear") << static_cast<int>(FrequencyRule::Linear) << 4.0;
        QTest::newRow("llama3") << static_cast<int>(FrequencyRule::Llama3) << 8.0;
    }

    void choosingARuleStatesItsFactor()
    {
        QFETCH(int, rule);
        QFETCH(double, factor);
        RopeConfig config;
        config.maxPositionEmbeddings = 8192;
        Bench bench(config);
        // Chosen from the list at once, as by a click; the rules between are not passed.
        bench.panel.ruleBox()->setCurrentIndex(bench.panel.ruleBox()->findData(rule));
        emit bench.panel.ruleBox()->activated(bench.panel.ruleBox()->currentIndex());
        QCOMPARE(static_cast<int>(bench.config.rule), rule);
        QCOMPARE(bench.config.parameters.factor.value_or(0.0), factor);
        QVERIFY(!hasError(validate(bench.config)));
        QCOMPARE(bench.order, (QStringList{"started", "edited", "finished"}));
        QCOMPARE(bench.what, "rule");
    }

    void ruleByKeyboard()
    {
        Bench bench;
        bench.choose(FrequencyRule::Yarn);
        QCOMPARE(bench.config.rule, FrequencyRule::Yarn);
        QCOMPARE(bench.config.parameters.factor.value_or(0.0), 8.0); // what was stated stays
        QVERIFY(bench.panel.slider("beta_fast"));
        QVERIFY(!bench.panel.slider("low_freq_factor"));
    }

    void derivedFactorIsLeftUnstated()
    {
        RopeConfig config;
        config.rule = FrequencyRule::Yarn;
        config.maxPositionEmbeddings = 131072;
        config.originalMaxPositionEmbeddings = 32768;
        Bench bench(config);
        QVERIFY(!bench.panel.slider("factor")->isStated());
        QVERIFY(bench.panel.slider("factor")->track()->accessibleDescription().contains("4"));
        QVERIFY(!bench.panel.slider("attention_factor")->isStated());
        bench.type("factor", "16");
        QCOMPARE(bench.config.parameters.factor.value_or(0.0), 16.0);
        bench.panel.slider("factor")->track()->setFocus();
        QTest::keyClick(bench.panel.slider("factor")->track(), Qt::Key_Delete);
        QVERIFY(!bench.config.parameters.factor.has_value());
    }

    void issueStandsBesideItsField()
    {
        Bench bench;
        RopeConfig config = llama31();
        config.rule = FrequencyRule::Yarn;
        config.parameters.betaFast = 2.0;
        config.parameters.betaSlow = 4.0;
        bench.set(config);
        QVERIFY(bench.panel.slider("beta_fast")->issue().contains("beta_slow is 4"));
        QVERIFY(bench.panel.slider("beta_slow")->issue().isEmpty());
        QVERIFY(bench.panel.generalIssue().isEmpty());
        config.parameters.betaSlow = 1.0;
        bench.set(config);
        QVERIFY(bench.panel.slider("beta_fast")->issue().isEmpty());
    }

    void issueIsNeverFoldedAway()
    {
        Bench bench;
        QVERIFY(!bench.panel.moreSection()->isOpen());
        RopeConfig config = llama31();
        config.parameters.highFreqFactor = 0.5;
        bench.set(config);
        QVERIFY(bench.panel.moreSection()->isOpen());
        QVERIFY(bench.panel.slider("high_freq_factor")->isVisible());
        QVERIFY(!bench.panel.slider("high_freq_factor")->issue().isEmpty());
    }

    void issueWithoutAControlIsShownToo()
    {
        Bench bench;
        RopeConfig config = llama31();
        config.softmaxFactor = -1.0;
        bench.set(config);
        QVERIFY(bench.panel.generalIssue().contains("softmax_factor"));
    }

    void missingTrainingLengthIsAskedForAtItsField()
    {
        RopeConfig config = llama31();
        config.maxPositionEmbeddings.reset();
        config.originalMaxPositionEmbeddings.reset();
        Bench bench(config);
        QVERIFY(!bench.panel.slider("training_length")->issue().isEmpty());
        bench.type("training_length", "8k");
        QCOMPARE(bench.config.maxPositionEmbeddings.value_or(0), 8192);
        QVERIFY(bench.panel.slider("training_length")->issue().isEmpty());
    }

    void trainingLengthEditsWhatIsStated()
    {
        Bench bench;
        bench.type("training_length", "4096");
        QCOMPARE(bench.config.originalMaxPositionEmbeddings.value_or(0), 4096);
        QCOMPARE(bench.config.maxPositionEmbeddings.value_or(0), 131072);
        RopeConfig config;
        config.maxPositionEmbeddings = 2048;
        bench.original = config;
        bench.set(config);
        bench.type("training_length", "4096");
        QCOMPARE(bench.config.maxPositionEmbeddings.value_or(0), 4096);
        QVERIFY(!bench.config.originalMaxPositionEmbeddings.has_value());
    }

    void headDimKeepsAllChannels()
    {
        Bench bench;
        bench.type("head_dim", "64");
        QCOMPARE(bench.config.headDim, 64);
        QCOMPARE(bench.config.rotaryDim, 64);
        QVERIFY(!bench.panel.slider("rotary_dim")->isChanged());
        bench.type("head_dim", "63");
        QCOMPARE(bench.config.headDim, 64);
        QVERIFY(!bench.panel.slider("head_dim")->issue().isEmpty());
    }

    void rotatedEndsAtHeadDim()
    {
        Bench bench;
        SliderTrack* track = bench.panel.slider("rotary_dim")->track();
        track->setFocus();
        QTest::keyClick(track, Qt::Key_Home);
        QCOMPARE(bench.config.rotaryDim, 0);
        QTest::keyClick(track, Qt::Key_End);
        QCOMPARE(bench.config.rotaryDim, 128);
        bench.type("rotary_dim", "64");
        QCOMPARE(bench.config.rotaryDim, 64);
        bench.type("rotary_dim", "130");
        QCOMPARE(bench.config.rotaryDim, 64);
    }

    void dragIsOneEditUnderItsName()
    {
        Bench bench;
        SliderTrack* track = bench.panel.slider("base")->track();
        const QPoint knob = track->knobCentre();
        QTest::mousePress(track, Qt::LeftButton, {}, knob);
        for (int x = 4; x <= 40; x += 4)
            QTest::mouseMove(track, knob + QPoint(x, 0));
        QTest::mouseRelease(track, Qt::LeftButton, {}, knob + QPoint(40, 0));
        QCOMPARE(bench.order.count("started"), 1);
        QCOMPARE(bench.order.count("finished"), 1);
        QVERIFY(bench.order.count("edited") >= 8);
        QCOMPARE(bench.what, "base");
        QVERIFY(bench.config.base > 500000.0);
        RopeConfig expected = llama31();
        expected.base = bench.config.base;
        QVERIFY(bench.config == expected); // nothing else moved
    }

    void layoutAndStrip()
    {
        Bench bench;
        ChannelStrip* strip = bench.panel.strip();
        // Half: channel 64 is the partner of channel 0; channel 1 is the next pair, of the same colour step.
        QCOMPARE(strip->channelColour(64), strip->channelColour(0));
        QCOMPARE(strip->channelColour(0), windowColours().pairs.first());
        QCOMPARE(strip->channelColour(127), windowColours().pairs.last());
        SegmentedControl* layout = bench.panel.layoutControl();
        QTest::mouseClick(layout, Qt::LeftButton, {}, layout->segment(1).center());
        QCOMPARE(bench.config.layout, Layout::Interleaved);
        QCOMPARE(strip->channelColour(1), strip->channelColour(0));
        QVERIFY(strip->channelColour(64) != strip->channelColour(0));
        bench.type("rotary_dim", "64");
        QCOMPARE(strip->channelColour(64), windowColours().rule); // still
        QCOMPARE(strip->channelColour(63), windowColours().pairs.last());
        layout->setFocus();
        QTest::keyClick(layout, Qt::Key_Left);
        QCOMPARE(bench.config.layout, Layout::Half);
    }

    /// With p-RoPE the pairs are formed over the whole head, and partial_rotary_factor says how many turn.
    void proportionalSaysItsShareOnce()
    {
        Bench bench(withRule(llama31(), FrequencyRule::Proportional));
        QVERIFY(bench.panel.slider("rotary_dim")->isHidden());
        QVERIFY(bench.panel.slider("partial_rotary_factor"));
        Bench plain(withRule(llama31(), FrequencyRule::Default));
        QVERIFY(!plain.panel.slider("rotary_dim")->isHidden());
    }

    void truncateIsASwitch()
    {
        RopeConfig config = llama31();
        config.rule = FrequencyRule::Yarn;
        Bench bench(config);
        bench.panel.moreSection()->setOpen(true);
        auto* box = bench.panel.findChild<QCheckBox*>();
        QVERIFY(box && box->isChecked());
        box->setFocus();
        QTest::keyClick(box, Qt::Key_Space);
        QCOMPARE(bench.config.parameters.truncate, std::optional<bool>(false));
    }

    void wheelOverTheRuleOnlyScrolls()
    {
        Bench bench;
        QComboBox* box = bench.panel.ruleBox();
        bench.panel.slider("base")->track()->setFocus();
        const QPointF at = box->rect().center();
        QWheelEvent event(at, box->mapToGlobal(at), {}, {0, -120}, Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(box, &event);
        QCOMPARE(bench.config.rule, FrequencyRule::Llama3);
        QVERIFY(bench.order.isEmpty());
    }

    void sectionsFoldByClickAndKey()
    {
        Bench bench;
        ValueSlider* base = bench.panel.slider("base");
        auto* title = bench.panel.findChild<SectionTitle*>();
        QCOMPARE(title->text(), "Frequencies");
        QTest::mouseClick(title, Qt::LeftButton);
        QVERIFY(!base->isVisible());
        title->setFocus();
        QTest::keyClick(title, Qt::Key_Return);
        QVERIFY(base->isVisible());
    }

    void tabWalksFromTopToBottom()
    {
        Bench bench;
        bench.panel.slider("base")->track()->setFocus();
        int top = -1;
        QList<QWidget*> seen;
        for (int i = 0; i < 40; ++i) {
            QWidget* focus = QApplication::focusWidget();
            if (!focus || seen.contains(focus))
                break;
            seen += focus;
            // A slider's box stands on the line above its groove; otherwise it only goes down.
            const int y = focus->mapTo(bench.panel.widget(), QPoint(0, focus->height())).y();
            QVERIFY2(y > top - 24, qPrintable(focus->accessibleName()));
            QVERIFY2(!focus->accessibleName().isEmpty(), focus->metaObject()->className());
            top = std::max(top, y);
            QTest::keyClick(focus, Qt::Key_Tab);
            if (focus == bench.panel.layoutControl())
                break;
        }
        QVERIFY(seen.contains(bench.panel.layoutControl()));
        QVERIFY(seen.contains(bench.panel.ruleBox()));
        QVERIFY(seen.contains(bench.panel.slider("training_length")->box()));
    }

    void showingSaysNothing()
    {
        Bench bench;
        RopeConfig config = llama31();
        for (const FrequencyRuleInfo& rule : frequencyRules()) {
            config.rule = rule.rule;
            config.base *= 1.5;
            bench.set(config);
        }
        QVERIFY(bench.order.isEmpty());
        QVERIFY(bench.panel.config() == config);
    }

    void impossibleConfigurationsAreShown()
    {
        Bench bench;
        for (const int headDim : {-4, 0, 1, 127, 100000}) {
            RopeConfig config = llama31();
            config.headDim = headDim;
            bench.set(config);
            QVERIFY(!bench.panel.grab().isNull());
            QVERIFY(!bench.panel.slider("head_dim")->issue().isEmpty());
        }
        RopeConfig config = llama31();
        config.base = std::nan("");
        config.rotaryDim = 4000;
        bench.set(config);
        QVERIFY(!bench.panel.slider("base")->issue().isEmpty());
        QVERIFY(!bench.panel.slider("rotary_dim")->issue().isEmpty());
        QVERIFY(!bench.panel.grab().isNull());
    }
};

QTEST_MAIN(TestConfigPanel)
#include "test_config_panel.moc"
