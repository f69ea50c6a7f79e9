// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/frequency_rules.h"
#include "core/io/model_file.h"

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

/// The rows of reference/model-inv-freq.json by file.
QMap<QString, QList<QJsonObject>> references()
{
    QMap<QString, QList<QJsonObject>> rows;
    const QString path = QStringLiteral("%1/reference/model-inv-freq.json").arg(QLatin1String(kShared));
    for (const QJsonValue& value : QJsonDocument::fromJson(contentOf(path)).array()) {
        const QJsonObject row = value.toObject();
        rows[row["config"].toString()] += row;
    }
    return rows;
}

/// One row of configs/INDEX.md, as far as it is a number that this test compares.
struct IndexRow
{
    QString headDim, rotaryDim, layout;
};

/// The rows of the index by file. A cell begins with its number; what follows are remarks.
QMap<QString, IndexRow> indexRows()
{
    QMap<QString, IndexRow> rows;
    const QString path = QStringLiteral("%1/configs/INDEX.md").arg(QLatin1String(kShared));
    for (const QString& line : QString::fromUtf8(contentOf(path)).split('\n')) {
        const QStringList cells = line.split(" | ");
        if (!line.startsWith("| ") || cells.size() < 8)
            continue;
        rows[cells[0].mid(2).trimmed()] = {cells[3].trimmed(), cells[4].trimmed(), cells[6].trimmed()};
    }
    return rows;
}

} // namespace

/// Real configuration files against the frequencies that the published model uses, and against what their
/// index says of them.
class TestPublishedConfigs : public QObject
{
    Q_OBJECT

private slots:
    void files_data();
    void files();
    void allWereCompared();

private:
    void compare(const ModelReading& reading, const QJsonObject& row);
    void compareWithIndex(const ModelReading& reading, const IndexRow& row);
    int m_files = 0;
    int m_withoutRotation = 0;
    int m_rows = 0;
    int m_numbers = 0;
    int m_indexed = 0;
};

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
    static const auto index = indexRows();
    const QString slug = QFileInfo(path).completeBaseName();
    const Result<ModelReading> reading = readModelFile(path.toStdString(), slug.toStdString());
    ++m_files;
    if (slug == "gguf-phi-3-mini-128k") {
        // Key-values as text with the digests of the two lists: there is nothing to compute with, and that is
        // said.
        QVERIFY(!reading);
        QVERIFY(toEnglish(reading.error()).find("rope_factors") != std::string::npos);
        return;
    }
    QVERIFY2(reading.hasValue(), reading ? "" : toEnglish(reading.error()).c_str());
    if (reading->configurations.empty()) {
        QVERIFY2(!rows.contains(slug), "this model rotates");
        QVERIFY(!reading->notes.empty());
        QVERIFY(slug.startsWith("neg-") || slug.startsWith("gguf-neg-") || slug == "kimi-k3" ||
                slug == "defaults-esm2");
        ++m_withoutRotation;
        return;
    }
    QVERIFY2(!slug.contains("neg-"), "this model does not rotate");
    for (const QJsonObject& row : rows.value(slug))
        compare(*reading, row);
    QVERIFY2(index.contains(slug), "no row of the index");
    compareWithIndex(*reading, index.value(slug));
}

void TestPublishedConfigs::compare(const ModelReading& reading, const QJsonObject& row)
{
    const auto wanted =
        row["layer_type"].isNull() ? std::nullopt : std::optional(row["layer_type"].toString().toStdString());
    const auto found = std::find_if(reading.configurations.begin(), reading.configurations.end(),
                                    [&](const RopeConfig& config) { return config.layerType == wanted; });
    QVERIFY2(found != reading.configurations.end(), wanted ? wanted->c_str() : "all layers alike");
    RopeConfig config = *found;
    if (!row["seq_len"].isNull())
        config.length = row["seq_len"].toInteger();
    const FrequencyTable table = frequencyTable(config);
    const QJsonArray expected = row["inv_freq"].toArray();
    QCOMPARE(static_cast<qsizetype>(table.scaled.size()), expected.size());
    QCOMPARE(config.rotaryDim, static_cast<int>(2 * expected.size()));
    for (qsizetype i = 0; i < expected.size(); ++i) {
        const double value = expected[i].toDouble();
        const double error = std::fabs(table.scaled[static_cast<std::size_t>(i)] - value);
        QVERIFY2(error <= 1e-6 * value, qPrintable(QString::number(i)));
        ++m_numbers;
    }
    QVERIFY(std::fabs(table.attentionFactor - row["attention_scaling"].toDouble()) < 1e-6);
    QVERIFY(std::fabs(config.softmaxFactor - row["softmax_factor"].toDouble()) < 1e-6);
    m_numbers += 2;
    ++m_rows;
}

void TestPublishedConfigs::compareWithIndex(const ModelReading& reading, const IndexRow& row)
{
    bool isNumber = false;
    const auto first = [&](const QString& cell) { return cell.section(' ', 0, 0).toInt(&isNumber); };
    const auto rotates = std::find_if(reading.configurations.begin(), reading.configurations.end(),
                                      [](const RopeConfig& config) { return pairCount(config) > 0; });
    const int headDim = first(row.headDim);
    if (isNumber && reading.configurations.size() == 1)
        QCOMPARE(rotates->headDim, headDim);
    const int rotaryDim = first(row.rotaryDim);
    if (isNumber)
        QCOMPARE(rotates->rotaryDim, rotaryDim);
    const QString layout = QString(row.layout).remove('*').section(QRegularExpression("[ ,]"), 0, 0);
    const auto read = word(rotates->layout);
    QCOMPARE(QString::fromUtf8(read.data(), static_cast<qsizetype>(read.size())), layout);
    ++m_indexed;
}

void TestPublishedConfigs::allWereCompared()
{
    if (qApp->arguments().size() > 1)
        QSKIP("only when all files were looked at");
    std::printf("checked: %d files of models (%d without rotation), %d rows of published frequencies with %d "
                "numbers, "
                "%d rows of the index\n",
                m_files, m_withoutRotation, m_rows, m_numbers, m_indexed);
    qsizetype rows = 0;
    for (const auto& ofFile : references())
        rows += ofFile.size();
    QCOMPARE(m_rows, static_cast<int>(rows));
    QVERIFY(m_files >= 114);
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
