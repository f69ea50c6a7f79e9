// SPDX-License-Identifier: GPL-3.0-or-later
#include "presets.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

namespace ropewalk {
namespace {

std::string resourceText(const QString& path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        qFatal("%s is not part of this build", qPrintable(path));
    return file.readAll().toStdString();
}

std::vector<Preset> presetsWith(bool isPublic)
{
    std::vector<Preset> presets;
    const QDir folder(":/ropewalk/presets");
    for (const QString& name : folder.entryList({"*.json"}, QDir::Files, QDir::Name)) {
        const std::string id = name.chopped(5).toStdString();
        Result<Preset> preset = presetFromJson(resourceText(folder.filePath(name)), id);
        if (!preset)
            qFatal("preset %s: %s", id.c_str(), toEnglish(preset.error()).c_str());
        if (preset->reason.empty() == isPublic)
            presets.push_back(std::move(*preset));
    }
    return presets;
}

} // namespace

std::vector<Preset> loadPresets()
{
    return presetsWith(true);
}

std::vector<Preset> loadClosedModels()
{
    return presetsWith(false);
}

std::vector<ReferenceEntry> loadReferences()
{
    Result<std::vector<ReferenceEntry>> references =
        readReferences(resourceText(":/ropewalk/reference.json"));
    if (!references)
        qFatal("%s", toEnglish(references.error()).c_str());
    return std::move(*references);
}

} // namespace ropewalk
