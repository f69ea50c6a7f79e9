// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/figure_catalog.h"

#include <QElapsedTimer>
#include <QObject>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace ropewalk {

/// What the window wants to see.
struct FigureRequest
{
    ComputeRequest compute;
    std::vector<std::string> figures; ///< ids of figureCatalog()
};

/// What it gets: results and the figures built from them, all computed off the GUI thread.
struct FigureReply
{
    std::uint64_t generation = 0; ///< of the request that it answers
    std::shared_ptr<const FigureResults> results;
    std::vector<FigureSpec> figures; ///< in the order asked for
    double milliseconds = 0.0;       ///< from the start of the computing to this reply
};

/// Computes off the GUI thread, latest wins: one request runs, one waits; a newer one replaces the waiting
/// one and stops a running full pass, while a coarse pass may finish, so that a dragged slider always shows
/// something; the full pass begins when no other request has come for a moment. Signals arrive on the thread
/// that owns the controller, in order of generation.
class ComputeController : public QObject
{
    Q_OBJECT
public:
    /// `engine` is used by the worker only.
    explicit ComputeController(std::unique_ptr<Engine> engine, QObject* parent = nullptr);
    ~ComputeController() override;

    /// Returns at once; the generation numbers count from 1.
    std::uint64_t submit(FigureRequest request);

    /// Drops what waits and stops what runs; the last reply stays valid.
    void cancel();

    bool isBusy() const; ///< something runs or waits

    std::uint64_t newestGeneration() const; ///< of the last request, or 0
    std::uint64_t fullPassesBegun() const;  ///< how many passes over all distances were started

signals:
    void replied(std::shared_ptr<const ropewalk::FigureReply> reply);
    void failed(ropewalk::Error error);
    void busyChanged(bool isBusy);
    void progressed(double share); ///< 0..1 of the running pass, where a figure tells

private:
    void work(const std::stop_token& quit);
    void serve(const FigureRequest& request, std::uint64_t generation, const std::stop_token& first);
    bool isSuperseded(std::uint64_t generation) const;
    void post(const FigureRequest& request, std::uint64_t generation,
              std::shared_ptr<const FigureResults> results, const QElapsedTimer& clock);

    std::unique_ptr<Engine> m_engine;
    mutable std::mutex m_mutex; // guards what follows
    std::condition_variable_any m_wake;
    std::optional<FigureRequest> m_pending;
    std::uint64_t m_generation = 0; ///< of the newest request
    std::stop_source
        m_firstPass;             ///< stops the running first pass: cancel and the end do, a newer request not
    std::stop_source m_fullPass; ///< stops the running full pass after a preview
    bool m_isRunning = false;
    std::uint64_t m_fullPassesBegun = 0;
    std::shared_ptr<const FigureResults> m_last; ///< worker only: what the next request may take over
    /// Worker only: replies that were given and may still be shown. Freeing the numbers of a large figure
    /// takes milliseconds, so the last owner is here and not on the GUI thread.
    std::vector<std::shared_ptr<const FigureReply>> m_given;
    std::jthread m_worker; // last: joined before the rest goes
};

} // namespace ropewalk
