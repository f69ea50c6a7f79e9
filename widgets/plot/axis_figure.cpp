// SPDX-License-Identifier: GPL-3.0-or-later
#include "axis_figure.h"

#include "axis_labels.h"
#include "axis_plot.h"
#include "widgets/message_text.h"

#include <QPaintDevice>

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

constexpr double kTickLength = 4.0;
constexpr double kTickGap = 8.0;

double widestLabel(const FigureStyle& style, const std::vector<AxisTick>& ticks)
{
    double widest = 0.0;
    for (const AxisTick& tick : ticks)
        widest = std::max(widest, style.textWidth(tick.label, kNoteText));
    return widest;
}

/// Room beside the area for an axis' tick labels and its turned name.
double sideRoom(const FigureStyle& style, const std::vector<AxisTick>& ticks, bool hasLabel)
{
    return widestLabel(style, ticks) + style.px(kTickGap) +
           (hasLabel ? style.textHeight(kAxisText) + style.px(6.0) : 0.0);
}

void writeTicks(FigurePen& pen, const QRectF& content, const PlotSpec& plot, const AxisLayout& layout)
{
    const FigureStyle& style = pen.style();
    const ThemeColours& c = style.colours();
    const QRectF& area = layout.area;
    const double tickBaseline = area.bottom() + style.px(kTickLength + 2.0) + style.ascent(kNoteText);
    for (const AxisTick& tick : layout.xTicks) {
        const double half = style.textWidth(tick.label, kNoteText) / 2;
        const double x =
            std::clamp(layout.x.toPixel(tick.value), content.left() + half, content.right() - half);
        pen.write({x, tickBaseline}, tick.label, kNoteText, c.muted, Qt::AlignHCenter);
    }
    const double drop = (style.ascent(kNoteText) - style.descent(kNoteText)) / 2;
    for (const AxisTick& tick : layout.yTicks)
        pen.write({area.left() - style.px(kTickGap), layout.y.toPixel(tick.value) + drop}, tick.label,
                  kNoteText, c.muted, Qt::AlignRight);
    for (const AxisTick& tick : layout.secondYTicks)
        pen.write({area.right() + style.px(kTickGap), layout.secondY.toPixel(tick.value) + drop}, tick.label,
                  kNoteText, c.muted);
    if (layout.hasXLabel)
        pen.write({area.center().x(), tickBaseline + style.px(15.0)},
                  style.elided(messageText(plot.xAxis.label), kAxisText, area.width()), kAxisText, c.text,
                  Qt::AlignHCenter);
    const double half = style.textHeight(kAxisText) / 2;
    if (layout.hasYLabel)
        pen.writeUpwards({content.left() + half, area.center().y()}, messageText(plot.yAxis.label),
                         kAxisText, c.text);
    if (layout.hasSecondYLabel)
        pen.writeUpwards({content.right() - half, area.center().y()}, messageText(plot.secondYAxis->label),
                         kAxisText, c.text);
}

} // namespace

int columnCount(const FigureStyle& style, const QRectF& area, double devicePixelRatio)
{
    const double columns = style.options().isVector ? 2.0 * area.width() / style.options().scale
                                                    : area.width() * devicePixelRatio;
    return std::max(1, static_cast<int>(std::lround(columns)));
}

AxisLayout layoutAxes(const FigureStyle& style, const QRectF& content, const PlotSpec& plot)
{
    AxisLayout layout;
    const auto fitsUpwards = [&](const Message& label, double height) {
        return !label.isEmpty() && content.width() > style.px(300.0) &&
               style.textWidth(messageText(label), kAxisText) <= height;
    };
    layout.hasXLabel = !plot.xAxis.label.isEmpty() && content.height() > style.px(90.0);
    const double below =
        style.px(kTickLength + 2.0) + style.textHeight(kNoteText) + (layout.hasXLabel ? style.px(15.0) : 0.0);
    const double above = style.textHeight(kNoteText) / 2;
    const double top = std::ceil(content.top() + above);
    const double height = std::floor(content.bottom() - below - top);
    const auto lineHeight = [&](const QString&) { return style.textHeight(kNoteText); };
    layout.yTicks = axisTicks(plot.yAxis, height, style.px(9.0), lineHeight);
    layout.hasYLabel = fitsUpwards(plot.yAxis.label, height);
    if (plot.secondYAxis) {
        layout.secondYTicks = axisTicks(*plot.secondYAxis, height, style.px(9.0), lineHeight);
        layout.hasSecondYLabel = fitsUpwards(plot.secondYAxis->label, height);
    }
    const double left = std::ceil(content.left() + sideRoom(style, layout.yTicks, layout.hasYLabel));
    const auto xExtent = [&](const QString& label) { return style.textWidth(label, kNoteText); };
    const auto rightOf = [&](double room) { return std::floor(content.right() - room); };
    double right =
        rightOf(plot.secondYAxis ? sideRoom(style, layout.secondYTicks, layout.hasSecondYLabel) : 0.0);
    layout.xTicks = axisTicks(plot.xAxis, std::max(1.0, right - left), style.px(14.0), xExtent);
    if (!plot.secondYAxis) {
        // The last tick's label may stick out by half its width.
        double overhang = style.px(4.0);
        const AxisScale scale(plot.xAxis, left, right);
        for (const AxisTick& tick : layout.xTicks)
            overhang =
                std::max(overhang, scale.toPixel(tick.value) + xExtent(tick.label) / 2 - content.right());
        right = rightOf(overhang);
        layout.xTicks = axisTicks(plot.xAxis, std::max(1.0, right - left), style.px(14.0), xExtent);
    }
    layout.area = QRectF(left, top, std::max(0.0, right - left), std::max(0.0, height));
    // Where QCustomPlot draws an axis value: from the left edge over the width, and from the last row
    // upwards.
    layout.x = AxisScale(plot.xAxis, layout.area.left(), layout.area.right());
    const double lastRow = layout.area.bottom() - 1.0;
    layout.y = AxisScale(plot.yAxis, lastRow, lastRow - layout.area.height());
    if (plot.secondYAxis)
        layout.secondY = AxisScale(*plot.secondYAxis, lastRow, lastRow - layout.area.height());
    return layout;
}

void paintAxes(FigurePen& pen, const QRectF& content, const FigureSpec& figure, const PlotSpec& plot)
{
    const AxisLayout layout = layoutAxes(pen.style(), content, plot);
    if (layout.isEmpty())
        return;
    LabelPlacer placer(layout.area.adjusted(1.0, 1.0, -1.0, -1.0));
    paintPlot(pen, figure, plot, layout, placer);
    writeTicks(pen, content, plot, layout);
    paintLabels(pen, figure, plot, layout, placer);
}

} // namespace ropewalk
