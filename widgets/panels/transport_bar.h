// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "slider_scale.h"

#include <QList>
#include <QWidget>

class QAbstractButton;
class QComboBox;
class QSpinBox;

namespace ropewalk {

class NumberEdit;
class SliderTrack;

/// Query position m and key position n, both ≥ 0, tokens.
struct Positions
{
    qint64 m = 0, n = 0;

    bool operator==(const Positions&) const = default;
};

/// `from` with m (or n, when `movesKey`) brought to `target` and m−n kept; neither leaves 0..100 000 000.
Positions movedTogether(Positions from, qint64 target, bool movesKey);

/// Plays and places q and k: positions, their lock, the pair, the speed. Has no clock: who hears playToggled
/// moves m.
class TransportBar : public QWidget
{
    Q_OBJECT
public:
    explicit TransportBar(QWidget* parent = nullptr);

    void setPositions(qint64 m, qint64 n);
    void setLocked(bool isLocked);
    void setPlaying(bool isPlaying);
    void setPair(int pair, int pairCount);
    void setSpeed(double tokensPerSecond); ///< the nearest choice is shown

    SliderTrack* querySlider() const { return m_query.track; }
    SliderTrack* keySlider() const { return m_key.track; }
    NumberEdit* queryBox() const { return m_query.box; }
    NumberEdit* keyBox() const { return m_key.box; }
    QAbstractButton* playButton() const { return m_play; }
    QAbstractButton* lockButton() const { return m_lock; }
    QSpinBox* pairBox() const { return m_pair; }
    QComboBox* speedBox() const { return m_speed; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

signals:
    void playToggled(bool isPlaying);
    void lockToggled(bool isLocked);
    void positionsChanged(qint64 m, qint64 n); ///< live during a drag; with the lock on, m−n stays
    void speedChanged(double tokensPerSecond);
    void pairChanged(int pair);
    void editingStarted(); ///< of a position
    void editingFinished();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    /// One position: its letter is painted by the bar.
    struct PositionControl
    {
        QString letter;
        SliderTrack* track = nullptr;
        NumberEdit* box = nullptr;
        QRect letterBox;
    };
    struct Group;

    void build(PositionControl& control, bool isKey);
    void move(double target, bool movesKey);
    void showPositions();
    void restyle();
    QList<Group> groups() const;
    int arrange(int width, bool isPlacing);

    Positions m_positions{40, 25};
    bool m_isLocked = true;
    SliderScale m_scale;
    PositionControl m_query, m_key;
    QAbstractButton* m_play;
    QAbstractButton* m_lock;
    QSpinBox* m_pair;
    QComboBox* m_speed;
};

} // namespace ropewalk
