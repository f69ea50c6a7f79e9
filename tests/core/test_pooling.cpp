// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/pooling.h"

#include <QtTest>
#include <cmath>
#include <random>

using namespace ropewalk;

namespace {

const double kNan = std::nan("");

/// What each column must show, by looking at every sample for itself: samples in the axis and one beyond
/// either end.
std::vector<ColumnRange> bruteForce(const std::vector<double>& x, const std::vector<double>& y,
                                    const ColumnAxis& axis)
{
    const auto column = [&](double value) {
        const long double at = axis.isLogarithmic
                                   ? std::log(static_cast<long double>(value) / axis.lower) /
                                         std::log(static_cast<long double>(axis.upper) / axis.lower)
                                   : (static_cast<long double>(value) - axis.lower) /
                                         (static_cast<long double>(axis.upper) - axis.lower);
        return std::floor(at * axis.columns);
    };
    std::vector<ColumnRange> ranges;
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const bool isInside = x[i] >= axis.lower && x[i] <= axis.upper;
        const bool endsBefore = x[i] < axis.lower && (i + 1 == x.size() || x[i + 1] >= axis.lower) &&
                                (!axis.isLogarithmic || x[i] > 0.0);
        const bool startsAfter = x[i] > axis.upper && (i == 0 || x[i - 1] <= axis.upper);
        if (isInside || endsBefore || startsAfter)
            shown.push_back(i);
    }
    for (std::size_t s = 0; s < shown.size();) {
        if (std::isnan(y[shown[s]])) {
            if (!ranges.empty() && ranges.back().samples > 0)
                ranges.push_back({x[shown[s]], 0, 0, 0, 0, 0});
            ++s;
            continue;
        }
        ColumnRange range{0, y[shown[s]], y[shown[s]], y[shown[s]], y[shown[s]], 0};
        const std::size_t first = shown[s];
        std::size_t last = first;
        while (s < shown.size() && !std::isnan(y[shown[s]]) && column(x[shown[s]]) == column(x[first])) {
            last = shown[s++];
            range.lower = std::min(range.lower, y[last]);
            range.upper = std::max(range.upper, y[last]);
            range.last = y[last];
            ++range.samples;
        }
        range.x = axis.isLogarithmic ? std::sqrt(x[first] * x[last]) : (x[first] + x[last]) / 2;
        if (first == last)
            range.x = x[first];
        ranges.push_back(range);
    }
    return ranges;
}

QString difference(const std::vector<ColumnRange>& actual, const std::vector<ColumnRange>& expected)
{
    if (actual.size() != expected.size())
        return QString("%1 columns instead of %2").arg(actual.size()).arg(expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const ColumnRange &a = actual[i], &e = expected[i];
        // Bit for bit: a pooled curve invents no number.
        if (a.lower != e.lower || a.upper != e.upper || a.first != e.first || a.last != e.last ||
            a.samples != e.samples)
            return QString("column %1: %2..%3 of %4 samples instead of %5..%6 of %7")
                .arg(i)
                .arg(a.lower)
                .arg(a.upper)
                .arg(a.samples)
                .arg(e.lower)
                .arg(e.upper)
                .arg(e.samples);
        if (!(std::fabs(a.x - e.x) <= 1e-12 * std::fabs(e.x)))
            return QString("column %1 lies at %2 instead of %3")
                .arg(i)
                .arg(a.x, 0, 'g', 17)
                .arg(e.x, 0, 'g', 17);
    }
    return {};
}

} // namespace

class TestPooling : public QObject
{
    Q_OBJECT
private slots:
    void againstEverySample_data();
    void againstEverySample();
    void nothingIsLost();
    void sparseCurveStaysAsItIs();
    void gap();
    void gapInsideOneColumn();
    void reachesBothEdges();
    void logarithmicAxisLeavesZeroOut();
    void empty();
};

void TestPooling::againstEverySample_data()
{
    QTest::addColumn<int>("seed");
    QTest::addColumn<int>("samples");
    QTest::addColumn<int>("columns");
    QTest::addColumn<bool>("isLogarithmic");
    QTest::addColumn<double>("gaps"); // share of samples that are NaN
    int seed = 60;
    for (const int samples : {1, 2, 50, 5000})
        for (const int columns : {1, 7, 300})
            for (const bool isLogarithmic : {false, true})
                for (const double gaps : {0.0, 0.02, 0.5, 1.0})
                    QTest::addRow("%d samples, %d columns, %s, gaps %g", samples, columns,
                                  isLogarithmic ? "log" : "linear", gaps)
                        << seed++ << samples << columns << isLogarithmic << gaps;
}

void TestPooling::againstEverySample()
{
    QFETCH(int, seed);
    QFETCH(int, samples);
    QFETCH(int, columns);
    QFETCH(bool, isLogarithmic);
    QFETCH(double, gaps);
    std::mt19937 random(static_cast<unsigned>(seed));
    std::uniform_real_distribution share(0.0, 1.0);
    for (int round = 0; round < 10; ++round) {
        std::vector<double> x, y;
        for (int i = 0; i < samples; ++i) {
            x.push_back(std::exp(share(random) * std::log(1e5)));
            y.push_back(share(random) < gaps ? kNan : std::normal_distribution<double>()(random));
        }
        std::sort(x.begin(), x.end());
        // Windows that hold all samples, some, or none.
        ColumnAxis axis;
        axis.isLogarithmic = isLogarithmic;
        axis.columns = columns;
        axis.lower = std::exp(share(random) * std::log(1e5)) / 2.0;
        axis.upper = axis.lower * (1.001 + 1e3 * share(random));
        QCOMPARE(difference(reduceToColumns(x, y, axis), bruteForce(x, y, axis)), QString());
    }
}

void TestPooling::nothingIsLost()
{
    // One spike among 131073 distances must survive in 800 columns.
    std::vector<double> x, y;
    for (int r = 0; r <= 131072; ++r) {
        x.push_back(r);
        y.push_back(0.001 * (r % 3));
    }
    y[70001] = 5.0;
    y[70002] = -7.0;
    for (const bool isLogarithmic : {false, true}) {
        const auto ranges = reduceToColumns(x, y, {1.0, 131072.0, isLogarithmic, 800});
        double lowest = 0.0, highest = 0.0;
        int samples = 0;
        for (const ColumnRange& range : ranges) {
            lowest = std::min(lowest, range.lower);
            highest = std::max(highest, range.upper);
            samples += range.samples;
        }
        QCOMPARE(lowest, -7.0);
        QCOMPARE(highest, 5.0);
        QCOMPARE(samples,
                 isLogarithmic ? 131072 : 131073); // the distance 0 has no place on a logarithmic axis
        QVERIFY(ranges.size() <= 802);
    }
}

void TestPooling::sparseCurveStaysAsItIs()
{
    const std::vector<double> x{0.0, 1.0, 2.0, 3.0}, y{4.0, 3.0, 7.0, -1.0};
    const auto ranges = reduceToColumns(x, y, {0.0, 3.0, false, 1000});
    QCOMPARE(ranges.size(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        QCOMPARE(ranges[i].x, x[i]);
        QCOMPARE(ranges[i].samples, 1);
        for (const double value : {ranges[i].lower, ranges[i].upper, ranges[i].first, ranges[i].last})
            QCOMPARE(value, y[i]);
    }
}

void TestPooling::gap()
{
    const std::vector<double> x{0, 1, 2, 3, 4, 5}, y{kNan, 1, 2, kNan, kNan, 5};
    const auto ranges = reduceToColumns(x, y, {0.0, 5.0, false, 50});
    QCOMPARE(ranges.size(), std::size_t{4}); // 1, 2, one gap, 5; none before the first number
    QCOMPARE(ranges[1].last, 2.0);
    QCOMPARE(ranges[2].samples, 0);
    QCOMPARE(ranges[2].x, 3.0);
    QCOMPARE(ranges[3].first, 5.0);
}

void TestPooling::gapInsideOneColumn()
{
    const std::vector<double> x{0, 1, 2, 3, 4}, y{1, 9, kNan, -3, 2};
    const auto ranges = reduceToColumns(x, y, {-1.0, 100.0, false, 1});
    QCOMPARE(ranges.size(), std::size_t{3});
    QCOMPARE(ranges[0].upper, 9.0);
    QCOMPARE(ranges[1].samples, 0);
    QCOMPARE(ranges[2].lower, -3.0);
    QCOMPARE(ranges[2].upper, 2.0);
}

void TestPooling::reachesBothEdges()
{
    const std::vector<double> x{0, 10, 20, 30, 40, 50}, y{0, 1, 2, 3, 4, 5};
    const auto ranges = reduceToColumns(x, y, {15.0, 35.0, false, 100});
    QCOMPARE(ranges.size(), std::size_t{4}); // 20 and 30, and one neighbour on either side
    QCOMPARE(ranges.front().x, 10.0);
    QCOMPARE(ranges.back().x, 40.0);
    // A window between two samples still shows the line that crosses it.
    QCOMPARE(reduceToColumns(x, y, {22.0, 28.0, false, 100}).size(), std::size_t{2});
    // A window beside all samples holds the nearest one.
    QCOMPARE(reduceToColumns(x, y, {60.0, 70.0, false, 100}).size(), std::size_t{1});
}

void TestPooling::logarithmicAxisLeavesZeroOut()
{
    const std::vector<double> x{0, 1, 2}, y{100, 1, 2};
    const auto ranges = reduceToColumns(x, y, {0.5, 10.0, true, 100});
    QCOMPARE(ranges.size(), std::size_t{2});
    QCOMPARE(ranges.front().x, 1.0);
}

void TestPooling::empty()
{
    QVERIFY(reduceToColumns({}, {}, {0.0, 1.0, false, 100}).empty());
    const std::vector<double> x{1, 2}, y{kNan, kNan};
    QVERIFY(reduceToColumns(x, y, {0.0, 3.0, false, 100}).empty());
}

QTEST_APPLESS_MAIN(TestPooling)
#include "test_pooling.moc"
