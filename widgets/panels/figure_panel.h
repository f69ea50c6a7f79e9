// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/figure_results.h"

#include <QScrollArea>

#include <map>
#include <string>

class QHBoxLayout;
class QPushButton;

namespace ropewalk {

class Section;

/// What can be set about the figure that is looked at: the rows of figureSettings() that it reads, and of the
/// options that several figures share (content, longest distance) those that count for it. Built from tables;
/// given the options, emits the changed ones, live during a drag. Folds away; empty where a figure has no
/// settings.
class FigurePanel : public QScrollArea
{
    Q_OBJECT
public:
    explicit FigurePanel(QWidget* parent = nullptr);

    /// `title` is the figure's name for people.
    void setFigure(const std::string& id, const QString& title, const FigureOptions& options);
    bool hasSettings() const { return m_hasSettings; }
    Section* section() const { return m_section; }
    /// The slider, FieldRow's control or check box of a key, or null where the figure has none.
    QWidget* control(const std::string& key) const;
    QPushButton* tensorsButton() const { return m_tensors; }
    /// Answers fileRequested: the path becomes the value of the setting that asked.
    void giveFile(const QString& path);
    /// How high it wants to be when it is open.
    int openHeight() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void optionsEdited(const ropewalk::FigureOptions& options);
    void openTensorsRequested();
    void fileRequested(const QString& title); ///< a setting asks for a file; giveFile answers
    void toggled(bool isOpen);                ///< by the person

protected:
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Row; ///< one setting, wherever its value lies
    static const std::vector<Row>& tableRows();
    QWidget* makeRow(const Row& row);
    void showRow(const Row& row, QWidget* widget);
    void edit(const std::string& key, const std::string& value);
    void restyle();

    FigureOptions m_options;
    std::string m_figure;
    std::string m_askingKey; ///< of the setting that asked for a file last
    bool m_hasSettings = false;
    QWidget* m_body;
    Section* m_section;
    std::map<std::string, QWidget*> m_widgets; ///< rows made so far, by key
    QWidget* m_line;                           ///< the hairline above
    QHBoxLayout *m_lineLayout, *m_tensorsLayout;
    QPushButton* m_tensors;
};

} // namespace ropewalk
