// SPDX-License-Identifier: GPL-3.0-or-later
#include "figure_theme.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>

#include <algorithm>
#include <array>
#include <cmath>

namespace ropewalk {
namespace {

QJsonObject readTokens()
{
    QFile file(QStringLiteral(":/ropewalk/tokens.json"));
    [[maybe_unused]] const bool isOpen = file.open(QIODevice::ReadOnly);
    Q_ASSERT_X(isOpen, "figure_theme", "tokens.json is compiled into the program");
    return QJsonDocument::fromJson(file.readAll()).object();
}

/// The colours of one theme of the tokens, laid over those of the light theme.
ThemeColours readColours(const QJsonObject& tokens, const QString& name)
{
    const QJsonObject light = tokens.value(QStringLiteral("light")).toObject();
    const QJsonObject theme = tokens.value(name).toObject();
    const auto value = [&](const char* token) {
        const QString key = QLatin1String(token);
        return theme.contains(key) ? theme.value(key) : light.value(key);
    };
    const auto colour = [&](const char* token) { return QColor(value(token).toString()); };
    const auto colours = [&](const char* token) {
        QList<QColor> list;
        for (const QJsonValue& entry : value(token).toArray())
            list.append(QColor(entry.toString()));
        return list;
    };
    ThemeColours c;
    c.window = colour("window");
    c.chrome = colour("chrome");
    c.panel = colour("panel");
    c.figure = colour("figure");
    c.field = colour("field");
    c.text = colour("text");
    c.muted = colour("muted");
    c.rule = colour("rule");
    c.grid = colour("grid");
    c.axis = colour("axis");
    c.accent = colour("accent");
    c.onAccent = colour("onaccent");
    c.selected = colour("selected");
    c.knob = colour("knob");
    c.mark = colour("mark");
    c.good = colour("good");
    c.query = colour("q");
    c.key = colour("k");
    c.mask = colour("mask");
    c.series = colours("series");
    c.curves = colours("curves");
    c.pairs = colours("pairs");
    c.diverging = colours("diverging");
    return c;
}

} // namespace

const ThemeColours& themeColours(Theme theme)
{
    static const std::array<ThemeColours, 3> themes = [] {
        const QJsonObject tokens = readTokens();
        return std::array<ThemeColours, 3>{readColours(tokens, QStringLiteral("light")),
                                           readColours(tokens, QStringLiteral("dark")),
                                           readColours(tokens, QStringLiteral("print"))};
    }();
    return themes[static_cast<std::size_t>(theme)];
}

QStringList ropewalkFontFamilies()
{
    // The same Chinese character has other shapes on the mainland, in Taiwan and in Japan; without the family
    // named the system's fallback decides, and it is often the Japanese one.
    const QLocale locale;
    const bool isTraditional =
        locale.language() == QLocale::Chinese &&
        (locale.script() == QLocale::TraditionalHanScript || locale.territory() == QLocale::Taiwan ||
         locale.territory() == QLocale::HongKong || locale.territory() == QLocale::Macao);
    return {QStringLiteral("Inter"),
            isTraditional ? QStringLiteral("Noto Sans CJK TC") : QStringLiteral("Noto Sans CJK SC")};
}

QFont ropewalkFont(double pixelSize, QFont::Weight weight)
{
    QFont font;
    font.setFamilies(ropewalkFontFamilies());
    font.setPixelSize(std::max(1, static_cast<int>(std::lround(pixelSize))));
    font.setWeight(weight);
    // Hinted advances depend on the size in pixels; without them a text takes the same room in window and
    // export.
    font.setHintingPreference(QFont::PreferNoHinting);
    return font;
}

} // namespace ropewalk
