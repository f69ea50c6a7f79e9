// SPDX-License-Identifier: GPL-3.0-or-later
// One slider under real mouse, wheel and key events.

#include "widgets/panels/number_edit.h"
#include "widgets/panels/slider_track.h"
#include "widgets/panels/value_slider.h"
#include "widgets/window_style.h"

#include <QAccessible>
#include <QApplication>
#include <QSignalSpy>
#include <QTest>
#include <QVBoxLayout>
#include <QWheelEvent>

#include <cmath>

using namespace ropewalk;

namespace {

const SliderScale kBase{SliderScale::Kind::Logarithmic, 1e3, 1e9, 0.0, 1.0000001, 1e300};

/// A slider in a window with a second widget that can take the focus.
struct Bench
{
    QStringList order; ///< of the signals; outlives the window, which may still say that an edit ends
    QWidget window;
    ValueSlider* slider;
    QLineEdit* other;
    QSignalSpy changed, started, finished, cleared;

    explicit Bench(const SliderScale& scale = kBase)
        : slider(new ValueSlider("base", scale))
        , other(new QLineEdit)
        , changed(slider, &ValueSlider::valueChanged)
        , started(slider, &ValueSlider::editingStarted)
        , finished(slider, &ValueSlider::editingFinished)
        , cleared(slider, &ValueSlider::cleared)
    {
        auto* layout = new QVBoxLayout(&window);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->addWidget(slider);
        layout->addWidget(other);
        window.resize(292, 120);
        QObject::connect(slider, &ValueSlider::editingStarted, slider, [this] { order += "started"; });
        QObject::connect(slider, &ValueSlider::valueChanged, slider, [this] { order += "changed"; });
        QObject::connect(slider, &ValueSlider::editingFinished, slider, [this] { order += "finished"; });
        slider->setOriginal(1e6);
        slider->setValue(1e6);
        window.show();
        QApplication::setActiveWindow(&window);
        other->setFocus();
    }

    SliderTrack* track() const { return slider->track(); }
    NumberEdit* box() const { return slider->box(); }

    void type(const QString& text)
    {
        box()->setFocus();
        QApplication::processEvents();
        box()->selectAll();
        QTest::keyClicks(box(), text);
    }

    void wheel(int delta)
    {
        const QPointF at = track()->rect().center();
        QWheelEvent event(at, track()->mapToGlobal(at), {}, {0, delta}, Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(track(), &event);
    }
};

} // namespace

class TestValueSlider : public QObject
{
    Q_OBJECT
private slots:
    void dragIsOneEditWithLiveValues()
    {
        Bench bench;
        const QPoint knob = bench.track()->knobCentre();
        QTest::mousePress(bench.track(), Qt::LeftButton, {}, knob);
        QCOMPARE(bench.started.size(), 1);
        QCOMPARE(bench.changed.size(), 0); // gripping the knob moves nothing
        for (int x = 4; x <= 40; x += 4)
            QTest::mouseMove(bench.track(), knob + QPoint(x, 0));
        QVERIFY(bench.changed.size() >= 8); // live
        QCOMPARE(bench.finished.size(), 0);
        double before = 1e6;
        for (const auto& arguments : bench.changed) {
            QVERIFY(arguments[0].toDouble() > before);
            before = arguments[0].toDouble();
        }
        QTest::mouseRelease(bench.track(), Qt::LeftButton, {}, knob + QPoint(40, 0));
        QCOMPARE(bench.started.size(), 1);
        QCOMPARE(bench.finished.size(), 1);
        QCOMPARE(bench.order.first(), "started");
        QCOMPARE(bench.order.last(), "finished");
        // The groove is 260 px for six decades.
        const double expected = std::pow(10.0, 6.0 + 40.0 * 6.0 / 260.0);
        QVERIFY(std::fabs(bench.slider->value() / expected - 1.0) < 0.03);
        QCOMPARE(bench.box()->value(), bench.slider->value());
    }

    void pressOnTheGrooveBringsTheKnob()
    {
        Bench bench;
        QTest::mouseClick(bench.track(), Qt::LeftButton, {}, QPoint(8 + 65, bench.track()->height() / 2));
        QCOMPARE(bench.changed.size(), 1);
        QVERIFY(std::fabs(bench.slider->value() / std::pow(10.0, 4.5) - 1.0) < 0.03);
        QCOMPARE(bench.order, (QStringList{"started", "changed", "finished"}));
    }

    void dragMeetsTheOriginalExactly()
    {
        Bench bench;
        bench.slider->setOriginal(123456.0);
        const QPoint knob = bench.track()->knobCentre();
        QTest::mousePress(bench.track(), Qt::LeftButton, {}, knob);
        bool isMet = false;
        for (int x = 0; x >= -60; --x) {
            QTest::mouseMove(bench.track(), knob + QPoint(x, 0));
            isMet = isMet || bench.slider->value() == 123456.0;
        }
        QTest::mouseRelease(bench.track(), Qt::LeftButton, {}, knob);
        QVERIFY(isMet);
    }

    void keysStepAndMerge()
    {
        Bench bench;
        bench.track()->setFocus();
        QTest::keyClick(bench.track(), Qt::Key_Right);
        QCOMPARE(bench.slider->value(), 1.15e6); // 1 % of six decades is a factor 10^0.06 = 1.148
        QTest::keyClick(bench.track(), Qt::Key_Left);
        QVERIFY(std::fabs(bench.slider->value() / 1e6 - 1.0) < 0.01);
        bench.slider->setValue(1e6);
        QTest::keyClick(bench.track(), Qt::Key_PageUp);
        QCOMPARE(bench.slider->value(), 3.98e6); // 10^0.6
        bench.slider->setValue(1e6);
        QTest::keyClick(bench.track(), Qt::Key_PageDown);
        QCOMPARE(bench.slider->value(), 2.51e5);
        QTest::keyClick(bench.track(), Qt::Key_End);
        QCOMPARE(bench.slider->value(), 1e9);
        QTest::keyClick(bench.track(), Qt::Key_Home);
        QCOMPARE(bench.slider->value(), 1e3);
        QCOMPARE(bench.started.size(), 1);
        QCOMPARE(bench.finished.size(), 0);
        QTRY_COMPARE_WITH_TIMEOUT(bench.finished.size(), 1, 2000);
        QTest::keyClick(bench.track(), Qt::Key_Right);
        QCOMPARE(bench.started.size(), 2); // after the pause it is another edit
        bench.other->setFocus();
        QCOMPARE(bench.finished.size(), 2); // leaving ends it at once
    }

    void linearKeys()
    {
        Bench bench({SliderScale::Kind::Linear, 0.0, 200.0, 1.0, 0.0, 200.0});
        bench.slider->setValue(100.0);
        bench.track()->setFocus();
        QTest::keyClick(bench.track(), Qt::Key_Up);
        QCOMPARE(bench.slider->value(), 102.0);
        QTest::keyClick(bench.track(), Qt::Key_PageDown);
        QCOMPARE(bench.slider->value(), 82.0);
    }

    void doubleClickRestores()
    {
        Bench bench;
        bench.slider->setOriginal(500000.0);
        QVERIFY(bench.slider->isChanged());
        QTest::mouseDClick(bench.track(), Qt::LeftButton, {}, bench.track()->knobCentre());
        QCOMPARE(bench.slider->value(), 500000.0);
        QVERIFY(!bench.slider->isChanged());
        QCOMPARE(bench.changed.size(), 1);
        QCOMPARE(bench.started.size(), bench.finished.size());
    }

    void changedValueHasADot()
    {
        Bench bench;
        const auto dotColour = [&] { return bench.slider->grab().toImage().pixelColor(9, 12); };
        const QColor before = dotColour();
        bench.slider->setValue(2e6);
        QVERIFY(dotColour() != before);
        QCOMPARE(dotColour().rgb(), windowColours().accent.rgb());
    }

    void wheelOnlyWithFocus()
    {
        Bench bench;
        bench.wheel(120);
        QCOMPARE(bench.changed.size(), 0);
        bench.track()->setFocus();
        bench.wheel(120);
        bench.wheel(120);
        QCOMPARE(bench.changed.size(), 2);
        QCOMPARE(bench.started.size(), 1);
        bench.wheel(60); // half a notch of a fine wheel
        QCOMPARE(bench.changed.size(), 2);
        bench.wheel(60);
        QCOMPARE(bench.changed.size(), 3);
    }

    void boxAcceptsBeyondTheSlider()
    {
        Bench bench;
        bench.type("1e12");
        QTest::keyClick(bench.box(), Qt::Key_Return);
        QCOMPARE(bench.slider->value(), 1e12);
        QCOMPARE(bench.order, (QStringList{"started", "changed", "finished"}));
        QCOMPARE(bench.track()->fraction(), 1.0);
    }

    void boxCommitsOnLeaving()
    {
        Bench bench;
        bench.type("500 000");
        bench.other->setFocus();
        QCOMPARE(bench.slider->value(), 500000.0);
    }

    void boxRefusesNonsense_data()
    {
        QTest::addColumn<QString>("text");
        QTest::newRow("word") << "many";
        QTest::newRow("nothing") << " ";
        QTest::newRow("below the limit") << "0.5";
        QTest::newRow("nan") << "nan";
    }

    void boxRefusesNonsense()
    {
        QFETCH(QString, text);
        Bench bench;
        bench.slider->setExpectation("a number above 1");
        const int height = bench.slider->heightForWidth(292);
        bench.type(text);
        QTest::keyClick(bench.box(), Qt::Key_Return);
        QCOMPARE(bench.slider->value(), 1e6);
        QCOMPARE(bench.changed.size(), 0);
        QVERIFY(bench.slider->issue().contains("expected a number above 1"));
        QVERIFY(bench.slider->heightForWidth(292) > height); // the message has its room
        bench.other->setFocus();
        QCOMPARE(bench.box()->text(), "1000000"); // the old value stands
        QVERIFY(!bench.slider->issue().isEmpty());
        bench.type("2e6");
        QTest::keyClick(bench.box(), Qt::Key_Return);
        QVERIFY(bench.slider->issue().isEmpty());
        QCOMPARE(bench.slider->value(), 2e6);
    }

    void evenNumbersOnly()
    {
        Bench bench({SliderScale::Kind::Linear, 2.0, 512.0, 2.0, 2.0, 8192.0});
        bench.slider->setValue(128.0);
        bench.type("127");
        QTest::keyClick(bench.box(), Qt::Key_Return);
        QCOMPARE(bench.slider->value(), 128.0);
        QVERIFY(bench.slider->issue().contains("even number"));
    }

    void escapeRestoresTheText()
    {
        Bench bench;
        bench.type("77");
        QTest::keyClick(bench.box(), Qt::Key_Escape);
        QCOMPARE(bench.box()->text(), "1000000");
        bench.other->setFocus();
        QCOMPARE(bench.changed.size(), 0);
    }

    void typingIsNotOverwritten()
    {
        Bench bench;
        bench.type("77");
        bench.slider->setValue(3e6); // e.g. the answer to an earlier edit
        QCOMPARE(bench.box()->text(), "77");
    }

    void optionalValueCanBeUnstated()
    {
        Bench bench;
        bench.slider->setOptional(true);
        bench.slider->setOriginal(std::nullopt);
        bench.slider->setUnstated(4.0);
        QVERIFY(!bench.slider->isStated());
        QVERIFY(!bench.slider->isChanged());
        bench.type("2000");
        QTest::keyClick(bench.box(), Qt::Key_Return);
        QVERIFY(bench.slider->isStated());
        QVERIFY(bench.slider->isChanged());
        bench.type("");
        QTest::keyClick(bench.box(), Qt::Key_Backspace);
        QTest::keyClick(bench.box(), Qt::Key_Return);
        QCOMPARE(bench.cleared.size(), 1);
        QVERIFY(!bench.slider->isStated());
        bench.slider->setValue(3000.0);
        bench.track()->setFocus();
        QTest::keyClick(bench.track(), Qt::Key_Delete);
        QCOMPARE(bench.cleared.size(), 2);
    }

    void settingSaysNothing()
    {
        Bench bench;
        bench.slider->setValue(5e5);
        bench.slider->setIssue("wrong", true);
        QCOMPARE(bench.changed.size() + bench.started.size() + bench.finished.size(), 0);
    }

    void screenReaderHearsNameAndValue()
    {
        Bench bench;
        bench.slider->setValue(5e5);
        QAccessibleInterface* face = QAccessible::queryAccessibleInterface(bench.track());
        QVERIFY(face);
        QCOMPARE(face->role(), QAccessible::Slider);
        QCOMPARE(face->text(QAccessible::Name), "base");
        QVERIFY(face->valueInterface());
        QCOMPARE(face->valueInterface()->currentValue().toDouble(), 5e5);
        QVERIFY(!bench.box()->accessibleName().isEmpty());
    }

    void initTestCase() { applyWindowStyle(*qApp, {Theme::Light, 1.0}); }
};

QTEST_MAIN(TestValueSlider)
#include "test_value_slider.moc"
