// SPDX-License-Identifier: GPL-3.0-or-later
#include "presets.h"

#include <QDir>
#include <QFile>

#include <cassert>

namespace ropewalk {

std::vector<Preset> loadPresets()
{
    std::vector<Preset> presets;
    const QDir folder(QStringLiteral(":/ropewalk/presets"));
    for (const QFileInfo& entry : folder.entryInfoList({QStringLiteral("*.json")}, QDir::Files, QDir::Name)) {
        QFile file(entry.filePath());
        const bool isOpen = file.open(QIODevice::ReadOnly);
        assert(isOpen);
        if (!isOpen)
            continue;
        // The id may hold dots: "llama-3.1-8b".
        const std::string id = entry.completeBaseName().toStdString();
        Result<Preset> preset = presetFromJson(file.readAll().toStdString(), id);
        assert(preset);
        if (preset)
            presets.push_back(std::move(*preset));
    }
    return presets;
}

} // namespace ropewalk
