// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/device_buffer.h"
#include "gpu/kernels/launch.h"
#include "parity.h"

#include <bit>
#include <cmath>
#include <complex>
#include <limits>

namespace ropewalk::parity {
namespace {

template<class Number>
std::vector<Number> fromDevice(const CudaCalls& calls, DeviceBuffers& device, const Number* numbers,
                               std::size_t count)
{
    check(calls, calls.lastError());
    std::vector<Number> host(count);
    device.toHost(std::span(host), numbers);
    return host;
}

/// cos and sin in float, at positions where a float's angle would be off by 1e-2.
void turnTables(const CudaCalls& calls, DeviceBuffers& device, Checks& checks)
{
    const auto thetas = plainFrequencies(128);
    for (const double position : {0.0, 131071.0, 1000000.0}) {
        device.restart();
        constexpr std::size_t kRows = 5;
        const double* const theta = device.copyOf(thetas);
        float* const cosine = device.take<float>(kRows * thetas.size());
        float* const sine = device.take<float>(kRows * thetas.size());
        kernels::launchTurnTable(theta, static_cast<int>(thetas.size()), position, 2.0, kRows, 1.0, cosine,
                                 sine);
        const auto c = fromDevice(calls, device, cosine, kRows * thetas.size());
        const auto s = fromDevice(calls, device, sine, kRows * thetas.size());
        for (std::size_t i = 0; i < c.size(); ++i) {
            const long double angle =
                (static_cast<long double>(position) + 2.0L * static_cast<long double>(i / 64)) *
                thetas[i % thetas.size()];
            checks.near("cosine in a table", c[i], std::cos(angle), 5e-7L);
            checks.near("sine in a table", s[i], std::sin(angle), 5e-7L);
        }
    }
}

/// [tokens, heads, head_dim] in float, to another place and in place.
void headRotations(const CudaCalls& calls, DeviceBuffers& device, Checks& checks)
{
    std::mt19937 random(11);
    for (const int headDim : {2, 64, 96, 128, 130})
        for (const Layout layout : {Layout::Half, Layout::Interleaved})
            for (const bool isInPlace : {false, true}) {
                device.restart();
                constexpr int kTokens = 5, kHeads = 3, kFirst = 131060;
                const int rotary = headDim == 96 ? 48 : headDim;
                const auto pairs = pairsOf(layout, rotary);
                const auto thetas = plainFrequencies(rotary);
                std::vector<int> channels, still;
                for (const auto& [a, b] : pairs)
                    channels.insert(channels.end(), {a, b});
                for (int c = rotary; c < headDim; ++c)
                    still.push_back(c);
                const auto numbers = gaussianNumbers(random, static_cast<std::size_t>(kTokens * kHeads) *
                                                                 static_cast<std::size_t>(headDim));
                const std::vector<float> rows(numbers.begin(), numbers.end());
                kernels::RowLayout shape{
                    headDim,         headDim, device.copyOf(channels), rotary / 2, device.copyOf(still),
                    headDim - rotary};
                float* const cosine = device.take<float>(kTokens * thetas.size());
                float* const sine = device.take<float>(kTokens * thetas.size());
                kernels::launchTurnTable(device.copyOf(thetas), rotary / 2, kFirst, 1.0, kTokens, 1.5, cosine,
                                         sine);
                float* const in = device.take<float>(rows.size());
                device.toDevice(in, std::span<const float>(rows));
                float* const out = isInPlace ? in : device.take<float>(rows.size());
                kernels::launchRotateRows(in, out, kTokens * kHeads, kHeads, shape, cosine, sine,
                                          kernels::Rounding::None);
                const auto turned = fromDevice(calls, device, out, rows.size());
                for (std::size_t row = 0; row < static_cast<std::size_t>(kTokens * kHeads); ++row) {
                    const float* from = rows.data() + row * static_cast<std::size_t>(headDim);
                    const float* to = turned.data() + row * static_cast<std::size_t>(headDim);
                    const auto position = static_cast<long double>(kFirst + row / kHeads);
                    for (std::size_t i = 0; i < pairs.size(); ++i) {
                        const auto [a, b] = pairs[i];
                        const auto expected = std::complex<long double>(from[a], from[b]) *
                                              std::polar(1.5L, position * thetas[i]);
                        const long double bound = 1e-6L * std::abs(expected);
                        checks.near("rotation of heads", to[a], expected.real(), bound);
                        checks.near("rotation of heads", to[b], expected.imag(), bound);
                    }
                    for (const int c : still)
                        checks.near("a channel that stays", to[c], from[c], 0);
                }
            }
}

template<class Real>
void products(const CudaCalls& calls, DeviceBuffers& device, Checks& checks, bool isSmall)
{
    std::mt19937 random(12);
    struct Shape
    {
        std::size_t rows, keys, width;
    };
    for (const Shape shape : {Shape{1, 1, 8}, {3, 130, 16}, {128, 128, 64}, {131, 257, 128}}) {
        if (isSmall && shape.rows > 100)
            continue;
        device.restart();
        const auto q = gaussianNumbers(random, shape.rows * shape.width);
        const auto k = gaussianNumbers(random, shape.keys * shape.width);
        const std::vector<Real> queries(q.begin(), q.end()), keys(k.begin(), k.end());
        Real* const cells = device.take<Real>(shape.rows * shape.keys);
        kernels::launchProduct(device.copyOf(queries), static_cast<std::int64_t>(shape.rows),
                               device.copyOf(keys), static_cast<std::int64_t>(shape.keys),
                               static_cast<int>(shape.width), cells);
        const auto host = fromDevice(calls, device, cells, shape.rows * shape.keys);
        for (std::size_t m = 0; m < shape.rows; ++m)
            for (std::size_t n = 0; n < shape.keys; ++n) {
                long double sum = 0, size = 0;
                for (std::size_t c = 0; c < shape.width; ++c) {
                    const long double product =
                        static_cast<long double>(queries[m * shape.width + c]) * keys[n * shape.width + c];
                    sum += product;
                    size += std::fabs(product);
                }
                checks.near("product", static_cast<double>(host[m * shape.keys + n]), sum,
                            size * static_cast<long double>(shape.width) *
                                std::numeric_limits<Real>::epsilon() / 2);
            }
    }
}

void colours(const CudaCalls& calls, DeviceBuffers& device, Checks& checks)
{
    device.restart();
    const double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> values{-infinity, -2.0, -1.0, 3.0, 3.1, infinity, std::nan("")};
    std::vector<std::uint32_t> expected{0, 0, 0, 255, 255, 255, 777};
    for (int i = 0; i < 256; ++i) { // the middle of each step
        values.push_back(-1.0 + (i + 0.5) * 4.0 / 256.0);
        expected.push_back(static_cast<std::uint32_t>(i));
    }
    std::vector<std::uint32_t> palette(256);
    for (std::uint32_t i = 0; i < 256; ++i)
        palette[i] = 0xFF000000U + 0x010203U * i;
    std::uint32_t* const out = device.take<std::uint32_t>(values.size());
    kernels::launchColours(device.copyOf(values), static_cast<std::int64_t>(values.size()), -1.0, 3.0,
                           device.copyOf(palette), 0xFF123456U, out);
    const auto host = fromDevice(calls, device, out, values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        checks.holds("colour " + std::to_string(i),
                     host[i] == (expected[i] == 777 ? 0xFF123456U : palette[expected[i]]));
}

/// Formats by the bits of their mantissa and their least exponent.
double shortened(double value, int bits, int leastExponent)
{
    if (value == 0.0 || !std::isfinite(value))
        return value;
    const int exponent = std::max(std::ilogb(value), leastExponent);
    return std::ldexp(std::nearbyint(std::ldexp(value, bits - exponent)), exponent - bits);
}
double asBf16(double value)
{
    return shortened(value, 7, -126);
}
double asHalf(double value)
{
    const double half = shortened(value, 10, -14);
    return std::fabs(half) > 65504.0 ? std::copysign(std::numeric_limits<double>::infinity(), value) : half;
}

void roundedAngles(const CudaCalls& calls, DeviceBuffers& device, Checks& checks)
{
    using kernels::AngleMode;
    const auto thetas = plainFrequencies(64);
    const auto ratio = static_cast<float>(thetas[1]);
    constexpr std::size_t kPositions = 6;
    std::vector<float> divisors;
    for (std::size_t i = 0; i < thetas.size(); ++i)
        divisors.push_back(i < 10 ? 1.0F : 4.0F + 0.1F * static_cast<float>(i));
    for (const std::int64_t first : {std::int64_t{0}, std::int64_t{255}, std::int64_t{2047},
                                     std::int64_t{65517}, std::int64_t{131067}, std::int64_t{16777215}})
        for (int mode = 0; mode < 7; ++mode) {
            device.restart();
            kernels::RoundedAngleTable table;
            table.mode = static_cast<AngleMode>(mode);
            table.theta = device.copyOf(thetas);
            table.pairs = static_cast<int>(thetas.size());
            table.ratio = ratio;
            table.divisor = first == 255 ? device.copyOf(divisors) : nullptr;
            table.first = first;
            double* const out = device.take<double>(kPositions * thetas.size());
            kernels::launchRoundedAngles(table, kPositions, out);
            const auto angles = fromDevice(calls, device, out, kPositions * thetas.size());
            for (std::size_t k = 0; k < kPositions; ++k) {
                const auto p = static_cast<double>(first + static_cast<std::int64_t>(k));
                const auto p32 = static_cast<float>(p);
                float running = p32;
                for (std::size_t i = 0; i < thetas.size(); ++i) {
                    const auto theta = static_cast<float>(thetas[i]);
                    double expected = 0.0, allowed = 0.0;
                    switch (table.mode) {
                    case AngleMode::Float32:
                        expected = static_cast<double>(p32 * theta);
                        break;
                    case AngleMode::RunningProduct:
                    case AngleMode::GgmlCuda: {
                        float series = running;
                        if (table.mode == AngleMode::GgmlCuda) {
                            series = p32 * static_cast<float>(
                                               std::pow(static_cast<double>(ratio), static_cast<int>(i)));
                            // A power may come out one double apart, and so on either side of a float.
                            allowed = std::fabs(static_cast<double>(series)) * 0x1p-22;
                        }
                        expected = static_cast<double>(table.divisor ? series / divisors[i] : series);
                        running = running * ratio;
                        break;
                    }
                    case AngleMode::Bf16Positions:
                        expected = static_cast<double>(static_cast<float>(asBf16(p)) * theta);
                        break;
                    case AngleMode::Bf16Theta:
                        expected = static_cast<double>(p32 * static_cast<float>(asBf16(theta)));
                        break;
                    case AngleMode::Bf16All:
                        expected = asBf16(asBf16(p) * asBf16(theta));
                        break;
                    case AngleMode::Fp16All:
                        expected = asHalf(asHalf(p) * asHalf(theta));
                        break;
                    }
                    const double angle = angles[k * thetas.size() + i];
                    if (std::isinf(expected))
                        checks.holds("an angle past float16", angle == expected);
                    else
                        checks.near("angle of mode " + std::to_string(mode), angle, expected, allowed);
                }
            }
        }
}

} // namespace

void kernelCases(const CudaCalls& calls, Checks& checks, bool isSmall)
{
    try {
        DeviceBuffers device(calls);
        turnTables(calls, device, checks);
        headRotations(calls, device, checks);
        products<float>(calls, device, checks, isSmall);
        products<double>(calls, device, checks, isSmall);
        colours(calls, device, checks);
        roundedAngles(calls, device, checks);
    } catch (const CudaFailure& failure) {
        checks.holds(toEnglish(failure.error), false);
    }
}

} // namespace ropewalk::parity
