// SPDX-License-Identifier: GPL-3.0-or-later
#include "figures.h"

#include "../precision.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ropewalk {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Positions of a curve; its errors are as good as random from one position to the next, and no reduction of
/// all of them is wanted for a look.
constexpr int kSamples = 384;
constexpr int kCoarseSamples = 48;
/// Positions of the staircase that its plot shows; its data has all of them.
constexpr std::int64_t kStairs = 64;

struct PrecisionData : FigureData
{
    struct Mode
    {
        Values maxTurn, meanTurn, maxAngle, meanAngle;
        Values score; ///< |error| over head_dim, at the picked distance; NaN where the key would lie before 0
        std::optional<std::int64_t> firstPast, firstNotFinite;
    };
    struct Curves
    {
        Values positions; ///< whole, ascending
        std::vector<Mode> modes;
    };
    std::vector<Curves> configurations; ///< without modes where nothing turns or nothing can be drawn
};

/// About `count` whole positions 1..last, even on a logarithmic axis.
std::vector<double> positionsTo(std::int64_t last, int count)
{
    std::vector<double> positions;
    for (int step = 0; step < count; ++step) {
        const double at = std::round(std::pow(static_cast<double>(last), step / (count - 1.0)));
        if (positions.empty() || at > positions.back())
            positions.push_back(at);
    }
    return positions;
}

/// What one turning pair adds to the score over head_dim, but for the turn: A²·damping·q·conj(k)/d_h.
std::vector<std::complex<double>> weightsOf(const ConfigurationResult& result, const std::vector<int>& pairs,
                                            std::int64_t distance)
{
    const PairScores& scores = *result.scores;
    const std::vector<double> rates = dampingRates(result.shown.config, result.table);
    std::vector<std::complex<double>> weights;
    for (const int pair : pairs) {
        const auto [a, b] = result.channels.pair(pair);
        const auto arrow = [&](const std::vector<double>& row) {
            return std::complex<double>(row[static_cast<std::size_t>(a)], row[static_cast<std::size_t>(b)]);
        };
        double factor =
            result.table.attentionFactor * result.table.attentionFactor / result.shown.config.headDim;
        if (!rates.empty())
            factor *= std::exp(rates[static_cast<std::size_t>(pair)] * static_cast<double>(distance));
        weights.push_back(factor * arrow(scores.query) * std::conj(arrow(scores.key)));
    }
    return weights;
}

double scoreError(const std::vector<std::complex<double>>& weights, const std::vector<double>& query,
                  const std::vector<double>& key, const std::vector<ExactTurn>& exact)
{
    double error = 0.0;
    for (std::size_t k = 0; k < weights.size(); ++k) {
        const double turn = query[k] - key[k];
        error += weights[k].real() * (std::cos(turn) - exact[k].cosine);
        if (weights[k].imag() != 0.0)
            error -= weights[k].imag() * (std::sin(turn) - exact[k].sine);
    }
    return std::fabs(error); // NaN where an angle is not finite
}

Result<PrecisionData::Curves> curvesOf(const ConfigurationResult& result, const FigureJob& job)
{
    const FigureOptions& options = job.request.options;
    const std::int64_t last = options.settings.whole("precision_positions");
    const std::int64_t distance = options.m - options.n;
    PrecisionData::Curves curves;
    std::vector<RoundedAngles> modes;
    for (const PrecisionModeInfo& mode : precisionModes())
        modes.emplace_back(mode.mode, result.table.plain, result.table.scaled);
    const std::vector<double> positions = positionsTo(last, job.request.isCoarse ? kCoarseSamples : kSamples);
    const std::size_t pairs = modes.front().pairs().size();
    const std::vector<double>& thetas = modes.front().thetas();
    const auto weights = weightsOf(result, modes.front().pairs(), distance);
    std::vector<ExactTurn> exact(pairs), exactDistance(pairs);
    for (std::size_t k = 0; k < pairs; ++k) {
        exactDistance[k] = exactTurn(std::llabs(distance), thetas[k]);
        if (distance < 0)
            exactDistance[k].sine = -exactDistance[k].sine;
    }
    std::vector<double> query(pairs), key(pairs);
    std::vector<std::array<std::vector<double>, 5>> values(modes.size());
    for (const double at : positions) {
        if (job.stop.stop_requested())
            return Error{ErrorCode::Cancelled, "stopped", {}};
        const auto position = static_cast<std::int64_t>(at);
        for (std::size_t k = 0; k < pairs; ++k)
            exact[k] = exactTurn(position, thetas[k]);
        for (std::size_t i = 0; i < modes.size(); ++i) {
            const PrecisionError error = modes[i].errorAt(position, exact);
            values[i][0].push_back(error.maxTurn);
            values[i][1].push_back(error.meanTurn);
            values[i][2].push_back(error.maxAngle);
            values[i][3].push_back(error.meanAngle);
            double score = kNone;
            if (position >= distance) {
                modes[i].at(position, query);
                modes[i].at(position - distance, key);
                score = scoreError(weights, query, key, exactDistance);
            }
            values[i][4].push_back(score);
        }
    }
    curves.positions = makeValues(positions);
    const double limit = options.settings.number("precision_limit");
    for (std::size_t i = 0; i < modes.size(); ++i) {
        PrecisionData::Mode mode;
        mode.maxTurn = makeValues(std::move(values[i][0]));
        mode.meanTurn = makeValues(std::move(values[i][1]));
        mode.maxAngle = makeValues(std::move(values[i][2]));
        mode.meanAngle = makeValues(std::move(values[i][3]));
        mode.score = makeValues(std::move(values[i][4]));
        if (!job.request.isCoarse) {
            mode.firstPast = modes[i].firstPast(limit, last, job.stop);
            mode.firstNotFinite = modes[i].firstNotFinite(last);
            if (job.stop.stop_requested())
                return Error{ErrorCode::Cancelled, "stopped", {}};
        }
        curves.modes.push_back(std::move(mode));
    }
    return curves;
}

const Values& chosen(const PrecisionData::Mode& mode, std::string_view quantity, bool isMean)
{
    if (quantity == "angle")
        return isMean ? mode.meanAngle : mode.maxAngle;
    if (quantity == "score")
        return mode.score;
    return isMean ? mode.meanTurn : mode.maxTurn;
}

/// Zero has no place on a logarithmic axis: a gap there.
Values withoutZeros(const Values& values, std::int64_t& zeros)
{
    if (std::none_of(values->begin(), values->end(), [](double value) { return value == 0.0; }))
        return values;
    std::vector<double> drawn = *values;
    for (double& value : drawn)
        if (value == 0.0) {
            value = kNone;
            ++zeros;
        }
    return makeValues(std::move(drawn));
}

/// The curves of one quantity, drawn; all modes in the colours and patterns of the table of modes.
void addCurves(PlotSpec& plot, int index, const PrecisionData::Curves& curves, std::string_view quantity,
               bool isMean, std::int64_t& zeros)
{
    double least = 1.0;
    double greatest = 0.0;
    for (std::size_t i = 0; i < curves.modes.size(); ++i) {
        Series series;
        series.configuration = index;
        series.name = "drawn";
        series.unit = quantity == "angle" ? "rad" : quantity == "score" ? "score/head_dim" : "1";
        series.xUnit = "token";
        series.x = curves.positions;
        series.y = withoutZeros(chosen(curves.modes[i], quantity, isMean), zeros);
        series.style = SeriesStyle::Line;
        series.isExported = false; // under its own name in the data
        series.label = std::string(precisionModes()[i].shortTitle);
        series.quantity = std::string(precisionModes()[i].title);
        series.colour = static_cast<int>(i);
        series.pattern = static_cast<LinePattern>(i % 4);
        for (const double value : *series.y)
            if (std::isfinite(value)) {
                least = std::min(least, value);
                greatest = std::max(greatest, value);
            }
        plot.series.push_back(std::move(series));
    }
    plot.xAxis = {"position (tokens)", AxisKind::Tokens, true, 1.0, std::max(2.0, curves.positions->back())};
    plot.xAxis.meaning = AxisMeaning::QueryPosition;
    plot.yAxis = {quantity == "angle"   ? Message("error of the angle (rad)")
                  : quantity == "score" ? Message("error of score / head_dim")
                                        : Message("error of cos or sin"),
                  AxisKind::Plain, true, std::pow(10.0, std::floor(std::log10(least))),
                  std::pow(10.0, std::ceil(std::log10(std::max(greatest, least * 1.001))))};
    if (!(plot.yAxis.lower < plot.yAxis.upper))
        plot.yAxis.lower = plot.yAxis.upper / 10.0;
    const Message whole = quantity == "angle"   ? "Error of the angle"
                          : quantity == "score" ? "Error of the score"
                                                : "Error of cos and sin";
    plot.plotTitle = whole;
    if (quantity != "score")
        plot.plotTitle.text += isMean ? ", mean of the pairs" : ", largest of the pairs";
}

void addData(PlotSpec& plot, int index, const PrecisionData::Curves& curves)
{
    const auto add = [&](const std::string& name, const char* unit, const Values& values) {
        Series series;
        series.configuration = index;
        series.name = name;
        series.unit = unit;
        series.xUnit = "token";
        series.x = curves.positions;
        series.y = values;
        plot.series.push_back(std::move(series));
    };
    for (std::size_t i = 0; i < curves.modes.size(); ++i) {
        const std::string word(precisionModes()[i].word);
        add("turn_error_max_" + word, "1", curves.modes[i].maxTurn);
        add("turn_error_mean_" + word, "1", curves.modes[i].meanTurn);
        add("angle_error_max_" + word, "rad", curves.modes[i].maxAngle);
        add("angle_error_mean_" + word, "rad", curves.modes[i].meanAngle);
        add("score_error_" + word, "score/head_dim", curves.modes[i].score);
    }
}

/// bf16 and fp16 positions against the exact ones.
PlotSpec staircase(int index, std::int64_t length)
{
    PlotSpec plot;
    std::vector<double> exact, bfloat, half;
    for (std::int64_t position = 0; position < length; ++position) {
        exact.push_back(static_cast<double>(position));
        bfloat.push_back(roundTo(FloatFormat::Bfloat16, exact.back()));
        const double rounded = roundTo(FloatFormat::Float16, exact.back());
        half.push_back(std::isfinite(rounded) ? rounded : kNone);
    }
    const Values x = makeValues(std::move(exact));
    const auto add = [&](const char* name, const char* label, Values y, int colour, LinePattern pattern) {
        Series series;
        series.configuration = index;
        series.name = name;
        series.unit = "token";
        series.xUnit = "token";
        series.x = x;
        series.y = std::move(y);
        series.style = SeriesStyle::Steps;
        series.label = label;
        series.colour = colour;
        series.pattern = pattern;
        plot.series.push_back(std::move(series));
    };
    // In the colours of the modes that round positions so.
    add("rounded_position_bf16", "bf16", makeValues(std::move(bfloat)), 3, LinePattern::Solid);
    add("rounded_position_fp16", "float16", makeValues(std::move(half)), 6, LinePattern::Dashed);
    const auto upper = static_cast<double>(length - 1);
    const double lower = static_cast<double>(std::max<std::int64_t>(0, length - kStairs));
    plot.xAxis = {"position (tokens)", AxisKind::Plain, false, lower, upper};
    plot.xAxis.meaning = AxisMeaning::QueryPosition;
    const double margin = 0.1 * (upper - lower);
    plot.yAxis = {"kept as", AxisKind::Plain, false, lower - margin, upper + margin};
    plot.plotTitle = {"Distinct of {length} positions: bf16 {bf16}, float16 {fp16}",
                      {{"length", groupedDigits(length)},
                       {"bf16", groupedDigits(distinctPositions(FloatFormat::Bfloat16, length))},
                       {"fp16", groupedDigits(distinctPositions(FloatFormat::Float16, length))}}};
    return plot;
}

std::string orNever(const std::optional<std::int64_t>& position)
{
    return position ? groupedDigits(*position) : std::string("–");
}

PlotSpec modeTable(const PrecisionData::Curves& curves, double limit)
{
    PlotSpec plot;
    plot.plotTitle = {"The angle, and where cos or sin is first off by {limit}",
                      {{"limit", shortNumber(limit)}}};
    TableSpec table;
    table.columnHeads = {
        "angle a at position p", {"past {limit} from", {{"limit", shortNumber(limit)}}}, "not finite from"};
    table.columns = 3;
    table.spareColumn = 0; // the modes have names; their steps are said where there is room
    table.rows = static_cast<int>(curves.modes.size());
    for (std::size_t i = 0; i < curves.modes.size(); ++i) {
        const PrecisionModeInfo& mode = precisionModes()[i];
        table.rowHeads.push_back(std::string(mode.title));
        TableCell steps, past, infinite;
        steps.text = std::string(mode.steps);
        past.text = {"{position}", {{"position", orNever(curves.modes[i].firstPast)}}};
        past.isStrong = true;
        infinite.text = {"{position}", {{"position", orNever(curves.modes[i].firstNotFinite)}}};
        table.cells.insert(table.cells.end(), {steps, past, infinite});
    }
    plot.table = std::move(table);
    return plot;
}

void addMarkers(FigureSpec& figure, int index, const PrecisionData::Curves& curves, double limit,
                bool isDrawn)
{
    for (std::size_t i = 0; i < curves.modes.size(); ++i) {
        const PrecisionData::Mode& mode = curves.modes[i];
        const std::string word(precisionModes()[i].word);
        Marker past;
        past.configuration = index;
        past.name = "first_past_limit_" + word;
        if (mode.firstPast) {
            past.x = static_cast<double>(*mode.firstPast);
            past.value = limit;
            past.isDrawn = isDrawn;
            past.drawnAt = limit;
        }
        figure.markers.push_back(std::move(past));
        Marker infinite;
        infinite.configuration = index;
        infinite.name = "first_not_finite_" + word;
        if (mode.firstNotFinite)
            infinite.x = static_cast<double>(*mode.firstNotFinite);
        figure.markers.push_back(std::move(infinite));
    }
}

} // namespace

/// Curves over sampled positions; the first positions past the limit, over all positions. Errors: Cancelled.
Result<std::shared_ptr<const FigureData>> computePrecision(FigureJob& job)
{
    auto data = std::make_shared<PrecisionData>();
    data->isCoarse = job.request.isCoarse;
    for (const ConfigurationResult& result : job.configurations) {
        PrecisionData::Curves curves;
        if (result.scores && result.table.turningPairs() > 0) {
            auto computed = curvesOf(result, job);
            if (!computed)
                return computed.error();
            curves = std::move(*computed);
        }
        data->configurations.push_back(std::move(curves));
        if (job.progress)
            job.progress(static_cast<double>(data->configurations.size()) /
                         static_cast<double>(job.configurations.size()));
    }
    return std::shared_ptr<const FigureData>(std::move(data));
}

/// How far an angle pθ' is off as engines round it: ggml, ops.cpp and ggml-cuda/rope.cu;
/// huggingface/transformers PR 29285; EleutherAI/gpt-neox PR 1016.
FigureSpec buildPrecision(const FigureResults& results)
{
    FigureSpec figure;
    figure.title = "What rounding does to the angle";
    figure.formula = "max over pairs of |cos a − cos pθ′|, |sin a − sin pθ′|";
    figure.source =
        "ggml, ops.cpp and ggml-cuda/rope.cu; huggingface/transformers PR 29285; EleutherAI/gpt-neox PR "
        "1016 and issue 1003";
    const auto* data = dataOf<PrecisionData>(results, "precision");
    const int focus = focusIndex(results);
    const auto& drawn = results.configurations[static_cast<std::size_t>(focus)];
    if (!data) {
        figure.failure = "the rounded angles were not computed";
        return figure;
    }
    const PrecisionData::Curves& curves = data->configurations[static_cast<std::size_t>(focus)];
    if (curves.modes.empty()) {
        figure.failure = {"No pair of {name} turns: there is no angle that rounding could change",
                          {{"name", drawn.shown.config.name}}};
        return figure;
    }
    const FigureOptions& options = results.options;
    const FigureSettings& settings = options.settings;
    const double limit = settings.number("precision_limit");
    const std::int64_t last = settings.whole("precision_positions");
    const std::string quantity(settings.text("precision_quantity"));
    const bool isMean = settings.is("precision_statistic", "mean");
    const bool showsLimit = quantity == "cos_sin" && !isMean;
    std::int64_t zeros = 0;
    addCurves(figure, focus, curves, quantity, isMean, zeros);
    if (quantity == "angle")
        figure.formula = isMean ? "mean over pairs of |a − pθ′|" : "max over pairs of |a − pθ′|";
    else if (quantity == "score")
        figure.formula = "|Σ A² Re qᵢk̄ᵢ(exp j(aᵢ(p) − aᵢ(p−r)) − exp jrθ′ᵢ)| / dₕ";
    else if (isMean)
        figure.formula = "mean over pairs of max(|cos a − cos pθ′|, |sin a − sin pθ′|)";
    for (std::size_t index = 0; index < data->configurations.size(); ++index)
        if (!data->configurations[index].modes.empty()) {
            addData(figure, static_cast<int>(index), data->configurations[index]);
            addMarkers(figure, static_cast<int>(index), data->configurations[index], limit,
                       showsLimit && static_cast<int>(index) == focus);
        }
    if (showsLimit)
        figure.guides.push_back(
            {false, limit, GuideRole::Threshold, -1, {"limit {limit}", {{"limit", shortNumber(limit)}}}});
    addTrainingGuides(figure, results, true);
    std::erase_if(figure.guides, [&](const GuideLine& guide) {
        const AxisSpec& axis = guide.isVertical ? figure.xAxis : figure.yAxis;
        return guide.at < axis.lower || guide.at > axis.upper;
    });
    if (options.showsSelection && options.m >= 1 && options.m <= last)
        figure.guides.push_back({true,
                                 static_cast<double>(options.m),
                                 GuideRole::Selection,
                                 -1,
                                 {"m = {m}", {{"m", groupedDigits(options.m)}}}});

    std::int64_t zerosBeside = 0;
    PlotSpec score;
    addCurves(score, focus, curves, quantity == "score" ? "cos_sin" : "score", isMean, zerosBeside);
    const std::string distance = groupedDigits(options.m - options.n);
    if (quantity != "score")
        score.plotTitle = {"Error of the score at r = {distance}", {{"distance", distance}}};
    else
        figure.plotTitle = {"Error of the score at r = {distance}", {{"distance", distance}}};
    score.column = 1;
    PlotSpec stairs = staircase(focus, settings.whole("staircase_length"));
    stairs.row = 1;
    PlotSpec table = modeTable(curves, limit);
    table.row = table.column = 1;
    for (PlotSpec* plot : {&score, &stairs, &table})
        figure.more.push_back(std::move(*plot));
    figure.rowShares = {1.25, 1.0};
    figure.columnShares = {1.1, 1.0};

    if (zeros > 0)
        figure.notes.push_back(
            {Severity::Read,
             {},
             {"The error is exactly zero at {count} of the points drawn; a logarithmic axis has no "
              "place for them",
              {{"count", groupedDigits(zeros)}}}});
    for (std::size_t i = 0; i < curves.modes.size(); ++i) {
        const std::vector<double>& values = *curves.modes[i].maxTurn;
        const auto gaps =
            std::count_if(values.begin(), values.end(), [](double value) { return std::isnan(value); });
        if (gaps > 0)
            figure.notes.push_back({Severity::Warning,
                                    {},
                                    {"{mode}: {count} of {all} positions shown are not finite, from {first} "
                                     "on; they are left out",
                                     {{"mode", std::string(precisionModes()[i].title)},
                                      {"count", groupedDigits(gaps)},
                                      {"all", groupedDigits(static_cast<long long>(values.size()))},
                                      {"first", orNever(curves.modes[i].firstNotFinite)}}}});
    }
    const auto firstOf = [&](PrecisionMode mode) {
        return orNever(curves.modes[static_cast<std::size_t>(mode)].firstPast);
    };
    const std::string letter = letterIfSeveral(results, focus);
    figure.caption = {
        data->isCoarse
            ? "preview: {count} positions to {last}"
            : "{whose}{pairs} turning pairs · {count} whole positions to {last}, even on the axis · past "
              "{limit} first, over all positions: float32 {float32}, running product {running}, bf16 "
              "positions {bf16} · score: q and k of the picked positions, r = {distance}",
        {{"whose", letter.empty() ? std::string() : letter + ": "},
         {"pairs", std::to_string(drawn.table.turningPairs())},
         {"count", groupedDigits(static_cast<long long>(curves.positions->size()))},
         {"last", groupedDigits(last)},
         {"limit", shortNumber(limit)},
         {"float32", firstOf(PrecisionMode::Float32)},
         {"running", firstOf(PrecisionMode::RunningProduct)},
         {"bf16", firstOf(PrecisionMode::Bf16Positions)},
         {"distance", distance}}};
    const std::vector<double>& scaled = drawn.table.scaled;
    bool isSeries = true; // of a constant ratio
    for (std::size_t i = 2; i < scaled.size(); ++i)
        if (scaled[i] != 0.0 && std::fabs(scaled[i] * scaled[0] / (scaled[i - 1] * scaled[1]) - 1.0) > 1e-9)
            isSeries = false;
    if (!isSeries && !data->isCoarse)
        figure.caption.text += " · ggml: the plain series, each angle divided by θ/θ′ as its files carry it";
    figure.summary = {
        "Error of the rotation of {name} as engines round it, against position, to {last} tokens. cos or "
        "sin is first off by {limit} at position {float32} in float32, {running} with a running product, "
        "{bf16} with bf16 positions, {half} in float16 throughout.",
        {{"name", drawn.shown.config.name},
         {"last", groupedDigits(last)},
         {"limit", shortNumber(limit)},
         {"float32", firstOf(PrecisionMode::Float32)},
         {"running", firstOf(PrecisionMode::RunningProduct)},
         {"bf16", firstOf(PrecisionMode::Bf16Positions)},
         {"half", firstOf(PrecisionMode::Fp16All)}}};
    return figure;
}

} // namespace ropewalk
