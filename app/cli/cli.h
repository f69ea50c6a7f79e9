// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

#include <optional>

namespace ropewalk {

/// Whether these arguments (without the program's name) are the command line's business: a sub-command,
/// --help,
/// --version, or something that cannot be understood. Needs no application object, so that main() can ask
/// before it chooses a platform.
bool isCommandLine(const QStringList& arguments);

/// Runs a sub-command and returns the exit code; nothing when the window should open. Needs a QApplication
/// where a picture is drawn (render, gallery). GUI thread.
std::optional<int> runCommandLine(const QStringList& arguments);

} // namespace ropewalk
