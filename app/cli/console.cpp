// SPDX-License-Identifier: GPL-3.0-or-later
#include "console.h"

#include "exit_code.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace ropewalk {

int printOut(std::string_view text)
{
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
        return kExitFine;
    // A reader that has seen enough and went away (head, less) needs no sentence.
    if (errno == EPIPE)
        return kExitOutput;
    return printError({ErrorCode::Output,
                       {"stdout could not be written: {reason}", {{"reason", std::strerror(errno)}}},
                       {}});
}

int printError(const Error& error)
{
    const std::string line = "error: " + toEnglish(error) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
    return exitCode(error.code);
}

void printNote(const Error& error)
{
    const std::string line = "note: " + toEnglish(error) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
}

} // namespace ropewalk
