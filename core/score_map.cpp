// SPDX-License-Identifier: GPL-3.0-or-later
#include "score_map.h"

#include <cassert>

namespace ropewalk {
namespace {

/// Beyond this spread of logits e^(g - max) comes near the smallest double, and rows need their own maximum.
constexpr double kLargestSpread = 600.0;

bool isFixed(const ScoreMapOp& op)
{
    return std::all_of(op.terms.begin(), op.terms.end(),
                       [](const ScoreTerm& term) { return !term.table.empty() && term.rowScale.empty(); });
}

bool hasSmallSpread(const ScoreMapOp& op)
{
    return std::all_of(op.terms.begin(), op.terms.end(), [](const ScoreTerm& term) {
        const auto [least, greatest] = std::minmax_element(term.table.begin(), term.table.end());
        return (*greatest - *least) * std::max(term.scale, -term.scale) < kLargestSpread;
    });
}

} // namespace

bool ScoreGrid::isWhollyVisible(CellRange rows, CellRange columns) const
{
    return (!isCausal || columns.end - 1 <= rows.first) &&
           (window == 0 || rows.end - 1 - columns.first < window);
}

std::int64_t ScoreGrid::visibleCells(CellRange rows, CellRange columns) const
{
    if (isWhollyVisible(rows, columns))
        return (rows.end - rows.first) * (columns.end - columns.first);
    const bool isAbove = isCausal && columns.first > rows.end - 1;
    const bool isBehind = window > 0 && rows.first - (columns.end - 1) >= window;
    if (isAbove || isBehind)
        return 0;
    std::int64_t cells = 0;
    for (std::int64_t m = rows.first; m < rows.end; ++m) {
        const CellRange keys = keysOf(m);
        cells +=
            std::max<std::int64_t>(0, std::min(columns.end, keys.end) - std::max(columns.first, keys.first));
    }
    return cells;
}

ScoreGrid scoreGrid(std::int64_t length, CellRange rows, CellRange columns, std::int64_t pixels)
{
    assert(0 <= rows.first && rows.first < rows.end && rows.end <= length);
    assert(0 <= columns.first && columns.first < columns.end && columns.end <= length && pixels > 0);
    ScoreGrid grid;
    grid.length = length;
    const std::int64_t longer = std::max(rows.end - rows.first, columns.end - columns.first);
    // ⌈L/k⌉ ≤ p is L ≤ k·p.
    grid.block = (longer + pixels - 1) / pixels;
    grid.firstRowBlock = rows.first / grid.block;
    grid.rowBlocks = (rows.end - 1) / grid.block + 1 - grid.firstRowBlock;
    grid.firstColumnBlock = columns.first / grid.block;
    grid.columnBlocks = (columns.end - 1) / grid.block + 1 - grid.firstColumnBlock;
    return grid;
}

std::string_view scorePrecisionName(ScorePrecision precision)
{
    switch (precision) {
    case ScorePrecision::Double:
        return "double";
    case ScorePrecision::Single:
        return "single";
    case ScorePrecision::Tf32:
        return "TF32";
    case ScorePrecision::Bf16:
        return "bfloat16";
    }
    return {};
}

bool mayTake(ScorePath path, const ScoreMapOp& op)
{
    const bool wantsExtremes = !op.least.empty() || !op.greatest.empty();
    switch (path) {
    case ScorePath::Toeplitz:
        // A difference of two softmaxes is a product in each term: its extremes need the cells.
        return isFixed(op) && op.deadQueries.empty() && op.deadKeys.empty() &&
               (op.stage == ScoreStage::Raw ||
                ((op.terms.size() == 1 || !wantsExtremes) && hasSmallSpread(op)));
    case ScorePath::PooledProduct:
        return op.stage == ScoreStage::Raw && !wantsExtremes &&
               std::all_of(op.terms.begin(), op.terms.end(), [](const ScoreTerm& term) {
                   return term.table.empty() && term.dampingRate.empty();
               });
    case ScorePath::Tiles:
        return true;
    }
    return false;
}

ScorePath fastestPath(const ScoreMapOp& op)
{
    for (const ScorePath path : {ScorePath::Toeplitz, ScorePath::PooledProduct})
        if (mayTake(path, op))
            return path;
    return ScorePath::Tiles;
}

} // namespace ropewalk
