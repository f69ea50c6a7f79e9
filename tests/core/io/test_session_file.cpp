// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/session_file.h"

#include "tests/support/random_config.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

using namespace ropewalk;

namespace {

Session twoModels()
{
    Session session;
    SessionConfiguration a;
    a.config.name = "Llama-3.1 \"θ\"";
    a.config.base = 500000;
    a.config.rule = FrequencyRule::Llama3;
    a.config.parameters.factor = 8;
    a.config.maxPositionEmbeddings = 131072;
    a.config.originalMaxPositionEmbeddings = 8192;
    a.config.softmaxFactor = 0.94280904158206336;
    a.config.notes = {{Severity::Assumed, "rope_theta", {"{value}: default", {{"value", "500000"}}}}};
    a.original = a.config;
    a.original->base = 10000;
    SessionConfiguration b;
    b.letter = "C";
    b.colour = 2;
    b.isHidden = true;
    b.config.headDim = 96;
    b.config.rotaryDim = 24;
    b.config.layout = Layout::Interleaved;
    b.config.layerType = "full_attention";
    session.configurations = {a, b};
    session.selected = 1;
    session.figure = "decay";
    session.cards = {"pairs", "plane", "decay", "spectrum"};
    session.cardCount = 2;
    session.isDistanceLocked = false;
    session.options.pair = 7;
    session.options.m = 100000;
    session.options.n = 99985;
    session.options.maxDistance = 4096;
    session.options.rho = 0.1;
    session.options.showBound = true;
    session.options.isDistanceLogarithmic = false;
    return session;
}

QJsonObject parsed(const std::string& text)
{
    return QJsonDocument::fromJson(QByteArray::fromStdString(text)).object();
}

Result<SessionReading> read(const QJsonObject& json)
{
    return sessionFromJson(QJsonDocument(json).toJson().toStdString());
}

QJsonObject with(QJsonObject object, const QString& key, const QJsonValue& value)
{
    object[key] = value;
    return object;
}

} // namespace

class TestSessionFile : public QObject
{
    Q_OBJECT

private slots:
    void roundTrip();
    void randomRoundTrip();
    void keysAreThoseOfSet();
    void impossibleConfigurationsAreKept();
    void impossibleOriginalsAreLeftOut();
    void unknownKeysAreKeptAndSaid();
    void newerIsRefused();
    void leftOutIsDefault();
    void unknownCardsGiveWay();
    void refused_data();
    void refused();
    void mutationsNeverCrash();
    void shownAreTheVisible();
};

void TestSessionFile::roundTrip()
{
    const Session session = twoModels();
    const std::string text = sessionToJson(session);
    QVERIFY(text.ends_with("}\n"));
    const Result<SessionReading> reading = sessionFromJson(text);
    QVERIFY2(reading.hasValue(), reading ? "" : toEnglish(reading.error()).c_str());
    QVERIFY(reading->session == session);
    QVERIFY(reading->notes.empty());
    QVERIFY(reading->unknownKeys.empty());
    QCOMPARE(sessionToJson(reading->session), text);
}

void TestSessionFile::randomRoundTrip()
{
    std::mt19937 random(11);
    for (int i = 0; i < 200; ++i) {
        Session session;
        const int count = std::uniform_int_distribution<int>(1, 4)(random);
        for (int c = 0; c < count; ++c) {
            SessionConfiguration shown;
            shown.config = test::randomConfig(random);
            shown.letter = std::string(1, static_cast<char>('A' + c));
            session.configurations.push_back(shown);
        }
        const Result<SessionReading> reading = sessionFromJson(sessionToJson(session));
        QVERIFY(reading.hasValue());
        QVERIFY(reading->session == session);
    }
}

void TestSessionFile::keysAreThoseOfSet()
{
    const QJsonObject root = parsed(sessionToJson(twoModels()));
    QCOMPARE(root["schema"].toString(), QStringLiteral("ropewalk.session/1"));
    const QJsonObject keys =
        root["configurations"].toArray().first().toObject()["config"].toObject()["keys"].toObject();
    QCOMPARE(keys, (QJsonObject{{"head_dim", 128},
                                {"rotary_dim", 128},
                                {"layout", "half"},
                                {"base", 500000},
                                {"rule", "llama3"},
                                {"factor", 8},
                                {"max_position_embeddings", 131072},
                                {"original_max_position_embeddings", 8192}}));
}

void TestSessionFile::impossibleConfigurationsAreKept()
{
    Session session = twoModels();
    session.configurations[0].config.base = 0.5;
    session.configurations[1].config.rotaryDim = 23;
    const Result<SessionReading> reading = sessionFromJson(sessionToJson(session));
    QVERIFY(reading.hasValue());
    QVERIFY(reading->session == session);
}

void TestSessionFile::impossibleOriginalsAreLeftOut()
{
    Session session = twoModels();
    session.configurations[0].original = session.configurations[0].config;
    session.configurations[0].original->base = -1.0;
    const Result<SessionReading> reading = sessionFromJson(sessionToJson(session));
    QVERIFY(reading.hasValue());
    QVERIFY(!reading->session.configurations[0].original);
    QCOMPARE(reading->notes.size(), std::size_t{1});
    QVERIFY(reading->session.configurations[0].config == session.configurations[0].config);
}

void TestSessionFile::unknownKeysAreKeptAndSaid()
{
    QJsonObject root = parsed(sessionToJson(twoModels()));
    const QJsonObject scenes{{"note", "θ"}, {"list", QJsonArray{1, 2.5, QJsonValue::Null}}};
    root["scenes"] = scenes;
    const Result<SessionReading> reading = read(root);
    QVERIFY(reading.hasValue());
    QVERIFY(reading->session == twoModels());
    QCOMPARE(reading->notes.size(), std::size_t{1});
    QVERIFY(QString::fromStdString(toEnglish(reading->notes.front().text)).contains("scenes"));
    const QJsonObject again = parsed(sessionToJson(reading->session, reading->unknownKeys));
    QCOMPARE(again["scenes"].toObject(), scenes);
}

void TestSessionFile::newerIsRefused()
{
    const Result<SessionReading> reading =
        read(with(parsed(sessionToJson(twoModels())), "schema", "ropewalk.session/2"));
    QVERIFY(!reading);
    const QString sentence = QString::fromStdString(toEnglish(reading.error()));
    QVERIFY2(sentence.contains("format 2") && sentence.contains("newer"), qPrintable(sentence));
}

void TestSessionFile::leftOutIsDefault()
{
    const Result<SessionReading> reading =
        sessionFromJson(R"({"schema":"ropewalk.session/1","configurations":[{"config":{"keys":{}}}]})");
    QVERIFY2(reading.hasValue(), reading ? "" : toEnglish(reading.error()).c_str());
    Session expected;
    expected.configurations.resize(1);
    QVERIFY(reading->session == expected);
}

/// A place whose figure is of a later version, or stands there twice, takes a usual one that is free.
void TestSessionFile::unknownCardsGiveWay()
{
    QJsonObject json = parsed(sessionToJson(twoModels()));
    json["cards"] = QJsonArray{"decay", "hologram", "plane", "decay"};
    const auto reading = read(json);
    QVERIFY2(reading.hasValue(), reading ? "" : toEnglish(reading.error()).c_str());
    const std::array<std::string, kCards> expected{"decay", "spectrum", "plane", "pairs"};
    QVERIFY(reading->session.cards == expected);
    QCOMPARE(reading->notes.size(), std::size_t{2});
    QCOMPARE(reading->notes[0].field, std::string("cards[1]"));
    QVERIFY(toEnglish(reading->notes[0].text).find("hologram") != std::string::npos);
    QCOMPARE(reading->notes[1].field, std::string("cards[3]"));
}

void TestSessionFile::refused_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("word");
    const auto row = [](const char* name, const QByteArray& text, const char* word) {
        QTest::newRow(name) << text << QString(word);
    };
    const QByteArray start = R"({"schema":"ropewalk.session/1",)";
    const QByteArray one = R"("configurations":[{"config":{"keys":{}}}])";
    const auto configuration = [&](const QByteArray& inside) {
        return start + R"("configurations":[{)" + inside + "}]}";
    };
    const auto keys = [&](const QByteArray& inside) {
        return configuration(R"("config":{"keys":{)" + inside + "}}");
    };
    row("empty", "", "empty");
    row("a web page", "<html>", "web page");
    row("a list", "[]", "a list");
    row("no schema", "{" + one + "}", "schema");
    row("another schema", R"({"schema":"ropewalk.figure/1",)" + one + "}", "ropewalk.figure/1");
    row("version is no number", R"({"schema":"ropewalk.session/x",)" + one + "}", "schema");
    row("version 0", R"({"schema":"ropewalk.session/0",)" + one + "}", "schema");
    row("version too large", R"({"schema":"ropewalk.session/99999999999",)" + one + "}", "schema");
    row("no configurations", start + R"("figure":"decay"})", "configurations");
    row("empty configurations", start + R"("configurations":[]})", "one to 4");
    row("five configurations", start + R"("configurations":[{},{},{},{},{}]})", "one to 4");
    row("a configuration is a number", start + R"("configurations":[3]})", "configurations[0]");
    row("no config", configuration("\"letter\":\"A\""), "configurations[0].config");
    row("no keys", configuration("\"config\":{}"), "config.keys");
    row("a letter too far", configuration(R"("letter":"E","config":{"keys":{}})"), "letter");
    row("the same letter twice",
        start +
            R"("configurations":[{"letter":"A","config":{"keys":{}}},{"letter":"A","config":{"keys":{}}}]})",
        "second time");
    row("colour", configuration(R"("colour":99,"config":{"keys":{}})"), "colour");
    row("three cards", start + R"("cards":["plane","decay","pairs"],)" + one + "}", "cards");
    row("a card is a number", start + R"("cards":["plane","decay","pairs",4],)" + one + "}", "cards");
    row("three cards in sight", start + R"("card_count":9,)" + one + "}", "card_count");
    row("hidden as a number", configuration(R"("is_hidden":1,"config":{"keys":{}})"), "is_hidden");
    row("an unknown key", keys("\"bases\":3"), "bases");
    row("a list with a word in it", keys("\"short_factor\":\"1,two\""), "short_factor");
    row("an unknown rule", keys("\"rule\":\"shortrope\""), "shortrope");
    row("base as an object", keys("\"base\":{}"), "base");
    row("base as text", keys("\"base\":\"x\""), "base");
    row("head_dim huge", keys("\"head_dim\":1e18"), "head_dim");
    row("softmax_factor", configuration(R"("config":{"keys":{},"softmax_factor":0})"), "softmax_factor");
    row("selected", start + one + R"(,"selected":1})", "selected");
    row("selected broken", start + one + R"(,"selected":0.5})", "selected");
    row("m negative", start + one + R"(,"options":{"m":-1}})", "options.m");
    row("m huge", start + one + R"(,"options":{"m":1e300}})", "options.m");
    row("rho", start + one + R"(,"options":{"rho":2}})", "options.rho");
    row("max_distance", start + one + R"(,"options":{"max_distance":100000000}})", "options.max_distance");
    row("content", start + one + R"(,"options":{"content":"needles"}})", "needles");
    row("options as a list", start + one + R"(,"options":[]})", "options");
    row("a long text", start + one + R"(,"figure":")" + QByteArray(3000, 'x') + "\"}", "figure");
    row("a key twice", start + one + R"(,"selected":0,"selected":0})", "twice");
    row("deep", start + one + ",\"x\":" + QByteArray(10000, '['), "deep");
    row("notes as a text", configuration(R"("config":{"keys":{},"notes":"x"})"), "notes");
}

void TestSessionFile::refused()
{
    QFETCH(QByteArray, text);
    QFETCH(QString, word);
    const Result<SessionReading> reading = sessionFromJson(text.toStdString());
    QVERIFY(!reading);
    QCOMPARE(reading.error().code, ErrorCode::BadInput);
    const QString sentence = QString::fromStdString(toEnglish(reading.error()));
    QVERIFY2(sentence.contains(word), qPrintable(sentence));
    QVERIFY2(sentence.size() < 400, qPrintable(sentence));
}

void TestSessionFile::mutationsNeverCrash()
{
    const std::string seed = sessionToJson(twoModels());
    std::mt19937 random(5);
    const auto below = [&](std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
    };
    const char* const pieces[] = {"null", "-1", "1e308", "[]",   "{}", "\"",
                                  "{",    "}",  "\xFF",  "true", ",",  "A"};
    for (int i = 0; i < 5000; ++i) {
        std::string text = seed;
        for (std::size_t change = 1 + below(3); change > 0; --change) {
            const std::size_t at = below(text.size());
            if (below(2) == 0)
                text.erase(at, 1 + below(6));
            else
                text.insert(at, pieces[below(std::size(pieces))]);
        }
        const Result<SessionReading> reading = sessionFromJson(text);
        if (reading)
            QVERIFY(sessionFromJson(sessionToJson(reading->session, reading->unknownKeys)).hasValue());
        else
            QVERIFY(!toEnglish(reading.error()).empty());
    }
}

void TestSessionFile::shownAreTheVisible()
{
    const std::vector<FigureConfiguration> shown = shownConfigurations(twoModels());
    QCOMPARE(shown.size(), std::size_t{1});
    QCOMPARE(shown.front().letter, std::string("A"));
}

QTEST_APPLESS_MAIN(TestSessionFile)
#include "test_session_file.moc"
