// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cpu_backend.h"
#include "core/engine.h"

#include <memory>

namespace ropewalk {

/// `--backend auto|cpu|cuda`: auto falls back, an explicit one does not.
enum class BackendChoice { Auto, Cpu, Cuda };

/// The engine with its ordered list of backends. The only place that knows both gpu/ and the rest.
std::unique_ptr<Engine> makeEngine(BackendChoice choice = BackendChoice::Auto, CpuSettings cpu = {});

/// For a process that computes and draws again and again: memory that was freed is used for what comes next.
/// Given back to the system it would return page by page, which takes longer than most of the maths. Only
/// where the C library lets itself be told (glibc).
void keepFreedMemory();

} // namespace ropewalk
