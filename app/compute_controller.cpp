// SPDX-License-Identifier: GPL-3.0-or-later
#include "compute_controller.h"

#include <QMetaObject>

#include <algorithm>
#include <chrono>
#include <utility>

namespace ropewalk {
namespace {

/// Between a preview and the full pass. While a slider is dragged the next request comes sooner, and finds
/// the worker waiting for it and the other cores free for the drawing.
constexpr std::chrono::milliseconds kPause{80};

} // namespace

ComputeController::ComputeController(std::unique_ptr<Engine> engine, QObject* parent)
    : QObject(parent)
    , m_engine(std::move(engine))
    , m_worker([this](const std::stop_token& quit) { work(quit); })
{
}

ComputeController::~ComputeController()
{
    m_worker.request_stop();
    {
        const std::scoped_lock lock(m_mutex);
        m_pending.reset();
        m_firstPass.request_stop();
        m_fullPass.request_stop();
    }
    m_wake.notify_all();
    m_worker.join();
}

std::uint64_t ComputeController::submit(FigureRequest request)
{
    std::uint64_t generation = 0;
    {
        const std::scoped_lock lock(m_mutex);
        generation = ++m_generation;
        m_pending = std::move(request);
        m_fullPass.request_stop();
    }
    m_wake.notify_all();
    return generation;
}

void ComputeController::cancel()
{
    const std::scoped_lock lock(m_mutex);
    m_pending.reset();
    ++m_generation; // whatever still runs answers nobody
    m_firstPass.request_stop();
    m_fullPass.request_stop();
}

bool ComputeController::isBusy() const
{
    const std::scoped_lock lock(m_mutex);
    return m_isRunning || m_pending.has_value();
}

std::uint64_t ComputeController::newestGeneration() const
{
    const std::scoped_lock lock(m_mutex);
    return m_generation;
}

std::uint64_t ComputeController::fullPassesBegun() const
{
    const std::scoped_lock lock(m_mutex);
    return m_fullPassesBegun;
}

bool ComputeController::isSuperseded(std::uint64_t generation) const
{
    const std::scoped_lock lock(m_mutex);
    return generation != m_generation;
}

void ComputeController::work(const std::stop_token& quit)
{
    while (!quit.stop_requested()) {
        FigureRequest request;
        std::uint64_t generation = 0;
        std::stop_token first;
        {
            std::unique_lock lock(m_mutex);
            if (!m_wake.wait(lock, quit, [this] { return m_pending.has_value(); }))
                return;
            request = std::move(*m_pending);
            m_pending.reset();
            generation = m_generation;
            m_isRunning = true;
            m_firstPass = std::stop_source();
            if (quit.stop_requested())
                return;
            first = m_firstPass.get_token();
        }
        QMetaObject::invokeMethod(
            this, [this] { emit busyChanged(true); }, Qt::QueuedConnection);
        serve(request, generation, first);
        {
            const std::scoped_lock lock(m_mutex);
            m_isRunning = false;
        }
        QMetaObject::invokeMethod(
            this, [this] { emit busyChanged(isBusy()); }, Qt::QueuedConnection);
    }
}

void ComputeController::serve(const FigureRequest& request, std::uint64_t generation,
                              const std::stop_token& first)
{
    const auto progress = [this, generation](double share) {
        QMetaObject::invokeMethod(
            this,
            [this, generation, share] {
                if (!isSuperseded(generation))
                    emit progressed(share);
            },
            Qt::QueuedConnection);
    };
    QElapsedTimer clock;
    clock.start();
    ComputeRequest compute = request.compute;
    compute.figures = request.figures;
    compute.isCoarse = std::any_of(request.figures.begin(), request.figures.end(), [](const std::string& id) {
        const FigureInfo* figure = findFigure(id);
        return figure && figure->hasPreview;
    });
    // The first pass is the preview; it is the only one where nothing is left to refine.
    // A preview tells no share: its end is not that of the work.
    auto results = computeFigureResults(*m_engine, compute, m_last.get(), first,
                                        compute.isCoarse ? std::function<void(double)>() : progress);
    if (results && results->isCoarse) {
        const auto preview = std::make_shared<const FigureResults>(std::move(*results));
        post(request, generation, preview, clock);
        std::stop_token stop;
        {
            std::unique_lock lock(m_mutex);
            m_wake.wait_for(lock, first, kPause, [&] { return generation != m_generation; });
            if (generation != m_generation || first.stop_requested())
                return;
            m_fullPass = std::stop_source();
            stop = m_fullPass.get_token();
            ++m_fullPassesBegun;
        }
        compute.isCoarse = false;
        // What the preview found whole already, or took over, is not computed again.
        results = computeFigureResults(*m_engine, compute, preview.get(), stop, progress);
    }
    if (results) {
        post(request, generation, std::make_shared<const FigureResults>(std::move(*results)), clock);
    } else if (results.error().code != ErrorCode::Cancelled && !isSuperseded(generation)) {
        QMetaObject::invokeMethod(
            this, [this, error = results.error()] { emit failed(error); }, Qt::QueuedConnection);
    }
}

void ComputeController::post(const FigureRequest& request, std::uint64_t generation,
                             std::shared_ptr<const FigureResults> results, const QElapsedTimer& clock)
{
    auto reply = std::make_shared<FigureReply>();
    reply->generation = generation;
    for (const std::string& id : request.figures)
        if (const FigureInfo* figure = findFigure(id))
            reply->figures.push_back(buildFigure(*figure, *results));
    reply->milliseconds = static_cast<double>(clock.nsecsElapsed()) / 1e6;
    if (!results->isCoarse)
        m_last = results;
    reply->results = std::move(results);
    std::erase_if(m_given, [](const auto& given) { return given.use_count() == 1; });
    m_given.push_back(std::move(reply));
    QMetaObject::invokeMethod(
        this, [this, answer = m_given.back()] { emit replied(answer); }, Qt::QueuedConnection);
}

} // namespace ropewalk
