// SPDX-License-Identifier: GPL-3.0-or-later
#include "arguments.h"

#include "core/config_keys.h"

#include <algorithm>

namespace ropewalk {

Result<Arguments> sortArguments(const QStringList& arguments, std::span<const OptionInfo> known)
{
    const auto fail = [](std::string text, const QString& name) {
        return Error{ErrorCode::Usage, {std::move(text), {{"name", name.toStdString()}}}, {}};
    };
    Arguments sorted;
    for (qsizetype i = 0; i < arguments.size(); ++i) {
        const QString& argument = arguments[i];
        if (argument == QLatin1String("--")) {
            sorted.words += arguments.mid(i + 1);
            break;
        }
        if (!argument.startsWith(QLatin1Char('-')) || argument.size() < 2) {
            sorted.words += argument;
            continue;
        }
        const qsizetype equals =
            argument.startsWith(QLatin1String("--")) ? argument.indexOf(QLatin1Char('=')) : -1;
        const QString name = argument.left(equals);
        const auto option = std::find_if(known.begin(), known.end(), [&](const OptionInfo& candidate) {
            return name == QLatin1String(candidate.name);
        });
        if (option == known.end()) {
            std::vector<std::string> names;
            for (const OptionInfo& candidate : known)
                names.emplace_back(candidate.name);
            return Error{
                ErrorCode::Usage,
                {"unknown option {name}; the nearest known are {nearest}",
                 {{"name", name.toStdString()}, {"nearest", nearestWords(name.toStdString(), names)}}},
                {}};
        }
        if (sorted.options.contains(name) && !option->isRepeatable)
            return fail("the option {name} stands twice; expected it once", name);
        QString value;
        if (option->takesValue && equals >= 0)
            value = argument.mid(equals + 1);
        else if (option->takesValue && i + 1 < arguments.size())
            value = arguments[++i];
        else if (option->takesValue)
            return fail("the option {name} needs a value", name);
        else if (equals >= 0)
            return fail("the option {name} takes no value", name);
        sorted.options[name] += value;
    }
    return sorted;
}

} // namespace ropewalk
