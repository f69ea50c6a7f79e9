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

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    ChannelMap m_map;
    std::vector<int> m_pairOf; ///< pair index of each channel
    int m_headDim = 0;
};

} // namespace ropewalk
