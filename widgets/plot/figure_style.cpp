// SPDX-License-Identifier: GPL-3.0-or-later
#include "figure_style.h"

#include <QTextBoundaryFinder>
#include <QTextLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ropewalk {
namespace {

constexpr std::size_t kMostTexts = 48;
constexpr std::size_t kMostAxes = 32;
constexpr qsizetype kMostWords = 2000; ///< of one kind of text

} // namespace

double FigureStyle::hairline(double designPixels) const
{
    const double width = px(designPixels);
    return m_options.isVector ? width : std::max(1.0, std::round(width));
}

std::shared_ptr<KnownText> DrawingCache::text(const TextKind& kind, double pixelSize, bool isVector)
{
    for (const auto& text : m_texts)
        if (text->kind == kind && text->pixelSize == pixelSize && text->isVector == isVector)
            return text;
    QFont font = ropewalkFont(pixelSize, kind.weight);
    font.setItalic(kind.isItalic);
    // Inter has raised forms of −, = and : beside digits, which no character stands for: a PDF would show
    // them and lose them when its text is searched or copied. Without shaping the plain forms are drawn.
    if (isVector)
        font.setStyleStrategy(QFont::PreferNoShaping);
    if (m_texts.size() >= kMostTexts) // other scales, which nobody draws at any more
        m_texts.erase(m_texts.begin());
    return m_texts.emplace_back(
        std::make_shared<KnownText>(KnownText{kind, pixelSize, isVector, font, QFontMetricsF(font), {}}));
}

AxisRecords DrawingCache::axes(std::vector<double> key, const std::function<AxisRecords()>& record)
{
    for (const KnownAxes& known : m_axes)
        if (known.key == key)
            return known.records;
    if (m_axes.size() >= kMostAxes) // ends that moved while something was dragged
        m_axes.pop_front();
    return m_axes.emplace_back(KnownAxes{std::move(key), record()}).records;
}

KnownText& FigureStyle::known(const TextKind& kind) const
{
    for (const auto& text : m_known)
        if (text->kind == kind)
            return *text;
    return *m_known.emplace_back(m_options.cache->text(kind, px(kind.size), m_options.isVector));
}

KnownText::Words& FigureStyle::words(const QString& text, const TextKind& kind) const
{
    KnownText& all = known(kind);
    const auto found = all.words.find(text);
    if (found != all.words.end())
        return *found;
    if (all.words.size() >= kMostWords) // numbers that changed while something was dragged
        all.words.clear();
    return *all.words.insert(text, {all.metrics.horizontalAdvance(text), {}});
}

const QList<QGlyphRun>& FigureStyle::glyphs(const QString& text, const TextKind& kind) const
{
    KnownText::Words& drawn = words(text, kind);
    if (drawn.glyphs.isEmpty()) {
        QTextLayout layout(text, known(kind).font);
        layout.beginLayout();
        QTextLine line = layout.createLine();
        line.setLineWidth(2.0 * drawn.width + 100.0); // one line, however long
        line.setPosition({0.0, -line.ascent()});
        layout.endLayout();
        drawn.glyphs = layout.glyphRuns();
    }
    return drawn.glyphs;
}

QString FigureStyle::elided(const QString& text, const TextKind& kind, double width) const
{
    if (textWidth(text, kind) <= width)
        return text;
    return known(kind).metrics.elidedText(text, Qt::ElideRight, width);
}

QStringList FigureStyle::wrapped(const QString& text, const TextKind& kind, double width, int most) const
{
    QStringList lines;
    QString rest = text.trimmed();
    // A formula is not torn apart at its signs.
    for (const QChar sign : {u'−', u'=', u'×', u'±', u'/'})
        rest.replace(QStringLiteral(" %1 ").arg(sign), QStringLiteral("\u00A0%1\u00A0").arg(sign));
    while (!rest.isEmpty() && lines.size() < most) {
        if (textWidth(rest, kind) <= width) {
            lines.append(rest);
            return lines;
        }
        if (lines.size() == most - 1)
            break;
        // Line breaks as Unicode has them, since Chinese has no spaces to break at.
        QTextBoundaryFinder finder(QTextBoundaryFinder::Line, rest);
        qsizetype fits = 0;
        for (qsizetype at = finder.toNextBoundary(); at > 0; at = finder.toNextBoundary()) {
            if (textWidth(rest.left(at).trimmed(), kind) > width)
                break;
            fits = at;
        }
        if (fits == 0)
            break;
        lines.append(rest.left(fits).trimmed());
        rest = rest.mid(fits).trimmed();
    }
    if (!rest.isEmpty() && most > 0)
        lines.append(elided(rest, kind, width));
    return lines;
}

QColor FigureStyle::configurationColour(const FigureSpec& figure, int configuration) const
{
    if (configuration < 0 || configuration >= static_cast<int>(figure.configurations.size()))
        return m_colours->muted;
    const int index = figure.configurations[static_cast<std::size_t>(configuration)].colour;
    return m_colours->series[std::max(0, index) % m_colours->series.size()];
}

QColor FigureStyle::seriesColour(const FigureSpec& figure, const Series& series) const
{
    if (series.colour)
        return m_colours->curves[std::max(0, *series.colour) % m_colours->curves.size()];
    return configurationColour(figure, series.configuration);
}

QRectF FigurePen::write(const QPointF& baseline, const QString& text, const TextKind& kind,
                        const QColor& colour, Qt::AlignmentFlag alignment)
{
    if (text.isEmpty())
        return {};
    const QFont& font = m_style.font(kind);
    const double width = m_style.textWidth(text, kind);
    const double x = alignment == Qt::AlignRight     ? baseline.x() - width
                     : alignment == Qt::AlignHCenter ? baseline.x() - width / 2
                                                     : baseline.x();
    // Letters on whole pixels stay sharp; in a vector there are no pixels.
    const QPointF at = m_style.options().isVector ? QPointF(x, baseline.y())
                                                  : QPointF(std::round(x), std::round(baseline.y()));
    draw(at, text, kind, colour);
    const QRectF box(at.x(), at.y() - m_style.ascent(kind), width, m_style.textHeight(kind));
    note(text, font, box);
    return box;
}

void FigurePen::writeInto(const QRectF& box, const QString& text, const TextKind& kind, const QColor& colour)
{
    write({box.left(), box.top() + m_style.ascent(kind)}, text, kind, colour);
}

void FigurePen::writeUpwards(const QPointF& centre, const QString& text, const TextKind& kind,
                             const QColor& colour)
{
    if (text.isEmpty())
        return;
    const QFont& font = m_style.font(kind);
    const double width = m_style.textWidth(text, kind);
    const double drop = (m_style.ascent(kind) - m_style.descent(kind)) / 2;
    m_painter.save();
    m_painter.translate(centre);
    m_painter.rotate(-90.0);
    draw({-width / 2, drop}, text, kind, colour);
    m_painter.restore();
    const double height = m_style.textHeight(kind);
    note(text, font, QRectF(centre.x() - height / 2, centre.y() - width / 2, height, width));
}

void FigurePen::draw(const QPointF& at, const QString& text, const TextKind& kind, const QColor& colour)
{
    m_painter.setPen(colour);
    if (m_style.options().isVector || isListingTexts()) { // where texts stay texts
        m_painter.setFont(m_style.font(kind));
        m_painter.drawText(at, text);
        return;
    }
    for (const QGlyphRun& run : m_style.glyphs(text, kind))
        m_painter.drawGlyphRun(at, run);
}

void FigurePen::note(const QString& text, const QFont& font, const QRectF& box)
{
    if (m_texts)
        m_texts->push_back({text, font, box});
}

} // namespace ropewalk
