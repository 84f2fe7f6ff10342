"""Protected microdata as one file: its sums are the engine's, and so are the errors that its replicates tell."""

import math

import numpy as np
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from tests.cli.test_cli import sfumato
from tests.quarters import released

import sfumato as sf
from sfumato.errors import QueryError
from sfumato.query import rows
from sfumato.query.rows import write_rows

RUNS = 400
QUESTIONS = ({}, {"county": "01003"}, {"naics": "31"}, {"naics": "445", "county": "01001"})


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return released(tmp_path_factory.mktemp("rows"))


@pytest.fixture(scope="module")
def table(release, tmp_path_factory):
    path = tmp_path_factory.mktemp("file") / "m.parquet"
    assert write_rows(sf.open(release), path, RUNS) == 400
    return pq.read_table(path)


def chosen(table, where) -> np.ndarray:
    kept = np.ones(table.num_rows, dtype=bool)
    for name, code in where.items():
        kept &= np.char.startswith(table[name].to_numpy(zero_copy_only=False).astype(str), code)
    return kept


@pytest.mark.parametrize("where", QUESTIONS)
def test_sums_are_the_engines_to_the_last_digit(release, table, where):
    kept = chosen(table, where)
    assert float(table["jobs"].to_numpy()[kept].sum()) == sf.open(release).total(where, of="jobs").value
    # The step of what was not calibrated is a decimal fraction, which floats only come close to.
    wages = float(table["wages"].to_numpy()[kept].sum())
    assert wages == pytest.approx(sf.open(release).total(where, of="wages").value, rel=1e-13)


@pytest.mark.parametrize("where", QUESTIONS)
@pytest.mark.parametrize("name", ["jobs", "wages"])
def test_replicates_tell_the_engines_error(release, table, where, name):
    """The variance of 400 normal draws is within 6.1 · √(2/400) = 43% of the true one but once in 1e9."""
    kept = chosen(table, where)
    value = table[name].to_numpy()[kept].sum()
    moved = [table[f"{name}_r{place + 1}"].to_numpy()[kept].sum() - value for place in range(RUNS)]
    stated = sf.open(release).total(where, of=name).noise_variance
    assert np.mean(np.square(moved)) == pytest.approx(stated, rel=6.1 * math.sqrt(2 / RUNS))
    assert abs(np.mean(moved)) < 6.1 * math.sqrt(stated / RUNS)


def test_rows_drawn_alone_would_overstate_the_error_of_the_whole(release, table):
    """The negative arm: without the pull of the totals, the error of the whole would be several times the true one."""
    alone = float(table["jobs_variance"].to_numpy().sum())
    assert alone > 4 * sf.open(release).total(of="jobs").noise_variance


def test_the_variance_column_is_the_error_before_calibration(release, table):
    stated = sf.open(release).total(of="wages").noise_variance
    assert float(table["wages_variance"].to_numpy().sum()) == pytest.approx(stated)


def test_ids_and_attributes_are_those_of_the_register(release, table):
    register = pq.read_table(release.parent / "frame.parquet")
    for name in ("estab", "naics", "county"):
        assert table[name].to_pylist() == register[name].to_pylist()


def test_chunks_do_not_change_the_file(release, table, tmp_path, monkeypatch):
    """The same numbers however many rows are written at a time, once chunks of draws are the same."""
    again = tmp_path / "again.parquet"
    write_rows(sf.open(release), again, 3)
    other = pq.read_table(again)
    assert other["jobs_r3"].to_pylist() == table["jobs_r3"].to_pylist()
    monkeypatch.setattr(rows, "CHUNK", 64)
    small = tmp_path / "small.parquet"
    write_rows(sf.open(release), small, 20)
    pieces = pq.read_table(small)
    assert pieces["jobs"].to_pylist() == table["jobs"].to_pylist()
    moved = [pieces[f"jobs_r{place + 1}"].to_numpy().sum() - pieces["jobs"].to_numpy().sum() for place in range(20)]
    stated = sf.open(release).total(of="jobs").noise_variance
    assert np.mean(np.square(moved)) < 6 * stated  # with rows drawn alone it would be far more


def test_the_command_writes_csv_with_a_page_on_its_use(release, table, tmp_path):
    out = tmp_path / "m.csv"
    said = sfumato("microdata", release, "--out", out, "--replicates", "2")
    assert "400 rows" in said.stdout
    assert "NOT FOR PUBLICATION" in said.stderr
    read = pacsv.read_csv(out, convert_options=pacsv.ConvertOptions(column_types={"county": "string"}))
    assert read["jobs"].to_pylist() == table["jobs"].to_pylist()
    assert read["county"].to_pylist() == table["county"].to_pylist()
    page = (tmp_path / "m.csv.README.txt").read_text()
    for words in ("NOT FOR PUBLICATION", "Keep negative values", "jobs_r1 to jobs_r2", "Cite as"):
        assert words in page
    refused = sfumato("microdata", release, "--out", out, good=False)
    assert "there already" in refused.stderr


def test_a_wrong_file_is_refused(release, tmp_path):
    with pytest.raises(QueryError, match=r"\.parquet or \.csv"):
        write_rows(sf.open(release), tmp_path / "m.xlsx")
    with pytest.raises(QueryError, match="tell no error"):
        write_rows(sf.open(release), tmp_path / "m.csv", 1)
