// SPDX-License-Identifier: GPL-3.0-or-later
#include "reading_panel.h"

#include "../window_style.h"
#include "number_label.h"
#include "number_text.h"

#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QToolButton>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

enum Row { kTheta, kWavelength, kTurns, kAngle, kContribution, kScore, kRowCount };

constexpr double kPad = 16.0;

/// `value` with a fixed number of decimals and a true minus sign; digits stay where they are while it
/// changes.
QString fixed(double value, int decimals)
{
    QString text = QString::number(value, 'f', decimals);
    if (text.startsWith(u'-'))
        text[0] = QChar(0x2212);
    return text;
}

QString significant(double value, int digits)
{
    const double size = std::fabs(value);
    if (size != 0.0 && (size < 1e-4 || size >= 1e7)) {
        QString text = QString::number(value, 'e', digits - 1);
        if (text.startsWith(u'-'))
            text[0] = QChar(0x2212);
        return text;
    }
    const int before = size == 0.0 ? 0 : static_cast<int>(std::floor(std::log10(size)));
    const int decimals = std::max(0, digits - 1 - before);
    if (decimals == 0)
        return shownNumber(std::round(value), 15);
    return fixed(value, decimals);
}

QString bare(double value)
{
    return QString::number(value, 'g', 17);
}

/// The last line: text, and a dot when it says that numbers agree.
class Footer : public QWidget
{
public:
    using QWidget::QWidget;

    void show(const QString& text, bool isMatch)
    {
        m_text = text;
        m_isMatch = isMatch;
        setAccessibleName(text);
        update();
    }
    QSize sizeHint() const override { return {scaledPixels(100), scaledPixels(18)}; }
    QSize minimumSizeHint() const override { return {scaledPixels(40), sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent*) override
    {
        if (m_text.isEmpty())
            return;
        const ThemeColours& colours = windowColours();
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setFont(windowFont(TextRole::Small));
        painter.setPen(m_isMatch ? colours.good : colours.muted);
        const double radius = 4.0 * windowStyle().scale;
        const QRect line = rect().adjusted(0, 0, m_isMatch ? -static_cast<int>(3.0 * radius) : 0, 0);
        painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(m_text, Qt::ElideRight, line.width()));
        if (m_isMatch) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(colours.good);
            painter.drawEllipse(QPointF(width() - radius, height() / 2.0), radius, radius);
        }
    }

private:
    QString m_text;
    bool m_isMatch = false;
};

} // namespace

ReadingPanel::ReadingPanel(QWidget* parent)
    : QWidget(parent)
    , m_title(new QLabel(tr("Reading"), this))
    , m_copy(new QToolButton(this))
    , m_footer(new Footer(this))
{
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::AlternateBase);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    m_copy->setText(tr("copy"));
    m_copy->setAccessibleName(tr("copy all numbers of the reading"));
    m_copy->setToolTip(tr("all numbers with their digits, as text (Ctrl+C)"));
    m_copy->setFocusPolicy(Qt::TabFocus);
    connect(m_copy, &QToolButton::clicked, this, &ReadingPanel::copyRows);
    auto* head = new QHBoxLayout;
    head->setSpacing(0);
    head->addWidget(m_title, 1);
    head->addWidget(m_copy);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(head);
    for (int row = 0; row < kRowCount; ++row) {
        auto* name = new QLabel(this);
        auto* value = new NumberLabel(this);
        m_names.append(name);
        m_values.append(value);
        // No common column: a long value may use what a short name leaves.
        auto* line = new QHBoxLayout;
        line->addWidget(name);
        line->addWidget(value, 1);
        layout->addLayout(line);
        m_lines.append(line);
    }
    layout->addWidget(m_footer);
    restyle();
    setReading(std::nullopt);
}

void ReadingPanel::setReading(const std::optional<Reading>& reading)
{
    const QString none = QString(QChar(0x2013));
    const auto set = [this](int row, const QString& name, const QString& text, const QString& copied) {
        m_names[row]->setText(name);
        m_values[row]->setText(text, copied);
        m_values[row]->setAccessibleName(name);
        m_values[row]->setEnabled(!copied.isEmpty());
    };
    if (!reading) {
        set(kTheta, tr("pair"), none, {});
        set(kWavelength, tr("wavelength"), none, {});
        set(kTurns, tr("turns in training"), none, {});
        set(kAngle, tr("(m − n) θ"), none, {});
        set(kContribution, tr("contribution"), none, {});
        set(kScore, tr("score / head_dim"), none, {});
        return;
    }
    const Reading& r = *reading;
    set(kTheta, tr("pair %1").arg(r.pair),
        r.isStill ? tr("does not turn") : tr("θ = %1").arg(significant(r.thetaRadians, 5)),
        bare(r.thetaRadians));
    set(kWavelength, tr("wavelength"),
        r.wavelengthTokens ? tr("%1 tokens").arg(significant(*r.wavelengthTokens, 4)) : none,
        r.wavelengthTokens ? bare(*r.wavelengthTokens) : QString());
    set(kTurns,
        r.trainingLength ? tr("turns in %1").arg(shownNumber(static_cast<double>(*r.trainingLength), 15))
                         : tr("turns in training"),
        r.turnsInTraining ? significant(*r.turnsInTraining, 4) : none,
        r.turnsInTraining ? bare(*r.turnsInTraining) : QString());
    set(kAngle, tr("(m − n) θ"),
        tr("%1 × θ = %2 rad")
            .arg(shownNumber(static_cast<double>(r.distance), 15), significant(r.distanceAngle, 5)),
        bare(r.distanceAngle));
    set(kContribution, tr("contribution"), fixed(r.contribution, 12), bare(r.contribution));
    set(kScore, tr("score / head_dim"), fixed(r.score, 12), bare(r.score));
}

void ReadingPanel::setReferenceMatch(const QString& text)
{
    m_footerText = text;
    m_footerTip.clear();
    m_isMatch = true;
    showFooter();
}

void ReadingPanel::setVariant(const QString& formula, const QString& source)
{
    m_footerText = formula;
    m_footerTip = source.isEmpty() ? formula : tr("%1\n%2").arg(formula, source);
    m_isMatch = false;
    showFooter();
}

void ReadingPanel::setPointed(const std::optional<HoverTable>& table, const QStringList& letters)
{
    m_pointedLine.clear();
    m_pointedText.clear();
    if (table) {
        QStringList parts{table->title};
        m_pointedText = table->title;
        for (const QString& letter : letters)
            m_pointedText += u'\t' + letter;
        m_pointedText += u'\n';
        for (const HoverTable::Row& row : table->rows) {
            QStringList values;
            for (qsizetype i = 0; i < row.values.size(); ++i)
                if (!row.values[i].isEmpty())
                    values += letters.value(i).isEmpty() ? row.values[i] : letters[i] + u' ' + row.values[i];
            // The numbers before the names: the line is cut short at its end.
            parts += values.isEmpty() ? row.label : values.join(QStringLiteral(", "));
            m_pointedText += (QStringList{row.label} + row.values).join(u'\t') + u'\n';
        }
        m_pointedLine = parts.join(QStringLiteral(" · "));
    }
    showFooter();
}

void ReadingPanel::showFooter()
{
    const bool isPointed = !m_pointedLine.isEmpty();
    static_cast<Footer*>(m_footer)->show(isPointed ? m_pointedLine : m_footerText, m_isMatch && !isPointed);
    m_footer->setToolTip(isPointed ? QString() : m_footerTip);
}

QString ReadingPanel::lastLine() const
{
    return m_footer->accessibleName();
}

QString ReadingPanel::textToCopy() const
{
    return m_pointedText.isEmpty() ? rowsText() : m_pointedText;
}

QString ReadingPanel::rowsText() const
{
    QString text;
    for (int row = 0; row < kRowCount; ++row)
        if (m_values[row]->isEnabled())
            text += m_names[row]->text() + u'\t' + m_values[row]->copiedText() + u'\n';
    return text;
}

void ReadingPanel::copy()
{
    QApplication::clipboard()->setText(textToCopy());
    QToolTip::showText(mapToGlobal(QPoint(scaledPixels(kPad), 0)), tr("copied"), this);
}

/// The button lies here, so nothing is under the pointer but it.
void ReadingPanel::copyRows()
{
    QApplication::clipboard()->setText(rowsText());
    QToolTip::showText(m_copy->mapToGlobal(QPoint(0, m_copy->height())), tr("copied"), this);
}

void ReadingPanel::restyle()
{
    const int pad = scaledPixels(kPad);
    layout()->setContentsMargins(pad, scaledPixels(7), pad, scaledPixels(5));
    layout()->setSpacing(scaledPixels(1));
    for (QHBoxLayout* line : m_lines)
        line->setSpacing(scaledPixels(8));
    m_title->setContentsMargins(0, 0, 0, scaledPixels(3));
    m_title->setFont(windowFont(TextRole::Section));
    m_copy->setFont(windowFont(TextRole::Small));
    // The column has no line to spare: the button is as high as the title beside it.
    m_copy->setFixedHeight(m_title->sizeHint().height());
    QPalette quiet = palette();
    quiet.setColor(QPalette::WindowText, windowColours().muted);
    m_title->setPalette(quiet);
    for (QLabel* name : m_names) {
        name->setFont(windowFont(TextRole::Label));
        name->setMinimumWidth(scaledPixels(12)); // where the room is scarce the digits keep theirs
        name->setPalette(quiet);
    }
}

void ReadingPanel::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const int pad = scaledPixels(kPad);
    painter.fillRect(QRect(pad, 0, width() - 2 * pad, 1), windowColours().rule);
}

void ReadingPanel::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::StyleChange)
        restyle();
}

} // namespace ropewalk
