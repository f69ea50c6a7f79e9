// SPDX-License-Identifier: GPL-3.0-or-later
// Every row of the tables has its control where it counts, and only there; a control says the value live.

#include "core/figure_catalog.h"
#include "widgets/panels/field_row.h"
#include "widgets/panels/figure_panel.h"
#include "widgets/panels/number_edit.h"
#include "widgets/panels/section.h"
#include "widgets/panels/segmented_control.h"
#include "widgets/panels/slider_track.h"
#include "widgets/panels/value_slider.h"
#include "widgets/window_style.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>

using namespace ropewalk;

namespace {

QString asText(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QStringList figuresOf(const FigureSettingInfo& row)
{
    return asText(row.figures).split(u' ', Qt::SkipEmptyParts);
}

/// Options under which the row counts for the figure, or the panel has no control for it under any.
std::optional<FigureOptions> optionsWith(FigurePanel& panel, const FigureSettingInfo& row,
                                         const QString& figure)
{
    for (const Content content : contents()) {
        // The part in view, and what says more about a file, is offered once something of it is stated.
        for (const char* stated : {"", "last_row", "last_column", "transformer_xl_file"}) {
            FigureOptions options;
            options.content = content;
            if (*stated && row.key != stated && findFigureSetting(stated) &&
                !options.settings.set(stated, "9"))
                continue;
            panel.setFigure(figure.toStdString(), figure, options);
            if (panel.control(std::string(row.key)))
                return options;
        }
    }
    return std::nullopt;
}

/// Answers as the window does: what is edited is what is shown next.
struct Bench
{
    FigurePanel panel;
    std::string figure;
    FigureOptions options;
    int edits = 0;

    explicit Bench(const char* id, const FigureOptions& first = {})
        : figure(id)
        , options(first)
    {
        panel.setFigure(figure, id, options);
        panel.section()->setOpen(true);
        panel.resize(292, 500);
        panel.show();
        QObject::connect(&panel, &FigurePanel::optionsEdited, &panel, [this](const FigureOptions& edited) {
            ++edits;
            options = edited;
            panel.setFigure(figure, QString::fromStdString(figure), options);
        });
        QApplication::processEvents();
    }
    ValueSlider* slider(const char* key) { return qobject_cast<ValueSlider*>(panel.control(key)); }
};

} // namespace

class TestFigurePanel : public QObject
{
    Q_OBJECT
private slots:
    void cleanup() { applyWindowStyle(*qApp, {Theme::Light, 1.0}); }

    void noSettingsNoPanel()
    {
        FigurePanel panel;
        panel.setFigure("a figure of no settings", "none", {});
        QVERIFY(!panel.hasSettings());
        QVERIFY(panel.isHidden());
    }

    void decayHasItsOptions()
    {
        Bench bench("decay");
        QVERIFY(bench.panel.hasSettings());
        QVERIFY(bench.slider("max_distance"));
        auto* log = qobject_cast<QCheckBox*>(bench.panel.control("is_distance_logarithmic"));
        QVERIFY(log && log->isChecked());
        QTest::mouseClick(log, Qt::LeftButton, Qt::NoModifier, QPoint(6, log->height() / 2));
        QVERIFY(!bench.options.isDistanceLogarithmic);
        auto* bound = qobject_cast<QCheckBox*>(bench.panel.control("show_bound"));
        QVERIFY(bound && !bound->isChecked());
        QTest::keyClick(bound, Qt::Key_Space);
        QVERIFY(bench.options.showBound);
        QVERIFY(!bench.panel.control("seed"));
    }

    void sliderIsLiveAndRestores()
    {
        Bench bench("decay");
        ValueSlider* slider = bench.slider("max_distance");
        SliderTrack* track = slider->track();
        const QPoint knob = track->knobCentre();
        QTest::mousePress(track, Qt::LeftButton, Qt::NoModifier, knob);
        for (int by = 1; by <= 12; ++by)
            QTest::mouseMove(track, knob - QPoint(by, 0));
        QVERIFY2(bench.edits >= 5, "not only when the mouse is let go");
        QTest::mouseRelease(track, Qt::LeftButton, Qt::NoModifier, knob - QPoint(12, 0));
        QVERIFY(bench.options.maxDistance < 131072);
        QVERIFY(slider->isChanged());
        QTest::mouseDClick(track, Qt::LeftButton, Qt::NoModifier, QPoint(4, track->height() / 2));
        QCOMPARE(bench.options.maxDistance, std::int64_t(131072));
        QVERIFY(!slider->isChanged());
        // "128k" as model names count
        NumberEdit* box = slider->box();
        box->setFocus();
        box->selectAll();
        QTest::keyClicks(box, "32k");
        QTest::keyClick(box, Qt::Key_Return);
        QCOMPARE(bench.options.maxDistance, std::int64_t(32768));
    }

    void contentsAreChosenAndShowWhatTheyRead()
    {
        Bench bench("pairs");
        auto* box = qobject_cast<QComboBox*>(bench.panel.control("content"));
        QVERIFY(box);
        QCOMPARE(box->count(), static_cast<int>(contents().size()));
        const auto choose = [&](Content content) {
            const std::string_view name = word(content);
            const int row = box->findData(asText(name));
            box->setCurrentIndex(row);
            emit box->activated(row);
            QCOMPARE(bench.options.content, content);
        };
        QVERIFY(!bench.panel.control("rho") && !bench.panel.control("seed"));
        choose(Content::Correlation);
        QVERIFY(bench.slider("rho") && bench.slider("seed"));
        QVERIFY(static_cast<FieldRow*>(box->parentWidget())->isChanged());
        choose(Content::Gaussian);
        QVERIFY(!bench.slider("rho") && bench.slider("seed"));
        QVERIFY(bench.panel.tensorsButton()->isHidden());
        QSignalSpy asked(&bench.panel, &FigurePanel::openTensorsRequested);
        choose(Content::File);
        QVERIFY(!bench.slider("seed"));
        QVERIFY(!bench.panel.tensorsButton()->isHidden());
        bench.panel.tensorsButton()->click();
        QCOMPARE(asked.size(), 1);
        // A double-click on the name brings the usual one back.
        QWidget* row = box->parentWidget();
        QTest::mouseDClick(row, Qt::LeftButton, Qt::NoModifier, QPoint(20, 6));
        QCOMPARE(bench.options.content, Content::Ones);
        QVERIFY(!static_cast<FieldRow*>(row)->isChanged());
    }

    /// Whatever row is added to the table: it has a control of its kind, a name, and says what it was set to.
    void everySettingHasItsControl()
    {
        for (const FigureSettingInfo& row : figureSettings()) {
            const std::string key(row.key);
            for (const QString& figure : figuresOf(row)) {
                const QByteArray where = QByteArray::fromStdString(key) + " of " + figure.toUtf8();
                if (!findFigure(figure.toStdString()))
                    continue;
                // That figure is of two clouds or of a file; it reads nothing of the other contents.
                if (figure == "clusters" && (key.starts_with("needle_") || key.starts_with("correlation_")))
                    continue;
                FigurePanel panel;
                const auto options = optionsWith(panel, row, figure);
                QVERIFY2(options, where);
                QWidget* control = panel.control(key);
                const QString name = qobject_cast<ValueSlider*>(control)
                                         ? qobject_cast<ValueSlider*>(control)->name()
                                         : control->accessibleName();
                QCOMPARE(name, asText(row.title));
                std::string edited;
                connect(&panel, &FigurePanel::optionsEdited, &panel, [&](const FigureOptions& changed) {
                    edited = std::string(changed.settings.text(key));
                });
                if (row.kind == SettingKind::Switch) {
                    qobject_cast<QCheckBox*>(control)->click();
                    QCOMPARE(edited, std::string(row.preset == "true" ? "false" : "true"));
                } else if (row.kind == SettingKind::Choice) {
                    const std::string other(row.words.front().word == row.preset ? row.words.back().word
                                                                                 : row.words.front().word);
                    if (auto* box = qobject_cast<QComboBox*>(control)) {
                        QCOMPARE(box->count(), static_cast<int>(row.words.size()));
                        emit box->activated(box->findData(QString::fromStdString(other)));
                    } else {
                        auto* segments = qobject_cast<SegmentedControl*>(control);
                        QVERIFY2(segments && row.words.size() <= 4, where);
                        segments->resize(260, 22);
                        const int last = static_cast<int>(row.words.size()) - 1;
                        QTest::mouseClick(
                            segments, Qt::LeftButton, Qt::NoModifier,
                            segments->segment(other == row.words.front().word ? 0 : last).center());
                    }
                    QCOMPARE(edited, other);
                } else if (row.kind == SettingKind::File) {
                    QSignalSpy asked(&panel, &FigurePanel::fileRequested);
                    qobject_cast<QPushButton*>(control)->click();
                    QCOMPARE(asked.size(), 1);
                    QCOMPARE(asked.front().front().toString(), asText(row.title));
                    panel.giveFile("/folder/a.npy");
                    QCOMPARE(edited, std::string("/folder/a.npy"));
                } else {
                    auto* slider = qobject_cast<ValueSlider*>(control);
                    QVERIFY2(slider, where);
                    QVERIFY2(slider->value() == QByteArray(row.preset.data(), row.preset.size()).toDouble(),
                             where);
                    const double other = slider->value() == row.upper ? row.lower : row.upper;
                    emit slider->valueChanged(other);
                    QVERIFY2(!edited.empty() && QByteArray::fromStdString(edited).toDouble() == other, where);
                }
            }
        }
    }

    /// A file is named on its button; a double-click on the setting's name closes it again.
    void filesAreNamedAndClosed()
    {
        Bench bench("encodings");
        auto* button = qobject_cast<QPushButton*>(bench.panel.control("learned_file"));
        QVERIFY(button);
        const QString asking = button->text();
        QVERIFY(!bench.panel.control("transformer_xl_head"));
        button->click();
        bench.panel.giveFile("/some/folder/wpe.npy");
        QCOMPARE(std::string(bench.options.settings.text("learned_file")),
                 std::string("/some/folder/wpe.npy"));
        QCOMPARE(button->text(), QString("wpe.npy"));
        QWidget* row = button->parentWidget();
        QVERIFY(static_cast<FieldRow*>(row)->isChanged());
        QTest::mouseDClick(row, Qt::LeftButton, Qt::NoModifier, QPoint(20, 6));
        QVERIFY(bench.options.settings.stated().empty());
        QCOMPARE(button->text(), asking);
        qobject_cast<QPushButton*>(bench.panel.control("transformer_xl_file"))->click();
        bench.panel.giveFile("v.npy");
        QVERIFY(bench.panel.control("transformer_xl_head") && bench.panel.control("transformer_xl_r_file"));
    }

    /// Controls without the focus and the scroll bar leave the wheel to the panel.
    void wheelScrolls()
    {
        Bench bench("scores");
        bench.panel.resize(292, 120);
        QApplication::processEvents();
        QScrollBar* bar = bench.panel.verticalScrollBar();
        QVERIFY(bar->maximum() > 50);
        ValueSlider* slider = bench.slider("map_pixels");
        QVERIFY(slider);
        const auto boxes = bench.panel.findChildren<QComboBox*>();
        QVERIFY(!boxes.isEmpty());
        for (QWidget* under :
             std::initializer_list<QWidget*>{bench.panel.widget(), bar, slider->track(), boxes[0]}) {
            bar->setValue(0);
            QWheelEvent turn(QPointF(5, 5), under->mapToGlobal(QPointF(5, 5)), {}, QPoint(0, -120),
                             Qt::NoButton, {}, Qt::NoScrollPhase, false);
            QSpontaneKeyEvent::setSpontaneous(&turn); // as the system's: only these go on to the parents
            qApp->notify(under, &turn);
            QVERIFY2(bar->value() > 0, under->metaObject()->className());
        }
        QCOMPARE(bench.edits, 0);
    }

    void nothingIsClipped_data()
    {
        QTest::addColumn<double>("scale");
        QTest::addColumn<int>("width");
        QTest::newRow("1.0") << 1.0 << 292;
        QTest::newRow("1.5") << 1.5 << 438;
        QTest::newRow("2.5") << 2.5 << 730;
        QTest::newRow("2.5 in a third of 1024") << 2.5 << 341;
    }
    void nothingIsClipped()
    {
        QFETCH(double, scale);
        QFETCH(int, width);
        applyWindowStyle(*qApp, {Theme::Dark, scale});
        for (const FigureInfo& figure : figureCatalog()) {
            FigurePanel panel;
            FigureOptions options;
            options.content = Content::Correlation;
            panel.setFigure(std::string(figure.id), asText(figure.title), options);
            if (!panel.hasSettings())
                continue;
            panel.section()->setOpen(true);
            panel.resize(width, 4000);
            panel.show();
            QApplication::processEvents();
            int bottom = 0;
            for (const FieldRow* row : panel.findChildren<FieldRow*>()) {
                if (!row->isVisible())
                    continue;
                QVERIFY2(row->rect().contains(row->control()->geometry()),
                         qPrintable(asText(figure.id) + ": " + row->control()->accessibleName()));
                const QRect place(row->mapTo(panel.widget(), QPoint()), row->size());
                QVERIFY(place.left() >= 0 && place.right() < panel.widget()->width());
                bottom = std::max(bottom, place.bottom());
            }
            QVERIFY2(bottom < panel.sizeHint().height(), "the height that it asks for is enough");
            QVERIFY(panel.minimumSizeHint().width() <= width);
        }
    }
};

QTEST_MAIN(TestFigurePanel)
#include "test_figure_panel.moc"
