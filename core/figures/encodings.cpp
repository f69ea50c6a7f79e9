// SPDX-License-Identifier: GPL-3.0-or-later
#include "../encodings.h"

#include "../philox.h"
#include "figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace ropewalk {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kBase = 10000.0; // of every added encoding
constexpr int kLearnedRows = 512; // BERT's
constexpr double kLearnedSigma = 0.02;
constexpr int kDebertaWidth = 64;
constexpr int kMapSize = 96;
constexpr int kTermSize = 48;
constexpr double kTokenVariance = 0.5; // of an embedding's channel: that of a sinusoidal vector's
constexpr std::array kWords{"dog", "bites", "man"};
constexpr std::array kSentences{std::array{0, 1, 2}, std::array{2, 1, 0}}; // positions of dog, bites, man

/// One curve of an encoding over the signed distance.
struct Curve
{
    std::string name; ///< of the series
    Message label;
    int configuration = 0;
    bool isConfigurations = false; ///< drawn in the configuration's colour
    std::vector<double> y;
};

/// Of the settings and the like those that a panel depends on; the others are left as they are here.
struct PanelKey
{
    std::string word;
    int width = 0, span = 0, heads = 0;
    std::uint64_t seed = 0;
    std::shared_ptr<const EncodingTensors> tensors = nullptr;

    bool operator==(const PanelKey&) const = default;
};

/// One encoding: its curves and its map.
struct Panel
{
    std::optional<PanelKey> key; ///< what it may be taken over for; empty: it depends on the configurations
    Values distances;            ///< of its curves: all of the span, or a few of them in a preview
    bool isCoarse = false;
    std::string word;
    Message title, axis;
    const char* unit = "1";
    bool isIndex = false;  ///< a number of a bucket, no score
    bool isRandom = false; ///< every distance a draw of its own: points, not a line
    std::vector<Curve> curves;
    std::vector<double> map; ///< [kMapSize × kMapSize], NaN = masked
    int mapConfiguration = 0;
};

/// Where one of the six maps of the four terms came from.
struct TermMap
{
    std::string name;
    std::vector<double> values; ///< [kTermSize × kTermSize]
};

/// Attention over the two sentences under one encoding.
struct OrderResult
{
    std::string word;                           ///< "none", "sinusoidal", "rope"
    std::array<std::vector<double>, 2> weights; ///< by word, not by position: [3 × 3]
    std::array<double, 3> outputDifference{};   ///< of each word, largest over the channels
};

/// What depends on one configuration.
struct OfConfiguration
{
    int configuration = 0;
    std::vector<TermMap> terms;
    std::vector<OrderResult> order;
};

struct EncodingsData : FigureData
{
    int span = 0; ///< the distances are -span..span
    std::vector<Panel> panels;
    std::vector<OfConfiguration> configurations;
    std::vector<Issue> notes; ///< what could not be drawn, and why
};

/// Every cell of a map of f(m, n).
template<class Function>
std::vector<double> cells(int size, Function f)
{
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(size) * static_cast<std::size_t>(size));
    for (int m = 0; m < size; ++m)
        for (int n = 0; n < size; ++n)
            values.push_back(f(m, n));
    return values;
}

/// C(r) of maths: the sum of cosines over the head, still pairs count 1, with A² on the turning ones.
double cosineSum(const ConfigurationResult& result, double distance)
{
    const double square = result.table.attentionFactor * result.table.attentionFactor;
    double sum = 0.0;
    const int pairs = result.shown.config.headDim / 2;
    for (int pair = 0; pair < pairs; ++pair)
        sum += result.table.turns(pair) ? square * std::cos(distance * result.table.theta(pair)) : 1.0;
    return sum / pairs;
}

/// A gap where finite numbers of a file have no finite sum.
double finite(double value)
{
    return std::isfinite(value) ? value : kNone;
}

/// `rows` learned embeddings as they are before training.
LearnedRows untrainedRows(const FigureOptions& options, int rows)
{
    LearnedRows table;
    table.rows = rows;
    table.width = static_cast<int>(options.settings.whole("d_model"));
    table.values = randomLearnedTable(options.seed, table.rows, table.width, kLearnedSigma);
    return table;
}

Panel makePanel(std::string word, Message title, Message axis, const char* unit)
{
    Panel panel;
    panel.word = std::move(word);
    panel.title = std::move(title);
    panel.axis = std::move(axis);
    panel.unit = unit;
    return panel;
}

/// Distances of a preview on one side.
constexpr int kFewDistances = 32;
/// Numbers of a learned table that a preview draws.
constexpr int kFewNumbers = 1 << 15;

/// Fills the panels of all encodings, each as curves over distance and as a map.
class PanelMaker
{
public:
    PanelMaker(FigureJob& job, EncodingsData& data)
        : m_job(job)
        , m_data(data)
        , m_before(dynamic_cast<const EncodingsData*>(job.previous))
        , m_options(job.request.options)
        , m_span(static_cast<int>(m_options.settings.whole("encodings_span")))
        , m_width(static_cast<int>(m_options.settings.whole("d_model")) / 2 * 2)
        , m_hasMaps(!job.request.isCoarse || m_options.settings.is("encodings_view", "maps"))
    {
        std::vector<double> all, few;
        for (int r = -m_span; r <= m_span; ++r)
            all.push_back(r);
        m_all = makeValues(std::move(all));
        const bool isShort = m_span <= kFewDistances;
        for (int k = -kFewDistances; k <= kFewDistances && !isShort; ++k)
            few.push_back(std::round(static_cast<double>(m_span) * k / kFewDistances));
        m_few = isShort ? m_all : makeValues(std::move(few));
        m_data.span = m_span;
    }

    /// False after a stop.
    bool run()
    {
        const int heads = static_cast<int>(m_options.settings.whole("alibi_heads"));
        const std::uint64_t seed = m_options.seed;
        if (!add(nullptr, [&](Panel& panel) { rope(panel); }))
            return false;
        const auto addKnown = [&](const PanelKey& key, auto fill) { return add(&key, fill); };
        if (!addKnown({"sinusoidal", m_width, m_span}, [&](Panel& panel) { sinusoidal(panel); }))
            return false;
        // What is of a file is drawn where the file is open; nothing is made up in its place.
        const auto& files = m_options.encodingTensors;
        if (m_options.settings.text("learned_file").empty()) {
            if (!addKnown({"learned", m_width, m_span, 0, seed}, [&](Panel& panel) {
                    // A preview draws the first rows of the table alone; the means are over these.
                    const bool isCoarse = m_job.request.isCoarse;
                    learned(panel,
                            untrainedRows(m_options, isCoarse ? std::clamp(kFewNumbers / std::max(1, m_width),
                                                                           8, kLearnedRows)
                                                              : kLearnedRows));
                    panel.isCoarse = isCoarse;
                }))
                return false;
        } else if (!files || !files->learned) {
            sayMissing("learned_file", "the learned table is not drawn: {file} is not open");
        } else {
            if (!addKnown({"learned", 0, m_span, 0, 0, files},
                          [&](Panel& panel) { learned(panel, *files->learned); }))
                return false;
            noteGaps("learned_file", files->learned->name, files->learned->rows);
        }
        if (m_options.settings.text("transformer_xl_file").empty()) {
            noteHeadInVain();
            if (!addKnown({"transformer_xl", m_width, m_span, 0, seed}, [&](Panel& panel) {
                    transformerXl(panel, TransformerXlTerm(seed, m_width, kBase),
                                  "Transformer-XL: random weights");
                }))
                return false;
        } else if (!files || !files->transformerXl) {
            sayMissing("transformer_xl_file", "Transformer-XL is not drawn: {file} is not open");
        } else {
            const TransformerXlVector& vector = *files->transformerXl;
            noteVector(vector);
            if (!addKnown({"transformer_xl", 0, m_span, 0, 0, files}, [&](Panel& panel) {
                    transformerXl(
                        panel, TransformerXlTerm(vector.projected, kBase),
                        {vector.heads > 1 ? "Transformer-XL: {file}, head {head}" : "Transformer-XL: {file}",
                         {{"file", vector.name}, {"head", std::to_string(vector.head)}}});
                }))
                return false;
            noteGaps("transformer_xl_file", vector.name, m_span + 1);
        }
        return addKnown({"t5", 0, m_span}, [&](Panel& panel) { t5(panel); }) &&
               addKnown({"deberta", 0, m_span, 0, seed}, [&](Panel& panel) { deberta(panel); }) &&
               addKnown({"deberta_index", 0, m_span}, [&](Panel& panel) { debertaRows(panel); }) &&
               addKnown({"alibi", 0, m_span, heads}, [&](Panel& panel) { alibi(panel, heads); }) &&
               addKnown({"none", 0, m_span}, [&](Panel& panel) { none(panel); });
    }

private:
    /// Takes a panel over from the last data, or makes it; one without a key is always made. False after a
    /// stop.
    template<class Fill>
    bool add(const PanelKey* key, Fill fill)
    {
        if (key && m_before)
            for (const Panel& panel : m_before->panels)
                if (panel.key == *key && !panel.isCoarse) {
                    m_data.panels.push_back(panel);
                    return true;
                }
        Panel panel;
        if (key)
            panel.key = *key;
        panel.distances = m_all;
        fill(panel);
        panel.isCoarse = panel.isCoarse || panel.distances != m_all || (panel.map.empty() && !m_hasMaps);
        m_data.isCoarse = m_data.isCoarse || panel.isCoarse;
        m_data.panels.push_back(std::move(panel));
        return !m_job.stop.stop_requested();
    }

    /// Names a panel whose numbers take their time: a preview has a few distances.
    void begin(Panel& panel, std::string word, Message title, Message axis, const char* unit,
               bool isDear = false) const
    {
        Panel named = makePanel(std::move(word), std::move(title), std::move(axis), unit);
        named.key = std::move(panel.key);
        named.distances = isDear && m_job.request.isCoarse ? m_few : m_all;
        panel = std::move(named);
    }

    /// Every value of f over the panel's distances.
    template<class Function>
    static std::vector<double> over(const Panel& panel, Function f)
    {
        std::vector<double> y(panel.distances->size());
        std::transform(panel.distances->begin(), panel.distances->end(), y.begin(), f);
        return y;
    }

    /// The map of a value that depends on m - n alone, where it is wanted.
    template<class Function>
    void mapOfDistance(Panel& panel, Function f, bool isCheap = false) const
    {
        if (!m_hasMaps && !isCheap)
            return;
        std::vector<double> of(2 * kMapSize);
        for (int d = 1 - kMapSize; d < kMapSize; ++d)
            of[static_cast<std::size_t>(d + kMapSize)] = f(static_cast<double>(d));
        panel.map =
            cells(kMapSize, [&](int m, int n) { return of[static_cast<std::size_t>(m - n + kMapSize)]; });
    }

    void rope(Panel& panel)
    {
        begin(panel, "rope", "RoPE: q and k turn", "score / head_dim", "score/head_dim", m_span > 512);
        for (std::size_t i = 0; i < m_job.configurations.size(); ++i) {
            const ConfigurationResult& result = m_job.configurations[i];
            if (!result.scores || m_job.stop.stop_requested())
                continue;
            const auto sum = [&](double distance) { return cosineSum(result, distance); };
            if (panel.curves.empty()) {
                panel.mapConfiguration = static_cast<int>(i);
                mapOfDistance(panel, sum, true);
            }
            panel.curves.push_back(
                {"rope", result.shown.config.name, static_cast<int>(i), true, over(panel, sum)});
        }
    }

    void sinusoidal(Panel& panel)
    {
        begin(panel, "sinusoidal", "Sinusoidal: right for M = I only", "pₘ · pₙ", "score", true);
        const SinusoidalProduct product(m_width, kBase);
        panel.curves.push_back(
            {"sinusoidal", "sinusoidal", 0, false, over(panel, [&](double r) { return product.at(r); })});
        mapOfDistance(panel, [&](double r) { return product.at(r); });
    }

    void sayMissing(const char* key, const char* text)
    {
        m_data.notes.push_back(
            {Severity::Warning, key, {text, {{"file", std::string(m_options.settings.text(key))}}}});
    }

    void noteHeadInVain()
    {
        const std::string_view head = m_options.settings.text("transformer_xl_head");
        if (head != findFigureSetting("transformer_xl_head")->preset)
            m_data.notes.push_back({Severity::Warning,
                                    "transformer_xl_head",
                                    {"{value} is set and has no effect without transformer_xl_file",
                                     {{"value", std::string(head)}}}});
    }

    /// What a file's finite numbers leave no finite score of, at the distances below `reach` of the last
    /// panel.
    void noteGaps(const char* key, const std::string& file, int reach)
    {
        const Panel& panel = m_data.panels.back();
        const std::vector<double>& y = panel.curves.front().y;
        std::size_t gaps = 0;
        for (std::size_t i = 0; i < y.size(); ++i)
            gaps += std::isnan(y[i]) && std::fabs((*panel.distances)[i]) < reach;
        if (gaps > 0)
            m_data.notes.push_back(
                {Severity::Warning,
                 key,
                 {"{file}: at {count} of {all} distances the sum of the products is beyond the "
                  "range of double precision; the curve has gaps there",
                  {{"file", file},
                   {"count", groupedDigits(static_cast<long long>(gaps))},
                   {"all", groupedDigits(std::ssize(y))}}}});
    }

    void noteVector(const TransformerXlVector& vector)
    {
        if (vector.isGiven)
            m_data.notes.push_back(
                {Severity::Assumed,
                 "transformer_xl_file",
                 {"{file} holds one array, taken for rᵀv of d_model = {width}",
                  {{"file", vector.name}, {"width", groupedDigits(std::ssize(vector.projected))}}}});
        if (vector.hasContentBias)
            m_data.notes.push_back(
                {Severity::Read,
                 "transformer_xl_file",
                 {"{file} has u, too: u · k is the same at every distance, and no part of the "
                  "curve",
                  {{"file", vector.name}}}});
    }

    void learned(Panel& panel, const LearnedRows& table)
    {
        const bool isFromFile = !table.name.empty();
        begin(panel, "learned",
              isFromFile
                  ? Message("Learned: {file}, {rows} × {width}", {{"file", table.name},
                                                                  {"rows", groupedDigits(table.rows)},
                                                                  {"width", groupedDigits(table.width)}})
                  : Message("Learned: {rows} rows, untrained", {{"rows", std::to_string(table.rows)}}),
              "mean of E[m] · E[m − r]", "score", isFromFile);
        panel.isRandom = !isFromFile;
        std::vector<double> means(static_cast<std::size_t>(std::min(m_span + 1, table.rows)), kNone);
        for (const double distance : *panel.distances) { // both signs are alike; undefined beyond the rows
            const auto at = static_cast<std::size_t>(std::fabs(distance));
            if (at >= means.size() || !std::isnan(means[at]))
                continue;
            means[at] =
                finite(meanProductOfRows(table.values, table.rows, table.width, static_cast<int>(at)));
            if (m_job.stop.stop_requested())
                return;
        }
        panel.curves.push_back({"learned", "learned", 0, false, over(panel, [&](double distance) {
                                    const auto at = static_cast<std::size_t>(std::fabs(distance));
                                    return at < means.size() ? means[at] : kNone;
                                })});
        if (!m_hasMaps)
            return;
        const auto rowOf = [&](int position) {
            return std::span(table.values)
                .subspan(static_cast<std::size_t>(position) * static_cast<std::size_t>(table.width),
                         static_cast<std::size_t>(table.width));
        };
        panel.map = cells(kMapSize, [&](int m, int n) {
            return std::max(m, n) < table.rows
                       ? finite(std::inner_product(rowOf(m).begin(), rowOf(m).end(), rowOf(n).begin(), 0.0))
                       : kNone;
        });
    }

    void transformerXl(Panel& panel, const TransformerXlTerm& term, Message title)
    {
        begin(panel, "transformer_xl", std::move(title), "v · W R(r), before 1/√dₕ", "score", true);
        panel.curves.push_back({"transformer_xl", "Transformer-XL", 0, false,
                                over(panel, [&](double r) { return finite(term.at(r)); })});
        mapOfDistance(panel, [&](double r) { return finite(term.at(r)); });
    }

    void t5(Panel& panel) const
    {
        // Relative position in T5 is key - query, so -r.
        begin(panel, "t5", "T5: distances in one bucket", "bucket", "bucket");
        panel.isIndex = true;
        panel.curves.push_back({"t5_bidirectional", "bidirectional", 0, false,
                                over(panel, [](double r) { return t5Bucket(-std::llround(r), true); })});
        panel.curves.push_back({"t5_causal", "causal", 0, false, over(panel, [](double r) {
                                    return r < 0 ? kNone : t5Bucket(-std::llround(r), false);
                                })});
        mapOfDistance(
            panel, [](double r) { return t5Bucket(-std::llround(r), true); }, true);
    }

    void deberta(Panel& panel)
    {
        begin(panel, "deberta", "DeBERTa: at random, d = 64", "score, with 1/√(3d)", "score", true);
        panel.isRandom = true;
        for (const bool isLog : {false, true}) {
            const DebertaTerm both(m_options.seed, kDebertaWidth, isLog);
            const auto at = [&](double r) { return both.at(std::llround(r)); };
            panel.curves.push_back({isLog ? "deberta_v2" : "deberta_v1",
                                    isLog ? "versions 2 and 3" : "version 1", 0, false, over(panel, at)});
            if (isLog)
                mapOfDistance(panel, at);
            if (m_job.stop.stop_requested())
                return;
        }
    }

    void debertaRows(Panel& panel)
    {
        begin(panel, "deberta_index", "DeBERTa: row of the tables", "δ", "row");
        panel.isIndex = true;
        for (const bool isLog : {false, true})
            panel.curves.push_back(
                {isLog ? "deberta_index_v2" : "deberta_index_v1", isLog ? "versions 2 and 3" : "version 1", 0,
                 false, over(panel, [&](double r) { return debertaIndex(std::llround(r), isLog); })});
        mapOfDistance(
            panel, [](double r) { return debertaIndex(std::llround(r), true); }, true);
    }

    void alibi(Panel& panel, int heads)
    {
        const std::vector<double> slopes = alibiSlopes(heads);
        begin(panel, "alibi", "ALiBi: a slope for each head", "bias on the logit", "logit");
        const auto line = [&](std::size_t head) {
            panel.curves.push_back(
                {"alibi_head_" + std::to_string(head + 1),
                 {"head {head}: {slope}",
                  {{"head", std::to_string(head + 1)}, {"slope", shortNumber(slopes[head], 4)}}},
                 0,
                 false,
                 over(panel, [&](double r) { return r < 0 ? kNone : -slopes[head] * r; })});
        };
        // The steepest, the middle and the flattest; with few heads all.
        line(0);
        if (slopes.size() > 2)
            line(slopes.size() / 2);
        if (slopes.size() > 1)
            line(slopes.size() - 1);
        const double middle = slopes[slopes.size() / 2];
        mapOfDistance(
            panel, [&](double r) { return r < 0 ? kNone : -middle * r; }, true);
    }

    void none(Panel& panel)
    {
        begin(panel, "none", "No encoding: no position at all", "bias on the logit", "logit");
        panel.curves.push_back({"none", "no encoding", 0, false, over(panel, [](double) { return 0.0; })});
        mapOfDistance(
            panel, [](double) { return 0.0; }, true);
    }

    FigureJob& m_job;
    EncodingsData& m_data;
    const EncodingsData* m_before;
    const FigureOptions& m_options;
    int m_span, m_width;
    bool m_hasMaps; ///< a preview of the curves has none
    Values m_all, m_few;
};

std::vector<double> randomVector(std::uint64_t seed, std::uint32_t position, int width, double variance)
{
    std::vector<double> vector(static_cast<std::size_t>(width));
    for (std::size_t c = 0; c < vector.size(); ++c)
        vector[c] = std::sqrt(variance) *
                    standardNormal(seed, RandomStream::Query, static_cast<std::uint32_t>(c), position);
    return vector;
}

double product(const std::vector<double>& a, const std::vector<double>& b)
{
    double sum = 0.0;
    for (std::size_t c = 0; c < a.size(); ++c)
        sum += a[c] * b[c];
    return sum;
}

/// Wx, W ~ N(0, 1/width), the rows drawn from `firstRow` on; or x itself.
class Mixer
{
public:
    Mixer(std::uint64_t seed, int width, bool isRandom, int firstRow = 0)
        : m_width(static_cast<std::size_t>(width))
    {
        if (isRandom)
            for (int row = firstRow; row < firstRow + width; ++row)
                for (int column = 0; column < width; ++column)
                    m_matrix.push_back(standardNormal(seed, RandomStream::Mixing,
                                                      static_cast<std::uint32_t>(column),
                                                      static_cast<std::uint32_t>(row)) /
                                       std::sqrt(static_cast<double>(width)));
    }
    std::vector<double> operator()(const std::vector<double>& x) const
    {
        if (m_matrix.empty())
            return x;
        std::vector<double> y(m_width, 0.0);
        for (std::size_t row = 0; row < m_width; ++row)
            for (std::size_t column = 0; column < m_width; ++column)
                y[row] += m_matrix[row * m_width + column] * x[column];
        return y;
    }

private:
    std::size_t m_width;
    std::vector<double> m_matrix;
};

/// A·R(position)·x under the configuration.
Result<std::vector<double>> rotated(FigureJob& job, const ConfigurationResult& result,
                                    const std::vector<double>& x, int position)
{
    std::vector<double> turned(x.size());
    RotateOp op{result.channels.formed,
                result.table.scaled,
                result.table.attentionFactor,
                static_cast<double>(position),
                x,
                turned};
    const auto done = job.engine.run(op, job.stop);
    if (!done)
        return done.error();
    addRun(job.provenance, *done);
    return turned;
}

/// The four terms of (x + p_m)ᵀM(x + p_n) for one token x at every position, M = WᵀW, their sum, and RoPE's
/// score of the same token.
Result<std::vector<TermMap>> fourTerms(FigureJob& job, const ConfigurationResult& result)
{
    const FigureOptions& options = job.request.options;
    const int width = result.shown.config.headDim;
    const Mixer mix(options.seed, width, options.settings.is("mixing", "random"));
    const std::vector<double> content = mix(randomVector(options.seed, 0, width, kTokenVariance));
    std::vector<std::vector<double>> position, turned;
    for (int p = 0; p < kTermSize; ++p) {
        position.push_back(mix(sinusoidalVector(width, kBase, p)));
        auto row = rotated(job, result, content, p);
        if (!row)
            return row.error();
        turned.push_back(std::move(*row));
    }
    const auto at = [](const std::vector<std::vector<double>>& rows, int p) -> const std::vector<double>& {
        return rows[static_cast<std::size_t>(p)];
    };
    std::vector<TermMap> maps{
        {"content_content", cells(kTermSize, [&](int, int) { return product(content, content); })},
        {"content_position", cells(kTermSize, [&](int, int n) { return product(content, at(position, n)); })},
        {"position_content", cells(kTermSize, [&](int m, int) { return product(at(position, m), content); })},
        {"position_position",
         cells(kTermSize, [&](int m, int n) { return product(at(position, m), at(position, n)); })},
    };
    TermMap sum{"sum", maps.front().values};
    for (std::size_t term = 1; term < maps.size(); ++term)
        for (std::size_t cell = 0; cell < sum.values.size(); ++cell)
            sum.values[cell] += maps[term].values[cell];
    maps.push_back(std::move(sum));
    maps.push_back(
        {"rope", cells(kTermSize, [&](int m, int n) { return product(at(turned, m), at(turned, n)); })});
    return maps;
}

/// Attention without a mask over "dog bites man" and "man bites dog": q = W_q x, k = W_k x, v = x.
Result<std::vector<OrderResult>> orderOfWords(FigureJob& job, const ConfigurationResult& result)
{
    const int width = result.shown.config.headDim;
    constexpr int kCount = static_cast<int>(kWords.size());
    const std::uint64_t seed = job.request.options.seed;
    const Mixer queryOf(seed, width, true);
    const Mixer keyOf(seed, width, true, width);
    std::vector<OrderResult> results;
    for (const char* encoding : {"none", "sinusoidal", "rope"}) {
        OrderResult found;
        found.word = encoding;
        std::array<std::vector<double>, 2> outputs; // by word
        for (std::size_t s = 0; s < kSentences.size(); ++s) {
            std::vector<std::vector<double>> queries(kCount), keys(kCount); // by position
            std::vector<double> values(static_cast<std::size_t>(kCount * width));
            for (int w = 0; w < kCount; ++w) {
                const int position = kSentences[s][static_cast<std::size_t>(w)];
                std::vector<double> x = randomVector(seed, static_cast<std::uint32_t>(w + 1), width, 1.0);
                if (found.word == "sinusoidal") {
                    const std::vector<double> p = sinusoidalVector(width, kBase, position);
                    for (std::size_t c = 0; c < x.size(); ++c)
                        x[c] += p[c];
                }
                std::copy(x.begin(), x.end(), values.begin() + std::ptrdiff_t{position} * width);
                const auto at = static_cast<std::size_t>(position);
                queries[at] = queryOf(x);
                keys[at] = keyOf(x);
                if (found.word == "rope")
                    for (std::vector<double>* row : {&queries[at], &keys[at]}) {
                        auto turned = rotated(job, result, *row, position);
                        if (!turned)
                            return turned.error();
                        *row = std::move(*turned);
                    }
            }
            const std::vector<double> logits = cells(kCount, [&](int m, int n) {
                return product(queries[static_cast<std::size_t>(m)], keys[static_cast<std::size_t>(n)]) /
                       std::sqrt(static_cast<double>(width));
            });
            const Attention attended = attention(logits, values, kCount, width);
            const auto positionOf = [&](int w) { return kSentences[s][static_cast<std::size_t>(w)]; };
            found.weights[s] = cells(kCount, [&](int w, int other) {
                return attended.weights[static_cast<std::size_t>(positionOf(w) * kCount + positionOf(other))];
            });
            for (int w = 0; w < kCount; ++w)
                outputs[s].insert(outputs[s].end(),
                                  attended.outputs.begin() + std::ptrdiff_t{positionOf(w)} * width,
                                  attended.outputs.begin() + std::ptrdiff_t{positionOf(w) + 1} * width);
        }
        for (std::size_t i = 0; i < outputs[0].size(); ++i) {
            double& difference = found.outputDifference[i / static_cast<std::size_t>(width)];
            difference = std::max(difference, std::fabs(outputs[0][i] - outputs[1][i]));
        }
        results.push_back(std::move(found));
    }
    return results;
}

// ---- what is drawn

constexpr int kColumns = 4;

/// The large one over two rows and columns, the others around it.
void placePanels(FigureSpec& figure, std::vector<PlotSpec> others)
{
    figure.rowSpan = figure.columnSpan = 2;
    std::size_t next = 0;
    for (int row = 0; next < others.size(); ++row)
        for (int column = row < 2 ? 2 : 0; column < kColumns && next < others.size(); ++column) {
            others[next].row = row;
            others[next].column = column;
            ++next;
        }
    figure.more = std::move(others);
}

void setRange(AxisSpec& axis, double least, double greatest, bool isIndex)
{
    const double room = std::max(1e-9, (greatest - least) * 0.06);
    axis.lower = isIndex ? 0.0 : least - room;
    axis.upper = greatest + room;
    if (least == greatest) {
        axis.lower = least - 1.0;
        axis.upper = greatest + 1.0;
    }
}

PlotSpec curvePlot(const FigureResults& results, const Panel& panel, const EncodingsData& data,
                   bool isNormalised, bool isLarge)
{
    PlotSpec plot;
    plot.plotTitle = panel.title;
    const std::vector<int> colours = freeColours(results);
    constexpr std::array kPatterns{LinePattern::Solid, LinePattern::Dashed, LinePattern::Dotted};
    const Values& x = panel.distances;
    double least = std::numeric_limits<double>::infinity();
    double greatest = -least;
    for (std::size_t k = 0; k < panel.curves.size(); ++k) {
        const Curve& curve = panel.curves[k];
        Series series;
        series.configuration = curve.configuration;
        series.name = curve.name;
        series.unit = panel.unit;
        series.xUnit = "signed_token";
        series.x = x;
        series.y = makeValues(curve.y);
        series.quantity = curve.label;
        if (curve.isConfigurations) {
            series.isEmphasised = curve.configuration == focusIndex(results);
            series.label = letterIfSeveral(results, curve.configuration);
        } else {
            series.colour = colours[k % colours.size()];
            series.pattern = kPatterns[k % kPatterns.size()];
            if (panel.curves.size() > 1 && (isLarge || panel.isIndex))
                series.label = curve.label;
        }
        series.style = panel.isRandom ? SeriesStyle::Points : SeriesStyle::Line;
        if (isNormalised) { // the picture only; the data keeps its unit
            double magnitude = 0.0;
            for (const double y : curve.y)
                magnitude = std::max(magnitude, std::isnan(y) ? 0.0 : std::fabs(y));
            Series shown = series;
            std::vector<double> share = curve.y;
            for (double& y : share)
                y = magnitude > 0.0 ? y / magnitude : 0.0 * y;
            shown.y = makeValues(std::move(share));
            shown.isExported = false;
            series.style = SeriesStyle::DataOnly;
            plot.series.push_back(std::move(shown));
        }
        for (const double y : *(isNormalised ? plot.series.back().y : series.y))
            if (!std::isnan(y)) {
                least = std::min(least, y);
                greatest = std::max(greatest, y);
            }
        plot.series.push_back(std::move(series));
    }
    plot.xAxis = {isLarge ? "distance r = m − n, query − key (tokens)" : "r", AxisKind::Tokens, false,
                  -static_cast<double>(data.span), static_cast<double>(data.span)};
    plot.xAxis.meaning = AxisMeaning::Distance;
    plot.yAxis = {isNormalised ? Message("share of the largest") : panel.axis, AxisKind::Plain, false, 0.0,
                  1.0};
    setRange(plot.yAxis, least, greatest, panel.isIndex);
    if (!panel.isIndex)
        plot.guides.push_back({false, 0.0, GuideRole::Zero, -1, {}});
    return plot;
}

PlotSpec mapPlot(const Panel& panel, int size, bool isLarge)
{
    PlotSpec plot;
    plot.plotTitle = panel.title;
    MapSpec map;
    map.configuration = panel.mapConfiguration;
    map.name = panel.word;
    map.unit = panel.unit;
    map.rows = map.columns = size;
    map.pooling = "none";
    map.values = makeValues(panel.map);
    map.xLower = map.yLower = -0.5;
    map.xUpper = map.yUpper = size - 0.5;
    map.label = panel.axis;
    double magnitude = 0.0;
    for (const double value : panel.map)
        magnitude = std::max(magnitude, std::isnan(value) ? 0.0 : std::fabs(value));
    if (magnitude == 0.0)
        magnitude = 1.0;
    map.colours = panel.isIndex ? ColourTable::Viridis : ColourTable::Diverging;
    map.lower = panel.isIndex ? 0.0 : -magnitude;
    map.upper = magnitude;
    plot.maps.push_back(std::move(map));
    plot.xAxis = {isLarge ? "key position n" : "n", AxisKind::Tokens, false, -0.5, size - 0.5};
    plot.xAxis.meaning = AxisMeaning::KeyPosition;
    plot.yAxis = {isLarge ? "query position m" : "m", AxisKind::Tokens, false, -0.5, size - 0.5};
    plot.yAxis.meaning = AxisMeaning::QueryPosition;
    plot.yAxis.isReversed = true;
    return plot;
}

void moveInto(FigureSpec& figure, PlotSpec plot)
{
    static_cast<PlotSpec&>(figure) = std::move(plot);
}

/// Curves or maps of all encodings, the chosen one large.
void drawPanels(FigureSpec& figure, const FigureResults& results, const EncodingsData& data, bool asMaps)
{
    const FigureSettings& settings = results.options.settings;
    const bool isNormalised = !asMaps && settings.truth("encodings_normalised");
    std::vector<PlotSpec> others;
    const Panel* chosen = &data.panels.front();
    for (const Panel& panel : data.panels)
        if (settings.is("encodings_shown", panel.word))
            chosen = &panel;
    for (const Panel& panel : data.panels) {
        const bool isChosen = &panel == chosen;
        PlotSpec plot = asMaps ? mapPlot(panel, kMapSize, isChosen)
                               : curvePlot(results, panel, data, isNormalised, isChosen);
        if (isChosen)
            moveInto(figure, std::move(plot));
        else
            others.push_back(std::move(plot));
    }
    if (isNormalised) { // one picture of all scores that are curves
        for (const PlotSpec& other : others)
            for (const Series& series : other.series)
                if (!series.isExported && series.style == SeriesStyle::Line && series.unit != "bucket" &&
                    series.unit != "row") {
                    Series overlaid = series;
                    overlaid.label = series.quantity;
                    overlaid.colour =
                        freeColours(results)[figure.series.size() % freeColours(results).size()];
                    figure.series.push_back(std::move(overlaid));
                }
        figure.yAxis.lower = -1.05;
        figure.yAxis.upper = 1.05;
    }
    placePanels(figure, std::move(others));

    const auto distance = static_cast<double>(results.options.m - results.options.n);
    if (!asMaps && results.options.showsSelection && std::fabs(distance) <= data.span)
        figure.guides.push_back({true,
                                 distance,
                                 GuideRole::Selection,
                                 -1,
                                 {"r = {distance}", {{"distance", groupedDigits(std::llround(distance))}}}});
    const std::vector<double> slopes = alibiSlopes(static_cast<int>(settings.whole("alibi_heads")));
    std::vector<double> heads(slopes.size());
    for (std::size_t h = 0; h < heads.size(); ++h)
        heads[h] = static_cast<double>(h + 1);
    Series all;
    all.name = "alibi_slopes";
    all.unit = "logit/token";
    all.xUnit = "head";
    all.x = makeValues(std::move(heads));
    all.y = makeValues(slopes);
    figure.series.push_back(std::move(all));

    const FigureSettingInfo& shown = *findFigureSetting("encodings_shown");
    const auto shownWord = std::find_if(shown.words.begin(), shown.words.end(),
                                        [&](const SettingWord& word) { return word.word == chosen->word; });
    figure.title = {asMaps ? "Encodings of position, query against key: {encoding}"
                           : "Encodings of position over distance: {encoding}",
                    {{"encoding", std::string(shownWord->title)}}};
    figure.formula = "RoPE: 2/dₕ · Σ cos rθ′ᵢ    added: pₘ · pₙ = Σ cos rωᵢ    ALiBi: −slope · r";
    figure.source =
        "arXiv:1706.03762 (sinusoidal), 1810.04805 (learned), 1901.02860 (Transformer-XL), 1910.10683 "
        "(T5), 2006.03654 (DeBERTa), 2108.12409 (ALiBi), 2104.09864 (RoPE)";
    // What is at random and what is of a file stands in the titles of the plots.
    figure.caption = {
        asMaps
            ? "{size} positions · sinusoidal: d_model {width}, base 10 000 · random weights: seed {seed} · "
              "ALiBi: head {head} of {heads}, causal"
            : "each in its own unit, r from −{span} to {span} · sinusoidal: d_model {width}, base 10 000 · "
              "random weights: seed {seed} · ALiBi: {heads} heads",
        {{"size", std::to_string(kMapSize)},
         {"span", groupedDigits(data.span)},
         {"width", groupedDigits(settings.whole("d_model") / 2 * 2)},
         {"seed", std::to_string(results.options.seed)},
         {"head", std::to_string(slopes.size() / 2 + 1)},
         {"heads", std::to_string(slopes.size())}}};
    if (isNormalised)
        figure.caption.text =
            "each over its largest magnitude, so that shapes compare and sizes do not · r from −{span} "
            "to {span} · d_model {width} · weights at random, seed {seed}";
    if (data.isCoarse)
        figure.caption.text = "preview, fewer distances and draws · " + figure.caption.text;
    figure.notes.insert(figure.notes.end(), data.notes.begin(), data.notes.end());
    figure.summary = {
        "Curves of eight encodings of position over the distance between query and key, among them RoPE "
        "for {names}; each in its own unit.",
        {{"names", joinedNames(results)}}};
}

struct TermTitle
{
    const char* name;
    const char* title;
};
constexpr std::array kTermTitles{
    TermTitle{"content_content", "x · Mx: no position"},
    TermTitle{"content_position", "x · Mpₙ: the key's place alone"},
    TermTitle{"position_content", "pₘ · Mx: the query's place alone"},
    TermTitle{"position_position", "pₘ · Mpₙ"},
    TermTitle{"sum", "(x + pₘ) · M(x + pₙ): the sum"},
    TermTitle{"rope", "RoPE, the same token"},
};

/// (x + p_m)ᵀM(x + p_n) in four terms, their sum, and RoPE.
void drawTerms(FigureSpec& figure, const FigureResults& results, const OfConfiguration& chosen)
{
    const bool isRandom = results.options.settings.is("mixing", "random");
    std::vector<double> index, spreads;
    double ropeSpread = 0.0;
    double sumSpread = 0.0;
    for (std::size_t t = 0; t < chosen.terms.size(); ++t) {
        const TermMap& term = chosen.terms[t];
        const double spread = spreadAlongDiagonals(term.values, kTermSize);
        Panel panel = makePanel(term.name, kTermTitles[t].title, "score", "score");
        panel.map = term.values;
        panel.mapConfiguration = chosen.configuration;
        PlotSpec plot = mapPlot(panel, kTermSize, true);
        plot.row = static_cast<int>(t / 3);
        plot.column = static_cast<int>(t % 3);
        if (term.name == "position_position")
            plot.plotTitle = isRandom ? "pₘ · Mpₙ: not m − n alone" : "pₘ · Mpₙ: m − n alone, for M = I";
        if (term.name == "sum")
            sumSpread = spread;
        if (term.name == "rope")
            ropeSpread = spread;
        index.push_back(static_cast<double>(t));
        spreads.push_back(spread);
        if (term.name == "sum") // what attention sees of an added encoding makes the point alone
            moveInto(figure, std::move(plot));
        else
            figure.more.push_back(std::move(plot));
    }
    Series spread;
    spread.configuration = chosen.configuration;
    spread.name = "diagonal_spread";
    spread.unit = "score";
    spread.xUnit = "term";
    spread.x = makeValues(std::move(index));
    spread.y = makeValues(std::move(spreads));
    figure.series.push_back(std::move(spread));
    figure.title = "Added encodings mix content and position, RoPE does not";
    figure.formula = "(x + pₘ) · M(x + pₙ) = x · Mx + x · Mpₙ + pₘ · Mx + pₘ · Mpₙ";
    figure.source = "arXiv:1706.03762, section 3.5; Transformer-XL, arXiv:1901.02860, section 3.3; RoFormer, "
                    "arXiv:2104.09864, section 3";
    figure.caption = {
        isRandom ? "one token at every position, x ~ N(0, ½ I), seed {seed} · M of Wq = Wk ~ N(0, 1/d) at "
                   "random · d = {width} · along a diagonal the added score changes by up to {sum}, "
                   "RoPE's by {rope}"
                 : "one token at every position, x ~ N(0, ½ I), seed {seed} · M = I · d = {width} · along "
                   "a diagonal the added score changes by up to {sum}, RoPE's by {rope}",
        {{"seed", std::to_string(results.options.seed)},
         {"width",
          std::to_string(
              results.configurations[static_cast<std::size_t>(chosen.configuration)].shown.config.headDim)},
         {"sum", shortNumber(sumSpread, 3)},
         {"rope", shortNumber(ropeSpread, 2)}}};
    figure.summary = {
        "Maps of the four terms of an added encoding, query against key: one has no position, two follow "
        "one position alone, and their sum changes along a diagonal by up to {sum}; RoPE's score by "
        "{rope}.",
        {{"sum", shortNumber(sumSpread, 3)}, {"rope", shortNumber(ropeSpread, 2)}}};
}

Message nameOfEncoding(const std::string& word)
{
    for (const EncodingInfo& row : encodings())
        if (row.word == word)
            return std::string(row.title);
    return word;
}

/// What each word of two sentences gets from attention, without and with an encoding.
void drawOrder(FigureSpec& figure, const FigureResults& results, const OfConfiguration& chosen)
{
    const std::vector<int> colours = freeColours(results);
    double greatest = 0.0;
    double blind = 0.0;
    double told = 0.0;
    TableSpec table;
    table.columnHeads = {"1: on dog",   "1: on bites", "1: on man",        "2: on dog",
                         "2: on bites", "2: on man",   "output differs by"};
    table.columns = static_cast<int>(table.columnHeads.size());
    for (std::size_t e = 0; e < chosen.order.size(); ++e) {
        const OrderResult& found = chosen.order[e];
        Series bars;
        bars.configuration = chosen.configuration;
        bars.name = "output_difference_" + found.word;
        bars.unit = "1";
        bars.xUnit = "word";
        bars.x = makeValues({0.0, 1.0, 2.0});
        bars.y = makeValues({found.outputDifference.begin(), found.outputDifference.end()});
        bars.style = SeriesStyle::Bars;
        bars.label = nameOfEncoding(found.word);
        if (found.word != "rope")
            bars.colour = colours[e % colours.size()];
        const double largest = *std::max_element(bars.y->begin(), bars.y->end());
        greatest = std::max(greatest, largest);
        (found.word == "none" ? blind : told) = largest;
        figure.series.push_back(std::move(bars));
        for (std::size_t w = 0; w < kWords.size(); ++w) {
            table.rowHeads.push_back(
                {"{encoding}: {word}",
                 {{"encoding", toEnglish(nameOfEncoding(found.word))}, {"word", kWords[w]}}});
            for (const auto& weights : found.weights)
                for (std::size_t other = 0; other < kWords.size(); ++other)
                    table.cells.push_back({shortNumber(weights[w * kWords.size() + other], 3)});
            TableCell difference{shortNumber(found.outputDifference[w], 3)};
            difference.isStrong = true;
            table.cells.push_back(std::move(difference));
        }
        for (std::size_t s = 0; s < found.weights.size(); ++s) {
            Series weights;
            weights.configuration = chosen.configuration;
            weights.name = "attention_" + found.word + "_sentence_" + std::to_string(s + 1);
            weights.unit = "1";
            weights.xUnit = "query_key"; // 3·query + key, words in the order dog, bites, man
            weights.x = makeValues({0, 1, 2, 3, 4, 5, 6, 7, 8});
            weights.y = makeValues(found.weights[s]);
            figure.series.push_back(std::move(weights));
        }
    }
    table.rows = static_cast<int>(table.rowHeads.size());
    figure.xAxis = {"", AxisKind::Categories, false, -0.5, 2.5};
    for (const char* word : kWords)
        figure.xAxis.categories.push_back(word);
    figure.yAxis = {"largest difference of the output", AxisKind::Plain, false, 0.0, greatest * 1.1};
    figure.plotTitle = "“dog bites man” against “man bites dog”";
    PlotSpec numbers;
    numbers.plotTitle = "Attention of each word in sentence 1, dog bites man, and 2, man bites dog";
    numbers.table = std::move(table);
    numbers.column = 1;
    figure.more.push_back(std::move(numbers));
    figure.columnShares = {2.0, 3.0};
    figure.title = "Without an encoding attention is blind to order";
    figure.formula = "Attn(ΠX) = Π Attn(X)";
    figure.source = "arXiv:1706.03762, section 3.5; RoFormer, arXiv:2104.09864, section 2";
    figure.caption = {
        "embeddings ~ N(0, I), Wq and Wk at random, d = {width}, seed {seed}, no mask (a causal mask alone "
        "already tells order) · the same word's output differs by {blind} without an encoding, by {told} "
        "with RoPE",
        {{"width",
          std::to_string(
              results.configurations[static_cast<std::size_t>(chosen.configuration)].shown.config.headDim)},
         {"seed", std::to_string(results.options.seed)},
         {"blind", shortNumber(blind, 2)},
         {"told", shortNumber(told, 3)}}};
    figure.summary = {
        "Each word's output of attention in “dog bites man” and in “man bites dog”: without an encoding it "
        "differs by {blind}, which is rounding, with RoPE by {told}.",
        {{"blind", shortNumber(blind, 2)}, {"told", shortNumber(told, 3)}}};
}

} // namespace

Result<std::shared_ptr<const FigureData>> computeEncodings(FigureJob& job)
{
    auto data = std::make_shared<EncodingsData>();
    const FigureSettings& settings = job.request.options.settings;
    if (settings.is("encodings_view", "curves") || settings.is("encodings_view", "maps")) {
        if (!PanelMaker(job, *data).run())
            return Error{ErrorCode::Cancelled, {}, {}};
        return std::shared_ptr<const FigureData>(std::move(data));
    }
    for (std::size_t i = 0; i < job.configurations.size(); ++i) {
        const ConfigurationResult& result = job.configurations[i];
        if (!result.scores)
            continue;
        OfConfiguration own;
        own.configuration = static_cast<int>(i);
        if (settings.is("encodings_view", "terms")) {
            auto terms = fourTerms(job, result);
            if (!terms)
                return terms.error();
            own.terms = std::move(*terms);
        } else {
            auto order = orderOfWords(job, result);
            if (!order)
                return order.error();
            own.order = std::move(*order);
        }
        data->configurations.push_back(std::move(own));
    }
    return std::shared_ptr<const FigureData>(std::move(data));
}

FigureSpec buildEncodings(const FigureResults& results)
{
    FigureSpec figure;
    const auto* data = dataOf<EncodingsData>(results, "encodings");
    if (!data) {
        figure.failure = "The encodings are not computed yet";
        return figure;
    }
    const FigureSettings& settings = results.options.settings;
    if (!data->panels.empty()) {
        drawPanels(figure, results, *data, settings.is("encodings_view", "maps"));
        return figure;
    }
    const int focus = focusIndex(results);
    const OfConfiguration* chosen = &data->configurations.front();
    for (const OfConfiguration& own : data->configurations)
        if (own.configuration == focus)
            chosen = &own;
    if (!chosen->terms.empty())
        drawTerms(figure, results, *chosen);
    else
        drawOrder(figure, results, *chosen);
    return figure;
}

} // namespace ropewalk
