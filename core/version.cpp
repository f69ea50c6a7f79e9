// SPDX-License-Identifier: GPL-3.0-or-later
#include "provenance.h"

namespace ropewalk {

std::string_view version()
{
    return ROPEWALK_VERSION;
}

} // namespace ropewalk
