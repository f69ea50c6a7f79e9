// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "axis_figure.h"
#include "plane_figure.h"

#include <QStringList>

namespace ropewalk {

/// Where one plot of a figure lies.
struct PlotPlace
{
    const PlotSpec* plot = nullptr;
    int index = 0; ///< 0: the main plot, then FigureSpec::more
    QString title; ///< elided; empty where the figure has one plot or the plot no title
    QPointF titleBaseline;
    QRectF content; ///< for the plot itself
};

/// Where title, formula, plot and caption of a figure lie. Nothing of them overlaps.
struct FigureLayout
{
    QRectF content;               ///< for the plots together
    std::vector<PlotPlace> plots; ///< the main one first; it alone where the others have no room
    QString title, formula;       ///< elided where need be; empty where there is no room
    QPointF titleBaseline, formulaBaseline;
    bool isFormulaBeside = false; ///< right of the title, ending at its baseline; else below it
    QStringList captionLines;
    QPointF captionBaseline;
    double captionStep = 0.0;
};

/// Whether anything can be read in the content of a plot. What has no room is not named either.
bool hasRoomForPlot(const FigureStyle& style, const QRectF& content);

/// Places the parts of a figure within `rect`. The result points to the figure's plots. Pure.
FigureLayout layoutFigure(const FigureStyle& style, const QRectF& rect, const FigureSpec& figure);

/// As hitFigure, of a figure that was placed before.
FigureHit hitFigure(const QPointF& point, const FigureStyle& style, const FigureLayout& layout,
                    const FigureSpec& figure);

} // namespace ropewalk
