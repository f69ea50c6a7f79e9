// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plot/figure_exporter.h"

#include <QByteArray>
#include <QString>
#include <QStringList>

namespace ropewalk {

enum class WindowTheme { System, Light, Dark };

/// What belongs to the person and not to a session. A plain value; `loadSettings` and `saveSettings` are the
/// only places that touch QSettings.
struct AppSettings
{
    WindowTheme windowTheme = WindowTheme::System;
    bool figuresFollowWindow = true; ///< else figureTheme
    Theme figureTheme = Theme::Light;
    double scale = 1.0; ///< lecture scale, 1.0..2.5
    bool showsPanels = true;
    QByteArray geometry;
    QStringList recentFiles; ///< newest first, at most 8
    QString lastFolder;
    ExportOptions exportOptions;
};

AppSettings loadSettings();
void saveSettings(const AppSettings& settings);

} // namespace ropewalk
