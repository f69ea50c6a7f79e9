// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/published_results.h"
#include "tests/support/build_figure.h"
#include "tests/support/compare.h"

#include <QtTest>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

RopeConfig named()
{
    RopeConfig config;
    config.name = "test";
    return config;
}

} // namespace

class TestResultsFigure : public QObject
{
    Q_OBJECT
private slots:
    void numbers_data();
    void numbers();
    void everyTable();
    void sourcesDisagree();
};

void TestResultsFigure::numbers_data()
{
    QTest::addColumn<QString>("table");
    QTest::addColumn<QString>("method");
    QTest::addColumn<QList<double>>("scores");
    // maths, section 10, typed in a second time.
    QTest::newRow("1b rope") << "ruler_1b"
                             << "rope" << QList<double>{39.72, 0.01, 0.03};
    QTest::newRow("1b high") << "ruler_1b"
                             << "highfreq" << QList<double>{16.04, 7.60, 2.37};
    QTest::newRow("1b half") << "ruler_1b"
                             << "halfrope" << QList<double>{43.07, 0.14, 0};
    QTest::newRow("1b yarn") << "ruler_1b"
                             << "yarn" << QList<double>{40.24, 35.55, 30.25};
    QTest::newRow("1b id") << "ruler_1b"
                           << "rope_id_scaled" << QList<double>{39.15, 35.64, 30.83};
    QTest::newRow("3b rope") << "ruler_3b"
                             << "rope" << QList<double>{0.14, 0.01};
    QTest::newRow("3b high") << "ruler_3b"
                             << "highfreq" << QList<double>{14.31, 5.14};
    QTest::newRow("3b half") << "ruler_3b"
                             << "halfrope" << QList<double>{0.4, 0.03};
    QTest::newRow("3b yarn") << "ruler_3b"
                             << "yarn" << QList<double>{45.09, 40.14};
    QTest::newRow("3b id") << "ruler_3b"
                           << "rope_id_scaled" << QList<double>{43.39, 42.0};
    QTest::newRow("long rope") << "longbench"
                               << "rope" << QList<double>{8.73, 10.42};
    QTest::newRow("long high") << "longbench"
                               << "highfreq" << QList<double>{11.04, 13.78};
    QTest::newRow("long half") << "longbench"
                               << "halfrope" << QList<double>{8.86, 10.62};
    QTest::newRow("long yarn") << "longbench"
                               << "yarn" << QList<double>{14.09, 19.63};
    QTest::newRow("long id") << "longbench"
                             << "rope_id_scaled" << QList<double>{15.80, 17.94};
    QTest::newRow("code rope") << "code"
                               << "rope" << QList<double>{23.55, 19.75, 19.33};
    QTest::newRow("code id") << "code"
                             << "rope_id_scaled" << QList<double>{24.11, 23.1, 23.12};
}

void TestResultsFigure::numbers()
{
    QFETCH(QString, table);
    QFETCH(QString, method);
    QFETCH(QList<double>, scores);
    const FigureSpec figure = figureFor({"results", {named()}, {{"results_table", table.toStdString()}}});
    const Series* series = findSeries(figure, method.toStdString());
    QVERIFY(series);
    QCOMPARE(absoluteDifference(*series->y, std::vector<double>(scores.begin(), scores.end()), 0.0),
             QString());
    // The table says the same digits.
    const TableSpec& texts = *figure.more.front().table;
    const auto column = std::find_if(texts.columnHeads.begin(), texts.columnHeads.end(),
                                     [&](const Message& head) { return head.text == series->label.text; }) -
                        texts.columnHeads.begin();
    for (int row = 0; row < texts.rows; ++row)
        QCOMPARE(QString::fromStdString(
                     texts.cells[static_cast<std::size_t>(row * texts.columns + static_cast<int>(column))]
                         .text.text)
                     .toDouble(),
                 scores[row]);
}

void TestResultsFigure::everyTable()
{
    for (const PublishedTable& table : publishedTables()) {
        const FigureSpec figure =
            figureFor({"results", {named()}, {{"results_table", std::string(table.word)}}});
        QCOMPARE(brokenPromise(figure), std::string());
        QCOMPARE(figure.xAxis.categories.size(), table.rows.size());
        QVERIFY(figure.notes.size() >= table.caveats.size());
        QVERIFY(!table.mainCaveat.empty() && !table.source.empty());
        QCOMPARE(findPublishedTable(table.word), &table);
    }
    QCOMPARE(findPublishedTable("nothing"), nullptr);
}

void TestResultsFigure::sourcesDisagree()
{
    // What the picture says beside the numbers is true of the numbers.
    const auto scores = [](const char* word, std::size_t row) {
        return findPublishedTable(word)->rows[row].scores;
    };
    for (const std::size_t higher : {0, 2, 3})
        QVERIFY(*scores("ruler_1b", 0)[higher] > *scores("ruler_1b", 0)[4]);
    QVERIFY(*scores("ruler_3b", 0)[3] > *scores("ruler_3b", 0)[4]);
    QVERIFY(*scores("longbench", 1)[3] > *scores("longbench", 1)[4]);
    const FigureSpec figure = figureFor({"results", {named()}});
    QVERIFY(toEnglish(figure.caption).find("HalfRoPE") != std::string::npos);
    QVERIFY(toEnglish(figure.source).find("second-hand") != std::string::npos);
}

QTEST_APPLESS_MAIN(TestResultsFigure)
#include "test_results.moc"
