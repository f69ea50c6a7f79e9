// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "axis_figure.h"
#include "plane_figure.h"

#include <QStringList>

namespace ropewalk {

/// Where title, formula, plot and caption of a figure lie. Nothing of them overlaps.
struct FigureLayout
{
    QRectF content;         ///< for the plot or the plane
    QString title, formula; ///< elided where need be; empty where there is no room
    QPointF titleBaseline, formulaBaseline;
    bool isFormulaBeside = false; ///< right of the title, ending at its baseline; else below it
    QStringList captionLines;
    QPointF captionBaseline;
    double captionStep = 0.0;
};

/// Places the parts of a figure within `rect`. Pure.
FigureLayout layoutFigure(const FigureStyle& style, const QRectF& rect, const FigureSpec& figure);

} // namespace ropewalk
