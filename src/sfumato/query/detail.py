"""Detail: what is to be known of one number: its errors apart, what was summed, and how it may be used."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sfumato.query.estimate import IMPOSSIBLE, Estimate, Figure
from sfumato.query.source import Source
from sfumato.query.wording import Sentence
from sfumato.release import NoNumber, Product, Withheld, stated
from sfumato.schema import Box

SMALL, RARE = 3, 0.25
"""The steps up to which a number may be noise alone, and the variance up to which noise is mostly 0."""


@dataclass(frozen=True)
class Detail:
    """A number with its errors, or why there is none, where it stands, and sentences about it."""

    estimate: Figure
    labels: tuple[str, ...]
    sentences: tuple[Sentence, ...]

    def __repr__(self) -> str:
        number = self.estimate.code if isinstance(self.estimate, NoNumber) else repr(self.estimate)
        heads = [one for one in (", ".join(self.labels), number) if one]
        return "\n".join([*heads, *(sentence.english() for sentence in self.sentences)])


def detail_of(source: Source, figure: Figure, labels: tuple[str, ...], *, overlaps: bool) -> Detail:
    """What is to be known of a cell; `overlaps` where groups of its table share records."""
    if figure is IMPOSSIBLE:
        return Detail(figure, labels, (Sentence("impossible"),))
    if isinstance(figure, NoNumber):
        return Detail(figure, labels, (Sentence("missing", {"reason": figure.reason.rstrip(".")}),))
    return Detail(figure, labels, tuple(_sentences(source, figure, overlaps=overlaps)))


def _sentences(source: Source, estimate: Estimate, *, overlaps: bool) -> Iterator[Sentence]:
    """What ± means here, why it is negative, whether it may be added, and how it was protected."""
    product = source.product
    yield _of_error(estimate)
    noise = stated(replace(estimate, sampling_variance=0.0).moe(0.90))
    if estimate.value < 0 and noise is not None:
        yield Sentence("negative", {"moe": noise})
    if moved := _moved(product, estimate):
        yield Sentence("maybe_noise", {"moved": moved, "cells": product.cells(Box())})
    if not product.subject.additive:
        yield Sentence("add_never")
    else:
        yield Sentence("add_overlap" if overlaps else "add")
    if estimate.cells:
        promise, many = source.release.manifest.promise, estimate.cells > 1
        key = ("protected" if many else "protected_one") if promise.formal else "unprotected"
        said: dict[str, float | str] = {"mechanism": product.subject.mechanism, "loss": promise.loss_words}
        yield Sentence(key, said | ({"cells": estimate.cells} if many else {}))


def _moved(product: Product, estimate: Estimate) -> int:
    """About how many cells of a table noise moved, where that is worth saying of a number; else 0.

    Noise that is nearly always 0 gives a cell a small error, and yet moves some cells of a large table by a whole step;
    who looks at cells that are not 0 meets those first. Noise in whole steps that is mostly 0 moves a cell with a
    probability of nearly its variance, and never more.
    """
    variance = product.even
    if variance is None:
        return 0
    small = 0 < abs(estimate.value) <= SMALL * float(product.subject.step)
    rare = variance < RARE and estimate.cells * variance < RARE
    return int(variance * product.cells(Box())) if small and rare else 0


def _of_error(estimate: Estimate) -> Sentence:
    moe = estimate.moe(0.90)
    if isinstance(moe, Withheld):
        return Sentence("error_withheld", {"reason": moe.reason.rstrip(".")})
    if isinstance(estimate.sampling_variance, Withheld):
        return Sentence("error_alone", {"moe": moe, "reason": estimate.sampling_variance.reason.rstrip(".")})
    if estimate.variance == 0:
        return Sentence("error_none")
    if estimate.sampling_variance == 0:
        return Sentence("error_noise", {"moe": moe})
    percent = round(100 * float(estimate.noise_share or 0.0))
    said: dict[str, float | str] = {"value": estimate.value, "moe": moe, "percent": percent, "unit": estimate.unit}
    return Sentence("error_both", said)
