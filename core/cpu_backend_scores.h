// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The processor's part for score maps; called by cpu_backend.cpp alone.

#include "result.h"
#include "score_map.h"

#include <stop_token>

namespace ropewalk {

/// Errors: Cancelled.
Result<void> runDistanceTable(const DistanceTableOp& op, const std::stop_token& stop);
Result<void> runScoreMap(const ScoreMapOp& op, const std::stop_token& stop);

} // namespace ropewalk
