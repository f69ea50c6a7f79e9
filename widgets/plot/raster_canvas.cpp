// SPDX-License-Identifier: GPL-3.0-or-later
#include "raster_canvas.h"

#include <QImage>
#include <QPaintEngine>

#include <algorithm>
#include <array>
#include <cmath>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace ropewalk {
namespace {

/// `share` of 256 parts of one colour over the other, channel by channel.
inline std::uint32_t blended(std::uint32_t ground, std::uint32_t over, std::uint32_t share)
{
    constexpr std::uint32_t kPairs = 0x00ff00ffU; // two channels at a time
    constexpr std::uint32_t kHalves = 0x00800080U;
    const std::uint32_t rest = 256U - share;
    const std::uint32_t low = ((ground & kPairs) * rest + (over & kPairs) * share + kHalves) >> 8U & kPairs;
    const std::uint32_t high =
        ((ground >> 8U & kPairs) * rest + (over >> 8U & kPairs) * share + kHalves) & ~kPairs;
    return low | high;
}

/// The mean of clamp(v, 0, 1) where v runs evenly over `way` around its middle: how much of a pixel lies on
/// one side of an edge that crosses it at a slant.
class SlantedEdge
{
public:
    explicit SlantedEdge(double way)
        : m_half(way / 2.0)
        , m_perWay(way > 1e-3 ? 1.0 / way : 0.0)
    {
    }

    double operator()(double v) const
    {
        if (m_perWay == 0.0)
            return std::clamp(v, 0.0, 1.0);
        return (sumTo(v + m_half) - sumTo(v - m_half)) * m_perWay;
    }

private:
    static double sumTo(double v) // of clamp, from minus infinity on
    {
        const double within = std::clamp(v, 0.0, 1.0);
        return within * within / 2.0 + std::max(0.0, v - 1.0);
    }

    double m_half, m_perWay;
};

constexpr int kColumnsAtATime = 64;
using ColumnRows = std::array<std::int32_t, kColumnsAtATime>;

/// Blends one colour over those of a row's pixels whose columns hold the row: [first, end).
void blendColumns(std::uint32_t* pixels, int columns, std::int32_t row, const ColumnRows& first,
                  const ColumnRows& end, std::uint32_t colour, std::uint32_t share)
{
    int at = 0;
#ifdef __SSE2__
    // Four pixels at once, their channels as numbers of 16 bits; the compiler does not find this by itself.
    const __m128i none = _mm_setzero_si128();
    const __m128i rest = _mm_set1_epi16(static_cast<short>(256U - share));
    const __m128i added =
        _mm_add_epi16(_mm_mullo_epi16(_mm_unpacklo_epi8(_mm_set1_epi32(static_cast<int>(colour)), none),
                                      _mm_set1_epi16(static_cast<short>(share))),
                      _mm_set1_epi16(128));
    const auto blend = [&](__m128i channels) {
        return _mm_srli_epi16(_mm_add_epi16(_mm_mullo_epi16(channels, rest), added), 8);
    };
    const __m128i thisRow = _mm_set1_epi32(row);
    for (; at + 4 <= columns; at += 4) {
        const auto load = [at](const auto* from) {
            return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at));
        };
        const __m128i isOut =
            _mm_or_si128(_mm_cmpgt_epi32(load(first.data()), thisRow),
                         _mm_xor_si128(_mm_cmpgt_epi32(load(end.data()), thisRow), _mm_set1_epi32(-1)));
        const __m128i ground = load(pixels);
        const __m128i over =
            _mm_packus_epi16(blend(_mm_unpacklo_epi8(ground, none)), blend(_mm_unpackhi_epi8(ground, none)));
        const __m128i mixed = _mm_or_si128(_mm_and_si128(isOut, ground), _mm_andnot_si128(isOut, over));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(pixels + at), mixed);
    }
#endif
    for (; at < columns; ++at) {
        const auto index = static_cast<std::size_t>(at);
        if (row >= first[index] && row < end[index])
            pixels[at] = blended(pixels[at], colour, share);
    }
}

} // namespace

std::optional<RasterCanvas> RasterCanvas::of(const QPainter& painter)
{
    const QPaintDevice* device = painter.device();
    if (!device || device->devType() != QInternal::Image || !painter.paintEngine() ||
        painter.paintEngine()->type() != QPaintEngine::Raster || painter.opacity() < 1.0 ||
        painter.compositionMode() != QPainter::CompositionMode_SourceOver)
        return {};
    const auto* image = static_cast<const QImage*>(device);
    const QTransform transform = painter.combinedTransform();
    if ((image->format() != QImage::Format_RGB32 && image->format() != QImage::Format_ARGB32_Premultiplied) ||
        transform.type() > QTransform::TxTranslate)
        return {};
    QRect clip = image->rect();
    if (painter.hasClipping()) {
        const QRegion region = painter.clipRegion();
        if (region.rectCount() > 1)
            return {};
        clip &= transform.mapRect(QRectF(region.boundingRect())).toAlignedRect();
    }
    // What is painted on an image is written at once, so both may write by turns.
    auto* pixels = reinterpret_cast<std::uint32_t*>(const_cast<uchar*>(image->constBits()));
    return RasterCanvas(pixels, image->bytesPerLine() / static_cast<qsizetype>(sizeof *pixels), clip,
                        {transform.dx(), transform.dy()});
}

void RasterCanvas::drawPolyline(const QPolygonF& points, double width, const QColor& colour)
{
    const double half = (width > 0.0 ? width : 1.0) / 2.0; // a pen of no width draws one pixel
    const std::uint32_t rgb = colour.rgb() | 0xff000000U;
    // At a corner of less than some twenty degrees the two pieces meet well enough as they are. At a sharper
    // one the first is round, and the second begins in it: drawn twice, its edge would be a bead.
    const auto isSharp = [&](qsizetype corner) {
        const QPointF in = points[corner] - points[corner - 1];
        const QPointF out = points[corner + 1] - points[corner];
        const double across = in.x() * out.y() - in.y() * out.x();
        const double along = QPointF::dotProduct(in, out);
        const bool isFlatIn = std::fabs(in.x()) >= std::fabs(in.y());
        const bool isFlatOut = std::fabs(out.x()) >= std::fabs(out.y());
        return isFlatIn != isFlatOut || std::fabs(across) > 0.35 * along;
    };
    for (qsizetype i = 1; i < points.size(); ++i) {
        const PieceEnd from = i == 1 ? PieceEnd::Round : isSharp(i - 1) ? PieceEnd::Cut : PieceEnd::Joined;
        const PieceEnd to = i + 1 == points.size() || isSharp(i) ? PieceEnd::Round : PieceEnd::Joined;
        drawPiece(toDevice(points[i - 1]), toDevice(points[i]), half, rgb, from, to);
    }
}

void RasterCanvas::drawPiece(const QPointF& from, const QPointF& to, double half, std::uint32_t colour,
                             PieceEnd fromEnd, PieceEnd toEnd)
{
    const QPointF way = to - from;
    const double length = std::sqrt(QPointF::dotProduct(way, way));
    const QPointF along = length > 0.0 ? way / length : QPointF(1.0, 0.0);
    // Walked along its longer side, whichever that is: `u` runs along, `v` across.
    const bool isFlat = std::fabs(along.x()) >= std::fabs(along.y());
    const double fromU = isFlat ? from.x() : from.y(), fromV = isFlat ? from.y() : from.x();
    const double toU = isFlat ? to.x() : to.y();
    const double alongU = isFlat ? along.x() : along.y(), alongV = isFlat ? along.y() : along.x();
    const double slope = alongV / alongU;
    const bool isForward = alongU > 0.0;
    const double low = isForward ? fromU : toU, high = isForward ? toU : fromU;
    const PieceEnd lowEnd = isForward ? fromEnd : toEnd, highEnd = isForward ? toEnd : fromEnd;
    // Pieces that go on share the nearest edge between pixels, so that each pixel is one piece's. About
    // another end pixels are covered by their distance from it.
    const double room = half + 1.0;
    const double u0 = lowEnd == PieceEnd::Joined ? std::round(low) : low - room;
    const double u1 = highEnd == PieceEnd::Joined ? std::round(high) : high + room;
    const double lowUntil = lowEnd == PieceEnd::Joined ? u0 : low + room;
    const double highFrom = highEnd == PieceEnd::Joined ? u1 : high - room;
    const double reach = half / std::fabs(alongU); // across
    const int uBegin = isFlat ? m_clip.left() : m_clip.top();
    const int uEnd = isFlat ? m_clip.right() + 1 : m_clip.bottom() + 1;
    const int vBegin = isFlat ? m_clip.top() : m_clip.left();
    const int vEnd = isFlat ? m_clip.bottom() + 1 : m_clip.right() + 1;
    const std::ptrdiff_t uStep = isFlat ? 1 : m_stride;
    const std::ptrdiff_t vStep = isFlat ? m_stride : 1;
    const double first = std::max<double>(uBegin, std::floor(u0));
    const double last = std::min<double>(uEnd, std::ceil(u1));
    if (!(first < last))
        return;
    const SlantedEdge edge(std::fabs(slope));
    const double blur = std::fabs(slope) / 2.0;
    for (int u = static_cast<int>(first); u < static_cast<int>(last); ++u) {
        const double centre = u + 0.5;
        const bool isAtEnd = centre < lowUntil || centre > highFrom;
        const double middle = fromV + slope * ((isAtEnd ? std::clamp(centre, low, high) : centre) - fromU);
        const double top = middle - reach;
        const double bottom = middle + reach;
        const double spare = isAtEnd ? 1.0 : blur;
        const double firstRow = std::max<double>(vBegin, std::floor(top - spare));
        const double lastRow = std::min<double>(vEnd, std::ceil(bottom + spare));
        if (!(firstRow < lastRow))
            continue;
        std::uint32_t* pixel = m_pixels + u * uStep + static_cast<std::ptrdiff_t>(firstRow) * vStep;
        const auto cover = [&](double share) {
            *pixel = blended(*pixel, colour, static_cast<std::uint32_t>(256.0 * share + 0.5));
            pixel += vStep;
        };
        double row = firstRow;
        if (isAtEnd) {
            for (; row < lastRow; row += 1.0) {
                const double du = centre - fromU, dv = row + 0.5 - fromV;
                const double at = du * alongU + dv * alongV; // from the beginning of the piece on
                const double across = du * alongV - dv * alongU;
                const double beyond = fromEnd == PieceEnd::Round && at < 0.0    ? at
                                      : toEnd == PieceEnd::Round && at > length ? at - length
                                                                                : 0.0;
                const double away =
                    beyond == 0.0 ? std::fabs(across) : std::sqrt(across * across + beyond * beyond);
                const double cut = fromEnd == PieceEnd::Cut ? std::clamp(at + 0.5, 0.0, 1.0) : 1.0;
                cover(cut *
                      (std::clamp(half - away + 0.5, 0.0, 1.0) - std::clamp(0.5 - half - away, 0.0, 1.0)));
            }
            continue;
        }
        // Of the pixel from `row` to `row` + 1 what lies below the upper edge and not below the lower one;
        // where pixels lie wholly between the two, one edge at a time is met.
        const double fullBegin = std::clamp(std::ceil(top + blur), firstRow, lastRow);
        const double fullEnd = std::clamp(std::floor(bottom - blur), firstRow, lastRow);
        if (fullBegin <= fullEnd && top + blur <= fullBegin && fullEnd <= bottom - blur) {
            for (; row < fullBegin; row += 1.0)
                cover(edge(row + 1.0 - top));
            for (; row < fullEnd; row += 1.0)
                cover(1.0);
            for (; row < lastRow; row += 1.0)
                cover(1.0 - edge(row + 1.0 - bottom));
        } else {
            for (; row < lastRow; row += 1.0)
                cover(edge(row + 1.0 - top) - edge(row + 1.0 - bottom));
        }
    }
}

void RasterCanvas::fillBars(int left, std::span<const double> tops, std::span<const double> bottoms,
                            const QColor& colour)
{
    const int first = std::max(0, m_clip.left() - left);
    const int count = std::min(static_cast<int>(tops.size()), m_clip.right() + 1 - left) - first;
    if (count <= 0)
        return;
    const auto opacity = static_cast<double>(colour.alphaF());
    const std::uint32_t rgb = colour.rgb() | 0xff000000U;
    const auto share = static_cast<std::uint32_t>(256.0 * opacity + 0.5);
    // Some columns at a time, so many that a row of them is a line of the cache: what lies beside a zigzag is
    // not met at all.
    for (int group = first; group < first + count; group += kColumnsAtATime) {
        const int columns = std::min(kColumnsAtATime, first + count - group);
        ColumnRows firstWhole{}, endWhole{}; // rows that a bar covers whole
        std::int32_t begin = m_clip.bottom() + 1, end = m_clip.top();
        std::uint32_t* const pixels = m_pixels + left + group;
        for (int at = 0; at < columns; ++at) {
            const auto index = static_cast<std::size_t>(at);
            const auto within = [&](double row) {
                return std::clamp<double>(row, m_clip.top(), m_clip.bottom() + 1);
            };
            const double upper = within(tops[static_cast<std::size_t>(group + at)]);
            const double lower = within(bottoms[static_cast<std::size_t>(group + at)]);
            if (!(lower > upper))
                continue;
            firstWhole[index] = static_cast<std::int32_t>(std::ceil(upper));
            endWhole[index] = static_cast<std::int32_t>(std::floor(lower));
            begin = std::min(begin, firstWhole[index]);
            end = std::max(end, endWhole[index]);
            // Its ends cover their rows in part; a short bar may have both in one row.
            const auto cover = [&](std::int32_t row) {
                const double covered = std::min(lower, row + 1.0) - std::max<double>(upper, row);
                std::uint32_t& pixel = pixels[row * m_stride + at];
                pixel = blended(pixel, rgb, static_cast<std::uint32_t>(256.0 * opacity * covered + 0.5));
            };
            if (firstWhole[index] > upper)
                cover(firstWhole[index] - 1);
            if (endWhole[index] < lower && endWhole[index] >= firstWhole[index])
                cover(endWhole[index]);
        }
        for (std::int32_t row = begin; row < end; ++row)
            blendColumns(pixels + row * m_stride, columns, row, firstWhole, endWhole, rgb, share);
    }
}

} // namespace ropewalk
