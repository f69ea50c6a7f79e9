// SPDX-License-Identifier: GPL-3.0-or-later
#include "map_painter.h"

#include "axis_scale.h"
#include "colour_tables.h"

#include <QImage>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace ropewalk {
namespace {

/// More cells than this a side are pooled in a vector too: no page shows them.
constexpr std::int64_t kMostVectorCells = 2048;

/// The cells that one pixel shows: [first, last).
struct CellRun
{
    std::int64_t first = 0, last = 0;

    bool operator==(const CellRun&) const = default;
};

/// For each of `pixels` pixels from `start` on, the cells that it shows.
std::vector<CellRun> cellRuns(const MapExtent& extent, std::int64_t cells, double start, int pixels,
                              double pixelSize)
{
    std::vector<CellRun> runs(static_cast<std::size_t>(pixels));
    const bool isPooled = std::fabs(extent.to - extent.from) < static_cast<double>(cells) * pixelSize;
    for (int i = 0; i < pixels; ++i) {
        const double a = extent.toCell(start + i * pixelSize, cells);
        const double b = extent.toCell(start + (i + 1) * pixelSize, cells);
        std::int64_t first = static_cast<std::int64_t>(std::floor((a + b) / 2));
        std::int64_t last = first + 1;
        if (isPooled) { // the cells whose centre lies in the pixel: each of them in exactly one
            first = static_cast<std::int64_t>(std::ceil(std::min(a, b) - 0.5));
            last = std::max(first + 1, static_cast<std::int64_t>(std::ceil(std::max(a, b) - 0.5)));
        }
        CellRun& run = runs[static_cast<std::size_t>(i)];
        run.first = std::clamp<std::int64_t>(first, 0, cells - 1);
        run.last = std::clamp<std::int64_t>(last, run.first + 1, cells);
    }
    return runs;
}

/// The value of several cells together.
class Pooling
{
public:
    explicit Pooling(const MapSpec& map)
        : m_values(*map.values)
        , m_columns(map.columns)
        , m_kind(map.colours == ColourTable::Cyclic ? Kind::Direction
                 : map.pooling == "min"             ? Kind::Least
                 : map.pooling == "max"             ? Kind::Greatest
                                                    : Kind::Mean)
        , m_turn(2.0 * std::numbers::pi / (map.upper - map.lower))
    {
    }

    double operator()(const CellRun& rows, const CellRun& columns) const
    {
        double sum = 0.0;
        double across = 0.0;
        double least = INFINITY;
        double greatest = -INFINITY;
        std::int64_t count = 0;
        for (std::int64_t row = rows.first; row < rows.last; ++row)
            for (std::int64_t column = columns.first; column < columns.last; ++column) {
                const double value = m_values[static_cast<std::size_t>(row * m_columns + column)];
                if (std::isnan(value))
                    continue;
                ++count;
                if (m_kind == Kind::Direction) {
                    sum += std::cos(value * m_turn);
                    across += std::sin(value * m_turn);
                } else {
                    sum += value;
                }
                least = std::min(least, value);
                greatest = std::max(greatest, value);
            }
        if (count == 0)
            return std::numeric_limits<double>::quiet_NaN();
        if (count == 1 || m_kind == Kind::Least)
            return least;
        if (m_kind == Kind::Greatest)
            return greatest;
        return m_kind == Kind::Mean ? sum / static_cast<double>(count) : std::atan2(across, sum) / m_turn;
    }

private:
    enum class Kind { Mean, Least, Greatest, Direction };
    const std::vector<double>& m_values;
    std::int64_t m_columns;
    Kind m_kind;
    double m_turn;
};

QImage mapImage(const MapSpec& map, const MapColours& colours, const std::vector<CellRun>& rows,
                const std::vector<CellRun>& columns)
{
    QImage image(static_cast<int>(columns.size()), static_cast<int>(rows.size()), QImage::Format_RGB32);
    if (image.isNull())
        return image;
    const Pooling pooling(map);
    // The cells that are shown, of which most pixels show one: their colours first, then what lies where.
    const std::int64_t firstCell = std::min(columns.front().first, columns.back().first);
    const std::int64_t endCell = std::max(columns.front().last, columns.back().last);
    std::vector<QRgb> cells(static_cast<std::size_t>(endCell - firstCell));
    const bool areSingle = std::all_of(columns.begin(), columns.end(),
                                       [](const CellRun& run) { return run.last - run.first == 1; });
    for (std::size_t y = 0; y < rows.size(); ++y) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(static_cast<int>(y)));
        if (y > 0 && rows[y] == rows[y - 1]) {
            std::copy_n(reinterpret_cast<const QRgb*>(image.constScanLine(static_cast<int>(y) - 1)),
                        columns.size(), line);
            continue;
        }
        if (areSingle && rows[y].last - rows[y].first == 1) {
            colours.row(map.values->data() + rows[y].first * map.columns + firstCell, endCell - firstCell,
                        cells.data());
            for (std::size_t x = 0; x < columns.size(); ++x)
                line[x] = cells[static_cast<std::size_t>(columns[x].first - firstCell)];
            continue;
        }
        for (std::size_t x = 0; x < columns.size(); ++x)
            line[x] =
                x > 0 && columns[x] == columns[x - 1] ? line[x - 1] : colours(pooling(rows[y], columns[x]));
    }
    return image;
}

/// The whole cells of a map within an extent of the area, and those that it cuts: pieces of cells, one after
/// the other from left to right or from top to bottom, with where they lie.
struct VectorPiece
{
    double from = 0.0, to = 0.0;
    std::vector<CellRun> cells;
    bool isWhole = false;
};

std::vector<VectorPiece> vectorPieces(const MapExtent& extent, std::int64_t cells, double lower, double upper)
{
    const double least = std::max(lower, std::min(extent.from, extent.to));
    const double greatest = std::min(upper, std::max(extent.from, extent.to));
    if (!(greatest > least))
        return {};
    const double size = std::fabs(extent.to - extent.from) / static_cast<double>(cells);
    if (cells > kMostVectorCells) {
        const int pixels = static_cast<int>(kMostVectorCells);
        return {{least, greatest, cellRuns(extent, cells, least, pixels, (greatest - least) / pixels), true}};
    }
    // The lines between cells that lie within, with the two ends.
    std::vector<double> edges{least};
    const double a = std::min(extent.toCell(least, cells), extent.toCell(greatest, cells));
    const double b = std::max(extent.toCell(least, cells), extent.toCell(greatest, cells));
    std::vector<double> between;
    for (double cell = std::floor(a + 1e-9) + 1.0; cell < b - 1e-9; cell += 1.0)
        between.push_back(extent.toPixel(cell, cells));
    std::sort(between.begin(), between.end());
    edges.insert(edges.end(), between.begin(), between.end());
    edges.push_back(greatest);
    std::vector<VectorPiece> pieces;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
        const auto cell =
            static_cast<std::int64_t>(std::floor(extent.toCell((edges[i] + edges[i + 1]) / 2, cells)));
        const CellRun run{std::clamp<std::int64_t>(cell, 0, cells - 1),
                          std::clamp<std::int64_t>(cell, 0, cells - 1) + 1};
        const bool isWhole = edges[i + 1] - edges[i] > size * (1.0 - 1e-6);
        // Whole cells form one image; a cut one has its own.
        if (isWhole && !pieces.empty() && pieces.back().isWhole) {
            pieces.back().to = edges[i + 1];
            pieces.back().cells.push_back(run);
        } else {
            pieces.push_back({edges[i], edges[i + 1], {run}, isWhole});
        }
    }
    return pieces;
}

std::pair<double, double> edgesOf(const AxisSpec& axis, double lower, double upper, std::int64_t cell,
                                  std::int64_t cells)
{
    const auto at = [&](std::int64_t edge) {
        const double share = static_cast<double>(edge) / static_cast<double>(cells);
        return axis.isLogarithmic ? std::exp(std::log(lower) * (1.0 - share) + std::log(upper) * share)
                                  : lower * (1.0 - share) + upper * share;
    };
    const double first = at(cell);
    const double second = at(cell + 1);
    return {std::min(first, second), std::max(first, second)};
}

bool isDrawable(const MapSpec& map)
{
    return map.values && map.rows > 0 && map.columns > 0 && map.upper > map.lower &&
           static_cast<std::int64_t>(map.values->size()) == map.rows * map.columns;
}

} // namespace

MapExtent mapColumns(const QRectF& area, const PlotSpec& plot, const MapSpec& map)
{
    const AxisScale scale(plot.xAxis, area.left(), area.right());
    return {scale.toPixel(map.xLower), scale.toPixel(map.xUpper)};
}

MapExtent mapRows(const QRectF& area, const PlotSpec& plot, const MapSpec& map)
{
    const AxisScale scale(plot.yAxis, area.bottom(), area.top());
    return {scale.toPixel(map.yLower), scale.toPixel(map.yUpper)};
}

std::optional<FigureCell> mapCellAt(const QRectF& area, const PlotSpec& plot, const MapSpec& map,
                                    const QPointF& point)
{
    if (!isDrawable(map) || !area.contains(point))
        return {};
    const double column = std::floor(mapColumns(area, plot, map).toCell(point.x(), map.columns));
    const double row = std::floor(mapRows(area, plot, map).toCell(point.y(), map.rows));
    if (!(column >= 0.0 && column < static_cast<double>(map.columns) && row >= 0.0 &&
          row < static_cast<double>(map.rows)))
        return {};
    return FigureCell{static_cast<std::int64_t>(row), static_cast<std::int64_t>(column)};
}

QRectF mapCellRect(const QRectF& area, const PlotSpec& plot, const MapSpec& map, const FigureCell& cell)
{
    const MapExtent columns = mapColumns(area, plot, map);
    const MapExtent rows = mapRows(area, plot, map);
    const auto column = static_cast<double>(cell.column);
    const auto row = static_cast<double>(cell.row);
    return QRectF(QPointF(columns.toPixel(column, map.columns), rows.toPixel(row, map.rows)),
                  QPointF(columns.toPixel(column + 1.0, map.columns), rows.toPixel(row + 1.0, map.rows)))
        .normalized();
}

std::pair<double, double> mapColumnRange(const PlotSpec& plot, const MapSpec& map, std::int64_t column)
{
    return edgesOf(plot.xAxis, map.xLower, map.xUpper, column, map.columns);
}

std::pair<double, double> mapRowRange(const PlotSpec& plot, const MapSpec& map, std::int64_t row)
{
    return edgesOf(plot.yAxis, map.yLower, map.yUpper, row, map.rows);
}

void paintMap(QPainter& painter, const FigureStyle& style, const QRectF& area, const PlotSpec& plot,
              const MapSpec& map)
{
    if (!isDrawable(map))
        return;
    const MapColours colours(map, style.options().theme);
    const MapExtent columns = mapColumns(area, plot, map);
    const MapExtent rows = mapRows(area, plot, map);
    if (style.options().isVector) {
        const auto across = vectorPieces(columns, map.columns, area.left(), area.right());
        const auto down = vectorPieces(rows, map.rows, area.top(), area.bottom());
        for (const VectorPiece& y : down)
            for (const VectorPiece& x : across)
                painter.drawImage(QRectF(x.from, y.from, x.to - x.from, y.to - y.from),
                                  mapImage(map, colours, y.cells, x.cells));
        return;
    }
    // Pixels whose centre lies on the map and in the area.
    const auto pixels = [](double lower, double upper, const MapExtent& extent) {
        const double least = std::max(lower, std::min(extent.from, extent.to));
        const double greatest = std::min(upper, std::max(extent.from, extent.to));
        return std::pair(static_cast<int>(std::ceil(least - 0.5)),
                         static_cast<int>(std::ceil(greatest - 0.5)));
    };
    const auto [left, right] = pixels(area.left(), area.right(), columns);
    const auto [top, bottom] = pixels(area.top(), area.bottom(), rows);
    if (right <= left || bottom <= top)
        return;
    painter.drawImage(QPoint(left, top),
                      mapImage(map, colours, cellRuns(rows, map.rows, top, bottom - top, 1.0),
                               cellRuns(columns, map.columns, left, right - left, 1.0)));
}

} // namespace ropewalk
