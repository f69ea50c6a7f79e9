// SPDX-License-Identifier: GPL-3.0-or-later
#include "session_edits.h"

#include "core/rope_config.h"

#include <algorithm>

namespace ropewalk {

Session firstSession(const std::vector<Preset>& presets)
{
    Session session;
    for (const Preset& preset : presets)
        if (preset.id == "llama-3.1-8b")
            session.configurations.push_back(asOpened(preset.config, "A", 0));
    RopeConfig plain;
    plain.name = "base 10 000";
    // The same training length, so that only the base and the rule differ.
    if (!session.configurations.empty())
        plain.maxPositionEmbeddings = trainingLength(session.configurations.front().config);
    session.configurations.push_back(asOpened(plain, "B", 1));
    return session;
}

std::pair<std::string, int> freeLetter(const std::vector<SessionConfiguration>& configurations)
{
    for (int colour = 0; colour < static_cast<int>(kMostConfigurations); ++colour) {
        const std::string letter(1, static_cast<char>('A' + colour));
        const bool isTaken =
            std::any_of(configurations.begin(), configurations.end(),
                        [&](const SessionConfiguration& each) { return each.letter == letter; });
        if (!isTaken)
            return {letter, colour};
    }
    return {"A", 0};
}

SessionConfiguration asOpened(RopeConfig config, const std::string& letter, int colour)
{
    SessionConfiguration opened;
    opened.original = config;
    opened.config = std::move(config);
    opened.letter = letter;
    opened.colour = colour;
    return opened;
}

void recolour(std::vector<SessionConfiguration>& configurations, int index, int colour)
{
    SessionConfiguration& changed = configurations[static_cast<std::size_t>(index)];
    for (SessionConfiguration& other : configurations)
        if (other.colour == colour)
            other.colour = changed.colour;
    changed.colour = colour;
}

void placeCard(std::array<std::string, kCards>& cards, int card, const std::string& id)
{
    std::string& place = cards[static_cast<std::size_t>(card)];
    const auto before = std::find(cards.begin(), cards.end(), id);
    if (before != cards.end())
        *before = place;
    place = id;
}

} // namespace ropewalk
