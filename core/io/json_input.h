// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "../result.h"

#include <string>
#include <string_view>
#include <vector>

namespace ropewalk {

/// Looks at JSON text from a stranger before anything is built from it: at most `largestSize` bytes, limited
/// in depth and in the number of values, UTF-8. Gives the keys that stand twice in one object. Errors:
/// BadInput with one sentence that names the line, and the key before it where there is one. Throws nothing;
/// thread-safe.
Result<std::vector<std::string>> checkJson(std::string_view text, std::size_t largestSize);

/// A JSON value (its text) for a sentence, shortened: 500000, "llama", a list.
std::string jsonValueText(std::string_view json);

/// What kind of thing a JSON value is, for a sentence: "a list", "the text "x"", "the number 3".
std::string jsonKindText(std::string_view json);

} // namespace ropewalk
