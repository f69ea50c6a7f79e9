// SPDX-License-Identifier: GPL-3.0-or-later
#include "figure_canvas.h"

#include "window_style.h"

#include <QEvent>
#include <QPainter>
#include <QResizeEvent>

#include <algorithm>

namespace ropewalk {
namespace {

const QString kOverview = QStringLiteral("overview");
constexpr int kGap = 12;
/// Width from which four figures are legible side by side; a window of 1280 leaves 988.
constexpr int kGridWidth = 900;

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

} // namespace

FigureCanvas::FigureCanvas(const QStringList& ids, QWidget* parent)
    : QWidget(parent)
    , m_ids(ids)
    , m_large(ids.value(0))
{
    for (const QString& id : m_ids) {
        auto* view = new FigureView(this);
        view->setObjectName(id);
        view->installEventFilter(this);
        m_views.insert(id, view);
        connect(view, &FigureView::pairPicked, this, &FigureCanvas::pairPicked);
        connect(view, &FigureView::distancePicked, this, &FigureCanvas::distancePicked);
        connect(view, &FigureView::positionsDragged, this, &FigureCanvas::positionsDragged);
        connect(view, &FigureView::enlargeRequested, this, [this, id] { emit enlargeRequested(id); });
        connect(view, &FigureView::contextRequested, this,
                [this, id](const QPoint& position) { emit contextRequested(id, position); });
    }
    setMinimumSize(360, 300);
}

void FigureCanvas::setFigure(FigureSpec figure)
{
    const QString id = QString::fromStdString(figure.id);
    if (!m_views.contains(id))
        return;
    m_figures.insert(id, std::move(figure));
    show(id);
}

const FigureSpec& FigureCanvas::figure(const QString& id) const
{
    static const FigureSpec none;
    const auto found = m_figures.find(id);
    return found == m_figures.end() ? none : *found;
}

void FigureCanvas::setSelectedLetter(const std::string& letter)
{
    if (letter == m_selectedLetter)
        return;
    m_selectedLetter = letter;
    for (const QString& id : std::as_const(m_ids))
        show(id);
}

/// Hands the view of `id` what it has room for.
void FigureCanvas::show(const QString& id)
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

void FigureCanvas::setShown(const QString& id)
{
    if (m_shown == id || (id != kOverview && !m_views.contains(id)))
        return;
    m_shown = id;
    arrange();
    for (const QString& each : std::as_const(m_ids))
        show(each); // the overview shows one plane, the large figure all
    emit visibleFiguresChanged();
}

void FigureCanvas::setRenderOptions(const RenderOptions& options)
{
    m_options = options;
    arrange();
}

QStringList FigureCanvas::visibleFigures() const
{
    return m_shown == kOverview ? m_ids : QStringList{m_shown};
}

QString FigureCanvas::currentFigure() const
{
    if (m_shown != kOverview)
        return m_shown;
    for (const QString& id : m_ids)
        if (m_views.value(id)->hasFocus())
            return id;
    return isStrip() ? m_large : m_ids.value(0);
}

bool FigureCanvas::isStrip() const
{
    return width() < kGridWidth;
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
    painter.setPen(QPen(colours.rule, 1.0));
    painter.setBrush(themeColours(m_options.theme).figure);
    for (const QRect& card : m_cards)
        painter.drawRoundedRect(QRectF(card).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
}

/// In the strip a click on a small figure makes it the large one.
bool FigureCanvas::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::MouseButtonPress && m_shown == kOverview && isStrip()) {
        const QString id = watched->objectName();
        if (id != m_large) {
            m_large = id;
            arrange();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void FigureCanvas::place(const QString& id, const QRect& card, bool isSmall)
{
    FigureView* view = m_views.value(id);
    m_cards.append(card);
    // The card's rounded corner and hairline stay visible around the view.
    view->setGeometry(card.adjusted(4, 4, -4, -4));
    RenderOptions options = m_options;
    if (isSmall) {
        m_small.append(id);
        options.scale = std::max(0.7, m_options.scale * 0.7);
        options.showsCaption = false;
        options.showsTitle = false;
    }
    view->setRenderOptions(options);
    view->show();
}

void FigureCanvas::arrange()
{
    m_cards.clear();
    const QStringList wasSmall = m_small;
    m_small.clear();
    const QRect area = rect().adjusted(kGap, kGap, -kGap, -kGap);
    for (FigureView* view : std::as_const(m_views))
        if (m_shown != kOverview && view->objectName() != m_shown)
            view->hide();
    if (m_shown != kOverview) {
        place(m_shown, area, false);
    } else if (isStrip()) {
        const int count = static_cast<int>(m_ids.size()) - 1; // all but the large one
        const int smallWidth = (area.width() - (count - 1) * kGap) / count;
        const int smallHeight = std::min(smallWidth * 2 / 3, area.height() / 4);
        place(m_large, QRect(area.left(), area.top(), area.width(), area.height() - smallHeight - kGap),
              false);
        int position = 0;
        for (const QString& id : m_ids) {
            if (id == m_large)
                continue;
            const QRect card(area.left() + position * (smallWidth + kGap), area.bottom() + 1 - smallHeight,
                             smallWidth, smallHeight);
            ++position;
            place(id, card, true);
        }
    } else {
        const int columns = 2;
        const int rows = (static_cast<int>(m_ids.size()) + 1) / columns;
        const int width = (area.width() - kGap) / columns;
        const int height = (area.height() - (rows - 1) * kGap) / rows;
        for (int i = 0; i < m_ids.size(); ++i)
            place(m_ids[i],
                  QRect(area.left() + (i % columns) * (width + kGap),
                        area.top() + (i / columns) * (height + kGap), width, height),
                  false);
    }
    for (const QString& id : std::as_const(m_ids))
        if (wasSmall.contains(id) != m_small.contains(id))
            show(id);
    update();
}

} // namespace ropewalk
