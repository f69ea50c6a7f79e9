// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/presets.h"

#include "core/frequency_rules.h"
#include "core/validate.h"

#include <QTest>

#include <cmath>
#include <set>

using namespace ropewalk;

/// The built-in models against the published values, written down here.
class TestPresets : public QObject
{
    Q_OBJECT

private slots:
    void values_data();
    void values();
    void phiSwitchesItsLists();
    void eachHasASource();
    void allRowsAreThere();
    void closedModelsDrawNothing();
};

void TestPresets::values_data()
{
    QTest::addColumn<int>("headDim");
    QTest::addColumn<int>("rotaryDim");
    QTest::addColumn<double>("base");
    QTest::addColumn<QString>("rule");
    QTest::addColumn<int>("training");
    QTest::addColumn<double>("slowest"); ///< the last frequency, rad/token
    QTest::newRow("llama-3.1-8b") << 128 << 128 << 5e5 << "llama3" << 8192
                                  << static_cast<double>(powl(5e5L, -126.0L / 128.0L) / 8.0L);
    QTest::newRow("llama-2-7b") << 128 << 128 << 1e4 << "default" << 4096
                                << static_cast<double>(powl(1e4L, -126.0L / 128.0L));
    QTest::newRow("gpt-neox-20b") << 96 << 24 << 1e4 << "default" << 2048
                                  << static_cast<double>(powl(1e4L, -22.0L / 24.0L));
    QTest::newRow("qwen3-8b") << 128 << 128 << 1e6 << "default" << 40960
                              << static_cast<double>(powl(1e6L, -126.0L / 128.0L));
}

void TestPresets::values()
{
    const std::vector<Preset> presets = loadPresets();
    const std::string id = QTest::currentDataTag();
    const auto found =
        std::find_if(presets.begin(), presets.end(), [&](const Preset& p) { return p.id == id; });
    QVERIFY(found != presets.end());
    const RopeConfig& config = found->config;
    QTEST(config.headDim, "headDim");
    QTEST(config.rotaryDim, "rotaryDim");
    QTEST(config.base, "base");
    QVERIFY(config.layout == Layout::Half);
    QFETCH(QString, rule);
    QCOMPARE(QString::fromStdString(std::string(info(config.rule).word)), rule);
    QFETCH(int, training);
    QCOMPARE(trainingLength(config).value(), std::int64_t{training});
    QFETCH(double, slowest);
    QVERIFY(std::fabs(frequencyTable(config).scaled.back() / slowest - 1.0) < 1e-13);
}

/// E13 of what people ran into: the short list up to 4096, the long one from 4097 on, one factor on both.
void TestPresets::phiSwitchesItsLists()
{
    const std::vector<Preset> presets = loadPresets();
    const auto phi =
        std::find_if(presets.begin(), presets.end(), [](const Preset& p) { return p.id == "phi-3.5-mini"; });
    QVERIFY(phi != presets.end());
    RopeConfig config = phi->config;
    for (const auto& [length, last] :
         {std::pair{std::int64_t{4096}, 4.26594e-05}, {std::int64_t{4097}, 1.86849e-06}}) {
        config.length = length;
        const FrequencyTable table = frequencyTable(config);
        QVERIFY(std::fabs(table.scaled.back() / last - 1.0) < 3e-6); // six digits were published
        QVERIFY(std::fabs(table.attentionFactor - 1.19024) < 5e-6);
    }
}

void TestPresets::eachHasASource()
{
    const std::vector<Preset> presets = loadPresets();
    QVERIFY(presets.size() >= 90);
    for (const Preset& preset : presets) {
        QVERIFY2(preset.source.size() > 5, preset.id.c_str());
        QVERIFY2(!preset.family.empty() && !preset.configurations.empty(), preset.id.c_str());
        QVERIFY2(preset.config == preset.configurations.front(), preset.id.c_str());
        for (const RopeConfig& config : preset.configurations) {
            QVERIFY2(!hasError(validate(config)), preset.id.c_str());
            const bool isOfSome = config.layerType.has_value() || config.name.ends_with(" tokens)");
            QVERIFY2(isOfSome == (preset.configurations.size() > 1), preset.id.c_str());
            for (const double theta : frequencyTable(config).scaled)
                QVERIFY2(std::isfinite(theta) && theta >= 0.0, preset.id.c_str());
        }
    }
}

void TestPresets::allRowsAreThere()
{
    std::set<std::string> families;
    for (const Preset& preset : loadPresets())
        families.insert(preset.family);
    for (const char* family : {"RoFormer", "GPT-J", "GPT-NeoX", "Pythia",  "Llama",     "Falcon", "ChatGLM",
                               "GLM",      "Gemma", "OLMo",     "Mistral", "Qwen",      "Phi",    "StableLM",
                               "DeepSeek", "Kimi",  "Yi",       "gpt-oss", "Command-R", "SmolLM", "RoPE-ID"})
        QVERIFY2(families.contains(family), family);
}

void TestPresets::closedModelsDrawNothing()
{
    const std::vector<Preset> closed = loadClosedModels();
    QVERIFY(!closed.empty());
    bool hasPalm2 = false;
    for (const Preset& model : closed) {
        hasPalm2 = hasPalm2 || model.id == "palm-2";
        QVERIFY2(model.configurations.empty() && model.mark == "not public" && !model.reason.empty(),
                 model.id.c_str());
    }
    QVERIFY(hasPalm2);
}

QTEST_GUILESS_MAIN(TestPresets)
#include "test_presets.moc"
