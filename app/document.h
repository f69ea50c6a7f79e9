// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/io/session_file.h"

#include <QObject>
#include <QString>
#include <QUndoStack>

namespace ropewalk {

/// What is open: a Session as a value, its file, and the history of its configurations. Changes of
/// configurations go through the undo stack, one entry a gesture; changes of the view do not (saved, not
/// undoable). GUI thread.
class Document : public QObject
{
    Q_OBJECT
public:
    explicit Document(Session session, QObject* parent = nullptr);

    const Session& session() const { return m_session; }
    QUndoStack& undoStack() { return m_undoStack; }

    /// Changes the configurations (list, values, which is selected) as one undo entry named `what`; edits
    /// between beginGesture and endGesture make one entry together.
    void editConfigurations(std::vector<SessionConfiguration> configurations, int selected,
                            const QString& what);
    void beginGesture();
    void endGesture();

    /// Selecting is looking, not changing: no undo entry.
    void select(int index);
    void setOptions(const FigureOptions& options);
    void setFigure(const std::string& id);
    void setCards(const std::array<std::string, kCards>& cards, int count);
    void setDistanceLocked(bool isLocked);

    QString path() const { return m_path; } ///< empty when never saved
    bool isModified() const;

    /// Another session, never saved, with an empty history.
    void startAnew(Session session);

    /// Writes atomically (temporary file and rename); what was in the file stays until the new content is
    /// complete.
    Result<void> saveTo(const QString& path);
    /// Replaces everything; on an error nothing changes. The notes name unknown keys, which are kept.
    Result<std::vector<Issue>> openSession(const QString& path);

signals:
    void configurationsChanged();
    void viewChanged();
    void fileChanged(); ///< path or modified state

private:
    friend class ChangeCommand;
    void replace(Session session, const QString& path, const std::string& unknownKeys);
    void restore(const std::vector<SessionConfiguration>& configurations, int selected);

    Session m_session;
    QUndoStack m_undoStack;
    QString m_path;
    std::string m_unknownKeys;
    Session m_savedView; ///< for isModified: the view as saved
    int m_gesture = 0;   ///< counts gestures; entries of the same one merge
    bool m_isInGesture = false;
};

} // namespace ropewalk
