"""Notices: what a reader must know of a release before any number, and how it is cited."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.foreign_text import joined
from sfumato.query.wording import words
from sfumato.release import Release
from sfumato.schema.languages import OWN

SYNTHETIC = "synthetic data"
"""The kind of the notice of a release whose data were made up."""
MOST_NAMED = 8
"""The most releases of a series that are named one by one below a picture."""


@dataclass(frozen=True)
class Notice:
    """What a reader must know before using a release, and where to go instead."""

    kind: str
    words: str
    key: str | None = None
    language: str = OWN

    @property
    def grave(self) -> bool:
        """Whether the release should not be used as it is; other notices are only said."""
        return self.kind not in {"a step found no answer", SYNTHETIC}

    @property
    def cited(self) -> bool:
        """Whether whoever cites the release says it too."""
        return self.grave or self.kind == SYNTHETIC

    @property
    def sentence(self) -> str:
        return self._said(self.called)

    @property
    def warning(self) -> str:
        """The same so that nobody overlooks it."""
        return self._said(self.called.upper())

    @property
    def called(self) -> str:
        """What it is, in the language of its release."""
        return words(self.language)(f"notices.{self.kind.replace(' ', '_')}")

    def _said(self, called: str) -> str:
        return joined(": ", [called, self.words]) + ("" if self.words.endswith((".", "!", "?")) else ".")


def private(release: Release) -> bool:
    """Whether it may be seen on this machine only."""
    return release.manifest.rehearsal or not release.manifest.releasable


def notices_of(release: Release) -> tuple[Notice, ...]:
    """What is to be said of a release by itself."""
    manifest, found = release.manifest, dict[str, str]()
    if release.withdrawn is not None:
        found["withdrawn"] = release.own_words(release.withdrawn)
    if private(release):
        found["not for publication"] = release.says(manifest.why)
    if not manifest.promise.formal:
        found["not formally private"] = manifest.promise.loss_words
    if manifest.synthetic:
        found[SYNTHETIC] = release.says(manifest.synthetic)
    lost = [("a step found no answer", f"{name}: " + release.says(why)) for name, why in manifest.diverged.items()]
    return tuple(Notice(kind, said, language=release.language) for kind, said in (*found.items(), *lost))


def slug(release: Release) -> str:
    """The name of a series of releases in addresses."""
    return plain_name(release.manifest.name) or "release"


def plain_name(name: str) -> str:
    """A name that stands in an address as it is."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")


def lasting(release: Release) -> str:
    """What one release is called for ever."""
    return f"{slug(release)}.{release.id[:12]}"


def cited_together(releases: Sequence[Release]) -> str:
    """How to cite the releases of a series below a picture: their title once, and what each of many would say alike."""
    titles = {(one.manifest.title, one.manifest.promise.loss_words) for one in releases}
    if len(releases) == 1 or len(titles) > 1:
        return joined(" ", map(cited, releases))
    (title, loss), said = titles.pop(), words(releases[-1].language)
    named = [f"{one.manifest.period} {one.id[:12]}" for one in releases]
    if len(named) > MOST_NAMED:
        named = [said("sheet.between", low=named[0], high=named[-1])]
    told = {"title": title, "count": len(releases), "named": ", ".join(named), "loss": loss}
    made_up = dict.fromkeys(one for release in releases for one in _made_up(release))
    return joined(" ", [said("title.cited_together", **told), *made_up])


def cited(release: Release) -> str:
    """How to cite a release."""
    manifest = release.manifest
    title = manifest.title + (f", {manifest.period}" if manifest.period else "")
    said = {"title": title, "id": release.id[:16], "date": manifest.created[:10]}
    named = words(release.language)("title.cited", **said, loss=manifest.promise.loss_words)
    return joined(" ", [named, *_made_up(release)])


def _made_up(release: Release) -> list[str]:
    """That the data of a release were made up, where they were."""
    return [one.sentence for one in notices_of(release) if one.kind == SYNTHETIC]
