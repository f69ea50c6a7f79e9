// SPDX-License-Identifier: GPL-3.0-or-later
#include "figure_layout.h"

#include "widgets/message_text.h"

#include <algorithm>

namespace ropewalk {

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
        layout.title = style.elided(messageText(figure.title), kTitleText, inner.width());
        layout.titleBaseline = {inner.left(), top + style.ascent(kTitleText)};
        top += style.textHeight(kTitleText);
        const QString formula = messageText(figure.formula);
        const double formulaWidth = style.textWidth(formula, kFormulaText);
        const double beside = style.textWidth(layout.title, kTitleText) + style.px(24.0) + formulaWidth;
        if (beside <= inner.width()) {
            layout.isFormulaBeside = true;
            layout.formula = formula;
            layout.formulaBaseline = {inner.right(), layout.titleBaseline.y()};
        } else if (formulaWidth <= inner.width() && rect.height() >= style.px(250.0)) {
            layout.formula = formula;
            layout.formulaBaseline = {inner.left(), top + style.px(3.0) + style.ascent(kFormulaText)};
            top += style.px(3.0) + style.textHeight(kFormulaText);
        }
        top += style.px(6.0);
    }
    if (options.showsCaption && !figure.caption.isEmpty()) {
        layout.captionStep = style.px(14.5);
        const int most =
            std::clamp(static_cast<int>((rect.height() - style.px(130.0)) / style.px(48.0)), 1, 4);
        layout.captionLines = style.wrapped(messageText(figure.caption), kNoteText, inner.width(), most);
        const double height = style.textHeight(kNoteText) +
                              layout.captionStep * static_cast<double>(layout.captionLines.size() - 1);
        layout.captionBaseline = {inner.left(), bottom - height + style.ascent(kNoteText)};
        bottom -= height + style.px(6.0);
    }
    layout.content = QRectF(inner.left(), top, inner.width(), std::max(0.0, bottom - top));
    return layout;
}

} // namespace ropewalk
