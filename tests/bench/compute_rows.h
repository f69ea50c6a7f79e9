// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "harness.h"

namespace ropewalk::bench {

/// Tables, rotation, score tiles, decay, softmax: the kernels of the level in use, on one thread unless the
/// row says otherwise.
void measureKernels(Report& report, const Effort& effort);

/// Whole maps, as the figure of scores asks for them, on all threads.
void measureMaps(Report& report, const Effort& effort);

} // namespace ropewalk::bench
