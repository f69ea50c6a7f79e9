// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/composition.h"
#include "app/main_window.h"
#include "app/presets.h"
#include "drawing_rows.h"
#include "statistics.h"

#include <QCoreApplication>
#include <QProcess>
#include <QProcessEnvironment>
#include <QTimer>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

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

/// A display without a screen (Xvfb), where there is no display and it is installed: opening a window costs
/// what it costs people only where there is a server to talk to.
class HiddenDisplay
{
public:
    HiddenDisplay()
    {
        if (!qEnvironmentVariableIsEmpty("DISPLAY"))
            return;
        m_server.start("Xvfb", {"-displayfd", "1", "-screen", "0", "1920x1080x24", "-nolisten", "tcp"});
        if (m_server.waitForStarted(5000) && m_server.waitForReadyRead(10000))
            m_display = ":" + QString::fromLatin1(m_server.readAllStandardOutput()).trimmed();
    }
    ~HiddenDisplay()
    {
        m_server.terminate();
        m_server.waitForFinished(5000);
    }

    /// Of a process that opens a window; null where there is no display.
    std::optional<QProcessEnvironment> environment() const
    {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        if (!m_display.isEmpty())
            environment.insert("DISPLAY", m_display);
        else if (qEnvironmentVariableIsEmpty("DISPLAY"))
            return {};
        environment.insert("QT_QPA_PLATFORM", "xcb");
        return environment;
    }

private:
    QProcess m_server;
    QString m_display;
};

double millisecondsOf(const QString& what, const QProcessEnvironment& environment)
{
    const auto start = std::chrono::steady_clock::now();
    QProcess process;
    process.setProcessEnvironment(environment);
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
    const HiddenDisplay display;
    const std::optional<QProcessEnvironment> there = display.environment();
    const QProcessEnvironment environment = there.value_or(QProcessEnvironment::systemEnvironment());
    std::vector<double> bare, window;
    for (int start = 0; start < kStarts; ++start) {
        bare.push_back(millisecondsOf("bare", environment));
        window.push_back(millisecondsOf("window", environment));
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
        row.note =
            std::string("median of 9 starts each, in turn, ") +
            (there ? "on an X server" : "without a display: neither DISPLAY is set nor Xvfb installed");
        if (!*row.met) {
            char far[64];
            std::snprintf(far, sizeof far, "; %.1f times the goal", *row.ratioToLimit() / 2.5);
            row.note += far;
        }
    }
    report.add(std::move(row));
}

} // namespace ropewalk::bench
