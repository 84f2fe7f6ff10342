"""Random cubes of up to three variables, hierarchies, structural zeros and groups of a reader's own among them."""

import numpy as np
from hypothesis import strategies as st
from worlds import engine_of, manifest_of, subject_of

from sfumato.query import Group, QueryEngine
from sfumato.release import Calibrated, Control, Cube, Independent, Raked
from sfumato.schema import Attribute, Level, Levels, Rule, Table

SAMPLINGS = (
    {"kind": "census"},
    {"kind": "variance-function", "functions": {"jobs": {"a": -0.00001, "b": 600.0}}},
    {"kind": "withheld", "reason": "the design is not public"},
)


@st.composite
def tables(draw) -> Table:
    attributes = []
    for name in "abc"[: draw(st.integers(1, 3))]:
        listed = []
        for parent in range(draw(st.integers(1, 3))):
            children = draw(st.integers(0, 3))
            listed.append({"code": f"{name}{parent}", "label": f"{name} no {parent}"})
            listed += [{"code": f"{name}{parent}{child}", "parent": f"{name}{parent}"} for child in range(children)]
        attributes.append(Attribute(name, Levels.of(listed)))
    rules = tuple(
        Rule.of({one.name: draw(levels_of(one)) for one in attributes if draw(st.booleans())} or {"a": "a0"})
        for _ in range(draw(st.integers(0, 2)))
    )
    return Table(tuple(attributes), rules)


@st.composite
def cubes(draw, errors: str = "independent") -> Cube:
    table = draw(tables())
    values = np.random.default_rng(draw(st.integers(0, 2**32))).integers(-50, 1000, table.shape) * table.possible
    subject = subject_of("jobs", step=draw(st.sampled_from([1, 5])))
    values = np.abs(values) + table.possible if errors == "raked" else values
    by = draw(st.lists(st.lists(st.sampled_from(table.names), max_size=2, unique=True), min_size=1, max_size=3))
    controls = tuple(Control(tuple(map(Level, names)), draw(st.sampled_from([0.0, 0.5, 7.0]))) for names in by)
    return Cube(
        subject,
        table,
        values,
        {
            "independent": lambda: Independent(3.7),
            "calibrated": lambda: Calibrated(Independent(3.7), controls),
            "raked": lambda: Raked(Independent(3.7), controls),
        }[errors](),
    )


def levels_of(attribute: Attribute):
    return st.lists(st.sampled_from(attribute.levels.codes), min_size=1, max_size=3, unique=True)


@st.composite
def choices(draw, attribute: Attribute):
    """Depths, all, leaves, or levels and groups in any mixture."""
    kind = draw(st.sampled_from(["depth", "all", "leaves", "listed"]))
    if kind == "depth":
        return draw(st.integers(0, attribute.levels.depth))
    if kind != "listed":
        return kind
    groups = [Group(name, tuple(draw(levels_of(attribute)))) for name in ("Mine", "Yours")[: draw(st.integers(0, 2))]]
    return [*groups, *draw(levels_of(attribute))]


@st.composite
def questions(draw, errors: str = "independent", sampled: bool = True):
    """A cube behind an engine, what a table shows of it and what it is filtered to."""
    cube = draw(cubes(errors))
    sampling = draw(st.sampled_from(SAMPLINGS)) if sampled else SAMPLINGS[0]
    engine: QueryEngine = engine_of(cube, manifest=manifest_of(cube, sampling=sampling))
    names = [one.name for one in cube.attributes]
    shown = draw(st.permutations(names))[: draw(st.integers(1, min(2, len(names))))]
    where = {one.name: draw(levels_of(one)) for one in cube.attributes if draw(st.integers(0, 3)) == 0}
    at = {name: draw(choices(cube.domain.attribute(name))) for name in shown}
    return engine, {"rows": shown[0], "cols": shown[1] if len(shown) > 1 else None, "where": where, "at": at}


def leaves_of(axis, code: str, where) -> list[str]:
    """The leaves of a code or group that a filter leaves, by walking up from each leaf."""
    levels, group = axis.attribute.levels, axis.group(code)
    wanted = {code} if group is None else set(group.codes)
    held = where.get(axis.attribute.name)
    found = []
    for leaf in levels.leaves:
        path, above = {leaf}, levels.parent(leaf)
        while above is not None:
            path, above = path | {above}, levels.parent(above)
        if path & wanted and (held is None or path & set(held)):
            found.append(leaf)
    return found
