// SPDX-License-Identifier: GPL-3.0-or-later
// Latest wins, with an operation that is made slow: 50 ms a tile.

#include "app/compute_controller.h"
#include "core/cpu_backend.h"

#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include <sys/syscall.h>
#include <unistd.h>

using namespace ropewalk;

namespace {

constexpr int kTiles = 20;
constexpr auto kTileTime = std::chrono::milliseconds(50);

/// What the slow backend saw.
struct Watch
{
    std::atomic<int> coarseBegun = 0;
    std::atomic<int> fullBegun = 0;
    std::atomic<int> fullFinished = 0;
    std::atomic<int> fullStopped = 0;
    std::atomic<int> mostTilesAfterStop = 0;
};

/// The processor, but for the decay, which takes kTiles tiles of 50 ms (one for a coarse pass).
class SlowBackend final : public ComputeBackend
{
public:
    explicit SlowBackend(Watch& watch)
        : m_watch(watch)
        , m_cpu(makeCpuBackend())
    {
    }
    Info info() const override { return {"slow", "test", "double"}; }
    Result<void> status() const override { return {}; }
    bool supports(const Operation&) const override { return true; }
    Result<void> run(const Operation& operation, std::stop_token stop) override
    {
        const auto* decay = std::get_if<DecayOp>(&operation);
        if (!decay)
            return m_cpu->run(operation, stop);
        const bool isFull = decay->distances.empty();
        m_watch.fullBegun += isFull;
        m_watch.coarseBegun += !isFull;
        // The moment of the stop is recorded by a callback, so that tiles begun after it can be counted.
        std::atomic<bool> isStopped = false;
        const std::stop_callback record(stop, [&] { isStopped = true; });
        int tilesAfterStop = 0;
        for (int tile = 0; tile < (isFull ? kTiles : 1); ++tile) {
            if (stop.stop_requested()) {
                m_watch.fullStopped += isFull;
                m_watch.mostTilesAfterStop = std::max(m_watch.mostTilesAfterStop.load(), tilesAfterStop);
                return Error{ErrorCode::Cancelled, "stopped", {}};
            }
            std::this_thread::sleep_for(kTileTime);
            tilesAfterStop += isStopped;
        }
        m_watch.fullFinished += isFull;
        return m_cpu->run(operation, {});
    }

private:
    Watch& m_watch;
    std::unique_ptr<ComputeBackend> m_cpu;
};

std::unique_ptr<Engine> slowEngine(Watch& watch)
{
    std::vector<std::unique_ptr<ComputeBackend>> backends;
    backends.push_back(std::make_unique<SlowBackend>(watch));
    return std::make_unique<Engine>(std::move(backends));
}

FigureRequest request(double base)
{
    FigureRequest wanted;
    RopeConfig config;
    config.base = base;
    wanted.compute.configurations.push_back({config, "A", 0});
    wanted.compute.options.maxDistance = 5000;
    wanted.figures = {"decay"};
    return wanted;
}

/// Milliseconds that this thread was ready to run and had no core, as the kernel counts them: on a busy
/// machine that is not the program's lateness.
double waitedForCore()
{
    std::ifstream file("/proc/self/task/" + std::to_string(syscall(SYS_gettid)) + "/schedstat");
    double ran = 0.0;
    double waited = 0.0;
    file >> ran >> waited;
    return waited / 1e6;
}

} // namespace

class TestComputeController : public QObject
{
    Q_OBJECT
private slots:
    void latestWins()
    {
        Watch watch;
        ComputeController controller(slowEngine(watch));
        std::vector<std::shared_ptr<const FigureReply>> replies;
        connect(&controller, &ComputeController::replied, this,
                [&](const std::shared_ptr<const FigureReply>& reply) { replies.push_back(reply); });

        double latest = 0.0;
        double before = waitedForCore();
        QElapsedTimer sinceTick;
        QTimer ticker;
        ticker.setTimerType(Qt::PreciseTimer);
        ticker.setInterval(5);
        connect(&ticker, &QTimer::timeout, this, [&] {
            const double waited = waitedForCore();
            latest = std::max(latest,
                              static_cast<double>(sinceTick.nsecsElapsed()) / 1e6 - 5.0 - (waited - before));
            before = waited;
            sinceTick.restart();
        });
        sinceTick.start();
        ticker.start();
        QTimer sender;
        sender.setInterval(5);
        int sent = 0;
        connect(&sender, &QTimer::timeout, this, [&] {
            if (sent == 200)
                return;
            ++sent;
            controller.submit(request(10'000.0 + sent));
        });
        sender.start();
        QTRY_COMPARE_WITH_TIMEOUT(sent, 200, 10'000);
        QTRY_VERIFY_WITH_TIMEOUT(
            !controller.isBusy() && !replies.empty() && !replies.back()->results->isCoarse, 10'000);

        QVERIFY2(watch.fullBegun <= 3, qPrintable(QString::number(watch.fullBegun.load())));
        QCOMPARE(watch.fullFinished.load(), 1);
        QCOMPARE(replies.back()->generation, std::uint64_t(200));
        QCOMPARE(replies.back()->results->configurations.front().shown.config.base, 10'200.0);
        QVERIFY2(latest <= 20.0, qPrintable(QString("late by %1 ms").arg(latest)));
        // A drag shows something: previews came while the requests did, and never an older one after a newer.
        QVERIFY(replies.size() > 3);
        for (std::size_t i = 1; i < replies.size(); ++i)
            QVERIFY(replies[i]->generation >= replies[i - 1]->generation);
    }

    void stopReachesTheOperation()
    {
        Watch watch;
        ComputeController controller(slowEngine(watch));
        controller.submit(request(20'000.0));
        QTRY_COMPARE_WITH_TIMEOUT(watch.fullBegun.load(), 1, 5000); // the full pass runs
        controller.submit(request(30'000.0));
        QTRY_COMPARE_WITH_TIMEOUT(watch.fullStopped.load(), 1, 5000);
        QVERIFY2(watch.mostTilesAfterStop <= 2, qPrintable(QString::number(watch.mostTilesAfterStop.load())));
        QTRY_COMPARE_WITH_TIMEOUT(watch.fullFinished.load(), 1, 10'000);
    }

    void cancelKeepsTheLastReply()
    {
        Watch watch;
        ComputeController controller(slowEngine(watch));
        QSignalSpy replied(&controller, &ComputeController::replied);
        controller.submit(request(20'000.0));
        QTRY_COMPARE_WITH_TIMEOUT(watch.fullBegun.load(), 1, 5000);
        controller.cancel();
        QTRY_VERIFY_WITH_TIMEOUT(!controller.isBusy(), 5000);
        QTest::qWait(20);
        QCOMPARE(watch.fullFinished.load(), 0);
        QCOMPARE(replied.size(), 1); // the preview
    }

    void cancelStopsThePreviewToo()
    {
        Watch watch;
        ComputeController controller(slowEngine(watch));
        QSignalSpy replied(&controller, &ComputeController::replied);
        FigureRequest several = request(20'000.0);
        RopeConfig other;
        other.base = 30'000.0;
        several.compute.configurations.push_back({other, "B", 1}); // 50 ms each
        controller.submit(several);
        for (int waited = 0; waited < 5000 && watch.coarseBegun == 0; ++waited)
            QTest::qWait(1); // QTRY_ looks every 50 ms, when the first 50 ms may be over
        controller.cancel();
        QTRY_VERIFY_WITH_TIMEOUT(!controller.isBusy(), 5000);
        QTest::qWait(20);
        QCOMPARE(replied.size(), 0);
        QCOMPARE(watch.fullBegun.load(), 0);
        // What is asked for afterwards is answered.
        controller.submit(request(40'000.0));
        QTRY_VERIFY_WITH_TIMEOUT(!replied.isEmpty(), 5000);
    }

    /// Where a figure tells how far it is, the share grows from 0 to 1 and belongs to the newest request.
    void progressIsTold()
    {
        Watch watch;
        ComputeController controller(slowEngine(watch));
        QSignalSpy replied(&controller, &ComputeController::replied);
        QSignalSpy progressed(&controller, &ComputeController::progressed);
        FigureRequest wanted = request(20'000.0);
        wanted.figures = {"precision"};
        wanted.compute.configurations.push_back({RopeConfig(), "B", 1});
        wanted.compute.wantsDecay = false;
        controller.submit(wanted);
        // The worker is idle before all that it told has arrived here.
        const auto isWhole = [&] {
            return !replied.isEmpty() &&
                   !replied.last().front().value<std::shared_ptr<const FigureReply>>()->results->isCoarse;
        };
        QTRY_VERIFY_WITH_TIMEOUT(isWhole(), 10'000);
        QVERIFY(!progressed.isEmpty());
        for (const QList<QVariant>& told : progressed)
            QVERIFY(told.front().toDouble() >= 0.0 && told.front().toDouble() <= 1.0);
        QVERIFY(progressed.last().front().toDouble() > progressed.first().front().toDouble());
        // The time is that of the computing, whatever the engine had of it.
        const auto last = replied.last().front().value<std::shared_ptr<const FigureReply>>();
        QVERIFY(last->milliseconds > 0.0);
    }

    void unchangedCurvesAreNotComputedAgain()
    {
        Watch watch;
        ComputeController controller(slowEngine(watch));
        std::shared_ptr<const FigureReply> last;
        connect(&controller, &ComputeController::replied, this,
                [&](const std::shared_ptr<const FigureReply>& reply) { last = reply; });
        controller.submit(request(20'000.0));
        QTRY_VERIFY_WITH_TIMEOUT(last && !last->results->isCoarse, 10'000);
        FigureRequest moved = request(20'000.0);
        moved.compute.options.m = 77; // another position changes no curve
        controller.submit(moved);
        QTRY_VERIFY_WITH_TIMEOUT(last->generation == 2, 5000);
        QCOMPARE(watch.fullBegun.load(), 1);
        QCOMPARE(last->results->configurations.front().scores->m, std::int64_t(77));
    }

    void destroyedWhileItRuns()
    {
        Watch watch;
        QElapsedTimer clock;
        {
            ComputeController controller(slowEngine(watch));
            controller.submit(request(20'000.0));
            QTRY_COMPARE_WITH_TIMEOUT(watch.fullBegun.load(), 1, 5000);
            clock.start();
        }
        QCOMPARE(watch.fullFinished.load(), 0); // it did not wait for the second that was left
        QCOMPARE(watch.fullStopped.load(), 1);
    }

    void failureIsSaidOnce()
    {
        Watch watch;
        ComputeController controller(slowEngine(watch));
        QSignalSpy failed(&controller, &ComputeController::failed);
        FigureRequest impossible = request(20'000.0);
        impossible.compute.options.pair = 64; // one past the last
        controller.submit(impossible);
        QTRY_COMPARE_WITH_TIMEOUT(failed.size(), 1, 5000);
        const auto error = failed.front().front().value<Error>();
        QCOMPARE(error.code, ErrorCode::BadInput);
        QCOMPARE(QString::fromStdString(toEnglish(error)), QString("pair is 64; expected 0 to 63"));
    }
};

QTEST_GUILESS_MAIN(TestComputeController)
#include "test_compute_controller.moc"
