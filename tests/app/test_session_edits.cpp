// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session_edits.h"

#include <QTest>

#include <set>

using namespace ropewalk;

class TestSessionEdits : public QObject
{
    Q_OBJECT
private slots:
    /// Whatever is put where, each place holds one figure and no figure stands twice, as long as there are
    /// others.
    void cardsStayDifferent()
    {
        std::array<std::string, kCards> cards = firstCards();
        placeCard(cards, 0, "decay");
        const std::array<std::string, kCards> swapped{"decay", "spectrum", "plane", "pairs"};
        QVERIFY(cards == swapped);
        placeCard(cards, 3, "scores");
        const std::array<std::string, kCards> replaced{"decay", "spectrum", "plane", "scores"};
        QVERIFY(cards == replaced);
        const char* const figures[] = {"plane", "spectrum", "decay", "pairs", "scores", "range"};
        for (int step = 0; step < 60; ++step) {
            placeCard(cards, (step * 7) % kCards, figures[(step * 5) % 6]);
            QCOMPARE(std::set<std::string>(cards.begin(), cards.end()).size(), std::size_t{kCards});
        }
    }

    void coloursStayDifferent()
    {
        std::vector<SessionConfiguration> list(3);
        for (int i = 0; i < 3; ++i)
            list[static_cast<std::size_t>(i)].colour = i;
        recolour(list, 0, 2);
        QCOMPARE(list[0].colour, 2);
        QCOMPARE(list[1].colour, 1);
        QCOMPARE(list[2].colour, 0);
        recolour(list, 1, 3); // nobody had it
        QCOMPARE(list[1].colour, 3);
        recolour(list, 1, 3);
        QCOMPARE(list[1].colour, 3);
    }

    void lettersAreFree()
    {
        std::vector<SessionConfiguration> list(2);
        list[0].letter = "A";
        list[1].letter = "C";
        QCOMPARE(freeLetter(list).first, std::string("B"));
        QCOMPARE(freeLetter(list).second, 1);
    }
};

QTEST_GUILESS_MAIN(TestSessionEdits)
#include "test_session_edits.moc"
