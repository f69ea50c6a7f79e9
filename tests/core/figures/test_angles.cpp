// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/mean_turn.h"
#include "core/rope_math.h"
#include "tests/support/build_figure.h"
#include "tests/support/compare.h"
#include "tests/support/random_config.h"

#include <QtTest>

#include <array>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

constexpr long double kPiLong = 3.14159265358979323846264338327950288L;

std::complex<long double> loopMean(double theta, std::int64_t first, std::int64_t count)
{
    std::complex<long double> sum = 0.0L;
    for (std::int64_t p = first; p < first + count; ++p)
        sum += std::polar(1.0L, static_cast<long double>(p) * theta);
    return sum / static_cast<long double>(count);
}

} // namespace

class TestAngles : public QObject
{
    Q_OBJECT
private slots:
    void closedForm();
    void wholeTurns();
    void cells();
    void fastPairIsGrey();
    void angleOfACell();
    void marksAndMeanings();
    void everyConfiguration();
};

void TestAngles::closedForm()
{
    std::mt19937 random(3);
    std::uniform_real_distribution<double> logTheta(std::log(1e-8), std::log(6.5));
    for (int round = 0; round < 400; ++round) {
        const double theta = std::exp(logTheta(random));
        const std::int64_t first = std::uniform_int_distribution<int>(0, 131072)(random);
        const std::int64_t count = std::uniform_int_distribution<int>(1, 300)(random);
        const auto expected = loopMean(theta, first, count);
        const auto actual = meanTurn(theta, first, count);
        const double allowed = 4e-16 * (4.0 + static_cast<double>(first + count) * theta);
        QCOMPARE(absoluteDifference(actual.real(), static_cast<double>(expected.real()), allowed), QString());
        QCOMPARE(absoluteDifference(actual.imag(), static_cast<double>(expected.imag()), allowed), QString());
    }
    QCOMPARE(meanTurn(0.0, 17, 256), std::complex<double>(1.0, 0.0));
}

/// A frequency that makes whole turns from one position to the next stands still.
void TestAngles::wholeTurns()
{
    QVERIFY(std::abs(meanTurn(kTwoPi, 1, 200) - 1.0) < 1e-12);
    // Nearly whole turns: the quotient of two small sines.
    const double theta = kTwoPi + 1e-7;
    const auto expected = loopMean(theta, 0, 256);
    QVERIFY(std::abs(meanTurn(theta, 0, 256) - std::complex<double>(expected)) < 1e-12);
}

/// Every cell against a loop over its positions, the partial last one too.
void TestAngles::cells()
{
    std::mt19937 random(11);
    for (int round = 0; round < 25; ++round) {
        const RopeConfig config = randomConfig(random);
        const FrequencyTable table = frequencyTable(config);
        const std::int64_t positions =
            std::array{1, 2, 300, 512, 513, 1000, 1537, 4099}[static_cast<std::size_t>(round % 8)];
        const bool isSine = round % 2;
        const FigureSpec figure =
            figureFor({"angles",
                       {config},
                       {},
                       withSettings({{"angle_positions", std::to_string(positions).c_str()},
                                     {"angle_value", isSine ? "sin" : "cos"}})});
        QCOMPARE(brokenPromise(figure), std::string());
        const MapSpec& map = figure.maps.front();
        QCOMPARE(map.rows, config.headDim / 2);
        QVERIFY(map.columns <= 512);
        QCOMPARE(map.block, (positions + 511) / 512);
        QCOMPARE(map.pooling, std::string(map.block == 1 ? "none" : "mean"));
        QVERIFY(map.columns * map.block >= positions && (map.columns - 1) * map.block < positions);
        for (std::int64_t pair = 0; pair < map.rows; pair += 1 + map.rows / 9)
            for (std::int64_t column = 0; column < map.columns; column += 1 + map.columns / 7) {
                const auto cell = [&](std::int64_t at) {
                    return (*map.values)[static_cast<std::size_t>(pair * map.columns + at)];
                };
                for (const std::int64_t at : {column, map.columns - 1}) {
                    if (!table.turns(static_cast<int>(pair))) {
                        QVERIFY(std::isnan(cell(at)));
                        continue;
                    }
                    const double theta = table.theta(static_cast<int>(pair));
                    const std::int64_t first = at * map.block;
                    const auto expected = loopMean(theta, first, std::min(map.block, positions - first));
                    QCOMPARE(absoluteDifference(
                                 cell(at), static_cast<double>(isSine ? expected.imag() : expected.real()),
                                 4e-16 * (4.0 + static_cast<double>(positions) * theta)),
                             QString());
                }
            }
    }
}

/// 131 072 positions in 512 cells: the pair that turns once in 6 positions must not come out as stripes.
void TestAngles::fastPairIsGrey()
{
    const FigureSpec figure =
        figureFor({"angles", {plainRope(128, 128, 5e5)}, {{"angle_positions", "131072"}}});
    const MapSpec& map = figure.maps.front();
    QCOMPARE(map.block, 256);
    for (std::int64_t column = 0; column < map.columns; ++column)
        QVERIFY(std::fabs((*map.values)[static_cast<std::size_t>(column)]) < 0.01);
    // While the slowest pair is as it is: half a wave within 131 072 positions.
    const std::size_t last = static_cast<std::size_t>((map.rows - 1) * map.columns);
    QVERIFY((*map.values)[last] > 0.999);
    QVERIFY(toEnglish(figure.caption).find("mean of 256") != std::string::npos);
}

void TestAngles::angleOfACell()
{
    const RopeConfig config = plainRope(64, 64, 1e4);
    const FrequencyTable table = frequencyTable(config);
    for (const auto& [text, block] : {std::pair{"400", 1}, std::pair{"4096", 8}}) {
        const FigureSpec figure =
            figureFor({"angles", {config}, {{"angle_positions", text}, {"angle_value", "angle"}}});
        const MapSpec& map = figure.maps.front();
        QCOMPARE(map.block, block);
        QCOMPARE(map.colours, ColourTable::Cyclic);
        QCOMPARE(map.pooling, std::string(block == 1 ? "none" : "circular mean"));
        QCOMPARE(map.lower, 0.0);
        QCOMPARE(map.upper, kTwoPi);
        int shown = 0;
        for (std::int64_t pair = 0; pair < map.rows; ++pair)
            for (std::int64_t column = 0; column < map.columns; ++column) {
                const double cell = (*map.values)[static_cast<std::size_t>(pair * map.columns + column)];
                const double theta = table.theta(static_cast<int>(pair));
                if ((block - 1) * theta > kPi) {
                    QVERIFY(std::isnan(cell)); // more than half way round
                    continue;
                }
                ++shown;
                QVERIFY(cell >= 0.0 && cell < kTwoPi);
                const long double middle = static_cast<long double>(column * block) + (block - 1) / 2.0L;
                const long double away = std::remainder(cell - middle * theta, 2.0L * kPiLong);
                QVERIFY(std::fabs(away) < 1e-11L);
            }
        QCOMPARE(shown<map.rows * map.columns, block> 1);
    }
}

void TestAngles::marksAndMeanings()
{
    FigureOptions options;
    options.m = 100;
    options.n = 70;
    options.pair = 5;
    const FigureSpec figure = figureFor({"angles", {plainRope(64, 32, 1e4)}, {}, options});
    QCOMPARE(figure.xAxis.meaning, AxisMeaning::QueryPosition);
    QCOMPARE(figure.yAxis.meaning, AxisMeaning::Pair);
    QVERIFY(figure.yAxis.isReversed); // the fast pair on top
    int vertical = 0, horizontal = 0;
    for (const GuideLine& guide : figure.guides) {
        QCOMPARE(guide.role, GuideRole::Selection);
        if (guide.isVertical)
            vertical += guide.at == 100.0 || guide.at == 70.0;
        else
            horizontal += guide.at == 5.0;
    }
    QCOMPARE(vertical, 2);
    QCOMPARE(horizontal, 1);
    options.m = 300; // beyond the map
    options.showsSelection = true;
    QCOMPARE(figureFor({"angles", {plainRope(64, 32, 1e4)}, {}, options}).guides.size(), std::size_t{2});
    options.showsSelection = false;
    QVERIFY(figureFor({"angles", {plainRope(64, 32, 1e4)}, {}, options}).guides.empty());
}

void TestAngles::everyConfiguration()
{
    RopeConfig none = plainRope(64, 64, 1e4);
    none.rule = FrequencyRule::None;
    FigureOptions options;
    options.focus = "B";
    const FigureSpec figure =
        figureFor({"angles", {plainRope(128, 128, 1e4), none, plainRope(96, 24, 1e4)}, {}, options});
    QCOMPARE(brokenPromise(figure), std::string());
    QCOMPARE(figure.maps.front().configuration, 1);
    QCOMPARE(figure.more.size(), std::size_t{2});
    for (const double value : *figure.maps.front().values)
        QVERIFY(std::isnan(value)); // nothing turns, nothing is made up
    QVERIFY(toEnglish(figure.caption).find("32 pairs are not turned") != std::string::npos);
}

QTEST_GUILESS_MAIN(TestAngles)
#include "test_angles.moc"
