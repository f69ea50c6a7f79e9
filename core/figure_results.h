// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "channel_map.h"
#include "content.h"
#include "encoding_tensors.h"
#include "engine.h"
#include "figure_settings.h"
#include "figure_spec.h"
#include "frequency_rules.h"
#include "head_tensors.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace ropewalk {

/// What the figures show beyond the configurations: the one selection that links them, and the ranges.
struct FigureOptions
{
    int pair = 12;                     ///< picked pair, 0 = fastest
    std::int64_t m = 40, n = 25;       ///< query and key position, tokens, ≥ 0
    std::int64_t maxDistance = 131072; ///< right end of the decay curves, tokens, ≥ 1
    double rho = 1.0;                  ///< correlation of the similar key, -1..1
    Content content = Content::Ones;   ///< of q and k; correlation takes `rho`
    std::uint64_t seed = 1;            ///< of random contents
    TensorChoice tensorChoice;         ///< what the content `file` is read from; read by the app
    std::shared_ptr<const HeadTensors>
        tensors;             ///< of the content `file`; the same pointer is the same content
    FigureSettings settings; ///< of single figures
    std::shared_ptr<const EncodingTensors>
        encodingTensors;               ///< what the settings of `encodings` name; the same pointer, the same
    bool showBound = false;            ///< draw RoFormer's bound factor
    bool isDistanceLogarithmic = true; ///< decay's x axis
    std::string focus; ///< letter of the configuration that captions, bars and bands are of; empty: the first
    bool showsSelection = true; ///< mark the picked pair and distance; off for a figure that nobody picked in

    bool operator==(const FigureOptions&) const = default;
};

inline constexpr std::int64_t kLongestDistance = 10'000'000; ///< tokens; limit of maxDistance
inline constexpr std::int64_t kLargestSeed = std::int64_t{1}
                                             << 53;           ///< beyond it JSON cannot tell seeds apart
inline constexpr std::int64_t kLargestPosition = 100'000'000; ///< tokens; limit of m and n

/// q and k of every pair at one (m, n), and the score that they make.
struct PairScores
{
    std::int64_t m = 0, n = 0;
    std::vector<double> query, key;               ///< before rotation, [head_dim]
    std::vector<double> rotatedQuery, rotatedKey; ///< A·R(m)q and A·R(n)k on turning pairs, [head_dim]
    std::vector<double> contribution;             ///< one a pair of the head, by pair index; raw, not divided
    double score = 0.0;                           ///< Σ contribution
};

/// Decay curves in C units (score/head_dim), see maths in figures/decay.cpp. Vectors of the same length.
struct DecayCurves
{
    Values distances; ///< tokens; every integer 0..maxDistance, or a chosen few when coarse
    Values similarMean, similarSd, cosineSum, boundFactor; ///< boundFactor is null when not asked for
    Values independentSd; ///< √(2ΣA⁴)/d_h; the same at every distance, but for xPos
    /// First distance at which the similar key's mean is no farther from zero, on rho's side, than
    /// independentSd, and first below zero.
    std::optional<std::int64_t> entersNoise, firstNegative;
    std::int64_t maxDistance = 0; ///< tokens, as asked for
    double rho = 1.0;             ///< as asked for
    bool isCoarse = false;
};

/// What one figure computes beyond what all share. A figure that needs more derives its own, in its file.
struct FigureData
{
    virtual ~FigureData() = default;
    bool isCoarse = false; ///< a preview
};

/// What was computed for one configuration.
struct ConfigurationResult
{
    FigureConfiguration shown;
    std::vector<Issue> issues; ///< of validate(); with an error in it nothing below is filled
    ChannelMap channels;
    FrequencyTable table;
    std::shared_ptr<const PairScores> scores;
    std::shared_ptr<const DecayCurves> decay;
};

/// How much of each layer was computed for some results; what was taken over from earlier ones does not
/// count.
struct ComputedLayers
{
    std::int64_t contentRows = 0; ///< rows of queries and keys made for maps
    int distanceTables = 0;       ///< of maps with one query and one key
    int maps = 0;                 ///< score maps, previews included
    int decays = 0;               ///< sets of decay curves

    bool operator==(const ComputedLayers&) const = default;
};

/// Everything that the figures are built from.
struct FigureResults
{
    FigureOptions options;
    std::vector<ConfigurationResult> configurations;
    /// Of the figures that compute something of their own, by id.
    std::map<std::string, std::shared_ptr<const FigureData>, std::less<>> data;
    /// Why a figure's own computation was impossible, by id; the other figures are not concerned.
    std::map<std::string, Message, std::less<>> failures;
    Provenance provenance;   ///< of the slowest operation
    ComputedLayers computed; ///< for these results
    bool hasBound = false;
    bool isCoarse = false;
};

/// What to compute. Coarse: about a thousand distances instead of all, for a preview while a slider is
/// dragged.
struct ComputeRequest
{
    std::vector<FigureConfiguration> configurations;
    FigureOptions options;
    std::vector<std::string> figures; ///< ids whose own computation is wanted
    bool wantsDecay = true;
    bool wantsBound = false;
    bool isCoarse = false;
};

/// What the computation of one figure is given.
struct FigureJob
{
    Engine& engine;
    const ComputeRequest& request;
    /// Channels, frequencies and the scores at the picked positions; `scores` is null where it is impossible.
    const std::vector<ConfigurationResult>& configurations;
    ComputedLayers& computed;                   ///< to be added to
    Provenance& provenance;                     ///< see addRun
    std::stop_token stop;                       ///< polled between pieces of a few milliseconds
    std::function<void(double share)> progress; ///< 0..1; may be empty; called on the computing thread
    /// The figure's last data, whatever it was computed for, maybe a preview: parts that are whole and still
    /// right may be taken over. Null: none.
    const FigureData* previous = nullptr;
};

/// Adds what one run on the engine took to the provenance of the whole.
void addRun(Provenance& whole, const Provenance& part);

/// The pair that is shown where nobody picked one: `wanted` where it turns in the first configuration, else
/// one as far from the fastest among those that turn.
int firstPair(const std::vector<FigureConfiguration>& configurations, int wanted = FigureOptions().pair);

/// What is impossible about the options for these configurations: a pair that none of them has, a position or
/// a distance out of range. Empty when nothing is.
std::vector<Issue> validateOptions(const FigureOptions& options,
                                   const std::vector<FigureConfiguration>& configurations);

/// Computes on `engine`. What `previous` holds and the request leaves unchanged is taken over, not computed
/// again. Errors: Cancelled, or the engine's.
Result<FigureResults> computeFigureResults(Engine& engine, const ComputeRequest& request,
                                           const FigureResults* previous = nullptr, std::stop_token stop = {},
                                           const std::function<void(double)>& progress = {});

} // namespace ropewalk
