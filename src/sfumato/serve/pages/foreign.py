"""Foreign: what stays in a release's own language on a page in another is marked, so that it is read as what it is."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape, unescape

from sfumato.release import Release
from sfumato.serve.catalogue import Catalogue

MOST = 50_000
"""The longest list of levels whose labels are looked for."""
_PLAIN = "script|style|textarea|title|desc"
_PIECE = re.compile(rf"(<(?:{_PLAIN})\b.*?</(?:{_PLAIN})>|<[^>]*>)", re.DOTALL)
_NAME = re.compile(r"</?([a-zA-Z0-9-]+)")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_VOID = frozenset({"br", "circle", "hr", "img", "input", "line", "link", "meta", "path", "polygon", "polyline", "rect"})


@dataclass(frozen=True, eq=False)
class Foreign:
    """The texts of some releases that have no words in the language that these are told in."""

    releases: tuple[Release, ...]

    @classmethod
    def of(cls, catalogue: Catalogue) -> "Foreign":
        return cls(tuple(one.release for one in catalogue.editions if one.release.spoken_from))

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """Labels of variables and levels that stay as they are, and the language of each."""
        found: dict[str, str] = {}
        for release in self.releases:
            own = release.manifest.own_language
            for one in release.attributes:
                levels = one.levels
                told = levels.untold if len(levels.untold) <= MOST else ()
                texts = [*([one.label] if one.untold else []), *(levels.label(code) for code in told)]
                found |= {text: own for text in texts if _LETTERS.search(text)}
        return found

    @cached_property
    def sentences(self) -> Mapping[str, str]:
        """Titles, units and sentences of manifests that stay as they are, and the language of each."""
        found = {text: one.manifest.own_language for one in self.releases for text in _unsaid(one)}
        return {text: language for text, language in found.items() if _LETTERS.search(text)}

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self.labels)

    def _cut(self, text: str) -> str:
        """The language of a label that is cut off in a picture; '' where no label begins like this."""
        stem = text.removesuffix("…").rstrip()
        place = bisect_left(self._sorted, stem)
        found = self._sorted[place] if stem and place < len(self._sorted) else ""
        return self.labels[found] if found.startswith(stem) and found else ""

    def marked(self, page: str) -> str:
        """A page with these texts marked: labels that stand alone somewhere, and all of them inside sentences."""
        if not self.releases:
            return page
        pieces = _PIECE.split(page)
        alone = {unescape(piece).strip() for piece in pieces[::2]}
        here = {text: self.labels[text] for text in alone if text in self.labels}
        here |= {text: self._cut(text) for text in alone if text.endswith("…") and self._cut(text)}
        here |= {text: language for text, language in self.sentences.items() if escape(text) in page}
        return "".join(_written(pieces, here)) if here else page


def _unsaid(release: Release) -> Iterator[str]:
    """The texts of a manifest that are the same as in its own language, as nobody said them in this one."""
    told, own = release.manifest, release.own.manifest
    pairs = [(told.title, own.title), (told.promise.words, own.promise.words)]
    pairs += [(told.promise.not_hidden, own.promise.not_hidden)]
    pairs += [(one.title, other.title) for one, other in zip(told.products, own.products, strict=True)]
    pairs += [(one.mechanism, other.mechanism) for one, other in zip(told.spends, own.spends, strict=True)]
    for one, other in zip(told.exposures, own.exposures, strict=True):
        pairs += [(one.what, other.what), (one.why, other.why)]
    pairs += [(one.subject.note, release.own.products[name].subject.note) for name, one in release.products.items()]
    pairs += [(own.ledger.population, own.ledger.population)] if own.ledger else []
    same = [one for one, other in pairs if one == other and one]
    yield from (*same, *(f"{one[:1].upper()}{one[1:]}" for one in same))


def _written(pieces: list[str], here: Mapping[str, str]) -> Iterator[str]:
    """Tags and the texts between them, each known text marked, unless it stands within a mark already."""
    known = sorted(map(escape, here), key=len, reverse=True)
    # A word of an address or of an identifier is no word of a sentence.
    pattern = re.compile(rf"(?<![\w/~=.-])(?:{'|'.join(map(re.escape, known))})(?![\w/~=-]|\.\w)")
    open_ = list[tuple[str, bool]]()
    for place, piece in enumerate(pieces):
        if not place % 2:
            tag = "tspan" if any(name == "svg" for name, _ in open_) else "span"
            closed = any(says for _, says in open_[1:]) or (open_ and open_[-1][0] == "option")
            yield piece if closed else pattern.sub(lambda found, tag=tag: _mark(found[0], here, tag), piece)  # type: ignore[misc]
            continue
        _follow(piece, open_)
        yield _option(piece, pieces[place + 1], here) if piece.startswith("<option") else piece


def _option(tag: str, text: str, here: Mapping[str, str]) -> str:
    """An option holds text alone, so it is marked itself."""
    language = here.get(unescape(text).strip())
    return f'{tag[:-1]} lang="{language}">' if language else tag


def _mark(written: str, here: Mapping[str, str], tag: str) -> str:
    return f'<{tag} lang="{here[unescape(written)]}">{written}</{tag}>'


def _follow(tag: str, open_: list[tuple[str, bool]]) -> None:
    """Keep which elements are open, and whether each says a language itself."""
    found = _NAME.match(tag)
    if found is None or tag.endswith("/>") or found[1] in _VOID or re.match(rf"<(?:{_PLAIN})\b", tag):
        return
    if not tag.startswith("</"):
        open_.append((found[1], " lang=" in tag))
        return
    while open_ and open_.pop()[0] != found[1]:
        pass
