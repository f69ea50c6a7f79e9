// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/channel_map.h"

#include <QWidget>

namespace ropewalk {

/// The channels of one head side by side, coloured by their pair from fast to slow; the still ones are grey.
class ChannelStrip : public QWidget
{
    Q_OBJECT
public:
    explicit ChannelStrip(QWidget* parent = nullptr);

    /// `config` must have even widths with rotary_dim ≤ head_dim; others draw an empty strip.
    void setConfig(const RopeConfig& config);
    /// Colour of a channel as drawn.
    QColor channelColour(int channel) const;
    /// The channel under x, or -1.
    int channelAt(double x) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void pairClicked(int pair); ///< the pair of the channel that was pressed

protected:
    void mousePressEvent(QMouseEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    ChannelMap m_map;
    std::vector<int> m_pairOf; ///< pair index of each channel
    std::vector<int> m_rankOf; ///< of each pair: the how manieth of those that turn, or -1
    int m_turning = 0;
    int m_ranks = 0; ///< pairs that turn with frequencies of their own
    int m_headDim = 0;
};

} // namespace ropewalk
