// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine.h"

#include <cassert>
#include <chrono>

namespace ropewalk {

Engine::Engine(std::vector<std::unique_ptr<ComputeBackend>> backends, bool mayFallBack)
    : m_mayFallBack(mayFallBack)
{
    assert(!backends.empty());
    for (auto& backend : backends)
        m_slots.push_back({std::move(backend), false, {}});
}

Result<Provenance> Engine::run(const Operation& operation, std::stop_token stop)
{
    const std::scoped_lock lock(m_mutex);
    Message reason;
    Error lastError{ErrorCode::NotAvailable, "no backend supports this operation", {}};
    for (Slot& slot : m_slots) {
        // The first reason is the one that a person asks for: why not the device that comes first.
        const auto passOver = [&](const Message& why) {
            if (reason.isEmpty())
                reason = why;
        };
        if (slot.isDown) {
            passOver(slot.reason);
            lastError = {ErrorCode::RunFailed, slot.reason, slot.backend->info().name};
        } else if (m_mayFallBack && !slot.backend->isWorthwhile(operation)) {
            // Nothing fell back: the next one is the right one for this. Asked before its status, which
            // starts a driver: what it would not compute must not wait for that.
        } else if (const Result<void> status = slot.backend->status(); !status) {
            passOver(status.error().message);
            lastError = status.error();
        } else if (!slot.backend->supports(operation)) {
            const std::string name = slot.backend->info().name;
            passOver({"{backend} does not compute this operation", {{"backend", name}}});
            lastError = {ErrorCode::NotAvailable, reason, name};
        } else {
            const auto start = std::chrono::steady_clock::now();
            const Result<void> done = slot.backend->run(operation, stop);
            if (done) {
                const auto info = slot.backend->info();
                const std::chrono::duration<double, std::milli> took =
                    std::chrono::steady_clock::now() - start;
                return Provenance{info.name, info.device, slot.backend->precisionOf(operation), took.count(),
                                  reason};
            }
            if (done.error().code == ErrorCode::Cancelled)
                return done.error();
            slot.isDown = true;
            slot.reason = done.error().message;
            passOver(slot.reason);
            lastError = done.error();
        }
        if (!m_mayFallBack)
            break;
    }
    return lastError;
}

std::vector<Engine::BackendReport> Engine::report() const
{
    const std::scoped_lock lock(m_mutex);
    std::vector<BackendReport> reports;
    for (const Slot& slot : m_slots) {
        const Result<void> status = slot.backend->status();
        BackendReport entry{slot.backend->info(), status.hasValue() && !slot.isDown, {}};
        if (!status)
            entry.reason = status.error().message;
        else if (slot.isDown)
            entry.reason = slot.reason;
        reports.push_back(std::move(entry));
    }
    return reports;
}

} // namespace ropewalk
