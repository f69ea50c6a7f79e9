// SPDX-License-Identifier: GPL-3.0-or-later
#include "figure_results.h"

#include "figure_catalog.h"
#include "validate.h"

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

/// Distances of a preview; enough for a smooth curve in a window, few enough for a millisecond.
constexpr int kCoarseDistances = 1024;

/// Whole distances 0..last: all of them, or about kCoarseDistances spread as the axis spreads them.
std::vector<double> distancesTo(std::int64_t last, bool isCoarse, bool isLogarithmic)
{
    std::vector<double> distances;
    if (!isCoarse || last < kCoarseDistances) {
        distances.resize(static_cast<std::size_t>(last) + 1);
        for (std::size_t r = 0; r < distances.size(); ++r)
            distances[r] = static_cast<double>(r);
        return distances;
    }
    distances.push_back(0.0);
    for (int step = 0; step <= kCoarseDistances; ++step) {
        const double share = static_cast<double>(step) / kCoarseDistances;
        const double end = static_cast<double>(last);
        const double r = std::round(isLogarithmic ? std::pow(end, share) : 1.0 + (end - 1.0) * share);
        if (r > distances.back())
            distances.push_back(r);
    }
    return distances;
}

Result<std::shared_ptr<const PairScores>> computeScores(Engine& engine, const ConfigurationResult& result,
                                                        const ContentSource& content,
                                                        const FigureOptions& options, Provenance& provenance,
                                                        const std::stop_token& stop)
{
    auto scores = std::make_shared<PairScores>();
    const RopeConfig& config = result.shown.config;
    scores->m = options.m;
    scores->n = options.n;
    ContentRows rows = makeContent(content, options.m, options.n);
    scores->query = std::move(rows.query);
    scores->key = std::move(rows.key);
    scores->rotatedQuery.resize(scores->query.size());
    scores->rotatedKey.resize(scores->key.size());
    std::vector<std::pair<int, int>> pairs = result.channels.formed;
    pairs.insert(pairs.end(), result.channels.outside.begin(), result.channels.outside.end());
    scores->contribution.resize(pairs.size());

    RotateOp rotate{result.channels.formed,         result.table.scaled, result.table.attentionFactor,
                    static_cast<double>(options.m), scores->query,       scores->rotatedQuery};
    for (int which = 0; which < 2; ++which) {
        const auto done = engine.run(rotate, stop);
        if (!done)
            return done.error();
        addRun(provenance, *done);
        rotate.position = static_cast<double>(options.n);
        rotate.input = scores->key;
        rotate.output = scores->rotatedKey;
    }
    const auto done = engine.run(
        PairContributionOp{pairs, scores->rotatedQuery, scores->rotatedKey, scores->contribution}, stop);
    if (!done)
        return done.error();
    addRun(provenance, *done);
    // In one power: ζ^(m/512) and ζ^(-n/512) apart would leave the range of a double.
    const std::vector<double> rates = dampingRates(config, result.table);
    for (std::size_t i = 0; i < rates.size(); ++i)
        scores->contribution[i] *= std::exp(rates[i] * static_cast<double>(options.m - options.n));
    for (const double part : scores->contribution)
        scores->score += part;
    return std::shared_ptr<const PairScores>(std::move(scores));
}

Result<std::shared_ptr<const DecayCurves>> computeDecay(Engine& engine, const ConfigurationResult& result,
                                                        const ComputeRequest& request,
                                                        const Values& distances, Provenance& provenance,
                                                        const std::stop_token& stop)
{
    const std::size_t count = distances->size();
    std::vector<double> mean(count), sd(count), independent(count), sum(count),
        bound(request.wantsBound ? count : 0);
    const bool isEvery = static_cast<std::int64_t>(count) == request.options.maxDistance + 1;
    DecayOp op;
    op.invFreq = result.table.scaled;
    op.pairCount = result.channels.pairCount();
    op.attentionFactor = result.table.attentionFactor;
    const std::vector<double> rates = dampingRates(result.shown.config, result.table);
    op.dampingRate = rates;
    op.rho = request.options.rho;
    if (!isEvery)
        op.distances = *distances;
    op.similarMean = mean;
    op.similarSd = sd;
    op.independentSd = independent;
    op.cosineSum = sum;
    op.boundFactor = bound;
    const auto done = engine.run(op, stop);
    if (!done)
        return done.error();
    addRun(provenance, *done);

    auto curves = std::make_shared<DecayCurves>();
    curves->distances = distances;
    curves->maxDistance = request.options.maxDistance;
    curves->rho = request.options.rho;
    curves->isCoarse = !isEvery;
    if (isEvery) { // only every integer distance can say which is the first
        for (std::size_t r = 0; r < count && !(curves->entersNoise && curves->firstNegative); ++r) {
            // A negative correlation tells the key by a negative score.
            if (!curves->entersNoise && (curves->rho < 0.0 ? -mean[r] : mean[r]) <= independent[r])
                curves->entersNoise = static_cast<std::int64_t>(r);
            if (!curves->firstNegative && mean[r] < 0.0)
                curves->firstNegative = static_cast<std::int64_t>(r);
        }
    }
    curves->similarMean = makeValues(std::move(mean));
    curves->similarSd = makeValues(std::move(sd));
    curves->independentSd = makeValues(std::move(independent));
    curves->cosineSum = makeValues(std::move(sum));
    if (request.wantsBound)
        curves->boundFactor = makeValues(std::move(bound));
    return std::shared_ptr<const DecayCurves>(std::move(curves));
}

/// The curves of `previous` that this request would compute again, or null.
std::shared_ptr<const DecayCurves> reusableDecay(const FigureResults* previous, const RopeConfig& config,
                                                 const ComputeRequest& request)
{
    if (!previous)
        return nullptr;
    for (const ConfigurationResult& before : previous->configurations) {
        const auto& decay = before.decay;
        if (decay && computesTheSame(before.shown.config, config) &&
            decay->maxDistance == request.options.maxDistance && decay->rho == request.options.rho &&
            !decay->isCoarse && (decay->boundFactor || !request.wantsBound))
            return decay;
    }
    return nullptr;
}

/// The part of the options that the data of `figure` depends on.
FigureOptions relevantOptions(FigureOptions options, const FigureInfo& figure)
{
    options.settings = options.settings.of(figure.id);
    options.focus.clear();
    options.showsSelection = true;
    options.showBound = false;
    options.isDistanceLogarithmic = true;
    if (!figure.followsSelection) {
        if (!figure.followsPair || !figure.followsPair(options))
            options.pair = 0;
        options.m = options.n = 0;
    }
    return options;
}

/// The data of `previous` that this request would compute again, or null.
std::shared_ptr<const FigureData> reusableData(const FigureResults* previous, const ComputeRequest& request,
                                               const FigureInfo& figure)
{
    if (!previous)
        return nullptr;
    const auto found = previous->data.find(figure.id);
    const bool isSame =
        found != previous->data.end() && found->second && !found->second->isCoarse &&
        relevantOptions(previous->options, figure) == relevantOptions(request.options, figure) &&
        std::equal(previous->configurations.begin(), previous->configurations.end(),
                   request.configurations.begin(), request.configurations.end(),
                   [](const ConfigurationResult& before, const FigureConfiguration& now) {
                       return computesTheSame(before.shown.config, now.config);
                   });
    return isSame ? found->second : nullptr;
}

} // namespace

void addRun(Provenance& whole, const Provenance& part)
{
    const double milliseconds = whole.milliseconds + part.milliseconds;
    whole = part;
    whole.milliseconds = milliseconds;
}

int firstPair(const std::vector<FigureConfiguration>& configurations, int wanted)
{
    int mostPairs = 1;
    for (const FigureConfiguration& shown : configurations)
        mostPairs = std::max(mostPairs, shown.config.headDim / 2);
    if (configurations.empty() || hasError(validate(configurations.front().config)))
        return std::min(wanted, mostPairs - 1);
    const FrequencyTable table = frequencyTable(configurations.front().config);
    constexpr int kUsualPairs = 64; // of a head of 128 channels
    return table.turns(wanted) ? wanted
                               : std::min(wanted * table.turningPairs() / kUsualPairs, mostPairs - 1);
}

std::vector<Issue> validateOptions(const FigureOptions& options,
                                   const std::vector<FigureConfiguration>& configurations)
{
    std::vector<Issue> issues;
    int mostPairs = 0;
    for (const FigureConfiguration& shown : configurations)
        mostPairs = std::max(mostPairs, shown.config.headDim / 2);
    const auto outOfRange = [&](const char* field, const std::string& value, const std::string& lowest,
                                const std::string& highest) {
        issues.push_back({Severity::Error,
                          field,
                          {"{field} is {value}; expected {lowest} to {highest}",
                           {{"field", field}, {"value", value}, {"lowest", lowest}, {"highest", highest}}}});
    };
    if (options.pair < 0 || options.pair >= mostPairs)
        outOfRange("pair", std::to_string(options.pair), "0", std::to_string(mostPairs - 1));
    // A file has rows for its tokens only.
    const std::int64_t lastPosition =
        options.content == Content::File && options.tensors
            ? std::min(kLargestPosition, std::max<std::int64_t>(1, options.tensors->tokens) - 1)
            : kLargestPosition;
    if (options.m < 0 || options.m > lastPosition)
        outOfRange("m", std::to_string(options.m), "0", std::to_string(lastPosition));
    if (options.n < 0 || options.n > lastPosition)
        outOfRange("n", std::to_string(options.n), "0", std::to_string(lastPosition));
    if (options.maxDistance < 1 || options.maxDistance > kLongestDistance)
        outOfRange("max_distance", std::to_string(options.maxDistance), "1",
                   std::to_string(kLongestDistance));
    if (!(options.rho >= -1.0 && options.rho <= 1.0))
        outOfRange("rho", shortNumber(options.rho), "−1", "1");
    return issues;
}

Result<FigureResults> computeFigureResults(Engine& engine, const ComputeRequest& request,
                                           const FigureResults* previous, std::stop_token stop,
                                           const std::function<void(double)>& progress)
{
    const std::vector<Issue> issues = validateOptions(request.options, request.configurations);
    if (const Issue* issue = firstError(issues); issue && !request.configurations.empty())
        return Error{ErrorCode::BadInput, issue->text, {}};
    FigureResults results;
    results.options = request.options;
    results.hasBound = request.wantsBound;
    Values distances; // one vector for all configurations
    for (const FigureConfiguration& shown : request.configurations) {
        ConfigurationResult result;
        result.shown = shown;
        result.issues = validate(shown.config);
        std::optional<ContentSource> content;
        if (!hasError(result.issues)) {
            auto made = ContentSource::make(request.options, shown.config);
            if (made)
                content = std::move(*made);
            else
                result.issues.push_back({Severity::Error, "content", made.error().message});
        }
        if (content) {
            result.issues.insert(result.issues.end(), content->notes().begin(), content->notes().end());
            result.channels = channelMap(shown.config);
            result.table = frequencyTable(shown.config);
            auto scores = computeScores(engine, result, *content, request.options, results.provenance, stop);
            if (!scores)
                return scores.error();
            result.scores = *scores;
            if (request.wantsDecay)
                result.decay = reusableDecay(previous, shown.config, request);
            if (request.wantsDecay && !result.decay) {
                if (!distances)
                    distances = makeValues(distancesTo(request.options.maxDistance, request.isCoarse,
                                                       request.options.isDistanceLogarithmic));
                auto decay = computeDecay(engine, result, request, distances, results.provenance, stop);
                if (!decay)
                    return decay.error();
                result.decay = *decay;
                ++results.computed.decays;
            }
            results.isCoarse = results.isCoarse || (result.decay && result.decay->isCoarse);
        }
        results.configurations.push_back(std::move(result));
    }
    const bool canCompute =
        std::any_of(results.configurations.begin(), results.configurations.end(),
                    [](const ConfigurationResult& result) { return result.scores != nullptr; });
    for (const std::string& id : request.figures) {
        const FigureInfo* figure = findFigure(id);
        if (!figure || !figure->compute || !canCompute)
            continue;
        std::shared_ptr<const FigureData> data = reusableData(previous, request, *figure);
        if (!data) {
            FigureJob job{
                engine,   request, results.configurations, results.computed, results.provenance, stop,
                progress, nullptr};
            if (previous) {
                const auto before = previous->data.find(figure->id);
                if (before != previous->data.end())
                    job.previous = before->second.get();
            }
            auto computed = figure->compute(job);
            if (!computed && computed.error().code == ErrorCode::BadInput) {
                results.failures.emplace(id, computed.error().message);
                continue;
            }
            if (!computed)
                return computed.error();
            data = *computed;
        }
        results.isCoarse = results.isCoarse || data->isCoarse;
        results.data.emplace(id, std::move(data));
    }
    return results;
}

} // namespace ropewalk
