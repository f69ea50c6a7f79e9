// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "figure_results.h"
#include "result.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ropewalk {

/// One `key=value` of `--set`, with the letter it is addressed to ("A.base=…"), or empty for all.
struct Setting
{
    std::string letter; ///< "A".."D" or empty
    std::string key, value;
};

/// Splits "base=1e6" or "A.base=1e6". Errors: Usage.
Result<Setting> parseSetting(std::string_view text);

/// Whether the key takes a list of numbers, which a command line may give as a file.
bool isListKey(std::string_view key);

/// Applies settings to configurations and options, under the names of contract.md's `--set`. head_dim comes
/// before the widths that depend on it, whatever the order given. Errors: Usage; an unknown key or value
/// names the nearest known ones, one that Ropewalk knows of but does not build is refused by name. Nothing is
/// changed on an error.
Result<void> applySettings(const std::vector<Setting>& settings,
                           std::vector<FigureConfiguration>& configurations, FigureOptions& options);

/// Brings the notes of configurations up to date with settings that were applied to them: a note about what
/// was overridden gives way to one that says so, and a setting that nothing reads gets a warning, as a value
/// of a file would.
void noteSettings(const std::vector<Setting>& settings, std::vector<FigureConfiguration>& configurations);

/// A warning for each setting that belongs to other figures than `figure` (an id of the catalog).
std::vector<Issue> settingsOfOtherFigures(const std::vector<Setting>& settings, std::string_view figure);

/// Brings what depends on other values of `config` up to date after a change by hand: the softmax factor that
/// follows mscale_all_dim, and the notes, which are those of `original` without what is no longer so, as
/// after noteSettings. Equal configurations have equal notes.
void followOriginal(const RopeConfig& original, RopeConfig& config);

/// One key of a configuration with the value it has, as `--set` spells both.
struct ConfigKeyValue
{
    std::string_view key;
    std::string text;
    bool isText = false; ///< a word, quoted in JSON; else a number, true or false
};

/// The keys that give `config` (name, layer type, softmax factor and notes aside) when set on a fresh
/// RopeConfig, in a fixed order; what is not stated is left out.
std::vector<ConfigKeyValue> configKeys(const RopeConfig& config);

/// `rule` chosen as a person means it: RoPE-ID on a head whose channels all turn takes the half that it is
/// defined on, and the proportional rule spreads over the whole head.
RopeConfig withRule(RopeConfig config, FrequencyRule rule);

/// `head_dim` changed as a person means it: all channels stay all, a first fraction keeps its share.
RopeConfig withHeadDim(RopeConfig config, int headDim);

/// Up to three of `known` that look most like `word`, nearest first, as "a, b, c".
std::string nearestWords(std::string_view word, const std::vector<std::string>& known);

} // namespace ropewalk
