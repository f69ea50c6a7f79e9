// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/session_file.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/why_no_cuda.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace ropewalk;

namespace {

constexpr const char* kBinary = ROPEWALK_BINARY;

struct Run
{
    int code = -1;
    QByteArray out, err;
};

const QByteArray kLlama = R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":32,
    "max_position_embeddings":131072,"rope_theta":500000.0,"rope_scaling":{"factor":8.0,"low_freq_factor":1.0,
    "high_freq_factor":4.0,"original_max_position_embeddings":8192,"rope_type":"llama3"}})";

} // namespace

/// The real binary: exit codes, sentences, and the JSON that scripts read.
class TestCli : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void exitCodes_data();
    void exitCodes();
    void helpAndVersion();
    void inspectJson();
    void inspectSeveral();
    void comparisonOfSeveral();
    void otherKindsOfFiles();
    void kindsOfLayersOfPresets();
    void presetsByWord();
    void inspectOneBadOfSeveral();
    void inspectSet();
    void inspectForPeople();
    void inspectWithoutRotation();
    void namesInUtf8();
    void renderSpectrum();
    void renderDecay();
    void renderPlane();
    void renderPairs();
    void renderCsv();
    void renderSession();
    void renderTwice();
    void renderPictures_data();
    void renderPictures();
    void check();
    void outputStaysWhenRefused();
    void backendRecorded();
    void lists();
    void backends();
    void gallery();
    void closedPipe();
    void anotherLocale();

private:
    Run run(const QStringList& arguments, const QProcessEnvironment& environment = {}) const;
    QJsonObject json(const QStringList& arguments) const;
    /// Renders to JSON and reads it.
    QJsonObject figure(const QString& id, const QStringList& arguments) const;
    QString path(const QString& name) const { return m_folder.filePath(name); }
    QString write(const QString& name, const QByteArray& content) const;
    QByteArray content(const QString& name) const;

    QTemporaryDir m_folder;
};

Run TestCli::run(const QStringList& arguments, const QProcessEnvironment& environment) const
{
    QProcess process;
    if (!environment.isEmpty())
        process.setProcessEnvironment(environment);
    process.setWorkingDirectory(m_folder.path());
    process.start(QLatin1String(kBinary), arguments);
    if (!process.waitForFinished(120000) || process.exitStatus() != QProcess::NormalExit)
        return {};
    return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
}

QJsonObject TestCli::json(const QStringList& arguments) const
{
    const Run result = run(arguments);
    if (result.code != 0 || !result.err.isEmpty())
        qFatal("%d: %s", result.code, result.err.constData());
    return QJsonDocument::fromJson(result.out).object();
}

QJsonObject TestCli::figure(const QString& id, const QStringList& arguments) const
{
    const Run result = run(QStringList{"render", id} + arguments + QStringList{"-o", "figure.json"});
    if (result.code != 0 || !result.err.isEmpty() || !result.out.isEmpty())
        qFatal("%d: %s", result.code, result.err.constData());
    return QJsonDocument::fromJson(content("figure.json")).object();
}

QString TestCli::write(const QString& name, const QByteArray& content) const
{
    QFile file(path(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
        qFatal("cannot write %s", qPrintable(name));
    return name;
}

QByteArray TestCli::content(const QString& name) const
{
    QFile file(path(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void TestCli::initTestCase()
{
    QVERIFY(m_folder.isValid());
    QVERIFY(QFile::exists(QLatin1String(kBinary)));
    write("llama.json", kLlama);
    write("gpt2.json", R"({"model_type":"gpt2","n_embd":768,"n_head":12})");
    write("bad.json", R"({"model_type":"llama","hidden_size":4096,)");
    write("string.json",
          R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":32,"rope_theta":"1e6"})");
    QDir(m_folder.path()).mkdir("folder");
}

void TestCli::exitCodes_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("code");
    QTest::addColumn<QStringList>("words"); ///< that stderr has to hold
    const auto row = [](const char* name, const QStringList& arguments, int code,
                        const QStringList& words = {}) { QTest::newRow(name) << arguments << code << words; };
    row("inspect", {"inspect", "llama.json"}, 0);
    row("nothing rotates is fine", {"inspect", "gpt2.json"}, 0);
    row("no command like it", {"inspct"}, 1, {"inspct", "inspect"});
    row("no option like it", {"--versoin"}, 1, {"--versoin", "--version"});
    row("inspect nothing", {"inspect"}, 1, {"FILE"});
    row("inspect, unknown option", {"inspect", "--jsn", "llama.json"}, 1, {"--jsn", "--json"});
    row("inspect, option without value", {"inspect", "llama.json", "--set"}, 1, {"--set"});
    row("inspect, option with a value too many", {"inspect", "llama.json", "--json=yes"}, 1, {"--json"});
    row("inspect, unknown key", {"inspect", "llama.json", "--set", "bass=1"}, 1, {"bass", "base"});
    row("inspect, not a setting", {"inspect", "llama.json", "--set", "base"}, 1, {"key=value"});
    row("inspect, lists missing", {"inspect", "llama.json", "--set", "rule=longrope"}, 2,
        {"longrope", "short_factor"});
    row("inspect, unknown rule", {"inspect", "llama.json", "--set", "rule=shortrope"}, 1,
        {"shortrope", "longrope"});
    row("inspect, layer type", {"inspect", "llama.json", "--layer-type", "full_attention"}, 1,
        {"full_attention"});
    row("inspect, impossible setting", {"inspect", "llama.json", "--set", "base=0.5"}, 2, {"base is 0.5"});
    row("inspect, missing file", {"inspect", "missing.json"}, 2, {"missing.json"});
    row("inspect, a folder", {"inspect", "folder"}, 2, {"folder"});
    row("inspect, cut short", {"inspect", "bad.json"}, 2, {"bad.json", "line 1"});
    row("inspect, a number as text", {"inspect", "string.json"}, 2, {"string.json", "rope_theta", "number"});
    row("render nothing", {"render"}, 1, {"FIGURE"});
    row("render two", {"render", "decay", "plane", "-o", "x.json"}, 1, {"one FIGURE"});
    row("render unknown", {"render", "deacy", "-o", "x.json"}, 1, {"deacy", "decay"});
    row("render without -o", {"render", "decay"}, 1, {"-o"});
    row("render .tex", {"render", "decay", "-o", "x.tex"}, 1, {".tex", "not built yet"});
    row("render without ending", {"render", "decay", "-o", "x"}, 1, {"x has no ending"});
    row("render unknown ending", {"render", "decay", "-o", "x.jpeg"}, 1, {"x.jpeg"});
    row("render, -o twice", {"render", "decay", "-o", "x.json", "-o", "y.json"}, 1, {"-o stands twice"});
    row("render, two sources",
        {"render", "decay", "--preset", "llama-2-7b", "--config", "llama.json", "-o", "x.json"}, 1,
        {"one of"});
    row("render, unknown preset", {"render", "decay", "--preset", "llama-3-9b", "-o", "x.json"}, 1,
        {"llama-3-8b"});
    row("render, size", {"render", "decay", "--size", "85", "-o", "x.pdf"}, 1, {"--size"});
    row("render, size in inches", {"render", "decay", "--size", "3x2in", "-o", "x.pdf"}, 1, {"3x2in"});
    row("render, size too large", {"render", "decay", "--size", "2000x10mm", "-o", "x.pdf"}, 1, {"--size"});
    row("render, dpi", {"render", "decay", "--dpi", "3", "-o", "x.png"}, 1, {"--dpi"});
    row("render, theme", {"render", "decay", "--theme", "blue", "-o", "x.png"}, 1, {"blue"});
    row("render, backend", {"render", "decay", "--backend", "gpu", "-o", "x.json"}, 1, {"gpu"});
    row("render, level of the processor", {"render", "decay", "--cpu-level", "v5", "-o", "x.json"}, 1,
        {"v5", "v2, v3 or v4"});
    row("backends, level of the processor", {"backends", "--cpu-level", "sse"}, 1, {"sse", "v2, v3 or v4"});
    row("the window, level of the processor", {"--cpu-level=sse", "llama.json"}, 1, {"sse", "v2, v3 or v4"});
    row("a level before a command that has none", {"--cpu-level", "auto", "list", "rules"}, 1,
        {"--cpu-level"});
    row("render, layer type without file", {"render", "decay", "--layer-type", "x", "-o", "x.json"}, 1,
        {"--config"});
    row("render, unknown key", {"render", "decay", "--set", "bse=1", "-o", "x.json"}, 1, {"bse", "base"});
    row("render, no such letter", {"render", "decay", "--set", "B.base=1e6", "-o", "x.json"}, 1, {"B"});
    row("render, missing file", {"render", "decay", "--config", "missing.json", "-o", "x.json"}, 2,
        {"missing.json"});
    row("render, missing session", {"render", "decay", "--session", "missing.json", "-o", "x.json"}, 2,
        {"missing.json"});
    row("render, a model is no session", {"render", "decay", "--session", "llama.json", "-o", "x.json"}, 2,
        {"llama.json", "schema"});
    row("render, nothing rotates", {"render", "decay", "--config", "gpt2.json", "-o", "x.json"}, 2, {"gpt2"});
    row("render, impossible", {"render", "decay", "--set", "rotary_dim=63", "-o", "x.json"}, 2,
        {"odd rotary width 63"});
    if (const QString reason = ropewalk::test::whyNoCuda(); !reason.isEmpty())
        row("render on CUDA", {"render", "spectrum", "--backend", "cuda", "-o", "x.json"}, 3, {reason});
    row("render into nowhere", {"render", "spectrum", "-o", "nowhere/x.json"}, 4, {"nowhere/x.json"});
    row("render over a folder", {"render", "spectrum", "-o", "folder.json"}, 4, {"folder.json"});
    row("check against nothing", {"render", "spectrum", "--check", "-o", "never.json"}, 2, {"never.json"});
    row("list nothing", {"list"}, 1, {"presets, figures, rules, temperatures or tensors"});
    row("list unknown", {"list", "models"}, 1, {"models"});
    row("backends of something", {"backends", "cuda"}, 1, {"cuda"});
    row("gallery nowhere", {"gallery"}, 1, {"-o FOLDER"});
    row("gallery of a bad file", {"gallery", "bad.json", "-o", "g"}, 2, {"bad.json"});
}

void TestCli::exitCodes()
{
    QDir(m_folder.path()).mkdir("folder.json");
    QFETCH(QStringList, arguments);
    QFETCH(int, code);
    QFETCH(QStringList, words);
    const Run result = run(arguments);
    QVERIFY2(result.code == code, (QByteArray::number(result.code) + ": " + result.err).constData());
    if (code == 0) {
        QVERIFY2(result.err.isEmpty(), result.err.constData());
        return;
    }
    QVERIFY2(result.out.isEmpty(), "something was printed although it failed");
    QVERIFY2(result.err.startsWith("error: "), result.err.constData());
    QCOMPARE(result.err.count('\n'), 1);
    for (const QString& word : words)
        QVERIFY2(QString::fromUtf8(result.err).contains(word), result.err.constData());
    QVERIFY(!QFile::exists(path("x.json")));
}

void TestCli::helpAndVersion()
{
    for (const QStringList& arguments :
         {QStringList{"--help"}, {"-h"}, {"render", "--help"}, {"inspect", "-h"}}) {
        const Run result = run(arguments);
        QCOMPARE(result.code, 0);
        QVERIFY(result.out.contains("ropewalk"));
        QVERIFY(result.err.isEmpty());
    }
    const Run version = run({"--version"});
    QCOMPARE(version.code, 0);
    QVERIFY(QString::fromUtf8(version.out).startsWith("ropewalk 0."));
}

void TestCli::inspectJson()
{
    const QJsonObject root = json({"inspect", "llama.json", "--json"});
    QCOMPARE(root["schema"].toString(), QStringLiteral("ropewalk.inspect/1"));
    QCOMPARE(root["file"].toString(), QStringLiteral("llama.json"));
    QCOMPARE(root["configurations"].toArray().size(), 1);
    const QJsonObject config = root["configurations"].toArray().first().toObject();
    QCOMPARE(config["name"].toString(), QStringLiteral("llama"));
    QCOMPARE(config["rule"].toString(), QStringLiteral("llama3"));
    const QJsonArray frequencies = config["inv_freq"].toArray();
    QCOMPARE(frequencies.size(), 64);
    QCOMPARE(QString::number(frequencies.last().toDouble(), 'g', 6), QStringLiteral("3.06893e-07"));
    QVERIFY(!config["notes"].toArray().isEmpty());
}

void TestCli::inspectSeveral()
{
    const Run result = run({"inspect", "--json", "llama.json", "gpt2.json"});
    QCOMPARE(result.code, 0);
    const QJsonArray files = QJsonDocument::fromJson(result.out).array();
    QCOMPARE(files.size(), 2);
    QCOMPARE(files[0].toObject()["file"].toString(), QStringLiteral("llama.json"));
    QVERIFY(files[1].toObject()["configurations"].toArray().isEmpty());
}

void TestCli::comparisonOfSeveral()
{
    write("gemma.json", R"({"model_type":"gemma3","text_config":{"hidden_size":2560,
          "rope_scaling":{"factor":8.0,"rope_type":"linear"}}})");
    const QString page = QString::fromUtf8(run({"inspect", "llama.json", "gemma.json", "gpt2.json"}).out);
    const QString table = page.section("comparison\n", 1);
    const QStringList lines = table.split('\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 5); // a head, and one line a kind of layer
    QVERIFY2(lines[1].contains("llama.json") && lines[1].contains("llama3"), qPrintable(lines[1]));
    QVERIFY2(lines[2].contains("full_attention") && lines[2].contains("1000000"), qPrintable(lines[2]));
    QVERIFY2(lines[3].contains("sliding_attention") && lines[3].contains("10000"), qPrintable(lines[3]));
    QVERIFY2(lines[4].contains("gpt2.json") && lines[4].contains("none"), qPrintable(lines[4]));
    // One file is compared with nothing.
    QVERIFY(!run({"inspect", "llama.json"}).out.contains("comparison"));
}

void TestCli::otherKindsOfFiles()
{
    // By content, whatever the name.
    const std::string gguf = ropewalk::test::GgufBuilder()
                                 .text("general.architecture", "llama")
                                 .uint32("llama.embedding_length", 4096)
                                 .uint32("llama.attention.head_count", 32)
                                 .float32("llama.rope.freq_base", 5e5F)
                                 .bytes();
    for (const char* name : {"model.gguf", "model.json"}) {
        write(name, QByteArray::fromStdString(gguf));
        const QJsonObject config =
            json({"inspect", name, "--json"})["configurations"].toArray().first().toObject();
        QCOMPARE(config["layout"].toString(), QStringLiteral("interleaved"));
        QCOMPARE(config["base"].toDouble(), 5e5);
        QVERIFY(!figure("spectrum", {"--config", name})["series"].toArray().isEmpty());
    }
    write("params.json", R"({"dim":4096,"n_heads":32,"n_layers":32})");
    const QJsonObject params =
        json({"inspect", "params.json", "--json"})["configurations"].toArray().first().toObject();
    QCOMPARE(params["layout"].toString(), QStringLiteral("interleaved"));
    write("cut.gguf", QByteArray::fromStdString(gguf.substr(0, gguf.size() - 20)));
    const Run cut = run({"inspect", "cut.gguf"});
    QCOMPARE(cut.code, 2);
    QVERIFY(cut.err.contains("cut.gguf") && cut.err.contains("breaks off"));
}

void TestCli::kindsOfLayersOfPresets()
{
    // A setting of another figure is said to be set in vain.
    const auto inVain = [this](const QStringList& set) {
        QStringList fields;
        for (const QJsonValue& note : figure("spectrum", set)["notes"].toArray())
            if (note.toObject()["text"].toString().contains("has no effect on spectrum"))
                fields.append(note.toObject()["field"].toString());
        return fields;
    };
    QCOMPARE(inVain({"--set", "stage=softmax", "--set", "spectrum_value=turns"}), QStringList{"stage"});
    const QJsonArray both = figure("spectrum", {"--preset", "gemma-3-4b"})["configurations"].toArray();
    QCOMPARE(both.size(), 2);
    const QJsonArray one =
        figure("spectrum", {"--preset", "gemma-3-4b", "--layer-type", "sliding_attention"})["configurations"]
            .toArray();
    QCOMPARE(one.size(), 1);
    QCOMPARE(one[0].toObject()["base"].toDouble(), 1e4);
    const Run closed = run({"render", "spectrum", "--preset", "palm-2", "-o", "x.json"});
    QCOMPARE(closed.code, 2);
    QVERIFY(closed.err.contains("PaLM 2") && closed.err.contains("not public"));
}

void TestCli::presetsByWord()
{
    const QString gemma = QString::fromUtf8(run({"list", "presets", "gemma"}).out);
    QVERIFY(gemma.contains("gemma-3-4b") && gemma.contains("verified"));
    for (const QString& line : gemma.split('\n', Qt::SkipEmptyParts))
        QVERIFY2(line.contains("gemma", Qt::CaseInsensitive), qPrintable(line));
    QVERIFY(run({"list", "presets", "palm"}).out.contains("not public"));
    QCOMPARE(run({"list", "rules", "yarn"}).code, 1);
    QCOMPARE(json({"list", "presets", "qwen3-8b", "--json"})["presets"].toArray().size(), 1);
}

void TestCli::inspectOneBadOfSeveral()
{
    const Run result = run({"inspect", "llama.json", "bad.json", "missing.json"});
    QCOMPARE(result.code, 2);
    QVERIFY(result.out.isEmpty());
    QVERIFY(result.err.contains("bad.json") && result.err.contains("missing.json"));
    QVERIFY(!result.err.contains("llama.json"));
}

void TestCli::inspectSet()
{
    const QJsonObject config = json({"inspect", "llama.json", "--json", "--set", "rule=default",
                                     "--set=base=10000", "--set", "length=1e5"})["configurations"]
                                   .toArray()
                                   .first()
                                   .toObject();
    QCOMPARE(config["rule"].toString(), QStringLiteral("default"));
    QCOMPARE(config["base"].toDouble(), 10000.0);
    QCOMPARE(config["length"].toInt(), 100000);
    QCOMPARE(config["training_length"].toInt(), 8192);
    QVERIFY(config["rule_parameters"].toObject().isEmpty());
}

void TestCli::inspectForPeople()
{
    const QString page = QString::fromUtf8(run({"inspect", "llama.json"}).out);
    for (const char* word : {"head_dim", "500000", "llama3", "kept", "blended", "slowed", "3.06893e-07",
                             "8192", "what was found", "rope_theta"})
        QVERIFY2(page.contains(QLatin1String(word)), word);
}

void TestCli::inspectWithoutRotation()
{
    const QJsonObject root = json({"inspect", "gpt2.json", "--json"});
    QVERIFY(root["configurations"].toArray().isEmpty());
    QVERIFY(root["notes"].toArray().first().toObject()["text"].toString().contains("no layer rotates"));
    QVERIFY(run({"inspect", "gpt2.json"}).out.contains("no layer rotates"));
}

void TestCli::namesInUtf8()
{
    const QString name = QString::fromUtf8("模型 θ é.json");
    write(name, kLlama);
    const QJsonObject root = json({"inspect", name, "--json"});
    QCOMPARE(root["file"].toString(), name);
    QCOMPARE(root["configurations"].toArray().first().toObject()["name"].toString(),
             QString::fromUtf8("模型 θ é"));
    const QString output = QString::fromUtf8("図.json");
    QCOMPARE(run({"render", "spectrum", "--config", name, "-o", output}).code, 0);
    QVERIFY(QFile::exists(path(output)));
    // config.json is named after its folder.
    QVERIFY(QDir(m_folder.path()).mkdir("my-model"));
    write("my-model/config.json", kLlama);
    QCOMPARE(json({"inspect", "my-model/config.json", "--json"})["configurations"]
                 .toArray()
                 .first()
                 .toObject()["name"]
                 .toString(),
             QStringLiteral("my-model"));
}

void TestCli::renderSpectrum()
{
    const QJsonObject root = figure("spectrum", {"--config", "llama.json"});
    QCOMPARE(root.keys(), QStringList({"configurations", "figure", "maps", "markers", "notes", "phasors",
                                       "provenance", "schema", "series"}));
    QCOMPARE(root["schema"].toString(), QStringLiteral("ropewalk.figure/1"));
    QCOMPARE(root["figure"].toString(), QStringLiteral("spectrum"));
    QMap<QString, QJsonArray> series;
    for (const QJsonValue& value : root["series"].toArray())
        series[value["name"].toString()] = value["y"].toArray();
    for (const char* name : {"inv_freq", "inv_freq_plain", "wavelength", "turns", "turns_plain"})
        QVERIFY2(series.value(name).size() == 64, name);
    const QJsonArray inspected = root["configurations"].toArray().first().toObject()["inv_freq"].toArray();
    QCOMPARE(series["inv_freq"], inspected);
    const long double pi = acosl(-1.0L);
    for (int i = 0; i < 64; ++i) {
        const long double plain = powl(500000.0L, -2.0L * i / 128.0L);
        QVERIFY(fabsl(series["inv_freq_plain"][i].toDouble() / plain - 1.0L) < 1e-13L);
        QVERIFY(fabsl(series["turns_plain"][i].toDouble() / (8192.0L * plain / (2.0L * pi)) - 1.0L) < 1e-13L);
        QVERIFY(fabsl(series["wavelength"][i].toDouble() * inspected[i].toDouble() / (2.0L * pi) - 1.0L) <
                1e-13L);
    }
}

void TestCli::renderDecay()
{
    const QJsonObject root = figure("decay", {"--preset", "llama-2-7b", "--set", "max_distance=2000"});
    QMap<QString, QJsonObject> series;
    for (const QJsonValue& value : root["series"].toArray())
        series[value["name"].toString()] = value.toObject();
    for (const char* name : {"similar_mean", "similar_sd", "independent_sd", "cosine_sum", "bound_factor"}) {
        QVERIFY2(series.contains(name), name);
        QCOMPARE(series[name]["x"].toArray().size(), 2001);
        QCOMPARE(series[name]["y"].toArray().size(), 2001);
    }
    // An independent sum in long double.
    for (const int r : {0, 1, 100, 1707, 2000}) {
        long double sum = 0.0L;
        for (int i = 0; i < 64; ++i)
            sum += cosl(r * powl(10000.0L, -2.0L * i / 128.0L));
        QCOMPARE(series["cosine_sum"]["x"].toArray()[r].toInt(), r);
        QVERIFY(fabsl(series["cosine_sum"]["y"].toArray()[r].toDouble() - sum / 64.0L) < 1e-12L);
    }
    QMap<QString, QJsonValue> markers;
    for (const QJsonValue& value : root["markers"].toArray())
        markers[value["name"].toString()] = value["x"];
    QCOMPARE(markers["enters_noise"].toInt(), 832);
    QCOMPARE(markers["first_negative"].toInt(), 1707);
    // Out of range is null.
    const QJsonObject shorter = figure("decay", {"--preset", "llama-2-7b", "--set", "max_distance=1000"});
    for (const QJsonValue& value : shorter["markers"].toArray())
        QVERIFY(value["name"].toString() != "first_negative" || value["x"].isNull());
}

void TestCli::renderPlane()
{
    const QJsonObject root = figure("plane", {"--set", "m=15", "--set", "n=5"});
    QCOMPARE(root["phasors"].toArray().size(), 128);
    const QJsonObject q = root["phasors"].toArray().first().toObject();
    QCOMPARE(q["name"].toString(), QStringLiteral("q"));
    QCOMPARE(q["position"].toInt(), 15);
    // Ones: the pair (1, 1) turned by 15 rad.
    QVERIFY(std::fabs(q["re"].toDouble() - (std::cos(15.0) - std::sin(15.0))) < 1e-14);
    QVERIFY(std::fabs(q["im"].toDouble() - (std::sin(15.0) + std::cos(15.0))) < 1e-14);
    bool hasScore = false;
    for (const QJsonValue& value : root["markers"].toArray())
        hasScore = hasScore || value["name"].toString() == "score";
    QVERIFY(hasScore);
}

void TestCli::renderPairs()
{
    const QJsonObject root = figure("pairs", {"--preset", "gpt-neox-20b"});
    QMap<QString, QJsonArray> series;
    for (const QJsonValue& value : root["series"].toArray())
        series[value["name"].toString()] = value["y"].toArray();
    QCOMPARE(series["contribution"].size(), 48);
    QCOMPARE(series["cumulated"].size(), 48);
}

void TestCli::renderCsv()
{
    QCOMPARE(run({"render", "decay", "--set", "max_distance=1000", "-o", "decay.csv"}).code, 0);
    const QList<QByteArray> lines = content("decay.csv").split('\n');
    QCOMPARE(lines.size(), 1003);
    const QList<QByteArray> heads = lines.first().split(',');
    QCOMPARE(heads.first(), QByteArray("token"));
    QVERIFY(heads.contains("A.similar_mean"));
    for (const QByteArray& line : lines.mid(1, 1001))
        QCOMPARE(line.split(',').size(), heads.size());
}

void TestCli::renderSession()
{
    Session session;
    session.configurations.resize(3);
    session.configurations[0].config.name = "one";
    session.configurations[1].config.base = 500000;
    session.configurations[1].letter = "B";
    session.configurations[2].letter = "C";
    session.configurations[2].isHidden = true;
    session.options.maxDistance = 500;
    write("session.json", QByteArray::fromStdString(sessionToJson(session)));
    const QJsonObject root = figure("decay", {"--session", "session.json", "--set", "B.base=1e6"});
    QCOMPARE(root["configurations"].toArray().size(), 2);
    QCOMPARE(root["configurations"].toArray()[1].toObject()["base"].toDouble(), 1e6);
    QCOMPARE(root["configurations"].toArray()[0].toObject()["base"].toDouble(), 1e4);
    QCOMPARE(root["series"].toArray().first().toObject()["x"].toArray().size(), 501);
}

void TestCli::renderTwice()
{
    for (const char* name : {"one.json", "two.json", "one.csv", "two.csv"})
        QCOMPARE(run({"render", "decay", "--set", "max_distance=3000", "-o", name}).code, 0);
    QVERIFY(!content("one.json").isEmpty());
    QCOMPARE(content("one.json"), content("two.json"));
    QCOMPARE(content("one.csv"), content("two.csv"));
}

void TestCli::renderPictures_data()
{
    QTest::addColumn<QString>("ending");
    QTest::addColumn<QByteArray>("start");
    QTest::newRow("pdf") << "pdf" << QByteArray("%PDF-");
    QTest::newRow("svg") << "svg" << QByteArray("<?xml");
    QTest::newRow("png") << "png" << QByteArray("\x89PNG");
}

void TestCli::renderPictures()
{
    QFETCH(QString, ending);
    QFETCH(QByteArray, start);
    for (const char* id : {"plane", "spectrum", "decay", "pairs"}) {
        const QString name = QLatin1String(id) + "." + ending;
        const QStringList arguments{"render", id, "--config", "llama.json", "--size", "85x60mm", "-o", name};
        const Run result = run(arguments);
        QVERIFY2(result.code == 0, result.err.constData());
        QVERIFY2(result.err.isEmpty(), result.err.constData());
        QVERIFY2(content(name).startsWith(start), id);
        QVERIFY2(run(QStringList(arguments) << "--check").code == 0, id);
        QVERIFY2(run(QStringList(arguments) << "--check"
                                            << "--set"
                                            << "base=20000")
                         .code == 5,
                 id);
    }
}

void TestCli::check()
{
    const QStringList arguments{"render", "spectrum", "--config", "llama.json", "-o", "kept.json"};
    QCOMPARE(run(arguments).code, 0);
    const QByteArray before = content("kept.json");
    QCOMPARE(run(QStringList(arguments) << "--check").code, 0);
    const Run differs = run(QStringList(arguments) << "--check"
                                                   << "--set"
                                                   << "base=500001");
    QCOMPARE(differs.code, 5);
    QVERIFY(differs.err.startsWith("error: kept.json"));
    QCOMPARE(content("kept.json"), before);
    // Who computed it is not the figure.
    QByteArray elsewhere = before;
    elsewhere.replace("\"device\": \"", "\"device\": \"other ");
    QVERIFY(elsewhere != before);
    write("kept.json", elsewhere);
    QCOMPARE(run(QStringList(arguments) << "--check").code, 0);
}

void TestCli::outputStaysWhenRefused()
{
    write("stays.json", "before");
    QCOMPARE(run({"render", "spectrum", "--config", "bad.json", "-o", "stays.json"}).code, 2);
    QCOMPARE(content("stays.json"), QByteArray("before"));
}

void TestCli::backendRecorded()
{
    const QJsonObject fallen = figure("spectrum", {})["provenance"].toObject();
    QCOMPARE(fallen.keys(), QStringList({"backend", "device", "fallback_reason", "precision", "version"}));
    QCOMPARE(fallen["backend"].toString(), QStringLiteral("cpu"));
    QCOMPARE(fallen["fallback_reason"].toString(), ropewalk::test::whyNoCurveOnCuda());
    const QJsonObject chosen = figure("spectrum", {"--backend", "cpu"})["provenance"].toObject();
    QVERIFY(chosen["fallback_reason"].isNull());
}

void TestCli::lists()
{
    const QJsonObject presets = json({"list", "presets", "--json"});
    QStringList ids;
    for (const QJsonValue& value : presets["presets"].toArray())
        ids += value["id"].toString();
    for (const char* id : {"llama-3.1-8b", "llama-2-7b", "gpt-neox-20b", "qwen3-8b"})
        QVERIFY2(ids.contains(QLatin1String(id)), id);
    QStringList figures, rules;
    for (const QJsonValue& value : json({"list", "figures", "--json"})["figures"].toArray())
        figures += value["id"].toString();
    QCOMPARE(figures, QStringList({"plane", "spectrum", "angles", "decay", "scores", "pairs", "channels",
                                   "temperature", "range", "encodings", "clusters", "precision", "layouts",
                                   "sweep", "results"}));
    for (const QJsonValue& value : json({"list", "--json", "rules"})["rules"].toArray())
        rules += value["id"].toString();
    QCOMPARE(rules, QStringList({"default", "linear", "ntk_aware", "dynamic", "dynamic_qwen",
                                 "dynamic_linear", "ntk_by_parts", "yarn", "llama3", "longrope", "resonance",
                                 "rope_id", "proportional", "explicit", "none"}));
    for (const char* what : {"presets", "figures", "rules"})
        QVERIFY(!run({"list", what}).out.isEmpty());
}

void TestCli::backends()
{
    const QString why = ropewalk::test::whyNoCuda();
    QVERIFY(run({"backends"}).out.contains(why.toUtf8()));
    const QJsonArray list = json({"backends", "--json"})["backends"].toArray();
    QCOMPARE(list.size(), 2);
    QCOMPARE(list[0].toObject()["name"].toString(), QStringLiteral("cuda"));
    QCOMPARE(list[0].toObject()["is_usable"].toBool(), why.isEmpty());
    QCOMPARE(list[0].toObject()["reason"].toString(), why);
    QCOMPARE(list[1].toObject()["name"].toString(), QStringLiteral("cpu"));
    QCOMPARE(list[1].toObject()["is_usable"].toBool(), true);
    // Every level that this processor has can be asked for, and says so in what it computes.
    QStringList levels;
    for (const QJsonValue& level : json({"backends", "--json"})["cpu_levels"].toArray())
        levels += level.toString();
    QVERIFY(!levels.isEmpty());
    QVERIFY(run({"backends"}).out.contains(levels.join(' ').toUtf8()));
    for (const QString& level : levels) {
        if (level == QLatin1String("generic")) // a build with one level
            continue;
        QVERIFY(run({"backends", "--cpu-level", level}).out.contains("x86-64-" + level.toUtf8()));
        QVERIFY(run({"--cpu-level=" + level, "backends"}).out.contains("x86-64-" + level.toUtf8()));
        const QJsonObject provenance =
            figure("decay", {"--backend", "cpu", "--cpu-level", level})["provenance"].toObject();
        QVERIFY(provenance["device"].toString().startsWith("x86-64-" + level + ", "));
    }
}

void TestCli::gallery()
{
    const Run result = run({"gallery", "llama.json", "-o", "gallery/new"});
    QVERIFY2(result.code == 0, result.err.constData());
    const QList<QByteArray> paths = result.out.trimmed().split('\n');
    QCOMPARE(paths.size(), 30); // fifteen figures in two themes
    for (const QByteArray& drawn : paths)
        QVERIFY2(QFileInfo(path(QString::fromUtf8(drawn))).size() > 0, drawn.constData());
}

void TestCli::closedPipe()
{
    // A reader that takes one line and goes away: an exit code, not a signal.
    QProcess shell;
    shell.setWorkingDirectory(m_folder.path());
    QStringList files(40, "llama.json"); // some hundred kilobytes: more than a pipe holds
    const QStringList script{
        "-c", "{ \"$@\"; echo \"code $?\" >&2; } | head -n 1 >/dev/null", "sh", kBinary, "inspect", "--json"};
    shell.start("sh", script + files);
    QVERIFY(shell.waitForFinished(240000));
    const QByteArray said = shell.readAllStandardError();
    QVERIFY2(said == "code 4\n", said.constData());
}

void TestCli::anotherLocale()
{
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("LC_ALL", "C");
    environment.remove("QT_QPA_PLATFORM");
    environment.remove("DISPLAY");
    environment.remove("XDG_RUNTIME_DIR");
    const QString name = QString::fromUtf8("θ.json");
    write(name, kLlama);
    const Run result = run({"inspect", name, "--json"}, environment);
    QVERIFY2(result.code == 0, result.err.constData());
    QVERIFY2(result.err.isEmpty(), result.err.constData());
    QCOMPARE(QJsonDocument::fromJson(result.out).object()["file"].toString(), name);
}

QTEST_GUILESS_MAIN(TestCli)
#include "test_cli.moc"
