// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/channel_map.h"
#include "core/cpu_backend.h"
#include "core/frequency_rules.h"
#include "core/rope_math.h"
#include "tests/support/compare.h"
#include "tests/support/random_config.h"
#include "tests/support/reference.h"

#include <QtTest>
#include <cstring>
#include <numeric>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

std::vector<double> rotated(const RopeConfig& config, std::span<const double> row, double position,
                            std::span<const double> invFreq = {})
{
    const ChannelMap map = channelMap(config);
    const FrequencyTable table = frequencyTable(config);
    std::vector<double> out(row.size(), std::nan(""));
    RotateOp op;
    op.pairs = map.formed;
    op.invFreq = invFreq.empty() ? std::span<const double>(table.scaled) : invFreq;
    op.attentionFactor = table.attentionFactor;
    op.position = position;
    op.input = row;
    op.output = out;
    if (!makeCpuBackend()->run(op, {}))
        qFatal("the processor could not rotate");
    return out;
}

std::vector<double> contributions(const RopeConfig& config, std::span<const double> query,
                                  std::span<const double> key)
{
    const ChannelMap map = channelMap(config);
    std::vector<std::pair<int, int>> pairs = map.formed;
    pairs.insert(pairs.end(), map.outside.begin(), map.outside.end());
    std::vector<double> out(pairs.size(), std::nan(""));
    PairContributionOp op;
    op.pairs = pairs;
    op.query = query;
    op.key = key;
    op.contribution = out;
    if (!makeCpuBackend()->run(op, {}))
        qFatal("the processor could not multiply");
    return out;
}

double sum(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0);
}

double score(const RopeConfig& config, std::span<const double> q, std::span<const double> k, double m,
             double n)
{
    return sum(contributions(config, rotated(config, q, m), rotated(config, k, n)));
}

/// What rounding of mθ and nθ may change in the score: Σ|q_i||k_i|A²·(error of either turn), and the sum's
/// own rounding.
double scoreTolerance(const RopeConfig& config, std::span<const double> q, std::span<const double> k,
                      double m, double n)
{
    const ChannelMap map = channelMap(config);
    const FrequencyTable table = frequencyTable(config);
    double tolerance = 0.0, size = 0.0;
    for (int i = 0; i < map.pairCount(); ++i) {
        const auto [a, b] = map.pair(i);
        const auto at = [](std::span<const double> row, int channel) {
            return row[static_cast<std::size_t>(channel)];
        };
        const bool turns = table.turns(i);
        const double lengths = std::hypot(at(q, a), at(q, b)) * std::hypot(at(k, a), at(k, b)) *
                               (turns ? table.attentionFactor * table.attentionFactor : 1.0);
        size += lengths;
        if (turns) {
            const double theta = table.scaled[static_cast<std::size_t>(i)];
            tolerance += 2.0 * lengths * (turnTolerance(m, theta) + turnTolerance(n, theta));
        }
    }
    return tolerance + 1e-14 * size;
}

bool sameBits(double a, double b)
{
    return std::memcmp(&a, &b, sizeof a) == 0;
}

} // namespace

class TestRotation : public QObject
{
    Q_OBJECT
private slots:
    void cosAndSin();
    void turnsOfOtherRules();
    void quartersOfRopeId();
    void lastSliceOfTheHead();
    void twoBlocksOfTheHead();
    void rotate_data();
    void rotate();
    void permutation();
    void scores();
    void positionZeroIsTheIdentity();
    void normOfEveryPairStays();
    void scoreDependsOnTheDistanceOnly();
    void rotationsAdd();
    void negativePositionIsTheTransposed();
    void halfIsInterleavedPermuted();
    void twoChannelsAreOnePair();
    void mixedLayoutsBreakTheRelativeProperty();
    void untouchedChannelsKeepTheirBits();
    void everyChannelIsInOnePair();
    void attentionFactorScalesRotatedPairsOnly();
};

void TestRotation::cosAndSin()
{
    for (const ReferenceEntry& entry : referenceEntries("cos_sin/plain")) {
        const RopeConfig config = plainConfig(entry.params);
        const FrequencyTable table = frequencyTable(config);
        const ChannelMap map = channelMap(config);
        for (const QJsonValue& value : entry.values["rows"].toArray()) {
            const QJsonObject row = value.toObject();
            const auto pair = static_cast<std::size_t>(row["pair"].toInt());
            const double position = row["position"].toDouble();
            const double theta = row["theta"].toDouble();
            QCOMPARE(relativeDifference(table.scaled[pair], theta, 1e-13), QString());
            // A unit arrow on the pair's first channel comes out as (cos, sin).
            std::vector<double> arrow(static_cast<std::size_t>(config.headDim), 0.0);
            const auto a = static_cast<std::size_t>(map.formed[pair].first);
            const auto b = static_cast<std::size_t>(map.formed[pair].second);
            arrow[a] = 1.0;
            const std::vector<double> own = rotated(config, arrow, position);
            const double ownTolerance = turnTolerance(position, theta);
            QCOMPARE(absoluteDifference(own[a], row["cos"].toDouble(), ownTolerance), QString());
            QCOMPARE(absoluteDifference(own[b], row["sin"].toDouble(), ownTolerance), QString());
            // Fed with the file's θ only the product itself rounds.
            std::vector<double> fed = table.scaled;
            fed[pair] = theta;
            const std::vector<double> out = rotated(config, arrow, position, fed);
            const double fedTolerance = std::max(1e-15, 4e-16 * position * theta);
            QCOMPARE(absoluteDifference(out[a], row["cos"].toDouble(), fedTolerance), QString());
            QCOMPARE(absoluteDifference(out[b], row["sin"].toDouble(), fedTolerance), QString());
        }
    }
}

void TestRotation::turnsOfOtherRules()
{
    struct Case
    {
        const char* what;
        RopeConfig config;
    };
    Case ropeId{"cos_sin/rope_id", {}};
    ropeId.config.channels = ChannelScheme::Quarters13;
    ropeId.config.rule = FrequencyRule::RopeId;
    ropeId.config.maxPositionEmbeddings = 4096;
    Case yarn{"cos_sin/yarn_scaled", {}};
    yarn.config.rule = FrequencyRule::Yarn;
    yarn.config.parameters.factor = 16.0;
    yarn.config.originalMaxPositionEmbeddings = 4096;
    for (const Case& one : {ropeId, yarn})
        for (const ReferenceEntry& entry : referenceEntries(one.what)) {
            const FrequencyTable table = frequencyTable(one.config);
            const ChannelMap map = channelMap(one.config);
            for (const QJsonValue& row : entry.values["rows"].toArray()) {
                const int pair = row["pair"].toInt();
                const double position = row["position"].toDouble();
                std::vector<double> arrow(128, 0.0);
                const auto a = static_cast<std::size_t>(map.pair(pair).first);
                const auto b = static_cast<std::size_t>(map.pair(pair).second);
                arrow[a] = 1.0;
                const std::vector<double> out = rotated(one.config, arrow, position);
                const double tolerance = table.attentionFactor * turnTolerance(position, table.theta(pair));
                QCOMPARE(absoluteDifference(out[a], row["cos"].toDouble(), tolerance), QString());
                QCOMPARE(absoluteDifference(out[b], row["sin"].toDouble(), tolerance), QString());
            }
        }
}

void TestRotation::quartersOfRopeId()
{
    for (const ReferenceEntry& entry : referenceEntries("rotate/quarters_1_3_rope_id")) {
        RopeConfig config;
        config.headDim = config.rotaryDim = 8;
        config.channels = ChannelScheme::Quarters13;
        config.rule = FrequencyRule::RopeId;
        config.maxPositionEmbeddings = 4096;
        const std::vector<double> x = numbers(entry.params["x"]);
        const double position = entry.params["position"].toDouble();
        const std::vector<double> y = rotated(config, x, position);
        const double tolerance = turnTolerance(position, 0.2) * 16.0;
        QCOMPARE(absoluteDifference(y, numbers(entry.values["y"]), tolerance), QString());
        for (const QJsonValue& channel : entry.params["untouched"].toArray())
            QVERIFY(sameBits(y[static_cast<std::size_t>(channel.toInt())],
                             x[static_cast<std::size_t>(channel.toInt())]));
        // Interleaved, the same pairs are the first half of the channels.
        config.layout = Layout::Interleaved;
        const std::vector<int> permutation = interleavedFromHalf(8);
        std::vector<double> permuted(8);
        for (std::size_t k = 0; k < 8; ++k)
            permuted[k] = x[static_cast<std::size_t>(permutation[k])];
        const std::vector<double> turned = rotated(config, permuted, position);
        for (std::size_t k = 0; k < 8; ++k)
            QCOMPARE(turned[k], y[static_cast<std::size_t>(permutation[k])]);
    }
}

void TestRotation::lastSliceOfTheHead()
{
    RopeConfig config; // as DeepSeek's head: 128 plain channels, then 64 that turn
    config.headDim = 192;
    config.rotaryDim = 64;
    config.channels = ChannelScheme::Last;
    config.layout = Layout::Interleaved;
    const ChannelMap map = channelMap(config);
    QCOMPARE(map.formed.front(), std::pair(128, 129));
    QCOMPARE(map.formed.back(), std::pair(190, 191));
    QCOMPARE(map.outside.front(), std::pair(0, 1));
    config.layout = Layout::Half;
    QCOMPARE(channelMap(config).formed.front(), std::pair(128, 160));
}

void TestRotation::twoBlocksOfTheHead()
{
    RopeConfig blocks; // ChatGLM-6B, both position ids alike
    blocks.channels = ChannelScheme::TwoBlocks;
    const ChannelMap map = channelMap(blocks);
    QCOMPARE(map.formed.size(), std::size_t{64});
    QVERIFY(map.outside.empty());
    QCOMPARE(map.pair(0), std::pair(0, 32));
    QCOMPARE(map.pair(31), std::pair(31, 63));
    QCOMPARE(map.pair(32), std::pair(64, 96));
    QCOMPARE(map.pair(63), std::pair(95, 127));
    blocks.layout = Layout::Interleaved;
    QCOMPARE(channelMap(blocks).pair(31), std::pair(62, 63));
    QCOMPARE(channelMap(blocks).pair(32), std::pair(64, 65));
    // The first block turns as a first part of that width does, the second as a last part, to the bit.
    std::mt19937 random(5);
    for (const Layout layout : {Layout::Half, Layout::Interleaved}) {
        blocks.layout = layout;
        RopeConfig first = blocks;
        first.channels = ChannelScheme::First;
        first.rotaryDim = 64;
        RopeConfig last = first;
        last.channels = ChannelScheme::Last;
        const std::vector<double> x = randomRow(random, 128);
        for (const double position : {0.0, 1.0, 2047.0}) {
            const std::vector<double> y = rotated(blocks, x, position);
            const std::vector<double> a = rotated(first, x, position);
            const std::vector<double> b = rotated(last, x, position);
            for (std::size_t channel = 0; channel < 128; ++channel)
                QVERIFY(sameBits(y[channel], channel < 64 ? a[channel] : b[channel]));
        }
    }
}

void TestRotation::rotate_data()
{
    QTest::addColumn<QJsonObject>("params");
    QTest::addColumn<QJsonObject>("values");
    QTest::addColumn<int>("layout");
    for (const auto& [what, layout] :
         {std::pair{"rotate/interleaved", Layout::Interleaved}, std::pair{"rotate/half", Layout::Half},
          std::pair{"rotate/partial_interleaved", Layout::Interleaved},
          std::pair{"rotate/partial_half", Layout::Half}})
        for (const ReferenceEntry& entry : referenceEntries(what))
            QTest::addRow("%s at %d", what, entry.params["position"].toInt())
                << entry.params << entry.values << static_cast<int>(layout);
}

void TestRotation::rotate()
{
    QFETCH(QJsonObject, params);
    QFETCH(QJsonObject, values);
    QFETCH(int, layout);
    RopeConfig config = plainConfig(params, static_cast<Layout>(layout));
    config.rotaryDim = params["rotary_dim"].toInt(config.headDim);
    const std::vector<double> x = numbers(params["x"]);
    const double position = params["position"].toDouble();
    const std::vector<double> y = rotated(config, x, position);
    // The error of the turn times the length of the longest pair.
    const double tolerance = turnTolerance(position, 1.0) * 2.0 * *std::max_element(x.begin(), x.end());
    QCOMPARE(absoluteDifference(y, numbers(values["y"]), tolerance), QString());
    for (std::size_t channel = static_cast<std::size_t>(config.rotaryDim); channel < x.size(); ++channel)
        QVERIFY(sameBits(y[channel], x[channel]));
}

void TestRotation::permutation()
{
    for (const ReferenceEntry& entry : referenceEntries("permutation")) {
        const std::vector<int> permutation = interleavedFromHalf(entry.params["d"].toInt());
        const QJsonArray expected = entry.values["perm"].toArray();
        const QJsonArray inverse = entry.values["inv"].toArray();
        QCOMPARE(permutation.size(), static_cast<std::size_t>(expected.size()));
        for (int k = 0; k < expected.size(); ++k) {
            QCOMPARE(permutation[static_cast<std::size_t>(k)], expected[k].toInt());
            QCOMPARE(permutation[static_cast<std::size_t>(inverse[k].toInt())], k);
        }
    }
}

void TestRotation::scores()
{
    for (const ReferenceEntry& entry : referenceEntries("score")) {
        const bool isHalf = entry.params["layout"].toString() == "half";
        const RopeConfig config = plainConfig(entry.params, isHalf ? Layout::Half : Layout::Interleaved);
        const std::vector<double> q = numbers(entry.params["q"]);
        const std::vector<double> k = numbers(entry.params["k"]);
        for (const QJsonValue& value : entry.values["rows"].toArray()) {
            const QJsonObject row = value.toObject();
            const double m = row["m"].toDouble(), n = row["n"].toDouble();
            const std::vector<double> pairs =
                contributions(config, rotated(config, q, m), rotated(config, k, n));
            const std::vector<double> expected = numbers(row["per_pair"]);
            const double expectedScore = row["score"].toDouble();
            if (std::max(m, n) < 10) {
                QCOMPARE(relativeDifference(pairs, expected, 1e-13), QString());
                QCOMPARE(relativeDifference(sum(pairs), expectedScore, 1e-13), QString());
            } else {
                const double tolerance = scoreTolerance(config, q, k, m, n);
                QCOMPARE(absoluteDifference(pairs, expected, tolerance), QString());
                QCOMPARE(absoluteDifference(sum(pairs), expectedScore, tolerance), QString());
            }
            // Where the two differ by more than rounding: the key's conjugate is there.
            const double wrong = row["WRONG_without_conjugate"].toDouble();
            if (std::fabs(wrong - expectedScore) > 1e-6)
                QVERIFY(std::fabs(sum(pairs) - wrong) > 1e-6);
        }
    }
}

void TestRotation::positionZeroIsTheIdentity()
{
    std::mt19937 random(4);
    for (int round = 0; round < 100; ++round) {
        RopeConfig config = randomConfig(random);
        config.parameters.attentionFactor = 1.0; // A scales rotated pairs at position 0 too
        const std::vector<double> x = randomRow(random, config.headDim);
        QCOMPARE(rotated(config, x, 0.0), x);
    }
}

void TestRotation::normOfEveryPairStays()
{
    std::mt19937 random(5);
    for (int round = 0; round < 200; ++round) {
        const RopeConfig config = randomConfig(random);
        const FrequencyTable table = frequencyTable(config);
        const ChannelMap map = channelMap(config);
        const std::vector<double> x = randomRow(random, config.headDim);
        const std::vector<double> y = rotated(config, x, std::uniform_int_distribution(0, 1 << 20)(random));
        for (int pair = 0; pair < map.pairCount(); ++pair) {
            const auto a = static_cast<std::size_t>(map.pair(pair).first);
            const auto b = static_cast<std::size_t>(map.pair(pair).second);
            const double stretch = table.turns(pair) ? table.attentionFactor : 1.0;
            QCOMPARE(relativeDifference(std::hypot(y[a], y[b]), stretch * std::hypot(x[a], x[b]), 2e-15),
                     QString());
        }
    }
}

void TestRotation::scoreDependsOnTheDistanceOnly()
{
    std::mt19937 random(6);
    std::uniform_int_distribution position(0, 100000);
    for (int round = 0; round < 200; ++round) {
        const RopeConfig config = randomConfig(random);
        const std::vector<double> q = randomRow(random, config.headDim);
        const std::vector<double> k = randomRow(random, config.headDim);
        const double m = position(random), n = position(random), c = position(random);
        const double tolerance =
            scoreTolerance(config, q, k, m + c, n + c) + scoreTolerance(config, q, k, m, n);
        QCOMPARE(absoluteDifference(score(config, q, k, m + c, n + c), score(config, q, k, m, n), tolerance),
                 QString());
    }
}

void TestRotation::rotationsAdd()
{
    std::mt19937 random(7);
    std::uniform_int_distribution position(-50000, 50000);
    for (int round = 0; round < 100; ++round) {
        RopeConfig config = randomConfig(random);
        config.parameters.attentionFactor = 1.0;
        const std::vector<double> x = randomRow(random, config.headDim);
        const double p1 = position(random), p2 = position(random);
        const std::vector<double> twice = rotated(config, rotated(config, x, p1), p2);
        // Rows of a normal law stay below 8; 6 turns of at most 1e5 tokens' rounding.
        const double tolerance =
            8.0 * (turnTolerance(p1, 1.0) + turnTolerance(p2, 1.0) + turnTolerance(p1 + p2, 1.0));
        QCOMPARE(absoluteDifference(twice, rotated(config, x, p1 + p2), tolerance), QString());
    }
}

void TestRotation::negativePositionIsTheTransposed()
{
    RopeConfig config;
    config.headDim = config.rotaryDim = 8;
    for (const Layout layout : {Layout::Half, Layout::Interleaved}) {
        config.layout = layout;
        // Column c of R(p) is R(p) on the unit vector c.
        std::vector<std::vector<double>> forward, backward;
        for (std::size_t c = 0; c < 8; ++c) {
            std::vector<double> unit(8, 0.0);
            unit[c] = 1.0;
            forward.push_back(rotated(config, unit, 4095.0));
            backward.push_back(rotated(config, unit, -4095.0));
        }
        for (std::size_t row = 0; row < 8; ++row)
            for (std::size_t column = 0; column < 8; ++column)
                QCOMPARE(backward[column][row], forward[row][column]);
    }
}

void TestRotation::halfIsInterleavedPermuted()
{
    std::mt19937 random(8);
    for (int round = 0; round < 50; ++round) {
        RopeConfig half = randomConfig(random);
        half.rotaryDim = half.headDim;
        half.channels = ChannelScheme::First;
        half.rule = FrequencyRule::Default;
        half.layout = Layout::Half;
        RopeConfig interleaved = half;
        interleaved.layout = Layout::Interleaved;
        const std::vector<int> permutation = interleavedFromHalf(half.headDim);
        const std::vector<double> x = randomRow(random, half.headDim);
        std::vector<double> permuted(x.size());
        for (std::size_t k = 0; k < x.size(); ++k)
            permuted[k] = x[static_cast<std::size_t>(permutation[k])];
        const std::vector<double> turned = rotated(interleaved, permuted, 777.0);
        std::vector<double> back(x.size());
        for (std::size_t k = 0; k < x.size(); ++k)
            back[static_cast<std::size_t>(permutation[k])] = turned[k];
        QCOMPARE(rotated(half, x, 777.0), back);
    }
}

void TestRotation::twoChannelsAreOnePair()
{
    RopeConfig config;
    config.headDim = config.rotaryDim = 2;
    config.base = 123456.0;
    QCOMPARE(frequencyTable(config).scaled, std::vector<double>{1.0});
    const std::vector<double> y = rotated(config, std::vector<double>{3.0, 4.0}, 2.0);
    QCOMPARE(absoluteDifference(y[0], 3.0 * std::cos(2.0) - 4.0 * std::sin(2.0), 1e-15), QString());
    QCOMPARE(absoluteDifference(y[1], 3.0 * std::sin(2.0) + 4.0 * std::cos(2.0), 1e-15), QString());
}

void TestRotation::mixedLayoutsBreakTheRelativeProperty()
{
    std::mt19937 random(9);
    RopeConfig half, interleaved;
    half.headDim = half.rotaryDim = interleaved.headDim = interleaved.rotaryDim = 8;
    interleaved.layout = Layout::Interleaved;
    const std::vector<double> q = randomRow(random, 8), k = randomRow(random, 8);
    const auto mixed = [&](double m, double n) {
        return sum(contributions(half, rotated(half, q, m), rotated(interleaved, k, n)));
    };
    QVERIFY(std::fabs(mixed(1007.0, 1003.0) - mixed(7.0, 3.0)) > 1e-3);
}

void TestRotation::untouchedChannelsKeepTheirBits()
{
    std::mt19937 random(10);
    for (int round = 0; round < 300; ++round) {
        const RopeConfig config = randomConfig(random);
        const FrequencyTable table = frequencyTable(config);
        const ChannelMap map = channelMap(config);
        std::vector<double> x = randomRow(random, config.headDim);
        // A rotation by 0 would turn -0 into 0 here: -0·1 - (-1)·0.
        for (int pair = 0; pair < map.pairCount(); pair += 2) {
            x[static_cast<std::size_t>(map.pair(pair).first)] = -0.0;
            x[static_cast<std::size_t>(map.pair(pair).second)] = -1.0;
        }
        const std::vector<double> y = rotated(config, x, 4095.0);
        for (int pair = 0; pair < map.pairCount(); ++pair) {
            const auto a = static_cast<std::size_t>(map.pair(pair).first);
            const auto b = static_cast<std::size_t>(map.pair(pair).second);
            if (table.turns(pair))
                QVERIFY(y[a] != x[a] || y[b] != x[b]);
            else
                QVERIFY(sameBits(y[a], x[a]) && sameBits(y[b], x[b]));
        }
    }
}

void TestRotation::everyChannelIsInOnePair()
{
    std::mt19937 random(11);
    for (int round = 0; round < 300; ++round) {
        const RopeConfig config = randomConfig(random);
        const ChannelMap map = channelMap(config);
        const FrequencyTable table = frequencyTable(config);
        const int formed = pairCount(config), width = formedWidth(config);
        QCOMPARE(map.formed.size(), static_cast<std::size_t>(formed));
        QCOMPARE(table.scaled.size(), static_cast<std::size_t>(formed));
        QCOMPARE(map.pairCount(), config.headDim / 2);
        // The channels among which pairs are formed begin here.
        const int start = config.channels == ChannelScheme::Last ? config.headDim - width : 0;
        std::vector<int> seen(static_cast<std::size_t>(config.headDim), 0);
        for (int i = 0; i < map.pairCount(); ++i) {
            const auto [a, b] = map.pair(i);
            ++seen.at(static_cast<std::size_t>(a));
            ++seen.at(static_cast<std::size_t>(b));
            const bool isFormed = i < formed;
            QCOMPARE(a >= start && a < start + width, isFormed);
            QCOMPARE(b >= start && b < start + width, isFormed);
            // Two blocks are paired one after the other, each for itself.
            const int blocks = config.channels == ChannelScheme::TwoBlocks ? 2 : 1;
            const int block = width / blocks;
            const int index = isFormed ? i % (block / 2) : i;
            const int from = start + (isFormed ? i / (block / 2) * block : 0);
            if (isFormed && config.layout == Layout::Half)
                QCOMPARE(map.pair(i), std::pair(from + index, from + index + block / 2));
            if (isFormed && config.layout == Layout::Interleaved)
                QCOMPARE(map.pair(i), std::pair(from + 2 * index, from + 2 * index + 1));
            QVERIFY(isFormed || !table.turns(i));
        }
        QVERIFY(std::all_of(seen.begin(), seen.end(), [](int count) { return count == 1; }));
    }
}

void TestRotation::attentionFactorScalesRotatedPairsOnly()
{
    RopeConfig config;
    config.headDim = 96;
    config.rotaryDim = 24;
    config.rule = FrequencyRule::Yarn;
    config.originalMaxPositionEmbeddings = 4096;
    config.parameters.factor = 16.0;
    config.parameters.attentionFactor = 1.5;
    const std::vector<double> ones(96, 1.0);
    // A² on the 24 rotated channels, 1 on the other 72.
    QCOMPARE(relativeDifference(score(config, ones, ones, 0.0, 0.0), 24.0 * 2.25 + 72.0, 1e-15), QString());
}

QTEST_APPLESS_MAIN(TestRotation)
#include "test_rotation.moc"
