// SPDX-License-Identifier: GPL-3.0-or-later
// The window driven by mouse and keyboard, offscreen, through its main job.

#include "app/main_window.h"
#include "app/presets.h"
#include "core/cpu_backend.h"
#include "core/reading.h"
#include "core/write_figure.h"
#include "gpu/cuda_backend.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/why_no_cuda.h"
#include "widgets/export_dialog.h"
#include "widgets/figure_canvas.h"
#include "widgets/panels/config_panel.h"
#include "widgets/panels/figure_bar.h"
#include "widgets/panels/figure_panel.h"
#include "widgets/panels/message_bar.h"
#include "widgets/panels/number_edit.h"
#include "widgets/panels/number_label.h"
#include "widgets/panels/reading_panel.h"
#include "widgets/panels/section.h"
#include "widgets/panels/segmented_control.h"
#include "widgets/panels/slider_track.h"
#include "widgets/panels/transport_bar.h"
#include "widgets/panels/value_slider.h"

#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBrowser>
#include <QTimer>
#include <QToolButton>
#include <QWheelEvent>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

using namespace ropewalk;

namespace {

std::unique_ptr<Engine> cpuEngine()
{
    std::vector<std::unique_ptr<ComputeBackend>> backends;
    backends.push_back(makeCudaBackend());
    backends.push_back(makeCpuBackend());
    return std::make_unique<Engine>(std::move(backends));
}

std::unique_ptr<MainWindow> openWindow(QSize size = {1280, 800})
{
    auto window = std::make_unique<MainWindow>(cpuEngine(), loadPresets(), loadReferences(), AppSettings());
    window->resize(size);
    window->show();
    return window;
}

/// A device before the processor that cannot: in one of three ways.
class UnableBackend final : public ComputeBackend
{
public:
    explicit UnableBackend(ErrorCode how)
        : m_how(how)
    {
    }
    Info info() const override { return {"cuda", "test device", "float"}; }
    Result<void> status() const override
    {
        if (m_how == ErrorCode::RunFailed)
            return {};
        return error();
    }
    bool supports(const Operation&) const override { return true; }
    Result<void> run(const Operation&, std::stop_token) override { return error(); }

private:
    Error error() const
    {
        switch (m_how) {
        case ErrorCode::NotBuilt:
            return {m_how, "not built for this test", {}};
        case ErrorCode::NotAvailable:
            return {m_how, "no driver in this test", {}};
        default:
            return {m_how, "the device was lost in this test", {}};
        }
    }
    ErrorCode m_how;
};

/// The processor, but while the gate is closed an operation goes on until it is stopped.
class HaltingBackend final : public ComputeBackend
{
public:
    explicit HaltingBackend(std::shared_ptr<std::atomic<bool>> gate)
        : m_gate(std::move(gate))
        , m_cpu(makeCpuBackend())
    {
    }
    Info info() const override { return m_cpu->info(); }
    Result<void> status() const override { return {}; }
    bool supports(const Operation& operation) const override { return m_cpu->supports(operation); }
    Result<void> run(const Operation& operation, std::stop_token stop) override
    {
        while (*m_gate && !stop.stop_requested())
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return m_cpu->run(operation, stop);
    }

private:
    std::shared_ptr<std::atomic<bool>> m_gate;
    std::unique_ptr<ComputeBackend> m_cpu;
};

/// The newest request is answered by a full pass and shown.
bool isSettled(MainWindow& window)
{
    const auto reply = window.shownReply();
    return reply && !window.controller().isBusy() &&
           reply->generation == window.controller().newestGeneration() && !reply->results->isCoarse;
}

#define SETTLE(window)                                                                                       \
    QTRY_VERIFY_WITH_TIMEOUT(isSettled(window), 40'000) // under a sanitizer on a busy machine

/// A model's file in Hugging Face's flat spelling, made up here.
QByteArray smallModel()
{
    return R"({"model_type": "llama", "hidden_size": 2048, "num_attention_heads": 32, "head_dim": 64,
               "max_position_embeddings": 4096, "rope_theta": 20000.0})";
}

QString writeTo(const QString& path, const QByteArray& content)
{
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
        qFatal("cannot write a test's file");
    return path;
}

double scoreOf(MainWindow& window, std::size_t configuration)
{
    const auto& result = window.shownReply()->results->configurations[configuration];
    return readingOf(result, window.shownReply()->results->options)->score;
}

/// A drag of the knob by `by` pixels, one event a pixel.
void dragKnob(SliderTrack& track, const QPoint& knob, int by)
{
    QTest::mousePress(&track, Qt::LeftButton, Qt::NoModifier, knob);
    const int step = by < 0 ? -1 : 1;
    for (int moved = step; moved != by + step; moved += step)
        QTest::mouseMove(&track, knob + QPoint(moved, 0));
    QTest::mouseRelease(&track, Qt::LeftButton, Qt::NoModifier, knob + QPoint(by, 0));
}

} // namespace

class TestMainWindow : public QObject
{
    Q_OBJECT
private slots:
    void opensOnTheFinishedExample()
    {
        auto window = openWindow();
        SETTLE(*window);
        const auto& session = window->document().session();
        QCOMPARE(session.configurations.size(), std::size_t(2));
        QCOMPARE(session.configurations[0].config.base, 500'000.0);
        // maths of the first picture: A enters the noise at 46021 and falls below zero at 85133, B at 832 and
        // 1707
        const auto& results = *window->shownReply()->results;
        QCOMPARE(results.configurations[0].decay->entersNoise.value_or(-1), std::int64_t(46021));
        QCOMPARE(results.configurations[0].decay->firstNegative.value_or(-1), std::int64_t(85133));
        QCOMPARE(results.configurations[1].decay->entersNoise.value_or(-1), std::int64_t(832));
        QCOMPARE(results.configurations[1].decay->firstNegative.value_or(-1), std::int64_t(1707));
        QVERIFY(!window->document().isModified());
        QVERIFY2(window->backendText().contains(ropewalk::test::whyNoCurveOnCuda()),
                 qPrintable(window->backendText()));
    }

    /// Real queries and keys come with the model that they are of, and positions stay on their tokens.
    void builtinTensorsBringTheirModel()
    {
        auto window = openWindow();
        SETTLE(*window);
        TensorChoice choice;
        choice.file = "builtin:smollm2-sink";
        QVERIFY(window->openTensors(choice));
        SETTLE(*window);
        const Session& session = window->document().session();
        QCOMPARE(session.configurations[0].config.headDim, 64);
        QVERIFY(!session.configurations[0].isHidden);
        QVERIFY(session.configurations[1].isHidden); // 128 channels wide
        QCOMPARE(window->document().undoStack().count(), 1);
        QVERIFY(window->shownReply()->results->configurations.front().scores);
        window->transport().playToggled(true);
        FigureOptions last = session.options;
        last.m = 510;
        last.n = 495;
        window->document().setOptions(last);
        QTRY_COMPARE_WITH_TIMEOUT(session.options.m, std::int64_t(511), 10'000);
        QTest::qWait(600); // it would go on at four tokens a second
        QCOMPARE(session.options.m, std::int64_t(511));
        QCOMPARE(window->messageBar().text(), QString());
    }

    /// Tensors that no configuration in sight is as wide as would leave every figure empty.
    void tensorsCloseWithTheirModel()
    {
        auto window = openWindow();
        SETTLE(*window);
        TensorChoice choice;
        choice.file = "builtin:smollm2-sink";
        QVERIFY(window->openTensors(choice));
        const FigureOptions& options = window->document().session().options;
        window->document().undoStack().undo(); // two of 128 channels again
        QVERIFY(options.content == Content::Ones);
        QVERIFY(!options.tensors);
        QVERIFY(options.tensorChoice == choice);
        QCOMPARE(window->messageBar().text(),
                 QString("The tensors are closed: no configuration shown is 64 channels wide"));
        QCOMPARE(window->messageBar().messageCount(), 1);
        SETTLE(*window);
        for (const FigureSpec& figure : window->shownReply()->figures)
            QVERIFY2(figure.failure.isEmpty(), toEnglish(figure.failure).c_str());
        QVERIFY(window->openTensors(choice)); // and again
        QCOMPARE(window->messageBar().text(), QString());
        auto list = window->document().session().configurations;
        list[0].isHidden = true;
        window->document().editConfigurations(list, 0, "hide");
        QVERIFY(options.content == Content::Ones);
        QVERIFY(!window->messageBar().text().isEmpty());
    }

    /// A part in view does not outlive the map that it is of.
    void viewRangeEndsWithItsMap()
    {
        auto window = openWindow();
        window->document().setFigure("scores");
        SETTLE(*window);
        emit window->canvas().viewRangeChanged("scores", QRectF(QPointF(99.5, 599.5), QPointF(200.5, 700.5)));
        const auto withLength = [&](const char* length) {
            FigureOptions options = window->document().session().options;
            QVERIFY(options.settings.set("map_length", length));
            window->document().setOptions(options);
        };
        const FigureOptions& options = window->document().session().options;
        withLength("601");
        QCOMPARE(options.settings.whole("first_row"), std::int64_t(600));
        withLength("600");
        for (const char* key : {"first_row", "last_row", "first_column", "last_column"})
            QVERIFY2(!options.settings.stated().contains(key), key);
        SETTLE(*window);
        QCOMPARE(window->canvas().figure("scores").yAxis.upper, 599.5);
        // Of tensors there are no more rows than tokens.
        withLength("2048");
        emit window->canvas().viewRangeChanged("scores", QRectF(QPointF(999.5, 9.5), QPointF(1100.5, 100.5)));
        TensorChoice choice;
        choice.file = "builtin:smollm2-sink"; // 512 tokens
        QVERIFY(window->openTensors(choice));
        QVERIFY(!options.settings.stated().contains("first_column"));
    }

    /// Whichever map of several is turned, all are computed for the part in view.
    void wheelOnAnyMapIsComputed()
    {
        auto window = openWindow();
        window->document().setFigure("scores");
        auto list = window->document().session().configurations;
        list.push_back(list[0]);
        list[2].letter = "C";
        list[2].config.base = 2e6;
        window->document().editConfigurations(list, 2, "third"); // C is in the main plot
        SETTLE(*window);
        FigureView* view = window->canvas().view("scores");
        QPoint at;
        for (int y = 0; y < view->height() && at.isNull(); y += 5)
            for (int x = 0; x < view->width() && at.isNull(); x += 5) {
                const FigureHit hit = hitFigure(QPointF(x, y), view->rect(), view->figure(), RenderOptions());
                if (hit.plot == 1 && hit.isOnAxes && hit.x > 400.0 && hit.y > 400.0)
                    at = {x, y};
            }
        QVERIFY(!at.isNull());
        QWheelEvent turn(at, view->mapToGlobal(at), {}, QPoint(0, 480), Qt::NoButton, {}, Qt::NoScrollPhase,
                         false);
        QApplication::sendEvent(view, &turn);
        QVERIFY(window->document().session().options.settings.stated().contains("last_row"));
        SETTLE(*window);
        const FigureSpec figure = window->canvas().figure("scores");
        QVERIFY(figure.xAxis.upper - figure.xAxis.lower < 1000.0);
        for (const std::size_t map : {0U, 1U}) {
            QCOMPARE(figure.more[map].xAxis.upper, figure.xAxis.upper);
            QCOMPARE(figure.more[map].yAxis.lower, figure.yAxis.lower);
        }
        QVERIFY(view->isZoomed());
        QTest::keyClick(view, Qt::Key_Backspace);
        SETTLE(*window);
        QVERIFY(!view->isZoomed());
        QCOMPARE(window->canvas().figure("scores").xAxis.upper, 2047.5);
    }

    void dragIsOneEntryAndUndoRestoresPixels()
    {
        auto window = openWindow();
        SETTLE(*window);
        const Session before = window->document().session();
        const QImage picture = window->canvas().grab().toImage();
        SliderTrack* track = window->configPanel().slider("base")->track();
        dragKnob(*track, track->knobCentre(), 40);
        QCOMPARE(window->document().undoStack().count(), 1);
        QVERIFY(window->document().session().configurations[0].config.base > 500'000.0);
        SETTLE(*window);
        QVERIFY(window->canvas().grab().toImage() != picture);
        window->document().undoStack().undo();
        SETTLE(*window);
        QCOMPARE(window->document().session(), before);
        // The time in the status bar may differ; the figures may not.
        QCOMPARE(window->canvas().grab().toImage(), picture);
    }

    void lockedDistanceKeepsTheScore()
    {
        auto window = openWindow();
        SETTLE(*window);
        QVERIFY(window->document().session().isDistanceLocked);
        window->transport().queryBox()->setFocus();
        const double score = scoreOf(*window, 0);
        const QString shown = window->readingPanel().valueLabel(5)->text();
        std::complex<double> lastQuery = window->shownReply()->figures.front().planes.front().query;
        std::complex<double> lastKey = window->shownReply()->figures.front().planes.front().key;
        for (const int m : {15, 99, 1234, 20'000, 65'537, 100'000}) {
            NumberEdit* box = window->transport().queryBox();
            box->setFocus();
            box->selectAll();
            QTest::keyClicks(box, QString::number(m));
            QTest::keyClick(box, Qt::Key_Return);
            SETTLE(*window);
            const FigureOptions& options = window->document().session().options;
            QCOMPARE(options.m, std::int64_t(m));
            QCOMPARE(options.m - options.n, std::int64_t(15));
            QVERIFY(std::fabs(scoreOf(*window, 0) - score) < 1e-10);
            QCOMPARE(window->readingPanel().valueLabel(5)->text(), shown);
            const PlanePanel& plane = window->shownReply()->figures.front().planes.front();
            QVERIFY(std::abs(plane.query - lastQuery) > 1e-3);
            QVERIFY(std::abs(plane.key - lastKey) > 1e-3);
            lastQuery = plane.query;
            lastKey = plane.key;
        }
    }

    void mainJobByMouseAndKeyboard()
    {
        QTemporaryDir folder;
        const QString model = writeTo(folder.filePath("small.json"), smallModel());
        auto window = openWindow();
        SETTLE(*window);
        // open a file
        QVERIFY(window->openFile(model));
        SETTLE(*window);
        QCOMPARE(window->document().session().configurations[0].config.headDim, 64);
        QCOMPARE(window->document().session().configurations[0].config.base, 20'000.0);
        QVERIFY(window->messageBar().text().contains("small.json"));
        // drag the base
        SliderTrack* base = window->configPanel().slider("base")->track();
        dragKnob(*base, base->knobCentre(), 25);
        const double dragged = window->document().session().configurations[0].config.base;
        QVERIFY(dragged > 20'000.0);
        SETTLE(*window);
        // pick a pair in the plane: the small circle of pair 3
        FigureView* plane = window->canvas().view("plane");
        const QPoint circle = findPair(*plane, 3);
        QVERIFY(!circle.isNull());
        QTest::mouseClick(plane, Qt::LeftButton, Qt::NoModifier, circle);
        QCOMPARE(window->document().session().options.pair, 3);
        SETTLE(*window);
        QCOMPARE(window->shownReply()->figures.front().planes.front().pair, 3);
        // keys of the canvas
        plane->setFocus();
        QTest::keyClick(plane, Qt::Key_Down);
        QCOMPARE(window->document().session().options.pair, 4);
        QTest::keyClick(plane, Qt::Key_BracketRight);
        QCOMPARE(window->document().session().options.m, std::int64_t(41));
        QCOMPARE(window->document().session().options.n, std::int64_t(26));
        // unlock and lock
        QTest::mouseClick(window->transport().lockButton(), Qt::LeftButton);
        QVERIFY(!window->document().session().isDistanceLocked);
        QTest::keyClick(plane, Qt::Key_BracketRight);
        QCOMPARE(window->document().session().options.n, std::int64_t(26));
        QTest::mouseClick(window->transport().lockButton(), Qt::LeftButton);
        QVERIFY(window->document().session().isDistanceLocked);
        SETTLE(*window);
        // export
        const QString pdf = folder.filePath("plane.pdf");
        QVERIFY(window->exportTo(pdf, "plane", ExportOptions()));
        QFile exported(pdf);
        QVERIFY(exported.open(QIODevice::ReadOnly));
        QVERIFY(exported.read(5) == "%PDF-");
        // undo the drag, then the opening
        QTest::keySequence(window.get(), QKeySequence::Undo);
        QCOMPARE(window->document().session().configurations[0].config.base, 20'000.0);
        QTest::keySequence(window.get(), QKeySequence::Undo);
        QCOMPARE(window->document().session().configurations[0].config.headDim, 128);
        QTest::keySequence(window.get(), QKeySequence::Redo);
        // save and reopen
        const QString session = folder.filePath("lecture.rope.json");
        QVERIFY(window->saveTo(session));
        QVERIFY(!window->document().isModified());
        const Session saved = window->document().session();
        auto other = openWindow();
        QVERIFY(other->openFile(session));
        SETTLE(*other);
        QCOMPARE(other->document().session(), saved);
        QCOMPARE(other->windowTitle(), QString("lecture.rope.json[*] – Ropewalk"));
    }

    void everyFigureByMenuAndKey()
    {
        auto window = openWindow();
        SETTLE(*window);
        QStringList all;
        for (const FigureInfo& figure : figureCatalog())
            all += QString::fromUtf8(figure.id.data(), static_cast<qsizetype>(figure.id.size()));
        QMenu* menu = nullptr;
        for (QMenu* each : window->menuBar()->findChildren<QMenu*>())
            if (each->title() == "&All figures")
                menu = each;
        QVERIFY(menu);
        QCOMPARE(menu->actions().size(), all.size());
        for (int i = 0; i < all.size(); ++i) {
            menu->actions()[i]->trigger();
            SETTLE(*window);
            QCOMPARE(window->canvas().shown(), all[i]);
            QCOMPARE(window->shownReply()->figures.size(), std::size_t(1)); // no other is computed
            QCOMPARE(window->figureBar().tabs()->tabText(window->figureBar().tabs()->currentIndex()),
                     menu->actions()[i]->text());
        }
        for (int i = 0; i < std::min<qsizetype>(9, all.size()); ++i) {
            QTest::keyClick(window->canvas().view(window->canvas().shown()),
                            static_cast<Qt::Key>(Qt::Key_1 + i));
            QCOMPARE(window->canvas().shown(), all[i]);
        }
        // Round all of them by the keyboard alone.
        QTest::keyClick(window.get(), Qt::Key_1);
        for (int i = 1; i <= all.size(); ++i) {
            QTest::keyClick(window.get(), Qt::Key_PageDown, Qt::ControlModifier);
            QCOMPARE(window->canvas().shown(), all[i % all.size()]);
        }
        QTest::keyClick(window.get(), Qt::Key_PageUp, Qt::ControlModifier);
        QCOMPARE(window->canvas().shown(), all.back());
        QTest::keyClick(window->canvas().view(window->canvas().shown()), Qt::Key_0);
        SETTLE(*window);
        QCOMPARE(window->canvas().shown(), QString("overview"));
        QCOMPARE(window->shownReply()->figures.size(), std::size_t(4));
    }

    void tabsAndEscape()
    {
        auto window = openWindow();
        SETTLE(*window);
        QTabBar* tabs = window->figureBar().tabs();
        QCOMPARE(tabs->count(), 5);
        QTest::mouseClick(tabs, Qt::LeftButton, Qt::NoModifier, tabs->tabRect(3).center());
        QCOMPARE(window->canvas().shown(), QString("decay"));
        QTest::keyClick(window->canvas().view("decay"), Qt::Key_Escape);
        QCOMPARE(window->canvas().shown(), QString("overview"));
        QTest::mouseDClick(window->canvas().view("spectrum"), Qt::LeftButton);
        QCOMPARE(window->canvas().shown(), QString("spectrum"));
        QTest::mouseDClick(window->canvas().view("spectrum"), Qt::LeftButton);
        QCOMPARE(window->canvas().shown(), QString("overview"));
    }

    void cardsAreChosenAndSaved()
    {
        auto window = openWindow();
        SETTLE(*window);
        // Two figures: the one that was looked at is among them.
        window->canvas().view("pairs")->setFocus();
        SegmentedControl* count = window->figureBar().layoutControl();
        QTest::mouseClick(count, Qt::LeftButton, Qt::NoModifier, count->segment(1).center());
        QCOMPARE(window->canvas().cards(), (QStringList{"plane", "pairs"}));
        SETTLE(*window);
        QCOMPARE(window->shownReply()->figures.size(), std::size_t(2));
        // Another figure in the first place, from the menu in its corner.
        QTimer::singleShot(0, window.get(), [&] {
            auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            if (!menu)
                return;
            for (QAction* action : menu->actions())
                if (action->text().startsWith("Decay"))
                    action->trigger();
            menu->close();
        });
        QTest::mouseClick(window->canvas().chooser(0), Qt::LeftButton);
        QCOMPARE(window->canvas().cards(), (QStringList{"decay", "pairs"}));
        QCOMPARE(window->document().undoStack().count(), 0); // looking, not changing
        QTemporaryDir folder;
        const QString path = folder.filePath("cards.rope.json");
        QVERIFY(window->saveTo(path));
        auto other = openWindow();
        QVERIFY(other->openFile(path));
        QCOMPARE(other->canvas().cards(), (QStringList{"decay", "pairs"}));
        QVERIFY(other->document().session() == window->document().session());
        QTest::mouseClick(count, Qt::LeftButton, Qt::NoModifier, count->segment(2).center());
        QCOMPARE(window->canvas().cards(), (QStringList{"decay", "pairs", "plane", "spectrum"}));
    }

    void settingsOfTheFigureAreLive()
    {
        auto window = openWindow();
        window->document().setFigure("decay");
        SETTLE(*window);
        QVERIFY(window->figurePanel().hasSettings());
        auto* slider = qobject_cast<ValueSlider*>(window->figurePanel().control("max_distance"));
        QVERIFY(slider);
        window->figurePanel().section()->setOpen(true);
        QTRY_VERIFY(slider->track()->isVisible());
        dragKnob(*slider->track(), slider->track()->knobCentre(), -40);
        const std::int64_t longest = window->document().session().options.maxDistance;
        QVERIFY(longest < 131072);
        SETTLE(*window);
        QCOMPARE(window->canvas().figure("decay").xAxis.upper, static_cast<double>(longest));
        QCOMPARE(window->document().undoStack().count(), 0);
        // Another way to change it is shown by the same control.
        FigureOptions options = window->document().session().options;
        options.maxDistance = 5000;
        window->document().setOptions(options);
        QCOMPARE(slider->value(), 5000.0);
    }

    void cancelKeepsThePictureAndSaysSo()
    {
        auto gate = std::make_shared<std::atomic<bool>>(false);
        std::vector<std::unique_ptr<ComputeBackend>> backends;
        backends.push_back(std::make_unique<HaltingBackend>(gate));
        MainWindow window(std::make_unique<Engine>(std::move(backends)), loadPresets(), loadReferences(),
                          AppSettings());
        window.resize(1280, 800);
        window.show();
        SETTLE(window);
        QVERIFY(window.canvas().isCurrent("decay"));
        *gate = true; // from here on nothing comes to an end
        FigureOptions options = window.document().session().options;
        options.maxDistance = 4000;
        window.document().setOptions(options);
        QVERIFY(!window.canvas().isCurrent("decay"));
        auto* cancel = window.findChild<QToolButton*>("cancelButton");
        QTRY_VERIFY_WITH_TIMEOUT(cancel->isVisible(), 5000);
        QTemporaryDir folder;
        QVERIFY(!window.exportTo(folder.filePath("decay.pdf"), "decay", ExportOptions()));
        window.messageBar().dismiss("compute");
        QTest::mouseClick(cancel, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!window.controller().isBusy(), 5000);
        QTRY_VERIFY(!cancel->isVisible());
        QCOMPARE(window.canvas().figure("decay").xAxis.upper, 131072.0);
        QVERIFY2(window.messageBar().text().contains("Cancelled"), qPrintable(window.messageBar().text()));
        QVERIFY(!window.canvas().isCurrent("decay"));
        // One that was not computed at all says so in its place.
        window.document().setFigure("decay");
        *gate = false;
        SETTLE(window);
        QCOMPARE(window.canvas().figure("decay").xAxis.upper, 4000.0);
        QVERIFY(window.canvas().isCurrent("decay"));
        QVERIFY(!window.messageBar().text().contains("Cancelled"));
    }

    void picksAreLinked()
    {
        auto window = openWindow();
        SETTLE(*window);
        const auto options = [&]() -> const FigureOptions& { return window->document().session().options; };
        emit window->canvas().positionsPicked(300, 100); // a cell of a map: both, locked or not
        QCOMPARE(options().m, std::int64_t(300));
        QCOMPARE(options().n, std::int64_t(100));
        emit window->canvas().queryPicked(400); // an axis of queries: the key goes along while locked
        QCOMPARE(options().m, std::int64_t(400));
        QCOMPARE(options().n, std::int64_t(200));
        window->document().setDistanceLocked(false);
        emit window->canvas().keyPicked(50);
        QCOMPARE(options().m, std::int64_t(400));
        QCOMPARE(options().n, std::int64_t(50));
        emit window->canvas().distancePicked(7);
        QCOMPARE(options().m - options().n, std::int64_t(7));
        emit window->canvas().pairPicked(31);
        SETTLE(*window);
        // All figures mark the same place.
        for (const FigureSpec& figure : window->shownReply()->figures)
            for (const GuideLine& guide : figure.guides)
                if (guide.role == GuideRole::Selection)
                    QCOMPARE(guide.at, figure.xAxis.meaning == AxisMeaning::Distance ? 7.0 : 31.0);
        QCOMPARE(window->shownReply()->figures.front().planes.front().pair, 31);
    }

    /// A figure that computes what is in view is told the view, and the way back takes it away again.
    void viewRangeIsComputed()
    {
        const FigureSettingInfo* row = findFigureSetting("first_row");
        QVERIFY(row);
        const QString id =
            QString::fromUtf8(row->figures.data(), static_cast<qsizetype>(row->figures.size()));
        auto window = openWindow();
        window->document().setFigure(id.toStdString());
        SETTLE(*window);
        emit window->canvas().viewRangeChanged(id, QRectF(QPointF(9.6, 99.5), QPointF(20.4, 150.5)));
        const FigureSettings settings = window->document().session().options.settings;
        QCOMPARE(settings.whole("first_column"), std::int64_t(10));
        QCOMPARE(settings.whole("last_column"), std::int64_t(20));
        QCOMPARE(settings.whole("first_row"), std::int64_t(100));
        QCOMPARE(settings.whole("last_row"), std::int64_t(150));
        QVERIFY(window->figurePanel().control("first_row"));
        emit window->canvas().viewRangeChanged("spectrum", QRectF(0, 0, 1, 1)); // computes nothing anew
        QVERIFY(window->document().session().options.settings == settings);
        emit window->canvas().viewRangeReset(id);
        QVERIFY(window->document().session().options.settings.stated().empty());
        QVERIFY(!window->figurePanel().control("first_row"));
    }

    void pointerIsReadAndCopied()
    {
        auto window = openWindow();
        window->document().setFigure("decay");
        SETTLE(*window);
        FigureView* view = window->canvas().view("decay");
        const QString before = window->readingPanel().lastLine();
        QTest::mouseMove(view, view->rect().center());
        QTRY_VERIFY(view->readOut().has_value());
        const HoverTable table = *view->readOut();
        QVERIFY2(window->readingPanel().lastLine().startsWith(table.title),
                 qPrintable(window->readingPanel().lastLine()));
        QTest::keySequence(window.get(), QKeySequence::Copy);
        const QStringList lines = QApplication::clipboard()->text().trimmed().split('\n');
        QCOMPARE(lines.size(), 1 + static_cast<int>(table.rows.size()));
        QCOMPARE(lines[0].split('\t'), (QStringList{table.title, "A", "B"}));
        QCOMPARE(lines[1].split('\t'), QStringList{table.rows[0].label} + table.rows[0].values);
        QEvent leave(QEvent::Leave);
        QApplication::sendEvent(view, &leave);
        QCOMPARE(window->readingPanel().lastLine(), before);
        // Another part of the axes, or another figure: nothing is under the pointer until it moves.
        const auto point = [&] {
            QTest::mouseMove(view, view->rect().center() + QPoint(10, 0));
            QTest::mouseMove(view, view->rect().center());
            return window->readingPanel().lastLine() != before;
        };
        QVERIFY(point());
        QWheelEvent turn(view->rect().center(), view->mapToGlobal(view->rect().center()), {}, QPoint(0, 120),
                         Qt::NoButton, {}, Qt::NoScrollPhase, false);
        QApplication::sendEvent(view, &turn);
        QCOMPARE(window->readingPanel().lastLine(), before);
        QVERIFY(point());
        window->document().setFigure("pairs");
        QCOMPARE(window->readingPanel().lastLine(), before);
    }

    void numbersAreCopied()
    {
        auto window = openWindow();
        SETTLE(*window);
        window->canvas().view("plane")->setFocus();
        QTest::keySequence(window.get(), QKeySequence::Copy);
        const QStringList lines = QApplication::clipboard()->text().trimmed().split('\n');
        QCOMPARE(lines.size(), 6);
        const QStringList score = lines.last().split('\t');
        QCOMPARE(score.size(), 2);
        QCOMPARE(score[1].toDouble(), scoreOf(*window, 0)); // all of its digits
    }

    void refusedFilesChangeNothing_data()
    {
        QTest::addColumn<QByteArray>("content");
        QTest::newRow("not JSON") << QByteArray("<html>no</html>");
        QTest::newRow("odd width") << QByteArray(
            R"({"model_type": "gpt_neox", "hidden_size": 32, "num_attention_heads": 8, "rotary_pct": 0.75})");
        QTest::newRow("newer session") << QByteArray(R"({"schema": "ropewalk.session/9"})");
    }
    void refusedFilesChangeNothing()
    {
        QFETCH(QByteArray, content);
        QTemporaryDir folder;
        auto window = openWindow();
        SETTLE(*window);
        const Session before = window->document().session();
        QVERIFY(!window->openFile(writeTo(folder.filePath("bad.json"), content)));
        QCOMPARE(window->document().session(), before);
        QVERIFY2(window->messageBar().text().contains("bad.json"), qPrintable(window->messageBar().text()));
        QCOMPARE(window->document().undoStack().count(), 0);
    }

    void impossibleSettingSaysWhy()
    {
        auto window = openWindow();
        SETTLE(*window);
        auto list = window->document().session().configurations;
        for (auto& each : list)
            each.config.rotaryDim = 3;
        window->document().editConfigurations(list, 0, "odd");
        SETTLE(*window);
        QVERIFY(toEnglish(window->canvas().figure("decay").failure).find("odd rotary width 3") !=
                std::string::npos);
    }

    void dropOpensAFile()
    {
        QTemporaryDir folder;
        const QString model = writeTo(folder.filePath("small.json"), smallModel());
        auto window = openWindow();
        SETTLE(*window);
        QMimeData offer;
        offer.setUrls({QUrl::fromLocalFile(model)});
        QDragEnterEvent enter({10, 10}, Qt::CopyAction, &offer, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(window.get(), &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent drop(QPointF(10, 10), Qt::CopyAction, &offer, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(window.get(), &drop);
        QCOMPARE(window->document().session().configurations[0].config.headDim, 64);
    }

    void opensGgufByContent()
    {
        QTemporaryDir folder;
        const std::string gguf = ropewalk::test::GgufBuilder()
                                     .text("general.architecture", "llama")
                                     .uint32("llama.attention.key_length", 64)
                                     .float32("llama.rope.freq_base", 5e5F)
                                     .bytes();
        auto window = openWindow();
        SETTLE(*window);
        QVERIFY(window->openFile(writeTo(folder.filePath("weights.json"), QByteArray::fromStdString(gguf))));
        const RopeConfig& config = window->document().session().configurations[0].config;
        QCOMPARE(config.headDim, 64);
        QVERIFY(config.layout == Layout::Interleaved);
    }

    /// The pair that is shown turns in the model that was opened; one that was picked and turns stays.
    void openedModelShowsATurningPair()
    {
        QTemporaryDir folder;
        const QString path =
            writeTo(folder.filePath("neox.json"), "{\"model_type\":\"gpt_neox\",\"hidden_size\":6144,\"num_"
                                                  "attention_heads\":64,\"rotary_pct\":0.25}");
        const auto window = openWindow();
        QCOMPARE(window->document().session().options.pair, 12);
        QVERIFY(window->openFile(path));
        QCOMPARE(window->document().session().options.pair, 2);
        FigureOptions options = window->document().session().options;
        options.pair = 5;
        window->document().setOptions(options);
        QVERIFY(window->addFile(path));
        QCOMPARE(window->document().session().options.pair, 5);
    }

    /// Kinds of layers have fields of the same names: each list stands under its own name.
    void detailsAreByKindOfLayer()
    {
        QTemporaryDir folder;
        QFile file(folder.filePath("small.json"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("{\"model_type\":\"gemma3_text\",\"head_dim\":64,\"rope_theta\":1e6,"
                   "\"rope_local_base_freq\":10000,\"max_position_embeddings\":32768,\"sliding_window\":512,"
                   "\"layer_types\":[\"full_attention\",\"sliding_attention\"]}");
        file.close();
        const auto window = openWindow();
        QVERIFY(window->openFile(file.fileName()));
        QString text;
        QTimer::singleShot(0, window.get(), [&] {
            QWidget* dialog = QApplication::activeModalWidget();
            text = dialog->findChild<QTextBrowser*>()->toPlainText();
            dialog->close();
        });
        emit window->messageBar().actionTriggered("notes", "details");
        const auto full = text.indexOf("small, full_attention");
        const auto sliding = text.indexOf("small, sliding_attention");
        QVERIFY2(full >= 0 && sliding >= 0 && full != sliding, qPrintable(text));
        QVERIFY2(text.indexOf("rope_local_base_freq") > sliding, qPrintable(text));
    }

    void pastesABlock()
    {
        auto window = openWindow();
        SETTLE(*window);
        QApplication::clipboard()->setText(R"("rope_scaling": {"rope_type": "linear", "factor": 4.0},)");
        QTest::keySequence(window.get(), QKeySequence::Paste);
        const RopeConfig& config = window->document().session().configurations[0].config;
        QVERIFY(config.rule == FrequencyRule::Linear);
        QCOMPARE(config.parameters.factor.value(), 4.0);
        QCOMPARE(config.headDim, 128);
        QCOMPARE(window->document().undoStack().count(), 1);
        const Session before = window->document().session();
        QApplication::clipboard()->setText("a shopping list");
        QTest::keySequence(window.get(), QKeySequence::Paste);
        QCOMPARE(window->document().session(), before);
        QVERIFY(!window->messageBar().text().isEmpty());
    }

    void playingMovesByTheClock()
    {
        auto window = openWindow();
        SETTLE(*window);
        const std::int64_t m = window->document().session().options.m;
        QTest::mouseClick(window->transport().playButton(), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(window->document().session().options.m > m + 1, 5000);
        QTest::mouseClick(window->transport().playButton(), Qt::LeftButton);
        const std::int64_t stopped = window->document().session().options.m;
        QCOMPARE(stopped - window->document().session().options.n, std::int64_t(15));
        QTest::qWait(400);
        QCOMPARE(window->document().session().options.m, stopped);
    }

    void fitsTheProjector()
    {
        auto window = openWindow({1024, 768});
        SETTLE(*window);
        QCOMPARE(window->size(), QSize(1024, 768));
        // At its defaults nothing of the control column is below the fold.
        const ConfigPanel& panel = window->configPanel();
        QVERIFY2(
            panel.widget()->height() <= panel.viewport()->height(),
            qPrintable(QString("%1 in %2").arg(panel.widget()->height()).arg(panel.viewport()->height())));
        QVERIFY(panel.width() <= 300);
        for (const QString& id : window->canvas().visibleFigures()) {
            const FigureView* view = window->canvas().view(id);
            QVERIFY(view->isVisible());
            QVERIFY(window->canvas().rect().contains(view->geometry()));
        }
    }

    void statusBarAndDataSayWhyNotTheDevice_data()
    {
        QTest::addColumn<int>("how");
        QTest::addColumn<QString>("reason");
        QTest::newRow("not built") << static_cast<int>(ErrorCode::NotBuilt) << "not built for this test";
        QTest::newRow("not available")
            << static_cast<int>(ErrorCode::NotAvailable) << "no driver in this test";
        QTest::newRow("failed") << static_cast<int>(ErrorCode::RunFailed)
                                << "the device was lost in this test";
    }
    void statusBarAndDataSayWhyNotTheDevice()
    {
        QFETCH(int, how);
        QFETCH(QString, reason);
        std::vector<std::unique_ptr<ComputeBackend>> backends;
        backends.push_back(std::make_unique<UnableBackend>(static_cast<ErrorCode>(how)));
        backends.push_back(makeCpuBackend());
        MainWindow window(std::make_unique<Engine>(std::move(backends)), loadPresets(), loadReferences(),
                          AppSettings());
        window.resize(1280, 800);
        window.show();
        SETTLE(window);
        QVERIFY2(window.backendText().startsWith("CPU") && window.backendText().endsWith(reason),
                 qPrintable(window.backendText()));
        // The result is right all the same.
        QCOMPARE(window.shownReply()->results->configurations[1].decay->firstNegative.value_or(-1),
                 std::int64_t(1707));
        const QByteArray json = QByteArray::fromStdString(figureToJson(window.canvas().figure("pairs")));
        QVERIFY(json.contains("\"fallback_reason\": \"" + reason.toUtf8() + "\""));
    }

    void draggedArrowKeepsTheLock()
    {
        auto window = openWindow();
        SETTLE(*window);
        emit window->canvas().positionsDragged(31, 25); // the tip of q
        QCOMPARE(window->document().session().options.m, std::int64_t(31));
        QCOMPARE(window->document().session().options.n, std::int64_t(16));
        emit window->canvas().positionsDragged(31, 20); // the tip of k
        QCOMPARE(window->document().session().options.m, std::int64_t(35));
        QCOMPARE(window->document().session().options.n, std::int64_t(20));
        window->document().setDistanceLocked(false);
        emit window->canvas().positionsDragged(50, 20);
        QCOMPARE(window->document().session().options.n, std::int64_t(20));
    }

    /// A file refused at the start would else be taken for the example that is shown.
    void refusalOutlivesTheNextResult()
    {
        QTemporaryDir folder;
        auto window = openWindow();
        QVERIFY(!window->openFile(folder.filePath("absent.json")));
        SETTLE(*window);
        QTest::qWait(50);
        QVERIFY2(window->messageBar().text().contains("absent.json"),
                 qPrintable(window->messageBar().text()));
    }

    void digitsChooseFiguresAfterPlay()
    {
        auto window = openWindow();
        SETTLE(*window);
        QAbstractButton* play = window->transport().playButton();
        play->setFocus();
        QTest::keyClick(play, Qt::Key_3, Qt::NoModifier);
        const std::string_view third = figureCatalog()[2].id;
        QCOMPARE(window->canvas().shown().toStdString(), std::string(third));
    }

    void exportDialogByKey()
    {
        auto window = openWindow({1024, 768});
        SETTLE(*window);
        QSize size;
        QString formats;
        QTimer::singleShot(0, window.get(), [&] {
            auto* dialog = qobject_cast<ExportDialog*>(QApplication::activeModalWidget());
            if (!dialog)
                return;
            size = dialog->size();
            for (int i = 0; i < dialog->formatBox()->count(); ++i)
                formats += dialog->formatBox()->itemText(i) + ' ';
            dialog->reject();
        });
        QTest::keyClick(window->canvas().view("plane"), Qt::Key_E, Qt::ControlModifier);
        QVERIFY(!size.isEmpty() && size.width() <= 1000 && size.height() <= 700);
        QCOMPARE(formats, QString("PDF SVG PNG "));
    }

    void dialogsFit()
    {
        auto window = openWindow({1024, 768});
        SETTLE(*window);
        for (const double scale : {1.0, 1.5}) {
            QFont font = QApplication::font();
            const QFont usual = font;
            font.setPixelSize(qRound(13 * scale));
            QApplication::setFont(font);
            ExportDialog dialog(window->canvas().figure("decay"), ExportOptions());
            dialog.show();
            QVERIFY2(dialog.minimumSizeHint().height() <= 700 && dialog.height() <= 700,
                     qPrintable(QString::number(dialog.minimumSizeHint().height())));
            QVERIFY(dialog.minimumSizeHint().width() <= 1000);
            QApplication::setFont(usual);
        }
    }

private:
    static QPoint findPair(FigureView& view, int pair)
    {
        for (int y = 0; y < view.height(); y += 3) {
            for (int x = view.width() / 2; x < view.width(); x += 3) {
                const FigureHit hit = hitFigure(QPointF(x, y), view.rect(), view.figure(), RenderOptions());
                if (hit.pair == pair)
                    return {x, y};
            }
        }
        return {};
    }
};

QTEST_MAIN(TestMainWindow)
#include "test_main_window.moc"
