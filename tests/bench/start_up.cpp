// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/composition.h"
#include "app/main_window.h"
#include "app/presets.h"
#include "drawing_rows.h"
#include "statistics.h"

#include <QCoreApplication>
#include <QProcess>
#include <QTimer>

#include <chrono>
#include <cstdlib>
#include <memory>

namespace ropewalk::bench {
namespace {

constexpr int kStarts = 9;

/// Ends the process when the widget that it watches was painted: what closing takes is not asked.
class FirstPaint : public QObject
{
protected:
    bool eventFilter(QObject*, QEvent* event) override
    {
        if (event->type() == QEvent::Paint) // what waits after the painting is served first
            QTimer::singleShot(0, qApp, [] { std::_Exit(0); });
        return false;
    }
};

double millisecondsOf(const QString& what)
{
    const auto start = std::chrono::steady_clock::now();
    QProcess process;
    process.start(QCoreApplication::applicationFilePath(), {"--first-paint", what});
    if (!process.waitForFinished(30000) || process.exitCode() != 0)
        return -1.0;
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

int showFirstPaint(const char* what)
{
    const bool isBare = std::string_view(what) == "bare";
    std::unique_ptr<QWidget> window;
    if (isBare)
        window = std::make_unique<QMainWindow>();
    else
        window = std::make_unique<MainWindow>(makeEngine(), loadPresets(), loadReferences(), AppSettings());
    window->resize(1280, 800);
    FirstPaint watcher;
    window->installEventFilter(&watcher);
    window->show();
    return QCoreApplication::exec();
}

void measureStartUp(Report& report)
{
    report.beginGroup("Start");
    std::vector<double> bare, window;
    for (int start = 0; start < kStarts; ++start) {
        bare.push_back(millisecondsOf("bare"));
        window.push_back(millisecondsOf("window"));
    }
    Row row;
    row.operation = "process start to first paint";
    row.size = "window of 1280×800";
    row.ours = median(window);
    row.limit = median(bare);
    row.limitName = "a bare window of the toolkit, on the same platform";
    row.goal = "ours/limit <= 2.5";
    if (!(*row.ours > 0.0) || !(*row.limit > 0.0)) {
        row.ours.reset();
        row.note = "a process of its own could not be started";
    } else {
        row.met = *row.ratioToLimit() <= 2.5;
        row.note = "median of 9 starts each, in turn";
    }
    report.add(std::move(row));
}

} // namespace ropewalk::bench
