// SPDX-License-Identifier: GPL-3.0-or-later
#include "figure_bar.h"

#include "../window_style.h"
#include "segmented_control.h"

#include <QAction>
#include <QActionGroup>
#include <QEvent>
#include <QHBoxLayout>
#include <QMenu>
#include <QTabBar>
#include <QToolButton>

#include <algorithm>
#include <array>

namespace ropewalk {
namespace {

const QString kOverview = QStringLiteral("overview");
constexpr std::array kCounts{1, 2, 4};

/// Topics of the menu; each begins at the first figure of the catalog that is named here.
const std::array<std::pair<QLatin1String, const char*>, 4> kTopics{{
    {QLatin1String("plane"), QT_TRANSLATE_NOOP("ropewalk::FigureBar", "Turning")},
    {QLatin1String("decay"), QT_TRANSLATE_NOOP("ropewalk::FigureBar", "Scores")},
    {QLatin1String("channels"), QT_TRANSLATE_NOOP("ropewalk::FigureBar", "Channels and lengths")},
    {QLatin1String("encodings"), QT_TRANSLATE_NOOP("ropewalk::FigureBar", "Comparisons")},
}};

} // namespace

FigureBar::FigureBar(const QList<FigureChoice>& figures, QWidget* parent)
    : QWidget(parent)
    , m_figures(figures)
    , m_tabs(new QTabBar(this))
    , m_chooser(new QToolButton(this))
    , m_layout(new SegmentedControl({QStringLiteral("1"), QStringLiteral("2"), QStringLiteral("4")}, this))
{
    m_tabs->setObjectName("figureTabs");
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    m_tabs->setUsesScrollButtons(false);
    m_tabs->setFocusPolicy(Qt::TabFocus);
    m_tabs->setAccessibleName(tr("Figures"));
    m_tabs->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_chooser->setText(tr("All figures"));
    m_chooser->setToolTip(tr("every figure, by name"));
    m_chooser->setPopupMode(QToolButton::InstantPopup);
    m_chooser->setFocusPolicy(Qt::TabFocus);
    m_chooser->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_chooser->setLayoutDirection(Qt::RightToLeft); // the sign after the word
    auto* menu = new QMenu(this);
    m_chooser->setMenu(menu);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        fill(*menu, m_figures, m_shown, [this](const QString& id) { emit figureChosen(id); });
        auto* overview = new QAction(tr("Overview") + QStringLiteral("\t0"), menu);
        overview->setCheckable(true);
        overview->setChecked(m_shown == kOverview);
        connect(overview, &QAction::triggered, this, [this] { emit figureChosen(kOverview); });
        menu->insertAction(menu->actions().value(0), overview);
    });
    m_layout->setAccessibleName(tr("figures side by side"));
    m_layout->setToolTip(tr("one figure, two or four"));
    m_layout->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    auto* layout = new QHBoxLayout(this);
    layout->addWidget(m_tabs, 1);
    layout->addStretch(0);
    layout->addWidget(m_chooser);
    layout->addWidget(m_layout);
    connect(m_tabs, &QTabBar::currentChanged, this, [this](int index) {
        if (!m_isFilling)
            emit figureChosen(m_tabIds.value(index));
    });
    connect(m_layout, &SegmentedControl::chosen, this,
            [this](int index) { emit countChosen(kCounts[static_cast<std::size_t>(index)]); });
    restyle();
}

void FigureBar::setShown(const QString& figure, const QStringList& cards)
{
    m_shown = figure;
    m_cards = cards;
    const int count = figure == kOverview ? static_cast<int>(cards.size()) : 1;
    m_layout->setCurrent(
        static_cast<int>(std::find(kCounts.begin(), kCounts.end(), count) - kCounts.begin()));
    fillTabs();
}

QString FigureBar::titleOf(const QString& id) const
{
    for (const FigureChoice& figure : m_figures)
        if (figure.id == id)
            return figure.title;
    return tr("Overview");
}

/// All figures in use where there is room for them; else the overview and the one shown; else none, and the
/// menu is named after the one shown.
void FigureBar::fillTabs()
{
    QStringList all{kOverview};
    all += m_cards;
    if (!all.contains(m_shown))
        all += m_shown;
    const QStringList few = m_shown == kOverview ? QStringList{kOverview} : QStringList{kOverview, m_shown};
    const auto widthOf = [&](const QStringList& ids) {
        int width = 0;
        for (const QString& id : ids)
            width += m_tabs->fontMetrics().horizontalAdvance(titleOf(id)) + scaledPixels(20) + 4;
        return width;
    };
    const auto restOf = [&](const QString& chooserText) {
        return m_chooser->fontMetrics().horizontalAdvance(chooserText) + scaledPixels(40) +
               m_layout->width() + scaledPixels(28);
    };
    const int room = width() - restOf(tr("All figures"));
    const bool hasTabs = widthOf(few) <= room;
    const QStringList& ids = widthOf(all) <= room ? all : few;
    m_tabs->setVisible(hasTabs);
    // A stretch in the place of the tabs keeps the menu where it is.
    static_cast<QHBoxLayout*>(layout())->setStretch(1, hasTabs ? 0 : 1);
    m_chooser->setText(hasTabs ? tr("All figures") : titleOf(m_shown));
    m_isFilling = true;
    if (ids != m_tabIds) {
        while (m_tabs->count() > ids.size())
            m_tabs->removeTab(m_tabs->count() - 1);
        for (int i = 0; i < ids.size(); ++i) {
            if (i < m_tabs->count())
                m_tabs->setTabText(i, titleOf(ids[i]));
            else
                m_tabs->addTab(titleOf(ids[i]));
        }
        m_tabIds = ids;
    }
    m_tabs->setCurrentIndex(static_cast<int>(m_tabIds.indexOf(m_shown)));
    m_isFilling = false;
}

void FigureBar::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fillTabs();
}

void FigureBar::openMenu()
{
    m_chooser->showMenu();
}

void FigureBar::fill(QMenu& menu, const QList<FigureChoice>& figures, const QString& current,
                     const std::function<void(const QString&)>& choose)
{
    menu.clear();
    // A topic of two figures is no topic: a short catalog is a plain list.
    const bool hasTopics = figures.size() > 6;
    for (const FigureChoice& figure : figures) {
        for (const auto& [first, topic] : kTopics) {
            if (!hasTopics || first != figure.id)
                continue;
            if (!menu.isEmpty())
                menu.addSeparator();
            menu.addAction(tr(topic))->setEnabled(false);
        }
        QAction* action =
            menu.addAction(figure.hint.isEmpty() ? figure.title : figure.title + u'\t' + figure.hint);
        action->setCheckable(true);
        action->setChecked(figure.id == current);
        connect(action, &QAction::triggered, &menu, [choose, id = figure.id] { choose(id); });
        if (action->isChecked())
            menu.setActiveAction(action);
    }
}

void FigureBar::restyle()
{
    layout()->setContentsMargins(0, 0, scaledPixels(12), 0);
    layout()->setSpacing(scaledPixels(8));
    m_chooser->setFont(windowFont(TextRole::Label));
    m_chooser->setIcon(QIcon(windowStyle().theme == Theme::Dark
                                 ? QStringLiteral(":/ropewalk/icons/chevron-down-dark.svg")
                                 : QStringLiteral(":/ropewalk/icons/chevron-down-light.svg")));
    m_chooser->setIconSize({scaledPixels(10), scaledPixels(10)});
    // The tabs' height, so that nothing moves when they give way.
    setMinimumHeight(m_tabs->sizeHint().height());
    m_layout->setFixedWidth(std::max(m_layout->sizeHint().width(), m_layout->minimumSizeHint().width()));
}

void FigureBar::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::StyleChange) {
        restyle();
        fillTabs();
    }
}

} // namespace ropewalk
