// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/build_figure.h"

#include <QtTest>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

RopeConfig llama(std::optional<std::int64_t> training = 4096)
{
    RopeConfig config = plainRope(128, 128, 1e4);
    config.maxPositionEmbeddings = training;
    return config;
}

QString captionOf(const FigureSpec& figure)
{
    return QString::fromStdString(toEnglish(figure.caption));
}

} // namespace

/// What the captions of all figures have in common.
class TestFigureCaptions : public QObject
{
    Q_OBJECT
private slots:
    void aPreviewSaysSo_data();
    void aPreviewSaysSo();
    void sweepNamesWhatIsLeftOut();
    void rangeNamesTheRulesAtZero();
};

void TestFigureCaptions::aPreviewSaysSo_data()
{
    QTest::addColumn<QString>("id");
    QTest::addColumn<bool>("isGeneric"); ///< the figure says nothing itself
    for (const FigureInfo& figure : figureCatalog())
        if (figure.hasPreview) {
            const QString id =
                QString::fromLatin1(figure.id.data(), static_cast<qsizetype>(figure.id.size()));
            QTest::newRow(qPrintable(id)) << id << (id == "clusters" || id == "temperature");
        }
}

void TestFigureCaptions::aPreviewSaysSo()
{
    QFETCH(QString, id);
    QFETCH(bool, isGeneric);
    FigureAsk ask{id.toStdString(), {llama()}};
    // Large enough that each of them previews.
    if (id == "scores")
        ask.settings = {{"map_length", "131072"}, {"map_pairs", "picked"}, {"stage", "softmax"}};
    if (id == "scores" || id == "clusters")
        ask.options.content = id == "scores" ? Content::Gaussian : Content::Clusters;
    const QString whole = captionOf(figureFor({ask.id, ask.configurations, {}, ask.options}));
    ask.isCoarse = true;
    const FigureSpec figure = figureFor(ask);
    QVERIFY2(figure.isCoarse, "no preview was made");
    const QString caption = captionOf(figure);
    QVERIFY2(caption.startsWith("preview"), qPrintable(caption));
    QCOMPARE(caption.count("preview"), 1);
    QVERIFY2(!whole.contains("preview"), qPrintable(whole));
    if (isGeneric)
        QVERIFY2(caption.startsWith("preview · "), qPrintable(caption));
}

/// A configuration that has nothing to sweep over is no map, and its letter says so.
void TestFigureCaptions::sweepNamesWhatIsLeftOut()
{
    RopeConfig still = llama();
    still.rule = FrequencyRule::None;
    const FigureSpec one = figureFor({"sweep", {llama(), still}});
    QVERIFY2(captionOf(one).endsWith("· nothing to sweep in B"), qPrintable(captionOf(one)));
    const FigureSpec two = figureFor({"sweep", {still, llama(), still}});
    QVERIFY2(captionOf(two).endsWith("· nothing to sweep in A, C"), qPrintable(captionOf(two)));
    const FigureSpec all = figureFor({"sweep", {llama(), llama()}});
    QVERIFY2(!captionOf(all).contains("nothing to sweep"), qPrintable(captionOf(all)));
}

/// Position Interpolation brings every length back into the training range; the plain schedule does not.
void TestFigureCaptions::rangeNamesTheRulesAtZero()
{
    const FigureSpec figure = figureFor({"range", {llama()}});
    const QString caption = captionOf(figure);
    const qsizetype at = caption.indexOf("at every N less than 0.1 % under ");
    QVERIFY2(at > 0, qPrintable(caption));
    QVERIFY2(caption.mid(at).contains("PI"), qPrintable(caption));
    QVERIFY2(!caption.mid(at).contains("plain"), qPrintable(caption));
    for (const PlotSpec* plot : figure.plots())
        for (const Series& series : plot->series) {
            if (series.style != SeriesStyle::Line || series.isOnSecondAxis)
                continue;
            // What is hovered over says the whole name, also where the curve has none of its own.
            QVERIFY2(!series.quantity.isEmpty(), series.name.c_str());
            QCOMPARE(series.x->back(), 131072.0); // 32 training lengths
        }
    // Of two training lengths both go as far, whichever is first.
    const FigureSpec turned = figureFor({"range", {llama(8192), llama()}});
    const FigureSpec both = figureFor({"range", {llama(), llama(8192)}});
    for (const int configuration : {0, 1})
        for (const FigureSpec* figureOfTwo : {&both, &turned})
            QCOMPARE(seriesOf(*figureOfTwo, "mean_unseen_arc", configuration).x->back(), 262144.0);
    // Its markers are not hidden: nothing is filled in the plot of the turns.
    for (const PlotSpec* plot : both.plots())
        if (std::any_of(plot->series.begin(), plot->series.end(),
                        [](const Series& series) { return series.name == "turns"; }))
            for (const Series& series : plot->series)
                QVERIFY(series.style != SeriesStyle::Bars);
}

QTEST_APPLESS_MAIN(TestFigureCaptions)
#include "test_captions.moc"
