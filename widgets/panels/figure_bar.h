// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QString>
#include <QStringList>
#include <QWidget>

#include <functional>

class QMenu;
class QTabBar;
class QToolButton;

namespace ropewalk {

class SegmentedControl;

/// One figure that can be chosen.
struct FigureChoice
{
    QString id, title;
    QString hint; ///< its key, or empty
};

/// What is on the stage: tabs for the overview and the figures in use, as far as there is room, a menu of all
/// figures, and how many stand side by side.
class FigureBar : public QWidget
{
    Q_OBJECT
public:
    explicit FigureBar(const QList<FigureChoice>& figures, QWidget* parent = nullptr);

    /// `figure` is an id or "overview"; `cards` are the figures of the overview in sight.
    void setShown(const QString& figure, const QStringList& cards);
    QTabBar* tabs() const { return m_tabs; }
    QToolButton* chooser() const { return m_chooser; }
    SegmentedControl* layoutControl() const { return m_layout; }
    void openMenu();

    /// Fills `menu` with all figures by topic, `current` checked; `choose` is called with an id.
    static void fill(QMenu& menu, const QList<FigureChoice>& figures, const QString& current,
                     const std::function<void(const QString&)>& choose);

signals:
    void figureChosen(const QString& id); ///< or "overview"
    void countChosen(int count);          ///< 1, 2 or 4 figures

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void restyle();
    void fillTabs();
    QString titleOf(const QString& id) const; ///< of a figure or the overview

    QList<FigureChoice> m_figures;
    QString m_shown;
    QStringList m_cards;
    QStringList m_tabIds;
    QTabBar* m_tabs;
    QToolButton* m_chooser;
    SegmentedControl* m_layout;
    bool m_isFilling = false;
};

} // namespace ropewalk
