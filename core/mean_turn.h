// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>

namespace ropewalk {

/// The mean of e^{jpθ} over the `count` ≥ 1 positions p = first, first+1, …: its real part is the mean of
/// cos, its imaginary part that of sin. In closed form,
/// e^{j(first+(count-1)/2)θ}·sin(count·θ/2)/(count·sin(θ/2)) (Dirichlet's kernel); error about 1e-16·(1 +
/// (first+count)·θ).
std::complex<double> meanTurn(double theta, std::int64_t first, std::int64_t count);

} // namespace ropewalk
