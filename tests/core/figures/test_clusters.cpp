// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/clusters.h"
#include "tests/support/build_figure.h"
#include "tests/support/compare.h"
#include "tests/support/random_config.h"

#include <QtTest>

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

/// A file's tensors of `tokens` rows of 4 channels, the two clouds of the reference moved along.
std::shared_ptr<HeadTensors> smallTensors()
{
    auto tensors = std::make_shared<HeadTensors>();
    tensors->name = "small";
    tensors->headDim = 4;
    tensors->tokens = 4;
    tensors->layout = Layout::Half;
    tensors->key = {2.1, 0, 1, 0, 2, 0.1, 1, 0, 2, 0, 1.1, 0, 2, 0, 1, 0.1};
    for (const double value : tensors->key)
        tensors->query.push_back(-value);
    return tensors;
}

const TableSpec& tableOf(const FigureSpec& figure)
{
    for (const PlotSpec* plot : figure.plots())
        if (plot->table)
            return *plot->table;
    qFatal("no table");
}

} // namespace

class TestClustersFigure : public QObject
{
    Q_OBJECT
private slots:
    void promises();
    void withoutRotationBothAreOne();
    void modelDistance();
    void fileContent();
    void layoutsOfAFile();
    void everyStep();
    void gapsAreLeftOut();
    void severalConfigurations();
    void preview();
};

void TestClustersFigure::promises()
{
    std::mt19937 random(4);
    for (int round = 0; round < 12; ++round) {
        RopeConfig config = randomConfig(random);
        config.name = "random";
        if (config.headDim < 2 || config.headDim > 128 || hasError(validate(config)))
            continue;
        const FigureSpec figure =
            figureFor({"clusters", {config}, {{"cluster_points", "16"}, {"cluster_length", "100"}}});
        QCOMPARE(brokenPromise(figure), std::string());
        QVERIFY(figure.failure.isEmpty());
    }
}

void TestClustersFigure::withoutRotationBothAreOne()
{
    RopeConfig config = plain(16);
    config.rule = FrequencyRule::None;
    config.rotaryDim = 0;
    const FigureSpec figure = figureFor({"clusters", {config}, {{"cluster_length", "64"}}});
    QCOMPARE(absoluteDifference(*findSeries(figure, "query")->y, *findSeries(figure, "query_without_rope")->y,
                                0.0),
             QString());
    QCOMPARE(absoluteDifference(*findSeries(figure, "silhouette")->y,
                                *findSeries(figure, "silhouette_without_rope")->y, 0.0),
             QString());
    for (const double share : *findSeries(figure, "centroid_distance_model")->y)
        QCOMPARE(share, 1.0);
}

/// The model's curve against the means of its own law, summed position by position; and the floor of RoPE-ID.
void TestClustersFigure::modelDistance()
{
    const RopeConfig config = plain(8, 100.0);
    const FigureSpec figure = figureFor({"clusters", {config}});
    const Series* model = findSeries(figure, "centroid_distance_model");
    for (std::size_t at = 0; at < model->x->size(); at += 17) {
        const auto count = static_cast<long>((*model->x)[at]);
        long double square = 0;
        for (int pair = 0; pair < 4; ++pair) {
            const long double theta = std::pow(100.0L, -2.0L * pair / 8.0L);
            long double re = 0, im = 0;
            for (long p = 0; p < count; ++p) {
                re += std::cos(p * theta);
                im += std::sin(p * theta);
            }
            square += (re * re + im * im) / (static_cast<long double>(count) * count);
        }
        QCOMPARE(absoluteDifference((*model->y)[at], static_cast<double>(std::sqrt(square / 4)), 1e-12),
                 QString());
    }
    RopeConfig id = plain(128);
    id.rule = FrequencyRule::RopeId;
    id.channels = ChannelScheme::Quarters13;
    id.originalMaxPositionEmbeddings = 4096;
    const FigureSpec half = figureFor({"clusters", {id}, {{"cluster_points", "16"}}});
    QCOMPARE(absoluteDifference(findSeries(half, "centroid_distance_model")->y->back(), std::sqrt(0.5), 1e-3),
             QString());
    // Drawn points agree with the law within their spread.
    QVERIFY(std::fabs(findSeries(half, "centroid_distance")->y->back() - std::sqrt(0.5)) < 0.05);
}

void TestClustersFigure::fileContent()
{
    // The published small example, but at positions 0 to 3 instead of 0, 10, 20, 30.
    FigureOptions options;
    options.m = options.n = 0;
    options.content = Content::File;
    options.tensors = smallTensors();
    const FigureSpec figure = figureFor({"clusters", {plain(4)}, {}, options});
    QCOMPARE(brokenPromise(figure), std::string());
    QVERIFY(!findSeries(figure, "centroid_distance_model"));
    QCOMPARE(findSeries(figure, "query")->y->size(), std::size_t{4});
    const TableSpec& table = tableOf(figure);
    QCOMPARE(QString::fromStdString(toEnglish(table.cells[0].text)),
             QStringLiteral("0.969")); // silhouette without RoPE
    QCOMPARE(QString::fromStdString(toEnglish(table.cells[2].text)),
             QStringLiteral("0.0382")); // Davies-Bouldin
    // With RoPE: the rows turned here by hand.
    const auto turned = [&](const std::vector<double>& rows) {
        std::vector<double> result = rows;
        for (std::size_t p = 0; p < 4; ++p)
            for (std::size_t i = 0; i < 2; ++i) {
                const double angle = static_cast<double>(p) * std::pow(1e4, -static_cast<double>(i) / 2.0);
                const double a = rows[p * 4 + i], b = rows[p * 4 + i + 2];
                result[p * 4 + i] = a * std::cos(angle) - b * std::sin(angle);
                result[p * 4 + i + 2] = a * std::sin(angle) + b * std::cos(angle);
            }
        return result;
    };
    const std::vector<double> q = turned(options.tensors->query), k = turned(options.tensors->key);
    QCOMPARE(absoluteDifference(findSeries(figure, "silhouette")->y->back(), silhouette(q, k, 4), 1e-12),
             QString());
    QCOMPARE(
        relativeDifference(findSeries(figure, "davies_bouldin")->y->back(), daviesBouldin(q, k, 4), 1e-12),
        QString());
    QCOMPARE(absoluteDifference(findSeries(figure, "mean_score")->y->back(), meanCausalScore(q, k, 4) / 4.0,
                                1e-13),
             QString());
}

/// Tensors in another channel order give the same figure once they say so.
void TestClustersFigure::layoutsOfAFile()
{
    FigureOptions options;
    options.m = options.n = 0;
    options.content = Content::File;
    options.tensors = smallTensors();
    const FigureSpec half = figureFor({"clusters", {plain(4)}, {}, options});
    auto other = smallTensors();
    other->layout = Layout::Interleaved;
    for (std::vector<double>* rows : {&other->query, &other->key})
        for (std::size_t at = 0; at < rows->size(); at += 4)
            std::swap((*rows)[at + 1], (*rows)[at + 2]); // pairs (0, 2), (1, 3) become (0, 1), (2, 3)
    options.tensors = other;
    const FigureSpec interleaved = figureFor({"clusters", {plain(4)}, {}, options});
    QCOMPARE(absoluteDifference(*findSeries(interleaved, "query")->y, *findSeries(half, "query")->y, 1e-15),
             QString());
    const auto said = [](const FigureSpec& figure) {
        return std::any_of(figure.notes.begin(), figure.notes.end(), [](const Issue& issue) {
            return toEnglish(issue.text).find("channels are interleaved") != std::string::npos;
        });
    };
    QVERIFY(said(interleaved) && !said(half));
}

void TestClustersFigure::everyStep()
{
    const FigureSpec figure =
        figureFor({"clusters", {plain(8)}, {{"cluster_length", "1000"}, {"cluster_points", "100"}}});
    QCOMPARE(findSeries(figure, "query")->y->size(), std::size_t{100});
    const FigureSpec odd =
        figureFor({"clusters", {plain(8)}, {{"cluster_length", "1001"}, {"cluster_points", "100"}}});
    QCOMPARE(findSeries(odd, "query")->y->size(), std::size_t{91}); // every 11th
    QVERIFY(toEnglish(odd.caption).find("1 in 11 of") != std::string::npos);
}

void TestClustersFigure::gapsAreLeftOut()
{
    FigureOptions options;
    options.m = options.n = 0;
    options.content = Content::File;
    auto tensors = smallTensors();
    tensors->key[5] = std::nan("");
    tensors->notFinite = 1;
    options.tensors = tensors;
    const FigureSpec figure = figureFor({"clusters", {plain(4)}, {}, options});
    QCOMPARE(findSeries(figure, "query")->y->size(), std::size_t{3});
    QVERIFY(toEnglish(figure.caption).find("1 left out") != std::string::npos);
    for (double& value : tensors->query)
        value = std::nan("");
    options.tensors = std::make_shared<HeadTensors>(*tensors);
    const FigureSpec nothing = figureFor({"clusters", {plain(4)}, {}, options});
    QVERIFY(toEnglish(nothing.failure).find("no position") != std::string::npos);
}

void TestClustersFigure::severalConfigurations()
{
    const FigureSpec figure = figureFor({"clusters", {plain(8), plain(8, 5e5)}, {{"cluster_length", "64"}}});
    QCOMPARE(brokenPromise(figure), std::string());
    QVERIFY(findSeries(figure, "query", 0)->style == SeriesStyle::Points);
    QVERIFY(findSeries(figure, "query", 1)->style == SeriesStyle::DataOnly);
    QVERIFY(findSeries(figure, "silhouette", 1)->style == SeriesStyle::Line);
}

void TestClustersFigure::preview()
{
    const FigureSpec figure = figureFor({"clusters", {plain(8)}, {}, {}, true});
    QVERIFY(figure.isCoarse);
    QCOMPARE(findSeries(figure, "query")->y->size(), std::size_t{32});
}

QTEST_GUILESS_MAIN(TestClustersFigure)
#include "test_clusters.moc"
