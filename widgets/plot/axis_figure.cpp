// SPDX-License-Identifier: GPL-3.0-or-later
#include "axis_figure.h"

#include "axis_labels.h"
#include "axis_plot.h"
#include "colour_tables.h"
#include "map_painter.h"
#include "series_painter.h"
#include "widgets/message_text.h"

#include <QImage>
#include <QPaintDevice>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ropewalk {
namespace {

constexpr double kTickLength = 4.0;
constexpr double kTickGap = 8.0;
constexpr double kBarGap = 12.0;
constexpr double kBarWidth = 11.0;
constexpr double kLegendIndent = 11.0; ///< from a marker's box to the name

double widestLabel(const FigureStyle& style, const std::vector<AxisTick>& ticks)
{
    double widest = 0.0;
    for (const AxisTick& tick : ticks)
        widest = std::max(widest, style.textWidth(tick.label, kNoteText));
    return widest;
}

/// From a line of an axis' turned name to the next.
double lineStep(const FigureStyle& style)
{
    return style.textHeight(kAxisText) + style.px(0.5);
}

/// Room beside the area for an axis' tick labels and its turned name.
double sideRoom(const FigureStyle& style, const std::vector<AxisTick>& ticks, qsizetype lines)
{
    return widestLabel(style, ticks) + style.px(kTickGap) +
           (lines > 0 ? static_cast<double>(lines) * lineStep(style) + style.px(6.0) : 0.0);
}

/// The axis of a map's colours.
AxisSpec colourAxis(const MapSpec& map)
{
    AxisSpec axis;
    axis.label = map.label;
    axis.kind = map.unit == "token" ? AxisKind::Tokens : AxisKind::Plain;
    axis.isLogarithmic = map.isLogarithmic;
    axis.lower = map.lower;
    axis.upper = map.upper;
    return axis;
}

/// Quarters of a turn where the colours go round in radians; else as on any axis.
std::vector<AxisTick> colourTicks(const FigureStyle& style, const MapSpec& map, double height)
{
    constexpr double kPi = std::numbers::pi;
    const bool isTurn = map.colours == ColourTable::Cyclic && map.unit == "rad" &&
                        std::fabs(map.upper - map.lower - 2.0 * kPi) < 1e-6;
    if (isTurn && std::fabs(map.lower + kPi) < 1e-6)
        return {{-kPi, QStringLiteral("−π")}, {0.0, QStringLiteral("0")}, {kPi, QStringLiteral("π")}};
    if (isTurn && std::fabs(map.lower) < 1e-6)
        return {{0.0, QStringLiteral("0")}, {kPi, QStringLiteral("π")}, {2.0 * kPi, QStringLiteral("2π")}};
    return axisTicks(colourAxis(map), height, style.px(9.0),
                     [&](const QString&) { return style.textHeight(kNoteText); });
}

/// Names of categories that are longer than `room` end in an ellipsis.
void elideNames(const FigureStyle& style, const AxisSpec& axis, std::vector<AxisTick>& ticks, double room)
{
    if (axis.kind == AxisKind::Categories)
        for (AxisTick& tick : ticks)
            tick.label = style.elided(tick.label, kNoteText, room);
}

void writeTicks(FigurePen& pen, const QRectF& content, const PlotSpec& plot, const AxisLayout& layout)
{
    const FigureStyle& style = pen.style();
    const ThemeColours& c = style.colours();
    const QRectF& area = layout.area;
    const double tickTop = area.bottom() + style.px(kTickLength + 2.0);
    for (const AxisTick& tick : layout.xTicks) {
        const double width = style.textWidth(tick.label, kNoteText);
        const double x = layout.x.toPixel(tick.value);
        if (layout.areXNamesUpright)
            pen.writeUpwards({x, tickTop + width / 2}, tick.label, kNoteText, c.muted);
        else
            pen.write({std::clamp(x, content.left() + width / 2, content.right() - width / 2),
                       tickTop + style.ascent(kNoteText)},
                      tick.label, kNoteText, c.muted, Qt::AlignHCenter);
    }
    const double drop = (style.ascent(kNoteText) - style.descent(kNoteText)) / 2;
    for (const AxisTick& tick : layout.yTicks)
        pen.write({area.left() - style.px(kTickGap), layout.y.toPixel(tick.value) + drop}, tick.label,
                  kNoteText, c.muted, Qt::AlignRight);
    for (const AxisTick& tick : layout.secondYTicks)
        pen.write({area.right() + style.px(kTickGap), layout.secondY.toPixel(tick.value) + drop}, tick.label,
                  kNoteText, c.muted);
    for (const AxisTick& tick : layout.barTicks)
        pen.write(
            {layout.colourBar.right() + style.px(kTickGap - 2.0), layout.bar.toPixel(tick.value) + drop},
            tick.label, kNoteText, c.muted);
    if (layout.hasXLabel)
        pen.write({area.center().x(), tickTop + layout.xTickRoom - style.descent(kNoteText) + style.px(15.0)},
                  style.elided(messageText(plot.xAxis.label), kAxisText, area.width()), kAxisText, c.text,
                  Qt::AlignHCenter);
    const double half = style.textHeight(kAxisText) / 2;
    const auto writeLines = [&](double left, const QStringList& lines) {
        for (qsizetype i = 0; i < lines.size(); ++i)
            pen.writeUpwards({left + half + static_cast<double>(i) * lineStep(style), area.center().y()},
                             lines[i], kAxisText, c.text);
    };
    const auto widthOf = [&](const QStringList& lines) {
        return static_cast<double>(lines.size()) * lineStep(style);
    };
    writeLines(content.left(), layout.yLabel);
    writeLines((layout.colourBar.isEmpty() ? content.right() : layout.colourBar.left() - style.px(kBarGap)) -
                   widthOf(layout.secondYLabel),
               layout.secondYLabel);
    if (!layout.colourBar.isEmpty())
        writeLines(content.right() - widthOf(layout.barLabel), layout.barLabel);
}

/// Places the names of bars and clouds in rows of `width` from the origin on; those beyond the second row are
/// left out.
std::vector<LegendEntry> legendEntries(const FigureStyle& style, const PlotSpec& plot, double width)
{
    std::vector<LegendEntry> entries;
    const double height = style.textHeight(kNoteText) + style.px(3.0);
    double x = 0.0;
    int row = 0;
    for (const Series& series : plot.series) {
        if (!isInLegend(series))
            continue;
        const double own =
            style.px(kLegendIndent) +
            std::min(style.textWidth(messageText(series.label), kNoteText), width - style.px(kLegendIndent));
        if (x > 0.0 && x + own > width) {
            x = 0.0;
            if (++row == 2)
                break;
        }
        entries.push_back({&series, QRectF(x, row * height, own, height)});
        x += own + style.px(12.0);
    }
    return entries;
}

void writeLegend(FigurePen& pen, const FigureSpec& figure, const AxisLayout& layout)
{
    const FigureStyle& style = pen.style();
    QPainter& painter = pen.painter();
    for (const LegendEntry& entry : layout.legend) {
        const bool isCloud = entry.series->style == SeriesStyle::Points;
        const double baseline = entry.box.top() + style.ascent(kNoteText);
        painter.setPen(Qt::NoPen);
        painter.setBrush(style.seriesColour(figure, *entry.series));
        paintMarkerShape(painter, {entry.box.left() + style.px(4.0), baseline - style.px(4.0)}, style.px(3.6),
                         isCloud ? markerShape(figure, *entry.series) : 1);
        painter.setBrush(Qt::NoBrush);
        pen.write({entry.box.left() + style.px(kLegendIndent), baseline},
                  style.elided(messageText(entry.series->label), kNoteText,
                               entry.box.width() - style.px(kLegendIndent) + 0.5),
                  kNoteText, style.colours().text);
    }
}

/// The colours of the map from the lower end of its values to the upper one.
void paintColourBar(FigurePen& pen, const PlotSpec& plot, const AxisLayout& layout)
{
    if (layout.colourBar.isEmpty() || pen.isListingTexts())
        return;
    const FigureStyle& style = pen.style();
    QPainter& painter = pen.painter();
    const ColourRamp& ramp = colourRamp(drawnMap(plot)->colours, style.options().theme);
    QImage image(1, static_cast<int>(ramp.size()), QImage::Format_RGB32);
    for (std::size_t i = 0; i < ramp.size(); ++i)
        image.setPixel(0, static_cast<int>(ramp.size() - 1 - i), ramp[i]);
    painter.drawImage(layout.colourBar, image);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, style.options().isVector);
    painter.setPen(QPen(style.colours().axis, style.hairline()));
    const double right = layout.colourBar.right();
    for (const AxisTick& tick : layout.barTicks) {
        const double y = layout.bar.toPixel(tick.value);
        if (!tick.label.isEmpty())
            painter.drawLine(QPointF(right, y), QPointF(right + style.px(3.0), y));
    }
    painter.restore();
}

} // namespace

bool isInLegend(const Series& series)
{
    return (series.style == SeriesStyle::Bars || series.style == SeriesStyle::Points) &&
           !series.label.isEmpty() && series.x && !series.x->empty();
}

const MapSpec* drawnMap(const PlotSpec& plot)
{
    return plot.maps.empty() ? nullptr : &plot.maps.front();
}

int columnCount(const FigureStyle& style, const QRectF& area, double devicePixelRatio)
{
    const double columns = style.options().isVector ? 2.0 * area.width() / style.options().scale
                                                    : area.width() * devicePixelRatio;
    return std::max(1, static_cast<int>(std::lround(columns)));
}

AxisLayout layoutAxes(const FigureStyle& style, const QRectF& content, const PlotSpec& plot)
{
    AxisLayout layout;
    const auto upwards = [&](const Message& label, double height) {
        return label.isEmpty() || content.width() <= style.px(220.0) || height <= style.px(60.0)
                   ? QStringList()
                   : style.wrapped(messageText(label), kAxisText, height, 2);
    };
    const auto lineHeight = [&](const QString&) { return style.textHeight(kNoteText); };
    const auto xExtent = [&](const QString& label) { return style.textWidth(label, kNoteText); };
    const MapSpec* map = drawnMap(plot);
    const bool hasBar = map && content.width() > style.px(170.0) && content.height() > style.px(70.0);
    layout.hasXLabel = !plot.xAxis.label.isEmpty() && content.height() > style.px(90.0);
    // The rows of the legend are counted over a width that the axes have in any case.
    const auto counted = content.height() > style.px(110.0)
                             ? legendEntries(style, plot, 0.7 * content.width())
                             : std::vector<LegendEntry>();
    const double legendHeight = counted.empty() ? 0.0 : counted.back().box.bottom();
    const double top = std::ceil(content.top() + legendHeight + style.textHeight(kNoteText) / 2);

    // Everything beside the area depends on its height, which depends on how the x axis is labelled.
    double height = 0.0;
    double left = 0.0;
    double right = 0.0;
    const auto place = [&](double xTickRoom) {
        layout.xTickRoom = xTickRoom;
        const double below =
            style.px(kTickLength + 2.0) + xTickRoom + (layout.hasXLabel ? style.px(15.0) : 0.0);
        height = std::floor(content.bottom() - below - top);
        layout.yTicks = axisTicks(plot.yAxis, height, style.px(9.0), lineHeight);
        elideNames(style, plot.yAxis, layout.yTicks, 0.36 * content.width());
        layout.yLabel = upwards(plot.yAxis.label, height);
        left = std::ceil(content.left() + sideRoom(style, layout.yTicks, layout.yLabel.size()));
        double besides = 0.0;
        if (hasBar) {
            layout.barTicks = colourTicks(style, *map, height);
            layout.barLabel = upwards(map->label, height);
            besides =
                style.px(kBarGap + kBarWidth) + sideRoom(style, layout.barTicks, layout.barLabel.size());
        }
        if (plot.secondYAxis) {
            layout.secondYTicks = axisTicks(*plot.secondYAxis, height, style.px(9.0), lineHeight);
            layout.secondYLabel = upwards(plot.secondYAxis->label, height);
            besides += sideRoom(style, layout.secondYTicks, layout.secondYLabel.size());
        }
        right = std::floor(content.right() - besides);
        layout.xTicks = axisTicks(plot.xAxis, std::max(1.0, right - left), style.px(14.0), xExtent);
        if (!plot.secondYAxis && !hasBar) {
            // The last tick's label may stick out by half its width.
            double overhang = style.px(4.0);
            const AxisScale scale(plot.xAxis, left, right);
            for (const AxisTick& tick : layout.xTicks)
                overhang =
                    std::max(overhang, scale.toPixel(tick.value) + xExtent(tick.label) / 2 - content.right());
            right = std::floor(content.right() - overhang);
            layout.xTicks = axisTicks(plot.xAxis, std::max(1.0, right - left), style.px(14.0), xExtent);
        }
    };
    place(style.textHeight(kNoteText));
    const bool isCrowded = plot.xAxis.kind == AxisKind::Categories &&
                           std::any_of(layout.xTicks.begin(), layout.xTicks.end(),
                                       [](const AxisTick& tick) { return tick.label.isEmpty(); });
    if (isCrowded) {
        const auto upright = [&] {
            auto ticks = axisTicks(plot.xAxis, std::max(1.0, right - left), style.px(3.0), lineHeight);
            elideNames(style, plot.xAxis, ticks, 0.36 * content.height());
            return ticks;
        };
        place(std::max(style.textHeight(kNoteText), widestLabel(style, upright())));
        layout.xTicks = upright();
        layout.areXNamesUpright = true;
    }
    layout.area = QRectF(left, top, std::max(0.0, right - left), std::max(0.0, height));
    // Where QCustomPlot draws an axis value: from the left edge over the width, and from the last row
    // upwards.
    layout.x = AxisScale(plot.xAxis, layout.area.left(), layout.area.right());
    const double lastRow = layout.area.bottom() - 1.0;
    layout.y = AxisScale(plot.yAxis, lastRow, lastRow - layout.area.height());
    if (plot.secondYAxis)
        layout.secondY = AxisScale(*plot.secondYAxis, lastRow, lastRow - layout.area.height());
    if (!counted.empty() && !layout.isEmpty()) {
        layout.legend = legendEntries(style, plot, std::max(0.7 * content.width(), layout.area.width()));
        for (LegendEntry& entry : layout.legend)
            entry.box.translate(layout.area.left(), content.top());
        std::erase_if(layout.legend, [&](const LegendEntry& entry) {
            return entry.box.bottom() > content.top() + legendHeight + 0.5 ||
                   entry.box.right() > content.right();
        });
    }
    if (hasBar && !layout.isEmpty()) {
        const double second =
            plot.secondYAxis ? sideRoom(style, layout.secondYTicks, layout.secondYLabel.size()) : 0.0;
        layout.colourBar = QRectF(std::round(right + second + style.px(kBarGap)), top,
                                  std::round(style.px(kBarWidth)), layout.area.height());
        layout.bar = AxisScale(colourAxis(*map), layout.colourBar.bottom(), layout.colourBar.top());
    }
    return layout;
}

void paintAxes(FigurePen& pen, const QRectF& content, const FigureSpec& figure, const PlotSpec& plot)
{
    const AxisLayout layout = layoutAxes(pen.style(), content, plot);
    if (layout.isEmpty())
        return;
    LabelPlacer placer(layout.area.adjusted(1.0, 1.0, -1.0, -1.0));
    if (const MapSpec* map = drawnMap(plot); map && !pen.isListingTexts())
        paintMap(pen.painter(), pen.style(), layout.area, plot, *map);
    paintColourBar(pen, plot, layout);
    paintPlot(pen, figure, plot, layout, placer);
    writeTicks(pen, content, plot, layout);
    writeLegend(pen, figure, layout);
    paintLabels(pen, figure, plot, layout, placer);
}

} // namespace ropewalk
