// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/cuda_backend.h"

#include <QString>

namespace ropewalk::test {

/// Why this build on this machine cannot use CUDA, in the words that a person reads; empty where it can.
inline QString whyNoCuda()
{
    const Result<void> status = makeCudaBackend()->status();
    return status ? QString() : QString::fromStdString(toEnglish(status.error().message));
}

/// Why a curve is not computed on it; empty where the processor is the right one for it anyway.
inline QString whyNoCurveOnCuda()
{
    return makeCudaBackend()->isWorthwhile(DecayOp{}) ? whyNoCuda() : QString();
}

} // namespace ropewalk::test
