// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLineEdit>

#include <vector>

namespace ropewalk {

/// A list of numbers in one line: how many there are while nobody edits, all of them while someone does, so
/// that they can be typed, pasted and copied. Enter and leaving commit, Escape takes the edit back.
class NumberListEdit : public QLineEdit
{
    Q_OBJECT
public:
    explicit NumberListEdit(QWidget* parent = nullptr);

    /// Shown at once, and also while the field has the focus unless something was typed there.
    void setNumbers(const std::vector<double>& numbers);

signals:
    void textEntered(const QString& text); ///< committed; the list itself when an edit was taken back

protected:
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void commit();
    void showList();

    QString m_list, m_summary;
    bool m_isEditing = false;
};

} // namespace ropewalk
