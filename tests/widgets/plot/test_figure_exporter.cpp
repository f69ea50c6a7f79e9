// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample_figures.h"
#include "widgets/plot/figure_exporter.h"
#include "widgets/plot/figure_layout.h"
#include "widgets/plot/series_painter.h"

#include <QImage>
#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>

using namespace ropewalk;

namespace {

constexpr const char* kIds[] = {"plane", "spectrum", "decay", "pairs"};

QByteArray exported(const FigureSpec& figure, const ExportOptions& options)
{
    const auto bytes = exportFigure(figure, options);
    if (!bytes)
        qWarning("%s", toEnglish(bytes.error()).c_str());
    return bytes ? bytes.value() : QByteArray();
}

ExportOptions columnOptions(ExportFormat format)
{
    ExportOptions options;
    options.format = format;
    options.sizeMm = {85.0, 60.0};
    return options;
}

/// A path or polyline of an SVG in the picture's coordinates, with its stroke.
struct SvgLine
{
    QString stroke;
    QPolygonF points;
};

std::vector<SvgLine> svgLines(const QByteArray& svg)
{
    std::vector<SvgLine> lines;
    QXmlStreamReader xml(svg);
    QTransform transform;
    QString stroke;
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement)
            continue;
        const auto attributes = xml.attributes();
        if (xml.name() == u"g") {
            const QString matrix = attributes.value("transform").toString();
            static const QRegularExpression number(QStringLiteral("[-+0-9.eE]+"));
            QList<double> values;
            for (auto match = number.globalMatch(matrix.mid(7)); match.hasNext();)
                values.append(match.next().captured().toDouble());
            transform = values.size() == 6
                            ? QTransform(values[0], values[1], values[2], values[3], values[4], values[5])
                            : QTransform();
            stroke = attributes.value("stroke").toString();
        } else if (xml.name() == u"polyline") {
            SvgLine line{stroke, {}};
            for (const QString& pair :
                 attributes.value("points").toString().split(u' ', Qt::SkipEmptyParts)) {
                const QStringList xy = pair.split(u',');
                line.points.append(transform.map(QPointF(xy[0].toDouble(), xy[1].toDouble())));
            }
            lines.push_back(std::move(line));
        }
    }
    return lines;
}

/// Runs a program of the system on a file; empty where it is not installed.
QString output(const QString& program, const QStringList& arguments)
{
    const QString path = QStandardPaths::findExecutable(program);
    if (path.isEmpty())
        return {};
    QProcess process;
    process.start(path, arguments);
    return process.waitForFinished() ? QString::fromUtf8(process.readAllStandardOutput()) : QString();
}

} // namespace

class TestFigureExporter : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase();
    void sameBytesTwice_data();
    void sameBytesTwice();
    void sameBytesAtEveryScaleFactor();
    void pngSize();
    void svgSizeFontAndDescription();
    void svgCurveIsTheFigure();
    void svgStaysInside();
    void pdfPageFontsAndText();
    void sizesAreChecked_data();
    void sizesAreChecked();
    void missingGlyphIsNamed();
    void chineseIsThere();
    void textFollowsPoints();

private:
    FigureResults m_results;
};

void TestFigureExporter::initTestCase()
{
    // A child of this test writes the bytes that its own scale factor gives.
    m_results = sampleResults(2);
    QCOMPARE(m_results.configurations.size(), std::size_t(2));
}

void TestFigureExporter::sameBytesTwice_data()
{
    QTest::addColumn<int>("format");
    QTest::addColumn<QByteArray>("start");
    QTest::newRow("pdf") << static_cast<int>(ExportFormat::Pdf) << QByteArray("%PDF-1");
    QTest::newRow("svg") << static_cast<int>(ExportFormat::Svg) << QByteArray("<?xml");
    QTest::newRow("png") << static_cast<int>(ExportFormat::Png) << QByteArray("\x89PNG");
}

void TestFigureExporter::sameBytesTwice()
{
    QFETCH(int, format);
    QFETCH(QByteArray, start);
    QList<QByteArray> first;
    for (const char* id : kIds)
        first.append(exported(sampleFigure(id, m_results), columnOptions(static_cast<ExportFormat>(format))));
    if (format == static_cast<int>(ExportFormat::Pdf))
        QTest::qSleep(1100); // a date of seconds would differ now
    for (int i = 0; i < 4; ++i) {
        QVERIFY(first[i].startsWith(start));
        QVERIFY(first[i] ==
                exported(sampleFigure(kIds[i], m_results), columnOptions(static_cast<ExportFormat>(format))));
    }
}

void TestFigureExporter::sameBytesAtEveryScaleFactor()
{
    const QByteArray own = qgetenv("ROPEWALK_TEST_WRITE");
    const FigureSpec figure = sampleFigure("decay", m_results);
    if (!own.isEmpty()) {
        QFile file(QString::fromLocal8Bit(own));
        QVERIFY(file.open(QIODevice::WriteOnly));
        for (const ExportFormat format : {ExportFormat::Png, ExportFormat::Svg, ExportFormat::Pdf})
            file.write(exported(figure, columnOptions(format)));
        return;
    }
    QByteArray expected;
    for (const ExportFormat format : {ExportFormat::Png, ExportFormat::Svg, ExportFormat::Pdf})
        expected += exported(figure, columnOptions(format));
    QTemporaryDir folder;
    for (const char* factor : {"1", "1.25", "2"}) {
        QProcess child;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("QT_SCALE_FACTOR", factor);
        environment.remove("QT_ENABLE_HIGHDPI_SCALING");
        environment.insert("ROPEWALK_TEST_WRITE", folder.filePath("bytes"));
        child.setProcessEnvironment(environment);
        child.start(QCoreApplication::applicationFilePath(), {"sameBytesAtEveryScaleFactor"});
        QVERIFY(child.waitForFinished(60000));
        QFile file(folder.filePath("bytes"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray bytes = file.readAll();
        QCOMPARE(bytes.size(), expected.size());
        QVERIFY2(bytes == expected, factor);
    }
}

void TestFigureExporter::pngSize()
{
    const QImage image =
        QImage::fromData(exported(sampleFigure("decay", m_results), columnOptions(ExportFormat::Png)));
    QCOMPARE(image.size(), QSize(1004, 709)); // 85 × 60 mm at 300 dpi
    QCOMPARE(image.dotsPerMeterX(), 11811);
    QCOMPARE(image.pixelColor(0, 0), QColor(Qt::white));
}

void TestFigureExporter::svgSizeFontAndDescription()
{
    const FigureSpec figure = sampleFigure("decay", m_results);
    const QByteArray svg = exported(figure, columnOptions(ExportFormat::Svg));
    QVERIFY(svg.contains("width=\"85mm\" height=\"60mm\""));
    QVERIFY(svg.contains("viewBox=\"0 0 391.5"));
    QVERIFY(svg.contains("<desc>Expected score over head_dim against distance"));
    // Every text names a font that exists, not an alias.
    QXmlStreamReader xml(svg);
    int texts = 0;
    while (!xml.atEnd())
        if (xml.readNext() == QXmlStreamReader::StartElement && xml.name() == u"text") {
            QCOMPARE(xml.attributes().value("font-family").toString(), QStringLiteral("Inter"));
            ++texts;
        }
    QVERIFY(!xml.hasError());
    QVERIFY(texts > 15);
}

void TestFigureExporter::svgCurveIsTheFigure()
{
    // Read the curve back from the file, undo the axes, and compare with what the figure's own numbers reduce
    // to.
    const FigureSpec figure = sampleFigure("decay", m_results);
    const ExportOptions exportOptions = columnOptions(ExportFormat::Svg);
    const auto lines = svgLines(exported(figure, exportOptions));
    RenderOptions options;
    options.theme = Theme::Print;
    options.isVector = true;
    const FigureStyle style(options);
    const QRectF rect(QPointF(), exportOptions.sizeMm * (72.0 / 25.4 * 13.0 / 8.0));
    const AxisLayout layout = layoutAxes(style, layoutFigure(style, rect, figure).content, figure);
    for (const Series& series : figure.series) {
        if (series.style != SeriesStyle::Line)
            continue;
        const QString stroke = style.configurationColour(figure, series.configuration).name();
        QPolygonF drawn;
        for (const SvgLine& line : lines)
            if (line.stroke == stroke && line.points.size() > drawn.size())
                drawn = line.points;
        const auto expected = reduceToColumns(
            *series.x, *series.y,
            {figure.xAxis.lower, figure.xAxis.upper, true, columnCount(style, layout.area, 1.0)});
        QCOMPARE(static_cast<std::size_t>(drawn.size()), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const QPointF point = drawn[static_cast<qsizetype>(i)];
            QVERIFY(std::fabs(layout.x.toPixel(expected[i].x) - point.x()) < 0.5);
            const double middle = (expected[i].lower + expected[i].upper) / 2;
            QVERIFY(std::fabs(layout.y.toPixel(middle) - point.y()) < 0.5);
            QVERIFY(std::fabs(layout.y.toValue(point.y()) - middle) < 0.01);
        }
    }
}

void TestFigureExporter::svgStaysInside()
{
    // A narrow range of values would let the curve run far out of the axes.
    FigureSpec figure = sampleFigure("decay", m_results);
    figure.yAxis.lower = 0.3;
    figure.yAxis.upper = 0.5;
    const ExportOptions exportOptions = columnOptions(ExportFormat::Svg);
    const QByteArray svg = exported(figure, exportOptions);
    RenderOptions options;
    options.theme = Theme::Print;
    options.isVector = true;
    const FigureStyle style(options);
    const QRectF rect(QPointF(), exportOptions.sizeMm * (72.0 / 25.4 * 13.0 / 8.0));
    const AxisLayout layout = layoutAxes(style, layoutFigure(style, rect, figure).content, figure);
    int curves = 0;
    for (const SvgLine& line : svgLines(svg)) {
        if (line.stroke != style.colours().series[0].name() &&
            line.stroke != style.colours().series[1].name())
            continue;
        ++curves;
        for (const QPointF& point : line.points)
            QVERIFY(layout.area.adjusted(-0.1, -0.1, 0.1, 0.1).contains(point));
    }
    QVERIFY(curves > 2);
    // And nothing at all lies outside the page.
    static const QRegularExpression path(QStringLiteral("[ML]([-0-9.e+]+),([-0-9.e+]+)"));
    for (auto match = path.globalMatch(QString::fromUtf8(svg)); match.hasNext();) {
        const auto found = match.next();
        QVERIFY(std::fabs(found.captured(1).toDouble()) < 800.0 &&
                std::fabs(found.captured(2).toDouble()) < 800.0);
    }
}

void TestFigureExporter::pdfPageFontsAndText()
{
    for (const char* id : kIds) {
        const FigureSpec figure = sampleFigure(id, m_results);
        const QByteArray pdf = exported(figure, columnOptions(ExportFormat::Pdf));
        // 85 × 60 mm in points; Qt writes whole points or fractions by version.
        static const QRegularExpression box(QStringLiteral("/MediaBox \\[0 0 ([0-9.]+) ([0-9.]+)\\]"));
        const auto match = box.match(QString::fromLatin1(pdf));
        QVERIFY(match.hasMatch());
        QVERIFY(std::fabs(match.captured(1).toDouble() - 240.94) < 0.51);
        QVERIFY(std::fabs(match.captured(2).toDouble() - 170.08) < 0.51);
        QVERIFY(pdf.contains("/CreationDate (D:20000101000000"));
        QVERIFY(pdf.contains("/FontFile2"));
        QVERIFY(!pdf.contains("/Subtype /Type3"));
        QVERIFY(!pdf.contains("/Subtype /Image")); // curves and arrows stay vectors
        QTemporaryDir folder;
        QFile file(folder.filePath("figure.pdf"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(pdf);
        file.close();
        const QString fonts = output("pdffonts", {file.fileName()});
        for (const QString& line : fonts.split(u'\n').mid(2))
            QVERIFY2(line.isEmpty() || line.contains(QRegularExpression("TrueType +\\S+ +yes ")),
                     qPrintable(line));
        const QString text = output("pdftotext", {file.fileName(), "-"});
        if (!text.isEmpty())
            QVERIFY2(text.contains(QString::fromStdString(toEnglish(figure.title))), qPrintable(text));
        if (!text.isEmpty() && figure.id == "decay")
            QVERIFY2(text.contains(QStringLiteral("±1")) && text.contains(u'−') &&
                         text.contains(QStringLiteral("r = 15")),
                     qPrintable(text));
    }
}

void TestFigureExporter::sizesAreChecked_data()
{
    QTest::addColumn<QSizeF>("size");
    QTest::addColumn<double>("dpi");
    QTest::addColumn<double>("textPt");
    QTest::addColumn<bool>("isGood");
    QTest::newRow("smallest") << QSizeF(10, 10) << 300.0 << 8.0 << true;
    QTest::newRow("too small") << QSizeF(9.9, 60) << 300.0 << 8.0 << false;
    QTest::newRow("too large") << QSizeF(85, 1001) << 300.0 << 8.0 << false;
    QTest::newRow("not a number") << QSizeF(std::nan(""), 60) << 300.0 << 8.0 << false;
    QTest::newRow("coarse") << QSizeF(85, 60) << 29.0 << 8.0 << false;
    QTest::newRow("fine") << QSizeF(85, 60) << 1201.0 << 8.0 << false;
    QTest::newRow("a wall at 1200 dpi") << QSizeF(1000, 1000) << 1200.0 << 8.0 << false;
    QTest::newRow("no text") << QSizeF(85, 60) << 300.0 << 0.0 << false;
}

void TestFigureExporter::sizesAreChecked()
{
    QFETCH(QSizeF, size);
    QFETCH(double, dpi);
    QFETCH(double, textPt);
    QFETCH(bool, isGood);
    ExportOptions options = columnOptions(ExportFormat::Png);
    options.sizeMm = size;
    options.dpi = dpi;
    options.textPt = textPt;
    const auto bytes = exportFigure(sampleFigure("pairs", m_results), options);
    QCOMPARE(bytes.hasValue(), isGood);
    if (!isGood) {
        QCOMPARE(static_cast<int>(bytes.error().code), static_cast<int>(ErrorCode::BadInput));
    }
}

void TestFigureExporter::missingGlyphIsNamed()
{
    FigureSpec figure = sampleFigure("pairs", m_results);
    figure.title = "hieroglyph \U00013080";
    const auto bytes = exportFigure(figure, columnOptions(ExportFormat::Pdf));
    QVERIFY(!bytes);
    const QString sentence = QString::fromStdString(toEnglish(bytes.error()));
    QVERIFY2(sentence.contains("U+13080") && sentence.contains("hieroglyph"), qPrintable(sentence));
}

void TestFigureExporter::chineseIsThere()
{
    FigureSpec figure = sampleFigure("pairs", m_results);
    figure.title = "位置 m 与 n";
    QTemporaryDir folder;
    QFile file(folder.filePath("figure.pdf"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(exported(figure, columnOptions(ExportFormat::Pdf)));
    file.close();
    const QString text = output("pdftotext", {file.fileName(), "-"});
    if (text.isEmpty())
        QSKIP("pdftotext is not installed");
    QVERIFY2(text.contains(QStringLiteral("位置")), qPrintable(text));
}

void TestFigureExporter::textFollowsPoints()
{
    // The title is 14/13 of the normal text's size: at 13 pt it has 14 pt, that is 14/72 inch.
    ExportOptions options = columnOptions(ExportFormat::Svg);
    options.sizeMm = {200.0, 150.0};
    options.textPt = 13.0;
    const QByteArray svg = exported(sampleFigure("pairs", m_results), options);
    static const QRegularExpression box(QStringLiteral("viewBox=\"0 0 ([0-9.]+)"));
    const double unitsPerMm = box.match(QString::fromUtf8(svg)).captured(1).toDouble() / 200.0;
    QVERIFY(svg.contains("font-size=\"14\" font-weight=\"600\""));
    QVERIFY(std::fabs(14.0 / unitsPerMm / 25.4 * 72.0 - 14.0) < 0.01);
}

QTEST_MAIN(TestFigureExporter)
#include "test_figure_exporter.moc"
