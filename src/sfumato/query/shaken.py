"""Shaken: the numbers of a table as other draws of the noise would have shown them, were the published ones the truth.

Each number is drawn by itself from the law that its margin is from: the size of the error is the smallest that holds at
a level that is drawn evenly, so that about one draw in ten lies beyond the 90% margin, and either sign is as likely.
Nothing goes into it but published numbers and a seed that everybody knows.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np

from sfumato.query.estimate import Estimate, Figure
from sfumato.query.portable import Portable
from sfumato.release import Withheld

DRAWS = 10
_LEAST, _MOST = 0.0005, 0.9995
"""Levels further out than these are not drawn: a law has no end, and a picture has."""
_ALIKE = 1e-9


@dataclass(frozen=True)
class ShakenRow:
    """A row: its code, its label, its published number, and what other draws would have shown; None without a law."""

    code: str
    label: str
    published: Figure
    draws: tuple[float | None, ...]


def shaken(table: Portable, column: str | None = None, count: int = DRAWS) -> tuple[ShakenRow, ...]:
    """The rows of a table, or of one of its columns, as that many other draws of the noise would have shown them."""
    axis, step = table.axes[0], float(table.product.subject.step)
    seed = (
        f"{' '.join(release.id for release in table.releases)} {table.product.subject.name} {column} {table.universe}"
    )
    rows = []
    for flat, code, label in zip(table.rows_of(column), axis.codes, axis.labels, strict=True):
        published = table.figure(int(flat))
        draws = np.random.default_rng([*sha256(f"{seed} {code}".encode()).digest()])
        levels: list[float] = draws.uniform(_LEAST, _MOST, count).tolist()
        signs: list[float] = draws.choice([-1.0, 1.0], count).tolist()
        rows.append(ShakenRow(code, label, published, tuple(_moved(published, levels, signs, step))))
    return tuple(rows)


def can_be_drawn(published: Figure, table: Portable) -> bool:
    """Whether other draws of a number of a table can be shown: the law of its noise is stated."""
    return _one(published, _MOST, 1.0, float(table.product.subject.step)) is not None


def _moved(published: Figure, levels: Sequence[float], signs: Sequence[float], step: float) -> list[float | None]:
    return [_one(published, level, sign, step) for level, sign in zip(levels, signs, strict=True)]


def _one(published: Figure, level: float, sign: float, step: float) -> float | None:
    """A number moved by an error of noise alone; none where its law is not stated or not the same to both sides."""
    if not isinstance(published, Estimate) or isinstance(published.noise_variance, Withheld):
        return None
    below, above = replace(published.by_noise, law=published.law.drawn).reach(level)
    if not math.isfinite(above) or abs(above - below) > _ALIKE * max(above, below, 1.0):
        return None
    # A margin of whole steps reaches half a step further than the error itself.
    return float(published.value) + sign * math.floor(above / step + _ALIKE) * step
