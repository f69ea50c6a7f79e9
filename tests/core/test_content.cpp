// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/content.h"
#include "core/philox.h"
#include "tests/support/compare.h"

#include <QtTest>

#include <cmath>
#include <numeric>

using namespace ropewalk;
using namespace ropewalk::test;

using Words = std::array<std::uint32_t, 4>;

class TestContent : public QObject
{
    Q_OBJECT
private slots:
    void knownWords();
    void knownNumbers();
    void lawOfTheNumbers();
    void contents();
    void words();
};

void TestContent::knownWords()
{
    QCOMPARE(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    const Words seedOne = philox({0, 0, 0, 0}, {1, 0});
    QCOMPARE(seedOne[0], 0xe3e80670U);
    QCOMPARE(seedOne[1], 0xe50a0ebcU);
    QVERIFY(philox({0, 0, 0, 0}, {0, 1}) != seedOne); // the low word of the seed is the first of the key
}

void TestContent::knownNumbers()
{
    QCOMPARE(absoluteDifference(standardNormal(1, RandomStream::Query, 0, 0), 0.380400734185699, 2e-15),
             QString());
    QCOMPARE(absoluteDifference(standardNormal(1, RandomStream::Query, 1, 0), 0.626947853241902, 2e-15),
             QString());
    QCOMPARE(absoluteDifference(standardNormal(1, RandomStream::Noise, 127, 131071), 1.85846401071357, 5e-15),
             QString());
}

void TestContent::lawOfTheNumbers()
{
    double sum = 0.0, squares = 0.0, product = 0.0;
    constexpr int kCount = 200000;
    for (std::uint32_t i = 0; i < kCount; ++i) {
        const double q = standardNormal(7, RandomStream::Query, i % 128, i / 128);
        sum += q;
        squares += q * q;
        product += q * standardNormal(7, RandomStream::Key, i % 128, i / 128);
    }
    QVERIFY(std::fabs(sum / kCount) < 0.01);
    QVERIFY(std::fabs(squares / kCount - 1.0) < 0.02);
    QVERIFY(std::fabs(product / kCount) < 0.01);
}

void TestContent::contents()
{
    const ContentRows ones = makeContent(Content::Ones, 8, 1, 0.5, 3, 4);
    QCOMPARE(ones.query, std::vector<double>(8, 1.0));
    QCOMPARE(ones.key, ones.query);
    const auto make = [](Content content, double rho, std::int64_t m, std::int64_t n) {
        return makeContent(content, 128, 1, rho, m, n);
    };
    // Gaussian: another draw at each position, and k is no q.
    const ContentRows here = make(Content::Gaussian, 0.0, 5, 5);
    QVERIFY(here.query != here.key);
    QVERIFY(here.query != make(Content::Gaussian, 0.0, 6, 5).query);
    QCOMPARE(here.key, make(Content::Gaussian, 0.0, 6, 5).key);
    // Same and correlated: one draw for all positions.
    const ContentRows same = make(Content::Same, 0.0, 5, 9);
    QCOMPARE(same.key, same.query);
    QCOMPARE(same.query, make(Content::Same, 0.0, 77, 0).query);
    QCOMPARE(make(Content::Correlation, 1.0, 5, 9).key, same.query);
    const ContentRows half = make(Content::Correlation, 0.5, 5, 9);
    QCOMPARE(half.query, same.query);
    const std::vector<double> none = make(Content::Correlation, 0.0, 5, 9).key;
    for (std::size_t c = 0; c < 128; ++c)
        QCOMPARE(absoluteDifference(half.key[c], 0.5 * same.query[c] + std::sqrt(0.75) * none[c], 1e-15),
                 QString());
}

void TestContent::words()
{
    for (const Content content : {Content::Ones, Content::Gaussian, Content::Same, Content::Correlation})
        QCOMPARE(findContent(word(content)), std::optional(content));
    QVERIFY(!findContent("needle"));
}

QTEST_APPLESS_MAIN(TestContent)
#include "test_content.moc"
