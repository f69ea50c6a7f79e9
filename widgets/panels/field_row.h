// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>

namespace ropewalk {

/// Name, control and the dot of a changed value in one line; where the control needs more room, in two. A
/// double-click on the name asks for what was there at first.
class FieldRow : public QWidget
{
    Q_OBJECT
public:
    /// Takes `control`. A check box carries its name itself: `name` is then only told to screen readers.
    FieldRow(const QString& name, QWidget* control, QWidget* parent = nullptr);

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
    bool m_namesItself;
    bool m_isChanged = false;
};

} // namespace ropewalk
