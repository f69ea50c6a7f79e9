// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/head_tensors.h"
#include "core/score_parts.h"
#include "tests/support/build_figure.h"
#include "tests/support/compare.h"
#include "tests/support/random_config.h"

#include <QtTest>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

struct LoopParts
{
    double positional = 0.0, content = 0.0;
};

/// Both parts at one (m, n), pair by pair in long double, over head_dim.
LoopParts loopParts(const RopeConfig& config, const std::vector<double>& q, const std::vector<double>& k,
                    std::int64_t distance)
{
    const FrequencyTable table = frequencyTable(config);
    const ChannelMap map = channelMap(config);
    const auto rates = dampingRates(config, table);
    long double positional = 0.0L, content = 0.0L;
    for (int pair = 0; pair < map.pairCount(); ++pair) {
        const auto [a, b] = map.pair(pair);
        const std::complex<long double> x(q[static_cast<std::size_t>(a)], q[static_cast<std::size_t>(b)]);
        const std::complex<long double> y(k[static_cast<std::size_t>(a)], k[static_cast<std::size_t>(b)]);
        const std::complex<long double> product = x * std::conj(y);
        if (!table.turns(pair)) {
            content += product.real();
            continue;
        }
        const long double factor =
            static_cast<long double>(table.attentionFactor) * table.attentionFactor *
            (rates.empty()
                 ? 1.0L
                 : std::exp(static_cast<long double>(rates[static_cast<std::size_t>(pair)]) * distance));
        positional +=
            factor *
            (product * std::polar(1.0L, static_cast<long double>(distance) * table.theta(pair))).real();
    }
    return {static_cast<double>(positional / config.headDim), static_cast<double>(content / config.headDim)};
}

FigureOptions fileContent(int headDim, std::int64_t tokens, std::mt19937& random)
{
    auto tensors = std::make_shared<HeadTensors>();
    tensors->headDim = headDim;
    tensors->tokens = tokens;
    for (std::vector<double>* rows : {&tensors->query, &tensors->key})
        for (std::int64_t row = 0; row < tokens; ++row) {
            const auto values = randomRow(random, headDim);
            rows->insert(rows->end(), values.begin(), values.end());
        }
    FigureOptions options;
    options.content = Content::File;
    options.tensors = std::move(tensors);
    options.m = 3;
    options.n = 1;
    return options;
}

RopeConfig multiHeadLatent()
{
    RopeConfig config = plainRope(192, 64, 1e4, Layout::Interleaved);
    config.channels = ChannelScheme::Last;
    return config;
}

} // namespace

class TestChannels : public QObject
{
    Q_OBJECT
private slots:
    void partsOfOneKey();
    void partsAreTheScore();
    void rows();
    void rowsNotFinite();
    void floorHolds();
    void strips();
    void lastSlice();
    void quarters();
    void byHand();
    void wideHead();
    void positionAxes();
    void visionAxes();
    void severalConfigurations();
    void aPreviewSaysSo();
    void stopped();
};

/// A preview holds the same numbers at fewer distances, for all configurations the same ones.
void TestChannels::aPreviewSaysSo()
{
    FigureOptions options;
    options.maxDistance = 20'000;
    const std::vector<RopeConfig> configs{plainRope(64, 32, 1e4), plainRope(32, 32, 5e5)};
    const FigureSpec preview = figureFor({"channels", configs, {}, options, true});
    const FigureSpec whole = figureFor({"channels", configs, {}, options});
    QVERIFY(preview.isCoarse && !whole.isCoarse);
    QVERIFY(toEnglish(preview.caption).starts_with("preview"));
    QVERIFY(toEnglish(preview.caption).find('%') == std::string::npos); // no share of what was not summed up
    for (int index = 0; index < 2; ++index) {
        const Series& few = *findSeries(preview, "positional_part", index);
        const Series& all = *findSeries(whole, "positional_part", index);
        QVERIFY(few.x->size() > 500 && few.x->size() < 2000);
        QCOMPARE(all.x->size(), std::size_t{20'001});
        for (std::size_t i = 0; i < few.x->size(); ++i)
            QCOMPARE(absoluteDifference((*few.y)[i], (*all.y)[static_cast<std::size_t>((*few.x)[i])], 1e-10),
                     QString());
    }
}

void TestChannels::partsOfOneKey()
{
    std::mt19937 random(2);
    for (int round = 0; round < 30; ++round) {
        RopeConfig config = randomConfig(random);
        if (round % 5 == 4)
            config.xpos = XPos{};
        const ContentRows content{randomRow(random, config.headDim), randomRow(random, config.headDim)};
        const FrequencyTable table = frequencyTable(config);
        const auto parts = scoreParts(config, channelMap(config), table, content, 3000);
        QVERIFY(parts);
        QCOMPARE(parts->positional.size(), std::size_t{3001});
        const double scale = table.attentionFactor * table.attentionFactor;
        const std::vector<double> few{0.0, 1.0, 511.0, 512.0, 513.0, 1024.0, 2999.0, 3000.0};
        const auto at = scorePartsAt(config, channelMap(config), table, content, few);
        QVERIFY(at);
        QCOMPARE(at->positional.size(), few.size());
        for (std::size_t i = 0; i < few.size(); ++i) {
            const auto r = static_cast<std::int64_t>(few[i]);
            const LoopParts expected = loopParts(config, content.query, content.key, r);
            QCOMPARE(absoluteDifference(at->positional[i], expected.positional,
                                        scale * (1e-14 + 4e-15 * static_cast<double>(r))),
                     QString());
            QCOMPARE(absoluteDifference(at->content, expected.content, 1e-14), QString());
            QCOMPARE(absoluteDifference(parts->positional[static_cast<std::size_t>(r)], expected.positional,
                                        scale * (1e-14 + 4e-15 * static_cast<double>(r))),
                     QString());
            QCOMPARE(absoluteDifference(parts->content, expected.content, 1e-14), QString());
        }
    }
}

/// Both parts of the figure's markers make the score of `pairs`; for ones the curve is the decay's mean.
void TestChannels::partsAreTheScore()
{
    std::mt19937 random(12);
    for (int round = 0; round < 12; ++round) {
        const RopeConfig config = randomConfig(random);
        FigureOptions options;
        options.maxDistance = 2000;
        options.content = round % 2 ? Content::Ones : Content::Same;
        const FigureResults results = resultsFor({"channels", {config}, {}, options});
        const FigureSpec figure = buildFigure(*findFigure("channels"), results);
        QCOMPARE(brokenPromise(figure), std::string());
        const ConfigurationResult& own = results.configurations.front();
        const double positional = *markerOf(figure, "positional_part").value;
        const double content = *markerOf(figure, "content_part").value;
        const double scale = own.table.attentionFactor * own.table.attentionFactor;
        QCOMPARE(absoluteDifference((positional + content) * config.headDim, own.scores->score,
                                    1e-12 * scale * config.headDim),
                 QString());
        const Series& curve = seriesOf(figure, "positional_part");
        const Series& still = seriesOf(figure, "content_part");
        QCOMPARE(curve.y->size(), std::size_t{2001});
        QCOMPARE(absoluteDifference((*curve.y)[15], positional, 1e-12 * scale), QString()); // m - n = 15
        if (options.content == Content::Ones)
            for (std::size_t r = 0; r < curve.y->size(); r += 37)
                QCOMPARE(absoluteDifference((*curve.y)[r] + (*still.y)[r], (*own.decay->similarMean)[r],
                                            1e-11 * scale),
                         QString());
    }
}

void TestChannels::rows()
{
    std::mt19937 random(6);
    for (int round = 0; round < 6; ++round) {
        RopeConfig config = randomConfig(random);
        if (round == 3)
            config.xpos = XPos{};
        const FigureOptions options = fileContent(config.headDim, 40, random);
        const auto source = ContentSource::make(options, config);
        QVERIFY(source.hasValue());
        const auto parts = rowParts(config, channelMap(config), frequencyTable(config), *source, 33);
        QVERIFY(parts);
        QCOMPARE(parts->rows, 33);
        long double positionalSquare = 0.0L, contentSquare = 0.0L;
        const auto width = static_cast<std::size_t>(config.headDim);
        const auto row = [&](const std::vector<double>& all, std::int64_t at) {
            const auto from = all.begin() + at * config.headDim;
            return std::vector<double>(from, from + static_cast<std::ptrdiff_t>(width));
        };
        const double factor = frequencyTable(config).attentionFactor;
        const double scale = 30.0 * factor * factor;
        for (std::int64_t r = 0; r < 33; ++r) {
            long double sum = 0.0L, square = 0.0L, still = 0.0L, stillSquare = 0.0L;
            for (std::int64_t n = 0; n + r < 33; ++n) {
                const LoopParts one =
                    loopParts(config, row(options.tensors->query, n + r), row(options.tensors->key, n), r);
                sum += one.positional;
                square += static_cast<long double>(one.positional) * one.positional;
                still += one.content;
                stillSquare += static_cast<long double>(one.content) * one.content;
            }
            const auto count = static_cast<long double>(33 - r);
            const auto at = static_cast<std::size_t>(r);
            QCOMPARE(absoluteDifference(parts->meanPositional[at], static_cast<double>(sum / count),
                                        1e-13 * scale),
                     QString());
            QCOMPARE(
                absoluteDifference(parts->meanContent[at], static_cast<double>(still / count), 1e-13 * scale),
                QString());
            const auto variance = [&](long double value, long double squares) {
                return static_cast<double>(std::max(0.0L, squares / count - value * value / (count * count)));
            };
            QCOMPARE(absoluteDifference(parts->sdPositional[at] * parts->sdPositional[at],
                                        variance(sum, square), 1e-12 * scale * scale),
                     QString());
            QCOMPARE(absoluteDifference(parts->sdContent[at] * parts->sdContent[at],
                                        variance(still, stillSquare), 1e-12 * scale * scale),
                     QString());
            positionalSquare += square;
            contentSquare += stillSquare;
        }
        QCOMPARE(absoluteDifference(
                     parts->positionalShare,
                     static_cast<double>(positionalSquare / (positionalSquare + contentSquare)), 1e-12),
                 QString());
    }
}

void TestChannels::rowsNotFinite()
{
    std::mt19937 random(1);
    const RopeConfig config = plainRope(8, 4, 1e4);
    FigureOptions options = fileContent(8, 5, random);
    auto tensors = std::make_shared<HeadTensors>(*options.tensors);
    tensors->query[2 * 8 + 1] = std::nan("");
    tensors->key[2 * 8 + 7] = INFINITY; // the same row counts once
    options.tensors = tensors;
    const auto parts = rowParts(config, channelMap(config), frequencyTable(config),
                                *ContentSource::make(options, config), 100);
    QCOMPARE(parts->notFinite, 1);
    QCOMPARE(parts->rows, 5);
    for (const double value : parts->meanPositional)
        QVERIFY(std::isfinite(value)); // rows 0, 1, 3, 4 reach every distance up to 4
    QVERIFY(std::isfinite(parts->positionalShare));
    const FigureSpec figure = figureFor({"channels", {config}, {}, options});
    QCOMPARE(brokenPromise(figure), std::string());
    QVERIFY(std::any_of(figure.notes.begin(), figure.notes.end(), [](const Issue& note) {
        return toEnglish(note.text).find("1 of 5 rows") != std::string::npos;
    }));
    QCOMPARE(seriesOf(figure, "positional_part").y->size(), std::size_t{5});
}

/// C(r) ≥ 1 - 2f, whatever turns; the guide stands there, and not where it is no news.
void TestChannels::floorHolds()
{
    std::mt19937 random(21);
    for (int round = 0; round < 25; ++round) {
        const RopeConfig config = randomConfig(random);
        FigureOptions options;
        options.maxDistance = 3000;
        const FigureSpec figure = figureFor({"channels", {config}, {}, options});
        const FrequencyTable table = frequencyTable(config);
        const double least = 1.0 - 2.0 * (2.0 * table.turningPairs() / config.headDim);
        for (const double value : *seriesOf(figure, "cosine_sum").y)
            QVERIFY(value >= least - 1e-12 && value <= 1.0 + 1e-12);
        int guides = 0;
        for (const GuideLine& guide : figure.more.front().guides)
            if (guide.role == GuideRole::Threshold) {
                ++guides;
                QCOMPARE(absoluteDifference(guide.at, least, 1e-15), QString());
            }
        // A floor of exactly 0 coincides with the zero line and is drawn none the less.
        QCOMPARE(guides, least > -1.0 ? 1 : 0);
    }
}

void TestChannels::strips()
{
    std::mt19937 random(31);
    for (int round = 0; round < 40; ++round) {
        const RopeConfig config = randomConfig(random);
        FigureOptions options;
        options.maxDistance = 100;
        options.showsSelection = false;
        const FigureSpec figure = figureFor({"channels", {config}, {}, options});
        const ChannelMap map = channelMap(config);
        const FrequencyTable table = frequencyTable(config);
        QCOMPARE(figure.table->columns, std::min(256, config.headDim));
        double before = -1.0;
        for (int pair = 0; pair < map.pairCount(); ++pair)
            for (const int channel : {map.pair(pair).first, map.pair(pair).second}) {
                const TableCell& cell = figure.table->cells[static_cast<std::size_t>(channel)];
                QCOMPARE(cell.pair, pair);
                QCOMPARE(cell.fill, table.turns(pair) ? CellFill::Pair : CellFill::Still);
                if (table.turns(pair)) {
                    QVERIFY(cell.share >= before && cell.share <= 1.0); // fast to slow
                    before = cell.share;
                }
                QCOMPARE((*seriesOf(figure, "pair_of_channel").y)[static_cast<std::size_t>(channel)],
                         static_cast<double>(pair));
                QCOMPARE((*seriesOf(figure, "turns").y)[static_cast<std::size_t>(channel)],
                         table.turns(pair) ? 1.0 : 0.0);
            }
    }
}

void TestChannels::lastSlice()
{
    const FigureSpec figure = figureFor({"channels", {multiHeadLatent()}});
    for (std::size_t channel = 0; channel < 192; ++channel)
        QCOMPARE(figure.table->cells[channel].fill == CellFill::Still, channel < 128);
    QVERIFY(toEnglish(figure.caption).find("64 of 192 channels turn, f = 0.333") != std::string::npos);
}

void TestChannels::quarters()
{
    RopeConfig config = plainRope(128, 128, 1e4);
    config.channels = ChannelScheme::Quarters13;
    config.rule = FrequencyRule::RopeId;
    config.originalMaxPositionEmbeddings = 4096;
    for (const Layout layout : {Layout::Half, Layout::Interleaved}) {
        config.layout = layout;
        const FigureSpec figure = figureFor({"channels", {config}});
        for (std::size_t channel = 0; channel < 128; ++channel) {
            const bool turns = layout == Layout::Half ? channel / 32 == 0 || channel / 32 == 2 : channel < 64;
            QCOMPARE(figure.table->cells[channel].fill != CellFill::Still, turns);
        }
        for (const double value : *seriesOf(figure, "cosine_sum").y)
            QVERIFY(value >= 0.0); // f = 1/2: the floor is zero
    }
}

void TestChannels::byHand()
{
    RopeConfig config = plainRope(16, 16, 1e4, Layout::Interleaved);
    config.channels = ChannelScheme::Custom;
    config.customPairs = {1, 4};
    FigureOptions options;
    options.pair = 4;
    const FigureSpec figure = figureFor({"channels", {config}, {}, options});
    for (std::size_t channel = 0; channel < 16; ++channel)
        QCOMPARE(figure.table->cells[channel].fill, channel / 2 == 4   ? CellFill::Accent
                                                    : channel / 2 == 1 ? CellFill::Pair
                                                                       : CellFill::Still);
}

void TestChannels::wideHead()
{
    const FigureSpec figure = figureFor({"channels", {plainRope(512, 128, 1e4)}});
    QCOMPARE(brokenPromise(figure), std::string());
    QCOMPARE(figure.table->columns, 256);
    QCOMPARE(figure.table->rows, 2);
    QCOMPARE(toEnglish(figure.table->cells[256].text), std::string("256"));
}

/// Qwen2-VL: runs of pairs for time, height and width (arXiv:2409.12191).
void TestChannels::positionAxes()
{
    RopeConfig config = plainRope(128, 128, 1e6);
    config.mropeSection = {16, 24, 24};
    const FigureSpec figure = figureFor({"channels", {config}});
    QCOMPARE(brokenPromise(figure), std::string());
    QCOMPARE(figure.table->rows, 2);
    const auto axis = [&](std::size_t channel) { return toEnglish(figure.table->cells[128 + channel].text); };
    QCOMPARE(axis(0), std::string("t"));
    QCOMPARE(axis(15), std::string("t"));
    QCOMPARE(axis(16), std::string("h"));
    QCOMPARE(axis(63), std::string("w"));
    QCOMPARE(axis(64 + 39), std::string("h"));                           // the other half of pair 39
    QCOMPARE(seriesOf(figure, "axis_inv_freq_height").x->front(), 16.0); // θ goes on from axis to axis
    QCOMPARE(
        relativeDifference(seriesOf(figure, "axis_inv_freq_height").y->front(), std::pow(1e6, -0.25), 1e-14),
        QString());
}

/// Rows and columns of an image: who turns a pair, and how fast (maths of the three towers, written out).
void TestChannels::visionAxes()
{
    const RopeConfig config = plainRope(64, 64, 1e4); // 32 pairs
    struct Expected
    {
        const char* scheme;
        const char* first;    // axis of pair 0
        double row1, column1; // θ of the second pair of the row, of the column
    };
    for (const Expected& expected :
         {Expected{"vision_qwen2", "r", std::pow(1e4, -1.0 / 16), std::pow(1e4, -1.0 / 16)},
          {"vision_pixtral", "r", std::pow(1e4, -2.0 / 32), std::pow(1e4, -3.0 / 32)},
          {"vision_llama4", "c", std::pow(1e4, -1.0 / 16), std::pow(1e4, -1.0 / 16)}}) {
        FigureOptions options;
        QVERIFY(options.settings.set("position_axes", expected.scheme).hasValue());
        const FigureSpec figure = figureFor({"channels", {config}, {}, options});
        QCOMPARE(brokenPromise(figure), std::string());
        const Series& row = seriesOf(figure, "axis_inv_freq_row");
        const Series& column = seriesOf(figure, "axis_inv_freq_column");
        QCOMPARE(row.x->size(), std::size_t{16});
        QCOMPARE(column.x->size(), std::size_t{16});
        QCOMPARE(toEnglish(figure.table->cells[64].text), std::string(expected.first));
        QCOMPARE(relativeDifference((*row.y)[1], expected.row1, 1e-14), QString());
        QCOMPARE(relativeDifference((*column.y)[1], expected.column1, 1e-14), QString());
        QCOMPARE((*row.y)[0], 1.0); // both tables begin at 1 but for Pixtral's odd entries
        QCOMPARE((*column.y)[0] == 1.0, std::string_view(expected.scheme) != "vision_pixtral");
        QCOMPARE(figure.notes.size(),
                 std::size_t(std::string_view(expected.scheme) == "vision_llama4" ? 2 : 1));
    }
    FigureOptions options;
    QVERIFY(options.settings.set("position_axes", "vision_qwen2").hasValue());
    const FigureSpec odd = figureFor({"channels", {plainRope(64, 6, 1e4)}, {}, options}); // 3 pairs
    QVERIFY(toEnglish(odd.notes.at(0).text).find("3 pairs do not halve") != std::string::npos);
}

void TestChannels::severalConfigurations()
{
    RopeConfig none = plainRope(64, 64, 1e4);
    none.rule = FrequencyRule::None;
    const FigureSpec figure = figureFor({"channels", {plainRope(96, 24, 1e4), multiHeadLatent(), none}});
    QCOMPARE(brokenPromise(figure), std::string());
    QCOMPARE(figure.table->rows, 3);
    QCOMPARE(figure.table->columns, 192);
    const std::string caption = toEnglish(figure.caption);
    QVERIFY2(caption.find("A: 24 of 96") != std::string::npos &&
                 caption.find("C: 0 of 64") != std::string::npos,
             caption.c_str());
    QCOMPARE(*markerOf(figure, "positional_part", 2).value, 0.0);
    QCOMPARE(absoluteDifference(*markerOf(figure, "content_part", 2).value, 1.0, 1e-15), QString());
    QVERIFY(caption.find('{') == std::string::npos);
}

void TestChannels::stopped()
{
    std::stop_source source;
    source.request_stop();
    const RopeConfig config = plainRope(64, 64, 1e4);
    const FrequencyTable table = frequencyTable(config);
    const std::vector<double> ones(64, 1.0);
    QVERIFY(!scoreParts(config, channelMap(config), table, {ones, ones}, 1000, source.get_token()));
    QVERIFY(!rowParts(config, channelMap(config), table, *ContentSource::make({}, config), 50,
                      source.get_token()));
}

QTEST_GUILESS_MAIN(TestChannels)
#include "test_channels.moc"
