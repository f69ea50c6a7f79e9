// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The launchers of the kernels: plain C++17, no CUDA types. Pointers are device memory unless said. A
// launcher returns at once; what went wrong shows in the runtime's last error. Real is float or double.

#include <cstdint>

namespace ropewalk::kernels {

// ----------------------------------------------------------------------------------------- tables, rotation

/// cos and sin, times `factor`, of (position + row·stride)·invFreq: [rows × pairs] each. The angle is a
/// double, and brought into a turn before it becomes a float.
template<class Real>
void launchTurnTable(const double* invFreq, int pairs, double position, double stride, std::int64_t rows,
                     double factor, Real* cosine, Real* sine);

/// What the channels of a row do.
struct RowLayout
{
    int width = 0;              ///< channels of a row that is read
    int outWidth = 0;           ///< of one that is written, ≥ width; the channels past `width` become 0
    const int* pairs = nullptr; ///< [2 × pairCount]: channel a, channel b
    int pairCount = 0;          ///< that turn
    const int* still = nullptr; ///< [stillCount]: all other channels
    int stillCount = 0;
};

/// Rounding of what is written, to nearest even.
enum class Rounding { None, Tf32, Bf16 };

/// Rotates rows [rows × width] by the table's row row/heads (RoFormer, arXiv:2104.09864, equation 34). `out`
/// may be `in` itself where type and width are the same. In is float or double.
template<class In, class Real>
void launchRotateRows(const In* in, Real* out, std::int64_t rows, int heads, const RowLayout& layout,
                      const Real* cosine, const Real* sine, Rounding rounding);

/// q_a·k_a + q_b·k_b of each pair [2 × count] of one query and one key.
void launchPairContributions(const int* pairs, int count, const double* query, const double* key,
                             double* contribution);

// --------------------------------------------------------------------------------------------- distances

/// ropewalk::DistanceTableOp over the distances first, first+1, …
struct DistanceSums
{
    const double *re = nullptr, *im = nullptr, *invFreq = nullptr; ///< [pairs]
    const double* dampingRate = nullptr;                           ///< [pairs], or null
    int pairs = 0;
    double attentionFactor = 1.0, still = 0.0;
};
void launchDistanceTable(const DistanceSums& sums, std::int64_t first, std::int64_t count, double* table);

/// ropewalk::DecayOp over first, first+1, … or over `distances`. Outputs that are null are not computed.
struct DecaySums
{
    const double* invFreq = nullptr;     ///< [pairs], of those that turn
    const double* dampingRate = nullptr; ///< [pairs], or null
    int pairs = 0, stillPairs = 0;
    double attentionFactor = 1.0, rho = 1.0;
    std::int64_t first = 0;
    const double* distances = nullptr;
    double *similarMean = nullptr, *similarSd = nullptr, *independentSd = nullptr;
    double *cosineSum = nullptr, *boundFactor = nullptr;
};
void launchDecay(const DecaySums& sums, std::int64_t count);

// ------------------------------------------------------------------------------------------------ scores

/// Channels a step of the product takes; widths of rows are multiples of it.
inline constexpr int kProductDepth = 8;
/// Cells a side of a tile.
inline constexpr int kScoreTile = 128;
/// Keys of one partial result of the rows' statistics.
inline constexpr int kKeysAPart = 512;

/// One term of a map, on the device. Either queries and keys, or a table.
template<class Real>
struct TermView
{
    const Real* queries = nullptr;   ///< [rows in view × width], rotated, 16-byte aligned
    const Real* keys = nullptr;      ///< [keys × width], from MapView::firstKey on
    int width = 0;                   ///< a multiple of kProductDepth; 0: the table
    const double* damping = nullptr; ///< [width], ln a cell; null: none
    const double* table = nullptr;   ///< by distance, from firstDistance on
    std::int64_t firstDistance = 0;
    const Real* rowFactor = nullptr; ///< [rows in view]: scale · τ
    Real weight = 1;
};

/// The terms of a map, one after another on the device.
template<class Real>
struct TermList
{
    const TermView<Real>* terms = nullptr;
    int count = 0;
    bool isPlain = false; ///< one term, of queries and keys without damping: what is to be fast
};

/// Which cells there are: ropewalk::ScoreGrid, on the device.
struct MapView
{
    std::int64_t length = 1, window = 0;
    bool isCausal = true;
    std::int64_t firstRow = 0;                   ///< in view
    std::int64_t firstKey = 0, endKey = 1;       ///< that are held
    std::int64_t firstColumn = 0, endColumn = 1; ///< in view, cells
    std::int64_t block = 1;                      ///< cells a side
    std::int64_t firstRowBlock = 0, firstColumnBlock = 0, columnBlocks = 1;
    const std::uint8_t* deadQueries = nullptr; ///< [rows in view], or null
    const std::uint8_t* deadKeys = nullptr;    ///< [keys], or null
    const std::int32_t* deadBefore = nullptr;  ///< [keys + 1]: how many dead ones come before
};

/// Rows first … end-1 of the matrix, which one launch computes.
struct Strip
{
    std::int64_t first = 0, end = 0;
};

/// Statistics of parts of rows, [terms × parts × rows of the strip]: the greatest logit g, Σe and Σ(y-g)e of
/// e = e^(y-g). -infinity, 0, 0 where no key is seen.
template<class Real>
struct RowParts
{
    Real* greatest = nullptr;
    double *sum = nullptr, *weighted = nullptr;
};
/// Of whole rows, [terms × rows of the strip].
template<class Real>
struct RowTotals
{
    Real *greatest = nullptr, *inverseSum = nullptr;
};

/// The parts of the rows of a strip: ⌈keys/kKeysAPart⌉ each.
template<class Real>
void launchRowParts(const MapView& map, const TermList<Real>& terms, Strip strip,
                    const RowParts<Real>& parts);
/// `entropy`: [rows in view], nats, weighted and added up over the terms; NaN where no key is seen. May be
/// null.
template<class Real>
void launchRowTotals(const MapView& map, const TermList<Real>& terms, Strip strip,
                     const RowParts<Real>& parts, const RowTotals<Real>& totals, double* entropy);

/// Cells of a strip added up within each row and column of blocks: [rows of the strip × columnBlocks]. Where
/// a row sees no key of a block nothing is written.
template<class Real>
struct PooledRows
{
    double* sum = nullptr;
    Real *least = nullptr, *greatest = nullptr;
};
/// `totals` null: raw scores, else their softmax.
template<class Real>
void launchPooledRows(const MapView& map, const TermList<Real>& terms, Strip strip,
                      const RowTotals<Real>* totals, const PooledRows<Real>& pooled);

/// What blocks gathered so far: [row blocks × columnBlocks]; begins with 0, +infinity, -infinity, 0.
template<class Real>
struct Blocks
{
    double* sum = nullptr;
    Real *least = nullptr, *greatest = nullptr;
    std::int64_t* count = nullptr;
};
template<class Real>
void launchClearBlocks(const Blocks<Real>& blocks, std::int64_t count);
template<class Real>
void launchGatherBlocks(const MapView& map, Strip strip, const PooledRows<Real>& pooled,
                        const Blocks<Real>& blocks);
/// Mean of each row over its keys in view, [rows in view]; NaN where there is none.
template<class Real>
void launchRowMeans(const MapView& map, Strip strip, const PooledRows<Real>& pooled, double* mean);

/// cells[m × keys + n] = q_m·k_n of rows [rows × width] and [keys × width]: the product alone, which is
/// measured against a library's.
template<class Real>
void launchProduct(const Real* queries, std::int64_t rows, const Real* keyRows, std::int64_t keys, int width,
                   Real* cells);

// ------------------------------------------------------------------------------------ colours, precision

/// Numbers into colours: the one of 256 at (value - lower)·256/(upper - lower), beyond the ends the ends'.
template<class Real>
void launchColours(const Real* values, std::int64_t count, double lower, double upper,
                   const std::uint32_t* palette, std::uint32_t notANumber, std::uint32_t* colours);

/// How an engine forms an angle: ropewalk::PrecisionMode, in its order.
enum class AngleMode { Float32, RunningProduct, GgmlCuda, Bf16Positions, Bf16Theta, Bf16All, Fp16All };

/// Angles [positions × pairs], rad, not reduced, of the positions first, first+1, … in a mode. `theta`:
/// [pairs], rad/token. The modes of a series take p·start·ratio^pair instead, divided by `divisor` where it
/// is not null.
struct RoundedAngleTable
{
    AngleMode mode = AngleMode::Float32;
    const double* theta = nullptr;
    int pairs = 0;
    float start = 1.0F, ratio = 1.0F;
    const float* divisor = nullptr; ///< [pairs]
    std::int64_t first = 0;
};
void launchRoundedAngles(const RoundedAngleTable& table, std::int64_t positions, double* angles);

} // namespace ropewalk::kernels
