// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/file_text.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <sys/resource.h>

using namespace ropewalk;

class TestFileText : public QObject
{
    Q_OBJECT
private slots:
    void saysWhatTheSystemSays();
};

/// A file that may not grow stands for a full disk: the reason is the system's, and what was there stays.
void TestFileText::saysWhatTheSystemSays()
{
    QTemporaryDir folder;
    QVERIFY(folder.isValid());
    const QString path = folder.filePath("figure.json");
    QVERIFY(writeFile(path, "before"));

    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    QCOMPARE(getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit small = before;
    small.rlim_cur = 4096;
    QCOMPARE(setrlimit(RLIMIT_FSIZE, &small), 0);
    const Result<void> written = writeFile(path, QByteArray(1 << 20, 'x'));
    // Less than a buffer reaches the system when all is flushed.
    const Result<void> flushed = writeFile(path, QByteArray(6000, 'x'));
    setrlimit(RLIMIT_FSIZE, &before);

    for (const Result<void>* result : {&written, &flushed}) {
        QVERIFY(!*result);
        QCOMPARE(QString::fromStdString(toEnglish(result->error())),
                 path + ": the file could not be written: File too large");
        QVERIFY(result->error().code == ErrorCode::Output);
    }
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), QByteArray("before"));
}

QTEST_GUILESS_MAIN(TestFileText)
#include "test_file_text.moc"
