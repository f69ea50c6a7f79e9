// SPDX-License-Identifier: GPL-3.0-or-later
// The statistics of the benchmark. Nothing here depends on how fast anything is.

#include "harness.h"
#include "statistics.h"

#include <QtTest>

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <cmath>

using namespace ropewalk::bench;

class TestBenchHarness : public QObject
{
    Q_OBJECT
private slots:
    void medians()
    {
        QCOMPARE(median({3.0}), 3.0);
        QCOMPARE(median({9.0, 1.0, 2.0}), 2.0);
        QCOMPARE(median({4.0, 1.0, 3.0, 100.0}), 3.5);
        QVERIFY(std::isnan(median({})));
    }

    void quantiles()
    {
        std::vector<double> values;
        for (int i = 100; i >= 1; --i)
            values.push_back(i);
        QCOMPARE(quantile(values, 0.95), 95.0);
        QCOMPARE(quantile(values, 0.5), 50.0);
        QCOMPARE(quantile(values, 0.0), 1.0);
        QCOMPARE(quantile(values, 1.0), 100.0);
        QCOMPARE(quantile({7.0}, 0.95), 7.0);
        QVERIFY(std::isnan(quantile({}, 0.5)));
    }

    void schedstat()
    {
        const auto times = parseSchedstat("1234567890123 456 78");
        QVERIFY(times.has_value());
        QCOMPARE(times->ran, std::uint64_t{1234567890123});
        QCOMPARE(times->waited, std::uint64_t{456});
        QVERIFY(!parseSchedstat(""));
        QVERIFY(!parseSchedstat("12"));
        QVERIFY(!parseSchedstat("12 x"));
    }

    /// 3 % of a sample of 10 ms are 0.3 ms.
    void waitingSamplesAreTold()
    {
        const CoreTimes before{1000, 5000};
        QVERIFY(isClean(before, CoreTimes{10'001'000, 5000}, 0.010));
        QVERIFY(isClean(before, CoreTimes{10'001'000, 5000 + 299'000}, 0.010));
        QVERIFY(!isClean(before, CoreTimes{10'001'000, 5000 + 301'000}, 0.010));
        QVERIFY(isClean(before, CoreTimes{0, 0}, 0.010)); // a thread ended and took its times along
        QVERIFY(isClean({}, before, 0.010));
        QVERIFY(isClean(before, {}, 0.010));
    }

    void variantsRunInTurn()
    {
        std::string order;
        const std::vector<Variant> variants{{[&] { order += 'a'; }}, {[&] { order += 'b'; }, 0.5}};
        const auto measured = measureInTurn(variants, {0.0, 4, 0.2});
        QCOMPARE(measured.size(), std::size_t(2));
        QVERIFY(measured[0].all >= 1 && measured[1].all >= 1);
        QVERIFY2(order.starts_with("aabb"), order.c_str()); // once to touch the memory, once to see how long
        QVERIFY2(order.find("ab", 4) == 4, order.c_str());
        QVERIFY(order.find("aa", 4) == std::string::npos || measured[0].clean != measured[1].clean);
    }

    void ratios()
    {
        Row row;
        QVERIFY(!row.ratioToLimit() && !row.speedupOverNaive());
        row.ours = 2.0;
        row.limit = 1.6;
        row.naive = 50.0;
        QCOMPARE(*row.ratioToLimit(), 1.25);
        QCOMPARE(*row.speedupOverNaive(), 25.0);
        row.limit = 0.0;
        QVERIFY(!row.ratioToLimit());
    }

    void json()
    {
        Report report(false);
        report.setMachine({{"processor", "made \"up\""}});
        Row row;
        row.operation = "o";
        row.size = "s";
        row.ours = 2.0;
        row.naive = 8.0;
        row.goal = "g";
        report.add(row);
        row.met = true;
        report.add(row);
        const QJsonObject object = QJsonDocument::fromJson(QByteArray::fromStdString(report.json())).object();
        QCOMPARE(object["schema"].toString(), QString("ropewalk.bench/1"));
        QCOMPARE(object["machine"].toObject()["processor"].toString(), QString("made \"up\""));
        const QJsonArray rows = object["rows"].toArray();
        QCOMPARE(rows.size(), 2);
        const QJsonObject first = rows[0].toObject();
        for (const char* key : {"operation", "size", "ours", "limit", "naive", "ratio_to_limit",
                                "speedup_over_naive", "goal", "met"})
            QVERIFY2(first.contains(key), key);
        QCOMPARE(first["speedup_over_naive"].toDouble(), 4.0);
        QVERIFY(first["limit"].isNull() && first["ratio_to_limit"].isNull() && first["met"].isNull());
        QVERIFY(rows[1].toObject()["met"].toBool());
    }
};

QTEST_APPLESS_MAIN(TestBenchHarness)
#include "test_bench_harness.moc"
