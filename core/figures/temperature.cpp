// SPDX-License-Identifier: GPL-3.0-or-later
#include "../temperature.h"

#include "../gaussian_logits.h"
#include "../rope_math.h"
#include "figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ropewalk {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kShortest = 1024, kLongest = 1 << 20;
constexpr std::int64_t kLongestOfPreview = 1 << 14;

/// One rule on one configuration: what its queries' logits are multiplied by.
struct Curve
{
    int configuration = 0;
    TemperatureRule rule = TemperatureRule::None;
    bool isOwn = false; ///< the configuration's own rule
    RopeConfig config;  ///< with this rule
    double rotatedShare = 1.0;
    bool isOnRotatedOnly = false; ///< the rule's factor sits on the rotated channels alone

    double tau(double visible) const { return temperatureAt(config, visible).value_or(kNone); }
    double onNeedle(double visible) const
    {
        return isOnRotatedOnly ? factorOnEvenLogit(tau(visible), rotatedShare) : tau(visible);
    }
    double onSpread(double visible) const
    {
        return isOnRotatedOnly ? factorOnEvenSpread(tau(visible), rotatedShare) : tau(visible);
    }
    std::string name(const char* quantity) const
    {
        return std::string(quantity) + "_" + std::string(info(rule).word);
    }
};

/// YaRN and LongRoPE: a constant of the extension factor, on cos and sin.
bool isFactorOfRotation(TemperatureRule rule)
{
    return rule == TemperatureRule::Yarn || rule == TemperatureRule::LongRope;
}

Curve makeCurve(int index, const ConfigurationResult& result, TemperatureRule rule, bool isRotatedOnly)
{
    Curve curve;
    curve.configuration = index;
    curve.rule = rule;
    curve.config = result.shown.config;
    curve.isOwn = curve.config.temperature.rule == rule;
    if (!curve.isOwn) {
        curve.config.temperature.rule = rule;
        curve.config.temperature.coefficient.reset(); // those of the other rule
        curve.config.temperature.referenceLength.reset();
    }
    curve.rotatedShare = 2.0 * result.table.turningPairs() / result.shown.config.headDim;
    curve.isOnRotatedOnly = isFactorOfRotation(rule) && isRotatedOnly;
    return curve;
}

/// Whether there is a number to draw: lengths that the rule needs are stated, and what it makes a constant
/// of.
bool isKnown(const Curve& curve)
{
    if (curve.rule == TemperatureRule::ScalableSoftmax && !curve.isOwn)
        return false; // its s is learned: nobody else has one
    if (!isFactorOfRotation(curve.rule))
        return temperatureAt(curve.config, static_cast<double>(kShortest)).has_value();
    if (curve.isOwn && isInAttentionFactor(curve.config))
        return true;
    return extensionFactor(curve.config) && temperatureAt(curve.config, static_cast<double>(kShortest));
}

/// All rules on configuration `index`, in the table's order.
std::vector<Curve> curvesOf(int index, const ConfigurationResult& result, bool isRotatedOnly)
{
    std::vector<Curve> curves;
    for (const TemperatureInfo& rule : temperatureRules()) {
        Curve curve = makeCurve(index, result, rule.rule, isRotatedOnly);
        // Under its own frequency rule the constant is the A² of the configuration, whatever the switch says.
        if (isKnown(curve))
            curves.push_back(std::move(curve));
    }
    return curves;
}

/// The rules whose effect on attention is drawn: those of maths that differ in kind, and the model's own.
bool isCompared(const Curve& curve)
{
    return curve.isOwn || curve.rule == TemperatureRule::None || curve.rule == TemperatureRule::RopeId ||
           curve.rule == TemperatureRule::Yarn || curve.rule == TemperatureRule::LogN;
}

bool isRotatedOnly(const FigureOptions& options)
{
    return options.settings.is("yarn_reach", "rotated");
}

/// Whole lengths from kShortest to `last`, `perOctave` in every doubling.
std::vector<double> lengths(int perOctave, std::int64_t last)
{
    std::vector<double> all;
    for (int step = 0;; ++step) {
        const double length =
            std::round(static_cast<double>(kShortest) * std::exp2(static_cast<double>(step) / perOctave));
        if (length > static_cast<double>(last))
            return all;
        all.push_back(length);
    }
}

/// The same, and both sides of every step of the rules that go up by steps.
std::vector<double> lengthsWithSteps(const std::vector<Curve>& curves)
{
    std::vector<double> all = lengths(32, kLongest);
    for (const Curve& curve : curves) {
        const bool hasSteps =
            curve.rule == TemperatureRule::Llama4 || curve.rule == TemperatureRule::Ministral;
        const std::int64_t length = hasSteps ? temperatureLength(curve.config).value_or(0) : 0;
        for (std::int64_t at = length; length >= 1024 && at <= kLongest; at += length)
            for (const std::int64_t side : {at - 1, at, at + 1})
                if (side >= kShortest && side <= kLongest)
                    all.push_back(static_cast<double>(side));
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

struct GaussianEntropies
{
    int configuration = 0;
    TemperatureRule rule = TemperatureRule::None;
    std::vector<double> nats; ///< one a length
};

struct TemperatureData : FigureData
{
    std::vector<double> lengths;
    std::vector<GaussianEntropies> curves;
};

Series makeSeries(const Curve& curve, const char* quantity, const char* unit, const Values& x,
                  std::vector<double> y)
{
    Series series;
    series.configuration = curve.configuration;
    series.name = curve.name(quantity);
    series.unit = unit;
    series.xUnit = "token";
    series.x = x;
    series.y = makeValues(std::move(y));
    return series;
}

/// What tells curves apart: the configuration's own rule heavy in its colour, the others by colour and
/// pattern.
struct Looks
{
    std::vector<int> colours; ///< those that no configuration has

    void apply(Series& series, const Curve& curve) const
    {
        series.style = SeriesStyle::Line;
        if (curve.isOwn) {
            series.isEmphasised = true;
            return;
        }
        const auto at = static_cast<std::size_t>(curve.rule);
        series.colour = colours[at % colours.size()];
        switch (curve.rule) {
        case TemperatureRule::LogN:
        case TemperatureRule::LongRope:
            series.pattern = LinePattern::DashDot;
            break;
        case TemperatureRule::Llama4:
            series.pattern = LinePattern::Dotted;
            break;
        case TemperatureRule::None:
            series.pattern = LinePattern::Dashed;
            break;
        default:
            break;
        }
    }
};

/// "RoPE-ID", with the letter where several configurations have a rule of their own.
Message nameOf(const FigureResults& results, const Curve& curve)
{
    Message name = std::string(info(curve.rule).title);
    if (curve.rule == TemperatureRule::None)
        name = "no temperature";
    if (isFactorOfRotation(curve.rule)) {
        name = {"{rule}, s = {factor}",
                {{"rule", std::string(info(curve.rule).title)},
                 {"factor", shortNumber(extensionFactor(curve.config).value_or(1.0), 4)}}};
        if (curve.rotatedShare < 1.0)
            name.text = curve.isOnRotatedOnly ? "{rule}, s = {factor}, on rotated channels only"
                                              : "{rule}, s = {factor}, on all of the score";
    }
    const std::string letter = letterIfSeveral(results, curve.configuration);
    if (curve.isOwn && !letter.empty()) {
        name.text = "{letter}: " + name.text;
        name.values.emplace_back("letter", letter);
    }
    return name;
}

/// Adds a series that is drawn, without the lengths up to T at which the rule does nothing yet: there it lies
/// on "no temperature", and its name would be written there.
void addDrawn(PlotSpec& plot, Series series, const Curve& curve)
{
    const bool isFlat = curve.rule == TemperatureRule::None || isFactorOfRotation(curve.rule);
    const bool isWhole = curve.isOwn || (isFlat && series.name.find("_at_ratio") == std::string::npos) ||
                         curve.tau((*series.x)[0]) != 1.0;
    if (isWhole) {
        plot.series.push_back(std::move(series));
        return;
    }
    Series drawn = series;
    std::size_t from = 0;
    while (from + 1 < series.x->size() && curve.tau((*series.x)[from + 1]) == 1.0)
        ++from;
    const auto start = static_cast<std::ptrdiff_t>(from);
    drawn.x = makeValues({series.x->begin() + start, series.x->end()});
    drawn.y = makeValues({series.y->begin() + start, series.y->end()});
    drawn.isExported = false;
    series.style = SeriesStyle::DataOnly;
    plot.series.push_back(std::move(series));
    plot.series.push_back(std::move(drawn));
}

AxisSpec lengthAxis(bool isPerQuery)
{
    return {isPerQuery ? "tokens that the query sees, N" : "tokens of the call, N", AxisKind::Tokens, true,
            static_cast<double>(kShortest), static_cast<double>(kLongest)};
}

template<class Value>
std::vector<double> overLengths(const std::vector<double>& lengths, Value value)
{
    std::vector<double> values(lengths.size());
    std::transform(lengths.begin(), lengths.end(), values.begin(), value);
    return values;
}

/// The measure of an entropy that is drawn: nats, its share of ln N, or the number of tokens e^H.
struct Measure
{
    std::string_view word;
    const char* name; ///< of the series
    const char* unit;
    const char* axis;
    double (*of)(double nats, double visible);
};

constexpr std::array kMeasures{
    Measure{"effective", "effective_tokens", "token", "effective tokens, exp H",
            [](double nats, double) { return std::exp(nats); }},
    Measure{"nats", "entropy", "nat", "entropy H (nats)", [](double nats, double) { return nats; }},
    Measure{"share", "relative_entropy", "1", "H / ln N",
            [](double nats, double visible) { return nats / std::log(visible); }},
};

AxisSpec measureAxis(const Measure& measure, double least)
{
    if (measure.word == "effective")
        return {measure.axis, AxisKind::Tokens, true, std::pow(10.0, std::floor(std::log10(least * 0.99))),
                1e6};
    return {measure.axis, AxisKind::Plain, false, 0.0, measure.word == "nats" ? 14.0 : 1.05};
}

/// The plots of entropies: all three measures go into the data, the chosen one is drawn.
struct EntropyPlot
{
    PlotSpec plot;
    const FigureResults& results;
    std::string prefix; ///< of the series' names
    double least = 1e6; ///< of the chosen measure

    void add(const Curve& curve, const Looks& looks, const char* kind, const Values& x,
             const std::vector<double>& nats, bool isEstimate)
    {
        for (const Measure& measure : kMeasures) {
            const bool isDrawn = results.options.settings.is("entropy_measure", measure.word);
            std::vector<double> y(nats.size());
            for (std::size_t i = 0; i < y.size(); ++i) {
                y[i] = measure.of(nats[i], (*x)[i]);
                if (isDrawn && y[i] > 0.0)
                    least = std::min(least, y[i]);
            }
            const std::string quantity = prefix + "_" + measure.name + kind;
            Series series = makeSeries(curve, quantity.c_str(), measure.unit, x, std::move(y));
            if (isDrawn) {
                looks.apply(series, curve);
                series.label = isEstimate ? Message() : nameOf(results, curve);
                if (isEstimate) {
                    series.pattern = LinePattern::Dashed;
                    series.isEmphasised = false;
                    series.quantity = {"estimate ln N − τ²σ²/2, {rule}",
                                       {{"rule", toEnglish(nameOf(results, curve))}}};
                }
            }
            if (isDrawn && !isEstimate)
                addDrawn(plot, std::move(series), curve);
            else
                plot.series.push_back(std::move(series));
        }
    }

    PlotSpec finish(bool isPerQuery)
    {
        plot.xAxis = lengthAxis(isPerQuery);
        for (const Measure& measure : kMeasures)
            if (results.options.settings.is("entropy_measure", measure.word))
                plot.yAxis = measureAxis(measure, std::max(1.0, least));
        return std::move(plot);
    }
};

/// The three printings of RoPE-ID's temperature over one another.
void addPrintings(FigureSpec& figure, const Curve& curve, const Looks& looks, const Values& x,
                  double training)
{
    const std::string length = groupedDigits(std::llround(training));
    const auto add = [&](const char* name, Message label, LinePattern pattern, auto tau) {
        Series series = makeSeries(curve, "tau_printed", "1", x, overLengths(*x, tau));
        series.name = name;
        series.style = SeriesStyle::Line;
        series.pattern = pattern;
        series.isEmphasised = pattern == LinePattern::Solid;
        if (pattern != LinePattern::Solid)
            series.colour = looks.colours[pattern == LinePattern::Dashed ? 0 : 1 % looks.colours.size()];
        series.label = std::move(label);
        figure.series.push_back(std::move(series));
    };
    add("tau_printed_right", {"(1 + 0.1 ln(max(T, N)/T))²", {}}, LinePattern::Solid, [&](double visible) {
        return std::pow(1.0 + 0.1 * std::log(std::max(1.0, visible / training)), 2.0);
    });
    add("tau_printed_without_ratio", {"(1 + 0.1 ln min(T, N))²", {}}, LinePattern::Dashed,
        [&](double visible) { return misprintedWithoutRatio(visible, training); });
    add("tau_printed_with_minimum", {"(1 + 0.1 ln(min(T, N)/T))²", {}}, LinePattern::Dotted,
        [&](double visible) { return misprintedWithMinimum(visible, training); });
}

/// The y range of τ: from below 1 where a curve goes there, in steps, so that it stands still while a slider
/// moves.
AxisSpec tauAxis(const FigureSpec& figure)
{
    double lower = 0.9;
    double upper = 1.9;
    for (const Series& series : figure.series) {
        if (series.style == SeriesStyle::DataOnly)
            continue;
        for (const double y : *series.y)
            if (!std::isnan(y)) {
                lower = std::min(lower, std::floor(y / 0.1) * 0.1);
                upper = std::max(upper, std::ceil(y * 1.02 / 0.2) * 0.2);
            }
    }
    return {"temperature τ, on the score", AxisKind::Plain, false, lower, upper};
}

} // namespace

Result<std::shared_ptr<const FigureData>> computeTemperature(FigureJob& job)
{
    auto data = std::make_shared<TemperatureData>();
    data->isCoarse = job.request.isCoarse;
    const double sigma = job.request.options.settings.number("logit_sigma");
    std::vector<Curve> curves;
    for (std::size_t i = 0; i < job.configurations.size(); ++i)
        if (job.configurations[i].scores)
            for (Curve& curve :
                 curvesOf(static_cast<int>(i), job.configurations[i], isRotatedOnly(job.request.options)))
                if (isCompared(curve)) {
                    data->curves.push_back({curve.configuration, curve.rule, {}});
                    curves.push_back(std::move(curve));
                }
    const std::vector<double> grid = lengths(2, data->isCoarse ? kLongestOfPreview : kLongest);
    GaussianLogits logits(job.request.options.seed);
    for (const double length : grid) {
        const auto count = static_cast<std::int64_t>(length);
        while (logits.count() < count) {
            if (job.stop.stop_requested())
                return Error{ErrorCode::Cancelled, {}, {}};
            logits.drawUpTo(std::min(count, logits.count() + 65536));
        }
        std::map<double, double> known; // by spread, of one length: many curves have τ = 1
        for (std::size_t i = 0; i < curves.size(); ++i) {
            if (job.stop.stop_requested())
                return Error{ErrorCode::Cancelled, {}, {}};
            const double spread = sigma * curves[i].onSpread(length);
            const auto [found, isNew] = known.try_emplace(spread, 0.0);
            if (isNew)
                found->second = logits.entropyNats(spread);
            data->curves[i].nats.push_back(found->second);
        }
        data->lengths.push_back(length);
        if (job.progress)
            job.progress(length / grid.back());
    }
    return std::shared_ptr<const FigureData>(std::move(data));
}

/// τ against the number N of visible tokens for every rule, and what it does to attention: a needle of the
/// logit s among N - 1 zeros, mass e^{τs}/(e^{τs}+N-1), and N Gaussian logits, entropy ≈ ln N - τ²σ²/2 before
/// they freeze. RoPE-ID, arXiv:2603.18017; YaRN, arXiv:2309.00071; Su, kexue.fm/archives/8823.
FigureSpec buildTemperature(const FigureResults& results)
{
    FigureSpec figure;
    const FigureOptions& options = results.options;
    const int focus = focusIndex(results);
    const ConfigurationResult& chosen = results.configurations[static_cast<std::size_t>(focus)];
    const RopeConfig& config = chosen.shown.config;
    const bool isPerQuery = config.temperature.isPerQuery;
    const double needle = options.settings.number("needle_logit");
    const double sigma = options.settings.number("logit_sigma");
    const auto training = trainingLength(config);
    const double share = 2.0 * chosen.table.turningPairs() / config.headDim;

    // All rules of the chosen configuration; of the others what they run with themselves.
    std::vector<Curve> curves = curvesOf(focus, chosen, isRotatedOnly(options));
    forEachDrawable(results, [&](int index, const ConfigurationResult& result) {
        const TemperatureRule rule = result.shown.config.temperature.rule;
        if (index == focus || rule == TemperatureRule::None)
            return;
        Curve own = makeCurve(index, result, rule, isRotatedOnly(options));
        if (isKnown(own))
            curves.push_back(std::move(own));
    });
    // The heavy curves last, over the others.
    std::stable_partition(curves.begin(), curves.end(), [](const Curve& curve) { return !curve.isOwn; });
    const Looks looks{freeColours(results)};
    const bool showsPrintings = options.settings.is("printing", "all") && training;

    const Values x = makeValues(lengthsWithSteps(curves));
    for (const Curve& curve : curves) {
        Series tau =
            makeSeries(curve, "tau", "1", x, overLengths(*x, [&](double n) { return curve.tau(n); }));
        if (!showsPrintings) {
            looks.apply(tau, curve);
            tau.label = nameOf(results, curve);
            addDrawn(figure, std::move(tau), curve);
        } else
            figure.series.push_back(std::move(tau));
    }
    if (training)
        for (const TemperatureRule rule : {TemperatureRule::Yarn, TemperatureRule::LongRope}) {
            // The constant rules as if the model knew how long the input is.
            Curve curve = makeCurve(focus, chosen, rule, false);
            curve.isOwn = false;
            curve.config.rule = FrequencyRule::Default;
            curve.config.temperature.coefficient.reset();
            const auto ratio = [&](double visible) {
                curve.config.parameters.factor = std::max(1.0, visible / static_cast<double>(*training));
                return curve.tau(visible);
            };
            Series tau = makeSeries(curve, "tau", "1", x, overLengths(*x, ratio));
            tau.name += "_at_ratio";
            if (!showsPrintings && !std::isnan(tau.y->front())) {
                looks.apply(tau, curve);
                tau.pattern = LinePattern::Dashed;
                tau.quantity = {"{rule} with s = N/T", {{"rule", std::string(info(rule).title)}}};
                addDrawn(figure, std::move(tau), curve);
            } else
                figure.series.push_back(std::move(tau));
        }
    if (showsPrintings)
        addPrintings(figure, makeCurve(focus, chosen, TemperatureRule::RopeId, false), looks, x,
                     static_cast<double>(*training));
    figure.xAxis = lengthAxis(isPerQuery);
    figure.yAxis = tauAxis(figure);
    figure.guides.push_back({false, 1.0, GuideRole::Zero, -1, {}});
    addTrainingGuides(figure, results, true);
    std::erase_if(figure.guides, [&](const GuideLine& guide) {
        return guide.isVertical && (guide.at <= figure.xAxis.lower || guide.at >= figure.xAxis.upper);
    });
    if (const auto length = config.length;
        length && !isPerQuery && *length >= kShortest && *length <= kLongest) {
        const double tau = temperatureAt(config, static_cast<double>(*length)).value_or(kNone);
        if (!std::isnan(tau))
            addGuide(figure, {true,
                              static_cast<double>(*length),
                              GuideRole::Selection,
                              focus,
                              {"this call: τ = {tau} for every query", {{"tau", shortNumber(tau, 4)}}}});
    }

    // What it does to attention.
    PlotSpec mass;
    mass.plotTitle = {"Mass on a needle of logit {logit} among N − 1 zeros",
                      {{"logit", shortNumber(needle, 4)}}};
    mass.xAxis = lengthAxis(isPerQuery);
    mass.yAxis = {"softmax mass on the needle", AxisKind::Plain, false, 0.0, 1.05};
    EntropyPlot needleEntropy{{}, results, "needle"};
    needleEntropy.plot.plotTitle = {"Entropy of the needle's row", {}};
    EntropyPlot gaussian{{}, results, "gaussian"};
    gaussian.plot.plotTitle = {
        "N logits of N(0, {sigma}²), seed {seed}; dashed: ln N − τ²σ²/2",
        {{"sigma", shortNumber(sigma, 4)}, {"seed", std::to_string(results.options.seed)}}};
    const Values grid = makeValues(lengths(16, kLongest));
    const auto* data = dataOf<TemperatureData>(results, "temperature");
    for (const Curve& curve : curves) {
        if (!isCompared(curve))
            continue;
        const auto attention = [&](double n) { return needleAttention(needle, n, curve.onNeedle(n)); };
        Series series = makeSeries(curve, "needle_mass", "1", grid,
                                   overLengths(*grid, [&](double n) { return attention(n).mass; }));
        looks.apply(series, curve);
        series.label = nameOf(results, curve);
        addDrawn(mass, std::move(series), curve);
        needleEntropy.add(curve, looks, "", grid,
                          overLengths(*grid, [&](double n) { return attention(n).entropyNats; }), false);
        if (!data)
            continue;
        const Values simulated = makeValues(data->lengths);
        for (const GaussianEntropies& found : data->curves)
            if (found.configuration == curve.configuration && found.rule == curve.rule)
                gaussian.add(curve, looks, "", simulated, found.nats, false);
        gaussian.add(curve, looks, "_estimate", grid,
                     overLengths(*grid,
                                 [&](double n) {
                                     const double spread = sigma * curve.onSpread(n);
                                     return spread * spread <= 0.5 * std::log(n)
                                                ? gaussianEntropyEstimate(n, spread)
                                                : kNone;
                                 }),
                     true);
    }
    figure.more = {std::move(mass), needleEntropy.finish(isPerQuery)};
    if (data)
        figure.more.push_back(gaussian.finish(isPerQuery));
    for (std::size_t i = 0; i < figure.more.size(); ++i) {
        figure.more[i].row = static_cast<int>((i + 1) / 2);
        figure.more[i].column = static_cast<int>((i + 1) % 2);
    }

    const Curve own = makeCurve(focus, chosen, config.temperature.rule, isRotatedOnly(options));
    figure.title = showsPrintings ? Message("Three printings of RoPE-ID's temperature")
                                  : Message("Temperature against length");
    figure.formula = showsPrintings
                         ? Message("logit = τ · κ · score, τ = (1 + 0.1 ln max(1, N/T))²")
                         : Message("logit = τ · κ · score, " + std::string(info(own.rule).formula));
    figure.source =
        "RoPE-ID, arXiv:2603.18017, and its first author's code; YaRN, arXiv:2309.00071; LongRoPE, "
        "arXiv:2402.13753; log-n: Su, kexue.fm/archives/8823, and Qwen-7B; Llama-4 and "
        "Ministral-3: huggingface/transformers; Scalable-Softmax, arXiv:2501.19399";
    // As configured: another coefficient than 0.1, no floor.
    const auto replace = [&](std::string_view what, const std::string& with) {
        if (const std::size_t at = figure.formula.text.find(what); at != std::string::npos)
            figure.formula.text.replace(at, what.size(), with);
    };
    if (!showsPrintings && config.temperature.coefficient && own.rule == config.temperature.rule)
        replace(own.rule == TemperatureRule::ScalableSoftmax ? "s ln N, s learned" : "0.1",
                shortNumber(*config.temperature.coefficient) +
                    (own.rule == TemperatureRule::ScalableSoftmax ? " ln N" : ""));
    if (!showsPrintings && info(own.rule).hasFloorChoice && !config.temperature.hasFloor) {
        replace("max(1, N/T)", "(N/T)");
        replace("max(1, ln N/ln T)", "ln N/ln T");
    }
    const auto yarn = std::find_if(curves.begin(), curves.end(), [&](const Curve& curve) {
        return curve.configuration == focus && curve.rule == TemperatureRule::Yarn;
    });
    if (showsPrintings)
        figure.caption = {"T = {length} · right: 1 up to T, then as YaRN with s = N/T, and what the author's "
                          "code computes · "
                          "without the ratio it is {constant} from T on · with the minimum it is 1 beyond T, "
                          "below 1 within: "
                          "the reverse of the purpose",
                          {{"length", groupedDigits(*training)},
                           {"constant", shortNumber(misprintedWithoutRatio(static_cast<double>(*training),
                                                                           static_cast<double>(*training)),
                                                    4)}}};
    else {
        const double tau = own.tau(131072.0);
        figure.caption = {isPerQuery
                              ? "this configuration: {rule}, τ = {tau} at 128k · one τ for each query, N = "
                                "position + 1 · dashed: YaRN and LongRoPE with s = N/T"
                              : "this configuration: {rule}, τ = {tau} at 128k · one τ for the whole call "
                                "· dashed: YaRN and LongRoPE with s = N/T",
                          {{"rule", std::string(info(own.rule).title)}, {"tau", shortNumber(tau, 5)}}};
        if (std::isnan(tau))
            figure.caption = {"this configuration's rule, {rule}, needs a length that is not stated",
                              {{"rule", std::string(info(own.rule).title)}}};
    }
    if (config.softmaxFactor != 1.0) {
        figure.caption.text += " · κ holds the softmax factor {kappa} at every length";
        figure.caption.values.emplace_back("kappa", shortNumber(config.softmaxFactor, 5));
    }
    if (yarn != curves.end() && share < 1.0)
        figure.notes.push_back(
            {Severity::Read,
             "yarn_reach",
             {yarn->isOnRotatedOnly
                  ? "YaRN's {square} reaches {share} % of the channels: a logit spread evenly over the head "
                    "is "
                    "multiplied by {even}"
                  : "YaRN's {square} is put on all of the score here; in the models it reaches {share} % of "
                    "the "
                    "channels, and a logit spread evenly over the head is multiplied by {even}",
              {{"square", shortNumber(yarn->tau(131072.0), 4)},
               {"share", shortNumber(100.0 * share, 3)},
               {"even", shortNumber(factorOnEvenLogit(yarn->tau(131072.0), share), 4)}}}});
    if (config.softmaxFactor != 1.0)
        figure.notes.push_back(
            {Severity::Read,
             "softmax_factor",
             {"softmax_factor {factor} multiplies every logit at every length and is not in τ",
              {{"factor", shortNumber(config.softmaxFactor, 6)}}}});
    if (!training)
        figure.notes.push_back(
            {Severity::Unknown, "max_position_embeddings",
             "the training length is not stated: rules that measure against it are not drawn"});
    if (!extensionFactor(config))
        figure.notes.push_back(
            {Severity::Read, "factor",
             "no extension factor is stated: YaRN and LongRoPE have no constant here and are "
             "drawn with s = N/T alone"});
    figure.summary = {
        "Temperature τ against length from 1k to 1M tokens for {names}, rule by rule, and the mass that "
        "attention leaves on a needle of logit {logit} among N − 1 zeros.",
        {{"names", joinedNames(results)}, {"logit", shortNumber(needle, 4)}}};
    return figure;
}

} // namespace ropewalk
