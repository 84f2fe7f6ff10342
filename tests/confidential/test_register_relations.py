"""Add-remove and replace-one over a public register: what one unit reports, or that it does, from price to page."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import page

import sfumato as sf
from sfumato.cli.agency import audit as audit_command
from sfumato.cli.price import price as price_command
from sfumato.cli.tabulate import tabulate
from sfumato.confidential import Account, Microdata, run
from sfumato.confidential.audit import audit_plan
from sfumato.draws import SeededDraws
from sfumato.errors import PlanError, PromiseError
from sfumato.mechanisms import Geometric
from sfumato.plan import Plan
from sfumato.privacy import Approximate

PLAN = """
name = "shops"
[data]
unit = "shop"
[frame]
file = "frame.parquet"
id = "id"
[attributes.trade]
levels = ["food", "books"]
[hidden]
neighbours = "{relation}"
unit = "shop"
id = "id"
{at_most}
[limit]
epsilon = "5"
[[measure]]
name = "jobs"
of = {{ statistic = "total", column = "jobs", {clip} unit = "jobs" }}
by = ["shop"]
with = {{ mechanism = "geometric", epsilon = "2" }}
[[measure]]
name = "jobs_by_trade"
of = {{ statistic = "total", column = "jobs", {clip} unit = "jobs" }}
by = ["trade"]
with = {{ mechanism = "geometric", epsilon = "2" }}
[[measure]]
name = "reporting"
of = "count"
by = ["trade"]
with = {{ mechanism = "geometric", epsilon = "1" }}
{then}
[publish]
answers = ["jobs", "jobs_by_trade", "reporting"]
[[exposure]]
kind = "assumed known"
what = "the frame"
why = "the register is public"
"""
UNITS, LARGEST = 400, 20
RELATIONS = ("add-remove", "replace-one")


def text(relation: str, **other: str) -> str:
    named = {"at_most": "", "clip": f'clip = ["0", "{LARGEST}"],', "then": ""}
    return PLAN.format(relation=relation, **named | other)


@pytest.fixture
def folder(tmp_path):
    """400 shops, every other one of books; the last 100 do not report."""
    ids = [f"s{one}" for one in range(UNITS)]
    trades = ["food" if one % 2 else "books" for one in range(UNITS)]
    pq.write_table(pa.table({"id": ids, "trade": trades}), tmp_path / "frame.parquet")
    reports = {"id": ids[:300], "jobs": [1 + one % 7 for one in range(300)]}
    pq.write_table(pa.table(reports), tmp_path / "reports.parquet")
    return tmp_path


def plan_in(folder, relation, **other) -> Plan:
    (folder / "shops.toml").write_text(text(relation, **other), encoding="utf-8")
    return Plan.read(folder / "shops.toml")


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_price_is_that_of_the_most_that_one_report_adds(folder, relation, capsys):
    """A report goes from 0 to 20 or to none, so noise has a = e^(-2 / 20), variance 2 a / (1 - a)²."""
    plan = plan_in(folder, relation)
    assert [spend.loss for spend in plan.price().spends] == [Approximate(2), Approximate(2), Approximate(1)]
    assert [plan.over.size(measure) for measure in plan.measures] == [UNITS, 2, 2]
    a = math.exp(-2 / LARGEST)
    law = Geometric(2).law(plan.move(plan.measure("jobs")))
    assert law.variance == pytest.approx(2 * a / (1 - a) ** 2)
    price_command(folder / "shops.toml")
    assert "epsilon 5" in capsys.readouterr().out


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_release_answers_with_the_totals_of_the_reports_within_their_error(folder, relation):
    plan, ledger = plan_in(folder, relation), folder / "shops.ledger"
    Account.create(ledger, "shops", plan.hidden, Approximate(9))
    run(plan, Microdata.open(folder / "reports.parquet", plan.schema), ledger, folder / "out")
    engine, true = sf.open(folder / "out"), np.array([1 + one % 7 for one in range(300)])
    for of, wanted in (("jobs_by_trade", true), ("jobs", true), ("reporting", np.ones(300))):
        for trade, first in (("books", 0), ("food", 1)):
            told = engine.total(of=of, where={"trade": trade})
            assert abs(told.value - wanted[first::2].sum()) < 9 * told.noise_variance**0.5
    a = math.exp(-2 / LARGEST)
    assert engine.total(of="jobs").noise_variance == pytest.approx(UNITS * 2 * a / (1 - a) ** 2)
    assert engine.table(rows=["trade"], of="jobs_by_trade")


@pytest.mark.parametrize("relation", RELATIONS)
def test_an_audit_holds_every_measure_to_its_claim_and_sees_nearly_all_of_it(folder, relation, capsys):
    audits = audit_plan(plan_in(folder, relation), samples=60_000, draws=SeededDraws(3))
    assert all(one.holds and one.strong for one in audits)
    assert {one.measure for one in audits} == {"jobs", "jobs_by_trade", "reporting", "everything"}
    audit_command(folder / "shops.toml", samples=2_000)
    assert "THE CLAIM IS FALSE" not in capsys.readouterr().out


@pytest.mark.parametrize("relation", RELATIONS)
def test_an_audit_sees_noise_that_is_for_a_smaller_report(folder, relation, monkeypatch):
    sound = Geometric.law
    monkeypatch.setattr(Geometric, "law", lambda self, move: sound(Geometric(2 * self.epsilon), move))
    audits = audit_plan(plan_in(folder, relation), samples=60_000, draws=SeededDraws(3))
    assert not all(one.holds for one in audits)


def test_the_true_table_is_of_the_reports(folder, capsys):
    plan_in(folder, "add-remove")
    tabulate(folder / "shops.toml", [str(folder / "reports.parquet")], rows="trade", measure="reporting")
    assert capsys.readouterr().out.count(" 150 ") == 2
    tabulate(folder / "shops.toml", [str(folder / "reports.parquet")], rows="trade", total="jobs")
    assert f" {sum(1 + one % 7 for one in range(0, 300, 2)):,} " in capsys.readouterr().out


@pytest.mark.parametrize("relation", RELATIONS)
def test_what_has_no_bound_over_a_register_is_refused_by_name(folder, relation):
    with pytest.raises(PromiseError, match="Total of jobs has no largest value"):
        plan_in(folder, relation, clip="").price()
    with pytest.raises(PlanError, match=r"reports once, and .* at_most is 2; only 1 is meant"):
        plan_in(folder, relation, at_most="at_most = 2")
    then = '[[then]]\nstep = "protected-microdata"\nname = "made"\ntable = "jobs"\nto = ["jobs_by_trade"]'
    with pytest.raises(PlanError, match="'made' moves rows measured with square-root; 'jobs' is not"):
        plan_in(folder, relation, then=then)


def test_groups_answer_what_no_rows_answer_and_the_card_names_no_other_noise(folder):
    chosen = '[publish]\nanswers = ["jobs", "jobs_by_trade", "reporting"]\n'
    (folder / "shops.toml").write_text(text("add-remove").replace(chosen, ""), encoding="utf-8")
    plan = Plan.read(folder / "shops.toml")
    assert plan.answering == ("jobs", "reporting")
    Account.create(folder / "ledger", "shops", plan.hidden, Approximate(9))
    run(plan, Microdata.open(folder / "reports.parquet", plan.schema), folder / "ledger", folder / "out")
    assert set(sf.open(folder / "out").table("trade", of="reporting").columns().cells) == {1}
    card = page(folder / "out", "/privacy/shops").text
    assert "square roots" not in card
