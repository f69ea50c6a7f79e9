// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/preset.h"

#include "core/frequency_rules.h"

#include <QTest>

using namespace ropewalk;

namespace {

const QByteArray kGood =
    R"({"name":"GPT-NeoX-20B","family":"GPT-NeoX","source":"configs/20B.yml","mark":"verified",
    "config":{"rotary_dim":24,"head_dim":96,"base":10000,"layout":"half","max_position_embeddings":2048}})";

} // namespace

class TestPreset : public QObject
{
    Q_OBJECT

private slots:
    void good();
    void layers();
    void tokens();
    void notPublic();
    void refused_data();
    void refused();
};

void TestPreset::good()
{
    const Result<Preset> preset = presetFromJson(kGood.toStdString(), "gpt-neox-20b");
    QVERIFY2(preset.hasValue(), preset ? "" : toEnglish(preset.error()).c_str());
    QCOMPARE(preset->id, std::string("gpt-neox-20b"));
    QCOMPARE(preset->family, std::string("GPT-NeoX"));
    QCOMPARE(preset->config.name, std::string("GPT-NeoX-20B"));
    QCOMPARE(preset->config.headDim, 96);
    QCOMPARE(preset->config.rotaryDim, 24);
    QCOMPARE(preset->config.maxPositionEmbeddings.value(), std::int64_t{2048});
    QVERIFY(!preset->config.notes.empty());
}

void TestPreset::layers()
{
    const Result<Preset> preset = presetFromJson(
        R"({"name":"Gemma-3","family":"Gemma","source":"somewhere","mark":"verified","layers":[
            {"layer_type":"full_attention","config":{"head_dim":256,"base":1000000,"rule":"linear","factor":8},
             "softmax_factor":0.5},
            {"layer_type":"no_rope","config":{"head_dim":256,"rule":"none"}}]})",
        "gemma-3");
    QVERIFY2(preset.hasValue(), preset ? "" : toEnglish(preset.error()).c_str());
    QCOMPARE(preset->configurations.size(), std::size_t{2});
    QCOMPARE(preset->config.layerType.value(), std::string("full_attention"));
    QCOMPARE(preset->config.softmaxFactor, 0.5);
    QVERIFY(preset->configurations[1].rule == FrequencyRule::None);
}

void TestPreset::tokens()
{
    const Result<Preset> preset = presetFromJson(
        R"({"name":"ChatGLM-6B","family":"ChatGLM","source":"somewhere","mark":"second-hand","layers":[
            {"tokens":"context tokens","config":{"rotary_dim":64}},
            {"tokens":"generated tokens","config":{"rotary_dim":64,"channels":"last"}}]})",
        "chatglm-6b");
    QVERIFY2(preset.hasValue(), preset ? "" : toEnglish(preset.error()).c_str());
    QCOMPARE(preset->configurations[0].name, std::string("ChatGLM-6B (context tokens)"));
    QCOMPARE(preset->configurations[1].name, std::string("ChatGLM-6B (generated tokens)"));
    QVERIFY(!preset->configurations[1].layerType);
}

void TestPreset::notPublic()
{
    const Result<Preset> preset = presetFromJson(
        R"({"name":"PaLM 2","family":"PaLM","source":"none","mark":"not public","reason":"not published"})",
        "palm-2");
    QVERIFY2(preset.hasValue(), preset ? "" : toEnglish(preset.error()).c_str());
    QVERIFY(preset->configurations.empty());
    QCOMPARE(preset->reason, std::string("not published"));
}

void TestPreset::refused_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("word");
    QTest::newRow("empty") << QByteArray() << "empty";
    QTest::newRow("a list") << QByteArray("[]") << "object";
    QTest::newRow("no source") << QByteArray(kGood).replace("source", "sauce") << "source";
    QTest::newRow("unknown mark") << QByteArray(kGood).replace("verified", "sure") << "mark";
    QTest::newRow("no config") << QByteArray(kGood).replace("\"config\"", "\"konfig\"") << "config";
    QTest::newRow("unknown key") << QByteArray(kGood).replace("head_dim", "head_dims") << "head_dims";
    QTest::newRow("impossible") << QByteArray(kGood).replace("10000", "1") << "base";
    QTest::newRow("not public, and drawn") << QByteArray(kGood)
                                                  .replace("verified", "not public")
                                                  .replace("\"config\"", "\"reason\":\"x\",\"config\"")
                                           << "reason";
    QTest::newRow("not public without a reason")
        << QByteArray(R"({"name":"x","family":"x","source":"x","mark":"not public"})") << "reason";
    QTest::newRow("a factor of 0") << QByteArray(kGood).replace("\"config\"",
                                                                "\"softmax_factor\":0,\"config\"")
                                   << "softmax_factor";
    QTest::newRow("no layers")
        << QByteArray(R"({"name":"x","family":"x","source":"x","mark":"verified","layers":[]})") << "layers";
    QTest::newRow("a key as a list") << QByteArray(kGood).replace("10000", "[1]") << "base";
}

void TestPreset::refused()
{
    QFETCH(QByteArray, text);
    QFETCH(QString, word);
    const Result<Preset> preset = presetFromJson(text.toStdString(), "x");
    QVERIFY(!preset);
    QCOMPARE(preset.error().code, ErrorCode::BadInput);
    QVERIFY2(QString::fromStdString(toEnglish(preset.error())).contains(word),
             toEnglish(preset.error()).c_str());
}

QTEST_APPLESS_MAIN(TestPreset)
#include "test_preset.moc"
