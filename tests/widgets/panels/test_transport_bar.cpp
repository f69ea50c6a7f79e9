// SPDX-License-Identifier: GPL-3.0-or-later
// Positions and their lock, by function and by mouse.

#include "widgets/panels/number_edit.h"
#include "widgets/panels/slider_track.h"
#include "widgets/panels/transport_bar.h"
#include "widgets/window_style.h"

#include <QAbstractButton>
#include <QApplication>
#include <QComboBox>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

using namespace ropewalk;

class TestTransportBar : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase() { applyWindowStyle(*qApp, {Theme::Light, 1.0}); }

    void lockedArithmetic_data()
    {
        QTest::addColumn<qint64>("m");
        QTest::addColumn<qint64>("n");
        QTest::addColumn<qint64>("target");
        QTest::addColumn<bool>("movesKey");
        QTest::addColumn<qint64>("newM");
        QTest::addColumn<qint64>("newN");
        const qint64 most = 100'000'000;
        const auto row = [](const char* name, qint64 m, qint64 n, qint64 target, bool key, qint64 newM,
                            qint64 newN) { QTest::newRow(name) << m << n << target << key << newM << newN; };
        row("m forward", 40, 25, 1000, false, 1000, 985);
        row("n forward", 40, 25, 1000, true, 1015, 1000);
        row("m would push n below 0", 40, 25, 3, false, 15, 0);
        row("n to 0", 40, 25, 0, true, 15, 0);
        row("n below 0", 40, 25, -7, true, 15, 0);
        row("negative distance, m to 0", 25, 40, 0, false, 0, 15);
        row("negative distance, n would push m below 0", 25, 40, 3, true, 0, 15);
        row("m at the upper end", 40, 25, most + 5, false, most, most - 15);
        row("n would push m beyond", 40, 25, most, true, most, most - 15);
        row("negative distance, m would push n beyond", 25, 40, most, false, most - 15, most);
        row("distance 0", 9, 9, 4, false, 4, 4);
    }

    void lockedArithmetic()
    {
        QFETCH(qint64, m);
        QFETCH(qint64, n);
        QFETCH(qint64, target);
        QFETCH(bool, movesKey);
        QFETCH(qint64, newM);
        QFETCH(qint64, newN);
        QCOMPARE(movedTogether({m, n}, target, movesKey), (Positions{newM, newN}));
    }

    void dragKeepsTheDistance()
    {
        TransportBar bar;
        bar.resize(732, bar.heightForWidth(732));
        bar.setPositions(40, 25);
        bar.setLocked(true);
        bar.show();
        QSignalSpy moved(&bar, &TransportBar::positionsChanged);
        QSignalSpy started(&bar, &TransportBar::editingStarted),
            finished(&bar, &TransportBar::editingFinished);
        SliderTrack* track = bar.querySlider();
        const QPoint knob = track->knobCentre();
        QTest::mousePress(track, Qt::LeftButton, {}, knob);
        for (int x = -60; x <= 60; ++x)
            QTest::mouseMove(track, knob + QPoint(x, 0));
        QTest::mouseRelease(track, Qt::LeftButton, {}, knob);
        QVERIFY(moved.size() > 20);
        bool wasAtZero = false;
        for (const auto& arguments : moved) {
            QCOMPARE(arguments[0].toLongLong() - arguments[1].toLongLong(), 15);
            QVERIFY(arguments[1].toLongLong() >= 0);
            wasAtZero = wasAtZero || arguments[1].toLongLong() == 0;
        }
        QVERIFY(wasAtZero);
        QCOMPARE(started.size(), 1);
        QCOMPARE(finished.size(), 1);
    }

    void freePositionsMoveAlone()
    {
        TransportBar bar;
        bar.resize(732, bar.heightForWidth(732));
        bar.setPositions(40, 25);
        bar.setLocked(false);
        bar.show();
        QApplication::setActiveWindow(&bar);
        QSignalSpy moved(&bar, &TransportBar::positionsChanged);
        bar.keySlider()->setFocus();
        QTest::keyClick(bar.keySlider(), Qt::Key_Home);
        QCOMPARE(moved.last()[0].toLongLong(), 40);
        QCOMPARE(moved.last()[1].toLongLong(), 0);
        bar.queryBox()->setFocus();
        bar.queryBox()->selectAll();
        QTest::keyClicks(bar.queryBox(), "128k");
        QTest::keyClick(bar.queryBox(), Qt::Key_Return);
        QCOMPARE(moved.last()[0].toLongLong(), 131072);
        bar.queryBox()->selectAll();
        QTest::keyClicks(bar.queryBox(), "100 000 000");
        QTest::keyClick(bar.queryBox(), Qt::Key_Return);
        QCOMPARE(moved.last()[0].toLongLong(), 100'000'000);
        const auto count = moved.size();
        for (const char* text : {"100000001", "-1", "1.5", "far"}) {
            bar.queryBox()->selectAll();
            QTest::keyClicks(bar.queryBox(), text);
            QTest::keyClick(bar.queryBox(), Qt::Key_Return);
        }
        QCOMPARE(moved.size(), count);
    }

    void boxWithLockShowsWhereItLies()
    {
        TransportBar bar;
        bar.setPositions(40, 25);
        bar.setLocked(true);
        bar.show();
        QApplication::setActiveWindow(&bar);
        bar.queryBox()->setFocus();
        bar.queryBox()->selectAll();
        QTest::keyClicks(bar.queryBox(), "3");
        QTest::keyClick(bar.queryBox(), Qt::Key_Return);
        QCOMPARE(bar.queryBox()->value(), 15.0);
        QCOMPARE(bar.queryBox()->text(), "15");
        QCOMPARE(bar.keyBox()->value(), 0.0);
    }

    void buttonsSayWhatIsWanted()
    {
        TransportBar bar;
        bar.resize(732, bar.heightForWidth(732));
        bar.show();
        QApplication::setActiveWindow(&bar);
        QSignalSpy played(&bar, &TransportBar::playToggled), locked(&bar, &TransportBar::lockToggled),
            paired(&bar, &TransportBar::pairChanged), sped(&bar, &TransportBar::speedChanged);
        QTest::mouseClick(bar.playButton(), Qt::LeftButton);
        QCOMPARE(played.takeFirst()[0].toBool(), true);
        QCOMPARE(bar.playButton()->accessibleName(), "pause");
        bar.playButton()->setFocus();
        QTest::keyClick(bar.playButton(), Qt::Key_Space);
        QCOMPARE(played.takeFirst()[0].toBool(), false);
        QTest::mouseClick(bar.lockButton(), Qt::LeftButton);
        QCOMPARE(locked.takeFirst()[0].toBool(), false);
        QVERIFY(bar.lockButton()->text().contains("free"));
        QTest::keyClick(bar.pairBox(), Qt::Key_Up);
        QCOMPARE(paired.takeFirst()[0].toInt(), 13);
        bar.setPair(5, 32);
        QCOMPARE(paired.size(), 0);
        QCOMPARE(bar.pairBox()->maximum(), 31);
        QTest::keyClick(bar.speedBox(), Qt::Key_Down);
        QCOMPARE(sped.takeFirst()[0].toDouble(), 2.0);
        bar.setSpeed(64.0);
        bar.setLocked(true);
        bar.setPlaying(true);
        QCOMPARE(played.size() + locked.size() + sped.size(), 0);
    }

    void breaksIntoLinesRatherThanOverlapping_data()
    {
        QTest::addColumn<double>("scale");
        QTest::addColumn<int>("width");
        QTest::newRow("1024 wide") << 1.0 << 732;
        QTest::newRow("1280 wide") << 1.0 << 988;
        QTest::newRow("large text") << 1.5 << 586;
        QTest::newRow("largest text") << 2.5 << 732;
    }

    void breaksIntoLinesRatherThanOverlapping()
    {
        QFETCH(double, scale);
        QFETCH(int, width);
        applyWindowStyle(*qApp, {Theme::Light, scale});
        TransportBar bar;
        bar.resize(width, bar.heightForWidth(width));
        bar.show();
        QApplication::processEvents();
        const QList<QWidget*> parts{bar.playButton(), bar.querySlider(), bar.queryBox(), bar.keySlider(),
                                    bar.keyBox(),     bar.lockButton(),  bar.pairBox(),  bar.speedBox()};
        for (const QWidget* part : parts) {
            QVERIFY2(bar.rect().contains(part->geometry()), qPrintable(part->accessibleName()));
            QVERIFY(!part->accessibleName().isEmpty());
            for (const QWidget* other : parts)
                QVERIFY(part == other || !part->geometry().intersects(other->geometry()));
        }
        if (scale == 1.0)
            QVERIFY(bar.height() <= 52); // one line at 1024
        applyWindowStyle(*qApp, {Theme::Light, 1.0});
    }
};

QTEST_MAIN(TestTransportBar)
#include "test_transport_bar.moc"
