// SPDX-License-Identifier: GPL-3.0-or-later
#include "content.h"

#include "philox.h"

#include <array>

namespace ropewalk {
namespace {

constexpr std::array<Content, 4> kContents{Content::Ones, Content::Gaussian, Content::Same,
                                           Content::Correlation};

std::vector<double> normalRow(std::uint64_t seed, RandomStream stream, int headDim, std::int64_t position)
{
    std::vector<double> row(static_cast<std::size_t>(headDim));
    for (std::size_t channel = 0; channel < row.size(); ++channel)
        row[channel] = standardNormal(seed, stream, static_cast<std::uint32_t>(channel),
                                      static_cast<std::uint32_t>(position));
    return row;
}

} // namespace

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

ContentRows makeContent(Content content, int headDim, std::uint64_t seed, double rho, std::int64_t m,
                        std::int64_t n)
{
    if (content == Content::Ones) {
        const std::vector<double> ones(static_cast<std::size_t>(headDim), 1.0);
        return {ones, ones};
    }
    if (content == Content::Gaussian)
        return {normalRow(seed, RandomStream::Query, headDim, m),
                normalRow(seed, RandomStream::Key, headDim, n)};
    ContentRows rows;
    rows.query = normalRow(seed, RandomStream::Query, headDim, 0);
    rows.key = rows.query;
    if (content == Content::Same)
        return rows;
    const std::vector<double> noise = normalRow(seed, RandomStream::Noise, headDim, 0);
    const double rest = std::sqrt(1.0 - rho * rho);
    for (std::size_t channel = 0; channel < noise.size(); ++channel)
        rows.key[channel] = rho * rows.query[channel] + rest * noise[channel];
    return rows;
}

} // namespace ropewalk
