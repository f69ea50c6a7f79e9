// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app_settings.h"
#include "compute_controller.h"
#include "document.h"
#include "session_edits.h"

#include "core/preset.h"
#include "core/reference_check.h"
#include "widgets/panels/figure_bar.h"

#include <QElapsedTimer>
#include <QHash>
#include <QMainWindow>
#include <QTimer>

#include <cstdint>
#include <functional>

class QLabel;
class QProgressBar;
class QToolButton;

namespace ropewalk {

class ConfigList;
class ConfigPanel;
class FigureCanvas;
class FigurePanel;
class MessageBar;
class ReadingPanel;
class TransportBar;

/// The window: hands values from the document to the panels and the controller, and their changes back. Holds
/// no numbers of its own.
class MainWindow : public QMainWindow
{
    Q_OBJECT
public:
    MainWindow(std::unique_ptr<Engine> engine, std::vector<Preset> presets,
               std::vector<ReferenceEntry> references, const AppSettings& settings,
               QWidget* parent = nullptr);
    ~MainWindow() override;

    Document& document() { return m_document; }
    FigureCanvas& canvas() { return *m_canvas; }
    ConfigPanel& configPanel() { return *m_configPanel; }
    TransportBar& transport() { return *m_transport; }
    FigureBar& figureBar() { return *m_figureBar; }
    FigurePanel& figurePanel() { return *m_figurePanel; }
    ReadingPanel& readingPanel() { return *m_readingPanel; }
    MessageBar& messageBar() { return *m_messageBar; }
    ComputeController& controller() { return m_controller; }
    /// The last reply that is shown, or null before the first.
    std::shared_ptr<const FigureReply> shownReply() const { return m_reply; }
    QString backendText() const; ///< of the status bar

    /// Opens a session, or a model's configuration in place of the selected one. False when the file was
    /// refused; the reason is in the message bar and nothing changed.
    bool openFile(const QString& path);
    bool addFile(const QString& path); ///< a model's configuration beside the present ones
    /// Shows queries and keys of a file or built-in ones; the built-in ones bring their model's configuration
    /// where none is as wide. False when they were refused, also a file where no configuration has its
    /// head_dim; the reason is in the message bar and nothing changed.
    bool openTensors(const TensorChoice& choice);
    bool saveTo(const QString& path);
    bool exportTo(const QString& path, const QString& figure, const ExportOptions& options);

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void buildMenus();
    void buildWidgets();
    void connectPanels();
    void connectConfigurations();
    void connectStage();
    void connectController();

    void showSession(); ///< document → panels
    void showReply(const std::shared_ptr<const FigureReply>& reply);
    void showReading();
    void showPointed(const QString& id); ///< the reading of what is under the pointer
    void showFigurePanel();
    void cancelComputing();
    void submit(); ///< document → controller
    Theme windowTheme() const;
    void applyStyle();
    void updateTitle();

    void openWithDialog();
    bool save();
    bool saveAs();
    void exportWithDialog();
    void copyFigure();
    bool mayClose();
    void remember(const QString& path);
    void rebuildRecentMenu();
    void report(const Error& error);
    void showNotes();
    void showText(const QString& title, const QString& html);
    bool placeModel(const QString& path, bool isAdded);
    void chooseTensors(); ///< a menu of the built-in ones and of a file
    void pasteConfiguration();
    void addConfiguration(RopeConfig config, const QString& what);
    void pickTurningPair(); ///< where the picked one stands still in the configuration that was opened
    void editList(const QString& what,
                  const std::function<void(std::vector<SessionConfiguration>&, int&)>& change);
    void editOptions(const std::function<void(FigureOptions&)>& change);
    void movePositions(std::int64_t by);
    std::int64_t lastPosition() const;
    std::int64_t mapLength() const;
    bool leaveWhatIsGone();
    void placePositions(std::int64_t position, bool isKey);
    void narrowFigure(const QString& id, const QRectF& range);
    void showFigure(const QString& id);
    void showCount(int count);
    void walkFigures(int by);
    void chooseForCard(int card, const QPoint& globalPosition);
    QString figureTitle(const QString& id) const;
    bool isFinished(const QString& figure) const;
    void setPlaying(bool isPlaying);
    void advance();
    int selectedPairCount() const;
    FigureSpec currentFigure() const;

    std::vector<Preset> m_presets;
    std::vector<ReferenceEntry> m_references;
    AppSettings m_settings;
    Document m_document;
    ComputeController m_controller;
    std::shared_ptr<const FigureReply> m_reply;
    /// What was noted about the last file read, or about one of its configurations (by its name).
    struct Notes
    {
        QString of; ///< empty: the file
        std::vector<Issue> list;
    };
    std::vector<Notes> m_notes;
    QString m_notesTitle;

    ConfigList* m_configList = nullptr;
    ConfigPanel* m_configPanel = nullptr;
    ReadingPanel* m_readingPanel = nullptr;
    FigureCanvas* m_canvas = nullptr;
    FigureBar* m_figureBar = nullptr;
    FigurePanel* m_figurePanel = nullptr;
    MessageBar* m_messageBar = nullptr;
    TransportBar* m_transport = nullptr;
    QWidget* m_column = nullptr;
    QLabel *m_backendLabel = nullptr, *m_timeLabel = nullptr, *m_busyLabel = nullptr;
    QProgressBar* m_progress = nullptr;
    QToolButton* m_cancel = nullptr;
    QMenu* m_recentMenu = nullptr;
    QList<FigureChoice> m_figures; ///< all, in the order of the catalog

    QTimer m_busyTimer;     ///< 150 ms: the busy sign
    QTimer m_progressTimer; ///< 500 ms: progress and cancel
    QTimer m_playTimer;
    QElapsedTimer m_playClock;
    std::int64_t m_mapLength = 0;       ///< tokens, as last looked at; 0 before
    double m_speed = 4.0;               ///< tokens per second
    double m_owed = 0.0;                ///< part of a token not yet played
    bool m_isFigurePanelChosen = false; ///< somebody folded or unfolded it
    bool m_isShowing = false;           ///< guards against answers of the panels while they are filled
};

} // namespace ropewalk
