#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes colour_maps.json: the colour tables of maps, 256 colours each. Run by hand in this folder, never by the build:
    pip install numpy matplotlib; python3 make_colour_maps.py
viridis and cividis are published tables, taken from matplotlib. The diverging ones go through the colours of
tokens.json, evened in OKLab so that both sides are equally light. The cyclic one is a circle of hues of CIELAB at one
lightness and one chroma."""
import json

import numpy as np
from matplotlib import colormaps

STEPS = 256
TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
                   [0.0193339, 0.1191920, 0.9503041]])
WHITE = TO_XYZ.sum(axis=1)
OK_FROM_RGB = np.array([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
                        [0.0883024619, 0.2817188376, 0.6299787005]])
OK_LAB = np.array([[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
                   [0.0259040371, 0.7827717662, -0.8086757660]])


def linear(colour):
    value = np.array([int(colour[i:i + 2], 16) for i in (1, 3, 5)]) / 255.0
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def written(rgb):
    """Hex of a linear colour; one outside what a screen shows is a mistake of this script."""
    assert rgb.min() > -2e-3 and rgb.max() < 1.002, rgb
    rgb = np.clip(rgb, 0.0, 1.0)
    value = np.where(rgb <= 0.0031308, 12.92 * rgb, 1.055 * rgb ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{int(round(part * 255)):02X}" for part in value)


def published(name):
    return ["#" + "".join(f"{int(round(part * 255)):02X}" for part in row) for row in colormaps[name].colors]


def diverging(anchors):
    lab = np.array([OK_LAB @ np.cbrt(OK_FROM_RGB @ linear(colour)) for colour in anchors])
    middle = len(anchors) // 2
    lab[middle, 1:] = 0.0
    lab[:, 0] = (lab[:, 0] + lab[::-1, 0]) / 2
    at = np.linspace(0.0, len(anchors) - 1.0, STEPS)
    table = np.array([np.interp(at, np.arange(len(anchors)), lab[:, k]) for k in range(3)]).T
    colours = []
    for row in table:
        # Where the evened lightness has no room for the chroma, the chroma gives way.
        for share in np.linspace(1.0, 0.0, 201):
            rgb = np.linalg.inv(OK_FROM_RGB) @ (np.linalg.inv(OK_LAB) @ (row * [1.0, share, share])) ** 3
            if rgb.min() >= 0.0 and rgb.max() <= 1.0:
                break
        colours.append(written(rgb))
    return colours


def cyclic(lightness, chroma):
    colours = []
    for step in range(STEPS):
        angle = 2.0 * np.pi * step / STEPS
        y = (lightness + 16.0) / 116.0
        f = np.array([y + chroma * np.cos(angle) / 500.0, y, y - chroma * np.sin(angle) / 200.0])
        xyz = np.where(f > 6 / 29, f ** 3, 3 * (6 / 29) ** 2 * (f - 4 / 29)) * WHITE
        colours.append(written(np.linalg.inv(TO_XYZ) @ xyz))
    return colours


def main():
    with open("tokens.json", encoding="utf-8") as file:
        tokens = json.load(file)
    tables = {
        "source": {
            "viridis": "S. van der Walt and N. Smith, matplotlib 1.5 (CC0)",
            "cividis": "J. R. Nuñez, C. R. Anderton and R. S. Renslow, PLOS ONE 13(7), 2018, e0199239; table of matplotlib",
            "diverging": "the diverging colours of tokens.json, evened in OKLab",
            "cyclic": "CIELAB, L* = 68, C*ab = 36, all hues",
        },
        "viridis": published("viridis"),
        "cividis": published("cividis"),
        "diverging_light": diverging(tokens["light"]["diverging"]),
        "diverging_dark": diverging(tokens["dark"]["diverging"]),
        "cyclic": cyclic(68.0, 36.0),
    }
    with open("colour_maps.json", "w", encoding="utf-8") as file:
        rows = [f'  "source": {json.dumps(tables.pop("source"), ensure_ascii=False)}']
        for name, colours in tables.items():
            assert len(colours) == STEPS
            lines = [", ".join(f'"{colour}"' for colour in colours[i:i + 8]) for i in range(0, STEPS, 8)]
            rows.append(f'  "{name}": [\n    ' + ",\n    ".join(lines) + "\n  ]")
        file.write("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
