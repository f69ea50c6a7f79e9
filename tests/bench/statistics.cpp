// SPDX-License-Identifier: GPL-3.0-or-later
#include "statistics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace ropewalk::bench {

double median(std::vector<double> values)
{
    if (values.empty())
        return std::numeric_limits<double>::quiet_NaN();
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1)
        return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2.0;
}

double quantile(std::vector<double> values, double share)
{
    if (values.empty())
        return std::numeric_limits<double>::quiet_NaN();
    const auto count = static_cast<double>(values.size());
    const double rank = std::clamp(std::ceil(share * count), 1.0, count);
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank) - 1;
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

std::optional<CoreTimes> parseSchedstat(std::string_view line)
{
    CoreTimes times;
    const char* at = line.data();
    const char* const end = at + line.size();
    for (std::uint64_t* number : {&times.ran, &times.waited}) {
        while (at != end && *at == ' ')
            ++at;
        const auto [next, error] = std::from_chars(at, end, *number);
        if (error != std::errc())
            return {};
        at = next;
    }
    return times;
}

std::optional<CoreTimes> coreTimesOfThreads()
{
    std::optional<CoreTimes> sum;
    std::error_code error;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
        std::ifstream file(task.path() / "schedstat");
        std::string line;
        if (!std::getline(file, line))
            continue; // a thread that ended meanwhile
        if (const auto times = parseSchedstat(line)) {
            if (!sum)
                sum.emplace();
            sum->ran += times->ran;
            sum->waited += times->waited;
        }
    }
    return sum;
}

std::optional<CoreTimes> coreTimesOfThisThread()
{
    std::ifstream file("/proc/thread-self/schedstat");
    std::string line;
    return std::getline(file, line) ? parseSchedstat(line) : std::nullopt;
}

bool isClean(const std::optional<CoreTimes>& before, const std::optional<CoreTimes>& after, double seconds)
{
    if (!before || !after)
        return true;
    // A thread that ended within the sample took its waiting along: what is left may be less than before.
    const double waited =
        after->waited > before->waited ? static_cast<double>(after->waited - before->waited) * 1e-9 : 0.0;
    return waited <= kMostWaiting * seconds;
}

} // namespace ropewalk::bench
