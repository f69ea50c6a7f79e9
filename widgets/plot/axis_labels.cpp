// SPDX-License-Identifier: GPL-3.0-or-later
#include "axis_labels.h"

#include "widgets/message_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ropewalk {
namespace {

/// Finds room for one label and writes it, on a veil that keeps it legible over a curve.
class LabelWriter
{
public:
    LabelWriter(FigurePen& pen, const AxisLayout& layout, LabelPlacer& placer)
        : m_pen(pen)
        , m_layout(layout)
        , m_placer(placer)
    {
    }

    QSizeF size(const QString& text, const TextKind& kind) const
    {
        return {style().textWidth(text, kind), style().textHeight(kind)};
    }

    bool write(const QString& text, const TextKind& kind, const QColor& colour,
               const std::vector<QRectF>& candidates)
    {
        const auto box = m_placer.place(candidates, style().px(3.0));
        if (!box)
            return false;
        QColor veil = style().colours().figure;
        veil.setAlphaF(0.8F);
        QPainter& painter = m_pen.painter();
        painter.fillRect(box->adjusted(-style().px(1.5), 0.0, style().px(1.5), 0.0), veil);
        m_pen.writeInto(*box, text, kind, colour);
        return true;
    }

    const FigureStyle& style() const { return m_pen.style(); }
    const AxisLayout& layout() const { return m_layout; }
    LabelPlacer& placer() { return m_placer; }
    QPainter& painter() const { return m_pen.painter(); }

private:
    FigurePen& m_pen;
    const AxisLayout& m_layout;
    LabelPlacer& m_placer;
};

/// The y of a series at x between its samples, or NaN.
double valueAt(const Series& series, double x)
{
    const auto& xs = *series.x;
    const auto& ys = *series.y;
    const auto upper = std::lower_bound(xs.begin(), xs.end(), x);
    if (upper == xs.end() || x < xs.front())
        return std::nan("");
    const auto i = static_cast<std::size_t>(upper - xs.begin());
    if (i == 0 || xs[i] == x)
        return ys[i];
    return ys[i - 1] + (ys[i] - ys[i - 1]) * (x - xs[i - 1]) / (xs[i] - xs[i - 1]);
}

/// Where the curves of a plot run, in pixels at even steps across it.
class CurvePaths
{
public:
    CurvePaths(const AxisLayout& layout, const PlotSpec& plot)
        : m_left(layout.area.left())
        , m_step(layout.area.width() / kSteps)
    {
        std::array<double, kSteps + 1> values;
        for (std::size_t i = 0; i <= kSteps; ++i)
            values[i] = layout.x.toValue(m_left + static_cast<double>(i) * m_step);
        for (const Series& series : plot.series) {
            if (series.style != SeriesStyle::Line || !series.x || series.x->empty())
                continue;
            const AxisScale& scale = series.isOnSecondAxis ? layout.secondY : layout.y;
            Path path{&series, {}};
            for (std::size_t i = 0; i <= kSteps; ++i)
                path.y[i] = scale.toPixel(valueAt(series, values[i]));
            m_paths.push_back(path);
        }
    }

    /// How ill a name of `series` reads in this place: two for each curve that runs through it, one for each
    /// that is as near as its own.
    int confusion(const Series& series, const QRectF& box) const
    {
        const double margin = box.height() * 0.15;
        const std::size_t first = stepAt(box.left());
        const std::size_t last = stepAt(box.right());
        const std::size_t middle = stepAt(box.center().x());
        const auto distanceOf = [&](const Path& path) {
            return std::fabs(path.y[middle] - box.center().y());
        };
        double own = std::numeric_limits<double>::infinity();
        for (const Path& path : m_paths)
            if (path.series == &series)
                own = distanceOf(path);
        int found = 0;
        for (const Path& path : m_paths) {
            bool isThrough = false;
            for (std::size_t i = first; i < last && !isThrough;
                 ++i) // within at an end, or from above to below
                isThrough = std::max(path.y[i], path.y[i + 1]) > box.top() - margin &&
                            std::min(path.y[i], path.y[i + 1]) < box.bottom() + margin;
            if (isThrough)
                found += 2;
            else if (path.series != &series && distanceOf(path) < own + margin)
                ++found;
        }
        return found;
    }

private:
    static constexpr std::size_t kSteps = 96;
    struct Path
    {
        const Series* series;
        std::array<double, kSteps + 1> y;
    };

    std::size_t stepAt(double x) const
    {
        return static_cast<std::size_t>(
            std::clamp(std::round((x - m_left) / m_step), 0.0, static_cast<double>(kSteps)));
    }

    double m_left, m_step;
    std::vector<Path> m_paths;
};

/// A curve's own name beside it: tried along the whole curve, above and below, where it is told apart best
/// first, then near its start (its end for curves of pairs, which part there).
void labelSeries(LabelWriter& writer, const FigureSpec& figure, const PlotSpec& plot, const CurvePaths& paths,
                 const Series& series)
{
    const FigureStyle& style = writer.style();
    const QString text = messageText(series.label);
    const TextKind kind = text.size() <= 2 ? TextKind{12.5, QFont::Bold} : kNoteText;
    const QSizeF size = writer.size(text, kind);
    const QRectF& area = writer.layout().area;
    const AxisScale& y = series.isOnSecondAxis ? writer.layout().secondY : writer.layout().y;
    const bool isFromEnd = series.style != SeriesStyle::Line || plot.xAxis.kind == AxisKind::Pair;
    std::vector<QPointF> places;
    for (double share = 0.03; share < 0.99; share += 0.04) {
        const double x = isFromEnd ? area.right() - share * area.width() : area.left() + share * area.width();
        const double at = y.toPixel(valueAt(series, writer.layout().x.toValue(x)));
        if (std::isfinite(at) && at >= area.top() && at <= area.bottom())
            places.emplace_back(x, at);
    }
    std::vector<QRectF> candidates;
    for (const double gap : {4.0, 9.0, 16.0})
        for (const QPointF& place : places) {
            const double x = place.x();
            const double at = place.y();
            const QRectF above(x - size.width() / 2, at - style.px(gap) - size.height(), size.width(),
                               size.height());
            const QRectF below(x - size.width() / 2, at + style.px(gap), size.width(), size.height());
            // The first of two curves tends to lie above the others.
            const bool isAboveFirst = series.configuration % 2 == 0;
            candidates.push_back(isAboveFirst ? above : below);
            candidates.push_back(isAboveFirst ? below : above);
        }
    std::vector<std::pair<int, QRectF>> ranked;
    for (const QRectF& box : candidates)
        ranked.emplace_back(paths.confusion(series, box), box);
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::transform(ranked.begin(), ranked.end(), candidates.begin(),
                   [](const auto& each) { return each.second; });
    writer.write(text, kind, style.seriesColour(figure, series), candidates);
}

void labelGuide(LabelWriter& writer, const GuideLine& guide)
{
    const FigureStyle& style = writer.style();
    const QString text = messageText(guide.label);
    const TextKind kind{10.5};
    const QSizeF size = writer.size(text, kind);
    const QRectF& area = writer.layout().area;
    const ThemeColours& c = style.colours();
    const QColor colour = guide.role == GuideRole::Zero        ? c.muted
                          : guide.role == GuideRole::Selection ? c.accent
                                                               : c.mark;
    const double gap = style.px(3.0);
    std::vector<QRectF> candidates;
    if (guide.isVertical) {
        const double x = writer.layout().x.toPixel(guide.at);
        if (x < area.left() || x > area.right())
            return;
        const int rows = std::max(1, static_cast<int>((area.height() - 2 * gap) / size.height()));
        for (int row = 0; row < rows; ++row)
            for (const double left : {x + gap + style.px(1.0), x - gap - style.px(1.0) - size.width()}) {
                candidates.emplace_back(QPointF(left, area.bottom() - gap - (row + 1) * size.height()), size);
                candidates.emplace_back(QPointF(left, area.top() + gap + row * size.height()), size);
            }
    } else {
        const double y = writer.layout().y.toPixel(guide.at);
        if (y < area.top() || y > area.bottom())
            return;
        for (double share = 0.0; share <= 1.0; share += 0.1) {
            const double left =
                area.left() + style.px(6.0) + share * (area.width() - size.width() - style.px(12.0));
            candidates.emplace_back(QPointF(left, y - gap - size.height() + style.px(1.0)), size);
            candidates.emplace_back(QPointF(left, y + gap - style.px(1.0)), size);
        }
    }
    writer.write(text, kind, colour, candidates);
}

void labelMarker(LabelWriter& writer, const FigureSpec& figure, const Marker& marker, const QPointF& at)
{
    const FigureStyle& style = writer.style();
    const QString text = messageText(marker.label);
    const QSizeF size = writer.size(text, kNoteText);
    std::vector<QRectF> candidates;
    const double aside = style.px(6.0);
    for (int step = 0; step < 6; ++step) {
        const double away = style.px(7.0) + step * size.height() * 0.75;
        for (const double y : {at.y() + away, at.y() - away - size.height()})
            for (const double x : {at.x() - aside - size.width(), at.x() + aside, at.x() - size.width() / 2,
                                   at.x() - size.width() + aside, at.x() - aside})
                candidates.emplace_back(QPointF(x, y), size);
    }
    writer.write(text, kNoteText, style.configurationColour(figure, marker.configuration), candidates);
}

void labelBand(LabelWriter& writer, const FigureSpec& figure, const Band& band)
{
    if (!band.x || band.x->empty())
        return;
    const FigureStyle& style = writer.style();
    const QString text = messageText(band.label);
    const QSizeF size = writer.size(text, TextKind{10.5});
    const QRectF& area = writer.layout().area;
    const double top = writer.layout().y.toPixel(band.upper->front());
    const double bottom = writer.layout().y.toPixel(band.lower->front());
    std::vector<QRectF> candidates;
    for (double share = 0.0; share <= 1.0; share += 0.1) {
        const double left =
            area.left() + style.px(6.0) + share * (area.width() - size.width() - style.px(12.0));
        candidates.emplace_back(QPointF(left, bottom + style.px(1.0)), size);
        candidates.emplace_back(QPointF(left, top - size.height() - style.px(1.0)), size);
        candidates.emplace_back(QPointF(left, bottom - size.height() - style.px(1.0)), size);
    }
    writer.write(text, TextKind{10.5},
                 band.configuration < 0 ? style.colours().muted
                                        : style.configurationColour(figure, band.configuration),
                 candidates);
}

} // namespace

void paintLabels(FigurePen& pen, const FigureSpec& figure, const PlotSpec& plot, const AxisLayout& layout,
                 LabelPlacer& placer)
{
    LabelWriter writer(pen, layout, placer);
    const FigureStyle& style = pen.style();
    const double shift = style.options().isVector ? 0.0 : 0.5; // as QCustomPlot draws antialiased elements
    std::vector<std::pair<const Marker*, QPointF>> rings;
    for (const Marker& marker : plot.markers) {
        if (!marker.isDrawn || !marker.x)
            continue;
        const QPointF at(layout.x.toPixel(*marker.x) + shift, layout.y.toPixel(marker.drawnAt) + shift);
        if (!std::isfinite(at.x()) || !layout.area.adjusted(-1, -1, 1, 1).contains(at))
            continue;
        rings.emplace_back(&marker, at);
        const double room = style.px(5.0);
        placer.block(QRectF(at.x() - room, at.y() - room, 2 * room, 2 * room));
    }
    // The shortest and most needed first: what is labelled late finds less room.
    const CurvePaths paths(layout, plot);
    for (const Series& series : plot.series)
        if (!series.label.isEmpty() && series.style != SeriesStyle::DataOnly && series.x &&
            !series.x->empty() && !isInLegend(series))
            labelSeries(writer, figure, plot, paths, series);
    for (const auto& [marker, at] : rings)
        if (!marker->label.isEmpty())
            labelMarker(writer, figure, *marker, at);
    for (const GuideLine& guide : plot.guides)
        if (!guide.label.isEmpty())
            labelGuide(writer, guide);
    for (const Band& band : plot.bands)
        if (!band.label.isEmpty())
            labelBand(writer, figure, band);
    QPainter& painter = pen.painter();
    for (const auto& [marker, at] : rings) {
        painter.setPen(QPen(style.configurationColour(figure, marker->configuration), style.px(2.0)));
        painter.setBrush(style.colours().figure);
        painter.drawEllipse(at, style.px(4.0), style.px(4.0));
    }
    painter.setBrush(Qt::NoBrush);
}

} // namespace ropewalk
