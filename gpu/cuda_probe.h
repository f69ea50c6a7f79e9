// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cuda_calls.h"

#include <string>

namespace ropewalk {

/// Whether the first GPU can be used, and what it is.
struct CudaProbe
{
    Result<void> status; ///< else NotAvailable with the reason
    std::string device;  ///< "NVIDIA H200, 139 GiB, driver for CUDA 13.0"; "no device"
};

/// Asks driver and runtime, which takes some milliseconds; starts nothing on the device.
CudaProbe probeCuda(const CudaCalls& calls);

} // namespace ropewalk
