// SPDX-License-Identifier: GPL-3.0-or-later
#include "section.h"

#include "../window_style.h"

#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>
#include <QVBoxLayout>

#include <algorithm>

namespace ropewalk {

SectionTitle::SectionTitle(const QString& text, Kind kind, QWidget* parent)
    : QAbstractButton(parent)
    , m_kind(kind)
{
    setText(text);
    setAccessibleName(text);
    setCheckable(true);
    setChecked(true);
    setFocusPolicy(Qt::TabFocus);
    setFont(windowFont(kind == Kind::Section ? TextRole::Section : TextRole::Small));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QSize SectionTitle::sizeHint() const
{
    return {fontMetrics().horizontalAdvance(text()) + scaledPixels(60),
            scaledPixels(m_kind == Kind::Section ? 33 : 22)};
}

QSize SectionTitle::minimumSizeHint() const
{
    return {scaledPixels(60), sizeHint().height()};
}

void SectionTitle::paintEvent(QPaintEvent*)
{
    const ThemeColours& colours = windowColours();
    const double scale = windowStyle().scale;
    const int pad = scaledPixels(16);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(font());
    const bool isLively = underMouse() || hasFocus();
    painter.setPen(hasFocus() ? colours.accent : isLively ? colours.text : colours.muted);
    const int bottom = m_kind == Kind::Section ? height() - scaledPixels(6) : height();
    const QRect line(pad, 0, width() - 2 * pad, bottom);
    const int textTop = m_kind == Kind::Section ? scaledPixels(9) : 0;
    painter.drawText(line.adjusted(0, textTop, -scaledPixels(16), 0), Qt::AlignLeft | Qt::AlignVCenter,
                     fontMetrics().elidedText(text(), Qt::ElideRight, line.width() - scaledPixels(16)));
    // The fold's sign is quiet until the pointer or the focus is here, or something is folded away.
    if (isLively || !isChecked() || m_kind == Kind::More) {
        const double half = 3.0 * scale;
        const double textWidth = fontMetrics().horizontalAdvance(text());
        const double x = m_kind == Kind::More
                             ? std::min(pad + textWidth + 9.0 * scale, width() - pad - half - 1.0)
                             : width() - pad - half - 1.0;
        const double y = (textTop + bottom) / 2.0;
        QPainterPath sign;
        if (isChecked()) {
            sign.moveTo(x - half, y - half / 2.0);
            sign.lineTo(x, y + half / 2.0);
            sign.lineTo(x + half, y - half / 2.0);
        } else {
            sign.moveTo(x - half / 2.0, y - half);
            sign.lineTo(x + half / 2.0, y);
            sign.lineTo(x - half / 2.0, y + half);
        }
        painter.setPen(QPen(painter.pen().color(), 1.3 * scale, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        painter.setBrush(Qt::NoBrush);
        painter.drawPath(sign);
    }
    if (m_kind == Kind::Section) {
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.fillRect(QRect(pad, bottom, width() - 2 * pad, 1), colours.rule);
    }
}

void SectionTitle::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
        click();
    else
        QAbstractButton::keyPressEvent(event);
}

void SectionTitle::changeEvent(QEvent* event)
{
    QAbstractButton::changeEvent(event);
    if (event->type() == QEvent::StyleChange) {
        setFont(windowFont(m_kind == Kind::Section ? TextRole::Section : TextRole::Small));
        updateGeometry();
    }
}

void SectionTitle::enterEvent(QEnterEvent* event)
{
    QAbstractButton::enterEvent(event);
    update();
}

void SectionTitle::leaveEvent(QEvent* event)
{
    QAbstractButton::leaveEvent(event);
    update();
}

Section::Section(const QString& title, SectionTitle::Kind kind, QWidget* parent)
    : QWidget(parent)
    , m_title(new SectionTitle(title, kind, this))
    , m_content(new QWidget(this))
    , m_contentLayout(new QVBoxLayout(m_content))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_title);
    layout->addWidget(m_content);
    m_contentLayout->setContentsMargins(0, 0, 0, 0);
    m_contentLayout->setSpacing(0);
    connect(m_title, &QAbstractButton::toggled, this, [this](bool isOpen) {
        m_content->setVisible(isOpen);
        emit toggled(isOpen);
    });
}

bool Section::isOpen() const
{
    return m_title->isChecked();
}

void Section::setOpen(bool isOpen)
{
    m_title->setChecked(isOpen);
}

} // namespace ropewalk
