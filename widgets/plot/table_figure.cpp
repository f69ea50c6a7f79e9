// SPDX-License-Identifier: GPL-3.0-or-later
#include "table_figure.h"

#include "series_painter.h"
#include "widgets/message_text.h"

#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

constexpr double kLargestText = 12.0; ///< design pixels
constexpr double kMatrixText = 15.0;
constexpr double kSmallestText = 7.5;
constexpr double kReadableText = 10.0; ///< below it a spare column gives way
constexpr double kCellPad = 7.0;
constexpr double kBracket = 9.0; ///< room for a square bracket beside a matrix

const TableCell& cellOf(const TableSpec& table, int row, int column)
{
    return table.cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(table.columns) +
                       static_cast<std::size_t>(column)];
}

bool isDrawable(const TableSpec& table)
{
    return table.rows > 0 && table.columns > 0 &&
           table.cells.size() ==
               static_cast<std::size_t>(table.rows) * static_cast<std::size_t>(table.columns);
}

TextKind kindOf(const TableCell& cell, TextKind text)
{
    if (cell.isStrong)
        text.weight = QFont::DemiBold;
    return text;
}

/// Links between neighbouring rows, or within one, are drawn in the room below the upper row.
std::vector<bool> rowsWithLinksBelow(const TableSpec& table)
{
    std::vector<bool> below(static_cast<std::size_t>(table.rows), false);
    for (const TableLink& link : table.links) {
        const int upper = std::min(link.fromRow, link.toRow);
        if (upper >= 0 && upper < table.rows)
            below[static_cast<std::size_t>(upper)] = true;
    }
    return below;
}

/// Filled cells side by side, such as the channels of a head.
bool isStrip(const TableSpec& table)
{
    const auto filled = std::count_if(table.cells.begin(), table.cells.end(),
                                      [](const TableCell& cell) { return cell.fill != CellFill::None; });
    return table.columns > 8 && 2 * filled > static_cast<std::ptrdiff_t>(table.cells.size());
}

/// Widths of the columns and of the row heads at one size of text.
struct Widths
{
    std::vector<double> columns;
    double heads = 0.0;

    double total() const
    {
        double sum = heads;
        for (const double width : columns)
            sum += width;
        return sum;
    }
};

Widths naturalWidths(const FigureStyle& style, const TableSpec& table, const TextKind& text)
{
    Widths widths;
    const TextKind strong{text.size, QFont::DemiBold};
    const double pad = 2.0 * style.px(kCellPad) * text.size / kLargestText;
    widths.columns.assign(static_cast<std::size_t>(table.columns), style.px(10.0));
    const bool strip = isStrip(table); // its heads are written where there is room
    for (int column = 0; column < table.columns; ++column) {
        const auto index = static_cast<std::size_t>(column);
        double& width = widths.columns[index];
        for (int row = 0; row < table.rows; ++row) {
            const TableCell& cell = cellOf(table, row, column);
            width =
                std::max(width, style.textWidth(messageText(cell.text), cell.isStrong ? strong : text) + pad);
        }
        if (index < table.columnHeads.size() && !strip)
            width = std::max(width, style.textWidth(messageText(table.columnHeads[index]), text) + pad);
    }
    for (const Message& head : table.rowHeads)
        widths.heads =
            std::max(widths.heads, strip ? style.textWidth(messageText(head), kNoteText) + style.px(10.0)
                                         : style.textWidth(messageText(head), text) + pad);
    if (table.isMatrix) // columns of a matrix are alike
        std::fill(widths.columns.begin(), widths.columns.end(),
                  *std::max_element(widths.columns.begin(), widths.columns.end()));
    return widths;
}

bool isNumber(const QString& text)
{
    return !text.isEmpty() && (text.front().isDigit() || text.front() == u'−' || text.front() == u'+' ||
                               text.front() == u'-' || text.front() == u'–' || text.front() == u'.');
}

QColor fillColour(const FigureStyle& style, const FigureSpec& figure, CellFill fill, double share,
                  int configuration)
{
    const ThemeColours& c = style.colours();
    switch (fill) {
    case CellFill::None:
        break;
    case CellFill::Configuration:
        return mixed(style.configurationColour(figure, configuration), c.figure, 0.24);
    case CellFill::Query:
        return mixed(c.query, c.figure, 0.24);
    case CellFill::Key:
        return mixed(c.key, c.figure, 0.24);
    case CellFill::Pair: {
        const auto steps = static_cast<int>(c.pairs.size());
        return c.pairs[std::clamp(static_cast<int>(share * steps), 0, steps - 1)];
    }
    case CellFill::Still:
        return mixed(c.muted, c.figure, 0.3);
    case CellFill::Accent:
        return c.accent;
    }
    return c.figure;
}

QColor linkColour(const FigureStyle& style, const FigureSpec& figure, const TableLink& link)
{
    const ThemeColours& c = style.colours();
    switch (link.colour) {
    case CellFill::None:
    case CellFill::Configuration:
        return c.muted;
    case CellFill::Query:
        return c.query;
    case CellFill::Key:
        return c.key;
    case CellFill::Still:
        return c.axis;
    case CellFill::Pair:
    case CellFill::Accent:
        break;
    }
    return fillColour(style, figure, link.colour, link.share, 0);
}

double luminance(const QColor& colour)
{
    const auto linear = [](double part) {
        return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) +
           0.0722 * linear(colour.blueF());
}

/// The theme's text colour or its ground, whichever is more legible on a fill.
QColor textOn(const FigureStyle& style, const QColor& fill)
{
    const double ground = luminance(fill) + 0.05;
    const auto contrast = [&](const QColor& text) {
        const double own = luminance(text) + 0.05;
        return std::max(own, ground) / std::min(own, ground);
    };
    const ThemeColours& c = style.colours();
    return contrast(c.text) >= contrast(c.figure) ? c.text : c.figure;
}

void paintLinks(FigurePen& pen, const FigureSpec& figure, const TableSpec& table, const TableLayout& layout)
{
    const FigureStyle& style = pen.style();
    QPainter& painter = pen.painter();
    const double cellWidth = (layout.columnEdges.back() - layout.columnEdges.front()) / table.columns;
    // Of links that would run into one another every k-th is drawn.
    const int every = std::max(1, static_cast<int>(std::ceil(style.px(3.0) / cellWidth)));
    const double width = std::clamp(cellWidth / 8.0, style.px(0.8), style.px(1.8));
    painter.setBrush(Qt::NoBrush);
    for (const TableLink& link : table.links) {
        if (std::max(link.fromRow, link.toRow) >= layout.rows ||
            std::max(link.fromColumn, link.toColumn) >= table.columns ||
            std::min({link.fromRow, link.toRow, link.fromColumn, link.toColumn}) < 0 ||
            link.fromColumn % every != 0)
            continue;
        const QRectF from = layout.cell(link.fromRow, link.fromColumn);
        const QRectF to = layout.cell(link.toRow, link.toColumn);
        QPainterPath path;
        if (link.fromRow == link.toRow) { // an arc below the row, deeper the farther it reaches
            const auto next = static_cast<std::size_t>(link.fromRow) + 1;
            const double room =
                (next < layout.rowTops.size() ? layout.rowTops[next] : from.bottom() + style.px(40.0)) -
                from.bottom() - style.px(4.0);
            const double reach = std::fabs(to.center().x() - from.center().x());
            const double depth = room * (0.25 + 0.75 * reach / std::max(1.0, layout.box.width()));
            const double bottom = from.bottom() + style.px(1.0);
            path.moveTo(from.center().x(), bottom);
            path.cubicTo(from.center().x(), bottom + 1.33 * depth, to.center().x(), bottom + 1.33 * depth,
                         to.center().x(), bottom);
        } else {
            const bool isDown = link.fromRow < link.toRow;
            const QPointF a(from.center().x(),
                            isDown ? from.bottom() + style.px(1.0) : from.top() - style.px(1.0));
            const QPointF b(to.center().x(), isDown ? to.top() - style.px(1.0) : to.bottom() + style.px(1.0));
            const double half = (b.y() - a.y()) / 2;
            path.moveTo(a);
            path.cubicTo(a + QPointF(0.0, half), b - QPointF(0.0, half), b);
        }
        painter.setPen(QPen(linkColour(style, figure, link), width, Qt::SolidLine, Qt::RoundCap));
        if (style.options().isVector)
            painter.drawPath(path);
        else
            paintPolyline(painter, path.toSubpathPolygons().front());
    }
}

void paintBrackets(QPainter& painter, const FigureStyle& style, const QRectF& box)
{
    painter.setPen(QPen(style.colours().text, style.px(1.3), Qt::SolidLine, Qt::FlatCap, Qt::MiterJoin));
    const double serif = style.px(4.0);
    const double away = style.px(3.0);
    for (const double side : {-1.0, 1.0}) {
        const double x = side < 0.0 ? box.left() - away : box.right() + away;
        painter.drawPolyline(QPolygonF{{x - side * serif, box.top()},
                                       {x, box.top()},
                                       {x, box.bottom()},
                                       {x - side * serif, box.bottom()}});
    }
}

} // namespace

TableLayout layoutTable(const FigureStyle& style, const QRectF& content, const TableSpec& table)
{
    TableLayout layout;
    if (!isDrawable(table) || content.width() < style.px(20.0) || content.height() < style.px(20.0))
        return layout;
    layout.hasColumnHeads = !table.columnHeads.empty();
    layout.hasRowHeads = !table.rowHeads.empty();
    const bool strip = isStrip(table);
    const double bracket = table.isMatrix ? style.px(kBracket) : 0.0;
    const double width = content.width() - 2.0 * bracket;
    const auto below = rowsWithLinksBelow(table);
    const auto linked = std::count(below.begin(), below.end(), true);

    const auto heightAt = [&](const TextKind& text, double rows) {
        const double line = style.textHeight(text) + style.px(0.5 * text.size);
        return rows * line + (layout.hasColumnHeads ? line : 0.0) +
               static_cast<double>(linked) * style.px(30.0);
    };
    Widths widths;
    const auto fit = [&](bool hasSpare) {
        const auto widthsNow = [&] {
            widths = naturalWidths(style, table, layout.text);
            if (!hasSpare)
                widths.columns[static_cast<std::size_t>(table.spareColumn)] = 0.0;
        };
        layout.text = {table.isMatrix ? kMatrixText : kLargestText, QFont::Normal};
        widthsNow();
        while (layout.text.size > kSmallestText) {
            const double tooWide = widths.total() / width;
            const double tooHigh = heightAt(layout.text, table.rows) / content.height();
            const double share = std::max(tooWide, tooHigh);
            if (share <= 1.0)
                break;
            layout.text.size = std::clamp(std::floor(2.0 * layout.text.size / share) / 2.0, kSmallestText,
                                          layout.text.size - 0.5);
            widthsNow();
        }
    };
    fit(true);
    if (table.spareColumn >= 0 && table.spareColumn < table.columns &&
        (layout.text.size < kReadableText || widths.total() > width))
        fit(false);
    layout.headText = strip ? kNoteText : layout.text;

    // Across.
    if (widths.total() > width)
        widths.heads = std::min(widths.heads, 0.4 * width);
    const double room = width - widths.heads;
    const double natural = widths.total() - widths.heads;
    if (strip || natural > room) {
        if (strip) {
            // Cells of one width, in whole units where there are enough of them, so that none looks wider.
            double each = room / table.columns;
            if (each >= 3.0 && !style.options().isVector)
                each = std::floor(each);
            each = std::min(each, std::max(style.px(30.0), natural / table.columns));
            layout.showsTexts = *std::max_element(widths.columns.begin(), widths.columns.end()) <=
                                each + style.px(kCellPad) * layout.text.size / kLargestText;
            std::fill(widths.columns.begin(), widths.columns.end(), each);
        } else { // long texts give way to short ones
            double limit = room / table.columns;
            for (int i = 0; i < 20; ++i) {
                double taken = 0.0;
                int longer = 0;
                for (const double column : widths.columns) {
                    taken += std::min(column, limit);
                    longer += column > limit;
                }
                if (longer == 0 || taken >= room - 0.5)
                    break;
                limit += (room - taken) / longer;
            }
            for (double& column : widths.columns)
                column = std::min(column, limit);
        }
    } else if (!table.isMatrix) {
        const double more = std::min((room - natural) / table.columns, style.px(64.0));
        for (double& column : widths.columns)
            column += column > 0.0 ? more : 0.0;
    }
    double left = content.left() + bracket +
                  (strip || table.isMatrix ? std::max(0.0, (width - widths.total()) / 2) : 0.0);
    if (!style.options().isVector)
        left = std::round(left);
    layout.rowHeadLeft = left;
    layout.rowHeadWidth = widths.heads;
    layout.columnEdges.push_back(left + widths.heads);
    for (const double column : widths.columns)
        layout.columnEdges.push_back(layout.columnEdges.back() + column);

    // Down.
    const double line = style.textHeight(layout.text) + style.px(0.5 * layout.text.size);
    const double heads = layout.hasColumnHeads
                             ? style.textHeight(layout.headText) + style.px(0.5 * layout.headText.size)
                             : 0.0;
    const double links = static_cast<double>(linked);
    const double least = strip && !layout.showsTexts ? style.px(8.0) : line;
    layout.rows = table.rows;
    double height = content.height() - heads;
    if (least * table.rows + links * style.px(24.0) > height) {
        const double most = (height - line) / (least + links / table.rows * style.px(24.0));
        layout.rows = std::clamp(static_cast<int>(std::floor(most)), 0, table.rows - 1);
        height -= line;
    }
    if (layout.rows == 0)
        return layout;
    layout.rowHeight = std::clamp((height - links * style.px(70.0)) / layout.rows, least,
                                  std::max(least, strip ? style.px(34.0) : 1.5 * line));
    const double gap = links > 0.0 ? std::clamp((height - layout.rows * layout.rowHeight) / links,
                                                style.px(16.0), style.px(130.0))
                                   : 0.0;
    const double spare = strip && linked == 0 && layout.rows > 1 ? style.px(5.0) : 0.0;
    double total = heads + layout.rows * layout.rowHeight + spare * (layout.rows - 1);
    for (int row = 0; row < layout.rows; ++row)
        if (below[static_cast<std::size_t>(row)])
            total += gap;
    const bool isCentred = strip || table.isMatrix;
    double top = content.top() + (isCentred ? std::max(0.0, (content.height() - total) / 2) : 0.0);
    if (!style.options().isVector)
        top = std::round(top);
    layout.headBaseline = top + style.ascent(layout.headText);
    top += heads;
    for (int row = 0; row < layout.rows; ++row) {
        layout.rowTops.push_back(top);
        top += layout.rowHeight + (row + 1 < layout.rows ? spare : 0.0) +
               (below[static_cast<std::size_t>(row)] ? gap : 0.0);
    }
    layout.moreBaseline = top + style.px(3.0) + style.ascent(layout.text);
    layout.box = QRectF(QPointF(layout.columnEdges.front(), layout.rowTops.front()),
                        QPointF(layout.columnEdges.back(), layout.rowTops.back() + layout.rowHeight));
    return layout;
}

std::optional<std::pair<int, int>> tableCellAt(const TableLayout& layout, const QPointF& point)
{
    if (layout.isEmpty() || !layout.box.contains(point))
        return {};
    const auto right = std::upper_bound(layout.columnEdges.begin(), layout.columnEdges.end(), point.x());
    const auto column = static_cast<int>(right - layout.columnEdges.begin()) - 1;
    for (int row = 0; row < layout.rows; ++row)
        if (column >= 0 && column + 1 < static_cast<int>(layout.columnEdges.size()) &&
            layout.cell(row, column).contains(point))
            return std::pair(row, column);
    return {};
}

void paintTable(FigurePen& pen, const QRectF& content, const FigureSpec& figure, const TableSpec& table)
{
    const FigureStyle& style = pen.style();
    const TableLayout layout = layoutTable(style, content, table);
    if (layout.isEmpty())
        return;
    const ThemeColours& c = style.colours();
    QPainter& painter = pen.painter();
    const bool strip = isStrip(table);
    const double pad = style.px(kCellPad) * layout.text.size / kLargestText;
    const double drop = (style.ascent(layout.text) - style.descent(layout.text)) / 2;
    const double headDrop = (style.ascent(layout.headText) - style.descent(layout.headText)) / 2;

    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, style.options().isVector); // cells have upright edges
    const double cellWidth = (layout.columnEdges.back() - layout.columnEdges.front()) / table.columns;
    const double seam = cellWidth >= style.px(5.0) ? style.px(1.0) : 0.0;
    for (int row = 0; row < layout.rows; ++row) {
        for (int column = 0; column < table.columns; ++column) {
            const TableCell& cell = cellOf(table, row, column);
            if (cell.fill == CellFill::None)
                continue;
            painter.fillRect(layout.cell(row, column).adjusted(0.0, 0.0, -seam, -seam),
                             fillColour(style, figure, cell.fill, cell.share, cell.configuration));
        }
        if (!strip && !table.isMatrix && row > 0) {
            painter.setPen(QPen(c.grid, style.hairline()));
            const double y = layout.rowTops[static_cast<std::size_t>(row)];
            painter.drawLine(QPointF(layout.rowHeadLeft, y), QPointF(layout.box.right(), y));
        }
    }
    if (layout.hasColumnHeads && !strip && !table.isMatrix) {
        painter.setPen(QPen(c.axis, style.hairline()));
        painter.drawLine(QPointF(layout.rowHeadLeft, layout.box.top()), layout.box.topRight());
    }
    painter.restore();
    paintLinks(pen, figure, table, layout);
    if (table.isMatrix)
        paintBrackets(painter, style, layout.box);

    // Numbers end at the right edge of their column, so that their digits stand below each other.
    std::vector<Qt::AlignmentFlag> alignments;
    for (int column = 0; column < table.columns; ++column) {
        bool areNumbers = true;
        for (int row = 0; row < table.rows; ++row)
            if (const QString text = messageText(cellOf(table, row, column).text); !text.isEmpty())
                areNumbers = areNumbers && isNumber(text);
        alignments.push_back(strip            ? Qt::AlignHCenter
                             : areNumbers     ? Qt::AlignRight
                             : table.isMatrix ? Qt::AlignHCenter
                                              : Qt::AlignLeft);
    }
    const auto writeIn = [&](const QRectF& box, double baseline, const QString& text, const TextKind& kind,
                             const QColor& colour, Qt::AlignmentFlag alignment) {
        if (box.width() <= 0.0)
            return; // a column that gave way
        // Where there is little room the pad gives way before the text does.
        const double least = std::min(pad, style.px(1.0));
        const double side = std::clamp((box.width() - style.textWidth(text, kind)) / 2, least, pad);
        const double room = box.width() - (strip ? 0.0 : 2.0 * least) + 0.5;
        const double x = alignment == Qt::AlignRight     ? box.right() - side
                         : alignment == Qt::AlignHCenter ? box.center().x()
                                                         : box.left() + side;
        pen.write({x, baseline}, style.elided(text, kind, room), kind, colour, alignment);
    };
    if (layout.hasColumnHeads) {
        // Of the heads of narrow columns every second, fourth, ... is written.
        double widest = 0.0;
        for (const Message& head : table.columnHeads)
            widest = std::max(widest, style.textWidth(messageText(head), layout.headText));
        int every = 1;
        while (strip && every * cellWidth < widest + style.px(4.0))
            every *= 2;
        for (int column = 0; column < table.columns; column += every) {
            const auto index = static_cast<std::size_t>(column);
            if (index >= table.columnHeads.size())
                break;
            const QString text = messageText(table.columnHeads[index]);
            const QRectF cell = layout.cell(0, column);
            if (!strip) {
                writeIn(cell, layout.headBaseline, text, layout.headText, c.muted, alignments[index]);
                continue;
            }
            const double half = style.textWidth(text, layout.headText) / 2;
            pen.write({std::clamp(cell.center().x(), content.left() + half, content.right() - half),
                       layout.headBaseline},
                      text, layout.headText, c.muted, Qt::AlignHCenter);
        }
    }
    for (int row = 0; row < layout.rows; ++row) {
        const double middle = layout.rowTops[static_cast<std::size_t>(row)] + layout.rowHeight / 2;
        const double baseline = middle + drop;
        if (static_cast<std::size_t>(row) < table.rowHeads.size())
            pen.write({layout.rowHeadLeft, middle + headDrop},
                      style.elided(messageText(table.rowHeads[static_cast<std::size_t>(row)]),
                                   layout.headText, layout.rowHeadWidth - style.px(4.0)),
                      layout.headText, strip || table.isMatrix ? c.muted : c.text);
        if (!layout.showsTexts)
            continue;
        for (int column = 0; column < table.columns; ++column) {
            const TableCell& cell = cellOf(table, row, column);
            const QColor colour =
                cell.fill == CellFill::None
                    ? c.text
                    : textOn(style, fillColour(style, figure, cell.fill, cell.share, cell.configuration));
            writeIn(layout.cell(row, column), baseline, messageText(cell.text), kindOf(cell, layout.text),
                    colour, alignments[static_cast<std::size_t>(column)]);
        }
    }
    if (layout.rows < table.rows)
        pen.write({layout.rowHeadLeft, layout.moreBaseline},
                  messageText({"… {count} more rows", {{"count", std::to_string(table.rows - layout.rows)}}}),
                  layout.text, c.muted);
}

} // namespace ropewalk
