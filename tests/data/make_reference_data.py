#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Picks the numbers that the tests compare with out of the project's reference file, and writes reference.json.

Never run by the build or the tests:  make_reference_data.py PATH/TO/rope-reference.json
The reference values were computed with 50 digits by a program of their own, from none of Ropewalk's sources.
"""
import json
import pathlib
import sys

# Entry -> the values that a test reads. What is not built yet is left out.
WANTED = {
    "inv_freq/plain": ["inv_freq"],
    "inv_freq/linear": ["inv_freq"],
    "inv_freq/ntk_aware": ["inv_freq", "new_base"],
    "inv_freq/yarn": ["low_raw", "high_raw", "ramp", "inv_freq", "attention_factor", "score_multiplier"],
    "inv_freq/llama3": ["inv_freq", "freq_factors_gguf_rope_freqs"],
    "inv_freq/partial_rotary": ["rotary_dim", "inv_freq"],
    "inv_freq/dynamic_ntk": ["new_base", "inv_freq"],
    "qwen1_dynamic_ntk": ["rows"],
    "inv_freq/ntk_by_parts_paper": ["gamma", "inv_freq"],
    "inv_freq/longrope": ["inv_freq", "attention_factor"],
    "inv_freq/rope_id": ["inv_freq", "cycles_in_T"],
    "inv_freq/proportional": ["inv_freq", "inv_freq_first_64", "n_rotated_pairs", "n_zero_pairs"],
    "cos_sin/plain": ["rows"],
    "cos_sin/rope_id": ["rows"],
    "cos_sin/yarn_scaled": ["attention_factor", "rows"],
    "rotate/interleaved": ["y"],
    "rotate/half": ["y"],
    "rotate/partial_half": ["y"],
    "rotate/partial_interleaved": ["y"],
    "rotate/quarters_1_3_rope_id": ["y", "inv_freq"],
    "permutation": ["perm", "inv"],
    "score": ["rows"],
    "decay/base_lower_bound": ["rows"],
    "decay/roformer_bound": ["rows"],
    "decay/sum_cos": ["rows"],
    "decay/sum_cos_partial": ["rows"],
    "decay/gaussian_stats": ["rows"],
    "decay/first_negative": ["rows"],
    "decay/xpos": ["zeta", "rows"],
    "decay/sum_cos_integral_limit": ["rows"],
    "decay/ci_first_zero": ["x0"],
    "temperature/rope_id": ["rows"],
    "temperature/yarn": ["rows"],
    "temperature/deepseek": ["rows"],
    "temperature/llama4": ["rows"],
    "temperature/log_n": ["rows"],
    "temperature/longrope": ["rows"],
    "entropy/needle": ["rows"],
    "float_error/float32_inv_freq_from_double": ["rows"],
    "float_error/float32_iterated_ggml_cpu": ["rows"],
    "float_error/bf16_positions_only": ["rows"],
    "float_error/bf16_positions_inv_freq_and_product": ["rows"],
    "float_error/fp16_positions_inv_freq_and_product": ["rows"],
    "float_error/bf16_position_steps": ["rows", "first_not_representable", "fp16_max_finite"],
    "other/sinusoidal_inner_product": ["rows"],
    "other/t5_buckets": ["rows"],
    "other/t5_float32_differences": ["differences"],
    "other/alibi_slopes": ["slopes"],
    "other/deberta_v2_log_bucket": ["rows"],
    "clustering/toy": ["silhouette_samples", "silhouette", "davies_bouldin"],
    "clustering/rope_toy": ["keys", "queries", "silhouette", "davies_bouldin"],
    "clustering/centroid_shrink": ["rows"],
    "in_distribution": ["cycles_in_T", "n_pairs_at_least_one_cycle", "critical_dimension", "rows"],
    "in_distribution/scaling_law": ["critical_dimension", "beta_1", "beta_2", "beta_3", "T_extra_for_base_1e6",
                                    "T_extra_for_base_1e4"],
}


def is_wanted(entry):
    return entry["what"] in WANTED


def main():
    source = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    lines = []
    for entry in filter(is_wanted, source["entries"]):
        values = {key: entry["values"][key] for key in WANTED[entry["what"]] if key in entry["values"]}
        lines.append(json.dumps({"what": entry["what"], "params": entry["params"], "values": values},
                                ensure_ascii=False))
    text = '{"from": "rope-reference.json by make_reference_data.py",\n "entries": [\n' + ",\n".join(lines) + "\n]}\n"
    pathlib.Path(__file__).with_name("reference.json").write_text(text, encoding="utf-8")
    print(f"{len(lines)} entries, {len(text)} bytes")


if __name__ == "__main__":
    main()
