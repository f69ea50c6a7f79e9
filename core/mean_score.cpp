// SPDX-License-Identifier: GPL-3.0-or-later
#include "mean_score.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace ropewalk {
namespace {

/// The rows as complex numbers, one for each pair of the head; the pairs of a row side by side.
struct ComplexRows
{
    std::vector<double> re, im; ///< [tokens × pairs]
};

ComplexRows complexRows(std::span<const double> rows, const ChannelMap& channels)
{
    const auto pairs = static_cast<std::size_t>(channels.pairCount());
    const std::size_t tokens = rows.size() / (2 * pairs);
    ComplexRows result{std::vector<double>(tokens * pairs), std::vector<double>(tokens * pairs)};
    for (std::size_t token = 0; token < tokens; ++token)
        for (std::size_t pair = 0; pair < pairs; ++pair) {
            const auto [a, b] = channels.pair(static_cast<int>(pair));
            result.re[token * pairs + pair] = rows[token * 2 * pairs + static_cast<std::size_t>(a)];
            result.im[token * pairs + pair] = rows[token * 2 * pairs + static_cast<std::size_t>(b)];
        }
    return result;
}

} // namespace

std::optional<MeanScores> meanScores(std::span<const double> queries, std::span<const double> keys,
                                     const ChannelMap& channels, const FrequencyTable& table,
                                     std::span<const double> dampingRate, const std::stop_token& stop)
{
    const auto pairs = static_cast<std::size_t>(channels.pairCount());
    assert(pairs > 0 && queries.size() == keys.size() && queries.size() % (2 * pairs) == 0);
    const std::size_t tokens = queries.size() / (2 * pairs);
    const ComplexRows q = complexRows(queries, channels);
    const ComplexRows k = complexRows(keys, channels);
    const auto isFinite = [&](std::span<const double> rows, std::size_t token) {
        const auto row = rows.subspan(token * 2 * pairs, 2 * pairs);
        return std::all_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); });
    };
    std::vector<char> hasQuery(tokens), hasKey(tokens);
    MeanScores scores;
    for (std::size_t token = 0; token < tokens; ++token) {
        hasQuery[token] = isFinite(queries, token);
        hasKey[token] = isFinite(keys, token);
        scores.leftOut += !hasQuery[token] || !hasKey[token];
    }
    std::vector<double> re(pairs), im(pairs);
    for (std::size_t r = 0; r < tokens; ++r) {
        if (stop.stop_requested())
            return std::nullopt;
        std::fill(re.begin(), re.end(), 0.0);
        std::fill(im.begin(), im.end(), 0.0);
        double count = 0.0;
        for (std::size_t m = r; m < tokens; ++m) {
            if (!hasQuery[m] || !hasKey[m - r])
                continue;
            count += 1.0;
            const double* qRe = q.re.data() + m * pairs;
            const double* qIm = q.im.data() + m * pairs;
            const double* kRe = k.re.data() + (m - r) * pairs;
            const double* kIm = k.im.data() + (m - r) * pairs;
            for (std::size_t pair = 0; pair < pairs; ++pair) {
                re[pair] += qRe[pair] * kRe[pair] + qIm[pair] * kIm[pair];
                im[pair] += qIm[pair] * kRe[pair] - qRe[pair] * kIm[pair];
            }
        }
        double turned = 0.0, plain = 0.0;
        for (std::size_t pair = 0; pair < pairs; ++pair) {
            plain += re[pair];
            const double theta = table.theta(static_cast<int>(pair));
            if (theta == 0.0) {
                turned += re[pair];
                continue;
            }
            const double distance = static_cast<double>(r);
            const double damping = dampingRate.empty() ? 1.0 : std::exp(dampingRate[pair] * distance);
            turned += table.attentionFactor * table.attentionFactor * damping *
                      (re[pair] * std::cos(distance * theta) - im[pair] * std::sin(distance * theta));
        }
        const bool isKnown = count > 0.0;
        scores.turned.push_back(isKnown ? turned / count : std::numeric_limits<double>::quiet_NaN());
        scores.plain.push_back(isKnown ? plain / count : std::numeric_limits<double>::quiet_NaN());
    }
    return scores;
}

} // namespace ropewalk
