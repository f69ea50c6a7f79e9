// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>

namespace ropewalk {

/// Name, control and the dot of a changed value in one line. A double-click on the name asks for what was
/// there at first.
class FieldRow : public QWidget
{
    Q_OBJECT
public:
    /// Takes `control`. Without a name the control, a check box, has its words itself and all of the line.
    FieldRow(const QString& name, QWidget* control, QWidget* parent = nullptr);

    /// Where the name or the words of the control find no room, the control stands under the name.
    void allowTwoLines();
    void setChanged(bool isChanged);
    bool isChanged() const { return m_isChanged; }
    QWidget* control() const { return m_control; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void restoreRequested();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;

private:
    void restyle();
    void placeControl();
    bool isStacked() const; ///< the control under the name

    QString m_name;
    QWidget* m_control;
    bool m_mayStack = false;
    bool m_isChanged = false;
};

} // namespace ropewalk
