// SPDX-License-Identifier: GPL-3.0-or-later
// Queries and keys that stay on the device: they are brought over once, are never taken for others, have
// bounds, and give the same bits as rows that come just now, whatever fails meanwhile. What these bits have
// to be is known from runs whose rows have no identity, which tests/parity holds against sums in long double.
#include "gpu/cuda_calls.h"
#include "gpu/cuda_check.h"
#include "gpu/kept_rows.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace ropewalk;

namespace {

int checked = 0;

void check(bool holds, const std::string& what)
{
    ++checked;
    if (!holds) {
        std::fprintf(stderr, "FAILED: %s\n", what.c_str());
        std::exit(1);
    }
}

// ---------------------------------------------------------------------------------------------- the device

enum class Call { UseDevice, FreeMemory, Allocate, ToDevice, ToHost, Synchronize, LastError };
constexpr Call kCalls[] = {Call::UseDevice, Call::FreeMemory,  Call::Allocate, Call::ToDevice,
                           Call::ToHost,    Call::Synchronize, Call::LastError};

/// The stand-in with a memory that has an end and an error that stays until it is asked for, both as the
/// runtime's, and with one fault.
struct Device
{
    std::size_t memory = std::size_t{1} << 40, used = 0;
    std::map<void*, std::size_t> arrays;
    std::size_t refused = 0; ///< an array of so many bytes is not to be had
    int lastError = 0;

    Call faulty = Call::UseDevice;
    int good = -1; ///< calls of this kind that go well before the one that does not; -1: all
    int code = 0;  ///< of the fault
    bool hasFailed = false;

    std::map<const double*, std::size_t> rows; ///< numbers of queries and keys in the host's memory
    std::size_t broughtOver = 0;               ///< bytes of them
    std::stop_source* stopAtRows = nullptr;    ///< asked to stop once rows come over

    int outcome(Call call, int otherwise)
    {
        if (call != faulty || good < 0 || good-- > 0)
            return otherwise;
        hasFailed = true;
        return lastError = code;
    }
} device;

CudaCalls countedCalls()
{
    CudaCalls calls = cudaCalls();
    calls.useDevice = [] { return device.outcome(Call::UseDevice, 0); };
    calls.freeMemory = [](std::size_t* bytes) {
        *bytes = device.memory > device.used ? device.memory - device.used : 0;
        return device.outcome(Call::FreeMemory, 0);
    };
    calls.allocate = [](void** memory, std::size_t bytes) {
        if (const int code = device.outcome(Call::Allocate, 0))
            return code;
        if (device.used + bytes > device.memory || bytes == device.refused)
            return device.lastError = kCudaOutOfMemory;
        device.used += bytes;
        const int code = cudaCalls().allocate(memory, bytes);
        device.arrays[*memory] = bytes;
        return code;
    };
    calls.release = [](void* memory) {
        const auto found = device.arrays.find(memory);
        check(found != device.arrays.end(), "what is given back was had");
        device.used -= found->second;
        device.arrays.erase(found);
        return cudaCalls().release(memory);
    };
    calls.toDevice = [](void* to, const void* from, std::size_t bytes) {
        if (const int code = device.outcome(Call::ToDevice, 0))
            return code;
        const auto* const numbers = static_cast<const double*>(from);
        auto rows = device.rows.upper_bound(numbers);
        if (rows != device.rows.begin() && numbers < (--rows)->first + rows->second) {
            device.broughtOver += bytes;
            if (device.stopAtRows)
                device.stopAtRows->request_stop();
        }
        return cudaCalls().toDevice(to, from, bytes);
    };
    calls.toHost = [](void* to, const void* from, std::size_t bytes) {
        const int code = device.outcome(Call::ToHost, 0);
        return code != 0 ? code : cudaCalls().toHost(to, from, bytes);
    };
    calls.synchronize = [] { return device.outcome(Call::Synchronize, 0); };
    calls.lastError = [] {
        const int code = device.outcome(Call::LastError, device.lastError);
        device.lastError = 0;
        return code;
    };
    return calls;
}

// ------------------------------------------------------------------------------------------------ the maps

/// Queries and keys of random numbers, with identities of their own.
struct Content
{
    int width;
    std::int64_t length;
    std::vector<double> queries, keys;
    std::uint64_t queriesId, keysId;

    explicit Content(std::int64_t length_ = 60, int width_ = 8)
        : width(width_)
        , length(length_)
    {
        static std::uint64_t last = 0;
        queriesId = ++last;
        keysId = ++last;
        std::mt19937 random(static_cast<unsigned>(last));
        std::normal_distribution<double> normal;
        for (std::vector<double>* rows : {&queries, &keys}) {
            rows->resize(static_cast<std::size_t>(length * width));
            for (double& number : *rows)
                number = normal(random);
            device.rows[rows->data()] = rows->size();
        }
    }
    ~Content()
    {
        device.rows.erase(queries.data());
        device.rows.erase(keys.data());
    }
    Content(const Content&) = delete;
    Content& operator=(const Content&) = delete;

    std::size_t bytes() const { return (queries.size() + keys.size()) * sizeof(double); }
};

struct Ask
{
    double base = 1e4;
    ScorePrecision precision = ScorePrecision::Single;
    ScoreStage stage = ScoreStage::Raw;
    CellRange rows{0, 0}, columns{0, 0}; ///< end 0: all
    bool holdsAllKeys = false;           ///< also where the columns are fewer
    bool isDifference = false;           ///< with rotation less without
    bool isCausal = false;
    std::stop_token stop = {};
};

using Numbers = std::vector<double>;

/// The map of the queries of one content and the keys of another.
Result<Numbers> run(ComputeBackend& backend, const Content& queries, const Content& keys, const Ask& ask,
                    bool isNamed = true)
{
    const CellRange all{0, queries.length};
    const int width = queries.width;
    const auto part = [&](const std::vector<double>& rows, CellRange range) {
        return std::span(rows).subspan(static_cast<std::size_t>(range.first * width),
                                       static_cast<std::size_t>((range.end - range.first) * width));
    };
    ScoreMapOp op;
    op.grid =
        scoreGrid(queries.length, ask.rows.end ? ask.rows : all, ask.columns.end ? ask.columns : all, 16);
    op.grid.isCausal = ask.isCausal;
    op.stage = ask.stage;
    op.precision = ask.precision;
    const bool holdsAll = ask.holdsAllKeys || ask.stage == ScoreStage::Softmax;
    const CellRange rows = op.grid.rows();
    const CellRange held = holdsAll ? CellRange{0, ask.isCausal ? rows.end : all.end} : op.grid.columns();
    op.firstKey = held.first;
    std::vector<std::pair<int, int>> pairs;
    std::vector<double> thetas;
    for (int i = 0; i < width / 2; ++i) {
        pairs.emplace_back(i, i + width / 2);
        thetas.push_back(std::pow(ask.base, -2.0 * i / width));
    }
    std::vector<ScoreTerm> terms(ask.isDifference ? 2 : 1);
    for (ScoreTerm& term : terms) {
        term.width = width;
        term.queries = part(queries.queries, rows);
        term.keys = part(keys.keys, held);
        if (isNamed) {
            term.queriesAre = {queries.queriesId, rows.first};
            term.keysAre = {keys.keysId, held.first};
        }
    }
    terms[0].pairs = pairs;
    terms[0].invFreq = thetas;
    if (ask.isDifference)
        terms[1].weight = -1.0;
    op.terms = terms;
    const auto blocks = static_cast<std::size_t>(op.grid.rowBlocks * op.grid.columnBlocks);
    Numbers mean(blocks, -7.0), least(mean), greatest(mean);
    Numbers rowValue(static_cast<std::size_t>(rows.end - rows.first), -7.0);
    op.mean = mean;
    op.least = least;
    op.greatest = greatest;
    op.rowValue = rowValue;
    device.broughtOver = 0;
    if (const Result<void> done = backend.run(op, ask.stop); !done)
        return done.error();
    for (const Numbers& more : {least, greatest, rowValue})
        mean.insert(mean.end(), more.begin(), more.end());
    return mean;
}

/// The numbers that there have to be.
Numbers expected(const Content& queries, const Content& keys, const Ask& ask)
{
    return run(*makeCudaBackend(cudaCalls()), queries, keys, ask, false).value();
}

bool hasSameBits(const Numbers& a, const Numbers& b)
{
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// The map is right to the bit, and `bytes` of rows came over for it.
void expectMap(ComputeBackend& backend, const Content& queries, const Content& keys, const Ask& ask,
               std::size_t bytes, const std::string& what)
{
    const Result<Numbers> numbers = run(backend, queries, keys, ask);
    const std::size_t brought = device.broughtOver;
    check(numbers.hasValue(), what + ": it ran");
    const Numbers right = expected(queries, keys, ask);
    check(hasSameBits(*numbers, right), what + ": the same bits");
    check(brought == bytes, what + ": " + std::to_string(brought) + " bytes of rows came over instead of " +
                                std::to_string(bytes));
}

void expectMap(ComputeBackend& backend, const Content& content, const Ask& ask, std::size_t bytes,
               const std::string& what)
{
    expectMap(backend, content, content, ask, bytes, what);
}

void expectNothingLeft(const std::string& what)
{
    check(device.used == 0 && device.arrays.empty(), what + ": all memory was given back");
}

// ----------------------------------------------------------------------------------------------- the tests

void comeOverOnce()
{
    const auto backend = makeCudaBackend(countedCalls());
    const Content content, other;
    expectMap(*backend, content, {}, content.bytes(), "the first map");
    expectMap(*backend, content, {.base = 5e5}, 0, "another base");
    for (const ScorePrecision precision :
         {ScorePrecision::Double, ScorePrecision::Single, ScorePrecision::Tf32, ScorePrecision::Bf16})
        for (const ScoreStage stage : {ScoreStage::Raw, ScoreStage::Softmax})
            expectMap(*backend, content, {.precision = precision, .stage = stage}, 0,
                      std::string(scorePrecisionName(precision)));
    expectMap(*backend, other, {}, other.bytes(), "other rows");
    expectMap(*backend, other, content, {}, 0, "queries of one, keys of the other");
    check(run(*backend, content, content, {}, false).hasValue() && device.broughtOver == content.bytes(),
          "rows that have no identity come over each time");
    const Content wider(60, 12); // more than a step of the product's channels
    expectMap(*backend, wider, {.isDifference = true}, wider.bytes(), "two terms of the same rows");
}

void comeOverAtAnyPrecisionFirst()
{
    for (const ScorePrecision precision :
         {ScorePrecision::Double, ScorePrecision::Single, ScorePrecision::Tf32, ScorePrecision::Bf16}) {
        const auto backend = makeCudaBackend(countedCalls());
        const Content content;
        const std::string name(scorePrecisionName(precision));
        expectMap(*backend, content, {.precision = precision}, content.bytes(), name + " first");
        expectMap(*backend, content, {.precision = precision}, 0, name + " again");
        expectMap(*backend, content, {.precision = ScorePrecision::Double}, 0, "double after " + name);
    }
    expectNothingLeft("precisions");
}

void partsAreNotTheWhole()
{
    const auto backend = makeCudaBackend(countedCalls());
    const Content content;
    const auto bytesOf = [&](std::int64_t rows) {
        return static_cast<std::size_t>(rows * content.width) * sizeof(double);
    };
    // Of the rows two blocks of 16: the grid leaves the ranges as they are.
    const Ask part{.rows = {16, 32}, .columns = {32, 48}};
    expectMap(*backend, content, part, bytesOf(16 + 16), "a part");
    expectMap(*backend, content, {.rows = {20, 24}, .columns = {40, 46}}, 0, "a part of it");
    expectMap(*backend, content, {.rows = {24, 40}, .columns = {32, 48}}, bytesOf(16), "half of it");
    expectMap(*backend, content, {.rows = {15, 31}, .columns = {33, 49}}, bytesOf(16 + 16), "one row away");
    // Of the first queries no more keys than they see: one that were read past them would show in memory that
    // is watched, as each of these maps is of a backend of its own.
    check(!expected(content, content, {.stage = ScoreStage::Softmax, .rows = {3, 20}, .isCausal = true})
               .empty(),
          "no keys past the last one that is seen");
    const Ask fewer{.rows = {15, 31}, .columns = {41, 57}, .holdsAllKeys = true};
    expectMap(*backend, content, fewer, bytesOf(16), "of all keys those in view");
    expectMap(*backend, content, {.rows = {15, 31}, .columns = {41, 57}}, 0, "which are these");
    expectMap(*backend, content, {}, content.bytes(), "the whole");
    expectMap(*backend, content, {.rows = {1, 60}, .columns = {0, 59}}, 0, "nearly all of the whole");
    expectMap(*backend, content, {.stage = ScoreStage::Softmax, .rows = {7, 13}, .columns = {50, 60}}, 0,
              "all keys of a part");
}

/// Gives the device room for `rows` times queries or keys of `content` under the quarter.
void leaveRoomFor(double rows, const Content& content)
{
    device.memory = device.used + static_cast<std::size_t>(rows * static_cast<double>(KeptRows::kShare) *
                                                           static_cast<double>(content.bytes()) / 2.0);
}

void takeAQuarterOfTheMemory()
{
    {
        const auto backend = makeCudaBackend(countedCalls());
        const Content a, b, c;
        run(*backend, a, a, {}, false).value(); // what a map takes itself
        const std::size_t taken = device.used;
        leaveRoomFor(4.5, a);
        expectMap(*backend, a, {}, a.bytes(), "a");
        expectMap(*backend, b, {}, b.bytes(), "b");
        check(device.used == taken + a.bytes() + b.bytes(), "both are there");
        expectMap(*backend, a, {}, 0, "a again");
        expectMap(*backend, c, {}, c.bytes(), "c");
        check(device.used == taken + a.bytes() + c.bytes(), "for which b went");
        expectMap(*backend, a, {}, 0, "a once more, which b was used before");
        expectMap(*backend, b, {}, b.bytes(), "b comes over again");
        check(device.used == taken + a.bytes() + b.bytes(), "for which c went");
    }
    {
        const auto backend = makeCudaBackend(countedCalls());
        device.memory = std::size_t{1} << 40;
        const Content a;
        run(*backend, a, a, {}, false).value();
        const std::size_t taken = device.used;
        leaveRoomFor(1.5, a);
        expectMap(*backend, a, {}, a.bytes(), "the queries have room");
        check(device.used == taken + a.bytes() / 2, "the keys have none");
        for (const double base : {1e3, 1e5}) // and do not push the queries out, nor these the keys
            expectMap(*backend, a, {.base = base}, a.bytes() / 2, "the keys come over each time");
        const Content b;
        device.memory = device.used;
        expectMap(*backend, b, {}, b.bytes(), "no room");
        expectMap(*backend, b, {}, b.bytes(), "and none later");
        expectMap(*backend, a, {}, a.bytes() / 2, "what is there stays");
    }
    device.memory = std::size_t{1} << 40;
    expectNothingLeft("a quarter");
}

void areNotTooMany()
{
    const auto backend = makeCudaBackend(countedCalls());
    std::vector<std::unique_ptr<Content>> contents;
    for (std::size_t i = 0; i <= KeptRows::kMost / 2; ++i) { // one more than has room
        contents.push_back(std::make_unique<Content>(5, 2));
        expectMap(*backend, *contents.back(), {}, contents.back()->bytes(), "one of many");
    }
    expectMap(*backend, *contents[1], {}, 0, "the second is there");
    expectMap(*backend, *contents[0], {}, contents[0]->bytes(), "the first is not");
    expectMap(*backend, *contents[2], {}, contents[2]->bytes(), "for which the one used longest ago went");
    expectMap(*backend, *contents[1], {}, 0, "and no other");
}

void areGivenUpForWantOfMemory()
{
    {
        const auto backend = makeCudaBackend(countedCalls());
        const Content content;
        const Ask part{.rows = {16, 36}};
        const std::size_t queries = content.bytes() / 6, keys = content.bytes() / 2;
        device.refused = queries; // in one piece: so much is said to be free
        expectMap(*backend, content, part, queries + keys, "no memory in one piece for the queries");
        expectMap(*backend, content, part, queries, "nor later");
        device.refused = 0;
        expectMap(*backend, content, part, queries, "there is some");
        expectMap(*backend, content, part, 0, "and they stay");
    }
    {
        // Another program has taken the rest, and a map of more rows has room without those kept only.
        const auto backend = makeCudaBackend(countedCalls());
        const Content small, large(200, 8);
        expectMap(*backend, small, {}, small.bytes(), "a small map");
        std::size_t needed = 0;
        {
            const auto alone = makeCudaBackend(countedCalls());
            const std::size_t before = device.used;
            run(*alone, large, large, {}, false).value();
            needed = device.used - before;
        }
        device.memory = needed + small.bytes() / 4;
        check(run(*backend, large, large, {}).hasValue() && device.broughtOver >= large.bytes(),
              "rows kept make room for a map");
        check(device.used == needed, "and nothing is kept beside it");
        device.memory = device.used + needed - 1;
        const auto fails = run(*makeCudaBackend(countedCalls()), large, large, {});
        check(!fails && toEnglish(fails.error()) == "the GPU has too little free memory for this",
              "where there is none without them either, it is said");
        device.memory = std::size_t{1} << 40;
        expectMap(*backend, small, {}, small.bytes(), "the small map's were forgotten");
        expectMap(*backend, small, {}, 0, "and are kept again");
    }
    expectNothingLeft("want of memory");
}

/// Whatever call fails while some rows are there and others come: the next run is right, and so is this one
/// where it does not say that it failed.
void aFaultAnywhereLeavesNoWrongRows()
{
    const Content first(20, 4), second(20, 4);
    const Ask ask{.base = 2e4};
    const Numbers right = expected(first, second, ask);
    const auto isRight = [&](const Result<Numbers>& numbers) {
        return numbers && hasSameBits(*numbers, right);
    };
    const auto expectFaults = [&](Call call, int code) {
        for (int good = 0;; ++good) {
            const std::string what = "call " + std::to_string(static_cast<int>(call)) + ", " +
                                     std::to_string(good) + " times good, then " + std::to_string(code);
            const auto backend = makeCudaBackend(countedCalls());
            run(*backend, first, first, {}).value();
            device.faulty = call;
            device.good = good;
            device.code = code;
            device.hasFailed = false;
            const Result<Numbers> numbers = run(*backend, first, second, ask);
            device.good = -1;
            const bool isMemory = code == kCudaOutOfMemory; // which there is once others are given back
            check(!device.hasFailed || isMemory ? isRight(numbers)
                                                : !numbers && numbers.error().code == ErrorCode::RunFailed,
                  what + ": the same bits, or it says that it failed");
            check(device.lastError == 0, what + ": no error waits for the next run");
            if (!device.hasFailed) {
                check(good > 0, what + ": the call is made");
                return;
            }
            check(isRight(run(*backend, first, second, ask)), what + ": the same bits in the next run");
            // A device that failed is not believed to hold any; one without memory may.
            check(isMemory || device.broughtOver == first.bytes(), what + ": all rows come over again");
        }
    };
    for (const Call call : kCalls)
        expectFaults(call, kCudaDeviceLost);
    for (const Call call : {Call::FreeMemory, Call::Allocate, Call::Synchronize})
        expectFaults(call, kCudaOutOfMemory);
    expectNothingLeft("faults");
}

void halfOfThemAreNotKept()
{
    const auto backend = makeCudaBackend(countedCalls());
    const Content content(8200, 2); // two pieces
    Ask ask{.rows = {0, 16}, .columns = {0, 16}};
    run(*backend, content, content, ask).value(); // all queries that are needed, few keys
    ask.stage = ScoreStage::Softmax;
    std::stop_source source;
    ask.stop = source.get_token();
    device.stopAtRows = &source;
    const Result<Numbers> stopped = run(*backend, content, content, ask);
    device.stopAtRows = nullptr;
    check(!stopped && stopped.error().code == ErrorCode::Cancelled, "it stops");
    check(device.broughtOver > 0 && device.broughtOver < content.bytes() / 2, "while the keys come over");
    ask.stop = {};
    expectMap(*backend, content, ask, content.bytes() / 2, "then all keys come over");
    ask.base = 1e6;
    expectMap(*backend, content, ask, 0, "and are kept");
}

} // namespace

int main()
{
    comeOverOnce();
    comeOverAtAnyPrecisionFirst();
    partsAreNotTheWhole();
    takeAQuarterOfTheMemory();
    areNotTooMany();
    areGivenUpForWantOfMemory();
    aFaultAnywhereLeavesNoWrongRows();
    halfOfThemAreNotKept();
    expectNothingLeft("the end");
    std::printf("checked: %d numbers against references, loops in long double and invariants\n", checked);
    return 0;
}
