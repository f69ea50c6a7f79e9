// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/figure_results.h"
#include "core/io/tensor_file.h"

#include <QString>

#include <vector>

namespace ropewalk {

/// A head of a real model that is built in (resources/tensors), by its name in `tensors=builtin:NAME`.
struct BuiltinTensors
{
    std::string name;  ///< "smollm2-sink"
    std::string title; ///< model, layer, head and what the head does
};

std::vector<BuiltinTensors> builtinTensors();

/// What a choice that names no file means.
inline constexpr const char* kFirstTensors = "builtin:smollm2-previous-token";

/// The preset of the model that all built-in tensors are of.
inline constexpr const char* kBuiltinTensorsPreset = "smollm2-135m";

/// Opens the file or files of the choice, or what is built in, and reads the chosen head. Errors: BadInput
/// with the path as context, Usage for an unknown built-in name.
Result<HeadTensors> openTensors(const TensorChoice& choice);

/// Puts the tensors of `options.tensorChoice` into the options where the content is a file's, and takes them
/// out where it is not. Errors: as openTensors.
Result<void> loadTensors(FigureOptions& options);

/// The same for what the settings of `encodings` name; nothing is read again that is open. Errors: BadInput
/// with the path as context, Usage for a choice that cannot be; the options are unchanged then.
Result<void> loadEncodingTensors(FigureOptions& options);

/// Whether a file begins as one of tensors does; for what is opened or dropped.
bool isTensorFile(const QString& path);

/// What opening one file means: itself, or of a q.npy and a k.npy in one folder both.
TensorChoice choiceForFile(const QString& path);

} // namespace ropewalk
