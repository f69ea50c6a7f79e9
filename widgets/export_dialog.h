// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/figure_spec.h"
#include "plot/figure_exporter.h"

#include <QDialog>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;

namespace ropewalk {

/// Asks how a figure goes out: format, size on paper, text size, theme; with a preview at true size. Writes
/// nothing.
class ExportDialog : public QDialog
{
    Q_OBJECT
public:
    ExportDialog(FigureSpec figure, const ExportOptions& options, QWidget* parent = nullptr);

    ExportOptions options() const;
    QComboBox* formatBox() const { return m_format; }
    QDoubleSpinBox* widthBox() const { return m_width; }

private:
    void updatePreview();

    FigureSpec m_figure;
    QComboBox* m_format;
    QComboBox* m_preset;
    QDoubleSpinBox *m_width, *m_height, *m_textPt, *m_dpi;
    QComboBox* m_theme;
    QCheckBox *m_title, *m_caption;
    QLabel *m_preview, *m_problem;
    class QPushButton* m_export;
};

} // namespace ropewalk
