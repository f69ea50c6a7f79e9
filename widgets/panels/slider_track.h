// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QList>
#include <QTimer>
#include <QWidget>

namespace ropewalk {

/// The groove and knob of a slider, from 0 to 1, by mouse, keys and wheel. Knows nothing of values: whoever
/// owns it turns fractions into values and gives the new fraction back. One press…release, or keys and wheel
/// turns that follow each other within 600 ms, lie between one editingStarted and one editingFinished.
class SliderTrack : public QWidget
{
    Q_OBJECT
public:
    explicit SliderTrack(QWidget* parent = nullptr);

    void setFraction(double fraction);
    double fraction() const { return m_fraction; }
    void setMarks(const QList<double>& fractions); ///< fine ticks, e.g. the preset's value
    void setColour(const QColor& colour);          ///< of groove and ring; invalid: the accent
    void setHollow(bool isHollow);                 ///< a value that is not stated: no fill, grey ring
    bool isDragging() const { return m_isDragging; }
    void finishEditing(); ///< ends a run of keys now

    /// What a screen reader says: the value as text and its range.
    void setAccessibleValue(double value, double lowest, double highest, const QString& text);
    double accessibleValue() const { return m_value; }
    double accessibleLowest() const { return m_lowest; }
    double accessibleHighest() const { return m_highest; }

    /// Position of the knob's centre within the widget.
    QPoint knobCentre() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void editingStarted();
    void dragged(double fraction);
    void stepRequested(double delta);  ///< ±0.01 or ±0.1 of the range
    void endRequested(bool toHighest); ///< Home or End
    void editingFinished();
    void restoreRequested(); ///< double-click

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void startRun();
    void step(double delta);
    double fractionAt(double x) const;

    double m_fraction = 0.0;
    QList<double> m_marks;
    QColor m_colour;
    bool m_isHollow = false;
    bool m_isDragging = false;
    bool m_isRunning = false; ///< keys or wheel, not yet finished
    double m_grabOffset = 0.0;
    int m_wheelRest = 0;
    double m_value = 0.0, m_lowest = 0.0, m_highest = 1.0;
    QTimer m_runEnd;
};

} // namespace ropewalk
