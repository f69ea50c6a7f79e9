// SPDX-License-Identifier: GPL-3.0-or-later
#include "model_families.h"

#include <algorithm>
#include <utility>

namespace ropewalk {
namespace {

constexpr KeySpellings kGptNeoxKeys{.base = {"rotary_emb_base", "rope_theta"},
                                    .share = {"rotary_pct", "partial_rotary_factor"}};
constexpr KeySpellings kGptjKeys{.hiddenSize = {"n_embd", "hidden_size"},
                                 .heads = {"n_head", "num_attention_heads", "num_heads"},
                                 .headDim = {},
                                 .base = {},
                                 .share = {},
                                 .rotaryDim = {"rotary_dim"},
                                 .length = {"n_positions", "max_position_embeddings"}};
constexpr KeySpellings kFalconKeys{.heads = {"num_attention_heads", "n_head"}};
constexpr KeySpellings kRotaryDimKeys{.rotaryDim = {"rotary_dim"}};
constexpr KeySpellings kFixedBaseKeys{.base = {}, .length = {"max_position_embeddings", "model_max_length"}};
constexpr KeySpellings kChatGlmKeys{.heads = {"num_attention_heads"},
                                    .headDim = {"kv_channels"},
                                    .base = {},
                                    .share = {},
                                    .length = {"seq_length", "max_sequence_length"}};
// Qwen-1's rule measures against seq_length; the other length is what it is meant to reach.
constexpr KeySpellings kQwenKeys{.hiddenSize = {"hidden_size", "n_embd"},
                                 .heads = {"num_attention_heads", "n_head"},
                                 .headDim = {"kv_channels"},
                                 .base = {"rotary_emb_base", "rope_theta"},
                                 .share = {"rotary_pct"},
                                 .length = {"max_position_embeddings", "n_positions"},
                                 .trainingLength = {"seq_length"}};
constexpr KeySpellings kPhiMsftKeys{.hiddenSize = {"n_embd", "hidden_size"},
                                    .heads = {"n_head", "num_attention_heads"},
                                    .headDim = {},
                                    .share = {},
                                    .rotaryDim = {"rotary_dim"},
                                    .length = {"n_positions", "max_position_embeddings"}};
constexpr KeySpellings kNomicKeys{.hiddenSize = {"n_embd", "hidden_size"},
                                  .heads = {"n_head", "num_attention_heads"},
                                  .base = {"rotary_emb_base", "rope_theta"},
                                  .share = {"rotary_emb_fraction", "partial_rotary_factor"},
                                  .length = {"max_position_embeddings", "n_positions"}};
constexpr KeySpellings kChatGlm6bKeys{
    .headDim = {}, .base = {}, .share = {}, .length = {"max_sequence_length"}};
constexpr KeySpellings kDbrxKeys{.hiddenSize = {"d_model", "hidden_size"},
                                 .heads = {"n_heads", "num_attention_heads"},
                                 .headDim = {},
                                 .share = {},
                                 .length = {"max_seq_len", "max_position_embeddings"}};
constexpr KeySpellings kJetMoeKeys{.headDim = {"kv_channels"}};
constexpr KeySpellings kMoonshineKeys{
    .heads = {"encoder_num_attention_heads", "decoder_num_attention_heads", "num_attention_heads"}};
constexpr KeySpellings kJinaKeys{.base = {"rotary_emb_base", "rope_theta"}};
constexpr KeySpellings kLfmKeys{.heads = {"num_attention_heads", "num_heads"},
                                .base = {"rope_theta", "theta"}};
constexpr KeySpellings kStableLmEpochKeys{.share = {"rope_pct", "partial_rotary_factor"}};
constexpr KeySpellings kNemotronKeys{.share = {"partial_rotary_factor", "rope_percent"}};
constexpr KeySpellings kPhiSmallKeys{.base = {"rope_embedding_base", "rope_theta"}};
// The rotary part's width is stated, the rest of the head is plain.
constexpr KeySpellings kMlaKeys{
    .headDim = {"qk_head_dim", "head_dim"}, .share = {}, .rotaryDim = {"qk_rope_head_dim"}};
constexpr KeySpellings kParamsKeys{.hiddenSize = {"dim"}, .heads = {"n_heads"}};

constexpr Layout kHalf = Layout::Half;
constexpr Layout kInterleaved = Layout::Interleaved;

// Kinds of layers. Where a block names no kind of layer, `isScaled` says which of them it is for.

constexpr std::array kAttentionWords{LayerScheme::Word{"full_attention", 0},
                                     LayerScheme::Word{"sliding_attention", 1}};
constexpr std::array kGemma3Kinds{LayerKind{.layerType = "full_attention", .baseDefault = 1e6},
                                  LayerKind{.layerType = "sliding_attention",
                                            .base = {"rope_local_base_freq"},
                                            .baseDefault = 1e4,
                                            .isScaled = false}};
constexpr LayerScheme kGemma3Layers{kGemma3Kinds, "layer_types", kAttentionWords};
constexpr std::array kGemma4Kinds{
    LayerKind{.layerType = "full_attention",
              .baseDefault = 1e6,
              .headDim = "global_head_dim",
              .headDimDefault = 512,
              .proportionalShare = 0.25},
    LayerKind{.layerType = "sliding_attention", .baseDefault = 1e4, .isScaled = false}};
constexpr LayerScheme kGemma4Layers{kGemma4Kinds, "layer_types", kAttentionWords};
constexpr std::array kOlmo3Kinds{LayerKind{.layerType = "full_attention"},
                                 LayerKind{.layerType = "sliding_attention", .isScaled = false}};
constexpr LayerScheme kOlmo3Layers{kOlmo3Kinds, "layer_types", kAttentionWords};
constexpr std::array kModernBertKinds{
    LayerKind{.layerType = "full_attention", .base = {"global_rope_theta"}, .baseDefault = 1.6e5},
    LayerKind{.layerType = "sliding_attention", .base = {"local_rope_theta"}, .baseDefault = 1e4}};
constexpr LayerScheme kModernBertLayers{kModernBertKinds, "layer_types", kAttentionWords};

// DeepSeek-V4: the publisher's code has amplitude 1 on both kinds.
constexpr std::array kDeepseek4Kinds{
    LayerKind{.layerType = "main", .isScaled = false, .attentionFactor = 1.0},
    LayerKind{.layerType = "compress",
              .base = {"compress_rope_theta"},
              .baseDefault = 1.6e5,
              .attentionFactor = 1.0}};
constexpr std::array kDeepseek4Words{LayerScheme::Word{"0", 0}, LayerScheme::Word{"", 1}};
constexpr LayerScheme kDeepseek4Layers{kDeepseek4Kinds, "compress_ratios", kDeepseek4Words};

constexpr std::array kMimo2Kinds{LayerKind{.layerType = "full_attention"},
                                 LayerKind{.layerType = "sliding_window_attention",
                                           .base = {"swa_rope_theta"},
                                           .headDim = "swa_head_dim",
                                           .isScaled = false}};
constexpr std::array kMimo2Words{LayerScheme::Word{"0", 0}, LayerScheme::Word{"1", 1}};
constexpr LayerScheme kMimo2Layers{kMimo2Kinds, "hybrid_layer_pattern", kMimo2Words};

constexpr std::array kSlidingOnlyKinds{LayerKind{.layerType = "sliding_attention"},
                                       LayerKind{.layerType = "no_rope", .rotates = false}};
constexpr std::array kSlidingOnlyWords{LayerScheme::Word{"sliding_attention", 0},
                                       LayerScheme::Word{"full_attention", 1}};
constexpr LayerScheme kSlidingOnlyLayers{kSlidingOnlyKinds, "layer_types", kSlidingOnlyWords,
                                         "sliding_window"};

// In no_rope_layers 1 says that a layer rotates.
constexpr std::array kRotatesWords{LayerScheme::Word{"1", 0}, LayerScheme::Word{"0", 1}};
constexpr std::array kLlama4Kinds{LayerKind{.layerType = "chunked_attention"},
                                  LayerKind{.layerType = "no_rope", .rotates = false}};
constexpr LayerScheme kLlama4Layers{kLlama4Kinds, "no_rope_layers", kRotatesWords};
// ChatGLM-6B: block 1 of the head turns by a token's first position id, block 2 by its second.
constexpr std::array kChatGlm6bKinds{
    LayerKind{.layerType = "",
              .tokens = "context tokens",
              .channels = ChannelScheme::First,
              .remark =
                  "context token j has the ids (j, 0): block 1, the first half of the head, turns by j, "
                  "block 2 stays"},
    LayerKind{.layerType = "",
              .tokens = "generated tokens",
              .channels = ChannelScheme::Last,
              .remark =
                  "generated token g = 0, 1, … has the ids (index of the mask token, g + 1): among these "
                  "block 1 stays, block 2, the second half of the head, turns by g + 1; towards a context "
                  "token both blocks turn, each by its own distance"},
};
constexpr LayerScheme kChatGlm6bTokens{kChatGlm6bKinds, {}, {}};
constexpr std::array kSmolLm3Kinds{LayerKind{.layerType = "full_attention"},
                                   LayerKind{.layerType = "no_rope", .rotates = false}};
constexpr LayerScheme kSmolLm3Layers{kSmolLm3Kinds, "no_rope_layers", kRotatesWords};

/// A DeepSeek-like family: 128 plain channels and 64 that rotate, interleaved.
constexpr ModelFamily mlaFamily(std::string_view modelType, std::string_view className, double base = 1e4)
{
    ModelFamily family{modelType, className, kInterleaved, base};
    family.rotaryDim = 64;
    family.keys = &kMlaKeys;
    family.logitScale = LogitScale::MscaleAllDim;
    family.isMla = true;
    family.layoutKey = "rope_interleave";
    return family;
}

/// Gemma 3 and 3n: two bases, a block for the full layers only.
constexpr ModelFamily gemma3Family(std::string_view modelType, std::string_view className,
                                   LogitScale logitScale)
{
    ModelFamily family{modelType, className, kHalf, 1e6};
    family.headDim = 256;
    family.logitScale = logitScale;
    family.layers = &kGemma3Layers;
    family.length = 131072;
    return family;
}

constexpr ModelFamily withLayers(ModelFamily family, const LayerScheme& layers)
{
    family.layers = &layers;
    return family;
}

constexpr ModelFamily deepseek4Family(std::string_view modelType)
{
    ModelFamily family{modelType, "DeepseekV4Config", kInterleaved, 1e4};
    family.rotaryDim = 64;
    family.keys = &kMlaKeys;
    family.isMla = true;
    family.layers = &kDeepseek4Layers;
    return family;
}

// Adding a family is adding a row. Where a width is left out, no default of the class has been checked.
constexpr std::array kFamilies{
    ModelFamily{"llama", "LlamaConfig", kHalf, 1e4, 1.0, 4096, 32},
    ModelFamily{"llava", "LlamaConfig", kHalf, 1e4, 1.0, 4096, 32},
    ModelFamily{"llava_llama", "LlamaConfig", kHalf, 1e4, 1.0, 4096, 32},
    ModelFamily{"llava_mistral", "MistralConfig", kHalf, 1e4, 1.0, 4096, 32},
    ModelFamily{"mistral", "MistralConfig", kHalf, 1e4, 1.0, 4096, 32},
    ModelFamily{"mixtral", "MixtralConfig", kHalf, 1e6},
    ModelFamily{.modelType = "ministral3", .className = "Ministral3Config", .needsScaling = true},
    ModelFamily{"ministral", "MinistralConfig", kHalf, 1e4},
    ModelFamily{"qwen2", "Qwen2Config", kHalf, 1e4, 1.0, 4096, 32},
    ModelFamily{"qwen2_moe", "Qwen2MoeConfig", kHalf, 1e4},
    ModelFamily{"qwen2_vl", "Qwen2VLConfig", kHalf, 1e6},
    ModelFamily{"qwen2_vl_text", "Qwen2VLTextConfig", kHalf, 1e6},
    ModelFamily{"qwen2_5_vl", "Qwen2_5_VLConfig", kHalf, 1e6},
    ModelFamily{"qwen2_5_vl_text", "Qwen2_5_VLTextConfig", kHalf, 1e6},
    ModelFamily{"qwen2_5_omni_text", "Qwen2_5OmniTextConfig", kHalf, 1e6, 1.0, 3584, 28},
    ModelFamily{"qwen3", "Qwen3Config", kHalf, 1e4, 1.0, 4096, 32, 128},
    ModelFamily{"qwen3_moe", "Qwen3MoeConfig", kHalf, 1e4},
    ModelFamily{"qwen3_vl_text", "Qwen3VLTextConfig", kHalf, 5e5, 1.0, 4096, 32, 128},
    ModelFamily{"qwen3_vl_moe_text", "Qwen3VLMoeTextConfig", kHalf, 5e5},
    ModelFamily{"qwen3_asr_text", "Qwen3VLTextConfig", kHalf, 5e5, 1.0, 4096, 32, 128},
    ModelFamily{"qwen3_omni_moe_text", "Qwen3OmniMoeTextConfig", kHalf, 1e6},
    ModelFamily{"qwen3_next", "Qwen3NextConfig", kHalf, 1e4, 0.25},
    ModelFamily{"qwen3_5_text", "Qwen3_5TextConfig", kHalf, 1e4, 0.25},
    ModelFamily{"qwen3_5_moe_text", "Qwen3_5MoeTextConfig", kHalf, 1e4, 0.25},
    ModelFamily{.modelType = "qwen",
                .className = "modeling_qwen.py",
                .base = 1e4,
                .keys = &kQwenKeys,
                .readsScaling = false},
    withLayers(ModelFamily{"afmoe", "AfmoeConfig", kHalf, 1e4}, kSlidingOnlyLayers),
    ModelFamily{"apertus", "ApertusConfig", kHalf, 1.2e7},
    ModelFamily{"aquila", "modeling_aquila.py", kHalf, 1e4, 1.0, {}, {}, {}, {}, &kFixedBaseKeys},
    ModelFamily{"arcee", "ArceeConfig", kHalf, 1e4},
    ModelFamily{"baichuan", "modeling_baichuan.py", kHalf, 1e4, 1.0, {}, {}, {}, {}, &kFixedBaseKeys},
    ModelFamily{"bailing_moe", "modeling_bailing_moe.py", kHalf},
    ModelFamily{"bailing_moe_v2", "modeling_bailing_moe_v2.py", kHalf},
    ModelFamily{"bamba", "BambaConfig", kHalf, 1e4, 0.5},
    ModelFamily{"bitnet", "BitNetConfig", kHalf, 5e5},
    ModelFamily{.modelType = "chatglm",
                .className = "modeling_chatglm.py",
                .layout = kInterleaved,
                .base = 1e4,
                .share = 0.5,
                .keys = &kChatGlmKeys,
                .readsScaling = false,
                .baseFactor = "rope_ratio"},
    ModelFamily{.modelType = "chatglm_6b",
                .className = "modeling_chatglm.py of ChatGLM-6B",
                .base = 1e4,
                .share = 0.5,
                .keys = &kChatGlm6bKeys,
                .readsScaling = false,
                .layers = &kChatGlm6bTokens,
                .structure = "position_encoding_2d"},
    ModelFamily{"cohere", "CohereConfig", kInterleaved, 5e5, 1.0, 8192, 64},
    withLayers(ModelFamily{"cohere2", "Cohere2Config", kInterleaved, 1e4}, kSlidingOnlyLayers),
    ModelFamily{.modelType = "codegen",
                .className = "CodeGenConfig",
                .layout = kInterleaved,
                .base = 1e4,
                .hiddenSize = 4096,
                .heads = 16,
                .rotaryDim = 64,
                .keys = &kGptjKeys,
                .readsScaling = false},
    ModelFamily{"csm", "CsmConfig", kHalf, 5e5},
    ModelFamily{"cwm", "CwmConfig", kHalf, 1e6},
    ModelFamily{.modelType = "dbrx",
                .className = "DbrxConfig",
                .base = 1e4,
                .keys = &kDbrxKeys,
                .baseBlock = "attn_config"},
    ModelFamily{"deepseek", "modeling_deepseek.py", kHalf, 1e4},
    mlaFamily("deepseek_v2", "DeepseekV2Config"),
    mlaFamily("deepseek_v3", "DeepseekV3Config"),
    mlaFamily("deepseek_v32", "DeepseekV3Config"),
    mlaFamily("kimi_k2", "DeepseekV3Config"),
    mlaFamily("kimi_linear", "KimiLinearConfig"),
    mlaFamily("glm_moe_dsa", "GlmMoeDsaConfig", 1e4),
    mlaFamily("longcat_flash", "LongcatFlashConfig", 1e7),
    deepseek4Family("deepseek_v4"),
    deepseek4Family("deepseek_ref"),
    ModelFamily{"dots1", "Dots1Config", kHalf, 1e4},
    ModelFamily{"emu3", "Emu3TextConfig", kHalf, 1e6},
    ModelFamily{"emu3_text_model", "Emu3TextConfig", kHalf, 1e6},
    ModelFamily{"ernie4_5", "Ernie4_5Config", kInterleaved, 5e5},
    ModelFamily{"ernie4_5_moe", "Ernie4_5_MoeConfig", kInterleaved, 5e5},
    ModelFamily{.modelType = "esm", .className = "EsmConfig", .base = 1e4, .positions = "absolute"},
    ModelFamily{"exaone", "modeling_exaone.py", kHalf, 1e4},
    withLayers(ModelFamily{"exaone4", "Exaone4Config", kHalf, 1e4}, kSlidingOnlyLayers),
    ModelFamily{.modelType = "falcon",
                .className = "FalconConfig",
                .base = 1e4,
                .hiddenSize = 4544,
                .heads = 71,
                .keys = &kFalconKeys},
    ModelFamily{.modelType = "RefinedWeb", .className = "FalconConfig", .base = 1e4, .keys = &kFalconKeys},
    ModelFamily{
        .modelType = "RefinedWebModel", .className = "FalconConfig", .base = 1e4, .keys = &kFalconKeys},
    ModelFamily{"falcon_h1", "FalconH1Config", kHalf, 1e5, 1.0, 4096, 32},
    ModelFamily{"fuyu", "FuyuConfig", kHalf, 2.5e4, 0.5},
    ModelFamily{.modelType = "gemma", .className = "GemmaConfig", .base = 1e4, .headDim = 256},
    ModelFamily{.modelType = "gemma2",
                .className = "Gemma2Config",
                .base = 1e4,
                .headDim = 256,
                .logitScale = LogitScale::QueryPreAttnScalar},
    ModelFamily{.modelType = "t5_gemma_module",
                .className = "T5GemmaModuleConfig",
                .base = 1e4,
                .headDim = 256,
                .logitScale = LogitScale::QueryPreAttnScalar},
    gemma3Family("t5gemma2_text", "T5Gemma2TextConfig", LogitScale::QueryPreAttnScalar),
    gemma3Family("t5gemma2_decoder", "T5Gemma2DecoderConfig", LogitScale::QueryPreAttnScalar),
    gemma3Family("gemma3_text", "Gemma3TextConfig", LogitScale::QueryPreAttnScalar),
    gemma3Family("gemma3n_text", "Gemma3nTextConfig", LogitScale::One),
    ModelFamily{.modelType = "gemma4_text",
                .className = "Gemma4TextConfig",
                .base = 1e6,
                .headDim = 256,
                .logitScale = LogitScale::One,
                .layers = &kGemma4Layers},
    ModelFamily{"glm", "GlmConfig", kInterleaved, 1e4, 0.5},
    ModelFamily{"glm4", "Glm4Config", kInterleaved, 1e4, 0.5},
    ModelFamily{"glm4v_text", "Glm4vTextConfig", kInterleaved, 1e4, 0.5},
    ModelFamily{"glm4_moe", "Glm4MoeConfig", kHalf, 1e4, 0.5},
    ModelFamily{"glm4v_moe_text", "Glm4vMoeTextConfig", kHalf, 1e4, 0.5},
    ModelFamily{.modelType = "gpt_neox",
                .className = "GPTNeoXConfig",
                .base = 1e4,
                .share = 0.25,
                .hiddenSize = 6144,
                .heads = 64,
                .keys = &kGptNeoxKeys},
    ModelFamily{.modelType = "gpt_neox_japanese",
                .className = "GPTNeoXJapaneseConfig",
                .base = 1e4,
                .keys = &kGptNeoxKeys},
    ModelFamily{.modelType = "gpt_oss", .className = "GptOssConfig", .base = 1.5e5, .needsScaling = true},
    ModelFamily{.modelType = "gptj",
                .className = "GPTJConfig",
                .layout = kInterleaved,
                .base = 1e4,
                .hiddenSize = 4096,
                .heads = 16,
                .rotaryDim = 64,
                .keys = &kGptjKeys,
                .readsScaling = false},
    ModelFamily{.modelType = "granite",
                .className = "GraniteConfig",
                .base = 1e4,
                .hiddenSize = 4096,
                .heads = 32,
                .logitScale = LogitScale::AttentionMultiplier},
    ModelFamily{.modelType = "granitemoe",
                .className = "GraniteMoeConfig",
                .base = 1e4,
                .logitScale = LogitScale::AttentionMultiplier},
    ModelFamily{.modelType = "granitemoehybrid",
                .className = "GraniteMoeHybridConfig",
                .base = 1e4,
                .logitScale = LogitScale::AttentionMultiplier,
                .positions = "none"},
    ModelFamily{"helium", "HeliumConfig", kInterleaved, 1e5, 1.0, 2560, 20, 128},
    ModelFamily{"hunyuan_v1_dense", "HunYuanDenseV1Config", kHalf, 1e4},
    ModelFamily{"hunyuan_v1_moe", "HunYuanMoEV1Config", kHalf, 1e4},
    ModelFamily{"hy_v3", "HyV3Config", kHalf, 11158840.0},
    ModelFamily{.modelType = "internlm",
                .className = "modeling_internlm.py",
                .base = 1e4,
                .keys = &kFixedBaseKeys,
                .readsScaling = false,
                .ruleBlock = "rotary"},
    ModelFamily{"internlm2", "InternLM2Config", kHalf, 1e4, 1.0, 4096, 32},
    ModelFamily{"internlm3", "modeling_internlm3.py", kHalf, 1e4},
    ModelFamily{"jetmoe", "JetMoeConfig", kHalf, 1e4, 1.0, 2048, 32, {}, {}, &kJetMoeKeys},
    ModelFamily{.modelType = "jina_embeddings_v3",
                .className = "JinaEmbeddingsV3Config",
                .base = 2e4,
                .keys = &kJinaKeys,
                .positions = "rotary"},
    ModelFamily{"lfm2", "Lfm2Config", kHalf, 1e6, 1.0, {}, {}, {}, {}, &kLfmKeys},
    ModelFamily{"lfm2_moe", "Lfm2MoeConfig", kHalf, 1e6, 1.0, {}, {}, {}, {}, &kLfmKeys},
    withLayers(ModelFamily{"llama4_text", "Llama4TextConfig", kInterleaved, 5e5, 1.0, 5120, 40, 128},
               kLlama4Layers),
    ModelFamily{"mimo", "modeling_mimo.py, Qwen2's attention", kHalf, 1e4},
    withLayers(ModelFamily{"mimo_v2_flash", "MiMoV2FlashConfig", kHalf}, kMimo2Layers),
    ModelFamily{"minicpm", "MiniCPMConfig", kHalf, 1e4},
    ModelFamily{.modelType = "minicpm3",
                .className = "MiniCPM3Config",
                .base = 1e4,
                .rotaryDim = 32,
                .keys = &kMlaKeys,
                .isMla = true},
    ModelFamily{"minimax", "MiniMaxConfig", kHalf, 1e6, 1.0, {}, {}, {}, {}, &kRotaryDimKeys},
    ModelFamily{"minimax_m2", "MiniMaxM2Config", kHalf, 5e6, 1.0, {}, {}, {}, {}, &kRotaryDimKeys},
    ModelFamily{"minimax_m1", "modeling_minimax_m1.py", kHalf, {}, 1.0, {}, {}, {}, {}, &kRotaryDimKeys},
    ModelFamily{
        "minimax_text_01", "modeling_minimax_text_01.py", kHalf, {}, 1.0, {}, {}, {}, {}, &kRotaryDimKeys},
    ModelFamily{"mllama_text_model", "MllamaTextConfig", kHalf, 5e5},
    withLayers(ModelFamily{.modelType = "modernbert",
                           .className = "ModernBertConfig",
                           .hiddenSize = 768,
                           .heads = 12,
                           .positions = "any"},
               kModernBertLayers),
    ModelFamily{.modelType = "moonshine",
                .className = "MoonshineConfig",
                .layout = kInterleaved,
                .base = 1e4,
                .share = 0.9,
                .keys = &kMoonshineKeys},
    ModelFamily{"nemotron", "NemotronConfig", kHalf, 1e4, 0.5, {}, {}, {}, {}, &kNemotronKeys},
    ModelFamily{.modelType = "nomic_bert",
                .className = "NomicBertConfig",
                .base = 1e3,
                .keys = &kNomicKeys,
                .positions = "any",
                .layoutKey = "rotary_emb_interleaved"},
    ModelFamily{"olmo", "OlmoConfig", kHalf, 1e4, 1.0, 4096, 32},
    ModelFamily{"olmo2", "Olmo2Config", kHalf, 1e4},
    withLayers(ModelFamily{"olmo3", "Olmo3Config", kHalf, 1e4}, kOlmo3Layers),
    ModelFamily{"olmoe", "OlmoeConfig", kHalf, 1e4, 1.0, 2048, 16},
    ModelFamily{"orion", "modeling_orion.py", kHalf, 1e4},
    ModelFamily{"persimmon", "PersimmonConfig", kHalf, 1e4, 0.5},
    ModelFamily{"phi", "PhiConfig", kHalf, 1e4, 0.5},
    ModelFamily{"phi-msft", "modeling_phi.py", kHalf, 1e4, 1.0, {}, {}, {}, {}, &kPhiMsftKeys},
    ModelFamily{"phi3", "Phi3Config", kHalf, 1e4},
    ModelFamily{"phi4mm", "modeling_phi4mm.py", kHalf, 1e4},
    ModelFamily{"phi4_multimodal", "Phi4MultimodalConfig", kHalf, 1e4},
    ModelFamily{"phi3small", "modeling_phi3_small.py", kHalf, 1e6, 1.0, {}, {}, {}, {}, &kPhiSmallKeys},
    ModelFamily{"phimoe", "PhimoeConfig", kHalf, 1e6, 1.0, 4096, 32},
    ModelFamily{.modelType = "recurrent_gemma",
                .className = "RecurrentGemmaConfig",
                .base = 1e4,
                .share = 0.5,
                .hiddenSize = 2560,
                .heads = 10},
    ModelFamily{.modelType = "roformer",
                .className = "RoFormerConfig",
                .layout = kInterleaved,
                .base = 1e4,
                .hiddenSize = 768,
                .heads = 12,
                .positions = "any"},
    ModelFamily{"seed_oss", "SeedOssConfig", kHalf, 1e4, 1.0, 4096, 32, 128},
    withLayers(ModelFamily{"smollm3", "SmolLM3Config", kHalf, 2e6, 1.0, 2048, 16}, kSmolLm3Layers),
    ModelFamily{"stablelm", "StableLmConfig", kHalf, 1e4, 0.25},
    ModelFamily{
        "stablelm_epoch", "StableLMEpochConfig", kHalf, 1e4, 0.25, {}, {}, {}, {}, &kStableLmEpochKeys},
    ModelFamily{"starcoder2", "Starcoder2Config", kHalf, 1e4},
    ModelFamily{.modelType = "vaultgemma",
                .className = "VaultGemmaConfig",
                .base = 1e4,
                .headDim = 256,
                .logitScale = LogitScale::QueryPreAttnScalar},
    ModelFamily{"xverse", "modeling_xverse.py", kHalf, 1e4, 1.0, {}, {}, {}, {}, &kFixedBaseKeys},
};

constexpr ModelFamily kUnknownFamily{"", "LlamaConfig", kHalf, 1e4};
constexpr ModelFamily kUnknownMlaFamily = mlaFamily("", "DeepseekV3Config");

constexpr ModelFamily kMetaParams{.modelType = "",
                                  .className = "ModelArgs of Meta's llama/model.py",
                                  .layout = kInterleaved,
                                  .base = 1e4,
                                  .hiddenSize = 4096,
                                  .heads = 32,
                                  .keys = &kParamsKeys,
                                  .layoutKey = "use_hf_rope",
                                  .layoutIfTrue = kHalf};

constexpr std::array kArchitectures = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"BaichuanForCausalLM", "baichuan"},
    {"ChatGLMModel", "chatglm"},
    {"DeepseekV2ForCausalLM", "deepseek_v2"},
    {"DeepseekV3ForCausalLM", "deepseek_v3"},
    {"FalconForCausalLM", "falcon"},
    {"GPTJForCausalLM", "gptj"},
    {"GPTNeoXForCausalLM", "gpt_neox"},
    {"GemmaForCausalLM", "gemma"},
    {"Gemma2ForCausalLM", "gemma2"},
    {"Gemma3ForCausalLM", "gemma3_text"},
    {"InternLMForCausalLM", "internlm"},
    {"InternLM2ForCausalLM", "internlm2"},
    {"LlamaForCausalLM", "llama"},
    {"MiniCPMForCausalLM", "minicpm"},
    {"MiniCPM3ForCausalLM", "minicpm3"},
    {"MistralForCausalLM", "mistral"},
    {"MixtralForCausalLM", "mixtral"},
    {"PhiForCausalLM", "phi"},
    {"Phi3ForCausalLM", "phi3"},
    {"QWenLMHeadModel", "qwen"},
    {"Qwen2ForCausalLM", "qwen2"},
    {"Qwen3ForCausalLM", "qwen3"},
});

constexpr std::array kNestedParts = std::to_array<std::string_view>(
    {"thinker_config", "text_config", "llm_config", "llm_cfg", "language_config", "language_model"});

constexpr std::array kPartTypes = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"gemma3", "gemma3_text"},
    {"gemma3n", "gemma3n_text"},
    {"gemma4", "gemma4_text"},
    {"glm4v", "glm4v_text"},
    {"idefics2", "mistral"},
    {"internvl_chat", "internlm2"},
    {"lfm2_vl", "lfm2"},
    {"llama4", "llama4_text"},
    {"llava", "llama"},
    {"llava_llama", "llama"},
    {"llava_next", "llama"},
    {"mistral3", "mistral"},
    {"mllama", "mllama_text_model"},
    {"pixtral", "mistral"},
    {"qwen2_5_omni_thinker", "qwen2_5_omni_text"},
    {"qwen2_5_vl", "qwen2_5_vl_text"},
    {"qwen2_audio", "qwen2"},
    {"qwen2_vl", "qwen2_vl_text"},
    {"qwen3_5", "qwen3_5_text"},
    {"qwen3_5_moe", "qwen3_5_moe_text"},
    {"qwen3_asr_thinker", "qwen3_asr_text"},
    {"qwen3_omni_moe_thinker", "qwen3_omni_moe_text"},
    {"qwen3_vl", "qwen3_vl_text"},
    {"qwen3_vl_moe", "qwen3_vl_moe_text"},
    {"t5gemma", "t5_gemma_module"},
    {"t5gemma2", "t5gemma2_text"},
    {"t5gemma2_encoder", "t5gemma2_text"},
    {"voxtral", "llama"},
});

constexpr std::array kWithoutRotation{
    PlainFamily{"albert", "learned positions"},
    PlainFamily{"camembert", "learned positions"},
    PlainFamily{"deberta", "disentangled relative positions"},
    PlainFamily{"deberta-v2", "disentangled relative positions"},
    PlainFamily{"electra", "learned positions"},
    PlainFamily{"mamba2", "no attention"},
    PlainFamily{"mpnet", "relative bias"},
    PlainFamily{"xlm-roberta", "learned positions"},
    PlainFamily{"xlnet", "relative positions"},
    PlainFamily{"bart", "learned positions"},
    PlainFamily{"bert", "learned positions"},
    PlainFamily{"bloom", "ALiBi"},
    PlainFamily{"distilbert", "learned positions"},
    PlainFamily{"gpt2", "learned positions"},
    PlainFamily{"gpt_bigcode", "learned positions"},
    PlainFamily{"gpt_neo", "learned positions", "rotary", "gptj"},
    PlainFamily{"jamba", "no positions"},
    PlainFamily{"mamba", "no attention"},
    PlainFamily{"mpt", "ALiBi or learned positions"},
    PlainFamily{"mt5", "relative bias"},
    PlainFamily{"nemotron_h", "no positions"},
    PlainFamily{"opt", "learned positions"},
    PlainFamily{"roberta", "learned positions"},
    PlainFamily{"rwkv", "no attention"},
    PlainFamily{"rwkv5", "no attention"},
    PlainFamily{"rwkv6", "no attention"},
    PlainFamily{"t5", "relative bias"},
    PlainFamily{"whisper", "sinusoidal and learned positions"},
};

constexpr std::array kPlainSizes{PlainSize{"baichuan", 5120, "ALiBi in the models of this size"}};

constexpr std::array kFamilySwitches{
    FamilySwitch{"chatglm", "position_encoding_2d", "chatglm_6b"},
};

constexpr std::array kFamiliesOfParts{
    PartsFamily{"t5gemma", {"encoder", "decoder"}},
    PartsFamily{"t5gemma2", {"encoder", "decoder"}},
};

constexpr std::array kStructureKeys{
    StructureKey{"qk_rope_head_dim", StructureKey::Stated, "multi-head latent attention (MLA)"},
    StructureKey{"no_rope_layers", StructureKey::Stated, "layers without rotation"},
    StructureKey{"no_rope_layer_interval", StructureKey::NotZero, "layers without rotation"},
    StructureKey{"rope_local_base_freq", StructureKey::Stated, "a base of its own for some layers"},
    StructureKey{"swa_rope_theta", StructureKey::Stated, "a base of its own for some layers"},
    StructureKey{"compress_rope_theta", StructureKey::Stated, "a base of its own for some layers"},
    StructureKey{"local_rope_theta", StructureKey::Stated, "a base of its own for some layers"},
    StructureKey{"global_rope_theta", StructureKey::Stated, "a base of its own for some layers"},
    StructureKey{"global_head_dim", StructureKey::Stated, "a head of another width in some layers"},
    StructureKey{"swa_head_dim", StructureKey::Stated, "a head of another width in some layers"},
    StructureKey{"position_encoding_2d", StructureKey::True, "positions with two axes"},
    StructureKey{"rope_3d", StructureKey::True, "positions with three axes"},
    StructureKey{"rope_local_theta", StructureKey::Stated, "a base of its own for some layers"},
    StructureKey{"rope_ratio", StructureKey::Stated, "a factor on the base"},
    StructureKey{"rope_interleave", StructureKey::True, "another pair layout than the family's"},
    StructureKey{"rope_interleaved", StructureKey::True, "another pair layout than the family's"},
    StructureKey{"use_dynamic_ntk", StructureKey::True, "the rule dynamic_qwen"},
    StructureKey{"use_logn_attn", StructureKey::True, "the temperature log_n"},
    StructureKey{"attn_temperature_tuning", StructureKey::NotZero, "the temperature llama4"},
};

constexpr std::array kRotationSwitches{
    StructureKey{"alibi", StructureKey::True, "ALiBi"},
    StructureKey{"mla_use_nope", StructureKey::True, "no positions"},
    StructureKey{"use_rope", StructureKey::False, "a switch for rotation"},
    StructureKey{"rotary", StructureKey::False, "a switch for rotation"},
};

constexpr std::array kAmbiguousKeys = std::to_array<std::string_view>(
    {"rotary_dim", "rotary_pct", "rotary_emb_base", "rotary_emb_fraction", "rotary", "attention_multiplier",
     "query_pre_attn_scalar", "kv_channels", "attention_head_dim", "hidden_size_per_head"});

constexpr std::array kModelFields = std::to_array<std::string_view>(
    {"model_type", "hidden_size", "n_embd", "d_model", "num_attention_heads", "n_head", "num_heads",
     "head_dim", "rope_theta", "rope_scaling", "rope_parameters", "num_hidden_layers", "dim", "text_config",
     "llm_config", "llm_cfg", "thinker_config", "language_config", "qk_rope_head_dim"});

constexpr std::array kRuleSpellings{RuleSpelling{"su", "longrope"}, RuleSpelling{"mrope", "default"},
                                    RuleSpelling{"deepseek_yarn", "yarn"}};

constexpr std::array kKnownReadings{
    KnownReading{
        "deepseek_v2", "", FrequencyRule::Yarn, "softmax_factor",
        "{softmax_factor} by the publisher's code; transformers' own class before its change 47435 leaves "
        "it out and has 1"},
    KnownReading{"deepseek_v4", "main", FrequencyRule::Default, "rope_scaling",
                 "plain on these layers in the publisher's code; transformers 5.8 applies YaRN here too"},
    KnownReading{"deepseek_v4", "compress", FrequencyRule::Yarn, "attention_factor",
                 "1 in the publisher's code; transformers 5.8 has {formula_factor}, 0.1·ln factor + 1"},
    KnownReading{
        "olmo3", "sliding_attention", FrequencyRule::Default, "rope_scaling",
        "plain on these layers as published; transformers 5 before its change 45945 scales them too"},
    KnownReading{"persimmon", "", FrequencyRule::Default, "rope_theta",
                 "where the file is silent, transformers 5 has 10000 and transformers 4.45 had 25000"},
    KnownReading{"gpt_oss", "", FrequencyRule::Yarn, "truncate",
                 "llama.cpp has no such switch and rounds the ends of the ramp to whole pairs"},
    KnownReading{"kimi_k2", "", FrequencyRule::Yarn, "beta_fast",
                 "equal to beta_slow in the published file: a step within one pair, not a ramp"},
};

} // namespace

const ModelFamily* findModelFamily(std::string_view modelType)
{
    const auto found = std::find_if(kFamilies.begin(), kFamilies.end(),
                                    [&](const ModelFamily& family) { return family.modelType == modelType; });
    return found == kFamilies.end() ? nullptr : &*found;
}

const ModelFamily& unknownFamily(bool isMla)
{
    return isMla ? kUnknownMlaFamily : kUnknownFamily;
}

const ModelFamily& metaParamsFamily()
{
    return kMetaParams;
}

namespace {

template<class Table>
std::string_view lookUp(const Table& table, std::string_view key)
{
    const auto found =
        std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.first == key; });
    return found == table.end() ? std::string_view() : found->second;
}

} // namespace

std::string_view modelTypeOfArchitecture(std::string_view architecture)
{
    return lookUp(kArchitectures, architecture);
}

std::string_view modelTypeOfPart(std::string_view parentType)
{
    return lookUp(kPartTypes, parentType);
}

std::span<const std::string_view> nestedPartKeys()
{
    return kNestedParts;
}

std::span<const FamilySwitch> familySwitches()
{
    return kFamilySwitches;
}

std::span<const PartsFamily> familiesOfParts()
{
    return kFamiliesOfParts;
}

std::span<const PlainFamily> familiesWithoutRotation()
{
    return kWithoutRotation;
}

std::span<const PlainSize> sizesWithoutRotation()
{
    return kPlainSizes;
}

std::span<const StructureKey> structureKeys()
{
    return kStructureKeys;
}

std::span<const StructureKey> rotationSwitches()
{
    return kRotationSwitches;
}

std::span<const std::string_view> ambiguousKeys()
{
    return kAmbiguousKeys;
}

std::span<const std::string_view> modelFields()
{
    return kModelFields;
}

std::span<const RuleSpelling> ruleSpellings()
{
    return kRuleSpellings;
}

std::span<const KnownReading> knownReadings()
{
    return kKnownReadings;
}

} // namespace ropewalk
