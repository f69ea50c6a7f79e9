// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/io/session_file.h"

#include <QList>
#include <QWidget>

class QToolButton;
class QVBoxLayout;

namespace ropewalk {

/// One line of the add menu.
struct PresetChoice
{
    QString id, name, family, source;
};

/// The second line of a configuration: "base 500 000 · Llama-3 ×8". What the name already says is left out.
QString configurationDetail(const RopeConfig& config);

/// The configurations A–D, and the menu that adds one. Says what is wanted; does nothing itself.
class ConfigList : public QWidget
{
    Q_OBJECT
public:
    explicit ConfigList(QWidget* parent = nullptr);

    void setConfigurations(const std::vector<SessionConfiguration>& configurations, int selected);
    void setPresets(const QList<PresetChoice>& presets);
    void openAddMenu();
    void startRename(int index);
    QWidget* rowWidget(int index) const;
    QToolButton* addButton() const { return m_add; }

signals:
    void selected(int index);
    void hideToggled(int index, bool isHidden);
    void removeRequested(int index);
    void addPresetRequested(const QString& id);
    void addFileRequested();
    void duplicateRequested(int index);
    void renamed(int index, const QString& name);
    void moveRequested(int from, int to);
    void colourChosen(int index, int colour); ///< index into the theme's series colours

protected:
    void changeEvent(QEvent* event) override;

private:
    void restyle();

    QList<PresetChoice> m_presets;
    std::vector<SessionConfiguration> m_configurations;
    int m_selected = 0;
    QWidget* m_title;
    QToolButton* m_add;
    QVBoxLayout* m_rows;
    QList<QWidget*> m_rowWidgets;
};

} // namespace ropewalk
