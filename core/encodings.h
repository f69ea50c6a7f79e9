// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ropewalk {

/// The position encodings that are set beside RoPE.
enum class Encoding { Rope, Sinusoidal, Learned, TransformerXl, T5, Deberta, Alibi, None };

/// One row of the table of encodings.
struct EncodingInfo
{
    Encoding encoding;
    std::string_view word;  ///< of settings
    std::string_view title; ///< for people
    std::string_view source;
};
std::span<const EncodingInfo> encodings();

/// The vector that a sinusoidal encoding adds at `position`: sin pω_i at 2i, cos pω_i at 2i+1, ω_i =
/// base^(-2i/width). `width` even. Vaswani et al., arXiv:1706.03762, section 3.5.
std::vector<double> sinusoidalVector(int width, double base, double position);

/// p_m·p_n = Σ_{i<width/2} cos(rω_i) at r = m - n: even in r, width/2 at 0.
double sinusoidalProduct(int width, double base, double distance);

/// The same at many distances: the frequencies are computed once.
class SinusoidalProduct
{
public:
    SinusoidalProduct(int width, double base);
    double at(double distance) const;

private:
    std::vector<double> m_omega; ///< rad/token
};

/// A learned table E[rows × width] as it is before training: N(0, sigma²), drawn with stream 3.
std::vector<double> randomLearnedTable(std::uint64_t seed, int rows, int width, double sigma);

/// The mean over m = r..rows-1 of E_m·E_{m-r}, 0 ≤ r < rows.
double meanProductOfRows(std::span<const double> table, int rows, int width, int r);

/// Transformer-XL's term of the position alone, v·W_R R_r = Σ_i a_i sin rω_i + c_i cos rω_i, before 1/√d_h,
/// with a, c ~ N(0, 2/width) drawn with stream 4, or given. Not even in r = query - key. Dai et al.,
/// arXiv:1901.02860, section 3.3.
class TransformerXlTerm
{
public:
    TransformerXlTerm(std::uint64_t seed, int width, double base);
    /// The a, then the c, of a model: W_Rᵀv, of even length.
    TransformerXlTerm(std::span<const double> projected, double base);
    double at(double distance) const;

private:
    std::vector<double> m_sine, m_cosine, m_omega;
};

/// T5's bucket of a relative position, key - query (Raffel et al., arXiv:1910.10683, section 2.1;
/// huggingface/transformers, t5, _relative_position_bucket): every one for itself up to half of the buckets
/// of a side, logarithmic up to `maxDistance`, one bucket beyond.
int t5Bucket(std::int64_t relativePosition, bool isBidirectional, int buckets = 32, int maxDistance = 128);

/// DeBERTa-v2's bucket of r = query - key: r itself up to ±bucketSize/2, logarithmic beyond (deberta_v2,
/// make_log_bucket_position).
int debertaLogBucket(std::int64_t distance, int bucketSize = 256, int maxPosition = 512);

/// The row δ of DeBERTa's tables of relative positions: clamp(r + 512, 0, 1023) of version 1, clamp(bucket(r)
/// + 256, 0, 511) of versions 2 and 3. He et al., arXiv:2006.03654, equation 3.
int debertaIndex(std::int64_t distance, bool hasLogBuckets);

/// DeBERTa's two terms of position for one q, k ~ N(0, I_width) and tables K^r, Q^r ~ N(0, 1/width):
/// (q·K^r_δ(r) + k·Q^r_δ(-r))/√(3·width). Streams 0, 1, 5 and 6. He et al., arXiv:2006.03654, equation 4.
class DebertaTerm
{
public:
    DebertaTerm(std::uint64_t seed, int width, bool hasLogBuckets);
    double at(std::int64_t distance) const;

private:
    std::uint64_t m_seed;
    bool m_hasLogBuckets;
    std::vector<double> m_query, m_key;
};

/// ALiBi's slopes of any number of heads: 2^(-8h/H) where H is a power of two; else those of the power below,
/// and every other one of twice that power. Press et al., arXiv:2108.12409; bloom, build_alibi_tensor.
std::vector<double> alibiSlopes(int heads);

/// Softmax attention without a mask: weights [tokens × tokens], the softmax of `logits` (already scaled) by
/// rows, and outputs [tokens × width], the weighted sums of the rows of `values`.
struct Attention
{
    std::vector<double> weights, outputs;
};
Attention attention(std::span<const double> logits, std::span<const double> values, int tokens, int width);

/// How much a matrix [size × size] changes along its diagonals: the largest difference of two cells with the
/// same m - n. 0: it depends on m - n alone.
double spreadAlongDiagonals(std::span<const double> matrix, int size);

} // namespace ropewalk
