// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/reference_check.h"

#include <QFile>
#include <QTest>

using namespace ropewalk;

namespace {

RopeConfig llama31()
{
    RopeConfig config;
    config.base = 500'000.0;
    config.rule = FrequencyRule::Llama3;
    config.parameters.factor = 8.0;
    config.originalMaxPositionEmbeddings = 8192;
    config.maxPositionEmbeddings = 131'072;
    return config;
}

} // namespace

class TestReferenceCheck : public QObject
{
    Q_OBJECT
private:
    std::vector<ReferenceEntry> m_references;

private slots:
    void initTestCase()
    {
        QFile file(QStringLiteral(ROPEWALK_TEST_DATA "/../../resources/reference.json"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        auto references = readReferences(file.readAll().toStdString());
        QVERIFY(references.hasValue());
        m_references = *references;
        QCOMPARE(m_references.size(), std::size_t(21));
    }

    void agreesWithinRounding()
    {
        const RopeConfig config = llama31();
        const auto match = compareWithReferences(config, frequencyTable(config), m_references);
        QVERIFY(match.has_value());
        QCOMPARE(match->name, std::string("inv_freq/llama3 Llama-3.1"));
        QVERIFY(match->largestRelativeDifference <= 1e-13);
    }

    void everyEntryIsReached()
    {
        for (const ReferenceEntry& entry : m_references) {
            RopeConfig config;
            config.headDim = config.rotaryDim = entry.rotaryDim;
            config.base = entry.base;
            config.rule = entry.rule;
            config.parameters = entry.parameters;
            config.maxPositionEmbeddings = entry.trainingLength;
            const auto match = compareWithReferences(config, frequencyTable(config), m_references);
            QVERIFY2(match && match->largestRelativeDifference <= 1e-13, entry.name.c_str());
        }
    }

    void aWrongNumberIsSeen()
    {
        const RopeConfig config = llama31();
        FrequencyTable table = frequencyTable(config);
        table.scaled[17] *= 1.0 + 1e-9;
        const auto match = compareWithReferences(config, table, m_references);
        QVERIFY(match && match->largestRelativeDifference > 0.9e-9 &&
                match->largestRelativeDifference < 1.1e-9);
        FrequencyTable factor = frequencyTable(config);
        factor.attentionFactor = 1.1; // Llama-3 has none to compare with
        QVERIFY(compareWithReferences(config, factor, m_references)->largestRelativeDifference <= 1e-13);
    }

    void otherSettingsHaveNoReference_data()
    {
        QTest::addColumn<int>("which");
        QTest::newRow("base") << 0;
        QTest::newRow("factor") << 1;
        QTest::newRow("training length") << 2;
        QTest::newRow("rotary_dim") << 3;
    }
    void otherSettingsHaveNoReference()
    {
        QFETCH(int, which);
        RopeConfig config = llama31();
        if (which == 0)
            config.base += 1.0;
        else if (which == 1)
            config.parameters.factor = 8.5;
        else if (which == 2)
            config.originalMaxPositionEmbeddings = 8193;
        else
            config.rotaryDim = 126;
        QVERIFY(!compareWithReferences(config, frequencyTable(config), m_references));
    }

    void brokenFilesAreRefused()
    {
        QVERIFY(!readReferences("{}"));
        QVERIFY(!readReferences("[{}]"));
        QVERIFY(!readReferences(R"([{"name":"x","rotary_dim":2,"base":2,"rule":"nothing","inv_freq":[1]}])"));
    }
};

QTEST_GUILESS_MAIN(TestReferenceCheck)
#include "test_reference_check.moc"
