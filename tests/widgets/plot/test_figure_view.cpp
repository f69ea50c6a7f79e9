// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample_figures.h"
#include "widgets/plot/figure_layout.h"
#include "widgets/plot/figure_view.h"
#include "widgets/plot/hover_table.h"

#include <QSignalSpy>
#include <QtTest>

using namespace ropewalk;

class TestFigureView : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase();
    void readsOutExactValues();
    void showsWhatTheRendererDraws();
    void picksPairs();
    void picksDistances();
    void dragsAnArrow();
    void tellsScreenReaders();
    void hoverLeavesThePictureAlone();

private:
    FigureResults m_results;
};

void TestFigureView::initTestCase()
{
    m_results = sampleResults(2);
}

void TestFigureView::readsOutExactValues()
{
    const FigureSpec decay = sampleFigure("decay", m_results);
    FigureHit hit;
    hit.isOnAxes = true;
    hit.x = 1000.2;
    const auto table = hoverTable(decay, hit);
    QVERIFY(table);
    QCOMPARE(table->title, QStringLiteral("r = 1\u202F000"));
    QCOMPARE(table->configurations, (std::vector<int>{0, 1}));
    QCOMPARE(table->rows.front().values.size(), 2);
    // C at 1000 for base 10 000 is .159: maths, section 2.7.
    QVERIFY(std::fabs(table->rows.front().values[1].toDouble() - 0.159) < 5e-4);

    hit.x = 12.3;
    const auto pair = hoverTable(sampleFigure("spectrum", m_results), hit);
    QVERIFY(pair);
    QCOMPARE(pair->title, QStringLiteral("pair 12"));
    QVERIFY(std::fabs(pair->rows[0].values[0].toDouble() - std::pow(500000.0, -24.0 / 128.0)) < 1e-6);

    FigureHit circle;
    circle.configuration = 0;
    circle.pair = 12;
    QVERIFY(hoverTable(sampleFigure("plane", m_results), circle));
    QVERIFY(!hoverTable(decay, {}));
}

void TestFigureView::showsWhatTheRendererDraws()
{
    FigureView view;
    view.resize(468, 304);
    const FigureSpec figure = sampleFigure("decay", m_results);
    view.setFigure(figure);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    const QImage shown = view.grab().toImage().convertToFormat(QImage::Format_RGB32);
    QImage drawn(shown.size(), QImage::Format_RGB32);
    QPainter painter(&drawn);
    RenderOptions options;
    options.scale = view.devicePixelRatioF();
    paintFigure(painter, drawn.rect(), figure, options);
    painter.end();
    drawn.setDevicePixelRatio(shown.devicePixelRatio());
    QCOMPARE(shown, drawn);
}

void TestFigureView::picksPairs()
{
    FigureView view;
    view.resize(600, 400);
    const FigureSpec figure = sampleFigure("plane", m_results);
    view.setFigure(figure);
    view.show();
    QSignalSpy spy(&view, &FigureView::pairPicked);
    const FigureStyle style{RenderOptions()};
    const auto layouts =
        layoutPlanes(style, layoutFigure(style, QRectF(view.rect()), figure).content, figure);
    QTest::mouseClick(&view, Qt::LeftButton, {}, layouts[1].cell(33).center().toPoint());
    QCOMPARE(spy.count(), 1);
    QCOMPARE(spy.takeFirst().front().toInt(), 33);
    QSignalSpy enlarge(&view, &FigureView::enlargeRequested);
    QTest::mouseDClick(&view, Qt::LeftButton, {}, QPoint(5, 5));
    QCOMPARE(enlarge.count(), 1);
}

void TestFigureView::picksDistances()
{
    FigureView view;
    view.resize(600, 400);
    const FigureSpec figure = sampleFigure("decay", m_results);
    view.setFigure(figure);
    view.show();
    QSignalSpy spy(&view, &FigureView::distancePicked);
    const FigureStyle style{RenderOptions()};
    const AxisLayout layout =
        layoutAxes(style, layoutFigure(style, QRectF(view.rect()), figure).content, figure);
    const QPoint at(static_cast<int>(layout.x.toPixel(100.0)), static_cast<int>(layout.area.center().y()));
    QTest::mouseClick(&view, Qt::LeftButton, {}, at);
    QCOMPARE(spy.count(), 1);
    QCOMPARE(spy.takeFirst().front().toLongLong(), std::llround(layout.x.toValue(at.x())));
}

void TestFigureView::dragsAnArrow()
{
    FigureView view;
    view.resize(900, 600);
    FigureResults results = sampleResults(1);
    const FigureSpec figure = sampleFigure("plane", results);
    view.setFigure(figure);
    view.show();
    QSignalSpy spy(&view, &FigureView::positionsDragged);
    const FigureStyle style{RenderOptions()};
    const auto layout =
        layoutPlanes(style, layoutFigure(style, QRectF(view.rect()), figure).content, figure).front();
    const PlanePanel& panel = figure.planes.front();
    const auto tip = [&](double steps) {
        const auto direction = panel.query * std::polar(1.0, steps * panel.thetaRadians);
        return QPointF(layout.centre.x() + 0.9 * layout.radius * direction.real(),
                       layout.centre.y() - 0.9 * layout.radius * direction.imag())
            .toPoint();
    };
    QTest::mousePress(&view, Qt::LeftButton, {}, tip(0));
    for (int steps = 1; steps <= 5; ++steps)
        QTest::mouseMove(&view, tip(steps));
    QTest::mouseRelease(&view, Qt::LeftButton, {}, tip(5));
    QVERIFY(spy.count() >= 1);
    QCOMPARE(spy.last().at(0).toLongLong(), 45LL); // five steps of θ past m = 40
    QCOMPARE(spy.last().at(1).toLongLong(), 25LL);
}

void TestFigureView::tellsScreenReaders()
{
    FigureView view;
    const FigureSpec figure = sampleFigure("decay", m_results);
    view.setFigure(figure);
    QCOMPARE(view.accessibleName(), QStringLiteral("Expected score over distance, q = k"));
    QVERIFY(view.accessibleDescription().startsWith("Expected score over head_dim against distance"));
    QCOMPARE(view.focusPolicy(), Qt::StrongFocus);
}

void TestFigureView::hoverLeavesThePictureAlone()
{
    FigureView view;
    view.resize(600, 400);
    view.setFigure(sampleFigure("spectrum", m_results));
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    const QImage before = view.grab().toImage();
    QTest::mouseMove(&view, QPoint(300, 200));
    QTRY_VERIFY(view.grab().toImage() != before);
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(&view, &leave);
    QCOMPARE(view.grab().toImage(), before);
}

QTEST_MAIN(TestFigureView)
#include "test_figure_view.moc"
