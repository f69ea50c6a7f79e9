// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/reading.h"

#include <QList>
#include <QWidget>

class QHBoxLayout;
class QLabel;

namespace ropewalk {

class NumberLabel;

/// The digits beside the shapes, pinned beneath the control column. Every value can be copied.
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
    /// Rows in order: θ, wavelength, turns, angle, contribution, score.
    NumberLabel* valueLabel(int row) const { return m_values[row]; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void restyle();

    QLabel* m_title;
    QList<QHBoxLayout*> m_lines;
    QList<QLabel*> m_names;
    QList<NumberLabel*> m_values;
    QWidget* m_footer;
};

} // namespace ropewalk
