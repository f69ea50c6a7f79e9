// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/sources.h"
#include "app/document.h"
#include "app/main_window.h"
#include "app/presets.h"
#include "app/tensors.h"
#include "core/config_keys.h"
#include "core/cpu_backend.h"
#include "core/figure_catalog.h"
#include "tests/support/tensor_bytes.h"
#include "widgets/panels/figure_panel.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace ropewalk;

namespace {

QString data(const char* file)
{
    return QStringLiteral(ROPEWALK_TEST_DATA "/tensors/") + file;
}

TensorChoice builtin(const std::string& name)
{
    TensorChoice choice;
    choice.file = "builtin:" + name;
    return choice;
}

Arguments settings(const QStringList& list, const char* preset = "smollm2-135m")
{
    Arguments arguments;
    arguments.options["--preset"] = QStringList{QLatin1String(preset)};
    arguments.options["--set"] = list;
    return arguments;
}

QString sentence(const Result<FigureSource>& source)
{
    return source ? QString() : QString::fromStdString(toEnglish(source.error()));
}

Session sessionWith(TensorChoice choice)
{
    Session session;
    SessionConfiguration shown;
    shown.config.headDim = shown.config.rotaryDim = 64;
    session.configurations.push_back(shown);
    session.options.content = Content::File;
    session.options.tensorChoice = std::move(choice);
    return session;
}

} // namespace

class TestTensors : public QObject
{
    Q_OBJECT
private slots:
    void builtins();
    void builtinHeadsDoWhatTheyAreCalled();
    void keys();
    void commandLine();
    void sessions();
    void sessionWhoseFileIsGone();
    void encodings();
    void filesInOneFolder();
    void inTheWindow();
};

void TestTensors::builtins()
{
    const std::vector<BuiltinTensors> list = builtinTensors();
    QVERIFY(list.size() >= 3);
    qint64 bytes = 0;
    for (const BuiltinTensors& one : list) {
        const Result<HeadTensors> tensors = openTensors(builtin(one.name));
        QVERIFY2(tensors, one.name.c_str());
        QCOMPARE(tensors->headDim, 64);
        QCOMPARE(tensors->tokens, std::int64_t{512});
        QCOMPARE(tensors->tokenTexts.size(), std::size_t{512});
        QCOMPARE(tensors->tokenTexts.front(), std::string("Alice"));
        QCOMPARE(tensors->precision, std::string("float16"));
        QCOMPARE(tensors->weights, std::string("4-bit weights"));
        QCOMPARE(tensors->licence, std::string("Apache-2.0"));
        QVERIFY(tensors->layout == Layout::Interleaved);
        QCOMPARE(tensors->base.value_or(0.0), 1e5);
        QCOMPARE(tensors->notFinite, std::int64_t{0});
        QVERIFY(one.title.find("SmolLM2-135M-Instruct, layer ") == 0);
        bytes += QFile(":/ropewalk/tensors/" + QString::fromStdString(one.name) + ".safetensors").size();
    }
    QVERIFY(bytes > 0 && bytes < 1'000'000);
    const Result<HeadTensors> unknown = openTensors(builtin("smollm2-snik"));
    QVERIFY(!unknown);
    QVERIFY(toEnglish(unknown.error()).find("nearest known are smollm2-sink") != std::string::npos);
}

/// The attention that the figures make of them, with the model's own rotation, is what each was chosen for.
void TestTensors::builtinHeadsDoWhatTheyAreCalled()
{
    RopeConfig config;
    config.headDim = config.rotaryDim = 64;
    config.base = 1e5;
    config.layout = Layout::Half; // not the file's
    FigureOptions options;
    options.content = Content::File;
    const auto attention = [&](const char* name,
                               const std::function<bool(std::int64_t, std::int64_t)>& counts) {
        const Result<HeadTensors> tensors = openTensors(builtin(name));
        options.tensors = std::make_shared<const HeadTensors>(*tensors);
        const Result<ContentSource> source = ContentSource::make(options, config);
        std::vector<double> q(512 * 64), k(q.size());
        source->queries(0, q);
        source->keys(0, k);
        for (std::vector<double>* rows : {&q, &k})
            for (std::size_t p = 0; p < 512; ++p)
                for (std::size_t i = 0; i < 32; ++i) {
                    const double angle =
                        static_cast<double>(p) * std::pow(1e5, -static_cast<double>(i) / 32.0);
                    double& a = (*rows)[p * 64 + i];
                    double& b = (*rows)[p * 64 + i + 32];
                    const double turned = a * std::cos(angle) - b * std::sin(angle);
                    b = a * std::sin(angle) + b * std::cos(angle);
                    a = turned;
                }
        double share = 0.0;
        for (std::size_t m = 256; m < 512; ++m) { // as the list that they were chosen from counts them
            std::vector<double> logits;
            for (std::size_t n = 0; n <= m; ++n) {
                double score = 0.0;
                for (std::size_t c = 0; c < 64; ++c)
                    score += q[m * 64 + c] * k[n * 64 + c];
                logits.push_back(score / 8.0);
            }
            const double most = *std::max_element(logits.begin(), logits.end());
            double sum = 0.0, counted = 0.0;
            for (std::size_t n = 0; n <= m; ++n) {
                const double weight = std::exp(logits[n] - most);
                sum += weight;
                if (counts(static_cast<std::int64_t>(m), static_cast<std::int64_t>(n)))
                    counted += weight;
            }
            share += counted / sum / 256.0;
        }
        return share;
    };
    const auto is = [](double share, double expected) { return std::fabs(share - expected) < 0.002; };
    QVERIFY(is(attention("smollm2-previous-token", [](auto m, auto n) { return n == m - 1; }), 0.776));
    QVERIFY(is(attention("smollm2-sink", [](auto, auto n) { return n == 0; }), 1.000));
    const auto text = [&](std::int64_t at) {
        return options.tensors->tokenTexts[static_cast<std::size_t>(at)];
    };
    QVERIFY(is(attention("smollm2-same-token", [&](auto m, auto n) { return n < m && text(m) == text(n); }),
               0.249));
    QVERIFY(is(attention("smollm2-induction",
                         [&](auto m, auto n) { return n > 0 && n < m && text(m) == text(n - 1); }),
               0.246));
}

void TestTensors::keys()
{
    std::vector<FigureConfiguration> shown(1);
    FigureOptions options;
    const auto set = [&](const std::vector<Setting>& list) {
        return applySettings(list, shown, options).hasValue();
    };
    QVERIFY(set({{"", "tensors", "a.npz"}, {"", "head", "3"}, {"", "q_tensor", "x"}}));
    QVERIFY(options.content == Content::File);
    QCOMPARE(options.tensorChoice.file, std::string("a.npz"));
    QCOMPARE(options.tensorChoice.head, std::int64_t{3});
    QCOMPARE(options.tensorChoice.queryTensor, std::string("x"));
    QVERIFY(set({{"", "q", "q.npy"}, {"", "k", "k.npy"}}));
    QVERIFY(options.tensorChoice.file.empty());
    QVERIFY(set({{"", "content", "ones"}, {"", "tensors", "b.npz"}})); // what is said outright counts
    QVERIFY(options.content == Content::Ones);
    QVERIFY(options.tensorChoice.queryFile.empty());
    QVERIFY(!set({{"", "head", "-1"}}));
    QVERIFY(!set({{"A", "tensors", "x"}}));
}

void TestTensors::commandLine()
{
    const Result<FigureSource> plain = openSource(settings({"content=file"}));
    QVERIFY2(plain, qPrintable(sentence(plain)));
    QVERIFY(plain->options.tensors &&
            plain->options.tensors->name == "SmolLM2-135M-Instruct, layer 16, head 0");
    const Result<FigureSource> two =
        openSource(settings({"q=" + data("q.npy"), "k=" + data("k.npy"), "head_dim=4"}));
    QVERIFY2(two, qPrintable(sentence(two)));
    QCOMPARE(two->options.tensors->name, std::string("q.npy, head 0"));
    QVERIFY(!openSource(settings({"content=ones"}))->options.tensors);
    QVERIFY(sentence(openSource(settings({"tensors=/no/such.npz"})))
                .startsWith("/no/such.npz: there is no such file"));
    QVERIFY(sentence(openSource(settings({"tensors=/"}))).contains("not a file"));
    QVERIFY(sentence(openSource(settings({"q=" + data("q.npy")}))).contains("q is given without k"));
    QVERIFY(sentence(openSource(settings({"tensors=" + data("heads.npz"), "head=4"})))
                .contains("expected 0 to 3"));
    // Nothing is guessed of what is empty.
    QVERIFY(sentence(openSource(settings({"tensors="})))
                .contains("tensors is empty; expected a file, or builtin:NAME"));
    QVERIFY(
        sentence(openSource(settings({"q=", "k=" + data("k.npy")}))).contains("q is empty; expected a file"));
    QVERIFY(sentence(openSource(settings({"tensors=builtin:"})))
                .startsWith("builtin: names no tensors; expected one of smollm2-"));
    QVERIFY(isTensorFile(data("q.npy")) && isTensorFile(data("heads.npz")) &&
            isTensorFile(data("bfloat16.safetensors")));
    QVERIFY(!isTensorFile(QStringLiteral(ROPEWALK_TEST_DATA "/reference.json")));
}

void TestTensors::sessions()
{
    TensorChoice choice = builtin("smollm2-sink");
    choice.queryTensor = "q";
    choice.head = 0;
    const std::string text = sessionToJson(sessionWith(choice));
    const Result<SessionReading> reading = sessionFromJson(text);
    QVERIFY(reading && reading->notes.empty());
    QVERIFY(reading->session.options.tensorChoice == choice);
    QCOMPARE(sessionToJson(reading->session), text);
    // Who names none has none in the file.
    QVERIFY(sessionToJson(sessionWith({})).find("\"tensors\"") == std::string::npos);
    std::string wrong = text;
    wrong.replace(wrong.find("\"head\": 0"), 9, "\"head\": -1");
    const Result<SessionReading> refused = sessionFromJson(wrong);
    QVERIFY(!refused);
    QVERIFY(toEnglish(refused.error()).find("options.tensors.head is -1") != std::string::npos);

    QTemporaryDir folder;
    Document document(sessionWith(choice));
    QVERIFY(document.saveTo(folder.filePath("a.json")));
    const auto notes = document.openSession(folder.filePath("a.json"));
    QVERIFY(notes && notes->empty());
    QVERIFY(document.session().options.tensors);
    QVERIFY(!document.isModified());
}

void TestTensors::sessionWhoseFileIsGone()
{
    QTemporaryDir folder;
    TensorChoice choice;
    choice.file = folder.filePath("gone.npz").toStdString();
    Document document(sessionWith(choice));
    QVERIFY(document.saveTo(folder.filePath("a.json")));
    const auto notes = document.openSession(folder.filePath("a.json"));
    QVERIFY(notes);
    QCOMPARE(notes->size(), std::size_t{1});
    QVERIFY(toEnglish(notes->front().text).find("gone.npz: there is no such file") != std::string::npos);
    QVERIFY(!document.session().options.tensors);
    QVERIFY(document.session().options.tensorChoice == choice); // and saved again it is still there
}

/// The files that the figure `encodings` reads: from the command line, in a session, in the window.
void TestTensors::encodings()
{
    QTemporaryDir folder;
    const auto write = [&](const char* name, const std::string& bytes) {
        QFile file(folder.filePath(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes.data(), std::ssize(bytes)) < 0)
            qFatal("cannot write %s", name);
        return file.fileName();
    };
    const QString table = write("wpe.npy", test::npyOf("(3, 2)", {1, 0, 0, 2, 3, 1}));
    const QString v = write("v.npy", test::npyOf("(2, 2)", {1, 0, 0, 1}));
    const QString r = write("r.npy", test::npyOf("(4, 2)", {1, 2, 3, 4, 5, 6, 7, 8}));
    const QStringList all{"learned_file=" + table, "transformer_xl_file=" + v, "transformer_xl_r_file=" + r,
                          "transformer_xl_head=1"};
    const Result<FigureSource> source = openSource(settings(all));
    QVERIFY2(source, qPrintable(sentence(source)));
    QVERIFY(!source->options.tensors); // q and k are what they were
    const auto& read = source->options.encodingTensors;
    QVERIFY(read && read->learned->width == 2 && read->learned->rows == 3);
    QVERIFY(read->transformerXl->projected == (std::vector<double>{7, 8}));
    // One sentence where something is wrong.
    QVERIFY(sentence(openSource(settings({"learned_file=/no/such.npy"})))
                .startsWith("/no/such.npy: there is no such file"));
    QVERIFY(
        sentence(openSource(settings({"transformer_xl_r_file=" + r}))).contains("transformer_xl_file, too"));
    QVERIFY(sentence(openSource(settings({"transformer_xl_file=" + v, "transformer_xl_head=2"})))
                .contains("expected 0 to 1"));
    QVERIFY(sentence(openSource(settings({"learned_file=" + QString(2001, u'x')})))
                .contains("expected a path of at most 2000 bytes"));
    const QString cut = write("cut.npy", test::npyOf("(3, 2)", {1, 2, 3}));
    QVERIFY(sentence(openSource(settings({"learned_file=" + cut}))).contains("needs 24"));
    // A session keeps the paths; one whose file is gone opens, and says so.
    Session session = sessionWith({});
    session.options.content = Content::Ones;
    session.options.settings = source->options.settings;
    Document document(session);
    QVERIFY(document.saveTo(folder.filePath("a.json")));
    QVERIFY(document.openSession(folder.filePath("a.json"))->empty());
    QVERIFY(document.session().options.encodingTensors->learned);
    QFile::remove(table);
    const auto notes = document.openSession(folder.filePath("a.json"));
    QVERIFY(notes && notes->size() == 1 &&
            toEnglish(notes->front().text).find("wpe.npy: there is no such file") != std::string::npos);
    QVERIFY(!document.session().options.encodingTensors);
    QVERIFY(document.session().options.settings == source->options.settings);
    // In the window a file that cannot be read changes nothing.
    std::vector<std::unique_ptr<ComputeBackend>> backends;
    backends.push_back(makeCpuBackend());
    MainWindow window(std::make_unique<Engine>(std::move(backends)), loadPresets(), loadReferences(),
                      AppSettings());
    window.document().setFigure("encodings");
    const FigureOptions before = window.document().session().options;
    const auto choose = [&](const QString& path) {
        FigureOptions edited = window.document().session().options;
        if (!edited.settings.set("transformer_xl_file", path.toStdString()))
            qFatal("no path");
        emit window.figurePanel().optionsEdited(edited);
    };
    choose(folder.filePath("cut.npy"));
    QVERIFY(window.document().session().options == before);
    choose(v);
    QVERIFY(window.document().session().options.encodingTensors->transformerXl->isGiven);
    choose({});
    QVERIFY(window.document().session().options == before);
}

void TestTensors::filesInOneFolder()
{
    QTemporaryDir folder;
    QFile::copy(data("q.npy"), folder.filePath("q.npy"));
    QCOMPARE(choiceForFile(folder.filePath("q.npy")).file, folder.filePath("q.npy").toStdString());
    QFile::copy(data("k.npy"), folder.filePath("k.npy"));
    for (const char* name : {"q.npy", "k.npy"}) {
        const TensorChoice both = choiceForFile(folder.filePath(name));
        QVERIFY(both.file.empty());
        QCOMPARE(both.queryFile, folder.filePath("q.npy").toStdString());
        QCOMPARE(both.keyFile, folder.filePath("k.npy").toStdString());
    }
    QVERIFY(openTensors(choiceForFile(folder.filePath("k.npy"))));
}

void TestTensors::inTheWindow()
{
    std::vector<std::unique_ptr<ComputeBackend>> backends;
    backends.push_back(makeCpuBackend());
    MainWindow window(std::make_unique<Engine>(std::move(backends)), loadPresets(), loadReferences(),
                      AppSettings());
    const FigureOptions before = window.document().session().options;
    // No configuration has a head of 4 channels: one sentence, and nothing changes.
    QVERIFY(!window.openFile(data("heads.npz")));
    QVERIFY(window.document().session().options == before);
    QVERIFY(!window.openFile(data("fortran.npy")));
    QVERIFY(window.document().session().options == before);
    auto list = window.document().session().configurations;
    list.front().config.headDim = list.front().config.rotaryDim = 4;
    window.document().editConfigurations(list, 0, "head_dim");
    QVERIFY(window.openFile(data("heads.npz")));
    const FigureOptions& after = window.document().session().options;
    QVERIFY(after.content == Content::File && after.tensors && after.tensors->headDim == 4);
    QVERIFY(after.m <= 4 && after.n <= 4); // it has rows for five tokens only
}

QTEST_MAIN(TestTensors)
#include "test_tensors.moc"
