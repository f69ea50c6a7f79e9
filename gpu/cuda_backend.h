// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/compute_backend.h"

#include <memory>

namespace ropewalk {

/// The CUDA backend, or one that says why there is none (status(): NotBuilt or NotAvailable). Never null;
/// starts nothing on the device before it is asked to run.
std::unique_ptr<ComputeBackend> makeCudaBackend();

} // namespace ropewalk
