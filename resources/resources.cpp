// SPDX-License-Identifier: GPL-3.0-or-later
// The data files are compiled in by qt_add_resources; a library needs one source of its own.
