// SPDX-License-Identifier: GPL-3.0-or-later
#include "field_row.h"

#include "../window_style.h"
#include "segmented_control.h"

#include <QEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>

namespace ropewalk {
namespace {

constexpr double kPad = 16.0;
constexpr double kLine = 28.0;
constexpr double kControlLeft = 96.0; ///< the controls of a column stand one under the other
constexpr double kColumn = 292.0;

} // namespace

FieldRow::FieldRow(const QString& name, QWidget* control, QWidget* parent)
    : QWidget(parent)
    , m_name(name)
    , m_control(control)
{
    control->setParent(this);
    if (!name.isEmpty())
        control->setAccessibleName(name);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    restyle();
}

void FieldRow::setChanged(bool isChanged)
{
    m_isChanged = isChanged;
    update();
}

void FieldRow::allowTwoLines()
{
    m_mayStack = true;
    restyle();
}

bool FieldRow::isStacked() const
{
    if (!m_mayStack || m_name.isEmpty())
        return false;
    const int room = scaledPixels(kColumn - kControlLeft - kPad);
    const int nameRoom = scaledPixels(kControlLeft - kPad - 4.0);
    return (qobject_cast<SegmentedControl*>(m_control) && m_control->sizeHint().width() > room) ||
           QFontMetrics(windowFont(TextRole::Control)).horizontalAdvance(m_name) > nameRoom;
}

QSize FieldRow::sizeHint() const
{
    return {scaledPixels(260), scaledPixels(isStacked() ? kLine + 20.0 : kLine)};
}

QSize FieldRow::minimumSizeHint() const
{
    return {scaledPixels(120), sizeHint().height()};
}

void FieldRow::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const int pad = scaledPixels(kPad);
    const int lineHeight = isStacked() ? scaledPixels(22) : height();
    if (!m_name.isEmpty()) {
        painter.setFont(font());
        painter.setPen(windowColours().text);
        const int right = isStacked() ? width() - pad : m_control->x() - scaledPixels(4);
        const QRect line(pad, 0, right - pad, lineHeight);
        painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(m_name, Qt::ElideRight, line.width()));
    }
    if (m_isChanged) {
        const double radius = 2.5 * windowStyle().scale;
        painter.setPen(Qt::NoPen);
        painter.setBrush(windowColours().accent);
        painter.drawEllipse(QPointF(scaledPixels(9), lineHeight / 2.0), radius, radius);
    }
}

void FieldRow::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    placeControl();
}

void FieldRow::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::StyleChange)
        restyle();
}

void FieldRow::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton)
        emit restoreRequested();
}

void FieldRow::restyle()
{
    setFont(windowFont(TextRole::Control));
    m_control->setFont(windowFont(TextRole::Control));
    placeControl();
    updateGeometry();
}

void FieldRow::placeControl()
{
    const int pad = scaledPixels(kPad);
    if (m_name.isEmpty() || isStacked()) {
        const int top = isStacked() ? scaledPixels(21) : scaledPixels(3);
        m_control->setGeometry(pad, top, width() - 2 * pad, height() - top - scaledPixels(3));
        return;
    }
    // Further left where the room is scarce.
    const int left = std::min(scaledPixels(kControlLeft), width() / 3);
    m_control->setGeometry(left, scaledPixels(3), width() - left - pad, height() - scaledPixels(6));
}

} // namespace ropewalk
