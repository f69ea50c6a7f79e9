// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "compute_backend.h"
#include "provenance.h"

#include <memory>
#include <mutex>
#include <vector>

namespace ropewalk {

/// Runs an operation on the first backend of an ordered list that can, and says who did and why not an
/// earlier one. A backend that failed in mid-run is not asked again. Thread-safe: calls are serialised.
class Engine
{
public:
    /// `backends` in order of preference; the last one, the processor, is always there (asserted: not empty).
    /// With `mayFallBack` false only the first is asked.
    explicit Engine(std::vector<std::unique_ptr<ComputeBackend>> backends, bool mayFallBack = true);

    /// Errors: NotBuilt, NotAvailable or RunFailed when no backend could; Cancelled after a stop.
    Result<Provenance> run(const Operation& operation, std::stop_token stop = {});

    struct BackendReport
    {
        ComputeBackend::Info info;
        bool isUsable = false;
        Message reason; ///< why not
    };
    std::vector<BackendReport> report() const;

private:
    struct Slot
    {
        std::unique_ptr<ComputeBackend> backend;
        bool isDown = false; ///< failed while running
        Message reason;
    };
    std::vector<Slot> m_slots;
    bool m_mayFallBack;
    mutable std::mutex m_mutex;
};

} // namespace ropewalk
