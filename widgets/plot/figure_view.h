// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "figure_renderer.h"

#include <QWidget>

#include <memory>

namespace ropewalk {

/// Shows one figure in the window, as paintFigure draws it, and says what was picked. Holds no state of the
/// program. The drawn picture is kept, so that hovering repaints only the read-out.
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

signals:
    void pairPicked(int pair);
    void distancePicked(qint64 distance);      ///< tokens, from the decay's axis
    void positionsDragged(qint64 m, qint64 n); ///< an arrow of the large circle was dragged
    void enlargeRequested();                   ///< double-click
    void contextRequested(const QPoint& globalPosition);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    struct Private;
    std::unique_ptr<Private> d; // the picture and the hover state are the .cpp's business
};

} // namespace ropewalk
