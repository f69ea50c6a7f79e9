// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A map of scores over query and key positions, pooled to blocks, as operations of a backend. Every path
// gives the same numbers; they differ in what they may use.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

namespace ropewalk {

/// Positions first, first+1, … end-1.
struct CellRange
{
    std::int64_t first = 0, end = 0;
};

/// The cells (m, n), 0 ≤ m, n < length, which of them a query sees, and the blocks of block × block cells in
/// view. Blocks are aligned to cell 0 of the matrix; the last one of a row or column may be smaller.
struct ScoreGrid
{
    std::int64_t length = 1; ///< N, tokens
    std::int64_t block = 1;  ///< k, cells a side
    std::int64_t firstRowBlock = 0, rowBlocks = 1;
    std::int64_t firstColumnBlock = 0, columnBlocks = 1;
    bool isCausal = true;    ///< n ≤ m only
    std::int64_t window = 0; ///< and m - n < window; 0: no window

    CellRange rows() const { return {firstRowBlock * block, end(firstRowBlock + rowBlocks)}; }
    CellRange columns() const { return {firstColumnBlock * block, end(firstColumnBlock + columnBlocks)}; }
    CellRange rowsOf(std::int64_t rowBlock) const ///< counted from the first one in view
    {
        return {(firstRowBlock + rowBlock) * block, end(firstRowBlock + rowBlock + 1)};
    }
    CellRange columnsOf(std::int64_t columnBlock) const
    {
        return {(firstColumnBlock + columnBlock) * block, end(firstColumnBlock + columnBlock + 1)};
    }
    /// The keys that the query at `m` sees.
    CellRange keysOf(std::int64_t m) const
    {
        return {window > 0 ? std::max<std::int64_t>(0, m - window + 1) : 0, isCausal ? m + 1 : length};
    }
    /// Of the distances m - n the least and the greatest that are visible anywhere.
    std::int64_t leastDistance() const { return isCausal ? 0 : 1 - length; }
    std::int64_t greatestDistance() const { return window > 0 ? std::min(window, length) - 1 : length - 1; }
    /// The visible cells of a block: |block ∩ V|.
    std::int64_t visibleCells(CellRange rows, CellRange columns) const;
    bool isWhollyVisible(CellRange rows, CellRange columns) const;

private:
    std::int64_t end(std::int64_t endBlock) const { return std::min(endBlock * block, length); }
};

/// The grid whose blocks hold the cells `rows` × `columns` (not empty, within the length): the block is the
/// smallest whole number with ⌈L/k⌉ ≤ pixels, L the longer side in cells.
ScoreGrid scoreGrid(std::int64_t length, CellRange rows, CellRange columns, std::int64_t pixels);

/// Raw scores, or the softmax of each query's row over the keys that it sees.
enum class ScoreStage { Raw, Softmax };

/// How the cells of a map are come by.
enum class ScorePath {
    Toeplitz,      ///< from a table over the distance: O(N) raw, O(N²/k) for the softmax's row sums
    PooledProduct, ///< the mean of a block is the product of the means of its queries and keys
    Tiles          ///< every cell, in tiles that are pooled and forgotten
};

/// What the cells of a map that is computed in tiles are computed in. Angles, tables over the distance, sums
/// over a block or a row and the outputs are double in each.
enum class ScorePrecision {
    Double,
    Single, ///< float32 rows, products and exponentials
    Tf32,   ///< as Single, rows rounded to 10 bits of mantissa before the product: what a model in TF32 sees
    Bf16    ///< as Single, rows rounded to 7 bits
};

/// "double", "single", "TF32", "bfloat16".
std::string_view scorePrecisionName(ScorePrecision precision);

/// Which rows some queries or keys are, for a backend that keeps them from map to map.
struct RowsIdentity
{
    std::uint64_t id = 0;   ///< names rows whose numbers and width never change; 0: unknown, never kept
    std::int64_t first = 0; ///< the first row of the queries or keys, counted in what `id` names
};

/// One score whose cells a map adds up: weight·cell, where the cell is score·scale·rowScale, or the softmax
/// of that. Either a table over the distance, or queries and keys.
struct ScoreTerm
{
    double weight = 1.0;
    double scale = 1.0;               ///< 1, 1/head_dim, or κ
    std::span<const double> rowScale; ///< of each query in view (τ); empty: 1

    std::span<const double> table;  ///< score by distance, from `firstDistance` on; empty: the rows below
    std::int64_t firstDistance = 0; ///< not above the grid's least distance

    int width = 0;                              ///< channels of a row
    std::span<const std::pair<int, int>> pairs; ///< channels of the pairs that turn
    std::span<const double> invFreq;            ///< θ', rad/token, one a pair; none of them 0
    std::span<const double> dampingRate; ///< xPos, per token, one a pair; empty: none. Causal maps only
    double attentionFactor = 1.0;        ///< A, on the pairs that turn
    std::span<const double> queries;     ///< [rows in view × width], before rotation
    std::span<const double> keys;        ///< [keys × width], from ScoreMapOp::firstKey on
    RowsIdentity queriesAre, keysAre;
};

/// Scores over (m, n), pooled (RoFormer, arXiv:2104.09864, equation 16; softmax: arXiv:1706.03762, equation
/// 1). A block uses its visible cells and no others; where it has none mean, least and greatest are NaN.
/// Outputs are row by row over the blocks in view; those whose span is empty are not computed.
struct ScoreMapOp
{
    ScoreGrid grid;
    ScoreStage stage = ScoreStage::Raw;
    ScorePath path = ScorePath::Tiles;                 ///< one that mayTake allows
    ScorePrecision precision = ScorePrecision::Double; ///< of the tiles; the other paths are double always
    std::span<const ScoreTerm> terms;
    /// Queries in view and keys that are left out, 1 each, because they were not finite (their rows hold
    /// zeros instead); empty: none.
    std::span<const std::uint8_t> deadQueries, deadKeys;
    /// Of `keys` and `deadKeys`, which go to the end of the columns in view. Softmax: 0, and they go to the
    /// last key that a query in view sees.
    std::int64_t firstKey = 0;
    /// Cell index i stands for position i·stride + offset; above 1 in previews, which sample.
    std::int64_t stride = 1, offset = 0;
    /// Called between strips of rows with the share of the work that is done, 0..1; empty: nobody asks.
    std::function<void(double)> progress;

    std::span<double> mean;        ///< Σ cells/count
    std::span<double> least;       ///< minimum, equal to the bit on every path
    std::span<double> greatest;    ///< maximum
    std::span<std::int64_t> count; ///< visible cells of the block
    /// One number a query in view: the mean over its visible keys in view, or with the softmax the entropy of
    /// its whole row in nats, weighted and added up over the terms. NaN where there is no such key.
    std::span<double> rowValue;
};

/// Whether `path` gives this map's numbers.
bool mayTake(ScorePath path, const ScoreMapOp& op);
/// The fastest path that may be taken.
ScorePath fastestPath(const ScoreMapOp& op);

/// The score of one q and one k over consecutive distances: g(r) = A²·Σ e^(r·rate)·Re(h_i e^{jrθ_i}) + still
/// (RoFormer, arXiv:2104.09864, equation 12), h_i = q_i·conj(k_i).
struct DistanceTableOp
{
    std::span<const double> re, im;      ///< h of the pairs that turn
    std::span<const double> invFreq;     ///< θ', rad/token
    std::span<const double> dampingRate; ///< xPos, per token; empty: none
    double attentionFactor = 1.0;        ///< A
    double still = 0.0;                  ///< Σ Re h over the pairs that stay
    std::int64_t firstDistance = 0;      ///< tokens
    std::span<double> table;             ///< at firstDistance, +1, +2, …
};

} // namespace ropewalk
