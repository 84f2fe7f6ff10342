"""The query engine: right on any cube at any level, consistent to the last digit, and ignorant of kinds of products."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product as combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import TABLE, World, engine_of, subject_of

from sfumato.draws import SeededDraws
from sfumato.errors import QueryError
from sfumato.mechanisms import Geometric
from sfumato.release import Cube, Independent, NoNumber, Product
from sfumato.schema import Attribute, Levels, Rule, Table

ENGINE = engine_of(
    World.of(Geometric(1)).cube("jobs", SeededDraws(1)), World.of(Geometric(1)).cube("pay", SeededDraws(2))
)


@dataclass(frozen=True, eq=False)
class TwoMargins(Product):
    """Two tables of one variable each, measured apart: a kind of product that nothing but these tests knows."""

    subject: object
    attributes: tuple[Attribute, ...]
    margins: tuple[np.ndarray, np.ndarray]
    variance: float = 2.0

    def _margin(self, box) -> int:
        asked = [place for place, one in enumerate(self.attributes) if not box.mask(one).all()]
        assert len(asked) < 2, "two margins know nothing of cells"
        return asked[0] if asked else 0

    def total(self, box):
        margin = self._margin(box)
        return int(self.margins[margin][box.mask(self.attributes[margin])].sum())

    def covariance(self, one, other):
        margin = self._margin(one)
        if margin != self._margin(other):
            return 0.0
        attribute = self.attributes[margin]
        return self.variance * int((one.mask(attribute) & other.mask(attribute)).sum())

    def cells(self, box):
        margin = self._margin(box)
        return int(box.mask(self.attributes[margin]).sum())


def two_margins() -> TwoMargins:
    attributes = (Attribute("sex", Levels.of("fm")), Attribute("age", Levels.of(["young", "middle", "old"])))
    return TwoMargins(subject_of("jobs"), attributes, (np.array([60, 41]), np.array([20, 50, 33])))


def test_a_second_kind_of_product_needs_only_total_covariance_and_cells():
    engine = engine_of(two_margins())
    assert engine.total().value == 101
    assert engine.total({"age": ["young", "old"]}).noise_variance == 4.0
    share = engine.share({"age": "old"})
    assert (share.over, share.under, share.covariance) == (33, 101, 0.0)
    assert engine.compare({"age": "old"}, {"age": "young"}).noise_variance == 4.0
    assert engine.compare({"age": "old"}, {"sex": "f"}).noise_variance == 4.0
    table = engine.table("age")
    assert table.totals.tolist() == [20, 50, 33]
    assert table.compare("old", "old").noise_variance == 0.0
    assert list(table.ranks(level=0.5).values()) == [(3, 3), (1, 1), (2, 2)]
    assert "50 ± 2 A" in repr(table)
    assert table.to_pandas()["estimate"].tolist() == [20, 50, 33]


@st.composite
def cubes(draw) -> Cube:
    """Random cubes of up to three variables, hierarchies and structural zeros among them."""
    attributes = []
    for name in "abc"[: draw(st.integers(1, 3))]:
        listed = []
        for parent in range(draw(st.integers(1, 3))):
            children = draw(st.integers(0, 3))
            listed.append({"code": f"{name}{parent}", "label": f"{name} no {parent}"})
            listed += [{"code": f"{name}{parent}{child}", "parent": f"{name}{parent}"} for child in range(children)]
        attributes.append(Attribute(name, Levels.of(listed)))
    rules = tuple(
        Rule.of({one.name: draw(levels_of(one)) for one in attributes}) for _ in range(draw(st.integers(0, 2)))
    )
    table = Table(tuple(attributes), rules)
    values = np.random.default_rng(draw(st.integers(0, 2**32))).integers(-50, 1000, table.shape) * table.possible
    return Cube(subject_of("jobs", step=draw(st.sampled_from([1, 5]))), table, values, Independent(3.0))


def levels_of(attribute: Attribute):
    return st.lists(st.sampled_from(attribute.levels.codes), min_size=1, max_size=3, unique=True)


def below(levels: Levels, codes) -> set[str]:
    """The leaves under some codes, by walking up from each leaf."""
    found = set()
    for leaf in levels.leaves:
        code = leaf
        while code is not None:
            if code in codes:
                found.add(leaf)
            code = levels.parent(code)
    return found


def by_hand(cube: Cube, wanted: dict[str, list[str]]) -> tuple[int, int]:
    """The sum and the number of possible cells in some levels, one cell after the other."""
    kept = {name: below(cube.domain.attribute(name).levels, codes) for name, codes in wanted.items()}
    total = cells = 0
    leaves = [attribute.levels.leaves for attribute in cube.attributes]
    for place in combinations(*(range(len(one)) for one in leaves)):
        at = {one.name: leaf[index] for one, leaf, index in zip(cube.attributes, leaves, place, strict=True)}
        if all(at[name] in codes for name, codes in kept.items()) and cube.domain.possible[place]:
            total, cells = total + int(cube.values[place]), cells + 1
    return total, cells


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_tables_are_what_one_would_add_up_by_hand(data):
    cube = data.draw(cubes())
    engine, names = engine_of(cube), [one.name for one in cube.attributes]
    shown = data.draw(st.permutations(names))[: data.draw(st.integers(1, min(2, len(names))))]
    where = {one.name: data.draw(levels_of(one)) for one in cube.attributes if data.draw(st.booleans())}
    at = {name: data.draw(choices(cube.domain.attribute(name))) for name in shown}
    try:
        table = engine.table(shown[0], shown[1] if len(shown) > 1 else None, where=where, at=at)
    except QueryError as error:
        assert "none of the levels shown is within the filter" in str(error)  # noqa: PT017
        return
    for codes, estimate in table.items():
        asked = {**where}
        for name, code in zip(shown, codes, strict=True):
            levels = cube.domain.attribute(name).levels
            both = below(levels, [code]) & below(levels, where.get(name, levels.codes))
            asked[name] = sorted(both)
        total, cells = by_hand(cube, asked)
        assert isinstance(estimate, NoNumber) == (cells == 0)
        if isinstance(estimate, NoNumber):
            continue
        assert (estimate.value, estimate.cells) == (total * cube.subject.step, cells)
        assert estimate.noise_variance == 3.0 * cells * float(cube.subject.step) ** 2


def choices(attribute: Attribute):
    depths = st.integers(0, attribute.levels.depth)
    return st.one_of(depths, st.just("all"), st.just("leaves"), levels_of(attribute))


def test_axes_show_the_levels_that_are_chosen():
    def shown(choice):
        return list(ENGINE.table("trade", at={"trade": choice} if choice is not None else None).axes[0].codes)

    assert shown(None) == shown(0) == shown("@0") == ["trade0", "trade1", "trade2", "trade3"]
    assert len(shown(1)) == len(shown("leaves")) == 20
    assert len(shown("all")) == 24
    assert shown(["Trade 1", "trade0-2"]) == ["trade1", "trade0-2"]
    with pytest.raises(QueryError, match="levels 0 to 1; 2 was asked"):
        shown(2)


@pytest.mark.parametrize(
    ("ask", "hint"),
    [
        (lambda: ENGINE.table("trad"), "did you mean 'trade'"),
        (lambda: ENGINE.total({"plac": "place1"}), "did you mean 'place'"),
        (lambda: ENGINE.total({"place": "plaice1"}), "did you mean 'place1'"),
        (lambda: ENGINE.total(of="job"), "did you mean 'jobs'"),
        (lambda: ENGINE.table("age")["yung"], "did you mean 'young'"),
        (lambda: ENGINE.table("trade")["trade0-1"], "not shown in this table"),
        (lambda: ENGINE.table("age")["young", "f"], "named by 1 labels"),
        (lambda: ENGINE.table(["trade", "trade"]), "names an attribute twice"),
        (lambda: ENGINE.table(list(TABLE.names), at=dict.fromkeys(TABLE.names, "all")), "more than 10,000"),
        (lambda: ENGINE.table("age", "sex").ranks(), "name the column"),
        (lambda: ENGINE.total().interval(1.5), "between 0 and 1"),
    ],
)
def test_an_error_says_what_would_work(ask, hint):
    if "10,000" in hint:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sfumato.query.engine.LARGEST_PAGE", 1000)
            with pytest.raises(QueryError, match="more than 1,000"):
                ask()
        return
    with pytest.raises(QueryError, match=hint):
        ask()


def test_a_universe_that_the_cells_tell_apart_is_asked_of_the_cells():
    """Cells outside a universe hold noise alone: a total must not sum them where a table does not."""
    table = Table((Attribute("sex", Levels.of("fm")), Attribute("age", Levels.of(["young", "old"]))))
    cube = Cube(subject_of("jobs", universe={"sex": ("f",)}), table, np.array([[10, 20], [1, -3]]), Independent(2.0))
    engine = engine_of(cube)
    assert engine.total({"sex": "f"}) == engine.table("sex")["f"]
    assert engine.total({"sex": "f"}).value == 30
    away = engine_of(Cube(subject_of("jobs", universe={"state": ("NY",)}), table, cube.values, Independent(2.0)))
    assert away.total({"state": "NY"}).value == 28
    with pytest.raises(QueryError, match="'state' is not a variable"):
        away.total({"state": "NJ"})


def test_a_mean_is_over_the_records_of_its_total_or_refused():
    """500 women at 1,000 and 500 men at 3,000: the pay of women is 1,000 each, whoever else is counted."""
    place, sex = Attribute("place", Levels.of("n")), Attribute("sex", Levels.of("fm"))
    women = {"sex": ("f",)}
    pay = Cube(subject_of("pay", "total", universe=women), Table((place,)), np.array([500_000]), Independent(0.0))
    jobs = Cube(subject_of("jobs"), Table((place, sex)), np.array([[500, 500]]), Independent(0.0))
    assert engine_of(pay, jobs).mean("pay", {"place": "n"}, per="jobs").value == 1000
    alone = Cube(subject_of("jobs"), Table((place,)), np.array([1000]), Independent(0.0))
    with pytest.raises(QueryError, match="sex"):
        engine_of(pay, alone).mean("pay", {"place": "n"}, per="jobs")
    same = Cube(subject_of("jobs", universe=women), Table((place,)), np.array([500]), Independent(0.0))
    assert engine_of(pay, same).mean("pay", {"place": "n"}, per="jobs").value == 1000


def test_what_is_not_additive_refuses_to_be_summed():
    table = Table((Attribute("trade", Levels.of(["1", {"code": "11", "parent": "1"}, {"code": "12", "parent": "1"}])),))
    cube = Cube(subject_of("medians", additive=False), table, np.array([310, 290]), Independent(2.0))
    engine = engine_of(cube)
    assert engine.total({"trade": "11"}).value == 310
    assert engine.table("trade", at={"trade": "leaves"})["12"].value == 290
    for ask in (
        engine.total,
        lambda: engine.total({"trade": "1"}),
        lambda: engine.total({"trade": ["11", "12"]}),
        lambda: engine.table("trade"),
        lambda: engine.share({"trade": "11"}),
    ):
        with pytest.raises(QueryError, match="may not be summed"):
            ask()


def test_values_are_whole_where_the_step_is():
    cube = Cube(subject_of("pay", "total", 10), TABLE, np.full(TABLE.shape, 3), Independent(2.0))
    assert isinstance(engine_of(cube).total().value, int)
    quarter = subject_of("pay", "total")
    half = Cube(type(quarter)(quarter.name, "total", "", "", Fraction(1, 4)), TABLE, cube.values, Independent(2.0))
    assert engine_of(half).total({"sex": "f", "age": "old", "place": "place0-0", "trade": "trade0-0"}).value == 0.75


def test_a_filter_on_a_row_variable_leaves_out_the_rows_outside_it():
    table = ENGINE.table("trade", where={"trade": ["trade1", "trade2-0"]})
    assert table.axes[0].codes == ("trade1", "trade2")
    with pytest.raises(QueryError, match="none of the levels shown"):
        ENGINE.table("trade", where={"trade": "trade1"}, at={"trade": ["trade0"]})
