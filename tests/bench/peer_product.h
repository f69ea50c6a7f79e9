// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace ropewalk::bench {

/// "oneDNN 2.6.3", or empty where its development package was not there when this was built.
std::string peerProductName();

/// cells[m × n] = queries[m × depth]·keys[n × depth]ᵀ on so many threads, by oneDNN.
void peerProduct(const float* queries, const float* keys, float* cells, std::int64_t m, std::int64_t n,
                 std::int64_t depth, int threads);

} // namespace ropewalk::bench
