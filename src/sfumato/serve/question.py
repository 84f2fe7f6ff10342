"""Question: what an address asks of a table, read from its query string and written back; nothing is ignored."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from urllib.parse import quote, urlencode

from sfumato.errors import QueryError, TooFineError, nearest
from sfumato.query import Crosstab, Group
from sfumato.query.answer import Placement
from sfumato.schema import Levels
from sfumato.serve.catalogue import Sheet

Codes = Mapping[str, tuple[str, ...]]
Groups = Mapping[str, tuple[Group, ...]]
Pairs = Sequence[tuple[str, str]]

_KEY = re.compile(r"([^\[\]]*)(?:\[([^\[\]]*)\])?")
_ALL = "*"
_LONGEST_NAME = 200


@dataclass(frozen=True)
class Parameters:
    """The parameters of an address: plain ones, and those of one variable as in `sum[sex]=female`."""

    plain: Mapping[str, tuple[str, ...]]
    of_variable: Mapping[str, Codes]

    @classmethod
    def read(cls, pairs: Pairs, plain: Sequence[str], of_variable: Sequence[str]) -> "Parameters":
        """Sort the pairs by name; upper and lower case count the same, an unknown name answers with the nearest."""
        singles: dict[str, tuple[str, ...]] = {}
        named: dict[str, dict[str, tuple[str, ...]]] = {name: {} for name in of_variable}
        for key, value in pairs:
            if len(key) > _LONGEST_NAME:
                raise QueryError(f"There is no parameter '{_short(key)}' here; {nearest('', [*plain, *of_variable])}")
            found = _KEY.fullmatch(key)
            variable = found[2] if found else None
            name = _known(key, found[1] if found else key, plain if variable is None else of_variable)
            place = singles if variable is None else named[name]
            at = name if variable is None else variable
            place[at] = (*place.get(at, ()), value)
        return cls(singles, named)

    def one(self, name: str, default: str, known: Sequence[str]) -> str:
        """The last value of a plain parameter, which must be one of the known ones."""
        value = self.plain.get(name, (default,))[-1] or default
        if value not in known:
            raise QueryError(f"{name} is '{_short(value)}'; {nearest(_short(value), known)}")
        return value


def unknown(given: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """The parameters that mean nothing, each once, with the known one that it is nearest to.

    >>> unknown(["rows", "sotr", "utm_source"], ["rows", "sort"])
    ('sotr (sort?)', 'utm_source')
    """
    lower = {one.lower() for one in known}
    names = dict.fromkeys(_short(one) for one in given if one.partition("[")[0].lower() not in lower)
    near = {one: get_close_matches(one.partition("[")[0], known, n=1) for one in names}
    return tuple(f"{one} ({found[0]}?)" if found else one for one, found in near.items())


def _known(key: str, name: str, known: Sequence[str]) -> str:
    for one in known:
        if one.lower() == name.lower():
            return one
    raise QueryError(f"There is no parameter '{key}' here; {nearest(name, known)}")


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

    def table(
        self, rows: Sequence[str] | None = None, column: str | None = None, at_most: int | None = None
    ) -> Crosstab:
        """The answer, laid out by some of the shown variables; by all of them unless told."""
        names = list(self.shown) if rows is None else list(rows)
        at: dict[str, tuple[str | Group, ...]] = {
            one: (*self.shown[one], *self.groups.get(one, ())) for one in self.shown if one in {*names, column}
        }
        name = self.sheet.product.subject.name
        try:
            return self.sheet.edition.engine.table(names, column, where=self.within, of=name, at=at, at_most=at_most)
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
    for name in sheet.names:
        if name in values or name in lists:
            shown[name] = _chosen(sheet, name, values.get(name, (_ALL,)), lists.get(name, ("all",))[-1])
        elif groups and name in groups:
            shown[name] = ()
    return shown


def universe_codes(sheet: Sheet, sums: Codes) -> Codes:
    """The codes that the universe is held to; a variable outside the table may only repeat the table's own universe."""
    universe = sheet.product.subject.universe
    within = {}
    for name in sorted(sums, key=lambda one: sheet.names.index(one) if one in sheet.names else -1):
        outside = name in universe and name not in sheet.names
        asked = _split(sums[name], universe[name]) if outside else _chosen(sheet, name, sums[name], "all")
        within[name] = universe[name] if outside and set(asked) == set(universe[name]) else asked
    return within


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
                    f"'My group:{','.join(sheet.attribute(name).levels.codes[:2])}'; got '{_short(written)}'."
                )
            members.setdefault(title.strip(), []).append(codes)
        groups[name] = tuple(
            Group(title, _chosen(sheet, name, tuple(codes), "all")) for title, codes in members.items()
        )
    return groups


def code_list(levels: Levels, name: str) -> tuple[str, ...]:
    """The codes of a named list: one level of the hierarchy, the leaves, or all."""
    if name not in code_lists(levels):
        raise QueryError(f"There is no code list '{_short(name)}'; {nearest(_short(name), code_lists(levels))}")
    return levels.codes if name == "all" else levels.leaves if name == "leaves" else levels.at(int(name[5:]))


def code_lists(levels: Levels) -> dict[str, str]:
    """The code lists of a hierarchy and what people call them."""
    steps = {f"level{depth}": f"level {depth + 1}" for depth in range(1, levels.depth)}
    return {"level0": "top level"} | steps | {"leaves": "lowest level", "all": "all levels"}


def _chosen(sheet: Sheet, name: str, given: tuple[str, ...], listed: str) -> tuple[str, ...]:
    attribute = sheet.attribute(name)
    known = code_list(attribute.levels, listed)
    offered = set(known)
    asked = _split(given, offered)
    if not asked:
        raise QueryError(f"{attribute.label}: no code is given; name codes, or {_ALL} for all.")
    for code in asked:
        if code not in offered and code != _ALL:
            raise QueryError(f"{attribute.label}: {_hint(attribute.levels, _short(code), listed)}")
    wanted = offered if _ALL in asked else set(asked)
    return tuple(code for code in known if code in wanted)


def _split(given: tuple[str, ...], known: Sequence[str] | set[str]) -> tuple[str, ...]:
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


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…"


def data_path(sheet: Sheet, base: str, *, lasting: bool = True) -> str:
    """Where a table gives its data; the lasting path names this very release."""
    return f"{base}/api/v2/tables/{quote(sheet.lasting_id if lasting else sheet.id, safe='~')}/data"


def data_query(
    question: Question,
    placement: Placement | None = None,
    form: str = "",
    language: str = "en",
    further: Pairs = (),
) -> str:
    """The query string of a question; a code list stands for its codes where they are just those."""
    pairs = [pair for name in question.shown for pair in _laid_out(question, name)]
    for name, groups in question.groups.items():
        pairs += [(f"group[{name}]", f"{group.name}:{code}") for group in groups for code in group.codes]
    pairs += [(f"sum[{name}]", code) for name, codes in question.within.items() for code in codes]
    if placement is not None:
        pairs += [("stub", name) for name in placement.stub] + [("heading", name) for name in placement.heading]
    pairs += further
    pairs += [("lang", language)] if language != "en" else []
    pairs += [("outputFormat", form)] if form else []
    return urlencode(pairs, safe="[],:*")


def _laid_out(question: Question, name: str) -> list[tuple[str, str]]:
    levels, codes = question.sheet.attribute(name).levels, question.shown[name]
    if not codes:
        return []
    if not levels.depth and codes == levels.codes:
        return [(f"valueCodes[{name}]", "*")]
    for listed in code_lists(levels):
        if code_list(levels, listed) == codes:
            return [(f"codelist[{name}]", listed)]
    # A code that holds a comma stands alone in a parameter of its own.
    together = [code for code in codes if "," not in code]
    pairs = [(f"valueCodes[{name}]", ",".join(together))] if together else []
    return pairs + [(f"valueCodes[{name}]", code) for code in codes if "," in code]
