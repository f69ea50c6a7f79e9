// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/message.h"

#include <QString>

namespace ropewalk {

/// A message in the language of the program: its template translated first, then the values filled in.
QString messageText(const Message& message);

} // namespace ropewalk
