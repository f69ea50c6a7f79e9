// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport_bar.h"

#include "../window_style.h"
#include "number_edit.h"
#include "slider_track.h"
#include "tabular_text.h"

#include <QAbstractButton>
#include <QComboBox>
#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>
#include <QSpinBox>

#include <algorithm>
#include <array>
#include <cmath>

namespace ropewalk {
namespace {

constexpr qint64 kLargest = 100'000'000;
constexpr double kHandy = 131072.0; // right end of the sliders
constexpr std::array<double, 9> kSpeeds{0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0};
constexpr qsizetype kPositionGroups = 3; // play, m, n
constexpr double kBarHeight = 50.0, kSeveralHeight = 38.0, kBarPad = 12.0, kBarGap = 8.0;

class PlayButton : public QAbstractButton
{
public:
    explicit PlayButton(QWidget* parent)
        : QAbstractButton(parent)
    {
        setCheckable(true);
        setFocusPolicy(Qt::StrongFocus);
        setCursor(Qt::PointingHandCursor);
        setFixedSize(sizeHint());
    }
    QSize sizeHint() const override { return {scaledPixels(32), scaledPixels(32)}; }

protected:
    void paintEvent(QPaintEvent*) override
    {
        const ThemeColours& colours = windowColours();
        const double one = windowStyle().scale;
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        const QPointF centre(width() / 2.0, height() / 2.0);
        painter.setPen(Qt::NoPen);
        if (hasFocus()) {
            QColor halo = colours.accent;
            halo.setAlphaF(0.3F);
            painter.setBrush(halo);
            painter.drawEllipse(centre, 16.0 * one, 16.0 * one);
        }
        painter.setBrush(isDown() ? colours.accent.darker(115) : colours.accent);
        painter.drawEllipse(centre, 14.0 * one, 14.0 * one);
        painter.setBrush(colours.onAccent);
        if (isChecked()) {
            painter.drawRect(QRectF(centre.x() - 5.0 * one, centre.y() - 6.0 * one, 3.5 * one, 12.0 * one));
            painter.drawRect(QRectF(centre.x() + 1.5 * one, centre.y() - 6.0 * one, 3.5 * one, 12.0 * one));
        } else {
            painter.drawPolygon(QPolygonF{centre + QPointF(-4.0, -7.0) * one,
                                          centre + QPointF(-4.0, 7.0) * one,
                                          centre + QPointF(7.0, 0.0) * one});
        }
    }
    void keyPressEvent(QKeyEvent* event) override
    {
        if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
            click();
        else
            QAbstractButton::keyPressEvent(event);
    }
};

/// "m − n = 15 locked", pressed while the distance is held.
class LockButton : public QAbstractButton
{
public:
    explicit LockButton(QWidget* parent)
        : QAbstractButton(parent)
    {
        setCheckable(true);
        setFocusPolicy(Qt::StrongFocus);
        setCursor(Qt::PointingHandCursor);
    }
    QSize sizeHint() const override
    {
        // The same for every distance, so that nothing beside it moves; a longer text is written smaller.
        const QFontMetricsF metrics(windowFont(TextRole::Control));
        const QString usual = TransportBar::tr("m − n = %1 locked").arg(QStringLiteral("8 192"));
        return {static_cast<int>(std::ceil(tabularWidth(metrics, usual) * 1.06)) + scaledPixels(12),
                scaledPixels(26)};
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        const ThemeColours& colours = windowColours();
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        const double radius = scaledPixels(6);
        painter.setPen(
            QPen(isChecked() || hasFocus() ? colours.accent : colours.rule, hasFocus() ? 2.0 : 1.0));
        painter.setBrush(isChecked() ? colours.selected : colours.field);
        painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), radius, radius);
        const QFont::Weight weight = isChecked() ? QFont::DemiBold : QFont::Normal;
        const double pixels = 12.5 * windowStyle().scale;
        const double wanted = tabularWidth(QFontMetricsF(ropewalkFont(pixels, weight)), text());
        const double room = width() - scaledPixels(8);
        painter.setFont(ropewalkFont(pixels * std::clamp(room / wanted, 0.75, 1.0), weight));
        painter.setPen(isChecked() ? colours.text : colours.muted);
        drawTabular(painter, rect(), Qt::AlignHCenter | Qt::AlignVCenter, text());
    }
    void keyPressEvent(QKeyEvent* event) override
    {
        if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
            click();
        else
            QAbstractButton::keyPressEvent(event);
    }
};

} // namespace

/// What stands together and is never torn apart when the bar breaks into lines.
struct TransportBar::Group
{
    int least = 0; ///< width
    int most = 0;  ///< width; more than least: takes what is left
    PositionControl* position = nullptr;
    QWidget* widget = nullptr;
};

Positions movedTogether(Positions from, qint64 target, bool movesKey)
{
    const qint64 distance = from.m - from.n;
    // m may go where n = m - distance still lies within the limits.
    const qint64 lowest = std::max<qint64>(0, distance), highest = std::min(kLargest, kLargest + distance);
    const qint64 m = std::clamp(movesKey ? target + distance : target, lowest, highest);
    return {m, m - distance};
}

TransportBar::TransportBar(QWidget* parent)
    : QWidget(parent)
    , m_play(new PlayButton(this))
    , m_lock(new LockButton(this))
    , m_pair(new QSpinBox(this))
    , m_speed(new QComboBox(this))
{
    m_scale = {SliderScale::Kind::LogOnePlus, 0.0, kHandy, 1.0, 0.0, static_cast<double>(kLargest)};
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Button);

    connect(m_play, &QAbstractButton::clicked, this, [this](bool isPlaying) {
        setPlaying(isPlaying);
        emit playToggled(isPlaying);
    });
    m_query.letter = QStringLiteral("m");
    m_key.letter = QStringLiteral("n");
    build(m_query, false);
    build(m_key, true);
    m_lock->setToolTip(tr("While locked, q and k move together and the score stays"));
    connect(m_lock, &QAbstractButton::clicked, this, [this](bool isLocked) {
        setLocked(isLocked);
        emit lockToggled(isLocked);
    });

    m_pair->setPrefix(tr("pair "));
    m_pair->setAccessibleName(tr("picked pair, 0 is the fastest"));
    m_pair->setToolTip(tr("the picked pair; 0 turns fastest"));
    m_pair->setRange(0, 63);
    m_pair->setValue(12);
    m_pair->setFocusPolicy(Qt::StrongFocus);
    m_pair->setKeyboardTracking(false);
    connect(m_pair, &QSpinBox::valueChanged, this, &TransportBar::pairChanged);

    for (const double speed : kSpeeds)
        m_speed->addItem(tr("%1×").arg(QString::number(speed)), speed);
    m_speed->setAccessibleName(tr("speed"));
    m_speed->setToolTip(tr("speed: 1× is one token per second"));
    m_speed->setFocusPolicy(Qt::StrongFocus);
    connect(m_speed, &QComboBox::activated, this,
            [this](int row) { emit speedChanged(kSpeeds[static_cast<std::size_t>(row)]); });

    const QList<QWidget*> order{m_play,    m_query.track, m_query.box, m_key.track,
                                m_key.box, m_lock,        m_pair,      m_speed};
    for (qsizetype i = 1; i < order.size(); ++i)
        setTabOrder(order[i - 1], order[i]);
    setSpeed(1.0);
    setPlaying(false);
    setLocked(true);
    restyle();
}

void TransportBar::build(PositionControl& control, bool isKey)
{
    control.track = new SliderTrack(this);
    control.box = new NumberEdit(this);
    control.track->setAccessibleName(isKey ? tr("key position n") : tr("query position m"));
    control.track->setToolTip(isKey ? tr("position n of the key, tokens")
                                    : tr("position m of the query, tokens"));
    control.box->setAccessibleName(isKey ? tr("key position n, exact value")
                                         : tr("query position m, exact value"));
    control.box->setLimits(0.0, static_cast<double>(kLargest), 1.0);
    control.box->setSuffix(Suffix::Tokens);
    connect(control.track, &SliderTrack::editingStarted, this, &TransportBar::editingStarted);
    connect(control.track, &SliderTrack::editingFinished, this, &TransportBar::editingFinished);
    connect(control.track, &SliderTrack::dragged, this,
            [this, isKey](double fraction) { move(valueAt(m_scale, fraction), isKey); });
    const auto step = [this, isKey](double delta) {
        move(stepped(m_scale, static_cast<double>(isKey ? m_positions.n : m_positions.m), delta), isKey);
    };
    connect(control.track, &SliderTrack::stepRequested, this, step);
    connect(control.track, &SliderTrack::endRequested, this,
            [this, isKey](bool toHighest) { move(toHighest ? m_scale.highest : m_scale.lowest, isKey); });
    connect(control.box, &NumberEdit::stepRequested, this, [this, step](double delta) {
        emit editingStarted();
        step(delta);
        emit editingFinished();
    });
    connect(control.box, &NumberEdit::valueEntered, this, [this, isKey](double value) {
        emit editingStarted();
        move(value, isKey);
        showPositions(); // the lock may have put it elsewhere than was typed
        emit editingFinished();
    });
    NumberEdit* box = control.box;
    connect(box, &NumberEdit::refused, this, [box](const QString& message) { box->setToolTip(message); });
    connect(box, &NumberEdit::accepted, this, [box] { box->setToolTip({}); });
}

void TransportBar::move(double target, bool movesKey)
{
    const auto to = static_cast<qint64>(std::llround(target));
    Positions next = m_positions;
    if (m_isLocked)
        next = movedTogether(m_positions, to, movesKey);
    else
        (movesKey ? next.n : next.m) = std::clamp<qint64>(to, 0, kLargest);
    if (next == m_positions)
        return;
    m_positions = next;
    showPositions();
    emit positionsChanged(next.m, next.n);
}

void TransportBar::setPositions(qint64 m, qint64 n)
{
    m_positions = {m, n};
    showPositions();
}

void TransportBar::showPositions()
{
    const auto show = [this](PositionControl& control, qint64 position) {
        const auto value = static_cast<double>(position);
        control.track->setFraction(fractionOf(m_scale, value));
        control.track->setAccessibleValue(value, m_scale.lowest, m_scale.highest,
                                          tr("%1 tokens").arg(shownNumber(value, 15)));
        control.box->setValue(value);
    };
    show(m_query, m_positions.m);
    show(m_key, m_positions.n);
    const QString distance = shownNumber(static_cast<double>(m_positions.m - m_positions.n), 15);
    const QString text = (m_isLocked ? tr("m − n = %1 locked") : tr("m − n = %1 free")).arg(distance);
    if (m_lock->text() != text) {
        m_lock->setText(text);
        m_lock->setAccessibleName(m_isLocked ? tr("distance %1, locked").arg(distance)
                                             : tr("distance %1, free").arg(distance));
        m_lock->update();
    }
}

void TransportBar::setLocked(bool isLocked)
{
    m_isLocked = isLocked;
    m_lock->setChecked(isLocked);
    showPositions();
}

void TransportBar::setPlaying(bool isPlaying)
{
    m_play->setChecked(isPlaying);
    m_play->setAccessibleName(isPlaying ? tr("pause") : tr("play"));
    m_play->setToolTip(isPlaying ? tr("pause") : tr("play: q and k walk along the positions"));
}

void TransportBar::setPair(int pair, int pairCount)
{
    const QSignalBlocker blocker(m_pair); // what the program sets is not what the person picked
    m_pair->setRange(0, std::max(0, pairCount - 1));
    m_pair->setValue(pair);
}

void TransportBar::setSpeed(double tokensPerSecond)
{
    const auto nearest = std::min_element(kSpeeds.begin(), kSpeeds.end(), [&](double a, double b) {
        return std::fabs(std::log(a / tokensPerSecond)) < std::fabs(std::log(b / tokensPerSecond));
    });
    m_speed->setCurrentIndex(static_cast<int>(nearest - kSpeeds.begin()));
}

QList<TransportBar::Group> TransportBar::groups() const
{
    auto* self = const_cast<TransportBar*>(this); // a group only names what it places
    const int position = scaledPixels(14 + 70 + 2 + 66);
    const auto fixed = [](QWidget* widget, int width) {
        Group group;
        group.least = group.most = width;
        group.widget = widget;
        return group;
    };
    const auto sliding = [&](PositionControl* control) {
        Group group;
        group.least = position;
        group.most = position + scaledPixels(160);
        group.position = control;
        return group;
    };
    const QFontMetrics metrics(windowFont(TextRole::Control));
    const int pairWidth = metrics.horizontalAdvance(tr("pair ") + QStringLiteral("000")) + scaledPixels(28);
    const int speedWidth = metrics.horizontalAdvance(QStringLiteral("0.25×")) + scaledPixels(34);
    return {fixed(m_play, scaledPixels(32)),           sliding(&self->m_query),  sliding(&self->m_key),
            fixed(m_lock, m_lock->sizeHint().width()), fixed(m_pair, pairWidth), fixed(m_speed, speedWidth)};
}

int TransportBar::arrange(int width, bool isPlacing)
{
    const int pad = scaledPixels(kBarPad), gap = scaledPixels(kBarGap);
    const QList<Group> all = groups();
    int top = 1; // under the hairline
    const auto widthOf = [&](qsizetype from, qsizetype to) {
        int sum = 2 * pad - gap;
        for (qsizetype i = from; i < to; ++i)
            sum += gap + all[i].least;
        return sum;
    };
    const int lineHeight = scaledPixels(widthOf(0, all.size()) > width ? kSeveralHeight : kBarHeight);
    // Where two lines are needed, positions stand in the first and everything else in the second.
    const qsizetype pause =
        widthOf(0, all.size()) > width && widthOf(0, kPositionGroups) <= width ? kPositionGroups : all.size();
    for (qsizetype first = 0; first < all.size();) {
        qsizetype end = first;
        int used = 2 * pad - gap;
        while (end < all.size() && end != (first < pause ? pause : all.size()) &&
               (end == first || used + gap + all[end].least <= width)) {
            used += gap + all[end].least;
            ++end;
        }
        int sliding = 0;
        for (qsizetype i = first; i < end; ++i)
            sliding += all[i].most > all[i].least ? 1 : 0;
        const int spare = std::max(0, width - used);
        int x = pad;
        int growth = 0;
        if (sliding > 0)
            for (qsizetype i = first; i < end; ++i)
                if (all[i].most > all[i].least)
                    growth = std::min(spare / sliding, all[i].most - all[i].least);
        // What the sliders do not take opens the gaps, so that the line is filled as a whole.
        const auto gaps = static_cast<int>(end - first) - 1;
        const bool isSingleLine = first == 0 && end == all.size();
        const int extra =
            gaps > 0 && isSingleLine ? std::min((spare - growth * sliding) / gaps, scaledPixels(24)) : 0;
        for (qsizetype i = first; i < end; ++i) {
            const Group& group = all[i];
            const int groupWidth = group.least + (group.most > group.least ? growth : 0);
            if (isPlacing && group.position) {
                PositionControl& control = *group.position;
                const int letter = scaledPixels(14), boxWidth = scaledPixels(66),
                          boxHeight = scaledPixels(21);
                control.letterBox = QRect(x, top, letter, lineHeight);
                control.box->setGeometry(x + groupWidth - boxWidth, top + (lineHeight - boxHeight) / 2,
                                         boxWidth, boxHeight);
                const int trackHeight = scaledPixels(20);
                control.track->setGeometry(x + letter, top + (lineHeight - trackHeight) / 2,
                                           groupWidth - letter - boxWidth - scaledPixels(2), trackHeight);
            } else if (isPlacing) {
                const int height = group.widget == m_play || group.widget == m_lock
                                       ? group.widget->sizeHint().height()
                                       : scaledPixels(24);
                group.widget->setGeometry(x, top + (lineHeight - height) / 2, groupWidth, height);
            }
            x += groupWidth + gap + extra;
        }
        top += lineHeight;
        first = end;
    }
    return top;
}

QSize TransportBar::sizeHint() const
{
    int width = 2 * scaledPixels(kBarPad) - scaledPixels(kBarGap);
    for (const Group& group : groups())
        width += group.least + scaledPixels(kBarGap);
    return {width, scaledPixels(kBarHeight) + 1};
}

QSize TransportBar::minimumSizeHint() const
{
    int widest = 0;
    for (const Group& group : groups())
        widest = std::max(widest, group.least);
    return {widest + 2 * scaledPixels(kBarPad), scaledPixels(kBarHeight) + 1};
}

int TransportBar::heightForWidth(int width) const
{
    return const_cast<TransportBar*>(this)->arrange(width, false);
}

void TransportBar::paintEvent(QPaintEvent*)
{
    const ThemeColours& colours = windowColours();
    QPainter painter(this);
    painter.fillRect(QRect(0, 0, width(), 1), colours.rule);
    painter.setFont(ropewalkFont(13.0 * windowStyle().scale, QFont::Bold));
    painter.setPen(colours.query);
    painter.drawText(m_query.letterBox, Qt::AlignLeft | Qt::AlignVCenter, m_query.letter);
    painter.setPen(colours.key);
    painter.drawText(m_key.letterBox, Qt::AlignLeft | Qt::AlignVCenter, m_key.letter);
}

void TransportBar::restyle()
{
    m_query.track->setColour(windowColours().query);
    m_key.track->setColour(windowColours().key);
    m_play->setFixedSize(m_play->sizeHint());
    m_pair->setFont(windowFont(TextRole::Control));
    m_speed->setFont(windowFont(TextRole::Control));
    m_lock->setFont(windowFont(TextRole::Control));
    arrange(width(), true);
    updateGeometry();
    update();
}

void TransportBar::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    arrange(width(), true);
}

void TransportBar::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::StyleChange)
        restyle();
}

} // namespace ropewalk
