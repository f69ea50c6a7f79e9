// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "rope_config.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ropewalk {

/// Which queries and keys a person asked for: what the keys `tensors`, `q`, `k`, … of `--set` say and
/// sessions keep. A plain value; nothing is read by it.
struct TensorChoice
{
    std::string file;                   ///< path, or "builtin:NAME"; empty: the two files below
    std::string queryFile, keyFile;     ///< one .npy each
    std::string queryTensor, keyTensor; ///< names within the file; empty: q and k, or query and key
    std::int64_t head = 0;              ///< of the queries, ≥ 0
    std::int64_t batch = 0;

    bool operator==(const TensorChoice&) const = default;
};

/// Queries and keys of one head of a real model before rotation, one row a token. A plain value, shared and
/// const once it is read.
struct HeadTensors
{
    std::string name;                    ///< where they are from, for captions: file or model, layer and head
    std::string role;                    ///< what the head does, as the file says it; may be empty
    std::int64_t heads = 1, batches = 1; ///< query heads and batches that the file has; this is one of them
    int headDim = 0;                     ///< channels of a row
    std::int64_t tokens = 0;             ///< rows of each
    std::vector<double> query;           ///< [tokens × head_dim]
    std::vector<double> key;             ///< [tokens × head_dim]
    std::optional<Layout> layout;        ///< channel order of the weights that made them, where it is known
    std::optional<double> base;          ///< of the model that made them, where it is known
    std::string precision;               ///< as stored: "float16", "bfloat16", "float32", "float64"
    std::string weights; ///< of the model that made them, e.g. "4-bit weights"; empty when not known
    std::string licence;
    std::vector<std::string> tokenTexts; ///< empty, or one a row
    std::vector<std::string> leftOut;    ///< members of the file that are no tensors
    std::int64_t notFinite = 0;          ///< values that are NaN or infinite; gaps in figures
    double greatest = 0.0;               ///< the largest magnitude among the others
};

} // namespace ropewalk
