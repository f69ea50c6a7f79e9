// SPDX-License-Identifier: GPL-3.0-or-later
#include "parity.h"

#include <cmath>
#include <complex>

namespace ropewalk::parity {
namespace {

using Complex = std::complex<long double>;

/// A double's rounding.
constexpr long double kStep = 0x1p-53L;

/// Of cos and sin whose angle is a product in double.
long double turnBound(double position, double theta)
{
    return 4 * kStep * (1 + std::fabs(static_cast<long double>(position) * theta));
}

void rotations(ComputeBackend& backend, Checks& checks)
{
    std::mt19937 random(1);
    for (const int headDim : {2, 64, 96, 128})
        for (const Layout layout : {Layout::Half, Layout::Interleaved})
            for (const int rotary : {headDim, headDim / 4 * 2})
                for (const double position : {0.0, 1.0, 511.0, -37.0, 131071.0}) {
                    const auto pairs = pairsOf(layout, rotary);
                    auto thetas = plainFrequencies(rotary);
                    if (thetas.size() > 3)
                        thetas[2] = 0.0; // still: copied to the bit
                    const auto input = gaussianNumbers(random, static_cast<std::size_t>(headDim));
                    std::vector<double> output(input.size(), -7.0);
                    RotateOp op;
                    op.pairs = pairs;
                    op.invFreq = thetas;
                    op.attentionFactor = 1.25;
                    op.position = position;
                    op.input = input;
                    op.output = output;
                    const std::string what = "rotation of " + std::to_string(headDim) + " channels";
                    checks.holds(what + " ran", backend.run(op, {}).hasValue());
                    std::vector<long double> expected(input.begin(), input.end());
                    std::vector<long double> bound(input.size(), 0.0L);
                    for (std::size_t i = 0; i < pairs.size(); ++i) {
                        if (thetas[i] == 0.0)
                            continue;
                        const auto a = static_cast<std::size_t>(pairs[i].first);
                        const auto b = static_cast<std::size_t>(pairs[i].second);
                        const Complex turned =
                            Complex(input[a], input[b]) *
                            std::polar(1.25L, static_cast<long double>(position) * thetas[i]);
                        expected[a] = turned.real();
                        expected[b] = turned.imag();
                        bound[a] = bound[b] = 2 * std::abs(turned) * turnBound(position, thetas[i]);
                    }
                    for (std::size_t c = 0; c < output.size(); ++c)
                        checks.near(what, output[c], expected[c], bound[c]);
                }
}

void contributions(ComputeBackend& backend, Checks& checks)
{
    std::mt19937 random(2);
    for (const int headDim : {2, 64, 128, 600}) {
        const auto pairs = pairsOf(Layout::Half, headDim);
        const auto query = gaussianNumbers(random, static_cast<std::size_t>(headDim));
        const auto key = gaussianNumbers(random, static_cast<std::size_t>(headDim));
        std::vector<double> contribution(pairs.size(), -7.0);
        PairContributionOp op;
        op.pairs = pairs;
        op.query = query;
        op.key = key;
        op.contribution = contribution;
        checks.holds("pair contributions ran", backend.run(op, {}).hasValue());
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const auto a = static_cast<std::size_t>(pairs[i].first),
                       b = static_cast<std::size_t>(pairs[i].second);
            const long double qa = query[a], qb = query[b];
            checks.near("pair contribution", contribution[i], qa * key[a] + qb * key[b],
                        2 * kStep * (std::fabs(qa * key[a]) + std::fabs(qb * key[b])));
        }
    }
}

/// θ = d/2 pairs, every fifth still.
struct Frequencies
{
    std::vector<double> all, turning, rate;
    explicit Frequencies(int headDim)
        : all(plainFrequencies(headDim))
    {
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (i % 5 == 4)
                all[i] = 0.0;
            else
                turning.push_back(all[i]);
            rate.push_back(-0.0005 * (1.0 + 0.1 * static_cast<double>(i)));
        }
    }
};

void distanceTables(ComputeBackend& backend, Checks& checks, bool isSmall)
{
    std::mt19937 random(3);
    for (const int headDim : isSmall ? std::vector<int>{16} : std::vector<int>{2, 64, 128})
        for (const std::size_t count : {std::size_t{1}, std::size_t{511}, std::size_t{513}})
            for (const std::int64_t first : {std::int64_t{-300}, std::int64_t{0}, std::int64_t{131071}})
                for (const bool isDamped : {false, true}) {
                    const Frequencies frequencies(headDim);
                    const std::size_t pairs = frequencies.turning.size();
                    const auto re = gaussianNumbers(random, pairs), im = gaussianNumbers(random, pairs);
                    std::vector<double> table(count, -7.0);
                    DistanceTableOp op;
                    op.re = re;
                    op.im = im;
                    op.invFreq = frequencies.turning;
                    if (isDamped)
                        op.dampingRate = std::span(frequencies.rate).first(pairs);
                    op.attentionFactor = 1.1;
                    op.still = 0.75;
                    op.firstDistance = first;
                    op.table = table;
                    checks.holds("distance table ran", backend.run(op, {}).hasValue());
                    for (std::size_t k = 0; k < count; ++k) {
                        const auto r = static_cast<long double>(first + static_cast<std::int64_t>(k));
                        long double sum = 0, bound = kStep;
                        for (std::size_t i = 0; i < pairs; ++i) {
                            const long double damping =
                                (isDamped ? std::exp(r * frequencies.rate[i]) : 1.0L) * 1.1L * 1.1L;
                            const Complex h(re[i], im[i]);
                            sum += damping * (h * std::polar(1.0L, r * frequencies.turning[i])).real();
                            bound += 3 * damping * std::abs(h) *
                                     (turnBound(static_cast<double>(r), frequencies.turning[i]) +
                                      static_cast<long double>(pairs) * kStep +
                                      (isDamped ? 2 * std::fabs(r * frequencies.rate[i]) * kStep : 0.0L));
                        }
                        checks.near("score by distance", table[k], sum + 0.75L, bound);
                    }
                }
}

struct DecayOutputs
{
    std::vector<double> similarMean, similarSd, independentSd, cosineSum, boundFactor;
};

void decays(ComputeBackend& backend, Checks& checks, bool isSmall)
{
    for (const int headDim : isSmall ? std::vector<int>{16} : std::vector<int>{2, 64, 128})
        for (const std::size_t count : {std::size_t{1}, std::size_t{129}, std::size_t{700}})
            for (const int kind : {0, 1, 2, 3}) { // damped or not, consecutive or listed
                const bool isDamped = kind % 2 == 1, isListed = kind >= 2;
                const Frequencies frequencies(headDim);
                const int pairs = headDim / 2;
                std::vector<double> distances;
                for (std::size_t k = 0; k < count; ++k)
                    distances.push_back(static_cast<double>(isListed ? k * k % 131072 : 5 + k));
                DecayOutputs out;
                for (auto* values :
                     {&out.similarMean, &out.similarSd, &out.independentSd, &out.cosineSum, &out.boundFactor})
                    values->assign(count, -7.0);
                DecayOp op;
                op.invFreq = frequencies.all;
                op.pairCount = pairs;
                op.attentionFactor = 1.2;
                op.rho = 0.6;
                if (isDamped)
                    op.dampingRate = frequencies.rate;
                op.firstDistance = 5;
                if (isListed)
                    op.distances = distances;
                op.similarMean = out.similarMean;
                op.similarSd = out.similarSd;
                op.independentSd = out.independentSd;
                op.cosineSum = out.cosineSum;
                op.boundFactor = out.boundFactor;
                checks.holds("decay ran", backend.run(op, {}).hasValue());
                for (std::size_t k = 0; k < count; ++k) {
                    const long double r = distances[k];
                    long double mean = 0, similar = 0, independent = 0, cosines = 0, bound = 0;
                    Complex phases = 0;
                    std::vector<Complex> still;
                    for (int i = 0; i < pairs; ++i) {
                        const long double theta = frequencies.all[static_cast<std::size_t>(i)];
                        const Complex phase = std::polar(1.0L, r * theta);
                        long double a2 = 1.2L * 1.2L;
                        if (isDamped)
                            a2 *= std::exp(r * frequencies.rate[static_cast<std::size_t>(i)]);
                        if (theta == 0) {
                            a2 = 1;
                            still.push_back(phase);
                        } else {
                            phases += phase;
                            bound += std::abs(phases);
                        }
                        cosines += phase.real();
                        mean += a2 * phase.real();
                        similar += a2 * a2 * phase.real() * phase.real();
                        independent += 2 * a2 * a2;
                    }
                    for (const Complex& phase : still)
                        bound += std::abs(phases += phase);
                    const long double rho = 0.6;
                    // Angles of 131071 rad lose 2^-37 as doubles.
                    const long double angle = 8 * kStep * (4 + r), some = angle + 32 * kStep;
                    checks.near("similarMean", out.similarMean[k], 2 * rho * mean / headDim, 3 * some);
                    checks.near("similarSd", out.similarSd[k],
                                std::sqrt(4 * rho * rho * similar + (1 - rho * rho) * independent) / headDim,
                                3 * some);
                    checks.near("independentSd", out.independentSd[k], std::sqrt(independent) / headDim,
                                3 * some);
                    checks.near("cosineSum", out.cosineSum[k], 2 * cosines / headDim, some);
                    checks.near("boundFactor", out.boundFactor[k], bound / pairs / ((pairs + 1) / 2.0L),
                                4 * some);
                }
            }
}

} // namespace

void operationCases(ComputeBackend& backend, Checks& checks, bool isSmall)
{
    rotations(backend, checks);
    contributions(backend, checks);
    distanceTables(backend, checks, isSmall);
    decays(backend, checks, isSmall);
}

} // namespace ropewalk::parity
