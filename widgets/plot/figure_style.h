// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "figure_renderer.h"

#include <QFontMetricsF>
#include <QGlyphRun>
#include <QHash>
#include <QPicture>

#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace ropewalk {

/// One kind of text in a figure: its size in design pixels, its weight, its slant.
struct TextKind
{
    double size = 11.0;
    QFont::Weight weight = QFont::Normal;
    bool isItalic = false;

    bool operator==(const TextKind&) const = default;
};

inline constexpr TextKind kTitleText{14.0, QFont::DemiBold};
inline constexpr TextKind kFormulaText{12.0, QFont::Normal, true};
inline constexpr TextKind kPlotTitle{11.5, QFont::DemiBold};
inline constexpr TextKind kNoteText{11.0};
inline constexpr TextKind kAxisText{11.5};
inline constexpr TextKind kLabelText{12.5, QFont::DemiBold};
inline constexpr TextKind kSentenceText{13.0};

/// A kind of text at one size, and the words that were measured or drawn in it: building a font and shaping
/// words is most of a layout.
struct KnownText
{
    struct Words
    {
        double width = 0.0;
        QList<QGlyphRun> glyphs; ///< as they lie from the origin of the baseline on; made when first drawn
    };

    TextKind kind;
    double pixelSize = 0.0;
    bool isVector = false;
    QFont font;
    QFontMetricsF metrics;
    QHash<QString, Words> words;
};

/// The lines of a plot's axes as they are drawn below and above its data.
struct AxisRecords
{
    QPicture grid, axes;
};

/// The kinds of text that were used before, and the axes. One thread's.
class DrawingCache
{
public:
    std::shared_ptr<KnownText> text(const TextKind& kind, double pixelSize, bool isVector);
    /// The axes of this key, recorded where they are not known yet.
    AxisRecords axes(std::vector<double> key, const std::function<AxisRecords()>& record);

private:
    struct KnownAxes
    {
        std::vector<double> key;
        AxisRecords records;
    };
    std::vector<std::shared_ptr<KnownText>> m_texts;
    std::deque<KnownAxes> m_axes;
};

/// Sizes, fonts and colours of a figure under its options; all that a layout needs to know, without a
/// painter.
class FigureStyle
{
public:
    explicit FigureStyle(const RenderOptions& options)
        : m_options(options)
        , m_colours(&themeColours(options.theme))
    {
        if (!m_options.cache)
            m_options.cache = std::make_shared<DrawingCache>();
    }

    const RenderOptions& options() const { return m_options; }
    const ThemeColours& colours() const { return *m_colours; }

    /// A length in design pixels, in the painter's units.
    double px(double designPixels) const { return designPixels * m_options.scale; }

    /// A line's width, never thinner than one unit on a raster and whole there, so that it does not blur.
    double hairline(double designPixels = 1.0) const;

    const QFont& font(const TextKind& kind) const { return known(kind).font; }
    double textWidth(const QString& text, const TextKind& kind) const { return words(text, kind).width; }
    /// The glyphs of a text as they are drawn from its baseline's origin on, without shaping it anew.
    const QList<QGlyphRun>& glyphs(const QString& text, const TextKind& kind) const;
    /// Height of a text's box above and below its baseline.
    double ascent(const TextKind& kind) const { return 0.84 * known(kind).font.pixelSize(); }
    double descent(const TextKind& kind) const { return 0.25 * known(kind).font.pixelSize(); }
    double textHeight(const TextKind& kind) const { return ascent(kind) + descent(kind); }
    QString elided(const QString& text, const TextKind& kind, double width) const;
    /// The text in lines no wider than `width`, at most `most` of them; what is left over is elided.
    QStringList wrapped(const QString& text, const TextKind& kind, double width, int most) const;

    /// The colour of a configuration: its own entry of the series colours.
    QColor configurationColour(const FigureSpec& figure, int configuration) const;
    /// The colour of a curve: its own, or its configuration's.
    QColor seriesColour(const FigureSpec& figure, const Series& series) const;

private:
    KnownText& known(const TextKind& kind) const;
    KnownText::Words& words(const QString& text, const TextKind& kind) const;

    RenderOptions m_options;
    const ThemeColours* m_colours;
    mutable std::vector<std::shared_ptr<KnownText>> m_known; ///< those of the cache that were used here
};

/// A style with a painter; every text goes through it, so that all of them are known.
class FigurePen
{
public:
    FigurePen(QPainter& painter, const FigureStyle& style, std::vector<DrawnText>* texts)
        : m_painter(painter)
        , m_style(style)
        , m_texts(texts)
    {
    }

    QPainter& painter() const { return m_painter; }
    /// Only the texts are wanted: what has none need not be drawn.
    bool isListingTexts() const { return m_texts != nullptr; }
    const FigureStyle& style() const { return m_style; }

    /// Writes `text` from `baseline` on (or ending or centred there); returns the box that it covers.
    QRectF write(const QPointF& baseline, const QString& text, const TextKind& kind, const QColor& colour,
                 Qt::AlignmentFlag alignment = Qt::AlignLeft);
    /// As write, into a box of the text's own size.
    void writeInto(const QRectF& box, const QString& text, const TextKind& kind, const QColor& colour);
    /// Writes upwards, centred at `centre`.
    void writeUpwards(const QPointF& centre, const QString& text, const TextKind& kind, const QColor& colour);

private:
    void draw(const QPointF& at, const QString& text, const TextKind& kind, const QColor& colour);
    void note(const QString& text, const QFont& font, const QRectF& box);

    QPainter& m_painter;
    const FigureStyle& m_style;
    std::vector<DrawnText>* m_texts;
};

} // namespace ropewalk
