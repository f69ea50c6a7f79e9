// SPDX-License-Identifier: GPL-3.0-or-later
#include "composition.h"
#include "main_window.h"
#include "presets.h"

#include <QApplication>

int main(int argc, char** argv)
{
    QApplication application(argc, argv);
    QCoreApplication::setApplicationName("ropewalk");
    QCoreApplication::setOrganizationName("ropewalk");
    ropewalk::MainWindow window(ropewalk::makeEngine(), ropewalk::loadPresets(), ropewalk::loadReferences(),
                                ropewalk::loadSettings());
    window.show();
    const QStringList files = QCoreApplication::arguments().mid(1);
    for (qsizetype i = 0; i < files.size(); ++i)
        i == 0 ? window.openFile(files[i]) : window.addFile(files[i]);
    return QApplication::exec();
}
