// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot/axis_range.h"
#include "widgets/plot/axis_scale.h"

#include <QtTest>

using namespace ropewalk;

class TestAxisRange : public QObject
{
    Q_OBJECT
private slots:
    void zoomKeepsThePointer_data();
    void zoomKeepsThePointer();
    void staysWithinHome();
    void movesWhatIsHeld();
    void knowsWhatWasComputedAnew();
};

void TestAxisRange::zoomKeepsThePointer_data()
{
    QTest::addColumn<bool>("isLogarithmic");
    QTest::addColumn<double>("lower");
    QTest::addColumn<double>("upper");
    QTest::addColumn<double>("at");
    QTest::newRow("linear") << false << -1.0 << 3.0 << 0.7;
    QTest::newRow("logarithmic") << true << 1.0 << 131072.0 << 1707.0;
}

void TestAxisRange::zoomKeepsThePointer()
{
    QFETCH(bool, isLogarithmic);
    QFETCH(double, lower);
    QFETCH(double, upper);
    QFETCH(double, at);
    AxisSpec axis{{}, AxisKind::Plain, isLogarithmic, lower, upper};
    const double before = AxisScale(axis, 0.0, 1000.0).toPixel(at);
    const AxisEnds ends = zoomed(axis, {lower, upper}, {lower, upper}, at, 0.5);
    AxisSpec close = axis;
    close.lower = ends.first;
    close.upper = ends.second;
    QVERIFY(std::fabs(AxisScale(close, 0.0, 1000.0).toPixel(at) - before) < 1e-6);
    // Half of the extent is seen, in the space in which the axis is even.
    const auto extent = [&](double a, double b) { return isLogarithmic ? std::log(b / a) : b - a; };
    QVERIFY(std::fabs(extent(ends.first, ends.second) / extent(lower, upper) - 0.5) < 1e-12);
    // And back.
    const AxisEnds back = zoomed(axis, ends, {lower, upper}, at, 2.0);
    QCOMPARE(back, AxisEnds(lower, upper));
}

void TestAxisRange::staysWithinHome()
{
    const AxisSpec axis{{}, AxisKind::Tokens, false, 0.0, 4096.0};
    const AxisEnds home{0.0, 4096.0};
    AxisEnds ends = home;
    for (int i = 0; i < 60; ++i) {
        ends = zoomed(axis, ends, home, 17.0, 0.8);
        QVERIFY(ends.first >= 0.0 && ends.second <= 4096.0);
    }
    QVERIFY(std::fabs(ends.second - ends.first - 2.0) < 1e-9); // two tokens can still be told apart
    QVERIFY(ends.first <= 17.0 && ends.second >= 17.0);
    // Outwards at an edge the range is moved, not cut.
    ends = zoomed(axis, {0.0, 100.0}, home, 100.0, 2.0);
    QCOMPARE(ends, AxisEnds(0.0, 200.0));
    QCOMPARE(zoomed(axis, ends, home, 50.0, 1e6), home);
}

void TestAxisRange::movesWhatIsHeld()
{
    const AxisSpec linear{{}, AxisKind::Plain, false, 0.0, 10.0};
    QCOMPARE(moved(linear, {2.0, 4.0}, {0.0, 10.0}, 3.0, 3.5), AxisEnds(1.5, 3.5));
    QCOMPARE(moved(linear, {2.0, 4.0}, {0.0, 10.0}, 3.0, 9.0), AxisEnds(0.0, 2.0));
    QCOMPARE(moved(linear, {0.0, 10.0}, {0.0, 10.0}, 3.0, 4.0), AxisEnds(0.0, 10.0));
    const AxisSpec logarithmic{{}, AxisKind::Plain, true, 1.0, 1e6};
    const AxisEnds ends = moved(logarithmic, {100.0, 1000.0}, {1.0, 1e6}, 200.0, 100.0);
    QVERIFY(std::fabs(ends.first / 200.0 - 1.0) < 1e-12 && std::fabs(ends.second / 2000.0 - 1.0) < 1e-12);
}

void TestAxisRange::knowsWhatWasComputedAnew()
{
    QVERIFY(isAbout(AxisEnds(100.3, 356.8), AxisEnds(100.0, 357.0)));
    QVERIFY(!isAbout(AxisEnds(100.3, 356.8), AxisEnds(0.0, 512.0)));
    QVERIFY(!isAbout(AxisEnds(0.2, 0.4), AxisEnds(0.0, 1.0)));
}

QTEST_APPLESS_MAIN(TestAxisRange)
#include "test_axis_range.moc"
