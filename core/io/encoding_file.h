// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "../encoding_tensors.h"
#include "../result.h"
#include "tensor_file.h"

#include <cstdint>

namespace ropewalk {

/// The learned embeddings of position in a file: its only tensor, or the one with a name that models use
/// (`wpe`, `position_embeddings`, `embed_positions`, …). Shape [positions, width], with ones before it
/// allowed; any width. Errors: BadInput with one sentence and the file as context; also where a number is not
/// finite.
Result<LearnedRows> readLearnedRows(const TensorFile& file);

/// W_Rᵀv of one head of Transformer-XL or XLNet. `v` ([d_h] or [heads, d_h]; also `r_r_bias`) and `r`
/// ([heads·d_h, d_model] as Transformer-XL's `r_net.weight`, or [d_model, heads, d_h] as XLNet's `r`) of one
/// file, or of two where `projections` is not null. A file with one tensor and no projections holds W_Rᵀv
/// itself, [d_model] or [heads, d_model]. Columns of d_model: the sines' half, then the cosines'. `u`
/// (`r_w_bias`) has to be as v is; it adds u·k, in which there is no position. Errors: BadInput; also where a
/// number is not finite.
Result<TransformerXlVector> readTransformerXl(const TensorFile& vectors, const TensorFile* projections,
                                              std::int64_t head);

} // namespace ropewalk
