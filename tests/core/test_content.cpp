// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/content.h"
#include "core/figure_results.h"
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
    void correlationForEachPosition();
    void needle();
    void clusters();
    void file();
    void bulk();
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

namespace {

FigureOptions optionsOf(Content content, double rho = 0.5)
{
    FigureOptions options;
    options.content = content;
    options.rho = rho;
    return options;
}

ContentSource sourceOf(const FigureOptions& options, int headDim = 128, double softmaxFactor = 1.0)
{
    RopeConfig config;
    config.headDim = config.rotaryDim = headDim;
    config.softmaxFactor = softmaxFactor;
    return ContentSource::make(options, config).value();
}

std::vector<double> normals(RandomStream stream, std::int64_t position, int headDim = 128)
{
    std::vector<double> row(static_cast<std::size_t>(headDim));
    for (std::size_t c = 0; c < row.size(); ++c)
        row[c] =
            standardNormal(1, stream, static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(position));
    return row;
}

} // namespace

void TestContent::contents()
{
    const ContentRows ones = makeContent(sourceOf(optionsOf(Content::Ones), 8), 3, 4);
    QCOMPARE(ones.query, std::vector<double>(8, 1.0));
    QCOMPARE(ones.key, ones.query);
    const auto make = [](Content content, double rho, std::int64_t m, std::int64_t n) {
        return makeContent(sourceOf(optionsOf(content, rho)), m, n);
    };
    // Gaussian: another draw at each position, and k is no q.
    const ContentRows here = make(Content::Gaussian, 0.0, 5, 5);
    QCOMPARE(here.query, normals(RandomStream::Query, 5));
    QCOMPARE(here.key, normals(RandomStream::Key, 5));
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

void TestContent::correlationForEachPosition()
{
    FigureOptions options = optionsOf(Content::Correlation, 0.6);
    QVERIFY(options.settings.set("correlation_per_position", "true").hasValue());
    const ContentSource source = sourceOf(options);
    QVERIFY(!source.isFixed());
    const ContentRows rows = makeContent(source, 11, 7);
    QCOMPARE(rows.query, normals(RandomStream::Query, 11));
    const std::vector<double> q = normals(RandomStream::Query, 7);
    const std::vector<double> z = normals(RandomStream::Noise, 7);
    for (std::size_t c = 0; c < 128; ++c)
        QCOMPARE(absoluteDifference(rows.key[c], 0.6 * q[c] + 0.8 * z[c], 1e-15), QString());
}

void TestContent::needle()
{
    FigureOptions options = optionsOf(Content::Needle);
    QVERIFY(options.settings.set("needle_logit", "9").hasValue());
    QVERIFY(options.settings.set("needle_position", "5").hasValue());
    for (const double factor : {1.0, 1.87385}) {
        const ContentSource source = sourceOf(options, 64, factor);
        QVERIFY(!source.isFixed());
        const ContentRows rows = makeContent(source, 1000, 5);
        QCOMPARE(rows.query, makeContent(source, 3, 5).query);
        // The logit before rotation is the wanted one, whatever the head's width and scale.
        double score = 0.0;
        for (std::size_t c = 0; c < 64; ++c)
            score += rows.query[c] * rows.key[c];
        QCOMPARE(relativeDifference(factor / 8.0 * score, 9.0, 1e-14), QString());
        QCOMPARE(makeContent(source, 0, 6).key, normals(RandomStream::Key, 6, 64));
    }
}

void TestContent::clusters()
{
    FigureOptions options = optionsOf(Content::Clusters);
    QVERIFY(options.settings.set("cluster_mean_q", "2").hasValue());
    QVERIFY(options.settings.set("cluster_mean_k", "-3").hasValue());
    QVERIFY(options.settings.set("cluster_sigma", "0.5").hasValue());
    const ContentRows rows = makeContent(sourceOf(options, 16), 8, 9);
    for (std::size_t c = 0; c < 16; ++c) {
        QCOMPARE(rows.query[c], 2.0 + 0.5 * normals(RandomStream::Query, 8, 16)[c]);
        QCOMPARE(rows.key[c], -3.0 + 0.5 * normals(RandomStream::Key, 9, 16)[c]);
    }
}

void TestContent::file()
{
    auto tensors = std::make_shared<HeadTensors>();
    tensors->name = "head.npz";
    tensors->headDim = 4;
    tensors->tokens = 3;
    for (int i = 0; i < 12; ++i) {
        tensors->query.push_back(i);
        tensors->key.push_back(-i);
    }
    FigureOptions options = optionsOf(Content::File);
    RopeConfig config;
    config.headDim = config.rotaryDim = 4;
    const auto missing = ContentSource::make(options, config);
    QVERIFY(!missing);
    QVERIFY(toEnglish(missing.error()).find("no tensors are open") != std::string::npos);
    options.tensors = tensors;
    const ContentSource source = ContentSource::make(options, config).value();
    QVERIFY(!source.isFixed());
    QCOMPARE(source.rowsAvailable(), std::int64_t{3});
    const ContentRows rows = makeContent(source, 2, 1);
    QCOMPARE(rows.query, (std::vector<double>{8.0, 9.0, 10.0, 11.0}));
    QCOMPARE(rows.key, (std::vector<double>{-4.0, -5.0, -6.0, -7.0}));
    // What lay beside the tensors and was left out is said.
    tensors->leftOut = {"readme.txt"};
    const auto said = [&] {
        return toEnglish(ContentSource::make(options, config).value().notes().front().text);
    };
    QCOMPARE(said(), std::string("head.npz: readme.txt of the file is no .npy and was left out"));
    tensors->leftOut.push_back("b");
    QCOMPARE(said(),
             std::string("head.npz: readme.txt and 1 more of the file are no .npy and were left out"));
    config.headDim = 8;
    const auto other = ContentSource::make(options, config);
    QVERIFY(!other);
    QCOMPARE(toEnglish(other.error()), std::string("head.npz has rows of 4 channels; expected head_dim, 8"));
}

/// Rows in bulk are the rows one by one, and "fixed" means what it says.
void TestContent::bulk()
{
    for (const Content content : ropewalk::contents()) {
        if (content == Content::File)
            continue;
        const ContentSource source = sourceOf(optionsOf(content), 8);
        std::vector<double> queries(5 * 8), keys(5 * 8);
        source.queries(254, queries);
        source.keys(254, keys);
        for (int row = 0; row < 5; ++row) {
            const ContentRows one = makeContent(source, 254 + row, 254 + row);
            QVERIFY(std::equal(one.query.begin(), one.query.end(), queries.begin() + row * 8));
            QVERIFY(std::equal(one.key.begin(), one.key.end(), keys.begin() + row * 8));
            if (source.isFixed())
                QVERIFY(one.query == makeContent(source, 0, 0).query &&
                        one.key == makeContent(source, 0, 0).key);
        }
        QCOMPARE(source.isFixed(),
                 content == Content::Ones || content == Content::Same || content == Content::Correlation);
    }
}

void TestContent::words()
{
    QCOMPARE(ropewalk::contents().size(), std::size_t{7});
    for (const Content content : ropewalk::contents())
        QCOMPARE(findContent(word(content)), std::optional(content));
    QVERIFY(!findContent("needles"));
}

QTEST_APPLESS_MAIN(TestContent)
#include "test_content.moc"
