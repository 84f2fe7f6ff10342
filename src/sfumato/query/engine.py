"""QueryEngine: any table, total, share, mean or comparison of a release, by totals and covariances alone."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sfumato.errors import QueryError, nearest
from sfumato.query.axis import Axis, Choice, axis
from sfumato.query.comparison import Comparison
from sfumato.query.crosstab import Crosstab
from sfumato.query.estimate import Estimate
from sfumato.query.figures import LARGEST_PAGE, codes_of, per_one
from sfumato.query.means import Means, mean_of
from sfumato.query.notices import Notice, cited, notices_of
from sfumato.query.ratio import Ratio, ratio_of
from sfumato.query.share_comparison import PartOfWhole, share_of
from sfumato.query.shared_noise import noise_apart, refuse_shared
from sfumato.query.source import Source
from sfumato.query.weighting import are_mixed, counts_units, refuse_mixed
from sfumato.query.wording import languages
from sfumato.release import Product, Release, Subject, in_language, open_release
from sfumato.schema import Box, Mask, Where


class QueryEngine:
    """Answers from one release; the same question has the same answer, and asking costs nothing."""

    def __init__(self, release: Release) -> None:
        self.release = release

    def in_language(self, language: str) -> "QueryEngine":
        """The same release told in a language: labels, titles, units and sentences; codes and numbers are the same."""
        if language not in languages():
            raise QueryError(f"There is no language '{language[:20]}'; {nearest(language[:20], languages())}")
        return QueryEngine(in_language(self.release, language))

    @property
    def own(self) -> "QueryEngine":
        """The same release in its own language."""
        return self if self.release.own is self.release else QueryEngine(self.release.own)

    def __repr__(self) -> str:
        manifest = self.release.manifest
        names = ", ".join(attribute.name for attribute in self.release.attributes)
        told = " ".join([*self.warnings(), ""])
        return f"<{told}{manifest.title} {manifest.period}: {manifest.promise.loss_words}; by {names}>"

    @property
    def statistics(self) -> tuple[str, ...]:
        """The names of the products that answer."""
        return tuple(line.name for line in self.release.manifest.products if line.answers)

    def product(self, of: str | None = None) -> Product:
        """The one product that answers for a statistic, by its name or its statistic's; the first one by default."""
        answering = [self.release.products[name] for name in self.statistics]
        if of is None:
            return answering[0]
        for product in answering:
            if product.subject.name == of:
                return product
        same = [product for product in answering if product.subject.statistic == of]
        if len(same) == 1:
            return same[0]
        raise QueryError(f"This release has {len(same) or 'no'} statistics '{of}'; {nearest(of, self.statistics)}")

    def source(self, of: str | None = None, names: Iterable[str] = ()) -> Source:
        """What a question about a statistic is answered from; by default the first that has the variables asked for."""
        if of is None:
            known, asked = (Source(self.release, self.release.products[one]) for one in self.statistics), set(names)
            fitting = (one for one in known if asked <= one.names and not one.refusal(asked))
            return next(fitting, Source(self.release, self.product()))
        return Source(self.release, self.product(of))

    def total(self, where: Where | None = None, of: str | None = None) -> Estimate:
        """The total over the records in some levels, with its error."""
        source = self.source(of, where or {})
        return source.estimate(_box(source, where or {}))

    def share(self, part: Where, within: Where | None = None, of: str | None = None) -> Ratio:
        """The share that a part has within a whole."""
        source = self.source(of, {*part, *(within or {})})
        source.refuse({*part, *(within or {})})
        whole = _box(source, within or {})
        inner = _box(source, part).within(whole)
        return share_of(source, PartOfWhole(inner, whole))

    def ratio(self, over: Where, under: Where, of: str | None = None) -> Ratio:
        """One total over another, which need not contain it."""
        source = self.source(of, {*over, *under})
        boxes = _box(source, over), _box(source, under)
        first, second = (source.estimate(box) for box in boxes)
        found = ratio_of(first, second, source.covariance(*boxes), "ratio", source.sampling.ratio())
        return found.of_nonnegative(source.product.subject.nonnegative)

    def mean(self, of: str, where: Where | None = None, per: str = "count") -> Ratio:
        """A total per record: the total of one statistic over the count of the same records."""
        amount, number = self.source(of), self.source(self._divisor(of, per))
        refuse_mixed(amount, number)
        boxes = _common(amount, number, where or {}), _common(number, amount, where or {})
        over, under = amount.estimate(boxes[0]), number.estimate(boxes[1])
        unit = per_one(over.unit, number.product.subject.one, self.release.language)
        sampled = amount.sampling.ratio()
        if amount.product is number.product:
            return ratio_of(over, under, amount.covariance(*boxes), unit, sampled)
        refuse_shared(amount, number)
        return mean_of(over, under, unit, sampled).of_nonnegative(number.product.subject.nonnegative)

    def _divisor(self, of: str, per: str) -> str:
        """The number that means are per; a count without a name is that which is weighted as the amount is."""
        if per != "count" or per in self.statistics:
            return per
        names = [subject.name for subject in divisors(self, of)]
        return names[0] if len(names) == 1 else per

    def means(
        self,
        of: str,
        rows: str | Sequence[str],
        cols: str | None = None,
        where: Where | None = None,
        per: str = "count",
        at: Mapping[str, Choice] | None = None,
    ) -> Means:
        """A table of totals per record: each cell of one statistic over the count of the same records."""
        per = self._divisor(of, per)
        return Means(self.table(rows, cols, where, of, at), self.table(rows, cols, where, per, at))

    def compare(self, one: Where, other: Where, of: str | None = None) -> Comparison:
        """One total minus another, and whether they really differ."""
        source = self.source(of, {*one, *other})
        return source.difference(_box(source, one), _box(source, other))

    def table(
        self,
        rows: str | Sequence[str],
        cols: str | None = None,
        where: Where | None = None,
        of: str | None = None,
        at: Mapping[str, Choice] | None = None,
        at_most: int | None = None,
    ) -> Crosstab:
        """A table as people lay it out; `at` chooses the levels and groups that an axis shows.

        A table has at most `LARGEST_PAGE` cells; a download may state a larger bound with `at_most`.
        """
        names, asked = [*([rows] if isinstance(rows, str) else rows), *([cols] if cols else [])], where or {}
        source = self.source(of, [*names, *asked])
        source.refuse({*names, *asked})
        axes = tuple(_axis(source, name, (at or {}).get(name), asked.get(name)) for name in names)
        _refuse_unfit(axes, LARGEST_PAGE if at_most is None else at_most)
        found = Crosstab(source, axes, _box(source, asked, axes), dict(asked), has_columns=cols is not None)
        if found.size > 1 and (refusal := source.product.too_fine(found.grid)):  # one cell says so in its place
            raise refusal
        return found

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What a reader must be told before any number."""
        return notices_of(self.release)

    def warnings(self) -> list[str]:
        """The same as sentences that nobody overlooks."""
        return [notice.warning for notice in self.notices]

    def cite(self) -> str:
        """How to cite the release."""
        return cited(self.release)


def divisors(engine: QueryEngine, of: str, names: Iterable[str] = ()) -> list[Subject]:
    """The counts that means of a statistic may be per, by some variables: of its records, with noise of their own."""
    amount = engine.source(of)
    found = [one for one in map(engine.source, engine.statistics) if {*names} <= one.names]
    return [one.product.subject for one in found if _divides(one, amount)] if amount.product.subject.additive else []


def _divides(number: Source, amount: Source) -> bool:
    own, of = number.product.subject, amount.product.subject
    counts = counts_units(own) and own.unit != of.unit and own.universe == of.universe
    return counts and not are_mixed(amount, number) and bool(noise_apart(number, amount))


def _axis(source: Source, name: str, choice: Choice | None, held: str | int | Sequence[str | int] | None) -> Axis:
    """The axis of a variable, without the levels that a filter on the same variable leaves empty."""
    whole = axis(source.attribute(name), choice)
    if held is None and name not in source.product.subject.universe:
        return whole
    return whole.inside(_masks(source, {} if held is None else {name: held})[name])


def _refuse_unfit(axes: tuple[Axis, ...], at_most: int) -> None:
    names = [one.attribute.name for one in axes]
    if len(set(names)) != len(names):
        raise QueryError(f"A table by {' and '.join(names)} names an attribute twice.")
    size = math.prod(len(one.codes) for one in axes)
    if size > at_most:
        raise QueryError(
            f"The table has {size:,} cells, more than {at_most:,}; show a higher level, fewer variables, "
            "or filter, or take the whole product from the release folder."
        )


def _box(source: Source, where: Where, axes: Sequence[Axis] = ()) -> Box:
    """The records that a question is about, once the product has said that it can answer."""
    source.refuse({*where, *(axis.attribute.name for axis in axes)})
    masks = _masks(source, where)
    if not source.product.subject.additive:
        _refuse_sum(source.product, masks, axes)
    return Box(masks)


def _common(source: Source, other: Source, where: Where) -> Box:
    """The records that a question is about, as far as another product counts them too."""
    return _box(source, where).within(_box(source, other.product.subject.universe))


def _masks(source: Source, where: Where) -> dict[str, Mask]:
    """For each variable that the universe or a filter names, the leaves that count."""
    product = source.product
    known = {attribute.name for attribute in product.attributes}
    about = {name: codes for name, codes in product.subject.universe.items() if name in known}
    masks: dict[str, Mask] = {name: source.attribute(name).levels.mask(codes) for name, codes in about.items()}
    for name, levels in where.items():
        # What all records share needs no mask; where the cells tell it apart, they answer as tables do.
        if name not in known and product.subject.universe.get(name) == codes_of(levels):
            continue
        attribute = source.attribute(name)
        try:
            asked = attribute.levels.mask(levels)
        except KeyError as error:
            raise QueryError(f"{attribute.label}: {error.args[0]}") from None
        masks[name] = asked & masks[name] if name in masks else asked
        if asked.any() and not masks[name].any():
            only = ", ".join(about[name])
            raise QueryError(f"{product.subject.title} is only about {attribute.label} {only}; ask within it.")
    return masks


def _refuse_sum(product: Product, masks: Mapping[str, Mask], axes: Sequence[Axis]) -> None:
    """Where numbers may not be summed, each variable is held to one lowest level or shows lowest levels only."""
    single = {name for name, mask in masks.items() if mask.sum() == 1}
    single |= {one.attribute.name for one in axes if max(one.mask(code).sum() for code in one.codes) == 1}
    summed = [attribute.label for attribute in product.attributes if attribute.name not in single]
    if summed:
        raise QueryError(
            f"{product.subject.title} may not be summed over {', '.join(summed)}; "
            "name one lowest level of each variable, or show its lowest levels."
        )


def open_folder(folder: Path | str, language: str = "") -> QueryEngine:
    """Open a release for questions, in its own language unless another is named; it is verified first."""
    opened = QueryEngine(open_release(folder))
    return opened.in_language(language) if language else opened
