"""Catalogue: the releases that are served, each verified, with an address for each of their tables."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sfumato import __version__
from sfumato.errors import QueryError, ReleaseError, nearest
from sfumato.query import QueryEngine
from sfumato.release import Product, Release, open_release
from sfumato.schema import Attribute


@dataclass(frozen=True)
class Notice:
    """What a reader must know before using a release, and where to go instead."""

    kind: str
    words: str
    key: str | None = None

    @property
    def sentence(self) -> str:
        end = "" if self.words.endswith((".", "!", "?")) else "."
        return f"{self.kind.capitalize()}: {self.words}{end}"


@dataclass(frozen=True, eq=False)
class Edition:
    """One served release: the key it has in addresses, the key that is its alone, and what is to be said of it."""

    release: Release
    key: str
    lasting: str
    notices: tuple[Notice, ...]

    @cached_property
    def engine(self) -> QueryEngine:
        return QueryEngine(self.release)

    @cached_property
    def tag(self) -> str:
        """Answers are a function of the release, of what is said of it and of the program, so this names them all."""
        said = "\n".join(
            [__version__, self.release.id, self.key, *(f"{one.sentence} {one.key}" for one in self.notices)]
        )
        return hashlib.sha256(said.encode()).hexdigest()[:32]

    @property
    def private(self) -> bool:
        """Whether it may be seen on this machine only."""
        return _private(self.release)

    @property
    def current(self) -> bool:
        """Whether a reader should still use it."""
        return not any(one.kind in {"withdrawn", "superseded"} for one in self.notices)

    @cached_property
    def sheets(self) -> tuple["Sheet", ...]:
        return tuple(Sheet(self, self.engine.product(name)) for name in self.engine.statistics)


@dataclass(frozen=True, eq=False)
class Sheet:
    """One product that answers: what tables are built from."""

    edition: Edition
    product: Product

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

    def titled(self, names: Sequence[str]) -> str:
        """What a table by some of the variables is called."""
        labels = [_within_sentence(self.attribute(name).label) for name in names]
        listed = " and ".join([", ".join(labels[:-1]), labels[-1]] if len(labels) > 1 else labels)
        return f"{self.product.subject.title} by {listed}" if listed else self.product.subject.title

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.product.attributes)

    def attribute(self, name: str) -> Attribute:
        """The variable of this name; a wrong name answers with the nearest."""
        for attribute in self.product.attributes:
            if attribute.name == name:
                return attribute
        hint = nearest(name, self.names)
        raise QueryError(f"'{name}' is not a variable of {self.product.subject.title.lower()}; {hint}")


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Everything that is served."""

    editions: tuple[Edition, ...]

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
        keys = _keys(releases)
        editions = [Edition(one, keys[one.id], _lasting(one), _notices(one, releases, keys)) for one in releases]
        return cls(tuple(sorted(editions, key=lambda one: (bool(one.notices), one.release.manifest.title, one.key))))

    @cached_property
    def tables(self) -> Mapping[str, Sheet]:
        """Every table by its address and by its lasting address."""
        sheets = [sheet for edition in self.editions for sheet in edition.sheets]
        return {sheet.lasting_id: sheet for sheet in sheets} | {sheet.id: sheet for sheet in sheets}

    @cached_property
    def releases(self) -> Mapping[str, Edition]:
        """Every release by its key and by its lasting key."""
        return {one.lasting: one for one in self.editions} | {one.key: one for one in self.editions}

    @cached_property
    def tag(self) -> str:
        return hashlib.sha256("".join(edition.tag for edition in self.editions).encode()).hexdigest()[:32]


def _within_sentence(label: str) -> str:
    """A label as it stands inside a sentence; an abbreviation keeps its capitals."""
    return label[:1].lower() + label[1:] if label[1:2].islower() else label


def _private(release: Release) -> bool:
    return release.manifest.rehearsal or not release.manifest.releasable


def _slug(release: Release) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", release.manifest.name).strip("-") or "release"


def _lasting(release: Release) -> str:
    return f"{_slug(release)}.{release.id[:12]}"


def _keys(releases: Sequence[Release]) -> dict[str, str]:
    """Of each name, the release that readers should use has the name itself; others have their hash beside it."""
    replaced = {release.manifest.supersedes for release in releases}

    def standing(one: Release) -> tuple[bool, bool, bool, str, str]:
        manifest = one.manifest
        return not _private(one), one.withdrawn is None, one.id not in replaced, manifest.created, one.id

    first = {_slug(release): release for release in sorted(releases, key=standing)}
    return {one.id: _slug(one) if first[_slug(one)] is one else _lasting(one) for one in releases}


def _notices(release: Release, releases: Sequence[Release], keys: Mapping[str, str]) -> tuple[Notice, ...]:
    manifest, found = release.manifest, []
    if release.withdrawn is not None:
        found.append(Notice("withdrawn", release.withdrawn))
    if _private(release):
        found.append(Notice("not for publication", manifest.why))
    if "unbounded" in manifest.promise.loss:
        found.append(Notice("not formally private", manifest.promise.loss_words))
    for other in releases:
        if other.manifest.supersedes == release.id:
            words = f"a newer release took its place, {other.manifest.title}, issued {other.manifest.created[:10]}"
            found.append(Notice("superseded", words, keys[other.id]))
    return tuple(found)
