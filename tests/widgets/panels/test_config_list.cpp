// SPDX-License-Identifier: GPL-3.0-or-later
// The list of configurations says what is wanted, by mouse and by keys.

#include "widgets/panels/config_list.h"
#include "widgets/window_style.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>
#include <QToolButton>

using namespace ropewalk;

namespace {

std::vector<SessionConfiguration> twoConfigurations()
{
    SessionConfiguration a, b;
    a.config.name = "Llama-3.1-8B";
    a.config.base = 500000.0;
    a.config.rule = FrequencyRule::Llama3;
    a.config.parameters.factor = 8.0;
    b.config.name = "base 10 000";
    b.letter = "B";
    b.colour = 1;
    return {a, b};
}

struct Bench
{
    ConfigList list;
    QSignalSpy selected, hidden, removed, renamed, moved, duplicated, preset, file;

    Bench()
        : selected(&list, &ConfigList::selected)
        , hidden(&list, &ConfigList::hideToggled)
        , removed(&list, &ConfigList::removeRequested)
        , renamed(&list, &ConfigList::renamed)
        , moved(&list, &ConfigList::moveRequested)
        , duplicated(&list, &ConfigList::duplicateRequested)
        , preset(&list, &ConfigList::addPresetRequested)
        , file(&list, &ConfigList::addFileRequested)
    {
        list.setPresets({{"llama-2-7b", "Llama-2-7B", "Llama", ""},
                         {"llama-3.1-8b", "Llama-3.1-8B", "Llama", ""},
                         {"qwen3-8b", "Qwen3-8B", "Qwen", ""}});
        list.setConfigurations(twoConfigurations(), 0);
        list.resize(292, list.sizeHint().height());
        list.show();
        QApplication::setActiveWindow(&list);
    }

    QToolButton* action(int row, const QString& word) const
    {
        for (QToolButton* button : list.rowWidget(row)->findChildren<QToolButton*>())
            if (button->text() == word)
                return button;
        return nullptr;
    }
    QWidget* menu() const { return list.findChild<QWidget*>("addMenu"); }
};

} // namespace

class TestConfigList : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase() { applyWindowStyle(*qApp, {Theme::Light, 1.0}); }

    void details()
    {
        const auto rows = twoConfigurations();
        QCOMPARE(configurationDetail(rows[0].config), QString::fromUtf8("base 500\u202F000 · Llama-3 ×8"));
        QCOMPARE(configurationDetail(rows[1].config), QString::fromUtf8("plain · 128 of 128"));
        RopeConfig partial = rows[0].config;
        partial.rotaryDim = 32;
        QVERIFY(configurationDetail(partial).endsWith("32 of 128"));
    }

    void clickSelects()
    {
        Bench bench;
        QTest::mouseClick(bench.list.rowWidget(1), Qt::LeftButton, {}, QPoint(100, 20));
        QCOMPARE(bench.selected.takeFirst()[0].toInt(), 1);
        bench.list.rowWidget(1)->setFocus();
        QTest::keyClick(bench.list.rowWidget(1), Qt::Key_Up);
        QCOMPARE(bench.selected.takeFirst()[0].toInt(), 0);
        QCOMPARE(QApplication::focusWidget(), bench.list.rowWidget(0));
    }

    void hideAndRemove()
    {
        Bench bench;
        bench.list.rowWidget(1)->setFocus();
        QVERIFY(bench.action(1, "hide")->isVisible());
        QVERIFY(!bench.action(0, "hide")->isVisible()); // quiet where nobody is
        QTest::mouseClick(bench.action(1, "hide"), Qt::LeftButton);
        QCOMPARE(bench.hidden.takeFirst(), (QList<QVariant>{1, true}));
        auto rows = twoConfigurations();
        rows[1].isHidden = true;
        bench.list.setConfigurations(rows, 0);
        bench.list.rowWidget(0)->setFocus();
        QVERIFY(bench.action(1, "show")->isVisible()); // the way back is always there
        QTest::mouseClick(bench.action(1, "show"), Qt::LeftButton);
        QCOMPARE(bench.hidden.takeFirst(), (QList<QVariant>{1, false}));
        bench.list.rowWidget(0)->setFocus();
        QTest::keyClick(bench.list.rowWidget(0), Qt::Key_Delete);
        QCOMPARE(bench.removed.takeFirst()[0].toInt(), 0);
    }

    void theLastOneStays()
    {
        Bench bench;
        bench.list.setConfigurations({twoConfigurations()[0]}, 0);
        bench.list.rowWidget(0)->setFocus();
        QTest::keyClick(bench.list.rowWidget(0), Qt::Key_Delete);
        QCOMPARE(bench.removed.size(), 0);
        QVERIFY(!bench.action(0, "remove")->isVisible());
    }

    void renameByF2AndDoubleClick()
    {
        Bench bench;
        bench.list.rowWidget(0)->setFocus();
        QTest::keyClick(bench.list.rowWidget(0), Qt::Key_F2);
        auto* edit = qobject_cast<QLineEdit*>(QApplication::focusWidget());
        QVERIFY(edit);
        QTest::keyClicks(edit, " mine ");
        QTest::keyClick(edit, Qt::Key_Return);
        QCOMPARE(bench.renamed.size(), 1);
        QCOMPARE(bench.renamed.takeFirst(), (QList<QVariant>{0, "mine"}));
        QCOMPARE(QApplication::focusWidget(), bench.list.rowWidget(0));

        QTest::mouseDClick(bench.list.rowWidget(1), Qt::LeftButton, {}, QPoint(100, 20));
        edit = qobject_cast<QLineEdit*>(QApplication::focusWidget());
        QVERIFY(edit);
        QTest::keyClicks(edit, "other");
        QTest::keyClick(edit, Qt::Key_Escape);
        QCOMPARE(bench.renamed.size(), 0);
    }

    void moveByKeys()
    {
        Bench bench;
        bench.list.rowWidget(0)->setFocus();
        QTest::keyClick(bench.list.rowWidget(0), Qt::Key_Down, Qt::AltModifier);
        QCOMPARE(bench.moved.takeFirst(), (QList<QVariant>{0, 1}));
        QTest::keyClick(bench.list.rowWidget(0), Qt::Key_Up, Qt::AltModifier);
        QCOMPARE(bench.moved.size(), 0);
    }

    void addBySearching()
    {
        Bench bench;
        QTest::mouseClick(bench.list.addButton(), Qt::LeftButton);
        QVERIFY(bench.menu() && bench.menu()->isVisible());
        auto* search = bench.menu()->findChild<QLineEdit*>();
        auto* found = bench.menu()->findChild<QListWidget*>();
        QCOMPARE(found->count(), 3);
        QTest::keyClicks(search, "llama 8b");
        QCOMPARE(found->count(), 1);
        QTest::keyClick(search, Qt::Key_Return);
        QCOMPARE(bench.preset.takeFirst()[0].toString(), "llama-3.1-8b");
        QTRY_VERIFY(!bench.menu());
    }

    void addByArrowKeysFileAndDuplicate()
    {
        Bench bench;
        bench.list.openAddMenu();
        auto* search = bench.menu()->findChild<QLineEdit*>();
        QTest::keyClick(search, Qt::Key_Down);
        QTest::keyClick(search, Qt::Key_Return);
        QCOMPARE(bench.preset.takeFirst()[0].toString(), "llama-3.1-8b");
        QTRY_VERIFY(!bench.menu());
        bench.list.openAddMenu();
        const auto buttons = bench.menu()->findChildren<QPushButton*>();
        QTest::mouseClick(buttons[0], Qt::LeftButton);
        QCOMPARE(bench.file.size(), 1);
        QTRY_VERIFY(!bench.menu());
        bench.list.openAddMenu();
        QTest::mouseClick(bench.menu()->findChildren<QPushButton*>()[1], Qt::LeftButton);
        QCOMPARE(bench.duplicated.takeFirst()[0].toInt(), 0);
    }

    void fourAreTheMost()
    {
        Bench bench;
        auto rows = twoConfigurations();
        rows.push_back(rows[0]);
        rows.push_back(rows[0]);
        bench.list.setConfigurations(rows, 3);
        QVERIFY(!bench.list.addButton()->isEnabled());
        QVERIFY(bench.list.addButton()->toolTip().contains("four"));
        bench.list.setConfigurations(twoConfigurations(), 0);
        QVERIFY(bench.list.addButton()->isEnabled());
        QCOMPARE(bench.list.rowWidget(2), nullptr);
    }

    void coloursFromTheMenu()
    {
        Bench bench;
        QSignalSpy coloured(&bench.list, &ConfigList::colourChosen);
        int offered = 0;
        QTimer::singleShot(0, &bench.list, [&] {
            auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            if (!menu)
                return;
            for (QAction* action : menu->actions()) {
                if (!action->menu())
                    continue;
                offered = static_cast<int>(action->menu()->actions().size());
                QVERIFY(action->menu()->actions()[1]->isChecked()); // its own
                action->menu()->actions().last()->trigger();
            }
            menu->close();
        });
        QContextMenuEvent event(QContextMenuEvent::Keyboard, QPoint(5, 5), QPoint(5, 5));
        QApplication::sendEvent(bench.list.rowWidget(1), &event);
        QCOMPARE(offered, 4);
        QCOMPARE(coloured.takeFirst(), (QList<QVariant>{1, 3}));
    }
};

QTEST_MAIN(TestConfigList)
#include "test_config_list.moc"
