// SPDX-License-Identifier: GPL-3.0-or-later
#include "drawing_rows.h"

#include "app/composition.h"
#include "app/presets.h"
#include "app/session_edits.h"
#include "core/figure_catalog.h"
#include "widgets/plot/figure_exporter.h"
#include "widgets/plot/figure_renderer.h"
#include "widgets/plot/figure_style.h"

#include <QImage>
#include <QPainter>

#include <cmath>
#include <cstdio>

namespace ropewalk::bench {
namespace {

std::string text(const char* format, double a, double b = 0.0)
{
    char buffer[120];
    std::snprintf(buffer, sizeof buffer, format, a, b);
    return buffer;
}

/// A figure of the program at the settings that the window opens on.
FigureSpec figureOf(const std::string& id,
                    std::initializer_list<std::pair<const char*, const char*>> settings = {})
{
    const auto engine = makeEngine();
    const Session session = firstSession(loadPresets());
    ComputeRequest request;
    for (const SessionConfiguration& each : session.configurations)
        request.configurations.push_back({each.config, each.letter, each.colour});
    request.options = session.options;
    for (const auto& [key, value] : settings)
        static_cast<void>(request.options.settings.set(key, value));
    request.figures = {id};
    request.wantsDecay = findFigure(id)->needsDecay;
    const auto results = computeFigureResults(*engine, request);
    if (!results) {
        std::fprintf(stderr, "error: %s could not be computed\n", id.c_str());
        std::abort();
    }
    return buildFigure(*findFigure(id), *results);
}

FigureSpec lineOf(std::size_t points)
{
    std::vector<double> x(points), y(points);
    for (std::size_t i = 0; i < points; ++i) {
        const auto at = static_cast<double>(i);
        x[i] = at;
        for (const double theta : {1.0, 0.1, 0.01, 1e-4})
            y[i] += std::cos(at * theta) / 4.0;
    }
    FigureSpec figure;
    figure.id = "line";
    figure.title = "A dense line";
    figure.configurations.emplace_back();
    figure.xAxis = {"x", AxisKind::Plain, false, 0.0, static_cast<double>(points - 1)};
    figure.yAxis = {"y", AxisKind::Plain, false, -1.1, 1.1};
    Series series;
    series.x = makeValues(std::move(x));
    series.y = makeValues(std::move(y));
    series.style = SeriesStyle::Line;
    figure.series = {std::move(series)};
    return figure;
}

FigureSpec mapOf(std::int64_t size)
{
    std::vector<double> values(static_cast<std::size_t>(size * size));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = std::sin(1e-3 * static_cast<double>(i)) + 0.2 * std::cos(0.37 * static_cast<double>(i));
    FigureSpec figure;
    figure.id = "map";
    figure.title = "A map";
    figure.configurations.emplace_back();
    const double end = static_cast<double>(size) - 0.5;
    figure.xAxis = {"n", AxisKind::Tokens, false, -0.5, end};
    figure.yAxis = {"m", AxisKind::Tokens, false, -0.5, end};
    figure.yAxis.isReversed = true;
    MapSpec map;
    map.rows = map.columns = size;
    map.pooling = "none";
    map.values = makeValues(std::move(values));
    map.xLower = map.yLower = -0.5;
    map.xUpper = map.yUpper = end;
    map.lower = -1.2;
    map.upper = 1.2;
    figure.maps = {std::move(map)};
    return figure;
}

struct Screen
{
    QSize size;
    double scale;
    const char* text;
};
constexpr int kScreens = 2;
const Screen kScreen[kScreens] = {{{1920, 1080}, 1.0, "1920×1080"}, {{3840, 2160}, 2.0, "3840×2160"}};

/// A row of drawing `figure`, whole, against the goals in milliseconds at 1080p and at 4K.
void draw(Report& report, const Effort& effort, const std::string& operation, const FigureSpec& figure,
          double mostSmall, double mostLarge, const std::function<void(QPainter&, QSize)>& naive = {},
          const std::string& note = {})
{
    for (const Screen& screen : kScreen) {
        QImage picture(screen.size, QImage::Format_RGB32), window(screen.size, QImage::Format_RGB32);
        picture.fill(Qt::white);
        window.fill(Qt::white);
        RenderOptions options;
        options.scale = screen.scale;
        options.cache = std::make_shared<DrawingCache>(); // as a view draws, which knows its words
        std::vector<Variant> variants{{[&] {
                                          QPainter painter(&picture);
                                          paintFigure(painter, QRectF(QPointF(), QSizeF(screen.size)), figure,
                                                      options);
                                      }},
                                      {[&] {
                                          QPainter painter(&window);
                                          painter.drawImage(QPointF(), picture);
                                      }}};
        const bool hasNaive = naive && screen.scale == 1.0;
        if (hasNaive)
            variants.push_back({[&] {
                QPainter painter(&picture);
                painter.fillRect(picture.rect(), Qt::white);
                naive(painter, screen.size);
            }});
        const auto measured = measureInTurn(variants, effort);
        const double most = screen.scale > 1.0 ? mostLarge : mostSmall;
        Row row;
        row.operation = operation;
        row.size = screen.text;
        row.ours = measured[0].milliseconds;
        row.limit = measured[1].milliseconds;
        if (hasNaive)
            row.naive = measured[2].milliseconds;
        row.limitName = "copying the picture to the window";
        row.goal = text("<= %.0f ms", most);
        row.met = *row.ours <= most;
        row.note = note;
        if (!*row.met)
            row.note += (row.note.empty() ? "" : "; ") + text("%.1f times the goal", *row.ours / most);
        if (const std::string shared = Report::sharedNote(measured); !shared.empty())
            row.note += (row.note.empty() ? "" : "; ") + shared;
        report.add(std::move(row));
    }
}

} // namespace

void measureDrawing(Report& report, const Effort& effort)
{
    report.beginGroup("Drawing a whole figure");
    const FigureSpec line = lineOf(1'000'000);
    draw(
        report, effort, "line of 1e6 points", line, 5.0, 15.0,
        [&](QPainter& painter, QSize size) {
            const auto& y = *line.series.front().y;
            QPolygonF points;
            points.reserve(static_cast<qsizetype>(y.size()));
            for (std::size_t i = 0; i < y.size(); ++i)
                points.append({size.width() * static_cast<double>(i) / static_cast<double>(y.size()),
                               size.height() * (0.5 - 0.45 * y[i])});
            painter.setPen(QPen(Qt::black, 1.0));
            painter.drawPolyline(points);
        },
        "axes, words and legend included; the line through the middles of the columns, which zigzags here "
        "over a third "
        "of the height, is half of it; naive: every point, 1 px, not antialiased");
    draw(report, effort, "map of 512² cells", mapOf(512), 6.0, 14.0);
    draw(report, effort, "map of 1024² cells, the most that a map has", mapOf(1024), 6.0, 14.0);
    draw(report, effort, "9 plots side by side (encodings)", figureOf("encodings"), 4.0, 12.0, {},
         "the goal is for 8 plots without words");
    draw(report, effort, "64 pairs in the plane, 2 configurations", figureOf("plane"), 2.0, 6.0, {},
         "the goal is for 64 arrows and circles without words");
}

void measureExport(Report& report, const Effort& effort)
{
    report.beginGroup("Export");
    const FigureSpec decay = figureOf("decay");
    const FigureSpec scores = figureOf("scores");
    for (const auto& [name, figure] :
         {std::pair<const char*, const FigureSpec*>{"decay", &decay}, {"scores", &scores}})
        for (const auto& [format, formatName] :
             {std::pair(ExportFormat::Pdf, "PDF"), std::pair(ExportFormat::Png, "PNG, 300 dpi"),
              std::pair(ExportFormat::Svg, "SVG")}) {
            ExportOptions options;
            options.format = format;
            qsizetype bytes = 0;
            const std::vector<Variant> variants{{[&] {
                if (const auto written = exportFigure(*figure, options))
                    bytes = written->size();
            }}};
            const auto measured = measureInTurn(variants, effort);
            Row row;
            row.operation = std::string("export of ") + name + " as " + formatName;
            row.size = "140 × 90 mm";
            row.ours = measured[0].milliseconds;
            row.goal = "<= 300 ms, colours to the bit";
            row.met = bytes > 0 && *row.ours <= 300.0;
            row.note = text("%.0f KiB; that colours are exact is the test figure_exporter's",
                            static_cast<double>(bytes) / 1024);
            report.add(std::move(row));
        }
}

} // namespace ropewalk::bench
