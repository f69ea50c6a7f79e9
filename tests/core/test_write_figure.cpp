// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/write_figure.h"

#include <QElapsedTimer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <cmath>

using namespace ropewalk;

namespace {

QJsonObject parsed(const std::string& text)
{
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(QByteArray::fromStdString(text), &error);
    if (error.error != QJsonParseError::NoError)
        qFatal("not JSON: %s", qPrintable(error.errorString()));
    return document.object();
}

/// The contract's keys, in the contract's order.
const QStringList kConfigurationKeys{"name",
                                     "layer_type",
                                     "head_dim",
                                     "rotary_dim",
                                     "rotated_channels",
                                     "pairs",
                                     "channels",
                                     "layout",
                                     "base",
                                     "rule",
                                     "rule_parameters",
                                     "attention_factor",
                                     "softmax_factor",
                                     "temperature",
                                     "max_position_embeddings",
                                     "original_max_position_embeddings",
                                     "training_length",
                                     "length",
                                     "inv_freq",
                                     "notes"};

/// The keys of the object that starts at `from` in the text, in the order in which they stand, by their
/// indentation.
QStringList keysInOrder(const std::string& text, int indent)
{
    QStringList keys;
    const QString start = QString(indent, ' ') + '"';
    for (const QString& line : QString::fromStdString(text).split('\n'))
        if (line.startsWith(start))
            keys += line.mid(indent + 1, line.indexOf('"', indent + 1) - indent - 1);
    return keys;
}

RopeConfig llama31()
{
    RopeConfig config;
    config.name = "Llama \"3.1\" θ";
    config.base = 500000;
    config.rule = FrequencyRule::Llama3;
    config.parameters.factor = 8;
    config.maxPositionEmbeddings = 131072;
    config.originalMaxPositionEmbeddings = 8192;
    config.notes = {{Severity::Assumed, "rope_theta", {"{value}: default", {{"value", "500000"}}}}};
    return config;
}

FigureSpec figureOf(std::vector<Series> series, std::size_t configurations = 1)
{
    FigureSpec figure;
    figure.id = "decay";
    for (std::size_t i = 0; i < configurations; ++i)
        figure.configurations.push_back({llama31(), std::string(1, static_cast<char>('A' + i)), 0});
    figure.series = std::move(series);
    figure.provenance = {"cpu", "x86-64", "double", 12.5, {}};
    return figure;
}

Series seriesOf(int configuration, std::string name, std::vector<double> x, std::vector<double> y,
                std::string xUnit = "token")
{
    Series series;
    series.configuration = configuration;
    series.name = std::move(name);
    series.unit = "1";
    series.xUnit = std::move(xUnit);
    series.x = makeValues(std::move(x));
    series.y = makeValues(std::move(y));
    return series;
}

} // namespace

/// The contract of the JSON and CSV files, key by key; frequencies against a long-double loop.
class TestWriteFigure : public QObject
{
    Q_OBJECT

private slots:
    void inspectHasEveryKeyInOrder();
    void inspectValues();
    void inspectOfSeveralFilesIsAList();
    void nothingRotates();
    void firstFraction();
    void yarnParameters();
    void impossibleConfiguration();
    void figureHasEveryKeyInOrder();
    void figureValues();
    void sameFigureSameBytes();
    void csv_data();
    void csv();
    void csvNamesCategories();
    void piecesAreTheWhole();
    void csvOfPhasors();
    void csvOfMap();
    void longCurvesAreQuick();
};

void TestWriteFigure::inspectHasEveryKeyInOrder()
{
    const std::string text = inspectToJson({{"a.json", {}, {llama31()}}});
    QCOMPARE(keysInOrder(text, 2), QStringList({"schema", "file", "notes", "configurations"}));
    QCOMPARE(keysInOrder(text, 6), kConfigurationKeys);
    QVERIFY(text.ends_with("}\n"));
}

void TestWriteFigure::inspectValues()
{
    const QJsonObject root =
        parsed(inspectToJson({{"a b.json", {{Severity::Warning, "x", "remark"}}, {llama31()}}}));
    QCOMPARE(root["schema"].toString(), QStringLiteral("ropewalk.inspect/1"));
    QCOMPARE(root["file"].toString(), QStringLiteral("a b.json"));
    QCOMPARE(root["notes"].toArray().first().toObject()["severity"].toString(), QStringLiteral("warning"));
    const QJsonObject config = root["configurations"].toArray().first().toObject();
    QCOMPARE(config["name"].toString(), QString::fromUtf8("Llama \"3.1\" θ"));
    QVERIFY(config["layer_type"].isNull());
    QCOMPARE(config["head_dim"].toInt(), 128);
    QCOMPARE(config["rotary_dim"].toInt(), 128);
    QCOMPARE(config["rotated_channels"].toInt(), 128);
    QCOMPARE(config["pairs"].toArray().size(), 64);
    QCOMPARE(config["pairs"].toArray()[5].toArray(), (QJsonArray{5, 69}));
    QCOMPARE(config["channels"].toString(), QStringLiteral("all"));
    QCOMPARE(config["layout"].toString(), QStringLiteral("half"));
    QCOMPARE(config["base"].toDouble(), 500000.0);
    QCOMPARE(config["rule"].toString(), QStringLiteral("llama3"));
    QCOMPARE(config["rule_parameters"].toObject(),
             (QJsonObject{{"factor", 8}, {"low_freq_factor", 1}, {"high_freq_factor", 4}}));
    QCOMPARE(config["attention_factor"].toDouble(), 1.0);
    QCOMPARE(config["softmax_factor"].toDouble(), 1.0);
    QCOMPARE(config["temperature"].toObject()["rule"].toString(), QString("none"));
    QCOMPARE(config["temperature"].toObject()["value"].toDouble(), 1.0);
    QCOMPARE(config["max_position_embeddings"].toInt(), 131072);
    QCOMPARE(config["original_max_position_embeddings"].toInt(), 8192);
    QCOMPARE(config["training_length"].toInt(), 8192);
    QCOMPARE(config["length"].toInt(), 8192);
    const QJsonArray frequencies = config["inv_freq"].toArray();
    QCOMPARE(frequencies.size(), 64);
    QCOMPARE(frequencies[0].toDouble(), 1.0);
    const double slowest = static_cast<double>(powl(500000.0L, -126.0L / 128.0L) / 8.0L);
    QVERIFY(std::fabs(frequencies[63].toDouble() / slowest - 1.0) < 1e-13);
    QCOMPARE(QString::number(frequencies[63].toDouble(), 'g', 6), QStringLiteral("3.06893e-07"));
    const QJsonObject note = config["notes"].toArray().first().toObject();
    QCOMPARE(note,
             (QJsonObject{{"severity", "assumed"}, {"field", "rope_theta"}, {"text", "500000: default"}}));
}

void TestWriteFigure::inspectOfSeveralFilesIsAList()
{
    const std::string text = inspectToJson({{"a", {}, {}}, {"b", {}, {}}});
    const QJsonArray files = QJsonDocument::fromJson(QByteArray::fromStdString(text)).array();
    QCOMPARE(files.size(), 2);
    QCOMPARE(files[1].toObject()["file"].toString(), QStringLiteral("b"));
    QVERIFY(files[1].toObject()["configurations"].toArray().isEmpty());
}

void TestWriteFigure::nothingRotates()
{
    RopeConfig config = llama31();
    config.rotaryDim = 0;
    config.length = 1000;
    const QJsonObject root = parsed(inspectToJson({{"a", {}, {config}}}));
    const QJsonObject json = root["configurations"].toArray().first().toObject();
    QStringList keys = json.keys(), expected = kConfigurationKeys;
    expected.sort();
    QCOMPARE(keys, expected);
    QCOMPARE(json["rule"].toString(), QStringLiteral("none"));
    QVERIFY(json["base"].isNull());
    QVERIFY(json["layout"].isNull());
    QVERIFY(json["inv_freq"].isArray() && json["inv_freq"].toArray().isEmpty());
    QVERIFY(json["pairs"].toArray().isEmpty());
    QVERIFY(json["rule_parameters"].toObject().isEmpty());
    QCOMPARE(json["channels"].toString(), QStringLiteral("none"));
    QCOMPARE(json["length"].toInt(), 1000);
}

void TestWriteFigure::firstFraction()
{
    RopeConfig config;
    config.headDim = 96;
    config.rotaryDim = 24;
    config.layout = Layout::Interleaved;
    const QJsonObject root = parsed(inspectToJson({{"a", {}, {config}}}));
    const QJsonObject json = root["configurations"].toArray().first().toObject();
    QCOMPARE(json["channels"].toString(), QStringLiteral("first"));
    QCOMPARE(json["inv_freq"].toArray().size(), 12);
    QCOMPARE(json["pairs"].toArray().size(), 12);
    QCOMPARE(json["pairs"].toArray()[11].toArray(), (QJsonArray{22, 23}));
    QCOMPARE(json["rotated_channels"].toInt(), 24);
    QVERIFY(json["training_length"].isNull());
    QVERIFY(json["length"].isNull());
}

void TestWriteFigure::yarnParameters()
{
    RopeConfig config = llama31();
    config.rule = FrequencyRule::Yarn;
    config.parameters = {};
    config.parameters.truncate = false;
    const QJsonObject root = parsed(inspectToJson({{"a", {}, {config}}}));
    const QJsonObject json = root["configurations"].toArray().first().toObject();
    const QJsonObject expected{{"factor", 16},
                               {"beta_fast", 32},
                               {"beta_slow", 1},
                               {"truncate", false},
                               {"mscale", QJsonValue::Null},
                               {"mscale_all_dim", QJsonValue::Null},
                               {"attention_factor", QJsonValue::Null}};
    QCOMPARE(json["rule_parameters"].toObject(), expected);
    QVERIFY(std::fabs(json["attention_factor"].toDouble() - static_cast<double>(0.1L * logl(16.0L) + 1.0L)) <
            1e-15);
}

void TestWriteFigure::impossibleConfiguration()
{
    RopeConfig config = llama31();
    config.base = 0.5;
    const QJsonObject root = parsed(inspectToJson({{"a", {}, {config}}}));
    const QJsonObject json = root["configurations"].toArray().first().toObject();
    QVERIFY(json["inv_freq"].isNull());
    QVERIFY(json["attention_factor"].isNull());
    QCOMPARE(json["notes"].toArray().last().toObject()["severity"].toString(), QStringLiteral("error"));
}

void TestWriteFigure::figureHasEveryKeyInOrder()
{
    const std::string text = figureToJson(figureOf({seriesOf(0, "similar_mean", {0, 1}, {1, 0.5})}));
    QCOMPARE(keysInOrder(text, 2), QStringList({"schema", "figure", "configurations", "series", "maps",
                                                "phasors", "markers", "notes", "provenance"}));
    QCOMPARE(keysInOrder(text, 6),
             kConfigurationKeys + QStringList({"configuration", "name", "unit", "x_unit", "x", "y"}));
}

void TestWriteFigure::figureValues()
{
    FigureSpec figure = figureOf({seriesOf(0, "similar_mean", {0, 1, 2}, {1, std::nan(""), 0.1})});
    figure.phasors = {{0, 3, 40.0, "q", 0.5, -0.25, false}};
    figure.markers = {{0, "first_negative", std::nullopt, std::nullopt, false, 0.0, {}},
                      {0, "enters_noise", 832.0, 0.08, true, 0.0, {}}};
    figure.maps = {MapSpec{0, "score", "1", 1, 2, 4, "mean", makeValues({0.5, std::nan("")})}};
    figure.notes = {{Severity::Warning, "factor", "dubious"}};
    figure.provenance.fallbackReason = "CUDA is not part of this build";
    const QJsonObject root = parsed(figureToJson(figure));
    QCOMPARE(root["schema"].toString(), QStringLiteral("ropewalk.figure/1"));
    QCOMPARE(root["figure"].toString(), QStringLiteral("decay"));
    const QJsonObject series = root["series"].toArray().first().toObject();
    QCOMPARE(series["x"].toArray(), (QJsonArray{0, 1, 2}));
    QCOMPARE(series["y"].toArray(), (QJsonArray{1, QJsonValue::Null, 0.1}));
    QCOMPARE(series["x_unit"].toString(), QStringLiteral("token"));
    QCOMPARE(
        root["phasors"].toArray().first().toObject(),
        (QJsonObject{
            {"configuration", 0}, {"pair", 3}, {"position", 40}, {"name", "q"}, {"re", 0.5}, {"im", -0.25}}));
    QCOMPARE(root["markers"].toArray(),
             (QJsonArray{
                 QJsonObject{{"configuration", 0},
                             {"name", "first_negative"},
                             {"x", QJsonValue::Null},
                             {"value", QJsonValue::Null}},
                 QJsonObject{{"configuration", 0}, {"name", "enters_noise"}, {"x", 832}, {"value", 0.08}}}));
    QCOMPARE(root["maps"].toArray().first().toObject(),
             (QJsonObject{{"configuration", 0},
                          {"name", "score"},
                          {"unit", "1"},
                          {"rows", 1},
                          {"columns", 2},
                          {"block", 4},
                          {"pooling", "mean"},
                          {"values", QJsonArray{0.5, QJsonValue::Null}}}));
    QCOMPARE(root["notes"].toArray().first().toObject()["field"].toString(), QStringLiteral("factor"));
    const QJsonObject provenance = root["provenance"].toObject();
    QStringList keys = provenance.keys();
    QCOMPARE(keys, QStringList({"backend", "device", "fallback_reason", "precision", "version"}));
    QCOMPARE(provenance["backend"].toString(), QStringLiteral("cpu"));
    QCOMPARE(provenance["fallback_reason"].toString(), QStringLiteral("CUDA is not part of this build"));
    figure.provenance.fallbackReason = {};
    QVERIFY(parsed(figureToJson(figure))["provenance"].toObject()["fallback_reason"].isNull());
}

void TestWriteFigure::sameFigureSameBytes()
{
    FigureSpec figure = figureOf({seriesOf(0, "a", {0, 1}, {1, 0.1})});
    const std::string first = figureToJson(figure);
    figure.provenance.milliseconds = 99.0; // time is never written
    QCOMPARE(figureToJson(figure), first);
}

void TestWriteFigure::csv_data()
{
    QTest::addColumn<FigureSpec>("figure");
    QTest::addColumn<QString>("expected");
    QTest::newRow("one series") << figureOf({seriesOf(0, "mean", {0, 1}, {1, 0.1})})
                                << "token,A.mean\n0,1\n1,0.10000000000000001\n";
    QTest::newRow("side by side where x is shared")
        << figureOf({seriesOf(0, "mean", {0, 1}, {1, 2}), seriesOf(1, "mean", {0, 1}, {3, 4})}, 2)
        << "token,A.mean,B.mean\n0,1,3\n1,2,4\n";
    QTest::newRow("a gap is an empty cell")
        << figureOf({seriesOf(0, "mean", {0, 1}, {std::nan(""), 2})}) << "token,A.mean\n0,\n1,2\n";
    QTest::newRow("a shorter x has no cell")
        << figureOf(
               {seriesOf(0, "f", {0, 1, 2}, {1, 2, 3}, "pair"), seriesOf(1, "f", {0, 2}, {4, 5}, "pair")}, 2)
        << "pair,A.f,B.f\n0,1,4\n1,2,\n2,3,5\n";
    QTest::newRow("another unit of x")
        << figureOf({seriesOf(0, "f", {0, 1}, {1, 2}, "pair"), seriesOf(0, "g", {5}, {6}, "token")})
        << "pair,A.f,token,A.g\n0,1,5,6\n1,2,,\n";
    QTest::newRow("a comma and a quote in a name")
        << figureOf({seriesOf(0, "a,\"b\"", {0}, {1})}) << "token,\"A.a,\"\"b\"\"\"\n0,1\n";
}

void TestWriteFigure::csv()
{
    QFETCH(FigureSpec, figure);
    QFETCH(QString, expected);
    QCOMPARE(QString::fromStdString(figureToCsv(figure)), expected);
}

void TestWriteFigure::csvOfPhasors()
{
    FigureSpec figure = figureOf({});
    figure.phasors = {{0, 3, 40.0, "q", 0.5, -0.25, false}};
    QCOMPARE(figureToCsv(figure),
             std::string("configuration,pair,position,name,re,im\nA,3,40,q,0.5,-0.25\n"));
}

void TestWriteFigure::csvOfMap()
{
    FigureSpec figure = figureOf({});
    figure.maps = {MapSpec{0, "score", "1", 1, 2, 4, "mean", makeValues({0.5, std::nan("")})}};
    QCOMPARE(figureToCsv(figure),
             std::string("configuration,name,row,column,value\nA,score,0,0,0.5\nA,score,0,1,\n"));
}

/// Where x counts names, as of the published results, they stand beside it; other series of the plot do not
/// take them.
void TestWriteFigure::csvNamesCategories()
{
    Series drawn = seriesOf(0, "rope", {0, 1}, {39.7, 0.5}, "row");
    drawn.style = SeriesStyle::Bars;
    FigureSpec figure = figureOf({drawn, seriesOf(0, "weights", {0, 1, 2}, {7, 8, 9}, "cell")});
    figure.xAxis.kind = AxisKind::Categories;
    figure.xAxis.categories = {"4k", {"{a}, \"b\"", {{"a", "x"}}}};
    QCOMPARE(figureToCsv(figure), std::string("row,row_name,A.rope,cell,A.weights\n"
                                              "0,4k,39.700000000000003,0,7\n"
                                              "1,\"x, \"\"b\"\"\",0.5,1,8\n"
                                              ",,,2,9\n"));
}

/// Written in pieces, none of them much longer than a megabyte, a file is the same to the byte.
void TestWriteFigure::piecesAreTheWhole()
{
    std::vector<double> x(60000), y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<double>(i);
        y[i] = std::cos(0.001 * x[i]);
    }
    const FigureSpec figure = figureOf({seriesOf(0, "a", x, y), seriesOf(0, "b", x, y)});
    for (const bool isJson : {true, false}) {
        std::string whole;
        std::size_t longest = 0;
        int pieces = 0;
        const TextSink sink = [&](std::string_view piece) {
            whole += piece;
            longest = std::max(longest, piece.size());
            ++pieces;
        };
        isJson ? writeFigureJson(figure, sink) : writeFigureCsv(figure, sink);
        QVERIFY(whole == (isJson ? figureToJson(figure) : figureToCsv(figure)));
        QVERIFY(pieces > 2);
        QVERIFY(longest < (std::size_t{1} << 20) + 1000);
    }
}

void TestWriteFigure::longCurvesAreQuick()
{
    std::vector<double> x(131073), y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<double>(i);
        y[i] = std::cos(0.001 * static_cast<double>(i));
    }
    std::vector<Series> series;
    for (const char* name : {"a", "b", "c", "d", "e", "f"})
        series.push_back(seriesOf(0, name, x, y));
    const FigureSpec figure = figureOf(std::move(series));
    QElapsedTimer timer;
    timer.start();
    const std::string json = figureToJson(figure);
    const std::string csv = figureToCsv(figure);
    // Generous: sanitizers and a busy machine; without them it is a third of a second.
    QVERIFY2(timer.elapsed() < 10000, qPrintable(QString::number(timer.elapsed())));
    QCOMPARE(std::count(csv.begin(), csv.end(), '\n'), 131074);
    const QJsonArray values = parsed(json)["series"].toArray().last().toObject()["y"].toArray();
    QCOMPARE(values.size(), 131073);
    QCOMPARE(values[131072].toDouble(), y.back());
}

QTEST_APPLESS_MAIN(TestWriteFigure)
#include "test_write_figure.moc"
