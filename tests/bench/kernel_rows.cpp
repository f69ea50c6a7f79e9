// SPDX-License-Identifier: GPL-3.0-or-later
#include "buffers.h"
#include "compute_rows.h"
#include "core/cpu_workers.h"
#include "core/kernels/kernels.h"
#include "core/rope_math.h"
#include "fma_peak.h"
#include "peer_product.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace ropewalk::bench {
namespace {

std::vector<double> thetasOf(int width)
{
    std::vector<double> thetas;
    for (int pair = 0; pair < width / 2; ++pair)
        thetas.push_back(plainTheta(1e4, pair, width));
    return thetas;
}

std::string text(const char* format, double a, double b = 0.0)
{
    char buffer[160];
    std::snprintf(buffer, sizeof buffer, format, a, b);
    return buffer;
}

void addNote(std::string& note, const std::string& more)
{
    if (!more.empty())
        note += (note.empty() ? "" : "; ") + more;
}

bool isWide(CpuLevel level)
{
    return level == CpuLevel::V3 || level == CpuLevel::V4;
}

/// A row that is met when `isMet`; where it is not, the note says how far.
void finish(Report& report, Row row, std::span<const Measured> measured, bool isMet, const std::string& far)
{
    row.met = isMet;
    if (!isMet)
        addNote(row.note, far);
    addNote(row.note, Report::sharedNote(measured));
    report.add(std::move(row));
}

void tables(Report& report, const CpuKernels& kernels, const Effort& effort)
{
    constexpr std::int64_t kRows = 4096;
    constexpr std::int64_t kFirst = 1'000'000 - kRows;
    const std::vector<double> theta = thetasOf(128);
    const std::size_t count = static_cast<std::size_t>(kRows) * theta.size();
    Buffer<float> cosine(count), sine(count);
    const auto at = [&](auto number, std::int64_t row, std::size_t pair) {
        return static_cast<decltype(number)>(kFirst + row) * static_cast<decltype(number)>(theta[pair]);
    };
    const std::vector<Variant> variants{
        {[&] { kernels.turnTableSingle(theta, kFirst, 1.0, kRows, 1.0, cosine.data(), sine.data()); }},
        {[&] {
            std::memset(cosine.data(), 0, cosine.bytes());
            std::memset(sine.data(), 0, sine.bytes());
            keep(cosine[0]);
        }},
        {[&] {
             for (std::int64_t row = 0; row < kRows / 16; ++row)
                 for (std::size_t pair = 0; pair < theta.size(); ++pair) {
                     const std::size_t index = static_cast<std::size_t>(row) * theta.size() + pair;
                     cosine[index] = static_cast<float>(std::cos(at(0.0, row, pair)));
                     sine[index] = static_cast<float>(std::sin(at(0.0, row, pair)));
                 }
         },
         1.0 / 16}};
    const auto measured = measureInTurn(variants, effort);
    variants[0].run();
    double error = 0.0;
    for (std::int64_t row = 0; row < kRows; row += 37)
        for (std::size_t pair = 0; pair < theta.size(); ++pair) {
            const std::size_t index = static_cast<std::size_t>(row) * theta.size() + pair;
            const long double angle = at(0.0L, row, pair);
            error = std::max({error, static_cast<double>(std::fabs(std::cos(angle) - cosine[index])),
                              static_cast<double>(std::fabs(std::sin(angle) - sine[index]))});
        }
    Row row;
    row.operation = "cos and sin table, float, 1 thread";
    row.size = "4096 × 64 at p = 1e6";
    row.ours = measured[0].milliseconds;
    row.limit = measured[1].milliseconds;
    row.naive = measured[2].milliseconds;
    row.limitName = "memset of the table";
    row.goal = "naive/ours >= 20 (v3, v4), error <= 1.5e-7";
    row.note = text("%.2f ns a pair, largest error %.1e",
                    measured[0].milliseconds * 1e6 / static_cast<double>(count), error);
    const double speedup = *row.speedupOverNaive();
    finish(report, row, measured, error <= 1.5e-7 && (speedup >= 20.0 || !isWide(kernels.level)),
           text("speed at %.0f %% of the goal", 100.0 * speedup / 20.0));
}

struct RotationSize
{
    std::int64_t rows, heads;
    int width;
    const char* text;
};

void rotation(Report& report, const CpuKernels& kernels, const RotationSize& size, bool isInPlace,
              int threads, const Effort& effort)
{
    const std::vector<double> theta = thetasOf(size.width);
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < size.width / 2; ++i)
        pairs.emplace_back(i, i + size.width / 2);
    const std::size_t ofRow = static_cast<std::size_t>(size.heads) * static_cast<std::size_t>(size.width);
    const std::size_t count = static_cast<std::size_t>(size.rows) * ofRow;
    Buffer<float> in(count), out(isInPlace ? 1 : count);
    in.fillAtRandom(1);
    Buffer<float> cosine(static_cast<std::size_t>(size.rows) * theta.size()), sine(cosine.size());
    kernels.turnTableSingle(theta, 0.0, 1.0, size.rows, 1.0, cosine.data(), sine.data());
    CpuWorkers workers(threads);
    float* const target = isInPlace ? in.data() : out.data();
    const std::int64_t rowsOfTask = std::max<std::int64_t>(1, size.rows / (8 * threads));
    const auto forTasks = [&](const auto& work) {
        workers.forEach((size.rows + rowsOfTask - 1) / rowsOfTask, [&](std::int64_t task, int) {
            const std::int64_t first = task * rowsOfTask;
            work(static_cast<std::size_t>(first), std::min(rowsOfTask, size.rows - first));
        });
    };
    const std::vector<Variant> variants{
        {[&] {
            forTasks([&](std::size_t first, std::int64_t rows) {
                kernels.rotateRowsSingle(in.data() + first * ofRow, target + first * ofRow, rows, size.heads,
                                         size.width, pairs, cosine.data() + first * theta.size(),
                                         sine.data() + first * theta.size());
            });
        }},
        {[&] {
            forTasks([&](std::size_t first, std::int64_t rows) {
                float* const from = in.data() + first * ofRow;
                const std::size_t numbers = static_cast<std::size_t>(rows) * ofRow;
                if (isInPlace)
                    for (std::size_t i = 0; i < numbers; ++i)
                        from[i] *= 1.0000001F;
                else
                    std::memcpy(target + first * ofRow, from, numbers * sizeof(float));
            });
            keep(target[0]);
        }},
        {[&] { // cos, sin and pow for every element of every head
             for (std::size_t row = 0; row < static_cast<std::size_t>(size.rows) / 64; ++row)
                 for (std::int64_t head = 0; head < size.heads; ++head) {
                     float* const x = in.data() + row * ofRow + static_cast<std::size_t>(head * size.width);
                     float* const y = target + row * ofRow + static_cast<std::size_t>(head * size.width);
                     const int half = size.width / 2;
                     for (int i = 0; i < half; ++i) {
                         const float angle =
                             static_cast<float>(row) * std::pow(10000.0F, -2.0F * static_cast<float>(i) /
                                                                              static_cast<float>(size.width));
                         const float c = std::cos(angle), s = std::sin(angle);
                         const float a = x[i], b = x[i + half];
                         y[i] = a * c - b * s;
                         y[i + half] = a * s + b * c;
                     }
                 }
         },
         1.0 / 64 * threads}};
    const auto measured = measureInTurn(variants, effort);
    Row row;
    row.operation = std::string("rotation ") + (isInPlace ? "in place, " : "out of place, ") +
                    std::to_string(threads) + (threads > 1 ? " threads" : " thread");
    row.size = size.text;
    row.ours = measured[0].milliseconds;
    row.limit = measured[1].milliseconds;
    row.naive = measured[2].milliseconds;
    row.limitName = isInPlace ? "x *= c in place" : "memcpy";
    const double share = isInPlace ? 0.85 : 0.75;
    row.goal = text("ours/limit <= %.2f (%.2f of its speed; v3, v4)", 1.0 / share, share);
    const double ratio = *row.ratioToLimit();
    finish(report, row, measured, ratio <= 1.0 / share || !isWide(kernels.level),
           text("at %.2f of the limit's speed", 1.0 / ratio) +
               (isInPlace
                    ? "; two threads share one memory, and its speed changes by a third from run to run"
                    : "; what is read, the table and what is written are more than the second cache holds: "
                      "a bare loop of vectors is no faster than 0.9 of memcpy there"));
}

/// Scores in tiles into one buffer that is used again, as the maps are computed.
class TiledScores
{
public:
    TiledScores(std::int64_t size, int width)
        : m_size(size)
        , m_width(width)
        , m_queries(static_cast<std::size_t>(size * width))
        , m_keys(m_queries.size())
    {
        m_queries.fillAtRandom(2);
        m_keys.fillAtRandom(3);
    }

    void run(const CpuKernels& kernels, CpuWorkers& workers)
    {
        const std::int64_t columns = (m_size + kTile - 1) / kTile;
        // Whole panels in each tile, so that a tile of keys can begin anywhere.
        std::vector<float*> packed(static_cast<std::size_t>(columns));
        const std::int64_t ofTile = kernels.packedKeys(kTile, m_width);
        float* const all = workers.scratch<float>(-1, 0, columns * ofTile);
        workers.forEach(columns, [&](std::int64_t column, int) {
            kernels.packKeys(m_keys.data() + column * kTile * m_width,
                             std::min(kTile, m_size - column * kTile), m_width, all + column * ofTile);
        });
        const std::int64_t stride = (kTile + kernels.panel - 1) / kernels.panel * kernels.panel;
        const std::int64_t rows = kTile / kernels.queriesAtATime * kernels.queriesAtATime;
        const std::int64_t strips = (m_size + rows - 1) / rows;
        workers.forEach(strips, [&](std::int64_t strip, int worker) {
            float* const cells = workers.scratch<float>(worker, 1, rows * stride);
            const std::int64_t first = strip * rows;
            std::int64_t count = std::min(rows, m_size - first);
            // The last strip is cut to whole groups of queries; what is left is less than one of them.
            count = std::max<std::int64_t>(kernels.queriesAtATime,
                                           count / kernels.queriesAtATime * kernels.queriesAtATime);
            const std::int64_t from = std::min(first, m_size - count);
            for (std::int64_t column = 0; column < columns; ++column)
                kernels.product(m_queries.data() + from * m_width, count, all + column * ofTile,
                                std::min(kTile, m_size - column * kTile), m_width, cells, stride);
            keep(cells[0]);
        });
    }

    void runNaive(std::int64_t rows, Buffer<float>& cells)
    {
        for (std::int64_t m = 0; m < rows; ++m)
            for (std::int64_t n = 0; n < m_size; ++n) {
                float sum = 0.0F;
                for (int c = 0; c < m_width; ++c)
                    sum += m_queries[static_cast<std::size_t>(m * m_width + c)] *
                           m_keys[static_cast<std::size_t>(n * m_width + c)];
                cells[static_cast<std::size_t>(n)] = sum;
            }
        keep(cells[0]);
    }

    void runPeer(Buffer<float>& cells, int threads)
    {
        peerProduct(m_queries.data(), m_keys.data(), cells.data(), m_size, m_size, m_width, threads);
    }

    double flops() const { return 2.0 * static_cast<double>(m_size * m_size) * m_width; }

private:
    static constexpr std::int64_t kTile = 480; ///< whole panels on every level, as the maps have them
    std::int64_t m_size;
    int m_width;
    Buffer<float> m_queries, m_keys;
};

Variant peakVariant(const FmaPeak& peak, double flops, int threads = 1)
{
    // A part of the work: the loop's speed is the same however long it runs.
    const double part = std::min(flops, 1.5e9);
    const auto steps = static_cast<long>(part / peak.flopsOfStep);
    return {[=] { peak.run(steps); }, part / flops * threads};
}

void scores(Report& report, CpuLevel level, std::int64_t size, int width, int threads, bool hasPeer,
            const Effort& effort)
{
    const CpuKernels& kernels = cpuKernels(level);
    CpuWorkers workers(threads);
    TiledScores work(size, width);
    const bool isPeer = hasPeer && !peerProductName().empty();
    Buffer<float> cells(isPeer ? static_cast<std::size_t>(size * size) : static_cast<std::size_t>(size));
    std::vector<Variant> variants{{[&] { work.run(kernels, workers); }}};
    const std::int64_t naiveRows = 16;
    if (hasPeer && isPeer)
        variants.push_back({[&] { work.runPeer(cells, threads); }});
    else if (!hasPeer)
        variants.push_back(peakVariant(fmaPeakSingle(level), work.flops(), threads));
    variants.push_back({[&] { work.runNaive(naiveRows, cells); },
                        static_cast<double>(naiveRows) / static_cast<double>(size)});
    const auto measured = measureInTurn(variants, effort);
    Row row;
    row.operation = std::string("scores in tiles, ") + std::string(cpuLevelWord(level)) + ", " +
                    std::to_string(threads) + (threads > 1 ? " threads" : " thread");
    row.size = std::to_string(size) + "², d = " + std::to_string(width);
    row.ours = measured[0].milliseconds;
    row.naive = measured.back().milliseconds;
    row.note = text("%.0f GFLOP/s", work.flops() / measured[0].milliseconds * 1e-6);
    const double share = hasPeer ? 0.85 : 0.80;
    row.goal = text("ours/limit <= %.2f (%.2f of its speed)", 1.0 / share, share);
    if (hasPeer && !isPeer) {
        row.limitName =
            "oneDNN's sgemm: not measured, its development package (libdnnl-dev) is not installed";
        addNote(row.note, Report::sharedNote(measured));
        report.add(std::move(row));
        return;
    }
    row.limit = measured[1].milliseconds;
    row.limitName =
        hasPeer ? peerProductName() + " sgemm, all of S² written" : "fused multiply-adds of the level";
    if (!hasPeer && (level == CpuLevel::V2 || level == CpuLevel::Generic))
        row.goal = "none (the level without fused ones)";
    const double ratio = *row.ratioToLimit();
    finish(report, row, measured, ratio <= 1.0 / share || row.goal.starts_with("none"),
           text("at %.2f of the limit's speed", 1.0 / ratio));
}

void dispatch(Report& report, const std::vector<CpuLevel>& levels, const Effort& effort)
{
    if (levels.size() < 2 || levels.front() != CpuLevel::V2)
        return;
    for (std::size_t i = 1; i < levels.size(); ++i) {
        TiledScores work(4096, 128);
        CpuWorkers workers(1);
        const std::vector<Variant> variants{{[&] { work.run(cpuKernels(levels[i]), workers); }},
                                            {[&] { work.run(cpuKernels(CpuLevel::V2), workers); }}};
        const auto measured = measureInTurn(variants, effort);
        Row row;
        row.operation =
            std::string("scores: ") + std::string(cpuLevelWord(levels[i])) + " against v2, 1 thread";
        row.size = "4096², d = 128";
        row.ours = measured[0].milliseconds;
        row.naive = measured[1].milliseconds;
        const double most = levels[i] == CpuLevel::V4 ? 4.2 : 2.2;
        row.goal = text("naive/ours >= %.1f, naive: its own v2 kernels", most);
        const double speedup = *row.speedupOverNaive();
        finish(report, row, measured, speedup >= most, text("%.2f times as fast", speedup));
    }
}

void decay(Report& report, const CpuKernels& kernels, const Effort& effort)
{
    constexpr std::int64_t kCount = 1'000'000;
    const std::vector<double> theta = thetasOf(128);
    Buffer<double> curve(kCount), onePair(kCount);
    CpuWorkers workers(1);
    DecayOp op;
    op.invFreq = theta;
    op.pairCount = 64;
    op.cosineSum = curve.span();
    const std::vector<double> one{theta[20]}, re{1.0}, im{0.0};
    DistanceTableOp table;
    table.invFreq = one;
    table.re = re;
    table.im = im;
    table.table = onePair.span();
    constexpr std::int64_t kNaive = kCount / 64;
    std::vector<Variant> variants{{[&] { static_cast<void>(kernels.decay(op, workers, {})); }},
                                  peakVariant(fmaPeakDouble(kernels.level), 256.0 * kCount),
                                  {[&] {
                                       for (std::int64_t r = 0; r < kNaive; ++r) {
                                           double sum = 0.0;
                                           for (const double each : theta)
                                               sum += std::cos(static_cast<double>(r * 64) * each);
                                           keep(sum);
                                       }
                                   },
                                   static_cast<double>(kNaive) / kCount},
                                  {[&] { static_cast<void>(kernels.distanceTable(table, workers, {})); }},
                                  {[&] {
                                      std::memset(onePair.data(), 0, onePair.bytes());
                                      keep(onePair[0]);
                                  }}};
    const auto measured = measureInTurn(variants, effort);
    double error = 0.0;
    for (std::int64_t r = 0; r < kCount; r += 997) {
        long double sum = 0.0L;
        for (const double each : theta)
            sum += std::cos(static_cast<long double>(r) * static_cast<long double>(each));
        error =
            std::max(error, static_cast<double>(std::fabs(
                                sum - 64.0L * static_cast<long double>(curve[static_cast<std::size_t>(r)]))));
    }
    Row row;
    row.operation = "decay curve, double, 1 thread";
    row.size = "1e6 distances × 64 pairs";
    row.ours = measured[0].milliseconds;
    row.limit = measured[1].milliseconds;
    row.naive = measured[2].milliseconds;
    row.limitName = "256 flop a distance at the level's FP64 peak";
    row.goal = "naive/ours >= 90 (v3, v4), error <= 2e-10 of Σ cos";
    row.note = text("largest error %.1e", error);
    const double speedup = *row.speedupOverNaive();
    finish(report, row, measured, error <= 2e-10 && (speedup >= 90.0 || !isWide(kernels.level)),
           text("at %.0f %% of the goal's speed", 100.0 * speedup / 90.0));

    Row single;
    single.operation = "one pair's part of it, 1 thread";
    single.size = "1e6 distances";
    single.ours = measured[3].milliseconds;
    single.limit = measured[4].milliseconds;
    single.limitName = "memset of the curve";
    single.naive = measured[0].milliseconds;
    single.goal = "naive/ours >= 10, naive: the whole curve again";
    const double share = *single.speedupOverNaive();
    finish(report, single, measured, share >= 10.0, text("1/%.1f of the whole curve", share));
}

void softmax(Report& report, const CpuKernels& kernels, const Effort& effort)
{
    constexpr std::int64_t kRows = 512, kKeys = 4096;
    Buffer<float> logits(kRows * kKeys), row(kKeys);
    logits.fillAtRandom(4);
    double sum = 0.0;
    const auto takeRow = [&](std::int64_t m) {
        std::memcpy(row.data(), logits.data() + m * kKeys, kKeys * sizeof(float));
    };
    const std::vector<Variant> variants{{[&] {
                                            for (std::int64_t m = 0; m < kRows; ++m) {
                                                takeRow(m);
                                                sum += kernels.softmaxRow(row.data(), kKeys).entropy;
                                            }
                                            keep(sum);
                                        }},
                                        {[&] {
                                            for (std::int64_t m = 0; m < kRows; ++m) {
                                                takeRow(m);
                                                keep(row[0]);
                                            }
                                        }},
                                        {[&] {
                                             for (std::int64_t m = 0; m < kRows / 16; ++m) {
                                                 takeRow(m);
                                                 const float greatest =
                                                     *std::max_element(row.data(), row.data() + kKeys);
                                                 double total = 0.0;
                                                 double entropy = 0.0;
                                                 for (float& value : row.span())
                                                     total += value = std::exp(value - greatest);
                                                 for (float& value : row.span()) {
                                                     value = static_cast<float>(value / total);
                                                     if (value > 0.0F)
                                                         entropy -= value * std::log(value);
                                                 }
                                                 sum += entropy;
                                             }
                                             keep(sum);
                                         },
                                         1.0 / 16}};
    const auto measured = measureInTurn(variants, effort);
    Row line;
    line.operation = "softmax and entropy of stored rows, 1 thread";
    line.size = "512 × 4096";
    line.ours = measured[0].milliseconds;
    line.limit = measured[1].milliseconds;
    line.naive = measured[2].milliseconds;
    line.limitName = "copying the rows (also in ours and naive)";
    const double most = kernels.level == CpuLevel::V4 ? 15.0 : kernels.level == CpuLevel::V3 ? 8.0 : 4.0;
    line.goal = text("naive/ours >= %.0f on this level", most);
    const double speedup = *line.speedupOverNaive();
    finish(report, line, measured, speedup >= most, text("at %.0f %% of the goal", 100.0 * speedup / most));
}

} // namespace

void measureKernels(Report& report, const Effort& effort)
{
    const std::vector<CpuLevel> levels = availableCpuLevels();
    const CpuLevel best = levels.empty() ? CpuLevel::Generic : levels.back();
    const CpuKernels& kernels = cpuKernels(best);
    const int threads = std::min(2, CpuWorkers::hardwareThreads());
    report.beginGroup("Kernels, " + std::string(cpuLevelName(best)));
    tables(report, kernels, effort);
    rotation(report, kernels, {512, 8, 64, "[512, 8, 64], 1 MiB"}, false, 1, effort);
    rotation(report, kernels, {2048, 8, 128, "[2048, 8, 128], 8 MiB"}, false, 1, effort);
    rotation(report, kernels, {4096, 32, 128, "[4096, 32, 128], 64 MiB"}, true, threads, effort);
    for (const int width : {64, 128})
        for (const std::int64_t size : {1024, 4096})
            scores(report, best, size, width, 1, false, effort);
    for (const CpuLevel level : levels)
        if (level != best)
            scores(report, level, 4096, 128, 1, false, effort);
    scores(report, best, 4096, 64, 1, true, effort);
    scores(report, best, 4096, 128, 1, true, effort);
    if (threads > 1)
        scores(report, best, 4096, 128, threads, true, effort);
    dispatch(report, levels, effort);
    decay(report, kernels, effort);
    softmax(report, kernels, effort);
}

} // namespace ropewalk::bench
