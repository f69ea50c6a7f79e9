// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "number_text.h"
#include "slider_scale.h"

#include <QColor>
#include <QWidget>

#include <optional>

class QLabel;

namespace ropewalk {

class NumberEdit;
class SliderTrack;

/// A named value with a slider and an exact number box. Arrow keys move it by 1 % of the range, PageUp and
/// PageDown by 10 %, Home and End to the ends; a double-click restores the original value; a dot marks a
/// changed one.
class ValueSlider : public QWidget
{
    Q_OBJECT
public:
    explicit ValueSlider(const QString& name, const SliderScale& scale, QWidget* parent = nullptr);

    QString name() const { return m_name; }
    void setScale(const SliderScale& scale);
    const SliderScale& scale() const { return m_scale; }
    void setColour(const QColor& colour); ///< of name, groove and ring; invalid: text and accent
    void setSuffix(Suffix suffix);
    void setExpectation(const QString& words);  ///< what the box says it expected
    void setShownTemplate(const QString& text); ///< e.g. "%1 of 128"

    void setValue(double value);
    double value() const { return m_value; }
    /// No value is stated: `fallback` is what counts instead and where the knob lies; empty: nothing counts.
    void setUnstated(std::optional<double> fallback);
    bool isStated() const { return m_isStated; }
    void setOptional(bool isOptional); ///< an emptied box, or Delete on the slider, makes it "not stated"

    /// The value that double-click restores; an empty one is "not stated" when the slider is optional, else
    /// no mark.
    void setOriginal(std::optional<double> original);
    bool isChanged() const;

    void setIssue(const QString& text, bool isError); ///< beneath the slider; empty: none
    QString issue() const;                            ///< as shown, the box's own refusal included

    SliderTrack* track() const { return m_track; }
    NumberEdit* box() const { return m_box; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

signals:
    void valueChanged(double value); ///< by the person, live during a drag
    void cleared();                  ///< the person made it "not stated"
    void editingStarted();
    void editingFinished();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void change(double value);
    void clear();
    void restore();
    void showValue();
    void showIssue();
    void restyle();
    void placeChildren();

    QString m_name;
    SliderScale m_scale;
    QColor m_colour;
    double m_value = 0.0;
    bool m_isStated = true;
    bool m_isOptional = false;
    bool m_hasOriginal = false;
    std::optional<double> m_original, m_fallback;
    QString m_issue, m_refusal;
    bool m_isIssueError = false;
    SliderTrack* m_track;
    NumberEdit* m_box;
    QLabel* m_note;
};

} // namespace ropewalk
