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
    for (; m_count < count; ++m_count) {
        const double z = standardNormal(m_seed, RandomStream::Noise, 0, static_cast<std::uint32_t>(m_count));
        const auto bin = static_cast<std::size_t>((z + kEnd) * kBinsPerUnit);
        m_sum[bin] += z;
        ++m_draws[bin];
    }
}

double GaussianLogits::entropyNats(double spread) const
{
    assert(m_count > 0 && spread >= 0.0);
    double greatest = 0.0;
    for (std::size_t bin = m_draws.size(); bin-- > 0;)
        if (m_draws[bin] > 0) {
            greatest = spread * m_sum[bin] / m_draws[bin];
            break;
        }
    double sum = 0.0;      // Σ e^(x - greatest)
    double weighted = 0.0; // Σ (x - greatest) e^(x - greatest)
    for (std::size_t bin = 0; bin < m_draws.size(); ++bin) {
        if (m_draws[bin] == 0)
            continue;
        const double below = spread * m_sum[bin] / m_draws[bin] - greatest;
        const double part = m_draws[bin] * std::exp(below);
        sum += part;
        weighted += part * below;
    }
    return std::log(sum) - weighted / sum;
}

} // namespace ropewalk
