// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QPainter>
#include <QPolygonF>
#include <QRect>

#include <cstdint>
#include <optional>
#include <span>

namespace ropewalk {

/// The pixels that a painter draws on, where it draws on an image of 32 bits a pixel, neither turned nor
/// scaled, and clips at a rectangle. Curves are drawn on them directly: Qt spends about a microsecond on each
/// piece of an antialiased line, and a curve has one in every column. Coverage is the exact area of a piece
/// within a pixel, but for its ends.
class RasterCanvas
{
public:
    /// Nothing where the painter is of another kind: then Qt has to draw. Valid until the painter's clip or
    /// transform changes, or it ends.
    static std::optional<RasterCanvas> of(const QPainter& painter);

    /// A polyline in the painter's coordinates, `width` units wide, its ends and sharp corners round.
    void drawPolyline(const QPolygonF& points, double width, const QColor& colour);

    /// Bars in neighbouring columns of pixels, in device coordinates from `left` on: rows [tops, bottoms),
    /// also parts of them; empty where the bottom is not below the top.
    void fillBars(int left, std::span<const double> tops, std::span<const double> bottoms,
                  const QColor& colour);

    /// From the painter's coordinates to those of the device.
    QPointF toDevice(const QPointF& point) const { return point + m_shift; }

private:
    RasterCanvas(std::uint32_t* pixels, std::ptrdiff_t stride, const QRect& clip, const QPointF& shift)
        : m_pixels(pixels)
        , m_stride(stride)
        , m_clip(clip)
        , m_shift(shift)
    {
    }

    enum class PieceEnd {
        Joined, ///< the next piece goes on from the nearest edge between pixels
        Round,
        Cut, ///< upright to the piece, within the round end of the one before
    };
    void drawPiece(const QPointF& from, const QPointF& to, double half, std::uint32_t colour,
                   PieceEnd fromEnd, PieceEnd toEnd);

    std::uint32_t* m_pixels;
    std::ptrdiff_t m_stride; ///< pixels from a row to the next
    QRect m_clip;            ///< pixels of the device
    QPointF m_shift;
};

} // namespace ropewalk
