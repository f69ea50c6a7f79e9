// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "document.h"

#include <QUndoCommand>

namespace ropewalk {

/// One undo entry: the configurations before and after, as values.
class ChangeCommand : public QUndoCommand
{
public:
    /// `gesture` 0 merges with nothing.
    ChangeCommand(Document& document, std::vector<SessionConfiguration> after, int selectedAfter, int gesture,
                  const QString& what);

    void undo() override;
    void redo() override;
    int id() const override { return 1; }
    bool mergeWith(const QUndoCommand* other) override;

private:
    Document& m_document;
    std::vector<SessionConfiguration> m_before, m_after;
    int m_selectedBefore, m_selectedAfter;
    int m_gesture;
};

} // namespace ropewalk
