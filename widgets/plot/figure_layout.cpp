// SPDX-License-Identifier: GPL-3.0-or-later
#include "figure_layout.h"

#include "widgets/message_text.h"

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

/// The smallest cell, in design pixels, in which axes or a table can be read.
constexpr QSizeF kLeastAxes{170.0, 104.0};
constexpr QSizeF kLeastTable{110.0, 52.0};

/// The starts and sizes of `count` rows or columns over an extent, by their shares.
std::vector<std::pair<double, double>> tracks(double from, double extent, int count,
                                              const std::vector<double>& shares, double gap)
{
    const auto share = [&](int i) {
        const auto index = static_cast<std::size_t>(i);
        return index < shares.size() && shares[index] > 0.0 ? shares[index] : 1.0;
    };
    double total = 0.0;
    for (int i = 0; i < count; ++i)
        total += share(i);
    std::vector<std::pair<double, double>> places;
    double at = from;
    for (int i = 0; i < count; ++i) {
        const double size = (extent - gap * (count - 1)) * share(i) / total;
        places.emplace_back(at, size);
        at += size + gap;
    }
    return places;
}

/// The plots on the figure's grid; only the main one where a cell would be too small to read.
std::vector<PlotPlace> placePlots(const FigureStyle& style, const QRectF& content, const FigureSpec& figure)
{
    const std::vector<const PlotSpec*> plots = figure.plots();
    PlotPlace alone{&figure, 0, {}, {}, content};
    if (plots.size() == 1)
        return {alone};
    // Alone, the main plot still says what it is of: a configuration, with RoPE or without.
    if (!figure.plotTitle.isEmpty() && content.height() > style.px(110.0)) {
        alone.title = style.elided(messageText(figure.plotTitle), kPlotTitle, content.width());
        alone.titleBaseline = {content.left(), content.top() + style.ascent(kPlotTitle)};
        alone.content.setTop(content.top() + style.textHeight(kPlotTitle) + style.px(3.0));
    }
    int rows = 1;
    int columns = 1;
    for (const PlotSpec* plot : plots) {
        rows = std::max(rows, plot->row + std::max(1, plot->rowSpan));
        columns = std::max(columns, plot->column + std::max(1, plot->columnSpan));
    }
    const auto across = tracks(content.left(), content.width(), columns, figure.columnShares, style.px(18.0));
    const auto down = tracks(content.top(), content.height(), rows, figure.rowShares, style.px(12.0));
    std::vector<PlotPlace> places;
    for (std::size_t i = 0; i < plots.size(); ++i) {
        const PlotSpec& plot = *plots[i];
        const auto& left = across[static_cast<std::size_t>(plot.column)];
        const auto& right = across[static_cast<std::size_t>(plot.column + std::max(1, plot.columnSpan) - 1)];
        const auto& top = down[static_cast<std::size_t>(plot.row)];
        const auto& bottom = down[static_cast<std::size_t>(plot.row + std::max(1, plot.rowSpan) - 1)];
        QRectF cell(
            QPointF(std::round(left.first), std::round(top.first)),
            QPointF(std::round(right.first + right.second), std::round(bottom.first + bottom.second)));
        const QSizeF least = (plot.table ? kLeastTable : kLeastAxes) * style.px(1.0);
        if (cell.width() < least.width() || cell.height() < least.height())
            return {alone};
        PlotPlace place{&plot, static_cast<int>(i), {}, {}, cell};
        if (!plot.plotTitle.isEmpty()) {
            place.title = style.elided(messageText(plot.plotTitle), kPlotTitle, cell.width());
            place.titleBaseline = {cell.left(), cell.top() + style.ascent(kPlotTitle)};
            place.content.setTop(cell.top() + style.textHeight(kPlotTitle) + style.px(3.0));
        }
        if (!hasRoomForPlot(style, place.content)) // a heading with nothing below it
            return {alone};
        places.push_back(std::move(place));
    }
    return places;
}

/// Wraps the caption, and `tail` behind it, at the foot of `inner`; returns what is left above it. Where
/// there is no room for all, the last of its parts, which dots keep apart, give way as a whole; a first part
/// that is too long alone ends in an ellipsis.
double placeCaption(const FigureStyle& style, const QRectF& inner, double rectHeight, const QString& caption,
                    const QString& tail, FigureLayout& layout)
{
    layout.captionStep = style.px(14.5);
    const int most = std::clamp(static_cast<int>((rectHeight - style.px(130.0)) / style.px(40.0)),
                                tail.isEmpty() ? 1 : 2, 4);
    const QString dot = QStringLiteral(" · ");
    QStringList parts = caption.split(dot);
    const auto wrap = [&] {
        const QStringList all = tail.isEmpty() ? parts : parts + QStringList(tail);
        layout.captionLines = style.wrapped(all.join(dot), kNoteText, inner.width(), most + 1);
        return layout.captionLines.size() <= most;
    };
    while (!wrap() && parts.size() > 1)
        parts.removeLast();
    if (layout.captionLines.size() > most) {
        layout.captionLines =
            style.wrapped(parts.front(), kNoteText, inner.width(), tail.isEmpty() ? most : most - 1);
        if (!tail.isEmpty())
            layout.captionLines.append(style.elided(tail, kNoteText, inner.width()));
    }
    const double height = style.textHeight(kNoteText) +
                          layout.captionStep * static_cast<double>(layout.captionLines.size() - 1);
    layout.captionBaseline = {inner.left(), inner.bottom() - height + style.ascent(kNoteText)};
    return inner.bottom() - height - style.px(6.0);
}

} // namespace

bool hasRoomForPlot(const FigureStyle& style, const QRectF& content)
{
    return content.width() > style.px(40.0) && content.height() > style.px(40.0);
}

FigureLayout layoutFigure(const FigureStyle& style, const QRectF& rect, const FigureSpec& figure)
{
    FigureLayout layout;
    const RenderOptions& options = style.options();
    // On paper the page gives the margin; a card in the window has its own.
    const bool isPrint = options.theme == Theme::Print;
    const double aside = style.px(isPrint ? 3.0 : 12.0);
    const QRectF inner =
        rect.adjusted(aside, style.px(isPrint ? 3.0 : 7.0), -aside, -style.px(isPrint ? 3.0 : 5.0));
    double top = inner.top();
    double bottom = inner.bottom();

    if (options.showsTitle && !figure.title.isEmpty()) {
        const double right = inner.right() - style.px(options.cornerWidth);
        const double lineWidth = std::max(0.0, right - inner.left());
        layout.title = style.elided(messageText(figure.title), kTitleText, lineWidth);
        layout.titleBaseline = {inner.left(), top + style.ascent(kTitleText)};
        top += style.textHeight(kTitleText);
        const QString formula = messageText(figure.formula);
        const double formulaWidth = style.textWidth(formula, kFormulaText);
        const double beside = style.textWidth(layout.title, kTitleText) + style.px(24.0) + formulaWidth;
        if (beside <= lineWidth) {
            layout.isFormulaBeside = true;
            layout.formula = formula;
            layout.formulaBaseline = {right, layout.titleBaseline.y()};
        } else if (formulaWidth <= inner.width() && rect.height() >= style.px(250.0)) {
            layout.formula = formula;
            layout.formulaBaseline = {inner.left(), top + style.px(3.0) + style.ascent(kFormulaText)};
            top += style.px(3.0) + style.textHeight(kFormulaText);
        }
        top += style.px(6.0);
    }
    const bool hasCaption = options.showsCaption && !figure.caption.isEmpty();
    const QString caption = messageText(figure.caption);
    if (hasCaption)
        bottom = placeCaption(style, inner, rect.height(), caption, {}, layout);
    const auto content = [&] {
        return QRectF(inner.left(), top, inner.width(), std::max(0.0, bottom - top));
    };
    layout.content = content();
    layout.plots = placePlots(style, layout.content, figure);
    if (hasCaption && layout.plots.size() <= figure.more.size() && figure.failure.isEmpty()) {
        const std::size_t hidden = figure.more.size();
        const Message note = hidden == 1 ? Message("one more plot where the figure is larger")
                                         : Message("{count} more plots where the figure is larger",
                                                   {{"count", std::to_string(hidden)}});
        bottom = placeCaption(style, inner, rect.height(), caption, messageText(note), layout);
        layout.content = content();
        layout.plots = placePlots(style, layout.content, figure);
    }
    return layout;
}

} // namespace ropewalk
