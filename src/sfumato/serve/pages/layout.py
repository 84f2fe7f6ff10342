"""Layout: a table as its page lays it out, read from the address of the page and written back to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from sfumato.errors import QueryError
from sfumato.query import Group
from sfumato.query.answer import Placement
from sfumato.query.engine import divisors
from sfumato.query.figures import per_one
from sfumato.schema import Levels
from sfumato.serve.address_parameters import Codes, Pairs, Parameters
from sfumato.serve.code_list import code_list, code_lists
from sfumato.serve.code_pairs import code_pairs, listed_pairs
from sfumato.serve.drawn import NothingMetError, apart
from sfumato.serve.editions import Sheet
from sfumato.serve.pages.look import NAMES, Look
from sfumato.serve.presentation import Presentation
from sfumato.serve.question import Groups, Question, all_groups, shown_codes, universe_codes, universe_pairs

Pair = tuple[str, str]
FIRST_PERIODS = "last8"
"""The list of periods that is shown first: as many as stand beside each other."""
ONLY_GROUPS = "groups"
"""The code list of a variable that shows nothing but the reader's own groups."""
_FEW_COLUMNS = 8
_PLAIN = ("rows", "cols", "wrap", *NAMES)
_OF_VARIABLE = ("codelist", "valueCodes", "group", "drawn", "sum")
PARAMETERS = (*_PLAIN, *_OF_VARIABLE)


@dataclass(frozen=True)
class Layout:
    """Rows, columns, one table for each level of a further variable, the codes of each variable, and the universe."""

    sheet: Sheet
    rows: tuple[str, ...]
    column: str | None
    wrap: str | None = None
    lists: Mapping[str, str] = field(default_factory=dict)
    picks: Codes = field(default_factory=dict)
    groups: Groups = field(default_factory=dict)
    within: Codes = field(default_factory=dict)
    look: Look = field(default_factory=Look)
    missed: str = ""
    """What was drawn on the map and meets no area of it: it is shown once, and stands in no address."""
    unshared: str = ""
    """The percentages that were asked for beside changes, which are of numbers: the page says that it left them out."""

    @classmethod
    def first(cls, sheet: Sheet, look: Look | None = None) -> "Layout":
        """What a reader sees first: the first variable by the first other one with few enough levels to stand above."""
        if not sheet.product.attributes:
            return cls(sheet, (), None, look=look or Look())
        first, *others = sheet.product.attributes
        listed = {one.name: code_list(one.levels, first_list(sheet, one.levels)) for one in others}
        narrow = [name for name, codes in listed.items() if len(codes) <= _FEW_COLUMNS]
        column = next((name for name in narrow if not sheet.source.refusal({first.name, name})), None)
        return cls(sheet, (first.name,), column, within=_held(sheet, {first.name, column}, {}), look=look or Look())

    @classmethod
    def read(cls, sheet: Sheet, pairs: Pairs) -> "Layout":
        """The layout that an address means; it reads `PARAMETERS`, and of others the page says that it does not."""
        lower = {one.lower() for one in PARAMETERS}
        known = [(key, value) for key, value in pairs if value and key.partition("[")[0].lower() in lower]
        given = Parameters.read(known, _PLAIN, _OF_VARIABLE)
        look, start = Look.read(given), cls.first(sheet)
        chosen = "rows" in given.plain
        rows = tuple(dict.fromkeys(given.plain["rows"])) if chosen else start.rows
        column = given.plain.get("cols", (None if chosen else start.column,))[-1]
        wrap = given.plain.get("wrap", (None,))[-1]
        _refuse_twice(sheet, rows, column, wrap)
        groups, missed = _grouped(sheet, given, look)
        lists = {sheet.attribute(name).name: values[-1] for name, values in given.of_variable["codelist"].items()}
        picks = dict(shown_codes(sheet, given.of_variable["valueCodes"], {}))
        if len(picks.get(sheet.time, ())) == 1 and sheet.time not in {*rows, column, wrap}:
            sheet = sheet.timeline.sheet(picks.pop(sheet.time)[-1])
        within = _held(sheet, {*rows, column, wrap}, universe_codes(sheet, given.of_variable["sum"]))
        unshared = look.share if look.change or look.per else ""
        look = look.but(share="") if unshared else look
        return cls(sheet, rows, column, wrap, lists, picks, groups, within, look, missed, unshared)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that are laid out: rows, then the column, then what the tables are told apart by."""
        return (*self.rows, *(name for name in (self.column, self.wrap) if name))

    @property
    def idle(self) -> tuple[str, ...]:
        """The parameters that choose codes or groups of variables that are not laid out, which changes nothing."""
        chosen = [("valueCodes", name) for name in self.picks] + [("group", name) for name in self.groups]
        return tuple(f"{key}[{name}]" for key, name in chosen if name not in self.names)

    @property
    def wholes(self) -> tuple[str, ...]:
        """The variables whose totals percentages are of; without columns a row is of the whole."""
        return (*self.kept, *([self.wrap] if self.wrap and self.wrap != self.sheet.time else ()))

    @property
    def kept(self) -> tuple[str, ...]:
        """The same within one of several tables; percentages are always of one period."""
        inner = {"row": self.rows, "column": (self.column or "",)}.get(self.look.share, ()) if self.column else ()
        kept = tuple(name for name in inner if name != self.sheet.time)
        # Of its own total in its period every number is all.
        return kept if {*kept} < {*self.rows, self.column} - {self.sheet.time, None} else ()

    @property
    def share(self) -> str:
        """What percentages are of: the row, the column, or the whole where no other number stands beside one."""
        return self.look.share if self.kept or not self.look.share else "whole"

    @property
    def timed(self) -> bool:
        """Whether periods are laid out."""
        return bool(self.sheet.time) and self.sheet.time in self.names

    def list_of(self, name: str) -> str:
        if name in self.lists:
            return self.lists[name]
        return FIRST_PERIODS if name == self.sheet.time else first_list(self.sheet, self.sheet.attribute(name).levels)

    @property
    def question(self) -> Question:
        picks = {name: self.picks[name] for name in self.names if name in self.picks}
        shown = shown_codes(self.sheet, picks, self._lists(), self.groups)
        groups = {name: self.groups[name] for name in self.names if name in self.groups}
        kept = {name: shown[name] for name in shown if name in self.names}
        return Question(self.sheet, kept, self.within, groups, self.look.change, self.look.per)

    @property
    def placement(self) -> Placement:
        return Placement(self.rows, (self.column,) if self.column else ())

    @property
    def presentation(self) -> Presentation:
        """How the page shows the numbers, for who takes them along; several tables are each sorted by themselves."""
        look = self.look
        share = self.share
        if share and self.wrap:
            share = ",".join(self.wholes)
        sort = "" if self.wrap else self.sorted_by
        return Presentation(share, sort, look.order if sort else "falling", look.error, look.change, look.per)

    @property
    def divisors(self) -> dict[str, str]:
        """The counts of the same records that numbers may be divided by, by name, and one of what each counts."""
        laid = {*self.names, *self.within} - {self.sheet.time}
        found = divisors(self.sheet.edition.engine, self.sheet.product.subject.name, laid)
        return {one.name: one.one for one in found}

    @property
    def per(self) -> str:
        """One of what means are per; '' where numbers are shown as they are."""
        return self.divisors.get(self.look.per, self.look.per)

    @property
    def subject(self) -> str:
        """What the numbers are called: their statistic, and what it is divided by."""
        title = self.sheet.product.subject.title
        return per_one(title, self.per, self.look.language) if self.per else title

    @property
    def unit(self) -> str:
        """What the numbers are counted in."""
        unit = self.sheet.product.subject.unit
        return per_one(unit, self.per, self.look.language) if self.per else unit

    @property
    def sorted_by(self) -> str:
        """The column that the rows are sorted by; '' where they stand as in their list.

        The form carries the order along, so it may name a column of the table that was shown before; and of its row
        every total is 100%.
        """
        sort = self.look.sort
        if not sort or len(self.rows) > 1:
            return ""
        if sort == "total" or not self.column:
            return "" if self.column and self.look.share == "row" else "total"
        known = {*self.question.shown[self.column], *(one.code for one in self.groups.get(self.column, ()))}
        return sort if sort in known else ""

    def address(self, look: Look | None = None) -> str:
        """The query string of this page, or of the same table in another look."""
        pairs = [("rows", name) for name in self.rows]
        pairs += [("cols", self.column)] if self.column else []
        pairs += [("wrap", self.wrap)] if self.wrap else []
        told = {*self.groups, *(one for one in self.lists if one == self.sheet.time)}
        deep = [name for name in self.names if self.sheet.attribute(name).levels.depth or name in told]
        pairs += [(f"codelist[{name}]", self.list_of(name)) for name in deep if name not in self.picks]
        pairs += [pair for name in self.names for pair in self.picked(name)]
        pairs += [pair for name in self.groups for pair in self.grouped(name)]
        pairs += universe_pairs(self.sheet, self.within)
        return urlencode([*pairs, *(look or self.look).pairs()], safe="[],:*")

    @property
    def lasting(self) -> "Layout":
        """The same table of the very releases that its numbers are from."""
        question, line, look = self.question, self.sheet.timeline, self.look
        if look.change:
            sheets = question.sheets if self.timed else [self.sheet]
            look = look.but(change=line.lasting_since(sheets, look.change))
        if not self.timed:
            return replace(self, look=look)
        time = self.sheet.time
        lists = {name: listed for name, listed in self.lists.items() if name != time}
        picks = {**self.picks, time: tuple(line.lasting(question.shown[time]))}
        return replace(self, look=look, picks=picks, lists=lists)

    def picked(self, name: str) -> list[Pair]:
        """The codes of a variable that were picked one by one, as parameters."""
        key, codes, levels = f"valueCodes[{name}]", self.picks.get(name, ()), self.sheet.attribute(name).levels
        return (listed_pairs if name == self.sheet.time else code_pairs)(key, codes, levels)

    def grouped(self, name: str) -> list[Pair]:
        """The groups of a variable as parameters."""
        key, levels, (groups, drawings) = f"group[{name}]", self.sheet.attribute(name).levels, apart(self.of(name))
        listed = [pair for group in groups for pair in code_pairs(key, group.codes, levels, f"{group.name}:")]
        return listed + [(f"drawn[{name}]", one) for one in drawings]

    def of(self, name: str) -> tuple[Group, ...]:
        """The groups of a variable."""
        return self.groups.get(name, ())

    def held(self, name: str) -> list[Pair]:
        """The universe as far as it is about one variable, in as few parameters as hold it."""
        return universe_pairs(self.sheet, {name: self.within.get(name, ())})

    def _lists(self) -> Codes:
        """The code lists of the variables that were not picked from and show more than groups."""
        listed = {name: self.list_of(name) for name in self.names if name not in self.picks}
        return {name: (chosen,) for name, chosen in listed.items() if chosen != ONLY_GROUPS or name not in self.groups}


def _grouped(sheet: Sheet, given: Parameters, look: Look) -> tuple[Groups, str]:
    """The groups of an address, and a drawing that meets no area, which the map shows where there is one."""
    listed, drawn = given.of_variable["group"], given.of_variable["drawn"]
    parts = look.words.listed("drawn_parts")
    try:
        return all_groups(sheet, listed, drawn, parts), ""
    except NothingMetError as error:
        if look.view != "map":
            raise
        others = {name: outlines for name, outlines in drawn.items() if name != error.name}
        return all_groups(sheet, listed, others, parts), error.outline


def _refuse_twice(sheet: Sheet, rows: tuple[str, ...], column: str | None, wrap: str | None) -> None:
    seen: set[str] = set()
    for name in [*rows, *(one for one in (column, wrap) if one)]:
        label = sheet.attribute(name).label
        if name in seen:
            where = "in the rows and in the columns" if name == column else "in the table and tells tables apart"
            raise QueryError(f"{label} stands {where}; choose another.")
        seen.add(name)


def first_list(sheet: Sheet, levels: Levels) -> str:
    """The code list that a variable shows first: its highest level of several codes; the lowest where no sum may be."""
    if not sheet.product.subject.additive:
        return "leaves"
    return next((one for one in code_lists(levels) if len(code_list(levels, one)) > 1), "level0")


def _held(sheet: Sheet, placed: set[str | None], within: Codes) -> Codes:
    """The universe; where numbers may not be summed, a variable that stands nowhere is held to its fullest level."""
    if sheet.product.subject.additive:
        return within
    free = [one for one in sheet.product.attributes if one.name not in placed and one.name not in within]
    return {**within, **{one.name: (sheet.fullest(one.name, one.levels.leaves),) for one in free}}
