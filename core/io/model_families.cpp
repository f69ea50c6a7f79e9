// SPDX-License-Identifier: GPL-3.0-or-later
#include "model_families.h"

#include <algorithm>

namespace ropewalk {
namespace {

constexpr KeySpellings kGptNeoxKeys{.base = {"rotary_emb_base", "rope_theta"},
                                    .share = {"rotary_pct", "partial_rotary_factor"}};
constexpr KeySpellings kGptjKeys{.hiddenSize = {"n_embd", "hidden_size"},
                                 .heads = {"n_head", "num_attention_heads"},
                                 .headDim = {},
                                 .base = {},
                                 .share = {},
                                 .rotaryDim = {"rotary_dim"},
                                 .length = {"n_positions", "max_position_embeddings"}};
constexpr KeySpellings kFalconKeys{.heads = {"num_attention_heads", "n_head"}};

constexpr Layout kHalf = Layout::Half;
constexpr Layout kInterleaved = Layout::Interleaved;

// Adding a family is adding a row. Where a width is left out, no default of the class has been checked.
constexpr std::array kFamilies{
    ModelFamily{"llama", "LlamaConfig", kHalf, 1e4, 1.0, 4096, 32},
    ModelFamily{"mistral", "MistralConfig", kHalf, 1e4, 1.0, 4096, 32},
    ModelFamily{"mixtral", "MixtralConfig", kHalf, 1e6},
    ModelFamily{.modelType = "ministral3", .className = "Ministral3Config", .needsScaling = true},
    ModelFamily{"qwen2", "Qwen2Config", kHalf, 1e4, 1.0, 4096, 32},
    ModelFamily{"qwen2_moe", "Qwen2MoeConfig", kHalf, 1e4},
    ModelFamily{"qwen3", "Qwen3Config", kHalf, 1e4, 1.0, 4096, 32, 128},
    ModelFamily{"qwen3_moe", "Qwen3MoeConfig", kHalf, 1e4},
    ModelFamily{"cohere", "CohereConfig", kInterleaved, 5e5, 1.0, 8192, 64},
    ModelFamily{.modelType = "codegen",
                .className = "CodeGenConfig",
                .layout = kInterleaved,
                .base = 1e4,
                .hiddenSize = 4096,
                .heads = 16,
                .rotaryDim = 64,
                .keys = &kGptjKeys,
                .readsScaling = false},
    ModelFamily{.modelType = "falcon",
                .className = "FalconConfig",
                .base = 1e4,
                .hiddenSize = 4544,
                .heads = 71,
                .keys = &kFalconKeys},
    ModelFamily{.modelType = "gemma", .className = "GemmaConfig", .base = 1e4, .headDim = 256},
    ModelFamily{.modelType = "gemma2",
                .className = "Gemma2Config",
                .base = 1e4,
                .headDim = 256,
                .logitScale = LogitScale::QueryPreAttnScalar},
    ModelFamily{"glm", "GlmConfig", kInterleaved, 1e4, 0.5},
    ModelFamily{"glm4", "Glm4Config", kInterleaved, 1e4, 0.5},
    ModelFamily{.modelType = "gpt_neox",
                .className = "GPTNeoXConfig",
                .base = 1e4,
                .share = 0.25,
                .hiddenSize = 6144,
                .heads = 64,
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
    ModelFamily{"helium", "HeliumConfig", kInterleaved, 1e5, 1.0, 2560, 20, 128},
    ModelFamily{"olmo", "OlmoConfig", kHalf, 1e4, 1.0, 4096, 32},
    ModelFamily{"olmo2", "Olmo2Config", kHalf, 1e4},
    ModelFamily{"phi", "PhiConfig", kHalf, 1e4, 0.5},
    ModelFamily{"phi3", "Phi3Config", kHalf, 1e4},
    ModelFamily{"phimoe", "PhimoeConfig", kHalf, 1e6, 1.0, 4096, 32},
    ModelFamily{"stablelm", "StableLmConfig", kHalf, 1e4, 0.25},
    ModelFamily{"starcoder2", "Starcoder2Config", kHalf, 1e4},
};

constexpr ModelFamily kUnknownFamily{"", "LlamaConfig", kHalf, 1e4};

constexpr std::array kWithoutRotation{
    PlainFamily{"bart", "learned positions"},
    PlainFamily{"bert", "learned positions"},
    PlainFamily{"bloom", "ALiBi"},
    PlainFamily{"distilbert", "learned positions"},
    PlainFamily{"gpt2", "learned positions"},
    PlainFamily{"gpt_bigcode", "learned positions"},
    PlainFamily{"gpt_neo", "learned positions"},
    PlainFamily{"jamba", "no positions"},
    PlainFamily{"mamba", "no attention"},
    PlainFamily{"mpt", "ALiBi or learned positions"},
    PlainFamily{"mt5", "relative bias"},
    PlainFamily{"opt", "learned positions"},
    PlainFamily{"roberta", "learned positions"},
    PlainFamily{"rwkv", "no attention"},
    PlainFamily{"rwkv5", "no attention"},
    PlainFamily{"rwkv6", "no attention"},
    PlainFamily{"t5", "relative bias"},
    PlainFamily{"whisper", "sinusoidal and learned positions"},
};

// Their defaults, their layers or their rule differ from Llama's: read as Llama's keys they would give wrong
// numbers.
constexpr std::array kNotReadYet = std::to_array<std::string_view>({
    "apertus",
    "baichuan",
    "bamba",
    "bitnet",
    "chatglm",
    "cohere2",
    "csm",
    "cwm",
    "deepseek_ref",
    "deepseek_v2",
    "deepseek_v3",
    "deepseek_v32",
    "deepseek_v4",
    "emu3",
    "ernie4_5",
    "ernie4_5_moe",
    "esm",
    "exaone4",
    "fuyu",
    "gemma3",
    "gemma3_text",
    "gemma3n",
    "gemma3n_text",
    "gemma4",
    "gemma4_text",
    "glm4_moe",
    "glm4v",
    "glm_moe_dsa",
    "gpt_neox_japanese",
    "granitemoehybrid",
    "hunyuan_v1_dense",
    "hunyuan_v1_moe",
    "hy_v3",
    "internlm",
    "internlm2",
    "internvl_chat",
    "jina_embeddings_v3",
    "kimi_k2",
    "kimi_k25",
    "kimi_k3",
    "kimi_linear",
    "lfm2",
    "lfm2_moe",
    "lfm2_vl",
    "llama4",
    "llama4_text",
    "llava_llama",
    "longcat_flash",
    "mimo_v2_flash",
    "minicpm",
    "minicpm3",
    "minimax",
    "minimax_m2",
    "ministral",
    "mllama",
    "mllama_text_model",
    "modernbert",
    "moonshine",
    "nemotron",
    "nemotron_h",
    "nomic_bert",
    "olmo3",
    "olmo_hybrid",
    "persimmon",
    "phi-msft",
    "phi3small",
    "qwen",
    "qwen2_5_omni",
    "qwen2_5_vl",
    "qwen2_5_vl_text",
    "qwen2_audio",
    "qwen2_vl",
    "qwen2_vl_text",
    "qwen3_5",
    "qwen3_5_moe",
    "qwen3_asr",
    "qwen3_next",
    "qwen3_omni_moe",
    "qwen3_vl",
    "qwen3_vl_moe",
    "qwen3_vl_moe_text",
    "qwen3_vl_text",
    "recurrent_gemma",
    "roformer",
    "smollm3",
    "stablelm_epoch",
    "t5gemma2",
    "voxtral",
});

constexpr std::array kStructureKeys{
    StructureKey{"text_config", StructureKey::Stated, "a model part nested in it"},
    StructureKey{"llm_config", StructureKey::Stated, "a model part nested in it"},
    StructureKey{"llm_cfg", StructureKey::Stated, "a model part nested in it"},
    StructureKey{"language_config", StructureKey::Stated, "a model part nested in it"},
    StructureKey{"thinker_config", StructureKey::Stated, "a model part nested in it"},
    StructureKey{"qk_rope_head_dim", StructureKey::Stated, "multi-head latent attention (MLA)"},
    StructureKey{"kv_lora_rank", StructureKey::Stated, "multi-head latent attention (MLA)"},
    StructureKey{"no_rope_layers", StructureKey::Stated, "layers without rotation"},
    StructureKey{"no_rope_layer_interval", StructureKey::NotZero, "layers without rotation"},
    StructureKey{"use_rope", StructureKey::False, "a switch for rotation"},
    StructureKey{"rotary", StructureKey::False, "a switch for rotation"},
    StructureKey{"rope_local_base_freq", StructureKey::Stated, "a base of its own for some layers"},
    StructureKey{"swa_rope_theta", StructureKey::Stated, "a base of its own for some layers"},
    StructureKey{"compress_rope_theta", StructureKey::Stated, "a base of its own for some layers"},
    StructureKey{"local_rope_theta", StructureKey::Stated, "a base of its own for some layers"},
    StructureKey{"global_rope_theta", StructureKey::Stated, "a base of its own for some layers"},
    StructureKey{"global_head_dim", StructureKey::Stated, "a head of another width in some layers"},
    StructureKey{"swa_head_dim", StructureKey::Stated, "a head of another width in some layers"},
    StructureKey{"mrope_section", StructureKey::Stated, "positions with several axes (M-RoPE)"},
    StructureKey{"use_mrope", StructureKey::True, "positions with several axes (M-RoPE)"},
    StructureKey{"position_encoding_2d", StructureKey::True, "positions with two axes"},
    StructureKey{"rope_ratio", StructureKey::Stated, "a factor on the base"},
    StructureKey{"rope_interleave", StructureKey::True, "another pair layout than the family's"},
    StructureKey{"rope_interleaved", StructureKey::True, "another pair layout than the family's"},
    StructureKey{"use_dynamic_ntk", StructureKey::True, "the rule dynamic_qwen"},
    StructureKey{"use_logn_attn", StructureKey::True, "the temperature log_n"},
    StructureKey{"attn_temperature_tuning", StructureKey::NotZero, "the temperature llama4"},
    StructureKey{"llama_4_scaling_beta", StructureKey::NotZero, "the temperature ministral"},
    StructureKey{"dual_chunk_attention_config", StructureKey::Stated, "dual chunk attention"},
};

constexpr std::array kAmbiguousKeys = std::to_array<std::string_view>(
    {"rotary_dim", "rotary_pct", "rotary_emb_base", "rotary_emb_fraction", "rotary", "attention_multiplier",
     "query_pre_attn_scalar", "kv_channels"});

constexpr std::array kModelFields = std::to_array<std::string_view>(
    {"model_type", "hidden_size", "n_embd", "d_model", "num_attention_heads", "n_head", "num_heads",
     "head_dim", "rope_theta", "rope_scaling", "rope_parameters", "num_hidden_layers", "dim"});

} // namespace

const ModelFamily* findModelFamily(std::string_view modelType)
{
    const auto found = std::find_if(kFamilies.begin(), kFamilies.end(),
                                    [&](const ModelFamily& family) { return family.modelType == modelType; });
    return found == kFamilies.end() ? nullptr : &*found;
}

const ModelFamily& unknownFamily()
{
    return kUnknownFamily;
}

bool isFamilyNotReadYet(std::string_view modelType)
{
    return std::find(kNotReadYet.begin(), kNotReadYet.end(), modelType) != kNotReadYet.end();
}

std::span<const PlainFamily> familiesWithoutRotation()
{
    return kWithoutRotation;
}

std::span<const StructureKey> structureKeys()
{
    return kStructureKeys;
}

std::span<const std::string_view> ambiguousKeys()
{
    return kAmbiguousKeys;
}

std::span<const std::string_view> modelFields()
{
    return kModelFields;
}

} // namespace ropewalk
