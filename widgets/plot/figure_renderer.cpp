// SPDX-License-Identifier: GPL-3.0-or-later
#include "figure_renderer.h"

#include "figure_layout.h"
#include "map_painter.h"
#include "table_figure.h"
#include "widgets/message_text.h"

#include <QPicture>

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

void paintPlotAt(FigurePen& pen, const QRectF& content, const FigureSpec& figure, const PlotSpec& plot)
{
    const auto say = [&](const Message& sentence) {
        const FigureStyle& style = pen.style();
        if (content.height() < style.textHeight(kNoteText) || content.width() < style.px(40.0))
            return;
        pen.write({content.center().x(), content.center().y() + style.ascent(kNoteText) / 2},
                  style.elided(messageText(sentence), kNoteText, content.width()), kNoteText,
                  style.colours().muted, Qt::AlignHCenter);
    };
    if (!hasRoomForPlot(pen.style(), content))
        return say("no room to draw it");
    if (plot.planes.empty() && !plot.table && !(isDrawable(plot.xAxis) && isDrawable(plot.yAxis)))
        return say("values too near zero, or too near each other, to be drawn");
    if (!plot.planes.empty())
        paintPlanes(pen, content, figure, plot);
    else if (plot.table)
        paintTable(pen, content, figure, *plot.table);
    else
        paintAxes(pen, content, figure, plot);
}

void paint(QPainter& painter, const QRectF& rect, const FigureSpec& figure, const RenderOptions& options,
           std::vector<DrawnText>* texts)
{
    const FigureStyle style(options);
    const ThemeColours& c = style.colours();
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setRenderHint(QPainter::TextAntialiasing);
    painter.fillRect(rect, c.figure);
    FigurePen pen(painter, style, texts);
    const FigureLayout layout = layoutFigure(style, rect, figure);
    pen.write(layout.titleBaseline, layout.title, kTitleText, c.text);
    pen.write(layout.formulaBaseline, layout.formula, kFormulaText, c.muted,
              layout.isFormulaBeside ? Qt::AlignRight : Qt::AlignLeft);
    for (qsizetype i = 0; i < layout.captionLines.size(); ++i)
        pen.write(layout.captionBaseline + QPointF(0.0, static_cast<double>(i) * layout.captionStep),
                  layout.captionLines[i], kNoteText, c.muted);
    if (!figure.failure.isEmpty()) {
        const double width = std::min(layout.content.width(), style.px(420.0));
        const double step = style.px(19.0);
        const int most = std::max(1, static_cast<int>(layout.content.height() / step));
        const QStringList lines = style.wrapped(messageText(figure.failure), kSentenceText, width, most);
        double y = layout.content.center().y() - step * static_cast<double>(lines.size()) / 2 +
                   style.ascent(kSentenceText);
        for (const QString& line : lines) {
            pen.write({layout.content.center().x(), y}, line, kSentenceText, c.muted, Qt::AlignHCenter);
            y += step;
        }
    } else {
        for (const PlotPlace& place : layout.plots) {
            pen.write(place.titleBaseline, place.title, kPlotTitle, c.text);
            paintPlotAt(pen, place.content, figure, *place.plot);
        }
    }
    painter.restore();
}

FigureHit hitPlanes(const QPointF& point, const FigureStyle& style, const QRectF& content,
                    const PlotSpec& plot)
{
    FigureHit hit;
    for (const PlaneLayout& layout : layoutPlanes(style, content, plot)) {
        const PlanePanel& panel = plot.planes[static_cast<std::size_t>(layout.panel)];
        if (layout.field.contains(point)) {
            const int column =
                static_cast<int>((point.x() - layout.field.left()) / layout.field.width() * layout.columns);
            const int row =
                static_cast<int>((point.y() - layout.field.top()) / layout.field.height() * layout.rows);
            const int pair = row * layout.columns + column;
            if (column < layout.columns && pair < panel.pairCount) {
                hit.configuration = panel.configuration;
                hit.pair = pair;
            }
            return hit;
        }
        const QPointF away = point - layout.centre;
        if (std::hypot(away.x(), away.y()) <= layout.radius + style.px(8.0)) {
            hit.configuration = panel.configuration;
            hit.pair = panel.pair;
            return hit;
        }
    }
    return hit;
}

FigureHit hitTable(const QPointF& point, const FigureStyle& style, const QRectF& content,
                   const TableSpec& table)
{
    FigureHit hit;
    if (const auto cell = tableCellAt(layoutTable(style, content, table), point)) {
        hit.cell = FigureCell{cell->first, cell->second};
        hit.pair =
            table
                .cells[static_cast<std::size_t>(cell->first) * static_cast<std::size_t>(table.columns) +
                       static_cast<std::size_t>(cell->second)]
                .pair;
    }
    return hit;
}

/// The sample of a cloud nearest to the point, if one is near.
void hitClouds(const QPointF& point, const FigureStyle& style, const AxisLayout& layout, const PlotSpec& plot,
               FigureHit& hit)
{
    double nearest = style.px(9.0);
    for (std::size_t index = 0; index < plot.series.size(); ++index) {
        const Series& series = plot.series[index];
        if (series.style != SeriesStyle::Points || !series.x || !series.y)
            continue;
        const AxisScale& y = series.isOnSecondAxis ? layout.secondY : layout.y;
        for (std::size_t i = 0; i < std::min(series.x->size(), series.y->size()); ++i) {
            const double distance = std::hypot(layout.x.toPixel((*series.x)[i]) - point.x(),
                                               y.toPixel((*series.y)[i]) - point.y());
            if (distance < nearest) {
                nearest = distance;
                hit.configuration = series.configuration;
                hit.series = static_cast<int>(index);
                hit.sample = i;
            }
        }
    }
}

FigureHit hitAxes(const QPointF& point, const FigureStyle& style, const QRectF& content, const PlotSpec& plot)
{
    FigureHit hit;
    const AxisLayout layout = layoutAxes(style, content, plot);
    if (layout.isEmpty() || !layout.area.contains(point))
        return hit;
    hit.isOnAxes = true;
    hit.x = layout.x.toValue(point.x());
    hit.y = layout.y.toValue(point.y());
    if (const MapSpec* map = drawnMap(plot)) {
        hit.cell = mapCellAt(layout.area, plot, *map, point);
        hit.configuration = map->configuration;
        if (hit.cell && plot.yAxis.meaning == AxisMeaning::Pair)
            hit.pair = static_cast<int>(wholeIn(mapRowRange(plot, *map, hit.cell->row), hit.y));
        else if (hit.cell && plot.xAxis.meaning == AxisMeaning::Pair)
            hit.pair = static_cast<int>(wholeIn(mapColumnRange(plot, *map, hit.cell->column), hit.x));
        return hit;
    }
    // The configuration whose drawn curve is nearest at this x.
    double nearest = INFINITY;
    for (const Series& series : plot.series) {
        if (series.style == SeriesStyle::DataOnly || series.style == SeriesStyle::Points || !series.x ||
            series.x->empty())
            continue;
        const auto& xs = *series.x;
        auto at = std::lower_bound(xs.begin(), xs.end(), hit.x);
        if (at == xs.end() || (at != xs.begin() && hit.x - *(at - 1) < *at - hit.x))
            --at;
        const AxisScale& scale = series.isOnSecondAxis ? layout.secondY : layout.y;
        const double distance =
            std::fabs(scale.toPixel((*series.y)[static_cast<std::size_t>(at - xs.begin())]) - point.y());
        if (distance < nearest) {
            nearest = distance;
            hit.configuration = series.configuration;
        }
        if (plot.xAxis.kind == AxisKind::Pair && std::fabs(*at - hit.x) <= 0.75)
            hit.pair = std::max(hit.pair, static_cast<int>(std::lround(*at)));
    }
    hitClouds(point, style, layout, plot, hit);
    return hit;
}

} // namespace

double wholeIn(const std::pair<double, double>& range, double at)
{
    // A cell from -0.5 to 0.5, or from 0 to 1, holds 0; one of several holds all from its first to its last.
    const double first = std::ceil(range.first - 1e-6);
    const double last = std::max(first, std::ceil(range.second - 1e-6) - 1.0);
    return std::clamp(std::round(at), first, last);
}

void paintFigure(QPainter& painter, const QRectF& rect, const FigureSpec& figure,
                 const RenderOptions& options)
{
    paint(painter, rect, figure, options, nullptr);
}

std::vector<DrawnText> figureTexts(const QRectF& rect, const FigureSpec& figure, const RenderOptions& options)
{
    std::vector<DrawnText> texts;
    QPicture nowhere;
    QPainter painter(&nowhere);
    paint(painter, rect, figure, options, &texts);
    return texts;
}

FigureHit hitFigure(const QPointF& point, const QRectF& rect, const FigureSpec& figure,
                    const RenderOptions& options)
{
    const FigureStyle style(options);
    return hitFigure(point, style, layoutFigure(style, rect, figure), figure);
}

FigureHit hitFigure(const QPointF& point, const FigureStyle& style, const FigureLayout& layout,
                    const FigureSpec& figure)
{
    FigureHit hit;
    if (!figure.failure.isEmpty())
        return hit;
    for (const PlotPlace& place : layout.plots) {
        if (!place.content.contains(point))
            continue;
        hit = !place.plot->planes.empty() ? hitPlanes(point, style, place.content, *place.plot)
              : place.plot->table         ? hitTable(point, style, place.content, *place.plot->table)
                                          : hitAxes(point, style, place.content, *place.plot);
        hit.plot = place.index;
        break;
    }
    return hit;
}

} // namespace ropewalk
