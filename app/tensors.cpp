// SPDX-License-Identifier: GPL-3.0-or-later
#include "tensors.h"

#include "core/config_keys.h"
#include "core/io/encoding_file.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

namespace ropewalk {
namespace {

constexpr const char* kFolder = ":/ropewalk/tensors";
constexpr const char* kEnding = ".safetensors";
constexpr std::string_view kBuiltin = "builtin:";

std::vector<std::string> builtinNames()
{
    std::vector<std::string> names;
    const QString ending = QString::fromLatin1(kEnding);
    for (const QString& file : QDir(kFolder).entryList({"*" + ending}, QDir::Files, QDir::Name))
        names.push_back(file.chopped(ending.size()).toStdString());
    return names;
}

Result<TensorFile> openBuiltin(const std::string& name)
{
    const std::vector<std::string> names = builtinNames();
    if (name.empty()) {
        std::string known;
        for (const std::string& each : names)
            known += (known.empty() ? "" : ", ") + each;
        return Error{
            ErrorCode::Usage, {"builtin: names no tensors; expected one of {known}", {{"known", known}}}, {}};
    }
    if (std::find(names.begin(), names.end(), name) == names.end())
        return Error{ErrorCode::Usage,
                     {"there are no built-in tensors {name}; the nearest known are {nearest}",
                      {{"name", name}, {"nearest", nearestWords(name, names)}}},
                     {}};
    QFile file(QLatin1String(kFolder) + QLatin1Char('/') + QString::fromStdString(name) +
               QLatin1String(kEnding));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("%s is not part of this build", qPrintable(file.fileName()));
    return TensorFile::open(std::make_shared<std::istringstream>(file.readAll().toStdString()), name);
}

Result<TensorFile> openFile(const std::string& path)
{
    if (path.starts_with(kBuiltin))
        return openBuiltin(path.substr(kBuiltin.size()));
    const QFileInfo info(QString::fromStdString(path));
    if (!info.exists())
        return Error{ErrorCode::BadInput, "there is no such file; expected a .npy, .npz or .safetensors file",
                     path};
    if (!info.isFile())
        return Error{ErrorCode::BadInput, "not a file; expected a .npy, .npz or .safetensors file", path};
    auto stream = std::make_shared<std::ifstream>(path, std::ios::binary);
    if (!*stream)
        return Error{ErrorCode::BadInput, "the file cannot be opened for reading", path};
    return TensorFile::open(std::move(stream), path);
}

/// The name without its folders, in captions.
void shortenName(HeadTensors& tensors, const std::string& path)
{
    const std::size_t slash = path.rfind('/');
    if (slash != std::string::npos && tensors.name.starts_with(path))
        tensors.name.erase(0, slash + 1);
}

} // namespace

std::vector<BuiltinTensors> builtinTensors()
{
    std::vector<BuiltinTensors> list;
    for (const std::string& name : builtinNames()) {
        TensorChoice choice;
        choice.file = std::string(kBuiltin) + name;
        const Result<HeadTensors> tensors = openTensors(choice);
        if (!tensors)
            qFatal("tensors %s: %s", name.c_str(), toEnglish(tensors.error()).c_str());
        list.push_back({name, tensors->name + ": " + tensors->role});
    }
    return list;
}

Result<HeadTensors> openTensors(const TensorChoice& choice)
{
    const bool hasTwo = !choice.queryFile.empty() || !choice.keyFile.empty();
    if (hasTwo && !choice.file.empty())
        return Error{ErrorCode::Usage, "expected either tensors or q and k, not both", {}};
    if (choice.queryFile.empty() != choice.keyFile.empty())
        return Error{ErrorCode::Usage,
                     {"{given} is given without {missing}; expected a file for each",
                      {{"given", choice.keyFile.empty() ? "q" : "k"},
                       {"missing", choice.keyFile.empty() ? "k" : "q"}}},
                     {}};
    const std::string queryPath = hasTwo                ? choice.queryFile
                                  : choice.file.empty() ? kFirstTensors
                                                        : choice.file;
    const Result<TensorFile> queries = openFile(queryPath);
    if (!queries)
        return queries.error();
    if (!hasTwo) {
        Result<HeadTensors> tensors = readHeadTensors(*queries, *queries, choice);
        if (tensors)
            shortenName(*tensors, queryPath);
        return tensors;
    }
    const Result<TensorFile> keys = openFile(choice.keyFile);
    if (!keys)
        return keys.error();
    Result<HeadTensors> tensors = readHeadTensors(*queries, *keys, choice);
    if (tensors)
        shortenName(*tensors, queryPath);
    return tensors;
}

Result<void> loadTensors(FigureOptions& options)
{
    if (options.content != Content::File) {
        options.tensors.reset();
        return {};
    }
    Result<HeadTensors> tensors = openTensors(options.tensorChoice);
    if (!tensors)
        return tensors.error();
    options.tensors = std::make_shared<const HeadTensors>(std::move(*tensors));
    return {};
}

Result<void> loadEncodingTensors(FigureOptions& options)
{
    const FigureSettings& settings = options.settings;
    const EncodingChoice choice{
        std::string(settings.text("learned_file")), std::string(settings.text("transformer_xl_file")),
        std::string(settings.text("transformer_xl_r_file")), settings.whole("transformer_xl_head")};
    if (choice.isEmpty()) {
        options.encodingTensors.reset();
        return {};
    }
    if (options.encodingTensors && options.encodingTensors->choice == choice)
        return {};
    if (choice.vectorFile.empty() && !choice.projectionFile.empty())
        return Error{ErrorCode::Usage,
                     "transformer_xl_r_file names r, and no file names v; expected transformer_xl_file, too",
                     {}};
    EncodingTensors read{choice, {}, {}};
    if (!choice.learnedFile.empty()) {
        const Result<TensorFile> file = openFile(choice.learnedFile);
        if (!file)
            return file.error();
        Result<LearnedRows> rows = readLearnedRows(*file);
        if (!rows)
            return rows.error();
        read.learned = std::move(*rows);
    }
    if (!choice.vectorFile.empty()) {
        const Result<TensorFile> vectors = openFile(choice.vectorFile);
        if (!vectors)
            return vectors.error();
        std::optional<TensorFile> projections;
        if (!choice.projectionFile.empty()) {
            Result<TensorFile> file = openFile(choice.projectionFile);
            if (!file)
                return file.error();
            projections = std::move(*file);
        }
        Result<TransformerXlVector> vector =
            readTransformerXl(*vectors, projections ? &*projections : nullptr, choice.head);
        if (!vector)
            return vector.error();
        read.transformerXl = std::move(*vector);
    }
    options.encodingTensors = std::make_shared<const EncodingTensors>(std::move(read));
    return {};
}

bool isTensorFile(const QString& path)
{
    QFile file(path);
    // To open a pipe would wait for whoever writes into it.
    return QFileInfo(path).isFile() && file.open(QIODevice::ReadOnly) &&
           looksLikeTensors(file.read(16).toStdString());
}

TensorChoice choiceForFile(const QString& path)
{
    constexpr std::array<std::pair<const char*, const char*>, 3> kPairs{
        {{"q.npy", "k.npy"}, {"query.npy", "key.npy"}, {"queries.npy", "keys.npy"}}};
    const QFileInfo file(path);
    TensorChoice choice;
    for (const auto& [query, key] : kPairs) {
        const QFileInfo queryFile(file.absoluteDir(), QLatin1String(query));
        const QFileInfo keyFile(file.absoluteDir(), QLatin1String(key));
        if ((file.fileName() != QLatin1String(query) && file.fileName() != QLatin1String(key)) ||
            !queryFile.isFile() || !keyFile.isFile())
            continue;
        choice.queryFile = queryFile.absoluteFilePath().toStdString();
        choice.keyFile = keyFile.absoluteFilePath().toStdString();
        return choice;
    }
    choice.file = file.absoluteFilePath().toStdString();
    return choice;
}

} // namespace ropewalk
