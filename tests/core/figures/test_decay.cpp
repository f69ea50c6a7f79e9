// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/build_figure.h"
#include "tests/support/compare.h"

#include <QtTest>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

RopeConfig llama2()
{
    RopeConfig config;
    config.name = "LLaMA-2";
    config.maxPositionEmbeddings = 4096;
    return config;
}

FigureOptions to(std::int64_t last)
{
    FigureOptions options;
    options.maxDistance = last;
    return options;
}

/// C(r) of a head whose channels all turn.
double cosineSum(int pairs, double base, double r)
{
    long double sum = 0;
    for (int i = 0; i < pairs; ++i)
        sum += std::cos(r * std::pow(static_cast<long double>(base), -static_cast<long double>(i) / pairs));
    return static_cast<double>(sum / pairs);
}

const Series* drawn(const FigureSpec& figure, const std::string& name)
{
    for (const Series& series : figure.series)
        if (series.name == name && series.style != SeriesStyle::DataOnly)
            return &series;
    return nullptr;
}

} // namespace

class TestDecayFigure : public QObject
{
    Q_OBJECT
private slots:
    void publishedEnvelope();
    void envelopeAgainstALoop();
    void units();
    void floors();
    void difference();
    void realContent();
};

/// maths: at 1000 lower 0.066841, upper 0.321205; at 4096 -0.130671 and 0.279702, for R = 131071.
void TestDecayFigure::publishedEnvelope()
{
    const FigureSpec figure = figureFor({"decay", {llama2()}, {{"decay_envelope", "true"}}, to(131071)});
    QCOMPARE(brokenPromise(figure), std::string());
    QCOMPARE(absoluteDifference(valueAt(figure, "envelope_lower", 1000), 0.066841, 5e-7), QString());
    QCOMPARE(absoluteDifference(valueAt(figure, "envelope_upper", 1000), 0.321205, 5e-7), QString());
    QCOMPARE(absoluteDifference(valueAt(figure, "envelope_lower", 4096), -0.130671, 5e-7), QString());
    QCOMPARE(absoluteDifference(valueAt(figure, "envelope_upper", 4096), 0.279702, 5e-7), QString());
    // The lower one crosses zero where the curve does so first.
    QVERIFY(valueAt(figure, "envelope_lower", 1706) >= 0.0 && valueAt(figure, "envelope_lower", 1707) < 0.0);
    const FigureSpec without = figureFor({"decay", {llama2()}, {}, to(1000)});
    QVERIFY(!findSeries(without, "envelope_lower"));
}

void TestDecayFigure::envelopeAgainstALoop()
{
    const FigureSpec figure = figureFor({"decay", {llama2()}, {{"decay_envelope", "true"}}, to(3000)});
    for (const int r : {0, 1, 7, 500, 2999, 3000}) {
        double least = 2.0, greatest = -2.0;
        for (int at = 0; at <= 3000; ++at) {
            const double value = cosineSum(64, 1e4, at);
            if (at <= r)
                least = std::min(least, value);
            if (at >= r)
                greatest = std::max(greatest, value);
        }
        QCOMPARE(absoluteDifference(valueAt(figure, "envelope_lower", r), least, 1e-10), QString());
        QCOMPARE(absoluteDifference(valueAt(figure, "envelope_upper", r), greatest, 1e-10), QString());
    }
}

void TestDecayFigure::units()
{
    const FigureSpec plain = figureFor({"decay", {llama2()}, {}, to(100)});
    for (const auto& [word, factor] :
         {std::pair{"logit", std::sqrt(128.0)}, {"mean_over_sd", std::sqrt(128.0)}}) {
        const FigureSpec figure = figureFor({"decay", {llama2()}, {{"decay_unit", word}}, to(100)});
        QCOMPARE(brokenPromise(figure), std::string());
        // The data stays in C units, the drawn curve does not.
        QCOMPARE(absoluteDifference(*findSeries(figure, "similar_mean")->y,
                                    *findSeries(plain, "similar_mean")->y, 0.0),
                 QString());
        const Series* shown = drawn(figure, "similar_mean");
        QVERIFY(shown && !shown->isExported);
        for (const std::size_t r : {0, 3, 100})
            QCOMPARE(relativeDifference((*shown->y)[r], factor * cosineSum(64, 1e4, static_cast<double>(r)),
                                        1e-10),
                     QString());
        QVERIFY(figure.yAxis.upper > factor);
        QVERIFY(figure.yAxis.label.text != plain.yAxis.label.text);
    }
    // κ is the model's: the logit of Gemma-2 27B (a = 144) is 128/12 at distance 0.
    RopeConfig gemma = llama2();
    gemma.softmaxFactor = 0.94280904158206336;
    const FigureSpec figure = figureFor({"decay", {gemma}, {{"decay_unit", "logit"}}, to(10)});
    QCOMPARE(relativeDifference(drawn(figure, "similar_mean")->y->front(), 128.0 / 12.0, 1e-12), QString());
}

void TestDecayFigure::floors()
{
    RopeConfig neox;
    neox.name = "NeoX";
    neox.headDim = 96;
    neox.rotaryDim = 24;
    const FigureSpec figure = figureFor({"decay", {neox}, {}, to(1000)});
    const auto found = std::find_if(figure.guides.begin(), figure.guides.end(), [](const GuideLine& guide) {
        return !guide.isVertical && guide.label.text.find("floor") != std::string::npos;
    });
    QVERIFY(found != figure.guides.end());
    QCOMPARE(found->at, 0.5); // 1 - 2·24/96
    for (const double value : *findSeries(figure, "cosine_sum")->y)
        QVERIFY(value >= 0.5);
    // Half of the channels: the floor is the zero line.
    RopeConfig half = neox;
    half.rotaryDim = 48;
    const FigureSpec zero = figureFor({"decay", {half}, {}, to(1000)});
    QVERIFY(zero.guides.front().role == GuideRole::Zero && !zero.guides.front().label.isEmpty());
    // All channels: none.
    const FigureSpec full = figureFor({"decay", {llama2()}, {}, to(1000)});
    for (const GuideLine& guide : full.guides)
        QVERIFY(guide.label.text.find("floor") == std::string::npos);
}

void TestDecayFigure::difference()
{
    RopeConfig larger = llama2();
    larger.base = 5e5;
    const FigureSpec figure =
        figureFor({"decay", {llama2(), larger}, {{"decay_compare", "difference"}}, to(2000)});
    QCOMPARE(brokenPromise(figure), std::string());
    const Series* series = findSeries(figure, "similar_mean_difference", 1);
    QVERIFY(series);
    for (const std::size_t r : {0, 17, 2000})
        QCOMPARE(absoluteDifference((*series->y)[r],
                                    cosineSum(64, 5e5, static_cast<double>(r)) -
                                        cosineSum(64, 1e4, static_cast<double>(r)),
                                    1e-10),
                 QString());
    QVERIFY(!drawn(figure, "similar_mean"));
    QVERIFY(figure.bands.empty());
    const FigureSpec alone = figureFor({"decay", {llama2()}, {{"decay_compare", "difference"}}, to(2000)});
    QVERIFY(toEnglish(alone.failure).find("second configuration") != std::string::npos);
}

void TestDecayFigure::realContent()
{
    auto tensors = std::make_shared<HeadTensors>();
    tensors->name = "small";
    tensors->headDim = 4;
    tensors->tokens = 5;
    tensors->layout = Layout::Half;
    for (int i = 0; i < 20; ++i) {
        tensors->query.push_back(std::sin(1.0 + i));
        tensors->key.push_back(std::cos(2.0 * i));
    }
    FigureOptions options = to(100);
    options.content = Content::File;
    options.tensors = tensors;
    options.m = 4;
    options.n = 0;
    RopeConfig config = llama2();
    config.headDim = config.rotaryDim = 4;
    config.layout = Layout::Half;
    const FigureSpec figure = figureFor({"decay", {config}, {}, options});
    QCOMPARE(brokenPromise(figure), std::string());
    const Series* real = findSeries(figure, "real_mean");
    const Series* without = findSeries(figure, "real_mean_without_rope");
    QVERIFY(real && without);
    QCOMPARE(real->x->size(), std::size_t{5});
    for (std::size_t r = 0; r < 5; ++r) {
        double turned = 0.0, plain = 0.0;
        for (std::size_t m = r; m < 5; ++m)
            for (std::size_t i = 0; i < 2; ++i) {
                const double angle = static_cast<double>(r) * std::pow(1e4, -static_cast<double>(i) / 2.0);
                const double qa = tensors->query[m * 4 + i], qb = tensors->query[m * 4 + i + 2];
                const double ka = tensors->key[(m - r) * 4 + i], kb = tensors->key[(m - r) * 4 + i + 2];
                plain += qa * ka + qb * kb;
                turned += (qa * ka + qb * kb) * std::cos(angle) + (qa * kb - qb * ka) * std::sin(angle);
            }
        const double pairs = 4.0 * static_cast<double>(5 - r);
        QCOMPARE(absoluteDifference((*real->y)[r], turned / pairs, 1e-14), QString());
        QCOMPARE(absoluteDifference((*without->y)[r], plain / pairs, 1e-14), QString());
    }
    options.content = Content::Ones;
    QVERIFY(!findSeries(figureFor({"decay", {config}, {}, options}), "real_mean"));
}

QTEST_GUILESS_MAIN(TestDecayFigure)
#include "test_decay.moc"
