"""Search topics: what the tables of releases can be found by: their titles, their variables, levels and synonyms."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sfumato.query.engine import QueryEngine
from sfumato.query.phrases import ANYWHERE, Phrases
from sfumato.release import Product
from sfumato.schema import Attribute

MOST_JOINED = 50_000
"""The longest list whose codes are also found when their parts are written as one."""


@dataclass(frozen=True, eq=False)
class SearchedTable:
    """A statistic of a release, by the name that it has where it is searched."""

    id: str
    engine: QueryEngine
    name: str

    @property
    def product(self) -> Product:
        return self.engine.product(self.name)

    def attribute(self, name: str) -> Attribute:
        return next(one for one in self.product.attributes if one.name == name)

    def has(self, attribute: str, code: str = "") -> bool:
        """Whether it tells a variable apart, and down to a level."""
        own = next((one for one in self.product.attributes if one.name == attribute), None)
        return own is not None and (not code or own.levels.has(code))


@dataclass(frozen=True, eq=False)
class Topic:
    """One thing that words name: some tables, a variable of theirs, or a level of it, which may have another name."""

    tables: tuple[SearchedTable, ...]
    attribute: Attribute | None = None
    code: str = ""
    synonym: str = ""
    fit: int = 0


@dataclass(frozen=True, eq=False)
class _Block:
    """Texts of one kind that stand one after the other: titles, the label of a variable, or the names of its levels."""

    tables: tuple[SearchedTable, ...]
    texts: Sequence[str]
    attribute: Attribute | None = None
    codes: Sequence[str] = ()
    synonyms: bool = False

    def topic(self, row: int, fit: int) -> Topic | None:
        """What one of its texts names; nothing where no table goes down to its level."""
        code = self.codes[row] if self.codes else ""
        held = [one for one in self.tables if self.attribute is None or one.has(self.attribute.name, code)]
        said = self.texts[row] if self.synonyms else ""
        return Topic(tuple(held), self.attribute, code, said, fit) if held else None


class Topics:
    """Everything that can be found in some tables; made once, as their texts do not change."""

    def __init__(self, tables: Sequence[SearchedTable]) -> None:
        self.blocks = [*_blocks(tables)]
        self.phrases = Phrases(text for block in self.blocks for text in block.texts)
        self._firsts = [0]
        for block in self.blocks:
            self._firsts.append(self._firsts[-1] + len(block.texts))

    def find(self, words: Sequence[str], most: int) -> list[Topic]:
        """What the words name, the best first, each thing once: higher levels before lower ones."""
        found: dict[tuple[object, ...], tuple[tuple[int, int], Topic]] = {}
        for phrase in self.phrases.find(words):
            at = bisect_right(self._firsts, phrase.place) - 1
            topic = self.blocks[at].topic(phrase.place - self._firsts[at], phrase.fit)
            if topic is not None:
                key = (id(topic.tables[0]), topic.attribute and topic.attribute.name, topic.code)
                found.setdefault(key, ((phrase.fit, _depth(topic)), topic))
        ordered = sorted(found.values(), key=lambda one: one[0])
        return [topic for _, topic in ordered[:most]]

    @staticmethod
    def loose(topics: Sequence[Topic]) -> bool:
        """Whether none of them holds the words as they stand."""
        return all(one.fit == ANYWHERE for one in topics)


def _depth(topic: Topic) -> int:
    return len(topic.attribute.levels.path(topic.code)) if topic.attribute and topic.code else 0


def _blocks(tables: Sequence[SearchedTable]) -> Iterator[_Block]:
    """Titles first, then variables, then levels: of texts that fit alike the first is the first to be shown."""
    for one in tables:
        subject, said = one.product.subject, one.engine.release.manifest.languages.values()
        titles = [subject.title, subject.name, f"{subject.title} {subject.unit}"]
        titles += [told.titles[subject.title] for told in said if subject.title in told.titles]
        yield _Block((one,), tuple(dict.fromkeys(titles)))
    engines = dict.fromkeys(one.engine for one in tables)
    releases = [tuple(one for one in tables if one.engine is engine) for engine in engines]
    for some in releases:
        manifest = some[0].engine.release.manifest
        titles = [manifest.title, *(told.title for told in manifest.languages.values() if told.title)]
        yield _Block(some, tuple(dict.fromkeys(titles)))
    pairs = [(some, one) for some in releases for one in some[0].engine.release.attributes]
    for some, attribute in pairs:
        said = some[0].engine.release.manifest.languages.values()
        labels = [attribute.label, attribute.name]
        labels += [told.labels[attribute.name] for told in said if attribute.name in told.labels]
        yield _Block(some, tuple(dict.fromkeys(labels)), attribute)
    for some, attribute in pairs:
        yield from _levels(some, attribute)


def _levels(tables: tuple[SearchedTable, ...], attribute: Attribute) -> Iterator[_Block]:
    levels, synonyms = attribute.levels, attribute.synonyms
    if levels.labels != levels.codes:
        yield _Block(tables, levels.labels, attribute, levels.codes)
    for name, texts in levels.texts.items():
        if name.startswith("label."):
            yield _Block(tables, texts, attribute, levels.codes)
    yield _Block(tables, levels.codes, attribute, levels.codes)
    if len(levels.codes) <= MOST_JOINED:
        parted = [code for code in levels.codes if not code.isalnum()]
        joined = ["".join(letter for letter in code if letter.isalnum()) for code in parted]
        yield _Block(tables, joined, attribute, parted)
    yield _Block(tables, synonyms.names, attribute, synonyms.codes, synonyms=True)
