// SPDX-License-Identifier: GPL-3.0-or-later
#include "window_style.h"

#include <QApplication>
#include <QEvent>
#include <QPalette>
#include <QStyleFactory>
#include <QVariant>
#include <QWidget>

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

// The style is the application's, as its palette and font are; so it is kept there and not in a global of our
// own.
constexpr const char* kThemeProperty = "ropewalkTheme";
constexpr const char* kScaleProperty = "ropewalkScale";

QColor blend(const QColor& a, const QColor& b, double share)
{
    return QColor::fromRgbF(static_cast<float>(a.redF() * (1.0 - share) + b.redF() * share),
                            static_cast<float>(a.greenF() * (1.0 - share) + b.greenF() * share),
                            static_cast<float>(a.blueF() * (1.0 - share) + b.blueF() * share));
}

QPalette paletteOf(const ThemeColours& c)
{
    QPalette palette;
    palette.setColor(QPalette::Window, c.window);
    palette.setColor(QPalette::WindowText, c.text);
    palette.setColor(QPalette::Base, c.field);
    palette.setColor(QPalette::AlternateBase, c.panel);
    palette.setColor(QPalette::Text, c.text);
    palette.setColor(QPalette::PlaceholderText, c.muted);
    palette.setColor(QPalette::Button, c.chrome);
    palette.setColor(QPalette::ButtonText, c.text);
    palette.setColor(QPalette::BrightText, c.onAccent);
    palette.setColor(QPalette::Highlight, c.accent);
    palette.setColor(QPalette::HighlightedText, c.onAccent);
    palette.setColor(QPalette::Link, c.accent);
    palette.setColor(QPalette::LinkVisited, c.accent);
    palette.setColor(QPalette::ToolTipBase, c.chrome);
    palette.setColor(QPalette::ToolTipText, c.text);
    palette.setColor(QPalette::Light, c.chrome);
    palette.setColor(QPalette::Midlight, c.grid);
    palette.setColor(QPalette::Mid, c.rule);
    palette.setColor(QPalette::Dark, c.axis);
    palette.setColor(QPalette::Shadow, c.axis);
    const QColor faint = blend(c.muted, c.window, 0.4);
    for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, faint);
    palette.setColor(QPalette::Disabled, QPalette::Highlight, c.rule);
    palette.setColor(QPalette::Disabled, QPalette::HighlightedText, faint);
    return palette;
}

// Places: @name a colour, #n a length of the design.
constexpr const char* kSheet = R"(
QMenuBar { background: @chrome; color: @text; border: none; padding: #1px #4px; }
QMenuBar::item { background: transparent; padding: #6px #10px; border-radius: #4px; }
QMenuBar::item:selected { background: @selected; }
QMenu { background: @chrome; color: @text; border: 1px solid @rule; padding: #4px; }
QMenu::item { padding: #5px #28px #5px #20px; border-radius: #4px; }
QMenu::item:selected { background: @selected; color: @text; }
QMenu::item:disabled { color: @muted; }
QMenu::separator { height: 1px; background: @rule; margin: #4px #8px; }
QStatusBar { background: @chrome; color: @muted; border-top: 1px solid @rule; min-height: #25px; }
QStatusBar::item { border: none; }
QStatusBar QLabel { color: @muted; padding: 0 #4px; }
QToolTip { background: @chrome; color: @text; border: 1px solid @rule; padding: #4px; }

QLineEdit, QPlainTextEdit, QTextEdit {
    background: @field; color: @text; border: 1px solid @rule; border-radius: #4px; padding: 0 #4px;
    selection-background-color: @accent; selection-color: @onaccent; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus { border-color: @accent; }
QLineEdit[refused="true"] { border-color: @error; }
QLineEdit:disabled { color: @faint; }

QComboBox, QSpinBox, QDoubleSpinBox {
    background: @field; color: @text; border: 1px solid @rule; border-radius: #4px;
    padding: 0 #4px 0 #8px; min-height: #20px;
    selection-background-color: @accent; selection-color: @onaccent; }
QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus { border-color: @accent; }
QComboBox:disabled, QSpinBox:disabled { color: @faint; }
QComboBox::drop-down { border: none; width: #18px; }
QComboBox::down-arrow { image: url(:/ropewalk/icons/chevron-down-@name.svg); width: #10px; height: #10px; }
QComboBox QAbstractItemView {
    background: @chrome; color: @text; border: 1px solid @rule; outline: none;
    selection-background-color: @selected; selection-color: @text; }
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button {
    border: none; background: transparent; width: #14px; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow {
    image: url(:/ropewalk/icons/chevron-up-@name.svg); width: #8px; height: #8px; }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow {
    image: url(:/ropewalk/icons/chevron-down-@name.svg); width: #8px; height: #8px; }

QPushButton {
    background: @field; color: @text; border: 1px solid @rule; border-radius: #4px; padding: #3px #12px;
    min-height: #20px; }
ropewalk--FieldRow QPushButton { padding: 0px #8px; min-height: 0px; }
QPushButton:hover { background: @selected; }
QPushButton:focus { border-color: @accent; }
QPushButton:default { background: @accent; color: @onaccent; border-color: @accent; }
QPushButton:disabled { color: @faint; background: transparent; border-color: @rule; }
QToolButton {
    background: transparent; color: @muted; border: 1px solid transparent; border-radius: #4px; padding: #1px #4px; }
QToolButton:hover { background: @selected; color: @text; }
QToolButton:focus { border-color: @accent; color: @text; }
QToolButton:checked { color: @text; }
QToolButton:disabled { color: @faint; }
QToolButton::menu-indicator { image: none; }

QCheckBox { spacing: #8px; }
QCheckBox::indicator {
    width: #13px; height: #13px; border: 1px solid @axis; border-radius: #3px; background: @field; }
QCheckBox::indicator:focus { border-color: @accent; }
QCheckBox::indicator:checked {
    background: @accent; border-color: @accent; image: url(:/ropewalk/icons/check-@name.svg); }

QTabBar { background: transparent; border: none; qproperty-drawBase: 0; }
QTabBar::tab {
    background: transparent; color: @muted; border: none; border-bottom: #3px solid transparent;
    padding: #7px #2px #5px #2px; margin: 0 #8px; }
QTabBar::tab:hover { color: @text; }
QTabBar::tab:selected { color: @text; border-bottom: #3px solid @accent; }
QTabBar::tab:focus { color: @accent; }

QListView, QTreeView, QTableView {
    background: @field; color: @text; border: 1px solid @rule; border-radius: #4px; outline: none;
    selection-background-color: @selected; selection-color: @text; }
QListView::item { padding: #3px #4px; border-radius: #3px; }
QListView::item:selected, QTreeView::item:selected { background: @selected; color: @text; }
QHeaderView::section { background: @chrome; color: @muted; border: none; border-bottom: 1px solid @rule;
    padding: #3px #6px; }

QScrollBar:vertical { background: transparent; width: #10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: #10px; margin: 0; }
QScrollBar::handle:vertical { background: @rule; border-radius: #3px; min-height: #28px; margin: #2px; }
QScrollBar::handle:horizontal { background: @rule; border-radius: #3px; min-width: #28px; margin: #2px; }
QScrollBar::handle:hover { background: @axis; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QSplitter::handle { background: @rule; }
QProgressBar { background: @rule; border: none; border-radius: #3px; max-height: #6px; text-align: right; }
QProgressBar::chunk { background: @accent; border-radius: #3px; }
)";

QString sheetOf(const ThemeColours& c, Theme theme, double scale)
{
    const QList<std::pair<const char*, QString>> words = {
        {"@onaccent", c.onAccent.name()},
        {"@selected", c.selected.name()},
        {"@accent", c.accent.name()},
        {"@chrome", c.chrome.name()},
        {"@error", errorColour().name()},
        {"@faint", blend(c.muted, c.window, 0.4).name()},
        {"@field", c.field.name()},
        {"@muted", c.muted.name()},
        {"@text", c.text.name()},
        {"@rule", c.rule.name()},
        {"@axis", c.axis.name()},
        {"@name", theme == Theme::Dark ? QStringLiteral("dark") : QStringLiteral("light")},
    };
    QString sheet = QString::fromLatin1(kSheet);
    for (const auto& [place, word] : words)
        sheet.replace(QLatin1String(place), word);
    // What is left of '#' before a short number are lengths; colours are six digits and a ';' or ' '.
    QString scaled;
    scaled.reserve(sheet.size());
    for (qsizetype at = 0; at < sheet.size(); ++at) {
        qsizetype end = at + 1;
        if (sheet[at] == u'#')
            while (end < sheet.size() && sheet[end].isDigit())
                ++end;
        if (end > at + 1 && QStringView(sheet).mid(end).startsWith(u"px")) {
            const double length = QStringView(sheet).mid(at + 1, end - at - 1).toDouble() * scale;
            scaled += QString::number(std::max(1L, std::lround(length)));
            at = end - 1;
        } else {
            scaled += sheet[at];
        }
    }
    return scaled;
}

} // namespace

void applyWindowStyle(QApplication& application, const WindowStyle& style)
{
    systemTheme(); // noted before our own palette hides it
    // Setting a style sheet polishes every widget anew, which is most of opening the window.
    if (application.property("ropewalkFusion").toBool() && windowStyle() == style)
        return;
    application.setProperty(kThemeProperty, static_cast<int>(style.theme));
    application.setProperty(kScaleProperty, std::clamp(style.scale, 0.5, 4.0));
    const ThemeColours& colours = windowColours();
    // One style everywhere, so that lengths and the lecture scale mean the same on every desktop.
    if (!application.property("ropewalkFusion").toBool()) {
        application.setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
        application.setProperty("ropewalkFusion", true);
    }
    application.setPalette(paletteOf(colours));
    application.setFont(windowFont(TextRole::Text));
    application.setStyleSheet(sheetOf(colours, windowStyle().theme, windowStyle().scale));
    // Qt tells only those widgets that were shown before; the others have taken their fonts and colours, too.
    // Polishing comes first: it brings back the font that a widget had when the last sheet was set.
    const QWidgetList widgets = QApplication::allWidgets();
    for (const QWidget* widget : widgets)
        widget->ensurePolished();
    for (QWidget* widget : widgets) {
        QEvent event(QEvent::StyleChange);
        QApplication::sendEvent(widget, &event);
    }
}

WindowStyle windowStyle()
{
    WindowStyle style;
    if (!qApp)
        return style;
    if (const QVariant theme = qApp->property(kThemeProperty); theme.isValid())
        style.theme = static_cast<Theme>(theme.toInt());
    if (const QVariant scale = qApp->property(kScaleProperty); scale.isValid())
        style.scale = scale.toDouble();
    return style;
}

const ThemeColours& windowColours()
{
    return themeColours(windowStyle().theme);
}

QColor errorColour()
{
    return windowStyle().theme == Theme::Dark ? QColor(0xFF8F87) : QColor(0xB3261E);
}

Theme systemTheme()
{
    constexpr const char* kSystemProperty = "ropewalkSystemIsDark";
    if (!qApp->property(kThemeProperty).isValid() || !qApp->property(kSystemProperty).isValid()) {
        const QPalette palette = QApplication::palette();
        qApp->setProperty(kSystemProperty, palette.color(QPalette::Window).lightnessF() <
                                               palette.color(QPalette::WindowText).lightnessF());
    }
    return qApp->property(kSystemProperty).toBool() ? Theme::Dark : Theme::Light;
}

int scaledPixels(double designPixels)
{
    return static_cast<int>(std::lround(designPixels * windowStyle().scale));
}

QFont windowFont(TextRole role)
{
    double pixels = 13.0;
    QFont::Weight weight = QFont::Normal;
    switch (role) {
    case TextRole::Title:
        pixels = 14.0;
        weight = QFont::DemiBold;
        break;
    case TextRole::Text:
        break;
    case TextRole::Strong:
        weight = QFont::DemiBold;
        break;
    case TextRole::Control:
        pixels = 12.5;
        break;
    case TextRole::Section:
        pixels = 12.0;
        weight = QFont::DemiBold;
        break;
    case TextRole::Label:
        pixels = 12.0;
        break;
    case TextRole::Small:
        pixels = 11.0;
        break;
    }
    return ropewalkFont(pixels * windowStyle().scale, weight);
}

} // namespace ropewalk
