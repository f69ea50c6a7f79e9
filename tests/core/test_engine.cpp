// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cpu_backend.h"
#include "core/engine.h"
#include "core/frequency_rules.h"

#include <QtTest>
#include <atomic>
#include <thread>

using namespace ropewalk;

Q_DECLARE_METATYPE(ropewalk::ErrorCode)

namespace {

/// A backend that cannot, in the way it is told; it counts how often it was run.
class FailingBackend final : public ComputeBackend
{
public:
    FailingBackend(std::string name, ErrorCode how, std::string reason, int* runs = nullptr)
        : m_name(std::move(name))
        , m_how(how)
        , m_reason(std::move(reason))
        , m_runs(runs)
    {
    }
    Info info() const override { return {m_name, "a device that fails", "float"}; }
    Result<void> status() const override
    {
        if (m_how == ErrorCode::RunFailed)
            return {};
        return Error{m_how, m_reason, {}};
    }
    bool supports(const Operation&) const override { return true; }
    Result<void> run(const Operation& operation, std::stop_token) override
    {
        if (m_runs)
            ++*m_runs;
        // A device that fails half-way has written something.
        if (const auto* decay = std::get_if<DecayOp>(&operation); decay && !decay->cosineSum.empty())
            decay->cosineSum[0] = 42.0;
        return Error{m_how, m_reason, {}};
    }

private:
    std::string m_name;
    ErrorCode m_how;
    std::string m_reason;
    int* m_runs;
};

/// A backend that works and leaves its mark in the result, or does not support the operation.
class MarkingBackend final : public ComputeBackend
{
public:
    explicit MarkingBackend(std::string name, double mark, bool isCapable = true)
        : m_name(std::move(name))
        , m_mark(mark)
        , m_isCapable(isCapable)
    {
    }
    Info info() const override { return {m_name, "a device that marks", "float"}; }
    Result<void> status() const override { return {}; }
    bool supports(const Operation&) const override { return m_isCapable; }
    Result<void> run(const Operation& operation, std::stop_token) override
    {
        std::get<DecayOp>(operation).cosineSum[0] = m_mark;
        return {};
    }

private:
    std::string m_name;
    double m_mark;
    bool m_isCapable;
};

/// Works in tiles of 2 ms, polls as a backend must, and counts.
class SlowBackend final : public ComputeBackend
{
public:
    explicit SlowBackend(std::atomic<int>& tiles)
        : m_tiles(tiles)
    {
    }
    Info info() const override { return {"slow", "a slow device", "double"}; }
    Result<void> status() const override { return {}; }
    bool supports(const Operation&) const override { return true; }
    Result<void> run(const Operation&, std::stop_token stop) override
    {
        for (int tile = 0; tile < 5000; ++tile) {
            if (stop.stop_requested())
                return Error{ErrorCode::Cancelled, "stopped", {}};
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            ++m_tiles;
        }
        return {};
    }

private:
    std::atomic<int>& m_tiles;
};

template<class... Backends>
std::vector<std::unique_ptr<ComputeBackend>> list(Backends... backends)
{
    std::vector<std::unique_ptr<ComputeBackend>> result;
    (result.push_back(std::move(backends)), ...);
    return result;
}

/// A curve that nobody else writes: one pair of θ = 1 at distances 0..9.
struct Decay
{
    std::vector<double> theta{1.0};
    std::vector<double> cosine = std::vector<double>(10, std::nan(""));
    DecayOp op()
    {
        DecayOp result;
        result.invFreq = theta;
        result.pairCount = 1;
        result.cosineSum = cosine;
        return result;
    }
    bool isRight() const
    {
        for (std::size_t r = 0; r < cosine.size(); ++r)
            if (!(std::fabs(cosine[r] - std::cos(static_cast<double>(r))) < 1e-15))
                return false;
        return true;
    }
};

} // namespace

class TestEngine : public QObject
{
    Q_OBJECT
private slots:
    void processorAlone();
    void fallsBack_data();
    void fallsBack();
    void explicitBackendIsAnError_data();
    void explicitBackendIsAnError();
    void orderIsHonoured();
    void firstReasonIsTheOneShown();
    void unsupportedOperation();
    void failedBackendIsNotAskedAgain();
    void stopIsNoFailure();
    void stopReachesTheBackendWithinTwoTiles();
};

void TestEngine::processorAlone()
{
    Engine engine(list(makeCpuBackend()));
    Decay decay;
    const Result<Provenance> done = engine.run(decay.op());
    QVERIFY(done.hasValue());
    QVERIFY(decay.isRight());
    QCOMPARE(done->backend, std::string("cpu"));
    QCOMPARE(done->precision, std::string("double"));
    QVERIFY(!done->device.empty());
    QVERIFY(done->milliseconds >= 0.0);
    QVERIFY(done->fallbackReason.isEmpty());
}

void TestEngine::fallsBack_data()
{
    QTest::addColumn<ErrorCode>("how");
    QTest::addColumn<QString>("reason");
    QTest::newRow("not built") << ErrorCode::NotBuilt << "CUDA is not part of this build";
    QTest::newRow("not available") << ErrorCode::NotAvailable << "no driver was found";
    QTest::newRow("failed while running") << ErrorCode::RunFailed << "the device ran out of memory";
}

void TestEngine::fallsBack()
{
    QFETCH(ErrorCode, how);
    QFETCH(QString, reason);
    Engine engine(
        list(std::make_unique<FailingBackend>("cuda", how, reason.toStdString()), makeCpuBackend()));
    // Twice: the reason stays with every result, also when the failing device is no longer asked.
    for (int round = 0; round < 2; ++round) {
        Decay decay;
        const Result<Provenance> done = engine.run(decay.op());
        QVERIFY(done.hasValue());
        QVERIFY(decay.isRight());
        QCOMPARE(done->backend, std::string("cpu"));
        QCOMPARE(toEnglish(done->fallbackReason), reason.toStdString());
    }
    const auto report = engine.report();
    QCOMPARE(report.size(), std::size_t{2});
    QCOMPARE(report[0].info.name, std::string("cuda"));
    QVERIFY(!report[0].isUsable);
    QCOMPARE(toEnglish(report[0].reason), reason.toStdString());
    QVERIFY(report[1].isUsable);
    QVERIFY(report[1].reason.isEmpty());
}

void TestEngine::explicitBackendIsAnError_data()
{
    fallsBack_data();
}

void TestEngine::explicitBackendIsAnError()
{
    QFETCH(ErrorCode, how);
    QFETCH(QString, reason);
    Engine engine(list(std::make_unique<FailingBackend>("cuda", how, reason.toStdString()), makeCpuBackend()),
                  false);
    for (int round = 0; round < 2; ++round) {
        Decay decay;
        const Result<Provenance> done = engine.run(decay.op());
        QVERIFY(!done);
        QCOMPARE(done.error().code, how);
        QCOMPARE(toEnglish(done.error().message), reason.toStdString());
    }
}

void TestEngine::orderIsHonoured()
{
    Engine engine(list(std::make_unique<MarkingBackend>("first", 1.0),
                       std::make_unique<MarkingBackend>("second", 2.0), makeCpuBackend()));
    Decay decay;
    const Result<Provenance> done = engine.run(decay.op());
    QVERIFY(done.hasValue());
    QCOMPARE(done->backend, std::string("first"));
    QCOMPARE(decay.cosine[0], 1.0);
    QVERIFY(done->fallbackReason.isEmpty());

    Engine fallingBack(list(std::make_unique<FailingBackend>("broken", ErrorCode::NotAvailable, "no device"),
                            std::make_unique<MarkingBackend>("second", 2.0), makeCpuBackend()));
    const Result<Provenance> second = fallingBack.run(decay.op());
    QVERIFY(second.hasValue());
    QCOMPARE(second->backend, std::string("second"));
    QCOMPARE(decay.cosine[0], 2.0);
}

void TestEngine::firstReasonIsTheOneShown()
{
    Engine engine(list(std::make_unique<FailingBackend>("a", ErrorCode::NotBuilt, "first reason"),
                       std::make_unique<FailingBackend>("b", ErrorCode::RunFailed, "second reason"),
                       makeCpuBackend()));
    Decay decay;
    const Result<Provenance> done = engine.run(decay.op());
    QVERIFY(done.hasValue());
    QVERIFY(decay.isRight());
    QCOMPARE(toEnglish(done->fallbackReason), std::string("first reason"));
}

void TestEngine::unsupportedOperation()
{
    Engine engine(list(std::make_unique<MarkingBackend>("cuda", 1.0, false), makeCpuBackend()));
    Decay decay;
    const Result<Provenance> done = engine.run(decay.op());
    QVERIFY(done.hasValue());
    QVERIFY(decay.isRight());
    QCOMPARE(toEnglish(done->fallbackReason), std::string("cuda does not compute this operation"));

    Engine alone(list(std::make_unique<MarkingBackend>("cuda", 1.0, false)));
    const Result<Provenance> refused = alone.run(decay.op());
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::NotAvailable);
}

void TestEngine::failedBackendIsNotAskedAgain()
{
    int runs = 0;
    Engine engine(list(std::make_unique<FailingBackend>("cuda", ErrorCode::RunFailed, "it broke", &runs),
                       makeCpuBackend()));
    for (int round = 0; round < 3; ++round) {
        Decay decay;
        QVERIFY(engine.run(decay.op()).hasValue());
    }
    QCOMPARE(runs, 1);
}

void TestEngine::stopIsNoFailure()
{
    std::atomic<int> tiles = 0;
    Engine engine(list(std::make_unique<SlowBackend>(tiles), makeCpuBackend()));
    std::stop_source stop;
    stop.request_stop();
    Decay decay;
    const Result<Provenance> done = engine.run(decay.op(), stop.get_token());
    QVERIFY(!done);
    QCOMPARE(done.error().code, ErrorCode::Cancelled);
    QCOMPARE(tiles.load(), 0);
    QVERIFY(std::isnan(decay.cosine[0])); // nobody else was asked
    QVERIFY(engine.report()[0].isUsable);
}

void TestEngine::stopReachesTheBackendWithinTwoTiles()
{
    std::atomic<int> tiles = 0;
    Engine engine(list(std::make_unique<SlowBackend>(tiles), makeCpuBackend()));
    std::stop_source stop;
    int atStop = 0;
    std::jthread stopper([&] {
        while (tiles < 5)
            std::this_thread::yield();
        stop.request_stop();
        atStop = tiles;
    });
    Decay decay;
    const Result<Provenance> done = engine.run(decay.op(), stop.get_token());
    stopper.join();
    QVERIFY(!done);
    QCOMPARE(done.error().code, ErrorCode::Cancelled);
    QVERIFY2(tiles <= atStop + 2, qPrintable(QString("%1 tiles after the stop").arg(tiles - atStop)));
}

QTEST_APPLESS_MAIN(TestEngine)
#include "test_engine.moc"
