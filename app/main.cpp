// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/cli.h"
#include "composition.h"
#include "main_window.h"
#include "presets.h"

#include <QApplication>

#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdio>
#include <cstring>
#include <langinfo.h>

namespace {

/// Qt turns to UTF-8 by itself in another locale, but says so on stderr, where scripts look for errors.
void chooseUtf8()
{
    std::setlocale(LC_ALL, "");
    if (std::strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        qputenv("LC_ALL", "C.UTF-8");
}

/// On the command line stderr belongs to the program's own sentences; Qt's remarks about its surroundings
/// stay away.
void printSeriousMessages(QtMsgType type, const QMessageLogContext&, const QString& text)
{
    if (type == QtCriticalMsg || type == QtFatalMsg)
        std::fprintf(stderr, "error: %s\n", qPrintable(text));
}

/// A script reads stderr as `error: …`: what the toolkit remarks about the desktop has no place there.
void keepToolkitQuiet(QtMsgType type, const QMessageLogContext&, const QString& text)
{
    if (type == QtCriticalMsg || type == QtFatalMsg)
        std::fprintf(stderr, "error: %s\n", qPrintable(text));
}

} // namespace

int main(int argc, char** argv)
{
    QStringList arguments;
    for (int i = 1; i < argc; ++i)
        arguments += QString::fromUtf8(argv[i]);
    chooseUtf8();
    if (ropewalk::isCommandLine(arguments)) {
        // No display is needed, and none is asked for.
        qputenv("QT_QPA_PLATFORM", "offscreen");
        // A reader that went away is a failed write, not the end of the process.
        std::signal(SIGPIPE, SIG_IGN);
        qInstallMessageHandler(keepToolkitQuiet);
        qInstallMessageHandler(printSeriousMessages);
    }
    const QApplication application(argc, argv);
    QCoreApplication::setOrganizationName("ropewalk");
    QCoreApplication::setApplicationName("ropewalk");
    if (const std::optional<int> code = ropewalk::runCommandLine(arguments))
        return *code;
    ropewalk::MainWindow window(ropewalk::makeEngine(), ropewalk::loadPresets(), ropewalk::loadReferences(),
                                ropewalk::loadSettings());
    window.show();
    for (qsizetype i = 0; i < arguments.size(); ++i)
        i == 0 ? window.openFile(arguments[i]) : window.addFile(arguments[i]);
    return QApplication::exec();
}
