// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cosine_integral.h"
#include "core/frequency_rules.h"
#include "tests/support/compare.h"
#include "tests/support/cpu_levels.h"
#include "tests/support/random_config.h"
#include "tests/support/reference.h"

#include <QtTest>
#include <array>
#include <atomic>
#include <complex>
#include <thread>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

/// Curves B and U may differ by 1e-10 a pair; in C units, divided by the number of pairs, by 1e-10.
constexpr double kCurve = 1e-10;

struct Curves
{
    std::vector<double> mean, sd, cosine, bound;
    explicit Curves(std::size_t count)
        : mean(count, std::nan(""))
        , sd(mean)
        , cosine(mean)
        , bound(mean)
    {
    }
    void giveTo(DecayOp& op)
    {
        op.similarMean = mean;
        op.similarSd = sd;
        op.cosineSum = cosine;
        op.boundFactor = bound;
    }
};

/// The four curves at one distance from their definitions, in long double and with nothing of core's.
std::array<double, 4> exactCurves(const DecayOp& op, long double r)
{
    using Complex = std::complex<long double>;
    const long double attention = op.attentionFactor, rho = op.rho;
    const long double headDim = 2.0L * op.pairCount;
    long double mean = 0, variance = 0, cosine = 0, bound = 0;
    Complex partial = 0;
    // By index those that turn, then the still ones, which the bound places last.
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < op.invFreq.size(); ++i)
        if (op.invFreq[i] != 0.0)
            order.push_back(i);
    const auto turning = static_cast<int>(order.size());
    for (int i = 0; i < op.pairCount; ++i) {
        const bool turns = i < turning;
        const std::size_t pair = turns ? order[static_cast<std::size_t>(i)] : 0;
        const long double angle = turns ? r * op.invFreq[pair] : 0.0L;
        const long double damping = turns && !op.dampingRate.empty()
                                        ? std::exp(r * static_cast<long double>(op.dampingRate[pair]))
                                        : 1.0L;
        const long double a2 = turns ? attention * attention * damping : 1.0L;
        mean += 2 * rho * a2 * std::cos(angle);
        variance +=
            4 * rho * rho * a2 * a2 * std::cos(angle) * std::cos(angle) + (1 - rho * rho) * 2 * a2 * a2;
        cosine += std::cos(angle);
        partial += std::polar(1.0L, angle);
        bound += std::abs(partial);
    }
    const long double boundAtZero = op.pairCount * (op.pairCount + 1) / 2.0L;
    return {static_cast<double>(mean / headDim), static_cast<double>(std::sqrt(variance) / headDim),
            static_cast<double>(2 * cosine / headDim), static_cast<double>(bound / boundAtZero)};
}

/// Runs `op` on the processor for all curves, at the consecutive distances from `op.firstDistance` or at
/// `distances`.
Curves run(DecayOp op, std::size_t count)
{
    Curves curves(count);
    curves.giveTo(op);
    if (!makeTestedBackend()->run(op, {}))
        qFatal("the processor could not compute the decay");
    return curves;
}

std::vector<double> asDistances(const QJsonArray& rows)
{
    std::vector<double> distances;
    for (const QJsonValue& row : rows)
        distances.push_back(row.toObject()["r"].toDouble());
    return distances;
}

/// The rows' distances by the explicit path and, out of one long run, by the path with tables: both must
/// hold.
template<class Check>
void onBothPaths(DecayOp op, const std::vector<double>& distances, Check check)
{
    op.distances = distances;
    const Curves chosen = run(op, distances.size());
    op.distances = {};
    const Curves all =
        run(op, static_cast<std::size_t>(*std::max_element(distances.begin(), distances.end())) + 1);
    for (std::size_t row = 0; row < distances.size(); ++row) {
        check(row, chosen, row);
        check(row, all, static_cast<std::size_t>(distances[row]));
    }
}

} // namespace

class TestDecay : public QObject
{
    Q_OBJECT
private slots:
    void roformerBound();
    void cosineSum();
    void cosineSumOfPartialRotation();
    void xpos();
    void integralLimit();
    void gaussianStatistics();
    void firstNegative();
    void againstDefinition_data();
    void againstDefinition();
    void onlyTheAskedCurves();
    void atDistanceZero();
    void withoutRotation();
    void floorOfPartialRotation();
    void onesContentGivesTheCosineSum();
    void positionInterpolationStretches();
    void baseLowerBound();
    void stoppedBeforeItStarts();
    void stopReachesItWithinTwoTiles();
};

void TestDecay::roformerBound()
{
    for (const ReferenceEntry& entry : referenceEntries("decay/roformer_bound")) {
        const RopeConfig config = plainConfig(entry.params);
        const FrequencyTable table = frequencyTable(config);
        DecayOp op;
        op.invFreq = table.scaled;
        op.pairCount = config.headDim / 2;
        const QJsonArray rows = entry.values["rows"].toArray();
        onBothPaths(op, asDistances(rows), [&](std::size_t row, const Curves& curves, std::size_t at) {
            const double atZero = (op.pairCount + 1) / 2.0;
            const double expected = rows[static_cast<qsizetype>(row)].toObject()["mean_abs_S"].toDouble();
            QCOMPARE(absoluteDifference(curves.bound[at] * atZero, expected, 1e-10 * op.pairCount),
                     QString());
        });
    }
}

void TestDecay::cosineSum()
{
    for (const ReferenceEntry& entry : referenceEntries("decay/sum_cos")) {
        const RopeConfig config = plainConfig(entry.params);
        const FrequencyTable table = frequencyTable(config);
        DecayOp op;
        op.invFreq = table.scaled;
        op.pairCount = config.headDim / 2;
        const QJsonArray rows = entry.values["rows"].toArray();
        onBothPaths(op, asDistances(rows), [&](std::size_t row, const Curves& curves, std::size_t at) {
            const QJsonObject expected = rows[static_cast<qsizetype>(row)].toObject();
            QCOMPARE(absoluteDifference(curves.cosine[at], expected["normalised"].toDouble(), kCurve),
                     QString());
            QCOMPARE(absoluteDifference(curves.cosine[at] * op.pairCount, expected["B"].toDouble(),
                                        1e-10 * op.pairCount),
                     QString());
        });
    }
}

void TestDecay::cosineSumOfPartialRotation()
{
    // The entries name their rotated width in words; all have base 10000.
    const QMap<QString, int> widths{{"partial 25% NeoX, head 128 (rotary 32)", 32},
                                    {"half rotated, head 128 (rotary 64)", 64},
                                    {"RoPE-ID head 128", 128},
                                    {"NoPE head 128", 0}};
    int tested = 0;
    for (const ReferenceEntry& entry : referenceEntries("decay/sum_cos_partial")) {
        QVERIFY2(widths.contains(entry.params["name"].toString()),
                 qPrintable(entry.params["name"].toString()));
        RopeConfig config;
        config.headDim = entry.params["head_dim"].toInt();
        config.rotaryDim = widths[entry.params["name"].toString()];
        if (entry.params["name"].toString().startsWith("RoPE-ID")) {
            config.rule = FrequencyRule::RopeId;
            config.channels = ChannelScheme::Quarters13;
            config.maxPositionEmbeddings = 4096;
        }
        const FrequencyTable table = frequencyTable(config);
        DecayOp op;
        op.invFreq = table.scaled;
        op.pairCount = config.headDim / 2;
        const QJsonArray rows = entry.values["rows"].toArray();
        onBothPaths(op, asDistances(rows), [&](std::size_t row, const Curves& curves, std::size_t at) {
            const double expected = rows[static_cast<qsizetype>(row)].toObject()["C"].toDouble();
            QCOMPARE(absoluteDifference(curves.cosine[at], expected, kCurve), QString());
        });
        ++tested;
    }
    QCOMPARE(tested, 4);
}

void TestDecay::xpos()
{
    for (const ReferenceEntry& entry : referenceEntries("decay/xpos")) {
        RopeConfig config = plainConfig(entry.params);
        config.xpos = XPos{entry.params["gamma"].toDouble(), entry.params["scale_base"].toDouble()};
        const FrequencyTable table = frequencyTable(config);
        const std::vector<double> rates = dampingRates(config, table);
        const std::vector<double> zeta = numbers(entry.values["zeta"]);
        for (std::size_t i = 0; i < zeta.size(); ++i)
            QCOMPARE(relativeDifference(std::exp(rates[i] * config.xpos->scaleBase), zeta[i], 1e-14),
                     QString());
        DecayOp op;
        op.invFreq = table.scaled;
        op.dampingRate = rates;
        op.pairCount = 32;
        const QJsonArray rows = entry.values["rows"].toArray();
        onBothPaths(op, asDistances(rows), [&](std::size_t row, const Curves& curves, std::size_t at) {
            const double expected = rows[static_cast<qsizetype>(row)].toObject()["value"].toDouble() / 32.0;
            QCOMPARE(absoluteDifference(curves.mean[at], expected, kCurve), QString());
        });
        // A wide γ damps nothing.
        config.xpos->gamma = 1e12;
        const std::vector<double> none = dampingRates(config, table);
        QVERIFY(std::all_of(none.begin(), none.end(), [](double rate) { return std::fabs(rate) < 1e-14; }));
    }
}

void TestDecay::integralLimit()
{
    int tested = 0;
    for (const ReferenceEntry& entry : referenceEntries("decay/sum_cos_integral_limit"))
        for (const QJsonValue& row : entry.values["rows"].toArray()) {
            const double limit = cosineSumLimit(row["r"].toDouble(), entry.params["base"].toDouble());
            QCOMPARE(absoluteDifference(limit, row["value"].toDouble(), 1e-15), QString());
            ++tested;
        }
    QVERIFY(tested > 20);
    for (const ReferenceEntry& entry : referenceEntries("decay/ci_first_zero"))
        QCOMPARE(absoluteDifference(cosineIntegral(entry.values["x0"].toDouble()), 0.0, 2e-15), QString());
    // For a fixed distance a growing base lets nothing decay.
    QVERIFY(cosineSumLimit(1000.0, 1e300) > 0.98);
}

void TestDecay::gaussianStatistics()
{
    for (const ReferenceEntry& entry : referenceEntries("decay/gaussian_stats")) {
        const RopeConfig config = plainConfig(entry.params);
        const FrequencyTable table = frequencyTable(config);
        for (const QJsonValue& value : entry.values["rows"].toArray()) {
            const QJsonObject row = value.toObject();
            const std::vector<double> distance{row["r"].toDouble()};
            DecayOp op;
            op.invFreq = table.scaled;
            op.pairCount = config.headDim / 2;
            op.rho = row["rho"].toDouble();
            op.distances = distance;
            const Curves curves = run(op, 1);
            const double raw = config.headDim;
            const double tolerance = 1e-10 * op.pairCount;
            QCOMPARE(absoluteDifference(curves.mean[0] * raw, row["mean"].toDouble(), tolerance), QString());
            QCOMPARE(absoluteDifference(curves.sd[0] * raw, std::sqrt(row["var"].toDouble()), tolerance),
                     QString());
        }
    }
}

void TestDecay::firstNegative()
{
    int tested = 0;
    for (const ReferenceEntry& entry : referenceEntries("decay/first_negative")) {
        for (const QJsonValue& value : entry.values["rows"].toArray()) {
            const QJsonObject row = value.toObject();
            const RopeConfig config = plainConfig(row);
            const FrequencyTable table = frequencyTable(config);
            DecayOp op;
            op.invFreq = table.scaled;
            op.pairCount = config.headDim / 2;
            std::vector<double> cosine(100000);
            op.cosineSum = cosine;
            QVERIFY(makeTestedBackend()->run(op, {}).hasValue());
            const auto found = std::find_if(cosine.begin(), cosine.end(), [](double c) { return c < 0.0; });
            QCOMPARE(found - cosine.begin(), row["first_negative_distance"].toInteger());
            const double pairs = op.pairCount;
            QCOMPARE(absoluteDifference(found[0] * pairs, row["B_there"].toDouble(), 1e-10 * pairs),
                     QString());
            QCOMPARE(absoluteDifference(found[-1] * pairs, row["B_one_before"].toDouble(), 1e-10 * pairs),
                     QString());
            ++tested;
        }
    }
    QCOMPARE(tested, 9);
}

void TestDecay::againstDefinition_data()
{
    QTest::addColumn<int>("seed");
    QTest::addColumn<qint64>("first");
    QTest::addColumn<int>("count");
    QTest::addColumn<bool>("isExplicit");
    // Around one tile of 512 distances, where the path with tables begins, and across its edges.
    int seed = 20;
    for (const int count : {1, 2, 511, 512, 513, 1024, 3000})
        for (const qint64 first : {0, 1, 4095, 131000})
            for (const bool isExplicit : {false, true})
                QTest::addRow("%d from %lld%s", count, first, isExplicit ? ", listed" : "")
                    << seed++ << first << count << isExplicit;
}

void TestDecay::againstDefinition()
{
    QFETCH(int, seed);
    QFETCH(qint64, first);
    QFETCH(int, count);
    QFETCH(bool, isExplicit);
    std::mt19937 random(static_cast<unsigned>(seed));
    const RopeConfig config = randomConfig(random);
    const FrequencyTable table = frequencyTable(config);
    DecayOp op;
    op.invFreq = table.scaled;
    op.pairCount = config.headDim / 2;
    op.attentionFactor = std::uniform_real_distribution(0.8, 1.4)(random);
    op.rho = std::uniform_real_distribution(-1.0, 1.0)(random);
    op.firstDistance = first;
    std::vector<double> rates;
    if (seed % 3 == 0) { // as xPos damps
        for (std::size_t i = 0; i < table.scaled.size(); ++i)
            rates.push_back(-std::uniform_real_distribution(0.0, 2e-3)(random));
        op.dampingRate = rates;
    }
    std::vector<double> distances;
    if (isExplicit) {
        // Gaps that are no multiple of anything.
        for (int i = 0; i < count; ++i)
            distances.push_back(static_cast<double>(first + i + i / 7 * 3));
        op.distances = distances;
    }
    const Curves curves = run(op, static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const auto [mean, sd, cosine, bound] = exactCurves(op, isExplicit ? distances[at] : first + i);
        const double scaled = kCurve * std::max(1.0, op.attentionFactor * op.attentionFactor);
        QCOMPARE(absoluteDifference(curves.mean[at], mean, scaled), QString());
        QCOMPARE(absoluteDifference(curves.sd[at], sd, scaled), QString());
        QCOMPARE(absoluteDifference(curves.cosine[at], cosine, kCurve), QString());
        QCOMPARE(absoluteDifference(curves.bound[at], bound, kCurve), QString());
    }
}

void TestDecay::onlyTheAskedCurves()
{
    // Each curve alone is what it is together with the others, to the bit.
    std::mt19937 random(40);
    RopeConfig config = randomConfig(random);
    const FrequencyTable table = frequencyTable(config);
    DecayOp op;
    op.invFreq = table.scaled;
    op.pairCount = config.headDim / 2;
    op.rho = 0.5;
    op.attentionFactor = 1.2;
    const Curves all = run(op, 1500);
    for (const auto& [asked, expected] :
         {std::pair{&DecayOp::similarMean, &all.mean}, std::pair{&DecayOp::similarSd, &all.sd},
          std::pair{&DecayOp::cosineSum, &all.cosine}, std::pair{&DecayOp::boundFactor, &all.bound}}) {
        std::vector<double> alone(1500, std::nan(""));
        DecayOp one = op;
        one.*asked = alone;
        QVERIFY(makeTestedBackend()->run(one, {}).hasValue());
        QCOMPARE(alone, *expected);
    }
}

void TestDecay::atDistanceZero()
{
    std::mt19937 random(41);
    for (int round = 0; round < 200; ++round) {
        const RopeConfig config = randomConfig(random);
        const FrequencyTable table = frequencyTable(config);
        DecayOp op;
        op.invFreq = table.scaled;
        op.pairCount = config.headDim / 2;
        op.rho = std::uniform_real_distribution(-1.0, 1.0)(random);
        const Curves curves = run(op, 1);
        QCOMPARE(relativeDifference(curves.cosine[0], 1.0, 1e-15), QString());
        QCOMPARE(relativeDifference(curves.bound[0], 1.0, 1e-13), QString());
        QCOMPARE(relativeDifference(curves.mean[0], op.rho, 1e-14), QString());
    }
}

void TestDecay::withoutRotation()
{
    DecayOp op;
    op.pairCount = 64;
    const Curves curves = run(op, 2000);
    for (std::size_t r = 0; r < 2000; ++r) {
        QCOMPARE(curves.cosine[r], 1.0);
        QCOMPARE(curves.mean[r], 1.0);
        QCOMPARE(relativeDifference(curves.bound[r], 1.0, 1e-13), QString());
    }
}

void TestDecay::floorOfPartialRotation()
{
    std::mt19937 random(42);
    for (int round = 0; round < 60; ++round) {
        const RopeConfig config = randomConfig(random);
        const FrequencyTable table = frequencyTable(config);
        DecayOp op;
        op.invFreq = table.scaled;
        op.pairCount = config.headDim / 2;
        std::vector<double> cosine(5000);
        op.cosineSum = cosine;
        QVERIFY(makeTestedBackend()->run(op, {}).hasValue());
        const double floor = 1.0 - 4.0 * table.turningPairs() / config.headDim;
        QVERIFY(*std::min_element(cosine.begin(), cosine.end()) >= floor - 1e-12);
        QVERIFY(*std::max_element(cosine.begin(), cosine.end()) <= 1.0 + 1e-12);
    }
}

void TestDecay::onesContentGivesTheCosineSum()
{
    // All channels 1: the score over head_dim is C(r), and it is even in the distance.
    std::mt19937 random(43);
    for (int round = 0; round < 50; ++round) {
        const RopeConfig config = randomConfig(random);
        const FrequencyTable table = frequencyTable(config);
        const double m = std::uniform_int_distribution(0, 5000)(random);
        const double n = std::uniform_int_distribution(0, 5000)(random);
        const std::vector<double> distance{std::fabs(m - n)};
        DecayOp op;
        op.invFreq = table.scaled;
        op.pairCount = config.headDim / 2;
        op.distances = distance;
        const Curves curves = run(op, 1);
        for (const double sign : {1.0, -1.0}) {
            long double score = config.headDim - 2 * static_cast<int>(table.scaled.size());
            for (const double theta : table.scaled) { // a still pair with θ = 0 adds 2
                const long double q = sign * m * theta, k = sign * n * theta;
                score += (std::cos(q) - std::sin(q)) * (std::cos(k) - std::sin(k)) +
                         (std::cos(q) + std::sin(q)) * (std::cos(k) + std::sin(k));
            }
            QCOMPARE(
                absoluteDifference(curves.cosine[0], static_cast<double>(score / config.headDim), kCurve),
                QString());
        }
    }
}

void TestDecay::positionInterpolationStretches()
{
    RopeConfig plain;
    RopeConfig stretched;
    stretched.rule = FrequencyRule::Linear;
    stretched.parameters.factor = 8.0;
    const FrequencyTable plainTable = frequencyTable(plain), stretchedTable = frequencyTable(stretched);
    DecayOp op;
    op.pairCount = 64;
    op.invFreq = plainTable.scaled;
    const Curves expected = run(op, 2000);
    op.invFreq = stretchedTable.scaled;
    const Curves curves = run(op, 16000);
    for (std::size_t r = 0; r < 2000; ++r)
        QCOMPARE(absoluteDifference(curves.cosine[8 * r], expected.cosine[r], kCurve), QString());
}

/// The least base for which C stays ≥ 0 over a length (arXiv:2405.14591): just below it C falls below 0
/// somewhere, just above it does not.
void TestDecay::baseLowerBound()
{
    int count = 0;
    for (const ReferenceEntry& entry : referenceEntries("decay/base_lower_bound"))
        for (const QJsonValue& row : entry.values["rows"].toArray()) {
            const double edge = row["left_edge_of_first_good_interval"].toDouble();
            const auto least = [&](double base) {
                RopeConfig config;
                config.headDim = config.rotaryDim = entry.params["d"].toInt();
                config.base = base;
                const FrequencyTable table = frequencyTable(config);
                std::vector<double> cosine(static_cast<std::size_t>(row["L"].toInteger()));
                DecayOp op;
                op.invFreq = table.scaled;
                op.pairCount = config.headDim / 2;
                op.cosineSum = cosine;
                return makeCpuBackend()->run(op, {}) ? *std::min_element(cosine.begin(), cosine.end())
                                                     : std::nan("");
            };
            double below = edge * (1.0 - 1e-5), above = edge * (1.0 + 1e-5);
            QVERIFY2(least(below) < 0.0 && least(above) >= 0.0, qPrintable(QString::number(edge, 'g', 12)));
            for (int step = 0; step < 12; ++step) {
                const double middle = 0.5 * (below + above);
                (least(middle) < 0.0 ? below : above) = middle;
            }
            QCOMPARE(relativeDifference(above, edge, 1e-8), QString()); // the reference has nine digits
            ++count;
        }
    QCOMPARE(count, 6);
}

void TestDecay::stoppedBeforeItStarts()
{
    std::stop_source stop;
    stop.request_stop();
    DecayOp op;
    op.pairCount = 64;
    Curves curves(10);
    curves.giveTo(op);
    const Result<void> done = makeTestedBackend()->run(op, stop.get_token());
    QVERIFY(!done);
    QCOMPARE(done.error().code, ErrorCode::Cancelled);
    QVERIFY(std::isnan(curves.cosine[0]));
}

void TestDecay::stopReachesItWithinTwoTiles()
{
    constexpr std::size_t kTile = 32256, kTiles = 400; // what one thread does between two looks at the stop
    const FrequencyTable table = frequencyTable(RopeConfig{});
    DecayOp op;
    op.invFreq = table.scaled;
    op.pairCount = 64;
    // Outputs show how far it has come; they are looked at while it runs, so by atomic reads.
    std::vector<double> cosine(kTile * kTiles, std::nan(""));
    op.cosineSum = cosine;
    const auto isWritten = [&](std::size_t tile) {
        return !std::isnan(std::atomic_ref(cosine[tile * kTile + kTile - 1]).load(std::memory_order_relaxed));
    };
    std::stop_source stop;
    std::atomic<std::size_t> atStop = 0;
    std::jthread stopper([&](const std::stop_token& given) {
        while (!isWritten(10) && !given.stop_requested())
            std::this_thread::yield();
        stop.request_stop();
        std::size_t tile = 10;
        while (tile < kTiles && isWritten(tile))
            ++tile;
        atStop = tile;
    });
    const Result<void> done = makeTestedBackend(1)->run(op, stop.get_token());
    stopper.request_stop(); // so that the test ends where nothing was written
    stopper.join();
    QVERIFY(!done);
    QCOMPARE(done.error().code, ErrorCode::Cancelled);
    std::size_t finished = 0;
    while (finished < kTiles && isWritten(finished))
        ++finished;
    QVERIFY2(finished <= atStop + 2, qPrintable(QString("%1 tiles after the stop").arg(finished - atStop)));
    QVERIFY(finished < kTiles);
}

ROPEWALK_TEST_ALL_CPU_LEVELS(TestDecay)
#include "test_decay.moc"
