// SPDX-License-Identifier: GPL-3.0-or-later
#include "kept_rows.h"

namespace ropewalk {
namespace {

std::size_t bytesOf(std::int64_t count, int width)
{
    return static_cast<std::size_t>(count) * static_cast<std::size_t>(width) * sizeof(double);
}

} // namespace

void KeptRows::restart(bool mayKeep)
{
    ++m_run;
    m_mayKeep = mayKeep;
}

const double* KeptRows::find(const RowsIdentity& identity, std::int64_t count, int width)
{
    if (identity.id == 0)
        return nullptr;
    for (auto kept = m_rows.begin(); kept != m_rows.end(); ++kept) {
        Rows& rows = **kept;
        const std::int64_t before = identity.first - rows.identity.first;
        if (rows.identity.id != identity.id || rows.width != width || before < 0 ||
            before + count > rows.count)
            continue;
        rows.usedInRun = m_run;
        m_rows.splice(m_rows.end(), m_rows, kept);
        return rows.numbers + before * width;
    }
    return nullptr;
}

std::unique_ptr<KeptRows::Rows> KeptRows::roomFor(const RowsIdentity& identity, std::int64_t count, int width)
{
    const std::size_t bytes = bytesOf(count, width);
    if (!m_mayKeep || identity.id == 0 || bytes == 0 || !makeRoom(bytes))
        return nullptr;
    auto rows = std::make_unique<Rows>(m_calls);
    rows->identity = identity;
    rows->count = count;
    rows->width = width;
    try {
        rows->numbers = static_cast<double*>(rows->memory.ofSize(bytes));
    } catch (const CudaFailure& failure) {
        if (failure.code != kCudaOutOfMemory)
            throw;
        m_calls.lastError(); // or the next launch would be blamed for it
        return nullptr;
    }
    return rows;
}

void KeptRows::keep(std::unique_ptr<Rows> rows)
{
    rows->usedInRun = m_run;
    m_rows.push_back(std::move(rows));
}

bool KeptRows::makeRoom(std::size_t bytes)
{
    std::size_t kept = 0, free = 0;
    for (const auto& rows : m_rows)
        kept += bytesOf(rows->count, rows->width);
    check(m_calls, m_calls.freeMemory(&free));
    const std::size_t most = (free + kept) / kShare;
    if (bytes > most)
        return false;
    while (m_rows.size() >= kMost || kept + bytes > most) {
        if (m_rows.empty() || m_rows.front()->usedInRun == m_run)
            return false;
        kept -= bytesOf(m_rows.front()->count, m_rows.front()->width);
        m_rows.pop_front();
    }
    return true;
}

} // namespace ropewalk
