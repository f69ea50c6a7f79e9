// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The builders behind figure_catalog.h, one file each, and the few things that they share.

#include "../figure_results.h"

#include <string>

namespace ropewalk {

FigureSpec buildAngles(const FigureResults& results);
FigureSpec buildChannels(const FigureResults& results);
FigureSpec buildLayouts(const FigureResults& results);
FigureSpec buildEncodings(const FigureResults& results);
FigureSpec buildClusters(const FigureResults& results);
Result<std::shared_ptr<const FigureData>> computeClusters(FigureJob& job);
FigureSpec buildDecay(const FigureResults& results);
Result<std::shared_ptr<const FigureData>> computeDecayOfContent(FigureJob& job);
FigureSpec buildPairs(const FigureResults& results);
FigureSpec buildPlane(const FigureResults& results);
FigureSpec buildPrecision(const FigureResults& results);
FigureSpec buildRange(const FigureResults& results);
FigureSpec buildScores(const FigureResults& results);
FigureSpec buildResults(const FigureResults& results);
FigureSpec buildSpectrum(const FigureResults& results);
FigureSpec buildSweep(const FigureResults& results);
FigureSpec buildTemperature(const FigureResults& results);

Result<std::shared_ptr<const FigureData>> computeTemperature(FigureJob& job);
Result<std::shared_ptr<const FigureData>> computeRange(FigureJob& job);
Result<std::shared_ptr<const FigureData>> computeEncodings(FigureJob& job);

Result<std::shared_ptr<const FigureData>> computeChannels(FigureJob& job);
Result<std::shared_ptr<const FigureData>> computeLayouts(FigureJob& job);
Result<std::shared_ptr<const FigureData>> computePrecision(FigureJob& job);

Result<std::shared_ptr<const FigureData>> computeScoreMaps(FigureJob& job);
Result<std::shared_ptr<const FigureData>> computeSweep(FigureJob& job);
/// Whether the maps change with the picked pair.
bool scoresFollowPair(const FigureOptions& options);

/// The configurations that something can be drawn of, with their index in FigureSpec::configurations.
template<class Visit>
void forEachDrawable(const FigureResults& results, Visit visit)
{
    for (std::size_t i = 0; i < results.configurations.size(); ++i)
        if (results.configurations[i].scores)
            visit(static_cast<int>(i), results.configurations[i]);
}

/// The index of the configuration that options.focus names, if something can be drawn of it, else of the
/// first such.
int focusIndex(const FigureResults& results);

/// "A", "B" where there are several configurations, empty where there is one: a label needs no letter then.
std::string letterIfSeveral(const FigureResults& results, int configuration);

/// The theme's curve colours (0..7) that no configuration has; not empty.
std::vector<int> freeColours(const FigureResults& results);

/// "Llama-3.1-8B, base 10 000": the names of all, for the text summary.
std::string joinedNames(const FigureResults& results);

/// Adds a guide unless one stands at the same place already.
void addGuide(PlotSpec& plot, GuideLine guide);

/// Guides at the training length of each configuration; one for all where they agree.
void addTrainingGuides(PlotSpec& plot, const FigureResults& results, bool isVertical);

/// The data that the figure `id` computed, or null.
template<class Data>
const Data* dataOf(const FigureResults& results, std::string_view id)
{
    const auto found = results.data.find(id);
    return found == results.data.end() ? nullptr : dynamic_cast<const Data*>(found->second.get());
}

} // namespace ropewalk
