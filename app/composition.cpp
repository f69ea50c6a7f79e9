// SPDX-License-Identifier: GPL-3.0-or-later
#include "composition.h"

#include "gpu/cuda_backend.h"

namespace ropewalk {

std::unique_ptr<Engine> makeEngine(BackendChoice choice, CpuSettings cpu)
{
    std::vector<std::unique_ptr<ComputeBackend>> backends;
    if (choice != BackendChoice::Cpu)
        backends.push_back(makeCudaBackend());
    if (choice != BackendChoice::Cuda)
        backends.push_back(makeCpuBackend(cpu));
    return std::make_unique<Engine>(std::move(backends), choice == BackendChoice::Auto);
}

} // namespace ropewalk
