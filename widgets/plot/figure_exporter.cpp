// SPDX-License-Identifier: GPL-3.0-or-later
#include "figure_exporter.h"

#include "figure_renderer.h"
#include "pdf_dates.h"
#include "widgets/message_text.h"

#include <QBuffer>
#include <QFontMetricsF>
#include <QHashFunctions>
#include <QImage>
#include <QMarginsF>
#include <QPageSize>
#include <QPdfWriter>
#include <QSet>
#include <QSvgGenerator>

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

constexpr double kMmPerInch = 25.4;
constexpr double kPointsPerInch = 72.0;
constexpr double kNormalTextPx =
    13.0; ///< design pixels of normal text, which textPt gives the size of on paper
constexpr int kPdfDpi = 1200;
constexpr double kLargestPixels = 400e6; ///< of a PNG: 1.6 GB, decided before it is asked for

Error badInput(Message message)
{
    return {ErrorCode::BadInput, std::move(message), {}};
}

Result<void> checkOptions(const ExportOptions& options)
{
    const auto isWithin = [](double value, double least, double most) {
        return value >= least && value <= most;
    };
    if (!isWithin(options.sizeMm.width(), 10.0, 1000.0) || !isWithin(options.sizeMm.height(), 10.0, 1000.0))
        return badInput({"the size is {width} × {height} mm; both sides must be within 10 and 1000 mm",
                         {{"width", shortNumber(options.sizeMm.width())},
                          {"height", shortNumber(options.sizeMm.height())}}});
    if (!isWithin(options.textPt, 3.0, 72.0))
        return badInput({"the text size is {size} pt; it must be within 3 and 72 pt",
                         {{"size", shortNumber(options.textPt)}}});
    if (options.format == ExportFormat::Png) {
        if (!isWithin(options.dpi, 30.0, 1200.0))
            return badInput({"the resolution is {dpi} dpi; it must be within 30 and 1200 dpi",
                             {{"dpi", shortNumber(options.dpi)}}});
        const double perMm = options.dpi / kMmPerInch;
        const double pixels = options.sizeMm.width() * perMm * options.sizeMm.height() * perMm;
        if (pixels > kLargestPixels)
            return badInput(
                {"the picture would have {pixels} million pixels; at most {most} million are written",
                 {{"pixels", shortNumber(std::round(pixels / 1e6))},
                  {"most", shortNumber(kLargestPixels / 1e6)}}});
    }
    return {};
}

/// A character that none of the named fonts has would be drawn by some other font of the machine, or as a
/// box.
Result<void> checkGlyphs(const std::vector<DrawnText>& texts)
{
    std::vector<QFontMetricsF> fonts;
    for (const QString& family : ropewalkFontFamilies()) {
        QFont font(family);
        font.setPixelSize(12);
        font.setStyleStrategy(QFont::NoFontMerging);
        fonts.emplace_back(font);
    }
    QSet<char32_t> known;
    for (const DrawnText& text : texts)
        for (const char32_t character : text.text.toStdU32String()) {
            if (known.contains(character))
                continue;
            const bool isFound = std::any_of(fonts.begin(), fonts.end(), [&](const QFontMetricsF& metrics) {
                return metrics.inFontUcs4(static_cast<uint>(character));
            });
            if (!isFound) {
                const std::string code =
                    QString::number(static_cast<uint>(character), 16).toUpper().toStdString();
                return badInput(
                    {"no font has the character U+{code} of the label “{label}”; install {fonts}",
                     {{"code", std::string(code.size() < 4 ? 4 - code.size() : 0, '0') + code},
                      {"label", text.text.toStdString()},
                      {"fonts", ropewalkFontFamilies().join(QStringLiteral(", ")).toStdString()}}});
            }
            known.insert(character);
        }
    return {};
}

Error outputError(const char* format)
{
    return {ErrorCode::Output, Message("the {format} could not be written", {{"format", format}}), {}};
}

RenderOptions renderOptions(const ExportOptions& options, double unitsPerInch)
{
    RenderOptions render;
    render.theme = options.theme;
    render.scale = options.textPt / kNormalTextPx / kPointsPerInch * unitsPerInch;
    render.showsTitle = options.showsTitle;
    render.showsCaption = options.showsCaption;
    render.isVector = options.format != ExportFormat::Png;
    return render;
}

Result<QByteArray> exportPng(const FigureSpec& figure, const ExportOptions& options)
{
    // Sizes in pixels of the image, not scaled by the painter: lines lie on pixels, and a curve is reduced to
    // them.
    const QSize size(static_cast<int>(std::lround(options.sizeMm.width() / kMmPerInch * options.dpi)),
                     static_cast<int>(std::lround(options.sizeMm.height() / kMmPerInch * options.dpi)));
    QImage image(size, QImage::Format_RGB32);
    if (image.isNull())
        return outputError("PNG");
    image.setDevicePixelRatio(1.0);
    const int dotsPerMeter = static_cast<int>(std::lround(options.dpi / kMmPerInch * 1000.0));
    QPainter painter(&image);
    paintFigure(painter, QRectF(QPointF(), QSizeF(size)), figure, renderOptions(options, options.dpi));
    painter.end();
    // Afterwards, so that the device's dots per inch are no matter while it is drawn.
    image.setDotsPerMeterX(dotsPerMeter);
    image.setDotsPerMeterY(dotsPerMeter);
    QByteArray bytes;
    QBuffer buffer(&bytes);
    if (!buffer.open(QIODevice::WriteOnly) || !image.save(&buffer, "PNG"))
        return outputError("PNG");
    return bytes;
}

Result<QByteArray> exportSvg(const FigureSpec& figure, const ExportOptions& options)
{
    // One unit is one design pixel, so that sizes in the file are those that a person edits: 11, 12, 14.
    const double unitsPerMm = kPointsPerInch / kMmPerInch * kNormalTextPx / options.textPt;
    const QSizeF size = options.sizeMm * unitsPerMm;
    QByteArray bytes;
    QBuffer buffer(&bytes);
    if (!buffer.open(QIODevice::WriteOnly))
        return outputError("SVG");
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    // The generator writes both as they are.
    generator.setTitle(messageText(figure.title).toHtmlEscaped());
    generator.setDescription(messageText(figure.summary).toHtmlEscaped());
    // The generator counts its size in whole units of its resolution: hundredths of a millimetre.
    generator.setResolution(2540);
    generator.setSize(QSize(static_cast<int>(std::lround(options.sizeMm.width() * 100.0)),
                            static_cast<int>(std::lround(options.sizeMm.height() * 100.0))));
    generator.setViewBox(QRectF(QPointF(), size));
    QPainter painter;
    if (!painter.begin(&generator))
        return outputError("SVG");
    RenderOptions render = renderOptions(options, kPointsPerInch);
    render.scale = 1.0;
    paintFigure(painter, QRectF(QPointF(), size), figure, render);
    if (!painter.end())
        return outputError("SVG");
    buffer.close();
    return bytes;
}

/// Qt writes the fonts of a PDF in the order of a hash table, which differs from run to run unless its seed
/// is fixed.
class FixedHashOrder
{
public:
    FixedHashOrder()
        : m_wasRandom(QHashSeed::globalSeed() != 0)
    {
        if (m_wasRandom)
            QHashSeed::setDeterministicGlobalSeed();
    }
    ~FixedHashOrder()
    {
        if (m_wasRandom)
            QHashSeed::resetRandomGlobalSeed();
    }
    Q_DISABLE_COPY_MOVE(FixedHashOrder)

private:
    bool m_wasRandom;
};

Result<QByteArray> exportPdf(const FigureSpec& figure, const ExportOptions& options)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    if (!buffer.open(QIODevice::WriteOnly))
        return outputError("PDF");
    {
        const FixedHashOrder order;
        QPdfWriter writer(&buffer);
        writer.setTitle(messageText(figure.title));
        writer.setCreator(QStringLiteral("Ropewalk ") +
                          QString::fromUtf8(version().data(), static_cast<qsizetype>(version().size())));
        writer.setResolution(kPdfDpi);
        writer.setPageSize(
            QPageSize(options.sizeMm, QPageSize::Millimeter, QString(), QPageSize::ExactMatch));
        writer.setPageMargins(QMarginsF());
        QPainter painter;
        if (!painter.begin(&writer))
            return outputError("PDF");
        painter.setRenderHint(QPainter::LosslessImageRendering);
        const QSizeF size = options.sizeMm / kMmPerInch * kPdfDpi;
        paintFigure(painter, QRectF(QPointF(), size), figure, renderOptions(options, kPdfDpi));
        if (!painter.end())
            return outputError("PDF");
    }
    buffer.close();
    removePdfDates(bytes);
    return bytes;
}

} // namespace

Result<QByteArray> exportFigure(const FigureSpec& figure, const ExportOptions& options)
{
    if (const auto checked = checkOptions(options); !checked)
        return checked.error();
    // Texts are the same at every resolution but for what has no room; a hundred dots are enough to know
    // them.
    const double unitsPerMm = kPointsPerInch / kMmPerInch * kNormalTextPx / options.textPt;
    RenderOptions render = renderOptions(options, kPointsPerInch);
    render.scale = 1.0;
    if (const auto checked =
            checkGlyphs(figureTexts(QRectF(QPointF(), options.sizeMm * unitsPerMm), figure, render));
        !checked)
        return checked.error();
    switch (options.format) {
    case ExportFormat::Png:
        return exportPng(figure, options);
    case ExportFormat::Svg:
        return exportSvg(figure, options);
    case ExportFormat::Pdf:
        break;
    }
    return exportPdf(figure, options);
}

} // namespace ropewalk
