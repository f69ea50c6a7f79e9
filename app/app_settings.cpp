// SPDX-License-Identifier: GPL-3.0-or-later
#include "app_settings.h"

#include <QSettings>

#include <algorithm>

namespace ropewalk {
namespace {

/// A number of the file, or the default where it is missing or out of range: settings can be edited by hand.
double bounded(const QSettings& file, const QString& key, double fallback, double lowest, double highest)
{
    bool isNumber = false;
    const double value = file.value(key, fallback).toDouble(&isNumber);
    return isNumber && value >= lowest && value <= highest ? value : fallback;
}

template<class Enum>
Enum choice(const QSettings& file, const QString& key, Enum fallback, int count)
{
    return static_cast<Enum>(bounded(file, key, static_cast<int>(fallback), 0, count - 1));
}

} // namespace

AppSettings loadSettings()
{
    const QSettings file;
    AppSettings settings;
    settings.windowTheme = choice(file, "window/theme", settings.windowTheme, 3);
    settings.figuresFollowWindow = file.value("window/figuresFollow", true).toBool();
    settings.figureTheme = choice(file, "window/figureTheme", settings.figureTheme, 3);
    settings.scale = bounded(file, "window/scale", 1.0, 1.0, 2.5);
    settings.showsPanels = file.value("window/panels", true).toBool();
    settings.geometry = file.value("window/geometry").toByteArray();
    settings.recentFiles = file.value("files/recent").toStringList();
    settings.lastFolder = file.value("files/folder").toString();
    ExportOptions& out = settings.exportOptions;
    out.format = choice(file, "export/format", out.format, 3);
    out.sizeMm = {bounded(file, "export/widthMm", out.sizeMm.width(), 10, 1000),
                  bounded(file, "export/heightMm", out.sizeMm.height(), 10, 1000)};
    out.dpi = bounded(file, "export/dpi", out.dpi, 30, 1200);
    out.theme = choice(file, "export/theme", out.theme, 3);
    out.textPt = bounded(file, "export/textPt", out.textPt, 4, 48);
    out.showsTitle = file.value("export/title", out.showsTitle).toBool();
    out.showsCaption = file.value("export/caption", out.showsCaption).toBool();
    return settings;
}

void saveSettings(const AppSettings& settings)
{
    QSettings file;
    file.setValue("window/theme", static_cast<int>(settings.windowTheme));
    file.setValue("window/figuresFollow", settings.figuresFollowWindow);
    file.setValue("window/figureTheme", static_cast<int>(settings.figureTheme));
    file.setValue("window/scale", settings.scale);
    file.setValue("window/panels", settings.showsPanels);
    file.setValue("window/geometry", settings.geometry);
    file.setValue("files/recent", settings.recentFiles);
    file.setValue("files/folder", settings.lastFolder);
    const ExportOptions& out = settings.exportOptions;
    file.setValue("export/format", static_cast<int>(out.format));
    file.setValue("export/widthMm", out.sizeMm.width());
    file.setValue("export/heightMm", out.sizeMm.height());
    file.setValue("export/dpi", out.dpi);
    file.setValue("export/theme", static_cast<int>(out.theme));
    file.setValue("export/textPt", out.textPt);
    file.setValue("export/title", out.showsTitle);
    file.setValue("export/caption", out.showsCaption);
}

} // namespace ropewalk
