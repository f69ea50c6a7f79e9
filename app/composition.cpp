// SPDX-License-Identifier: GPL-3.0-or-later
#include "composition.h"

#include "gpu/cuda_backend.h"

#ifdef __linux__
#include <malloc.h>
#endif

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

void keepFreedMemory()
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20); // the most that it takes
    mallopt(M_TRIM_THRESHOLD, 512 << 20);
#endif
}

} // namespace ropewalk
