// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QFont>
#include <QList>
#include <QString>
#include <QStringList>

namespace ropewalk {

/// The themes of figures. The window uses Light and Dark of the same tokens (resources/tokens.json).
enum class Theme { Light, Dark, Print };

/// Colours of resources/tokens.json for one theme; a token that a theme does not name is the light theme's.
struct ThemeColours
{
    QColor window, chrome, panel, figure, field, text, muted, rule, grid, axis, accent, onAccent, selected,
        knob, mark, good, query, key, mask;
    QList<QColor> series;    ///< configurations A–D
    QList<QColor> curves;    ///< eight, of curves that are no configuration's; the first four are the series'
    QList<QColor> pairs;     ///< fast to slow
    QList<QColor> diverging; ///< -1 to 1
};

/// Read once from the resource; GUI thread.
const ThemeColours& themeColours(Theme theme);

/// The families of the one font, in order of preference: Inter, then Noto Sans CJK in the shapes of the
/// language.
QStringList ropewalkFontFamilies();

/// The one font of window and figures: Inter, then Noto Sans CJK; `pixelSize` in device-independent pixels.
QFont ropewalkFont(double pixelSize, QFont::Weight weight = QFont::Normal);

} // namespace ropewalk
