"""Every verb of the command line over a public frame: what an agency and a reader see of protected establishments."""

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from sfumato.cli.main import app
from sfumato.errors import SfumatoError

ROWS, Z90 = 400, 1.6448536269514722
PLAN, DATA = "qcew-2026q1.toml", "qcew-2026q1.parquet"


@dataclass(frozen=True)
class Said:
    stdout: str
    stderr: str


def sfumato(*words: object, good: bool = True) -> Said:
    """A command in this process, as starting one takes longer than most of them; a refusal is its sentence."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    refused = done.exception if isinstance(done.exception, SfumatoError) else ""
    assert bool(refused) != good, f"{done.output} {done.exception!r}"
    return Said(done.stdout, str(refused))


@pytest.fixture(scope="module")
def agency(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("qcew")
    sfumato("synth", "qcew", "--out", folder, "--rows", ROWS)
    return folder


@pytest.fixture(scope="module")
def release(agency) -> Path:
    ledger, plan = agency / "l", agency / PLAN
    sfumato("ledger", "open", ledger, "--population", "establishments", "--plan", plan, "--mu", "4.62", "--per-year")
    sfumato("run", plan, "--data", agency / DATA, "--ledger", ledger, "--out", agency / "release")
    return agency / "release"


@pytest.fixture(scope="module")
def priced(agency) -> str:
    return sfumato("price", agency / PLAN).stdout


def margin_at(said: str, measure: str, size: str) -> float:
    line = next(one for one in said.splitlines() if measure in one and "±" in one)
    return float(re.search(rf"± ([\d,.]+) at {size}\b", line)[1].replace(",", ""))


def root_margin(size: float, spread: float) -> float:
    """From a published x up to (r + z s)², where r² = x + s²: 2 z s √(x + s²) + (z² + 1) s²."""
    return 2 * Z90 * math.sqrt(spread * (size + spread)) + (Z90**2 + 1) * spread


def test_price_tells_the_error_of_rows_by_size(priced):
    """SCIENCE 3: noise on the root with sd s = beta / mu."""
    for size, value in (("10", 10), ("10,000", 10_000)):
        by_hand = root_margin(value, (0.5 / 0.7) ** 2)
        assert margin_at(priced, "jobs_1_rows", size) == pytest.approx(by_hand, rel=0.01)


def test_price_tells_the_error_of_clipped_totals_by_their_largest_row(priced):
    """The topcode is 2.326 sd of the rows above the largest root; a total moves by 2 beta √T − beta²."""
    root = math.sqrt(1_000) + 2.3263 * 0.5 / 0.7
    by_hand = Z90 * (2 * 0.5 * root - 0.25) / 0.6
    assert margin_at(priced, "jobs_1_county", "1,000") == pytest.approx(by_hand, rel=0.04)


def test_hiding_whole_firms_costs_the_same_mu_and_noise_wider_by_the_root_of_their_number(agency, priced):
    plan = (agency / PLAN).read_text("utf-8")
    firms = pq.read_table(agency / "frame.parquet").column("firm_id").value_counts()
    most = max(one["counts"].as_py() for one in firms)
    written = plan.replace("beta = {", f'firm = "firm_id"\nat_most = {most}\nbeta = {{')
    (agency / "firm.toml").write_text(written, encoding="utf-8")
    said = sfumato("price", agency / "firm.toml").stdout
    assert f"What one firm reports in all its establishments, at most {most}" in said
    assert "mu 2.3066" in said  # 2.30651, rounded up
    spread = most * (0.5 / 0.7) ** 2
    assert margin_at(said, "jobs_1_rows", "10,000") == pytest.approx(root_margin(10_000, spread), rel=0.01)
    alone = margin_at(priced, "jobs_1_rows", "10,000")
    assert most**0.5 * alone < margin_at(said, "jobs_1_rows", "10,000") < 1.1 * most**0.5 * alone
    (agency / "firm.toml").write_text(written.replace(f"at_most = {most}", f"at_most = {most - 1}"), encoding="utf-8")
    refused = sfumato("price", agency / "firm.toml", good=False).stderr
    assert f"raise at_most to {most}" in refused


def test_check_says_which_rule_is_broken_and_lists_the_value_in_its_confidential_report(agency):
    assert "The data fit the plan." in sfumato("check", agency / PLAN, "--data", agency / DATA).stdout
    table = pq.read_table(agency / DATA)
    wrong = pa.array([-77_777, *table.column("m2emp").to_pylist()[1:]])
    pq.write_table(table.set_column(table.column_names.index("m2emp"), "m2emp", wrong), agency / "wrong.parquet")
    done = sfumato("check", agency / PLAN, "--data", agency / "wrong.parquet", good=False)
    assert "m2emp" in done.stdout
    assert "below 0" in done.stdout
    assert "'E00000001, -77777': 1 row" in done.stdout, "the report is for the operator's eyes, and lists what to clean"
    assert "77777" not in done.stderr


def test_the_release_verifies_and_its_promise_says_what_is_hidden_and_what_not(release):
    assert "Every file is as the manifest says." in sfumato("verify", release).stdout
    promise = json.loads((release / "manifest.json").read_text("utf-8"))["promise"]
    assert "employment in the first month" in promise["words"]
    assert "m1emp" not in promise["words"]
    assert "Which establishments there are" in promise["not_hidden"]


def reports(agency: Path) -> dict[tuple[str, str], int]:
    """The jobs of the first month by sector and ownership, added up by hand."""
    frame = pq.read_table(agency / "frame.parquet").to_pylist()
    jobs = {one["establishment_id"]: one["m1emp"] for one in pq.read_table(agency / DATA).to_pylist()}
    found: dict[tuple[str, str], int] = {}
    for one in frame:
        key = one["naics"][:2], one["ownership"]
        found[key] = found.get(key, 0) + jobs.get(one["establishment_id"], 0)
    return found


def test_tabulate_is_the_sum_of_the_reports_over_the_frame(agency):
    words = ["tabulate", agency / PLAN, "--data", agency / DATA, "--rows", "ownership", "--total", "m1emp", "--json"]
    said = json.loads(sfumato(*words).stdout)
    assert said["confidential"]
    assert "no sampling error" in said["method"]
    by_hand = reports(agency)
    for cell in said["cells"]:
        mine = sum(jobs for (_, owner), jobs in by_hand.items() if owner == cell["ownership"])
        assert (cell["estimate"], cell["se"]) == (mine, 0)
    assert sum(cell["records"] for cell in said["cells"]) == ROWS
    unknown = sfumato("tabulate", agency / PLAN, "--data", agency / DATA, "--total", "m1em", good=False).stderr
    assert "did you mean 'm1emp'?" in unknown


def test_a_combination_that_no_establishment_has_is_a_dash_and_no_zero(agency, release):
    said = sfumato("table", release, "--rows", "naics", "--cols", "ownership", "--at", "naics=@0").stdout
    assert "0 ± 0" not in said
    there = {key for key in reports(agency) if key[0] == "22"}
    line = next(one for one in said.splitlines() if one.startswith("Utilities"))
    assert line.count("–") == 4 - len(there)


def test_assess_lays_a_release_over_a_frame_beside_the_reports(agency, release):
    words = ["assess", agency / PLAN, "--data", agency / DATA, "--release", release, "--out", agency / "report.html"]
    said = sfumato(*words, "--table", "county", "--table", "naics@0").stdout
    assert "Employment in the first month" in said
    assert "power of the best test at 5%" in said
    assert "CONFIDENTIAL" in (agency / "report.html").read_text("utf-8")


def test_diff_names_what_changed_in_the_order_of_the_plan(agency, release):
    other = agency / "other"
    sfumato("run", agency / PLAN, "--data", agency / DATA, "--rehearsal", 1, "--out", other)
    lines = sfumato("diff", release, other).stdout.splitlines()
    assert not [one for one in lines if one.startswith("promise")]
    changed = [one.split()[1].rstrip(":") for one in lines if one.startswith("product")]
    plan = (agency / PLAN).read_text("utf-8")
    measured = re.findall(r'\[\[measure\]\]\nname = "(\w+)"', plan)
    assert changed == measured + re.findall(r'\[\[then\]\]\nstep = .*\nname = "(\w+)"', plan)
    assert [one for one in lines if one.startswith("wages: the whole changed by")]
    sfumato("withdraw", other, "--why", "A county was counted twice")
    assert "WITHDRAWN: A county was counted twice" in sfumato("verify", other).stdout
