// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "figure_renderer.h"

#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace ropewalk {

/// The exact values at a place of a figure: one row a quantity, one column a configuration. A row without
/// values is a sentence.
struct HoverTable
{
    struct Row
    {
        QString label;
        QStringList values; ///< one a column; empty where the configuration has none
    };
    QString title;                   ///< "pair 12", "r = 1 707", "m = 12–15, n = 4–7"
    std::vector<int> configurations; ///< of the columns
    std::vector<Row> rows;
    std::optional<double> x; ///< the sample that is read, on the x axis; empty for maps, points and tables
};

/// What to read out at `hit`; empty where nothing is. Pure.
std::optional<HoverTable> hoverTable(const FigureSpec& figure, const FigureHit& hit);

} // namespace ropewalk
