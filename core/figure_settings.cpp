// SPDX-License-Identifier: GPL-3.0-or-later
#include "figure_settings.h"

#include "config_keys.h"
#include "json_writer.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>

namespace ropewalk {
namespace {

/// The figures that show q and k of some content.
constexpr std::string_view kContentFigures = "plane pairs scores channels precision layouts clusters decay";

/// In the order in which the window shows them.
const std::vector<FigureSettingInfo>& table()
{
    constexpr double kLastPosition = 100'000'000;
    static const std::vector<FigureSettingInfo> rows{
        {"plane_view",
         "Show",
         "The arrows of q and k; or two turns composed, R(mθ)R(nθ) = R((m+n)θ); or one turned back, "
         "R(mθ)ᵗR(nθ) = "
         "R((n−m)θ)",
         "plane",
         SettingKind::Choice,
         "pairs",
         {{"pairs", "q and k"}, {"compose", "two turns"}, {"transpose", "turn back"}}},
        {"spectrum_value",
         "Show",
         "What the spectrum shows of each pair: its wavelength, its frequency, or its turns in the training "
         "length",
         "spectrum",
         SettingKind::Choice,
         "wavelength",
         {{"wavelength", "wavelength"}, {"theta", "frequency θ"}, {"turns", "turns in training"}}},
        {"angle_value",
         "Show",
         "What the map shows of the angle pθ of each pair at each position",
         "angles",
         SettingKind::Choice,
         "cos",
         {{"cos", "cosine"}, {"sin", "sine"}, {"angle", "angle mod 2π"}}},
        {"angle_positions",
         "Positions",
         "Positions 0 to this, less one",
         "angles",
         SettingKind::Whole,
         "256",
         {},
         1.0,
         131072.0,
         true},
        {"map_length",
         "Length",
         "Queries and keys of the map, in tokens",
         "scores",
         SettingKind::Whole,
         "2048",
         {},
         1.0,
         131072.0,
         true},
        {"stage",
         "Stage",
         "Scores, or their softmax over the keys that each query sees",
         "scores",
         SettingKind::Choice,
         "raw",
         {{"raw", "Score"}, {"softmax", "Softmax"}}},
        {"encoding",
         "Encoding",
         "With RoPE, with all angles 0, or the one minus the other",
         "scores",
         SettingKind::Choice,
         "rope",
         {{"rope", "RoPE"}, {"none", "None"}, {"difference", "Difference"}}},
        {"mask",
         "Mask",
         "Whether a query sees the keys after it",
         "scores",
         SettingKind::Choice,
         "causal",
         {{"causal", "Causal"}, {"none", "None"}}},
        {"window",
         "Window",
         "A query sees the keys less than so many tokens before it; 0: all of them",
         "scores",
         SettingKind::Whole,
         "0",
         {},
         0.0,
         131072.0},
        {"pooling",
         "Pooling",
         "What a block of cells shows: their mean, least or greatest",
         "scores",
         SettingKind::Choice,
         "mean",
         {{"mean", "Mean"}, {"min", "Min"}, {"max", "Max"}}},
        {"score_unit",
         "Unit",
         "Score over head_dim, the score itself, or the logit with temperature",
         "scores",
         SettingKind::Choice,
         "head_dim",
         {{"head_dim", "Score / head_dim"}, {"raw", "Score"}, {"logit", "Logit"}}},
        {"compare",
         "Compare",
         "Each configuration by itself, or the first minus the second",
         "scores",
         SettingKind::Choice,
         "none",
         {{"none", "Each"}, {"A_minus_B", "A − B"}}},
        {"map_pairs",
         "Pairs",
         "The score of all pairs, or what the picked pair adds to it",
         "scores",
         SettingKind::Choice,
         "all",
         {{"all", "All"}, {"picked", "Picked pair"}}},
        {"log_colours", "Logarithmic colours", "Colours over the logarithm of the attention weight", "scores",
         SettingKind::Switch, "true"},
        {"map_pixels",
         "Blocks a side",
         "The map is pooled to at most so many blocks a side",
         "scores",
         SettingKind::Whole,
         "512",
         {},
         16.0,
         1024.0,
         true},
        {"score_precision",
         "Precision",
         "What the cells of a map are computed in where each is computed: auto is double for few cells, "
         "single for many",
         "scores",
         SettingKind::Choice,
         "auto",
         {{"auto", "Auto"},
          {"double", "Double"},
          {"single", "Single"},
          {"tf32", "TF32"},
          {"bf16", "bfloat16"}}},
        {"first_row",
         "First query",
         "First query in view",
         "scores",
         SettingKind::Whole,
         "0",
         {},
         0.0,
         131071.0},
        {"last_row",
         "Last query",
         "Last query in view; 0: the end",
         "scores",
         SettingKind::Whole,
         "0",
         {},
         0.0,
         131071.0},
        {"first_column",
         "First key",
         "First key in view",
         "scores",
         SettingKind::Whole,
         "0",
         {},
         0.0,
         131071.0},
        {"last_column",
         "Last key",
         "Last key in view; 0: the end",
         "scores",
         SettingKind::Whole,
         "0",
         {},
         0.0,
         131071.0},
        {"decay_unit",
         "Unit",
         "What the y axis counts; the data is always the score over head_dim",
         "decay",
         SettingKind::Choice,
         "score",
         {{"score", "score / head_dim"}, {"logit", "logit"}, {"mean_over_sd", "mean / s.d."}}},
        {"position_axes",
         "Axes",
         "Positions of the pairs: as the model has them; or a row and a column of an image, as vision towers "
         "with a head of this size have them",
         "channels",
         SettingKind::Choice,
         "model",
         {{"model", "model"},
          {"vision_qwen2", "Qwen2-VL"},
          {"vision_pixtral", "Pixtral"},
          {"vision_llama4", "Llama-4"}}},
        {"decay_envelope", "Envelope", "The least up to each distance and the greatest from there on",
         "decay", SettingKind::Switch, "false"},
        {"decay_compare",
         "Compare",
         "Curves over one another, or each less that of the first configuration",
         "decay",
         SettingKind::Choice,
         "overlay",
         {{"overlay", "overlay"}, {"difference", "difference"}}},
        {"needle_logit",
         "Needle: logit",
         "Logit of the needle before rotation and temperature",
         "plane pairs scores channels precision layouts clusters decay temperature",
         SettingKind::Number,
         "9",
         {},
         0.0,
         30.0},
        {"needle_position",
         "Needle: position",
         "Position of the needle among the keys, content needle",
         kContentFigures,
         SettingKind::Whole,
         "256",
         {},
         0.0,
         kLastPosition,
         true},
        {"correlation_per_position", "Draws for each position",
         "Content correlation: a pair of draws for each position, so that the map is no longer Toeplitz",
         kContentFigures, SettingKind::Switch, "false"},
        {"cluster_length",
         "Length",
         "Positions 0 to N−1; of a file at most its tokens",
         "clusters",
         SettingKind::Whole,
         "4096",
         {},
         2.0,
         131072.0,
         true},
        {"cluster_points",
         "Points",
         "At most so many of each cloud, at even steps of the positions",
         "clusters",
         SettingKind::Whole,
         "256",
         {},
         16.0,
         1000.0,
         true},
        {"cluster_mean_q",
         "Clusters: mean of q",
         "Mean of every channel of the queries, content clusters",
         kContentFigures,
         SettingKind::Number,
         "1",
         {},
         -10.0,
         10.0},
        {"cluster_mean_k",
         "Clusters: mean of k",
         "Mean of every channel of the keys, content clusters",
         kContentFigures,
         SettingKind::Number,
         "-1",
         {},
         -10.0,
         10.0},
        {"cluster_sigma",
         "Clusters: spread",
         "Standard deviation of every channel, content clusters",
         kContentFigures,
         SettingKind::Number,
         "1",
         {},
         0.0,
         10.0},
        {"precision_quantity",
         "Error of",
         "Whose error the large plot shows: cos and sin, the angle, or the score at the picked distance",
         "precision",
         SettingKind::Choice,
         "cos_sin",
         {{"cos_sin", "cos and sin"}, {"angle", "angle"}, {"score", "score"}}},
        {"precision_statistic",
         "Over the pairs",
         "The largest error of the turning pairs, or their mean",
         "precision",
         SettingKind::Choice,
         "max",
         {{"max", "largest"}, {"mean", "mean"}}},
        {"precision_limit",
         "Limit",
         "Error of cos or sin whose first position is marked",
         "precision",
         SettingKind::Number,
         "0.01",
         {},
         1e-6,
         1.0,
         true},
        {"precision_positions",
         "Positions to",
         "Right end of the error curves, tokens",
         "precision",
         SettingKind::Whole,
         "1000000",
         {},
         16.0,
         10'000'000.0,
         true},
        {"staircase_length",
         "Staircase to",
         "Length whose distinct positions are counted, tokens",
         "precision",
         SettingKind::Whole,
         "2048",
         {},
         64.0,
         131072.0,
         true},
        {"printing",
         "Printings",
         "The three printings of RoPE-ID's temperature over one another",
         "temperature",
         SettingKind::Choice,
         "none",
         {{"none", "The right one"}, {"all", "All three"}}},
        {"logit_sigma",
         "Spread of the logits",
         "Standard deviation of the Gaussian logits",
         "temperature",
         SettingKind::Number,
         "1.5",
         {},
         0.0,
         8.0},
        {"entropy_measure",
         "Entropy as",
         "How the entropy of a row of attention is measured",
         "temperature",
         SettingKind::Choice,
         "effective",
         {{"effective", "Effective tokens"}, {"nats", "Nats"}, {"share", "Share of ln N"}}},
        {"yarn_reach",
         "YaRN's factor on",
         "Where the factor of YaRN and LongRoPE sits",
         "temperature",
         SettingKind::Choice,
         "rotated",
         {{"rotated", "Rotated channels"}, {"all", "All of the score"}}},
        {"stages", "Fine-tuning in stages", "What is still unseen after training at growing lengths", "range",
         SettingKind::Switch, "true"},
        {"stage_1",
         "First stage",
         "Length of the first stage of fine-tuning, tokens",
         "range",
         SettingKind::Whole,
         "32768",
         {},
         2.0,
         10'000'000.0,
         true},
        {"stage_2",
         "Second stage",
         "Length of the second stage of fine-tuning, tokens",
         "range",
         SettingKind::Whole,
         "131072",
         {},
         2.0,
         10'000'000.0,
         true},
        {"abf_ratio",
         "ABF: base times",
         "What the base is multiplied with where only the base is enlarged",
         "range",
         SettingKind::Number,
         "50",
         {},
         1.0,
         10'000.0,
         true},
        {"encodings_view",
         "View",
         "Curves over distance, maps of query and key, the four terms, or the order of words",
         "encodings",
         SettingKind::Choice,
         "curves",
         {{"curves", "Curves"}, {"maps", "Maps"}, {"terms", "Four terms"}, {"order", "Order of words"}}},
        {"encodings_shown",
         "Encoding",
         "The encoding that is drawn large",
         "encodings",
         SettingKind::Choice,
         "rope",
         {{"rope", "RoPE"},
          {"sinusoidal", "Sinusoidal"},
          {"learned", "Learned"},
          {"transformer_xl", "Transformer-XL"},
          {"t5", "T5"},
          {"deberta", "DeBERTa"},
          {"deberta_index", "DeBERTa: buckets"},
          {"alibi", "ALiBi"},
          {"none", "No encoding"}}},
        {"encodings_normalised", "Normalised", "Each over its largest magnitude, and the curves in one plot",
         "encodings", SettingKind::Switch, "false"},
        {"encodings_span",
         "Distances",
         "Distances that are drawn on both sides, tokens",
         "encodings",
         SettingKind::Whole,
         "128",
         {},
         8.0,
         2048.0,
         true},
        {"d_model",
         "Width of the model",
         "Channels of added encodings, d_model",
         "encodings",
         SettingKind::Whole,
         "768",
         {},
         2.0,
         8192.0,
         true},
        {"alibi_heads",
         "ALiBi: heads",
         "Number of heads that share out the slopes",
         "encodings",
         SettingKind::Whole,
         "8",
         {},
         1.0,
         256.0,
         true},
        {"learned_file", "Learned table",
         "A .npy, .npz or .safetensors file of learned embeddings, [positions, width]; none: drawn at random",
         "encodings", SettingKind::File, ""},
        {"transformer_xl_file", "Transformer-XL: v",
         "A file with v and r of Transformer-XL, or with their product of d_model numbers; none: drawn at "
         "random",
         "encodings", SettingKind::File, ""},
        {"transformer_xl_r_file", "Transformer-XL: r", "A file with r where the other one holds v alone",
         "encodings", SettingKind::File, ""},
        {"transformer_xl_head",
         "Transformer-XL: head",
         "The head whose v is taken of a file with several",
         "encodings",
         SettingKind::Whole,
         "0",
         {},
         0.0,
         255.0},
        {"mixing",
         "Mixing matrix",
         "The matrix M between the two sides of the four terms",
         "encodings",
         SettingKind::Choice,
         "identity",
         {{"identity", "M = I"}, {"random", "Random W"}}},
        {"results_table",
         "Table",
         "Which published numbers",
         "results",
         SettingKind::Choice,
         "ruler_1b",
         {{"ruler_1b", "RULER, 1B"},
          {"ruler_3b", "RULER, 3B"},
          {"longbench", "LongBench, 16k"},
          {"code", "LongBench, code"}}},
        {"sweep_over",
         "Over",
         "The parameter along the vertical axis",
         "sweep",
         SettingKind::Choice,
         "rule",
         {{"rule", "What the rule is made of"},
          {"base", "Base"},
          {"factor", "Factor"},
          {"share", "Rotated share"},
          {"training_length", "Training length"}}},
        {"sweep_value",
         "Value",
         "The cosine sum C, or the factor of RoFormer's upper bound",
         "sweep",
         SettingKind::Choice,
         "score",
         {{"score", "Score C"}, {"bound", "Bound factor"}}},
        {"sweep_lower",
         "From",
         "Lower end of the base, factor or length; 0: chosen about the present value",
         "sweep",
         SettingKind::Number,
         "0",
         {},
         0.0,
         1e12,
         true},
        {"sweep_upper",
         "To",
         "Upper end of the base, factor or length; 0: chosen about the present value",
         "sweep",
         SettingKind::Number,
         "0",
         {},
         0.0,
         1e12,
         true},
    };
    return rows;
}

Error refuse(std::string_view key, std::string_view value, Message expected)
{
    Message text{"{key} is \"{value}\"; expected " + expected.text,
                 {{"key", std::string(key)}, {"value", printable(value)}}};
    for (auto& named : expected.values)
        text.values.push_back(std::move(named));
    return {ErrorCode::Usage, std::move(text), {}};
}

std::optional<double> readNumber(std::string_view text)
{
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

std::string joined(const std::vector<SettingWord>& words)
{
    std::string list;
    for (const SettingWord& word : words)
        list += (list.empty() ? "" : ", ") + std::string(word.word);
    return list;
}

} // namespace

bool FigureSettingInfo::isOf(std::string_view figure) const
{
    const std::string list = " " + std::string(figures) + " ";
    return list.find(" " + std::string(figure) + " ") != std::string::npos;
}

std::span<const FigureSettingInfo> figureSettings()
{
    return table();
}

const FigureSettingInfo* findFigureSetting(std::string_view key)
{
    const auto found =
        std::find_if(table().begin(), table().end(), [&](const auto& row) { return row.key == key; });
    return found == table().end() ? nullptr : &*found;
}

std::string_view FigureSettings::text(std::string_view key) const
{
    if (const auto stated = m_stated.find(key); stated != m_stated.end())
        return stated->second;
    const FigureSettingInfo* setting = findFigureSetting(key);
    assert(setting);
    return setting->preset;
}

double FigureSettings::number(std::string_view key) const
{
    return readNumber(text(key)).value_or(0.0);
}

Result<void> FigureSettings::set(std::string_view key, std::string_view value)
{
    const FigureSettingInfo* setting = findFigureSetting(key);
    assert(setting);
    std::string canonical(value);
    switch (setting->kind) {
    case SettingKind::Choice:
        if (std::none_of(setting->words.begin(), setting->words.end(),
                         [&](const SettingWord& word) { return word.word == value; }))
            return refuse(key, value, {"one of {words}", {{"words", joined(setting->words)}}});
        break;
    case SettingKind::Switch:
        if (value != "true" && value != "false")
            return refuse(key, value, "true or false");
        break;
    case SettingKind::File: {
        constexpr std::size_t kLongestPath = 2000;
        if (value.size() > kLongestPath)
            return refuse(key, value.substr(0, 60),
                          {"a path of at most {most} bytes", {{"most", std::to_string(kLongestPath)}}});
        break;
    }
    case SettingKind::Whole:
    case SettingKind::Number: {
        const auto number = readNumber(value);
        const bool isWhole = setting->kind == SettingKind::Whole;
        if (!number || *number < setting->lower || *number > setting->upper ||
            (isWhole && *number != std::floor(*number)))
            return refuse(
                key, value,
                {isWhole ? "a whole number from {lower} to {upper}" : "a number from {lower} to {upper}",
                 {{"lower", groupedNumber(setting->lower)}, {"upper", groupedNumber(setting->upper)}}});
        canonical.clear();
        appendDouble(canonical, *number);
        break;
    }
    }
    if (canonical == setting->preset)
        m_stated.erase(std::string(key));
    else
        m_stated.insert_or_assign(std::string(key), std::move(canonical));
    return {};
}

FigureSettings FigureSettings::of(std::string_view figure) const
{
    FigureSettings own;
    for (const auto& [key, value] : m_stated)
        if (findFigureSetting(key)->isOf(figure))
            own.m_stated.emplace(key, value);
    return own;
}

} // namespace ropewalk
