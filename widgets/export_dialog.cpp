// SPDX-License-Identifier: GPL-3.0-or-later
#include "export_dialog.h"

#include "message_text.h"
#include "window_style.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QSignalBlocker>

#include <array>

namespace ropewalk {
namespace {

/// Sizes that journals and slides ask for.
struct SizePreset
{
    const char* name;
    double widthMm, heightMm;
};
constexpr std::array kSizes{
    SizePreset{QT_TRANSLATE_NOOP("ropewalk::ExportDialog", "one column"), 85, 60},
    SizePreset{QT_TRANSLATE_NOOP("ropewalk::ExportDialog", "one and a half columns"), 120, 80},
    SizePreset{QT_TRANSLATE_NOOP("ropewalk::ExportDialog", "two columns"), 174, 110},
    SizePreset{QT_TRANSLATE_NOOP("ropewalk::ExportDialog", "slide, 16:9"), 254, 143},
};

QDoubleSpinBox* makeNumber(double lowest, double highest, double value, int decimals, const QString& suffix,
                           const QString& name)
{
    auto* box = new QDoubleSpinBox;
    box->setRange(lowest, highest);
    box->setDecimals(decimals);
    box->setValue(value);
    box->setSuffix(suffix);
    box->setAccessibleName(name);
    return box;
}

} // namespace

ExportDialog::ExportDialog(FigureSpec figure, const ExportOptions& options, QWidget* parent)
    : QDialog(parent)
    , m_figure(std::move(figure))
    , m_format(new QComboBox)
    , m_preset(new QComboBox)
    , m_width(makeNumber(10, 1000, options.sizeMm.width(), 1, tr(" mm"), tr("width")))
    , m_height(makeNumber(10, 1000, options.sizeMm.height(), 1, tr(" mm"), tr("height")))
    , m_textPt(makeNumber(4, 48, options.textPt, 1, tr(" pt"), tr("text size")))
    , m_dpi(makeNumber(30, 1200, options.dpi, 0, tr(" dpi"), tr("resolution")))
    , m_theme(new QComboBox)
    , m_title(new QCheckBox(tr("&Title and formula")))
    , m_caption(new QCheckBox(tr("&Caption")))
    , m_preview(new QLabel)
    , m_problem(new QLabel)
{
    setWindowTitle(tr("Export figure"));
    m_format->addItems({tr("PDF"), tr("SVG"), tr("PNG")});
    m_format->setCurrentIndex(static_cast<int>(options.format));
    m_preset->addItem(tr("own size"));
    for (const SizePreset& size : kSizes)
        m_preset->addItem(tr("%1: %2 × %3 mm").arg(tr(size.name)).arg(size.widthMm).arg(size.heightMm));
    m_theme->addItems({tr("light"), tr("dark"), tr("print")});
    m_theme->setCurrentIndex(static_cast<int>(options.theme));
    m_title->setChecked(options.showsTitle);
    m_caption->setChecked(options.showsCaption);
    m_problem->setWordWrap(true);
    m_preview->setAlignment(Qt::AlignCenter);
    m_preview->setAccessibleName(tr("Preview at true size"));

    auto* form = new QFormLayout;
    form->addRow(tr("&Format"), m_format);
    form->addRow(tr("&Size"), m_preset);
    form->addRow(tr("&Width"), m_width);
    form->addRow(tr("&Height"), m_height);
    form->addRow(tr("Te&xt"), m_textPt);
    form->addRow(tr("&Resolution"), m_dpi);
    form->addRow(tr("The&me"), m_theme);
    form->addRow(m_title);
    form->addRow(m_caption);
    form->addRow(m_problem);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    auto* scroll = new QScrollArea;
    scroll->setWidget(m_preview);
    scroll->setWidgetResizable(true);
    scroll->setMinimumSize(320, 240);
    auto* side = new QWidget;
    side->setLayout(form);
    side->setFixedWidth(scaledPixels(270));
    auto* top = new QHBoxLayout;
    top->addWidget(side);
    top->addWidget(scroll, 1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    m_export = buttons->addButton(tr("&Export…"), QDialogButtonBox::AcceptRole);
    m_export->setDefault(true);
    auto* all = new QVBoxLayout(this);
    all->addLayout(top, 1);
    all->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);

    connect(m_preset, &QComboBox::activated, this, [this](int index) {
        if (index == 0)
            return;
        const SizePreset& size = kSizes[static_cast<std::size_t>(index - 1)];
        const QSignalBlocker blockWidth(m_width);
        const QSignalBlocker blockHeight(m_height);
        m_width->setValue(size.widthMm);
        m_height->setValue(size.heightMm);
        updatePreview();
    });
    for (QDoubleSpinBox* box : {m_width, m_height})
        connect(box, &QDoubleSpinBox::valueChanged, this, [this] { m_preset->setCurrentIndex(0); });
    for (QDoubleSpinBox* box : {m_width, m_height, m_textPt, m_dpi})
        connect(box, &QDoubleSpinBox::valueChanged, this, &ExportDialog::updatePreview);
    for (QComboBox* box : {m_format, m_theme})
        connect(box, &QComboBox::currentIndexChanged, this, &ExportDialog::updatePreview);
    for (QCheckBox* box : {m_title, m_caption})
        connect(box, &QCheckBox::toggled, this, &ExportDialog::updatePreview);
    for (std::size_t i = 0; i < kSizes.size(); ++i)
        if (options.sizeMm == QSizeF(kSizes[i].widthMm, kSizes[i].heightMm))
            m_preset->setCurrentIndex(static_cast<int>(i) + 1);
    updatePreview();
    const QSize room = screen() ? screen()->availableSize() : QSize(1024, 768);
    resize(std::min(scaledPixels(270) + 610, room.width() - 24),
           std::min({scaledPixels(500), 690, room.height() - 60}));
}

ExportOptions ExportDialog::options() const
{
    ExportOptions options;
    options.format = static_cast<ExportFormat>(m_format->currentIndex());
    options.sizeMm = {m_width->value(), m_height->value()};
    options.dpi = m_dpi->value();
    options.theme = static_cast<Theme>(m_theme->currentIndex());
    options.textPt = m_textPt->value();
    options.showsTitle = m_title->isChecked();
    options.showsCaption = m_caption->isChecked();
    return options;
}

/// The preview is the export itself, as PNG at the screen's own resolution: what is seen is what is written.
void ExportDialog::updatePreview()
{
    ExportOptions preview = options();
    m_dpi->setEnabled(preview.format == ExportFormat::Png);
    preview.format = ExportFormat::Png;
    const double ratio = devicePixelRatioF();
    preview.dpi = std::clamp((screen() ? screen()->logicalDotsPerInch() : 96.0) * ratio, 30.0, 300.0);
    const Result<QByteArray> picture = exportFigure(m_figure, preview);
    m_export->setEnabled(picture.hasValue());
    m_problem->setText(picture ? QString() : messageText(picture.error().message));
    m_problem->setVisible(!picture.hasValue());
    if (!picture)
        return;
    QPixmap pixmap;
    pixmap.loadFromData(*picture, "PNG");
    pixmap.setDevicePixelRatio(ratio);
    m_preview->setPixmap(pixmap);
}

} // namespace ropewalk
