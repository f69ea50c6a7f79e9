// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/rope_math.h"
#include "core/score_map.h"
#include "tests/support/compare.h"
#include "tests/support/cpu_levels.h"
#include "tests/support/random_map.h"

#include <QElapsedTimer>
#include <QtTest>
#include <thread>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

/// θ of d = 128, b = 1e4, in C units for the content of ones: g(r) = 2/128·Σ cos rθ.
struct OnesTable
{
    std::vector<double> theta, re, im, table;
    explicit OnesTable(std::int64_t count, double base = 1e4)
    {
        for (int i = 0; i < 64; ++i)
            theta.push_back(plainTheta(base, i, 128));
        re.assign(64, 2.0 / 128.0);
        im.assign(64, 0.0);
        table.resize(static_cast<std::size_t>(count));
        DistanceTableOp op;
        op.re = re;
        op.im = im;
        op.invFreq = theta;
        op.table = table;
        if (!makeTestedBackend()->run(op, {}))
            qFatal("the processor could not compute the table");
    }
};

} // namespace

class TestScoreMap : public QObject
{
    Q_OBJECT
private slots:
    void grid();
    void distanceTable();
    void knownBlocks();
    void closedForm();
    void bruteForce();
    void extremesToTheBit();
    void fastPairComesOutGrey();
    void softmaxOfKnownRows();
    void wideSpread();
    void longest();
    void stops();
};

void TestScoreMap::grid()
{
    for (const std::int64_t length : {1LL, 511LL, 512LL, 513LL, 4099LL, 131072LL}) {
        const ScoreGrid whole = scoreGrid(length, {0, length}, {0, length}, 512);
        QVERIFY((length + whole.block - 1) / whole.block <= 512);
        QVERIFY(whole.block == 1 || (length + whole.block - 2) / (whole.block - 1) > 512);
        QCOMPARE(whole.rows().end, length);
    }
    // Blocks are those of the matrix, not of the view, and hold it whole.
    const ScoreGrid part = scoreGrid(4099, {1001, 3050}, {7, 9}, 512);
    QCOMPARE(part.block, std::int64_t{5});
    QCOMPARE(part.rows().first, std::int64_t{1000});
    QCOMPARE(part.rows().end, std::int64_t{3050});
    QCOMPARE(part.columns().first, std::int64_t{5});
    QCOMPARE(part.columns().end, std::int64_t{10});
    const ScoreGrid cell = scoreGrid(131072, {131000, 131064}, {0, 10}, 512);
    QCOMPARE(cell.block, std::int64_t{1});
}

void TestScoreMap::distanceTable()
{
    std::mt19937 random(3);
    for (int round = 0; round < 30; ++round) {
        const auto pairs = static_cast<std::size_t>(std::uniform_int_distribution<int>(0, 9)(random));
        std::vector<double> re(pairs), im(pairs), theta(pairs), rate;
        for (std::size_t i = 0; i < pairs; ++i) {
            re[i] = std::normal_distribution<double>()(random);
            im[i] = std::normal_distribution<double>()(random);
            theta[i] = std::exp(-std::uniform_real_distribution<double>(0.0, 9.0)(random));
        }
        if (round % 3 == 0)
            for (std::size_t i = 0; i < pairs; ++i)
                rate.push_back(-1e-3 * static_cast<double>(i));
        // The last is longer than two tasks, whose whole ones are written in place.
        std::vector<double> table(
            static_cast<std::size_t>(std::uniform_int_distribution<int>(0, 2000)(random)) +
            (round == 29 ? 70'000 : 0));
        DistanceTableOp op;
        op.re = re;
        op.im = im;
        op.invFreq = theta;
        op.dampingRate = rate;
        op.attentionFactor = 1.25;
        op.still = 0.5;
        op.firstDistance = -std::uniform_int_distribution<int>(0, 1500)(random);
        op.table = table;
        QVERIFY(makeTestedBackend()->run(op, {}).hasValue());
        for (std::size_t at = 0; at < table.size(); at += 7) {
            const long double r = static_cast<long double>(op.firstDistance) + static_cast<long double>(at);
            long double expected = op.still;
            for (std::size_t i = 0; i < pairs; ++i)
                expected += 1.5625L * (rate.empty() ? 1.0L : std::exp(r * rate[i])) *
                            (re[i] * std::cos(r * theta[i]) - im[i] * std::sin(r * theta[i]));
            // The angle of a far distance is rounded in proportion to it.
            const double tolerance = 1e-11 + 1e-14 * std::fabs(static_cast<double>(r));
            QCOMPARE(absoluteDifference(table[at], static_cast<double>(expected), tolerance), QString());
        }
    }
}

/// The values of the table in section 1b of the formulas; computed with 50 digits, independent of this
/// program.
void TestScoreMap::knownBlocks()
{
    struct Row
    {
        std::int64_t length, block, rowBlock, columnBlock;
        double mean, least, greatest;
        std::int64_t count;
    };
    const Row kRows[] = {
        {4096, 4, 0, 0, 0.95192343895334886, 0.81540981886238861, 1.0, 10},
        {4096, 4, 1, 0, 0.79127967466822952, 0.73159110428168905, 0.97021380946511915, 16},
        {4096, 4, 508, 500, 0.55363785793863429, 0.53409455868659761, 0.56704336341699002, 16},
        {4096, 128, 7, 7, 0.56899064864924690, 0.35812773970424855, 1.0, 8256},
        {4096, 128, 7, 6, 0.41506356108889702, 0.21985646241595400, 0.97021380946511915, 16384},
        {4096, 128, 31, 0, 0.022315542412481011, -0.13067075737695483, 0.17978943908590270, 16384},
        {4099, 4, 1024, 1024, 0.97283653167801826, 0.89659157113787125, 1.0, 6},
        {4099, 4, 1024, 1023, 0.80808705678282394, 0.73541647097683949, 0.97021380946511915, 12},
        {4099, 4, 1024, 0, -0.054281014333130289, -0.067048106742231522, -0.031902929001970018, 12},
    };
    const OnesTable ones(4099);
    for (const Row& row : kRows) {
        ScoreMapOp op;
        op.grid.length = row.length;
        op.grid.block = row.block;
        op.grid.firstRowBlock = row.rowBlock;
        op.grid.firstColumnBlock = row.columnBlock;
        ScoreTerm term;
        term.table = ones.table;
        op.terms = {&term, 1};
        // The same from rows of ones, turned at their positions: their product over 128 channels.
        std::vector<double> rows(static_cast<std::size_t>(row.block) * 128, 1.0);
        std::vector<std::pair<int, int>> pairs;
        for (int i = 0; i < 64; ++i)
            pairs.emplace_back(2 * i, 2 * i + 1);
        ScoreTerm turned;
        turned.scale = 1.0 / 128.0;
        turned.width = 128;
        turned.pairs = pairs;
        turned.invFreq = ones.theta;
        turned.queries = rows;
        turned.keys = rows;
        for (const ScorePath path : {ScorePath::Toeplitz, ScorePath::Tiles, ScorePath::PooledProduct}) {
            if (path == ScorePath::PooledProduct) {
                op.terms = {&turned, 1};
                op.firstKey = op.grid.columns().first;
            }
            const bool wantsExtremes = path != ScorePath::PooledProduct;
            const Outputs found = runOn(path, op, wantsExtremes);
            QCOMPARE(absoluteDifference(found.mean[0], row.mean, 1e-12), QString());
            QCOMPARE(found.count[0], row.count);
            if (wantsExtremes) {
                QCOMPARE(absoluteDifference(found.least[0], row.least, 1e-12), QString());
                QCOMPARE(absoluteDifference(found.greatest[0], row.greatest, 1e-12), QString());
            }
        }
        const Outputs tiles = runOn(ScorePath::Tiles, op, true);
        QCOMPARE(absoluteDifference(tiles.mean[0], row.mean, 1e-12), QString());
    }
    // What the mask changes, at k = 4 on the diagonal.
    ScoreMapOp op;
    op.grid.length = 4096;
    op.grid.block = 4;
    op.grid.isCausal = false;
    std::vector<double> both;
    for (std::int64_t r = -4095; r < 4096; ++r)
        both.push_back(ones.table[static_cast<std::size_t>(std::abs(r))]);
    ScoreTerm term;
    term.table = both;
    term.firstDistance = -4095;
    op.terms = {&term, 1};
    QCOMPARE(absoluteDifference(runOn(ScorePath::Toeplitz, op, true).mean[0], 0.939904, 5e-7), QString());
}

/// Σ A²·D_k(θ)²·Re(h e^{jδkθ}) is the mean of a full block off the diagonal.
void TestScoreMap::closedForm()
{
    const OnesTable ones(8192);
    for (const std::int64_t block : {2, 16, 100}) {
        ScoreMapOp op;
        op.grid = scoreGrid(8192, {0, 8192}, {0, 8192}, 8192 / block + 1);
        op.grid.block = block;
        op.grid.rowBlocks = op.grid.columnBlocks = 8192 / block;
        ScoreTerm term;
        term.table = ones.table;
        op.terms = {&term, 1};
        const Outputs found = runOn(ScorePath::Toeplitz, op, true);
        for (std::int64_t delta = 1; delta < op.grid.rowBlocks; delta += 3) {
            long double expected = 0;
            for (const double theta : ones.theta) {
                const long double half = theta / 2.0L, k = static_cast<long double>(block);
                const long double dirichlet = std::sin(k * half) / (k * std::sin(half));
                expected += 2.0L / 128.0L * dirichlet * dirichlet *
                            std::cos(static_cast<long double>(delta * block) * theta);
            }
            const auto index = static_cast<std::size_t>(delta * op.grid.columnBlocks);
            QCOMPARE(absoluteDifference(found.mean[index], static_cast<double>(expected), 1e-12), QString());
        }
    }
}

/// Every path against loops in long double, over random lengths, views, blocks, masks, windows, stages,
/// terms, contents, temperatures, damping, left-out rows and strides.
void TestScoreMap::bruteForce()
{
    std::mt19937 random(20);
    int taken[3] = {0, 0, 0};
    for (int round = 0; round < 1500; ++round) {
        const RandomMap map(random);
        const Outputs expected = map.exact();
        for (const ScorePath path : {ScorePath::Toeplitz, ScorePath::PooledProduct, ScorePath::Tiles})
            for (const bool wantsExtremes : {true, false}) {
                ScoreMapOp asked = map.op;
                Outputs place(asked.grid, wantsExtremes);
                place.giveTo(asked);
                if (!mayTake(path, asked))
                    continue;
                ++taken[static_cast<int>(path)];
                const Outputs found = runOn(path, map.op, wantsExtremes);
                const QByteArray where =
                    QByteArray::number(round) + " path " + QByteArray::number(static_cast<int>(path));
                // Scores are at most some 40 here, softmax cells 1.
                const double tolerance = map.op.stage == ScoreStage::Softmax ? 1e-13 : 2e-12;
                const auto check = [&](const std::vector<double>& a, const std::vector<double>& b,
                                       const char* what) {
                    const QString wrong = difference(a, b, tolerance);
                    QVERIFY2(wrong.isEmpty(),
                             qPrintable(QStringLiteral("round ") + where + ' ' + what + ' ' + wrong));
                };
                QCOMPARE(found.count, expected.count);
                check(found.mean, expected.mean, "mean");
                check(found.rowValue, expected.rowValue, "row");
                if (wantsExtremes) {
                    check(found.least, expected.least, "least");
                    check(found.greatest, expected.greatest, "greatest");
                }
                if (QTest::currentTestFailed())
                    return;
            }
    }
    for (const int count : taken)
        QVERIFY(count > 100);
}

/// From the same table the extremes of both paths are equal to the bit, and the mean within 1e-12.
void TestScoreMap::extremesToTheBit()
{
    const OnesTable ones(3000);
    for (const std::int64_t window : {0, 77, 1000}) {
        ScoreMapOp op;
        op.grid = scoreGrid(3000, {0, 3000}, {0, 3000}, 130);
        op.grid.window = window;
        ScoreTerm term;
        term.table = ones.table;
        term.scale = 11.3;
        op.terms = {&term, 1};
        const Outputs fast = runOn(ScorePath::Toeplitz, op, true), all = runOn(ScorePath::Tiles, op, true);
        QCOMPARE(fast.count, all.count);
        QCOMPARE(difference(fast.least, all.least, 0.0), QString());
        QCOMPARE(difference(fast.greatest, all.greatest, 0.0), QString());
        QCOMPARE(difference(fast.mean, all.mean, 1e-12 * 11.3), QString());
    }
}

/// The fastest pair alone, 4096² cells: what sampling draws as stripes is grey in the mean.
void TestScoreMap::fastPairComesOutGrey()
{
    std::vector<double> table(4096);
    for (std::size_t r = 0; r < table.size(); ++r)
        table[r] = std::cos(static_cast<double>(r));
    ScoreTerm term;
    term.table = table;
    ScoreMapOp op;
    op.grid = scoreGrid(4096, {0, 4096}, {0, 4096}, 512);
    op.terms = {&term, 1};
    // D_8(1)² = (sin 4/(8 sin ½))² is what is left of the amplitude.
    const double left = std::pow(std::sin(4.0) / (8.0 * std::sin(0.5)), 2.0);
    const auto checkGrey = [&](const std::vector<double>& mean) {
        for (std::int64_t row = 1; row < 512; ++row)
            for (std::int64_t column = 0; column < row; ++column)
                QVERIFY(std::fabs(mean[static_cast<std::size_t>(row * 512 + column)]) <= left + 1e-12);
    };
    QVERIFY(left < 0.04);
    checkGrey(runOn(ScorePath::Toeplitz, op, true).mean);
    // The same from a position's own rows.
    const std::vector<double> rows = [] {
        std::vector<double> values(2 * 4096);
        for (std::size_t i = 0; i < values.size(); i += 2)
            values[i] = 1.0;
        return values;
    }();
    const std::pair<int, int> pair{0, 1};
    const double theta = 1.0;
    ScoreTerm turned;
    turned.width = 2;
    turned.pairs = {&pair, 1};
    turned.invFreq = {&theta, 1};
    turned.queries = turned.keys = rows;
    op.terms = {&turned, 1};
    checkGrey(runOn(ScorePath::PooledProduct, op, false).mean);
}

/// A map of equal logits is 1/(m+1) on every visible key, its entropy ln(m+1).
void TestScoreMap::softmaxOfKnownRows()
{
    const std::vector<double> table(100, 3.0);
    ScoreTerm term;
    term.table = table;
    ScoreMapOp op;
    op.grid = scoreGrid(100, {0, 100}, {0, 100}, 100);
    op.stage = ScoreStage::Softmax;
    op.terms = {&term, 1};
    for (const ScorePath path : {ScorePath::Toeplitz, ScorePath::Tiles}) {
        const Outputs found = runOn(path, op, true);
        for (std::size_t m = 0; m < 100; ++m) {
            QCOMPARE(relativeDifference(found.mean[m * 100], 1.0 / (static_cast<double>(m) + 1.0), 1e-14),
                     QString());
            QCOMPARE(absoluteDifference(found.rowValue[m], std::log(static_cast<double>(m) + 1.0), 1e-13),
                     QString());
        }
    }
}

/// Logits that differ by more than a double's range: the row's own maximum is subtracted, and nothing is
/// lost.
void TestScoreMap::wideSpread()
{
    std::vector<double> table{-900.0, -900.0, 0.0};
    ScoreTerm term;
    term.table = table;
    ScoreMapOp op;
    op.grid = scoreGrid(3, {0, 3}, {0, 3}, 3);
    op.stage = ScoreStage::Softmax;
    op.terms = {&term, 1};
    QVERIFY(!mayTake(ScorePath::Toeplitz, op));
    QCOMPARE(fastestPath(op), ScorePath::Tiles);
    const Outputs found = runOn(ScorePath::Tiles, op, true);
    QCOMPARE(found.mean[0], 1.0);
    QCOMPARE(absoluteDifference(found.mean[3], 0.5, 1e-15), QString()); // (1,0), beside (1,1)
    QCOMPARE(found.mean[6], 1.0);                                       // (2,0)
    QCOMPARE(absoluteDifference(found.mean[8], 0.0, 1e-300), QString());
}

/// 131072² cells, 64-bit indices: the last block is right, and it takes no time that is felt.
void TestScoreMap::longest()
{
    const OnesTable ones(131072);
    ScoreMapOp op;
    op.grid = scoreGrid(131072, {0, 131072}, {0, 131072}, 512);
    QCOMPARE(op.grid.block, std::int64_t{256});
    ScoreTerm term;
    term.table = ones.table;
    op.terms = {&term, 1};
    QElapsedTimer timer;
    timer.start();
    const Outputs found = runOn(ScorePath::Toeplitz, op, true);
    QVERIFY2(timer.elapsed() < 1000, "brute force takes ten seconds and more");
    const auto last = static_cast<std::size_t>(511 * 512);
    long double sum = 0;
    for (std::int64_t m = 130816; m < 131072; ++m)
        for (std::int64_t n = 0; n < 256; ++n)
            sum += ones.table[static_cast<std::size_t>(m - n)];
    QCOMPARE(absoluteDifference(found.mean[last], static_cast<double>(sum / 65536.0L), 1e-13), QString());
    QCOMPARE(found.count[last], std::int64_t{65536});
    long double all = 0;
    for (std::int64_t r = 0; r < 131072; ++r)
        all += ones.table[static_cast<std::size_t>(r)];
    QCOMPARE(absoluteDifference(found.rowValue.back(), static_cast<double>(all / 131072.0L), 1e-13),
             QString());
}

void TestScoreMap::stops()
{
    const std::size_t count = 4096;
    std::mt19937 random(1);
    const std::vector<double> rows = randomRow(random, static_cast<int>(count) * 64);
    ScoreTerm term;
    term.width = 64;
    term.queries = term.keys = rows;
    for (const ScoreStage stage : {ScoreStage::Raw, ScoreStage::Softmax}) {
        ScoreMapOp op;
        op.grid = scoreGrid(count, {0, count}, {0, count}, 512);
        op.stage = stage;
        op.terms = {&term, 1};
        Outputs outputs(op.grid);
        outputs.giveTo(op);
        std::stop_source source;
        std::thread stopper([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            source.request_stop();
        });
        const Result<void> done = makeTestedBackend()->run(op, source.get_token());
        stopper.join();
        QVERIFY(!done);
        QCOMPARE(done.error().code, ErrorCode::Cancelled);
    }
}

ROPEWALK_TEST_ALL_CPU_LEVELS(TestScoreMap)
#include "test_score_map.moc"
