"""Areas: the shapes of a file fitted to the levels of an attribute by their codes."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sfumato.errors import PlanError, how_many, nearest
from sfumato.geography.outlines import Outlines, joined

Areas = Mapping[str, Any]


class Hierarchy(Protocol):
    """Codes, each under at most one parent; the leaves have no children."""

    @property
    def codes(self) -> Sequence[str]: ...
    @property
    def parents(self) -> Sequence[str | None]: ...
    @property
    def leaves(self) -> Sequence[str]: ...
    @property
    def depths(self) -> Mapping[str, int]: ...


def matched(
    outlines: Outlines, key: str, levels: Hierarchy, nowhere: str | None, *, partial: bool
) -> tuple[Areas, list[str]]:
    """The areas by the level they belong to, and what of the file was left out; the level `nowhere` needs none."""
    coded, nameless = _coded(outlines, key)
    areas = {code: coded[code] for code in levels.codes if code in coded}
    others = [code for code in coded if code not in areas]
    lacking = [code for code in levels.leaves if code not in areas and code != nowhere]
    if lacking and not (partial and areas):
        raise PlanError(
            f"{_listed(lacking)} {'has' if len(lacking) == 1 else 'have'} no shape in {outlines.name}"
            f"{_spelling(lacking, others)}; add the shapes, or write partial = true to draw a map without them."
        )
    notes = []
    if nameless:
        notes.append(f"Not drawn, without a '{key}': {how_many(nameless, 'shape')} of {outlines.name}.")
    if others:
        notes.append(f"Not drawn, of no level: {how_many(len(others), 'shape')} of {outlines.name}, {_listed(others)}.")
    if lacking:
        notes.append(f"Only in the table, without a shape: {how_many(len(lacking), 'level')}, {_listed(lacking)}.")
    return areas, notes


def _coded(outlines: Outlines, key: str) -> tuple[dict[str, Any], int]:
    """The areas by their code, one code's parts together, and how many have none."""
    if not any(key in shape.properties for shape in outlines.shapes):
        known = dict.fromkeys(name for shape in outlines.shapes for name in shape.properties)
        raise PlanError(f"id is '{key}', which no shape of {outlines.name} has; {nearest(key, known)}")
    parts: dict[str, list[Any]] = {}
    nameless = 0
    for shape in outlines.shapes:
        code = _code(shape.properties.get(key))
        if code and shape.area is not None:
            parts.setdefault(code, []).append(shape.area)
        nameless += not code
    return {code: joined(several) for code, several in parts.items()}, nameless


def _code(value: object) -> str:
    """A code as levels write it: a number that a file stores as 6.0 is the code 6.

    >>> _code(6.0), _code("06 "), _code(None)
    ('6', '06', '')
    """
    if value is None or isinstance(value, (bool, list, dict)):
        return ""
    return str(int(value)) if isinstance(value, float) and value == int(value) else str(value).strip()


def _spelling(lacking: list[str], others: list[str]) -> str:
    """What the file's own codes look like, where that may be the trouble."""
    bare = {code.lstrip("0").lower(): code for code in others}
    for code in lacking:
        if alike := bare.get(code.lstrip("0").lower()):
            return f" (it writes '{alike}' where the level is '{code}')"
    return f", whose codes are {_listed(others)}" if others else ""


def _listed(codes: list[str]) -> str:
    shown = ", ".join(codes[:8])
    return shown + (f" and {len(codes) - 8:,} more" if len(codes) > 8 else "")
