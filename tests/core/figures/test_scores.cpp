// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/channel_map.h"
#include "core/content.h"
#include "core/temperature.h"
#include "core/write_figure.h"
#include "tests/support/build_figure.h"
#include "tests/support/compare.h"
#include "tests/support/random_config.h"

#include <QtTest>
#include <complex>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

RopeConfig plain(int headDim, double base = 1e4)
{
    RopeConfig config;
    config.name = "plain";
    config.headDim = config.rotaryDim = headDim;
    config.base = base;
    config.maxPositionEmbeddings = 4096;
    return config;
}

bool contains(const Message& message, const char* words)
{
    return toEnglish(message).find(words) != std::string::npos;
}

/// The cells of a map from the definitions, in long double.
struct Exact
{
    const FigureOptions& options;
    std::int64_t length;
    bool isCausal;

    bool is(const char* key, const char* value) const { return options.settings.is(key, value); }
    bool isVisible(std::int64_t m, std::int64_t n) const
    {
        const std::int64_t window = options.settings.whole("window");
        return (!isCausal || n <= m) && (window == 0 || m - n < window);
    }

    long double score(const RopeConfig& config, std::int64_t m, std::int64_t n, bool isTurned) const
    {
        using Complex = std::complex<long double>;
        const ContentRows rows = makeContent(ContentSource::make(options, config).value(), m, n);
        const ChannelMap channels = channelMap(config);
        const FrequencyTable table = frequencyTable(config);
        const std::vector<double> rates = dampingRates(config, table);
        long double sum = 0;
        for (int pair = 0; pair < channels.pairCount(); ++pair) {
            if (is("map_pairs", "picked") && pair != options.pair)
                continue;
            const auto a = static_cast<std::size_t>(channels.pair(pair).first);
            const auto b = static_cast<std::size_t>(channels.pair(pair).second);
            const Complex h =
                Complex(rows.query[a], rows.query[b]) * std::conj(Complex(rows.key[a], rows.key[b]));
            if (!isTurned || !table.turns(pair)) {
                sum += h.real();
                continue;
            }
            const auto distance = static_cast<long double>(m - n);
            const long double damping =
                rates.empty() ? 1.0L : std::exp(distance * rates[static_cast<std::size_t>(pair)]);
            sum += static_cast<long double>(table.attentionFactor) * table.attentionFactor * damping *
                   (h * std::polar(1.0L, distance * table.theta(pair))).real();
        }
        const bool isLogit = is("stage", "softmax") || is("score_unit", "logit");
        if (isLogit) {
            const double tau = isInAttentionFactor(config) ? 1.0 : temperatureOfQuery(config, m).value();
            return sum * tau * config.softmaxFactor / std::sqrt(static_cast<long double>(config.headDim));
        }
        return is("score_unit", "raw") ? sum : sum / config.headDim;
    }

    /// One row of cells of one configuration, with RoPE or without; hidden ones are NaN.
    std::vector<long double> row(const RopeConfig& config, std::int64_t m, bool isTurned) const
    {
        std::vector<long double> cells(static_cast<std::size_t>(length), std::nanl(""));
        long double greatest = -1e300L, sum = 0;
        for (std::int64_t n = 0; n < length; ++n)
            if (isVisible(m, n)) {
                cells[static_cast<std::size_t>(n)] = score(config, m, n, isTurned);
                greatest = std::max(greatest, cells[static_cast<std::size_t>(n)]);
            }
        if (is("stage", "softmax")) {
            for (long double& cell : cells)
                if (!std::isnan(cell))
                    sum += cell = std::exp(cell - greatest);
            for (long double& cell : cells)
                cell /= sum;
        }
        return cells;
    }

    std::vector<long double> row(const std::vector<RopeConfig>& configs, std::int64_t m) const
    {
        std::vector<long double> cells(static_cast<std::size_t>(length), 0.0L);
        for (std::size_t side = 0; side < configs.size(); ++side)
            for (const bool isTurned : {true, false}) {
                if (is("encoding", isTurned ? "none" : "rope"))
                    continue;
                const long double sign =
                    (side == 0 ? 1 : -1) * (is("encoding", "difference") && !isTurned ? -1 : 1);
                const std::vector<long double> part = row(configs[side], m, isTurned);
                for (std::size_t n = 0; n < cells.size(); ++n)
                    cells[n] += sign * part[n];
            }
        return cells;
    }

    std::vector<double> pooled(const std::vector<RopeConfig>& configs, std::int64_t block) const
    {
        const std::int64_t blocks = (length + block - 1) / block;
        std::vector<double> values;
        std::vector<std::vector<long double>> rows;
        for (std::int64_t m = 0; m < length; ++m)
            rows.push_back(row(configs, m));
        for (std::int64_t i = 0; i < blocks; ++i)
            for (std::int64_t j = 0; j < blocks; ++j) {
                long double sum = 0, least = 1e300L, greatest = -1e300L;
                int count = 0;
                for (std::int64_t m = i * block; m < std::min((i + 1) * block, length); ++m)
                    for (std::int64_t n = j * block; n < std::min((j + 1) * block, length); ++n) {
                        const long double cell =
                            rows[static_cast<std::size_t>(m)][static_cast<std::size_t>(n)];
                        if (std::isnan(cell))
                            continue;
                        sum += cell;
                        ++count;
                        least = std::min(least, cell);
                        greatest = std::max(greatest, cell);
                    }
                const long double value = is("pooling", "min")   ? least
                                          : is("pooling", "max") ? greatest
                                                                 : sum / count;
                values.push_back(count == 0 ? std::nan("") : static_cast<double>(value));
            }
        return values;
    }
};

QString mapDifference(const MapSpec& map, const std::vector<double>& expected, double tolerance)
{
    if (map.values->size() != expected.size())
        return QStringLiteral("%1 cells, expected %2").arg(map.values->size()).arg(expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double value = (*map.values)[i];
        if (std::isnan(value) != std::isnan(expected[i]) ||
            !(std::isnan(value) || std::fabs(value - expected[i]) <= tolerance))
            return QStringLiteral("cell %1: %2, expected %3")
                .arg(i)
                .arg(value, 0, 'g', 17)
                .arg(expected[i], 0, 'g', 17);
    }
    return {};
}

} // namespace

class TestScoresFigure : public QObject
{
    Q_OBJECT
private slots:
    void againstTheDefinition();
    void differenceOfTwo();
    void defaults();
    void zoomToCells();
    void onlyTheFastPair();
    void gapsOfAFile();
    void preview();
    void whatItFollows();
    void whatAChangeComputes();
    void rowsHaveIdentities();
    void whatTheTilesAreComputedIn();
    void roundedRowsOfMeans();
    void beyondTheRange();
    void marginals();
    void failures();
};

/// Random settings over all contents, stages, encodings, masks, windows, units, poolings and a few
/// configurations against loops over the definition.
void TestScoresFigure::againstTheDefinition()
{
    std::mt19937 random(11);
    const auto whole = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
    const auto oneOf = [&](std::initializer_list<const char*> words) {
        return std::string(*(words.begin() + whole(0, static_cast<int>(words.size()) - 1)));
    };
    for (int round = 0; round < 220; ++round) {
        RopeConfig config = whole(0, 2) == 0 ? plain(8) : randomConfig(random);
        while (config.headDim > 32)
            config = randomConfig(random);
        config.name = "random";
        config.softmaxFactor = whole(0, 1) ? 1.0 : 1.4;
        if (whole(0, 3) == 0)
            config.xpos = XPos{};
        if (whole(0, 2) == 0) {
            config.temperature.rule = TemperatureRule::RopeId;
            config.temperature.referenceLength = 8;
            config.temperature.isPerQuery = whole(0, 1) == 1;
        }
        FigureAsk ask{"scores", {config}};
        FigureOptions& options = ask.options;
        options.content = contents()[static_cast<std::size_t>(whole(0, 5))];
        options.rho = 0.3;
        options.pair = whole(0, config.headDim / 2 - 1);
        const int length = whole(2, 48);
        ask.settings = {{"map_length", std::to_string(length)},
                        {"map_pixels", "16"},
                        {"needle_position", "3"},
                        {"cluster_sigma", "0.4"},
                        {"correlation_per_position", oneOf({"true", "false"})},
                        {"stage", oneOf({"raw", "softmax"})},
                        {"encoding", oneOf({"rope", "none", "difference"})},
                        {"mask", oneOf({"causal", "causal", "none"})},
                        {"window", oneOf({"0", "0", "5"})},
                        {"pooling", oneOf({"mean", "min", "max"})},
                        {"score_unit", oneOf({"head_dim", "raw", "logit"})},
                        {"map_pairs", oneOf({"all", "all", "picked"})}};
        for (const auto& [key, value] : ask.settings)
            QVERIFY(options.settings.set(key, value).hasValue());
        const FigureSpec figure = figureFor(ask);
        QCOMPARE(brokenPromise(figure), std::string());
        QVERIFY2(figure.failure.isEmpty(), toEnglish(figure.failure).c_str());
        const MapSpec& map = figure.maps.front();
        QCOMPARE(map.block, std::int64_t{(length + 15) / 16});
        const Exact exact{options, length, options.settings.is("mask", "causal") || config.xpos.has_value()};
        const QString wrong = mapDifference(map, exact.pooled({config}, map.block), 1e-11 * config.headDim);
        QVERIFY2(wrong.isEmpty(), qPrintable(QStringLiteral("round %1: ").arg(round) + wrong + ' ' +
                                             QString::fromStdString(toEnglish(figure.caption))));
    }
}

void TestScoresFigure::differenceOfTwo()
{
    const std::vector<RopeConfig> two{plain(16), plain(16, 50.0)};
    for (const char* stage : {"raw", "softmax"})
        for (const char* pooling : {"mean", "max", "min"})
            for (const Content content : {Content::Ones, Content::Gaussian}) {
                FigureAsk ask{"scores", two};
                ask.options.content = content;
                ask.settings = {{"map_length", "41"},
                                {"map_pixels", "16"},
                                {"stage", stage},
                                {"pooling", pooling},
                                {"compare", "A_minus_B"}};
                for (const auto& [key, value] : ask.settings)
                    QVERIFY(ask.options.settings.set(key, value).hasValue());
                const FigureSpec figure = figureFor(ask);
                QCOMPARE(brokenPromise(figure), std::string());
                QVERIFY(contains(figure.caption, "A − B"));
                const MapSpec& map = figure.maps.front();
                QCOMPARE(map.colours, ColourTable::Diverging);
                QCOMPARE(map.lower, -map.upper);
                const Exact exact{ask.options, 41, true};
                QCOMPARE(mapDifference(map, exact.pooled(two, 3), 1e-12), QString());
            }
    // With one configuration there is nothing to subtract, and the figure says so.
    const FigureSpec one =
        figureFor({"scores", {plain(16)}, {{"compare", "A_minus_B"}, {"map_length", "20"}}});
    QVERIFY(std::any_of(one.notes.begin(), one.notes.end(),
                        [](const Issue& issue) { return issue.field == "compare"; }));
}

void TestScoresFigure::defaults()
{
    const FigureSpec figure = figureFor({"scores", {plain(128, 5e5), plain(64), plain(96)}});
    QCOMPARE(brokenPromise(figure), std::string());
    QCOMPARE(figure.maps.front().rows, std::int64_t{512});
    QCOMPARE(figure.maps.front().block, std::int64_t{4});
    QCOMPARE(figure.more.size(), std::size_t{4}); // two more maps, two plots of curves
    QVERIFY(contains(figure.caption, "mean of 4 × 4 cells") && contains(figure.caption, "Toeplitz"));
    QVERIFY(figure.yAxis.isReversed && figure.yAxis.meaning == AxisMeaning::QueryPosition);
    QCOMPARE(figure.xAxis.meaning, AxisMeaning::KeyPosition);
    // The last block of 2050 positions holds two of them: it reaches beyond the axis, not the axis over it.
    const FigureSpec odd = figureFor({"scores", {plain(16)}, {{"map_length", "2050"}}});
    QCOMPARE(odd.maps.front().rows, std::int64_t{410});
    QCOMPARE(odd.xAxis.upper, 2049.5);
    const FigureSpec softmax = figureFor({"scores", {plain(16)}, {{"stage", "softmax"}}});
    QCOMPARE(softmax.maps.front().colours, ColourTable::Viridis);
    QVERIFY(softmax.maps.front().isLogarithmic && softmax.maps.front().lower > 0.0);
    for (const auto& [content, path] :
         {std::pair{Content::Gaussian, "pooled product"}, std::pair{Content::Same, "Toeplitz"}}) {
        FigureAsk ask{"scores", {plain(16)}, {{"map_length", "600"}}};
        ask.options.content = content;
        QVERIFY(contains(figureFor(ask).caption, path));
        ask.settings.emplace_back("pooling", "max");
        QVERIFY(contains(figureFor(ask).caption, content == Content::Gaussian ? "in tiles" : path));
    }
}

/// A view of a few cells at the far end: single cells, each the score that the pairs add up to.
void TestScoresFigure::zoomToCells()
{
    for (const Content content : {Content::Ones, Content::Gaussian}) {
        FigureAsk ask{"scores",
                      {plain(64)},
                      {{"map_length", "131072"},
                       {"first_row", "131000"},
                       {"last_row", "131031"},
                       {"first_column", "100000"},
                       {"last_column", "100015"}}};
        ask.options.content = content;
        ask.options.m = 131010;
        ask.options.n = 100007;
        const FigureSpec figure = figureFor(ask);
        const MapSpec& map = figure.maps.front();
        QCOMPARE(map.block, std::int64_t{1});
        QCOMPARE(map.pooling, std::string("none"));
        QCOMPARE(map.rows * map.columns, std::int64_t{32 * 16});
        QVERIFY(contains(figure.caption, "single cells"));
        const double cell = (*map.values)[10 * 16 + 7];
        ask.id = "pairs";
        const Values sum = findSeries(figureFor(ask), "cumulated")->y;
        QCOMPARE(absoluteDifference(cell, sum->back(), 1e-10), QString());
        // Both are marked.
        QCOMPARE(std::count_if(figure.guides.begin(), figure.guides.end(),
                               [](const GuideLine& guide) { return guide.role == GuideRole::Selection; }),
                 std::ptrdiff_t{2});
    }
}

/// Pooled by the mean the fastest pair is grey, in numbers and in colours.
void TestScoresFigure::onlyTheFastPair()
{
    FigureAsk ask{"scores", {plain(128)}, {{"map_length", "4096"}, {"map_pairs", "picked"}}};
    ask.options.pair = 0;
    const FigureSpec figure = figureFor(ask);
    const MapSpec& map = figure.maps.front();
    QVERIFY(contains(figure.caption, "pair 0 only"));
    QVERIFY(map.upper >= 2.0 / 128.0); // the colours reach as far as the cells do
    for (std::int64_t row = 0; row < 512; ++row)
        for (std::int64_t column = 0; column < row; ++column)
            QVERIFY(std::fabs((*map.values)[static_cast<std::size_t>(row * 512 + column)]) <=
                    0.04 * map.upper);
}

void TestScoresFigure::gapsOfAFile()
{
    auto tensors = std::make_shared<HeadTensors>();
    tensors->name = "a head";
    tensors->headDim = 4;
    tensors->tokens = 20;
    std::mt19937 random(2);
    tensors->query = randomRow(random, 80);
    tensors->key = randomRow(random, 80);
    FigureAsk ask{"scores", {plain(4)}, {{"map_pixels", "16"}}};
    ask.options.content = Content::File;
    ask.options.tensors = tensors;
    ask.options.m = ask.options.n = 1;
    const FigureSpec whole = figureFor(ask);
    QCOMPARE(whole.maps.front().rows, std::int64_t{10});
    QVERIFY(contains(whole.caption, "N = 20") && contains(whole.caption, "a head"));
    for (const char* stage : {"raw", "softmax"})
        for (const char* pooling : {"mean", "max"}) {
            auto broken = std::make_shared<HeadTensors>(*tensors);
            broken->query[5 * 4 + 1] = std::nan("");
            broken->key[3 * 4] = std::numeric_limits<double>::infinity();
            broken->notFinite = 2;
            ask.options.tensors = broken;
            ask.settings = {{"map_pixels", "32"}, {"stage", stage}, {"pooling", pooling}};
            const FigureSpec figure = figureFor(ask);
            const std::vector<double>& cells = *figure.maps.front().values;
            double row = 0.0;
            for (std::size_t m = 0; m < 20; ++m)
                for (std::size_t n = 0; n < 20; ++n) {
                    QCOMPARE(std::isnan(cells[m * 20 + n]), n > m || m == 5 || n == 3);
                    if (m == 10 && n <= 10 && n != 3)
                        row += cells[m * 20 + n];
                }
            if (std::string(stage) == "softmax")
                QCOMPARE(absoluteDifference(row, 1.0, 1e-14), QString());
            const auto note = std::find_if(figure.notes.begin(), figure.notes.end(),
                                           [](const Issue& issue) { return issue.field == "tensors"; });
            QVERIFY(note != figure.notes.end());
            QVERIFY(contains(note->text, "1 queries and 1 keys"));
        }
}

/// A preview samples and says so; its cells are cells of the map.
void TestScoresFigure::preview()
{
    FigureAsk ask{"scores", {plain(64)}, {{"map_length", "4096"}, {"pooling", "max"}}};
    ask.options.content = Content::Gaussian;
    ask.isCoarse = true;
    const FigureSpec figure = figureFor(ask);
    QVERIFY(figure.isCoarse);
    QVERIFY(contains(figure.caption, "preview · ") && contains(figure.caption, "every 16th"));
    const MapSpec& map = figure.maps.front();
    QCOMPARE(map.rows, std::int64_t{256});
    ask.isCoarse = false;
    ask.settings = {{"map_length", "4096"},
                    {"first_row", "3208"},
                    {"last_row", "3208"},
                    {"first_column", "1608"},
                    {"last_column", "1608"}};
    QCOMPARE(absoluteDifference((*map.values)[200 * 256 + 100], figureFor(ask).maps.front().values->front(),
                                1e-12),
             QString());
    ask.isCoarse = true; // what is fast is right at once
    QVERIFY(!figureFor(ask).isCoarse);
    ask = {"scores", {plain(64)}, {{"map_length", "131072"}}};
    ask.isCoarse = true;
    QVERIFY(!figureFor(ask).isCoarse);
}

/// The picked pair changes the maps only where they show it; m and n never do.
void TestScoresFigure::whatItFollows()
{
    std::vector<std::unique_ptr<ComputeBackend>> backends;
    backends.push_back(makeCpuBackend());
    Engine engine(std::move(backends));
    for (const char* pairs : {"all", "picked"}) {
        ComputeRequest request;
        request.configurations = {{plain(16), "A", 0}};
        request.figures = {"scores"};
        request.wantsDecay = false;
        request.options.pair = 1;
        QVERIFY(request.options.settings.set("map_pairs", pairs).hasValue());
        const FigureResults before = computeFigureResults(engine, request).value();
        request.options.m = 99;
        request.options.n = 3;
        const FigureResults moved = computeFigureResults(engine, request, &before).value();
        QCOMPARE(moved.data.at("scores").get(), before.data.at("scores").get());
        request.options.pair = 2;
        const FigureResults picked = computeFigureResults(engine, request, &before).value();
        QCOMPARE(picked.data.at("scores") == before.data.at("scores"), std::string(pairs) == "all");
    }
}

/// A slider computes the layers that depend on it and no others.
void TestScoresFigure::whatAChangeComputes()
{
    std::vector<std::unique_ptr<ComputeBackend>> backends;
    backends.push_back(makeCpuBackend());
    Engine engine(std::move(backends));
    ComputeRequest request;
    request.configurations = {{plain(16), "A", 0}};
    request.figures = {"scores"};
    request.wantsDecay = false;
    request.options.pair = 1;
    const auto set = [&](const char* key, const char* value) {
        QVERIFY(request.options.settings.set(key, value).hasValue());
    };
    std::optional<FigureResults> last;
    const auto computed = [&] {
        last = computeFigureResults(engine, request, last ? &*last : nullptr).value();
        return last->computed;
    };
    const auto layers = [](std::int64_t rows, int tables, int maps) {
        return ComputedLayers{.contentRows = rows, .distanceTables = tables, .maps = maps, .decays = 0};
    };
    // One q and one k: the table over the distance is all there is.
    set("map_length", "300");
    QCOMPARE(computed(), layers(0, 1, 1));
    QCOMPARE(computed(), layers(0, 0, 0));
    set("stage", "softmax");
    QCOMPARE(computed(), layers(0, 0, 1));
    set("pooling", "max");
    QCOMPARE(computed(), layers(0, 0, 1));
    request.configurations[0].config.base = 5e4;
    QCOMPARE(computed(), layers(0, 1, 1));
    request.configurations[0].config.base = 1e4; // and back
    QCOMPARE(computed(), layers(0, 0, 1));
    // Rows of their own at every position: whatever turns them leaves them as they are.
    request.options.content = Content::Gaussian;
    QCOMPARE(computed(), layers(600, 0, 1));
    request.configurations[0].config.base = 5e4;
    const FigureResults before = *last;
    QCOMPARE(computed(), layers(0, 0, 1));
    QVERIFY(last->data.at("scores") != before.data.at("scores"));
    request.configurations[0].config.rule = FrequencyRule::Linear;
    request.configurations[0].config.parameters.factor = 4.0;
    QCOMPARE(computed(), layers(0, 0, 1));
    request.configurations[0].config.softmaxFactor = 1.5;
    QCOMPARE(computed(), layers(0, 0, 1));
    set("mask", "none");
    QCOMPARE(computed(), layers(0, 0, 1));
    set("first_row", "100"); // a part of what is there
    set("last_row", "120");
    QCOMPARE(computed(), layers(0, 0, 1));
    set("map_length", "320"); // keys that are not there; the queries are
    QCOMPARE(computed(), layers(320, 0, 1));
    request.options.seed = 2;
    QCOMPARE(computed(), layers(320 + 21, 0, 1));
    // What was taken over is what would have been made.
    const FigureResults fresh = computeFigureResults(engine, request).value();
    request.configurations[0].config.base = 7e4;
    computed();
    request.configurations[0].config.base = 5e4;
    computed();
    const FigureInfo& figure = *findFigure("scores");
    QCOMPARE(figureToJson(buildFigure(figure, *last)), figureToJson(buildFigure(figure, fresh)));
}

namespace {

/// The processor, which remembers what rows it was given last.
class RememberingBackend final : public ComputeBackend
{
public:
    explicit RememberingBackend(std::vector<ScoreTerm>& terms)
        : m_terms(terms)
    {
    }
    Info info() const override { return m_cpu->info(); }
    Result<void> status() const override { return {}; }
    bool supports(const Operation&) const override { return true; }
    Result<void> run(const Operation& operation, std::stop_token stop) override
    {
        if (const auto* map = std::get_if<ScoreMapOp>(&operation))
            m_terms.assign(map->terms.begin(), map->terms.end());
        return m_cpu->run(operation, stop);
    }

private:
    std::unique_ptr<ComputeBackend> m_cpu = makeCpuBackend();
    std::vector<ScoreTerm>& m_terms;
};

} // namespace

/// A backend that keeps rows knows them by these: the same numbers have the same name, others another.
void TestScoresFigure::rowsHaveIdentities()
{
    std::vector<ScoreTerm> terms;
    std::vector<std::unique_ptr<ComputeBackend>> backends;
    backends.push_back(std::make_unique<RememberingBackend>(terms));
    Engine engine(std::move(backends));
    ComputeRequest request;
    request.configurations = {{plain(16), "A", 0}};
    request.figures = {"scores"};
    request.wantsDecay = false;
    request.options.pair = 1;
    const auto set = [&](const char* key, const char* value) {
        QVERIFY(request.options.settings.set(key, value).hasValue());
    };
    set("map_length", "90");
    set("stage", "softmax");
    std::optional<FigureResults> last;
    struct Named
    {
        RowsIdentity queries, keys;
        std::vector<double> query, key; ///< the first ones
    };
    const auto compute = [&] {
        last = computeFigureResults(engine, request, last ? &*last : nullptr).value();
        const ScoreTerm& term = terms.at(0);
        const auto width = static_cast<std::size_t>(term.width);
        const auto rowOf = [&](std::span<const double> rows) {
            return std::vector<double>(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(width));
        };
        return Named{term.queriesAre, term.keysAre, rowOf(term.queries), rowOf(term.keys)};
    };
    request.options.content = Content::Gaussian;
    const Named whole = compute();
    QVERIFY(whole.queries.id != 0 && whole.keys.id != 0 && whole.queries.id != whole.keys.id);
    QCOMPARE(whole.queries.first, std::int64_t{0});
    QCOMPARE(whole.keys.first, std::int64_t{0});
    request.configurations[0].config.base = 5e4;
    const Named turned = compute();
    QCOMPARE(turned.queries.id, whole.queries.id);
    QCOMPARE(turned.keys.id, whole.keys.id);
    set("first_row", "20");
    set("last_row", "40");
    const Named part = compute();
    QCOMPARE(part.queries.id, whole.queries.id);
    QCOMPARE(part.queries.first, std::int64_t{20});
    QVERIFY(part.query != whole.query);
    QCOMPARE(part.keys.id, whole.keys.id);
    QCOMPARE(part.keys.first, std::int64_t{0});
    set("encoding", "difference"); // the same rows in two terms
    compute();
    QCOMPARE(terms.size(), std::size_t{2});
    QCOMPARE(terms[1].queriesAre.id, whole.queries.id);
    QCOMPARE(terms[1].keysAre.id, whole.keys.id);
    set("encoding", "rope");
    request.options.seed = 2;
    const Named other = compute();
    QVERIFY(other.query != part.query && other.queries.id != whole.queries.id);
    QVERIFY(other.key != part.key && other.keys.id != whole.keys.id);
    // The part is now all that there is.
    QCOMPARE(other.queries.first, std::int64_t{0});
    // Made again, without what was made before: another name, though the numbers are the same.
    last = {};
    const Named again = compute();
    QCOMPARE(again.query, other.query);
    QVERIFY(again.queries.id != other.queries.id && again.keys.id != other.keys.id);
}

/// Few cells, and those that are read one by one, in double; many in float, and the caption says so.
void TestScoresFigure::whatTheTilesAreComputedIn()
{
    const auto drawn = [](std::vector<std::pair<std::string, std::string>> settings) {
        settings.emplace_back("stage", "softmax");
        FigureAsk ask{"scores", {plain(16)}, std::move(settings)};
        ask.options.content = Content::Gaussian;
        return figureFor(ask);
    };
    struct Case
    {
        std::vector<std::pair<std::string, std::string>> settings;
        const char *precision, *caption;
    };
    for (const Case& row : {
             Case{{{"map_length", "1000"}}, "double", "in tiles"},
             Case{{{"map_length", "1100"}}, "single", "in single precision"},
             Case{{{"map_length", "1100"}, {"encoding", "difference"}}, "double", "in tiles"},
             Case{{{"map_length", "1100"}, {"first_row", "10"}, {"last_row", "20"}}, "double", "in tiles"},
             Case{{{"map_length", "1100"}, {"score_precision", "double"}}, "double", "in tiles"},
             Case{{{"map_length", "100"}, {"score_precision", "single"}}, "single", "in single precision"},
             Case{{{"map_length", "100"}, {"score_precision", "tf32"}}, "TF32", "a model in TF32 sees"},
             Case{{{"map_length", "100"}, {"score_precision", "bf16"}},
                  "bfloat16",
                  "a model in bfloat16 sees"},
         }) {
        const FigureSpec figure = drawn(row.settings);
        QCOMPARE(figure.provenance.precision, std::string(row.precision));
        QVERIFY2(contains(figure.caption, row.caption), toEnglish(figure.caption).c_str());
        QCOMPARE(contains(figure.caption, "single precision"), std::string(row.precision) == "single");
    }
    // Of two maps that differ in it both are named: one curve is in double always.
    RopeConfig steep = plain(16);
    steep.temperature.rule = TemperatureRule::LogN;
    steep.temperature.referenceLength = 64;
    for (const bool isSteepFirst : {true, false}) {
        const FigureAsk both{"scores",
                             isSteepFirst ? std::vector{steep, plain(16)} : std::vector{plain(16), steep},
                             {{"map_length", "100"}, {"stage", "softmax"}, {"score_precision", "single"}}};
        QCOMPARE(figureFor(both).provenance.precision,
                 std::string(isSteepFirst ? "single and double" : "double and single"));
    }
    // A weight in float is off by its logit's rounding, no more.
    const FigureSpec full = drawn({{"map_length", "1100"}, {"score_precision", "double"}});
    const FigureSpec single = drawn({{"map_length", "1100"}});
    for (std::size_t i = 0; i < full.maps.front().values->size(); ++i) {
        const double expected = (*full.maps.front().values)[i];
        QVERIFY(std::isnan(expected) ||
                std::fabs((*single.maps.front().values)[i] - expected) <= 1e-5 * expected + 1e-12);
    }
}

/// Rounded rows are asked for by name, so a mean of raw scores has them too; a curve has none, and says so.
void TestScoresFigure::roundedRowsOfMeans()
{
    FigureAsk ask{"scores", {plain(16)}, {{"map_length", "100"}, {"map_pixels", "20"}}};
    ask.options.content = Content::Gaussian;
    const FigureSpec whole = figureFor(ask);
    QVERIFY(contains(whole.caption, "pooled product"));
    ask.settings.emplace_back("score_precision", "bf16");
    const FigureSpec rounded = figureFor(ask);
    QCOMPARE(rounded.provenance.precision, std::string("bfloat16"));
    double apart = 0.0;
    for (std::size_t i = 0; i < whole.maps.front().values->size(); ++i)
        if (const double value = (*whole.maps.front().values)[i]; !std::isnan(value))
            apart = std::max(apart, std::fabs((*rounded.maps.front().values)[i] - value));
    QVERIFY(apart > 1e-5 && apart < 1e-2); // 8 bits of each factor
    QVERIFY(rounded.notes.empty());
    ask.options.content = Content::Ones;
    const FigureSpec curve = figureFor(ask);
    QCOMPARE(curve.provenance.precision, std::string("double"));
    QVERIFY(contains(curve.notes.at(0).text, "bf16 has no effect"));
}

/// Finite numbers of a file beyond what their products can be held in: double takes the place of single
/// precision, and what no precision holds is masked; both are said.
void TestScoresFigure::beyondTheRange()
{
    const auto tensors = [](std::int64_t tokens, double size) {
        auto made = std::make_shared<HeadTensors>();
        made->name = "large";
        made->headDim = 2;
        made->tokens = tokens;
        made->layout = Layout::Half;
        made->greatest = size;
        for (std::int64_t i = 0; i < tokens; ++i)
            for (int c = 0; c < 2; ++c) {
                made->query.push_back(c == 0 ? size : 0.0);
                made->key.push_back(c == 0 ? size : 0.0);
            }
        return made;
    };
    const auto count = [](const FigureSpec& figure, const char* words) {
        return std::count_if(figure.notes.begin(), figure.notes.end(),
                             [&](const Issue& note) { return contains(note.text, words); });
    };
    FigureAsk ask{"scores",
                  {plain(2)},
                  {{"map_length", "1100"}, {"map_pixels", "20"}, {"pooling", "max"}, {"mask", "none"}}};
    ask.options.content = Content::File;
    ask.options.tensors = tensors(1100, 1.0);
    QCOMPARE(figureFor(ask).provenance.precision, std::string("single"));
    ask.options.tensors = tensors(1100, 1e25);
    const FigureSpec large = figureFor(ask);
    QCOMPARE(large.provenance.precision, std::string("double"));
    QVERIFY(large.notes.empty());
    QCOMPARE(relativeDifference(large.maps.front().values->front(), 0.5e50, 1e-12), QString());
    ask.settings.emplace_back("score_precision", "single");
    for (const double size : {1e25, 1e-19}) { // what floats cannot hold is in double, and said
        ask.options.tensors = tensors(1100, size);
        const FigureSpec single = figureFor(ask);
        QCOMPARE(single.provenance.precision, std::string("double"));
        QCOMPARE(count(single, "single precision cannot hold the products of numbers up to"), 1);
        QCOMPARE(relativeDifference(single.maps.front().values->front(), 0.5 * size * size, 1e-12),
                 QString());
    }
    ask.options.tensors = tensors(1100, 1.0);
    QCOMPARE(count(figureFor(ask), "cannot hold"), 0);
    // A softmax of such logits is all on the greatest: on the key before, of which the query is a multiple.
    FigureAsk sharp{
        "scores", {plain(2)}, {{"map_length", "2"}, {"stage", "softmax"}, {"score_precision", "bf16"}}};
    sharp.options.content = Content::File;
    sharp.options.m = sharp.options.n = 0;
    auto apart = tensors(2, 1e20);
    auto parted = std::make_shared<HeadTensors>(*apart);
    parted->key[2] = -1e20;
    sharp.options.tensors = parted;
    QCOMPARE(figureFor(sharp).maps.front().values->at(2), 1.0);
    // Not in double either.
    FigureAsk vast{"scores", {plain(2)}, {{"map_length", "8"}}};
    vast.options.content = Content::File;
    vast.options.m = 5;
    vast.options.n = 2;
    vast.options.tensors = tensors(8, 1e160);
    const FigureSpec none = figureFor(vast);
    QVERIFY(std::none_of(none.maps.front().values->begin(), none.maps.front().values->end(),
                         [](double value) { return std::isfinite(value); }));
    QCOMPARE(count(none, "large: values up to 1e+160; where a sum of their products is beyond"), 1);
    QCOMPARE(count(none, "8 queries and 8 keys in view hold numbers that are not finite or beyond 1e150"), 1);
    vast.options.tensors = tensors(8, 1e60);
    QCOMPARE(count(figureFor(vast), "values up to"), 0);
    // Each figure that multiplies them says so.
    vast.options.tensors = tensors(8, 1e160);
    for (const char* figure : {"decay", "pairs", "channels", "clusters", "plane"}) {
        const FigureSpec other = figureFor({figure, {plain(2)}, {}, vast.options});
        QCOMPARE(count(other, "large: values up to"), 1);
        QCOMPARE(brokenPromise(other), std::string());
    }
}

void TestScoresFigure::marginals()
{
    FigureAsk ask{"scores", {plain(16)}, {{"map_length", "30"}}};
    ask.options.content = Content::Gaussian;
    const FigureSpec figure = figureFor(ask);
    const std::vector<double>& cells = *figure.maps.front().values;
    for (std::size_t at = 0; at < 30; ++at) {
        double row = 0.0, column = 0.0;
        for (std::size_t other = 0; other < 30; ++other) {
            row += other <= at ? cells[at * 30 + other] : 0.0;
            column += other >= at ? cells[other * 30 + at] : 0.0;
        }
        QCOMPARE(absoluteDifference(valueAt(figure, "mean_over_keys", static_cast<double>(at)),
                                    row / static_cast<double>(at + 1), 1e-13),
                 QString());
        QCOMPARE(absoluteDifference(valueAt(figure, "mean_over_queries", static_cast<double>(at)),
                                    column / static_cast<double>(30 - at), 1e-13),
                 QString());
    }
    ask.settings.emplace_back("stage", "softmax");
    const FigureSpec softmax = figureFor(ask);
    QCOMPARE(valueAt(softmax, "entropy", 0.0), 0.0);
    double entropy = 0.0;
    for (std::size_t n = 0; n < 30; ++n) {
        const double p = (*softmax.maps.front().values)[29 * 30 + n];
        entropy -= p * std::log(p);
    }
    QCOMPARE(absoluteDifference(valueAt(softmax, "entropy", 29.0), entropy, 1e-13), QString());
}

void TestScoresFigure::failures()
{
    RopeConfig config = plain(16);
    config.maxPositionEmbeddings = std::nullopt;
    config.temperature.rule = TemperatureRule::LogN;
    const FigureSpec noLength = figureFor({"scores", {config}, {{"stage", "softmax"}}});
    QVERIFY(!noLength.failure.isEmpty());
    FigureAsk ask{"scores", {plain(4)}};
    ask.options.content = Content::File;
    QVERIFY(contains(figureFor(ask).failure, "no tensors are open"));
    // One that cannot be shown does not take the other along.
    FigureAsk two{"scores", {plain(8), plain(64)}, {{"map_pairs", "picked"}, {"map_length", "64"}}};
    two.options.pair = 20;
    const FigureSpec figure = figureFor(two);
    QVERIFY(figure.failure.isEmpty());
    QVERIFY(std::any_of(figure.notes.begin(), figure.notes.end(), [](const Issue& issue) {
        return issue.severity == Severity::Error && contains(issue.text, "no pair 20");
    }));
}

QTEST_APPLESS_MAIN(TestScoresFigure)
#include "test_scores.moc"
