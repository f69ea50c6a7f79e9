// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "../plot/figure_theme.h"

#include <QAbstractButton>

namespace ropewalk {

/// The button in the corner of a card that asks for another figure in its place. It is seen while the pointer
/// is on the card or the focus on the button, so that nothing covers a figure at rest.
class CardChooser : public QAbstractButton
{
    Q_OBJECT
public:
    explicit CardChooser(QWidget* parent = nullptr);

    void setFigureTitle(const QString& title);   ///< of the figure that stands there, for its name
    void setGround(const ThemeColours& colours); ///< of the figure beneath
    void setOffered(bool isOffered);             ///< the pointer is on the card

    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    ThemeColours m_colours;
    bool m_isOffered = false;
};

} // namespace ropewalk
