// SPDX-License-Identifier: GPL-3.0-or-later
#include "axis_plot.h"

#include "series_painter.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

/// Ticks that were chosen before; QCustomPlot only draws them.
class ChosenTicks : public QCPAxisTicker
{
public:
    explicit ChosenTicks(const std::vector<AxisTick>& chosen)
        : m_chosen(chosen)
    {
    }

    void generate(const QCPRange&, const QLocale&, QChar, int, QVector<double>& ticks,
                  QVector<double>* subTicks, QVector<QString>* tickLabels) override
    {
        ticks.clear();
        if (subTicks)
            subTicks->clear();
        if (tickLabels)
            tickLabels->clear();
        for (const AxisTick& tick : m_chosen) {
            if (!tick.label.isEmpty()) {
                ticks.append(tick.value);
                if (tickLabels)
                    tickLabels->append(QString());
            } else if (subTicks) {
                subTicks->append(tick.value);
            }
        }
    }

private:
    std::vector<AxisTick> m_chosen;
};

void setAxisPen(QCPAxis& axis, const QPen& pen)
{
    axis.setBasePen(pen);
    axis.setTickPen(pen);
    axis.setSubTickPen(pen);
}

void setUpAxis(QCPAxis& axis, const AxisSpec& spec, const std::vector<AxisTick>& ticks,
               const FigureStyle& style)
{
    axis.setVisible(true);
    axis.setScaleType(spec.isLogarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    axis.setRange(spec.lower, spec.upper);
    axis.setRangeReversed(spec.isReversed);
    axis.setTicker(QSharedPointer<QCPAxisTicker>(new ChosenTicks(ticks)));
    axis.setTickLabels(false); // words are written by the pen, which knows what they cover
    axis.setNumberFormat(QStringLiteral("g"));
    setAxisPen(axis, Qt::NoPen);
    axis.setTickLength(0, static_cast<int>(std::lround(style.px(4.0))));
    axis.setSubTickLength(0, static_cast<int>(std::lround(style.px(2.0))));
    // Lines across the plot only where values are read off: at the left axis.
    axis.grid()->setVisible(false);
}

/// What the plot shows now, as a record: toPainter wants a painter of its own kind.
QPicture recorded(QCustomPlot& canvas, const QSize& size, bool isVector)
{
    QPicture record;
    QCPPainter recorder(&record);
    recorder.setModes(QCPPainter::pmNoCaching);
    if (isVector)
        recorder.setModes(QCPPainter::pmNoCaching | QCPPainter::pmVectorized | QCPPainter::pmNonCosmetic);
    canvas.toPainter(&recorder, size.width(), size.height());
    recorder.end();
    return record;
}

void play(QPainter& painter, const QPicture& record, const QPointF& origin)
{
    painter.save();
    painter.translate(origin);
    // A record is scaled by the ratio of the devices' dots per inch; units are units here.
    if (const QPaintDevice* device = painter.device())
        painter.scale(static_cast<double>(record.logicalDpiX()) / device->logicalDpiX(),
                      static_cast<double>(record.logicalDpiY()) / device->logicalDpiY());
    painter.drawPicture(0, 0, record);
    painter.restore();
}

/// Grid and axes as QCustomPlot draws them, with `margin` around the area.
AxisRecords recordAxes(const FigureStyle& style, const PlotSpec& plot, const AxisLayout& layout,
                       const QSize& size, int margin)
{
    const ThemeColours& c = style.colours();
    const bool isVector = style.options().isVector;
    QCustomPlot canvas;
    canvas.setBackground(Qt::NoBrush);
    canvas.setNotAntialiasedElements(QCP::aeAxes | QCP::aeGrid | QCP::aeSubGrid | QCP::aeZeroLine);
    canvas.setAntialiasedElements(QCP::aePlottables);
    QCPAxisRect& axisRect = *canvas.axisRect();
    axisRect.setAutoMargins(QCP::msNone);
    axisRect.setMinimumSize(1, 1);
    axisRect.setMargins(QMargins(margin, margin, margin, margin));
    setUpAxis(*canvas.xAxis, plot.xAxis, layout.xTicks, style);
    setUpAxis(*canvas.yAxis, plot.yAxis, layout.yTicks, style);
    // Lines across a map or between names would read as data.
    canvas.yAxis->grid()->setVisible(!drawnMap(plot) && plot.yAxis.kind != AxisKind::Categories);
    canvas.yAxis->grid()->setPen(QPen(c.grid, style.hairline()));
    canvas.yAxis->grid()->setZeroLinePen(Qt::NoPen);
    if (plot.secondYAxis)
        setUpAxis(*canvas.yAxis2, *plot.secondYAxis, layout.secondYTicks, style);
    AxisRecords records;
    records.grid = recorded(canvas, size, isVector); // the axes have no pens yet
    canvas.yAxis->grid()->setVisible(false);
    setAxisPen(*canvas.xAxis, QPen(c.axis, style.hairline()));
    records.axes = recorded(canvas, size, isVector);
    Q_ASSERT(std::fabs(canvas.yAxis->coordToPixel(plot.yAxis.upper) + layout.area.top() - margin -
                       layout.y.toPixel(plot.yAxis.upper)) < 1e-6);
    Q_ASSERT(std::fabs(canvas.xAxis->coordToPixel(plot.xAxis.upper) + layout.area.left() - margin -
                       layout.x.toPixel(plot.xAxis.upper)) < 1e-6);
    return records;
}

/// All that the records depend on; a figure whose curves move has the same axes.
std::vector<double> keyOfAxes(const FigureStyle& style, const PlotSpec& plot, const AxisLayout& layout,
                              const QSize& size)
{
    std::vector<double> key{static_cast<double>(style.options().theme),
                            style.options().scale,
                            style.options().isVector ? 1.0 : 0.0,
                            static_cast<double>(size.width()),
                            static_cast<double>(size.height()),
                            drawnMap(plot) || plot.yAxis.kind == AxisKind::Categories ? 1.0 : 0.0};
    const auto add = [&](const AxisSpec& axis, const std::vector<AxisTick>& ticks) {
        key.insert(key.end(), {axis.lower, axis.upper, axis.isLogarithmic ? 1.0 : 0.0,
                               axis.isReversed ? 1.0 : 0.0, static_cast<double>(ticks.size())});
        for (const AxisTick& tick : ticks)
            key.insert(key.end(), {tick.value, tick.label.isEmpty() ? 0.0 : 1.0});
    };
    add(plot.xAxis, layout.xTicks);
    add(plot.yAxis, layout.yTicks);
    if (plot.secondYAxis)
        add(*plot.secondYAxis, layout.secondYTicks);
    return key;
}

void paintGuides(QPainter& painter, const PlotSpec& plot, const SeriesFrame& frame, const FigureStyle& style)
{
    const ThemeColours& c = style.colours();
    const bool isVector = style.options().isVector;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, isVector); // upright lines are sharp without
    for (const GuideLine& guide : plot.guides) {
        const double exact = guide.isVertical ? frame.x.toPixel(guide.at) : frame.y.toPixel(guide.at);
        const double at = isVector ? exact : std::round(exact);
        const bool isInside = guide.isVertical ? at >= frame.area.left() && at <= frame.area.right()
                                               : at >= frame.area.top() && at <= frame.area.bottom();
        if (!isInside)
            continue;
        const bool isZero = guide.role == GuideRole::Zero;
        const QColor colour = isZero ? c.axis : guide.role == GuideRole::Selection ? c.accent : c.mark;
        const QLineF line = guide.isVertical ? QLineF(at, frame.area.top(), at, frame.area.bottom())
                                             : QLineF(frame.area.left(), at, frame.area.right(), at);
        if (drawnMap(plot)) { // legible over any colour
            QColor edge = c.figure;
            edge.setAlphaF(0.75F);
            painter.setPen(QPen(edge, style.hairline() * 3.0, Qt::SolidLine, Qt::FlatCap));
            painter.drawLine(line);
        }
        painter.setPen(QPen(colour, style.hairline(isZero ? 1.2 : 1.0), Qt::SolidLine, Qt::FlatCap));
        painter.drawLine(line);
    }
    painter.restore();
}

void avoidColumns(LabelPlacer& placer, const std::vector<DrawnColumn>& columns, const QPointF& origin)
{
    for (std::size_t i = 0; i < columns.size(); ++i) {
        placer.avoid(columns[i].x + origin.x(), columns[i].top + origin.y(), columns[i].bottom + origin.y(),
                     2.0);
        if (i == 0 || std::isnan(columns[i].top) || std::isnan(columns[i - 1].top))
            continue;
        // Between samples that lie far apart a line runs, too.
        const DrawnColumn& a = columns[i - 1];
        const DrawnColumn& b = columns[i];
        const int between = static_cast<int>(std::min(200.0, (b.x - a.x) / 2.0));
        for (int k = 1; k < between; ++k) {
            const double share = static_cast<double>(k) / between;
            const double y = (a.top + a.bottom) / 2 * (1.0 - share) + (b.top + b.bottom) / 2 * share;
            placer.avoid(a.x + (b.x - a.x) * share + origin.x(), y + origin.y(), y + origin.y(), 4.0);
        }
    }
}

void avoidBars(LabelPlacer& placer, const AxisLayout& layout, const Series& series)
{
    const AxisScale& y = series.isOnSecondAxis ? layout.secondY : layout.y;
    const double zero = std::clamp(y.toPixel(0.0), layout.area.top(), layout.area.bottom());
    const double room = std::fabs(layout.x.toPixel(1.0) - layout.x.toPixel(0.0));
    for (std::size_t i = 0; i < std::min(series.x->size(), series.y->size()); ++i) {
        const double x = layout.x.toPixel((*series.x)[i]);
        const double end = y.toPixel((*series.y)[i]);
        for (double at = x - 0.4 * room; at <= x + 0.4 * room; at += 4.0)
            placer.avoid(at, std::min(zero, end), std::max(zero, end), 4.0);
    }
}

} // namespace

void paintPlot(FigurePen& pen, const FigureSpec& figure, const PlotSpec& plot, const AxisLayout& layout,
               LabelPlacer& placer)
{
    const FigureStyle& style = pen.style();
    const ThemeColours& c = style.colours();
    const bool isVector = style.options().isVector;
    const MapSpec* map = drawnMap(plot);
    // Room around the axis rectangle for ticks; QCustomPlot clips at its own edges.
    const int margin = static_cast<int>(std::ceil(style.px(8.0)));
    const QPointF origin = layout.area.topLeft() - QPointF(margin, margin);

    SeriesFrame frame;
    frame.area = layout.area.translated(-origin);
    frame.xAxis = plot.xAxis;
    frame.x = AxisScale(plot.xAxis, frame.area.left(), frame.area.right());
    const double lastRow = frame.area.bottom() - 1.0;
    frame.y = AxisScale(plot.yAxis, lastRow, lastRow - frame.area.height());
    frame.columns = columnCount(style, frame.area,
                                pen.painter().device() ? pen.painter().device()->devicePixelRatio() : 1.0);
    PlotColumns columnsOf(frame);
    SeriesFrame secondFrame = frame;
    if (plot.secondYAxis)
        secondFrame.y = AxisScale(*plot.secondYAxis, lastRow, lastRow - frame.area.height());

    for (const GuideLine& guide : plot.guides) {
        const double at = (guide.isVertical ? layout.x : layout.y).toPixel(guide.at);
        const QRectF& area = layout.area;
        // A label may rather cross a line, whose place is known, than hide a curve.
        if (guide.isVertical)
            placer.avoid(at, area.top(), area.bottom(), style.px(12.0));
        else
            for (double x = area.left(); x < area.right(); x += 4.0)
                placer.avoid(x, at, at, 2.0);
    }
    const QSize size(static_cast<int>(layout.area.width()) + 2 * margin,
                     static_cast<int>(layout.area.height()) + 2 * margin);
    QPainter& painter = pen.painter();
    const AxisRecords records = style.options().cache->axes(
        keyOfAxes(style, plot, layout, size), [&] { return recordAxes(style, plot, layout, size, margin); });
    play(painter, records.grid, origin);
    // What lies between grid and axes is drawn on the painter itself, placed and clipped as a plottable of
    // QCustomPlot: a record of every piece of every curve would cost more than the drawing.
    const auto add = [&](const auto& paint) {
        if (pen.isListingTexts())
            return;
        painter.save();
        painter.translate(origin);
        painter.setClipRect(frame.area.translated(0.0, -1.0), Qt::IntersectClip);
        painter.setRenderHint(QPainter::Antialiasing);
        if (!isVector)
            painter.translate(0.5, 0.5);
        paint();
        painter.restore();
    };
    for (auto band = plot.bands.rbegin(); band != plot.bands.rend(); ++band)
        add([&] {
            QColor colour =
                band->configuration < 0 ? c.muted : style.configurationColour(figure, band->configuration);
            colour.setAlphaF(band->configuration < 0 ? 0.14F : 0.13F);
            paintBand(painter, frame, columnsOf, style, *band, colour);
        });
    const auto isBars = [](const Series& series) { return series.style == SeriesStyle::Bars; };
    const int barSlots = static_cast<int>(std::count_if(plot.series.begin(), plot.series.end(), isBars));
    int barSlot = barSlots;
    BarEmphasis emphasis;
    // Where a line lies over bars of its own colour, the bars step back.
    if (std::any_of(plot.series.begin(), plot.series.end(),
                    [](const Series& series) { return series.style == SeriesStyle::Steps; }))
        emphasis.share = 0.42;
    for (const GuideLine& guide : plot.guides)
        if (guide.isVertical && guide.role == GuideRole::Selection)
            emphasis.picked = guide.at;
    // The first configuration is drawn last and lies on top; bars lie below lines and guides.
    for (auto series = plot.series.rbegin(); series != plot.series.rend(); ++series) {
        if (!isBars(*series) || !series->x || !series->y || series->x->empty())
            continue;
        --barSlot;
        avoidBars(placer, layout, *series);
        add([&, series, slot = barSlot] {
            paintBars(painter, series->isOnSecondAxis ? secondFrame : frame, style, *series,
                      style.seriesColour(figure, *series), slot, barSlots, emphasis);
        });
    }
    add([&] { paintGuides(painter, plot, frame, style); });
    for (auto series = plot.series.rbegin(); series != plot.series.rend(); ++series) {
        if (isBars(*series) || series->style == SeriesStyle::DataOnly || !series->x || !series->y ||
            series->x->empty())
            continue;
        const SeriesFrame& own = series->isOnSecondAxis ? secondFrame : frame;
        const QColor colour = style.seriesColour(figure, *series);
        if (series->style == SeriesStyle::Points) { // drawn below, over the axes
            const AxisScale& y = series->isOnSecondAxis ? layout.secondY : layout.y;
            const std::size_t step = 1 + series->x->size() / 1000;
            for (std::size_t i = 0; i < series->x->size(); i += step) {
                const double at = y.toPixel((*series->y)[i]);
                placer.avoid(layout.x.toPixel((*series->x)[i]), at - 2.0, at + 2.0, 4.0);
            }
            continue;
        }
        const std::vector<DrawnColumn> columns = drawnColumns(own, columnsOf, *series->x, *series->y);
        avoidColumns(placer, columns, origin);
        // Steps that cannot be told apart are a line, too.
        const bool isFine = series->style == SeriesStyle::Steps &&
                            series->x->size() > 4 * static_cast<std::size_t>(own.columns);
        if (series->style == SeriesStyle::Line || isFine) {
            LineLook look;
            look.width = series->isDashed ? 1.2 : series->isEmphasised ? 1.7 : 1.3;
            look.colour = series->isDashed ? mixed(colour, c.figure, 0.75) : colour;
            look.pattern = series->isDashed ? LinePattern::Dashed : series->pattern;
            add([&] {
                if (map) // legible over any colour
                    paintLine(painter, own, style, columns, {c.figure, look.width + 2.0, LinePattern::Solid});
                paintLine(painter, own, style, columns, look);
            });
            continue;
        }
        add([&] {
            if (series->style == SeriesStyle::Steps)
                paintSteps(painter, own, style, *series, {colour, 1.6, series->pattern});
            else
                paintMarkers(painter, own, style, *series, colour, markerShape(figure, *series));
        });
    }

    play(painter, records.axes, origin);

    SeriesFrame pointFrame = frame;
    pointFrame.area = layout.area;
    pointFrame.x = layout.x;
    for (auto series = plot.series.rbegin(); series != plot.series.rend(); ++series) {
        if (series->style != SeriesStyle::Points || !series->x || !series->y || pen.isListingTexts())
            continue;
        pointFrame.y = series->isOnSecondAxis ? layout.secondY : layout.y;
        paintPoints(painter, pointFrame, style, *series, style.seriesColour(figure, *series),
                    markerShape(figure, *series));
    }
    if (map) {
        painter.save();
        painter.setRenderHint(QPainter::Antialiasing, isVector);
        painter.setPen(QPen(c.axis, style.hairline()));
        painter.drawRect(isVector ? layout.area : layout.area.adjusted(-1.0, -1.0, 0.0, 0.0));
        painter.restore();
    }
}

} // namespace ropewalk
