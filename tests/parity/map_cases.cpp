// SPDX-License-Identifier: GPL-3.0-or-later
#include "parity.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <tuple>

namespace ropewalk::parity {
namespace {

constexpr long double kNone = std::numeric_limits<long double>::quiet_NaN();

/// A map to make; queries and keys are Gaussian.
struct Case
{
    std::string name;
    std::int64_t length = 1;
    CellRange rows{0, 0}, columns{0, 0}; ///< end 0: all
    std::int64_t pixels = 1 << 20;       ///< one block a cell, unless less
    bool isCausal = true;
    std::int64_t window = 0;
    ScoreStage stage = ScoreStage::Raw;
    ScorePath path = ScorePath::Tiles;
    ScorePrecision precision = ScorePrecision::Single;
    int width = 64, rotary = 64;
    Layout layout = Layout::Half;
    std::vector<double> weights{1.0}; ///< a term each
    bool isTable = false, hasDead = false, hasRowScale = false, isDamped = false;
    bool isTwice = false; ///< run again and again, to the same bits
    std::int64_t stride = 1, offset = 0;
    double scale = 0.125;
};

/// `value` with `bits` of mantissa, to nearest even.
double withMantissa(double value, int bits)
{
    int exponent = 0;
    const double mantissa = std::frexp(value, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits + 1)), exponent - bits - 1);
}

class MapCase
{
public:
    MapCase(const Case& what, unsigned seed)
        : m_case(what)
        , m_random(seed)
    {
        const CellRange rows = what.rows.end ? what.rows : CellRange{0, what.length};
        const CellRange columns = what.columns.end ? what.columns : CellRange{0, what.length};
        m_op.grid = scoreGrid(what.length, rows, columns, what.pixels);
        m_op.grid.isCausal = what.isCausal;
        m_op.grid.window = what.window;
        m_op.stage = what.stage;
        m_op.path = what.path;
        m_op.precision = what.precision;
        m_op.stride = what.stride;
        m_op.offset = what.offset;
        m_rows = m_op.grid.rows();
        m_columns = m_op.grid.columns();
        m_keys = isSoftmax() ? CellRange{0, what.isCausal ? m_rows.end : what.length} : m_columns;
        m_op.firstKey = m_keys.first;
        if (what.hasDead) {
            m_deadQueries = dead(m_rows);
            m_deadKeys = dead(m_keys);
            m_op.deadQueries = m_deadQueries;
            m_op.deadKeys = m_deadKeys;
        }
        m_terms.resize(what.weights.size());
        for (std::size_t t = 0; t < m_terms.size(); ++t)
            fill(m_terms[t], what.weights[t]);
        for (const Term& term : m_terms)
            m_views.push_back(term.view);
        m_op.terms = m_views;
    }

    void run(ComputeBackend& backend, Checks& checks)
    {
        const auto blocks = static_cast<std::size_t>(m_op.grid.rowBlocks * m_op.grid.columnBlocks);
        const bool hasExtremes = m_case.path != ScorePath::PooledProduct;
        std::vector<double> mean(blocks, -7.0), least(hasExtremes ? blocks : 0, -7.0), greatest(least);
        std::vector<double> rowValue(static_cast<std::size_t>(m_rows.end - m_rows.first), -7.0);
        std::vector<std::int64_t> count(blocks, -7);
        m_op.mean = mean;
        m_op.least = least;
        m_op.greatest = greatest;
        m_op.count = count;
        m_op.rowValue = rowValue;
        double progress = 0.0;
        m_op.progress = [&](double share) { progress = share; };
        checks.holds(m_case.name + " may be run", mayTake(m_op.path, m_op) && backend.supports(m_op));
        const Result<void> done = backend.run(m_op, {});
        checks.holds(m_case.name + " ran", done.hasValue());
        if (!done)
            return;
        // Again: as it is, with rows that are named and so stay where they were brought, and from there.
        if (m_case.isTwice) {
            static std::uint64_t lastId = 0;
            const auto first = std::tuple(mean, least, greatest, rowValue);
            const auto isSame = [](const std::vector<double>& a, const std::vector<double>& b) {
                return std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
            };
            for (const char* how : {"", ", named", ", kept"}) {
                if (how == std::string(", named"))
                    for (ScoreTerm& term : m_views) {
                        term.queriesAre.id = ++lastId;
                        term.keysAre.id = ++lastId;
                    }
                for (std::vector<double>* outputs : {&mean, &least, &greatest, &rowValue})
                    std::fill(outputs->begin(), outputs->end(), -7.0);
                checks.holds(m_case.name + " ran again" + how, backend.run(m_op, {}).hasValue());
                checks.holds(m_case.name + " gives the same bits again" + how,
                             isSame(std::get<0>(first), mean) && isSame(std::get<1>(first), least) &&
                                 isSame(std::get<2>(first), greatest) &&
                                 isSame(std::get<3>(first), rowValue));
            }
        }
        if (m_case.path == ScorePath::Tiles && backend.info().name == "cuda")
            checks.holds(m_case.name + " tells its progress", progress == 1.0);

        std::vector<long double> sum(blocks, 0), low(blocks, kNone), high(blocks, kNone), allowed(blocks, 0);
        std::vector<std::int64_t> cells(blocks, 0);
        for (std::int64_t m = m_rows.first; m < m_rows.end; ++m) {
            const Row row = exactRow(m);
            long double rowSum = 0, rowBound = 0;
            std::int64_t seen = 0;
            for (std::int64_t n = m_columns.first; n < m_columns.end; ++n) {
                if (n < row.keys.first || n >= row.keys.end)
                    continue;
                const long double cell = row.cells[static_cast<std::size_t>(n - row.keys.first)];
                if (std::isnan(cell))
                    continue;
                const long double bound = row.bounds[static_cast<std::size_t>(n - row.keys.first)];
                const auto block = static_cast<std::size_t>((m / m_op.grid.block - m_op.grid.firstRowBlock) *
                                                                m_op.grid.columnBlocks +
                                                            n / m_op.grid.block - m_op.grid.firstColumnBlock);
                sum[block] += cell;
                low[block] = std::fmin(low[block], cell);
                high[block] = std::fmax(high[block], cell);
                allowed[block] = std::max(allowed[block], bound);
                ++cells[block];
                rowSum += cell;
                rowBound = std::max(rowBound, bound);
                ++seen;
            }
            const auto at = static_cast<std::size_t>(m - m_rows.first);
            if (isSoftmax())
                checks.near(m_case.name + ", entropy of query " + std::to_string(m), rowValue[at],
                            row.entropy, row.entropyBound);
            else
                checks.near(m_case.name + ", mean of query " + std::to_string(m), rowValue[at],
                            seen ? rowSum / static_cast<long double>(seen) : kNone, rowBound);
        }
        for (std::size_t i = 0; i < blocks; ++i) {
            const std::string where = m_case.name + ", block " + std::to_string(i);
            checks.holds(where + ", count", count[i] == cells[i]);
            checks.near(where + ", mean", mean[i],
                        cells[i] ? sum[i] / static_cast<long double>(cells[i]) : kNone, allowed[i]);
            if (hasExtremes) {
                checks.near(where + ", least", least[i], low[i], allowed[i]);
                checks.near(where + ", greatest", greatest[i], high[i], allowed[i]);
            }
        }
    }

private:
    struct Term
    {
        ScoreTerm view;
        std::vector<std::pair<int, int>> pairs;
        std::vector<double> thetas, rates, queries, keys, rowScale, table;
        std::vector<long double> turnedQueries, turnedKeys; ///< as the precision rounds them
        long double longestQuery = 0, longestKey = 0;       ///< norms
    };

    struct Row
    {
        CellRange keys;                         ///< of those held, that the mask lets through
        std::vector<long double> cells, bounds; ///< of them; NaN where dead
        long double entropy = 0, entropyBound = 0;
    };

    bool isSoftmax() const { return m_case.stage == ScoreStage::Softmax; }
    bool isDouble() const
    {
        return m_case.path != ScorePath::Tiles || m_case.precision == ScorePrecision::Double;
    }

    double uniform(double from, double to)
    {
        return std::uniform_real_distribution<double>(from, to)(m_random);
    }

    std::vector<std::uint8_t> dead(CellRange cells)
    {
        std::vector<std::uint8_t> flags(static_cast<std::size_t>(cells.end - cells.first));
        for (auto& flag : flags)
            flag = uniform(0, 1) < 0.2;
        return flags;
    }

    void fill(Term& term, double weight)
    {
        term.view.weight = weight;
        term.view.scale = m_case.scale;
        const auto rows = static_cast<std::size_t>(m_rows.end - m_rows.first);
        const auto keys = static_cast<std::size_t>(m_keys.end - m_keys.first);
        if (m_case.hasRowScale) {
            for (std::size_t i = 0; i < rows; ++i)
                term.rowScale.push_back(uniform(0.5, 1.5));
            term.view.rowScale = term.rowScale;
        }
        if (m_case.isTable) {
            term.view.firstDistance = m_op.grid.leastDistance() - 2;
            term.table.resize(
                static_cast<std::size_t>(m_op.grid.greatestDistance() - term.view.firstDistance + 1));
            for (double& score : term.table)
                score = uniform(-8.0, 8.0);
            term.view.table = term.table;
            return;
        }
        const auto width = static_cast<std::size_t>(m_case.width);
        term.pairs = pairsOf(m_case.layout, m_case.rotary);
        term.thetas = plainFrequencies(m_case.rotary);
        if (m_case.isDamped)
            for (std::size_t i = 0; i < term.pairs.size(); ++i)
                term.rates.push_back(-0.003 * static_cast<double>(i + 1) /
                                     static_cast<double>(term.pairs.size()));
        term.queries = gaussianNumbers(m_random, rows * width);
        term.keys = gaussianNumbers(m_random, keys * width);
        const auto clear = [&](std::vector<double>& numbers, const std::vector<std::uint8_t>& dead) {
            for (std::size_t i = 0; i < dead.size(); ++i)
                if (dead[i] != 0)
                    std::fill_n(numbers.begin() + static_cast<std::ptrdiff_t>(i * width), width, 0.0);
        };
        clear(term.queries, m_deadQueries);
        clear(term.keys, m_deadKeys);
        term.view.width = m_case.width;
        term.view.pairs = term.pairs;
        term.view.invFreq = term.thetas;
        term.view.dampingRate = term.rates;
        term.view.attentionFactor = m_case.rotary > 0 ? 1.1 : 1.0;
        term.view.queries = term.queries;
        term.view.keys = term.keys;
        term.turnedQueries = turned(term, term.queries, m_rows, term.longestQuery);
        term.turnedKeys = turned(term, term.keys, m_keys, term.longestKey);
    }

    std::vector<long double> turned(const Term& term, const std::vector<double>& rows, CellRange cells,
                                    long double& longest) const
    {
        std::vector<long double> out(rows.begin(), rows.end());
        const auto width = static_cast<std::size_t>(m_case.width);
        for (std::int64_t cell = cells.first; cell < cells.end; ++cell) {
            long double* row = out.data() + static_cast<std::size_t>(cell - cells.first) * width;
            const auto position = static_cast<long double>(cell * m_case.stride + m_case.offset);
            for (std::size_t i = 0; i < term.pairs.size(); ++i) {
                const std::complex<long double> phase = std::polar(
                    static_cast<long double>(term.view.attentionFactor), position * term.thetas[i]);
                const auto a = static_cast<std::size_t>(term.pairs[i].first);
                const auto b = static_cast<std::size_t>(term.pairs[i].second);
                const std::complex<long double> value = std::complex<long double>(row[a], row[b]) * phase;
                row[a] = value.real();
                row[b] = value.imag();
            }
            long double square = 0;
            for (std::size_t c = 0; c < width; ++c) {
                if (mantissa() > 0)
                    row[c] = withMantissa(static_cast<float>(row[c]), mantissa());
                square += row[c] * row[c];
            }
            longest = std::max(longest, std::sqrt(square));
        }
        return out;
    }

    /// Bits that rows are rounded to; 0: not at all.
    int mantissa() const
    {
        if (isDouble() || m_case.precision == ScorePrecision::Single)
            return 0;
        return m_case.precision == ScorePrecision::Tf32 ? 10 : 7;
    }

    /// The error that one logit may have.
    long double scoreBound(const Term& term, long double factor, long double score) const
    {
        const long double step = isDouble() ? 0x1p-53L : 0x1p-24L;
        if (m_case.isTable)
            return 8 * step * std::fabs(score);
        // Rounded rows, of which each number is off by some steps, and a sum of `width` products.
        long double bound = (m_case.width + 24) * step * term.longestQuery * term.longestKey;
        if (isDouble()) // and the angles
            bound += 64 * step * term.longestQuery * term.longestKey *
                     (1 + static_cast<long double>(m_case.length * m_case.stride + m_case.offset));
        // A turned number that lies between two short ones may fall to either, here and there one of a row.
        if (mantissa() > 0 && m_case.rotary > 0)
            bound += 4 * std::ldexp(1.0L, -mantissa()) * term.longestQuery * term.longestKey / 8;
        if (m_case.isDamped)
            bound *= 3;
        return bound * std::fabs(factor);
    }

    bool isDead(std::int64_t m, std::int64_t n) const
    {
        return !m_deadQueries.empty() && (m_deadQueries[static_cast<std::size_t>(m - m_rows.first)] != 0 ||
                                          m_deadKeys[static_cast<std::size_t>(n - m_keys.first)] != 0);
    }

    Row exactRow(std::int64_t m) const
    {
        Row row;
        row.keys = m_keys;
        if (m_case.window > 0)
            row.keys.first = std::max(row.keys.first, m - m_case.window + 1);
        if (m_case.isCausal)
            row.keys.end = std::min(row.keys.end, m + 1);
        row.keys.end = std::max(row.keys.first, row.keys.end);
        const auto keys = static_cast<std::size_t>(row.keys.end - row.keys.first);
        const auto before = static_cast<std::size_t>(row.keys.first - m_keys.first);
        row.cells.assign(keys, kNone);
        row.bounds.assign(keys, 0);
        const auto width = static_cast<std::size_t>(m_case.width);
        const auto at = static_cast<std::size_t>(m - m_rows.first);
        std::vector<long double> logits(keys), bounds(keys);
        for (const Term& term : m_terms) {
            const long double factor =
                static_cast<long double>(term.view.scale) * (term.rowScale.empty() ? 1.0 : term.rowScale[at]);
            long double greatest = -std::numeric_limits<long double>::infinity(), widest = 0;
            for (std::size_t k = 0; k < keys; ++k) {
                const std::int64_t n = row.keys.first + static_cast<std::int64_t>(k);
                logits[k] = kNone;
                if (isDead(m, n))
                    continue;
                long double score = 0;
                if (m_case.isTable) {
                    score = term.table[static_cast<std::size_t>(m - n - term.view.firstDistance)];
                } else if (m_case.isDamped) {
                    for (std::size_t c = 0; c < width; ++c) {
                        const std::size_t pair = c % (width / 2); // these cases are in halves, and turn whole
                        score +=
                            term.turnedQueries[at * width + c] * term.turnedKeys[(before + k) * width + c] *
                            std::exp(static_cast<long double>((m - n) * m_case.stride) * term.rates[pair]);
                    }
                } else {
                    for (std::size_t c = 0; c < width; ++c)
                        score +=
                            term.turnedQueries[at * width + c] * term.turnedKeys[(before + k) * width + c];
                }
                logits[k] = score * factor;
                bounds[k] = scoreBound(term, factor, logits[k]);
                greatest = std::max(greatest, logits[k]);
                widest = std::max(widest, bounds[k]);
            }
            const long double step = isDouble() ? 0x1p-53L : 0x1p-24L;
            const long double weight = std::fabs(static_cast<long double>(term.view.weight));
            long double sum = 0, entropy = kNone;
            if (isSoftmax()) {
                long double weighted = 0;
                for (const long double y : logits)
                    if (!std::isnan(y)) {
                        sum += std::exp(y - greatest);
                        weighted += (y - greatest) * std::exp(y - greatest);
                    }
                if (sum > 0)
                    entropy = std::log(sum) - weighted / sum;
                // dH = -Σ p (ln p + H) dy, and Σ p |ln p + H| ≤ 2H.
                row.entropyBound += weight * (2 * (entropy + 1) * widest + 128 * step * (entropy + 1));
                row.entropy += static_cast<long double>(term.view.weight) * entropy;
            }
            for (std::size_t k = 0; k < keys; ++k) {
                if (std::isnan(logits[k]))
                    continue;
                long double cell = logits[k], bound = bounds[k];
                if (isSoftmax()) {
                    // Of logits y below the greatest one, y·step is lost when the greatest is taken off.
                    const long double depth = std::fabs(logits[k]) + std::fabs(greatest);
                    cell = std::exp(logits[k] - greatest) / sum;
                    bound = cell * (2 * widest + (64 + 4 * depth) * step) + (isDouble() ? 1e-300L : 1e-37L);
                }
                row.cells[k] = (std::isnan(row.cells[k]) ? 0 : row.cells[k]) + term.view.weight * cell;
                row.bounds[k] += weight * (bound + 8 * step * std::fabs(cell));
            }
        }
        return row;
    }

    Case m_case;
    std::mt19937 m_random;
    ScoreMapOp m_op;
    CellRange m_rows, m_columns, m_keys;
    std::vector<std::uint8_t> m_deadQueries, m_deadKeys;
    std::vector<Term> m_terms;
    std::vector<ScoreTerm> m_views;
};

std::vector<Case> cases(bool isSmall)
{
    std::vector<Case> list;
    const auto add = [&](std::string name, const auto& change) {
        Case next;
        next.name = std::move(name);
        change(next);
        list.push_back(std::move(next));
    };
    constexpr ScoreStage kStages[] = {ScoreStage::Raw, ScoreStage::Softmax};
    const auto nameOf = [](ScoreStage stage) { return stage == ScoreStage::Raw ? "raw" : "softmax"; };
    for (const ScoreStage stage : kStages) {
        // Sizes about one and about the edges of a tile and of the threads' parts.
        for (const std::int64_t length : isSmall ? std::vector<std::int64_t>{1, 129}
                                                 : std::vector<std::int64_t>{1, 2, 3, 31, 127, 128, 129, 300})
            for (const std::int64_t pixels : {std::int64_t{1} << 20, std::int64_t{7}}) {
                if (isSmall && length > 1 && pixels > length)
                    continue; // the oracle's numbers, not the kernels', would be many
                add(std::string(nameOf(stage)) + " of " + std::to_string(length), [&](Case& map) {
                    map.length = length;
                    map.pixels = pixels;
                    map.stage = stage;
                    map.width = map.rotary = 8;
                });
            }
        for (const ScorePrecision precision :
             {ScorePrecision::Double, ScorePrecision::Single, ScorePrecision::Tf32, ScorePrecision::Bf16}) {
            if (isSmall && precision == ScorePrecision::Tf32)
                continue;
            const std::string how =
                std::string(nameOf(stage)) + " in " + std::string(scorePrecisionName(precision));
            add(how + ", turned", [&](Case& map) {
                map.length = isSmall ? 20 : 140;
                map.pixels = isSmall ? 5 : 20;
                map.isTwice = true;
                map.stage = stage;
                map.precision = precision;
            });
            // Nothing turns: rounded rows are known to the bit, and the bound is narrow.
            add(how + ", still", [&](Case& map) {
                map.length = isSmall ? 20 : 70;
                map.stage = stage;
                map.precision = precision;
                map.rotary = 0;
            });
            if (isSmall && precision != ScorePrecision::Single)
                continue;
            add(how + ", three terms", [&](Case& map) {
                map.length = isSmall ? 60 : 150;
                map.pixels = isSmall ? 20 : 50;
                map.window = map.length - 10;
                map.stage = stage;
                map.precision = precision;
                map.isTwice = true;
                map.weights = {1.0, -1.0, 0.5};
                map.width = map.rotary = 16;
                map.hasDead = map.hasRowScale = true;
            });
            add(how + ", by distance", [&](Case& map) {
                map.length = isSmall ? 60 : 140;
                map.pixels = 33;
                map.stage = stage;
                map.precision = precision;
                map.isTable = map.hasRowScale = true;
                map.weights = {1.0, -1.0};
            });
        }
        for (const ScorePrecision precision : {ScorePrecision::Double, ScorePrecision::Single})
            if (!isSmall || precision == ScorePrecision::Single)
                add(std::string(nameOf(stage)) + " with damping", [&](Case& map) {
                    map.length = isSmall ? 30 : 260;
                    map.pixels = 26;
                    map.stage = stage;
                    map.precision = precision;
                    map.width = map.rotary = 32;
                    map.isDamped = true;
                    map.stride = 3;
                    map.offset = 1;
                });
        // With the softmax no key comes after the last one that is seen, and the view goes on.
        add(std::string(nameOf(stage)) + " of the first rows", [&](Case& map) {
            map.length = 60;
            map.rows = {3, 20};
            map.isTwice = map.hasDead = true;
            map.stage = stage;
            map.width = map.rotary = 8;
        });
        if (isSmall)
            continue;
        for (const int headDim : {2, 96, 128})
            for (const Layout layout : {Layout::Half, Layout::Interleaved})
                add(std::string(nameOf(stage)) + " of head_dim " + std::to_string(headDim), [&](Case& map) {
                    map.length = 133;
                    map.pixels = 44;
                    map.stage = stage;
                    map.layout = layout;
                    map.width = headDim;
                    map.rotary = headDim == 96 ? 48 : headDim;
                    map.isCausal = layout == Layout::Half;
                });
        for (const std::int64_t window : {std::int64_t{1}, std::int64_t{60}, std::int64_t{200}})
            for (const bool isCausal : {false, true})
                add(std::string(nameOf(stage)) + " in a window of " + std::to_string(window), [&](Case& map) {
                    map.length = 290;
                    map.pixels = 90;
                    map.window = window;
                    map.isCausal = isCausal;
                    map.stage = stage;
                    map.width = map.rotary = 16;
                    map.hasDead = window == 60;
                });
        // Blocks smaller and greater than a tile, a view that begins and ends anywhere.
        for (const std::int64_t pixels : {std::int64_t{3}, std::int64_t{40}, std::int64_t{1000}})
            add(std::string(nameOf(stage)) + " of a part", [&](Case& map) {
                map.length = 700;
                map.rows = {211, 506};
                map.columns = {97, 640};
                map.isTwice = pixels == 40;
                map.pixels = pixels;
                map.stage = stage;
                map.width = map.rotary = 8;
                map.isCausal = pixels != 40;
                map.hasRowScale = true;
            });
        add(std::string(nameOf(stage)) + " of two parts of the keys", [&](Case& map) {
            map.length = 513; // Σ over kKeysAPart and one more
            map.rows = {505, 513};
            map.isTwice = true;
            map.pixels = 16;
            map.stage = stage;
            map.scale = 1.0; // peaked, so that parts differ much
        });
        add(std::string(nameOf(stage)) + " of the last rows of 131072", [&](Case& map) {
            map.length = 131072;
            map.rows = {131068, 131072};
            map.columns = {131000, 131072};
            map.window = 90;
            map.stage = stage;
            map.width = map.rotary = 2;
        });
        // So many columns that a strip has one tile of rows.
        add(std::string(nameOf(stage)) + " in several strips", [&](Case& map) {
            map.length = std::int64_t{1} << 22;
            map.rows = map.columns = {map.length - 300, map.length};
            map.isTwice = true;
            map.pixels = 30;
            map.window = 200;
            map.stage = stage;
            map.width = map.rotary = 8;
            map.isTable = stage == ScoreStage::Softmax; // or all keys would be made
        });
        // The other paths give the same numbers.
        add(std::string(nameOf(stage)) + " along the diagonals", [&](Case& map) {
            map.length = 200;
            map.pixels = 30;
            map.stage = stage;
            map.isTable = true;
            map.path = ScorePath::Toeplitz;
        });
    }
    if (!isSmall)
        add("means by products of means", [&](Case& map) {
            map.length = 200;
            map.pixels = 30;
            map.path = ScorePath::PooledProduct;
        });
    return list;
}

} // namespace

void mapCases(ComputeBackend& backend, Checks& checks, bool isSmall)
{
    unsigned seed = 100;
    for (const Case& map : cases(isSmall))
        MapCase(map, ++seed).run(backend, checks);
}

} // namespace ropewalk::parity
