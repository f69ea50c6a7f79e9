// SPDX-License-Identifier: GPL-3.0-or-later
// Lines and bars on pixels, against samples counted within each pixel and against Qt's own lines.

#include "widgets/plot/raster_canvas.h"

#include <QImage>
#include <QPicture>
#include <QtTest>

#include <cmath>
#include <random>

using namespace ropewalk;

namespace {

QImage whiteImage(int width, int height, QImage::Format format = QImage::Format_RGB32)
{
    QImage image(width, height, format);
    image.fill(Qt::white);
    return image;
}

/// How much of a pixel is covered by black on white.
double covered(const QImage& image, int x, int y)
{
    return 1.0 - qRed(image.pixel(x, y)) / 255.0;
}

double coveredArea(const QImage& image)
{
    double sum = 0.0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            sum += covered(image, x, y);
    return sum;
}

/// The share of 32 × 32 points of a pixel that lie within half a width of the line through a and b.
double sampledCover(const QPointF& a, const QPointF& b, double width, int x, int y)
{
    constexpr int kPoints = 32;
    const QPointF way = (b - a) / std::hypot((b - a).x(), (b - a).y());
    int within = 0;
    for (int i = 0; i < kPoints; ++i)
        for (int j = 0; j < kPoints; ++j) {
            const QPointF at = QPointF(x + (i + 0.5) / kPoints, y + (j + 0.5) / kPoints) - a;
            within += std::fabs(way.x() * at.y() - way.y() * at.x()) <= width / 2.0;
        }
    return static_cast<double>(within) / (kPoints * kPoints);
}

/// A random line within an image of 64 × 64, not touching its edges.
struct RandomLine
{
    QPointF from, to;
    double width = 1.0;
};

RandomLine randomLine(std::mt19937& random)
{
    std::uniform_real_distribution<double> place(8.0, 56.0), width(0.7, 5.0);
    RandomLine line{{place(random), place(random)}, {place(random), place(random)}, width(random)};
    if (random() % 6 == 0)
        line.to.setY(line.from.y());
    else if (random() % 6 == 0)
        line.to.setX(line.from.x());
    return line;
}

} // namespace

class TestRasterCanvas : public QObject
{
    Q_OBJECT

private slots:
    void linesCoverTheirArea()
    {
        std::mt19937 random(1);
        double worst = 0.0;
        for (int i = 0; i < 300; ++i) {
            const RandomLine line = randomLine(random);
            QImage image = whiteImage(64, 64);
            QPainter painter(&image);
            RasterCanvas::of(painter)->drawPolyline({line.from, line.to}, line.width, Qt::black);
            painter.end();
            const double length = std::hypot((line.to - line.from).x(), (line.to - line.from).y());
            const double area = line.width * length + M_PI / 4.0 * line.width * line.width; // round ends
            // By the distance from an end a small round end is covered a little too well.
            worst = std::max(worst, (std::fabs(coveredArea(image) - area) - 0.4) / area);
        }
        QVERIFY2(worst < 0.015, qPrintable(QString::number(worst)));
    }

    void pixelsAreCoveredAsSamplesSay()
    {
        std::mt19937 random(2);
        double worst = 0.0;
        int compared = 0;
        for (int i = 0; i < 120; ++i) {
            const RandomLine line = randomLine(random);
            QImage image = whiteImage(64, 64);
            QPainter painter(&image);
            RasterCanvas::of(painter)->drawPolyline({line.from, line.to}, line.width, Qt::black);
            painter.end();
            const QPointF way = line.to - line.from;
            const double length = std::hypot(way.x(), way.y());
            for (int y = 0; y < 64; ++y)
                for (int x = 0; x < 64; ++x) {
                    // Away from the ends.
                    const QPointF at = QPointF(x + 0.5, y + 0.5) - line.from;
                    const double along = QPointF::dotProduct(at, way) / length;
                    if (along < line.width + 2.0 || along > length - line.width - 2.0)
                        continue;
                    worst = std::max(worst, std::fabs(covered(image, x, y) -
                                                      sampledCover(line.from, line.to, line.width, x, y)));
                    ++compared;
                }
        }
        QVERIFY(compared > 20000);
        QVERIFY2(worst < 0.05, qPrintable(QString::number(worst)));
    }

    void linesLookAsQtDrawsThem()
    {
        std::mt19937 random(3);
        double sum = 0.0;
        for (int i = 0; i < 60; ++i) {
            const RandomLine line = randomLine(random);
            QImage ours = whiteImage(64, 64), theirs = whiteImage(64, 64);
            QPainter painter(&ours);
            RasterCanvas::of(painter)->drawPolyline({line.from, line.to}, line.width, QColor(20, 90, 200));
            painter.end();
            QPainter other(&theirs);
            other.setRenderHint(QPainter::Antialiasing);
            other.setPen(QPen(QColor(20, 90, 200), line.width, Qt::SolidLine, Qt::RoundCap));
            other.drawLine(line.from, line.to);
            other.end();
            double difference = 0.0;
            for (int y = 0; y < 64; ++y)
                for (int x = 0; x < 64; ++x)
                    difference += std::abs(qRed(ours.pixel(x, y)) - qRed(theirs.pixel(x, y))) / 235.0;
            sum += difference / std::max(1.0, coveredArea(theirs));
        }
        QVERIFY2(sum / 60 < 0.06, qPrintable(QString::number(sum / 60)));
    }

    void dotsAreRound()
    {
        QImage image = whiteImage(64, 64);
        QPainter painter(&image);
        auto canvas = RasterCanvas::of(painter);
        canvas->drawPolyline({{20.3, 31.7}, {20.5, 31.7}}, 9.0, Qt::black);
        painter.end();
        for (int y = 0; y < 64; ++y)
            for (int x = 0; x < 64; ++x) {
                const double away = std::hypot(x + 0.5 - 20.4, y + 0.5 - 31.7);
                if (std::fabs(away - 4.5) > 0.9)
                    QVERIFY2(std::fabs(covered(image, x, y) - (away < 4.5 ? 1.0 : 0.0)) < 0.01,
                             qPrintable(QStringLiteral("%1, %2").arg(x).arg(y)));
            }
    }

    /// A corner is as dark as the lines that meet in it, and no darker at its edge.
    void sharpCornersAreAsQtJoinsThem()
    {
        std::mt19937 random(4);
        std::uniform_real_distribution<double> place(8.0, 56.0), width(1.0, 5.0);
        double sum = 0.0;
        for (int i = 0; i < 60; ++i) {
            const QPolygonF points{{place(random), place(random)},
                                   {place(random), place(random)},
                                   {place(random), place(random)}};
            const double wide = width(random);
            QImage ours = whiteImage(64, 64), theirs = whiteImage(64, 64);
            QPainter painter(&ours);
            RasterCanvas::of(painter)->drawPolyline(points, wide, Qt::black);
            painter.end();
            QPainter other(&theirs);
            other.setRenderHint(QPainter::Antialiasing);
            other.setPen(QPen(Qt::black, wide, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
            other.drawPolyline(points);
            other.end();
            sum += std::fabs(coveredArea(ours) - coveredArea(theirs)) / coveredArea(theirs);
        }
        QVERIFY2(sum / 60 < 0.02, qPrintable(QString::number(sum / 60)));
    }

    /// Where pieces of a smooth curve meet nothing is drawn twice: no beads.
    void smoothCornersHaveNoBeads()
    {
        const QPointF from(6.2, 20.3), to(57.7, 33.1);
        QPolygonF many;
        for (int i = 0; i <= 40; ++i)
            many.append(from + (to - from) * (i / 40.0));
        QImage one = whiteImage(64, 64), pieces = whiteImage(64, 64);
        for (auto [image, points] : {std::pair(&one, QPolygonF{from, to}), std::pair(&pieces, many)}) {
            QPainter painter(image);
            RasterCanvas::of(painter)->drawPolyline(points, 1.6, Qt::black);
        }
        double worst = 0.0;
        for (int y = 0; y < 64; ++y)
            for (int x = 0; x < 64; ++x)
                worst = std::max(worst, std::fabs(covered(one, x, y) - covered(pieces, x, y)));
        QVERIFY2(worst < 0.01, qPrintable(QString::number(worst)));
        QVERIFY(std::fabs(coveredArea(one) - coveredArea(pieces)) < 1e-3 * coveredArea(one));
    }

    void nothingOutsideTheClip()
    {
        QImage image = whiteImage(64, 64);
        QPainter painter(&image);
        painter.translate(10.0, 5.0);
        painter.setClipRect(QRectF(2.0, 3.0, 30.0, 20.0)); // pixels 12 … 41, 8 … 27
        auto canvas = RasterCanvas::of(painter);
        QVERIFY(canvas);
        QCOMPARE(canvas->toDevice({1.0, 2.0}), QPointF(11.0, 7.0));
        canvas->drawPolyline({{-100.0, -80.0}, {120.0, 90.0}, {4.0, 90.0}, {4.0, -90.0}}, 3.0, Qt::black);
        const std::vector<double> tops(100, -50.0), bottoms(100, 500.0);
        canvas->fillBars(-10, tops, bottoms, QColor(0, 0, 0, 128));
        painter.end();
        for (int y = 0; y < 64; ++y)
            for (int x = 0; x < 64; ++x) {
                const bool isInside = x >= 12 && x <= 41 && y >= 8 && y <= 27;
                QCOMPARE(covered(image, x, y) > 0.0, isInside);
            }
    }

    void barsCoverTheirRows_data()
    {
        QTest::addColumn<int>("columns");
        for (const int columns : {1, 3, 4, 15, 16, 17, 50})
            QTest::addRow("%d", columns) << columns;
    }
    void barsCoverTheirRows()
    {
        QFETCH(int, columns);
        std::mt19937 random(static_cast<unsigned>(columns));
        std::uniform_real_distribution<double> place(-4.0, 36.0);
        std::vector<double> tops, bottoms;
        for (int i = 0; i < columns; ++i) {
            tops.push_back(place(random));
            bottoms.push_back(i % 3 == 0 ? tops.back() + 0.4
                                         : place(random)); // some within a row, some empty
        }
        if (columns > 2)
            tops[1] = std::nan("");
        const QColor colour(200, 40, 10, 77);
        QImage image = whiteImage(60, 32);
        QPainter painter(&image);
        RasterCanvas::of(painter)->fillBars(5, tops, bottoms, colour);
        painter.end();
        for (int y = 0; y < 32; ++y)
            for (int x = 0; x < 60; ++x) {
                const int column = x - 5;
                double cover = 0.0;
                if (column >= 0 && column < columns) {
                    const auto index = static_cast<std::size_t>(column);
                    cover = std::min(bottoms[index], y + 1.0) - std::max<double>(tops[index], y);
                    if (!(cover > 0.0))
                        cover = 0.0;
                }
                const QRgb pixel = image.pixel(x, y);
                const auto expected = [&](int channel) {
                    return 255.0 + (channel - 255.0) * cover * colour.alphaF();
                };
                QVERIFY2(std::fabs(qRed(pixel) - expected(200)) <= 1.5 &&
                             std::fabs(qGreen(pixel) - expected(40)) <= 1.5 &&
                             std::fabs(qBlue(pixel) - expected(10)) <= 1.5,
                         qPrintable(QStringLiteral("%1, %2: %3 for a cover of %4")
                                        .arg(x)
                                        .arg(y)
                                        .arg(QString::number(pixel, 16))
                                        .arg(cover)));
                QCOMPARE(qAlpha(pixel), 255);
            }
    }

    void qtDrawsWhereThereAreNoPixels()
    {
        QImage image = whiteImage(8, 8);
        QPainter painter(&image);
        QVERIFY(RasterCanvas::of(painter));
        painter.rotate(3.0);
        QVERIFY(!RasterCanvas::of(painter));
        painter.resetTransform();
        painter.scale(2.0, 2.0);
        QVERIFY(!RasterCanvas::of(painter));
        painter.resetTransform();
        painter.setClipRegion(QRegion(0, 0, 2, 2) + QRegion(4, 4, 2, 2));
        QVERIFY(!RasterCanvas::of(painter));
        painter.setClipping(false);
        painter.setOpacity(0.5);
        QVERIFY(!RasterCanvas::of(painter));
        painter.end();
        QImage straight = whiteImage(8, 8, QImage::Format_ARGB32);
        QPainter onStraight(&straight);
        QVERIFY(!RasterCanvas::of(onStraight));
        onStraight.end();
        QPicture picture;
        QPainter recorder(&picture);
        QVERIFY(!RasterCanvas::of(recorder));
    }
};

QTEST_MAIN(TestRasterCanvas)
#include "test_raster_canvas.moc"
