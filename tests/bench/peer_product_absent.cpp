// SPDX-License-Identifier: GPL-3.0-or-later
#include "peer_product.h"

namespace ropewalk::bench {

std::string peerProductName()
{
    return {};
}

void peerProduct(const float*, const float*, float*, std::int64_t, std::int64_t, std::int64_t, int) {}

} // namespace ropewalk::bench
