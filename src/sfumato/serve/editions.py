"""Editions: one release as it is served, its tables, and the same table in the other periods of its series."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sfumato import __version__
from sfumato.errors import QueryError, nearest
from sfumato.query import QueryEngine, ReleasePeriod
from sfumato.query.answer import time_name
from sfumato.query.figures import titled
from sfumato.query.notices import Notice, private, slug
from sfumato.query.periods import SINCE, NothingBeforeError, compared, counted_from, when
from sfumato.query.source import Source
from sfumato.query.wording import Words, words
from sfumato.release import Product, Release
from sfumato.schema import Attribute, Box, Grid, LeafGroups, Levels
from sfumato.serve.expressions import chosen as expressed


@dataclass(frozen=True, eq=False)
class Edition:
    """One served release: the key it has in addresses, the key that is its alone, and what is to be said of it."""

    release: Release
    key: str
    lasting: str
    notices: tuple[Notice, ...]
    dated: str = ""
    """The key of its period, if it is the release to use for it."""
    known: "dict[str, tuple[Period, ...]]" = field(default_factory=dict, repr=False)
    """The periods of every series that is served, the newest first, by its name."""

    @cached_property
    def engine(self) -> QueryEngine:
        return QueryEngine(self.release)

    @cached_property
    def tag(self) -> str:
        """Answers are a function of the releases of the series, what is said of them and the program: it names all."""
        told = [f"{one.sentence} {one.key}" for one in self.notices]
        beside = (one for period in self.known.get(self.series, ()) for one in period.editions)
        others = [f"{one.key} {one.release.id} {one.release.withdrawn}" for one in beside]
        said = "\n".join([__version__, self.release.id, self.key, *told, *others])
        return hashlib.sha256(said.encode()).hexdigest()[:32]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is to be said of it before any number."""
        return tuple(notice.sentence for notice in self.notices)

    @property
    def marred(self) -> bool:
        """Whether it should not be used as it is."""
        return any(notice.grave for notice in self.notices)

    @property
    def private(self) -> bool:
        """Whether it may be seen on this machine only."""
        return private(self.release)

    @property
    def current(self) -> bool:
        """Whether a reader should still use it."""
        return not any(one.kind in {"withdrawn", "superseded"} for one in self.notices)

    @property
    def series(self) -> str:
        """The name of the series that it belongs to."""
        return slug(self.release)

    @property
    def state(self) -> str:
        """What it is among the versions of its period, in a word."""
        return next((one.kind for one in self.notices if one.grave), "another version")

    @cached_property
    def sheets(self) -> tuple["Sheet", ...]:
        return tuple(Sheet(self, self.engine.product(name)) for name in self.engine.statistics)


@dataclass(frozen=True, eq=False)
class Sheet:
    """One product that answers: what tables are built from, in its own period and in the others of its series."""

    edition: Edition
    product: Product

    @cached_property
    def source(self) -> Source:
        return self.edition.engine.source(self.product.subject.name)

    @property
    def id(self) -> str:
        return f"{self.edition.key}~{self.product.subject.name}"

    @property
    def lasting_id(self) -> str:
        """The address that names this very release, also after a newer one took over the short address."""
        return f"{self.edition.lasting}~{self.product.subject.name}"

    @property
    def title(self) -> str:
        return self.titled(self.names)

    @property
    def by(self) -> str:
        """The variables that it is by, as its title names them."""
        by = titled("", [self.attribute(name) for name in self.names], self.edition.release.language)
        return by[len(by) - len(by.lstrip()) :]

    @property
    def called(self) -> str:
        """What it counts or sums, with its name where another of the release is called the same."""
        own = self.product.subject
        alike = [one for one in self.edition.sheets if one.product.subject.title == own.title]
        return own.title if len(alike) == 1 else own.title + f" ({own.name})"

    def titled(self, names: Sequence[str], subject: str = "") -> str:
        """What a table by some of the variables is called, of its own statistic unless told otherwise."""
        shown = [self.attribute(name) for name in names]
        return titled(subject or self.product.subject.title, shown, self.edition.release.language)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.product.attributes)

    def attribute(self, name: str) -> Attribute:
        return self.timeline.attribute if self.time and name == self.time else self.source.attribute(name)

    def fullest(self, name: str, codes: Sequence[str]) -> str:
        """Of some lowest levels of a variable the one of which most cells hold a number; of several the first."""
        held = self._numbers.get(name, {})
        return max(codes, key=lambda code: held.get(code, 0))

    @cached_property
    def _numbers(self) -> Mapping[str, Mapping[str, int]]:
        """For each variable how many cells of each lowest level hold a number; none is named where all do."""
        leaves = {one.name: one.levels.leaves for one in self.product.attributes}
        every = Grid(tuple((name, LeafGroups.each(len(codes))) for name, codes in leaves.items()), Box({}))
        if (statuses := self.product.missing(every)) is None:
            return {}
        told = np.argwhere(~statuses.missing.reshape(every.shape))
        counts = {name: np.bincount(told[:, at], minlength=len(leaves[name])) for at, name in enumerate(leaves)}
        return {name: dict(zip(leaves[name], counts[name].tolist(), strict=True)) for name in leaves}

    @property
    def period(self) -> str:
        return self.edition.release.manifest.period

    @cached_property
    def time(self) -> str:
        """The name of the variable of periods; '' where the release has no period."""
        return time_name(self.names) if self.period else ""

    @cached_property
    def timeline(self) -> "Timeline":
        """The same table in the other releases of the series."""
        return Timeline.of(self)


@dataclass(frozen=True, eq=False)
class Timeline:
    """One table in the periods of its series: what stands for each, and every version of each."""

    time: str
    periods: Mapping[str, Sheet]
    """What stands for each period, in the order of time; for its own the release that was asked."""
    versions: Mapping[str, Sheet]
    """Every release that has the table, by the digits of its hash that stand in addresses."""

    @classmethod
    def of(cls, sheet: Sheet) -> "Timeline":
        own, periods, versions = sheet.edition, dict[str, Sheet](), {_digits(sheet.edition): sheet}
        for period in reversed(own.known.get(own.series, ())):
            alike = {id(one): found for one in period.editions if (found := _alike(sheet, one))}
            versions |= {_digits(found.edition): found for found in alike.values()}
            stands = own if period.name == sheet.period else period.standing
            if period.name and id(stands) in alike and (stands is own or usable_beside(stands, own)):
                periods[period.name] = alike[id(stands)]
        return cls(sheet.time, periods or {sheet.period: sheet}, versions)

    @cached_property
    def attribute(self) -> Attribute:
        """The variable whose levels are the periods."""
        listed = ({"code": code, "note": self.note(code)} for code in self.periods)
        return Attribute(self.time, Levels.of(listed), label=self._said("about.period"))

    @property
    def _said(self) -> Words:
        """The words of the language that the table is told in."""
        return words(next(iter(self.versions.values())).edition.release.language)

    def sheet(self, code: str) -> Sheet:
        """The table of a period, or of one release by the digits of its hash."""
        return self.periods[code] if code in self.periods else self.versions[code]

    def named(self, sheet: Sheet) -> str:
        """What a release is called by its period, and by its state and its hash where another stands for that."""
        stands = self.periods.get(sheet.period) is sheet and sheet.edition.state != "superseded"
        return sheet.period if stands else f"{sheet.period}, {self._state(sheet)} ({_digits(sheet.edition)})"

    def axis_period(self, code: str) -> ReleasePeriod:
        """A period, or one release of it, as it stands on an axis."""
        sheet = self.sheet(code)
        return ReleasePeriod(code, code if code in self.periods else self.named(sheet), self.note(code))

    def _state(self, sheet: Sheet) -> str:
        return self._said(f"versions.{sheet.edition.state.replace(' ', '_')}")

    def note(self, code: str) -> str:
        """Which release stands for a period and which others there are, where there are some."""
        own = self.sheet(code)
        others = [one for one in self.versions.values() if one.period == own.period and one is not own]
        told = ", ".join(f"{_digits(one.edition)} ({self._state(one)})" for one in others)
        issued = own.edition.release.manifest.created[:10]
        named = {"id": _digits(own.edition), "issued": issued, "others": told}
        return self._said("versions.note", **named) if others else ""

    def chosen(self, given: Sequence[str], *, split: bool = True) -> tuple[str, ...]:
        """The codes that are meant, in the order of time: periods, expressions such as top(4), or digits of a hash."""
        found = set()
        for code in expressed(tuple(self.periods), given, split=split):
            if code not in self.periods and code not in self.versions:
                raise QueryError(f"Period: there is no '{code[:100]}' here; {nearest(code[:100], [*self.periods])}")
            period = self.sheet(code).period
            found.add(period if self.periods.get(period) is self.sheet(code) else code)
        if not found:
            raise QueryError("Period: no code is given; name periods, or * for all.")
        return tuple(sorted(found, key=self._turn))

    def listed(self, name: str) -> tuple[str, ...]:
        """The periods of a list: all of them, or the last so many, as in last4."""
        if name in {"all", "leaves", "level0"}:
            return tuple(self.periods)
        count = name.removeprefix("last")
        if name == count or not (count.isascii() and count.isdigit() and len(count) < 6 and int(count)):
            raise QueryError(f"There is no list of periods '{name[:100]}'; all and last4, for example, are.")
        return tuple(self.periods)[-int(count) :]

    def _turn(self, code: str) -> tuple[object, ...]:
        manifest = self.sheet(code).edition.release.manifest
        return when(manifest.period), manifest.created, code

    def before(self, sheet: Sheet, since: str) -> Sheet:
        """What a table is compared with: "last", "year", a period, or one release by the digits of its hash.

        Releases that are named with "last" or "year" go before what stands for their periods now.
        """
        if since in self.versions and since not in self.periods:
            return self.versions[since]
        asked, digits = counted_from(since)
        named = self.chosen(digits) if digits else ()
        known = {**self.periods, **{self.sheet(code).period: self.sheet(code) for code in named}, sheet.period: sheet}
        ((before, _),) = compared(sorted(known, key=when), asked, sheet.period)
        return known[before]

    def has_before(self, sheet: Sheet, since: str) -> bool:
        """Whether a table has something that it can be compared with."""
        try:
            return self.before(sheet, since) is not sheet
        except NothingBeforeError:
            return False

    def sentences(self, releases: Sequence[Release]) -> tuple[str, ...]:
        """What is to be said of releases before any number of theirs, of several with their periods."""
        several = len(releases) > 1
        told = ((one.manifest.period, self.edition(one).sentences) for one in releases)
        return tuple(f"{period}: {said}" if several else said for period, all_said in told for said in all_said)

    def edition(self, release: Release) -> Edition:
        """The release of the series as it is served."""
        return self.versions[release.id[:12]].edition

    def lasting_since(self, sheets: Sequence[Sheet], since: str) -> str:
        """The same as `since`, with the very releases that the changes of tables are counted from now."""
        earlier = (self.before(one, since) for one in sheets if self.has_before(one, since))
        digits, (asked, _) = dict.fromkeys(_digits(one.edition) for one in earlier), counted_from(since)
        one_of_all = len(sheets) == 1 or asked not in SINCE or asked in self.periods
        return next(iter(digits), since) if one_of_all else ",".join([asked, *digits])

    def since_named(self, since: str) -> str:
        """What changes are counted from, as a reader would say it."""
        by_hash = since in self.versions and since not in self.periods
        return self.named(self.versions[since]) if by_hash else counted_from(since)[0]

    def lasting(self, codes: Sequence[str]) -> list[str]:
        """The digits of the very releases that stand behind periods now."""
        return [_digits(self.sheet(code).edition) for code in codes]


def _digits(edition: Edition) -> str:
    return edition.release.id[:12]


def _alike(sheet: Sheet, edition: Edition) -> Sheet | None:
    """The same statistic of the same records in another release; none where there is none, or in another unit."""
    if edition is sheet.edition:
        return sheet
    subject = sheet.product.own.subject
    own = ((one, one.product.own.subject) for one in edition.sheets)
    return next((one for one, other in own if other.name == subject.name and other.counts_as(subject)), None)


def usable_beside(edition: Edition, own: Edition) -> bool:
    """Whether a release stands beside another in its tables: not withdrawn, and not private where that is public."""
    return edition.release.withdrawn is None and (own.private or not edition.private)


@dataclass(frozen=True, eq=False)
class Period:
    """One period of a series: the release to use for it, and its other versions, the newest first."""

    name: str
    standing: Edition
    others: tuple[Edition, ...] = ()

    @property
    def editions(self) -> tuple[Edition, ...]:
        return (self.standing, *self.others)
