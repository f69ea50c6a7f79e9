// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cpu_backend.h"
#include "core/figure_catalog.h"

#include <cmath>
#include <string>
#include <vector>

// The four figures of real configurations, as the program builds them.

namespace ropewalk {

inline FigureConfiguration sampleConfiguration(int index)
{
    FigureConfiguration shown;
    shown.letter = std::string(1, static_cast<char>('A' + index));
    shown.colour = index;
    RopeConfig& config = shown.config;
    switch (index) {
    case 0:
        config.name = "Llama-3.1-8B";
        config.base = 500000.0;
        config.rule = FrequencyRule::Llama3;
        config.parameters.factor = 8.0;
        config.maxPositionEmbeddings = 131072;
        config.originalMaxPositionEmbeddings = 8192;
        break;
    case 1:
        config.name = "base 10 000";
        config.maxPositionEmbeddings = 4096;
        break;
    case 2:
        config.name = "a quarter turns";
        config.headDim = 96;
        config.rotaryDim = 24;
        config.maxPositionEmbeddings = 2048;
        break;
    default:
        config.name = "256 pairs";
        config.headDim = config.rotaryDim = 512;
        config.base = 1e6;
        config.maxPositionEmbeddings = 32768;
    }
    return shown;
}

/// The first `count` sample configurations, computed.
inline FigureResults sampleResults(int count, const FigureOptions& options = {})
{
    std::vector<std::unique_ptr<ComputeBackend>> backends;
    backends.push_back(makeCpuBackend());
    Engine engine(std::move(backends));
    ComputeRequest request;
    for (int i = 0; i < count; ++i)
        request.configurations.push_back(sampleConfiguration(i));
    request.options = options;
    request.wantsBound = options.showBound;
    auto results = computeFigureResults(engine, request);
    return results ? std::move(results).value() : FigureResults{};
}

inline FigureSpec sampleFigure(const char* id, const FigureResults& results)
{
    return buildFigure(*findFigure(id), results);
}

} // namespace ropewalk
