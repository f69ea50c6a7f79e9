// SPDX-License-Identifier: GPL-3.0-or-later
#include "precision.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

namespace ropewalk {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kFloatStep = 0x1p-24; ///< largest relative error of one rounding to float32
constexpr double kBfloatStep = 0x1p-8;
constexpr double kHalfStep = 0x1p-11;

constexpr std::array kModes{
    PrecisionModeInfo{PrecisionMode::Float32, "float32", "float32", "fl32(fl32(p)·fl32(θ))"},
    PrecisionModeInfo{PrecisionMode::RunningProduct, "running_product", "running product (ggml CPU)",
                      "a₀ = fl32(p), aᵢ₊₁ = fl32(aᵢ·c)", "ggml CPU"},
    PrecisionModeInfo{PrecisionMode::GgmlCuda, "ggml_cuda", "powers (ggml CUDA)", "fl32(fl32(p)·fl32(cⁱ))",
                      "ggml CUDA"},
    PrecisionModeInfo{PrecisionMode::Bf16Positions, "bf16_positions", "bf16 positions",
                      "fl32(bf16(p)·fl32(θ))"},
    PrecisionModeInfo{PrecisionMode::Bf16Theta, "bf16_theta", "bf16 θ", "fl32(fl32(p)·bf16(fl32(θ)))"},
    PrecisionModeInfo{PrecisionMode::Bf16All, "bf16_all", "bf16 throughout", "bf16(bf16(p)·bf16(fl32(θ)))"},
    PrecisionModeInfo{PrecisionMode::Fp16All, "fp16_all", "float16 throughout",
                      "fp16(fp16(p)·fp16(fl32(θ)))"},
};

struct FormatLimits
{
    int significandBits, leastExponent; ///< of a normal number
    double largest;
};

constexpr FormatLimits limitsOf(FloatFormat format)
{
    switch (format) {
    case FloatFormat::Float32:
        return {24, -126, 0x1.fffffep127};
    case FloatFormat::Bfloat16:
        return {8, -126, 0x1.fep127};
    case FloatFormat::Float16:
        break;
    }
    return {11, -14, 65504.0};
}

// What is rounded is kept in a float, which holds every bfloat16 and float16 too: a double that is rounded to
// float and widened again at once is left unrounded by GCC 12 where it makes vectors of two such (-O2).
float fl32(double value)
{
    return static_cast<float>(value);
}
float bf16(double value)
{
    return static_cast<float>(roundTo(FloatFormat::Bfloat16, value));
}
float fp16(double value)
{
    return static_cast<float>(roundTo(FloatFormat::Float16, value));
}

/// A frequency series start·ratio^i that runs through the turning pairs `pairs`.
struct GeometricSeries
{
    double start = 1.0, ratio = 1.0;
};

GeometricSeries seriesThrough(std::span<const double> thetas, const std::vector<int>& pairs)
{
    GeometricSeries series;
    const auto value = [&](std::size_t k) { return thetas[static_cast<std::size_t>(pairs[k])]; };
    if (pairs.size() > 1) {
        const int apart = pairs[1] - pairs[0];
        series.ratio = value(1) / value(0);
        if (apart > 1)
            series.ratio = std::pow(series.ratio, 1.0 / apart);
    }
    series.start = pairs.empty() ? 1.0 : value(0);
    if (!pairs.empty() && pairs[0] > 0)
        series.start /= std::pow(series.ratio, pairs[0]);
    return series;
}

bool isGeometric(std::span<const double> thetas, const std::vector<int>& pairs, const GeometricSeries& series)
{
    return std::all_of(pairs.begin(), pairs.end(), [&](int pair) {
        const double theta = thetas[static_cast<std::size_t>(pair)];
        return std::fabs(series.start * std::pow(series.ratio, pair) - theta) <= 1e-12 * std::fabs(theta);
    });
}

/// max(|Δcos|, |Δsin|) of a finite angle.
double turnError(double angle, const ExactTurn& exact)
{
    return std::max(std::fabs(std::cos(angle) - exact.cosine), std::fabs(std::sin(angle) - exact.sine));
}

} // namespace

double roundTo(FloatFormat format, double value)
{
    if (value == 0.0 || !std::isfinite(value))
        return value;
    const FormatLimits limits = limitsOf(format);
    // The exponent of a double out of its bits; a subnormal double is far below every format's least number.
    const int exponent = std::max(static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52 & 0x7FF) - 1023,
                                  limits.leastExponent);
    const auto step =
        std::bit_cast<double>(static_cast<std::uint64_t>(exponent - limits.significandBits + 1 + 1023) << 52);
    // Adding 1.5·2^52 steps leaves no bit for a fraction of a step: the processor rounds it, to nearest even.
    const double shift = 0x1.8p52 * step;
    const double rounded = std::copysign((std::fabs(value) + shift) - shift, value);
    if (std::fabs(rounded) > limits.largest)
        return std::copysign(std::numeric_limits<double>::infinity(), value);
    return rounded;
}

std::int64_t distinctPositions(FloatFormat format, std::int64_t length)
{
    std::int64_t count = length > 0 ? 1 : 0;
    double before = 0.0;
    for (std::int64_t position = 1; position < length; ++position) {
        const double here = roundTo(format, static_cast<double>(position));
        if (here == before)
            continue;
        ++count;
        before = here;
        if (std::isinf(here))
            break; // and all that follow
    }
    return count;
}

std::int64_t firstClash(FloatFormat format)
{
    return (std::int64_t{1} << limitsOf(format).significandBits) + 1;
}

std::span<const PrecisionModeInfo> precisionModes()
{
    return kModes;
}

ExactTurn exactTurn(std::int64_t position, double theta)
{
    if (position > 1'000'000) {
        const long double angle = static_cast<long double>(position) * theta;
        return {static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle))};
    }
    const double angle = static_cast<double>(position) * theta;
    return {std::cos(angle), std::sin(angle)};
}

RoundedAngles::RoundedAngles(PrecisionMode mode, std::span<const double> plain,
                             std::span<const double> scaled)
    : m_mode(mode)
{
    assert(plain.size() == scaled.size());
    for (std::size_t i = 0; i < scaled.size(); ++i)
        if (scaled[i] != 0.0) {
            m_pairs.push_back(static_cast<int>(i));
            m_theta.push_back(scaled[i]);
        }
    const bool isSeries = mode == PrecisionMode::RunningProduct || mode == PrecisionMode::GgmlCuda;
    m_divisor.assign(m_pairs.size(), 1.0F);
    GeometricSeries series;
    bool isDivided = false;
    bool isPlainGeometric = true; // but where two blocks of a head each begin anew
    if (isSeries) {
        series = seriesThrough(scaled, m_pairs);
        isDivided = !isGeometric(scaled, m_pairs, series);
        if (isDivided) {
            series = seriesThrough(plain, m_pairs);
            isPlainGeometric = isGeometric(plain, m_pairs, series);
        }
        m_start = fl32(series.start);
        m_ratio = fl32(series.ratio);
    }
    for (std::size_t k = 0; k < m_pairs.size(); ++k) {
        const int pair = m_pairs[k];
        const double theta = m_theta[k];
        float factor = fl32(theta);
        // Roundings after the factor: the position's and the product's.
        double steps = 2.0 * kFloatStep;
        double exactFactor = theta;
        switch (mode) {
        case PrecisionMode::Float32:
            break;
        case PrecisionMode::RunningProduct:
            exactFactor = theta / (m_start * std::pow(static_cast<double>(m_ratio), pair));
            factor = 1.0F; // of the bound alone
            steps = (pair + 3.0) * kFloatStep;
            break;
        case PrecisionMode::GgmlCuda:
            factor = fl32(std::pow(static_cast<double>(m_ratio), pair));
            exactFactor = theta / m_start;
            steps = 4.0 * kFloatStep;
            break;
        case PrecisionMode::Bf16Positions:
            steps = kBfloatStep + kFloatStep;
            break;
        case PrecisionMode::Bf16Theta:
            factor = bf16(factor);
            break;
        case PrecisionMode::Bf16All:
            factor = bf16(factor);
            steps = 2.0 * kBfloatStep;
            break;
        case PrecisionMode::Fp16All:
            factor = fp16(factor);
            steps = 2.0 * kHalfStep;
            m_absoluteBound = 0x1p-24; // the product may be subnormal
            break;
        }
        if (isDivided) {
            const double undivided = isPlainGeometric ? plain[static_cast<std::size_t>(pair)]
                                                      : series.start * std::pow(series.ratio, pair);
            const double divisor = undivided / theta;
            m_divisor[k] = fl32(divisor);
            exactFactor *= static_cast<double>(m_divisor[k]);
            steps += kFloatStep;
        }
        m_factor.push_back(factor);
        // Above the plain sum, for the products of the single errors.
        m_relativeBound.push_back(1.05 *
                                  (std::fabs(static_cast<double>(factor) / exactFactor - 1.0) + steps));
    }
}

float RoundedAngles::roundedPosition(std::int64_t position) const
{
    const auto exact = static_cast<double>(position);
    switch (m_mode) {
    case PrecisionMode::Bf16Positions:
    case PrecisionMode::Bf16All:
        return bf16(exact);
    case PrecisionMode::Fp16All:
        return fp16(exact);
    default:
        return fl32(exact);
    }
}

void RoundedAngles::at(std::int64_t position, std::span<double> angles) const
{
    assert(angles.size() <= m_pairs.size());
    const float p = roundedPosition(position);
    if (m_mode == PrecisionMode::RunningProduct || m_mode == PrecisionMode::GgmlCuda) {
        const float first = p * m_start;
        float running = first;
        int pair = 0;
        for (std::size_t k = 0; k < angles.size(); ++k) {
            if (m_mode == PrecisionMode::RunningProduct)
                for (; pair < m_pairs[k]; ++pair)
                    running *= m_ratio;
            else
                running = first * m_factor[k];
            angles[k] = static_cast<double>(running / m_divisor[k]);
        }
        return;
    }
    for (std::size_t k = 0; k < angles.size(); ++k)
        angles[k] = static_cast<double>(p * m_factor[k]); // rounded once, by the processor
    // The product of two shorter significands is exact in float, and rounded once here.
    if (m_mode == PrecisionMode::Bf16All || m_mode == PrecisionMode::Fp16All)
        for (double& angle : angles)
            angle = roundTo(m_mode == PrecisionMode::Bf16All ? FloatFormat::Bfloat16 : FloatFormat::Float16,
                            angle);
}

PrecisionError RoundedAngles::errorAt(std::int64_t position) const
{
    std::vector<ExactTurn> exact;
    exact.reserve(m_theta.size());
    for (const double theta : m_theta)
        exact.push_back(exactTurn(position, theta));
    return errorAt(position, exact);
}

PrecisionError RoundedAngles::errorAt(std::int64_t position, std::span<const ExactTurn> exactTurns) const
{
    assert(exactTurns.size() == m_pairs.size());
    PrecisionError error;
    std::vector<double> angles(m_pairs.size());
    at(position, angles);
    for (std::size_t k = 0; k < angles.size(); ++k) {
        if (!std::isfinite(angles[k]))
            return {kNone, kNone, kNone, kNone, false};
        const auto exact = static_cast<long double>(position) * m_theta[k];
        const double angle = std::fabs(static_cast<double>(angles[k] - exact));
        const double turn = turnError(angles[k], exactTurns[k]);
        error.maxAngle = std::max(error.maxAngle, angle);
        error.meanAngle += angle;
        error.maxTurn = std::max(error.maxTurn, turn);
        error.meanTurn += turn;
    }
    if (!angles.empty()) {
        error.meanAngle /= static_cast<double>(angles.size());
        error.meanTurn /= static_cast<double>(angles.size());
    }
    return error;
}

std::optional<std::int64_t> RoundedAngles::firstNotFinite(std::int64_t last) const
{
    std::vector<double> angles(m_pairs.size());
    const auto isFiniteAt = [&](std::int64_t position) {
        at(position, angles);
        return std::all_of(angles.begin(), angles.end(), [](double angle) { return std::isfinite(angle); });
    };
    if (last < 1 || isFiniteAt(last))
        return {};
    std::int64_t finite = 0; // what overflows once overflows at every later position
    std::int64_t notFinite = last;
    while (notFinite - finite > 1) {
        const std::int64_t middle = finite + (notFinite - finite) / 2;
        (isFiniteAt(middle) ? finite : notFinite) = middle;
    }
    return notFinite;
}

std::optional<std::int64_t> RoundedAngles::firstPast(double limit, std::int64_t last,
                                                     const std::stop_token& stop) const
{
    assert(limit > 0.0);
    const std::optional<std::int64_t> notFinite = firstNotFinite(last);
    if (notFinite)
        last = *notFinite - 1;
    std::vector<double> angles(m_pairs.size());
    std::vector<std::size_t> able; // pairs whose error can reach the limit within the block
    std::int64_t sinceStop = 0;
    for (std::int64_t from = 1, to = 0; from <= last; from = to + 1) {
        to = std::min(last, 2 * from - 1);
        able.clear();
        std::int64_t start = to + 1;
        for (std::size_t k = 0; k < m_pairs.size(); ++k) {
            const double least = (limit - m_absoluteBound) / (m_theta[k] * m_relativeBound[k]);
            if (least > static_cast<double>(to))
                continue;
            able.push_back(k);
            start = std::min(start, std::max(from, static_cast<std::int64_t>(least)));
        }
        if (able.empty())
            continue;
        const std::span<double> needed(angles.data(), able.back() + 1);
        for (std::int64_t position = start; position <= to; ++position) {
            if (++sinceStop % 4096 == 0 && stop.stop_requested())
                return {};
            at(position, needed);
            for (const std::size_t k : able)
                // Neither cos nor sin is farther off than the angle.
                if (std::fabs(angles[k] - static_cast<double>(position) * m_theta[k]) > limit * 0.999 &&
                    turnError(angles[k], exactTurn(position, m_theta[k])) > limit)
                    return position;
        }
    }
    return notFinite;
}

} // namespace ropewalk
