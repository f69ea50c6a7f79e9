#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dumps queries and keys before rotation of a Hugging Face model, as a file that Ropewalk opens.

    pip install torch transformers numpy
    python3 dump_tensors.py MODEL TEXT.txt --layer 5 [--tokens 512] [-o heads.safetensors]
    ropewalk render clusters --config MODEL/config.json --set tensors=heads.safetensors --set head=3 -o clusters.pdf

MODEL is a folder or a name that transformers knows. The file holds q [heads, tokens, head_dim] and k [key heads, tokens,
head_dim] of one layer as the model's own code hands them to its rotation. A model that hands over only the channels that
turn gives only those, and the script says so; set head_dim to that width then."""
import argparse
import json
import struct
import sys


def captured(model, tokens):
    """Runs the model once and gives, for each layer in turn, what its rotation took and gave: a list of dicts of
    q, k, rotated_q, rotated_k, each [heads, tokens, width]."""
    import torch
    calls = []
    modules = {type(module).__module__ for module in model.modules()}
    spied = []
    for name in sorted(modules):
        module = sys.modules[name]
        if not hasattr(module, "apply_rotary_pos_emb"):
            continue
        original = module.apply_rotary_pos_emb

        def spy(q, k, *rest, original=original, **named):
            turned = original(q, k, *rest, **named)
            calls.append({"q": q[0].detach().cpu(), "k": k[0].detach().cpu(),
                          "rotated_q": turned[0][0].detach().cpu(), "rotated_k": turned[1][0].detach().cpu()})
            return turned

        module.apply_rotary_pos_emb = spy
        spied.append((module, original))
    if not spied:
        sys.exit("this model's code has no apply_rotary_pos_emb; expected a model with rotary position embedding")
    try:
        with torch.no_grad():
            model(torch.tensor([tokens]), use_cache=False)
    finally:
        for module, original in spied:
            module.apply_rotary_pos_emb = original
    return calls


def layout_of(call):
    """Which channels the model's code turns together, found from what the turn leaves as long as it was; None where
    neither fits (a part of the channels, or a factor on them)."""
    before, after = call["q"].double(), call["rotated_q"].double()
    width = before.shape[-1]
    for name, a, b in (("half", slice(0, width // 2), slice(width // 2, width)),
                       ("interleaved", slice(0, width, 2), slice(1, width, 2))):
        lengths = [x[..., a] ** 2 + x[..., b] ** 2 for x in (before, after)]
        if (lengths[0] - lengths[1]).abs().max() <= 1e-2 * lengths[0].max():
            return name
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("text")
    parser.add_argument("--layer", type=int, required=True)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("-o", "--output", default="heads.safetensors")
    arguments = parser.parse_args()
    import numpy
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
    tokenizer = AutoTokenizer.from_pretrained(arguments.model)
    with open(arguments.text, encoding="utf-8") as file:
        tokens = tokenizer(file.read()).input_ids[:arguments.tokens]
    model = AutoModelForCausalLM.from_pretrained(arguments.model, dtype=getattr(torch, arguments.dtype))
    calls = captured(model, tokens)
    if not 0 <= arguments.layer < len(calls):
        sys.exit(f"layer is {arguments.layer}; {len(calls)} layers rotate, expected 0 to {len(calls) - 1}")
    call = calls[arguments.layer]
    config = AutoConfig.from_pretrained(arguments.model)
    config = getattr(config, "text_config", None) or config
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    width = call["q"].shape[-1]
    if width != head_dim:
        print(f"the model's code rotates {width} of {head_dim} channels and hands over only those")
    arrays = {name: numpy.ascontiguousarray(call[name].float().numpy().astype(numpy.float16)) for name in ("q", "k")}
    if not all(numpy.isfinite(array).all() for array in arrays.values()):
        arrays = {name: numpy.ascontiguousarray(call[name].float().numpy()) for name in ("q", "k")}
    metadata = {"model": arguments.model, "layer": str(arguments.layer), "rope": "before rotation",
                "positions": f"0 to {len(tokens) - 1}", "weights": arguments.dtype,
                "tokens": json.dumps([tokenizer.decode([token]) for token in tokens], ensure_ascii=False)}
    layout = layout_of(call)
    if layout:
        metadata["layout"] = layout
    base = getattr(config, "rope_theta", None) or (getattr(config, "rope_parameters", None) or {}).get("rope_theta")
    if base:
        metadata["rope_theta"] = f"{base:g}"
    header, offset = {"__metadata__": metadata}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": {2: "F16", 4: "F32"}[array.itemsize], "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header, ensure_ascii=False).encode("utf-8")
    text += b" " * (-len(text) % 8)
    with open(arguments.output, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            file.write(array.tobytes())
    print(f"{arguments.output}: layer {arguments.layer}, {arrays['q'].shape[0]} query heads, {arrays['k'].shape[0]} key "
          f"heads, {len(tokens)} tokens, {width} channels")


if __name__ == "__main__":
    main()
