// SPDX-License-Identifier: GPL-3.0-or-later
// Files: sessions, models, exports, the clipboard, what is dropped.

#include "main_window.h"

#include "core/config_keys.h"
#include "core/io/model_file.h"
#include "file_text.h"
#include "session_edits.h"
#include "tensors.h"
#include "widgets/export_dialog.h"
#include "widgets/figure_canvas.h"
#include "widgets/message_text.h"
#include "widgets/panels/message_bar.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QCursor>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QRegularExpression>
#include <QScreen>
#include <QTextBrowser>
#include <QVBoxLayout>

#include <algorithm>

namespace ropewalk {
namespace {

/// Neither a preview nor a picture of before is a result: it does not leave the window.
Error stillComputing()
{
    return {
        ErrorCode::Output, "the figure is not computed to its end; expected a moment without changes", {}};
}

} // namespace

void MainWindow::report(const Error& error)
{
    const QString text = messageText(error.message);
    const QString place = QFileInfo(QString::fromStdString(error.context)).fileName();
    m_messageBar->showMessage({place.isEmpty() ? "compute" : "file",
                               MessageKind::Error,
                               place.isEmpty() ? text : place + ": " + text,
                               {}});
}

bool MainWindow::openFile(const QString& path)
{
    m_messageBar->dismiss("file");
    if (isTensorFile(path)) {
        if (!openTensors(choiceForFile(path)))
            return false;
        remember(path);
        return true;
    }
    if (isGgufFile(path.toStdString()))
        return placeModel(path, false);
    const Result<std::string> text = readTextFile(path);
    if (!text) {
        report(text.error());
        return false;
    }
    if (!looksLikeSession(*text))
        return placeModel(path, false);
    if (!mayClose())
        return false;
    const Result<std::vector<Issue>> notes = m_document.openSession(path);
    if (!notes) {
        report(notes.error());
        return false;
    }
    m_notes = {{{}, *notes}};
    m_notesTitle = QFileInfo(path).fileName();
    if (!notes->empty())
        m_messageBar->showMessage(
            {"notes",
             MessageKind::Warning,
             tr("%1: %n remark(s) on reading", nullptr, static_cast<int>(notes->size())).arg(m_notesTitle),
             {{"details", tr("Details")}}});
    remember(path);
    return true;
}

bool MainWindow::openTensors(const TensorChoice& choice)
{
    m_messageBar->dismiss("file");
    FigureOptions options = m_document.session().options;
    options.content = Content::File;
    options.tensorChoice = choice;
    if (const Result<void> loaded = loadTensors(options); !loaded) {
        report(loaded.error());
        return false;
    }
    const HeadTensors& tensors = *options.tensors;
    const std::vector<SessionConfiguration>& list = m_document.session().configurations;
    const auto fits = [&](const SessionConfiguration& configuration) {
        return configuration.config.headDim == tensors.headDim;
    };
    const bool isAnyInSight =
        std::any_of(list.begin(), list.end(), [&](const SessionConfiguration& configuration) {
            return !configuration.isHidden && fits(configuration);
        });
    const auto model = std::find_if(m_presets.begin(), m_presets.end(),
                                    [](const Preset& preset) { return preset.id == kBuiltinTensorsPreset; });
    if (!isAnyInSight && choice.file.starts_with("builtin:") && model != m_presets.end()) {
        // The model that they are of takes the place of the selected one; what is not as wide has no score
        // with them.
        editList(tr("open %1").arg(QString::fromStdString(tensors.name)),
                 [&](auto& configurations, int& selected) {
                     SessionConfiguration& place = configurations[static_cast<std::size_t>(selected)];
                     place = asOpened(model->configurations.front(), place.letter, place.colour);
                     for (SessionConfiguration& configuration : configurations)
                         configuration.isHidden = !fits(configuration);
                 });
    } else if (!isAnyInSight) {
        report({ErrorCode::BadInput,
                {"{tensors} has rows of {width} channels, and no configuration shown has this head_dim; "
                 "expected the model that "
                 "they are of, or one as wide, first",
                 {{"tensors", tensors.name}, {"width", std::to_string(tensors.headDim)}}},
                {}});
        return false;
    }
    options.m = std::min(options.m, tensors.tokens - 1); // there are rows for its tokens only
    options.n = std::min(options.n, tensors.tokens - 1);
    m_document.setOptions(options);
    m_messageBar->dismiss("tensors"); // that others were closed
    return true;
}

void MainWindow::chooseTensors()
{
    QMenu menu(this);
    for (const BuiltinTensors& builtin : builtinTensors())
        menu.addAction(QString::fromStdString(builtin.title), this, [this, name = builtin.name] {
            TensorChoice choice;
            choice.file = "builtin:" + name;
            openTensors(choice);
        });
    menu.addSeparator();
    // The other heads of the file that is open.
    const FigureOptions& options = m_document.session().options;
    if (options.tensors && options.tensors->heads > 1) {
        QMenu* heads = menu.addMenu(tr("&Head"));
        constexpr std::int64_t kMostListed = 256;
        for (std::int64_t head = 0; head < std::min(kMostListed, options.tensors->heads); ++head) {
            TensorChoice choice = options.tensorChoice;
            choice.head = head;
            QAction* action =
                heads->addAction(QString::number(head), this, [this, choice] { openTensors(choice); });
            action->setCheckable(true);
            action->setChecked(head == options.tensorChoice.head);
        }
    }
    menu.addAction(tr("&Open a file…"), this, [this] {
        const QString path =
            QFileDialog::getOpenFileName(this, tr("Open queries and keys"), m_settings.lastFolder,
                                         tr("Tensors (*.npy *.npz *.safetensors);;All files (*)"));
        if (!path.isEmpty() && openTensors(choiceForFile(path)))
            remember(path);
    });
    menu.exec(QCursor::pos());
}

bool MainWindow::addFile(const QString& path)
{
    return placeModel(path, true);
}

/// Reads a model's configuration; its first configuration takes the place of the selected one (or a place of
/// its own), the others places of their own as long as there are any.
bool MainWindow::placeModel(const QString& path, bool isAdded)
{
    const QString name = QFileInfo(path).completeBaseName();
    Result<ModelReading> reading = readModelFile(path.toStdString(), name.toStdString());
    if (!reading) {
        report(reading.error());
        return false;
    }
    m_notes = {{{}, reading->notes}};
    m_notesTitle = QFileInfo(path).fileName();
    if (reading->configurations.empty()) {
        m_messageBar->showMessage({"notes",
                                   MessageKind::Warning,
                                   tr("%1: no rotary embedding was found in this file").arg(m_notesTitle),
                                   {{"details", tr("Details")}}});
        return false;
    }
    std::vector<SessionConfiguration> list = m_document.session().configurations;
    int selected = m_document.session().selected;
    std::size_t placed = 0;
    for (RopeConfig config : reading->configurations) {
        if (config.layerType) // several rows of one model are told apart by the kind of layer
            config.name += ", " + *config.layerType;
        m_notes.push_back({QString::fromStdString(config.name), config.notes});
        if (placed == 0 && !isAdded) {
            SessionConfiguration& place = list[static_cast<std::size_t>(selected)];
            place = asOpened(config, place.letter, place.colour);
        } else if (list.size() < kMostConfigurations) {
            const auto [letter, colour] = freeLetter(list);
            list.push_back(asOpened(config, letter, colour));
            if (placed == 0)
                selected = static_cast<int>(list.size()) - 1;
        } else {
            break;
        }
        ++placed;
    }
    if (placed == 0) {
        m_messageBar->showMessage({"notes",
                                   MessageKind::Warning,
                                   tr("There is room for four configurations: remove one first"),
                                   {}});
        return false;
    }
    m_document.editConfigurations(std::move(list), selected, tr("open %1").arg(m_notesTitle));
    pickTurningPair();
    int assumed = 0;
    int contradictions = 0;
    for (const Notes& notes : m_notes)
        for (const Issue& note : notes.list) {
            assumed += note.severity == Severity::Assumed;
            contradictions += note.severity == Severity::Conflict || note.severity == Severity::Warning;
        }
    QString said = tr("Read %1").arg(m_notesTitle);
    if (assumed > 0)
        said += tr(" · %1 assumed").arg(assumed);
    if (contradictions > 0)
        said += tr(" · %1 to look at").arg(contradictions);
    if (placed < reading->configurations.size())
        said += tr(" · %1 kinds of layers found no room").arg(reading->configurations.size() - placed);
    m_messageBar->showMessage({"notes",
                               contradictions > 0 ? MessageKind::Warning : MessageKind::Information,
                               said,
                               {{"details", tr("Details")}}});
    remember(path);
    return true;
}

/// A config.json or a bare block of rope parameters, for the selected configuration.
void MainWindow::pasteConfiguration()
{
    std::vector<SessionConfiguration> list = m_document.session().configurations;
    const int selected = m_document.session().selected;
    SessionConfiguration& place = list[static_cast<std::size_t>(selected)];
    const QString text = QApplication::clipboard()->text();
    const Result<RopeConfig> pasted = pastedConfig(text.toStdString(), place.config);
    if (!pasted) {
        report(pasted.error());
        return;
    }
    place.config = *pasted;
    place.original = *pasted; // what is edited from here on differs from this
    m_notes = {{{}, pasted->notes}};
    m_notesTitle = tr("pasted text");
    const QString letter = QString::fromStdString(place.letter);
    m_document.editConfigurations(std::move(list), selected, tr("paste a configuration"));
    m_messageBar->showMessage(
        {"notes", MessageKind::Information, tr("Pasted into %1").arg(letter), {{"details", tr("Details")}}});
}

void MainWindow::showNotes()
{
    QString html = "<table cellpadding='4'>";
    for (const Notes& notes : m_notes) {
        // Kinds of layers have the same fields: whose they are stands above them.
        if (m_notes.size() > 2 && !notes.of.isEmpty())
            html += "<tr><td colspan='3'><h4>" + notes.of.toHtmlEscaped() + "</h4></td></tr>";
        for (const Issue& note : notes.list) {
            const std::string_view kind = word(note.severity);
            html += "<tr><td>" + QString::fromUtf8(kind.data(), static_cast<qsizetype>(kind.size())) +
                    "</td><td><b>" + QString::fromStdString(note.field).toHtmlEscaped() + "</b></td><td>" +
                    messageText(note.text).toHtmlEscaped() + "</td></tr>";
        }
    }
    showText(tr("What was read: %1").arg(m_notesTitle), html + "</table>");
}

/// A text that may be longer than the screen: it scrolls, and the button stays in sight.
void MainWindow::showText(const QString& title, const QString& html)
{
    QDialog dialog(this);
    dialog.setWindowTitle(title);
    auto* text = new QTextBrowser;
    text->setHtml(html);
    text->setAccessibleName(title);
    auto* close = new QPushButton(tr("&Close"));
    connect(close, &QPushButton::clicked, &dialog, &QDialog::accept);
    auto* layout = new QVBoxLayout(&dialog);
    layout->addWidget(text);
    layout->addWidget(close, 0, Qt::AlignRight);
    const QSize room = screen()->availableSize();
    dialog.resize(std::min(720, room.width() - 24), std::min(520, room.height() - 60));
    dialog.exec();
}

void MainWindow::openWithDialog()
{
    const QString path = QFileDialog::getOpenFileName(
        this, tr("Open"), m_settings.lastFolder,
        tr("Sessions, models, tensors (*.json *.gguf *.npy *.npz *.safetensors);;All files (*)"));
    if (!path.isEmpty())
        openFile(path);
}

bool MainWindow::save()
{
    return m_document.path().isEmpty() ? saveAs() : saveTo(m_document.path());
}

bool MainWindow::saveAs()
{
    const std::string& model = m_document.session().configurations.front().config.name;
    const QString suggestion =
        m_settings.lastFolder + "/" +
        QString::fromStdString(model).toLower().replace(QRegularExpression("[^a-z0-9.]+"), "-") +
        ".rope.json";
    QString path = QFileDialog::getSaveFileName(this, tr("Save session"), suggestion,
                                                tr("Ropewalk sessions (*.rope.json)"));
    if (path.isEmpty())
        return false;
    if (!path.endsWith(".json"))
        path += ".rope.json";
    return saveTo(path);
}

bool MainWindow::saveTo(const QString& path)
{
    const Result<void> saved = m_document.saveTo(path);
    if (!saved) {
        report(saved.error());
        return false;
    }
    remember(path);
    return true;
}

void MainWindow::remember(const QString& path)
{
    const QString whole = QFileInfo(path).absoluteFilePath();
    m_settings.lastFolder = QFileInfo(path).absolutePath();
    m_settings.recentFiles.removeAll(whole);
    m_settings.recentFiles.prepend(whole);
    while (m_settings.recentFiles.size() > 8)
        m_settings.recentFiles.removeLast();
    rebuildRecentMenu();
}

void MainWindow::rebuildRecentMenu()
{
    m_recentMenu->clear();
    for (const QString& path : std::as_const(m_settings.recentFiles))
        m_recentMenu->addAction(QFileInfo(path).fileName(), this, [this, path] { openFile(path); })
            ->setToolTip(path);
    m_recentMenu->setEnabled(!m_settings.recentFiles.isEmpty());
}

FigureSpec MainWindow::currentFigure() const
{
    return m_canvas->figure(m_canvas->currentFigure());
}

/// Neither a preview nor of before the last change.
bool MainWindow::isFinished(const QString& figure) const
{
    return m_canvas->isCurrent(figure) && !m_canvas->figure(figure).isCoarse;
}

bool MainWindow::exportTo(const QString& path, const QString& figure, const ExportOptions& options)
{
    const Result<QByteArray> picture = isFinished(figure) ? exportFigure(m_canvas->figure(figure), options)
                                                          : Result<QByteArray>(stillComputing());
    if (!picture) {
        report(picture.error());
        return false;
    }
    const Result<void> written = writeFile(path, *picture);
    if (!written) {
        report(written.error());
        return false;
    }
    m_messageBar->showMessage(
        {"export", MessageKind::Information, tr("Written: %1").arg(QFileInfo(path).fileName()), {}});
    return true;
}

void MainWindow::exportWithDialog()
{
    const QString figure = m_canvas->currentFigure();
    ExportDialog dialog(currentFigure(), m_settings.exportOptions, this);
    if (dialog.exec() != QDialog::Accepted)
        return;
    m_settings.exportOptions = dialog.options();
    const QString ending =
        QStringList{"pdf", "svg", "png"}.at(static_cast<int>(m_settings.exportOptions.format));
    QString path = QFileDialog::getSaveFileName(this, tr("Export figure"),
                                                m_settings.lastFolder + "/" + figure + "." + ending,
                                                QString("%1 (*.%2)").arg(ending.toUpper(), ending));
    if (path.isEmpty())
        return;
    if (!path.endsWith("." + ending))
        path += "." + ending;
    exportTo(path, figure, m_settings.exportOptions);
}

void MainWindow::copyFigure()
{
    if (!isFinished(m_canvas->currentFigure())) {
        report(stillComputing());
        return;
    }
    ExportOptions options = m_settings.exportOptions;
    options.format = ExportFormat::Svg;
    const Result<QByteArray> svg = exportFigure(currentFigure(), options);
    options.format = ExportFormat::Png;
    const Result<QByteArray> png = exportFigure(currentFigure(), options);
    if (!svg || !png) {
        report(!svg ? svg.error() : png.error());
        return;
    }
    auto* offer = new QMimeData;
    offer->setData("image/svg+xml", *svg);
    offer->setData("image/png", *png);
    QApplication::clipboard()->setMimeData(offer);
    m_messageBar->showMessage({"export", MessageKind::Information, tr("Copied as SVG and PNG"), {}});
}

bool MainWindow::mayClose()
{
    if (!m_document.isModified())
        return true;
    const auto answer = QMessageBox::question(this, tr("Ropewalk"), tr("The session was changed. Save it?"),
                                              QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel);
    return answer == QMessageBox::Discard || (answer == QMessageBox::Save && save());
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    if (!mayClose()) {
        event->ignore();
        return;
    }
    m_settings.geometry = saveGeometry();
    saveSettings(m_settings);
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (event->mimeData()->hasUrls())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    const QList<QUrl> urls = event->mimeData()->urls();
    for (int i = 0; i < urls.size(); ++i) {
        const QString path = urls[i].toLocalFile();
        if (i > 0 && isTensorFile(path)) // the k.npy beside a q.npy
            continue;
        if (i == 0 ? !openFile(path) : !addFile(path))
            break;
    }
    event->acceptProposedAction();
}

} // namespace ropewalk
