// SPDX-License-Identifier: GPL-3.0-or-later
#include "figure_catalog.h"

#include "figures/figures.h"
#include "validate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ropewalk {
namespace {

constexpr std::array kFigures{
    FigureInfo{"plane", "Plane", buildPlane},
    FigureInfo{"spectrum", "Spectrum", buildSpectrum},
    FigureInfo{"angles", "Angles", buildAngles},
    FigureInfo{"decay", "Decay", buildDecay, true, computeDecayOfContent, false, true},
    FigureInfo{"scores", "Scores", buildScores, false, computeScoreMaps, false, true, scoresFollowPair},
    FigureInfo{"pairs", "Pairs", buildPairs},
    FigureInfo{"channels", "Channels", buildChannels, true, computeChannels, false, true},
    FigureInfo{"temperature", "Temperature", buildTemperature, false, computeTemperature, false, true},
    FigureInfo{"range", "Range", buildRange, false, computeRange},
    FigureInfo{"encodings", "Encodings", buildEncodings, false, computeEncodings, false, true},
    FigureInfo{"clusters", "Clusters", buildClusters, false, computeClusters, false, true},
    FigureInfo{"precision", "Precision", buildPrecision, false, computePrecision, true, true},
    FigureInfo{"layouts", "Layouts", buildLayouts, false, computeLayouts, true},
    FigureInfo{"sweep", "Sweep", buildSweep, false, computeSweep, false, true},
    FigureInfo{"results", "Results", buildResults},
};

} // namespace

std::span<const FigureInfo> figureCatalog()
{
    return kFigures;
}

const FigureInfo* findFigure(std::string_view id)
{
    const auto found =
        std::find_if(kFigures.begin(), kFigures.end(), [&](const auto& row) { return row.id == id; });
    return found == kFigures.end() ? nullptr : &*found;
}

FigureSpec buildFigure(const FigureInfo& figure, const FigureResults& results)
{
    FigureSpec spec;
    const bool canDraw =
        std::any_of(results.configurations.begin(), results.configurations.end(),
                    [](const ConfigurationResult& result) { return result.scores != nullptr; });
    const auto impossible = results.failures.find(figure.id);
    if (canDraw && impossible != results.failures.end())
        spec.failure = impossible->second;
    else if (canDraw)
        spec = figure.build(results);
    spec.id = std::string(figure.id);
    spec.provenance = results.provenance;
    const auto data = results.data.find(figure.id);
    spec.isCoarse = (results.isCoarse && figure.needsDecay) ||
                    (data != results.data.end() && data->second && data->second->isCoarse);
    if (spec.isCoarse && spec.failure.isEmpty() && !spec.caption.text.starts_with("preview"))
        spec.caption.text = "preview · " + spec.caption.text;
    for (const ConfigurationResult& result : results.configurations) {
        spec.configurations.push_back(result.shown);
        for (const Issue& issue : result.issues) {
            Issue note = issue;
            if (results.configurations.size() > 1) {
                note.text.text = "{letter}: " + note.text.text;
                note.text.values.emplace_back("letter", result.shown.letter);
            }
            if (!canDraw && spec.failure.isEmpty() && issue.severity == Severity::Error)
                spec.failure = note.text;
            spec.notes.push_back(std::move(note));
        }
    }
    if (results.configurations.empty())
        spec.failure = "No configuration is shown: add one, or show a hidden one, in the list on the left";
    if (!spec.failure.isEmpty()) {
        spec.title = std::string(figure.title);
        spec.summary = spec.failure;
    }
    return spec;
}

int focusIndex(const FigureResults& results)
{
    int focus = -1;
    forEachDrawable(results, [&](int index, const ConfigurationResult& result) {
        if (focus < 0 || result.shown.letter == results.options.focus)
            focus = index;
    });
    return focus;
}

std::string letterIfSeveral(const FigureResults& results, int configuration)
{
    return results.configurations.size() > 1
               ? results.configurations[static_cast<std::size_t>(configuration)].shown.letter
               : std::string();
}

std::vector<int> freeColours(const FigureResults& results)
{
    std::vector<int> colours;
    for (int colour = 0; colour < 8; ++colour)
        if (std::none_of(results.configurations.begin(), results.configurations.end(),
                         [&](const ConfigurationResult& result) { return result.shown.colour == colour; }))
            colours.push_back(colour);
    return colours;
}

std::string joinedNames(const FigureResults& results)
{
    std::string names;
    for (const ConfigurationResult& result : results.configurations) {
        if (!names.empty())
            names += ", ";
        if (results.configurations.size() > 1)
            names += result.shown.letter + " ";
        names += result.shown.config.name;
    }
    return names;
}

void addGuide(PlotSpec& figure, GuideLine guide)
{
    for (const GuideLine& before : figure.guides)
        if (before.isVertical == guide.isVertical &&
            std::fabs(before.at - guide.at) <= 1e-9 * std::fabs(guide.at) &&
            before.role != GuideRole::Selection && guide.role != GuideRole::Selection)
            return;
    figure.guides.push_back(std::move(guide));
}

void addTrainingGuides(PlotSpec& figure, const FigureResults& results, bool isVertical)
{
    bool agree = true;
    std::optional<std::int64_t> common;
    forEachDrawable(results, [&](int, const ConfigurationResult& result) {
        const auto length = trainingLength(result.shown.config);
        if (length && common && *length != *common)
            agree = false;
        if (length)
            common = length;
    });
    forEachDrawable(results, [&](int index, const ConfigurationResult& result) {
        const auto length = trainingLength(result.shown.config);
        if (!length)
            return;
        const std::string letter = agree ? std::string() : letterIfSeveral(results, index);
        Message label{"training length {length}", {{"length", groupedDigits(*length)}}};
        if (!letter.empty())
            label = {"{letter}: training length {length}",
                     {{"letter", letter}, {"length", groupedDigits(*length)}}};
        addGuide(figure,
                 {isVertical, static_cast<double>(*length), GuideRole::Training, agree ? -1 : index, label});
    });
}

} // namespace ropewalk
