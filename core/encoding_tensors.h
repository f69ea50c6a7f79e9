// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ropewalk {

/// Learned embeddings of position as a model has them: E[rows × width], row p of position p.
struct LearnedRows
{
    std::string name; ///< the file's, for titles
    int rows = 0, width = 0;
    std::vector<double> values; ///< [rows × width], all finite
};

/// What Transformer-XL's term of the position alone needs of one head: v·W_R R_r = (W_Rᵀv)·R_r. Dai et al.,
/// arXiv:1901.02860, section 3.3.
struct TransformerXlVector
{
    std::string name; ///< the file's, for titles
    std::int64_t head = 0, heads = 1;
    std::vector<double> projected; ///< W_Rᵀv, [d_model], all finite: of the sines, then of the cosines
    bool hasContentBias = false;   ///< the file has u, too; u·k knows no position
    bool isGiven = false;          ///< the file holds the product itself, no v and r
};

/// What the settings of `encodings` name; paths, nothing is read by it.
struct EncodingChoice
{
    std::string learnedFile;                ///< empty: drawn at random
    std::string vectorFile, projectionFile; ///< of Transformer-XL; empty: drawn at random
    std::int64_t head = 0;

    bool isEmpty() const { return learnedFile.empty() && vectorFile.empty() && projectionFile.empty(); }
    bool operator==(const EncodingChoice&) const = default;
};

/// Vectors of encodings that were read from files. A plain value, shared and const once it is read.
struct EncodingTensors
{
    EncodingChoice choice; ///< what they were read by
    std::optional<LearnedRows> learned;
    std::optional<TransformerXlVector> transformerXl;
};

} // namespace ropewalk
