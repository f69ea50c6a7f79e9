// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ropewalk::bench {

/// One way to do the work of a row. `run` reuses its buffers, which were touched before.
struct Variant
{
    std::function<void()> run;
    double share =
        1.0; ///< of the work that `run` does; a slow one does a part, and its time is divided by it
};

/// What was measured of one variant.
struct Measured
{
    double milliseconds = 0.0; ///< median of the clean samples of the whole work
    int clean = 0;             ///< samples that count
    int all = 0;
    bool isShared = false; ///< too few were clean: the median is over all samples
};

/// How long a row may take.
struct Effort
{
    double sampleSeconds = 0.012; ///< of one sample at least
    int samples = 9;              ///< clean ones of each variant
    double mostSeconds = 6.0;     ///< of the row; what is clean by then counts
};

/// Measures the variants in turn (A B C A B C …), so that what the machine does meanwhile meets all alike. A
/// sample during which threads of this process waited more than 3 % for a core is thrown away.
std::vector<Measured> measureInTurn(std::span<const Variant> variants, const Effort& effort);

/// One line of the table. Times are milliseconds of the whole operation; what is not measured is empty.
struct Row
{
    std::string operation, size;
    std::optional<double> ours, limit, naive;
    std::string limitName; ///< what `limit` is, for people
    std::string goal;
    std::optional<bool> met; ///< empty: could not be judged, and the note says why
    std::string note;

    std::optional<double> ratioToLimit() const;     ///< ours ÷ limit: 1 is the limit, above is slower
    std::optional<double> speedupOverNaive() const; ///< naive ÷ ours
};

/// Collects the rows of all groups, and prints each as soon as it is there.
class Report
{
public:
    explicit Report(bool isPrinting);
    void add(Row row);
    /// A remark of a row when its samples were not clean; to be put into Row::note.
    static std::string sharedNote(std::span<const Measured> measured);
    void beginGroup(const std::string& title);
    std::string json() const; ///< schema ropewalk.bench/1
    const std::vector<Row>& rows() const { return m_rows; }
    void setMachine(std::vector<std::pair<std::string, std::string>> facts);

private:
    bool m_isPrinting;
    std::vector<Row> m_rows;
    std::vector<std::pair<std::string, std::string>> m_machine;
};

/// Keeps the compiler from leaving out what computed `value`.
template<class T>
inline void keep(const T& value)
{
    asm volatile("" : : "g"(&value) : "memory");
}

/// "12.3 ms", "0.42 µs": three digits that count.
std::string timeText(double milliseconds);

} // namespace ropewalk::bench
