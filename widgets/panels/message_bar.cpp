// SPDX-License-Identifier: GPL-3.0-or-later
#include "message_bar.h"

#include "../window_style.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QToolButton>

#include <algorithm>

namespace ropewalk {
namespace {

QColor colourOf(MessageKind kind)
{
    switch (kind) {
    case MessageKind::Information:
        return windowColours().accent;
    case MessageKind::Warning:
        return windowColours().mark;
    case MessageKind::Error:
        return errorColour();
    }
    return windowColours().accent;
}

} // namespace

MessageBar::MessageBar(QWidget* parent)
    : QWidget(parent)
    , m_layout(new QHBoxLayout(this))
    , m_text(new QLabel(this))
    , m_count(new QLabel(this))
    , m_close(new QToolButton(this))
{
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::PlainText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_text->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    m_close->setText(tr("close"));
    m_close->setAccessibleName(tr("close the message"));
    m_layout->addWidget(m_text, 1);
    m_layout->addWidget(m_count);
    m_layout->addWidget(m_close);
    connect(m_close, &QToolButton::clicked, this, &MessageBar::closeFirst);
    restyle();
    hide();
}

void MessageBar::showMessage(const BarMessage& message)
{
    const auto same = std::find_if(m_messages.begin(), m_messages.end(),
                                   [&](const BarMessage& other) { return other.key == message.key; });
    if (same != m_messages.end())
        *same = message;
    else
        m_messages.append(message);
    showFirst();
}

void MessageBar::dismiss(const QString& key)
{
    const auto gone = m_messages.removeIf([&](const BarMessage& message) { return message.key == key; });
    if (gone > 0)
        showFirst();
}

QString MessageBar::text() const
{
    return m_messages.isEmpty() ? QString() : m_messages.first().text;
}

void MessageBar::closeFirst()
{
    if (m_messages.isEmpty())
        return;
    const QString key = m_messages.takeFirst().key;
    showFirst();
    emit dismissed(key);
}

void MessageBar::showFirst()
{
    for (QToolButton* button : m_actions) {
        m_layout->removeWidget(button);
        button->hide();
        button->deleteLater(); // it may be what was just clicked
    }
    m_actions.clear();
    if (m_messages.isEmpty()) {
        hide();
        return;
    }
    const BarMessage message = m_messages.first();
    const bool isNew = m_text->text() != message.text || !isVisible();
    m_text->setText(message.text);
    m_count->setText(tr("1 of %1").arg(m_messages.size()));
    m_count->setVisible(m_messages.size() > 1);
    QWidget* before = m_text;
    for (const MessageAction& action : message.actions) {
        auto* button = new QToolButton(this);
        button->setText(action.text);
        button->setFont(windowFont(TextRole::Strong));
        connect(button, &QToolButton::clicked, this, [this, key = message.key, id = action.id] {
            dismiss(key);
            emit actionTriggered(key, id);
        });
        m_layout->insertWidget(m_layout->indexOf(m_count), button);
        button->show();
        setTabOrder(before, button);
        before = button;
        m_actions.append(button);
    }
    setTabOrder(before, m_close);
    setAccessibleName(message.text);
    restyle();
    show();
    if (isNew && QAccessible::isActive()) {
        QAccessibleEvent alert(this, QAccessible::Alert);
        QAccessible::updateAccessibility(&alert);
    }
}

void MessageBar::restyle()
{
    m_layout->setContentsMargins(scaledPixels(16), scaledPixels(6), scaledPixels(8), scaledPixels(6));
    m_layout->setSpacing(scaledPixels(8));
    m_text->setFont(windowFont(TextRole::Text));
    m_count->setFont(windowFont(TextRole::Small));
    m_close->setFont(windowFont(TextRole::Small));
    QPalette quiet = palette();
    quiet.setColor(QPalette::WindowText, windowColours().muted);
    m_count->setPalette(quiet);
    for (QToolButton* button : m_actions)
        button->setFont(windowFont(TextRole::Strong));
    update();
}

void MessageBar::paintEvent(QPaintEvent*)
{
    if (m_messages.isEmpty())
        return;
    QPainter painter(this);
    const ThemeColours& colours = windowColours();
    painter.fillRect(rect(), colours.chrome);
    painter.fillRect(QRect(0, height() - 1, width(), 1), colours.rule);
    painter.fillRect(QRect(0, 0, scaledPixels(4), height()), colourOf(m_messages.first().kind));
}

void MessageBar::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape)
        closeFirst();
    else
        QWidget::keyPressEvent(event);
}

void MessageBar::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::StyleChange)
        restyle();
}

} // namespace ropewalk
