// SPDX-License-Identifier: GPL-3.0-or-later
#include "config_list.h"

#include "../window_style.h"
#include "core/frequency_rules.h"
#include "number_text.h"

#include <QAbstractButton>
#include <QApplication>
#include <QContextMenuEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QScreen>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <functional>

namespace ropewalk {
namespace {

/// One configuration: badge, name, detail, and what can be done with it when the pointer or the focus is
/// here.
class ConfigRow : public QAbstractButton
{
public:
    std::function<void(bool)> onHide;
    std::function<void()> onRemove, onDuplicate;
    std::function<void(int)> onWalk, onMove; ///< ±1
    std::function<void(int)> onColour;       ///< index into the theme's series colours
    std::function<void(const QString&)> onRename;

    explicit ConfigRow(QWidget* parent)
        : QAbstractButton(parent)
        , m_hide(new QToolButton(this))
        , m_remove(new QToolButton(this))
    {
        setCheckable(true);
        setFocusPolicy(Qt::StrongFocus);
        setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        m_remove->setText(ConfigList::tr("remove"));
        QObject::connect(m_hide, &QToolButton::clicked, this, [this] { onHide(!m_shown.isHidden); });
        QObject::connect(m_remove, &QToolButton::clicked, this, [this] { onRemove(); });
        QObject::connect(qApp, &QApplication::focusChanged, this, [this] { showActions(); });
        restyle();
    }

    void setRow(const SessionConfiguration& shown, bool isSelected, bool isRemovable)
    {
        m_shown = shown;
        m_isRemovable = isRemovable;
        m_detail = configurationDetail(shown.config);
        setChecked(isSelected);
        const QString name = QString::fromStdString(shown.config.name);
        setAccessibleName(
            ConfigList::tr("configuration %1, %2").arg(QString::fromStdString(shown.letter), name));
        setAccessibleDescription(shown.isHidden ? ConfigList::tr("hidden; %1").arg(m_detail) : m_detail);
        m_hide->setText(shown.isHidden ? ConfigList::tr("show") : ConfigList::tr("hide"));
        m_hide->setAccessibleName(shown.isHidden ? ConfigList::tr("show %1 in the figures").arg(name)
                                                 : ConfigList::tr("hide %1 in the figures").arg(name));
        m_remove->setAccessibleName(ConfigList::tr("remove %1").arg(name));
        setToolTip(QString::fromStdString(shown.config.name));
        showActions();
        update();
    }

    void startRename()
    {
        if (m_edit)
            return;
        m_edit = new QLineEdit(QString::fromStdString(m_shown.config.name), this);
        m_edit->setMaxLength(80);
        m_edit->setAccessibleName(
            ConfigList::tr("name of configuration %1").arg(QString::fromStdString(m_shown.letter)));
        m_edit->setFont(windowFont(TextRole::Strong));
        m_edit->setGeometry(scaledPixels(40), scaledPixels(8), width() - scaledPixels(56), scaledPixels(24));
        m_edit->installEventFilter(this);
        m_edit->show();
        m_edit->selectAll();
        m_edit->setFocus();
        // Both Return and leaving the field end here.
        QObject::connect(m_edit, &QLineEdit::editingFinished, this, [this] { endRename(true); });
        showActions();
    }

    QSize sizeHint() const override { return {scaledPixels(240), scaledPixels(44)}; }
    QSize minimumSizeHint() const override { return {scaledPixels(120), scaledPixels(44)}; }

protected:
    void paintEvent(QPaintEvent*) override
    {
        const ThemeColours& colours = windowColours();
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        const double one = windowStyle().scale;
        const QRectF body = QRectF(rect()).adjusted(8.0 * one, 2.0 * one, -8.0 * one, -2.0 * one);
        if (isChecked()) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(colours.selected);
            painter.drawRoundedRect(body, 6.0 * one, 6.0 * one);
        }
        if (hasFocus()) {
            painter.setPen(QPen(colours.accent, 1.0));
            painter.setBrush(Qt::NoBrush);
            painter.drawRoundedRect(body.adjusted(0.5, 0.5, -0.5, -0.5), 6.0 * one, 6.0 * one);
        }
        painter.setOpacity(m_shown.isHidden ? 0.5 : 1.0);
        const QRectF badge(18.0 * one, height() / 2.0 - 9.0 * one, 18.0 * one, 18.0 * one);
        const QColor series = colours.series.value(m_shown.colour, colours.accent);
        if (m_shown.isHidden) {
            painter.setPen(QPen(series, 1.5 * one));
            painter.setBrush(Qt::NoBrush);
            painter.drawRoundedRect(badge.adjusted(one, one, -one, -one), 4.0 * one, 4.0 * one);
        } else {
            painter.setPen(Qt::NoPen);
            painter.setBrush(series);
            painter.drawRoundedRect(badge, 4.0 * one, 4.0 * one);
        }
        painter.setFont(ropewalkFont(12.0 * one, QFont::Bold));
        painter.setPen(m_shown.isHidden ? series : colours.window);
        painter.drawText(badge, Qt::AlignCenter, QString::fromStdString(m_shown.letter));
        painter.setOpacity(1.0);
        if (m_edit)
            return;

        const int left = scaledPixels(46);
        // Name and detail give way to the actions, which stand to their right.
        const int right =
            m_hide->isVisibleTo(this) ? m_hide->x() - scaledPixels(4) : width() - scaledPixels(16);
        painter.setFont(windowFont(TextRole::Strong));
        painter.setPen(m_shown.isHidden ? colours.muted : colours.text);
        const QRect nameLine(left, scaledPixels(4), right - left, scaledPixels(19));
        painter.drawText(nameLine, Qt::AlignLeft | Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(QString::fromStdString(m_shown.config.name),
                                                          Qt::ElideRight, nameLine.width()));
        painter.setFont(windowFont(TextRole::Small));
        painter.setPen(colours.muted);
        const QRect detailLine(left, scaledPixels(22), right - left, scaledPixels(17));
        const QString detail = m_shown.isHidden ? ConfigList::tr("hidden · %1").arg(m_detail) : m_detail;
        painter.drawText(detailLine, Qt::AlignLeft | Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(detail, Qt::ElideRight, detailLine.width()));
    }

    void resizeEvent(QResizeEvent* event) override
    {
        QAbstractButton::resizeEvent(event);
        placeActions();
    }
    void enterEvent(QEnterEvent* event) override
    {
        QAbstractButton::enterEvent(event);
        showActions();
    }
    void leaveEvent(QEvent* event) override
    {
        QAbstractButton::leaveEvent(event);
        showActions();
    }
    void mouseDoubleClickEvent(QMouseEvent*) override { startRename(); }
    void keyPressEvent(QKeyEvent* event) override
    {
        const bool isAlt = event->modifiers() & Qt::AltModifier;
        switch (event->key()) {
        case Qt::Key_Up:
        case Qt::Key_Down: {
            const int way = event->key() == Qt::Key_Up ? -1 : 1;
            isAlt ? onMove(way) : onWalk(way);
            break;
        }
        case Qt::Key_F2:
            startRename();
            break;
        case Qt::Key_Delete:
            if (m_isRemovable)
                onRemove();
            break;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            click();
            break;
        default:
            QAbstractButton::keyPressEvent(event);
        }
    }
    void contextMenuEvent(QContextMenuEvent* event) override
    {
        QMenu menu;
        const auto add = [&](const QString& text, const std::function<void()>& what,
                             const QKeySequence& keys = {}) {
            QAction* action = menu.addAction(text);
            action->setShortcut(keys);
            QObject::connect(action, &QAction::triggered, this, what);
            return action;
        };
        add(
            ConfigList::tr("Rename"), [this] { startRename(); }, Qt::Key_F2);
        add(ConfigList::tr("Duplicate"), [this] { onDuplicate(); });
        fillColours(*menu.addMenu(ConfigList::tr("Colour")));
        add(m_shown.isHidden ? ConfigList::tr("Show") : ConfigList::tr("Hide"),
            [this] { onHide(!m_shown.isHidden); });
        add(
            ConfigList::tr("Move up"), [this] { onMove(-1); }, Qt::ALT | Qt::Key_Up);
        add(
            ConfigList::tr("Move down"), [this] { onMove(1); }, Qt::ALT | Qt::Key_Down);
        add(
            ConfigList::tr("Remove"), [this] { onRemove(); }, Qt::Key_Delete)
            ->setEnabled(m_isRemovable);
        menu.exec(event->globalPos());
    }
    void changeEvent(QEvent* event) override
    {
        QAbstractButton::changeEvent(event);
        if (event->type() == QEvent::StyleChange)
            restyle();
    }
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (watched == m_edit && event->type() == QEvent::KeyPress &&
            static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
            endRename(false);
            return true;
        }
        return QAbstractButton::eventFilter(watched, event);
    }
    // A checked row stays checked: choosing the chosen one again must not unchoose it.
    void nextCheckState() override { setChecked(true); }

private:
    /// The colours of the theme by name, each with its patch.
    void fillColours(QMenu& menu)
    {
        const QStringList names{ConfigList::tr("blue"), ConfigList::tr("orange"), ConfigList::tr("green"),
                                ConfigList::tr("purple")};
        const QList<QColor>& series = windowColours().series;
        for (int colour = 0; colour < std::min(names.size(), series.size()); ++colour) {
            QPixmap patch(scaledPixels(12), scaledPixels(12));
            patch.fill(series[colour]);
            QAction* action = menu.addAction(QIcon(patch), names[colour]);
            action->setCheckable(true);
            action->setChecked(colour == m_shown.colour);
            QObject::connect(action, &QAction::triggered, this, [this, colour] { onColour(colour); });
        }
    }

    void endRename(bool isAccepted)
    {
        if (!m_edit)
            return;
        QLineEdit* edit = m_edit;
        m_edit = nullptr; // hiding it takes the focus away, which ends the editing once more
        const QString name = edit->text().simplified();
        const bool hadFocus = edit->hasFocus();
        edit->hide();
        edit->deleteLater();
        if (hadFocus)
            setFocus();
        showActions();
        update();
        if (isAccepted && !name.isEmpty() && name != QString::fromStdString(m_shown.config.name))
            onRename(name);
    }

    void showActions()
    {
        const QWidget* focus = QApplication::focusWidget();
        const bool isHere = underMouse() || focus == this || focus == m_hide || focus == m_remove;
        m_hide->setVisible(!m_edit && (isHere || m_shown.isHidden));
        m_remove->setVisible(!m_edit && isHere && m_isRemovable);
        placeActions();
        update();
    }

    void placeActions()
    {
        int right = width() - scaledPixels(12);
        for (QToolButton* button : {m_remove, m_hide}) {
            if (!button->isVisibleTo(this))
                continue;
            const QSize size = button->sizeHint();
            button->setGeometry(right - size.width(), (height() - size.height()) / 2, size.width(),
                                size.height());
            right -= size.width();
        }
    }

    void restyle()
    {
        for (QToolButton* button : {m_hide, m_remove}) {
            button->setFont(windowFont(TextRole::Small));
            button->setFocusPolicy(Qt::TabFocus);
        }
        setFont(windowFont(TextRole::Strong));
        updateGeometry();
        placeActions();
    }

    SessionConfiguration m_shown;
    QString m_detail;
    bool m_isRemovable = true;
    QToolButton* m_hide;
    QToolButton* m_remove;
    QLineEdit* m_edit = nullptr;
};

/// The add menu: a field to search in, the models that match, a file, a duplicate.
class AddMenu : public QFrame
{
public:
    explicit AddMenu(ConfigList* list, const QList<PresetChoice>& presets, const QString& duplicateText,
                     const std::function<void()>& onDuplicate)
        : QFrame(list, Qt::Popup)
        , m_presets(presets)
        , m_search(new QLineEdit(this))
        , m_found(new QListWidget(this))
    {
        setAttribute(Qt::WA_DeleteOnClose);
        setObjectName(QStringLiteral("addMenu"));
        setAutoFillBackground(true);
        setFrameShape(QFrame::StyledPanel);
        auto* layout = new QVBoxLayout(this);
        layout->setContentsMargins(scaledPixels(8), scaledPixels(8), scaledPixels(8), scaledPixels(8));
        layout->setSpacing(scaledPixels(6));
        m_search->setPlaceholderText(ConfigList::tr("search models"));
        m_search->setAccessibleName(ConfigList::tr("search models"));
        m_search->setMinimumHeight(scaledPixels(24));
        m_search->installEventFilter(this);
        m_found->setAccessibleName(ConfigList::tr("models"));
        m_found->setFixedHeight(scaledPixels(180));
        m_found->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
        auto* file = new QPushButton(ConfigList::tr("From a file…"), this);
        auto* duplicate = new QPushButton(duplicateText, this);
        for (QPushButton* button : {file, duplicate})
            button->setAutoDefault(false);
        layout->addWidget(m_search);
        layout->addWidget(m_found);
        layout->addWidget(file);
        layout->addWidget(duplicate);
        setFixedWidth(scaledPixels(272));
        setFocusProxy(m_search);
        const auto choose = [this, list](QListWidgetItem* item) {
            if (!item)
                return;
            const QString id = item->data(Qt::UserRole).toString();
            close();
            emit list->addPresetRequested(id);
        };
        QObject::connect(m_search, &QLineEdit::textChanged, this, [this] { filter(); });
        QObject::connect(m_search, &QLineEdit::returnPressed, this,
                         [this, choose] { choose(m_found->currentItem()); });
        QObject::connect(m_found, &QListWidget::itemClicked, this, choose);
        QObject::connect(m_found, &QListWidget::itemActivated, this, choose);
        QObject::connect(file, &QPushButton::clicked, this, [this, list] {
            close();
            emit list->addFileRequested();
        });
        QObject::connect(duplicate, &QPushButton::clicked, this, [this, onDuplicate] {
            close();
            onDuplicate();
        });
        filter();
    }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (watched == m_search && event->type() == QEvent::KeyPress) {
            const int key = static_cast<QKeyEvent*>(event)->key();
            if (key == Qt::Key_Down || key == Qt::Key_Up) {
                const int row = m_found->currentRow() + (key == Qt::Key_Down ? 1 : -1);
                m_found->setCurrentRow(std::clamp(row, 0, std::max(0, m_found->count() - 1)));
                return true;
            }
        }
        return QFrame::eventFilter(watched, event);
    }
    void keyPressEvent(QKeyEvent* event) override
    {
        if (event->key() == Qt::Key_Escape)
            close();
        else
            QFrame::keyPressEvent(event);
    }

private:
    void filter()
    {
        m_found->clear();
        const QStringList words = m_search->text().split(u' ', Qt::SkipEmptyParts);
        for (const PresetChoice& preset : m_presets) {
            const QString all = preset.name + u' ' + preset.id + u' ' + preset.family;
            const bool isFound = std::all_of(words.begin(), words.end(), [&](const QString& word) {
                return all.contains(word, Qt::CaseInsensitive);
            });
            if (!isFound)
                continue;
            auto* item = new QListWidgetItem(preset.name, m_found);
            item->setData(Qt::UserRole, preset.id);
            item->setToolTip(preset.source);
        }
        m_found->setCurrentRow(0);
    }

    QList<PresetChoice> m_presets;
    QLineEdit* m_search;
    QListWidget* m_found;
};

} // namespace

QString configurationDetail(const RopeConfig& config)
{
    QStringList parts;
    const QString base = ConfigList::tr("base %1").arg(shownNumber(config.base));
    const QString nameDigits = QString::fromStdString(config.name).remove(u' ').remove(QChar(0x202F));
    if (!nameDigits.contains(QString(base).remove(u' ').remove(QChar(0x202F))))
        parts += base;
    const FrequencyRuleInfo& rule = info(config.rule);
    QString ruleText = QString::fromUtf8(rule.title.data(), static_cast<qsizetype>(rule.title.size()));
    if (!rule.parameters.empty() && rule.parameters.front().key == "factor")
        if (const auto factor = effectiveParameter(config, rule.parameters.front()); factor && *factor != 1.0)
            ruleText = ConfigList::tr("%1 ×%2").arg(ruleText, shownNumber(*factor, 4));
    parts += ruleText;
    const bool isPart =
        formedWidth(config) != config.headDim || turningPairCount(config) != pairCount(config);
    if (parts.size() < 2 || isPart)
        parts += ConfigList::tr("%1 of %2").arg(2 * turningPairCount(config)).arg(config.headDim);
    return parts.join(QStringLiteral(" · "));
}

ConfigList::ConfigList(QWidget* parent)
    : QWidget(parent)
    , m_title(new QLabel(tr("Configurations"), this))
    , m_add(new QToolButton(this))
    , m_rows(new QVBoxLayout)
{
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::AlternateBase);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    m_add->setText(QStringLiteral("+"));
    m_add->setAccessibleName(tr("add a configuration"));
    m_add->setFocusPolicy(Qt::TabFocus);
    connect(m_add, &QToolButton::clicked, this, &ConfigList::openAddMenu);
    auto* head = new QHBoxLayout;
    head->setSpacing(0);
    head->addWidget(m_title, 1);
    head->addWidget(m_add);
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(0);
    layout->addLayout(head);
    layout->addLayout(m_rows);
    m_rows->setSpacing(0);
    restyle();
}

void ConfigList::setConfigurations(const std::vector<SessionConfiguration>& configurations, int selectedIndex)
{
    m_configurations = configurations;
    m_selected = selectedIndex;
    const auto count = static_cast<qsizetype>(configurations.size());
    while (m_rowWidgets.size() > count) {
        QWidget* last = m_rowWidgets.takeLast();
        if (last->hasFocus() || last->isAncestorOf(QApplication::focusWidget())) {
            if (!m_rowWidgets.isEmpty())
                m_rowWidgets.last()->setFocus();
        }
        m_rows->removeWidget(last);
        last->hide();
        last->deleteLater(); // it may be what asked for its own removal
    }
    while (m_rowWidgets.size() < count) {
        auto* row = new ConfigRow(this);
        const auto index = static_cast<int>(m_rowWidgets.size());
        connect(row, &QAbstractButton::clicked, this, [this, index] { emit selected(index); });
        row->onHide = [this, index](bool isHidden) { emit hideToggled(index, isHidden); };
        row->onRemove = [this, index] { emit removeRequested(index); };
        row->onDuplicate = [this, index] { emit duplicateRequested(index); };
        row->onRename = [this, index](const QString& name) { emit renamed(index, name); };
        row->onColour = [this, index](int colour) { emit colourChosen(index, colour); };
        row->onMove = [this, index](int way) {
            const int to = index + way;
            if (to >= 0 && to < static_cast<int>(m_configurations.size()))
                emit moveRequested(index, to);
        };
        row->onWalk = [this, index](int way) {
            const int to = index + way;
            if (to < 0 || to >= static_cast<int>(m_rowWidgets.size()))
                return;
            m_rowWidgets[to]->setFocus(Qt::TabFocusReason);
            emit selected(to);
        };
        m_rows->addWidget(row);
        row->show();
        setTabOrder(m_rowWidgets.isEmpty() ? static_cast<QWidget*>(m_add) : m_rowWidgets.last(), row);
        m_rowWidgets.append(row);
    }
    for (qsizetype i = 0; i < count; ++i)
        static_cast<ConfigRow*>(m_rowWidgets[i])
            ->setRow(configurations[static_cast<std::size_t>(i)], i == selectedIndex, count > 1);
    const bool isFull = configurations.size() >= kMostConfigurations;
    m_add->setEnabled(!isFull);
    m_add->setToolTip(isFull ? tr("four configurations are the most") : tr("add a configuration"));
    updateGeometry();
}

void ConfigList::setPresets(const QList<PresetChoice>& presets)
{
    m_presets = presets;
}

void ConfigList::openAddMenu()
{
    if (!m_add->isEnabled())
        return;
    const bool hasSelected = m_selected >= 0 && m_selected < static_cast<int>(m_configurations.size());
    const QString letter =
        hasSelected ? QString::fromStdString(m_configurations[static_cast<std::size_t>(m_selected)].letter)
                    : QString();
    const int index = m_selected;
    auto* menu = new AddMenu(this, m_presets, tr("Duplicate %1").arg(letter),
                             [this, index] { emit duplicateRequested(index); });
    menu->adjustSize();
    QPoint corner = m_add->mapToGlobal(QPoint(m_add->width() - menu->width(), m_add->height()));
    if (const QScreen* screen = this->screen())
        corner.setX(std::max(corner.x(), screen->availableGeometry().left()));
    menu->move(corner);
    menu->show();
    menu->setFocus();
}

void ConfigList::startRename(int index)
{
    if (index >= 0 && index < static_cast<int>(m_rowWidgets.size()))
        static_cast<ConfigRow*>(m_rowWidgets[index])->startRename();
}

QWidget* ConfigList::rowWidget(int index) const
{
    return m_rowWidgets.value(index);
}

void ConfigList::restyle()
{
    m_title->setFont(windowFont(TextRole::Section));
    QPalette quiet = palette();
    quiet.setColor(QPalette::WindowText, windowColours().muted);
    m_title->setPalette(quiet);
    m_title->setMinimumWidth(scaledPixels(20)); // cut short rather than the column made wider
    m_add->setFont(ropewalkFont(16.0 * windowStyle().scale));
    layout()->setContentsMargins(0, scaledPixels(4), 0, 0);
    layout()->itemAt(0)->layout()->setContentsMargins(scaledPixels(16), 0, scaledPixels(10), 0);
}

void ConfigList::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::StyleChange)
        restyle();
}

} // namespace ropewalk
