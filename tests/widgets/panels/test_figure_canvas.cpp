// SPDX-License-Identifier: GPL-3.0-or-later
// What is in sight, what is current, and what is said while it is not.

#include "core/figure_spec.h"
#include "widgets/figure_canvas.h"
#include "widgets/window_style.h"

#include <QApplication>
#include <QSignalSpy>
#include <QTest>

using namespace ropewalk;

namespace {

FigureSpec figureOf(const char* id, const char* title)
{
    FigureSpec figure;
    figure.id = id;
    figure.title = title;
    return figure;
}

std::string shownTitle(FigureCanvas& canvas, const char* id)
{
    return canvas.view(id)->figure().title.text;
}

} // namespace

class TestFigureCanvas : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase() { applyWindowStyle(*qApp, {Theme::Light, 1.0}); }

    void cardsAreInSightAndFit_data()
    {
        QTest::addColumn<QSize>("size");
        QTest::addColumn<int>("count");
        for (const QSize size : {QSize(988, 640), QSize(732, 610), QSize(500, 400)})
            for (const int count : {2, 4})
                QTest::newRow(qPrintable(QString("%1 in %2").arg(count).arg(size.width()))) << size << count;
    }
    void cardsAreInSightAndFit()
    {
        QFETCH(QSize, size);
        QFETCH(int, count);
        FigureCanvas canvas({"plane", "spectrum", "decay", "pairs", "scores"});
        canvas.setCards(QStringList{"scores", "decay", "plane", "pairs"}.mid(0, count));
        canvas.resize(size);
        canvas.show();
        QCOMPARE(canvas.visibleFigures(), canvas.cards());
        const QStringList cards = canvas.cards();
        for (const char* id : {"plane", "spectrum", "decay", "pairs", "scores"}) {
            QCOMPARE(canvas.view(id)->isVisible(), cards.contains(id));
            if (!cards.contains(id))
                continue;
            QVERIFY(canvas.rect().contains(canvas.view(id)->geometry()));
            for (const QString& other : cards)
                QVERIFY(other == id ||
                        !canvas.view(id)->geometry().intersects(canvas.view(other)->geometry()));
        }
        // Every card has its button, within it.
        for (int card = 0; card < 4; ++card) {
            QCOMPARE(canvas.chooser(card)->isVisible(), card < count);
            if (card < count)
                QVERIFY(canvas.view(cards[card])->geometry().contains(canvas.chooser(card)->geometry()));
        }
        canvas.setShown("spectrum");
        QCOMPARE(canvas.visibleFigures(), QStringList{"spectrum"});
        QVERIFY(!canvas.chooser(0)->isVisible());
    }

    void pictureOfBeforeIsNotCurrent()
    {
        FigureCanvas canvas({"plane", "decay"});
        canvas.setCards({"plane", "decay"});
        canvas.setShown("plane");
        canvas.resize(800, 600);
        canvas.show();
        canvas.setFigure(figureOf("plane", "first"));
        QVERIFY(canvas.isCurrent("plane"));
        QVERIFY(!canvas.isCurrent("decay"));
        canvas.expect();
        QVERIFY(!canvas.isCurrent("plane"));
        // It stays in sight while the next one is computed: a drag does not flicker.
        canvas.showWaiting("computing…");
        QCOMPARE(shownTitle(canvas, "plane"), std::string("first"));
        canvas.setFigure(figureOf("plane", "of an older request"), false);
        QVERIFY(!canvas.isCurrent("plane"));
        // What was out of sight meanwhile is of other settings: it gives way to a sentence.
        canvas.setFigure(figureOf("plane", "second"));
        canvas.setShown("decay");
        canvas.setFigure(figureOf("decay", "third"));
        canvas.expect();
        canvas.setShown("plane");
        QCOMPARE(shownTitle(canvas, "plane"), std::string("second"));
        canvas.showWaiting("computing…");
        QCOMPARE(canvas.view("plane")->figure().failure.text, std::string("computing…"));
        QCOMPARE(shownTitle(canvas, "plane"), std::string("Plane"));
        canvas.setFigure(figureOf("plane", "fourth"));
        QVERIFY(canvas.view("plane")->figure().failure.isEmpty());
        QCOMPARE(shownTitle(canvas, "plane"), std::string("fourth"));
    }

    void currentIsWhatHadTheFocusLast()
    {
        FigureCanvas canvas({"plane", "spectrum", "decay", "pairs"});
        canvas.resize(1000, 700);
        canvas.show();
        QApplication::setActiveWindow(&canvas);
        QSignalSpy changed(&canvas, &FigureCanvas::currentFigureChanged);
        QCOMPARE(canvas.currentFigure(), QString("plane"));
        canvas.view("decay")->setFocus();
        QCOMPARE(canvas.currentFigure(), QString("decay"));
        QCOMPARE(changed.takeLast().front().toString(), QString("decay"));
        canvas.chooser(0)->setFocus(); // the focus goes to a control
        QCOMPARE(canvas.currentFigure(), QString("decay"));
        canvas.setCards({"plane", "pairs"}); // out of sight
        QCOMPARE(canvas.currentFigure(), QString("plane"));
    }

    /// The button in the corner of a card covers neither title nor formula.
    void chooserCoversNothing_data()
    {
        QTest::addColumn<QString>("title");
        QTest::addColumn<double>("scale");
        for (const double scale : {1.0, 1.5}) {
            QTest::addRow("formula, %.1f", scale) << "Score" << scale;
            QTest::addRow("long title, %.1f", scale) << QString(200, u'm') << scale;
        }
    }
    void chooserCoversNothing()
    {
        QFETCH(QString, title);
        QFETCH(double, scale);
        applyWindowStyle(*qApp, {Theme::Light, scale});
        FigureCanvas canvas({"plane", "spectrum", "decay", "pairs"});
        RenderOptions options;
        options.scale = scale;
        canvas.setRenderOptions(options);
        canvas.resize(1000, 700);
        canvas.show();
        FigureSpec figure = figureOf("plane", qPrintable(title));
        figure.formula = "MMMMMMMM";
        figure.failure = "not computed";
        canvas.setFigure(figure);
        const FigureView* view = canvas.view("plane");
        const QImage picture = canvas.view("plane")->grab().toImage();
        QWidget* chooser = canvas.chooser(0);
        const QRect covered(view->mapFromParent(chooser->pos()), chooser->size());
        const QRect inside = covered.intersected(picture.rect());
        QVERIFY(!inside.isEmpty());
        for (int y = inside.top(); y <= inside.bottom(); ++y)
            for (int x = inside.left(); x <= inside.right(); ++x)
                QCOMPARE(picture.pixelColor(x, y), themeColours(Theme::Light).figure);
        applyWindowStyle(*qApp, {Theme::Light, 1.0});
    }

    void chooserAsksForItsPlace()
    {
        FigureCanvas canvas({"plane", "spectrum", "decay", "pairs"});
        canvas.resize(1000, 700);
        canvas.show();
        QSignalSpy asked(&canvas, &FigureCanvas::chooserRequested);
        QTest::mouseClick(canvas.chooser(2), Qt::LeftButton);
        QCOMPARE(asked.takeFirst().front().toInt(), 2);
        QTest::keyClick(canvas.chooser(3), Qt::Key_Return);
        QCOMPARE(asked.takeFirst().front().toInt(), 3);
    }

    void stripEnlargesWhatIsClicked()
    {
        FigureCanvas canvas({"plane", "spectrum", "decay", "pairs"});
        canvas.resize(732, 610);
        canvas.show();
        QVERIFY(canvas.view("plane")->width() > canvas.view("decay")->width());
        QTest::mouseClick(canvas.view("decay"), Qt::LeftButton);
        QVERIFY(canvas.view("decay")->width() > canvas.view("plane")->width());
        QCOMPARE(canvas.currentFigure(), QString("decay"));
        // Another figure in the place of the large one is large.
        canvas.setCards({"plane", "spectrum", "pairs", "decay"});
        QVERIFY(canvas.view("decay")->width() > canvas.view("plane")->width());
    }
};

QTEST_MAIN(TestFigureCanvas)
#include "test_figure_canvas.moc"
