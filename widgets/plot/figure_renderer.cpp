// SPDX-License-Identifier: GPL-3.0-or-later
#include "figure_renderer.h"

#include "figure_layout.h"
#include "widgets/message_text.h"

#include <QPicture>

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

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
    } else if (layout.content.width() > style.px(40.0) && layout.content.height() > style.px(40.0)) {
        if (!figure.planes.empty())
            paintPlanes(pen, layout.content, figure);
        else
            paintAxes(pen, layout.content, figure, figure);
    }
    painter.restore();
}

FigureHit hitPlanes(const QPointF& point, const FigureStyle& style, const QRectF& content,
                    const FigureSpec& figure)
{
    FigureHit hit;
    for (const PlaneLayout& layout : layoutPlanes(style, content, figure)) {
        const PlanePanel& panel = figure.planes[static_cast<std::size_t>(layout.panel)];
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

FigureHit hitAxes(const QPointF& point, const FigureStyle& style, const QRectF& content,
                  const FigureSpec& figure)
{
    FigureHit hit;
    const AxisLayout layout = layoutAxes(style, content, figure);
    if (layout.isEmpty() || !layout.area.contains(point))
        return hit;
    hit.isOnAxes = true;
    hit.x = layout.x.toValue(point.x());
    hit.y = layout.y.toValue(point.y());
    // The configuration whose drawn curve is nearest at this x.
    double nearest = INFINITY;
    for (const Series& series : figure.series) {
        if (series.style == SeriesStyle::DataOnly || !series.x || series.x->empty())
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
        if (figure.xAxis.kind == AxisKind::Pair && std::fabs(*at - hit.x) <= 0.75)
            hit.pair = std::max(hit.pair, static_cast<int>(std::lround(*at)));
    }
    return hit;
}

} // namespace

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
    const FigureLayout layout = layoutFigure(style, rect, figure);
    if (!figure.failure.isEmpty())
        return {};
    return figure.planes.empty() ? hitAxes(point, style, layout.content, figure)
                                 : hitPlanes(point, style, layout.content, figure);
}

} // namespace ropewalk
