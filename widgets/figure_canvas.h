// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plot/figure_view.h"

#include <QHash>
#include <QStringList>
#include <QWidget>

namespace ropewalk {

/// The place of the figures: one large, or all as an overview (2×2 where there is room, else one large with a
/// strip of small ones). Given figures as values; says what was picked. Keys are left to whoever holds it.
class FigureCanvas : public QWidget
{
    Q_OBJECT
public:
    /// `ids` in the order of the overview.
    explicit FigureCanvas(const QStringList& ids, QWidget* parent = nullptr);

    void setFigure(FigureSpec figure); ///< shown by the view of its id
    /// The whole figure as it was given; a view may show less of it (one plane of several, a small one no
    /// labels).
    const FigureSpec& figure(const QString& id) const;
    /// The configuration whose plane the overview shows: several circles find no room in a quarter of the
    /// window.
    void setSelectedLetter(const std::string& letter);
    void setShown(const QString& id); ///< one of the ids, or "overview"
    QString shown() const { return m_shown; }
    void setRenderOptions(const RenderOptions& options);

    /// Ids of the figures that can be seen now, so that no others need be computed.
    QStringList visibleFigures() const;
    FigureView* view(const QString& id) const { return m_views.value(id); }
    /// The figure that export and copy mean: the large one, or the one with the focus.
    QString currentFigure() const;

signals:
    void pairPicked(int pair);
    void distancePicked(qint64 distance);
    void positionsDragged(qint64 m, qint64 n);
    void enlargeRequested(const QString& id);
    void contextRequested(const QString& id, const QPoint& globalPosition);
    void visibleFiguresChanged();

protected:
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    bool isStrip() const; ///< the overview as one large figure and a strip
    void arrange();
    void place(const QString& id, const QRect& card, bool isSmall);
    void show(const QString& id);

    QStringList m_ids;
    QHash<QString, FigureView*> m_views;
    QHash<QString, FigureSpec> m_figures; ///< as given
    QStringList m_small;                  ///< ids in the strip
    std::string m_selectedLetter = "A";
    QList<QRect> m_cards;
    QString m_shown = QStringLiteral("overview");
    QString m_large; ///< of the strip
    RenderOptions m_options;
};

} // namespace ropewalk
