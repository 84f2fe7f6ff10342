"""Catalogue: the releases that are served, each verified, with an address for each of their tables."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from sfumato.errors import QueryError, ReleaseError, nearest
from sfumato.query.finder import Finder
from sfumato.query.notices import SYNTHETIC, Notice, notices_of
from sfumato.query.periods import when
from sfumato.query.search_topics import SearchedTable
from sfumato.query.wording import words
from sfumato.release import Release, in_language, open_release
from sfumato.serve.editions import Edition, Period, Sheet, usable_beside
from sfumato.serve.keys import Keys, keys


@dataclass(frozen=True, eq=False)
class ReleaseSeries:
    """The releases of one name: what a reader should use now, and every period, the newest first."""

    name: str
    current: Edition
    periods: tuple[Period, ...]

    @classmethod
    def of(cls, name: str, editions: Sequence[Edition]) -> "ReleaseSeries":
        parted: dict[str, list[Edition]] = {}
        for one in editions:
            parted.setdefault(one.release.manifest.period, []).append(one)
        late = sorted(parted, key=when, reverse=True)
        periods = tuple(_period(period, parted[period]) for period in late)
        return cls(name, next(one for one in editions if one.key == name), periods)

    @property
    def title(self) -> str:
        return self.current.release.manifest.title

    @property
    def editions(self) -> tuple[Edition, ...]:
        return tuple(edition for period in self.periods for edition in period.editions)

    @property
    def first(self) -> str:
        """The first period that stands and may be shown."""
        named = [one.name for one in self.periods if one.name and usable_beside(one.standing, self.current)]
        return named[-1] if named else ""

    @property
    def main_first(self) -> list[Sheet]:
        """Its tables, but of a sample those last that count its own records, as these estimate nothing."""
        return sorted(self.sheets, key=_counts_the_sample)

    @cached_property
    def sheets(self) -> tuple[Sheet, ...]:
        """Each statistic once: in the release to use, or in the newest that stands and has it."""
        standing = (period.standing for period in self.periods)
        usable = [
            self.current,
            *(one for one in standing if one is not self.current and usable_beside(one, self.current)),
        ]
        found: dict[str, Sheet] = {}
        for sheet in (sheet for edition in usable for sheet in edition.sheets):
            found.setdefault(sheet.product.subject.name, sheet)
        return tuple(found.values())


def _counts_the_sample(sheet: Sheet) -> bool:
    release = sheet.edition.release.own
    manifest, counted = release.manifest, release.products[sheet.product.subject.name].subject.unit.removesuffix("s")
    return manifest.sampling.get("kind") != "census" and counted == manifest.unit.removesuffix("s")


def _period(name: str, editions: Sequence[Edition]) -> Period:
    """One period; the release that stands for it has its key."""
    late = sorted(editions, key=lambda one: (one.release.manifest.created, one.release.id), reverse=True)
    standing = next((one for one in late if one.dated or one.key == one.series), late[0])
    return Period(name, standing, tuple(one for one in late if one is not standing))


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Everything that is served."""

    editions: tuple[Edition, ...]
    own: "Catalogue | None" = None
    """The releases in their own languages, where these are told in another."""

    @classmethod
    def open(cls, folders: Sequence[Path | str]) -> "Catalogue":
        """Verify and open every folder; one that is not what was published refuses the start."""
        if not folders:
            raise ReleaseError("There is no release to serve: name at least one release folder.")
        return cls.of([open_release(folder) for folder in folders])

    @classmethod
    def of(cls, releases: Sequence[Release]) -> "Catalogue":
        ids = [release.id for release in releases]
        if len(set(ids)) < len(ids):
            raise ReleaseError("The same release is given twice; name each release folder once.")
        named, known = keys(releases), dict[str, tuple[Period, ...]]()
        editions = [
            Edition(one, own.short, own.lasting, _notices(one, releases, named), own.period, known)
            for one, own in ((one, named[one.id]) for one in releases)
        ]
        editions.sort(key=lambda one: (one.marred, one.release.own.manifest.title, one.key))
        for name in dict.fromkeys(one.series for one in editions):
            known[name] = ReleaseSeries.of(name, [one for one in editions if one.series == name]).periods
        return cls(tuple(editions))

    @property
    def private(self) -> bool:
        """Whether something here may be seen on this machine only."""
        return any(edition.private for edition in self.editions)

    @property
    def formal(self) -> bool:
        """Whether every release bounds what it gives away."""
        return all(edition.release.manifest.promise.formal for edition in self.editions)

    @cached_property
    def tables(self) -> Mapping[str, Sheet]:
        """Every table by each of its addresses."""
        found = {}
        for key, edition in self.releases.items():
            found.update({f"{key}~{sheet.product.subject.name}": sheet for sheet in edition.sheets})
        return found

    @cached_property
    def releases(self) -> Mapping[str, Edition]:
        """Every release by its key, by the key of its period and by its lasting key."""
        dated = {one.dated: one for one in self.editions if one.dated}
        return {one.lasting: one for one in self.editions} | dated | {one.key: one for one in self.editions}

    @cached_property
    def all_series(self) -> tuple["ReleaseSeries", ...]:
        """The releases by their name, those with something to use first."""
        named: dict[str, list[Edition]] = {}
        for edition in self.editions:
            named.setdefault(edition.series, []).append(edition)
        found = [ReleaseSeries.of(name, editions) for name, editions in named.items()]
        ordered = sorted(found, key=lambda one: (one.current.marred, one.current.release.own.manifest.title, one.name))
        return tuple(ordered)

    def series(self, name: str) -> "ReleaseSeries":
        """The series of this name; a wrong name answers with the nearest."""
        for one in self.all_series:
            if one.name == name:
                return one
        hint = nearest(name[:100], [one.name for one in self.all_series])
        raise QueryError(f"No series '{name[:100]}' is served here; {hint}")

    @cached_property
    def finder(self) -> Finder:
        """What words may mean in the tables of every series: one index has the texts of all languages."""
        return self.own.finder.told(self.searched) if self.own else Finder(self.searched)

    @property
    def searched(self) -> list[SearchedTable]:
        """What is searched: every statistic, the main ones first."""
        sheets = (sheet for series in self.all_series for sheet in series.main_first)
        return [SearchedTable(one.id, one.edition.engine, one.product.subject.name) for one in sheets]

    @cached_property
    def _told(self) -> dict[str, "Catalogue"]:
        return {}

    def in_language(self, language: str) -> "Catalogue":
        """The same releases as readers of a language see them; made once, and their numbers are held once."""
        if language not in self._told:
            told = [in_language(edition.release, language) for edition in self.editions]
            same = all(one is edition.release for one, edition in zip(told, self.editions, strict=True))
            self._told[language] = self if same else replace(Catalogue.of(told), own=self)
        return self._told[language]

    @cached_property
    def made_up(self) -> tuple[str, ...]:
        """What is said of data that were made up, on pages of no one release."""
        told = (one for edition in self.editions for one in edition.notices if one.kind == SYNTHETIC)
        return tuple(dict.fromkeys(one.sentence for one in told))

    @cached_property
    def tag(self) -> str:
        return hashlib.sha256("".join(edition.tag for edition in self.editions).encode()).hexdigest()[:32]


def _notices(release: Release, releases: Sequence[Release], named: Mapping[str, Keys]) -> tuple[Notice, ...]:
    found = [*notices_of(release)]
    for other in releases:
        if other.manifest.supersedes == release.id:
            newer = {"title": other.manifest.title, "date": other.manifest.created[:10]}
            said = words(release.language)("notices.superseded_words", **newer)
            found.append(Notice("superseded", said, named[other.id].short, release.language))
    return tuple(sorted(found, key=lambda notice: not notice.grave))
