// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample_figures.h"
#include "widgets/plot/figure_layout.h"
#include "widgets/plot/figure_renderer.h"
#include "widgets/plot/series_painter.h"

#include <QImage>
#include <QtTest>

using namespace ropewalk;

namespace {

constexpr const char* kIds[] = {"plane", "spectrum", "decay", "pairs"};

QImage draw(const FigureSpec& figure, const QSize& size, const RenderOptions& options)
{
    QImage image(size, QImage::Format_RGB32);
    image.fill(Qt::magenta);
    QPainter painter(&image);
    paintFigure(painter, QRectF(QPointF(), QSizeF(size)), figure, options);
    painter.end();
    return image;
}

/// Whether a colour's pixels are found in a rectangle.
bool hasColour(const QImage& image, const QColor& colour, const QRect& within, int tolerance = 24)
{
    for (int y = within.top(); y <= within.bottom(); ++y)
        for (int x = within.left(); x <= within.right(); ++x) {
            const QColor pixel = image.pixelColor(x, y);
            if (std::abs(pixel.red() - colour.red()) + std::abs(pixel.green() - colour.green()) +
                    std::abs(pixel.blue() - colour.blue()) <
                tolerance)
                return true;
        }
    return false;
}

} // namespace

class TestFigureRenderer : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase();
    void textsKeepApart_data();
    void textsKeepApart();
    void fillsItsRectAndNothingElse();
    void themes_data();
    void themes();
    void failureIsSaid();
    void stillPairsAreGrey();
    void zeroVectorIsADot();
    void columnsAreThoseOfTheFigure();
    void hitsEveryPairOfThePlane();
    void hitsEveryPairOfBars_data();
    void hitsEveryPairOfBars();
    void hitsDistances();
    void allPlotsAreDrawnAndHit();
    void theMainPlotAloneWhereThereIsNoRoom();
    void namesOfAnAxis();
    void curvesDifferInColourAndPattern();
    void gridAndAxisAreDrawn();
    void namesStandWhereCurvesPart();
    void namesStandWhereTheirCurveRuns();
    void namesAsideAreLedToTheirCurve();
    void namesOfOthersAreNotTaken();
    void linesLieOverBars();
    void captionsLoseWholeParts();
    void noHeadingWithoutItsPlot();
    void longAxisNamesGoOn();
    void pointsLieWhereTheyAre();
    void survivesOddInput_data();
    void survivesOddInput();

private:
    FigureResults m_results[5];
};

void TestFigureRenderer::initTestCase()
{
    for (int count = 1; count <= 4; ++count) {
        m_results[count] = sampleResults(count);
        QCOMPARE(m_results[count].configurations.size(), static_cast<std::size_t>(count));
    }
}

void TestFigureRenderer::textsKeepApart_data()
{
    QTest::addColumn<QString>("id");
    QTest::addColumn<int>("configurations");
    QTest::addColumn<QSizeF>("size");
    QTest::addColumn<double>("scale");
    for (const char* id : kIds)
        for (const int count : {1, 2, 4})
            for (const QSizeF size : {QSizeF(380, 280), QSizeF(468, 304), QSizeF(960, 640),
                                      QSizeF(1900, 1000), QSizeF(3840, 2160)})
                for (const double scale : {1.0, 1.5, 2.5})
                    QTest::addRow("%s, %d, %gx%g, scale %g", id, count, size.width(), size.height(), scale)
                        << id << count << size << scale;
    for (const char* id : {"map", "table", "clouds", "plots", "matrix"})
        for (const QSizeF size : {QSizeF(240, 160), QSizeF(391, 276), QSizeF(801, 460), QSizeF(1900, 1000)})
            for (const double scale : {0.7, 1.0, 1.5, 2.5})
                QTest::addRow("%s, %gx%g, scale %g", id, size.width(), size.height(), scale)
                    << id << 1 << size << scale;
}

void TestFigureRenderer::textsKeepApart()
{
    QFETCH(QString, id);
    QFETCH(int, configurations);
    QFETCH(QSizeF, size);
    QFETCH(double, scale);
    auto madeUp = madeUpFigure(id.toStdString());
    const FigureSpec figure =
        madeUp ? *std::move(madeUp) : sampleFigure(qPrintable(id), m_results[configurations]);
    RenderOptions options;
    options.scale = scale;
    const QRectF rect(QPointF(7.0, 11.0), size);
    for (const bool isVector : {false, true}) {
        options.isVector = isVector;
        const auto texts = figureTexts(rect, figure, options);
        QVERIFY(!texts.empty());
        for (std::size_t i = 0; i < texts.size(); ++i) {
            QVERIFY2(rect.contains(texts[i].box), qPrintable("cut: " + texts[i].text));
            for (std::size_t k = 0; k < i; ++k)
                QVERIFY2(!texts[i].box.intersects(texts[k].box),
                         qPrintable("“" + texts[i].text + "” over “" + texts[k].text + "”"));
        }
    }
}

void TestFigureRenderer::fillsItsRectAndNothingElse()
{
    QImage image(600, 500, QImage::Format_RGB32);
    for (const char* id : kIds) {
        image.fill(Qt::magenta);
        QPainter painter(&image);
        const QRect rect(50, 60, 476, 312);
        paintFigure(painter, rect, sampleFigure(id, m_results[2]), {});
        painter.end();
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                QCOMPARE(image.pixelColor(x, y) == QColor(Qt::magenta), !rect.contains(x, y));
    }
}

void TestFigureRenderer::themes_data()
{
    QTest::addColumn<int>("theme");
    QTest::newRow("light") << static_cast<int>(Theme::Light);
    QTest::newRow("dark") << static_cast<int>(Theme::Dark);
    QTest::newRow("print") << static_cast<int>(Theme::Print);
}

void TestFigureRenderer::themes()
{
    QFETCH(int, theme);
    RenderOptions options;
    options.theme = static_cast<Theme>(theme);
    const ThemeColours& c = themeColours(options.theme);
    for (const char* id : kIds) {
        const QImage image = draw(sampleFigure(id, m_results[2]), {476, 312}, options);
        QCOMPARE(image.pixelColor(0, 0), c.figure);
        QVERIFY(hasColour(image, c.series[0], image.rect()));
        QVERIFY(hasColour(image, c.series[1], image.rect()));
        QVERIFY(hasColour(image, c.text, QRect(0, 0, 250, 40)));
    }
}

void TestFigureRenderer::failureIsSaid()
{
    FigureSpec figure = sampleFigure("decay", m_results[1]);
    figure.failure = {"base is {value}; it must be above 1", {{"value", "0.5"}}};
    QString all;
    for (const DrawnText& text : figureTexts(QRectF(0, 0, 476, 312), figure, {}))
        all += text.text + u' ';
    QVERIFY2(all.contains("base is 0.5; it must be above 1"), qPrintable(all));
    QVERIFY(!all.contains("128k"));
    QVERIFY(!hitFigure({200, 150}, QRectF(0, 0, 476, 312), figure, {}).isOnAxes);
}

void TestFigureRenderer::stillPairsAreGrey()
{
    FigureResults results = sampleResults(3);
    results.configurations.erase(results.configurations.begin(), results.configurations.begin() + 2);
    const FigureSpec figure = sampleFigure("plane", results);
    QCOMPARE(figure.planes.size(), std::size_t(1));
    const QRectF rect(0, 0, 960, 640);
    const QImage image = draw(figure, rect.size().toSize(), {});
    const FigureStyle style{RenderOptions()};
    const auto layout =
        layoutPlanes(style, layoutFigure(style, rect, figure).plots.front().content, figure).front();
    const ThemeColours& c = style.colours();
    for (int pair = 0; pair < figure.planes[0].pairCount; ++pair) {
        const QRect cell = layout.cell(pair).toAlignedRect();
        const bool isStill = pair >= figure.planes[0].rotatedPairs;
        if (pair == figure.planes[0].pair)
            continue;
        QCOMPARE(hasColour(image, c.query, cell, 60), !isStill);
        QVERIFY(!isStill || hasColour(image, c.axis, cell));
    }
}

void TestFigureRenderer::zeroVectorIsADot()
{
    FigureSpec figure = sampleFigure("plane", m_results[1]);
    figure.planes[0].query = figure.planes[0].key = 0.0;
    for (Phasor& phasor : figure.phasors)
        phasor.re = phasor.im = 0.0;
    const QRectF rect(0, 0, 960, 640);
    const QImage image = draw(figure, rect.size().toSize(), {});
    const FigureStyle style{RenderOptions()};
    const auto layout =
        layoutPlanes(style, layoutFigure(style, rect, figure).plots.front().content, figure).front();
    const ThemeColours& c = style.colours();
    QVERIFY(hasColour(image, c.query, QRect(layout.centre.toPoint() - QPoint(2, 2), QSize(5, 5))));
    QVERIFY(hasColour(image, c.query, QRect(layout.cell(40).center().toPoint() - QPoint(2, 2), QSize(5, 5)),
                      200));
}

void TestFigureRenderer::columnsAreThoseOfTheFigure()
{
    // What is drawn of a curve lies where its own min and max per column put it.
    const FigureSpec figure = sampleFigure("decay", m_results[1]);
    const FigureStyle style{RenderOptions()};
    const AxisLayout layout =
        layoutAxes(style, layoutFigure(style, QRectF(0, 0, 468, 304), figure).content, figure);
    const SeriesFrame frame{layout.area, layout.x, layout.y, figure.xAxis,
                            columnCount(style, layout.area, 1.0)};
    QCOMPARE(frame.columns, static_cast<int>(layout.area.width()));
    const Series& series = figure.series.front();
    PlotColumns plotColumns(frame);
    const auto columns = drawnColumns(frame, plotColumns, *series.x, *series.y);
    for (const DrawnColumn& column : columns) {
        double least = INFINITY;
        double greatest = -INFINITY;
        const double own = std::floor(column.x - layout.area.left() + 1e-9);
        for (std::size_t i = 1; i < series.x->size(); ++i) {
            const double at = std::floor(layout.x.toPixel((*series.x)[i]) - layout.area.left() + 1e-9);
            if (at == own) {
                least = std::min(least, (*series.y)[i]);
                greatest = std::max(greatest, (*series.y)[i]);
            }
            if (at > own)
                break;
        }
        if (std::isfinite(least)) {
            QVERIFY(std::fabs(column.top - layout.y.toPixel(greatest)) < 0.5);
            QVERIFY(std::fabs(column.bottom - layout.y.toPixel(least)) < 0.5);
        }
    }
}

void TestFigureRenderer::hitsEveryPairOfThePlane()
{
    const FigureSpec figure = sampleFigure("plane", m_results[4]);
    for (const double scale : {1.0, 1.5}) {
        RenderOptions options;
        options.scale = scale;
        const QRectF rect(3, 5, 1200, 800);
        const FigureStyle style(options);
        for (const PlaneLayout& layout :
             layoutPlanes(style, layoutFigure(style, rect, figure).plots.front().content, figure)) {
            const PlanePanel& panel = figure.planes[static_cast<std::size_t>(layout.panel)];
            QVERIFY(!layout.field.isEmpty());
            for (int pair = 0; pair < panel.pairCount; ++pair) {
                const FigureHit hit = hitFigure(layout.cell(pair).center(), rect, figure, options);
                QCOMPARE(hit.pair, pair);
                QCOMPARE(hit.configuration, panel.configuration);
            }
            QCOMPARE(hitFigure(layout.centre, rect, figure, options).pair, panel.pair);
        }
    }
}

void TestFigureRenderer::hitsEveryPairOfBars_data()
{
    QTest::addColumn<QString>("id");
    QTest::newRow("spectrum") << "spectrum";
    QTest::newRow("pairs") << "pairs";
}

void TestFigureRenderer::hitsEveryPairOfBars()
{
    QFETCH(QString, id);
    const FigureSpec figure = sampleFigure(qPrintable(id), m_results[2]);
    const QRectF rect(0, 0, 468, 304);
    const FigureStyle style{RenderOptions()};
    const AxisLayout layout =
        layoutAxes(style, layoutFigure(style, rect, figure).plots.front().content, figure);
    for (int pair = 0; pair < 64; ++pair) {
        const FigureHit hit = hitFigure({layout.x.toPixel(pair), layout.area.center().y()}, rect, figure, {});
        QVERIFY(hit.isOnAxes);
        QCOMPARE(hit.pair, pair);
    }
}

void TestFigureRenderer::hitsDistances()
{
    const FigureSpec figure = sampleFigure("decay", m_results[2]);
    const QRectF rect(0, 0, 468, 304);
    const FigureStyle style{RenderOptions()};
    const AxisLayout layout =
        layoutAxes(style, layoutFigure(style, rect, figure).plots.front().content, figure);
    for (const double distance : {1.0, 15.0, 832.0, 1707.0, 131000.0}) {
        const FigureHit hit =
            hitFigure({layout.x.toPixel(distance), layout.y.toPixel(0.5)}, rect, figure, {});
        QVERIFY(hit.isOnAxes);
        QVERIFY(std::fabs(hit.x / distance - 1.0) < 1e-9);
        QVERIFY(std::fabs(hit.y - 0.5) < 1e-9);
    }
    QVERIFY(!hitFigure({1, 1}, rect, figure, {}).isOnAxes);
}

void TestFigureRenderer::allPlotsAreDrawnAndHit()
{
    const FigureSpec figure = samplePlots();
    const QRectF rect(0, 0, 801, 460);
    const FigureLayout layout = layoutFigure(FigureStyle{RenderOptions()}, rect, figure);
    QCOMPARE(layout.plots.size(), std::size_t(3));
    for (const PlotPlace& place : layout.plots) {
        QVERIFY(layout.content.contains(place.content));
        QCOMPARE(hitFigure(place.content.center(), rect, figure, {}).plot, place.index);
        for (const PlotPlace& other : layout.plots)
            QVERIFY(&other == &place || !other.content.intersects(place.content));
    }
    // 1.5 to 1, the main plot over both rows.
    QVERIFY(std::fabs(layout.plots[0].content.width() / layout.plots[1].content.width() - 1.5) < 0.02);
    QVERIFY(layout.plots[0].content.height() > 2.0 * layout.plots[1].content.height());
    // Between plots one below the other lie a gap and a title.
    QVERIFY(layout.plots[2].content.top() - layout.plots[1].content.bottom() > 24.0);
    QStringList texts;
    for (const DrawnText& text : figureTexts(rect, figure, {}))
        texts.append(text.text);
    for (const char* title : {"the main plot", "curves", "names"})
        QVERIFY(texts.contains(title));
    const FigureHit map = hitFigure(layout.plots[0].content.center(), rect, figure, {});
    QVERIFY(map.cell && map.isOnAxes);
}

void TestFigureRenderer::theMainPlotAloneWhereThereIsNoRoom()
{
    const FigureSpec figure = samplePlots();
    const QRectF rect(0, 0, 391, 276);
    const FigureLayout layout = layoutFigure(FigureStyle{RenderOptions()}, rect, figure);
    QCOMPARE(layout.plots.size(), std::size_t(1));
    QCOMPARE(layout.plots[0].plot, static_cast<const PlotSpec*>(&figure));
    QVERIFY2(layout.captionLines.join(u' ').endsWith("2 more plots where the figure is larger"),
             qPrintable(layout.captionLines.join(u' ')));
    QCOMPARE(hitFigure(QPointF(300, 100), rect, figure, {}).plot, 0);
}

void TestFigureRenderer::namesOfAnAxis()
{
    FigureSpec figure = samplePlots();
    static_cast<PlotSpec&>(figure) = PlotSpec(figure.more[1]);
    figure.more.clear();
    const FigureStyle style{RenderOptions()};
    const auto layoutAt = [&](double width) { return layoutAxes(style, QRectF(0, 0, width, 300), figure); };
    const auto names = [](const AxisLayout& layout) {
        QStringList list;
        for (const AxisTick& tick : layout.xTicks)
            list.append(tick.label);
        return list;
    };
    // Beside each other, upright, elided, skipped: as the room shrinks.
    QVERIFY(!layoutAt(900).areXNamesUpright);
    QCOMPARE(names(layoutAt(900)).value(1), QStringLiteral("linear interpolation"));
    QVERIFY(layoutAt(300).areXNamesUpright);
    QCOMPARE(names(layoutAt(300)).count(QString()), 0);
    QVERIFY(names(layoutAt(100)).count(QString()) > 0);
    std::swap(figure.xAxis, figure.yAxis);
    QCOMPARE(layoutAxes(style, QRectF(0, 0, 900, 300), figure).yTicks.size(), std::size_t(5));
}

void TestFigureRenderer::curvesDifferInColourAndPattern()
{
    FigureSpec figure = samplePlots();
    static_cast<PlotSpec&>(figure) = PlotSpec(figure.more[0]);
    figure.more.clear();
    const QRectF rect(0, 0, 900, 600);
    const QImage image = draw(figure, rect.size().toSize(), {});
    const FigureStyle style{RenderOptions()};
    const AxisLayout layout =
        layoutAxes(style, layoutFigure(style, rect, figure).plots.front().content, figure);
    for (int k = 0; k < 8; ++k) {
        const QColor colour = style.colours().curves[k];
        int columns = 0;
        for (int x = static_cast<int>(layout.area.left()) + 2; x < layout.area.right() - 2; ++x) {
            const double r = layout.x.toValue(x);
            const int y =
                static_cast<int>(std::lround(layout.y.toPixel(k + 0.5 + 0.3 * std::sin(std::log(r) + k))));
            columns += hasColour(image, colour, QRect(x, y - 3, 1, 7), 160);
        }
        const double share = columns / (layout.area.width() - 4.0);
        const double least[] = {0.98, 0.45, 0.1, 0.35}; // solid, dashed, dotted, dash-dot
        const double most[] = {1.0, 0.85, 0.6, 0.85};
        QVERIFY2(share >= least[k % 4] && share <= most[k % 4],
                 qPrintable(QString("curve %1: %2").arg(k).arg(share)));
    }
}

void TestFigureRenderer::gridAndAxisAreDrawn()
{
    FigureSpec figure;
    figure.id = "made up";
    figure.xAxis.upper = figure.yAxis.upper = 10.0;
    figure.configurations.emplace_back();
    Series series;
    series.x = makeValues({0.0, 10.0});
    series.y = makeValues({1.0, 1.0});
    series.style = SeriesStyle::Line;
    figure.series = {series};
    const QRectF rect(0, 0, 600, 400);
    const QImage image = draw(figure, rect.size().toSize(), {});
    const FigureStyle style{RenderOptions()};
    const AxisLayout layout =
        layoutAxes(style, layoutFigure(style, rect, figure).plots.front().content, figure);
    const auto shareOf = [&](const QColor& colour, double y) {
        int found = 0;
        for (int x = static_cast<int>(layout.area.left()) + 2; x < layout.area.right() - 2; ++x)
            found += hasColour(image, colour, QRect(x, static_cast<int>(std::lround(y)) - 1, 1, 3), 6);
        return found / (layout.area.width() - 4.0);
    };
    QVERIFY(shareOf(style.colours().axis, layout.area.bottom()) > 0.95);
    int lines = 0;
    for (const AxisTick& tick : layout.yTicks)
        if (const double y = layout.y.toPixel(tick.value);
            !tick.label.isEmpty() && y < layout.area.bottom() - 3)
            lines += shareOf(style.colours().grid, y) > 0.95;
    QVERIFY2(lines >= 3, qPrintable(QString::number(lines)));
}

/// Curves that run as one for most of the way are named where they part, each nearer to its own name.
void TestFigureRenderer::namesStandWhereCurvesPart()
{
    FigureSpec figure;
    figure.configurations = {sampleConfiguration(0)};
    figure.xAxis = {"x", AxisKind::Plain, false, 0.0, 100.0};
    figure.yAxis = {"y", AxisKind::Plain, false, -1.0, 1.0};
    const std::pair<const char*, double> curves[] = {{"rising", 1.0}, {"staying", 0.0}, {"falling", -1.0}};
    int colour = 0;
    for (const auto& [name, slope] : curves) {
        Series series;
        series.name = name;
        series.label = name;
        series.style = SeriesStyle::Line;
        series.colour = colour++;
        series.x = makeValues({0.0, 70.0, 100.0});
        series.y = makeValues({0.0, 0.0, slope * 0.8});
        figure.series.push_back(std::move(series));
    }
    const QRectF rect(0, 0, 700, 400);
    const QRectF area =
        layoutAxes(FigureStyle{RenderOptions()},
                   layoutFigure(FigureStyle{RenderOptions()}, rect, figure).plots.front().content, figure)
            .area;
    int found = 0;
    for (const DrawnText& text : figureTexts(rect, figure, {}))
        for (const auto& [name, slope] : curves) {
            if (text.text != QLatin1String(name))
                continue;
            ++found;
            const double x = 100.0 * (text.box.center().x() - area.left()) / area.width();
            QVERIFY2(x > 70.0, name);
            const auto yAt = [&](double other) {
                return area.center().y() - (x - 70.0) / 30.0 * other * 0.8 * area.height() / 2;
            };
            const double own = std::fabs(text.box.center().y() - yAt(slope));
            for (const auto& [otherName, other] : curves)
                QVERIFY2(other == slope || own < std::fabs(text.box.center().y() - yAt(other)), otherName);
        }
    QCOMPARE(found, 3);
}

/// A curve over a part of the axis, with a gap in it, has its name where it runs.
void TestFigureRenderer::namesStandWhereTheirCurveRuns()
{
    const double none = std::nan("");
    for (const auto& [lower, upper] : {std::pair(0.0, 30.0), std::pair(40.0, 55.0), std::pair(75.0, 100.0)}) {
        FigureSpec figure;
        figure.configurations = {sampleConfiguration(0)};
        figure.xAxis = {"x", AxisKind::Plain, false, 0.0, 100.0};
        figure.yAxis = {"y", AxisKind::Plain, false, -1.0, 1.0};
        Series series;
        series.name = "short";
        series.label = "name";
        series.style = SeriesStyle::Line;
        std::vector<double> x, y;
        for (double at = 0.0; at <= 100.0; at += 0.5) {
            x.push_back(at);
            y.push_back(at >= lower && at <= upper ? 0.2 : none);
        }
        series.x = makeValues(std::move(x));
        series.y = makeValues(std::move(y));
        figure.series.push_back(std::move(series));
        const QRectF rect(0, 0, 700, 400);
        const FigureStyle style{RenderOptions()};
        const QRectF area =
            layoutAxes(style, layoutFigure(style, rect, figure).plots.front().content, figure).area;
        bool isFound = false;
        for (const DrawnText& text : figureTexts(rect, figure, {}))
            if (text.text == QLatin1String("name")) {
                isFound = true;
                const double at = 100.0 * (text.box.center().x() - area.left()) / area.width();
                QVERIFY2(at >= lower && at <= upper, qPrintable(QString::number(at)));
            }
        QVERIFY(isFound);
    }
}

/// Between two curves that leave no room a name would be anybody's: it stands aside, with a line in its
/// colour.
void TestFigureRenderer::namesAsideAreLedToTheirCurve()
{
    FigureSpec figure;
    figure.configurations = {sampleConfiguration(0)};
    figure.xAxis = {"x", AxisKind::Plain, false, 0.0, 100.0};
    figure.yAxis = {"y", AxisKind::Plain, false, -1.0, 1.0};
    const double apart = 0.05; // about nine pixels
    const std::pair<const char*, double> curves[] = {
        {"upper", apart}, {"middle", 0.0}, {"lower", -apart}, {"", 0.0}};
    int colour = 0;
    for (const auto& [name, y] : curves) {
        Series series;
        series.name = *name ? name : "named with the middle one";
        series.label = name;
        series.style = SeriesStyle::Line;
        series.colour = *name ? colour++ : 1;
        series.x = makeValues({0.0, 100.0});
        series.y = makeValues({y, y});
        figure.series.push_back(std::move(series));
    }
    const QSize size(700, 460);
    const RenderOptions options;
    const FigureStyle style(options);
    const auto layout = layoutAxes(
        style, layoutFigure(style, QRectF({}, QSizeF(size)), figure).plots.front().content, figure);
    const QImage image = draw(figure, size, options);
    int found = 0;
    for (const DrawnText& text : figureTexts(QRectF({}, QSizeF(size)), figure, options))
        for (const Series& series : figure.series) {
            if (text.text.isEmpty() || text.text.toStdString() != toEnglish(series.label))
                continue;
            ++found;
            const double own = layout.y.toPixel(series.y->front());
            const double gap = text.box.top() > own ? text.box.top() - own : own - text.box.bottom();
            const bool isMiddle = text.text == QLatin1String("middle");
            QVERIFY2(isMiddle ? gap > 20.0 : gap < 18.0, qPrintable(text.text));
            // What lies between the name and all curves: paper, but for the line that leads there.
            const double beyond =
                text.box.top() > own ? layout.y.toPixel(-apart) + 3.0 : text.box.bottom() + 2.0;
            const double until = text.box.top() > own ? text.box.top() - 2.0 : layout.y.toPixel(apart) - 3.0;
            if (!isMiddle)
                continue;
            const QColor paper = style.colours().figure;
            const int x = static_cast<int>(text.box.center().x());
            for (int y = static_cast<int>(std::ceil(beyond)); y < static_cast<int>(until); ++y) {
                int darkest = 255;
                for (int aside = -2; aside <= 2; ++aside)
                    darkest = std::min(darkest, image.pixelColor(x + aside, y).blue());
                QVERIFY2(darkest < paper.blue() - 60, qPrintable(QString::number(y)));
            }
        }
    QCOMPARE(found, 3);
}

/// Where there is no room aside either, a name that would stand nearer to another curve is left out.
void TestFigureRenderer::namesOfOthersAreNotTaken()
{
    FigureSpec figure;
    figure.configurations = {sampleConfiguration(0)};
    figure.xAxis = {"x", AxisKind::Plain, false, 0.0, 100.0};
    figure.yAxis = {"y", AxisKind::Plain, false, -1.0, 1.0};
    const QRectF rect(0, 0, 700, 112);
    const FigureStyle style{RenderOptions()};
    const auto area = layoutAxes(style, layoutFigure(style, rect, figure).plots.front().content, figure).area;
    QVERIFY2(area.height() > 50.0 && area.height() < 78.0, qPrintable(QString::number(area.height())));
    const double pixels = 2.0 / area.height();
    int colour = 0;
    for (const auto& [name, y] :
         {std::pair("upper", 5.0), std::pair("middle", 0.0), std::pair("lower", -5.0)}) {
        Series series;
        series.name = series.label.text = name;
        series.style = SeriesStyle::Line;
        series.colour = colour++;
        series.x = makeValues({0.0, 100.0});
        series.y = makeValues({y * pixels, y * pixels});
        figure.series.push_back(std::move(series));
    }
    QStringList names;
    for (const DrawnText& text : figureTexts(rect, figure, {}))
        if (text.text == "upper" || text.text == "middle" || text.text == "lower")
            names.append(text.text);
    names.sort();
    QCOMPARE(names, (QStringList{"lower", "upper"}));
}

/// As in the figure of pairs: a cumulated line in the colour of the bars, first in the list, is seen on them.
void TestFigureRenderer::linesLieOverBars()
{
    for (const SeriesStyle lineStyle : {SeriesStyle::Line, SeriesStyle::Steps})
        for (const bool isLineFirst : {true, false}) {
            FigureSpec figure;
            figure.configurations = {sampleConfiguration(0)};
            figure.xAxis = {"pair", AxisKind::Pair, false, -0.5, 7.5};
            figure.yAxis = {"y", AxisKind::Plain, false, 0.0, 1.0};
            Series line, bars;
            line.name = "line";
            line.style = lineStyle;
            line.colour = 1;
            bars.name = "bars";
            bars.style = SeriesStyle::Bars;
            bars.colour = 0;
            line.x = bars.x = makeValues({0, 1, 2, 3, 4, 5, 6, 7});
            line.y = makeValues(std::vector<double>(8, 0.5));
            bars.y = makeValues(std::vector<double>(8, 0.9));
            figure.series = isLineFirst ? std::vector<Series>{line, bars} : std::vector<Series>{bars, line};
            const QSize size(600, 400);
            const FigureStyle style{RenderOptions()};
            const auto layout = layoutAxes(
                style, layoutFigure(style, QRectF({}, QSizeF(size)), figure).plots.front().content, figure);
            const QImage image = draw(figure, size, {});
            const QColor lineColour = style.seriesColour(figure, line);
            for (int pair = 1; pair < 7; ++pair) {
                const QPoint middle(static_cast<int>(layout.x.toPixel(pair)),
                                    static_cast<int>(layout.y.toPixel(0.5)));
                // The line is thin, and the bar that it lies on may step back.
                const auto apart = [](const QColor& one, const QColor& other) {
                    return std::abs(one.red() - other.red()) + std::abs(one.green() - other.green()) +
                           std::abs(one.blue() - other.blue());
                };
                const QColor bar = image.pixelColor(middle + QPoint(0, 20));
                QVERIFY(apart(bar, style.colours().figure) > 60);
                int most = 0;
                for (int row = -3; row <= 3; ++row)
                    most = std::max(most, apart(image.pixelColor(middle + QPoint(0, row)), bar));
                QVERIFY2(most > apart(lineColour, bar) / 2, qPrintable(QString::number(most)));
            }
        }
}

/// A caption that finds no room for all of it says whole parts, not the beginning of one; and what it has to
/// say of plots that are not shown, always.
void TestFigureRenderer::captionsLoseWholeParts()
{
    FigureSpec figure = *madeUpFigure("plots");
    const QStringList parts{"the first part says what this is", "the second part has some numbers 1, 2 and 3",
                            "the third part tells of something else again",
                            "the fourth of what nobody asked for",
                            "the last part is the longest of them all and would take more than a line"};
    figure.caption = parts.join(" · ").toStdString();
    const FigureStyle style{RenderOptions()};
    qsizetype shortest = parts.size();
    qsizetype longest = 0;
    bool hasShownSome = false;
    for (const QSizeF size :
         {QSizeF(240, 200), QSizeF(321, 227), QSizeF(330, 260), QSizeF(420, 300), QSizeF(1300, 900)}) {
        const FigureLayout layout = layoutFigure(style, QRectF({}, size), figure);
        QString caption = layout.captionLines.join(u' ');
        QVERIFY2(!caption.contains(u'…'), qPrintable(caption));
        const bool isAlone = layout.plots.size() == 1;
        QCOMPARE(caption.endsWith("more plots where the figure is larger"), isAlone);
        QStringList shown = caption.split(" · ");
        if (isAlone)
            shown.removeLast();
        QCOMPARE(shown, parts.mid(0, shown.size()));
        shortest = std::min(shortest, shown.size());
        longest = std::max(longest, shown.size());
        hasShownSome = hasShownSome || (shown.size() > 1 && shown.size() < parts.size());
    }
    QVERIFY(shortest < parts.size() && hasShownSome); // as many as there is room for, not the first alone
    QCOMPARE(longest, parts.size());
}

void TestFigureRenderer::pointsLieWhereTheyAre()
{
    FigureSpec figure = sampleClouds(1);
    figure.series.resize(1);
    for (const double at : {-3.03, 0.21, 2.77}) {
        figure.series[0].x = makeValues({at});
        figure.series[0].y = makeValues({-at / 2});
        const QRectF rect(0, 0, 480, 320);
        const QImage image = draw(figure, rect.size().toSize(), {});
        const FigureStyle style{RenderOptions()};
        const AxisLayout layout =
            layoutAxes(style, layoutFigure(style, rect, figure).plots.front().content, figure);
        // The middle of what has the colour.
        const QColor colour = style.colours().curves[0];
        double sum = 0.0;
        double x = 0.0;
        double y = 0.0;
        for (int row = static_cast<int>(layout.area.top()); row < layout.area.bottom(); ++row)
            for (int column = static_cast<int>(layout.area.left()); column < layout.area.right(); ++column) {
                const QColor pixel = image.pixelColor(column, row);
                const double share = (255.0 - pixel.red()) / (255.0 - colour.red());
                if (pixel.blue() - pixel.red() < 60)
                    continue;
                sum += share;
                x += share * (column + 0.5);
                y += share * (row + 0.5);
            }
        QVERIFY(sum > 10.0);
        QVERIFY2(std::fabs(x / sum - layout.x.toPixel(at) - 0.5) < 0.3,
                 qPrintable(QString("%1 for %2").arg(x / sum).arg(layout.x.toPixel(at) + 0.5)));
        QVERIFY(std::fabs(y / sum - layout.y.toPixel(-at / 2) - 0.5) < 0.3);
        const FigureHit hit =
            hitFigure({layout.x.toPixel(at) + 3.0, layout.y.toPixel(-at / 2)}, rect, figure, {});
        QCOMPARE(hit.series, 0);
        QCOMPARE(hit.sample, std::size_t(0));
    }
}

void TestFigureRenderer::survivesOddInput_data()
{
    QTest::addColumn<QString>("id");
    for (const char* id : kIds)
        QTest::newRow(id) << id;
}

void TestFigureRenderer::survivesOddInput()
{
    QFETCH(QString, id);
    FigureSpec figure = sampleFigure(qPrintable(id), m_results[2]);
    for (const QSize size : {QSize(1, 1), QSize(20, 300), QSize(300, 20), QSize(90, 70), QSize(200, 150)})
        for (const double scale : {0.5, 1.0, 2.5}) {
            RenderOptions options;
            options.scale = scale;
            draw(figure, size, options);
            hitFigure(QPointF(size.width() / 2.0, size.height() / 2.0), QRectF(QPointF(), QSizeF(size)),
                      figure, options);
        }
    // Gaps, infinities and values far outside the axis.
    for (Series& series : figure.series) {
        std::vector<double> y = *series.y;
        for (std::size_t i = 0; i < y.size(); ++i)
            y[i] = i % 5 == 0 ? std::nan("") : i % 7 == 0 ? INFINITY : i % 11 == 0 ? -1e300 : y[i];
        series.y = makeValues(std::move(y));
    }
    draw(figure, {476, 312}, {});
    draw(FigureSpec{}, {476, 312}, {});
}

/// A heading stands only where what it heads is drawn below it, at any height.
void TestFigureRenderer::noHeadingWithoutItsPlot()
{
    FigureSpec figure;
    figure.title = "Two";
    figure.configurations.emplace_back();
    figure.xAxis = figure.yAxis = {"axis", AxisKind::Plain, false, 0.0, 1.0};
    PlotSpec matrix;
    matrix.plotTitle = "R(m)";
    matrix.column = 1;
    TableSpec table;
    table.rows = table.columns = 2;
    table.isMatrix = true;
    for (const char* cell : {"11.5", "12.5", "21.5", "22.5"})
        table.cells.push_back({cell});
    matrix.table = table;
    figure.rowSpan = 3; // as in `plane`: three matrices beside the circle
    for (matrix.row = 0; matrix.row < 3; ++matrix.row)
        figure.more.push_back(matrix);
    int with = 0, without = 0;
    for (int height = 150; height <= 420; height += 2) {
        QStringList texts;
        for (const DrawnText& text : figureTexts(QRectF(0, 0, 640, height), figure, {}))
            texts.append(text.text);
        QCOMPARE(texts.contains("R(m)"), texts.contains("22.5"));
        ++(texts.contains("R(m)") ? with : without);
    }
    QVERIFY(with > 0 && without > 0);
}

/// The name of an upright axis that is longer than the axis goes on in a second line.
void TestFigureRenderer::longAxisNamesGoOn()
{
    FigureSpec figure;
    figure.configurations.emplace_back();
    figure.xAxis = {"x", AxisKind::Plain, false, 0.0, 1.0};
    figure.yAxis = {"share of all positions (percent)", AxisKind::Plain, false, 0.0, 1.0};
    const auto named = [&](int height) {
        QStringList words;
        for (const DrawnText& text : figureTexts(QRectF(0, 0, 480, height), figure, {}))
            if (text.box.height() > text.box.width() && text.text.size() > 4)
                words.append(text.text);
        return words;
    };
    QCOMPARE(named(400), QStringList{"share of all positions (percent)"});
    const QStringList two = named(170);
    QCOMPARE(two.size(), 2);
    QCOMPARE(two.join(u' '), "share of all positions (percent)");
}

QTEST_MAIN(TestFigureRenderer)
#include "test_figure_renderer.moc"
