"""What would fail after the charge is found before it: full disks, plans that do not read back, noise next to none."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.conftest import SMALL, small_rows

import sfumato as sf
from sfumato.cli.main import main
from sfumato.confidential import Account, Microdata, Options, disk_space, run
from sfumato.confidential.opening import open_ledger
from sfumato.errors import LedgerError, PlanError, ReleaseError
from sfumato.mechanisms import Geometric
from sfumato.plan import Plan
from sfumato.plan.product_size import product_bytes
from sfumato.release import products
from sfumato.synth import write


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("SFUMATO_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def ledger(small_plan, tmp_path):
    (tmp_path / "books").mkdir()
    account, _ = open_ledger(tmp_path / "books" / "ledger", "jobs", small_plan.hidden, sf.Approximate(10_000, "1e-6"))
    return account.path


@pytest.fixture
def publish(small_plan, tmp_path, ledger):
    def publish(plan=small_plan, options=None):
        return run(plan, Microdata.open(small_rows(100), plan.schema), ledger, tmp_path / "out", options)

    return publish


@pytest.fixture
def sfumato(capsys, monkeypatch):
    def sfumato(*arguments):
        monkeypatch.setattr(sys, "argv", ["sfumato", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        printed = capsys.readouterr()
        return stop.value.code or 0, printed.out + printed.err

    return sfumato


def is_uncharged(ledger):
    return len(Account(ledger).entries) == 1


def test_a_full_disk_is_found_before_the_charge(publish, ledger, tmp_path, monkeypatch):
    monkeypatch.setattr(disk_space, "free_bytes", lambda _: 100_000)
    with pytest.raises(ReleaseError, match=r"the release in .* and the ledger in .* 0\.1 MB are free .* Nothing is"):
        publish()
    assert is_uncharged(ledger)
    assert not list(tmp_path.glob(".*.partial"))


def test_a_disk_that_fills_while_the_data_are_read_costs_nothing(publish, ledger, monkeypatch):
    free = {"bytes": 10**12}
    monkeypatch.setattr(disk_space, "free_bytes", lambda _: free["bytes"])

    def fill_disk(stage):
        if stage == "read":
            free["bytes"] = 0

    with pytest.raises(ReleaseError, match="Nothing is charged"):
        publish(options=Options(progress=fill_disk))
    assert is_uncharged(ledger)


@pytest.mark.parametrize(("full", "what"), [("books", "the ledger"), ("state", "what is remembered of the ledger")])
def test_the_disks_of_the_ledger_and_of_its_memory_are_asked_too(publish, ledger, tmp_path, monkeypatch, full, what):
    """Each folder is on a disk of its own here, and one is full."""
    monkeypatch.setattr(disk_space, "_by_disk", lambda needs: {need.folder: [need] for need in needs})
    monkeypatch.setattr(disk_space, "free_bytes", lambda folder: 0 if folder == tmp_path / full else 10**12)
    with pytest.raises(ReleaseError, match=f"are written for {what} in"):
        publish()
    assert is_uncharged(ledger)


@pytest.mark.parametrize(
    ("name", "rows"), [("qcew", 300), ("pseo", 1000), ("atlas", 1000), ("umetrics", 500), ("lodes", 1000)]
)
def test_a_release_takes_no_more_than_is_asked_for(name, rows, tmp_path):
    write(name, tmp_path, rows, 1, None, None)
    for path in sorted(tmp_path.glob("*.toml")):
        plan = Plan.read(path)
        if plan.as_published:
            continue
        files = {file.stem: file for file in sorted(tmp_path.glob("*.parquet")) if file.stem != "frame"}
        data = {name: files[name] for name in plan.schema.tables} if plan.schema.joined else next(iter(files.values()))
        out = tmp_path / f"{path.stem}-release"
        release = run(plan, Microdata.open(data, plan.schema), None, out, Options(1))
        size = sum(file.stat().st_size for file in (out / "products").iterdir())
        assert size <= product_bytes(plan), path.stem
        assert set(release.products) == {file.stem for file in (out / "products").iterdir()}


@dataclass(frozen=True, init=False)
class OwnGeometric(Geometric):
    """A mechanism of the user's own, under the name of another."""


def test_a_plan_with_a_mechanism_that_no_folder_holds_is_refused_before_the_charge(publish, ledger, small_plan):
    jobs, pay = small_plan.measures
    plan = replace(small_plan, measures=(replace(jobs, with_=OwnGeometric(1)), pay))
    with pytest.raises(PlanError, match=r"plan\.toml would hold other measures than the plan.*folders of Sfumato"):
        publish(plan)
    assert is_uncharged(ledger)


def test_a_trial_with_such_a_mechanism_says_that_a_run_is_refused(small_plan, tmp_path):
    jobs, pay = small_plan.measures
    plan, notes = replace(small_plan, measures=(replace(jobs, with_=OwnGeometric(1)), pay)), []
    data = Microdata.open(small_rows(100), plan.schema)
    run(plan, data, None, tmp_path / "trial", Options(1, note=notes.append))
    assert any("A run with a ledger is refused" in words for words in notes)


def test_a_title_that_is_no_text_is_refused_before_the_charge(publish, ledger, small_plan):
    with pytest.raises(PlanError, match=r"could not be read back: .* nothing is charged"):
        publish(replace(small_plan, title="Jobs \ud800"))
    assert is_uncharged(ledger)


def test_the_draft_leaves_nothing_behind(publish, tmp_path):
    publish()
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("mechanism", "budget"),
    [
        ("geometric", "150"),
        ("geometric", "500"),
        ("geometric", "10000"),
        ("discrete-gaussian", "500"),
        ("rounded-gaussian", "50"),
    ],
)
def test_price_refuses_noise_that_is_next_to_none(mechanism, budget):
    """At 150 a release was published that nobody could open; at 500 a run failed after the charge."""
    with pytest.raises(PlanError, match=r"standard deviation below 1e-25 steps.*give less budget"):
        plan_with(mechanism, budget).price()


def test_price_refuses_families_of_which_the_noise_is_next_to_none():
    family = SMALL[: SMALL.index("[[measure]]")].replace('[[impossible]]\ntrade = ["22"]\nage = ["16-24"]\n', "")
    family = family.replace('epsilon = "2"', 'mu = "1000"') + (
        '[[measure]]\nname = "jobs"\nof = "count"\nby = { up_to = 2, of = ["trade", "place"] }\n'
        'with = { mechanism = "even-gaussian", mu = "100" }\n'
    )
    with pytest.raises(PlanError, match=r"standard deviation below 1e-25 steps"):
        Plan.parse(family, Path("plan.toml")).price()


@pytest.mark.parametrize(("mechanism", "budget"), [("geometric", "100"), ("rounded-gaussian", "20")])
def test_noise_that_price_admits_makes_a_release_that_opens(mechanism, budget, publish):
    assert publish(plan_with(mechanism, budget)).products.keys() == {"jobs", "pay"}


def plan_with(mechanism, budget):
    paid = {"geometric": "epsilon", "discrete-gaussian": "rho", "rounded-gaussian": "mu"}[mechanism]
    text = SMALL.replace('mechanism = "geometric", epsilon = "1"', f'mechanism = "{mechanism}", {paid} = "{budget}"')
    limit = 'epsilon = "100000"' if paid == "epsilon" else f'{paid} = "100000"'
    return Plan.parse(text.replace('epsilon = "2"', limit), Path("plan.toml"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import no_such_module\n", r"cannot be loaded: ModuleNotFoundError"),
        ("EXAMPLE = 1/0\n", r"cannot be loaded: ZeroDivisionError"),
        (
            "class Odd:\n    kind = 'odd'\nEXAMPLE = Odd()\n",
            r"The plug-in 'odd' of sfumato.release.products is no Product",
        ),
    ],
)
def test_a_broken_plug_in_is_found_before_the_charge(text, words, publish, ledger, tmp_path, monkeypatch):
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "odd_product.py").write_text(text)
    monkeypatch.setattr(products, "__path__", [*products.__path__, str(tmp_path / "plugins")])
    monkeypatch.delitem(sys.modules, "sfumato.release.products.odd_product", raising=False)
    with pytest.raises(PlanError, match=words):
        publish()
    assert is_uncharged(ledger)
    sys.modules.pop("sfumato.release.products.odd_product", None)


def test_a_ledger_with_a_memory_is_not_charged_where_nothing_can_be_remembered(publish, ledger, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SFUMATO_STATE", str(tmp_path / "file"))
    with pytest.raises(LedgerError, match=r"cannot be remembered in .*Nothing is charged; .*\$SFUMATO_STATE"):
        publish()
    assert is_uncharged(ledger)


def test_a_ledger_is_opened_without_a_memory_on_demand_alone(tmp_path, sfumato, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SFUMATO_STATE", str(tmp_path / "file"))
    arguments = ["ledger", "open", tmp_path / "new", "--population", "jobs", "--epsilon", "9"]
    arguments += ["--neighbours", "add-remove", "--unit", "job"]
    code, printed = sfumato(*arguments)
    assert (code != 0, "cannot be remembered" in printed, (tmp_path / "new").exists()) == (True, True, False)
    code, _ = sfumato(*arguments, "--no-memory")
    assert (code, Account(tmp_path / "new").memory) == (0, False)


@pytest.mark.parametrize(
    ("population", "words"),
    [("Private  Establishments ", "differs in spaces or case alone"), ("private establishments", "of this population")],
)
@pytest.mark.parametrize("remembered", [True, False])
def test_ledger_open_warns_of_a_population_that_reads_alike(population, words, remembered, tmp_path, sfumato, state):
    """It knows the others by memory, or by the folder of the new ledger."""
    arguments = ["--epsilon", "9", "--neighbours", "add-remove", "--unit", "job"]
    (tmp_path / "other").mkdir()
    first = tmp_path / "other" / "first" if remembered else tmp_path / "first"
    code, printed = sfumato("ledger", "open", first, "--population", "private establishments", *arguments)
    assert (code, "grant its limit twice" in printed) == (0, False)
    if not remembered:
        for path in (state / "ledgers").iterdir():
            path.unlink()
    code, printed = sfumato("ledger", "open", tmp_path / "second", "--population", population, *arguments)
    assert (code, words in printed, "grant its limit twice" in printed) == (0, True, True)
    _, printed = sfumato("ledger", "open", tmp_path / "third", "--population", "public establishments", *arguments)
    assert "grant its limit twice" not in printed
