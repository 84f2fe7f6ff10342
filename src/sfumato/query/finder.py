"""Finder: what words may mean in releases: a table, a variable, a level or several of these, with its number."""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, pairwise
from pathlib import Path

from sfumato.errors import QueryError
from sfumato.foreign_text import joined
from sfumato.query.engine import QueryEngine, divisors, open_folder
from sfumato.query.estimate import Estimate
from sfumato.query.figures import per_one
from sfumato.query.phrases import words_of
from sfumato.query.search_topics import SearchedTable, Topic, Topics
from sfumato.query.wording import languages, words

LONGEST, MOST_WORDS = 200, 8
"""The most characters that are looked for, and the most words of them."""
MOST = 20
"""The most that is found at once."""
OTHERS = 3
"""In how many other tables of its release what is found has its number told."""
MOST_PARTS, MOST_LOOKED_UP = 3, 15
"""How many things words may name one after the other, and how many parts of them are looked up."""
_FEW_LEVELS = 8


@dataclass(frozen=True, eq=False)
class Find:
    """What words may mean: a table, held to some levels, with a variable along its rows."""

    table: SearchedTable
    codes: tuple[tuple[str, str], ...] = ()
    """The levels, each after its variable."""
    variable: str = ""
    share: bool = False
    """Whether what is meant is the share of the level in each row."""
    synonym: str = ""
    per: str = ""
    """The count that means are per, where means are meant."""
    others: tuple[SearchedTable, ...] = field(default=(), repr=False)
    """The other tables of the release that have the same levels."""

    @cached_property
    def figure(self) -> Estimate | None:
        """The one number that is meant; none where rows are, or where the release does not answer."""
        if self.variable:
            return None
        engine, where = self.table.engine, dict(self.codes)
        try:
            return (
                engine.mean(self.table.name, where, self.per) if self.per else engine.total(where, of=self.table.name)
            )
        except QueryError:  # it may not be summed, or the cell is withheld: the table says why
            return None

    @property
    def statistic(self) -> str:
        """What its numbers are called: of means also what they are per."""
        return self._per_one(self.table.product.subject.title)

    @property
    def unit(self) -> str:
        """What its numbers are counted in."""
        return self._per_one(self.table.product.subject.unit)

    def _per_one(self, what: str) -> str:
        engine = self.table.engine
        return per_one(what, engine.product(self.per).subject.one, engine.release.language) if self.per else what

    def with_others(self, most: int = OTHERS) -> tuple["Find", ...]:
        """The number that is meant, and that of the same levels in so many other tables of the release."""
        others = () if self.variable else self.others[:most]
        return (self, *(replace(self, table=table, others=()) for table in others))

    @property
    def label(self) -> str:
        """What was found by its own name: levels, else the variable, else the statistic."""
        labels = [self.table.attribute(name).levels.label(code) for name, code in self.codes]
        labels += [self.table.attribute(self.variable).label] if self.variable else []
        return joined(", ", labels) or self.table.product.subject.title


@dataclass(frozen=True)
class Finds:
    """All that was found, the words that were looked for, and whether some of them were taken for others."""

    finds: tuple[Find, ...]
    meant: tuple[str, ...]
    mistyped: bool = False

    def __iter__(self) -> Iterator[Find]:
        return iter(self.finds)

    def __len__(self) -> int:
        return len(self.finds)


class Finder:
    """Answers what words may mean in some tables; its index is made when it is."""

    def __init__(self, tables: Sequence[SearchedTable]) -> None:
        self.topics = Topics(tables)
        self.tables = {one.id: one for one in tables}
        self.skipped, self.of_means = (
            frozenset(word for code in languages() for word in words_of(words(code)(f"search.{key}")))
            for key in ("skipped", "means")
        )

    def told(self, tables: Sequence[SearchedTable]) -> "Finder":
        """The same finder whose finds are of these tables: the same ones, in another language."""
        made = copy(self)
        made.tables = {one.id: one for one in tables}
        return made

    def prepare(self) -> None:
        """Make what mistyped words are compared with, too, so that nobody who asks waits for it."""
        _ = self.topics.phrases.near

    def find(self, asked: str, most: int = MOST) -> Finds:
        """What the words may mean, the best first; words that no text has are taken for the nearest that one has."""
        wanted = words_of(asked[:LONGEST])[:MOST_WORDS]
        if not wanted or most < 1:
            return Finds((), wanted)
        kept = tuple(one for one in wanted if one not in self.skipped) or wanted
        others = tuple(one for one in kept if one not in self.of_means)
        found = self._found(wanted, kept, most) or (self._means(others, most) if others != kept else ())
        if found:
            return Finds(found, wanted)
        meant = self.topics.phrases.meant(others)
        if meant == others:
            return Finds((), wanted)
        found = self._found(meant, meant, most) if others == kept else self._means(meant, most)
        return Finds(found, meant, mistyped=True)

    def _means(self, others: tuple[str, ...], most: int) -> tuple[Find, ...]:
        """What is meant where words ask for a mean and name nothing as they stand: what the others name, per record."""
        found = self._found(others, others, most) if others else ()
        amounts = found if others else tuple(map(Find, self.tables.values()))
        return (*(mean for one in amounts for mean in _mean(one)), *found)[:most]

    def _found(self, wanted: tuple[str, ...], kept: tuple[str, ...], most: int) -> tuple[Find, ...]:
        whole = self.topics.find(wanted, most) or (self.topics.find(kept, most) if kept != wanted else [])
        alone = [one for topic in whole for one in _single(topic)]
        together = [*self._together(kept)] if self.topics.loose(whole) and len(kept) > 1 else []
        unique = {(one.table.id, one.codes, one.variable, one.share): one for one in reversed([*together, *alone])}
        return tuple(self._in_language(one) for one in tuple(reversed(unique.values()))[:most])

    def _in_language(self, one: Find) -> Find:
        others = tuple(self.tables[other.id] for other in one.others)
        return replace(one, table=self.tables[one.table.id], others=others)

    def _together(self, wanted: Sequence[str]) -> Iterator[Find]:
        """Several things that the words name one after the other, and one table has all of."""
        found: dict[tuple[str, ...], list[Topic]] = {}
        for count in range(2, min(MOST_PARTS, len(wanted)) + 1):
            for cuts in combinations(range(1, len(wanted)), count - 1):
                ends = (0, *cuts, len(wanted))
                parts = [tuple(wanted[low:high]) for low, high in pairwise(ends)]
                for part in parts:
                    if part not in found:
                        found[part] = self.topics.find(part, MOST)
                    if not found[part]:
                        break
                finds = [*_combined([found.get(part, []) for part in parts])]
                yield from finds
                if finds or len(found) >= MOST_LOOKED_UP:
                    return


def _mean(one: Find) -> Iterator[Find]:
    """The mean of which a find is the amount, where a count of the same records is in the release."""
    named = [*(name for name, _ in one.codes), *([one.variable] if one.variable else [])]
    for table in (one.table, *one.others):
        for number in divisors(table.engine, table.name, named)[: not one.share]:
            yield replace(one, table=table, per=number.name, others=())


def _single(topic: Topic) -> Iterator[Find]:
    """What one thing alone means: a level, a variable along the rows, or each of the tables."""
    first, *others = topic.tables
    if topic.attribute is None:
        yield from (Find(one) for one in topic.tables)
    elif topic.code:
        yield Find(first, ((topic.attribute.name, topic.code),), synonym=topic.synonym, others=tuple(others))
    else:
        yield Find(first, variable=topic.attribute.name, others=tuple(others))


def _combined(parts: Sequence[Sequence[Topic]]) -> Iterator[Find]:
    """For each table what fits it best of each part, unless two are about one variable or it cannot tell them."""
    tables = dict.fromkeys(table for topics in parts for topic in topics for table in topic.tables)
    for table in tables:
        chosen = [next((one for one in topics if table in one.tables), None) for topics in parts]
        if None not in chosen:
            yield from _meant(table, [one for one in chosen if one is not None])


def _meant(table: SearchedTable, topics: Sequence[Topic]) -> Iterator[Find]:
    codes = tuple((one.attribute.name, one.code) for one in topics if one.attribute and one.code)
    held = {name for name, _ in codes}  # who names a level after its variable names the level
    variables = [
        one.attribute.name for one in topics if one.attribute and not one.code and one.attribute.name not in held
    ]
    named = [*(name for name, _ in codes), *variables]
    if not named or len(set(named)) < len(named) or len(variables) > 1:
        return
    if table.engine.source(table.name).refusal(set(named)):
        return
    synonym = next((one.synonym for one in topics if one.synonym), "")
    variable = variables[0] if variables else ""
    finds = [Find(table, codes, variable, synonym=synonym)]
    if variable and len(codes) == 1 and table.product.subject.additive:
        few = len(table.attribute(codes[0][0]).levels.codes) <= _FEW_LEVELS
        # Of a trait with few levels the share is what tells rows apart; their sizes say little of it.
        finds.insert(0 if few else 1, Find(table, codes, variable, share=True, synonym=synonym))
    yield from finds


def find(releases: Iterable[QueryEngine | Path | str], asked: str, most: int = MOST) -> Finds:
    """What words may mean in some releases, each opened or given by its folder, with its number where there is one."""
    engines = [one if isinstance(one, QueryEngine) else open_folder(one) for one in releases]
    # What is said in a language lacks the names of the own one, so that these are looked through and those are told.
    return Finder(_searched([one.own for one in engines])).told(_searched(engines)).find(asked, most)


def _searched(engines: Sequence[QueryEngine]) -> list[SearchedTable]:
    """Every statistic of the releases, by its place among them."""
    return [
        SearchedTable(f"{place}~{name}", engine, name) for place, engine in enumerate(engines)
        for name in engine.statistics
    ]  # fmt: skip
