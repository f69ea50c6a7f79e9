// SPDX-License-Identifier: GPL-3.0-or-later
// The table of layers in the README, enforced: who includes what.
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QtTest>

namespace {

/// Where an include leads: one of the program's folders, or a library.
enum Target {
    App,
    Widgets,
    Gpu,
    Kernels,
    Core,
    RopeMath,
    Resources,
    Standard,
    Qt,
    Plot,
    Json,
    Eigen,
    Zlib,
    Cuda,
    Unknown
};

const QMap<Target, QString> kTargetNames{{App, "app/"},
                                         {Widgets, "widgets/"},
                                         {Gpu, "gpu/"},
                                         {Kernels, "gpu/kernels/"},
                                         {Core, "core/"},
                                         {RopeMath, "core/rope_math.h"},
                                         {Resources, "resources/"},
                                         {Standard, "standard"},
                                         {Qt, "Qt"},
                                         {Plot, "QCustomPlot"},
                                         {Json, "nlohmann_json"},
                                         {Eigen, "Eigen"},
                                         {Zlib, "zlib"},
                                         {Cuda, "CUDA"},
                                         {Unknown, "an unknown library"}};

/// One row of the table: files under `folder` (the longest match counts) may include these.
struct Layer
{
    QString folder;
    QSet<Target> inHeaders;     ///< allowed in headers and sources
    QSet<Target> inSourcesOnly; ///< allowed in sources besides
};

const QList<Layer> kLayers{
    {"core/", {Core, RopeMath, Standard}, {Eigen, Json, Zlib}},
    // Private to the kernels: compiled once for each instruction set, seen by nobody else.
    {"core/kernels/", {Core, RopeMath, Standard, Eigen}, {}},
    {"gpu/kernels/", {Kernels, RopeMath, Standard, Cuda}, {}},
    {"gpu/", {Gpu, Core, RopeMath, Standard}, {Kernels, Cuda}},
    {"widgets/plot/", {Widgets, Core, RopeMath, Standard, Qt}, {Plot}},
    {"widgets/", {Widgets, Core, RopeMath, Standard, Qt}, {}},
    {"app/", {App, Widgets, Gpu, Core, RopeMath, Standard, Qt}, {Json}},
    {"resources/", {Resources, Standard, Qt}, {}},
};

bool isHeader(const QString& path)
{
    return path.endsWith(".h") || path.endsWith(".cuh");
}

Target folderOf(const QString& path)
{
    if (path == "core/rope_math.h")
        return RopeMath;
    if (path.startsWith("gpu/kernels/"))
        return Kernels;
    for (const Target target : {App, Widgets, Gpu, Core, Resources})
        if (path.startsWith(kTargetNames[target]))
            return target;
    return Unknown;
}

/// `path` is the including file, from the root; `name` as it stands between quotes or angle brackets.
Target targetOf(const QString& path, const QString& name, bool isQuoted)
{
    static const QRegularExpression qt(
        "^(Q[A-Z]\\w*|Qt\\w*)(/.*|\\.h)?$|^q[a-z]+\\.h$|^ui_\\w+\\.h$|\\.moc$|^moc_");
    static const QRegularExpression cuda("^(cuda|cublas|cub/|thrust/|device_launch|curand|nv)");
    static const QRegularExpression standard(
        "^[a-z_0-9]+$|^(sys|linux)/\\w+\\.h$|"
        "^(unistd|dlfcn|pthread|sched|signal|langinfo|malloc|emmintrin|immintrin)\\.h$");
    if (name == "qcustomplot.h")
        return Plot;
    if (isQuoted) {
        if (const Target target = folderOf(name); target != Unknown)
            return target;
        if (qt.match(name).hasMatch())
            return Qt;
        const Target neighbour = folderOf(QDir::cleanPath(path.section('/', 0, -2) + '/' + name));
        return neighbour;
    }
    if (name.startsWith("nlohmann/"))
        return Json;
    if (name.startsWith("Eigen/"))
        return Eigen;
    if (name == "zlib.h")
        return Zlib;
    if (cuda.match(name).hasMatch())
        return Cuda;
    if (qt.match(name).hasMatch())
        return Qt;
    return standard.match(name).hasMatch() ? Standard : Unknown;
}

/// What is against the table in one file, a sentence each.
QStringList violations(const QString& path, const QString& text)
{
    const Layer* layer = nullptr;
    for (const Layer& row : kLayers)
        if (path.startsWith(row.folder) && (!layer || row.folder.size() > layer->folder.size()))
            layer = &row;
    if (!layer)
        return {path + " belongs to no layer"};
    QStringList found;
    static const QRegularExpression include("^\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"]");
    static const QRegularExpression cudaSwitch("^\\s*#\\s*(if|ifdef|ifndef|elif)\\b.*CUDA");
    static const QRegularExpression environment("\\b(getenv|qgetenv|qEnvironmentVariable\\w*)\\b");
    const QStringList lines = text.split('\n');
    for (int at = 0; at < lines.size(); ++at) {
        const auto say = [&](const QString& what) {
            found << QString("%1:%2 %3").arg(path).arg(at + 1).arg(what);
        };
        if (const auto match = include.match(lines[at]); match.hasMatch()) {
            const Target target = targetOf(path, match.captured(2), match.captured(1) == "\"");
            const bool isAllowed = layer->inHeaders.contains(target) ||
                                   (!isHeader(path) && layer->inSourcesOnly.contains(target));
            if (!isAllowed)
                say("includes " + match.captured(2) + " (" + kTargetNames[target] + ')');
        }
        if (cudaSwitch.match(lines[at]).hasMatch() && !path.startsWith("gpu/") && path != "core/rope_math.h")
            say("switches on CUDA, which only gpu/ may");
        if (path.startsWith("core/") && environment.match(lines[at]).hasMatch())
            say("reads the environment");
    }
    return found;
}

} // namespace

class TestLayers : public QObject
{
    Q_OBJECT
private slots:
    void samples_data();
    void samples();
    void sources();
};

void TestLayers::samples_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("line");
    QTest::addColumn<bool>("isBroken");
    const auto row = [](const char* path, const char* line, bool isBroken) {
        QTest::addRow("%s: %s", path, line) << path << line << isBroken;
    };
    row("core/engine.cpp", "#include <QString>", true);
    row("core/engine.cpp", "#include <QtCore/QString>", true);
    row("core/engine.h", "#include <qglobal.h>", true);
    row("core/engine.cpp", "#  include \"gpu/cuda_backend.h\"", true);
    row("core/engine.cpp", "#include \"widgets/plot/figure_theme.h\"", true);
    row("core/engine.cpp", "#include \"../app/document.h\"", true);
    row("core/io/model_config.h", "#include <nlohmann/json.hpp>", true);
    row("core/tiles.h", "#include <Eigen/Core>", true);
    row("core/kernels/rows.h", "#include <nlohmann/json.hpp>", true);
    row("core/engine.cpp", "#include <cuda_runtime.h>", true);
    row("core/engine.cpp", "#include <boost/any.hpp>", true);
    row("core/engine.cpp", "#ifdef ROPEWALK_CUDA", true);
    row("core/engine.cpp", "    std::getenv(\"HOME\");", true);
    row("gpu/cuda_backend.cpp", "#include <QObject>", true);
    row("gpu/cuda_backend.cpp", "#include \"widgets/plot/figure_theme.h\"", true);
    row("gpu/cuda_backend.cpp", "#include \"../app/cli/cli.h\"", true);
    row("gpu/cuda_backend.h", "#include <cuda_runtime.h>", true);
    row("gpu/kernels/decay.cu", "#include \"core/engine.h\"", true);
    row("gpu/kernels/decay.cu", "#include <Eigen/Core>", true);
    row("widgets/panels/config_panel.cpp", "#include \"gpu/cuda_backend.h\"", true);
    row("widgets/panels/config_panel.cpp", "#include \"app/document.h\"", true);
    row("widgets/panels/config_panel.cpp", "#include <qcustomplot.h>", true);
    row("widgets/plot/figure_view.h", "#include \"qcustomplot.h\"", true);
    row("widgets/plot/figure_view.cpp", "#include <nlohmann/json.hpp>", true);
    row("app/main_window.cpp", "#include <qcustomplot.h>", true);
    row("app/composition.cpp", "#if defined(HAVE_CUDA)", true);
    row("somewhere/else.cpp", "", true);

    row("core/engine.cpp", "#include \"engine.h\"", false);
    row("core/engine.cpp", "#include <stop_token>", false);
    row("core/io/model_config.cpp", "#include <nlohmann/json.hpp>", false);
    row("core/io/model_config.cpp", "#include \"../rope_config.h\"", false);
    row("core/cpu_backend.cpp", "#include <Eigen/Core>", false);
    row("core/kernels/rows.h", "#include <Eigen/Core>", false);
    row("core/rope_math.h", "#if defined(__CUDACC__)", false);
    row("core/engine.cpp", "// a comment on #include <QString>", false);
    row("gpu/cuda_backend.cpp", "#include <cuda_runtime.h>", false);
    row("gpu/cuda_backend.cpp", "#include \"kernels/launch.h\"", false);
    row("gpu/kernels/decay.cu", "#include \"core/rope_math.h\"", false);
    row("widgets/plot/figure_renderer.cpp", "#include <qcustomplot.h>", false);
    row("widgets/plot/figure_renderer.h", "#include <QPainter>", false);
    row("widgets/plot/figure_renderer.h", "#include \"core/figure_spec.h\"", false);
    row("app/composition.cpp", "#include \"gpu/cuda_backend.h\"", false);
    row("app/main_window.cpp", "#include \"main_window.moc\"", false);
}

void TestLayers::samples()
{
    QFETCH(QString, path);
    QFETCH(QString, line);
    QFETCH(bool, isBroken);
    const QStringList found = violations(path, line);
    QCOMPARE(found.size(), isBroken ? 1 : 0);
}

void TestLayers::sources()
{
    const QDir root(QStringLiteral(ROPEWALK_SOURCE_DIR));
    QStringList found;
    for (const QString folder : {"app", "core", "gpu", "resources", "widgets"}) {
        int files = 0;
        QDirIterator walk(root.filePath(folder), {"*.h", "*.cpp", "*.cu", "*.cuh"}, QDir::Files,
                          QDirIterator::Subdirectories);
        while (walk.hasNext()) {
            QFile file(walk.next());
            QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(file.fileName()));
            found << violations(root.relativeFilePath(file.fileName()), QString::fromUtf8(file.readAll()));
            ++files;
        }
        QVERIFY2(files > 0, qPrintable("no sources under " + root.filePath(folder)));
    }
    QVERIFY2(found.isEmpty(), qPrintable('\n' + found.join('\n')));
}

QTEST_APPLESS_MAIN(TestLayers)
#include "test_layers.moc"
