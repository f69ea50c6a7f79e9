// SPDX-License-Identifier: GPL-3.0-or-later
// Fifteen figures in one line: tabs of those in use, a menu of all, one, two or four.

#include "widgets/panels/figure_bar.h"
#include "widgets/panels/segmented_control.h"
#include "widgets/window_style.h"

#include <QAction>
#include <QApplication>
#include <QMenu>
#include <QSignalSpy>
#include <QTabBar>
#include <QTest>
#include <QToolButton>

using namespace ropewalk;

namespace {

QList<FigureChoice> fifteen()
{
    QList<FigureChoice> figures;
    for (const char* id :
         {"plane", "spectrum", "angles", "decay", "scores", "pairs", "channels", "temperature", "range",
          "encodings", "clusters", "precision", "layouts", "sweep", "results"})
        figures.append({id, QString(id).replace(0, 1, QChar(id[0]).toUpper()),
                        figures.size() < 9 ? QString::number(figures.size() + 1) : QString()});
    return figures;
}

QStringList tabTexts(const FigureBar& bar)
{
    QStringList texts;
    for (int i = 0; i < bar.tabs()->count(); ++i)
        texts += bar.tabs()->tabText(i);
    return texts;
}

} // namespace

class TestFigureBar : public QObject
{
    Q_OBJECT
private slots:
    void cleanup() { applyWindowStyle(*qApp, {Theme::Light, 1.0}); }

    void tabsAreWhatIsInUse()
    {
        FigureBar bar(fifteen());
        bar.resize(800, 34);
        bar.show();
        QSignalSpy chosen(&bar, &FigureBar::figureChosen);
        bar.setShown("overview", {"plane", "decay"});
        QCOMPARE(tabTexts(bar), (QStringList{"Overview", "Plane", "Decay"}));
        QCOMPARE(bar.tabs()->currentIndex(), 0);
        bar.setShown("range", {"plane", "decay"});
        QCOMPARE(tabTexts(bar), (QStringList{"Overview", "Plane", "Decay", "Range"}));
        QCOMPARE(bar.tabs()->currentIndex(), 3);
        bar.setShown("decay", {"plane", "decay"});
        QCOMPARE(tabTexts(bar), (QStringList{"Overview", "Plane", "Decay"}));
        QCOMPARE(chosen.size(), 0); // told what is shown, it does not answer
        bar.tabs()->setCurrentIndex(1);
        QCOMPARE(chosen.takeFirst().front().toString(), QString("plane"));
    }

    void menuHasAllFigures()
    {
        FigureBar bar(fifteen());
        QMenu menu;
        QString chosen;
        FigureBar::fill(menu, fifteen(), "decay", [&](const QString& id) { chosen = id; });
        QStringList ids;
        for (QAction* action : menu.actions()) {
            if (action->isSeparator() || !action->isEnabled())
                continue; // a topic
            chosen.clear();
            action->trigger();
            ids += chosen;
            if (chosen == "decay")
                QCOMPARE(action->text(), QString("Decay\t4"));
        }
        QStringList expected;
        for (const FigureChoice& figure : fifteen())
            expected += figure.id;
        QCOMPARE(ids, expected);
    }

    void countFollowsAndIsChosen()
    {
        FigureBar bar(fifteen());
        QSignalSpy chosen(&bar, &FigureBar::countChosen);
        bar.setShown("overview", {"plane", "decay"});
        QCOMPARE(bar.layoutControl()->current(), 1);
        bar.setShown("plane", {"plane", "decay"});
        QCOMPARE(bar.layoutControl()->current(), 0);
        QTest::keyClick(bar.layoutControl(), Qt::Key_Right);
        QTest::keyClick(bar.layoutControl(), Qt::Key_Right);
        QCOMPARE(chosen.takeFirst().front().toInt(), 2);
        QCOMPARE(chosen.takeFirst().front().toInt(), 4);
    }

    void fitsBesideTheColumn_data()
    {
        QTest::addColumn<double>("scale");
        for (const double scale : {1.0, 1.5, 2.5})
            QTest::newRow(qPrintable(QString::number(scale))) << scale;
    }
    /// At a large text fewer tabs stand there, or none and the menu is named after the figure.
    void fitsBesideTheColumn()
    {
        QFETCH(double, scale);
        applyWindowStyle(*qApp, {Theme::Dark, scale});
        FigureBar bar(fifteen());
        bar.setShown("temperature", {"plane", "spectrum", "decay", "pairs"});
        bar.resize(1024 - 341, bar.sizeHint().height());
        bar.show();
        QApplication::processEvents();
        QCOMPARE(bar.width(), 1024 - 341);
        for (const QWidget* part : std::initializer_list<QWidget*>{bar.chooser(), bar.layoutControl()}) {
            QVERIFY(bar.rect().contains(part->geometry()));
            QVERIFY(part->width() >= part->minimumSizeHint().width());
        }
        const QString word = bar.chooser()->text();
        QVERIFY(bar.chooser()->width() >= QFontMetrics(bar.chooser()->font()).horizontalAdvance(word));
        QCOMPARE(word, QString(scale < 2.0 ? "All figures" : "Temperature"));
        QCOMPARE(bar.tabs()->isVisible(), scale < 2.0);
        if (scale < 2.0) {
            QCOMPARE(bar.tabs()->count(), scale == 1.0 ? 6 : 2);
            QCOMPARE(bar.tabs()->tabText(bar.tabs()->currentIndex()), QString("Temperature"));
            // Every tab is whole.
            QVERIFY(bar.tabs()->tabRect(bar.tabs()->count() - 1).right() < bar.tabs()->width());
            QVERIFY(bar.tabs()->geometry().right() < bar.chooser()->x());
        }
    }

    void menuLeadsToTheOverview()
    {
        FigureBar bar(fifteen());
        bar.setShown("range", {"plane", "decay"});
        QSignalSpy chosen(&bar, &FigureBar::figureChosen);
        emit bar.chooser()->menu()->aboutToShow();
        bar.chooser()->menu()->actions().first()->trigger();
        QCOMPARE(chosen.takeFirst().front().toString(), QString("overview"));
    }
};

QTEST_MAIN(TestFigureBar)
#include "test_figure_bar.moc"
