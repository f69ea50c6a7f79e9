// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "arguments.h"
#include "core/config_keys.h"
#include "core/figure_results.h"
#include "core/write_figure.h"

#include <vector>

namespace ropewalk {

/// Reads a model's file: config.json, params.json or GGUF. Errors: BadInput with the path.
Result<InspectedFile> readConfigurationFile(const QString& path);

/// Keeps the configurations of one kind of layer (`--layer-type`). Errors: Usage, naming those that there
/// are.
Result<void> keepLayerType(InspectedFile& file, const QString& layerType);

/// The settings given with `--set`. Errors: Usage.
Result<std::vector<Setting>> settingsOf(const Arguments& arguments);

/// What a figure is drawn from.
struct FigureSource
{
    std::vector<FigureConfiguration> configurations; ///< at most four
    FigureOptions options;
    std::vector<Setting> settings = {}; ///< as given with `--set`; applied
};

/// Takes `--preset`, `--config` or `--session` (the built-in first example where none is given),
/// `--layer-type` and
/// `--set`. Errors: Usage, BadInput.
Result<FigureSource> openSource(const Arguments& arguments);

/// The same for one file of either kind: a session or a model's configuration.
Result<FigureSource> openFile(const QString& path);

} // namespace ropewalk
