// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/encoding_file.h"
#include "tests/support/tensor_bytes.h"

#include <QtTest>

#include <limits>
#include <sstream>

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

TensorFile opened(std::string bytes, const std::string& name = "folder/file.npy")
{
    Result<TensorFile> file = TensorFile::open(std::make_shared<std::istringstream>(std::move(bytes)), name);
    if (!file)
        qFatal("%s", toEnglish(file.error()).c_str());
    return std::move(*file);
}

/// One tensor of a .safetensors file of float32 numbers.
struct Named
{
    std::string name, shape;
    std::vector<float> values;
};

TensorFile openedTensors(const std::vector<Named>& tensors)
{
    std::string head, numbers;
    for (const Named& tensor : tensors) {
        const std::string begin = std::to_string(numbers.size());
        numbers += floats(tensor.values);
        head += (head.empty() ? "{\"" : ",\"") + tensor.name +
                "\":{\"dtype\":\"F32\",\"shape\":" + tensor.shape + ",\"data_offsets\":[" + begin + "," +
                std::to_string(numbers.size()) + "]}";
    }
    return opened(safetensors(head + "}", numbers), "model.safetensors");
}

template<class T>
QString sentence(const Result<T>& result)
{
    return result ? QString() : QString::fromStdString(toEnglish(result.error()));
}

} // namespace

class TestEncodingFile : public QObject
{
    Q_OBJECT
private slots:
    void learnedRows()
    {
        const auto rows = readLearnedRows(opened(npyOf("(3, 2)", {1, 2, 3, 4, 5, 6})));
        QVERIFY2(rows, qPrintable(sentence(rows)));
        QCOMPARE(rows->name, std::string("file.npy"));
        QCOMPARE(rows->rows, 3);
        QCOMPARE(rows->width, 2);
        QVERIFY(rows->values == (std::vector<double>{1, 2, 3, 4, 5, 6}));
        // A batch of one, and an odd width: nothing has to pair here.
        const auto batch = readLearnedRows(opened(npyOf("(1, 2, 3)", {1, 2, 3, 4, 5, 6})));
        QVERIFY(batch && batch->rows == 2 && batch->width == 3);
        // Among other tensors by the name that models give it.
        const auto named = readLearnedRows(openedTensors({{"transformer.wte.weight", "[2,2]", {9, 9, 9, 9}},
                                                          {"transformer.wpe.weight", "[1,2]", {7, 8}}}));
        QVERIFY2(named && named->rows == 1 && named->values[1] == 8.0, qPrintable(sentence(named)));
    }

    void learnedRefused_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char* name, const std::string& bytes, const char* expected) {
            QTest::newRow(name) << QByteArray::fromStdString(bytes) << expected;
        };
        const float nan = std::numeric_limits<float>::quiet_NaN();
        const float infinite = std::numeric_limits<float>::infinity();
        row("a vector", npyOf("(4,)", {1, 2, 3, 4}),
            "folder/file.npy has the shape [4]; expected [positions, width], a row for each "
            "position");
        row("a batch of two", npyOf("(2, 1, 2)", {1, 2, 3, 4}),
            "folder/file.npy has the shape [2, 1, 2]; expected [positions, width], a row "
            "for "
            "each position");
        row("no rows", npyOf("(0, 2)", {}),
            "folder/file.npy has the shape [0, 2]; expected [positions, width], a row for "
            "each position");
        row("not finite", npyOf("(2, 2)", {1, nan, infinite, 4}),
            "folder/file.npy is NaN or infinite at 2 of 4 places; expected finite numbers");
        row("too wide", npyOf("(1, 70000)", std::vector<float>(70000)),
            "folder/file.npy has the shape [1, 70000]; expected at most 131\u202f072 positions and a width "
            "of "
            "65\u202f536");
        row("whole numbers",
            npy("{'descr': '<i4', 'fortran_order': False, 'shape': (1, 2), }", floats({1, 2})),
            "folder/file.npy is of type <i4; expected float16, bfloat16, float32 or "
            "float64");
        row("Fortran order",
            npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }", floats({1, 2})),
            "folder/file.npy is in Fortran order; expected C order, as "
            "numpy.ascontiguousarray gives it");
        row("big-endian", npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1, 2), }", floats({1, 2})),
            "folder/file.npy is big-endian (float32); expected a little-endian one");
    }
    void learnedRefused()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, expected);
        QCOMPARE(sentence(readLearnedRows(opened(bytes.toStdString()))), expected);
    }

    void learnedAmongOthers()
    {
        QCOMPARE(sentence(readLearnedRows(openedTensors({{"a", "[1,1]", {1}}, {"b", "[1,1]", {2}}}))),
                 QString("model.safetensors: the file has no tensor named wpe, position_embeddings or "
                         "positions; it has a, b"));
        QCOMPARE(sentence(readLearnedRows(
                     openedTensors({{"wpe", "[1,1]", {1}}, {"encoder.wpe.weight", "[1,1]", {2}}}))),
                 QString("model.safetensors: the file has several tensors named wpe, position_embeddings or "
                         "positions; expected those of one layer"));
    }

    /// W_Rᵀv by hand: v of head 1 is (5, 7), and r has rows of the head's channels.
    void transformerXl()
    {
        const Named v{"v", "[2,2]", {1, 2, 5, 7}};
        const Named weight{"r_net.weight", "[4,2]", {1, 0, 0, 1, 10, 20, 30, 40}};
        for (const std::int64_t head : {0, 1}) {
            const auto read = readTransformerXl(openedTensors({v, weight}), nullptr, head);
            QVERIFY2(read, qPrintable(sentence(read)));
            QVERIFY(read->projected == (head == 0 ? std::vector<double>{1, 2}
                                                  : std::vector<double>{5 * 10 + 7 * 30, 5 * 20 + 7 * 40}));
            QCOMPARE(read->heads, std::int64_t{2});
            QVERIFY(!read->hasContentBias && !read->isGiven);
        }
        // XLNet's r is [d_model, heads, d_h]: the same numbers, otherwise in a row.
        const Named ofHeads{"r", "[2,2,2]", {1, 0, 10, 30, 0, 1, 20, 40}};
        const auto same = readTransformerXl(openedTensors({{"layer.0.r_r_bias", "[2,2]", {1, 2, 5, 7}},
                                                           {"layer.0.r_w_bias", "[2,2]", {0, 0, 0, 0}},
                                                           {"layer.0.r", "[2,2,2]", ofHeads.values}}),
                                            nullptr, 1);
        QVERIFY2(same, qPrintable(sentence(same)));
        QVERIFY(same->projected == (std::vector<double>{260, 380}));
        QVERIFY(same->hasContentBias);
        // v and r in a .npy each, and their product alone.
        const TensorFile r = opened(npyOf("(2, 4)", {1, 2, 3, 4, 0, 0, 1, 0}), "r.npy");
        const auto two = readTransformerXl(opened(npyOf("(2,)", {2, 3})), &r, 0);
        QVERIFY2(two && two->projected == (std::vector<double>{2, 4, 9, 8}), qPrintable(sentence(two)));
        const auto product = readTransformerXl(opened(npyOf("(2, 4)", {1, 2, 3, 4, 5, 6, 7, 8})), nullptr, 1);
        QVERIFY(product && product->isGiven && product->projected == (std::vector<double>{5, 6, 7, 8}));
    }

    void transformerXlRefused()
    {
        const Named v{"v", "[2,2]", {1, 2, 5, 7}};
        const Named r{"r", "[4,2]", {1, 0, 0, 1, 10, 20, 30, 40}};
        const auto refused = [](const std::vector<Named>& tensors, std::int64_t head = 0) {
            return sentence(readTransformerXl(openedTensors(tensors), nullptr, head));
        };
        QCOMPARE(refused({v, r}), QString());
        QCOMPARE(refused({v, r}, 2),
                 QString("model.safetensors: transformer_xl_head is 2; v has 2, expected 0 to 1"));
        QCOMPARE(
            refused({v, {"x", "[1]", {1}}}),
            QString("model.safetensors: the file has no tensor named r, W_R or r_net.weight; it has v, x"));
        QCOMPARE(refused({r, {"x", "[1]", {1}}}),
                 QString("model.safetensors: the file has no tensor named v or r_r_bias; it has r, x"));
        QCOMPARE(
            refused({v, {"r", "[3,2]", {1, 2, 3, 4, 5, 6}}}),
            QString("model.safetensors: r has the shape [3, 2]; expected [4, d_model] or [d_model, 2, 2], "
                    "as v is [2, 2]"));
        QCOMPARE(
            refused({v, {"r", "[4,1]", {1, 2, 3, 4}}}),
            QString("model.safetensors: d_model is 1; expected an even number up to 65\u202f536, one half "
                    "for the sines and one for the cosines"));
        QCOMPARE(refused({v, r, {"u", "[2]", {1, 2}}}),
                 QString("model.safetensors: u has the shape [2]; expected [2, 2], as that of v"));
        QCOMPARE(
            refused({v, {"r", "[4,2]", {1, 0, 0, 1, 10, 20, 30, HUGE_VALF}}}),
            QString("model.safetensors: r is NaN or infinite at 1 of 8 places; expected finite numbers"));
        QCOMPARE(
            sentence(readTransformerXl(opened(npyOf("(3,)", {1, 2, 3})), nullptr, 0)),
            QString("folder/file.npy: d_model is 3; expected an even number up to 65\u202f536, one half for "
                    "the sines and one for the cosines"));
        QCOMPARE(sentence(readTransformerXl(opened(npyOf("(2,)", {1, 2})), nullptr, 1)),
                 QString("transformer_xl_head is 1; folder/file.npy has one, expected 0"));
        // Beyond what double precision holds only numbers of a file in double precision go.
        const TensorFile large = opened(npyOfDoubles("(1, 2)", {1e200, 1e200}), "r.npy");
        const TensorFile own = opened(npyOfDoubles("(1,)", {1e200}), "v.npy");
        QCOMPARE(sentence(readTransformerXl(own, &large, 0)),
                 QString("v.npy: rᵀv is beyond the range of double precision; expected smaller numbers"));
        QCOMPARE(sentence(readTransformerXl(opened(npyOf("(1, 1, 2)", {1, 2})), nullptr, 0)),
                 QString("folder/file.npy has the shape [1, 1, 2]; expected [width] or "
                         "[heads, width]"));
    }
};

QTEST_APPLESS_MAIN(TestEncodingFile)
#include "test_encoding_file.moc"
