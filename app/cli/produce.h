// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "../composition.h"
#include "arguments.h"
#include "sources.h"

#include "core/figure_catalog.h"
#include "widgets/plot/figure_exporter.h"

#include <QByteArray>
#include <QString>
#include <QStringList>

#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace ropewalk {

enum class OutputType { Pdf, Svg, Png, Csv, Json };

/// "pdf" and so on, lower case, without the dot.
std::optional<OutputType> outputTypeOfEnding(const QString& ending);

/// The processor as `--cpu-level` asks for it, of the `levels` that it has. Errors: Usage, or NotAvailable
/// where it lacks that one.
Result<CpuSettings> chooseCpu(const Arguments& arguments,
                              std::span<const CpuLevel> levels = availableCpuLevels());

/// The same for the window: takes a leading `--cpu-level` out of the program's arguments. Before a
/// sub-command it becomes the sub-command's.
Result<CpuSettings> takeCpu(QStringList& arguments);

/// The engine; NotBuilt or NotAvailable when one backend is asked for that cannot work here.
Result<std::unique_ptr<Engine>> openEngine(BackendChoice choice, CpuSettings cpu = {});

/// Computes a figure in full. Errors: BadInput when a configuration is impossible; the engine's. `progress`
/// as that of computeFigureResults.
Result<FigureSpec> computeFigure(Engine& engine, const FigureInfo& figure, const FigureSource& source,
                                 OutputType type, const std::function<void(double)>& progress = {});

/// The file's bytes; the same figure gives the same bytes. Errors: BadInput, Output.
Result<QByteArray> writeAs(OutputType type, const FigureSpec& figure, ExportOptions options);

/// The same into a file, data piece after piece. Errors: as writeAs and writeFile.
Result<void> writeAsFile(const QString& path, OutputType type, const FigureSpec& figure,
                         const ExportOptions& options);

} // namespace ropewalk
