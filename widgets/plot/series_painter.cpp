// SPDX-License-Identifier: GPL-3.0-or-later
#include "series_painter.h"

#include "raster_canvas.h"

#include <QImage>
#include <QPainterPath>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace ropewalk {
namespace {

std::span<const double> span(const Values& values)
{
    return values ? std::span<const double>(*values) : std::span<const double>();
}

/// The part of a segment inside a rectangle (Liang and Barsky); false where there is none.
bool cutSegment(QPointF& a, QPointF& b, const QRectF& area)
{
    const double dx = b.x() - a.x();
    const double dy = b.y() - a.y();
    double from = 0.0;
    double to = 1.0;
    const auto cut = [&](double direction, double distance) {
        if (direction == 0.0)
            return distance >= 0.0;
        const double at = distance / direction;
        if (direction < 0.0)
            from = std::max(from, at);
        else
            to = std::min(to, at);
        return from <= to;
    };
    if (!cut(-dx, a.x() - area.left()) || !cut(dx, area.right() - a.x()) || !cut(-dy, a.y() - area.top()) ||
        !cut(dy, area.bottom() - a.y()))
        return false;
    const QPointF start = a;
    if (to < 1.0)
        b = start + QPointF(dx, dy) * to;
    if (from > 0.0)
        a = start + QPointF(dx, dy) * from;
    return true;
}

/// Cuts a polyline at the area and at NaN; the runs that are left.
std::vector<QPolygonF> cutPolyline(const QPolygonF& points, const QRectF& area)
{
    std::vector<QPolygonF> runs;
    QPolygonF run;
    const auto end = [&] {
        if (run.size() > 1)
            runs.push_back(std::exchange(run, {}));
        run.clear();
    };
    for (qsizetype i = 1; i < points.size(); ++i) {
        QPointF a = points[i - 1];
        QPointF b = points[i];
        if (!std::isfinite(a.x()) || !std::isfinite(a.y()) || !std::isfinite(b.x()) ||
            !std::isfinite(b.y()) || !cutSegment(a, b, area)) {
            end();
            continue;
        }
        if (run.isEmpty() || run.back() != a) {
            end();
            run.append(a);
        }
        run.append(b);
        if (b != points[i])
            end();
    }
    end();
    return runs;
}

/// Lengths of a pattern in design pixels, drawn and left out by turns; a dot is as long as its round end.
std::span<const double> patternLengths(LinePattern pattern)
{
    static constexpr std::array<double, 2> kDashed{5.0, 4.0};
    static constexpr std::array<double, 2> kDotted{0.2, 3.4};
    static constexpr std::array<double, 4> kDashDot{6.0, 3.4, 0.2, 3.4};
    switch (pattern) {
    case LinePattern::Dashed:
        return kDashed;
    case LinePattern::Dotted:
        return kDotted;
    case LinePattern::DashDot:
        return kDashDot;
    case LinePattern::Solid:
        break;
    }
    return {};
}

/// Splits a run into the pieces of a pattern by its length in the picture, so that it does not matter in what
/// pieces it is drawn.
std::vector<QPolygonF> dashes(const QPolygonF& run, std::span<const double> lengths, double unit)
{
    std::vector<QPolygonF> pieces;
    std::size_t part = 0; // even ones are drawn
    double left = lengths[part] * unit;
    QPolygonF piece{run.front()};
    for (qsizetype i = 1; i < run.size(); ++i) {
        QPointF from = run[i - 1];
        const QPointF to = run[i];
        double length = std::hypot(to.x() - from.x(), to.y() - from.y());
        while (length > left) {
            from += (to - from) * (left / length);
            length -= left;
            if (part % 2 == 0) {
                piece.append(from);
                pieces.push_back(piece);
            }
            piece = {from};
            part = (part + 1) % lengths.size();
            left = lengths[part] * unit;
        }
        left -= length;
        if (part % 2 == 0)
            piece.append(to);
    }
    if (part % 2 == 0 && piece.size() > 1)
        pieces.push_back(piece);
    return pieces;
}

/// A run without the points that lie on the straight line between others to within what no eye sees: each
/// piece of a line costs the same to draw, however short it is. From one corner on the directions are kept
/// that pass all points since then closely enough; a point outside of them makes the one before it the next
/// corner.
QPolygonF straightened(const QPolygonF& run)
{
    constexpr double kNearest = 0.04; // of a pixel
    const auto cross = [](const QPointF& a, const QPointF& b) { return a.x() * b.y() - a.y() * b.x(); };
    QPolygonF corners{run.front()};
    corners.reserve(run.size());
    QPointF left, right; // the outermost directions, counterclockwise and clockwise
    bool isOpen = false;
    for (qsizetype i = 1; i < run.size(); ++i) {
        if (isOpen) {
            const QPointF step = run[i] - corners.back();
            if (cross(right, step) < 0.0 || cross(step, left) < 0.0 ||
                QPointF::dotProduct(step, run[i - 1] - corners.back()) <= 0.0) {
                corners.append(run[i - 1]);
                isOpen = false;
            }
        }
        const QPointF step = run[i] - corners.back();
        const double length = std::sqrt(QPointF::dotProduct(step, step));
        if (length <= kNearest)
            continue; // as good as the corner; the last point is added below in any case
        const QPointF aside = QPointF(-step.y(), step.x()) * (kNearest / length);
        if (!isOpen || cross(left, step + aside) < 0.0)
            left = step + aside;
        if (!isOpen || cross(step - aside, right) < 0.0)
            right = step - aside;
        isOpen = true;
    }
    corners.append(run.back());
    return corners;
}

std::vector<QPolygonF> patterned(std::vector<QPolygonF> runs, const FigureStyle& style, LinePattern pattern)
{
    if (!style.options().isVector)
        for (QPolygonF& run : runs)
            run = straightened(run);
    const auto lengths = patternLengths(pattern);
    if (lengths.empty())
        return runs;
    std::vector<QPolygonF> pieces;
    for (const QPolygonF& run : runs)
        for (QPolygonF& dash : dashes(run, lengths, style.px(1.0)))
            pieces.push_back(std::move(dash));
    return pieces;
}

/// On the pixels where there are any. Where Qt draws on others, single lines with square ends have a way of
/// their own: a wide polyline is filled as one polygon, whose cost grows with the square of its points.
void paintRuns(QPainter& painter, const std::vector<QPolygonF>& runs, bool isVector)
{
    if (isVector) {
        for (const QPolygonF& run : runs)
            painter.drawPolyline(run);
        return;
    }
    if (auto canvas = RasterCanvas::of(painter)) {
        for (const QPolygonF& run : runs)
            canvas->drawPolyline(run, painter.pen().widthF(), painter.pen().color());
        return;
    }
    QList<QLineF> lines;
    for (const QPolygonF& run : runs)
        for (qsizetype i = 1; i < run.size(); ++i)
            lines.append({run[i - 1], run[i]});
    QPen pen = painter.pen();
    pen.setCapStyle(Qt::SquareCap);
    painter.setPen(pen);
    painter.drawLines(lines);
}

QPen roundPen(const QColor& colour, double width)
{
    return {colour, width, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin};
}

double clampedTo(double y, const QRectF& area)
{
    return std::clamp(y, area.top(), area.bottom());
}

/// Fills the columns [begin, end), none of which is a gap, as one polygon.
void fillPolygon(QPainter& painter, const SeriesFrame& frame, const std::vector<DrawnColumn>& columns,
                 std::size_t begin, std::size_t end)
{
    QPolygonF polygon;
    polygon.reserve(static_cast<qsizetype>(2 * (end - begin)));
    const auto xOf = [&](std::size_t i) {
        return std::clamp(columns[i].x, frame.area.left(), frame.area.right());
    };
    for (std::size_t i = begin; i < end; ++i)
        polygon.append({xOf(i), clampedTo(columns[i].top, frame.area)});
    for (std::size_t i = end; i-- > begin;)
        polygon.append({xOf(i), clampedTo(columns[i].bottom, frame.area)});
    painter.drawPolygon(polygon);
}

/// The filled extents of columns on pixels: one upright bar a column, which is what a column is. A polygon
/// that zigzags over hundreds of columns costs a hundred times as much to fill.
class ColumnBars
{
public:
    explicit ColumnBars(const SeriesFrame& frame)
        : m_frame(frame)
        , m_tops(static_cast<std::size_t>(std::max(0, frame.columns)))
        , m_bottoms(m_tops.size(), -1.0)
    {
    }

    /// Adds columns [begin, end), none of which is a gap; what lies between samples runs straight.
    void add(const std::vector<DrawnColumn>& columns, std::size_t begin, std::size_t end)
    {
        for (std::size_t i = begin; i < end; ++i) {
            const DrawnColumn& now = columns[i];
            if (i > begin) {
                const DrawnColumn& before = columns[i - 1];
                for (int at = std::max(0, indexOf(before.x) + 1);
                     at < std::min(m_frame.columns, indexOf(now.x)); ++at) {
                    const double share = (m_frame.area.left() + at + 0.5 - before.x) / (now.x - before.x);
                    extend(at, before.top + (now.top - before.top) * share,
                           before.bottom + (now.bottom - before.bottom) * share);
                }
            }
            // A sample on the right edge, or just beside the area, belongs to the last column within.
            if (now.x >= m_frame.area.left() - 1.0 && now.x <= m_frame.area.right() + 1.0)
                extend(std::clamp(indexOf(now.x), 0, m_frame.columns - 1), now.top, now.bottom);
        }
    }

    void paint(RasterCanvas& canvas, const QColor& colour)
    {
        // QCustomPlot's antialiased elements lie half a pixel off the pixels' edges.
        const QPointF origin = canvas.toDevice({m_frame.area.left() - 0.5, 0.0});
        for (std::size_t at = 0; at < m_tops.size(); ++at) {
            m_tops[at] += origin.y();
            m_bottoms[at] += origin.y();
        }
        canvas.fillBars(static_cast<int>(std::lround(origin.x())), m_tops, m_bottoms, colour);
    }

private:
    int indexOf(double x) const
    {
        return static_cast<int>(std::floor(std::clamp(x - m_frame.area.left(), -1e6, 1e6)));
    }

    void extend(int at, double top, double bottom)
    {
        double& upper = m_tops[static_cast<std::size_t>(at)];
        double& lower = m_bottoms[static_cast<std::size_t>(at)];
        const bool isFirst = lower < upper;
        upper = isFirst ? std::min(top, bottom) : std::min({upper, top, bottom});
        lower = isFirst ? std::max(top, bottom) : std::max({lower, top, bottom});
    }

    const SeriesFrame& m_frame;
    std::vector<double> m_tops, m_bottoms; ///< of the bars; empty at first: the bottom above the top
};

void fillColumns(QPainter& painter, const SeriesFrame& frame, const FigureStyle& style,
                 const std::vector<DrawnColumn>& columns, const QColor& colour, bool isOnlyDense)
{
    if (isOnlyDense && std::none_of(columns.begin(), columns.end(),
                                    [](const DrawnColumn& column) { return column.isDense; }))
        return;
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    std::optional<RasterCanvas> canvas;
    if (!style.options().isVector)
        canvas = RasterCanvas::of(painter);
    ColumnBars bars(frame);
    const auto isFilled = [&](std::size_t i) {
        if (std::isnan(columns[i].top))
            return false;
        if (!isOnlyDense)
            return true;
        const auto isDense = [&](std::size_t at) { return at < columns.size() && columns[at].isDense; };
        // A single sample between dense columns is the band's narrow place, not its end.
        return isDense(i) || isDense(i + 1) || (i > 0 && isDense(i - 1));
    };
    for (std::size_t begin = 0; begin < columns.size(); ++begin) {
        if (!isFilled(begin))
            continue;
        std::size_t end = begin;
        while (end < columns.size() && isFilled(end))
            ++end;
        if (canvas)
            bars.add(columns, begin, end);
        else
            fillPolygon(painter, frame, columns, begin, end);
        begin = end;
    }
    if (canvas)
        bars.paint(*canvas, colour);
    painter.setBrush(Qt::NoBrush);
}

double sampleSpacing(const SeriesFrame& frame, const Series& series)
{
    const auto x = span(series.x);
    if (frame.xAxis.kind == AxisKind::Categories || frame.xAxis.kind == AxisKind::Pair)
        return std::fabs(frame.x.toPixel(1.0) - frame.x.toPixel(0.0));
    if (x.size() < 2)
        return frame.area.width();
    return std::fabs(frame.x.toPixel(x.back()) - frame.x.toPixel(x.front())) /
           static_cast<double>(x.size() - 1);
}

} // namespace

QColor mixed(const QColor& over, const QColor& ground, double share)
{
    const auto mix = [&](int a, int b) {
        return static_cast<int>(std::lround(a * share + b * (1.0 - share)));
    };
    return {mix(over.red(), ground.red()), mix(over.green(), ground.green()),
            mix(over.blue(), ground.blue())};
}

const PlotColumns::Cuts& PlotColumns::of(std::span<const double> x)
{
    for (const Cuts& cuts : m_known)
        if (cuts.x.data() == x.data() && cuts.x.size() == x.size())
            return cuts;
    Cuts& cuts = m_known.emplace_back(Cuts{x, cutIntoColumns(x, m_axis), {}});
    cuts.pixels.reserve(cuts.columns.size());
    for (const ColumnCut& column : cuts.columns)
        cuts.pixels.push_back(m_x.shareToPixel(column.share));
    return cuts;
}

std::vector<DrawnColumn> drawnColumns(const SeriesFrame& frame, PlotColumns& columns,
                                      std::span<const double> x, std::span<const double> y)
{
    if (x.empty() || x.size() != y.size())
        return {};
    const PlotColumns::Cuts& cuts = columns.of(x);
    const auto ranges = reduceToColumns(x, y, columns.axis(), cuts.columns);
    std::vector<DrawnColumn> drawn;
    drawn.reserve(ranges.size());
    constexpr double kGap = std::numeric_limits<double>::quiet_NaN();
    // A gap parts a column in two, which stand elsewhere than the whole.
    const bool isAsCut = ranges.size() == cuts.columns.size();
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const ColumnRange& range = ranges[i];
        const double at = isAsCut && range.x == cuts.columns[i].x ? cuts.pixels[i] : frame.x.toPixel(range.x);
        if (range.samples == 0) {
            drawn.push_back({at, kGap, kGap, false});
            continue;
        }
        const double top = frame.y.toPixel(range.upper);
        drawn.push_back(
            {at, top, range.lower == range.upper ? top : frame.y.toPixel(range.lower), range.samples > 1});
    }
    return drawn;
}

void paintLine(QPainter& painter, const SeriesFrame& frame, const FigureStyle& style,
               const std::vector<DrawnColumn>& columns, const LineLook& look)
{
    QColor fill = look.colour;
    fill.setAlphaF(0.22F);
    fillColumns(painter, frame, style, columns, fill, true);
    QPolygonF middle;
    middle.reserve(static_cast<qsizetype>(columns.size()));
    for (const DrawnColumn& column : columns)
        middle.append({column.x, (column.top + column.bottom) / 2});
    painter.setPen(roundPen(look.colour, style.px(look.width)));
    paintRuns(painter, patterned(cutPolyline(middle, frame.area), style, look.pattern),
              style.options().isVector);
}

void paintPolyline(QPainter& painter, const QPolygonF& points)
{
    paintRuns(painter, {points}, false);
}

int markerShape(const FigureSpec& figure, const Series& series)
{
    const auto index = static_cast<std::size_t>(series.configuration);
    const int shape = series.colour ? *series.colour
                      : series.configuration >= 0 && index < figure.configurations.size()
                          ? figure.configurations[index].colour
                          : 0;
    return std::max(0, shape);
}

void paintMarkerShape(QPainter& painter, const QPointF& centre, double radius, int shape)
{
    const double x = centre.x();
    const double y = centre.y();
    switch (shape % 4) {
    case 0:
        painter.drawEllipse(centre, radius, radius);
        break;
    case 1: {
        const double half = radius * 0.86;
        painter.drawRect(QRectF(x - half, y - half, 2 * half, 2 * half));
        break;
    }
    case 2: {
        const double r = radius * 1.2;
        painter.drawPolygon(QPolygonF{{x, y - r}, {x + 0.87 * r, y + 0.5 * r}, {x - 0.87 * r, y + 0.5 * r}});
        break;
    }
    default: {
        const double r = radius * 1.22;
        painter.drawPolygon(QPolygonF{{x, y - r}, {x + r, y}, {x, y + r}, {x - r, y}});
    }
    }
}

void paintMarkers(QPainter& painter, const SeriesFrame& frame, const FigureStyle& style, const Series& series,
                  const QColor& colour, int shape)
{
    const auto x = span(series.x);
    const auto y = span(series.y);
    QPolygonF points;
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i)
        points.append({frame.x.toPixel(x[i]), frame.y.toPixel(y[i])});
    const QColor faint = mixed(colour, style.colours().figure, 0.55);
    painter.setPen(roundPen(faint, style.px(1.2)));
    paintRuns(painter, cutPolyline(points, frame.area), style.options().isVector);
    // Markers that touch read as a thick line: they shrink before they do.
    const double radius = std::clamp(0.42 * sampleSpacing(frame, series), style.px(1.1), style.px(2.6));
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    for (const QPointF& point : points)
        if (std::isfinite(point.y()) && frame.area.contains(point))
            paintMarkerShape(painter, point, radius, shape);
    painter.setBrush(Qt::NoBrush);
}

void paintBars(QPainter& painter, const SeriesFrame& frame, const FigureStyle& style, const Series& series,
               const QColor& colour, int barSlot, int barSlots, const BarEmphasis& emphasis)
{
    const auto x = span(series.x);
    const auto y = span(series.y);
    const double room = sampleSpacing(frame, series);
    const double width = std::max(style.hairline(0.8), 0.76 * room / barSlots);
    const double zero = clampedTo(frame.y.toPixel(0.0), frame.area);
    const QColor faint = mixed(colour, style.colours().figure, emphasis.share);
    painter.setPen(Qt::NoPen);
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
        painter.setBrush(x[i] == emphasis.picked ? colour : faint);
        const double centre = frame.x.toPixel(x[i]) + (barSlot - (barSlots - 1) / 2.0) * width;
        const double end = clampedTo(frame.y.toPixel(y[i]), frame.area);
        if (!std::isfinite(y[i]))
            continue;
        const QRectF bar = QRectF(QPointF(centre - width / 2, std::min(zero, end)),
                                  QPointF(centre + width / 2, std::max(zero, end)))
                               .intersected(frame.area);
        if (!bar.isEmpty())
            painter.drawRect(bar);
    }
    painter.setBrush(Qt::NoBrush);
}

void paintSteps(QPainter& painter, const SeriesFrame& frame, const FigureStyle& style, const Series& series,
                const LineLook& look)
{
    const auto x = span(series.x);
    const auto y = span(series.y);
    const double half = sampleSpacing(frame, series) / 2;
    QPolygonF points;
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
        const QPointF at(frame.x.toPixel(x[i]), frame.y.toPixel(y[i]));
        points.append({at.x() - half, at.y()});
        points.append({at.x() + half, at.y()});
    }
    painter.setPen(QPen(look.colour, style.px(look.width), Qt::SolidLine, Qt::RoundCap, Qt::MiterJoin));
    paintRuns(painter, patterned(cutPolyline(points, frame.area), style, look.pattern),
              style.options().isVector);
}

void paintPoints(QPainter& painter, const SeriesFrame& frame, const FigureStyle& style, const Series& series,
                 const QColor& colour, int shape)
{
    const auto x = span(series.x);
    const auto y = span(series.y);
    const std::size_t count = std::min(x.size(), y.size());
    const double radius = style.px(count <= 400 ? 2.4 : count <= 4000 ? 1.7 : 1.2);
    const bool isVector = style.options().isVector;
    // On a raster the marker is drawn once for each of the places that it can have within a pixel.
    constexpr int kPlaces = 4;
    const int reach = static_cast<int>(std::ceil(1.3 * radius)) + 1;
    std::vector<QImage> stamps;
    if (!isVector)
        for (int place = 0; place < kPlaces * kPlaces; ++place) {
            QImage stamp(2 * reach + 1, 2 * reach + 1, QImage::Format_ARGB32_Premultiplied);
            stamp.fill(Qt::transparent);
            QPainter stampPainter(&stamp);
            stampPainter.setRenderHint(QPainter::Antialiasing);
            stampPainter.setPen(Qt::NoPen);
            stampPainter.setBrush(colour);
            const QPointF within((place % kPlaces + 0.5) / kPlaces, (place / kPlaces + 0.5) / kPlaces);
            paintMarkerShape(stampPainter, QPointF(reach, reach) + within, radius, shape);
            stampPainter.end();
            stamps.push_back(std::move(stamp));
        }
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    for (std::size_t i = 0; i < count; ++i) {
        const QPointF at(frame.x.toPixel(x[i]), frame.y.toPixel(y[i]));
        if (!std::isfinite(at.x()) || !std::isfinite(at.y()) || !frame.area.contains(at))
            continue;
        if (isVector) {
            paintMarkerShape(painter, at, radius, shape);
            continue;
        }
        // The middle of a pixel is its place, as everywhere in the plot.
        const QPointF shifted = at + QPointF(0.5, 0.5);
        const QPoint whole(static_cast<int>(std::floor(shifted.x())),
                           static_cast<int>(std::floor(shifted.y())));
        const auto placeOf = [](double share) {
            return std::min(kPlaces - 1, static_cast<int>(share * kPlaces));
        };
        const int place = placeOf(shifted.x() - whole.x()) + kPlaces * placeOf(shifted.y() - whole.y());
        painter.drawImage(whole - QPoint(reach, reach), stamps[static_cast<std::size_t>(place)]);
    }
    painter.setBrush(Qt::NoBrush);
}

void paintBand(QPainter& painter, const SeriesFrame& frame, PlotColumns& columns, const FigureStyle& style,
               const Band& band, const QColor& colour)
{
    std::vector<DrawnColumn> extent = drawnColumns(frame, columns, span(band.x), span(band.upper));
    const std::vector<DrawnColumn> lower = drawnColumns(frame, columns, span(band.x), span(band.lower));
    if (extent.size() != lower.size())
        return; // gaps in one of the two only: no area is between them
    for (std::size_t i = 0; i < extent.size(); ++i)
        extent[i].bottom = lower[i].bottom;
    fillColumns(painter, frame, style, extent, colour, false);
}

} // namespace ropewalk
