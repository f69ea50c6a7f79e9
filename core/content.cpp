// SPDX-License-Identifier: GPL-3.0-or-later
#include "content.h"

namespace ropewalk {

std::string_view word(Content)
{
    return "ones";
}

std::vector<double> makeContent(Content, int headDim)
{
    return std::vector<double>(static_cast<std::size_t>(headDim), 1.0);
}

} // namespace ropewalk
