// SPDX-License-Identifier: GPL-3.0-or-later
#include "document.h"

#include "change_command.h"
#include "file_text.h"
#include "tensors.h"

#include <algorithm>

namespace ropewalk {
namespace {

/// The parts of a session that are saved and not undoable.
Session viewOf(const Session& session)
{
    Session view = session;
    view.configurations.clear();
    view.selected = 0; // which one is looked at is no change worth a question
    return view;
}

} // namespace

Document::Document(Session session, QObject* parent)
    : QObject(parent)
    , m_session(std::move(session))
    , m_savedView(viewOf(m_session))
{
    connect(&m_undoStack, &QUndoStack::cleanChanged, this, &Document::fileChanged);
}

void Document::editConfigurations(std::vector<SessionConfiguration> configurations, int selected,
                                  const QString& what)
{
    if (configurations == m_session.configurations && selected == m_session.selected)
        return;
    m_undoStack.push(
        new ChangeCommand(*this, std::move(configurations), selected, m_isInGesture ? m_gesture : 0, what));
}

void Document::beginGesture()
{
    if (!m_isInGesture)
        ++m_gesture;
    m_isInGesture = true;
}

void Document::endGesture()
{
    m_isInGesture = false;
}

void Document::select(int index)
{
    const int last = static_cast<int>(m_session.configurations.size()) - 1;
    const int selected = std::clamp(index, 0, std::max(last, 0));
    if (selected == m_session.selected)
        return;
    m_session.selected = selected;
    emit viewChanged();
}

void Document::setOptions(const FigureOptions& options)
{
    if (options == m_session.options)
        return;
    m_session.options = options;
    emit viewChanged();
}

void Document::setFigure(const std::string& id)
{
    if (id == m_session.figure)
        return;
    m_session.figure = id;
    emit viewChanged();
}

void Document::setCards(const std::array<std::string, kCards>& cards, int count)
{
    if (cards == m_session.cards && count == m_session.cardCount)
        return;
    m_session.cards = cards;
    m_session.cardCount = count;
    emit viewChanged();
}

void Document::setDistanceLocked(bool isLocked)
{
    if (isLocked == m_session.isDistanceLocked)
        return;
    m_session.isDistanceLocked = isLocked;
    emit viewChanged();
}

bool Document::isModified() const
{
    return !m_undoStack.isClean() || (!m_path.isEmpty() && !(viewOf(m_session) == m_savedView));
}

Result<void> Document::saveTo(const QString& path)
{
    const Result<void> written =
        writeFile(path, QByteArray::fromStdString(sessionToJson(m_session, m_unknownKeys)));
    if (!written)
        return written.error();
    m_path = path;
    m_savedView = viewOf(m_session);
    m_undoStack.setClean();
    emit fileChanged();
    return {};
}

Result<std::vector<Issue>> Document::openSession(const QString& path)
{
    const Result<std::string> text = readTextFile(path);
    if (!text)
        return text.error();
    auto reading = sessionFromJson(*text);
    if (!reading) {
        Error error = reading.error();
        error.context = path.toStdString();
        return error;
    }
    // A session whose tensors are gone still opens: what needs them says so.
    for (const auto load : {loadTensors, loadEncodingTensors})
        if (const Result<void> loaded = load(reading->session.options); !loaded) {
            Message sentence = loaded.error().message;
            sentence.text = "{file}: " + sentence.text;
            sentence.values.emplace_back("file", loaded.error().context);
            reading->notes.push_back({Severity::Warning, "tensors", std::move(sentence)});
        }
    replace(reading->session, path, reading->unknownKeys);
    return reading->notes;
}

void Document::startAnew(Session session)
{
    replace(std::move(session), {}, {});
}

void Document::replace(Session session, const QString& path, const std::string& unknownKeys)
{
    m_session = std::move(session);
    m_unknownKeys = unknownKeys;
    m_path = path;
    m_savedView = viewOf(m_session);
    m_isInGesture = false;
    m_undoStack.clear();
    emit configurationsChanged();
    emit fileChanged();
}

void Document::restore(const std::vector<SessionConfiguration>& configurations, int selected)
{
    m_session.configurations = configurations;
    m_session.selected = selected;
    emit configurationsChanged();
    emit fileChanged();
}

} // namespace ropewalk
