// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample_figures.h"
#include "widgets/plot/figure_layout.h"
#include "widgets/plot/figure_view.h"
#include "widgets/plot/hover_table.h"
#include "widgets/plot/table_figure.h"

#include <QSignalSpy>
#include <QWheelEvent>
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
    void readsMapsTablesAndClouds();
    void picksOnMapsAndTables();
    void zoomsAndGoesBack();
    void movesTheAxes();
    void keepsTheRangeOfAFigureComputedAnew();
    void sameAxesGoAlong();
    void curvesBesideAMapFollowIt();
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
    const auto theta = std::find_if(pair->rows.begin(), pair->rows.end(), [](const HoverTable::Row& row) {
        return row.label == QStringLiteral("θ′ (rad per token)");
    });
    QVERIFY(theta != pair->rows.end());
    QVERIFY(std::fabs(theta->values[0].toDouble() - std::pow(500000.0, -24.0 / 128.0)) < 1e-6);

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
        layoutPlanes(style, layoutFigure(style, QRectF(view.rect()), figure).plots.front().content, figure);
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
        layoutAxes(style, layoutFigure(style, QRectF(view.rect()), figure).plots.front().content, figure);
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
        layoutPlanes(style, layoutFigure(style, QRectF(view.rect()), figure).plots.front().content, figure)
            .front();
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

namespace {

AxisLayout mainAxes(const FigureView& view, const FigureSpec& figure)
{
    const FigureStyle style{RenderOptions()};
    return layoutAxes(style, layoutFigure(style, QRectF(view.rect()), figure).plots.front().content, figure);
}

void turnWheel(FigureView& view, const QPointF& at, int steps, Qt::KeyboardModifiers modifiers = {})
{
    QWheelEvent event(at, view.mapToGlobal(at), {}, QPoint(0, 120 * steps), Qt::NoButton, modifiers,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(&view, &event);
}

} // namespace

void TestFigureView::readsMapsTablesAndClouds()
{
    FigureSpec map = sampleMap();
    FigureHit hit;
    hit.isOnAxes = true;
    hit.cell = FigureCell{40, 25};
    auto table = hoverTable(map, hit);
    QVERIFY(table);
    QCOMPARE(table->title, QStringLiteral("m = 40, n = 25"));
    QCOMPARE(table->rows.size(), std::size_t(1));
    QCOMPARE(table->rows[0].label, QStringLiteral("score / head_dim"));
    QVERIFY(std::fabs(QString(table->rows[0].values[0]).replace(u'−', u'-').toDouble() - std::cos(3.0)) <
            1e-6);
    hit.cell = FigureCell{25, 40};
    QCOMPARE(hoverTable(map, hit)->rows[0].values[0], QStringLiteral("masked"));
    // Four positions a cell.
    map.xAxis.upper = map.yAxis.upper = map.maps[0].xUpper = map.maps[0].yUpper = 256.0;
    map.maps[0].block = 4;
    map.maps[0].pooling = "mean";
    hit.cell = FigureCell{40, 25};
    table = hoverTable(map, hit);
    QCOMPARE(table->title, QStringLiteral("m = 160–163, n = 100–103"));
    QCOMPARE(table->rows[1].label, QStringLiteral("mean of 4 × 4 cells"));

    FigureHit cell;
    cell.cell = FigureCell{1, 33};
    table = hoverTable(sampleTable(), cell);
    QCOMPARE(table->title, QStringLiteral("half, 33"));
    QCOMPARE(table->rows.back().label, QStringLiteral("pair 1"));

    FigureHit point;
    point.isOnAxes = true;
    point.series = 1;
    point.sample = 0;
    table = hoverTable(sampleClouds(), point);
    QCOMPARE(table->title, QStringLiteral("keys"));
    QCOMPARE(table->rows[0].label, QStringLiteral("first axis"));

    FigureHit names;
    names.plot = 2;
    names.isOnAxes = true;
    names.x = 3.2;
    table = hoverTable(samplePlots(), names);
    QCOMPARE(table->title, QStringLiteral("YaRN"));
    QCOMPARE(table->rows[1].values[0], QStringLiteral("63"));
    names.plot = 1;
    names.x = 100.0;
    QCOMPARE(hoverTable(samplePlots(), names)->rows.size(), std::size_t(8));
}

void TestFigureView::picksOnMapsAndTables()
{
    FigureView view;
    view.resize(600, 400);
    const FigureSpec map = sampleMap();
    view.setFigure(map);
    view.show();
    QSignalSpy positions(&view, &FigureView::positionsPicked);
    QSignalSpy queries(&view, &FigureView::queryPicked);
    const QRectF area = mainAxes(view, map).area;
    const QPoint at(static_cast<int>(area.left() + 25.5 / 64 * area.width()),
                    static_cast<int>(area.top() + 40.5 / 64 * area.height()));
    QTest::mouseClick(&view, Qt::LeftButton, {}, at);
    QCOMPARE(positions.count(), 1);
    QCOMPARE(positions[0][0].toLongLong(), 40LL);
    QCOMPARE(positions[0][1].toLongLong(), 25LL);
    QCOMPARE(queries.count(), 0);

    FigureSpec strip = sampleMap();
    strip.xAxis.meaning = AxisMeaning::QueryPosition;
    strip.yAxis.meaning = AxisMeaning::Pair;
    strip.yAxis.kind = AxisKind::Pair;
    view.setFigure(strip);
    QSignalSpy pairs(&view, &FigureView::pairPicked);
    QTest::mouseClick(&view, Qt::LeftButton, {}, at);
    QCOMPARE(queries.count(), 1);
    QCOMPARE(queries[0][0].toLongLong(), 25LL);
    QCOMPARE(pairs.count(), 1);
    QCOMPARE(pairs[0][0].toInt(), 40);

    const FigureSpec table = sampleTable();
    view.setFigure(table);
    const FigureStyle style{RenderOptions()};
    const TableLayout layout = layoutTable(
        style, layoutFigure(style, QRectF(view.rect()), table).plots.front().content, *table.table);
    pairs.clear();
    QTest::mouseClick(&view, Qt::LeftButton, {}, layout.cell(0, 21).center().toPoint());
    QCOMPARE(pairs.count(), 1);
    QCOMPARE(pairs[0][0].toInt(), 10);
}

void TestFigureView::zoomsAndGoesBack()
{
    FigureView view;
    view.resize(600, 400);
    const FigureSpec decay = sampleFigure("decay", m_results);
    view.setFigure(decay);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    const QImage whole = view.grab().toImage();
    QSignalSpy changed(&view, &FigureView::viewRangeChanged);
    QSignalSpy reset(&view, &FigureView::viewRangeReset);
    const AxisLayout layout = mainAxes(view, decay);
    const QPointF at(layout.x.toPixel(1000.0), layout.y.toPixel(0.3));
    turnWheel(view, at, 1);
    QCOMPARE(changed.count(), 1);
    QVERIFY(view.isZoomed());
    // A step takes a fifth off, in the logarithm of the distance, and leaves the pointer's place.
    const double lower = changed[0][0].toDouble();
    const double upper = changed[0][1].toDouble();
    QVERIFY(std::fabs(std::log(upper / lower) / std::log(decay.xAxis.upper / decay.xAxis.lower) - 0.8) <
            1e-9);
    QVERIFY(std::fabs(std::log(1000.0 / lower) / std::log(upper / lower) -
                      std::log(1000.0 / decay.xAxis.lower) /
                          std::log(decay.xAxis.upper / decay.xAxis.lower)) < 2e-3);
    QVERIFY(view.grab().toImage() != whole);
    turnWheel(view, at, 1, Qt::ShiftModifier); // x only
    QCOMPARE(changed[1][2], changed[0][2]);
    QVERIFY(changed[1][0].toDouble() > lower);
    turnWheel(view, at, 1, Qt::ControlModifier); // y only
    QCOMPARE(changed[2][0], changed[1][0]);
    QVERIFY(changed[2][2].toDouble() > changed[1][2].toDouble());
    QCOMPARE(reset.count(), 0);
    QTest::keyClick(&view, Qt::Key_Backspace);
    QCOMPARE(reset.count(), 1);
    QVERIFY(!view.isZoomed());
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(&view, &leave);
    QCOMPARE(view.grab().toImage(), whole);
    // Out as far as it goes is the whole, too.
    turnWheel(view, at, 3);
    turnWheel(view, at, -9);
    QCOMPARE(reset.count(), 2);
    // And a click on the words in the corner.
    turnWheel(view, at, 3);
    QTest::mouseClick(
        &view, Qt::LeftButton, {},
        QPoint(static_cast<int>(layout.area.right()) - 20, static_cast<int>(layout.area.top()) + 12));
    QCOMPARE(reset.count(), 3);
    // Where there are no axes nothing happens.
    turnWheel(view, QPointF(5, 5), 2);
    QVERIFY(!view.isZoomed());
}

void TestFigureView::movesTheAxes()
{
    FigureView view;
    view.resize(600, 400);
    const FigureSpec map = sampleMap();
    view.setFigure(map);
    view.show();
    const QRectF area = mainAxes(view, map).area;
    QSignalSpy changed(&view, &FigureView::viewRangeChanged);
    turnWheel(view, area.center(), 4);
    const double before = changed.last()[0].toDouble();
    const double extent = changed.last()[1].toDouble() - before;
    const QPoint from = area.center().toPoint();
    QTest::mousePress(&view, Qt::MiddleButton, {}, from);
    QMouseEvent move(QEvent::MouseMove, QPointF(from + QPoint(-60, 0)),
                     view.mapToGlobal(from + QPoint(-60, 0)), Qt::NoButton, Qt::MiddleButton, {});
    QApplication::sendEvent(&view, &move);
    QTest::mouseRelease(&view, Qt::MiddleButton, {}, from + QPoint(-60, 0));
    const double narrowed = mainAxes(view, map).area.width();
    QVERIFY(std::fabs(changed.last()[0].toDouble() - before - 60.0 / narrowed * extent) < 0.05 * extent);
    QVERIFY(std::fabs(changed.last()[1].toDouble() - changed.last()[0].toDouble() - extent) < 1e-9);
}

void TestFigureView::keepsTheRangeOfAFigureComputedAnew()
{
    FigureView view;
    view.resize(600, 400);
    FigureSpec map = sampleMap(512);
    view.setFigure(map);
    view.show();
    QSignalSpy changed(&view, &FigureView::viewRangeChanged);
    QSignalSpy reset(&view, &FigureView::viewRangeReset);
    turnWheel(view, mainAxes(view, map).area.center(), 4);
    // The same figure, computed for the range that was told, rounded to whole positions.
    FigureSpec part = map;
    part.xAxis.lower = part.maps[0].xLower = std::floor(changed.last()[0].toDouble());
    part.xAxis.upper = part.maps[0].xUpper = std::ceil(changed.last()[1].toDouble());
    part.yAxis.lower = part.maps[0].yLower = std::floor(changed.last()[2].toDouble());
    part.yAxis.upper = part.maps[0].yUpper = std::ceil(changed.last()[3].toDouble());
    view.setFigure(part);
    QVERIFY(view.isZoomed());
    turnWheel(view, mainAxes(view, map).area.center(), -2); // there is still room outwards
    QVERIFY(view.isZoomed());
    QVERIFY(changed.last()[1].toDouble() - changed.last()[0].toDouble() >
            part.xAxis.upper - part.xAxis.lower);
    view.showWholeRange();
    QCOMPARE(reset.count(), 1);
    view.setFigure(map);
    QVERIFY(!view.isZoomed());
    // Other axes are a new whole.
    turnWheel(view, mainAxes(view, map).area.center(), 4);
    view.setFigure(sampleMap(64));
    QVERIFY(!view.isZoomed());
}

/// Plots beside one another stay comparable, whichever of them is turned; another axis is left alone.
void TestFigureView::sameAxesGoAlong()
{
    FigureView view;
    view.resize(900, 400);
    FigureSpec figure = sampleMap();
    figure.more.assign(2, sampleMap());
    figure.more[0].column = 1;
    figure.more[1].column = 2;
    figure.more[1].yAxis.label = "another axis";
    view.setFigure(figure);
    view.show();
    const FigureStyle style{RenderOptions()};
    std::vector<QRectF> areas;
    for (const PlotPlace& place : layoutFigure(style, QRectF(view.rect()), figure).plots)
        areas.push_back(layoutAxes(style, place.content, *place.plot).area);
    QCOMPARE(areas.size(), std::size_t(3));
    const auto read = [&](std::size_t plot) {
        QTest::mouseMove(&view, areas[plot].center().toPoint());
        QTest::mouseMove(&view, areas[plot].topLeft().toPoint() + QPoint(2, 2));
        return view.readOut() ? view.readOut()->title : QString();
    };
    QCOMPARE(read(1), QStringLiteral("m = 0, n = 0"));
    QSignalSpy changed(&view, &FigureView::viewRangeChanged);
    QSignalSpy readings(&view, &FigureView::readOutChanged);
    turnWheel(view, areas[1].center(), 4);
    QVERIFY(!view.readOut()); // what was read lies elsewhere now
    QVERIFY(readings.count() > 0);
    QCOMPARE(changed.count(), 1); // the main plot went along
    QVERIFY(changed[0][2].toDouble() > 1.0);
    const QString turned = read(1);
    QVERIFY2(turned != QStringLiteral("m = 0, n = 0"), qPrintable(turned));
    QCOMPARE(read(0), turned);
    const QString ofKey = turned.mid(turned.indexOf(','));
    QCOMPARE(read(2), QStringLiteral("m = 0") + ofKey); // its keys alone
    // Moving goes along, too; and all go back.
    const QPoint from = areas[0].center().toPoint();
    QTest::mousePress(&view, Qt::MiddleButton, {}, from);
    QMouseEvent move(QEvent::MouseMove, QPointF(from + QPoint(-60, 0)),
                     view.mapToGlobal(from + QPoint(-60, 0)), Qt::NoButton, Qt::MiddleButton, {});
    QApplication::sendEvent(&view, &move);
    QTest::mouseRelease(&view, Qt::MiddleButton, {}, from + QPoint(-60, 0));
    QVERIFY(read(0) != turned);
    QCOMPARE(read(1), read(0));
    view.showWholeRange();
    for (const std::size_t plot : {0, 1, 2})
        QCOMPARE(read(plot), QStringLiteral("m = 0, n = 0"));
}

/// A curve whose values were computed for the part in view shows all of them, and after that those of the
/// whole.
void TestFigureView::curvesBesideAMapFollowIt()
{
    FigureView view;
    view.resize(900, 400);
    FigureSpec whole = sampleMap(512);
    PlotSpec curve;
    curve.column = 1;
    curve.xAxis = whole.xAxis;
    curve.yAxis = {"mean", AxisKind::Plain, false, 0.0, 0.5};
    whole.more = {curve};
    view.setFigure(whole);
    view.show();
    QSignalSpy changed(&view, &FigureView::viewRangeChanged);
    turnWheel(view, mainAxes(view, whole).area.center(), 4);
    FigureSpec part = whole;
    for (PlotSpec* plot : {static_cast<PlotSpec*>(&part), &part.more[0]}) {
        plot->xAxis.lower = std::floor(changed.last()[0].toDouble());
        plot->xAxis.upper = std::ceil(changed.last()[1].toDouble());
    }
    part.yAxis.lower = std::floor(changed.last()[2].toDouble());
    part.yAxis.upper = std::ceil(changed.last()[3].toDouble());
    part.more[0].yAxis.upper = 2.0;
    view.setFigure(part);
    const QImage narrow = view.grab().toImage();
    part.more[0].yAxis.upper = 0.5;
    view.setFigure(part);
    QVERIFY(view.grab().toImage() != narrow); // the curve's own axis is as it was given
    view.showWholeRange();
    view.setFigure(whole);
    QVERIFY(!view.isZoomed());
    FigureView fresh;
    fresh.resize(view.size());
    fresh.setFigure(whole);
    QCOMPARE(view.grab().toImage(), fresh.grab().toImage());
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
