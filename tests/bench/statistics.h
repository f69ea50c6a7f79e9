// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ropewalk::bench {

/// The value in the middle; of an even number the mean of the two there. NaN of nothing.
double median(std::vector<double> values);

/// The least value that is not below `share` (0..1) of all (nearest rank). NaN of nothing.
double quantile(std::vector<double> values, double share);

/// How long the threads of this process ran on a core and waited for one, in nanoseconds, as the kernel
/// counts.
struct CoreTimes
{
    std::uint64_t ran = 0, waited = 0;
};

/// Reads one line of /proc/*/schedstat: "ran waited slices". Empty where it is something else.
std::optional<CoreTimes> parseSchedstat(std::string_view line);

/// The sum over the threads that live now; empty where the kernel does not count (no Linux, no
/// CONFIG_SCHED_INFO).
std::optional<CoreTimes> coreTimesOfThreads();

/// Of the calling thread.
std::optional<CoreTimes> coreTimesOfThisThread();

/// A sample whose threads waited longer than this share of it shared its cores with others.
inline constexpr double kMostWaiting = 0.03;

/// Whether a sample of `seconds` measures this program alone. Unknown times count as clean.
bool isClean(const std::optional<CoreTimes>& before, const std::optional<CoreTimes>& after, double seconds);

} // namespace ropewalk::bench
