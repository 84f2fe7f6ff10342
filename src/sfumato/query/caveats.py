"""Caveats: what numbers leave out, by the manifest of their release alone; every page, file and picture asks here.

A clip that values are held to, or a bound on the rows of one unit, leaves out some of the data, and no noise tells how
much. Whether it did is confidential unless it was bought, so the words follow from the plan. A new bound adds its rule
to `RULES` and its text to `words`, and is then said wherever a number stands.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

from sfumato.foreign_text import capitalized, joined
from sfumato.query.wording import Words, words
from sfumato.release import Product, Release
from sfumato.release.products.records import FRAME
from sfumato.release.tails import CENSUS_90
from sfumato.release.value_bounds import ClipTook
from sfumato.schema import Box, Grid

LOW, EITHER = "low", "either"
"""Whither a number leans by what it leaves out: too low, or nobody can tell."""
NOISE, BOTH = "noise", "both"
"""What margins and grades count beside that: noise, or noise and sampling error."""


@dataclass(frozen=True)
class Caveat:
    """One thing that numbers leave out: the key of its text, what stands in its places, and whither numbers lean."""

    key: str
    values: tuple[tuple[str, str], ...]
    leans: str = LOW
    bought: str = ""
    """The bound up to which intervals and grades count what was left out, where the release bought that number."""

    def said(self, wording: Words) -> str:
        """What is left out, as a part of a sentence."""
        return wording(f"caveat.{self.key}", **{name: _figure(one, wording) for name, one in self.values})


@dataclass(frozen=True)
class Caveats:
    """All that some numbers leave out, each thing once; empty where they leave out nothing."""

    every: tuple[Caveat, ...] = ()
    counted: str = NOISE
    """What margins and grades count beside what is left out."""

    def __bool__(self) -> bool:
        return bool(self.every)

    def __add__(self, other: "Caveats") -> "Caveats":
        """Those of sums of numbers."""
        counted = BOTH if BOTH in {one.counted for one in (self, other) if one} else NOISE
        return Caveats(tuple(dict.fromkeys((*self.every, *other.every))), counted)

    @property
    def unbought(self) -> bool:
        """Whether something is left out that margins and grades do not count."""
        return any(not one.bought for one in self.every)

    @property
    def compared(self) -> "Caveats":
        """Those of what is computed of several numbers, so that nobody can tell whither it leans."""
        return replace(self, every=tuple(dict.fromkeys(replace(one, leans=EITHER) for one in self.every)))

    def over(self, other: "Caveats") -> "Caveats":
        """Those of a number divided by another, which leans as its numerator where its denominator leaves out nothing.

        >>> clip = Caveats((Caveat("clip_above", (("column", "wage"), ("high", "60,000"))),))
        >>> clip.over(NONE).said(), clip.over(clip).said()[:16]
        ('leans low: values of wage above 60,000 are cut; ± and grade: noise only', 'may lean either ')
        """
        return (self + other).compared if other else self

    def said(self, language: str = "en") -> str:
        """What stands beside a number: whither it leans, what is left out, and what its margin and grade count."""
        if not self:
            return ""
        wording, low = words(language), all(one.leans == LOW for one in self.every)
        what = joined(", ", (one.said(wording) for one in self.every))
        leaning = wording("caveat.low" if low else "caveat.either", what=what)
        return joined("; ", [leaning, *self._counted(wording)])

    def _counted(self, wording: Words) -> Iterator[str]:
        """What margins and grades count: what was bought, and else noise or sampling alone."""
        bought = dict.fromkeys(one.bought for one in self.every if one.bought)
        if bought:
            yield wording("caveat.bought", up_to=joined(", ", (_figure(one, wording) for one in bought)))
        if self.unbought:
            yield wording(f"caveat.counted_{'rest_' if bought else ''}{self.counted}")

    def sentence(self, language: str = "en") -> str:
        """The same as a sentence of its own; '' where nothing is left out."""
        return joined("", [capitalized(self.said(language)), "."]) if self else ""


NONE = Caveats()


def joint(every: Iterable[Caveats]) -> Caveats:
    """What any of several numbers leaves out."""
    return reduce(lambda one, other: one + other, every, NONE)


Rule = Callable[[Release, Product], Iterator[Caveat]]
"""What a manifest says of one kind of thing that numbers leave out."""


def caveats_of(release: Release, product: Product) -> Caveats:
    """What the numbers of a product leave out, by the manifest alone: whether a bound did cut is nobody's to know."""
    if product.exact:
        return NONE
    found = tuple(caveat for rule in RULES for caveat in rule(release, product))
    sampled = product.subject.name in release.manifest.sampling.get("functions", {})
    return Caveats(found, BOTH if sampled else NOISE)


def _clipped(release: Release, product: Product) -> Iterator[Caveat]:  # noqa: ARG001 - a rule has both
    """A clip on the values of records."""
    subject, bounds = product.subject, product.subject.value_bounds
    if bounds is None:
        return
    places = (("column", bounds.column), ("low", _written(bounds.low)), ("high", _written(bounds.high)))
    if not subject.additive and subject.statistic != "mean":
        yield Caveat("held", places, EITHER)
        return
    took = took_of(product)
    up_to = _written(took.up_to) if took else ""
    key, leans = ("clip_above", LOW) if bounds.low == 0 else ("clip_beyond", EITHER)
    yield Caveat(key, places, leans, up_to)


def took_of(product: Product) -> ClipTook | None:
    """What was bought of what a clip took, where intervals can count it: all errors are stated, and add up.

    What was bought lies above the clip. Where the clip starts at another number than 0, values below it are raised by
    what nobody bought, so that intervals count neither.
    """
    bounds = product.subject.value_bounds
    if bounds is None or bounds.took is None or bounds.power != 1 or not product.subject.additive or bounds.low != 0:
        return None
    law = product.errors.law(Grid((), Box()))
    return None if law.by_sides or law.by_ends or margin_of(bounds.took) is None else bounds.took


def margin_of(took: ClipTook) -> float | None:
    """The 90% margin of what was bought; of a release that states a standard error alone, that of a normal law."""
    if took.margin is not None:
        return took.margin
    return None if took.standard_error is None else CENSUS_90 * took.standard_error


def _crowded(release: Release, product: Product) -> Iterator[Caveat]:
    """A bound on the rows of one unit; over a register there is none, as every unit reports once."""
    manifest, hidden = release.manifest, release.manifest.promise.hidden
    most = hidden.get("at_most")
    if most is None or not hidden.get("id") or hidden.get("worker") or FRAME in manifest.files:
        return
    row, whom = str(manifest.unit), str(hidden.get("unit", ""))
    units = release.called(row) if most == 1 else release.called(f"{row}s")
    places = (("count", f"{most:,}"), ("units", units), ("whom", release.called(whom)))
    yield Caveat("at_most_one" if most == 1 else "at_most", places, LOW if product.subject.additive else EITHER)


def _weight_clipped(release: Release, product: Product) -> Iterator[Caveat]:  # noqa: ARG001 - a rule has both
    """A clip on the weights by which values are multiplied."""
    bounds = product.subject.value_bounds
    if bounds is None or bounds.weight is None:
        return
    weight = bounds.weight
    places = (("column", weight.column), ("low", _written(weight.low)), ("high", _written(weight.high)))
    leans = LOW if bounds.low >= 0 and weight.low == 0 else EITHER
    yield Caveat("clip_above" if weight.low == 0 else "clip_beyond", places, leans)


RULES: tuple[Rule, ...] = (_clipped, _weight_clipped, _crowded)


def _written(bound: Fraction) -> str:
    return f"{float(bound):,.12g}"


def _figure(written: str, wording: Words) -> str:
    """A number as a language writes it; a name as it is."""
    return wording.figure(written) if written.replace(",", "").replace(".", "").lstrip("-").isdigit() else written
