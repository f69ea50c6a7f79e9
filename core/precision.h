// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

namespace ropewalk {

/// Formats that positions, frequencies and angles are kept in: 24, 8 and 11 significand bits.
enum class FloatFormat { Float32, Bfloat16, Float16 };

/// `value` in the format, to nearest even, subnormal numbers and overflow to infinity as in IEEE 754. From
/// 65520 on float16 is infinite.
double roundTo(FloatFormat format, double value);

/// How many of the positions 0..length-1 stay apart in the format.
std::int64_t distinctPositions(FloatFormat format, std::int64_t length);
/// The first position that falls onto the one before it: 257 in bfloat16, 2049 in float16, 16777217 in
/// float32.
std::int64_t firstClash(FloatFormat format);

/// How an engine forms the angle of a pair at a position; see PrecisionModeInfo::steps.
enum class PrecisionMode {
    Float32,        ///< θ rounded once, one product
    RunningProduct, ///< ggml's processor code: the angle is multiplied down from pair to pair
    GgmlCuda,       ///< ggml's CUDA code: a power for each pair
    Bf16Positions,
    Bf16Theta,
    Bf16All,
    Fp16All
};

struct PrecisionModeInfo
{
    PrecisionMode mode;
    std::string_view word;               ///< in the names of series, e.g. "bf16_positions"
    std::string_view title;              ///< for people
    std::string_view steps;              ///< the angle, with fl32, bf16 and fp16 for rounding to nearest even
    std::string_view shortTitle = title; ///< beside its curve
};

std::span<const PrecisionModeInfo> precisionModes(); ///< in the order of the enumeration

/// Errors of a mode at one position, over the turning pairs. NaN where an angle is not finite.
struct PrecisionError
{
    double maxAngle = 0.0;  ///< |a - pθ'|, rad
    double meanAngle = 0.0; ///< rad
    double maxTurn = 0.0;   ///< of max(|Δcos|, |Δsin|)
    double meanTurn = 0.0;
    bool isFinite = true;
};

/// cos and sin of the exact angle.
struct ExactTurn
{
    double cosine = 1.0, sine = 0.0;
};
/// Of pθ', formed in double, in long double beyond p = 10⁶.
ExactTurn exactTurn(std::int64_t position, double theta);

/// The angles that one mode makes of one frequency table. The running product and the powers of ggml take the
/// frequencies as a geometric series where they are one, else as the series of the first two plain ones with
/// a divisor a pair, as files in its format carry them (rope_freqs, rope_factors_long).
class RoundedAngles
{
public:
    /// `plain` and `scaled`: θ and θ' of FrequencyTable, rad/token. Still pairs (θ' = 0) have no angle.
    RoundedAngles(PrecisionMode mode, std::span<const double> plain, std::span<const double> scaled);

    const std::vector<int>& pairs() const { return m_pairs; }     ///< the pairs that turn, ascending
    const std::vector<double>& thetas() const { return m_theta; } ///< their θ', unrounded, rad/token

    /// One angle for each of pairs(), rad, not reduced; not finite where the format cannot hold it.
    void at(std::int64_t position, std::span<double> angles) const;

    /// `exact`: of each of pairs(), at the same position.
    PrecisionError errorAt(std::int64_t position, std::span<const ExactTurn> exact) const;
    PrecisionError errorAt(std::int64_t position) const;

    /// The first position in 1..last at which an angle is not finite.
    std::optional<std::int64_t> firstNotFinite(std::int64_t last) const;

    /// The first whole position in 1..last at which the error of cos or sin of any pair is above `limit` (>
    /// 0), or not finite. Exact: positions are left out only where a bound on the roundings rules them out.
    /// Empty where there is none, or after a stop.
    std::optional<std::int64_t> firstPast(double limit, std::int64_t last,
                                          const std::stop_token& stop = {}) const;

private:
    PrecisionMode m_mode;
    std::vector<int> m_pairs;
    std::vector<double> m_theta;
    std::vector<float> m_factor;         ///< what the position is multiplied with, rounded as the mode says
    std::vector<float> m_divisor;        ///< 1 where there is none
    std::vector<double> m_relativeBound; ///< |a - pθ'| ≤ pθ'·bound + m_absoluteBound
    double m_absoluteBound = 0.0;
    float m_start = 1.0F; ///< the frequency of pair 0 of the series
    float m_ratio = 1.0F; ///< from one pair to the next

    float roundedPosition(std::int64_t position) const;
};

} // namespace ropewalk
