// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/frequency_rules.h"
#include "core/io/model_config.h"
#include "core/validate.h"

#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <cmath>
#include <cstdio>

using namespace ropewalk;

namespace {

constexpr auto kShared = ROPEWALK_SHARED;

QByteArray contentOf(const QString& path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        qFatal("cannot open %s", qPrintable(path));
    return file.readAll();
}

/// The rows of reference/model-inv-freq.json at the configured length, by file.
QMap<QString, QList<QJsonObject>> references()
{
    QMap<QString, QList<QJsonObject>> rows;
    const QString path = QStringLiteral("%1/reference/model-inv-freq.json").arg(QLatin1String(kShared));
    for (const QJsonValue& value : QJsonDocument::fromJson(contentOf(path)).array()) {
        const QJsonObject row = value.toObject();
        if (row["seq_len"].isNull())
            rows[row["config"].toString()] += row;
    }
    return rows;
}

} // namespace

/// Real configuration files against the frequencies that the published model uses: read right, or refused by
/// name.
class TestPublishedConfigs : public QObject
{
    Q_OBJECT

private slots:
    void files_data();
    void files();
    void enoughAreRead();

private:
    static bool isOfThisVersion(const QString& slug);
    int m_compared = 0;
};

/// Files that this version has to read; the others may be refused.
bool TestPublishedConfigs::isOfThisVersion(const QString& slug)
{
    static const QStringList slugs{"llama-2-7b-chat-hf",
                                   "llama-3.1-8b",
                                   "llama-3.1-405b",
                                   "llama-3.2-1b",
                                   "codellama-7b",
                                   "smollm-1.7b",
                                   "yi-6b-chat-altered",
                                   "mistral-7b-v0.1",
                                   "mixtral-8x7b",
                                   "mixtral-8x22b",
                                   "qwen2-0.5b",
                                   "qwen2-7b-instruct",
                                   "qwen3-0.6b",
                                   "qwen3-4b",
                                   "qwen3-coder-480b",
                                   "gpt-neox-shrunk",
                                   "redpajama-3b-gpt-neox",
                                   "frag-pythia-14m",
                                   "phi-2",
                                   "stablelm-3b-4e1t",
                                   "llama-nemotron-super-49b",
                                   "mimo-7b-base"};
    return slugs.contains(slug);
}

void TestPublishedConfigs::files_data()
{
    QTest::addColumn<QString>("path");
    const QDir folder(QStringLiteral("%1/configs").arg(QLatin1String(kShared)));
    for (const QFileInfo& file : folder.entryInfoList({"*.json"}, QDir::Files, QDir::Name))
        QTest::newRow(qPrintable(file.completeBaseName())) << file.filePath();
}

void TestPublishedConfigs::files()
{
    QFETCH(QString, path);
    static const auto rows = references();
    const QString slug = QFileInfo(path).completeBaseName();
    const Result<ModelReading> reading = readModelConfig(contentOf(path).toStdString(), slug.toStdString());
    if (!reading) {
        const QString sentence = QString::fromStdString(toEnglish(reading.error()));
        QVERIFY2(!isOfThisVersion(slug), qPrintable(sentence));
        QVERIFY2(sentence.contains("not read yet") || sentence.contains("not built yet"),
                 qPrintable(sentence));
        return;
    }
    if (reading->configurations.empty()) {
        QVERIFY2(!rows.contains(slug), "this model rotates");
        QVERIFY(!reading->notes.empty());
        return;
    }
    if (!rows.contains(slug)) // class defaults whose frequencies are those of a file above
        return;
    QCOMPARE(reading->configurations.size(), static_cast<std::size_t>(rows.value(slug).size()));
    const RopeConfig& config = reading->configurations.front();
    const QJsonObject row = rows.value(slug).front();
    const FrequencyTable table = frequencyTable(config);
    const QJsonArray expected = row["inv_freq"].toArray();
    QCOMPARE(static_cast<qsizetype>(table.scaled.size()), expected.size());
    for (qsizetype i = 0; i < expected.size(); ++i)
        QVERIFY2(std::fabs(table.scaled[static_cast<std::size_t>(i)] / expected[i].toDouble() - 1.0) < 1e-6,
                 qPrintable(QString::number(i)));
    QVERIFY(std::fabs(table.attentionFactor - row["attention_scaling"].toDouble()) < 1e-6);
    QVERIFY(std::fabs(config.softmaxFactor - row["softmax_factor"].toDouble()) < 1e-6);
    ++m_compared;
}

void TestPublishedConfigs::enoughAreRead()
{
    // A reader that refuses everything is never wrong; it would be of no use either.
    if (qApp->arguments().size() > 1)
        QSKIP("only when all files were looked at");
    QVERIFY2(m_compared >= 35, qPrintable(QString::number(m_compared)));
}

int main(int argc, char** argv)
{
    if (!QFile::exists(QStringLiteral("%1/reference/model-inv-freq.json").arg(QLatin1String(kShared)))) {
        std::printf("skipped: there is no %s with the published files\n", kShared);
        return 77;
    }
    QCoreApplication application(argc, argv);
    TestPublishedConfigs test;
    return QTest::qExec(&test, argc, argv);
}
#include "test_published_configs.moc"
