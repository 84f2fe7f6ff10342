"""The form of the table builder: what may be chosen, what is, and the address without each choice."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import quote

from sfumato.errors import QueryError
from sfumato.foreign_text import joined
from sfumato.query import Group
from sfumato.query.periods import SINCE, counted_from
from sfumato.schema import Attribute
from sfumato.serve.code_list import code_list, code_lists
from sfumato.serve.drawn import DrawnGroup, apart
from sfumato.serve.pages.charts import chart_of
from sfumato.serve.pages.fitting import fitting
from sfumato.serve.pages.layout import ONLY_GROUPS, Layout, Pair
from sfumato.serve.pages.link_room import has_room

FEW = 40
"""The most codes that are offered as boxes to tick; longer lists are chosen from on a page of their own."""
# What a reader chooses by the picture itself, so the form carries it along unseen.
_CARRIED = ("sort", "order", "view", "chart", "map", "of", "line", "own", "hold", "lang")


@dataclass(frozen=True)
class Option:
    value: str
    label: str
    chosen: bool = False
    depth: int = 0


@dataclass(frozen=True)
class Chip:
    """Something that was chosen, in words, and the address of the table without it."""

    label: str
    words: str
    without: str


@dataclass(frozen=True)
class Choice:
    """One field: its name in the address, its label and its options."""

    name: str
    label: str
    options: tuple[Option, ...] = ()
    chosen: int = 0
    single: bool = False
    """Whether one option is chosen at a time, as numbers that may not be summed are of one level."""


@dataclass(frozen=True)
class CodesShown:
    """Which codes a variable of the table shows: a level, or codes and groups that were picked."""

    attribute: Attribute
    levels: tuple[Option, ...]
    picked: Chip | None
    groups: tuple[Chip, ...]


LAST = (2, 4, 8, 12, 20)
"""How many of the last periods are offered."""


@dataclass(frozen=True)
class Form:
    """Where variables may stand, how much of each is shown and what else may be chosen, as a layout fills it in."""

    layout: Layout

    @property
    def universe(self) -> list[Choice]:
        attributes = self.layout.sheet.product.attributes
        return [_universe(one, self.layout) for one in attributes if not _refusal(self.layout, one.name)]

    @property
    def filters(self) -> list[Chip]:
        layout = self.layout
        return [_filter(name, layout) for name in layout.within if name in layout.sheet.names]

    @property
    def refusal(self) -> str:
        """Why some variables are not offered."""
        refusals = (_refusal(self.layout, one.name) for one in self.layout.sheet.product.attributes)
        refusal = next(filter(None, refusals), "")
        product = self.layout.sheet.product
        return refusal and (product.together or product.says(refusal))

    @property
    def carried(self) -> list[Pair]:
        """What no field of the form shows, so that it is not lost when the form is sent."""
        layout = self.layout
        look = layout.look
        # A map has a field for the figures that a reader brings, lines have boxes for the rows that they are of.
        seen = "own" if look.view == "map" else "line" if (look.view, chart_of(layout)) == ("chart", "line") else ""
        kept = [pair for pair in look.pairs() if pair[0] in _CARRIED and pair[0] != seen]
        kept += [pair for name in layout.names for pair in (*layout.picked(name), *layout.grouped(name))]
        for name in layout.within:
            if name not in layout.sheet.names or len(layout.sheet.attribute(name).levels.codes) > FEW:
                kept += layout.held(name)
        return kept

    @property
    def places(self) -> list[tuple[Choice, CodesShown | None]]:
        layout, words = self.layout, self.layout.look.words
        first, second = (*layout.rows, "", "")[:2]
        none = Option("", words("build.none"))
        stands = [("rows", "rows", first), ("rows", "then", second)]
        stands += [("cols", "columns", layout.column or ""), ("wrap", "wrap", layout.wrap or "")]
        found = []
        for name, key, chosen in stands:
            kept = [one for one in layout.sheet.product.attributes if not _refusal(layout, one.name, chosen)]
            kept += [layout.sheet.timeline.attribute] if self.periods else []
            if not chosen and layout.rows and {one.name for one in kept} <= {*layout.names}:
                kept = [one for one in kept if one.name != layout.rows[0]]  # rows would be left without a variable
            said = {layout.sheet.time: words("about.period")}
            offered = (Option(one.name, said.get(one.name, one.label), one.name == chosen) for one in kept)
            choice = Choice(name, words(f"build.{key}"), (*(() if key == "rows" else (none,)), *offered))
            found.append((choice, _detail(layout.sheet.attribute(chosen), layout) if chosen else None))
        return found

    @property
    def periods(self) -> tuple[str, ...]:
        """The periods of the series, the newest first; none where there is one alone."""
        sheet = self.layout.sheet
        found = tuple(sheet.timeline.periods) if sheet.time else ()
        return found[::-1] if len(found) > 1 else ()

    @property
    def strip(self) -> list[tuple[str, str, bool]]:
        """The same table in each period: its name, the address of its table, and whether it is the one shown.

        Changes are of periods that have an earlier one to be compared with.
        """
        layout = self.layout
        look = layout.look.but(cell="", hold="")
        line = layout.sheet.timeline
        return [
            (one, f"{quote(line.sheet(one).id, safe='~')}?{layout.address(look)}", one == layout.sheet.period)
            for one in self.periods[::-1]
            if one == layout.sheet.period or not look.change or line.has_before(line.sheet(one), look.change)
        ]

    @property
    def changes(self) -> tuple[Option, ...]:
        """What changes may be counted from: nothing, the period before, a year before, or a period."""
        layout, words = self.layout, self.layout.look.words
        line, (chosen, _) = layout.sheet.timeline, counted_from(layout.look.change)
        whole = [layout.sheet] if not layout.timed else list(line.periods.values())
        offered = [("", words("build.change_none"))]
        offered += [
            (since, words(f"build.change_{since}"))
            for since in SINCE
            if any(line.has_before(sheet, since) for sheet in whole)
        ]
        named = [one for one in self.periods if one != layout.sheet.period or layout.timed]
        offered += [(one, words("build.change_since", period=one)) for one in named]
        if chosen not in dict(offered):
            told = line.axis_period(chosen).label if chosen in line.versions else chosen
            offered.append((chosen, words("build.change_since", period=told)))
        return tuple(Option(value, label, value == chosen) for value, label in offered)

    @property
    def pivot(self) -> str | None:
        """The address of the table with its rows and columns exchanged."""
        layout = self.layout
        if not layout.column or len(layout.rows) > 1:
            return None
        look = layout.look.but(sort="", order="falling", cell="", hold="")
        exchanged, _ = fitting(replace(layout, rows=(layout.column,), column=layout.rows[0], look=look))
        return exchanged.address()

    @cached_property
    def branches(self) -> dict[str, dict[str, bool]]:
        """For each row variable the codes with others below them, and whether those stand in the table already."""
        return {name: _branches(self.layout, name) for name in self.layout.rows[:2]}


def _refusal(layout: Layout, name: str, instead: str = "") -> str:
    """Why one more variable, or one instead of another, leaves the table without an answer; '' where it does not."""
    stands = {*layout.names, *layout.within} - {layout.sheet.time}
    return "" if name in stands else layout.sheet.source.refusal({name, *(stands - {instead})})


def level_words(layout: Layout, attribute: Attribute) -> dict[str, str]:
    """The code lists of a variable in the language of the page."""
    words, found = layout.look.words, {}
    for name in code_lists(attribute.levels):
        key = {"level0": "top", "leaves": "leaves", "all": "all"}.get(name, "step")
        said = words(f"level.{key}", level=int(name[5:]) + 1) if key == "step" else words(f"level.{key}")
        found[name] = f"{said} ({words.figure(f'{len(code_list(attribute.levels, name)):,}')})"
    return found


def _detail(attribute: Attribute, layout: Layout) -> CodesShown:
    name, chosen = attribute.name, layout.list_of(attribute.name)
    if name == layout.sheet.time:
        return CodesShown(
            attribute, _lasts(attribute, layout), _picked(attribute, layout) if name in layout.picks else None, ()
        )
    groups, (plain, drawings) = layout.of(name), apart(layout.of(name))
    roomy = has_room(layout, len(plain))
    offered = level_words(layout, attribute) if attribute.levels.depth else {"level0": layout.look.words("level.all")}
    if not layout.sheet.product.subject.additive:
        offered = {one: label for one, label in offered.items() if one == "leaves"}
    offered = {one: label for one, label in offered.items() if one == chosen or _held(layout, name, one)}
    offered |= {ONLY_GROUPS: layout.look.words("build.groups")} if groups else {}
    options = tuple(Option(one, label, one == chosen) for one, label in offered.items())
    return CodesShown(
        attribute,
        options if len(options) > 1 else (),
        _picked(attribute, layout) if name in layout.picks else None,
        (
            *((_group(name, group, layout) for group in plain) if roomy else [_all_groups(name, plain, layout)]),
            *(_drawing(name, layout) for _ in drawings),
        ),
    )


def _lasts(attribute: Attribute, layout: Layout) -> tuple[Option, ...]:
    """All periods, or the last so many."""
    words, chosen, count = layout.look.words, layout.list_of(attribute.name), len(attribute.levels.codes)
    offered = {f"last{one}": words("build.last", count=one) for one in LAST if one < count}
    chosen = chosen if chosen in offered else "all"
    offered["all"] = words("build.all_periods", count=count)
    return tuple(Option(value, label, value == chosen) for value, label in offered.items())


def _held(layout: Layout, name: str, codes: str) -> bool:
    """Whether a table has all its numbers with another list of codes of a variable: of a family, not every level is."""
    product = layout.sheet.product
    if not product.together:
        return True
    picks = {one: kept for one, kept in layout.picks.items() if one != name}
    try:
        question = replace(layout, picks=picks, lists={**layout.lists, name: codes}).question
        table = question.crosstab([one for one in question.shown if one != layout.sheet.time])
    except QueryError:
        return False
    return product.missing(table.grid) is None


def _picked(attribute: Attribute, layout: Layout) -> Chip:
    name, count = attribute.name, len(layout.picks[attribute.name])
    without = replace(layout, picks={one: codes for one, codes in layout.picks.items() if one != name})
    return Chip(attribute.label, layout.look.words("build.picked", count=count), without.address())


def _group(name: str, group: Group, layout: Layout) -> Chip:
    said = layout.look.words("build.group_of", name=group.name, count=len(group.codes))
    left = tuple(one for one in layout.groups[name] if one.name != group.name)
    return Chip(group.name, said, with_groups(layout, name, left).address())


def _all_groups(name: str, plain: Sequence[Group], layout: Layout) -> Chip:
    """Many groups as one choice, as the address without each of them would be most of the page."""
    said = layout.look.words("build.groups_in_all", count=layout.look.words.figure(f"{len(plain):,}"))
    drawn = tuple(group for group in layout.of(name) if isinstance(group, DrawnGroup))
    return Chip(said, said, with_groups(layout, name, drawn).address())


def _drawing(name: str, layout: Layout) -> Chip:
    """What a reader has drawn, as one choice."""
    said, (left, _) = layout.look.words("area.mine"), apart(layout.of(name))
    return Chip(said, said, with_groups(layout, name, tuple(left)).address())


def with_groups(layout: Layout, name: str, left: tuple[Group, ...]) -> Layout:
    """The layout with these groups of a variable and no others; where none are left, it shows its levels again."""
    groups = {one: left if one == name else kept for one, kept in layout.groups.items() if left or one != name}
    groups |= {name: left} if left else {}
    lists = layout.lists if left else {one: kept for one, kept in layout.lists.items() if kept != ONLY_GROUPS}
    return replace(layout, groups=groups, lists=lists)


def _filter(name: str, layout: Layout) -> Chip:
    attribute, codes = layout.sheet.attribute(name), layout.within[name]
    without = replace(layout, within={one: kept for one, kept in layout.within.items() if one != name})
    said = joined(", ", (attribute.levels.label(code) for code in codes[:3]))
    said += " " + layout.look.words("build.more", count=len(codes) - 3) if len(codes) > 3 else ""
    return Chip(attribute.label, said, without.address())


def _universe(attribute: Attribute, layout: Layout) -> Choice:
    levels, chosen = attribute.levels, layout.within.get(attribute.name, ())
    name = f"sum[{attribute.name}]"
    if len(levels.codes) > FEW:
        return Choice(name, attribute.label, (), len(chosen))
    offered = levels.codes if layout.sheet.product.subject.additive else levels.leaves
    options = (Option(code, levels.label(code), code in chosen, min(levels.depths[code], 5)) for code in offered)
    single = not layout.sheet.product.subject.additive and attribute.name not in layout.names
    return Choice(name, attribute.label, tuple(options), len(chosen), single)


def _branches(layout: Layout, name: str) -> dict[str, bool]:
    levels, shown = layout.sheet.attribute(name).levels, layout.question.shown.get(name, ())
    stands = set(shown)
    open_ones = {levels.parent(code) for code in shown}
    inner = {parent for parent in levels.parents if parent in stands}
    return {code: code in open_ones for code in shown if code in inner}
