// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/position_axes.h"
#include "core/rope_math.h"

#include <QtTest>

using namespace ropewalk;

namespace {

std::vector<int> axesOf(const std::vector<PairAxis>& pairs)
{
    std::vector<int> axes;
    for (const PairAxis& pair : pairs)
        axes.push_back(pair.axis);
    return axes;
}

} // namespace

class TestPositionAxes : public QObject
{
    Q_OBJECT
private slots:
    void textIsOneDimensional();
    void sectionsInBothOrders();
    void visionOfTwoAxes();
    void whatDoesNotFit();
};

void TestPositionAxes::textIsOneDimensional()
{
    const std::vector<PairAxis> text = pairAxes(PositionScheme::Text, 64, 1e6);
    for (const auto& [scheme, sections] :
         {std::pair{PositionScheme::Mrope, std::vector{16, 24, 24}},
          std::pair{PositionScheme::MropeInterleaved, std::vector{24, 20, 20}}}) {
        const std::vector<PairAxis> pairs = pairAxes(scheme, 64, 1e6, sections);
        QCOMPARE(pairs.size(), text.size());
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            QCOMPARE(pairs[i].thetaRadians, std::pow(1e6, -2.0 * static_cast<double>(i) / 128.0));
            QCOMPARE(angleAt(pairs[i], {777.0, 777.0, 777.0}), angleAt(text[i], {777.0, 0.0, 0.0}));
        }
    }
}

void TestPositionAxes::sectionsInBothOrders()
{
    const std::vector<int> runs{2, 3, 1}, expected{0, 0, 1, 1, 1, 2};
    QCOMPARE(axesOf(pairAxes(PositionScheme::Mrope, 6, 1e4, runs)), expected);
    // In turn, and time where a section is used up.
    const std::vector<int> mixed{5, 2, 1}, inTurn{0, 1, 2, 0, 1, 0, 0, 0};
    QCOMPARE(axesOf(pairAxes(PositionScheme::MropeInterleaved, 8, 1e4, mixed)), inTurn);
    // Qwen3-VL: each axis has as many pairs as its section says.
    const std::vector<int> qwen{24, 20, 20};
    const std::vector<int> axes = axesOf(pairAxes(PositionScheme::MropeInterleaved, 64, 5e6, qwen));
    for (int axis = 0; axis < 3; ++axis)
        QCOMPARE(std::count(axes.begin(), axes.end(), axis), qwen[static_cast<std::size_t>(axis)]);
    // Only the axis that a pair follows turns it.
    const std::vector<PairAxis> pairs = pairAxes(PositionScheme::Mrope, 6, 1e4, runs);
    QCOMPARE(angleAt(pairs[5], {5.0, 6.0, 0.0}), 0.0);
    QCOMPARE(angleAt(pairs[2], {5.0, 6.0, 7.0}), 6.0 * pairs[2].thetaRadians);
}

void TestPositionAxes::visionOfTwoAxes()
{
    const std::vector<int> rowsFirst{0, 0, 1, 1}, columnsFirst{1, 1, 0, 0};
    const auto qwen = pairAxes(PositionScheme::VisionQwen2, 4, 1e4);
    QCOMPARE(axesOf(qwen), rowsFirst);
    QCOMPARE(qwen[1].thetaRadians, 0.01); // b^(-2/4): the table of half the head
    QCOMPARE(qwen[0].thetaRadians, qwen[2].thetaRadians);
    QCOMPARE(qwen[1].thetaRadians, qwen[3].thetaRadians);
    const auto pixtral = pairAxes(PositionScheme::VisionPixtral, 4, 1e4);
    QCOMPARE(axesOf(pixtral), rowsFirst);
    QCOMPARE(pixtral[0].thetaRadians, 1.0);
    QCOMPARE(pixtral[1].thetaRadians, plainTheta(1e4, 2, 8));
    QCOMPARE(pixtral[2].thetaRadians, plainTheta(1e4, 1, 8));
    QCOMPARE(pixtral[3].thetaRadians, plainTheta(1e4, 3, 8));
    const auto llama4 = pairAxes(PositionScheme::VisionLlama4, 4, 1e4);
    QCOMPARE(axesOf(llama4), columnsFirst);
    QCOMPARE(angleAt(llama4[0], {7.0, 3.0, 0.0}), 4.0); // column + 1
    QCOMPARE(angleAt(llama4[2], {7.0, 3.0, 0.0}), 8.0); // row + 1
    const auto chatglm = pairAxes(PositionScheme::ChatGlm, 64, 1e4);
    QCOMPARE(chatglm[31].thetaRadians, plainTheta(1e4, 31, 64));
    QCOMPARE(angleAt(chatglm[32], {100.0, 2.0, 0.0}), 2.0);
}

void TestPositionAxes::whatDoesNotFit()
{
    const std::vector<int> short_{1, 1, 1}, two{3, 3};
    QVERIFY(pairAxes(PositionScheme::Mrope, 4, 1e4, short_).empty());
    QVERIFY(pairAxes(PositionScheme::Mrope, 6, 1e4, two).empty());
    QVERIFY(pairAxes(PositionScheme::VisionQwen2, 3, 1e4).empty());
    QVERIFY(pairAxes(PositionScheme::Text, 0, 1e4).empty());
}

QTEST_APPLESS_MAIN(TestPositionAxes)
#include "test_position_axes.moc"
