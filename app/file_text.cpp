// SPDX-License-Identifier: GPL-3.0-or-later
#include "file_text.h"

#include <QFile>
#include <QFileInfo>
#include <QSaveFile>

#include <cerrno>
#include <cstring>

namespace ropewalk {
namespace {

constexpr qint64 kLargestFile = 64LL * 1024 * 1024;

} // namespace

Result<std::string> readTextFile(const QString& path)
{
    const std::string context = path.toStdString();
    if (QFileInfo(path).isDir())
        return Error{ErrorCode::BadInput, "this is a folder; expected a file", context};
    // A pipe would hold up whoever reads it, and a device has no end.
    if (QFileInfo::exists(path) && !QFileInfo(path).isFile())
        return Error{ErrorCode::BadInput, "this is no regular file; expected one", context};
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return Error{ErrorCode::BadInput,
                     {"the file could not be read: {reason}", {{"reason", file.errorString().toStdString()}}},
                     context};
    // One byte more than allowed is asked for: the size of a pipe or a growing file is not known beforehand.
    const QByteArray content = file.read(kLargestFile + 1);
    if (content.size() > kLargestFile)
        return Error{ErrorCode::BadInput, "the file is larger than 64 MiB; expected a configuration",
                     context};
    return content.toStdString();
}

Result<void> writeFile(const QString& path, const QByteArray& content)
{
    return writeFileInPieces(path, [&](const FileSink& sink) {
        sink({content.constData(), static_cast<std::size_t>(content.size())});
    });
}

Result<void> writeFileInPieces(const QString& path, const std::function<void(const FileSink&)>& write)
{
    // The rename at the end would put a file in the place of a device or a pipe.
    if (QFileInfo::exists(path) && !QFileInfo(path).isFile())
        return Error{ErrorCode::Output, "this is no regular file; expected one, or a new name",
                     path.toStdString()};
    QSaveFile file(path);
    bool isWritten = file.open(QIODevice::WriteOnly);
    std::string reason; // the system's, which QSaveFile forgets
    const auto remember = [&] {
        if (reason.empty() && errno != 0)
            reason = std::strerror(errno);
    };
    if (isWritten)
        write([&](std::string_view piece) {
            const auto size = static_cast<qint64>(piece.size());
            if (!isWritten)
                return;
            errno = 0;
            isWritten = file.write(piece.data(), size) == size;
            if (!isWritten)
                remember();
        });
    if (isWritten) {
        errno = 0;
        isWritten = file.flush();
        if (!isWritten)
            remember();
    }
    if (!isWritten || !file.commit())
        return Error{ErrorCode::Output,
                     {"the file could not be written: {reason}",
                      {{"reason", reason.empty() ? file.errorString().toStdString() : reason}}},
                     path.toStdString()};
    return {};
}

bool looksLikeSession(const std::string& text)
{
    return text.find("\"ropewalk.session/") != std::string::npos;
}

} // namespace ropewalk
