"""A release under a policy of loss by size, from a plan alone: priced, charged, audited, and told on its card."""

import asyncio
import json
import re
from pathlib import Path

import httpx
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.confidential import Account, Microdata, run
from sfumato.confidential.audit import audit_plan
from sfumato.draws import SeededDraws
from sfumato.errors import LedgerError, PlanError, PromiseError
from sfumato.privacy import SizeWithin
from sfumato.serve import app as served

PLAN = """
name = "workforce"
[data]
unit = "job"
[attributes.place]
levels = ["north", "south"]
of = "establishment"
[attributes.sex]
levels = ["f", "m"]
of = "worker"
[hidden]
neighbours = "loss-by-size"
unit = "establishment"
id = "employer"
bend = "10"
at = 100
weak = ["sex"]
[limit]
epsilon = "20"
[[measure]]
name = "jobs"
of = "count"
by = ["place"]
with = { mechanism = "curve-laplace", epsilon = "6" }
[[measure]]
name = "by_sex"
of = "count"
by = ["place", "sex"]
with = { mechanism = "curve-laplace", epsilon = "12" }
[publish]
answers = ["by_sex"]
"""


def plan_of(text: str = PLAN) -> sf.Plan:
    return sf.Plan.parse(text, Path("workforce.toml"))


def jobs(**other) -> pa.Table:
    """Three employers, one of them with 400 jobs."""
    employers = {"small": (3, "north"), "middle": (40, "north"), "large": (400, "south")}
    rows = [(name, place) for name, (size, place) in employers.items() for _ in range(size)]
    columns = {"employer": [name for name, _ in rows], "place": [place for _, place in rows]}
    return pa.table(columns | {"sex": ["fm"[number % 2] for number in range(len(rows))]} | other)


def asked(*words: object) -> str:
    return CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False).output


def test_a_price_says_the_loss_as_a_function_of_size_and_what_noise_it_takes(tmp_path):
    """ln(1 + x / 10) / ln(11) at 10, 1,000 and 10,000 jobs is 0.2891, 1.9247 and 2.8812, times 18."""
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    said = asked("price", tmp_path / "plan.toml")
    assert "one of 100 jobs loses what is stated, one of 10 0.29 times as much, one of 1,000 1.93 times" in said
    for size, steps, epsilon in (("10", "0.29", "5.203"), ("100", "1", "18"), ("1,000", "1.93", "34.64")):
        assert re.search(rf"one establishment of {size} jobs, there or not at all +{steps} +epsilon {epsilon}", said)
    assert "how large any one establishment is" not in said, "of 100 men and no woman, ten women more are further"
    assert re.search(r"jobs of one kind +100 +0 to 1,200", said)
    assert re.search(r"jobs, by_sex +its size +± \S+ at 10 +± \S+ at 100", said)
    told = json.loads(asked("price", tmp_path / "plan.toml", "--json"))["implied"]
    assert [one["loss"]["epsilon"] for one in told if "of 100 jobs" in one["whom"]] == ["18"]


def test_a_release_is_charged_and_its_manifest_and_card_state_the_curve(tmp_path):
    plan = plan_of()
    Account.create(tmp_path / "ledger", "employers", plan.hidden, sf.Approximate(40))
    for name in ("one", "two"):
        release = run(plan, Microdata.open(jobs(), plan.schema), tmp_path / "ledger", tmp_path / name)
    assert release.manifest.ledger.spent == {"epsilon": "36"}
    with pytest.raises(PromiseError, match="At most epsilon 4 fits"):
        run(plan, Microdata.open(jobs(), plan.schema), tmp_path / "ledger", tmp_path / "three")
    promise = release.manifest.promise
    assert promise.only_near, "whoever is further than the stated size loses more"
    assert "of more than 100 jobs loses more than is stated" in promise.not_hidden
    lost = {line.whom: float(line.loss.removeprefix("epsilon ")) for line in promise.implied}
    assert lost["one establishment of 1,000 jobs, there or not at all"] == pytest.approx(18 * 1.9247, rel=1e-3)
    south = sf.open(tmp_path / "two").total({"place": "south"})
    assert abs(south.value - 400) < 6 * south.se
    said = asked("ledger", "show", tmp_path / "ledger")
    assert re.search(r"one establishment of 1,000 jobs, there or not at all +1\.93 +epsilon 69\.2", said)

    async def card() -> str:
        transport = httpx.ASGITransport(served([tmp_path / "two"]))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            return (await client.get("/privacy/workforce", follow_redirects=True)).text

    page = asyncio.run(card())
    assert "one establishment of 1,000 jobs, there or not at all" in page
    assert "one of 100 jobs loses what is stated" in page
    assert "All rows of one establishment are hidden together, and all of them count." in page
    assert "which of the two it was made from, whatever else is known, is the number above" in page
    assert "hardly" not in page, "how well neighbours are told apart follows the loss"


def test_a_ledger_of_sizes_within_alpha_takes_it_and_one_of_workers_or_of_a_flatter_curve_does_not(tmp_path):
    """A tenth more jobs is 0.04 of a step, so that whoever is hidden within 10% loses no more than is stated."""
    plan = plan_of()
    sizes = SizeWithin("establishment", "0.1", "employer", weak=("sex",), kinds={"sex": ("f", "m")})
    Account.create(tmp_path / "sizes", "employers", sizes, sf.Approximate(40))
    made = run(plan, Microdata.open(jobs(), plan.schema), tmp_path / "sizes", tmp_path / "release")
    assert made.manifest.ledger.account["neighbours"] == "size-within"
    flatter = plan_of(PLAN.replace('bend = "10"', 'bend = "100"')).hidden
    for number, hidden in enumerate((flatter, sf.AddRemove("worker", "person", 1))):
        Account.create(tmp_path / f"other {number}", "others", hidden, sf.Approximate(40))
        with pytest.raises(LedgerError, match="never add"):
            run(plan, Microdata.open(jobs(), plan.schema), tmp_path / f"other {number}", tmp_path / "none")


def test_an_audit_proves_no_more_than_the_curve_and_nearly_all_that_the_law_shows():
    """One establishment of 100 jobs there or not, and both kinds of one elevenfold, at losses that samples can show."""
    text = PLAN.replace("at = 100", "at = 10").replace('epsilon = "12"', 'epsilon = "3"').replace('"6"', '"2"')
    audits = audit_plan(plan_of(text), samples=60_000, draws=SeededDraws(4))
    assert all(one.holds for one in audits)
    assert {one.measure for one in audits} == {"jobs", "by_sex", "everything"}
    assert all(one.strong for one in audits)
    (jobs_alone,) = (one for one in audits if one.measure == "jobs")
    assert jobs_alone.exact == pytest.approx(2, rel=0.02), "all that is claimed is there to be seen"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('weak = ["sex"]\n', ""), r"'sex' is of a worker: all new jobs"),
        (("curve-laplace", "geometric"), "use curve-laplace"),
        (
            ("curve-laplace", "log-laplace"),
            "log-laplace hides how far a size goes in proportion.* within a share .* use curve-laplace",
        ),
        (
            ('mechanism = "curve-laplace", epsilon', 'mechanism = "square-root", mu'),
            "within a distance of their roots; use curve-laplace",
        ),
        (('epsilon = "6"', 'epsilon = "2"'), r"takes an epsilon above 2\.40"),
    ],
)
def test_what_the_curve_does_not_carry_is_refused_by_the_price(change, said):
    with pytest.raises(PromiseError, match=said):
        plan_of(PLAN.replace(*change)).price()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("at = 100", "at = 1.5"), "at is 1.5; it is the number of jobs"),
        (
            ("at = 100", 'at = 100\nkinds = { sex = ["f"] }'),
            r"\[hidden\] kinds is not for a plan to say.* leave it out",
        ),
        (
            ("[data]", '[frame]\nfile = "shops.csv"\nid = "employer"\n[data]'),
            "Over a frame which establishments there are",
        ),
    ],
)
def test_what_a_plan_cannot_mean_is_said(change, said, tmp_path):
    (tmp_path / "shops.csv").write_text("employer,place\na,north\n", encoding="utf-8")
    with pytest.raises(PlanError, match=said):
        sf.Plan.parse(PLAN.replace(*change), tmp_path / "workforce.toml")


def test_without_an_id_nothing_is_said_of_rows_that_count():
    """All jobs of an establishment do; how many rows of a unit count is for relations that leave some out."""
    with pytest.raises(PromiseError) as refused:
        plan_of(PLAN.replace('id = "employer"\n', "")).price()
    assert "give [hidden] id, the column that names the unit, or say in [data] that a row is an establishment" in str(
        refused.value
    )


@pytest.mark.parametrize("relation", ["loss-by-size", "size-within"])
def test_an_attribute_of_the_establishment_is_no_weak_trait(relation):
    """It is the same in all neighbours, so that it tells no kinds of workers apart."""
    text = PLAN.replace('weak = ["sex"]', 'weak = ["sex", "place"]')
    if relation == "size-within":
        text = text.replace('bend = "10"\nat = 100', 'alpha = "0.1"').replace("loss-by-size", relation)
    with pytest.raises(PlanError, match="weak names 'place', which is of the establishment"):
        plan_of(text)


@pytest.mark.parametrize(
    ("lacking", "said"),
    [
        ('bend = "10"\n', "The relation 'loss-by-size' needs bend; got unit, id, at, weak."),
        ('bend = "10"\nat = 100\n', "The relation 'loss-by-size' needs bend, at; got unit, id, weak."),
        (', epsilon = "6"', "The mechanism 'curve-laplace' needs epsilon; got nothing."),
    ],
)
def test_what_is_needed_is_said_and_what_may_be_left_out_is_not(lacking, said):
    with pytest.raises(PlanError, match=re.escape(said)):
        plan_of(PLAN.replace(lacking, ""))


def test_a_table_too_large_for_noise_that_changes_every_cell_is_told_no_budget_that_helps():
    """Geometric noise leaves cells at 0 where it has more budget; noise in proportion leaves none there."""
    many = f'[attributes.place]\nbands = {list(range(20_001))}\nof = "establishment"\n'
    more = many.replace("place", "block").replace("20001", "20000")
    text = PLAN.replace('[attributes.place]\nlevels = ["north", "south"]\nof = "establishment"\n', many + more)
    with pytest.raises(
        PlanError, match=r"changes every one; .* Leave out an attribute, or measure at a coarser level\.$"
    ):
        plan_of(text.replace('by = ["place"]', 'by = ["place", "block"]')).price()


def test_a_plan_reads_back_and_does_not_repeat_what_its_attributes_tell():
    plan = plan_of()
    assert plan.hidden.kinds == {"sex": ("f", "m")}
    assert plan_of(plan.to_toml()).hidden == plan.hidden
    assert "kinds" not in plan.to_toml()
