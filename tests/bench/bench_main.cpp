// SPDX-License-Identifier: GPL-3.0-or-later
// ropewalk_bench: measures, prints a table, and writes it as JSON where it is told to. See --help.

#include "app/composition.h"
#include "compute_rows.h"
#include "core/cpu_level.h"
#include "core/cpu_workers.h"
#include "drawing_rows.h"
#include "frames.h"
#include "peer_product.h"
#include "statistics.h"

#include <QCommandLineParser>
#include <QElapsedTimer>
#include <QFile>
#include <QSysInfo>

#include <algorithm>
#include <clocale>
#include <cstdio>

using namespace ropewalk;
using namespace ropewalk::bench;

namespace {

/// "AMD EPYC 9B45", where the system tells.
std::string processorName()
{
    QFile file("/proc/cpuinfo");
    if (!file.open(QIODevice::ReadOnly))
        return QSysInfo::currentCpuArchitecture().toStdString();
    const QList<QByteArray> lines = file.readAll().split('\n');
    for (const QByteArray& line : lines)
        if (line.startsWith("model name"))
            return line.mid(line.indexOf(':') + 1).trimmed().toStdString();
    return QSysInfo::currentCpuArchitecture().toStdString();
}

std::vector<std::pair<std::string, std::string>> machine()
{
    std::string levels;
    for (const CpuLevel level : availableCpuLevels())
        levels += (levels.empty() ? "" : ", ") + std::string(cpuLevelName(level));
    const std::string peer = peerProductName();
    return {{"processor", processorName()},
            {"threads", std::to_string(CpuWorkers::hardwareThreads())},
            {"kernels", levels},
            {"system", QSysInfo::prettyProductName().toStdString()},
            {"Qt", qVersion()},
            {"peer", peer.empty() ? "none: libdnnl-dev is not installed" : peer},
            {"waiting for a core", coreTimesOfThreads() ? "told by the system: shared samples are thrown away"
                                                        : "not told by this system: all samples count"}};
}

} // namespace

int main(int argc, char** argv)
{
    // The same surroundings for everybody; another platform may be asked for.
    qputenv("QT_QPA_PLATFORMTHEME", "");
    qputenv("QT_FONT_DPI", "96");
    qputenv("QT_ENABLE_HIGHDPI_SCALING", "0");
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    qInstallMessageHandler([](QtMsgType type, const QMessageLogContext&, const QString& text) {
        if (type == QtCriticalMsg ||
            type == QtFatalMsg) // remarks about the desktop do not belong into the table
            std::fprintf(stderr, "error: %s\n", qPrintable(text));
    });
    keepFreedMemory();
    TimedApplication application(argc, argv);
    std::setlocale(LC_NUMERIC, "C");
    QCoreApplication::setOrganizationName("ropewalk");
    QCoreApplication::setApplicationName("ropewalk_bench"); // whose settings are nobody's
    QCommandLineParser parser;
    parser.setApplicationDescription(
        "Measures Ropewalk beside the limits of this machine. Ratios in one process: variants run in turn, "
        "samples "
        "that shared the cores are thrown away, medians. Never fails because of a goal.");
    const QCommandLineOption json("json", "also write the rows into <file>", "file");
    const QCommandLineOption only("only", "only these groups: kernels,maps,drawing,frames,export,start",
                                  "groups");
    const QCommandLineOption figures("figures", "only the frames of these figures", "ids");
    const QCommandLineOption moves("moves", "moves of a drag", "count", "40");
    const QCommandLineOption small("1080p", "no frames at 4K");
    QCommandLineOption firstPaint("first-paint", "show a window and end when it is painted", "what");
    firstPaint.setFlags(QCommandLineOption::HiddenFromHelp);
    parser.addOptions({json, only, figures, moves, small, firstPaint});
    parser.addHelpOption();
    parser.process(application);
    if (parser.isSet(firstPaint))
        return showFirstPaint(qPrintable(parser.value(firstPaint)));

    const QStringList groups = parser.value(only).split(',', Qt::SkipEmptyParts);
    const QStringList known{"kernels", "maps", "drawing", "frames", "export", "start"};
    for (const QString& group : groups)
        if (!known.contains(group)) {
            std::fprintf(stderr, "error: --only: there is no group '%s'; expected some of %s\n",
                         qPrintable(group), qPrintable(known.join(", ")));
            return 1;
        }
    const auto isWanted = [&](const char* group) { return groups.isEmpty() || groups.contains(group); };
    QElapsedTimer clock;
    clock.start();
    Report report(true);
    report.setMachine(machine());
    const Effort effort;
    if (isWanted("kernels"))
        measureKernels(report, effort);
    if (isWanted("maps"))
        measureMaps(report, effort);
    if (isWanted("drawing"))
        measureDrawing(report, effort);
    if (isWanted("export"))
        measureExport(report, {0.012, 5, 2.0});
    if (isWanted("start"))
        measureStartUp(report);
    if (isWanted("frames"))
        measureFrames(application, report,
                      {parser.value(moves).toInt(), parser.value(figures).split(',', Qt::SkipEmptyParts),
                       parser.isSet(small)});
    const auto& rows = report.rows();
    const auto met =
        std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.met.value_or(false); });
    const auto judged =
        std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.met.has_value(); });
    std::printf("\n%lld of %lld goals met, in %.0f s\n", static_cast<long long>(met),
                static_cast<long long>(judged), static_cast<double>(clock.elapsed()) / 1e3);
    if (parser.isSet(json)) {
        QFile file(parser.value(json));
        const std::string text = report.json();
        if (!file.open(QIODevice::WriteOnly) ||
            file.write(text.data(), static_cast<qint64>(text.size())) != static_cast<qint64>(text.size()) ||
            !file.flush()) {
            std::fprintf(stderr, "error: %s: %s\n", qPrintable(file.fileName()),
                         qPrintable(file.errorString()));
            return 4;
        }
    }
    return 0;
}
