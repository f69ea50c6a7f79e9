// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "figure_renderer.h"
#include "hover_table.h"

#include <QWidget>

#include <memory>

namespace ropewalk {

struct PlotRange;

/// Shows one figure in the window, as paintFigure draws it, and says what was picked. Holds no state of the
/// program. The drawn picture is kept, so that hovering repaints only the read-out.
///
/// The axes of a plot can be narrowed: the wheel zooms about the pointer (Shift: x only, Ctrl: y only), the
/// middle button or Shift and the left one drag. Backspace, or a click on "whole range" in the plot's corner,
/// goes back. Axes of the figure's other plots with the same label and range go along. A figure of the same
/// kind that arrives meanwhile is shown in the same range.
class FigureView : public QWidget
{
    Q_OBJECT
public:
    explicit FigureView(QWidget* parent = nullptr);
    ~FigureView() override;

    void setFigure(FigureSpec figure);
    const FigureSpec& figure() const;
    void setRenderOptions(const RenderOptions& options);
    void setBusy(bool isBusy); ///< a quiet sign in the corner

    /// What is read out at the pointer now; empty where nothing is.
    const std::optional<HoverTable>& readOut() const;
    bool isZoomed() const; ///< any of its plots
    void showWholeRange(); ///< of all plots

signals:
    void pairPicked(int pair);
    void distancePicked(qint64 distance);     ///< tokens
    void queryPicked(qint64 m);               ///< on an axis of query positions alone
    void keyPicked(qint64 n);                 ///< on an axis of key positions alone
    void positionsPicked(qint64 m, qint64 n); ///< on a map of query and key positions
    /// The main plot shows another part of its axes, in axis values.
    void viewRangeChanged(double xLower, double xUpper, double yLower, double yUpper);
    void viewRangeReset(); ///< the main plot shows the whole of its axes again
    void readOutChanged();
    void positionsDragged(qint64 m, qint64 n); ///< an arrow of the large circle was dragged
    void enlargeRequested();                   ///< double-click
    void contextRequested(const QPoint& globalPosition);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    void changeRange(int plot, const PlotRange& range);
    void endReading();

    struct Private;
    std::unique_ptr<Private> d; // the picture and the hover state are the .cpp's business
};

} // namespace ropewalk
