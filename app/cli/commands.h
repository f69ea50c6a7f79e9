// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

namespace ropewalk {

// Each takes the arguments after the sub-command's name, writes to stdout and stderr, and returns the exit
// code.

int runInspect(const QStringList& arguments);
int runRender(const QStringList& arguments);
int runList(const QStringList& arguments);
int runBackends(const QStringList& arguments);
int runGallery(const QStringList& arguments);

} // namespace ropewalk
