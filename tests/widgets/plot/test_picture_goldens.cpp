// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of figures against stored ones (tests/golden). What they show is tested as numbers
// elsewhere; here a change of looks is noticed. Font and toolkit versions move single pixels, so means over
// 4×4 pixels are compared.
//
// To accept a change: look at the pictures that the failing test names, then run it with
// ROPEWALK_ACCEPT_GOLDENS=1.

#include "sample_figures.h"
#include "widgets/plot/figure_renderer.h"

#include <QDir>
#include <QImage>
#include <QPainter>
#include <QTemporaryDir>
#include <QTest>

using namespace ropewalk;

namespace {

const QSize kSize(480, 320);
const QSize kLargeSize(800, 500); ///< of figures with plots beside the main one
constexpr int kBlock = 4;
/// Of 255, mean over the picture. Other versions of font and toolkit (Debian 13 against 12) come to 3.9 on
/// the dense decay; a figure that lacks a curve is far beyond.
constexpr double kLargestMean = 6.0;
/// Share of blocks that may differ by more than a quarter of the range.
constexpr double kLargestShare = 0.02;

FigureSpec figureOf(const QByteArray& id)
{
    auto madeUp = madeUpFigure(id.toStdString());
    return madeUp ? *std::move(madeUp) : sampleFigure(id, sampleResults(2, {}, id.toStdString()));
}

bool isLarge(const QByteArray& id)
{
    const FigureInfo* figure = findFigure(id.toStdString());
    return figure && figure->compute && !figure->needsDecay;
}

QImage draw(const QByteArray& id, Theme theme)
{
    QImage image(isLarge(id) ? kLargeSize : kSize, QImage::Format_RGB32);
    image.fill(Qt::black);
    QPainter painter(&image);
    RenderOptions options;
    options.theme = theme;
    paintFigure(painter, QRectF(QPointF(), QSizeF(image.size())), figureOf(id), options);
    return image;
}

struct Difference
{
    double mean = 255.0;
    double share = 1.0;
};

Difference compare(const QImage& a, const QImage& b)
{
    if (a.size() != b.size())
        return {};
    const auto means = [](const QImage& image) {
        return image.scaled(image.width() / kBlock, image.height() / kBlock, Qt::IgnoreAspectRatio,
                            Qt::SmoothTransformation);
    };
    const QImage left = means(a);
    const QImage right = means(b);
    double sum = 0.0;
    int far = 0;
    for (int y = 0; y < left.height(); ++y) {
        for (int x = 0; x < left.width(); ++x) {
            const QColor p = left.pixelColor(x, y);
            const QColor q = right.pixelColor(x, y);
            const int worst = std::max({std::abs(p.red() - q.red()), std::abs(p.green() - q.green()),
                                        std::abs(p.blue() - q.blue())});
            sum += worst;
            far += worst > 64;
        }
    }
    const double count = static_cast<double>(left.width()) * left.height();
    return {sum / count, far / count};
}

} // namespace

class TestPictureGoldens : public QObject
{
    Q_OBJECT
private slots:
    void pictures_data()
    {
        QTest::addColumn<QByteArray>("id");
        QTest::addColumn<int>("theme");
        for (const FigureInfo& figure : figureCatalog())
            QTest::addRow("%s light", figure.id.data())
                << QByteArray(figure.id.data()) << static_cast<int>(Theme::Light);
        for (const char* id : {"map", "table", "clouds", "plots", "matrix"})
            QTest::addRow("%s light", id) << QByteArray(id) << static_cast<int>(Theme::Light);
        for (const char* id : {"plane", "plots"})
            QTest::addRow("%s dark", id) << QByteArray(id) << static_cast<int>(Theme::Dark);
    }
    void pictures()
    {
        QFETCH(QByteArray, id);
        QFETCH(int, theme);
        const QImage drawn = draw(id, static_cast<Theme>(theme));
        const QString name = id + (theme == static_cast<int>(Theme::Dark) ? "-dark.png" : "-light.png");
        const QString golden = QDir(QStringLiteral(ROPEWALK_TEST_DATA "/../golden")).filePath(name);
        if (qEnvironmentVariableIsSet("ROPEWALK_ACCEPT_GOLDENS")) {
            QVERIFY(drawn.save(golden, "PNG", 0));
            return;
        }
        const Difference difference = compare(drawn, QImage(golden));
        if (difference.mean > kLargestMean || difference.share > kLargestShare) {
            const QString seen = QDir::current().filePath(name);
            drawn.save(seen);
            QFAIL(qPrintable(
                QString("%1 differs from %2: mean %3 of 255, %4 of the blocks far off; look at both, then "
                        "accept with ROPEWALK_ACCEPT_GOLDENS=1")
                    .arg(seen, golden)
                    .arg(difference.mean)
                    .arg(difference.share)));
        }
    }

    /// The comparison sees what it is there for.
    void aMissingCurveIsSeen()
    {
        FigureResults results = sampleResults(2);
        FigureSpec spec = sampleFigure("decay", results);
        std::erase_if(spec.series, [](const Series& series) { return series.configuration == 1; });
        QImage image(kSize, QImage::Format_RGB32);
        QPainter painter(&image);
        paintFigure(painter, QRectF(QPointF(), QSizeF(kSize)), spec, {});
        painter.end();
        const Difference difference = compare(image, draw("decay", Theme::Light));
        QVERIFY2(difference.mean > 1.2 * kLargestMean || difference.share > 1.2 * kLargestShare,
                 qPrintable(QString("mean %1, share %2").arg(difference.mean).arg(difference.share)));
        QCOMPARE(compare(image, image).mean, 0.0);
    }
};

QTEST_MAIN(TestPictureGoldens)
#include "test_picture_goldens.moc"
