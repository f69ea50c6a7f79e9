// SPDX-License-Identifier: GPL-3.0-or-later
#include "peer_product.h"

#include <dnnl.h>

// oneDNN's threads are OpenMP's where it was built so, as distributions do.
extern "C" __attribute__((weak)) void omp_set_num_threads(int);

namespace ropewalk::bench {

std::string peerProductName()
{
    const dnnl_version_t& version = *dnnl_version();
    return "oneDNN " + std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
           std::to_string(version.patch);
}

void peerProduct(const float* queries, const float* keys, float* cells, std::int64_t m, std::int64_t n,
                 std::int64_t depth, int threads)
{
    if (omp_set_num_threads)
        omp_set_num_threads(threads);
    dnnl_sgemm('N', 'T', m, n, depth, 1.0F, queries, depth, keys, depth, 0.0F, cells, n);
}

} // namespace ropewalk::bench
