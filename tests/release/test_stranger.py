"""A stranger's release is bounded before it is computed with: refused in words, never a hang, a traceback, a lie."""

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import small_rows
from tests.release.strangers import as_written, packed, put, refused
from typer.testing import CliRunner

from sfumato.cli.main import app
from sfumato.confidential import Account, Microdata, run
from sfumato.errors import ReleaseError
from sfumato.release import open_release, verify
from sfumato.release.manifest import _refuse_twice
from sfumato.release.uncertainties import Independent

DATA = Path(__file__).parent / "data"
NAN, INFINITE = float("nan"), float("inf")
LAW = ("products", 0, "uncertainty")
PLACES = [
    (("promise", "power_at_5_percent"), (NAN, INFINITE, 1e308, -0.1, 1.5, "nan")),
    (("promise", "right_guess_from_even_odds"), (NAN, 2.0)),
    (("promise", "posterior_above"), ({"90%": NAN}, {"90%": -1.0})),
    (("promise", "loss"), ({"epsilon": "1e999"}, {"epsilon": "9" * 5000}, {"zeta": "1"}, {"epsilon": "nan"})),
    (("promise", "limit"), ({"epsilon": "-1"}, {}, {"mu": "1e400"})),
    (("sampling",), ({}, {"kind": "survey"}, {"kind": "variance-function", "functions": {"jobs": {"a": "x", "b": 1}}})),
    (("grades",), ({}, {"A": NAN, "B": 1.0}, {"A": 0.3, "B": 0.1}, {"A": 0.1, "B": 1e308})),
    (("largest_cv",), (NAN, -1.0, INFINITE)),
    (("spends", 0, "loss"), ({"epsilon": "1e999"}, {})),
    (("spends", 0, "noise", "standard_error"), (NAN, -1.0, 1e308)),
    (("ledger", "spent"), ({"epsilon": "1e999"},)),
    (("products", 0, "step"), ("0", "-1", "1e99", "1e-99", "1/0", 1, None)),
    (("products", 1, "value_bounds", "took"), ({"up_to": "2", "value": NAN, "standard_error": 1.0}, [1], 7)),
    (("products", 1, "value_bounds", "power"), (0, 10**9, "2", NAN)),
    (("products", 1, "value_bounds", "low"), ("5000", "1e99")),
    ((*LAW, "variance"), (NAN, INFINITE, 1e308, -5, 1e-300, "2", None, True, [2.0])),
    ((*LAW, "excess_kurtosis"), (NAN, -3, "nan")),
    ((*LAW, "apart"), (0, -1, NAN)),
    (("products", 0, "by"), (["trade", "trade", "age"], ["trade@99999999999"], ["trade@²"], ["trade"], [])),
    (("products", 0, "impossible"), ([{"trade": ["no such"]}], [{"no such": ["1"]}])),
    (("products", 0, "kind"), ("records", "groups", "pyramid")),
    (("files", "plan.toml"), ({"bytes": -1, "sha256": "0" * 64}, {"bytes": 10**30, "sha256": "0" * 64})),
]
REFUSED = [(path, value) for path, values in PLACES for value in values]


@pytest.fixture(scope="module")
def ours(small_plan, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ours")
    Account.create(folder / "ledger", "jobs", small_plan.hidden, small_plan.limit)
    run(small_plan, Microdata.open(small_rows(), small_plan.schema), folder / "ledger", folder / "release")
    return folder / "release"


def test_what_is_packed_again_as_it_was_opens(ours, tmp_path):
    assert open_release(packed(ours, tmp_path / "same")).manifest.title


@pytest.mark.parametrize(("path", "value"), REFUSED)
def test_a_number_or_a_name_that_none_can_be_is_refused(ours, tmp_path, path, value):
    refused(packed(ours, tmp_path / "theirs", put(*path, value=value)))


def deep(depth):
    return b"[" * depth + b"]" * depth


@pytest.mark.parametrize("depth", [100, 200_000])
@pytest.mark.parametrize("where", ["manifest.json", "withdrawn.json"])
def test_lists_deep_within_one_another_are_refused(ours, tmp_path, depth, where):
    folder = packed(ours, tmp_path / "theirs")
    (folder / where).write_bytes(b'{"release": ' + deep(depth) + b', "why": ""}')
    refused(folder)


def test_half_a_pair_of_surrogates_is_neither_printed_nor_served(ours, tmp_path):
    folder = packed(
        ours, tmp_path / "theirs", lambda said: as_written(said | {"why": "X"}).replace(b'"X"', b'"\\ud800"')
    )
    assert "not Unicode" in refused(folder)
    whole = packed(ours, tmp_path / "whole", lambda said: as_written(said | {"why": "X"}).replace(b'"X"', b'"\\u00e9"'))
    assert "edited" in refused(whole)


def test_a_file_named_in_bytes_that_are_no_text_is_named_as_far_as_it_can_be(ours, tmp_path):
    folder = packed(ours, tmp_path / "theirs")
    (folder / os.fsdecode(b"\xff")).touch()
    assert "does not belong" in verify(folder).problems[0]
    assert CliRunner().invoke(app, ["verify", str(folder)]).exit_code == 1


def test_what_a_stranger_wrote_cannot_drive_the_terminal(ours, tmp_path):
    folder = packed(ours, tmp_path / "theirs", put("why", value="\x1b[2Jpublished\u202e"))
    told = CliRunner().invoke(app, ["verify", str(folder)]).output
    assert "\x1b" not in told
    assert "\u202e" not in told


def test_a_law_beside_another_variance_is_refused(ours, tmp_path):
    coin = {"kind": "independent", "variance": 0.5, "excess_kurtosis": -1.0, "probabilities": [0.5, 0.25]}
    assert open_release(packed(ours, tmp_path / "coin", put(*LAW, value=coin)))
    for number, other in enumerate(({"variance": 50.0}, {"variance": 0.45}, {"excess_kurtosis": 3.0}, {"apart": 2.0})):
        said = refused(packed(ours, tmp_path / f"other{number}", put(*LAW, value=coin | other)))
        assert "another variance" in said


@pytest.mark.parametrize("epsilon", ["0.2", "1", "7", "30"])
def test_every_law_that_we_state_has_the_variance_beside_it(epsilon):
    from sfumato.draws import TwoSidedGeometric
    from sfumato.mechanisms.additive import stated_noise
    from sfumato.privacy import exact

    stated = stated_noise(TwoSidedGeometric(exact(epsilon, "epsilon"))).to_dict()
    assert Independent.read(stated, None).to_dict() == stated


def bomb(path, rows):
    """A small file that holds very many rows of one value."""
    table = pa.table({"value": pa.array(np.zeros(1 << 20, dtype=np.int64))})
    with pq.ParquetWriter(path, table.schema, compression="zstd") as file:
        for _ in range(rows >> 20):
            file.write_table(table)


def test_a_file_of_very_many_rows_is_not_decoded_before_they_are_counted(ours, tmp_path, monkeypatch):
    name = open_release(ours).manifest.products[0].file
    folder = packed(ours, tmp_path / "theirs", files=lambda to: bomb(to / name, 1 << 26))
    assert (folder / name).stat().st_size < 1_500_000
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", lambda *_, **__: pytest.fail("it was decoded"))
    monkeypatch.setattr(pq.ParquetFile, "read", _of_levels_alone(pq.ParquetFile.read))
    assert "67,108,864 rows where there are" in refused(folder)


def _of_levels_alone(read):
    def some(self, columns=None, **told):
        return read(self, columns, **told) if columns and "code" in columns else pytest.fail("it was decoded")

    return some


def test_levels_above_one_another_without_end_are_refused(ours, tmp_path):
    name = open_release(ours).manifest.attributes[1].levels
    codes = [str(place) for place in range(20_000)]
    chain = pa.table({"code": codes, "parent": [None, *codes[:-1]]})
    refused(packed(ours, tmp_path / "theirs", files=lambda to: pq.write_table(chain, to / name)))


@pytest.mark.parametrize(
    ("column", "why"),
    [
        (pa.array(np.zeros(30)), "no column 'value'"),
        (pa.array(np.zeros(30, dtype=np.int32)), "no column 'value'"),
        (pa.array([None, *[1] * 29], pa.int64()), "integer for every cell"),
        (pa.array([2**62] * 30), "64 bits"),
        (pa.array([[1]] * 30), "no column 'value'"),
        (pa.array(["1"] * 30), "no column 'value'"),
        (pa.array([1] * 29), "29 rows where there are 33"),
    ],
)
def test_a_column_of_another_kind_is_refused(ours, tmp_path, column, why):
    release = open_release(ours)
    cells, name = len(pq.read_table(ours / release.manifest.products[0].file)), release.manifest.products[0].file
    assert cells == 33, "four trades, three places, three ages, less three"
    filled = column if len(column) == 29 else pa.concat_arrays([column, column[-3:]])
    theirs = packed(ours, tmp_path / "theirs", files=lambda to: pq.write_table(pa.table({"value": filled}), to / name))
    assert why in refused(theirs)


@pytest.mark.parametrize(
    "error",
    [
        {"kind": "calibrated", "variance": 2.0, "controls": [{"by": ["no such"], "variance": 1.0}]},
        {"kind": "calibrated", "variance": 2.0, "controls": [{"by": ["trade@7"], "variance": 1.0}]},
        {"kind": "raked", "variance": 2.0, "controls": [{"by": ["trade"], "variance": [1.0, 2.0]}]},
        {"kind": "raked", "variance": 2.0, "controls": "trade"},
        {"kind": "raked", "base": [], "controls": []},
        {"kind": "adjusted", "base": "jobs", "variance": 2.0, "controls": []},
        {"kind": "departures", "columns": 10**9},
        {"kind": "varying", "slope": 0.0, "reach": 0.0},
        {"kind": ["independent"]},
    ],
)
def test_an_error_that_cannot_be_of_its_cells_is_refused_when_the_release_is_opened(ours, tmp_path, error):
    refused(packed(ours, tmp_path / "theirs", put(*LAW, value=error)))


def test_controls_by_other_groups_than_their_own_are_refused(tmp_path):
    frame = DATA / "frame"
    said = json.loads((frame / "manifest.json").read_bytes())
    place, line = next(
        (place, one) for place, one in enumerate(said["products"]) if one["uncertainty"]["kind"] == "adjusted"
    )
    controls = line["uncertainty"]["controls"]
    assert len({str(one["by"]) for one in controls}) > 1
    turned = [one | {"by": other["by"]} for one, other in zip(controls, controls[1:] + controls[:1], strict=True)]
    theirs = packed(frame, tmp_path / "theirs", put("products", place, "uncertainty", "controls", value=turned))
    assert "by other groups" in refused(theirs)
    assert open_release(packed(frame, tmp_path / "same"))


def test_errors_of_errors_without_end_are_refused(ours, tmp_path):
    error = {"kind": "independent", "variance": 2.0}
    for _ in range(13):
        error = {"kind": "calibrated", "base": error, "controls": [{"by": ["trade"], "variance": 1.0}]}
    assert "error of an error" in refused(packed(ours, tmp_path / "theirs", put(*LAW, value=error)))
    assert open_release(packed(ours, tmp_path / "fewer", put(*LAW, value=error["base"]["base"])))


class Uncounted(list):
    """Names too many to look for each among all."""

    def count(self, _):
        raise AssertionError


def test_a_manifest_that_says_one_thing_ever_again_is_refused_in_one_pass():
    with pytest.raises(ReleaseError, match="describes 'b' twice"):
        _refuse_twice(Uncounted(["a", "b", "c", "b"]))
    _refuse_twice(Uncounted(["a", "b"]))
    _refuse_twice([])
