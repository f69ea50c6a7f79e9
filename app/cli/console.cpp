// SPDX-License-Identifier: GPL-3.0-or-later
#include "console.h"

#include "exit_code.h"

#include <unistd.h>

#include <cerrno>
#include <cmath>
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

ProgressLine::ProgressLine()
    : m_begin(std::chrono::steady_clock::now())
    , m_shownAt(m_begin)
    , m_isTerminal(isatty(STDERR_FILENO) != 0)
{
}

ProgressLine::~ProgressLine()
{
    if (m_isShown)
        std::fputs("\r                  \r", stderr);
}

void ProgressLine::show(double share)
{
    constexpr std::chrono::milliseconds kPatience{500}, kPause{100};
    const auto now = std::chrono::steady_clock::now();
    if (!m_isTerminal || now - m_begin < kPatience || (m_isShown && now - m_shownAt < kPause))
        return;
    m_isShown = true;
    m_shownAt = now;
    std::fprintf(stderr, "\rcomputing: %3.0f %%", std::floor(100.0 * share));
    std::fflush(stderr);
}

void printNote(const Error& error)
{
    const std::string line = "note: " + toEnglish(error) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
}

} // namespace ropewalk
