// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "figure_style.h"

#include <optional>

namespace ropewalk {

/// Where the parts of a table lie.
struct TableLayout
{
    /// How large texts are; smaller than usual where the table has little room.
    TextKind text;
    TextKind headText;      ///< of column and row heads
    bool showsTexts = true; ///< false: cells too narrow for them, colours only
    bool hasColumnHeads = false, hasRowHeads = false;
    double headBaseline = 0.0; ///< of the column heads
    double rowHeadLeft = 0.0, rowHeadWidth = 0.0;
    std::vector<double> columnEdges; ///< columns + 1
    std::vector<double> rowTops;     ///< one a shown row
    double rowHeight = 0.0;
    int rows = 0;              ///< shown; the rest is said in a line below
    double moreBaseline = 0.0; ///< of "… more rows"
    QRectF box;                ///< of all cells

    bool isEmpty() const { return rows == 0 || columnEdges.size() < 2; }
    QRectF cell(int row, int column) const
    {
        const auto c = static_cast<std::size_t>(column);
        return {columnEdges[c], rowTops[static_cast<std::size_t>(row)], columnEdges[c + 1] - columnEdges[c],
                rowHeight};
    }
};

/// Places a table within `content`: at its natural size where there is room, else with smaller texts, then
/// with elided or no texts and fewer rows. Pure.
TableLayout layoutTable(const FigureStyle& style, const QRectF& content, const TableSpec& table);

/// Row and column of the cell at a point.
std::optional<std::pair<int, int>> tableCellAt(const TableLayout& layout, const QPointF& point);

/// Draws the table within `content`.
void paintTable(FigurePen& pen, const QRectF& content, const FigureSpec& figure, const TableSpec& table);

} // namespace ropewalk
