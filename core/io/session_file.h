// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "../figure_results.h"
#include "../result.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace ropewalk {

/// One of the configurations A..D of a session.
struct SessionConfiguration
{
    RopeConfig config;
    std::optional<RopeConfig> original; ///< as the preset or file gave it; what double-click restores
    std::string letter = "A";
    int colour = 0;
    bool isHidden = false;

    bool operator==(const SessionConfiguration&) const = default;
};

inline constexpr int kCards = 4;              ///< places of the overview
std::array<std::string, kCards> firstCards(); ///< what stands in them at first

/// What a person has open: all that is computed and how it is looked at. A plain value; the document's
/// content.
struct Session
{
    std::vector<SessionConfiguration> configurations; ///< one to four
    int selected = 0;                                 ///< index of the one that the controls change
    FigureOptions options;
    std::string figure = "overview";                      ///< id of the figure shown, or "overview"
    std::array<std::string, kCards> cards = firstCards(); ///< ids of what stands in the overview, each once
    int cardCount = kCards;                               ///< how many of them are shown: 2 or kCards
    bool isDistanceLocked = true;

    bool operator==(const Session&) const = default;
};

inline constexpr int kSessionFormat = 1;
inline constexpr std::size_t kMostConfigurations = 4;

/// The visible configurations, as figures take them.
std::vector<FigureConfiguration> shownConfigurations(const Session& session);

struct SessionReading
{
    Session session;
    std::vector<Issue> notes; ///< unknown keys, which are kept
    std::string unknownKeys;  ///< JSON object of the unknown top-level keys, given back to sessionToJson
};

/// Versioned JSON, `"schema": "ropewalk.session/1"`; ends with a newline; same session, same bytes.
/// `unknownKeys` as an earlier reading returned it, or empty.
std::string sessionToJson(const Session& session, const std::string& unknownKeys = {});

/// Errors: BadInput with one sentence; a newer version is refused by its number.
Result<SessionReading> sessionFromJson(std::string_view text);

} // namespace ropewalk
