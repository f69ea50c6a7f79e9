// SPDX-License-Identifier: GPL-3.0-or-later
// ropewalk_bench [--json FILE] [--only GROUP,…] [--figures ID,…] [--moves N]: measures and prints one table.

#include "frames.h"
#include "harness.h"

#include <QCommandLineParser>
#include <QFile>

#include <cstdio>

using namespace ropewalk::bench;

int main(int argc, char** argv)
{
    for (const auto& [name, value] : {std::pair("QT_QPA_PLATFORM", "offscreen"), std::pair("QT_QPA_PLATFORMTHEME", ""),
                                      std::pair("QT_FONT_DPI", "96"), std::pair("QT_ENABLE_HIGHDPI_SCALING", "0")})
        qputenv(name, value);
    TimedApplication application(argc, argv);
    QCommandLineParser parser;
    const QCommandLineOption json("json", "also write the rows into FILE", "FILE");
    const QCommandLineOption only("only", "only these groups, separated by commas", "GROUPS");
    const QCommandLineOption figures("figures", "only the frames of these figures", "IDS");
    const QCommandLineOption moves("moves", "moves of a drag", "N", "60");
    const QCommandLineOption small("small", "only the frames at 1080p");
    parser.addOptions({json, only, figures, moves, small});
    parser.addHelpOption();
    parser.process(application);
    Report report(true);
    measureFrames(application, report,
                  {parser.value(moves).toInt(), parser.value(figures).split(',', Qt::SkipEmptyParts), parser.isSet(small)});
    if (parser.isSet(json)) {
        QFile file(parser.value(json));
        const std::string text = report.json();
        if (!file.open(QIODevice::WriteOnly) ||
            file.write(text.data(), static_cast<qint64>(text.size())) != static_cast<qint64>(text.size())) {
            std::fprintf(stderr, "error: %s: %s\n", qPrintable(file.fileName()), qPrintable(file.errorString()));
            return 4;
        }
    }
    return 0;
}
