// SPDX-License-Identifier: GPL-3.0-or-later
#include "card_chooser.h"

#include "../window_style.h"

#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>

namespace ropewalk {

CardChooser::CardChooser(QWidget* parent)
    : QAbstractButton(parent)
    , m_colours(windowColours())
{
    setFocusPolicy(Qt::TabFocus);
}

void CardChooser::setFigureTitle(const QString& title)
{
    setAccessibleName(tr("another figure in the place of %1").arg(title));
    setToolTip(tr("another figure here"));
}

void CardChooser::setGround(const ThemeColours& colours)
{
    m_colours = colours;
    update();
}

void CardChooser::setOffered(bool isOffered)
{
    m_isOffered = isOffered;
    update();
}

QSize CardChooser::sizeHint() const
{
    return {scaledPixels(24), scaledPixels(24)};
}

void CardChooser::paintEvent(QPaintEvent*)
{
    if (!m_isOffered && !hasFocus() && !underMouse())
        return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(hasFocus() ? m_colours.accent : m_colours.rule, 1.0));
    painter.setBrush(m_colours.figure);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), scaledPixels(4), scaledPixels(4));
    const double half = 4.0 * windowStyle().scale;
    const QPointF centre = QRectF(rect()).center();
    QPainterPath sign;
    sign.moveTo(centre + QPointF(-half, -half / 2.0));
    sign.lineTo(centre + QPointF(0.0, half / 2.0));
    sign.lineTo(centre + QPointF(half, -half / 2.0));
    painter.setPen(QPen(underMouse() || hasFocus() ? m_colours.text : m_colours.muted,
                        1.5 * windowStyle().scale, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(sign);
}

void CardChooser::enterEvent(QEnterEvent* event)
{
    QAbstractButton::enterEvent(event);
    update();
}

void CardChooser::leaveEvent(QEvent* event)
{
    QAbstractButton::leaveEvent(event);
    update();
}

void CardChooser::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Down)
        click();
    else
        QAbstractButton::keyPressEvent(event);
}

} // namespace ropewalk
