// SPDX-License-Identifier: GPL-3.0-or-later
#include "colour_tables.h"

#include "core/kernels/kernels.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>

namespace ropewalk {
namespace {

struct Ramps
{
    ColourRamp viridis, cividis, divergingLight, divergingDark, cyclic;
};

Ramps readRamps()
{
    QFile file(QStringLiteral(":/ropewalk/colour_maps.json"));
    [[maybe_unused]] const bool isOpen = file.open(QIODevice::ReadOnly);
    Q_ASSERT_X(isOpen, "colour_tables", "colour_maps.json is compiled into the program");
    const QJsonObject tables = QJsonDocument::fromJson(file.readAll()).object();
    const auto ramp = [&](const char* name) {
        ColourRamp colours{};
        const QJsonArray entries = tables.value(QLatin1String(name)).toArray();
        Q_ASSERT(entries.size() == static_cast<qsizetype>(colours.size()));
        for (std::size_t i = 0; i < colours.size(); ++i)
            colours[i] = QColor(entries[static_cast<qsizetype>(i)].toString()).rgb();
        return colours;
    };
    return {ramp("viridis"), ramp("cividis"), ramp("diverging_light"), ramp("diverging_dark"),
            ramp("cyclic")};
}

} // namespace

const ColourRamp& colourRamp(ColourTable table, Theme theme)
{
    static const Ramps ramps = readRamps();
    switch (table) {
    case ColourTable::Viridis:
        return ramps.viridis;
    case ColourTable::Cividis:
        return ramps.cividis;
    case ColourTable::Diverging:
        return theme == Theme::Dark ? ramps.divergingDark : ramps.divergingLight;
    case ColourTable::Cyclic:
        break;
    }
    return ramps.cyclic;
}

MapColours::MapColours(const MapSpec& map, Theme theme)
    : m_ramp(colourRamp(map.colours, theme))
    , m_mask(themeColours(theme).mask.rgb())
    , m_isLogarithmic(map.isLogarithmic)
    , m_isCyclic(map.colours == ColourTable::Cyclic)
    , m_lower(map.isLogarithmic ? std::log(map.lower) : map.lower)
    , m_upper(map.isLogarithmic ? std::log(map.upper) : map.upper)
    , m_steps(256.0 / (m_upper - m_lower))
{
}

void MapColours::row(const double* values, std::int64_t count, QRgb* out) const
{
    // All levels give the same colours.
    static const std::vector<CpuLevel> levels = availableCpuLevels();
    if (!m_isLogarithmic && !m_isCyclic && !levels.empty())
        cpuKernels(levels.back()).colours(values, count, {m_lower, m_upper, m_ramp.data(), m_mask}, out);
    else
        std::transform(values, values + count, out, *this);
}

} // namespace ropewalk
