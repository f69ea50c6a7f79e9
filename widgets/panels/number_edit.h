// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "number_text.h"

#include <QLineEdit>

namespace ropewalk {

/// A box for one exact number. Enter or leaving commits, Escape restores; what cannot be a number, or lies
/// beyond the limits, is refused and the old value stays. Shows the value in fixed cells while nobody edits
/// it.
class NumberEdit : public QLineEdit
{
    Q_OBJECT
public:
    explicit NumberEdit(QWidget* parent = nullptr);

    void setLimits(double lowest, double highest,
                   double unit = 0.0); ///< inclusive; unit 1 whole, 2 even, 0 any
    void setSuffix(Suffix suffix);
    void setExpectation(const QString& words); ///< e.g. "a number above 1"; empty: made from the limits
    void setOptional(bool isOptional);         ///< an emptied box means "not stated"
    /// Template of the text shown while nobody edits, e.g. "%1 of 128"; empty: the number alone.
    void setShownTemplate(const QString& text);

    void setValue(double value);
    void setUnstated(const QString& shown); ///< no value; `shown` stands there greyed
    double value() const { return m_value; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void valueEntered(double value);      ///< another value was committed
    void cleared();                       ///< the box was emptied (only when optional)
    void refused(const QString& message); ///< one sentence for beside the field
    void accepted();                      ///< whatever was refused before is settled
    void stepRequested(double delta);     ///< Up and Down: ±0.01
protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    bool commit();
    void showText();
    QString shownText() const;

    double m_value = 0.0;
    double m_lowest, m_highest;
    double m_unit = 0.0;
    Suffix m_suffix = Suffix::Decimal;
    QString m_expectation, m_template, m_unstatedText;
    bool m_isOptional = false, m_isStated = true;
};

} // namespace ropewalk
