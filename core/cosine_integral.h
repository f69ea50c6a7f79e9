// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace ropewalk {

/// Ci(x) = γ + ln x + ∫₀ˣ (cos t - 1)/t dt for x > 0; absolute error about 2e-15 on 1e-4..1e7.
double cosineIntegral(double x);

/// The limit of the cosine sum 2B(r)/d as d grows, r ≥ 1: (Ci(r) - Ci(r/b))/ln b (Su,
/// kexue.fm/archives/10122).
double cosineSumLimit(double distance, double base);

} // namespace ropewalk
