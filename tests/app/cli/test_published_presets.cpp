// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/presets.h"

#include "core/frequency_rules.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMap>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

using namespace ropewalk;

namespace {

constexpr auto kReference = ROPEWALK_SHARED "/reference/model-inv-freq.json";

} // namespace

/// The built-in models against the frequencies that the published models use.
class TestPublishedPresets : public QObject
{
    Q_OBJECT

private slots:
    void againstPublishedFrequencies();
};

void TestPublishedPresets::againstPublishedFrequencies()
{
    // The file of the same model in the reference; a preset may have another id than the file there.
    const QMap<QString, QString> files{{"code-llama-7b", "codellama-7b"},
                                       {"deepseek-v2-lite", "deepseek-v2-lite"},
                                       {"deepseek-v3", "deepseek-v3"},
                                       {"deepseek-v4-flash", "deepseek-v4-flash"},
                                       {"devstral-2-123b", "devstral-2-123b"},
                                       {"exaone-4.0-32b", "exaone-4.0-32b"},
                                       {"falcon-40b", "falcon-40b"},
                                       {"falcon-7b", "defaults-falcon-7b"},
                                       {"gemma-3-4b", "gemma-3-4b-it"},
                                       {"gpt-neox-20b", "defaults-gpt-neox-20b"},
                                       {"llama-2-7b", "llama-2-7b-chat-hf"},
                                       {"modernbert-base", "defaults-modernbert-base"},
                                       {"olmo-7b", "defaults-olmo-7b"},
                                       {"phi-1.5", "phi-1.5-msft"},
                                       {"qwen-7b", "qwen-7b-chat"},
                                       {"qwen2-7b", "qwen2-7b-instruct"},
                                       {"yi-6b", "yi-6b-chat-altered"}};
    QFile file((QString::fromLatin1(kReference)));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonArray rows = QJsonDocument::fromJson(file.readAll()).array();
    int compared = 0;
    std::set<std::string> models;
    for (const Preset& preset : loadPresets()) {
        const QString id = QString::fromStdString(preset.id);
        for (const QJsonValue& value : rows) {
            const QJsonObject row = value.toObject();
            if (row["config"].toString() != files.value(id, id))
                continue;
            const QString layerType = row["layer_type"].toString();
            const auto found = std::find_if(
                preset.configurations.begin(), preset.configurations.end(), [&](const RopeConfig& config) {
                    return QString::fromStdString(config.layerType.value_or("")) == layerType;
                });
            QVERIFY2(found != preset.configurations.end(), preset.id.c_str());
            RopeConfig config = *found;
            if (!row["seq_len"].isNull())
                config.length = row["seq_len"].toInteger();
            const FrequencyTable table = frequencyTable(config);
            const QJsonArray expected = row["inv_freq"].toArray();
            QVERIFY2(static_cast<qsizetype>(table.scaled.size()) == expected.size(), preset.id.c_str());
            for (qsizetype i = 0; i < expected.size(); ++i) {
                const double theta = expected[i].toDouble();
                QVERIFY2(std::fabs(table.scaled[static_cast<std::size_t>(i)] - theta) <= 1e-6 * theta,
                         preset.id.c_str());
            }
            QVERIFY2(std::fabs(table.attentionFactor - row["attention_scaling"].toDouble()) < 1e-6,
                     preset.id.c_str());
            QVERIFY2(std::fabs(config.softmaxFactor - row["softmax_factor"].toDouble()) < 1e-6,
                     preset.id.c_str());
            ++compared;
            models.insert(preset.id);
        }
    }
    std::printf("checked: %zu presets against %d rows of published frequencies\n", models.size(), compared);
    QVERIFY2(models.size() >= 35, qPrintable(QString::number(models.size())));
}

int main(int argc, char** argv)
{
    if (!QFile::exists(QLatin1String(kReference))) {
        std::printf("skipped: there is no %s\n", kReference);
        return 77;
    }
    QCoreApplication application(argc, argv);
    TestPublishedPresets test;
    return QTest::qExec(&test, argc, argv);
}
#include "test_published_presets.moc"
