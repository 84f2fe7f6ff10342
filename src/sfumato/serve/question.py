"""Question: what an address asks of a table, and how it is written back into one."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote, urlencode

from sfumato.errors import QueryError, TooFineError
from sfumato.query import LARGEST_PAGE, ChangedTable, Crosstab, Group, Means, ReleasePeriod, SeriesTable
from sfumato.query.answer import Placement
from sfumato.query.changed_table import refuse_other_levels
from sfumato.query.periods import NothingBeforeError
from sfumato.query.portable import Portable
from sfumato.schema import Levels
from sfumato.serve.address_parameters import Codes, Pairs, shortened
from sfumato.serve.code_list import CodeList, code_list, code_lists
from sfumato.serve.code_pairs import ALL as _ALL
from sfumato.serve.code_pairs import code_pairs
from sfumato.serve.drawn import apart, drawn_groups
from sfumato.serve.editions import Sheet
from sfumato.serve.group_bounds import GroupBounds

Groups = Mapping[str, tuple[Group, ...]]


@dataclass(frozen=True)
class Question:
    """Which codes and groups of which variables are laid out, within which universe; all others are summed over.

    Variables stand in the order of the table and codes in the order of their list, so however an address is written,
    the same question has the same answer to the last byte.
    """

    sheet: Sheet
    shown: Codes
    within: Codes
    groups: Groups = field(default_factory=dict)
    since: str = ""
    """What changes are counted from, where they are asked for: "last", "year", a period or a release."""
    per: str = ""
    """The statistic whose numbers these are divided by, where means are asked for."""

    def table(
        self, rows: Sequence[str] | None = None, column: str | None = None, at_most: int | None = None
    ) -> Portable:
        """The answer, laid out by some of the shown variables, by all of them unless told: numbers, or changes."""
        names, time = list(self.shown) if rows is None else list(rows), self.sheet.time
        if not time or time not in {*names, column}:
            return self._of(self.sheet, names, column, at_most)
        laid = [*names, *([column] if column else [])]
        own, above = [one for one in names if one != time], None if column == time else column
        told = dict(self._told(own, above, at_most))
        refuse_other_levels(list(told.values()), [one.code for one in told])
        found = SeriesTable(list(told.values()), list(told), place=laid.index(time), has_columns=column is not None)
        if found.size > LARGEST_PAGE:
            raise QueryError(
                f"The table has {found.size:,} cells over {len(told)} periods, more than {LARGEST_PAGE:,}; choose "
                "fewer periods, a higher level, or filter."
            )
        return found

    def crosstab(self, rows: Sequence[str], column: str | None = None, at_most: int | None = None) -> Crosstab:
        """The numbers of the release itself, by variables other than the period."""
        return self._numbers(self.sheet, rows, column, at_most)

    def divisor(self, rows: Sequence[str], column: str | None = None) -> Crosstab:
        """The numbers that means are divided by."""
        return self._numbers(self.sheet, rows, column, None, self.per)

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """The tables of the releases that the answer is from."""
        time = self.sheet.time
        codes = self.shown.get(time, ()) if time else ()
        return tuple(self.sheet.timeline.sheet(code) for code in codes) or (self.sheet,)

    def _told(
        self, rows: Sequence[str], column: str | None, at_most: int | None
    ) -> Iterator[tuple[ReleasePeriod, Portable]]:
        """The table in each period that is shown; of changes, in each that has something to be compared with."""
        line, first = self.sheet.timeline, ""
        for code in self.shown[self.sheet.time]:
            try:
                table = self._of(line.sheet(code), rows, column, at_most)
            except NothingBeforeError as error:
                first = first or str(error)
                continue
            except QueryError as error:
                raise QueryError(f"{code}: {error}") from None
            first, told = "-", line.axis_period(code)
            yield (
                replace(told, label=f"{table.since} → {told.label}") if isinstance(table, ChangedTable) else told,
                table,
            )
        if first not in {"", "-"}:
            raise QueryError(first)

    def _of(self, sheet: Sheet, rows: Sequence[str], column: str | None, at_most: int | None) -> Portable:
        after = self._numbers(sheet, rows, column, at_most)
        if self.per:
            return self._means(sheet, after, rows, column, at_most)
        if not self.since:
            return after
        line = self.sheet.timeline
        before = line.before(sheet, self.since)
        if before is sheet:
            raise NothingBeforeError(f"{sheet.period} is not compared with itself; choose another period.")
        if after.size > LARGEST_PAGE:
            raise QueryError(f"Changes are given of at most {LARGEST_PAGE:,} cells; this table has {after.size:,}.")
        names = [line.named(one) for one in (before, sheet)]
        return ChangedTable(self._numbers(before, rows, column, at_most), after, *names)

    def _means(
        self, sheet: Sheet, amount: Crosstab, rows: Sequence[str], column: str | None, at_most: int | None
    ) -> Means:
        if self.since:
            raise QueryError("Changes are of numbers, not of means; ask for one of the two at a time.")
        if amount.size > LARGEST_PAGE:
            raise QueryError(f"Means are given of at most {LARGEST_PAGE:,} cells; this table has {amount.size:,}.")
        return Means(amount, self._numbers(sheet, rows, column, at_most, self.per))

    def _numbers(
        self, sheet: Sheet, rows: Sequence[str], column: str | None, at_most: int | None, of: str = ""
    ) -> Crosstab:
        at: dict[str, tuple[str | Group, ...]] = {
            one: (*self.shown[one], *self.groups.get(one, ())) for one in self.shown if one in {*rows, column}
        }
        name = of or sheet.product.subject.name
        try:
            return sheet.edition.engine.table(rows, column, where=self.within, of=name, at=at, at_most=at_most)
        except TooFineError as error:
            raise QueryError(f"{error.why}; ask for {self._coarser(error.coarser)}.") from None

    def _coarser(self, depths: Mapping[str, int]) -> str:
        """Levels as the form calls them, and as an address has them where they are laid out."""
        said = []
        for name, depth in depths.items():
            attribute, listed = self.sheet.attribute(name), f"level{depth}"
            words = f"the {code_lists(attribute.levels)[listed]} of {attribute.label}"
            said.append(f"{words} (codelist[{name}]={listed})" if name in self.shown else words)
        return ", ".join(said) or "fewer variables"


def shown_codes(sheet: Sheet, values: Codes, lists: Codes, groups: Groups | None = None) -> Codes:
    """The codes that each variable shows: those that are named, all codes of the list that is named, or only groups."""
    for name in [*values, *lists]:
        sheet.attribute(name)
    shown: dict[str, tuple[str, ...]] = {}
    if sheet.time and sheet.time in (groups or {}):
        raise QueryError("Periods are not added up, so they have no groups; name them with valueCodes.")
    for name in sheet.names:
        if name in values or name in lists:
            shown[name] = _chosen(sheet, name, values.get(name, (_ALL,)), lists.get(name, ("all",))[-1])
        elif groups and name in groups:
            shown[name] = ()
    if sheet.time and (sheet.time in values or sheet.time in lists):
        line, last = sheet.timeline, lists.get(sheet.time, ("all",))[-1]
        shown[sheet.time] = line.chosen(values[sheet.time]) if sheet.time in values else line.listed(last)
    return shown


def universe_codes(sheet: Sheet, sums: Codes) -> Codes:
    """The codes that the universe is held to; a variable outside the table may only repeat the table's own universe."""
    universe = sheet.product.subject.universe
    within = {}
    if sheet.time and sheet.time in sums:
        raise QueryError(f"Periods are not added up; show them with valueCodes[{sheet.time}].")
    for name in sorted(sums, key=lambda one: sheet.names.index(one) if one in sheet.names else -1):
        outside = name in universe and name not in sheet.names
        asked = _split(sums[name], universe[name]) if outside else _chosen(sheet, name, sums[name], "all")
        within[name] = universe[name] if outside and set(asked) == set(universe[name]) else asked
    return within


def all_groups(sheet: Sheet, listed: Codes, drawn: Codes, named: Mapping[str, str] | None = None) -> Groups:
    """The groups of each variable: those that a reader made by codes, then the parts of what a reader has drawn."""
    groups, parts = group_codes(sheet, listed), drawn_groups(sheet, drawn, named)
    return {name: (*groups.get(name, ()), *parts.get(name, ())) for name in {**groups, **parts}}


def group_codes(sheet: Sheet, given: Codes) -> Groups:
    """The groups that a reader made, as in `group[state]=Sunbelt:TX,FL`; the same name twice adds to the group."""
    groups = {}
    for name in sorted(given, key=lambda one: sheet.names.index(one) if one in sheet.names else -1):
        members: dict[str, list[str]] = {}
        for written in given[name]:
            title, colon, codes = written.partition(":")
            if not colon or not title.strip():
                raise QueryError(
                    f"{sheet.attribute(name).label}: a group is written as its name, a colon and its codes, as in "
                    f"'My group:{','.join(sheet.attribute(name).levels.codes[:2])}'; got '{shortened(written)}'."
                )
            members.setdefault(title.strip(), []).append(codes)
        bounds = GroupBounds(sheet.attribute(name))
        groups[name] = tuple(
            bounds.add(Group(title, _chosen(sheet, name, tuple(codes), "all"))) for title, codes in members.items()
        )
    return groups


def _chosen(sheet: Sheet, name: str, given: tuple[str, ...], listed: str) -> tuple[str, ...]:
    attribute = sheet.attribute(name)
    known = CodeList(attribute.levels, listed)
    asked = _split(given, known)
    if not asked:
        raise QueryError(f"{attribute.label}: no code is given; name codes, or {_ALL} for all.")
    for code in asked:
        if code not in known and code != _ALL:
            raise QueryError(f"{attribute.label}: {_hint(attribute.levels, shortened(code), listed)}")
    return known.codes if _ALL in asked else known.in_order(asked)


def _split(given: tuple[str, ...], known: Container[str]) -> tuple[str, ...]:
    """Codes are parted by commas; a code that has a comma itself stands alone in a parameter of its own."""
    parts = [[value] if value in known else value.split(",") for value in given]
    return tuple(code.strip() for part in parts for code in part if code.strip())


def _hint(levels: Levels, code: str, listed: str) -> str:
    try:
        found = levels.find(code)
    except KeyError as error:
        return f"{error.args[0]}"
    if found == code:
        return f"'{code}' is not in the code list '{listed}'"
    return f"'{code}' is a label; its code is '{found}'"


def data_path(sheet: Sheet, base: str, *, lasting: bool = True) -> str:
    """Where a table gives its data; the lasting path names this very release."""
    return f"{base}/api/v2/tables/{quote(sheet.lasting_id if lasting else sheet.id, safe='~')}/data"


def data_query(
    question: Question,
    placement: Placement | None = None,
    form: str = "",
    language: str = "en",
    further: Pairs = (),
    *,
    lasting: bool = False,
) -> str:
    """The query string of a question; a code list stands for its codes where they are just those.

    A lasting one names the very releases of the periods that are shown.
    """
    pairs = [pair for name in question.shown for pair in _laid_out(question, name, lasting=lasting)]
    for name, groups in question.groups.items():
        (listed, drawings), levels = apart(groups), question.sheet.attribute(name).levels
        pairs += [pair for one in listed for pair in code_pairs(f"group[{name}]", one.codes, levels, f"{one.name}:")]
        pairs += [(f"drawn[{name}]", one) for one in drawings]
    pairs += universe_pairs(question.sheet, question.within)
    if placement is not None:
        pairs += [("stub", name) for name in placement.stub] + [("heading", name) for name in placement.heading]
    pairs += further
    own = question.sheet.edition.release.own.manifest.own_language
    pairs += [("lang", language)] if language != own else []
    pairs += [("outputFormat", form)] if form else []
    return urlencode(pairs, safe="[],:*")


def universe_pairs(sheet: Sheet, within: Codes) -> list[tuple[str, str]]:
    """A universe in as few parameters as hold it; of a variable outside the table code by code."""
    return [
        pair
        for name, codes in within.items()
        for pair in (
            code_pairs(f"sum[{name}]", codes, sheet.attribute(name).levels)
            if name in sheet.names
            else [(f"sum[{name}]", code) for code in codes]
        )
    ]


def _laid_out(question: Question, name: str, *, lasting: bool) -> list[tuple[str, str]]:
    levels, codes = question.sheet.attribute(name).levels, question.shown[name]
    if not codes:
        return []
    if name == question.sheet.time and lasting:
        return [(f"valueCodes[{name}]", ",".join(question.sheet.timeline.lasting(codes)))]
    if not levels.depth and codes == levels.codes:
        return [(f"valueCodes[{name}]", "*")]
    for listed in code_lists(levels):
        if code_list(levels, listed) == codes:
            return [(f"codelist[{name}]", listed)]
    # A code that holds a comma stands alone in a parameter of its own.
    together = [code for code in codes if "," not in code]
    pairs = [(f"valueCodes[{name}]", ",".join(together))] if together else []
    return pairs + [(f"valueCodes[{name}]", code) for code in codes if "," in code]
