// SPDX-License-Identifier: GPL-3.0-or-later
#include "slider_track.h"

#include "../window_style.h"

#include <QAccessibleWidget>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

constexpr int kRunEndMilliseconds = 600;
constexpr double kKnobRadius = 7.0; // pixels of the design
constexpr double kSnapPixels = 3.0;

/// Lets a screen reader say name, value and range of a track.
class TrackAccessible : public QAccessibleWidget, public QAccessibleValueInterface
{
public:
    explicit TrackAccessible(SliderTrack* track)
        : QAccessibleWidget(track, QAccessible::Slider)
    {
    }

    void* interface_cast(QAccessible::InterfaceType type) override
    {
        if (type == QAccessible::ValueInterface)
            return static_cast<QAccessibleValueInterface*>(this);
        return QAccessibleWidget::interface_cast(type);
    }
    QVariant currentValue() const override { return track()->accessibleValue(); }
    QVariant minimumValue() const override { return track()->accessibleLowest(); }
    QVariant maximumValue() const override { return track()->accessibleHighest(); }
    QVariant minimumStepSize() const override
    {
        return 0.01 * (track()->accessibleHighest() - track()->accessibleLowest());
    }
    void setCurrentValue(const QVariant&) override {} // through keys and the number box only

private:
    SliderTrack* track() const { return static_cast<SliderTrack*>(widget()); }
};

QAccessibleInterface* makeAccessible(const QString& className, QObject* object)
{
    auto* track =
        className == QLatin1String("ropewalk::SliderTrack") ? qobject_cast<SliderTrack*>(object) : nullptr;
    return track ? new TrackAccessible(track) : nullptr;
}

} // namespace

SliderTrack::SliderTrack(QWidget* parent)
    : QWidget(parent)
{
    [[maybe_unused]] static const bool isInstalled = (QAccessible::installFactory(makeAccessible), true);
    setFocusPolicy(
        Qt::StrongFocus); // by click and Tab; not by the wheel, which would change what it only passes
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setCursor(Qt::PointingHandCursor);
    m_runEnd.setSingleShot(true);
    m_runEnd.setInterval(kRunEndMilliseconds);
    connect(&m_runEnd, &QTimer::timeout, this, &SliderTrack::finishEditing);
}

void SliderTrack::setFraction(double fraction)
{
    const double clamped = std::clamp(fraction, 0.0, 1.0);
    if (clamped == m_fraction)
        return;
    m_fraction = clamped;
    update();
}

void SliderTrack::setMarks(const QList<double>& fractions)
{
    if (m_marks == fractions)
        return;
    m_marks = fractions;
    update();
}

void SliderTrack::setColour(const QColor& colour)
{
    m_colour = colour;
    update();
}

void SliderTrack::setHollow(bool isHollow)
{
    if (m_isHollow == isHollow)
        return;
    m_isHollow = isHollow;
    update();
}

void SliderTrack::setAccessibleValue(double value, double lowest, double highest, const QString& text)
{
    const bool isChanged = value != m_value;
    m_value = value;
    m_lowest = lowest;
    m_highest = highest;
    setAccessibleDescription(text);
    if (isChanged && QAccessible::isActive()) {
        QAccessibleValueChangeEvent event(this, value);
        QAccessible::updateAccessibility(&event);
    }
}

QPoint SliderTrack::knobCentre() const
{
    const double reach = scaledPixels(kKnobRadius) + 1.0;
    return {static_cast<int>(std::lround(reach + m_fraction * (width() - 2.0 * reach))), height() / 2};
}

double SliderTrack::fractionAt(double x) const
{
    const double reach = scaledPixels(kKnobRadius) + 1.0;
    const double way = width() - 2.0 * reach;
    if (way <= 0.0)
        return 0.0;
    const double fraction = std::clamp((x - reach) / way, 0.0, 1.0);
    // A mark holds the knob, so that the preset's value can be met exactly by hand.
    for (const double mark : m_marks)
        if (std::fabs(fraction - mark) * way <= kSnapPixels)
            return mark;
    return fraction;
}

QSize SliderTrack::sizeHint() const
{
    return {scaledPixels(160), scaledPixels(18)};
}

QSize SliderTrack::minimumSizeHint() const
{
    return {scaledPixels(60), scaledPixels(16)};
}

bool SliderTrack::event(QEvent* event)
{
    // PageUp and PageDown would otherwise scroll the column that the slider stands in.
    if (event->type() == QEvent::ShortcutOverride) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (static_cast<QKeyEvent*>(event)->modifiers() == Qt::NoModifier &&
            (key == Qt::Key_Home || key == Qt::Key_End || key == Qt::Key_Left || key == Qt::Key_Right)) {
            event->accept();
            return true;
        }
    }
    return QWidget::event(event);
}

void SliderTrack::paintEvent(QPaintEvent*)
{
    const ThemeColours& colours = windowColours();
    const double scale = windowStyle().scale;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double radius = kKnobRadius * scale;
    const double reach = scaledPixels(kKnobRadius) + 1.0;
    const double thickness = 3.0 * scale;
    const double middle = height() / 2.0;
    const double way = width() - 2.0 * reach;
    const double knobX = reach + m_fraction * way;
    QColor main = m_colour.isValid() ? m_colour : colours.accent;
    if (!isEnabled() || m_isHollow)
        main = colours.axis;

    const QRectF groove(reach, middle - thickness / 2.0, way, thickness);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colours.rule);
    painter.drawRoundedRect(groove, thickness / 2.0, thickness / 2.0);
    if (!m_isHollow) {
        painter.setBrush(main);
        painter.drawRoundedRect(QRectF(groove.left(), groove.top(), knobX - groove.left(), thickness),
                                thickness / 2.0, thickness / 2.0);
    }
    painter.setPen(QPen(colours.muted, std::max(1.0, scale)));
    for (const double mark : m_marks) {
        const double x = reach + mark * way;
        painter.drawLine(QPointF(x, middle - 4.5 * scale), QPointF(x, middle + 4.5 * scale));
    }
    if (hasFocus()) {
        QColor halo = main;
        halo.setAlphaF(0.28F);
        painter.setPen(Qt::NoPen);
        painter.setBrush(halo);
        const double haloRadius = std::min(radius + 3.0 * scale, height() / 2.0);
        painter.drawEllipse(QPointF(knobX, middle), haloRadius, haloRadius);
    }
    painter.setPen(QPen(main, 2.0 * scale));
    painter.setBrush(m_isHollow ? colours.panel : colours.knob);
    painter.drawEllipse(QPointF(knobX, middle), radius - scale * 0.5, radius - scale * 0.5);
}

void SliderTrack::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    finishEditing();
    const QPoint knob = knobCentre();
    // A press on the knob holds it where it was gripped; one on the groove brings it there.
    const bool isOnKnob = std::fabs(event->position().x() - knob.x()) <= scaledPixels(kKnobRadius) + 1;
    m_grabOffset = isOnKnob ? event->position().x() - knob.x() : 0.0;
    m_isDragging = true;
    emit editingStarted();
    if (!isOnKnob)
        emit dragged(fractionAt(event->position().x()));
}

void SliderTrack::mouseMoveEvent(QMouseEvent* event)
{
    if (m_isDragging)
        emit dragged(fractionAt(event->position().x() - m_grabOffset));
}

void SliderTrack::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton || !m_isDragging)
        return;
    m_isDragging = false;
    emit editingFinished();
}

void SliderTrack::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    finishEditing();
    emit restoreRequested();
}

void SliderTrack::startRun()
{
    if (!m_isRunning) {
        m_isRunning = true;
        emit editingStarted();
    }
    m_runEnd.start();
}

void SliderTrack::finishEditing()
{
    m_runEnd.stop();
    if (m_isRunning) {
        m_isRunning = false;
        emit editingFinished();
    }
}

void SliderTrack::step(double delta)
{
    startRun();
    emit stepRequested(delta);
}

void SliderTrack::keyPressEvent(QKeyEvent* event)
{
    if (m_isDragging || (event->modifiers() & ~(Qt::KeypadModifier | Qt::ShiftModifier))) {
        event->ignore();
        return;
    }
    // Shift makes the small step a large one, for keyboards without page keys.
    const double small = event->modifiers() & Qt::ShiftModifier ? 0.1 : 0.01;
    switch (event->key()) {
    case Qt::Key_Right:
    case Qt::Key_Up:
        step(small);
        break;
    case Qt::Key_Left:
    case Qt::Key_Down:
        step(-small);
        break;
    case Qt::Key_PageUp:
        step(0.1);
        break;
    case Qt::Key_PageDown:
        step(-0.1);
        break;
    case Qt::Key_Home:
    case Qt::Key_End:
        startRun();
        emit endRequested(event->key() == Qt::Key_End);
        break;
    default:
        event->ignore();
    }
}

void SliderTrack::wheelEvent(QWheelEvent* event)
{
    if (!hasFocus() || m_isDragging) {
        event->ignore(); // the column scrolls
        return;
    }
    m_wheelRest += event->angleDelta().y();
    const int notches = m_wheelRest / 120;
    m_wheelRest -= notches * 120;
    if (notches != 0)
        step(0.01 * notches);
    event->accept();
}

void SliderTrack::focusOutEvent(QFocusEvent* event)
{
    finishEditing();
    QWidget::focusOutEvent(event);
    update();
}

void SliderTrack::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::StyleChange) {
        updateGeometry();
        update();
    } else if (event->type() == QEvent::EnabledChange && m_isDragging) {
        m_isDragging = false;
        emit editingFinished();
    }
}

} // namespace ropewalk
