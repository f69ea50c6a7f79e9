// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/console.h"

#include <QTest>

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

using namespace ropewalk;

namespace {

/// What `work` writes to stderr while stderr is `target`, read from `source`.
QByteArray stderrOf(int target, int source, const std::function<void()>& work)
{
    const int before = dup(STDERR_FILENO);
    dup2(target, STDERR_FILENO);
    work();
    std::fflush(stderr);
    dup2(before, STDERR_FILENO);
    ::close(before);
    QByteArray text(4096, '\0');
    fcntl(source, F_SETFL, O_NONBLOCK);
    const auto count = ::read(source, text.data(), static_cast<std::size_t>(text.size()));
    text.truncate(std::max<qsizetype>(0, count));
    return text;
}

void longWork()
{
    ProgressLine line;
    line.show(0.1); // too early: most are done before anybody would look
    QTest::qWait(550);
    line.show(0.429);
    line.show(0.43); // too soon after the other
}

} // namespace

class TestConsole : public QObject
{
    Q_OBJECT
private slots:
    void progressOnATerminal()
    {
        const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
        if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
            QSKIP("this machine gives no pseudo-terminal");
        const int line = ::open(ptsname(terminal), O_RDWR | O_NOCTTY);
        QVERIFY(line >= 0);
        const QByteArray text = stderrOf(line, terminal, longWork);
        QCOMPARE(text.count("computing:"), qsizetype{1});
        QVERIFY2(text.startsWith("\rcomputing:  42 %"), text);
        QVERIFY2(text.endsWith(" \r"), text);                                               // and it is gone
        QCOMPARE(stderrOf(line, terminal, [] { ProgressLine().show(0.5); }), QByteArray()); // quick work
    }

    /// A script reads stderr: nothing is written there that is no error.
    void noneIntoAPipe()
    {
        int ends[2];
        QCOMPARE(::pipe(ends), 0);
        QCOMPARE(stderrOf(ends[1], ends[0], longWork), QByteArray());
    }
};

QTEST_GUILESS_MAIN(TestConsole)
#include "test_console.moc"
