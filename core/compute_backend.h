// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "message.h"
#include "result.h"
#include "score_map.h"

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>

namespace ropewalk {

/// Rotates a row of channels at one position: out = A·R(position·θ)·in on the rotated pairs, unchanged
/// elsewhere (RoFormer, arXiv:2104.09864, equation 34).
struct RotateOp
{
    std::span<const std::pair<int, int>> pairs; ///< channels of the formed pairs
    std::span<const double>
        invFreq; ///< θ', rad/token, one a pair; a pair with 0 is still: copied to the bit, without A
    double attentionFactor = 1.0;
    double position = 0.0;         ///< tokens
    std::span<const double> input; ///< [head_dim]
    std::span<double>
        output; ///< [head_dim]; not the memory of `input`: whoever falls back starts from it again
};

/// What each pair adds to the score of two rotated rows: q_a·k_a + q_b·k_b (that is Re(q·conj k)).
struct PairContributionOp
{
    std::span<const std::pair<int, int>> pairs; ///< formed pairs, then those outside
    std::span<const double> query;              ///< [head_dim], rotated at m
    std::span<const double> key;                ///< [head_dim], rotated at n
    std::span<double> contribution;             ///< one a pair; their sum is the score
};

/// The decay curves of one configuration over the distances `distances` (ascending, ≥ 0, tokens), in units of
/// head_dim ("C units"): the score divided by head_dim. Spans that are empty are not computed.
struct DecayOp
{
    std::span<const double> invFreq; ///< θ' of the formed pairs, rad/token; a pair with 0 is still
    int pairCount = 0;               ///< pairs of the head, turning and still
    double attentionFactor =
        1.0; ///< A; enters the score curves as A² on turning pairs, never cosineSum and bound
    /// ln ζ_i/scale_base of xPos, one for each of `invFreq`, per token; the score curves are damped by
    /// e^(r·rate) on turning pairs, cosineSum and bound are not. Empty: no damping.
    std::span<const double> dampingRate;
    double rho = 1.0;               ///< correlation of the similar key, -1..1
    std::int64_t firstDistance = 0; ///< distances are firstDistance, +1, +2, ... unless `distances` is given
    std::span<const double> distances; ///< explicit whole distances (coarse pass); empty for consecutive ones
    std::span<double> similarMean;     ///< 2ρΣA²cos(rθ)/d_h
    std::span<double> similarSd;       ///< √(4ρ²ΣA⁴cos²(rθ) + (1-ρ²)2ΣA⁴)/d_h
    std::span<double> independentSd;   ///< √(2ΣA⁴)/d_h; constant but for xPos
    std::span<double> cosineSum;       ///< C(r) = (2/d_h)Σcos(rθ), still pairs count 1
    std::span<double>
        boundFactor; ///< U(r)/U(0), RoFormer section 3.4.3; turning pairs by index, still ones last
};

using Operation = std::variant<RotateOp, PairContributionOp, DecayOp, DistanceTableOp, ScoreMapOp>;

/// A device that computes operations. Implementations are safe to call from any one thread at a time.
class ComputeBackend
{
public:
    struct Info
    {
        std::string name;      ///< "cpu", "cuda": the word of `--backend`
        std::string device;    ///< for people
        std::string precision; ///< "double": where the operation does not say otherwise
    };

    virtual ~ComputeBackend() = default;
    virtual Info info() const = 0;

    /// Success when the backend can work at all; else ErrorCode::NotBuilt or NotAvailable with the reason.
    virtual Result<void> status() const = 0;

    virtual bool supports(const Operation& operation) const = 0;

    /// Whether the backend is likely to be faster at `operation` than the ones after it, judged by its size
    /// and kind alone. The engine passes over one that is not, unless it was asked for by name.
    virtual bool isWorthwhile(const Operation&) const { return true; }

    /// What `operation` is computed in: "double", or a name of scorePrecisionName.
    virtual std::string precisionOf(const Operation&) const { return info().precision; }

    /// Computes `operation` into its output spans. Polls `stop` between tiles of a few milliseconds and then
    /// returns ErrorCode::Cancelled; outputs are then unspecified. ErrorCode::RunFailed when the device
    /// failed.
    virtual Result<void> run(const Operation& operation, std::stop_token stop) = 0;
};

} // namespace ropewalk
