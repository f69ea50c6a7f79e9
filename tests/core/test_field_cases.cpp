// SPDX-License-Identifier: GPL-3.0-or-later
// What people really ran into with RoPE, from public issue threads, with the value that is right. The
// readers' cases stand with the readers' tests.
#include "core/channel_map.h"
#include "core/cpu_backend.h"
#include "core/frequency_rules.h"
#include "core/rope_math.h"
#include "core/validate.h"
#include "tests/support/compare.h"
#include "tests/support/random_config.h"

#include <QtTest>

#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <set>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

using Question = std::function<double()>;

RopeConfig head(int headDim, double base, Layout layout = Layout::Half)
{
    RopeConfig config;
    config.headDim = config.rotaryDim = headDim;
    config.base = base;
    config.layout = layout;
    return config;
}

std::vector<double> turned(const RopeConfig& config, const std::vector<double>& row, double position)
{
    const ChannelMap map = channelMap(config);
    const FrequencyTable table = frequencyTable(config);
    std::vector<double> out(row.size());
    if (!makeCpuBackend()->run(RotateOp{map.formed, table.scaled, table.attentionFactor, position, row, out},
                               {}))
        qFatal("the processor could not rotate");
    return out;
}

double dot(const std::vector<double>& a, const std::vector<double>& b)
{
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double score(const RopeConfig& config, const std::vector<double>& q, const std::vector<double>& k, double m,
             double n)
{
    return dot(turned(config, q, m), turned(config, k, n));
}

/// C(r) over all distances 0..count-1.
std::vector<double> cosineSum(const RopeConfig& config, std::size_t count)
{
    const FrequencyTable table = frequencyTable(config);
    std::vector<double> curve(count);
    DecayOp op;
    op.invFreq = table.scaled;
    op.pairCount = config.headDim / 2;
    op.cosineSum = curve;
    if (!makeCpuBackend()->run(op, {}))
        qFatal("the processor could not compute the decay");
    return curve;
}

RopeConfig llama32()
{
    RopeConfig config = head(64, 5e5);
    config.rule = FrequencyRule::Llama3;
    config.parameters.factor = 32.0;
    config.originalMaxPositionEmbeddings = 8192;
    return config;
}

RopeConfig yarn(double factor, std::int64_t original)
{
    RopeConfig config = head(128, 1e6);
    config.rule = FrequencyRule::Yarn;
    config.parameters.factor = factor;
    config.originalMaxPositionEmbeddings = original;
    return config;
}

RopeConfig dynamic(std::int64_t length)
{
    RopeConfig config = head(128, 1e4);
    config.rule = FrequencyRule::Dynamic;
    config.parameters.factor = 2.0;
    config.maxPositionEmbeddings = 2048;
    config.length = length;
    return config;
}

/// The base whose plain schedule has this second frequency.
double baseOf(const RopeConfig& config)
{
    return std::pow(frequencyTable(config).scaled[1], -config.headDim / 2.0);
}

double pairsWithoutATurn(double base, double context)
{
    double count = 0;
    for (const double theta : frequencyTable(head(128, base)).scaled)
        count += context * theta < kTwoPi ? 1 : 0;
    return count;
}

double pairsApart(double distance)
{
    const std::vector<double> right = frequencyTable(head(128, 5e5)).scaled;
    const std::vector<double> wrong = frequencyTable(head(128, 1e4)).scaled;
    double count = 0;
    for (std::size_t i = 0; i < right.size(); ++i)
        count += distance * std::fabs(right[i] - wrong[i]) > 1.0 ? 1 : 0;
    return count;
}

double attentionFactor(std::optional<double> stated)
{
    RopeConfig config = yarn(64.0, 4096);
    config.parameters.attentionFactor = stated;
    return frequencyTable(config).attentionFactor;
}

/// bfloat16 of a whole position: 8 significand bits, to nearest, ties to even.
double asBfloat16(double position)
{
    int exponent = 0;
    const double fraction = std::frexp(position, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

double distinctBfloat16(int positions)
{
    std::set<double> seen;
    for (int p = 0; p < positions; ++p)
        seen.insert(asBfloat16(p));
    return static_cast<double>(seen.size());
}

} // namespace

Q_DECLARE_METATYPE(Question)

class TestFieldCases : public QObject
{
    Q_OBJECT
private slots:
    void number_data();
    void number();
    void a1LayoutsOfLlama();
    void a4WrongLayoutAgreesAtZeroOnly();
    void a8PositionZeroIsTheIdentity();
    void b4GemmaPadding();
    void b6OddWidths();
    void d2BandsOfLlama32();
    void e8MixedBases();
    void e9NoMemory();
    void e14LinearSlowsAllAlike();
    void h2ComplexNumbers();
};

void TestFieldCases::number_data()
{
    QTest::addColumn<Question>("question");
    QTest::addColumn<double>("right");
    QTest::addColumn<double>("relative");
    const auto row = [](const char* name, Question question, double right, double relative = 0.0) {
        QTest::newRow(name) << question << right << relative;
    };
    row(
        "A9 the matrix of the paper is the interleaved one: channel of x1 in pair 0",
        [] { return static_cast<double>(channelMap(head(4, 1e4, Layout::Interleaved)).formed[0].second); },
        1.0);
    row(
        "A9 half-split: partner of channel 0",
        [] { return static_cast<double>(channelMap(head(4, 1e4)).formed[0].second); }, 2.0);
    row(
        "B1 GLM-4's default share", [] { return static_cast<double>(rotaryDimForShare(128, 0.5)); }, 64.0);
    row(
        "B7 Mistral-Nemo: the stated head_dim makes 64 pairs",
        [] { return static_cast<double>(frequencyTable(head(128, 1e6)).scaled.size()); }, 64.0);
    row(
        "C1 pairs off by more than 1 rad at distance 100", [] { return pairsApart(100.0); }, 30.0);
    row(
        "C1 at distance 1000", [] { return pairsApart(1000.0); }, 47.0);
    row(
        "C4 longest wavelength of Code Llama",
        [] { return kTwoPi / frequencyTable(head(128, 1e6)).scaled.back(); }, 5063256.0, 1e-7);
    row(
        "C5 pairs without a turn in 8192, base 1e4", [] { return pairsWithoutATurn(1e4, 8192.0); }, 14.0);
    row(
        "C5 base 5e5", [] { return pairsWithoutATurn(5e5, 8192.0); }, 29.0);
    row(
        "C5 base 1e6", [] { return pairsWithoutATurn(1e6, 8192.0); }, 30.0);
    row(
        "D1 last frequency of Llama-3.1-8B",
        [] {
            RopeConfig config = llama32();
            config.headDim = config.rotaryDim = 128;
            config.parameters.factor = 8.0;
            return frequencyTable(config).scaled.back();
        },
        3.06893e-07, 2e-6);
    row(
        "E1 the stated factor wins over 40960/32768",
        [] {
            RopeConfig config = yarn(4.0, 32768);
            config.maxPositionEmbeddings = 40960;
            const FrequencyTable table = frequencyTable(config);
            return table.plain.back() / table.scaled.back();
        },
        4.0, 1e-13);
    row(
        "E2 attention_factor 1 replaces the formula", [] { return attentionFactor(1.0); }, 1.0);
    row(
        "E2 null does not", [] { return attentionFactor(std::nullopt); }, 1.41589, 5e-6);
    row(
        "E5 softmax factor of DeepSeek-V2-Lite", [] { return mlaSoftmaxFactor(40.0, 0.707); }, 1.58963, 5e-6);
    row(
        "E5 of DeepSeek-V3", [] { return mlaSoftmaxFactor(40.0, 1.0); }, 1.87385, 5e-6);
    row(
        "E5 cos/sin factor of both",
        [] {
            RopeConfig config = yarn(40.0, 4096);
            config.parameters.mscale = config.parameters.mscaleAllDim = 0.707;
            return frequencyTable(config).attentionFactor;
        },
        1.0);
    row(
        "E8 dynamic base at 2048", [] { return baseOf(dynamic(2048)); }, 10000.0, 1e-12);
    row(
        "E8 at 4096", [] { return baseOf(dynamic(4096)); }, 30527.74, 1e-6);
    row(
        "E8 at 8192", [] { return baseOf(dynamic(8192)); }, 72195.86, 1e-6);
    row(
        "E13 attention factor of Phi-3.5 up to 4096 and beyond",
        [] {
            RopeConfig config = head(96, 1e4);
            config.rule = FrequencyRule::LongRope;
            config.originalMaxPositionEmbeddings = 4096;
            config.maxPositionEmbeddings = 131072;
            config.parameters.shortFactor.assign(48, 1.0);
            config.parameters.longFactor.assign(48, 8.0);
            config.length = 4096;
            const double upTo = frequencyTable(config).attentionFactor;
            config.length = 4097;
            return upTo == frequencyTable(config).attentionFactor ? upTo : 0.0;
        },
        1.19024, 5e-6);
    row(
        "G1 exact angle of width 32, position 1857, pair 1",
        [] { return 1857.0 * frequencyTable(head(32, 1e4)).scaled[1]; }, 1044.2678, 5e-8);
    row(
        "G2 distinct bfloat16 positions of 2048", [] { return distinctBfloat16(2048); }, 641.0);
    row(
        "G2 of 4096", [] { return distinctBfloat16(4096); }, 769.0);
    row(
        "G2 the first clash is at 257", [] { return asBfloat16(257); }, 256.0);
    row(
        "H1 steps in which the cosine sum rises, of 4096",
        [] {
            const std::vector<double> curve = cosineSum(head(128, 1e4), 4097);
            double rises = 0;
            for (std::size_t r = 1; r < curve.size(); ++r)
                rises += curve[r] > curve[r - 1] ? 1 : 0;
            return rises;
        },
        1992.0);
    const auto firstNegative = [](double base) {
        const std::vector<double> curve = cosineSum(head(128, base), 20000);
        return static_cast<double>(
            std::find_if(curve.begin(), curve.end(), [](double c) { return c < 0.0; }) - curve.begin());
    };
    row(
        "H1 first below zero, base 1e4", [=] { return firstNegative(1e4); }, 1707.0);
    row(
        "H1 first below zero, base 5e5", [=] { return firstNegative(5e5); }, 18438.0);
}

void TestFieldCases::number()
{
    QFETCH(Question, question);
    QFETCH(double, right);
    QFETCH(double, relative);
    QCOMPARE(relativeDifference(question(), right, relative), QString());
}

void TestFieldCases::a1LayoutsOfLlama()
{
    std::mt19937 random(101);
    const RopeConfig interleaved = head(64, 1e4, Layout::Interleaved), half = head(64, 1e4);
    const std::vector<double> q = randomRow(random, 64), k = randomRow(random, 64);
    // The converter's order: even channels first.
    const auto evenFirst = [](const std::vector<double>& row) {
        std::vector<double> out;
        for (const std::size_t start : {0, 1})
            for (std::size_t c = start; c < row.size(); c += 2)
                out.push_back(row[c]);
        return out;
    };
    for (const auto& [m, n] : {std::pair{5.0, 2.0}, {105.0, 102.0}}) {
        const double meta = score(interleaved, q, k, m, n);
        QCOMPARE(absoluteDifference(score(half, evenFirst(q), evenFirst(k), m, n), meta, 1e-12), QString());
        QVERIFY(std::fabs(score(half, q, k, m, n) - meta) > 1e-3);
    }
}

void TestFieldCases::a4WrongLayoutAgreesAtZeroOnly()
{
    std::mt19937 random(102);
    const std::vector<double> q = randomRow(random, 128), k = randomRow(random, 128);
    const RopeConfig right = head(128, 1e4), wrong = head(128, 1e4, Layout::Interleaved);
    QCOMPARE(turned(right, q, 0.0), turned(wrong, q, 0.0));
    QCOMPARE(score(right, q, k, 0.0, 0.0), score(wrong, q, k, 0.0, 0.0));
    QVERIFY(std::fabs(score(right, q, k, 9.0, 2.0) - score(wrong, q, k, 9.0, 2.0)) > 1e-3);
}

void TestFieldCases::a8PositionZeroIsTheIdentity()
{
    const std::vector<double> x{0, 1, 2, 3, 4, 5, 6, 7};
    for (const Layout layout : {Layout::Half, Layout::Interleaved}) {
        const RopeConfig config = head(8, 1e4, layout);
        QCOMPARE(turned(config, x, 0.0), x);
        const std::vector<double> y = turned(config, x, 12345.0);
        for (const auto& [a, b] : channelMap(config).formed) {
            const auto first = static_cast<std::size_t>(a), second = static_cast<std::size_t>(b);
            QCOMPARE(
                relativeDifference(std::hypot(y[first], y[second]), std::hypot(x[first], x[second]), 1e-14),
                QString());
        }
    }
}

void TestFieldCases::b4GemmaPadding()
{
    RopeConfig config = head(512, 1e6);
    config.rule = FrequencyRule::Proportional;
    config.parameters.partialRotaryFactor = 0.25;
    const FrequencyTable table = frequencyTable(config);
    QCOMPARE(table.scaled.size(), std::size_t{256});
    QCOMPARE(table.turningPairs(), 64);
    QVERIFY(table.turns(63) && !table.turns(64));
    QCOMPARE(relativeDifference(table.scaled[63], std::pow(1e6, -126.0 / 512.0), 1e-13), QString());
    QCOMPARE(channelMap(config).pair(5), std::pair(5, 261));
}

void TestFieldCases::b6OddWidths()
{
    for (const auto& [headDim, share] : {std::pair{4, 0.75}, {100, 0.25}}) {
        RopeConfig config = head(headDim, 1e4);
        config.rotaryDim = rotaryDimForShare(headDim, share);
        const std::vector<Issue> issues = validate(config);
        QVERIFY(hasError(issues));
        QVERIFY(toEnglish(firstError(issues)->text).find("odd rotary width") != std::string::npos);
    }
    QVERIFY(hasError(validate(head(65, 1e4))));
    QVERIFY(hasError(validate(head(3, 1e4))));
}

void TestFieldCases::d2BandsOfLlama32()
{
    const FrequencyTable table = frequencyTable(llama32());
    for (int i = 0; i < 32; ++i) {
        const double kept = table.keptShare[static_cast<std::size_t>(i)];
        QVERIFY2(i <= 14   ? kept == 1.0
                 : i <= 17 ? kept > 0.0 && kept < 1.0
                           : kept == 0.0,
                 qPrintable(QString::number(i)));
    }
    // Continuous at both edges: a training length that puts a pair just to either side of an edge changes it
    // little.
    for (const double edge : {1.0, 4.0}) {
        RopeConfig config = llama32();
        const double theta = frequencyTable(config).plain[16];
        const auto length = static_cast<std::int64_t>(edge * kTwoPi / theta);
        config.originalMaxPositionEmbeddings = length;
        const double before = frequencyTable(config).scaled[16];
        config.originalMaxPositionEmbeddings = length + 1;
        QVERIFY(std::fabs(frequencyTable(config).scaled[16] / before - 1.0) < 0.05);
    }
}

void TestFieldCases::e8MixedBases()
{
    // Keys cached with an older base: the score is no longer a function of the distance.
    std::mt19937 random(103);
    const std::vector<double> q = randomRow(random, 128), k = randomRow(random, 128);
    const RopeConfig older = dynamic(4096), newer = dynamic(8192);
    const auto mixed = [&](double m, double n) { return dot(turned(newer, q, m), turned(older, k, n)); };
    QVERIFY(std::fabs(mixed(1010.0, 1000.0) - mixed(4010.0, 4000.0)) > 1e-3);
    QVERIFY(std::fabs(score(newer, q, k, 1010.0, 1000.0) - score(newer, q, k, 4010.0, 4000.0)) < 1e-9);
}

void TestFieldCases::e9NoMemory()
{
    const std::vector<double> plain = frequencyTable(head(128, 1e4)).scaled;
    QVERIFY(frequencyTable(dynamic(4096)).scaled != plain);
    QCOMPARE(frequencyTable(dynamic(2048)).scaled, plain); // exactly
    QCOMPARE(frequencyTable(dynamic(1024)).scaled, plain);
}

void TestFieldCases::e14LinearSlowsAllAlike()
{
    RopeConfig config = head(128, 1e4);
    config.rule = FrequencyRule::Linear;
    config.parameters.factor = 2.0;
    const FrequencyTable table = frequencyTable(config);
    QCOMPARE(table.scaled[0], 0.5);
    for (std::size_t i = 0; i < table.scaled.size(); ++i)
        QCOMPARE(table.scaled[i], table.plain[i] / 2.0);
}

void TestFieldCases::h2ComplexNumbers()
{
    const std::vector<double> y = turned(head(2, 1e4), {1.0, 0.0}, 1.0);
    QVERIFY(std::fabs(y[0] - 0.5403) < 5e-5 && std::fabs(y[1] - 0.8415) < 5e-5);
}

QTEST_APPLESS_MAIN(TestFieldCases)
#include "test_field_cases.moc"
