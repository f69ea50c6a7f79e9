// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>
#include <vector>

namespace ropewalk {

/// How q and k are made before rotation. Ones: every channel 1, so that the score over head_dim is C(m-n).
enum class Content { Ones };

/// The word of `--set content=`.
std::string_view word(Content content);

/// One row of channels, [head_dim].
std::vector<double> makeContent(Content content, int headDim);

} // namespace ropewalk
