// SPDX-License-Identifier: GPL-3.0-or-later
#include "frames.h"

#include "app/composition.h"
#include "app/main_window.h"
#include "app/presets.h"
#include "statistics.h"
#include "widgets/figure_canvas.h"
#include "widgets/panels/config_panel.h"
#include "widgets/panels/figure_panel.h"
#include "widgets/panels/section.h"
#include "widgets/panels/slider_track.h"
#include "widgets/panels/transport_bar.h"
#include "widgets/panels/value_slider.h"

#include <QMouseEvent>
#include <QPointer>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>

namespace ropewalk::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLongestHeld = 8.0; ///< ms that computing may hold the GUI thread
constexpr double kPatience = 10.0;   ///< s for one frame, after which it counts as that long
constexpr int kFewestFrames = 10;    ///< clean ones, for a quantile of them

double millisecondsSince(Clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Screen
{
    QSize size;
    double scale = 1.0; ///< lecture scale: a 4K screen is looked at with everything twice as large
    double mostMilliseconds = 0.0;
};

/// Which reply a view was painted with last.
class PaintedReply : public QObject
{
public:
    PaintedReply(const MainWindow& window, QWidget& view)
        : m_window(window)
    {
        view.installEventFilter(this);
    }
    std::uint64_t generation = 0;

protected:
    bool eventFilter(QObject*, QEvent* event) override
    {
        if (event->type() == QEvent::Paint)
            if (const auto reply = m_window.shownReply())
                generation = reply->generation;
        return false;
    }

private:
    const MainWindow& m_window;
};

struct Drag
{
    std::string name;
    double p50 = 0.0, p95 = 0.0, held = 0.0, painting = 0.0;
    double computing = 0.0; ///< median, of the answer that was painted
    bool isShared = false;  ///< too few frames were clean: what the threads ran in them counts
};

class FigureDrags
{
public:
    FigureDrags(TimedApplication& application, const Screen& screen, const QString& figure, int moves)
        : m_application(application)
        , m_moves(moves)
    {
        AppSettings settings;
        settings.windowTheme = WindowTheme::Light;
        settings.scale = screen.scale;
        m_window = std::make_unique<MainWindow>(makeEngine(), loadPresets(), loadReferences(), settings);
        m_window->document().setFigure(figure.toStdString());
        m_window->resize(screen.size);
        m_window->show();
        // All cards of the overview are painted together.
        FigureView* view =
            m_window->canvas().view(figure == "overview" ? m_window->canvas().cards().back() : figure);
        m_painted = std::make_unique<PaintedReply>(*m_window, *view);
        m_window->figurePanel().section()->setOpen(true);
        settle();
    }

    std::vector<Drag> all()
    {
        std::vector<Drag> drags;
        if (ValueSlider* base = m_window->configPanel().slider("base"))
            drags.push_back(drag("base", base->track()));
        drags.push_back(drag("query position", m_window->transport().querySlider()));
        QList<QPointer<ValueSlider>> sliders;
        for (ValueSlider* slider : m_window->figurePanel().findChildren<ValueSlider*>())
            if (slider->isVisible() && slider->isEnabled())
                sliders.append(slider);
        for (const QPointer<ValueSlider>& slider : sliders)
            if (slider)
                drags.push_back(drag(slider->name().toStdString(), slider->track()));
        std::erase_if(drags, [](const Drag& each) { return std::isnan(each.p95); });
        return drags;
    }

private:
    /// Until nothing runs and everything is painted, but not for ever: a full pass may take its time.
    void settle()
    {
        const auto start = Clock::now();
        do {
            QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
        } while (m_window->controller().isBusy() && millisecondsSince(start) < 4000.0);
        QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
    }

    void send(QWidget& widget, QEvent::Type type, const QPoint& place)
    {
        const bool isDown = type != QEvent::MouseButtonRelease;
        QMouseEvent event(type, QPointF(place), QPointF(widget.mapToGlobal(place)),
                          type == QEvent::MouseMove ? Qt::NoButton : Qt::LeftButton,
                          isDown ? Qt::LeftButton : Qt::NoButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&widget, &event);
    }

    Drag drag(const std::string& name, QPointer<SliderTrack> track)
    {
        settle();
        Drag result;
        result.name = name;
        const QPoint knob = track->knobCentre();
        const int left = 10;
        const int right = track->width() - 10;
        send(*track, QEvent::MouseButtonPress, knob);
        m_application.startTiming();
        std::vector<double> clean;
        std::vector<double> running;
        std::vector<double> computing;
        for (int move = 1; move <= m_moves && track; ++move) {
            // From the knob to the right end, to the left one, and back.
            const double way = 2.0 * (right - left) * move / m_moves + (knob.x() - left);
            const double folded = std::fmod(way, 2.0 * (right - left));
            const int x = left + static_cast<int>(std::lround(
                                     folded <= right - left ? folded : 2.0 * (right - left) - folded));
            const std::uint64_t asked = m_window->controller().newestGeneration();
            const auto coreBefore = coreTimesOfThreads();
            const auto start = Clock::now();
            send(*track, QEvent::MouseMove, {x, knob.y()});
            const std::uint64_t generation = m_window->controller().newestGeneration();
            if (generation == asked)
                continue; // the value stayed
            // The answer, or a preview of it, is on the screen when its painting ends.
            std::optional<double> milliseconds;
            m_application.afterPainting = [&] {
                if (!milliseconds && m_painted->generation >= generation)
                    milliseconds = millisecondsSince(start);
            };
            while (!milliseconds && millisecondsSince(start) < 1e3 * kPatience)
                QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
            const auto coreAfter = coreTimesOfThreads();
            m_application.afterPainting = {};
            const double frame = milliseconds.value_or(1e3 * kPatience);
            if (isClean(coreBefore, coreAfter, frame / 1e3))
                clean.push_back(frame);
            const double ran = coreBefore && coreAfter && coreAfter->ran > coreBefore->ran
                                   ? static_cast<double>(coreAfter->ran - coreBefore->ran) / 1e6
                                   : frame;
            running.push_back(std::min(frame, ran));
            computing.push_back(m_window->shownReply()->milliseconds);
        }
        m_application.stopTiming();
        result.held = m_application.longestHeld();
        result.painting = m_application.longestPainting();
        if (track)
            send(*track, QEvent::MouseButtonRelease, {left, knob.y()});
        result.isShared = static_cast<int>(clean.size()) < std::min<int>(kFewestFrames, m_moves / 2);
        result.p50 = quantile(result.isShared ? running : clean, 0.5);
        result.p95 = quantile(result.isShared ? running : clean, 0.95);
        result.computing = median(computing);
        return result;
    }

    TimedApplication& m_application;
    int m_moves;
    std::unique_ptr<MainWindow> m_window;
    std::unique_ptr<PaintedReply> m_painted;
};

} // namespace

void TimedApplication::startTiming()
{
    m_isTiming = true;
    m_longestHeld = m_longestPainting = 0.0;
}

bool TimedApplication::notify(QObject* receiver, QEvent* event)
{
    if (!m_isTiming)
        return QApplication::notify(receiver, event);
    const bool isOutermost = m_depth++ == 0;
    const QEvent::Type type = event->type();
    const auto waitedBefore = isOutermost ? coreTimesOfThisThread() : std::nullopt;
    const auto start = Clock::now();
    const bool isAccepted = QApplication::notify(receiver, event);
    --m_depth;
    if (isOutermost) {
        const bool isPainting =
            type == QEvent::UpdateRequest || type == QEvent::Paint || type == QEvent::Expose;
        double& longest = isPainting ? m_longestPainting : m_longestHeld;
        const double took = millisecondsSince(start);
        const auto waitedAfter = coreTimesOfThisThread();
        const double waited = waitedBefore && waitedAfter
                                  ? static_cast<double>(waitedAfter->waited - waitedBefore->waited) / 1e6
                                  : 0.0;
        longest = std::max(longest, took - waited); // what others had the core for is not this event's
        if (isPainting && afterPainting)
            afterPainting();
    }
    return isAccepted;
}

void measureFrames(TimedApplication& application, Report& report, const FrameEffort& effort)
{
    const Screen screens[] = {{{1920, 1080}, 1.0, 16.7}, {{3840, 2160}, 2.0, 33.0}};
    for (const Screen& screen : screens) {
        if (effort.isOnlySmall && screen.scale > 1.0)
            continue;
        const std::string size =
            std::to_string(screen.size.width()) + "×" + std::to_string(screen.size.height());
        report.beginGroup("Frame while a slider is dragged, " + size);
        QStringList ids{QStringLiteral("overview")};
        for (const FigureInfo& figure : figureCatalog())
            ids += QString::fromUtf8(figure.id.data(), static_cast<qsizetype>(figure.id.size()));
        for (const QString& id : std::as_const(ids)) {
            if (!effort.figures.isEmpty() && !effort.figures.contains(id))
                continue;
            const std::vector<Drag> drags =
                FigureDrags(application, screen, id, screen.scale > 1.0 ? effort.moves / 2 : effort.moves)
                    .all();
            if (drags.empty())
                continue;
            const auto worst = std::max_element(drags.begin(), drags.end(),
                                                [](const Drag& a, const Drag& b) { return a.p95 < b.p95; });
            Row row;
            row.operation = "frame of " + id.toStdString();
            row.size = size + ", " + worst->name;
            row.ours = worst->p95;
            row.limit = screen.mostMilliseconds;
            row.limitName = screen.scale > 1.0 ? "two frames at 60 Hz" : "one frame at 60 Hz";
            char goal[80];
            std::snprintf(goal, sizeof goal, "p95 <= %.1f ms, GUI thread held <= %.0f ms",
                          screen.mostMilliseconds, kLongestHeld);
            row.goal = goal;
            double held = 0.0;
            bool isShared = false;
            row.note = "ms p50/p95 (computing, longest event, longest painting): ";
            for (const Drag& drag : drags) {
                held = std::max(held, drag.held);
                isShared = isShared || drag.isShared;
                char text[160];
                std::snprintf(text, sizeof text, "%s%s%s %.1f/%.1f (%.1f, %.1f, %.1f)",
                              &drag == &drags.front() ? "" : ", ", drag.isShared ? "~" : "",
                              drag.name.c_str(), drag.p50, drag.p95, drag.computing, drag.held,
                              drag.painting);
                row.note += text;
            }
            row.met = worst->p95 <= screen.mostMilliseconds && held <= kLongestHeld;
            if (!*row.met)
                row.note +=
                    "; what is over the goal lies at one end of a slider, where the figure is of the most "
                    "positions, unless the p50 is over it too";
            if (isShared)
                row.note += "; ~: the cores were shared with others, so what the threads ran is given";
            report.add(std::move(row));
        }
    }
}

} // namespace ropewalk::bench
