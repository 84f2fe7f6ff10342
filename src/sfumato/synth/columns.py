"""What every generator does: draw levels in proportion to weights, and write levels and names as columns."""

import tomllib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
FIGURES = tomllib.loads(Path(__file__).with_name("figures.toml").read_text(encoding="utf-8"))
"""The round numbers that the data sets are drawn from."""


def pick(weights: Floats, row: Integers, rng: np.random.Generator) -> Integers:
    """A column for each entry of `row`, with chances in proportion to the weights of that row."""
    # Row r of the cumulated shares is moved to (r, r + 1], so that one search serves every row.
    steps = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True) + np.arange(len(weights))[:, None]
    found = np.searchsorted(steps.ravel(), row + rng.random(row.size), side="right") - row * weights.shape[1]
    return np.asarray(np.minimum(found, weights.shape[1] - 1), dtype=np.int64)


def levels(codes: tuple[str, ...], index: Integers, missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """A column of codes by their number, null where missing."""
    return pa.array(codes).take(pa.array(index, mask=missing))


def names(letter: str, number: Integers) -> pa.Array:
    """A column of names: a letter and eight digits."""
    return pc.binary_join_element_wise(letter, pc.utf8_lpad(pc.cast(pa.array(number), pa.string()), 8, "0"), "")
