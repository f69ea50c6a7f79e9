#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes reference.json, the frequency vectors that the window compares a live configuration with, from the project's
reference values (made with mpmath at 50 digits, independent of this program). Run by hand, never by the build:
    python3 make_reference.py ../../shared/reference/rope-reference.json > reference.json"""
import json
import sys

entries = []
for entry in json.load(open(sys.argv[1]))["entries"]:
    what, p, values = entry["what"], entry["params"], entry["values"]
    rule = {"inv_freq/plain": "default", "inv_freq/linear": "linear", "inv_freq/ntk_aware": "ntk_aware",
            "inv_freq/yarn": "yarn", "inv_freq/llama3": "llama3", "inv_freq/partial_rotary": "default"}.get(what)
    if rule is None:
        continue
    config = {"rotary_dim": p.get("d", values.get("rotary_dim")), "base": p["base"], "rule": rule}
    for key in ("factor", "beta_fast", "beta_slow", "truncate", "low_freq_factor", "high_freq_factor"):
        if key in p:
            config[key] = p[key]
    length = p.get("L", p.get("original_max_position_embeddings"))
    if length:
        config["training_length"] = length
    row = {"name": what + (" " + p["name"] if "name" in p else ""), **config, "inv_freq": values["inv_freq"]}
    if "attention_factor" in values:
        row["attention_factor"] = values["attention_factor"]
    entries.append(row)
print("[")
print(",\n".join(json.dumps(row, separators=(",", ":")) for row in entries))
print("]")
