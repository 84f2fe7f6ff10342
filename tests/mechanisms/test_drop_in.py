"""Adding a mechanism touches one file: dropped in it is found, priced, run, drawn, and held to the contract."""

import importlib
import json
import math
import re
import sys
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from contract_moves import MOVES
from contract_plugin import PLUGIN_CHECKS
from tests.commands import page, sfumato

import sfumato as sf
from sfumato import mechanisms
from sfumato.confidential import Microdata, Options, run
from sfumato.confidential.contract.law import LAW_CHECKS
from sfumato.confidential.contract.noise import NOISE_CHECKS, Bench
from sfumato.errors import PlanError
from sfumato.mechanisms import Typical
from sfumato.plugins import found

DROPPED = Path(__file__).parent / "dropped"
GUIDE = Path(__file__).parents[2] / "docs" / "architecture.md"
PLAN = """
name = "dropped"
[attributes.place]
levels = ["north", "south"]
[data]
unit = "job"
[hidden]
neighbours = "add-remove"
unit = "job"
id = "firm"
at_most = 3
[limit]
epsilon = "1"
[[measure]]
name = "jobs"
of = "count"
by = ["place"]
with = { mechanism = "staircase", epsilon = "0.3" }
"""


@pytest.fixture
def drop(tmp_path, monkeypatch):
    """Drop a file, or what the guide shows, into a folder that is searched for mechanisms; forget it afterwards."""
    folder = tmp_path / "more mechanisms"
    folder.mkdir()
    monkeypatch.setattr(mechanisms, "__path__", [*mechanisms.__path__, str(folder)])
    modules = []

    def dropped(name: str = "staircase", old: str = "", new: str = "") -> None:
        guide = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)[0]
        text = guide if name == "guide" else (DROPPED / f"{name}.py").read_text(encoding="utf-8")
        assert old in text
        (folder / f"{name}_dropped.py").write_text(text.replace(old, new) if old else text, encoding="utf-8")
        importlib.invalidate_caches()
        modules.append(f"{name}_dropped")

    yield dropped
    for module in modules:
        sys.modules.pop(f"sfumato.mechanisms.{module}", None)
        vars(mechanisms).pop(module, None)


def complaints(mechanism) -> dict[str, list[str]]:
    said = {}
    for move in (MOVES["count add-remove 3"], MOVES["total replace-one 3"]):
        bench = Bench.of(mechanism, move)
        said |= {check: told for check, holds in LAW_CHECKS.items() if (told := holds(mechanism, move))}
        said |= {check: told for check, holds in NOISE_CHECKS.items() if (told := holds(bench))}
    return said


def plan_of(text: str = PLAN) -> sf.Plan:
    return sf.Plan.parse(text, Path("dropped.toml"))


def jobs() -> pa.Table:
    return pa.table({"place": ["north"] * 500 + ["south"] * 300, "firm": [str(row // 2) for row in range(800)]})


def test_a_dropped_in_mechanism_is_found_priced_run_and_sound(drop, tmp_path):
    with pytest.raises(PlanError, match="no mechanism 'staircase'"):
        plan_of()
    drop()
    plan = plan_of()
    assert plan.price().total == sf.Approximate("0.3")
    assert sf.Plan.parse(plan.to_toml(), Path("again.toml")) == plan

    run(plan, Microdata.open(jobs(), plan.schema), None, tmp_path / "release", Options(rehearsal=3))
    answer = sf.open(tmp_path / "release").total({"place": "north"})
    law = plan.measures[0].with_.law(plan.move(plan.measures[0]))
    assert abs(answer.value - 500) < 10 * law.variance**0.5
    assert answer.noise_variance == law.variance
    assert complaints(found(mechanisms)["staircase"]) == {}


def test_it_goes_through_every_command(drop, tmp_path):
    drop()
    plan, data, release = tmp_path / "plan.toml", tmp_path / "jobs.parquet", tmp_path / "release"
    plan.write_text(PLAN, encoding="utf-8")
    pq.write_table(jobs(), data)
    error = json.loads(sfumato("price", plan, "--json"))["measures"][0]["standard_error"]
    assert error == pytest.approx(staircase_error(Fraction("0.1")))
    assert f"{math.ceil(1.645 * error - 0.5)} " in sfumato("price", plan)
    sfumato("ledger", "open", tmp_path / "ledger", "--population", "firms", "--plan", plan, "--epsilon", "2")
    sfumato("run", plan, "--data", data, "--ledger", tmp_path / "ledger", "--out", release)
    audits = json.loads(sfumato("audit", plan, "--samples", "20000", "--json"))
    assert all(one["holds"] and one["exact"] > 0 for one in audits)
    sfumato("assess", plan, "--data", data, "--release", release, "--out", tmp_path / "report.html")
    assert f"± {1.6449 * error:.0f}" in sfumato("table", release, "--rows", "place")
    assert "500" in sfumato("tabulate", plan, "--data", data, "--rows", "place")
    assert "meets its target" in sfumato("budget", plan, "--target", "jobs=40")


def staircase_error(rate: Fraction) -> float:
    """Stairs three wide, the first two integers of each higher than the third, summed by hand."""
    b, k = math.exp(-rate), range(1, 2000)
    weights = [b ** (one // 3 + (one % 3 >= 2)) for one in k]
    whole = 1 + 2 * math.fsum(weights)
    return math.sqrt(2 * math.fsum(weight * one**2 for weight, one in zip(weights, k, strict=True)) / whole)


def test_its_privacy_page_has_all_that_a_geometric_one_has(drop, tmp_path):
    """The same plan twice: standard error, two true values, and five pictures: dots, curve and bells for two widths."""
    drop()
    cards = {}
    for name in ("staircase", "geometric"):
        plan = plan_of(PLAN.replace("staircase", name))
        run(plan, Microdata.open(jobs(), plan.schema), None, tmp_path / name, Options(rehearsal=1))
        cards[name] = page(tmp_path / name, "/privacy/dropped")
    stairs, plain = ([one for one in card.elements if one[0] == "svg"] for card in cards.values())
    assert len(stairs) == len(plain) == 5
    error = staircase_error(Fraction("0.1"))
    apart = round(100 * found(mechanisms)["staircase"].__class__("0.3").facts(MOVE, Typical()).example.told_apart + 0.5)
    assert f"staircase (epsilon 0.3) epsilon 0.3 7 {error:.1f} jobs {apart} 1,000 or 1,100" in cards["staircase"].text
    assert "1,000 or 1,100?" in cards["staircase"].text
    assert f"noise of standard error {error:.1f}" in cards["staircase"].text
    assert cards["staircase"].text.count("–") == cards["geometric"].text.count("–")


MOVE = MOVES["count add-remove 3"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.epsilon / moved", "2 * self.epsilon / moved"),
        ("move.largest, -(-move.largest // 2)", "-(-move.largest // 2), -(-move.largest // 4)"),
        ("self.epsilon / moved, move.largest, -(-move.largest // 2)", "self.epsilon, move.l1, -(-move.l1 // 2)"),
    ],
    ids=["half the noise", "stairs of half the width", "scaled to all cells together"],
)
def test_a_dropped_in_mechanism_that_claims_too_little_is_rejected(drop, old, new):
    drop("staircase", old, new)
    mechanism = found(mechanisms)["staircase"]
    assert [said for move in MOVES.values() for said in LAW_CHECKS["claim holds"](mechanism, move)]


def test_a_dropped_in_file_cannot_take_the_place_of_a_mechanism(drop):
    drop("staircase", 'ClassVar[str] = "staircase"', 'ClassVar[str] = "geometric"')
    with pytest.raises(PlanError, match="are called 'geometric'"):
        found(mechanisms)


def test_the_mechanism_of_the_guide_is_complete(drop, tmp_path):
    drop("guide")
    text = PLAN.replace("staircase", "geometric-in-rho").replace('[limit]\nepsilon = "1"', '[limit]\nrho = "1"')
    plan = plan_of(text)
    assert plan.price().total == sf.Concentrated("0.045")  # 0.3 squared, halved
    assert sf.Plan.parse(plan.to_toml(), Path("again.toml")) == plan
    run(plan, Microdata.open(jobs(), plan.schema), None, tmp_path / "release", Options(rehearsal=3))
    made = found(mechanisms)["geometric-in-rho"]
    assert complaints(made) == {}
    assert not [said for check in PLUGIN_CHECKS.values() for said in check(made)]


@pytest.mark.parametrize(
    ("old", "new", "check"),
    [
        ("@dataclass(frozen=True)", "@dataclass", "frozen dataclass"),
        ("@dataclass(frozen=True)", "", "frozen dataclass"),
        ('positive(epsilon, "epsilon")', "epsilon", "parameters are read from text"),
    ],
    ids=["it can be changed", "no dataclass of its own", "its parameter stays text"],
)
def test_what_the_guide_asks_for_and_a_file_leaves_out_is_named(drop, old, new, check):
    drop("guide", old, new)
    assert PLUGIN_CHECKS[check](found(mechanisms)["geometric-in-rho"])


def test_a_file_whose_class_has_no_name_is_named(drop):
    drop("guide", "    name: ClassVar", "    label: ClassVar")
    with pytest.raises(PlanError, match=r"guide_dropped: its class lacks `name`"):
        found(mechanisms)
