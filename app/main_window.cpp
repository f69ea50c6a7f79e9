// SPDX-License-Identifier: GPL-3.0-or-later
#include "main_window.h"

#include "core/config_keys.h"
#include "core/io/model_file.h"
#include "core/reading.h"
#include "core/validate.h"
#include "file_text.h"
#include "widgets/export_dialog.h"
#include "widgets/figure_canvas.h"
#include "widgets/message_text.h"
#include "widgets/panels/config_list.h"
#include "widgets/panels/config_panel.h"
#include "widgets/panels/message_bar.h"
#include "widgets/panels/reading_panel.h"
#include "widgets/panels/transport_bar.h"
#include "widgets/window_style.h"

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QProgressBar>
#include <QPushButton>
#include <QRegularExpression>
#include <QScreen>
#include <QScrollArea>
#include <QShortcut>
#include <QStatusBar>
#include <QTabBar>
#include <QTextBrowser>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

const QString kOverview = QStringLiteral("overview");

/// Relative; what double arithmetic keeps of a frequency (two roundings of pow, and a margin).
constexpr double kReferenceTolerance = 1e-13;

/// The first letter of A–D that no configuration has.
std::pair<std::string, int> freeLetter(const std::vector<SessionConfiguration>& configurations)
{
    for (int colour = 0; colour < static_cast<int>(kMostConfigurations); ++colour) {
        const std::string letter(1, static_cast<char>('A' + colour));
        const bool isTaken =
            std::any_of(configurations.begin(), configurations.end(),
                        [&](const SessionConfiguration& each) { return each.letter == letter; });
        if (!isTaken)
            return {letter, colour};
    }
    return {"A", 0};
}

SessionConfiguration asOpened(RopeConfig config, const std::string& letter, int colour)
{
    SessionConfiguration opened;
    opened.original = config;
    opened.config = std::move(config);
    opened.letter = letter;
    opened.colour = colour;
    return opened;
}

/// A preview is not a result: it does not leave the window.
Error stillComputing()
{
    return {ErrorCode::Output, "the figure is still a preview; expected a moment without changes", {}};
}

QStringList figureIds()
{
    QStringList ids;
    for (const FigureInfo& figure : figureCatalog())
        ids << QString::fromUtf8(figure.id.data(), static_cast<qsizetype>(figure.id.size()));
    return ids;
}

} // namespace

Session firstSession(const std::vector<Preset>& presets)
{
    Session session;
    for (const Preset& preset : presets)
        if (preset.id == "llama-3.1-8b")
            session.configurations.push_back(asOpened(preset.config, "A", 0));
    RopeConfig plain;
    plain.name = "base 10 000";
    // The same training length, so that only the base and the rule differ.
    if (!session.configurations.empty())
        plain.maxPositionEmbeddings = trainingLength(session.configurations.front().config);
    session.configurations.push_back(asOpened(plain, "B", 1));
    return session;
}

MainWindow::MainWindow(std::unique_ptr<Engine> engine, std::vector<Preset> presets,
                       std::vector<ReferenceEntry> references, const AppSettings& settings, QWidget* parent)
    : QMainWindow(parent)
    , m_presets(std::move(presets))
    , m_references(std::move(references))
    , m_settings(settings)
    , m_document(firstSession(m_presets))
    , m_controller(std::move(engine))
{
    setAcceptDrops(true);
    // Before the first widget: outside the event loop a change of font reaches none that exists already.
    applyWindowStyle(*qApp, {windowTheme(), m_settings.scale});
    buildWidgets();
    buildMenus();
    connectPanels();
    connectController();
    applyStyle();
    const QSize room = screen()->availableSize();
    resize(std::min(1280, room.width()), std::min(800, room.height()));
    if (!m_settings.geometry.isEmpty())
        restoreGeometry(m_settings.geometry);
    showSession();
    submit();
    m_canvas->view(m_canvas->currentFigure())->setFocus(); // its keys work from the start
}

MainWindow::~MainWindow() = default;

void MainWindow::buildWidgets()
{
    // At a large lecture scale the column is higher than a projector's picture; it scrolls then, the window
    // stays.
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    m_column = scroll;
    auto* columnContent = new QWidget;
    columnContent->setObjectName("controlColumn");
    scroll->setWidget(columnContent);
    m_configList = new ConfigList;
    QList<PresetChoice> choices;
    for (const Preset& preset : m_presets)
        choices.append({QString::fromStdString(preset.id), QString::fromStdString(preset.name),
                        QString::fromStdString(preset.family), QString::fromStdString(preset.source)});
    m_configList->setPresets(choices);
    m_configPanel = new ConfigPanel;
    m_readingPanel = new ReadingPanel;
    auto* column = new QVBoxLayout(columnContent);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_configList);
    column->addWidget(m_configPanel, 1);
    column->addWidget(m_readingPanel);

    m_tabs = new QTabBar;
    m_tabs->setObjectName("figureTabs");
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    m_tabs->setUsesScrollButtons(true);
    m_tabs->setFocusPolicy(Qt::TabFocus);
    m_tabs->setAccessibleName(tr("Figures"));
    m_tabIds << kOverview;
    m_tabs->addTab(tr("Overview"));
    for (const FigureInfo& figure : figureCatalog()) {
        m_tabIds << QString::fromUtf8(figure.id.data(), static_cast<qsizetype>(figure.id.size()));
        m_tabs->addTab(messageText(std::string(figure.title)));
    }
    m_messageBar = new MessageBar;
    m_canvas = new FigureCanvas(figureIds());
    m_transport = new TransportBar;
    auto* stage = new QWidget;
    auto* stageLayout = new QVBoxLayout(stage);
    stageLayout->setContentsMargins(0, 0, 0, 0);
    stageLayout->setSpacing(0);
    stageLayout->addWidget(m_tabs);
    stageLayout->addWidget(m_messageBar);
    stageLayout->addWidget(m_canvas, 1);
    stageLayout->addWidget(m_transport);

    auto* all = new QWidget;
    auto* layout = new QHBoxLayout(all);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_column);
    layout->addWidget(stage, 1);
    setCentralWidget(all);

    m_backendLabel = new QLabel;
    m_timeLabel = new QLabel;
    m_busyLabel = new QLabel(tr("computing…"));
    m_progress = new QProgressBar;
    m_progress->setRange(0, 0);
    m_progress->setFixedWidth(120);
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Computing"));
    m_cancel = new QToolButton;
    m_cancel->setText(tr("Cancel"));
    statusBar()->setSizeGripEnabled(false);
    statusBar()->addWidget(m_backendLabel, 1);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_busyLabel, m_progress, m_cancel, m_timeLabel})
        statusBar()->addPermanentWidget(widget);
    m_busyLabel->hide();
    m_progress->hide();
    m_cancel->hide();
}

void MainWindow::buildMenus()
{
    const auto add = [this](QMenu* menu, const QString& text, const QKeySequence& key, auto slot) {
        QAction* action = menu->addAction(text);
        action->setShortcut(key);
        connect(action, &QAction::triggered, this, slot);
        return action;
    };
    QMenu* file = menuBar()->addMenu(tr("&File"));
    add(file, tr("&Open…"), QKeySequence::Open, [this] { openWithDialog(); });
    m_recentMenu = file->addMenu(tr("Open &recent"));
    add(file, tr("&New"), QKeySequence::New, [this] {
        if (mayClose()) {
            m_document.startAnew(firstSession(m_presets));
            m_messageBar->dismiss("notes");
        }
    });
    file->addSeparator();
    add(file, tr("&Save"), QKeySequence::Save, [this] { save(); });
    add(file, tr("Save &as…"), QKeySequence(tr("Ctrl+Shift+S")), [this] { saveAs(); });
    file->addSeparator();
    add(file, tr("&Export figure…"), QKeySequence(tr("Ctrl+E")), [this] { exportWithDialog(); });
    file->addSeparator();
    add(file, tr("&Quit"), QKeySequence::Quit, [this] { close(); });
    rebuildRecentMenu();

    QMenu* edit = menuBar()->addMenu(tr("&Edit"));
    QAction* undo = m_document.undoStack().createUndoAction(this, tr("&Undo"));
    undo->setShortcut(QKeySequence::Undo);
    QAction* redo = m_document.undoStack().createRedoAction(this, tr("&Redo"));
    redo->setShortcut(QKeySequence::Redo);
    edit->addAction(undo);
    edit->addAction(redo);
    edit->addSeparator();
    add(edit, tr("&Copy figure"), QKeySequence(tr("Ctrl+Shift+C")), [this] { copyFigure(); });
    add(edit, tr("&Paste configuration"), QKeySequence::Paste, [this] { pasteConfiguration(); });

    QMenu* view = menuBar()->addMenu(tr("&View"));
    auto* windowThemes = new QActionGroup(this);
    QMenu* themeMenu = view->addMenu(tr("&Theme"));
    const auto addTheme = [&](const QString& text, WindowTheme theme) {
        QAction* action = themeMenu->addAction(text);
        action->setCheckable(true);
        action->setChecked(m_settings.windowTheme == theme);
        windowThemes->addAction(action);
        connect(action, &QAction::triggered, this, [this, theme] {
            m_settings.windowTheme = theme;
            applyStyle();
        });
    };
    addTheme(tr("as the &system"), WindowTheme::System);
    addTheme(tr("&light"), WindowTheme::Light);
    addTheme(tr("&dark"), WindowTheme::Dark);
    auto* figureThemes = new QActionGroup(this);
    QMenu* figureThemeMenu = view->addMenu(tr("Theme of &figures"));
    const auto addFigureTheme = [&](const QString& text, bool follows, Theme theme) {
        QAction* action = figureThemeMenu->addAction(text);
        action->setCheckable(true);
        action->setChecked(m_settings.figuresFollowWindow == follows &&
                           (follows || m_settings.figureTheme == theme));
        figureThemes->addAction(action);
        connect(action, &QAction::triggered, this, [this, follows, theme] {
            m_settings.figuresFollowWindow = follows;
            m_settings.figureTheme = theme;
            applyStyle();
        });
    };
    addFigureTheme(tr("as the &window"), true, Theme::Light);
    addFigureTheme(tr("&light"), false, Theme::Light);
    addFigureTheme(tr("&dark"), false, Theme::Dark);
    addFigureTheme(tr("&print"), false, Theme::Print);
    view->addSeparator();
    const auto setScale = [this](double scale) {
        m_settings.scale = std::clamp(scale, 1.0, 2.5);
        applyStyle();
    };
    add(view, tr("&Larger"), QKeySequence::ZoomIn, [this, setScale] { setScale(m_settings.scale + 0.1); });
    add(view, tr("&Smaller"), QKeySequence::ZoomOut, [this, setScale] { setScale(m_settings.scale - 0.1); });
    add(view, tr("&Normal size"), QKeySequence(tr("Ctrl+0")), [setScale] { setScale(1.0); });
    view->addSeparator();
    QAction* panels = view->addAction(tr("&Panels"));
    panels->setCheckable(true);
    panels->setChecked(m_settings.showsPanels);
    panels->setShortcut(QKeySequence(tr("F9")));
    panels->setObjectName("panelsAction");
    connect(panels, &QAction::toggled, this, [this](bool isShown) {
        m_settings.showsPanels = isShown;
        m_column->setVisible(isShown);
    });
    m_column->setVisible(m_settings.showsPanels);
    add(view, tr("F&ull screen"), QKeySequence(tr("F11")),
        [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); });

    QMenu* figure = menuBar()->addMenu(tr("F&igure"));
    for (int i = 0; i < m_tabIds.size(); ++i)
        add(figure, m_tabs->tabText(i), QKeySequence(QStringLiteral("Ctrl+%1").arg(i == 0 ? 9 : i)),
            [this, i] { showFigure(m_tabIds[i]); });
    figure->addSeparator();
    QAction* logarithmic = figure->addAction(tr("Decay: &logarithmic distance"));
    logarithmic->setCheckable(true);
    logarithmic->setObjectName("logAction");
    connect(logarithmic, &QAction::triggered, this, [this](bool isOn) {
        editOptions([isOn](FigureOptions& options) { options.isDistanceLogarithmic = isOn; });
    });
    QAction* bound = figure->addAction(tr("Decay: &upper bound of RoFormer"));
    bound->setCheckable(true);
    bound->setObjectName("boundAction");
    connect(bound, &QAction::triggered, this,
            [this](bool isOn) { editOptions([isOn](FigureOptions& options) { options.showBound = isOn; }); });
    QMenu* distance = figure->addMenu(tr("Decay: &longest distance"));
    auto* distances = new QActionGroup(this);
    for (const std::int64_t length : {4096LL, 8192LL, 32768LL, 131072LL, 1048576LL}) {
        QAction* action = distance->addAction(QString::fromStdString(groupedDigits(length)));
        action->setCheckable(true);
        action->setData(static_cast<qlonglong>(length));
        distances->addAction(action);
        connect(action, &QAction::triggered, this, [this, length] {
            editOptions([length](FigureOptions& options) { options.maxDistance = length; });
        });
    }
    distance->setObjectName("distanceMenu");

    QMenu* help = menuBar()->addMenu(tr("&Help"));
    add(help, tr("&Keys"), QKeySequence::HelpContents, [this] {
        showText(
            tr("Keys"),
            tr("<p>With a figure in focus</p><table cellpadding='3'>"
               "<tr><td><b>Up, Down</b></td><td>pair</td></tr>"
               "<tr><td><b>Space</b></td><td>play and pause</td></tr></table>"
               "<p>Everywhere but in a box for text</p><table cellpadding='3'>"
               "<tr><td><b>[ &nbsp; ]</b></td><td>position by 1, with Shift by 10</td></tr>"
               "<tr><td><b>1 to 4, 0</b></td><td>one figure, all figures (Ctrl+1 to Ctrl+4, Ctrl+9)</td></tr>"
               "<tr><td><b>T</b></td><td>light and dark</td></tr>"
               "<tr><td><b>H</b></td><td>panels</td></tr></table>"
               "<p>Everywhere</p><table cellpadding='3'>"
               "<tr><td><b>F9</b></td><td>panels</td></tr>"
               "<tr><td><b>F11</b></td><td>full screen</td></tr>"
               "<tr><td><b>Ctrl++ &nbsp; Ctrl+− &nbsp; Ctrl+0</b></td><td>size of everything</td></tr>"
               "<tr><td><b>Ctrl+Z &nbsp; Ctrl+Shift+Z</b></td><td>undo and redo</td></tr>"
               "<tr><td><b>Ctrl+E</b></td><td>export the figure</td></tr></table>"));
    });
    add(help, tr("&About Ropewalk"), {}, [this] {
        const std::string_view number = version();
        QMessageBox::about(
            this, tr("About Ropewalk"),
            tr("Ropewalk %1: see rotary position embedding turn.\n\nFree software under the GNU "
               "General Public License, version 3 or later. Drawn with Qt and QCustomPlot.")
                .arg(QString::fromUtf8(number.data(), static_cast<qsizetype>(number.size()))));
    });
}

void MainWindow::connectPanels()
{
    connect(&m_document, &Document::configurationsChanged, this, [this] {
        showSession();
        submit();
    });
    connect(&m_document, &Document::viewChanged, this, [this] {
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
                    list[static_cast<std::size_t>(selected)].config = config;
                });
            });

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

    connect(m_tabs, &QTabBar::currentChanged, this, [this](int index) {
        if (!m_isShowing)
            showFigure(m_tabIds.value(index));
    });
    connect(m_canvas, &FigureCanvas::pairPicked, this,
            [this](int pair) { editOptions([pair](FigureOptions& options) { options.pair = pair; }); });
    connect(m_canvas, &FigureCanvas::distancePicked, this, [this](qint64 distance) {
        editOptions([distance](FigureOptions& options) { options.m = options.n + distance; });
    });
    connect(m_canvas, &FigureCanvas::positionsDragged, this, [this](qint64 m, qint64 n) {
        const FigureOptions& now = m_document.session().options;
        Positions moved{std::clamp<qint64>(m, 0, kLargestPosition),
                        std::clamp<qint64>(n, 0, kLargestPosition)};
        if (m_document.session().isDistanceLocked) // the other arrow turns with the one that is dragged
            moved =
                m != now.m ? movedTogether({now.m, now.n}, m, false) : movedTogether({now.m, now.n}, n, true);
        editOptions([&](FigureOptions& options) {
            options.m = moved.m;
            options.n = moved.n;
        });
    });
    connect(m_canvas, &FigureCanvas::enlargeRequested, this, [this](const QString& id) {
        showFigure(m_document.session().figure == "overview" ? id : kOverview);
    });
    connect(m_canvas, &FigureCanvas::contextRequested, this,
            [this](const QString& id, const QPoint& position) {
                QMenu menu(this);
                m_canvas->view(id)->setFocus();
                menu.addAction(tr("&Copy figure"), this, &MainWindow::copyFigure);
                menu.addAction(tr("&Export figure…"), this, &MainWindow::exportWithDialog);
                menu.exec(position);
            });
    connect(m_canvas, &FigureCanvas::visibleFiguresChanged, this, &MainWindow::submit);

    connect(m_messageBar, &MessageBar::actionTriggered, this, [this](const QString&, const QString& action) {
        if (action == "details")
            showNotes();
    });
}

void MainWindow::connectController()
{
    connect(&m_controller, &ComputeController::replied, this, &MainWindow::showReply);
    connect(&m_controller, &ComputeController::failed, this, &MainWindow::report);
    m_busyTimer.setSingleShot(true);
    m_busyTimer.setInterval(150);
    m_progressTimer.setSingleShot(true);
    m_progressTimer.setInterval(500);
    connect(&m_busyTimer, &QTimer::timeout, m_busyLabel, &QLabel::show);
    connect(&m_progressTimer, &QTimer::timeout, this, [this] {
        m_progress->show();
        m_cancel->show();
    });
    connect(m_cancel, &QToolButton::clicked, &m_controller, &ComputeController::cancel);
    connect(&m_controller, &ComputeController::busyChanged, this, [this](bool isBusy) {
        if (isBusy) {
            if (!m_busyTimer.isActive() && !m_busyLabel->isVisible()) {
                m_busyTimer.start();
                m_progressTimer.start();
            }
            return;
        }
        m_busyTimer.stop();
        m_progressTimer.stop();
        m_busyLabel->hide();
        m_progress->hide();
        m_cancel->hide();
    });
}

void MainWindow::showSession()
{
    m_isShowing = true;
    const Session& session = m_document.session();
    m_configList->setConfigurations(session.configurations, session.selected);
    const SessionConfiguration& selected = session.configurations[static_cast<std::size_t>(session.selected)];
    m_configPanel->setConfig(selected.config, selected.original, validate(selected.config));
    m_transport->setPositions(session.options.m, session.options.n);
    m_transport->setLocked(session.isDistanceLocked);
    m_transport->setPair(std::min(session.options.pair, selectedPairCount() - 1), selectedPairCount());
    const QString figure = QString::fromStdString(session.figure);
    m_tabs->setCurrentIndex(std::max<qsizetype>(0, m_tabIds.indexOf(figure)));
    m_canvas->setSelectedLetter(selected.letter);
    m_canvas->setShown(m_tabIds.contains(figure) ? figure : kOverview);
    if (auto* action = findChild<QAction*>("logAction"))
        action->setChecked(session.options.isDistanceLogarithmic);
    if (auto* action = findChild<QAction*>("boundAction"))
        action->setChecked(session.options.showBound);
    if (auto* menu = findChild<QMenu*>("distanceMenu"))
        for (QAction* action : menu->actions())
            action->setChecked(action->data().toLongLong() == session.options.maxDistance);
    m_isShowing = false;
    updateTitle();
}

int MainWindow::selectedPairCount() const
{
    const Session& session = m_document.session();
    return std::max(1, session.configurations[static_cast<std::size_t>(session.selected)].config.headDim / 2);
}

void MainWindow::submit()
{
    const Session& session = m_document.session();
    FigureRequest request;
    request.compute.configurations = shownConfigurations(session);
    request.compute.options = session.options;
    request.compute.options.focus = session.configurations[static_cast<std::size_t>(session.selected)].letter;
    request.compute.wantsBound = session.options.showBound;
    request.compute.wantsDecay = false;
    // A pair that a narrower head no longer has: the last one is shown instead.
    int mostPairs = 1;
    for (const FigureConfiguration& shown : request.compute.configurations)
        mostPairs = std::max(mostPairs, shown.config.headDim / 2);
    request.compute.options.pair = std::min(session.options.pair, mostPairs - 1);
    for (const QString& id : m_canvas->visibleFigures()) {
        const FigureInfo* figure = findFigure(id.toStdString());
        request.figures.push_back(id.toStdString());
        request.compute.wantsDecay = request.compute.wantsDecay || figure->needsDecay;
    }
    m_controller.submit(std::move(request));
}

void MainWindow::showReply(const std::shared_ptr<const FigureReply>& reply)
{
    m_reply = reply;
    for (const FigureSpec& figure : reply->figures)
        m_canvas->setFigure(figure);
    const Provenance& provenance = reply->results->provenance;
    if (!provenance.backend.empty()) {
        QString text = tr("%1 %2").arg(QString::fromStdString(provenance.backend).toUpper(),
                                       QString::fromStdString(provenance.device));
        if (!provenance.fallbackReason.isEmpty())
            text += " · " + messageText(provenance.fallbackReason);
        m_backendLabel->setText(text);
        m_timeLabel->setText(tr("%1 · %2 ms")
                                 .arg(QString::fromStdString(provenance.precision))
                                 .arg(provenance.milliseconds, 0, 'f', 1));
    }
    m_messageBar->dismiss("compute");
    showReading();
}

QString MainWindow::backendText() const
{
    return m_backendLabel->text();
}

void MainWindow::showReading()
{
    const Session& session = m_document.session();
    const std::string& letter = session.configurations[static_cast<std::size_t>(session.selected)].letter;
    std::optional<Reading> reading;
    const RopeConfig& config = session.configurations[static_cast<std::size_t>(session.selected)].config;
    const FrequencyRuleInfo& rule = info(config.rule);
    m_readingPanel->setVariant(
        QString::fromUtf8(rule.formula.data(), static_cast<qsizetype>(rule.formula.size())),
        QString::fromUtf8(rule.source.data(), static_cast<qsizetype>(rule.source.size())));
    if (m_reply) {
        for (const ConfigurationResult& result : m_reply->results->configurations) {
            if (result.shown.letter != letter || !result.scores)
                continue;
            reading = readingOf(result, m_reply->results->options);
            const auto match = compareWithReferences(result.shown.config, result.table, m_references);
            if (match && match->largestRelativeDifference <= kReferenceTolerance)
                m_readingPanel->setReferenceMatch(
                    tr("matches the reference to %1")
                        .arg(std::max(match->largestRelativeDifference, 1e-16), 0, 'g', 1));
        }
    }
    m_readingPanel->setReading(reading);
}

Theme MainWindow::windowTheme() const
{
    if (m_settings.windowTheme == WindowTheme::System)
        return systemTheme();
    return m_settings.windowTheme == WindowTheme::Dark ? Theme::Dark : Theme::Light;
}

void MainWindow::applyStyle()
{
    const Theme theme = windowTheme();
    applyWindowStyle(*qApp, {theme, m_settings.scale});
    m_column->setFixedWidth(std::min(scaledPixels(292), std::max(292, width() / 3)));
    RenderOptions options;
    options.theme = m_settings.figuresFollowWindow ? theme : m_settings.figureTheme;
    options.scale = m_settings.scale;
    m_canvas->setRenderOptions(options);
}

void MainWindow::resizeEvent(QResizeEvent* event)
{
    QMainWindow::resizeEvent(event);
    m_column->setFixedWidth(std::min(scaledPixels(292), std::max(292, width() / 3)));
}

void MainWindow::changeEvent(QEvent* event)
{
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::ThemeChange && m_settings.windowTheme == WindowTheme::System)
        applyStyle();
}

void MainWindow::updateTitle()
{
    const QString path = m_document.path();
    const QString name = path.isEmpty() ? tr("untitled") : QFileInfo(path).fileName();
    setWindowTitle(tr("%1[*] – Ropewalk").arg(name));
    setWindowModified(m_document.isModified());
}

// Files
// ---------------------------------------------------------------------------------------------------------

void MainWindow::report(const Error& error)
{
    const QString text = messageText(error.message);
    const QString place = QFileInfo(QString::fromStdString(error.context)).fileName();
    m_messageBar->showMessage({place.isEmpty() ? "compute" : "file",
                               MessageKind::Error,
                               place.isEmpty() ? text : place + ": " + text,
                               {}});
}

bool MainWindow::openFile(const QString& path)
{
    m_messageBar->dismiss("file");
    if (isGgufFile(path.toStdString()))
        return placeModel(path, false);
    const Result<std::string> text = readTextFile(path);
    if (!text) {
        report(text.error());
        return false;
    }
    if (!looksLikeSession(*text))
        return placeModel(path, false);
    if (!mayClose())
        return false;
    const Result<std::vector<Issue>> notes = m_document.openSession(path);
    if (!notes) {
        report(notes.error());
        return false;
    }
    m_notes = *notes;
    m_notesTitle = QFileInfo(path).fileName();
    if (!m_notes.empty())
        m_messageBar->showMessage(
            {"notes",
             MessageKind::Warning,
             tr("%1: %n remark(s) on reading", nullptr, static_cast<int>(m_notes.size())).arg(m_notesTitle),
             {{"details", tr("Details")}}});
    remember(path);
    return true;
}

bool MainWindow::addFile(const QString& path)
{
    return placeModel(path, true);
}

/// Reads a model's configuration; its first configuration takes the place of the selected one (or a place of
/// its own), the others places of their own as long as there are any.
bool MainWindow::placeModel(const QString& path, bool isAdded)
{
    const QString name = QFileInfo(path).completeBaseName();
    Result<ModelReading> reading = readModelFile(path.toStdString(), name.toStdString());
    if (!reading) {
        report(reading.error());
        return false;
    }
    m_notes = reading->notes;
    m_notesTitle = QFileInfo(path).fileName();
    if (reading->configurations.empty()) {
        m_messageBar->showMessage({"notes",
                                   MessageKind::Warning,
                                   tr("%1: no rotary embedding was found in this file").arg(m_notesTitle),
                                   {{"details", tr("Details")}}});
        return false;
    }
    std::vector<SessionConfiguration> list = m_document.session().configurations;
    int selected = m_document.session().selected;
    std::size_t placed = 0;
    for (RopeConfig config : reading->configurations) {
        if (config.layerType) // several rows of one model are told apart by the kind of layer
            config.name += ", " + *config.layerType;
        m_notes.insert(m_notes.end(), config.notes.begin(), config.notes.end());
        if (placed == 0 && !isAdded) {
            SessionConfiguration& place = list[static_cast<std::size_t>(selected)];
            place = asOpened(config, place.letter, place.colour);
        } else if (list.size() < kMostConfigurations) {
            const auto [letter, colour] = freeLetter(list);
            list.push_back(asOpened(config, letter, colour));
            if (placed == 0)
                selected = static_cast<int>(list.size()) - 1;
        } else {
            break;
        }
        ++placed;
    }
    if (placed == 0) {
        m_messageBar->showMessage({"notes",
                                   MessageKind::Warning,
                                   tr("There is room for four configurations: remove one first"),
                                   {}});
        return false;
    }
    m_document.editConfigurations(std::move(list), selected, tr("open %1").arg(m_notesTitle));
    int assumed = 0;
    int contradictions = 0;
    for (const Issue& note : m_notes) {
        assumed += note.severity == Severity::Assumed;
        contradictions += note.severity == Severity::Conflict || note.severity == Severity::Warning;
    }
    QString said = tr("Read %1").arg(m_notesTitle);
    if (assumed > 0)
        said += tr(" · %1 assumed").arg(assumed);
    if (contradictions > 0)
        said += tr(" · %1 to look at").arg(contradictions);
    if (placed < reading->configurations.size())
        said += tr(" · %1 kinds of layers found no room").arg(reading->configurations.size() - placed);
    m_messageBar->showMessage({"notes",
                               contradictions > 0 ? MessageKind::Warning : MessageKind::Information,
                               said,
                               {{"details", tr("Details")}}});
    remember(path);
    return true;
}

/// A config.json or a bare block of rope parameters, for the selected configuration.
void MainWindow::pasteConfiguration()
{
    std::vector<SessionConfiguration> list = m_document.session().configurations;
    const int selected = m_document.session().selected;
    SessionConfiguration& place = list[static_cast<std::size_t>(selected)];
    const QString text = QApplication::clipboard()->text();
    const Result<RopeConfig> pasted = pastedConfig(text.toStdString(), place.config);
    if (!pasted) {
        report(pasted.error());
        return;
    }
    place.config = *pasted;
    m_notes = pasted->notes;
    m_notesTitle = tr("pasted text");
    const QString letter = QString::fromStdString(place.letter);
    m_document.editConfigurations(std::move(list), selected, tr("paste a configuration"));
    m_messageBar->showMessage(
        {"notes", MessageKind::Information, tr("Pasted into %1").arg(letter), {{"details", tr("Details")}}});
}

void MainWindow::showNotes()
{
    QString html = "<table cellpadding='4'>";
    for (const Issue& note : m_notes) {
        const std::string_view kind = word(note.severity);
        html += "<tr><td>" + QString::fromUtf8(kind.data(), static_cast<qsizetype>(kind.size())) +
                "</td><td><b>" + QString::fromStdString(note.field).toHtmlEscaped() + "</b></td><td>" +
                messageText(note.text).toHtmlEscaped() + "</td></tr>";
    }
    showText(tr("What was read: %1").arg(m_notesTitle), html + "</table>");
}

/// A text that may be longer than the screen: it scrolls, and the button stays in sight.
void MainWindow::showText(const QString& title, const QString& html)
{
    QDialog dialog(this);
    dialog.setWindowTitle(title);
    auto* text = new QTextBrowser;
    text->setHtml(html);
    text->setAccessibleName(title);
    auto* close = new QPushButton(tr("&Close"));
    connect(close, &QPushButton::clicked, &dialog, &QDialog::accept);
    auto* layout = new QVBoxLayout(&dialog);
    layout->addWidget(text);
    layout->addWidget(close, 0, Qt::AlignRight);
    const QSize room = screen()->availableSize();
    dialog.resize(std::min(720, room.width() - 24), std::min(520, room.height() - 60));
    dialog.exec();
}

void MainWindow::openWithDialog()
{
    const QString path = QFileDialog::getOpenFileName(
        this, tr("Open"), m_settings.lastFolder, tr("Sessions and models (*.json *.gguf);;All files (*)"));
    if (!path.isEmpty())
        openFile(path);
}

bool MainWindow::save()
{
    return m_document.path().isEmpty() ? saveAs() : saveTo(m_document.path());
}

bool MainWindow::saveAs()
{
    const std::string& model = m_document.session().configurations.front().config.name;
    const QString suggestion =
        m_settings.lastFolder + "/" +
        QString::fromStdString(model).toLower().replace(QRegularExpression("[^a-z0-9.]+"), "-") +
        ".rope.json";
    QString path = QFileDialog::getSaveFileName(this, tr("Save session"), suggestion,
                                                tr("Ropewalk sessions (*.rope.json)"));
    if (path.isEmpty())
        return false;
    if (!path.endsWith(".json"))
        path += ".rope.json";
    return saveTo(path);
}

bool MainWindow::saveTo(const QString& path)
{
    const Result<void> saved = m_document.saveTo(path);
    if (!saved) {
        report(saved.error());
        return false;
    }
    remember(path);
    return true;
}

void MainWindow::remember(const QString& path)
{
    const QString whole = QFileInfo(path).absoluteFilePath();
    m_settings.lastFolder = QFileInfo(path).absolutePath();
    m_settings.recentFiles.removeAll(whole);
    m_settings.recentFiles.prepend(whole);
    while (m_settings.recentFiles.size() > 8)
        m_settings.recentFiles.removeLast();
    rebuildRecentMenu();
}

void MainWindow::rebuildRecentMenu()
{
    m_recentMenu->clear();
    for (const QString& path : std::as_const(m_settings.recentFiles))
        m_recentMenu->addAction(QFileInfo(path).fileName(), this, [this, path] { openFile(path); })
            ->setToolTip(path);
    m_recentMenu->setEnabled(!m_settings.recentFiles.isEmpty());
}

FigureSpec MainWindow::currentFigure() const
{
    return m_canvas->figure(m_canvas->currentFigure());
}

bool MainWindow::exportTo(const QString& path, const QString& figure, const ExportOptions& options)
{
    const Result<QByteArray> picture = m_canvas->figure(figure).isCoarse
                                           ? Result<QByteArray>(stillComputing())
                                           : exportFigure(m_canvas->figure(figure), options);
    if (!picture) {
        report(picture.error());
        return false;
    }
    const Result<void> written = writeFile(path, *picture);
    if (!written) {
        report(written.error());
        return false;
    }
    m_messageBar->showMessage(
        {"export", MessageKind::Information, tr("Written: %1").arg(QFileInfo(path).fileName()), {}});
    return true;
}

void MainWindow::exportWithDialog()
{
    const QString figure = m_canvas->currentFigure();
    ExportDialog dialog(currentFigure(), m_settings.exportOptions, this);
    if (dialog.exec() != QDialog::Accepted)
        return;
    m_settings.exportOptions = dialog.options();
    const QString ending =
        QStringList{"pdf", "svg", "png"}.at(static_cast<int>(m_settings.exportOptions.format));
    QString path = QFileDialog::getSaveFileName(this, tr("Export figure"),
                                                m_settings.lastFolder + "/" + figure + "." + ending,
                                                QString("%1 (*.%2)").arg(ending.toUpper(), ending));
    if (path.isEmpty())
        return;
    if (!path.endsWith("." + ending))
        path += "." + ending;
    exportTo(path, figure, m_settings.exportOptions);
}

void MainWindow::copyFigure()
{
    if (currentFigure().isCoarse) {
        report(stillComputing());
        return;
    }
    ExportOptions options = m_settings.exportOptions;
    options.format = ExportFormat::Svg;
    const Result<QByteArray> svg = exportFigure(currentFigure(), options);
    options.format = ExportFormat::Png;
    const Result<QByteArray> png = exportFigure(currentFigure(), options);
    if (!svg || !png) {
        report(!svg ? svg.error() : png.error());
        return;
    }
    auto* offer = new QMimeData;
    offer->setData("image/svg+xml", *svg);
    offer->setData("image/png", *png);
    QApplication::clipboard()->setMimeData(offer);
    m_messageBar->showMessage({"export", MessageKind::Information, tr("Copied as SVG and PNG"), {}});
}

bool MainWindow::mayClose()
{
    if (!m_document.isModified())
        return true;
    const auto answer = QMessageBox::question(this, tr("Ropewalk"), tr("The session was changed. Save it?"),
                                              QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel);
    return answer == QMessageBox::Discard || (answer == QMessageBox::Save && save());
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    if (!mayClose()) {
        event->ignore();
        return;
    }
    m_settings.geometry = saveGeometry();
    saveSettings(m_settings);
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (event->mimeData()->hasUrls())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    const QList<QUrl> urls = event->mimeData()->urls();
    for (int i = 0; i < urls.size(); ++i) {
        const QString path = urls[i].toLocalFile();
        if (i == 0 ? !openFile(path) : !addFile(path))
            break;
    }
    event->acceptProposedAction();
}

// Changes
// -------------------------------------------------------------------------------------------------------

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
}

void MainWindow::showFigure(const QString& id)
{
    m_document.setFigure(id.toStdString());
    // Whoever chooses a figure goes on with it: its keys work at once. Arrow keys on the tabs stay there.
    if (!m_tabs->hasFocus())
        m_canvas->view(m_canvas->currentFigure())->setFocus(Qt::OtherFocusReason);
}

/// Moves the query, and the key with it while the distance is locked.
void MainWindow::movePositions(std::int64_t by)
{
    const FigureOptions& now = m_document.session().options;
    Positions moved{now.m, now.n};
    if (m_document.session().isDistanceLocked)
        moved = movedTogether(moved, now.m + by, false);
    else
        moved.m = std::clamp<std::int64_t>(now.m + by, 0, kLargestPosition);
    editOptions([&](FigureOptions& options) {
        options.m = moved.m;
        options.n = moved.n;
    });
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
    if (m_document.session().options.m + steps >= kLargestPosition)
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
    case Qt::Key_T:
        m_settings.windowTheme = windowStyle().theme == Theme::Dark ? WindowTheme::Light : WindowTheme::Dark;
        applyStyle();
        break;
    case Qt::Key_H:
        if (auto* panels = findChild<QAction*>("panelsAction"))
            panels->toggle();
        break;
    default:
        if (event->key() >= Qt::Key_0 && event->key() < Qt::Key_0 + m_tabIds.size())
            showFigure(m_tabIds[event->key() - Qt::Key_0]);
        else
            QMainWindow::keyPressEvent(event);
    }
}

} // namespace ropewalk
