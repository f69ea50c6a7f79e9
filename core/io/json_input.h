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

/// A bare `Infinity`, `-Infinity` or `NaN`, which JSON does not have and Python writes, and the key before
/// it.
struct BareNumber
{
    std::string word, key;
};

/// The text with each bare number replaced by null, line for line; where there is none, `numbers` is empty
/// and so is `text`.
struct BareNumbers
{
    std::string text;
    std::vector<BareNumber> numbers;
};
BareNumbers withoutBareNumbers(std::string_view text);

/// A JSON value (its text) for a sentence, shortened: 500000, "llama", a list.
std::string jsonValueText(std::string_view json);

/// What kind of thing a JSON value is, for a sentence: "a list", "the text "x"", "the number 3".
std::string jsonKindText(std::string_view json);

} // namespace ropewalk
