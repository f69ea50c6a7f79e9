// SPDX-License-Identifier: GPL-3.0-or-later
// --cpu-level on processors that this machine is not.
#include "app/cli/exit_code.h"
#include "app/cli/produce.h"

#include <QTest>

#include <array>

using namespace ropewalk;

class TestCpuChoice : public QObject
{
    Q_OBJECT
private slots:
    void ofAnOldProcessor();
    void ofAnother();
    void leading();
};

namespace {

Arguments asked(const char* level)
{
    Arguments arguments;
    arguments.options.insert("--cpu-level", {level});
    return arguments;
}

} // namespace

void TestCpuChoice::ofAnOldProcessor()
{
    const std::array levels{CpuLevel::V2};
    QVERIFY(!chooseCpu({}, levels)->level);
    QVERIFY(!chooseCpu(asked("auto"), levels)->level);
    QCOMPARE(chooseCpu(asked("v2"), levels)->level, std::optional(CpuLevel::V2));
    const auto tooNew = chooseCpu(asked("v4"), levels);
    QVERIFY(!tooNew);
    QCOMPARE(int(exitCode(tooNew.error().code)), int(kExitNoBackend));
    QCOMPARE(toEnglish(tooNew.error()),
             std::string("--cpu-level: this processor, or this build, has no v4; expected one of auto, v2"));
}

void TestCpuChoice::ofAnother()
{
    const std::array levels{CpuLevel::Generic};
    QVERIFY(chooseCpu(asked("auto"), levels).hasValue());
    const auto wrong = chooseCpu(asked("v3"), levels);
    QVERIFY(!wrong && wrong.error().code == ErrorCode::NotAvailable);
    const auto word = chooseCpu(asked("generic"), levels);
    QVERIFY(!word && word.error().code == ErrorCode::Usage);
}

void TestCpuChoice::leading()
{
    QStringList none{"a.json", "--cpu-level", "v2"};
    QVERIFY(takeCpu(none).hasValue());
    QCOMPARE(none.size(), 3); // only where it leads
    QStringList window{"--cpu-level", "auto", "a.json"};
    QVERIFY(takeCpu(window).hasValue());
    QCOMPARE(window, QStringList{"a.json"});
    QStringList command{"--cpu-level=auto", "render", "decay"};
    QVERIFY(takeCpu(command).hasValue());
    QCOMPARE(command, QStringList({"render", "--cpu-level=auto", "decay"}));
    QStringList missing{"--cpu-level"};
    QVERIFY(!takeCpu(missing).hasValue());
}

QTEST_APPLESS_MAIN(TestCpuChoice)
#include "test_cpu_choice.moc"
