// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/compute_backend.h"

#include <memory>

namespace ropewalk {

/// The CUDA backend, or one that says why there is none (status(): NotBuilt or NotAvailable). Never null;
/// starts nothing on the device before it is asked to run. Between runs it keeps its buffers there, and the
/// queries and keys that have an identity (kept_rows.h).
std::unique_ptr<ComputeBackend> makeCudaBackend();

} // namespace ropewalk
