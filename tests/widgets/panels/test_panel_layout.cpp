// SPDX-License-Identifier: GPL-3.0-or-later
// The control column fits 1024×768 at defaults, and nothing overlaps when the text grows.

#include "core/validate.h"
#include "widgets/panels/config_list.h"
#include "widgets/panels/config_panel.h"
#include "widgets/panels/number_edit.h"
#include "widgets/panels/number_label.h"
#include "widgets/panels/reading_panel.h"
#include "widgets/panels/section.h"
#include "widgets/panels/segmented_control.h"
#include "widgets/panels/slider_track.h"
#include "widgets/panels/tabular_text.h"
#include "widgets/panels/value_slider.h"
#include "widgets/window_style.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QScrollBar>
#include <QTest>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

using namespace ropewalk;

namespace {

constexpr int kColumnWidth = 292;

std::vector<SessionConfiguration> firstStart()
{
    SessionConfiguration a, b;
    a.config.name = "Llama-3.1-8B";
    a.config.base = 500000.0;
    a.config.rule = FrequencyRule::Llama3;
    a.config.parameters.factor = 8.0;
    a.config.parameters.lowFreqFactor = 1.0;
    a.config.parameters.highFreqFactor = 4.0;
    a.config.maxPositionEmbeddings = 131072;
    a.config.originalMaxPositionEmbeddings = 8192;
    a.original = a.config;
    b.config.name = "base 10 000";
    b.letter = "B";
    b.colour = 1;
    return {a, b};
}

/// List, controls and readings one under the other, as the window has them.
struct Column
{
    QWidget widget;
    ConfigList* list = new ConfigList;
    ConfigPanel* panel = new ConfigPanel;
    ReadingPanel* reading = new ReadingPanel;

    explicit Column(int height)
    {
        auto* layout = new QVBoxLayout(&widget);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(0);
        layout->addWidget(list);
        layout->addWidget(panel, 1);
        layout->addWidget(reading);
        const auto rows = firstStart();
        list->setConfigurations(rows, 0);
        panel->setConfig(rows[0].config, rows[0].original, validate(rows[0].config));
        Reading r;
        r.pair = 12;
        r.thetaRadians = 0.0853971;
        r.wavelengthTokens = 73.5761;
        r.turnsInTraining = 111.341;
        r.trainingLength = 8192;
        r.distance = 131072;
        r.distanceAngle = 11193.2;
        r.contribution = -0.00448123456789;
        r.score = -0.736141172322345;
        reading->setReading(r);
        reading->setReferenceMatch("matches the reference to 1e-13");
        widget.resize(scaledPixels(kColumnWidth), height);
        widget.show();
        QApplication::processEvents();
    }
};

/// Widgets that a person acts on or reads, none inside another.
QList<QWidget*> leaves(QWidget* root)
{
    QList<QWidget*> found;
    for (QWidget* child : root->findChildren<QWidget*>()) {
        const bool isLeaf = qobject_cast<SliderTrack*>(child) || qobject_cast<NumberEdit*>(child) ||
                            qobject_cast<SectionTitle*>(child) || qobject_cast<SegmentedControl*>(child) ||
                            qobject_cast<NumberLabel*>(child) || qobject_cast<QComboBox*>(child) ||
                            qobject_cast<QCheckBox*>(child);
        if (isLeaf && child->isVisible())
            found += child;
    }
    return found;
}

} // namespace

class TestPanelLayout : public QObject
{
    Q_OBJECT
private slots:
    void cleanup() { applyWindowStyle(*qApp, {Theme::Light, 1.0}); }

    void nothingScrollsAtDefaults()
    {
        applyWindowStyle(*qApp, {Theme::Light, 1.0});
        Column column(768 - 30 - 26); // between menu bar and status bar
        QCOMPARE(column.panel->verticalScrollBar()->maximum(), 0);
        QVERIFY2(column.list->height() + column.panel->sizeHint().height() <= 712 - 176,
                 qPrintable(QString::number(column.list->height() + column.panel->sizeHint().height())));
        QVERIFY2(column.reading->sizeHint().height() <= 176, "the readings leave room for the controls");
    }

    void nothingIsClippedSideways_data()
    {
        QTest::addColumn<double>("scale");
        QTest::newRow("1.0") << 1.0;
        QTest::newRow("1.5") << 1.5;
        QTest::newRow("2.5") << 2.5;
    }

    void nothingIsClippedSideways()
    {
        QFETCH(double, scale);
        applyWindowStyle(*qApp, {Theme::Dark, scale});
        Column column(scaledPixels(712));
        for (QWidget* part : {static_cast<QWidget*>(column.list), static_cast<QWidget*>(column.panel),
                              static_cast<QWidget*>(column.reading)})
            QVERIFY2(part->minimumSizeHint().width() <= scaledPixels(kColumnWidth),
                     part->metaObject()->className());
        for (const FrequencyRuleInfo& rule : frequencyRules()) {
            RopeConfig config = firstStart()[0].config;
            config.rule = rule.rule;
            column.panel->setConfig(config, std::nullopt, validate(config));
            if (column.panel->moreSection())
                column.panel->moreSection()->setOpen(true);
            QApplication::processEvents();
            QVERIFY(column.panel->widget()->width() <= column.panel->viewport()->width());
            const QList<QWidget*> all = leaves(column.panel);
            for (QWidget* leaf : all) {
                const QRect place(leaf->mapTo(column.panel->widget(), QPoint()), leaf->size());
                QVERIFY2(place.left() >= 0 && place.right() < column.panel->widget()->width(),
                         qPrintable(leaf->accessibleName()));
                for (QWidget* other : all) {
                    const QRect otherPlace(other->mapTo(column.panel->widget(), QPoint()), other->size());
                    // The channel scheme stands in the line of its section's title.
                    const bool isInside = leaf->isAncestorOf(other) || other->isAncestorOf(leaf);
                    QVERIFY2(leaf == other || isInside || !place.intersects(otherPlace),
                             qPrintable(leaf->accessibleName() + " over " + other->accessibleName()));
                }
            }
            for (const RuleParameterInfo& parameter : rule.parameters) {
                const ValueSlider* slider = column.panel->slider(std::string(parameter.key));
                if (!slider)
                    continue;
                // The name is painted from the padding to the box, and is not cut short.
                const int room = slider->box()->x() - scaledPixels(16) - scaledPixels(6);
                QVERIFY2(QFontMetrics(slider->font()).horizontalAdvance(slider->name()) <= room,
                         qPrintable(slider->name()));
            }
        }
        for (int row = 0; row < 6; ++row) {
            const NumberLabel* label = column.reading->valueLabel(row);
            QVERIFY2(tabularWidth(QFontMetricsF(label->font()), label->text()) <= label->width(),
                     qPrintable(label->text()));
        }
    }

    void narrowColumnsClipNothing_data()
    {
        QTest::addColumn<double>("scale");
        QTest::newRow("1.5") << 1.5;
        QTest::newRow("2.5") << 2.5;
    }

    /// A third of 1024 is what a window can spare for the column when the text is large.
    void narrowColumnsClipNothing()
    {
        QFETCH(double, scale);
        applyWindowStyle(*qApp, {Theme::Light, scale});
        Column column(712);
        column.widget.resize(341, 712);
        QApplication::processEvents();
        QCOMPARE(column.widget.width(), 341);
        for (QWidget* leaf : leaves(&column.widget)) {
            const QRect place(leaf->mapTo(&column.widget, QPoint()), leaf->size());
            QVERIFY2(place.left() >= 0 && place.right() < 341, qPrintable(leaf->accessibleName()));
        }
    }

    /// The style is set after the panels were made and before they are shown, as the window does.
    void unshownPanelsFollowTheStyle()
    {
        applyWindowStyle(*qApp, {Theme::Light, 1.0});
        ConfigPanel panel;
        ReadingPanel reading;
        applyWindowStyle(*qApp, {Theme::Dark, 2.0});
        QCOMPARE(panel.slider("base")->font().pixelSize(), windowFont(TextRole::Control).pixelSize());
        QCOMPARE(panel.slider("base")->box()->font().pixelSize(), windowFont(TextRole::Control).pixelSize());
        panel.show();
        reading.show();
        QApplication::processEvents();
        QCOMPARE(panel.slider("base")->font().pixelSize(), windowFont(TextRole::Control).pixelSize());
        for (const QLabel* label : reading.findChildren<QLabel*>())
            QCOMPARE(label->palette().color(QPalette::WindowText), windowColours().muted);
    }

    void issuesHaveTheirRoom()
    {
        applyWindowStyle(*qApp, {Theme::Light, 1.0});
        Column column(712);
        RopeConfig config = firstStart()[0].config;
        config.rule = FrequencyRule::Yarn;
        config.parameters.betaFast = 2.0;
        config.parameters.betaSlow = 4.0;
        column.panel->setConfig(config, std::nullopt, validate(config));
        QTRY_VERIFY(column.panel->verticalScrollBar()->maximum() > 0);
        ValueSlider* fast = column.panel->slider("beta_fast");
        ValueSlider* slow = column.panel->slider("beta_slow");
        QTRY_COMPARE(fast->height(), fast->heightForWidth(fast->width()));
        QVERIFY(fast->geometry().bottom() < slow->geometry().top());
        QVERIFY(fast->height() > slow->height());
    }

    void styleChangesReachOpenPanels()
    {
        applyWindowStyle(*qApp, {Theme::Light, 1.0});
        Column column(1400);
        const int before = column.panel->slider("base")->height();
        applyWindowStyle(*qApp, {Theme::Dark, 1.5});
        column.widget.resize(scaledPixels(kColumnWidth), 1400);
        QTRY_VERIFY(column.panel->slider("base")->height() >= before * 14 / 10);
        QCOMPARE(windowStyle().theme, Theme::Dark);
        const QColor ground = column.panel->grab().toImage().pixelColor(2, 2);
        QCOMPARE(ground.rgb(), windowColours().panel.rgb());
    }

    void textIsReadable()
    {
        const auto luminance = [](const QColor& colour) {
            const auto linear = [](double value) {
                return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
            };
            return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) +
                   0.0722 * linear(colour.blueF());
        };
        const auto contrast = [&](const QColor& a, const QColor& b) {
            const double la = luminance(a), lb = luminance(b);
            return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
        };
        for (const Theme theme : {Theme::Light, Theme::Dark}) {
            applyWindowStyle(*qApp, {theme, 1.0});
            const ThemeColours& c = windowColours();
            for (const QColor& text : {c.text, c.muted, c.mark, c.good, errorColour(), c.query, c.key})
                for (const QColor& ground : {c.panel, c.chrome})
                    QVERIFY2(contrast(text, ground) >= 4.5, qPrintable(text.name() + " on " + ground.name()));
            QVERIFY(contrast(c.muted, c.selected) >= 4.5);
            QVERIFY(contrast(c.onAccent, c.accent) >= 4.5);
        }
    }
};

QTEST_MAIN(TestPanelLayout)
#include "test_panel_layout.moc"
