// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/gaussian_logits.h"
#include "core/philox.h"
#include "core/temperature.h"
#include "tests/support/compare.h"

#include <QtTest>

using namespace ropewalk;
using namespace ropewalk::test;

class TestGaussianLogits : public QObject
{
    Q_OBJECT
private slots:
    void binsAreTheSoftmaxItself();
    void limits();
    void estimateWhereItHolds();
    void piecesAreTheWhole();
};

void TestGaussianLogits::binsAreTheSoftmaxItself()
{
    constexpr int kCount = 20000;
    GaussianLogits logits(7);
    logits.drawUpTo(kCount);
    for (const double spread : {0.0, 0.5, 1.5, 3.0, 8.0}) {
        long double sum = 0.0L, weighted = 0.0L;
        for (std::uint32_t j = 0; j < kCount; ++j) {
            const long double x = spread * standardNormal(7, RandomStream::Noise, 0, j);
            sum += std::exp(x);
            weighted += x * std::exp(x);
        }
        const auto expected = static_cast<double>(std::log(sum) - weighted / sum);
        QCOMPARE(absoluteDifference(logits.entropyNats(spread), expected, 1e-8 * spread * spread + 1e-12),
                 QString());
    }
}

void TestGaussianLogits::limits()
{
    GaussianLogits logits(1);
    logits.drawUpTo(1);
    QCOMPARE(absoluteDifference(logits.entropyNats(3.0), 0.0, 1e-15), QString()); // one token
    logits.drawUpTo(4096);
    QCOMPARE(relativeDifference(logits.entropyNats(0.0), std::log(4096.0), 1e-14), QString());
    QVERIFY(logits.entropyNats(400.0) < 0.05); // frozen: one token has it all
}

void TestGaussianLogits::estimateWhereItHolds()
{
    GaussianLogits logits(1);
    logits.drawUpTo(1 << 20);
    // One draw strays by about √((s² + s⁴) e^{s²}/N): 0.02 at s = 1.5.
    for (const double spread : {0.5, 1.0, 1.5})
        QVERIFY(std::fabs(logits.entropyNats(spread) - gaussianEntropyEstimate(1 << 20, spread)) < 0.02);
}

void TestGaussianLogits::piecesAreTheWhole()
{
    GaussianLogits whole(3), pieces(3);
    whole.drawUpTo(5000);
    for (const int count : {10, 1000, 900, 5000})
        pieces.drawUpTo(count);
    QCOMPARE(pieces.count(), std::int64_t{5000});
    QCOMPARE(pieces.entropyNats(1.5), whole.entropyNats(1.5));
}

QTEST_APPLESS_MAIN(TestGaussianLogits)
#include "test_gaussian_logits.moc"
