"""Withheld cells: an integer program that reads the published Parquet file alone, and what it makes of them.

The attacker knows the plan: empty cells are published as 0, so a withheld cell has a record; a record adds 1 to a count
and a whole number within the clip to a total. Its variables are the records in each combination of all codes that the
tables of the release have between them, so it shares neither equations nor solver calls with search and audit.
"""

from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import sfumato as sf
from sfumato.confidential import Microdata, Options, public_bounds, run, withholding
from sfumato.confidential.suppress import Prior
from sfumato.errors import PlanError
from sfumato.plan import Plan

TABLES = {
    "two ways": [["a", "b"]],
    "three ways": [["a", "b", "c"]],
    "linked": [["a", "b"], ["b", "c"]],
}
CIRCLE = [["a", "b"], ["b", "c"], ["a", "c"]]
CODES = {"a": "123", "b": "wxyz", "c": "mn"}
MINIMUM, LOW, HIGH = 3, 20, 60
COUNT = 'name = "persons"\nof = "count"\n'
TOTAL = f'name = "days"\nof = {{ statistic = "total", column = "days", unit = "days", clip = ["{LOW}", "{HIGH}"] }}\n'


def plan_of(tables, measure):
    levels = "".join(
        f"[attributes.{name}]\nlevels = {list(codes)}\n".replace("'", '"')
        for name, codes in CODES.items()
        if any(name in table for table in tables)
    )
    return f"""
name = "people"
[data]
unit = "person"
{levels}
[hidden]
neighbours = "add-remove"
unit = "person"
id = "person"
at_most = 1
[limit]
unbounded = "an attack is tried on it"
[suppress]
minimum = {MINIMUM}
by = {str([list(table) for table in tables]).replace("'", '"')}
[[suppress.measure]]
{measure}"""


def people(seed, size):
    rng = np.random.default_rng(seed)
    columns = {name: [codes[at] for at in rng.integers(0, len(codes), size)] for name, codes in CODES.items()}
    return columns | {"person": [f"p{at}" for at in range(size)], "days": rng.integers(LOW, HIGH + 1, size).tolist()}


def published(folder, tables, measures, columns):
    """The rows of each file of numbers: codes, None where a row is a total, and the value, None where withheld."""
    pq.write_table(pa.table(columns), folder / "people.parquet")
    plan = Plan.parse(plan_of(tables, "[[suppress.measure]]\n".join(measures)), folder / "plan.toml")
    data = Microdata.open(folder / "people.parquet", plan.schema)
    release = run(plan, data, None, folder / "out", Options(rehearsal=1))
    found = []
    for measure in measures:
        (file,) = release.folder.rglob(f"{name_of(measure)}.parquet")
        found.append(pq.read_table(file).to_pylist())
    return found


def name_of(measure):
    return measure.split('"')[1]


class Attacker:
    """Records and values in every combination of codes, as integers, and one equation for each cell of the tables."""

    def __init__(self, tables, rows, low, high):
        self.names = sorted({name for table in tables for name in table})
        self.leaves = list(product(*(CODES[name] for name in self.names)))
        self.told = {tuple(row[name] for name in self.names): row["value"] for row in rows}
        self.cells = sorted(
            {
                tuple(dict(zip(table, codes, strict=True)).get(name) for name in self.names)
                for table in tables
                for codes in product(*((None, *CODES[name]) for name in table))
            },
            key=str,
        )
        size = len(self.leaves)
        sums = np.array([[self._within(leaf, cell) for leaf in self.leaves] for cell in self.cells], dtype=float)
        least, most = np.zeros(len(self.cells)), np.full(len(self.cells), np.inf)
        records = np.zeros(len(self.cells))
        for at, cell in enumerate(self.cells):
            value = self.told.get(cell, 0)
            if value is None:
                records[at] = 1
            else:
                least[at] = most[at] = value
        none = np.zeros((size, size))
        self.bounds = [
            LinearConstraint(np.hstack([none - low * np.eye(size), np.eye(size)]), 0, np.inf),
            LinearConstraint(np.hstack([none - high * np.eye(size), np.eye(size)]), -np.inf, 0),
        ]
        self.constraints = [
            LinearConstraint(np.hstack([np.zeros_like(sums), sums]), least, most),
            LinearConstraint(np.hstack([sums, np.zeros_like(sums)]), records, np.inf),
            *self.bounds,
        ]
        self.values = np.hstack([np.zeros_like(sums), sums])

    def learn_counts(self, rows):
        """Take a published table of counts of the same records as known too."""
        told = {tuple(row[name] for name in self.names): row["value"] for row in rows}
        sums = self.values[:, len(self.leaves) :]
        ends = [(0, np.inf) if told.get(cell, 0) is None else (told.get(cell, 0),) * 2 for cell in self.cells]
        low, high = np.array(ends, dtype=float).T
        self.constraints.append(LinearConstraint(np.hstack([sums, np.zeros_like(sums)]), low, high))

    @staticmethod
    def _within(leaf, cell):
        return all(code in {None, own} for own, code in zip(leaf, cell, strict=True))

    @property
    def withheld(self):
        return [cell for cell in self.cells if self.told.get(cell, 0) is None]

    def floor(self, cell):
        """The least that a cell can be to who knows which cells are empty, before any other number is published."""
        told = np.array([self.told.get(one, 0) for one in self.cells], dtype=object) != 0
        sums = self.values[:, len(self.leaves) :]
        records = np.hstack([sums, np.zeros_like(sums)])
        known = [
            LinearConstraint(records, np.where(told, 1, 0), np.where(told, np.inf, 0)),
            *self.bounds,
        ]
        answer = milp(self.values[self.cells.index(cell)], constraints=known, integrality=1, bounds=Bounds(0, np.inf))
        assert answer.status == 0
        return round(answer.fun)

    def interval(self, cell, of_records=False):
        """The least and the greatest that a withheld cell can be, or how many records it can have."""
        row = self.values[self.cells.index(cell)]
        row = np.roll(row, len(self.leaves)) if of_records else row
        ends = []
        for sign in (1, -1):
            answer = milp(sign * row, constraints=self.constraints, integrality=1, bounds=Bounds(0, np.inf))
            assert answer.status in {0, 3, 4}, answer.message
            ends.append(sign * round(answer.fun) if answer.status == 0 else sign * np.inf * -1)
        return tuple(ends)

    def true(self, columns, weights):
        """What is true of every cell: its records and its value."""
        found = {}
        rows = list(zip(*(columns[name] for name in self.names), strict=True))
        for cell in self.cells:
            inside = [weight for row, weight in zip(rows, weights, strict=True) if self._within(row, cell)]
            found[cell] = len(inside), sum(inside)
        return found


def narrower(folder, tables, measure, seed, size, minimum=MINIMUM):
    """How many sensitive cells there are, and those that an attacker knows better than the plan promises.

    Upwards a tenth, a step at least, and as much as enough records add at least; downwards a tenth, a step at least,
    but no farther than everybody knows it to go as the empty cells are published.
    """
    columns, counted = people(seed, size), measure is COUNT
    low, high = (1, 1) if counted else (LOW, HIGH)
    (rows,) = published(folder, tables, [measure], columns)
    attacker = Attacker(tables, rows, low, high)
    true = attacker.true(columns, [1] * size if counted else columns["days"])
    sensitive, wrong = [cell for cell in attacker.withheld if true[cell][0] < MINIMUM], []
    for cell in sensitive:
        (least, most), (_, value) = attacker.interval(cell), true[cell]
        upper = max(value + 1, value * 1.1, minimum * low)
        lower = max(min(value - 1, value * 0.9), attacker.floor(cell))
        if most < upper - 1e-6 or least > lower + 1e-6:
            wrong.append((cell, value, least, most))
    return len(sensitive), wrong


FEW, MANY = range(3), range(60)
SIZES = (9, 16, 24, 40)


def attacked(folder, tables, measure, seeds, **promise):
    found = []
    for seed in seeds:
        (folder / str(seed)).mkdir()
        found.append(narrower(folder / str(seed), TABLES[tables], measure, seed, SIZES[seed % len(SIZES)], **promise))
    return sum(sensitive for sensitive, _ in found), [cell for _, wrong in found for cell in wrong]


@pytest.mark.parametrize("tables", TABLES)
@pytest.mark.parametrize("measure", [COUNT, TOTAL], ids=["counts", "totals"])
def test_no_sensitive_cell_is_known_better_than_it_may_be(tmp_path, tables, measure):
    sensitive, wrong = attacked(tmp_path, tables, measure, FEW)
    assert sensitive > 20
    assert not wrong


@pytest.mark.slow
@pytest.mark.parametrize("tables", TABLES)
@pytest.mark.parametrize("measure", [COUNT, TOTAL], ids=["counts", "totals"])
def test_no_sensitive_cell_of_many_tables_is_known_better_than_it_may_be(tmp_path, tables, measure):
    sensitive, wrong = attacked(tmp_path, tables, measure, MANY)
    assert sensitive > 400
    assert not wrong


@pytest.mark.parametrize("measure", [COUNT, TOTAL], ids=["counts", "totals"])
def test_cells_that_are_protected_as_if_they_could_be_empty_are_known(tmp_path, monkeypatch, measure):
    """Negative arm: search and audit that take a withheld cell to be 0 or more, and any number, call this safe."""

    def unknowing(_plan, _measure, _system, cells):
        return Prior(np.zeros(len(cells.totals)), np.full(len(cells.totals), np.inf))

    monkeypatch.setattr(withholding, "prior_of", unknowing)
    monkeypatch.setattr(withholding, "record_bounds", lambda _: (0.0, None))
    assert attacked(tmp_path, "two ways", measure, range(8), minimum=0)[1]


def test_a_count_beside_a_total_of_bounded_values_is_refused(tmp_path):
    """A total of values up to 60 is of no fewer records than a sixtieth of it, which no audit of one measure sees."""
    with pytest.raises(PlanError, match="publishes 'persons' and 'days', and the bounds of a record tell from one"):
        published(tmp_path, TABLES["two ways"], [COUNT, TOTAL], people(0, SIZES[0]))


@pytest.mark.parametrize(
    ("clip", "where", "refused"),
    [((20, 60), {"c": ("m",)}, True), ((0, 60), {}, True), (None, {}, False)],
    ids=["a total of some records", "a clip that starts at 0", "a total without a clip"],
)
def test_what_bounds_the_number_of_records_is_refused_beside_a_count(clip, where, refused):
    geometric = sf.Geometric(1)
    count = sf.Measure("persons", sf.Count(), ("a", "b"), geometric)
    total = sf.Measure("days", sf.Total("days", clip=clip, unit="days"), ("a", "b"), geometric, where)
    if not refused:
        public_bounds.refuse_bounding([count, total, count])
        return
    for measures in ([count, total], [total, count]):
        with pytest.raises(PlanError, match="how many records the other counts"):
            public_bounds.refuse_bounding(measures)


def test_a_count_beside_a_total_of_bounded_values_tells_more_together(tmp_path, monkeypatch):
    """Negative arm: each is safe by itself, and the attacker who reads both knows some cell too well."""
    monkeypatch.setattr(withholding, "refuse_bounding", lambda _: None)
    known = 0
    for seed in range(12):
        folder, columns = tmp_path / str(seed), people(seed, (12, 20, 30)[seed % 3])
        columns["days"] = [LOW if code == "2" else HIGH for code in columns["a"]]
        folder.mkdir()
        counts, totals = published(folder, TABLES["two ways"], [COUNT, TOTAL], columns)
        attacker = Attacker(TABLES["two ways"], totals, LOW, HIGH)
        attacker.learn_counts(counts)
        true = attacker.true(columns, columns["days"])
        sensitive = [cell for cell in attacker.withheld if true[cell][0] < MINIMUM]
        known += sum(attacker.interval(cell, of_records=True)[1] < MINIMUM for cell in sensitive)
    assert known > 0


def test_tables_in_a_circle_tell_more_than_their_sums_and_are_refused(tmp_path, monkeypatch):
    """Negative arm: published as linked tables they are audited by their sums, and a table of all three knows more."""
    columns = people(25, SIZES[1])
    with pytest.raises(PlanError, match="tables in a circle, a × b, b × c, a × c: together they tell more"):
        published(tmp_path, CIRCLE, [COUNT], columns)
    monkeypatch.setattr(withholding, "refuse_circle", lambda _: None)
    assert narrower(tmp_path, CIRCLE, COUNT, 25, SIZES[1])[1]
