// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "../head_tensors.h"
#include "../result.h"

#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ropewalk {

/// One tensor of a file, its numbers not yet read.
struct TensorInfo
{
    std::string name; ///< within the file; of a single .npy the file's name
    std::string type; ///< "float16", "bfloat16", "float32", "float64", or the file's word for another
    std::vector<std::int64_t> shape; ///< C order, last index fastest
};

/// One matrix out of a tensor.
struct TensorRows
{
    std::int64_t rows = 0, columns = 0;
    std::vector<double> values; ///< [rows × columns]; NaN and infinity are kept
};

/// A file of tensors from a stranger: NumPy's .npy (versions 1 to 3) and .npz (a zip file, stored or
/// deflated), and .safetensors, told apart by their first bytes. Little-endian, C order. What else lies in a
/// zip file is left out. Opening reads heads
/// and names only; every length is checked against the file before anything is made for it. Numbers are read
/// one matrix at a time. Thread-safe apart from the stream.
class TensorFile
{
public:
    /// `name` is of the file, for sentences. Errors: BadInput with one sentence and the name, in it or as
    /// context.
    static Result<TensorFile> open(std::shared_ptr<std::istream> stream, std::string name);

    const std::string& name() const { return m_name; }
    const std::vector<TensorInfo>& tensors() const { return m_tensors; }
    /// Members of a .npz file that are no .npy files and were left out.
    const std::vector<std::string>& leftOut() const { return m_leftOut; }
    /// What a .safetensors file says about itself, at most 1 MiB; else empty.
    const std::map<std::string, std::string>& metadata() const { return m_metadata; }

    /// The matrix of the last two dimensions at the leading indices (`leading` has dimensions - 2 of them) of
    /// tensors()[index]. At most 2^25 numbers. Errors: BadInput.
    Result<TensorRows> matrix(std::size_t index, const std::vector<std::int64_t>& leading) const;

    /// All numbers of tensors()[index], of any shape, in C order. At most 2^25. Errors: BadInput.
    Result<std::vector<double>> numbers(std::size_t index) const;

private:
    friend class NumberReader;
    friend class TensorFileReader;
    struct Place ///< where the numbers lie
    {
        std::uint64_t offset = 0;     ///< of the first byte in the file, or of the zip entry's data
        std::uint64_t storedSize = 0; ///< bytes in the file
        std::uint64_t size = 0;       ///< bytes once inflated
        std::uint64_t headSize = 0;   ///< of those, before the first number
        std::uint32_t checksum = 0;   ///< CRC-32 of a zip entry
        bool isZipped = false, isDeflated = false;
        std::string problem; ///< why the numbers cannot be read, e.g. Fortran order; template of a sentence
    };

    std::shared_ptr<std::istream> m_stream;
    std::string m_name;
    std::vector<TensorInfo> m_tensors;
    std::vector<Place> m_places; ///< one a tensor
    std::vector<std::string> m_leftOut;
    std::map<std::string, std::string> m_metadata;
};

/// Queries and keys of one head. Shapes [tokens, head_dim], [heads, tokens, head_dim] or [batch, heads,
/// tokens, head_dim]; with fewer key heads than query heads each serves a group, as in grouped-query
/// attention. `queries` and `keys` may be the same file. Of a choice only the names, head and batch are
/// looked at. Errors: BadInput with one sentence.
Result<HeadTensors> readHeadTensors(const TensorFile& queries, const TensorFile& keys,
                                    const TensorChoice& choice);

/// Whether a file with these first bytes is one of tensors: .npy, .npz, or .safetensors.
bool looksLikeTensors(std::string_view firstBytes);

/// BadInput about `file`; a sentence that names the file already, as the tensor of a .npy, has no context.
Error badTensors(const std::string& file, Message message);

/// "[2, 64]" and "q, k, …", for sentences.
std::string shapeText(const std::vector<std::int64_t>& shape);
std::string tensorNames(const TensorFile& file);

} // namespace ropewalk
