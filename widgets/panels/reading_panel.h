// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "../plot/hover_table.h"
#include "core/reading.h"

#include <QList>
#include <QWidget>

class QHBoxLayout;
class QLabel;
class QToolButton;

namespace ropewalk {

class NumberLabel;

/// The digits beside the shapes, pinned beneath the control column: of the marked place, and in the last line
/// of the place under the pointer. Every value can be copied, and all of them at once.
class ReadingPanel : public QWidget
{
    Q_OBJECT
public:
    explicit ReadingPanel(QWidget* parent = nullptr);

    void setReading(const std::optional<Reading>& reading);
    /// The last line: green and with a dot when the live configuration was compared with its reference and
    /// agrees.
    void setReferenceMatch(const QString& text);
    /// The last line otherwise: which variant is computed, in grey, with its source in the tool tip.
    void setVariant(const QString& formula, const QString& source);
    /// What lies under the pointer in a figure; empty: nothing does. `letters` of the configurations that are
    /// the table's columns, empty where there is one only.
    void setPointed(const std::optional<HoverTable>& table, const QStringList& letters);
    /// What copy() puts on the clipboard: the numbers under the pointer, else the rows; with all their
    /// digits, a tab between name and value.
    QString textToCopy() const;
    void copy();
    QToolButton* copyButton() const { return m_copy; }
    QString lastLine() const; ///< as shown: under the pointer, match or variant
    /// Rows in order: θ, wavelength, turns, angle, contribution, score.
    NumberLabel* valueLabel(int row) const { return m_values[row]; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void restyle();
    void showFooter();
    void copyRows();
    QString rowsText() const;

    QLabel* m_title;
    QToolButton* m_copy;
    QList<QHBoxLayout*> m_lines;
    QList<QLabel*> m_names;
    QList<NumberLabel*> m_values;
    QWidget* m_footer;
    QString m_pointedLine, m_pointedText;
    QString m_footerText, m_footerTip; ///< while nothing is under the pointer
    bool m_isMatch = false;
};

} // namespace ropewalk
