// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/gguf_metadata.h"

#include "tests/support/gguf_builder.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

using namespace ropewalk;
using ropewalk::test::GgufBuilder;

namespace {

Result<GgufMetadata> read(const std::string& bytes)
{
    std::istringstream file(bytes);
    return readGgufMetadata(file);
}

GgufMetadata good(const std::string& bytes)
{
    Result<GgufMetadata> metadata = read(bytes);
    if (!metadata)
        qFatal("%s", toEnglish(metadata.error()).c_str());
    return std::move(*metadata);
}

template<class T>
T value(const GgufMetadata& metadata, const std::string& key)
{
    const auto found = metadata.values.find(key);
    if (found == metadata.values.end() || !std::holds_alternative<T>(found->second))
        qFatal("%s is missing or of another kind", key.c_str());
    return std::get<T>(found->second);
}

/// A small file with all that a reader meets.
GgufBuilder small(std::uint32_t version = 3)
{
    GgufBuilder file(version);
    file.text("general.architecture", "llama")
        .uint32("llama.rope.dimension_count", 8)
        .float32("llama.rope.freq_base", 500000.0F)
        .texts("tokenizer.ggml.tokens", {"a", "", "ccc"})
        .int32s("llama.rope.dimension_sections", {2, 1, 1, 0})
        .boolean("general.flag", true)
        .describe("blk.0.attn_q.weight", 64, 2, 0)
        .tensor("rope_freqs.weight", {1.0F, 1.0F, 2.5F, 8.0F});
    return file;
}

std::string bigEndian()
{
    std::string bytes = small().bytes();
    bytes.replace(4, 4, std::string("\0\0\0\3", 4));
    return bytes;
}

} // namespace

class TestGgufMetadata : public QObject
{
    Q_OBJECT

private slots:
    void values_data();
    void values();
    void kinds();
    void longListsAreSkipped();
    void alignment();
    void refused_data();
    void refused();
    void brokenOffAnywhere();
    void flippedBytes();
    void largeFileOpensAtOnce();
};

void TestGgufMetadata::values_data()
{
    QTest::addColumn<int>("version");
    QTest::newRow("version 2") << 2;
    QTest::newRow("version 3") << 3;
}

void TestGgufMetadata::values()
{
    QFETCH(int, version);
    const GgufMetadata metadata = good(small(static_cast<std::uint32_t>(version)).bytes());
    QCOMPARE(value<std::string>(metadata, "general.architecture"), std::string("llama"));
    QCOMPARE(value<std::int64_t>(metadata, "llama.rope.dimension_count"), std::int64_t{8});
    QCOMPARE(value<double>(metadata, "llama.rope.freq_base"), 500000.0);
    QCOMPARE(value<GgufList>(metadata, "tokenizer.ggml.tokens").count, std::uint64_t{3});
    QCOMPARE(value<GgufList>(metadata, "llama.rope.dimension_sections").numbers,
             (std::vector<double>{2, 1, 1, 0}));
    QCOMPARE(value<bool>(metadata, "general.flag"), true);
    QCOMPARE(metadata.factors.size(), std::size_t{1}); // of the other tensor nothing is kept
    QCOMPARE(metadata.factors.at("rope_freqs.weight"), (std::vector<double>{1.0, 1.0, 2.5, 8.0}));
}

void TestGgufMetadata::kinds()
{
    GgufBuilder file;
    std::string nested;
    GgufBuilder::number(nested, 9, 4); // a list of two lists of one number each
    GgufBuilder::number(nested, 2, 8);
    for (int i = 0; i < 2; ++i) {
        GgufBuilder::number(nested, 4, 4);
        GgufBuilder::number(nested, 1, 8);
        GgufBuilder::number(nested, 7, 4);
    }
    file.int8("a", -3)
        .uint64("b", 1ULL << 40)
        .uint64("c", ~0ULL)
        .float64("d", 1e-300)
        .raw("e", 9, nested)
        .text("f", std::string(5000, 'x'))
        .text("g", "after");
    const GgufMetadata metadata = good(file.bytes());
    QCOMPARE(value<std::int64_t>(metadata, "a"), std::int64_t{-3});
    QCOMPARE(value<std::int64_t>(metadata, "b"), std::int64_t{1} << 40);
    QCOMPARE(value<double>(metadata, "c"), 18446744073709551615.0);
    QCOMPARE(value<double>(metadata, "d"), 1e-300);
    QCOMPARE(value<GgufList>(metadata, "e").count, std::uint64_t{2});
    QVERIFY(value<GgufList>(metadata, "e").numbers.empty());
    QVERIFY(value<std::string>(metadata, "f").empty());
    QCOMPARE(value<std::string>(metadata, "g"), std::string("after"));
}

void TestGgufMetadata::longListsAreSkipped()
{
    const GgufMetadata metadata =
        good(GgufBuilder().int32s("scores", std::vector<std::int32_t>(5000, 1)).uint32("after", 7).bytes());
    QCOMPARE(value<GgufList>(metadata, "scores").count, std::uint64_t{5000});
    QVERIFY(value<GgufList>(metadata, "scores").numbers.empty());
    QCOMPARE(value<std::int64_t>(metadata, "after"), std::int64_t{7});
}

void TestGgufMetadata::alignment()
{
    // The builder aligns to 32; where the file says 8 the data begins earlier.
    std::string file = "GGUF";
    GgufBuilder::number(file, 3, 4);
    GgufBuilder::number(file, 1, 8);
    GgufBuilder::number(file, 1, 8);
    GgufBuilder::put(file, "general.alignment");
    GgufBuilder::number(file, 4, 4);
    GgufBuilder::number(file, 8, 4);
    GgufBuilder::put(file, "rope_freqs.weight");
    GgufBuilder::number(file, 1, 4);
    GgufBuilder::number(file, 1, 8);
    GgufBuilder::number(file, 0, 4);
    GgufBuilder::number(file, 8, 8);
    file.resize((file.size() + 7) / 8 * 8 + 8, '\0');
    GgufBuilder::number(file, std::bit_cast<std::uint32_t>(4.0F), 4);
    QCOMPARE(good(file).factors.at("rope_freqs.weight"), std::vector<double>{4.0});
}

void TestGgufMetadata::refused_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("word");
    const auto row = [](const char* name, const std::string& bytes, const char* word) {
        QTest::newRow(name) << QByteArray::fromStdString(bytes) << word;
    };
    const auto listOf = [](std::uint32_t type, std::uint64_t count) {
        std::string bytes;
        GgufBuilder::number(bytes, type, 4);
        GgufBuilder::number(bytes, count, 8);
        return bytes;
    };
    std::string nested;
    for (int i = 0; i < 6; ++i)
        nested += listOf(9, 1);
    nested += std::string(64, '\0');
    std::string counts = "GGUF";
    GgufBuilder::number(counts, 3, 4);
    std::string manyTensors = counts;
    GgufBuilder::number(counts, 0, 8);
    GgufBuilder::number(counts, ~0ULL, 8);
    GgufBuilder::number(manyTensors, ~0ULL, 8);
    GgufBuilder::number(manyTensors, 0, 8);
    std::string longText;
    GgufBuilder::number(longText, ~0ULL, 8);
    row("empty", "", "breaks off");
    row("another file", "PK\3\4 and so on", "GGUF");
    row("version 1", GgufBuilder(1).bytes(), "version 1");
    row("version 4", GgufBuilder(4).bytes(), "version 4");
    row("big-endian", bigEndian(), "big-endian");
    row("more keys than bytes", counts, "keys");
    row("more tensors than bytes", manyTensors, "tensors");
    row("a text longer than the file", GgufBuilder().raw("k", 8, longText).bytes(), "breaks off");
    row("a list longer than the file", GgufBuilder().raw("k", 9, listOf(4, ~0ULL)).bytes(), "breaks off");
    row("a list of texts longer than the file", GgufBuilder().raw("k", 9, listOf(8, ~0ULL)).bytes(),
        "breaks off");
    row("an unknown type", GgufBuilder().raw("k", 13, std::string(16, '\0')).bytes(), "type 13");
    row("a list of an unknown type", GgufBuilder().raw("k", 9, listOf(99, 1)).bytes(), "type 99");
    row("nested too deep", GgufBuilder().raw("k", 9, nested).bytes(), "nested");
    row("a key without a name", GgufBuilder().uint32("", 1).bytes(), "name of a key");
    row("a key twice", GgufBuilder().uint32("k", 1).uint32("k", 2).bytes(), "twice");
    row("a tensor twice",
        GgufBuilder().tensor("rope_freqs.weight", {1.0F}).tensor("rope_freqs.weight", {1.0F}).bytes(),
        "twice");
    row("alignment 3",
        GgufBuilder().uint32("general.alignment", 3).tensor("rope_freqs.weight", {1.0F}).bytes(),
        "alignment");
    row("alignment 0",
        GgufBuilder().uint32("general.alignment", 0).tensor("rope_freqs.weight", {1.0F}).bytes(),
        "alignment");
    row("another type of numbers", GgufBuilder().describe("rope_freqs.weight", 4, 1, 0).bytes(), "F32");
    row("no numbers", GgufBuilder().describe("rope_freqs.weight", 0, 0, 0).bytes(), "one number a pair");
    row("too many numbers", GgufBuilder().describe("rope_freqs.weight", 1ULL << 62, 0, 0).bytes(),
        "one number a pair");
    row("data past the end", GgufBuilder().describe("rope_freqs.weight", 4, 0, ~0ULL - 8).bytes(),
        "breaks off within the tensor rope_freqs.weight");
    row("a factor of 0", GgufBuilder().tensor("rope_freqs.weight", {1.0F, 0.0F}).bytes(), "above 0");
    row("a factor that is no number",
        GgufBuilder().tensor("rope_freqs.weight", {std::bit_cast<float>(0x7fc00000U)}).bytes(), "finite");
}

void TestGgufMetadata::refused()
{
    QFETCH(QByteArray, bytes);
    QFETCH(QString, word);
    const Result<GgufMetadata> metadata = read(bytes.toStdString());
    QVERIFY(!metadata);
    QCOMPARE(metadata.error().code, ErrorCode::BadInput);
    const QString sentence = QString::fromStdString(toEnglish(metadata.error()));
    QVERIFY2(sentence.contains(word), qPrintable(sentence));
}

void TestGgufMetadata::brokenOffAnywhere()
{
    const std::string whole = small().bytes();
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const Result<GgufMetadata> metadata = read(whole.substr(0, length));
        QVERIFY2(!metadata, qPrintable(QString::number(length)));
        const std::string sentence = toEnglish(metadata.error());
        QVERIFY2(sentence.find("breaks off") != std::string::npos ||
                     sentence.find("more than the file can hold") != std::string::npos,
                 sentence.c_str());
    }
    QVERIFY(read(whole).hasValue());
}

void TestGgufMetadata::flippedBytes()
{
    // Whatever a byte becomes, there is an answer, and no more memory than the file justifies.
    const std::string whole = small().bytes();
    std::mt19937 random(5);
    for (std::size_t at = 0; at < whole.size(); ++at)
        for (const int change : {1, 0x80, 0xff, static_cast<int>(random() & 0xff)}) {
            std::string bytes = whole;
            bytes[at] = static_cast<char>(bytes[at] ^ change);
            const Result<GgufMetadata> metadata = read(bytes);
            if (!metadata)
                QVERIFY(!toEnglish(metadata.error()).empty());
        }
    for (int round = 0; round < 3000; ++round) {
        std::string bytes = whole;
        for (int i = 0; i < 8; ++i)
            bytes[random() % bytes.size()] = static_cast<char>(random());
        bytes.resize(random() % (bytes.size() + 1));
        const Result<GgufMetadata> metadata = read(bytes);
        if (!metadata)
            QVERIFY(!toEnglish(metadata.error()).empty());
    }
}

void TestGgufMetadata::largeFileOpensAtOnce()
{
    QTemporaryDir folder;
    const std::string path = folder.filePath("large.gguf").toStdString();
    constexpr std::uint64_t kSize = 40ULL << 30;
    GgufBuilder builder;
    builder.text("general.architecture", "llama")
        .texts("tokenizer.ggml.tokens", std::vector<std::string>(128000, "token"))
        .describe("rope_freqs.weight", 2, 0, kSize - (8ULL << 20));
    const std::string head = builder.bytes();
    std::ofstream(path, std::ios::binary) << head;
    std::error_code error;
    std::filesystem::resize_file(path, kSize, error); // a sparse file: nothing is written
    if (error)
        QSKIP("this file system has no sparse files of 40 GB");
    {
        std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(static_cast<std::streamoff>((head.size() + 31) / 32 * 32 + kSize - (8ULL << 20)));
        std::string data;
        GgufBuilder::number(data, std::bit_cast<std::uint32_t>(3.0F), 4);
        GgufBuilder::number(data, std::bit_cast<std::uint32_t>(5.0F), 4);
        file << data;
    }
    QElapsedTimer timer;
    timer.start();
    std::ifstream file(path, std::ios::binary);
    const Result<GgufMetadata> metadata = readGgufMetadata(file);
    const qint64 elapsed = timer.elapsed();
    QVERIFY2(metadata.hasValue(), metadata ? "" : toEnglish(metadata.error()).c_str());
    QCOMPARE(metadata->factors.at("rope_freqs.weight"), (std::vector<double>{3.0, 5.0}));
    // A few milliseconds; with room for a busy machine and a sanitizer. Reading 40 GB takes far longer.
    QVERIFY2(elapsed < 1000, qPrintable(QString::number(elapsed)));
}

QTEST_APPLESS_MAIN(TestGgufMetadata)
#include "test_gguf_metadata.moc"
