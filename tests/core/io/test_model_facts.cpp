// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/model_config.h"

#include "core/frequency_rules.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace ropewalk;

namespace {

/// What one kind of layer of a model has to come out as; the numbers are those of the published models.
struct Fact
{
    const char* layerType; ///< null where all layers are alike
    int headDim, rotaryDim;
    double base;
    Layout layout;
    const char* rule;
    std::int64_t length, training; ///< 0: not stated
    double slowest;                ///< θ' of the last pair that turns, rad/token
    double attentionFactor = 1.0, softmaxFactor = 1.0;
};

constexpr auto kHalf = Layout::Half;
constexpr auto kInterleaved = Layout::Interleaved;

struct Model
{
    const char* name;
    const char* json; ///< the fields that decide, written down here
    std::vector<Fact> facts;
};

// Frequencies of the plain rule that several models share.
constexpr double k1e4At128 = 1.1547819846894582e-4;
constexpr double k1e6At128 = 1.2409377607517195e-6;
constexpr double k1e4At64 = 1.333521432163324e-4;

const std::vector<Model>& models()
{
    static const std::vector<Model> rows{
        {"Baichuan-7B: a fixed base",
         R"({"model_type":"baichuan","hidden_size":4096,"num_attention_heads":32,"max_position_embeddings":4096})",
         {{nullptr, 128, 128, 1e4, kHalf, "default", 4096, 4096, k1e4At128}}},
        {"ChatGLM-6B: a position id for each half of the head",
         R"({"model_type":"chatglm","architectures":["ChatGLMModel"],"hidden_size":4096,"inner_hidden_size":16384,
             "num_attention_heads":32,"num_layers":28,"max_sequence_length":2048,"position_encoding_2d":true,
             "vocab_size":130528})",
         {{nullptr, 128, 64, 1e4, kHalf, "default", 2048, 2048, k1e4At64},
          {nullptr, 128, 64, 1e4, kHalf, "default", 2048, 2048, k1e4At64}}},
        {"T5Gemma 2B-2B: encoder and decoder alike",
         R"({"model_type":"t5gemma","encoder":{"model_type":"t5_gemma_module","hidden_size":2304,"head_dim":256,
             "num_attention_heads":8,"query_pre_attn_scalar":256,"rope_theta":10000.0,"max_position_embeddings":8192},
             "decoder":{"model_type":"t5_gemma_module","hidden_size":2304,"head_dim":256,"num_attention_heads":8,
             "cross_attention_hidden_size":2304,"query_pre_attn_scalar":256,"rope_theta":10000.0,
             "max_position_embeddings":8192}})",
         {{nullptr, 256, 256, 1e4, kHalf, "default", 8192, 8192, 1.0746078e-04}}},
        {"T5Gemma with a small decoder",
         R"({"model_type":"t5gemma","encoder":{"head_dim":256,"query_pre_attn_scalar":256,"rope_theta":10000.0,
             "max_position_embeddings":8192},"decoder":{"head_dim":64,"query_pre_attn_scalar":256,
             "rope_theta":10000.0,"max_position_embeddings":8192}})",
         {{nullptr, 256, 256, 1e4, kHalf, "default", 8192, 8192, 1.0746078e-04},
          {nullptr, 64, 64, 1e4, kHalf, "default", 8192, 8192, k1e4At64, 1.0, 0.5}}},
        {"T5Gemma-2: two bases in both parts",
         R"({"model_type":"t5gemma2","encoder":{"model_type":"t5gemma2_encoder","text_config":{
             "model_type":"t5gemma2_text","head_dim":256,"max_position_embeddings":32768,"rope_parameters":{
             "full_attention":{"rope_type":"default","rope_theta":1000000.0},
             "sliding_attention":{"rope_type":"default","rope_theta":10000.0}}}},
             "decoder":{"model_type":"t5gemma2_decoder","head_dim":256,"max_position_embeddings":32768,
             "rope_parameters":{"full_attention":{"rope_type":"default","rope_theta":1000000.0},
             "sliding_attention":{"rope_type":"default","rope_theta":10000.0}}}})",
         {{"full_attention", 256, 256, 1e6, kHalf, "default", 32768, 32768, std::pow(1e6, -254.0 / 256.0)},
          {"sliding_attention", 256, 256, 1e4, kHalf, "default", 32768, 32768, 1.0746078e-04}}},
        {"InternLM-7B-8k: its own object, dynamic",
         R"({"model_type":"internlm","hidden_size":4096,"num_attention_heads":32,"max_position_embeddings":8192,
             "rotary":{"base":10000,"type":"dynamic"}})",
         {{nullptr, 128, 128, 1e4, kHalf, "dynamic", 8192, 8192, k1e4At128}}},
        {"InternLM-20B: the same object, plain, another base",
         R"({"architectures":["InternLMForCausalLM"],"hidden_size":5120,"num_attention_heads":40,
             "max_position_embeddings":4096,"rotary":{"base":1000000,"type":"origin"}})",
         {{nullptr, 128, 128, 1e6, kHalf, "default", 4096, 4096, k1e6At128}}},
        {"DBRX: the base in the attention's part",
         R"({"model_type":"dbrx","d_model":6144,"n_heads":48,"max_seq_len":32768,"attn_config":{"clip_qkv":8,
             "kv_n_heads":8,"rope_theta":500000}})",
         {{nullptr, 128, 128, 5e5, kHalf, "default", 32768, 32768, std::pow(5e5, -126.0 / 128.0)}}},
        {"OLMoE",
         R"({"model_type":"olmoe","hidden_size":2048,"num_attention_heads":16,"rope_theta":10000.0,
             "max_position_embeddings":4096,"rope_scaling":null})",
         {{nullptr, 128, 128, 1e4, kHalf, "default", 4096, 4096, k1e4At128}}},
        {"Falcon-H1: a very large base",
         R"({"model_type":"falcon_h1","head_dim":128,"rope_theta":100000000000.0,"max_position_embeddings":262144})",
         {{nullptr, 128, 128, 1e11, kHalf, "default", 262144, 262144, std::pow(1e11, -126.0 / 128.0)}}},
        {"Trinity: the full layers do not rotate",
         R"({"model_type":"afmoe","head_dim":64,"layer_types":["sliding_attention","full_attention"],
             "sliding_window":2048,"rope_theta":10000.0,"max_position_embeddings":131072})",
         {{"sliding_attention", 64, 64, 1e4, kHalf, "default", 131072, 131072, k1e4At64},
          {"no_rope", 64, 0, 0, kHalf, "none", 131072, 131072, 0}}},
        {"GLM-4.5V: half-split, unlike the dense one",
         R"({"model_type":"glm4v_moe","text_config":{"model_type":"glm4v_moe_text","head_dim":128,
             "rope_theta":10000.0,"max_position_embeddings":65536,"rope_scaling":{"rope_type":"default",
             "mrope_section":[8,12,12]}}})",
         {{nullptr, 128, 64, 1e4, kHalf, "default", 65536, 65536, k1e4At64}}},
        {"MiniMax-Text-01: a width in channels",
         R"({"model_type":"minimax_text_01","head_dim":128,"rotary_dim":64,"rope_theta":10000000,
             "max_position_embeddings":10240000})",
         {{nullptr, 128, 64, 1e7, kHalf, "default", 10240000, 10240000, std::pow(1e7, -62.0 / 64.0)}}},
        {"Ling-2.0: the share beside a width",
         R"({"model_type":"bailing_moe_v2","hidden_size":2048,"num_attention_heads":16,"head_dim":128,
             "partial_rotary_factor":0.5,"rotary_dim":64,"rope_theta":600000,"max_position_embeddings":32768})",
         {{nullptr, 128, 64, 6e5, kHalf, "default", 32768, 32768, std::pow(6e5, -62.0 / 64.0)}}},
        {"JetMoE: kv_channels are the head",
         R"({"model_type":"jetmoe","hidden_size":2048,"num_attention_heads":32,"kv_channels":128,
             "rope_theta":10000.0,"max_position_embeddings":4096})",
         {{nullptr, 128, 128, 1e4, kHalf, "default", 4096, 4096, k1e4At128}}},
        {"VaultGemma: Gemma-2's scale of the logit",
         R"({"model_type":"vaultgemma","hidden_size":1152,"num_attention_heads":4,"head_dim":256,
             "query_pre_attn_scalar":256,"rope_theta":10000.0,"max_position_embeddings":1024,
             "layer_types":["sliding_attention","full_attention"]})",
         {{nullptr, 256, 256, 1e4, kHalf, "default", 1024, 1024, 1.0746078e-04}}},
        {"EXAONE-3.5",
         R"({"model_type":"exaone","hidden_size":4096,"num_attention_heads":32,"head_dim":128,"rope_theta":1000000,
             "max_position_embeddings":32768,"rope_scaling":{"rope_type":"llama3","factor":8.0,
             "low_freq_factor":1.0,"high_freq_factor":4.0,"original_max_position_embeddings":8192}})",
         {{nullptr, 128, 128, 1e6, kHalf, "llama3", 32768, 8192, k1e6At128 / 8}}},
        {"Seed-OSS",
         R"({"model_type":"seed_oss","hidden_size":5120,"num_attention_heads":80,"head_dim":128,
             "rope_theta":10000000.0,"rope_scaling":{"rope_type":"default"},"max_position_embeddings":524288})",
         {{nullptr, 128, 128, 1e7, kHalf, "default", 524288, 524288, std::pow(1e7, -126.0 / 128.0)}}},
        {"Qwen3-Next: a quarter of 256",
         R"({"model_type":"qwen3_next","hidden_size":2048,"num_attention_heads":16,"head_dim":256,
             "partial_rotary_factor":0.25,"rope_theta":10000000,"max_position_embeddings":262144,
             "layer_types":["linear_attention","full_attention"]})",
         {{nullptr, 256, 64, 1e7, kHalf, "default", 262144, 262144, std::pow(1e7, -62.0 / 64.0)}}},
        {"Granite 4 Micro: rope in a hybrid's class, a scale of the logit",
         R"({"model_type":"granitemoehybrid","hidden_size":2560,"num_attention_heads":40,
             "attention_multiplier":0.015625,"position_embedding_type":"rope","rope_theta":10000000,
             "max_position_embeddings":131072})",
         {{nullptr, 64, 64, 1e7, kHalf, "default", 131072, 131072, std::pow(1e7, -62.0 / 64.0), 1.0, 0.125}}},
        {"ChatGLM2: half of kv_channels, a flag that is no layout",
         R"({"model_type":"chatglm","hidden_size":4096,"num_attention_heads":32,"kv_channels":128,"seq_length":32768,
             "original_rope":true})",
         {{nullptr, 128, 64, 1e4, kInterleaved, "default", 32768, 32768, k1e4At64}}},
        {"ChatGLM3-32k: a factor on the base",
         R"({"model_type":"chatglm","hidden_size":4096,"num_attention_heads":32,"kv_channels":128,"seq_length":16384,
             "rope_ratio":50})",
         {{nullptr, 128, 64, 5e5, kInterleaved, "default", 16384, 16384, 3.013858e-06}}},
        {"CodeFuse: Qwen-1's older spelling",
         R"({"model_type":"qwen","n_embd":4096,"n_head":32,"kv_channels":128,"rotary_emb_base":10000,"rotary_pct":1.0,
             "n_positions":6144,"seq_length":2048,"use_dynamic_ntk":true,"use_logn_attn":true})",
         {{nullptr, 128, 128, 1e4, kHalf, "dynamic_qwen", 6144, 2048, k1e4At128}}},
        {"Qwen-7B-Chat",
         R"({"model_type":"qwen","hidden_size":4096,"num_attention_heads":32,"kv_channels":128,"rotary_emb_base":10000,
             "rotary_pct":1.0,"max_position_embeddings":32768,"seq_length":8192,"use_dynamic_ntk":true,
             "use_logn_attn":true})",
         {{nullptr, 128, 128, 1e4, kHalf, "dynamic_qwen", 32768, 8192, k1e4At128}}},
        {"DeepSeek-V2-Lite: two separate factors",
         R"({"model_type":"deepseek_v2","hidden_size":2048,"num_attention_heads":16,"kv_lora_rank":512,
             "qk_nope_head_dim":128,"qk_rope_head_dim":64,"rope_theta":10000,"max_position_embeddings":163840,
             "rope_scaling":{"type":"yarn","factor":40,"beta_fast":32,"beta_slow":1,"mscale":0.707,
             "mscale_all_dim":0.707,"original_max_position_embeddings":4096}})",
         {{nullptr, 192, 64, 1e4, kInterleaved, "yarn", 163840, 4096, 3.3338035e-06, 1.0, 1.5896261651}}},
        {"DeepSeek-V3",
         R"({"model_type":"deepseek_v3","qk_nope_head_dim":128,"qk_rope_head_dim":64,"rope_theta":10000,
             "max_position_embeddings":163840,"rope_scaling":{"type":"yarn","factor":40,"beta_fast":32,"beta_slow":1,
             "mscale":1.0,"mscale_all_dim":1.0,"original_max_position_embeddings":4096}})",
         {{nullptr, 192, 64, 1e4, kInterleaved, "yarn", 163840, 4096, 3.3338035e-06, 1.0, 1.8738542071}}},
        {"DeepSeek-V4-Flash: two bases, amplitude 1",
         R"({"model_type":"deepseek_v4","head_dim":512,"qk_rope_head_dim":64,"rope_theta":10000,
             "compress_rope_theta":160000,"compress_ratios":[0,0,4,128,0],"max_position_embeddings":1048576,
             "rope_scaling":{"type":"yarn","factor":16,"beta_fast":32,"beta_slow":1,
             "original_max_position_embeddings":65536}})",
         {{"main", 512, 64, 1e4, kInterleaved, "default", 1048576, 1048576, k1e4At64},
          {"compress", 512, 64, 1.6e5, kInterleaved, "yarn", 1048576, 65536, 5.6805294e-07}}},
        {"the same without its first base",
         R"({"model_type":"deepseek_ref","head_dim":512,"qk_rope_head_dim":64,"compress_rope_theta":160000,
             "compress_ratios":[0,4],"max_position_embeddings":1048576})",
         {{"main", 512, 64, 1e4, kInterleaved, "default", 1048576, 1048576, k1e4At64},
          {"compress", 512, 64, 1.6e5, kInterleaved, "default", 1048576, 1048576, 9.0888470e-06}}},
        {"EXAONE-4: the full layers do not rotate",
         R"({"model_type":"exaone4","head_dim":128,"layer_types":["sliding_attention","full_attention"],
             "sliding_window":4096,"max_position_embeddings":131072,"rope_theta":1000000,"rope_scaling":{
             "rope_type":"llama3","factor":16.0,"high_freq_factor":4.0,"low_freq_factor":1.0,
             "original_max_position_embeddings":8192}})",
         {{"sliding_attention", 128, 128, 1e6, kHalf, "llama3", 131072, 8192, 7.7558610e-08},
          {"no_rope", 128, 0, 0, kHalf, "none", 131072, 131072, 0}}},
        {"EXAONE-4 without a window: all alike",
         R"({"model_type":"exaone4","head_dim":64,"sliding_window":null,"layer_types":["full_attention"],
             "max_position_embeddings":65536,"rope_theta":1000000})",
         {{nullptr, 64, 64, 1e6, kHalf, "default", 65536, 65536, 1.5399265e-06}}},
        {"Moonshine: int(0.62 x 52)",
         R"({"model_type":"moonshine","hidden_size":416,"encoder_num_attention_heads":8,"decoder_num_attention_heads":8,
             "partial_rotary_factor":0.62,"rope_theta":10000.0,"max_position_embeddings":194})",
         {{nullptr, 52, 32, 1e4, kInterleaved, "default", 194, 194, 1.7782794e-04}}},
        {"nomic-embed: base 1000 twice, two lengths",
         R"({"model_type":"nomic_bert","n_embd":768,"n_head":12,"n_positions":8192,"max_position_embeddings":2048,
             "rotary_emb_base":1000,"rotary_emb_fraction":1.0,"rotary_emb_interleaved":false,
             "rope_parameters":{"rope_theta":1000.0,"rope_type":"default"}})",
         {{nullptr, 64, 64, 1e3, kHalf, "default", 2048, 2048, 1.2409378e-03}}},
        {"Gemma-3-4B: all from the class, linear on the full layers",
         R"({"model_type":"gemma3","text_config":{"model_type":"gemma3_text","hidden_size":2560,
             "rope_scaling":{"factor":8.0,"rope_type":"linear"}},"vision_config":{"hidden_size":1152}})",
         {{"full_attention", 256, 256, 1e6, kHalf, "linear", 131072, 131072, 1.3924674e-07},
          {"sliding_attention", 256, 256, 1e4, kHalf, "default", 131072, 131072, 1.0746078e-04}}},
        {"Gemma-3-27B: another scale of the logit",
         R"({"model_type":"gemma3","text_config":{"hidden_size":5376,"num_attention_heads":32,"head_dim":128,
             "query_pre_attn_scalar":168,"rope_scaling":{"factor":8.0,"rope_type":"linear"}}})",
         {{"full_attention", 128, 128, 1e6, kHalf, "linear", 131072, 131072, k1e6At128 / 8, 1.0,
           0.8728715609},
          {"sliding_attention", 128, 128, 1e4, kHalf, "default", 131072, 131072, k1e4At128, 1.0,
           0.8728715609}}},
        {"Gemma-4: two head widths, proportional",
         R"({"model_type":"gemma4","text_config":{"model_type":"gemma4_text","head_dim":256,"global_head_dim":512,
             "max_position_embeddings":262144,"rope_parameters":{"full_attention":{"partial_rotary_factor":0.25,
             "rope_theta":1000000.0,"rope_type":"proportional"},"sliding_attention":{"rope_theta":10000.0,
             "rope_type":"default"}}}})",
         {{"full_attention", 512, 512, 1e6, kHalf, "proportional", 262144, 262144,
           std::pow(10.0, -6.0 * 126.0 / 512.0), 1.0, 22.627416998},
          {"sliding_attention", 256, 256, 1e4, kHalf, "default", 262144, 262144, 1.0746078e-04, 1.0, 16.0}}},
        {"Gemma-4 with nothing stated",
         R"({"model_type":"gemma4_text","max_position_embeddings":131072})",
         {{"full_attention", 512, 512, 1e6, kHalf, "proportional", 131072, 131072,
           std::pow(10.0, -6.0 * 126.0 / 512.0), 1.0, 22.627416998},
          {"sliding_attention", 256, 256, 1e4, kHalf, "default", 131072, 131072, 1.0746078e-04, 1.0, 16.0}}},
        {"GPT-J under GPT-Neo's name",
         R"({"model_type":"gpt_neo","hidden_size":4096,"num_heads":16,"rotary":true,"rotary_dim":64,
             "max_position_embeddings":2048})",
         {{nullptr, 256, 64, 1e4, kInterleaved, "default", 2048, 2048, k1e4At64}}},
        {"InternLM2 in a part, dynamic",
         R"({"model_type":"internvl_chat","llm_config":{"model_type":"internlm2","hidden_size":2048,
             "num_attention_heads":16,"max_position_embeddings":512,"rope_theta":1000000,
             "rope_scaling":{"type":"dynamic","factor":2.0}},"vision_config":{"hidden_size":1024}})",
         {{nullptr, 128, 128, 1e6, kHalf, "dynamic", 512, 512, k1e6At128}}},
        {"a small longrope under its old name",
         R"({"model_type":"phi3","hidden_size":32,"num_attention_heads":4,"max_position_embeddings":131072,
             "original_max_position_embeddings":4096,"rope_scaling":{"type":"su","short_factor":[1,1,1,2],
             "long_factor":[4,4,4,4]}})",
         {{nullptr, 8, 8, 1e4, kHalf, "longrope", 131072, 4096, 5e-4, 1.1902380714}}},
        {"Kimi-K2: a step and not a ramp",
         R"({"model_type":"kimi_k2","qk_nope_head_dim":128,"qk_rope_head_dim":64,"rope_theta":50000.0,
             "max_position_embeddings":131072,"rope_scaling":{"type":"yarn","factor":32.0,"beta_fast":1.0,
             "beta_slow":1.0,"mscale":1.0,"mscale_all_dim":1.0,"original_max_position_embeddings":4096}})",
         {{nullptr, 192, 64, 5e4, kInterleaved, "yarn", 131072, 4096, 8.7644128e-07, 1.0, 1.8132604340}}},
        {"Kimi-K2.7: DeepSeek in a part, everything twice",
         R"({"model_type":"kimi_k25","text_config":{"model_type":"deepseek_v3","head_dim":64,"qk_nope_head_dim":128,
             "qk_rope_head_dim":64,"rope_theta":50000.0,"max_position_embeddings":262144,"rope_parameters":{
             "rope_type":"yarn","type":"yarn","factor":64.0,"beta_fast":32.0,"beta_slow":1.0,"mscale":1.0,
             "mscale_all_dim":1.0,"rope_theta":50000.0,"original_max_position_embeddings":4096}}})",
         {{nullptr, 192, 64, 5e4, kInterleaved, "yarn", 262144, 4096, 4.3822064e-07, 1.0, 2.0047397017}}},
        {"LFM2: convolutions between",
         R"({"model_type":"lfm2_vl","text_config":{"model_type":"lfm2","hidden_size":2048,"num_attention_heads":32,
             "num_heads":32,"layer_types":["conv","full_attention"],"max_position_embeddings":128000,
             "rope_parameters":{"rope_theta":1000000.0,"rope_type":"default"}}})",
         {{nullptr, 64, 64, 1e6, kHalf, "default", 128000, 128000, 1.5399265e-06}}},
        {"Llama-4 Scout: every fourth layer without rotation",
         R"({"model_type":"llama4","text_config":{"model_type":"llama4_text","head_dim":128,"rope_theta":500000.0,
             "no_rope_layers":[1,1,1,0],"max_position_embeddings":10485760,"rope_scaling":{"rope_type":"llama3",
             "factor":16.0,"low_freq_factor":1.0,"high_freq_factor":1.0,"original_max_position_embeddings":8192}}})",
         {{"chunked_attention", 128, 128, 5e5, kInterleaved, "llama3", 10485760, 8192, 2.4551407e-06 / 16},
          {"no_rope", 128, 0, 0, kInterleaved, "none", 10485760, 10485760, 0}}},
        {"SmolLM3",
         R"({"model_type":"smollm3","hidden_size":2048,"num_attention_heads":16,"rope_theta":5000000.0,
             "no_rope_layers":[1,1,1,0],"max_position_embeddings":65536})",
         {{"full_attention", 128, 128, 5e6, kHalf, "default", 65536, 65536, 2.5450797e-07},
          {"no_rope", 128, 0, 0, kHalf, "none", 65536, 65536, 0}}},
        {"MiMo-V2-Flash: int(0.334 x 192), two bases",
         R"({"model_type":"mimo_v2_flash","head_dim":192,"swa_head_dim":192,"rope_theta":5000000,
             "swa_rope_theta":10000,"partial_rotary_factor":0.334,"hybrid_layer_pattern":[0,1,1],
             "attention_value_scale":0.707,"max_position_embeddings":262144})",
         {{"full_attention", 192, 64, 5e6, kHalf, "default", 262144, 262144, 3.2387155e-07},
          {"sliding_window_attention", 192, 64, 1e4, kHalf, "default", 262144, 262144, k1e4At64}}},
        {"MiniCPM-2B-128k",
         R"({"model_type":"minicpm","hidden_size":2304,"num_attention_heads":36,"rope_theta":1000000.0,
             "max_position_embeddings":65536,"rope_scaling":{"type":"dynamic","factor":4.0},"scale_emb":12})",
         {{nullptr, 64, 64, 1e6, kHalf, "dynamic", 65536, 65536, 1.5399265e-06}}},
        {"MiniCPM3: no model_type, half-split latent attention",
         R"({"architectures":["MiniCPM3ForCausalLM"],"qk_nope_head_dim":4,"qk_rope_head_dim":4,
             "max_position_embeddings":32768,"rope_scaling":{"type":"longrope","short_factor":[1.05,2],
             "long_factor":[1.05,2],"original_max_position_embeddings":32768}})",
         {{nullptr, 8, 4, 1e4, kHalf, "longrope", 32768, 32768, 0.005}}},
        {"ModernBERT: absolute, and rotates",
         R"({"model_type":"modernbert","hidden_size":768,"num_attention_heads":12,"position_embedding_type":"absolute",
             "max_position_embeddings":8192})",
         {{"full_attention", 64, 64, 1.6e5, kHalf, "default", 8192, 8192, 9.0888470e-06},
          {"sliding_attention", 64, 64, 1e4, kHalf, "default", 8192, 8192, k1e4At64}}},
        {"OLMo-3.1: YaRN on the full layers only",
         R"({"model_type":"olmo3","hidden_size":5120,"num_attention_heads":40,"rope_theta":500000,
             "layer_types":["sliding_attention","full_attention"],"max_position_embeddings":65536,"rope_scaling":{
             "rope_type":"yarn","factor":8.0,"attention_factor":1.2079441541679836,"beta_fast":32.0,"beta_slow":1.0,
             "original_max_position_embeddings":8192}})",
         {{"full_attention", 128, 128, 5e5, kHalf, "yarn", 65536, 8192, 3.0689259e-07, 1.2079441542},
          {"sliding_attention", 128, 128, 5e5, kHalf, "default", 65536, 65536, 2.4551407e-06}}},
        {"OLMo-3 without scaling: all alike",
         R"({"model_type":"olmo3","hidden_size":4096,"num_attention_heads":32,"rope_theta":500000,
             "layer_types":["sliding_attention","full_attention"],"max_position_embeddings":8192})",
         {{nullptr, 128, 128, 5e5, kHalf, "default", 8192, 8192, 2.4551407e-06}}},
        {"Phi-1.5 in its early form",
         R"({"model_type":"phi-msft","n_embd":2048,"n_head":32,"n_positions":2048,"rotary_dim":32})",
         {{nullptr, 64, 32, 1e4, kHalf, "default", 2048, 2048, 1.7782794e-04}}},
        {"Qwen2-Audio: a part that is nearly empty",
         R"({"model_type":"qwen2_audio","audio_config":{"d_model":1280},"text_config":{"model_type":"qwen2",
             "max_position_embeddings":8192,"rope_theta":10000,"use_mrope":false}})",
         {{nullptr, 128, 128, 1e4, kHalf, "default", 8192, 8192, k1e4At128}}},
        {"Qwen2.5-Omni: two levels, other parts with other values",
         R"({"model_type":"qwen2_5_omni","talker_config":{"head_dim":64,"rope_theta":5},"thinker_config":{
             "model_type":"qwen2_5_omni_thinker","audio_config":{"head_dim":64},"text_config":{
             "model_type":"qwen2_5_omni_text","hidden_size":3584,"num_attention_heads":28,"rope_theta":1000000.0,
             "max_position_embeddings":32768,"rope_scaling":{"mrope_section":[16,24,24],"rope_type":"default",
             "type":"default"}}},"token2wav_config":{"dit_config":{"head_dim":64,"rope_theta":10000.0}}})",
         {{nullptr, 128, 128, 1e6, kHalf, "default", 32768, 32768, k1e6At128}}},
        {"Qwen3-ASR: a word that is no pair layout",
         R"({"model_type":"qwen3_asr","thinker_config":{"model_type":"qwen3_asr_thinker","text_config":{
             "model_type":"qwen3_asr_text","head_dim":128,"rope_theta":1000000,"max_position_embeddings":65536,
             "rope_scaling":{"interleaved":true,"mrope_interleaved":true,"mrope_section":[24,20,20],
             "rope_type":"default","type":"default"}}}})",
         {{nullptr, 128, 128, 1e6, kHalf, "default", 65536, 65536, k1e6At128}}},
        {"Qwen2-VL with the old word",
         R"({"model_type":"qwen2_vl","hidden_size":1536,"num_attention_heads":12,"rope_theta":1000000.0,
             "max_position_embeddings":32768,"rope_scaling":{"type":"mrope","mrope_section":[16,24,24]}})",
         {{nullptr, 128, 128, 1e6, kHalf, "default", 32768, 32768, k1e6At128}}},
        {"VILA: llm_cfg",
         R"({"model_type":"llava_llama","hidden_size":2560,"llm_cfg":{"model_type":"llama","hidden_size":2560,
             "num_attention_heads":20,"max_position_embeddings":4096,"rope_scaling":null},
             "vision_tower_cfg":{"hidden_size":1152,"num_attention_heads":16}})",
         {{nullptr, 128, 128, 1e4, kHalf, "default", 4096, 4096, k1e4At128}}},
        {"Voxtral: another width in the audio part",
         R"({"model_type":"voxtral","hidden_size":3072,"audio_config":{"head_dim":64},"text_config":{
             "model_type":"llama","head_dim":128,"hidden_size":3072,"num_attention_heads":32,"rope_theta":100000000.0,
             "max_position_embeddings":131072}})",
         {{nullptr, 128, 128, 1e8, kHalf, "default", 131072, 131072, 1.3335214e-08}}},
        {"Persimmon: half by default",
         R"({"model_type":"persimmon","hidden_size":4096,"num_attention_heads":64,"max_position_embeddings":16384})",
         {{nullptr, 64, 32, 1e4, kHalf, "default", 16384, 16384, 1.7782794e-04}}},
        {"Jina-v3",
         R"({"model_type":"jina_embeddings_v3","hidden_size":1024,"num_attention_heads":16,
             "max_position_embeddings":8194})",
         {{nullptr, 64, 64, 2e4, kHalf, "default", 8194, 8194, 6.8136082e-05}}},
        {"RecurrentGemma: half of 256",
         R"({"model_type":"recurrent_gemma","hidden_size":2560,"num_attention_heads":10,
             "block_types":["recurrent","attention"]})",
         {{nullptr, 256, 128, 1e4, kHalf, "default", 0, 0, k1e4At128}}},
        {"MiniMax-M2: the width in channels wins",
         R"({"model_type":"minimax_m2","head_dim":128,"rotary_dim":64,"rope_theta":5000000,
             "max_position_embeddings":196608})",
         {{nullptr, 128, 64, 5e6, kHalf, "default", 196608, 196608, 3.2387155e-07}}},
        {"DeepSeek-VL2 small: latent attention switched off",
         R"({"model_type":"deepseek_vl_v2","language_config":{"model_type":"deepseek_v2","use_mla":false,
             "hidden_size":1280,"num_attention_heads":10,"qk_nope_head_dim":0,"qk_rope_head_dim":0,
             "max_position_embeddings":4096}})",
         {{nullptr, 128, 128, 1e4, kHalf, "default", 4096, 4096, k1e4At128}}},
        {"Command-A: a word for the layout that the family has",
         R"({"model_type":"cohere2","head_dim":128,"layer_types":["sliding_attention","full_attention"],
             "sliding_window":4096,"position_embedding_type":"rope_gptj","rope_theta":10000,
             "max_position_embeddings":131072})",
         {{"sliding_attention", 128, 128, 1e4, kInterleaved, "default", 131072, 131072, k1e4At128},
          {"no_rope", 128, 0, 0, kInterleaved, "none", 131072, 131072, 0}}},
        {"Phi-3.5-MoE: stated factors on cos and sin",
         R"({"model_type":"phimoe","hidden_size":32,"num_attention_heads":4,"rope_theta":10000.0,
             "max_position_embeddings":131072,"original_max_position_embeddings":4096,"rope_scaling":{
             "type":"longrope","short_factor":[1,1,1,1],"long_factor":[2,2,2,2],"short_mscale":1.25,
             "long_mscale":1.5}})",
         {{nullptr, 8, 8, 1e4, kHalf, "longrope", 131072, 4096, 1e-3, 1.25}}},
        {"Falcon-7B in its first form",
         R"({"model_type":"RefinedWebModel","hidden_size":4544,"n_head":71,"alibi":false})",
         {{nullptr, 64, 64, 1e4, kHalf, "default", 0, 0, k1e4At64}}},
        {"LLaVA without a part of its own",
         R"({"model_type":"llava","hidden_size":4096,"num_attention_heads":32,"max_position_embeddings":4096})",
         {{nullptr, 128, 128, 1e4, kHalf, "default", 4096, 4096, k1e4At128}}},
        {"Hunyuan: a fixed stretching under the name of a dynamic one",
         R"({"model_type":"hunyuan_v1_dense","head_dim":128,"rope_theta":10000.0,"max_position_embeddings":32768,
             "rope_scaling":{"type":"dynamic","alpha":1000.0,"factor":1.0}})",
         {{nullptr, 128, 128, 1e4, kHalf, "ntk_aware", 32768, 32768, k1e4At128 / 1000.0}}},
        {"a block for each kind of layer in a family that is not known",
         R"({"model_type":"never_heard_of","head_dim":64,"max_position_embeddings":8192,
             "layer_types":["sliding_attention","full_attention"],"rope_parameters":{
             "full_attention":{"rope_type":"linear","factor":2.0,"rope_theta":1000000.0},
             "sliding_attention":{"rope_type":"default","rope_theta":10000.0}}})",
         {{"full_attention", 64, 64, 1e6, kHalf, "linear", 8192, 8192, 1.5399265e-06 / 2},
          {"sliding_attention", 64, 64, 1e4, kHalf, "default", 8192, 8192, k1e4At64}}},
        {"latent attention in a family that is not known",
         R"({"model_type":"never_heard_of","qk_nope_head_dim":64,"qk_rope_head_dim":64,"rope_theta":10000,
             "max_position_embeddings":8192})",
         {{nullptr, 128, 64, 1e4, kInterleaved, "default", 8192, 8192, k1e4At64}}},
        {"Meta's Llama-2",
         R"({"dim":4096,"multiple_of":256,"n_heads":32,"n_layers":32,"norm_eps":1e-05,"vocab_size":-1})",
         {{nullptr, 128, 128, 1e4, kInterleaved, "default", 0, 0, k1e4At128}}},
        {"Meta's Llama-3.1: a switch, the rest is in the code",
         R"({"dim":4096,"n_heads":32,"rope_theta":500000.0,"use_scaled_rope":true})",
         {{nullptr, 128, 128, 5e5, kInterleaved, "llama3", 0, 8192, 3.0689259e-07}}},
        {"Llama-3.2-1B with its factor",
         R"({"dim":2048,"n_heads":32,"rope_theta":500000.0,"use_scaled_rope":true,"rope_scale_factor":32})",
         {{nullptr, 64, 64, 5e5, kInterleaved, "llama3", 0, 8192, 9.4183065e-08}}},
        {"a dialect: half-split by a switch, a part of the head",
         R"({"dim":1024,"n_heads":8,"head_dim":256,"rope_theta":10000000.0,"use_scaled_rope":false,"use_hf_rope":true,
             "partial_rotary_factor":0.25})",
         {{nullptr, 256, 64, 1e7, kHalf, "default", 0, 0, 1.6548171e-07}}},
        {"a dialect: the lists of longrope under other names",
         R"({"dim":16,"n_heads":2,"use_hf_rope":true,"max_position_embeddings":131072,"rope_theta":10000.0,
             "original_max_position_embeddings":4096,"rope_scaling_short_factor":[1,1,1,2],
             "rope_scaling_long_factor":[4,4,4,4]})",
         {{nullptr, 8, 8, 1e4, kHalf, "longrope", 131072, 4096, 5e-4, 1.1902380714}}},
        {"Mistral's own params.json",
         R"({"dim":5120,"n_heads":32,"head_dim":128,"rope_theta":1000000.0,"max_position_embeddings":262144,
             "yarn":{"factor":16.0,"alpha":1.0,"beta":32.0,"apply_scale":false,
             "original_max_position_embeddings":16384}})",
         {{nullptr, 128, 128, 1e6, kInterleaved, "yarn", 262144, 16384, k1e6At128 / 16}}},
    };
    return rows;
}

} // namespace

/// One row a model with the facts of its rotation; the files themselves are no part of the project.
class TestModelFacts : public QObject
{
    Q_OBJECT

private slots:
    void models_data();
    void models();
    void withoutRotation_data();
    void withoutRotation();
    void readings_data();
    void readings();
    void twoKindsOfTokens();
    void temperatures();
    void sections();
    void summary();
};

void TestModelFacts::models_data()
{
    QTest::addColumn<int>("row");
    for (std::size_t i = 0; i < ::models().size(); ++i)
        QTest::newRow(::models()[i].name) << static_cast<int>(i);
}

void TestModelFacts::models()
{
    QFETCH(int, row);
    const Model& model = ::models()[static_cast<std::size_t>(row)];
    const Result<ModelReading> reading = readModelConfig(model.json, "model");
    QVERIFY2(reading.hasValue(), reading ? "" : toEnglish(reading.error()).c_str());
    QCOMPARE(reading->configurations.size(), model.facts.size());
    for (std::size_t i = 0; i < model.facts.size(); ++i) {
        const RopeConfig& config = reading->configurations[i];
        const Fact& fact = model.facts[i];
        QCOMPARE(QString::fromStdString(config.layerType.value_or("")),
                 QString(fact.layerType ? fact.layerType : ""));
        QCOMPARE(config.headDim, fact.headDim);
        QCOMPARE(config.rotaryDim, fact.rotaryDim);
        QVERIFY(config.layout == fact.layout);
        QCOMPARE(std::string(info(config.rule).word), std::string(fact.rule));
        QCOMPARE(config.maxPositionEmbeddings.value_or(0), fact.length);
        QCOMPARE(trainingLength(config).value_or(0), fact.training);
        const FrequencyTable table = frequencyTable(config);
        QVERIFY(std::fabs(table.attentionFactor - fact.attentionFactor) < 1e-9);
        QVERIFY2(std::fabs(config.softmaxFactor - fact.softmaxFactor) < 1e-9,
                 qPrintable(QString::number(config.softmaxFactor, 'g', 12)));
        if (fact.rotaryDim == 0) {
            QVERIFY(table.scaled.empty());
            continue;
        }
        QCOMPARE(config.base, fact.base);
        double slowest = 0.0;
        for (const double theta : table.scaled)
            if (theta > 0.0)
                slowest = theta;
        QVERIFY2(std::fabs(slowest / fact.slowest - 1.0) < 1e-6,
                 qPrintable(QString::number(slowest, 'g', 12)));
    }
}

void TestModelFacts::withoutRotation_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::newRow("Kimi-K3: a rotary part that does not rotate") << QByteArray(
        R"({"model_type":"kimi_k3","text_config":{"model_type":"kimi_linear","qk_nope_head_dim":128,
                          "qk_rope_head_dim":64,"mla_use_nope":true}})");
    QTest::newRow("ESM: absolute by default") << QByteArray(R"({"model_type":"esm","hidden_size":768,
        "num_attention_heads":12,"rope_theta":10000.0})");
    QTest::newRow("Baichuan-13B: the other size has ALiBi")
        << QByteArray(R"({"model_type":"baichuan","hidden_size":5120,"num_attention_heads":40})");
    QTest::newRow("Nemotron-H: keys, and no rotation")
        << QByteArray(R"({"model_type":"nemotron_h","hidden_size":4096,"rope_theta":10000,"head_dim":128})");
    QTest::newRow("Granite 4 hybrid: nope")
        << QByteArray(R"({"model_type":"granitemoehybrid","hidden_size":1024,
        "num_attention_heads":16,"position_embedding_type":"nope","rope_theta":10000})");
}

void TestModelFacts::withoutRotation()
{
    QFETCH(QByteArray, json);
    const Result<ModelReading> reading = readModelConfig(json.toStdString(), "model");
    QVERIFY2(reading.hasValue(), reading ? "" : toEnglish(reading.error()).c_str());
    QVERIFY(reading->configurations.empty());
    QVERIFY(QString::fromStdString(toEnglish(reading->notes.front().text)).contains("no layer rotates"));
}

void TestModelFacts::readings_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("value"); ///< of the other reading; empty: no such note
    const QByteArray yarn =
        R"({"model_type":"llama","head_dim":128,"max_position_embeddings":262144,"rope_scaling":{
        "rope_type":"yarn","factor":64.0,"original_max_position_embeddings":4096%1}})";
    const auto row = [&](const char* name, const QByteArray& more, const char* field, const char* value) {
        QTest::newRow(name) << QByteArray(yarn).replace("%1", more) << field << value;
    };
    row("attention_factor 1", ",\"attention_factor\":1.0", "attention_factor", "1.415888");
    row("attention_factor null", ",\"attention_factor\":null", "attention_factor", "");
    row("both mscales", ",\"mscale\":1.0,\"mscale_all_dim\":1.0", "mscale", "1.415888");
    row("mscale_all_dim 0", ",\"mscale\":1.0,\"mscale_all_dim\":0.0", "mscale_all_dim", "");
    row("mscale alone, another", ",\"mscale\":0.5", "mscale", "1.207944");
    row("no mscale", "", "mscale", "");
    QTest::newRow("Persimmon's base") << QByteArray(R"({"model_type":"persimmon","hidden_size":4096,
        "num_attention_heads":64})") << "rope_theta"
                                      << "25000";
    QTest::newRow("Persimmon's base, stated") << QByteArray(R"({"model_type":"persimmon","hidden_size":4096,
        "num_attention_heads":64,"rope_theta":25000.0})")
                                              << "rope_theta"
                                              << "";
    QTest::newRow("DeepSeek-V2's factor on the logit") << QByteArray(R"({"model_type":"deepseek_v2",
        "rope_scaling":{"type":"yarn","factor":40,"mscale":0.707,"mscale_all_dim":0.707,
        "original_max_position_embeddings":4096}})") << "softmax_factor"
                                                       << "1.58963";
    QTest::newRow("DeepSeek-V4's factor on cos and sin")
        << QByteArray(R"({"model_type":"deepseek_v4","head_dim":512,
        "compress_ratios":[4],"rope_scaling":{"type":"yarn","factor":16,"original_max_position_embeddings":65536}})")
        << "attention_factor"
        << "1.277259";
    QTest::newRow("gpt-oss: not truncated")
        << QByteArray(R"({"model_type":"gpt_oss","head_dim":64,"rope_scaling":{
        "rope_type":"yarn","factor":32.0,"truncate":false,"original_max_position_embeddings":4096}})")
        << "truncate"
        << "llama.cpp";
}

void TestModelFacts::readings()
{
    QFETCH(QByteArray, json);
    QFETCH(QString, field);
    QFETCH(QString, value);
    const Result<ModelReading> reading = readModelConfig(json.toStdString(), "model");
    QVERIFY2(reading.hasValue(), reading ? "" : toEnglish(reading.error()).c_str());
    QString found;
    for (const Issue& note : reading->configurations.front().notes)
        if (note.severity == Severity::Warning && QString::fromStdString(note.field) == field)
            found += QString::fromStdString(toEnglish(note.text)) + '\n';
    if (value.isEmpty())
        QCOMPARE(found, QString());
    else
        QVERIFY2(found.contains(value), qPrintable(found));
}

void TestModelFacts::twoKindsOfTokens()
{
    const Result<ModelReading> reading = readModelConfig(
        R"({"model_type":"chatglm","hidden_size":4096,"num_attention_heads":32,"max_sequence_length":2048,
            "position_encoding_2d":true,"_name_or_path":"THUDM/chatglm-6b"})",
        "model");
    QVERIFY2(reading.hasValue(), reading ? "" : toEnglish(reading.error()).c_str());
    const RopeConfig& context = reading->configurations[0];
    const RopeConfig& generated = reading->configurations[1];
    QCOMPARE(context.name, std::string("THUDM/chatglm-6b (context tokens)"));
    QCOMPARE(generated.name, std::string("THUDM/chatglm-6b (generated tokens)"));
    QVERIFY(context.channels == ChannelScheme::First);
    QVERIFY(generated.channels == ChannelScheme::Last);
    QVERIFY(!context.layerType && !generated.layerType);
    const auto saysIds = [](const RopeConfig& config, const char* ids) {
        return std::any_of(config.notes.begin(), config.notes.end(), [&](const Issue& note) {
            return note.field == "position_encoding_2d" &&
                   toEnglish(note.text).find(ids) != std::string::npos;
        });
    };
    QVERIFY(saysIds(context, "(j, 0)"));
    QVERIFY(saysIds(generated, "g + 1"));
    // Without the switch it is a family of its own no more.
    const Result<ModelReading> second = readModelConfig(
        R"({"model_type":"chatglm","kv_channels":128,"position_encoding_2d":false})", "model");
    QCOMPARE(second->configurations.size(), std::size_t{1});
    QVERIFY(second->configurations[0].layout == Layout::Interleaved);
}

void TestModelFacts::temperatures()
{
    const auto last = [](const char* json) {
        Result<ModelReading> reading = readModelConfig(json, "model");
        if (!reading)
            qFatal("%s", toEnglish(reading.error()).c_str());
        return reading->configurations.back();
    };
    const RopeConfig llama4 = last(R"({"model_type":"llama4_text","no_rope_layers":[1,0],"attn_scale":0.1,
                                       "floor_scale":8192,"attn_temperature_tuning":4})");
    QVERIFY(llama4.temperature.rule == TemperatureRule::Llama4);
    QCOMPARE(llama4.temperature.referenceLength.value(), std::int64_t{8192});
    QVERIFY(last(R"({"model_type":"llama4_text","attn_temperature_tuning":false})").temperature.rule ==
            TemperatureRule::None);
    const char* ministral =
        R"({"model_type":"ministral3","head_dim":128,"rope_parameters":{"rope_type":"yarn",
        "factor":16.0,"llama_4_scaling_beta":0.1,"mscale":1.0,"mscale_all_dim":1.0,"rope_theta":1000000.0,
        "original_max_position_embeddings":16384}})";
    QVERIFY(last(ministral).temperature.rule == TemperatureRule::Ministral);
    QCOMPARE(last(ministral).temperature.referenceLength.value(), std::int64_t{16384});
    QCOMPARE(frequencyTable(last(ministral)).attentionFactor, 1.0);
    QVERIFY(last(R"({"model_type":"qwen","kv_channels":128,"seq_length":8192,"use_logn_attn":true})")
                .temperature.rule == TemperatureRule::LogN);
}

void TestModelFacts::sections()
{
    const Result<ModelReading> reading = readModelConfig(
        R"({"model_type":"qwen3_vl","text_config":{"head_dim":128,"rope_theta":5000000,"rope_scaling":{
            "mrope_interleaved":true,"mrope_section":[24,20,20],"rope_type":"default"}}})",
        "model");
    QVERIFY2(reading.hasValue(), reading ? "" : toEnglish(reading.error()).c_str());
    QCOMPARE(reading->configurations.front().mropeSection, (std::vector<int>{24, 20, 20}));
    QVERIFY(reading->configurations.front().isMropeInterleaved);
    QVERIFY(reading->configurations.front().layout == Layout::Half);
}

void TestModelFacts::summary()
{
    std::size_t facts = 0;
    for (const Model& model : ::models())
        facts += model.facts.size();
    std::printf("checked: %zu models with %zu kinds of layers\n", ::models().size(), facts);
    QVERIFY(::models().size() >= 45);
}

QTEST_APPLESS_MAIN(TestModelFacts)
#include "test_model_facts.moc"
