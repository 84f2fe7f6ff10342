"""Quarters as a column: the same answers as each release gives, and years that add up with their errors."""

import csv
import io
import json
import math

import numpy as np
import pytest
from tests.cli.test_cli import sfumato
from tests.quarters import released

import sfumato as sf
from sfumato.errors import QueryError
from sfumato.release import Withheld

PERIODS = ("2025-Q4", "2026-Q1", "2026-Q2")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    whole = tmp_path_factory.mktemp("series")
    return [released(whole / period, period, seed) for seed, period in enumerate(PERIODS)]


@pytest.mark.parametrize("made", [sf.series, sf.Series])
def test_each_period_is_what_its_release_says(folders, made):
    table = made(reversed(folders)).table("county")
    for folder, period in zip(folders, PERIODS, strict=True):
        alone = sf.open(folder).table("county")
        for code in ("01001", "01007"):
            assert table[code, period] == alone[code]


@pytest.mark.parametrize(("together", "over"), [("sum", 1), ("mean", 2)])
def test_a_year_is_the_sum_or_mean_of_its_quarters_and_variances_add(folders, together, over):
    table = sf.series(folders).table("county", together=together)
    parts = [sf.open(folder).table("county")["01003"] for folder in folders[1:]]
    year = table["01003", f"2026, {together} of 2"]
    assert year.value == sum(part.value for part in parts) / over
    assert year.noise_variance == pytest.approx(sum(part.noise_variance for part in parts) / over**2)
    assert "2025, sum of 1" not in table.axes[-1].codes


def test_a_year_of_noise_of_two_laws_reaches_as_far_as_the_further():
    """Variances of independent errors add, and 99% of a Laplace law with variance 16 is within 4 log(100) / √2."""
    from sfumato.query.columns import Columns
    from sfumato.query.period_columns import together_of
    from sfumato.release.error_law import NormalError

    columns = np.array([4.0]), np.array([0.0]), np.array([1])
    one = Columns(np.array([5.0]), *columns, law=NormalError(excess=3.0, variance=16.0))
    other = Columns(np.array([7.0]), np.array([12.0]), *columns[1:], law=NormalError())
    year, mean = together_of([one, other], "sum"), together_of([one, other], "mean")
    assert (year.estimate[0], year.noise_variance[0]) == (12.0, 16.0)
    assert year.moe(0.99)[0] == pytest.approx(4 * np.log(100) / np.sqrt(2))
    assert (mean.estimate[0], mean.noise_variance[0], mean.moe(0.99)[0]) == (6.0, 4.0, year.moe(0.99)[0] / 2)


def test_the_sampling_error_of_a_year_is_withheld_as_samples_may_share_units(make_release, small_plan):
    from dataclasses import replace

    function = sf.VarianceFunction("jobs", "0", "2", "a published table")
    plans = [replace(small_plan, period=period, sampling=(function,)) for period in ("2026-Q1", "2026-Q2")]
    engines = [sf.open(make_release(plan.period, plan=plan)) for plan in plans]
    table = sf.series(engines).table("place", of="jobs", together="sum")
    year = table["north", "2026, sum of 2"]
    assert isinstance(year.sampling_variance, Withheld)
    assert "share units" in year.sampling_variance.reason
    assert isinstance(table["north", "2026-Q1"].sampling_variance, float)
    assert table.records()[2]["se_sampling"] is None
    assert (year.interval().counts, table.records()[2]["moe90"]) == ("noise alone", year.moe())


def test_what_cannot_be_a_series_is_refused_with_the_period(folders):
    with pytest.raises(QueryError, match="no releases"):
        sf.series([])
    with pytest.raises(QueryError, match="give a list of their folders"):
        sf.series(str(folders[0]))
    with pytest.raises(QueryError, match=r"sfumato\.open or given by its folder; one is given as int"):
        sf.Series([folders[0], 7])
    with pytest.raises(QueryError, match="Two of the releases are of the period '2026-Q1'"):
        sf.series([folders[1], folders[1]])
    with pytest.raises(QueryError, match=r"2025-Q4: .*did you mean 'county'"):
        sf.series(folders).table("conty")
    with pytest.raises(QueryError, match="sum or mean"):
        sf.series(folders).table("county", together="median")


def test_the_whole_can_be_asked_without_rows(folders):
    table = sf.series(folders).table(of="wages", together="sum")
    assert [record["period"] for record in table.records()] == [*PERIODS, "2026, sum of 2"]
    assert table["2025-Q4"].value == sf.open(folders[0]).total(of="wages").value


def test_the_command_line_prints_text_csv_and_json(folders):
    words = ["series", *folders, "--rows", "county", "--mean"]
    text = sfumato(*words)
    assert "2026, mean of 2" in text.stdout
    assert "noise of its own" in text.stdout
    rows = list(csv.DictReader(io.StringIO(sfumato(*words, "--format", "csv").stdout)))
    assert len(rows) == 4 * 4
    told = json.loads(sfumato(*words, "--where", "county=01001", "--format", "json").stdout)
    quarters = {cell["period"]: cell for cell in told["cells"]}
    expected = math.hypot(*(quarters[period]["se_noise"] for period in PERIODS[1:])) / 2
    assert quarters["2026, mean of 2"]["se_noise"] == pytest.approx(expected)
    assert len(told["citation"]) == 3


def test_sum_and_mean_at_once_are_refused(folders):
    from sfumato.cli.table import series

    with pytest.raises(QueryError, match="one at a time"):
        series(folders, sum=True, mean=True)
