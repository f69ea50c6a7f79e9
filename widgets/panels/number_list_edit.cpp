// SPDX-License-Identifier: GPL-3.0-or-later
#include "number_list_edit.h"

#include "core/json_writer.h"

#include <QKeyEvent>

namespace ropewalk {

NumberListEdit::NumberListEdit(QWidget* parent)
    : QLineEdit(parent)
{
    constexpr int kLongest = 200'000; // 4096 numbers with all their digits
    setMaxLength(kLongest);
    setNumbers({});
}

void NumberListEdit::setNumbers(const std::vector<double>& numbers)
{
    std::string list;
    for (const double number : numbers) {
        list += list.empty() ? "" : ", ";
        appendDouble(list, number);
    }
    const bool isTyped = m_isEditing && text() != m_list;
    m_list = QString::fromStdString(list);
    m_summary = numbers.empty() ? tr("none") : tr("%1 values").arg(numbers.size());
    setAccessibleDescription(m_summary);
    setToolTip(tr("numbers with commas between: type or paste them"));
    if (!isTyped)
        showList();
}

void NumberListEdit::showList()
{
    setText(m_isEditing ? m_list : m_summary);
    setCursorPosition(0);
}

void NumberListEdit::commit()
{
    if (m_isEditing && text() != m_list)
        emit textEntered(text());
}

void NumberListEdit::focusInEvent(QFocusEvent* event)
{
    QLineEdit::focusInEvent(event);
    if (m_isEditing)
        return;
    m_isEditing = true;
    showList();
    selectAll();
}

void NumberListEdit::focusOutEvent(QFocusEvent* event)
{
    QLineEdit::focusOutEvent(event);
    // The menu of the field itself takes the focus for a moment only.
    if (event->reason() == Qt::PopupFocusReason || !m_isEditing)
        return;
    commit();
    m_isEditing = false;
    showList();
}

void NumberListEdit::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        commit();
        return;
    }
    if (event->key() == Qt::Key_Escape && text() != m_list) {
        showList();
        selectAll();
        emit textEntered(m_list); // what was refused before is settled
        return;
    }
    QLineEdit::keyPressEvent(event);
}

} // namespace ropewalk
