// SPDX-License-Identifier: GPL-3.0-or-later
#include "harness.h"

#include "core/json_writer.h"
#include "statistics.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace ropewalk::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// Fewer clean samples than this say nothing.
constexpr int kFewestClean = 3;

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The width of a text in a terminal: code points, none of which is wide here.
std::size_t shownWidth(const std::string& text)
{
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string padded(std::string text, std::size_t width)
{
    const std::size_t shown = shownWidth(text);
    if (shown < width)
        text.append(width - shown, ' ');
    return text;
}

std::string factorText(std::optional<double> factor)
{
    if (!factor)
        return "-";
    char text[32];
    std::snprintf(text, sizeof text, *factor >= 99.5 ? "%.0f" : *factor >= 9.95 ? "%.1f" : "%.2f", *factor);
    return text;
}

} // namespace

std::vector<Measured> measureInTurn(std::span<const Variant> variants, const Effort& effort)
{
    struct State
    {
        int repeats = 1;
        std::vector<double> clean, all;
    };
    std::vector<State> states(variants.size());
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < variants.size(); ++i) {
        variants[i].run(); // touches its memory, fills its caches
        const auto start = Clock::now();
        variants[i].run();
        const double once = std::max(1e-7, secondsSince(start));
        states[i].repeats = std::clamp(static_cast<int>(std::ceil(effort.sampleSeconds / once)), 1, 200000);
    }
    const auto isDone = [&] {
        return std::all_of(states.begin(), states.end(), [&](const State& state) {
            return static_cast<int>(state.clean.size()) >= effort.samples;
        });
    };
    while (!isDone() && secondsSince(begin) < effort.mostSeconds) {
        for (std::size_t i = 0; i < variants.size(); ++i) {
            State& state = states[i];
            if (static_cast<int>(state.clean.size()) >= effort.samples)
                continue;
            const auto before = coreTimesOfThreads();
            const auto start = Clock::now();
            for (int repeat = 0; repeat < state.repeats; ++repeat)
                variants[i].run();
            const double seconds = secondsSince(start);
            const auto after = coreTimesOfThreads();
            const double milliseconds = seconds * 1e3 / state.repeats / variants[i].share;
            state.all.push_back(milliseconds);
            if (isClean(before, after, seconds))
                state.clean.push_back(milliseconds);
        }
    }
    std::vector<Measured> measured;
    for (const State& state : states) {
        Measured one;
        one.clean = static_cast<int>(state.clean.size());
        one.all = static_cast<int>(state.all.size());
        one.isShared = one.clean < kFewestClean;
        one.milliseconds = median(one.isShared ? state.all : state.clean);
        measured.push_back(one);
    }
    return measured;
}

std::optional<double> Row::ratioToLimit() const
{
    if (!ours || !limit || !(*limit > 0.0))
        return {};
    return *ours / *limit;
}

std::optional<double> Row::speedupOverNaive() const
{
    if (!ours || !naive || !(*ours > 0.0))
        return {};
    return *naive / *ours;
}

std::string timeText(double milliseconds)
{
    char text[32];
    const bool isSmall = milliseconds < 0.1;
    const double value = isSmall ? milliseconds * 1e3 : milliseconds;
    std::snprintf(text, sizeof text, value >= 99.5 ? "%.0f" : value >= 9.95 ? "%.1f" : "%.2f", value);
    return std::string(text) + (isSmall ? " µs" : " ms");
}

Report::Report(bool isPrinting)
    : m_isPrinting(isPrinting)
{
}

void Report::setMachine(std::vector<std::pair<std::string, std::string>> facts)
{
    m_machine = std::move(facts);
    if (!m_isPrinting)
        return;
    for (const auto& [name, value] : m_machine)
        std::printf("%s: %s\n", name.c_str(), value.c_str());
}

void Report::beginGroup(const std::string& title)
{
    if (!m_isPrinting)
        return;
    std::printf("\n%s %s %s %s %s %s %s %s\n", padded(title, 44).c_str(), padded("size", 24).c_str(),
                padded("ours", 9).c_str(), padded("limit", 9).c_str(), padded("naive", 9).c_str(),
                padded("ours/limit", 10).c_str(), padded("naive/ours", 10).c_str(), "goal");
    std::fflush(stdout);
}

void Report::add(Row row)
{
    if (m_isPrinting) {
        const auto time = [](std::optional<double> value) {
            return value ? timeText(*value) : std::string("-");
        };
        const char* met = !row.met ? "?" : *row.met ? "met" : "MISSED";
        std::printf("%s %s %s %s %s %s %s %s: %s\n", padded(row.operation, 44).c_str(),
                    padded(row.size, 24).c_str(), padded(time(row.ours), 9).c_str(),
                    padded(time(row.limit), 9).c_str(), padded(time(row.naive), 9).c_str(),
                    padded(factorText(row.ratioToLimit()), 10).c_str(),
                    padded(factorText(row.speedupOverNaive()), 10).c_str(), met, row.goal.c_str());
        std::string remark = row.limitName.empty() ? std::string() : "limit: " + row.limitName;
        if (!row.note.empty())
            remark += (remark.empty() ? "" : "; ") + row.note;
        if (!remark.empty())
            std::printf("    %s\n", remark.c_str());
        std::fflush(stdout);
    }
    m_rows.push_back(std::move(row));
}

std::string Report::sharedNote(std::span<const Measured> measured)
{
    const bool isShared =
        std::any_of(measured.begin(), measured.end(), [](const Measured& one) { return one.isShared; });
    return isShared ? "the cores were shared with others in nearly all samples: not to be relied on" : "";
}

std::string Report::json() const
{
    JsonWriter json;
    json.beginObject();
    json.member("schema", "ropewalk.bench/1");
    json.key("machine");
    json.beginObject();
    for (const auto& [name, value] : m_machine) {
        json.member(name, value);
    }
    json.endObject();
    json.member("unit", "ms");
    json.key("rows");
    json.beginArray();
    for (const Row& row : m_rows) {
        json.beginObject(JsonWriter::Style::Inline);
        json.member("operation", row.operation);
        json.member("size", row.size);
        json.member("ours", row.ours);
        json.member("limit", row.limit);
        json.member("naive", row.naive);
        json.member("ratio_to_limit", row.ratioToLimit());
        json.member("speedup_over_naive", row.speedupOverNaive());
        json.member("goal", row.goal);
        json.member("met", row.met);
        json.member("limit_name", row.limitName);
        json.member("note", row.note);
        json.endObject();
    }
    json.endArray();
    json.endObject();
    return json.take();
}

} // namespace ropewalk::bench
