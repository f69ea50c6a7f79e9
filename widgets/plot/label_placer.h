// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRectF>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

namespace ropewalk {

/// Finds room for labels within an area: never over another label, and over as little of the curves as can
/// be.
class LabelPlacer
{
public:
    explicit LabelPlacer(const QRectF& area)
        : m_area(area)
        , m_avoided(static_cast<std::size_t>(std::max(0.0, area.width()) / kBucket) + 1)
    {
    }

    /// Nothing may lie over this box.
    void block(const QRectF& box) { m_blocked.push_back(box); }

    /// Whether nothing that is blocked lies here.
    bool isFree(const QRectF& box) const
    {
        return std::none_of(m_blocked.begin(), m_blocked.end(),
                            [&](const QRectF& blocked) { return blocked.intersects(box); });
    }

    /// A label should rather not lie over this piece of a curve, a vertical extent at x; `weight` is how much
    /// of the curve's length it stands for.
    void avoid(double x, double top, double bottom, double weight = 1.0)
    {
        const double bucket = (x - m_area.left()) / kBucket; // pieces beside the area hide no label within it
        if (bucket >= 0.0 && bucket < static_cast<double>(m_avoided.size()))
            m_avoided[static_cast<std::size_t>(bucket)].push_back({x, top, bottom, weight});
    }

    /// The best of `candidates`, which come in order of preference; it is blocked from then on. Empty: none
    /// has room.
    std::optional<QRectF> place(std::span<const QRectF> candidates, double gap);

private:
    struct Piece
    {
        double x, top, bottom, weight;
    };
    QRectF m_area;
    std::vector<QRectF> m_blocked;
    static constexpr double kBucket = 8.0;     ///< width of a bucket, in the painter's units
    std::vector<std::vector<Piece>> m_avoided; ///< by their x from the area's left edge on
};

} // namespace ropewalk
