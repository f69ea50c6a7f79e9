// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/rope_config.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QString>
#include <vector>

namespace ropewalk::test {

/// One entry of tests/data/reference.json.
struct ReferenceEntry
{
    QString what;
    QJsonObject params, values;
};

/// The entries called `what`; aborts when there are none, since a test over nothing passes.
inline std::vector<ReferenceEntry> referenceEntries(const QString& what)
{
    QFile file(QStringLiteral(ROPEWALK_TEST_DATA "/reference.json"));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("cannot open %s", qPrintable(file.fileName()));
    std::vector<ReferenceEntry> entries;
    for (const QJsonValue& value : QJsonDocument::fromJson(file.readAll()).object()["entries"].toArray()) {
        const QJsonObject entry = value.toObject();
        if (entry["what"].toString() == what)
            entries.push_back({what, entry["params"].toObject(), entry["values"].toObject()});
    }
    if (entries.empty())
        qFatal("no entry %s in %s", qPrintable(what), qPrintable(file.fileName()));
    return entries;
}

inline std::vector<double> numbers(const QJsonValue& array)
{
    std::vector<double> result;
    for (const QJsonValue& value : array.toArray())
        result.push_back(value.toDouble(std::nan("")));
    return result;
}

/// A configuration that rotates all of `params.d` channels with the plain frequencies of `params.base`.
inline RopeConfig plainConfig(const QJsonObject& params, Layout layout = Layout::Half)
{
    RopeConfig config;
    config.headDim = config.rotaryDim = params["d"].toInt(params["head_dim"].toInt());
    config.base = params["base"].toDouble();
    config.layout = layout;
    return config;
}

} // namespace ropewalk::test
