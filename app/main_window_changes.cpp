// SPDX-License-Identifier: GPL-3.0-or-later
// What the panels, the figures and the keys change.

#include "main_window.h"

#include "core/config_keys.h"
#include "core/json_writer.h"
#include "session_edits.h"
#include "tensors.h"
#include "widgets/figure_canvas.h"
#include "widgets/panels/config_list.h"
#include "widgets/panels/config_panel.h"
#include "widgets/panels/figure_bar.h"
#include "widgets/panels/figure_panel.h"
#include "widgets/panels/message_bar.h"
#include "widgets/panels/transport_bar.h"
#include "widgets/window_style.h"

#include <QAction>
#include <QApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QKeyEvent>
#include <QMenu>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ropewalk {

void MainWindow::connectPanels()
{
    for (const auto signal : {&Document::configurationsChanged, &Document::viewChanged})
        connect(&m_document, signal, this, [this] {
            if (leaveWhatIsGone())
                return; // the change of the view that it made is shown instead
            showSession();
            submit();
        });
    connect(&m_document, &Document::fileChanged, this, &MainWindow::updateTitle);

    connect(m_configPanel, &ConfigPanel::editingStarted, &m_document, &Document::beginGesture);
    connect(m_configPanel, &ConfigPanel::editingFinished, &m_document, &Document::endGesture);
    connect(m_configPanel, &ConfigPanel::configEdited, this,
            [this](const RopeConfig& config, const QString& what) {
                if (m_isShowing)
                    return;
                editList(what, [&](auto& list, int& selected) {
                    SessionConfiguration& edited = list[static_cast<std::size_t>(selected)];
                    edited.config = config;
                    followOriginal(edited.original.value_or(config), edited.config);
                });
            });

    connectConfigurations();
    connectStage();
}

/// The list of configurations: what is done with them is a change that can be undone.
void MainWindow::connectConfigurations()
{
    connect(m_configList, &ConfigList::selected, &m_document, &Document::select);
    connect(m_configList, &ConfigList::hideToggled, this, [this](int index, bool isHidden) {
        editList(isHidden ? tr("hide") : tr("show"),
                 [&](auto& list, int&) { list[static_cast<std::size_t>(index)].isHidden = isHidden; });
    });
    connect(m_configList, &ConfigList::renamed, this, [this](int index, const QString& name) {
        editList(tr("rename"), [&](auto& list, int&) {
            list[static_cast<std::size_t>(index)].config.name = name.toStdString();
        });
    });
    connect(m_configList, &ConfigList::removeRequested, this, [this](int index) {
        if (m_document.session().configurations.size() < 2)
            return; // one always stays, so that there is something to turn
        editList(tr("remove"), [&](auto& list, int& selected) {
            list.erase(list.begin() + index);
            if (selected > index || selected >= static_cast<int>(list.size()))
                --selected;
        });
    });
    connect(m_configList, &ConfigList::moveRequested, this, [this](int from, int to) {
        editList(tr("reorder"), [&](auto& list, int& selected) {
            if (to < 0 || to >= static_cast<int>(list.size()))
                return;
            std::swap(list[static_cast<std::size_t>(from)], list[static_cast<std::size_t>(to)]);
            if (selected == from)
                selected = to;
            else if (selected == to)
                selected = from;
        });
    });
    connect(m_configList, &ConfigList::colourChosen, this, [this](int index, int colour) {
        editList(tr("colour"), [&](auto& list, int&) { recolour(list, index, colour); });
    });
    connect(m_configList, &ConfigList::duplicateRequested, this, [this](int index) {
        RopeConfig copy = m_document.session().configurations[static_cast<std::size_t>(index)].config;
        copy.name = tr("%1 copy").arg(QString::fromStdString(copy.name)).toStdString();
        addConfiguration(std::move(copy), tr("duplicate"));
    });
    connect(m_configList, &ConfigList::addPresetRequested, this, [this](const QString& id) {
        for (const Preset& preset : m_presets)
            if (preset.id == id.toStdString())
                for (const RopeConfig& config : preset.configurations)
                    addConfiguration(config, tr("add %1").arg(QString::fromStdString(preset.name)));
    });
    connect(m_configList, &ConfigList::addFileRequested, this, [this] {
        const QString path =
            QFileDialog::getOpenFileName(this, tr("Add a model's configuration"), m_settings.lastFolder,
                                         tr("Models (*.json *.gguf);;All files (*)"));
        if (!path.isEmpty())
            addFile(path);
    });
}

/// Transport, figures and messages: looking, not changing.
void MainWindow::connectStage()
{
    connect(m_transport, &TransportBar::positionsChanged, this, [this](qint64 m, qint64 n) {
        editOptions([&](FigureOptions& options) {
            options.m = m;
            options.n = n;
        });
    });
    connect(m_transport, &TransportBar::pairChanged, this,
            [this](int pair) { editOptions([pair](FigureOptions& options) { options.pair = pair; }); });
    connect(m_transport, &TransportBar::lockToggled, &m_document, &Document::setDistanceLocked);
    connect(m_transport, &TransportBar::playToggled, this, &MainWindow::setPlaying);
    connect(m_transport, &TransportBar::speedChanged, this, [this](double speed) { m_speed = speed; });
    m_playTimer.setInterval(16);
    connect(&m_playTimer, &QTimer::timeout, this, &MainWindow::advance);

    connect(m_figureBar, &FigureBar::figureChosen, this, &MainWindow::showFigure);
    connect(m_figureBar, &FigureBar::countChosen, this, &MainWindow::showCount);
    connect(m_figurePanel, &FigurePanel::optionsEdited, this, [this](const FigureOptions& edited) {
        FigureOptions options = edited;
        if (const Result<void> loaded = loadEncodingTensors(options); !loaded) {
            report(loaded.error());
            showFigurePanel(); // the control goes back to what is shown
        } else if (options.content != Content::File || options.tensors) {
            m_document.setOptions(options);
        } else if (!openTensors(options.tensorChoice)) {
            showFigurePanel();
        }
    });
    connect(m_figurePanel, &FigurePanel::fileRequested, this, [this](const QString& title) {
        const QString path = QFileDialog::getOpenFileName(
            this, title, m_settings.lastFolder, tr("Tensors (*.npy *.npz *.safetensors);;All files (*)"));
        if (path.isEmpty())
            return;
        m_settings.lastFolder = QFileInfo(path).absolutePath();
        m_figurePanel->giveFile(path);
    });
    connect(m_figurePanel, &FigurePanel::openTensorsRequested, this, &MainWindow::chooseTensors);
    connect(m_figurePanel, &FigurePanel::toggled, this, [this] { m_isFigurePanelChosen |= !m_isShowing; });
    connect(m_canvas, &FigureCanvas::pairPicked, this,
            [this](int pair) { editOptions([pair](FigureOptions& options) { options.pair = pair; }); });
    connect(m_canvas, &FigureCanvas::distancePicked, this, [this](qint64 distance) {
        editOptions([distance](FigureOptions& options) { options.m = options.n + distance; });
    });
    connect(m_canvas, &FigureCanvas::queryPicked, this, [this](qint64 m) { placePositions(m, false); });
    connect(m_canvas, &FigureCanvas::keyPicked, this, [this](qint64 n) { placePositions(n, true); });
    connect(m_canvas, &FigureCanvas::positionsPicked, this, [this](qint64 m, qint64 n) {
        editOptions([&](FigureOptions& options) {
            options.m = m;
            options.n = n;
        });
    });
    connect(m_canvas, &FigureCanvas::viewRangeChanged, this, &MainWindow::narrowFigure);
    connect(m_canvas, &FigureCanvas::viewRangeReset, this,
            [this](const QString& id) { narrowFigure(id, {}); });
    connect(m_canvas, &FigureCanvas::readOutChanged, this, &MainWindow::showPointed);
    connect(m_canvas, &FigureCanvas::positionsDragged, this, [this](qint64 m, qint64 n) {
        const FigureOptions& now = m_document.session().options;
        Positions moved{std::clamp<qint64>(m, 0, lastPosition()), std::clamp<qint64>(n, 0, lastPosition())};
        if (m_document.session().isDistanceLocked) // the other arrow turns with the one that is dragged
            moved =
                m != now.m ? movedTogether({now.m, now.n}, m, false) : movedTogether({now.m, now.n}, n, true);
        editOptions([&](FigureOptions& options) {
            options.m = moved.m;
            options.n = moved.n;
        });
    });
    connect(m_canvas, &FigureCanvas::enlargeRequested, this, [this](const QString& id) {
        showFigure(m_document.session().figure == "overview" ? id : QStringLiteral("overview"));
    });
    connect(
        m_canvas, &FigureCanvas::contextRequested, this, [this](const QString& id, const QPoint& position) {
            QMenu menu(this);
            m_canvas->view(id)->setFocus();
            if (const auto card = m_canvas->cards().indexOf(id); m_canvas->shown() != id && card >= 0)
                menu.addAction(tr("&Another figure here…"), this,
                               [this, card, position] { chooseForCard(static_cast<int>(card), position); });
            menu.addAction(tr("&Copy figure"), this, &MainWindow::copyFigure);
            menu.addAction(tr("&Export figure…"), this, &MainWindow::exportWithDialog);
            menu.exec(position);
        });
    connect(m_canvas, &FigureCanvas::currentFigureChanged, this, &MainWindow::showFigurePanel);
    connect(m_canvas, &FigureCanvas::chooserRequested, this, &MainWindow::chooseForCard);

    connect(m_messageBar, &MessageBar::actionTriggered, this, [this](const QString&, const QString& action) {
        if (action == "details")
            showNotes();
        else if (action == "again")
            submit();
    });
}

void MainWindow::editList(const QString& what,
                          const std::function<void(std::vector<SessionConfiguration>&, int&)>& change)
{
    std::vector<SessionConfiguration> list = m_document.session().configurations;
    int selected = m_document.session().selected;
    change(list, selected);
    m_document.editConfigurations(std::move(list), selected, what);
}

void MainWindow::editOptions(const std::function<void(FigureOptions&)>& change)
{
    if (m_isShowing)
        return;
    FigureOptions options = m_document.session().options;
    change(options);
    m_document.setOptions(options);
}

void MainWindow::addConfiguration(RopeConfig config, const QString& what)
{
    if (m_document.session().configurations.size() >= kMostConfigurations) {
        m_messageBar->showMessage({"notes",
                                   MessageKind::Warning,
                                   tr("There is room for four configurations: remove one first"),
                                   {}});
        return;
    }
    editList(what, [&](auto& list, int& selected) {
        const auto [letter, colour] = freeLetter(list);
        list.push_back(asOpened(std::move(config), letter, colour));
        selected = static_cast<int>(list.size()) - 1;
    });
    pickTurningPair();
}

void MainWindow::pickTurningPair()
{
    const Session& session = m_document.session();
    const SessionConfiguration& opened = session.configurations[static_cast<std::size_t>(session.selected)];
    editOptions([&](FigureOptions& options) {
        options.pair = firstPair({{opened.config, opened.letter, opened.colour}}, options.pair);
    });
}

void MainWindow::showFigure(const QString& id)
{
    const QWidget* focus = QApplication::focusWidget();
    m_document.setFigure(id.toStdString());
    // Whoever chooses a figure goes on with it: its keys work at once. Arrow keys on the tabs stay there.
    if (!focus || !m_figureBar->isAncestorOf(focus))
        m_canvas->view(m_canvas->currentFigure())->setFocus(Qt::OtherFocusReason);
}

/// One figure large, or so many as an overview, with the one that was looked at among them.
void MainWindow::showCount(int count)
{
    const std::string looked = m_canvas->currentFigure().toStdString();
    if (count == 1) {
        showFigure(QString::fromStdString(looked));
        return;
    }
    auto cards = m_document.session().cards;
    const auto shown = cards.begin() + count;
    if (std::find(cards.begin(), shown, looked) == shown)
        placeCard(cards, count - 1, looked);
    m_document.setCards(cards, count);
    showFigure(QStringLiteral("overview"));
}

/// The next one of all figures, large; after the last comes the first.
void MainWindow::walkFigures(int by)
{
    const QString current = m_canvas->currentFigure();
    const auto count = static_cast<int>(m_figures.size());
    int place = 0;
    while (place < count && m_figures[place].id != current)
        ++place;
    // From the overview the way leads to the figure that is looked at there.
    const int step = m_document.session().figure == "overview" ? 0 : by;
    showFigure(m_figures[(place + step + count) % count].id);
}

void MainWindow::chooseForCard(int card, const QPoint& globalPosition)
{
    QMenu menu(this);
    FigureBar::fill(menu, m_figures, m_canvas->cards().value(card), [this, card](const QString& id) {
        auto cards = m_document.session().cards;
        placeCard(cards, card, id.toStdString());
        m_document.setCards(cards, m_document.session().cardCount);
        m_canvas->view(id)->setFocus(Qt::OtherFocusReason);
    });
    menu.exec(globalPosition);
}

/// A figure that computes what is in view (rows and columns of its settings) is told the range, so that it
/// shows finer cells there; an empty one: the whole.
void MainWindow::narrowFigure(const QString& id, const QRectF& range)
{
    const auto isRead = [&](const char* key) {
        const FigureSettingInfo* row = findFigureSetting(key);
        return row && row->isOf(id.toStdString());
    };
    if (!isRead("first_row") || !isRead("last_row") || !isRead("first_column") || !isRead("last_column"))
        return;
    editOptions([&](FigureOptions& options) {
        const auto set = [&](const char* key, double position) {
            const FigureSettingInfo& row = *findFigureSetting(key);
            std::string text;
            appendDouble(text, std::clamp(position, row.lower, row.upper));
            static_cast<void>(options.settings.set(key, text)); // within its limits
        };
        // Cell n lies from n - 1/2 to n + 1/2. Both ends are in view; 0 as the last one stands for the end.
        const auto setRange = [&](const char* first, const char* last, double from, double to) {
            options.settings.reset(first);
            options.settings.reset(last);
            if (range.isEmpty())
                return;
            set(first, std::max(0.0, std::floor(from + 0.5)));
            set(last, std::max(1.0, std::ceil(to - 0.5)));
        };
        setRange("first_column", "last_column", range.left(), range.right());
        setRange("first_row", "last_row", range.top(), range.bottom());
    });
}

/// Where the query, or the key, was picked; the other one moves with it while the distance is locked.
void MainWindow::placePositions(std::int64_t position, bool isKey)
{
    const FigureOptions& now = m_document.session().options;
    const std::int64_t to = std::clamp<std::int64_t>(position, 0, lastPosition());
    Positions moved{isKey ? now.m : to, isKey ? to : now.n};
    if (m_document.session().isDistanceLocked)
        moved = movedTogether({now.m, now.n}, to, isKey);
    editOptions([&](FigureOptions& options) {
        options.m = moved.m;
        options.n = moved.n;
    });
}

/// The last position that m and n can have: of real tensors there is one row a token.
std::int64_t MainWindow::lastPosition() const
{
    const FigureOptions& options = m_document.session().options;
    return options.content == Content::File && options.tensors ? options.tensors->tokens - 1
                                                               : kLargestPosition;
}

/// Moves the query, and the key with it while the distance is locked.
void MainWindow::movePositions(std::int64_t by)
{
    placePositions(m_document.session().options.m + by, false);
}

/// The tokens that the map of scores can hold: its length, or those of the tensors where there are fewer.
std::int64_t MainWindow::mapLength() const
{
    const FigureOptions& options = m_document.session().options;
    return std::min(options.settings.whole("map_length"), lastPosition() + 1);
}

/// What is looked at can lose its ground: tensors whose width no configuration in sight has any more, and a
/// part of a map that has become shorter. True when the view was changed for it.
bool MainWindow::leaveWhatIsGone()
{
    FigureOptions options = m_document.session().options;
    const std::vector<SessionConfiguration>& list = m_document.session().configurations;
    const bool isWithoutHead =
        options.content == Content::File && options.tensors &&
        std::none_of(list.begin(), list.end(), [&](const SessionConfiguration& configuration) {
            return !configuration.isHidden && configuration.config.headDim == options.tensors->headDim;
        });
    const std::int64_t length = mapLength();
    const bool isShorter = length < std::exchange(m_mapLength, length);
    if (isShorter &&
        (options.settings.whole("first_row") >= length || options.settings.whole("first_column") >= length))
        for (const char* key : {"first_row", "last_row", "first_column", "last_column"})
            options.settings.reset(key);
    if (isWithoutHead) {
        m_messageBar->showMessage({"tensors",
                                   MessageKind::Warning,
                                   tr("The tensors are closed: no configuration shown is %1 channels wide")
                                       .arg(options.tensors->headDim),
                                   {}});
        options.content = Content::Ones;
        options.tensors.reset(); // which they were is kept: "from a file" opens them again
    }
    if (options == m_document.session().options)
        return false;
    m_document.setOptions(options);
    return true;
}

void MainWindow::setPlaying(bool isPlaying)
{
    m_owed = 0.0;
    m_playClock.start();
    if (isPlaying)
        m_playTimer.start();
    else
        m_playTimer.stop();
    m_transport->setPlaying(isPlaying);
}

/// Positions follow the clock, not the frames: a slow machine shows fewer steps, not slower ones.
void MainWindow::advance()
{
    m_owed += m_speed * static_cast<double>(m_playClock.restart()) / 1000.0;
    const auto steps = static_cast<std::int64_t>(std::floor(m_owed));
    if (steps == 0)
        return;
    m_owed -= static_cast<double>(steps);
    if (m_document.session().options.m + steps >= lastPosition())
        setPlaying(false);
    movePositions(steps);
}

/// Keys of the canvas: they arrive here because figures leave them alone; boxes for text keep theirs.
void MainWindow::keyPressEvent(QKeyEvent* event)
{
    const QWidget* focus = QApplication::focusWidget();
    // Keys that no button or slider uses work wherever the focus is; the others only with a figure in focus.
    const bool isOnFigure = !focus || m_canvas->isAncestorOf(focus) || focus == m_canvas || focus == this;
    const bool isEverywhere = event->key() != Qt::Key_Space && event->key() != Qt::Key_Up &&
                              event->key() != Qt::Key_Down && !event->text().isEmpty();
    if (!isOnFigure && !isEverywhere) {
        QMainWindow::keyPressEvent(event);
        return;
    }
    const std::int64_t step = event->modifiers() & Qt::ShiftModifier ? 10 : 1;
    const auto turnPair = [this](int by) {
        editOptions([&](FigureOptions& options) {
            options.pair = std::clamp(options.pair + by, 0, selectedPairCount() - 1);
        });
    };
    switch (event->key()) {
    case Qt::Key_BracketLeft:
    case Qt::Key_BraceLeft: // Shift+[ on many keyboards
        movePositions(-step);
        break;
    case Qt::Key_BracketRight:
    case Qt::Key_BraceRight:
        movePositions(step);
        break;
    case Qt::Key_Up:
        turnPair(-1);
        break;
    case Qt::Key_Down:
        turnPair(1);
        break;
    case Qt::Key_Space:
        setPlaying(!m_playTimer.isActive());
        break;
    case Qt::Key_Escape: // first out of the range, then out of the figure
        if (FigureView* view = m_canvas->view(m_canvas->currentFigure()); view->isZoomed()) {
            view->showWholeRange();
            break;
        }
        showFigure(QStringLiteral("overview"));
        break;
    case Qt::Key_T:
        m_settings.windowTheme = windowStyle().theme == Theme::Dark ? WindowTheme::Light : WindowTheme::Dark;
        applyStyle();
        break;
    case Qt::Key_H:
        if (auto* panels = findChild<QAction*>("panelsAction"))
            panels->toggle();
        break;
    case Qt::Key_0:
        showFigure(QStringLiteral("overview"));
        break;
    default:
        if (event->key() > Qt::Key_0 && event->key() <= Qt::Key_9 &&
            event->key() - Qt::Key_0 <= m_figures.size())
            showFigure(m_figures[event->key() - Qt::Key_1].id);
        else
            QMainWindow::keyPressEvent(event);
    }
}

} // namespace ropewalk
