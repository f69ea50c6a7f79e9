// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/result.h"

#include <QMap>
#include <QString>
#include <QStringList>

#include <span>

namespace ropewalk {

/// One option of a sub-command.
struct OptionInfo
{
    const char* name; ///< "--set", "-o"
    bool takesValue = false;
    bool isRepeatable = false;
};

/// The arguments of a sub-command, sorted.
struct Arguments
{
    QStringList words;                  ///< those that are no options
    QMap<QString, QStringList> options; ///< by name, in the order given

    bool has(const char* name) const { return options.contains(QLatin1String(name)); }
    QString value(const char* name) const { return options.value(QLatin1String(name)).value(0); }
    QStringList values(const char* name) const { return options.value(QLatin1String(name)); }
};

/// Sorts arguments: `--name value` and `--name=value`; everything after `--` is a word. Errors: Usage; an
/// unknown option names the nearest known ones.
Result<Arguments> sortArguments(const QStringList& arguments, std::span<const OptionInfo> known);

} // namespace ropewalk
