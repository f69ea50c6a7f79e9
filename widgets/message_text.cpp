// SPDX-License-Identifier: GPL-3.0-or-later
#include "message_text.h"

#include <QCoreApplication>

namespace ropewalk {

QString messageText(const Message& message)
{
    const QString translated = QCoreApplication::translate("ropewalk", message.text.c_str());
    return QString::fromStdString(fillIn(translated.toStdString(), message));
}

} // namespace ropewalk
