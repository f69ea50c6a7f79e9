// SPDX-License-Identifier: GPL-3.0-or-later
#include "axis_labels.h"

#include "widgets/message_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

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

    /// False where there was no room.
    bool write(const QStringList& lines, const TextKind& kind, const QColor& colour,
               std::span<const QRectF> candidates)
    {
        const auto box = m_placer.place(candidates, style().px(3.0));
        if (!box)
            return false;
        QColor veil = style().colours().figure;
        veil.setAlphaF(0.8F);
        QPainter& painter = m_pen.painter();
        painter.fillRect(box->adjusted(-style().px(1.5), 0.0, style().px(1.5), 0.0), veil);
        for (qsizetype line = 0; line < lines.size(); ++line)
            m_pen.writeInto(box->translated(0.0, static_cast<double>(line) * style().textHeight(kind)),
                            lines[line], kind, colour);
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

/// A point of a curve under or over which its name may stand, and where the other curves are at its x.
struct CurveFoot
{
    QPointF at;
    std::vector<double> all; ///< y of each of CurvePaths, in pixels
};

/// Where the curves of a plot run, in pixels.
class CurvePaths
{
public:
    CurvePaths(const AxisLayout& layout, const PlotSpec& plot)
        : m_layout(layout)
        , m_left(layout.area.left())
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

    bool holds(const Series& series) const
    {
        return std::any_of(m_paths.begin(), m_paths.end(),
                           [&](const Path& path) { return path.series == &series; });
    }

    CurveFoot footAt(const QPointF& at) const
    {
        CurveFoot foot{at, {}};
        const double x = m_layout.x.toValue(at.x());
        for (const Path& path : m_paths)
            foot.all.push_back((path.series->isOnSecondAxis ? m_layout.secondY : m_layout.y)
                                   .toPixel(valueAt(*path.series, x)));
        return foot;
    }

    /// How ill a name of `series` reads in this place beside its curve at `foot`: two for each other curve
    /// that runs through it or is as near as its own, one where its own runs through. `isMisleading`: one is
    /// nearer.
    int confusion(const Series& series, const QRectF& box, const CurveFoot& foot, bool& isMisleading) const
    {
        const double margin = kRoom * box.height();
        const double own = std::fabs(foot.at.y() - box.center().y());
        int found = 0;
        for (std::size_t i = 0; i < m_paths.size(); ++i) {
            const bool isThrough = runsThrough(m_paths[i], box);
            if (m_paths[i].series == &series || isUnderOneName(i, foot)) {
                found += isThrough;
                continue;
            }
            const double distance = std::fabs(foot.all[i] - box.center().y());
            isMisleading = isMisleading || distance < own - margin;
            found += isThrough || distance < own + margin ? 2 : 0;
        }
        return found;
    }

    /// How ill a line straight from this place to its curve at `foot` reads: one for each curve that it
    /// crosses and two for each that runs through the place; no number where another curve is within `room`
    /// of its end.
    std::optional<int> confusionAside(const Series& series, const QRectF& box, const CurveFoot& foot,
                                      double room) const
    {
        const double from = std::min(box.center().y(), foot.at.y());
        const double to = std::max(box.center().y(), foot.at.y());
        int found = 0;
        for (std::size_t i = 0; i < m_paths.size(); ++i) {
            const bool isOwn = m_paths[i].series == &series || isUnderOneName(i, foot);
            const double y = foot.all[i];
            if (!isOwn && std::fabs(y - foot.at.y()) < room)
                return std::nullopt;
            found += !isOwn && !m_paths[i].series->label.isEmpty() && y > from && y < to;
            found += runsThrough(m_paths[i], box) ? 2 : 0;
        }
        return found;
    }

private:
    static constexpr std::size_t kSteps = 96;
    static constexpr double kRoom = 0.15; ///< above and below a name, of its height
    struct Path
    {
        const Series* series;
        std::array<double, kSteps + 1> y; ///< at even steps across the plot
    };

    /// A curve without a name that lies on another one is named with it.
    bool isUnderOneName(std::size_t path, const CurveFoot& foot) const
    {
        return m_paths[path].series->label.isEmpty() && std::fabs(foot.all[path] - foot.at.y()) < 1.5;
    }

    bool runsThrough(const Path& path, const QRectF& box) const
    {
        const double margin = kRoom * box.height();
        const std::size_t last = stepAt(box.right());
        for (std::size_t i = stepAt(box.left()); i < last; ++i) // within at an end, or from above to below
            if (std::max(path.y[i], path.y[i + 1]) > box.top() - margin &&
                std::min(path.y[i], path.y[i + 1]) < box.bottom() + margin)
                return true;
        return false;
    }

    std::size_t stepAt(double x) const
    {
        return static_cast<std::size_t>(
            std::clamp(std::round((x - m_left) / m_step), 0.0, static_cast<double>(kSteps)));
    }

    const AxisLayout& m_layout;
    double m_left, m_step;
    std::vector<Path> m_paths;
};

/// A place for a name, how ill it reads there, and where its curve runs above or below.
struct NamePlace
{
    QRectF box;
    const CurveFoot* foot = nullptr; ///< of the name
    int confusion = 0;
    bool isMisleading = false;
    bool isMoved = false; ///< aside, off the middle, to lie within the plot
};

/// Finds places for the names of curves.
class CurveNamer
{
public:
    CurveNamer(LabelWriter& writer, const FigureSpec& figure, const PlotSpec& plot)
        : m_writer(writer)
        , m_figure(figure)
        , m_plot(plot)
        , m_paths(writer.layout(), plot)
    {
    }

    /// All names: first each in a place that is clearly its curve's, so that none takes the room of another
    /// in vain; then those that are left where they confuse least, unless another curve is nearer.
    void name()
    {
        std::vector<const Series*> rest;
        for (const bool isEmphasised : {true, false})
            for (const Series& series : m_plot.series)
                if (series.isEmphasised == isEmphasised && !series.label.isEmpty() &&
                    series.style != SeriesStyle::DataOnly && series.x && !series.x->empty() &&
                    !isInLegend(series) && !nameClearly(series))
                    rest.push_back(&series);
        for (const Series* series : rest)
            nameSomewhere(*series);
    }

private:
    struct Name
    {
        QStringList lines;
        TextKind kind;
        QColor colour;
        QSizeF size;
        std::vector<CurveFoot> feet; ///< of the curve, along it from its start on
        bool isAboveFirst;
    };

    Name nameOf(const Series& series) const
    {
        const FigureStyle& style = m_writer.style();
        const QString text = messageText(series.label);
        Name name;
        name.kind = text.size() <= 2 ? TextKind{12.5, QFont::Bold} : kNoteText;
        name.colour = style.seriesColour(m_figure, series);
        // A name of several curves takes several lines rather than the whole width.
        name.lines =
            style.wrapped(text, name.kind, std::max(0.6 * m_writer.layout().area.width(), style.px(90.0)), 3);
        name.size.setHeight(static_cast<double>(name.lines.size()) * style.textHeight(name.kind));
        name.size.setWidth(0.0);
        for (const QString& line : name.lines)
            name.size.setWidth(std::max(name.size.width(), style.textWidth(line, name.kind)));
        const AxisLayout& layout = m_writer.layout();
        const QRectF& area = layout.area;
        const AxisScale& y = series.isOnSecondAxis ? layout.secondY : layout.y;
        // Curves of pairs part at their end.
        const bool isFromEnd = series.style != SeriesStyle::Line || m_plot.xAxis.kind == AxisKind::Pair;
        for (double share = 0.03; share < 0.99; share += 0.04) {
            const double x =
                isFromEnd ? area.right() - share * area.width() : area.left() + share * area.width();
            const double at = y.toPixel(valueAt(series, layout.x.toValue(x)));
            if (std::isfinite(at) && at >= area.top() && at <= area.bottom())
                name.feet.push_back(m_paths.footAt({x, at}));
        }
        // The first of two curves tends to lie above the others.
        name.isAboveFirst = series.configuration % 2 == 0;
        return name;
    }

    /// Adds the places `gap` design pixels above or below the curve that lie within the plot.
    void addPlaces(const Name& name, double gap, std::vector<NamePlace>& places) const
    {
        const FigureStyle& style = m_writer.style();
        const QRectF& area = m_writer.layout().area;
        for (const CurveFoot& foot : name.feet) {
            const double middle = foot.at.x() - name.size.width() / 2;
            const double left =
                std::clamp(middle, area.left(), std::max(area.left(), area.right() - name.size.width()));
            for (const bool isAbove : {name.isAboveFirst, !name.isAboveFirst}) {
                NamePlace place;
                place.box = QRectF(QPointF(left, isAbove ? foot.at.y() - style.px(gap) - name.size.height()
                                                         : foot.at.y() + style.px(gap)),
                                   name.size);
                place.foot = &foot;
                place.isMoved = left != middle;
                if (area.contains(place.box))
                    places.push_back(place);
            }
        }
    }

    std::vector<NamePlace> placesBeside(const Series& series, const Name& name) const
    {
        std::vector<NamePlace> places;
        for (const double gap : {4.0, 9.0, 16.0})
            addPlaces(name, gap, places);
        for (NamePlace& place : places)
            place.confusion = m_paths.confusion(series, place.box, *place.foot, place.isMisleading);
        return places;
    }

    bool write(const Name& name, std::vector<NamePlace> places)
    {
        std::stable_sort(places.begin(), places.end(),
                         [](const NamePlace& a, const NamePlace& b) { return a.confusion < b.confusion; });
        std::vector<QRectF> boxes;
        for (const NamePlace& place : places)
            boxes.push_back(place.box);
        return m_writer.write(name.lines, name.kind, name.colour, boxes);
    }

    /// Beside the curve where it is told apart, else aside with a thin line that leads to the curve.
    bool nameClearly(const Series& series)
    {
        const Name name = nameOf(series);
        std::vector<NamePlace> beside = placesBeside(series, name);
        if (!m_paths.holds(series)) { // points and steps: nothing to compare with
            std::erase_if(beside, [](const NamePlace& place) { return place.isMoved; });
            write(name, std::move(beside));
            return true;
        }
        std::erase_if(beside, [](const NamePlace& place) { return place.confusion > 0; });
        for (const bool isMoved : {false, true}) {
            std::vector<NamePlace> some;
            std::copy_if(beside.begin(), beside.end(), std::back_inserter(some),
                         [&](const NamePlace& place) { return place.isMoved == isMoved; });
            if (write(name, std::move(some)))
                return true;
        }
        std::vector<NamePlace> aside;
        for (const double gap : {28.0, 42.0, 60.0, 85.0, 115.0, 150.0})
            addPlaces(name, gap, aside);
        const double room = m_writer.style().px(2.5);
        constexpr int kMostCrossings = 3;
        std::erase_if(aside, [&](NamePlace& place) {
            place.confusion =
                m_paths.confusionAside(series, place.box, *place.foot, room).value_or(kMostCrossings + 1);
            return place.confusion > kMostCrossings || !m_writer.placer().isFree(leaderBox(place));
        });
        std::stable_sort(aside.begin(), aside.end(),
                         [](const NamePlace& a, const NamePlace& b) { return a.confusion < b.confusion; });
        for (const NamePlace& place : aside)
            if (m_writer.write(name.lines, name.kind, name.colour, std::span(&place.box, 1))) {
                lead(place, name.colour);
                return true;
            }
        return false;
    }

    void nameSomewhere(const Series& series)
    {
        const Name name = nameOf(series);
        std::vector<NamePlace> beside = placesBeside(series, name);
        std::erase_if(beside, [](const NamePlace& place) { return place.isMisleading || place.isMoved; });
        write(name, std::move(beside));
    }

    /// What the line from a name to its curve takes up.
    QRectF leaderBox(const NamePlace& place) const
    {
        const double side = m_writer.style().px(1.0);
        const QPointF from(place.foot->at.x(),
                           place.foot->at.y() < place.box.top() ? place.box.top() : place.box.bottom());
        return QRectF(from, place.foot->at).normalized().adjusted(-side, 0.0, side, 0.0);
    }

    void lead(const NamePlace& place, const QColor& colour)
    {
        const FigureStyle& style = m_writer.style();
        const QRectF line = leaderBox(place);
        m_writer.placer().block(line);
        QPainter& painter = m_writer.painter();
        painter.setPen(QPen(colour, style.px(0.9)));
        painter.drawLine(QPointF(place.foot->at.x(), line.top()), QPointF(place.foot->at.x(), line.bottom()));
        painter.setPen(Qt::NoPen);
        painter.setBrush(colour);
        painter.drawEllipse(place.foot->at, style.px(2.0), style.px(2.0));
        painter.setBrush(Qt::NoBrush);
    }

    LabelWriter& m_writer;
    const FigureSpec& m_figure;
    const PlotSpec& m_plot;
    CurvePaths m_paths;
};

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
    writer.write({text}, kind, colour, candidates);
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
    writer.write({text}, kNoteText, style.configurationColour(figure, marker.configuration), candidates);
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
    writer.write({text}, TextKind{10.5},
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
    CurveNamer(writer, figure, plot).name();
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
