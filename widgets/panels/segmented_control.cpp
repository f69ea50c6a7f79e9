// SPDX-License-Identifier: GPL-3.0-or-later
#include "segmented_control.h"

#include "../window_style.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>

namespace ropewalk {

SegmentedControl::SegmentedControl(const QStringList& words, QWidget* parent)
    : QWidget(parent)
    , m_words(words)
{
    setFocusPolicy(Qt::StrongFocus);
    setFont(windowFont(TextRole::Label));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleDescription(m_words.value(0));
}

void SegmentedControl::setCurrent(int index)
{
    if (m_current == index)
        return;
    m_current = index;
    setAccessibleDescription(m_words.value(index));
    update();
}

QRect SegmentedControl::segment(int index) const
{
    const auto count = static_cast<int>(m_words.size());
    const int left = width() * index / count;
    return {left, 0, width() * (index + 1) / count - left, height()};
}

QSize SegmentedControl::sizeHint() const
{
    int widest = 0;
    for (const QString& text : m_words)
        widest = std::max(widest, fontMetrics().horizontalAdvance(text));
    return {static_cast<int>(m_words.size()) * (widest + scaledPixels(16)), scaledPixels(22)};
}

QSize SegmentedControl::minimumSizeHint() const
{
    return {static_cast<int>(m_words.size()) * scaledPixels(30), scaledPixels(22)}; // words are elided
}

void SegmentedControl::paintEvent(QPaintEvent*)
{
    const ThemeColours& colours = windowColours();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double radius = scaledPixels(5);
    const QRectF frame = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    painter.setPen(hasFocus() ? colours.accent : colours.rule);
    painter.setBrush(colours.field);
    painter.drawRoundedRect(frame, radius, radius);
    for (int i = 0; i < m_words.size(); ++i) {
        const bool isCurrent = i == m_current;
        if (isCurrent) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(colours.accent);
            painter.drawRoundedRect(segment(i), radius, radius);
            if (hasFocus()) {
                painter.setPen(QPen(colours.onAccent, 1.0));
                painter.setBrush(Qt::NoBrush);
                painter.drawRoundedRect(QRectF(segment(i)).adjusted(2.5, 2.5, -2.5, -2.5), radius - 2,
                                        radius - 2);
            }
        }
        painter.setFont(isCurrent ? ropewalkFont(12.0 * windowStyle().scale, QFont::DemiBold) : font());
        painter.setPen(isCurrent ? colours.onAccent : colours.text);
        painter.drawText(segment(i), Qt::AlignCenter,
                         painter.fontMetrics().elidedText(m_words[i], Qt::ElideRight,
                                                          segment(i).width() - scaledPixels(4)));
    }
}

void SegmentedControl::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    for (int i = 0; i < m_words.size(); ++i)
        if (segment(i).contains(event->position().toPoint()))
            choose(i);
}

void SegmentedControl::keyPressEvent(QKeyEvent* event)
{
    const auto last = static_cast<int>(m_words.size()) - 1;
    switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Up:
        choose(std::max(0, m_current - 1));
        break;
    case Qt::Key_Right:
    case Qt::Key_Down:
        choose(std::min(last, m_current + 1));
        break;
    case Qt::Key_Space:
        choose(m_current == last ? 0 : m_current + 1);
        break;
    default:
        QWidget::keyPressEvent(event);
    }
}

void SegmentedControl::choose(int index)
{
    if (index == m_current)
        return;
    setCurrent(index);
    emit chosen(index);
}

void SegmentedControl::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::StyleChange) {
        setFont(windowFont(TextRole::Label));
        updateGeometry();
    }
}

} // namespace ropewalk
