// SPDX-License-Identifier: GPL-3.0-or-later
#include "buffers.h"
#include "compute_rows.h"
#include "core/cpu_backend.h"
#include "core/cpu_workers.h"
#include "core/kernels/kernels.h"
#include "core/rope_math.h"
#include "fma_peak.h"
#include "peer_product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace ropewalk::bench {
namespace {

constexpr std::int64_t kLength = 4096;
constexpr std::int64_t kBlocks = 1024;
constexpr int kWidth = 128;

std::string text(const char* format, double a)
{
    char buffer[120];
    std::snprintf(buffer, sizeof buffer, format, a);
    return buffer;
}

/// A map of 4096² scores, pooled to 1024² blocks, without a mask.
struct Maps
{
    std::vector<double> theta, re, im;
    std::vector<std::pair<int, int>> pairs;
    Buffer<double> queries{kLength * kWidth}, keys{kLength * kWidth}, table{2 * kLength - 1};
    Buffer<double> mean{kBlocks * kBlocks}, greatest{kBlocks * kBlocks}, rowValue{kLength};
    std::array<ScoreTerm, 1> random, fixed;
    ScoreGrid grid = scoreGrid(kLength, {0, kLength}, {0, kLength}, kBlocks);

    Maps()
    {
        for (int pair = 0; pair < kWidth / 2; ++pair) {
            theta.push_back(plainTheta(1e4, pair, kWidth));
            pairs.emplace_back(pair, pair + kWidth / 2);
            re.push_back(std::cos(0.1 * pair));
            im.push_back(std::sin(0.1 * pair));
        }
        queries.fillAtRandom(5);
        keys.fillAtRandom(6);
        grid.isCausal = false;
        random[0].scale = 1.0 / std::sqrt(kWidth);
        random[0].width = kWidth;
        random[0].pairs = pairs;
        random[0].invFreq = theta;
        random[0].queries = queries.span();
        random[0].keys = keys.span();
        fixed[0].table = table.span();
        fixed[0].firstDistance = 1 - kLength;
    }

    DistanceTableOp distances()
    {
        DistanceTableOp op;
        op.re = re;
        op.im = im;
        op.invFreq = theta;
        op.firstDistance = 1 - kLength;
        op.table = table.span();
        return op;
    }

    ScoreMapOp map(std::span<const ScoreTerm> terms, ScoreStage stage, ScorePath path)
    {
        ScoreMapOp op;
        op.grid = grid;
        op.stage = stage;
        op.path = path;
        op.precision = ScorePrecision::Single;
        op.terms = terms;
        op.mean = mean.span();
        return op;
    }

    /// The definition, `rows` of them: turned by cosf and sinf for each cell, pooled as they come.
    void naiveRows(std::int64_t rows)
    {
        for (std::int64_t m = 0; m < rows; ++m)
            for (std::int64_t n = 0; n < kLength; ++n) {
                float sum = 0.0F;
                for (std::size_t i = 0; i < theta.size(); ++i) {
                    const auto [a, b] = pairs[i];
                    const auto row = static_cast<std::size_t>(m * kWidth),
                               column = static_cast<std::size_t>(n * kWidth);
                    const auto angle = static_cast<float>(static_cast<double>(m - n) * theta[i]);
                    const float c = std::cos(angle), s = std::sin(angle);
                    const auto qa = static_cast<float>(queries[row + static_cast<std::size_t>(a)]),
                               qb = static_cast<float>(queries[row + static_cast<std::size_t>(b)]),
                               ka = static_cast<float>(keys[column + static_cast<std::size_t>(a)]),
                               kb = static_cast<float>(keys[column + static_cast<std::size_t>(b)]);
                    sum += (qa * ka + qb * kb) * c + (qb * ka - qa * kb) * s;
                }
                mean[static_cast<std::size_t>(m / 4 * kBlocks + n / 4)] += static_cast<double>(sum);
            }
        keep(mean[0]);
    }

    /// The product row by row on one thread, each row through the softmax, pooled.
    void naiveSoftmaxRows(std::int64_t rows, Buffer<float>& row)
    {
        for (std::int64_t m = 0; m < rows; ++m) {
            for (std::int64_t n = 0; n < kLength; ++n) {
                float sum = 0.0F;
                for (std::int64_t c = 0; c < kWidth; ++c)
                    sum += static_cast<float>(queries[static_cast<std::size_t>(m * kWidth + c)]) *
                           static_cast<float>(keys[static_cast<std::size_t>(n * kWidth + c)]);
                row[static_cast<std::size_t>(n)] = sum;
            }
            const float most = *std::max_element(row.data(), row.data() + kLength);
            double total = 0.0;
            double entropy = 0.0;
            for (float& value : row.span())
                total += value = std::exp(value - most);
            for (std::int64_t n = 0; n < kLength; ++n) {
                const double p = row[static_cast<std::size_t>(n)] / total;
                if (p > 0.0)
                    entropy -= p * std::log(p);
                const auto block = static_cast<std::size_t>(m / 4 * kBlocks + n / 4);
                mean[block] += p;
                greatest[block] = std::max(greatest[block], p);
            }
            rowValue[static_cast<std::size_t>(m)] = entropy;
        }
        keep(rowValue[0]);
    }
};

void must(const Result<void>& done)
{
    if (!done) {
        std::fprintf(stderr, "error: the processor could not compute a map\n");
        std::abort();
    }
}

void finish(Report& report, Row row, std::span<const Measured> measured, bool isMet, const std::string& far)
{
    row.met = isMet;
    const auto add = [&](const std::string& more) {
        if (!more.empty())
            row.note += (row.note.empty() ? "" : "; ") + more;
    };
    if (!isMet)
        add(far);
    add(Report::sharedNote(measured));
    report.add(std::move(row));
}

} // namespace

void measureMaps(Report& report, const Effort& effort)
{
    const std::vector<CpuLevel> levels = availableCpuLevels();
    const CpuLevel level = levels.empty() ? CpuLevel::Generic : levels.back();
    const int threads = std::min(2, CpuWorkers::hardwareThreads());
    const CpuKernels& kernels = cpuKernels(level);
    const auto backend = makeCpuBackend({level, threads});
    const std::string onThreads = std::to_string(threads) + (threads > 1 ? " threads" : " thread");
    report.beginGroup("Maps of scores, " + onThreads);
    Maps maps;
    Buffer<std::uint32_t> image(kBlocks * kBlocks), screen(1920 * 1080), palette(256, 0xFF808080U);

    const ScoreMapOp tilesOfAll = maps.map(maps.random, ScoreStage::Raw, ScorePath::Tiles);
    {
        const DistanceTableOp table = maps.distances();
        const ScoreMapOp map = maps.map(maps.fixed, ScoreStage::Raw, ScorePath::Toeplitz);
        const auto colour = [&] {
            kernels.colours(maps.mean.data(), kBlocks * kBlocks, {-64.0, 64.0, palette.data(), 0},
                            image.data());
            keep(image[0]);
        };
        const std::vector<Variant> variants{{[&] {
                                                must(backend->run(table, {}));
                                                must(backend->run(map, {}));
                                                colour();
                                            }},
                                            {[&] {
                                                std::memset(screen.data(), 0, screen.bytes());
                                                keep(screen[0]);
                                            }},
                                            {[&] { maps.naiveRows(4); }, 4.0 / kLength},
                                            {[&] { must(backend->run(tilesOfAll, {})); }},
                                            {[&] { must(backend->run(table, {})); }},
                                            {[&] { must(backend->run(map, {})); }},
                                            {colour}};
        const auto measured = measureInTurn(variants, effort);
        Row row;
        row.operation = "map of one q and one k, to RGB";
        row.size = "4096² in 1024² blocks";
        row.ours = measured[0].milliseconds;
        row.limit = measured[1].milliseconds;
        row.naive = measured[2].milliseconds;
        row.limitName = "writing 1920×1080 pixels";
        const double times = measured[3].milliseconds / measured[0].milliseconds;
        row.goal = "<= 0.3 ms; 30 times as fast as every cell's product";
        row.note = text("%.0f times as fast as the same map from the product of all rows", times) +
                   text("; the curve %.2f ms", measured[4].milliseconds) +
                   text(", its 1024² means as doubles %.2f ms", measured[5].milliseconds) +
                   text(", their colours on one thread %.2f ms", measured[6].milliseconds);
        finish(report, row, measured, times >= 30.0 && *row.ours <= 0.3,
               text("%.1f times the 0.3 ms", *row.ours / 0.3));
    }
    {
        const ScoreMapOp map = maps.map(maps.random, ScoreStage::Raw, ScorePath::PooledProduct);
        const double flops = 2.0 * kBlocks * kBlocks * kWidth;
        const FmaPeak peak = fmaPeakSingle(level);
        const FmaPeak doublePeak = fmaPeakDouble(level);
        const auto steps = static_cast<long>(flops / threads / peak.flopsOfStep);
        const auto doubleSteps = static_cast<long>(flops / threads / doublePeak.flopsOfStep);
        const std::vector<Variant> variants{{[&] { must(backend->run(map, {})); }},
                                            {[&] { peak.run(steps); }},
                                            {[&] { maps.naiveRows(4); }, 4.0 / kLength},
                                            {[&] { must(backend->run(tilesOfAll, {})); }},
                                            {[&] { doublePeak.run(doubleSteps); }}};
        const auto measured = measureInTurn(variants, effort);
        Row row;
        row.operation = "map of random q and k, raw mean";
        row.size = "4096², d = 128, in 1024²";
        row.ours = measured[0].milliseconds;
        row.limit = measured[1].milliseconds;
        row.naive = measured[2].milliseconds;
        row.limitName = "the product of the blocks' means at the FP32 peak";
        row.goal = "ours/limit <= 3 (1.5 ms where the limit is 0.5)";
        row.note = text("turned and multiplied in double, %.1f times the product at the FP64 peak",
                        measured[0].milliseconds / measured[4].milliseconds) +
                   text("; every cell in tiles takes %.1f ms", measured[3].milliseconds);
        finish(report, row, measured, *row.ratioToLimit() <= 3.0,
               text("%.1f times the goal", *row.ratioToLimit() / 3.0));
    }
    {
        ScoreMapOp map = maps.map(maps.random, ScoreStage::Softmax, ScorePath::Tiles);
        map.greatest = maps.greatest.span();
        map.rowValue = maps.rowValue.span();
        const bool hasPeer = !peerProductName().empty();
        Buffer<float> queries(kLength * kWidth), keys(kLength * kWidth), row32(kLength),
            cells(hasPeer ? kLength * kLength : 1);
        queries.fillAtRandom(7);
        keys.fillAtRandom(8);
        const double flops = 2.0 * kLength * kLength * kWidth;
        const FmaPeak peak = fmaPeakSingle(level);
        const auto steps = static_cast<long>(flops / threads / peak.flopsOfStep);
        const std::vector<Variant> variants{{[&] { must(backend->run(map, {})); }},
                                            {[&] {
                                                if (hasPeer)
                                                    peerProduct(queries.data(), keys.data(), cells.data(),
                                                                kLength, kLength, kWidth, threads);
                                                else
                                                    peak.run(steps);
                                            }},
                                            {[&] { maps.naiveSoftmaxRows(8, row32); }, 8.0 / kLength}};
        const auto measured = measureInTurn(variants, effort);
        Row row;
        row.operation = "softmax, entropy, mean and greatest";
        row.size = "4096², d = 128, in 1024²";
        row.ours = measured[0].milliseconds;
        row.limit = measured[1].milliseconds;
        row.naive = measured[2].milliseconds;
        row.limitName = hasPeer ? "a bare product by " + peerProductName()
                                : "a bare product at the FP32 peak (oneDNN is not installed)";
        const double most = level == CpuLevel::V4 ? 1.75 : 3.1;
        row.goal = text("ours/limit <= %.2f on this level", most);
        row.note = "exponentials of 1.7e7 cells and all pooling are within";
        finish(report, row, measured, *row.ratioToLimit() <= most,
               text("%.2f times the goal", *row.ratioToLimit() / most));
    }
}

} // namespace ropewalk::bench
