"""Detail: what is to be known of one number: its errors apart, what was summed, and how it may be used."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sfumato.foreign_text import without_stop
from sfumato.query.estimate import IMPOSSIBLE, Estimate, Figure
from sfumato.query.source import Source
from sfumato.query.wording import Reason, Sentence
from sfumato.release import NoNumber, Product, Withheld, stated
from sfumato.schema import Box

PLAIN = {"alone": "error_alone", "noise": "error_noise", "both": "error_both"}
SHARE = {"alone": "error_alone_share", "noise": "error_noise_share", "both": "error_both_share"}
"""What is said of the error of a number, and of that of a percentage."""
CUT = {
    "error_noise": "error_noise_cut",
    "error_noise_share": "error_noise_share_cut",
    "error_both": "error_both_cut",
    "error_both_share": "error_both_share_cut",
    "error_sided": "error_sided_cut",
}
"""The same of numbers that leave out what no margin counts."""
ALIKE = 0.01
"""Of an interval: how much its middle may be off the number while its sides are called equal."""
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
        return Detail(figure, labels, (Sentence("missing", {"reason": without_stop(figure.reason)}),))
    return Detail(figure, labels, tuple(_sentences(source, figure, overlaps=overlaps)))


def detail_of_share(source: Source, figure: Figure, labels: tuple[str, ...], part: Figure, whole: Figure) -> Detail:
    """What is to be known of a percentage: its own error, and the numbers that it is made of."""
    if isinstance(figure, NoNumber) or isinstance(part, NoNumber) or isinstance(whole, NoNumber):
        return detail_of(source, figure, labels, overlaps=False)
    if figure.value == 1 and figure.variance == 0:
        return Detail(figure, labels, (_made_of(part, whole), Sentence("whole_share")))
    found = [_made_of(part, whole), _of_error(figure, SHARE)]
    noise = stated(figure.by_noise.moe(0.90))
    if figure.value < 0 and noise is not None:
        found.append(Sentence("negative_share", {"moe": 100 * noise}))
    return Detail(figure, labels, (*found, *longer_side(figure), Sentence("add_share")))


def detail_of_mean(source: Source, figure: Figure, labels: tuple[str, ...], amount: Figure, number: Figure) -> Detail:
    """What is to be known of a mean: the numbers that it is made of, its own error, and that means do not add up."""
    if isinstance(figure, NoNumber) or isinstance(amount, NoNumber) or isinstance(number, NoNumber):
        return detail_of(source, figure, labels, overlaps=False)
    margins = stated(amount.moe(0.90)), stated(number.moe(0.90))
    key = "mean_of" if None not in margins else "mean_of_withheld"
    said: dict[str, float | str] = {"part": amount.value, "part_moe": margins[0] or 0.0, "unit": amount.unit}
    said |= {"whole": number.value, "whole_moe": margins[1] or 0.0, "records": number.unit}
    return Detail(figure, labels, (Sentence(key, said), _of_error(figure), *longer_side(figure), Sentence("add_mean")))


def _made_of(part: Estimate, whole: Estimate) -> Sentence:
    """The numbers behind a percentage, with their errors."""
    margins = stated(part.moe(0.90)), stated(whole.moe(0.90))
    key = "share_of" if None not in margins else "share_of_withheld"
    said = {"part": part.value, "part_moe": margins[0] or 0.0, "whole": whole.value, "whole_moe": margins[1] or 0.0}
    return Sentence(key, {**said, "unit": part.unit})


def longer_side(estimate: Estimate) -> Iterator[Sentence]:
    """What ± is where the interval is longer to one side."""
    if isinstance(estimate.noise_variance, Withheld):
        return
    (below, above), (low, high) = estimate.reach(0.90), estimate.interval(0.90)
    if abs(above - below) > ALIKE * (above + below):
        yield Sentence("longer_side")
    if low > estimate.value - below or high < estimate.value + above:
        yield Sentence("cut_share")


def _sentences(source: Source, estimate: Estimate, *, overlaps: bool) -> Iterator[Sentence]:
    """What ± means here, why it is negative, whether it may be added, and how it was protected."""
    product = source.product
    yield _of_error(estimate)
    yield from longer_side(estimate)
    noise = stated(estimate.by_noise.moe(0.90))
    if estimate.value < 0 and noise is not None:
        low, high = estimate.interval(0.90)
        if product.subject.nonnegative and high < 0:
            yield Sentence("impossible_interval", {"low": low, "high": high})
        else:
            yield Sentence("negative", {"moe": noise})
    if moved := _moved(product, estimate):
        yield Sentence("maybe_noise", {"moved": moved, "cells": product.cells(Box())})
    if not product.subject.additive:
        yield Sentence("add_never")
    else:
        yield Sentence("add_overlap" if overlaps else "add")
    if estimate.cells:
        promise, many = source.release.manifest.promise, estimate.cells > 1
        one_each = "protected" if many else "protected_one"
        key = one_each if product.noise_of_its_own else "protected_tables"
        if not promise.formal:
            key = "unprotected_exact" if product.exact else "unprotected"
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


def _of_error(estimate: Estimate, keys: Mapping[str, str] = PLAIN) -> Sentence:
    """What ± means here, or how far the interval goes where it is longer to one side; of a share in percentage points.

    Where the number leaves out what no margin counts, only what is counted lies in it.
    """
    said = _of_stated_error(estimate, keys)
    if said.key in set(keys.values()) - {keys["alone"]}:
        if keys is PLAIN and any(longer_side(estimate)):
            low, high = estimate.interval(0.90)
            said = Sentence("error_sided", {"low": low, "high": high})
        if estimate.caveats.unbought:
            return Sentence(CUT[said.key], said.values)
    return said


def _of_stated_error(estimate: Estimate, keys: Mapping[str, str]) -> Sentence:
    """What ± means here, whatever is left out."""
    moe, times = estimate.moe(0.90), 100 if keys is SHARE else 1
    if isinstance(moe, Withheld):
        told = moe.in_full if estimate.as_measured else moe.reason
        key = "error_withheld_made" if moe.of_cell and not estimate.as_measured else "error_withheld"
        return Sentence(key, {"reason": Reason(told)})
    if isinstance(estimate.sampling_variance, Withheld):
        reason = Reason(estimate.sampling_variance.reason)
        return Sentence(keys["alone"], {"moe": times * moe, "reason": reason})
    if estimate.variance == 0:
        return Sentence("error_none")
    if estimate.sampling_variance == 0:
        return Sentence(keys["noise"], {"moe": times * moe})
    said: dict[str, float | str] = {"value": times * estimate.value, "moe": times * moe, "unit": estimate.unit}
    return Sentence(keys["both"], {**said, "percent": percent_of_noise(estimate) or 0.0})


def percent_of_noise(estimate: Estimate) -> float | None:
    """How many percent of the squared error are privacy noise: 0 and 100 only where there is no other error at all.

    >>> percent_of_noise(Estimate(9, 79_392.0**2, 87_814.0**2 - 79_392.0**2)), percent_of_noise(Estimate(9, 998.2, 1.8))
    (82, 99.8)
    """
    share = estimate.noise_share
    if share is None:
        return None
    percent = round(100 * share)
    return percent if 0 < percent < 100 or share in {0.0, 1.0} else min(max(round(100 * share, 1), 0.1), 99.9)
