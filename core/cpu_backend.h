// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "compute_backend.h"

#include <memory>

namespace ropewalk {

/// The processor: always there, supports every operation, double precision, stop polled between tiles.
std::unique_ptr<ComputeBackend> makeCpuBackend();

} // namespace ropewalk
