// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample_figures.h"
#include "widgets/plot/colour_tables.h"
#include "widgets/plot/figure_exporter.h"
#include "widgets/plot/figure_layout.h"
#include "widgets/plot/map_painter.h"

#include <QImage>
#include <QRegularExpression>
#include <QtTest>

using namespace ropewalk;

namespace {

const QRectF kArea(10, 20, 240, 160);

QImage drawMap(const PlotSpec& plot, const QRectF& area = kArea, Theme theme = Theme::Light)
{
    QImage image(300, 220, QImage::Format_RGB32);
    image.fill(Qt::magenta);
    QPainter painter(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    RenderOptions options;
    options.theme = theme;
    paintMap(painter, FigureStyle(options), area, plot, plot.maps.front());
    painter.end();
    return image;
}

/// rows × columns cells of distinct values over the whole of both axes.
PlotSpec cells(std::int64_t rows, std::int64_t columns)
{
    PlotSpec plot;
    plot.xAxis = {{}, AxisKind::Plain, false, 0.0, static_cast<double>(columns)};
    plot.yAxis = {{}, AxisKind::Plain, false, 0.0, static_cast<double>(rows)};
    plot.yAxis.isReversed = true;
    MapSpec map;
    map.rows = rows;
    map.columns = columns;
    map.xUpper = plot.xAxis.upper;
    map.yUpper = plot.yAxis.upper;
    map.upper = static_cast<double>(rows * columns);
    std::vector<double> values;
    for (std::int64_t i = 0; i < rows * columns; ++i)
        values.push_back(static_cast<double>(i * 37 % (rows * columns)) + 0.5);
    map.values = makeValues(std::move(values));
    plot.maps = {map};
    return plot;
}

} // namespace

class TestMapPainter : public QObject
{
    Q_OBJECT
private slots:
    void everyPixelIsItsCell_data();
    void everyPixelIsItsCell();
    void cellsAreEvenAlongALogarithm();
    void pooledAsItSays_data();
    void pooledAsItSays();
    void aFastPairIsFlatGrey();
    void anglesArePooledByDirection();
    void whatIsCutOffIsLeftOut();
    void vectorsHoldOnePixelACell();
    void survivesOddMaps();
};

void TestMapPainter::everyPixelIsItsCell_data()
{
    QTest::addColumn<bool>("isXReversed");
    QTest::addColumn<bool>("isYReversed");
    for (const bool x : {false, true})
        for (const bool y : {false, true})
            QTest::addRow("x %d, y %d", x, y) << x << y;
}

void TestMapPainter::everyPixelIsItsCell()
{
    QFETCH(bool, isXReversed);
    QFETCH(bool, isYReversed);
    for (const auto& [rows, columns] : {std::pair(7, 11), std::pair(160, 240), std::pair(1, 1)}) {
        PlotSpec plot = cells(rows, columns);
        plot.xAxis.isReversed = isXReversed;
        plot.yAxis.isReversed = isYReversed;
        const QImage image = drawMap(plot);
        const MapColours colours(plot.maps.front(), Theme::Light);
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x) {
                if (!kArea.contains(QPointF(x + 0.5, y + 0.5))) {
                    QCOMPARE(image.pixelColor(x, y), QColor(Qt::magenta));
                    continue;
                }
                int column = static_cast<int>((x + 0.5 - 10) / 240 * columns);
                int row = static_cast<int>((y + 0.5 - 20) / 160 * rows);
                if (isXReversed)
                    column = columns - 1 - column;
                if (!isYReversed) // then row 0 lies below
                    row = rows - 1 - row;
                const double value = (*plot.maps[0].values)[static_cast<std::size_t>(row * columns + column)];
                QCOMPARE(image.pixel(x, y), colours(value));
                const auto cell = mapCellAt(kArea, plot, plot.maps[0], QPointF(x + 0.5, y + 0.5));
                QVERIFY(cell && cell->row == row && cell->column == column);
                QVERIFY(mapCellRect(kArea, plot, plot.maps[0], *cell).contains(QPointF(x + 0.5, y + 0.5)));
            }
    }
}

void TestMapPainter::cellsAreEvenAlongALogarithm()
{
    PlotSpec plot = cells(4, 3);
    plot.xAxis = {{}, AxisKind::Tokens, true, 1.0, 1000.0};
    plot.maps[0].xLower = 1.0;
    plot.maps[0].xUpper = 1000.0;
    // Each column is a decade, a third of the width.
    for (int column = 0; column < 3; ++column) {
        const QRectF rect = mapCellRect(kArea, plot, plot.maps[0], {0, column});
        QVERIFY(std::fabs(rect.left() - (10 + 80 * column)) < 1e-9 && std::fabs(rect.width() - 80) < 1e-9);
        const auto range = mapColumnRange(plot, plot.maps[0], column);
        QVERIFY(std::fabs(range.first / std::pow(10.0, column) - 1.0) < 1e-12);
        QVERIFY(std::fabs(range.second / std::pow(10.0, column + 1) - 1.0) < 1e-12);
    }
}

void TestMapPainter::pooledAsItSays_data()
{
    QTest::addColumn<QString>("pooling");
    for (const char* pooling : {"mean", "min", "max", "none"})
        QTest::newRow(pooling) << pooling;
}

void TestMapPainter::pooledAsItSays()
{
    QFETCH(QString, pooling);
    PlotSpec plot = cells(320, 720); // two rows and three columns a pixel
    plot.maps[0].pooling = pooling.toStdString();
    std::vector<double> values = *plot.maps[0].values;
    values[0] = std::nan("");
    values[720] = std::nan("");
    plot.maps[0].values = makeValues(values);
    const QImage image = drawMap(plot);
    const MapColours colours(plot.maps[0], Theme::Light);
    for (int y = 0; y < 160; ++y)
        for (int x = 0; x < 240; ++x) {
            double sum = 0.0;
            double least = INFINITY;
            double greatest = -INFINITY;
            int count = 0;
            for (int row = 2 * y; row < 2 * y + 2; ++row)
                for (int column = 3 * x; column < 3 * x + 3; ++column) {
                    const double value = values[static_cast<std::size_t>(720 * row + column)];
                    if (std::isnan(value))
                        continue;
                    sum += value;
                    ++count;
                    least = std::min(least, value);
                    greatest = std::max(greatest, value);
                }
            const double expected = pooling == "min" ? least : pooling == "max" ? greatest : sum / count;
            QCOMPARE(image.pixel(x + 10, y + 20), colours(expected));
        }
}

void TestMapPainter::aFastPairIsFlatGrey()
{
    PlotSpec plot = cells(640, 960);
    plot.maps[0].colours = ColourTable::Diverging;
    plot.maps[0].lower = -1.0;
    plot.maps[0].upper = 1.0;
    std::vector<double> values;
    for (int m = 0; m < 640; ++m)
        for (int n = 0; n < 960; ++n)
            values.push_back((m - n) % 2 == 0 ? 1.0 : -1.0);
    plot.maps[0].values = makeValues(std::move(values));
    const QImage image = drawMap(plot);
    const QRgb middle = colourRamp(ColourTable::Diverging, Theme::Light)[128];
    for (int y = 20; y < 180; ++y)
        for (int x = 10; x < 250; ++x)
            QCOMPARE(image.pixel(x, y), middle);
}

void TestMapPainter::anglesArePooledByDirection()
{
    PlotSpec plot = cells(1, 480);
    MapSpec& map = plot.maps[0];
    map.colours = ColourTable::Cyclic;
    map.lower = -3.0;
    map.upper = 3.0;
    std::vector<double> values; // either side of the seam: the mean of the numbers would be 0, opposite
    for (int i = 0; i < 480; ++i)
        values.push_back(i % 2 == 0 ? 2.9 : -2.9);
    map.values = makeValues(std::move(values));
    const QColor seam = QColor(colourRamp(ColourTable::Cyclic, Theme::Light)[0]);
    const QColor seen = QColor(drawMap(plot).pixel(100, 100));
    QVERIFY(std::abs(seen.red() - seam.red()) + std::abs(seen.green() - seam.green()) +
                std::abs(seen.blue() - seam.blue()) <
            12);
}

void TestMapPainter::whatIsCutOffIsLeftOut()
{
    // Half of the map lies beyond each end of the axes; the area is filled, and nothing else.
    PlotSpec plot = cells(8, 8);
    plot.xAxis.lower = 2.3;
    plot.xAxis.upper = 5.9;
    plot.yAxis.lower = 1.7;
    plot.yAxis.upper = 6.2;
    const MapColours colours(plot.maps[0], Theme::Light);
    QImage raster = drawMap(plot);
    QImage vector(300, 220, QImage::Format_RGB32);
    vector.fill(Qt::magenta);
    QPainter painter(&vector);
    RenderOptions options;
    options.isVector = true;
    paintMap(painter, FigureStyle(options), kArea, plot, plot.maps[0]);
    painter.end();
    int different = 0;
    for (int y = 0; y < 220; ++y)
        for (int x = 0; x < 300; ++x) {
            const bool isInside = kArea.contains(QPointF(x + 0.5, y + 0.5));
            QCOMPARE(raster.pixelColor(x, y) == QColor(Qt::magenta), !isInside);
            QCOMPARE(vector.pixelColor(x, y) == QColor(Qt::magenta), !isInside);
            if (isInside) {
                const int column = static_cast<int>(2.3 + (x + 0.5 - 10) / 240 * 3.6);
                const int row = static_cast<int>(1.7 + (y + 0.5 - 20) / 160 * 4.5);
                QCOMPARE(raster.pixel(x, y),
                         colours((*plot.maps[0].values)[static_cast<std::size_t>(8 * row + column)]));
                different += raster.pixel(x, y) != vector.pixel(x, y);
            }
        }
    QVERIFY2(different < 240 * 160 / 50, qPrintable(QString::number(different))); // edges fall between pixels
}

void TestMapPainter::vectorsHoldOnePixelACell()
{
    const FigureSpec figure = sampleMap(64);
    ExportOptions options;
    options.format = ExportFormat::Svg;
    const auto svg = exportFigure(figure, options);
    QVERIFY(svg);
    QRegularExpression embedded("data:image/png;base64,([A-Za-z0-9+/=\\s]+)\"");
    auto matches = embedded.globalMatch(QString::fromUtf8(svg.value()));
    bool isFound = false;
    while (matches.hasNext()) {
        const QImage image = QImage::fromData(QByteArray::fromBase64(matches.next().captured(1).toUtf8()))
                                 .convertToFormat(QImage::Format_RGB32);
        if (image.size() != QSize(64, 64))
            continue;
        isFound = true;
        const MapColours colours(figure.maps[0], Theme::Print);
        for (int row = 0; row < 64; ++row)
            for (int column = 0; column < 64; ++column)
                QCOMPARE(image.pixel(column, row),
                         colours((*figure.maps[0].values)[static_cast<std::size_t>(64 * row + column)]));
    }
    QVERIFY(isFound);
    options.format = ExportFormat::Pdf;
    const auto pdf = exportFigure(figure, options);
    QVERIFY(pdf);
    QVERIFY(pdf.value().contains("/Width 64\n/Height 64"));
    QVERIFY(!pdf.value().contains("/DCTDecode")); // lossless
}

void TestMapPainter::survivesOddMaps()
{
    PlotSpec plot = cells(4, 4);
    plot.maps[0].values = makeValues({1.0, 2.0});
    drawMap(plot);
    QVERIFY(!mapCellAt(kArea, plot, plot.maps[0], kArea.center()));
    plot.maps[0].values = nullptr;
    drawMap(plot);
    plot = cells(4, 4);
    plot.maps[0].upper = plot.maps[0].lower;
    drawMap(plot);
    plot = cells(4, 4);
    plot.xAxis.lower = 100.0; // nothing of the map is in sight
    plot.xAxis.upper = 200.0;
    const QImage image = drawMap(plot);
    QCOMPARE(image.pixelColor(100, 100), QColor(Qt::magenta));
}

QTEST_MAIN(TestMapPainter)
#include "test_map_painter.moc"
