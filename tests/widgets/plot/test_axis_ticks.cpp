// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot/axis_scale.h"
#include "widgets/plot/axis_ticks.h"

#include <QtTest>

#include <cmath>
#include <tuple>

using namespace ropewalk;

class TestAxisTicks : public QObject
{
    Q_OBJECT
private slots:
    /// Ends between which a step would be zero, or no step at all.
    void rangesThatNobodyCanDraw()
    {
        const auto extent = [](const QString& label) { return 6.0 * static_cast<double>(label.size()); };
        AxisSpec axis;
        axis.kind = AxisKind::Plain;
        for (const auto& [lower, upper, isLogarithmic] :
             {std::tuple(0.0, 5e-324, false), std::tuple(-1e-310, 1e-310, false),
              std::tuple(5e-324, 1e-300, true), std::tuple(0.0, 1.0, true), std::tuple(1.0, 1.0, false),
              std::tuple(1e300, 1e300 * (1 + 4e-16), false), std::tuple(-1.7e308, 1.7e308, false),
              std::tuple(0.0, std::nan(""), false)}) {
            axis.lower = lower;
            axis.upper = upper;
            axis.isLogarithmic = isLogarithmic;
            QVERIFY(!isDrawable(axis));
            QVERIFY(axisTicks(axis, 400.0, 8.0, extent).empty());
        }
        axis.isLogarithmic = false;
        axis.lower = -1e-280;
        axis.upper = 1e-280;
        QVERIFY(isDrawable(axis));
        QVERIFY(axisTicks(axis, 400.0, 8.0, extent).size() >= 3);
    }

    void tokenCounts_data();
    void tokenCounts();
    void labels_data();
    void labels();
    void keepApart();
};

void TestAxisTicks::tokenCounts_data()
{
    QTest::addColumn<double>("tokens");
    QTest::addColumn<QString>("label");
    QTest::newRow("0") << 0.0 << "0";
    QTest::newRow("ten") << 10.0 << "10";
    QTest::newRow("thousand") << 1000.0 << "1k";
    QTest::newRow("binary thousand") << 4096.0 << "4k";
    QTest::newRow("128k") << 131072.0 << "128k";
    QTest::newRow("decimal 128k") << 128000.0 << "128k";
    QTest::newRow("binary million") << 1048576.0 << "1M";
    QTest::newRow("million") << 1e6 << "1M";
    QTest::newRow("ten million") << 1e7 << "10M";
    QTest::newRow("half thousands") << 2500.0 << "2.5k";
    QTest::newRow("no round count") << 1707.0 << QStringLiteral("1\u202F707");
    QTest::newRow("many digits") << 46021.0 << QStringLiteral("46\u202F021");
}

void TestAxisTicks::tokenCounts()
{
    QFETCH(double, tokens);
    QTEST(tokenCountLabel(tokens), "label");
}

void TestAxisTicks::labels_data()
{
    QTest::addColumn<int>("kind");
    QTest::addColumn<bool>("isLogarithmic");
    QTest::addColumn<double>("lower");
    QTest::addColumn<double>("upper");
    QTest::addColumn<QString>("expected");
    const int tokens = static_cast<int>(AxisKind::Tokens);
    const int pair = static_cast<int>(AxisKind::Pair);
    const int plain = static_cast<int>(AxisKind::Plain);
    QTest::newRow("the first picture") << tokens << true << 1.0 << 131072.0 << "1 10 100 1k 10k 128k";
    QTest::newRow("up to ten million") << tokens << true << 1.0 << 1e7 << "1 10 100 1k 10k 100k 1M 10M";
    QTest::newRow("no power of two") << tokens << true << 1.0 << 50000.0 << "1 10 100 1k 10k";
    QTest::newRow("linear, binary") << tokens << false << 0.0 << 4096.0 << "0 1k 2k 3k 4k";
    QTest::newRow("linear, long") << tokens << false << 0.0 << 131072.0 << "0 32k 64k 96k 128k";
    QTest::newRow("linear, decimal") << tokens << false << 0.0 << 100000.0 << "0 20k 40k 60k 80k 100k";
    QTest::newRow("64 pairs") << pair << false << -0.5 << 63.5 << "0 8 16 24 32 40 48 56 63";
    QTest::newRow("one pair") << pair << false << -0.5 << 0.5 << "0";
    QTest::newRow("score") << plain << false << -0.4 << 1.05 << "−0.4 −0.2 0 0.2 0.4 0.6 0.8 1";
    QTest::newRow("tiny") << plain << false << -5e-27 << 5e-27 << "−4×10⁻²⁷ −2×10⁻²⁷ 0 2×10⁻²⁷ 4×10⁻²⁷";
    QTest::newRow("huge") << plain << false << 0.0 << 4e12 << "0 1×10¹² 2×10¹² 3×10¹² 4×10¹²";
    QTest::newRow("small") << plain << false << -0.02 << 0.02 << "−0.02 −0.01 0 0.01 0.02";
}

void TestAxisTicks::labels()
{
    QFETCH(int, kind);
    QFETCH(bool, isLogarithmic);
    QFETCH(double, lower);
    QFETCH(double, upper);
    const AxisSpec axis{{}, static_cast<AxisKind>(kind), isLogarithmic, lower, upper};
    auto ticks = axisTicks(axis, 390.0, 14.0, [](const QString& label) { return 6.5 * label.size(); });
    std::sort(ticks.begin(), ticks.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
    QStringList found;
    for (const AxisTick& tick : ticks) {
        QVERIFY(tick.value >= lower - 1e-9 * (upper - lower) && tick.value <= upper * (1 + 1e-9));
        if (!tick.label.isEmpty())
            found.append(tick.label);
    }
    QTEST(found.join(u' '), "expected");
}

void TestAxisTicks::keepApart()
{
    const auto extent = [](const QString& label) { return 7.0 * label.size(); };
    for (const bool isLogarithmic : {false, true})
        for (double upper = 3.0; upper < 2e7; upper *= 1.37)
            for (const double length : {40.0, 120.0, 400.0, 3000.0}) {
                const AxisSpec axis{{}, AxisKind::Tokens, isLogarithmic, isLogarithmic ? 1.0 : 0.0, upper};
                const AxisScale scale(axis, 0.0, length);
                auto ticks = axisTicks(axis, length, 10.0, extent);
                std::erase_if(ticks, [](const AxisTick& tick) { return tick.label.isEmpty(); });
                std::sort(ticks.begin(), ticks.end(),
                          [](const auto& a, const auto& b) { return a.value < b.value; });
                QVERIFY2(!ticks.empty(), qPrintable(QString::number(upper)));
                for (std::size_t i = 1; i < ticks.size(); ++i) {
                    const double apart = scale.toPixel(ticks[i].value) - scale.toPixel(ticks[i - 1].value);
                    QVERIFY(apart >= (extent(ticks[i].label) + extent(ticks[i - 1].label)) / 2 + 9.999);
                }
            }
}

QTEST_APPLESS_MAIN(TestAxisTicks)
#include "test_axis_ticks.moc"
