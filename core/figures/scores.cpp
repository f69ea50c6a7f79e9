// SPDX-License-Identifier: GPL-3.0-or-later
#include "figures.h"

#include "../temperature.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cmath>
#include <limits>
#include <tuple>

namespace ropewalk {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Rows of content made at a time between two looks at the stop token.
constexpr std::int64_t kRowsAtATime = 256;
/// A preview samples so many queries and keys.
constexpr std::int64_t kPreviewCells = 256;
/// So many queries and keys tell how far the cells reach.
constexpr std::int64_t kRangeCells = 160;
/// Products of larger numbers, and their sums, may lie beyond the range of double.
constexpr double kGreatestInProducts = 1e150;
/// What takes longer than this is shown as a preview first.
constexpr double kPreviewMilliseconds = 6.0;

/// One map: of a configuration, or of the difference of two.
struct ScoreMap
{
    int configuration = 0;
    ScoreGrid grid; ///< of the figure, not of what a preview samples
    ScorePath path = ScorePath::Tiles;
    ScorePrecision precision = ScorePrecision::Double; ///< of the tiles
    std::int64_t rows = 0, columns = 0;                ///< of `values`
    std::int64_t stride = 1;                           ///< above 1: sampled
    Values values;                                     ///< as the pooling asks; NaN = masked
    std::vector<double> queryPositions, keyPositions;  ///< of rowValue and columnMean, tokens
    std::vector<double> rowValue;                      ///< mean over the keys in view, or entropy in nats
    std::vector<double> columnMean;                    ///< mean over the queries in view that see the key
    double reach = 0.0; ///< greatest |cell| before pooling, as far as it was looked for
    std::int64_t deadQueries = 0, deadKeys = 0;
    bool isDoubleInstead = false; ///< less was asked for, and cannot hold products of these numbers
};

/// Cell i of a grid stands for position i·stride + offset.
struct Sampling
{
    std::int64_t stride = 1, offset = 0;
    std::int64_t position(std::int64_t index) const { return index * stride + offset; }
    bool operator==(const Sampling&) const = default;
};

/// Queries or keys before rotation: they depend on the content and on nothing that turns.
struct MadeRows
{
    std::uint64_t id = 0; ///< no other rows have it (RowsIdentity)
    ContentSource source;
    std::vector<int> gathered; ///< channels of the head, in the order of the rows
    Sampling sampling;
    bool isQuery = false;
    CellRange range;
    std::vector<double> rows;       ///< [range × gathered]
    std::vector<std::uint8_t> dead; ///< 1: was not finite and is zeros; empty: none
};

/// A table over the distance, and what it depends on.
struct MadeTable
{
    std::vector<double> re, im, theta, rate;
    double attentionFactor = 1.0, still = 0.0;
    std::int64_t first = 0;
    std::vector<double> values;

    bool hasSameInput(const MadeTable& other) const
    {
        const auto input = [](const MadeTable& of) {
            return std::tie(of.re, of.im, of.theta, of.rate, of.attentionFactor, of.still, of.first);
        };
        return input(*this) == input(other) && values.size() == other.values.size();
    }
};

/// The layers below the maps. The next request takes over what it leaves unchanged.
struct MadeLayers
{
    std::vector<std::shared_ptr<const MadeRows>> rows;
    std::vector<std::shared_ptr<const MadeTable>> tables;
};

struct ScoresData : FigureData
{
    std::vector<ScoreMap> maps;
    std::vector<Issue> notes;
    MadeLayers layers;
};

bool isSoftmax(const FigureOptions& options)
{
    return options.settings.is("stage", "softmax");
}

bool isDifference(const FigureOptions& options, std::size_t drawable)
{
    return options.settings.is("encoding", "difference") ||
           (options.settings.is("compare", "A_minus_B") && drawable > 1);
}

/// First to last, both included, where 0 as the last one means the end. The first lies within the length.
CellRange viewRange(const FigureSettings& settings, const char* first, const char* last, std::int64_t length)
{
    const std::int64_t end = settings.whole(last) == 0 ? length : std::min(settings.whole(last) + 1, length);
    return {std::clamp<std::int64_t>(settings.whole(first), 0, end - 1), end};
}

ScoreGrid gridOf(const FigureOptions& options, std::int64_t length, bool isCausal)
{
    const FigureSettings& settings = options.settings;
    ScoreGrid grid =
        scoreGrid(length, viewRange(settings, "first_row", "last_row", length),
                  viewRange(settings, "first_column", "last_column", length), settings.whole("map_pixels"));
    grid.isCausal = isCausal;
    grid.window = settings.whole("window");
    return grid;
}

/// The channels of a configuration that a map adds up: those of all pairs, or of one.
struct MapChannels
{
    std::vector<int> gathered;              ///< channels of the head, in the order of the rows
    std::vector<std::pair<int, int>> pairs; ///< of those, that turn; indices into `gathered`
    std::vector<double> theta, rate;        ///< one a pair that turns
    double attentionFactor = 1.0;
};

MapChannels channelsOf(const ConfigurationResult& result, std::optional<int> onlyPair)
{
    MapChannels channels;
    channels.attentionFactor = result.table.attentionFactor;
    const std::vector<double> rates = dampingRates(result.shown.config, result.table);
    const auto add = [&](int pair, int a, int b) {
        if (!result.table.turns(pair))
            return;
        channels.pairs.emplace_back(a, b);
        channels.theta.push_back(result.table.theta(pair));
        if (!rates.empty())
            channels.rate.push_back(rates[static_cast<std::size_t>(pair)]);
    };
    if (onlyPair) {
        const auto [a, b] = result.channels.pair(*onlyPair);
        channels.gathered = {a, b};
        add(*onlyPair, 0, 1);
        return channels;
    }
    for (int channel = 0; channel < result.shown.config.headDim; ++channel)
        channels.gathered.push_back(channel);
    for (int pair = 0; pair < result.channels.pairCount(); ++pair)
        add(pair, result.channels.pair(pair).first, result.channels.pair(pair).second);
    return channels;
}

/// Everything that one configuration gives to a map.
struct Side
{
    double weight = 1.0;
    const ConfigurationResult* result = nullptr;
    ContentSource source;
    MapChannels channels;
    std::optional<double> tau;                     ///< one for the call; empty: another for each query
    double scale = 1.0;                            ///< 1, 1/head_dim or κ·τ
    std::shared_ptr<const MadeTable> table;        ///< over the distance, of a fixed content
    std::vector<double> without;                   ///< the same without RoPE
    std::shared_ptr<const MadeRows> queries, keys; ///< otherwise
    std::vector<double> rowScale;                  ///< τ of each query in view
    std::vector<double> sampledWith, sampledWithout;
};

/// Keeps what was used last, as far as there is memory for it.
void dropOldLayers(MadeLayers& layers)
{
    // 256 MiB of rows: the queries and keys of the longest map, of 128 channels.
    constexpr std::size_t kKeptNumbers = std::size_t{1} << 25, kKeptTables = 8;
    std::vector<std::shared_ptr<const MadeRows>> kept;
    std::size_t numbers = 0;
    for (auto made = layers.rows.rbegin(); made != layers.rows.rend(); ++made) {
        numbers += (*made)->rows.size();
        if (numbers > kKeptNumbers)
            break;
        kept.insert(kept.begin(), *made);
    }
    layers.rows = std::move(kept);
    if (layers.tables.size() > kKeptTables)
        layers.tables.erase(layers.tables.begin(), layers.tables.end() - kKeptTables);
}

/// The greatest of the finite magnitudes; 0 where there is none.
double greatestMagnitude(const std::vector<double>& values)
{
    // Eight at a time, so that they do not wait for one another.
    std::array<double, 8> greatest{};
    const auto take = [&](std::size_t lane, double value) {
        const double magnitude = std::fabs(value);
        const bool isTaken = magnitude > greatest[lane] && magnitude <= std::numeric_limits<double>::max();
        greatest[lane] = isTaken ? magnitude : greatest[lane];
    };
    std::size_t i = 0;
    for (; i + greatest.size() <= values.size(); i += greatest.size())
        for (std::size_t lane = 0; lane < greatest.size(); ++lane)
            take(lane, values[i + lane]);
    for (; i < values.size(); ++i)
        take(0, values[i]);
    return *std::max_element(greatest.begin(), greatest.end());
}

/// Computes one map of one or two configurations.
class MapJob
{
public:
    /// `layers` takes what is made, and gives what was made before.
    MapJob(FigureJob& job, MadeLayers& layers, double progressFrom, double progressShare)
        : m_job(job)
        , m_layers(layers)
        , m_options(job.request.options)
        , m_from(progressFrom)
        , m_share(progressShare)
        , m_isSoftmax(isSoftmax(m_options))
    {
    }

    /// Errors: BadInput with a sentence about the configuration.
    Result<void> add(const ConfigurationResult& result, double weight)
    {
        Side side;
        side.weight = weight;
        side.result = &result;
        auto source = ContentSource::make(m_options, result.shown.config);
        if (!source)
            return source.error();
        side.source = std::move(*source);
        std::optional<int> onlyPair;
        if (m_options.settings.is("map_pairs", "picked")) {
            if (m_options.pair >= result.channels.pairCount())
                return Error{ErrorCode::BadInput,
                             {"{name} has no pair {pair}; expected 0 to {last}",
                              {{"name", result.shown.config.name},
                               {"pair", std::to_string(m_options.pair)},
                               {"last", std::to_string(result.channels.pairCount() - 1)}}},
                             {}};
            onlyPair = m_options.pair;
        }
        side.channels = channelsOf(result, onlyPair);
        const RopeConfig& config = result.shown.config;
        const bool isLogit = m_isSoftmax || m_options.settings.is("score_unit", "logit");
        if (isLogit)
            side.scale = logitScale(config);
        else if (m_options.settings.is("score_unit", "head_dim"))
            side.scale = 1.0 / config.headDim;
        side.tau = 1.0;
        if (isLogit && !isInAttentionFactor(config)) {
            const bool isPerQuery =
                config.temperature.isPerQuery && !info(config.temperature.rule).isConstant;
            const std::optional<double> tau = temperatureOfQuery(config, 0);
            if (!tau)
                return Error{
                    ErrorCode::BadInput,
                    {"the temperature {rule} of {name} needs a training length; expected "
                     "temperature_length or max_position_embeddings",
                     {{"rule", std::string(info(config.temperature.rule).word)}, {"name", config.name}}},
                    {}};
            side.tau = isPerQuery ? std::nullopt : tau;
            side.scale *= side.tau.value_or(1.0);
        }
        m_isFixed = side.source.isFixed();
        m_rowsAvailable = std::min(m_rowsAvailable, side.source.rowsAvailable());
        m_isCausal = m_isCausal || config.xpos.has_value();
        m_sides.push_back(std::move(side));
        return {};
    }

    Result<ScoreMap> run()
    {
        m_map.configuration = static_cast<int>(m_sides.front().result - m_job.configurations.data());
        const std::int64_t length = std::min(m_options.settings.whole("map_length"), m_rowsAvailable);
        for (const char* key : {"first_row", "first_column"})
            if (const std::int64_t first = m_options.settings.whole(key); first >= length)
                return Error{
                    ErrorCode::BadInput,
                    {"{key} is {first}; the map has {length} queries and keys, expected less",
                     {{"key", key}, {"first", groupedDigits(first)}, {"length", groupedDigits(length)}}},
                    {}};
        m_map.grid = gridOf(m_options, length, m_isCausal || m_options.settings.is("mask", "causal"));
        const std::string_view pooling = m_options.settings.text("pooling");
        m_wantsLeast = m_map.grid.block > 1 && pooling == "min";
        m_wantsGreatest = m_map.grid.block > 1 && pooling == "max";
        if (m_isFixed)
            if (const auto done = makeTables(); !done)
                return done.error();
        dropUniformTemperature();
        if (!m_isSoftmax)
            if (const auto done = findReach(); !done)
                return done.error();
        const std::int64_t stride = previewStride();
        const auto done = stride > 1 ? runSampled(stride) : runWhole();
        if (!done)
            return done.error();
        poolMarginals();
        if (!m_isSoftmax)
            m_map.reach = std::max(m_map.reach, greatestMagnitude(*m_map.values));
        return std::move(m_map);
    }

private:
    Result<void> stopped() const
    {
        if (m_job.stop.stop_requested())
            return Error{ErrorCode::Cancelled, "stopped", {}};
        return {};
    }

    Result<void> runOp(const Operation& operation)
    {
        const auto done = m_job.engine.run(operation, m_job.stop);
        if (!done)
            return done.error();
        addRun(m_job.provenance, *done);
        return {};
    }

    bool wantsWith() const { return !m_options.settings.is("encoding", "none"); }
    bool wantsWithout() const { return !m_options.settings.is("encoding", "rope"); }

    /// The score by distance, once for all distances that the whole map holds.
    Result<void> makeTables()
    {
        const std::int64_t first = m_map.grid.leastDistance();
        const auto count = static_cast<std::size_t>(m_map.grid.length - first);
        for (Side& side : m_sides) {
            const ContentRows rows = makeContent(side.source, 0, 0);
            const auto channel = [&](const std::vector<double>& row, int at) {
                return row[static_cast<std::size_t>(side.channels.gathered[static_cast<std::size_t>(at)])];
            };
            double all = 0.0;
            for (const int at : side.channels.gathered)
                all += rows.query[static_cast<std::size_t>(at)] * rows.key[static_cast<std::size_t>(at)];
            auto made = std::make_shared<MadeTable>();
            std::vector<bool> turns(side.channels.gathered.size());
            for (const auto& [a, b] : side.channels.pairs) {
                const double qa = channel(rows.query, a), qb = channel(rows.query, b);
                const double ka = channel(rows.key, a), kb = channel(rows.key, b);
                made->re.push_back(qa * ka + qb * kb); // q·conj(k)
                made->im.push_back(qb * ka - qa * kb);
                turns[static_cast<std::size_t>(a)] = turns[static_cast<std::size_t>(b)] = true;
            }
            for (std::size_t at = 0; at < turns.size(); ++at)
                if (!turns[at])
                    made->still +=
                        channel(rows.query, static_cast<int>(at)) * channel(rows.key, static_cast<int>(at));
            made->theta = side.channels.theta;
            made->rate = side.channels.rate;
            made->attentionFactor = side.channels.attentionFactor;
            made->first = first;
            made->values.resize(count);
            if (wantsWith())
                if (const auto done = makeTable(side, std::move(made)); !done)
                    return done;
            if (wantsWithout())
                side.without.assign(count, all);
        }
        return {};
    }

    Result<void> makeTable(Side& side, std::shared_ptr<MadeTable> made)
    {
        for (const auto& before : m_layers.tables)
            if (before->hasSameInput(*made)) {
                side.table = before;
                return {};
            }
        DistanceTableOp op;
        op.re = made->re;
        op.im = made->im;
        op.invFreq = made->theta;
        op.dampingRate = made->rate;
        op.attentionFactor = made->attentionFactor;
        op.still = made->still;
        op.firstDistance = made->first;
        op.table = made->values;
        if (const auto done = runOp(op); !done)
            return done;
        ++m_job.computed.distanceTables;
        side.table = m_layers.tables.emplace_back(std::move(made));
        return {};
    }

    /// τ of each query in view, unless it is the same for all of them.
    void dropUniformTemperature()
    {
        const CellRange rows = m_map.grid.rows();
        for (Side& side : m_sides) {
            if (side.tau)
                continue;
            const RopeConfig& config = side.result->shown.config;
            side.tau = temperatureOfQuery(config, rows.first);
            for (std::int64_t m = rows.first; m < rows.end && side.tau; ++m)
                if (temperatureOfQuery(config, m) != side.tau)
                    side.tau = std::nullopt;
            side.scale *= side.tau.value_or(1.0);
        }
    }

    /// Terms over cells that `sampling` places; the rows of `grid` in view, `keys` of the keys.
    Result<void> makeTerms(const ScoreGrid& grid, CellRange keys, Sampling sampling)
    {
        m_terms.clear();
        m_deadQueries.clear();
        m_deadKeys.clear();
        const CellRange rows = grid.rows();
        for (Side& side : m_sides) {
            side.rowScale.clear();
            if (!side.tau)
                for (std::int64_t m = rows.first; m < rows.end; ++m)
                    side.rowScale.push_back(
                        temperatureOfQuery(side.result->shown.config, sampling.position(m)).value_or(1.0));
            if (!m_isFixed) {
                if (const auto done = takeRows(side, rows, sampling, true); !done)
                    return done;
                if (const auto done = takeRows(side, keys, sampling, false); !done)
                    return done;
                join(*side.queries, rows, m_deadQueries);
                join(*side.keys, keys, m_deadKeys);
            }
            addTerms(side, grid, keys, sampling);
        }
        return {};
    }

    void addTerms(Side& side, const ScoreGrid& grid, CellRange keys, Sampling sampling)
    {
        ScoreTerm term;
        term.scale = side.scale;
        term.rowScale = side.rowScale;
        term.width = static_cast<int>(side.channels.gathered.size());
        if (!m_isFixed) {
            term.queries = part(*side.queries, grid.rows());
            term.queriesAre = identityOf(*side.queries, grid.rows());
            term.keys = part(*side.keys, keys);
            term.keysAre = identityOf(*side.keys, keys);
        }
        term.firstDistance = grid.leastDistance();
        ScoreTerm turned = term;
        turned.pairs = side.channels.pairs;
        turned.invFreq = side.channels.theta;
        turned.dampingRate = side.channels.rate;
        turned.attentionFactor = side.channels.attentionFactor;
        if (m_isFixed) {
            if (side.table)
                turned.table = sampled(side.table->values, side.sampledWith, grid, sampling);
            term.table = sampled(side.without, side.sampledWithout, grid, sampling);
        }
        if (wantsWith()) {
            turned.weight = side.weight;
            m_terms.push_back(turned);
        }
        if (wantsWithout()) {
            term.weight = wantsWith() ? -side.weight : side.weight;
            m_terms.push_back(term);
        }
    }

    /// The table over the distances of a grid that samples.
    std::span<const double> sampled(const std::vector<double>& table, std::vector<double>& into,
                                    const ScoreGrid& grid, Sampling sampling) const
    {
        if (sampling.stride == 1 || table.empty())
            return table;
        into.clear();
        for (std::int64_t r = grid.leastDistance(); r < grid.length; ++r)
            into.push_back(table[static_cast<std::size_t>(r * sampling.stride - m_map.grid.leastDistance())]);
        return into;
    }

    static std::span<const double> part(const MadeRows& made, CellRange range)
    {
        const std::size_t width = made.gathered.size();
        return std::span(made.rows).subspan(static_cast<std::size_t>(range.first - made.range.first) * width,
                                            static_cast<std::size_t>(range.end - range.first) * width);
    }

    static RowsIdentity identityOf(const MadeRows& made, CellRange range)
    {
        return {made.id, range.first - made.range.first};
    }

    /// What one configuration leaves out, the others leave out too.
    static void join(const MadeRows& made, CellRange range, std::vector<std::uint8_t>& dead)
    {
        if (made.dead.empty())
            return;
        dead.resize(static_cast<std::size_t>(range.end - range.first));
        for (std::size_t i = 0; i < dead.size(); ++i)
            dead[i] |= made.dead[static_cast<std::size_t>(range.first - made.range.first) + i];
    }

    /// Rows that were made before and hold `range`, or null.
    std::shared_ptr<const MadeRows> madeRows(const Side& side, CellRange range, Sampling sampling,
                                             bool isQuery) const
    {
        for (const auto& made : m_layers.rows)
            if (made->isQuery == isQuery && made->sampling == sampling && made->range.first <= range.first &&
                range.end <= made->range.end && made->gathered == side.channels.gathered &&
                made->source.makesSameRows(side.source))
                return made;
        return nullptr;
    }

    Result<void> takeRows(Side& side, CellRange range, Sampling sampling, bool isQuery)
    {
        std::shared_ptr<const MadeRows>& into = isQuery ? side.queries : side.keys;
        into = madeRows(side, range, sampling, isQuery);
        if (into) { // the last ones are kept longest
            const auto found = std::find(m_layers.rows.begin(), m_layers.rows.end(), into);
            std::rotate(found, found + 1, m_layers.rows.end());
            return {};
        }
        static std::atomic<std::uint64_t> lastId = 0;
        auto made = std::make_shared<MadeRows>();
        made->id = ++lastId;
        made->source = side.source;
        made->gathered = side.channels.gathered;
        made->sampling = sampling;
        made->isQuery = isQuery;
        made->range = range;
        if (const auto done = makeRows(*made); !done)
            return done;
        m_job.computed.contentRows += range.end - range.first;
        into = made;
        m_layers.rows.push_back(std::move(made));
        return {};
    }

    /// Rows of the content at the sampled positions, only the channels that count; those with numbers that
    /// are not finite, or whose products may not be, become zeros and are marked.
    Result<void> makeRows(MadeRows& made)
    {
        const std::size_t width = made.gathered.size();
        const auto headDim = static_cast<std::size_t>(made.source.headDim());
        const auto count = static_cast<std::size_t>(made.range.end - made.range.first);
        made.rows.resize(count * width);
        const bool isAsMade = made.sampling.stride == 1 && width == headDim;
        std::vector<double> one(headDim);
        const auto make = [&](std::int64_t first, std::span<double> into) {
            made.isQuery ? made.source.queries(first, into) : made.source.keys(first, into);
        };
        for (std::size_t start = 0; start < count; start += kRowsAtATime) {
            if (const auto going = stopped(); !going)
                return going;
            const std::size_t end = std::min(count, start + kRowsAtATime);
            if (isAsMade) {
                make(made.range.first + static_cast<std::int64_t>(start),
                     std::span(made.rows).subspan(start * width, (end - start) * width));
                continue;
            }
            for (std::size_t row = start; row < end; ++row) {
                make(made.sampling.position(made.range.first + static_cast<std::int64_t>(row)), one);
                for (std::size_t at = 0; at < width; ++at)
                    made.rows[row * width + at] = one[static_cast<std::size_t>(made.gathered[at])];
            }
        }
        if (!m_options.tensors || m_options.content != Content::File ||
            (m_options.tensors->notFinite == 0 && m_options.tensors->greatest <= kGreatestInProducts))
            return {};
        for (std::size_t row = 0; row < count; ++row) {
            const std::span values = std::span(made.rows).subspan(row * width, width);
            if (std::all_of(values.begin(), values.end(),
                            [](double value) { return std::fabs(value) <= kGreatestInProducts; }))
                continue;
            made.dead.resize(count);
            made.dead[row] = 1;
            std::fill(values.begin(), values.end(), 0.0);
        }
        return {};
    }

    ScoreMapOp operation(const ScoreGrid& grid, CellRange keys, Sampling sampling) const
    {
        ScoreMapOp op;
        op.grid = grid;
        op.stage = m_isSoftmax ? ScoreStage::Softmax : ScoreStage::Raw;
        op.terms = m_terms;
        op.deadQueries = m_deadQueries;
        op.deadKeys = m_deadKeys;
        op.firstKey = keys.first;
        op.stride = sampling.stride;
        op.offset = sampling.offset;
        return op;
    }

    CellRange keysFor(const ScoreGrid& grid) const
    {
        if (!m_isSoftmax)
            return grid.columns();
        return {0, grid.isCausal ? grid.rows().end : grid.length};
    }

    /// The cells of the whole view at every `stride`-th query and key, or nothing where they are too few.
    std::optional<ScoreGrid> sampledGrid(std::int64_t stride, Sampling& sampling) const
    {
        sampling = {stride, stride / 2};
        ScoreGrid grid = m_map.grid;
        const auto index = [&](std::int64_t position) { // of the first sample not before it
            return std::max<std::int64_t>(0, (position - sampling.offset + stride - 1) / stride);
        };
        grid.length = index(m_map.grid.length);
        grid.block = 1;
        grid.window = (m_map.grid.window + stride - 1) / stride;
        grid.firstRowBlock = index(m_map.grid.rows().first);
        grid.rowBlocks = index(m_map.grid.rows().end) - grid.firstRowBlock;
        grid.firstColumnBlock = index(m_map.grid.columns().first);
        grid.columnBlocks = index(m_map.grid.columns().end) - grid.firstColumnBlock;
        if (grid.rowBlocks < 1 || grid.columnBlocks < 1)
            return std::nullopt;
        return grid;
    }

    std::int64_t strideFor(std::int64_t cells) const
    {
        const CellRange rows = m_map.grid.rows(), columns = m_map.grid.columns();
        return (std::max(rows.end - rows.first, columns.end - columns.first) + cells - 1) / cells;
    }

    /// How far cells reach before pooling, so that what averages out is grey, and colours stay when one
    /// zooms.
    Result<void> findReach()
    {
        if (m_isFixed) {
            const CellRange rows = m_map.grid.rows();
            double steepest = 0.0; // of τ
            for (const Side& side : m_sides)
                for (std::int64_t m = rows.first; m < rows.end && !side.tau; ++m)
                    steepest =
                        std::max(steepest, temperatureOfQuery(side.result->shown.config, m).value_or(1.0));
            const auto count =
                static_cast<std::size_t>(m_map.grid.greatestDistance() - m_map.grid.leastDistance()) + 1;
            std::vector<double> cells(count);
            const auto add = [&](double factor, const std::vector<double>& table) {
                for (std::size_t r = 0; r < count; ++r)
                    cells[r] += factor * table[r];
            };
            for (const Side& side : m_sides) {
                if (wantsWith())
                    add(side.weight * side.scale, side.table->values);
                if (wantsWithout())
                    add((wantsWith() ? -side.weight : side.weight) * side.scale, side.without);
            }
            m_map.reach = greatestMagnitude(cells) * std::max(1.0, steepest);
            return {};
        }
        Sampling sampling;
        const std::optional<ScoreGrid> grid = sampledGrid(strideFor(kRangeCells), sampling);
        if (!grid)
            return {};
        if (const auto done = makeTerms(*grid, keysFor(*grid), sampling); !done)
            return done;
        ScoreMapOp op = operation(*grid, keysFor(*grid), sampling);
        std::vector<double> cells(static_cast<std::size_t>(grid->rowBlocks * grid->columnBlocks));
        op.mean = cells;
        op.path = fastestPath(op);
        if (const auto done = runOp(op); !done)
            return done;
        for (const double cell : cells)
            if (std::isfinite(cell))
                m_map.reach = std::max(m_map.reach, std::fabs(cell));
        return {};
    }

    /// A guess at the whole map's time; above it a request for a preview is given one.
    std::int64_t previewStride() const
    {
        if (!m_job.request.isCoarse)
            return 1;
        const ScoreGrid& grid = m_map.grid;
        const auto rows = static_cast<double>(grid.rows().end - grid.rows().first);
        const auto keys = static_cast<double>(keysFor(grid).end - keysFor(grid).first);
        const double terms =
            static_cast<double>(m_sides.size()) * (wantsWith() && wantsWithout() ? 2.0 : 1.0);
        const auto width = static_cast<double>(m_sides.front().channels.gathered.size());
        const bool hasTau = std::any_of(m_sides.begin(), m_sides.end(), [](const Side& s) { return !s.tau; });
        const bool wantsExtremes = m_wantsLeast || m_wantsGreatest;
        double nanoseconds = 0.0;
        for (const Side& side : m_sides)
            if (!m_isFixed &&
                !(madeRows(side, grid.rows(), {}, true) && madeRows(side, keysFor(grid), {}, false)))
                nanoseconds += (rows + keys) * width * 60.0;
        const bool isProduct = !m_isFixed && !m_isSoftmax && !wantsExtremes && asksForDoubleOrAuto();
        const bool isTable = m_isFixed && !hasTau && (!m_isSoftmax || terms == 1.0 || !wantsExtremes);
        const double cells = rows * keys * (grid.isCausal ? 0.5 : 1.0) * terms;
        if (isTable)
            nanoseconds += m_isSoftmax ? 3.0 * cells / static_cast<double>(grid.block) : 0.0;
        else if (isProduct)
            nanoseconds += (rows + keys) * width * 4.0;
        else
            nanoseconds += cells * ((m_isFixed ? 1.0 : 0.02 * width) + (m_isSoftmax ? 2.0 : 0.5));
        return nanoseconds * 1e-6 > kPreviewMilliseconds ? strideFor(kPreviewCells) : 1;
    }

    Result<void> runSampled(std::int64_t stride)
    {
        Sampling sampling;
        const std::optional<ScoreGrid> grid = sampledGrid(stride, sampling);
        if (!grid)
            return runWhole();
        m_map.stride = stride;
        if (const auto done = makeTerms(*grid, keysFor(*grid), sampling); !done)
            return done;
        ScoreMapOp op = operation(*grid, keysFor(*grid), sampling);
        if (const auto done = runMap(op); !done)
            return done;
        if (!m_isSoftmax)
            return {};
        // A row that holds every stride-th key has about stride-th of the sum.
        double weights = 0.0;
        for (const ScoreTerm& term : m_terms)
            weights += term.weight;
        for (double& value : *m_mean) // what the map shows, too: samples are not pooled
            value /= static_cast<double>(stride);
        for (double& value : m_map.rowValue)
            value += weights * std::log(static_cast<double>(stride));
        return {};
    }

    Result<void> runWhole()
    {
        const CellRange keys = keysFor(m_map.grid);
        if (const auto done = makeTerms(m_map.grid, keys, {}); !done)
            return done;
        return runMap(operation(m_map.grid, keys, {}));
    }

    /// What a map in tiles is computed in. "auto" is double where single cells are read or few are computed,
    /// and where maps are subtracted, which leaves what the rounding spoils.
    ScorePrecision precisionOf(const ScoreGrid& grid) const
    {
        const std::string_view asked = m_options.settings.text("score_precision");
        if (!areProductsFloats())
            return ScorePrecision::Double;
        if (asked == "single")
            return ScorePrecision::Single;
        if (asked == "tf32")
            return ScorePrecision::Tf32;
        if (asked == "bf16")
            return ScorePrecision::Bf16;
        constexpr std::int64_t kManyCells = 1024 * 1024;
        const CellRange rows = grid.rows(), keys = keysFor(grid);
        const bool areMany = (rows.end - rows.first) * (keys.end - keys.first) >= kManyCells;
        // Damping takes floats out of the range in which they are fast.
        const bool isDamped = std::any_of(m_terms.begin(), m_terms.end(),
                                          [](const ScoreTerm& term) { return !term.dampingRate.empty(); });
        return asked == "auto" && areMany && grid.block > 1 && m_terms.size() == 1 && !isDamped
                   ? ScorePrecision::Single
                   : ScorePrecision::Double;
    }

    /// Whether floats hold the products of the content's numbers: neither too large nor, all of them, too
    /// small.
    bool areProductsFloats() const
    {
        return m_options.content != Content::File || !m_options.tensors ||
               !(m_options.tensors->greatest > 1e15 ||
                 (m_options.tensors->greatest > 0.0 && m_options.tensors->greatest < 1e-15));
    }

    bool asksForDoubleOrAuto() const
    {
        return m_options.settings.is("score_precision", "auto") ||
               m_options.settings.is("score_precision", "double");
    }

    Result<void> runMap(ScoreMapOp op)
    {
        const ScoreGrid& grid = op.grid;
        const Sampling sampling{op.stride, op.offset};
        m_map.rows = grid.rowBlocks;
        m_map.columns = grid.columnBlocks;
        const CellRange rows = grid.rows();
        const auto blocks = static_cast<std::size_t>(grid.rowBlocks * grid.columnBlocks);
        m_mean = std::make_shared<std::vector<double>>(blocks);
        m_count.resize(blocks);
        m_map.rowValue.resize(static_cast<std::size_t>(rows.end - rows.first));
        const bool wantsLeast = m_wantsLeast && op.stride == 1,
                   wantsGreatest = m_wantsGreatest && op.stride == 1;
        std::vector<double> extremes(wantsLeast || wantsGreatest ? blocks : 0);
        op.mean = *m_mean;
        op.least = wantsLeast ? std::span<double>(extremes) : std::span<double>();
        op.greatest = wantsGreatest ? std::span<double>(extremes) : std::span<double>();
        op.count = m_count;
        op.rowValue = m_map.rowValue;
        op.precision = m_map.precision = precisionOf(grid);
        // Who asks for rounded rows gets them, cell by cell; a curve over the distance has none.
        m_map.isDoubleInstead = !asksForDoubleOrAuto() && !areProductsFloats();
        const bool areRowsRounded = !m_isFixed && !asksForDoubleOrAuto() && !m_map.isDoubleInstead;
        op.path = m_map.path = areRowsRounded ? ScorePath::Tiles : fastestPath(op);
        if (m_job.progress)
            op.progress = [this](double share) { m_job.progress(m_from + m_share * share); };
        if (const auto done = runOp(op); !done)
            return done;
        ++m_job.computed.maps;
        m_map.values = extremes.empty() ? Values(m_mean) : makeValues(std::move(extremes));
        for (std::int64_t m = rows.first; m < rows.end; ++m)
            m_map.queryPositions.push_back(static_cast<double>(sampling.position(m)));
        for (std::int64_t column = 0; column < grid.columnBlocks; ++column) {
            const CellRange keys = grid.columnsOf(column);
            m_map.keyPositions.push_back(
                0.5 * static_cast<double>(sampling.position(keys.first) + sampling.position(keys.end - 1)));
        }
        m_map.deadQueries = std::count(m_deadQueries.begin(), m_deadQueries.end(), 1);
        m_map.deadKeys = std::count(m_deadKeys.begin(), m_deadKeys.end(), 1);
        return {};
    }

    void poolMarginals()
    {
        const auto columns = static_cast<std::size_t>(m_map.columns);
        std::vector<double> sums(columns), counts(columns);
        for (std::size_t first = 0; first < m_mean->size(); first += columns) { // as they lie in memory
            const double* means = m_mean->data() + first;
            const std::int64_t* visible = m_count.data() + first;
            for (std::size_t column = 0; column < columns; ++column) {
                const auto count = static_cast<double>(visible[column]);
                sums[column] += count > 0.0 ? means[column] * count : 0.0;
                counts[column] += count;
            }
        }
        m_map.columnMean.resize(columns);
        for (std::size_t column = 0; column < columns; ++column)
            m_map.columnMean[column] = counts[column] > 0.0 ? sums[column] / counts[column] : kNaN;
    }

    FigureJob& m_job;
    MadeLayers& m_layers;
    const FigureOptions& m_options;
    double m_from, m_share; ///< of the progress of the figure
    bool m_isSoftmax;
    bool m_isFixed = false, m_isCausal = false;
    bool m_wantsLeast = false, m_wantsGreatest = false;
    std::int64_t m_rowsAvailable = std::numeric_limits<std::int64_t>::max();
    std::vector<Side> m_sides;
    std::vector<ScoreTerm> m_terms;
    std::vector<std::uint8_t> m_deadQueries, m_deadKeys;
    std::shared_ptr<std::vector<double>> m_mean; ///< of the blocks in view
    std::vector<std::int64_t> m_count;           ///< their visible cells
    ScoreMap m_map;
};

} // namespace

/// Score maps; see score_map.h for what is computed on which path.
Result<std::shared_ptr<const FigureData>> computeScoreMaps(FigureJob& job)
{
    auto data = std::make_shared<ScoresData>();
    if (const auto* before = dynamic_cast<const ScoresData*>(job.previous))
        data->layers = before->layers;
    const FigureOptions& options = job.request.options;
    std::vector<const ConfigurationResult*> drawable;
    for (const ConfigurationResult& result : job.configurations)
        if (result.scores)
            drawable.push_back(&result);
    const bool isCompared = options.settings.is("compare", "A_minus_B") && drawable.size() > 1;
    const std::size_t count = isCompared ? 1 : drawable.size();
    const auto note = [&](Severity severity, const char* field, Message text) {
        Issue issue{severity, field, std::move(text)};
        if (std::find(data->notes.begin(), data->notes.end(), issue) == data->notes.end())
            data->notes.push_back(std::move(issue));
    };
    for (std::size_t i = 0; i < count; ++i) {
        MapJob map(job, data->layers, static_cast<double>(i) / static_cast<double>(count),
                   1.0 / static_cast<double>(count));
        auto added = map.add(*drawable[i], 1.0);
        if (added && isCompared)
            added = map.add(*drawable[1], -1.0);
        if (!added) {
            note(Severity::Error, "scores", added.error().message);
            continue;
        }
        Result<ScoreMap> done = map.run();
        if (!done && done.error().code == ErrorCode::BadInput) {
            note(Severity::Error, "scores", done.error().message);
            continue;
        }
        if (!done)
            return done.error();
        data->isCoarse = data->isCoarse || done->stride > 1;
        if (done->deadQueries > 0 || done->deadKeys > 0)
            note(Severity::Warning, "tensors",
                 {"{queries} queries and {keys} keys in view hold numbers that are not finite or "
                  "beyond 1e150; their cells are masked",
                  {{"queries", groupedDigits(done->deadQueries)}, {"keys", groupedDigits(done->deadKeys)}}});
        if (done->isDoubleInstead)
            note(Severity::Warning, "score_precision",
                 {"{precision} cannot hold the products of numbers up to {greatest}; the map is computed in "
                  "double",
                  {{"precision", options.settings.is("score_precision", "single")
                                     ? "single precision"
                                     : std::string(options.settings.text("score_precision"))},
                   {"greatest", shortNumber(options.tensors->greatest, 3)}}});
        if (drawable[i]->shown.config.xpos && !options.settings.is("mask", "causal"))
            note(Severity::Warning, "mask",
                 "xPos grows without bound for keys after the query; its map stays causal");
        data->maps.push_back(std::move(*done));
    }
    dropOldLayers(data->layers);
    // The precision of the whole is that of all maps, not of the last.
    std::string precisions;
    for (const ScoreMap& map : data->maps) {
        const std::string own(
            scorePrecisionName(map.path == ScorePath::Tiles ? map.precision : ScorePrecision::Double));
        if (precisions.find(own) == std::string::npos)
            precisions += (precisions.empty() ? "" : " and ") + own;
    }
    if (!precisions.empty())
        job.provenance.precision = precisions;
    if (options.settings.is("compare", "A_minus_B") && drawable.size() < 2)
        note(Severity::Warning, "compare",
             "A − B needs two configurations that can be computed; one is shown");
    if (options.content == Content::File && options.tensors &&
        options.tensors->tokens < options.settings.whole("map_length"))
        note(Severity::Read, "map_length",
             {"the tensors hold {tokens} tokens; the map ends there",
              {{"tokens", groupedDigits(options.tensors->tokens)}}});
    return std::shared_ptr<const FigureData>(std::move(data));
}

bool scoresFollowPair(const FigureOptions& options)
{
    return options.settings.is("map_pairs", "picked");
}

namespace {

/// The least number not below `value` of two digits and no more, so that colours do not creep.
double roundedUp(double value)
{
    if (!(value > 0.0))
        return 1.0;
    const double decade = std::pow(10.0, std::floor(std::log10(value)));
    for (const double step : {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0})
        if (value <= step * decade * (1.0 + 1e-9))
            return step * decade;
    return 10.0 * decade;
}

Message unitLabel(const FigureOptions& options, bool isSigned)
{
    if (isSoftmax(options))
        return isSigned ? "difference of attention weights" : "attention weight";
    if (options.settings.is("score_unit", "logit"))
        return isSigned ? "difference of logits" : "logit";
    if (options.settings.is("score_unit", "raw"))
        return isSigned ? "difference of scores" : "score";
    return isSigned ? "difference of score / head_dim" : "score / head_dim";
}

const char* unitWord(const FigureOptions& options)
{
    if (isSoftmax(options))
        return "weight";
    return options.settings.is("score_unit", "logit") ? "logit"
           : options.settings.is("score_unit", "raw") ? "score"
                                                      : "score/head_dim";
}

/// Colours that all maps of the figure share.
struct ColourRange
{
    double lower = 0.0, upper = 1.0;
    bool isLogarithmic = false, isDiverging = false;
};

ColourRange colourRange(const FigureOptions& options, const ScoresData& data, bool isSigned)
{
    ColourRange range;
    range.isDiverging = isSigned || !isSoftmax(options);
    double greatest = 0.0, leastPositive = std::numeric_limits<double>::infinity();
    for (const ScoreMap& map : data.maps) {
        greatest = std::max(greatest, map.reach);
        if (isSoftmax(options))
            for (const double value : *map.values)
                if (std::isfinite(value)) {
                    greatest = std::max(greatest, std::fabs(value));
                    if (value > 0.0)
                        leastPositive = std::min(leastPositive, value);
                }
    }
    range.upper = roundedUp(greatest);
    range.lower = range.isDiverging ? -range.upper : 0.0;
    if (!range.isDiverging && options.settings.truth("log_colours") && std::isfinite(leastPositive)) {
        constexpr double kMostDecades = 1e-8;
        range.isLogarithmic = true;
        range.lower = std::min(std::max(leastPositive, range.upper * kMostDecades), range.upper * 0.1);
    }
    return range;
}

AxisSpec positionAxis(const char* label, AxisMeaning meaning, CellRange range)
{
    AxisSpec axis;
    axis.label = label;
    axis.kind = AxisKind::Tokens;
    // A cell is as wide as a token, with its position in the middle.
    axis.lower = static_cast<double>(range.first) - 0.5;
    axis.upper = static_cast<double>(range.end) - 0.5;
    axis.meaning = meaning;
    return axis;
}

MapSpec mapSpec(const FigureOptions& options, const ScoreMap& map, const ColourRange& colours, bool isSigned)
{
    MapSpec spec;
    spec.configuration = map.configuration;
    spec.name = isSoftmax(options) ? "attention" : "score";
    if (isSigned)
        spec.name += "_difference";
    spec.unit = unitWord(options);
    spec.rows = map.rows;
    spec.columns = map.columns;
    spec.block = map.stride > 1 ? map.stride : map.grid.block;
    spec.pooling =
        map.stride > 1 || map.grid.block == 1 ? "none" : std::string(options.settings.text("pooling"));
    spec.values = map.values;
    // Cells are drawn alike: the last one, which may hold fewer positions, reaches beyond the axis.
    const double side = static_cast<double>(spec.block);
    const double firstRow = map.stride > 1 ? std::floor(map.queryPositions.front() / side) * side
                                           : static_cast<double>(map.grid.rows().first);
    const double firstColumn = map.stride > 1 ? std::floor(map.keyPositions.front() / side) * side
                                              : static_cast<double>(map.grid.columns().first);
    spec.xLower = firstColumn - 0.5;
    spec.xUpper = firstColumn + side * static_cast<double>(map.columns) - 0.5;
    spec.yLower = firstRow - 0.5;
    spec.yUpper = firstRow + side * static_cast<double>(map.rows) - 0.5;
    spec.colours = colours.isDiverging ? ColourTable::Diverging : ColourTable::Viridis;
    spec.lower = colours.lower;
    spec.upper = colours.upper;
    spec.isLogarithmic = colours.isLogarithmic;
    spec.label = unitLabel(options, isSigned);
    return spec;
}

/// A curve beside the map; a range that holds it and moves in steps.
void addMarginal(PlotSpec& plot, const ScoreMap& map, const char* name, const char* unit,
                 const std::vector<double>& x, const std::vector<double>& y, const Message& quantity,
                 const std::string& letter)
{
    Series series;
    series.configuration = map.configuration;
    series.name = name;
    series.unit = unit;
    series.xUnit = "token";
    series.x = makeValues(x);
    series.y = makeValues(y);
    series.style = SeriesStyle::Line;
    series.label = letter;
    series.quantity = quantity;
    constexpr LinePattern kPatterns[] = {LinePattern::Solid, LinePattern::Dashed, LinePattern::Dotted,
                                         LinePattern::DashDot};
    series.pattern = kPatterns[plot.series.size() % 4];
    plot.series.push_back(std::move(series));
}

void fitRange(PlotSpec& plot)
{
    double lower = 0.0, upper = 0.0;
    for (const Series& series : plot.series)
        for (const double value : *series.y)
            if (std::isfinite(value)) {
                lower = std::min(lower, value);
                upper = std::max(upper, value);
            }
    plot.yAxis.upper = upper > 0.0 ? roundedUp(upper) : 0.0;
    plot.yAxis.lower = lower < 0.0 ? -roundedUp(-lower) : 0.0;
    if (plot.yAxis.lower == plot.yAxis.upper)
        plot.yAxis.upper = 1.0;
    if (plot.yAxis.lower < 0.0)
        plot.guides.push_back({false, 0.0, GuideRole::Zero, -1, {}});
}

void addSelection(PlotSpec& plot, const FigureOptions& options, bool isMap)
{
    if (!options.showsSelection)
        return;
    const auto add = [&](bool isVertical, std::int64_t position, const AxisSpec& axis) {
        const auto at = static_cast<double>(position);
        if (at > axis.lower && at < axis.upper)
            plot.guides.push_back({isVertical, at, GuideRole::Selection, -1, {}});
    };
    if (isMap) {
        add(true, options.n, plot.xAxis);
        add(false, options.m, plot.yAxis);
    } else {
        add(true, plot.xAxis.meaning == AxisMeaning::QueryPosition ? options.m : options.n, plot.xAxis);
    }
}

/// What was computed, in one line: a template put together of clauses, each a template itself.
const char* tilesClause(ScorePrecision precision)
{
    switch (precision) {
    case ScorePrecision::Double:
        return "all cells, in tiles";
    case ScorePrecision::Single:
        return "all cells, in tiles, in single precision";
    case ScorePrecision::Tf32:
        return "all cells, in tiles: what a model in TF32 sees";
    case ScorePrecision::Bf16:
        return "all cells, in tiles: what a model in bfloat16 sees";
    }
    return "";
}

Message captionOf(const FigureResults& results, const ScoreMap& map, bool isCompared)
{
    const FigureOptions& options = results.options;
    const FigureSettings& settings = options.settings;
    Message caption{"N = {length}", {{"length", groupedDigits(map.grid.length)}}};
    const auto add = [&](const char* clause, std::vector<std::pair<std::string, std::string>> values = {}) {
        caption.text += std::string(" · ") + clause;
        for (auto& value : values)
            caption.values.push_back(std::move(value));
    };
    if (isCompared)
        add("A − B");
    if (settings.is("encoding", "none"))
        add("without RoPE");
    else if (settings.is("encoding", "difference"))
        add("with minus without RoPE");
    if (settings.is("map_pairs", "picked"))
        add("pair {pair} only", {{"pair", std::to_string(options.pair)}});
    if (map.stride > 1)
        add(isSoftmax(options) ? "every {stride}th query and key, row sums from these"
                               : "every {stride}th query and key",
            {{"stride", groupedDigits(map.stride)}});
    else if (map.grid.block > 1)
        add("{pooling} of {block} × {block} cells",
            {{"pooling", std::string(settings.text("pooling"))}, {"block", groupedDigits(map.grid.block)}});
    else
        add("single cells");
    add(map.grid.isCausal ? "causal" : "no mask");
    if (map.grid.window > 0)
        add("window {window}", {{"window", groupedDigits(map.grid.window)}});
    switch (options.content) {
    case Content::Ones:
        add("q = k = 1 in every channel");
        break;
    case Content::Gaussian:
        add("q, k ~ N(0, 1), seed {seed}", {{"seed", std::to_string(options.seed)}});
        break;
    case Content::Same:
        add("k = q ~ N(0, 1), seed {seed}", {{"seed", std::to_string(options.seed)}});
        break;
    case Content::Correlation:
        add(settings.truth("correlation_per_position") ? "correlation {rho} at each position, seed {seed}"
                                                       : "correlation {rho}, seed {seed}",
            {{"rho", shortNumber(options.rho, 3)}, {"seed", std::to_string(options.seed)}});
        break;
    case Content::Needle:
        add("needle of logit {logit} at {position}, seed {seed}",
            {{"logit", shortNumber(settings.number("needle_logit"))},
             {"position", groupedDigits(settings.whole("needle_position"))},
             {"seed", std::to_string(options.seed)}});
        break;
    case Content::Clusters:
        add("q ~ N({meanQ}, {sigma}²), k ~ N({meanK}, {sigma}²), seed {seed}",
            {{"meanQ", shortNumber(settings.number("cluster_mean_q"))},
             {"meanK", shortNumber(settings.number("cluster_mean_k"))},
             {"sigma", shortNumber(settings.number("cluster_sigma"))},
             {"seed", std::to_string(options.seed)}});
        break;
    case Content::File:
        add("{tensors}", {{"tensors", options.tensors ? options.tensors->name : std::string()}});
        break;
    }
    if (map.stride == 1)
        add(map.path == ScorePath::Toeplitz ? "Toeplitz: from one curve over m − n"
            : map.path == ScorePath::Tiles  ? tilesClause(map.precision)
            : map.grid.block > 1            ? "pooled product: exact block means"
                                            : "product of q and k");
    return caption;
}

Message mapTitle(const FigureResults& results, const ScoreMap& map, bool isCompared)
{
    const auto name = [&](std::size_t at) {
        const FigureConfiguration& shown = results.configurations[at].shown;
        return shown.letter + " " + shown.config.name;
    };
    if (!isCompared)
        return {"{name}", {{"name", name(static_cast<std::size_t>(map.configuration))}}};
    std::vector<std::string> names;
    forEachDrawable(results, [&](int index, const ConfigurationResult&) {
        names.push_back(name(static_cast<std::size_t>(index)));
    });
    return {"{first} − {second}", {{"first", names.at(0)}, {"second", names.at(1)}}};
}

} // namespace

/// S(m,n) = Σ_i A_i²·Re(h_i e^{j(m-n)θ'_i}) over query and key positions, or the softmax of the logit τκS by
/// rows over the visible keys; pooled as score_map.h says.
FigureSpec buildScores(const FigureResults& results)
{
    FigureSpec figure;
    const FigureOptions& options = results.options;
    const auto* data = dataOf<ScoresData>(results, "scores");
    figure.title = isSoftmax(options) ? "Attention of each query on each key" : "Score of each query and key";
    figure.formula = isSoftmax(options) ? "softmaxₙ τ(m) κ Σ Aᵢ² Re(qᵢ k̄ᵢ exp j(m−n)θ′ᵢ)"
                     : options.settings.is("score_unit", "logit") ? "τ(m) κ Σ Aᵢ² Re(qᵢ k̄ᵢ exp j(m−n)θ′ᵢ)"
                     : options.settings.is("score_unit", "raw") ? "Σ Aᵢ² Re(qᵢ k̄ᵢ exp j(m−n)θ′ᵢ)"
                                                                : "Σ Aᵢ² Re(qᵢ k̄ᵢ exp j(m−n)θ′ᵢ) / dₕ";
    figure.source = isSoftmax(options)
                        ? "RoFormer, arXiv:2104.09864, equation 16; softmax: arXiv:1706.03762, equation 1"
                        : "RoFormer, arXiv:2104.09864, equation 16";
    if (!data || data->maps.empty()) {
        figure.failure =
            data && !data->notes.empty() ? data->notes.front().text : Message("The map was not computed");
        return figure;
    }
    figure.notes = data->notes;
    const std::string_view precision = options.settings.text("score_precision");
    if (precision != "auto" && precision != "double" &&
        std::any_of(data->maps.begin(), data->maps.end(),
                    [](const ScoreMap& map) { return map.path == ScorePath::Toeplitz; }))
        figure.notes.push_back(
            {Severity::Warning,
             "score_precision",
             {"{precision} has no effect on a map that one curve over m − n makes, in double",
              {{"precision", std::string(precision)}}}});
    std::size_t drawable = 0;
    forEachDrawable(results, [&](int, const ConfigurationResult&) { ++drawable; });
    const bool isCompared = options.settings.is("compare", "A_minus_B") && drawable > 1;
    const bool isSigned = isDifference(options, drawable);
    const ColourRange colours = colourRange(options, *data, isSigned);

    // One map: beside it, one below the other, the two curves. Several: two a row, the curves in the last
    // row.
    const std::size_t count = data->maps.size();
    std::size_t main = 0;
    for (std::size_t i = 0; i < count; ++i)
        if (data->maps[i].configuration == focusIndex(results))
            main = i;
    std::vector<PlotSpec> plots(count);
    for (std::size_t i = 0; i < count; ++i) {
        const ScoreMap& map = data->maps[i];
        PlotSpec& plot = plots[i];
        plot.row = static_cast<int>(i / 2);
        plot.column = static_cast<int>(i % 2);
        plot.rowSpan = count == 1 ? 2 : 1;
        if (count > 1 || isCompared)
            plot.plotTitle = mapTitle(results, map, isCompared);
        plot.xAxis = positionAxis("key position n", AxisMeaning::KeyPosition, map.grid.columns());
        plot.yAxis = positionAxis("query position m", AxisMeaning::QueryPosition, map.grid.rows());
        plot.yAxis.isReversed = true;
        plot.maps.push_back(mapSpec(options, map, colours, isSigned));
        addSelection(plot, options, true);
    }
    PlotSpec queries, keys;
    const int lastRow = static_cast<int>((count + 1) / 2);
    queries.row = count == 1 ? 0 : lastRow;
    queries.column = count == 1 ? 1 : 0;
    keys.row = count == 1 ? 1 : lastRow;
    keys.column = 1;
    for (const ScoreMap& map : data->maps) {
        const std::string letter = isCompared ? std::string() : letterIfSeveral(results, map.configuration);
        if (isSoftmax(options))
            addMarginal(queries, map, isSigned ? "entropy_difference" : "entropy", "nat", map.queryPositions,
                        map.rowValue, "entropy of the row", letter);
        else
            addMarginal(queries, map, "mean_over_keys", unitWord(options), map.queryPositions, map.rowValue,
                        "mean over the visible keys", letter);
        addMarginal(keys, map, isSoftmax(options) ? "attention_received" : "mean_over_queries",
                    unitWord(options), map.keyPositions, map.columnMean,
                    "mean over the queries that see the key", letter);
    }
    const ScoreMap& shown = data->maps[main];
    queries.plotTitle = isSoftmax(options) ? "Entropy of each query's row" : "Mean over keys, for each query";
    queries.xAxis = positionAxis("query position m", AxisMeaning::QueryPosition, shown.grid.rows());
    queries.yAxis.label = isSoftmax(options) ? Message("entropy (nats)") : unitLabel(options, isSigned);
    keys.plotTitle =
        isSoftmax(options) ? "Mean weight that each key gets" : "Mean over queries, for each key";
    keys.xAxis = positionAxis("key position n", AxisMeaning::KeyPosition, shown.grid.columns());
    keys.yAxis.label = unitLabel(options, isSigned);
    for (PlotSpec* plot : {&queries, &keys}) {
        fitRange(*plot);
        addSelection(*plot, options, false);
    }
    static_cast<PlotSpec&>(figure) = std::move(plots[main]);
    for (std::size_t i = 0; i < count; ++i)
        if (i != main)
            figure.more.push_back(std::move(plots[i]));
    figure.more.push_back(std::move(queries));
    figure.more.push_back(std::move(keys));
    if (count == 1) {
        figure.columnShares = {1.6, 1.0};
    } else {
        figure.rowShares.assign(static_cast<std::size_t>(lastRow), 2.0);
        figure.rowShares.push_back(1.0);
    }
    figure.caption = captionOf(results, shown, isCompared);
    figure.summary = {"{quantity} over query and key positions for {names}: {rows} by {columns} blocks of "
                      "{block} cells a side, "
                      "values from {lower} to {upper}.",
                      {{"quantity", toEnglish(unitLabel(options, isSigned))},
                       {"names", joinedNames(results)},
                       {"rows", groupedDigits(shown.rows)},
                       {"columns", groupedDigits(shown.columns)},
                       {"block", groupedDigits(shown.grid.block)},
                       {"lower", shortNumber(colours.lower, 3)},
                       {"upper", shortNumber(colours.upper, 3)}}};
    return figure;
}

} // namespace ropewalk
