// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>

namespace ropewalk {

/// Overwrites what makes two PDFs of the same picture differ: the dates of the information dictionary and of
/// the XMP metadata, and the identifiers. All by the same number of bytes, so that every offset in the file
/// still holds.
void removePdfDates(QByteArray& pdf);

} // namespace ropewalk
