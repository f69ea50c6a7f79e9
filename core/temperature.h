// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "rope_config.h"

#include <cstdint>
#include <span>

namespace ropewalk {

/// One row of the table of temperature rules: τ, which multiplies the logit of a query that sees N tokens.
struct TemperatureInfo
{
    TemperatureRule rule;
    std::string_view word;    ///< `--set temperature=`
    std::string_view title;   ///< for people
    std::string_view formula; ///< one line
    std::string_view source;
    std::string_view layers;                     ///< which layers the rule's own model puts it on
    std::optional<std::int64_t> referenceLength; ///< T where not stated; empty: the training length
    bool needsLength = false;          ///< a length T, stated, of the rule's own, or the training length
    bool isConstant = false;           ///< the same at every N
    bool hasFloorChoice = false;       ///< whether Temperature::hasFloor changes anything
    std::optional<double> coefficient; ///< where Temperature states none; empty: the rule has none
    /// τ at N visible tokens; `length` is T.
    double (*tau)(const RopeConfig& config, double visible, double length, double coefficient) = nullptr;
};

/// All rules, in the order in which they are shown.
std::span<const TemperatureInfo> temperatureRules();
const TemperatureInfo& info(TemperatureRule rule);
/// The rule with this word, or null.
const TemperatureInfo* findTemperatureRule(std::string_view word);

/// The length T that the rule measures against, in tokens: as stated, else the rule's own, else the training
/// length. Empty where the rule needs none or there is none.
std::optional<std::int64_t> temperatureLength(const RopeConfig& config);

/// The extension factor s that YaRN's and LongRoPE's constants are made of: as stated, else the ratio of the
/// two lengths. Empty where the configuration states neither.
std::optional<double> extensionFactor(const RopeConfig& config);

/// τ at N = `visible` tokens, N ≥ 1; empty where T or the extension factor is missing. Thread-safe, pure.
std::optional<double> temperatureAt(const RopeConfig& config, double visible);

/// τ of the query at 0-based `position`: N = position+1, or the inference length where one value holds for
/// the call.
std::optional<double> temperatureOfQuery(const RopeConfig& config, std::int64_t position);

/// Attention on one needle of `logit` among n-1 keys of logit 0, all multiplied by `tau`: the needle's mass,
/// and the entropy of the row in nats.
struct NeedleAttention
{
    double mass = 0.0, entropyNats = 0.0;
};
NeedleAttention needleAttention(double logit, double visible, double tau);

/// The entropy, in nats, of the softmax over `visible` independent logits N(0, spread²): ln N - spread²/2.
/// Good to 0.1 while spread² ≤ ½ ln N and N ≥ 1000, worthless near the freezing point 2 ln N.
double gaussianEntropyEstimate(double visible, double spread);

/// What a factor `tau` that reaches the rotated channels alone does to a logit that is spread evenly over the
/// channels of a head: 1 - f + f·tau; and to the spread of a logit whose channels are independent:
/// √(1 - f + f·tau²). `rotatedShare` is f.
double factorOnEvenLogit(double tau, double rotatedShare);
double factorOnEvenSpread(double tau, double rotatedShare);

/// The printings (1 + 0.1 ln min(T, n))² and (1 + 0.1 ln(min(T, n)/T))² of RoPE-ID's temperature that are in
/// circulation and wrong: the first is 3.36 at T = 4096 and constant beyond, the second is below 1 within T
/// and 1 beyond, the reverse of the purpose.
double misprintedWithoutRatio(double visible, double trainingLength);
double misprintedWithMinimum(double visible, double trainingLength);

/// Whether the frequency rule carries τ already, as A² on the turning channels: the temperature of YaRN under
/// YaRN, of LongRoPE under LongRoPE. Whoever forms a logit must not multiply it in again.
bool isInAttentionFactor(const RopeConfig& config);

} // namespace ropewalk
