// SPDX-License-Identifier: GPL-3.0-or-later
#include "channel_strip.h"

#include "../window_style.h"
#include "core/frequency_rules.h"
#include "core/validate.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace ropewalk {

ChannelStrip::ChannelStrip(QWidget* parent)
    : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("channels of the head"));
}

void ChannelStrip::setConfig(const RopeConfig& config)
{
    const bool isDrawable = config.headDim >= 2 && config.headDim % 2 == 0 && config.rotaryDim >= 0 &&
                            config.rotaryDim % 2 == 0 && config.rotaryDim <= config.headDim &&
                            (config.channels != ChannelScheme::TwoBlocks || config.headDim % 4 == 0);
    // What turns is known even of a configuration whose rule lacks a value; then the scheme alone says it.
    const bool isPossible = isDrawable && !hasError(validate(config));
    const FrequencyTable table = isPossible ? frequencyTable(config) : FrequencyTable{};
    m_headDim = isDrawable ? config.headDim : 0;
    m_map = isDrawable ? channelMap(config) : ChannelMap{};
    m_pairOf.assign(static_cast<std::size_t>(m_headDim), 0);
    for (int pair = 0; pair < m_map.pairCount(); ++pair) {
        const auto [a, b] = m_map.pair(pair);
        m_pairOf[static_cast<std::size_t>(a)] = pair;
        m_pairOf[static_cast<std::size_t>(b)] = pair;
    }
    m_rankOf.assign(static_cast<std::size_t>(m_map.pairCount()), -1);
    m_turning = 0;
    m_ranks = 0;
    int rank = 0;
    for (int pair = 0; pair < static_cast<int>(m_map.formed.size()); ++pair) {
        // Two blocks have the same frequencies, and so the same colours.
        const bool startsAnew =
            config.channels == ChannelScheme::TwoBlocks && scheduleIndex(config, pair) == 0;
        if (startsAnew)
            rank = 0;
        if (isPossible ? table.turns(pair) : isTurningPair(config, pair)) {
            m_rankOf[static_cast<std::size_t>(pair)] = rank++;
            ++m_turning;
        }
        m_ranks = std::max(m_ranks, rank);
    }
    setAccessibleDescription(isDrawable
                                 ? tr("%1 of %2 channels turn; layout %3")
                                       .arg(2 * m_turning)
                                       .arg(config.headDim)
                                       .arg(config.layout == Layout::Half ? tr("half") : tr("interleaved"))
                                 : QString());
    update();
}

QColor ChannelStrip::channelColour(int channel) const
{
    const ThemeColours& colours = windowColours();
    const int pair = m_pairOf[static_cast<std::size_t>(channel)];
    const int rank = m_rankOf[static_cast<std::size_t>(pair)];
    if (rank < 0 || colours.pairs.isEmpty())
        return colours.rule;
    const auto steps = static_cast<int>(colours.pairs.size());
    return colours.pairs[std::min(steps - 1, rank * steps / m_ranks)];
}

int ChannelStrip::channelAt(double x) const
{
    const double pad = scaledPixels(16);
    const double way = width() - 2.0 * pad;
    if (m_headDim == 0 || x < pad || x >= pad + way)
        return -1;
    return std::min(m_headDim - 1, static_cast<int>((x - pad) / way * m_headDim));
}

QSize ChannelStrip::sizeHint() const
{
    return {scaledPixels(260), scaledPixels(20)};
}

QSize ChannelStrip::minimumSizeHint() const
{
    return {scaledPixels(100), scaledPixels(20)};
}

void ChannelStrip::mousePressEvent(QMouseEvent* event)
{
    const int channel = channelAt(event->position().x());
    if (event->button() != Qt::LeftButton || channel < 0) {
        QWidget::mousePressEvent(event);
        return;
    }
    emit pairClicked(m_pairOf[static_cast<std::size_t>(channel)]);
}

void ChannelStrip::paintEvent(QPaintEvent*)
{
    if (m_headDim == 0)
        return;
    QPainter painter(this);
    const double pad = scaledPixels(16);
    const double way = width() - 2.0 * pad;
    const double pitch = way / m_headDim;
    const double gap = pitch >= 1.6 ? std::min(pitch * 0.3, 1.0 * windowStyle().scale) : 0.0;
    const double barHeight = scaledPixels(14);
    const double top = (height() - barHeight) / 2.0;
    // Without a gap neighbours would mix along their common edge.
    painter.setRenderHint(QPainter::Antialiasing, gap > 0.0);
    painter.setPen(Qt::NoPen);
    for (int channel = 0; channel < m_headDim; ++channel) {
        painter.setBrush(channelColour(channel));
        const QRectF bar(pad + channel * pitch, top, std::max(pitch - gap, gap > 0.0 ? 0.0 : 1.0), barHeight);
        if (pitch >= 3.0)
            painter.drawRoundedRect(bar, 1.0, 1.0);
        else
            painter.drawRect(bar);
    }
}

bool ChannelStrip::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int channel = channelAt(help->pos().x());
    if (channel < 0) {
        QToolTip::hideText();
        event->ignore();
        return true;
    }
    const int pair = m_pairOf[static_cast<std::size_t>(channel)];
    const auto [a, b] = m_map.pair(pair);
    const int partner = a == channel ? b : a;
    const bool isStill = m_rankOf[static_cast<std::size_t>(pair)] < 0;
    const QString text =
        isStill ? tr("channel %1 does not turn").arg(channel)
                : tr("channel %1 and channel %2 are pair %3").arg(channel).arg(partner).arg(pair);
    QToolTip::showText(help->globalPos(), text, this);
    return true;
}

} // namespace ropewalk
