// SPDX-License-Identifier: GPL-3.0-or-later
#include "encodings.h"

#include "philox.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

namespace ropewalk {
namespace {

constexpr std::array kEncodings{
    EncodingInfo{Encoding::Rope, "rope", "RoPE", "RoFormer, arXiv:2104.09864"},
    EncodingInfo{Encoding::Sinusoidal, "sinusoidal", "Sinusoidal", "arXiv:1706.03762"},
    EncodingInfo{Encoding::Learned, "learned", "Learned", "BERT, arXiv:1810.04805"},
    EncodingInfo{Encoding::TransformerXl, "transformer_xl", "Transformer-XL", "arXiv:1901.02860"},
    EncodingInfo{Encoding::T5, "t5", "T5", "arXiv:1910.10683"},
    EncodingInfo{Encoding::Deberta, "deberta", "DeBERTa", "arXiv:2006.03654"},
    EncodingInfo{Encoding::Alibi, "alibi", "ALiBi", "arXiv:2108.12409"},
    EncodingInfo{Encoding::None, "none", "No encoding (NoPE)", ""},
};

double omega(int width, double base, int pair)
{
    return plainTheta(base, pair, width);
}

int log2Floor(int value)
{
    int power = 0;
    while (value >= 2) {
        value /= 2;
        ++power;
    }
    return power;
}

std::vector<double> slopesOfPowerOfTwo(int heads)
{
    std::vector<double> slopes;
    for (int h = 1; h <= heads; ++h)
        slopes.push_back(std::exp2(-8.0 * h / heads));
    return slopes;
}

} // namespace

std::span<const EncodingInfo> encodings()
{
    return kEncodings;
}

std::vector<double> sinusoidalVector(int width, double base, double position)
{
    std::vector<double> vector(static_cast<std::size_t>(width));
    for (int i = 0; i < width / 2; ++i) {
        const double angle = position * omega(width, base, i);
        vector[static_cast<std::size_t>(2 * i)] = std::sin(angle);
        vector[static_cast<std::size_t>(2 * i + 1)] = std::cos(angle);
    }
    return vector;
}

SinusoidalProduct::SinusoidalProduct(int width, double base)
{
    for (int i = 0; i < width / 2; ++i)
        m_omega.push_back(omega(width, base, i));
}

double SinusoidalProduct::at(double distance) const
{
    double sum = 0.0;
    for (const double rate : m_omega)
        sum += std::cos(distance * rate);
    return sum;
}

double sinusoidalProduct(int width, double base, double distance)
{
    return SinusoidalProduct(width, base).at(distance);
}

std::vector<double> randomLearnedTable(std::uint64_t seed, int rows, int width, double sigma)
{
    std::vector<double> table;
    table.reserve(static_cast<std::size_t>(rows) * static_cast<std::size_t>(width));
    for (int row = 0; row < rows; ++row)
        for (int channel = 0; channel < width; ++channel)
            table.push_back(sigma * standardNormal(seed, RandomStream::LearnedTable,
                                                   static_cast<std::uint32_t>(channel),
                                                   static_cast<std::uint32_t>(row)));
    return table;
}

double meanProductOfRows(std::span<const double> table, int rows, int width, int r)
{
    assert(0 <= r && r < rows &&
           table.size() == static_cast<std::size_t>(rows) * static_cast<std::size_t>(width));
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<const Rows> e(table.data(), rows, width);
    double sum = 0.0;
    for (int m = r; m < rows; ++m)
        sum += e.row(m).dot(e.row(m - r));
    return sum / (rows - r);
}

TransformerXlTerm::TransformerXlTerm(std::uint64_t seed, int width, double base)
{
    const double sd = std::sqrt(2.0 / width);
    for (int i = 0; i < width / 2; ++i) {
        const auto channel = static_cast<std::uint32_t>(i);
        m_sine.push_back(sd * standardNormal(seed, RandomStream::TransformerXl, channel, 0));
        m_cosine.push_back(sd * standardNormal(seed, RandomStream::TransformerXl, channel, 1));
        m_omega.push_back(omega(width, base, i));
    }
}

TransformerXlTerm::TransformerXlTerm(std::span<const double> projected, double base)
{
    assert(projected.size() % 2 == 0);
    const std::size_t half = projected.size() / 2;
    m_sine.assign(projected.begin(), projected.begin() + static_cast<std::ptrdiff_t>(half));
    m_cosine.assign(projected.begin() + static_cast<std::ptrdiff_t>(half), projected.end());
    for (std::size_t i = 0; i < half; ++i)
        m_omega.push_back(omega(static_cast<int>(projected.size()), base, static_cast<int>(i)));
}

double TransformerXlTerm::at(double distance) const
{
    double sum = 0.0;
    for (std::size_t i = 0; i < m_omega.size(); ++i)
        sum += m_sine[i] * std::sin(distance * m_omega[i]) + m_cosine[i] * std::cos(distance * m_omega[i]);
    return sum;
}

int t5Bucket(std::int64_t relativePosition, bool isBidirectional, int buckets, int maxDistance)
{
    const int ofSide = isBidirectional ? buckets / 2 : buckets;
    const int offset = isBidirectional && relativePosition > 0 ? ofSide : 0;
    const std::int64_t n =
        isBidirectional ? std::llabs(relativePosition) : std::max<std::int64_t>(-relativePosition, 0);
    const int exact = ofSide / 2;
    if (n < exact)
        return offset + static_cast<int>(n);
    // The quotient is a whole number where n is a power of the ratio; rounding must not take it below.
    constexpr double kRounding = 1e-12;
    const double steps = (ofSide - exact) * std::log(static_cast<double>(n) / exact) /
                         std::log(static_cast<double>(maxDistance) / exact);
    return offset + static_cast<int>(std::min<double>(ofSide - 1, exact + std::floor(steps + kRounding)));
}

int debertaLogBucket(std::int64_t distance, int bucketSize, int maxPosition)
{
    const int middle = bucketSize / 2;
    const std::int64_t n = std::llabs(distance);
    if (n <= middle)
        return static_cast<int>(distance);
    constexpr double kRounding = 1e-12; // at |r| = maxPosition - 1 the quotient is 1
    const double steps = std::log(static_cast<double>(n) / middle) /
                         std::log(static_cast<double>(maxPosition - 1) / middle) * (middle - 1);
    const int bucket = middle + static_cast<int>(std::ceil(steps - kRounding));
    return distance > 0 ? bucket : -bucket;
}

int debertaIndex(std::int64_t distance, bool hasLogBuckets)
{
    if (hasLogBuckets)
        return std::clamp(debertaLogBucket(distance) + 256, 0, 511);
    return static_cast<int>(std::clamp<std::int64_t>(distance + 512, 0, 1023));
}

DebertaTerm::DebertaTerm(std::uint64_t seed, int width, bool hasLogBuckets)
    : m_seed(seed)
    , m_hasLogBuckets(hasLogBuckets)
{
    for (int c = 0; c < width; ++c) {
        m_query.push_back(standardNormal(seed, RandomStream::Query, static_cast<std::uint32_t>(c), 0));
        m_key.push_back(standardNormal(seed, RandomStream::Key, static_cast<std::uint32_t>(c), 0));
    }
}

double DebertaTerm::at(std::int64_t distance) const
{
    const auto keyRow = static_cast<std::uint32_t>(debertaIndex(distance, m_hasLogBuckets));
    const auto queryRow = static_cast<std::uint32_t>(debertaIndex(-distance, m_hasLogBuckets));
    double sum = 0.0;
    for (std::size_t c = 0; c < m_query.size(); ++c) {
        const auto channel = static_cast<std::uint32_t>(c);
        sum += m_query[c] * standardNormal(m_seed, RandomStream::DebertaKey, channel, keyRow) +
               m_key[c] * standardNormal(m_seed, RandomStream::DebertaQuery, channel, queryRow);
    }
    // The tables' spread, 1/√width, and the scale 1/√(3·width).
    return sum / (std::sqrt(3.0) * static_cast<double>(m_query.size()));
}

std::vector<double> alibiSlopes(int heads)
{
    const int power = 1 << log2Floor(std::max(1, heads));
    std::vector<double> slopes = slopesOfPowerOfTwo(power);
    const std::vector<double> finer = slopesOfPowerOfTwo(2 * power);
    for (std::size_t i = 0; static_cast<int>(slopes.size()) < heads; i += 2)
        slopes.push_back(finer[i]);
    return slopes;
}

Attention attention(std::span<const double> logits, std::span<const double> values, int tokens, int width)
{
    Attention result;
    result.weights.resize(static_cast<std::size_t>(tokens) * static_cast<std::size_t>(tokens));
    result.outputs.assign(static_cast<std::size_t>(tokens) * static_cast<std::size_t>(width), 0.0);
    for (int m = 0; m < tokens; ++m) {
        const auto row =
            logits.subspan(static_cast<std::size_t>(m * tokens), static_cast<std::size_t>(tokens));
        const double greatest = *std::max_element(row.begin(), row.end());
        double sum = 0.0;
        for (const double logit : row)
            sum += std::exp(logit - greatest);
        for (int n = 0; n < tokens; ++n) {
            const double weight = std::exp(row[static_cast<std::size_t>(n)] - greatest) / sum;
            result.weights[static_cast<std::size_t>(m * tokens + n)] = weight;
            for (int c = 0; c < width; ++c)
                result.outputs[static_cast<std::size_t>(m * width + c)] +=
                    weight * values[static_cast<std::size_t>(n * width + c)];
        }
    }
    return result;
}

double spreadAlongDiagonals(std::span<const double> matrix, int size)
{
    double spread = 0.0;
    for (int r = 1 - size; r < size; ++r) {
        double least = std::numeric_limits<double>::infinity();
        double greatest = -least;
        for (int m = std::max(0, r); m < std::min(size, size + r); ++m) {
            const double value = matrix[static_cast<std::size_t>(m * size + m - r)];
            least = std::min(least, value);
            greatest = std::max(greatest, value);
        }
        spread = std::max(spread, greatest - least);
    }
    return spread;
}

} // namespace ropewalk
