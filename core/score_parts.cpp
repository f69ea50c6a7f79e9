// SPDX-License-Identifier: GPL-3.0-or-later
#include "score_parts.h"

#include "rope_math.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <complex>
#include <limits>

namespace ropewalk {
namespace {

/// Distances between two exact angles: within, one table of e^{jbθ} serves all.
constexpr std::int64_t kTile = 512;

std::complex<double> arrow(std::span<const double> row, std::pair<int, int> pair)
{
    return {row[static_cast<std::size_t>(pair.first)], row[static_cast<std::size_t>(pair.second)]};
}

/// The content part, and `add(theta, rate, product)` for each pair that turns: θ' in rad/token, ln of its
/// damping a token, and A²·q·conj(k)/head_dim. The positional part has `distances` numbers, which are 0
/// before. Empty after a stop.
template<class Add>
std::optional<ScoreParts> partsOf(const RopeConfig& config, const ChannelMap& channels,
                                  const FrequencyTable& table, const ContentRows& rows, std::size_t distances,
                                  const std::stop_token& stop, Add add)
{
    ScoreParts parts;
    parts.positional.assign(distances, 0.0);
    const std::vector<double> rates = dampingRates(config, table);
    const double factor = table.attentionFactor * table.attentionFactor;
    for (int pair = 0; pair < channels.pairCount(); ++pair) {
        if (stop.stop_requested())
            return {};
        const std::complex<double> product = arrow(rows.query, channels.pair(pair)) *
                                             std::conj(arrow(rows.key, channels.pair(pair))) /
                                             static_cast<double>(config.headDim);
        if (table.turns(pair))
            add(parts.positional, table.theta(pair),
                rates.empty() ? 0.0 : rates[static_cast<std::size_t>(pair)], factor * product);
        else
            parts.content += product.real();
    }
    return parts;
}

} // namespace

std::optional<ScoreParts> scoreParts(const RopeConfig& config, const ChannelMap& channels,
                                     const FrequencyTable& table, const ContentRows& rows, std::int64_t last,
                                     const std::stop_token& stop)
{
    std::vector<double> cosine(kTile), sine(kTile);
    return partsOf(
        config, channels, table, rows, static_cast<std::size_t>(last) + 1, stop,
        [&](std::vector<double>& positional, double theta, double rate, std::complex<double> product) {
            for (std::int64_t b = 0; b < kTile; ++b) {
                const auto step = static_cast<double>(b);
                const double damping = std::exp(rate * step);
                cosine[static_cast<std::size_t>(b)] = damping * std::cos(step * theta);
                sine[static_cast<std::size_t>(b)] = damping * std::sin(step * theta);
            }
            for (std::int64_t first = 0; first <= last; first += kTile) {
                const auto at = static_cast<double>(first);
                const std::complex<double> start =
                    std::exp(rate * at) * product *
                    std::complex<double>(std::cos(at * theta), std::sin(at * theta));
                const double real = start.real();
                const double imaginary = start.imag();
                const std::int64_t count = std::min(kTile, last + 1 - first);
                double* out = positional.data() + first;
                for (std::int64_t b = 0; b < count; ++b)
                    out[b] += real * cosine[static_cast<std::size_t>(b)] -
                              imaginary * sine[static_cast<std::size_t>(b)];
            }
        });
}

std::optional<ScoreParts> scorePartsAt(const RopeConfig& config, const ChannelMap& channels,
                                       const FrequencyTable& table, const ContentRows& rows,
                                       std::span<const double> distances, const std::stop_token& stop)
{
    return partsOf(
        config, channels, table, rows, distances.size(), stop,
        [&](std::vector<double>& positional, double theta, double rate, std::complex<double> product) {
            for (std::size_t i = 0; i < distances.size(); ++i) {
                const double angle = distances[i] * theta;
                double turn = product.real() * std::cos(angle);
                if (product.imag() != 0.0)
                    turn -= product.imag() * std::sin(angle);
                positional[i] += rate == 0.0 ? turn : std::exp(rate * distances[i]) * turn;
            }
        });
}

std::optional<RowParts> rowParts(const RopeConfig& config, const ChannelMap& channels,
                                 const FrequencyTable& table, const ContentSource& source, std::int64_t rows,
                                 const std::stop_token& stop)
{
    rows = std::min(rows, source.rowsAvailable());
    assert(rows >= 0);
    const auto width = static_cast<std::size_t>(config.headDim);
    const auto count = static_cast<std::size_t>(rows);
    std::vector<double> queries(count * width), keys(count * width);
    source.queries(0, queries);
    source.keys(0, keys);
    // Turned, and with the channels in the order turning pairs, still pairs: each part is one plain product.
    const std::vector<double> rates = dampingRates(config, table);
    std::vector<int> order;
    for (const bool turning : {true, false})
        for (int pair = 0; pair < channels.pairCount(); ++pair)
            if (table.turns(pair) == turning)
                order.push_back(pair);
    const auto turningChannels = 2 * static_cast<std::size_t>(table.turningPairs());
    std::vector<bool> isFinite(count, true);
    RowParts parts;
    parts.rows = rows;
    std::vector<double> turned(width);
    for (std::size_t m = 0; m < count; ++m)
        for (std::vector<double>* all : {&queries, &keys}) {
            const std::span<double> row(all->data() + m * width, width);
            if (!std::all_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); }))
                isFinite[m] = false;
            const double sign = all == &queries ? 1.0 : -1.0;
            for (std::size_t k = 0; k < order.size(); ++k) {
                const int pair = order[k];
                auto [a, b] = channels.pair(pair);
                double first = row[static_cast<std::size_t>(a)];
                double second = row[static_cast<std::size_t>(b)];
                if (table.turns(pair)) {
                    const auto position = static_cast<double>(m);
                    const double angle = position * table.theta(pair);
                    const double rate = rates.empty() ? 0.0 : rates[static_cast<std::size_t>(pair)];
                    const double factor = table.attentionFactor * std::exp(sign * rate * position);
                    rotatePair(first, second, factor * std::cos(angle), factor * std::sin(angle));
                }
                turned[2 * k] = first;
                turned[2 * k + 1] = second;
            }
            std::copy(turned.begin(), turned.end(), row.begin());
        }
    parts.notFinite = std::count(isFinite.begin(), isFinite.end(), false);

    struct Sums
    {
        double value = 0.0, square = 0.0;
    };
    std::vector<Sums> positional(count), content(count);
    std::vector<std::int64_t> seen(count, 0);
    for (std::size_t m = 0; m < count; ++m) {
        if (stop.stop_requested())
            return {};
        if (!isFinite[m])
            continue;
        const double* query = queries.data() + m * width;
        for (std::size_t n = 0; n <= m; ++n) {
            if (!isFinite[n])
                continue;
            const double* key = keys.data() + n * width;
            double turning = 0.0, still = 0.0;
            for (std::size_t c = 0; c < turningChannels; ++c)
                turning += query[c] * key[c];
            for (std::size_t c = turningChannels; c < width; ++c)
                still += query[c] * key[c];
            turning /= config.headDim;
            still /= config.headDim;
            Sums& p = positional[m - n];
            Sums& s = content[m - n];
            p.value += turning;
            p.square += turning * turning;
            s.value += still;
            s.square += still * still;
            ++seen[m - n];
        }
    }
    double positionalSquare = 0.0, contentSquare = 0.0;
    for (std::size_t r = 0; r < count; ++r) {
        const auto number = static_cast<double>(seen[r]); // 0: no such pair of finite rows, a gap
        const auto mean = [&](const Sums& sums) { return sums.value / number; };
        const auto deviation = [&](const Sums& sums) {
            return std::sqrt(std::max(0.0, sums.square / number - mean(sums) * mean(sums)));
        };
        parts.meanPositional.push_back(mean(positional[r]));
        parts.meanContent.push_back(mean(content[r]));
        parts.sdPositional.push_back(seen[r] > 0 ? deviation(positional[r])
                                                 : std::numeric_limits<double>::quiet_NaN());
        parts.sdContent.push_back(seen[r] > 0 ? deviation(content[r])
                                              : std::numeric_limits<double>::quiet_NaN());
        positionalSquare += positional[r].square;
        contentSquare += content[r].square;
    }
    parts.positionalShare = positionalSquare / (positionalSquare + contentSquare);
    return parts;
}

} // namespace ropewalk
