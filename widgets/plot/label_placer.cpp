// SPDX-License-Identifier: GPL-3.0-or-later
#include "label_placer.h"

#include <algorithm>

namespace ropewalk {

std::optional<QRectF> LabelPlacer::place(std::span<const QRectF> candidates, double gap)
{
    std::optional<QRectF> best;
    double bestCost = 0.0;
    double preference = 0.0;
    for (const QRectF& candidate : candidates) {
        preference += 0.01;
        if (best && preference >= bestCost)
            break; // none of those that follow can be better
        if (!m_area.contains(candidate))
            continue;
        const QRectF room = candidate.adjusted(-gap, -gap / 2, gap, gap / 2);
        if (std::any_of(m_blocked.begin(), m_blocked.end(),
                        [&](const QRectF& box) { return box.intersects(room); }))
            continue;
        // Share of the box's columns that a curve runs through.
        double hidden = 0.0;
        const auto bucketOf = [&](double x) {
            return static_cast<std::size_t>(
                std::clamp((x - m_area.left()) / kBucket, 0.0, static_cast<double>(m_avoided.size() - 1)));
        };
        for (std::size_t bucket = bucketOf(room.left()); bucket <= bucketOf(room.right()); ++bucket)
            for (const Piece& piece : m_avoided[bucket])
                if (piece.x >= room.left() && piece.x <= room.right() && piece.bottom >= room.top() &&
                    piece.top <= room.bottom())
                    hidden += piece.weight;
        const double cost = hidden / std::max(1.0, candidate.width()) + preference;
        if (!best || cost < bestCost) {
            best = candidate;
            bestCost = cost;
        }
    }
    if (best)
        m_blocked.push_back(*best);
    return best;
}

} // namespace ropewalk
