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
    m_tabs->setUsesScrollButtons(true);
    m_tabs->setFocusPolicy(Qt::TabFocus);
    m_tabs->setAccessibleName(tr("Figures"));
    m_tabs->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed); // scrolls where the room is scarce
    m_chooser->setText(tr("All figures"));
    m_chooser->setToolTip(tr("every figure, by name"));
    m_chooser->setPopupMode(QToolButton::InstantPopup);
    m_chooser->setFocusPolicy(Qt::TabFocus);
    m_chooser->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_chooser->setLayoutDirection(Qt::RightToLeft); // the sign after the word
    auto* menu = new QMenu(this);
    m_chooser->setMenu(menu);
    connect(menu, &QMenu::aboutToShow, this,
            [this, menu] { fill(*menu, m_figures, m_shown, [this](const QString& id) { emit figureChosen(id); }); });
    m_layout->setAccessibleName(tr("figures side by side"));
    m_layout->setToolTip(tr("one figure, two or four"));
    m_layout->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    auto* layout = new QHBoxLayout(this);
    layout->addWidget(m_tabs, 1);
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
    QStringList ids{kOverview};
    ids += cards;
    if (!ids.contains(figure))
        ids += figure;
    m_isFilling = true;
    if (ids != m_tabIds) {
        while (m_tabs->count() > ids.size())
            m_tabs->removeTab(m_tabs->count() - 1);
        for (int i = 0; i < ids.size(); ++i) {
            QString title = tr("Overview");
            for (const FigureChoice& choice : std::as_const(m_figures))
                if (choice.id == ids[i])
                    title = choice.title;
            if (i < m_tabs->count())
                m_tabs->setTabText(i, title);
            else
                m_tabs->addTab(title);
        }
        m_tabIds = ids;
    }
    m_tabs->setCurrentIndex(static_cast<int>(m_tabIds.indexOf(figure)));
    m_isFilling = false;
    const int count = figure == kOverview ? static_cast<int>(cards.size()) : 1;
    m_layout->setCurrent(static_cast<int>(std::find(kCounts.begin(), kCounts.end(), count) - kCounts.begin()));
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
    m_layout->setFixedWidth(std::max(m_layout->sizeHint().width(), m_layout->minimumSizeHint().width()));
}

void FigureBar::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::StyleChange)
        restyle();
}

} // namespace ropewalk
