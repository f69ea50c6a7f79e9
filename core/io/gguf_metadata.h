// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "../result.h"

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ropewalk {

/// A list among the key-values. Only short lists of numbers are kept; of all others the count is.
struct GgufList
{
    std::uint64_t count = 0;
    std::vector<double> numbers; ///< empty where the list holds texts, lists, or more than 4096 numbers
};

/// One value; whole numbers that do not fit are doubles, texts beyond 4 KiB are left empty.
using GgufValue = std::variant<std::string, std::int64_t, double, bool, GgufList>;

/// What a GGUF file says about its model, without the weights.
struct GgufMetadata
{
    std::map<std::string, GgufValue> values;
    /// The tensors that belong to the rotation, by name (`rope_freqs.weight`, `rope_factors_long.weight`,
    /// `rope_factors_short.weight`), each a finite number above 0 a pair. An empty list stands for a tensor
    /// that is named but whose numbers are not at hand (key-values written out as text).
    std::map<std::string, std::vector<double>> factors;
};

/// Whether these first bytes are a GGUF file's.
bool looksLikeGguf(std::string_view firstBytes);

/// Reads the key-values and the rotation's tensors of a GGUF file of version 2 or 3, little-endian (the
/// format of ggml, docs/gguf.md), by seeking: the weights are never read. `file` is opened in binary mode.
/// Every length is checked against what is left of the file before it is used. Errors: BadInput with one
/// sentence. Thread-safe apart from `file`.
Result<GgufMetadata> readGgufMetadata(std::istream& file);

/// The names of the tensors that GgufMetadata::factors may hold.
bool isRotationTensor(std::string_view name);

} // namespace ropewalk
