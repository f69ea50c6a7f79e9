// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The operations of one level. Each divides its work by what it computes and never by the number of threads,
// so that any number gives the same bits.

#include "../compute_backend.h"

#include <stop_token>

namespace ropewalk {

class CpuWorkers;

Result<void> runDecay(const DecayOp& op, CpuWorkers& workers, const std::stop_token& stop);
Result<void> runDistanceTable(const DistanceTableOp& op, CpuWorkers& workers, const std::stop_token& stop);
Result<void> runToeplitz(const ScoreMapOp& op, CpuWorkers& workers, const std::stop_token& stop);
Result<void> runToeplitzSoftmax(const ScoreMapOp& op, CpuWorkers& workers, const std::stop_token& stop);
Result<void> runPooledProduct(const ScoreMapOp& op, CpuWorkers& workers, const std::stop_token& stop);
Result<void> runTiles(const ScoreMapOp& op, CpuWorkers& workers, const std::stop_token& stop);

} // namespace ropewalk
