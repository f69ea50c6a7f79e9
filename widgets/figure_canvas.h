// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plot/figure_view.h"

#include <QHash>
#include <QRectF>
#include <QSet>
#include <QStringList>
#include <QWidget>

namespace ropewalk {

class CardChooser;

/// The place of the figures: one large, or several as cards of an overview (side by side where there is room,
/// else two one above the other, or one large with a strip of small ones). Given figures as values; says what
/// was picked. Keys are left to whoever holds it.
class FigureCanvas : public QWidget
{
    Q_OBJECT
public:
    /// `ids` of all figures that there are.
    explicit FigureCanvas(const QStringList& ids, QWidget* parent = nullptr);

    /// Shown by the view of its id. `isCurrent`: it answers what was last asked for.
    void setFigure(FigureSpec figure, bool isCurrent = true);
    /// The whole figure as it was given; a view may show less of it (one plane of several, a small one no
    /// labels).
    const FigureSpec& figure(const QString& id) const;
    /// Something else was asked for: until setFigure, what is shown is of before.
    void expect();
    /// The answer takes its time: pictures of before say that they are, and one that was out of sight
    /// meanwhile gives way to the sentence `text`.
    void showWaiting(const QString& text);
    bool isCurrent(const QString& id) const { return m_current.contains(id); }

    /// The configuration whose plane the overview shows: several circles find no room in a quarter of the
    /// window.
    void setSelectedLetter(const std::string& letter);
    void setCards(const QStringList& cards); ///< two or four ids, each once: the overview
    QStringList cards() const { return m_cardIds; }
    void setShown(const QString& id); ///< one of the ids, or "overview"
    QString shown() const { return m_shown; }
    void setRenderOptions(const RenderOptions& options);

    /// Ids of the figures that can be seen now, so that no others need be computed.
    QStringList visibleFigures() const;
    FigureView* view(const QString& id) const { return m_views.value(id); }
    /// The button in the corner of a card that asks for another figure in its place.
    QWidget* chooser(int card) const;
    /// The figure that export, copy and settings mean: the large one, or the card that had the focus last.
    QString currentFigure() const;

signals:
    void pairPicked(int pair);
    void distancePicked(qint64 distance);
    void queryPicked(qint64 m);
    void keyPicked(qint64 n);
    void positionsPicked(qint64 m, qint64 n);
    void positionsDragged(qint64 m, qint64 n);
    /// The main plot of a figure shows another part of its axes, in axis values; or the whole again.
    void viewRangeChanged(const QString& id, const QRectF& range);
    void viewRangeReset(const QString& id);
    void readOutChanged(const QString& id); ///< what FigureView::readOut() gives for the pointer
    void enlargeRequested(const QString& id);
    void contextRequested(const QString& id, const QPoint& globalPosition);
    void chooserRequested(int card, const QPoint& globalPosition);
    void currentFigureChanged(const QString& id);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    bool isStrip() const; ///< the overview as one large figure and a strip
    void arrange();
    void place(const QString& id, const QRect& card, bool isSmall);
    void handOver(const QString& id);
    void makeCurrent(const QString& id);

    QStringList m_ids;
    QHash<QString, FigureView*> m_views;
    QHash<QString, FigureSpec> m_figures; ///< as given
    QSet<QString> m_current;              ///< those that answer what was last asked for
    QSet<QString> m_unseen;               ///< came into sight and were not given since
    QStringList m_small;                  ///< ids in the strip
    std::string m_selectedLetter = "A";
    QList<QPair<QString, QRect>> m_places; ///< what is in sight, and its card
    QList<CardChooser*> m_choosers;        ///< one a card of the overview
    QStringList m_cardIds;
    QString m_shown = QStringLiteral("overview");
    QString m_large;   ///< of the strip
    QString m_focused; ///< had the focus last
    RenderOptions m_options;
};

} // namespace ropewalk
