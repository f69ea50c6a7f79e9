// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/encodings.h"
#include "core/philox.h"
#include "tests/support/compare.h"
#include "tests/support/reference.h"

#include <QtTest>
#include <set>

using namespace ropewalk;
using namespace ropewalk::test;

class TestEncodings : public QObject
{
    Q_OBJECT
private slots:
    void sinusoidal();
    void t5Reference();
    void t5InSinglePrecision();
    void t5Landmarks();
    void debertaReference();
    void debertaTables();
    void debertaContent();
    void alibiReference();
    void alibiOfAnyNumberOfHeads();
    void transformerXl();
    void learned();
    void softmaxOfRows();
    void spread();
    void table();
};

void TestEncodings::sinusoidal()
{
    for (const ReferenceEntry& entry : referenceEntries("other/sinusoidal_inner_product"))
        for (const QJsonValue& row : entry.values["rows"].toArray()) {
            const int width = entry.params["d_model"].toInt();
            const double distance = row["r"].toDouble();
            const double value = row["value"].toDouble();
            QCOMPARE(absoluteDifference(sinusoidalProduct(width, 1e4, distance), value, 1e-10), QString());
            QCOMPARE(absoluteDifference(sinusoidalProduct(width, 1e4, -distance), value, 1e-10),
                     QString()); // even
            // The product of the vectors themselves, wherever they are.
            const auto m = sinusoidalVector(width, 1e4, 700.0 + distance);
            const auto n = sinusoidalVector(width, 1e4, 700.0);
            double sum = 0.0;
            for (std::size_t c = 0; c < m.size(); ++c)
                sum += m[c] * n[c];
            QCOMPARE(absoluteDifference(sum, value, 1e-10), QString());
        }
}

void TestEncodings::t5Reference()
{
    for (const ReferenceEntry& entry : referenceEntries("other/t5_buckets"))
        for (const QJsonValue& row : entry.values["rows"].toArray()) {
            QCOMPARE(t5Bucket(row[0].toInteger(), entry.params["bidirectional"].toBool(),
                              entry.params["num_buckets"].toInt(), entry.params["max_distance"].toInt()),
                     row[1].toInt());
            comparedNumbers.count += 1;
        }
}

/// Computed as the model's code computes it, in float32: the same bucket at every distance of the reference.
void TestEncodings::t5InSinglePrecision()
{
    for (const ReferenceEntry& entry : referenceEntries("other/t5_float32_differences")) {
        const QJsonArray differences = entry.values["differences"].toArray();
        QStringList found;
        for (const bool isBidirectional : {true, false})
            for (int distance = 0; distance < 2000; ++distance) {
                const int buckets = isBidirectional ? 16 : 32, exact = buckets / 2;
                int bucket = distance;
                if (distance >= exact) {
                    const float logarithm =
                        std::log(static_cast<float>(distance) / static_cast<float>(exact));
                    const float step = logarithm / static_cast<float>(std::log(128.0 / exact)) *
                                       static_cast<float>(buckets - exact);
                    bucket = std::min(buckets - 1, exact + static_cast<int>(step));
                }
                if (t5Bucket(-distance, isBidirectional) != bucket)
                    found += QString::number(distance);
            }
        QCOMPARE(found.size(), differences.size());
    }
}

void TestEncodings::t5Landmarks()
{
    // maths, section 7: distance -> bucket on the left side.
    const std::pair<int, int> bidirectional[] = {{7, 7},   {8, 8},   {11, 8},  {12, 9},
                                                 {16, 10}, {32, 12}, {64, 14}, {91, 15}};
    for (const auto& [distance, bucket] : bidirectional) {
        QCOMPARE(t5Bucket(-distance, true), bucket);
        QCOMPARE(t5Bucket(distance, true), bucket + 16);
    }
    const std::pair<int, int> causal[] = {{15, 15}, {16, 16}, {64, 26}, {113, 31}};
    for (const auto& [distance, bucket] : causal) {
        QCOMPARE(t5Bucket(-distance, false), bucket);
        QCOMPARE(t5Bucket(distance, false), 0); // the future has none
    }
    // Against the definition in long double, away from the powers, where the quotient is whole.
    for (int n = 17; n < 2000; ++n) {
        const long double steps = 16.0L * std::log(n / 16.0L) / std::log(8.0L);
        if (std::fabs(steps - std::round(steps)) < 1e-9L)
            continue;
        QCOMPARE(t5Bucket(-n, false), static_cast<int>(std::min(31.0L, 16.0L + std::floor(steps))));
    }
}

void TestEncodings::debertaReference()
{
    for (const ReferenceEntry& entry : referenceEntries("other/deberta_v2_log_bucket"))
        for (const QJsonValue& row : entry.values["rows"].toArray()) {
            QCOMPARE(debertaLogBucket(row[0].toInteger(), entry.params["bucket_size"].toInt(),
                                      entry.params["max_position"].toInt()),
                     row[1].toInt());
            comparedNumbers.count += 1;
        }
}

void TestEncodings::debertaTables()
{
    QCOMPARE(debertaLogBucket(512), 256);
    QCOMPARE(debertaIndex(512, true), 511); // clamped
    QCOMPARE(debertaIndex(0, true), 256);
    QCOMPARE(debertaIndex(-100000, true), 0);
    QCOMPARE(debertaIndex(0, false), 512);
    QCOMPARE(debertaIndex(511, false), 1023);
    QCOMPARE(debertaIndex(512, false), 1023);
    QCOMPARE(debertaIndex(-512, false), 0);
    QCOMPARE(debertaIndex(-513, false), 0);
    for (int r = -1000; r < 1000; ++r) { // rows are taken in order
        QVERIFY(debertaIndex(r, true) <= debertaIndex(r + 1, true));
        QVERIFY(debertaIndex(r, false) <= debertaIndex(r + 1, false));
    }
}

void TestEncodings::debertaContent()
{
    constexpr int kWidth = 64;
    for (const bool isLog : {false, true}) {
        const DebertaTerm term(3, kWidth, isLog);
        for (const int r : {-600, -200, -1, 0, 1, 77, 300}) {
            long double sum = 0.0L;
            for (std::uint32_t c = 0; c < kWidth; ++c) {
                const auto row = static_cast<std::uint32_t>(debertaIndex(r, isLog));
                const auto back = static_cast<std::uint32_t>(debertaIndex(-r, isLog));
                sum += static_cast<long double>(standardNormal(3, RandomStream::Query, c, 0)) *
                           standardNormal(3, RandomStream{5}, c, row) / std::sqrt(64.0L) +
                       static_cast<long double>(standardNormal(3, RandomStream::Key, c, 0)) *
                           standardNormal(3, RandomStream{6}, c, back) / std::sqrt(64.0L);
            }
            QCOMPARE(absoluteDifference(term.at(r), static_cast<double>(sum / std::sqrt(192.0L)), 1e-14),
                     QString());
        }
        QCOMPARE(term.at(700), term.at(5000)); // both ends are one row
    }
}

void TestEncodings::alibiReference()
{
    for (const ReferenceEntry& entry : referenceEntries("other/alibi_slopes"))
        QCOMPARE(relativeDifference(alibiSlopes(entry.params["n_heads"].toInt()),
                                    numbers(entry.values["slopes"]), 1e-15),
                 QString());
}

void TestEncodings::alibiOfAnyNumberOfHeads()
{
    for (int heads = 1; heads <= 130; ++heads) {
        const std::vector<double> slopes = alibiSlopes(heads);
        QCOMPARE(static_cast<int>(slopes.size()), heads);
        const std::set<double> different(slopes.begin(), slopes.end());
        QCOMPARE(static_cast<int>(different.size()), heads);
        for (const double slope : slopes)
            QVERIFY(slope > 0.0 && slope < 1.0);
    }
}

void TestEncodings::transformerXl()
{
    constexpr int kWidth = 96;
    const TransformerXlTerm term(9, kWidth, 1e4);
    bool isEven = true;
    for (const double r : {-300.0, -1.0, 0.0, 1.0, 42.0}) {
        long double sum = 0.0L;
        for (std::uint32_t i = 0; i < kWidth / 2; ++i) {
            const long double angle = r * std::pow(1e4L, -2.0L * i / kWidth);
            sum += std::sqrt(2.0L / kWidth) * (standardNormal(9, RandomStream{4}, i, 0) * std::sin(angle) +
                                               standardNormal(9, RandomStream{4}, i, 1) * std::cos(angle));
        }
        QCOMPARE(absoluteDifference(term.at(r), static_cast<double>(sum), 1e-12), QString());
        isEven = isEven && std::fabs(term.at(r) - term.at(-r)) < 1e-6;
    }
    QVERIFY(!isEven);
    // Of a model: the sines' half first. One sine alone, then one cosine alone.
    const std::vector<double> sine{0.0, 3.0, 0.0, 0.0}, cosine{0.0, 0.0, 0.0, -2.0};
    QCOMPARE(absoluteDifference(TransformerXlTerm(sine, 1e4).at(7.0), 3.0 * std::sin(0.07), 1e-15),
             QString());
    QCOMPARE(absoluteDifference(TransformerXlTerm(cosine, 1e4).at(7.0), -2.0 * std::cos(0.07), 1e-15),
             QString());
}

void TestEncodings::learned()
{
    constexpr int kRows = 40, kWidth = 24;
    const std::vector<double> table = randomLearnedTable(2, kRows, kWidth, 0.02);
    QCOMPARE(table[5 * kWidth + 7], 0.02 * standardNormal(2, RandomStream{3}, 7, 5)); // channel, row
    for (int r = 0; r < kRows; ++r) {
        long double sum = 0.0L;
        for (int m = r; m < kRows; ++m)
            for (int c = 0; c < kWidth; ++c)
                sum += static_cast<long double>(table[static_cast<std::size_t>(m * kWidth + c)]) *
                       table[static_cast<std::size_t>((m - r) * kWidth + c)];
        QCOMPARE(absoluteDifference(meanProductOfRows(table, kRows, kWidth, r),
                                    static_cast<double>(sum / (kRows - r)), 1e-16),
                 QString());
    }
    // Expectation d_model·σ² at 0, else 0 with a standard deviation of σ²√d_model a product.
    const std::vector<double> whole = randomLearnedTable(1, 512, 768, 0.02);
    QVERIFY(std::fabs(meanProductOfRows(whole, 512, 768, 0) - 768 * 4e-4) < 0.01 * 768 * 4e-4);
    for (int r = 1; r < 300; ++r)
        QVERIFY(std::fabs(meanProductOfRows(whole, 512, 768, r)) <
                5.0 * 4e-4 * std::sqrt(768.0 / (512.0 - r)));
}

void TestEncodings::softmaxOfRows()
{
    const std::vector<double> logits{1.0, 2.0, -1.0, 700.0}; // nothing overflows
    const std::vector<double> values{1.0, 0.0, 0.0, 1.0};
    const Attention found = attention(logits, values, 2, 2);
    const double share = 1.0 / (1.0 + std::exp(1.0));
    QCOMPARE(relativeDifference(found.weights[0], share, 1e-15), QString());
    QCOMPARE(relativeDifference(found.outputs[1], 1.0 - share, 1e-15), QString());
    QCOMPARE(found.weights[3], 1.0);
}

void TestEncodings::spread()
{
    QCOMPARE(spreadAlongDiagonals(std::vector<double>{1, 2, 3, 1}, 2), 0.0);
    QCOMPARE(spreadAlongDiagonals(std::vector<double>{1, 2, 3, 4}, 2), 3.0);
    QCOMPARE(spreadAlongDiagonals(std::vector<double>{0, 5, 9, 7, 0, 6, 1, 7, 0}, 3),
             1.0); // above the diagonal
}

void TestEncodings::table()
{
    std::set<std::string_view> words;
    for (const EncodingInfo& row : encodings())
        QVERIFY(words.insert(row.word).second && !row.title.empty());
    QCOMPARE(words.size(), std::size_t{8});
}

QTEST_APPLESS_MAIN(TestEncodings)
#include "test_encodings.moc"
