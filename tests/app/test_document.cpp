// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/document.h"

#include <QFile>
#include <QFileInfo>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace ropewalk;

namespace {

Session twoConfigurations()
{
    Session session;
    for (const char* letter : {"A", "B"}) {
        SessionConfiguration each;
        each.config.name = letter;
        each.letter = letter;
        each.original = each.config;
        session.configurations.push_back(each);
    }
    return session;
}

/// The list of `document` with another base in the first configuration.
std::vector<SessionConfiguration> withBase(const Document& document, double base)
{
    auto list = document.session().configurations;
    list.front().config.base = base;
    return list;
}

} // namespace

class TestDocument : public QObject
{
    Q_OBJECT
private slots:
    void gestureIsOneEntry()
    {
        Document document(twoConfigurations());
        document.beginGesture();
        for (int step = 1; step <= 40; ++step)
            document.editConfigurations(withBase(document, 10'000.0 + step), 0, "base");
        document.endGesture();
        QCOMPARE(document.undoStack().count(), 1);
        document.undoStack().undo();
        QCOMPARE(document.session().configurations.front().config.base, 10'000.0);
        document.undoStack().redo();
        QCOMPARE(document.session().configurations.front().config.base, 10'040.0);
    }

    void gesturesDoNotMerge()
    {
        Document document(twoConfigurations());
        for (const double base : {20'000.0, 30'000.0}) {
            document.beginGesture();
            document.editConfigurations(withBase(document, base), 0, "base");
            document.endGesture();
        }
        document.editConfigurations(withBase(document, 40'000.0), 0, "base");
        document.editConfigurations(withBase(document, 50'000.0), 0, "base");
        QCOMPARE(document.undoStack().count(), 4);
    }

    void dragBackIsNoEntry()
    {
        Document document(twoConfigurations());
        document.beginGesture();
        document.editConfigurations(withBase(document, 20'000.0), 0, "base");
        document.editConfigurations(withBase(document, 10'000.0), 0, "base");
        document.endGesture();
        QCOMPARE(document.undoStack().count(), 0);
    }

    void nothingChangedIsNoEntry()
    {
        Document document(twoConfigurations());
        document.editConfigurations(document.session().configurations, 0, "nothing");
        QCOMPARE(document.undoStack().count(), 0);
    }

    void viewIsSavedAndNotUndoable()
    {
        Document document(twoConfigurations());
        FigureOptions options = document.session().options;
        options.m = 123;
        QSignalSpy changed(&document, &Document::viewChanged);
        document.setOptions(options);
        document.setOptions(options);
        QCOMPARE(changed.size(), 1);
        QCOMPARE(document.undoStack().count(), 0);
        QTemporaryDir folder;
        const QString path = folder.filePath("a.rope.json");
        QVERIFY(document.saveTo(path));
        QVERIFY(!document.isModified());
        options.m = 124;
        document.setOptions(options);
        QVERIFY(document.isModified());
    }

    void savedAndReopened()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath("a.rope.json");
        Document document(twoConfigurations());
        document.editConfigurations(withBase(document, 123'456.789), 1, "base");
        document.setFigure("decay");
        document.setDistanceLocked(false);
        QVERIFY(document.saveTo(path));
        QVERIFY(!document.isModified());
        Document other((Session()));
        const auto opened = other.openSession(path);
        QVERIFY2(opened.hasValue(), opened ? "" : toEnglish(opened.error()).c_str());
        QVERIFY(opened->empty());
        QCOMPARE(other.session(), document.session());
        QCOMPARE(other.undoStack().count(), 0);
    }

    void unknownKeysSurvive()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath("a.rope.json");
        Document document(twoConfigurations());
        QVERIFY(document.saveTo(path));
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadWrite));
        QByteArray text = file.readAll();
        text.replace(text.indexOf('{'), 1, "{\"from_the_future\": [1, 2, 3],");
        file.seek(0);
        file.write(text);
        file.close();
        const auto notes = document.openSession(path);
        QVERIFY2(notes.hasValue(), notes ? "" : toEnglish(notes.error()).c_str());
        QCOMPARE(notes->size(), std::size_t(1));
        QCOMPARE(notes->front().field, std::string("from_the_future"));
        QVERIFY(document.saveTo(path));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY(file.readAll().contains("from_the_future"));
    }

    void refusedFileChangesNothing_data()
    {
        QTest::addColumn<QByteArray>("content");
        QTest::newRow("newer version")
            << QByteArray(R"({"schema": "ropewalk.session/2", "configurations": []})");
        QTest::newRow("not JSON") << QByteArray("<html>");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("no configuration")
            << QByteArray(R"({"schema": "ropewalk.session/1", "configurations": []})");
    }
    void refusedFileChangesNothing()
    {
        QFETCH(QByteArray, content);
        QTemporaryDir folder;
        const QString path = folder.filePath("b.rope.json");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(content);
        file.close();
        Document document(twoConfigurations());
        const Session before = document.session();
        const auto opened = document.openSession(path);
        QVERIFY(!opened.hasValue());
        QCOMPARE(opened.error().code, ErrorCode::BadInput);
        QCOMPARE(document.session(), before);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), content);
    }

    void failedSaveKeepsTheFile()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath("folder.rope.json");
        QVERIFY(QDir().mkdir(path)); // a folder stands where the file should go, for root as well
        Document document(twoConfigurations());
        const auto saved = document.saveTo(path);
        QVERIFY(!saved);
        QCOMPARE(saved.error().code, ErrorCode::Output);
        QVERIFY(document.path().isEmpty());
        QVERIFY(QFileInfo(path).isDir());
    }
};

QTEST_GUILESS_MAIN(TestDocument)
#include "test_document.moc"
