// SPDX-License-Identifier: GPL-3.0-or-later
#include "change_command.h"

namespace ropewalk {

ChangeCommand::ChangeCommand(Document& document, std::vector<SessionConfiguration> after, int selectedAfter,
                             int gesture, const QString& what)
    : QUndoCommand(what)
    , m_document(document)
    , m_before(document.session().configurations)
    , m_after(std::move(after))
    , m_selectedBefore(document.session().selected)
    , m_selectedAfter(selectedAfter)
    , m_gesture(gesture)
{
}

void ChangeCommand::undo()
{
    m_document.restore(m_before, m_selectedBefore);
}

void ChangeCommand::redo()
{
    m_document.restore(m_after, m_selectedAfter);
}

bool ChangeCommand::mergeWith(const QUndoCommand* other)
{
    const auto* next = static_cast<const ChangeCommand*>(other);
    if (m_gesture == 0 || next->m_gesture != m_gesture)
        return false;
    m_after = next->m_after;
    m_selectedAfter = next->m_selectedAfter;
    // A drag that ends where it began changed nothing.
    setObsolete(m_after == m_before && m_selectedAfter == m_selectedBefore);
    return true;
}

} // namespace ropewalk
