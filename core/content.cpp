// SPDX-License-Identifier: GPL-3.0-or-later
#include "content.h"

#include "channel_map.h"
#include "figure_results.h"
#include "philox.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <tuple>

namespace ropewalk {
namespace {

constexpr std::array kContents{Content::Ones,   Content::Gaussian, Content::Same, Content::Correlation,
                               Content::Needle, Content::Clusters, Content::File};

void fillNormal(std::uint64_t seed, RandomStream stream, std::int64_t position, std::span<double> row)
{
    for (std::size_t channel = 0; channel < row.size(); ++channel)
        row[channel] = standardNormal(seed, stream, static_cast<std::uint32_t>(channel),
                                      static_cast<std::uint32_t>(position));
}

std::vector<double> normalRow(std::uint64_t seed, RandomStream stream, int headDim)
{
    std::vector<double> row(static_cast<std::size_t>(headDim));
    fillNormal(seed, stream, 0, row);
    return row;
}

/// q becomes ρq + √(1-ρ²)z, z drawn at `position`.
void correlate(std::uint64_t seed, double rho, std::int64_t position, std::span<double> query)
{
    const double rest = std::sqrt(1.0 - rho * rho);
    for (std::size_t channel = 0; channel < query.size(); ++channel)
        query[channel] = rho * query[channel] + rest * standardNormal(seed, RandomStream::Noise,
                                                                      static_cast<std::uint32_t>(channel),
                                                                      static_cast<std::uint32_t>(position));
}

/// For each channel of the head the one of the file that belongs there: pair i of the file's layout becomes
/// pair i of the configuration's.
std::vector<int> channelsOfFile(const RopeConfig& config, Layout layout)
{
    RopeConfig asFile = config;
    asFile.layout = layout;
    const ChannelMap from = channelMap(asFile);
    const ChannelMap to = channelMap(config);
    std::vector<int> channels(static_cast<std::size_t>(config.headDim));
    for (int pair = 0; pair < to.pairCount(); ++pair) {
        channels[static_cast<std::size_t>(to.pair(pair).first)] = from.pair(pair).first;
        channels[static_cast<std::size_t>(to.pair(pair).second)] = from.pair(pair).second;
    }
    return channels;
}

/// Up to here the fourth powers that the stable rank takes, summed over 2²⁷ numbers, are finite.
constexpr double kGreatestOfProducts = 1e68;

std::vector<Issue> notesOn(const HeadTensors& tensors, const RopeConfig& config)
{
    std::vector<Issue> notes;
    const auto add = [&](Severity severity, std::string text,
                         std::vector<std::pair<std::string, std::string>> values) {
        values.emplace_back("tensors", tensors.name);
        notes.push_back({severity, "content", {std::move(text), std::move(values)}});
    };
    if (tensors.notFinite > 0)
        add(Severity::Warning, "{tensors}: {count} values are NaN or infinite; they are gaps",
            {{"count", groupedDigits(tensors.notFinite)}});
    if (tensors.greatest > kGreatestOfProducts)
        add(Severity::Warning,
            "{tensors}: values up to {greatest}; where a sum of their products is beyond the range of double "
            "precision, figures have gaps",
            {{"greatest", shortNumber(tensors.greatest, 3)}});
    if (!tensors.leftOut.empty())
        add(Severity::Read,
            tensors.leftOut.size() == 1
                ? "{tensors}: {first} of the file is no .npy and was left out"
                : "{tensors}: {first} and {count} more of the file are no .npy and were "
                  "left out",
            {{"first", tensors.leftOut.front().substr(0, 60)},
             {"count", std::to_string(tensors.leftOut.size() - 1)}});
    if (!tensors.layout)
        add(Severity::Assumed,
            "{tensors}: the order of its channels is not stated; taken as this configuration's, {layout}",
            {{"layout", std::string(word(config.layout))}});
    else if (*tensors.layout != config.layout)
        add(Severity::Read,
            "{tensors}: its channels are {found} and were put into this configuration's order, {layout}",
            {{"found", std::string(word(*tensors.layout))}, {"layout", std::string(word(config.layout))}});
    if (tensors.base && *tensors.base != config.base)
        add(Severity::Read, "{tensors}: made by a model with base {found}; turned here with base {base}",
            {{"found", groupedNumber(*tensors.base)}, {"base", groupedNumber(config.base)}});
    return notes;
}

} // namespace

std::span<const Content> contents()
{
    return kContents;
}

std::string_view word(Content content)
{
    switch (content) {
    case Content::Ones:
        return "ones";
    case Content::Gaussian:
        return "gaussian";
    case Content::Same:
        return "same";
    case Content::Correlation:
        return "correlation";
    case Content::Needle:
        return "needle";
    case Content::Clusters:
        return "clusters";
    case Content::File:
        return "file";
    }
    return "ones";
}

std::optional<Content> findContent(std::string_view wanted)
{
    for (const Content content : kContents)
        if (word(content) == wanted)
            return content;
    return std::nullopt;
}

Result<ContentSource> ContentSource::make(const FigureOptions& options, const RopeConfig& config)
{
    ContentSource source;
    source.m_content = options.content;
    source.m_headDim = config.headDim;
    source.m_seed = options.seed;
    source.m_rho = options.rho;
    switch (options.content) {
    case Content::Gaussian:
        break;
    case Content::Ones:
        source.m_fixedQuery.assign(static_cast<std::size_t>(config.headDim), 1.0);
        source.m_fixedKey = source.m_fixedQuery;
        break;
    case Content::Same:
        source.m_fixedQuery = normalRow(options.seed, RandomStream::Query, config.headDim);
        source.m_fixedKey = source.m_fixedQuery;
        break;
    case Content::Correlation:
        source.m_isPerPosition = options.settings.truth("correlation_per_position");
        if (!source.m_isPerPosition) {
            source.m_fixedQuery = normalRow(options.seed, RandomStream::Query, config.headDim);
            source.m_fixedKey = source.m_fixedQuery;
            correlate(options.seed, options.rho, 0, source.m_fixedKey);
        }
        break;
    case Content::Needle: {
        source.m_needle = options.settings.whole("needle_position");
        source.m_fixedQuery = normalRow(options.seed, RandomStream::Query, config.headDim);
        double square = 0.0;
        for (const double value : source.m_fixedQuery)
            square += value * value;
        const double scale = options.settings.number("needle_logit") / (logitScale(config) * square);
        source.m_fixedKey = source.m_fixedQuery;
        for (double& value : source.m_fixedKey)
            value *= scale;
        break;
    }
    case Content::Clusters:
        source.m_meanQuery = options.settings.number("cluster_mean_q");
        source.m_meanKey = options.settings.number("cluster_mean_k");
        source.m_sigma = options.settings.number("cluster_sigma");
        break;
    case Content::File:
        if (!options.tensors)
            return Error{ErrorCode::BadInput,
                         "the content is a file's, and no tensors are open; expected queries and keys in a "
                         ".npy, .npz or .safetensors file",
                         {}};
        if (options.tensors->headDim != config.headDim)
            return Error{ErrorCode::BadInput,
                         {"{tensors} has rows of {found} channels; expected head_dim, {expected}",
                          {{"tensors", options.tensors->name},
                           {"found", std::to_string(options.tensors->headDim)},
                           {"expected", std::to_string(config.headDim)}}},
                         {}};
        source.m_tensors = options.tensors;
        if (options.tensors->layout && *options.tensors->layout != config.layout)
            source.m_channels = channelsOfFile(config, *options.tensors->layout);
        source.m_notes = notesOn(*options.tensors, config);
        break;
    }
    return source;
}

bool ContentSource::isFixed() const
{
    return m_content == Content::Ones || m_content == Content::Same ||
           (m_content == Content::Correlation && !m_isPerPosition);
}

bool ContentSource::makesSameRows(const ContentSource& other) const
{
    const auto values = [](const ContentSource& of) {
        return std::tie(of.m_content, of.m_headDim, of.m_seed, of.m_rho, of.m_isPerPosition, of.m_needle,
                        of.m_fixedQuery, of.m_fixedKey, of.m_meanQuery, of.m_meanKey, of.m_sigma,
                        of.m_tensors, of.m_channels);
    };
    return values(*this) == values(other);
}

std::int64_t ContentSource::rowsAvailable() const
{
    return m_tensors ? m_tensors->tokens : kLargestPosition + 1;
}

template<class Fill>
void ContentSource::fillRows(std::int64_t first, std::span<double> rows, Fill fill) const
{
    const auto width = static_cast<std::size_t>(m_headDim);
    assert(rows.size() % width == 0 &&
           first + static_cast<std::int64_t>(rows.size() / width) <= rowsAvailable());
    for (std::size_t at = 0; at < rows.size(); at += width)
        fill(first++, rows.subspan(at, width));
}

void ContentSource::copyRow(const std::vector<double>& rows, std::int64_t position,
                            std::span<double> row) const
{
    const double* from = rows.data() + static_cast<std::size_t>(position) * row.size();
    for (std::size_t channel = 0; channel < row.size(); ++channel)
        row[channel] = from[m_channels.empty() ? channel : static_cast<std::size_t>(m_channels[channel])];
}

void ContentSource::fillQuery(std::int64_t position, std::span<double> row) const
{
    if (m_tensors) {
        copyRow(m_tensors->query, position, row);
        return;
    }
    if (!m_fixedQuery.empty()) {
        std::copy(m_fixedQuery.begin(), m_fixedQuery.end(), row.begin());
        return;
    }
    fillNormal(m_seed, RandomStream::Query, position, row);
    if (m_content == Content::Clusters)
        for (double& value : row)
            value = m_meanQuery + m_sigma * value;
}

void ContentSource::fillKey(std::int64_t position, std::span<double> row) const
{
    if (m_tensors) {
        copyRow(m_tensors->key, position, row);
        return;
    }
    if (isFixed() || (m_content == Content::Needle && position == m_needle)) {
        std::copy(m_fixedKey.begin(), m_fixedKey.end(), row.begin());
        return;
    }
    if (m_content == Content::Correlation) {
        fillQuery(position, row);
        correlate(m_seed, m_rho, position, row);
        return;
    }
    fillNormal(m_seed, RandomStream::Key, position, row);
    if (m_content == Content::Clusters)
        for (double& value : row)
            value = m_meanKey + m_sigma * value;
}

void ContentSource::queries(std::int64_t first, std::span<double> rows) const
{
    fillRows(first, rows, [this](std::int64_t at, std::span<double> row) { fillQuery(at, row); });
}

void ContentSource::keys(std::int64_t first, std::span<double> rows) const
{
    fillRows(first, rows, [this](std::int64_t at, std::span<double> row) { fillKey(at, row); });
}

ContentRows makeContent(const ContentSource& source, std::int64_t m, std::int64_t n)
{
    const auto width = static_cast<std::size_t>(source.headDim());
    ContentRows rows{std::vector<double>(width), std::vector<double>(width)};
    source.queries(m, rows.query);
    source.keys(n, rows.key);
    return rows;
}

} // namespace ropewalk
