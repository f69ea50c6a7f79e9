// SPDX-License-Identifier: GPL-3.0-or-later
#include "figure_view.h"

#include "axis_range.h"
#include "core/figure_results.h"
#include "figure_layout.h"
#include "map_painter.h"
#include "widgets/message_text.h"

#include <QContextMenuEvent>
#include <QFocusEvent>
#include <QImage>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace ropewalk {
namespace {

constexpr int kHoverMargin = 14;  ///< from the pointer to the read-out, in window pixels
constexpr double kZoomStep = 0.8; ///< of one step of the wheel
constexpr const char* kWholeRange = "whole range";
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr AxisEnds PlotRange::*kAxes[] = {&PlotRange::x, &PlotRange::y, &PlotRange::secondY};

bool isSameAxis(const AxisSpec& a, const AxisSpec& b)
{
    return a.label == b.label && a.kind == b.kind && a.isLogarithmic == b.isLogarithmic &&
           a.lower == b.lower && a.upper == b.upper;
}

std::complex<double> directionFrom(const QPointF& centre, const QPointF& point)
{
    return {point.x() - centre.x(), centre.y() - point.y()};
}

} // namespace

struct FigureView::Private
{
    FigureSpec whole;  ///< as it was given
    FigureSpec figure; ///< as it is shown: its axes narrowed
    RenderOptions options;
    bool isBusy = false;
    bool showsFocus = false;

    std::shared_ptr<DrawingCache> cache = std::make_shared<DrawingCache>();
    QImage picture; ///< the figure as drawn, in device pixels; kept for the next one: fresh memory is dear
    bool isDrawn = false;
    double ratio = 1.0;

    /// The narrowed axes of the plots, by index, and what they were before.
    struct Zoom
    {
        PlotRange home, shown;
        std::vector<PlotRange>
            told; ///< ranges that the figure may be computed anew for; NaN: an axis that was whole
    };
    std::map<int, Zoom> zooms;
    PlotSpec* shownPlot(int index); ///< null where the figure has no such plot
    /// The button is held down to move the axes of a plot.
    struct Pan
    {
        int plot = 0;
        QPointF last; // window pixels
    };
    std::optional<Pan> pan;

    std::optional<HoverTable> hover;
    FigureHit hoverHit;
    QPointF pointer;
    QRegion hoverRegion; ///< what the read-out covers now

    /// An arrow that is being dragged: how far it has turned since, and where its position stood.
    struct Drag
    {
        bool isQuery = true;
        QPointF centre; // window pixels
        std::complex<double> last;
        double turned = 0.0, thetaRadians = 0.0;
        double m = 0.0, n = 0.0;
    };
    std::optional<Drag> drag;
    bool isScrubbing = false; ///< the button is held down over axes or small circles
    /// What was picked last while the button is down: each place is told once.
    struct Picked
    {
        qint64 pair = -1, distance = -1, m = -1, n = -1;

        bool operator==(const Picked&) const = default;
    };
    Picked picked;

    /// The figure is laid out in device pixels, so that its lines lie on them.
    RenderOptions deviceOptions() const
    {
        RenderOptions device = options;
        device.scale *= ratio;
        device.cache = cache;
        return device;
    }
    QRectF deviceRect(const QWidget& widget) const
    {
        return {0.0, 0.0, std::round(widget.width() * ratio), std::round(widget.height() * ratio)};
    }
    FigureHit hit(const QWidget& widget, const QPointF& point) const
    {
        return hitFigure(point * ratio, FigureStyle(deviceOptions()), layout(widget), figure);
    }

    /// Where the parts of the figure lie: worked out once for a figure and a size, not at every move.
    mutable std::optional<FigureLayout> placed;
    mutable QRectF placedIn;
    mutable double placedAt = 0.0; ///< the scale
    const FigureLayout& layout(const QWidget& widget) const
    {
        const RenderOptions device = deviceOptions();
        const QRectF rect = deviceRect(widget);
        if (!placed || rect != placedIn || device.scale != placedAt) {
            placed = layoutFigure(FigureStyle(device), rect, figure);
            placedIn = rect;
            placedAt = device.scale;
        }
        return *placed;
    }
    void forgetPicture()
    {
        isDrawn = false;
        placed.reset();
    }

    void draw(const QWidget& widget);
    void paintHover(QPainter& painter, const QWidget& widget) const;
    QRectF hoverBox(const QWidget& widget) const;
    /// The plot of this index as it is drawn; a null plot where it is not.
    PlotPlace placeOf(const QWidget& widget, int index) const;
    /// What the pointer stands on, in window pixels: an upright line, or a cell of a map.
    QRectF hoverMark(const QWidget& widget) const;
    Picked pickedAt(const FigureHit& hit) const;
    bool isPickable(const FigureHit& hit) const;
    void applyZooms();
    void setRange(int plot, const PlotRange& range);
    bool isNarrowed(int plot) const;
    QRectF wholeRangeButton(const QWidget& widget) const;
    std::optional<Drag> arrowAt(const QWidget& widget, const QPointF& point) const;
};

void FigureView::Private::draw(const QWidget& widget)
{
    const QSize size = deviceRect(widget).size().toSize();
    isDrawn = true;
    if (picture.size() != size)
        picture = QImage(size, QImage::Format_RGB32);
    if (picture.isNull())
        return;
    picture.setDevicePixelRatio(1.0);
    QPainter painter(&picture);
    paintFigure(painter, QRectF(QPointF(), QSizeF(size)), figure, deviceOptions());
    painter.end();
    picture.setDevicePixelRatio(ratio);
}

namespace {

constexpr TextKind kHoverTitle{11.5, QFont::DemiBold};
constexpr TextKind kHoverText{11.0};

struct HoverSizes
{
    double labelWidth = 0.0;
    std::vector<double> columns;
    double lineHeight = 0.0, pad = 0.0, gap = 0.0;
    bool hasLetters = false;
    QSizeF box;
};

QString letterOf(const FigureSpec& figure, int configuration)
{
    const auto index = static_cast<std::size_t>(configuration);
    return configuration >= 0 && index < figure.configurations.size()
               ? QString::fromStdString(figure.configurations[index].letter)
               : QString();
}

HoverSizes measure(const HoverTable& table, const FigureStyle& style)
{
    HoverSizes sizes;
    sizes.pad = style.px(9.0);
    sizes.gap = style.px(14.0);
    sizes.lineHeight = style.px(16.0);
    sizes.hasLetters = table.configurations.size() > 1;
    sizes.labelWidth = style.textWidth(table.title, kHoverTitle);
    for (const HoverTable::Row& row : table.rows)
        sizes.labelWidth = std::max(sizes.labelWidth, style.textWidth(row.label, kHoverText));
    double width = 2 * sizes.pad + sizes.labelWidth;
    for (std::size_t i = 0; i < table.configurations.size(); ++i) {
        // At least as wide as a full number, so that the box does not tremble while the pointer moves.
        double column = style.textWidth(QStringLiteral("−0.000000"), kHoverText);
        for (const HoverTable::Row& row : table.rows)
            column =
                std::max(column, style.textWidth(row.values.value(static_cast<qsizetype>(i)), kHoverText));
        sizes.columns.push_back(column);
        width += sizes.gap + column;
    }
    const double lines = 1.0 + static_cast<double>(table.rows.size());
    sizes.box = {std::ceil(width), std::ceil(2 * sizes.pad + lines * sizes.lineHeight - style.px(3.0))};
    return sizes;
}

} // namespace

QRectF FigureView::Private::hoverBox(const QWidget& widget) const
{
    const QSizeF size = measure(*hover, FigureStyle(options)).box;
    const double edge = 6.0;
    double x = pointer.x() + kHoverMargin;
    if (x + size.width() > widget.width() - edge)
        x = pointer.x() - kHoverMargin - size.width();
    double y = pointer.y() - kHoverMargin - size.height();
    if (y < edge)
        y = pointer.y() + kHoverMargin;
    x = std::clamp(x, edge, std::max(edge, widget.width() - edge - size.width()));
    y = std::clamp(y, edge, std::max(edge, widget.height() - edge - size.height()));
    return {QPointF(std::round(x), std::round(y)), size};
}

PlotPlace FigureView::Private::placeOf(const QWidget& widget, int index) const
{
    for (const PlotPlace& place : layout(widget).plots)
        if (place.index == index)
            return place;
    return {};
}

QRectF FigureView::Private::hoverMark(const QWidget& widget) const
{
    if (!hover || !hoverHit.isOnAxes || (!hover->x && !hoverHit.cell))
        return {};
    const PlotPlace place = placeOf(widget, hoverHit.plot);
    if (!place.plot)
        return {};
    const AxisLayout layout = layoutAxes(FigureStyle(deviceOptions()), place.content, *place.plot);
    QRectF mark;
    if (hover->x) {
        const double x = layout.x.toPixel(*hover->x);
        if (!(x >= layout.area.left() - 1.0 && x <= layout.area.right() + 1.0))
            return {};
        mark = QRectF(x, layout.area.top(), 0.0, layout.area.height());
    } else {
        mark = mapCellRect(layout.area, *place.plot, place.plot->maps.front(), *hoverHit.cell)
                   .intersected(layout.area);
    }
    return {mark.topLeft() / ratio, mark.size() / ratio};
}

void FigureView::Private::paintHover(QPainter& painter, const QWidget& widget) const
{
    const FigureStyle style(options);
    const ThemeColours& c = style.colours();
    const QRectF mark = hoverMark(widget);
    if (hover->x && mark.height() > 0.0) {
        QColor line = c.muted;
        line.setAlphaF(0.6F);
        painter.setPen(QPen(line, 1.0));
        const double at = std::floor(mark.left()) + 0.5;
        painter.drawLine(QPointF(at, mark.top()), QPointF(at, mark.bottom()));
    } else if (hoverHit.cell && !mark.isEmpty()) {
        painter.setBrush(Qt::NoBrush);
        const QRectF frame = QRectF(mark.toAlignedRect()).adjusted(-0.5, -0.5, 0.5, 0.5);
        painter.setPen(QPen(c.figure, 3.0));
        painter.drawRect(frame);
        painter.setPen(QPen(c.text, 1.0));
        painter.drawRect(frame);
    }
    const QRectF box = hoverBox(widget);
    const HoverSizes sizes = measure(*hover, style);
    painter.setPen(QPen(c.rule, 1.0));
    painter.setBrush(c.figure);
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), style.px(5.0), style.px(5.0));
    painter.setBrush(Qt::NoBrush);
    FigurePen pen(painter, style, nullptr);
    double y = box.top() + sizes.pad - style.px(2.0) + style.ascent(kHoverTitle);
    const double left = box.left() + sizes.pad;
    pen.write({left, y}, hover->title, kHoverTitle, c.text);
    const auto columnRight = [&](std::size_t column) {
        double x = left + sizes.labelWidth;
        for (std::size_t i = 0; i <= column; ++i)
            x += sizes.gap + sizes.columns[i];
        return x;
    };
    if (sizes.hasLetters)
        for (std::size_t i = 0; i < hover->configurations.size(); ++i)
            pen.write({columnRight(i), y}, letterOf(figure, hover->configurations[i]), kHoverTitle,
                      style.configurationColour(figure, hover->configurations[i]), Qt::AlignRight);
    for (const HoverTable::Row& row : hover->rows) {
        y += sizes.lineHeight;
        pen.write({left, y}, row.label, kHoverText, c.muted);
        for (std::size_t i = 0; i < hover->configurations.size(); ++i)
            pen.write({columnRight(i), y}, row.values.value(static_cast<qsizetype>(i)), kHoverText, c.text,
                      Qt::AlignRight);
    }
}

std::optional<FigureView::Private::Drag> FigureView::Private::arrowAt(const QWidget& widget,
                                                                      const QPointF& point) const
{
    if (figure.planes.empty() || !figure.failure.isEmpty())
        return {};
    const FigureStyle style(deviceOptions());
    const QPointF at = point * ratio;
    for (const PlaneLayout& plane : layoutPlanes(style, layout(widget).plots.front().content, figure)) {
        const PlanePanel& panel = figure.planes[static_cast<std::size_t>(plane.panel)];
        if (panel.isStill || panel.thetaRadians == 0.0)
            continue; // no position moves an arrow that does not turn
        const auto distanceTo = [&](const std::complex<double>& direction) {
            const QPointF tip(plane.centre.x() + plane.radius * direction.real(),
                              plane.centre.y() - plane.radius * direction.imag());
            // The outer half of the shaft can be gripped.
            double nearest = INFINITY;
            for (int k = 5; k <= 10; ++k) {
                const QPointF away = plane.centre + (tip - plane.centre) * (k / 10.0) - at;
                nearest = std::min(nearest, std::hypot(away.x(), away.y()));
            }
            return std::abs(direction) > 0.0 ? nearest : INFINITY;
        };
        const double toQuery = distanceTo(panel.query);
        const double toKey = distanceTo(panel.key);
        if (std::min(toQuery, toKey) > style.px(12.0))
            continue;
        Drag start;
        start.isQuery = toQuery <= toKey;
        start.centre = plane.centre / ratio;
        start.last = directionFrom(start.centre, point);
        start.thetaRadians = panel.thetaRadians;
        start.m = panel.m;
        start.n = panel.n;
        return start;
    }
    return {};
}

FigureView::Private::Picked FigureView::Private::pickedAt(const FigureHit& hit) const
{
    Picked found;
    found.pair = hit.pair;
    if (!hit.isOnAxes)
        return found;
    const PlotSpec& plot = *figure.plots()[static_cast<std::size_t>(hit.plot)];
    const auto pick = [&](const AxisSpec& axis, double value) {
        const auto tokens =
            static_cast<qint64>(std::clamp(value, 0.0, static_cast<double>(kLargestPosition)));
        if (axis.meaning == AxisMeaning::Distance)
            found.distance = tokens;
        else if (axis.meaning == AxisMeaning::QueryPosition)
            found.m = tokens;
        else if (axis.meaning == AxisMeaning::KeyPosition)
            found.n = tokens;
    };
    if (hit.cell) {
        const MapSpec& map = plot.maps.front();
        pick(plot.xAxis, wholeIn(mapColumnRange(plot, map, hit.cell->column), hit.x));
        pick(plot.yAxis, wholeIn(mapRowRange(plot, map, hit.cell->row), hit.y));
    } else if (plot.maps.empty()) {
        pick(plot.xAxis, std::round(hit.x));
        pick(plot.yAxis, std::round(hit.y));
    }
    return found;
}

bool FigureView::Private::isPickable(const FigureHit& hit) const
{
    return pickedAt(hit) != Picked{};
}

PlotSpec* FigureView::Private::shownPlot(int index)
{
    const auto at = static_cast<std::size_t>(index);
    return at == 0 ? &figure : at <= figure.more.size() ? &figure.more[at - 1] : nullptr;
}

/// Narrows the axes of the figure as given. An axis that was computed anew for a range that was told keeps
/// the way back; where it has become another, it is the new whole.
void FigureView::Private::applyZooms()
{
    forgetPicture();
    figure = whole;
    for (auto at = zooms.begin(); at != zooms.end();) {
        Zoom& zoom = at->second;
        PlotSpec* plot = shownPlot(at->first);
        const PlotRange given = plot ? rangeOf(*plot) : PlotRange();
        for (AxisEnds PlotRange::*const axis : kAxes) {
            const bool isComputedAnew =
                std::any_of(zoom.told.begin(), zoom.told.end(),
                            [&](const PlotRange& told) { return isAbout(told.*axis, given.*axis); });
            if (isComputedAnew)
                continue;
            if (zoom.shown.*axis == zoom.home.*axis) // shown whole: of a curve beside a map that was narrowed
                zoom.shown.*axis = given.*axis;
            zoom.home.*axis = given.*axis;
        }
        if (!plot || !zoom.home.holds(zoom.shown) || (zoom.shown == zoom.home && given == zoom.home)) {
            at = zooms.erase(at);
            continue;
        }
        setRangeOf(*plot, zoom.shown);
        ++at;
    }
}

/// Shows another part of a plot's axes, and of the axes of the other plots that are the same: plots beside
/// one another stay comparable.
void FigureView::Private::setRange(int plot, const PlotRange& range)
{
    const std::vector<const PlotSpec*> given = whole.plots();
    const PlotSpec& source = *given[static_cast<std::size_t>(plot)];
    const PlotRange before = rangeOf(*shownPlot(plot));
    for (int index = 0; index < static_cast<int>(given.size()); ++index) {
        const PlotSpec& target = *given[static_cast<std::size_t>(index)];
        const PlotRange shown = rangeOf(*shownPlot(index));
        PlotRange wanted = shown;
        const auto take = [&](AxisEnds PlotRange::*axis, bool isSame) {
            if ((isSame || index == plot) && range.*axis != before.*axis)
                wanted.*axis = range.*axis;
        };
        take(&PlotRange::x, isSameAxis(source.xAxis, target.xAxis));
        take(&PlotRange::y, isSameAxis(source.yAxis, target.yAxis));
        take(&PlotRange::secondY, source.secondYAxis && target.secondYAxis &&
                                      isSameAxis(*source.secondYAxis, *target.secondYAxis));
        if (wanted == shown)
            continue;
        Zoom& zoom = zooms.try_emplace(index, Zoom{shown, {}, {}}).first->second;
        zoom.shown = wanted;
        if (zoom.told.size() > 200)
            zoom.told.erase(zoom.told.begin(), zoom.told.begin() + 100);
        PlotRange& told = zoom.told.emplace_back(wanted);
        for (AxisEnds PlotRange::*const axis : kAxes)
            if (wanted.*axis == zoom.home.*axis)
                told.*axis = {kNone, kNone}; // nothing is computed anew for it
    }
    applyZooms();
}

bool FigureView::Private::isNarrowed(int plot) const
{
    const auto zoom = zooms.find(plot);
    return zoom != zooms.end() && zoom->second.shown != zoom->second.home;
}

QRectF FigureView::Private::wholeRangeButton(const QWidget& widget) const
{
    const auto narrowed =
        std::find_if(zooms.begin(), zooms.end(), [&](const auto& zoom) { return isNarrowed(zoom.first); });
    if (narrowed == zooms.end())
        return {};
    const PlotPlace place = placeOf(widget, narrowed->first);
    if (!place.plot)
        return {};
    const QRectF area = layoutAxes(FigureStyle(deviceOptions()), place.content, *place.plot).area;
    const FigureStyle style(options);
    const QSizeF size(style.textWidth(messageText(kWholeRange), kHoverText) + style.px(12.0),
                      style.textHeight(kHoverText) + style.px(7.0));
    return {
        QPointF(std::round(area.right() / ratio - size.width() - 4.0), std::round(area.top() / ratio + 4.0)),
        size};
}

FigureView::FigureView(QWidget* parent)
    : QWidget(parent)
    , d(std::make_unique<Private>())
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_OpaquePaintEvent); // every pixel is drawn: nothing flickers while the window grows
    setMinimumSize(120, 90);
}

FigureView::~FigureView() = default;

void FigureView::setFigure(FigureSpec figure)
{
    if (figure.id != d->whole.id || figure.more.size() != d->whole.more.size())
        d->zooms.clear();
    d->whole = std::move(figure);
    d->applyZooms();
    setAccessibleName(messageText(d->figure.title));
    const Message& description = d->figure.failure.isEmpty() ? d->figure.summary : d->figure.failure;
    setAccessibleDescription(messageText(description));
    if (d->hover) { // the values under a resting pointer change
        d->hoverHit = d->hit(*this, d->pointer);
        d->hover = hoverTable(d->figure, d->hoverHit);
        emit readOutChanged();
    }
    update();
}

const FigureSpec& FigureView::figure() const
{
    return d->whole;
}

const std::optional<HoverTable>& FigureView::readOut() const
{
    return d->hover;
}

bool FigureView::isZoomed() const
{
    return std::any_of(d->zooms.begin(), d->zooms.end(),
                       [this](const auto& zoom) { return d->isNarrowed(zoom.first); });
}

void FigureView::showWholeRange()
{
    if (!isZoomed())
        return;
    const bool isMain = d->isNarrowed(0);
    // A figure that was computed for its narrowed range is shown in its place until the whole one arrives.
    for (auto& [plot, zoom] : d->zooms)
        zoom.shown = zoom.home;
    d->applyZooms();
    endReading();
    update();
    if (isMain)
        emit viewRangeReset();
}

void FigureView::setRenderOptions(const RenderOptions& options)
{
    d->options = options;
    d->options.isVector = false;
    d->forgetPicture();
    update();
}

void FigureView::setBusy(bool isBusy)
{
    if (d->isBusy == isBusy)
        return;
    d->isBusy = isBusy;
    update();
}

void FigureView::paintEvent(QPaintEvent*)
{
    const double ratio = devicePixelRatioF();
    if (!d->isDrawn || ratio != d->ratio || d->picture.size() != d->deviceRect(*this).size().toSize()) {
        d->ratio = ratio;
        d->draw(*this);
    }
    QPainter painter(this);
    painter.drawImage(QPointF(), d->picture);
    painter.setRenderHint(QPainter::Antialiasing);
    const ThemeColours& c = themeColours(d->options.theme);
    if (d->isBusy) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(c.accent);
        for (int i = 0; i < 3; ++i)
            painter.drawEllipse(QPointF(width() - 22.0 + 6.0 * i, height() - 7.0), 2.0, 2.0);
        painter.setBrush(Qt::NoBrush);
    }
    if (const QRectF button = d->wholeRangeButton(*this); !button.isEmpty()) {
        const FigureStyle style(d->options);
        painter.setPen(QPen(c.rule, 1.0));
        painter.setBrush(c.figure);
        painter.drawRoundedRect(button.adjusted(0.5, 0.5, -0.5, -0.5), style.px(4.0), style.px(4.0));
        painter.setBrush(Qt::NoBrush);
        FigurePen(painter, style, nullptr)
            .write({button.center().x(),
                    button.center().y() + (style.ascent(kHoverText) - style.descent(kHoverText)) / 2},
                   messageText(kWholeRange), kHoverText, c.accent, Qt::AlignHCenter);
    }
    if (d->hover && !d->drag && !d->pan)
        d->paintHover(painter, *this);
    if (d->showsFocus) {
        painter.setPen(QPen(c.accent, 1.5));
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.75, 0.75, -0.75, -0.75), 5.0, 5.0);
    }
}

void FigureView::mousePressEvent(QMouseEvent* event)
{
    const bool isLeft = event->button() == Qt::LeftButton;
    if (isLeft && d->wholeRangeButton(*this).contains(event->position())) {
        showWholeRange();
        return;
    }
    if (event->button() == Qt::MiddleButton || (isLeft && (event->modifiers() & Qt::ShiftModifier))) {
        const FigureHit hit = d->hit(*this, event->position());
        if (hit.isOnAxes) {
            d->pan = Private::Pan{hit.plot, event->position()};
            setCursor(Qt::ClosedHandCursor);
        }
        return;
    }
    if (!isLeft)
        return;
    d->picked = {};
    d->drag = d->arrowAt(*this, event->position());
    if (d->drag) {
        setCursor(Qt::ClosedHandCursor);
        return;
    }
    d->isScrubbing = true;
    mouseMoveEvent(event);
}

void FigureView::mouseMoveEvent(QMouseEvent* event)
{
    const QPointF point = event->position();
    if (d->drag) {
        Private::Drag& drag = *d->drag;
        const std::complex<double> now = directionFrom(drag.centre, point);
        if (std::abs(now) > 4.0) { // at the very centre a direction means nothing
            drag.turned += std::arg(now * std::conj(drag.last));
            drag.last = now;
            const double steps = std::round(drag.turned / drag.thetaRadians);
            const auto moved = [&](double from, bool isMoved) {
                const double to =
                    std::clamp(from + (isMoved ? steps : 0.0), 0.0, static_cast<double>(kLargestPosition));
                return static_cast<qint64>(to);
            };
            emit positionsDragged(moved(drag.m, drag.isQuery), moved(drag.n, !drag.isQuery));
        }
        return;
    }
    if (d->pan) {
        const PlotPlace place = d->placeOf(*this, d->pan->plot);
        if (place.plot) {
            const AxisLayout layout = layoutAxes(FigureStyle(d->deviceOptions()), place.content, *place.plot);
            const QPointF from = d->pan->last * d->ratio;
            const QPointF to = point * d->ratio;
            PlotRange range = rangeOf(*place.plot);
            const auto zoom = d->zooms.find(d->pan->plot);
            const PlotRange home = zoom == d->zooms.end() ? range : zoom->second.home;
            const PlotSpec& plot = *place.plot;
            range.x =
                moved(plot.xAxis, range.x, home.x, layout.x.toValue(from.x()), layout.x.toValue(to.x()));
            range.y =
                moved(plot.yAxis, range.y, home.y, layout.y.toValue(from.y()), layout.y.toValue(to.y()));
            if (plot.secondYAxis)
                range.secondY = moved(*plot.secondYAxis, range.secondY, home.secondY,
                                      layout.secondY.toValue(from.y()), layout.secondY.toValue(to.y()));
            changeRange(d->pan->plot, range);
        }
        d->pan->last = point;
        return;
    }
    const FigureHit hit = d->hit(*this, point);
    if (d->isScrubbing && (event->buttons() & Qt::LeftButton)) {
        const Private::Picked now = d->pickedAt(hit);
        const Private::Picked before = std::exchange(d->picked, now);
        if (now.distance >= 0 && now.distance != before.distance)
            emit distancePicked(now.distance);
        else if (now.pair >= 0 && now.pair != before.pair)
            emit pairPicked(static_cast<int>(now.pair));
        if (now.m >= 0 && now.n >= 0 && (now.m != before.m || now.n != before.n))
            emit positionsPicked(now.m, now.n);
        else if (now.n < 0 && now.m >= 0 && now.m != before.m)
            emit queryPicked(now.m);
        else if (now.m < 0 && now.n >= 0 && now.n != before.n)
            emit keyPicked(now.n);
    }
    const bool isButton = d->wholeRangeButton(*this).contains(point);
    setCursor(d->arrowAt(*this, point)         ? Qt::OpenHandCursor
              : isButton || d->isPickable(hit) ? Qt::PointingHandCursor
                                               : Qt::ArrowCursor);

    d->hover = isButton ? std::nullopt : hoverTable(d->figure, hit);
    d->hoverHit = hit;
    d->pointer = point;
    QRegion region;
    if (d->hover) {
        region += d->hoverBox(*this).toAlignedRect().adjusted(-1, -1, 1, 1);
        if (const QRectF mark = d->hoverMark(*this); mark.height() > 0.0)
            region += mark.toAlignedRect().adjusted(-3, -3, 3, 3);
    }
    update(region + d->hoverRegion);
    d->hoverRegion = region;
    emit readOutChanged();
}

/// Shows another part of a plot's axes and tells where the main plot's have changed.
void FigureView::changeRange(int plot, const PlotRange& range)
{
    if (range == rangeOf(*d->shownPlot(plot)))
        return;
    const PlotRange before = rangeOf(d->figure);
    d->setRange(plot, range);
    endReading(); // what was read lies elsewhere now
    update();
    const PlotRange main = rangeOf(d->figure);
    if (main == before)
        return;
    if (d->isNarrowed(0))
        emit viewRangeChanged(main.x.first, main.x.second, main.y.first, main.y.second);
    else
        emit viewRangeReset();
}

void FigureView::wheelEvent(QWheelEvent* event)
{
    const QPoint turned = event->angleDelta();
    const int steps = turned.y() != 0 ? turned.y() : turned.x(); // some systems turn it with a key held
    const FigureHit hit = d->hit(*this, event->position());
    if (steps == 0 || !hit.isOnAxes) {
        event->ignore();
        return;
    }
    const PlotSpec& plot = *d->figure.plots()[static_cast<std::size_t>(hit.plot)];
    const PlotPlace place = d->placeOf(*this, hit.plot);
    const AxisLayout layout = layoutAxes(FigureStyle(d->deviceOptions()), place.content, plot);
    const double factor = std::pow(kZoomStep, steps / 120.0);
    PlotRange range = rangeOf(plot);
    const auto zoom = d->zooms.find(hit.plot);
    const PlotRange home = zoom == d->zooms.end() ? range : zoom->second.home;
    if (!(event->modifiers() & Qt::ControlModifier))
        range.x = zoomed(plot.xAxis, range.x, home.x, hit.x, factor);
    if (!(event->modifiers() & Qt::ShiftModifier)) {
        range.y = zoomed(plot.yAxis, range.y, home.y, hit.y, factor);
        if (plot.secondYAxis)
            range.secondY = zoomed(*plot.secondYAxis, range.secondY, home.secondY,
                                   layout.secondY.toValue(event->position().y() * d->ratio), factor);
    }
    changeRange(hit.plot, range);
    event->accept();
}

void FigureView::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Backspace && isZoomed())
        showWholeRange();
    else
        QWidget::keyPressEvent(event);
}

void FigureView::mouseReleaseEvent(QMouseEvent* event)
{
    d->drag.reset();
    d->pan.reset();
    d->isScrubbing = false;
    mouseMoveEvent(event);
}

void FigureView::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton && !d->wholeRangeButton(*this).contains(event->position()))
        emit enlargeRequested();
}

/// Nothing is read out until the pointer moves again.
void FigureView::endReading()
{
    if (!d->hover)
        return;
    d->hover.reset();
    update(d->hoverRegion);
    d->hoverRegion = {};
    emit readOutChanged();
}

void FigureView::leaveEvent(QEvent*)
{
    endReading();
}

void FigureView::hideEvent(QHideEvent*)
{
    endReading(); // no leaving is told of what goes out of sight under the pointer
}

void FigureView::resizeEvent(QResizeEvent*)
{
    endReading();
}

void FigureView::contextMenuEvent(QContextMenuEvent* event)
{
    emit contextRequested(event->globalPos());
}

void FigureView::focusInEvent(QFocusEvent* event)
{
    // A ring tells the keyboard's way; the mouse knows where it clicked.
    d->showsFocus = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason ||
                    event->reason() == Qt::ShortcutFocusReason;
    update();
}

void FigureView::focusOutEvent(QFocusEvent*)
{
    d->showsFocus = false;
    update();
}

} // namespace ropewalk
