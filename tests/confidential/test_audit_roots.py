"""The auditor between square-root neighbours: near the claim where noise is right, above it where it is short.

The draws are seeded, so that what passes once passes always; the seeds were taken in order.
"""

import json
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from tests.commands import sfumato

from sfumato.confidential import Microdata
from sfumato.confidential.audit import audit_mechanism, audit_plan
from sfumato.confidential.pairs import moved_words, worst_pairs
from sfumato.draws import SeededDraws
from sfumato.errors import DataError, PlanError
from sfumato.mechanisms import ClippedTotal, SquareRoot
from sfumato.plan import Plan
from sfumato.privacy import Root, SquareRootWithin
from sfumato.privacy.neighbours.square_root_within import worst_sizes

ONE = Root(Fraction(1))

PLAN = """
name = "roots"
[data]
unit = "establishment"
[frame]
file = "frame.csv"
id = "estab"
[attributes.county]
levels = ["a", "b"]
[hidden]
neighbours = "square-root-within"
unit = "establishment"
id = "estab"
beta = { jobs = "1" }
[limit]
mu = "2"
[[measure]]
name = "rows"
of = { statistic = "total", column = "jobs" }
by = ["establishment"]
with = { mechanism = "square-root", mu = "1" }
[[measure]]
name = "counties"
of = { statistic = "total", column = "jobs" }
by = ["county"]
with = { mechanism = "clipped-total", mu = "1" }
given = ["rows"]
[[measure]]
name = "all"
of = { statistic = "total", column = "jobs" }
by = []
with = { mechanism = "square-root", mu = "0.5" }
[[exposure]]
kind = "assumed known"
what = "the frame: which establishments there are and where"
why = "registers are public"
"""


@pytest.fixture
def plan(tmp_path) -> Plan:
    (tmp_path / "frame.csv").write_text("estab,county\n" + "".join(f"e{n},{'ab'[n % 2]}\n" for n in range(40)))
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return Plan.read(tmp_path / "plan.toml")


@dataclass(frozen=True)
class ShortRoot(SquareRoot):
    """Noise 20% short."""

    def __init__(self, mu):
        super().__init__(mu)

    def perturb(self, cells, draws, given=None):
        return SquareRoot(self.mu * Fraction(5, 4)).perturb(cells, draws, given)


class UnroundedDown(SquareRoot):
    """The lattice of half of beta: neighbours are two thousand steps apart and the noise is for one thousand."""

    def _step(self, move):
        return super()._step(move) / 4


class ShortTotal(ClippedTotal):
    def perturb(self, cells, draws, given=None):
        return ClippedTotal(self.mu * Fraction(3, 2), self.clip).perturb(cells, draws, given)


def test_the_pair_is_the_slides_100_against_121():
    assert worst_sizes(Fraction(1), Fraction(1), 1.0) == (100, 121)
    low, high = worst_sizes(Fraction(1, 3), Fraction(1), 0.2)
    assert 0.97 / 3 <= np.sqrt(high) - np.sqrt(low) <= 1 / 3
    assert np.sqrt(low) > 8 * (1 / 3) / 0.2, "eight deviations from 0, so that no sign is lost"


def test_100_against_121_at_beta_1_is_bounded_between_85_percent_and_the_claim():
    audits = audit_mechanism(SquareRoot(1), ONE, 40_000, SeededDraws(1))
    assert [one.words() for one in audits if not (one.holds and one.strong)] == []
    assert all(0.85 <= one.bound <= 1 for one in audits)


@pytest.mark.parametrize("mu", ["0.5", "1", "2"])
@pytest.mark.parametrize("kind", [SquareRoot, ClippedTotal])
def test_sound_mechanisms_hold(kind, mu):
    audits = audit_mechanism(kind(mu), ONE, 100_000, SeededDraws(2))
    assert all(one.holds and one.strong for one in audits)


@pytest.mark.parametrize("mutant", [ShortRoot(1), UnroundedDown(1), ShortTotal(1)], ids=lambda one: type(one).__name__)
def test_a_mutant_is_caught(mutant):
    assert any(not one.holds for one in audit_mechanism(mutant, ONE, 40_000, SeededDraws(3)))


def test_short_noise_is_caught_with_few_samples():
    caught = [
        not all(one.holds for one in audit_mechanism(ShortRoot(1), ONE, 5_000, SeededDraws(seed))) for seed in range(10)
    ]
    assert sum(caught) >= 8


def test_a_plan_over_a_frame_is_audited_without_data(plan):
    audits = audit_plan(plan, samples=100_000, draws=SeededDraws(4))
    assert [one.measure for one in audits] == ["rows", "counties", "all", "everything"]
    assert all(one.holds for one in audits)
    assert 0.85 <= audits[0].bound <= 1
    assert audits[-1].claimed == pytest.approx(1.5)
    assert audits[-1].strong


def test_a_plan_with_short_noise_is_caught(plan, monkeypatch):
    sound = SquareRoot.perturb
    monkeypatch.setattr(
        SquareRoot,
        "perturb",
        lambda self, cells, draws, given=None: sound(SquareRoot(self.mu * Fraction(5, 4)), cells, draws, given),
    )
    broken = {one.measure for one in audit_plan(plan, samples=50_000, draws=SeededDraws(5)) if not one.holds}
    assert {"rows", "everything"} <= broken


def test_two_reports_of_ones_own_are_audited(plan):
    def reports(jobs):
        return Microdata.open(pa.table({"estab": ["e0", "e1", "e2"], "jobs": jobs}), plan.schema)

    audits = audit_plan(plan, reports([400.0, 9.0, 0.0]), reports([441.0, 9.0, 0.0]), 20_000, SeededDraws(6))
    assert all(one.holds for one in audits)
    assert audits[0].bound > 0.9
    with pytest.raises(DataError, match="nothing to tell apart"):
        audit_plan(plan, reports([4.0, 9.0, 0.0]), reports([4.0, 9.0, 0.0]), 1_000)


def test_a_pair_that_is_no_neighbour_breaks_the_bound(plan):
    """The control: 100 against 169 is three times beta apart, and the audit sees it."""
    sides = [Microdata.open(pa.table({"estab": ["e0"], "jobs": [jobs]}), plan.schema) for jobs in (100.0, 169.0)]
    assert not any(one.holds for one in audit_plan(plan, *sides, 20_000, SeededDraws(7)) if one.measure == "rows")


def test_the_command_audits_a_plan_over_a_frame(plan):
    path = plan.frame.folder / "plan.toml"
    found = {one["measure"]: one for one in json.loads(sfumato("audit", path, "--samples", "20000", "--json"))}
    # Drawn from the system, so the floor is far below the 0.87 to 0.93 that 20,000 a side give; seeded runs hold 0.85.
    assert 0.7 <= found["rows"]["bound"] <= found["rows"]["claimed"] == 1
    assert all(one["holds"] for one in found.values())
    assert len(worst_pairs(plan)) == 1


def test_what_a_measure_is_given_is_of_the_same_column_and_step(plan):
    text = PLAN.replace('beta = { jobs = "1" }', 'beta = { jobs = "1", pay = "50" }')
    other = text.replace('column = "jobs" }\nby = ["county"]', 'column = "pay" }\nby = ["county"]')
    coarse = PLAN.replace('column = "jobs" }\nby = []', 'column = "jobs", step = "10" }\nby = []')
    for written, match in ((other, "another column or step"), (coarse, "in another step")):
        path = plan.frame.folder / "other.toml"
        path.write_text(written, encoding="utf-8")
        with pytest.raises(PlanError, match=match):
            Plan.read(path)


@pytest.fixture
def firms(plan) -> Plan:
    """The same plan, hiding whole firms: five of its establishments, three of them in one county, are of one."""
    folder = plan.frame.folder
    rows = [f"e{n},{'ab'[n % 2]},{'one' if n < 5 else n}\n" for n in range(40)]
    (folder / "frame.csv").write_text("estab,county,owner\n" + "".join(rows))
    (folder / "firms.toml").write_text(PLAN.replace("[limit]", 'firm = "owner"\nat_most = 5\n[limit]'), "utf-8")
    return Plan.read(folder / "firms.toml")


def test_all_units_of_the_largest_firm_move_at_once(firms):
    (pair,) = worst_pairs(firms)
    assert [sorted(side.sources[0]["estab"].to_pylist()) for side in pair] == [[f"e{n}" for n in range(5)]] * 2
    (low,), (high,) = (set(map(float, side.sources[0]["jobs"].to_pylist())) for side in pair)
    assert 0.97 <= high**0.5 - low**0.5 <= 1, "each by beta"
    assert firms.move(firms.measure("rows")).l2_squared == 5
    assert [firms.move(firms.measure(name)).crowded for name in ("counties", "all")] == [3**2 + 2**2, 5**2]


def test_an_audit_says_that_whole_firms_were_moved(firms, plan):
    assert "all establishments of one firm differ at once, 5 of them" in moved_words(firms)
    assert not moved_words(plan), "one establishment moves alone"
    said = sfumato("audit", firms.frame.folder / "firms.toml", "--samples", "1000")
    assert "Whole firms were moved" in said


def test_a_firm_with_fewer_units_that_share_more_cells_gets_a_pair_of_its_own(firms):
    """Four units in one county are 16 in squares, five over the counties are 13."""
    frame = firms.frame.folder / "frame.csv"
    text = frame.read_text("utf-8")
    for number in (6, 8, 10, 12):
        text = text.replace(f"e{number},a,{number}\n", f"e{number},a,two\n")
    frame.write_text(text, "utf-8")
    again = Plan.read(firms.frame.folder / "firms.toml")
    assert again.move(again.measure("counties")).crowded == 16
    assert sorted(len(one.sources[0]) for one, _ in worst_pairs(again)) == [4, 5]


def test_whole_firms_hold_their_claim_and_show_nearly_all_of_it(firms):
    audits = audit_plan(firms, samples=100_000, draws=SeededDraws(8))
    assert [one.words() for one in audits if not one.holds] == []
    rows = next(one for one in audits if one.measure == "rows")
    assert 0.85 <= rows.views["the total of 5 cells"] <= 1
    assert rows.views["a cell"] < 0.5, "one establishment alone is far from the claim for its firm"
    everything = next(one for one in audits if one.measure == "everything")
    assert everything.strong
    assert everything.bound > 0.85 * 1.5


@pytest.mark.parametrize(
    ("claimed", "broken"),
    [
        (lambda move: Root(move.beta, 2), {"rows", "counties", "all", "everything"}),
        (lambda move: Root(move.beta, 3, move.crowded), {"rows", "all", "everything"}),
        (lambda move: Root(move.beta, move.units, move.units), {"counties", "everything"}),
    ],
    ids=["as two of five", "as three of five", "clipped totals by the root of five"],
)
def test_a_move_that_is_too_small_for_a_firm_is_caught(firms, monkeypatch, claimed, broken):
    """The pair is made of the frame and the words of the promise, not of the move that is claimed."""
    sound = SquareRootWithin.move
    monkeypatch.setattr(SquareRootWithin, "move", lambda self, row, domain: claimed(sound(self, row, domain)))
    audits = audit_plan(firms, samples=100_000, draws=SeededDraws(9))
    assert {one.measure for one in audits if not one.holds} == broken


@pytest.mark.parametrize("kind", [SquareRoot, ClippedTotal])
def test_a_mechanism_is_audited_on_all_units_of_a_firm(kind):
    audits = audit_mechanism(kind(1), Root(Fraction(1), 4), 40_000, SeededDraws(10))
    assert all(one.holds for one in audits)
    best = max(audits, key=lambda one: one.bound)
    assert best.strong
    assert kind is ClippedTotal or best.bound > 0.85, "values far below their topcode move a clipped total by less"


def test_a_mechanism_with_noise_for_one_unit_is_caught_on_a_firm():
    class Alone(SquareRoot):
        def perturb(self, cells, draws, given=None):
            return super().perturb(replace(cells, move=Root(cells.move.beta)), draws, given)

    assert any(not one.holds for one in audit_mechanism(Alone(1), Root(Fraction(1), 4), 50_000, SeededDraws(11)))
