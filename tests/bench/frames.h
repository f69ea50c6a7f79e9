// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "harness.h"

#include <QApplication>
#include <QStringList>

namespace ropewalk::bench {

/// An application that times what its event loop does. One event at a time is handled on the GUI thread; as
/// long as that takes, nothing else answers.
class TimedApplication : public QApplication
{
public:
    using QApplication::QApplication;

    void startTiming(); ///< forgets what was timed before
    void stopTiming() { m_isTiming = false; }
    /// The longest time that one event held the thread, painting apart, and the longest painting of a window;
    /// milliseconds.
    double longestHeld() const { return m_longestHeld; }
    double longestPainting() const { return m_longestPainting; }

    std::function<void()> afterPainting; ///< called when a window was painted

    bool notify(QObject* receiver, QEvent* event) override;

private:
    bool m_isTiming = false;
    int m_depth = 0;
    double m_longestHeld = 0.0, m_longestPainting = 0.0;
};

/// How often a slider is moved, and which figures; empty: all.
struct FrameEffort
{
    int moves = 60;
    QStringList figures;
    bool isOnlySmall = false; ///< 1080p only
};

/// One row a figure and size: its sliders, the base of the configuration and the query's position are dragged
/// through the window, and each frame is timed from the mouse's event to the painted answer.
void measureFrames(TimedApplication& application, Report& report, const FrameEffort& effort);

} // namespace ropewalk::bench
