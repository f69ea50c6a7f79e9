// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/head_tensors.h"
#include "tests/support/build_figure.h"
#include "tests/support/compare.h"
#include "tests/support/random_config.h"
#include "tests/support/reference.h"

#include <QtTest>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

FigureOptions withRows(const std::vector<double>& query, const std::vector<double>& key, std::int64_t m,
                       std::int64_t n)
{
    auto tensors = std::make_shared<HeadTensors>();
    tensors->headDim = static_cast<int>(query.size());
    tensors->tokens = 400;
    for (int row = 0; row < 400; ++row) {
        tensors->query.insert(tensors->query.end(), query.begin(), query.end());
        tensors->key.insert(tensors->key.end(), key.begin(), key.end());
    }
    FigureOptions options;
    options.content = Content::File;
    options.tensors = std::move(tensors);
    options.m = m;
    options.n = n;
    return options;
}

/// The score over head_dim with q turned by `queryLayout` at m and k by `keyLayout` at n, in long double.
double loopScore(RopeConfig config, const std::vector<double>& q, const std::vector<double>& k,
                 Layout queryLayout, Layout keyLayout, std::int64_t m, std::int64_t n)
{
    const FrequencyTable table = frequencyTable(config);
    const auto turn = [&](const std::vector<double>& row, Layout layout, std::int64_t position) {
        config.layout = layout;
        const ChannelMap map = channelMap(config);
        std::vector<long double> turned(row.begin(), row.end());
        for (int pair = 0; pair < map.pairCount(); ++pair) {
            if (!table.turns(pair))
                continue;
            const auto [a, b] = map.pair(pair);
            const long double angle = static_cast<long double>(position) * table.theta(pair);
            const long double x = row[static_cast<std::size_t>(a)];
            const long double y = row[static_cast<std::size_t>(b)];
            turned[static_cast<std::size_t>(a)] =
                table.attentionFactor * (x * std::cos(angle) - y * std::sin(angle));
            turned[static_cast<std::size_t>(b)] =
                table.attentionFactor * (x * std::sin(angle) + y * std::cos(angle));
        }
        return turned;
    };
    const auto query = turn(q, queryLayout, m);
    const auto key = turn(k, keyLayout, n);
    long double sum = 0.0L;
    for (std::size_t i = 0; i < query.size(); ++i)
        sum += query[i] * key[i];
    return static_cast<double>(sum / config.headDim);
}

double spread(const Series& series)
{
    const auto [least, greatest] = std::minmax_element(series.y->begin(), series.y->end());
    return *greatest - *least;
}

} // namespace

/// huggingface/transformers issues 25199 and 33826 and their like: two layouts of one model.
class TestLayouts : public QObject
{
    Q_OBJECT
private slots:
    void permutedVectorsHaveTheSameScore();
    void permutationOfTheReference();
    void strips();
    void stripsOfRandomHeads();
    void matrices();
    void curves();
    void onesAreReplaced();
    void nothingTurns();
};

void TestLayouts::permutedVectorsHaveTheSameScore()
{
    std::mt19937 random(25199);
    const std::vector<double> q = randomRow(random, 64);
    const std::vector<double> k = randomRow(random, 64);
    const auto permuted = [](const std::vector<double>& row) { // [0, 2, …, 1, 3, …]
        std::vector<double> result;
        for (const std::size_t start : {std::size_t{0}, std::size_t{1}})
            for (std::size_t channel = start; channel < row.size(); channel += 2)
                result.push_back(row[channel]);
        return result;
    };
    const RopeConfig interleaved = plainRope(64, 64, 1e4, Layout::Interleaved);
    const RopeConfig half = plainRope(64, 64, 1e4, Layout::Half);
    const auto score = [](const RopeConfig& config, const FigureOptions& options) {
        return resultsFor({"plane", {config}, {}, options}).configurations.front().scores->score;
    };
    const double expected = score(interleaved, withRows(q, k, 5, 2));
    QCOMPARE(absoluteDifference(score(half, withRows(permuted(q), permuted(k), 5, 2)), expected, 1e-12),
             QString());
    QCOMPARE(absoluteDifference(score(half, withRows(permuted(q), permuted(k), 105, 102)), expected, 1e-12),
             QString());
    QCOMPARE(absoluteDifference(score(interleaved, withRows(q, k, 105, 102)), expected, 1e-12), QString());
    QVERIFY(std::fabs(score(half, withRows(q, k, 5, 2)) - expected) > 0.1);
    // At equal positions the layout does not matter: nothing is turned between q and k.
    QCOMPARE(absoluteDifference(score(half, withRows(q, k, 7, 7)), score(interleaved, withRows(q, k, 7, 7)),
                                1e-12),
             QString());
}

void TestLayouts::permutationOfTheReference()
{
    const ReferenceEntry entry = referenceEntries("permutation").front();
    const FigureSpec figure = figureFor({"layouts", {plainRope(8, 8, 1e4)}});
    const Series& series = seriesOf(figure, "half_channel_of_interleaved");
    QCOMPARE(*series.y, numbers(entry.values["perm"]));
    for (const TableLink& link : figure.table->links)
        QCOMPARE(static_cast<double>(link.fromColumn),
                 numbers(entry.values["perm"])[static_cast<std::size_t>(link.toColumn)]);
}

void TestLayouts::strips()
{
    FigureOptions options;
    options.pair = 1;
    const FigureSpec figure =
        figureFor({"layouts", {plainRope(8, 4, 1e4, Layout::Interleaved)}, {}, options});
    QCOMPARE(brokenPromise(figure), std::string());
    const TableSpec& table = *figure.table;
    QCOMPARE(table.rows, 2);
    QCOMPARE(table.columns, 8);
    // Half-split: pairs (0,2), (1,3), then still ones; interleaved: (0,1), (2,3).
    const std::vector<int> half{0, 1, 0, 1};
    const std::vector<int> interleaved{0, 0, 1, 1};
    for (std::size_t channel = 0; channel < 8; ++channel) {
        const TableCell& upper = table.cells[channel];
        const TableCell& lower = table.cells[8 + channel];
        if (channel >= 4) {
            QCOMPARE(upper.fill, CellFill::Still);
            QCOMPARE(lower.fill, CellFill::Still);
            continue;
        }
        QCOMPARE(upper.pair, half[channel]);
        QCOMPARE(lower.pair, interleaved[channel]);
        QCOMPARE(upper.fill, half[channel] == 1 ? CellFill::Accent : CellFill::Pair);
    }
    QVERIFY(toEnglish(table.rowHeads[1]).find("in use") != std::string::npos);
    QVERIFY(toEnglish(table.rowHeads[0]).find("in use") == std::string::npos);
}

void TestLayouts::stripsOfRandomHeads()
{
    std::mt19937 random(5);
    for (int round = 0; round < 80; ++round) {
        RopeConfig config = randomConfig(random);
        const FrequencyTable turning = frequencyTable(config);
        const FigureSpec figure = figureFor({"layouts", {config}});
        QCOMPARE(brokenPromise(figure), std::string());
        if (turning.turningPairs() == 0) {
            QVERIFY(!figure.failure.isEmpty());
            continue;
        }
        const TableSpec& table = *figure.table;
        QCOMPARE(table.columns, config.headDim);
        QCOMPARE(table.links.size(), static_cast<std::size_t>(config.headDim));
        for (const Layout layout : {Layout::Half, Layout::Interleaved}) {
            config.layout = layout;
            const ChannelMap map = channelMap(config);
            const int row = layout == Layout::Half ? 0 : 1;
            int still = 0;
            for (int pair = 0; pair < map.pairCount(); ++pair)
                for (const int channel : {map.pair(pair).first, map.pair(pair).second}) {
                    const TableCell& cell =
                        table.cells[static_cast<std::size_t>(row * config.headDim + channel)];
                    QCOMPARE(cell.pair, pair);
                    QCOMPARE(toEnglish(cell.text), std::to_string(channel));
                    still += cell.fill == CellFill::Still;
                    QVERIFY(cell.share >= 0.0 && cell.share <= 1.0);
                }
            QVERIFY(still == config.headDim - 2 * turning.turningPairs() ||
                    still == config.headDim - 2 * turning.turningPairs() - 2); // the picked pair may be still
        }
        // The links are a permutation that keeps every pair together.
        std::vector<int> reached(static_cast<std::size_t>(config.headDim), 0);
        for (const TableLink& link : table.links) {
            ++reached[static_cast<std::size_t>(link.toColumn)];
            const auto cell = [&](int row, int column) -> const TableCell& {
                return table.cells[static_cast<std::size_t>(row * config.headDim + column)];
            };
            if (turning.turns(cell(0, link.fromColumn).pair))
                QCOMPARE(cell(0, link.fromColumn).pair, cell(1, link.toColumn).pair);
        }
        QVERIFY(std::all_of(reached.begin(), reached.end(), [](int count) { return count == 1; }));
    }
}

/// d = 4: the matrix of the paper is the interleaved one (rasbt/LLMs-from-scratch issue 838).
void TestLayouts::matrices()
{
    const FigureSpec figure = figureFor({"layouts", {plainRope(4, 4, 1e4)}});
    const auto textsOf = [](const PlotSpec& plot) {
        std::vector<std::string> texts;
        for (const TableCell& cell : plot.table->cells)
            texts.push_back(toEnglish(cell.text));
        return texts;
    };
    QVERIFY(figure.more[0].table->isMatrix);
    QCOMPARE(textsOf(figure.more[0]),
             (std::vector<std::string>{"cos mθ₀", "−sin mθ₀", "0", "0", "sin mθ₀", "cos mθ₀", "0", "0", "0",
                                       "0", "cos mθ₁", "−sin mθ₁", "0", "0", "sin mθ₁", "cos mθ₁"}));
    QCOMPARE(textsOf(figure.more[1]),
             (std::vector<std::string>{"cos mθ₀", "0", "−sin mθ₀", "0", "0", "cos mθ₁", "0", "−sin mθ₁",
                                       "sin mθ₀", "0", "cos mθ₀", "0", "0", "sin mθ₁", "0", "cos mθ₁"}));
    // Of a whole head: the channels of its first two pairs.
    const FigureSpec wide = figureFor({"layouts", {plainRope(128, 128, 1e4)}});
    std::vector<std::string> heads;
    for (const Message& head : wide.more[1].table->columnHeads)
        heads.push_back(toEnglish(head));
    QCOMPARE(heads, (std::vector<std::string>{"0", "1", "64", "65"}));
    QCOMPARE(figureFor({"layouts", {plainRope(2, 2, 1e4)}}).more[0].table->rows, 2);
}

void TestLayouts::curves()
{
    std::mt19937 random(8);
    for (int round = 0; round < 12; ++round) {
        RopeConfig config = round == 0 ? plainRope(64, 64, 1e4) : randomConfig(random);
        config.xpos.reset();
        const FrequencyTable table = frequencyTable(config);
        if (table.turningPairs() == 0)
            continue;
        const std::vector<double> q = randomRow(random, config.headDim);
        const std::vector<double> k = randomRow(random, config.headDim);
        const FigureSpec figure = figureFor({"layouts", {config}, {}, withRows(q, k, 40, 25)});
        const Layout own = config.layout;
        const Layout other = own == Layout::Half ? Layout::Interleaved : Layout::Half;
        const std::tuple<const char*, Layout, Layout> rows[]{{"score_right_layout", own, own},
                                                             {"score_other_layout", other, other},
                                                             {"score_mixed_layouts", own, other}};
        const double scale = table.attentionFactor * table.attentionFactor * config.headDim;
        for (const auto& [name, query, key] : rows) {
            const Series& series = seriesOf(figure, name);
            QCOMPARE(series.y->size(), std::size_t{256});
            for (const std::int64_t shift : {0, 1, 77, 255})
                QCOMPARE(absoluteDifference((*series.y)[static_cast<std::size_t>(shift)],
                                            loopScore(config, q, k, query, key, 40 + shift, 25 + shift),
                                            1e-13 * scale),
                         QString());
        }
        QVERIFY(spread(seriesOf(figure, "score_right_layout")) < 1e-12 * scale);
        QVERIFY(spread(seriesOf(figure, "score_other_layout")) < 1e-12 * scale);
        if (round == 0) {
            QVERIFY(spread(seriesOf(figure, "score_mixed_layouts")) > 0.1);
            QVERIFY(std::fabs(seriesOf(figure, "score_right_layout").y->front() -
                              seriesOf(figure, "score_other_layout").y->front()) > 1e-3);
        }
    }
}

/// Ones would hide the difference: they have the same score in both layouts.
void TestLayouts::onesAreReplaced()
{
    const FigureSpec figure = figureFor({"layouts", {plainRope(64, 64, 1e4)}});
    QVERIFY(std::fabs(seriesOf(figure, "score_right_layout").y->front() -
                      seriesOf(figure, "score_other_layout").y->front()) > 1e-3);
    QVERIFY(toEnglish(figure.caption).find("ones score the same in both") != std::string::npos);
    QVERIFY(toEnglish(figure.caption).find("v keeps its order") != std::string::npos);
}

void TestLayouts::nothingTurns()
{
    RopeConfig config = plainRope(64, 64, 1e4);
    config.rule = FrequencyRule::None;
    const FigureSpec figure = figureFor({"layouts", {config}});
    QVERIFY(!figure.failure.isEmpty());
}

QTEST_GUILESS_MAIN(TestLayouts)
#include "test_layouts.moc"
