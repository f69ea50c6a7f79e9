// SPDX-License-Identifier: GPL-3.0-or-later
#include "value_slider.h"

#include "../window_style.h"
#include "number_edit.h"
#include "slider_track.h"

#include <QKeyEvent>
#include <QLabel>
#include <QPainter>

#include <algorithm>

namespace ropewalk {
namespace {

constexpr double kPad = 16.0; // of the control column, both sides; the mark of a changed value lies in it
constexpr double kBoxWidth = 80.0, kBoxHeight = 21.0, kTrackHeight = 18.0, kGap = 2.0;

} // namespace

ValueSlider::ValueSlider(const QString& name, const SliderScale& scale, QWidget* parent)
    : QWidget(parent)
    , m_name(name)
    , m_scale(scale)
    , m_track(new SliderTrack(this))
    , m_box(new NumberEdit(this))
    , m_note(new QLabel(this))
{
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    m_note->setWordWrap(true);
    m_note->setTextFormat(Qt::PlainText);
    m_note->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_note->hide();
    m_track->setAccessibleName(name);
    m_box->setAccessibleName(tr("%1, exact value").arg(name));
    setScale(scale);

    connect(m_track, &SliderTrack::editingStarted, this, &ValueSlider::editingStarted);
    connect(m_track, &SliderTrack::editingFinished, this, &ValueSlider::editingFinished);
    connect(m_track, &SliderTrack::dragged, this, [this](double fraction) {
        // A mark is met exactly, whatever rounding would make of it.
        const bool isOriginal = m_original && fraction == fractionOf(m_scale, *m_original) &&
                                *m_original >= m_scale.lowest && *m_original <= m_scale.highest;
        change(isOriginal ? *m_original : valueAt(m_scale, fraction));
    });
    const auto step = [this](double delta) {
        change(stepped(m_scale, m_isStated ? m_value : m_fallback.value_or(m_scale.lowest), delta));
    };
    connect(m_track, &SliderTrack::stepRequested, this, step);
    connect(m_track, &SliderTrack::endRequested, this,
            [this](bool toHighest) { change(toHighest ? m_scale.highest : m_scale.lowest); });
    connect(m_track, &SliderTrack::restoreRequested, this, &ValueSlider::restore);
    connect(m_box, &NumberEdit::stepRequested, this, [this, step](double delta) {
        emit editingStarted();
        step(delta);
        emit editingFinished();
    });
    connect(m_box, &NumberEdit::valueEntered, this, [this](double value) {
        emit editingStarted();
        change(value);
        emit editingFinished();
    });
    connect(m_box, &NumberEdit::cleared, this, &ValueSlider::clear);
    connect(m_box, &NumberEdit::refused, this, [this](const QString& message) {
        m_refusal = message;
        showIssue();
    });
    connect(m_box, &NumberEdit::accepted, this, [this] {
        m_refusal.clear();
        showIssue();
    });
    restyle();
}

void ValueSlider::setScale(const SliderScale& scale)
{
    m_scale = scale;
    m_box->setLimits(scale.hardLowest, scale.hardHighest, scale.unit);
    showValue();
}

void ValueSlider::setColour(const QColor& colour)
{
    m_colour = colour;
    m_track->setColour(colour);
    update();
}

void ValueSlider::setSuffix(Suffix suffix)
{
    m_box->setSuffix(suffix);
}

void ValueSlider::setExpectation(const QString& words)
{
    m_box->setExpectation(words);
}

void ValueSlider::setShownTemplate(const QString& text)
{
    m_box->setShownTemplate(text);
}

void ValueSlider::setValue(double value)
{
    m_isStated = true;
    m_value = value;
    m_refusal.clear(); // what was refused is gone with the next value that holds
    showIssue();
    showValue();
}

void ValueSlider::setUnstated(std::optional<double> fallback)
{
    m_isStated = false;
    m_fallback = fallback;
    showValue();
}

void ValueSlider::setOptional(bool isOptional)
{
    m_isOptional = isOptional;
    m_box->setOptional(isOptional);
}

void ValueSlider::setOriginal(std::optional<double> original)
{
    m_hasOriginal = original.has_value() || m_isOptional;
    m_original = original;
    showValue();
}

bool ValueSlider::isChanged() const
{
    if (!m_hasOriginal)
        return false;
    return m_isStated != m_original.has_value() || (m_isStated && m_value != *m_original);
}

void ValueSlider::setIssue(const QString& text, bool isError)
{
    if (m_issue == text && m_isIssueError == isError)
        return;
    m_issue = text;
    m_isIssueError = isError;
    showIssue();
}

QString ValueSlider::issue() const
{
    return m_refusal.isEmpty() ? m_issue : m_refusal;
}

void ValueSlider::change(double value)
{
    m_refusal.clear();
    showIssue();
    if (m_isStated && value == m_value)
        return;
    m_value = value;
    m_isStated = true;
    showValue();
    emit valueChanged(value);
}

void ValueSlider::clear()
{
    if (!m_isStated || !m_isOptional)
        return;
    emit editingStarted();
    m_isStated = false;
    showValue();
    emit cleared();
    emit editingFinished();
}

void ValueSlider::restore()
{
    if (!m_hasOriginal)
        return;
    if (!m_original) {
        clear();
        return;
    }
    emit editingStarted();
    change(*m_original);
    emit editingFinished();
}

void ValueSlider::showValue()
{
    const double position = m_isStated ? m_value : m_fallback.value_or(m_scale.lowest);
    m_track->setFraction(fractionOf(m_scale, position));
    m_track->setHollow(!m_isStated);
    if (m_isStated)
        m_box->setValue(m_value);
    else
        m_box->setUnstated(m_fallback ? shownNumber(*m_fallback) : tr("not stated"));
    const QString unstated =
        m_fallback ? tr("not stated; %1 counts").arg(shownNumber(*m_fallback)) : tr("not stated");
    const QString words = m_isStated ? shownNumber(m_value, 15) : unstated;
    m_track->setAccessibleValue(position, m_scale.lowest, m_scale.highest, words);
    if (isChanged() && m_original) {
        m_track->setMarks({fractionOf(m_scale, *m_original)});
        m_track->setToolTip(tr("double-click restores %1").arg(shownNumber(*m_original, 15)));
    } else if (isChanged()) {
        m_track->setMarks({});
        m_track->setToolTip(tr("double-click makes it “not stated” again"));
    } else {
        // The value itself lies under the knob: a mark there would say nothing.
        m_track->setMarks(m_hasOriginal && m_original ? QList<double>{fractionOf(m_scale, *m_original)}
                                                      : QList<double>{});
        m_track->setToolTip({});
    }
    m_box->setToolTip(m_isStated ? QString() : unstated);
    update();
}

void ValueSlider::showIssue()
{
    const QString text = issue();
    const bool isVisible = !text.isEmpty();
    QPalette palette = m_note->palette();
    palette.setColor(QPalette::WindowText,
                     !m_refusal.isEmpty() || m_isIssueError ? errorColour() : windowColours().mark);
    m_note->setPalette(palette);
    if (m_note->text() == text && m_note->isHidden() != isVisible)
        return;
    m_note->setText(text);
    m_note->setVisible(isVisible);
    m_box->setAccessibleDescription(text);
    placeChildren();
    updateGeometry();
}

void ValueSlider::restyle()
{
    setFont(windowFont(TextRole::Control));
    m_note->setFont(windowFont(TextRole::Small));
    showIssue();
    placeChildren();
    updateGeometry();
}

QSize ValueSlider::sizeHint() const
{
    const int width = scaledPixels(260);
    return {width, heightForWidth(width)};
}

QSize ValueSlider::minimumSizeHint() const
{
    // Less than it would like: at a large text in a small window the name is elided and the box shrinks.
    return {scaledPixels(120), scaledPixels(kBoxHeight + kTrackHeight + 2 * kGap)};
}

int ValueSlider::heightForWidth(int width) const
{
    int height = scaledPixels(kBoxHeight + kTrackHeight + 2 * kGap);
    if (!issue().isEmpty())
        height += m_note->heightForWidth(width - 2 * scaledPixels(kPad)) + scaledPixels(4);
    return height;
}

void ValueSlider::placeChildren()
{
    const int pad = scaledPixels(kPad);
    const int boxWidth = std::min(scaledPixels(kBoxWidth), (width() - 2 * pad) / 2);
    const int boxHeight = scaledPixels(kBoxHeight);
    const int reach = scaledPixels(7) + 1; // the knob's centre runs from pad to width-pad
    m_box->setGeometry(width() - pad - boxWidth, scaledPixels(kGap), boxWidth, boxHeight);
    const int trackTop = scaledPixels(kGap) + boxHeight;
    m_track->setGeometry(pad - reach, trackTop, width() - 2 * (pad - reach), scaledPixels(kTrackHeight));
    const int noteWidth = width() - 2 * pad;
    if (!issue().isEmpty() && noteWidth > 0)
        m_note->setGeometry(pad, trackTop + scaledPixels(kTrackHeight) + scaledPixels(kGap), noteWidth,
                            m_note->heightForWidth(noteWidth));
}

void ValueSlider::paintEvent(QPaintEvent*)
{
    const ThemeColours& colours = windowColours();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF line(scaledPixels(kPad), scaledPixels(kGap),
                      m_box->x() - scaledPixels(kPad) - scaledPixels(6), scaledPixels(kBoxHeight));
    painter.setFont(font());
    painter.setPen(!isEnabled() ? colours.muted : m_colour.isValid() ? m_colour : colours.text);
    painter.drawText(
        line, Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(m_name, Qt::ElideRight, static_cast<int>(line.width())));
    if (isChanged()) {
        const double radius = 2.5 * windowStyle().scale;
        painter.setPen(Qt::NoPen);
        painter.setBrush(colours.accent);
        painter.drawEllipse(QPointF(scaledPixels(9), line.center().y()), radius, radius);
    }
}

void ValueSlider::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    placeChildren();
}

void ValueSlider::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::StyleChange)
        restyle();
}

void ValueSlider::keyPressEvent(QKeyEvent* event)
{
    // Comes here from the track, which leaves these keys alone.
    if (event->key() == Qt::Key_Delete && m_isOptional)
        clear();
    else
        QWidget::keyPressEvent(event);
}

} // namespace ropewalk
