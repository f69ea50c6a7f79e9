// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/produce.h"
#include "composition.h"
#include "main_window.h"
#include "presets.h"

#include <QApplication>
#include <QHashSeed>

#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

/// Qt turns to UTF-8 by itself in another locale, but says so on stderr, where scripts look for errors.
void chooseUtf8()
{
    std::setlocale(LC_ALL, "");
    wchar_t character = 0;
    const bool isUtf8 = std::mbtowc(&character, "\xC3\xA9", 2) == 2 && character == 0xE9;
    if (!isUtf8)
        qputenv("LC_ALL", "C.UTF-8");
}

/// A script reads stderr as `error: …`: what the toolkit remarks about the desktop has no place there.
void keepToolkitQuiet(QtMsgType type, const QMessageLogContext&, const QString& text)
{
    if (type == QtCriticalMsg || type == QtFatalMsg)
        std::fprintf(stderr, "error: %s\n", qPrintable(text));
}

/// Whether a window can open: Qt itself would end the process where it cannot.
bool hasDisplay()
{
    for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
        if (!qEnvironmentVariableIsEmpty(name))
            return true;
    return false;
}

} // namespace

int main(int argc, char** argv)
{
    // Qt writes a PDF's fonts in the order of a hash; the same figure has to give the same bytes.
    QHashSeed::setDeterministicGlobalSeed();
    QStringList arguments;
    for (int i = 1; i < argc; ++i)
        arguments += QString::fromUtf8(argv[i]);
    chooseUtf8();
    const ropewalk::Result<ropewalk::CpuSettings> cpu = ropewalk::takeCpu(arguments);
    if (!cpu)
        return ropewalk::printError(cpu.error());
    // Qt writes the zone of its clock into a PDF; where a figure is drawn must not change its bytes.
    qputenv("TZ", "UTC");
    tzset();
    if (ropewalk::isCommandLine(arguments)) {
        // No display is needed, and none is asked for.
        qputenv("QT_QPA_PLATFORM", "offscreen");
        qputenv("QT_QPA_PLATFORMTHEME", "");
        // A reader that went away is a failed write, not the end of the process.
        std::signal(SIGPIPE, SIG_IGN);
        qInstallMessageHandler(keepToolkitQuiet);
    } else if (!hasDisplay()) {
        std::fprintf(stderr,
                     "error: no display (neither DISPLAY nor WAYLAND_DISPLAY is set); expected one for the "
                     "window, or a sub-command: see ropewalk --help\n");
        return ropewalk::kExitUsage;
    }
    const QApplication application(argc, argv);
    // The application takes over the person's locale; numbers in files and figures have a point in all of
    // them.
    std::setlocale(LC_NUMERIC, "C");
    QCoreApplication::setOrganizationName("ropewalk");
    QCoreApplication::setApplicationName("ropewalk");
    if (const std::optional<int> code = ropewalk::runCommandLine(arguments))
        return *code;
    ropewalk::keepFreedMemory();
    ropewalk::MainWindow window(ropewalk::makeEngine(ropewalk::BackendChoice::Auto, *cpu),
                                ropewalk::loadPresets(), ropewalk::loadReferences(),
                                ropewalk::loadSettings());
    window.show();
    for (qsizetype i = 0; i < arguments.size(); ++i)
        i == 0 ? window.openFile(arguments[i]) : window.addFile(arguments[i]);
    return QApplication::exec();
}
