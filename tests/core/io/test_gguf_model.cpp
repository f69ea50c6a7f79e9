// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/gguf_model.h"
#include "core/io/model_file.h"

#include "core/frequency_rules.h"
#include "tests/support/gguf_builder.h"

#include <QTemporaryDir>
#include <QTest>
#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <sstream>

using namespace ropewalk;
using ropewalk::test::GgufBuilder;

namespace {

Result<ModelReading> read(const GgufBuilder& file)
{
    std::istringstream stream(file.bytes());
    const Result<GgufMetadata> metadata = readGgufMetadata(stream);
    if (!metadata)
        return metadata.error();
    return modelFromGguf(*metadata, "model");
}

ModelReading good(const GgufBuilder& file)
{
    Result<ModelReading> reading = read(file);
    if (!reading)
        qFatal("%s", toEnglish(reading.error()).c_str());
    return std::move(*reading);
}

RopeConfig one(const GgufBuilder& file)
{
    ModelReading reading = good(file);
    if (reading.configurations.size() != 1)
        qFatal("%zu configurations", reading.configurations.size());
    return reading.configurations.front();
}

QString notesOf(const RopeConfig& config)
{
    QString text;
    for (const Issue& note : config.notes)
        text +=
            QString::fromStdString(note.field) + ": " + QString::fromStdString(toEnglish(note.text)) + '\n';
    return text;
}

/// A file with an architecture and the three widths that most have.
GgufBuilder model(const std::string& architecture, std::uint32_t width, std::uint32_t heads,
                  std::uint32_t length)
{
    GgufBuilder file;
    file.text("general.architecture", architecture)
        .uint32(architecture + ".embedding_length", width)
        .uint32(architecture + ".attention.head_count", heads)
        .uint32(architecture + ".context_length", length);
    return file;
}

/// Llama 3's divisors by the published rule, in long double.
std::vector<float> llama3Divisors(int width, long double base, long double factor)
{
    std::vector<float> divisors;
    const long double pi = acosl(-1.0L);
    for (int i = 0; i < width / 2; ++i) {
        const long double turns = 8192.0L * powl(base, -2.0L * i / width) / (2.0L * pi);
        const long double kept = std::clamp((turns - 1.0L) / 3.0L, 0.0L, 1.0L);
        divisors.push_back(static_cast<float>(1.0L / ((1.0L - kept) / factor + kept)));
    }
    return divisors;
}

} // namespace

/// What llama.cpp makes of a file's key-values. The facts are those of published files, written down here.
class TestGgufModel : public QObject
{
    Q_OBJECT

private slots:
    void models_data();
    void models();
    void llamaWithAndWithoutDivisors();
    void longRope();
    void deepseek();
    void yarn();
    void gemma3();
    void layersWithoutRotation();
    void scaleOfTheLogit();
    void withoutRotation();
    void oldKeyOfTheFactor();
    void refused_data();
    void refused();
    void asText();
    void byContentNotByName();
};

void TestGgufModel::models_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<int>("headDim");
    QTest::addColumn<int>("rotaryDim");
    QTest::addColumn<double>("base");
    QTest::addColumn<Layout>("layout");
    QTest::addColumn<int>("length");
    const auto row = [](const char* name, const GgufBuilder& file, int headDim, int rotaryDim, double base,
                        Layout layout, int length) {
        QTest::newRow(name) << QByteArray::fromStdString(file.bytes()) << headDim << rotaryDim << base
                            << layout << length;
    };
    row("Llama-3-8B: reordered by the converter",
        model("llama", 4096, 32, 8192)
            .uint32("llama.rope.dimension_count", 128)
            .float32("llama.rope.freq_base", 5e5F),
        128, 128, 5e5, Layout::Interleaved, 8192);
    row("Command-R: no width stated, scaling none",
        model("command-r", 8192, 64, 131072)
            .float32("command-r.rope.freq_base", 8e6F)
            .text("command-r.rope.scaling.type", "none"),
        128, 128, 8e6, Layout::Interleaved, 131072);
    row("Gemma-2B: no rope key at all",
        model("gemma", 2048, 8, 8192).uint32("gemma.attention.key_length", 256), 256, 256, 1e4, Layout::Half,
        8192);
    row("Gemma-2-2B: the key length wins",
        model("gemma2", 2304, 8, 8192).uint32("gemma2.attention.key_length", 256), 256, 256, 1e4,
        Layout::Half, 8192);
    row("Qwen2.5-0.5B", model("qwen2", 896, 14, 32768).float32("qwen2.rope.freq_base", 1e6F), 64, 64, 1e6,
        Layout::Half, 32768);
    row("Mistral: no base stated", model("llama", 4096, 32, 32768).uint32("llama.rope.dimension_count", 128),
        128, 128, 1e4, Layout::Interleaved, 32768);
    row("StableLM: a part of the head",
        model("stablelm", 2560, 32, 4096).uint32("stablelm.rope.dimension_count", 20), 80, 20, 1e4,
        Layout::Half, 4096);
    row("an unknown architecture with a rope key",
        model("neverheard", 2048, 32, 4096).float32("neverheard.rope.freq_base", 1e5F), 64, 64, 1e5,
        Layout::Half, 4096);
}

void TestGgufModel::models()
{
    QFETCH(QByteArray, bytes);
    std::istringstream stream(bytes.toStdString());
    const Result<GgufMetadata> metadata = readGgufMetadata(stream);
    QVERIFY(metadata.hasValue());
    const Result<ModelReading> reading = modelFromGguf(*metadata, "model");
    QVERIFY2(reading.hasValue(), reading ? "" : toEnglish(reading.error()).c_str());
    QCOMPARE(reading->configurations.size(), std::size_t{1});
    const RopeConfig& config = reading->configurations.front();
    QTEST(config.headDim, "headDim");
    QTEST(config.rotaryDim, "rotaryDim");
    QTEST(config.base, "base");
    QFETCH(Layout, layout);
    QVERIFY(config.layout == layout);
    QFETCH(int, length);
    QCOMPARE(config.maxPositionEmbeddings.value(), std::int64_t{length});
    QVERIFY(config.rule == FrequencyRule::Default);
    QVERIFY(notesOf(config).contains("no scaling found in this file"));
}

void TestGgufModel::llamaWithAndWithoutDivisors()
{
    const auto llama = [] {
        return model("llama", 4096, 32, 131072)
            .uint32("llama.rope.dimension_count", 128)
            .float32("llama.rope.freq_base", 5e5F);
    };
    const RopeConfig without = one(llama());
    QVERIFY(notesOf(without).contains("no scaling found in this file"));
    QVERIFY(notesOf(without).contains("half-split")); // the same Llama in its other form
    const RopeConfig with = one(llama().tensor("rope_freqs.weight", llama3Divisors(128, 5e5L, 8.0L)));
    QVERIFY(!notesOf(with).contains("no scaling found"));
    QVERIFY2(notesOf(with).contains("rule llama3 with factor 8"), qPrintable(notesOf(with)));
    const FrequencyTable table = frequencyTable(with);
    QVERIFY(std::fabs(table.scaled[63] / 3.06893e-07 - 1.0) < 1e-5);
    QVERIFY(std::fabs(frequencyTable(without).scaled[63] / 2.45514e-06 - 1.0) < 1e-5);
    QCOMPARE(table.scaled[0], 1.0);
    QCOMPARE(table.attentionFactor, 1.0);
    // Divisors of no published rule are taken as they are, and no rule is named.
    const RopeConfig other = one(llama().tensor("rope_freqs.weight", std::vector<float>(64, 3.0F)));
    QVERIFY(std::fabs(frequencyTable(other).scaled[0] * 3.0 - 1.0) < 1e-6);
    QVERIFY(!notesOf(other).contains("rule llama3"));
}

void TestGgufModel::longRope()
{
    const auto phi = [] {
        return model("phi3", 3072, 32, 131072)
            .uint32("phi3.rope.dimension_count", 96)
            .uint32("phi3.rope.scaling.original_context_length", 4096);
    };
    std::vector<float> shorter(48, 1.0F);
    std::vector<float> longer(48, 2.0F);
    RopeConfig config = one(phi()
                                .float32("phi3.rope.scaling.attn_factor", 1.1902381F)
                                .tensor("rope_factors_long.weight", longer)
                                .tensor("rope_factors_short.weight", shorter));
    QVERIFY(config.rule == FrequencyRule::LongRope);
    QVERIFY(config.layout == Layout::Half);
    QCOMPARE(trainingLength(config).value(), std::int64_t{4096});
    QVERIFY(std::fabs(frequencyTable(config).attentionFactor - 1.1902381) < 1e-6);
    QCOMPARE(frequencyTable(config).scaled[0], 1.0);
    config.length = 4097;
    QCOMPARE(frequencyTable(config).scaled[0], 0.5);
    // Without the factor llama.cpp has 1, and not the formula's value.
    const RopeConfig plain =
        one(phi().tensor("rope_factors_long.weight", longer).tensor("rope_factors_short.weight", shorter));
    QCOMPARE(frequencyTable(plain).attentionFactor, 1.0);
    QVERIFY(!read(phi().tensor("rope_factors_long.weight", longer)));
    QVERIFY(
        !read(phi().tensor("rope_factors_long.weight", {1.0F}).tensor("rope_factors_short.weight", shorter)));
}

void TestGgufModel::deepseek()
{
    const RopeConfig config = one(model("deepseek2", 7168, 128, 163840)
                                      .uint32("deepseek2.attention.key_length", 192)
                                      .uint32("deepseek2.rope.dimension_count", 64)
                                      .float32("deepseek2.rope.freq_base", 1e4F)
                                      .text("deepseek2.rope.scaling.type", "yarn")
                                      .float32("deepseek2.rope.scaling.factor", 40.0F)
                                      .uint32("deepseek2.rope.scaling.original_context_length", 4096)
                                      .float32("deepseek2.rope.scaling.yarn_log_multiplier", 0.1F));
    QCOMPARE(config.headDim, 192);
    QCOMPARE(config.rotaryDim, 64);
    QVERIFY(config.channels == ChannelScheme::Last);
    QVERIFY(config.rule == FrequencyRule::Yarn);
    QVERIFY(std::fabs(config.softmaxFactor - 1.87385420709) < 1e-6);
    QVERIFY(std::fabs(frequencyTable(config).attentionFactor - 1.0) < 1e-12);
    // The newer form: the width of what is cached is key_length, that of a head stands beside it.
    const RopeConfig newer = one(model("deepseek2", 7168, 128, 163840)
                                     .uint32("deepseek2.attention.key_length", 576)
                                     .uint32("deepseek2.attention.key_length_mla", 192)
                                     .uint32("deepseek2.rope.dimension_count", 64));
    QCOMPARE(newer.headDim, 192);
}

void TestGgufModel::yarn()
{
    const RopeConfig config = one(model("qwen2", 3584, 28, 131072)
                                      .text("qwen2.rope.scaling.type", "yarn")
                                      .float32("qwen2.rope.scaling.factor", 4.0F)
                                      .uint32("qwen2.rope.scaling.original_context_length", 32768));
    QVERIFY(config.rule == FrequencyRule::Yarn);
    QVERIFY(std::fabs(frequencyTable(config).attentionFactor -
                      static_cast<double>(0.1L * logl(4.0L) + 1.0L)) < 1e-12);
    QCOMPARE(trainingLength(config).value(), std::int64_t{32768});
}

void TestGgufModel::gemma3()
{
    const ModelReading reading = good(model("gemma3", 2560, 8, 131072)
                                          .uint32("gemma3.attention.key_length", 256)
                                          .float32("gemma3.rope.freq_base", 1e6F)
                                          .text("gemma3.rope.scaling.type", "linear")
                                          .float32("gemma3.rope.scaling.factor", 8.0F));
    QCOMPARE(reading.configurations.size(), std::size_t{2});
    const RopeConfig& full = reading.configurations[0];
    const RopeConfig& sliding = reading.configurations[1];
    QCOMPARE(full.layerType.value(), std::string("full_attention"));
    QCOMPARE(sliding.layerType.value(), std::string("sliding_attention"));
    QCOMPARE(full.base, 1e6);
    QCOMPARE(frequencyTable(full).scaled[0], 0.125);
    QCOMPARE(sliding.base, 1e4);
    QCOMPARE(frequencyTable(sliding).scaled[0], 1.0);
    QVERIFY(notesOf(sliding).contains("default of the architecture's sliding layers, not stated"));
    // Newer files state it.
    const ModelReading stated =
        good(model("gemma3", 2560, 8, 131072).float32("gemma3.rope.freq_base_swa", 2e4F));
    QCOMPARE(stated.configurations.back().base, 2e4);
}

void TestGgufModel::layersWithoutRotation()
{
    const ModelReading reading =
        good(model("smollm3", 2048, 16, 65536).float32("smollm3.rope.freq_base", 5e6F));
    QCOMPARE(reading.configurations.size(), std::size_t{2});
    QCOMPARE(reading.configurations.back().layerType.value(), std::string("no_rope"));
    QVERIFY(reading.configurations.back().rule == FrequencyRule::None);
    QVERIFY(frequencyTable(reading.configurations.back()).scaled.empty());
}

void TestGgufModel::scaleOfTheLogit()
{
    QVERIFY(std::fabs(one(model("gemma2", 4608, 32, 8192)
                              .uint32("gemma2.attention.key_length", 128)
                              .uint32("gemma2.block_count", 46))
                          .softmaxFactor -
                      std::sqrt(128.0 / 144.0)) < 1e-14);
    QVERIFY(std::fabs(one(model("granite", 4096, 32, 4096).float32("granite.attention.scale", 0.0078125F))
                          .softmaxFactor -
                      0.0883883476483) < 1e-12);
}

void TestGgufModel::withoutRotation()
{
    const ModelReading bert = good(model("bert", 384, 12, 512));
    QVERIFY(bert.configurations.empty());
    QVERIFY(QString::fromStdString(toEnglish(bert.notes.front().text)).contains("no layer rotates"));
    const ModelReading unknown = good(model("neverheard", 384, 12, 512));
    QVERIFY(unknown.configurations.empty());
    QVERIFY(unknown.notes.front().severity == Severity::Unknown);
    QVERIFY(good(GgufBuilder().uint32("something", 1)).configurations.empty());
}

void TestGgufModel::oldKeyOfTheFactor()
{
    const RopeConfig config = one(model("llama", 4096, 32, 4096).float32("llama.rope.scale_linear", 4.0F));
    QVERIFY(config.rule == FrequencyRule::Linear);
    QCOMPARE(frequencyTable(config).scaled[0], 0.25);
    // A factor of 1 or 0 is none.
    for (const float factor : {0.0F, 1.0F})
        QVERIFY(one(model("llama", 4096, 32, 4096).float32("llama.rope.scaling.factor", factor)).rule ==
                FrequencyRule::Default);
}

void TestGgufModel::refused_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("word");
    const auto row = [](const char* name, const GgufBuilder& file, const char* word) {
        QTest::newRow(name) << QByteArray::fromStdString(file.bytes()) << word;
    };
    row("no width", GgufBuilder().text("general.architecture", "llama"), "llama.attention.key_length");
    row("odd width", model("llama", 4096, 32, 4096).uint32("llama.rope.dimension_count", 65),
        "odd rotary width 65");
    row("wider than the head", model("llama", 4096, 32, 4096).uint32("llama.rope.dimension_count", 256),
        "256");
    row("a base below 1", model("llama", 4096, 32, 4096).float32("llama.rope.freq_base", 0.5F), "base");
    row("no number", model("llama", 4096, 32, 4096).text("llama.rope.freq_base", "many"),
        "llama.rope.freq_base");
    row("another rule", model("llama", 4096, 32, 4096).text("llama.rope.scaling.type", "jarn"), "jarn");
    row("longrope without its lists",
        model("phi3", 3072, 32, 4096).text("phi3.rope.scaling.type", "longrope"), "rope_factors_long");
    row("divisors of another width", model("llama", 4096, 32, 4096).tensor("rope_freqs.weight", {1.0F, 2.0F}),
        "one a pair");
    row("heads 0", model("llama", 4096, 0, 4096), "llama.attention.head_count");
}

void TestGgufModel::refused()
{
    QFETCH(QByteArray, bytes);
    QFETCH(QString, word);
    std::istringstream stream(bytes.toStdString());
    const Result<GgufMetadata> metadata = readGgufMetadata(stream);
    QVERIFY(metadata.hasValue());
    const Result<ModelReading> reading = modelFromGguf(*metadata, "x");
    QVERIFY(!reading);
    const QString sentence = QString::fromStdString(toEnglish(reading.error()));
    QVERIFY2(sentence.contains(word), qPrintable(sentence));
}

void TestGgufModel::asText()
{
    const Result<ModelReading> reading = readModelConfig(
        R"({"general.architecture":"llama","llama.embedding_length":"4096","llama.attention.head_count":"32",
            "llama.rope.freq_base":"5e+05","llama.context_length":8192})",
        "x");
    QVERIFY2(reading.hasValue(), reading ? "" : toEnglish(reading.error()).c_str());
    QCOMPARE(reading->configurations.front().base, 5e5);
    QVERIFY(reading->configurations.front().layout == Layout::Interleaved);
    // A tensor that is named without its numbers.
    const Result<ModelReading> digest = readModelConfig(
        R"({"general.architecture":"llama","llama.attention.key_length":8,"rope_freqs.weight":"e34d3786"})",
        "x");
    QVERIFY(!digest);
    const Result<ModelReading> list = readModelConfig(
        R"({"general.architecture":"llama","llama.attention.key_length":8,"rope_freqs.weight":[1,1,2,4]})",
        "x");
    QVERIFY(list.hasValue());
    QVERIFY(std::fabs(frequencyTable(list->configurations.front()).scaled[3] * 4.0 - 1e-3) < 1e-15);
}

void TestGgufModel::byContentNotByName()
{
    QTemporaryDir folder;
    const auto write = [&](const char* name, const std::string& bytes) {
        const std::string path = folder.filePath(name).toStdString();
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    };
    const std::string gguf = model("llama", 4096, 32, 4096).text("general.name", "A llama").bytes();
    const Result<ModelReading> disguised = readModelFile(write("config.json", gguf), "x");
    QVERIFY2(disguised.hasValue(), disguised ? "" : toEnglish(disguised.error()).c_str());
    QCOMPARE(disguised->configurations.front().name, std::string("A llama"));
    QVERIFY(isGgufFile(folder.filePath("config.json").toStdString()));
    const Result<ModelReading> text =
        readModelFile(write("model.gguf", R"({"model_type":"llama","head_dim":64})"), "x");
    QVERIFY(text.hasValue());
    QCOMPARE(text->configurations.front().headDim, 64);
    const Result<ModelReading> page =
        readModelFile(write("params.json", "<!DOCTYPE html><html></html>"), "x");
    QVERIFY(!page);
    QVERIFY(toEnglish(page.error()).find("web page") != std::string::npos);
    const Result<ModelReading> cut = readModelFile(write("cut.gguf", gguf.substr(0, 60)), "x");
    QVERIFY(!cut);
    QVERIFY(toEnglish(cut.error()).find("cut.gguf") != std::string::npos);
    QVERIFY(!readModelFile(folder.path().toStdString(), "x"));
    QVERIFY(!readModelFile(folder.filePath("missing").toStdString(), "x"));
    QVERIFY(!isGgufFile(folder.filePath("missing").toStdString()));
    // A pipe that nobody writes into is refused, not waited for.
    const std::string pipe = folder.filePath("pipe").toStdString();
    QCOMPARE(mkfifo(pipe.c_str(), 0600), 0);
    QVERIFY(!isGgufFile(pipe));
    QVERIFY(!readModelFile(pipe, "x"));
}

QTEST_APPLESS_MAIN(TestGgufModel)
#include "test_gguf_model.moc"
