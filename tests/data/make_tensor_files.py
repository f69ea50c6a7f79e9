#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the small files of tensors/ that the tests read back: by NumPy, PyTorch and the safetensors package themselves.

Never run by the build or the tests:  pip install numpy torch safetensors;  python3 make_tensor_files.py
q[…, t, c] = ((3h + 2t + c) mod 16 - 8)/4 and k[…, t, c] = ((h + 5t + 3c) mod 16 - 8)/2, exact in every type; h counts the
heads of all batches."""
import os

import numpy
import torch
from safetensors.torch import save_file

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tensors")


def grid(a, b, c, step, heads):
    h, t, channel = numpy.meshgrid(numpy.arange(heads), numpy.arange(5), numpy.arange(4), indexing="ij")
    return ((a * h + b * t + c * channel) % 16 - 8) / step


def q(heads):
    return grid(3, 2, 1, 4, heads)


def k(heads):
    return grid(1, 5, 3, 2, heads)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    os.chdir(FOLDER)
    numpy.save("q.npy", q(1)[0].astype(numpy.float16))
    numpy.save("k.npy", k(1)[0].astype(numpy.float16))
    with open("version2.npy", "wb") as file:
        numpy.lib.format.write_array(file, q(4).astype(numpy.float32), version=(2, 0))
    numpy.save("fortran.npy", numpy.asfortranarray(q(1)[0].astype(numpy.float32)))
    numpy.save("big_endian.npy", q(1)[0].astype(">f4"))
    numpy.save("whole.npy", (4 * q(1)[0]).astype(numpy.int32))
    numpy.savez("heads.npz", q=q(4).astype(numpy.float32), k=k(2).astype(numpy.float32))
    numpy.savez_compressed("batches.npz", query=q(6).reshape(2, 3, 5, 4), key=k(2).reshape(2, 1, 5, 4))
    save_file({"q": torch.tensor(q(4)).bfloat16(), "k": torch.tensor(k(2)).bfloat16(),
               "positions": torch.arange(5)}, "bfloat16.safetensors",
              {"model": "a model", "layer": "7", "layout": "interleaved", "rope_theta": "10000", "weights": "bfloat16",
               "tokens": '["a", "b", "c", "d", "e"]'})


if __name__ == "__main__":
    main()
