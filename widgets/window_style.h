// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plot/figure_theme.h"

class QApplication;

namespace ropewalk {

/// How the whole window looks: light or dark, and the lecture scale (1.0 to 2.5) on every text and length.
struct WindowStyle
{
    Theme theme = Theme::Light; ///< Light or Dark
    double scale = 1.0;

    bool operator==(const WindowStyle&) const = default;
};

/// The steps of text; pixel sizes are those of the design times the scale.
enum class TextRole {
    Title,   ///< 14 semibold
    Text,    ///< 13
    Strong,  ///< 13 semibold
    Control, ///< 12.5, names and numbers of controls
    Section, ///< 12 semibold
    Label,   ///< 12, names of read-outs
    Small    ///< 11, notes
};

/// Sets style, palette, font and style sheet of the application; every widget is told by QEvent::StyleChange.
void applyWindowStyle(QApplication& application, const WindowStyle& style);

/// As last applied; light at 1.0 before.
WindowStyle windowStyle();

/// The colours of the theme last applied.
const ThemeColours& windowColours();

/// Text of an impossible value, readable on field and panel.
QColor errorColour();

/// Light or Dark, as the desktop's own palette is; right before and after applyWindowStyle.
Theme systemTheme();

/// A length of the design in device-independent pixels at the present scale, rounded.
int scaledPixels(double designPixels);

QFont windowFont(TextRole role);

} // namespace ropewalk
