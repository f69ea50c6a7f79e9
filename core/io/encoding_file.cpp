// SPDX-License-Identifier: GPL-3.0-or-later
#include "encoding_file.h"

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

constexpr std::int64_t kWidest = 1 << 16;  ///< d_model
constexpr std::int64_t kLongest = 1 << 17; ///< positions

struct Tensor
{
    std::string name;
    std::vector<std::int64_t> shape;
    std::vector<double> values;
};

Error bad(const TensorFile& file, std::string text,
          std::vector<std::pair<std::string, std::string>> values = {})
{
    return badTensors(file.name(), {std::move(text), std::move(values)});
}

/// "transformer.wpe.weight" is "wpe": a parameter by the name of its module.
bool isNamed(std::string_view name, std::string_view wanted)
{
    constexpr std::string_view kWeight = ".weight";
    if (name.ends_with(kWeight) && !wanted.ends_with(kWeight))
        name.remove_suffix(kWeight.size());
    return name == wanted || (name.size() > wanted.size() && name.ends_with(wanted) &&
                              name[name.size() - wanted.size() - 1] == '.');
}

/// The tensors with one of these names.
std::vector<std::size_t> placesOf(const TensorFile& file, const std::vector<std::string_view>& names)
{
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < file.tensors().size(); ++i)
        if (std::any_of(names.begin(), names.end(),
                        [&](std::string_view name) { return isNamed(file.tensors()[i].name, name); }))
            places.push_back(i);
    return places;
}

Result<Tensor> read(const TensorFile& file, std::size_t index)
{
    const TensorInfo& info = file.tensors()[index];
    Result<std::vector<double>> values = file.numbers(index);
    if (!values)
        return values.error();
    const auto notFinite =
        std::count_if(values->begin(), values->end(), [](double value) { return !std::isfinite(value); });
    if (notFinite > 0)
        return bad(file, "{tensor} is NaN or infinite at {count} of {all} places; expected finite numbers",
                   {{"tensor", info.name},
                    {"count", std::to_string(notFinite)},
                    {"all", std::to_string(values->size())}});
    return Tensor{info.name, info.shape, std::move(*values)};
}

/// `text` names {tensor} and {shape}.
Error wrongShape(const TensorFile& file, const std::string& tensor, const std::vector<std::int64_t>& shape,
                 std::string text, std::vector<std::pair<std::string, std::string>> values = {})
{
    values.emplace_back("tensor", tensor);
    values.emplace_back("shape", shapeText(shape));
    return bad(file, std::move(text), std::move(values));
}

/// The file's name without its folders.
std::string shortName(const TensorFile& file)
{
    return file.name().substr(file.name().rfind('/') + 1);
}

/// Which of a few names stands for what in a file of Transformer-XL.
const std::vector<std::string_view> kVectorNames{"v", "r_r_bias"};
const std::vector<std::string_view> kContentNames{"u", "r_w_bias"};
const std::vector<std::string_view> kProjectionNames{"r", "W_R", "r_net"};

Error notOne(const TensorFile& file, std::size_t count, const std::string& wanted)
{
    return bad(file,
               count == 0 ? "the file has no tensor named {wanted}; it has {names}"
                          : "the file has several tensors named {wanted}; expected those of one layer",
               {{"wanted", wanted}, {"names", tensorNames(file)}});
}

/// W_Rᵀv of v = [d_h] of the head and r of all heads.
Result<std::vector<double>> projectedBy(const TensorFile& file, const Tensor& r, const double* v,
                                        std::int64_t headDim, std::int64_t head, std::int64_t heads)
{
    const bool isWeight = r.shape.size() == 2 && r.shape[0] == heads * headDim;
    const bool isOfHeads = r.shape.size() == 3 && r.shape[1] == heads && r.shape[2] == headDim;
    if (!isWeight && !isOfHeads)
        return wrongShape(
            file, r.name, r.shape,
            "{tensor} has the shape {shape}; expected [{channels}, d_model] or [d_model, {heads}, "
            "{width}], as v is [{heads}, {width}]",
            {{"channels", std::to_string(heads * headDim)},
             {"heads", std::to_string(heads)},
             {"width", std::to_string(headDim)}});
    const std::int64_t width = isWeight ? r.shape[1] : r.shape[0];
    std::vector<double> projected(static_cast<std::size_t>(width), 0.0);
    for (std::int64_t channel = 0; channel < headDim; ++channel)
        for (std::int64_t column = 0; column < width; ++column) {
            const std::int64_t at = isWeight ? (head * headDim + channel) * width + column
                                             : (column * heads + head) * headDim + channel;
            projected[static_cast<std::size_t>(column)] +=
                v[channel] * r.values[static_cast<std::size_t>(at)];
        }
    return projected;
}

} // namespace

Result<LearnedRows> readLearnedRows(const TensorFile& file)
{
    if (file.tensors().empty())
        return bad(file, "the file has no tensors; expected one, [positions, width]");
    std::size_t index = 0;
    if (file.tensors().size() > 1) {
        const auto places = placesOf(file, {"wpe", "position_embeddings", "position_embedding",
                                            "embed_positions", "pos_embed", "positions"});
        if (places.size() != 1)
            return notOne(file, places.size(), "wpe, position_embeddings or positions");
        index = places.front();
    }
    const TensorInfo& info = file.tensors()[index];
    const std::size_t dimensions = info.shape.size();
    const bool isMatrix = dimensions >= 2 && std::all_of(info.shape.begin(), info.shape.end() - 2,
                                                         [](std::int64_t length) { return length == 1; });
    if (!isMatrix || info.shape[dimensions - 2] < 1 || info.shape[dimensions - 1] < 1)
        return wrongShape(
            file, info.name, info.shape,
            "{tensor} has the shape {shape}; expected [positions, width], a row for each position");
    if (info.shape[dimensions - 2] > kLongest || info.shape[dimensions - 1] > kWidest)
        return wrongShape(
            file, info.name, info.shape,
            "{tensor} has the shape {shape}; expected at most {longest} positions and a width of {widest}",
            {{"longest", groupedDigits(kLongest)}, {"widest", groupedDigits(kWidest)}});
    Result<Tensor> table = read(file, index);
    if (!table)
        return table.error();
    LearnedRows rows;
    rows.name = shortName(file);
    rows.rows = static_cast<int>(info.shape[dimensions - 2]);
    rows.width = static_cast<int>(info.shape[dimensions - 1]);
    rows.values = std::move(table->values);
    return rows;
}

Result<TransformerXlVector> readTransformerXl(const TensorFile& vectors, const TensorFile* projections,
                                              std::int64_t head)
{
    const auto& tensors = vectors.tensors();
    if (tensors.empty())
        return bad(vectors, "the file has no tensors; expected v and r of Transformer-XL");
    const bool isAlone = tensors.size() == 1;
    const auto places = isAlone ? std::vector<std::size_t>{0} : placesOf(vectors, kVectorNames);
    if (places.size() != 1)
        return notOne(vectors, places.size(), "v or r_r_bias");
    const TensorInfo& info = tensors[places.front()];
    if (info.shape.empty() || info.shape.size() > 2 || info.shape.back() < 1 || info.shape.front() < 1)
        return wrongShape(vectors, info.name, info.shape,
                          "{tensor} has the shape {shape}; expected [width] or [heads, width]");
    if (info.shape.back() > kWidest || info.shape.front() > kWidest)
        return wrongShape(
            vectors, info.name, info.shape,
            "{tensor} has the shape {shape}; expected at most {widest} heads and a width of {widest}",
            {{"widest", groupedDigits(kWidest)}});
    TransformerXlVector result;
    result.name = shortName(vectors);
    result.head = head;
    result.heads = info.shape.size() == 2 ? info.shape.front() : 1;
    if (head < 0 || head >= result.heads)
        return bad(vectors,
                   result.heads == 1
                       ? "transformer_xl_head is {head}; {tensor} has one, expected 0"
                       : "transformer_xl_head is {head}; {tensor} has {count}, expected 0 to {last}",
                   {{"head", std::to_string(head)},
                    {"tensor", info.name},
                    {"count", std::to_string(result.heads)},
                    {"last", std::to_string(result.heads - 1)}});
    const Result<Tensor> v = read(vectors, places.front());
    if (!v)
        return v.error();
    for (const std::size_t place : isAlone ? std::vector<std::size_t>{} : placesOf(vectors, kContentNames)) {
        if (tensors[place].shape != info.shape)
            return wrongShape(vectors, tensors[place].name, tensors[place].shape,
                              "{tensor} has the shape {shape}; expected {other}, as that of {vector}",
                              {{"other", shapeText(info.shape)}, {"vector", info.name}});
        if (const Result<Tensor> u = read(vectors, place); !u)
            return u.error();
        result.hasContentBias = true;
    }
    const std::int64_t width = info.shape.back();
    const double* row = v->values.data() + head * width;
    if (isAlone && !projections) {
        result.projected.assign(row, row + width);
        result.isGiven = true;
    } else {
        const TensorFile& file = projections ? *projections : vectors;
        const auto found = projections && file.tensors().size() == 1 ? std::vector<std::size_t>{0}
                                                                     : placesOf(file, kProjectionNames);
        if (found.size() != 1)
            return notOne(file, found.size(), "r, W_R or r_net.weight");
        const Result<Tensor> r = read(file, found.front());
        if (!r)
            return r.error();
        auto projected = projectedBy(file, *r, row, width, head, result.heads);
        if (!projected)
            return projected.error();
        result.projected = std::move(*projected);
    }
    const std::size_t channels = result.projected.size();
    if (channels < 2 || channels % 2 != 0 || channels > static_cast<std::size_t>(kWidest))
        return bad(vectors,
                   "d_model is {width}; expected an even number up to {widest}, one half for the sines and "
                   "one for the "
                   "cosines",
                   {{"width", std::to_string(channels)}, {"widest", groupedDigits(kWidest)}});
    if (!std::all_of(result.projected.begin(), result.projected.end(),
                     [](double value) { return std::isfinite(value); }))
        return bad(vectors, "rᵀv is beyond the range of double precision; expected smaller numbers", {});
    return result;
}

} // namespace ropewalk
