// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli.h"

#include "commands.h"
#include "console.h"
#include "exit_code.h"

#include "core/config_keys.h"
#include "core/provenance.h"

#include <QFileInfo>

#include <algorithm>
#include <array>
#include <new>
#include <system_error>

namespace ropewalk {
namespace {

/// One sub-command. The next is one more row and one file.
struct Command
{
    const char* name;
    int (*run)(const QStringList& arguments);
    const char* usage;
};

constexpr std::array kCommands{
    Command{"inspect", runInspect,
            "  ropewalk inspect FILE… [--set KEY=VALUE]… [--layer-type NAME] [--json]\n"
            "      what a model's config.json says, and what was assumed\n"},
    Command{"render", runRender,
            "  ropewalk render FIGURE [--preset NAME | --config FILE | --session FILE] [--set KEY=VALUE]…\n"
            "                  [--size 85x60mm] [--dpi 300] [--theme print|light|dark] [--layer-type NAME]\n"
            "                  [--backend auto|cpu|cuda] [--cpu-level auto|v2|v3|v4] [--check] -o FILE\n"
            "      a figure as .pdf, .svg or .png, or its data as .csv or .json; --check compares with FILE "
            "instead\n"},
    Command{"list", runList,
            "  ropewalk list presets|figures|rules|temperatures|tensors [--json]\n"
            "      what is built in\n"},
    Command{"backends", runBackends,
            "  ropewalk backends [--cpu-level auto|v2|v3|v4] [--json]\n"
            "      what can compute here\n"},
    // Called by the script `dev`; of little use to people.
    Command{"gallery", runGallery, nullptr},
};

const Command* findCommand(const QString& name)
{
    const auto found = std::find_if(kCommands.begin(), kCommands.end(), [&](const Command& command) {
        return name == QLatin1String(command.name);
    });
    return found == kCommands.end() ? nullptr : &*found;
}

bool isVersion(const QString& argument)
{
    return argument == QLatin1String("--version") || argument == QLatin1String("-v");
}

bool isHelp(const QString& argument)
{
    return argument == QLatin1String("--help") || argument == QLatin1String("-h");
}

std::string usage()
{
    std::string text = "Ropewalk: see rotary position embedding turn\n\n"
                       "  ropewalk [--cpu-level auto|v2|v3|v4] [FILE]\n"
                       "      the window, on a model's config.json or a saved session\n";
    for (const Command& command : kCommands)
        if (command.usage)
            text += command.usage;
    text += "  ropewalk --help | --version\n\n"
            "Exit codes: 0 fine, 1 usage, 2 input, 3 backend not available, 4 output, 5 --check found a "
            "difference\n";
    return text;
}

/// Options that Qt takes for itself, such as -platform.
bool isQtOption(const QString& argument)
{
    static constexpr std::array kQtOptions{"-platform", "-style",    "-stylesheet", "-qwindowgeometry",
                                           "-display",  "-geometry", "-fontdir",    "-reverse",
                                           "-name",     "-session"};
    QString name = argument.startsWith(QLatin1String("--")) ? argument.mid(1) : argument;
    name = name.section(QLatin1Char('='), 0, 0);
    return std::any_of(kQtOptions.begin(), kQtOptions.end(),
                       [&](const char* option) { return name == QLatin1String(option); });
}

/// A first argument that neither names a sub-command nor could be a file for the window.
bool isMistyped(const QString& argument)
{
    if (argument.startsWith(QLatin1Char('-')))
        return argument != QLatin1String("--") && !isQtOption(argument);
    const bool looksLikeFile = argument.contains(QLatin1Char('.')) || argument.contains(QLatin1Char('/'));
    return !looksLikeFile && !QFileInfo::exists(argument);
}

int refuse(const QString& argument)
{
    std::vector<std::string> known{"--help", "--version"};
    for (const Command& command : kCommands)
        if (command.usage)
            known.emplace_back(command.name);
    return printError(
        {ErrorCode::Usage,
         {"unknown command {argument}; the nearest known are {nearest}",
          {{"argument", argument.toStdString()}, {"nearest", nearestWords(argument.toStdString(), known)}}},
         {}});
}

} // namespace

bool isCommandLine(const QStringList& arguments)
{
    if (arguments.isEmpty())
        return false;
    const QString& first = arguments.first();
    return findCommand(first) || isHelp(first) || isVersion(first) || isMistyped(first);
}

std::optional<int> runCommandLine(const QStringList& arguments)
{
    if (!isCommandLine(arguments))
        return std::nullopt;
    const QString& first = arguments.first();
    if (isHelp(first))
        return printOut(usage());
    if (isVersion(first))
        return printOut("ropewalk " + std::string(version()) + "\n");
    const Command* command = findCommand(first);
    if (!command)
        return refuse(first);
    const QStringList rest = arguments.mid(1);
    // "--" ends the options, so a file called --help can still be named.
    const auto options = std::find(rest.begin(), rest.end(), QLatin1String("--"));
    if (command->usage && std::any_of(rest.begin(), options, isHelp))
        return printOut(std::string("Usage:\n") + command->usage);
    try {
        return command->run(rest);
    } catch (const std::bad_alloc&) {
        return printError({ErrorCode::Output,
                           "there is not enough memory for this; expected a shorter max_distance "
                           "or a smaller picture",
                           {}});
    } catch (const std::system_error& error) {
        return printError({ErrorCode::Output,
                           {"the system refused what this needs: {reason}", {{"reason", error.what()}}},
                           {}});
    }
}

} // namespace ropewalk
