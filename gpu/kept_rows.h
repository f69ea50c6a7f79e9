// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "device_buffer.h"

#include "core/score_map.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>

namespace ropewalk {

/// Queries and keys that stay on the device from run to run: a base, a factor, a mask or a temperature leaves
/// them alone, and bringing 131 072 rows over takes longer than turning them. They lie there as they came,
/// before rotation and in double, so that maps of every precision turn the same numbers, and get the bits
/// that rows get which came just now. Nothing needs them: where there is no memory they are not kept.
class KeptRows
{
public:
    /// They may take a quarter of the memory that is free without them; the rest is for the map itself and
    /// for other programs, which draw on the same GPU.
    static constexpr std::size_t kShare = 4;
    /// Of four configurations the queries and the keys, each of the map, of its preview and of what its
    /// colours are found by. More would be rows whose content has gone.
    static constexpr std::size_t kMost = 24;

    /// Rows, or memory for them.
    struct Rows
    {
        explicit Rows(const CudaCalls& calls)
            : memory(calls)
        {
        }
        RowsIdentity identity;
        std::int64_t count = 0;
        int width = 0; ///< channels
        std::uint64_t usedInRun = 0;
        DeviceBuffer memory;
        double* numbers = nullptr; ///< [count × width], in `memory`
    };

    explicit KeptRows(const CudaCalls& calls)
        : m_calls(calls)
    {
    }

    /// A new run; what a run has used stays to its end. `mayKeep` false: it adds none.
    void restart(bool mayKeep);
    void forgetAll() { m_rows.clear(); }

    /// `count` rows from identity.first on, or null. Valid to the end of the run.
    const double* find(const RowsIdentity& identity, std::int64_t count, int width);
    /// Memory for such rows, which keep() takes once they are there. Null: they are not to be kept, as they
    /// have no identity or there is no room. Forgets what was not used for longest. Throws CudaFailure where
    /// the device fails, but not for want of memory.
    std::unique_ptr<Rows> roomFor(const RowsIdentity& identity, std::int64_t count, int width);
    void keep(std::unique_ptr<Rows> rows);

private:
    bool makeRoom(std::size_t bytes);

    const CudaCalls& m_calls;
    std::list<std::unique_ptr<Rows>> m_rows; ///< those used last come last
    std::uint64_t m_run = 0;
    bool m_mayKeep = true;
};

} // namespace ropewalk
