// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/json_writer.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <cstdlib>
#include <limits>
#include <random>

using namespace ropewalk;

namespace {

std::string written(double value)
{
    std::string text;
    appendDouble(text, value);
    return text;
}

} // namespace

/// JSON as other programs read it: QJsonDocument and strtod are the judges.
class TestJsonWriter : public QObject
{
    Q_OBJECT

private slots:
    void numbers_data();
    void numbers();
    void everyDoubleComesBack();
    void notFiniteIsNull();
    void texts_data();
    void texts();
    void keysKeepTheirOrder();
    void emptyObjectsAndLists();
    void optionalsAndInlineStyle();
};

void TestJsonWriter::numbers_data()
{
    QTest::addColumn<double>("value");
    QTest::addColumn<QString>("text");
    QTest::newRow("zero") << 0.0 << "0";
    QTest::newRow("minus zero keeps its sign") << -0.0 << "-0";
    QTest::newRow("whole") << 5.0 << "5";
    QTest::newRow("negative whole") << -131072.0 << "-131072";
    QTest::newRow("large whole") << 999999999999999.0 << "999999999999999";
    QTest::newRow("beyond the fast way") << 1e15 << "1000000000000000";
    QTest::newRow("17 digits") << 0.1 << "0.10000000000000001";
    QTest::newRow("small") << 1e-7 << "9.9999999999999995e-08";
    QTest::newRow("huge") << 1e300 << "1.0000000000000001e+300";
    QTest::newRow("smallest") << 5e-324 << "4.9406564584124654e-324";
}

void TestJsonWriter::numbers()
{
    QFETCH(double, value);
    QFETCH(QString, text);
    QCOMPARE(QString::fromStdString(written(value)), text);
}

void TestJsonWriter::everyDoubleComesBack()
{
    std::mt19937_64 random(1);
    for (int i = 0; i < 200000; ++i) {
        const std::uint64_t bits = random();
        double value = 0.0;
        std::memcpy(&value, &bits, sizeof value);
        if (!std::isfinite(value))
            continue;
        const std::string text = written(value);
        QCOMPARE(std::strtod(text.c_str(), nullptr), value);
    }
    for (double whole = -4097.0; whole < 4097.0; whole += 1.0)
        QCOMPARE(std::strtod(written(whole).c_str(), nullptr), whole);
}

void TestJsonWriter::notFiniteIsNull()
{
    JsonWriter json;
    json.value(std::vector<double>{1.0, std::nan(""), std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity()});
    QCOMPARE(json.take(), std::string("[1, null, null, null]\n"));
}

void TestJsonWriter::texts_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("expected");
    const QChar broken(0xFFFD);
    QTest::newRow("plain") << QByteArray("llama3") << "llama3";
    QTest::newRow("quote and backslash") << QByteArray("a\"b\\c") << "a\"b\\c";
    QTest::newRow("controls") << QByteArray("\x01\t\n\r\x1f\x7f")
                              << QString::fromLatin1("\x01\t\n\r\x1f\x7f");
    QTest::newRow("nul") << QByteArray("a\0b", 3) << QString::fromLatin1("a\0b", 3);
    QTest::newRow("greek, chinese, beyond the first plane")
        << QByteArray("θ 旋转 😀") << QString::fromUtf8("θ 旋转 😀");
    QTest::newRow("lone continuation") << QByteArray("a\x80z") << QString("a") + broken + "z";
    QTest::newRow("cut short") << QByteArray("a\xE2\x82") << QString("a") + broken + broken;
    QTest::newRow("overlong") << QByteArray("\xC0\xAF") << QString(broken) + broken;
    QTest::newRow("surrogate") << QByteArray("\xED\xA0\x80") << QString(broken) + broken + broken;
    QTest::newRow("above U+10FFFF") << QByteArray("\xF4\x90\x80\x80") << QString(4, broken);
    QTest::newRow("never a lead") << QByteArray("\xFF") << QString(broken);
}

void TestJsonWriter::texts()
{
    QFETCH(QByteArray, bytes);
    QFETCH(QString, expected);
    JsonWriter json;
    json.beginArray();
    json.value(bytes.toStdString());
    json.endArray();
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(QByteArray::fromStdString(json.take()), &error);
    QCOMPARE(error.errorString(), QStringLiteral("no error occurred"));
    QCOMPARE(document.array().first().toString(), expected);
}

void TestJsonWriter::keysKeepTheirOrder()
{
    JsonWriter json;
    json.beginObject();
    json.member("z", 1);
    json.member("a", true);
    json.key("list");
    json.beginArray();
    json.value("x");
    json.beginObject(JsonWriter::Style::Inline);
    json.member("k", -7LL);
    json.nullMember("n");
    json.endObject();
    json.endArray();
    json.endObject();
    QCOMPARE(json.take(), std::string("{\n"
                                      "  \"z\": 1,\n"
                                      "  \"a\": true,\n"
                                      "  \"list\": [\n"
                                      "    \"x\",\n"
                                      "    {\"k\": -7, \"n\": null}\n"
                                      "  ]\n"
                                      "}\n"));
}

void TestJsonWriter::emptyObjectsAndLists()
{
    JsonWriter json;
    json.beginObject();
    json.key("a");
    json.beginArray();
    json.endArray();
    json.key("o");
    json.beginObject();
    json.endObject();
    json.endObject();
    QCOMPARE(json.take(), std::string("{\n  \"a\": [],\n  \"o\": {}\n}\n"));
}

void TestJsonWriter::optionalsAndInlineStyle()
{
    JsonWriter json;
    json.beginArray(JsonWriter::Style::Inline);
    json.value(std::optional<double>());
    json.value(std::optional<std::int64_t>(8192));
    json.value(std::optional<std::string>("x"));
    json.endArray();
    QCOMPARE(json.take(), std::string("[null, 8192, \"x\"]\n"));
}

QTEST_APPLESS_MAIN(TestJsonWriter)
#include "test_json_writer.moc"
