// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/mean_score.h"
#include "tests/support/compare.h"
#include "tests/support/random_config.h"

#include <QtTest>

#include <limits>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

std::vector<double> randomRows(std::mt19937& random, std::size_t count)
{
    std::normal_distribution<double> normal;
    std::vector<double> rows(count);
    for (double& value : rows)
        value = normal(random);
    return rows;
}

/// Every score by itself in long double: both rows rotated at their own positions.
long double score(const RopeConfig& config, const std::vector<double>& q, const std::vector<double>& k,
                  std::size_t m, std::size_t n, bool isTurned)
{
    const ChannelMap channels = channelMap(config);
    const FrequencyTable table = frequencyTable(config);
    const std::vector<double> rates = dampingRates(config, table);
    const auto width = static_cast<std::size_t>(config.headDim);
    long double sum = 0;
    for (int pair = 0; pair < channels.pairCount(); ++pair) {
        const auto [a, b] = channels.pair(pair);
        const long double qa = q[m * width + static_cast<std::size_t>(a)],
                          qb = q[m * width + static_cast<std::size_t>(b)];
        const long double ka = k[n * width + static_cast<std::size_t>(a)],
                          kb = k[n * width + static_cast<std::size_t>(b)];
        if (!isTurned || !table.turns(pair)) {
            sum += qa * ka + qb * kb;
            continue;
        }
        const long double theta = table.theta(pair), factor = table.attentionFactor;
        const long double cm = std::cos(m * theta), sm = std::sin(m * theta), cn = std::cos(n * theta),
                          sn = std::sin(n * theta);
        const long double damping =
            rates.empty() ? 1.0L
                          : std::exp(rates[static_cast<std::size_t>(pair)] * static_cast<long double>(m - n));
        sum += factor * factor * damping *
               ((qa * cm - qb * sm) * (ka * cn - kb * sn) + (qa * sm + qb * cm) * (ka * sn + kb * cn));
    }
    return sum;
}

} // namespace

class TestMeanScore : public QObject
{
    Q_OBJECT
private slots:
    void againstALoop();
    void gaps();
    void stops();
};

void TestMeanScore::againstALoop()
{
    std::mt19937 random(21);
    constexpr std::size_t kTokens = 19;
    for (int round = 0; round < 60; ++round) {
        RopeConfig config = randomConfig(random);
        config.headDim = config.headDim > 64 ? 64 : config.headDim;
        if (hasError(validate(config)))
            continue;
        const auto width = static_cast<std::size_t>(config.headDim);
        const std::vector<double> q = randomRows(random, kTokens * width),
                                  k = randomRows(random, kTokens * width);
        const FrequencyTable table = frequencyTable(config);
        const std::vector<double> rates = dampingRates(config, table);
        const auto means = meanScores(q, k, channelMap(config), table, rates);
        QVERIFY(means);
        QCOMPARE(means->turned.size(), kTokens);
        for (std::size_t r = 0; r < kTokens; ++r) {
            long double turned = 0, plain = 0;
            for (std::size_t m = r; m < kTokens; ++m) {
                turned += score(config, q, k, m, m - r, true) / (kTokens - r);
                plain += score(config, q, k, m, m - r, false) / (kTokens - r);
            }
            const double tolerance =
                1e-12 * config.headDim * std::max(1.0, table.attentionFactor * table.attentionFactor);
            QCOMPARE(absoluteDifference(means->turned[r], static_cast<double>(turned), tolerance), QString());
            QCOMPARE(absoluteDifference(means->plain[r], static_cast<double>(plain), tolerance), QString());
        }
    }
}

void TestMeanScore::gaps()
{
    RopeConfig config;
    config.headDim = config.rotaryDim = 4;
    std::vector<double> q(12, 1.0), k(12, 1.0);
    q[5] = std::nan("");                            // query at 1
    k[0] = std::numeric_limits<double>::infinity(); // key at 0
    const auto means = meanScores(q, k, channelMap(config), frequencyTable(config), {});
    QVERIFY(means);
    QCOMPARE(means->leftOut, std::int64_t{2});
    QCOMPARE(means->plain[0], 4.0);       // only (2, 2) is left
    QCOMPARE(means->plain[1], 4.0);       // only (2, 1)
    QVERIFY(std::isnan(means->plain[2])); // (2, 0) is not finite
}

void TestMeanScore::stops()
{
    std::stop_source source;
    source.request_stop();
    RopeConfig config;
    config.headDim = config.rotaryDim = 4;
    const std::vector<double> rows(12, 1.0);
    QVERIFY(!meanScores(rows, rows, channelMap(config), frequencyTable(config), {}, source.get_token()));
}

QTEST_GUILESS_MAIN(TestMeanScore)
#include "test_mean_score.moc"
