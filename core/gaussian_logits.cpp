// SPDX-License-Identifier: GPL-3.0-or-later
#include "gaussian_logits.h"

#include "philox.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace ropewalk {
namespace {

// Box and Muller's radius for the smallest u, 2^-33, is 6.77: no draw lies outside.
constexpr int kEnd = 7;
constexpr int kBinsPerUnit = 4096;

} // namespace

GaussianLogits::GaussianLogits(std::uint64_t seed)
    : m_seed(seed)
    , m_sum(2 * kEnd * kBinsPerUnit, 0.0)
    , m_draws(2 * kEnd * kBinsPerUnit, 0)
{
}

void GaussianLogits::drawUpTo(std::int64_t count)
{
    if (count <= m_count)
        return;
    for (; m_count < count; ++m_count) {
        const double z = standardNormal(m_seed, RandomStream::Noise, 0, static_cast<std::uint32_t>(m_count));
        const auto bin = static_cast<std::size_t>((z + kEnd) * kBinsPerUnit);
        m_sum[bin] += z;
        ++m_draws[bin];
    }
    m_filled.clear();
    for (std::size_t bin = 0; bin < m_draws.size(); ++bin)
        if (m_draws[bin] > 0)
            m_filled.push_back({m_sum[bin] / m_draws[bin], static_cast<double>(m_draws[bin])});
}

double GaussianLogits::entropyNats(double spread) const
{
    assert(m_count > 0 && spread >= 0.0);
    const double greatest = spread * m_filled.back().mean;
    double sum = 0.0;      // Σ e^(x - greatest)
    double weighted = 0.0; // Σ (x - greatest) e^(x - greatest)
    for (const Filled& bin : m_filled) {
        const double below = spread * bin.mean - greatest;
        const double part = bin.draws * std::exp(below);
        sum += part;
        weighted += part * below;
    }
    return std::log(sum) - weighted / sum;
}

} // namespace ropewalk
