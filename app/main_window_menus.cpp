// SPDX-License-Identifier: GPL-3.0-or-later
// The menus, their keys, and the pages of help.

#include "main_window.h"

#include "widgets/figure_canvas.h"
#include "widgets/panels/figure_bar.h"
#include "widgets/panels/message_bar.h"
#include "widgets/panels/reading_panel.h"
#include "widgets/window_style.h"

#include <QActionGroup>
#include <QMenuBar>
#include <QMessageBox>
#include <QScrollArea>

#include <algorithm>

namespace ropewalk {

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
    add(edit, tr("Copy &numbers"), QKeySequence::Copy, [this] { m_readingPanel->copy(); });
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
    add(figure, tr("&Choose a figure…"), QKeySequence(tr("Ctrl+K")), [this] { m_figureBar->openMenu(); });
    QMenu* all = figure->addMenu(tr("&All figures"));
    for (int i = 0; i < m_figures.size(); ++i)
        add(all, m_figures[i].title,
            i < 9 ? QKeySequence(QStringLiteral("Ctrl+%1").arg(i + 1)) : QKeySequence(),
            [this, id = m_figures[i].id] { showFigure(id); });
    add(figure, tr("&Next figure"), QKeySequence(tr("Ctrl+PgDown")), [this] { walkFigures(1); });
    add(figure, tr("&Previous figure"), QKeySequence(tr("Ctrl+PgUp")), [this] { walkFigures(-1); });
    figure->addSeparator();
    add(figure, tr("&Overview"), {}, [this] { showFigure("overview"); });
    for (const auto& [count, text] : {std::pair(1, tr("&One figure")), std::pair(2, tr("&Two figures")),
                                      std::pair(4, tr("&Four figures"))})
        add(figure, text, {}, [this, count = count] { showCount(count); });

    QMenu* help = menuBar()->addMenu(tr("&Help"));
    add(help, tr("&Keys"), QKeySequence::HelpContents, [this] {
        showText(tr("Keys"),
                 tr("<p>With a figure in focus</p><table cellpadding='3'>"
                    "<tr><td><b>Up, Down</b></td><td>pair</td></tr>"
                    "<tr><td><b>Space</b></td><td>play and pause</td></tr></table>"
                    "<p>Everywhere but in a box for text</p><table cellpadding='3'>"
                    "<tr><td><b>[ &nbsp; ]</b></td><td>position by 1, with Shift by 10</td></tr>"
                    "<tr><td><b>1 to 9, 0</b></td><td>one figure, the overview (Ctrl+1 to Ctrl+9)</td></tr>"
                    "<tr><td><b>Esc</b></td><td>from one figure back to the overview</td></tr>"
                    "<tr><td><b>T</b></td><td>light and dark</td></tr>"
                    "<tr><td><b>H</b></td><td>panels</td></tr></table>"
                    "<p>Everywhere</p><table cellpadding='3'>"
                    "<tr><td><b>Ctrl+K</b></td><td>choose among all figures</td></tr>"
                    "<tr><td><b>Ctrl+PageDown, Ctrl+PageUp</b></td><td>next and previous figure</td></tr>"
                    "<tr><td><b>Ctrl+C</b></td><td>copy the numbers of the reading, or those under the "
                    "pointer</td></tr>"
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

} // namespace ropewalk
