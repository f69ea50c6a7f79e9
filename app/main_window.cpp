// SPDX-License-Identifier: GPL-3.0-or-later
#include "main_window.h"

#include "core/reading.h"
#include "core/validate.h"
#include "widgets/figure_canvas.h"
#include "widgets/message_text.h"
#include "widgets/panels/config_list.h"
#include "widgets/panels/config_panel.h"
#include "widgets/panels/figure_bar.h"
#include "widgets/panels/figure_panel.h"
#include "widgets/panels/message_bar.h"
#include "widgets/panels/reading_panel.h"
#include "widgets/panels/section.h"
#include "widgets/panels/transport_bar.h"
#include "widgets/window_style.h"

#include <QApplication>
#include <QFileInfo>
#include <QLabel>
#include <QProgressBar>
#include <QScreen>
#include <QScrollArea>
#include <QStatusBar>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

/// Relative; what double arithmetic keeps of a frequency (two roundings of pow, and a margin).
constexpr double kReferenceTolerance = 1e-13;

QString asText(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

} // namespace

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

MainWindow::~MainWindow()
{
    disconnect(m_canvas, nullptr, this, nullptr); // figures that go out of sight with the window say so
}

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
    m_figurePanel = new FigurePanel;
    m_readingPanel = new ReadingPanel;
    auto* column = new QVBoxLayout(columnContent);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_configList);
    column->addWidget(m_configPanel, 1);
    column->addWidget(m_figurePanel);
    column->addWidget(m_readingPanel);

    for (const FigureInfo& figure : figureCatalog()) {
        const auto number = m_figures.size() + 1;
        m_figures.append({asText(figure.id), messageText(std::string(figure.title)),
                          number < 10 ? QString::number(number) : QString()});
    }
    QStringList ids;
    for (const FigureChoice& figure : std::as_const(m_figures))
        ids += figure.id;
    m_figureBar = new FigureBar(m_figures);
    m_messageBar = new MessageBar;
    m_canvas = new FigureCanvas(ids);
    m_transport = new TransportBar;
    auto* stage = new QWidget;
    auto* stageLayout = new QVBoxLayout(stage);
    stageLayout->setContentsMargins(0, 0, 0, 0);
    stageLayout->setSpacing(0);
    stageLayout->addWidget(m_figureBar);
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
    m_busyLabel = new QLabel;
    m_progress = new QProgressBar;
    m_progress->setFixedWidth(120);
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Computing"));
    m_cancel = new QToolButton;
    m_cancel->setText(tr("Cancel"));
    m_cancel->setObjectName("cancelButton");
    statusBar()->setSizeGripEnabled(false);
    statusBar()->addWidget(m_backendLabel, 1);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_busyLabel, m_progress, m_cancel, m_timeLabel})
        statusBar()->addPermanentWidget(widget);
    m_busyLabel->hide();
    m_progress->hide();
    m_cancel->hide();
}

void MainWindow::connectController()
{
    connect(&m_controller, &ComputeController::replied, this, &MainWindow::showReply);
    connect(&m_controller, &ComputeController::failed, this, [this](const Error& error) {
        m_canvas->showWaiting(messageText(error.message));
        report(error);
    });
    m_busyTimer.setSingleShot(true);
    m_busyTimer.setInterval(150);
    m_progressTimer.setSingleShot(true);
    m_progressTimer.setInterval(500);
    connect(&m_busyTimer, &QTimer::timeout, this, [this] {
        m_busyLabel->show();
        m_canvas->showWaiting(tr("computing…"));
    });
    connect(&m_progressTimer, &QTimer::timeout, this, [this] {
        m_progress->show();
        m_cancel->show();
    });
    connect(&m_controller, &ComputeController::progressed, this, [this](double share) {
        m_progress->setRange(0, 100);
        m_progress->setValue(static_cast<int>(std::lround(100.0 * share)));
        m_busyLabel->setText(tr("computing… %1 %").arg(m_progress->value()));
    });
    connect(m_cancel, &QToolButton::clicked, this, &MainWindow::cancelComputing);
    connect(&m_controller, &ComputeController::busyChanged, this, [this](bool isBusy) {
        if (isBusy) {
            if (!m_busyTimer.isActive() && !m_busyLabel->isVisible()) {
                m_busyLabel->setText(tr("computing…"));
                m_progress->setRange(0, 0); // until a share is told
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

/// The pictures stay, and say that they are of before.
void MainWindow::cancelComputing()
{
    m_controller.cancel();
    m_canvas->showWaiting(tr("Cancelled before this figure was computed"));
    m_messageBar->showMessage({"cancelled",
                               MessageKind::Information,
                               tr("Cancelled: the figures are those of before the last change"),
                               {{"again", tr("Compute")}}});
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
    QStringList cards;
    for (int i = 0; i < session.cardCount; ++i)
        cards += QString::fromStdString(session.cards[static_cast<std::size_t>(i)]);
    m_figureBar->setShown(figure, cards);
    m_canvas->setSelectedLetter(selected.letter);
    m_canvas->setCards(cards);
    m_canvas->setShown(figure);
    showFigurePanel();
    m_isShowing = false;
    updateTitle();
}

QString MainWindow::figureTitle(const QString& id) const
{
    const auto found = std::find_if(m_figures.begin(), m_figures.end(),
                                    [&](const FigureChoice& figure) { return figure.id == id; });
    return found == m_figures.end() ? id : found->title;
}

/// The settings of the figure that is looked at. Until somebody folds or unfolds them they are open where
/// they push nothing below the fold.
void MainWindow::showFigurePanel()
{
    const QString id = m_canvas->currentFigure();
    const bool wasShowing = m_isShowing;
    m_isShowing = true;
    m_figurePanel->setFigure(id.toStdString(), figureTitle(id), m_document.session().options);
    if (!m_isFigurePanelChosen) {
        const int others = m_configList->sizeHint().height() + m_configPanel->sizeHint().height() +
                           m_readingPanel->sizeHint().height();
        m_figurePanel->section()->setOpen(others + m_figurePanel->openHeight() <= m_column->height());
    }
    m_isShowing = wasShowing;
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
    m_messageBar->dismiss("cancelled");
    m_canvas->expect();
    m_controller.submit(std::move(request));
}

void MainWindow::showReply(const std::shared_ptr<const FigureReply>& reply)
{
    m_reply = reply;
    for (const FigureSpec& figure : reply->figures)
        m_canvas->setFigure(figure, reply->generation == m_controller.newestGeneration());
    const Provenance& provenance = reply->results->provenance;
    if (!provenance.backend.empty()) {
        QString text = tr("%1 %2").arg(QString::fromStdString(provenance.backend).toUpper(),
                                       QString::fromStdString(provenance.device));
        if (!provenance.fallbackReason.isEmpty())
            text += " · " + messageText(provenance.fallbackReason);
        m_backendLabel->setText(text);
        m_timeLabel->setText(tr("%1 · %2 ms")
                                 .arg(QString::fromStdString(provenance.precision))
                                 .arg(reply->milliseconds, 0, 'f', 1));
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

void MainWindow::showPointed(const QString& id)
{
    const FigureView* view = m_canvas->view(id);
    const std::optional<HoverTable>& table = view->readOut();
    QStringList letters;
    if (table && view->figure().configurations.size() > 1)
        for (const int configuration : table->configurations)
            letters += QString::fromStdString(
                view->figure().configurations[static_cast<std::size_t>(configuration)].letter);
    m_readingPanel->setPointed(table, letters);
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
    showFigurePanel();
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

} // namespace ropewalk
