// SPDX-License-Identifier: GPL-3.0-or-later
#include "figures.h"

#include "../rope_math.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>

namespace ropewalk {
namespace {

/// Both positions are shifted by 0 to this, less one.
constexpr int kShifts = 256;

/// The score over head_dim of q at m+c and k at n+c, for each shift c.
struct LayoutCurves
{
    Values right; ///< both turned in the layout of the configuration
    Values other; ///< the same vectors, both turned in the other layout
    Values mixed; ///< q in the layout of the configuration, k in the other
};

struct LayoutData : FigureData
{
    std::vector<LayoutCurves> configurations; ///< empty values where nothing turns
};

RopeConfig inLayout(RopeConfig config, Layout layout)
{
    config.layout = layout;
    return config;
}

Layout otherLayout(Layout layout)
{
    return layout == Layout::Half ? Layout::Interleaved : Layout::Half;
}

/// A·e^{j·position·θ} of the formed pairs that turn; 0 of those that do not.
std::vector<std::complex<double>> turnsAt(const FrequencyTable& table, std::size_t formed, double position)
{
    std::vector<std::complex<double>> turns(formed);
    for (std::size_t pair = 0; pair < formed; ++pair)
        if (table.turns(static_cast<int>(pair)))
            turns[pair] = std::polar(table.attentionFactor, position * table.theta(static_cast<int>(pair)));
    return turns;
}

/// The row with the turning pairs of `map` turned.
std::vector<double> turned(std::vector<double> row, const ChannelMap& map, const FrequencyTable& table,
                           const std::vector<std::complex<double>>& turns)
{
    for (int pair = 0; pair < static_cast<int>(map.formed.size()); ++pair) {
        if (!table.turns(pair))
            continue;
        const auto [a, b] = map.pair(pair);
        const std::complex<double>& turn = turns[static_cast<std::size_t>(pair)];
        rotatePair(row[static_cast<std::size_t>(a)], row[static_cast<std::size_t>(b)], turn.real(),
                   turn.imag());
    }
    return row;
}

double dot(const std::vector<double>& a, const std::vector<double>& b)
{
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += a[i] * b[i];
    return sum;
}

/// q and k whose score tells the layouts apart: ones have the same score in both.
ContentRows tellingRows(const FigureOptions& options, const ConfigurationResult& result)
{
    if (options.content != Content::Ones)
        return {result.scores->query, result.scores->key};
    FigureOptions random = options;
    random.content = Content::Gaussian;
    const auto source = ContentSource::make(random, result.shown.config);
    return makeContent(*source, options.m, options.n);
}

TableCell channelCell(int channel, int pair, const FrequencyTable& table, int turningRank, int turningPairs,
                      bool isPicked)
{
    TableCell cell;
    cell.text = std::to_string(channel);
    cell.pair = pair;
    if (table.turns(pair)) {
        cell.fill = CellFill::Pair;
        cell.share = turningPairs > 1 ? static_cast<double>(turningRank) / (turningPairs - 1) : 0.0;
    } else {
        cell.fill = CellFill::Still;
    }
    cell.isStrong = isPicked;
    return cell;
}

/// One strip of the head's channels a layout, half-split above interleaved, with the permutation between
/// them.
TableSpec stripsOf(const ConfigurationResult& result, int picked)
{
    const RopeConfig& config = result.shown.config;
    const std::array<ChannelMap, 2> maps{channelMap(inLayout(config, Layout::Half)),
                                         channelMap(inLayout(config, Layout::Interleaved))};
    TableSpec table;
    table.rows = 2;
    table.columns = config.headDim;
    table.rowHeads = {"half-split", "interleaved"};
    table.cells.resize(2 * static_cast<std::size_t>(config.headDim));
    const int turning = result.table.turningPairs();
    int rank = 0;
    for (int pair = 0; pair < maps[0].pairCount(); ++pair) {
        for (int row = 0; row < 2; ++row) {
            const auto [a, b] = maps[static_cast<std::size_t>(row)].pair(pair);
            for (const int channel : {a, b}) {
                TableCell cell = channelCell(channel, pair, result.table, rank, turning, pair == picked);
                if (pair == picked)
                    cell.fill = CellFill::Accent;
                table.cells[static_cast<std::size_t>(row * config.headDim + channel)] = std::move(cell);
            }
        }
        const auto from = maps[0].pair(pair);
        const auto to = maps[1].pair(pair);
        const bool isFormed = pair < static_cast<int>(maps[0].formed.size());
        const auto link = [&](int half, int interleaved) {
            TableLink line{0, half, 1, interleaved, CellFill::Still, 0.0};
            if (result.table.turns(pair)) {
                line.colour = pair == picked ? CellFill::Accent : CellFill::Pair;
                line.share = turning > 1 ? static_cast<double>(rank) / (turning - 1) : 0.0;
            }
            table.links.push_back(line);
        };
        if (isFormed) {
            link(from.first, to.first);
            link(from.second, to.second);
        } else {
            link(from.first, from.first); // outside the rotated width a channel keeps its place
            link(from.second, from.second);
        }
        rank += result.table.turns(pair);
    }
    return table;
}

/// "₁₂": the index of a pair.
std::string subscript(int index)
{
    static constexpr std::array<const char*, 10> kDigits{"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
    std::string text;
    for (const char digit : std::to_string(index))
        text += kDigits[static_cast<std::size_t>(digit - '0')];
    return text;
}

/// R(m) on the channels of the first two turning pairs, in the order of the channels.
PlotSpec matrixOf(const ConfigurationResult& result, Layout layout)
{
    const RopeConfig& config = result.shown.config;
    const ChannelMap map = channelMap(inLayout(config, layout));
    std::vector<int> pairs;
    for (int pair = 0; pair < map.pairCount() && pairs.size() < 2; ++pair)
        if (result.table.turns(pair))
            pairs.push_back(pair);
    struct Place
    {
        int channel, pair, rank;
        bool isSecond;
    };
    std::vector<Place> places;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        const auto [a, b] = map.pair(pairs[k]);
        places.push_back({a, pairs[k], static_cast<int>(k), false});
        places.push_back({b, pairs[k], static_cast<int>(k), true});
    }
    std::sort(places.begin(), places.end(),
              [](const Place& x, const Place& y) { return x.channel < y.channel; });
    TableSpec table;
    table.isMatrix = true;
    table.rows = table.columns = static_cast<int>(places.size());
    for (const Place& row : places) {
        table.columnHeads.push_back(std::to_string(row.channel));
        table.rowHeads.push_back(std::to_string(row.channel));
        for (const Place& column : places) {
            TableCell cell;
            cell.text = "0";
            if (row.pair == column.pair) {
                const char* turn = row.isSecond == column.isSecond ? "cos mθ{pair}"
                                   : row.isSecond                  ? "sin mθ{pair}"
                                                                   : "−sin mθ{pair}";
                cell.text = {turn, {{"pair", subscript(row.pair)}}};
                cell.fill = CellFill::Pair;
                cell.share = row.rank;
                cell.pair = row.pair;
            }
            table.cells.push_back(std::move(cell));
        }
    }
    PlotSpec plot;
    plot.plotTitle = layout == Layout::Half ? "R(m), half-split" : "R(m), interleaved (RoFormer)";
    plot.table = std::move(table);
    return plot;
}

PlotSpec mixingPlot(const FigureResults& results, int focus, const LayoutData& data)
{
    PlotSpec plot;
    const std::vector<double> numbers = [] {
        std::vector<double> shifts(kShifts);
        for (int c = 0; c < kShifts; ++c)
            shifts[static_cast<std::size_t>(c)] = c;
        return shifts;
    }();
    const Values shifts = makeValues(numbers);
    double lower = 0.0, upper = 0.0;
    for (std::size_t index = 0; index < data.configurations.size(); ++index) {
        const LayoutCurves& curves = data.configurations[index];
        if (!curves.right)
            continue;
        const auto add = [&](const char* name, const char* label, const Values& y, int colour,
                             LinePattern pattern) {
            Series series;
            series.configuration = static_cast<int>(index);
            series.name = name;
            series.unit = "score/head_dim";
            series.xUnit = "token";
            series.x = shifts;
            series.y = y;
            if (static_cast<int>(index) == focus) {
                series.style = SeriesStyle::Line;
                series.label = label;
                series.colour = colour;
                series.pattern = pattern;
                series.isEmphasised = colour == 0;
                const auto [least, greatest] = std::minmax_element(y->begin(), y->end());
                lower = std::min(lower, *least);
                upper = std::max(upper, *greatest);
            }
            plot.series.push_back(std::move(series));
        };
        add("score_right_layout", "q and k as the weights are", curves.right, 0, LinePattern::Solid);
        add("score_other_layout", "both in the other layout", curves.other, 1, LinePattern::Dashed);
        add("score_mixed_layouts", "k in the other layout", curves.mixed, 2, LinePattern::Dotted);
    }
    plot.xAxis = {"both positions shifted by c (tokens)", AxisKind::Plain, false, 0.0, kShifts - 1.0};
    const double margin = 0.12 * std::max(upper - lower, 1e-3);
    plot.yAxis = {"score / head_dim", AxisKind::Plain, false, lower - margin, upper + margin};
    plot.guides.push_back({false, 0.0, GuideRole::Zero, -1, {}});
    plot.plotTitle = {"Score at m = {m} + c, n = {n} + c",
                      {{"m", groupedDigits(results.options.m)}, {"n", groupedDigits(results.options.n)}}};
    return plot;
}

/// Which channel and pair stand where, as data.
void addChannelSeries(FigureSpec& figure, int index, const ConfigurationResult& result)
{
    const RopeConfig& config = result.shown.config;
    std::vector<double> channels, halfPair(static_cast<std::size_t>(config.headDim)),
        interleavedPair = halfPair, halfChannel = halfPair;
    for (int channel = 0; channel < config.headDim; ++channel)
        channels.push_back(channel);
    const ChannelMap half = channelMap(inLayout(config, Layout::Half));
    const ChannelMap interleaved = channelMap(inLayout(config, Layout::Interleaved));
    for (int pair = 0; pair < half.pairCount(); ++pair) {
        const auto from = half.pair(pair);
        const auto to = interleaved.pair(pair);
        for (const int channel : {from.first, from.second})
            halfPair[static_cast<std::size_t>(channel)] = pair;
        for (const int channel : {to.first, to.second})
            interleavedPair[static_cast<std::size_t>(channel)] = pair;
        const bool isFormed = pair < static_cast<int>(half.formed.size());
        halfChannel[static_cast<std::size_t>(isFormed ? to.first : from.first)] = from.first;
        halfChannel[static_cast<std::size_t>(isFormed ? to.second : from.second)] = from.second;
    }
    const Values x = makeValues(std::move(channels));
    const auto add = [&](const char* name, const char* unit, std::vector<double> y) {
        Series series;
        series.configuration = index;
        series.name = name;
        series.unit = unit;
        series.xUnit = "channel";
        series.x = x;
        series.y = makeValues(std::move(y));
        figure.series.push_back(std::move(series));
    };
    add("half_channel_of_interleaved", "channel", std::move(halfChannel));
    add("pair_half", "pair", std::move(halfPair));
    add("pair_interleaved", "pair", std::move(interleavedPair));
}

} // namespace

/// Scores of shifted positions, turned position by position. Errors: Cancelled.
Result<std::shared_ptr<const FigureData>> computeLayouts(FigureJob& job)
{
    auto data = std::make_shared<LayoutData>();
    const FigureOptions& options = job.request.options;
    for (const ConfigurationResult& result : job.configurations) {
        LayoutCurves curves;
        if (result.scores && result.table.turningPairs() > 0) {
            const RopeConfig& config = result.shown.config;
            const ContentRows rows = tellingRows(options, result);
            const ChannelMap other = channelMap(inLayout(config, otherLayout(config.layout)));
            std::vector<double> right, wrong, mixed;
            for (int shift = 0; shift < kShifts; ++shift) {
                if (job.stop.stop_requested())
                    return Error{ErrorCode::Cancelled, "stopped", {}};
                const auto m = static_cast<double>(options.m + shift);
                const auto n = static_cast<double>(options.n + shift);
                const auto atQuery = turnsAt(result.table, other.formed.size(), m);
                const auto atKey = turnsAt(result.table, other.formed.size(), n);
                const auto query = turned(rows.query, result.channels, result.table, atQuery);
                const auto key = turned(rows.key, result.channels, result.table, atKey);
                const auto otherKey = turned(rows.key, other, result.table, atKey);
                right.push_back(dot(query, key) / config.headDim);
                wrong.push_back(dot(turned(rows.query, other, result.table, atQuery), otherKey) /
                                config.headDim);
                mixed.push_back(dot(query, otherKey) / config.headDim);
            }
            curves = {makeValues(std::move(right)), makeValues(std::move(wrong)),
                      makeValues(std::move(mixed))};
        }
        data->configurations.push_back(std::move(curves));
    }
    return std::shared_ptr<const FigureData>(std::move(data));
}

/// Half-split: pair i at channels i and i + d/2 (GPT-NeoX); interleaved: 2i and 2i + 1 (RoFormer). The same
/// model needs the same permutation of the rows of the q and k weights: interleaved[k] = half[perm[k]], as in
/// the conversion of Meta's weights for huggingface/transformers.
FigureSpec buildLayouts(const FigureResults& results)
{
    FigureSpec figure;
    const int focus = focusIndex(results);
    const ConfigurationResult& drawn = results.configurations[static_cast<std::size_t>(focus)];
    const RopeConfig& config = drawn.shown.config;
    const auto* data = dataOf<LayoutData>(results, "layouts");
    figure.title = "Two layouts of one head";
    if (drawn.table.turningPairs() == 0 || !data) {
        figure.failure = {"No pair of {name} turns: both layouts leave every channel as it is",
                          {{"name", config.name}}};
        return figure;
    }
    figure.formula = "half-split: (i, i + d/2) · interleaved: (2i, 2i + 1)";
    figure.source = "RoFormer, arXiv:2104.09864, equation 15; GPT-NeoX; huggingface/transformers, "
                    "convert_llama_weights_to_hf.py";
    const int picked = results.options.showsSelection ? results.options.pair : -1;
    figure.table = stripsOf(drawn, picked);
    const std::size_t used = config.layout == Layout::Half ? 0 : 1;
    figure.table->rowHeads[used].text += ", in use";
    figure.plotTitle = "Channels of the head, by pair";
    figure.columnSpan = 3;
    forEachDrawable(results, [&](int index, const ConfigurationResult& result) {
        addChannelSeries(figure, index, result);
    });
    PlotSpec interleaved = matrixOf(drawn, Layout::Interleaved);
    interleaved.row = 1;
    PlotSpec half = matrixOf(drawn, Layout::Half);
    half.row = 1;
    half.column = 1;
    PlotSpec mixing = mixingPlot(results, focus, *data);
    mixing.row = 1;
    mixing.column = 2;
    for (PlotSpec* plot : {&interleaved, &half, &mixing})
        figure.more.push_back(std::move(*plot));
    figure.rowShares = {1.0, 1.5};
    figure.columnShares = {1.0, 1.0, 1.5};
    const LayoutCurves& curves = data->configurations[static_cast<std::size_t>(focus)];
    const auto spread = [](const Values& values) {
        const auto [least, greatest] = std::minmax_element(values->begin(), values->end());
        return *greatest - *least;
    };
    const bool isOnes = results.options.content == Content::Ones;
    const std::string letter = letterIfSeveral(results, focus);
    figure.caption = {"{whose}only q and k are turned, v keeps its order · the score / head_dim over shifts "
                      "to {last} changes by {right} "
                      "in one layout, by {mixed} in two · content {content}",
                      {{"whose", letter.empty() ? std::string() : letter + ": "},
                       {"last", std::to_string(kShifts - 1)},
                       {"right", shortNumber(spread(curves.right), 2)},
                       {"mixed", shortNumber(spread(curves.mixed), 3)},
                       {"content", std::string(word(isOnes ? Content::Gaussian : results.options.content))},
                       {"seed", std::to_string(results.options.seed)}}};
    if (isOnes)
        figure.caption.text += ", seed {seed} (ones score the same in both)";
    figure.summary = {
        "The {width} channels of {name} in the half-split and the interleaved layout, coloured by pair, "
        "with the permutation between them. In one layout the score depends on the distance only; with "
        "k turned in the other layout it changes by {mixed} while both positions are shifted.",
        {{"width", std::to_string(config.headDim)},
         {"name", config.name},
         {"mixed", shortNumber(spread(curves.mixed), 3)}}};
    return figure;
}

} // namespace ropewalk
