// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"

#include "../file_text.h"
#include "arguments.h"
#include "console.h"
#include "exit_code.h"
#include "produce.h"
#include "sources.h"

#include <QDir>

#include <array>

namespace ropewalk {
namespace {

constexpr std::array kOptions{OptionInfo{"-o", true}};

/// Draws every figure of one source into a folder and gives the paths, one a line.
Result<std::string> drawAll(const QStringList& arguments)
{
    const Result<Arguments> sorted = sortArguments(arguments, kOptions);
    if (!sorted)
        return sorted.error();
    if (!sorted->has("-o") || sorted->words.size() > 1)
        return Error{ErrorCode::Usage, "expected ropewalk gallery [FILE] -o FOLDER", {}};
    const Result<FigureSource> source =
        sorted->words.isEmpty() ? openSource(*sorted) : openFile(sorted->words.first());
    if (!source)
        return source.error();
    const QDir folder(sorted->value("-o"));
    if (!folder.mkpath(QStringLiteral(".")))
        return Error{ErrorCode::Output, "the folder could not be made", folder.path().toStdString()};
    const std::unique_ptr<Engine> engine = makeEngine();
    std::string paths;
    for (const FigureInfo& figure : figureCatalog()) {
        const Result<FigureSpec> spec = computeFigure(*engine, figure, *source, OutputType::Pdf);
        if (!spec && spec.error().code != ErrorCode::BadInput)
            return spec.error();
        if (!spec) { // a figure that this configuration has not, such as the range without a training length
            printNote(spec.error());
            continue;
        }
        const QString name = QString::fromUtf8(figure.id.data(), static_cast<qsizetype>(figure.id.size()));
        for (const auto& [ending, type] :
             {std::pair{".png", OutputType::Png}, std::pair{".pdf", OutputType::Pdf}}) {
            const QString path = folder.filePath(name + QLatin1String(ending));
            const Result<QByteArray> content = writeAs(type, *spec, {});
            if (!content)
                return content.error();
            if (const Result<void> written = writeFile(path, *content); !written)
                return written.error();
            paths += path.toStdString() + "\n";
        }
    }
    return paths;
}

} // namespace

int runGallery(const QStringList& arguments)
{
    const Result<std::string> paths = drawAll(arguments);
    return paths ? printOut(*paths) : printError(paths.error());
}

} // namespace ropewalk
