// SPDX-License-Identifier: GPL-3.0-or-later
// Readings to copy, and messages that queue.

#include "widgets/panels/message_bar.h"
#include "widgets/panels/number_label.h"
#include "widgets/panels/reading_panel.h"
#include "widgets/window_style.h"

#include <QApplication>
#include <QClipboard>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

using namespace ropewalk;

class TestPanelReadouts : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase() { applyWindowStyle(*qApp, {Theme::Light, 1.0}); }

    void readingIsShownAndCopied()
    {
        ReadingPanel panel;
        Reading reading;
        reading.pair = 12;
        reading.thetaRadians = 0.0853971012;
        reading.wavelengthTokens = 73.5761;
        reading.turnsInTraining = 111.3411;
        reading.trainingLength = 8192;
        reading.distance = -15;
        reading.distanceAngle = -1.2809565;
        reading.contribution = -0.00044812345678;
        reading.score = 0.736141172322345;
        panel.setReading(reading);
        panel.resize(292, panel.sizeHint().height());
        panel.show();
        QApplication::setActiveWindow(&panel);
        QCOMPARE(panel.valueLabel(0)->text(), QString::fromUtf8("θ = 0.085397"));
        QCOMPARE(panel.valueLabel(1)->text(), "73.58 tokens");
        QCOMPARE(panel.valueLabel(2)->text(), "111.3");
        QCOMPARE(panel.valueLabel(3)->text(), QString::fromUtf8("−15 × θ = −1.2810 rad"));
        QCOMPARE(panel.valueLabel(4)->text(), QString::fromUtf8("−0.000448123457"));
        QCOMPARE(panel.valueLabel(5)->text(), "0.736141172322");
        panel.valueLabel(5)->setFocus();
        QTest::keyClick(panel.valueLabel(5), Qt::Key_C, Qt::ControlModifier);
        QCOMPARE(QApplication::clipboard()->text().toDouble(), 0.736141172322345); // all its digits
        for (int row = 0; row < 6; ++row)
            QVERIFY(!panel.valueLabel(row)->accessibleName().isEmpty());
    }

    void stillPairAndNothing()
    {
        ReadingPanel panel;
        Reading reading;
        reading.pair = 40;
        reading.isStill = true;
        panel.setReading(reading);
        QCOMPARE(panel.valueLabel(0)->text(), "does not turn");
        QVERIFY(!panel.valueLabel(1)->isEnabled());
        panel.setReading(std::nullopt);
        for (int row = 0; row < 6; ++row)
            QVERIFY(!panel.valueLabel(row)->isEnabled());
    }

    void numberKeepsItsPlace()
    {
        NumberLabel label;
        label.setText("0.111");
        const int width = label.sizeHint().width();
        label.setText("0.888");
        QCOMPARE(label.sizeHint().width(), width);
    }

    void numbersLoseTheirLastDigitsFirst()
    {
        const QFontMetricsF metrics(NumberLabel().font());
        const auto fitted = [&](const char* text, double share) {
            const QString whole = QString::fromUtf8(text);
            double width = 0.0; // with each digit as wide as the widest
            for (const QChar digit : QStringLiteral("0123456789"))
                width = std::max(width, metrics.horizontalAdvance(digit));
            return fittedText(whole, metrics, share * width * static_cast<double>(whole.size()));
        };
        QCOMPARE(fitted("0.736141172322", 1.2), "0.736141172322");
        const QString fewer = fitted("0.736141172366", 0.7);
        QVERIFY2(fewer.startsWith("0.7361") && fewer.size() < 12, qPrintable(fewer));
        QVERIFY(std::fabs(fewer.toDouble() - 0.736141172366) <=
                0.5 * std::pow(10.0, 2.0 - static_cast<double>(fewer.size())));
        const QString negative = fitted("−0.996", 0.7);
        QVERIFY2(negative.startsWith("−1.0") || negative.startsWith("−0.99"), qPrintable(negative));
        const QString words = fitted("15 × 0.0854 = 1.2810 rad", 0.6);
        QVERIFY2(words.startsWith("15 × 0.08") && words.endsWith(u'…'), qPrintable(words));
    }

    void messagesQueue()
    {
        MessageBar bar;
        QSignalSpy triggered(&bar, &MessageBar::actionTriggered), dismissed(&bar, &MessageBar::dismissed);
        QVERIFY(bar.isHidden());
        bar.showMessage({"a", MessageKind::Warning, "first", {{"undo", "Undo"}}});
        bar.showMessage({"b", MessageKind::Error, "second", {}});
        QCOMPARE(bar.text(), "first");
        QCOMPARE(bar.messageCount(), 2);
        bar.showMessage({"a", MessageKind::Warning, "first, again", {{"undo", "Undo"}}});
        QCOMPARE(bar.text(), "first, again");
        QCOMPARE(bar.messageCount(), 2);
        QToolButton* undo = nullptr;
        for (QToolButton* button : bar.findChildren<QToolButton*>())
            if (button->text() == "Undo" && !button->isHidden())
                undo = button;
        QVERIFY(undo);
        QTest::mouseClick(undo, Qt::LeftButton);
        QCOMPARE(triggered.takeFirst(), (QList<QVariant>{"a", "undo"}));
        QCOMPARE(bar.text(), "second");
        QTest::keyClick(&bar, Qt::Key_Escape);
        QCOMPARE(dismissed.takeFirst()[0].toString(), "b");
        QVERIFY(bar.isHidden());
        bar.dismiss("never shown");
        QCOMPARE(dismissed.size(), 0);
    }

    void longMessageHasItsRoom()
    {
        MessageBar bar;
        bar.resize(300, 40);
        bar.showMessage({"a", MessageKind::Error, QString("a long sentence that goes on ").repeated(8), {}});
        QVERIFY(bar.heightForWidth(300) > bar.heightForWidth(2000));
    }
};

QTEST_MAIN(TestPanelReadouts)
#include "test_panel_readouts.moc"
