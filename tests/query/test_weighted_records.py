"""Records with calibration weights: any weighted total is the release's, and so are the errors that the file tells."""

import math
import re
import shutil
import subprocess
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pyreadstat
import pytest
from scipy.stats import t
from tests.calibrate.test_nonnegative import planned
from tests.cli.test_cli import sfumato
from tests.conftest import small_rows

import sfumato as sf
from sfumato.confidential import Microdata, Options, run
from sfumato.errors import QueryError
from sfumato.foreign_text import language_of
from sfumato.query.rows import write_rows
from sfumato.query.stata import StataFile, StataVariable
from sfumato.query.weighted_records import records_of
from sfumato.schema import Box

STEP = '[[then]]\nstep = "calibration-weights"\nname = "people"\ntable = "jobs"\n'
MARGINS = f'{STEP}margins = [["place"], ["trade@0", "age"]]\n'
RUNS = 400
QUESTIONS = (
    {},
    {"place": "north"},
    {"trade": "1"},
    {"trade": "11", "age": "65+"},
    {"trade": "22", "place": "east", "age": "25-64"},
)


def released(folder, steps: str, rows: int = 90):
    """So few rows that cells of the noisy table are below 0."""
    plan = planned(steps)
    run(plan, Microdata.open(small_rows(rows), plan.schema), None, folder, Options(rehearsal=2))
    return sf.open(folder)


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return released(tmp_path_factory.mktemp("records") / "release", STEP)


@pytest.fixture(scope="module")
def rows(release, tmp_path_factory):
    path = tmp_path_factory.mktemp("file") / "m.parquet"
    write_rows(release, path, RUNS)
    return pq.read_table(path)


@pytest.fixture(scope="module")
def aggregates(tmp_path_factory):
    return released(tmp_path_factory.mktemp("aggregates") / "release", MARGINS, 120)


def weighted(table, where, name="weight", power=1):
    """Σ w z by a plain loop over the rows, in fractions: shares no arithmetic with what wrote the file."""
    columns = {one: table[one].to_pylist() for one in ("trade", "place", "age", name)}
    total = Fraction(0)
    for at in range(table.num_rows):
        inside = all(columns[one][at].startswith(code) for one, code in where.items())
        total += Fraction(columns[name][at]) ** power if inside else 0
    return total


@pytest.mark.parametrize("where", QUESTIONS)
def test_weighted_totals_are_those_of_the_signed_table_to_the_last_digit(release, rows, where):
    signed = release.release.products["jobs"]
    box = signed.domain.box(where)
    assert np.min(signed.values) < 0
    assert weighted(rows, where) == signed.total(box)
    assert release.total(where).value == signed.total(box)


def test_without_the_records_below_0_totals_would_be_others(release, rows):
    """The negative arm: what the calibration is for."""
    kept = rows.filter(pa.compute.greater(rows["weight"], 0))
    assert weighted(kept, {}) > release.total().value


@pytest.mark.parametrize("where", QUESTIONS)
def test_variances_of_totals_are_sums_of_the_column(release, rows, where):
    assert float(weighted(rows, where, "noise_variance")) == pytest.approx(release.total(where).noise_variance)


@pytest.mark.parametrize("where", QUESTIONS)
def test_replicates_tell_the_same_error(release, rows, where):
    """The variance of 400 draws is within 6.1 · √(2/400) = 43% of the true one but once in 1e9."""
    kept = np.ones(rows.num_rows, dtype=bool)
    for name, code in where.items():
        kept &= np.char.startswith(rows[name].to_numpy(zero_copy_only=False).astype(str), code)
    total = rows["weight"].to_numpy()[kept].sum()
    moved = [rows[f"rw{place + 1}"].to_numpy()[kept].sum() - total for place in range(RUNS)]
    stated = release.total(where).noise_variance
    assert np.mean(np.square(moved)) == pytest.approx(stated, rel=6.1 * math.sqrt(2 / RUNS))


def test_the_error_of_a_share_is_the_engines(release, rows):
    """Taylor's, by the formula of the page beside the file."""
    w, v = rows["weight"].to_numpy(), rows["noise_variance"].to_numpy()
    z = (rows["place"].to_numpy(zero_copy_only=False) == "north").astype(float)
    share = (w * z).sum() / w.sum()
    u = (z - share) / w.sum()
    stated = release.share({"place": "north"})
    assert share == pytest.approx(stated.value)
    assert math.sqrt((v * u**2).sum()) == pytest.approx(stated.se)


@pytest.mark.parametrize("where", [{}, {"place": "north"}, {"trade": "2", "age": "25-64"}])
def test_weights_to_aggregates_are_not_below_0_and_meet_these(aggregates, tmp_path, where):
    path = tmp_path / "m.parquet"
    write_rows(aggregates, path, 0)
    table = pq.read_table(path)
    signed = aggregates.release.products["jobs"]
    total = signed.total(signed.domain.box(where))
    assert min(table["weight"].to_pylist()) >= 0
    assert np.min(signed.values) < 0
    assert float(weighted(table, where)) == pytest.approx(total, rel=1e-9)
    assert float(weighted(table, where, "noise_variance")) == pytest.approx(aggregates.total(where).noise_variance)


def test_below_the_aggregates_totals_are_moved_and_the_file_says_by_how_much(aggregates, tmp_path):
    path = tmp_path / "m.parquet"
    write_rows(aggregates, path, 0)
    table, where = pq.read_table(path), {"place": "north", "trade": "11"}
    signed = aggregates.release.products["jobs"]
    moved = float(weighted(table, where, "moved"))
    assert abs(moved) > 1e-3
    assert float(weighted(table, where)) - moved == pytest.approx(signed.total(signed.domain.box(where)), abs=1e-6)
    variance = float(weighted(table, where, "noise_variance")) + moved**2
    assert variance == pytest.approx(aggregates.total(where).noise_variance)


def test_margins_of_few_cells_are_stated_of_the_total_that_has_them(aggregates, release, tmp_path):
    """Of moved weights that is the unbiased total, as what was moved is in no law of noise."""
    write_rows(aggregates, tmp_path / "m.csv", 20)
    page = " ".join((tmp_path / "m.csv.README.txt").read_text().split())
    stated = re.search(r"An interval that does is of the total of (.*?): .*?, these margins of that total", page)
    assert stated[1] == "weight - moved"
    assert "hold their level where ten cells" not in page
    write_rows(release, tmp_path / "n.csv", 20)
    page = " ".join((tmp_path / "n.csv.README.txt").read_text().split())
    assert "Intervals at 95% are 1.96 times that to either side; where few cells are summed, these margins hold" in page
    assert "moved" not in page
    assert "are answered by" not in page


def test_a_release_without_the_step_gives_its_signed_table(tmp_path):
    plain = released(tmp_path / "release", "")
    write_rows(plain, tmp_path / "m.parquet", 0)
    assert weighted(pq.read_table(tmp_path / "m.parquet"), {"place": "south"}) == plain.total({"place": "south"}).value


def test_stata_has_labels_and_the_same_rows(release, rows, tmp_path):
    path = tmp_path / "m.dta"
    write_rows(release, path, 2)
    values, about = pyreadstat.read_dta(str(path))
    assert about.variable_value_labels["trade"][11] == "Food"
    assert about.column_names_to_labels["trade"] == "Trade"
    assert about.file_label == "Jobs by trade and place"
    assert values["weight"].tolist() == rows["weight"].to_pylist()
    labelled = pd.read_stata(path)
    assert labelled["trade"].astype(str).tolist()[:3] == ["Food"] * 3
    assert labelled["age"].astype(str).tolist() == rows["age"].to_pylist()


def test_records_are_the_same_in_every_language(release):
    own, german = (records_of(one, None, 0) for one in (release, release.in_language("de")))
    assert german.size == own.size
    assert german.product.total(Box()) == own.product.total(Box())
    assert language_of(german.product.domain.attributes[0].label) == "en", "nobody said it in German"


def test_stata_takes_letters_of_any_kind_and_refuses_more_codes_than_it_labels(tmp_path):
    written = [
        StataVariable("region", "Größe " * 30, ("01", "2"), ("Köln", "ł" * 9)),
        StataVariable("plz", "", ("90763", "90762"), ("A", "B")),
        StataVariable("id", "", width=3),
    ]
    with StataFile(tmp_path / "a.dta", written, 2, "Fürth " * 30) as file:
        file.write({"region": np.array([0, 1]), "plz": np.array([1, 0]), "id": np.array([b"a", b"bcd"])})
    values, about = pyreadstat.read_dta(str(tmp_path / "a.dta"))
    assert values["region"].tolist() == [1, 2], "codes that are not whole numbers as they are written are numbered"
    assert about.variable_value_labels["region"] == {1: "Köln", 2: "ł" * 9}
    assert values["plz"].tolist() == [90762, 90763]
    assert values["id"].tolist() == ["a", "bcd"]
    assert len(about.file_label) == len(about.column_names_to_labels["region"]) == 80
    many = tuple(map(str, range(65_537)))
    with pytest.raises(QueryError, match="Stata labels 65,536 at most"):
        StataFile(tmp_path / "b.dta", [StataVariable("code", "", many, many)], 1, "")


@pytest.mark.parametrize("cells", [10, 50])
def test_intervals_by_replicates_and_t_hold_at_their_level(cells):
    """20,000 sums of geometric noise with fair signs beside them: 6.2 standard errors are 1 point.

    Half the variance holds less than 90%.
    """
    a, runs, count, rng = np.exp(-1), 20_000, 20, np.random.default_rng(3)
    variance = 2 * a / (1 - a) ** 2
    noise = (rng.geometric(1 - a, (runs, cells)) - rng.geometric(1 - a, (runs, cells))).sum(axis=1)
    signs = 2 * rng.binomial(cells, 0.5, (runs, count)) - cells
    error = np.sqrt(variance * np.mean(signs**2, axis=1))
    assert abs(np.mean(np.abs(noise) <= t.ppf(0.975, count) * error) - 0.95) < 0.01
    assert np.mean(np.abs(noise) <= t.ppf(0.975, count) * error / np.sqrt(2)) < 0.9


def test_the_command_writes_csv_with_a_page_whose_python_runs(release, rows, tmp_path, monkeypatch):
    out = tmp_path / "m.csv"
    said = sfumato("microdata", release.release.folder, "--out", out, "--replicates", "2")
    assert f"{rows.num_rows:,} rows" in said.stdout
    read = pacsv.read_csv(out, convert_options=pacsv.ConvertOptions(column_types={"trade": "string"}))
    assert read["weight"].to_pylist() == rows["weight"].to_pylist()
    assert read["trade"].to_pylist() == rows["trade"].to_pylist()
    page = (tmp_path / "m.csv.README.txt").read_text()
    told = page.split("Python:\n")[1].split("R, with")[0]
    monkeypatch.chdir(tmp_path)
    found: dict = {}
    exec("\n".join(line[4:] for line in told.splitlines()), found)
    stated = release.total({"trade": "1"})
    assert found["total"] == stated.value
    assert found["se_total"] == pytest.approx(stated.se)
    assert found["se_share"] == pytest.approx(release.share({"trade": "1"}).se)


def test_the_page_beside_a_file_for_stata_has_its_numbers_and_python_reads_them(release, tmp_path, monkeypatch):
    """Levels above, whose codes are whole numbers, keep them; others are numbered, and the page says which is which."""
    write_rows(release, tmp_path / "m.dta", 2)
    page = (tmp_path / "m.dta.README.txt").read_text()
    assert re.search(r"- age: .*, 3 codes: 1 = 16-24; 2 = 25-64; 3 = 65\+\n", page)
    assert re.search(r"- trade_0: .*, 2 codes: 1 = ", page)
    assert 'use "m.dta"' in page
    told = page.split("Python:\n")[1].split("R, with")[0]
    monkeypatch.chdir(tmp_path)
    found: dict = {}
    exec("\n".join(line[4:] for line in told.splitlines()), found)
    assert found["total"] == release.total({"trade": "1"}).value
    write_rows(release, tmp_path / "m.parquet", 2)
    assert "svyset" not in (tmp_path / "m.parquet.README.txt").read_text(), "Stata reads no Parquet"


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="there is no R here; `make test` installs it where it can")
def test_the_r_of_the_page_runs_with_survey_and_gives_the_engines_totals(release, tmp_path):
    """The standard errors of 200 replicates are within 6.1 · √(1/400) = 31% of the true ones but once in 1e9."""
    out = tmp_path / "m.csv"
    write_rows(release, out, 200)
    page = (tmp_path / "m.csv.README.txt").read_text()
    code = "\n".join(line[4:] for line in page.split("package survey:\n")[1].split("\nStata")[0].splitlines())
    code += '\nt <- svytotal(~I(trade_0 == "1"), p); s <- svymean(~I(trade_0 == "1"), p)\n'
    code += 'cat(sprintf("%.10f", c(coef(t)[2], SE(t)[2], coef(s)[2], SE(s)[2])))\n'
    (tmp_path / "page.R").write_text(code)
    done = subprocess.run(["Rscript", "page.R"], cwd=tmp_path, capture_output=True, text=True, check=False)
    if "no package called" in done.stderr:
        pytest.skip("R is here without its package survey; `make test` installs it where it can")
    assert done.returncode == 0, done.stderr
    found = [float(one) for one in done.stdout.strip().splitlines()[-1].split()]
    total, share = release.total({"trade": "1"}), release.share({"trade": "1"})
    assert found[0] == pytest.approx(total.value, abs=1e-6)
    assert found[1] == pytest.approx(total.se, rel=6.1 * math.sqrt(1 / 400))
    assert found[2] == pytest.approx(share.value, abs=1e-9)
    assert found[3] == pytest.approx(share.se, rel=6.1 * math.sqrt(1 / 400))


def test_chunks_do_not_change_totals_and_large_cells_fit(release, tmp_path, monkeypatch):
    from sfumato.query import weighted_records

    monkeypatch.setattr(weighted_records, "CHUNK", 7)
    write_rows(release, tmp_path / "m.parquet", 3)
    assert (
        weighted(pq.read_table(tmp_path / "m.parquet"), {"place": "north"}) == release.total({"place": "north"}).value
    )


@pytest.mark.parametrize(
    ("name", "replicates", "of", "said"),
    [
        ("m.xlsx", 2, None, r"\.parquet, \.csv or \.dta"),
        ("m.csv", 1, None, "tell no error"),
        ("m.csv", 2, "nobody", "no product 'nobody'"),
    ],
)
def test_what_cannot_be_written_is_refused(release, tmp_path, name, replicates, of, said):
    with pytest.raises(QueryError, match=said):
        write_rows(release, tmp_path / name, replicates, of=of)
    assert not list(tmp_path.iterdir())


def test_a_table_whose_cells_share_noise_is_no_records(tmp_path):
    steps = (
        '[[measure]]\nname = "by_place"\nof = "count"\nby = ["place"]\n'
        'with = { mechanism = "geometric", epsilon = "1" }\n'
        '[[then]]\nstep = "least-squares"\nname = "moved"\ntable = "jobs"\nto = ["by_place"]\n'
    )
    from tests.calibrate import test_nonnegative

    written = test_nonnegative.WRITTEN.replace('epsilon = "1"\n[[m', 'epsilon = "2"\n[[m', 1)
    plan = sf.Plan.parse(written + steps, tmp_path / "p.toml")
    run(plan, Microdata.open(small_rows(90), plan.schema), None, tmp_path / "r", Options(rehearsal=2))
    opened, instead = sf.open(tmp_path / "r"), "noise of its own in every cell; ask others with `sfumato table`"
    measured = "--of jobs or by_place, whose totals are not those that `sfumato table` prints."
    for of, said in ((None, "Of what answers in this release no"), ("moved", "Of 'moved' no")):
        with pytest.raises(QueryError, match=f"{said} records can be made.*{instead}.*{measured}"):
            write_rows(opened, tmp_path / "m.csv", of=of)
    write_rows(opened, tmp_path / "m.csv", of="jobs")
    page = " ".join((tmp_path / "m.csv.README.txt").read_text().split())
    assert "are answered by moved and not by 'jobs', so that totals of these records are others than those." in page


def test_an_attribute_named_as_a_weight_keeps_its_name(tmp_path):
    from tests.calibrate import test_nonnegative

    written = test_nonnegative.WRITTEN.replace("[attributes.place]", "[attributes.weight]").replace(
        '"place"', '"weight"'
    )
    plan = sf.Plan.parse(written, tmp_path / "p.toml")
    data = small_rows(90).rename_columns(["trade", "weight", "age", "pay"])
    run(plan, Microdata.open(data, plan.schema), None, tmp_path / "r", Options(rehearsal=2))
    write_rows(sf.open(tmp_path / "r"), tmp_path / "m.parquet", 2)
    table = pq.read_table(tmp_path / "m.parquet")
    assert table["weight"].to_pylist()[0] == "north"
    assert sum(table["protected_weight"].to_pylist()) == sf.open(tmp_path / "r").total().value
