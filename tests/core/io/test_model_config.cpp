// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/model_file.h"

#include "core/frequency_rules.h"

#include <QTest>

#include <cmath>
#include <random>

using namespace ropewalk;

namespace {

Result<ModelReading> read(const QByteArray& text)
{
    return readModelConfig(text.toStdString(), "model");
}

/// The one configuration of a file that has to be readable.
RopeConfig one(const QByteArray& text)
{
    const Result<ModelReading> reading = read(text);
    if (!reading)
        qFatal("%s", toEnglish(reading.error()).c_str());
    if (reading->configurations.size() != 1)
        qFatal("%zu configurations", reading->configurations.size());
    return reading->configurations.front();
}

const Issue* noteOn(const RopeConfig& config, std::string_view field, Severity severity)
{
    for (const Issue& note : config.notes)
        if (note.field == field && note.severity == severity)
            return &note;
    return nullptr;
}

QByteArray llama(const QByteArray& more)
{
    return "{\"model_type\":\"llama\",\"hidden_size\":4096,\"num_attention_heads\":32," +
           QByteArray("\"max_position_embeddings\":131072") + (more.isEmpty() ? "" : ",") + more + "}";
}

} // namespace

/// The facts are those of the published files and classes, written down here; no file is copied. The
/// frequencies are compared with loops of this file in long double, never with the program's own.
class TestModelConfig : public QObject
{
    Q_OBJECT

private slots:
    void models_data();
    void models();
    void spellingsOfTheRule_data();
    void spellingsOfTheRule();
    void nothingStatedReadsAlike();
    void llama3Frequencies();
    void bothBlocks();
    void blockWinsOverTopLevel();
    void topLevelLengthWins();
    void statedHeadDimWins();
    void attentionFactor();
    void factorOfYarn();
    void truncate();
    void unknownFamilyIsAssumed();
    void defaultsNameTheirClass();
    void withoutRotation_data();
    void withoutRotation();
    void noModelFields();
    void refused_data();
    void refused();
    void refusedByName_data();
    void refusedByName();
    void hostileBytes();
    void mutationsNeverCrash();
    void byteOrderMark();
    void repeatedKeyElsewhereIsNobodysBusiness();
    void bareNumbersElsewhere();
    void pasted_data();
    void pasted();
    void pastedWithSeveralKinds();
    void pastedRefused();
    void names_data();
    void names();
};

void TestModelConfig::models_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<int>("headDim");
    QTest::addColumn<int>("rotaryDim");
    QTest::addColumn<double>("base");
    QTest::addColumn<Layout>("layout");
    QTest::addColumn<FrequencyRule>("rule");
    QTest::addColumn<int>("training");
    QTest::addColumn<double>("softmaxFactor");
    const auto row = [](const char* name, const QByteArray& json, int headDim, int rotaryDim, double base,
                        Layout layout, FrequencyRule rule, int training, double softmaxFactor = 1.0) {
        QTest::newRow(name) << json << headDim << rotaryDim << base << layout << rule << training
                            << softmaxFactor;
    };
    constexpr auto kHalf = Layout::Half;
    constexpr auto kInterleaved = Layout::Interleaved;
    constexpr auto kPlain = FrequencyRule::Default;
    row("Llama-2: base by default",
        R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":32,"max_position_embeddings":4096,
            "rope_scaling":null})",
        128, 128, 1e4, kHalf, kPlain, 4096);
    row("Llama-3.1",
        R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":32,"max_position_embeddings":131072,
            "rope_theta":500000.0,"rope_scaling":{"factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,
            "original_max_position_embeddings":8192,"rope_type":"llama3"}})",
        128, 128, 5e5, kHalf, FrequencyRule::Llama3, 8192);
    row("Code Llama: base written as an integer",
        R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":32,"max_position_embeddings":16384,
            "rope_theta":1000000})",
        128, 128, 1e6, kHalf, kPlain, 16384);
    row("Mistral",
        R"({"model_type":"mistral","hidden_size":4096,"num_attention_heads":32,"rope_theta":10000.0,
                       "max_position_embeddings":32768})",
        128, 128, 1e4, kHalf, kPlain, 32768);
    row("Mixtral: another default base",
        R"({"model_type":"mixtral","hidden_size":4096,"num_attention_heads":32,"max_position_embeddings":32768})",
        128, 128, 1e6, kHalf, kPlain, 32768);
    row("Devstral: no mscale_all_dim, temperature switched off",
        R"({"model_type":"ministral3","head_dim":128,"hidden_size":12288,"num_attention_heads":96,
            "max_position_embeddings":262144,"rope_parameters":{"beta_fast":4.0,"beta_slow":1.0,"factor":64.0,
            "mscale":1.0,"mscale_all_dim":0.0,"original_max_position_embeddings":4096,"llama_4_scaling_beta":0.0,
            "rope_theta":1000000.0,"rope_type":"yarn","type":"yarn"}})",
        128, 128, 1e6, kHalf, FrequencyRule::Yarn, 4096);
    row("Qwen2", R"({"model_type":"qwen2","hidden_size":896,"num_attention_heads":14,"rope_theta":1000000.0,
                     "max_position_embeddings":32768,"use_mrope":false})",
        64, 64, 1e6, kHalf, kPlain, 32768);
    row("Qwen3", R"({"model_type":"qwen3","hidden_size":2560,"num_attention_heads":32,"head_dim":128,
                     "rope_theta":1000000,"max_position_embeddings":40960})",
        128, 128, 1e6, kHalf, kPlain, 40960);
    row("Qwen3: head_dim by default",
        R"({"model_type":"qwen3","hidden_size":2560,"num_attention_heads":32,"max_position_embeddings":40960})",
        128, 128, 1e4, kHalf, kPlain, 40960);
    row("GPT-NeoX-20B: all by default", R"({"model_type":"gpt_neox","max_position_embeddings":2048})", 96, 24,
        1e4, kHalf, kPlain, 2048);
    row("Pythia-14m", R"({"model_type":"gpt_neox","hidden_size":128,"num_attention_heads":4,"rotary_pct":0.25,
                          "rotary_emb_base":10000,"max_position_embeddings":2048})",
        32, 8, 1e4, kHalf, kPlain, 2048);
    row("RedPajama: share stated", R"({"model_type":"gpt_neox","hidden_size":2560,"num_attention_heads":32,
                                       "rotary_pct":1.0,"max_position_embeddings":2048})",
        80, 80, 1e4, kHalf, kPlain, 2048);
    row("GPT-J: its own keys, a block that its class does not look at",
        R"({"model_type":"gptj","n_embd":4096,"n_head":16,"n_positions":2048,"rotary_dim":64,"rotary":true,
            "rope_scaling":{"rope_type":"gptj"}})",
        256, 64, 1e4, kInterleaved, kPlain, 2048);
    row("CodeGen", R"({"model_type":"codegen","n_embd":2048,"n_head":16,"n_positions":2048})", 128, 64, 1e4,
        kInterleaved, kPlain, 2048);
    row("Phi-2",
        R"({"model_type":"phi","hidden_size":2560,"num_attention_heads":32,"partial_rotary_factor":0.4,
                     "rope_theta":10000.0,"max_position_embeddings":2048})",
        80, 32, 1e4, kHalf, kPlain, 2048);
    row("Phi: half by default", R"({"model_type":"phi","hidden_size":2048,"num_attention_heads":32,
                                    "max_position_embeddings":2048})",
        64, 32, 1e4, kHalf, kPlain, 2048);
    row("StableLM",
        R"({"model_type":"stablelm","hidden_size":2560,"num_attention_heads":32,"rope_theta":10000,
                        "partial_rotary_factor":0.25,"max_position_embeddings":4096})",
        80, 20, 1e4, kHalf, kPlain, 4096);
    row("Falcon: no RoPE key at all", R"({"model_type":"falcon","hidden_size":8192,"num_attention_heads":128,
                                          "alibi":false})",
        64, 64, 1e4, kHalf, kPlain, 0);
    row("Gemma: head_dim by default", R"({"model_type":"gemma","hidden_size":3072,"num_attention_heads":16,
                                          "max_position_embeddings":8192})",
        256, 256, 1e4, kHalf, kPlain, 8192);
    row("Gemma-2 27B: the logit's scale",
        R"({"model_type":"gemma2","hidden_size":4608,"num_attention_heads":32,
                                              "head_dim":128,"query_pre_attn_scalar":144,
                                              "max_position_embeddings":8192})",
        128, 128, 1e4, kHalf, kPlain, 8192, std::sqrt(128.0 / 144.0));
    row("Granite: the logit's scale by default",
        R"({"model_type":"granite","hidden_size":4096,"num_attention_heads":32,"max_position_embeddings":2048})",
        128, 128, 1e4, kHalf, kPlain, 2048, std::sqrt(128.0));
    row("Granite: the logit's scale stated",
        R"({"model_type":"granite","hidden_size":4096,"num_attention_heads":32,"max_position_embeddings":2048,
            "attention_multiplier":0.0078125})",
        128, 128, 1e4, kHalf, kPlain, 2048, std::sqrt(128.0) / 128.0);
    row("Cohere",
        R"({"model_type":"cohere","hidden_size":8192,"num_attention_heads":64,"rope_parameters":null,
                      "max_position_embeddings":8192})",
        128, 128, 5e5, kInterleaved, kPlain, 8192);
    row("GLM: half by default",
        R"({"model_type":"glm","head_dim":128,"num_attention_heads":32,"hidden_size":4096})", 128, 64, 1e4,
        kInterleaved, kPlain, 0);
    row("Helium", R"({"model_type":"helium","max_position_embeddings":4096})", 128, 128, 1e5, kInterleaved,
        kPlain, 4096);
    row("OLMo", R"({"model_type":"olmo","max_position_embeddings":2048})", 128, 128, 1e4, kHalf, kPlain,
        2048);
    row("StarCoder2",
        R"({"model_type":"starcoder2","hidden_size":4608,"num_attention_heads":36,"rope_theta":1000000,
                          "max_position_embeddings":16384})",
        128, 128, 1e6, kHalf, kPlain, 16384);
    row("Phi-mini-MoE", R"({"model_type":"phimoe","hidden_size":4096,"num_attention_heads":32,"head_dim":128,
                            "rope_theta":10000.0,"max_position_embeddings":4096})",
        128, 128, 1e4, kHalf, kPlain, 4096);
    row("gpt-oss: not truncated",
        R"({"model_type":"gpt_oss","hidden_size":2880,"num_attention_heads":64,"head_dim":64,
                                      "max_position_embeddings":131072,"rope_theta":150000,"rope_scaling":{
                                      "beta_fast":32.0,"beta_slow":1.0,"factor":32.0,"rope_type":"yarn",
                                      "original_max_position_embeddings":4096,"truncate":false}})",
        64, 64, 1.5e5, kHalf, FrequencyRule::Yarn, 4096);
    row("linear, old spelling", llama(R"("rope_scaling":{"type":"linear","factor":4.0})"), 128, 128, 1e4,
        kHalf, FrequencyRule::Linear, 131072);
    row("a base in rope_parameters", llama(R"("rope_parameters":{"rope_theta":1e6,"rope_type":"default"})"),
        128, 128, 1e6, kHalf, kPlain, 131072);
    row("a base in rope_parameters and no rule", llama(R"("rope_parameters":{"rope_theta":1e6})"), 128, 128,
        1e6, kHalf, kPlain, 131072);
    row("a share in Llama's file", llama(R"("partial_rotary_factor":0.5)"), 128, 64, 1e4, kHalf, kPlain,
        131072);
    row("nothing rotates by share", llama(R"("partial_rotary_factor":0.0)"), 128, 0, 1e4, kHalf, kPlain,
        131072);
}

void TestModelConfig::models()
{
    QFETCH(QByteArray, json);
    const RopeConfig config = one(json);
    QTEST(config.headDim, "headDim");
    QTEST(config.rotaryDim, "rotaryDim");
    QTEST(config.base, "base");
    QFETCH(Layout, layout);
    QVERIFY(config.layout == layout);
    QFETCH(FrequencyRule, rule);
    QVERIFY(config.rule == rule);
    QFETCH(int, training);
    QCOMPARE(trainingLength(config).value_or(0), std::int64_t{training});
    QFETCH(double, softmaxFactor);
    QVERIFY(std::fabs(config.softmaxFactor - softmaxFactor) < 1e-14);
    QVERIFY(!config.layerType);
}

void TestModelConfig::spellingsOfTheRule_data()
{
    QTest::addColumn<QByteArray>("block");
    const QByteArray rest = R"("factor":8.0,"original_max_position_embeddings":8192})";
    QTest::newRow("new") << R"("rope_scaling":{"rope_type":"llama3",)" + rest;
    QTest::newRow("old") << R"("rope_scaling":{"type":"llama3",)" + rest;
    QTest::newRow("both") << R"("rope_scaling":{"type":"llama3","rope_type":"llama3",)" + rest;
    QTest::newRow("both, differing: the new one wins")
        << R"("rope_scaling":{"type":"linear","rope_type":"llama3",)" + rest;
    QTest::newRow("new null, old stated") << R"("rope_scaling":{"rope_type":null,"type":"llama3",)" + rest;
    QTest::newRow("rope_parameters") << R"("rope_parameters":{"rope_type":"llama3",)" + rest;
    QTest::newRow("rope_parameters beside null")
        << R"("rope_scaling":null,"rope_parameters":{"rope_type":"llama3",)" + rest;
    QTest::newRow("rope_parameters beside {}")
        << R"("rope_scaling":{},"rope_parameters":{"rope_type":"llama3",)" + rest;
}

void TestModelConfig::spellingsOfTheRule()
{
    QFETCH(QByteArray, block);
    const RopeConfig config = one(llama(block));
    QVERIFY(config.rule == FrequencyRule::Llama3);
    QCOMPARE(config.parameters.factor.value(), 8.0);
    QCOMPARE(config.originalMaxPositionEmbeddings.value(), std::int64_t{8192});
}

void TestModelConfig::nothingStatedReadsAlike()
{
    const RopeConfig absent = one(llama(""));
    for (const char* block : {"\"rope_scaling\":null", "\"rope_scaling\":{}", "\"rope_parameters\":null",
                              "\"rope_parameters\":{}", "\"rope_scaling\":{},\"rope_parameters\":null"})
        QVERIFY2(one(llama(block)) == absent, block);
}

void TestModelConfig::llama3Frequencies()
{
    // Llama-3.2-1B: pairs 0-14 untouched, 15-17 blended, 18-31 divided by 32; the loop is the published rule.
    const RopeConfig config =
        one(R"({"model_type":"llama","hidden_size":2048,"num_attention_heads":32,"head_dim":64,
        "max_position_embeddings":131072,"rope_theta":500000.0,"rope_scaling":{"rope_type":"llama3","factor":32.0,
        "low_freq_factor":1.0,"high_freq_factor":4.0,"original_max_position_embeddings":8192}})");
    const FrequencyTable table = frequencyTable(config);
    QCOMPARE(table.scaled.size(), std::size_t{32});
    const long double pi = acosl(-1.0L);
    for (int i = 0; i < 32; ++i) {
        const long double theta = powl(500000.0L, -2.0L * i / 64.0L);
        const long double wavelength = 2.0L * pi / theta;
        long double expected = theta;
        if (wavelength > 8192.0L)
            expected = theta / 32.0L;
        else if (wavelength > 8192.0L / 4.0L) {
            const long double u = (8192.0L / wavelength - 1.0L) / 3.0L;
            expected = (1.0L - u) * theta / 32.0L + u * theta;
        }
        QVERIFY2(fabsl(table.scaled[static_cast<std::size_t>(i)] / expected - 1.0L) < 1e-13L,
                 qPrintable(QString::number(i)));
    }
}

void TestModelConfig::bothBlocks()
{
    const RopeConfig config = one(llama(R"("rope_scaling":{"type":"linear","factor":2.0},
                                           "rope_parameters":{"rope_type":"linear","factor":3.0})"));
    QCOMPARE(config.parameters.factor.value(), 2.0);
    QVERIFY(noteOn(config, "rope_parameters", Severity::Conflict));
}

void TestModelConfig::blockWinsOverTopLevel()
{
    const RopeConfig config =
        one(llama(R"("rope_theta":10000,"rope_parameters":{"rope_theta":50000,"partial_rotary_factor":0.5},
                 "partial_rotary_factor":0.25)"));
    QCOMPARE(config.base, 50000.0);
    QCOMPARE(config.rotaryDim, 64);
    QVERIFY(noteOn(config, "rope_theta", Severity::Conflict));
    QVERIFY(noteOn(config, "rope_parameters.rope_theta", Severity::Read));
    // Stated twice and alike is no conflict.
    QVERIFY(!noteOn(one(llama(R"("rope_theta":5e4,"rope_parameters":{"rope_theta":50000})")), "rope_theta",
                    Severity::Conflict));
}

void TestModelConfig::topLevelLengthWins()
{
    for (const char* rule : {"llama3", "yarn"}) {
        const RopeConfig config =
            one(llama(QByteArray(R"("original_max_position_embeddings":4096,"rope_scaling":{"rope_type":")") +
                      rule + R"(","factor":8.0,"original_max_position_embeddings":8192})"));
        QCOMPARE(config.originalMaxPositionEmbeddings.value(), std::int64_t{4096});
        QVERIFY(noteOn(config, "rope_scaling.original_max_position_embeddings", Severity::Conflict));
    }
}

void TestModelConfig::statedHeadDimWins()
{
    const RopeConfig config =
        one(R"({"hidden_size":5120,"num_attention_heads":32,"head_dim":128,"rope_theta":1000000.0})");
    QCOMPARE(config.headDim, 128);
    const Issue* note = noteOn(config, "head_dim", Severity::Conflict);
    QVERIFY(note);
    QVERIFY(QString::fromStdString(toEnglish(note->text)).contains("160"));
    // null counts as not stated.
    QCOMPARE(one(llama("\"head_dim\":null")).headDim, 128);
    QVERIFY(!noteOn(one(llama("\"head_dim\":128")), "head_dim", Severity::Conflict));
}

void TestModelConfig::attentionFactor()
{
    const QByteArray start = R"("rope_scaling":{"rope_type":"yarn","factor":64.0,
                                "original_max_position_embeddings":4096)";
    QCOMPARE(frequencyTable(one(llama(start + R"(,"attention_factor":1.0})"))).attentionFactor, 1.0);
    const double derived = static_cast<double>(0.1L * logl(64.0L) + 1.0L);
    for (const QByteArray end : {R"(,"attention_factor":null})", "}"})
        QVERIFY(std::fabs(frequencyTable(one(llama(start + end))).attentionFactor - derived) < 1e-15);
    // Without a rule that uses it, it has no effect and is said so.
    const RopeConfig linear =
        one(llama(R"("rope_scaling":{"type":"linear","factor":2.0,"attention_factor":3.0})"));
    QCOMPARE(frequencyTable(linear).attentionFactor, 1.0);
    QVERIFY(noteOn(linear, "rope_scaling.attention_factor", Severity::Warning));
}

void TestModelConfig::factorOfYarn()
{
    // The stated factor counts and the mismatch is noted; the ratio only fills a missing one.
    const QByteArray qwen =
        R"({"model_type":"qwen3","hidden_size":2560,"num_attention_heads":32,"head_dim":128,
        "max_position_embeddings":40960,"rope_theta":1000000,"rope_scaling":{"rope_type":"yarn",%1
        "original_max_position_embeddings":32768}})";
    const RopeConfig stated = one(QByteArray(qwen).replace("%1", "\"factor\":4.0,"));
    QCOMPARE(stated.parameters.factor.value(), 4.0);
    QVERIFY(noteOn(stated, "factor", Severity::Warning));
    for (const char* missing : {"", "\"factor\":null,"}) {
        const RopeConfig config = one(QByteArray(qwen).replace("%1", missing));
        QVERIFY(!config.parameters.factor);
        const auto& factor = info(config.rule).parameters.front();
        QCOMPARE(effectiveParameter(config, factor).value(), 1.25);
    }
}

void TestModelConfig::truncate()
{
    const QByteArray start = R"("rope_scaling":{"rope_type":"yarn","factor":32.0,
                                "original_max_position_embeddings":4096)";
    QCOMPARE(one(llama(start + ",\"truncate\":false}")).parameters.truncate, std::optional(false));
    QCOMPARE(one(llama(start + ",\"truncate\":true}")).parameters.truncate, std::optional(true));
    QCOMPARE(one(llama(start + ",\"truncate\":null}")).parameters.truncate, std::optional<bool>());
}

void TestModelConfig::unknownFamilyIsAssumed()
{
    const RopeConfig config =
        one(R"({"model_type":"never_heard_of","hidden_size":4096,"num_attention_heads":32,
        "head_dim":128,"rope_theta":640000,"max_position_embeddings":32768,"layer_types":["full_attention",
        "full_attention"]})");
    QCOMPARE(config.base, 640000.0);
    QCOMPARE(config.rotaryDim, 128);
    QVERIFY(config.layout == Layout::Half);
    const Issue* note = noteOn(config, "model_type", Severity::Assumed);
    QVERIFY(note);
    QVERIFY(QString::fromStdString(toEnglish(note->text)).contains("never_heard_of"));
}

void TestModelConfig::defaultsNameTheirClass()
{
    const RopeConfig config = one(llama(""));
    const Issue* note = noteOn(config, "rope_theta", Severity::Assumed);
    QVERIFY(note);
    const QString text = QString::fromStdString(toEnglish(note->text));
    QVERIFY2(text.contains("default, not stated") && text.contains("LlamaConfig") && text.contains("10000"),
             qPrintable(text));
    QVERIFY(
        noteOn(one(R"({"model_type":"glm","head_dim":128})"), "partial_rotary_factor", Severity::Assumed));
}

void TestModelConfig::withoutRotation_data()
{
    QTest::addColumn<QByteArray>("json");
    for (const char* type : {"gpt2", "opt", "t5", "bloom", "mpt", "whisper", "jamba", "rwkv5", "gpt_bigcode"})
        QTest::newRow(type) << QByteArray("{\"model_type\":\"") + type + "\",\"n_embd\":768,\"n_head\":12}";
    QTest::newRow("falcon with alibi")
        << QByteArray(R"({"model_type":"falcon","hidden_size":2048,"num_attention_heads":32,"alibi":true})");
}

void TestModelConfig::withoutRotation()
{
    QFETCH(QByteArray, json);
    const Result<ModelReading> reading = read(json);
    QVERIFY(reading.hasValue());
    QVERIFY(reading->configurations.empty());
    QCOMPARE(reading->notes.size(), std::size_t{1});
    QVERIFY(QString::fromStdString(toEnglish(reading->notes.front().text)).contains("no layer rotates"));
}

void TestModelConfig::noModelFields()
{
    for (const char* json :
         {"{}", R"({"max_length":448,"suppress_tokens":[1,2],"transformers_version":"4.31"})",
          // A trimmed copy of an unknown family: nothing says whether it rotates.
          R"({"model_type":"step3p7","hidden_size":4096,"num_attention_heads":64,"head_dim":128})"}) {
        const Result<ModelReading> reading = read(json);
        QVERIFY(reading.hasValue());
        QVERIFY(reading->configurations.empty());
        QCOMPARE(reading->notes.size(), std::size_t{1});
        QVERIFY(reading->notes.front().severity == Severity::Unknown);
    }
}

void TestModelConfig::refused_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QStringList>("words"); ///< that the sentence has to hold
    const auto row = [](const char* name, const QByteArray& json, const QStringList& words) {
        QTest::newRow(name) << json << words;
    };
    row("empty file", "", {"empty"});
    row("only spaces", " \n\t ", {"empty"});
    row("only a byte order mark", "\xEF\xBB\xBF", {"empty"});
    row("a web page", "\n<!DOCTYPE html><html></html>", {"web page"});
    row("UTF-16", QByteArray("\xFF\xFE{\0}\0", 6), {"UTF-16"});
    row("a list", "[1]", {"a list", "object"});
    row("a number", "3", {"the number 3", "object"});
    row("a text", "\"llama\"", {"llama", "object"});
    row("cut short", R"({"model_type":"llama","hidden_size":40)", {"ends at line 1", "hidden_size"});
    row("a comma too many", "{\"hidden_size\":4096,\n}", {"line 2"});
    row("not JSON at all", "model_type: llama\n", {"line 1"});
    row("bare Infinity", llama("\n\"rope_theta\":Infinity"), {"Infinity", "rope_theta", "line 2"});
    row("bare -Infinity", llama("\"rope_theta\":-Infinity"), {"rope_theta"});
    row("bare NaN", llama("\"rope_theta\":NaN"), {"NaN", "rope_theta"});
    row("a number too large", llama("\"rope_theta\":1e999"), {"rope_theta", "too large"});
    row("invalid UTF-8", "{\"model_type\":\"lla\xFFma\"}", {"model_type"});
    row("nested too deep", QByteArray("{\"a\":") + QByteArray(100000, '['), {"deep"});
    row("a base as text", llama(R"("rope_theta":"1e6")"), {"rope_theta", "\"1e6\"", "number"});
    row("a base as true", llama(R"("rope_theta":true)"), {"rope_theta", "true", "number"});
    row("a base as a list", llama(R"("rope_theta":[1])"), {"rope_theta", "a list", "number"});
    row("base 1", llama(R"("rope_theta":1)"), {"rope_theta", "above 1"});
    row("base negative", llama(R"("rope_theta":-10000)"), {"rope_theta", "-10000", "above 1"});
    row("heads 0", R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":0})",
        {"num_attention_heads", "whole number"});
    row("heads negative", R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":-32})",
        {"num_attention_heads", "-32"});
    row("hidden_size huge", R"({"model_type":"llama","hidden_size":4096000000000,"num_attention_heads":32})",
        {"hidden_size"});
    row("hidden_size broken", R"({"model_type":"llama","hidden_size":4096.5,"num_attention_heads":32})",
        {"hidden_size", "4096.5", "whole number"});
    row("head_dim huge", llama("\"head_dim\":100000"), {"head_dim", "100000"});
    row("head_dim as text", llama("\"head_dim\":\"128\""), {"head_dim", "\"128\""});
    row("length 0", R"({"model_type":"llama","head_dim":64,"max_position_embeddings":0})",
        {"max_position_embeddings"});
    row("length as text", R"({"model_type":"llama","head_dim":64,"max_position_embeddings":"4096"})",
        {"max_position_embeddings", "\"4096\""});
    row("model_type as a number", R"({"model_type":3})", {"model_type", "text"});
    row("nothing to make head_dim of", R"({"model_type":"mixtral","hidden_size":4096})",
        {"num_attention_heads", "head_dim"});
    row("an unknown family without widths", R"({"model_type":"x","rope_theta":1e4})",
        {"hidden_size", "head_dim"});
    row("odd rotary width by share",
        R"({"model_type":"gpt_neox","hidden_size":32,"num_attention_heads":8,"rotary_pct":0.75})",
        {"odd rotary width 3"});
    row("odd rotary width by head", R"({"model_type":"llama","hidden_size":520,"num_attention_heads":8})",
        {"odd rotary width 65"});
    row("odd rotary_dim", R"({"model_type":"gptj","n_embd":4096,"n_head":16,"rotary_dim":63})",
        {"odd rotary width 63"});
    row("rotary_dim null", R"({"model_type":"gptj","n_embd":4096,"n_head":16,"rotary_dim":null})",
        {"rotary_dim", "null"});
    row("rotary_dim wider than the head",
        R"({"model_type":"gptj","n_embd":1024,"n_head":16,"rotary_dim":128})", {"rotary_dim", "128", "64"});
    row("share above 1", llama("\"partial_rotary_factor\":1.5"),
        {"partial_rotary_factor", "1.5", "from 0 to 1"});
    row("share negative", llama("\"partial_rotary_factor\":-0.5"), {"partial_rotary_factor"});
    row("scaling as text", llama(R"("rope_scaling":"{\"type\":\"linear\"}")"),
        {"rope_scaling", "text", "object"});
    row("scaling as a list", llama(R"("rope_scaling":["linear",2.0])"), {"rope_scaling", "a list", "object"});
    row("scaling as a number", llama(R"("rope_scaling":2.0)"), {"rope_scaling", "number 2", "object"});
    row("parameters as text", llama(R"("rope_parameters":"yarn")"), {"rope_parameters", "text"});
    row("no rule", llama(R"("rope_scaling":{"factor":2.0})"), {"rope_scaling", "factor", "rope_type"});
    row("rule as a number", llama(R"("rope_scaling":{"rope_type":3})"), {"rope_scaling.rope_type", "text"});
    row("rule unknown", llama(R"("rope_scaling":{"rope_type":"jarn","factor":2.0})"), {"jarn", "yarn"});
    row("factor below 1", llama(R"("rope_scaling":{"type":"linear","factor":0.5})"),
        {"factor", "0.5", "from 1 to"});
    row("factor as text", llama(R"("rope_scaling":{"type":"linear","factor":"4"})"),
        {"rope_scaling.factor", "\"4\"", "number"});
    row("factor missing", llama(R"("rope_scaling":{"type":"linear"})"), {"factor"});
    row("truncate as a number", llama(R"("rope_scaling":{"type":"yarn","factor":2.0,"truncate":0})"),
        {"rope_scaling.truncate", "true or false"});
    row("yarn without a length",
        R"({"model_type":"llama","head_dim":64,"rope_scaling":{"type":"yarn","factor":2.0}})",
        {"original_max_position_embeddings"});
    row("yarn: betas the wrong way round",
        llama(R"("rope_scaling":{"type":"yarn","factor":2.0,"beta_fast":1,"beta_slow":32})"), {"beta_fast"});
    row("yarn: a training length too short",
        R"({"model_type":"llama","head_dim":64,"max_position_embeddings":6,"rope_scaling":{"type":"yarn","factor":2}})",
        {"training length"});
    row("the base twice", R"({"model_type":"llama","head_dim":64,"rope_theta":1e4,"rope_theta":1e6})",
        {"rope_theta", "twice"});
    row("the factor twice", llama(R"("rope_scaling":{"type":"linear","factor":2,"factor":4})"),
        {"factor", "twice"});
    row("a family that scales by default, nothing stated", R"({"model_type":"gpt_oss","head_dim":64})",
        {"gpt_oss", "rope_scaling"});
    row("position_embedding_type", llama("\"position_embedding_type\":\"absolute\""),
        {"position_embedding_type", "absolute"});
    row("a session", R"({"schema":"ropewalk.session/1","model_type":"llama"})", {"ropewalk.session/1"});
}

void TestModelConfig::refused()
{
    QFETCH(QByteArray, json);
    QFETCH(QStringList, words);
    const Result<ModelReading> reading = read(json);
    QVERIFY(!reading);
    QCOMPARE(reading.error().code, ErrorCode::BadInput);
    const QString sentence = QString::fromStdString(toEnglish(reading.error()));
    for (const QString& word : words)
        QVERIFY2(sentence.contains(word), qPrintable(sentence));
    QVERIFY2(sentence.size() < 300 && !sentence.contains('\n'), qPrintable(sentence));
    static const QRegularExpression unfilled(QStringLiteral("\\{[a-z_]+\\}"));
    QVERIFY2(!sentence.contains(unfilled), qPrintable(sentence));
}

void TestModelConfig::refusedByName_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QString>("name");
    const auto row = [](const char* key, const QByteArray& json) {
        QTest::newRow(key) << json << QString(key);
    };
    row("t5gemma2", R"({"model_type":"t5gemma2","hidden_size":4096})");
    row("short_factor", llama(R"("rope_scaling":{"type":"su","factor":2.0})"));
    row("rope_local_base_freq", llama("\"rope_local_base_freq\":1e4"));
    row("swa_rope_theta", llama("\"swa_rope_theta\":1e4"));
    row("no_rope_layers", llama("\"no_rope_layers\":[1,1,1,0]"));
    row("rope_interleaved", llama("\"rope_interleaved\":true"));
    row("position_encoding_2d", llama("\"position_encoding_2d\":true"));
    row("decoder", R"({"model_type":"t5gemma","encoder":{"head_dim":256}})");
    row("rotary.type", R"({"model_type":"internlm","hidden_size":4096,"num_attention_heads":32,
                           "rotary":{"type":"linear","base":10000}})");
    row("rotary",
        R"({"model_type":"internlm","hidden_size":4096,"num_attention_heads":32,"rotary":"dynamic"})");
    row("rope_3d", llama("\"rope_3d\":true"));
    row("attention_head_dim", R"({"model_type":"zamba2","hidden_size":2560,"num_attention_heads":32,
                                  "attention_head_dim":160,"rope_theta":10000})");
    row("layer_types", R"({"model_type":"never_heard_of","head_dim":128,"rope_theta":1e4,
                           "layer_types":["full_attention","sliding_attention"]})");
    row("attention_multiplier",
        R"({"model_type":"x","head_dim":128,"rope_theta":1e4,"attention_multiplier":1})");
    row("rotary_pct", R"({"model_type":"x","head_dim":128,"rope_theta":1e4,"rotary_pct":0.25})");
    row("bert", R"({"model_type":"bert","hidden_size":768,"num_attention_heads":12,"rotary":true})");
    row("rope_parameters", llama(R"("layer_types":["a_attention"],"rope_parameters":{
                                     "full_attention":{"rope_type":"default"}})"));
    row("mrope_section", llama(R"("rope_scaling":{"type":"default","mrope_section":[16,24.5]})"));
}

void TestModelConfig::refusedByName()
{
    QFETCH(QByteArray, json);
    QFETCH(QString, name);
    const Result<ModelReading> reading = read(json);
    QVERIFY(!reading);
    const QString sentence = QString::fromStdString(toEnglish(reading.error()));
    QVERIFY2(sentence.contains(name), qPrintable(sentence));
}

void TestModelConfig::hostileBytes()
{
    // More than 64 MiB is refused before it is looked at.
    std::string huge((std::size_t{64} << 20) + 1, ' ');
    huge.front() = '{';
    const Result<ModelReading> large = readModelConfig(huge, "x");
    QVERIFY(!large);
    QVERIFY(QString::fromStdString(toEnglish(large.error())).contains("67108864"));
    // Many values in few bytes.
    std::string list = "{\"a\":[0";
    for (int i = 0; i < 5'000'000; ++i)
        list += ",0";
    list += "]}";
    QVERIFY(!readModelConfig(list, "x"));
}

void TestModelConfig::mutationsNeverCrash()
{
    const QByteArray seeds[] = {
        R"({"model_type":"gemma4","text_config":{"head_dim":16,"global_head_dim":32,"layer_types":
            ["full_attention","sliding_attention"],"rope_parameters":{"full_attention":{"rope_type":"proportional",
            "partial_rotary_factor":0.25,"rope_theta":1e6},"sliding_attention":{"rope_type":"default"}}}})",
        R"({"model_type":"deepseek_v3","qk_nope_head_dim":16,"qk_rope_head_dim":8,"rope_theta":1e4,
            "max_position_embeddings":163840,"rope_scaling":{"type":"yarn","factor":40,"mscale":1.0,
            "mscale_all_dim":1.0,"original_max_position_embeddings":4096}})",
        R"({"model_type":"deepseek_v4","head_dim":32,"qk_rope_head_dim":8,"compress_ratios":[0,4],
            "compress_rope_theta":160000,"rope_scaling":{"type":"yarn","factor":16,
            "original_max_position_embeddings":65536}})",
        R"({"dim":64,"n_heads":4,"use_scaled_rope":true,"rope_scale_factor":32,"rope_theta":5e5,"use_hf_rope":true})",
        R"({"model_type":"phi3","head_dim":4,"max_position_embeddings":8192,"original_max_position_embeddings":4096,
            "rope_scaling":{"type":"su","short_factor":[1,2],"long_factor":[4,8]}})",
        R"({"model_type":"qwen","kv_channels":16,"seq_length":2048,"use_dynamic_ntk":true,"use_logn_attn":true})",
        R"({"model_type":"chatglm","kv_channels":16,"rope_ratio":50,"seq_length":2048})",
        R"({"model_type":"chatglm","hidden_size":32,"num_attention_heads":2,"position_encoding_2d":true})",
        R"({"model_type":"t5gemma","encoder":{"head_dim":8,"rope_theta":1e4},"decoder":{"head_dim":16}})",
        R"({"model_type":"internlm","hidden_size":16,"num_attention_heads":2,"max_position_embeddings":64,
            "rotary":{"type":"dynamic","base":10000,"scaling_factor":2.0}})",
        R"({"general.architecture":"llama","llama.attention.key_length":"8","llama.rope.freq_base":"1e+06",
            "rope_freqs.weight":[1,1,2,4],"llama.context_length":8192})",
        llama(R"("rope_theta":500000.0,"rope_scaling":{"rope_type":"yarn","factor":8.0,
        "original_max_position_embeddings":8192,"truncate":false,"beta_fast":32},"head_dim":128)")};
    std::mt19937 random(3);
    const auto below = [&](int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random); };
    const QByteArray pieces[] = {"null", "-1",    "1e308", "0",    "\"",
                                 "{",    "}",     "[",     "]",    ",",
                                 ":",    "\\",    "\xFF",  "true", "9223372036854775808",
                                 "-0.0", "1e-320"};
    for (int i = 0; i < 20000; ++i) {
        QByteArray text = seeds[static_cast<std::size_t>(i) % std::size(seeds)];
        for (int change = 1 + below(3); change > 0; --change) {
            const int at = below(static_cast<int>(text.size()));
            switch (below(3)) {
            case 0:
                text.remove(at, 1 + below(8));
                break;
            case 1:
                text.insert(at, pieces[below(static_cast<int>(std::size(pieces)))]);
                break;
            default: {
                // Another value for a whole number or word, so that most mutations stay JSON.
                const qsizetype colon = text.indexOf(':', at);
                const qsizetype end = colon < 0 ? -1 : text.indexOf(',', colon);
                if (end > colon)
                    text.replace(colon + 1, end - colon - 1,
                                 pieces[below(static_cast<int>(std::size(pieces)))]);
            }
            }
            if (text.isEmpty())
                text = "{";
        }
        const Result<ModelReading> reading = read(text);
        if (reading)
            for (const RopeConfig& config : reading->configurations)
                for (const double theta : frequencyTable(config).scaled)
                    QVERIFY2(std::isfinite(theta) && theta >= 0.0, text.constData());
        else
            QVERIFY(!toEnglish(reading.error()).empty());
    }
}

void TestModelConfig::byteOrderMark()
{
    QVERIFY(one("\xEF\xBB\xBF" + llama("")) == one(llama("")));
}

void TestModelConfig::repeatedKeyElsewhereIsNobodysBusiness()
{
    QVERIFY(read(llama(R"("torch_dtype":"float16","torch_dtype":"bfloat16")")).hasValue());
}

void TestModelConfig::bareNumbersElsewhere()
{
    // Python writes them; where the rotation does not depend on them the file is read, and the key is named.
    const Result<ModelReading> reading =
        read(llama(R"("time_step_limit":[0.0, Infinity],"text":"a NaN: \"Infinity\"","other":-Infinity)"));
    QVERIFY2(reading.hasValue(), reading ? "" : toEnglish(reading.error()).c_str());
    QCOMPARE(reading->configurations.front().headDim, 128);
    QCOMPARE(reading->notes.size(), std::size_t{2});
    QCOMPARE(reading->notes.front().field, std::string("time_step_limit"));
    QVERIFY(reading->notes.front().severity == Severity::Warning);
}

void TestModelConfig::pasted_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<FrequencyRule>("rule");
    QTest::addColumn<double>("factor");
    QTest::addColumn<double>("base");
    QTest::addColumn<int>("rotaryDim");
    const QByteArray block = R"({"rope_type":"yarn","factor":4.0,"original_max_position_embeddings":32768})";
    QTest::newRow("a bare block") << block << FrequencyRule::Yarn << 4.0 << 5e5 << 64;
    QTest::newRow("with its key, as cut out of a file")
        << QByteArray("  \"rope_scaling\": " + block + ",\n") << FrequencyRule::Yarn << 4.0 << 5e5 << 64;
    QTest::newRow("with its key and braces")
        << QByteArray("{\"rope_parameters\":" + block + "}") << FrequencyRule::Yarn << 4.0 << 5e5 << 64;
    QTest::newRow("with a base and a share")
        << QByteArray(R"({"type":"linear","factor":2,"rope_theta":10000,"partial_rotary_factor":0.25})")
        << FrequencyRule::Linear << 2.0 << 1e4 << 32;
    QTest::newRow("null") << QByteArray("\"rope_scaling\": null") << FrequencyRule::Default << 0.0 << 5e5
                          << 64;
    QTest::newRow("a whole file") << QByteArray(
                                         R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":32,
                          "rope_scaling":{"type":"linear","factor":8}})")
                                  << FrequencyRule::Linear << 8.0 << 1e4 << 128;
}

void TestModelConfig::pasted()
{
    RopeConfig selected;
    selected.name = "mine";
    selected.rotaryDim = 64;
    selected.base = 5e5;
    selected.layout = Layout::Interleaved;
    selected.maxPositionEmbeddings = 131072;
    selected.softmaxFactor = 2.0;
    QFETCH(QByteArray, text);
    const Result<RopeConfig> config = pastedConfig(text.toStdString(), selected);
    QVERIFY2(config.hasValue(), config ? "" : toEnglish(config.error()).c_str());
    QFETCH(FrequencyRule, rule);
    QVERIFY(config->rule == rule);
    QFETCH(double, factor);
    QCOMPARE(config->parameters.factor.value_or(0.0), factor);
    QTEST(config->base, "base");
    QTEST(config->rotaryDim, "rotaryDim");
    QCOMPARE(config->name, std::string("mine"));
    QCOMPARE(config->headDim, 128);
    if (!text.contains("model_type")) {
        QVERIFY(config->layout == Layout::Interleaved);
        QCOMPARE(config->softmaxFactor, 2.0);
    }
}

void TestModelConfig::pastedWithSeveralKinds()
{
    const char* text = R"({"model_type":"gemma3_text","head_dim":256,"max_position_embeddings":32768})";
    const Result<RopeConfig> config = pastedConfig(text, RopeConfig{});
    QVERIFY2(config.hasValue(), config ? "" : toEnglish(config.error()).c_str());
    QCOMPARE(config->layerType.value_or(""), std::string("full_attention"));
    QVERIFY(QString::fromStdString(toEnglish(config->notes.front().text)).contains("2 configurations"));
}

void TestModelConfig::pastedRefused()
{
    const RopeConfig selected;
    for (const char* text :
         {"", "hello", "[1]", "{}", "<html></html>", R"({"rope_type":"jarn"})",
          R"({"rope_type":"linear","factor":0.5})", R"({"model_type":"gpt2","n_embd":8})",
          R"({"rope_parameters":{"a":{"rope_type":"default"},"b":{"rope_type":"linear","factor":2}}})",
          R"("rope_scaling": "yarn")"}) {
        const Result<RopeConfig> config = pastedConfig(text, selected);
        QVERIFY2(!config, text);
        QVERIFY(!toEnglish(config.error()).empty());
    }
}

void TestModelConfig::names_data()
{
    QTest::addColumn<QByteArray>("stated");
    QTest::addColumn<QString>("name");
    QTest::newRow("organisation and model") << QByteArray("microsoft/phi-2") << "microsoft/phi-2";
    QTest::newRow("a folder of whoever saved it") << QByteArray("/srv/models/x") << "model";
    QTest::newRow("relative folder") << QByteArray("./vlm") << "model";
    QTest::newRow("a bare word") << QByteArray("checkpoint") << "model";
    QTest::newRow("empty") << QByteArray() << "model";
}

void TestModelConfig::names()
{
    QFETCH(QByteArray, stated);
    QFETCH(QString, name);
    QCOMPARE(QString::fromStdString(one(llama("\"_name_or_path\":\"" + stated + "\"")).name), name);
}

QTEST_APPLESS_MAIN(TestModelConfig)
#include "test_model_config.moc"
