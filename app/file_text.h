// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/result.h"

#include <QByteArray>
#include <QString>

#include <functional>
#include <string>
#include <string_view>

namespace ropewalk {

/// The whole of a file of at most 64 MiB. Errors: BadInput with the path as context.
Result<std::string> readTextFile(const QString& path);

/// Writes atomically: temporary file, then rename. Errors: Output with the path as context.
Result<void> writeFile(const QString& path, const QByteArray& content);
/// The same for what is written piece after piece into what `write` is given.
using FileSink = std::function<void(std::string_view piece)>;
Result<void> writeFileInPieces(const QString& path, const std::function<void(const FileSink&)>& write);

/// Whether a JSON text says that it is a Ropewalk session, whatever its version.
bool looksLikeSession(const std::string& text);

} // namespace ropewalk
