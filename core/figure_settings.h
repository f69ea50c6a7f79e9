// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "result.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ropewalk {

/// What a setting of a figure takes.
enum class SettingKind {
    Choice, ///< one of its words
    Switch, ///< true or false
    Whole,  ///< a whole number within its range
    Number, ///< a number within its range
    File    ///< a path; empty: none. Read by the app
};

/// One word of a choice, with its name for people.
struct SettingWord
{
    std::string_view word, title;
};

/// One row of the table of settings that belong to figures, not to configurations: the key of `--set` and of
/// sessions, and the control in the window. The next setting is one more row.
struct FigureSettingInfo
{
    std::string_view key;
    std::string_view title;   ///< beside the control
    std::string_view help;    ///< one sentence
    std::string_view figures; ///< ids of the figures that read it, with a space between
    SettingKind kind = SettingKind::Choice;
    std::string_view preset; ///< its value where none is stated, as text
    std::vector<SettingWord> words = {};
    double lower = 0.0, upper = 1.0;
    bool isLogarithmic = false; ///< the slider

    bool isOf(std::string_view figure) const; ///< whether the figure reads it
};

std::span<const FigureSettingInfo> figureSettings();
const FigureSettingInfo* findFigureSetting(std::string_view key); ///< null when there is none

/// The values of the settings; those that were not stated have the table's. A plain value.
class FigureSettings
{
public:
    /// The value as text. Asserts that the key is in the table.
    std::string_view text(std::string_view key) const;
    double number(std::string_view key) const;
    std::int64_t whole(std::string_view key) const { return static_cast<std::int64_t>(number(key)); }
    bool truth(std::string_view key) const { return text(key) == "true"; }
    bool is(std::string_view key, std::string_view word) const { return text(key) == word; }

    /// Errors: Usage, with the key, the value and what was expected. Nothing changes on an error.
    Result<void> set(std::string_view key, std::string_view value);
    void reset(std::string_view key) { m_stated.erase(std::string(key)); }
    /// What differs from the table, by key.
    const std::map<std::string, std::string, std::less<>>& stated() const { return m_stated; }
    /// Only the settings that `figure` reads: two that agree there make the same figure.
    FigureSettings of(std::string_view figure) const;

    bool operator==(const FigureSettings&) const = default;

private:
    std::map<std::string, std::string, std::less<>> m_stated;
};

} // namespace ropewalk
