"""Detail: what is to be known of one number: its errors apart, what was summed, and how it may be used."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sfumato.errors import QueryError
from sfumato.query.estimate import Estimate
from sfumato.query.sentences import Sentence
from sfumato.query.tails import z_score
from sfumato.release import Independent, Product, Withheld
from sfumato.release.products import Tabled
from sfumato.schema import Box

if TYPE_CHECKING:
    from sfumato.query.crosstab import Crosstab, Key

SMALL, RARE = 3, 0.25
"""The steps up to which a number may be noise alone, and the variance up to which noise is mostly 0."""


@dataclass(frozen=True)
class Detail:
    """A number with its errors apart; errors, shares and intervals are None where they are withheld."""

    estimate: Estimate
    labels: tuple[str, ...]
    se: float | None
    se_noise: float | None
    se_sampling: float | None
    noise_share: float | None
    sampling_share: float | None
    cells: int
    interval90: tuple[float, float] | None
    interval95: tuple[float, float] | None
    sentences: tuple[Sentence, ...]

    def __repr__(self) -> str:
        heads = [", ".join(self.labels), repr(self.estimate)]
        return "\n".join([*(one for one in heads if one), *(one.english() for one in self.sentences)])


def detail_of(table: "Crosstab", key: "Key") -> Detail:
    """What is to be known of the cell that some codes or labels name."""
    place = table.place(key)
    estimate = table.at(place)
    share = estimate.noise_share
    return Detail(
        estimate,
        tuple(axis.labels[index] for axis, index in zip(table.axes, place, strict=True)),
        _stated(estimate.se),
        _stated(estimate.noise_se),
        _stated(estimate.sampling_se),
        share,
        None if share is None else 1 - share,
        estimate.cells,
        _interval(estimate, 0.90),
        _interval(estimate, 0.95),
        tuple(_sentences(table, estimate)),
    )


def _stated(error: float | Withheld) -> float | None:
    return None if isinstance(error, Withheld) else error


def _interval(estimate: Estimate, level: float) -> tuple[float, float] | None:
    try:
        return estimate.interval(level)
    except QueryError:
        return None


def _sentences(table: "Crosstab", estimate: Estimate) -> Iterator[Sentence]:
    """What ± means here, why it is negative, whether it may be added, and how it was protected."""
    yield _of_error(estimate)
    noise = estimate.noise_se
    if estimate.value < 0 and not isinstance(noise, Withheld):
        yield Sentence("negative", {"moe": z_score(0.90) * noise})
    if moved := _moved(table.product, estimate):
        yield Sentence("maybe_noise", {"moved": moved, "cells": table.product.cells(Box())})
    if not table.product.subject.additive:
        yield Sentence("add_never")
    else:
        yield Sentence("add_overlap" if any(axis.overlaps for axis in table.axes) else "add")
    if estimate.cells:
        said = {"mechanism": table.product.subject.mechanism, "loss": table.engine.release.manifest.promise.loss_words}
        many: dict[str, float | str] = {"cells": estimate.cells}
        yield Sentence("protected", many | said) if estimate.cells > 1 else Sentence("protected_one", dict(said))


def _moved(product: Product, estimate: Estimate) -> int:
    """About how many cells of a table noise moved, where that is worth saying of a number; else 0.

    Noise that is nearly always 0 gives a cell a small error, and yet moves some cells of a large table by a whole step;
    who looks at cells that are not 0 meets those first. Noise in whole steps that is mostly 0 moves a cell with a
    probability of nearly its variance, and never more.
    """
    if not isinstance(product, Tabled) or not isinstance(product.uncertainty, Independent):
        return 0
    variance = product.uncertainty.variance
    small = 0 < abs(estimate.value) <= SMALL * float(product.subject.step)
    rare = variance < RARE and estimate.cells * variance < RARE
    return int(variance * product.cells(Box())) if small and rare else 0


def _of_error(estimate: Estimate) -> Sentence:
    moe = estimate.moe(0.90)
    if estimate.cells == 0:
        return Sentence("impossible")
    if isinstance(moe, Withheld):
        return Sentence("error_withheld", {"reason": moe.reason.rstrip(".")})
    if moe == 0:
        return Sentence("error_none")
    if estimate.sampling_variance == 0:
        return Sentence("error_noise", {"moe": moe})
    percent = round(100 * float(estimate.noise_share or 0.0))
    said: dict[str, float | str] = {"value": estimate.value, "moe": moe, "percent": percent, "unit": estimate.unit}
    return Sentence("error_both", said)
