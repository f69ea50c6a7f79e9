// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "head_tensors.h"
#include "result.h"
#include "rope_config.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace ropewalk {

struct FigureOptions;

/// How q and k are made before rotation. Each number is drawn by its own counter (philox.h), so that any row
/// can be made alone and is the same on every machine.
enum class Content {
    Ones,        ///< every channel 1, so that the score over head_dim is C(m-n)
    Gaussian,    ///< N(0, I), another draw at each position
    Same,        ///< k = q ~ N(0, I), one draw for all positions
    Correlation, ///< k = ρq + √(1-ρ²)z; one q and one z for all positions, or as an option a pair for each
    Needle,      ///< one q; k_n ~ N(0, I), but c·q at the needle's position, with the wanted logit unrotated
    Clusters,    ///< q_m = μ_q + σ·N(0, I), k_n = μ_k + σ·N(0, I); a mean is the same in every channel
    File         ///< one head of a real model: FigureOptions::tensors
};

/// All of them, in the order in which they are shown.
std::span<const Content> contents();
/// The word of `--set content=`.
std::string_view word(Content content);
std::optional<Content> findContent(std::string_view word);

/// A query and a key before rotation, [head_dim] each.
struct ContentRows
{
    std::vector<double> query, key;
};

/// The queries and keys of all positions before rotation, as the options ask for and one configuration needs
/// them. A plain value; making rows is pure and thread-safe. The same seed gives the same rows everywhere.
class ContentSource
{
public:
    /// Errors: BadInput where the content is a file's and there are no tensors, or rows of another head_dim.
    static Result<ContentSource> make(const FigureOptions& options, const RopeConfig& config);

    int headDim() const { return m_headDim; }
    /// What there is to say about a file's rows with this configuration: values that are not finite, channels
    /// that were put into its layout, another base.
    const std::vector<Issue>& notes() const { return m_notes; }
    /// One q and one k for all positions: the score depends on the distance only (Toeplitz).
    bool isFixed() const;
    /// Whether `other` makes the same rows; what they say about them may differ.
    bool makesSameRows(const ContentSource& other) const;
    /// Positions that there are rows for: the file's tokens, else every position that a figure can show.
    std::int64_t rowsAvailable() const;
    /// Fills `rows`, [count × head_dim], with the rows of positions first, first+1, …; asserts that
    /// first + count ≤ rowsAvailable(). A file's rows may hold what is not finite.
    void queries(std::int64_t first, std::span<double> rows) const;
    void keys(std::int64_t first, std::span<double> rows) const;

private:
    /// Rows after one another, each filled by `fill(position, row)`.
    template<class Fill>
    void fillRows(std::int64_t first, std::span<double> rows, Fill fill) const;
    void copyRow(const std::vector<double>& rows, std::int64_t position, std::span<double> row) const;
    void fillQuery(std::int64_t position, std::span<double> row) const;
    void fillKey(std::int64_t position, std::span<double> row) const;

    Content m_content = Content::Ones;
    int m_headDim = 0;
    std::uint64_t m_seed = 1;
    double m_rho = 1.0;
    bool m_isPerPosition = false;                 ///< of Correlation
    std::int64_t m_needle = 0;                    ///< position of the needle, tokens
    std::vector<double> m_fixedQuery, m_fixedKey; ///< where they are the same at all positions; the needle
    double m_meanQuery = 0.0, m_meanKey = 0.0, m_sigma = 0.0; ///< of Clusters
    std::shared_ptr<const HeadTensors> m_tensors;
    std::vector<int> m_channels; ///< channel of the file for each of the head, where their layouts differ
    std::vector<Issue> m_notes;
};

/// The query at position `m` and the key at position `n`.
ContentRows makeContent(const ContentSource& source, std::int64_t m, std::int64_t n);

} // namespace ropewalk
