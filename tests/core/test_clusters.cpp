// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/clusters.h"
#include "core/frequency_rules.h"
#include "tests/support/compare.h"
#include "tests/support/reference.h"

#include <QtTest>

#include <array>
#include <random>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

std::vector<double> matrix(const QJsonValue& rows)
{
    std::vector<double> values;
    for (const QJsonValue& row : rows.toArray())
        for (const double value : numbers(row))
            values.push_back(value);
    return values;
}

std::vector<double> randomRows(std::mt19937& random, int count, int width, double mean, double spread)
{
    std::normal_distribution<double> normal(mean, spread);
    std::vector<double> rows(static_cast<std::size_t>(count * width));
    for (double& value : rows)
        value = normal(random);
    return rows;
}

long double distance(const std::vector<double>& rows, int i, int j, int width)
{
    long double square = 0;
    for (int c = 0; c < width; ++c) {
        const long double d = static_cast<long double>(rows[static_cast<std::size_t>(i * width + c)]) -
                              rows[static_cast<std::size_t>(j * width + c)];
        square += d * d;
    }
    return std::sqrt(square);
}

/// Rousseeuw's definition, point by point.
std::vector<double> slowSilhouette(const std::vector<double>& first, const std::vector<double>& second,
                                   int width)
{
    std::vector<double> rows = first;
    rows.insert(rows.end(), second.begin(), second.end());
    const int a = static_cast<int>(first.size()) / width, count = static_cast<int>(rows.size()) / width;
    std::vector<double> samples;
    for (int i = 0; i < count; ++i) {
        std::array<long double, 2> sum{};
        for (int j = 0; j < count; ++j)
            sum[j < a ? 0 : 1] += distance(rows, i, j, width);
        const bool isFirst = i < a;
        const int own = isFirst ? a : count - a;
        const long double within = own > 1 ? sum[isFirst ? 0 : 1] / (own - 1) : 0;
        const long double between = sum[isFirst ? 1 : 0] / (count - own);
        const long double larger = std::max(within, between);
        samples.push_back(own == 1 || larger == 0 ? 0.0 : static_cast<double>((between - within) / larger));
    }
    return samples;
}

/// Eigenvalues and eigenvectors of a symmetric matrix by Jacobi's rotations, in long double.
struct Eigen
{
    std::vector<long double> values;
    std::vector<std::vector<long double>> vectors; ///< one a value
};
Eigen jacobi(std::vector<std::vector<long double>> a)
{
    const std::size_t n = a.size();
    std::vector<std::vector<long double>> v(n, std::vector<long double>(n));
    for (std::size_t i = 0; i < n; ++i)
        v[i][i] = 1;
    for (int sweep = 0; sweep < 60; ++sweep)
        for (std::size_t p = 0; p < n; ++p)
            for (std::size_t q = p + 1; q < n; ++q) {
                if (a[p][q] == 0)
                    continue;
                const long double angle = std::atan2(2 * a[p][q], a[q][q] - a[p][p]) / 2;
                const long double c = std::cos(angle), s = std::sin(angle);
                for (std::size_t k = 0; k < n; ++k) {
                    const long double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                for (std::size_t k = 0; k < n; ++k) {
                    const long double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                }
                for (std::size_t k = 0; k < n; ++k) {
                    const long double x = v[k][p], y = v[k][q];
                    v[k][p] = c * x - s * y;
                    v[k][q] = s * x + c * y;
                }
            }
    std::vector<std::size_t> order(n);
    for (std::size_t i = 0; i < n; ++i)
        order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return a[i][i] > a[j][j]; });
    Eigen result;
    for (const std::size_t i : order) {
        result.values.push_back(a[i][i]);
        std::vector<long double> vector;
        for (std::size_t k = 0; k < n; ++k)
            vector.push_back(v[k][i]);
        result.vectors.push_back(std::move(vector));
    }
    return result;
}

} // namespace

class TestClusters : public QObject
{
    Q_OBJECT
private slots:
    void toy();
    void ropeToy();
    void centroidShrink();
    void ropeIdEndsVanish();
    void energySpreadEvenly();
    void silhouetteAgainstALoop();
    void limitingCases();
    void planeAgainstJacobi();
    void planeOfFewPoints();
    void planeOfALine();
    void ranks();
    void causalMean();
    void stops();
};

void TestClusters::toy()
{
    const ReferenceEntry entry = referenceEntries("clustering/toy").front();
    const std::vector<double> keys = matrix(entry.params["keys"]), queries = matrix(entry.params["queries"]);
    QCOMPARE(relativeDifference(silhouetteSamples(keys, queries, 2),
                                numbers(entry.values["silhouette_samples"]), 1e-13),
             QString());
    QCOMPARE(relativeDifference(silhouette(keys, queries, 2), entry.values["silhouette"].toDouble(), 1e-13),
             QString());
    QCOMPARE(
        relativeDifference(daviesBouldin(keys, queries, 2), entry.values["davies_bouldin"].toDouble(), 1e-13),
        QString());
}

void TestClusters::ropeToy()
{
    const auto entries = referenceEntries("clustering/rope_toy");
    QCOMPARE(entries.size(), std::size_t{2});
    for (const ReferenceEntry& entry : entries) {
        const std::vector<double> keys = matrix(entry.values["keys"]),
                                  queries = matrix(entry.values["queries"]);
        QCOMPARE(
            absoluteDifference(silhouette(keys, queries, 4), entry.values["silhouette"].toDouble(), 1e-12),
            QString());
        QCOMPARE(relativeDifference(daviesBouldin(keys, queries, 4),
                                    entry.values["davies_bouldin"].toDouble(), 1e-12),
                 QString());
    }
}

void TestClusters::centroidShrink()
{
    for (const ReferenceEntry& entry : referenceEntries("clustering/centroid_shrink")) {
        RopeConfig config;
        config.base = entry.params["name"].toString().section('/', 1).toDouble();
        const std::vector<double> thetas = frequencyTable(config).scaled;
        QCOMPARE(thetas.size(), std::size_t{64});
        for (const QJsonValue& value : entry.values["rows"].toArray()) {
            const double count = value["n"].toDouble();
            const auto check = [&](std::size_t pair, const char* name) {
                // sin of nθ/2 at 65536/2 rad is known to 1e-11, relative to what is left of it here.
                QCOMPARE(
                    absoluteDifference(dirichletFactor(count, thetas[pair]), value[name].toDouble(), 1e-13),
                    QString());
            };
            check(0, "D_first");
            check(32, "D_middle");
            check(63, "D_last");
            double sum = 0.0;
            for (const double theta : thetas)
                sum += std::pow(dirichletFactor(count, theta), 2);
            QCOMPARE(absoluteDifference(sum / 64.0, value["mean_square_over_pairs"].toDouble(), 1e-13),
                     QString());
        }
    }
}

void TestClusters::ropeIdEndsVanish()
{
    RopeConfig config;
    config.rule = FrequencyRule::RopeId;
    config.channels = ChannelScheme::Quarters13;
    config.originalMaxPositionEmbeddings = 4096;
    config.maxPositionEmbeddings = 4096;
    std::vector<double> turning;
    for (const double theta : frequencyTable(config).scaled)
        if (theta != 0.0)
            turning.push_back(theta);
    QCOMPARE(turning.size(), std::size_t{32});
    QCOMPARE(absoluteDifference(dirichletFactor(4096, turning.front()), 0.0, 1e-13), QString());
    QCOMPARE(absoluteDifference(dirichletFactor(4096, turning.back()), 0.0, 1e-13), QString());
    QVERIFY(dirichletFactor(4096, turning[16]) > 1e-4); // not those between
    QCOMPARE(dirichletFactor(1000, 0.0), 1.0);
    QCOMPARE(dirichletFactor(1, 0.7), 1.0);
}

/// The published comparison: full plain rotation against RoPE-ID's half, 4k, 16k, 64k.
void TestClusters::energySpreadEvenly()
{
    RopeConfig plain;
    RopeConfig id;
    id.rule = FrequencyRule::RopeId;
    id.channels = ChannelScheme::Quarters13;
    id.originalMaxPositionEmbeddings = id.maxPositionEmbeddings = 4096;
    const auto share = [](const RopeConfig& config, double count) {
        double sum = 0.0;
        const FrequencyTable table = frequencyTable(config);
        for (int pair = 0; pair < 64; ++pair)
            sum += std::pow(table.turns(pair) ? dirichletFactor(count, table.theta(pair)) : 1.0, 2);
        return std::sqrt(sum / 64.0);
    };
    const std::array<double, 3> counts{4096, 16384, 65536}, plainShares{0.436, 0.228, 0.049},
        idShares{0.708, 0.707, 0.707};
    for (std::size_t i = 0; i < counts.size(); ++i) {
        QCOMPARE(absoluteDifference(share(plain, counts[i]), plainShares[i], 5e-4), QString());
        QCOMPARE(absoluteDifference(share(id, counts[i]), idShares[i], 5e-4), QString());
    }
}

void TestClusters::silhouetteAgainstALoop()
{
    std::mt19937 random(11);
    for (const auto& [a, b, width, far] : {std::tuple{3, 4, 2, 1.0}, std::tuple{1, 5, 4, 0.0},
                                           std::tuple{150, 97, 16, 0.5}, std::tuple{200, 200, 6, 1e4}}) {
        const std::vector<double> first = randomRows(random, a, width, far, 1.0);
        const std::vector<double> second = randomRows(random, b, width, -0.3, 1.5);
        QCOMPARE(absoluteDifference(silhouetteSamples(first, second, width),
                                    slowSilhouette(first, second, width), 1e-11),
                 QString());
    }
    // Far from the origin and near to one another, where a difference of squares loses all digits.
    const std::vector<double> first = randomRows(random, 40, 4, 1e6, 1e-3),
                              second = randomRows(random, 30, 4, 1e6, 2e-3);
    QCOMPARE(absoluteDifference(silhouetteSamples(first, second, 4), slowSilhouette(first, second, 4), 1e-9),
             QString());
}

void TestClusters::limitingCases()
{
    const std::vector<double> one{1.0, 2.0}, other{5.0, 5.0}, twice{1.0, 2.0, 1.0, 2.0};
    QCOMPARE(silhouette(one, other, 2), 0.0);            // clouds of one
    QCOMPARE(silhouette(twice, twice, 2), 0.0);          // everything at one place
    QVERIFY(std::isnan(daviesBouldin(twice, twice, 2))); // the means agree
    QCOMPARE(daviesBouldin(one, other, 2), 0.0);
    QVERIFY(std::isnan(silhouette({}, {}, 2)));
    QVERIFY(std::isnan(daviesBouldin({}, one, 2)));
    QVERIFY(std::isnan(stableRank(std::vector<double>(6, 0.0), 2)));
    // Two points each, far apart: nearly 1.
    const std::vector<double> a{0, 0, 0, 1}, b{1000, 0, 1000, 1};
    QVERIFY(silhouette(a, b, 2) > 0.998);
    // Turning or moving everything changes nothing.
    std::mt19937 random(3);
    std::vector<double> first = randomRows(random, 20, 2, 0.0, 1.0),
                        second = randomRows(random, 25, 2, 1.0, 1.0);
    const double before = silhouette(first, second, 2), index = daviesBouldin(first, second, 2);
    for (std::vector<double>* rows : {&first, &second})
        for (std::size_t i = 0; i < rows->size(); i += 2) {
            const double x = (*rows)[i], y = (*rows)[i + 1];
            (*rows)[i] = 7.0 + x * std::cos(0.4) - y * std::sin(0.4);
            (*rows)[i + 1] = -3.0 + x * std::sin(0.4) + y * std::cos(0.4);
        }
    QCOMPARE(absoluteDifference(silhouette(first, second, 2), before, 1e-13), QString());
    QCOMPARE(relativeDifference(daviesBouldin(first, second, 2), index, 1e-13), QString());
}

void TestClusters::planeAgainstJacobi()
{
    std::mt19937 random(5);
    constexpr int kWidth = 6, kCount = 50;
    std::vector<double> rows = randomRows(random, kCount, kWidth, 2.0, 1.0);
    for (int i = 0; i < kCount; ++i) // a direction of its own for each
        for (int c = 0; c < kWidth; ++c)
            rows[static_cast<std::size_t>(i * kWidth + c)] *= 1.0 + c * c;
    std::vector<long double> mean(kWidth);
    for (int i = 0; i < kCount; ++i)
        for (int c = 0; c < kWidth; ++c)
            mean[static_cast<std::size_t>(c)] +=
                static_cast<long double>(rows[static_cast<std::size_t>(i * kWidth + c)]) / kCount;
    std::vector<std::vector<long double>> covariance(kWidth, std::vector<long double>(kWidth));
    for (std::size_t a = 0; a < kWidth; ++a)
        for (std::size_t b = 0; b < kWidth; ++b)
            for (std::size_t i = 0; i < kCount; ++i)
                covariance[a][b] +=
                    (rows[i * kWidth + a] - mean[a]) * (rows[i * kWidth + b] - mean[b]) / (kCount - 1);
    const Eigen expected = jacobi(covariance);
    long double whole = 0;
    for (const long double value : expected.values)
        whole += value;
    const PrincipalPlane plane = principalPlane(rows, kWidth);
    QCOMPARE(relativeDifference(plane.firstShare, static_cast<double>(expected.values[0] / whole), 1e-12),
             QString());
    QCOMPARE(relativeDifference(plane.secondShare, static_cast<double>(expected.values[1] / whole), 1e-12),
             QString());
    for (const auto& [direction, vector] :
         {std::pair{plane.first, expected.vectors[0]}, {plane.second, expected.vectors[1]}}) {
        const auto largest = std::max_element(vector.begin(), vector.end(), [](long double x, long double y) {
            return std::fabs(x) < std::fabs(y);
        });
        const long double sign = *largest < 0 ? -1 : 1;
        std::vector<double> wanted;
        for (const long double value : vector)
            wanted.push_back(static_cast<double>(sign * value));
        QCOMPARE(absoluteDifference(direction, wanted, 1e-11), QString());
    }
    // The coordinates have the eigenvalues as variances and no covariance.
    double xx = 0.0, xy = 0.0;
    for (std::size_t i = 0; i < kCount; ++i) {
        const auto [x, y] = plane.project(std::span(rows).subspan(i * kWidth, kWidth));
        xx += x * x / (kCount - 1);
        xy += x * y / (kCount - 1);
    }
    QCOMPARE(relativeDifference(xx, static_cast<double>(expected.values[0]), 1e-12), QString());
    QCOMPARE(absoluteDifference(xy, 0.0, 1e-9), QString());
}

/// Fewer points than channels go the other way round and come to the same.
void TestClusters::planeOfFewPoints()
{
    std::mt19937 random(6);
    const std::vector<double> few = randomRows(random, 7, 12, 1.0, 1.0);
    std::vector<double> many; // each point twice: the same mean and directions from a full covariance
    for (int times = 0; times < 2; ++times)
        many.insert(many.end(), few.begin(), few.end());
    const PrincipalPlane a = principalPlane(few, 12), b = principalPlane(many, 12);
    QCOMPARE(absoluteDifference(a.first, b.first, 1e-11), QString());
    QCOMPARE(absoluteDifference(a.second, b.second, 1e-11), QString());
    QCOMPARE(relativeDifference(a.firstShare, b.firstShare, 1e-12), QString());
    QCOMPARE(relativeDifference(a.secondShare, b.secondShare, 1e-12), QString());
}

void TestClusters::planeOfALine()
{
    std::vector<double> rows;
    for (int i = -3; i <= 3; ++i)
        for (const double step : {-1.0, 2.0, 0.0, -2.0})
            rows.push_back(5.0 + i * step);
    const PrincipalPlane plane = principalPlane(rows, 4);
    QCOMPARE(absoluteDifference(plane.firstShare, 1.0, 1e-14), QString());
    QCOMPARE(absoluteDifference(plane.secondShare, 0.0, 1e-14), QString());
    const double third = 1.0 / 3.0;
    const double sign = plane.first[1] > 0.0 ? 1.0 : -1.0; // two loadings are equally large
    QCOMPARE(absoluteDifference(plane.first,
                                std::vector<double>{-sign * third, sign * 2 * third, 0.0, -sign * 2 * third},
                                1e-13),
             QString());
    // Two points of four channels: one direction, and one at right angles that nothing spreads along.
    const PrincipalPlane two = principalPlane(std::vector<double>{0, 0, 0, 0, 3, 0, 4, 0}, 4);
    QCOMPARE(absoluteDifference(two.first, std::vector<double>{0.6, 0.0, 0.8, 0.0}, 1e-14), QString());
    QCOMPARE(absoluteDifference(two.firstShare, 1.0, 1e-14), QString());
    double dot = 0.0, length = 0.0;
    for (std::size_t i = 0; i < 4; ++i) {
        dot += two.first[i] * two.second[i];
        length += two.second[i] * two.second[i];
    }
    QCOMPARE(absoluteDifference(dot, 0.0, 1e-14), QString());
    QCOMPARE(absoluteDifference(length, 1.0, 1e-14), QString());
    // Points at one place have no variance, and no share is made up.
    const PrincipalPlane nothing = principalPlane(std::vector<double>(8, 1.0), 4);
    QCOMPARE(nothing.firstShare, 0.0);
}

void TestClusters::ranks()
{
    std::vector<double> line, square;
    for (int i = 1; i <= 5; ++i)
        for (const double step : {1.0, -2.0, 0.5})
            line.push_back(i * step);
    QCOMPARE(relativeDifference(stableRank(line, 3), 1.0, 1e-13), QString());
    square = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    QCOMPARE(relativeDifference(stableRank(square, 3), 3.0, 1e-13), QString());
    QCOMPARE(relativeDifference(stableRank(std::vector<double>{3, 0, 0, 4}, 2), 25.0 / 16.0, 1e-13),
             QString());
    // Fewer rows than columns go by the other product.
    std::mt19937 random(9);
    const std::vector<double> flat = randomRows(random, 4, 7, 0.2, 1.0);
    std::vector<double> tall(flat.size());
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 7; ++j)
            tall[j * 4 + i] = flat[i * 7 + j];
    QCOMPARE(relativeDifference(stableRank(flat, 7), stableRank(tall, 4), 1e-12), QString());
}

void TestClusters::causalMean()
{
    std::mt19937 random(2);
    const std::vector<double> q = randomRows(random, 9, 4, 0.5, 1.0), k = randomRows(random, 9, 4, -0.5, 1.0);
    long double sum = 0;
    int count = 0;
    for (std::size_t m = 0; m < 9; ++m)
        for (std::size_t n = 0; n <= m; ++n, ++count)
            for (std::size_t c = 0; c < 4; ++c)
                sum += static_cast<long double>(q[m * 4 + c]) * k[n * 4 + c];
    QCOMPARE(absoluteDifference(meanCausalScore(q, k, 4), static_cast<double>(sum / count), 1e-14),
             QString());
}

void TestClusters::stops()
{
    std::stop_source source;
    source.request_stop();
    const std::vector<double> rows(4000, 1.0);
    QVERIFY(silhouetteSamples(rows, rows, 2, source.get_token()).empty());
}

QTEST_GUILESS_MAIN(TestClusters)
#include "test_clusters.moc"
