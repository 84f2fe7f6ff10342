"""The gate: what is wrong with the data costs nothing, what is drawn is charged before, whatever kills it."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import small_rows

import sfumato as sf
from sfumato.confidential import Account, Microdata, Options, Tabulation, run
from sfumato.draws import SystemDraws
from sfumato.errors import DataError, PromiseError, ReleaseError

ROUNDS = Path(__file__).with_name("crash_rounds.py")


def rounds(folder: Path, kind: str, count: int) -> dict:
    command = [sys.executable, str(ROUNDS), str(folder), kind, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_killed_at_every_named_stage_no_release_is_uncharged_and_the_other_writer_finishes(tmp_path):
    from sfumato.confidential import STAGES

    outcome = rounds(tmp_path, "stages", len(STAGES))
    assert outcome["violations"] == []
    assert outcome["last_stage"]["published"] == len(STAGES) + 1, "every other writer, and the one killed at the end"


def test_a_measure_by_nothing_is_one_total_that_is_released_and_answered(tmp_path, small_plan):
    whole = sf.Measure("all", sf.Count(), (), sf.Geometric(2))
    plan = sf.Plan("one", small_plan.schema, small_plan.hidden, sf.Approximate(2), (whole,))
    Account.create(tmp_path / "l", "jobs", plan.hidden, plan.limit)
    run(plan, Microdata.open(small_rows(), plan.schema), tmp_path / "l", tmp_path / "release")
    total = sf.open(tmp_path / "release").total()
    assert abs(total.value - 4000) < 15  # noise beyond 15 at epsilon 2 has probability 1e-13


def test_counts_are_of_the_rows_of_the_plan_and_amounts_of_their_own_unit(jobs):
    about = {name: one.subject for name, one in jobs("release").products.items()}
    assert {name: one.unit for name, one in about.items()} == {"jobs": "jobs", "pay": "euros"}


def test_a_gate_that_charges_after_publishing_is_caught(tmp_path):
    assert "uncharged release" in rounds(tmp_path, "late", 1)["violations"]


@pytest.fixture
def jobs(small_plan, tmp_path):
    """A ledger of epsilon 20 for the small plan, which costs 2, and a way to run it."""
    Account.create(tmp_path / "ledger", "jobs", small_plan.hidden, sf.Approximate(20))

    def made(out, rows=None, options=None, plan=small_plan):
        data = Microdata.open(small_rows() if rows is None else rows, plan.schema)
        return run(plan, data, tmp_path / "ledger", tmp_path / out, options)

    made.account = Account(tmp_path / "ledger")
    made.cost = small_plan.price().total
    return made


def spoilt(column, value, place=7):
    columns = small_rows().to_pydict()
    columns[column][place] = value
    return pa.table(columns)


def torn(tmp_path):
    pq.write_table(small_rows(), tmp_path / "torn.parquet")
    content = (tmp_path / "torn.parquet").read_bytes()
    (tmp_path / "torn.parquet").write_bytes(content[:2000] + bytes(3000) + content[5000:])
    return tmp_path / "torn.parquet"


FAULTS = {
    "a place that is no level": lambda folder: spoilt("place", "atlantis"),
    "no place at all": lambda folder: spoilt("place", None),
    "pay that is missing": lambda folder: spoilt("pay", None),
    "an age below every band": lambda folder: spoilt("age", 3),
    "a file that breaks off": torn,
    "a column that is not there": lambda folder: small_rows().drop_columns(["pay"]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_is_wrong_with_the_data_costs_nothing_and_shows_in_no_public_number(jobs, fault, tmp_path):
    before = jobs.account.entries
    with pytest.raises(DataError) as refused:
        jobs("refused", FAULTS[fault](tmp_path))
    assert "charged" not in str(refused.value)
    assert jobs.account.entries == before
    assert not list(tmp_path.glob("*refused*"))
    assert jobs("good").manifest.ledger.spent == {"epsilon": "2"}


def test_a_gate_that_would_find_faults_after_the_charge_is_caught(jobs, monkeypatch):
    """The control of the test above: where nothing looks at the data before the charge, the refusal costs."""
    monkeypatch.setattr(Tabulation, "refuse_faults", lambda self: None)
    before = jobs.account.entries
    with pytest.raises(DataError, match="stays charged"):
        jobs("refused", spoilt("place", "atlantis"))
    assert jobs.account.entries != before


class Counted(SystemDraws):
    """A stream that knows how many words were taken of it."""

    taken = 0

    def words(self, count):
        Counted.taken += count
        return super().words(count)


@dataclass(frozen=True)
class Watched(Options):
    def draws(self):
        return Counted()


def test_before_the_charge_nothing_is_drawn_but_the_salt_that_chooses_rows(jobs):
    Counted.taken, taken = 0, {}
    jobs("release", options=Watched(progress=lambda stage: taken.setdefault(stage, Counted.taken)))
    assert list(taken)[:3] == ["priced", "read", "reserved"]
    assert (taken["priced"], taken["reserved"]) == (0, 4)
    assert taken["perturbed"] > 4


def failing(at, error):
    def progress(stage):
        if stage == at:
            raise error

    return Options(progress=progress)


@pytest.mark.parametrize("stage", ["perturbed", "calibrated", "written"])
@pytest.mark.parametrize("error", [ReleaseError("No."), OSError(28, "No space left on device")])
def test_what_fails_after_the_charge_stays_charged_says_so_and_shows_in_no_public_number(jobs, stage, error):
    with pytest.raises(ReleaseError, match="stays charged"):
        jobs("failed", options=failing(stage, error))
    assert [one.finished for one in jobs.account.ledger.charges] == [False]
    assert jobs.account.ledger.spent(2026) == jobs.cost
    assert jobs("good").manifest.ledger.spent == {"epsilon": "2"}
    assert jobs("next").manifest.ledger.spent == {"epsilon": "4"}
    assert jobs.account.ledger.spent(2026) == sf.Approximate(6)


def test_a_run_that_is_stopped_by_hand_says_that_it_stays_charged(jobs):
    with pytest.raises(KeyboardInterrupt) as stopped:
        jobs("stopped", options=failing("perturbed", KeyboardInterrupt()))
    assert "stays charged" in stopped.value.__notes__[0]


def test_a_plan_that_the_ledger_cannot_pay_is_refused_before_a_record_is_read(jobs, small_plan, tmp_path):
    Account.create(tmp_path / "poor", "jobs", small_plan.hidden, sf.Approximate(1))
    reached = []
    with pytest.raises(PromiseError, match="At most epsilon 1 fits"):
        run(
            small_plan,
            Microdata.open(torn(tmp_path), small_plan.schema),
            tmp_path / "poor",
            tmp_path / "out",
            Options(progress=reached.append),
        )
    assert reached == []


def test_a_release_counts_every_release_that_was_published_before_it(jobs):
    """Another run is charged and published between the charge of one and its commit; who is last counts both."""
    made = []

    def overtaken(stage):
        if stage == "written" and not made:
            made.append(jobs("other"))

    last = jobs("last", options=Options(progress=overtaken))
    assert made[0].manifest.ledger.spent == {"epsilon": "2"}
    assert last.manifest.ledger.spent == {"epsilon": "4"}
    assert [one.finished for one in jobs.account.ledger.charges] == [True, True]
    assert jobs.account.verify([made[0].manifest.ledger.head, last.manifest.ledger.head]) == []


@pytest.mark.parametrize(
    ("out", "said"), [("there", "is there already"), ("nowhere/out", "nowhere is not there; make")]
)
def test_a_place_that_cannot_be_written_is_refused_before_the_charge(jobs, tmp_path, out, said):
    (tmp_path / "there").mkdir()
    before = jobs.account.entries
    with pytest.raises(ReleaseError, match=said) as refused:
        jobs(out)
    assert "charged" not in str(refused.value)
    assert jobs.account.entries == before
    assert jobs("free").manifest.ledger.spent == {"epsilon": "2"}


def test_a_release_never_takes_the_place_of_what_came_there_while_it_was_made(jobs, tmp_path):
    def came(stage):
        if stage == "committed":
            (tmp_path / "out").mkdir()

    with pytest.raises(ReleaseError, match=r"is there already.* The release is whole and stands in .*\.partial"):
        jobs("out", options=Options(progress=came))
    assert list((tmp_path / "out").iterdir()) == []
    (whole,) = tmp_path.glob(".out.*.partial")
    assert sf.open(whole).release.manifest.ledger.spent == {"epsilon": "2"}


def test_a_release_is_drawn_from_the_systems_own_stream_and_a_rehearsal_from_its_seed(jobs):
    assert type(Options().draws()) is SystemDraws
    cells = [jobs(name).products["jobs"].values.tolist() for name in ("one", "other")]
    assert cells[0] != cells[1]
    seeded = [jobs(name, options=Options(rehearsal=seed)) for name, seed in (("a", 1), ("b", 1), ("c", 2))]
    same, again, another = (one.products["jobs"].values.tolist() for one in seeded)
    assert same == again != another


def chain(error):
    """An error and all that hangs on it, shown or not: what logs and debuggers walk."""
    found = []
    while error is not None:
        found.append(str(error))
        error = error.__cause__ or error.__context__
    return " ".join(found)


def refusing(*_, **__):
    """A refusal as readers make it, with their library's own error behind it."""
    try:
        int("the sum 987654321 is out of range")
    except ValueError:
        raise DataError("The data could not be summed.") from None


@pytest.mark.parametrize(
    "place",
    ["tabulate.opened", "gate.Tabulation", "gate.Tabulation.refuse_faults", "gate.Tabulation.cells"],
)
def test_no_exact_total_hangs_on_a_refusal(jobs, monkeypatch, place):
    with pytest.raises(DataError) as control:
        refusing()
    assert "987654321" in chain(control.value)
    monkeypatch.setattr(f"sfumato.confidential.{place}", refusing)
    with pytest.raises(DataError, match="could not be summed") as refused:
        jobs("refused")
    assert "987654321" not in chain(refused.value)


def test_no_value_hangs_on_a_refusal_of_what_reads_beside_the_gate(small_plan, monkeypatch):
    from sfumato.confidential import clips, letter_case

    data = Microdata.open(small_rows(), small_plan.schema)
    asked = {
        "tabulate.opened": lambda: Tabulation(small_plan, data, SystemDraws()),
        "clips.opened": lambda: clips.clip_fits(small_plan, data),
        "letter_case._of_data": lambda: letter_case.cased_names(small_plan, data),
    }
    for place, ask in asked.items():
        monkeypatch.setattr(f"sfumato.confidential.{place}", refusing)
        with pytest.raises(DataError, match="could not be summed") as refused:
            ask()
        assert "987654321" not in chain(refused.value)
