"""Releases without a limit: said by the plan, entered in the ledger, and never forgotten by their population."""

import json
from typing import ClassVar

import pytest
from tests.cli.test_cli import sfumato
from tests.conftest import SMALL, small_rows

import sfumato as sf
from sfumato import mechanisms
from sfumato.confidential import Account, Microdata, Options, run
from sfumato.errors import PlanError, PromiseError, ReleaseError
from sfumato.mechanisms import Geometric
from sfumato.plan import Plan, plugins
from sfumato.privacy import Unbounded
from sfumato.release import Manifest, differences, verify

WHY = "cells are published as they are"


class AsIs(Geometric):
    """Noise that could claim an epsilon and does not: what a mechanism without a bound looks like to everybody else."""

    name: ClassVar[str] = "as-is"

    def loss(self, move):
        return Unbounded(WHY)


@pytest.fixture(autouse=True)
def known_mechanism(monkeypatch):
    """The mechanism is a plug-in here, as a plan that cannot be read back is refused."""
    found = plugins.found
    known = lambda folder, by="name": found(folder, by) | ({AsIs.name: AsIs(1)} if folder is mechanisms else {})  # noqa: E731
    monkeypatch.setattr(plugins, "found", known)


def unlimited(plan: sf.Plan, reason: str = "the law wants these tables") -> sf.Plan:
    measure = sf.Measure("jobs", sf.Count(), ("place",), AsIs(1))
    return sf.Plan("open", plan.schema, plan.hidden, Unbounded(reason), (measure,))


@pytest.fixture
def population(small_plan, tmp_path):
    """A ledger of epsilon 20, and a way to release a plan of its population."""
    Account.create(tmp_path / "ledger", "jobs", small_plan.hidden, sf.Approximate(20))

    def made(out, plan=small_plan, options=None):
        return run(plan, Microdata.open(small_rows(), plan.schema), tmp_path / "ledger", tmp_path / out, options)

    made.account, made.folder = Account(tmp_path / "ledger"), tmp_path
    return made


def test_a_plan_with_a_limit_stays_strict(small_plan):
    strict = sf.Plan("strict", small_plan.schema, small_plan.hidden, sf.Approximate(9), unlimited(small_plan).measures)
    with pytest.raises(PromiseError, match=f"no guarantee, unbounded: {WHY}.*unbounded = "):
        strict.price()


def test_a_plan_that_says_it_has_no_limit_is_priced_as_without_a_bound(small_plan):
    price = unlimited(small_plan).price()
    assert price.total == Unbounded(WHY)
    assert (price.total.power(0.05), price.total.right_guess()) == (1.0, 1.0)


def test_no_limit_is_no_way_around_one(small_plan):
    """Where every measure has a bound there is a limit, and it must be said."""
    bounded = sf.Plan("b", small_plan.schema, small_plan.hidden, Unbounded("no"), small_plan.measures)
    with pytest.raises(PromiseError, match="Every loss here has a bound, and \\[limit\\] has none"):
        bounded.price()


def test_the_word_is_read_and_written_and_needs_its_reason(tmp_path):
    limit = SMALL[SMALL.index("[limit]") : SMALL.index("[[measure]]")]
    text = SMALL.replace(limit, '[limit]\nunbounded = "as printed in 2019"\n\n')
    plan = Plan.parse(text, tmp_path / "plan.toml")
    assert plan.limit == Unbounded("as printed in 2019")
    assert Plan.parse(plan.to_toml(), tmp_path / "plan.toml") == plan
    with pytest.raises(PlanError, match="the reason for a release without a bound"):
        Plan.parse(text.replace("as printed in 2019", " "), tmp_path / "plan.toml")
    with pytest.raises(PlanError, match="did you mean 'unbounded'"):
        Plan.parse(text.replace("unbounded =", "unbound ="), tmp_path / "plan.toml")


def test_it_is_entered_in_the_ledger_and_every_later_manifest_says_so(population, small_plan):
    before = population("before")
    open_ = population("open", unlimited(small_plan))
    after = population("after")
    assert before.manifest.ledger.unbounded == 0
    assert before.manifest.ledger.not_counted == ""
    assert [one.manifest.ledger.spent for one in (before, open_, after)] == [{"epsilon": cost} for cost in "224"]
    assert [one.manifest.ledger.unbounded for one in (open_, after)] == [1, 1]
    assert "1 release of this population has no bound" in after.manifest.ledger.not_counted
    assert open_.manifest.ledger.not_counted == ""  # it is not one beside itself
    assert "counts the others only" in after.manifest.ledger.not_counted
    assert open_.manifest.promise.loss == {"unbounded": WHY}
    assert open_.manifest.promise.limit == {"unbounded": "the law wants these tables"}
    assert (open_.manifest.releasable, after.manifest.promise.loss) == (True, {"epsilon": "2"})
    assert [one.loss.kind for one in population.account.ledger.charges] == ["approximate", "unbounded", "approximate"]
    assert any("both together: unbounded" in said for said in differences(before, open_))


def test_a_release_of_which_nothing_came_is_in_no_later_manifest(population, small_plan):
    def stop(stage):
        if stage == "perturbed":
            raise OSError(28, "No space left on device")

    with pytest.raises(ReleaseError):
        population("open", unlimited(small_plan), Options(progress=stop))
    assert len(population.account.ledger.unbounded) == 1
    assert population("after").manifest.ledger.unbounded == 0


def test_a_manifest_without_such_releases_has_the_bytes_that_it_always_had(population):
    release = population("before")
    written = json.loads((population.folder / "before" / "manifest.json").read_text())
    assert not {"unbounded", "not_counted"} & set(written["ledger"])
    assert Manifest.from_bytes(release.manifest.to_bytes()) == release.manifest


def test_verify_table_and_ledger_say_it(population, small_plan):
    population("open", unlimited(small_plan))
    population("after")
    assert verify(population.folder / "open").caveats[0].startswith("Not formally private, unbounded: ")
    told = sfumato("verify", population.folder / "open").stdout
    assert f"Not formally private, unbounded: {WHY}." in told
    assert "counts the others only" not in told  # there are no others
    later = sfumato("verify", population.folder / "after").stdout
    assert "counts the others only" in later
    assert "Not formally private" not in later
    assert "NOT FORMALLY PRIVATE" in sfumato("table", population.folder / "open", "--rows", "place").stdout
    shown = sfumato("ledger", "show", population.folder / "ledger").stdout
    assert "Spent epsilon 2 of epsilon 20 for life." in shown
    assert "1 release of this population has no bound on its loss" in shown
    assert json.loads(sfumato("ledger", "show", population.folder / "ledger", "--json").stdout)["unbounded"] == 1
