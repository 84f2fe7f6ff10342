"""A statistic that may not be summed and a mechanism without a law, dropped in as two files, go from price to page.

The claim is checked on the exact chances of all that can be published, over every small cell and its neighbours.
"""

import importlib
import json
import math
import sys
from fractions import Fraction
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import chi2
from test_drop_in import DROPPED, page, sfumato

import sfumato as sf
from sfumato import mechanisms, statistics
from sfumato.confidential import Microdata, Options, run
from sfumato.confidential.audit import audit_mechanism, audit_plan
from sfumato.draws import SeededDraws
from sfumato.errors import PlanError, PromiseError, QueryError
from sfumato.mechanisms import Cells
from sfumato.plugins import found
from sfumato.privacy import Bounded, Root, Unsummed
from sfumato.schema import Attribute, Levels, Ragged, Table

PLAN = """
name = "wages"
[data]
unit = "job"
[attributes.place]
label = "Place"
levels = ["north", "south"]
[attributes.sex]
label = "Sex"
levels = ["f", "m"]
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
epsilon = "2"
[[measure]]
name = "middle"
of = { statistic = "median", column = "wage", clip = ["0", "100"], unit = "euros" }
by = ["place", "sex"]
with = { mechanism = "exponential", epsilon = "2" }
"""
WHY = "how exact it is depends on how dense the values lie about the middle"


@pytest.fixture
def dropped(tmp_path, monkeypatch):
    """Put both files where they are searched for, and forget them afterwards."""
    places = ((statistics, "median"), (mechanisms, "exponential"))
    for package, module in places:
        folder = tmp_path / f"more {module}"
        folder.mkdir()
        (folder / f"{module}.py").write_bytes((DROPPED / f"{module}.py").read_bytes())
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    importlib.invalidate_caches()
    yield
    for package, module in places:
        sys.modules.pop(f"{package.__name__}.{module}", None)
        vars(package).pop(module, None)


def plan_of(text: str = PLAN) -> sf.Plan:
    return sf.Plan.parse(text, Path("wages.toml"))


def jobs() -> pa.Table:
    """100 jobs a cell, with medians of 30, 50, 60 and 80."""
    rows = [
        (place, sex, middle + off % 21 - 10)
        for (place, sex), middle in zip(
            [("north", "f"), ("north", "m"), ("south", "f"), ("south", "m")], (30, 50, 60, 80), strict=True
        )
        for off in range(105)
    ]
    return pa.table(dict(zip(("place", "sex", "wage"), map(list, zip(*rows, strict=True)), strict=True)))


ONE = Unsummed(Bounded(1, 1, 1))


def cells_of(rows, move=ONE, cells=1) -> Cells:
    """A table whose cells all hold the same rows."""
    aggregate = found(statistics)["median"].aggregates[0]
    table = Table((Attribute("cell", Levels.of(range(cells))),))
    column = Ragged(np.arange(cells + 1) * len(rows), np.tile(np.array(sorted(rows), dtype=np.int64), cells))
    return Cells(table, np.zeros(cells, dtype=np.int64), Fraction(1), move, columns={aggregate: column})


def largest_loss(mechanism, move: Bounded, replaced: bool) -> float:
    """The largest log-ratio of any candidate, over all cells of up to three rows with values 0, 50 and 100."""
    values, worst = (0, 50, 100), 0.0
    for size in range(4):
        for rows in combinations_with_replacement(values, size):
            more = (
                [(*rows[1:], value) for value in values if rows] if replaced else [(*rows, value) for value in values]
            )
            one = mechanism.distribution(cells_of(rows, move), 0)
            for other in (mechanism.distribution(cells_of(near, move), 0) for near in more):
                ratios = [max(a / b, b / a) for a, b in zip(one, other, strict=True)]
                worst = max(worst, math.log(max(ratios)))
    return worst


@pytest.mark.parametrize(("l1", "replaced"), [(1, False), (2, True)], ids=["a row comes", "a row is replaced"])
@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_no_candidate_is_likelier_by_more_than_epsilon(dropped, l1, replaced, epsilon):
    mechanism = type(found(mechanisms)["exponential"])(epsilon, 5)
    loss = largest_loss(mechanism, Unsummed(Bounded(l1, l1, l1)), replaced)
    assert 0.5 * float(epsilon) < loss <= float(epsilon)


def test_a_base_that_forgets_that_all_weights_move_is_rejected(dropped):
    class Steep(type(found(mechanisms)["exponential"])):
        def base(self, move):
            return super().base(move) ** 2

    assert largest_loss(Steep(1, 5), Unsummed(Bounded(1, 1, 1)), replaced=False) > 1


def test_what_is_published_has_the_stated_chances(dropped):
    """200,000 cells alike, chi-square at 1e-9; the chances of another epsilon are told from them."""
    mechanism = type(found(mechanisms)["exponential"])(2, 5)
    cells = cells_of((0, 50, 50, 100, 100), cells=200_000)
    grid = mechanism.grid(cells)
    counted = np.array([(mechanism.perturb(cells, SeededDraws(1)).values == one).sum() for one in grid])

    def misfit(of):
        expected = np.array([float(chance) for chance in of.distribution(cells, 0)]) * 200_000
        return ((counted - expected) ** 2 / expected).sum()

    assert misfit(mechanism) < chi2.isf(1e-9, 4) < misfit(replace_epsilon(mechanism, "1.9"))


def replace_epsilon(mechanism, epsilon):
    return type(mechanism)(epsilon, mechanism.candidates)


def test_it_claims_nothing_where_rows_have_no_number_and_is_for_nothing_without_an_order(dropped):
    with pytest.raises(PromiseError):
        found(mechanisms)["exponential"].loss(Unsummed(Root(Fraction(1))))
    with pytest.raises(PromiseError, match="a sum is moved by how large"):
        found(mechanisms)["exponential"].loss(Bounded(1, 1, 1))
    of = '{ statistic = "median", column = "wage", clip = ["0", "100"], unit = "euros" }'
    with pytest.raises(PlanError, match="measure a median with it"):
        plan_of(PLAN.replace(of, '"count"')).price()


NOISES = (
    '"geometric", epsilon = "2"',
    '"truncated-geometric", epsilon = "2", cap = 9',
    '"discrete-gaussian", rho = "1"',
    '"rounded-gaussian", mu = "1"',
)


@pytest.mark.parametrize("noise", NOISES)
def test_noise_of_one_width_is_refused_on_what_is_no_sum(dropped, noise):
    """One more row takes the median of an empty cell from the lowest value to the highest, whatever ranks it moves."""
    with pytest.raises(PromiseError, match="no sum of them"):
        plan_of(PLAN.replace('"exponential", epsilon = "2"', noise)).price()


def test_a_step_is_refused_on_cells_that_do_not_add_up(dropped):
    measure = PLAN[PLAN.index("[[measure]]") :]
    half = PLAN.replace('epsilon = "2" }', 'epsilon = "1" }')
    whole = (
        measure.replace('"middle"', '"whole"')
        .replace('["place", "sex"]', "[]")
        .replace('epsilon = "2"', 'epsilon = "1"')
    )
    step = '[[then]]\nstep = "least-squares"\nname = "both"\ntable = "middle"\nto = ["whole"]\n'
    with pytest.raises(PlanError, match="do not add up"):
        plan_of(half + whole + step)


def test_the_engines_sort_and_the_statistic_takes_the_middle(dropped, tmp_path):
    plan, data, path = plan_of(), tmp_path / "jobs.parquet", tmp_path / "plan.toml"
    path.write_text(PLAN, encoding="utf-8")
    pq.write_table(jobs(), data)
    true = json.loads(sfumato("tabulate", path, "--data", data, "--rows", "place,sex", "--measure", "middle", "--json"))
    assert [cell["estimate"] for cell in true["cells"]] == [30, 50, 60, 80]
    merged = json.loads(sfumato("tabulate", path, "--data", data, "--rows", "sex", "--measure", "middle", "--json"))
    assert [cell["estimate"] for cell in merged["cells"]] == [
        np.sort(np.concatenate([np.arange(210) % 21 + off for off in (low - 10, high - 10)]))[209]
        for low, high in ((30, 60), (50, 80))
    ]
    with pytest.raises(QueryError, match="counts nothing; say what the table shows: --measure middle"):
        sfumato("tabulate", path, "--data", data, "--rows", "sex")
    assert plan.price().total == sf.Approximate(2)


def test_it_goes_through_every_command_and_never_states_an_error(dropped, tmp_path):
    plan, data, release = tmp_path / "plan.toml", tmp_path / "jobs.parquet", tmp_path / "release"
    plan.write_text(PLAN, encoding="utf-8")
    pq.write_table(jobs(), data)
    priced = sfumato("price", plan)
    assert f"No ± of a cell of middle can be told beforehand, as {WHY}" in priced
    assert "± of a cell" not in priced.split("\n\n")[1]
    told = json.loads(sfumato("price", plan, "--json"))["measures"][0]
    assert "standard_error" not in told
    assert told["no_standard_error"].startswith(WHY)
    sfumato("ledger", "open", tmp_path / "ledger", "--population", "jobs", "--plan", plan, "--epsilon", "2")
    sfumato("run", plan, "--data", data, "--ledger", tmp_path / "ledger", "--out", release)
    shown = sfumato("table", release, "--rows", "place,sex")
    assert "withheld" in shown
    audits = json.loads(sfumato("audit", plan, "--samples", "2000", "--json"))
    assert all(one["holds"] and one["exact"] is None and one["strong"] is None for one in audits)
    sfumato("assess", plan, "--data", data, "--release", release, "--out", tmp_path / "report.html")
    report = (tmp_path / "report.html").read_text("utf-8")
    assert "the release withholds the error of its noise" in report
    table = page(release, "/wages~middle?rows=place&cols=sex")
    assert WHY in table.text
    card = page(release, "/privacy/wages")
    assert f"exponential (epsilon 2, candidates 21) epsilon 2 37 {WHY}, which is hidden –" in card.text
    assert [tag for tag, _ in card.elements].count("svg") == 3, "dots and curve; no bells, as there is nothing to draw"


def test_it_answers_its_cells_and_refuses_their_sums(dropped, tmp_path):
    plan = plan_of()
    run(plan, Microdata.open(jobs(), plan.schema), None, tmp_path / "release", Options(rehearsal=4))
    middle = sf.open(tmp_path / "release")
    answer = middle.total({"place": "south", "sex": "m"})
    assert abs(answer.value - 80) <= 15
    assert answer.se.reason.startswith(WHY)
    with pytest.raises(QueryError):
        middle.total({"place": "south"})


def test_its_audit_sees_the_rows_and_catches_a_weight_that_is_too_steep(dropped, monkeypatch):
    """One row in a cell or none: its value is e times as likely as each of the 20 others, or all are alike."""
    plan = plan_of()
    rows = {"place": ["north", "south"], "sex": ["f", "f"], "wage": [0, 0]}
    pair = [Microdata.open(pa.table(rows)[start:], plan.schema) for start in (0, 1)]
    audits = audit_plan(plan, pair[0], pair[1], 20_000, SeededDraws(2))
    assert {one.measure for one in audits} == {"middle", "everything"}
    assert all(one.holds for one in audits)
    exact = math.log(21 / (1 + 20 / math.e))
    assert 0.6 * exact < max(one.bound for one in audits) < exact
    sound = type(plan.measures[0].with_).base
    monkeypatch.setattr(type(plan.measures[0].with_), "base", lambda self, move: sound(self, move) ** 8)
    assert not all(one.holds for one in audit_plan(plan, pair[0], pair[1], 20_000, SeededDraws(2)))


def test_an_audit_of_the_mechanism_alone_says_that_it_needs_rows(dropped):
    with pytest.raises(PlanError, match="in their order; measure a median with it"):
        audit_mechanism(found(mechanisms)["exponential"], ONE, 2_000, SeededDraws(1))
