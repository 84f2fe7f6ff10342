"""Releases made before products and uncertainties had files of their own open and answer the same, errors included.

They were made and asked by the version tagged `base-11`; the numbers below are what it answered.
"""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.query.rows import write_rows
from sfumato.release import Promise, verify
from sfumato.schema import Box

DATA = Path(__file__).parent / "data"
KINDS = {
    "tables": {"calibrated", "independent", "raked"},
    "frame": {"adjusted", "squared", "varying"},
    "wide": {"independent"},
}


def asked(product):
    """The total, and for each attribute that of its first code, with their errors and those shared with the last."""
    totals, errors = [product.total(Box())], [product.covariance(Box(), Box())]
    for one in product.attributes:
        first = Box({one.name: one.levels.mask(one.levels.codes[0])})
        last = Box({one.name: one.levels.mask(one.levels.leaves[-1])})
        totals.append(product.total(first))
        errors += [product.covariance(first, first), product.covariance(first, last)]
    return totals, errors


ANSWERS = {
    "tables": {
        "cube": (
            [393, 263, 128, 217],
            [18.413471884155847, 11.04808313049351, 0.0, 7.365388753662339, 0.0, 9.206735942077923, 0.0],
        ),
        "by_occupation": ([402, 274], [23.506188534196582, 15.670792356131054, 0.0]),
        "by_education": ([395, 131, 216], [31.341584712262108, 15.670792356131054, 0.0, 15.670792356131054, 0.0]),
        "hours_cube": ([7783, 1925, 4526], [28800.0, 14400.0, 0.0, 14400.0, 0.0]),
        "hours_margin": ([7994, 4541], [7200.0, 3600.0, 0.0]),
        "women": ([223, 70], [3.6826943768311695, 1.8413471884155848, 0.0]),
        "jobs": (
            [425735501310, 287384328178, 140009093702, 234041825593],
            [
                8.719988056589685e18,
                6.053170074210751e18,
                -6.540254246694281e17,
                4.660112555910922e18,
                -1.0070201418500099e18,
                5.491826023742757e18,
                -1.1318319954479133e18,
            ],
        ),
        "hours": (
            [8583492141056, 2119229787788, 4875861622784],
            [8.301034833169293e21, 1.0973438197573293e22, -8.942308284020893e21, 4.150517416584649e21, 0.0],
        ),
    },
    "frame": {
        "rows": (
            [2019981944, 1129658209, 649315809],
            [1.6689565913477252e16, 9371637580134576.0, 0.0, 5383836065140533.0, 0.0],
        ),
        "counties": ([435, 119], [625.1666666666666, 225.08333333333334, 0.0]),
        "branches": ([459, 124, 294], [1028.111111111111, 402.94444444444446, 0.0, 402.94444444444446, 0.0]),
        "whole": ([1642092471], [1.8260904547055516e16]),
        "jobs": (
            [489521783596, 294070291926, 139694335916],
            [
                2.557329137840558e20,
                1.9705958094937096e20,
                -7.040944418378348e19,
                1.0345508235312615e20,
                -1.229190452494852e19,
            ],
        ),
    },
    "wide": {
        "wide": (
            [62, 0, 0, 0, -2],
            [
                50.208704853234764,
                0.3862208065633443,
                0.0,
                0.3862208065633443,
                0.0,
                0.4184058737769563,
                0.0,
                0.4564427713930433,
                0.0,
            ],
        )
    },
}


@pytest.mark.parametrize("folder", KINDS)
def test_every_file_is_as_the_manifest_says_and_every_kind_is_there(folder):
    assert verify(DATA / folder).intact
    assert {one.uncertainty["kind"] for one in sf.open(DATA / folder).release.manifest.products} == KINDS[folder]


@pytest.mark.parametrize("folder", KINDS)
def test_totals_and_covariances_are_those_of_the_version_that_made_them(folder):
    products = sf.open(DATA / folder).release.products
    assert list(products) == list(ANSWERS[folder])
    for name, (totals, errors) in ANSWERS[folder].items():
        found = asked(products[name])
        assert found[0] == totals
        assert found[1] == pytest.approx(errors, rel=1e-9, abs=1e-9 * errors[0])


def test_a_share_has_the_error_that_it_had():
    share = sf.open(DATA / "tables").share({"education": "low"}, of="jobs")
    assert share.noise_variance == pytest.approx(1.7657592993534922e-05, rel=1e-9)


def test_rows_come_with_the_replicates_that_they_had(tmp_path):
    write_rows(sf.open(DATA / "frame"), tmp_path / "rows.parquet", 2)
    rows = pq.read_table(tmp_path / "rows.parquet")
    assert rows["jobs_variance"].to_pylist()[:2] == pytest.approx([4.719106494128471, 92.34521793034634])
    assert rows["jobs_r1"].to_pylist()[:2] == pytest.approx([-0.7213795516206263, 51.34459842123273])
    assert sum(rows["jobs_r2"].to_pylist()) == pytest.approx(445.04168919268477)


@pytest.mark.parametrize(("name", "chance"), [("tables", 0.99993), ("frame", 0.73451), ("wide", 1.0)])
def test_what_releases_of_before_called_a_posterior_is_read_as_the_chance_of_a_right_guess(name, chance):
    promise = sf.open(DATA / name).release.manifest.promise
    assert promise.right_guess == pytest.approx(chance, abs=5e-6)
    assert promise.posterior_above == {}, "which they did not say"
    assert promise.renamed.right_guess_from_even_odds == promise.right_guess
    assert promise.renamed.posterior_from_even_odds is None
    assert verify(DATA / name).intact


def test_a_promise_says_the_chance_of_a_right_guess_once():
    (promise,) = (sf.open(DATA / "frame").release.manifest.promise,)
    told = promise.model_dump(exclude={"posterior_from_even_odds"})
    assert Promise(**told | {"right_guess_from_even_odds": 0.7}).right_guess == 0.7
    for wrong in ({}, {"right_guess_from_even_odds": 0.7, "posterior_from_even_odds": 0.7}):
        with pytest.raises(ValueError, match="said once"):
            Promise(**told | wrong)
