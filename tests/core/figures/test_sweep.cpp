// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/frequency_rules.h"
#include "core/rope_math.h"
#include "core/sweep.h"
#include "tests/support/build_figure.h"
#include "tests/support/compare.h"

#include <QtTest>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

RopeConfig llama2()
{
    RopeConfig config;
    config.name = "LLaMA-2";
    config.maxPositionEmbeddings = 4096;
    return config;
}

std::vector<double> thetas(double base, int width)
{
    std::vector<double> theta;
    for (int i = 0; i < width / 2; ++i)
        theta.push_back(plainTheta(base, i, width));
    return theta;
}

} // namespace

class TestSweepFigure : public QObject
{
    Q_OBJECT
private slots:
    void meanOverDistances();
    void columns();
    void firstNegative();
    void cells_data();
    void cells();
    void share();
    void boundFactor();
    void presentValue();
    void ropeIdSweepsItsTrainingLength();
    void preview();
    void impossible();
};

void TestSweepFigure::meanOverDistances()
{
    for (const double base : {1e4, 5e5, 1e11})
        for (const CellRange range : {CellRange{0, 1}, CellRange{17, 18}, CellRange{5, 9},
                                      CellRange{100, 1131}, CellRange{90000, 93000}}) {
            const std::vector<double> theta = thetas(base, 96);
            long double sum = 0;
            for (std::int64_t r = range.first; r < range.end; ++r)
                for (const double each : theta)
                    sum += std::cos(static_cast<long double>(r) * each);
            const auto count = static_cast<long double>(range.end - range.first);
            const double expected = static_cast<double>((sum / count + 16) / 64); // 16 still pairs
            QCOMPARE(absoluteDifference(meanCosineSum(theta, 64, range), expected, 1e-12), QString());
        }
}

void TestSweepFigure::columns()
{
    for (const std::int64_t last : {1LL, 2LL, 100LL, 131072LL, 10'000'000LL}) {
        const std::vector<CellRange> ranges = logarithmicColumns(last, 240);
        QCOMPARE(ranges.size(), std::size_t{240});
        QCOMPARE(ranges.front().first, std::int64_t{1});
        QCOMPARE(ranges.back().end, last + 1);
        for (std::size_t i = 1; i < ranges.size(); ++i) {
            QVERIFY(ranges[i].first < ranges[i].end && ranges[i].first >= 1);
            QVERIFY(ranges[i].first <= ranges[i - 1].end); // none left out
        }
    }
}

/// The first distances below zero of section 2.2 of the formulas, by the rows nearest to those bases.
void TestSweepFigure::firstNegative()
{
    for (const auto& [base, distance] :
         {std::pair{1e4, 1707.0}, std::pair{1e5, 7757.0}, std::pair{5e5, 18438.0}, std::pair{1e6, 27115.0}}) {
        // 120 even steps of the logarithm; the middle of row 60 is half a step above the middle of the range.
        const double half = std::log(4.0) / 240.0;
        const double middle = base * std::exp(-half);
        QString lower = QString::number(middle / 2.0, 'g', 17),
                upper = QString::number(middle * 2.0, 'g', 17);
        FigureAsk ask{"sweep",
                      {llama2()},
                      {{"sweep_lower", lower.toStdString()}, {"sweep_upper", upper.toStdString()}}};
        ask.options.maxDistance = 30000;
        const FigureSpec figure = figureFor(ask);
        const Series* found = findSeries(figure, "first_negative");
        QCOMPARE(relativeDifference((*found->x)[60], base, 1e-12), QString());
        QCOMPARE((*found->y)[60], distance);
    }
}

void TestSweepFigure::cells_data()
{
    QTest::addColumn<QString>("over");
    QTest::newRow("base") << "base";
    QTest::newRow("factor") << "factor";
    QTest::newRow("share") << "share";
}

/// Rows against loops over all distances of a column, with the configuration changed by hand.
void TestSweepFigure::cells()
{
    QFETCH(QString, over);
    RopeConfig config = llama2();
    config.headDim = config.rotaryDim = 32;
    if (over == "factor") {
        config.rule = FrequencyRule::Linear;
        config.parameters.factor = 4.0;
    }
    FigureAsk ask{"sweep", {config}, {{"sweep_over", over.toStdString()}}};
    ask.options.maxDistance = 3000;
    const FigureSpec figure = figureFor(ask);
    QCOMPARE(brokenPromise(figure), std::string());
    const MapSpec& map = figure.maps.front();
    const Values parameter = findSeries(figure, "first_negative")->x;
    const std::vector<CellRange> columns = logarithmicColumns(3000, static_cast<int>(map.columns));
    for (std::int64_t row = 0; row < map.rows; row += 13) {
        const double value = (*parameter)[static_cast<std::size_t>(row)];
        const int width = over == "share" ? 2 * static_cast<int>(std::lround(value * 16)) : 32;
        std::vector<double> theta = thetas(over == "base" ? value : 1e4, width);
        for (std::size_t column = 0; column < columns.size(); column += 17) {
            long double sum = 0;
            for (std::int64_t r = columns[column].first; r < columns[column].end; ++r)
                for (const double each : theta)
                    sum += std::cos(static_cast<long double>(r) * each / (over == "factor" ? value : 1.0L));
            const auto count = static_cast<long double>(columns[column].end - columns[column].first);
            const auto still = static_cast<long double>(16 - width / 2);
            QCOMPARE(absoluteDifference((*map.values)[static_cast<std::size_t>(row * map.columns) + column],
                                        static_cast<double>((sum / count + still) / 16), 1e-12),
                     QString());
        }
    }
}

void TestSweepFigure::share()
{
    FigureAsk ask{"sweep", {llama2()}, {{"sweep_over", "share"}}};
    const FigureSpec figure = figureFor(ask);
    const MapSpec& map = figure.maps.front();
    QCOMPARE(map.rows, std::int64_t{65}); // a row for each number of pairs
    for (std::int64_t column = 0; column < map.columns; ++column)
        QCOMPARE((*map.values)[static_cast<std::size_t>(column)], 1.0); // nothing turns: C = 1
    // C ≥ 1 - 2f, so that up to a half nothing is below zero.
    const Series* negative = findSeries(figure, "first_negative");
    for (std::size_t row = 0; row < negative->x->size(); ++row) {
        if ((*negative->x)[row] <= 0.5)
            QVERIFY(std::isnan((*negative->y)[row]));
        for (std::int64_t column = 0; column < map.columns; ++column)
            QVERIFY((*map.values)[row * static_cast<std::size_t>(map.columns) +
                                  static_cast<std::size_t>(column)] >=
                    1.0 - 2.0 * (*negative->x)[row] - 1e-12);
    }
    QCOMPARE(negative->y->back(), 1707.0); // the whole head: LLaMA-2 itself
}

void TestSweepFigure::boundFactor()
{
    FigureAsk ask{"sweep", {llama2()}, {{"sweep_value", "bound"}, {"sweep_over", "share"}}};
    ask.options.maxDistance = 4096;
    const FigureSpec figure = figureFor(ask);
    const MapSpec& map = figure.maps.front();
    QCOMPARE(map.name, std::string("bound_factor"));
    QCOMPARE(map.colours, ColourTable::Viridis);
    // Which distance a column is of: the one in its middle, and of means the first.
    ask.settings = {{"sweep_over", "share"}};
    const Series firsts = *findSeries(figureFor(ask), "column_distance");
    const Series* middles = findSeries(figure, "column_distance");
    const std::vector<CellRange> columns = logarithmicColumns(4096, static_cast<int>(map.columns));
    QCOMPARE(middles->y->size(), columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
        QCOMPARE((*firsts.y)[i], static_cast<double>(columns[i].first));
        QVERIFY((*middles->y)[i] >= static_cast<double>(columns[i].first) &&
                (*middles->y)[i] < static_cast<double>(columns[i].end));
    }
    // U(4096)/U(0) = 4.883/32.5 in the last row, where the whole head turns; the last column is near its end.
    FigureAsk decay{"decay", {llama2()}};
    decay.options.maxDistance = 4096;
    const double last = map.values->back();
    QVERIFY(last > 0.1 && last < 0.2);
    for (std::int64_t column = 0; column < map.columns; ++column)
        QCOMPARE(absoluteDifference((*map.values)[static_cast<std::size_t>(column)], 1.0, 1e-12), QString());
}

void TestSweepFigure::presentValue()
{
    const FigureSpec figure = figureFor({"sweep", {llama2()}});
    const auto guide = std::find_if(figure.guides.begin(), figure.guides.end(),
                                    [](const GuideLine& each) { return !each.isVertical; });
    QVERIFY(guide != figure.guides.end());
    QCOMPARE(guide->at, 1e4);
    QVERIFY(figure.yAxis.isLogarithmic);
    // A base outside the usual range is within the map's.
    RopeConfig far = llama2();
    far.base = 1e10;
    QVERIFY(figureFor({"sweep", {far}}).yAxis.upper > 1e10);
}

/// RoPE-ID has no base; its slowest pair makes two turns in whatever T a row stands for.
void TestSweepFigure::ropeIdSweepsItsTrainingLength()
{
    RopeConfig config;
    config.name = "RoPE-ID";
    config.rule = FrequencyRule::RopeId;
    config.channels = ChannelScheme::Quarters13;
    config.originalMaxPositionEmbeddings = 4096;
    const FigureSpec figure = figureFor({"sweep", {config}});
    QVERIFY(figure.failure.isEmpty());
    QCOMPARE(figure.yAxis.kind, AxisKind::Tokens);
    const Series* rows = findSeries(figure, "first_negative");
    QVERIFY(rows && rows->xUnit == "training_length");
    const MapSpec& map = figure.maps.front();
    for (std::size_t row = 0; row < rows->x->size(); row += 17) {
        const long double length = (*rows->x)[row];
        QCOMPARE(static_cast<double>(length), std::round(static_cast<double>(length)));
        long double sum = 32; // still pairs, at distance 1
        for (int i = 0; i < 32; ++i)
            sum += cosl(2 * acosl(-1.0L) / 32 * powl(2 * 32 / length, i / 31.0L));
        const double cell = (*map.values)[row * static_cast<std::size_t>(map.columns)];
        QVERIFY(std::fabs(cell - static_cast<double>(sum / 64)) < 1e-12);
    }
}

void TestSweepFigure::preview()
{
    FigureAsk ask{"sweep", {llama2()}};
    ask.isCoarse = true;
    const FigureSpec figure = figureFor(ask);
    QVERIFY(figure.isCoarse);
    QVERIFY(toEnglish(figure.caption).find("preview") != std::string::npos);
    QVERIFY(!findSeries(figure, "first_negative")); // only a whole pass can say which is the first
}

void TestSweepFigure::impossible()
{
    const FigureSpec noFactor = figureFor({"sweep", {llama2()}, {{"sweep_over", "factor"}}});
    QVERIFY(toEnglish(noFactor.failure).find("no factor to sweep over") != std::string::npos);
    RopeConfig none = llama2();
    none.rule = FrequencyRule::None;
    QVERIFY(!figureFor({"sweep", {none}}).failure.isEmpty());
    // Beside one that can be swept it is a note.
    const FigureSpec two = figureFor({"sweep", {none, llama2()}});
    QVERIFY(two.failure.isEmpty() && !two.notes.empty());
    // Where some values are impossible their rows are masked and the reason is told.
    RopeConfig narrow = llama2();
    narrow.rule = FrequencyRule::NtkAware;
    narrow.parameters.factor = 4.0;
    const FigureSpec masked = figureFor({"sweep", {narrow}, {{"sweep_over", "share"}}});
    QVERIFY(std::isnan((*masked.maps.front().values)[static_cast<std::size_t>(masked.maps.front().columns)]));
    QVERIFY(std::any_of(masked.notes.begin(), masked.notes.end(),
                        [](const Issue& issue) { return issue.severity == Severity::Warning; }));
}

QTEST_APPLESS_MAIN(TestSweepFigure)
#include "test_sweep.moc"
