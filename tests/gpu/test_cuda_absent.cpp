// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/cuda_backend.h"

#include <QtTest>

using namespace ropewalk;

class TestCudaAbsent : public QObject
{
    Q_OBJECT
private slots:
    void saysThatItIsNotBuilt();
};

void TestCudaAbsent::saysThatItIsNotBuilt()
{
    const std::unique_ptr<ComputeBackend> backend = makeCudaBackend();
    QVERIFY(backend != nullptr);
    QCOMPARE(backend->info().name, std::string("cuda"));

    const Result<void> status = backend->status();
    QVERIFY(!status);
    QCOMPARE(status.error().code, ErrorCode::NotBuilt);
    QCOMPARE(toEnglish(status.error()), std::string("CUDA is not part of this build"));

    std::vector<double> out(1);
    DecayOp op;
    op.pairCount = 1;
    op.cosineSum = out;
    QVERIFY(!backend->supports(op));
    const Result<void> run = backend->run(op, {});
    QVERIFY(!run);
    QCOMPARE(run.error().code, ErrorCode::NotBuilt);
}

QTEST_APPLESS_MAIN(TestCudaAbsent)
#include "test_cuda_absent.moc"
