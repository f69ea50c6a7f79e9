// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels of every level that this machine has: against long double, over precisions and numbers of
// threads.
#include "core/cpu_workers.h"
#include "core/kernels/kernels.h"
#include "core/rope_math.h"
#include "tests/support/compare.h"
#include "tests/support/cpu_levels.h"
#include "tests/support/random_map.h"

#include <QtTest>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

std::atomic<long> allocations = 0;
std::atomic<std::size_t> largestAllocation = 0;

void* counted(std::size_t size, std::size_t alignment)
{
    ++allocations;
    std::size_t before = largestAllocation;
    while (before < size && !largestAllocation.compare_exchange_weak(before, size)) {
    }
    void* memory = alignment > 16
                       ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                       : std::malloc(size > 0 ? size : 1);
    if (!memory)
        throw std::bad_alloc();
    return memory;
}

} // namespace

void* operator new(std::size_t size)
{
    return counted(size, 0);
}
void* operator new(std::size_t size, std::align_val_t alignment)
{
    return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept
{
    std::free(memory);
}

namespace {

const CpuKernels& kernels()
{
    return cpuKernels(testedLevel);
}

std::vector<double> thetas(int pairs, double base = 1e4)
{
    std::vector<double> theta;
    for (int i = 0; i < pairs; ++i)
        theta.push_back(plainTheta(base, i, 2 * pairs));
    return theta;
}

std::vector<float> randomFloats(std::mt19937& random, std::size_t count)
{
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    for (float& value : values)
        value = normal(random);
    return values;
}

/// A map of Gaussian rows, long enough for several bands.
struct LongMap
{
    std::vector<double> queries, keys, theta;
    std::vector<std::pair<int, int>> pairs;
    ScoreTerm term;
    ScoreMapOp op;

    LongMap(std::int64_t length, std::int64_t pixels, int width)
        : theta(thetas(width / 2))
    {
        std::mt19937 random(7);
        queries = randomRow(random, static_cast<int>(length) * width);
        keys = randomRow(random, static_cast<int>(length) * width);
        for (int i = 0; i < width / 2; ++i)
            pairs.emplace_back(2 * i, 2 * i + 1);
        op.grid = scoreGrid(length, {0, length}, {0, length}, pixels);
        term.width = width;
        term.pairs = pairs;
        term.invFreq = theta;
        term.scale = 1.0 / std::sqrt(width);
        term.queries = queries;
        term.keys = keys;
        op.terms = {&term, 1};
    }
};

/// `value` to `bits` of mantissa after the leading one, ties to even.
double roundedTo(double value, int bits)
{
    int exponent = 0;
    const double mantissa = std::frexp(value, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits + 1)), exponent - bits - 1);
}

} // namespace

class TestKernels : public QObject
{
    Q_OBJECT
private slots:
    void namesItself();
    void turnTables();
    void rotation();
    void product();
    void softmaxRows();
    void exponentials();
    void colours();
    void mapsInSinglePrecision();
    void longMaps();
    void steepDamping();
    void nothingIsSubnormal();
    void rowsOfFewerBits();
    void sameBitsOnAnyNumberOfThreads();
    void nothingIsAllocatedByStrips();
    void progressEndsAtOne();
};

void TestKernels::namesItself()
{
    QCOMPARE(kernels().level, testedLevel);
    QCOMPARE(cpuLevelOf(cpuLevelWord(testedLevel)), std::optional(testedLevel));
    QVERIFY(!cpuLevelOf("v5"));
    const ComputeBackend::Info one = makeTestedBackend(1)->info(), two = makeTestedBackend(2)->info();
    QCOMPARE(one.device, std::string(cpuLevelName(testedLevel)) + ", 1 thread");
    QCOMPARE(two.device, std::string(cpuLevelName(testedLevel)) + ", 2 threads");
}

void TestKernels::turnTables()
{
    const std::vector<double> theta = thetas(21);
    for (const double position : {0.0, 4000.0, 1e5, 1e6 - 300.0})
        for (const std::int64_t rows : {1, 5, 128, 129, 300})
            for (const double stride : {1.0, 7.0}) {
                const auto count = static_cast<std::size_t>(rows) * theta.size();
                std::vector<double> cos(count), sin(count);
                std::vector<float> cosSingle(count), sinSingle(count);
                kernels().turnTable(theta, position, stride, rows, 1.25, cos.data(), sin.data());
                kernels().turnTableSingle(theta, position, stride, rows, 1.0, cosSingle.data(),
                                          sinSingle.data());
                std::vector<double> expectedCos(count), expectedSin(count);
                for (std::size_t i = 0; i < count; ++i) {
                    const auto row = static_cast<double>(i / theta.size());
                    const long double angle = static_cast<long double>(position + row * stride) *
                                              static_cast<long double>(theta[i % theta.size()]);
                    expectedCos[i] = static_cast<double>(1.25L * std::cos(angle));
                    expectedSin[i] = static_cast<double>(1.25L * std::sin(angle));
                    QVERIFY(std::fabs(cosSingle[i] - static_cast<float>(expectedCos[i] / 1.25)) <= 1.5e-7);
                    QVERIFY(std::fabs(sinSingle[i] - static_cast<float>(expectedSin[i] / 1.25)) <= 1.5e-7);
                }
                const auto tolerance = [&](std::size_t i, double) {
                    const double p = position + static_cast<double>(i / theta.size()) * stride;
                    return 1.25 * turnTolerance(p, theta[i % theta.size()]);
                };
                QCOMPARE(firstDifference(cos, expectedCos, tolerance), QString());
                QCOMPARE(firstDifference(sin, expectedSin, tolerance), QString());
            }
}

void TestKernels::rotation()
{
    std::mt19937 random(3);
    using Pairs = std::vector<std::pair<int, int>>;
    Pairs half, interleaved, part, listed{{3, 0}, {17, 5}};
    for (int i = 0; i < 10; ++i) {
        half.emplace_back(i, i + 10);
        interleaved.emplace_back(2 * i, 2 * i + 1);
    }
    for (int i = 0; i < 4; ++i)
        part.emplace_back(8 + i, 12 + i);
    for (const Pairs& pairs : {half, interleaved, part, listed, Pairs{}}) {
        constexpr int kRows = 5, kHeads = 3, kWidth = 20;
        const std::vector<double> theta = thetas(static_cast<int>(pairs.size()));
        const std::vector<float> in = randomFloats(random, kRows * kHeads * kWidth);
        std::vector<float> cos(kRows * pairs.size()), sin(cos.size()), out(in.size()), same = in;
        kernels().turnTableSingle(theta, 100.0, 1.0, kRows, 1.0, cos.data(), sin.data());
        kernels().rotateRowsSingle(in.data(), out.data(), kRows, kHeads, kWidth, pairs, cos.data(),
                                   sin.data());
        kernels().rotateRowsSingle(same.data(), same.data(), kRows, kHeads, kWidth, pairs, cos.data(),
                                   sin.data());
        QCOMPARE(same, out);
        for (int row = 0; row < kRows * kHeads; ++row) {
            const float* from = in.data() + row * kWidth;
            const float* to = out.data() + row * kWidth;
            std::vector<bool> turns(kWidth);
            for (std::size_t i = 0; i < pairs.size(); ++i) {
                const auto [a, b] = pairs[i];
                turns[static_cast<std::size_t>(a)] = turns[static_cast<std::size_t>(b)] = true;
                const long double angle = (100.0L + row / kHeads) * theta[i];
                const long double c = std::cos(angle), s = std::sin(angle);
                QCOMPARE(absoluteDifference(to[a], static_cast<double>(from[a] * c - from[b] * s), 1e-6),
                         QString());
                QCOMPARE(absoluteDifference(to[b], static_cast<double>(from[a] * s + from[b] * c), 1e-6),
                         QString());
            }
            for (int channel = 0; channel < kWidth; ++channel)
                if (!turns[static_cast<std::size_t>(channel)])
                    QCOMPARE(to[channel], from[channel]);
        }
    }
}

void TestKernels::product()
{
    std::mt19937 random(4);
    for (const std::int64_t keys : {1, 7, 48, 49, 130})
        for (const int width : {1, 5, 64}) {
            const std::int64_t rows = 3 * kernels().queriesAtATime;
            const auto size = static_cast<std::size_t>(width);
            const std::vector<float> q = randomFloats(random, static_cast<std::size_t>(rows) * size);
            const std::vector<float> k = randomFloats(random, static_cast<std::size_t>(keys) * size);
            CpuWorkers memory(1);
            float* packed = memory.scratch<float>(0, 0, kernels().packedKeys(keys, width));
            kernels().packKeys(k.data(), keys, width, packed);
            const std::int64_t stride = (keys + kernels().panel - 1) / kernels().panel * kernels().panel + 3;
            std::vector<float> cells(static_cast<std::size_t>(rows * stride), -1.0F);
            kernels().product(q.data(), rows, packed, keys, width, cells.data(), stride);
            for (std::int64_t m = 0; m < rows; ++m)
                for (std::int64_t n = 0; n < keys; ++n) {
                    long double sum = 0, size1 = 0;
                    for (int c = 0; c < width; ++c) {
                        const long double one =
                            static_cast<long double>(q[static_cast<std::size_t>(m * width + c)]) *
                            k[static_cast<std::size_t>(n * width + c)];
                        sum += one;
                        size1 += std::fabs(one);
                    }
                    // Each product and each sum rounds once.
                    const double bound = static_cast<double>(size1) * (width + 1) * 6e-8;
                    QCOMPARE(absoluteDifference(cells[static_cast<std::size_t>(m * stride + n)],
                                                static_cast<double>(sum), bound),
                             QString());
                }
            QCOMPARE(cells[static_cast<std::size_t>(stride - 1)], -1.0F); // not written
        }
}

void TestKernels::softmaxRows()
{
    std::mt19937 random(5);
    for (const std::int64_t count : {1, 2, 31, 512, 513, 4096}) {
        std::vector<float> row = randomFloats(random, static_cast<std::size_t>(count));
        for (float& value : row)
            value *= 9.0F;
        if (count > 2)
            row[1] = -std::numeric_limits<float>::infinity();
        const std::vector<float> before = row;
        const SoftmaxSums sums = kernels().softmaxRow(row.data(), count);
        long double greatest = -1e30L, sum = 0, entropy = 0;
        for (const float value : before)
            greatest = std::max<long double>(greatest, value);
        for (const float value : before)
            sum += std::exp(value - greatest);
        for (const float value : before)
            if (const long double p = std::exp(value - greatest) / sum; p > 0)
                entropy -= p * std::log(p);
        QCOMPARE(sums.greatest, static_cast<double>(greatest));
        QCOMPARE(relativeDifference(sums.sum, static_cast<double>(sum), 1e-6), QString());
        QCOMPARE(absoluteDifference(sums.entropy, static_cast<double>(entropy), 3e-6), QString());
        for (std::size_t i = 0; i < row.size(); ++i)
            QCOMPARE(absoluteDifference(row[i], static_cast<double>(std::exp(before[i] - greatest)), 4e-7),
                     QString());
    }
    std::vector<float> none(40, -std::numeric_limits<float>::infinity());
    QCOMPARE(kernels().softmaxRow(none.data(), 40).sum, 0.0);
}

/// Each against long double, over all of the range: in the last place, not only beside 1.
void TestKernels::exponentials()
{
    constexpr std::int64_t kCount = 100'003;
    std::vector<float> row(kCount);
    for (std::int64_t i = 0; i < kCount; ++i)
        row[static_cast<std::size_t>(i)] = -87.0F * static_cast<float>(i) / static_cast<float>(kCount - 1);
    row.insert(row.end(), {-1e-30F, -1e-6F, -0.34657359F, -0.34657362F, -87.5F, -1e30F});
    const std::vector<float> before = row;
    kernels().softmaxRow(row.data(), static_cast<std::int64_t>(row.size()));
    QCOMPARE(row[0], 1.0F);
    for (std::size_t i = 0; i < row.size(); ++i) {
        const long double expected = std::exp(std::max(static_cast<long double>(before[i]), -87.0L));
        const auto nearest = static_cast<float>(expected);
        const long double unit = nearest - std::nextafter(nearest, 0.0F);
        QVERIFY2(std::fabs(row[i] - expected) <= 1.25L * unit, qPrintable(QString::number(before[i])));
    }
}

void TestKernels::colours()
{
    std::vector<std::uint32_t> palette(256);
    for (std::size_t i = 0; i < palette.size(); ++i)
        palette[i] = static_cast<std::uint32_t>(0xff000000U + i);
    const ColourScale scale{-1.0, 3.0, palette.data(), 0xff123456U};
    const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
    std::vector<double> values{-1.0, 3.0, -1.5, 4.0, nan, infinity, -infinity, 0.0, 1.0, -1.0 + 4.0 / 256.0};
    std::vector<std::uint32_t> expected{0xff000000U, 0xff0000ffU, 0xff000000U, 0xff0000ffU, 0xff123456U,
                                        0xff0000ffU, 0xff000000U, 0xff000040U, 0xff000080U, 0xff000001U};
    for (int i = 0; i < 70; ++i) { // past a vector
        values.push_back(-1.0 + 4.0 * (i + 0.5) / 70);
        expected.push_back(palette[static_cast<std::size_t>(256 * (i + 0.5) / 70)]);
    }
    std::vector<std::uint32_t> out(values.size());
    const auto count = static_cast<std::int64_t>(values.size());
    kernels().colours(values.data(), count, scale, out.data());
    QCOMPARE(out, expected);
    const std::vector<float> single(values.begin(), values.end());
    kernels().coloursSingle(single.data(), count, scale, out.data());
    QCOMPARE(out, expected);
}

/// Random maps as in test_score_map, their tiles in float.
void TestKernels::mapsInSinglePrecision()
{
    std::mt19937 random(31);
    for (int round = 0; round < 300; ++round) {
        RandomMap map(random, round % 10 == 0 ? 300 : 60);
        map.op.precision = ScorePrecision::Single;
        const Outputs expected = map.exact();
        for (const bool wantsExtremes : {true, false}) {
            const Outputs found = runOn(ScorePath::Tiles, map.op, wantsExtremes);
            QCOMPARE(found.count, expected.count);
            // Scores are sums of at most 10 products below 20, each rounded at 6e-8; a weight is as uncertain
            // as its logit, an entropy as its logits times their spread.
            const double tolerance = map.op.stage == ScoreStage::Softmax ? 2e-5 : 4e-5;
            QCOMPARE(difference(found.mean, expected.mean, tolerance), QString());
            QCOMPARE(difference(found.rowValue, expected.rowValue, 10 * tolerance), QString());
            if (wantsExtremes) {
                QCOMPARE(difference(found.least, expected.least, tolerance), QString());
                QCOMPARE(difference(found.greatest, expected.greatest, tolerance), QString());
            }
        }
    }
}

/// More rows than a strip or a chunk holds, more keys than a tile.
void TestKernels::longMaps()
{
    std::mt19937 random(32);
    int taken[3] = {0, 0, 0};
    static std::map<int, Outputs> exact; // the same for each level, and most of the time
    for (int round = 0; round < 300; ++round) {
        RandomMap map(random, 900);
        const std::int64_t rows = map.op.grid.rows().end - map.op.grid.rows().first;
        if (rows < 520)
            continue;
        if (!exact.contains(round))
            exact.emplace(round, map.exact());
        const Outputs& expected = exact.at(round);
        for (const ScorePath path : {ScorePath::Toeplitz, ScorePath::PooledProduct, ScorePath::Tiles}) {
            const bool wantsExtremes = path != ScorePath::PooledProduct;
            ScoreMapOp asked = map.op;
            Outputs place(asked.grid, wantsExtremes);
            place.giveTo(asked);
            if (!mayTake(path, asked))
                continue;
            ++taken[static_cast<int>(path)];
            const Outputs found = runOn(path, map.op, wantsExtremes);
            QCOMPARE(found.count, expected.count);
            QCOMPARE(difference(found.mean, expected.mean, 2e-12), QString());
            QCOMPARE(difference(found.rowValue, expected.rowValue, 1e-11), QString());
            if (!wantsExtremes)
                continue;
            QCOMPARE(difference(found.least, expected.least, 2e-12), QString());
            QCOMPARE(difference(found.greatest, expected.greatest, 2e-12), QString());
        }
    }
    for (const int count : taken)
        QVERIFY(count > 2);
}

/// Damping that leaves the range of a number within a few keys.
void TestKernels::steepDamping()
{
    std::mt19937 random(33);
    int steep = 0;
    for (int round = 0; round < 400; ++round) {
        RandomMap map(random, 90);
        bool isDamped = false;
        for (RandomMap::Term& part : map.parts)
            for (double& rate : part.rate) {
                rate *= 400.0; // up to -8 a token
                isDamped = true;
            }
        if (!isDamped || map.isFixed)
            continue;
        ++steep;
        const Outputs expected = map.exact();
        for (const ScorePrecision precision : {ScorePrecision::Double, ScorePrecision::Single}) {
            map.op.precision = precision;
            const Outputs found = runOn(ScorePath::Tiles, map.op, true);
            const double tolerance = precision == ScorePrecision::Double ? 2e-12 : 4e-5;
            QCOMPARE(difference(found.mean, expected.mean, tolerance), QString());
            QCOMPARE(difference(found.rowValue, expected.rowValue, 10 * tolerance), QString());
            QCOMPARE(difference(found.greatest, expected.greatest, tolerance), QString());
        }
    }
    QVERIFY(steep > 20);
}

/// Single precision has no number between 0 and 1.2e-38, which would take long; the thread that asked has.
void TestKernels::nothingIsSubnormal()
{
    LongMap map(50, 50, 2);
    std::fill(map.queries.begin(), map.queries.end(), 1e-20);
    std::fill(map.keys.begin(), map.keys.end(), 1e-19);
    const double rate[]{-1e-3};
    map.term.dampingRate = rate;
    map.term.pairs = {};
    map.term.invFreq = {};
    map.term.scale = 1.0;
    map.op.terms = {&map.term, 1};
    for (const bool isDamped : {false, true}) {
        if (isDamped) {
            map.term.pairs = map.pairs;
            map.term.invFreq = map.theta;
        } else {
            map.term.dampingRate = {};
        }
        map.op.precision = ScorePrecision::Double;
        QVERIFY(runOn(ScorePath::Tiles, map.op, false).mean[0] > 1.9e-39);
        map.op.precision = ScorePrecision::Single;
        QVERIFY(runOn(ScorePath::Tiles, map.op, false).mean[0] == 0.0); // QCOMPARE takes what is tiny for 0
        map.term.dampingRate = rate;
    }
    volatile float small = std::numeric_limits<float>::min();
    small = small / 2.0F;
    QVERIFY(small > 0.0F);
}

/// TF32 and bfloat16 round the rows, not the products: exactly so where nothing turns.
void TestKernels::rowsOfFewerBits()
{
    LongMap map(40, 40, 12);
    map.term.pairs = {};
    map.term.invFreq = {};
    map.op.terms = {&map.term, 1};
    map.op.grid.isCausal = false;
    const Outputs exact = [&] {
        map.op.precision = ScorePrecision::Double;
        return runOn(ScorePath::Tiles, map.op, false);
    }();
    for (const auto& [precision, bits] :
         {std::pair{ScorePrecision::Single, 23}, std::pair{ScorePrecision::Tf32, 10},
          std::pair{ScorePrecision::Bf16, 7}}) {
        map.op.precision = precision;
        const Outputs found = runOn(ScorePath::Tiles, map.op, false);
        double worst = 0.0;
        for (std::int64_t m = 0; m < 40; ++m)
            for (std::int64_t n = 0; n < 40; ++n) {
                double sum = 0.0;
                for (int c = 0; c < 12; ++c)
                    sum += roundedTo(map.queries[static_cast<std::size_t>(m * 12 + c)], bits) *
                           roundedTo(map.keys[static_cast<std::size_t>(n * 12 + c)], bits);
                const auto cell = static_cast<std::size_t>(m * 40 + n);
                QCOMPARE(absoluteDifference(found.mean[cell], map.term.scale * sum, 3e-6), QString());
                worst = std::max(worst, std::fabs(found.mean[cell] - exact.mean[cell]));
            }
        QVERIFY(bits == 23 ? worst < 3e-6 : worst > std::ldexp(1.0, -bits - 3));
        QVERIFY(worst < std::ldexp(20.0, -bits));
    }
    // Turned rows are rounded after they are turned: near the exact map, not on it.
    LongMap turned(300, 300, 32);
    const Outputs full = runOn(ScorePath::Tiles, turned.op, false);
    turned.op.precision = ScorePrecision::Bf16;
    const Outputs few = runOn(ScorePath::Tiles, turned.op, false);
    double worst = 0.0;
    for (std::size_t i = 0; i < full.mean.size(); ++i)
        if (full.count[i] > 0)
            worst = std::max(worst, std::fabs(full.mean[i] - few.mean[i]));
    QVERIFY(worst > 1e-3 && worst < 0.1);
    QCOMPARE(makeTestedBackend()->precisionOf(turned.op), std::string("bfloat16"));
}

void TestKernels::sameBitsOnAnyNumberOfThreads()
{
    const auto areSame = [](const auto& a, const auto& b) {
        return a.size() == b.size() &&
               (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0);
    };
    std::mt19937 random(34);
    std::vector<RandomMap> maps;
    for (int i = 0; i < 25; ++i)
        maps.emplace_back(random, 400);
    const auto compare = [&](ScoreMapOp op) {
        std::optional<Outputs> first;
        for (const int threads : {1, 2, 3, 8}) {
            Outputs outputs(op.grid, op.path != ScorePath::PooledProduct);
            outputs.giveTo(op);
            if (!mayTake(op.path, op))
                return;
            QVERIFY(makeTestedBackend(threads)->run(op, {}).hasValue());
            if (!first)
                first = outputs;
            QVERIFY(areSame(first->mean, outputs.mean) && areSame(first->least, outputs.least) &&
                    areSame(first->greatest, outputs.greatest) &&
                    areSame(first->rowValue, outputs.rowValue) && areSame(first->count, outputs.count));
        }
    };
    for (const ScorePath path : {ScorePath::Toeplitz, ScorePath::PooledProduct, ScorePath::Tiles})
        for (const ScorePrecision precision : {ScorePrecision::Double, ScorePrecision::Single}) {
            for (const RandomMap& map : maps) {
                ScoreMapOp op = map.op;
                std::vector<ScoreTerm> terms; // the copies of the maps moved
                for (std::size_t t = 0; t < map.parts.size(); ++t) {
                    ScoreTerm term = map.terms[t];
                    term.pairs = map.parts[t].pairs;
                    term.invFreq = map.parts[t].theta;
                    term.dampingRate = map.parts[t].rate;
                    term.queries = map.parts[t].queries;
                    term.keys = map.parts[t].keys;
                    term.table = map.parts[t].table;
                    term.rowScale = map.parts[t].rowScale;
                    terms.push_back(term);
                }
                op.terms = terms;
                op.deadQueries = map.deadQueries;
                op.deadKeys = map.deadKeys;
                op.path = path;
                op.precision = precision;
                compare(op);
            }
            LongMap map(1500, 400, 24);
            map.op.path = path;
            map.op.precision = precision;
            map.op.stage = path == ScorePath::Tiles ? ScoreStage::Softmax : ScoreStage::Raw;
            compare(map.op);
        }
    const std::vector<double> theta = thetas(16);
    std::vector<std::vector<double>> curves;
    for (const int threads : {1, 2, 3}) {
        std::vector<double>& all = curves.emplace_back(5 * 100'000);
        DecayOp op;
        op.invFreq = theta;
        op.pairCount = 20;
        const auto part = [&](std::size_t i) { return std::span(all).subspan(i * 100'000, 100'000); };
        op.similarMean = part(0);
        op.similarSd = part(1);
        op.independentSd = part(2);
        op.cosineSum = part(3);
        op.boundFactor = part(4);
        QVERIFY(makeTestedBackend(threads)->run(op, {}).hasValue());
        QVERIFY(areSame(curves.front(), all));
    }
}

/// Buffers are used again: a longer map is more strips, not more memory.
void TestKernels::nothingIsAllocatedByStrips()
{
    long before = 0;
    for (const std::int64_t length : {600, 3000}) {
        for (const ScorePrecision precision : {ScorePrecision::Single, ScorePrecision::Double}) {
            LongMap map(length, 100, 8);
            map.op.stage = ScoreStage::Softmax;
            map.op.precision = precision;
            map.op.path = ScorePath::Tiles;
            Outputs outputs(map.op.grid);
            outputs.giveTo(map.op);
            const auto backend = makeTestedBackend(1);
            QVERIFY(backend->run(map.op, {}).hasValue()); // the buffers are made
            const Operation again = map.op;
            allocations = 0;
            largestAllocation = 0;
            const bool isDone = backend->run(again, {}).hasValue();
            const long count = allocations;
            QVERIFY(isDone);
            QVERIFY2(largestAllocation < 16384, qPrintable(QString::number(largestAllocation)));
            if (before == 0)
                before = count;
            QCOMPARE(count, before);
        }
    }
    QVERIFY(before > 0 && before < 40);
}

void TestKernels::progressEndsAtOne()
{
    for (const bool isCausal : {true, false}) {
        LongMap map(1000, 200, 8);
        map.op.grid.isCausal = isCausal;
        map.op.path = ScorePath::Tiles;
        Outputs outputs(map.op.grid);
        outputs.giveTo(map.op);
        std::vector<double> shares;
        map.op.progress = [&](double share) { shares.push_back(share); };
        QVERIFY(makeTestedBackend(1)->run(map.op, {}).hasValue());
        QVERIFY(shares.size() > 3 && std::is_sorted(shares.begin(), shares.end()));
        QCOMPARE(shares.back(), 1.0);
        // Half the rows of a causal map are a quarter of its work.
        const double half = shares[shares.size() / 2 - 1];
        QVERIFY(isCausal ? half < 0.35 : std::fabs(half - 0.5) < 0.1);
        // A stop that comes with a strip is heard before the next.
        std::stop_source stop;
        int strips = 0;
        map.op.progress = [&](double) {
            ++strips;
            stop.request_stop();
        };
        const Result<void> done = makeTestedBackend(1)->run(map.op, stop.get_token());
        QVERIFY(!done && done.error().code == ErrorCode::Cancelled);
        QCOMPARE(strips, 1);
    }
}

ROPEWALK_TEST_ALL_CPU_LEVELS(TestKernels)
#include "test_kernels.moc"
