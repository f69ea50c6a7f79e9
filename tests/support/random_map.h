// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Score maps of random shape and content, and their numbers from the definition in long double.

#include "core/score_map.h"
#include "tests/support/cpu_levels.h"
#include "tests/support/random_config.h"

#include <QString>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace ropewalk::test {

/// Where the results of one run go.
struct Outputs
{
    std::vector<double> mean, least, greatest, rowValue;
    std::vector<std::int64_t> count;

    explicit Outputs(const ScoreGrid& grid, bool wantsExtremes = true)
        : mean(static_cast<std::size_t>(grid.rowBlocks * grid.columnBlocks), -7.0)
        , least(wantsExtremes ? mean.size() : 0, -7.0)
        , greatest(least)
        , rowValue(static_cast<std::size_t>(grid.rows().end - grid.rows().first), -7.0)
        , count(mean.size(), -7)
    {
    }
    void giveTo(ScoreMapOp& op)
    {
        op.mean = mean;
        op.least = least;
        op.greatest = greatest;
        op.rowValue = rowValue;
        op.count = count;
    }
};

inline Outputs runOn(ScorePath path, ScoreMapOp op, bool wantsExtremes)
{
    Outputs outputs(op.grid, wantsExtremes);
    outputs.giveTo(op);
    op.path = path;
    if (!mayTake(path, op))
        qFatal("the path may not be taken");
    if (!makeTestedBackend()->run(op, {}))
        qFatal("the processor could not compute the map");
    return outputs;
}

/// A random map with everything that it needs kept alive.
struct RandomMap
{
    struct Term
    {
        std::vector<std::pair<int, int>> pairs;
        std::vector<double> theta, rate, queries, keys, table, rowScale;
        std::vector<std::complex<double>> h;
        double still = 0.0;
    };
    std::vector<Term> parts;
    std::vector<ScoreTerm> terms;
    std::vector<std::uint8_t> deadQueries, deadKeys;
    ScoreMapOp op;
    bool isFixed = false;

    explicit RandomMap(std::mt19937& random, std::int64_t longest = 70)
    {
        const auto whole = [&](std::int64_t from, std::int64_t to) {
            return std::uniform_int_distribution<std::int64_t>(from, to)(random);
        };
        const auto real = [&](double from, double to) {
            return std::uniform_real_distribution<double>(from, to)(random);
        };
        const auto range = [&](std::int64_t length) {
            const std::int64_t first = whole(0, 2) == 0 ? 0 : whole(0, length - 1);
            return CellRange{first, first == 0 && whole(0, 2) ? length : whole(first + 1, length)};
        };
        const std::int64_t length = whole(0, 9) == 0 ? whole(1, 3) : whole(1, longest);
        op.grid = scoreGrid(length, range(length), range(length), whole(1, 20));
        op.grid.isCausal = whole(0, 2) > 0;
        op.grid.window = whole(0, 2) == 0 ? whole(1, length + 3) : 0;
        op.stage = whole(0, 1) ? ScoreStage::Raw : ScoreStage::Softmax;
        isFixed = whole(0, 1) == 0;
        if (whole(0, 3) == 0) {
            op.stride = whole(1, 5);
            op.offset = whole(0, 3);
        }
        const CellRange rows = op.grid.rows(), columns = op.grid.columns();
        const auto rowCount = static_cast<std::size_t>(rows.end - rows.first);
        op.firstKey = op.stage == ScoreStage::Softmax ? 0 : columns.first;
        const std::int64_t keyCount = op.stage == ScoreStage::Softmax ? length : columns.end - columns.first;
        if (!isFixed && whole(0, 3) == 0) {
            for (std::size_t i = 0; i < rowCount; ++i)
                deadQueries.push_back(whole(0, 4) == 0);
            for (std::int64_t i = 0; i < keyCount; ++i)
                deadKeys.push_back(whole(0, 4) == 0);
        }
        const auto count = static_cast<std::size_t>(whole(1, 3));
        parts.resize(count);
        terms.resize(count);
        for (std::size_t t = 0; t < count; ++t) {
            Term& part = parts[t];
            ScoreTerm& term = terms[t];
            term.weight = t == 0 || whole(0, 1) ? 1.0 : -1.0;
            term.scale = real(0.1, 2.0);
            term.width = 2 * static_cast<int>(whole(1, 5));
            term.attentionFactor = real(0.8, 1.4);
            const bool isDamped = op.grid.isCausal && whole(0, 2) == 0;
            for (int pair = 0; pair < term.width / 2; ++pair) {
                if (whole(0, 3) == 0)
                    continue; // still
                part.pairs.emplace_back(pair, pair + term.width / 2);
                part.theta.push_back(std::exp(real(-7.0, 0.0)));
                if (isDamped)
                    part.rate.push_back(-real(0.0, 0.02));
            }
            if (whole(0, 2) == 0)
                for (std::size_t i = 0; i < rowCount; ++i)
                    part.rowScale.push_back(real(0.5, 2.0));
            if (isFixed) {
                term.firstDistance = op.grid.leastDistance() - whole(0, 2);
                part.table.resize(static_cast<std::size_t>(length - term.firstDistance));
                for (double& score : part.table)
                    score = real(-3.0, 3.0);
            } else {
                part.queries = randomRow(random, static_cast<int>(rowCount) * term.width);
                part.keys = randomRow(random, static_cast<int>(keyCount) * term.width);
                const auto clear = [&](std::vector<double>& values, const std::vector<std::uint8_t>& dead) {
                    for (std::size_t i = 0; i < dead.size(); ++i)
                        if (dead[i])
                            std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(i) * term.width,
                                        term.width, 0.0);
                };
                clear(part.queries, deadQueries);
                clear(part.keys, deadKeys);
            }
            term.pairs = part.pairs;
            term.invFreq = part.theta;
            term.dampingRate = part.rate;
            term.queries = part.queries;
            term.keys = part.keys;
            term.table = part.table;
            term.rowScale = part.rowScale;
        }
        op.terms = terms;
        op.deadQueries = deadQueries;
        op.deadKeys = deadKeys;
    }

    bool isVisible(std::int64_t m, std::int64_t n) const
    {
        return (!op.grid.isCausal || n <= m) && (op.grid.window == 0 || m - n < op.grid.window);
    }
    bool isDead(std::int64_t m, std::int64_t n) const
    {
        const auto row = static_cast<std::size_t>(m - op.grid.rows().first);
        return !deadQueries.empty() &&
               (deadQueries[row] || deadKeys[static_cast<std::size_t>(n - op.firstKey)]);
    }

    /// The score of one term from its definition.
    long double score(const ScoreTerm& term, std::int64_t m, std::int64_t n) const
    {
        const auto row = static_cast<std::size_t>(m - op.grid.rows().first);
        long double value = 0;
        if (!term.table.empty()) {
            value = term.table[static_cast<std::size_t>(m - n - term.firstDistance)];
        } else {
            const double* q = term.queries.data() + static_cast<std::ptrdiff_t>(row) * term.width;
            const double* k = term.keys.data() + (n - op.firstKey) * term.width;
            std::vector<bool> turns(static_cast<std::size_t>(term.width));
            for (std::size_t i = 0; i < term.pairs.size(); ++i) {
                const auto [a, b] = term.pairs[i];
                using Complex = std::complex<long double>;
                const long double distance = static_cast<long double>((m - n) * op.stride);
                const Complex h = Complex(q[a], q[b]) * std::conj(Complex(k[a], k[b]));
                const long double damping =
                    term.dampingRate.empty() ? 1.0L : std::exp(distance * term.dampingRate[i]);
                value += static_cast<long double>(term.attentionFactor) * term.attentionFactor * damping *
                         (h * std::polar(1.0L, distance * term.invFreq[i])).real();
                turns[static_cast<std::size_t>(a)] = turns[static_cast<std::size_t>(b)] = true;
            }
            for (int channel = 0; channel < term.width; ++channel)
                if (!turns[static_cast<std::size_t>(channel)])
                    value += static_cast<long double>(q[channel]) * k[channel];
        }
        return value * term.scale * (term.rowScale.empty() ? 1.0L : term.rowScale[row]);
    }

    struct Row
    {
        std::vector<long double> cells; ///< of all keys; NaN where hidden or dead
        long double entropy = 0;
    };

    Row row(std::int64_t m) const
    {
        const long double nan = std::numeric_limits<long double>::quiet_NaN();
        Row result;
        result.cells.assign(static_cast<std::size_t>(op.grid.length), nan);
        const bool isSoftmax = op.stage == ScoreStage::Softmax;
        const CellRange columns = op.grid.columns();
        for (const ScoreTerm& term : terms) {
            std::vector<long double> cells(result.cells.size(), nan);
            long double greatest = -std::numeric_limits<long double>::infinity(), sum = 0;
            for (std::int64_t n = isSoftmax ? 0 : columns.first;
                 n < (isSoftmax ? op.grid.length : columns.end); ++n)
                if (isVisible(m, n) && !isDead(m, n)) {
                    cells[static_cast<std::size_t>(n)] = score(term, m, n);
                    greatest = std::max(greatest, cells[static_cast<std::size_t>(n)]);
                }
            if (isSoftmax) {
                for (long double& cell : cells)
                    if (!std::isnan(cell))
                        sum += cell = std::exp(cell - greatest);
                long double entropy = sum > 0 ? 0 : nan;
                for (long double& cell : cells)
                    if (!std::isnan(cell)) {
                        cell /= sum;
                        entropy -= cell > 0 ? cell * std::log(cell) : 0;
                    }
                result.entropy += term.weight * entropy;
            }
            for (std::size_t n = 0; n < cells.size(); ++n)
                if (!std::isnan(cells[n]))
                    result.cells[n] =
                        (std::isnan(result.cells[n]) ? 0 : result.cells[n]) + term.weight * cells[n];
        }
        return result;
    }

    Outputs exact() const
    {
        Outputs outputs(op.grid);
        const CellRange rows = op.grid.rows(), columns = op.grid.columns();
        std::vector<long double> sums(outputs.mean.size());
        std::fill(outputs.count.begin(), outputs.count.end(), 0);
        std::fill(outputs.least.begin(), outputs.least.end(), std::nan(""));
        outputs.greatest = outputs.mean = outputs.least;
        for (std::int64_t m = rows.first; m < rows.end; ++m) {
            const Row cells = row(m);
            long double sum = 0;
            int count = 0;
            for (std::int64_t n = columns.first; n < columns.end; ++n) {
                const long double cell = cells.cells[static_cast<std::size_t>(n)];
                if (std::isnan(cell))
                    continue;
                const auto block = static_cast<std::size_t>((m / op.grid.block - op.grid.firstRowBlock) *
                                                                op.grid.columnBlocks +
                                                            n / op.grid.block - op.grid.firstColumnBlock);
                sum += cell;
                ++count;
                sums[block] += cell;
                ++outputs.count[block];
                const auto value = static_cast<double>(cell);
                outputs.least[block] = std::fmin(outputs.least[block], value);
                outputs.greatest[block] = std::fmax(outputs.greatest[block], value);
            }
            outputs.rowValue[static_cast<std::size_t>(m - rows.first)] =
                static_cast<double>(op.stage == ScoreStage::Softmax ? cells.entropy : sum / count);
        }
        for (std::size_t i = 0; i < sums.size(); ++i)
            if (outputs.count[i] > 0)
                outputs.mean[i] = static_cast<double>(sums[i] / outputs.count[i]);
        return outputs;
    }
};

/// NaN where the other is NaN, else within `tolerance`.
inline QString difference(const std::vector<double>& actual, const std::vector<double>& expected,
                          double tolerance)
{
    if (actual.size() != expected.size())
        return QStringLiteral("%1 numbers, expected %2").arg(actual.size()).arg(expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i)
        if (std::isnan(actual[i]) != std::isnan(expected[i]) ||
            !(std::isnan(actual[i]) || std::fabs(actual[i] - expected[i]) <= tolerance))
            return QStringLiteral("at %1: %2, expected %3")
                .arg(i)
                .arg(actual[i], 0, 'g', 17)
                .arg(expected[i], 0, 'g', 17);
    return {};
}

} // namespace ropewalk::test
