// SPDX-License-Identifier: GPL-3.0-or-later
#include "number_edit.h"

#include "../window_style.h"
#include "tabular_text.h"

#include <QKeyEvent>
#include <QPainter>
#include <QStyle>
#include <QStyleOptionFrame>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ropewalk {

NumberEdit::NumberEdit(QWidget* parent)
    : QLineEdit(parent)
    , m_lowest(-std::numeric_limits<double>::max())
    , m_highest(std::numeric_limits<double>::max())
{
    setAlignment(Qt::AlignRight);
    setFont(windowFont(TextRole::Control));
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    connect(this, &QLineEdit::returnPressed, this, [this] {
        if (commit())
            selectAll();
    });
    showText();
}

void NumberEdit::setLimits(double lowest, double highest, double unit)
{
    m_lowest = lowest;
    m_highest = highest;
    m_unit = unit;
}

void NumberEdit::setSuffix(Suffix suffix)
{
    m_suffix = suffix;
}

void NumberEdit::setExpectation(const QString& words)
{
    m_expectation = words;
}

void NumberEdit::setOptional(bool isOptional)
{
    m_isOptional = isOptional;
}

void NumberEdit::setShownTemplate(const QString& text)
{
    if (m_template == text)
        return;
    m_template = text;
    update();
}

void NumberEdit::setValue(double value)
{
    if (m_isStated && m_value == value)
        return;
    m_value = value;
    m_isStated = true;
    // What is being typed is not taken from under the person's hands.
    if (!hasFocus() || !isModified())
        showText();
    update();
}

void NumberEdit::setUnstated(const QString& shown)
{
    if (!m_isStated && m_unstatedText == shown)
        return;
    m_isStated = false;
    m_unstatedText = shown;
    if (!hasFocus() || !isModified())
        showText();
    update();
}

QSize NumberEdit::sizeHint() const
{
    return {scaledPixels(80), scaledPixels(21)};
}

QSize NumberEdit::minimumSizeHint() const
{
    return {scaledPixels(40), scaledPixels(21)};
}

QString NumberEdit::shownText() const
{
    if (!m_isStated)
        return m_unstatedText;
    QString number = shownNumber(m_value, m_unit > 0.0 ? 15 : 6);
    return m_template.isEmpty() ? number : m_template.arg(number);
}

void NumberEdit::showText()
{
    const QString text = m_isStated ? exactNumber(m_value) : QString();
    if (QLineEdit::text() != text)
        setText(text);
    setModified(false);
    if (property("refused").toBool()) {
        setProperty("refused", false);
        style()->polish(this);
    }
}

bool NumberEdit::commit()
{
    if (!isModified()) {
        showText();
        emit accepted();
        return true;
    }
    const QString typed = text().trimmed();
    if (typed.isEmpty() && m_isOptional) {
        setModified(false);
        showText();
        emit accepted();
        emit cleared();
        return true;
    }
    const std::optional<double> number = parseNumber(typed, m_suffix);
    const bool isWhole = !number || m_unit <= 0.0 || std::fmod(*number, m_unit) == 0.0;
    if (number && isWhole && *number >= m_lowest && *number <= m_highest) {
        const bool isNew = !m_isStated || *number != m_value;
        m_value = *number;
        m_isStated = true;
        showText();
        emit accepted();
        if (isNew)
            emit valueEntered(*number);
        return true;
    }
    QString expected = m_expectation;
    if (expected.isEmpty()) {
        const QString kind = m_unit == 2.0   ? tr("an even number from %1 to %2")
                             : m_unit == 1.0 ? tr("a whole number from %1 to %2")
                                             : tr("a number from %1 to %2");
        expected = kind.arg(shownNumber(m_lowest, 15), shownNumber(m_highest, 15));
    }
    const QString shownTyped = typed.size() > 24 ? typed.left(23) + QChar(0x2026) : typed;
    setProperty("refused", true);
    style()->polish(this);
    emit refused(typed.isEmpty() ? tr("nothing was typed; expected %1").arg(expected)
                                 : tr("“%1” is refused; expected %2").arg(shownTyped, expected));
    return false;
}

void NumberEdit::paintEvent(QPaintEvent* event)
{
    if (hasFocus()) {
        QLineEdit::paintEvent(event);
        return;
    }
    QPainter painter(this);
    QStyleOptionFrame option;
    initStyleOption(&option);
    style()->drawPrimitive(QStyle::PE_PanelLineEdit, &option, &painter, this);
    const ThemeColours& colours = windowColours();
    painter.setPen(!isEnabled() || !m_isStated ? colours.muted : colours.text);
    painter.setFont(font());
    const QRectF inside = QRectF(rect()).adjusted(scaledPixels(4), 0, -scaledPixels(6), 0);
    const QString text = shownText();
    // Half a number would be a wrong one: what does not fit is written smaller.
    const double wanted = tabularWidth(QFontMetricsF(font(), this), text);
    if (wanted > inside.width()) {
        QFont smaller = font();
        smaller.setPixelSize(std::max(1, static_cast<int>(smaller.pixelSize() * inside.width() / wanted)));
        painter.setFont(smaller);
    }
    drawTabular(painter, inside, Qt::AlignRight | Qt::AlignVCenter, text);
}

void NumberEdit::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Escape:
        if (isModified() || property("refused").toBool()) {
            showText();
            selectAll();
            emit accepted();
            return;
        }
        event->ignore(); // a dialog or the lecture may want it
        return;
    case Qt::Key_Up:
    case Qt::Key_Down:
        if (event->modifiers() & ~Qt::KeypadModifier)
            break;
        if (isModified() && !commit())
            return;
        emit stepRequested(event->key() == Qt::Key_Up ? 0.01 : -0.01);
        selectAll();
        return;
    default:
        break;
    }
    QLineEdit::keyPressEvent(event);
}

void NumberEdit::focusInEvent(QFocusEvent* event)
{
    if (!isModified())
        showText();
    QLineEdit::focusInEvent(event);
    // A click would set the cursor and drop the selection that the focus made.
    QMetaObject::invokeMethod(
        this,
        [this] {
            if (hasFocus() && !isModified() && !hasSelectedText())
                selectAll();
        },
        Qt::QueuedConnection);
}

void NumberEdit::focusOutEvent(QFocusEvent* event)
{
    QLineEdit::focusOutEvent(event);
    if (event->reason() != Qt::PopupFocusReason && event->reason() != Qt::ActiveWindowFocusReason) {
        if (!commit())
            showText(); // the old value stands; the message says what was refused
    }
    update();
}

void NumberEdit::changeEvent(QEvent* event)
{
    QLineEdit::changeEvent(event);
    if (event->type() == QEvent::StyleChange) {
        setFont(windowFont(TextRole::Control));
        updateGeometry();
    }
}

} // namespace ropewalk
