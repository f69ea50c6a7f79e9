// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "harness.h"

namespace ropewalk::bench {

/// Whole figures on a picture of 1080p and of 4K, and into files. Needs an application.
void measureDrawing(Report& report, const Effort& effort);
void measureExport(Report& report, const Effort& effort);

/// From the start of the process to the first painted window, against a bare window of the toolkit: processes
/// of their own, on the display that there is.
void measureStartUp(Report& report);

/// What such a process does: shows a window ("bare" or "window"), and ends when it is painted.
int showFirstPaint(const char* what);

} // namespace ropewalk::bench
