// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/message.h"

#include <QtTest>

#include <cmath>
#include <limits>

using namespace ropewalk;

class TestMessage : public QObject
{
    Q_OBJECT
private slots:
    /// Numbers for people: a minus (U+2212) where one is meant, a dash for what is no number.
    void numbers_data()
    {
        QTest::addColumn<double>("value");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("grouped");
        QTest::newRow("half") << 0.5 << "0.5"
                              << "0.5";
        QTest::newRow("below zero") << -0.125 << "\u22120.125"
                                    << "\u22120.125";
        QTest::newRow("whole") << -12345.0 << "\u221212345"
                               << "\u221212\u202F345";
        QTest::newRow("small") << -3.068932e-7 << "\u22123.06893e-07"
                               << "\u22123.06893e-07";
        QTest::newRow("no sign of nothing") << -0.0 << "0"
                                            << "0";
        QTest::newRow("infinite") << -std::numeric_limits<double>::infinity() << "–"
                                  << "–";
        QTest::newRow("no number") << std::nan("") << "–"
                                   << "–";
    }
    void numbers()
    {
        QFETCH(double, value);
        QFETCH(QString, text);
        QFETCH(QString, grouped);
        QCOMPARE(QString::fromStdString(shortNumber(value)), text);
        QCOMPARE(QString::fromStdString(groupedNumber(value)), grouped);
    }

    void valuesFillTheirPlaces()
    {
        const Message message{"{a} of {b}, {missing}", {{"a", "{b}"}, {"b", "x\ny"}}};
        QCOMPARE(toEnglish(message), std::string("{b} of x\uFFFDy, {missing}"));
    }
};

QTEST_APPLESS_MAIN(TestMessage)
#include "test_message.moc"
