// SPDX-License-Identifier: GPL-3.0-or-later
#include "figure_view.h"

#include "core/figure_results.h"
#include "figure_layout.h"
#include "hover_table.h"
#include "widgets/message_text.h"

#include <QContextMenuEvent>
#include <QFocusEvent>
#include <QImage>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

constexpr int kHoverMargin = 14; ///< from the pointer to the read-out, in window pixels

std::complex<double> directionFrom(const QPointF& centre, const QPointF& point)
{
    return {point.x() - centre.x(), centre.y() - point.y()};
}

} // namespace

struct FigureView::Private
{
    FigureSpec figure;
    RenderOptions options;
    bool isBusy = false;
    bool showsFocus = false;

    QImage picture; ///< the figure as drawn, in device pixels
    double ratio = 1.0;

    std::optional<HoverTable> hover;
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
    int lastPair = -1;
    qint64 lastDistance = -1;

    /// The figure is laid out in device pixels, so that its lines lie on them.
    RenderOptions deviceOptions() const
    {
        RenderOptions device = options;
        device.scale *= ratio;
        return device;
    }
    QRectF deviceRect(const QWidget& widget) const
    {
        return {0.0, 0.0, std::round(widget.width() * ratio), std::round(widget.height() * ratio)};
    }
    FigureHit hit(const QWidget& widget, const QPointF& point) const
    {
        return hitFigure(point * ratio, deviceRect(widget), figure, deviceOptions());
    }

    void draw(const QWidget& widget);
    void paintHover(QPainter& painter, const QWidget& widget) const;
    QRectF hoverBox(const QWidget& widget) const;
    std::optional<double> hoverX(const QWidget& widget) const;
    std::optional<Drag> arrowAt(const QWidget& widget, const QPointF& point) const;
};

void FigureView::Private::draw(const QWidget& widget)
{
    const QSize size = deviceRect(widget).size().toSize();
    picture = QImage(size, QImage::Format_RGB32);
    if (picture.isNull())
        return;
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

std::optional<double> FigureView::Private::hoverX(const QWidget& widget) const
{
    if (!hover || !hover->x || !figure.planes.empty())
        return {};
    const FigureStyle style(deviceOptions());
    const FigureLayout layout = layoutFigure(style, deviceRect(widget), figure);
    const double x = layoutAxes(style, layout.content, figure).x.toPixel(*hover->x);
    return std::isfinite(x) ? std::optional(x / ratio) : std::nullopt;
}

void FigureView::Private::paintHover(QPainter& painter, const QWidget& widget) const
{
    const FigureStyle style(options);
    const ThemeColours& c = style.colours();
    if (const auto x = hoverX(widget)) {
        const FigureStyle device(deviceOptions());
        const FigureLayout layout = layoutFigure(device, deviceRect(widget), figure);
        const QRectF area = layoutAxes(device, layout.content, figure).area;
        QColor line = c.muted;
        line.setAlphaF(0.6F);
        painter.setPen(QPen(line, 1.0));
        const double at = std::floor(*x) + 0.5;
        painter.drawLine(QPointF(at, area.top() / ratio), QPointF(at, area.bottom() / ratio));
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
    const FigureLayout layout = layoutFigure(style, deviceRect(widget), figure);
    const QPointF at = point * ratio;
    for (const PlaneLayout& plane : layoutPlanes(style, layout.content, figure)) {
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
    d->figure = std::move(figure);
    d->picture = {};
    setAccessibleName(messageText(d->figure.title));
    const Message& description = d->figure.failure.isEmpty() ? d->figure.summary : d->figure.failure;
    setAccessibleDescription(messageText(description));
    if (d->hover)
        d->hover =
            hoverTable(d->figure, d->hit(*this, d->pointer)); // the values under a resting pointer change
    update();
}

const FigureSpec& FigureView::figure() const
{
    return d->figure;
}

void FigureView::setRenderOptions(const RenderOptions& options)
{
    d->options = options;
    d->options.isVector = false;
    d->picture = {};
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
    if (d->picture.isNull() || ratio != d->ratio ||
        d->picture.size() != d->deviceRect(*this).size().toSize()) {
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
    if (d->hover && !d->drag)
        d->paintHover(painter, *this);
    if (d->showsFocus) {
        painter.setPen(QPen(c.accent, 1.5));
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.75, 0.75, -0.75, -0.75), 5.0, 5.0);
    }
}

void FigureView::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    d->lastPair = -1;
    d->lastDistance = -1;
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
    const FigureHit hit = d->hit(*this, point);
    if (d->isScrubbing && (event->buttons() & Qt::LeftButton)) {
        if (hit.isOnAxes && d->figure.xAxis.meaning == AxisMeaning::Distance) {
            const auto distance = static_cast<qint64>(std::max(0.0, std::round(hit.x)));
            if (distance != d->lastDistance)
                emit distancePicked(d->lastDistance = distance);
        } else if (hit.pair >= 0 && hit.pair != d->lastPair) {
            emit pairPicked(d->lastPair = hit.pair);
        }
    }
    const bool isPickable = hit.pair >= 0 || hit.isOnAxes;
    setCursor(d->arrowAt(*this, point) ? Qt::OpenHandCursor
              : isPickable             ? Qt::PointingHandCursor
                                       : Qt::ArrowCursor);

    d->hover = hoverTable(d->figure, hit);
    d->pointer = point;
    QRegion region;
    if (d->hover) {
        region += d->hoverBox(*this).toAlignedRect().adjusted(-1, -1, 1, 1);
        if (const auto x = d->hoverX(*this))
            region += QRect(static_cast<int>(*x) - 2, 0, 5, height());
    }
    update(region + d->hoverRegion);
    d->hoverRegion = region;
}

void FigureView::mouseReleaseEvent(QMouseEvent* event)
{
    d->drag.reset();
    d->isScrubbing = false;
    mouseMoveEvent(event);
}

void FigureView::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton)
        emit enlargeRequested();
}

void FigureView::leaveEvent(QEvent*)
{
    d->hover.reset();
    update(d->hoverRegion);
    d->hoverRegion = {};
}

void FigureView::resizeEvent(QResizeEvent*)
{
    d->hover.reset();
    d->hoverRegion = {};
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
