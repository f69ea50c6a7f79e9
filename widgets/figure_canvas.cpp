// SPDX-License-Identifier: GPL-3.0-or-later
#include "figure_canvas.h"

#include "core/figure_catalog.h"
#include "panels/card_chooser.h"
#include "window_style.h"

#include <QEvent>
#include <QPainter>
#include <QResizeEvent>

#include <algorithm>

namespace ropewalk {
namespace {

const QString kOverview = QStringLiteral("overview");
constexpr int kGap = 12;
/// Width from which figures are legible side by side; a window of 1280 leaves 988.
constexpr int kGridWidth = 900;
/// Design pixels of a card's title line that the button in its corner covers, and a gap.
constexpr double kCornerWidth = 22.0;

/// Only the plane of the configuration with this letter, if it has one.
void keepPlane(FigureSpec& figure, const std::string& letter)
{
    const auto isOf = [&](const PlanePanel& panel) {
        return figure.configurations[static_cast<std::size_t>(panel.configuration)].letter == letter;
    };
    const auto kept = std::find_if(figure.planes.begin(), figure.planes.end(), isOf);
    if (figure.planes.size() < 2 || kept == figure.planes.end())
        return;
    figure.caption = kept->caption;
    figure.planes = {*kept};
}

/// A small figure shows the shape; its words would cover it.
void dropLabels(FigureSpec& figure)
{
    for (GuideLine& guide : figure.guides)
        guide.label = {};
    for (Marker& marker : figure.markers)
        marker.label = {};
    for (Band& band : figure.bands)
        band.label = {};
    figure.xAxis.label = {};
    figure.yAxis.label = {};
    if (figure.secondYAxis)
        figure.secondYAxis->label = {};
}

/// In the place of a figure that was not computed: its name and a sentence.
FigureSpec waitingFigure(const QString& id, const QString& text)
{
    FigureSpec figure;
    figure.id = id.toStdString();
    if (const FigureInfo* info = findFigure(figure.id))
        figure.title = std::string(info->title);
    figure.failure = text.toStdString();
    return figure;
}

} // namespace

FigureCanvas::FigureCanvas(const QStringList& ids, QWidget* parent)
    : QWidget(parent)
    , m_ids(ids)
    , m_cardIds(ids.mid(0, 4))
    , m_large(ids.value(0))
    , m_focused(ids.value(0))
{
    for (const QString& id : m_ids) {
        auto* view = new FigureView(this);
        view->setObjectName(id);
        view->installEventFilter(this);
        view->hide();
        m_views.insert(id, view);
        connect(view, &FigureView::pairPicked, this, &FigureCanvas::pairPicked);
        connect(view, &FigureView::distancePicked, this, &FigureCanvas::distancePicked);
        connect(view, &FigureView::queryPicked, this, &FigureCanvas::queryPicked);
        connect(view, &FigureView::keyPicked, this, &FigureCanvas::keyPicked);
        connect(view, &FigureView::positionsPicked, this, &FigureCanvas::positionsPicked);
        connect(view, &FigureView::positionsDragged, this, &FigureCanvas::positionsDragged);
        connect(view, &FigureView::viewRangeChanged, this,
                [this, id](double xLower, double xUpper, double yLower, double yUpper) {
                    emit viewRangeChanged(id, QRectF(QPointF(xLower, yLower), QPointF(xUpper, yUpper)));
                });
        connect(view, &FigureView::viewRangeReset, this, [this, id] { emit viewRangeReset(id); });
        connect(view, &FigureView::readOutChanged, this, [this, id] { emit readOutChanged(id); });
        connect(view, &FigureView::enlargeRequested, this, [this, id] { emit enlargeRequested(id); });
        connect(view, &FigureView::contextRequested, this,
                [this, id](const QPoint& position) { emit contextRequested(id, position); });
    }
    for (int card = 0; card < 4; ++card) {
        auto* chooser = new CardChooser(this);
        chooser->hide();
        m_choosers.append(chooser);
        connect(chooser, &QAbstractButton::clicked, this, [this, card, chooser] {
            emit chooserRequested(card, chooser->mapToGlobal(chooser->rect().bottomLeft()));
        });
    }
    setMinimumSize(360, 300);
}

void FigureCanvas::setFigure(FigureSpec figure, bool isCurrent)
{
    const QString id = QString::fromStdString(figure.id);
    if (!m_views.contains(id))
        return;
    m_figures.insert(id, std::move(figure));
    m_unseen.remove(id);
    if (isCurrent) {
        m_current.insert(id);
        m_views.value(id)->setBusy(false);
    }
    handOver(id);
}

const FigureSpec& FigureCanvas::figure(const QString& id) const
{
    static const FigureSpec none;
    const auto found = m_figures.find(id);
    return found == m_figures.end() ? none : *found;
}

void FigureCanvas::expect()
{
    m_current.clear();
}

void FigureCanvas::showWaiting(const QString& text)
{
    const QStringList visible = visibleFigures();
    for (const QString& id : visible) {
        if (m_current.contains(id))
            continue;
        FigureView* view = m_views.value(id);
        view->setBusy(true);
        if (m_unseen.contains(id))
            view->setFigure(waitingFigure(id, text));
    }
}

void FigureCanvas::setSelectedLetter(const std::string& letter)
{
    if (letter == m_selectedLetter)
        return;
    m_selectedLetter = letter;
    for (const QString& id : std::as_const(m_ids))
        handOver(id);
}

/// Hands the view of `id` what it has room for.
void FigureCanvas::handOver(const QString& id)
{
    if (!m_figures.contains(id))
        return;
    FigureSpec shown = m_figures.value(id);
    if (m_shown == kOverview)
        keepPlane(shown, m_selectedLetter);
    if (m_small.contains(id))
        dropLabels(shown);
    m_views.value(id)->setFigure(std::move(shown));
}

void FigureCanvas::setCards(const QStringList& cards)
{
    if (m_cardIds == cards)
        return;
    // What takes the place of the large one of the strip is large, too.
    const auto large = m_cardIds.indexOf(m_large);
    m_cardIds = cards;
    if (!m_cardIds.contains(m_large))
        m_large = m_cardIds.value(std::max<qsizetype>(large, 0), m_cardIds.value(0));
    arrange();
    for (const QString& id : std::as_const(m_cardIds))
        handOver(id);
}

void FigureCanvas::setShown(const QString& id)
{
    if (m_shown == id || (id != kOverview && !m_views.contains(id)))
        return;
    m_shown = id;
    arrange();
    for (const QString& each : std::as_const(m_ids))
        handOver(each); // the overview shows one plane, the large figure all
    if (id != kOverview)
        makeCurrent(id);
}

void FigureCanvas::setRenderOptions(const RenderOptions& options)
{
    m_options = options;
    arrange();
}

QStringList FigureCanvas::visibleFigures() const
{
    return m_shown == kOverview ? m_cardIds : QStringList{m_shown};
}

QWidget* FigureCanvas::chooser(int card) const
{
    return m_choosers.value(card);
}

QString FigureCanvas::currentFigure() const
{
    if (m_shown != kOverview)
        return m_shown;
    if (m_cardIds.contains(m_focused))
        return m_focused;
    return isStrip() ? m_large : m_cardIds.value(0);
}

bool FigureCanvas::isStrip() const
{
    return width() < kGridWidth && m_cardIds.size() > 2;
}

void FigureCanvas::makeCurrent(const QString& id)
{
    if (m_focused == id)
        return;
    m_focused = id;
    update();
    emit currentFigureChanged(currentFigure());
}

void FigureCanvas::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    arrange();
}

void FigureCanvas::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const ThemeColours& colours = windowColours();
    painter.setBrush(themeColours(m_options.theme).figure);
    for (const auto& [id, card] : std::as_const(m_places)) {
        // The card that the settings and the export mean is a little stronger than the others.
        const bool isMarked = m_places.size() > 1 && id == currentFigure();
        painter.setPen(QPen(isMarked ? colours.axis : colours.rule, 1.0));
        painter.drawRoundedRect(QRectF(card).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
    }
}

/// In the strip a click on a small figure makes it the large one.
bool FigureCanvas::eventFilter(QObject* watched, QEvent* event)
{
    const QString id = watched->objectName();
    switch (event->type()) {
    case QEvent::FocusIn:
        makeCurrent(id);
        break;
    case QEvent::Enter:
    case QEvent::Leave:
        if (const auto card = m_cardIds.indexOf(id); m_shown == kOverview && card >= 0)
            m_choosers[card]->setOffered(event->type() == QEvent::Enter);
        break;
    case QEvent::MouseButtonPress:
        if (m_shown == kOverview && isStrip() && id != m_large) {
            m_large = id;
            m_views.value(id)->setFocus(Qt::MouseFocusReason);
            makeCurrent(id);
            arrange();
            return true;
        }
        break;
    default:
        break;
    }
    return QWidget::eventFilter(watched, event);
}

void FigureCanvas::place(const QString& id, const QRect& card, bool isSmall)
{
    FigureView* view = m_views.value(id);
    m_places.append({id, card});
    // The card's rounded corner and hairline stay visible around the view.
    view->setGeometry(card.adjusted(4, 4, -4, -4));
    RenderOptions options = m_options;
    if (isSmall) {
        m_small.append(id);
        options.scale = std::max(0.7, m_options.scale * 0.7);
        options.showsCaption = false;
        options.showsTitle = false;
    }
    // The line of the title ends before the button in the corner.
    if (m_shown == kOverview)
        options.cornerWidth = kCornerWidth;
    view->setRenderOptions(options);
    view->show();
}

void FigureCanvas::arrange()
{
    QStringList wasShown;
    for (const auto& [id, card] : std::as_const(m_places))
        wasShown += id;
    m_places.clear();
    const QStringList wasSmall = m_small;
    m_small.clear();
    const QRect area = rect().adjusted(kGap, kGap, -kGap, -kGap);
    const QStringList visible = visibleFigures();
    for (const QString& id : visible)
        if (!wasShown.contains(id) && !m_current.contains(id))
            m_unseen.insert(id);
    for (FigureView* view : std::as_const(m_views))
        if (!visible.contains(view->objectName()))
            view->hide();
    if (m_shown != kOverview) {
        place(m_shown, area, false);
    } else if (isStrip()) {
        const int count = static_cast<int>(m_cardIds.size()) - 1; // all but the large one
        const int smallWidth = (area.width() - (count - 1) * kGap) / count;
        const int smallHeight = std::min(smallWidth * 2 / 3, area.height() / 4);
        const QRect large(area.left(), area.top(), area.width(), area.height() - smallHeight - kGap);
        int position = 0;
        for (const QString& id : std::as_const(m_cardIds)) {
            const QRect small(area.left() + position * (smallWidth + kGap), area.bottom() + 1 - smallHeight,
                              smallWidth, smallHeight);
            position += id != m_large;
            place(id, id == m_large ? large : small, id != m_large);
        }
    } else {
        const int count = static_cast<int>(m_cardIds.size());
        const int columns = count == 2 && width() < kGridWidth ? 1 : 2;
        const int rows = (count + columns - 1) / columns;
        const int width = (area.width() - (columns - 1) * kGap) / columns;
        const int height = (area.height() - (rows - 1) * kGap) / rows;
        for (int i = 0; i < count; ++i)
            place(m_cardIds[i],
                  QRect(area.left() + (i % columns) * (width + kGap),
                        area.top() + (i / columns) * (height + kGap), width, height),
                  false);
    }
    for (int i = 0; i < m_choosers.size(); ++i) {
        CardChooser* chooser = m_choosers[i];
        const bool isOffered = m_shown == kOverview && i < m_places.size();
        chooser->setVisible(isOffered);
        if (!isOffered)
            continue;
        const QRect& card = m_places[i].second;
        const QSize size = chooser->sizeHint();
        chooser->setGeometry(card.right() - size.width() - 5, card.top() + 6, size.width(), size.height());
        chooser->setGround(themeColours(m_options.theme));
        const FigureInfo* info = findFigure(m_places[i].first.toStdString());
        chooser->setFigureTitle(
            info ? QString::fromUtf8(info->title.data(), static_cast<int>(info->title.size()))
                 : m_places[i].first);
        chooser->raise();
        // Tab goes from a figure to the button in its corner.
        setTabOrder(m_views.value(m_places[i].first), chooser);
        if (i + 1 < m_places.size())
            setTabOrder(chooser, m_views.value(m_places[i + 1].first));
    }
    for (const QString& id : std::as_const(m_ids))
        if (wasSmall.contains(id) != m_small.contains(id))
            handOver(id);
    update();
}

} // namespace ropewalk
