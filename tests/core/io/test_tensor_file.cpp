// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/tensor_file.h"
#include "tests/support/compare.h"
#include "tests/support/tensor_bytes.h"

#include <QFile>
#include <QTemporaryFile>
#include <QtTest>

#include <bit>
#include <fstream>
#include <sstream>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

/// The numbers of tests/data/make_tensor_files.py.
double queryValue(int head, int token, int channel)
{
    return ((3 * head + 2 * token + channel) % 16 - 8) / 4.0;
}
double keyValue(int head, int token, int channel)
{
    return ((head + 5 * token + 3 * channel) % 16 - 8) / 2.0;
}

std::vector<double> rowsOf(double (*value)(int, int, int), int head)
{
    std::vector<double> rows;
    for (int token = 0; token < 5; ++token)
        for (int channel = 0; channel < 4; ++channel)
            rows.push_back(value(head, token, channel));
    return rows;
}

std::string bytesOf(const char* file)
{
    QFile data(QStringLiteral(ROPEWALK_TEST_DATA "/tensors/") + file);
    if (!data.open(QIODevice::ReadOnly))
        qFatal("cannot open %s", file);
    return data.readAll().toStdString();
}

Result<TensorFile> openBytes(std::string bytes)
{
    return TensorFile::open(std::make_shared<std::istringstream>(std::move(bytes)), "file");
}

/// One head of one file, or the error's sentence.
struct Outcome
{
    HeadTensors tensors;
    QString sentence;
};
Outcome headOf(const std::string& bytes, const TensorChoice& choice = {})
{
    const Result<TensorFile> file = openBytes(bytes);
    if (!file)
        return {{}, QString::fromStdString(toEnglish(file.error()))};
    Result<HeadTensors> tensors = readHeadTensors(*file, *file, choice);
    if (!tensors)
        return {{}, QString::fromStdString(toEnglish(tensors.error()))};
    return {std::move(*tensors), {}};
}

std::uint32_t checksumOf(const std::string& bytes)
{
    std::uint32_t value = 0xFFFFFFFF;
    for (const char byte : bytes) {
        value ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit)
            value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320U : 0U);
    }
    return ~value;
}

/// An entry of a zip file, and what its directory says of it.
struct Entry
{
    std::string name, content;
    bool isDeflated = false;
    std::optional<std::uint32_t> saidSize = {}, saidChecksum = {}, saidStored = {}, saidOffset = {};
    std::uint16_t flags = 0;
    std::optional<std::uint16_t> method = {};
    std::optional<std::string> saidName = {};
};

std::string zip(const std::vector<Entry>& entries)
{
    std::string file, directory;
    for (const Entry& entry : entries) {
        const QByteArray packed = qCompress(QByteArray::fromStdString(entry.content));
        // Behind the length that Qt writes: a zlib stream, whose head of 2 and sum of 4 bytes a zip file
        // leaves out.
        const std::string stored =
            entry.isDeflated ? packed.mid(6, packed.size() - 10).toStdString() : entry.content;
        const std::uint16_t method = entry.method.value_or(entry.isDeflated ? 8 : 0);
        const std::string common =
            littleEndian<std::uint16_t>(20) + littleEndian(entry.flags) + littleEndian(method) +
            std::string(4, '\0') + littleEndian(entry.saidChecksum.value_or(checksumOf(entry.content))) +
            littleEndian(entry.saidStored.value_or(static_cast<std::uint32_t>(stored.size()))) +
            littleEndian(entry.saidSize.value_or(static_cast<std::uint32_t>(entry.content.size())));
        const std::string name = entry.saidName.value_or(entry.name);
        directory += "PK\x01\x02" + littleEndian<std::uint16_t>(20) + common +
                     littleEndian(static_cast<std::uint16_t>(name.size())) + std::string(12, '\0') +
                     littleEndian(entry.saidOffset.value_or(static_cast<std::uint32_t>(file.size()))) + name;
        file += "PK\x03\x04" + common + littleEndian(static_cast<std::uint16_t>(entry.name.size())) +
                littleEndian<std::uint16_t>(0) + entry.name + stored;
    }
    const auto count = static_cast<std::uint16_t>(entries.size());
    return file + directory + "PK\x05\x06" + std::string(4, '\0') + littleEndian(count) +
           littleEndian(count) + littleEndian(static_cast<std::uint32_t>(directory.size())) +
           littleEndian(static_cast<std::uint32_t>(file.size())) + std::string(2, '\0');
}

const char* const kHead = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n";

} // namespace

class TestTensorFile : public QObject
{
    Q_OBJECT
private slots:
    void knownFiles_data();
    void knownFiles();
    void twoFiles();
    void description();
    void numbersOfEachType();
    void gaps();
    void otherMembersAreLeftOut();
    void choices();
    void refused_data();
    void refused();
    void namesTheFileOnce();
    void hugeShapesNeedNoMemory();
    void brokenEverywhere_data();
    void brokenEverywhere();
};

void TestTensorFile::knownFiles_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<int>("head");
    QTest::addColumn<int>("batch");
    QTest::addColumn<int>("queryHead");
    QTest::addColumn<int>("keyHead");
    QTest::addColumn<QString>("precision");
    QTest::newRow("npz, head 0") << "heads.npz" << 0 << 0 << 0 << 0 << "float32";
    QTest::newRow("npz, head 1: the first group") << "heads.npz" << 1 << 0 << 1 << 0 << "float32";
    QTest::newRow("npz, head 2: the second") << "heads.npz" << 2 << 0 << 2 << 1 << "float32";
    QTest::newRow("npz, head 3") << "heads.npz" << 3 << 0 << 3 << 1 << "float32";
    QTest::newRow("compressed, batch 0") << "batches.npz" << 2 << 0 << 2 << 0 << "float64";
    QTest::newRow("compressed, batch 1") << "batches.npz" << 1 << 1 << 4 << 1 << "float64";
    QTest::newRow("safetensors") << "bfloat16.safetensors" << 3 << 0 << 3 << 1 << "bfloat16";
}

void TestTensorFile::knownFiles()
{
    QFETCH(QString, file);
    QFETCH(int, head);
    QFETCH(int, batch);
    QFETCH(int, queryHead);
    QFETCH(int, keyHead);
    TensorChoice choice;
    choice.head = head;
    choice.batch = batch;
    const Outcome read = headOf(bytesOf(qPrintable(file)), choice);
    QCOMPARE(read.sentence, QString());
    QCOMPARE(read.tensors.headDim, 4);
    QCOMPARE(read.tensors.tokens, std::int64_t{5});
    QCOMPARE(read.tensors.notFinite, std::int64_t{0});
    QCOMPARE(read.tensors.heads, std::int64_t{file == "batches.npz" ? 3 : 4});
    QCOMPARE(read.tensors.batches, std::int64_t{file == "batches.npz" ? 2 : 1});
    QTEST(QString::fromStdString(read.tensors.precision), "precision");
    QVERIFY(read.tensors.query == rowsOf(queryValue, queryHead));
    QVERIFY(read.tensors.key == rowsOf(keyValue, keyHead));
}

void TestTensorFile::twoFiles()
{
    const auto queries = openBytes(bytesOf("q.npy"));
    const auto keys = openBytes(bytesOf("k.npy"));
    QVERIFY(queries && keys);
    const auto tensors = readHeadTensors(*queries, *keys, {});
    QVERIFY(tensors);
    QVERIFY(tensors->query == rowsOf(queryValue, 0));
    QVERIFY(tensors->key == rowsOf(keyValue, 0));
    QCOMPARE(QString::fromStdString(tensors->precision), QStringLiteral("float16"));
    // Version 2, three dimensions: any head of it.
    const auto second = openBytes(bytesOf("version2.npy"));
    QVERIFY(second);
    TensorChoice choice;
    choice.head = 3;
    const auto both = readHeadTensors(*second, *second, choice);
    QVERIFY(!both); // one tensor is not both
    const auto rows = second->matrix(0, {2});
    QVERIFY(rows && rows->values == rowsOf(queryValue, 2));
}

void TestTensorFile::description()
{
    TensorChoice choice;
    choice.head = 2;
    const Outcome read = headOf(bytesOf("bfloat16.safetensors"), choice);
    QCOMPARE(QString::fromStdString(read.tensors.name), QStringLiteral("a model, layer 7, head 2"));
    QVERIFY(read.tensors.layout == Layout::Interleaved);
    QCOMPARE(read.tensors.base.value_or(0.0), 10000.0);
    QCOMPARE(read.tensors.tokenTexts.size(), std::size_t{5});
    QCOMPARE(QString::fromStdString(read.tensors.weights), QStringLiteral("bfloat16"));
}

void TestTensorFile::numbersOfEachType()
{
    struct Case
    {
        const char* descr;
        std::string bytes;
        std::vector<double> expected;
    };
    const auto halves = [](const std::vector<int>& bits) {
        std::string bytes;
        for (const int value : bits)
            bytes += littleEndian(static_cast<std::uint16_t>(value));
        return bytes;
    };
    const std::vector<Case> cases{
        // Least and greatest subnormal, least normal, 1, next to 1, largest, -0, 1/3.
        {"<f2",
         halves({0x0001, 0x03ff, 0x0400, 0x3c00, 0x3c01, 0x7bff, 0x8000, 0x3555}),
         {std::ldexp(1.0, -24), std::ldexp(1023.0, -24), std::ldexp(1.0, -14), 1.0,
          1.0 + std::ldexp(1.0, -10), 65504.0, -0.0, 0.333251953125}},
        {"<V2",
         halves({0x3f80, 0xbf80, 0x4049, 0x0001, 0x7f7f, 0x3eab, 0, 0x8000}),
         {1.0, -1.0, 3.140625, std::ldexp(1.0, -133), std::ldexp(255.0, 120), 0.333984375, 0.0, -0.0}},
        {"<f4", floats({1.0F, -2.5F, 1e-45F, 3e38F}), {1.0, -2.5, 1e-45F, 3e38F}},
        {"<f8",
         littleEndian(std::bit_cast<std::uint64_t>(0.1)) + littleEndian(std::bit_cast<std::uint64_t>(-1e300)),
         {0.1, -1e300}},
    };
    for (const Case& one : cases) {
        const std::string head = std::string("{'descr': '") + one.descr +
                                 "', 'fortran_order': False, 'shape': (1, " +
                                 std::to_string(one.expected.size()) + "), }";
        for (const int version : {1, 2, 3}) {
            const auto file = openBytes(npy(head, one.bytes, version));
            QVERIFY2(file, one.descr);
            const auto rows = file->matrix(0, {});
            QVERIFY2(rows, one.descr);
            QCOMPARE(absoluteDifference(rows->values, one.expected, 0.0), QString());
        }
    }
}

void TestTensorFile::otherMembersAreLeftOut()
{
    const std::string one = npy(kHead, floats({1, 2}));
    // Whatever its name, stored or deflated, short or empty; a .npy without its ending is read.
    const auto file = openBytes(zip({{"q.npy", one},
                                     {"readme.txt", "hello, this is a text"},
                                     {"folder/", ""},
                                     {"empty", ""},
                                     {"k", one}}));
    QVERIFY(file);
    QVERIFY(file->leftOut() == (std::vector<std::string>{"readme.txt", "empty"}));
    const auto tensors = readHeadTensors(*file, *file, {});
    QVERIFY(tensors && tensors->leftOut == file->leftOut() && tensors->key[1] == 2.0);
}

void TestTensorFile::gaps()
{
    const float nan = std::nanf(""), infinite = HUGE_VALF;
    const std::string q =
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", floats({1, nan, infinite, 2}));
    const std::string k =
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", floats({-infinite, 0, 0, 0}));
    const Outcome read = headOf(zip({{"q.npy", q, true}, {"k.npy", k, false}}));
    QCOMPARE(read.sentence, QString());
    QCOMPARE(read.tensors.notFinite, std::int64_t{3});
    QVERIFY(std::isnan(read.tensors.query[1]) && std::isinf(read.tensors.query[2]));
    QCOMPARE(read.tensors.query[3], 2.0);
}

void TestTensorFile::choices()
{
    const auto sentence = [](TensorChoice choice) { return headOf(bytesOf("heads.npz"), choice).sentence; };
    TensorChoice choice;
    choice.head = 4;
    QVERIFY(sentence(choice).contains("head is 4; q has 4, expected 0 to 3"));
    choice.head = 0;
    choice.batch = 1;
    QVERIFY(sentence(choice).contains("batch is 1; q has one, expected 0"));
    choice.batch = 0;
    choice.queryTensor = "k"; // any name may be the queries
    choice.keyTensor = "k";
    choice.head = 1;
    const Outcome read = headOf(bytesOf("heads.npz"), choice);
    QVERIFY(read.tensors.query == rowsOf(keyValue, 1) && read.tensors.key == read.tensors.query);
    choice.keyTensor = "v";
    QVERIFY(sentence(choice).contains("no tensor named v; it has q, k"));
    choice = {};
    choice.queryTensor = "positions";
    QVERIFY(headOf(bytesOf("bfloat16.safetensors"), choice).sentence.contains("positions has the shape [5]"));
}

void TestTensorFile::refused_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("sentence");
    const auto row = [](const char* name, const std::string& bytes, const char* sentence) {
        QTest::newRow(name) << QByteArray::fromStdString(bytes) << sentence;
    };
    const std::string one = npy(kHead, floats({1, 2}));
    const auto both = [](const std::string& q) { return zip({{"q.npy", q}, {"k.npy", q}}); };
    row("nothing", "", "neither .npy, .npz nor .safetensors");
    row("text", "hello, this is a text", "neither .npy, .npz nor .safetensors");
    row("Fortran order", both(bytesOf("fortran.npy")), "q is in Fortran order");
    row("big-endian", both(bytesOf("big_endian.npy")), "q is big-endian");
    row("whole numbers", both(bytesOf("whole.npy")), "q is of type <i4; expected float16");
    row("objects", both(npy("{'descr': '|O', 'fortran_order': False, 'shape': (1, 2), }", "\x80\x04")),
        "q is of type |O");
    row("records", both(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 2), }", "")),
        "records of several");
    row("one dimension",
        both(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", floats({1, 2}))),
        "q has the shape [2]; expected [tokens, head_dim]");
    row("odd head",
        both(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }", floats({1, 2, 3}))),
        "a head_dim of 3");
    row("no tokens", both(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 2), }", "")),
        "0 tokens");
    row("negative", both(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 2), }", "")),
        "not that of a .npy");
    row("too few numbers", both(npy(kHead, floats({1}))),
        "has 4 B of numbers; its shape [1, 2] of float32 needs 8 B");
    row("too many numbers", both(npy(kHead, floats({1, 2, 3}))), "has 12 B of numbers");
    row("overflowing shape",
        both(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 1099511627776, 2), }",
                 "")),
        "impossibly large");
    row("version 9", both(npy(kHead, floats({1, 2}), 9)), "of .npy version 9");
    row("no shape", both(npy("{'descr': '<f4', 'fortran_order': False}", "")), "not that of a .npy");
    row("shape twice",
        both(npy("{'descr': '<f4', 'shape': (1, 2), 'shape': (1, 2), 'fortran_order': False}", "")),
        "not that of a .npy");
    row("a call in the head", both(npy("{'descr': print(1), 'fortran_order': False, 'shape': (1, 2)}", "")),
        "not that of a .npy");
    row("long head", "\x93NUMPY\x02" + std::string(1, '\0') + littleEndian<std::uint32_t>(0xFFFFFFFF),
        "bytes; expected at most");
    row("other shapes",
        zip({{"q.npy", one},
             {"k.npy",
              npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", floats({1, 2, 3, 4}))}}),
        "expected the same batch, tokens and head_dim");
    row("names", zip({{"a.npy", one}, {"b.npy", one}}), "no tensor named q or query; it has a, b");
    row("no entries", zip({}), "has no tensors");

    row("zip: twice", zip({{"q.npy", one}, {"q.npy", one}, {"k.npy", one}}), "two tensors named q");
    row("zip: damaged", zip({{"q.npy", one, true, {}, 1}, {"k.npy", one}}), "q is damaged: its checksum");
    row("zip: inflates to more",
        zip({{"q.npy", one + std::string(100, 'x'), true, static_cast<std::uint32_t>(one.size())},
             {"k.npy", one}}),
        "inflates to more than");
    row("zip: inflates to less",
        zip({{"q.npy", npy(kHead, floats({1})), true, static_cast<std::uint32_t>(one.size())},
             {"k.npy", one}}),
        "inflates to less than");
    row("zip: a bomb", zip({{"q.npy", std::string(1 << 20, '\0'), true, 0x7FFFFFFF}, {"k.npy", one}}),
        "expected at most 1073741824");
    row("zip: stored sizes differ", zip({{"q.npy", one, false, 7}, {"k.npy", one}}), "do not agree");
    row("zip: name differs", zip({{"q.npy", one, false, {}, {}, {}, {}, 0, {}, "x.npy"}, {"k.npy", one}}),
        "do not agree");
    row("zip: encrypted", zip({{"q.npy", one, false, {}, {}, {}, {}, 1}, {"k.npy", one}}),
        "q.npy is encrypted");
    row("zip: method", zip({{"q.npy", one, false, {}, {}, {}, {}, 0, 12}, {"k.npy", one}}),
        "compressed by method 12");
    // The second entry lies within the numbers of the first.
    std::string within = zip({{"k.npy", one}}).substr(0, 30 + 5 + one.size());
    within.resize((within.size() + 7) / 8 * 8);
    const std::string around = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, " +
                                       std::to_string(within.size() / 4) + "), }",
                                   within);
    row("zip: over one another",
        zip({{"q.npy", around},
             {"k.npy",
              one,
              false,
              {},
              {},
              {},
              static_cast<std::uint32_t>(30 + 5 + around.size() - within.size())}}),
        "q and k lie over one another");
    row("zip: no .npy within", zip({{"q.npy", "hello, this is a text"}, {"k.npy", one}}),
        "q is not a .npy file");
    row("zip: nothing but texts", zip({{"readme.txt", "hello, this is a text"}}), "the file has no tensors");
    // NumPy knows <, > and | (no order); another letter is no order that could be read.
    for (const char* order : {"Xf4", "|f4", "f4", "!f8"})
        row(order,
            both(npy(std::string("{'descr': '") + order + "', 'fortran_order': False, 'shape': (1, 2), }",
                     floats({1, 2}))),
            (std::string("q is of type ") + order + "; expected float16").c_str());
    row("zip: broken off", zip({{"q.npy", one}, {"k.npy", one}}).substr(0, 60),
        "breaks off before its directory");

    const auto info = [](const char* name, int from, int to, const char* shape = "[1,2]",
                         const char* type = "F32") {
        return std::string("\"") + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape +
               ",\"data_offsets\":[" + std::to_string(from) + "," + std::to_string(to) + "]}";
    };
    const std::string numbers = floats({1, 2, 3, 4});
    row("safetensors: over one another",
        safetensors("{" + info("q", 0, 8) + "," + info("k", 4, 12) + "}", numbers), "lie over one another");
    row("safetensors: beyond the end",
        safetensors("{" + info("q", 0, 8) + "," + info("k", 8, 24, "[2,2]") + "}", numbers),
        "k lies at bytes 8 to 24; the file has 16");
    row("safetensors: backwards", safetensors("{" + info("q", 8, 0) + "}", numbers),
        "q lies at bytes 8 to 0");
    row("safetensors: other size", safetensors("{" + info("q", 0, 16) + "}", numbers),
        "its shape [1, 2] of float32 needs 8");
    row("safetensors: twice", safetensors("{" + info("q", 0, 8) + "," + info("q", 8, 16) + "}", numbers),
        "two tensors named q");
    row("safetensors: head too long", littleEndian<std::uint64_t>(1ULL << 39) + "{}",
        "expected at most 16777216");
    row("safetensors: broken off",
        littleEndian<std::uint64_t>(1000) + "{\"q\":", "breaks off within its head");
    row("safetensors: no JSON", safetensors("{\"q\":}", numbers), "line 1");
    row("safetensors: a text as shape", safetensors("{" + info("q", 0, 8, "\"x\"") + "}", numbers),
        "something else than its dtype");
    row("safetensors: a negative shape", safetensors("{" + info("q", 0, 8, "[-1,2]") + "}", numbers),
        "something else than its dtype");
    row("safetensors: half a number", safetensors("{" + info("q", 0, 8, "[1.5,2]") + "}", numbers),
        "something else than its dtype");
    row("safetensors: overflow", safetensors("{" + info("q", 0, 8, "[4611686018427387904,4]") + "}", numbers),
        "impossibly large");
    row("safetensors: eight bits",
        safetensors("{" + info("q", 0, 2, "[1,2]", "F8_E4M3") + "," + info("k", 2, 4, "[1,2]", "F8_E4M3") +
                        "}",
                    numbers),
        "q is of type F8_E4M3");
}

void TestTensorFile::refused()
{
    QFETCH(QByteArray, bytes);
    QFETCH(QString, sentence);
    const Outcome outcome = headOf(bytes.toStdString());
    QVERIFY2(outcome.sentence.contains(sentence), qPrintable(outcome.sentence));
    QVERIFY2(!outcome.sentence.contains('{') || outcome.sentence.contains("line 1"),
             qPrintable(outcome.sentence));
    QVERIFY(outcome.sentence.startsWith("file: ") || outcome.sentence.startsWith("the head of file "));
}

/// A .npy has no name but the file's: a sentence about it says it once, and is about the right one of two
/// files.
void TestTensorFile::namesTheFileOnce()
{
    const auto open = [](const std::string& bytes, const char* name) {
        auto file = TensorFile::open(std::make_shared<std::istringstream>(bytes), name);
        if (!file)
            qFatal("%s", toEnglish(file.error()).c_str());
        return std::move(*file);
    };
    const auto sentence = [&](const std::string& q, const std::string& k, std::int64_t head = 0) {
        const TensorFile queries = open(q, "a/q.npy"), keys = open(k, "a/k.npy");
        TensorChoice choice;
        choice.head = head;
        const auto read = readHeadTensors(queries, keys, choice);
        return read ? QString() : QString::fromStdString(toEnglish(read.error()));
    };
    const std::string row = npyOf("(1, 2)", {1, 2});
    QCOMPARE(sentence(row, row), QString());
    QCOMPARE(sentence(npyOf("(0, 1, 2)", {}), row),
             QString("a/q.npy has the shape [0, 1, 2], without a head; expected at least one"));
    QCOMPARE(sentence(row, npyOf("(1, 0, 1, 2)", {})),
             QString("a/k.npy has the shape [1, 0, 1, 2], without a head; expected at least one"));
    QCOMPARE(sentence(row, row, 1), QString("head is 1; a/q.npy has one, expected 0"));
    QCOMPARE(
        sentence(npyOf("(3, 1, 2)", std::vector<float>(6)), npyOf("(2, 1, 2)", std::vector<float>(4))),
        QString("a/q.npy has the shape [3, 1, 2] and a/k.npy [2, 1, 2]; expected as many heads, or a whole "
                "number of query heads for each key head"));
    const std::string big =
        npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1, 2), }", floats({1, 2}));
    QCOMPARE(sentence(row, big), QString("a/k.npy is big-endian (float32); expected a little-endian one"));
    // The keys of a file with names are said to be of that file.
    QCOMPARE(
        sentence(row, zip({{"x.npy", row}, {"y.npy", row}})),
        QString("a/k.npy: the file has no tensor named k or key; it has x, y; expected k_tensor=NAME to say "
                "which"));
    const TensorFile alone = open(row, "a/q.npy");
    const auto read = readHeadTensors(alone, alone, {});
    QVERIFY(!read);
    QCOMPARE(QString::fromStdString(toEnglish(read.error())),
             QString("a/q.npy is one tensor; expected two, queries and keys, or a file for each (q and k)"));
    // The greatest of the finite numbers is known.
    const TensorFile large = open(npyOfDoubles("(2, 2)", {1, -1e160, HUGE_VAL, 3}), "l.npy");
    const auto numbers = readHeadTensors(large, open(npyOf("(2, 2)", {1, 2, 3, 4}), "k.npy"), {});
    QVERIFY(numbers);
    QCOMPARE(numbers->greatest, 1e160);
    QCOMPARE(numbers->notFinite, std::int64_t{1});
}

/// A sparse file says that it holds much; only the head is looked at before the limits are.
void TestTensorFile::hugeShapesNeedNoMemory()
{
    QTemporaryFile file;
    QVERIFY(file.open());
    const std::string head = "{'descr': '<f8', 'fortran_order': False, 'shape': (131072, 4096), }";
    const std::string start = npy(head, {});
    file.write(start.data(), static_cast<qint64>(start.size()));
    QVERIFY(file.resize(static_cast<qint64>(start.size()) + (qint64{131072} * 4096 * 8)));
    file.flush();
    const auto opened = TensorFile::open(
        std::make_shared<std::ifstream>(file.fileName().toStdString(), std::ios::binary), "file");
    QVERIFY(opened);
    const auto rows = opened->matrix(0, {});
    QVERIFY(!rows);
    QVERIFY(toEnglish(rows.error()).find("expected at most 33554432") != std::string::npos);
}

void TestTensorFile::brokenEverywhere_data()
{
    QTest::addColumn<QString>("file");
    for (const char* file : {"q.npy", "heads.npz", "batches.npz", "bfloat16.safetensors"})
        QTest::newRow(file) << file;
}

/// Cut off at any place, or with any byte changed: a sentence or numbers, never a crash, and never other
/// numbers from a zip file, which has checksums.
void TestTensorFile::brokenEverywhere()
{
    QFETCH(QString, file);
    const std::string whole = bytesOf(qPrintable(file));
    const auto tryIt = [](const std::string& bytes) {
        const auto opened = openBytes(bytes);
        if (opened)
            for (std::size_t i = 0; i < opened->tensors().size(); ++i)
                for (const std::vector<std::int64_t>& leading : {std::vector<std::int64_t>{}, {0}, {0, 0}})
                    if (const auto rows = opened->matrix(i, leading))
                        return !rows->values.empty();
        return false;
    };
    QVERIFY(tryIt(whole));
    for (std::size_t length = 0; length < whole.size(); ++length)
        QVERIFY2(!tryIt(whole.substr(0, length)), qPrintable(QString::number(length)));
    for (std::size_t at = 0; at < whole.size(); ++at)
        for (const char change : {'\x01', '\x80', '\xff'}) {
            std::string bytes = whole;
            bytes[at] = static_cast<char>(bytes[at] ^ change);
            tryIt(bytes);
        }
}

QTEST_GUILESS_MAIN(TestTensorFile)
#include "test_tensor_file.moc"
