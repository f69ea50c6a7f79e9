// SPDX-License-Identifier: GPL-3.0-or-later
// What a person may type into a number box, and how a slider's way maps to values.

#include "widgets/panels/number_text.h"
#include "widgets/panels/slider_scale.h"
#include "widgets/panels/tabular_text.h"
#include "widgets/window_style.h"

#include <QTest>

#include <cmath>

using namespace ropewalk;

namespace {

const SliderScale kBase{SliderScale::Kind::Logarithmic, 1e3, 1e9, 0.0, 1.0, 1e300};
const SliderScale kPosition{SliderScale::Kind::LogOnePlus, 0.0, 131072.0, 1.0, 0.0, 1e8};
const SliderScale kEven{SliderScale::Kind::Linear, 2.0, 512.0, 2.0, 2.0, 8192.0};
const SliderScale kShare{SliderScale::Kind::Linear, 0.5, 2.0, 0.0, 0.0, 1e9};

} // namespace

class TestPanelNumbers : public QObject
{
    Q_OBJECT
private slots:
    void parses_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<bool>("isToken");
        QTest::addColumn<double>("value"); // NaN: refused
        const double refused = std::nan("");
        QTest::newRow("plain") << "500000" << false << 500000.0;
        QTest::newRow("exponent") << "1e6" << false << 1e6;
        QTest::newRow("exponent with sign") << "2.5E-3" << false << 2.5e-3;
        QTest::newRow("spaces") << "500 000" << false << 500000.0;
        QTest::newRow("narrow spaces") << QString::fromUtf8("1\u202F048\u202F576") << false << 1048576.0;
        QTest::newRow("commas") << "1,048,576" << false << 1048576.0;
        QTest::newRow("decimal") << " 0.0854 " << false << 0.0854;
        QTest::newRow("grouped decimal") << "1 234.5" << false << 1234.5;
        QTest::newRow("minus") << QString::fromUtf8("\u22123") << false << -3.0;
        QTest::newRow("k, decimal") << "500k" << false << 500000.0;
        QTest::newRow("k, tokens") << "128k" << true << 131072.0;
        QTest::newRow("M, tokens") << "1M" << true << 1048576.0;
        QTest::newRow("K, space") << "8 K" << true << 8192.0;
        QTest::newRow("nothing") << "" << false << refused;
        QTest::newRow("word") << "many" << false << refused;
        QTest::newRow("decimal comma") << "0,085" << false << refused;
        QTest::newRow("wrong groups") << "12 34" << false << refused;
        QTest::newRow("two kinds of groups") << "1 048,576" << false << refused;
        QTest::newRow("two numbers") << "1 2" << false << refused;
        QTest::newRow("hexadecimal") << "0x10" << false << refused;
        QTest::newRow("inf") << "inf" << false << refused;
        QTest::newRow("nan") << "nan" << false << refused;
        QTest::newRow("too large") << "1e999" << false << refused;
        QTest::newRow("too large by suffix") << "1e307k" << false << refused;
        QTest::newRow("suffix alone") << "k" << false << refused;
        QTest::newRow("trailing") << "12x" << false << refused;
    }

    void parses()
    {
        QFETCH(QString, text);
        QFETCH(bool, isToken);
        QFETCH(double, value);
        const auto number = parseNumber(text, isToken ? Suffix::Tokens : Suffix::Decimal);
        QCOMPARE(number.has_value(), !std::isnan(value));
        if (number)
            QCOMPARE(*number, value);
    }

    void editedTextIsExact_data()
    {
        QTest::addColumn<double>("value");
        QTest::newRow("whole") << 500000.0;
        QTest::newRow("third") << 1.0 / 3.0;
        QTest::newRow("small") << 3.0689315571e-07;
        QTest::newRow("large") << 1e300;
        QTest::newRow("just above one") << std::nextafter(1.0, 2.0);
    }

    void editedTextIsExact()
    {
        QFETCH(double, value);
        const auto read = parseNumber(exactNumber(value));
        QVERIFY(read.has_value());
        QCOMPARE(*read, value);
    }

    void shownTextIsGrouped()
    {
        QCOMPARE(shownNumber(500000.0), QString::fromUtf8("500\u202F000"));
        QCOMPARE(shownNumber(-1.5), QString::fromUtf8("\u22121.5"));
        QCOMPARE(shownNumber(0.0853971, 4), QStringLiteral("0.0854"));
    }

    void logarithmIsEven()
    {
        QCOMPARE(fractionOf(kBase, 1e3), 0.0);
        QCOMPARE(fractionOf(kBase, 1e6), 0.5);
        QCOMPARE(fractionOf(kBase, 1e9), 1.0);
        QCOMPARE(valueAt(kBase, 0.5), 1e6);
        QCOMPARE(fractionOf(kBase, 2.0), 0.0); // beyond the handy range lies at its end
        QCOMPARE(fractionOf(kBase, 1e12), 1.0);
    }

    void positionsStartAtZero()
    {
        QCOMPARE(valueAt(kPosition, 0.0), 0.0);
        QCOMPARE(valueAt(kPosition, 1.0), 131072.0);
        QVERIFY(std::fabs(fractionOf(kPosition, 361.0) - 0.5) < 1e-3); // √131073 - 1
        QCOMPARE(stepped(kPosition, 0.0, 0.01), 1.0);
        QCOMPARE(stepped(kPosition, 1.0, -0.01), 0.0);
    }

    void everyFractionGivesAValueOfTheScale_data()
    {
        QTest::addColumn<int>("which");
        QTest::newRow("base") << 0;
        QTest::newRow("position") << 1;
        QTest::newRow("even") << 2;
        QTest::newRow("share") << 3;
    }

    void everyFractionGivesAValueOfTheScale()
    {
        QFETCH(int, which);
        const SliderScale scale = which == 0 ? kBase : which == 1 ? kPosition : which == 2 ? kEven : kShare;
        double before = scale.lowest;
        for (int i = 0; i <= 1000; ++i) {
            const double value = valueAt(scale, i / 1000.0);
            QVERIFY(value >= before); // never backwards
            QVERIFY(value >= scale.lowest && value <= scale.highest);
            if (scale.unit > 0.0)
                QCOMPARE(std::fmod(value, scale.unit), 0.0);
            QVERIFY(exactNumber(value).size() <= 10); // what a hand sets has no more digits than it can mean
            QVERIFY(std::fabs(fractionOf(scale, value) - i / 1000.0) < (scale.unit > 0.0 ? 0.04 : 0.003));
            before = value;
        }
    }

    void stepsAlwaysMove()
    {
        for (double value = 2.0; value < 512.0; value += 2.0) {
            QVERIFY(stepped(kEven, value, 0.01) > value);
            QVERIFY(stepped(kEven, value + 2.0, -0.01) < value + 2.0);
        }
        for (double value = 0.0; value < 131072.0; value = value * 1.3 + 1.0) {
            const double whole = std::floor(value);
            QVERIFY(stepped(kPosition, whole, 0.01) > whole);
            QVERIFY(stepped(kPosition, whole + 1.0, -0.01) < whole + 1.0);
        }
    }

    void beyondTheRange()
    {
        QCOMPARE(stepped(kBase, 1e12, 0.01), 1e12);
        QCOMPARE(stepped(kBase, 1e12, -0.01), 1e9);
        QCOMPARE(stepped(kBase, 2.0, 0.01), 1e3);
    }

    void digitsDoNotMoveTheWidth()
    {
        const QFontMetricsF metrics(windowFont(TextRole::Control));
        const double width = tabularWidth(metrics, "0.111 111");
        for (const char* text : {"0.000 000", "0.888 888", "0.123 456"})
            QCOMPARE(tabularWidth(metrics, text), width);
    }
};

QTEST_MAIN(TestPanelNumbers)
#include "test_panel_numbers.moc"
