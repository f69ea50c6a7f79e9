// SPDX-License-Identifier: GPL-3.0-or-later
#include "plane_figure.h"

#include "label_placer.h"
#include "series_painter.h"
#include "widgets/message_text.h"

#include <QCoreApplication>
#include <QImage>
#include <QPainterPath>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace ropewalk {
namespace {

constexpr double kPi = std::numbers::pi;

QString word(const char* text)
{
    return QCoreApplication::translate("ropewalk", text);
}

/// Places circle and field within a panel: the field in rows of `columns`, at the right or below.
PlaneLayout placePanel(const FigureStyle& style, const QRectF& rect, const PlanePanel& panel, bool isBeside,
                       int columns)
{
    PlaneLayout layout;
    layout.rect = rect;
    layout.columns = columns;
    layout.rows = std::max(1, (panel.pairCount + columns - 1) / columns);
    QRectF inner = rect;
    if (!panel.title.isEmpty()) {
        layout.title =
            QRectF(rect.left(), rect.top(), rect.width(), style.textHeight(kNoteText) + style.px(4.0));
        inner.setTop(layout.title.bottom());
    }
    const double legend = style.textHeight(kNoteText) + style.px(4.0); // "fast" and "slow" under the field
    const double gap = style.px(isBeside ? 20.0 : 6.0);
    const double largest = style.px(26.0); // of a cell: beyond it the large circle needs the room more
    QRectF circle = inner;
    if (isBeside) {
        const double room = std::min(inner.width() * 0.4, columns * largest);
        const double height = inner.height() - legend;
        const double cell = std::min(room / columns, height / layout.rows);
        // A field as high as the circle beside it looks of one piece.
        const QSizeF size(columns * cell, layout.rows * std::min(cell * 1.25, height / layout.rows));
        circle.setWidth(inner.width() - size.width() - gap);
        layout.field = QRectF(inner.right() - size.width(), inner.center().y() - (size.height() + legend) / 2,
                              size.width(), size.height());
    } else {
        const double room = inner.height() * 0.5 - legend;
        const double cell = std::min({inner.width() / columns, room / layout.rows, largest});
        const QSizeF size(columns * std::min(cell * 1.25, inner.width() / columns), layout.rows * cell);
        circle.setHeight(inner.height() - size.height() - legend - gap);
        layout.field =
            QRectF(inner.center().x() - size.width() / 2, circle.bottom() + gap, size.width(), size.height());
    }
    const double beside = std::min(style.px(30.0), 0.16 * circle.width());
    layout.radius = std::max(0.0, std::min(circle.width() / 2 - beside, circle.height() / 2 - style.px(9.0)));
    layout.centre = circle.center();
    if (panel.pairCount == 0)
        layout.field = {};
    return layout;
}

/// The large circle alone, where there is no room for the small ones.
PlaneLayout circleAlone(const FigureStyle& style, const QRectF& rect, const PlanePanel& panel)
{
    PlanePanel none = panel;
    none.pairCount = 0;
    PlaneLayout layout = placePanel(style, rect, none, false, 1);
    QRectF inner = rect;
    if (!layout.title.isEmpty())
        inner.setTop(layout.title.bottom());
    layout.centre = inner.center();
    layout.radius = std::max(0.0, std::min(0.34 * inner.width(), inner.height() / 2 - style.px(9.0)));
    return layout;
}

/// How well a panel can be read: by its large circle, and by its small ones as long as they are small.
double legibility(const FigureStyle& style, const PlaneLayout& layout)
{
    if (layout.field.isEmpty())
        return layout.radius;
    const double cell = std::min(layout.field.width() / layout.columns, layout.field.height() / layout.rows);
    return layout.radius * std::min(1.0, cell / style.px(24.0));
}

PlaneLayout bestPanel(const FigureStyle& style, const QRectF& rect, const PlanePanel& panel, bool isBeside)
{
    PlaneLayout best = placePanel(style, rect, panel, isBeside, 1);
    // Pairs are counted in powers of two: rows of 8 or 16 let one find the pair.
    for (int columns = 2; columns < 2 * panel.pairCount && columns <= 64; columns *= 2) {
        const PlaneLayout layout = placePanel(style, rect, panel, isBeside, columns);
        if (legibility(style, layout) > legibility(style, best))
            best = layout;
    }
    return best;
}

void paintArrow(QPainter& painter, const QPointF& from, const QPointF& to, const QColor& colour, double width,
                double head)
{
    const QPointF way = to - from;
    const double length = std::hypot(way.x(), way.y());
    if (length <= 0.0)
        return;
    const QPointF along = way / length;
    const QPointF across(-along.y(), along.x());
    head = std::min(head, 0.6 * length);
    painter.setPen(QPen(colour, width, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(from, to - along * head * 0.8);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    const double half = 0.45 * head;
    painter.drawPolygon(QPolygonF{to, to - along * head + across * half, to - along * head - across * half});
    painter.setBrush(Qt::NoBrush);
}

QPointF onCircle(const QPointF& centre, double radius, const std::complex<double>& direction)
{
    return {centre.x() + radius * direction.real(), centre.y() - radius * direction.imag()};
}

bool isZero(const std::complex<double>& value)
{
    return std::abs(value) == 0.0 || !std::isfinite(std::abs(value));
}

void paintGround(QPainter& painter, const FigureStyle& style, const PlaneLayout& layout)
{
    const ThemeColours& c = style.colours();
    const QPointF& centre = layout.centre;
    const double r = layout.radius;
    const double beyond = r + style.px(8.0);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(c.rule, style.hairline()));
    for (int k = 0; k < 12; ++k) {
        const auto direction = std::polar(1.0, k * kPi / 6.0);
        painter.drawLine(onCircle(centre, r - style.px(4.0), direction), onCircle(centre, r, direction));
    }
    painter.drawLine(centre - QPointF(beyond, 0.0), centre + QPointF(beyond, 0.0));
    painter.drawLine(centre - QPointF(0.0, beyond), centre + QPointF(0.0, beyond));
    painter.setPen(QPen(c.axis, style.px(1.2)));
    painter.drawEllipse(centre, r, r);
}

/// The angle as it is swept, from k to q or as the second of two turns, without its whole turns.
void paintSweep(QPainter& painter, const FigureStyle& style, const PlaneLayout& layout,
                const PlanePanel& panel)
{
    if (panel.isStill || isZero(panel.query) || isZero(panel.key))
        return;
    const double radius = layout.radius * 0.41;
    const double start = std::arg(panel.sweepFrom) * 180.0 / kPi;
    const double sweep = std::fmod(panel.sweepRadians, 2.0 * kPi) * 180.0 / kPi;
    QPainterPath sector(layout.centre);
    const QRectF box(layout.centre.x() - radius, layout.centre.y() - radius, 2 * radius, 2 * radius);
    sector.arcTo(box, start, sweep);
    sector.closeSubpath();
    QColor fill = style.colours().accent;
    fill.setAlphaF(0.18F);
    painter.setPen(Qt::NoPen);
    painter.setBrush(fill);
    painter.drawPath(sector);
    painter.setBrush(Qt::NoBrush);
}

/// Whether a box touches an arrow's shaft.
bool touches(const QRectF& box, const QPointF& from, const QPointF& to)
{
    for (int k = 0; k <= 24; ++k)
        if (box.contains(from + (to - from) * (k / 24.0)))
            return true;
    return false;
}

/// "q, m = 40" beside the tip: outside the circle where there is room, else within, beside the shaft.
void labelArrow(FigurePen& pen, const PlaneLayout& layout, LabelPlacer& placer, const QString& text,
                const QColor& colour, const std::complex<double>& direction,
                const std::complex<double>& other)
{
    if (isZero(direction))
        return;
    const FigureStyle& style = pen.style();
    const QSizeF size(style.textWidth(text, kLabelText), style.textHeight(kLabelText));
    const double gap = style.px(6.0);
    std::vector<QRectF> candidates;
    const auto add = [&](const QPointF& centre) {
        const QRectF box(centre.x() - size.width() / 2, centre.y() - size.height() / 2, size.width(),
                         size.height());
        const QRectF room = box.adjusted(-gap / 2, -gap / 2, gap / 2, gap / 2);
        if (!touches(room, layout.centre, onCircle(layout.centre, layout.radius, direction)) &&
            !touches(room, layout.centre, onCircle(layout.centre, layout.radius, other)))
            candidates.push_back(box);
    };
    const auto reach = [&](const std::complex<double>& way) {
        return std::fabs(way.real()) * size.width() / 2 + std::fabs(way.imag()) * size.height() / 2;
    };
    // Away from the other arrow first, so that the two labels part.
    const double side = std::arg(direction * std::conj(other)) >= 0.0 ? 1.0 : -1.0;
    for (const double turn : {0.0, 0.12, -0.12, 0.24, -0.24}) {
        const auto way = direction * std::polar(1.0, side * turn);
        add(onCircle(layout.centre, layout.radius + gap + reach(way), way));
    }
    for (const double share : {0.72, 0.6, 0.5, 0.85})
        for (const double across : {side, -side}) {
            const auto normal = direction * std::complex<double>(0.0, across);
            const QPointF at = onCircle(layout.centre, layout.radius * share, direction);
            add(onCircle(at, reach(normal) + gap, normal));
        }
    if (const auto box = placer.place(candidates, style.px(2.0)))
        pen.writeInto(*box, text, kLabelText, colour);
}

void paintLargeCircle(FigurePen& pen, const PlaneLayout& layout, const PlotSpec& plot)
{
    const FigureStyle& style = pen.style();
    const ThemeColours& c = style.colours();
    const PlanePanel& panel = plot.planes[static_cast<std::size_t>(layout.panel)];
    QPainter& painter = pen.painter();
    paintGround(painter, style, layout);
    paintSweep(painter, style, layout, panel);
    const QColor queryColour = panel.isStill ? mixed(c.muted, c.query, 0.6) : c.query;
    const QColor keyColour = panel.isStill ? mixed(c.muted, c.key, 0.6) : c.key;
    painter.setPen(Qt::NoPen);
    const double count = static_cast<double>(panel.trail.size());
    for (std::size_t i = panel.trail.size(); i-- > 0;) {
        painter.setBrush(mixed(c.query, c.figure, 0.65 * (1.0 - static_cast<double>(i) / (count + 1.0))));
        painter.drawEllipse(onCircle(layout.centre, layout.radius, panel.trail[i]), style.px(2.2),
                            style.px(2.2));
    }
    painter.setBrush(Qt::NoBrush);
    const double width = style.px(layout.radius > style.px(60.0) ? 3.0 : 2.0);
    const double head = std::min(style.px(13.0), 0.3 * layout.radius);
    const auto paintPhasor = [&](const std::complex<double>& direction, const QColor& colour) {
        if (isZero(direction)) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(colour);
            painter.drawEllipse(layout.centre, style.px(4.0), style.px(4.0));
            painter.setBrush(Qt::NoBrush);
            return;
        }
        paintArrow(painter, layout.centre, onCircle(layout.centre, layout.radius - style.px(2.0), direction),
                   colour, width, head);
    };
    const QColor composedColour = panel.isStill ? c.muted : c.text;
    if (panel.composed)
        paintPhasor(*panel.composed, composedColour);
    paintPhasor(panel.key, keyColour);
    paintPhasor(panel.query, queryColour);

    QRectF room = layout.rect;
    room.setTop(layout.title.isEmpty() ? room.top() : layout.title.bottom());
    if (!layout.field.isEmpty()) {
        if (layout.field.left() > layout.centre.x())
            room.setRight(layout.field.left() - style.px(4.0));
        else
            room.setBottom(layout.field.top() - style.px(2.0));
    }
    LabelPlacer placer(room);
    labelArrow(pen, layout, placer, messageText(panel.queryLabel), queryColour, panel.query, panel.key);
    labelArrow(pen, layout, placer, messageText(panel.keyLabel), keyColour, panel.key, panel.query);
    if (panel.composed)
        labelArrow(pen, layout, placer, messageText(panel.composedLabel), composedColour, *panel.composed,
                   panel.query);
}

/// A small circle; on a raster it is drawn once for all pairs of its kind.
class SmallCircle
{
public:
    SmallCircle(double radius, const QPen& pen, const QBrush& brush, bool isVector)
        : m_radius(radius)
        , m_pen(pen)
        , m_brush(brush)
        , m_reach(static_cast<int>(std::ceil(radius + pen.widthF())) + 1)
    {
        if (isVector)
            return;
        m_stamp = QImage(2 * m_reach, 2 * m_reach, QImage::Format_ARGB32_Premultiplied);
        m_stamp.fill(Qt::transparent);
        QPainter painter(&m_stamp);
        painter.setRenderHint(QPainter::Antialiasing);
        draw(painter, QPointF(m_reach, m_reach));
    }

    /// `centre`: whole on a raster.
    void paint(QPainter& painter, const QPointF& centre) const
    {
        if (m_stamp.isNull())
            draw(painter, centre);
        else
            painter.drawImage(centre - QPointF(m_reach, m_reach), m_stamp);
    }

private:
    void draw(QPainter& painter, const QPointF& centre) const
    {
        painter.setPen(m_pen);
        painter.setBrush(m_brush);
        painter.drawEllipse(centre, m_radius, m_radius);
        painter.setBrush(Qt::NoBrush);
    }

    double m_radius;
    QPen m_pen;
    QBrush m_brush;
    int m_reach;
    QImage m_stamp;
};

void paintSmallCircles(FigurePen& pen, const PlaneLayout& layout, const FigureSpec& figure,
                       const PlotSpec& plot)
{
    const FigureStyle& style = pen.style();
    const ThemeColours& c = style.colours();
    const PlanePanel& panel = plot.planes[static_cast<std::size_t>(layout.panel)];
    QPainter& painter = pen.painter();
    const double radius = layout.smallRadius();
    const double line = std::clamp(radius / 6.0, style.px(0.8), style.px(2.2));
    // Which pairs are still only their phasors say: a scheme may hold any of them.
    std::vector<bool> still(static_cast<std::size_t>(panel.pairCount), false);
    for (const Phasor& phasor : figure.phasors)
        if (phasor.configuration == panel.configuration && phasor.pair < panel.pairCount && phasor.isStill)
            still[static_cast<std::size_t>(phasor.pair)] = true;
    const bool isVector = style.options().isVector;
    const auto centreOf = [&](int pair) {
        const QPointF centre = layout.cell(pair).center();
        return isVector ? centre : QPointF(std::round(centre.x()), std::round(centre.y()));
    };
    const SmallCircle turning(radius, QPen(c.rule, style.hairline()), Qt::NoBrush, isVector);
    const SmallCircle unturned(radius, QPen(c.grid, style.hairline()), c.grid, isVector);
    const SmallCircle picked(radius, QPen(c.accent, std::min(style.px(1.8), radius / 3.0)), c.selected,
                             isVector);
    for (int pair = 0; pair < panel.pairCount; ++pair)
        (pair == panel.pair                      ? picked
         : still[static_cast<std::size_t>(pair)] ? unturned
                                                 : turning)
            .paint(painter, centreOf(pair));
    // k first, so that q lies over it where both point the same way.
    for (const char* name : {"k", "q"})
        for (const Phasor& phasor : figure.phasors) {
            if (phasor.configuration != panel.configuration || phasor.name != name ||
                phasor.pair >= panel.pairCount)
                continue;
            const QPointF centre = centreOf(phasor.pair);
            const QColor colour = phasor.isStill ? c.axis : *name == 'q' ? c.query : c.key;
            const std::complex<double> value(phasor.re, phasor.im);
            if (isZero(value)) {
                painter.setPen(Qt::NoPen);
                painter.setBrush(colour);
                painter.drawEllipse(centre, line, line);
                painter.setBrush(Qt::NoBrush);
                continue;
            }
            painter.setPen(QPen(colour, line, Qt::SolidLine, Qt::RoundCap));
            const QPointF tip = onCircle(centre, radius - line / 2, value / std::abs(value));
            if (isVector)
                painter.drawLine(centre, tip);
            else
                paintPolyline(painter, {centre, tip});
        }
    const double baseline = layout.field.bottom() + style.px(3.0) + style.ascent(kNoteText);
    const QString fast = word("fast");
    const QString slow = word("slow");
    const QString stillText = word("grey: not turned");
    const double room = layout.field.width();
    const double ends = style.textWidth(fast, kNoteText) + style.textWidth(slow, kNoteText) + style.px(8.0);
    const bool hasStill = panel.rotatedPairs < panel.pairCount;
    if (panel.rotatedPairs == 0) {
        pen.write({layout.field.center().x(), baseline}, style.elided(stillText, kNoteText, room), kNoteText,
                  c.muted, Qt::AlignHCenter);
        return;
    }
    if (ends > room)
        return;
    pen.write({layout.field.left(), baseline}, fast, kNoteText, c.muted);
    if (!hasStill) {
        pen.write({layout.field.right(), baseline}, slow, kNoteText, c.muted, Qt::AlignRight);
        return;
    }
    const QString tail = slow + QStringLiteral(" · ") + stillText;
    const double wide = style.textWidth(fast, kNoteText) + style.textWidth(tail, kNoteText) + style.px(8.0);
    pen.write({layout.field.right(), baseline}, wide <= room ? tail : slow, kNoteText, c.muted,
              Qt::AlignRight);
}

} // namespace

std::vector<PlaneLayout> layoutPlanes(const FigureStyle& style, const QRectF& content, const PlotSpec& plot)
{
    std::vector<PlaneLayout> best;
    double bestLegibility = -1.0;
    const int count = static_cast<int>(plot.planes.size());
    const double gap = style.px(18.0);
    for (int across = count; across >= 1; --across) {
        const int down = (count + across - 1) / across;
        if (across * down - count >= across)
            continue;
        const QSizeF size((content.width() - gap * (across - 1)) / across,
                          (content.height() - gap * (down - 1)) / down);
        for (const bool isBeside : {true, false}) {
            std::vector<PlaneLayout> panels;
            double least = INFINITY;
            for (int i = 0; i < count; ++i) {
                const QPointF at(content.left() + i % across * (size.width() + gap),
                                 content.top() + i / across * (size.height() + gap));
                panels.push_back(
                    bestPanel(style, QRectF(at, size), plot.planes[static_cast<std::size_t>(i)], isBeside));
                panels.back().panel = i;
                least = std::min(least, legibility(style, panels.back()));
            }
            if (least > bestLegibility + 1e-9) {
                best = std::move(panels);
                bestLegibility = least;
            }
        }
    }
    if (bestLegibility < style.px(14.0))
        for (PlaneLayout& layout : best) {
            const int panel = layout.panel;
            layout = circleAlone(style, layout.rect, plot.planes[static_cast<std::size_t>(panel)]);
            layout.panel = panel;
        }
    // Circles of one size at one height can be compared.
    double radius = INFINITY;
    double drop = INFINITY;
    for (const PlaneLayout& layout : best) {
        radius = std::min(radius, layout.radius);
        drop = std::min(drop, layout.centre.y() - layout.rect.top());
    }
    for (PlaneLayout& layout : best) {
        layout.radius = radius;
        layout.centre.setY(layout.rect.top() + drop);
    }
    return best;
}

void paintPlanes(FigurePen& pen, const QRectF& content, const FigureSpec& figure, const PlotSpec& plot)
{
    const FigureStyle& style = pen.style();
    for (const PlaneLayout& layout : layoutPlanes(style, content, plot)) {
        const PlanePanel& panel = plot.planes[static_cast<std::size_t>(layout.panel)];
        if (!layout.title.isEmpty()) {
            const QString title = style.elided(messageText(panel.title), kNoteText, layout.title.width());
            pen.write({layout.title.left(), layout.title.top() + style.ascent(kNoteText)}, title, kNoteText,
                      style.colours().text); // the colours of A and B are those of q and k here
        }
        if (layout.radius > style.px(12.0))
            paintLargeCircle(pen, layout, plot);
        if (!layout.field.isEmpty())
            paintSmallCircles(pen, layout, figure, plot);
    }
}

} // namespace ropewalk
