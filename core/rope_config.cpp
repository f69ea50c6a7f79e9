// SPDX-License-Identifier: GPL-3.0-or-later
#include "rope_config.h"

namespace ropewalk {

std::optional<std::int64_t> trainingLength(const RopeConfig& config)
{
    return config.originalMaxPositionEmbeddings ? config.originalMaxPositionEmbeddings
                                                : config.maxPositionEmbeddings;
}

bool computesTheSame(const RopeConfig& a, const RopeConfig& b)
{
    RopeConfig other = b;
    other.name = a.name;
    other.layerType = a.layerType;
    other.notes = a.notes;
    return a == other;
}

int rotaryDimForShare(int headDim, double share)
{
    return static_cast<int>(headDim * share);
}

std::string_view word(Layout layout)
{
    return layout == Layout::Interleaved ? "interleaved" : "half";
}

std::string_view word(Severity severity)
{
    switch (severity) {
    case Severity::Read:
        return "read";
    case Severity::Assumed:
        return "assumed";
    case Severity::Conflict:
        return "conflict";
    case Severity::Warning:
        return "warning";
    case Severity::Error:
        return "error";
    case Severity::Unknown:
        return "unknown";
    }
    return "unknown";
}

std::string_view channelsWord(const RopeConfig& config)
{
    if (config.rotaryDim == 0)
        return "none";
    return config.rotaryDim == config.headDim ? "all" : "first";
}

} // namespace ropewalk
