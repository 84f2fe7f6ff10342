"""Pick: a page to choose codes of one variable, which keeps the state of the table that it was opened from."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sfumato.errors import QueryError, nearest
from sfumato.query import Group
from sfumato.schema import Attribute
from sfumato.serve.address_parameters import Pairs
from sfumato.serve.code_list import code_list, code_lists
from sfumato.serve.editions import Sheet
from sfumato.serve.guard import LONGEST_QUERY
from sfumato.serve.pages.form import level_words
from sfumato.serve.pages.layout import ONLY_GROUPS, Layout, Pair
from sfumato.serve.pages.look import Look
from sfumato.serve.pages.site import HTML, Pages, language, sheet_of
from sfumato.serve.pages.tree import MOST, LevelTree, matches
from sfumato.serve.reply import fresh

SHOWN, UNIVERSE = "valueCodes", "sum"
MOST_TICKS = 1_000
"""The largest level whose codes are ticked one by one; a larger one is shown as a level."""
_PICK = re.compile(rf"({SHOWN}|{UNIVERSE})\[([^\[\]]*)\]")
_NOT_CARRIED = ("cell", "hold")


@dataclass(frozen=True)
class Pick:
    """The codes of one variable that are ticked: those that a table shows, or those that its universe is held to."""

    layout: Layout
    kind: str
    attribute: Attribute
    ticked: tuple[str, ...]
    find: str = ""
    opened: tuple[str, ...] = ()

    @classmethod
    def read(cls, sheet: Sheet, pairs: Pairs) -> "Pick":
        """What an address asks to choose from; on the way in, what the table has is what is ticked."""
        layout, parameters = Layout.read(sheet, pairs), dict(pairs)
        asked = _PICK.fullmatch(parameters.get("pick", ""))
        if asked is None:
            raise QueryError(f"Say which codes to choose, as in pick={SHOWN}[{layout.rows[0]}].")
        kind, attribute = asked[1], sheet.attribute(asked[2])
        if kind == SHOWN and attribute.name not in layout.names:
            raise QueryError(f"{attribute.label} is not in this table; {nearest(attribute.name, layout.names)}")
        had = (layout.picks if kind == SHOWN else layout.within).get(attribute.name, ())
        given = _known(attribute, [value for key, value in pairs if key == "c"]) if "ticked" in parameters else had
        opened = _known(attribute, [value for key, value in pairs if key == "open"])
        return cls(layout, kind, attribute, given, parameters.get("find", "").strip()[:200], opened)

    @property
    def name(self) -> str:
        return f"{self.kind}[{self.attribute.name}]"

    def and_(self, added: str) -> "Pick":
        """With a whole level, all codes directly below one, or all that were found, ticked as well."""
        kind, _, name = added.partition(":")
        levels = self.attribute.levels
        if kind == "level":
            more: Sequence[str] = code_list(levels, name)
        elif kind == "found":
            more = matches(levels, self.find.split()) if self.find else ()
        else:
            more = [code for code, parent in zip(levels.codes, levels.parents, strict=True) if parent == name]
        return replace(self, ticked=_known(self.attribute, [*self.ticked, *more]))

    def table(self) -> Layout:
        """The table with what is ticked; exactly a level is written as that level."""
        name, layout = self.attribute.name, self.layout
        if self.kind == UNIVERSE:
            within = {one: codes for one, codes in layout.within.items() if one != name}
            return replace(layout, within=within | ({name: self.ticked} if self.ticked else {}))
        if not self.ticked:
            raise QueryError(f"{self.attribute.label}: nothing is ticked; tick a code, or take a whole level.")
        return shown_as(layout, name, self.ticked)

    def group(self, title: str) -> Layout:
        """The table with one group more, of the codes that are ticked; what it showed before stays."""
        name, layout, title = self.attribute.name, self.layout, title.strip()
        had = layout.groups.get(name, ())
        if not title or not self.ticked:
            raise QueryError(f"{self.attribute.label}: a group needs a name and at least one ticked code.")
        if ":" in title:
            raise QueryError(f"{self.attribute.label}: the name of a group has no colon; got '{title[:100]}'.")
        if title.lower() in {one.name.lower() for one in had}:
            raise QueryError(f"{self.attribute.label}: there is a group '{title[:100]}' already; choose another name.")
        return replace(layout, groups={**layout.groups, name: (*had, Group(title, self.ticked))})


def shown_as(layout: Layout, name: str, codes: Sequence[str]) -> Layout:
    """The table that shows some codes of a variable, as a level where they are one."""
    levels = layout.sheet.attribute(name).levels
    picks = {one: picked for one, picked in layout.picks.items() if one != name}
    lists = {one: listed for one, listed in layout.lists.items() if one != name}
    for listed in code_lists(levels):
        if set(code_list(levels, listed)) == set(codes):
            return replace(layout, picks=picks, lists={**lists, name: listed})
    return replace(layout, picks={**picks, name: tuple(codes)}, lists=lists)


def twisted(layout: Layout, said: str) -> Layout:
    """The table with one branch of its rows opened, or closed where it is open: `occupation|29-0000`."""
    name, _, branch = said.partition("|")
    levels, shown = layout.sheet.attribute(name).levels, layout.question.shown.get(name, ())
    if branch not in shown:
        raise QueryError(f"{layout.sheet.attribute(name).label}: '{branch[:100]}' is not a row of this table.")
    below = {code for code in levels.codes if branch in levels.path(code)[1:]}
    if below & set(shown):
        kept = set(shown) - below
    else:
        kept = {*shown, *(code for code in below if levels.parent(code) == branch)}
    return shown_as(layout, name, [code for code in levels.branches if code in kept])


def pick(pages: Pages, request: Request) -> Response:
    """The page to choose from."""
    pairs, parameters = request.query_params.multi_items(), dict(request.query_params)
    try:
        chosen = Pick.read(sheet_of(pages, request), pairs)
        if parameters.get("clear"):
            chosen = replace(chosen, ticked=())
        if parameters.get("add"):
            chosen = chosen.and_(parameters["add"])
    except QueryError as error:
        return pages.problem(400, str(error), request.path_params["table_id"], language(request))
    shown = _shown(chosen) | {"problem": None, "titled": parameters.get("name", "")[:100]}
    tag = pages.tag(request, chosen.layout.sheet.edition.tag)
    return fresh(pages.page("pick.html", chosen.layout.look.lang, **shown), HTML, tag)


def picked(pages: Pages, request: Request) -> Response:
    """The way back: the address of the table with what was chosen, or why it cannot be."""
    pairs, parameters = request.query_params.multi_items(), dict(request.query_params)
    sheet = sheet_of(pages, request)
    try:
        if parameters.get("twist"):
            return _to(pages, sheet, twisted(Layout.read(sheet, pairs), parameters["twist"]))
        chosen = Pick.read(sheet, pairs)
    except QueryError as error:
        return pages.problem(400, str(error), request.path_params["table_id"], language(request))
    try:
        return _to(pages, sheet, _checked(chosen, parameters))
    except QueryError as error:
        shown = _shown(chosen) | {"problem": sheet.product.says(str(error)), "titled": parameters.get("name", "")[:100]}
        return fresh(pages.page("pick.html", chosen.layout.look.lang, **shown), HTML, status=400)


def _checked(chosen: Pick, parameters: dict[str, str]) -> Layout:
    """The table that was chosen, asked for once along its variable so that a group that cannot be is refused here."""
    if parameters.get("level"):
        name = chosen.attribute.name
        layout = shown_as(chosen.layout, name, code_list(chosen.attribute.levels, parameters["level"]))
    else:
        layout = chosen.group(parameters.get("name", "")) if parameters.get("make") else chosen.table()
    layout.sheet.source.refuse({*layout.names, *layout.within})
    if chosen.kind == SHOWN:
        layout.question.table([chosen.attribute.name])
    return layout


def _to(pages: Pages, sheet: Sheet, layout: Layout) -> Response:
    look = layout.look.but(**dict.fromkeys(_NOT_CARRIED, ""))
    address = layout.address(look)
    if len(address) > LONGEST_QUERY:
        raise QueryError("So many codes do not fit into an address; tick fewer, or take a whole level.")
    reply = RedirectResponse(f"{pages.base_path}/{quote(sheet.id)}?{address}", 303)
    reply.headers["Cache-Control"] = "no-store"
    return reply


def _shown(chosen: Pick) -> dict[str, Any]:
    layout, attribute = chosen.layout, chosen.attribute
    sizes = {name: len(code_list(attribute.levels, name)) for name in code_lists(attribute.levels)}
    offered = level_words(layout, attribute) if attribute.levels.depth else {"all": layout.look.words("level.all")}
    return {
        "pick": chosen,
        "tree": LevelTree(attribute.levels, chosen.ticked, chosen.find, chosen.opened),
        "levels": [(name, label, sizes[name] > MOST_TICKS) for name, label in offered.items()],
        "carried": _carried(layout),
        "shown_now": _shown_now(chosen),
        "most": MOST,
    }


def _shown_now(chosen: Pick) -> str:
    """What the table shows of the variable before anything is chosen here."""
    layout, name = chosen.layout, chosen.attribute.name
    if chosen.kind == UNIVERSE or name in layout.picks:
        return ""
    listed = layout.list_of(name)
    if listed == ONLY_GROUPS:
        return layout.look.words("build.groups")
    return level_words(layout, chosen.attribute)[listed] if chosen.attribute.levels.depth else ""


def _carried(layout: Layout) -> list[Pair]:
    """The state of the table in as few parameters as hold it."""
    bare = replace(layout, picks={}, groups={}, within={}, look=Look())
    lists = [(f"codelist[{name}]", layout.list_of(name)) for name in layout.names]
    carried = [pair for pair in parse_qsl(bare.address()) if not pair[0].startswith("codelist")] + lists
    for name in layout.sheet.names:
        carried += [*layout.picked(name), *layout.grouped(name)]
    carried += [pair for name in layout.within for pair in layout.held(name)]
    return [*carried, *layout.look.but(**dict.fromkeys(_NOT_CARRIED, "")).pairs()]


def _known(attribute: Attribute, codes: Sequence[str]) -> tuple[str, ...]:
    """Those of the codes that the list has, in its order."""
    asked = set(codes)
    return tuple(code for code in attribute.levels.codes if code in asked)
