// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/encodings.h"
#include "core/philox.h"
#include "core/write_figure.h"
#include "tests/support/build_figure.h"
#include "tests/support/compare.h"

#include <QtTest>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

RopeConfig named(int headDim, int rotaryDim)
{
    RopeConfig config;
    config.name = "test";
    config.headDim = headDim;
    config.rotaryDim = rotaryDim;
    return config;
}

std::vector<const MapSpec*> mapsOf(const FigureSpec& figure)
{
    std::vector<const MapSpec*> maps;
    for (const PlotSpec* plot : figure.plots())
        for (const MapSpec& map : plot->maps)
            maps.push_back(&map);
    return maps;
}

const MapSpec* findMap(const FigureSpec& figure, const std::string& name)
{
    for (const MapSpec* map : mapsOf(figure))
        if (map->name == name)
            return map;
    return nullptr;
}

bool titled(const FigureSpec& figure, const std::string& title)
{
    const auto plots = figure.plots();
    return std::any_of(plots.begin(), plots.end(),
                       [&](const PlotSpec* plot) { return toEnglish(plot->plotTitle) == title; });
}

} // namespace

class TestEncodingsFigure : public QObject
{
    Q_OBJECT
private slots:
    void promises();
    void curvesAreTheFunctions();
    void ropeIsTheCosineSum();
    void chosenIsLarge();
    void normalisedIsAPictureOnly();
    void mapsFollowTheCurves();
    void learnedFromAFile();
    void transformerXlFromAFile();
    void beyondTheRange();
    void headWithoutFile();
    void fourTerms();
    void orderOfWords();
    void withoutRotationRopeIsBlindToo();
    void whatIsTakenOverIsRight();
    void aPreviewSaysSo();
};

/// After any change the figure is the one that is computed from nothing.
void TestEncodingsFigure::whatIsTakenOverIsRight()
{
    std::vector<std::unique_ptr<ComputeBackend>> backends;
    backends.push_back(makeCpuBackend());
    Engine engine(std::move(backends));
    const auto jsonOf = [](FigureResults results) {
        results.provenance = {};
        return figureToJson(buildFigure(*findFigure("encodings"), results));
    };
    ComputeRequest request;
    request.configurations.push_back({named(64, 64), "A", 0});
    request.figures = {"encodings"};
    std::optional<FigureResults> last;
    const std::vector<std::pair<const char*, const char*>> changes{
        {"encodings_span", "64"},   {"d_model", "96"},        {"alibi_heads", "3"},
        {"encodings_view", "maps"}, {"encodings_span", "40"}, {"encodings_view", "curves"},
        {"alibi_heads", "16"},      {"d_model", "64"}};
    for (std::size_t step = 0; step < 2 * changes.size(); ++step) {
        const auto& [key, value] = changes[step % changes.size()];
        if (step < changes.size() && !request.options.settings.set(key, value))
            QFAIL(key);
        if (step >= changes.size()) { // and what is no setting
            request.options.seed = step % 3;
            request.configurations.front().config.base = 1e4 * static_cast<double>(1 + step % 4);
        }
        for (const bool isCoarse : {true, false}) {
            request.isCoarse = isCoarse;
            auto taken = computeFigureResults(engine, request, last ? &*last : nullptr);
            QVERIFY(taken);
            last = std::move(*taken);
        }
        auto fresh = computeFigureResults(engine, request);
        QVERIFY(fresh);
        QCOMPARE(jsonOf(*last), jsonOf(std::move(*fresh)));
    }
}

/// A preview of the curves has fewer distances where they take their time, and the numbers of the whole
/// there.
void TestEncodingsFigure::aPreviewSaysSo()
{
    FigureAsk ask{"encodings", {named(64, 64)}, {{"encodings_span", "300"}, {"d_model", "128"}}};
    const FigureSpec whole = figureFor(ask);
    ask.isCoarse = true;
    const FigureSpec preview = figureFor(ask);
    QVERIFY(preview.isCoarse && !whole.isCoarse);
    QVERIFY(toEnglish(preview.caption).starts_with("preview"));
    for (const char* name :
         {"rope", "sinusoidal", "transformer_xl", "t5_causal", "deberta_v2", "alibi_head_1"}) {
        const Series& few = *findSeries(preview, name);
        const Series& all = *findSeries(whole, name);
        QCOMPARE(few.x->front(), -300.0);
        QCOMPARE(few.x->back(), 300.0);
        for (std::size_t i = 0; i < few.x->size(); ++i) {
            const double y = (*all.y)[static_cast<std::size_t>((*few.x)[i] + 300.0)];
            QVERIFY2((*few.y)[i] == y || (std::isnan(y) && std::isnan((*few.y)[i])), name);
        }
    }
    QVERIFY(findSeries(preview, "sinusoidal")->x->size() < 100);
}

void TestEncodingsFigure::promises()
{
    for (const char* view : {"curves", "maps", "terms", "order"})
        for (const char* shown : {"rope", "t5", "alibi", "none"})
            for (const char* normalised : {"false", "true"})
                QCOMPARE(brokenPromise(figureFor({"encodings",
                                                  {named(128, 128), named(96, 24)},
                                                  {{"encodings_view", view},
                                                   {"encodings_shown", shown},
                                                   {"encodings_normalised", normalised},
                                                   {"encodings_span", "40"},
                                                   {"d_model", "64"}}})),
                         std::string());
}

void TestEncodingsFigure::curvesAreTheFunctions()
{
    const FigureSpec figure =
        figureFor({"encodings",
                   {named(64, 64)},
                   {{"d_model", "512"}, {"encodings_span", "600"}, {"alibi_heads", "12"}}});
    for (const double r : {-600.0, -128.0, -3.0, 0.0, 1.0, 100.0, 511.0, 512.0}) {
        QCOMPARE(valueAt(figure, "sinusoidal", r), sinusoidalProduct(512, 1e4, r));
        QCOMPARE(valueAt(figure, "transformer_xl", r), TransformerXlTerm(1, 512, 1e4).at(r));
        QCOMPARE(valueAt(figure, "deberta_v1", r), DebertaTerm(1, 64, false).at(std::llround(r)));
        QCOMPARE(valueAt(figure, "none", r), 0.0);
        QCOMPARE(std::isnan(valueAt(figure, "learned", r)),
                 std::fabs(r) > 511.0);                                    // undefined beyond its rows
        QCOMPARE(std::isnan(valueAt(figure, "alibi_head_1", r)), r < 0.0); // causal
    }
    // r = query - key: a key on the left has r > 0, and the buckets below 16.
    QCOMPARE(valueAt(figure, "t5_bidirectional", 64), 14.0);
    QCOMPARE(valueAt(figure, "t5_bidirectional", -64), 30.0);
    QCOMPARE(valueAt(figure, "t5_causal", 64), 26.0);
    QCOMPARE(valueAt(figure, "deberta_index_v2", 200), 256.0 + 169.0);
    QCOMPARE(valueAt(figure, "alibi_head_1", 10), -5.0);
    QCOMPARE(absoluteDifference(*findSeries(figure, "alibi_slopes")->y, alibiSlopes(12), 0.0), QString());
}

void TestEncodingsFigure::ropeIsTheCosineSum()
{
    const FigureSpec figure = figureFor({"encodings", {named(128, 128), named(96, 24)}});
    for (const double r : {-120.0, 0.0, 10.0, 128.0}) {
        long double full = 0.0L, partial = 36.0L; // 36 pairs stay
        for (int i = 0; i < 64; ++i)
            full += std::cos(r * std::pow(1e4L, -2.0L * i / 128.0L));
        for (int i = 0; i < 12; ++i)
            partial += std::cos(r * std::pow(1e4L, -2.0L * i / 24.0L));
        QCOMPARE(absoluteDifference(valueAt(figure, "rope", r, 0), static_cast<double>(full / 64.0L), 1e-13),
                 QString());
        QCOMPARE(
            absoluteDifference(valueAt(figure, "rope", r, 1), static_cast<double>(partial / 48.0L), 1e-13),
            QString());
    }
}

void TestEncodingsFigure::chosenIsLarge()
{
    for (const char* word : {"rope", "sinusoidal", "learned", "transformer_xl", "deberta_index"}) {
        const FigureSpec figure =
            figureFor({"encodings",
                       {named(64, 64)},
                       {{"encodings_shown", word}, {"encodings_view", "maps"}, {"d_model", "64"}}});
        QCOMPARE(figure.maps.front().name, std::string(word));
        QCOMPARE(figure.rowSpan, 2);
        QCOMPARE(figure.more.size(), std::size_t{8});
    }
}

void TestEncodingsFigure::normalisedIsAPictureOnly()
{
    const FigureAsk plain{"encodings", {named(64, 64)}, {{"encodings_span", "40"}, {"d_model", "64"}}};
    FigureAsk normalised = plain;
    normalised.settings.emplace_back("encodings_normalised", "true");
    const FigureSpec before = figureFor(plain);
    const FigureSpec after = figureFor(normalised);
    int drawn = 0;
    for (const PlotSpec* plot : after.plots())
        for (const Series& series : plot->series) {
            if (series.isExported) {
                QCOMPARE(series.style, SeriesStyle::DataOnly);
                const Series* same = findSeries(before, series.name);
                QVERIFY(same);
                for (std::size_t i = 0; i < series.y->size(); ++i)
                    QVERIFY((*series.y)[i] == (*same->y)[i] || std::isnan((*series.y)[i]));
                continue;
            }
            ++drawn;
            double magnitude = 0.0;
            for (const double y : *series.y)
                magnitude = std::max(magnitude, std::isnan(y) ? 0.0 : std::fabs(y));
            QVERIFY(magnitude == 0.0 || std::fabs(magnitude - 1.0) < 1e-15);
        }
    QVERIFY(drawn > 10);
    for (const char* name :
         {"rope", "sinusoidal", "transformer_xl", "alibi_head_1", "none"}) // over one another
        QVERIFY(std::any_of(after.series.begin(), after.series.end(), [&](const Series& series) {
            return series.name == name && series.style == SeriesStyle::Line;
        }));
    QCOMPARE(valueAt(before, "sinusoidal", 0), 32.0);
}

void TestEncodingsFigure::mapsFollowTheCurves()
{
    const FigureAsk ask{"encodings", {named(64, 64)}, {{"d_model", "64"}}};
    const FigureSpec curves = figureFor(ask);
    FigureAsk asMaps = ask;
    asMaps.settings.emplace_back("encodings_view", "maps");
    const FigureSpec maps = figureFor(asMaps);
    const std::pair<const char*, const char*> same[] = {{"rope", "rope"},
                                                        {"sinusoidal", "sinusoidal"},
                                                        {"transformer_xl", "transformer_xl"},
                                                        {"t5", "t5_bidirectional"},
                                                        {"deberta", "deberta_v2"},
                                                        {"deberta_index", "deberta_index_v2"},
                                                        {"alibi", "alibi_head_5"},
                                                        {"none", "none"}};
    for (const auto& [map, curve] : same) {
        const MapSpec* found = findMap(maps, map);
        QVERIFY(found);
        for (const auto& [m, n] : {std::pair{0, 0}, {5, 3}, {3, 5}, {95, 0}, {0, 95}, {60, 59}}) {
            const double cell = (*found->values)[static_cast<std::size_t>(m * found->columns + n)];
            const double value = valueAt(curves, curve, m - n);
            QVERIFY2((std::isnan(cell) && std::isnan(value)) || cell == value, map);
            comparedNumbers.count += 1;
        }
    }
    // The learned map is of the rows themselves, not of the distance.
    const MapSpec* learned = findMap(maps, "learned");
    const std::vector<double> table = randomLearnedTable(1, 512, 64, 0.02);
    double sum = 0.0;
    for (int c = 0; c < 64; ++c)
        sum += table[static_cast<std::size_t>(7 * 64 + c)] * table[static_cast<std::size_t>(3 * 64 + c)];
    QCOMPARE((*learned->values)[static_cast<std::size_t>(7 * learned->columns + 3)], sum);
}

void TestEncodingsFigure::learnedFromAFile()
{
    FigureAsk ask{"encodings", {named(64, 64)}, {{"learned_file", "rows.npy"}, {"d_model", "64"}}};
    const FigureSpec without = figureFor(ask); // a file that is gone: nothing made up in its place
    QCOMPARE(brokenPromise(without), std::string());
    QVERIFY(!findSeries(without, "learned"));
    QCOMPARE(without.notes.size(), std::size_t{1});
    auto tensors = std::make_shared<EncodingTensors>(); // another width than the head's
    tensors->learned = LearnedRows{"rows.npy", 3, 2, {1, 0, 0, 2, 3, 1}};
    ask.options.encodingTensors = tensors;
    const FigureSpec with = figureFor(ask);
    QCOMPARE(valueAt(with, "learned", 0), (1.0 + 4.0 + 10.0) / 3.0);
    QCOMPARE(valueAt(with, "learned", 1), (0.0 + 2.0) / 2.0);
    QCOMPARE(valueAt(with, "learned", -2), 3.0);
    QVERIFY(std::isnan(valueAt(with, "learned", 3)));
    QVERIFY(titled(with, "Learned: rows.npy, 3 × 2"));
    ask.settings.emplace_back("encodings_view", "maps");
    const FigureSpec maps = figureFor(ask);
    const MapSpec* map = findMap(maps, "learned");
    QCOMPARE((*map->values)[static_cast<std::size_t>(2 * map->columns + 1)], 2.0);
    QVERIFY(std::isnan((*map->values)[3]));
}

void TestEncodingsFigure::transformerXlFromAFile()
{
    FigureAsk ask{"encodings", {named(64, 64)}, {{"transformer_xl_file", "xl.npz"}, {"d_model", "64"}}};
    const FigureSpec without = figureFor(ask);
    QCOMPARE(brokenPromise(without), std::string());
    QVERIFY(!findSeries(without, "transformer_xl"));
    QCOMPARE(without.notes.size(), std::size_t{1});
    auto tensors = std::make_shared<EncodingTensors>();
    tensors->transformerXl =
        TransformerXlVector{"xl.npz", 2, 4, {0.5, -1.0, 2.0, 0.25, 1.0, -3.0}, true, false};
    ask.options.encodingTensors = tensors;
    const FigureSpec with = figureFor(ask);
    QVERIFY(titled(with, "Transformer-XL: xl.npz, head 2"));
    QCOMPARE(with.notes.size(), std::size_t{1}); // that u is no part of the curve
    const double a[] = {0.5, -1.0, 2.0}, c[] = {0.25, 1.0, -3.0};
    for (const double r : {-128.0, -1.0, 0.0, 5.0}) {
        long double sum = 0.0L;
        for (int i = 0; i < 3; ++i) {
            const long double angle = r * std::pow(1e4L, -2.0L * i / 6.0L);
            sum += a[i] * std::sin(angle) + c[i] * std::cos(angle);
        }
        QCOMPARE(absoluteDifference(valueAt(with, "transformer_xl", r), static_cast<double>(sum), 1e-13),
                 QString());
    }
}

/// Finite numbers of a file whose products are not: gaps that are said, and axes that hold the rest.
void TestEncodingsFigure::beyondTheRange()
{
    auto tensors = std::make_shared<EncodingTensors>();
    LearnedRows rows;
    rows.name = "table.npy";
    rows.rows = 4;
    rows.width = 1;
    rows.values = {1e200, 1.0, 1e200,
                   1e-200}; // E[0]·E[2] is beyond, and so is every square of the large ones
    tensors->learned = rows;
    TransformerXlVector vector;
    vector.name = "v.npy";
    vector.projected = {1e308, 1e308, 1e308, 1e308};
    tensors->transformerXl = vector;
    FigureAsk ask{
        "encodings",
        {named(64, 64)},
        {{"learned_file", "table.npy"}, {"transformer_xl_file", "v.npy"}, {"encodings_span", "16"}}};
    ask.options.encodingTensors = tensors;
    const FigureSpec figure = figureFor(ask);
    QCOMPARE(brokenPromise(figure), std::string());
    for (const double r : {0.0, 2.0, -2.0})
        QVERIFY(std::isnan(valueAt(figure, "learned", r)));
    QVERIFY(std::isfinite(valueAt(figure, "learned", 1.0)) && std::isfinite(valueAt(figure, "learned", 3.0)));
    QVERIFY(std::isnan(valueAt(figure, "transformer_xl", 0.0))); // 2e308
    const auto said = [&](const char* words) {
        return std::count_if(figure.notes.begin(), figure.notes.end(), [&](const Issue& note) {
            return toEnglish(note.text).find(words) != std::string::npos;
        });
    };
    QCOMPARE(said("table.npy: at 3 of 33 distances the sum of the products is beyond the range"), 1);
    QCOMPARE(said("v.npy: at "), 1);
    // Beyond the rows there is nothing, and nothing to say.
    tensors->learned->values = {1.0, 1.0, 1.0, 1.0};
    tensors->transformerXl->projected = {1.0, 1.0, 1.0, 1.0};
    QVERIFY(figureFor(ask).notes.empty());
}

void TestEncodingsFigure::headWithoutFile()
{
    const FigureSpec figure = figureFor({"encodings", {named(64, 64)}, {{"transformer_xl_head", "3"}}});
    QCOMPARE(figure.notes.size(), std::size_t{1});
    QCOMPARE(toEnglish(figure.notes[0].text),
             std::string("3 is set and has no effect without transformer_xl_file"));
    QVERIFY(figureFor({"encodings", {named(64, 64)}, {{"transformer_xl_head", "0"}}}).notes.empty());
}

void TestEncodingsFigure::fourTerms()
{
    const FigureSpec identity = figureFor({"encodings", {named(96, 24)}, {{"encodings_view", "terms"}}});
    const FigureSpec random =
        figureFor({"encodings", {named(96, 24)}, {{"encodings_view", "terms"}, {"mixing", "random"}}});
    const auto spread = [](const FigureSpec& figure, int term) {
        return valueAt(figure, "diagonal_spread", term);
    };
    for (const FigureSpec* figure : {&identity, &random}) {
        QCOMPARE(spread(*figure, 0), 0.0);   // no position
        QVERIFY(spread(*figure, 1) > 1.0);   // the key's
        QVERIFY(spread(*figure, 2) > 1.0);   // the query's
        QVERIFY(spread(*figure, 4) > 1.0);   // the sum
        QVERIFY(spread(*figure, 5) < 1e-12); // RoPE, whatever M
    }
    QVERIFY(spread(identity, 3) < 1e-12);
    QVERIFY(spread(random, 3) > 1.0); // a general M does not commute with the rotations
    // One cell against the definition.
    std::vector<long double> x(96), m(96), n(96), w(96 * 96);
    for (std::uint32_t c = 0; c < 96; ++c) {
        x[c] = std::sqrt(0.5L) * standardNormal(1, RandomStream::Query, c, 0);
        const long double omega = std::pow(1e4L, -2.0L * (c / 2) / 96.0L);
        m[c] = c % 2 == 0 ? std::sin(11 * omega) : std::cos(11 * omega);
        n[c] = c % 2 == 0 ? std::sin(30 * omega) : std::cos(30 * omega);
        for (std::uint32_t row = 0; row < 96; ++row)
            w[row * 96 + c] = standardNormal(1, RandomStream{7}, c, row) / std::sqrt(96.0L);
    }
    long double expected = 0.0L;
    for (std::size_t row = 0; row < 96; ++row) {
        long double left = 0.0L, right = 0.0L;
        for (std::size_t c = 0; c < 96; ++c) {
            left += w[row * 96 + c] * (x[c] + m[c]);
            right += w[row * 96 + c] * (x[c] + n[c]);
        }
        expected += left * right;
    }
    const MapSpec* sum = findMap(random, "sum");
    QCOMPARE(absoluteDifference((*sum->values)[static_cast<std::size_t>(11 * sum->columns + 30)],
                                static_cast<double>(expected), 1e-11),
             QString());
}

void TestEncodingsFigure::orderOfWords()
{
    const FigureSpec figure = figureFor({"encodings", {named(128, 128)}, {{"encodings_view", "order"}}});
    for (const double word : {0.0, 1.0, 2.0}) {
        QVERIFY(valueAt(figure, "output_difference_none", word) < 1e-14);
        QVERIFY(valueAt(figure, "output_difference_rope", word) > 1e-2);
        QVERIFY(valueAt(figure, "output_difference_sinusoidal", word) > 1e-2);
    }
    for (const char* name : {"attention_none_sentence_1", "attention_rope_sentence_2"}) {
        const Values& weights = findSeries(figure, name)->y;
        for (std::size_t row = 0; row < 3; ++row)
            QCOMPARE(relativeDifference(
                         (*weights)[3 * row] + (*weights)[3 * row + 1] + (*weights)[3 * row + 2], 1.0, 1e-14),
                     QString());
    }
    // bites attends to dog as to a distance of -1 in one sentence, of 1 in the other; without RoPE alike.
    QCOMPARE(absoluteDifference(valueAt(figure, "attention_none_sentence_1", 3),
                                valueAt(figure, "attention_none_sentence_2", 3), 1e-15),
             QString());
    QVERIFY(std::fabs(valueAt(figure, "attention_rope_sentence_1", 3) -
                      valueAt(figure, "attention_rope_sentence_2", 3)) > 1e-3);
    const PlotSpec& table = figure.more.front();
    QCOMPARE(table.table->rows, 9);
    QCOMPARE(table.table->columns, 7);
}

void TestEncodingsFigure::withoutRotationRopeIsBlindToo()
{
    RopeConfig still = named(64, 64);
    still.rule = FrequencyRule::None;
    const FigureSpec figure = figureFor({"encodings", {still}, {{"encodings_view", "order"}}});
    for (const double word : {0.0, 1.0, 2.0})
        QVERIFY(valueAt(figure, "output_difference_rope", word) < 1e-14);
    QCOMPARE(valueAt(figureFor({"encodings", {still}}), "rope", 100.0), 1.0);
}

QTEST_APPLESS_MAIN(TestEncodingsFigure)
#include "test_encodings.moc"
