"""The command line as an agency and a reader use it: real files, real refusals, and the program itself as a process."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.commands import Done, command
from tests.conftest import SMALL, small_rows

ROOT = Path(__file__).parents[2]


def sfumato(*words: object, good: bool = True) -> Done:
    done = command(*words)
    assert (done.returncode == 0) == good, done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def agency(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    pq.write_table(small_rows(), tmp_path / "jobs.parquet")
    words = ["--population", "jobs", "--plan", tmp_path / "small.toml", "--epsilon", "3"]
    sfumato("ledger", "open", tmp_path / "l", *words)
    return tmp_path


def run_words(folder: Path, out: str = "release") -> list[object]:
    plan, data = folder / "small.toml", folder / "jobs.parquet"
    return ["run", plan, "--data", data, "--ledger", folder / "l", "--out", folder / out]


def test_the_program_is_a_process_that_says_what_it_says_here(agency):
    """Results, refusals and usage, with their exit codes; all other tests ask in the process of the test."""
    plan, data = agency / "small.toml", agency / "jobs.parquet"
    asked = (["price", plan], ["check", plan, "--data", data], ["verify", agency / "none"], ["price", plan, "--x"])
    for words, code in zip(asked, (0, 0, 1, 2), strict=True):
        program = [sys.executable, "-m", "sfumato", *map(str, words)]
        done = subprocess.run(program, capture_output=True, text=True, check=False)
        said = done.stderr.replace("python -m sfumato", "sfumato")
        assert command(*words) == Done(code, done.stdout, said)


def test_price_says_loss_power_and_posterior_without_data(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    said = sfumato("price", tmp_path / "small.toml").stdout
    assert "epsilon 2" in said
    assert "0.3695" in said  # test power at epsilon 2, SCIENCE 1
    assert "0.8808" in said  # right guess at epsilon 2, SCIENCE 1
    assert "right guess from 1/2" in said
    assert "posterior from" not in said
    priced = json.loads(sfumato("price", tmp_path / "small.toml", "--json").stdout)
    assert priced["total"]["loss"] == {"epsilon": "2"}
    assert priced["total"]["posterior_above"] == {"90%": 0, "99%": 0}  # e² to 1 is 88% at most
    assert [measure["cells"] for measure in priced["measures"]] == [36, 36]


def test_a_plan_over_its_limit_is_refused_with_the_reason(tmp_path):
    (tmp_path / "dear.toml").write_text(SMALL.replace('epsilon = "2"', 'epsilon = "1.9"'))
    said = sfumato("price", tmp_path / "dear.toml", good=False).stderr
    assert "dear.toml" not in said or "limit" in said
    assert "over the plan's limit of epsilon 1.9" in said


def test_run_charges_the_ledger_and_writes_a_release_that_verifies_and_answers(agency):
    sfumato(*run_words(agency))
    shown = json.loads(sfumato("ledger", "show", agency / "l", "--json").stdout)
    assert (shown["spent"], shown["left"]) == ({"epsilon": "2"}, {"epsilon": "1"})  # of 3
    assert "Left to every job: epsilon 1." in sfumato("ledger", "show", agency / "l").stdout
    assert shown["charges"][0]["finished"]
    verdict = json.loads(sfumato("verify", agency / "release", "--json").stdout)
    assert (shown["charges"][0]["period"], shown["charges"][0]["id"]) == ("2026-Q1", verdict["id"])
    (line,) = (one for one in sfumato("ledger", "show", agency / "l").stdout.splitlines() if one.startswith("small "))
    assert line.split()[1] == "2026-Q1", "the plan's period, and not the year of the charge"
    assert line.split()[3:] == [verdict["id"][:16], "epsilon", "2"], "a loss may be a sentence, and stands last"
    assert verdict["intact"]
    assert verdict["releasable"]
    sfumato("ledger", "verify", agency / "l", "--release", agency / "release")
    text = sfumato("table", agency / "release", "--rows", "trade", "--cols", "place").stdout
    assert "Making" in text
    assert "±" in text
    asked = ["--rows", "trade,place", "--at", "trade=@1", "--format", "csv"]
    rows = list(csv.DictReader(io.StringIO(sfumato("table", agency / "release", *asked).stdout)))
    assert len(rows) == 12
    assert set(rows[0]) >= {"trade", "place", "estimate", "moe90", "se_noise", "se_sampling", "cv", "grade"}


def test_the_second_run_over_the_ledgers_limit_is_refused_and_leaves_nothing(agency):
    sfumato(*run_words(agency))
    refused = sfumato(*run_words(agency, "again"), good=False)
    assert "epsilon 1 is left" in refused.stderr
    assert not (agency / "again").exists()


def test_a_second_release_says_what_both_cost_and_what_their_difference_holds(agency):
    sfumato("ledger", "open", agency / "l2", "--population", "jobs", "--plan", agency / "small.toml", "--epsilon", "4")
    first, second = ([*run_words(agency, name)[:5], agency / "l2", "--out", agency / name] for name in ("a", "b"))
    sfumato(*first)
    released = json.loads(sfumato("verify", agency / "a", "--json").stdout)["id"]
    sfumato(*second, "--supersedes", released)
    said = sfumato("diff", agency / "a", agency / "b").stdout
    assert "both together: epsilon 4" in said
    assert "the second supersedes the first" in said
    assert "jobs: the whole changed by" in said
    assert "noise alone gives ±" in said


def test_an_account_of_employers_is_opened_by_a_plan_and_that_is_said(tmp_path):
    words = ["ledger", "open", tmp_path / "l", "--population", "employers", "--unit", "establishment", "--epsilon", "4"]
    refused = sfumato(*words, "--neighbours", "size-within", good=False).stderr
    assert "--neighbours size-within does not say what is hidden, and within which bounds; give --plan" in refused
    assert "other relations need a --plan" in " ".join(sfumato("ledger", "open", "--help").stdout.split())


@pytest.mark.parametrize("id_", ["", "the one before", "0" * 16, "A" * 64, "0" * 65])
def test_what_is_no_whole_id_is_superseded_by_nothing_and_costs_nothing(agency, id_):
    refused = sfumato(*run_words(agency), "--supersedes", id_, good=False)
    assert "is no id of a release: it has 64 digits" in refused.stderr
    assert "No charges yet." in sfumato("ledger", "show", agency / "l").stdout


def test_a_run_says_how_the_whole_id_is_told(agency):
    assert f"`sfumato verify {agency / 'release'}` prints its whole id" in sfumato(*run_words(agency)).stderr


def test_a_table_says_what_it_is_only_about_the_plans_own_universe_too(agency):
    text = SMALL.replace(
        'by = ["trade", "place", "age"]', 'by = ["trade", "place", "age"]\nwhere = { place = ["north"] }'
    )
    (agency / "part.toml").write_text(text)
    sfumato("run", agency / "part.toml", "--data", agency / "jobs.parquet", "--rehearsal", 1, "--out", agency / "part")
    asked = ("table", agency / "part", "--rows", "age", "--of", "jobs")
    assert "Only Place: north." in sfumato(*asked).stdout
    assert "Only Place: north; Trade: Food." in sfumato(*asked, "--where", "trade=11").stdout


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (("--where", "trade=1,21"), "Making, Shops"),
        (("--where", "trade=Making,Shops"), "Making, Shops"),
        (("--where", "trade=11", "--where", "trade=12", "--where", "trade=21"), "Food, Cloth, Shops"),
    ],
)
def test_a_filter_means_the_same_to_the_public_and_to_the_agency(agency, where, said):
    """Food and cloth are making: the same rows are shown, and the true numbers are those of the records in them."""
    data = ("--data", agency / "jobs.parquet")
    sfumato("run", agency / "small.toml", *data, "--rehearsal", 1, "--out", agency / "trial")
    asked = ("--rows", "trade", "--at", "trade=all", *where)
    public = json.loads(sfumato("table", agency / "trial", *asked, "--of", "jobs", "--format", "json").stdout)
    true = json.loads(sfumato("tabulate", agency / "small.toml", *data, *asked, "--json").stdout)
    assert [one["trade"] for one in public["cells"]] == ["1", "2", "11", "12", "21"]
    assert [one["trade"] for one in true["cells"]] == [one["trade"] for one in public["cells"]]
    assert public["where"] == true["where"]
    pairs = zip(public["cells"], true["cells"], strict=True)
    assert all(abs(one["estimate"] - other["estimate"]) < 100 for one, other in pairs)
    for verb, of, *more in (("table", agency / "trial", "--of", "jobs"), ("tabulate", agency / "small.toml", *data)):
        assert f"Only Trade: {said}." in sfumato(verb, of, *asked, *more).stdout
    nothing = ("--rows", "place", "--at", "place=north", "--where", "place=south")
    for words in (("table", agency / "trial"), ("tabulate", agency / "small.toml", *data)):
        assert "none of the levels shown is within the filter" in sfumato(*words, *nothing, good=False).stderr


def test_data_that_do_not_fit_are_refused_without_a_charge_and_checked_in_a_confidential_report(agency):
    bad = small_rows().to_pydict()
    bad["place"][7] = "MARKER-atlantis"
    import pyarrow as pa

    pq.write_table(pa.table(bad), agency / "jobs.parquet")
    refused = sfumato(*run_words(agency), good=False)
    assert "Column 'place'" in refused.stderr
    assert "MARKER" not in refused.stderr + refused.stdout
    assert "charged" not in refused.stderr
    assert "No charges yet." in sfumato("ledger", "show", agency / "l").stdout
    checked = sfumato("check", agency / "small.toml", "--data", agency / "jobs.parquet", good=False)
    assert "CONFIDENTIAL" in checked.stdout
    assert "MARKER-atlantis" in checked.stdout


def test_an_edited_ledger_is_found(agency):
    import sqlite3

    sfumato(*run_words(agency))
    with sqlite3.connect(agency / "l") as file:
        for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            file.execute(f"DROP TRIGGER {name}")
        file.execute("UPDATE entries SET body = replace(body, '\"2\"', '\"1\"')")
    sfumato("ledger", "verify", agency / "l", good=False)
    sfumato(*run_words(agency, "again"), good=False)


def test_ten_to_the_twelve_cells_are_refused_before_anything_is_opened(tmp_path):
    codes = json.dumps([str(code) for code in range(1000)])
    wide = "".join(f"[attributes.a{place}]\nlevels = {codes}\n" for place in range(4))
    by = 'by = ["trade", "place", "age"]'
    plan = SMALL.replace("[hidden]", wide + "[hidden]").replace(by, 'by = ["a0", "a1", "a2", "a3"]', 1)
    (tmp_path / "wide.toml").write_text(plan)
    nothing = ["--data", tmp_path / "none.parquet", "--ledger", tmp_path / "none", "--out", tmp_path / "r"]
    refused = sfumato("run", tmp_path / "wide.toml", *nothing, good=False)
    assert "1,000,000,000,000 cells" in refused.stderr
    assert "a0 (1,000)" in refused.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["table", "nowhere", "--rows", "a"], "not a release"),
        (["price", "nowhere.toml"], "no plan at"),
        (["synth", "emploiment", "--out", "x"], "did you mean 'employment'?"),
    ],
)
def test_a_wrong_name_says_what_would_work(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert said in sfumato(*words, good=False).stderr


def test_a_wrong_variable_or_level_names_the_nearest(agency):
    sfumato(*run_words(agency))
    assert "did you mean 'trade'?" in sfumato("table", agency / "release", "--rows", "trad", good=False).stderr
    wrong = sfumato("table", agency / "release", "--rows", "trade", "--where", "place=sauth", good=False)
    assert "did you mean 'south'?" in wrong.stderr


def test_help_is_there_for_every_command():
    for verb in (
        "demo",
        "price",
        "partition",
        "within",
        "budget",
        "check",
        "run",
        "tabulate",
        "audit",
        "synth",
        "verify",
        "diff",
        "withdraw",
        "table",
        "series",
        "report",
        "microdata",
        "serve",
    ):
        assert len(sfumato(verb, "--help").stdout) > 200


def test_every_command_is_listed_whole_under_who_needs_it():
    listed = sfumato("--help").stdout
    heads = [line.rstrip(":") for line in listed.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert heads == ["Options", "To try it", "Before there are data", "In the clean room", "With a release, by anybody"]
    assert "..." not in listed.partition("Options:")[2], "a sentence was cut off"
