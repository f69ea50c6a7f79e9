// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/precision.h"
#include "tests/support/compare.h"
#include "tests/support/random_config.h"
#include "tests/support/reference.h"

#include <QtTest>
#include <array>
#include <set>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

/// Rounding by comparing with the two neighbours, written from the definition: k·2^e with k an integer.
long double nearestEven(long double value, int bits, int leastExponent, long double largest)
{
    if (value == 0.0L)
        return value;
    const long double size = std::fabs(value);
    int exponent = 0;
    std::frexp(size, &exponent); // size in [2^(exponent-1), 2^exponent)
    const long double step = std::ldexp(1.0L, std::max(exponent - 1, leastExponent) - bits + 1);
    const long double below = std::floor(size / step);
    const long double rest = size / step - below;
    long double count = below;
    if (rest > 0.5L || (rest == 0.5L && std::fmod(below, 2.0L) == 1.0L))
        count += 1.0L;
    const long double rounded = count * step;
    return std::copysign(rounded > largest ? INFINITY : rounded, value);
}

long double oracle(FloatFormat format, long double value)
{
    return format == FloatFormat::Float16    ? nearestEven(value, 11, -14, 65504.0L)
           : format == FloatFormat::Bfloat16 ? nearestEven(value, 8, -126, 0x1.fep127L)
                                             : nearestEven(value, 24, -126, 0x1.fffffep127L);
}

RoundedAngles anglesOf(PrecisionMode mode, const RopeConfig& config)
{
    const FrequencyTable table = frequencyTable(config);
    return RoundedAngles(mode, table.plain, table.scaled);
}

RopeConfig plain(int width, double base)
{
    RopeConfig config;
    config.headDim = config.rotaryDim = width;
    config.base = base;
    return config;
}

} // namespace

class TestPrecision : public QObject
{
    Q_OBJECT
private slots:
    void rounding_data();
    void rounding();
    void roundingAgainstTheDefinition();
    void positionSteps();
    void distinct();
    void reference_data();
    void reference();
    void table_data();
    void table();
    void thetaScale();
    void stepsByHand();
    void halfPrecisionTables();
    void bfloatFrequencies();
    void overflow();
    void firstPastIsTheFirst_data();
    void firstPastIsTheFirst();
    void boundHolds();
    void nothingTurns();
    void stopped();
};

void TestPrecision::rounding_data()
{
    QTest::addColumn<int>("format");
    QTest::addColumn<double>("value");
    QTest::addColumn<double>("rounded");
    const auto row = [](FloatFormat format, double value, double rounded) {
        QTest::addRow("%d: %.17g", static_cast<int>(format), value)
            << static_cast<int>(format) << value << rounded;
    };
    row(FloatFormat::Bfloat16, 257, 256);
    row(FloatFormat::Bfloat16, 259, 260);
    row(FloatFormat::Bfloat16, 15962, 15936);
    row(FloatFormat::Bfloat16, 100001, 99840);
    row(FloatFormat::Bfloat16, -257, -256);
    row(FloatFormat::Bfloat16, 0.0, 0.0);
    row(FloatFormat::Bfloat16, 0x1p-133, 0x1p-133); // the least subnormal number
    row(FloatFormat::Bfloat16, 0x1p-134, 0.0);
    row(FloatFormat::Bfloat16, 0x1.8p-134, 0x1p-133);
    row(FloatFormat::Bfloat16, 0x1.ffp127, INFINITY);
    row(FloatFormat::Float16, 2049, 2048);
    row(FloatFormat::Float16, 2051, 2052);
    row(FloatFormat::Float16, 65505, 65504);
    row(FloatFormat::Float16, 65519, 65504);
    row(FloatFormat::Float16, 65520, INFINITY);
    row(FloatFormat::Float16, -65520, -INFINITY);
    row(FloatFormat::Float16, 0x1p-24, 0x1p-24); // the least subnormal number
    row(FloatFormat::Float16, 0x1p-25, 0.0);
    row(FloatFormat::Float16, 0x1.8p-25, 0x1p-24);
    row(FloatFormat::Float16, 0x1.8p-24, 0x1p-23);
    row(FloatFormat::Float32, 16777217, 16777216);
    row(FloatFormat::Float32, 16777219, 16777220);
}

void TestPrecision::rounding()
{
    QFETCH(int, format);
    QFETCH(double, value);
    QFETCH(double, rounded);
    QCOMPARE(roundTo(static_cast<FloatFormat>(format), value), rounded);
}

void TestPrecision::roundingAgainstTheDefinition()
{
    std::mt19937 random(9);
    std::uniform_real_distribution<double> significand(1.0, 2.0);
    std::uniform_int_distribution<int> exponent(-150, 130);
    std::uniform_int_distribution<int> small(-30, 18);
    for (int i = 0; i < 30000; ++i) {
        double value = std::ldexp(significand(random), i % 3 ? small(random) : exponent(random));
        if (i % 2)
            value = -value;
        if (i % 5 == 0)
            value = std::ldexp(std::round(std::ldexp(value, 10)), -10); // many ties
        for (const FloatFormat format : {FloatFormat::Float32, FloatFormat::Bfloat16, FloatFormat::Float16})
            if (roundTo(format, value) != static_cast<double>(oracle(format, value)))
                QFAIL(qPrintable(QStringLiteral("format %1, %2").arg(int(format)).arg(value, 0, 'g', 17)));
    }
    QVERIFY(std::isnan(roundTo(FloatFormat::Bfloat16, std::nan(""))));
}

void TestPrecision::positionSteps()
{
    const ReferenceEntry entry = referenceEntries("float_error/bf16_position_steps").front();
    for (const QJsonValue& row : entry.values["rows"].toArray()) {
        const double from = row["positions_from"].toDouble();
        const double step = row["step"].toDouble();
        QCOMPARE(roundTo(FloatFormat::Bfloat16, from), from);
        QCOMPARE(roundTo(FloatFormat::Bfloat16, from + step), from + step);
        QCOMPARE(roundTo(FloatFormat::Bfloat16, from + 0.5 * step), from); // the tie goes to the even one
        QCOMPARE(roundTo(FloatFormat::Bfloat16, from + 0.51 * step), from + step);
    }
    const QJsonObject first = entry.values["first_not_representable"].toObject();
    const std::pair<FloatFormat, const char*> formats[]{
        {FloatFormat::Bfloat16, "bf16"}, {FloatFormat::Float16, "fp16"}, {FloatFormat::Float32, "float32"}};
    for (const auto& [format, name] : formats) {
        QCOMPARE(firstClash(format), first[name].toInteger());
        const double clash = first[name].toDouble();
        QCOMPARE(roundTo(format, clash - 1.0), clash - 1.0);
        QCOMPARE(roundTo(format, clash), clash - 1.0);
    }
    QCOMPARE(roundTo(FloatFormat::Float16, 65519.0), entry.values["fp16_max_finite"].toDouble());
}

void TestPrecision::distinct()
{
    QCOMPARE(distinctPositions(FloatFormat::Bfloat16, 2048), 641);
    QCOMPARE(distinctPositions(FloatFormat::Bfloat16, 4096), 769);
    QCOMPARE(distinctPositions(FloatFormat::Bfloat16, 257), 257);
    QCOMPARE(distinctPositions(FloatFormat::Bfloat16, 258), 257); // the first clash
    QCOMPARE(distinctPositions(FloatFormat::Float16, 2049), 2049);
    QCOMPARE(distinctPositions(FloatFormat::Float16, 2050), 2049);
    QCOMPARE(distinctPositions(FloatFormat::Float32, 131072), 131072);
    QCOMPARE(distinctPositions(FloatFormat::Float16, 0), 0);
    // Against a set of the values, beyond the largest finite number too.
    for (const FloatFormat format : {FloatFormat::Bfloat16, FloatFormat::Float16}) {
        std::set<long double> values;
        for (int p = 0; p < 70000; ++p)
            values.insert(oracle(format, p));
        QCOMPARE(distinctPositions(format, 70000), static_cast<std::int64_t>(values.size()));
    }
}

void TestPrecision::reference_data()
{
    QTest::addColumn<QString>("entry");
    QTest::addColumn<int>("mode");
    QTest::newRow("float32") << "float_error/float32_inv_freq_from_double" << int(PrecisionMode::Float32);
    QTest::newRow("ggml") << "float_error/float32_iterated_ggml_cpu" << int(PrecisionMode::RunningProduct);
    QTest::newRow("bf16 positions") << "float_error/bf16_positions_only" << int(PrecisionMode::Bf16Positions);
    QTest::newRow("bf16") << "float_error/bf16_positions_inv_freq_and_product" << int(PrecisionMode::Bf16All);
    QTest::newRow("fp16") << "float_error/fp16_positions_inv_freq_and_product" << int(PrecisionMode::Fp16All);
}

void TestPrecision::reference()
{
    QFETCH(QString, entry);
    QFETCH(int, mode);
    for (const ReferenceEntry& reference : referenceEntries(entry)) {
        const RoundedAngles angles =
            anglesOf(static_cast<PrecisionMode>(mode), plainConfig(reference.params));
        const auto rows = reference.values["rows"].toArray();
        QVERIFY(rows.size() >= 7);
        for (const QJsonValue& row : rows) {
            const auto position = row["position"].toInteger();
            const PrecisionError error = angles.errorAt(position);
            if (row["overflow"].toBool()) {
                QVERIFY(!error.isFinite);
                QVERIFY(std::isnan(error.maxTurn));
                continue;
            }
            const double allowed = 2e-15 * static_cast<double>(position);
            const std::array<double, 3> actual{error.maxAngle, error.maxTurn, error.meanTurn};
            const std::array<double, 3> expected{row["max_abs_angle_error"].toDouble(),
                                                 row["max_abs_cos_or_sin_error"].toDouble(),
                                                 row["mean_abs_cos_or_sin_error"].toDouble()};
            QVERIFY2(absoluteDifference(actual, expected, allowed).isEmpty(),
                     qPrintable(QStringLiteral("%1 at %2: %3")
                                    .arg(entry)
                                    .arg(position)
                                    .arg(absoluteDifference(actual, expected, allowed))));
        }
    }
}

void TestPrecision::table_data()
{
    // Two digits each: the published table of maximum and mean at four positions.
    QTest::addColumn<int>("mode");
    QTest::addColumn<double>("base");
    QTest::addColumn<QList<double>>("greatest");
    QTest::addColumn<QList<double>>("mean");
    QTest::newRow("float32, 1e4") << int(PrecisionMode::Float32) << 1e4
                                  << QList<double>{5.2e-3, 2.6e-3, 5.2e-2, 0.64}
                                  << QList<double>{3.1e-4, 2.5e-4, 2.4e-3, 3.0e-2};
    QTest::newRow("float32, 5e5") << int(PrecisionMode::Float32) << 5e5
                                  << QList<double>{4.5e-3, 2.1e-3, 3.6e-2, 0.31}
                                  << QList<double>{2.2e-4, 1.6e-4, 1.8e-3, 1.6e-2};
    QTest::newRow("float32, 1e6") << int(PrecisionMode::Float32) << 1e6
                                  << QList<double>{2.0e-3, 2.2e-3, 1.6e-2, 0.30}
                                  << QList<double>{1.6e-4, 2.0e-4, 1.1e-3, 1.7e-2};
    QTest::newRow("ggml CPU") << int(PrecisionMode::RunningProduct) << 1e4
                              << QList<double>{9.8e-3, 1.2e-2, 7.6e-2, 1.3}
                              << QList<double>{2.7e-3, 3.2e-3, 1.8e-2, 0.34};
    QTest::newRow("ggml CUDA") << int(PrecisionMode::GgmlCuda) << 1e4
                               << QList<double>{9.8e-3, 1.2e-2, 9.6e-2, 0.77}
                               << QList<double>{2.4e-3, 3.1e-3, 2.3e-2, 0.23};
}

void TestPrecision::table()
{
    QFETCH(int, mode);
    QFETCH(double, base);
    QFETCH(QList<double>, greatest);
    QFETCH(QList<double>, mean);
    const RoundedAngles angles = anglesOf(static_cast<PrecisionMode>(mode), plain(128, base));
    const std::array<std::int64_t, 4> positions{100000, 131071, 1000000, 10000000};
    for (std::size_t i = 0; i < positions.size(); ++i) {
        const PrecisionError error = angles.errorAt(positions[i]);
        const auto at = static_cast<qsizetype>(i);
        QCOMPARE(relativeDifference(error.maxTurn, greatest[at], 0.05), QString());
        QCOMPARE(relativeDifference(error.meanTurn, mean[at], 0.05), QString());
    }
}

void TestPrecision::thetaScale()
{
    for (const ReferenceEntry& entry : referenceEntries("float_error/float32_iterated_ggml_cpu")) {
        // The angle of pair 1 at position 1 is the ratio itself.
        const RoundedAngles angles = anglesOf(PrecisionMode::RunningProduct, plainConfig(entry.params));
        std::array<double, 2> first{};
        angles.at(1, first);
        QCOMPARE(first[0], 1.0);
        QCOMPARE(first[1], entry.params["theta_scale"].toDouble());
    }
}

/// The steps of every mode once more, from the words, with the oracle's rounding.
void TestPrecision::stepsByHand()
{
    const auto fl = [](long double x) { return oracle(FloatFormat::Float32, x); };
    const auto bf = [](long double x) { return oracle(FloatFormat::Bfloat16, x); };
    const auto fp = [](long double x) { return oracle(FloatFormat::Float16, x); };
    const int width = 32;
    const double base = 1e4;
    const long double c = fl(static_cast<long double>(std::pow(base, -2.0 / width)));
    std::vector<double> angles(width / 2);
    for (const std::int64_t position : {1, 3, 255, 257, 1857, 60001}) {
        const auto p = static_cast<long double>(position);
        for (const PrecisionModeInfo& mode : precisionModes()) {
            anglesOf(mode.mode, plain(width, base)).at(position, angles);
            long double running = fl(p);
            for (int i = 0; i < width / 2; ++i) {
                const long double theta = std::pow(base, -2.0 * i / width);
                long double expected = 0.0L;
                switch (mode.mode) {
                case PrecisionMode::Float32:
                    expected = fl(fl(p) * fl(theta));
                    break;
                case PrecisionMode::RunningProduct:
                    expected = running;
                    running = fl(running * c);
                    break;
                case PrecisionMode::GgmlCuda:
                    expected = fl(fl(p) * fl(std::pow(c, static_cast<long double>(i))));
                    break;
                case PrecisionMode::Bf16Positions:
                    expected = fl(bf(p) * fl(theta));
                    break;
                case PrecisionMode::Bf16Theta:
                    expected = fl(fl(p) * bf(fl(theta)));
                    break;
                case PrecisionMode::Bf16All:
                    expected = bf(bf(p) * bf(fl(theta)));
                    break;
                case PrecisionMode::Fp16All:
                    expected = fp(fp(p) * fp(fl(theta)));
                    break;
                }
                QCOMPARE(angles[static_cast<std::size_t>(i)], static_cast<double>(expected));
            }
        }
    }
}

/// EleutherAI/gpt-neox issue 1003: width 32, position 1857, pair 1: 1045 instead of 1044.2678; cos off by up
/// to 0.78 over the 2048 positions of the model.
void TestPrecision::halfPrecisionTables()
{
    const RoundedAngles angles = anglesOf(PrecisionMode::Fp16All, plain(32, 1e4));
    std::vector<double> found(16);
    angles.at(1857, found);
    QCOMPARE(found[1], 1045.0);
    QCOMPARE(absoluteDifference(1857.0 * angles.thetas()[1], 1044.2678, 5e-5), QString());
    double worst = 0.0;
    for (int position = 0; position < 2048; ++position) {
        angles.at(position, found);
        for (std::size_t k = 0; k < found.size(); ++k)
            worst = std::max(worst, std::fabs(std::cos(found[k]) - std::cos(position * angles.thetas()[k])));
    }
    QCOMPARE(absoluteDifference(worst, 0.78, 0.005), QString());
}

/// At p = 255 bf16 θ is off by 0.31 rad, and by 0.59 with the product rounded as well.
void TestPrecision::bfloatFrequencies()
{
    const RopeConfig config = plain(128, 1e4);
    QCOMPARE(
        absoluteDifference(anglesOf(PrecisionMode::Bf16Theta, config).errorAt(255).maxAngle, 0.31, 0.005),
        QString());
    QCOMPARE(absoluteDifference(anglesOf(PrecisionMode::Bf16All, config).errorAt(255).maxAngle, 0.59, 0.005),
             QString());
    QCOMPARE(anglesOf(PrecisionMode::Bf16Positions, config).errorAt(257).maxAngle, 1.0);
    QCOMPARE(anglesOf(PrecisionMode::Bf16Positions, config).errorAt(100001).maxAngle, 161.0);
}

void TestPrecision::overflow()
{
    const RoundedAngles half = anglesOf(PrecisionMode::Fp16All, plain(128, 1e4));
    QVERIFY(half.errorAt(65519).isFinite);
    QVERIFY(!half.errorAt(65520).isFinite);
    QCOMPARE(half.firstNotFinite(131072), std::optional<std::int64_t>(65520));
    QCOMPARE(half.firstNotFinite(65519), std::nullopt);
    for (const PrecisionModeInfo& mode : precisionModes())
        if (mode.mode != PrecisionMode::Fp16All)
            QCOMPARE(anglesOf(mode.mode, plain(128, 1e4)).firstNotFinite(10'000'000), std::nullopt);
    // Slow pairs alone never pass the limit, but the position itself overflows.
    const std::vector<double> slow{1e-7, 1e-8};
    const RoundedAngles still(PrecisionMode::Fp16All, slow, slow);
    QCOMPARE(still.firstPast(0.5, 131072), std::optional<std::int64_t>(65520));
}

void TestPrecision::firstPastIsTheFirst_data()
{
    QTest::addColumn<double>("limit");
    QTest::addColumn<double>("base");
    QTest::newRow("0.01") << 0.01 << 1e4;
    QTest::newRow("0.001") << 0.001 << 5e5;
    QTest::newRow("0.3") << 0.3 << 1e6;
    QTest::newRow("1e-5") << 1e-5 << 1e4;
}

void TestPrecision::firstPastIsTheFirst()
{
    QFETCH(double, limit);
    QFETCH(double, base);
    // Every position in turn, all pairs.
    const std::int64_t last = 20000;
    for (const PrecisionModeInfo& mode : precisionModes()) {
        const RoundedAngles angles = anglesOf(mode.mode, plain(64, base));
        std::optional<std::int64_t> expected;
        for (std::int64_t position = 1; position <= last && !expected; ++position)
            if (angles.errorAt(position).maxTurn > limit)
                expected = position;
        QCOMPARE(angles.firstPast(limit, last), expected);
        if (expected) {
            QCOMPARE(angles.firstPast(limit, *expected), expected);
            QCOMPARE(angles.firstPast(limit, *expected - 1), std::nullopt);
        }
    }
}

/// Under every rule and scheme: what the search leaves out is never past the limit, still pairs have no
/// angle, and no error is above the bound of its roundings.
void TestPrecision::boundHolds()
{
    std::mt19937 random(17);
    for (int round = 0; round < 30; ++round) {
        const RopeConfig config = randomConfig(random);
        const FrequencyTable table = frequencyTable(config);
        for (const PrecisionModeInfo& mode : precisionModes()) {
            const RoundedAngles angles(mode.mode, table.plain, table.scaled);
            QCOMPARE(static_cast<int>(angles.pairs().size()), table.turningPairs());
            for (const int pair : angles.pairs())
                QVERIFY(table.turns(pair));
            const double limit = std::pow(10.0, -1.0 - round % 4);
            const auto first = angles.firstPast(limit, 3000);
            for (std::int64_t position = 1; position < first.value_or(3001); position += 1 + position / 40)
                QVERIFY2(angles.errorAt(position).maxTurn <= limit, mode.word.data());
            if (first)
                QVERIFY(!(angles.errorAt(*first).maxTurn <= limit));
            // Two roundings of the coarsest format, or one a pair: below 1 % of the angle, whatever the rule.
            if (mode.mode <= PrecisionMode::GgmlCuda) {
                std::vector<double> found(angles.pairs().size());
                angles.at(1000, found);
                for (std::size_t k = 0; k < found.size(); ++k)
                    QVERIFY(std::fabs(found[k] - 1000.0 * angles.thetas()[k]) <=
                            1000.0 * angles.thetas()[k] * 3e-7 * (angles.pairs()[k] + 2));
            }
        }
    }
}

void TestPrecision::nothingTurns()
{
    RopeConfig config = plain(64, 1e4);
    config.rule = FrequencyRule::None;
    for (const PrecisionModeInfo& mode : precisionModes()) {
        const RoundedAngles angles = anglesOf(mode.mode, config);
        QVERIFY(angles.pairs().empty());
        QCOMPARE(angles.errorAt(100000).maxTurn, 0.0);
        QCOMPARE(angles.firstPast(0.01, 100000), std::nullopt);
    }
}

void TestPrecision::stopped()
{
    std::stop_source source;
    source.request_stop();
    const RoundedAngles angles = anglesOf(PrecisionMode::Float32, plain(128, 5e5));
    QVERIFY(angles.firstPast(0.01, 1'000'000));
    QCOMPARE(angles.firstPast(0.35, 10'000'000, source.get_token()), std::nullopt);
}

QTEST_GUILESS_MAIN(TestPrecision)
#include "test_precision.moc"
